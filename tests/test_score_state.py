"""Histograms of scores: counts at every edge, merges, what is dropped, classes and calibration, on every backend."""

from __future__ import annotations

import operator
import pickle
from functools import reduce
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ScoreState

RANDOM = np.random.default_rng(32)

STATES: dict[str, dict[str, Any]] = {
    "equal": {"edges": np.linspace(0, 1, 51)},
    "logits": {"edges": np.linspace(-7.3, 11.1, 97)},
    "far": {"edges": np.linspace(1000, 1000.5, 1001)},
    "edges": {"edges": [-2.0, 0.0, 1e-3, 0.3, 0.31, 5.0], "thresholds": [0.5, 0.3]},
    "one": {"edges": [0.5, 0.75]},
    "thresholds": {"thresholds": [0.9, 0.1, 0.37, 0.1], "bits": 6},
    "a threshold": {"thresholds": 0.5, "bits": 0},
}


def awkward(thresholds: np.ndarray, dtype: Any) -> np.ndarray:
    """Scores at every threshold and next to it, and beyond all of them."""
    edges = thresholds[1:-1].astype(dtype)
    ends = np.asarray([np.inf, -np.inf, 0.0, -0.0, 1e4, -1e4, *RANDOM.normal(size=50)], dtype)
    inside = RANDOM.uniform(edges[-1], edges[0], 300).astype(dtype)
    return np.concatenate(
        [edges, np.nextafter(edges, dtype(np.inf)), np.nextafter(edges, dtype(-np.inf)), ends, inside]
    )


