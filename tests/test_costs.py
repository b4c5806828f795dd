"""expected_cost: beside exact fractions, on every road."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(17)


def by_fractions(cm: np.ndarray, costs: np.ndarray) -> float:
    total = Fraction(int(cm.sum()))
    return float(
        sum(Fraction(int(c)) * Fraction(float(cost)) for c, cost in zip(cm.flat, costs.flat, strict=True)) / total
    )


@pytest.mark.parametrize("n", [1, 2, 5, 60])
def test_beside_fractions(backend: Any, n: int) -> None:
    stack = RANDOM.integers(0, 50, (7, n, n)) + 1
    costs = RANDOM.normal(size=(n, n)).astype(np.float32) + 2  # some are gains
    wanted = [by_fractions(cm, costs) for cm in stack]
    for form in (costs, costs.tolist()):
        found = matrics.expected_cost(backend.asarray(stack), form)
        np.testing.assert_allclose(backend.numpy(found), wanted, **backend.tolerance)
    found = matrics.expected_cost(backend.asarray(stack, np.float32), backend.asarray(costs))
    np.testing.assert_allclose(backend.numpy(found), wanted, rtol=3e-5)
    for k, cm in enumerate(stack[:2]):
        assert float(matrics.expected_cost(cm, costs)) == pytest.approx(wanted[k], rel=1e-12)


def test_errors_that_all_cost_one(backend: Any) -> None:
    cm = backend.asarray(RANDOM.integers(0, 9, (4, 3, 3)), np.float32)
    wanted = 1 - backend.numpy(matrics.accuracy(cm))
    np.testing.assert_allclose(backend.numpy(matrics.expected_cost(cm, 1 - np.eye(3))), wanted, rtol=1e-6)


def test_empty_and_invalid_matrices(backend: Any) -> None:
    stack = np.asarray([[[0, 0], [0, 0]], [[1, 2], [3, 4]], [[-1, 2], [0, 0]], [[np.nan, 1], [1, 1]]])
    costs = [[0, 1], [5, -1]]
    found = backend.numpy(matrics.expected_cost(backend.asarray(stack), costs, invalid="nan"))
    np.testing.assert_allclose(found, [np.nan, 1.3, np.nan, np.nan], rtol=1e-6)
    found = backend.numpy(matrics.expected_cost(backend.asarray(stack), costs, zero_division=7, invalid="nan"))
    np.testing.assert_allclose(found, [7, 1.3, np.nan, np.nan], rtol=1e-6)
    with pytest.raises(matrics.InvalidConfusionMatrix, match="2 of 4 confusion matrices are invalid"):
        matrics.expected_cost(backend.asarray(stack), costs, invalid="raise")


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ([[0, 1]], ValueError, r"costs: expected shape \(2, 2\), rows = true and .*, got \(1, 2\)"),
        (np.ones((3, 2, 2)), ValueError, r"got \(3, 2, 2\)"),
        ([[0, np.inf], [1, 0]], ValueError, r"costs: expected finite numbers, got inf at \[0, 1\]"),
        ([["a", "b"], ["c", "d"]], TypeError, "costs: expected real numbers"),
        (None, TypeError, "costs: expected an array of numbers, got None"),
    ],
)
def test_errors_say_what_was_expected(costs: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.expected_cost([[1, 2], [3, 4]], costs)


def test_a_cost_is_no_name_of_a_measure() -> None:
    """It needs the costs: the message has the call."""
    for call in (lambda: matrics.get_metric("expected_cost"), lambda: matrics.score([[1, 2], [3, 4]], "expected_cost")):
        with pytest.raises(ValueError, match=r"'expected_cost' needs .*: it is matrics.expected_cost\(cm, costs\)"):
            call()
    with pytest.raises(TypeError, match=r"got the function expected_cost: .* called by itself: expected_cost\("):
        matrics.score([[1, 2], [3, 4]], [matrics.expected_cost])
    with pytest.raises(TypeError, match=r"got the function mean: .* called by itself: mean\(\.\.\.\)"):
        matrics.score([[1, 2], [3, 4]], np.mean)


def test_in_threads() -> None:
    stack, costs = RANDOM.random((5000, 3, 3)), RANDOM.random((3, 3))
    np.testing.assert_array_equal(matrics.expected_cost(stack, costs, workers=2), matrics.expected_cost(stack, costs))


def test_under_jit_and_vmap(jax_backend: Any) -> None:
    import jax

    stack, costs = RANDOM.random((4, 5, 5)) + 0.1, RANDOM.random((5, 5))
    cells, prices = (jax_backend.asarray(x, np.float32) for x in (stack, costs))
    wanted = (stack * costs).sum((1, 2)) / stack.sum((1, 2))
    np.testing.assert_allclose(jax.jit(matrics.expected_cost)(cells, prices), wanted, rtol=1e-5)
    mapped = jax.jit(jax.vmap(matrics.expected_cost, (0, None)))
    np.testing.assert_allclose(mapped(cells, prices), wanted, rtol=1e-5)
    slopes = jax.jit(jax.grad(lambda cm: matrics.expected_cost(cm, costs).sum()))(cells)
    slope = (costs - wanted[:, None, None]) / stack.sum((1, 2))[:, None, None]
    np.testing.assert_allclose(slopes, slope, rtol=1e-4, atol=1e-6)
    with pytest.raises(TypeError, match="costs: expected constants, as cm is one"):
        jax.vmap(lambda prices: matrics.expected_cost(cells, prices))(prices[None])
    with pytest.raises(TypeError, match="an array of the library of cm"):
        matrics.expected_cost(stack, prices)


def test_in_pytorch(torch: Any) -> None:
    from torch._subclasses import FakeTensorMode

    stack, costs = RANDOM.random((4, 7, 7)) + 0.1, RANDOM.random((7, 7))
    wanted = (stack * costs).sum((1, 2)) / stack.sum((1, 2))
    cells, prices = map(torch.from_numpy, (stack, costs))
    compiled = torch.compile(matrics.expected_cost, fullgraph=True, backend="aot_eager")
    rows = costs.tolist()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        listed = torch.compile(lambda cm: matrics.expected_cost(cm, rows), fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(listed(cells), torch.from_numpy(wanted))
        for found in (compiled(cells, prices), torch.func.vmap(lambda cm: matrics.expected_cost(cm, prices))(cells)):
            torch.testing.assert_close(found, torch.from_numpy(wanted))
    assert torch.autograd.gradcheck(lambda cm: matrics.expected_cost(cm, costs), (cells.requires_grad_(),))
    with FakeTensorMode():
        assert matrics.expected_cost(torch.ones(2, 3, 3), torch.ones(3, 3)).shape == (2,)
