"""Eigenvalues without LAPACK: their digits for hard matrices on every road, and that no matrix affects another."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import roads
from roads import jax_bits

import matrics
from matrics._arrays import Standard
from matrics._engine.eigenvalues import bisection, host
from matrics._engine.eigenvalues.lanes import LEAST_MATRICES

RANDOM = np.random.default_rng(31)
# Of the precision, the number of classes and the largest eigenvalue: the largest error seen was 3.5.
MOST = 6


def needs(library: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(importlib.util.find_spec(library) is None, reason=f"needs {library}")


def symmetric(x: np.ndarray) -> np.ndarray:
    return (x + np.swapaxes(x, -1, -2)) / 2


def hard_matrices(n: int, count: int) -> Iterator[tuple[str, np.ndarray]]:
    """Classes of matrices in which pivots vanish, eigenvalues coincide, or sizes differ widely."""
    normal, one = RANDOM.standard_normal, np.eye(n)
    half = n // 2
    yield "random", symmetric(normal((count, n, n)))
    some = normal((count, n, max(1, half)))
    yield "half of the rank", some @ np.swapaxes(some, 1, 2)
    vector = normal((count, n, 1))
    yield "rank 1", vector * np.swapaxes(vector, 1, 2)
    turned = np.linalg.qr(normal((count, n, n)))[0]
    repeated = RANDOM.integers(0, 3, (count, 1, n))
    yield "repeated eigenvalues", symmetric((turned * repeated) @ np.swapaxes(turned, 1, 2))
    yield "nearly a multiple of 1", 0.5 * one + 1e-15 * symmetric(normal((count, n, n)))
    yield "one", np.tile(one, (count, 1, 1))
    yield "zero", np.zeros((count, n, n))
    yield "all cells equal", np.ones((count, n, n))
    blocks = symmetric(normal((count, n, n)))
    blocks[:, :half, half:] = blocks[:, half:, :half] = 0
    yield "two blocks", blocks
    same = np.zeros((count, n, n))
    same[:, :half, :half] = same[:, half : 2 * half, half : 2 * half] = symmetric(
        RANDOM.integers(-2, 3, (count, half, half))
    )
    yield "two equal blocks of integers", same
    yield "integers -1 to 1", symmetric(RANDOM.integers(-1, 2, (count, n, n)))
    yield "diagonal", RANDOM.random((count, n, 1)) * one
    yield "permutations", symmetric(one[np.argsort(RANDOM.random((count, n)))])
    yield "exchange", np.tile(one[::-1], (count, 1, 1))
    path = np.tile(np.eye(n, k=1) + np.eye(n, k=-1), (count, 1, 1))
    yield "path", path
    yield "Wilkinson's", path + np.diag(np.abs(np.arange(n) - (n - 1) / 2))
    yield "cells of all sizes", symmetric(10.0 ** RANDOM.uniform(-8, 8, (count, n, n)))
    sizes = 10.0 ** RANDOM.uniform(-8, 8, (count, n, 1))
    yield "rows of all sizes", sizes * symmetric(normal((count, n, n))) * np.swapaxes(sizes, 1, 2)
    for name, counts in (
        ("counts", RANDOM.poisson(10.0 ** RANDOM.uniform(-1, 4, (count, n, n)))),
        ("few counts", np.floor(10.0 ** RANDOM.uniform(0, 2, (count, n, n))) * (RANDOM.random((count, n, n)) < 0.3)),
        ("nearly no errors", 10**6 * np.eye(n) + RANDOM.poisson(0.1, (count, n, n))),
    ):
        yield name, symmetric(counts / np.maximum(counts.sum(-1, keepdims=True), 1))
    yield "1e-310", 1e-310 * symmetric(normal((count, n, n)))
    yield "1e-160 beside the diagonal", one * RANDOM.random((count, 1, n)) + 1e-160 * symmetric(normal((count, n, n)))


def scaled(matrices: np.ndarray, dtype: Any) -> np.ndarray:
    """Cells of at most 1, by powers of two, as the rates of a confusion matrix have."""
    size = np.abs(matrices).max((1, 2), keepdims=True)
    return symmetric(np.where(size > 1, matrices / 2.0 ** np.frexp(size)[1], matrices).astype(dtype))


def by_host(matrices: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return host.eigenvalues(np.ascontiguousarray(matrices.transpose(1, 2, 0))).T


def by_bisection(matrices: np.ndarray, library: str = "numpy") -> np.ndarray:
    xp = importlib.import_module(library)
    backend = Standard(xp)
    if library == "array_api_compat.torch":
        backend = importlib.import_module("matrics._arrays.torch").TORCH
    with np.errstate(all="ignore"):
        return np.asarray(bisection.eigenvalues(backend, xp.asarray(matrices)))


def by_jit(matrices: np.ndarray) -> np.ndarray:
    import jax

    from matrics._engine.eigenvalues import xla

    with jax_bits(float64=matrices.dtype == np.float64), jax.numpy_rank_promotion("raise"):
        if (matrices.shape, matrices.dtype) not in COMPILED:
            COMPILED[matrices.shape, matrices.dtype] = jax.jit(xla.in_steps).lower(matrices).compile()
        return np.asarray(COMPILED[matrices.shape, matrices.dtype](matrices))


COMPILED: dict[Any, Any] = {}
ROADS = {
    "host": by_host,
    "bisection-torch": lambda x: by_bisection(x, "array_api_compat.torch"),
    "bisection-strict": lambda x: by_bisection(x, "array_api_strict"),
    "jit": by_jit,
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("road", "n"),
    [
        *(("host", n) for n in (4, 5, 7, 10, 20)),
        pytest.param("host", 30, marks=pytest.mark.exhaustive),
        *(pytest.param("bisection-torch", n, marks=needs("torch")) for n in (4, 5, 10)),
        pytest.param("bisection-torch", 30, marks=[needs("torch"), pytest.mark.exhaustive]),
        *(pytest.param("bisection-strict", n, marks=needs("array_api_strict")) for n in (2, 3, 5)),
        *(pytest.param("jit", n, marks=needs("jax")) for n in (5, 15)),  # written out, and in loops
        *(pytest.param("jit", n, marks=[needs("jax"), pytest.mark.exhaustive]) for n in (4, 7, 8, 10, 20, 30)),
    ],
)
def test_hard_matrices(road: str, n: int, dtype: type) -> None:
    """To some units of rounding of the largest eigenvalue, as LAPACK computes them in float64."""
    for name, matrices in hard_matrices(n, 40):
        cells = scaled(matrices, dtype)
        expected = np.linalg.eigvalsh(cells.astype(np.float64))
        found = ROADS[road](cells)
        assert found.dtype == dtype
        assert np.isfinite(found).all(), name
        assert (np.diff(found, axis=1) >= 0).all(), name
        precision = np.finfo(dtype).eps
        allowed = MOST * n * precision * np.abs(expected).max(1, keepdims=True) + 20 * precision**2
        error = np.abs(found - expected)
        assert (error <= allowed).all(), (name, error.max())


@pytest.mark.parametrize("n", [4, pytest.param(10, marks=pytest.mark.exhaustive)])
def test_beside_forty_digits(n: int) -> None:
    """LAPACK itself is not asked."""
    with mpmath.workdps(40):
        for name, matrices in hard_matrices(n, 1):
            cells = scaled(matrices, np.float64)
            expected = [float(x) for x in sorted(mpmath.eigsy(mpmath.matrix(cells[0].tolist()), eigvals_only=True))]
            size = max(map(abs, expected)) + 1e-300
            for road in (by_host, by_bisection):
                error = np.abs(road(cells)[0] - expected).max()
                assert error <= MOST * n * np.finfo(float).eps * size + 1e-30, (name, road)


# Whole stacks ---------------------------------------------------------------------------------------------------------


def stack_of(n: int, count: int, dtype: Any = np.float64) -> np.ndarray:
    return RANDOM.integers(0, 20, (count, n, n)).astype(dtype) + np.eye(n, dtype=dtype)


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("n", [4, 7])
def test_no_matrix_affects_another(n: int, dtype: type) -> None:
    """Neither their order, nor what the others are, nor the threads change a bit; the stack has several blocks."""
    count = 45_000 if n == 4 else 20_000
    stack = stack_of(n, count, dtype)
    values, spectrum = matrics.eve(stack), matrics.study.eigenvalues(stack)
    order = RANDOM.permutation(count)
    np.testing.assert_array_equal(matrics.eve(stack[order]), values[order])
    kept = RANDOM.random(count) < 0.5
    others = stack.copy()
    others[~kept] = np.eye(n)  # which are done at once, or later than the rest
    others[~kept][::3] = RANDOM.integers(0, 2, (n, n))
    others[np.flatnonzero(~kept)[::7], 0, 1] = -1
    np.testing.assert_array_equal(matrics.eve(others, invalid="nan")[kept], values[kept])
    np.testing.assert_array_equal(matrics.study.eigenvalues(others, invalid="nan")[kept], spectrum[kept])
    both = matrics.score(stack, ["mcc", "eve", "accuracy"], workers=2)
    np.testing.assert_array_equal(both["eve"], values)
    np.testing.assert_array_equal(both["mcc"], matrics.mcc(stack))


def test_a_matrix_alone_is_lapacks() -> None:
    """And differs from the same in a large stack by rounding only."""
    stack = stack_of(5, LEAST_MATRICES * 5)
    values = matrics.eve(stack)
    alone = np.array([matrics.eve(matrix) for matrix in stack[:50]])
    np.testing.assert_allclose(values[:50], alone, rtol=0, atol=1e-14)
    rates = stack / stack.sum(-1, keepdims=True)
    np.testing.assert_array_equal(matrics.study.eigenvalues(stack[:50]), np.linalg.eigvalsh(symmetric(rates[:50])))


def test_the_rule() -> None:
    """By the numbers of classes and matrices and the dtype."""
    double, single = np.dtype(np.float64), np.dtype(np.float32)
    assert host.takes_steps(20, double, 4000)
    assert not host.takes_steps(20, double, 3999)
    assert not host.takes_steps(21, double, 10**9)
    assert host.takes_steps(30, single, 6000)
    assert not host.takes_steps(31, single, 10**9)


@pytest.mark.parametrize("matrix", ["A", "B"])
@pytest.mark.parametrize("shape", [(2, 600), (1200,)])
def test_scales_and_shapes(matrix: str, shape: tuple[int, ...]) -> None:
    """Cells of A may be as large as floats are: they are scaled by powers of two."""
    stack = np.full((*shape, 4, 4), 1.0)
    stack[..., 0, 0] = 1e-290
    stack[..., 3, 3] = 5
    found = matrics.study.eigenvalues(stack, matrix=matrix)
    assert found.shape == (*shape, 4)
    alone = matrics.study.eigenvalues(stack.reshape(-1, 4, 4)[0], matrix=matrix)
    np.testing.assert_allclose(found, np.broadcast_to(alone, found.shape), rtol=0, atol=1e-14 * abs(alone).max())


def test_repaired_and_empty_classes() -> None:
    """The table that a repair makes follows the same rule."""
    stack = stack_of(4, LEAST_MATRICES * 4)
    stack[::3, 1] = 0
    for empty in ("nan", "repair", "zero"):
        found = matrics.eve(stack, empty=empty)
        alone = np.array([matrics.eve(matrix, empty=empty) for matrix in stack[:30]])
        np.testing.assert_allclose(found[:30], alone, rtol=0, atol=1e-14)


def test_a_matrix_that_does_not_converge_is_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    """It alone."""
    easy, hard = np.tile(np.eye(4), (20, 1, 1)), symmetric(RANDOM.random((20, 4, 4)))
    for name in ("SWEEPS_OF_FIRST", "SWEEPS", "SWEEPS_OF_LAST", "MOST_SWEEPS"):
        monkeypatch.setattr(host, name, 1)
    found = by_host(np.concatenate([easy, hard]))
    np.testing.assert_array_equal(found[:20], 1)
    lost = np.isnan(found[20:])
    assert lost.any()
    assert (lost.all(1) == lost.any(1)).all()
    np.testing.assert_allclose(found[20:][~lost.any(1)], np.linalg.eigvalsh(hard[~lost.any(1)]), atol=1e-14)


# Compiled code and derivatives ----------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@needs("jax")
def test_jit_and_derivatives() -> None:
    """Forward and backward, where eigenvalues coincide as well, and of second order where they do not."""
    import jax

    n, count = 4, LEAST_MATRICES * 4
    with jax_bits(float64=True), jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        stack = stack_of(n, count) + 1
        stack[0] = 3 * np.eye(n)
        stack[1:] += 30 * np.eye(n)  # away from where an eigenvalue vanishes, at which the slope jumps
        x = jax.numpy.asarray(stack)
        jitted = jax.jit(matrics.eve)
        assert "eigh" not in str(jax.make_jaxpr(jitted)(x))
        np.testing.assert_allclose(jitted(x), matrics.eve(stack), rtol=0, atol=1e-13)

        def total(x: Any) -> Any:
            return matrics.eve(x, zero_division=0).sum()

        slope = jax.jit(jax.grad(total))(x)
        assert np.isfinite(slope).all()
        alone = jax.jit(jax.vmap(jax.grad(total)))(x[:20])  # by LAPACK: a single matrix is in sight
        np.testing.assert_allclose(slope[:20], alone, rtol=1e-9, atol=1e-12)
        along = jax.numpy.ones_like(x).at[:, 0, 0].set(2)
        moved = jax.jit(lambda x, along: jax.jvp(matrics.eve, (x,), (along,))[1])(x, along)
        np.testing.assert_allclose(moved, (slope * along).sum((1, 2)), rtol=1e-9, atol=1e-12)
        curve = jax.jit(lambda x, along: jax.jvp(jax.grad(total), (x,), (along,))[1])(x, along)
        step = 1e-5
        rise = (jax.jit(jax.grad(total))(x + step * along) - jax.jit(jax.grad(total))(x - step * along)) / (2 * step)
        np.testing.assert_allclose(curve[1:], rise[1:], rtol=1e-4, atol=1e-6)


@pytest.mark.sampled(1)
@needs("jax")
@pytest.mark.parametrize("n", [5, 11])
def test_companions_under_jit(n: int) -> None:
    """Blocks that are not full, order, NaN, and matrices that converge at once change no bit of another."""
    import jax

    count = LEAST_MATRICES * n
    stack = stack_of(n, count, np.float32)
    with jax_bits(float64=False):
        jitted = jax.jit(lambda x: matrics.study.eigenvalues(x, invalid="nan"))
        assert "eigh" not in str(jax.make_jaxpr(jitted)(stack))
        values = np.asarray(jitted(stack))
        np.testing.assert_array_equal(np.asarray(jitted(stack[::-1])), values[::-1])
        stack[::2] = np.eye(n)
        stack[::4, 0, 0] = np.nan
        np.testing.assert_array_equal(np.asarray(jitted(stack))[1::2], values[1::2])


@needs("jax")
def test_what_does_not_converge_under_jit_is_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    """It alone: once a value is lost, the largest and the smallest of the others are not known either."""
    from matrics._engine.eigenvalues import xla

    easy, hard = np.tile(np.eye(8), (20, 1, 1)), symmetric(RANDOM.random((21, 8, 8)))
    monkeypatch.setattr(xla, "MOST_SWEEPS", 1)
    found = by_jit(np.concatenate([easy, hard]))
    np.testing.assert_array_equal(found[:20], 1)
    assert np.isnan(found[20:]).all()


@needs("torch")
def test_devices_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors elsewhere are not given to PyTorch's eigvalsh."""
    import torch

    from matrics._arrays.torch import Torch

    monkeypatch.setattr(Torch, "eigvalsh", None)
    cm = torch.ones((7, 6, 6), device="meta")
    assert matrics.eve(cm).shape == (7,)
    assert matrics.eve(cm.requires_grad_()).shape == (7,)


