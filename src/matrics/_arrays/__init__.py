"""The array library of a user's arrays, determined once on entry.

The result, an object of ``standard.Standard`` or of a class for NumPy, PyTorch or JAX, is passed along with
its namespace ``xp``; a library without a class uses the array API standard.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from matrics._arrays.frames import by_columns, is_frame, numbers
from matrics._arrays.inputs import OF_SAMPLES, as_numpy, check_kind, check_tensor, library
from matrics._arrays.numpy import NumPy
from matrics._arrays.standard import Array, Namespace, Standard
from matrics._quoting import quoted

__all__ = [
    "NUMPY",
    "Array",
    "Namespace",
    "Standard",
    "as_arrays",
    "codes_on_device",
    "fitting",
    "is_compiling",
    "of_plain_tensor",
    "on_host",
]

# A tuple, here and in every isinstance in compiled code: torch.compile does not support unions of types.
_HOST_TYPES = (np.ndarray, np.generic, list, tuple, int, float)

# NumPy's own namespace is the standard's from 2.2 on, and array_api_compat.numpy costs 150 ms to import.
NUMPY = NumPy(np)


def as_arrays(**values: Any) -> tuple[Standard, list[Array]]:
    """The library of all values, and the values as its arrays; lists and data frames become NumPy.

    The keywords are the names that an error message uses.
    """
    arrays = [_as_array(name, value) for name, value in values.items()]
    if len(arrays) > 1:
        arrays = _together(list(values), arrays)
    if all(isinstance(array, np.ndarray) for array in arrays):
        return NUMPY, arrays
    if all(map(_is_tensor, arrays)):
        from matrics._arrays.torch import TORCH

        return TORCH, arrays
    try:
        return _named(array_namespace(*arrays)), arrays
    except TypeError as error:
        kinds = ", ".join(f"{name}: {library(value)}" for name, value in values.items())
        hint = "; make the state with zeros(..., like=) of such an array" if "state" in values else ""
        raise TypeError(f"expected arrays of the same library, got {kinds}{hint}") from error


def of_plain_tensor(x: Any) -> Any:
    """PyTorch, if the value is a dense tensor of no subclass outside of compiled code: other checks take longer."""
    torch = sys.modules.get("torch")
    if torch is None or type(x) is not torch.Tensor or x.layout is not torch.strided or x.is_nested:
        return None
    return None if torch.compiler.is_compiling() else _pytorch()


@functools.cache
def _pytorch() -> Any:
    from matrics._arrays.torch import TORCH

    return TORCH


def on_host(x: Any, name: str | None = None) -> Any:
    """An array of another library, or a data frame, as an array of NumPy, if its values are known; else unchanged.

    With the name of the argument, values that are not known raise an error.
    """
    if is_frame(x):
        return by_columns(x)
    if isinstance(x, np.ndarray) or not (hasattr(x, "__array_namespace__") or hasattr(x, "numel")):
        return x
    backend, (array,) = as_arrays(**{name or "x": x})
    return backend.known(name or "x", array) if name or backend.can_look(array) else x


def codes_on_device(codes: Any, labels: Any, *others: Any) -> Any:
    """The codes of labels on the device of PyTorch of the other arrays, if there is any.

    The caller has to copy arrays of numbers there, see ``as_arrays``, and so the labels themselves are unchanged; but
    there are no tensors of texts.
    """
    if codes is not labels and isinstance(codes, np.ndarray):
        for other in others:
            if _is_tensor(other) and other.device.type != "cpu":
                return _pytorch().from_host(codes).to(other.device)
    return codes


def _together(names: list[str], arrays: list[Array]) -> list[Array]:
    """Convert NumPy's labels and weights to the library of the other arrays."""
    others = [array for array in arrays if not isinstance(array, np.ndarray)]
    if not others or len(others) == len(arrays):
        return arrays
    tensors = [_is_tensor(array) for array in others]
    if all(tensors):
        elsewhere = next((array.device for array in others if array.device.type != "cpu"), None)
    elif any(tensors):
        return arrays
    else:
        elsewhere = None
    converted = []
    for name, array in zip(names, arrays, strict=True):
        if not isinstance(array, np.ndarray) or name not in OF_SAMPLES or array.dtype.kind not in "biuf":
            converted.append(array)
        elif elsewhere is not None:
            raise TypeError(
                f"{name}: expected a tensor on {elsewhere} as the others are, got an array of NumPy: pass "
                f"torch.as_tensor({name}, device={quoted(str(elsewhere))})"
            )
        elif all(tensors):
            from matrics._arrays.torch import TORCH

            converted.append(TORCH.from_host(np.require(_native(array), requirements=["C", "W"])))
        else:
            backend = _named(array_namespace(*others))
            converted.append(backend.from_host(fitting(name, _native(array), backend)))
    return converted


def _native(array: Array) -> Array:
    """The array in a dtype that other libraries also have."""
    wide = array.dtype == np.longdouble
    return array.astype(np.float64 if wide else array.dtype.newbyteorder("="), copy=False)


def fitting(name: str, array: Array, backend: Standard) -> Array:
    """Check that integers fit in the integers of the other library: default JAX has 32 bits, and would cut others.

    A label beyond them becomes the largest or the smallest, which no class has either.
    """
    is_wide = array.dtype.kind in "iu" and np.iinfo(array.dtype).max > 2**31 - 1
    if not is_wide or backend.widest_int(array) is not None:
        return array
    if name == "sample_weight":
        return array.astype(np.float64)
    return np.clip(array, 0 if array.dtype.kind == "u" else -(2**31), 2**31 - 1)


@functools.cache
def _named(xp: Namespace) -> Standard:
    if xp.__name__ == "jax.numpy":
        from matrics._arrays.jax import JAX

        return JAX
    return Standard(xp)


def _as_array(name: str, value: Any) -> Array:
    if type(value) is np.ndarray:
        return numbers(value) if value.dtype.hasobject else value
    if _is_tensor(value):
        check_tensor(name, value, sys.modules["torch"])
        return value
    if not isinstance(value, _HOST_TYPES):
        check_kind(name, value)
        try:
            array_namespace(value)
        except TypeError:
            pass
        else:
            return value
    return as_numpy(name, value)


def _is_tensor(value: Any) -> bool:
    # PyTorch's tensors are checked first: torch.compile warns of the functools caches in array_namespace.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_compiling() -> bool:
    """Whether ``torch.compile`` is tracing."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())
