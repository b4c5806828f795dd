"""How often limits at another prevalence hold the truth: ``python benchmarks/prevalence_coverage.py [--sets 4000]``.

Tables in Markdown for ``docs/prevalence.md``. The first: case-control studies of tests of known rates, whose limits are
to hold the measures where fewer people are ill; beside the default stands Mercaldo's logit without the added sample
(``method="delta"``). The second: prevalences estimated from people who were tested only, and then PPV with these. The
third: prevalences from the probabilities of a model that knows two normal distributions, and was trained with as many
of each class.
"""

import argparse
from itertools import product

import numpy as np

import matrics

MEASURES = ("ppv", "npv", "f1:binary", "mcc")
STUDIES = [(50, 50), (100, 100), (400, 100), (1000, 1000)]  # healthy, ill
RATES = [(0.9, 0.9), (0.8, 0.98), (0.6, 0.6)]  # sensitivity, specificity
SHARES = [0.02, 0.2]
TESTED = [200, 2000]


def studies(random, sizes, rates, number):
    """Matrices of a number of studies."""
    (healthy, ill), (sensitivity, specificity) = sizes, rates
    tn, tp = random.binomial(healthy, specificity, number), random.binomial(ill, sensitivity, number)
    return np.moveaxis(np.asarray([[tn, healthy - tn], [ill - tp, tp]]), -1, 0)


def truth(rates, share):
    """The measures where they are meant for."""
    (sensitivity, specificity) = rates
    there = matrics.transform.at_prevalence([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]], share)
    return matrics.score(there, MEASURES)


def held(limits, value):
    """The share of limits that hold a value; those that are missing do not."""
    return float(np.mean((limits.low <= value) & (value <= limits.high)))


def fewest(sizes, rates):
    """The expected errors of the class with fewer."""
    return min(sizes[0] * (1 - rates[1]), sizes[1] * (1 - rates[0]))


def show(*cells):
    """A row of a table in Markdown."""
    print(f"| {' | '.join(cells)} |")


def known(number):
    """The table for a prevalence that is known."""
    head = ("healthy, ill", "sensitivity, specificity", "prevalence", "PPV", "NPV", "F1", "MCC", "PPV by `delta`", "ok")
    show(*head)
    show(*("---" for _ in head))
    lowest, random = 1.0, np.random.default_rng(1)
    for sizes, rates, share in product(STUDIES, RATES, SHARES):
        stack = studies(random, sizes, rates, number)
        wanted = truth(rates, share)
        found = matrics.interval(stack, MEASURES, prevalence=share)
        plain = matrics.interval(stack, "ppv", prevalence=share, method="delta")["ppv"]
        cells = [held(found[name], wanted[name]) for name in MEASURES]
        if fewest(sizes, rates) >= 5:
            lowest = min(lowest, *cells)
        texts = [f"{100 * x:.1f}" for x in (*cells, held(plain, wanted["ppv"]))]
        ok = np.mean(found["ppv"].status == 0)
        show(f"{sizes[0]}, {sizes[1]}", f"{rates[0]}, {rates[1]}", f"{share}", *texts, f"{100 * ok:.0f}")
    print(f"\nlowest of the default where each class has five expected errors: {100 * lowest:.1f} %\n")


def estimated(number):
    """The table for a prevalence that is estimated."""
    head = ("healthy, ill", "sensitivity, specificity", "prevalence", "tested", "its limits", "PPV with it", "if known")
    show(*head)
    show(*("---" for _ in head))
    random = np.random.default_rng(2)
    for sizes, rates, share, tested in product(STUDIES[1:], RATES[:2], SHARES, TESTED):
        stack = studies(random, sizes, rates, number)
        positive = random.binomial(tested, share * rates[0] + (1 - share) * (1 - rates[1]), number)
        estimate = matrics.stats.estimate_prevalence(stack, np.stack([tested - positive, positive], -1))
        own = (estimate.low[:, 1] <= share) & (share <= estimate.high[:, 1])
        wanted = truth(rates, share)["ppv"]
        limits = [matrics.interval(stack, "ppv", prevalence=one)["ppv"] for one in (estimate, estimate.prevalence)]
        texts = [f"{100 * x:.1f}" for x in (own.mean(), *(held(one, wanted) for one in limits))]
        show(f"{sizes[0]}, {sizes[1]}", f"{rates[0]}, {rates[1]}", f"{share}", f"{tested}", *texts)


def by_probabilities(number):
    """The table for the probabilities of a calibrated model."""
    head = ("distance of the classes", "prevalence", "samples", "its limits", "width", "at the edge")
    show(*head)
    show(*("---" for _ in head))
    random = np.random.default_rng(3)
    for distance, share, samples in product((1.0, 2.0), SHARES, TESTED):
        held_ones, widths, edges = [], [], []
        for _ in range(0, number, 100):  # few at a time, as each data set has all of its samples
            markers = random.normal(distance * (random.random((100, samples)) < share), 1.0)
            y_prob = 1 / (1 + np.exp(distance * (distance / 2 - markers)))
            both = np.stack([1 - y_prob, y_prob], -1)
            found = matrics.stats.estimate_prevalence(probabilities=both, training_prevalence=0.5)
            low, high = found.low[:, 1], found.high[:, 1]
            held_ones.append((low <= share) & (share <= high))
            widths.append(high - low)
            edges.append(found.status == matrics.IntervalStatus.AT_THE_EDGE)
        held_, edge = (100 * np.mean(x) for x in (held_ones, edges))
        show(f"{distance:g} sd", f"{share}", f"{samples}", f"{held_:.1f}", f"{np.mean(widths):.3f}", f"{edge:.0f}")


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=4000, help="data sets for each row")
    number = parser.parse_args().sets
    known(number)
    estimated(number)
    print()
    by_probabilities(number)


if __name__ == "__main__":
    main()
