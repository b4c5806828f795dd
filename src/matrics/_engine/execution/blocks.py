"""Execution on the host: NumPy's stacks in blocks that fit a cache, with one check of each, optionally in threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._engine.eigenvalues.host import block_of
from matrics._engine.execution.host import HostTable, Looked, TableFunction, WholeStack
from matrics._engine.execution.scratch import Scratch, keep_freed_memory
from matrics._engine.execution.sums import MANY_CLASSES, summed
from matrics._engine.execution.sweep import MIN_CLASSES_IN_PLACE, NotIntegersError, slices, sweep
from matrics._engine.table import Table

# A block's cells are to stay in or near a core's second cache, and so are its margins ([class, matrix]), of which there
# are some twenty. Both were the best or near it for every n on the machines tried. For the whole catalogue a thread
# holds some thirty times as much as the cells of a block.
CELLS_BYTES = 1024 * 1024
MARGIN_BYTES = 512 * 1024
# If only row sums, column sums and the diagonal are needed, cells are read in parts: smaller ones take more calls.
SWEEP_BYTES = 2 * 1024 * 1024
# The check for integer-valued cells needs as much memory again, so it is done in parts.
LOOK_BYTES = 256 * 1024
# In threads blocks, margins and looks are larger: a thread that returns from a call into NumPy waits for Python's
# lock, and to be woken then takes as long as a short call.
LARGER_IN_THREADS = 2
# The matrices that are scored before there are threads.
HEAD_OF_THREADS = 8
# Fewer matrices in a block, and the calls are what costs, not the memory; unless they are large.
MIN_BLOCK = 64
MIN_BLOCK_BYTES = 4 * 1024 * 1024
_NONE = np.empty(0, np.intp)


def score_blocks(
    cm: Array, functions: Sequence[TableFunction], zero_division: float, workers: int
) -> tuple[list[Array], Array]:
    """The results of all functions, and the positions of invalid matrices, which are NaN in them."""
    n = cm.shape[-1]
    dtype = np.dtype(NUMPY.float_dtype(cm))
    if cm.ndim == 2 and n < MIN_CLASSES_IN_PLACE:
        return _score_matrix(cm, functions, zero_division, dtype)
    stack = cm.reshape(-1, n, n) if cm.size else np.zeros((0, n, n), cm.dtype)
    threads = number_of_threads(workers)
    larger = LARGER_IN_THREADS if threads > 1 else 1
    margin = larger * MARGIN_BYTES // (n * dtype.itemsize)
    smallest = max(3, min(MIN_BLOCK, MIN_BLOCK_BYTES // (n * n * dtype.itemsize)))
    size = max(smallest, min(larger * CELLS_BYTES // (n * n * dtype.itemsize), margin))
    if len(stack) <= size:
        results, found = _score_one_block(stack, functions, zero_division, dtype)
    else:
        sizes = _Sizes(size, smallest, margin, threads, larger * LOOK_BYTES // dtype.itemsize, dtype)
        results, found = _ManyBlocks(stack, functions, zero_division, sizes).scored()
    # [()] makes the result of one matrix a NumPy scalar, as NumPy's own reductions do.
    results = [result.reshape(cm.shape[:-2] + result.shape[1:])[()] for result in results]
    return results, np.unique(np.concatenate(found)) if found else _NONE


def _score_matrix(
    matrix: Array, functions: Sequence[TableFunction], zero_division: float, dtype: Any
) -> tuple[list[Array], Array]:
    """Score a matrix that has no batch: its totals are NumPy's scalars, whose operations take a tenth of the time."""
    with np.errstate(all="ignore"):
        cells = matrix.astype(dtype, order="C")
        integers = NUMPY.is_integer(matrix)
        table, valid = _look(
            cells, zero_division, WholeStack(1), lambda: integers or bool((cells == np.rint(cells)).all())
        )
        values = [function(table) for function in functions]
    if valid is not None:
        values = [np.full_like(value, np.nan) for value in values]
    # Copies, as two results may be the same margin.
    results = [np.array(value, dtype) if value.ndim else dtype.type(value) for value in values]
    return results, _NONE if valid is None else np.zeros(1, np.intp)


