"""The files of a gate: the counts of a model, and those of a baseline on the same samples or on others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics._catalogue.classes import Classes
from matrics._cli.gate_scores import labels_by_threshold, of_scores_alone, read_scored, with_scores
from matrics._cli.matrices import MatrixRequest, clusters_of, is_log, open_matrices, opened
from matrics._cli.options import refuse
from matrics._cli.paired import TwoFiles, join, named, repeats, united
from matrics._errors import ArgumentError
from matrics._files.crosstab import has_order
from matrics._files.inputs import read_rows
from matrics._files.labels import MISSING_CLASS, coded
from matrics._files.names import Names
from matrics._files.notices import refuse_disjoint, two_names, warn_of_odd_labels
from matrics._files.rows import name_of
from matrics._files.text import STDIN
from matrics._gates.requirements import has_measures
from matrics._gates.samples import Evidence, Samples
from matrics._quoting import quoted, split_outside, unquote
from matrics._tables.vocabularies import apart
from matrics._wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._files.inputs import Input
    from matrics._files.source import MatrixSource
    from matrics._judged.counts import JudgedCounts

Array = Any


@dataclass(frozen=True)
class GateFiles:
    """The samples, the classes, and where they come from, in sentences and as plain values."""

    samples: Samples
    classes: Classes
    titles: list[str]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedNames(Names):
    """The columns of labels, and that of the labels of a judge."""

    judge: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The three columns of labels."""
        return self.true, self.pred, self.judge


@dataclass(frozen=True)
class FileOptions:
    """Another file that a gate reads, and further columns."""

    baseline: Path | None
    paired_on: str | None
    clusters: str | None
    judge: str | None
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
    """Read one matrix, or count labels, of each file, and the scores for requirements on them."""
    request, reference = with_columns(request, chosen.reference)
    if request.by:
        given = {"baseline": None if chosen.baseline is None else str(chosen.baseline), "judge": chosen.judge}
        refuse("no such option with groups (--reference COLUMN=VALUE compares these)", given)
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
    refuse("no such option with --scores", {"baseline": baseline, "judge": chosen.judge})
    of_labels, of_scores = (has_measures(requirements, of_scores=side) for side in (False, True))
    if not of_scores and request.threshold is None:
        raise ArgumentError(
            "scores",
            f"expected a measure of scores with it, such as roc_auc, or --threshold NUMBER, got "
            f"{quoted(', '.join(requirements))}",
        )
    source = read_scored(path, request, chosen.clusters)
    if not of_labels:
        refuse("measures of labels with it, such as recall", {"threshold": request.threshold})
        samples, classes, title, facts = of_scores_alone(source)
        return GateFiles(samples, classes, [title], facts)
    if request.threshold is not None:
        refuse("no such option with --threshold", {"clusters": chosen.clusters})
        files = _of_source(labels_by_threshold(source, request.threshold), replace(request, positive=None), None)
        facts = {**files.facts, "threshold": float(request.threshold)}
        files = replace(files, titles=[f"{files.titles[0]}; threshold {request.threshold}"], facts=facts)
    elif path == STDIN:
        raise ArgumentError("scores", "expected --threshold NUMBER with standard input, which is read once")
    else:
        files = _read(path, replace(request, scores=None), chosen)
    return replace(files, samples=with_scores(files.samples, source))


def _read(path: Path, request: MatrixRequest, chosen: FileOptions) -> GateFiles:
    """Read one matrix, or count labels, of each file."""
    baseline, paired_on = chosen.baseline, chosen.paired_on
    request.refuse("--scores COLUMN with it", "threshold")
    if chosen.judge is not None or paired_on is not None:
        request.refuse("one column, as a gate is about one model", *(["pred"] if request.models else []))
    if chosen.judge is not None:
        request.refuse("no such option with --judge", "rows", "counts", "weight", "cells")
        given = {"baseline": None if baseline is None else str(baseline), "clusters": chosen.clusters}
        refuse("no such option with --judge", given)
        if is_log(path):
            return _graded(path, request, chosen.judge)
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


