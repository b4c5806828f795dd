"""The files of a gate: the counts of a model, and those of a baseline on the same samples or on others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matrics.catalogue.classes import Classes
from matrics.cli.gate_counts import GateFiles, described
from matrics.cli.gate_pairs import read_pairs
from matrics.cli.open_run import ScoreRequest, open_matrices
from matrics.cli.paired import united
from matrics.files.count import COUNT_ALONE
from matrics.files.text import STDIN
from matrics.gates.limits import Evidence
from matrics.quoting import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from matrics.files.source import MatrixSource

Array = Any


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
        return read_pairs(path, asked, baseline, paired_on, positive)
    return _matrices(path, asked, baseline, positive)


def _matrices(path: Path, asked: ScoreRequest, baseline: Path | None, positive: str | None) -> GateFiles:
    source = _one(path, asked)
    cm, squares = _matrix(source)
    titles = [described(source.file, source.n, cm, asked.weight)]
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
        f"baseline {described(other.file, other.n, old, asked.weight)}; other samples (for the same ones: "
        "--paired-on COLUMN)"
    )
    return GateFiles(Evidence(cm, squares, old, of_old), known, titles, {**facts, "baseline": other.file})


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
