"""Limits at another prevalence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus
from matrics.results import PrevalenceEstimate

RANDOM = np.random.default_rng(35)
# Mercaldo, Lau and Zhou 2007, whose example is also that of the R package bdpv: carriers of ApoE e4 among 375 controls
# and 418 people with Alzheimer's disease, of which 3 % of the population would have it.
APOE = [[288, 87], [178, 240]]
Z = 1.959963984540054
DRAWS: dict[str, dict[str, Any]] = {method: {"rng": 1, "num": 20_000} for method in ("bootstrap", "bca", "posterior")}


def logit_limits(cm: Any, share: float, variance: float = 0.0) -> dict[str, tuple[float, float, float]]:
    """The standard logit intervals of Mercaldo et al., and the variance of the logit of an estimated prevalence."""
    (tn, fp), (fn, tp) = cm
    controls, cases = tn + fp, fn + tp
    se, sp = tp / cases, tn / controls
    odds = {"ppv": se * share / ((1 - sp) * (1 - share)), "npv": sp * (1 - share) / ((1 - se) * share)}
    spread = {
        "ppv": (1 - se) / se / cases + sp / (1 - sp) / controls,
        "npv": se / (1 - se) / cases + (1 - sp) / sp / controls,
    }
    found = {}
    for name, value in odds.items():
        reach = Z * math.sqrt(spread[name] + variance / (share * (1 - share)) ** 2)
        found[name] = tuple(1 / (1 + math.exp(-math.log(value) - side * reach)) for side in (0, -1, 1))
    return found


@pytest.mark.parametrize("share", [0.03, 0.5])
def test_predictive_values_by_mercaldo(share: float) -> None:
    found = matrics.interval(APOE, "ppv,npv", prevalence=share, method="delta")
    for name, wanted in logit_limits(APOE, share).items():
        np.testing.assert_allclose(found[name][:3], wanted, rtol=1e-6)
    # The default adds one sample to the matrix, and so is near these.
    for name, wanted in logit_limits(np.asarray(APOE) + 0.25, share).items():
        default = matrics.interval(APOE, name, prevalence=share)[name]
        np.testing.assert_allclose([default.low, default.high], wanted[1:], rtol=1e-6)


def test_an_estimated_prevalence_widens() -> None:
    """As it does where its variance is added on the logit, by hand; sensitivity does not depend on it."""
    variance = 0.03 * 0.97 / 500
    estimate = PrevalenceEstimate(0.03, variance)
    found = matrics.interval(APOE, "ppv,npv,sensitivity", prevalence=estimate, method="delta")
    for name, wanted in logit_limits(APOE, 0.03, variance).items():
        np.testing.assert_allclose(found[name][:3], wanted, rtol=1e-6)
    known = matrics.interval(APOE, "sensitivity", method="delta", scheme="rows")["sensitivity"]
    np.testing.assert_allclose(found["sensitivity"][:4], known[:4])
    whole = PrevalenceEstimate([0.97, 0.03], [[variance, -variance], [-variance, variance]])
    again = matrics.interval(APOE, "ppv", prevalence=whole, method="delta")["ppv"]
    np.testing.assert_allclose(again[:4], found["ppv"][:4])


def test_three_classes_with_an_estimate_by_hand() -> None:
    """Accuracy is Σ π_t r_t: its variance is Σ π_t² r_t (1 - r_t) / n_t and rᵀ Σ r."""
    cm = np.asarray([[80, 15, 5], [20, 150, 30], [1, 9, 40]])
    shares, survey = np.asarray([0.7, 0.25, 0.05]), 300
    covariance = (np.diag(shares) - np.outer(shares, shares)) / survey
    recall, sizes = np.diag(cm) / cm.sum(1), cm.sum(1)
    variance = (shares**2 * recall * (1 - recall) / sizes).sum()
    known = matrics.interval(cm, "accuracy", prevalence=shares, method="delta")["accuracy"]
    np.testing.assert_allclose([known.estimate, known.standard_error], [shares @ recall, math.sqrt(variance)])
    estimate = PrevalenceEstimate(shares, covariance)
    found = matrics.interval(cm, "accuracy", prevalence=estimate, method="delta")["accuracy"]
    np.testing.assert_allclose(found.standard_error, math.sqrt(variance + recall @ covariance @ recall), rtol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["auto", *DRAWS])
def test_methods_agree(method: str) -> None:
    cm = np.asarray([[800, 150, 50], [200, 1500, 300], [10, 90, 400]])
    shares = [0.7, 0.25, 0.05]
    specs = ["accuracy", "mcc", "f1", "f1[2]", "precision:class", "recall:min", "nmi"]
    wanted = matrics.interval(cm, specs, prevalence=shares, method="delta")
    found = matrics.interval(cm, specs, prevalence=shares, method=method, **DRAWS.get(method, {}))
    for name in specs:
        np.testing.assert_allclose(found[name].estimate, wanted[name].estimate)
        width = np.asarray(wanted[name].high - wanted[name].low)
        if name != "recall:min":  # whose limits are conservative
            np.testing.assert_allclose(found[name].low, wanted[name].low, atol=0.1 * width.max())
            np.testing.assert_allclose(found[name].high, wanted[name].high, atol=0.1 * width.max())
        np.testing.assert_allclose(found[name].standard_error, wanted[name].standard_error, rtol=0.05)


def test_at_its_own_prevalence_nothing_changes() -> None:
    cm = np.asarray([[80, 15, 5], [20, 150, 30], [1, 9, 40]])
    own = cm.sum(1) / cm.sum()
    for method in ("auto", "delta"):
        wanted = matrics.interval(cm, "mcc,cohen_kappa,recall:class,eve", scheme="rows", method=method)
        found = matrics.interval(cm, "mcc,cohen_kappa,recall:class,eve", prevalence=own, method=method)
        for name, one in wanted.items():
            # Smoothed rows would have other shares, which the prevalence keeps as they are.
            np.testing.assert_allclose(found[name].estimate, one.estimate, rtol=1e-12)
            np.testing.assert_allclose(found[name].standard_error, one.standard_error, rtol=0.02)


def test_a_number_is_of_the_positive_class() -> None:
    flipped = np.asarray(APOE)[::-1, ::-1]
    wanted = matrics.interval(APOE, "ppv", prevalence=0.03)["ppv"]
    for found in (
        matrics.interval(flipped, "ppv", prevalence=0.03, positive=0)["ppv"],
        matrics.interval(flipped, "ppv", prevalence=0.03, positive="ill", class_names=["ill", "healthy"])["ppv"],
        matrics.interval(APOE, "ppv", prevalence=[0.97, 0.03])["ppv"],
    ):
        np.testing.assert_allclose(found[:4], wanted[:4])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(APOE, index=["healthy", "ill"], columns=["healthy", "ill"])
    np.testing.assert_allclose(matrics.interval(frame, "ppv", prevalence=0.03, positive="ill")["ppv"][:4], wanted[:4])
    with pytest.raises(ValueError, match="positive"):
        matrics.interval(frame, "mcc", prevalence=0.03)


def test_no_false_positive_and_empty_rows() -> None:
    """Specificity 1 has limits; a class without samples has none; an invalid matrix spoils no other."""
    stack = [[[100, 0], [10, 90]], [[50, 5], [0, 0]], [[50, 5], [-1, 9]], [[95, 5], [10, 90]]]
    with pytest.warns(RuntimeWarning, match="1 of 4 matrices are invalid"):
        found = matrics.interval(stack, "ppv,npv", prevalence=0.03)["ppv"]
    assert found.status.tolist() == [
        IntervalStatus.FEW_SAMPLES,
        IntervalStatus.UNDEFINED,
        IntervalStatus.INVALID,
        IntervalStatus.OK,
    ]
    assert found.estimate[0] == found.high[0] == 1
    assert 0.1 < found.low[0] < 0.5
    assert np.isnan([found.estimate[1:3], found.low[1:3]]).all()
    alone = matrics.interval(stack[3], "ppv", prevalence=0.03)["ppv"]
    np.testing.assert_allclose(found.low[3], alone.low)
    plain = matrics.interval(stack[0], "ppv", prevalence=0.03, method="delta")["ppv"]
    assert plain.status == IntervalStatus.NO_VARIATION
    with pytest.raises(matrics.InvalidConfusionMatrix):
        matrics.interval(stack, "ppv", prevalence=0.03, invalid="raise")


def test_few_errors_of_one_class_are_few() -> None:
    cm = [[498, 2], [60, 40]]
    assert matrics.interval(cm, "ppv", scheme="rows")["ppv"].status == IntervalStatus.FEW_SAMPLES
    assert matrics.interval(cm, "npv", scheme="rows")["npv"].status == IntervalStatus.OK
    assert matrics.interval(cm, "ppv", prevalence=0.03)["ppv"].status == IntervalStatus.FEW_SAMPLES
    assert matrics.interval(cm, "accuracy", prevalence=[0, 1])["accuracy"].status == IntervalStatus.OK


def test_batches_of_matrices_and_of_prevalences() -> None:
    stack = np.asarray([APOE, [[95, 5], [10, 90]]])[:, None]
    shares = np.asarray([[0.01], [0.1], [0.4]])
    found = matrics.interval(stack, "ppv,recall:class", prevalence=shares)
    assert found["ppv"].low.shape == (2, 3)
    assert found["recall:class"].low.shape == (2, 3, 2)
    for i, j in np.ndindex(2, 3):
        one = matrics.interval(stack[i, 0], "ppv", prevalence=float(shares[j, 0]))["ppv"]
        np.testing.assert_allclose([part[i, j] for part in found["ppv"][:4]], one[:4])
    assert matrics.interval(np.zeros((0, 2, 2)), "ppv", prevalence=0.1)["ppv"].low.shape == (0,)


def test_weighted_samples() -> None:
    """Of equal weights the limits are those of as many samples without."""
    cm = np.asarray(APOE)
    plain = matrics.interval(cm, "ppv,mcc,recall:class", prevalence=0.03, method="delta")
    found = matrics.interval(
        2.5 * cm, "ppv,mcc,recall:class", prevalence=0.03, method="delta", squared_weights=6.25 * cm
    )
    for name, one in plain.items():
        np.testing.assert_allclose(found[name].low, one.low, rtol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], method=["auto"])
@pytest.mark.parametrize("method", ["auto", "delta"])
def test_libraries(backend: Any, method: str) -> None:
    names = "ppv,recall:min,mutual_information" if method == "auto" else "ppv,mcc"
    for prevalence in (0.1, PrevalenceEstimate(0.1, 0.0004)):
        wanted = matrics.interval(APOE, names, prevalence=prevalence, method=method)

        def limits(cm: Any, prevalence: Any = prevalence) -> Any:
            found = matrics.interval(cm, names, prevalence=prevalence, method=method)
            return {name: (one.estimate, one.low, one.high) for name, one in found.items()}

        found = backend.call(limits, backend.asarray(np.asarray(APOE)))
        for name, one in wanted.items():
            ours = [float(backend.numpy(part)) for part in found[name]]
            np.testing.assert_allclose(ours, one[:3], rtol=1e-6 if backend.float64 else 2e-3)


@pytest.mark.exhaustive
def test_traced_prevalences() -> None:
    jax = pytest.importorskip("jax")

    def low(cm: Any, share: Any) -> Any:
        return matrics.interval(cm, "ppv", prevalence=share)["ppv"].low

    shares = np.asarray([0.01, 0.1, 0.4], np.float32)
    found = jax.vmap(jax.jit(low), (None, 0))(jax.numpy.asarray(APOE), jax.numpy.asarray(shares))
    beside = jax.jit(low)(jax.numpy.asarray(APOE), jax.numpy.asarray(shares[:, None]))
    concrete = matrics.interval(jax.numpy.asarray(APOE), "ppv", prevalence=jax.numpy.asarray(shares[:, None]))["ppv"]
    wanted = matrics.interval(APOE, "ppv", prevalence=shares[:, None])["ppv"].low
    for ours in (found, beside, concrete.low):
        np.testing.assert_allclose(np.asarray(ours), wanted, rtol=1e-3)


@pytest.mark.exhaustive
def test_jax_is_strict() -> None:
    """Every way under jit, where dtypes and ranks may not be mixed."""
    jax = pytest.importorskip("jax")
    key, stack = jax.random.key(0), jax.numpy.asarray([APOE, APOE])
    joint = jax.numpy.ones((2, 2, 2)) * 20

    def drawn(cm: Any, key: Any, method: Any) -> Any:
        return matrics.interval(cm, "ppv,mcc", prevalence=0.1, method=method, num=50, rng=key)["ppv"].low

    def estimated(cm: Any, counts: Any) -> Any:
        estimate = matrics.stats.estimate_prevalence(cm, counts, method="em")
        apart = matrics.compare(cm, cm, "ppv:class", prevalence=estimate)["ppv:class"].low
        return matrics.interval(cm, "ppv,recall:min", prevalence=estimate)["ppv"].low, apart

    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        for method in ("bootstrap", "bca", "posterior"):
            assert np.isfinite(jax.jit(drawn, static_argnums=2)(stack, key, method)).all()
        low, apart = jax.jit(estimated)(stack, jax.numpy.asarray([700, 300]))
        assert low.shape == (2,)
        assert apart.shape == (2, 2)
        paired = jax.jit(lambda x: matrics.compare_paired(x, "ppv", prevalence=0.1)["ppv"].low)(joint)
        assert np.isfinite(paired)


# Comparisons ----------------------------------------------------------------------------------------------------------

OTHER = [[320, 55], [200, 218]]


def test_two_tests_on_two_samples() -> None:
    """The standard error of a difference of accuracies, by hand; a shared estimate is the same for both."""
    shares = np.asarray([0.9, 0.1])

    def of(cm: Any) -> tuple[np.ndarray, float]:
        recall, sizes = np.diag(cm) / np.sum(cm, 1), np.sum(cm, 1)
        return recall, float((shares**2 * recall * (1 - recall) / sizes).sum())

    (a, of_a), (b, of_b) = of(APOE), of(OTHER)
    known = matrics.compare(APOE, OTHER, "accuracy", prevalence=shares, method="delta")["accuracy"]
    np.testing.assert_allclose(known.difference, shares @ (a - b))
    np.testing.assert_allclose(known.standard_error, math.sqrt(of_a + of_b), rtol=1e-6)
    covariance = np.asarray([[1, -1], [-1, 1]]) * 0.001
    estimate = PrevalenceEstimate(shares, covariance)
    found = matrics.compare(APOE, OTHER, "accuracy", prevalence=estimate, method="delta")["accuracy"]
    variance = of_a + of_b + (a - b) @ covariance @ (a - b)
    np.testing.assert_allclose(found.standard_error, math.sqrt(variance), rtol=1e-6)
    default = matrics.compare(APOE, OTHER, "accuracy", prevalence=estimate)["accuracy"]
    np.testing.assert_allclose([default.low, default.high], [found.low, found.high], atol=0.003)
    drawn = matrics.compare(APOE, OTHER, "accuracy,ppv", prevalence=shares, method="bootstrap", rng=1)
    straight = matrics.compare(APOE, OTHER, "accuracy,ppv", prevalence=shares)
    for name, one in straight.items():
        np.testing.assert_allclose([drawn[name].low, drawn[name].high], [one.low, one.high], atol=0.01)


def test_two_tests_on_the_same_people() -> None:
    """Of a test and itself nothing varies; of independent ones the pairs make no difference; by hand for accuracy."""
    joint = np.zeros((2, 2, 2))
    joint[0] = [[250, 38], [70, 17]]
    joint[1] = [[120, 58], [80, 160]]
    shares = np.asarray([0.97, 0.03])
    a, b = joint.sum(2), joint.sum(1)
    found = matrics.compare_paired(joint, "accuracy,ppv", prevalence=shares, method="delta")
    alone = [matrics.score(matrics.transform.at_prevalence(cm, shares), "ppv")["ppv"] for cm in (a, b)]
    np.testing.assert_allclose(found["ppv"].difference, alone[0] - alone[1])
    variance = 0.0
    for k, share in enumerate(shares):
        table, size = joint[k], joint[k].sum()
        right = np.arange(2) == k
        gap = right[:, None].astype(float) - right[None, :]
        mean = (table * gap).sum() / size
        variance += share**2 * ((table * gap**2).sum() / size - mean**2) / size
    np.testing.assert_allclose(found["accuracy"].standard_error, math.sqrt(variance), rtol=1e-6)
    drawn = matrics.compare_paired(joint, "ppv", prevalence=shares, method="bootstrap", rng=1)["ppv"]
    default = matrics.compare_paired(joint, "ppv", prevalence=shares)["ppv"]
    np.testing.assert_allclose([default.low, default.high], [drawn.low, drawn.high], atol=0.005)
    estimate = PrevalenceEstimate(0.03, 0.0001)
    wider = matrics.compare_paired(joint, "ppv", prevalence=estimate)["ppv"]
    assert wider.standard_error > default.standard_error


# What makes no sense --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "multinomial"}, "^scheme: expected 'rows' with prevalence, .* got 'multinomial'"),
        ({"scheme": "clusters", "cluster_axis": 0}, "^scheme: expected 'rows' with prevalence"),
        ({"cluster_axis": 0}, "^cluster_axis: expected None with prevalence"),
        ({"method": "wilson"}, "^method: expected another than 'wilson' with prevalence"),
        (
            {"method": "bootstrap", "prevalence": PrevalenceEstimate(0.1, 0.01)},
            "^method: expected 'auto' or 'delta' with",
        ),
        ({"prevalence": 1.5}, "^prevalence: expected a share from 0 to 1, got 1.5"),
        ({"prevalence": [0.2, 0.9]}, "^prevalence: expected shares from 0 to 1 that add up to 1, got a sum of 1.1"),
        ({"prevalence": [0.2, 0.3, 0.5]}, "^prevalence: expected the share of each of 2 classes"),
        ({"prevalence": np.full((3, 1), 0.1)}, "^prevalence: expected a batch that broadcasts with that of"),
        ({"prevalence": PrevalenceEstimate(0.1, -1.0)}, "^covariance: expected finite variances from 0 on, got -1"),
        (
            {"prevalence": PrevalenceEstimate(0.1, [0.1, 0.1])},
            r"^covariance: expected that of 2 shares, ",
        ),
    ],
)
def test_what_makes_no_sense(options: dict[str, Any], message: str) -> None:
    stack = np.asarray([APOE, OTHER])
    options = {"prevalence": 0.1, **options}
    with pytest.raises(ValueError, match=message):
        matrics.interval(stack, "ppv", **options)
    if options.get("method") != "wilson":
        with pytest.raises(ValueError, match=message):
            matrics.compare(stack, stack, "ppv", **options)


def test_limits_cover() -> None:
    """As the simulation of the page does, for two of its cells."""
    number, specs = 1000, "ppv,npv,f1:binary,mcc"
    for controls, cases, se, sp, share in ((100, 100, 0.9, 0.9, 0.02), (400, 100, 0.8, 0.95, 0.1)):
        tn, tp = RANDOM.binomial(controls, sp, number), RANDOM.binomial(cases, se, number)
        stack = np.moveaxis(np.asarray([[tn, controls - tn], [cases - tp, tp]]), -1, 0)
        truth = matrics.score(matrics.transform.at_prevalence([[sp, 1 - sp], [1 - se, se]], share), specs)
        for name, one in matrics.interval(stack, specs, prevalence=share).items():
            covered = np.mean((one.low <= truth[name]) & (truth[name] <= one.high))
            assert 0.93 <= covered <= 0.99, name
