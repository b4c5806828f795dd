"""Several raters: irrCAC, the krippendorff package, published tables, and every library."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus, raters

RANDOM = np.random.default_rng(0)
CASES = json.loads((Path(__file__).parent / "data" / "raters.json").read_text())["cases"]
NAMES = [
    "percent_agreement",
    "brennan_prediger",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
]


def table(items: int = 30, number: int = 4, n: int = 3, gaps: float = 0.2, batch: tuple[int, ...] = ()) -> Any:
    """Random ratings, which agree more than by chance."""
    base = RANDOM.integers(0, n, (*batch, items, 1))
    shape = (*batch, items, number)
    ratings = np.where(RANDOM.random(shape) < 0.7, base, RANDOM.integers(0, n, shape))
    return np.where(RANDOM.random(shape) < gaps, -1, ratings)


def by_weights(weights: str, n: int) -> Any:
    """The weights of Gwet's tables, as distances of 1 to n written out."""
    value = np.arange(1.0, n + 1)
    apart = np.abs(value[:, None] - value[None, :])
    return {
        "none": np.eye(n),
        "linear": 1 - apart / (n - 1),
        "quadratic": 1 - (apart / (n - 1)) ** 2,
        "radical": 1 - np.sqrt(apart / (n - 1)),
        "ordinal": 1 - apart * (apart + 1) / (n * (n - 1)),
        "ratio": 1 - (apart / (value[:, None] + value[None, :])) ** 2 / ((n - 1) / (n + 1)) ** 2,
    }[weights]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(np.shape(case["ratings"])))
def test_irr_cac(case: dict[str, Any]) -> None:
    """Values and standard errors of six coefficients, with each of six kinds of weights."""
    labels = list(range(1, case["n"] + 1))
    for key, expected in case["found"].items():
        name, weights = key.split("/")
        if name == "krippendorff":
            found = raters.krippendorff_alpha(case["ratings"], labels=labels, weights=weights)
            assert math.isclose(found, expected, rel_tol=1e-9), key
            continue
        own = {"gwet_ac1": None, "krippendorff_alpha": by_weights(weights, case["n"])}.get(name, weights)
        one = raters.interval(case["ratings"], name, labels=labels, weights=own)[name]
        np.testing.assert_allclose([one.estimate, one.standard_error], expected, rtol=1e-9, err_msg=key)
        options = {} if name == "gwet_ac1" else {"weights": own}
        assert getattr(raters, name)(case["ratings"], labels=labels, **options) == one.estimate


def test_fleiss_by_hand() -> None:
    """Ten items by fourteen raters, a table that text books print with κ = 0.210."""
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    ratings = [np.repeat(range(5), row).tolist() for row in counts]
    assert round(float(raters.fleiss_kappa(ratings, num_classes=5)), 3) == 0.210
    shuffled = [RANDOM.permutation(row).tolist() for row in ratings]
    assert math.isclose(raters.fleiss_kappa(shuffled, num_classes=5), raters.fleiss_kappa(ratings, num_classes=5))


def test_two_raters_are_a_matrix() -> None:
    """Coefficients of two raters beside those of their confusion matrix."""
    ratings = table(200, 2, gaps=0)
    cm = matrics.confusion_matrix(ratings[:, 0], ratings[:, 1], num_classes=3)
    assert math.isclose(raters.conger_kappa(ratings, num_classes=3), matrics.cohen_kappa(cm))
    for weights in ("linear", "quadratic"):
        ours = raters.conger_kappa(ratings, num_classes=3, weights=weights)
        assert math.isclose(ours, matrics.cohen_kappa(cm, weights=weights))
    assert math.isclose(raters.gwet_ac1(ratings, num_classes=3), matrics.metrics.gwet_ac1(cm))
    assert math.isclose(raters.krippendorff_alpha(ratings, num_classes=3), matrics.metrics.krippendorff_alpha(cm))
    assert math.isclose(raters.fleiss_kappa(ratings, num_classes=3), matrics.metrics.scott_pi(cm))
    assert math.isclose(raters.percent_agreement(ratings, num_classes=3), matrics.accuracy(cm))


