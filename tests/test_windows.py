"""Windows of the last batches, and counts that decay: states and what NumPy says by hand, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ConfusionState, MarginState, MultilabelState, ScoreState
from matrics._states.leaves import MOST_DROPPED

RANDOM = np.random.default_rng(7)
N = 4
KINDS = {
    "confusion": (ConfusionState, {"num_classes": N}),
    "groups": (ConfusionState, {"num_classes": N, "num_groups": 2}),
    "margins": (MarginState, {"num_classes": N}),
    "scores": (ScoreState, {"bits": 6, "num_classes": N, "losses": True, "top_k": 2}),
    "binary scores": (ScoreState, {"bits": 6}),
    "multilabel": (MultilabelState, {"num_labels": N}),
}


def draw(kind: str, size: int) -> tuple[list[np.ndarray], dict[str, Any]]:
    """A batch for a state of this kind, with some that is dropped."""
    labels = RANDOM.integers(-1, N, (2, size))
    options = {"groups": RANDOM.integers(0, 2, size)} if kind == "groups" else {}
    if kind == "scores":
        return [labels[0], RANDOM.dirichlet(np.ones(N), size).astype(np.float32)], options
    if kind == "binary scores":
        return [np.minimum(labels[0], 1), RANDOM.random(size).astype(np.float32)], options
    if kind == "multilabel":
        return list(RANDOM.integers(0, 2, (2, size, N))), options
    return list(labels), options


def passed(backend: Any, batch: Any) -> tuple[list[Any], dict[str, Any]]:
    arrays, options = batch
    return [backend.asarray(array) for array in arrays], {
        name: backend.asarray(value) for name, value in options.items()
    }


def leaves(state: Any) -> list[Any]:
    return [part for leaf in state for part in (leaves(leaf) if hasattr(leaf, "_fields") else [leaf])]


def assert_same(backend: Any, found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    for mine, other in zip(leaves(found), leaves(wanted), strict=True):
        assert mine.dtype == other.dtype
        # What a sum of losses in 32 bits leaves over is as exact as that sum is.
        atol = 1e-6 if backend.float64 else 1e-5
        np.testing.assert_allclose(backend.numpy(mine), backend.numpy(other), rtol=1e-5, atol=atol)


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(backend=["torch-grad", "jax", "jax-x64"], kind=["groups", "margins", "binary scores"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_window_has_the_last_batches(backend: Any, kind: str) -> None:
    """After each batch its total is a new state that has seen these alone; before the window is full, all of them."""
    make, options = KINDS[kind]
    like = backend.asarray(0)
    window = make.zeros(**options, batch_shape=(3,), like=like)
    shapes = [leaf.shape for leaf in leaves(window)]
    push = backend.program(lambda window, arrays, others: window.push(*arrays, **others))
    update = backend.program(lambda state, arrays, others: state.update(*arrays, **others))
    total = backend.program(lambda window: window.total())
    batches = [passed(backend, draw(kind, size)) for size in (20, 0, 20, 20, 20)]
    for number, batch in enumerate(batches, 1):
        window = push(window, *batch)
        assert [leaf.shape for leaf in leaves(window)] == shapes
        wanted = make.zeros(**options, like=like)
        for before in batches[max(number - 3, 0) : number]:
            wanted = update(wanted, *before)
        assert_same(backend, total(window), wanted)


@pytest.mark.sampled(1)
def test_the_newest_batch_is_the_last_entry(backend: Any) -> None:
    labels = [backend.asarray([number, number]) for number in range(3)]
    window = ConfusionState.zeros(3, batch_shape=(2,), like=labels[0])
    push = backend.program(lambda window, *labels: window.push(*labels))
    for number in labels:
        window = push(window, number, number)
    assert np.diagonal(backend.numpy(window.matrix), axis1=1, axis2=2).tolist() == [[0, 2, 0], [0, 0, 2]]


@pytest.mark.sampled(2)
def test_a_window_of_several_models(backend: Any) -> None:
    truth, pred = backend.asarray([0, 1, 1]), backend.asarray([[0, 1, 1], [0, 0, 1]])
    window = ConfusionState.zeros(2, batch_shape=(4, 2), like=truth)
    push = backend.program(lambda window, *labels: window.push(*labels))
    for _ in range(6):
        window = push(window, truth, pred)
    wanted = 4 * np.stack([matrics.confusion_matrix([0, 1, 1], row, num_classes=2) for row in ([0, 1, 1], [0, 0, 1])])
    np.testing.assert_array_equal(backend.numpy(window.total().matrix), wanted)


@pytest.mark.sampled(2)
def test_a_total_is_exact(backend: Any) -> None:
    """Also of two words, of more entries than can be added up in one go, and of dropped samples that fill a word."""
    for length in (3, 40_000):
        state = ConfusionState.zeros(1, batch_shape=(length,), like=backend.asarray(0))
        has_words = state.carried.shape[-1] > 0
        zeros = backend.numpy(state.counts)
        filled = state._replace(
            counts=backend.asarray(zeros + 2**16 - 1), dropped=backend.asarray(zeros[:, 0, 0] + MOST_DROPPED)
        )
        total = backend.call(lambda filled: filled.total(), filled)
        assert int(backend.numpy(total.matrix).sum()) == length * (2**16 - 1)
        if has_words:
            assert int(total.dropped) == MOST_DROPPED
            assert 0 <= int(total.counts.min()) <= int(total.counts.max()) < 2**16
        else:
            assert int(total.dropped) == length * MOST_DROPPED


@pytest.mark.sampled(3)
@pytest.mark.exhaustive(backend=["torch-grad", "jax", "jax-x64"], kind=["groups", "margins", "binary scores"])
@pytest.mark.parametrize("kind", KINDS)
def test_counts_decay(backend: Any, kind: str) -> None:
    """As a sum of the counts of single batches with weights by hand; dropped samples do not decay."""
    make, options = KINDS[kind]
    like = backend.asarray(0)
    options = options | {"like": like, "dtype": backend.asarray(np.zeros((), np.float32)).dtype}
    decay, batches = 0.75, [passed(backend, draw(kind, size)) for size in (20, 0, 20, 20)]
    update = backend.program(lambda state, arrays, others: state.decayed(decay).update(*arrays, **others))
    state = empty = make.zeros(**options)
    for batch in batches:
        state = update(state, *batch)
    alone = [leaves(update(empty, *batch)) for batch in batches]
    names = list(state._fields)
    assert len(names) == len(leaves(state))
    for name, found, *parts in zip(names, leaves(state), *alone, strict=True):
        by_batch = [backend.numpy(part).astype(float) for part in parts]
        if name in ("edges", "states", "top_k"):
            wanted = by_batch[0]
        else:
            weights = [1.0 if name in ("dropped", "rounded") else decay**t for t in range(len(batches) - 1, -1, -1)]
            wanted = sum(weight * part for weight, part in zip(weights, by_batch, strict=True))
        np.testing.assert_allclose(backend.numpy(found), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ConfusionState.zeros(3).push([0], [0]), ValueError, "push: expected a window, a ConfusionState.zeros"),
        (lambda: MarginState.zeros(3).total(), ValueError, r"at least 1, got a state of batch_shape \(\)"),
        (lambda: ConfusionState.zeros(3, batch_shape=(0, 2)).push([0], [0]), ValueError, r"got a state of .* \(0, 2\)"),
        (lambda: MultilabelState.zeros(3).total(), ValueError, r"a MultilabelState.zeros\(..., batch_shape=\(k,\)\)"),
        (
            lambda: MultilabelState.zeros(3).decayed(0.5),
            TypeError,
            r"make it with MultilabelState.zeros\(..., dtype=\)",
        ),
        (
            lambda: ScoreState.zeros().decayed(0.5),
            TypeError,
            "expected a state of floating counts, got integer counts",
        ),
        (lambda: ConfusionState.zeros(3, dtype=np.float64).decayed(0), ValueError, "above 0 and at most 1, got 0"),
        (lambda: ConfusionState.zeros(3, dtype=np.float64).decayed(1.5), ValueError, "at most 1, got 1.5"),
        (lambda: ConfusionState.zeros(3, dtype=np.float64).decayed(np.nan), ValueError, "at most 1, got nan"),
        (lambda: ConfusionState.zeros(3, dtype=np.float64).decayed("0.9"), TypeError, "expected a number .* got '0.9'"),
        (lambda: ConfusionState.zeros(3, dtype=np.float64).decayed(True), TypeError, "got True"),
    ],
)
def test_errors_say_what_was_expected(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.sampled(2)
def test_a_batch_is_not_a_window(backend: Any) -> None:
    """Push takes what update takes of one entry, and has its errors."""
    window = ConfusionState.zeros(3, batch_shape=(2,), like=backend.asarray(0))
    with pytest.raises(TypeError, match="integer counts"):
        window.push(*[backend.asarray([0, 1])] * 2, sample_weight=backend.asarray([1.0, 1.0]))
    total = window.push(*[backend.asarray([[0, 1], [1, 1]])] * 2).total()
    assert backend.numpy(total.matrix).tolist() == [[1, 0, 0], [0, 3, 0], [0, 0, 0]]


@pytest.mark.exhaustive
def test_one_graph(torch: Any) -> None:
    window = ConfusionState.zeros(3, batch_shape=(2,), like=torch.zeros(()))
    moving = ConfusionState.zeros(3, dtype=torch.float64, like=torch.zeros(()))

    @torch.compile(fullgraph=True, backend="aot_eager")
    def step(window: Any, moving: Any, labels: Any, scores: Any) -> Any:
        window, moving = window.push(labels, scores), moving.decayed(0.9).update(labels, scores)
        return window, moving, window.total().score("mcc")["mcc"]

    batches = [(torch.from_numpy(RANDOM.integers(0, 3, 20)), torch.randn(20, 3)) for _ in range(4)]
    wanted, by_hand = window, moving
    for batch in batches:
        window, moving, mcc = step(window, moving, *batch)
        wanted, by_hand = wanted.push(*batch), by_hand.decayed(0.9).update(*batch)
        assert mcc == pytest.approx(wanted.total().score("mcc")["mcc"], abs=1e-12)
    assert torch.equal(window.counts, wanted.counts)
    assert torch.allclose(moving.counts, by_hand.counts)


def test_a_scan(jax_backend: Any) -> None:
    import jax
    import jax.numpy as jnp

    batches = [jax_backend.asarray(RANDOM.integers(0, 3, (6, 20))) for _ in range(2)]

    def step(states: Any, batch: Any) -> Any:
        window, moving = states
        window, moving = window.push(*batch), moving.decayed(0.5).update(*batch)
        return (window, moving), (window.total().score("accuracy")["accuracy"], moving.score("accuracy")["accuracy"])

    like = jnp.zeros((), jnp.int32)
    start = (
        ConfusionState.zeros(3, batch_shape=(2,), like=like),
        ConfusionState.zeros(3, dtype=jnp.float32, like=like),
    )
    _, (running, moving) = jax.jit(lambda start, *batches: jax.lax.scan(step, start, batches))(start, *batches)
    hits = (np.asarray(batches[0]) == np.asarray(batches[1])).mean(axis=1)
    np.testing.assert_allclose(running[1:], (hits[1:] + hits[:-1]) / 2, rtol=1e-6)
    weights = np.tril(0.5 ** (np.arange(6)[:, None] - np.arange(6)))
    np.testing.assert_allclose(moving, weights @ hits / weights.sum(axis=1), rtol=1e-5)
