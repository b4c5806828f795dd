"""Labels, class scores and probabilities to stacks."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from counted import counted

import matrics

RANDOM = np.random.default_rng(5)


def count(backend: Any, y_true: Any, y_pred: Any, **options: Any) -> Any:
    return backend.call(functools.partial(matrics.confusion_matrix, **options), y_true, y_pred)


def soft(backend: Any, y_true: Any, y_prob: Any, **options: Any) -> Any:
    return backend.call(functools.partial(matrics.soft_confusion_matrix, **options), y_true, y_prob)


def by_hand(y_true: np.ndarray, y_pred: np.ndarray, n: int, weights: np.ndarray | None = None) -> np.ndarray:
    """One sample at a time, over the last axis."""
    batch = np.broadcast_shapes(y_true.shape, y_pred.shape)[:-1]
    cm = np.zeros((*batch, n, n))
    shape = (*batch, max(y_true.shape[-1], y_pred.shape[-1]))
    y_true, y_pred = np.broadcast_to(y_true, shape), np.broadcast_to(y_pred, shape)
    weights = np.broadcast_to(1.0 if weights is None else weights, shape)
    for index in np.ndindex(shape):
        cm[(*index[:-1], y_true[index], y_pred[index])] += weights[index]
    return cm


@pytest.mark.sampled(6)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], dtype=[np.uint8, np.int16, np.int32, np.uint16])
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], n=[2])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint16])
@pytest.mark.parametrize("n", [2, 13])
def test_labels(backend: Any, dtype: type, n: int) -> None:
    y_true, y_pred = RANDOM.integers(0, n, (2, 4, 50))
    cm = count(backend, backend.asarray(y_true, dtype), backend.asarray(y_pred, dtype), num_classes=n)
    assert backend.numpy(cm).dtype == (np.int64 if backend.float64 else np.int32)
    np.testing.assert_array_equal(backend.numpy(cm), by_hand(y_true, y_pred, n))


@pytest.mark.sampled(2)
def test_unsigned_64_bit_and_bool_labels(backend: Any) -> None:
    y_true, y_pred = RANDOM.integers(0, 2, (2, 30))
    for dtype in (np.uint64, np.bool_):
        labels = [backend.asarray(y, dtype) for y in (y_true, y_pred)]
        cm = backend.numpy(count(backend, *labels, num_classes=2))
        np.testing.assert_array_equal(cm, by_hand(y_true, y_pred, 2))


@pytest.mark.sampled(1)
def test_one_truth_many_models(backend: Any) -> None:
    y_true, y_pred = RANDOM.integers(0, 5, 40), RANDOM.integers(0, 5, (2, 3, 40))
    cm = backend.numpy(count(backend, backend.asarray(y_true), backend.asarray(y_pred), num_classes=5))
    np.testing.assert_array_equal(cm, by_hand(y_true, y_pred, 5))
    cm = backend.numpy(count(backend, backend.asarray(y_pred), backend.asarray(y_true), num_classes=5))
    np.testing.assert_array_equal(cm, by_hand(y_pred, y_true, 5))


@pytest.mark.sampled(2)
def test_class_scores(backend: Any) -> None:
    scores, y_true = RANDOM.normal(size=(3, 40, 4)), RANDOM.integers(0, 4, (3, 40))
    wanted = by_hand(y_true, scores.argmax(-1), 4)
    for axis in (-1, 2, 1, 0, -3):
        moved = np.moveaxis(scores, -1, axis)
        cm = count(backend, backend.asarray(y_true), backend.asarray(moved), num_classes=4, class_axis=axis)
        np.testing.assert_array_equal(backend.numpy(cm), wanted)


@pytest.mark.sampled(2)
def test_images(backend: Any) -> None:
    """(N, C, H, W) scores: one matrix an image with sample_ndim=2, one of all with 3."""
    scores, y_true = RANDOM.normal(size=(2, 3, 5, 7)), RANDOM.integers(0, 3, (2, 5, 7))
    for sample_ndim in (2, 3):
        cm = count(
            backend,
            backend.asarray(y_true),
            backend.asarray(scores),
            num_classes=3,
            class_axis=1,
            sample_ndim=sample_ndim,
        )
        wanted = by_hand(y_true.reshape(2, -1), scores.argmax(1).reshape(2, -1), 3)
        np.testing.assert_array_equal(backend.numpy(cm), wanted if sample_ndim == 2 else wanted.sum(0))


@pytest.mark.sampled(2)
def test_threshold(backend: Any) -> None:
    scores, y_true = np.asarray([0.1, 0.5, 0.49, 0.9]), np.asarray([0, 1, 1, 0])
    cm = count(backend, backend.asarray(y_true), backend.asarray(scores), num_classes=2, threshold=0.5)
    assert backend.numpy(cm).tolist() == [[1, 1], [1, 1]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64])
def test_weights(backend: Any, dtype: type) -> None:
    if dtype is np.float16 and backend.name == "strict":
        pytest.skip("no half in array-api-strict")
    y_true, y_pred = RANDOM.integers(0, 3, (2, 2, 20))
    for shape in ((20,), (2, 20)):
        weights = RANDOM.integers(0, 8, shape) / (1 if dtype is np.int64 else 4)
        cm = count(
            backend,
            backend.asarray(y_true),
            backend.asarray(y_pred),
            num_classes=3,
            sample_weight=backend.asarray(weights, dtype),
        )
        assert backend.numpy(cm).dtype == (
            np.float64 if dtype in (np.float64, np.int64) and backend.float64 else np.float32
        )
        np.testing.assert_allclose(backend.numpy(cm), by_hand(y_true, y_pred, 3, weights))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ignored", [-100, 255, 1])
def test_ignore_index(backend: Any, ignored: int) -> None:
    y_true, y_pred = RANDOM.integers(0, 3, (2, 20))
    y_true[[2, 5, 11]] = ignored
    keep = y_true != ignored
    cm = count(backend, backend.asarray(y_true), backend.asarray(y_pred), num_classes=3, ignore_index=ignored)
    np.testing.assert_array_equal(backend.numpy(cm), by_hand(y_true[keep], y_pred[keep], 3))


def test_ignored_samples_may_hold_anything(backend: Any) -> None:
    """Padding is often ignored in the labels and junk in the predictions."""
    y_true = backend.asarray([0, -100, 1])
    for y_pred in ([0, -100, 1], [[0.9, 0.1], [np.nan, np.nan], [0.2, 0.8]]):
        cm = matrics.confusion_matrix(y_true, backend.asarray(y_pred), num_classes=2, ignore_index=-100)
        assert backend.numpy(cm).tolist() == [[1, 0], [0, 1]]


def test_options_may_be_numpy_integers() -> None:
    cm = matrics.confusion_matrix(
        [0, 1], [[0.9, 0.1], [0.2, 0.8]], num_classes=np.int64(2), class_axis=np.int64(1), sample_ndim=np.int64(1)
    )
    assert cm.tolist() == [[1, 0], [0, 1]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bad", [-1, 3, 200, -(2**31)])
@pytest.mark.parametrize("which", ["y_true", "y_pred"])
def test_labels_out_of_range(backend: Any, bad: int, which: str) -> None:
    """Raise where looking is free; elsewhere are left out, and never end in another cell."""
    labels = {"y_true": RANDOM.integers(0, 3, 20), "y_pred": RANDOM.integers(0, 3, 20)}
    labels[which][7] = bad
    arrays = [backend.asarray(y) for y in labels.values()]
    if backend.looks:
        with pytest.raises(ValueError, match=rf"{which}: expected labels in \[0, 3\), got {bad} at \(7,\)"):
            matrics.confusion_matrix(*arrays, num_classes=3)
    good = np.delete(np.arange(20), 7)
    wanted = by_hand(labels["y_true"][good], labels["y_pred"][good], 3)
    if not backend.looks or backend.name.startswith("jax"):  # strict does not let NumPy look; jit cannot
        compiled = backend.jit(functools.partial(matrics.confusion_matrix, num_classes=3))
        np.testing.assert_array_equal(backend.numpy(compiled(*arrays)), wanted)
    cm, dropped = counted(*arrays, num_classes=3)
    np.testing.assert_array_equal(backend.numpy(cm), wanted)
    assert int(dropped) == 1


@pytest.mark.sampled(2)
def test_nan_scores(backend: Any) -> None:
    """argmax calls NaN the largest: such a sample has no prediction."""
    scores = np.asarray([[0.2, 0.8], [np.nan, 0.1], [0.9, np.nan]])
    arrays = [backend.asarray([1, 1, 0]), backend.asarray(scores)]
    if backend.looks:
        with pytest.raises(ValueError, match=r"y_pred: expected scores, got NaN for the sample at \(1,\)"):
            matrics.confusion_matrix(*arrays, num_classes=2)
        with pytest.raises(ValueError, match=r"y_pred: expected scores, got NaN for the sample at \(1,\)"):
            matrics.confusion_matrix(arrays[0], backend.asarray(scores[:, 0]), num_classes=2, threshold=0.5)
    cm, dropped = counted(*arrays, num_classes=2)
    assert backend.numpy(cm).tolist() == [[0, 0], [0, 1]]
    assert int(dropped) == 2
    first = backend.asarray(scores[:, 0])
    cm, dropped = counted(arrays[0], first, num_classes=2, threshold=0.5)
    assert backend.numpy(cm).tolist() == [[0, 1], [1, 0]]
    assert int(dropped) == 1


@pytest.mark.parametrize("axis", [1, 2])
def test_nan_scores_in_any_order_of_memory(axis: int) -> None:
    """Rows, columns, and views with gaps are searched for NaN all the same."""
    labels, scores = RANDOM.integers(0, 3, (5, 4)), RANDOM.random((5, 4, 3))
    scores[2, 1, 0] = scores[4, 3, 2] = np.nan
    apart = np.repeat(scores, 2, axis=0)[::2]
    kept = ~np.isnan(scores).any(axis=-1)
    expected = by_hand(labels[kept], scores[kept].argmax(axis=-1), 3)
    for given in (scores, np.asfortranarray(scores), apart):
        state = matrics.ConfusionState.zeros(3).update(labels, np.moveaxis(given, -1, axis), class_axis=axis)
        assert state.dropped == 2
        np.testing.assert_array_equal(state.matrix, expected)


@pytest.mark.sampled(2)
def test_nan_scores_among_many(backend: Any) -> None:
    """Also where there are thousands of them: JAX's maximum on the CPU then passes NaN over."""
    labels, scores = RANDOM.integers(0, 4, 6000), RANDOM.random((6000, 4))
    scores[[7, 4321], [0, 2]] = np.nan
    state = matrics.ConfusionState.zeros(4, like=backend.asarray(labels))
    state = state.update(backend.asarray(labels), backend.asarray(scores))
    kept = ~np.isnan(scores).any(axis=1)
    assert int(state.dropped) == 2
    expected = by_hand(labels[kept], scores[kept].argmax(axis=1), 4)
    np.testing.assert_array_equal(backend.numpy(state.matrix), expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5)])
