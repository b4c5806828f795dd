"""The rows of two files of labels, joined by the column of the samples."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._errors import ArgumentError
from matrics._files.label_rows import Labelled, read_labels
from matrics._files.labels import TRUTHS, joined_order
from matrics._files.notices import refuse_disjoint, warn_of_odd_labels
from matrics._files.rows import name_of
from matrics._quoting import cut, quoted
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matrics._files.names import Names
    from matrics._files.source import MatrixSource

Array = Any

FIRST = 5  # samples of only one file that are named


@dataclass(frozen=True)
class TwoFiles:
    """The rows of two files, whose labels are numbers of the classes of both."""

    files: tuple[str, str]
    rows: tuple[Labelled, Labelled]
    classes: tuple[str, ...]
    ordered: bool
    places: tuple[Array, Array] = field(repr=False)  # of the classes of each file among all
    are_named: bool = False  # whether --labels has named the classes

    @classmethod
    def read(cls, paths: Sequence[Path], names: Names) -> TwoFiles:
        """Read both files."""
        a, b = (read_labels(path, names, warns=False) for path in paths)
        files = name_of(paths[0]), name_of(paths[1])
        classes, ordered = united(a, b)
        places = [np.asarray([classes.index(label) for label in one.classes]) for one in (a, b)]
        return cls(files, (a, b), classes, ordered, (places[0], places[1]), names.order is not None)

    def warn(self) -> None:
        """Print warnings of labels that are probably mistakes, unless all labels were named."""
        if self.are_named:
            return
        for file, one in zip(self.files, self.rows, strict=True):
            warn_of_odd_labels(file, *one.sides)

    def refuse_disjoint(self, names: tuple[str, ...]) -> None:
        """Raise where a file has no label in both columns."""
        for file, one in zip(self.files, self.rows, strict=True):
            refuse_disjoint(file, *one.sides, names)

    @property
    def apart(self) -> tuple[tuple[int, str], ...]:
        """The classes that are not to be counted as negative beside another one, and what their rows are."""
        found = {self.classes.index(one.classes[k]): words for one in self.rows for k, words in one.apart}
        return tuple(sorted(found.items()))

    def labels(self, which: int) -> tuple[Array, Array]:
        """The true and the predicted classes of a file."""
        one, place = self.rows[which], self.places[which]
        return place[one.true], place[one.pred]


@dataclass(frozen=True)
class Paired:
    """The predictions of the samples that both files have, in the order of the first."""

    true: Array  # (N,)
    predictions: Array  # (2, N)
    samples: Array  # (N,), which has repeats where a sample has several predictions
    weights: Array | None
    only: tuple[list[str], list[str]]  # the samples that only one file has

    @property
    def number(self) -> int:
        """The number of samples."""
        return len(np.unique(self.samples))

    @property
    def repeats(self) -> str:
        """How many predictions a sample has, in words; empty if it is one."""
        return repeats(len(self.true), self.number)

    def left_out(self, files: Sequence[str]) -> list[str]:
        """What is left out, in sentences."""
        return [
            f"left out {named(only)}, which only {file} has"
            for file, only in zip(files, self.only, strict=True)
            if only
        ]


def united(a: Labelled | MatrixSource, b: Labelled | MatrixSource) -> tuple[tuple[str, ...], bool]:
    """The classes of both in order, and whether that has a meaning."""
    ordered = a.ordered and b.ordered
    if a.classes == b.classes:
        return a.classes, a.ordered or b.ordered
    both = {*a.classes, *b.classes}
    for one in (a, b):  # of which one may be an ordered categorical column, and the other text
        if one.ordered and not ordered and both == set(one.classes):
            return one.classes, True
    order = joined_order(a.classes, b.classes) if ordered else ()
    if order:
        return order, True
    are_numbers = ordered and all(label.removeprefix("-").isdecimal() for label in both)
    if are_numbers:
        return tuple(sorted(both, key=int)), True
    classes = tuple(sorted(both))
    return classes, any(set(classes) <= set(pair) for pair in TRUTHS)


def join(found: TwoFiles) -> Paired:
    """Join the rows by the samples; several rows of one sample are joined in their order, and are a cluster."""
    a, b = found.rows
    names, others = ([one.sample_names[sample] for sample in one.samples.tolist()] for one in (a, b))
    times, other_times = Counter(names), Counter(others)
    only = [name for name in times if name not in other_times], [name for name in other_times if name not in times]
    if len(only[0]) == len(times):
        raise ArgumentError(
            "paired_on",
            f"expected samples that are in both files, got {named(only[0])} in {found.files[0]} "
            f"and {named(only[1])} in {found.files[1]}",
        )
    uneven = next((name for name in times if name in other_times and times[name] != other_times[name]), None)
    if uneven is not None:
        raise ArgumentError(
            "paired_on",
            f"expected as many rows of a sample in both files, got {times[uneven]} of "
            f"{cut(uneven)} in {found.files[0]} and {other_times[uneven]} in {found.files[1]}",
        )
    places = dict(zip(_numbered(others), range(len(others)), strict=True))
    both = [(row, places[key]) for row, key in enumerate(_numbered(names)) if key in places]
    rows_a, rows_b = np.asarray(both).T
    (true, pred), (same, other) = found.labels(0), found.labels(1)
    wrong = np.flatnonzero(true[rows_a] != same[rows_b])
    if len(wrong):
        row = int(wrong[0])
        raise ArgumentError(
            "paired_on",
            f"expected the same true label of a sample in both files, got "
            f"{quoted(found.classes[true[rows_a[row]]])} in {found.files[0]} and "
            f"{quoted(found.classes[same[rows_b[row]]])} in {found.files[1]} of {cut(names[rows_a[row]])} "
            f"({len(wrong):,} such)",
        )
    weights = None if a.weights is None else a.weights[rows_a]
    if weights is not None and (weights != b.weights[rows_b]).any():
        row = int((weights != b.weights[rows_b]).argmax())
        raise ArgumentError(
            "weight",
            f"expected the same weight of a sample in both files, got {weights[row]:g} and "
            f"{b.weights[rows_b][row]:g} of {cut(names[rows_a[row]])}",
        )
    return Paired(true[rows_a], np.stack([pred[rows_a], other[rows_b]]), a.samples[rows_a], weights, only)


def _numbered(names: Sequence[str]) -> list[tuple[str, int]]:
    """The sample of each row, and which of its rows it is."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        found.append((name, seen[name]))
        seen[name] += 1
    return found


def repeats(rows: int, samples: int) -> str:
    """How many predictions a sample has, in words; empty if it is one."""
    return f", {rows / samples:.10g} predictions of each" if samples < rows else ""


def named(samples: Sequence[str]) -> str:
    """How many samples, and the first of them."""
    first = ", ".join(cut(sample) for sample in samples[:FIRST])
    return f"{counted(len(samples), 'sample')} ({first}{', …' if len(samples) > FIRST else ''})"
