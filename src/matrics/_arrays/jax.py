"""Arrays of JAX: concrete arrays, and those traced by ``jit``, ``grad`` and ``vmap``."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from matrics._arrays.jax_matrices import eigvalsh, spread_as
from matrics._arrays.standard import Array, Compiler, InOneRow, layout

# The number of samples in a sequential sum in float32, and the most sums of such parts: 16 MiB.
SAMPLES_OF_A_BLOCK, SUMS_AT_ONCE = 2**8, 2**22


class Jax(InOneRow):
    """The library of JAX's arrays, on any device."""

    passes_over = True

    def quiet(self) -> contextlib.AbstractContextManager[Any]:
        """An empty context: JAX does not warn."""
        return contextlib.nullcontext()

    def can_look(self, x: Array) -> bool:
        """Whether the array is concrete, and not traced."""
        return not isinstance(x, jax.core.Tracer)

    def compiler(self, x: Array) -> Compiler | None:  # noqa: ARG002
        """XLA under ``jit``, around or inside ``grad`` and ``vmap``: there even a constant is traced."""
        is_traced = isinstance(jnp.zeros(()), jax.core.Tracer)
        return "xla" if is_traced and jax.default_backend() == "cpu" else None

    def host_view(self, x: Array) -> Array | None:
        """The array's memory, if it is a concrete array on the only device, and that is the CPU."""
        if not self.can_look(x) or jax.default_backend() != "cpu" or jax.device_count() != 1:
            return None
        view = np.asarray(x)
        return view if issubclass(view.dtype.type, (np.number, np.bool_)) else None  # not for ml_dtypes

    def all_to_numpy(self, arrays: list[Array]) -> list[Array]:
        """The values of several arrays on the host; all copies from the devices begin before the first is awaited."""
        values: list[Array] = jax.device_get(arrays)
        return values

    def device_option(self, like: Array) -> dict[str, Any]:  # noqa: ARG002
        """No options: JAX places constants itself, and tracers have no device."""
        return {}

    def varying_as(self, x: Array, like: Array) -> Array:
        """See ``Standard``: it is part of an array's type, which a scan does not let change."""
        if not isinstance(like, jax.core.Tracer):
            return x
        # A scalar, as an array could have the sharding of ``like``.
        return x + jnp.zeros_like(like, shape=(), dtype=x.dtype)

    def sum_over_devices(self, arrays: Any, axis_name: Any) -> Any:
        """See ``Standard``."""
        psum: Any = jax.lax.psum
        return psum(arrays, axis_name)

    def divide(self, a: Array, b: Array) -> Array:
        """``a / b`` for b that is not 0.

        JAX's derivative has the square of b, which leaves float32 for b below 1e-19 or above 1e19. A power of two
        brings b back, and changes no digit. (Dividing by a constant equal to b would not do: XLA simplifies it away.)
        """
        least = math.sqrt(float(self.xp.finfo(b.dtype).smallest_normal))
        size = jnp.abs(b)
        scale = jnp.where(size < least, 1 / least, jnp.where(size > 1 / least, least, 1)).astype(b.dtype)
        return (a * scale) / (b * scale)

    def exponent(self, x: Array) -> Array:
        """See ``Standard``, from the bits: a logarithm that XLA computes twice may be two numbers."""
        mantissa, bias, mask = layout(self.xp.finfo(x.dtype).bits)
        bits = jax.lax.bitcast_convert_type(jax.lax.stop_gradient(x), jnp.int32 if mantissa == 23 else jnp.int64)
        return jnp.where(x == 0, 0, ((bits >> mantissa) & mask).astype(x.dtype) - (bias - 1))

    def power_of_two(self, exponent: Array) -> Array:
        """See ``Standard``, by its bits."""
        mantissa, bias, _ = layout(self.xp.finfo(exponent.dtype).bits)
        bits = (exponent + bias).astype(jnp.int32 if mantissa == 23 else jnp.int64) << mantissa
        return jax.lax.bitcast_convert_type(bits, exponent.dtype)

    def shares(self, n: int, like: Array) -> Array:
        """See ``Standard``, as a constant: XLA would multiply by 1/n."""
        return jnp.asarray(np.arange(n + 1) / n, dtype=like.dtype)

    def bits(self, x: Array) -> Array:
        """See ``Standard``."""
        return jax.lax.bitcast_convert_type(jax.lax.stop_gradient(x), jnp.int32)

    def eigvalsh(self, x: Array) -> Array:
        """See ``Standard``; on the CPU without jaxlib's batches, see ``one_by_one``."""
        values: Array = eigvalsh(x) if jax.default_backend() == "cpu" else jnp.linalg.eigvalsh(x)
        return values

    def of_matrices(self, function: str, *arrays: Array) -> Array:
        """See ``Standard``; on the CPU a matrix at a time, see ``one_by_one``."""
        call, batch = getattr(jnp.linalg, function), arrays[0].shape[:-2]
        if jax.default_backend() != "cpu" or not batch:
            return call(*arrays)
        rows = [jnp.reshape(x, (-1, *x.shape[len(batch) :])) for x in arrays]
        results = jax.lax.map(lambda row: call(*row), tuple(rows))
        return jnp.reshape(results, (*batch, *results.shape[1:]))

    def looped(self, number: int, step: Callable[..., tuple[Array, ...]], state: tuple[Array, ...]) -> Any:
        """See ``Standard``; XLA would compile the unrolled steps of a search for half a minute."""
        if all(self.can_look(array) for array in state):  # a loop would be compiled again in each call
            return super().looped(number, step, state)
        return jax.lax.fori_loop(0, number, lambda _, arrays: step(*arrays), state)

    def normal_cdf(self, x: Array) -> Array:
        """See ``Standard``."""
        return jax.scipy.special.ndtr(x)

    def normal_quantile(self, share: Array) -> Array:
        """See ``Standard``."""
        return jax.scipy.special.ndtri(share)

    def derivatives(
        self, function: Callable[[Array], list[Array]], x: Array, *, second: bool
    ) -> tuple[list[Array], list[Array], list[Array] | None]:
        """See ``Standard``, by ``jax.vjp``, and second derivatives by forward over reverse."""
        count, size = x.shape[0], x.shape[-2] * x.shape[-1]

        def slopes(x: Array) -> list[Array]:
            values, pull = jax.vjp(function, x)
            gradients = []
            for position, value in enumerate(values):
                zeros = [jnp.zeros_like(other) for other in values]
                parts = []
                for k in range(1 if value.ndim == 1 else value.shape[1]):
                    direction = jnp.ones_like(value) if value.ndim == 1 else zeros[position].at[:, k].set(1)
                    (part,) = pull([*zeros[:position], direction, *zeros[position + 1 :]])
                    parts.append(part.reshape(count, size))
                gradients.append(jnp.stack(parts, 1).reshape((*value.shape, size)))
            return gradients

        def curve(k: Array) -> list[Array]:
            along = jnp.broadcast_to(jax.nn.one_hot(k, size, dtype=x.dtype).reshape(x.shape[-2:]), x.shape)
            return [moved[..., k] for moved in jax.jvp(slopes, (x,), (along,))[1]]

        curves = None
        if second:
            looped = jax.lax.map(curve, jnp.arange(size))
            curves = [jnp.moveaxis(gradients, 0, -1) for gradients in looped]
        return function(x), slopes(x), curves

    def sort_descending(self, keys: Array, *others: Array) -> list[Array]:
        """See ``Standard``; XLA sorts all arrays in a single operation, without gathering."""
        keys, *others_sorted = jax.lax.sort((-keys, *others), num_keys=1)
        return [-keys, *others_sorted]

    def running_maximum(self, x: Array) -> Array:
        """See ``Standard``, in a single operation."""
        return jax.lax.cummax(x, axis=x.ndim - 1)

    def scatter_add(self, rows: Array, values: Array, length: int) -> Array:
        """See ``Standard``."""
        *batches, samples, width = values.shape
        if len(batches) != 1:
            number = math.prod(batches)
            flat = self.scatter_add(rows.reshape(number, samples), values.reshape(number, samples, width), length)
            return flat.reshape(*batches, length, width)
        (batch,) = batches
        blocks = _blocks(samples, batch * length * width, values.dtype)
        zeros = jnp.zeros((batch, blocks, length, width), dtype=values.dtype)
        places = (jnp.arange(batch)[:, None], (jnp.arange(samples) % blocks)[None, :], rows)
        return jnp.sum(zeros.at[places].add(values), axis=1, dtype=values.dtype)

    def sum_of_products(self, a: Array, b: Array) -> Array:
        """See ``Standard``, in their own precision: by default JAX rounds on GPUs and TPUs."""
        return jnp.matmul(jnp.matrix_transpose(a), b, precision=jax.lax.Precision.HIGHEST)

    def _bincount(self, bins: Array, weights: Array | None, length: int, dtype: Any) -> Array:
        blocks = 1 if weights is None else _blocks(bins.shape[0], length, dtype)
        added: Any = {"mode": "drop", **_on_all_devices(bins)}
        if blocks == 1:
            return jnp.zeros((length,), dtype=dtype).at[bins].add(1 if weights is None else weights, **added)
        # Bins beyond the last bin are skipped in each block.
        counts = jnp.zeros((blocks, length), dtype=dtype)
        return jnp.sum(counts.at[jnp.arange(bins.shape[0]) % blocks, bins].add(weights, **added), axis=0, dtype=dtype)

    def add_at(self, x: Array, index: Array, values: Array) -> Array:
        """See ``Standard``."""
        if _blocks(index.shape[0], x.shape[0], x.dtype) > 1:
            return x + self._bincount(index, values, x.shape[0], x.dtype)
        return x.at[index].add(values, mode="promise_in_bounds", **_on_all_devices(index))

    def set_at(self, x: Array, index: Array, values: Array) -> Array:
        """See ``Standard``."""
        return x.at[index].set(values, mode="promise_in_bounds", **_on_all_devices(index))

    def look_up(self, table: Array, index: Array) -> Array:
        """See ``Standard``, with the sharding of the positions."""
        return table.at[index].get(mode="promise_in_bounds", **spread_as(index))

    def max_and_argmax(self, scores: Array) -> tuple[Array, Array]:
        """See ``Standard``; the maximum of JAX 0.10 passes NaN over in arrays of thousands of rows, on the CPU."""
        index = jnp.argmax(scores, axis=-1)
        return jnp.take_along_axis(scores, index[..., None], axis=-1)[..., 0], index


def _blocks(samples: int, length: int, dtype: Any) -> int:
    """The number of parts in which samples are added up: sequential sums of float32 lose a digit at 2**10 terms.

    With 2**22 terms they would be wrong by a hundredth. The sum of the parts is pairwise.
    """
    if dtype != jnp.float32 or samples <= SAMPLES_OF_A_BLOCK:
        return 1
    return max(1, min(-(-samples // SAMPLES_OF_A_BLOCK), SUMS_AT_ONCE // max(length, 1)))


def _on_all_devices(x: Array) -> dict[str, Any]:
    """``out_sharding=`` for a sum over ``x`` that every device needs.

    JAX requires the sharding if ``x`` is on a mesh of explicit axes, where shardings are parts of types.
    """
    nowhere: Any = jax.sharding.PartitionSpec
    return {name: jax.sharding.NamedSharding(own.mesh, nowhere()) for name, own in spread_as(x).items()}


JAX = Jax(jnp)
