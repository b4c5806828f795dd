"""The only file that tells NumPy from PyTorch from JAX.

Everything else asks here, once, in the public function, for the namespace ``xp`` of its arrays and hands it on.
Dispatch is a plain ``if``: a backend that is not named takes the array API standard's own road.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as _device_of

from matrics import _inputs

Array = Any
Namespace = Any

# A tuple, here and in every isinstance on the compiled road: torch.compile does not know unions of types.
_HOST_TYPES = (np.ndarray, np.generic, list, tuple, int, float)


def as_arrays(**values: Any) -> tuple[Namespace, list[Array]]:
    """The namespace of all values, and the values as its arrays; lists and data frames become NumPy.

    The keywords are the names that an error message uses.
    """
    arrays = [_as_array(name, value) for name, value in values.items()]
    if all(isinstance(array, np.ndarray) for array in arrays):
        # NumPy's own namespace is the standard's from 2.2 on, and array_api_compat.numpy costs 150 ms to import.
        return np, arrays
    if all(map(_is_tensor, arrays)):
        import array_api_compat.torch

        return array_api_compat.torch, arrays
    try:
        return array_namespace(*arrays), arrays
    except TypeError as error:
        kinds = ", ".join(f"{name}: {_inputs.library(value)}" for name, value in values.items())
        raise TypeError(f"expected arrays of one library, got {kinds}") from error


def _as_array(name: str, value: Any) -> Array:
    if type(value) is np.ndarray:
        return value
    if _is_tensor(value):
        _inputs.check_tensor(name, value, sys.modules["torch"])
        return value
    if not isinstance(value, _HOST_TYPES):
        _inputs.check_kind(name, value)
        try:
            array_namespace(value)
        except TypeError:
            pass
        else:
            return value
    return _inputs.as_numpy(name, value)


def _is_tensor(value: Any) -> bool:
    # Asked of PyTorch itself, if it is there: torch.compile warns of the functools caches in array_namespace.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_compiling() -> bool:
    """Whether ``torch.compile`` is tracing."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())


def is_torch(xp: Namespace) -> bool:
    """Whether this is array_api_compat's PyTorch."""
    return bool(xp.__name__ == "array_api_compat.torch")


def is_jax(xp: Namespace) -> bool:
    """Whether this is ``jax.numpy``."""
    return bool(xp.__name__ == "jax.numpy")


def quiet(xp: Namespace) -> contextlib.AbstractContextManager[Any]:
    """No floating-point warnings within: NumPy, or what stands on it, warns of the 0/0 that every measure answers."""
    # Not for PyTorch and JAX, which do not warn: errstate would break a compiled graph.
    return contextlib.nullcontext() if is_torch(xp) or is_jax(xp) else np.errstate(all="ignore")


def can_look(x: Array, xp: Namespace) -> bool:
    """Whether values of ``x`` can be looked at in Python (it may cost a wait for the device)."""
    if is_jax(xp):
        return not isinstance(x, sys.modules["jax"].core.Tracer)
    if is_torch(xp):
        torch = sys.modules["torch"]
        return not (is_compiling() or _is_traced_tensor(x, torch))
    return True


def is_xla(xp: Namespace) -> bool:
    """Whether XLA will compile what is done now: under ``jax.jit``, around or inside ``grad`` and ``vmap``."""
    return is_jax(xp) and not can_look(xp.zeros(()), xp)  # there even a constant is traced


def _is_traced_tensor(x: Array, torch: Any) -> bool:
    fake = torch._subclasses.FakeTensor
    return isinstance(x, fake) or x.device.type == "meta" or torch._C._functorch.is_functorch_wrapped_tensor(x)


def is_vectorized(x: Array, xp: Namespace) -> bool:
    """Whether ``torch.compile`` is tracing what it will write in vectors of the CPU."""
    return is_torch(xp) and x.device.type == "cpu" and is_compiling()


