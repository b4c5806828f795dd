"""PyTorch: tensors on any device, also under ``compile``, ``vmap`` and autograd."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import array_api_compat.torch as xp
import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from matrics._arrays.standard import Array, Compiler, InOneRow, layout

# Masks of the diagonal are cached for at most this number of classes.
_FEW_CLASSES = 256

# Dtypes of counts other than floats.
_INTEGERS = (
    torch.bool,
    *(torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.uint8, torch.uint16, torch.uint32, torch.uint64),
)

# From so many elements on PyTorch divides any operation among threads.
_FOR_THREADS = 2**15

# As many numbers of 32 bits are added in sequence: the error of a sum is about as large as the rounding of its result.
_ADDED_IN_32_BITS = 128

# From so many values on ``index_add`` takes less time than ``scatter_add``, although it needs more operations.
_FEW_VALUES = 2**12

# Up to so many cells in copies of a stack for each class, operations on all copies take less time than more operations.
_FEW_COPIES = 2**15

# Whether kernels can be compiled: PyTorch's builds for CUDA contain Triton, but not on every system.
HAS_TRITON = importlib.util.find_spec("triton") is not None

_QUIET = contextlib.nullcontext()

_PLAIN, _STRIDED = (torch.Tensor, torch.nn.Parameter), torch.strided
_OF_NUMPY = frozenset((*_INTEGERS, torch.float16, torch.float32, torch.float64))


_view = operator.methodcaller("numpy", force=True)


class Torch(InOneRow):
    """The library of tensors."""

    view = _view

    @functools.cached_property
    def everywhere(self) -> Array:
        """See ``Standard``."""
        with _for_all_code():
            return torch.tensor(True, device="cpu")

    def quiet(self) -> contextlib.AbstractContextManager[Any]:
        """An empty context: PyTorch does not warn, and errstate would break a compiled graph."""
        return _QUIET

    def can_look(self, x: Array) -> bool:
        """Whether the tensor is concrete: not traced or mapped, and no fake tensor."""
        return not (torch.compiler.is_compiling() or _is_traced(x))

    def is_constant(self, x: Array) -> bool:
        """See ``Standard``."""
        return self.can_look(x) and not (x.requires_grad and torch.is_grad_enabled()) and _has_no_tangent(x)

    def compiler(self, x: Array) -> Compiler | None:
        """Inductor under ``torch.compile``, of tensors on the CPU."""
        return "inductor" if torch.compiler.is_compiling() and x.device.type == "cpu" else None

    def host_view(self, x: Array) -> Array | None:
        """The tensor's memory, if it is on the CPU and not traced, mapped or differentiated."""
        if (x.requires_grad and torch.is_grad_enabled()) or torch.compiler.is_compiling():
            return None
        return self.eager_view(x)

    def eager_view(self, x: Array) -> Array | None:
        """The memory of a tensor that requires no gradient, outside of compiled code."""
        return None if _is_watched() or _is_elsewhere(x) else x.numpy(force=True)

    def viewer(self, x: Array) -> Callable[[Array], Array] | None:
        """See ``Standard``; for tensors that ``torch.func`` maps or differentiates, those under its wrappers."""
        if torch.compiler.is_compiling() or _modes() > 0 or _has_modes_before(_BEFORE) or _is_jit_tracing():
            return None
        beneath = _transforms() is not None
        values = _unwrapped(x) if beneath else x
        if values is None or _is_elsewhere(values) or values.is_neg():  # the memory has no sign of the latter
            return None
        return _view_beneath if beneath else _view

    def host_bits(self, x: Array) -> Array | None:
        """See ``Standard``."""
        if x.dtype != torch.bfloat16 or torch.compiler.is_compiling() or _is_watched():  # a view may be impossible
            return None
        return self.host_view(x.view(torch.uint16))

    def host_views(self, *arrays: Array) -> list[Array] | None:
        """The memory of several tensors, leaving out their gradients, if NumPy can take all of them.

        The transformations around them are determined once, and ``force`` only where needed: for a small batch these
        checks take as long as the computation.
        """
        if torch.compiler.is_compiling() or _is_watched():
            return None
        views = []
        for x in arrays:
            if _is_elsewhere(x):
                return None
            views.append(x.numpy(force=True) if x.requires_grad or x.is_neg() else x.numpy())
        return views

    def detached(self, x: Array) -> Array:
        """The same values without a gradient."""
        return x.detach()

    def from_host(self, x: Array) -> Array:
        """A tensor with the same memory."""
        return torch.from_numpy(np.asarray(x))

    def to_numpy(self, x: Array) -> Array:
        """The values on the host; waits for the device."""
        x = x.detach().cpu()
        return np.asarray(x.float() if x.dtype == torch.bfloat16 else x)  # NumPy has no bfloat16

    def all_to_numpy(self, arrays: list[Array]) -> list[Array]:
        """The values of several tensors, all in the widest float of their device, by a copy from each device."""
        arrays_by_place: dict[int, Array] = {}
        for device in {x.device for x in arrays}:
            places = [place for place, x in enumerate(arrays) if x.device == device]
            here = [arrays[place].detach() for place in places]
            flat = torch.cat([x.reshape(-1).to(self.widest_float(x)) for x in here]).cpu().numpy()
            parts = np.split(flat, np.cumsum([x.numel() for x in here])[:-1])
            arrays_by_place |= {
                place: part.reshape(x.shape) for place, part, x in zip(places, parts, here, strict=True)
            }
        return [arrays_by_place[place] for place in range(len(arrays))]

    def device_option(self, like: Array) -> dict[str, Any]:
        """``device=`` for a new tensor that is used together with ``like``."""
        return {"device": like.device}

    def widest_float(self, like: Array) -> Any:
        """The widest float of the device; Apple's GPUs have no 64-bit floats."""
        return torch.float32 if like.device.type == "mps" else torch.float64

    def widest_int(self, like: Array) -> Any | None:  # noqa: ARG002
        """An integer of 64 bits."""
        return torch.int64

    def is_integer(self, x: Array) -> bool:
        """See ``Standard``, by the dtype; the standard's isdtype takes as long as a small sum."""
        return x.dtype in _INTEGERS

    def is_float(self, x: Array) -> bool:
        """See ``Standard``, by the dtype."""
        return bool(x.is_floating_point())

    def to_float(self, x: Array) -> Array:
        """See ``Standard``."""
        return x if x.dtype is torch.float32 or x.dtype is torch.float64 else super().to_float(x)

    def wider_float(self, x: Array) -> Any | None:
        """Float64 for float32, if the device has float64."""
        return torch.float64 if x.dtype is torch.float32 and not x.is_mps else None

    def constant(self, rows: Sequence[Sequence[float]], like: Array) -> Array:
        """A matrix of Python's numbers, in the dtype and on the device of ``like``."""
        return (
            filled(rows, like)
            if like.device.type != "cpu"
            else torch.tensor(rows, dtype=like.dtype, device=like.device)
        )

    def identity(self, n: int, like: Array) -> Array:
        """See ``Standard``. For few classes on the CPU, the mask is cached, as it takes four operations."""
        is_known = n <= _FEW_CLASSES and like.is_cpu and not torch.compiler.is_compiling()
        return _identity(n) if is_known else super().identity(n, like)

    def clamped(self, x: Array, low: float | None, high: float | None) -> Array:
        """See ``Standard``, also for ends that torch.compile treats as symbols: ``xp.clip`` asks whether they are NaN.

        Symbols are sizes and, with ``dynamic=True``, all numbers that are not written where they are used.
        """
        return torch.clamp(x, low, high)

    def copied(self, x: Array) -> Array:
        """A copy."""
        return x.clone()

    def packed(self, x: Array) -> Array:
        """A copy, unless it has no gaps."""
        return x.contiguous()

    def exponent(self, x: Array) -> Array:
        """See ``Standard``, from the bits: a logarithm that a compiler computes twice may be two numbers.

        PyTorch maps no view of another dtype before 2.13.
        """
        if _is_transforming():
            return xp.astype(torch.frexp(x.detach()).exponent, x.dtype)
        mantissa, bias, mask = layout(torch.finfo(x.dtype).bits)
        bits = x.detach().view(torch.int32 if mantissa == 23 else torch.int64)
        return xp.where(x == 0, 0, xp.astype((bits >> mantissa) & mask, x.dtype) - (bias - 1))

    def power_of_two(self, exponent: Array) -> Array:
        """See ``Standard``, by its bits."""
        if _is_transforming():
            return torch.exp2(exponent)
        mantissa, bias, _ = layout(torch.finfo(exponent.dtype).bits)
        bits = xp.astype(exponent + bias, torch.int32 if mantissa == 23 else torch.int64) << mantissa
        return bits.view(exponent.dtype)

    def bits(self, x: Array) -> Array:
        """See ``Standard``."""
        return x.detach().view(torch.int32)

    def sums_outside(self, x: Array) -> Array | None:
        """See ``Standard``; from a copy of the cells for each class."""
        if torch.compiler.is_compiling() or not x.is_cpu or _transforms() is not None or _is_traced(x):
            return None
        n = x.shape[-1]
        if x.numel() * n > _FEW_COPIES:
            return None
        copies = x if x.ndim == 2 else x.unsqueeze(-3)
        return copies.masked_fill(_crosses(n), 0).sum((-2, -1))

    def unstack(self, x: Array, *, axis: int) -> Sequence[Array]:
        """See ``Standard``, by an operation that ``vmap`` supports in compiled code as well."""
        parts: Sequence[Array] = torch.unbind(x, axis)
        return parts

    def has_operator(self, x: Array) -> bool:
        """See ``Standard``: in compiled graphs and on devices, where PyTorch's ``eigvalsh`` is slow, or waits.

        Not where plain code is transformed or differentiated forward, which the operator does not know.
        """
        if torch.compiler.is_compiling():
            return True
        return x.device.type != "cpu" and _transforms() is None and _has_no_tangent(x)

    def has_kernels(self, x: Array) -> bool:
        """See ``Standard``; in a compiled graph the tensor will be concrete."""
        return x.device.type == "cuda" and HAS_TRITON and not _is_transforming()

    def normal_cdf(self, x: Array) -> Array:
        """See ``Standard``."""
        return torch.special.ndtr(x)

    def normal_quantile(self, share: Array) -> Array:
        """See ``Standard``."""
        return torch.special.ndtri(share)

    def derivatives(
        self, function: Callable[[Array], list[Array]], x: Array, *, second: bool
    ) -> tuple[list[Array], list[Array], list[Array] | None]:
        """See ``Standard``, by autograd."""
        x = x.detach().requires_grad_()
        count, size = x.shape[0], x.shape[-2] * x.shape[-1]

        def gradient(value: Array, *, again: bool) -> Array:
            if not value.requires_grad:  # a constant
                return torch.zeros_like(x)
            (gradients,) = torch.autograd.grad(
                value.sum(), x, retain_graph=True, create_graph=again, materialize_grads=True
            )
            return gradients

        def curve(slope: Array) -> Array:
            flat = slope.reshape(count, size)
            gradients = [gradient(flat[:, k], again=False).reshape(count, size)[:, k] for k in range(size)]
            return torch.stack(gradients, -1)

        first, curves = [], []
        with torch.enable_grad():
            values = function(x)
            for value in values:
                parts = value[:, None] if value.ndim == 1 else value
                by_part = [gradient(parts[:, k], again=second) for k in range(parts.shape[1])]
                shape = (*value.shape, size)
                first.append(torch.stack([part.reshape(count, size) for part in by_part], 1).reshape(shape).detach())
                if second:
                    curves.append(torch.stack([curve(part) for part in by_part], 1).reshape(shape).detach())
        return [value.detach() for value in values], first, curves if second else None

    def sort_descending(self, keys: Array, *others: Array) -> list[Array]:
        """See ``Standard``, values and places in a single call."""
        keys, order = torch.sort(keys, dim=-1, descending=True)
        return [keys, *(torch.gather(x, -1, order) for x in others)]

    def take_along(self, x: Array, index: Array) -> Array:
        """See ``Standard``."""
        return torch.gather(x, -1, index)

    def running_sum(self, x: Array, axis: int = -1) -> Array:
        """See ``Standard``."""
        return torch.cumsum(x, dim=axis)

    def running_maximum(self, x: Array) -> Array:
        """See ``Standard``, in a single pass."""
        return torch.cummax(x, dim=-1).values

    def scatter_add(self, rows: Array, values: Array, length: int) -> Array:
        """See ``Standard``. Not bincount: its shape depends on the data, and vmap has no rule for it.

        Sequential sums of float32 lose digits: they have at most ``_ADDED_IN_32_BITS`` terms, and are added in 64 bits.
        """
        if not torch.compiler.is_compiling() and _transforms() is None:  # vmap adds the matrices in sequence
            return self.eager_sums(rows, values, length)
        wide = self.wider_float(values)
        if wide is not None:
            return self.scatter_add(rows, values.to(wide), length).to(values.dtype)
        return _scattered(rows, values, length)

    def eager_sums(self, rows: Array, values: Array, length: int) -> Array:
        """``scatter_add`` outside of compiled code and of transformations."""
        *batch, samples, width = values.shape
        if samples <= _ADDED_IN_32_BITS:
            if not batch:
                return values.new_zeros((length, width)).index_add(0, rows, values)
            if values.numel() <= _FEW_VALUES:
                return _scattered(rows, values, length)
        number, wide = math.prod(batch), self.wider_float(values)
        parts = 1 if wide is None else max(1, -(-samples // _ADDED_IN_32_BITS))
        if parts > 1 and length > _ADDED_IN_32_BITS:  # the parts would have more numbers than the values
            return self.eager_sums(rows, values.to(wide), length).to(values.dtype)
        if number * parts > 1:
            first = torch.arange(0, number * parts, parts, device=rows.device)[:, None]
            if parts > 1:
                first = first + torch.arange(samples, device=rows.device) // _ADDED_IN_32_BITS
            rows = torch.add(rows.reshape(number, samples), first, alpha=length)
        flat = values.reshape(-1, width) if batch else values
        sums = values.new_zeros((number * parts * length, width)).index_add(0, rows.reshape(-1), flat)
        if parts > 1:
            sums = sums.view(*batch, parts, length, width).sum(-3, dtype=wide).to(values.dtype)
        return sums.view(*batch, length, width) if batch else sums

    def _bincount(self, bins: Array, weights: Array | None, length: int, dtype: Any) -> Array:
        if weights is None:
            weights = torch.ones((1,), dtype=dtype, device=bins.device).expand(bins.shape)
        return torch.zeros((length,), dtype=dtype, device=bins.device).scatter_add(0, bins, weights)

    def add_at(self, x: Array, index: Array, values: Array) -> Array:
        """See ``Standard``."""
        return torch.index_add(x, 0, index, values) if _transforms() is None else x.scatter_add(0, index, values)

    def add_into(self, x: Array, index: Array, values: Array) -> None:
        """See ``Standard``. Not by ``scatter_add_``, for which inductor copies all of ``x``."""
        x.index_add_(0, index, values)

    def bordered(self, y_true: Array, y_pred: Array, n: int, *, is_pred_within: bool) -> Array:
        """See ``Standard``, in the fewest passes."""
        width, columns = n + 2, y_pred if is_pred_within else torch.clamp(y_pred, -1, n)
        return torch.add(columns, torch.clamp(y_true, -1, n), alpha=width).add_(width + 1)

    def max_and_argmax(self, scores: Array) -> tuple[Array, Array]:
        """See ``Standard``, both in a single pass.

        Not in small arrays on the CPU: there ``max`` calls all threads together for any size, and on a busy machine
        waits for them for milliseconds. Nor by the ``argmax`` of half precision, which takes three times as long as
        that of float32, of the same order.
        """
        scores = scores.detach()
        if torch.compiler.is_compiling() or not scores.is_cpu or scores.numel() >= _FOR_THREADS:
            return tuple(torch.max(scores, -1))
        is_half = scores.dtype in (torch.float16, torch.bfloat16)
        index = torch.argmax(scores.float() if is_half else scores, -1, keepdim=True)  # the first NaN if there is any
        return torch.gather(scores, -1, index)[..., 0], index[..., 0]


def _scattered(rows: Array, values: Array, length: int) -> Array:
    """The sums of ``scatter_add`` from few operations, which takes longer than ``index_add`` for many values."""
    sums = values.new_zeros((*values.shape[:-2], length, values.shape[-1]))
    return sums.scatter_add(-2, rows[..., None].expand(values.shape), values)  # not in place, for vmap


def filled(rows: Sequence[Sequence[float]], like: Array) -> Array:
    """A matrix made on the device: a copy from the host would wait, and cannot be part of a CUDA graph."""
    numbers = [torch.full((), number, dtype=like.dtype, device=like.device) for row in rows for number in row]
    return torch.reshape(torch.stack(numbers), (len(rows), -1))


# PyTorch has no public names for these; tests/test_private.py fails when any of them changes. -------------------------


def _is_traced(x: Array) -> bool:
    fake = torch._subclasses.FakeTensor
    return isinstance(x, fake) or x.is_meta or _is_wrapped(x)


_is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
_transforms = torch._C._functorch.peek_interpreter_stack
_modes = torch._C._len_torch_dispatch_stack
_has_modes_before, _BEFORE = torch._C._dispatch_tls_is_dispatch_key_included, torch._C.DispatchKey.PreDispatch
_is_jit_tracing = torch._C._is_tracing
_forward = torch.autograd.forward_ad
_without_transforms = torch._functorch.pyfunctorch.temporarily_clear_interpreter_stack


def _view_beneath(x: Array) -> Array:
    values = _unwrapped(x)
    with _without_transforms():
        return _view(values)


def _unwrapped(x: Array) -> Array | None:
    """The tensor under the wrappers of vmap and grad; None if a trace may still record changes of the tensor."""
    while _is_wrapped(x):
        if torch._is_functional_tensor(x):
            return None
        x = torch._C._functorch.get_unwrapped(x)
    return x


def _is_transforming() -> bool:
    """Whether plain code runs inside a transformation of ``torch.func``; not known in compiled code."""
    return not torch.compiler.is_compiling() and _transforms() is not None


def _is_watched() -> bool:
    """Whether operations on any tensor may be recorded: by vmap and grad of torch.func, tracing, or a mode."""
    return _transforms() is not None or _modes() > 0 or _has_modes_before(_BEFORE) or _is_jit_tracing()


def _has_no_tangent(x: Array) -> bool:
    """Whether no forward-mode derivative is taken."""
    return _forward._current_level < 0 or _forward.unpack_dual(x).tangent is None


def _stays(x: Array) -> bool:
    """Whether NumPy cannot score the tensor: it is elsewhere, or has a gradient."""
    return _is_elsewhere(x) or (x.requires_grad and torch.is_grad_enabled())


def _is_elsewhere(x: Array) -> bool:
    """Whether NumPy cannot read the tensor: a subclass, another device, a forward derivative, or an unknown dtype."""
    return (
        type(x) not in _PLAIN  # nor are fake tensors
        or not x.is_cpu
        or x.layout is not _STRIDED
        or x.dtype not in _OF_NUMPY
        or not (_forward._current_level < 0 or _has_no_tangent(x))
    )


@functools.lru_cache(maxsize=16)
def _identity(n: int) -> Array:
    """The mask of the diagonal."""
    with _for_all_code():
        return torch.eye(n, dtype=torch.bool, device="cpu")


@functools.lru_cache(maxsize=16)
def _crosses(n: int) -> Array:
    """Masks of the row and the column of each class, (n, n, n)."""
    with _for_all_code():
        diagonal = torch.eye(n, dtype=torch.bool, device="cpu")
        return diagonal[:, :, None] | diagonal[:, None, :]


@contextlib.contextmanager
def _for_all_code() -> Iterator[None]:
    """A context for tensors that are cached: outside of transforms, inference mode, and modes with fake tensors."""
    with _without_transforms(), torch.inference_mode(mode=False), _disable_current_modes():
        yield


TORCH = Torch(xp)
