"""compare(): the differences of the scores of runs of an evaluation, with confidence limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._integrations.evals.answered import answered_by
from matrics._integrations.evals.labels import are_classes, classes_of, passed_of
from matrics._integrations.evals.log import Graded, MissingScore, check_missing_score
from matrics._integrations.evals.noise import ROUNDING, Answers, Noise, shared_prediction, standard_error
from matrics._integrations.evals.pairing import Pair, Run, paired, runs_of
from matrics._integrations.evals.reading import opened
from matrics._integrations.evals.run_comparison import Estimate, RunComparison, level_of_difference
from matrics._scoring.score import resolve
from matrics._uncertainty.compare import compare_paired
from matrics._uncertainty.interval import interval
from matrics._uncertainty.limits import student_quantile
from matrics._uncertainty.options import check_level

Array = Any

MOST_CELLS = 10**8  # of the joint tables of all samples


def compare(
    *paths: str | PathLike[str],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    level: float = 0.95,
    missing_score: MissingScore = "drop",
    scorer: str | None = None,
) -> list[RunComparison]:
    """The differences of the scores of each pair of runs of an evaluation, compared sample by sample.

    Parameters
    ----------
    *paths : str or path
        The logs of the runs, as for :func:`matrics.evals.read`; a log of several models is enough.
    metrics : str, Metric, or several of them, optional
        Measures of classes, such as ``"mcc"``, for logs whose targets and predictions are classes. The mean score if
        left out, which is the accuracy if answers pass or fail.
    level : float, default 0.95
        The confidence level of the limits. With more than two runs, the limits of all differences of a measure hold
        together with this probability (Bonferroni).
    missing_score : {"drop", "zero", "error"}, default "drop"
        What becomes of refused, failed and other answers without a score: left out, scored as 0, or an error.
    scorer : str, optional
        The scorer whose scores are read, where there are several; all if left out.

    Returns
    -------
    list of RunComparison
        A comparison for each pair of runs in the order of the logs, each scorer that both runs have, and each measure.
        The fields ``unscored`` and ``answered`` describe answers without a score, and ``not_compared`` the runs without
        any score.

    Raises
    ------
    ValueError
        There is a single run with scores, the runs have no scorer or no samples in common, a sample has different
        targets, or the measures need classes that the logs do not have.

    Notes
    -----
    The score of a run is the mean over samples of the mean over their epochs. A sample is a cluster: samples are
    independent, but the answers to a sample, in both runs, are not. The standard error of a run is computed from the
    means of its samples, and the standard error of the difference from the differences of these means.

    The limits are the limits of :func:`matrics.interval` and :func:`matrics.compare_paired` for clusters, which are
    asymmetric near 0 and 1, and do not vanish if no sample differs. If there are scores between 0 and 1, the limits use
    Student's distribution, and are NaN if no sample differs.

    If samples have several epochs, the variance of the value of a sample has two parts: the noise of prediction, from
    the variance between epochs of a sample, and the noise of data, which is the rest. Epochs with the same number in
    both runs are pairs: if the second log grades the answers of the first, their noise cancels in the difference.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from matrics import evals
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, wrong in (("old", 4), ("new", 5)):
    ...     lines = [json.dumps({"sample": k, "score": int(k % wrong != 1)}) for k in range(200)]
    ...     _ = folder.joinpath(name + ".jsonl").write_text(chr(10).join(lines))
    >>> (result,) = evals.compare(folder / "new.jsonl", folder / "old.jsonl")
    >>> print(f"{result.difference.value:.2f}, between {result.difference.low:.3f} and {result.difference.high:.3f}")
    0.05, between -0.032 and 0.132
    >>> result.is_real, result.samples_to_show()
    (False, 1096)
    """
    level = check_level(level)
    check_missing_score(missing_score)
    if not paths:
        raise ArgumentError("paths", "expected at least one evaluation log, got none")
    runs = runs_of([opened(Path(path), missing_score, scorer) for path in paths])
    metrics_by_name = None if metrics is None else resolve(metrics)
    pairs = list(itertools.combinations([run for run in runs if run.rows], 2))
    results = []
    for a, b in pairs:
        for pair in paired(a, b):
            without = [answered_by(run, pair.scorer).facts(level) for run in runs if run.lacks_scores(pair.scorer)]
            comparison = Compared((a, b), pair, level, len(pairs), tuple(without))
            results += (
                [compared_means(comparison)]
                if metrics_by_name is None
                else compared_measures(comparison, metrics_by_name)
            )
    return results


class Compared(NamedTuple):
    """The samples and the levels of a comparison."""

    runs: tuple[Run, Run]
    pair: Pair
    level: float
    pairs: int  # the number of pairs of runs, whose limits hold jointly
    not_compared: tuple[dict[str, Any], ...] = ()  # the runs without scores

    def result(
        self, measure: str, values: Sequence[Estimate], noise: Sequence[Noise], *, higher_is_better: bool = True
    ) -> RunComparison:
        """The result, from the values of a, of b and of the difference."""
        (a, b, gap), (noise_a, noise_b, noise_of_gap), pair = values, noise, self.pair
        if abs(gap.value) <= ROUNDING * max(abs(a.value), abs(b.value)):
            gap = gap._replace(value=0.0)
        first, second = self.runs
        scorer = pair.scorer
        return RunComparison(
            names=(first.name, second.name),
            scorer=scorer,
            measure=measure,
            samples=len(pair.samples),
            epochs=(mean_epochs(pair.a), mean_epochs(pair.b)),
            a=a,
            b=b,
            difference=gap,
            noise_a=noise_a,
            noise_b=noise_b,
            noise=noise_of_gap,
            only_a=pair.only_a,
            only_b=pair.only_b,
            unscored=(first.reasons(scorer), second.reasons(scorer)),
            answered=(answered_by(first, scorer).share(self.level), answered_by(second, scorer).share(self.level)),
            higher_is_better=higher_is_better,
            level=self.level,
            pairs=self.pairs,
            not_compared=self.not_compared,
        )


def compared_means(comparison: Compared) -> RunComparison:
    """The comparison of mean scores; if answers pass or fail, the limits are the limits of the accuracy."""
    pair, levels = (
        comparison.pair,
        (comparison.level, comparison.level, level_of_difference(comparison.level, comparison.pairs)),
    )
    scores = [[np.array([row.score for row in rows]) for rows in side] for side in (pair.a, pair.b)]
    a, b = map(Answers.of, scores)
    scale = max(float(np.max(np.abs(run.means))) for run in (a, b))
    gaps = a.means - b.means
    means = (a.means, b.means, np.where(np.abs(gaps) <= ROUNDING * scale, 0, gaps))
    passes = all(np.isin(part, (0, 1)).all() for side in scores for part in side)
    if passes:
        of_accuracy = _estimates(joint_tables(pair, passed_of), resolve("accuracy")["accuracy"], comparison)
        limits = [(estimate.low, estimate.high) for estimate in of_accuracy]
    else:
        limits = [_by_student(values, level, scale) for values, level in zip(means, levels, strict=True)]
    values = [
        Estimate(float(np.mean(of_samples)), *ends, standard_error(of_samples, scale))
        for of_samples, ends in zip(means, limits, strict=True)
    ]
    by_epoch = ([{row.epoch: row.score for row in rows} for rows in side] for side in (pair.a, pair.b))
    shared = shared_prediction(list(zip(*by_epoch, strict=True)))
    predictions = (a.prediction, b.prediction, a.prediction + b.prediction - 2 * shared)
    noise = [Noise.of(of_samples, part, scale=scale) for of_samples, part in zip(means, predictions, strict=True)]
    return comparison.result("accuracy" if passes else "mean score", values, noise)


def compared_measures(comparison: Compared, metrics_by_name: dict[str, Metric]) -> list[RunComparison]:
    """The comparisons of measures; the accuracy is the mean score, as answers pass or fail."""
    undirected = [name for name, metric in metrics_by_name.items() if metric.higher_is_better is None]
    if undirected:
        raise ArgumentError("metrics", f"expected measures with a better direction, got {', '.join(undirected[:5])}")
    by_class = [name for name, metric in metrics_by_name.items() if metric.is_classwise]
    if by_class:
        raise ArgumentError(
            "metrics", f"expected measures with a single value, got {', '.join(by_class[:5])}, of each class"
        )
    pair = comparison.pair
    rows = [row for side in (pair.a, pair.b) for part in side for row in part]
    others = {name: metric for name, metric in metrics_by_name.items() if metric.name != "accuracy"}
    if others and not are_classes(rows):
        raise ArgumentError(
            "metrics",
            f"expected accuracy, as {pair.scorer} only grades answers as pass or fail, got {', '.join(others)}: "
            "other measures need targets and predictions that are classes, with at least two true classes",
        )
    joint = joint_tables(pair, classes_of) if others else None
    results = []
    for name, metric in metrics_by_name.items():
        if joint is None or name not in others:
            results.append(compared_means(comparison))
            continue
        values = _estimates(joint, metric, comparison)
        unknown = [Noise(math.nan, math.nan)] * 3
        results.append(comparison.result(name, values, unknown, higher_is_better=bool(metric.higher_is_better)))
    return results


def joint_tables(pair: Pair, labels: Any) -> Array:
    """The joint table [true, a, b] of each sample, with the same total for all samples.

    Epochs with the same number are pairs, as the second log may have other grades of the same answers; if runs have
    different answers, these pairs are as good as any other. Answers of epochs that only one run has are paired with all
    remaining answers of the other run. The total is the mean number of answers to a sample, in the run where it is
    smaller.
    """
    all_labels = [[[labels(row) for row in rows] for rows in side] for side in (pair.a, pair.b)]
    classes = sorted(
        {label for side in all_labels for rows in side for labels_of_row in rows for label in labels_of_row}
    )
    if len(classes) < 2:
        classes = sorted({*classes, "pass", "fail"})
    n, number = len(classes), len(pair.samples)
    if number * n**3 > MOST_CELLS:
        raise ArgumentError(
            "metrics", f"expected at most {MOST_CELLS:,} cells, got {number:,} samples of {n:,} classes"
        )
    index_of = {label: k for k, label in enumerate(classes)}
    joint = np.zeros((number, n, n, n))
    for k, (mine, theirs) in enumerate(zip(pair.a, pair.b, strict=True)):
        classes_by_epoch = [{row.epoch: index_of[labels(row)[1]] for row in rows} for rows in (mine, theirs)]
        table = joint[k, index_of[labels(mine[0])[0]]]
        share = 1 / max(map(len, classes_by_epoch))
        rest = np.array([np.bincount(list(side.values()), minlength=n) / len(side) for side in classes_by_epoch])
        for epoch in classes_by_epoch[0].keys() & classes_by_epoch[1].keys():
            ours, other = classes_by_epoch[0][epoch], classes_by_epoch[1][epoch]
            table[ours, other] += share
            rest[0, ours] -= share
            rest[1, other] -= share
        remaining = rest[0].sum()
        if remaining > ROUNDING:
            table += rest[0][:, None] * rest[1] / remaining
    return joint * min(mean_epochs(pair.a), mean_epochs(pair.b))


def _estimates(joint: Array, metric: Metric, settings: Compared) -> list[Estimate]:
    """The values of both runs and of their difference, with limits for clusters."""
    key = str(metric)
    both = [interval(joint.sum(axis=axis), metric, level=settings.level, cluster_axis=0)[key] for axis in (3, 2)]
    gap = compare_paired(joint, metric, level=level_of_difference(settings.level, settings.pairs), cluster_axis=0)[key]
    parts = [*(result[:4] for result in both), (gap.difference, gap.low, gap.high, gap.standard_error)]
    return [Estimate(*map(float, part)) for part in parts]


def _by_student(values: Array, level: float, scale: float) -> tuple[float, float]:
    mean, error = float(np.mean(values)), standard_error(values, scale)
    # Values without variation contain no information on the variance.
    half_width = student_quantile(level, len(values) - 1) * error if error > 0 else math.nan
    return mean - half_width, mean + half_width


def mean_epochs(side: Sequence[Sequence[Graded]]) -> float:
    """The mean number of answers to a sample."""
    return float(np.mean([len(rows) for rows in side]))
