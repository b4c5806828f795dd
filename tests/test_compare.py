"""Comparisons of classifiers, with closed forms and statsmodels; McNemar; how many samples it takes."""

from __future__ import annotations

import importlib
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus

stats = pytest.importorskip("scipy.stats")

RANDOM = np.random.default_rng(2)
SAMPLES = 300
TRUE = RANDOM.integers(0, 3, SAMPLES)
A = np.where(RANDOM.random(SAMPLES) < 0.85, TRUE, RANDOM.integers(0, 3, SAMPLES))
B = np.where(
    RANDOM.random(SAMPLES) < 0.6, A, np.where(RANDOM.random(SAMPLES) < 0.6, TRUE, RANDOM.integers(0, 3, SAMPLES))
)
CM_A, CM_B = (matrics.confusion_matrix(TRUE, y, num_classes=3) for y in (A, B))
JOINT = matrics.stats.joint_confusion_matrix(TRUE, A, B, num_classes=3)
SPECS = ["accuracy", "recall:class", "mcc", "f1"]
METHODS = ["auto", "delta", "bootstrap", "bca", "posterior"]
DRAWING = METHODS[2:]


def options_of(method: str, num: int = 20_000) -> dict[str, Any]:
    return {"method": method, **({"rng": 0, "num": num} if method in DRAWING else {})}


# The joint table ------------------------------------------------------------------------------------------------------


def by_hand(true: Any, a: Any, b: Any, n: int) -> np.ndarray:
    joint = np.zeros((n, n, n), int)
    for cell in zip(true, a, b, strict=True):
        joint[cell] += 1
    return joint


def test_joint_counts(backend: Any) -> None:
    joint = backend.numpy(matrics.stats.joint_confusion_matrix(*map(backend.asarray, (TRUE, A, B)), num_classes=3))
    np.testing.assert_array_equal(joint, by_hand(TRUE, A, B, 3))
    np.testing.assert_array_equal(joint.sum(-1), CM_A)
    np.testing.assert_array_equal(joint.sum(-2), CM_B)
    batch = matrics.stats.joint_confusion_matrix(TRUE, np.stack([A, B]), B, num_classes=4)
    assert batch.shape == (2, 4, 4, 4)
    np.testing.assert_array_equal(batch[1, :3, :3, :3], by_hand(TRUE, B, B, 3))


def test_joint_labels() -> None:
    names = np.asarray(["cat", "dog", "owl"])
    found = matrics.stats.joint_confusion_matrix(names[TRUE], names[A].tolist(), names[B], labels=names)
    np.testing.assert_array_equal(found, JOINT)
    kept = TRUE != 2
    found = matrics.stats.joint_confusion_matrix(TRUE, A, B, num_classes=3, ignore_index=2)
    np.testing.assert_array_equal(found, by_hand(TRUE[kept], A[kept], B[kept], 3))
    for bad, name in (((TRUE + 1, A, B), "y_true"), ((TRUE, A - 1, B), "y_a"), ((TRUE, A, B + 1), "y_b")):
        with pytest.raises(ValueError, match=rf"{name}: expected labels in \[0, 3\)"):
            matrics.stats.joint_confusion_matrix(*bad, num_classes=3)
    with pytest.raises(ValueError, match="y_a: expected labels, which are whole numbers"):
        matrics.stats.joint_confusion_matrix(TRUE, A / 2, B, num_classes=3)
    with pytest.raises(ValueError, match=r"y_true \(300,\), y_a \(5,\), y_b \(300,\)"):
        matrics.stats.joint_confusion_matrix(TRUE, A[:5], B, num_classes=3)


def test_joint_under_jit_and_vmap() -> None:
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    wanted = by_hand(TRUE, A, B, 3)
    found = jax.jit(lambda *x: matrics.stats.joint_confusion_matrix(*x, num_classes=3))(
        *map(jax.numpy.asarray, (TRUE, A, B))
    )
    np.testing.assert_array_equal(found, wanted)
    stacked = [torch.as_tensor(x)[None] for x in (TRUE, A, B)]
    mapped = torch.func.vmap(lambda *x: matrics.stats.joint_confusion_matrix(*x, num_classes=3))(*stacked)
    np.testing.assert_array_equal(mapped[0], wanted)


# McNemar --------------------------------------------------------------------------------------------------------------