def _graded(path: Path, request: MatrixRequest, judge: str) -> GateFiles:
    """Count the answers of a log by the grades of people, where there are some, and of a judge: two scorers."""
    from matrics._integrations.evals.judged import judged_counts
    from matrics._integrations.evals.labels import FAIL, PASS

    if request.true == Names.true:
        raise ArgumentError("judge", f"expected --true SCORER with it, the scorer of people, got {quoted(judge)} alone")
    counts = judged_counts(path, people=request.true, judge=judge)
    numbers = _judged_numbers(counts)
    title = f"{name_of(path)}: {_in_words(numbers, 'answer', 'graded', judge, request.true)}; accuracy is the pass rate"
    facts = {"file": name_of(path), "judge": judge, "people": request.true, **numbers}
    cm = matrics.judged.confusion_matrix(counts)
    return GateFiles(_alone(Evidence(cm, labels=counts)), Classes.of(2, (FAIL, PASS), PASS), [title], facts)


def _judged(path: Path, request: MatrixRequest, judge: str) -> GateFiles:
    """Count rows by the true label, where there is one, that of a judge, and the predicted one."""
    names = JudgedNames(request.true, request.pred, **request.reading._replace(missing="class").names, judge=judge)
    names.check()
    if judge in {request.true, request.pred}:
        raise ArgumentError("judge", f"expected a column other than the true and predicted labels, got {quoted(judge)}")
    _, (columns, listed, is_ordered), _ = read_rows(path, names, _coded, warns=False)
    classes = tuple(label for label in listed if label != MISSING_CLASS)
    n = len(classes)
    true, pred, by_judge = (np.where(column < n, column, -1) for column in columns)
    if (pred < 0).any():
        raise ValueError(
            f"{name_of(path)}: expected a label in each row of {request.pred}, got {(pred < 0).sum():,} without"
        )
    answered = np.append(true, by_judge)
    answered = answered[answered >= 0]
    sides = [[classes[k] for k in np.unique(side)] for side in (answered, pred)]
    words = two_names(sides[0], sides[1], request.positive)
    if words is not None:
        of_true, of_pred = (
            np.asarray([places.get(label, -1) for label in classes] + [-1]) for places in (words.of_true, words.of_pred)
        )
        true, pred, by_judge, is_ordered = of_true[true], of_pred[pred], of_true[by_judge], False
        classes, n = words.classes, 2
    elif names.order is None:
        refuse_disjoint(name_of(path), sides[0], sides[1], (request.true, request.pred))
        warn_of_odd_labels(name_of(path), sides[0], sides[1])
    counts = matrics.judged.count(true, by_judge, pred, num_classes=n)
    numbers = _judged_numbers(counts)
    if not numbers["labelled"]:
        raise ValueError(f"{name_of(path)}: expected true labels in some rows of {request.true}, got none")
    cm = matrics.judged.confusion_matrix(counts)
    title = f"{name_of(path)}: {counted(n, 'class')}, {_in_words(numbers, 'sample', 'labelled', judge, request.true)}"
    facts = {"file": name_of(path), "judge": judge, **numbers}
    answered = np.append(true, by_judge)
    sizes = [np.bincount(side, minlength=n) for side in (answered[answered >= 0], pred)]
    known = Classes.of(n, classes, request.positive, ordered=is_ordered, apart=apart(classes, sizes[0], sizes[1]))
    return GateFiles(_alone(Evidence(cm, labels=counts)), known, [title], facts)


def _judged_numbers(counts: JudgedCounts) -> dict[str, int]:
    """How many samples people have labelled, how many the judge, how many both, and how many only people have.

    Samples that nobody has labelled count with the label n of the judge, and are in none of these.
    """
    n = counts.labelled.shape[-1]
    labelled, both, alone = (int(x.sum()) for x in (counts.labelled, counts.labelled[:, :n], counts.unlabelled[:n]))
    return {"labelled": labelled, "judged": both + alone, "both": both, "unanswered": int(counts.unlabelled[n:].sum())}


def _in_words(numbers: dict[str, int], unit: str, verb: str, judge: str, people: str) -> str:
    """The same in words."""
    words = f"{counted(numbers['judged'], unit)} {verb} by {judge}, {numbers['both']:,} of them by {people} as well"
    only = numbers["labelled"] - numbers["both"]
    words += f"; {only:,} more {verb} by {people} alone" if only else ""
    return words + (f"; {numbers['unanswered']:,} by neither" if numbers["unanswered"] else "")


