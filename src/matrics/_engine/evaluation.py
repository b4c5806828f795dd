"""Apply functions of a Table to a user's stack: check it, choose the execution, mark invalid matrices."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args, overload

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._engine.execution import table_in_order, table_of
from matrics._engine.execution.blocks import score_blocks
from matrics._engine.table import Table
from matrics._quoting import quoted
from matrics.typing import ArrayT, HostArray, NumPyArray

Invalid = Literal["warn", "raise", "nan"]
_INVALID = get_args(Invalid)  # a constant, because get_args takes as long as the sum of a matrix
TableFunction = Callable[[Table], Array]
SHOWN = 3  # invalid matrices that a message describes


class InvalidConfusionMatrix(ValueError):  # noqa: N818 (the public name)
    """A matrix has a negative, NaN or infinite cell, or cells whose sum is infinite."""

    __module__ = "matrics"  # from where users import it


def as_stack(cm: Any, *, name: str = "cm") -> tuple[Standard, Array]:
    """The library and the array of a stack ``(*B, n, n)`` of real numbers; anything else raises an error."""
    backend: Standard = NUMPY
    if type(cm) is np.ndarray and not cm.dtype.hasobject:
        array = cm  # as_arrays has the same answer after a microsecond
    else:
        backend, (array,) = as_arrays(**{name: cm})
    shape = tuple(array.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ValueError(
            f"{name}: expected one confusion matrix (n, n) or a stack of them (*B, n, n), rows = true classes and "
            f"columns = predicted classes, got shape {shape}"
        )
    if not (backend.is_integer(array) or backend.is_float(array)):
        raise TypeError(f"{name}: expected counts (integers or real floating numbers), got dtype {array.dtype}")
    return backend, array


def is_nan(number: Any) -> bool:
    """Whether a number is NaN, also one that is a symbol of torch.compile(dynamic=True), which has no isnan of them."""
    return bool(number != number)  # noqa: PLR0124 (only NaN differs from itself)


def check_options(zero_division: Any, invalid: Any, workers: Any = 1) -> None:
    """Raise if an option has a value that is not allowed."""
    if isinstance(zero_division, bool) or not isinstance(zero_division, (int, float, np.integer, np.floating)):
        raise TypeError(f"zero_division: expected a number (NaN to mark undefined values), got {quoted(zero_division)}")
    number: Any = zero_division
    # Within float32; a literal, as torch.compile(dynamic=True) treats a global constant as an unknown value.
    if number > 1e30 or number < -1e30:
        raise ValueError(f"zero_division: expected a finite number or NaN, got {quoted(zero_division)}")
    if invalid not in _INVALID:
        raise ValueError(f"invalid: expected 'warn', 'raise' or 'nan', got {quoted(invalid)}")
    # Written out, as torch.compile(dynamic=True) treats a global constant as an unknown value.
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
) -> list[Array]:
    """Evaluate every function: ``[*batch]`` becomes ``(*B,)`` and ``[class, *batch]`` becomes ``(*B, n)``.

    ``traced`` is whether a function has an array that is traced or differentiated, even if the stack is not: the
    operations are then those of its library.
    """
    check_options(zero_division, invalid, workers)
    zero_division = float(zero_division)  # a NumPy scalar would affect the dtype of the results
    backend, cm = as_stack(cm)
    view = None if traced else backend.host_view(cm)
    if view is not None:
        results, bad = score_blocks(view, functions, zero_division, workers)
        if bad.size and invalid == "raise":
            raise InvalidConfusionMatrix(describe_invalid(view, bad))
        if bad.size and invalid == "warn" and backend.looking_is_free:  # on others it would depend on the device
            warnings.warn(describe_invalid(view, bad), RuntimeWarning, stacklevel=frames_to_the_user())
        return [backend.from_host(result) for result in results]
    if invalid == "raise":
        raise_if_invalid(cm, backend)
    return _scored(cm, backend, functions, zero_division)[0]


def scored(
    cm: Array, backend: Standard, functions: Sequence[TableFunction], zero_division: float
) -> tuple[list[Array], Array]:
    """The results of all functions by a library's own operations, and which matrices are valid."""
    results, table = _scored(cm, backend, functions, zero_division)
    return results, table.valid


def _scored(
    cm: Array, backend: Standard, functions: Sequence[TableFunction], zero_division: float
) -> tuple[list[Array], Table]:
    cells = backend.to_float(cm)
    # Products of five 64-bit integers are well within the range of float64.
    counts = backend.is_integer(cm) and cells.dtype == backend.xp.float64
    table = table_of(cells, backend, zero_division=zero_division, is_moderate=counts)
    with backend.quiet():
        return [finish(function(table), table) for function in functions], table


def frames_to_the_user() -> int:
    """The number of frames from the caller up to the user's code: the first frame outside this package."""
    package = __file__.rsplit(os.sep, 2)[0] + os.sep
    frame, frames = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, frames = frame.f_back, frames + 1
    return frames


def finish(values: Array, table: Table) -> Array:
    """Set invalid matrices to NaN, and move the class axis last."""
    xp = table.xp
    classwise = values.ndim > table.total.ndim
    values = values if values.dtype == table.total.dtype else xp.astype(values, table.total.dtype)
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
        Counts; rows are true classes, columns predicted ones.

    Returns
    -------
    array, shape (*B, n, n)
        The stack as given (a list becomes a NumPy array).

    Raises
    ------
    ValueError
        The shape is not (*B, n, n).
    TypeError
        The cells are not real numbers.
    InvalidConfusionMatrix
        A cell is negative, NaN or infinite. The message names the first such matrices.

    Notes
    -----
    This inspects the values: on a GPU it waits for the device, and under ``jax.jit``, ``torch.compile`` or ``vmap``,
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
    """Raise InvalidConfusionMatrix if a matrix of the stack is invalid; waits for the device."""
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
    """One line that counts the invalid matrices of a NumPy stack and describes the first three."""
    stack = cm.reshape(-1, *cm.shape[-2:])
    first = [(int(position), stack[position]) for position in bad[:SHOWN]]
    return describe_first(first, cm.shape[:-2], len(bad), f"{len(stack)}")


def describe_first(first: Sequence[tuple[int, Array]], batch_shape: tuple[int, ...], number: int, total: str) -> str:
    """One line that counts invalid matrices and shows the first ones with their positions in the flat batch."""
    shown = []
    for position, matrix in first:
        wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
        where = "".join(f"[{index}]" for index in np.unravel_index(position, batch_shape)) or "it"
        if len(wrong):
            i, j = (int(index) for index in wrong[0])
            shown.append(f"{where} has the cell {matrix[i, j]} at [{i}, {j}]")
        else:
            shown.append(f"{where} has a sum beyond the largest {matrix.dtype}")
    more = f"; and {number - len(shown)} more" if number > len(shown) else ""
    verb = "is" if number == 1 else "are"
    return f"{number} of {total} confusion matrices {verb} invalid: " + "; ".join(shown) + more
