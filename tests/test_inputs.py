"""What is no array, or no label, is answered by what it is and what to pass instead."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matrics

EYE = np.eye(3)

STACKS: list[Callable[[Any], Any]] = [
    matrics.mcc,
    matrics.recall,
    matrics.score,
    matrics.check,
    matrics.transform.transpose,
    matrics.transform.normalize,
    matrics.transform.repair,
    matrics.transform.rebalance,
    matrics.transform.one_vs_rest,
    matrics.transform.pair_counts,
    matrics.study.eigenvalues,
    functools.partial(matrics.transform.weight_cells, weights=EYE),
]

COUNTS = {  # where counts are taken from labels, by the argument that is wrong
    "y_true": (
        lambda x: matrics.confusion_matrix(x, [0, 1, 2], num_classes=3),
        lambda x: matrics.soft_confusion_matrix(x, EYE),
        lambda x: matrics.ConfusionState.zeros(3).update(x, [0, 1, 2]),
    ),
    "y_pred": (
        lambda x: matrics.confusion_matrix([0, 1, 2], x, num_classes=3),
        lambda x: matrics.ConfusionState.zeros(3).update([0, 1, 2], x),
    ),
    "y_prob": (lambda x: matrics.soft_confusion_matrix([0, 1, 2], x),),
}


def refused(value: Any, message: str) -> None:
    """Wherever an array is taken, this value is answered by this message."""
    for call in STACKS:
        with pytest.raises(TypeError, match=rf"^cm: expected an array of counts .*, got {message}"):
            call(value)
    for name, calls in COUNTS.items():
        for count in calls:
            with pytest.raises(TypeError, match=rf"^{name}: expected an array of .*, got {message}"):
                count(value)
    with pytest.raises(TypeError, match=rf"^weights: expected an array of numbers, got {message}"):
        matrics.transform.weight_cells(EYE, value)
    with pytest.raises(TypeError, match=rf"^values: expected an array of numbers, got {message}"):
        matrics.study.interpret(value, "landis_koch")
    if value is not None:  # which there means that there are none
        with pytest.raises(TypeError, match=rf"^sample_weight: expected an array of weights, got {message}"):
            matrics.confusion_matrix([0, 1, 2], [0, 1, 2], num_classes=3, sample_weight=value)


class Thing:
    """What no library knows."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "None$"),
        ({0: [3, 1], 1: [0, 4]}, "a dict: make an array of its values first"),
        (Counter([(0, 0), (0, 1)]), "a Counter: make an array of its values first"),
        ({1, 2}, "a set, which has no order: make a list or an array from it first"),
        (frozenset({1, 2}), "a frozenset, which has no order"),
        ({0: 1}.values(), "a dict_values: make a list or an array from it first"),
        (map(int, "12"), "a map: make a list or an array from it first"),
        ("counts.csv", r"the text 'counts\.csv'$"),
        ("x" * 100, r"the text 'x{37}\.\.\.'$"),
        (b"\1\2", r"bytes: make an array of numbers from it first \(numpy\.frombuffer\)"),
        (bytearray(b"\1\2"), "bytearray: make an array of numbers"),
        (Thing(), r"an object of type .*\.Thing$"),
        (dict, r"an object of type builtins\.type$"),
        ([[3, None], [0, 4]], r"a list whose element \[0, 1\] is None$"),
        (([3, 1], [{}, 4]), r"a tuple whose element \[1, 0\] is a dict: make an array"),
        ([2**64, 1], r"a list whose element \[0\] is 18446744073709551616, which does not fit in 64 bits"),
        ([[1, -(2**63) - 1]], r"a list whose element \[0, 1\] is -9223372036854775809, which does not fit"),
    ],
)  # fmt: skip
def test_no_arrays(value: Any, message: str) -> None:
    refused(value, message)


def test_sparse_matrices_of_scipy() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    for make in (sparse.csr_array, sparse.coo_array, sparse.csr_matrix, sparse.dok_array):
        refused(make(EYE), rf"a sparse {make.__name__}: make it dense first \(\.toarray\(\)\)")
    refused([sparse.csr_array(EYE)] * 2, r"a list whose element \[0\] is a sparse csr_array: make it dense first")


@pytest.mark.exhaustive
def test_sparse_arrays_of_jax(jax_backend: Any) -> None:
    from jax.experimental import sparse

    for make in (sparse.BCOO, sparse.BCSR):
        value = make.fromdense(jax_backend.asarray(EYE, np.float32))
        refused(value, rf"a sparse {make.__name__}: make it dense first \(\.todense\(\)\)")


def test_lists_of_traced_arrays(jax_backend: Any) -> None:
    import jax

    with pytest.raises(
        TypeError, match=r"cm: expected an array of counts .* make a single array of its elements first"
    ):
        jax.jit(lambda cm: matrics.mcc([cm, cm]))(jax_backend.asarray(EYE, np.float32))


