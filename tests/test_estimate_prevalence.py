"""Prevalences estimated from samples without labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus
from matrics.results import PrevalenceEstimate

RANDOM = np.random.default_rng(37)
CM = np.asarray([[90, 7, 3], [10, 80, 10], [5, 15, 80]])
Z = 1.959963984540054


def counted(cm: Any, counts: Any, **options: Any) -> matrics.results.PrevalenceEstimate:
    return matrics.stats.estimate_prevalence(cm, counts, **options)


def by_em(likelihoods: np.ndarray, weights: np.ndarray, steps: int = 200_000) -> np.ndarray:
    """The algorithm itself, step by step."""
    shares = np.full(likelihoods.shape[1], 1 / likelihoods.shape[1])
    for _ in range(steps):
        parts = likelihoods * shares / (likelihoods @ shares)[:, None]
        new = (weights[:, None] * parts).sum(0) / weights.sum()
        if np.abs(new - shares).max() < 1e-15:
            break
        shares = new
    return shares


# Referees -------------------------------------------------------------------------------------------------------------


def test_rogan_and_gladen() -> None:
    """The cows of the documentation of epiR: 23 of 150 positive, by a test whose rates are known; 5.1 % (0 to 13 %)."""
    known = np.asarray([[89, 11], [4, 96]]) * 1e9
    found = counted(known, [127, 23])
    np.testing.assert_allclose(found.prevalence[1], (23 / 150 + 0.89 - 1) / (0.96 + 0.89 - 1), rtol=1e-9)
    assert found.low[1] == 0
    np.testing.assert_allclose(found.high[1], 0.13, atol=0.005)
    error = math.sqrt(23 / 150 * 127 / 150 / 150) / 0.85
    np.testing.assert_allclose(math.sqrt(found.covariance[1, 1]), error, rtol=1e-6)


def test_lang_and_reiczigel() -> None:
    """Their limits for estimated rates, without the shift of the middle: by hand."""
    (tn, fp), (fn, tp), (negative, positive) = (190, 10), (20, 180), (860, 140)
    found = counted([[tn, fp], [fn, tp]], [negative, positive])
    se, sp, p = tp / (tp + fn), tn / (tn + fp), positive / (positive + negative)
    share, gap = (p + sp - 1) / (se + sp - 1), se + sp - 1
    np.testing.assert_allclose(found.prevalence, [1 - share, share])
    spread = p * (1 - p) / 1000 + share**2 * se * (1 - se) / 200 + (1 - share) ** 2 * sp * (1 - sp) / 200
    wanted = spread / gap**2 * np.asarray([[1, -1], [-1, 1]])
    np.testing.assert_allclose(found.covariance, wanted, rtol=1e-9)
    se, sp, p = (tp + 1) / (tp + fn + 2), (tn + 1) / (tn + fp + 2), (positive + Z * Z / 2) / (1000 + Z * Z)
    share, gap = (p + sp - 1) / (se + sp - 1), se + sp - 1
    spread = p * (1 - p) / (1000 + Z * Z) + share**2 * se * (1 - se) / 202 + (1 - share) ** 2 * sp * (1 - sp) / 202
    reach = Z * math.sqrt(spread) / gap
    np.testing.assert_allclose([found.low[1], found.high[1]], [share - reach, share + reach], rtol=1e-9)
    assert found.status == IntervalStatus.OK


# ACC of quapy 0.2.3, with solver="exact-raise" and then projection_simplex_sort.
QUAPY = {
    (700, 200, 100): [0.7547169811320754, 0.16981132075471697, 0.0754716981132076],
    (900, 40, 60): [0.9797843665768193, 0.0, 0.020215633423180585],
    (10, 30, 960): [0.0, 0.0, 1.0],
}


@pytest.mark.sampled(2)
def test_adjusted_counts_beside_quapy(backend: Any) -> None:
    for counts, wanted in QUAPY.items():

        def estimate(cm: Any, given: Any) -> Any:
            return tuple(counted(cm, given)[:5])

        cm, given = backend.asarray(CM), backend.asarray(np.asarray(counts))
        shares, covariance, low, high, status = (backend.numpy(x) for x in backend.call(estimate, cm, given))
        np.testing.assert_allclose(shares, wanted, **backend.tolerance)
        here = counted(CM, list(counts))
        np.testing.assert_allclose(covariance, here.covariance, rtol=1e-9 if backend.float64 else 1e-3)
        np.testing.assert_allclose([low, high], [here.low, here.high], **backend.tolerance)
        assert int(status) == (0 if min(wanted) > 0 else IntervalStatus.AT_THE_EDGE)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_most_likely_shares(n: int) -> None:
    """Where the algorithm itself converges to, inside and at an edge."""
    edges = 0
    for _ in range(6):
        cm = RANDOM.integers(1, 30, (n, n)) + 50 * np.eye(n, dtype=int)
        counts = RANDOM.integers(0, 300, n)
        found = counted(cm, counts, method="em")
        wanted = by_em((cm / cm.sum(1, keepdims=True)).T, counts / counts.sum())
        np.testing.assert_allclose(found.prevalence, wanted, atol=2e-5)
        edges += int(found.status == IntervalStatus.AT_THE_EDGE)
        if found.status == IntervalStatus.OK:
            np.testing.assert_allclose(found.prevalence, counted(cm, counts).prevalence, atol=1e-8)
    assert edges > 0 or n == 2


PROBABILITIES = np.random.default_rng(7).dirichlet([0.8, 0.5, 0.4], 40).round(3)
PROBABILITIES[:, 2] = (1 - PROBABILITIES[:, :2].sum(1)).round(3)


@pytest.mark.exhaustive(backend=["jax", "jax-x64"])
def test_saerens_beside_quapy(backend: Any) -> None:
    """EMQ.EM of quapy 0.2.3, which was let run until it changed by less than 1e-15."""

    def shares(y_prob: Any) -> Any:
        return matrics.stats.estimate_prevalence(probabilities=y_prob, training_prevalence=[0.5, 0.3, 0.2]).prevalence

    found = backend.numpy(backend.call(shares, backend.asarray(PROBABILITIES)))
    wanted = [0.23476800279766233, 0.6243266350870116, 0.14090536211532617]
    np.testing.assert_allclose(found, wanted, rtol=1e-8 if backend.float64 else 1e-4)


def test_the_information_of_probabilities() -> None:
    """Of two classes: one over the sum of ((L_1 - L_0) / (π_0 L_0 + π_1 L_1))²."""
    y_prob = RANDOM.beta(0.5, 1, 300)
    found = matrics.stats.estimate_prevalence(probabilities=y_prob, training_prevalence=0.4)
    likelihoods = np.stack([(1 - y_prob) / 0.6, y_prob / 0.4], -1)
    slope = (likelihoods[:, 1] - likelihoods[:, 0]) / (likelihoods @ found.prevalence)
    np.testing.assert_allclose(slope.sum(), 0, atol=1e-6)  # so it is the maximum
    variance = 1 / (slope**2).sum()
    np.testing.assert_allclose(found.covariance, variance * np.asarray([[1, -1], [-1, 1]]), rtol=1e-8)
    np.testing.assert_allclose(found.high[1], found.prevalence[1] + Z * math.sqrt(variance), rtol=1e-8)
    both = matrics.stats.estimate_prevalence(
        probabilities=np.stack([1 - y_prob, y_prob], -1), training_prevalence=[0.6, 0.4], level=0.9
    )
    np.testing.assert_allclose(both.prevalence, found.prevalence)
    assert both.high[1] < found.high[1]


# What there is no answer to -------------------------------------------------------------------------------------------


@pytest.mark.exhaustive(backend=["jax", "jax-x64"])
def test_one_bad_batch_element_spoils_no_other(backend: Any) -> None:
    good = [[190, 10], [20, 180]]
    stack = np.asarray([[[190, 10], [0, 0]], [[5, 5], [15, 15]], [[190, 10], [-1, 180]], good, good, good, good], float)
    counts = np.asarray([[860, 140]] * 3 + [[0, 0], [9, 1], [960, 40], [860, 140]], float)
    for method in ("adjusted", "em"):

        def estimate(cm: Any, given: Any, method: Any = method) -> Any:
            return tuple(counted(cm, given, method=method)[:5])

        found = backend.call(estimate, backend.asarray(stack), backend.asarray(counts))
        shares, _, low, high, status = (backend.numpy(x) for x in found)
        wanted = [
            IntervalStatus.EMPTY_CLASS,
            IntervalStatus.UNDETERMINED,
            IntervalStatus.INVALID,
            IntervalStatus.NO_SAMPLES,
            IntervalStatus.FEW_SAMPLES,
            IntervalStatus.AT_THE_EDGE,
            IntervalStatus.OK,
        ]
        assert status.tolist() == wanted
        assert np.isnan(shares[:4]).all()
        np.testing.assert_allclose(shares[5], [1, 0], atol=1e-7)
        assert low[5, 1] == 0 < high[5, 1]
        alone = counted(good, [860, 140])
        np.testing.assert_allclose([shares[6], low[6]], [alone.prevalence, alone.low], rtol=1e-4)


def test_probabilities_that_are_none() -> None:
    y_prob = np.full((6, 30, 2), 0.5)
    y_prob[0] = PROBABILITIES[:30, :2] / PROBABILITIES[:30, :2].sum(-1, keepdims=True)
    y_prob[1, 3, 1] = np.nan
    y_prob[2, 3, 1] = -0.1
    y_prob[3, 3] = 0
    y_prob[4] = [0.9, 0.1]
    found = matrics.stats.estimate_prevalence(probabilities=y_prob, training_prevalence=0.5)
    invalid, unknown = IntervalStatus.INVALID, IntervalStatus.UNDETERMINED
    assert found.status.tolist() == [0, invalid, invalid, invalid, IntervalStatus.AT_THE_EDGE, unknown]
    assert np.isnan(found.prevalence[[1, 2, 3, 5]]).all()
    nothing = matrics.stats.estimate_prevalence(probabilities=np.ones((0, 2)), training_prevalence=0.5)
    assert nothing.status == IntervalStatus.NO_SAMPLES
    few = matrics.stats.estimate_prevalence(probabilities=y_prob[0, :10], training_prevalence=0.5)
    assert few.status == IntervalStatus.FEW_SAMPLES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cm": CM}, "expected cm and predicted_counts, or probabilities= and training_prevalence="),
        ({"probabilities": PROBABILITIES}, "probabilities: expected training_prevalence= with them"),
        (
            {"cm": CM, "probabilities": PROBABILITIES, "training_prevalence": [0.5, 0.3, 0.2]},
            "^probabilities: expected",
        ),
        (
            {"probabilities": PROBABILITIES, "training_prevalence": [0.5, 0.3, 0.2], "method": "adjusted"},
            "not method='adjusted'",
        ),
        ({"cm": CM, "predicted_counts": [1, 2]}, r"predicted_counts: expected the number of predictions of each of 3"),
        ({"cm": CM[:2], "predicted_counts": [1, 2, 3]}, r"^cm: expected a matrix \(n, n\) or several"),
        ({"cm": CM, "predicted_counts": [1, 2, 3], "method": "median"}, "^method: expected one of 'auto', 'adjusted'"),
        ({"cm": CM, "predicted_counts": [1, 2, 3], "level": 2}, "^level: expected a number between 0 and 1"),
        ({"cm": [CM] * 2, "predicted_counts": [[1, 2, 3]] * 3}, "expected batches that broadcast"),
        (
            {"probabilities": PROBABILITIES, "training_prevalence": [0.5, 0.5, 0]},
            "^training_prevalence: .* above 0, got 0",
        ),
        (
            {"probabilities": PROBABILITIES, "training_prevalence": [0.5, 0.6, 0]},
            "^training_prevalence: .* add up to 1",
        ),
        (
            {"probabilities": PROBABILITIES, "training_prevalence": 0.5},
            "^training_prevalence: expected the share of each",
        ),
        ({"probabilities": [1, 0], "training_prevalence": 0.5}, "^probabilities: expected floating numbers"),
    ],
)
def test_what_makes_no_sense(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.stats.estimate_prevalence(**arguments)


# On every road, and in the functions that take it --------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.exhaustive(method=["em"])
@pytest.mark.parametrize("method", ["adjusted", "em"])
def test_compiled_and_mapped(method: Any) -> None:
    torch = pytest.importorskip("torch")
    stack = RANDOM.integers(1, 30, (4, 3, 3)) + 40 * np.eye(3, dtype=int)
    counts = RANDOM.integers(1, 300, (4, 3))

    def estimate(cm: Any, given: Any) -> Any:
        return tuple(counted(cm, given, method=method)[:5])

    wanted = counted(stack, counts, method=method)
    pair = torch.asarray(stack), torch.asarray(counts)
    compiled = torch.compile(estimate, fullgraph=True, dynamic=False, backend="aot_eager")(*pair)
    mapped = torch.func.vmap(estimate)(*pair)
    for found in (compiled, mapped):
        for ours, theirs in zip(found, wanted[:5], strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6, atol=1e-9)


def test_autocast_and_fake_tensors() -> None:
    """No product of matrices that autocast rounds, and no look at values."""
    torch = pytest.importorskip("torch")
    fake = pytest.importorskip("torch._subclasses.fake_tensor").FakeTensorMode
    cm = torch.tensor(CM, dtype=torch.float32, requires_grad=True)
    for method in ("adjusted", "em"):
        wanted = counted(CM, [700, 200, 100], method=method)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = counted(cm, torch.tensor([700.0, 200.0, 100.0]), method=method)
        np.testing.assert_allclose(found.prevalence.detach(), wanted.prevalence, rtol=1e-5)
        np.testing.assert_allclose(found.covariance.detach(), wanted.covariance, rtol=1e-4)
        with fake():
            assert counted(torch.ones(4, 3, 3), torch.ones(3), method=method).low.shape == (4, 3)
    with fake():
        assert matrics.transform.at_prevalence(torch.ones(4, 3, 3), torch.ones(3) / 3).shape == (4, 3, 3)


def test_gradients() -> None:
    """Of Rogan and Gladen's estimate by sensitivity: -π / (se + sp - 1)."""
    torch = pytest.importorskip("torch")
    se = torch.tensor(0.9, dtype=torch.float64, requires_grad=True)
    cm = torch.stack([torch.tensor([95.0, 5.0], dtype=torch.float64), 100 * torch.stack([1 - se, se])])
    value = (0.14 + 0.95 - 1) / 0.85
    for method in ("adjusted", "em"):
        se.grad = None
        counted(cm, torch.tensor([860.0, 140.0]), method=method).prevalence[1].backward(retain_graph=True)
        np.testing.assert_allclose(se.grad.item(), -value / 0.85, rtol=1e-4)


