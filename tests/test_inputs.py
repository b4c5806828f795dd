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
    matrics.transpose,
    matrics.normalize,
    matrics.repair,
    matrics.rebalance,
    matrics.one_vs_rest,
    matrics.pair_counts,
    matrics.eigenvalues,
    functools.partial(matrics.weight_cells, weights=EYE),
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
    "probs": (lambda x: matrics.soft_confusion_matrix([0, 1, 2], x),),
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
        matrics.weight_cells(EYE, value)
    with pytest.raises(TypeError, match=rf"^values: expected an array of numbers, got {message}"):
        matrics.interpret(value, "landis_koch")
    if value is not None:  # which there means that there are none
        with pytest.raises(TypeError, match=rf"^sample_weight: expected an array of weights, got {message}"):
            matrics.confusion_matrix([0, 1, 2], [0, 1, 2], num_classes=3, sample_weight=value)


class Thing:
    """What no library knows."""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "None$"),
        ({0: [3, 1], 1: [0, 4]}, "a dict: make an array of its values first"),
        (Counter([(0, 0), (0, 1)]), "a Counter: make an array of its values first"),
        ({1, 2}, "a set, which has no order: make a list or an array of it first"),
        (frozenset({1, 2}), "a frozenset, which has no order"),
        ({0: 1}.values(), "a dict_values: make a list or an array of it first"),
        (map(int, "12"), "a map: make a list or an array of it first"),
        ("counts.csv", r"the text 'counts\.csv'$"),
        ("x" * 100, r"the text 'x{37}\.\.\.'$"),
        (b"\1\2", r"bytes: make an array of numbers of it first \(numpy\.frombuffer\)"),
        (bytearray(b"\1\2"), "bytearray: make an array of numbers"),
        (Thing(), r"an object of type .*\.Thing$"),
        (dict, r"an object of type builtins\.type$"),
        ([[3, None], [0, 4]], r"a list whose element \[0, 1\] is None$"),
        (([3, 1], [{}, 4]), r"a tuple whose element \[1, 0\] is a dict: make an array"),
        ([2**64, 1], r"a list whose element \[0\] is 18446744073709551616, which no integer of 64 bits holds"),
        ([[1, -(2**63) - 1]], r"a list whose element \[0, 1\] is -9223372036854775809, which no integer"),
    ],
)  # fmt: skip
def test_no_arrays(value: Any, message: str) -> None:
    refused(value, message)


def test_sparse_matrices_of_scipy() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    for make in (sparse.csr_array, sparse.coo_array, sparse.csr_matrix, sparse.dok_array):
        refused(make(EYE), rf"a sparse {make.__name__}: make it dense first \(\.toarray\(\)\)")
    refused([sparse.csr_array(EYE)] * 2, r"a list whose element \[0\] is a sparse csr_array: make it dense first")


def test_sparse_arrays_of_jax(jax_backend: Any) -> None:
    from jax.experimental import sparse

    for make in (sparse.BCOO, sparse.BCSR):
        value = make.fromdense(jax_backend.asarray(EYE, np.float32))
        refused(value, rf"a sparse {make.__name__}: make it dense first \(\.todense\(\)\)")


def test_lists_of_traced_arrays(jax_backend: Any) -> None:
    import jax

    with pytest.raises(TypeError, match=r"cm: expected an array of counts .* make one array of its elements first"):
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
        r"a nested tensor, .* pass its parts one by one \(\.unbind\(\)\)": torch.nested.nested_tensor(sizes),
        "a nested tensor, .* or padded": torch.nested.nested_tensor(sizes, layout=torch.jagged),
        "a masked tensor, .* fill them first": torch.masked.masked_tensor(eye, eye > 0),
    }


@pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch, about features that are young
def test_tensors_without_cells(torch: Any) -> None:
    integrations = pytest.importorskip("matrics.integrations.torch")
    labels = torch.tensor([0, 1, 2])
    for message, value in tensors_without_cells(torch).items():
        refused(value, message)
        refused_by_module = integrations.ConfusionMetric(3)
        for name, arguments in {"y_true": (value, labels), "y_pred": (labels, value)}.items():
            with pytest.raises(TypeError, match=rf"^{name}: expected .* got {message}"):
                refused_by_module.update(*arguments)
    refused([torch.eye(3).to_sparse()] * 2, "a list that NumPy makes no array of: make one array of its elements first")
    refused([torch.eye(3, requires_grad=True)] * 2, "a list that NumPy makes no array of")


def test_lists_of_masked_arrays() -> None:
    """NumPy would take the cells under the masks for counts."""
    cm = np.ma.masked_array(EYE, EYE == 0)
    with pytest.raises(TypeError, match="cm is a masked array"):
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
    with pytest.raises(TypeError, match=r"arrays of one library, got y_true: torch, y_pred: list$"):
        matrics.confusion_matrix(torch.tensor([0, 1]), [0, 1], num_classes=2)
