"""The files of a gate: which of them are read, by which options, and the scores of their samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics._catalogue.classes import Classes
from matrics._cli.gate_counts import GateFiles, of_pairs, of_source, of_two
from matrics._cli.judged_files import JudgeOptions, read_judged
from matrics._cli.matrices import (
    MatrixRequest,
    answered_of,
    clusters_of,
    open_matrices,
    opened,
    refuse_groups_without_scores,
    several_models,
)
from matrics._cli.options import read_number, refuse
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._files.scores import ScoreNames, read_scores
from matrics._files.text import STDIN
from matrics._gates.requirements import has_measures
from matrics._gates.samples import Evidence, Samples
from matrics._gates.scores import ScoredSamples
from matrics._judged.counts import JudgedCounts
from matrics._quoting import quoted, split_outside, unquote
from matrics._wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._files.inputs import Input
    from matrics._files.scores import Scored
    from matrics._files.source import MatrixSource

Array = Any


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
    title = files.titles[0]
    if chosen.judge is None:  # with a judge, the title already has the number of models
        title += f" in {counted(len(samples.names), 'group')} ({', '.join(request.by)})"
    facts = {**files.facts, "by": list(request.by), "groups": list(samples.names), "reference": reference}
    if reference is not None:
        title += f"; reference: {reference}"
    return replace(files, samples=samples, titles=[title, *files.titles[1:]], facts=facts)


def _scored(path: Path, request: MatrixRequest, chosen: FileOptions, requirements: list[str]) -> GateFiles:
    """The scores of a file, and the labels where requirements are on labels: by a threshold, or of a column."""
    baseline = None if chosen.baseline is None else str(chosen.baseline)
    advice = "matrics compare FILE --scores OLD,NEW compares two columns of scores of the same samples"
    refuse(f"no such option with --scores ({advice})", {"baseline": baseline})
    refuse("no such option with --scores", {"judge": chosen.judge and chosen.judge.judge})
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
        files = of_source(_labels_by_threshold(source, request.threshold), replace(request, positive=None), None)
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
        request.refuse("a single column, as a gate is about a single model", *(["pred"] if request.models else []))
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
        refuse("no such option with --paired-on (in Python: matrics.gate)", {"clusters": chosen.clusters})
        request.refuse("no such option with --paired-on, as samples are rows", "rows", "counts", "cells")
        both = [_opened(each, request) for each in (path, baseline)]
        files = of_pairs(both[0], both[1], paired_on, request)
        return replace(files, answered=answered_of(both[0]) + answered_of(both[1]))
    return _matrices(path, request, chosen)


def _judged(path: Path, request: MatrixRequest, judging: JudgeOptions) -> GateFiles:
    """Count samples by the labels of people, where there are some, of a judge, and of the model."""
    rows = read_judged([path], request.names(), judging, has_pred=request.pred != Names.pred)
    if len(rows.models) > 1 and not request.by:
        raise ArgumentError(
            "by", f"expected the column model, as a gate is about a single model, got {len(rows.models)} models"
        )
    parts = []
    for place in range(len(rows.models)):
        counts = JudgedCounts(*(table[place] for table in rows.counts[:2]))
        parts.append(Evidence(matrics.judged.confusion_matrix(counts), labels=counts))
    samples = Samples(tuple(parts), tuple(rows.models) if request.by else ())
    return GateFiles(samples, rows.classes, [rows.title], {"file": rows.files[0], **rows.facts})


def _matrices(path: Path, request: MatrixRequest, chosen: FileOptions) -> GateFiles:
    baseline = chosen.baseline
    given = _opened(path, request)
    clusters = clusters_of(given, chosen.clusters, request.counts, request.weight, baseline)
    mixed = several_models(given, request.by)
    if mixed is not None:
        column, models = mixed
        by = quoted(", ".join(request.by)) if request.by else "none"
        raise ArgumentError("by", f"expected the column {column}, as the log has the answers of {models}, got {by}")
    old_given = None
    if baseline is not None:
        _refuse_epochs(given, path)
        old_given = _opened(baseline, request)
        _refuse_epochs(old_given, baseline)
    if None not in (clusters, baseline):
        raise ArgumentError("clusters", f"expected --paired-on COLUMN with a baseline, got {quoted(clusters)}")
    source, *others = (
        open_matrices(each, request, clusters=clusters) if request.by else _single(each, request, clusters)
        for each in (given, old_given)
        if each is not None
    )
    files = of_two(source, others[0], request) if others else of_source(source, request, clusters)
    return replace(files, answered=answered_of(given) + (() if old_given is None else answered_of(old_given)))


def _opened(path: Path, request: MatrixRequest) -> Path | Input:
    """A log, read, whose groups all have scores; any other path as it is."""
    given = opened(path, request.reading.answers)
    refuse_groups_without_scores(given, request.by)
    return given


def _refuse_epochs(given: Path | Input, path: Path) -> None:
    """Raise for a log whose answers would count as samples of their own."""
    of_log = clusters_of(given, None)
    if of_log is not None:
        raise ArgumentError(
            "baseline", f"expected --paired-on {of_log} with it, as {path} has several answers to a sample"
        )


def _single(path: Path | Input, request: MatrixRequest, clusters: str | None = None) -> MatrixSource:
    source = open_matrices(path, request, clusters=clusters)
    if source.count != 1:
        raise ValueError(
            f"{source.file}: expected a single confusion matrix, as a gate is about a single model, "
            f"got {source.count:,}"
        )
    return source


# Scores ---------------------------------------------------------------------------------------------------------------


def _read_scores(path: Path, request: MatrixRequest, clusters: str | None) -> Scored:
    """The scores of a file."""
    request.refuse("no weights with --scores, as there are no limits of areas for weighted samples", "weight")
    request.refuse("no such option with --scores, which are of samples", "rows", "counts", "cells")
    names = ScoreNames.parse(request.scores or [], true=request.true, by=request.by, positive=request.positive)
    if names.models:
        raise ArgumentError(
            "scores",
            f"expected a single column with it, as a gate is about a single model, got {', '.join(names.models)}",
        )
    return read_scores(
        _opened(path, request),
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
        raise ArgumentError("threshold", "expected a single column of scores with it, got several")
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
            f"{source.file}: expected labels and scores of the same groups, got {quoted(other)} for labels or for "
            "scores alone"
        )
    both = zip(samples.parts, _scored_samples(source), strict=True)
    return samples._replace(parts=tuple(part._replace(scores=scores) for part, scores in both))