def tensors_without_cells(torch: Any) -> dict[str, Any]:
    eye = torch.eye(3)
    sizes = [torch.ones(3, 3), torch.ones(2, 3)]
    dense = r": make it dense first \(\.to_dense\(\)\)"
    return {
        f"a sparse tensor of layout torch.sparse_coo{dense}": eye.to_sparse(),
        f"a sparse tensor of layout torch.sparse_csr{dense}": eye.to_sparse_csr(),
        f"a sparse tensor of layout torch.sparse_csc{dense}": eye.to_sparse_csc(),
        f"a tensor of layout torch._mkldnn{dense}": eye.to_mkldnn(),
        r"a nested tensor, .* pass its parts separately \(\.unbind\(\)\)": torch.nested.nested_tensor(sizes),
        "a nested tensor, .* or padded": torch.nested.nested_tensor(sizes, layout=torch.jagged),
        "a masked tensor, .* fill them first": torch.masked.masked_tensor(eye, eye > 0),
    }


@pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch, about features that are young
def test_tensors_without_cells(torch: Any) -> None:
    integrations = pytest.importorskip("matrics.torch")
    labels = torch.tensor([0, 1, 2])
    for message, value in tensors_without_cells(torch).items():
        refused(value, message)
        refused_by_module = integrations.ConfusionMetric(3)
        for name, arguments in {"y_true": (value, labels), "y_pred": (labels, value)}.items():
            with pytest.raises(TypeError, match=rf"^{name}: expected .* got {message}"):
                refused_by_module.update(*arguments)
    refused(
        [torch.eye(3).to_sparse()] * 2, "a list that NumPy cannot convert: make a single array of its elements first"
    )
    refused([torch.eye(3, requires_grad=True)] * 2, "a list that NumPy cannot convert")


def test_lists_of_masked_arrays() -> None:
    """NumPy would take the cells under the masks for counts."""
    cm = np.ma.masked_array(EYE, EYE == 0)
    with pytest.raises(TypeError, match="cm: expected an array without a mask, got a masked array"):
        matrics.mcc([EYE, cm])


def test_what_numpy_understands_is_still_taken() -> None:
    """Whatever has ``__array__``, or a buffer: data frames and the like."""

    class Frame:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return EYE

    for value in (Frame(), memoryview(EYE), [memoryview(row) for row in EYE]):
        assert matrics.accuracy(value) == 1
    labels = [memoryview(np.asarray([0, 1, 2]))]
    assert matrics.confusion_matrix(labels, labels, num_classes=3).tolist() == [EYE.tolist()]


def test_mixed_libraries_name_lists_lists(torch: Any) -> None:
    with pytest.raises(
        TypeError, match=r"arrays of the same library, got y_true: torch, y_pred: list; |y_pred: list, state"
    ):
        matrics.ConfusionState.zeros(2).update(torch.tensor([0, 1]), [0, 1])


# Labels that no class has --------------------------------------------------------------------------------------------

HUGE = {
    "uint64": np.asarray([0, 2**64 - 1], np.uint64),
    "uint64, just beyond": np.asarray([0, 2**63], np.uint64),
    "int64": np.asarray([0, -(2**63)]),
    "beyond 32 bits": np.asarray([0, 2**40]),
    "uint32": np.asarray([0, 2**32 - 1], np.uint32),
    "list": [0, 2**64 - 1],
    "nested list": [[0, 2**63]],
    "list of scalars": [np.int64(0), np.uint64(2**64 - 1)],
}


@pytest.mark.parametrize("kind", HUGE)
def test_labels_of_any_size_are_said_as_they_are(kind: str) -> None:
    labels = HUGE[kind]
    wrong = int(np.asarray(labels, dtype=object).ravel()[1])
    message = rf"expected labels in \[0, .*\), got {wrong} at \((0, )?1,?\)(?!.*ignore_index)"
    for name, call in (
        ("y_true", lambda: matrics.confusion_matrix(labels, [0, 1], num_classes=3)),
        ("y_pred", lambda: matrics.confusion_matrix([0, 1], labels, num_classes=3)),
        ("y_true", lambda: matrics.soft_confusion_matrix(labels, np.eye(2))),
    ):
        with pytest.raises(ValueError, match=f"^{name}: {message}"):
            call()


def test_only_a_label_that_can_be_ignored_is_said_to_be() -> None:
    with pytest.raises(ValueError, match=r"got -1 at \(1,\) .*; ignore_index= leaves samples out"):
        matrics.confusion_matrix([0, -1], [0, 1], num_classes=3)


