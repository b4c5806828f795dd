"""How often intervals of ``matrics.interval`` hold the truth: a simulation, cell by cell.

    python benchmarks/coverage.py [--json FILE] [--sets 2000] [--only METHOD]

Data sets are drawn from known shares of the cells (``truth``), and each gets 95 % intervals of several measures. An
interval holds the truth if the measure of the true shares is between its limits. The results go to a JSON file, entry
by entry: one for each number of classes, truth, number of samples and method. Entries that exist are skipped, so a run
that was stopped goes on where it was; delete the file to start anew. Every entry has seeds of its own, and all methods
see the same data sets. ``docs/coverage_tables.py`` makes the tables of the page from the file.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (after the threads are fixed)

import matrics  # noqa: E402

PAGE = Path(__file__).parents[1] / "docs" / "coverage.json"
TRUTHS = ("balanced", "one to twenty", "near perfect")
METHODS = ("auto", "delta", "wilson", "posterior", "bootstrap", "bca")
DRAWING = ("posterior", "bootstrap", "bca")
CLASSES = (2, 3, 5, 10)
SAMPLES = (20, 50, 200, 1000)
MANY = 5000  # samples for MANY_CLASSES, for which 1,000 are few
MANY_CLASSES = (5, 10)
HALVED = (10,)  # classes for which the methods that draw get half of the data sets, as eigenvalues take long
SPECS = ("accuracy", "recall:class", "precision:macro", "f1:macro", "mcc", "cohen_kappa", "g_mean", "eve", "cen")
PROPORTIONS = ("accuracy", "recall:class")  # the measures that Wilson's interval is for
NUM = 1000  # replicates in the methods that draw

SECTIONS = ("cells", "limits", "rare", "exact", "weights", "clusters", "unlike", "paired", "check")

# What is stored of each measure, in this order.
COLUMNS = (
    "held",  # share of the defined estimates whose interval holds the truth; one without limits does not
    "held_if_given",  # the same share of the intervals that have limits
    "held_if_ok",  # the same share of those with status 0
    "width",  # mean width of the intervals that have limits
    "none",  # share of the defined estimates that have no limits
    "undefined",  # share of the data sets for which the measure is undefined
    "ok",  # share of the data sets with status 0
)

# The default from the fewest samples on for which its status can be 0: 20 n² in all, and 20 expected of each class.
# Coverage goes up and down with the number of samples where few errors are expected, so there are several.
FACTORS = (1, 1.25, 1.5, 2, 3, 5)

# Settings for the check that NUM replicates are enough, and how many data sets it has.
CHECKED = ((2, "balanced", 50), (3, "one to twenty", 200), (5, "near perfect", 200), (3, "balanced", 1000))
CHECK_SETS, CHECK_NUM = 300, 10_000

# Clusters: how many, of how many samples each, with which intra-cluster correlation.
CLUSTERS, CLUSTER_SIZE, CORRELATIONS = 30, 20, (0.0, 0.1, 0.3)
CLUSTER_TRUTHS = ("balanced", "one to twenty")
CLUSTER_SPECS = ("accuracy", "mcc", "f1:macro")
CLUSTER_METHODS = ("naive", "auto", "delta", "bootstrap")

# Clusters that are not alike: in what, how many, and with which intra-cluster correlation of a correct prediction.
UNLIKE = (
    *(("one in twenty bad", number, 0.0) for number in (40, 60, 100, 200)),
    ("one in fifty bad", 100, 0.0),
    *(("Pareto", number, rho) for number in (30, 60, 100, 200, 400) for rho in (0.1, 0.3)),
    *(("lognormal", number, 0.1) for number in (30, 60)),
    *(("one large", number, 0.1) for number in (30, 60)),
)
BAD, LARGEST = {"one in twenty bad": 0.05, "one in fifty bad": 0.02}, 400
UNLIKE_SPECS = ("accuracy", "recall[1]", "f1[1]", "f1:macro", "balanced_accuracy", "mcc")

# Two models on the same samples: in which share of these both find the same ones hard, and how much the second recalls
# less than the first, as a part of what this one misses.
PAIRED_CLASSES, PAIRED_SAMPLES, PAIRED_SHARE, PAIRED_GAP = (2, 3), (50, 200, 1000), 0.7, 0.5
PAIRED_METHODS = ("apart", "auto", "delta", "bootstrap")

# A rare class, whose few errors decide: classes, samples of each but the last, samples of the last, recall of each; and
# many classes of few samples. Class sizes are fixed. The larger tables get fewer data sets.
RARE_SPECS = ("balanced_accuracy", "g_mean", "informedness", "f1:macro", "mcc")
RARE = tuple((n, 5000, 100, recall) for n in CLASSES for recall in (0.9, 0.98))
ALIKE = tuple((n, size, size, recall) for n in (10, 30) for size in (5, 10, 20) for recall in (0.7, 0.9))
SETS_OF_LARGE = 400

# The same of two classes exactly: over all matrices that are not less probable than this, by their probabilities.
EXACT = (
    *((9900, 100, 0.98, 0.98), (4950, 50, 0.98, 0.98), (4800, 200, 0.98, 0.99), (950, 50, 0.9, 0.9)),
    *((50, 50, 0.95, 0.95), (200, 20, 0.9, 0.9)),
)
EXACT_SPECS = RARE_SPECS[:3]
LEAST_PROBABLE = 1e-10


# Weighted samples: lognormal weights with these deviations of the logarithm, and what a deviation adds to the recall.
WEIGHTED_SPECS = ("accuracy", "recall:class", "precision:macro", "f1:macro", "mcc", "balanced_accuracy")
WEIGHTED = tuple(
    (n, samples, sigma, slope)
    for n, samples in ((2, 1000), (2, 5000), (3, 1000))
    for sigma in (0.5, 1.0, 1.5, 2.0)
    for slope in (0.0, 0.05, -0.05)
)
WEIGHTED_RECALL, WEIGHTED_METHODS = 0.8, ("auto", "counts")


def truth(n: int, kind: str) -> np.ndarray:
    """The true shares of the cells; the errors of a class go to some classes twice as often as to others."""
    sizes = np.asarray([20.0] * (n - 1) + [1.0]) if kind == "one to twenty" else np.ones(n)
    recall = {"balanced": 0.7, "one to twenty": 0.8, "near perfect": 0.99}[kind]
    cm = np.empty((n, n))
    for i in range(n):
        weights = np.where(np.arange(n) == i, 0, np.linspace(1, 2, n))
        cm[i] = weights / weights.sum() * (1 - recall)
        cm[i, i] = recall
    return cm * (sizes / sizes.sum())[:, None]


def joint_truth(n: int, kind: str) -> np.ndarray:
    """The true shares by true class and the predictions of two models, of which the second recalls less.

    In PAIRED_SHARE of the samples what is hard for one is hard for the other: the same uniform number tells both
    predictions. In the others they are independent.
    """
    first = truth(n, kind)
    sizes = first.sum(axis=1)
    joint = np.empty((n, n, n))
    for i, row in enumerate(first / sizes[:, None]):
        worse = row.copy()
        worse[i] -= PAIRED_GAP * (1 - row[i])
        worse *= np.where(np.arange(n) == i, 1, (1 - worse[i]) / (1 - row[i]))
        order = np.argsort(np.arange(n) != i, kind="stable")  # right ones first
        edges = [np.concatenate([[0], np.cumsum(model[order])]) for model in (row, worse)]
        low = np.maximum(edges[0][:-1, None], edges[1][None, :-1])
        high = np.minimum(edges[0][1:, None], edges[1][None, 1:])
        together = np.empty((n, n))
        together[np.ix_(order, order)] = np.maximum(high - low, 0)
        joint[i] = sizes[i] * (PAIRED_SHARE * together + (1 - PAIRED_SHARE) * np.outer(row, worse))
    return joint


# One entry ------------------------------------------------------------------------------------------------------------


def rounded(value: float) -> float | None:
    """Four decimals, as the error of a share of 2,000 is in the third; three digits of small widths; JSON has no NaN"""
    if not np.isfinite(value):
        return None
    return round(float(value), 4) if abs(value) >= 0.01 else float(f"{value:.3g}")


def mean(values: np.ndarray) -> float:
    """The mean, NaN without values."""
    return float(values.mean()) if values.size else float("nan")


def summary(one: matrics.Interval, exact: float) -> list[float | None]:
    """The COLUMNS of one measure."""
    known = ~np.isnan(one.estimate)
    given = known & ~np.isnan(one.low)
    ok = one.status == matrics.IntervalStatus.OK
    held = given & (one.low <= exact) & (exact <= one.high)
    columns = (
        mean(held[known]),
        mean(held[given]),
        mean(held[ok]),
        mean((one.high - one.low)[given]),
        mean(~given[known]),
        mean(~known),
        mean(ok),
    )
    return [rounded(value) for value in columns]


def summaries(found: dict[str, matrics.Interval], exact: dict[str, np.ndarray]) -> dict[str, list[float | None]]:
    """The COLUMNS of every measure; of recalls, of the last class, which is the rare one if there is one."""
    entry = {}
    for spec, one in found.items():
        last = matrics.Interval(*(part[..., -1] for part in one)) if spec == "recall:class" else one
        entry[spec] = summary(last, float(np.atleast_1d(exact[spec])[-1]))
    return entry


def draw(n: int, kind: str, samples: int, sets: int) -> np.ndarray:
    """Confusion matrices of data sets, with a seed of this setting."""
    rng = np.random.default_rng([n, TRUTHS.index(kind), samples])
    return rng.multinomial(samples, truth(n, kind).ravel(), size=sets).reshape(-1, n, n)


def drawing(method: str, *seed: int, num: int = NUM) -> dict[str, object]:
    """The options for a method, with a seed of its own."""
    if method not in DRAWING:
        return {}
    return {"num": num, "rng": np.random.default_rng([*seed, METHODS.index(method)])}


def simulate(n: int, kind: str, samples: int, method: str, sets: int) -> dict[str, object]:
    """One entry of the study."""
    specs = list(PROPORTIONS if method == "wilson" else SPECS)
    options = drawing(method, n, TRUTHS.index(kind), samples)
    found = matrics.interval(draw(n, kind, samples, sets), specs, method=method, **options)
    return {"sets": sets, **summaries(found, matrics.score(truth(n, kind), specs))}


def check(n: int, kind: str, samples: int, method: str, num: int) -> dict[str, object]:
    """The same for the first few data sets, with another number of replicates."""
    options = drawing(method, n, TRUTHS.index(kind), samples, num=num)
    found = matrics.interval(draw(n, kind, samples, CHECK_SETS), list(SPECS), method=method, **options)
    return {"sets": CHECK_SETS, **summaries(found, matrics.score(truth(n, kind), list(SPECS)))}


def draw_clusters(kind: str, correlation: float, sets: int) -> np.ndarray:
    """Matrices of clusters (K, sets, 2, 2).

    Each cluster has shares of its own from a Dirichlet distribution with concentration (1 - ρ) / ρ around the true
    ones. Whether a sample is in a cell, or in any set of cells, then has the intra-cluster correlation ρ.
    """
    rng = np.random.default_rng([CLUSTERS, TRUTHS.index(kind), round(1000 * correlation)])
    shares = truth(2, kind).ravel()
    if correlation:
        shares = rng.dirichlet(shares * (1 - correlation) / correlation, size=(CLUSTERS, sets))
    return rng.multinomial(CLUSTER_SIZE, shares, size=(CLUSTERS, sets)).reshape(CLUSTERS, sets, 2, 2)


def measured_correlation(clusters: np.ndarray) -> float:
    """The intra-cluster correlation of being right, from the mean squares between and within clusters of all sets."""
    right = (clusters[..., 0, 0] + clusters[..., 1, 1]) / CLUSTER_SIZE
    between = CLUSTER_SIZE * right.var(axis=0, ddof=1).mean()
    within = (right * (1 - right)).mean() * CLUSTER_SIZE / (CLUSTER_SIZE - 1)
    return float((between - within) / (between + (CLUSTER_SIZE - 1) * within))


def simulate_clusters(kind: str, correlation: float, method: str, sets: int) -> dict[str, object]:
    """One entry of the study of clusters; "naive" takes the sum of the matrices for independent samples."""
    clusters = draw_clusters(kind, correlation, sets)
    specs = list(CLUSTER_SPECS)
    if method == "naive":
        found = matrics.interval(clusters.sum(0), specs)
    else:
        options = drawing(method, CLUSTERS, TRUTHS.index(kind), round(1000 * correlation))
        found = matrics.interval(clusters, specs, method=method, cluster_axis=0, **options)
    exact = matrics.score(truth(2, kind), specs)
    return {"sets": sets, "measured": rounded(measured_correlation(clusters)), **summaries(found, exact)}


def sizes_of(law: str, number: int, sets: int, rng: np.random.Generator) -> np.ndarray:
    """The sizes of clusters (K, sets)."""
    if law == "Pareto":
        return np.clip(np.floor(3 * (1 + rng.pareto(1.2, (number, sets)))), 1, LARGEST).astype(int)
    if law == "lognormal":
        return np.clip(np.round(10 * np.exp(0.7 * rng.standard_normal((number, sets)))), 1, LARGEST).astype(int)
    sizes = np.full((number, sets), 10 if law == "one large" else CLUSTER_SIZE)
    if law == "one large":
        sizes[0] = 5 * number  # about a third of all samples
    return sizes


def simulate_unlike(law: str, number: int, correlation: float, sets: int) -> dict[str, object]:
    """One entry of the study of clusters with unequal sizes, or with a few that the classifier fails on.

    Bad clusters have the recalls 0.3, and the others 0.98. With unequal sizes the recalls of both classes and the share
    of class 1 have beta distributions in the clusters.
    """
    rng = np.random.default_rng([number, [some[0] for some in UNLIKE].index(law), round(1000 * correlation)])
    sizes = sizes_of(law, number, sets, rng)
    if law in BAD:
        shares, recalls = np.full(sizes.shape, 0.5), np.where(rng.random(sizes.shape) < BAD[law], 0.3, 0.98)
        recalls, share, recall = [recalls, recalls], 0.5, 0.3 * BAD[law] + 0.98 * (1 - BAD[law])
    else:
        share, recall, rest = 0.4, 0.85, (1 - correlation) / correlation
        shares = rng.beta(share * rest, (1 - share) * rest, sizes.shape)
        recalls = [rng.beta(recall * rest, (1 - recall) * rest, sizes.shape) for _ in range(2)]
    positive = rng.binomial(sizes, shares)
    hits, right = rng.binomial(positive, recalls[1]), rng.binomial(sizes - positive, recalls[0])
    cells = np.stack([right, sizes - positive - right, positive - hits, hits], axis=-1)
    found = matrics.interval(cells.reshape(*sizes.shape, 2, 2), list(UNLIKE_SPECS), cluster_axis=0)
    exact = matrics.score(recalled(2, recall) * np.asarray([[1 - share], [share]]), list(UNLIKE_SPECS))
    return {"sets": sets, **summaries(found, exact)}


def simulate_pairs(n: int, kind: str, samples: int, method: str, sets: int) -> dict[str, object]:
    """One entry of the study of differences on the same samples; "apart" takes both for independent samples."""
    shares, specs = joint_truth(n, kind), list(CLUSTER_SPECS)
    rng = np.random.default_rng([n, TRUTHS.index(kind), samples, 2])
    joint = rng.multinomial(samples, shares.ravel(), size=sets).reshape(-1, n, n, n)
    if method == "apart":
        found = matrics.compare(joint.sum(-1), joint.sum(-2), specs)
    else:
        found = matrics.compare_paired(
            joint, specs, method=method, **drawing(method, n, TRUTHS.index(kind), samples, 2)
        )
    first, second = (matrics.score(shares.sum(axis), specs) for axis in (-1, -2))
    entry: dict[str, object] = {"sets": sets}
    for spec, one in found.items():
        blank = np.zeros_like(one.status)
        as_interval = matrics.Interval(one.difference, one.low, one.high, one.standard_error, blank, one.status)
        entry[spec] = summary(as_interval, float(first[spec] - second[spec]))
    return entry


def recalled(n: int, recall: float) -> np.ndarray:
    """Shares of the predictions of each true class, whose errors go to all others alike."""
    rows = np.full((n, n), (1 - recall) / (n - 1))
    np.fill_diagonal(rows, recall)
    return rows


def simulate_rare(n: int, size: int, last: int, recall: float, sets: int) -> dict[str, object]:
    """One entry of the study of rare classes and of many small ones."""
    rng = np.random.default_rng([n, size, last, round(1000 * recall)])
    rows, sizes = recalled(n, recall), np.asarray([size] * (n - 1) + [last])
    drawn = [rng.multinomial(total, row, size=sets) for total, row in zip(sizes, rows, strict=True)]
    found = matrics.interval(np.stack(drawn, axis=1), list(RARE_SPECS))
    return {"sets": sets, **summaries(found, matrics.score(rows * sizes[:, None], list(RARE_SPECS)))}


def enumerate_all(sizes: tuple[int, int], recalls: tuple[float, float], method: str) -> dict[str, object]:
    """Coverage over all matrices of two classes of fixed sizes, not drawn but weighted by their probabilities."""
    hits, shares = [], []
    for size, recall in zip(sizes, recalls, strict=True):
        k = np.arange(size + 1)
        logs = np.cumsum(np.log(np.concatenate([[1.0], (size - k[:-1]) / (k[:-1] + 1)])))  # of binomial coefficients
        probability = np.exp(logs + k * np.log(recall) + (size - k) * np.log1p(-recall))
        hits.append(k[probability > LEAST_PROBABLE])
        shares.append(probability[probability > LEAST_PROBABLE])
    first, second = (grid.ravel() for grid in np.meshgrid(*hits, indexing="ij"))
    probability = np.outer(*shares).ravel()
    probability /= probability.sum()
    cells = [first, sizes[0] - first, sizes[1] - second, second]
    found = matrics.interval(np.stack(cells, axis=-1).reshape(-1, 2, 2), list(EXACT_SPECS), method=method)
    expected = np.asarray(sizes)[:, None] * np.asarray([[recalls[0], 1 - recalls[0]], [1 - recalls[1], recalls[1]]])
    entry: dict[str, object] = {"sets": len(probability)}
    for spec, exact in matrics.score(expected, list(EXACT_SPECS)).items():
        one = found[spec]
        held = (one.low <= exact) & (exact <= one.high)
        ok = one.status == matrics.IntervalStatus.OK
        of_ok = float(probability @ (held & ok)) / float(probability @ ok) if ok.any() else float("nan")
        entry[spec] = [rounded(float(probability @ held)), rounded(of_ok), rounded(float(probability @ ok))]
    return entry


def weighted_recall(sigma: float, slope: float) -> float:
    """The recall of all samples by weight: the mean of a line, cut at 0.02 and 0.98, under a shifted normal law.

    Lognormal weights shift the law of their logarithm by σ.
    """
    z = np.linspace(-10, 10 + sigma, 200_001)
    density = np.exp(-((z - sigma) ** 2) / 2)
    return float((np.clip(WEIGHTED_RECALL + slope * z, 0.02, 0.98) * density).sum() / density.sum())


def simulate_weights(n: int, samples: int, sigma: float, slope: float, method: str, sets: int) -> dict[str, object]:  # noqa: PLR0917
    """One entry of the study of weights; "counts" takes the weights for numbers of samples, as they add up to N."""
    rng = np.random.default_rng([n, samples, round(10 * sigma), round(100 * slope) + 100])
    y_true, z = rng.integers(0, n, (sets, samples)), rng.normal(size=(sets, samples))
    right = rng.random((sets, samples)) < np.clip(WEIGHTED_RECALL + slope * z, 0.02, 0.98)
    y_pred = np.where(right, y_true, (y_true + rng.integers(1, n, (sets, samples))) % n)
    weights = np.exp(sigma * z)
    weights *= samples / weights.sum(axis=1, keepdims=True)
    cm, squares = (
        matrics.confusion_matrix(y_true, y_pred, num_classes=n, sample_weight=w) for w in (weights, weights**2)
    )
    found = matrics.interval(cm, list(WEIGHTED_SPECS), squared_weights=squares if method == "auto" else None)
    exact = matrics.score(recalled(n, weighted_recall(sigma, slope)), list(WEIGHTED_SPECS))
    effective = mean(weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1))
    return {"sets": sets, "effective": rounded(effective), **summaries(found, exact)}


# All of them ----------------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """Where an entry is in the file, and what fills it."""

    section: str
    key: str
    method: str
    work: Callable[[], dict[str, object]]


def fewest(n: int, kind: str) -> int:
    """The samples from which on a setting is one of status 0: on average, as class sizes are random."""
    return round(max(20 * n * n, 20 / truth(n, kind).sum(1).min()))


def entries(sets: int) -> Iterator[Entry]:
    """All entries; those that take longest come last."""
    for method, n in product(METHODS, CLASSES):
        if method not in DRAWING:
            yield from study(method, n, sets)
    for n, kind, factor in product(CLASSES, TRUTHS, FACTORS):
        samples = round(factor * fewest(n, kind))
        yield Entry("limits", f"{n}|{kind}|{samples}|auto", "auto", partial(simulate, n, kind, samples, "auto", sets))
    yield from study_of_rare(sets)
    yield from study_of_weights(sets)
    for n, method in product(CLASSES[:2], DRAWING):
        yield from study(method, n, sets)
    for some in product(CLUSTER_TRUTHS, CORRELATIONS, CLUSTER_METHODS):
        yield Entry("clusters", "|".join(map(str, some)), some[-1], partial(simulate_clusters, *some, sets))
    for setting in UNLIKE:
        yield Entry("unlike", "|".join(map(str, (*setting, "auto"))), "auto", partial(simulate_unlike, *setting, sets))
    for some in product(PAIRED_CLASSES, TRUTHS, PAIRED_SAMPLES, PAIRED_METHODS):
        yield Entry("paired", "|".join(map(str, some)), some[-1], partial(simulate_pairs, *some, sets))
    for setting, method, num in product(CHECKED, DRAWING, (NUM, CHECK_NUM)):
        some = (*setting, method, num)
        yield Entry("check", "|".join(map(str, some)), method, partial(check, *some))
    for n, method in product(CLASSES[2:], DRAWING):
        yield from study(method, n, sets // 2 if n in HALVED else sets)


def study_of_rare(sets: int) -> Iterator[Entry]:
    """The entries of rare classes, drawn and enumerated."""
    for some in (*RARE, *ALIKE):
        number = min(sets, SETS_OF_LARGE) if some[0] > max(CLASSES) else sets
        yield Entry("rare", "|".join(map(str, (*some, "auto"))), "auto", partial(simulate_rare, *some, number))
    for (size, last, *recalls), method in product(EXACT, ("auto", "delta")):
        key = "|".join(map(str, (size, last, *recalls, method)))
        yield Entry("exact", key, method, partial(enumerate_all, (size, last), tuple(recalls), method))


def study_of_weights(sets: int) -> Iterator[Entry]:
    """The entries of weighted samples."""
    for setting, method in product(WEIGHTED, WEIGHTED_METHODS):
        work = partial(simulate_weights, *setting, method, sets)
        yield Entry("weights", "|".join(map(str, (*setting, method))), method, work)


def study(method: str, n: int, sets: int) -> Iterator[Entry]:
    """The entries of one method and number of classes."""
    for kind, samples in product(TRUTHS, (*SAMPLES, MANY) if n in MANY_CLASSES else SAMPLES):
        yield Entry(
            "cells", f"{n}|{kind}|{samples}|{method}", method, partial(simulate, n, kind, samples, method, sets)
        )


def write(path: Path, data: dict[str, dict[str, object]]) -> None:
    """One entry in each line, for small differences between versions; by renaming, so that no half file is left."""
    sections = []
    for section, content in data.items():
        lines = [f"{json.dumps(key)}: {json.dumps(entry, separators=(',', ':'))}" for key, entry in content.items()]
        sections.append(f"{json.dumps(section)}: {{\n" + ",\n".join(lines) + "\n}")
    draft = path.with_suffix(".part")
    draft.write_text("{\n" + ",\n".join(sections) + "\n}\n", encoding="utf-8")
    draft.replace(path)


def show(data: dict[str, dict[str, object]], only: str | None) -> None:
    """Coverage in percent, a line for each entry."""
    shown = {"cells": SPECS, "limits": SPECS, "rare": RARE_SPECS, "exact": EXACT_SPECS, "weights": WEIGHTED_SPECS}
    for section, specs in (
        shown | {"clusters": CLUSTER_SPECS, "unlike": UNLIKE_SPECS, "paired": CLUSTER_SPECS}
    ).items():
        print(f"\n{section:34}" + "".join(f"{spec:>14}" for spec in specs))
        for key, entry in data[section].items():
            if only and not key.endswith(f"|{only}"):
                continue
            shares = [entry[spec][0] if spec in entry else None for spec in specs]
            print(f"{key:34}" + "".join(f"{'–' if share is None else f'{share:.1%}':>14}" for share in shares))


def main() -> None:
    """Fill the file, and print what it says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, default=PAGE)
    parser.add_argument("--sets", type=int, default=2000, help="data sets of each setting")
    parser.add_argument("--only", choices=(*METHODS, "naive", "apart", "counts"), help="one method alone")
    options = parser.parse_args()
    data: dict[str, dict[str, object]] = {section: {} for section in ("about", *SECTIONS)}
    if options.json.is_file():
        data |= json.loads(options.json.read_text(encoding="utf-8"))
    data["about"] = {"level": 0.95, "num": NUM, "check_num": CHECK_NUM, "columns": COLUMNS, "halved": HALVED}
    planned = list(entries(options.sets))
    for section, key, method, work in planned:
        if key in data[section] or (options.only and method != options.only):
            continue
        begin = time.perf_counter()
        data[section][key] = work()
        write(options.json, data)
        print(f"{section} {key}: {time.perf_counter() - begin:.1f} s", flush=True)
    for section in SECTIONS:  # in one order, however many runs it took
        keys = [entry.key for entry in planned if entry.section == section]
        data[section] = {key: data[section][key] for key in keys if key in data[section]}
    write(options.json, data)
    show(data, options.only)


if __name__ == "__main__":
    main()
