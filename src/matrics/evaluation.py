"""The one road by which functions of a Table reach a user's stack: checked, in blocks on the host, validity last."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from matrics import _backend
from matrics._backend import Array, Namespace
from matrics.table import Table

Invalid = Literal["warn", "raise", "nan"]
TableFunction = Callable[[Table], Array]

# A block's cells and about as many bytes of margins are to stay in a core's caches: 1 MiB of cells was the best or near
# it for every n on the machines tried. With fewer than 64 matrices the calls, not the memory, would be what costs.
BLOCK_BYTES = 1024 * 1024
SMALLEST_BLOCK = 64


class InvalidConfusionMatrix(ValueError):  # noqa: N818 (the public name)
    """A matrix has a negative, NaN or infinite cell, or cells whose sum is infinite."""


def as_stack(cm: Any, *, name: str = "cm") -> tuple[Namespace, Array]:
    """The namespace and the array of a stack ``(*B, n, n)`` of real numbers; anything else raises, at once."""
    xp, (array,) = _backend.as_arrays(**{name: cm})
    shape = tuple(array.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ValueError(
            f"{name}: expected one confusion matrix (n, n) or a stack of them (*B, n, n), rows = true classes and "
            f"columns = predicted classes, got shape {shape}"
        )
    if not (_backend.is_integer(array, xp) or _backend.is_float(array, xp)):
        raise TypeError(f"{name}: expected counts (integers or real floating numbers), got dtype {array.dtype}")
    return xp, array


def check_options(zero_division: Any, invalid: Any, workers: Any = 1) -> None:
    """Raise at once for an option that no measure understands."""
    if isinstance(zero_division, bool) or not isinstance(zero_division, Real):
        raise TypeError(f"zero_division: expected a number (NaN to mark undefined values), got {zero_division!r}")
    if invalid not in get_args(Invalid):
        raise ValueError(f"invalid: expected 'warn', 'raise' or 'nan', got {invalid!r}")
    if isinstance(workers, bool) or not isinstance(workers, int) or workers == 0 or workers < -1:
        raise ValueError(f"workers: expected a number of threads, or -1 for all cores, got {workers!r}")


def evaluate(
    cm: Any,
    functions: Sequence[TableFunction],
    *,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
) -> list[Array]:
    """Every function of the stack: ``[*batch]`` becomes ``(*B,)`` and ``[class, *batch]`` becomes ``(*B, n)``."""
    check_options(zero_division, invalid, workers)
    xp, cm = as_stack(cm)
    if xp is np:
        results, report = _on_host(cm, functions, zero_division, invalid, workers)
        if report is not None:
            # Two frames up is evaluate's caller, a public function; three is its user.
            warnings.warn(report, RuntimeWarning, stacklevel=3)
        return results
    table = Table(_backend.to_float(cm, xp), xp, zero_division=zero_division)
    if invalid == "raise":
        raise_if_invalid(cm, xp)
    with _backend.quiet(xp):
        return [_finish(function(table), table) for function in functions]


def _finish(values: Array, table: Table) -> Array:
    """NaN for the invalid matrices, and the class axis last."""
    xp = table.xp
    classwise = values.ndim > table.total.ndim
    values = xp.where(table.valid[None, ...] if classwise else table.valid, values, math.nan)
    return xp.permute_dims(values, (*range(1, values.ndim), 0)) if classwise else values


# On the host: blocks that fit a cache, one look at each -------------------------------------------------------------


def _on_host(
    cm: Array, functions: Sequence[TableFunction], zero_division: float, invalid: Invalid, workers: int
) -> tuple[list[Array], str | None]:
    """The results, and what there is to say of invalid matrices."""
    batch_shape, n = cm.shape[:-2], cm.shape[-1]
    stack = cm.reshape(-1, n, n) if cm.size else np.zeros((0, n, n), cm.dtype)
    dtype = _backend.float_dtype(cm, np)
    size = max(SMALLEST_BLOCK, BLOCK_BYTES // (n * n * np.dtype(dtype).itemsize))
    starts = range(0, max(len(stack), 1), size)
    integer, largest_exact = _backend.is_integer(cm, np), 2 ** (np.finfo(dtype).nmant + 1)
    found: dict[int, Array] = {}  # first matrix of a block -> its invalid matrices

    def score_block(start: int) -> list[Array]:
        block = stack[start : start + size]
        # errstate belongs to the thread, so it is set here. A block has rows of at least a cache line, class first.
        with np.errstate(all="ignore"):
            cells = np.empty((n, n, len(block)), dtype)
            np.copyto(cells, block.transpose(1, 2, 0), casting="unsafe")
            # One look, at a few numbers of the whole block; NaN fails every comparison.
            whole = integer or bool((cells == np.rint(cells)).all())
            table = Table(cells, np, class_first=True, zero_division=zero_division, exact=whole)
            largest = table.total.max(initial=0)
            if whole and not largest < largest_exact:
                table = Table(cells, np, class_first=True, zero_division=zero_division)
            if cells.min(initial=0) >= 0 and math.isfinite(largest):
                return [function(table) for function in functions]
            valid = table.valid
            found[start] = start + np.flatnonzero(~valid)
            if invalid == "raise" and len(found[start]):
                raise InvalidConfusionMatrix(_describe_invalid(stack, batch_shape, found))
            table = Table(np.where(valid, cells, 0), np, class_first=True, zero_division=zero_division)
            return [np.where(valid, function(table), np.nan) for function in functions]

    def store(start: int, values: list[Array]) -> None:
        for result, value in zip(results, values, strict=True):
            result[start : start + size] = value.T

    first = score_block(0)
    if len(starts) == 1:
        results = [np.ascontiguousarray(value.T) for value in first]
    else:
        results = [np.empty((len(stack), *value.shape[:-1]), value.dtype) for value in first]
        store(0, first)
        threads = min(os.cpu_count() or 1 if workers == -1 else workers, len(starts) - 1)
        if threads == 1:
            for start in starts[1:]:
                store(start, score_block(start))
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda start: store(start, score_block(start)), starts[1:]))
    # [()] makes the result of one matrix a NumPy scalar, as NumPy's own reductions do.
    results = [result.reshape(batch_shape + result.shape[1:])[()] for result in results]
    bad = {start: found[start] for start in sorted(found) if len(found[start])}
    report = _describe_invalid(stack, batch_shape, bad) if bad and invalid == "warn" else None
    return results, report


# Invalid matrices ---------------------------------------------------------------------------------------------------


def check(cm: Any) -> Array:
    """Raise unless every matrix of a stack is a confusion matrix.

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
    This looks at the values: on a GPU it waits for the device, and under ``jax.jit``, ``torch.compile`` or ``vmap``,
    where there are no values yet, it raises a TypeError.

    Examples
    --------
    >>> import matrics
    >>> matrics.check([[5, 1], [2, 7]]).shape
    (2, 2)
    >>> matrics.check([[[5, 1], [2, 7]], [[5, 1], [-2, 7]]])
    Traceback (most recent call last):
        ...
    matrics.evaluation.InvalidConfusionMatrix: 1 of 2 confusion matrices is invalid: [1] has the cell -2 at [1, 0]
    """
    xp, array = as_stack(cm)
    raise_if_invalid(array, xp)
    return array


def raise_if_invalid(cm: Array, xp: Namespace) -> None:
    """Raise InvalidConfusionMatrix if a matrix of the stack is; waits for the device."""
    if not _backend.can_look(cm, xp):
        raise TypeError(
            "invalid='raise' and check() look at values, which do not exist yet under jit, compile, vmap or fake "
            "tensors: call them outside, or use invalid='nan'"
        )
    with _backend.quiet(xp):
        valid = Table(_backend.to_float(cm, xp), xp).valid
    if bool(xp.all(valid)):
        return
    n = cm.shape[-1]
    bad = np.flatnonzero(~_backend.to_numpy(valid, xp).ravel())
    stack = _backend.to_numpy(cm, xp).reshape(-1, n, n)
    raise InvalidConfusionMatrix(_describe_invalid(stack, tuple(cm.shape[:-2]), {0: bad}))


def _describe_invalid(stack: Array, batch_shape: tuple[int, ...], found: dict[int, Array]) -> str:
    """One line that counts the invalid matrices and says of the first three what is wrong."""
    bad = np.concatenate(list(found.values()))
    shown = []
    for position in bad[:3]:
        matrix = stack[position]
        wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
        where = "".join(f"[{index}]" for index in np.unravel_index(position, batch_shape)) or "it"
        if len(wrong):
            i, j = (int(index) for index in wrong[0])
            shown.append(f"{where} has the cell {matrix[i, j]} at [{i}, {j}]")
        else:
            shown.append(f"{where} has a sum beyond the largest {matrix.dtype}")
    more = f"; and {len(bad) - 3} more" if len(bad) > 3 else ""
    verb = "is" if len(bad) == 1 else "are"
    return f"{len(bad)} of {len(stack)} confusion matrices {verb} invalid: " + "; ".join(shown) + more
