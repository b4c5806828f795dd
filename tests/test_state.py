"""The running state: counts, merges, what is dropped, and exactness, on every backend."""

from __future__ import annotations

import operator
import pickle
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import matrics
from matrics import ConfusionState

RANDOM = np.random.default_rng(11)


def exact(state: ConfusionState) -> np.ndarray:
    """The whole counts of a state that need not be normalised, as Python's integers have them."""
    counts, carried = (np.asarray(x.cpu() if hasattr(x, "cpu") else x) for x in (state.counts, state.carried))
    return counts.astype(object) + carried.astype(object) * 2**16 if carried.shape[-1] else counts.astype(object)


@pytest.mark.sampled(2)
def test_batches_are_the_whole(backend: Any) -> None:
    y_true, y_pred = RANDOM.integers(0, 4, (2, 90))
    state = ConfusionState.zeros(4, like=backend.asarray(0))
    for part in np.split(np.arange(90), [20, 20, 64]):  # ragged, and one with nothing
        state = state.update(backend.asarray(y_true[part]), backend.asarray(y_pred[part]))
    whole = matrics.confusion_matrix(y_true, y_pred, num_classes=4)
    np.testing.assert_array_equal(backend.numpy(state.matrix), whole)
    assert int(state.dropped) == 0
    assert isinstance(state, ConfusionState)
    wanted = matrics.score(whole, ["mcc", "recall:class"])
    for name, value in state.score(["mcc", "recall:class"]).items():
        assert type(value) is type(backend.asarray(np.zeros(3))[0]) or backend.name == "numpy"
        np.testing.assert_allclose(backend.numpy(value), wanted[name], **backend.tolerance)


@pytest.mark.sampled(2)
def test_update_is_pure(backend: Any) -> None:
    labels = backend.asarray([0, 1])
    state = ConfusionState.zeros(2, like=labels)
    state.update(labels, labels)
    assert not backend.numpy(state.matrix).any()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["labels", "scores"])
def test_what_is_dropped_and_what_is_ignored(backend: Any, kind: str) -> None:
    """On NumPy, too, nothing raises: labels out of range and NaN scores are counted, and ignored samples are not."""
    y_true = np.asarray([0, 1, 2, 3, -1, 9, 9, 2**31 - 1, -(2**31)])
    y_pred = np.asarray([0, 2, -5, 0, 1, 7, 1, 0, 0])
    kept = [(0, 0), (1, 2)]
    if kind == "scores":
        y_pred = np.eye(3)[np.clip(y_pred, 0, 2)]
        y_pred[2, 1] = np.nan
    arrays = backend.asarray(y_true), backend.asarray(y_pred)
    state = ConfusionState.zeros(3, like=arrays[0])
    wanted = np.zeros((3, 3))
    for cell in kept:
        wanted[cell] += 1
    for ignored, dropped in ((None, 7), (9, 5), (3, 6)):
        for start in (state, ConfusionState.zeros(3, like=arrays[0], dtype=_float32(arrays[0]))):
            after = start.update(*arrays, ignore_index=ignored)
            np.testing.assert_array_equal(backend.numpy(after.matrix), wanted)
            assert int(after.dropped) == dropped


def _float32(like: Any) -> Any:
    return matrics._arrays.as_arrays(like=like)[0].xp.float32


def test_sum_and_leaves(backend: Any) -> None:
    """``+``, ``sum`` and a sum leaf by leaf are the state of all data."""
    y_true, y_pred = RANDOM.integers(-1, 3, (2, 5, 40))
    parts = [
        ConfusionState.zeros(3, like=backend.asarray(0)).update(backend.asarray(t), backend.asarray(p))
        for t, p in zip(y_true, y_pred, strict=True)
    ]
    whole = ConfusionState.zeros(3, like=backend.asarray(0)).update(
        backend.asarray(y_true.ravel()), backend.asarray(y_pred.ravel())
    )
    leaves = ConfusionState(*(reduce(operator.add, leaf) for leaf in zip(*parts, strict=True)))
    for merged in (sum(parts), reduce(operator.add, parts), leaves):
        assert isinstance(merged, ConfusionState)
        assert exact(merged).tolist() == exact(whole).tolist()
        np.testing.assert_array_equal(backend.numpy(merged.matrix), backend.numpy(whole.matrix))
        assert int(merged.dropped) == int(whole.dropped)