def class_first(cells: Array, xp: Namespace) -> Array:
    """``[*batch, true, pred]`` as ``[true, pred, *batch]``; for PyTorch's compiler in memory of that order."""
    batch = cells.ndim - 2
    first = xp.permute_dims(cells, (batch, batch + 1, *range(batch)))
    # The compiler writes what is joined into memory, once; a copy it would undo, and transpose for each use of a cell.
    return xp.concat([first[:1, ...], first[1:, ...]])


def host_view(x: Array, xp: Namespace) -> Array | None:
    """What ``x`` holds as a NumPy array that shares its memory; None where it has to stay what it is.

    That is on other devices, where something traces, maps or differentiates, and in dtypes that NumPy does not know.
    """
    if xp is np:
        return x
    if not can_look(x, xp):
        return None
    view = None
    if is_torch(xp):
        view = _torch_view(x, sys.modules["torch"])
    elif is_jax(xp):
        jax = sys.modules["jax"]
        view = np.asarray(x) if jax.default_backend() == "cpu" and jax.device_count() == 1 else None
    return view if view is not None and (is_float(view, np) or is_integer(view, np)) else None


def _torch_view(x: Array, torch: Any) -> Array | None:
    if (
        type(x) not in (torch.Tensor, torch.nn.Parameter)
        or x.device.type != "cpu"
        or x.layout is not torch.strided
        or (x.requires_grad and torch.is_grad_enabled())
        or torch.autograd.forward_ad.unpack_dual(x).tangent is not None
        or torch.jit.is_tracing()
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._ops._len_torch_dispatch_stack_pre_dispatch() > 0
        or (x.is_floating_point() and x.dtype not in (torch.float16, torch.float32, torch.float64))
    ):
        return None
    return x.numpy(force=True)


def from_host(x: Array, xp: Namespace) -> Array:
    """A result of the host as an array of the namespace whose stack ``host_view`` has given."""
    if xp is np:
        return x
    # JAX as it comes makes float32 of it, by itself.
    return sys.modules["torch"].from_numpy(np.asarray(x)) if is_torch(xp) else xp.asarray(x)


def branch(condition: Array, true: Callable[..., Any], false: Callable[..., Any], *arrays: Array) -> Any:
    """One of two functions of arrays, chosen when JAX's compiled code runs; under ``vmap`` it runs both."""
    return sys.modules["jax"].lax.cond(condition, true, false, *arrays)


def in_memory(x: Array) -> Array:
    """Return x, which XLA is to write down rather than to compute again in every expression that reads a part of it."""
    return sys.modules["jax"].lax.optimization_barrier(x)


def to_numpy(x: Array, xp: Namespace) -> Array:
    """The values on the host; waits for the device."""
    if is_torch(xp):
        x = x.detach().cpu()
        return np.asarray(x.float() if x.dtype == xp.bfloat16 else x)  # which NumPy does not know
    return np.asarray(x)


def device_option(like: Array, xp: Namespace) -> dict[str, Any]:
    """``device=`` for a new array that is to meet ``like``; JAX places constants itself, and tracers have no device."""
    if xp is np or is_jax(xp):
        return {}
    return {"device": like.device if is_torch(xp) else _device_of(like)}


def widest_float(like: Array, xp: Namespace) -> Any:
    """The widest real floating dtype where ``like`` is; Apple's GPUs and default JAX have no float64."""
    if xp is np:
        return np.float64
    if is_torch(xp):
        return xp.float32 if like.device.type == "mps" else xp.float64
    known = xp.__array_namespace_info__().dtypes(kind="real floating", **device_option(like, xp))
    return known.get("float64", known["float32"])


def widest_int(like: Array, xp: Namespace) -> Any | None:
    """The 64-bit integer of the device, or None (default JAX: sums would wrap at 2**31)."""
    if xp is np or is_torch(xp):
        return xp.int64
    return xp.__array_namespace_info__().dtypes(kind="signed integer", **device_option(like, xp)).get("int64")


def wider_float(x: Array, xp: Namespace) -> Any | None:
    """A dtype with far wider exponents than that of ``x``, where arithmetic may mix the two: PyTorch has float64."""
    if is_torch(xp) and x.dtype == xp.float32 and x.device.type != "mps":
        return xp.float64
    return None


