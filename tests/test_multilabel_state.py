"""The running state of several labels: counts, merges, what is dropped, and exactness, on every backend."""

from __future__ import annotations

import functools
import operator
import pickle
from functools import reduce
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import MultilabelState

RANDOM = np.random.default_rng(18)
AVERAGES = ("macro", "micro", "weighted", "label")
SPECS = ["f1", "mcc", "cohen_kappa"]


def drawn(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    return RANDOM.integers(0, 2, shape), RANDOM.integers(0, 2, shape)


def leaves(state: MultilabelState) -> list[Any]:
    return list(state)


def is_that_of(state: MultilabelState, y_true: Any, y_pred: Any, backend: Any) -> None:
    """Check every count and average of the state against those of all samples at once."""
    np.testing.assert_array_equal(backend.numpy(state.matrix), matrics.multilabel.confusion_matrix(y_true, y_pred))
    for average in AVERAGES:
        wanted = matrics.multilabel.score(y_true, y_pred, SPECS, average=average)
        found = state.score(SPECS, average=average)
        assert list(found) == SPECS
        for name, value in found.items():
            np.testing.assert_allclose(backend.numpy(value), wanted[name], **backend.tolerance)
    exact, wrong = (y_true == y_pred).all(-1).mean(-1), (y_true != y_pred).mean((-1, -2))
    np.testing.assert_allclose(backend.numpy(state.subset_accuracy()), exact, rtol=1e-6)
    np.testing.assert_allclose(backend.numpy(state.hamming_loss()), wrong, rtol=1e-6)


@pytest.mark.sampled(2)
def test_batches_are_the_whole(backend: Any) -> None:
    y_true, y_pred = drawn(90, 4)
    state = MultilabelState.zeros(4, like=backend.asarray(0))
    update = backend.program(MultilabelState.update)
    for part in np.split(np.arange(90), [20, 20, 64]):  # ragged, and one with nothing
        before, state = state, update(state, backend.asarray(y_true[part]), backend.asarray(y_pred[part]))
        assert len(part) == 0 or not np.array_equal(backend.numpy(before.matrix), backend.numpy(state.matrix))
    assert isinstance(state, MultilabelState)
    is_that_of(state, y_true, y_pred, backend)
    assert not backend.numpy(state.dropped).any()


@pytest.mark.exhaustive
def test_a_batch_of_models_and_axes_of_samples(backend: Any) -> None:
    y_true, y_pred = drawn(6, 5, 3)[0], RANDOM.integers(0, 2, (2, 6, 5, 3))
    state = MultilabelState.zeros(3, batch_shape=(2,), like=backend.asarray(0))
    update = backend.program(MultilabelState.update)
    state = update(state, backend.asarray(y_true), backend.asarray(y_pred))
    both = np.broadcast_to(y_true, y_pred.shape).reshape(2, 30, 3), y_pred.reshape(2, 30, 3)
    is_that_of(state, *both, backend)
    one = MultilabelState.zeros(3, like=backend.asarray(0))  # one sample has no axis of samples
    one = update(one, backend.asarray(y_true[0, 0]), backend.asarray(y_pred[0, 0, 0]))
    is_that_of(one, y_true[0, :1], y_pred[0, 0, :1], backend)


@pytest.mark.sampled(1)
def test_what_is_dropped_and_what_is_ignored(backend: Any) -> None:
    """Nothing raises; a sample with a dropped entry is no whole sample, one with an ignored entry is."""
    y_true = np.asarray([[0, 1, 1], [1, -1, 0], [5, 1, 0], [1, 1, 1], [-1, -1, -1]])
    scores = np.asarray([[0.1, 0.9, 0.5], [0.9, 0.9, 0.2], [0.5, 0.5, 0.5], [0.9, np.nan, 0.1], [0.1, 0.1, 0.1]])
    arrays = backend.asarray(y_true), backend.asarray(scores, np.float32)
    start = MultilabelState.zeros(3, like=arrays[0])
    state = start.update(*arrays, threshold=0.5)
    cells = [[[1, 0], [0, 2]], [[0, 0], [0, 2]], [[1, 1], [1, 1]]]
    assert backend.numpy(state.matrix).tolist() == cells
    assert backend.numpy(state.dropped).tolist() == [2, 3, 1, 4]
    assert float(backend.numpy(state.subset_accuracy())) == 1
    state = start.update(*arrays, threshold=0.5, ignore_index=(-1, -7))
    assert backend.numpy(state.matrix).tolist() == cells
    assert backend.numpy(state.dropped).tolist() == [1, 1, 0, 2]
    assert backend.numpy(state.samples.matrix).tolist() == [[0, 0], [0, 2]]


@pytest.mark.sampled(2)
def test_sums(backend: Any) -> None:
    """``+``, ``sum`` and a sum leaf by leaf are the state of all data."""
    y_true, y_pred = drawn(3, 20, 2)
    like = backend.asarray(0)
    parts = [
        MultilabelState.zeros(2, like=like).update(backend.asarray(t), backend.asarray(p))
        for t, p in zip(y_true, y_pred, strict=True)
    ]
    by_leaf = MultilabelState(*(reduce(operator.add, leaf) for leaf in zip(*parts, strict=True)))
    for merged in (sum(parts), reduce(operator.add, parts), by_leaf):
        assert isinstance(merged, MultilabelState)
        is_that_of(merged, y_true.reshape(60, 2), y_pred.reshape(60, 2), backend)
    if backend.name != "strict":
        again = pickle.loads(pickle.dumps(parts[0]))
        assert isinstance(again, MultilabelState)
        np.testing.assert_array_equal(backend.numpy(again.matrix), backend.numpy(parts[0].matrix))


@pytest.mark.sampled(2)
def test_counts_beyond_31_bits(backend: Any) -> None:
    """One more on top of 2**40 is one more, also in the sum over labels."""
    y_true, y_pred = np.asarray([[0, 1], [1, 1], [1, 1]]), np.asarray([[0, 1], [1, 0], [1, 1]])
    arrays = backend.asarray(y_true), backend.asarray(y_pred)
    state = start = MultilabelState.zeros(2, like=arrays[0]).update(*arrays)
    for _ in range(40):
        state = state + state
    state = state + start
    wanted = matrics.multilabel.confusion_matrix(y_true, y_pred) * (2**40 + 1)
    found = backend.numpy(state.matrix)
    assert found.dtype == np.int64
    assert found.tolist() == wanted.tolist()
    for average in AVERAGES:
        once = matrics.multilabel.score(y_true, y_pred, SPECS, average=average)
        for name, value in state.score(SPECS, average=average).items():
            np.testing.assert_allclose(backend.numpy(value), once[name], **backend.tolerance)
    np.testing.assert_allclose(backend.numpy(state.subset_accuracy()), 2 / 3, rtol=1e-6)


@pytest.mark.sampled(1)
def test_so_many_labels_that_low_words_would_wrap(backend: Any) -> None:
    """In default JAX, with 2**16 - 1 in the low word of each of 40,000 labels."""
    labels = np.zeros((1, 40_000), bool)
    labels[:, ::2] = True
    state = MultilabelState.zeros(40_000, like=backend.asarray(0))
    once = state.update(backend.asarray(labels), backend.asarray(labels))
    for doubling in range(16):
        state = once if doubling == 0 else state + state + once
    found = state.score("accuracy", average="micro")["accuracy"]
    assert float(backend.numpy(found)) == 1
    found = state.score("positives", average="micro")["positives"]
    assert float(backend.numpy(found)) == pytest.approx(20_000 * (2**16 - 1), rel=1e-6)


@pytest.mark.sampled(2)
def test_weights(backend: Any) -> None:
    y_true, y_pred = drawn(20, 3)
    weights = RANDOM.integers(0, 8, 20) / 4
    xp = matrics._arrays.as_arrays(like=backend.asarray(0))[0].xp
    state = MultilabelState.zeros(3, like=backend.asarray(0), dtype=xp.float32)
    update = backend.program(lambda state, *arrays: state.update(*arrays[:2], sample_weight=arrays[2]))
    arrays = [backend.asarray(x) for x in (y_true, y_pred)]
    state = update(state, *arrays, backend.asarray(weights, np.float32))
    wanted = matrics.multilabel.confusion_matrix(y_true, y_pred, sample_weight=weights)
    np.testing.assert_array_equal(backend.numpy(state.matrix), wanted)
    exact = np.average((y_true == y_pred).all(1), weights=weights)
    np.testing.assert_allclose(backend.numpy(state.subset_accuracy()), exact, rtol=1e-6)
    bad = update(state, *arrays, backend.asarray(weights * np.nan, np.float32))
    for average in AVERAGES:
        assert np.isnan(backend.numpy(bad.score("f1", average=average, invalid="nan")["f1"])).all()


@pytest.mark.sampled(2)
def test_a_state_stays_in_its_library(backend: Any) -> None:
    """Lists and NumPy's arrays become its arrays, except on a device of PyTorch, where they are refused."""
    if backend.name == "torch-cuda":
        with pytest.raises(TypeError, match=r"y_true: expected a tensor on cuda:0 .*, got an array of NumPy"):
            MultilabelState.zeros(2, like=backend.asarray(0)).update([[0, 1]], np.asarray([[1, 1]]))
        return
    state = MultilabelState.zeros(2, like=backend.asarray(0)).update([[0, 1]], np.asarray([[1, 1]]))
    assert type(state.labels.counts) is type(backend.asarray(0)) or backend.name == "numpy"
    assert backend.numpy(state.matrix).tolist() == [[[0, 1], [0, 0]], [[0, 0], [0, 1]]]


def zeros(*args: Any, **options: Any) -> MultilabelState:
    return MultilabelState.zeros(*args, **options)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: zeros(0), ValueError, "num_labels: expected an integer of at least 1, got 0"),
        (lambda: zeros(2, batch_shape=(-1,)), ValueError, "batch_shape: expected lengths of axes"),
        (lambda: zeros(2, dtype=np.int32), TypeError, "dtype: expected None for integer counts"),
        (lambda: zeros(2).update([[0, 1]], [[0.2, 0.8]]), ValueError, "pass threshold=0.5, or y_pred >= 0.5"),
        (lambda: zeros(2).update([[0, 1]], [[0, 1]], threshold=0.5), TypeError, "threshold: expected y_pred to be fl"),
        (lambda: zeros(2).update([[0, 1]], [[0.1, 1]], threshold="x"), ValueError, "threshold: expected a number"),
        (lambda: zeros(2).update([[0, 1]], [[0.1, 1]], threshold=[0.5, 0.2]), ValueError, "pass y_pred >= thresholds"),
        (lambda: zeros(2).update([[0, 1, 1]], [[0, 1, 1]]), ValueError, r"the 2 labels of the state .* \(1, 3\)"),
        (lambda: zeros(2).update(1, 1), ValueError, "axes of samples and labels"),
        (lambda: zeros(2).update([[0, 1]], [[0, 1]], sample_weight=[1.0]), TypeError, "MultilabelState.zeros"),
        (lambda: zeros(2, batch_shape=(3,)).update([[0, 1]], [[0, 1]]), ValueError, r"the batch \(3,\) of the state"),
        (lambda: zeros(2, batch_shape=(3, 1)).update([0, 1], [0, 1]), ValueError, r"the batch \(3, 1\) of the state"),
        (
            lambda: zeros(2).score("f1", average="samples"),
            ValueError,
            "'samples', which needs the matrix of each sample",
        ),
        (lambda: zeros(2).score("f1", average="all"), ValueError, "average: expected one of 'auto', 'macro'"),
        (lambda: zeros(2) + zeros(3), ValueError, "same classes and batch"),
        (lambda: operator.add(zeros(2), (1, 2)), TypeError, "expected a MultilabelState to add, got tuple"),
        (lambda: 1 + zeros(2), TypeError, "expected a MultilabelState to add, got int"),
        (lambda: 2 * zeros(2), TypeError, "cannot be multiplied"),
        (lambda: zeros(2) * 2, TypeError, "cannot be multiplied"),
    ],
)
def test_errors_say_what_was_expected(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# In the transformations of PyTorch and JAX ----------------------------------------------------------------------------


def step(state: MultilabelState, y_true: Any, scores: Any) -> Any:
    state = state.update(y_true, scores, threshold=0.5, ignore_index=-1)
    return state, [state.score("f1", average="weighted")["f1"], state.subset_accuracy(), state.hamming_loss()]


@pytest.mark.exhaustive
def test_torch_compiles_once_and_maps(torch: Any) -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("aot_eager")
    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True, backend=counter)
    state = other = MultilabelState.zeros(3, like=torch.zeros(()))
    for _ in range(3):
        y_true = torch.from_numpy(RANDOM.integers(-1, 3, (10, 3)))
        scores = torch.from_numpy(RANDOM.random((10, 3))).requires_grad_()
        state, found = compiled(state, y_true, scores)
        other, wanted = step(other, y_true, scores)
        assert isinstance(state, MultilabelState)
        for leaf, same in zip((*leaves(state), *found), (*leaves(other), *wanted), strict=True):
            torch.testing.assert_close(leaf, same)
    assert counter.frame_count == 1
    y_true, scores = torch.from_numpy(RANDOM.integers(0, 2, (10, 3))), torch.from_numpy(RANDOM.random((4, 10, 3)))
    states = MultilabelState.zeros(3, batch_shape=(4,), like=y_true)
    mapped, _ = torch.func.vmap(lambda state, scores: step(state, y_true, scores))(states, scores)
    for leaf, same in zip(leaves(mapped), leaves(states.update(y_true, scores, threshold=0.5)), strict=True):
        assert torch.equal(leaf, same)