def test_mcnemar_beside_statsmodels() -> None:
    peer = pytest.importorskip("statsmodels.stats.contingency_tables").mcnemar
    right_a, right_b = A == TRUE, B == TRUE
    table = [
        [(right_a & right_b).sum(), (right_a & ~right_b).sum()],
        [(~right_a & right_b).sum(), (~right_a & ~right_b).sum()],
    ]
    for exact in (True, False):
        found, wanted = matrics.stats.mcnemar(JOINT, exact=exact), peer(table, exact=exact)
        np.testing.assert_allclose(found, (wanted.statistic, wanted.pvalue), rtol=1e-9)
    only_a, only_b = table[0][1], table[1][0]
    law = stats.binom(only_a + only_b, 0.5)
    mid = 2 * law.cdf(min(only_a, only_b)) - law.pmf(min(only_a, only_b))
    np.testing.assert_allclose(matrics.stats.mcnemar(JOINT, mid_p=True)[1], mid, rtol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("only_a", [0, 1, 2, 5, 20])
@pytest.mark.parametrize("only_b", [0, 1, 3, 5, 20])
def test_mid_p_in_fractions(only_a: int, only_b: int) -> None:
    """Every table that is less probable, and half of those that are as probable: two, or one where both are equal."""
    table = np.zeros((2, 2, 2), int)
    table[0, 0, 1], table[0, 1, 0] = only_a, only_b  # true, a, b
    number = only_a + only_b
    ours = [Fraction(math.comb(number, k), 2**number) for k in range(number + 1)]
    seen = ours[only_a]
    wanted = sum(p for p in ours if p < seen) + sum(p for p in ours if p == seen) / 2
    found = matrics.stats.mcnemar(table, mid_p=True).p_value
    np.testing.assert_allclose(found, float(wanted) if number else 1, rtol=1e-12)
    if only_a == only_b == 1:
        assert found == 0.75


@pytest.mark.sampled(2)
def test_mcnemar_at_the_ends(backend: Any) -> None:
    """Without samples that only one predicts correctly the p-value is 1; without mid-p also where both have as many."""
    table = np.zeros((4, 2, 2, 2), int)
    table[1, 0, 0, 0] = table[1, 1, 0, 0] = 9
    table[2, 0, 0, 1] = table[2, 1, 0, 1] = 7
    table[3, 0, 0, 1] = 10
    for options in ({}, {"mid_p": True}, {"exact": False}):
        _, p_value = matrics.stats.mcnemar(backend.asarray(table), **options)
        p_value = backend.numpy(p_value)
        law = stats.binom(14, 0.5)
        even = 1 - law.pmf(7) / 2 if options.get("mid_p") else 1
        np.testing.assert_allclose(p_value[:3], [1, 1, even], rtol=1e-6)
        assert p_value[3] < 0.01
    huge = np.zeros((2, 2, 2, 2))
    huge[0, 0, 0, 1], huge[0, 1, 0, 1] = 1e10, 1e10 + 4e5
    huge[1] = math.nan
    for exact in (True, False):
        found = backend.numpy(matrics.stats.mcnemar(backend.asarray(huge), exact=exact)[1])
        assert np.isnan(found[1])
        if backend.float64:
            np.testing.assert_allclose(found[0], stats.chi2.sf(4e5**2 / (2e10 + 4e5), 1), rtol=1e-3)
    with pytest.raises(ValueError, match="mid_p: expected False"):
        matrics.stats.mcnemar(table, exact=False, mid_p=True)
    for marginal in (CM_A, np.stack([CM_A, CM_B])):
        with pytest.raises(
            ValueError, match=r"joint: expected counts .*matrics.stats.joint_confusion_matrix\(y_true, y_a"
        ):
            matrics.stats.mcnemar(marginal)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", [{}, {"mid_p": True}, {"exact": False}])
def test_mcnemar_refuses_weights(options: dict[str, bool], backend: Any) -> None:
    """With weights that sum to one all samples would count as one; rounding of sums is no weight."""
    table = np.zeros((2, 2, 2, 2))
    table[:, 1, 1, 0] = 3  # true, a, b
    table[:, 1, 1, 1] = 5
    wanted = matrics.stats.mcnemar(table, **options)
    whole = matrics.stats.mcnemar(table.astype(int), **options)
    np.testing.assert_allclose(wanted, whole, rtol=1e-12)
    if options == {}:
        np.testing.assert_allclose(wanted.p_value, 2 * 0.5**3, rtol=1e-12)
    near = matrics.stats.mcnemar(backend.asarray(table * (1 + 1e-7)), **options)
    np.testing.assert_allclose(backend.numpy(near.p_value), wanted.p_value, rtol=1e-5)
    table[1] /= 8
    message = r"joint: .* the cell 0\.375 at \(1, 1, 1, 0\); for weighted .*compare_paired\(joint, 'accuracy', s"
    with pytest.raises(ValueError, match=message):
        matrics.stats.mcnemar(backend.asarray(table), **options)


def test_mcnemar_of_weights_in_compiled_code() -> None:
    jax = pytest.importorskip("jax")
    table = np.zeros((3, 2, 2, 2))
    table[:, 1, 1, 0] = 3, 0.375, math.nan
    found = jax.jit(lambda x: tuple(matrics.stats.mcnemar(x, exact=False)))(jax.numpy.asarray(table))
    np.testing.assert_array_equal(np.isnan(found), [[False, True, True]] * 2)
    np.testing.assert_allclose(found[0][0], (3 - 1) ** 2 / 3, rtol=1e-6)


# Independent samples --------------------------------------------------------------------------------------------------


def test_shares_beside_newcombe() -> None:
    confint = pytest.importorskip("statsmodels.stats.proportion").confint_proportions_2indep
    found = matrics.compare(CM_A, CM_B, "accuracy")["accuracy"]
    hits = np.trace(CM_A), np.trace(CM_B)
    limits = confint(hits[0], SAMPLES, hits[1], SAMPLES, method="newcomb", compare="diff")
    np.testing.assert_allclose(found[1:3], limits, rtol=1e-12)
    p, q = (hit / SAMPLES for hit in hits)
    np.testing.assert_allclose(found.standard_error, math.sqrt((p * (1 - p) + q * (1 - q)) / SAMPLES), rtol=1e-12)
    reach = (p - q - limits[0]) / stats.norm.ppf(0.975)  # as a standard error on the side of 0
    np.testing.assert_allclose(found.probability, stats.norm.cdf((p - q) / reach), rtol=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", METHODS)
def test_methods_agree_in_large_samples(method: str) -> None:
    exact = matrics.compare(40 * CM_A, 40 * CM_B, SPECS, method="delta")
    found = matrics.compare(40 * CM_A, 40 * CM_B, SPECS, **options_of(method))
    paired = matrics.compare_paired(40 * JOINT, SPECS, **options_of(method))
    by_delta = matrics.compare_paired(40 * JOINT, SPECS, method="delta")
    for one, other in ((found, exact), (paired, by_delta)):
        for name in SPECS:
            for field in ("difference", "low", "high", "standard_error"):
                np.testing.assert_allclose(getattr(one[name], field), getattr(other[name], field), atol=0.0015)
    for name in SPECS:
        wide = paired[name].unpaired_width
        np.testing.assert_allclose(wide, found[name].high - found[name].low, atol=0.002)
        assert (paired[name].high - paired[name].low < wide).all()


def test_probability_and_limits_agree() -> None:
    """Without draws the probability is beyond that of the level where, and only where, limits exclude 0."""
    stack = RANDOM.integers(0, 30, (2, 300, 2, 2)) + np.eye(2, dtype=int) * 20
    joint = RANDOM.integers(0, 12, (300, 2, 2, 2))
    for found in (matrics.compare(*stack, SPECS), matrics.compare_paired(joint, SPECS, level=0.95)):
        for one in found.values():
            known = ~np.isnan(one.low)
            apart = (one.low > 0) | (one.high < 0)
            beyond = (one.probability > 0.975) | (one.probability < 0.025)
            sure = np.abs(np.abs(one.probability - 0.5) - 0.475) > 1e-9
            assert (apart == beyond)[known & sure].all()
    clusters = np.stack([np.asarray([[[40, 8], [2, 3]], [[3, 2], [4, 38]]])] * 5)
    one = matrics.compare_paired(clusters, "accuracy", cluster_axis=0)["accuracy"]
    assert one.low < 0 < one.high
    assert 0.5 < one.probability < 0.975


def test_invalid_tables_are_named() -> None:
    bad = np.stack([CM_A, CM_A]).astype(float)
    bad[1, 0, 0] = -1
    with pytest.warns(RuntimeWarning, match="1 of 2 matrices b are invalid, the first at 1"):
        matrics.compare(CM_A, bad, "mcc")
    with pytest.warns(RuntimeWarning, match="1 of 1 joint tables are invalid, the first at 0"):
        matrics.compare_paired(-JOINT, "mcc")
    with pytest.raises(ValueError, match=r"expected batches that broadcast, got \(3,\) in a and \(4,\) in b"):
        matrics.compare(np.ones((3, 2, 2)), np.ones((4, 2, 2)))
    prior = {"method": "posterior", "num": 200, "rng": 0}
    plain = matrics.compare_paired(JOINT, "mcc", prior=0.5, **prior)["mcc"]
    array = matrics.compare_paired(JOINT, "mcc", prior=np.full((3, 3, 3), 0.5), **prior)["mcc"]
    np.testing.assert_array_equal(np.asarray(plain), np.asarray(array))
    with pytest.raises(ValueError, match=r"prior: expected a number or an array \(3, 3, 3\), got shape \(3, 9\)"):
        matrics.compare_paired(JOINT, "mcc", prior=np.ones((3, 9)), **prior)
    with pytest.raises(ValueError, match=r"joint: expected counts, .* at \(0, 0, 0\)"):
        matrics.compare_paired(JOINT + 0.5, "mcc", method="bootstrap")


def test_which_is_better() -> None:
    """Where lower is better, the probability is that of being lower; where neither is, there is none."""
    for method in ("auto", "bootstrap", "posterior"):
        found = matrics.compare(CM_A, CM_B, ["accuracy", "zero_one_loss", "prevalence"], **options_of(method))
        np.testing.assert_allclose(found["accuracy"].probability, found["zero_one_loss"].probability, atol=1e-9)
        np.testing.assert_allclose(found["accuracy"].difference, -found["zero_one_loss"].difference)
        assert np.isnan(found["prevalence"].probability)
        assert found["accuracy"].probability > 0.5


def test_clusters_of_either() -> None:
    a = RANDOM.integers(1, 20, (30, 2, 2))
    b = RANDOM.integers(1, 20, (12, 2, 2))
    for method in ("auto", "delta", "bootstrap"):
        found = matrics.compare(a, b, "accuracy", cluster_axis=0, **options_of(method))["accuracy"]
        parts = [
            matrics.interval(x, "accuracy", cluster_axis=0, method="delta")["accuracy"].standard_error for x in (a, b)
        ]
        np.testing.assert_allclose(found.standard_error, math.hypot(*parts), rtol=0.1)
        assert found.low < found.difference < found.high
    for method in ("bca", "posterior"):
        with pytest.raises(ValueError, match=r"with clusters|scheme: expected for method='posterior'"):
            matrics.compare(a, b, "accuracy", cluster_axis=0, method=method)


# The same samples -----------------------------------------------------------------------------------------------------


def test_paired_shares_in_closed_form() -> None:
    """The variance of b - c discordant samples of N, and that of a bootstrap of the samples themselves."""
    only_a, only_b = ((A == TRUE) & (B != TRUE)).sum(), ((A != TRUE) & (B == TRUE)).sum()
    gap = (only_a - only_b) / SAMPLES
    error = math.sqrt(((only_a + only_b) / SAMPLES - gap**2) / SAMPLES)
    found = matrics.compare_paired(JOINT, "accuracy", method="delta")["accuracy"]
    np.testing.assert_allclose(found.difference, gap)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-7)
    np.testing.assert_allclose(found[1:3], gap + stats.norm.ppf(0.975) * error * np.asarray([-1, 1]), rtol=1e-7)


def test_paired_mcc_beside_resampled_samples() -> None:
    """Itaya et al. 2024 have the delta method for it; here both are with the samples, resampled."""
    some = RANDOM.integers(0, SAMPLES, (4000, SAMPLES))
    gaps = np.subtract(*(matrics.mcc(matrics.confusion_matrix(TRUE[some], y[some], num_classes=3)) for y in (A, B)))
    for method in METHODS:
        found = matrics.compare_paired(JOINT, "mcc", **options_of(method))["mcc"]
        np.testing.assert_allclose(found.standard_error, gaps.std(), rtol=0.06)
        np.testing.assert_allclose(found[1:3], np.quantile(gaps, [0.025, 0.975]), atol=0.012)


def test_the_same_predictions_twice() -> None:
    """There is no difference, and no method knows more."""
    joint = matrics.stats.joint_confusion_matrix(TRUE, A, A, num_classes=3)
    for method in ("delta", "bootstrap", "bca"):
        found = matrics.compare_paired(joint, "mcc", **options_of(method))["mcc"]
        assert found.difference == 0
        assert np.isnan(found.low)
        assert found.status == IntervalStatus.NO_VARIATION


def test_paired_clusters() -> None:
    names = np.arange(SAMPLES) % 25
    joint = np.stack([by_hand(TRUE[names == k], A[names == k], B[names == k], 3) for k in range(25)])
    found = {
        m: matrics.compare_paired(joint, "accuracy", cluster_axis=0, **options_of(m))["accuracy"] for m in METHODS[:4]
    }
    size = np.bincount(names)
    gap = np.asarray([((A == TRUE) * 1.0 - (B == TRUE))[names == k].sum() for k in range(25)])
    away = (gap - found["delta"].difference * size) / SAMPLES
    np.testing.assert_allclose(found["delta"].standard_error, math.sqrt((away**2).sum() * 25 / 24), rtol=1e-7)
    for method in ("bootstrap", "bca"):
        np.testing.assert_allclose(found[method].standard_error, found["delta"].standard_error, rtol=0.06)
    moved = matrics.compare_paired(np.moveaxis(np.stack([joint, joint]), 1, 0), "mcc", cluster_axis=0)["mcc"]
    assert moved.low.shape == (2,)


# Both -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_shapes_invalid_and_empty(method: str) -> None:
    a = np.stack([CM_A, CM_A, 0 * CM_A]).astype(float)
    a[1, 0, 0] = -1
    with pytest.warns(RuntimeWarning, match="4 of 12 matrices a are invalid, the first at 4"):
        found = matrics.compare(a[:, None], np.stack([CM_B] * 4), SPECS, **options_of(method, 200))
    assert found["mcc"].low.shape == (3, 4)
    assert found["recall:class"].probability.shape == (3, 4, 3)
    assert (found["mcc"].status[1] == IntervalStatus.INVALID).all()
    assert (found["mcc"].status[2] == IntervalStatus.UNDEFINED).all()
    assert np.isfinite(np.asarray(found["mcc"])[:, 0]).all()
    for shape in ((0,), (2, 0)):
        none = np.zeros((*shape, 3, 3), int)
        assert matrics.compare(none, CM_B, SPECS, **options_of(method, 20))["recall:class"].high.shape == (*shape, 3)
        pairs = np.zeros((*shape, 3, 3, 3), int)
        assert matrics.compare_paired(pairs, SPECS, **options_of(method, 20))["mcc"].unpaired_width.shape == shape


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_roads(jit: bool) -> None:  # noqa: FBT001
    """Plain tensors as NumPy; under jit to the digits of float32."""
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    wanted, paired = (
        matrics.compare(CM_A, CM_B, ["accuracy", "mcc"]),
        matrics.compare_paired(JOINT, ["accuracy", "mcc"]),
    )
    found = matrics.compare(torch.as_tensor(CM_A), torch.as_tensor(CM_B), ["accuracy", "mcc"])
    assert all(np.array_equal(x, y) for name in wanted for x, y in zip(found[name], wanted[name], strict=True))
    if not jit:
        return
    of_jax = jax.jit(lambda a, b: matrics.compare(a, b, ["accuracy", "mcc"]))(CM_A, CM_B)
    pairs = jax.jit(lambda joint: matrics.compare_paired(joint, ["accuracy", "mcc"]))(JOINT)
    for name in wanted:
        np.testing.assert_allclose(of_jax[name], np.asarray(wanted[name]), atol=2e-4)
        np.testing.assert_allclose(pairs[name], np.asarray(paired[name]), atol=2e-4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: matrics.compare(CM_A, CM_B[:2, :2]), ValueError, "same classes, got 3 in a and 2 in b"),
        (lambda: matrics.compare(CM_A, CM_B[0]), ValueError, "b: expected a confusion matrix"),
        (
            lambda: matrics.compare(CM_A, CM_B, method="wilson"),
            ValueError,
            "method: expected one of 'auto', 'bootstrap'",
        ),
        (lambda: matrics.compare(CM_A, CM_B, method="delta", rng=0), ValueError, "rng: expected None"),
        (lambda: matrics.compare(CM_A, CM_B, level=2), ValueError, "level: expected a number between 0 and 1"),
        (lambda: matrics.compare(CM_A + 0.5, CM_B, method="bca"), ValueError, "draws samples"),
        (
            lambda: matrics.compare_paired(CM_A),
            ValueError,
            r"joint: expected counts .*, got shape \(3, 3\); two confusion",
        ),
        (lambda: matrics.compare_paired(JOINT * 1j), TypeError, "joint: expected counts, got dtype complex128"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("paired", [False, True])
def test_differences_are_covered(paired: bool) -> None:  # noqa: FBT001
    """95 % limits hold the true difference in 93 of 100 data sets and more, where the pairs matter and where not."""
    shares = JOINT / JOINT.sum()
    specs = ["accuracy", "mcc", "f1", "recall:class"]
    exact = [matrics.score(shares.sum(axis), specs) for axis in (-1, -2)]
    draws = np.random.default_rng(0).multinomial(300, shares.ravel(), size=(2, 1500)).reshape(2, -1, 3, 3, 3)
    if paired:
        found = matrics.compare_paired(draws[0], specs)
    else:
        found = matrics.compare(draws[0].sum(-1), draws[1].sum(-2), specs)
    for name in specs:
        gap = exact[0][name] - exact[1][name]
        held = ((found[name].low <= gap) & (gap <= found[name].high)).mean(0)
        assert (held >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / 1500)).all(), (name, held)


# Many models ----------------------------------------------------------------------------------------------------------


def noisy(rate: float, random: Any, true: np.ndarray) -> np.ndarray:
    return np.where(random.random(len(true)) < rate, true, (true + 1) % 3)


def test_models_beside_pairs() -> None:
    """Intervals, standard errors and probabilities are those of the models alone and by twos."""
    predictions = np.stack([A, B, TRUE, np.zeros_like(TRUE)])
    found = matrics.compare_models(TRUE, predictions, SPECS, num_classes=3, num=8000, rng=0)
    for name in SPECS:
        one = found[name]
        alone = matrics.interval(matrics.confusion_matrix(TRUE, predictions, num_classes=3), name)[name]
        np.testing.assert_array_equal(one.intervals.low, alone.low)
        pair = matrics.compare_paired(JOINT, name, method="bootstrap", num=20_000, rng=1)[name]
        np.testing.assert_allclose(one.differences.difference[0, 1], pair.difference)
        np.testing.assert_allclose(one.differences.standard_error[0, 1], pair.standard_error, rtol=0.05)
        np.testing.assert_allclose(one.differences.low[0, 1], pair.low, atol=0.012)
        np.testing.assert_allclose(one.differences.probability[0, 1], pair.probability, atol=0.02)
        above = one.differences.probability[:3, :3]  # of the last one MCC is undefined
        np.testing.assert_allclose(above + np.swapaxes(above, 0, 1), 1)
        np.testing.assert_allclose(one.probability_best.sum(0), 1)
        assert (one.probability_best[2] > 0.99).all() or name == "recall:class"
    assert found["mcc"].tied.tolist() == [False, False, True, False]


def test_seeds_workers_labels_and_clusters() -> None:
    predictions = np.stack([A, B])
    options: dict[str, Any] = {"num": 600, "rng": 3}
    one = matrics.compare_models(TRUE, predictions, "mcc", num_classes=3, **options)["mcc"]
    names = np.asarray(["x", "y", "z"])
    same = matrics.compare_models(names[TRUE], names[predictions], "mcc", labels=names.tolist(), workers=2, **options)[
        "mcc"
    ]
    for mine, other in zip(one.differences, same.differences, strict=True):
        np.testing.assert_array_equal(mine, other)
    # Each sample three times: of clusters nothing changes, and without them all seems surer.
    copies = [np.repeat(x, 3, axis=-1) for x in (TRUE, predictions)]
    clustered = matrics.compare_models(
        *copies, "mcc", num_classes=3, clusters=np.repeat(np.arange(SAMPLES), 3), num=4000, rng=0
    )
    alone = matrics.compare_models(TRUE, predictions, "mcc", num_classes=3, num=4000, rng=0)
    wrong = matrics.compare_models(*copies, "mcc", num_classes=3, num=4000, rng=0)
    errors = [x["mcc"].differences.standard_error[0, 1] for x in (clustered, alone, wrong)]
    np.testing.assert_allclose(errors[0], errors[1], rtol=0.05)
    np.testing.assert_allclose(errors[2], errors[1] / math.sqrt(3), rtol=0.05)


def test_replicates_are_counted_in_parts_where_they_would_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts have the same values as the whole."""
    counted: list[int] = []
    draws = importlib.import_module("matrics._uncertainty.model_samples")
    count = draws.Draws.matrices

    def counting(self: Any, weights: Any) -> Any:
        counted.append(len(weights))
        return count(self, weights)

    monkeypatch.setattr(draws.Draws, "matrices", counting)
    options: dict[str, Any] = {"num_classes": 3, "num": 300, "rng": 0}
    whole = matrics.compare_models(TRUE, [A, B], "mcc", **options)["mcc"]
    monkeypatch.setattr(draws, "CELLS_AT_ONCE", 100 * 2 * 9)
    parts = matrics.compare_models(TRUE, [A, B], "mcc", **options)["mcc"]
    assert counted == [256, 44, 100, 100, 56, 44]
    np.testing.assert_array_equal(parts.differences.low, whole.differences.low)
    np.testing.assert_array_equal(parts.probability_best, whole.probability_best)


@pytest.mark.parametrize("sets", [60, pytest.param(400, marks=pytest.mark.exhaustive)])
def test_the_best_model_is_among_the_tied(sets: int) -> None:
    """Although it is looked for among six of nearly the same quality; and a bad one mostly is not."""
    rates = [0.8, 0.79, 0.78, 0.78, 0.77, 0.5]
    held = bad = 0
    for seed in range(sets):
        random = np.random.default_rng(seed)
        true = random.integers(0, 3, 200)
        predictions = np.stack([noisy(rate, random, true) for rate in rates])
        tied = matrics.compare_models(true, predictions, "accuracy", num_classes=3, num=500, rng=seed)["accuracy"].tied
        held, bad = held + tied[0], bad + tied[-1]
    assert held / sets > 0.95 - 3 * math.sqrt(0.05 * 0.95 / sets)
    assert bad / sets < 0.05


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((TRUE, A), {"num_classes": 3}, ValueError, r"by M models \(M, N\), got y_true \(300,\), y_pred \(300,\)"),
        ((TRUE, [A[:5]]), {"num_classes": 3}, ValueError, r"y_pred \(1, 5\)"),
        ((TRUE, [A]), {}, TypeError, "either num_classes=.*got neither"),
        ((TRUE, [A + 1]), {"num_classes": 3}, ValueError, r"y_pred: expected labels in \[0, 3\)"),
        (
            (TRUE, [A], "prevalence"),
            {"num_classes": 3},
            ValueError,
            "with a better direction, got prev",
        ),
        (
            (TRUE, [A]),
            {"num_classes": 3, "clusters": [1, 2]},
            ValueError,
            r"clusters: expected a value for each sample",
        ),
        ((TRUE, [A]), {"num_classes": 3, "clusters": 0 * TRUE}, ValueError, "clusters: expected at least two, got 1"),
        ((TRUE, [A]), {"num_classes": 3, "clusters": np.where(TRUE, TRUE, np.nan)}, ValueError, "got nan at"),
        ((TRUE, [A]), {"num_classes": 3, "clusters": [None] * SAMPLES}, ValueError, "got None at 0"),
        (([], np.zeros((2, 0), int)), {"num_classes": 3}, ValueError, r"got y_true \(0,\), y_pred \(2, 0\)"),
        ((TRUE, [A]), {"num_classes": 3, "num": 0}, ValueError, "num: expected an integer of at least 1"),
        ((TRUE, [A]), {"num_classes": 3, "level": 1}, ValueError, "level: expected a number between 0 and 1"),
    ],
)
def test_bad_models(arguments: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.compare_models(*arguments, **options)


def test_models_of_which_little_is_known() -> None:
    """Of a few samples, or clusters, nobody is told apart; an undefined best one is nobody's."""
    for number in (1, 4, 19):
        true = np.arange(number) % 2
        one = matrics.compare_models(true, [true, 1 - true], "accuracy", num_classes=2, num=200, rng=0)["accuracy"]
        assert one.tied.all(), number
        assert one.differences.status[0, 1] == IntervalStatus.NO_VARIATION
    true = np.arange(40) % 2
    one = matrics.compare_models(true, [true, 1 - true], "accuracy", num_classes=2, num=200, rng=0)["accuracy"]
    assert one.tied.tolist() == [True, False]
    none = matrics.compare_models([0, 0], [[0, 0], [0, 1]], "mcc", num_classes=2, num=200, rng=0)["mcc"]
    assert np.isnan(none.probability_best).all()
    assert not none.tied.any()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("units", [2, 5])
def test_few_clusters_seldom_tell_equal_models_apart(units: int) -> None:
    random, sets, found = np.random.default_rng(0), 80, 0
    for seed in range(sets):
        true = random.integers(0, 2, 40 * units)
        names = np.repeat(np.arange(units), 40)
        predictions = np.where(random.random((2, true.size)) < 0.8, true, 1 - true)
        options: Any = {"num_classes": 2, "clusters": names, "num": 300, "rng": seed}
        found += not matrics.compare_models(true, predictions, "accuracy", **options)["accuracy"].tied.all()
    assert found / sets < 0.05 + 3 * math.sqrt(0.05 * 0.95 / sets)


# How many samples -----------------------------------------------------------------------------------------------------


def test_samples_for_a_width() -> None:
    """The textbook's number for a proportion; of the other measures the interval of so many samples has the width."""
    z = stats.norm.ppf(0.975)
    shares = CM_A / CM_A.sum()
    p = np.trace(shares)
    number = float(matrics.stats.samples_needed(shares, "accuracy", half_width=0.02))
    assert number == pytest.approx(z**2 * p * (1 - p) / 0.02**2, abs=z**2 + 1)
    for name in ("mcc", "f1", "cohen_kappa", "recall:class"):
        needed = matrics.stats.samples_needed(CM_A, name, half_width=0.01, level=0.9)
        for k, number in enumerate(np.ravel(needed)):
            one = matrics.interval(shares * number, name, level=0.9)[name]
            width = np.ravel(one.high - one.low)[k]
            np.testing.assert_allclose(width / 2, 0.01, rtol=0.001)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("errors", [0, 1, 20, 500])
@pytest.mark.parametrize("half_width", [0.01, 0.05, 0.3, 0.6])
def test_samples_for_wilsons_interval(errors: int, half_width: float) -> None:
    """Without errors as well: the fewest samples for which statsmodels' formula, written out, is as narrow."""
    z, p = stats.norm.ppf(0.975), 1 - errors / 1000

    def reach(number: float) -> float:
        return z / (1 + z**2 / number) * math.sqrt(p * (1 - p) / number + z**2 / (4 * number**2))

    number = float(matrics.stats.samples_needed([[1000 - errors, errors], [0, 0]], "accuracy", half_width=half_width))
    assert number >= 1
    assert reach(number) <= half_width * (1 + 1e-9)
    assert number == 1 or reach(number - 1) > half_width
    of_classes = matrics.stats.samples_needed(np.diag([250, 750]), "recall:class", half_width=half_width)
    alone = z**2 * (1 - 2 * half_width) / (2 * half_width)  # of the recall alone, by hand
    np.testing.assert_array_equal(of_classes, np.maximum(np.ceil(alone / np.asarray([0.25, 0.75])), 1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("metric", ["mcc", "f1", "eve", "cen", "cohen_kappa"])
def test_samples_of_a_pilot_study_without_errors_are_unknown(metric: str) -> None:
    """Not 0: no sample at all would do then. Of a difference they are unknown for a proportion as well."""
    perfect = np.diag([30, 40, 50])
    assert np.isnan(matrics.stats.samples_needed(perfect, metric, half_width=0.05))
    assert np.isnan(matrics.stats.samples_needed(perfect, metric, difference=0.05))
    assert np.isnan(matrics.stats.samples_needed(perfect, "accuracy", difference=0.05))


@pytest.mark.parametrize("metric", ["f1", "mcc", "recall[0]", "cohen_kappa"])
def test_samples_of_a_good_classifier_are_those_of_its_interval(metric: str) -> None:
    """With few errors, limits are wider than the variance says."""
    shares = np.array([[0.33, 0.002, 0.001], [0.002, 0.33, 0.002], [0.001, 0.002, 0.33]])
    number = float(matrics.stats.samples_needed(shares, metric, half_width=0.01))
    for factor, is_wide in ((1.0, False), (0.99, True)):
        (one,) = matrics.interval(shares / shares.sum() * number * factor, metric, invalid="nan").values()
        assert ((one.high - one.low) / 2 > 0.01 * (1 + 1e-6)) == is_wide


def test_samples_for_a_difference_of_the_same_samples() -> None:
    """By simulation: with so many samples the difference is found in 80 of 100 cases."""
    shares = JOINT / JOINT.sum()
    a, b = shares.sum(-1), shares.sum(-2)
    gap = float(abs(matrics.mcc(a) - matrics.mcc(b)))
    number = int(matrics.stats.samples_needed(a, "mcc", difference=gap, paired=JOINT))
    draws = np.random.default_rng(1).multinomial(number, shares.ravel(), size=1500).reshape(-1, 3, 3, 3)
    found = matrics.compare_paired(draws, "mcc")["mcc"]
    power = ((found.low > 0) | (found.high < 0)).mean()
    assert abs(power - 0.8) < 0.045, power


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("p", "difference"), [(0.98, 0.015), (0.9, 0.05), (0.99, 0.008), (0.7, 0.05), (0.97, 0.05)])
def test_samples_for_a_difference_of_accuracies(p: float, difference: float) -> None:
    """By exact enumeration: the power is 80 % where the second is worse, and more where it is better."""
    number = int(matrics.stats.samples_needed([[p, 1 - p], [0, 0]], "accuracy", difference=difference))

    def power(other: float) -> float:
        laws = [stats.binom(number, share) for share in (p, other)]
        hits = [np.arange(law.ppf(1e-6), law.ppf(1 - 1e-6) + 1) for law in laws]
        one, two = np.meshgrid(*hits, indexing="ij")
        tables = [np.stack([x, number - x, 0 * x, 0 * x], axis=-1).reshape(*x.shape, 2, 2) for x in (one, two)]
        found = matrics.compare(*tables, "accuracy")["accuracy"]
        shown = (found.low > 0) | (found.high < 0)
        return float(laws[0].pmf(hits[0]) @ shown @ laws[1].pmf(hits[1]))

    assert abs(power(p - difference) - 0.8) < 0.015
    if p + difference <= 1:
        assert power(p + difference) > 0.8


def test_samples_for_a_difference_of_a_measure() -> None:
    """Of MCC by simulation, against a model with more errors in each class, and a lower MCC by the difference."""
    a = np.array([[0.68, 0.02], [0.03, 0.27]])
    number = int(matrics.stats.samples_needed(a, "mcc", difference=0.05))
    low, high = 1.0, 3.0
    for _ in range(50):
        factor = (low + high) / 2
        more = np.array([[0.7 - 0.02 * factor, 0.02 * factor], [0.03 * factor, 0.3 - 0.03 * factor]])
        low, high = (low, factor) if matrics.mcc(more) < matrics.mcc(a) - 0.05 else (factor, high)
    random = np.random.default_rng(1)
    draws = (random.multinomial(number, cells.ravel(), size=3000).reshape(-1, 2, 2) for cells in (a, more))
    found = matrics.compare(*draws, "mcc")["mcc"]
    assert abs((found.low > 0).mean() - 0.8) < 0.03


@pytest.mark.exhaustive
def test_samples_of_stacks_and_on_roads(backend: Any) -> None:
    stack = np.stack([CM_A, np.diag([3, 4, 5]), 0 * CM_A]).astype(float)
    found = backend.numpy(matrics.stats.samples_needed(backend.asarray(stack), "mcc", half_width=0.05))
    assert found.shape == (3,)
    assert found[0] > 100
    assert np.isnan(found[1:]).all()  # no errors, and no samples
    jax = pytest.importorskip("jax")
    traced = jax.jit(lambda cm: matrics.stats.samples_needed(cm, "mcc", half_width=0.05))(stack)
    assert 0.9 * found[0] < traced[0] <= found[0]  # by the variance alone, as on a device
    shares = backend.numpy(matrics.stats.samples_needed(backend.asarray(stack[:2]), "accuracy", half_width=0.05))
    of_jit = jax.jit(lambda cm: matrics.stats.samples_needed(cm, "accuracy", half_width=0.05))(stack[:2])
    np.testing.assert_allclose(of_jit, shares, atol=1)
    assert shares[1] == 35
    assert matrics.stats.samples_needed(np.zeros((0, 3, 3)), "recall:class", half_width=0.1).shape == (0, 3)


@pytest.mark.exhaustive
def test_samples_beyond_what_integers_hold() -> None:
    """A huge number is a huge floating number, on every road, and no negative one."""
    jax = pytest.importorskip("jax")
    for metric, width in itertools.product(("mcc", "accuracy"), (1e-12, 1e-200)):
        options = {"half_width": width}
        assert matrics.stats.samples_needed(CM_A, metric, **options) > 2.0**62
        assert matrics.stats.samples_needed(jax.numpy.asarray(CM_A), metric, **options) > 2.0**62
        assert jax.jit(lambda cm: matrics.stats.samples_needed(cm, metric, **options))(CM_A) > 2.0**62  # noqa: B023
    for wrong in (np.ones((2, 2, 2)), np.ones((2, 3, 3, 3))):
        with pytest.raises(ValueError, match=r"paired: expected joint tables .*\(3, 3, 3\), got"):
            matrics.stats.samples_needed(CM_A, "mcc", difference=0.1, paired=wrong)


def test_samples_of_bad_options() -> None:
    cases: list[Any] = [
        {},
        {"half_width": 0.1, "difference": 0.1},
        {"half_width": 0},
        {"difference": -1},
        {"half_width": "x"},
    ]
    cases += [{"half_width": 0.1, "paired": JOINT}, {"half_width": 0.1, "level": 0}, {"difference": 0.1, "power": 1}]
    for options in cases:
        with pytest.raises(ValueError, match="expected"):
            matrics.stats.samples_needed(CM_A, "mcc", **options)
    for power, level in itertools.product((0.5, 0.9), (0.9, 0.99)):
        wanted = ((stats.norm.ppf((1 + level) / 2) + stats.norm.ppf(power)) / 0.1) ** 2 * 2 * 0.25
        found = matrics.stats.samples_needed(
            [[0.25, 0.25], [0.25, 0.25]], "accuracy", difference=0.1, power=power, level=level
        )
        assert found == pytest.approx(wanted, rel=0.02)


@pytest.mark.exhaustive
def test_samples_for_biased_measures_are_those_of_their_intervals() -> None:
    """The variance alone says that a single sample will do for EVE: its intervals are as narrow from about 40 on."""
    cm = np.asarray([[50, 3, 2], [4, 60, 1], [0, 2, 40]])

    def half_width(number: int, metric: str) -> float:
        drawn = np.random.default_rng(7).multinomial(number, cm.ravel() / cm.sum(), 4000).reshape(-1, 3, 3)
        one = matrics.interval(drawn, metric)[metric]
        return float(np.nanmean(one.high - one.low) / 2)

    for metric, width in (("eve", 0.03), ("cen", 0.1), ("cramer_v", 0.1)):
        number = int(matrics.stats.samples_needed(cm, metric, half_width=width))
        assert half_width(number, metric) < 1.08 * width
        assert half_width(int(0.8 * number), metric) > width
    assert 35 < matrics.stats.samples_needed(cm, "eve", half_width=0.03) < 50
    by_class = matrics.stats.samples_needed([cm, np.eye(3), np.zeros((3, 3))], "eve:one_vs_rest", half_width=0.1)
    assert by_class.shape == (3, 3)
    assert (by_class[0] > 1).all()
    assert np.isnan(by_class[2]).all()
