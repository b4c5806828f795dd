"""One word has one meaning, one default and one kind: all public signatures, by the table in CONTRIBUTING."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.xdist_group("both signatures")  # all libraries in one process

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
try:
    tables = importlib.import_module("signature_tables")
    doors = importlib.import_module("door_tables")
finally:
    sys.path.pop(0)

# Words of others: what they call their arguments, and what a subclass hands on to its parent.
FOREIGN = {"preds", "target", "mask", "like", "dtype", "batch", "options", "keywords", "_", "panels", "path", "ax"}
FOREIGN |= {"dst_type", "__"}  # of the metrics of torchmetrics
# What these words mean is said by another one now.
GONE = {
    *("probs", "confidence", "seed", "pos_label", "n_bins", "n_classes", "true", "pred", "group", "return_dropped"),
    *("calibration_bins", "num_draws", "weights_", "normalise"),
}


class Word(NamedTuple):
    """A row of the table."""

    defaults: set[str]
    kind: str


def read_words() -> dict[str, Word]:
    section = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Words of signatures")[2].partition("\n## ")[0]
    found = {}
    for row in re.findall(r"^\| (`.*) \|$", section, re.MULTILINE):
        words, _, defaults, kind = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]
        values = set(re.findall(r"`([^`]*)`", defaults)) | {"required"} & set(defaults.replace(",", " ").split())
        found.update((word.strip("` "), Word(values, kind)) for word in words.split(","))
    return found


WORDS = read_words()


@functools.cache
def every_parameter() -> list[tuple[str, inspect.Parameter]]:
    """Not before a test asks: each process would keep the libraries in its memory."""
    return list(_every_parameter())


def _every_parameter() -> Iterator[tuple[str, inspect.Parameter]]:
    for path in tables.MODULES:
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue  # the library that it is for is not installed
        for name, signature in tables.signatures(module):
            for parameter in signature.parameters.values():
                yield f"{path}.{name}", parameter


def test_the_table_is_read() -> None:
    assert len(WORDS) > 30
    assert WORDS["level"] == Word({"0.95", "None"}, "option")


@pytest.mark.sampled(16)
@pytest.mark.parametrize("word", sorted(WORDS))
def test_a_word_has_its_defaults_and_its_kind(word: str) -> None:
    uses = [(name, parameter) for name, parameter in every_parameter() if parameter.name == word]
    assert uses, f"{word} is in the table and in no signature"
    wrong = []
    for name, parameter in uses:
        default = "required" if parameter.default is parameter.empty else tables.of_default(parameter.default)
        if default not in WORDS[word].defaults:
            wrong.append(f"{name}({word}={default})")
        if WORDS[word].kind == "option" and parameter.kind is not parameter.KEYWORD_ONLY:
            wrong.append(f"{name}: {word} may be given by position")
    assert not wrong


def test_a_word_of_several_functions_is_in_the_table() -> None:
    uses = defaultdict(set)
    for name, parameter in every_parameter():
        uses[parameter.name].add(name)
    missing = {word: sorted(names) for word, names in uses.items() if len(names) > 1 and word not in WORDS}
    assert not {word: names for word, names in missing.items() if word not in FOREIGN}


def test_old_words_are_gone() -> None:
    assert not [(name, parameter.name) for name, parameter in every_parameter() if parameter.name in GONE]


def test_an_option_is_given_by_its_name() -> None:
    """What has a default and is no data comes after the star."""
    by_position = [
        f"{name}({parameter.name}={parameter.default!r})"
        for name, parameter in every_parameter()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is not parameter.empty
        and parameter.name not in FOREIGN
        and WORDS.get(parameter.name, Word(set(), "option")).kind == "option"
    ]
    assert not by_position


def test_a_door_takes_an_argument_or_says_why_not() -> None:
    found = answers()
    assert not {where: why for where, why in found.items() if len(why) != 1}


def test_a_reason_is_of_a_door_without_the_argument() -> None:
    found = answers()
    assert not [
        (door, column)
        for column, by_reason in doors.REASONS.items()
        for named in by_reason.values()
        for door in named
        if found[door, column] == ["yes"]
    ]


def answers() -> dict[tuple[str, str], list[str]]:
    for library in ("torchmetrics", "flax", "dask", "xarray", "typer"):
        pytest.importorskip(library)
    return doors.answers()
