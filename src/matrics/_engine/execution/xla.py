"""The tables for XLA's compiler on the CPU: cells keep their order, and short sums are explicit additions.

Transposed stacks are several times slower, so only the margins are class-first. For many classes, compiled code
inspects the cells at run time. It does not for a single matrix, because functions under ``vmap`` would compute both
branches for every matrix. Stacks are scored in blocks, as XLA writes dozens of intermediate results into memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from matrics._arrays import Array, Standard
from matrics._arrays.jax_matrices import spread_as
from matrics._engine.eigenvalues import xla as stepped
from matrics._engine.execution.fewer_passes import FromErrors, NeedsWholeStack, OnePass, WrittenOut
from matrics._engine.margins import MAX_WRITTEN_OUT_REST, margin
from matrics._engine.safety import add
from matrics._engine.table import Table

Counts = Callable[[Array], tuple[Array, ...]]

# A reduction along a short axis takes up to ten times as long as explicit additions, and prevents fusion.
MAX_WRITTEN_OUT_CLASSES = 8  # for sums over both axes
MAX_TERMS = 16  # for sums over a single axis
# From this number of classes on, differences save more time than the inspection of the cells takes.
MIN_INSPECTED = 5
# The cells of a block and the results that are computed from them stay in the second-level cache. Smaller blocks take
# longer to start than to score.
BLOCK_BYTES, LEAST_IN_A_BLOCK, MOST_IN_A_BLOCK = 5 * 2**19, 64, 2000
# The bytes of the cells, or of their row sums, from which a stack is scored in blocks. The third-level cache holds
# smaller stacks with their intermediate results, and blocks then take longer.
LARGE_STACK, LARGE_SUMS = 2**24, 2**21


def table(cells: Array, backend: Standard, *, class_first: bool = False, looks: bool = True, **options: Any) -> Table:
    """The table for cells with this number of classes."""
    n = cells.shape[0 if class_first else -1]
    if looks and n >= MIN_INSPECTED and cells.ndim > 2 and not class_first and 0 not in cells.shape:
        return CheckedAtRunTime(cells, backend, **options)
    kind = FewClasses if 1 < n <= MAX_WRITTEN_OUT_CLASSES else XlaTable
    return kind(cells, backend, class_first=class_first, **options)


def number_of_blocks(cm: Array) -> int:
    """The number of blocks in which a stack is scored; 0 for a small stack, and for several devices.

    There the compiler would move blocks between devices that have parts of the stack. A stack whose type has a sharding
    may not be divided into blocks at all.
    """
    *batch, n, _ = cm.shape
    is_plain = jax.device_count() == 1 and "out_sharding" not in spread_as(cm)
    if not is_plain or not all(isinstance(length, int) for length in batch):
        return 0
    is_float = jnp.issubdtype(cm.dtype, jnp.floating)
    count, sums = math.prod(batch), n * (cm if is_float else jnp.zeros(())).dtype.itemsize
    number = math.ceil(count / min(max(BLOCK_BYTES // (sums * n), LEAST_IN_A_BLOCK), MOST_IN_A_BLOCK))
    return number if number > 1 and (count * sums >= LARGE_SUMS or count * sums * n >= LARGE_STACK) else 0


def in_blocks(score: Callable[[Array], dict[int, Array]], cm: Array, number: int) -> dict[int, Array]:
    """The results (*B) or (*B, n) of a stack (*B, n, n), by a function of blocks (k, n, n)."""
    *batch, n, _ = cm.shape
    count = math.prod(batch)
    # Blocks of the same size, if there is any near the best: otherwise the stack is copied once.
    number = next((k for k in range(number, number * 2) if count % k == 0), number)
    size = math.ceil(count / number)
    stack = jnp.reshape(cm, (count, n, n))
    if size * number > count:
        stack = jnp.pad(stack, ((0, size * number - count), (0, 0), (0, 0)))
    results = lax.map(score, jnp.reshape(stack, (number, size, n, n)))
    return {
        key: jnp.reshape(jnp.reshape(x, (-1, *x.shape[2:]))[:count], (*batch, *x.shape[2:]))
        for key, x in results.items()
    }


class XlaTable(FromErrors):
    """A table whose short sums are explicit additions.

    Parameters
    ----------
    is_block
        Whether the cells are a block of the stack: functions that compute eigenvalues then raise ``NeedsWholeStack``.
    """

    def __init__(self, *arguments: Any, is_block: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.is_block = is_block

    @property
    def max_written_out_rest(self) -> int:  # type: ignore[override]
        """The limit, larger for a stack: under ``vmap(grad)`` sums of many classes are computed again for each cell."""
        return MAX_TERMS if self.batch_ndim else MAX_WRITTEN_OUT_REST

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """The table for other cells."""
        options: dict[str, Any] = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        options["is_block"] = self.is_block
        return table(cells, self.backend, class_first=class_first, **options)

    def eigenvalues(self, x: Array) -> Array:
        """See ``Table``."""
        if self.is_block:
            raise NeedsWholeStack
        return self.lead(stepped.eigenvalues(self.as_matrices(x)))

    def _sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        axes = axis if isinstance(axis, tuple) else (axis,)
        most = MAX_TERMS if len(axes) == 1 else MAX_WRITTEN_OUT_CLASSES**2
        if not 0 < math.prod(x.shape[a] for a in axes) <= most:
            return super()._sum(x, axis)
        for a in sorted((a % x.ndim for a in axes), reverse=True):
            x = add(self.xp.unstack(x, axis=a))
        return x


class FewClasses(WrittenOut, XlaTable):
    """A table for few classes, whose sums are explicit additions."""


class CheckedAtRunTime(OnePass, XlaTable):
    """A table whose compiled code checks the cells at run time, and uses differences if they are exact.

    Arrays are written to memory at the branch. Before and after the branch, classes are the first axis: XLA would read
    transposed arrays repeatedly. With derivatives there is no check.
    """

    @margin
    def tn(self) -> Array:
        """True negatives."""
        return self._counted[3]

    @margin
    def valid(self) -> Array:
        """Whether all cells and their sum are finite and not negative."""
        return self._counted[4]

    @margin
    def _counted(self) -> Sequence[Array]:
        """The counts tp, fn, fp and tn, and valid, by differences or by sums."""
        return _unless_differentiated(self._checked, self._added_up)(self.cells)

    def _added_up(self, cells: Array) -> tuple[Array, ...]:
        added = table(cells, self.backend, looks=False)
        return added.tp, added.fn, added.fp, added.tn, added.valid

    def _checked(self, cells: Array) -> tuple[Array, ...]:
        """The counts by differences if these are exact, otherwise by sums.

        A single fast pass makes column sums that are NaN if a cell is negative or not an integer, or if the sum is
        large. These sums are checked in place of the cells.
        """
        xp, n = self.xp, self.n
        rows = [cells[..., i, :] for i in range(n)]
        pred = add([xp.where(row == xp.floor(xp.abs(row)), row, math.nan) for row in rows])
        limit = 2 ** (xp.finfo(cells.dtype).bits * 3 // 4)
        # Without an operation between the two sums XLA merges them, and writes each row to memory first.
        pred = xp.where(pred < limit, pred, math.nan)
        total = xp.sum(pred, axis=-1)
        is_exact = xp.all(total < limit)  # False for NaN, which a maximum may ignore
        true = self.sum(cells, axis=-1)
        tp = xp.reshape(cells, (*cells.shape[:-2], n * n))[..., :: n + 1]  # a slice is faster than a gather

        def differences(true: Array, pred: Array, tp: Array, total: Array, _: Array) -> tuple[Array, ...]:
            fn, fp = true - tp, pred - tp
            return tp, fn, fp, (total[None, ...] - true) - fp, xp.ones_like(total, dtype=xp.bool)

        def sums(*arrays: Array) -> tuple[Array, ...]:
            materialized: Any = lax.optimization_barrier  # prevents recomputation for each use of a part
            *counts, valid = self._added_up(arrays[-1])
            return *xp.unstack(materialized(xp.stack(counts))), valid

        counts_and_valid: tuple[Array, ...] = lax.cond(
            is_exact, differences, sums, self.lead(true), self.lead(pred), self.lead(tp), total, cells
        )
        return counts_and_valid


def _unless_differentiated(checked: Counts, added_up: Counts) -> Counts:
    """A function that checks the cells, except if it is differentiated: then it uses sums.

    JAX would differentiate both branches, store the intermediate results of both, and branch again in the backward
    pass.
    """
    function: Any = jax.custom_jvp(checked)

    function.defjvp(lambda cells, moved: jax.jvp(added_up, cells, moved))
    return function  # type: ignore[no-any-return]