def direct(y_true: np.ndarray, scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """The matrices at these thresholds, one comparison each; at +inf nothing is positive."""
    predicted = scores.astype(np.float64) >= thresholds[:, None].astype(np.float64)
    predicted[0] = False
    cells = [[np.sum((y_true == i) & (predicted == j), axis=-1) for j in (0, 1)] for i in (0, 1)]
    return np.moveaxis(np.asarray(cells), -1, 0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", STATES)
def test_the_matrix_at_each_edge_is_a_direct_count(backend: Any, name: str, dtype: Any) -> None:
    if (dtype is np.float64 and not backend.float64) or (dtype is np.float16 and backend.name == "strict"):
        pytest.skip("no such dtype")
    if backend.name.startswith("jax") and (dtype is np.float16 or name in ("far", "one")):
        pytest.skip("each is one more program; NumPy's are the same")
    state = ScoreState.zeros(**STATES[name], like=backend.asarray(0))
    thresholds = backend.numpy(state.thresholds)
    assert (np.diff(thresholds) <= 0).all()
    scores = awkward(thresholds, dtype)
    if backend.name.startswith("jax"):  # to XLA on the CPU these are 0
        scores[np.abs(scores) < np.finfo(dtype).tiny] = 0
    y_true = RANDOM.integers(0, 2, scores.size)
    state = backend.jit(ScoreState.update)(state, backend.asarray(y_true), backend.asarray(scores))
    np.testing.assert_array_equal(backend.numpy(state.matrix), direct(y_true, scores, thresholds))
    assert int(state.dropped) == 0


@pytest.mark.sampled(2)
def test_edges_are_the_same_numbers_everywhere(backend: Any) -> None:
    """Rounded down to float32: a decimal score is at or above its own edge, however it is stored."""
    decimals = np.arange(1, 100) / 100
    state = ScoreState.zeros(edges=np.linspace(0, 1, 101), like=backend.asarray(0))
    thresholds = backend.numpy(state.thresholds)[1:-1][::-1].astype(np.float64)
    np.testing.assert_array_equal(thresholds.astype(np.float32), thresholds)
    assert (thresholds[1:-1] <= decimals).all()
    assert (np.nextafter(thresholds.astype(np.float32), np.float32(9))[1:-1] > decimals).all()
    for dtype in (np.float32, np.float64):
        at = state.update(backend.asarray(np.ones(99, int)), backend.asarray(decimals, dtype))
        assert backend.numpy(at.bins)[2:-1, 1].tolist() == [1] * 99


# Merging ------------------------------------------------------------------------------------------------------------


def parts(backend: Any, **options: Any) -> list[ScoreState]:
    """States of five batches, and at last of all of them together."""
    y_true, scores = RANDOM.integers(-1, 2, (5, 40)), RANDOM.random((5, 40)).astype(np.float32)
    empty = ScoreState.zeros(bits=6, thresholds=np.linspace(0, 1, 31), like=backend.asarray(0), **options)
    both = [*zip(y_true, scores, strict=True), (y_true.ravel(), scores.ravel())]
    return [empty.update(backend.asarray(y), backend.asarray(s)) for y, s in both]


@pytest.mark.sampled(1)
def test_merging_is_pooling_in_any_order(backend: Any) -> None:
    *some, whole = parts(backend)
    leaves = ScoreState(*(reduce(operator.add, leaf) for leaf in zip(*some, strict=True)))
    again = leaves + ScoreState(*(leaf + leaf for leaf in leaves))  # ten of fifteen, whose edges are not those of one
    for merged, times in ((sum(some), 1), (sum(some[::-1]), 1), (leaves, 1), (again, 3)):
        assert isinstance(merged, ScoreState)
        np.testing.assert_array_equal(backend.numpy(merged.matrix), times * backend.numpy(whole.matrix))
        np.testing.assert_array_equal(backend.numpy(merged.thresholds), backend.numpy(whole.thresholds))
        assert int(merged.dropped) == times * int(whole.dropped) > 0
        for found, wanted in zip(merged.roc_auc(), whole.roc_auc(), strict=True):
            assert float(found) == pytest.approx(float(wanted), rel=1e-6)
        error = float(whole.expected_calibration_error())
        assert float(merged.expected_calibration_error()) == pytest.approx(error, rel=1e-5)
    after = leaves.update(backend.asarray([1]), backend.asarray([0.5]))
    assert backend.numpy(after.states).tolist() == 1


@pytest.mark.sampled(1)
def test_exact_beyond_31_bits(backend: Any) -> None:
    """One more on top of 2**40 is one more, and areas are those of the counts."""
    batch = backend.asarray([0, 1, 1, 0, 1]), backend.asarray([0.1, 0.3, 0.6, 0.7, 0.9], np.float32)
    start = ScoreState.zeros(edges=[0, 0.25, 0.5, 0.75, 1], like=batch[0]).update(*batch)
    state = start
    for _ in range(40):
        state = state + state
    more = backend.numpy((state + start).matrix)
    assert more.dtype == np.int64
    np.testing.assert_array_equal(more, (2**40 + 1) * backend.numpy(start.matrix))
    for found, wanted in zip(state.roc_auc(), start.roc_auc(), strict=True):
        assert float(found) == pytest.approx(float(wanted), rel=1e-6)
    for name, value in state.score(["recall", "mcc"]).items():
        np.testing.assert_allclose(backend.numpy(value), backend.numpy(start.score(name)[name]), rtol=1e-6)


def test_resumed_from_saved_arrays(tmp_path: Any) -> None:
    first, second, *_, whole = [*parts(_NumPy())[:2], sum(parts(_NumPy())[:2])]
    np.savez(tmp_path / "state.npz", **first._asdict())
    resumed = ScoreState(**np.load(tmp_path / "state.npz"))
    assert (pickle.loads(pickle.dumps(first)).counts == first.counts).all()
    for leaf, wanted in zip(resumed + second, first + second, strict=True):
        np.testing.assert_array_equal(leaf, wanted)
    assert whole.counts.shape == first.counts.shape


class _NumPy:
    asarray = staticmethod(np.asarray)


# Samples ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
def test_what_is_dropped_and_what_is_ignored(backend: Any) -> None:
    labels = backend.asarray([0, 1, 2, -1, 9, 9, 1])
    scores = backend.asarray([0.2, 0.7, 0.1, 0.1, 0.1, np.nan, np.nan])
    for ignored, dropped in ((None, 5), (9, 3), (1, 4), ([1, 9], 2)):
        state = ScoreState.zeros(like=labels).update(labels, scores, ignore_index=ignored)
        assert int(state.dropped) == dropped
        assert backend.numpy(state.counts).sum(0).tolist() == [1, int(ignored in (None, 9))]
        assert np.isfinite(backend.numpy(state.calibration)).all()


@pytest.mark.sampled(1)
def test_classes_against_the_rest_and_the_top_score(backend: Any) -> None:
    """Each as a state of two, in a batch of images whose first labels broadcast."""
    y_true, scores = RANDOM.integers(-1, 3, (7, 5)), RANDOM.random((2, 7, 5, 3)).astype(np.float32)
    scores[0, 1, 1, 2] = np.nan
    options: Any = {"bits": 6, "thresholds": np.linspace(0, 1, 21)}
    several: Any = {"num_classes": 3, "batch_shape": (2,), "class_wise": True}
    state = ScoreState.zeros(**options, **several, like=backend.asarray(0))
    state = backend.jit(ScoreState.update)(state, backend.asarray(y_true), backend.asarray(scores))
    bad = np.isnan(scores).any(-1) | (y_true < 0)
    assert backend.numpy(state.dropped).tolist() == bad.sum((1, 2)).tolist()
    for k in range(2):
        kept = ~bad[k]
        hot = y_true[kept][:, None] == np.arange(3)
        top, right = scores[k][kept].max(-1), scores[k][kept].argmax(-1) == y_true[kept]
        for row, (y, s) in enumerate([*zip(hot.T, scores[k][kept].T, strict=True), (right, top)]):
            one = ScoreState.zeros(**options).update(y, s)
            calibration = backend.numpy(state.calibration)[k, row]
            np.testing.assert_allclose(calibration, one.calibration[0], rtol=1e-4, atol=1e-6)
            if row < 3:
                np.testing.assert_array_equal(backend.numpy(state.counts)[k, row], one.counts)
                np.testing.assert_array_equal(backend.numpy(state.matrix)[k, row], one.matrix)
    assert tuple(state.score("recall")["recall"].shape) == (2, 3, 23)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("shape", [(3, 20_000), (9_000, 3), (2, 3, 7_000)])
@pytest.mark.parametrize("n", [None, 3])
def test_large_batches_are_those_of_their_parts(n: int | None, shape: tuple[int, ...]) -> None:
    """On the host they are counted in parts; pooled, by models, and in models of images."""
    y_true = RANDOM.integers(-1, n or 2, shape)
    scores = RANDOM.random(shape if n is None else (*shape, n)).astype(np.float32)
    weights = RANDOM.integers(0, 5, shape) / 4
    for batch in ((), shape[:1]):
        # The buckets of thousands of models would take gigabytes.
        kept: Any = {"edges": np.linspace(0, 1, 10)} if batch == (9_000,) else {"thresholds": [0.2, 0.5], "bits": 6}
        empty = ScoreState.zeros(**kept, num_classes=n, batch_shape=batch, dtype=np.float64)
        whole = empty.update(y_true, scores, sample_weight=weights)
        axis = len(shape) - 1
        parts = [np.array_split(x, 30, axis=axis) for x in (y_true, scores, weights)]
        small = sum(empty.update(y, s, sample_weight=w) for y, s, w in zip(*parts, strict=True))
        np.testing.assert_array_equal(whole.counts, small.counts)
        np.testing.assert_array_equal(whole.bins, small.bins)
        np.testing.assert_allclose(whole.calibration, small.calibration, rtol=1e-9)
        np.testing.assert_array_equal(whole.dropped, small.dropped)


@pytest.mark.sampled(2)
def test_measures_are_those_of_class_1(backend: Any) -> None:
    """An average is obeyed, and keys are as given."""
    batch = backend.asarray(RANDOM.integers(0, 2, 60)), backend.asarray(RANDOM.random(60))
    state = ScoreState.zeros(edges=np.linspace(0, 1, 11), like=batch[0]).update(*batch)
    metrics = ["recall", "recall:macro", "mcc"]
    found = state.score(metrics)
    assert list(found) == metrics
    wanted = matrics.score(backend.numpy(state.matrix), ["recall:binary", "recall:macro", "mcc"])
    for value, peer in zip(found.values(), wanted.values(), strict=True):
        np.testing.assert_allclose(backend.numpy(value), peer, rtol=1e-6)


def test_thresholds_as_torchmetrics_has_them() -> None:
    peer = pytest.importorskip("torchmetrics.functional.classification")
    torch = pytest.importorskip("torch")
    y_true, scores = RANDOM.integers(0, 2, 400), RANDOM.random(400).astype(np.float32)
    state = ScoreState.zeros(thresholds=np.linspace(0, 1, 21)).update(y_true, scores)
    thresholds = torch.from_numpy(state.thresholds[1:-1][::-1].astype(np.float32))
    precision, recall, _ = peer.binary_precision_recall_curve(
        torch.from_numpy(scores), torch.from_numpy(y_true), thresholds=thresholds
    )
    found = state.score(["precision", "recall"])  # torchmetrics has 0 where nothing is predicted as positive
    np.testing.assert_allclose(found["recall"][1:-1][::-1], recall[:-1], rtol=1e-6)
    np.testing.assert_allclose(found["precision"][2:-1][::-1], precision[:-2], rtol=2e-6)


# Calibration --------------------------------------------------------------------------------------------------------


def written_out(y_true: np.ndarray, scores: np.ndarray, bins: int) -> float:
    """The definition, bin by bin."""
    which, error = np.clip(np.floor(scores.astype(np.float64) * bins + 1e-7), 0, bins - 1), 0.0
    for k in range(bins):
        inside = which == k
        if inside.any():
            error += inside.mean() * abs(scores[inside].mean(dtype=np.float64) - y_true[inside].mean())
    return error


@pytest.mark.sampled(1)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], bins=[1, 15])
@pytest.mark.parametrize("bins", [1, 5, 15])
def test_calibration_error_as_it_is_defined(backend: Any, bins: int) -> None:
    y_true, scores = RANDOM.integers(0, 3, 300), RANDOM.dirichlet([1, 1, 1], 300).astype(np.float32)
    scores[:9], y_true[:9] = np.repeat(np.eye(3), 3, axis=0), 1  # all certain, some right
    kept: Any = {"num_bins": bins, "num_classes": 3, "class_wise": True, "bits": 6}
    state = ScoreState.zeros(**kept, like=backend.asarray(0))
    state = state.update(backend.asarray(y_true), backend.asarray(scores))
    tolerance = {"rel": 1e-9 if backend.float64 else 1e-4}
    right = scores.argmax(-1) == y_true
    top = written_out(right, scores.max(-1), bins)
    assert float(state.expected_calibration_error()) == pytest.approx(top, **tolerance)
    each = [written_out(y_true == k, scores[:, k], bins) for k in range(3)]
    assert top == pytest.approx(
        float(matrics.probabilities.expected_calibration_error(y_true, scores, num_bins=bins)), rel=1e-5
    )
    found = state.expected_calibration_error(of="class_wise")
    assert float(found) == pytest.approx(np.mean(each), **tolerance)
    curve = state.reliability_curve(of="class_wise")
    assert backend.numpy(curve.count).sum(-1).tolist() == [300] * 3
    which = np.clip(np.floor(scores[:, 0].astype(np.float64) * bins + 1e-7), 0, bins - 1)
    for k in range(bins):
        mean, share = (float(part[0, k]) for part in curve[:2])
        assert mean == pytest.approx(scores[which == k, 0].mean(dtype=np.float64), **tolerance)
        assert share == pytest.approx((y_true == 0)[which == k].mean(), **tolerance)
    np.testing.assert_allclose(backend.numpy(curve.edges), [np.arange(bins + 1) / bins] * 3, atol=1e-7)


