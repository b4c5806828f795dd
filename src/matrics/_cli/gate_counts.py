"""The counts of a gate: those of a file, of each of its groups, and of a baseline on the same samples or on others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import matrics
from matrics._catalogue.classes import Classes
from matrics._cli.matrices import answered_in_words
from matrics._cli.paired import TwoFiles, join, named, repeats, united
from matrics._errors import ArgumentError
from matrics._gates.samples import Evidence, Samples
from matrics._quoting import cut, quoted
from matrics._tables.samples import Joined
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matrics._cli.matrices import MatrixRequest
    from matrics._files.inputs import Input
    from matrics._files.source import MatrixSource
    from matrics._integrations.evals.answered import Answered

Array = Any


@dataclass(frozen=True)
class GateFiles:
    """The samples, the classes, and where they come from, in sentences and as plain values."""

    samples: Samples
    classes: Classes
    titles: list[str]
    facts: dict[str, Any] = field(default_factory=dict)
    answered: tuple[Answered, ...] = ()  # for each run of an evaluation log

    def described(self, level: float) -> list[str]:
        """The origin of the samples in sentences, and a line for each run with its share of answers with a score."""
        return [*self.titles, *answered_in_words(self.answered, level)]


def of_two(source: MatrixSource, other: MatrixSource, request: MatrixRequest) -> GateFiles:
    """The counts of two files of different samples, or those of each group in both."""
    _refuse_columns_as_rows(source, other)
    known, labels = source.known(request.positive), source.classes
    if not (source.named or other.named):
        if source.n != other.n:
            raise ValueError(
                f"{other.file}: expected a matrix of {source.n} classes, as {source.file} has, got {other.n}"
            )
    else:
        if not (source.named and other.named):
            bare = other if source.named else source
            raise ValueError(f"{bare.file}: expected classes with names, as the other file has them, got a bare matrix")
        labels, is_ordered = united(source, other)
        no_rest = {labels.index(file.classes[k]): words for file in (source, other) for k, words in file.apart}
        known = Classes.of(
            len(labels), labels, request.positive, ordered=is_ordered, apart=tuple(sorted(no_rest.items()))
        )
    names, places = _common_groups(source, other) if request.by else ((), [0])
    parts = tuple(
        Evidence(
            *(_widened(table, source.classes, labels) for table in _matrix(source, place)),
            *(_widened(table, other.classes, labels) for table in _matrix(other, there)),
        )
        for place, there in enumerate(places)
    )
    here, there = (
        sum(tables[1:], start=tables[0]) for tables in zip(*((p.cm, p.baseline) for p in parts), strict=True)
    )
    of_other = _described(other.file, other.n, there, request.weight)
    titles = [
        _described(source.file, source.n, here, request.weight),
        f"baseline {of_other}; other samples (for the same samples: --paired-on COLUMN)",
    ]
    return GateFiles(Samples(parts, names), known, titles, {"file": source.file, "baseline": other.file})


def _common_groups(source: MatrixSource, other: MatrixSource) -> tuple[tuple[str, ...], list[int]]:
    """The names of the groups, and the place of each among the groups of the other file."""
    here, there = ([of_file.name(place) for place in range(of_file.count)] for of_file in (source, other))
    _refuse_other_groups((source.file, other.file), (here, there))
    return tuple(here), [there.index(name) for name in here]


def _refuse_other_groups(files: Sequence[str], groups: Sequence[Sequence[str]]) -> None:
    """Raise unless both files have the same groups."""
    for k, names in enumerate(groups):
        missing = [name for name in names if name not in groups[1 - k]]
        if missing:
            raise ArgumentError(
                "by",
                f"expected the same groups in {files[0]} and {files[1]}, got {quoted(missing[0])} only in {files[k]}: "
                "leave out its rows, or add them to the other file",
            )


def _refuse_columns_as_rows(*sources: MatrixSource) -> None:
    """Raise for several matrices whose rows are predicted classes."""
    if any(source.rows != "true" and source.count > 1 for source in sources):
        raise ArgumentError("rows", "expected no such option with groups")


def of_source(source: MatrixSource, request: MatrixRequest, clusters: str | None) -> GateFiles:
    """The counts of a file without a baseline, or those of each group."""
    _refuse_columns_as_rows(source)
    parts = []
    for place in range(source.count):
        part = Evidence(*_matrix(source, place))
        if clusters is not None:
            of_part = source.clusters_of(place)
            part = part._replace(clusters=of_part if source.rows == "true" else np.swapaxes(of_part, -1, -2))
            _refuse_single(len(of_part), clusters, source.name(place) if request.by else "")
        parts.append(part)
    whole = sum((part.cm for part in parts[1:]), start=parts[0].cm)
    titles = [_described(source.file, source.n, whole, request.weight)]
    facts: dict[str, Any] = {"file": source.file}
    if clusters is not None:
        number = int(source.cluster_counts.sum())
        titles[0] += f" in {counted(number, 'cluster')} ({clusters})"
        facts |= {"clusters": clusters, "number_of_clusters": number}
    names = tuple(source.name(place) for place in range(source.count)) if request.by else ()
    return GateFiles(Samples(tuple(parts), names), source.known(request.positive), titles, facts)


def _refuse_single(number: int, clusters: str, group: str = "") -> None:
    if number < 2:
        where = f" in the group {quoted(group)}" if group else ""
        raise ArgumentError("clusters", f"expected at least two values of {quoted(clusters)}{where}, got {number}")


def of_pairs(path: Path | Input, baseline: Path | Input, paired_on: str, request: MatrixRequest) -> GateFiles:
    """Read the rows of both files, and join them by the column of the samples."""
    names = request.names(paired_on)
    rows = TwoFiles.read([path, baseline], names)
    rows.refuse_disjoint(names.labels)
    files, n = rows.files, len(rows.classes)
    both, only = join(rows, paired_on)
    rows.warn()
    here = _Rows(*rows.labels(0), rows.rows[0].samples, rows.rows[0].weights)
    number, of_first = len(np.unique(both.samples)), len(np.unique(here.samples))
    is_repeated = of_first < len(here.samples)  # whole samples are random
    groups: tuple[tuple[str, ...], Array, Array] | None = (
        _groups_of_pairs(rows, both, paired_on) if request.by else None
    )
    parts = []
    for k in range(len(groups[0]) if groups else 1):
        part, of_both = (here, both) if groups is None else (here.of(groups[1] == k), _of(both, groups[2] == k))
        where = "" if groups is None else f" in the group {quoted(groups[0][k])}"
        parts.append(_paired(part, of_both, n, is_repeated=is_repeated, where=where))
    repeated: dict[str, Any] = {}
    if is_repeated:
        repeated = {"clusters": paired_on, "number_of_clusters": of_first}
    titles = [
        _described(files[0], n, sum((part.cm for part in parts[1:]), start=parts[0].cm), request.weight),
        f"baseline {files[1]}: the same {counted(number, 'sample')} ({paired_on}){repeats(len(both.samples), number)}",
    ]
    titles += [
        f"left out of the comparison, as only {file} has them: {named(samples_of_file)}"
        for file, samples_of_file in zip(files, only, strict=True)
        if samples_of_file
    ]
    left_out = {"only_in_file": len(only[0]), "only_in_baseline": len(only[1])}
    facts = {"file": files[0], "baseline": files[1], "paired_on": paired_on, "paired": number, **left_out, **repeated}
    classes = Classes.of(n, rows.classes, request.positive, ordered=rows.ordered, apart=rows.apart)
    return GateFiles(Samples(tuple(parts), groups[0] if groups else ()), classes, titles, facts)


class _Rows(NamedTuple):
    """The true and the predicted class, the sample and the weight of each row of a file."""

    true: Array
    pred: Array
    samples: Array
    weights: Array | None

    def of(self, chosen: Array) -> _Rows:
        """The rows of a group."""
        return _Rows(*(None if column is None else column[chosen] for column in self))


def _of(both: Joined, chosen: Array) -> Joined:
    """The rows of a group that both files have."""
    return Joined(*(None if column is None else column[..., chosen] for column in both))


def _groups_of_pairs(rows: TwoFiles, both: Joined, paired_on: str) -> tuple[tuple[str, ...], Array, Array]:
    """The names of the groups, and the group of each row of the first file and of each row of both."""
    first, second = rows.rows
    _refuse_other_groups(rows.files, (first.names, second.names))
    place = np.asarray([first.names.index(name) for name in second.names])
    pairs = np.concatenate([first.groups, place[second.groups]])[both.rows]
    moved = np.flatnonzero(pairs[0] != pairs[1])
    if len(moved):
        names = list(dict.fromkeys([*first.sample_names, *second.sample_names]))
        own, other = (first.names[pairs[k, moved[0]]] for k in range(2))
        raise ArgumentError(
            "by",
            f"expected the same group of a sample in both files, got {quoted(own)} and {quoted(other)}, the first at "
            f"{paired_on} {cut(names[both.samples[moved[0]]])}",
        )
    return tuple(first.names), first.groups, pairs[0]


def _paired(here: _Rows, both: Joined, n: int, *, is_repeated: bool, where: str) -> Evidence:
    """The counts of a file, and the joint counts of both files; of samples with several rows those of each sample."""

    def joint(weights: Array | None, **by: Any) -> Array:
        return matrics.stats.joint_confusion_matrix(both.true, *both.pred, num_classes=n, sample_weight=weights, **by)

    def alone(weights: Array | None, **by: Any) -> Array:
        return matrics.confusion_matrix(here.true, here.pred, num_classes=n, sample_weight=weights, **by)

    if not len(both.true):
        raise ArgumentError("paired_on", f"expected samples that are in both files{where}, got none")
    evidence = Evidence(alone(here.weights), joint=joint(both.weights))
    if is_repeated:
        number = len(np.unique(both.samples))
        if number < 2:
            raise ArgumentError(
                "paired_on", f"expected at least two samples with several rows each{where}, got {number}"
            )
        clusters = alone(here.weights, **_by(here.samples))
        return evidence._replace(clusters=clusters, joint_clusters=joint(both.weights, **_by(both.samples)))
    if here.weights is None or both.weights is None:
        return evidence
    return evidence._replace(squares=alone(here.weights**2), joint_squares=joint(both.weights**2))


def _by(samples: Array) -> dict[str, Any]:
    """The options that count each sample alone."""
    names, groups = np.unique(samples, return_inverse=True)
    return {"groups": groups, "num_groups": len(names)}


def _matrix(source: MatrixSource, place: int = 0) -> tuple[Array, Array | None]:
    """A matrix of a file and, of weights, that of their squares; rows are true classes."""
    cm = source.block(place, place + 1)[0]
    squares = None if source.squares is None else source.squares_of(np.asarray([place]))[0]
    return (cm, squares) if source.rows == "true" else (cm.T, squares)


def _widened(table: Array, classes: tuple[str, ...], labels: tuple[str, ...]) -> Array:
    """The table of some classes with rows and columns for all classes, in which further cells are 0."""
    if table is None or classes == labels:
        return table
    wide = np.zeros((len(labels), len(labels)), table.dtype)
    places = [labels.index(label) for label in classes]
    wide[np.ix_(places, places)] = table
    return wide


def _described(file: str, n: int, cm: Array, weight: str | None) -> str:
    """What a file holds, in words."""
    classes = counted(n, "class")
    total = cm.sum(dtype=np.float64)
    size = counted(total, "sample") if weight is None else f"weights of {total:,.7g} in all ({weight})"
    return f"{file}: {classes}, {size}"
