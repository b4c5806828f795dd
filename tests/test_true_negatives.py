"""PyTorch's operator that adds up the true negatives of classes with nearly all samples."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
operator = pytest.importorskip("matrics._engine.execution.true_negatives")

N, DOMINANT = 8, 1e9


def stack() -> np.ndarray:
    """Float32 matrices with no, one and two classes that have nearly all samples, and with one large error."""
    cells = np.random.default_rng(0).integers(1, 50, (4, N, N)).astype(np.float32)
    cells[1, 2, 2] = cells[2, 0, 0] = cells[2, 5, 5] = cells[3, 1, 6] = DOMINANT
    return cells


def arguments(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differences with what float32 leaves of them, the mask of classes where this is little, and the sums."""
    row, column, hits = cells.sum(-1), cells.sum(-2), np.diagonal(cells, 0, -2, -1)
    rest = cells.sum((-2, -1))[:, None] - (row + column - hits)
    wide = cells.astype(np.float64)
    expected = [[np.delete(np.delete(c, k, 0), k, 1).sum() for k in range(N)] for c in wide]
    return rest.T, (row + column - hits > 4 * rest).T, np.array(expected).T


def test_sums_of_dominant_classes() -> None:
    cells = stack()
    rest, large, expected = arguments(cells)
    assert large.sum(axis=0).tolist() == [0, 1, 0, 2]
    assert not np.allclose(rest[large], expected[large], rtol=1e-3)
    values = operator.true_negatives(*map(torch.tensor, (rest, large, cells))).numpy()
    np.testing.assert_allclose(values[large], expected[large], rtol=1e-6)
    np.testing.assert_array_equal(values[~large], rest[~large])


def test_the_derivative_is_that_of_the_difference() -> None:
    cells = stack()
    rest, large, _ = arguments(cells)
    tensor = torch.tensor(rest, requires_grad=True)
    operator.true_negatives(tensor, torch.tensor(large), torch.tensor(cells)).sum().backward()
    assert tensor.grad.eq(1).all()


def test_mapped_stacks_are_one_stack() -> None:
    cells = stack()
    rest, large, _ = map(torch.tensor, arguments(cells))
    whole = operator.true_negatives(rest, large, torch.tensor(cells))
    parts = (rest.T.reshape(2, 2, N), large.T.reshape(2, 2, N), torch.tensor(cells).reshape(2, 2, N, N))
    mapped = torch.func.vmap(lambda r, k, c: operator.true_negatives(r.T, k.T, c).T)(*parts)
    np.testing.assert_array_equal(mapped.reshape(4, N).T, whole)


def test_the_operator_keeps_pytorch_s_rules() -> None:
    cells = stack()
    rest, large, _ = arguments(cells)
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(operator.added_up, tuple(map(torch.tensor, (rest, large, cells))), test_utils=checks)
