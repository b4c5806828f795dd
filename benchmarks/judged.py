"""How often limits of judged samples contain the true value, how wide they are, and what they cost.

``python benchmarks/judged.py`` prints the tables of docs/judged_coverage.md in Markdown: of simulated data sets the
share whose limits contain the measure of endless samples like these, by default, for labels of people alone, and with
the judge taken as truth. ``--bootstrap`` does so for the bootstrap on some of the rows, ``--good`` for judges with few
errors, ``--methods`` prints how far each method is from the truth, and ``--cost`` times one call for a thousand models.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import Any

import numpy as np

import matrics

SPECS = ("accuracy", "f1:macro", "mcc", "cohen_kappa", "rare recall")
LABELS = ((100, 2_000), (300, 10_000), (1_000, 50_000))
JUDGES = (0.7, 0.85, 0.95)


def samples(n: int, judge: float, *, depends: bool) -> np.ndarray:
    """The shares [true, judge, predicted] of samples: unequal classes, and a model that is right on three of four.

    A judge whose errors depend on the model errs twice as often where the model errs, mostly with the model's label.
    """
    sizes = 1 / np.arange(1, n + 1)
    sizes[-1] /= 2
    sizes /= sizes.sum()
    shares = np.zeros((n, n, n))
    for true, pred in itertools.product(range(n), repeat=2):
        right = max(2 * judge - 1, 0.1) if depends and pred != true else judge
        answers = np.full(n, (1 - right) / (n - 1))
        if depends and pred != true and n > 2:
            answers[:] = 0.3 * (1 - right) / (n - 2)
            answers[pred] = 0.7 * (1 - right)
        answers[true] = right
        shares[true, :, pred] = sizes[true] * (0.75 if pred == true else 0.25 / (n - 1)) * answers
    return shares


def covered(found: Any, truth: float) -> float:
    """The share of the intervals with limits that contain the truth."""
    has_limits = ~np.isnan(found.low)
    return float(np.mean(((found.low <= truth) & (truth <= found.high))[has_limits]))


Case = tuple[int, int, int, float, bool]  # classes, labels, samples, accuracy of the judge, whether it depends


def drawn(case: Case, sets: int) -> tuple[matrics.results.JudgedCounts, np.ndarray]:
    """Counts of simulated data sets, and the shares that they are drawn from."""
    n, labels, number, judge, depends = case
    random = np.random.default_rng([n, labels, int(100 * judge), depends])
    shares = samples(n, judge, depends=depends)
    cube = random.multinomial(labels, shares.ravel(), sets).reshape(sets, n, n, n)
    plane = random.multinomial(number - labels, shares.sum(0).ravel(), sets).reshape(sets, n, n)
    return matrics.results.JudgedCounts(cube, plane), shares


def words(case: Case) -> list[str]:
    """A case in the first columns of a table."""
    n, labels, number, judge, depends = case
    return [f"{n}", f"{labels:,} of {number:,}", f"{100 * judge:.0f} %", "yes" if depends else "no"]


def row(case: Case, sets: int, **options: Any) -> list[str]:
    """The cells of one row of the table of coverage."""
    n, labels = case[:2]
    counts, shares = drawn(case, sets)
    names = [str(k) for k in range(n)]
    specs = [f"recall[{n - 1}]" if spec == "rare recall" else spec for spec in SPECS]
    truth = matrics.score(shares.sum(1) * 1e9, specs, class_names=names)
    found = matrics.judged.interval(counts, specs, class_names=names, **options)
    people = matrics.judged.interval(counts, specs, class_names=names, method="labelled")
    alone = matrics.judged.interval(counts, specs, class_names=names, method="judge")
    cells = [f"{100 * covered(found[spec], truth[spec]):.1f}" for spec in specs]
    fine = np.mean(found["mcc"].status == 0)
    narrower = np.nanmedian((found["mcc"].high - found["mcc"].low) / (people["mcc"].high - people["mcc"].low))
    worth = np.nanmedian(found["mcc"].effective_labels) / labels
    cells += [f"{100 * fine:.0f}", f"{narrower:.2f}", f"{worth:.1f}"]
    return [*words(case), *cells, *(f"{100 * covered(one['mcc'], truth['mcc']):.1f}" for one in (people, alone))]


def table(sets: int, *, classes: tuple[int, ...] = (2, 3, 10), **options: Any) -> None:
    """Print the rows in Markdown."""
    print(
        "| n | labels | judge | depends | accuracy | macro F1 | MCC | κ | recall of the rare class | status 0 "
        "| width | worth | people | judge alone |"
    )
    print("|" + "--:|" * 14)
    for n, labels, judge, depends in itertools.product(classes, LABELS, JUDGES, (False, True)):
        cells = row((n, *labels, judge, depends), sets, **options)
        print("| " + " | ".join(cells) + " |", flush=True)


def of_two_classes(recalls: tuple[float, float], share: float, judge: float, found: float | None = None) -> np.ndarray:
    """The shares [true, judge, predicted] of a model with these recalls, class 1 a share of the samples.

    The judge is right on a share of all samples; or on all, but for the errors of the model, of which it finds a share.
    """
    shares = np.zeros((2, 2, 2))
    for true, pred in itertools.product(range(2), repeat=2):
        hit = judge if found is None else (1.0 if pred == true else found)
        of_class = (share if true else 1 - share) * (recalls[true] if pred == true else 1 - recalls[true])
        shares[true, true, pred], shares[true, 1 - true, pred] = of_class * hit, of_class * (1 - hit)
    return shares


GOOD = (
    *(((0.8, 0.8), 0.4, judge, None, 100, number) for judge in (0.97, 0.99) for number in (2_000, 50_000, 200_000)),
    *(((0.8, 0.8), 0.4, judge, None, 300, 50_000) for judge in (0.95, 0.97, 0.98, 0.99, 0.995, 0.998)),
    *(((0.95, 0.9), 0.3, judge, None, 300, 50_000) for judge in (0.95, 0.97, 0.98, 0.99, 0.995, 0.998)),
    *(((0.8, 0.8), 0.4, judge, None, 1_000, 50_000) for judge in (0.99, 0.995, 0.998)),
    *(((0.8, 0.8), 0.4, 1.0, 0.95, labels, 50_000) for labels in (100, 300, 1_000)),
)


def good(sets: int) -> None:
    """Print the coverage with judges that have few errors, or none, among the labels."""
    specs = ["accuracy", "recall[0]", "recall[1]", "f1:macro", "mcc"]
    print(
        "| recalls | class 1 | judge | labels | accuracy | recall of class 0 | recall of class 1 | macro F1 | MCC "
        "| too high | status 0 | width | worth |"
    )
    print("|" + "--:|" * 13)
    for recalls, share, judge, found, labels, number in GOOD:
        random = np.random.default_rng([labels, number, int(1000 * judge)])
        shares = of_two_classes(recalls, share, judge, found)
        cube = random.multinomial(labels, shares.ravel(), sets).reshape(sets, 2, 2, 2)
        plane = random.multinomial(number - labels, shares.sum(0).ravel(), sets).reshape(sets, 2, 2)
        truth = matrics.score(shares.sum(1) * 1e9, specs, class_names=["0", "1"])
        limits = matrics.judged.interval(matrics.results.JudgedCounts(cube, plane), specs, class_names=["0", "1"])
        one = limits["accuracy"]
        words = f"{100 * judge:g} %" if found is None else f"finds {100 * found:g} % of the errors"
        cells = [f"{recalls[0]:g}, {recalls[1]:g}", f"{100 * share:g} %", words, f"{labels:,} of {number:,}"]
        cells += [f"{100 * covered(limits[spec], truth[spec]):.1f}" for spec in specs]
        cells += [f"{100 * np.mean(one.low > truth['accuracy']):.1f}", f"{100 * np.mean(one.status == 0):.0f}"]
        cells += [f"{np.median(one.high - one.low):.4f}", f"{np.median(one.effective_labels):,.0f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


def methods(sets: int) -> None:
    """Print the root mean squared error of the MCC of each method, in thousandths."""
    names = ("post_stratified", "tuned", "rogan_gladen", "labelled", "judge")
    print("| n | labels | judge | depends | " + " | ".join(f"`{name}`" for name in names) + " |")
    print("|" + "--:|" * 9)
    for n, labels, judge, depends in itertools.product((2, 3, 10), LABELS, JUDGES, (False, True)):
        case = (n, *labels, judge, depends)
        counts, shares = drawn(case, sets)
        truth = matrics.mcc(shares.sum(1) * 1e9)
        cells = []
        for name in names:
            found = matrics.mcc(matrics.judged.confusion_matrix(counts, method=name))  # type: ignore[arg-type]
            cells.append(f"{1000 * np.sqrt(np.nanmean((found - truth) ** 2)):.0f}")
        print("| " + " | ".join([*words(case), *cells]) + " |", flush=True)


def cost() -> None:
    """A thousand models of three classes, a thousand replicates, five measures."""
    random = np.random.default_rng(0)
    true = random.integers(0, 3, 2_000)
    judge = np.where(random.random(2_000) < 0.85, true, random.integers(0, 3, 2_000))
    pred = np.where(random.random((1_000, 2_000)) < 0.8, true, random.integers(0, 3, (1_000, 2_000)))
    begin = time.perf_counter()
    counts = matrics.judged.count(true, judge, pred, labelled=np.arange(2_000) < 300, num_classes=3)
    print(f"counted in {time.perf_counter() - begin:.2f} s")
    specs = ["accuracy", "f1:macro", "mcc", "cohen_kappa", "informedness:macro"]
    for options in ({}, {"limits": "bootstrap", "num": 1_000, "rng": 0}):
        begin = time.perf_counter()
        matrics.judged.interval(counts, specs, **options)  # type: ignore[arg-type]
        print(f"{options.get('limits', 'delta')}: {time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=2_000, help="data sets of each row")
    parser.add_argument("--bootstrap", action="store_true")
    parser.add_argument("--good", action="store_true")
    parser.add_argument("--methods", action="store_true")
    parser.add_argument("--cost", action="store_true")
    given = parser.parse_args()
    if given.cost:
        cost()
    elif given.good:
        good(given.num)
    elif given.methods:
        methods(given.num)
    elif given.bootstrap:
        table(given.num, classes=(3,), limits="bootstrap", num=400, rng=0)
    else:
        table(given.num)
