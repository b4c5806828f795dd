"""How often limits of the difference of two evaluations contain the truth: ``python benchmarks/evals_coverage.py``.

Each sample has a difficulty, and each model a skill; an answer passes with the logistic function of their sum. Beside
the limits of ``matrics.evals.compare`` stand ± 1.96 standard errors: paired by sample, as for two
independent runs, and as if all answers were independent. A Markdown table for ``docs/evals.md``.
"""

import argparse
import math

import numpy as np

from matrics._integrations.evals.comparing import Compared, compared_means
from matrics._integrations.evals.log import Graded
from matrics._integrations.evals.pairing import Pair

CASES = [(200, 1, 0.6, 0.7), (200, 3, 0.6, 0.7), (200, 1, 0.95, 0.97), (30, 1, 0.6, 0.7), (30, 3, 0.95, 0.97)]
SPREAD = 1.5  # of the difficulties, on the scale of the logit


def expit(x):
    return 1 / (1 + np.exp(-x))


def rows(scores):
    return [
        [Graded(k, e, "", "", "s", None, None, float(x)) for e, x in enumerate(row, 1)] for k, row in enumerate(scores)
    ]


def limits(a, b):
    """Of a less b, by each method."""
    n, k = a.shape
    value, z = a.mean() - b.mean(), 1.959964
    sem = [np.std(x.mean(axis=1), ddof=1) / math.sqrt(n) for x in (a, b, a.astype(float) - b)]
    naive = math.sqrt(sum(x.mean() * (1 - x.mean()) / (n * k) for x in (a, b)))
    ours = compared_means(Compared(("a", "b"), Pair("s", [""] * n, rows(a), rows(b), (), ()), (), 0.95)).difference
    errors = {"paired by sample": sem[2], "two runs": math.hypot(*sem[:2]), "all answers": naive}
    found = {"matrics": (ours.low, ours.high)}
    return found | {name: (value - z * error, value + z * error) for name, error in errors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=2000, help="pairs of runs for each case")
    number = parser.parse_args().num
    random = np.random.default_rng(0)
    print(
        "| samples, epochs | accuracies | matrics | ± 1.96, paired by sample | ± 1.96, two runs | ± 1.96, all answers |"
    )
    print("|---|---|---|---|---|---|")
    many = random.normal(0, SPREAD, 10**6)
    for samples, epochs, one, other in CASES:
        skills = [math.log(p / (1 - p)) for p in (one, other)]
        chances = [expit(skill + many).mean() for skill in skills]
        inside, width = {}, {}
        for _ in range(number):
            hard = random.normal(0, SPREAD, samples)
            a, b = (random.random((samples, epochs)) < expit(skill + hard)[:, None] for skill in skills)
            for name, (low, high) in limits(a, b).items():
                inside[name] = inside.get(name, 0) + (low <= chances[0] - chances[1] <= high)
                width[name] = width.get(name, 0) + high - low
        cells = [f"{100 * inside[name] / number:.1f} %, {width[name] / number:.3f} wide" for name in inside]
        print(f"| {samples}, {epochs} | {chances[0]:.2f}, {chances[1]:.2f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
