"""Groups of samples as one more axis, and several labels to leave out of them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from counted import counted

import matrics
from matrics import ConfusionState

RANDOM = np.random.default_rng(17)
PADDING = 64


def by_group(
    y_true: Any, y_pred: Any, groups: Any, n: int, num_groups: int, *, weight: Any = 1, ignored: Any = ()
) -> tuple[np.ndarray, np.ndarray]:
    """One batch element at a time, from the samples whose labels and groups are all in range; and how many are not."""
    arrays = np.broadcast_arrays(y_true, y_pred, groups, weight)
    batch = arrays[0].shape[:-1]
    cm, dropped = np.zeros((*batch, num_groups, n, n)), np.zeros(batch, int)
    for index in np.ndindex(batch):
        true, pred, group, worth = (array[index] for array in arrays)
        kept = ~np.isin(true, ignored)
        inside = kept & (true >= 0) & (true < n) & (pred >= 0) & (pred < n) & (group >= 0) & (group < num_groups)
        np.add.at(cm[index], (group[inside], true[inside], pred[inside]), worth[inside])
        dropped[index] = (kept & ~inside).sum()
    return cm, dropped


def drawn(n: int, num_groups: int, *shape: int, beyond: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels and groups, some of which are out of range by up to ``beyond``."""
    true, pred = RANDOM.integers(-beyond, n + beyond, (2, *shape))
    return true, pred, RANDOM.integers(-beyond, num_groups + beyond, shape)


def count(backend: Any, *arrays: Any, **options: Any) -> Any:
    """Of labels, groups and perhaps weights, as one program on JAX."""

    def of(y_true: Any, y_pred: Any, groups: Any, weight: Any = None) -> Any:
        return matrics.confusion_matrix(y_true, y_pred, groups=groups, sample_weight=weight, **options)

    return backend.call(of, *map(backend.asarray, arrays))


# Groups ---------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_are_one_more_axis(backend: Any, *, weighted: bool) -> None:
    """Of a batch, with one group for a sample of all models."""
    y_true, y_pred, groups = drawn(3, 4, 2, 50, beyond=0)
    weight = [RANDOM.integers(0, 8, 50) / 4] if weighted else []
    cm = backend.numpy(count(backend, y_true, y_pred, groups[0], *weight, num_classes=3, num_groups=4))
    wanted, _ = by_group(y_true, y_pred, groups[0], 3, 4, weight=weight[0] if weighted else 1)
    np.testing.assert_array_equal(cm, wanted)
    assert cm.dtype.kind == ("f" if weighted else "i")
    plain = matrics.confusion_matrix(y_true, y_pred, num_classes=3, sample_weight=weight[0] if weighted else None)
    np.testing.assert_array_equal(cm.sum(-3), plain)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ignored", [None, 2, [2, -1, 9]])
def test_what_is_out_of_range_is_dropped(backend: Any, ignored: Any) -> None:
    """A sample counts once, whatever of it is out of range, and a sample that is left out not at all."""
    y_true, y_pred, groups = drawn(3, 2, 3, 80, beyond=2)
    y_true[0, :2], groups[0, 2:4] = 9, [2**31 - 1, -(2**31)]

    def of(y_true: Any, y_pred: Any, groups: Any) -> Any:
        options = {"num_classes": 3, "num_groups": 2, "ignore_index": ignored, "batch_shape": (3,)}
        return counted(y_true, y_pred, groups=groups, **options)

    cm, dropped = backend.call(of, *map(backend.asarray, (y_true, y_pred, groups)))
    wanted, lost = by_group(y_true, y_pred, groups, 3, 2, ignored=[] if ignored is None else ignored)
    np.testing.assert_array_equal(backend.numpy(cm), wanted)
    np.testing.assert_array_equal(backend.numpy(dropped), lost)