@needs("torch")
@pytest.mark.parametrize("shape", [(), (3, 5)])
def test_as_on_a_device(monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]) -> None:
    """What a device without kernels computes, here on the CPU: for one matrix and a batch, and one that is invalid."""
    import torch

    from matrics._engine.eigenvalues import operator

    stack = stack_of(5, 15).reshape(3, 5, 5, 5) if shape else stack_of(5, 1)[0]
    if shape:
        stack[1, 1, 0, 0] = np.nan
    monkeypatch.setattr(operator, "eigenvalues", operator.by_array_operations)
    with roads.on_device(), torch.autocast("cpu") if shape else nullcontext():
        found = matrics.eve(torch.from_numpy(stack))
    np.testing.assert_allclose(found, matrics.eve(stack, invalid="nan"), rtol=0, atol=1e-14)


def test_many_points_are_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large stack on a device is searched by halves, which takes less memory."""
    cells = scaled(symmetric(RANDOM.random((9, 5, 5))), np.float64)
    expected = by_bisection(cells)
    monkeypatch.setattr(bisection, "MOST_POINTS", 1)
    np.testing.assert_allclose(by_bisection(cells), expected, rtol=0, atol=1e-15)


@needs("jax")
def test_on_a_mesh_of_one_device() -> None:
    """Of explicit axes, which may not be cut into blocks."""
    import jax

    mesh = jax.make_mesh((1,), ("batch",), axis_types=(jax.sharding.AxisType.Explicit,))
    place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    stack = stack_of(4, LEAST_MATRICES * 4, np.float32)
    found = jax.jit(matrics.eve)(jax.device_put(stack, place))
    np.testing.assert_allclose(found, matrics.eve(stack), rtol=0, atol=1e-5)


@needs("jax")
@pytest.mark.exhaustive
@pytest.mark.parametrize("cores", [1, 2])
def test_programs_do_not_hang(cores: int) -> None:
    """Several calls at once, with as few threads as there can be."""
    script = Path(__file__).with_name("eigenvalue_programs.py")
    environment = {name: value for name, value in os.environ.items() if name != "NPROC"}  # XLA's number of threads
    command = [sys.executable, str(script), str(cores), "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "20 programs" in done.stdout


@pytest.mark.exhaustive
@needs("jax")
def test_no_batch_goes_to_lapack() -> None:
    """Under jit, vmap and their derivatives LAPACK gets one matrix a call."""
    import jax

    from matrics._arrays.jax import JAX

    stack = stack_of(5, 6)
    functions = {
        "eve": matrics.eve,
        "vmap": jax.vmap(matrics.eve),
        "jit": jax.vmap(jax.jit(matrics.eve)),
        "grad": jax.grad(lambda cm: matrics.eve(cm).sum()),
        "vmap of grad": jax.vmap(jax.grad(matrics.eve)),
        "vmap of hessian": jax.vmap(jax.hessian(matrics.eve)),
        "vmap of vmap": lambda cm: jax.vmap(jax.vmap(matrics.eve))(cm.reshape(2, 3, 5, 5)),
        "inverses": lambda cm: JAX.of_matrices("inv", cm),
    }
    for name, function in functions.items():
        lines = jax.jit(function).lower(stack).as_text().splitlines()
        calls = [line for line in lines if "custom_call" in line and "@lapack_" in line]
        assert calls, name
        assert all('num_batch_dims = "0"' in line for line in calls), (name, calls)


@pytest.mark.exhaustive
@needs("jax")
@pytest.mark.parametrize("n", [4, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (3, 8))])
def test_derivatives_without_jit(n: int) -> None:
    """The same as with it, also of second order; and mapped."""
    import jax

    def total(x: Any) -> Any:
        return matrics.eve(x).sum()

    with jax_bits(float64=True):
        x = jax.numpy.asarray(stack_of(n, 5) + 1 + 30 * np.eye(n))
        slope = jax.grad(total)(x)
        np.testing.assert_allclose(slope, jax.jit(jax.grad(total))(x), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(jax.vmap(jax.grad(matrics.eve))(x), slope, rtol=1e-12, atol=1e-15)
        along = jax.numpy.ones_like(x).at[:, 0, 0].set(2)
        np.testing.assert_allclose(jax.jvp(total, (x,), (along,))[1], (slope * along).sum(), rtol=1e-9, atol=1e-14)
        step = 1e-5
        rise = (jax.grad(total)(x + step * along) - jax.grad(total)(x - step * along)) / (2 * step)
        np.testing.assert_allclose(jax.jvp(jax.grad(total), (x,), (along,))[1], rise, rtol=1e-4, atol=1e-8)