def is_integer(x: Array, xp: Namespace) -> bool:
    """Integers and booleans: counts, or labels."""
    return x.dtype == xp.bool or _isdtype(x, "integral", xp)


def is_float(x: Array, xp: Namespace) -> bool:
    """Real floating numbers of any width."""
    return _isdtype(x, "real floating", xp)


def is_unsigned(x: Array, xp: Namespace) -> bool:
    """Integers without a sign."""
    return _isdtype(x, "unsigned integer", xp)


def _isdtype(x: Array, kind: str, xp: Namespace) -> bool:
    try:
        return bool(xp.isdtype(x.dtype, kind))
    except TypeError:  # NumPy's answer to a dtype from outside (text, objects, ml_dtypes)
        return False


def float_dtype(x: Array, xp: Namespace) -> Any:
    """The dtype in which ``x`` is scored: float32 and float64 stay, half is widened, integers take the widest."""
    if x.dtype in (xp.float32, xp.float64):
        return x.dtype
    if is_integer(x, xp):
        return widest_float(x, xp)
    return xp.float32 if xp.finfo(x.dtype).bits < 32 else widest_float(x, xp)


def to_float(x: Array, xp: Namespace) -> Array:
    """``x`` in the dtype in which it is scored."""
    dtype = float_dtype(x, xp)
    return x if x.dtype == dtype else xp.astype(x, dtype)


def to_wide(x: Array, xp: Namespace) -> Array:
    """``x`` in a dtype that holds its sums: integers as int64, or as floats where int64 is too narrow or missing."""
    integer = widest_int(x, xp)
    if is_integer(x, xp) and integer is not None and x.dtype != xp.uint64:
        return xp.astype(x, integer)
    return to_float(x, xp)


def class_index(n: int, like: Array, xp: Namespace) -> Array:
    """0, 1, …, n - 1 beside ``like``."""
    return xp.arange(n, **device_option(like, xp))


def constant(rows: list[list[float]], like: Array, xp: Namespace) -> Array:
    """A matrix of Python's numbers beside ``like``."""
    far = is_torch(xp) and like.device.type != "cpu"
    return filled(rows, like, xp) if far else xp.asarray(rows, dtype=like.dtype, **device_option(like, xp))


def filled(rows: list[list[float]], like: Array, xp: Namespace) -> Array:
    """The same by PyTorch, made on the device: a copy from the host waits, and cannot be part of a CUDA graph."""
    numbers = [xp.full((), number, dtype=like.dtype, device=like.device) for row in rows for number in row]
    return xp.reshape(xp.stack(numbers), (len(rows), -1))


def divide(a: Array, b: Array, xp: Namespace) -> Array:
    """``a / b`` for b that is not 0, with a gradient that is finite wherever it can be."""
    if is_jax(xp):
        # JAX's derivative has the square of b, which leaves float32 for b below 1e-19 or above 1e19. A power of two
        # brings b back, and changes no digit. (Dividing by a constant equal to b would not do: XLA simplifies it away.)
        least = math.sqrt(float(xp.finfo(b.dtype).smallest_normal))
        size = xp.abs(b)
        scale = xp.where(size < least, 1 / least, xp.where(size > 1 / least, least, 1))
        scale = xp.astype(scale, b.dtype)
        return (a * scale) / (b * scale)
    return a / b


def exponent(x: Array, xp: Namespace) -> Array:
    """The exponent of numbers that are not negative, as integer-valued floats: x * 2**-exponent is between ½ and 1.

    Of zeros it is 0; of subnormal numbers it is off the host that of the smallest normal ones. Read from the bits: what
    a compiler computes twice, as the floor of a logarithm, may be two numbers.
    """
    if xp is np:
        return np.frexp(x)[1].astype(x.dtype)
    mantissa, bias, mask = _layout(x, xp)
    if is_torch(xp) or is_jax(xp):
        integer = xp.int32 if mantissa == 23 else xp.int64
        if is_torch(xp):
            bits = x.detach().view(integer)
        else:
            lax = sys.modules["jax"].lax
            bits = lax.bitcast_convert_type(lax.stop_gradient(x), integer)
        return xp.where(x == 0, 0, xp.astype((bits >> mantissa) & mask, x.dtype) - (bias - 1))
    tiny = float(xp.finfo(x.dtype).smallest_normal)
    return xp.where(x == 0, 0, xp.floor(xp.log2(xp.where(x < tiny, tiny, x))) + 1)