@pytest.mark.sampled(1)
def test_images_by_group(backend: Any) -> None:
    """Class scores of pixels, one group for an image; and two attributes at once."""
    y_true, scores = RANDOM.integers(0, 3, (6, 4, 5)), RANDOM.normal(size=(6, 3, 4, 5))
    groups = RANDOM.integers(0, 2, (6, 1, 1))
    options = {"num_classes": 3, "class_axis": 1, "num_groups": 2, "sample_ndim": 3}
    cm = count(backend, y_true, scores, groups, **options)
    flat = y_true.reshape(-1), scores.argmax(1).reshape(-1), np.broadcast_to(groups, y_true.shape).reshape(-1)
    np.testing.assert_array_equal(backend.numpy(cm), by_group(*flat, 3, 2)[0])
    attributes = np.stack([flat[2], 1 - flat[2]])
    both = count(backend, flat[0], flat[1], attributes, num_classes=3, num_groups=2)
    np.testing.assert_array_equal(backend.numpy(both), backend.numpy(cm)[[[0, 1], [1, 0]]])


@pytest.mark.sampled(2)
def test_labels_and_groups_of_any_kind(backend: Any) -> None:
    """Text as labels, groups of NumPy or in a list with arrays of another library, and normalised rows."""
    names, groups = np.unique(["y", "x", "x", "y"], return_inverse=True)
    options = {"groups": groups, "num_groups": len(names)}
    cm = matrics.confusion_matrix(["a", "b", "b", "b"], ["a", "b", "a", "a"], labels=["a", "b"], **options)
    assert cm.tolist() == [[[0, 0], [1, 1]], [[1, 0], [1, 0]]]
    labels = [backend.asarray(values) for values in ([0, 1, 1, 1], [0, 1, 0, 0])]
    if backend.name == "torch-cuda":
        pytest.skip("NumPy's groups are refused beside tensors on a device")
    for given in (groups, groups.tolist(), groups.astype(np.uint8), groups == 1):
        other = matrics.confusion_matrix(*labels, num_classes=2, groups=given, num_groups=2)
        assert backend.numpy(other).tolist() == cm.tolist()
    rows = matrics.confusion_matrix(*labels, num_classes=2, normalize="true", **options)
    assert backend.numpy(rows).tolist() == [[[0, 0], [0.5, 0.5]], [[1, 0], [1, 0]]]
    with_threshold = matrics.confusion_matrix(labels[0], [0.1, 0.9, 0.2, 0.4], num_classes=2, threshold=0.5, **options)
    assert backend.numpy(with_threshold).tolist() == cm.tolist()
    nothing = matrics.confusion_matrix([], [], num_classes=2, groups=[], num_groups=3)
    assert nothing.tolist() == np.zeros((3, 2, 2)).tolist()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("cases", [30, pytest.param(200, marks=pytest.mark.exhaustive)])
def test_random_cases_are_those_of_scikit_learn(backend: Any, cases: int) -> None:
    """One call of it for each group; padded, so that shapes stay; labels and groups out of range are left out first."""
    peer = pytest.importorskip("sklearn.metrics")
    kinds = [(2, 3, ()), (3, 1, (2,)), (4, 5, (0, 3, 77))]
    for number in range(cases):
        n, num_groups, ignored = kinds[number % 3]
        y_true, y_pred, groups = drawn(n, num_groups, PADDING)
        y_true[int(RANDOM.integers(1, PADDING)) :] = -100
        weight = RANDOM.integers(0, 8, PADDING) / 4
        program = _program(n, num_groups, (*ignored, -100), backend)
        cm = backend.numpy(program(*map(backend.asarray, (y_true, y_pred, groups, weight))))
        for group in range(num_groups):
            inside = (groups == group) & (y_true >= 0) & (y_true < n) & (y_pred >= 0) & (y_pred < n)
            inside &= ~np.isin(y_true, ignored)
            wanted = np.zeros((n, n))
            if weight[inside].any():  # scikit-learn refuses weights that are all 0
                of_group = (labels[inside] for labels in (y_true, y_pred))
                wanted = peer.confusion_matrix(*of_group, labels=range(n), sample_weight=weight[inside])
            np.testing.assert_array_equal(cm[group], wanted)


