"""Sums of many numbers in float32: of a million samples, each added up in 64 bits by NumPy for comparison.

Added up one by one, they would be wrong by 1e-4 to 1e-2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import matrics

SIZE = 2**20


class Samples:
    """A million samples, which take memory only while the tests of this file run."""

    @cached_property
    def true(self) -> np.ndarray:
        return np.random.default_rng(4).integers(0, 2, SIZE)

    @cached_property
    def probability(self) -> np.ndarray:
        return (np.random.default_rng(5).random(SIZE) * 0.98 + 0.01).astype(np.float32)

    @cached_property
    def pred(self) -> np.ndarray:
        return (self.probability > 0.5).astype(np.int64)

    @cached_property
    def weight(self) -> np.ndarray:
        return (np.random.default_rng(6).random(SIZE) + 0.5).astype(np.float32)

    @cached_property
    def alike(self) -> np.ndarray:
        """All in two buckets."""
        return np.where(np.random.default_rng(7).random(SIZE) < 0.5, 0.3, 0.7).astype(np.float32)

    @cached_property
    def both(self) -> np.ndarray:
        return np.stack([1 - self.probability, self.probability], axis=-1)


DATA = Samples()


@pytest.fixture(scope="module", autouse=True)
def let_go() -> Iterator[None]:
    yield
    vars(DATA).clear()


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


def cells(weight: np.ndarray, *codes: np.ndarray) -> np.ndarray:
    """The sums of weights in 64 bits."""
    place = np.ravel_multi_index(codes, (2,) * len(codes))
    return np.bincount(place, wide(weight), 2 ** len(codes)).reshape((2,) * len(codes))


def losses(probability: np.ndarray) -> list[float]:
    p = wide(probability)
    return [-np.log(np.where(DATA.true == 1, p, 1 - p)).mean(), ((p - DATA.true) ** 2).mean()]


def area(score: np.ndarray) -> float:
    """The share of pairs in the right order, of few different scores."""
    levels, place = np.unique(score, return_inverse=True)
    negative, positive = (np.bincount(place, wide(DATA.weight) * (k == DATA.true), len(levels)) for k in (0, 1))
    below = np.cumsum(negative) - negative
    return float((positive * (below + negative / 2)).sum() / positive.sum() / negative.sum())


def of_state(state: Any) -> list[Any]:
    return [state.log_loss(), state.brier_score(), state.expected_calibration_error()]


def calibration_error() -> float:
    place = np.minimum((wide(DATA.probability) * 15).astype(int), 14)
    gaps = np.bincount(place, wide(DATA.probability) - DATA.true, 15)
    return float(np.abs(gaps).sum() / SIZE)


CASES: dict[str, tuple[Callable[..., Any], Callable[[], tuple[np.ndarray, ...]], Callable[[], Any]]] = {
    "losses and calibration of a state": (
        lambda y, p: of_state(matrics.ScoreState.zeros(bits=0, losses=True, like=p).update(y, p)),
        lambda: (DATA.true, DATA.probability),
        lambda: [*losses(DATA.probability), calibration_error()],
    ),
    "weighted area of a state": (
        lambda y, p, w: (
            matrics.ScoreState.zeros(bits=8, num_bins=0, like=p, dtype=w.dtype)
            .update(y, p, sample_weight=w)
            .roc_auc()
            .value
        ),
        lambda: (DATA.true, DATA.alike, DATA.weight),
        lambda: area(DATA.alike),
    ),
    "matrix of weights": (
        lambda y, p, w: matrics.confusion_matrix(y, p, num_classes=2, sample_weight=w),
        lambda: (DATA.true, DATA.pred, DATA.weight),
        lambda: cells(DATA.weight, DATA.true, DATA.pred),
    ),
    "margins of weights": (
        lambda y, p, w: matrics.MarginState.zeros(2, like=w, dtype=w.dtype).update(y, p, sample_weight=w).counts[0],
        lambda: (DATA.true, DATA.pred, DATA.weight),
        lambda: np.diag(cells(DATA.weight, DATA.true, DATA.pred)),
    ),
    "joint table of weights": (
        lambda y, a, b, w: matrics.stats.joint_confusion_matrix(y, a, b, num_classes=2, sample_weight=w),
        lambda: (DATA.true, DATA.pred, (DATA.alike > 0.5).astype(np.int64), DATA.weight),
        lambda: cells(DATA.weight, DATA.true, DATA.pred, (DATA.alike > 0.5).astype(np.int64)),
    ),
    "soft matrix": (
        matrics.soft_confusion_matrix,
        lambda: (DATA.true, DATA.both),
        lambda: [[np.bincount(DATA.true, wide(DATA.both[:, k]))[t] for k in (0, 1)] for t in (0, 1)],
    ),
    "soft targets": (
        matrics.soft_confusion_matrix,
        lambda: (DATA.both, DATA.both),
        lambda: wide(DATA.both).T @ wide(DATA.both),
    ),
    "calibration": (
        matrics.probabilities.expected_calibration_error,
        lambda: (DATA.true, DATA.probability),
        calibration_error,
    ),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("compiled", [False, True])
def test_jax(jax_backend: Any, name: str, compiled: bool) -> None:  # noqa: FBT001
    import jax

    call, arrays, expected = CASES[name]
    given = [jax_backend.asarray(x, np.float32 if x.dtype == np.float32 else np.int32) for x in arrays()]
    found = (jax.jit(call) if compiled else call)(*given)
    np.testing.assert_allclose(np.asarray(found, np.float64), expected(), rtol=5e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("gradient", [False, True])  # True: by PyTorch's own operations
def test_torch(torch: Any, name: str, gradient: bool) -> None:  # noqa: FBT001
    call, arrays, expected = CASES[name]
    given = [torch.from_numpy(x) for x in arrays()]
    if gradient:
        given = [x.requires_grad_() if x.dtype == torch.float32 else x for x in given]
    found = call(*given)
    found = torch.stack([x.detach() for x in found]) if isinstance(found, list) else found.detach()
    np.testing.assert_allclose(found.double().numpy(), expected(), rtol=5e-6)


@pytest.mark.exhaustive
def test_batches_of_a_state(jax_backend: Any) -> None:
    """Across batches the losses are compensated: a thousand of them have the mean of all."""
    import jax
    import jax.numpy as jnp

    y, p = (
        jax_backend.asarray(x.reshape(1024, -1), kind)
        for x, kind in ((DATA.true, np.int32), (DATA.probability, np.float32))
    )
    state = matrics.ScoreState.zeros(bits=0, losses=True, like=jnp.zeros(1))
    run = jax.jit(lambda state: jax.lax.scan(lambda state, batch: (state.update(*batch), None), state, (y, p))[0])
    found = [float(x) for x in of_state(run(state))]
    np.testing.assert_allclose(found, [*losses(DATA.probability), calibration_error()], rtol=5e-6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("decay", [1, 0.999])
@pytest.mark.parametrize("kind", [matrics.ConfusionState, matrics.MarginState])
def test_weights_of_many_batches(jax_backend: Any, kind: Any, decay: float) -> None:
    """Weights of 2**14 batches of 64: added up in float32 alone they would be wrong by 2e-5."""
    import jax
    import jax.numpy as jnp

    number = 2**14
    y, p, w = (x.reshape(number, -1) for x in (DATA.true, DATA.pred, DATA.weight))
    state = kind.zeros(2, like=jnp.zeros(1), dtype=jnp.float32)
    arrays = [jax_backend.asarray(x, kind) for x, kind in ((y, np.int32), (p, np.int32), (w, np.float32))]

    def step(state: Any, batch: Any) -> tuple[Any, None]:
        labels, pred, weight = batch
        return (state if decay == 1 else state.decayed(decay)).update(labels, pred, sample_weight=weight), None

    found = jax.jit(lambda state: jax.lax.scan(step, state, arrays)[0])(state)
    faded = wide(DATA.weight) * np.repeat(decay ** np.arange(number - 1, -1, -1.0), SIZE // number)
    expected = cells(faded, DATA.true, DATA.pred)
    rtol = 1e-6 if decay == 1 else 3e-5  # 0.999 in float32 has an error of 1.3e-8, and a thousand steps count
    if kind is matrics.ConfusionState:
        np.testing.assert_allclose(np.asarray(found.matrix, np.float64), expected, rtol=rtol)
    accuracy = np.trace(expected) / expected.sum()
    np.testing.assert_allclose(float(found.score("accuracy")["accuracy"]), accuracy, rtol=rtol)
    both = found + found
    np.testing.assert_allclose(float(jax.jit(lambda x: x.score("accuracy")["accuracy"])(both)), accuracy, rtol=rtol)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [matrics.ConfusionState, matrics.MarginState])
def test_small_weights_after_large_ones(kind: Any) -> None:
    """2**24 and then 1,000 times 1, none of which float32 alone would add; also merged into and from float64."""
    narrow = kind.zeros(2, dtype=np.float32).update([0], [0], sample_weight=[2.0**24])
    for _ in range(1000):
        narrow = narrow.update([0], [0], sample_weight=[1.0])
    narrow = narrow.update([1], [1], sample_weight=[2.0**24])
    exact = (2**24 + 1000) / (2**25 + 1000)
    wide_one = kind.zeros(2, dtype=np.float64)
    for state in (narrow, wide_one + narrow, narrow + wide_one, kind.zeros(2, dtype=np.float32) + narrow):
        first = np.asarray(state.matrix if kind is matrics.ConfusionState else state.true, np.float64).ravel()[0]
        assert first == 2**24 + 1000
        recall = np.float64(state.score("prevalence:class")["prevalence:class"][0])
        assert recall == pytest.approx(exact, rel=1e-7)