def test_labels_of_any_kind() -> None:
    ratings = table()
    words = np.asarray(["no", "maybe", "yes"], object)
    expected = raters.krippendorff_alpha(ratings, num_classes=3)
    for nothing in (None, math.nan):
        named = np.where(ratings < 0, nothing, words[ratings])
        assert raters.krippendorff_alpha(named, labels=words) == expected
        assert raters.krippendorff_alpha(named.tolist(), labels=words) == expected
    floats = np.where(ratings < 0, np.nan, ratings)
    assert raters.krippendorff_alpha(floats, num_classes=3) == expected
    pandas = pytest.importorskip("pandas")
    assert raters.krippendorff_alpha(pandas.DataFrame(floats), num_classes=3) == expected


def test_values_of_classes() -> None:
    """Distances are of the labels where these are numbers."""
    ratings = np.asarray([[1, 2, 2], [10, 10, 1], [2, 2, 2], [10, 2, 10]])
    ours = raters.krippendorff_alpha(ratings, labels=[1, 2, 10], weights="interval")
    pairs = [(a, b) for row in ratings for i, a in enumerate(row) for j, b in enumerate(row) if i != j]
    within = np.mean([(a - b) ** 2 for a, b in pairs])
    flat = ratings.ravel()
    between = sum((a - b) ** 2 for a in flat for b in flat) / (len(flat) * (len(flat) - 1))
    assert math.isclose(ours, 1 - within / between)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_every_library(name: str, backend: Any) -> None:
    ratings = table(batch=(3,))
    expected = raters.interval(ratings, name, num_classes=3)[name]
    found = backend.call(lambda x: tuple(raters.interval(x, name, num_classes=3)[name])[:4], backend.asarray(ratings))
    for ours, theirs in zip(found, expected, strict=False):
        np.testing.assert_allclose(backend.numpy(ours), theirs, rtol=1e-9 if backend.float64 else 1e-3, atol=1e-4)
    one = backend.call(lambda x: getattr(raters, name)(x, num_classes=3), backend.asarray(ratings))
    np.testing.assert_allclose(backend.numpy(one), expected.estimate, rtol=1e-9 if backend.float64 else 1e-4)


@pytest.mark.exhaustive
def test_compiled_and_mapped(torch: Any) -> None:
    ratings = table(batch=(3,))
    expected = raters.krippendorff_alpha(ratings, num_classes=3, weights="ordinal")

    def alpha(x: Any) -> Any:
        return raters.krippendorff_alpha(x, num_classes=3, weights="ordinal")

    compiled = torch.compile(alpha, fullgraph=True, backend="aot_eager")
    np.testing.assert_allclose(compiled(torch.asarray(ratings)), expected, rtol=1e-4)
    jax = pytest.importorskip("jax")
    np.testing.assert_allclose(jax.jit(jax.vmap(alpha))(jax.numpy.asarray(ratings)), expected, rtol=1e-4)
    mapped = jax.jit(jax.vmap(lambda x: raters.conger_kappa(x, num_classes=3)))(jax.numpy.asarray(ratings))
    np.testing.assert_allclose(mapped, raters.conger_kappa(ratings, num_classes=3), rtol=1e-4)


def test_pairs_and_leaving_one_out() -> None:
    ratings = table(40, 4)
    stack = raters.pairwise(ratings, num_classes=3)
    assert stack.shape == (4, 4, 3, 3)
    for a in range(4):
        for b in range(4):
            both = (ratings[:, a] >= 0) & (ratings[:, b] >= 0)
            by_hand = matrics.confusion_matrix(ratings[both, a], ratings[both, b], num_classes=3)
            assert stack[a, b].tolist() == by_hand.tolist()
    for name in NAMES:
        found = raters.leave_one_out(ratings, name, num_classes=3)
        for k in range(4):
            others = np.delete(ratings, k, axis=1)
            weights = {} if name == "gwet_ac1" else {"weights": "quadratic" if name == "gwet_ac2" else "none"}
            weights = {} if name == "krippendorff_alpha" else weights
            assert math.isclose(found[k], getattr(raters, name)(others, num_classes=3, **weights))
    batch = table(20, 3, batch=(2,))
    assert raters.leave_one_out(batch, "fleiss_kappa", num_classes=3).shape == (2, 3)
    assert raters.pairwise(batch, num_classes=3).shape == (2, 3, 3, 3, 3)


