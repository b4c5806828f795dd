"""The files of a gate: the counts of a model, and those of a baseline on the same samples or on others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import matrics
from matrics._catalogue.classes import Classes
from matrics._cli.judged_files import JudgeOptions, read_judged
from matrics._cli.matrices import MatrixRequest, clusters_of, open_matrices, opened
from matrics._cli.options import read_number, refuse
from matrics._cli.paired import TwoFiles, join, named, repeats, united
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._files.scores import ScoreNames, read_scores
from matrics._files.text import STDIN
from matrics._gates.requirements import has_measures
from matrics._gates.samples import Evidence, Samples
from matrics._gates.scores import ScoredSamples
from matrics._judged.counts import JudgedCounts
from matrics._quoting import cut, quoted, split_outside, unquote
from matrics._tables.samples import Joined
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matrics._files.inputs import Input
    from matrics._files.scores import Scored
    from matrics._files.source import MatrixSource

Array = Any


@dataclass(frozen=True)
class GateFiles:
    """The samples, the classes, and where they come from, in sentences and as plain values."""

    samples: Samples
    classes: Classes
    titles: list[str]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FileOptions:
    """Another file that a gate reads, and further columns."""

    baseline: Path | None
    paired_on: str | None
    clusters: str | None
    judge: JudgeOptions | None
    reference: str | None = None  # the group that others are compared with, by the values of columns


def with_columns(request: MatrixRequest, reference: str | None) -> tuple[MatrixRequest, str | None]:
    """The request with the columns of the groups, and the name of the reference group: ``month=2026-01``."""
    if reference is None:
        return request, None
    pairs = [part.partition("=") for part in split_outside(reference, quoted=True)]
    values = {column.strip(): unquote(value) for column, equals, value in pairs if column.strip() and equals}
    by = request.by or tuple(values)
    if len(values) != len(pairs) or set(values) != set(by):
        expected = ",".join(f"{column}=VALUE" for column in by) if by else "COLUMN=VALUE"
        raise ArgumentError(
            "reference", f"expected {quoted(expected)}, the group to compare with, got {quoted(reference)}"
        )
    return replace(request, by=by), ", ".join(values[column] for column in by)


def read_files(path: Path, request: MatrixRequest, chosen: FileOptions, requirements: list[str]) -> GateFiles:
    """Read the matrix of each file, or count its labels, and read the scores for requirements on scores."""
    request, reference = with_columns(request, chosen.reference)
    if reference is not None:
        given = {"baseline": None if chosen.baseline is None else str(chosen.baseline)}
        refuse("no such option with --reference, as each group is compared once", given)
    files = _read(path, request, chosen) if request.scores is None else _scored(path, request, chosen, requirements)
    if not request.by:
        return files
    samples = files.samples.compared_with(reference)
    title = f"{files.titles[0]} in {counted(len(samples.names), 'group')} ({', '.join(request.by)})"
    facts = {**files.facts, "by": list(request.by), "groups": list(samples.names), "reference": reference}
    if reference is not None:
        title += f"; reference: {reference}"
    return replace(files, samples=samples, titles=[title, *files.titles[1:]], facts=facts)


def _scored(path: Path, request: MatrixRequest, chosen: FileOptions, requirements: list[str]) -> GateFiles:
    """The scores of a file, and the labels where requirements are on labels: by a threshold, or of a column."""
    baseline = None if chosen.baseline is None else str(chosen.baseline)
    refuse("no such option with --scores", {"baseline": baseline, "judge": chosen.judge and chosen.judge.judge})
    of_labels, of_scores = (has_measures(requirements, of_scores=side) for side in (False, True))
    if not of_scores and request.threshold is None:
        raise ArgumentError(
            "scores",
            f"expected a measure of scores with it, such as roc_auc, or --threshold NUMBER, got "
            f"{quoted(', '.join(requirements))}",
        )
    source = _read_scores(path, request, chosen.clusters)
    if not of_labels:
        refuse("measures of labels with it, such as recall", {"threshold": request.threshold})
        samples, classes, title, facts = _of_scores_alone(source)
        return GateFiles(samples, classes, [title], facts)
    if request.threshold is not None:
        refuse("no such option with --threshold", {"clusters": chosen.clusters})
        files = _of_source(_labels_by_threshold(source, request.threshold), replace(request, positive=None), None)
        facts = {**files.facts, "threshold": float(request.threshold)}
        side = "up to " if source.lower_is_positive else ""
        files = replace(files, titles=[f"{files.titles[0]}; threshold {side}{request.threshold}"], facts=facts)
    elif path == STDIN:
        raise ArgumentError("scores", "expected --threshold NUMBER with standard input, which is read once")
    else:
        files = _read(path, replace(request, scores=None), chosen)
    facts = {**files.facts, **({"lower_is_positive": True} if source.lower_is_positive else {})}
    return replace(files, samples=_with_scores(files.samples, source), facts=facts)


def _read(path: Path, request: MatrixRequest, chosen: FileOptions) -> GateFiles:
    """Read the matrix of each file, or count its labels."""
    baseline, paired_on = chosen.baseline, chosen.paired_on
    request.refuse("--scores COLUMN with it", "threshold", "lower_is_positive")
    if chosen.judge is not None or paired_on is not None:
        request.refuse("one column, as a gate is about one model", *(["pred"] if request.models else []))
    if chosen.judge is not None:
        request.refuse("no such option with --judge", "rows", "counts", "weight", "cells")
        given = {"baseline": None if baseline is None else str(baseline)}
        refuse("no such option with --judge (matrics compare FILE OLD --judge compares both)", given)
        refuse("no such option with --judge", {"clusters": chosen.clusters})
        return _judged(path, request, chosen.judge)
    if baseline is None and paired_on is not None:
        raise ArgumentError("paired_on", f"expected --baseline OLD with it, got {quoted(paired_on)} alone")
    if path == STDIN == baseline:
        raise ArgumentError("baseline", "expected another file than FILE, got standard input for both")
    if paired_on is not None and paired_on in {request.true, request.pred, request.weight}:
        raise ArgumentError(
            "paired_on", f"expected a column that is neither a label nor a weight, got {quoted(paired_on)}"
        )
    if baseline is not None and paired_on is not None:
        return _pairs(path, request, chosen)
    return _matrices(path, request, chosen)


def _judged(path: Path, request: MatrixRequest, judging: JudgeOptions) -> GateFiles:
    """Count samples by the labels of people, where there are some, of a judge, and of the model."""
    rows = read_judged([path], request.names(), judging, has_pred=request.pred != Names.pred)
    if len(rows.models) > 1 and not request.by:
        raise ValueError(f"{rows.files[0]}: expected a single model for a gate, got {len(rows.models)}")
    parts = []
    for place in range(len(rows.models)):
        counts = JudgedCounts(*(table[place] for table in rows.counts[:2]))
        parts.append(Evidence(matrics.judged.confusion_matrix(counts), labels=counts))
    samples = Samples(tuple(parts), tuple(rows.models) if request.by else ())
    return GateFiles(samples, rows.classes, [rows.title], {"file": rows.files[0], **rows.facts})


def _matrices(path: Path, request: MatrixRequest, chosen: FileOptions) -> GateFiles:
    baseline = chosen.baseline
    given = opened(path, request.reading.answers)
    clusters = clusters_of(given, chosen.clusters, request.counts, request.weight, baseline)
    old_given = None
    if baseline is not None:
        _refuse_epochs(given, path)
        old_given = opened(baseline, request.reading.answers)
        _refuse_epochs(old_given, baseline)
    if None not in (clusters, baseline):
        raise ArgumentError("clusters", f"expected --paired-on COLUMN with a baseline, got {quoted(clusters)}")
    source, *others = (
        open_matrices(each, request, clusters=clusters) if request.by else _single(each, request, clusters)
        for each in (given, old_given)
        if each is not None
    )
    return _of_two(source, others[0], request) if others else _of_source(source, request, clusters)


def _of_two(source: MatrixSource, other: MatrixSource, request: MatrixRequest) -> GateFiles:
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
        f"baseline {of_other}; other samples (for the same ones: --paired-on COLUMN)",
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


def _of_source(source: MatrixSource, request: MatrixRequest, clusters: str | None) -> GateFiles:
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


def _refuse_epochs(given: Path | Input, path: Path) -> None:
    """Raise for a log whose answers would count as samples of their own."""
    of_log = clusters_of(given, None)
    if of_log is not None:
        raise ArgumentError(
            "baseline", f"expected --paired-on {of_log} with it, as {path} has several answers to a sample"
        )


def _refuse_single(number: int, clusters: str, group: str = "") -> None:
    if number < 2:
        where = f" in the group {quoted(group)}" if group else ""
        raise ArgumentError("clusters", f"expected at least two values of {quoted(clusters)}{where}, got {number}")


def _pairs(path: Path, request: MatrixRequest, chosen: FileOptions) -> GateFiles:
    """Read the rows of both files, and join them by the column of the samples."""
    baseline, paired_on = chosen.baseline, chosen.paired_on
    if baseline is None or paired_on is None:
        raise ArgumentError("paired_on", "expected --baseline OLD with it")
    refuse("no such option with --paired-on (in Python: matrics.gate)", {"clusters": chosen.clusters})
    request.refuse("no such option with --paired-on, as samples are rows", "rows", "counts", "cells")
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


def _single(path: Path | Input, request: MatrixRequest, clusters: str | None = None) -> MatrixSource:
    source = open_matrices(path, request, clusters=clusters)
    if source.count != 1:
        raise ValueError(
            f"{source.file}: expected one confusion matrix, as a gate is about one model, got {source.count:,}"
        )
    return source


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


# Scores ---------------------------------------------------------------------------------------------------------------


def _read_scores(path: Path, request: MatrixRequest, clusters: str | None) -> Scored:
    """The scores of a file."""
    request.refuse("no such option with --scores, which are of samples", "rows", "counts", "weight", "cells")
    names = ScoreNames.parse(request.scores or [], true=request.true, by=request.by, positive=request.positive)
    if names.models:
        raise ArgumentError(
            "scores", f"expected one column with it, as a gate is about one model, got {', '.join(names.models)}"
        )
    return read_scores(
        path,
        replace(names, clusters=clusters, lower_is_positive=request.lower_is_positive, **request.reading.names),
        of_all=True,
    )


def _scored_samples(source: Scored) -> list[ScoredSamples]:
    """The samples of each group; of several classes the scores are in the order of the classes."""
    every = [scores for _, scores in source.groups]
    are_probabilities = not any(((scores < 0) | (scores > 1)).any() for scores in every)
    parts = []
    for place, (true, scores) in enumerate(source.groups):
        clusters = source.samples_of[place] if source.samples_of else None
        if source.has_several:
            own, values = true, scores[:, np.argsort(source.positives)]
        else:
            own, values = (true == source.positives[0]).astype(np.int64), scores[:, 0]
        codes = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
        parts.append(ScoredSamples(own, values, codes, are_probabilities))
    return parts


def _labels_by_threshold(source: Scored, threshold: str) -> MatrixSource:
    """The matrices of labels that scores of at least a number predict."""
    if source.has_several:
        raise ArgumentError("threshold", "expected one column of scores with it, got several")
    return source.matrices(read_number("threshold", threshold))


def _of_scores_alone(source: Scored) -> tuple[Samples, Classes, str, dict[str, Any]]:
    """The samples of a file without predicted labels, the classes, and what the file has, in words and as values."""
    parts = tuple(Evidence(None, scores=part) for part in _scored_samples(source))
    names = tuple(source.name(k) for k in range(len(parts))) if source.of_groups else ()
    title = f"{source.file}: {counted(source.samples, 'sample')}"
    if not source.has_several:
        title += f"; positive: {source.sides[1]}{', by low scores' if source.lower_is_positive else ''}"
    facts = {"file": source.file, **({"lower_is_positive": True} if source.lower_is_positive else {})}
    return Samples(parts, names), source.known, title, facts


def _with_scores(samples: Samples, source: Scored) -> Samples:
    """The counts of labels with the scores of the same groups."""
    names = tuple(source.name(k) for k in range(len(source.groups))) if source.of_groups else ()
    if names != samples.names:
        other = next(iter(set(names) ^ set(samples.names)))
        raise ValueError(
            f"{source.file}: expected labels and scores of the same groups, got {quoted(other)} for only one of both"
        )
    both = zip(samples.parts, _scored_samples(source), strict=True)
    return samples._replace(parts=tuple(part._replace(scores=scores) for part, scores in both))