def test_an_estimate_goes_into_an_interval() -> None:
    """Its variance is the larger part here: PPV on the logit, by hand."""
    cm = np.asarray([[190, 10], [20, 180]])
    estimate = counted(cm * 1_000_000, [860, 140])
    found = matrics.interval(cm * 1_000_000, "ppv", prevalence=estimate, method="delta")["ppv"]
    share = estimate.prevalence[1]
    error = math.sqrt(estimate.covariance[1, 1]) / (share * (1 - share))
    logit = math.log(0.9 * share / (0.05 * (1 - share)))
    np.testing.assert_allclose(found.low, 1 / (1 + math.exp(-logit + Z * error)), rtol=1e-4)
    batch = counted([cm, [[9, 1], [0, 0]]], [[860, 140]] * 2)
    limits = matrics.interval([cm, cm], "ppv", prevalence=batch)["ppv"]
    assert limits.status.tolist() == [0, matrics.IntervalStatus.UNDEFINED]


def test_limits_cover() -> None:
    number, shares = 1500, np.asarray([0.9, 0.08, 0.02])
    rates = CM / CM.sum(1, keepdims=True)
    stack = np.stack([RANDOM.multinomial(100, row, number) for row in rates], 1)
    found = counted(stack, RANDOM.multinomial(1000, shares @ rates, number))
    covered = ((found.low <= shares) & (shares <= found.high)).mean(0)
    assert (covered > 0.93).all()