def test_calibration_of_nothing_and_beyond_the_edges() -> None:
    state = ScoreState.zeros(num_bins=2)
    assert np.isnan(state.expected_calibration_error())
    assert state.expected_calibration_error(zero_division=0) == 0
    curve = state.update([0, 1, 1], [-0.5, 0.75, 1.25]).reliability_curve()
    assert curve.mean_probability.tolist() == [-0.5, 1]
    assert np.isnan(state.update([1], [0.1]).reliability_curve().share_of_positives).tolist() == [False, True]


@pytest.mark.parametrize("num_bins", [7, 15, 1000])
def test_calibration_is_that_of_all_samples(num_bins: int) -> None:
    """For probabilities at the edges of bins as well, and for logits."""
    y_true = RANDOM.integers(0, 2, 5000)
    scores = np.concatenate([RANDOM.random(4000), np.arange(1000) / 999])
    logits = RANDOM.normal(size=5000) * 4
    for values, given in ((scores, {"y_score": scores}), (1 / (1 + np.exp(-logits)), {"logits": logits})):
        state = ScoreState.zeros(num_bins=num_bins, bits=0).update(y_true, **given)
        wanted = matrics.probabilities.expected_calibration_error(y_true, values, num_bins=num_bins)
        assert state.expected_calibration_error() == pytest.approx(wanted, rel=1e-10)
        curve, peer = (
            state.reliability_curve(),
            matrics.probabilities.reliability_curve(y_true, values, num_bins=num_bins),
        )
        for found, expected in zip(curve, peer, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10)


