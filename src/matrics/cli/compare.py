"""Comparing the models of a file: on the same samples, aligned by a column, or each on its own samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from matrics.catalogue.classes import Classes
from matrics.cli.measures import measures
from matrics.files.label_rows import read_labels
from matrics.files.notices import warn_of_odd_labels
from matrics.reporting.verdicts import ModelVerdict, aligned, judged_alone, judged_together, weights_of_samples
from matrics.scoring.score import resolve
from matrics.uncertainty.options import DEFAULT_NUM, check_level

if TYPE_CHECKING:
    from pathlib import Path

    from matrics.files.names import Names


@dataclass(frozen=True)
class Compared:
    """The models of a file, the title lines, and a verdict for each measure."""

    models: list[str]
    titles: list[str]
    verdicts: list[ModelVerdict]


def compare_file(
    path: Path,
    names: Names,
    asked: list[str],
    positive: str | None,
    *,
    level: float,
    num: int | None,
    seed: int | None,
    zero_division: float,
) -> Compared:
    """Compare the groups of a file of labels; ``names.clusters`` is the column of the samples, if they are paired."""
    try:
        check_level(level)
    except ValueError as error:
        raise ValueError(f"--{error}") from error
    undirected = [name for name, metric in resolve(asked).items() if metric.higher_is_better is None]
    if undirected:
        raise ValueError(f"--metrics: expected measures with a better direction, got {', '.join(undirected[:5])}")
    labelled = read_labels(path, names)
    if len(labelled.names) < 2:
        raise ValueError(f"--by: expected at least two models to compare, got {len(labelled.names)}")
    n = len(labelled.classes)
    there = ([labelled.classes[k] for k in np.unique(side).tolist()] for side in (labelled.true, labelled.pred))
    warn_of_odd_labels(str(path), *there)
    metrics = measures(asked, lambda: Classes.of(n, labelled.classes, positive, ordered=labelled.ordered))
    titles = [
        f"{path}: {len(labelled.names)} models of {len(labelled.classes)} classes, {len(labelled.true):,} samples"
    ]
    if names.weight is not None:
        titles[0] += f", weighted by {names.weight}"
    if names.clusters is None:
        if seed is not None or num is not None:
            raise ValueError("--seed, --num: expected --paired-on COLUMN with them; only paired comparisons resample")
        titles.append(
            f"{100 * level:.10g} % intervals; models on different samples (for the same samples: --paired-on COLUMN)"
        )
        number = len(labelled.names)
        bins, weights = (labelled.groups * n + labelled.true) * n + labelled.pred, labelled.weights
        stack = np.bincount(bins, weights, number * n * n).reshape(number, n, n)
        squares = None if weights is None else np.bincount(bins, weights**2, number * n * n).reshape(number, n, n)
        given = {"level": level, "zero_division": zero_division}
        verdicts = judged_alone(stack, metrics, labelled.classes, squared_weights=squares, **given)
        return Compared(labelled.names, titles, verdicts)
    true, predictions, samples, rows = aligned(
        labelled.groups,
        labelled.samples,
        labelled.true,
        labelled.pred,
        names=labelled.names,
        sample_names=labelled.sample_names,
        option=f"--paired-on {names.clusters}",
    )
    weights = labelled.weights
    if weights is not None:
        weights = weights_of_samples(weights, rows, "--weight")
    seed = seed or 0
    number = len(np.unique(samples))
    repeats = f", {len(true) / number:.10g} predictions of each" if number < len(true) else ""
    verdicts = judged_together(
        true,
        predictions,
        samples,
        metrics,
        labelled.classes,
        level=level,
        num=num,
        rng=seed,
        zero_division=zero_division,
        sample_weight=weights,
    )
    replicates = f"{DEFAULT_NUM if num is None else num:,} replicates, seed {seed}"
    titles.append(f"on the same {number:,} samples ({names.clusters}){repeats}; {100 * level:.10g} %, {replicates}")
    return Compared(labelled.names, titles, verdicts)