def test_the_largest_label_is_not_minus_one(backend: Any) -> None:
    """Which is what it turns into among signed numbers, and what is often ignored."""
    if not backend.float64:
        pytest.skip("no uint64 without 64 bits")
    labels, probs = backend.asarray([0, 2**64 - 1], np.uint64), backend.asarray(np.eye(2))
    calls = (
        lambda: matrics.confusion_matrix(labels, backend.asarray([0, 1]), num_classes=2, ignore_index=-1),
        lambda: matrics.soft_confusion_matrix(labels, probs, ignore_index=-1),
    )
    for call in calls:
        if backend.looks:
            with pytest.raises(ValueError, match="got 18446744073709551615 at"):
                call()
        else:
            assert backend.numpy(call()).tolist() == [[1, 0], [0, 0]]


def test_lists_of_signed_and_unsigned_labels() -> None:
    """NumPy makes floating numbers of them, which would be class scores."""
    y_true, y_pred = [0, 1], [np.asarray([0, 1], np.uint64), np.asarray([1, 1])]
    cm = matrics.confusion_matrix(y_true, y_pred, num_classes=2)
    assert cm.tolist() == [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]


# Empty lists ---------------------------------------------------------------------------------------------------------


def test_empty_lists_are_no_labels() -> None:
    """An empty list has no dtype; NumPy's float64 is not what anybody has said."""
    for empty, shape in (([], (3, 3)), ((), (3, 3)), ([[], []], (2, 3, 3)), ([[[], []]], (1, 2, 3, 3))):
        cm = matrics.confusion_matrix(empty, empty, num_classes=3)
        assert cm.shape == shape
        assert cm.dtype == np.int64
        assert not cm.any()
    for none in (np.zeros(0, int), np.zeros((0, 3))):  # labels, class scores
        assert matrics.confusion_matrix([], none, num_classes=3).tolist() == [[0] * 3] * 3
    assert matrics.confusion_matrix([], [], num_classes=2, threshold=0.5).tolist() == [[0, 0], [0, 0]]
    assert matrics.confusion_matrix([], [], num_classes=2, sample_weight=[]).tolist() == [[0, 0], [0, 0]]
    assert matrics.soft_confusion_matrix([], np.zeros((0, 2))).tolist() == [[0, 0], [0, 0]]
    state = matrics.ConfusionState.zeros(3).update([0, 1], [0, 2])
    assert state.update([], []).matrix.tolist() == state.matrix.tolist()
    assert state.update([], []).dropped == 0


def test_the_dtype_of_an_empty_array_decides() -> None:
    assert not matrics.confusion_matrix(np.zeros(0), np.zeros(0), num_classes=3).any()
    with pytest.raises(ValueError, match="y_pred: floating-point numbers are class scores"):
        matrics.confusion_matrix([], [np.zeros(0)], num_classes=3)
    with pytest.raises(ValueError, match="y_prob: the number of classes"):
        matrics.soft_confusion_matrix([], [])


# Weights of samples that are not counted ------------------------------------------------------------------------------

WEIGHTS = [np.nan, np.inf, -np.inf, -1.0]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("bad", WEIGHTS)
def test_the_weight_of_an_ignored_sample_may_be_anything(backend: Any, bad: float) -> None:
    y_true, y_pred = backend.asarray([0, 9, 1]), backend.asarray([0, 0, 1])
    weight, probs = backend.asarray([0.5, bad, 2.0]), backend.asarray([[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]])
    options = {"sample_weight": weight, "ignore_index": 9}
    assert backend.numpy(matrics.confusion_matrix(y_true, y_pred, num_classes=2, **options)).tolist() == [
        [0.5, 0],
        [0, 2],
    ]
    assert backend.numpy(matrics.soft_confusion_matrix(y_true, probs, **options)).tolist() == [[0.5, 0], [0.5, 1.5]]
    state = matrics.ConfusionState.zeros(2, like=y_true, dtype=weight.dtype).update(y_true, y_pred, **options)
    assert backend.numpy(state.matrix).tolist() == [[0.5, 0], [0, 2]]
    assert int(state.dropped) == 0


@pytest.mark.parametrize("bad", WEIGHTS)
def test_the_weight_of_a_counted_sample_may_not(bad: float) -> None:
    weight = [0.5, 1.0, bad]
    for call in (
        lambda: matrics.confusion_matrix([0, 9, 1], [0, 0, 1], num_classes=2, sample_weight=weight, ignore_index=9),
        lambda: matrics.soft_confusion_matrix([0, 9, 1], np.ones((3, 2)), sample_weight=weight, ignore_index=9),
    ):
        with pytest.raises(ValueError, match=rf"sample_weight: expected finite weights .* got {bad} at \(2,\)"):
            call()


def test_the_weight_of_an_ignored_sample_has_no_gradient(torch: Any) -> None:
    probs = torch.full((3, 2), 0.5, dtype=torch.float64, requires_grad=True)
    weight = torch.tensor([0.5, torch.nan, 2.0], dtype=torch.float64)
    matrics.soft_confusion_matrix(torch.tensor([0, 9, 1]), probs, sample_weight=weight, ignore_index=9).sum().backward()
    assert probs.grad.tolist() == [[0.5, 0.5], [0, 0], [2, 2]]
