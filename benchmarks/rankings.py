"""How often limits of measures of scores hold the truth, how often tests of equal models reject, and what they cost.

``python benchmarks/rankings.py`` prints the tables of docs/ranking_limits.md in Markdown: the share of simulated data
sets whose limits contain the measure of endless samples, and the share in which two equal models differ significantly.
``--cost`` times DeLong's test for a thousand pairs of models, beside a loop over the usual program of twenty lines.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from statistics import NormalDist
from typing import Any

import numpy as np

import matrics

POINT = "recall_at_specificity(specificity=0.9)"
SIZES = ((10, 90), (20, 180), (50, 450), (100, 100), (100, 1_000))
ENDLESS = 1_000_000


def scores(kind: str, area: float, y_true: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Scores with this area: normal, normal with unequal variances, or exponential."""
    if kind == "exponential":
        return random.exponential(size=y_true.shape) * np.where(y_true, area / (1 - area), 1)
    spread = 2.0 if kind == "unequal" else 1.0
    shift = NormalDist().inv_cdf(area) * math.hypot(1, spread)
    return random.normal(size=y_true.shape) * np.where(y_true, spread, 1) + shift * y_true


def covered(found: Any, truth: float) -> str:
    """The share of the intervals that contain the truth, in per cent; those without limits do not."""
    return f"{100 * np.mean((found.low <= truth) & (truth <= found.high)):.1f}"