@functools.cache
def _program(n: int, num_groups: int, ignored: tuple[int, ...], backend: Any) -> Any:
    def of(y_true: Any, y_pred: Any, groups: Any, weight: Any) -> Any:
        options = {"num_classes": n, "num_groups": num_groups, "ignore_index": ignored, "weighted_in": weight.dtype}
        return counted(y_true, y_pred, groups=groups, sample_weight=weight, **options)[0]

    return backend.jit(of)


@pytest.mark.parametrize("at_once", [1, 7, 64])
@pytest.mark.parametrize("weighted", [False, True])
def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, at_once: int, *, weighted: bool) -> None:
    """Part by part, of whatever axes, it is the same; only a part has groups out of range."""
    monkeypatch.setattr("matrics._counting.count.SAMPLES_AT_ONCE", at_once)
    y_true, y_pred, groups = drawn(2, 2, 4, 5, 7, beyond=0)
    groups[3, 4, 6], y_true[0, 0, 0] = 2, 9
    weight = RANDOM.random(7) if weighted else None
    options = {"num_classes": 2, "num_groups": 2, "sample_weight": weight, "ignore_index": [9, 8]}
    in_float = None if weight is None else np.float64
    cm, dropped = counted(y_true, y_pred, groups=groups, batch_shape=(4,), weighted_in=in_float, **options)
    flat = [array.reshape(4, 35) for array in (y_true, y_pred, groups)]
    by_sample = 1 if weight is None else np.tile(weight, 5)
    wanted, lost = by_group(*flat, 2, 2, weight=by_sample, ignored=[9])
    np.testing.assert_allclose(cm, wanted)
    assert dropped.tolist() == lost.tolist() == [0, 0, 0, 1]
    with pytest.raises(ValueError, match=r"groups: expected groups in \[0, 2\), got 2 at \(3, 4, 6\)"):
        matrics.confusion_matrix(y_true, y_pred, groups=groups, sample_ndim=2, **options)


@pytest.mark.sampled(1)
def test_soft_by_group(backend: Any) -> None:
    y_true, _, groups = drawn(3, 2, 2, 30, beyond=0)
    y_true[:, :3], probs, weight = 5, RANDOM.dirichlet(np.ones(3), (2, 30)), RANDOM.uniform(size=30)
    options = {"num_groups": 2, "ignore_index": [5, 7]}

    def of(y_true: Any, probs: Any, groups: Any, weight: Any) -> Any:
        return matrics.soft_confusion_matrix(y_true, probs, groups=groups, sample_weight=weight, **options)

    cm = backend.numpy(backend.call(of, *map(backend.asarray, (y_true, probs, groups, weight))))
    for batch in range(2):
        for group in range(2):
            inside = (groups[batch] == group) & (y_true[batch] < 3)
            part = y_true[batch][inside], probs[batch][inside], weight[inside]
            wanted = np.eye(3)[part[0]].T @ (part[1] * part[2][:, None])
            np.testing.assert_allclose(cm[batch, group], wanted, **backend.tolerance)


# The state ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
def test_state_by_group(backend: Any) -> None:
    """Batches add up, words included; dropped is of all groups together."""
    y_true, y_pred, groups = drawn(3, 4, 3, 40)
    state = ConfusionState.zeros(3, num_groups=4, like=backend.asarray(0))
    step = backend.jit(lambda state, *arrays: state.update(*arrays[:2], groups=arrays[2], ignore_index=[2, 3]))
    for part in zip(y_true, y_pred, groups, strict=True):
        state = step(state, *map(backend.asarray, part))
    wanted, lost = by_group(*(array.ravel() for array in (y_true, y_pred, groups)), 3, 4, ignored=[2, 3])
    np.testing.assert_array_equal(backend.numpy(state.matrix), wanted)
    assert int(state.dropped) == lost
    for _ in range(35):
        state = state + state
    np.testing.assert_array_equal(backend.numpy(state.matrix).astype(object), wanted.astype(int).astype(object) * 2**35)
    recalls = state.score("recall:class")["recall:class"]
    assert tuple(recalls.shape) == (4, 3)
    np.testing.assert_allclose(backend.numpy(recalls), matrics.recall(wanted, average="class"), **backend.tolerance)
    assert sum([state, state]).counts.shape == (4, 3, 3)