def test_torch_looks_at_no_value(torch: Any) -> None:
    from torch._subclasses import FakeTensorMode

    def shapes(device: str) -> Any:
        scores = torch.zeros((8, 3), device=device)
        state = MultilabelState.zeros(3, like=scores, dtype=torch.float32)
        state = state.update(scores > 0, scores, threshold=0.5, sample_weight=scores[:, 0])
        state, found = step(state, scores > 0, scores)
        return [tuple(leaf.shape) for leaf in (*leaves(state), *found)]

    with FakeTensorMode():
        found = shapes("cpu")
    assert found == shapes("meta")
    assert found[-3:] == [(), (), ()]


@pytest.mark.exhaustive
def test_jax_scans_and_maps(jax_backend: Any) -> None:
    import jax

    y_true, scores = RANDOM.integers(0, 2, (5, 10, 3)), RANDOM.random((5, 10, 3)).astype(np.float32)
    batches = jax_backend.asarray(y_true), jax_backend.asarray(scores)
    start = MultilabelState.zeros(3, like=batches[0])
    state, found = jax.jit(lambda state, batches: jax.lax.scan(lambda s, b: step(s, *b), state, batches))(
        start, batches
    )
    assert isinstance(state, MultilabelState)
    whole = y_true.reshape(50, 3), (scores >= 0.5).reshape(50, 3).astype(int)
    is_that_of(state, *whole, jax_backend)
    np.testing.assert_allclose(found[0][-1], state.score("f1", average="weighted")["f1"], rtol=1e-5)
    states = MultilabelState.zeros(3, batch_shape=(5,), like=batches[0])
    update = functools.partial(MultilabelState.update, threshold=0.5)
    mapped, whole = jax.jit(jax.vmap(update))(states, *batches), jax_backend.call(update, states, *batches)
    for leaf, same in zip(leaves(mapped), leaves(whole), strict=True):
        np.testing.assert_array_equal(leaf, same)
