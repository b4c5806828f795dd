"""The files of a gate, if both models have predicted the same samples: joined by the column of the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics.catalogue.classes import Classes
from matrics.cli.gate_counts import GateFiles, described, united
from matrics.cli.printing import counted
from matrics.files.label_rows import Labelled, read_labels
from matrics.files.names import Names
from matrics.files.notices import warn_of_odd_labels
from matrics.files.rows import name_of
from matrics.gates.limits import Evidence
from matrics.quoting import cut, quoted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matrics.cli.open_run import ScoreRequest

Array = Any

FIRST = 5  # samples of only one file that are named


def read_pairs(path: Path, asked: ScoreRequest, baseline: Path, paired_on: str, positive: str | None) -> GateFiles:
    """Read the rows of both files, and join them by the column of the samples."""
    asked.refuse("no such option with --paired-on, as samples are rows", "rows", "counts", "cells")
    names = Names(asked.true, asked.pred, (), paired_on, weight=asked.weight)
    new, old = read_labels(path, names), read_labels(baseline, names)
    files = name_of(path), name_of(baseline)
    labels, is_ordered = united(new, old)
    for file, one in zip(files, (new, old), strict=True):
        _refuse_repeated(one, file, paired_on)
    rows_new, rows_old, only_new, only_old = _matched(new, old)
    if not len(rows_new):
        raise ValueError(
            f"--paired-on {paired_on}: expected samples that are in both files, got {_named(only_new)} in {files[0]} "
            f"and {_named(only_old)} in {files[1]}"
        )
    of_new, of_old = (np.asarray([labels.index(label) for label in one.classes]) for one in (new, old))
    true, same = of_new[new.true[rows_new]], of_old[old.true[rows_old]]
    _refuse_others(true, same, labels, files, lambda row: f"{paired_on} {new.sample_names[new.samples[rows_new[row]]]}")
    weight = None if new.weights is None else new.weights[rows_new]
    if weight is not None and (weight != old.weights[rows_old]).any():
        raise ValueError(f"--weight {asked.weight}: expected the same weight of a sample in both files, got others")
    _warn(files, (new, old))
    n = len(labels)
    predicted = of_new[new.pred[rows_new]], of_old[old.pred[rows_old]]

    def joint(weights: Array | None) -> Array:
        return matrics.joint_confusion_matrix(true, *predicted, num_classes=n, sample_weight=weights)

    def alone(weights: Array | None) -> Array:
        return matrics.confusion_matrix(of_new[new.true], of_new[new.pred], num_classes=n, sample_weight=weights)

    evidence = Evidence(alone(new.weights), joint=joint(weight))
    if weight is not None:
        evidence = evidence._replace(squares=alone(new.weights**2), joint_squares=joint(weight**2))
    titles = [
        described(files[0], n, evidence.cm, asked.weight),
        f"baseline {files[1]}: the same {counted(len(rows_new), 'sample')} ({paired_on})",
    ]
    titles += [
        f"left out of the comparison, as only {file} has them: {_named(only)}"
        for file, only in zip(files, (only_new, only_old), strict=True)
        if only
    ]
    left_out = {"only_in_file": len(only_new), "only_in_baseline": len(only_old)}
    facts = {"file": files[0], "baseline": files[1], "paired_on": paired_on, "paired": len(rows_new), **left_out}
    return GateFiles(evidence, Classes.of(n, labels, positive, ordered=is_ordered), titles, facts)


def _warn(files: tuple[str, str], both: tuple[Labelled, Labelled]) -> None:
    for file, one in zip(files, both, strict=True):
        warn_of_odd_labels(file, *([one.classes[k] for k in np.unique(side).tolist()] for side in (one.true, one.pred)))


def _refuse_others(
    true: Array, same: Array, labels: tuple[str, ...], files: tuple[str, str], named: Callable[[int], str]
) -> None:
    """Raise where a sample has another true label in the other file."""
    others = np.flatnonzero(true != same)
    if len(others):
        row = int(others[0])
        raise ValueError(
            f"--paired-on: expected the same true label of a sample in both files, got {quoted(labels[true[row]])} in "
            f"{files[0]} and {quoted(labels[same[row]])} in {files[1]} at {cut(named(row))} ({len(others):,} such)"
        )


def _refuse_repeated(one: Labelled, file: str, paired_on: str) -> None:
    times = np.bincount(one.samples)
    if (times > 1).any():
        first = int((times > 1).argmax())
        raise ValueError(
            f"--paired-on {paired_on}: expected each sample once in {file}, got {quoted(one.sample_names[first])} "
            f"{times[first]} times"
        )


def _matched(new: Labelled, old: Labelled) -> tuple[Array, Array, list[str], list[str]]:
    """The rows of the samples that both have, in the order of the first, and the samples of only one."""
    row_of = {old.sample_names[sample]: row for row, sample in enumerate(old.samples.tolist())}
    rows: list[tuple[int, int]] = []
    only_new: list[str] = []
    for row, sample in enumerate(new.samples.tolist()):
        other = row_of.pop(new.sample_names[sample], None)
        if other is None:
            only_new.append(new.sample_names[sample])
        else:
            rows.append((row, other))
    both = np.asarray(rows, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1], only_new, list(row_of)


def _named(samples: list[str]) -> str:
    """How many samples, and the first of them."""
    first = ", ".join(cut(sample) for sample in samples[:FIRST])
    return f"{counted(len(samples), 'sample')} ({first}{', …' if len(samples) > FIRST else ''})"
