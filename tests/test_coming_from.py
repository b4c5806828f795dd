"""The pages "Coming from ...": every public function has a row, and a row says what running both calls shows."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Functions that older versions lack have rows; and a new one in a newer version is to fail the test.
pytest.importorskip("sklearn", minversion="1.9")
# It is imported by the tests that need it.
if not find_spec("torchmetrics") or tuple(map(int, version("torchmetrics").split(".")[:2])) < (1, 9):
    pytest.skip("needs torchmetrics 1.9", allow_module_level=True)

DOCS = Path(__file__).parents[1] / "docs"
LIBRARIES = ["sklearn", "torchmetrics"]
PAGES = {"sklearn": "coming_from_scikit_learn.md", "torchmetrics": "coming_from_torchmetrics.md"}


@pytest.fixture(scope="module")
def coming() -> Iterator[Any]:
    """The module that writes the tables; those with it have it as their package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield importlib.import_module("coming_tables")


def named(coming: Any, library: str) -> set[str]:
    """What the calls of a page name, of the library's functions."""
    names = coming.libraries.LIBRARIES[library]().names
    topics = coming.libraries.topics(library)
    return {name for topic in topics for row in topic.rows for name in coming.run.called(row, names)}


def missing(coming: Any, library: str) -> set[str]:
    """Public functions that the page does not mention."""
    listed = {name for names in coming.absent.ABSENT[library] for name in names.split()}
    return coming.libraries.public(library) - named(coming, library) - listed


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_public_function_is_on_the_page(coming: Any, library: str) -> None:
    assert missing(coming, library) == set()
    # What is said to be missing here is a function there, and has no row.
    listed = {name for names in coming.absent.ABSENT[library] for name in names.split() if "." not in name}
    assert listed <= coming.libraries.public(library)
    assert not listed & named(coming, library)


def test_a_new_function_would_be_noticed(coming: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn.metrics

    monkeypatch.setattr(sklearn.metrics, "new_score", len, raising=False)
    monkeypatch.setattr(sklearn.metrics, "__all__", [*sklearn.metrics.__all__, "new_score"])
    assert missing(coming, "sklearn") == {"new_score"}


def check(library: str, found: Any) -> None:
    """A row says why two calls differ, and its third call gives their number, exactly if they do differ."""
    row = found.row
    assert bool(found.differences) == bool(row.why), (library, row, found.differences)
    assert found.mended == bool(row.theirs), (library, row)
    assert not (row.theirs and not found.differences), (library, row)
    for one in found.differences:
        assert not (one.there.error and one.here.error), (library, row, one)
    # An error here that is not one there stands on few rows, which say so.
    if any(one.here.error for one in found.differences):
        assert "an error here" in row.why or "an error if" in row.why, (library, row)


def rows_of(coming: Any, library: str) -> list[tuple[Any, Any]]:
    return [(topic, row) for topic in coming.libraries.topics(library) for row in topic.rows]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_say_what_running_them_shows(coming: Any, library: str) -> None:
    """A tenth of them; the others are exhaustive, and all are run when the pages are built."""
    known = coming.libraries.LIBRARIES[library]()
    for topic, row in rows_of(coming, library)[::10]:
        check(library, coming.run.find(known, topic, row))


@pytest.mark.exhaustive
@pytest.mark.parametrize("library", LIBRARIES)
def test_all_rows_say_what_running_them_shows(coming: Any, library: str) -> None:
    found = [one for _, some in coming.results(library) for one in some]
    for one in found:
        check(library, one)
    page = coming.parts(library)
    assert f"**{len(found)} calls**" in page["count"]
    assert page["calls"].count("<tr>") - page["calls"].count("<thead>") == len(found)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_page_has_the_tables(coming: Any, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their marks, which docs/conf.py replaces."""
    monkeypatch.setattr(coming, "results", lambda _: [])
    text = (DOCS / PAGES[library]).read_text(encoding="utf-8")
    for part in coming.parts(library):
        assert f"<!-- table: coming_{library}_{part} " in text


def test_a_difference_is_seen(coming: Any) -> None:
    """In the number, in what is undefined, in the shape; and a third call that does not give theirs is not shown."""
    run = coming.run
    library = run.Library({"theirs": lambda x: x / 2}, 1e-9, lambda _, arrays: arrays, {})
    topic = run.Topic("", "scores", [])
    assert not run.find(library, topic, run.Row("theirs(y_score)", "y_score / 2")).differences
    wrong = run.find(library, topic, run.Row("theirs(y_score)", "y_score", "y_score / 2 + 1e-6", "twice"))
    assert len(wrong.differences) == wrong.number == len(coming.data.CASES["scores"])
    assert not wrong.mended
    assert "none" in coming.cells(topic, wrong)
    values = {
        text: run.evaluate(text, {}) for text in ("[0.5, np.nan]", "[0.5, 0]", "[0.5]", "np.ones(2) @ np.ones(3)")
    }
    for first, one in values.items():
        for second, other in values.items():
            assert run.same(one, other, 1e-9) == (first == second and not one.error)
    assert [run.text(value) for value in values.values()] == ["[0.5, NaN]", "[0.5, 0]", "0.5", "ValueError"]


# Of these classes the default average is None, and that of the function "macro"; no call here gives them.
OTHER_AVERAGE = {"MulticlassLogAUC", "MultilabelLogAUC"}
REQUIRED = {"beta": 2.0, "min_precision": 0.5, "min_recall": 0.5, "min_specificity": 0.5, "min_sensitivity": 0.5}


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["Binary", "Multiclass", "Multilabel"])
def test_classes_of_torchmetrics_are_their_functions(coming: Any, kind: str) -> None:
    """So that the page need not list both. Those with task= make one of the others, and are no classes of their own."""
    functions = coming.libraries.classes()
    assert None not in functions.values()
    known = {name: f for name, f in functions.items() if name.startswith(kind) and name not in OTHER_AVERAGE}
    assert len(known) >= 20
    for name, function in known.items():
        arrays, options = arguments(kind, name, function)
        theirs = getattr(importlib.import_module("torchmetrics.classification"), name)(**options)(*arrays)
        if name == "BinaryFairness":  # the function counts the groups itself
            del options["num_groups"]
        expected = coming.run.flat(function(*arrays, **options))
        for one, other in zip(coming.run.flat(theirs), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, equal_nan=True, err_msg=name)


def arguments(kind: str, name: str, function: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Random arrays and the options that a metric asks for."""
    torch = importlib.import_module("torch")
    random = torch.Generator().manual_seed(0)
    shape, most = ((50,), 3 if kind == "Multiclass" else 2) if kind != "Multilabel" else ((50, 3), 2)
    scores = torch.rand((50,) if kind == "Binary" else (50, 3), generator=random)
    target = torch.randint(0, most, shape, generator=random)
    needed = [key for key, one in inspect.signature(function).parameters.items() if one.default is one.empty][2:]
    options = {key: REQUIRED[key] for key in needed if key in REQUIRED}
    options |= {"Binary": {}, "Multiclass": {"num_classes": 3}, "Multilabel": {"num_labels": 3}}[kind]
    if name == "MulticlassExactMatch":  # of several labels a sample
        return (scores.argmax(-1).reshape(5, 10), target.reshape(5, 10)), options
    if "groups" in needed:
        return (scores, target, torch.arange(50) % 2), options | {"num_groups": 2}
    return (scores if kind != "Multiclass" else scores.softmax(-1), target), options
