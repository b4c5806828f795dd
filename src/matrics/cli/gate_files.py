"""The files of a gate: the counts of a model, and those of a baseline on the same samples or on others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics.catalogue.classes import Classes
from matrics.cli.open_run import ScoreRequest, open_matrices
from matrics.cli.paired import TwoFiles, join, named, united
from matrics.cli.printing import counted
from matrics.files.count import COUNT_ALONE
from matrics.files.names import Names
from matrics.files.text import STDIN
from matrics.gates.limits import Evidence
from matrics.quoting import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from matrics.files.source import MatrixSource

Array = Any


@dataclass(frozen=True)
class GateFiles:
    """The counts, the classes, and where they come from, in sentences and as plain values."""

    evidence: Evidence
    classes: Classes
    titles: list[str]
    facts: dict[str, Any] = field(default_factory=dict)


def read_files(
    path: Path, asked: ScoreRequest, baseline: Path | None, paired_on: str | None, positive: str | None
) -> GateFiles:
    """Read one matrix, or count labels, of each file."""
    if baseline is None and paired_on is not None:
        raise ValueError(f"--paired-on: expected --baseline OLD with it, got {quoted(paired_on)} alone")
    if path == STDIN == baseline:
        raise ValueError("--baseline: expected another file than FILE, got standard input for both")
    if paired_on is not None and paired_on in {asked.true, asked.pred, asked.weight}:
        raise ValueError(
            f"--paired-on: expected a column that is neither a label nor a weight, got {quoted(paired_on)}"
        )
    if baseline is not None and paired_on is not None:
        return _pairs(path, asked, baseline, paired_on, positive)
    return _matrices(path, asked, baseline, positive)


def _matrices(path: Path, asked: ScoreRequest, baseline: Path | None, positive: str | None) -> GateFiles:
    source = _one(path, asked)
    cm, squares = _matrix(source)
    titles = [_described(source.file, source.n, cm, asked.weight)]
    facts: dict[str, Any] = {"file": source.file}
    if baseline is None:
        return GateFiles(Evidence(cm, squares), source.known(positive), titles, facts)
    other = _one(baseline, asked)
    old, of_old = _matrix(other)
    known = source.known(positive)
    if not (source.named or other.named) and source.n != other.n:
        raise ValueError(f"{other.file}: expected a matrix of {source.n} classes, as {source.file} has, got {other.n}")
    if source.named or other.named:
        if not (source.named and other.named):
            bare = other if source.named else source
            raise ValueError(f"{bare.file}: expected classes with names, as the other file has them, got a bare matrix")
        labels, is_ordered = united(source, other)
        cm, squares = (_widened(table, source.classes, labels) for table in (cm, squares))
        old, of_old = (_widened(table, other.classes, labels) for table in (old, of_old))
        known = Classes.of(len(labels), labels, positive, ordered=is_ordered)
    titles.append(
        f"baseline {_described(other.file, other.n, old, asked.weight)}; other samples (for the same ones: "
        "--paired-on COLUMN)"
    )
    return GateFiles(Evidence(cm, squares, old, of_old), known, titles, {**facts, "baseline": other.file})


def _pairs(path: Path, asked: ScoreRequest, baseline: Path, paired_on: str, positive: str | None) -> GateFiles:
    """Read the rows of both files, and join them by the column of the samples."""
    asked.refuse("no such option with --paired-on, as samples are rows", "rows", "counts", "cells")
    found = TwoFiles.read([path, baseline], Names(asked.true, asked.pred, (), paired_on, weight=asked.weight))
    files, n = found.files, len(found.classes)
    both = join(found, paired_on)
    found.warn()
    of_all, weight = found.rows[0].weights, both.weights

    def joint(weights: Array | None) -> Array:
        return matrics.joint_confusion_matrix(both.true, *both.predictions, num_classes=n, sample_weight=weights)

    def alone(weights: Array | None) -> Array:
        return matrics.confusion_matrix(*found.labels(0), num_classes=n, sample_weight=weights)

    evidence = Evidence(alone(of_all), joint=joint(weight))
    if weight is not None:
        evidence = evidence._replace(squares=alone(of_all**2), joint_squares=joint(weight**2))
    number = len(both.true)
    titles = [
        _described(files[0], n, evidence.cm, asked.weight),
        f"baseline {files[1]}: the same {counted(number, 'sample')} ({paired_on})",
    ]
    titles += [
        f"left out of the comparison, as only {file} has them: {named(only)}"
        for file, only in zip(files, both.only, strict=True)
        if only
    ]
    left_out = {"only_in_file": len(both.only[0]), "only_in_baseline": len(both.only[1])}
    facts = {"file": files[0], "baseline": files[1], "paired_on": paired_on, "paired": number, **left_out}
    return GateFiles(evidence, Classes.of(n, found.classes, positive, ordered=found.ordered), titles, facts)


def _one(path: Path, asked: ScoreRequest) -> MatrixSource:
    source = open_matrices(path, asked, COUNT_ALONE)
    if source.count != 1:
        raise ValueError(
            f"{source.file}: expected one confusion matrix, as a gate is about one model, got {source.count:,}"
        )
    return source


def _matrix(source: MatrixSource) -> tuple[Array, Array | None]:
    """The only matrix of a file and, of weights, that of their squares; rows are true classes."""
    cm = source.block(0, 1)[0]
    squares = None if source.squares is None else source.squares_of(np.zeros(1, int))[0]
    return (cm, squares) if source.rows == "true" else (cm.T, squares)


def _widened(table: Array, classes: tuple[str, ...], labels: tuple[str, ...]) -> Array:
    """A table of some of the classes as one of all."""
    if table is None or classes == labels:
        return table
    wide = np.zeros((len(labels), len(labels)), table.dtype)
    places = [labels.index(label) for label in classes]
    wide[np.ix_(places, places)] = table
    return wide


def _described(file: str, n: int, cm: Array, weight: str | None) -> str:
    """What a file holds, in words."""
    classes = counted(n, "class", "classes")
    total = cm.sum(dtype=np.float64)
    size = counted(total, "sample") if weight is None else f"weights of {total:,.7g} in all ({weight})"
    return f"{file}: {classes}, {size}"