@pytest.mark.sampled(2)
def test_a_batch_of_models(backend: Any) -> None:
    """One truth against the labels, scores and thresholds of several models; images are pooled."""
    y_true, y_pred = RANDOM.integers(0, 3, (7, 5)), RANDOM.integers(0, 3, (2, 4, 7, 5))
    wanted = matrics.confusion_matrix(y_true, y_pred, num_classes=3, sample_ndim=2)
    state = ConfusionState.zeros(3, batch_shape=(2, 4), like=backend.asarray(0))
    arrays = backend.asarray(y_true), backend.asarray(y_pred)
    np.testing.assert_array_equal(backend.numpy(state.update(*arrays).matrix), wanted)
    scores = backend.asarray(np.moveaxis(np.eye(3)[y_pred], -1, 1))
    np.testing.assert_array_equal(backend.numpy(state.update(arrays[0], scores, class_axis=1).matrix), wanted)
    pooled = ConfusionState.zeros(3, like=backend.asarray(0))
    both = backend.asarray(np.broadcast_to(y_true, y_pred.shape)), arrays[1]
    np.testing.assert_array_equal(backend.numpy(pooled.update(*both).matrix), wanted.sum((0, 1)))


def test_pickle(backend: Any) -> None:
    labels = backend.asarray([0, 1, 1])
    state = ConfusionState.zeros(2, like=labels).update(labels, labels)
    if backend.name != "strict":
        assert exact(pickle.loads(pickle.dumps(state))).tolist() == exact(state).tolist()


# Exactness ----------------------------------------------------------------------------------------------------------


def test_counts_beyond_24_and_31_bits(backend: Any) -> None:
    """One more on top of 2**24, 2**31 and 2**40 is one more; float32 and int32 stay or wrap."""
    one = backend.asarray([0, 1, 1])
    start = ConfusionState.zeros(2, like=one).update(one, one)
    state = start
    for doublings in range(1, 41):
        state = state + state
        if doublings in (24, 31, 40):
            more = state.update(one, one) + start
            assert exact(more).tolist() == [[2**doublings + 2, 0], [0, 2 * (2**doublings + 2)]]
            matrix = backend.numpy(more.matrix)
            assert matrix.dtype == np.int64
            assert matrix.tolist() == exact(more).tolist()
            assert float(backend.numpy(more.score("accuracy")["accuracy"])) == 1
    labels = [*[0] * 7, *[1] * 4], [*[0] * 4, *[1] * 7]
    large = ConfusionState.zeros(2, like=one).update(*map(backend.asarray, labels))
    for _ in range(40):
        large = large + large
    wanted = matrics.score(exact(large).astype(np.float64))
    for name, value in large.score().items():
        np.testing.assert_allclose(backend.numpy(value), wanted[name], **backend.tolerance)


def test_as_many_dropped_as_there_may_be(backend: Any) -> None:
    """In 32 bits the number stays at its end, and never wraps."""
    state = ConfusionState.zeros(2, like=backend.asarray(0)).update(backend.asarray([0, 5]), backend.asarray([0, 0]))
    for _ in range(29):
        state = state + state
    assert int(state.dropped) == 2**29
    for _ in range(6):
        state = (state + state).update(backend.asarray([0, 5]), backend.asarray([0, 0]))
    assert int(state.dropped) == 2**35 + 63 if backend.float64 else 2**30 - 1 <= int(state.dropped) < 2**31