# What is refused ----------------------------------------------------------------------------------------------------


def zeros(**options: Any) -> ScoreState:
    return ScoreState.zeros(**options)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: zeros(bits=0, num_bins=0), ValueError, "expected a state that keeps something"),
        (lambda: zeros(bits=3), ValueError, "bits: expected an integer from 4 to 20, or 0 for no areas, got 3"),
        (lambda: zeros(bits=21), ValueError, "bits: expected an integer from 4 to 20, or 0 for no areas, got 21"),
        (lambda: zeros(bits=True), ValueError, "bits: expected an integer from 4 to 20, or 0 for no areas, got True"),
        (lambda: zeros(num_bins=-1), ValueError, "num_bins: expected an integer of at least 1, got -1"),
        (lambda: zeros(class_wise=True), ValueError, "class_wise: expected False without num_classes="),
        (lambda: zeros(num_classes=3, class_wise=1), TypeError, "class_wise: expected True or False, got 1"),
        (lambda: zeros(thresholds=[0.5, np.nan]), ValueError, "thresholds: expected finite numbers"),
        (lambda: zeros(thresholds="half"), ValueError, "thresholds: expected finite numbers, got 'half'"),
        (lambda: zeros(edges=[0, 1], bits=8), ValueError, "bits: expected None with edges="),
        (lambda: zeros().thresholds, ValueError, "keeps counts at thresholds, got none"),
        (lambda: zeros().score("f1"), ValueError, "keeps counts at thresholds, got none"),
        (lambda: zeros(bits=0).roc_auc(), ValueError, "expected a state that keeps areas, got bits=0"),
        (lambda: zeros(num_bins=0).reliability_curve(), ValueError, "got num_bins=0"),
        (lambda: zeros().update([1]), TypeError, "expected either y_score or logits, got neither"),
        (lambda: zeros().update([1], [0.5], logits=[0.0]), TypeError, "expected either y_score or logits, got both"),
        (lambda: zeros(edges=[0]), ValueError, "edges: expected two or more"),
        (lambda: zeros(edges=np.linspace(1e6, 1e6 + 1, 101)), ValueError, "numbers that increase, also in float32"),
        (lambda: zeros(edges=["a", "b"]), ValueError, "edges: expected two or more"),
        (lambda: zeros(edges=[0, 1, 1]), ValueError, "numbers that increase, also in float32, got 1.0 before 1.0 at 1"),
        (lambda: zeros(edges=[0, np.inf]), ValueError, "edges: expected finite numbers"),
        (lambda: zeros(num_classes=1), ValueError, "num_classes: expected None .* got 1"),
        (lambda: zeros(num_classes=2.5), ValueError, "num_classes: expected an integer"),
        (lambda: zeros(batch_shape=(-1,)), ValueError, "batch_shape: expected lengths of axes"),
        (lambda: zeros(dtype=np.int32), TypeError, "dtype: expected None for integer counts"),
        (lambda: zeros().update([0], [0.1], sample_weight=[1.0]), TypeError, r"integer counts; .* dtype=\), float32"),
        (lambda: zeros().update([0, 1], [0, 1]), TypeError, "y_score: expected floating scores, got dtype int64"),
        (lambda: zeros().update([0.5], [0.1]), ValueError, "y_true: expected labels"),
        (lambda: zeros().update([0, 1], [0.1]), ValueError, "the same samples"),
        (lambda: zeros(num_classes=3).update([0], [[0.1, 0.9]]), ValueError, "expected 3 along the last axis"),
        (lambda: zeros().update([0], [[0.1, 0.9]]), ValueError, "make the state with num_classes="),
        (lambda: zeros(batch_shape=(2,)).update([0], [0.1]), ValueError, r"the batch \(2,\) of the state"),
        (lambda: zeros(batch_shape=(2, 2)).update([0], [0.1]), ValueError, r"the batch \(2, 2\) of the state"),
        (lambda: zeros() + zeros(num_classes=3), ValueError, "same classes and batch, got num_classes None and 3"),
        (
            lambda: zeros() + zeros(bits=10),
            ValueError,
            "got bits=15 and bits=10; make both with the same",
        ),
        (lambda: zeros() + zeros(edges=[0, 1]), ValueError, "got bits=15 and bits=0"),
        (lambda: zeros() + zeros(num_bins=3), ValueError, "got num_bins=15, class_wise=False and num_bins=3"),
        (lambda: zeros(thresholds=0.5) + zeros(thresholds=0.6), ValueError, "the same edges or thresholds"),
        (lambda: zeros(losses=True) + zeros(), ValueError, "the same losses= and top_k="),
        (lambda: zeros() + zeros(dtype=np.float64), TypeError, "the same kind of counts, got int64 and float64"),
        (lambda: operator.add(zeros(), (1, 2)), TypeError, "expected a ScoreState to add, got tuple"),
        (lambda: 1 + zeros(), TypeError, "expected a ScoreState to add, got int"),
        (lambda: 2 * zeros(), TypeError, "cannot be multiplied"),
        (lambda: zeros().roc_auc(average="mean"), ValueError, "average: expected one of 'auto', 'macro'"),
        (lambda: zeros().roc_auc(zero_division="a"), TypeError, "zero_division: expected a number"),
        (lambda: zeros().score("recal"), ValueError, "recal"),
        (lambda: zeros().expected_calibration_error(of="top"), ValueError, "of: expected 'top_label' or 'class_wise'"),
        (
            lambda: zeros(num_classes=3).expected_calibration_error(of="class_wise"),
            ValueError,
            "of: expected a state made with class_wise=True",
        ),
        (lambda: zeros().reliability_curve(of="top_label"), ValueError, "of: expected None"),
    ],
)
def test_errors_say_what_was_expected(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()
