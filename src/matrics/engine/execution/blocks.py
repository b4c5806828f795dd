"""Execution on the host: NumPy's stacks in blocks that fit a cache, with one check of each, optionally in threads."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import NUMPY, Array
from matrics.engine.execution.digits import holds_products, product_dtype_of, rounds_from
from matrics.engine.execution.host import HostTable, Looked, Swept, TableFunction, WholeStack
from matrics.engine.execution.sums import MANY_CLASSES, summed
from matrics.engine.table import Table

# A block's cells are to stay in or near a core's second cache, and so are its margins ([class, matrix]), of which there
# are some twenty. Both were the best or near it for every n on the machines tried. For the whole catalogue a thread
# holds some thirty times as much as the cells of a block.
CELLS_BYTES = 1024 * 1024
MARGIN_BYTES = 512 * 1024
# If only row sums, column sums and the diagonal are needed, cells are read in parts that surely fit.
SWEEP_BYTES = 512 * 1024
# The check for integer-valued cells needs as much memory again, so it is done in parts.
LOOK_BYTES = 256 * 1024
# In threads margins, parts and looks are larger: a thread that returns from a call into NumPy waits for Python's
# lock, and to be woken then takes as long as a short call.
LARGER_IN_THREADS = 2
# The matrices that are scored before there are threads.
HEAD_OF_THREADS = 8
# Eigenvalues in steps take thousands of calls, which cost more than a cache that is too small: so many matrices.
STEPPED_LANE_BYTES = 128 * 1024
STEPPED_BYTES = 32 * 1024 * 1024
# Fewer matrices in a block, and the calls are what costs, not the memory; unless they are large.
MIN_BLOCK = 64
MIN_BLOCK_BYTES = 4 * 1024 * 1024
# From here on a row of cells is long enough for sums to run along it: then cells stay in the order they came in. Sums
# alone do so earlier, as products with a vector of ones.
MIN_CLASSES_IN_PLACE = 50
MIN_CLASSES_OF_PRODUCTS = 8
# Multiplications in a product for which OpenBLAS does not start threads of its own, next to ours.
MAX_PRODUCT = 4 * 65536
# Freed memory up to this size is kept for the next block, if the C library is glibc (whose limit is 32 MiB).
KEPT_BYTES = 31 * 1024 * 1024


def score_blocks(
    cm: Array, functions: Sequence[TableFunction], zero_division: float, workers: int
) -> tuple[list[Array], Array]:
    """The results of all functions, and the positions of invalid matrices, which are NaN in them."""
    n = cm.shape[-1]
    stack = cm.reshape(-1, n, n) if cm.size else np.zeros((0, n, n), cm.dtype)
    dtype = np.dtype(NUMPY.float_dtype(cm))
    margin = MARGIN_BYTES // (n * dtype.itemsize)
    smallest = max(3, min(MIN_BLOCK, MIN_BLOCK_BYTES // (n * n * dtype.itemsize)))
    size = max(smallest, min(CELLS_BYTES // (n * n * dtype.itemsize), margin))
    if len(stack) <= size:
        results, found = _score_one_block(stack, functions, zero_division, dtype)
    else:
        sizes = _Sizes(size, smallest, margin, number_of_threads(workers), dtype)
        results, found = _ManyBlocks(stack, functions, zero_division, sizes).scored()
    # [()] makes the result of one matrix a NumPy scalar, as NumPy's own reductions do.
    results = [result.reshape(cm.shape[:-2] + result.shape[1:])[()] for result in results]
    return results, np.unique(np.concatenate(found)) if found else np.empty(0, np.intp)


def _score_one_block(
    stack: Array, functions: Sequence[TableFunction], zero_division: float, dtype: Any
) -> tuple[list[Array], list[Array]]:
    """Score a single block, as in a loop of small calls, without the overhead for many blocks."""
    if stack.shape[-1] >= MANY_CLASSES:
        keep_freed_memory()
    with np.errstate(all="ignore"):
        table = summed(stack, zero_division, dtype)
        if table is None:
            scratch = _Scratch(stack.size, LOOK_BYTES // dtype.itemsize, dtype)
            values, valid = _score_block(stack, functions, zero_division, scratch, WholeStack(len(stack)))
        else:
            values, valid = [function(table) for function in functions], None
        results = [_room(value, len(stack), dtype) for value in values]
        for result, value in zip(results, values, strict=True):
            result[:] = value.T
    return results, [] if valid is None else [np.flatnonzero(~valid)]


def _score_block(
    block: Array,
    functions: Sequence[TableFunction],
    zero_division: float,
    scratch: _Scratch,
    whole: WholeStack,
) -> tuple[list[Array], Array | None]:
    """The values of all functions, ``[matrix]`` or ``[class, matrix]``; which matrices are valid, if not all are."""
    cells = _class_first(block, scratch)
    integers = NUMPY.is_integer(block)
    table, valid = _look(cells, zero_division, whole, lambda: integers or scratch.all_integers(cells))
    values = [function(table) for function in functions]
    return values if valid is None else [np.where(valid, value, np.nan) for value in values], valid


class _Sizes(NamedTuple):
    """How a stack is cut: matrices in a block, at least and where only margins count, threads, and the dtype."""

    block: int
    smallest: int
    margin: int
    threads: int
    dtype: Any


class _ManyBlocks:
    """A stack of many blocks, the first of which shows what suits the rest.

    Parameters
    ----------
    stack
        The matrices ``[matrix, true, pred]``.
    functions
        What is computed.
    zero_division
        What an undefined measure is worth.
    sizes
        How the stack is cut.
    """

    def __init__(self, stack: Array, functions: Sequence[TableFunction], zero_division: float, sizes: _Sizes) -> None:
        self._stack = stack
        self._functions = functions
        self._zero_division = zero_division
        self._sizes = sizes
        self._larger = LARGER_IN_THREADS if sizes.threads > 1 else 1
        self._part, self._look = (self._larger * limit // sizes.dtype.itemsize for limit in (SWEEP_BYTES, LOOK_BYTES))
        self._whole = WholeStack(len(stack))
        self._invalid: list[Array] = []  # positions
        self._results: list[Array] = []

    def scored(self) -> tuple[list[Array], list[Array]]:
        """The results of all functions, and the positions of invalid matrices, some of them several times."""
        size, smallest, margin, threads, _ = self._sizes
        count = len(self._stack)
        head = min(size, HEAD_OF_THREADS) if threads > 1 else size
        head -= count - head == 1  # as in _slices
        wide = self._score_head(head)
        keep_freed_memory()
        stepped = self._whole.stepped
        others = [k for k in range(len(self._functions)) if k not in stepped]
        if others or not stepped:  # without a function invalid matrices are still found
            step = max(size, self._larger * margin) if wide else size
            self._score_rest(others, _shares(head, count, step, smallest, threads), size, wide=wide)
        if stepped:
            block = self._stepped_block(count - head)
            self._score_rest(stepped, _shares(head, count, block, smallest, threads), block, wide=False)
        return self._results, self._invalid

    def _stepped_block(self, count: int) -> int:
        """The matrices of a block for eigenvalues: of equal blocks, because each takes as many calls."""
        size, dtype = self._sizes.block, self._sizes.dtype
        n = self._stack.shape[-1]
        most: int = max(size, min(STEPPED_LANE_BYTES, STEPPED_BYTES // (n * n)) // dtype.itemsize)
        return math.ceil(count / math.ceil(count / most))

    def _score_head(self, head: int) -> bool:
        """Score the first matrices, make room for all results; whether the functions need no cells."""
        n, dtype = self._stack.shape[-1], self._sizes.dtype
        noted = list(map(self._whole.noting, range(len(self._functions)), self._functions))
        with np.errstate(all="ignore"):
            scratch = _Scratch(self._sizes.block * n * n, self._look, dtype)
            table = self._sweep(0, head, scratch)
            values = self._score(noted, 0, head, scratch) if table is None else [function(table) for function in noted]
            self._results = [_room(value, len(self._stack), dtype) for value in values]
            for result, value in zip(self._results, values, strict=True):
                result[:head] = value.T
        return table is not None and not table.cells_were_read

    def _score_rest(
        self, chosen: Sequence[int], shares: list[list[tuple[int, int]]], block: int, *, wide: bool
    ) -> None:
        """Score some functions, of each thread's share; ``wide`` ones are of sums alone, or else cut into blocks."""
        functions, rooms = [self._functions[k] for k in chosen], [self._results[k] for k in chosen]
        n, dtype = self._stack.shape[-1], self._sizes.dtype

        def write(start: int, stop: int, values: Sequence[Array]) -> None:
            for room, value in zip(rooms, values, strict=True):
                room[start:stop] = value.T

        def write_share(share: Sequence[tuple[int, int]]) -> None:
            scratch = _Scratch(max(block * n * n, self._part if wide else 0), self._look, dtype)
            with np.errstate(all="ignore"):  # which belongs to the thread
                for start, stop in share:
                    table = self._sweep(start, stop, scratch) if wide else None
                    if table is not None:
                        write(start, stop, [function(table) for function in functions])
                        continue
                    for first, last in _slices(start, stop, block):
                        write(first, last, self._score(functions, first, last, scratch))

        in_threads(write_share, shares)

    def _score(self, functions: Sequence[TableFunction], start: int, stop: int, scratch: _Scratch) -> list[Array]:
        values, valid = _score_block(self._stack[start:stop], functions, self._zero_division, scratch, self._whole)
        if valid is not None:
            self._invalid.append(start + np.flatnonzero(~valid))
        return values

    def _sweep(self, start: int, stop: int, scratch: _Scratch) -> Swept | None:
        integers = NUMPY.is_integer(self._stack)
        options: dict[str, Any] = {"part": self._part, "integers": integers}
        return _sweep(self._stack[start:stop], scratch, self._zero_division, self._whole, **options)