# Weights ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights(backend: Any, dtype: str) -> None:
    if dtype == "float64" and not backend.float64:
        pytest.skip("no float64")
    y_true, y_pred = RANDOM.integers(-1, 3, (2, 2, 30))
    weights = RANDOM.integers(0, 8, (2, 30)) / 4  # whose sums are exact
    like = backend.asarray(0)
    state = ConfusionState.zeros(3, like=like, dtype=getattr(matrics._arrays.as_arrays(like=like)[0].xp, dtype))
    for t, p, w in zip(y_true, y_pred, weights, strict=True):
        state = state.update(*map(backend.asarray, (t, p)), sample_weight=backend.asarray(w), ignore_index=2)
    state = state.update(*map(backend.asarray, (y_true, y_pred)))  # each worth one
    inside = (y_true >= 0) & (y_pred >= 0)
    wanted = np.zeros((3, 3))
    for worth, kept in ((weights, inside & (y_true != 2)), (np.ones((2, 30)), inside)):
        np.add.at(wanted, (y_true[kept], y_pred[kept]), worth[kept])
    assert str(state.matrix.dtype).endswith(dtype)
    np.testing.assert_array_equal(backend.numpy(state.matrix), wanted)
    assert int(state.dropped) == (~inside).sum() + (~inside & (y_true != 2)).sum()
    both = state + state
    np.testing.assert_array_equal(backend.numpy(both.matrix), 2 * wanted)


# Merging is pooling -------------------------------------------------------------------------------------------------

LABELS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=12, max_size=12)


@pytest.mark.sampled(1)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.tuples(LABELS, LABELS, LABELS))
def test_merging_is_pooling_in_any_order(backend: Any, parts: Any) -> None:
    a, b, c = (_counted(backend, part) for part in parts)
    pooled = _counted(backend, [pair for part in parts for pair in part])
    for merged in ((a + b) + c, a + (b + c), c + b + a, sum([b, c, a])):
        assert exact(merged).tolist() == exact(pooled).tolist()
        assert int(merged.dropped) == int(pooled.dropped)
    y_true, y_pred = np.asarray([pair for part in parts for pair in part]).T
    inside = (y_true >= 0) & (y_true < 3) & (y_pred >= 0) & (y_pred < 3)
    wanted = matrics.confusion_matrix(y_true[inside], y_pred[inside], num_classes=3)
    assert exact(pooled).tolist() == wanted.tolist()
    assert int(pooled.dropped) == 36 - inside.sum()


def _counted(backend: Any, pairs: Any) -> ConfusionState:
    y_true, y_pred = (backend.asarray(labels) for labels in np.asarray(pairs).T)
    return ConfusionState.zeros(3, like=y_true).update(y_true, y_pred)


