"""The files of a gate: the counts of a model, and those of a baseline on the same samples or on others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics._catalogue.classes import Classes
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
from matrics._gates.judge import Evidence
from matrics._quoting import quoted
from matrics._tables.vocabularies import apart
from matrics._wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._files.inputs import Input
    from matrics._files.source import MatrixSource

Array = Any


@dataclass(frozen=True)
class GateFiles:
    """The counts, the classes, and where they come from, in sentences and as plain values."""

    evidence: Evidence
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
class Beside:
    """What a gate reads beside the labels: another file, or further columns."""

    baseline: Path | None
    paired_on: str | None
    clusters: str | None
    judge: str | None


def read_files(path: Path, request: MatrixRequest, beside: Beside) -> GateFiles:
    """Read one matrix, or count labels, of each file."""
    baseline, paired_on = beside.baseline, beside.paired_on
    if beside.judge is not None or paired_on is not None:
        request.refuse("one column, as a gate is about one model", *(["pred"] if request.models else []))
    if beside.judge is not None:
        request.refuse("no such option with --judge", "rows", "counts", "weight", "cells")
        given = {"baseline": None if baseline is None else str(baseline), "clusters": beside.clusters}
        refuse("no such option with --judge", {**given, "paired_on": paired_on})
        if is_log(path):
            return _graded(path, request, beside.judge)
        return _judged(path, request, beside.judge)
    if baseline is None and paired_on is not None:
        raise ArgumentError("paired_on", f"expected --baseline OLD with it, got {quoted(paired_on)} alone")
    if path == STDIN == baseline:
        raise ArgumentError("baseline", "expected another file than FILE, got standard input for both")
    if paired_on is not None and paired_on in {request.true, request.pred, request.weight}:
        raise ArgumentError(
            "paired_on", f"expected a column that is neither a label nor a weight, got {quoted(paired_on)}"
        )
    if baseline is not None and paired_on is not None:
        return _pairs(path, request, beside)
    return _matrices(path, request, beside)


def _graded(path: Path, request: MatrixRequest, judge: str) -> GateFiles:
    """Count the answers of a log by the grades of people, where there are some, and of a judge: two scorers."""
    from matrics._integrations.evals.judged import judged_counts
    from matrics._integrations.evals.labels import FAIL, PASS

    if request.true == Names.true:
        raise ArgumentError("judge", f"expected --true SCORER with it, the scorer of people, got {quoted(judge)} alone")
    counts = judged_counts(path, people=request.true, judge=judge)
    labelled, number = int(counts.labelled.sum()), int(counts.labelled.sum() + counts.unlabelled.sum())
    title = (
        f"{name_of(path)}: {counted(number, 'answer')} graded by {judge}, {labelled:,} of them by {request.true} as "
        "well; accuracy is the pass rate"
    )
    facts = {"file": name_of(path), "judge": judge, "people": request.true, "labelled": labelled, "judged": number}
    cm = matrics.judged.confusion_matrix(counts)
    return GateFiles(Evidence(cm, labels=counts), Classes.of(2, (FAIL, PASS), PASS), [title], facts)


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
    for column, name in ((pred, request.pred), (by_judge, judge)):
        if (column < 0).any():
            raise ValueError(
                f"{name_of(path)}: expected a label in each row of {name}, got {(column < 0).sum():,} without"
            )
    sides = [[classes[k] for k in np.unique(side[side >= 0])] for side in (np.append(true, by_judge), pred)]
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
    labelled = int(counts.labelled.sum())
    if not labelled:
        raise ValueError(f"{name_of(path)}: expected true labels in some rows of {request.true}, got none")
    cm = matrics.judged.confusion_matrix(counts)
    title = (
        f"{name_of(path)}: {counted(n, 'class')}, {counted(len(true), 'sample')} labelled by {judge}, "
        f"{labelled:,} of them by {request.true} as well"
    )
    facts = {"file": name_of(path), "judge": judge, "labelled": labelled, "judged": len(true)}
    sizes = [np.bincount(side, minlength=n) for side in (np.append(true[true >= 0], by_judge), pred)]
    known = Classes.of(n, classes, request.positive, ordered=is_ordered, apart=apart(classes, sizes[0], sizes[1]))
    return GateFiles(Evidence(cm, labels=counts), known, [title], facts)


def _coded(table: Any, names: JudgedNames) -> tuple[list[Array], tuple[str, ...], bool]:
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    columns, (classes, *_), _ = zip(*(coded(table, name) for name in names.labels), strict=True)
    listed = tuple(map(str, classes.to_pylist()))
    known = [label for label in listed if label != MISSING_CLASS]
    return list(columns), listed, names.order is not None or has_order(known)


def _matrices(path: Path, request: MatrixRequest, beside: Beside) -> GateFiles:
    baseline = beside.baseline
    given = opened(path, request.reading.answers)
    clusters = clusters_of(given, beside.clusters, request.counts, request.weight, baseline)
    old_given = None
    if baseline is not None:
        _refuse_epochs(given, path)
        old_given = opened(baseline, request.reading.answers)
        _refuse_epochs(old_given, baseline)
    if None not in (clusters, baseline):
        raise ArgumentError("clusters", f"expected --paired-on COLUMN with a baseline, got {quoted(clusters)}")
    source = _one(given, request, clusters)
    cm, squares = _matrix(source)
    titles = [_described(source.file, source.n, cm, request.weight)]
    facts: dict[str, Any] = {"file": source.file}
    if old_given is None:
        parts = None
        if clusters is not None:
            parts = source.clusters_of(0) if source.rows == "true" else np.swapaxes(source.clusters_of(0), -1, -2)
            _refuse_single(len(parts), clusters)
            titles[0] += f" in {counted(len(parts), 'cluster')} ({clusters})"
            facts |= {"clusters": clusters, "number_of_clusters": len(parts)}
        return GateFiles(Evidence(cm, squares, clusters=parts), source.known(request.positive), titles, facts)
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
    return GateFiles(Evidence(cm, squares, old, of_old), known, titles, {**facts, "baseline": other.file})


def _refuse_epochs(given: Path | Input, path: Path) -> None:
    """Raise for a log whose answers would count as samples of their own."""
    of_log = clusters_of(given, None)
    if of_log is not None:
        raise ArgumentError(
            "baseline", f"expected --paired-on {of_log} with it, as {path} has several answers to a sample"
        )


def _refuse_single(number: int, clusters: str) -> None:
    if number < 2:
        raise ArgumentError("clusters", f"expected at least two values of {quoted(clusters)}, got {number}")


def _pairs(path: Path, request: MatrixRequest, beside: Beside) -> GateFiles:
    """Read the rows of both files, and join them by the column of the samples."""
    baseline, paired_on = beside.baseline, beside.paired_on
    if baseline is None or paired_on is None:
        raise ArgumentError("paired_on", "expected --baseline OLD with it")
    refuse("no such option with --paired-on (in Python: matrics.gate)", {"clusters": beside.clusters})
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
    return GateFiles(evidence, classes, titles, facts)


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
    classes = counted(n, "class")
    total = cm.sum(dtype=np.float64)
    size = counted(total, "sample") if weight is None else f"weights of {total:,.7g} in all ({weight})"
    return f"{file}: {classes}, {size}"
