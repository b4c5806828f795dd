"""The one road by which functions of a Table reach a user's stack: checked, in blocks on the host, validity last."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, get_args

import numpy as np

from matrics import _backend
from matrics._backend import Array, Namespace
from matrics.table import Table

Invalid = Literal["warn", "raise", "nan"]
TableFunction = Callable[[Table], Array]

# A block's cells are to stay in or near a core's second cache, and so are its margins ([class, matrix]), of which there
# are some twenty. Both were the best or near it for every n on the machines tried.
BLOCK_CELLS_BYTES = 2 * 1024 * 1024
BLOCK_MARGIN_BYTES = 512 * 1024
FAR = 1e30  # what zero_division may be at most: within float32
# Fewer matrices in a block, and the calls are what costs, not the memory.
SMALLEST_BLOCK = 64
# From here on a row of cells is long enough for sums to run along it: then blocks stay in the order they came in.
LEAST_CLASSES_IN_PLACE = 50


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
    if isinstance(zero_division, bool) or not isinstance(zero_division, (int, float, np.integer, np.floating)):
        raise TypeError(f"zero_division: expected a number (NaN to mark undefined values), got {zero_division!r}")
    number: Any = zero_division
    if number > FAR or number < -FAR:
        raise ValueError(f"zero_division: expected a finite number or NaN, got {zero_division!r}")
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
    zero_division = float(zero_division)  # a NumPy scalar would have a say in the dtype of the results
    xp, cm = as_stack(cm)
    if xp is np:
        results, report = _on_host(cm, functions, zero_division, invalid, workers)
        if report is not None and invalid == "raise":
            raise InvalidConfusionMatrix(report)
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
    dtype = np.dtype(_backend.float_dtype(cm, np))
    size = min(BLOCK_CELLS_BYTES // (n * n * dtype.itemsize), BLOCK_MARGIN_BYTES // (n * dtype.itemsize))
    size = max(SMALLEST_BLOCK, min(size, len(stack)))
    starts = range(0, max(len(stack), 1), size)
    found: dict[int, Array] = {}  # first matrix of a block -> its invalid matrices

    def score_block(start: int, scratch: _Scratch) -> list[Array]:
        block = stack[start : start + size]
        cells = _class_first(block, scratch.cells)
        whole = _backend.is_integer(cm, np) or scratch.all_whole(cells)
        table, valid = _look(cells, zero_division, whole=whole)
        if valid is None:
            return [function(table) for function in functions]
        found[start] = start + np.flatnonzero(~valid)
        return [np.where(valid, function(table), np.nan) for function in functions]

    def score_blocks(starts: Sequence[int]) -> None:
        scratch = _Scratch(size * n * n, dtype)
        with np.errstate(all="ignore"):  # which belongs to the thread
            for start in starts:
                for result, value in zip(results, score_block(start, scratch), strict=True):
                    result[start : start + size] = value.T

    with np.errstate(all="ignore"):
        first = score_block(0, _Scratch(size * n * n, dtype))  # which tells the shapes of the results
    results = [np.empty((len(stack), *value.shape[:-1]), value.dtype) for value in first]
    for result, value in zip(results, first, strict=True):
        result[:size] = value.T
    rest = starts[1:]
    threads = min((os.cpu_count() or 1) if workers == -1 else workers, len(rest))
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(score_blocks, [rest[k::threads] for k in range(threads)]))
    elif rest:
        score_blocks(rest)
    # [()] makes the result of one matrix a NumPy scalar, as NumPy's own reductions do.
    results = [result.reshape(batch_shape + result.shape[1:])[()] for result in results]
    bad = {start: found[start] for start in sorted(found)}
    return results, _describe_invalid(stack, batch_shape, bad) if bad and invalid != "nan" else None


class _Scratch:
    """Memory that a thread uses again for every block: fresh pages cost more than what is done with them."""

    def __init__(self, size: int, dtype: Any) -> None:
        self.cells = np.empty(size, dtype)
        self._rounded = np.empty(0, dtype)
        self._equal = np.empty(0, np.bool_)

    def all_whole(self, cells: Array) -> bool:
        """Whether all cells are whole numbers."""
        if not self._equal.size:  # integers never ask
            self._rounded, self._equal = np.empty_like(self.cells), np.empty(self.cells.size, np.bool_)
        # In the order of their memory, whichever of the two it is.
        flat = cells if cells.flags.c_contiguous else cells.transpose(2, 0, 1)
        rounded = np.rint(flat, out=self._rounded[: flat.size].reshape(flat.shape))
        return bool(np.equal(flat, rounded, out=self._equal[: flat.size].reshape(flat.shape)).all())


def _class_first(block: Array, scratch: Array) -> Array:
    """A block as ``[true, pred, matrix]`` floats: copied in that order, or a view where rows are long."""
    count, n, _ = block.shape
    if n < LEAST_CLASSES_IN_PLACE:
        cells = scratch[: block.size].reshape(n, n, count)
        np.copyto(cells, block.transpose(1, 2, 0), casting="unsafe")
        return cells
    if block.dtype != scratch.dtype:
        converted = scratch[: block.size].reshape(block.shape)
        np.copyto(converted, block, casting="unsafe")
        block = converted
    return block.transpose(1, 2, 0)


def _look(cells: Array, zero_division: float, *, whole: bool) -> tuple[Table, Array | None]:
    """The table of a block, after one look at it, and which of its matrices are valid if not all are.

    What is seen makes formulas cheaper, never different: the value of a matrix has the same bits whatever values the
    others in the block have (how many they are may change the order of a sum, and so the last bit).
    """

    def table(cells: Array, **seen: Any) -> Table:
        return Table(cells, np, class_first=True, zero_division=zero_division, **seen)

    made = table(cells, exact=whole)
    total = made.total
    # NaN fails every comparison.
    smallest, largest = (total.min(), total.max()) if total.size else (1, 1)
    beyond = 2 ** (np.finfo(cells.dtype).nmant + 1)  # from here on, differences may be rounded
    if whole and largest < math.isqrt(beyond):
        made.exact_products = True
    elif whole and not largest < beyond:
        made = table(cells)
        total = made.total
    valid = None
    if not (cells.min(initial=0) >= 0 and math.isfinite(largest)):
        valid = made.valid
        cells = cells.copy(order="K")  # in the same order, so that sums round alike
        cells[..., ~valid] = 0
        made = table(cells)
        total = made.total
    # Products of two counts must neither overflow nor vanish. A power of two changes no digit of them.
    limits = np.finfo(cells.dtype)
    if not (smallest > limits.tiny**0.2 and largest < limits.max**0.3):
        exponent = np.clip(-np.frexp(total)[1], limits.minexp + 2, limits.maxexp - 2)
        made.scale = np.ldexp(cells.dtype.type(1), exponent)
    return made, valid


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
    where there are no values yet, it raises a TypeError (of a compiler's own kind under ``fullgraph=True``).

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