def _room(value: Array, count: int, dtype: Any) -> Array:
    """Arrays for the results of all matrices, shaped like the first results, ``[class, matrix]`` or ``[matrix]``."""
    return np.empty((count, *value.shape[:-1]), dtype)


def _shares(start: int, stop: int, step: int, smallest: int, threads: int) -> list[list[tuple[int, int]]]:
    """The blocks of each thread: equal numbers, unless blocks would become too small."""
    if threads > 1:
        blocks = threads * math.ceil((stop - start) / (threads * step))
        step = max(smallest, math.ceil((stop - start) / blocks))
    slices = _slices(start, stop, step)
    return [slices[k::threads] for k in range(min(threads, len(slices)))]


def number_of_threads(workers: int) -> int:
    """The threads that ``workers=`` asks for."""
    return (os.cpu_count() or 1) if workers == -1 else workers


def in_threads(work: Callable[[Sequence[Any]], None], shares: Sequence[Sequence[Any]]) -> None:
    """Process each share in its own thread, the first one in this thread.

    If this one slept instead, the system might well put two of the others on one core, and leave them there. Where no
    thread can be started, it does them all.
    """
    mine, *others = shares
    if not others:
        work(mine)
        return
    try:
        # Not at the top: it brings all of ``logging``. Both this and a thread fail while the interpreter shuts down, as
        # in a handler of atexit.
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(len(others))
        theirs = [pool.submit(work, others[0])]
    except RuntimeError:
        for share in shares:
            work(share)
        return
    with pool:
        theirs += [pool.submit(work, share) for share in others[1:]]
        work(mine)
        for future in theirs:
            future.result()


