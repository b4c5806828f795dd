"""Stacks that code compiled by XLA scores in blocks: the same values as without blocks, for any shape of the stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from lazily import lazily
from test_catalogue import SPECS

import matrics

jax = lazily("jax")
xla = lazily("matrics._engine.execution.xla")
RANDOM = np.random.default_rng(3)
FEW = ["accuracy", "mcc", "eve", "recall:class", "f1:macro", "cen"]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch, jax_backend: Any) -> Iterator[Any]:
    """Blocks of at most four matrices, and their numbers in the calls so far."""
    numbers: list[int] = []
    monkeypatch.setattr("matrics._engine.execution.xla.LEAST_IN_A_BLOCK", 4)
    monkeypatch.setattr("matrics._engine.execution.xla.MOST_IN_A_BLOCK", 4)
    monkeypatch.setattr("matrics._engine.execution.xla.LARGE_SUMS", 1)
    in_blocks = xla.in_blocks

    def counted(score: Any, cm: Any, number: int) -> Any:
        numbers.append(number)
        return in_blocks(score, cm, number)

    monkeypatch.setattr("matrics._engine.execution.xla.in_blocks", counted)
    return jax_backend, numbers


def stack_of(shape: tuple[int, ...], n: int) -> np.ndarray:
    stack = RANDOM.integers(0, 50, (*shape, n, n))
    stack[..., 0, 0] += 1
    return stack


def same(found: dict[str, Any], wanted: dict[str, Any], backend: Any) -> None:
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        assert found[name].shape == values.shape, name
        np.testing.assert_allclose(found[name], values, **backend.tolerance, err_msg=name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("shape", [(16,), (17,), (19,), (4, 5), (3, 1, 7), (40, 1)])
def test_any_shape(small_blocks: Any, n: int, shape: tuple[int, ...]) -> None:
    """Also where the blocks are not all full."""
    backend, numbers = small_blocks
    stack = stack_of(shape, n)
    for given in (stack, stack.astype(np.float64 if backend.float64 else np.float32), stack.astype(bool)):
        found = jax.jit(lambda cm: matrics.score(cm, FEW))(backend.asarray(given))
        same(found, matrics.score(given.astype(float), FEW), backend)
    assert numbers == [-(-int(np.prod(shape)) // 4)] * 3


@pytest.mark.sampled(1)
@pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 0, 5)])
def test_small_stacks_have_no_blocks(small_blocks: Any, shape: tuple[int, ...]) -> None:
    backend, numbers = small_blocks
    stack = stack_of(shape, 3)
    same(jax.jit(lambda cm: matrics.score(cm, FEW))(backend.asarray(stack)), matrics.score(stack, FEW), backend)
    assert numbers == []


@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
def test_a_mesh_of_one_device(small_blocks: Any, kind: str) -> None:
    """An array whose type has a sharding cannot be divided along the axis that is spread over devices."""
    backend, numbers = small_blocks
    mesh = jax.make_mesh((1,), ("data",), axis_types=(getattr(jax.sharding.AxisType, kind),))
    stack = stack_of((20,), 3)
    spread = jax.device_put(
        backend.asarray(stack), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    )
    with jax.set_mesh(mesh):
        same(jax.jit(lambda cm: matrics.score(cm, FEW))(spread), matrics.score(stack, FEW), backend)
    assert numbers == [5] * (kind == "Auto")


def test_which_stacks_are_large(jax_backend: Any) -> None:
    """By the bytes of the floating numbers that the cells become."""
    size = 8 if jax_backend.float64 else 4
    for dtype in (np.float32, np.int8):
        itemsize = 4 if dtype == np.float32 else size
        for n in (3, 60):
            few = (2**21 // n - 1 if n == 3 else 2**24 // n**2) // itemsize
            numbers = [
                xla.number_of_blocks(jax.ShapeDtypeStruct((count, n, n), dtype)) for count in (few - 1, 2 * few + n)
            ]
            assert numbers[0] == 0 < numbers[1], (dtype, n)


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [3, 6])
def test_every_measure(small_blocks: Any, n: int) -> None:
    backend, numbers = small_blocks
    stack = stack_of((18,), n)
    specs = SPECS if backend.float64 else FEW
    same(jax.jit(lambda cm: matrics.score(cm, specs))(backend.asarray(stack)), matrics.score(stack, specs), backend)
    assert numbers == [5]


def test_bad_matrices(small_blocks: Any) -> None:
    """Are NaN, and those of other blocks and of the same block are unchanged."""
    backend, _ = small_blocks
    stack = stack_of((18,), 6).astype(np.float64 if backend.float64 else np.float32)
    wanted = matrics.score(stack, FEW)
    stack[3, 1, 2], stack[4, 0, 0], stack[17, 5, 5] = np.nan, -1, np.inf
    for values in wanted.values():
        values[[3, 4, 17]] = np.nan
    same(jax.jit(lambda cm: matrics.score(cm, FEW, invalid="nan"))(backend.asarray(stack)), wanted, backend)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("metric", ["mcc", "eve"])
def test_derivatives_and_maps(small_blocks: Any, monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    """Of compiled code, inside compiled code, and under vmap: those of the stack as a whole."""
    backend, numbers = small_blocks
    stack = backend.asarray(stack_of((17,), 6) + 0.5, np.float64 if backend.float64 else np.float32)
    call = matrics.get_metric(metric)

    def total(cm: Any) -> Any:
        return (call(cm) ** 2).sum()

    functions = {
        "grad of jit": lambda: jax.grad(jax.jit(total))(stack),
        "jit of grad": lambda: jax.jit(jax.grad(total))(stack),
        "vmap": lambda: jax.jit(jax.vmap(call))(stack[None, ...].repeat(2, axis=0)),
    }
    found = {name: function() for name, function in functions.items()}
    assert numbers
    monkeypatch.setattr("matrics._engine.execution.xla.number_of_blocks", lambda _: 0)
    jax.clear_caches()
    for name, function in functions.items():
        np.testing.assert_allclose(found[name], function(), **backend.tolerance, err_msg=name)