def areas(sets: int) -> None:
    """Areas under the ROC curve and average precision, by default and as most packages compute them."""
    names = ["ROC AUC", "DeLong", "logit", "width", "average precision", "logit", "recall at 0.9", "status 0"]
    print("| positive, negative | scores | area | " + " | ".join(names) + " |")
    print("|" + "--:|" * (3 + len(names)))
    for (positive, negative), kind, area in itertools.product(
        SIZES, ("normal", "unequal", "exponential"), (0.7, 0.9, 0.97)
    ):
        random = np.random.default_rng([positive, negative, int(100 * area), len(kind)])
        share = positive / (positive + negative)
        many = (np.arange(ENDLESS) < share * ENDLESS).astype(int)
        endless = scores(kind, area, many, random)
        precision = matrics.ranking.average_precision(many, endless)
        recall = matrics.ranking.recall_at_specificity(many, endless, 0.9)
        y_true = np.broadcast_to((np.arange(positive + negative) < positive).astype(int), (sets, positive + negative))
        drawn = scores(kind, area, y_true, random)
        found = matrics.ranking.interval(y_true, drawn, ["roc_auc", "average_precision"], workers=-1)
        logit = matrics.ranking.interval(y_true, drawn, ["roc_auc", "average_precision"], method="logit", workers=-1)
        delong = matrics.ranking.interval(y_true, drawn, "roc_auc", method="delong", workers=-1)["roc_auc"]
        few = slice(None, max(1, sets // 4))
        point = matrics.ranking.interval(y_true[few], drawn[few], POINT, num=400, rng=0, workers=-1)[POINT]
        auc = found["roc_auc"]
        cells = [
            *(covered(one, area) for one in (auc, delong, logit["roc_auc"])),
            f"{np.nanmean(auc.high - auc.low) / np.nanmean(delong.high - delong.low):.2f}",
            *(covered(one["average_precision"], precision) for one in (found, logit)),
            covered(point, recall),
            f"{100 * np.mean(auc.status == 0):.0f}",
        ]
        print(f"| {positive}, {negative} | {kind} | {area} | " + " | ".join(cells) + " |", flush=True)


def probabilities(kind: str, shape: tuple[int, ...], random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities of a model that is calibrated, too sure of itself, or of a rare class."""
    logits = 1.5 * random.normal(size=shape) - (4 if kind == "rare" else 0)
    y_true = (random.random(shape) < 1 / (1 + np.exp(-logits))).astype(int)
    return y_true, 1 / (1 + np.exp(-(2 if kind == "too sure" else 1) * logits))


def losses(sets: int) -> None:
    """Means of losses, and the calibration error."""
    print("| samples | probabilities | log loss | Brier score | calibration error | its bootstrap |")
    print("|--:|---|--:|--:|--:|--:|")
    for number, kind in itertools.product((100, 1_000, 10_000), ("calibrated", "too sure", "rare")):
        random = np.random.default_rng([number, len(kind)])
        endless = probabilities(kind, (ENDLESS * 4,), random)
        here = max(40, sets if number < 10_000 else sets // 10)
        y_true, y_prob = probabilities(kind, (here, number), random)
        found = matrics.ranking.interval(y_true, y_prob, ["log_loss", "brier_score"], workers=-1)
        name = "expected_calibration_error"
        error = matrics.ranking.interval(y_true, y_prob, name, num=400, rng=0, workers=-1)[name]
        truth = 0.0 if kind != "too sure" else matrics.probabilities.expected_calibration_error(*endless)
        few = max(20, here // 20)
        replicates = random.integers(0, number, (few, 200, number))
        each = np.arange(few)[:, None, None]
        drawn = matrics.probabilities.expected_calibration_error(y_true[each, replicates], y_prob[each, replicates])
        low, high = np.quantile(drawn, [0.025, 0.975], axis=-1)
        cells = [
            covered(found[one], getattr(matrics.probabilities, one)(*endless)) for one in ("log_loss", "brier_score")
        ]
        cells += [covered(error, truth), f"{100 * np.mean((low <= truth) & (truth <= high)):.0f}"]
        print(f"| {number:,} | {kind} | " + " | ".join(cells) + " |", flush=True)


def calibration(sets: int) -> None:
    """Measures of calibration of clinical papers, and net benefits."""
    names = ("slope", "intercept", "in_the_large", "observed_expected_ratio", "ici", "e50", "e90")
    titles = ("slope", "intercept", "in the large", "O/E", "ICI", "E50", "E90", "net benefit at 0.2")
    print("| samples | probabilities | " + " | ".join(titles) + " |")
    print("|--:|---|" + "--:|" * len(titles))
    for number, kind in itertools.product((100, 500, 2_000), ("calibrated", "too sure", "rare")):
        random = np.random.default_rng([number, len(kind), 1])
        endless = probabilities(kind, (ENDLESS,), random)
        here = max(40, sets // 5)
        y_true, y_prob = probabilities(kind, (here, number), random)
        found = matrics.probabilities.interval(y_true, y_prob, num=400, rng=0)
        truths = {
            name: float(one.estimate) for name, one in matrics.probabilities.interval(*endless, num=2, rng=0).items()
        }
        if kind != "too sure":
            truths |= {"slope": 1, "intercept": 0, "in_the_large": 0, "ici": 0, "e50": 0, "e90": 0}
        benefit = matrics.ranking.decision_curve(y_true, y_prob, [0.2], num=500, rng=0).net_benefit
        truth = float(matrics.ranking.decision_curve(*endless, [0.2], num=2, rng=0).net_benefit.estimate[0])
        cells = [covered(found[name], truths[name]) for name in names]
        cells.append(covered(type(benefit)(*(part[:, 0] for part in benefit)), truth))
        print(f"| {number:,} | {kind} | " + " | ".join(cells) + " |", flush=True)


def sizes(sets: int) -> None:
    """How often two equal models differ significantly at the level of 5 %."""
    print("| positive, negative | area | correlation | ROC AUC | average precision | log loss | recall at 0.9 |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for (positive, negative), area, correlation in itertools.product(SIZES, (0.7, 0.9), (0.5, 0.9)):
        random = np.random.default_rng([positive, negative, int(100 * area), int(100 * correlation)])
        number = positive + negative
        y_true = np.broadcast_to((np.arange(number) < positive).astype(int), (sets, number))
        shared, own = random.normal(size=(sets, 1, number)), random.normal(size=(sets, 2, number))
        shift = NormalDist().inv_cdf(area) * math.sqrt(2)
        drawn = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own + shift * y_true[:, None]
        y_prob = 1 / (1 + np.exp(-(shift * (drawn - shift / 2) + math.log(positive / negative))))
        found = matrics.ranking.compare(y_true, y_prob, ["roc_auc", "average_precision", "log_loss"], workers=-1)
        few = slice(None, max(1, sets // 4))
        point = matrics.ranking.compare(y_true[few], y_prob[few], POINT, num=400, rng=0, workers=-1)
        cells = [f"{100 * np.mean(one.p_value[:, 0, 1] < 0.05):.1f}" for one in (found | point).values()]
        print(f"| {positive}, {negative} | {area} | {correlation} | " + " | ".join(cells) + " |", flush=True)


def midranks(x: np.ndarray) -> np.ndarray:
    """Ranks of a row, ties averaged, as programs of DeLong's test have them."""
    order = np.argsort(x)
    ranked = x[order]
    first, last = np.searchsorted(ranked, x, "left"), np.searchsorted(ranked, x, "right")
    return (first + last + 1) / 2


def by_hand(y_true: np.ndarray, pair: np.ndarray) -> float:
    """DeLong's test of two models by midranks (Sun and Xu 2014)."""
    positive, negative = pair[:, y_true == 1], pair[:, y_true == 0]
    m, n = positive.shape[1], negative.shape[1]
    both = np.concatenate([positive, negative], axis=1)
    tx, ty, tz = (np.stack([midranks(row) for row in rows]) for rows in (positive, negative, both))
    areas = tz[:, :m].sum(1) / m / n - (m + 1) / 2 / n
    covariance = np.cov((tz[:, :m] - tx) / n) / m + np.cov(1 - (tz[:, m:] - ty) / m) / n
    contrast = np.array([1, -1])
    z = (areas[0] - areas[1]) / math.sqrt(contrast @ covariance @ contrast)
    return 2 * NormalDist().cdf(-abs(z))


def cost() -> None:
    """A thousand pairs of models for ten thousand samples: one call beside a loop, and beside a sort of the scores."""
    random = np.random.default_rng(0)
    y_true = (random.random(10_000) < 0.3).astype(int)
    pairs = random.normal(size=(1_000, 2, 10_000)) + y_true
    begin = time.perf_counter()
    found = matrics.ranking.compare(np.broadcast_to(y_true, (1_000, 10_000)), pairs, "roc_auc")["roc_auc"]
    ours = time.perf_counter() - begin
    begin = time.perf_counter()
    p_values = np.asarray([by_hand(y_true, pair) for pair in pairs])
    loop = time.perf_counter() - begin
    begin = time.perf_counter()
    np.sort(pairs, axis=-1)
    sort = time.perf_counter() - begin
    difference = np.abs(p_values - found.p_value[:, 0, 1]).max()
    print(f"one call {ours:.2f} s, the loop {loop:.2f} s ({loop / ours:.1f} times), a sort of the scores {sort:.2f} s")
    print(f"largest difference of the p-values: {difference:.1e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=2_000, help="data sets of each row")
    parser.add_argument("--cost", action="store_true")
    given = parser.parse_args()
    if given.cost:
        cost()
    else:
        for show in (areas, losses, calibration, sizes):
            show(given.num)
            print()
