"""The scores of a gate: those of each group of a file, and labels by a threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._cli import options
from matrics._errors import ArgumentError
from matrics._files.scores import ScoreNames, read_scores
from matrics._gates.samples import Evidence, Samples
from matrics._gates.scores import ScoredSamples
from matrics._quoting import quoted
from matrics._wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._catalogue.classes import Classes
    from matrics._cli.matrices import MatrixRequest
    from matrics._files.scores import Scored
    from matrics._files.source import MatrixSource


def read_scored(path: Path, request: MatrixRequest, clusters: str | None) -> Scored:
    """The scores of a file."""
    request.refuse("no weights with --scores, as there are no limits of areas for weighted samples", "weight")
    request.refuse("no such option with --scores, which are of samples", "rows", "counts", "cells")
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


def samples_of(source: Scored) -> list[ScoredSamples]:
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


def labels_by_threshold(source: Scored, threshold: str) -> MatrixSource:
    """The matrices of labels that scores of at least a number predict."""
    if source.has_several:
        raise ArgumentError("threshold", "expected one column of scores with it, got several")
    return source.matrices(options.read_number("threshold", threshold))


def of_scores_alone(source: Scored) -> tuple[Samples, Classes, str, dict[str, Any]]:
    """The samples of a file without predicted labels, the classes, and what the file has, in words and as values."""
    parts = tuple(Evidence(None, scores=part) for part in samples_of(source))
    names = tuple(source.name(k) for k in range(len(parts))) if source.of_groups else ()
    title = f"{source.file}: {counted(source.samples, 'sample')}"
    if not source.has_several:
        title += f"; positive: {source.sides[1]}{', by low scores' if source.lower_is_positive else ''}"
    facts = {"file": source.file, **({"lower_is_positive": True} if source.lower_is_positive else {})}
    return Samples(parts, names), source.known, title, facts


def with_scores(samples: Samples, source: Scored) -> Samples:
    """The counts of labels with the scores of the same groups."""
    names = tuple(source.name(k) for k in range(len(source.groups))) if source.of_groups else ()
    if names != samples.names:
        other = next(iter(set(names) ^ set(samples.names)))
        raise ValueError(
            f"{source.file}: expected labels and scores of the same groups, got {quoted(other)} for only one of both"
        )
    both = zip(samples.parts, samples_of(source), strict=True)
    return samples._replace(parts=tuple(part._replace(scores=scores) for part, scores in both))