@pytest.mark.parametrize("name", NAMES)
def test_undefined(name: str) -> None:
    """No items, no pairs, one class: NaN with a status, and nothing of that spoils another table."""
    good = table(30, 3, gaps=0)
    alone = np.full((30, 3), -1)
    alone[:, 0] = good[:, 0]
    stack = np.stack([good, alone, np.full((30, 3), -1), np.zeros((30, 3), int)])
    found = raters.interval(stack, name, num_classes=3)[name]
    assert found.estimate[0] == raters.interval(good, name, num_classes=3)[name].estimate
    assert np.isnan(found.estimate[1:3]).all()
    assert found.status[1:3].tolist() == [IntervalStatus.UNDEFINED] * 2
    perfect = np.isnan(found.estimate[3]) or found.estimate[3] == 1
    assert perfect
    assert np.isnan(found.low[3]) == np.isnan(found.estimate[3])
    empty = raters.interval(np.zeros((2, 0, 3), int), name, num_classes=3)[name]
    assert np.isnan(empty.estimate).all()
    assert raters.interval(np.zeros((0, 5, 3), int), name, num_classes=3)[name].estimate.shape == (0,)


@pytest.mark.exhaustive
@pytest.mark.parametrize("method", ["delta", pytest.param("bootstrap", marks=pytest.mark.exhaustive)])
def test_coverage(method: Any) -> None:
    """Of items drawn from many: 500 tables of 40 items, four raters and gaps."""
    n, number = 3, 500
    base = RANDOM.choice(n, (number, 40, 1), p=[0.5, 0.3, 0.2])

    def rated(base: Any) -> Any:
        shape = (*base.shape[:-1], 4)
        given = np.where(RANDOM.random(shape) < 0.75, base, RANDOM.integers(0, n, shape))
        return np.where(RANDOM.random(shape) < 0.15, -1, given)

    options = {} if method == "delta" else {"num": 300, "rng": 0}
    found = raters.interval(rated(base), NAMES, num_classes=n, method=method, **options)
    many = rated(RANDOM.choice(n, (400_000, 1), p=[0.5, 0.3, 0.2]))
    for name, one in found.items():
        truth = raters.interval(many, name, num_classes=n)[name].estimate
        # Quantiles of replicates of 40 items are too narrow, as the page says.
        least = 0.92 if method == "delta" else 0.88
        assert np.mean((one.low <= truth) & (truth <= one.high)) > least, name
        assert math.isclose(np.median(one.standard_error), np.std(one.estimate), rel_tol=0.1)


def test_limits_without_a_disagreement() -> None:
    """Wilson's limit of no disagreement among 40 items, with Student's quantile; by hand for two equal classes."""
    stats = pytest.importorskip("scipy.stats")
    ratings = np.repeat([0, 1], 20)[:, None] + np.zeros(3, int)
    square = stats.t.ppf(0.975, 39) ** 2
    share = square / (40 + square)
    for name, room in (("percent_agreement", 1.0), ("fleiss_kappa", 0.5), ("gwet_ac1", 0.5)):
        one = raters.interval(ratings, name, num_classes=2)[name]
        assert (one.estimate, one.high, one.status) == (1, 1, IntervalStatus.OK)
        assert one.low == pytest.approx(1 - share / room, abs=1e-5)
    # A few small disagreements say nothing of large ones.
    assert raters.interval(ratings, "gwet_ac2", num_classes=2)["gwet_ac2"].status == IntervalStatus.FEW_SAMPLES
    drawn = raters.interval(ratings, "fleiss_kappa", num_classes=2, method="bootstrap", num=50, rng=0)["fleiss_kappa"]
    assert (np.isnan(drawn.low), drawn.status) == (True, IntervalStatus.NO_VARIATION)


