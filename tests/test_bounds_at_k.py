"""Measures of the k highest scores in running states: bounds over all orders, exact values, merges and compilers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from matrics import ScoreState, ranking

RANDOM = np.random.default_rng(54)
NAMES = ("precision_at_k", "recall_at_k", "lift_at_k")
EDGES = [0, 0.25, 0.5, 0.75, 1]
# Samples of class 0 and of class 1 in each bin, the highest bin first.
BINS = [
    ((1, 1), (2, 3), (1, 0)),
    ((0, 3), (2, 0)),
    ((0, 1), (0, 0), (3, 2)),
    ((2, 2),),
    ((3, 0), (0, 0), (0, 2), (1, 1)),
]


def hits_of_orders(bins: tuple[tuple[int, int], ...], k: int) -> list[int]:
    """The positives among the first k samples, for all orders inside the bins; equal orders as often as they occur."""
    orders = [itertools.permutations((0,) * q + (1,) * p) for q, p in bins]
    return [sum(list(itertools.chain(*order))[:k]) for order in itertools.product(*orders)]


def state_of(bins: tuple[tuple[int, int], ...], like: Any = None) -> ScoreState:
    """A state of scores that are not at the edges, so that they are not known to be equal."""
    labels = [label for q, p in bins for label in (0,) * q + (1,) * p]
    scores = [0.85 - place / 4 for place, (q, p) in enumerate(bins) for _ in range(q + p)]
    return ScoreState.zeros(edges=EDGES, like=like).update(labels, scores)


def measures(backend: Any, state: ScoreState, k: int, **options: Any) -> dict[str, np.ndarray]:
    """The value and the bounds of each measure; JAX compiles a single program."""

    def all_of(state: ScoreState) -> list[Any]:
        return [tuple(getattr(state, name)(k, **options)) for name in NAMES]

    found = backend.call(all_of, state)
    return {name: np.asarray([*map(backend.numpy, parts)]) for name, parts in zip(NAMES, found, strict=True)}


@pytest.mark.parametrize("bins", BINS)
def test_bounds_are_the_extremes_and_the_value_the_mean_of_all_orders(bins: tuple[tuple[int, int], ...]) -> None:
    number, positives = sum(q + p for q, p in bins), sum(p for _, p in bins)
    state = state_of(bins)
    for k in range(1, number + 1):
        hits = hits_of_orders(bins, k)
        factors = (Fraction(1, k), Fraction(1, positives), Fraction(number, k * positives))
        for name, factor in zip(NAMES, factors, strict=True):
            expected = [Fraction(sum(hits), len(hits)) * factor, min(hits) * factor, max(hits) * factor]
            np.testing.assert_allclose([*getattr(state, name)(k)], [float(x) for x in expected], rtol=4e-15)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options", [{}, {"bits": 4}, {"edges": EDGES}, {"edges": [0.5, 0.75]}], ids=str)
def test_bounds_contain_the_functions_of_the_scores(backend: Any, options: dict[str, Any]) -> None:
    """Rounded scores have ties within their buckets as well."""
    y_true = RANDOM.integers(0, 2, (4, 60))
    scores = RANDOM.random((4, 60)).astype(np.float32)
    scores[1], scores[2] = scores[1].round(1), np.float32(0.3)
    state = ScoreState.zeros(batch_shape=(4,), **options, like=backend.asarray(0))
    state = state.update(backend.asarray(y_true), backend.asarray(scores))
    for k in (1, 20, 60):
        for name, (value, low, high) in measures(backend, state, k).items():
            exact = getattr(ranking, name)(y_true, scores, k)
            assert (low <= np.minimum(exact, value)).all()
            assert (high >= np.maximum(exact, value)).all()
            np.testing.assert_allclose(value[2], exact[2], rtol=1e-6)  # all scores are equal
            if not options:
                np.testing.assert_allclose(value, exact, rtol=1e-6)  # no two scores that differ share a bucket


@pytest.mark.sampled(3)
def test_scores_in_half_precision_are_exact(backend: Any) -> None:
    """Each has a bucket of its own, so that equal scores are known to be equal; so are 0 and 1 at any resolution."""
    y_true, scores = RANDOM.integers(0, 2, 300), RANDOM.random(300).round(1).astype(np.float16).astype(np.float32)
    ends = (scores > 0.5).astype(np.float32)
    for values, bits in ((scores, 10), (ends, 4)):
        state = ScoreState.zeros(bits=bits, like=backend.asarray(0))
        state = state.update(backend.asarray(y_true), backend.asarray(values))
        for name, found in measures(backend, state, 50).items():
            np.testing.assert_allclose(found, [getattr(ranking, name)(y_true, values, 50)] * 3, rtol=1e-6)


@pytest.mark.parametrize("average", ["auto", "macro", "weighted", "micro", None])
@pytest.mark.parametrize("n", [2, 3])
def test_averages_are_those_of_the_functions(n: int, average: Any) -> None:
    y_true, scores = RANDOM.integers(0, n, 90), RANDOM.random((90, n)).astype(np.float32)
    state = ScoreState.zeros(num_classes=n).update(y_true, scores)
    for name in NAMES:
        exact = getattr(ranking, name)(y_true, scores, 13, average=average)
        value, low, high = getattr(state, name)(13, average=average)
        np.testing.assert_allclose(value, exact, rtol=1e-12)
        assert (low <= exact).all()
        assert (exact <= high).all()
        assert np.max(high - low) < 1e-12


def test_classes_without_samples() -> None:
    """They are left out of means, unless ``zero_division`` is their value."""
    y_true, scores = np.arange(40) % 2, RANDOM.random((40, 3))
    state = ScoreState.zeros(num_classes=3).update(y_true, scores)
    each = state.recall_at_k(10, average=None).value
    assert np.isnan(each).tolist() == [False, False, True]
    assert state.recall_at_k(10).value == pytest.approx(each[:2].mean())
    assert state.lift_at_k(10, zero_division=3).value == pytest.approx(
        (state.lift_at_k(10, average=None).value[:2].sum() + 3) / 3
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("zero_division", [math.nan, 0.5])
def test_too_few_samples_are_undefined(backend: Any, zero_division: float) -> None:
    empty = ScoreState.zeros(bits=4, like=backend.asarray(0))
    three = empty.update(backend.asarray([0, 1, 1]), backend.asarray([0.1, 0.2, 0.3], np.float32))
    negative = empty.update(backend.asarray([0, 0]), backend.asarray([0.1, 0.2], np.float32))
    for state, k, defined in ((empty, 1, ()), (three, 4, ()), (three, 3, NAMES), (negative, 1, NAMES[:1])):
        for name, found in measures(backend, state, k, zero_division=zero_division).items():
            if name in defined:
                assert found[0] in (0, 2 / 3, 1)
            else:
                np.testing.assert_array_equal(found, [zero_division] * 3)
    with pytest.raises(ValueError, match="at most the number of samples"):  # as the function, which knows all samples
        ranking.precision_at_k([0, 1, 1], [0.1, 0.2, 0.3], 4)


@pytest.mark.sampled(3)
def test_sums_of_states_are_those_of_all_samples(backend: Any) -> None:
    y_true, scores = RANDOM.integers(0, 2, (5, 40)), RANDOM.random((5, 40)).astype(np.float32)
    empty = ScoreState.zeros(bits=6, like=backend.asarray(0))
    batches = [(backend.asarray(y), backend.asarray(s)) for y, s in zip(y_true, scores, strict=True)]
    merged = sum(empty.update(*batch) for batch in batches)
    whole = empty.update(backend.asarray(y_true.ravel()), backend.asarray(scores.ravel()))
    expected = measures(backend, whole, 30)
    for name, found in measures(backend, merged, 30).items():
        np.testing.assert_array_equal(found, expected[name])


@pytest.mark.sampled(3)
def test_more_samples_than_float32_counts_exactly(backend: Any) -> None:
    """2^28 copies of five samples: more than float32 counts exactly, and within the bounds there as well."""
    batch = backend.asarray([0, 1, 1, 0, 1]), backend.asarray([0.1, 0.3, 0.6, 0.7, 0.9], np.float32)
    start = ScoreState.zeros(edges=EDGES, like=batch[0]).update(*batch)
    state = start
    for _ in range(28):
        state = state + state
    # With all 2^28 copies of 0.9, 0.7, 0.6 and 0.3, three of four are positive.
    expected = {"precision_at_k": 3 / 4, "recall_at_k": 1, "lift_at_k": 5 / 4}
    for name, (value, low, high) in measures(backend, state, 2**30).items():
        exact = expected[name]
        assert low <= exact <= high
        assert high - low < 1e-4
        assert value == pytest.approx(exact, rel=1e-6)
    value, low, high = measures(backend, state, 2**29)["precision_at_k"]  # half of the bin of 0.7 and 0.6
    assert low <= 0.5
    assert value == pytest.approx(0.75, rel=1e-6)
    assert high >= 1
    assert np.isnan(measures(backend, state, 5 * 2**28 + 2**20)["recall_at_k"]).all()


def test_names_in_score() -> None:
    state = state_of(((1, 1), (2, 3), (1, 0)))
    found = state.score("precision_at_k(k=3), recall_at_k(k=[1, 4]), lift_at_k(k=2)")
    assert found["precision_at_k(k=3)"] == state.precision_at_k(3).value
    assert found["recall_at_k(k=[1, 4])"].tolist() == [state.recall_at_k(1).value, state.recall_at_k(4).value]
    assert found["lift_at_k(k=2)"] == state.lift_at_k(2).value
    classes = ScoreState.zeros(num_classes=3).update([0, 1, 2, 2], RANDOM.random((4, 3)))
    assert classes.score("recall_at_k(k=[1, 2]):class")["recall_at_k(k=[1, 2]):class"].shape == (2, 3)


def test_refused() -> None:
    state = ScoreState.zeros(bits=4)
    for k in (0, 2.5, True, None, [1, 2]):
        with pytest.raises(ValueError, match="k: expected an integer of at least 1"):
            state.precision_at_k(k)  # type: ignore[arg-type]
    weighted = ScoreState.zeros(bits=4, dtype=np.float64)
    with pytest.raises(TypeError, match="integer counts, as k is a number of samples, got float64"):
        weighted.lift_at_k(2)
    with pytest.raises(ValueError, match="keeps areas"):
        ScoreState.zeros(bits=0).recall_at_k(2)
    for spec in ("precision_at_k", "precision_at_k(n=3)"):
        with pytest.raises(ValueError, match=r"k= alone in brackets, such as 'precision_at_k\(k=100\)'"):
            state.score(spec)
    with pytest.raises(ValueError, match="no average without num_classes="):
        state.score("recall_at_k(k=3):macro")


@pytest.mark.parametrize("average", ["auto", "macro", "weighted", "micro", None])
def test_an_empty_batch_has_empty_values(average: Any) -> None:
    for num_classes, shape in ((None, (0,)), (3, (0, 3) if average is None else (0,))):
        state = ScoreState.zeros(num_classes=num_classes, batch_shape=(0,))
        state = state.update(np.zeros((0, 5), int), np.zeros((0, 5) if num_classes is None else (0, 5, 3)))
        options = {"average": average}
        found = [state.roc_auc(**options), state.average_precision(**options), state.precision_at_k(3, **options)]
        assert {part.shape for bounded in found for part in bounded} == {shape}


@pytest.mark.exhaustive
def test_bounds_hold_on_random_data() -> None:
    """Scores of any scale, with ties, in few and in many buckets."""
    for seed in range(300):
        random = np.random.default_rng(seed)
        number, k = random.integers(1, 200, 2)
        y_true = (random.random(number) < random.choice([0.05, 0.5, 0.9])).astype(int)
        scores = random.normal(size=number) * 10.0 ** random.integers(-3, 3)
        scores = scores.round(random.integers(0, 6)) if random.random() < 0.5 else scores
        state = ScoreState.zeros(bits=int(random.integers(4, 14))).update(y_true, scores)
        for name in NAMES:
            value, low, high = getattr(state, name)(int(k))
            exact = getattr(ranking, name)(y_true, scores, int(k)) if k <= number else math.nan
            assert math.isnan(exact) == math.isnan(value), seed
            assert math.isnan(exact) or low <= exact <= high, (seed, name)
