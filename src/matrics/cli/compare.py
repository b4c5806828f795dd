"""Comparing the models of a file: on the same samples, aligned by a column, or each on samples of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics.cli.read import read_labels
from matrics.naming import columns as named_columns
from matrics.uncertainty.options import DEFAULT_NUM, check_level

if TYPE_CHECKING:
    from pathlib import Path

    from matrics.catalogue.record import Metric
    from matrics.cli.labels import Labelled, Names

Array = Any


@dataclass(frozen=True)
class Verdict:
    """One measure of all models: estimates with limits, how far each is from the best, and which are tied with it."""

    label: str
    estimate: Array  # (M,)
    low: Array
    high: Array
    difference: Array  # of the best one from each, positive where it is better
    difference_low: Array
    difference_high: Array
    best: int | None  # nobody, where the measure is undefined for all
    tied: Array
    probability_best: Array | None  # only on the same samples
    higher_is_better: bool
    status: Array  # of the intervals, (M,)


@dataclass(frozen=True)
class Compared:
    """The models of a file, what was done, and a verdict for each measure."""

    models: list[str]
    titles: list[str]
    verdicts: list[Verdict]


def compare_file(
    path: Path,
    names: Names,
    metrics: dict[str, Metric],
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
    undirected = [name for name, metric in metrics.items() if metric.higher_is_better is None]
    if undirected:
        raise ValueError(f"--metrics: expected measures of which one end is better, got {', '.join(undirected[:5])}")
    labelled = read_labels(path, names)
    if len(labelled.names) < 2:
        raise ValueError(f"--by: expected at least two models to compare, got {len(labelled.names)}")
    titles = [
        f"{path}: {len(labelled.names)} models of {len(labelled.classes)} classes, {len(labelled.true):,} samples"
    ]
    options: dict[str, Any] = {"level": level, "zero_division": zero_division}
    if names.clusters is None:
        if seed is not None or num is not None:
            raise ValueError("--seed, --num: expected --paired-on COLUMN beside them, as nothing is drawn without it")
        titles.append(f"{100 * level:.10g} % intervals; each model on samples of its own (else: --paired-on COLUMN)")
        return Compared(labelled.names, titles, _alone(labelled, metrics, options))
    true, predictions, clusters = _aligned(labelled, names.clusters)
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    number = len(np.unique(clusters))
    repeats = f", {len(true) / number:.10g} predictions of each" if number < len(true) else ""
    found = matrics.compare_models(
        true,
        predictions,
        list(metrics.values()),
        num_classes=len(labelled.classes),
        clusters=clusters if number < len(true) else None,
        num=num,
        rng=seed,
        workers=-1,
        **options,
    )
    replicates = f"{DEFAULT_NUM if num is None else num:,} replicates, seed {seed}"
    titles.append(f"on the same {number:,} samples ({names.clusters}){repeats}; {100 * level:.10g} %, {replicates}")
    return Compared(
        labelled.names, titles, _together(labelled, metrics, dict(zip(metrics, found.values(), strict=True)))
    )


def _aligned(labelled: Labelled, column: str) -> tuple[Array, Array, Array]:
    """True labels (N,), predictions (M, N) and samples (N,); the rows of a sample in the order of the file."""
    models, samples = labelled.groups, labelled.samples
    count = np.bincount(models)
    if len(set(count.tolist())) > 1:
        less, more = int(count.argmin()), int(count.argmax())
        raise ValueError(
            f"--paired-on: expected as many rows of each model, got {count[less]:,} of {labelled.names[less]} and "
            f"{count[more]:,} of {labelled.names[more]}"
        )
    order = np.lexsort((np.arange(len(samples)), samples, models))
    shape = (len(count), int(count[0]))
    by_model, true = samples[order].reshape(shape), labelled.true[order].reshape(shape)
    for what, rows in ((f"the same samples ({column})", by_model), ("the same true labels", true)):
        if (rows != rows[0]).any():
            model, position = (int(i) for i in np.argwhere(rows != rows[0])[0])
            sample = labelled.sample_names[int(by_model[model, position])]
            raise ValueError(
                f"--paired-on: expected {what} of each model, got others of {labelled.names[model]}, the first at "
                f"{column} {sample}"
            )
    return true[0], labelled.pred[order].reshape(shape), by_model[0]


def _together(labelled: Labelled, metrics: dict[str, Metric], found: dict[str, Any]) -> list[Verdict]:
    verdicts = []
    for key, metric in metrics.items():
        one, side = found[key], 1 if metric.higher_is_better else -1
        for k, label in _columns(key, metric, labelled):
            estimate, low, high = (_of_class(part, k) for part in one.intervals[:3])
            best = _best(estimate, side)
            gap, least, most = _towards([_of_class(part, k)[best or 0] for part in one.differences[:3]], side)
            tied, chances = _of_class(one.tied, k), _of_class(one.probability_best, k)
            status = _of_class(one.intervals.status, k)
            verdicts.append(
                Verdict(label, estimate, low, high, gap, least, most, best, tied, chances, side > 0, status)
            )
    return verdicts


def _alone(labelled: Labelled, metrics: dict[str, Metric], options: dict[str, Any]) -> list[Verdict]:
    """Each against the best, on independent samples; the level is shared by all pairs (Bonferroni)."""
    n, number = len(labelled.classes), len(labelled.names)
    bins = (labelled.groups * n + labelled.true) * n + labelled.pred
    stack = np.bincount(bins, minlength=number * n * n).reshape(number, n, n)
    intervals = matrics.interval(stack, list(metrics.values()), **options)
    shared = {**options, "level": 1 - (1 - options["level"]) / (number * (number - 1) / 2)}
    verdicts = []
    for key, metric in metrics.items():
        one, side = intervals[str(metric)], 1 if metric.higher_is_better else -1
        for k, label in _columns(key, metric, labelled):
            estimate, low, high = (_of_class(part, k) for part in one[:3])
            best = _best(estimate, side)
            against = matrics.compare(stack[best or 0], stack, metric, **shared)[str(metric)]
            gap, worst, most = _towards([_of_class(part, k) for part in against[:3]], side)
            itself = np.arange(number) == best
            worst, most = np.where(itself, np.nan, worst), np.where(itself, np.nan, most)
            tied = ~(worst > 0) & ~np.isnan(estimate)
            status = _of_class(one.status, k)
            verdicts.append(Verdict(label, estimate, low, high, gap, worst, most, best, tied, None, side > 0, status))
    return verdicts


def _columns(key: str, metric: Metric, labelled: Labelled) -> list[tuple[int | None, str]]:
    """The values that a measure has for a matrix: their class, if each class has one, and their names."""
    labels = named_columns(key, metric, labelled.classes)
    return [(None, key)] if labels == [key] else list(enumerate(labels))


def _of_class(values: Array, k: int | None) -> Array:
    return values if k is None else values[..., k]


def _best(estimate: Array, side: int) -> int | None:
    return None if np.isnan(estimate).all() else int(np.argmax(np.where(np.isnan(estimate), -np.inf, side * estimate)))


def _towards(parts: list[Array], side: int) -> list[Array]:
    """A difference and its limits, positive where the best one is better."""
    gap, low, high = (side * part for part in parts)
    return [gap, low, high] if side > 0 else [gap, high, low]