def _coded(table: Any, names: JudgedNames) -> tuple[list[Array], tuple[str, ...], bool]:
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    columns, (classes, *_), _ = zip(*(coded(table, name) for name in names.labels), strict=True)
    listed = tuple(map(str, classes.to_pylist()))
    known = [label for label in listed if label != MISSING_CLASS]
    return list(columns), listed, names.order is not None or has_order(known)


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
    source = open_matrices(given, request, clusters=clusters) if request.by else _one(given, request, clusters)
    if old_given is None:
        return _of_source(source, request, clusters)
    cm, squares = _matrix(source)
    titles = [_described(source.file, source.n, cm, request.weight)]
    facts: dict[str, Any] = {"file": source.file}
    other = _one(old_given, request)
    old, of_old = _matrix(other)
    known = source.known(request.positive)
    if not (source.named or other.named) and source.n != other.n:
        raise ValueError(f"{other.file}: expected a matrix of {source.n} classes, as {source.file} has, got {other.n}")
    if source.named or other.named:
        if not (source.named and other.named):
            bare = other if source.named else source
            raise ValueError(f"{bare.file}: expected classes with names, as the other file has them, got a bare matrix")
        labels, is_ordered = united(source, other)
        cm, squares = (_widened(table, source.classes, labels) for table in (cm, squares))
        old, of_old = (_widened(table, other.classes, labels) for table in (old, of_old))
        no_rest = {labels.index(one.classes[k]): words for one in (source, other) for k, words in one.apart}
        known = Classes.of(
            len(labels), labels, request.positive, ordered=is_ordered, apart=tuple(sorted(no_rest.items()))
        )
    titles.append(
        f"baseline {_described(other.file, other.n, old, request.weight)}; other samples (for the same ones: "
        "--paired-on COLUMN)"
    )
    return GateFiles(_alone(Evidence(cm, squares, old, of_old)), known, titles, {**facts, "baseline": other.file})


def _of_source(source: MatrixSource, request: MatrixRequest, clusters: str | None) -> GateFiles:
    """The counts of a file without a baseline, or those of each group."""
    if source.rows != "true" and source.count > 1:
        raise ArgumentError("rows", "expected no such option with groups")
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
    found = TwoFiles.read([path, baseline], names)
    found.refuse_disjoint(names.labels)
    files, n = found.files, len(found.classes)
    both, only = join(found, paired_on)
    found.warn()
    of_all, weight = found.rows[0].weights, both.weights

    def joint(weights: Array | None, **by: Any) -> Array:
        return matrics.stats.joint_confusion_matrix(both.true, *both.pred, num_classes=n, sample_weight=weights, **by)

    def alone(weights: Array | None, **by: Any) -> Array:
        return matrics.confusion_matrix(*found.labels(0), num_classes=n, sample_weight=weights, **by)

    evidence = Evidence(alone(of_all), joint=joint(weight))
    number, samples = len(np.unique(both.samples)), found.rows[0].samples
    repeated: dict[str, Any] = {}
    if len(np.unique(samples)) < len(samples):  # whole samples are random
        parts = alone(of_all, **_by(samples))
        if number < 2:
            raise ArgumentError("paired_on", f"expected at least two samples with several rows each, got {number}")
        evidence = evidence._replace(clusters=parts, joint_clusters=joint(weight, **_by(both.samples)))
        repeated = {"clusters": paired_on, "number_of_clusters": len(parts)}
    elif weight is not None:
        evidence = evidence._replace(squares=alone(of_all**2), joint_squares=joint(weight**2))
    titles = [
        _described(files[0], n, evidence.cm, request.weight),
        f"baseline {files[1]}: the same {counted(number, 'sample')} ({paired_on}){repeats(len(both.samples), number)}",
    ]
    titles += [
        f"left out of the comparison, as only {file} has them: {named(of_one)}"
        for file, of_one in zip(files, only, strict=True)
        if of_one
    ]
    left_out = {"only_in_file": len(only[0]), "only_in_baseline": len(only[1])}
    facts = {"file": files[0], "baseline": files[1], "paired_on": paired_on, "paired": number, **left_out, **repeated}
    classes = Classes.of(n, found.classes, request.positive, ordered=found.ordered, apart=found.apart)
    return GateFiles(_alone(evidence), classes, titles, facts)


def _alone(evidence: Evidence) -> Samples:
    """Samples without groups."""
    return Samples((evidence,))


def _by(samples: Array) -> dict[str, Any]:
    """The options that count each sample alone."""
    found, groups = np.unique(samples, return_inverse=True)
    return {"groups": groups, "num_groups": len(found)}


def _one(path: Path | Input, request: MatrixRequest, clusters: str | None = None) -> MatrixSource:
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
    """A table of some of the classes as one of all."""
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
