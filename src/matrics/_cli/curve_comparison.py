"""The models of a file by their scores for the same samples: differences, p-values, and those tied with the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._reporting.verdicts import ModelVerdict, aligned, ranked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matrics._cli.curve_run import CurveRun
    from matrics._files.scores import Scored

Array = Any


def compare_curves(run: CurveRun) -> tuple[list[str], list[ModelVerdict]]:
    """The models of a file, and their comparisons; their samples are those of the column ``--paired-on``."""
    names, true, scores, samples = same_samples(run.source, str(run.paired_on))
    return names, compared_scores(names, true, scores, samples, run.level, turned=False)


def compared_scores(
    names: list[str], true: Array, scores: Array, samples: Array, level: float, *, turned: bool
) -> list[ModelVerdict]:
    """The comparisons of the scores (M, N) of models for the labels (N,), which are 0 and 1."""
    repeated = len(np.unique(samples)) < len(samples)
    by_name = dict(zip(names, scores, strict=True))
    clusters = samples if repeated else None
    return ranked(matrics.ranking.compare(true, by_name, clusters=clusters, level=level), turned=turned)


def same_samples(source: Scored, paired_on: str) -> tuple[list[str], Array, Array, Array]:
    """The names of the models, whether samples are positive (N,), the scores (M, N) and the samples (N,)."""
    if len(source.positives) > 1:
        raise ArgumentError("paired_on", f"expected one column of scores with it, got {len(source.positives)}")
    if len(source.groups) < 2:
        raise ArgumentError("paired_on", "expected --by COLUMN with it, of the models, and at least two of them")
    models = np.repeat(np.arange(len(source.groups)), [len(true) for true, _ in source.groups])
    true, values = (np.concatenate(parts) for parts in zip(*source.groups, strict=True))
    samples = np.concatenate(source.samples_of)
    names = [source.name(k) for k in range(len(source.groups))]
    option = f"paired_on {paired_on}"
    _, _, of_each, rows = aligned(
        models, samples, true, true, names=names, sample_names=source.sample_names, option=option
    )
    return names, (true[rows[0]] == source.positives[0]).astype(np.int64), values[rows, 0], of_each


def refuse_unpaired(options: Mapping[str, str | None]) -> None:
    """Raise for options of measures at thresholds: models are compared by measures of their scores."""
    for option, given in options.items():
        if given is not None:
            raise ArgumentError(
                option,
                f"expected no such option with --paired-on, which compares measures of the scores "
                f"themselves, of the samples as they are; got {quoted(given)}",
            )


def refuse_paired(paired_on: str | None, by: tuple[str, ...], others: set[str]) -> None:
    """Raise for a column of samples that is another one as well, or without models."""
    if paired_on is None:
        return
    if not by:
        raise ArgumentError("paired_on", f"expected --by COLUMN with it, of the models, got {quoted(paired_on)} alone")
    if paired_on in {*by, *others}:
        raise ArgumentError(
            "paired_on", f"expected a column that is neither the model, a label nor a score, got {quoted(paired_on)}"
        )
