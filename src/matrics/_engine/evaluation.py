"""Evaluate functions of a Table for a stack of a user: check it, choose the execution, mark invalid matrices."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, get_args, overload

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._engine.execution import table_in_order, table_of
from matrics._engine.execution.blocks import score_blocks
from matrics._engine.execution.fewer_passes import NeedsWholeStack
from matrics._engine.table import Table
from matrics._quoting import quoted
from matrics.typing import ArrayT, HostArray, NumPyArray

Invalid = Literal["warn", "raise", "nan"]
_INVALID = get_args(Invalid)  # computed once, as get_args takes as long as the sum of a matrix
TableFunction = Callable[[Table], Array]
SHOWN = 3  # the number of invalid matrices that a message describes


class InvalidConfusionMatrix(ValueError):  # noqa: N818 (the public name)
    """A matrix has a negative, NaN or infinite cell, or cells whose sum is infinite."""

    __module__ = "matrics"  # the public module


def as_stack(cm: Any, *, name: str = "cm", backend: Standard | None = None) -> tuple[Standard, Array]:
    """The library and the array of a stack ``(*B, n, n)`` of real numbers; raises for any other value.

    With ``backend``, which is known to be the library, the value is an array.
    """
    array = cm
    if backend is None and type(cm) is np.ndarray and not cm.dtype.hasobject:
        backend = NUMPY  # as_arrays returns the same, but takes a microsecond
    elif backend is None:
        backend, (array,) = as_arrays(**{name: cm})
    shape = tuple(array.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ValueError(
            f"{name}: expected a confusion matrix (n, n) or a stack of them (*B, n, n), rows = true classes and "
            f"columns = predicted classes, got shape {shape}"
        )
    if not (backend.is_float(array) or backend.is_integer(array)):
        raise TypeError(f"{name}: expected counts (integers or real floating numbers), got dtype {array.dtype}")
    return backend, array


def is_nan(number: Any) -> bool:
    """Whether a number is NaN, also for symbols of torch.compile(dynamic=True), which isnan does not accept."""
    return bool(number != number)  # noqa: PLR0124 (only NaN differs from itself)


def check_options(zero_division: Any, invalid: Any, workers: Any = 1) -> None:
    """Raise an error if an option has a value that is not allowed."""
    if isinstance(zero_division, bool) or not isinstance(zero_division, (int, float, np.integer, np.floating)):
        raise TypeError(f"zero_division: expected a number (NaN to mark undefined values), got {quoted(zero_division)}")
    number: Any = zero_division
    # Within float32; a literal, as torch.compile(dynamic=True) treats a global constant as an unknown value.
    if number > 1e30 or number < -1e30:
        raise ValueError(f"zero_division: expected a finite number or NaN, got {quoted(zero_division)}")
    if invalid not in _INVALID:
        raise ValueError(f"invalid: expected 'warn', 'raise' or 'nan', got {quoted(invalid)}")
    # A literal for the same reason.
    if isinstance(workers, bool) or not isinstance(workers, int) or workers == 0 or not -1 <= workers <= 1024:
        raise ValueError(
            f"workers: expected a number of threads from 1 to 1024, or -1 for all cores, got {quoted(workers)}"
        )


def evaluate(
    cm: Any,
    functions: Sequence[TableFunction],
    *,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    traced: bool = False,
    backend: Standard | None = None,
) -> list[Array]:
    """The results of all functions: ``[*batch]`` as ``(*B,)`` and ``[class, *batch]`` as ``(*B, n)``.

    ``backend`` is the library of the stack if it is known. With ``traced`` a function has an array that is traced or
    differentiated, even if the stack is not: the operations are then operations of its library.
    """
    check_options(zero_division, invalid, workers)
    zero_division = float(zero_division)  # a NumPy scalar would affect the dtype of the results
    backend, cm = as_stack(cm, backend=backend)
    view = None if traced else backend.host_view(cm)
    if view is not None:
        results, bad = score_blocks(view, functions, zero_division, workers)
        if bad.size and invalid == "raise":
            raise InvalidConfusionMatrix(describe_invalid(view, bad))
        if (
            bad.size and invalid == "warn" and backend.looking_is_free
        ):  # not in other libraries, where warnings would depend on the device
            warnings.warn(describe_invalid(view, bad), RuntimeWarning, stacklevel=frames_to_the_user())
        return [backend.from_host(result) for result in results]
    if invalid == "raise":
        raise_if_invalid(cm, backend)
    return _scored(cm, backend, functions, zero_division)


def scored(
    cm: Array, backend: Standard, functions: Sequence[TableFunction], zero_division: float
) -> tuple[list[Array], Array]:
    """The results of all functions by operations of the library, and a mask of valid matrices."""
    *results, valid = _scored(cm, backend, functions, zero_division, with_valid=True)
    return results, valid


def _scored(
    cm: Array,
    backend: Standard,
    functions: Sequence[TableFunction],
    zero_division: float,
    *,
    with_valid: bool = False,
) -> list[Array]:
    if backend.compiler(cm) == "xla":
        from matrics._engine.execution import xla

        if number := xla.number_of_blocks(cm):
            return _in_blocks(cm, number, backend, functions, zero_division, with_valid=with_valid)
    table = _table(cm, backend, zero_division)
    with backend.quiet():
        results = [finish(function(table), table) for function in functions]
    return [*results, table.valid] if with_valid else results


def _table(cm: Array, backend: Standard, zero_division: float, **options: Any) -> Table:
    cells = backend.to_float(cm)
    # Products of five 64-bit integers are within the range of float64.
    counts = cells is not cm and backend.is_integer(cm) and cells.dtype == backend.xp.float64
    return table_of(cells, backend, zero_division=zero_division, is_moderate=counts, **options)


def _in_blocks(
    cm: Array,
    number: int,
    backend: Standard,
    functions: Sequence[TableFunction],
    zero_division: float,
    *,
    with_valid: bool,
) -> list[Array]:
    """The results of ``_scored`` in this number of blocks, in code that XLA compiles."""
    from matrics._engine.execution import xla

    def score(block: Array) -> dict[int, Array]:
        table = _table(block, backend, zero_division, is_block=True)
        results = {len(functions): table.valid} if with_valid else {}
        for k, function in enumerate(functions):
            with suppress(NeedsWholeStack):
                results[k] = finish(function(table), table)
        return results

    results = xla.in_blocks(score, cm, number)
    table = _table(cm, backend, zero_division)
    results |= {k: finish(function(table), table) for k, function in enumerate(functions) if k not in results}
    return [results[k] for k in sorted(results)]


def frames_to_the_user() -> int:
    """The number of frames from the caller up to the user's code: the first frame outside this package."""
    package = __file__.rsplit(os.sep, 2)[0] + os.sep
    frame, frames = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, frames = frame.f_back, frames + 1
    return frames