def _slices(start: int, stop: int, step: int) -> list[tuple[int, int]]:
    """Slices of at most ``step``, none of a single matrix if there are more: its sums would run in another order."""
    edges = [*range(start, stop, step), stop]
    if len(edges) > 2 and edges[-1] - edges[-2] == 1:
        edges[-2] -= 1
    return list(itertools.pairwise(edges))


class _Scratch:
    """Memory that a thread reuses for every block, because fresh pages cost more than the computation."""

    def __init__(self, size: int, look: int, dtype: Any) -> None:
        self.cells = np.empty(size, dtype)
        self._look = max(1, min(size, look))
        self._rounded: Array | None = None
        self._equal: Array | None = None

    def copy(self, x: Array) -> Array:
        """The same numbers, contiguous and floating."""
        cells = self.cells[: x.size].reshape(x.shape)
        np.copyto(cells, x, casting="unsafe")
        return cells

    def floats(self, x: Array) -> Array:
        """The same numbers in the dtype in which they are scored: ``x`` itself if it has it."""
        return x if x.dtype == self.cells.dtype else self.copy(x)

    def all_integers(self, cells: Array) -> bool:
        """Whether all cells are integer-valued."""
        if self._rounded is None or self._equal is None:  # integers never need it
            self._rounded, self._equal = np.empty(self._look, cells.dtype), np.empty(self._look, np.bool_)
        # In the order of their memory, whichever of the two it is.
        flat = (cells if cells.flags.c_contiguous else cells.transpose(2, 0, 1)).reshape(-1)
        for start in range(0, flat.size, self._look):
            some = flat[start : start + self._look]
            rounded, equal = self._rounded[: some.size], self._equal[: some.size]
            if not np.equal(some, np.rint(some, out=rounded), out=equal).all():
                return False
        return True