def test_the_same_matrix_moves_both() -> None:
    """PPV of a matrix at the prevalence that its own rates gave: by differences of all counts, in closed form."""
    cm, counts = np.asarray([[190, 10], [20, 180]]), np.asarray([860, 140])
    estimate = counted(cm, counts)

    def logit(cells: np.ndarray) -> float:
        tn, fp, fn, tp, negative, positive = cells
        se, sp, p = tp / (tp + fn), tn / (tn + fp), positive / (positive + negative)
        share = (p + sp - 1) / (se + sp - 1)
        return math.log(se * share / ((1 - sp) * (1 - share)))

    cells = np.r_[cm.ravel(), counts].astype(float)
    slope = np.asarray([(logit(cells + h) - logit(cells - h)) / 2e-4 for h in np.eye(6) * 1e-4])
    variance = 0.0
    for row in (slice(0, 2), slice(2, 4), slice(4, 6)):
        part, by = cells[row], slope[row]
        variance += (part * (by - (part * by).sum() / part.sum()) ** 2).sum()
    wanted = [1 / (1 + math.exp(-logit(cells) - side * Z * math.sqrt(variance))) for side in (-1, 1)]
    found = matrics.interval(cm, "ppv,sensitivity", prevalence=estimate, method="delta")
    np.testing.assert_allclose([found["ppv"].low, found["ppv"].high], wanted, rtol=1e-6)
    alone = PrevalenceEstimate(estimate.prevalence, estimate.covariance)
    apart = matrics.interval(cm, "ppv", prevalence=alone, method="delta")["ppv"]
    assert apart.low > found["ppv"].low  # as of two studies, whose errors are not the same
    other = matrics.interval(2 * cm, "ppv", prevalence=estimate, method="delta")["ppv"]
    unlike = matrics.interval(2 * cm, "ppv", prevalence=alone, method="delta")["ppv"]
    np.testing.assert_allclose(other[:4], unlike[:4])


