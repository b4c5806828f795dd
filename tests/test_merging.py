"""merge_classes: with the matrix of merged labels, on every road."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(8)
NUMBERS = [2, 0, 0, 1, 2, 0]
LISTS = [[1, 2, 5], [3], [0, 4]]


def stack(into: Any) -> tuple[np.ndarray, np.ndarray]:
    """Matrices of six classes, and those of the same samples with the new labels."""
    y_true, y_pred = RANDOM.integers(0, 6, (2, 2, 3, 50))
    new = np.asarray(into)
    fine = matrics.confusion_matrix(y_true, y_pred, num_classes=6)
    return fine, matrics.confusion_matrix(new[y_true], new[y_pred], num_classes=int(new.max()) + 1)


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], into=[[0] * 6, [5, 4, 3, 2, 1, 0]])
@pytest.mark.parametrize("into", [NUMBERS, [0] * 6, [5, 4, 3, 2, 1, 0]])
def test_merged_counts_are_those_of_merged_labels(backend: Any, into: list[int]) -> None:
    fine, wanted = stack(into)
    merge = backend.program(functools.partial(matrics.transform.merge_classes, into=into))
    merged = merge(backend.asarray(fine))
    assert type(merged) is type(backend.asarray(fine))
    np.testing.assert_array_equal(backend.numpy(merged), wanted)
    dtype = np.asarray(backend.numpy(merged)).dtype
    assert dtype == (np.int64 if backend.float64 else np.float32)
    np.testing.assert_array_equal(backend.numpy(merge(backend.asarray(fine, np.float32))), wanted)


def test_lists_of_old_classes() -> None:
    fine, wanted = stack(NUMBERS)
    for form in (
        np.asarray(NUMBERS),
        tuple(NUMBERS),
        LISTS,
        tuple(map(tuple, LISTS)),
        list(map(np.asarray, LISTS)),
        [[5, 2, 1], range(3, 4), [4, 0]],
    ):
        np.testing.assert_array_equal(matrics.transform.merge_classes(fine, form), wanted)


def test_small_integers_and_large_ones() -> None:
    full = np.full((3, 3), 255, np.uint8)
    assert matrics.transform.merge_classes(full, [0, 0, 0]).tolist() == [[9 * 255]]
    huge = np.full((2, 2), 2**53 + 1)
    assert matrics.transform.merge_classes(huge, [0, 0]).tolist() == [[4 * (2**53 + 1)]]
    beyond = matrics.transform.merge_classes(np.full((2, 2), 2**62), [0, 0])
    assert beyond.dtype == np.float64
    assert beyond.tolist() == [[2.0**64]]


@pytest.mark.sampled(2)
def test_an_invalid_matrix_stays_invalid_and_touches_no_other(backend: Any) -> None:
    cells = np.ones((3, 3, 3))
    cells[1, 0, 1], cells[2, 2, 2] = -1, np.nan
    merge = backend.program(functools.partial(matrics.transform.merge_classes, into=[0, 0, 1]))
    merged = backend.numpy(merge(backend.asarray(cells)))
    assert merged[0].tolist() == [[4, 2], [2, 1]]
    assert np.isnan(merged[1:]).all()
    counts = merge(backend.asarray(cells[:2].astype(int)))
    assert np.isnan(backend.numpy(counts)[1]).all() if not backend.float64 else (backend.numpy(counts)[1] == -1).all()


@pytest.mark.parametrize(
    ("into", "error", "message"),
    [
        ([0, 1], ValueError, "the new class of each of 3 classes, got 2 of them"),
        ([], ValueError, "the new class of each of 3 classes, got 0 of them"),
        ([0, 2, 2], ValueError, "new classes 0 to 2, each of at least 1 class, got no class for 1"),
        ([0, -1, 0], ValueError, "new classes 0 to 0, each of at least 1 class, got -1"),
        ([[0, 1], [1, 2]], ValueError, "each of the classes 0 to 2 once, got 1 twice"),
        ([[0], [2]], ValueError, "each of the classes 0 to 2 once, got 1 not at all"),
        ([[0, 3], [1, 2]], ValueError, "each of the classes 0 to 2 once, got 3 outside"),
        ([[0, 1, 2], []], ValueError, "at least 1 class in each, got none for the new class 1"),
        ("001", TypeError, "the new class of each class, or a list of classes for each new class, got str"),
        ({0: 0, 1: 1, 2: 1}, TypeError, "got dict"),
        (3, TypeError, "got int"),
        ([0.0, 1.0, 1.0], TypeError, "got 0.0 among them"),
        ([["cat"], ["dog", "cow"]], TypeError, r"got \['cat'\] among them"),
        ([0, [1, 2]], TypeError, "got 0 among them"),
        ([True, False, False], TypeError, "got True among them"),
    ],
)
def test_errors_say_what_was_expected(into: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.transform.merge_classes(np.ones((3, 3)), into)


@pytest.mark.exhaustive
def test_under_jit_and_vmap(jax_backend: Any) -> None:
    import jax

    fine, wanted = stack(NUMBERS)
    merge = functools.partial(matrics.transform.merge_classes, into=LISTS)
    array = jax_backend.asarray(fine, np.float32)
    np.testing.assert_array_equal(jax.jit(jax.vmap(merge))(array), wanted)
    with pytest.raises(TypeError, match="into: expected numbers that are known beforehand"):
        jax.jit(lambda into: matrics.transform.merge_classes(fine, into))(jax_backend.asarray(NUMBERS))
    slope = jax.jit(jax.grad(lambda cm: matrics.accuracy(merge(cm)).sum()))(array)
    same = np.equal.outer(NUMBERS, NUMBERS)
    accuracy, total = ((fine * same).sum((-2, -1)) / fine.sum((-2, -1)), fine.sum((-2, -1)))
    np.testing.assert_allclose(slope, (same - accuracy[..., None, None]) / total[..., None, None], rtol=1e-4, atol=1e-7)


@pytest.mark.exhaustive
def test_in_pytorch(torch: Any) -> None:
    from torch._subclasses import FakeTensorMode

    fine, wanted = stack(NUMBERS)
    merge = functools.partial(matrics.transform.merge_classes, into=NUMBERS)
    for dtype in (torch.int64, torch.float32):
        cells = torch.from_numpy(fine).to(dtype)
        for found in (torch.compile(merge, fullgraph=True, backend="aot_eager")(cells), torch.func.vmap(merge)(cells)):
            np.testing.assert_array_equal(found, wanted)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        np.testing.assert_array_equal(merge(cells.requires_grad_()).detach(), wanted)
    assert torch.autograd.gradcheck(merge, (torch.rand(6, 6, dtype=torch.float64, requires_grad=True),))
    with FakeTensorMode():
        assert merge(torch.zeros(2, 6, 6)).shape == (2, 3, 3)