def keep_freed_memory() -> None:
    """Make glibc keep freed memory; otherwise fresh pages for intermediate results take up to half of the time.

    It gives back freed memory from twice the size of the largest piece on that it has seen freed: one is shown to it.
    """
    np.empty(KEPT_BYTES, np.uint8)


def _class_first(block: Array, scratch: _Scratch) -> Array:
    """A block as ``[true, pred, matrix]`` floats: copied in that order, or a view where rows are long."""
    first = block.transpose(1, 2, 0)
    if len(first) < MIN_CLASSES_IN_PLACE:
        return scratch.copy(first)
    return scratch.floats(block).transpose(1, 2, 0)


def _look(
    cells: Array, zero_division: float, whole: WholeStack, all_integers: Callable[[], bool]
) -> tuple[Table, Array | None]:
    """The table of a block after one check, and which of its matrices are valid if not all are."""
    looked = Looked(cells, zero_division, whole, all_integers)
    least = np.minimum.reduce(cells, axis=None, initial=0)
    if least >= 0 and math.isfinite(looked.largest):  # NaN fails every comparison
        return looked, None
    valid = looked.valid
    cells = cells.copy(order="K")  # in the same order, so that sums round alike
    cells[..., ~valid] = 0
    return HostTable(cells, stack=whole, zero_division=zero_division), valid


# Sums alone ---------------------------------------------------------------------------------------------------------


def _factors(n: int, dtype: Any) -> Array:
    """The factors of the flat cells of a matrix that give its row sums, column sums and diagonal."""
    one = np.eye(n, dtype=dtype)
    row, column = np.repeat(one, n, axis=1), np.tile(one, n)
    return np.concatenate([row, column, row * column])


def _sweep(
    block: Array, scratch: _Scratch, zero_division: float, whole: WholeStack, *, part: int, integers: bool
) -> Swept | None:
    """The table of a block from one sweep over its cells, in parts; None if the block needs a full check."""
    count, n, _ = block.shape
    dtype = scratch.cells.dtype
    few = n < MIN_CLASSES_OF_PRODUCTS
    sums = np.empty((3, n, count), dtype)
    factors = _factors(n, dtype) if few else np.ones(n, dtype)
    step = max(1, min(part, scratch.cells.size) // (n * n))
    sums_of_part = np.empty((2, 0 if few else min(step, count), n), dtype)
    for start in range(0, count, step):
        cells = scratch.floats(block[start : start + step])
        # The minimum first: of all that is done here it brings cells from memory the fastest.
        if not np.minimum.reduce(cells, axis=None) >= 0 or not (integers or scratch.all_integers(cells)):
            return None
        here = slice(start, start + len(cells))
        # Products with ones and zeros are the fastest sums; those of integers are the same in any order.
        if few:
            flat, out = cells.reshape(-1, n * n).T, sums.reshape(3 * n, count)[:, here]
            for first, last in _slices(0, len(cells), MAX_PRODUCT // factors.size):
                np.matmul(factors, flat[:, first:last], out=out[:, first:last])
        else:
            true, pred = found = sums_of_part[:, : len(cells)]
            np.matmul(cells.reshape(-1, n), factors, out=true.reshape(-1))  # one product, not one a matrix
            np.matmul(factors, cells, out=pred)
            np.copyto(sums[:2, :, here], found.transpose(0, 2, 1))
            np.copyto(sums[2, :, here], np.einsum("bii->ib", cells))
    total = np.add.reduce(sums[0], axis=0)
    largest = float(total.max())
    if not largest < rounds_from(dtype):
        return None
    return Swept(
        block,
        sums,
        total,
        in_place=n >= MIN_CLASSES_IN_PLACE,
        exact_products=holds_products(np.float64, largest),
        product_dtype=product_dtype_of(dtype, largest),
        stack=whole,
        zero_division=zero_division,
    )