def finish(values: Array, table: Table) -> Array:
    """The values with NaN for invalid matrices, and with the class axis last."""
    xp = table.xp
    classwise = values.ndim > table.batch_ndim
    values = values if values.dtype == table.dtype else xp.astype(values, table.dtype)
    values = table.unless_invalid(values)
    return xp.permute_dims(values, (*range(1, values.ndim), 0)) if classwise else values


# Invalid matrices ---------------------------------------------------------------------------------------------------


@overload
def check(cm: HostArray) -> NumPyArray: ...
@overload
def check(cm: ArrayT) -> ArrayT: ...
def check(cm: Any) -> Array:
    """Raise an error unless every matrix of a stack is a valid confusion matrix.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts; rows are true classes, columns predicted classes.

    Returns
    -------
    array, shape (*B, n, n)
        The stack itself (a list becomes a NumPy array).

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.
    InvalidConfusionMatrix
        A cell is negative, NaN or infinite. The message names the first invalid matrices.

    Notes
    -----
    The values are inspected: on a GPU this waits for the device, and under ``jax.jit``, ``torch.compile`` or ``vmap``,
    where values are not available, it raises a TypeError (the compiler's own error under ``fullgraph=True``).

    Examples
    --------
    >>> import matrics
    >>> matrics.check([[5, 1], [2, 7]]).shape
    (2, 2)
    >>> matrics.check([[[5, 1], [2, 7]], [[5, 1], [-2, 7]]])
    Traceback (most recent call last):
        ...
    matrics.InvalidConfusionMatrix: 1 of 2 confusion matrices is invalid: [1] has the cell -2 at [1, 0]
    """
    backend, array = as_stack(cm)
    raise_if_invalid(array, backend)
    return array


def raise_if_invalid(cm: Array, backend: Standard) -> None:
    """Raise InvalidConfusionMatrix if a matrix of the stack is invalid; this waits for the device."""
    refuse_unseen(cm, backend)
    with backend.quiet():
        valid = table_in_order(backend.to_float(cm), backend).valid
    if bool(backend.xp.all(valid)):
        return
    bad = np.flatnonzero(~backend.to_numpy(valid).ravel())
    raise InvalidConfusionMatrix(describe_invalid(backend.to_numpy(cm), bad))


def refuse_unseen(x: Array, backend: Standard) -> None:
    """Raise TypeError if values cannot be inspected."""
    if not backend.can_look(x):
        raise TypeError(
            "invalid='raise' and check() inspect values, which do not exist yet under jit, compile, vmap or fake "
            "tensors: call them outside, or use invalid='nan'"
        )


def describe_invalid(cm: Array, bad: Array) -> str:
    """A line with the number of invalid matrices of a NumPy stack and descriptions of the first three."""
    stack = cm.reshape(-1, *cm.shape[-2:])
    first = [(int(position), stack[position]) for position in bad[:SHOWN]]
    return describe_first(first, cm.shape[:-2], len(bad), f"{len(stack)}")


def describe_first(first: Sequence[tuple[int, Array]], batch_shape: tuple[int, ...], number: int, total: str) -> str:
    """A line with the number of invalid matrices, and the first with their positions in the flat batch."""
    shown = []
    for position, matrix in first:
        invalid_cells = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
        where = "".join(f"[{index}]" for index in np.unravel_index(position, batch_shape)) or "it"
        if len(invalid_cells):
            i, j = (int(index) for index in invalid_cells[0])
            shown.append(f"{where} has the cell {matrix[i, j]} at [{i}, {j}]")
        else:
            shown.append(f"{where} has a sum beyond the largest {matrix.dtype}")
    more = f"; and {number - len(shown)} more" if number > len(shown) else ""
    verb = "is" if number == 1 else "are"
    return f"{number} of {total} confusion matrices {verb} invalid: " + "; ".join(shown) + more
