"""Execution on the host: NumPy stacks in blocks that fit into a cache, with a check of each, optionally in threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, is_compiling
from matrics._engine.eigenvalues.host import block_of
from matrics._engine.execution.host import CheckedTable, HostTable, TableFunction, WholeStack
from matrics._engine.execution.scratch import Scratch, keep_freed_memory
from matrics._engine.execution.sums import MANY_CLASSES, summed, summed_matrix
from matrics._engine.execution.sweep import MIN_CLASSES_IN_PLACE, NotIntegersError, slices, sweep
from matrics._engine.table import Table
from matrics._progress import CountedLoop, counted_loop

# The cells of a block, and its about twenty margins ([class, matrix]), fit approximately into the second-level cache of
# a core. Both sizes were nearly optimal for every n on the measured machines. For the whole catalogue a thread needs
# about thirty times the memory of the cells of a block.
CELLS_BYTES = 1024 * 1024
MARGIN_BYTES = 512 * 1024
# Margins and cells share the cache: with two or three classes, whose margins are large, fewer matrices fit.
FEWER_WITH_CELLS = 2
# For row sums, column sums and the diagonal, cells are read in parts: smaller parts need more calls.
SWEEP_BYTES = 2 * 1024 * 1024
# The check for integer-valued cells needs as much memory as the cells, so it is done in parts.
CHECK_BYTES = 256 * 1024
# In threads blocks, margins and parts are larger: after each call into NumPy a thread waits for Python's lock, which
# takes as long as a short call.
LARGER_IN_THREADS = 2
# The number of matrices that are scored before threads start.
HEAD_OF_THREADS = 8
# With fewer matrices in a block the overhead of calls dominates, unless the matrices are large.
MIN_BLOCK = 64
MIN_BLOCK_BYTES = 4 * 1024 * 1024
_NONE = np.empty(0, np.intp)


def score_blocks(
    cm: Array, functions: Sequence[TableFunction], zero_division: float, workers: int
) -> tuple[list[Array], Array]:
    """The results of all functions, with NaN for invalid matrices, and the positions of invalid matrices."""
    n = cm.shape[-1]
    dtype = NUMPY.float_dtype(cm)
    if cm.ndim == 2 and n < MIN_CLASSES_IN_PLACE:
        return _score_matrix(cm, functions, zero_division, dtype)
    stack = cm.reshape(-1, n, n) if cm.size else np.zeros((0, n, n), cm.dtype)
    threads = number_of_threads(workers)
    larger = LARGER_IN_THREADS if threads > 1 else 1
    margin = larger * MARGIN_BYTES // (n * dtype.itemsize)
    smallest = max(3, min(MIN_BLOCK, MIN_BLOCK_BYTES // (n * n * dtype.itemsize)))
    largest = max(smallest, min(larger * CELLS_BYTES // (n * n * dtype.itemsize), margin))
    if len(stack) <= largest:  # two blocks would have more overhead
        results, invalid_positions = _score_single_block(stack, functions, zero_division, dtype)
    else:
        size = max(smallest, min(largest, margin // FEWER_WITH_CELLS))
        sizes = _Sizes(size, smallest, margin, threads, larger * CHECK_BYTES // dtype.itemsize, dtype)
        results, invalid_positions = _ManyBlocks(stack, functions, zero_division, sizes).scored()
    # [()] makes the result of a single matrix a NumPy scalar, as in NumPy's reductions.
    results = [result.reshape(cm.shape[:-2] + result.shape[1:])[()] for result in results]
    return results, np.unique(np.concatenate(invalid_positions)) if invalid_positions else _NONE


@np.errstate(all="ignore")
def _score_matrix(
    matrix: Array, functions: Sequence[TableFunction], zero_division: float, dtype: Any
) -> tuple[list[Array], Array]:
    """The results for a single matrix: its totals are NumPy scalars, whose operations take a tenth of the time."""
    cells = matrix.astype(dtype, order="C")
    integers = NUMPY.is_integer(matrix) or np.count_nonzero(cells == np.rint(cells)) == cells.size
    table: Table | None = summed_matrix(cells, zero_division) if integers and dtype == np.float64 else None
    valid = None
    if table is None:
        table, valid = _checked_table(cells, zero_division, WholeStack(1), lambda: integers)
    values = [function(table) for function in functions]
    if valid is not None:
        values = [np.full_like(value, np.nan) for value in values]
    # Copies, as two results may be the same array.
    results = [np.array(value, dtype) if value.ndim else dtype.type(value) for value in values]
    return results, _NONE if valid is None else np.zeros(1, np.intp)


def _score_single_block(
    stack: Array, functions: Sequence[TableFunction], zero_division: float, dtype: Any
) -> tuple[list[Array], list[Array]]:
    """The results for a single block, without the overhead for many blocks."""
    if stack.shape[-1] >= MANY_CLASSES:
        keep_freed_memory()
    with np.errstate(all="ignore"):
        table = summed(stack, zero_division, dtype)
        if table is None:
            scratch = Scratch(stack.size, CHECK_BYTES // dtype.itemsize, dtype)
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
    scratch: Scratch,
    whole: WholeStack,
) -> tuple[list[Array], Array | None]:
    """The values of all functions, ``[matrix]`` or ``[class, matrix]``; a mask of valid matrices, None if all are."""
    cells = _class_first(block, scratch)
    integers = NUMPY.is_integer(block)
    table, valid = _checked_table(cells, zero_division, whole, lambda: integers or scratch.all_integers(cells))
    values = [function(table) for function in functions]
    return values if valid is None else [np.where(valid, value, np.nan) for value in values], valid


class _Sizes(NamedTuple):
    """The numbers of matrices in a block: by default, at least, of margins alone; threads, cells of a check, dtype."""

    block: int
    smallest: int
    margin: int
    threads: int
    check_part: int
    dtype: Any


class _ManyBlocks:
    """The scores of a stack of many blocks, of which the first determines the execution of the others.

    Parameters
    ----------
    stack
        The matrices ``[matrix, true, pred]``.
    functions
        The functions to compute.
    zero_division
        The value of undefined measures (0/0).
    sizes
        The sizes of blocks.
    """

    def __init__(self, stack: Array, functions: Sequence[TableFunction], zero_division: float, sizes: _Sizes) -> None:
        self._stack = stack
        self._functions = functions
        self._zero_division = zero_division
        self._sizes = sizes
        self._part = SWEEP_BYTES // sizes.dtype.itemsize
        self._check_part = sizes.check_part
        self._whole = WholeStack(len(stack))
        self._checks_integers = False  # whether formulas need the check that all cells are integers
        self._invalid: list[Array] = []  # positions of invalid matrices
        self._results: list[Array] = []

    def scored(self) -> tuple[list[Array], list[Array]]:
        """The results of all functions, and the positions of invalid matrices, with repetitions."""
        size, smallest, margin, threads, *_ = self._sizes
        count = len(self._stack)
        head = min(size, HEAD_OF_THREADS) if threads > 1 else size
        head -= count - head == 1  # no block with a single matrix, as in slices
        wide = self._score_head(head)
        keep_freed_memory()
        stepped = self._whole.stepped
        others = [k for k in range(len(self._functions)) if k not in stepped]
        if others or not stepped:  # without functions, the check for invalid matrices is still needed
            step = max(size, margin) if wide else size
            self._score_rest(others, _shares(head, count, step, smallest, threads), size, wide=wide)
        if stepped:
            block = self._stepped_block(count - head)
            self._score_rest(stepped, _shares(head, count, block, smallest, threads), block, wide=False)
        return self._results, self._invalid

    def _stepped_block(self, count: int) -> int:
        """The number of matrices in a block for eigenvalues."""
        return block_of(count, self._sizes.block, self._sizes.dtype, self._stack.shape[-1])

    def _score_head(self, head: int) -> bool:
        """Score the first matrices, allocate all results, and return whether the functions need no cells."""
        n, dtype = self._stack.shape[-1], self._sizes.dtype
        recorded = list(map(self._whole.recording, range(len(self._functions)), self._functions))
        with np.errstate(all="ignore"):
            scratch = Scratch(self._sizes.block * n * n, self._check_part, dtype)
            values, wide = self._sweep(recorded, 0, head, scratch)
            if values is None:
                values = self._score(recorded, 0, head, scratch)
            self._results = [_room(value, len(self._stack), dtype) for value in values]
            for result, value in zip(self._results, values, strict=True):
                result[:head] = value.T
        return wide

    def _score_rest(
        self, chosen: Sequence[int], shares: list[list[tuple[int, int]]], block: int, *, wide: bool
    ) -> None:
        """Compute some functions in threads; ``wide`` functions need sums alone, others are computed in blocks."""
        functions, rooms = [self._functions[k] for k in chosen], [self._results[k] for k in chosen]
        n, dtype = self._stack.shape[-1], self._sizes.dtype

        def write(start: int, stop: int, values: Sequence[Array]) -> None:
            for room, value in zip(rooms, values, strict=True):
                room[start:stop] = value.T

        def write_share(share: Iterable[tuple[int, int]]) -> None:
            scratch = Scratch(max(block * n * n, self._part if wide else 0), self._check_part, dtype)
            with np.errstate(all="ignore"):  # the setting belongs to the thread
                for start, stop in share:
                    values = self._sweep(functions, start, stop, scratch)[0] if wide else None
                    if values is not None:
                        write(start, stop, values)
                        continue
                    for first, last in slices(start, stop, block):
                        write(first, last, self._score(functions, first, last, scratch))

        in_threads(write_share, shares)

    def _score(self, functions: Sequence[TableFunction], start: int, stop: int, scratch: Scratch) -> list[Array]:
        values, valid = _score_block(self._stack[start:stop], functions, self._zero_division, scratch, self._whole)
        if valid is not None:
            self._invalid.append(start + np.flatnonzero(~valid))
        return values

    def _sweep(
        self, functions: Sequence[TableFunction], start: int, stop: int, scratch: Scratch
    ) -> tuple[list[Array] | None, bool]:
        """The values from sums alone, None if a full check is needed; and whether the functions read no cells."""
        options: dict[str, Any] = {"part": self._part, "checks_integers": self._checks_integers}
        table = sweep(self._stack[start:stop], scratch, self._zero_division, self._whole, **options)
        if table is None:
            return None, False
        try:
            values = [function(table) for function in functions]
        except NotIntegersError:
            return None, False
        finally:
            self._checks_integers |= table.needed_integers
        return values, not table.has_read_cells


def _room(value: Array, count: int, dtype: Any) -> Array:
    """The array for the results of all matrices, for first results ``[class, matrix]`` or ``[matrix]``."""
    return np.empty((count, *value.shape[:-1]), dtype)


def _shares(start: int, stop: int, step: int, smallest: int, threads: int) -> list[list[tuple[int, int]]]:
    """The blocks of each thread, in equal numbers unless blocks would become too small."""
    if threads > 1:
        number = threads * math.ceil((stop - start) / (threads * step))
        step = max(smallest, math.ceil((stop - start) / number))
    blocks = slices(start, stop, step)
    return [blocks[k::threads] for k in range(min(threads, len(blocks)))]


def number_of_threads(workers: int) -> int:
    """The number of threads for ``workers=``."""
    return (os.cpu_count() or 1) if workers == -1 else workers


def in_threads(work: Callable[[Iterable[Any]], None], shares: Sequence[Sequence[Any]]) -> None:
    """Process each share in a thread, the first share in the calling thread.

    If the calling thread slept, the system might run two other threads on the same core. If no thread can be started,
    the calling thread processes all shares. After an error or Ctrl-C in the calling thread, the other threads finish
    their current part, and start no other part. The parts are counted as the steps of a loop.
    """
    if is_compiling():  # a graph has neither threads nor a progress
        for share in shares:
            work(share)
        return
    with counted_loop(sum(map(len, shares))) as loop:
        _in_threads(work, shares, loop)


def _in_threads(work: Callable[[Iterable[Any]], None], shares: Sequence[Sequence[Any]], loop: CountedLoop) -> None:
    has_failed = False

    def until_failure(share: Sequence[Any]) -> Iterator[Any]:
        for part in share:
            if has_failed:
                return
            yield part
            loop.advance()

    mine, *others = shares
    if not others:
        work(until_failure(mine))
        return
    try:
        # Imported here, as it imports ``logging``. The import and threads fail while the interpreter shuts down, as in
        # a handler of atexit.
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(len(others))
        theirs = [pool.submit(work, until_failure(others[0]))]
    except RuntimeError:
        for share in shares:
            work(until_failure(share))
        return
    with pool:
        try:
            theirs += [pool.submit(work, until_failure(share)) for share in others[1:]]
            work(until_failure(mine))
            for future in theirs:
                future.result()
        except BaseException:
            has_failed = True
            raise


def _class_first(block: Array, scratch: Scratch) -> Array:
    """A block as floats ``[true, pred, matrix]``: a copy in this order, or a view if rows are long."""
    first = block.transpose(1, 2, 0)
    if len(first) < MIN_CLASSES_IN_PLACE:
        return scratch.copy(first)
    return scratch.floats(block).transpose(1, 2, 0)


def _checked_table(
    cells: Array, zero_division: float, whole: WholeStack, all_integers: Callable[[], bool]
) -> tuple[Table, Array | None]:
    """The table of a block after a check, and a mask of valid matrices, None if all are."""
    table = CheckedTable(cells, zero_division, whole, all_integers)
    least = np.minimum.reduce(cells, axis=None, initial=0)
    if least >= 0 and math.isfinite(table.largest):  # comparisons are False for NaN
        return table, None
    valid = table.valid
    cells = np.where(valid, cells, 0)  # in the same order, so that sums are rounded in the same way
    return HostTable(cells, stack=whole, zero_division=zero_division), valid