def _score_one_block(
    stack: Array, functions: Sequence[TableFunction], zero_division: float, dtype: Any
) -> tuple[list[Array], list[Array]]:
    """Score a single block, as in a loop of small calls, without the overhead for many blocks."""
    if stack.shape[-1] >= MANY_CLASSES:
        keep_freed_memory()
    with np.errstate(all="ignore"):
        table = summed(stack, zero_division, dtype)
        if table is None:
            scratch = Scratch(stack.size, LOOK_BYTES // dtype.itemsize, dtype)
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
    """The values of all functions, ``[matrix]`` or ``[class, matrix]``; which matrices are valid, if not all are."""
    cells = _class_first(block, scratch)
    integers = NUMPY.is_integer(block)
    table, valid = _look(cells, zero_division, whole, lambda: integers or scratch.all_integers(cells))
    values = [function(table) for function in functions]
    return values if valid is None else [np.where(valid, value, np.nan) for value in values], valid


class _Sizes(NamedTuple):
    """How a stack is cut: matrices in a block, at least and of margins alone; threads, cells of a look, dtype."""

    block: int
    smallest: int
    margin: int
    threads: int
    look: int
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
        self._part = SWEEP_BYTES // sizes.dtype.itemsize
        self._look = sizes.look
        self._whole = WholeStack(len(stack))
        self._look_early = False  # as formulas ask if all cells are integers
        self._invalid: list[Array] = []  # positions
        self._results: list[Array] = []

    def scored(self) -> tuple[list[Array], list[Array]]:
        """The results of all functions, and the positions of invalid matrices, some of them several times."""
        size, smallest, margin, threads, *_ = self._sizes
        count = len(self._stack)
        head = min(size, HEAD_OF_THREADS) if threads > 1 else size
        head -= count - head == 1  # as in slices
        wide = self._score_head(head)
        keep_freed_memory()
        stepped = self._whole.stepped
        others = [k for k in range(len(self._functions)) if k not in stepped]
        if others or not stepped:  # without a function invalid matrices are still found
            step = max(size, margin) if wide else size
            self._score_rest(others, _shares(head, count, step, smallest, threads), size, wide=wide)
        if stepped:
            block = self._stepped_block(count - head)
            self._score_rest(stepped, _shares(head, count, block, smallest, threads), block, wide=False)
        return self._results, self._invalid

    def _stepped_block(self, count: int) -> int:
        """The matrices of a block for eigenvalues."""
        return block_of(count, self._sizes.block, self._sizes.dtype, self._stack.shape[-1])

    def _score_head(self, head: int) -> bool:
        """Score the first matrices, make room for all results; whether the functions need no cells."""
        n, dtype = self._stack.shape[-1], self._sizes.dtype
        noted = list(map(self._whole.noting, range(len(self._functions)), self._functions))
        with np.errstate(all="ignore"):
            scratch = Scratch(self._sizes.block * n * n, self._look, dtype)
            values, wide = self._sweep(noted, 0, head, scratch)
            if values is None:
                values = self._score(noted, 0, head, scratch)
            self._results = [_room(value, len(self._stack), dtype) for value in values]
            for result, value in zip(self._results, values, strict=True):
                result[:head] = value.T
        return wide

    def _score_rest(
        self, chosen: Sequence[int], shares: list[list[tuple[int, int]]], block: int, *, wide: bool
    ) -> None:
        """Score some functions, of each thread's share; ``wide`` ones are of sums alone, or else cut into blocks."""
        functions, rooms = [self._functions[k] for k in chosen], [self._results[k] for k in chosen]
        n, dtype = self._stack.shape[-1], self._sizes.dtype

        def write(start: int, stop: int, values: Sequence[Array]) -> None:
            for room, value in zip(rooms, values, strict=True):
                room[start:stop] = value.T

        def write_share(share: Iterable[tuple[int, int]]) -> None:
            scratch = Scratch(max(block * n * n, self._part if wide else 0), self._look, dtype)
            with np.errstate(all="ignore"):  # which belongs to the thread
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
        """The values from sums alone, None if a full check is needed; and whether the functions needed no cells."""
        options: dict[str, Any] = {"part": self._part, "look": self._look_early}
        table = sweep(self._stack[start:stop], scratch, self._zero_division, self._whole, **options)
        if table is None:
            return None, False
        try:
            values = [function(table) for function in functions]
        except NotIntegersError:
            return None, False
        finally:
            self._look_early |= table.was_asked
        return values, not table.cells_were_read


def _room(value: Array, count: int, dtype: Any) -> Array:
    """Arrays for the results of all matrices, shaped like the first results, ``[class, matrix]`` or ``[matrix]``."""
    return np.empty((count, *value.shape[:-1]), dtype)


def _shares(start: int, stop: int, step: int, smallest: int, threads: int) -> list[list[tuple[int, int]]]:
    """The blocks of each thread: equal numbers, unless blocks would become too small."""
    if threads > 1:
        number = threads * math.ceil((stop - start) / (threads * step))
        step = max(smallest, math.ceil((stop - start) / number))
    blocks = slices(start, stop, step)
    return [blocks[k::threads] for k in range(min(threads, len(blocks)))]


def number_of_threads(workers: int) -> int:
    """The threads that ``workers=`` asks for."""
    return (os.cpu_count() or 1) if workers == -1 else workers


def in_threads(work: Callable[[Iterable[Any]], None], shares: Sequence[Sequence[Any]]) -> None:
    """Process each share in its own thread, the first one in this thread.

    If this one slept instead, the system might well put two of the others on one core, and leave them there. Where no
    thread can be started, it does them all. After an error or Ctrl-C in this thread, the others end what they have
    begun, and begin nothing else.
    """
    has_failed = False

    def until_failure(share: Sequence[Any]) -> Iterator[Any]:
        for part in share:
            if has_failed:
                return
            yield part

    mine, *others = shares
    if not others:
        work(mine)
        return
    try:
        # Not at the top: it brings all of ``logging``. Both this and a thread fail while the interpreter shuts down, as
        # in a handler of atexit.
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(len(others))
        theirs = [pool.submit(work, until_failure(others[0]))]
    except RuntimeError:
        for share in shares:
            work(share)
        return
    with pool:
        try:
            theirs += [pool.submit(work, until_failure(share)) for share in others[1:]]
            work(mine)
            for future in theirs:
                future.result()
        except BaseException:
            has_failed = True
            raise


def _class_first(block: Array, scratch: Scratch) -> Array:
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
    cells = np.where(valid, cells, 0)  # in the same order, so that sums round alike
    return HostTable(cells, stack=whole, zero_division=zero_division), valid
