"""The rows of two files of labels, joined by the column of the samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._errors import ArgumentError
from matrics._files.label_rows import Labelled, read_labels
from matrics._files.labels import TRUTHS, joined_order
from matrics._files.notices import refuse_disjoint, warn_of_odd_labels
from matrics._files.rows import name_of
from matrics._quoting import cut
from matrics._tables.samples import Joined, common_samples, joined
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matrics._files.inputs import Input
    from matrics._files.names import Names
    from matrics._files.source import MatrixSource

Array = Any

FIRST = 5  # the number of samples that messages name


@dataclass(frozen=True)
class TwoFiles:
    """The rows of two files, whose labels are numbers of the classes of both."""

    files: tuple[str, str]
    rows: tuple[Labelled, Labelled]
    classes: tuple[str, ...]
    ordered: bool
    places: tuple[Array, Array] = field(repr=False)  # of the classes of each file among all
    are_named: bool = False  # whether --labels or a log defines the classes

    @classmethod
    def read(cls, paths: Sequence[Path | Input], names: Names) -> TwoFiles:
        """Read both files."""
        a, b = (read_labels(path, names, warns=False) for path in paths)
        files = path_name(paths[0]), path_name(paths[1])
        classes, ordered = united(a, b)
        places = [np.asarray([classes.index(label) for label in labelled.classes]) for labelled in (a, b)]
        return cls(
            files,
            (a, b),
            classes,
            ordered,
            (places[0], places[1]),
            names.order is not None or any(map(is_read_log, paths)),
        )

    def warn(self) -> None:
        """Print warnings of labels that are probably mistakes, unless all labels were named."""
        if self.are_named:
            return
        for file, labelled in zip(self.files, self.rows, strict=True):
            warn_of_odd_labels(file, *labelled.sides)

    def refuse_disjoint(self, names: tuple[str, ...]) -> None:
        """Raise where a file has no label in both columns."""
        for file, labelled in zip(self.files, self.rows, strict=True):
            refuse_disjoint(file, *labelled.sides, names)

    @property
    def apart(self) -> tuple[tuple[int, str], ...]:
        """The classes that do not count as negative where another class is positive, and what their rows are."""
        places = {self.classes.index(a.classes[k]): words for a in self.rows for k, words in a.apart}
        return tuple(sorted(places.items()))

    def labels(self, which: int) -> tuple[Array, Array]:
        """The true and the predicted classes of a file."""
        labelled, place = self.rows[which], self.places[which]
        return place[labelled.true], place[labelled.pred]


def path_name(given: Path | Input) -> str:
    """The name of a file, or of the file of an input."""
    return name_of(given if isinstance(given, Path) else given.path)


def is_read_log(given: Path | Input) -> bool:
    """Whether this input is an evaluation log, whose answers may have a single true class."""
    return not isinstance(given, Path) and given.table is not None and bool(given.table.scorers)


def united(a: Labelled | MatrixSource, b: Labelled | MatrixSource) -> tuple[tuple[str, ...], bool]:
    """The classes of both in order, and whether that has a meaning."""
    ordered = a.ordered and b.ordered
    if a.classes == b.classes:
        return a.classes, a.ordered or b.ordered
    both = {*a.classes, *b.classes}
    for labelled in (a, b):  # an ordered categorical column, where the other file may have text
        if labelled.ordered and not ordered and both == set(labelled.classes):
            return labelled.classes, True
    order = joined_order(a.classes, b.classes) if ordered else ()
    if order:
        return order, True
    are_numbers = ordered and all(label.removeprefix("-").isdecimal() for label in both)
    if are_numbers:
        return tuple(sorted(both, key=int)), True
    classes = tuple(sorted(both))
    return classes, any(set(classes) <= set(pair) for pair in TRUTHS)


def join(files: TwoFiles, column: str) -> tuple[Joined, tuple[list[str], list[str]]]:
    """Join the rows of the samples that both files have, and return the samples that only one of them has.

    Numbers of rows are those of both files together, those of the first file first.
    """
    a, b = files.rows
    known = list(dict.fromkeys([*a.sample_names, *b.sample_names]))
    place = {name: code for code, name in enumerate(known)}
    codes = [np.asarray([place[name] for name in labelled.sample_names])[labelled.samples] for labelled in (a, b)]
    both, *only = common_samples(*(samples.tolist() for samples in codes))
    of_one = [known[code] for code in only[0]], [known[code] for code in only[1]]
    if not both:
        raise ArgumentError(
            "paired_on",
            f"expected samples that are in both files, got {named(of_one[0])} in {files.files[0]} "
            f"and {named(of_one[1])} in {files.files[1]}",
        )
    kept = np.isin(np.concatenate(codes), both)
    true, pred = (np.concatenate(sides)[kept] for sides in zip(files.labels(0), files.labels(1), strict=True))
    rows = joined(
        *(np.repeat([0, 1], [len(samples) for samples in codes])[kept], np.concatenate(codes)[kept], true, pred),
        names=files.files,
        sample_names=known,
        column=column,
        weights=None if a.weights is None else np.concatenate([a.weights, b.weights])[kept],
    )
    order = np.argsort(rows.rows[0])  # that of the first file, in which sums of weights are rounded
    weights = None if rows.weights is None else rows.weights[order]
    places = np.flatnonzero(kept)[rows.rows[:, order]]
    return Joined(rows.true[order], rows.pred[:, order], rows.samples[order], places, weights), of_one


def repeats(rows: int, samples: int) -> str:
    """How many predictions a sample has, in words; empty if it is single."""
    return f", {rows / samples:.10g} predictions of each" if samples < rows else ""


def named(samples: Sequence[str]) -> str:
    """How many samples, and the first of them."""
    first = ", ".join(cut(sample) for sample in samples[:FIRST])
    return f"{counted(len(samples), 'sample')} ({first}{', …' if len(samples) > FIRST else ''})"