def test_coverage_of_nearly_perfect_raters() -> None:
    """Exactly, for two raters: of n items so many disagree as a binomial law says, for rates from none to a tenth.

    Which items disagree does not matter to percent agreement; the others are half of either class.
    """
    stats = pytest.importorskip("scipy.stats")
    for items in (20, 50, 200):
        number = np.arange(items + 1)
        tables = np.zeros((items + 1, items, 2), int)
        tables[:, ::2] = 1
        tables[..., 1] ^= np.arange(items)[None, :] < number[:, None]
        one = raters.interval(tables, "percent_agreement", num_classes=2)["percent_agreement"]
        rates = np.geomspace(1e-4, 0.1, 200)[:, None]
        held = (one.low <= 1 - rates) & (1 - rates <= one.high)
        missed = (stats.binom.pmf(number, items, rates) * (~held & (one.status == IntervalStatus.OK))).sum(axis=1)
        assert missed.max() < 0.07, items


@pytest.mark.exhaustive
@pytest.mark.parametrize(("size", "right"), [(2, 0.99), (3, 0.999), (4, 0.98)])
def test_coverage_of_nearly_perfect_tables(size: int, right: float) -> None:
    """All tables have limits, and at most 7 % have the status 0 and miss the coefficient of endless items."""

    def rated(base: np.ndarray) -> np.ndarray:
        shape = (*base.shape, size)
        return np.where(RANDOM.random(shape) < right, base[..., None], RANDOM.integers(0, 3, shape))

    many = rated(RANDOM.choice(3, 200_000, p=[0.5, 0.3, 0.2]))
    truth = {name: one.estimate for name, one in raters.interval(many, NAMES, num_classes=3).items()}
    for items in (30, 100):
        tables = rated(RANDOM.choice(3, (1200, items), p=[0.5, 0.3, 0.2]))
        for name, one in raters.interval(tables, NAMES, num_classes=3).items():
            assert not np.isnan(one.low).any()
            held = (one.low <= truth[name]) & (truth[name] <= one.high)
            assert np.mean(~held & (one.status == IntervalStatus.OK)) < 0.07, (items, name)
            assert name == "gwet_ac2" or (held.mean() > 0.93 and np.mean(one.status == IntervalStatus.OK) > 0.9)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"coefficients": "kappa"}, ValueError, "coefficients: expected 'percent_agreement'.*got 'kappa'"),
        ({"method": "exact"}, ValueError, "method: expected 'auto', 'delta' or 'bootstrap', got 'exact'"),
        ({"num": 100}, ValueError, "does not resample"),
        ({"weights": "cubic"}, ValueError, "weights: expected one of 'none', 'linear'.*got 'cubic'"),
        ({"weights": np.eye(2)}, ValueError, r"or finite numbers \(3, 3\), got an array of shape \(2, 2\)"),
        ({"num_classes": None}, TypeError, "expected either num_classes="),
        ({"ratings": [0, 1, 2]}, ValueError, r"expected a table \(\*B, items, raters\)"),
        ({"ratings": [[0, 3], [1, 1]]}, ValueError, r"ratings: expected labels in \[0, 3\), got 3"),
        ({"level": 2}, ValueError, "level: expected a number between 0 and 1"),
    ],
)
def test_wrong_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"ratings": table(), "coefficients": "fleiss_kappa", "num_classes": 3} | options
    with pytest.raises(error, match=words):
        raters.interval(**given)
    with pytest.raises(ValueError, match="weights: expected one of 'nominal', 'ordinal', 'interval', 'ratio'"):
        raters.krippendorff_alpha(table(), num_classes=3, weights="linear")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="coefficient: expected"):
        raters.leave_one_out(table(), "kappa", num_classes=3)