@pytest.mark.sampled(1)
def test_state_of_models_and_attributes(backend: Any) -> None:
    """A batch of the state may be in the labels, or in the groups alone; pixels are pooled."""
    y_true, y_pred, groups = drawn(2, 3, 5, 4, 6)
    state = ConfusionState.zeros(2, batch_shape=(5,), num_groups=3, like=backend.asarray(0))
    after = state.update(*map(backend.asarray, (y_true, y_pred)), groups=backend.asarray(groups))
    flat = [array.reshape(5, 24) for array in (y_true, y_pred, groups)]
    wanted, lost = by_group(*flat, 2, 3)
    np.testing.assert_array_equal(backend.numpy(after.matrix), wanted)
    assert backend.numpy(after.dropped).tolist() == lost.tolist()
    assert after.score("accuracy")["accuracy"].shape == (5, 3)
    after = state.update(backend.asarray(y_true[0]), backend.asarray(y_pred[0]), groups=backend.asarray(groups))
    np.testing.assert_array_equal(backend.numpy(after.matrix), by_group(flat[0][:1], flat[1][:1], flat[2], 2, 3)[0])


@pytest.mark.sampled(2)
def test_weighted_state_by_group(backend: Any) -> None:
    y_true, y_pred, groups = drawn(2, 3, 50)
    weight, like = RANDOM.integers(0, 8, 50) / 4, backend.asarray(0)
    state = ConfusionState.zeros(2, num_groups=3, like=like, dtype=matrics._arrays.as_arrays(x=like)[0].xp.float32)
    arrays = map(backend.asarray, (y_true, y_pred))
    state = state.update(*arrays, groups=backend.asarray(groups), sample_weight=backend.asarray(weight))
    wanted, lost = by_group(y_true, y_pred, groups, 2, 3, weight=weight)
    np.testing.assert_array_equal(backend.numpy(state.matrix), wanted)
    assert int(state.dropped) == lost


def test_jax_scan_by_group(jax_backend: Any) -> None:
    """An epoch is one program; the state is mapped over models, and summed over devices."""
    import jax

    batches = drawn(3, 4, 6, 30)
    state = ConfusionState.zeros(3, num_groups=4, like=jax_backend.asarray(0))

    def step(state: Any, batch: Any) -> Any:
        return state.update(*batch[:2], groups=batch[2], ignore_index=(1, 2)), ()

    arrays = tuple(map(jax_backend.asarray, batches))
    wanted, lost = by_group(*(array.ravel() for array in batches), 3, 4, ignored=[1, 2])
    after, _ = jax.jit(lambda state, batches: jax.lax.scan(step, state, batches))(state, arrays)
    np.testing.assert_array_equal(after.matrix, wanted)
    assert int(after.dropped) == lost
    zeros = ConfusionState.zeros(3, batch_shape=(6,), num_groups=4, like=jax_backend.asarray(0))
    mapped = jax.jit(jax.vmap(lambda state, *batch: jax.lax.psum(step(state, batch)[0], "d"), axis_name="d"))
    summed = mapped(zeros, *arrays)
    np.testing.assert_array_equal(summed.matrix[0], wanted)
    assert int(summed.dropped[0]) == lost