@pytest.mark.exhaustive
@pytest.mark.parametrize("batches", [60, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_random_batches_are_those_of_scikit_learn(backend: Any, batches: int) -> None:
    """Of random sizes, with class scores in half of them; padded, as in a loop whose shapes must not change."""
    peer = pytest.importorskip("sklearn.metrics")
    step = backend.jit(_step)
    for number in range(batches):
        n, size = (2, 3, 10)[number % 3], int(RANDOM.integers(1, 65))
        y_true, y_pred = np.full(64, -100), np.full(64, 77)
        y_true[:size], y_pred[:size] = RANDOM.integers(0, n, (2, size))
        wanted = peer.confusion_matrix(y_true[:size], y_pred[:size], labels=range(n))
        if number % 2:
            scores = RANDOM.normal(size=(64, n)).astype(np.float32)
            wanted = peer.confusion_matrix(y_true[:size], scores.argmax(1)[:size], labels=range(n))
        state = ConfusionState.zeros(n, like=backend.asarray(0))
        state = step(state, backend.asarray(y_true), backend.asarray(scores if number % 2 else y_pred))
        np.testing.assert_array_equal(backend.numpy(state.matrix), wanted)
        assert int(state.dropped) == 0


def _step(state: ConfusionState, y_true: Any, y_pred: Any) -> ConfusionState:
    return state.update(y_true, y_pred, ignore_index=-100)


# What is refused ----------------------------------------------------------------------------------------------------


def zeros(*args: Any, **options: Any) -> ConfusionState:
    return ConfusionState.zeros(*args, **options)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: zeros(0), ValueError, "num_classes: expected an integer"),
        (lambda: zeros(2, batch_shape=(-1,)), ValueError, r"batch_shape: expected lengths of axes, got \(-1,\)"),
        (lambda: zeros(2, batch_shape=(1.5,)), ValueError, "batch_shape: expected lengths of axes"),
        (lambda: zeros(2, dtype=np.int32), TypeError, "dtype: expected None for integer counts"),
        (lambda: zeros(2, dtype=np.float16), TypeError, "dtype: expected None for integer counts"),
        (lambda: zeros(2).update([0], [0], sample_weight=[1.0]), TypeError, r"integer counts; .* dtype=\), float32"),
        (lambda: zeros(2).update([0, 1], [0.2, 0.8]), ValueError, "pass threshold="),
        (lambda: zeros(2).update([0, 1], [0, 1, 1]), ValueError, "the same samples"),
        (lambda: zeros(2).update([0.5], [1]), ValueError, "y_true: expected labels, which are whole numbers"),
        (lambda: zeros(2, batch_shape=(3,)).update([[0, 1]] * 2, [0, 1]), ValueError, r"the batch \(3,\) of the state"),
        (lambda: zeros(2, batch_shape=(3, 2)).update([0, 1], [0, 1]), ValueError, r"the batch \(3, 2\) of the state"),
        (lambda: zeros(2, batch_shape=(3, 2)).update([0], [0]), ValueError, r"the batch \(3, 2\) of the state"),
        (lambda: zeros(2) + zeros(3), ValueError, r"same classes and batch, got counts \(2, 2\) and \(3, 3\)"),
        (lambda: zeros(2) + zeros(2, batch_shape=(1,)), ValueError, "same classes and batch"),
        (lambda: zeros(2) + zeros(2, dtype=np.float64), TypeError, "the same kind of counts, got int64 and float64"),
        (lambda: operator.add(zeros(2), (1, 2)), TypeError, "expected a ConfusionState to add, got tuple"),
        (lambda: operator.add((1, 2), zeros(2)), TypeError, "expected a ConfusionState to add, got tuple"),
        (lambda: 1 + zeros(2), TypeError, "expected a ConfusionState to add, got int"),
        (lambda: 2 * zeros(2), TypeError, "cannot be multiplied"),
        (lambda: zeros(2) * 2, TypeError, "cannot be multiplied"),
    ],
)
def test_errors_say_what_was_expected(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_state_stays_in_its_library(backend: Any) -> None:
    """Labels of NumPy are converted to it; those of another library are not counted in a state of NumPy."""
    if backend.name == "torch-cuda":
        with pytest.raises(TypeError, match=r"pass torch.as_tensor\(y_true, device='cuda:0'\)"):
            ConfusionState.zeros(2, like=backend.asarray(0)).update([0, 1], [0, 1])
        return
    state = ConfusionState.zeros(2, like=backend.asarray(0)).update(np.asarray([0, 1]), [0, 1])
    assert type(state.counts) is type(backend.asarray(0)) or backend.name == "numpy"
    assert backend.numpy(state.matrix).tolist() == [[1, 0], [0, 1]]
    if backend.name != "numpy":
        with pytest.raises(TypeError, match=r"arrays of the same library, .*state: numpy; .*zeros\(\.\.\., like=\)"):
            ConfusionState.zeros(2).update(backend.asarray([0, 1]), backend.asarray([0, 1]))


def test_labels_of_any_kind() -> None:
    animals = ["dog", "cat"]
    state = ConfusionState.zeros(labels=animals).update(["dog", "cat"], ["cat", "cat"], labels=animals)
    state = state.update(["cow", "cat"], ["cat", "cat"], labels=animals)
    assert state.matrix.tolist() == [[0, 1], [0, 2]]
    assert int(state.dropped) == 1
    with pytest.raises(ValueError, match="labels: expected 2, a label for each class of the state, got 3"):
        state.update(["dog"], ["dog"], labels=["dog", "cat", "cow"])


# In PyTorch's transformations ---------------------------------------------------------------------------------------


def test_torch_compiles_once(torch: Any) -> None:
    """A step with counting and scoring in one graph, and steps without another compilation."""
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("aot_eager")

    def step(state: Any, y_true: Any, logits: Any) -> Any:
        state = state.update(y_true, logits) + ConfusionState.zeros(3, like=logits)
        return state, state.score(["accuracy", "recall:class"])

    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True, backend=counter)
    state = other = ConfusionState.zeros(3, like=torch.zeros(()))
    for _ in range(4):
        y_true = torch.from_numpy(RANDOM.integers(-1, 4, 40))
        logits = torch.from_numpy(RANDOM.normal(size=(40, 3)))
        state, scores = compiled(state, y_true, logits)
        other, wanted = step(other, y_true, logits)
    assert counter.frame_count == 1
    assert isinstance(state, ConfusionState)
    for leaf, same in zip((*state, *scores.values()), (*other, *wanted.values()), strict=True):
        torch.testing.assert_close(leaf, same)


