"""Docstrings document every parameter in full: name, type, default and meaning, without a look at another page.

Texts that several functions share are written out in each of them, so that ``help``, editors and ``grep`` show them
without running code. These tests keep the copies alike.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections import defaultdict

import docstrings
import pytest
from docstrings import Entry, Function, entries

from matrics._catalogue.record import METRICS

pytestmark = pytest.mark.xdist_group("both signatures")  # all libraries in one process

#: Words whose text depends on the function: ``level`` of an interval, of a mark, of a curve.
DIFFERENT = {"level", "names", "num", "thresholds", "top", "zero_division"}


@functools.cache
def public() -> list[Function]:
    """Not before a test runs: each process would keep the libraries in its memory."""
    found = list(docstrings.public())
    assert len(found) > 400
    return found


def parameters(function: Function) -> list[tuple[inspect.Parameter, Entry]]:
    known = entries(function.doc)
    return [(one, known[one.name]) for one in function.signature.parameters.values() if one.name in known]


def test_sections_are_read() -> None:
    """Several names, stars, lists in a text, and the section after it."""
    doc = """First line.

    Parameters
    ----------
    a, b : int, default 3
        Both
        of them:

        - one
    **options
        The rest.

    Returns
    -------
    int
        A number.
    """
    both = Entry("int, default 3", "Both of them: - one")
    assert entries(doc) == {"a": both, "b": both, "options": Entry("", "The rest.")}
    assert entries("None.") == entries(None) == {}


def test_every_parameter_has_an_entry_with_a_type_and_a_text() -> None:
    wrong = []
    for function in public():
        known = entries(function.doc)
        names = set(function.signature.parameters)
        wrong += [f"{function.name}({name}): no entry" for name in names - known.keys()]
        wrong += [f"{function.name}({name}): no such parameter" for name in known.keys() - names]
        wrong += [f"{function.name}({name}): no type" for name, entry in known.items() if not entry.type]
        wrong += [f"{function.name}({name}): no text" for name, entry in known.items() if not entry.text]
    assert not wrong


def test_no_entry_sends_readers_to_another_page() -> None:
    pattern = re.compile(r"(As (in|for|from|with|that|those|each|the)|As :|See|Like|The same as|Same as|Those of)\b")
    assert pattern.match("As in :func:`matrics.score`.")
    assert not [
        f"{function.name}({name}): {entry.text}"
        for function in public()
        for name, entry in entries(function.doc).items()
        if pattern.match(entry.text)
    ]


def test_options_of_measures_say_what_they_mean() -> None:
    """What the record alone can say is not enough: ``The first is the default.``"""
    poor = ("The first is the default.", "True or False.", "A number ", "An (n, n) matrix")
    options = {(record.name, option.name): record for record in METRICS.values() for option in record.options}
    assert len(options) > 30
    assert not [key for key, record in options.items() if entries(record.__doc__)[key[1]].text.startswith(poor)]


def test_every_field_of_a_public_class_is_documented() -> None:
    found = dict(docstrings.fields())
    assert len(found) > 60
    missing = {}
    for kind, names in found.items():
        known = entries(kind.__doc__, "Attributes") | entries(kind.__doc__)
        missing |= {f"{kind.__name__}.{name}": kind for name in names if not known.get(name, Entry("", "")).text}
    assert not missing


def test_the_type_has_the_default() -> None:
    wrong = []
    for function in public():
        for parameter, entry in parameters(function):
            if not says_default(parameter, entry.type):
                wrong.append(f"{function.name}({parameter.name}={parameter.default!r}): {entry.type}")
    assert not wrong


def says_default(parameter: inspect.Parameter, kind: str) -> bool:
    """Whether a type is that of a parameter with this default; the first of several words in braces is the default."""
    if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
        return True
    if parameter.default is parameter.empty:
        return "optional" not in kind and "default" not in kind
    if parameter.default is None:
        return "optional" in kind or "None" in kind
    first = re.match(r"\{([^,}]*)", kind)
    stated = re.search(r"default (.*)$", kind)
    text = stated[1] if stated else first[1] if first else ""
    return spelt(parameter.default) in {text, *text.split(" and "), text.replace(",", "")}


def spelt(value: object) -> str:
    """A default as docstrings write it."""
    if isinstance(value, float):
        return "NaN" if value != value else f"{value:.5g}".replace("e-0", "e-")
    return repr(value).replace("'", '"')


def test_defaults_are_compared() -> None:
    def says(default: object, kind: str) -> bool:
        return says_default(inspect.Parameter("x", inspect.Parameter.KEYWORD_ONLY, default=default), kind)

    assert says(float("nan"), "float, default NaN")
    assert says(20000, "int, default 20,000")
    assert says("warn", '{"warn", "raise"}')
    assert says("y_pred", 'str, default "y_true" and "y_pred"')
    assert not says("raise", '{"warn", "raise"}')
    assert not says(0.95, "float, default 0.9")
    assert not says(None, "float")
    assert not says(inspect.Parameter.empty, "float, optional")


def test_a_parameter_has_the_same_text_in_a_family() -> None:
    """In a family, the texts of a parameter with one type begin with the same words; more of them may follow."""
    texts: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for function in public():
        for parameter, entry in parameters(function):
            if parameter.name not in DIFFERENT:
                texts[function.family, parameter.name, entry.type].setdefault(beginning(entry.text), function.name)
    assert len(texts) > 200
    assert not [(key, begins) for key, begins in texts.items() if not share_words(list(begins))]


def beginning(text: str) -> str:
    """What stands before the first full stop, colon or semicolon; names of arguments and functions may differ."""
    return re.split(r"[.:;](?:\s|$)", re.sub(r"(:\w+:`|``).*?`+", "``", text))[0]


def share_words(texts: list[str]) -> bool:
    """Whether the shortest text begins all of them."""
    return all(text.startswith(min(texts, key=len)) for text in texts)


def test_texts_are_compared() -> None:
    assert beginning("Labels of ``y.a``, in :func:`matrics.score`: 0 and 1.") == "Labels of ``, in ``"
    assert share_words(["A weight", "A weight for each sample"])
    assert not share_words(["A weight for each label", "A weight for each sample"])