@pytest.mark.exhaustive
def test_torch_by_group(torch: Any) -> None:
    """In one graph, mapped, without a look at values, and differentiable."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    arrays = [torch.from_numpy(array) for array in drawn(3, 4, 2, 40)]
    logits = torch.from_numpy(RANDOM.normal(size=(2, 40, 3)))

    def run(y_true: Any, y_pred: Any, groups: Any, logits: Any) -> Any:
        options = {"groups": groups, "num_groups": 4, "ignore_index": [0, 3]}
        soft = matrics.soft_confusion_matrix(y_true, logits.softmax(-1), **options)
        state = ConfusionState.zeros(3, batch_shape=y_true.shape[:-1], num_groups=4, like=y_true)
        state = state.update(y_true, y_pred, groups=groups, ignore_index=[0, 3])
        return soft, state.counts, state.dropped

    plain = torch.compile(run, fullgraph=True, backend="aot_eager")(*arrays, logits)
    wanted, lost = by_group(*(array.numpy() for array in arrays), 3, 4, ignored=[0, 3])
    np.testing.assert_array_equal(plain[1].numpy(), wanted)
    assert plain[2].tolist() == lost.tolist()
    for a, b in zip(plain, torch.func.vmap(run)(*arrays, logits), strict=True):
        torch.testing.assert_close(a, b)
    sure = torch.nn.functional.one_hot(arrays[1].clamp(0, 2), 3).double()
    in_range = torch.where((arrays[1] >= 0) & (arrays[1] < 3), arrays[0], -1)
    soft = torch.func.vmap(
        lambda true, probs, groups: matrics.soft_confusion_matrix(
            true, probs, groups=groups, num_groups=4, ignore_index=[0, 3]
        )
    )(in_range, sure, arrays[2])
    np.testing.assert_array_equal(soft.numpy(), wanted)
    meta = run(*(array.to("meta") for array in (*arrays, logits)))
    assert [tuple(x.shape) for x in meta] == [(2, 4, 3, 3), (2, 4, 3, 3), (2,)]
    with FakeTensorMode() as fake:
        assert [x.shape for x in run(*map(fake.from_tensor, (*arrays, logits)))] == [x.shape for x in meta]
    probs = logits[0, :10].softmax(-1).requires_grad_()
    labels, groups = arrays[0][0, :10].clamp(0, 2), arrays[2][0, :10].clamp(0, 3)
    options = {"groups": groups, "num_groups": 4}
    assert torch.autograd.gradcheck(lambda p: matrics.soft_confusion_matrix(labels, p, **options), (probs,))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"groups": [0, 1]}, TypeError, r"both groups=.* got groups alone; .*numpy\.unique"),
        ({"num_groups": 2}, TypeError, "both groups=.* got num_groups alone"),
        (
            {"groups": ["a", 1], "num_groups": 2},
            TypeError,
            "groups: expected values of a single kind, such as texts",
        ),
        ({"groups": [0.0, 1.0], "num_groups": 2}, TypeError, "groups: expected integers .* got dtype float64"),
        (
            {"groups": [0, 2], "num_groups": 2},
            ValueError,
            r"groups: expected groups in \[0, 2\), got 2 at \(1,\) \(1 of",
        ),
        ({"groups": [0, -1], "num_groups": 2}, ValueError, r"groups: expected groups in \[0, 2\), got -1 at \(1,\)"),
        ({"groups": [0, 1], "num_groups": 0}, ValueError, "num_groups: expected an integer of at least 1, got 0"),
        ({"groups": [0, 1, 1], "num_groups": 2}, ValueError, r"expected shapes that broadcast .* groups \(3,\)"),
        ({"groups": {0, 1}, "num_groups": 2}, TypeError, "groups: expected an array of integers.* got a set"),
    ],
)
def test_errors_say_what_was_expected(options: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.confusion_matrix([0, 1], [0, 1], num_classes=2, **options)
    with pytest.raises(error, match=message):
        matrics.soft_confusion_matrix([0, 1], np.eye(2), **options)


def test_errors_of_the_state() -> None:
    plain, grouped = ConfusionState.zeros(2), ConfusionState.zeros(2, num_groups=3)
    with pytest.raises(TypeError, match="groups: expected the group of each sample, as this state has groups"):
        grouped.update([0], [0])
    with pytest.raises(TypeError, match=r"this state has no groups; make it with zeros\(\.\.\., num_groups=\)"):
        plain.update([0], [0], groups=[0])
    with pytest.raises(ValueError, match="num_groups: expected an integer of at least 1"):
        ConfusionState.zeros(2, num_groups=0)
    with pytest.raises(ValueError, match="both have groups, or both have none"):
        grouped + ConfusionState.zeros(2, batch_shape=(3,))
    with pytest.raises(ValueError, match=r"the batch \(4,\) of the state"):
        ConfusionState.zeros(2, batch_shape=(4,), num_groups=3).update([[0]] * 3, [[0]] * 3, groups=[0])