def test_torch_looks_at_no_value(torch: Any) -> None:
    """Under FakeTensorMode, and on the device "meta", there are none."""
    from torch._subclasses import FakeTensorMode

    def run(device: str) -> Any:
        y_true, logits = torch.zeros(8, dtype=torch.int64, device=device), torch.zeros((8, 3), device=device)
        state = ConfusionState.zeros(3, like=logits).update(y_true, logits, ignore_index=2).update(y_true, y_true)
        weighted = ConfusionState.zeros(3, like=logits, dtype=torch.float32)
        weighted = weighted.update(y_true, logits, sample_weight=logits[:, 0])
        return state + state, weighted, (state + state).score(["mcc", "recall:class"])

    with FakeTensorMode():
        states = run("cpu")
    for *made, scores in (states, run("meta")):
        assert [tuple(state.counts.shape) for state in made] == [(3, 3)] * 2
        assert [str(state.counts.dtype) for state in made] == ["torch.int64", "torch.float32"]
        assert tuple(scores["recall:class"].shape) == (3,)


def test_torch_maps_over_models(torch: Any) -> None:
    y_true, y_pred = torch.from_numpy(RANDOM.integers(-1, 3, 40)), torch.from_numpy(RANDOM.integers(0, 3, (5, 40)))
    states = ConfusionState.zeros(3, batch_shape=(5,), like=y_true)
    mapped = torch.func.vmap(lambda state, y_pred: state.update(y_true, y_pred))(states, y_pred)
    for leaf, same in zip(mapped, states.update(y_true, y_pred), strict=True):
        assert torch.equal(leaf, same)


def test_the_matrix_is_not_the_state(backend: Any) -> None:
    """Whoever writes to it changes nothing."""
    labels = backend.asarray([0, 1])
    state = ConfusionState.zeros(2, like=labels).update(labels, labels)
    if backend.name in ("numpy", "torch", "torch-grad"):  # elsewhere arrays cannot be written to, or are copies
        state.matrix[...] = 9
    assert backend.numpy(state.matrix).tolist() == [[1, 0], [0, 1]]


@pytest.mark.sampled(2)
def test_float32_weights_are_added_up_in_the_widest_float(backend: Any) -> None:
    """PyTorch and JAX add one by one: in float32 a million weights of 0.1 would be off by a hundredth."""
    if not backend.float64:
        pytest.skip("no float64")
    size = 2_000 if backend.name == "strict" else 1_000_000
    labels = backend.asarray(np.zeros(size), np.int64)
    weights = backend.asarray(np.full(size, 0.1), np.float32)
    cm = matrics.confusion_matrix(labels, labels, num_classes=1, sample_weight=weights)
    assert backend.numpy(cm).dtype == np.float32
    assert backend.numpy(cm)[0, 0] == pytest.approx(size / 10, rel=1e-6)
    state = ConfusionState.zeros(1, like=labels, dtype=backend.asarray(np.zeros(1)).dtype)
    state = state.update(labels, labels, sample_weight=weights)
    assert backend.numpy(state.matrix)[0, 0] == pytest.approx(size * float(np.float32(0.1)), rel=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("threshold", [0.7, np.float64(0.7), np.float32(0.7)])
def test_a_threshold_decides_in_the_dtype_of_the_scores(backend: Any, threshold: float) -> None:
    scores = backend.asarray([0.7, 0.5], np.float32)
    cm = matrics.confusion_matrix(backend.asarray([1, 1]), scores, num_classes=2, threshold=threshold)
    assert backend.numpy(cm).tolist() == [[0, 0], [1, 1]]


def test_no_unsigned_label_is_ignored_for_being_negative(backend: Any) -> None:
    """Widened, the largest would be -1."""
    dtype = np.uint64 if backend.float64 else np.uint32
    labels, zeros = backend.asarray([np.iinfo(dtype).max, 0], dtype), backend.asarray([0, 0])
    state = ConfusionState.zeros(2, like=zeros).update(labels, zeros, ignore_index=-1)
    assert int(state.dropped) == 1
