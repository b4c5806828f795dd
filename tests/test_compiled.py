"""What torch.compile and jax.jit make of a stack: the values of the host, whatever one of its matrices holds.

Compiled code has roads of its own for few classes and for many, and XLA's looks at all cells at once: one matrix that
is not of small whole numbers sends the whole stack down another road.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from roads import XLA_DEFAULT

import matrics

SPECS = ("accuracy", "mcc", "cohen_kappa", "recall:class", "precision", "f1", "specificity:class", "npv:class")
OF_PYTORCH = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # to itself
# PyTorch's default makes machine code, of which each graph takes a C++ compiler; the other stops short of that.
COMPILERS = ["aot_eager", pytest.param("inductor", marks=pytest.mark.exhaustive)]
ROWS = 6000  # of fewer JAX's maximum on the CPU does not pass NaN over


def hard(n: int) -> dict[str, np.ndarray]:
    """Matrices by what is hard about them."""
    random = np.random.default_rng(n)
    ones, empty, corner = np.ones((n, n)), np.zeros((n, n)), np.zeros((n, n))
    corner[0, 0] = 1e17
    row, column, ends = corner.copy(), corner.copy(), corner.copy()
    row[0], column[:, 0], ends[-1, -1] = 1e17, 1e17, 3e17
    swapped = corner[::-1] + 3 * corner[:, ::-1]
    special = {str(value): np.where(corner > 0, value, 1) for value in (np.nan, np.inf, -3, 0.5)}
    return {
        "empty": empty,
        "one item": corner / 1e17,
        "one class": row / 1e17,
        "a dominant hit": ones + corner,
        "a dominant error": ones + corner[::-1],
        "two dominant hits": ones + ends,
        "two dominant errors": ones + swapped,
        "a dominant class": ones + row,
        "a dominant prediction": ones + column,
        "a dominant cross": ones + np.maximum(row, column),
        "dominant hits": ones + 1e17 * np.eye(n),
        "soft": random.random((n, n)),
        "of all sizes": random.random((n, n)) * 10.0 ** random.integers(-12, 12, (n, n)),
        **special,
    }


def check(
    compiled: Callable[[Any], dict[str, Any]], asarray: Callable[[Any], Any], n: int, dtype: type, rows: int
) -> None:
    """Compare with the host a stack of small whole numbers, and the same with each hard matrix in its midst."""
    digits = {"rtol": 1e-12, "atol": 1e-14} if dtype is np.float64 else {"rtol": 3e-5, "atol": 3e-6}
    plain = np.random.default_rng(n).integers(0, 40, (rows, n, n)).astype(dtype)
    plain[7, 1], plain[8, :, 1] = 0, 0
    for name, matrix in {"plain": plain[rows // 2], **hard(n)}.items():
        stack = plain.copy()
        stack[rows // 2] = matrix
        expected = matrics.score(stack.astype(np.float64), SPECS, invalid="nan")
        for spec, values in compiled(asarray(stack)).items():
            assert np.asarray(values).dtype == dtype
            np.testing.assert_allclose(np.asarray(values), expected[spec], err_msg=f"{name}: {spec}", **digits)


@pytest.mark.exhaustive(n=[6, 12])
@pytest.mark.parametrize("n", [3, 6, 12])
def test_jit(jax_backend: Any, n: int) -> None:
    import jax

    compiled = jax.jit(lambda cm: matrics.score(cm, SPECS), compiler_options=XLA_DEFAULT)
    for dtype in (np.float32, np.float64)[: 1 + jax_backend.float64]:
        check(compiled, jax_backend.asarray, n, dtype, ROWS)


@pytest.mark.exhaustive
@pytest.mark.exhaustive(n=[12])
@pytest.mark.parametrize("n", [6, 12])
def test_jit_of_single_matrices(jax_backend: Any, n: int) -> None:
    """Under ``vmap`` a branch would compute both sides for every matrix: there is none to begin with."""
    import jax

    def score(cm: Any) -> dict[str, Any]:
        return matrics.score(cm, SPECS)

    compiled = jax.jit(jax.vmap(score), compiler_options=XLA_DEFAULT)
    for dtype in (np.float32, np.float64)[: 1 + jax_backend.float64]:
        check(compiled, jax_backend.asarray, n, dtype, 20)
    stack = jax_backend.asarray(np.ones((20, n, n)))
    only_there = "optimization_barrier"
    assert only_there in str(jax.make_jaxpr(score)(stack))
    assert only_there not in str(jax.make_jaxpr(score)(stack[0]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [3, 6])
def test_the_gradient_of_either_road(jax_backend: Any, n: int) -> None:
    """Differences of whole counts have the gradient of the sums that a soft matrix in the stack has all take."""
    import jax

    if jax_backend.float64 != (n == 6):
        pytest.skip("each size takes one of the two")

    def loss(cm: Any) -> Any:
        scores = matrics.score(cm, ("mcc", "f1", "cohen_kappa", "specificity"), zero_division=0.0)
        return sum(values.sum() for values in scores.values())

    dtype = np.float64 if jax_backend.float64 else np.float32
    stack = np.random.default_rng(n).integers(0, 9, (20, n, n)).astype(dtype)
    stack[0], stack[1, 0], stack[2, :, 0] = 0, 0, 0
    stack[3] = np.eye(n)
    soft = np.concatenate([stack, stack[4:5] + dtype(0.25)])
    gradient = jax.jit(jax.grad(loss), compiler_options=XLA_DEFAULT)
    of_whole, of_soft = (np.asarray(gradient(jax_backend.asarray(x))) for x in (stack, soft))
    alone = jax.jit(jax.vmap(jax.grad(loss)), compiler_options=XLA_DEFAULT)(jax_backend.asarray(soft))
    assert np.isfinite(of_whole).all()
    assert of_whole.any(axis=(1, 2))[4:].all()
    tolerance = {"rtol": 1e-3, "atol": 1e-6 if jax_backend.float64 else 1e-4}
    np.testing.assert_allclose(of_whole, of_soft[:-1], **tolerance)
    np.testing.assert_allclose(alone, of_soft, **tolerance)


@OF_PYTORCH
@pytest.mark.exhaustive
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("n", [3, 7, 20])
def test_torch_compile(torch: Any, n: int, compiler: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda cm: matrics.score(cm, SPECS), fullgraph=True, backend=compiler)
    for dtype in (np.float32, np.float64):
        check(compiled, torch.from_numpy, n, dtype, 40)


@OF_PYTORCH
@pytest.mark.exhaustive
@pytest.mark.parametrize(("n", "compiler"), [(3, "inductor"), (12, "aot_eager")])
def test_torch_compile_of_any_shape(torch: Any, n: int, compiler: str) -> None:
    torch._dynamo.reset()
    names = ["core"] if compiler == "inductor" else ["mcc", "f1"]
    names += ["specificity:class", "informedness"]
    compiled = torch.compile(lambda cm: matrics.score(cm, names), fullgraph=True, dynamic=True, backend=compiler)
    for batch in (5, 8, 30):
        counts = np.random.default_rng(batch).integers(0, 30, (batch, n, n)).astype(float)
        expected = matrics.score(counts, names)
        for name, values in compiled(torch.from_numpy(counts)).items():
            np.testing.assert_allclose(values.numpy(), expected[name], rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.exhaustive
@OF_PYTORCH
@pytest.mark.exhaustive(n=[2, 10])
@pytest.mark.parametrize("n", [2, 4, 10])
def test_torch_compile_of_vmap(torch: Any, n: int) -> None:
    """Over two axes of the batch, and of the derivatives of a measure."""
    torch._dynamo.reset()
    options = {"fullgraph": True, "dynamic": False, "backend": "aot_eager"}  # PyTorch maps no symbolic sizes
    stack = torch.from_numpy(np.random.default_rng(n).integers(1, 50, (2, 3, 5, n, n)).astype(float))

    def scores(cm: Any) -> Any:
        return matrics.score(cm, ["core", *SPECS])

    found = torch.compile(torch.func.vmap(torch.func.vmap(scores)), **options)(stack)
    for name, values in scores(stack).items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-14, err_msg=name)
    slope = torch.func.vmap(torch.func.grad(matrics.mcc))
    compiled = torch.compile(slope, **options)
    np.testing.assert_allclose(compiled(stack[0, 0]), slope(stack[0, 0]), rtol=1e-9, atol=1e-12)


@OF_PYTORCH
@pytest.mark.exhaustive
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("n", [3, 7, 20])
def test_the_gradient_of_compiled_code(torch: Any, n: int, compiler: str) -> None:
    """Of a stack, and by ``vmap`` of its matrices."""

    def loss(cm: Any) -> Any:
        return sum(
            values.sum() for values in matrics.score(cm, ("mcc", "f1", "specificity"), zero_division=0.0).values()
        )

    torch._dynamo.reset()
    stack = torch.from_numpy(np.random.default_rng(n).integers(0, 9, (20, n, n)) + 0.25)
    stack[0] = 0
    leaf = stack.clone().requires_grad_()
    loss(leaf).backward()
    for gradient in (torch.func.grad(loss), torch.func.vmap(torch.func.grad(loss))):
        found = torch.compile(gradient, fullgraph=True, backend=compiler)(stack)
        np.testing.assert_allclose(found.numpy(), leaf.grad.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.exhaustive
@pytest.mark.parametrize("beta", [0.95, 2.0])
def test_specs_are_printed_in_a_compiled_graph(torch: Any, beta: float) -> None:
    def score(cm: Any) -> Any:
        return matrics.score(
            cm, [matrics.metrics.fbeta.using(beta=beta), matrics.cohen_kappa.using(costs=[[0, 1], [0.1, 0]])]
        )

    torch._dynamo.reset()  # or a second number makes a symbol of both
    cm = torch.tensor([[8.0, 2.0], [1.0, 9.0]])
    found = torch.compile(score, fullgraph=True, backend="aot_eager")(cm)
    assert list(found) == list(score(cm)) == [f"fbeta(beta={beta:g})", "cohen_kappa(costs=[[0,1],[0.1,0]])"]
