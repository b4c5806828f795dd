"""compare(): whether the difference of two runs of an evaluation is real."""

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
    """Compare runs of an evaluation in pairs, sample by sample.

    Parameters
    ----------
    *paths : str or path
        The logs of the runs, as for :func:`matrics.evals.read`; a log of several models is enough.
    metrics : str, Metric, or several of them, optional
        Measures of classes, such as ``"mcc"``, for logs whose targets and predictions are classes. The mean score if
        left out: with answers that pass or fail that is the accuracy.
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
        One for each pair of runs in the order of the logs, each scorer that both have, and each measure. They say how
        many answers have no score (``unscored``, ``answered``).

    Raises
    ------
    ValueError
        There is a single run, the runs have no scorer or no samples in common, a sample has different targets, or the
        measures need classes that the logs do not have.

    Notes
    -----
    The score of a run is the mean over samples of the mean over their epochs. A sample is a cluster: its answers, in
    both runs, are not independent of each other, and samples are. The standard error of a run is that of the means of
    its samples, and that of the difference is of the differences of these means.

    Limits are those of :func:`matrics.interval` and :func:`matrics.compare_paired` for such clusters, which are not
    symmetrical near 0 and 1, and do not vanish where no sample differs. Scores between 0 and 1 have limits by Student's
    distribution, and NaN where no sample differs.

    Where samples have several epochs, the variance of a sample's value has two parts: noise of prediction, by the
    variance between epochs of a sample, and noise of data, which is the rest. Epochs with the same number in both runs
    are compared with each other: if the second log grades the answers of the first, their noise cancels in the
    difference.

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
    chosen = None if metrics is None else resolve(metrics)
    pairs = list(itertools.combinations(runs, 2))
    results = []
    for a, b in pairs:
        for pair in paired(a, b):
            about = Compared((a, b), pair, level, len(pairs))
            results += [compared_means(about)] if chosen is None else compared_measures(about, chosen)
    return results


class Compared(NamedTuple):
    """What is compared."""

    runs: tuple[Run, Run]
    pair: Pair
    level: float
    pairs: int  # of runs, whose differences have limits that hold together

    def made(
        self, measure: str, values: Sequence[Estimate], noise: Sequence[Noise], *, higher_is_better: bool = True
    ) -> RunComparison:
        """The comparison with these values of a, of b and of their difference."""
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
            answered=(_answered(first, scorer, self.level), _answered(second, scorer, self.level)),
            higher_is_better=higher_is_better,
            level=self.level,
            pairs=self.pairs,
        )


def compared_means(about: Compared) -> RunComparison:
    """The comparison of mean scores, whose limits are those of the accuracy where answers pass or fail."""
    pair, levels = about.pair, (about.level, about.level, level_of_difference(about.level, about.pairs))
    scores = [[np.array([row.score for row in rows]) for rows in side] for side in (pair.a, pair.b)]
    a, b = map(Answers.of, scores)
    scale = max(float(np.max(np.abs(run.means))) for run in (a, b))
    gaps = a.means - b.means
    means = (a.means, b.means, np.where(np.abs(gaps) <= ROUNDING * scale, 0, gaps))
    passes = all(np.isin(part, (0, 1)).all() for side in scores for part in side)
    if passes:
        of_accuracy = _estimates(joint_tables(pair, passed_of), resolve("accuracy")["accuracy"], about)
        limits = [(one.low, one.high) for one in of_accuracy]
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
    return about.made("accuracy" if passes else "mean score", values, noise)


def compared_measures(about: Compared, chosen: dict[str, Metric]) -> list[RunComparison]:
    """The comparison of measures; the accuracy is the mean score where answers pass or fail."""
    undirected = [name for name, metric in chosen.items() if metric.higher_is_better is None]
    if undirected:
        raise ArgumentError("metrics", f"expected measures with a better direction, got {', '.join(undirected[:5])}")
    by_class = [name for name, metric in chosen.items() if metric.is_classwise]
    if by_class:
        raise ArgumentError(
            "metrics", f"expected measures with one value, got {', '.join(by_class[:5])}, of each class"
        )
    pair = about.pair
    rows = [row for side in (pair.a, pair.b) for part in side for row in part]
    others = {name: metric for name, metric in chosen.items() if metric.name != "accuracy"}
    if others and not are_classes(rows):
        raise ArgumentError(
            "metrics",
            f"expected accuracy, as {pair.scorer} only says which answers pass, got {', '.join(others)}: "
            "that needs targets and predictions that are classes, two true ones or more",
        )
    joint = joint_tables(pair, classes_of) if others else None
    found = []
    for name, metric in chosen.items():
        if joint is None or name not in others:
            found.append(compared_means(about))
            continue
        values = _estimates(joint, metric, about)
        unknown = [Noise(math.nan, math.nan)] * 3
        found.append(about.made(name, values, unknown, higher_is_better=bool(metric.higher_is_better)))
    return found


def joint_tables(pair: Pair, labels: Any) -> Array:
    """The joint table [true, a, b] of each sample, whose answers in each run together count as epochs do.

    Epochs with the same number are pairs, as the second log may have other grades of the same answers; where runs have
    answers of their own, these pairs are as good as any other. Answers to epochs that only one run has are paired with
    all that the other run has left. A sample counts as often as a sample has answers on average in the run with fewer,
    whatever its own number.
    """
    found = [[[labels(row) for row in rows] for rows in side] for side in (pair.a, pair.b)]
    classes = sorted({label for side in found for rows in side for labels_of_row in rows for label in labels_of_row})
    if len(classes) < 2:
        classes = sorted({*classes, "pass", "fail"})
    n, number = len(classes), len(pair.samples)
    if number * n**3 > MOST_CELLS:
        raise ArgumentError(
            "metrics", f"expected at most {MOST_CELLS:,} cells, got {number:,} samples of {n:,} classes"
        )
    place = {label: k for k, label in enumerate(classes)}
    joint = np.zeros((number, n, n, n))
    for k, (mine, theirs) in enumerate(zip(pair.a, pair.b, strict=True)):
        each = [{row.epoch: place[labels(row)[1]] for row in rows} for rows in (mine, theirs)]
        table = joint[k, place[labels(mine[0])[0]]]
        share = 1 / max(map(len, each))
        rest = np.array([np.bincount(list(side.values()), minlength=n) / len(side) for side in each])
        for epoch in each[0].keys() & each[1].keys():
            ours, other = each[0][epoch], each[1][epoch]
            table[ours, other] += share
            rest[0, ours] -= share
            rest[1, other] -= share
        left = rest[0].sum()
        if left > ROUNDING:
            table += rest[0][:, None] * rest[1] / left
    return joint * min(mean_epochs(pair.a), mean_epochs(pair.b))


def _answered(run: Run, scorer: str, level: float) -> Estimate:
    """The share of the answers that have a score, with limits for samples as clusters where these have several."""
    samples = np.array(run.answered(scorer))
    tables = np.zeros((len(samples), 2, 2))
    tables[:, 0] = samples
    if samples.sum(axis=1).max() > 1:
        result = interval(tables, "accuracy", level=level, cluster_axis=0)["accuracy"]
    else:
        result = interval(tables.sum(axis=0), "accuracy", level=level)["accuracy"]
    return Estimate(*map(float, result[:4]))


def _estimates(joint: Array, metric: Metric, about: Compared) -> list[Estimate]:
    """The values of both runs and their difference, with limits for clusters."""
    key = str(metric)
    both = [interval(joint.sum(axis=axis), metric, level=about.level, cluster_axis=0)[key] for axis in (3, 2)]
    gap = compare_paired(joint, metric, level=level_of_difference(about.level, about.pairs), cluster_axis=0)[key]
    parts = [*(one[:4] for one in both), (gap.difference, gap.low, gap.high, gap.standard_error)]
    return [Estimate(*map(float, part)) for part in parts]


def _by_student(values: Array, level: float, scale: float) -> tuple[float, float]:
    mean, error = float(np.mean(values)), standard_error(values, scale)
    # Values without any variation say nothing about how far others would be apart.
    reach = student_quantile(level, len(values) - 1) * error if error > 0 else math.nan
    return mean - reach, mean + reach


def mean_epochs(side: Sequence[Sequence[Graded]]) -> float:
    """The mean number of answers to a sample."""
    return float(np.mean([len(rows) for rows in side]))