def test_nothing_to_count(backend: Any, shape: tuple[int, ...]) -> None:
    nothing = backend.asarray(np.zeros(shape), np.int64)
    cm = backend.numpy(count(backend, nothing, nothing, num_classes=3))
    assert cm.shape == (*shape[:-1], 3, 3)
    assert not cm.any()


@pytest.mark.sampled(2)
def test_normalize(backend: Any) -> None:
    y = backend.asarray([0, 0, 1, 1]), backend.asarray([0, 1, 1, 1])
    cm = backend.numpy(count(backend, *y, num_classes=3, normalize="true"))
    np.testing.assert_allclose(cm, [[0.5, 0.5, 0], [0, 1, 0], [0, 0, 0]])


def test_lists_are_numpy() -> None:
    assert matrics.confusion_matrix([0, 1], [[0.3, 0.7], [0.1, 0.9]], num_classes=2).tolist() == [[0, 1], [0, 1]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([0.0, 0.5], [0, 1]), {}, ValueError, "y_true: expected labels, which are whole numbers"),
        ((["cat", "dog"], ["cat", "cat"]), {}, TypeError, "for text or other labels pass labels="),
        (([0, 1], ["cat", "cat"]), {}, TypeError, "y_pred: expected labels"),
        (([0, 1], [0.2, 0.7]), {}, ValueError, "pass threshold="),
        (([0, 1], [[0.2, 0.7, 0.1]] * 2), {}, ValueError, "expected num_classes=2 entries along class_axis=-1, got 3"),
        (([0, 1], [0, 1, 1]), {}, ValueError, r"the same samples .* y_true \(2,\), y_pred \(3,\)"),
        (([0, 1], [0]), {}, ValueError, "the same samples"),
        (([[0, 1]] * 2, [[0, 1]] * 3), {}, ValueError, "broadcast"),
        (([0, 1], [0, 1]), {"sample_weight": [1.0, 2.0, 3.0]}, ValueError, "broadcast"),
        (([0, 1], [0, 1]), {"sample_weight": [1.0, -2.0]}, ValueError, r"at least 0, got -2.0 at \(1,\)"),
        (([0, 1], [0, 1]), {"num_classes": 0}, ValueError, "num_classes: expected an integer"),
        (([0, 1], [0, 1]), {"num_classes": 2.0}, ValueError, "num_classes: expected an integer"),
        (([0, 1], [0, 1]), {"sample_ndim": 2}, ValueError, "at least sample_ndim=2 axes"),
        (([0, 1], [0, 1]), {"threshold": 0.5}, TypeError, "threshold: expected y_pred to be floating"),
        (([0, 1], [0.1, 0.9]), {"threshold": 0.5, "num_classes": 3}, ValueError, "expected num_classes=2, got 3"),
        (([0, 1], [0, 1]), {"normalize": "rows"}, ValueError, "normalize: expected 'true', 'pred' or 'all'"),
        (([0, 1], [0, 1]), {"ignore_index": 1.5}, ValueError, "ignore_index: expected a 32-bit integer"),
        (([0, 1], [0, 1]), {"ignore_index": True}, ValueError, "ignore_index: expected a 32-bit integer"),
        (([0, 1], [0, 1]), {"sample_weight": [1j, 2]}, TypeError, "sample_weight: expected real numbers"),
        (([0, 1], [0.1, 0.9]), {"threshold": "a"}, ValueError, "threshold: expected a number, got 'a'"),
        (([0, 1], [0.1, 0.9]), {"threshold": float("nan")}, ValueError, "threshold: expected a number"),
        (([0, 1], [[0.2, 0.8]] * 2), {"class_axis": 2}, ValueError, "class_axis=2"),
        (([[0], [0, 1]], [0, 1]), {}, ValueError, "ragged"),
    ],
)
def test_errors_say_what_was_expected(arguments: Any, options: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.confusion_matrix(*arguments, **{"num_classes": 2, **options})


def test_numpy_beside_another_library(backend: Any) -> None:
    """Labels of NumPy and lists become arrays of the library of the scores; two other libraries do not mix."""
    logits = backend.asarray([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    if backend.name == "torch-cuda":
        with pytest.raises(TypeError, match=r"pass torch.as_tensor\(y_true, device='cuda:0'\)"):
            matrics.confusion_matrix([0, 1, 0], logits, num_classes=2)
        return
    for labels in (np.asarray([0, 1, 0]), [0, 1, 0]):
        cm = matrics.confusion_matrix(labels, logits, num_classes=2, sample_weight=np.asarray([1.0, 2, 3]))
        assert type(cm) is type(logits)
        assert backend.numpy(cm).tolist() == [[1, 3], [0, 2]]
    if backend.looks:
        swapped = np.asarray([0, 1, 0], ">i8")
        cm = matrics.confusion_matrix(swapped, logits, num_classes=2, sample_weight=np.ones(3, np.longdouble))
        assert backend.numpy(cm).tolist() == [[1, 1], [0, 1]]


def test_mixed_libraries(torch: Any) -> None:
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match="arrays of the same library, got y_true: torch, y_pred: array_api_strict"):
        matrics.confusion_matrix(torch.tensor([0, 1]), strict.asarray([0, 1]), num_classes=2)
    with pytest.raises(TypeError, match=r"pass torch.as_tensor\(y_true, device='meta'\)"):
        matrics.confusion_matrix([0, 1], torch.tensor([0, 1], device="meta"), num_classes=2)


# Labels of any kind ------------------------------------------------------------------------------------------------

ANIMALS = ["dog", "cat", "owl"]


def test_text_labels_have_one_coding() -> None:
    """Although a label is missing in one of the two, which gave its neighbours other codes."""
    true, pred = ["cat", "owl", "owl", "dog"], ["owl", "owl", "owl", "dog"]
    wanted = [[1, 0, 0], [0, 0, 1], [0, 0, 2]]
    for convert in (list, np.asarray, lambda x: np.asarray(x, object)):
        assert matrics.confusion_matrix(convert(true), convert(pred), labels=ANIMALS).tolist() == wanted
    scores = np.eye(3)[[2, 2, 2, 0]]
    assert matrics.confusion_matrix(true, scores, labels=ANIMALS).tolist() == wanted


@pytest.mark.parametrize("labels", [[3, 5, 7], [("a", 1), ("b", 2), None], ["1", 1, None], ["x", None, b"y"]])
def test_any_hashable_is_a_label(labels: list[Any]) -> None:
    true, pred = RANDOM.integers(0, 3, (2, 40))
    cm = matrics.confusion_matrix([labels[i] for i in true], [labels[i] for i in pred], labels=labels)
    np.testing.assert_array_equal(cm, by_hand(true, pred, 3))


def test_integer_labels_of_every_library(backend: Any) -> None:
    true, pred = RANDOM.integers(0, 3, (2, 40))
    for codes in (np.asarray([30, -5, 7]), np.asarray([1, 2, 3])):
        cm = matrics.confusion_matrix(backend.asarray(codes[true]), backend.asarray(codes[pred]), labels=codes)
        np.testing.assert_array_equal(backend.numpy(cm), by_hand(true, pred, 3))


SPARSE, NEXT_TO_EACH_OTHER = [30, -5, 7], [4, 5, 6]


@pytest.mark.exhaustive
@pytest.mark.parametrize("labels", [SPARSE, pytest.param(NEXT_TO_EACH_OTHER, marks=pytest.mark.exhaustive)])
def test_integer_labels_in_compiled_code(torch: Any, jax_backend: Any, labels: list[int]) -> None:
    """Where no value can be looked at: under jit, vmap and compile; unknown labels are dropped, one is left out."""
    true, pred = RANDOM.choice([*labels, 8, -20], (2, 4, 300))
    keep = RANDOM.random((4, 300)) < 0.9
    wanted = np.zeros((4, 3, 3), int)
    for k, sample in np.argwhere(keep):
        if true[k, sample] in labels and pred[k, sample] in labels:
            wanted[k, labels.index(true[k, sample]), labels.index(pred[k, sample])] += 1
    true = np.where(keep, true, 1000)

    def count(y_true: Any, y_pred: Any) -> Any:
        return matrics.confusion_matrix(y_true, y_pred, labels=labels, ignore_index=1000)

    jax = pytest.importorskip("jax")
    of_jax, of_torch = map(jax_backend.asarray, (true, pred)), [torch.as_tensor(x) for x in (true, pred)]
    np.testing.assert_array_equal(jax.jit(jax.vmap(count))(*of_jax), wanted)
    np.testing.assert_array_equal(torch.func.vmap(count)(*of_torch), wanted)
    state = matrics.ConfusionState.zeros(labels=labels, batch_shape=(4,), like=of_torch[0])
    options = {"fullgraph": True, "backend": "aot_eager"}
    step = torch.compile(lambda s, t, p: s.update(t, p, labels=labels, ignore_index=1000), **options)
    state = step(state, *of_torch)
    np.testing.assert_array_equal(state.matrix, wanted)
    assert (state.dropped + state.matrix.sum((-1, -2))).tolist() == keep.sum(-1).tolist()


def test_labels_that_no_dtype_of_the_device_holds(torch: Any) -> None:
    """A label that an array cannot contain matches nothing, however the array is widened."""
    meta = torch.func.vmap
    few = torch.tensor([[0, 255, 3]], dtype=torch.uint8)
    cm = meta(lambda x: matrics.confusion_matrix(x, x, labels=[-1, 255, 300, 2**70]))(few)
    assert cm.tolist() == [[[0] * 4, [0, 1, 0, 0], [0] * 4, [0] * 4]]
    wide = torch.tensor([[2**63 - 1]]).to(torch.uint64)
    assert not meta(lambda x: matrics.confusion_matrix(x, x, labels=[-1, -2]))(wide).any()
    with pytest.raises(TypeError, match=r"elsewhere labels are integers, got labels=\['a', ...\]"):
        meta(lambda x: matrics.confusion_matrix(x, x, labels=["a", 255]))(few)
    cm = meta(lambda x: matrics.confusion_matrix(x.float(), x, labels=[3, 255]))(few)
    assert cm.tolist() == [[[1, 0], [0, 1]]]


def test_a_text_is_no_list_of_labels() -> None:
    with pytest.raises(TypeError, match="labels: expected a list of labels"):
        matrics.ConfusionState.zeros(2).update(["a"], ["b"], labels="ab")


def test_unknown_labels() -> None:
    with pytest.raises(ValueError, match=r"y_pred: expected one of the labels 'dog', .*got 'cow' at \(1,\) \(1 of 2"):
        matrics.confusion_matrix(["cat", "dog"], ["cat", "cow"], labels=ANIMALS)
    cm, dropped = counted(["cat", "dog"], ["cat", "cow"], labels=ANIMALS)
    assert (int(cm.sum()), int(dropped)) == (1, 1)
    cm = matrics.confusion_matrix(["cat", "void"], ["cat", "cow"], labels=ANIMALS, ignore_index="void")
    assert int(cm.sum()) == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TypeError, "either num_classes=.* got neither"),
        ({"num_classes": 2, "labels": ["a", "b"]}, TypeError, "got both"),
        ({"labels": ["a", "a"]}, ValueError, "'a' twice"),
        ({"labels": []}, ValueError, "got none"),
        ({"labels": "ab"}, TypeError, "expected a list of labels"),
        ({"labels": {"a", "b"}}, TypeError, "expected a list of labels, one for each class, got a set"),
        ({"labels": [["a"], "b"]}, TypeError, r"a flat list of the labels .*, got \['a'\] among them"),
        ({"labels": [np.array(["a", "b"])]}, TypeError, "a flat list of the labels of the classes"),
        ({"labels": [{"a"}, "b"]}, TypeError, "compared and hashed"),
        ({"labels": [float("nan"), "b"]}, TypeError, "compared and hashed"),
    ],
)
def test_labels_or_their_number(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.confusion_matrix(["a", "b"], ["a", "b"], **options)


def test_lists_of_scores_and_tuples_as_labels() -> None:
    """A list of numbers is of scores if one of them is floating, wherever it stands; a tuple is a label if one is."""
    scores = [[0, 1.0], [0.8, 0.2], [0.7, 0.3]]
    assert matrics.confusion_matrix(["a", "b", "a"], scores, labels=["a", "b"]).tolist() == [[1, 1], [1, 0]]
    pairs = [(0.5, 1.0), (1.0, 2.0)]
    assert matrics.confusion_matrix(pairs, pairs, labels=pairs).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(TypeError, match="masked array"):
        matrics.confusion_matrix(np.ma.array([0, 1], mask=[0, 1]), [0, 1], labels=[0, 1])


def test_the_ignored_label_among_others() -> None:
    """It is no prediction, and what is predicted of a sample that is left out does not matter, in a batch either."""
    options = {"labels": ["a", "b"], "ignore_index": "x"}
    with pytest.raises(ValueError, match=r"y_pred: .*got 'x' at \(1,\)"):
        matrics.confusion_matrix(["a", "b", "x"], ["a", "x", "a"], **options)
    cm = matrics.confusion_matrix([["a", "x"], ["b", "x"]], ["a", "q"], **options)
    assert cm.tolist() == [[[1, 0], [0, 0]], [[0, 0], [1, 0]]]
    with pytest.raises(TypeError, match="ignore_index: expected a label or a list of labels, got a set"):
        matrics.confusion_matrix(["a"], ["a"], labels=["a"], ignore_index={"x"})
    with pytest.raises(
        TypeError, match=r"y_true: expected labels out of labels=, got \{'a'\}, a set, which is no label"
    ):
        matrics.confusion_matrix([{"a"}], ["a"], labels=["a"])
    assert matrics.confusion_matrix(np.asarray([]), [], labels=["a"]).tolist() == [[0]]


def test_labels_in_a_list_of_arrays() -> None:
    """As without ``labels=``: one array of them."""
    batches = [np.array(["a", "b"]), np.array(["b", "b"])]
    cm = matrics.confusion_matrix(batches, [["a", "b"], ["a", "b"]], labels=["a", "b"])
    assert cm.tolist() == [[[1, 0], [0, 1]], [[0, 0], [1, 1]]]
    assert matrics.confusion_matrix(list(np.array([3, 4])), [3, 3], labels=list(np.array([3, 4]))).sum() == 2
    with pytest.raises(ValueError, match="y_true: expected a rectangular array of labels, got a ragged list"):
        matrics.confusion_matrix([np.array(["a", "b"]), np.array(["b"])], ["a", "b"], labels=["a", "b"])


@pytest.mark.parametrize("kind", [int, float, bool])
def test_targets_with_a_column_for_each_class(kind: type) -> None:
    """One-hot labels, or several labels a sample: what to do is said of both, in functions and in states."""
    columns, scores = np.eye(3, dtype=kind)[[0, 1, 2, 2]], RANDOM.random((4, 3))
    said = r"for one-hot targets pass y_true.argmax\(axis\).*several labels a sample there are matrics.multilabel"
    for call in (
        lambda: matrics.confusion_matrix(columns, scores, num_classes=3),
        lambda: matrics.confusion_matrix(columns, [0, 1, 2, 2], num_classes=3),
        lambda: matrics.ConfusionState.zeros(3).update(columns, scores),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            call()
    cm = matrics.confusion_matrix(columns.argmax(-1), scores, num_classes=3)
    assert cm.sum() == 4


def test_nullable_integers() -> None:
    pandas = pytest.importorskip("pandas")
    true = pandas.Series([0, 1, None], dtype="Int64")
    cm, dropped = counted(true, [0, 1, 1], labels=[0, 1])
    assert (cm.tolist(), int(dropped)) == ([[1, 0], [0, 1]], 1)


def test_wide_labels_beside_jax(jax_backend: Any) -> None:
    """Default JAX has 32 bits, and a label beyond them would become another one."""
    if jax_backend.float64:
        pytest.skip("64 bits")
    pred = jax_backend.asarray([0, 0])
    wide = np.asarray([0, 2**32 + 1], np.uint64)
    with pytest.raises(ValueError, match=r"y_true: expected labels in \[0, 2\)"):
        matrics.confusion_matrix(wide, pred, num_classes=2)
    cm, dropped = counted(wide, pred, num_classes=2)
    assert (cm.tolist(), int(dropped)) == ([[1, 0], [0, 0]], 1)
    cm = matrics.confusion_matrix(pred, pred, num_classes=2, sample_weight=np.asarray([2**32, 2**33]))
    assert float(cm[0, 0]) == 3 * 2**32


def test_weights_are_checked() -> None:
    with pytest.raises(ValueError, match=r"sample_weight: .*got -5"):
        matrics.confusion_matrix([0, 1], [0, 1], num_classes=2, sample_weight=[1, -5])


def test_data_frames() -> None:
    """Columns are models; labelled matrices are taken by their labels, or not at all."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": ["a", "b", "b"], "m1": ["a", "b", "a"], "m2": ["b", "b", "b"]})
    both = matrics.confusion_matrix(frame["y"], frame[["m1", "m2"]], labels=["a", "b"])
    assert both.tolist() == [[[1, 0], [1, 1]], [[0, 1], [0, 2]]]
    assert matrics.confusion_matrix(frame[["y"]], frame["m1"], labels=["a", "b"]).shape == (2, 2)
    table = pandas.crosstab(frame["y"], frame["m1"])
    assert matrics.accuracy(table[["b", "a"]]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"rows only \['a'\], .*reindex"):
        matrics.accuracy(pandas.crosstab(frame["y"], frame["m2"]))
    stacked = matrics.accuracy([table, table[["b", "a"]], table.iloc[::-1]])
    np.testing.assert_allclose(stacked, 2 / 3)
    truths = pandas.crosstab(pandas.Series([True, False, True]), pandas.Series([True, False, False]))
    assert matrics.accuracy(truths) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"last row and column, 'Sum', are the sums"):
        matrics.accuracy(pandas.crosstab(frame["y"], frame["m1"], margins=True, margins_name="Sum"))
    with pytest.raises(ValueError, match="got 'a' twice"):
        matrics.accuracy(pandas.DataFrame(np.eye(2), index=["a", "a"], columns=["a", "b"]))


def test_data_frames_of_scores() -> None:
    """Rows are samples, as in an array; with labels the columns are found by their names."""
    pandas = pytest.importorskip("pandas")
    y_prob = np.asarray([[0.6, 0.7, 0.1], [0.3, 0.2, 0.8], [0.2, 0.5, 0.9]])
    wanted = matrics.confusion_matrix([0, 1, 2], y_prob, num_classes=3)
    np.testing.assert_array_equal(matrics.confusion_matrix([0, 1, 2], pandas.DataFrame(y_prob), num_classes=3), wanted)
    soft = matrics.soft_confusion_matrix([0, 1, 2], pandas.DataFrame(y_prob))
    np.testing.assert_array_equal(soft, y_prob)
    frame = pandas.DataFrame(y_prob, columns=["a", "b", "c"])[["c", "a", "b"]]
    named = matrics.confusion_matrix(["a", "b", "c"], frame, labels=["a", "b", "c"])
    np.testing.assert_array_equal(named, wanted)
    with pytest.raises(ValueError, match="a column of scores for each of the labels"):
        matrics.confusion_matrix(["a", "b", "b"], frame, labels=["a", "b", "d"])


@pytest.mark.parametrize("at_once", [1, 3, 10, 64])
@pytest.mark.parametrize("weighted", [False, True])
def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, at_once: int, *, weighted: bool) -> None:
    """Counting part by part, whatever axes there are, finds the same."""
    monkeypatch.setattr("matrics._counting.count.SAMPLES_AT_ONCE", at_once)
    y_true, y_pred = RANDOM.integers(0, 3, (1, 5, 7)), RANDOM.integers(0, 3, (4, 5, 7))
    y_true[0, 2, 3] = -1
    scores = np.eye(3)[y_pred]
    weight = RANDOM.random(7) if weighted else None
    options = {"num_classes": 3, "ignore_index": -1, "sample_weight": weight}
    keep = (y_true.reshape(1, 35) >= 0) * np.ones((4, 1))
    by_sample = keep if weight is None else keep * np.tile(weight, 5)
    wanted = by_hand(np.maximum(y_true, 0).reshape(1, 35), y_pred.reshape(4, 35), 3, by_sample)
    for pred in (y_pred, scores):
        cm = matrics.confusion_matrix(y_true, pred, sample_ndim=2, **options)
        np.testing.assert_allclose(cm, wanted)
        single = matrics.confusion_matrix(y_true, pred, sample_ndim=1, **options)
        np.testing.assert_allclose(single.sum(axis=1), wanted)
    y_pred[3, 1, 2], y_pred[0, 2, 3] = 3, 9
    in_float = None if weight is None else np.float64
    cm, dropped = counted(y_true, y_pred, batch_shape=(4,), weighted_in=in_float, **options)
    np.testing.assert_allclose(cm[1:3], wanted[1:3])
    assert dropped.tolist() == [0, 0, 0, 1]
    with pytest.raises(ValueError, match=r"y_pred: .*got 3 at \(3, 1, 2\)"):
        matrics.confusion_matrix(y_true, y_pred, sample_ndim=2, **options)


def test_shapes_in_messages_are_those_given() -> None:
    logits = np.zeros((8, 3, 10))
    with pytest.raises(ValueError, match=r"y_pred \(8, 3, 10\).*y_true.argmax"):
        matrics.confusion_matrix(np.zeros((8, 10, 3), int), logits, num_classes=3, class_axis=1, sample_ndim=2)
    with pytest.raises(ValueError, match=r"got 8 in shape \(8, 3, 10\)"):
        matrics.confusion_matrix(np.zeros((8, 10), int), logits, num_classes=3, class_axis=0)
    with pytest.raises(TypeError, match=r"one-hot targets pass y_true.argmax"):
        matrics.confusion_matrix(np.eye(3), np.eye(3), num_classes=3)
    with pytest.raises(ValueError, match=r"threshold: expected a number, got several: .*thresholds"):
        matrics.confusion_matrix([0, 1], [0.2, 0.7], num_classes=2, threshold=np.asarray([0.5, 0.6]))


# Soft ---------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
def test_soft(backend: Any) -> None:
    y_prob, y_true = RANDOM.dirichlet(np.ones(4), (2, 30)), RANDOM.integers(0, 4, (2, 30))
    wanted = np.stack([np.eye(4)[y].T @ p for y, p in zip(y_true, y_prob, strict=True)])
    for axis in (-1, 1, 0):
        cm = soft(backend, backend.asarray(y_true), backend.asarray(np.moveaxis(y_prob, -1, axis)), class_axis=axis)
        np.testing.assert_allclose(backend.numpy(cm), wanted, **backend.tolerance)
    weights = RANDOM.uniform(size=30)
    cm = soft(
        backend,
        backend.asarray(y_true),
        backend.asarray(y_prob),
        sample_weight=backend.asarray(weights),
        ignore_index=2,
    )
    wanted = np.stack([np.eye(4)[y].T @ (p * weights[:, None]) for y, p in zip(y_true, y_prob, strict=True)])
    wanted[:, 2] = 0
    np.testing.assert_allclose(backend.numpy(cm), wanted, **backend.tolerance)


@pytest.mark.sampled(2)
def test_soft_of_one_truth_and_many_models(backend: Any) -> None:
    y_prob, y_true = RANDOM.dirichlet(np.ones(3), (5, 30)), RANDOM.integers(0, 3, 30)
    cm = soft(backend, backend.asarray(y_true), backend.asarray(y_prob))
    np.testing.assert_allclose(backend.numpy(cm), np.eye(3)[y_true].T @ y_prob, **backend.tolerance)


def test_soft_leaves_out_labels_out_of_range(backend: Any) -> None:
    y_true, y_prob = backend.asarray([0, -1, 7]), backend.asarray([[0.5, 0.5]] * 3)
    if backend.looks:
        with pytest.raises(ValueError, match="got -1 at"):
            matrics.soft_confusion_matrix(y_true, y_prob)
    else:
        assert backend.numpy(matrics.soft_confusion_matrix(y_true, y_prob)).tolist() == [[0.5, 0.5], [0, 0]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_soft_keeps_a_bad_probability_in_its_row(backend: Any, bad: float) -> None:
    y_prob = backend.asarray([[0.5, 0.5], [bad, 1.0], [0.0, 1.0]])
    left_out = soft(backend, backend.asarray([0, 9, 1]), y_prob, ignore_index=9)
    assert backend.numpy(left_out).tolist() == [[0.5, 0.5], [0, 1]]
    cm = backend.numpy(soft(backend, backend.asarray([0, 1, 0]), y_prob))
    assert cm[0].tolist() == [0.5, 1.5]
    assert not np.isfinite(cm[1, 0])


def test_soft_needs_floats() -> None:
    with pytest.raises(TypeError, match="y_prob: expected floating probabilities, got dtype int64"):
        matrics.soft_confusion_matrix([0, 1], [[0, 1], [1, 0]])


# Under transformations ----------------------------------------------------------------------------------------------


def test_torch(torch: Any) -> None:
    """In one graph, mapped, differentiable, without a look at values, and whatever autocast does."""
    y_true, y_pred = torch.from_numpy(RANDOM.integers(-1, 4, (2, 3, 50)))
    logits = torch.from_numpy(RANDOM.normal(size=(3, 50, 3)))

    def count(y_true: Any, y_pred: Any, logits: Any) -> tuple[Any, Any]:
        return (
            matrics.confusion_matrix(y_true, y_pred, num_classes=3),
            matrics.soft_confusion_matrix(y_true, logits.softmax(-1)),
        )

    with pytest.raises(ValueError, match=r"got -?\d at"):
        count(y_true, y_pred, logits)
    plain = torch.compile(count, fullgraph=True, backend="aot_eager")(y_true, y_pred, logits)
    mapped = torch.func.vmap(count)(y_true, y_pred, logits)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = torch.compile(count, fullgraph=True, backend="aot_eager")(y_true, y_pred, logits.to(torch.bfloat16))
    for a, b in zip(plain, mapped, strict=True):
        torch.testing.assert_close(a, b)
    counts, dropped = counted(y_true, y_pred, num_classes=3, batch_shape=(3,))
    assert torch.equal(counts, plain[0])
    assert torch.equal(counts.sum((-2, -1)) + dropped, torch.full((3,), 50))
    assert torch.equal(cast[0], plain[0])
    assert cast[1].dtype == torch.float32
    torch.testing.assert_close(cast[1], plain[1].float(), rtol=0.02, atol=0.02)
    inside = (y_true[0] >= 0) & (y_true[0] < 3) & (y_pred[0] >= 0) & (y_pred[0] < 3)
    assert plain[0][0].sum() == inside.sum()
    meta = count(*(x.to("meta") for x in (y_true, y_pred, logits)))
    assert [tuple(x.shape) for x in meta] == [(3, 3, 3)] * 2
    y_prob = logits[0].softmax(-1).requires_grad_()
    labels = y_true[0].clamp(0, 2)
    assert torch.autograd.gradcheck(lambda p: matrics.soft_confusion_matrix(labels, p), (y_prob,))


@pytest.mark.exhaustive
@pytest.mark.parametrize("dynamic", [None, True])
def test_torch_compiles_for_another_batch_size(torch: Any, dynamic: Any) -> None:
    """The last batch of an epoch is smaller: sizes become symbols, and nothing breaks."""

    def count(y_true: Any, y_pred: Any, logits: Any) -> tuple[Any, Any]:
        return (
            matrics.confusion_matrix(y_true, y_pred, num_classes=3)
            + matrics.confusion_matrix(y_true, logits, num_classes=3),
            matrics.soft_confusion_matrix(y_true, logits.softmax(-1)),
        )

    torch._dynamo.reset()
    compiled = torch.compile(count, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    y_true, y_pred = torch.from_numpy(RANDOM.integers(0, 3, (2, 50)))
    logits = torch.from_numpy(RANDOM.normal(size=(50, 3)))
    for size in (50, 17, 3):
        arrays = (y_true[:size], y_pred[:size], logits[:size])
        for a, b in zip(compiled(*arrays), count(*arrays), strict=True):
            torch.testing.assert_close(a, b)


@pytest.mark.exhaustive
def test_torch_export(torch: Any) -> None:
    class Count(torch.nn.Module):
        def forward(self, y_true: Any, y_pred: Any) -> Any:
            return matrics.score(matrics.confusion_matrix(y_true, y_pred, num_classes=3), "core")

    y_true, y_pred = torch.from_numpy(RANDOM.integers(0, 3, (2, 50)))
    size = torch.export.Dim("size")
    exported = torch.export.export(Count(), (y_true, y_pred), dynamic_shapes=({0: size}, {0: size})).module()
    for name, value in exported(y_true[:20], y_pred[:20]).items():
        torch.testing.assert_close(value, Count()(y_true[:20], y_pred[:20])[name])


def test_jax(jax_backend: Any) -> None:
    import jax

    y_true, y_pred = RANDOM.integers(-1, 4, (2, 3, 50))
    logits = jax_backend.asarray(RANDOM.normal(size=(3, 50, 3)))
    arrays = (jax_backend.asarray(y_true), jax_backend.asarray(y_pred), logits)

    def count(y_true: Any, y_pred: Any, logits: Any) -> tuple[Any, Any]:
        return (
            matrics.confusion_matrix(y_true, y_pred, num_classes=3),
            matrics.soft_confusion_matrix(y_true, jax.nn.softmax(logits)),
        )

    inside = (y_true >= 0) & (y_true < 3) & (y_pred >= 0) & (y_pred < 3)
    wanted = np.stack([by_hand(t[i], p[i], 3) for t, p, i in zip(y_true, y_pred, inside, strict=True)])
    if jax_backend.looks:
        with pytest.raises(ValueError, match=r"got -?\d at"):
            count(*arrays)
    plain = None
    for function in (jax_backend.jit(count), jax_backend.program(jax.vmap(count))):
        hard, soft = function(*arrays)
        np.testing.assert_array_equal(hard, wanted)
        plain = soft if plain is None else plain
        np.testing.assert_allclose(soft, plain, rtol=1e-5)
    gradient = jax_backend.jit(jax.grad(lambda *a: count(*a)[1][..., 0, 0].sum(), 2))(*arrays)
    assert np.isfinite(gradient).all()
    assert np.abs(gradient).sum() > 0


def test_jax_passes_over_labels_out_of_range() -> None:
    """In one row, as of ``vmap``, and in many; the largest labels would wrap around into a cell."""
    jax = pytest.importorskip("jax")
    labels = RANDOM.integers(-2, 6, (2, 3, 50)).astype(np.int32)
    labels[:, :, 0], labels[:, :, 1] = 2**31 - 1, -(2**31)
    y_true, y_pred = map(jax.numpy.asarray, labels)
    inside = ((labels >= 0) & (labels < 4)).all(0)
    wanted = np.zeros((3, 4, 4), int)
    for row in range(3):
        np.add.at(wanted[row], tuple(labels[:, row, inside[row]]), 1)

    def count(y_true: Any, y_pred: Any) -> Any:
        return matrics.confusion_matrix(y_true, y_pred, num_classes=4)

    for function in (jax.jit(jax.vmap(count)), jax.jit(count)):
        np.testing.assert_array_equal(function(y_true, y_pred), wanted)
    zero = matrics.ConfusionState.zeros(4, like=y_true)
    states = jax.jit(jax.vmap(zero.update))(y_true, y_pred)
    np.testing.assert_array_equal(states.dropped, (~inside).sum(1))