def power_of_two(exponent: Array, xp: Namespace) -> Array:
    """2**exponent, exactly, of integer-valued floats within ``largest_exponent``."""
    mantissa, bias, _ = _layout(exponent, xp)
    if xp is np:
        return np.ldexp(exponent.dtype.type(1), exponent.astype(np.int32))
    if is_torch(xp) or is_jax(xp):
        bits = xp.astype(exponent + bias, xp.int32 if mantissa == 23 else xp.int64) << mantissa
        return (
            bits.view(exponent.dtype)
            if is_torch(xp)
            else sys.modules["jax"].lax.bitcast_convert_type(bits, exponent.dtype)
        )
    return xp.pow(xp.full_like(exponent, 2), exponent)


def largest_exponent(x: Array, xp: Namespace) -> int:
    """Powers of two with exponents up to this, and down to its negative, are normal numbers of the dtype."""
    return _layout(x, xp)[1] - 1


def _layout(x: Array, xp: Namespace) -> tuple[int, int, int]:
    """Bits of the mantissa, bias of the exponent, and a mask of the exponent's bits."""
    return (23, 127, 0xFF) if xp.finfo(x.dtype).bits == 32 else (52, 1023, 0x7FF)


def on_host(function: Callable[..., Array], *arrays: Array, xp: Namespace) -> Array:
    """What a function of float64 NumPy arrays makes of these arrays, as one of theirs; waits for the device."""
    if xp is np:
        result = function(*(x.astype(np.float64, copy=False) for x in arrays))
        return result.astype(arrays[0].dtype, copy=False)
    if not all(can_look(x, xp) for x in arrays):
        raise TypeError(
            "this measure needs SciPy, which runs on the host: it cannot be part of jit, compile, vmap or fake "
            "tensors; call it outside"
        )
    like = arrays[0]
    with np.errstate(all="ignore"):
        result = function(*(to_numpy(x, xp).astype(np.float64) for x in arrays))
    return xp.asarray(result, dtype=like.dtype, **device_option(like, xp))


def eigvalsh(x: Array, xp: Namespace) -> Array:
    """Ascending eigenvalues of a stack of symmetric, finite matrices (…, n, n)."""
    return xp.linalg.eigvalsh(np.ascontiguousarray(x) if xp is np else x)  # which would gather every matrix by itself


def scatter_add(rows: Array, values: Array, length: int, xp: Namespace) -> Array:
    """Sum ``values`` (B, S, K) into bins (B, length, K) by ``rows`` (B, S), all of which lie in [0, length).

    One pass for the whole batch. K may be broadcast (strides of zero are not copied where the backend allows it).
    """
    batch, samples, width = values.shape
    if is_torch(xp):
        # Not bincount: its shape depends on the data, and vmap has no rule for it. Not in place: vmap again.
        zeros = xp.zeros((batch, length, width), dtype=values.dtype, device=values.device)
        return zeros.scatter_add(1, rows[:, :, None].expand(batch, samples, width), values)
    if is_jax(xp):
        zeros = xp.zeros((batch, length, width), dtype=values.dtype)
        return zeros.at[xp.arange(batch)[:, None], rows].add(values)
    if xp is np:
        sums = [count(rows, batch, length, values[:, :, k], dtype=values.dtype, xp=xp) for k in range(width)]
        return np.reshape(np.stack(sums, axis=-1), (batch, length, width))
    bins = class_index(length, rows, xp)
    one_hot = xp.astype(bins[None, :, None] == rows[:, None, :], values.dtype)
    if is_integer(values, xp):
        return xp.matmul(one_hot, values)
    # A NaN must stay in its own row, and 0 times NaN is NaN.
    finite = xp.isfinite(values)
    sums = xp.matmul(one_hot, xp.where(finite, values, 0))
    return xp.where(xp.matmul(one_hot, xp.astype(~finite, values.dtype)) > 0, xp.nan, sums)


