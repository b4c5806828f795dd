"""Measures of row sums, column sums and the diagonal: these are read in one pass, whatever the cells are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import matrics

PANEL = ["accuracy", "mcc", "cohen_kappa", "recall", "precision", "f1", "specificity:class", "npv:class"]
OF_ERRORS = ["fnr:class", "fpr:class", "zero_one_loss", "jaccard:class"]


def stacks(n: int, count: int, dtype: type) -> dict[str, np.ndarray]:
    """Stacks whose cells let their margins suffice, and stacks whose cells do not."""
    random = np.random.default_rng(n)
    counts = random.integers(0, 60, (count, n, n)).astype(dtype)
    dominated = counts.copy()
    dominated[:, 0, 0] = 4000 * n
    long = counts * 1001 if dtype is np.float32 else counts * (2.0**21 + 1)
    # All row and column sums are integers, or next to one, though most cells are thirds.
    thirds = np.where(np.eye(n, dtype=bool), counts.sum(2)[..., None], 20 / (n - 1)).astype(dtype)
    tiny = np.where(counts < 20, np.finfo(dtype).eps, counts).astype(dtype)
    rare = np.where(dominated < 4000 * n, 2.0**-60, dominated).astype(dtype)
    binary = counts + random.integers(0, 2**9, counts.shape) * (2.0**-19 if dtype is np.float64 else 2.0**-6)
    # All sums round to integers, as each has a large cell of the first class; next to which the rest is little.
    cross = np.where(np.eye(n, dtype=bool), 1, 2.0**-36)
    cross[0, 1:] = cross[1:, 0] = 2.0**20
    return {
        "counts": counts,
        "cross": np.broadcast_to(cross, counts.shape).astype(dtype),
        "rare": rare,
        "binary": binary.astype(dtype),
        "dominated": dominated,
        "long": long.astype(dtype),
        "halves": counts / 2,
        "fractions": (counts * 0.37).astype(dtype),
        "thirds": thirds,
        "tiny": tiny,
        "absent": np.where(np.arange(n) == 1, 0, counts),
    }


def plain_counts(n: int) -> np.ndarray:
    """As many as the first block has, which shows if measures need only margins."""
    return np.random.default_rng(n).integers(1, 60, (max(80, 140_000 // n**2), n, n))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("n", "count"), [(8, 300), (30, 80), pytest.param(100, 20, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("specs", [PANEL, PANEL + OF_ERRORS, OF_ERRORS])
def test_neighbours_and_threads_change_no_bit(n: int, count: int, dtype: type, specs: list[str]) -> None:
    kinds = stacks(n, count, dtype)
    for cell in (-1, -0.0, np.nan, np.inf):
        kinds[str(cell)] = kinds["counts"].copy()
        kinds[str(cell)][::3, 1, 0] = cell
    mixed = np.stack(list(kinds.values()), axis=1).reshape(-1, n, n)
    head = plain_counts(n).astype(dtype)

    def after(stack: np.ndarray, workers: int) -> dict[str, np.ndarray]:
        scores = matrics.score(np.concatenate([head, stack]), specs, invalid="nan", workers=workers)
        return {spec: values[len(head) :] for spec, values in scores.items()}

    together, threads = after(mixed, 1), after(mixed, 2)
    for position, (kind, stack) in enumerate(kinds.items()):
        for spec, values in after(stack, 1).items():
            np.testing.assert_array_equal(values, together[spec][position :: len(kinds)], err_msg=f"{kind} {spec}")
            np.testing.assert_array_equal(values, threads[spec][position :: len(kinds)], err_msg=f"{kind} {spec}")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [8, 30])
@pytest.mark.parametrize(
    "kind",
    ["counts", "cross", "dominated", "rare", "binary", "long", "halves", "fractions", "thirds", "tiny", "absent"],
)
def test_values_are_those_of_fractions(n: int, kind: str) -> None:
    """Both where measures need the margins alone, and where some ask for the cells."""
    head = plain_counts(n)
    stack = np.concatenate([head, stacks(n, 20, np.float64)[kind]])
    few = range(len(head), len(stack), 4)
    for specs in (PANEL, PANEL + OF_ERRORS):
        found = matrics.score(stack, specs)
        for i in few:
            exact = of_fractions(stack[i])
            for spec in specs:
                if spec in exact:
                    np.testing.assert_allclose(found[spec][i], exact[spec], rtol=1e-14, atol=1e-15, err_msg=spec)


@pytest.mark.parametrize("first", [True, False])
def test_rare_errors_keep_their_digits(*, first: bool) -> None:
    """Few binary digits, row and column sums that round to integers, and errors far below the last digit of a sum."""
    n = 10
    head = plain_counts(n)[: 0 if first else None]
    stack = np.full((3000, n, n), 2.0**-60)
    stack[:, range(n), range(n)] = np.random.default_rng(0).integers(400, 500, (3000, n))
    scores = matrics.score(np.concatenate([head, stack]), ["recall", "fnr:class", "zero_one_loss"])
    found = {spec: values[len(head) :] for spec, values in scores.items()}
    size = stack.diagonal(axis1=1, axis2=2)
    np.testing.assert_array_equal(found["recall"], 1)
    np.testing.assert_allclose(found["fnr:class"], (n - 1) * 2.0**-60 / size, rtol=1e-14)
    np.testing.assert_allclose(found["zero_one_loss"], n * (n - 1) * 2.0**-60 / size.sum(1), rtol=1e-14)
    # Next to a class with nearly all samples the rest is as small.
    stack[:, range(n), range(n)] = 2.0**-60
    stack[:, 0, 0] = 500
    npv = matrics.metrics.npv(np.concatenate([head, stack]), average="class")[len(head) :, 0]
    np.testing.assert_allclose(npv, 1 - 1 / n, rtol=1e-14)


def of_fractions(matrix: np.ndarray) -> dict[str, np.ndarray]:
    """The measures in exact arithmetic, rounded once, except for one square root."""
    cells = [[Fraction(float(cell)) for cell in row] for row in matrix]
    n, classes = len(cells), range(len(cells))
    true, pred = [sum(row) for row in cells], [sum(cells[i][j] for i in classes) for j in classes]
    tp, total = [cells[i][i] for i in classes], sum(true)
    fn, fp = [true[i] - tp[i] for i in classes], [pred[i] - tp[i] for i in classes]
    tn = [total - true[i] - fp[i] for i in classes]
    chance = sum(a * b for a, b in zip(true, pred, strict=True))
    covariance = total * sum(tp) - chance
    spread = (total**2 - sum(x * x for x in true)) * (total**2 - sum(x * x for x in pred))

    def shares(parts: list, wholes: list) -> np.ndarray:
        return np.array([float(a / b) if b else 0.0 for a, b in zip(parts, wholes, strict=True)])

    recall = [a / b if b else Fraction(0) for a, b in zip(tp, true, strict=True)]
    return {
        "accuracy": np.float64(sum(tp) / total),
        "zero_one_loss": np.float64(sum(fn) / total),
        "mcc": np.float64(np.sign(float(covariance)) * np.sqrt(float(covariance**2 / spread))),
        "cohen_kappa": np.float64(covariance / (total**2 - chance)),
        "specificity:class": shares(tn, [a + b for a, b in zip(tn, fp, strict=True)]),
        "npv:class": shares(tn, [a + b for a, b in zip(tn, fn, strict=True)]),
        "fnr:class": shares(fn, true),
        "fpr:class": shares(fp, [total - x for x in true]),
        "jaccard:class": shares(tp, [a + b + c for a, b, c in zip(tp, fn, fp, strict=True)]),
        **({"recall": np.float64(sum(recall) / n)} if all(true) else {}),
    }
