"""JAX: functions of matrices on the CPU, a matrix per call, on the devices of the matrices; and eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning

from matrics._arrays.standard import Array

# Unrolled calls of LAPACK in a loop over matrices.
UNROLLED = 8


def spread_as(x: Array) -> dict[str, Any]:
    """``out_sharding=`` for a result that is spread over a mesh of explicit axes as ``x`` is."""
    sharding: Any = getattr(getattr(x, "aval", None), "sharding", None)
    return {} if all(axis is None for axis in getattr(sharding, "spec", ())) else {"out_sharding": sharding}


def one_by_one(function: Callable[[Array], Any]) -> Callable[[Array], Any]:
    """A function of LAPACK for a single matrix, as a function of a stack (M, n, n).

    On the CPU jaxlib before 0.11.2 divides a batch among the threads that run the program, and waits for them in such a
    thread: a few calls at the same time wait for each other for ever. It does not divide a single matrix.
    """

    def of_stack(x: Array) -> Any:
        if x.shape[0] == 1:
            return jax.tree.map(lambda leaf: leaf[None], function(x[0]))
        unroll = max(min(x.shape[0], UNROLLED), 1)
        return jax.lax.scan(lambda carry, matrix: (carry, function(matrix)), None, x, unroll=unroll)[1]

    return of_stack


def of_any_batch(function: Callable[[Array], Any], axes: str = "... k") -> Callable[[Array], Any]:
    """A function of a stack (M, n, n), as a function of (…, n, n), also under ``vmap``; devices keep their matrices.

    ``axes`` names the axes of each result, between commas; those of the matrices are the three dots.
    """

    def here(x: Array) -> Any:
        results = function(jnp.reshape(x, (-1, *x.shape[-2:])))
        return jax.tree.map(lambda leaf: jnp.reshape(leaf, (*x.shape[:-2], *leaf.shape[1:])), results)

    divided = _divided(here, axes)

    @jax.custom_batching.custom_vmap
    def anywhere(x: Array) -> Any:
        own = spread_as(x).get("out_sharding")
        if own is not None:
            library: Any = jax
            batch = library.sharding.PartitionSpec(*tuple(own.spec)[: x.ndim - 2])
            return library.shard_map(here, mesh=own.mesh, in_specs=batch, out_specs=batch)(x)
        return here(x) if jax.device_count() == 1 else divided(x)

    @anywhere.def_vmap
    def mapped(axis_size: int, in_batched: list[bool], x: Array) -> tuple[Any, Any]:  # noqa: ARG001 (JAX's signature)
        results = anywhere(x)
        return results, jax.tree.map(lambda _: True, results)

    made: Callable[[Array], Any] = anywhere
    return made


def _divided(function: Callable[[Array], Any], axes: str) -> Callable[[Array], Any]:
    """The function applied to the part of a batch on each device, according to the compiler's sharding."""
    library: Any = jax.sharding
    divide: Any = custom_partitioning
    made = divide(function)

    def batch_of(sharding: Any, ndim: int) -> Any:
        return library.NamedSharding(sharding.mesh, library.PartitionSpec(*tuple(sharding.spec)[: ndim - 2]))

    def partition(mesh: Any, arguments: Any, shapes: Any) -> Any:
        batch = batch_of(arguments[0].sharding, len(arguments[0].shape))
        return mesh, function, jax.tree.map(lambda _: batch, shapes), (batch,)

    made.def_partition(partition, sharding_rule=f"... i j -> {axes}")
    partitioned: Callable[[Array], Any] = made
    return partitioned


def with_derivatives(values: Callable[[Array], Array]) -> Any:
    """Eigenvalues (…, n) of symmetric matrices (…, n, n), with derivatives by the eigenvectors.

    An eigenvalue changes by vᵀ dA v, which is finite wherever some coincide.
    """
    function: Any = jax.custom_jvp(values)

    def derivative(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
        (x,), (change,) = primals, tangents
        values, vectors = _decomposed(x)
        moved = jnp.matmul(_symmetric(change), vectors, precision=jax.lax.Precision.HIGHEST)
        return values, jnp.sum(vectors * moved, axis=-2)

    function.defjvp(derivative)
    return function


_vectors = of_any_batch(one_by_one(lambda x: tuple(jnp.linalg.eigh(x, symmetrize_input=False))), "... k, ... l m")


@jax.custom_jvp
def _decomposed(x: Array) -> tuple[Array, Array]:
    """Eigenvalues (…, n) and eigenvectors (…, n, n)."""
    values, vectors = _vectors(x)
    return values, vectors


@_decomposed.defjvp
def _derivative_of_vectors(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Any, Any]:
    """The second derivatives, which are not finite where eigenvalues coincide."""
    (x,), (change,) = primals, tangents
    values, vectors = _decomposed(x)
    product = partial(jnp.matmul, precision=jax.lax.Precision.HIGHEST)
    inner = product(jnp.matrix_transpose(vectors), product(_symmetric(change), vectors))
    identity = jnp.eye(x.shape[-1], dtype=x.dtype)
    identity = jnp.reshape(identity, (*(1,) * (x.ndim - 2), *identity.shape))
    weights = 1 / (identity + values[..., None, :] - values[..., :, None]) - identity
    return (values, vectors), (jnp.sum(inner * identity, axis=-1), product(vectors, weights * inner))


def _symmetric(change: Array) -> Array:
    return (change + jnp.matrix_transpose(change)) / 2


eigvalsh = jax.jit(with_derivatives(of_any_batch(one_by_one(jnp.linalg.eigvalsh))))  # its loop would be traced again
"""Ascending eigenvalues (…, n) of symmetric matrices (…, n, n)."""