def count(bins: Array, batch: int, length: int, weights: Array | None, *, dtype: Any, xp: Namespace) -> Array:
    """How often (or with what weight) each bin in [0, length) occurs in each of ``batch`` rows: (batch * length,)."""
    if not (xp is np or is_torch(xp) or is_jax(xp)):
        rows = xp.reshape(bins, (batch, math.prod(bins.shape) // max(batch, 1)))
        weights = xp.ones(bins.shape, dtype=dtype, **device_option(bins, xp)) if weights is None else weights
        return xp.reshape(scatter_add(rows, xp.reshape(weights, rows.shape)[:, :, None], length, xp), (-1,))
    if batch > 1:  # one long row of bins, without a loop over the batch
        bins = xp.reshape(bins, (batch, -1))
        bins = bins + length * xp.astype(class_index(batch, bins, xp), bins.dtype)[:, None]
    flat = bins if bins.ndim == 1 else xp.reshape(bins, (-1,))
    if weights is not None and weights.ndim != 1:
        weights = xp.reshape(weights, (-1,))
    if xp is np:
        counts = np.bincount(flat, weights, minlength=batch * length)
    elif is_torch(xp):
        if weights is None:
            weights = xp.ones((1,), dtype=dtype, device=flat.device).expand(flat.shape)
        # Not bincount: its shape depends on the data, and vmap has no rule for it. Not in place: vmap again.
        counts = xp.zeros((batch * length,), dtype=dtype, device=flat.device).scatter_add(0, flat, weights)
    else:
        counts = xp.zeros((batch * length,), dtype=dtype)
        counts = counts.at[flat].add(1 if weights is None else weights, **_on_all_devices(flat))
    return counts if counts.dtype == dtype else xp.astype(counts, dtype)


def _on_all_devices(x: Array) -> dict[str, Any]:
    """``out_sharding=`` for a sum over ``x`` that every device is to have.

    JAX wants to be told where ``x`` is spread over a mesh of explicit axes, on which shardings are parts of types.
    """
    jax = sys.modules["jax"]
    sharding: Any = getattr(getattr(x, "aval", None), "sharding", None)
    if all(axis is None for axis in getattr(sharding, "spec", ())):
        return {}
    return {"out_sharding": jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec())}


def bordered(y_true: Array, y_pred: Array, n: int, xp: Namespace) -> Array:
    """The cells of label pairs in a flat grid of n + 2 by n + 2; labels below or above [0, n) are in its border."""
    width = n + 2
    if is_torch(xp):  # the fewest passes
        return xp.add(xp.clamp(y_pred, -1, n), xp.clamp(y_true, -1, n), alpha=width).add_(width + 1)
    return xp.clip(y_true, -1, n) * width + xp.clip(y_pred, -1, n) + (width + 1)


def largest(scores: Array, xp: Namespace) -> tuple[Array, Array]:
    """The largest entries along the last axis, which are NaN if any entry is, and where they are."""
    if is_torch(xp):
        return tuple(sys.modules["torch"].max(scores.detach(), -1))  # both in one pass
    index = xp.argmax(scores, axis=-1)
    # NumPy reads the scores a second time as slowly as the first, but stops at NaN; the maximum of JAX 0.10 passes NaN
    # over in arrays of thousands of rows, on the CPU.
    if xp is np or is_jax(xp):
        return xp.take_along_axis(scores, index[..., None], axis=-1)[..., 0], index
    return xp.max(scores, axis=-1), index


def copied(x: Array, xp: Namespace) -> Array:
    """``x`` in memory of its own, where a library's users can write to it."""
    if xp is np:
        return x.copy()
    return x.clone() if is_torch(xp) else x


def packed(x: Array, xp: Namespace) -> Array:
    """``x`` without gaps in memory, where a library's users can tell."""
    if xp is np:
        return np.ascontiguousarray(x)
    return x.contiguous() if is_torch(xp) else x