def test_a_comparison_takes_an_estimate_as_independent() -> None:
    cm, other = np.asarray([[190, 10], [20, 180]]), np.asarray([[180, 20], [10, 190]])
    estimate = counted(cm, [860, 140])
    alone = PrevalenceEstimate(estimate.prevalence, estimate.covariance)
    joint = np.zeros((2, 2, 2))
    joint[0], joint[1] = [[175, 15], [5, 5]], [[5, 15], [5, 175]]
    for method in ("auto", "delta"):
        for function, tables in ((matrics.compare, (cm, other)), (matrics.compare_paired, (joint,))):
            found = function(*tables, "ppv", prevalence=estimate, method=method)["ppv"]
            wanted = function(*tables, "ppv", prevalence=alone, method=method)["ppv"]
            np.testing.assert_allclose(found[:5], wanted[:5])


def test_the_derivatives_by_the_cells() -> None:
    estimate = counted(CM, [700, 200, 100])
    for cell in np.ndindex(3, 3):
        ends = []
        for step in (1e-3, -1e-3):
            moved = CM.astype(float)
            moved[cell] += step
            ends.append(counted(moved, [700, 200, 100]).prevalence)
        np.testing.assert_allclose(estimate.by_cells[(..., *cell)], (ends[0] - ends[1]) / 2e-3, rtol=1e-5, atol=1e-9)


@pytest.mark.exhaustive(backend=["jax", "jax-x64"])
def test_an_estimate_of_another_library(backend: Any) -> None:
    def limits(cm: Any, counts: Any) -> Any:
        estimate = matrics.stats.estimate_prevalence(cm, counts)
        one = matrics.interval(cm, "accuracy", prevalence=estimate)["accuracy"]
        return one.estimate, one.low, one.high

    counts = np.asarray([700, 200, 100])
    found = backend.call(limits, backend.asarray(CM), backend.asarray(counts))
    tolerance = 1e-6 if backend.float64 else 2e-3
    np.testing.assert_allclose([float(backend.numpy(x)) for x in found], limits(CM, counts), rtol=tolerance)
