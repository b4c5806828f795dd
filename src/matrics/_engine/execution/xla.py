"""XLA's tables, for its compiler on the CPU: cells stay as they were given, short sums are written out.

A transposed stack slows it down several times, so that only the margins are class-first. Of many classes compiled code
looks at the cells as it runs; but not of one matrix, as functions under ``vmap`` have it, which would compute both
branches for every matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from matrics._arrays import Array, Standard
from matrics._engine.eigenvalues import xla as stepped
from matrics._engine.execution.fewer_passes import OnePass, WrittenOut
from matrics._engine.margins import MAX_WRITTEN_OUT_REST, margin
from matrics._engine.safety import add
from matrics._engine.table import Table

Counts = Callable[[Array], tuple[Array, ...]]

# A reduction along so short an axis costs up to ten times as much as its additions, and nothing is fused across it.
MAX_WRITTEN_OUT_CLASSES = 8  # of a sum over both axes
MAX_TERMS = 16  # of a sum over one axis
# From here on it pays to look at the cells: the sums that differences replace are longer.
MIN_LOOKED_AT = 5


def table(cells: Array, backend: Standard, *, class_first: bool = False, looks: bool = True, **options: Any) -> Table:
    """The table for cells of this size."""
    n = cells.shape[0 if class_first else -1]
    if looks and n >= MIN_LOOKED_AT and cells.ndim > 2 and not class_first and 0 not in cells.shape:
        return LookedAtInside(cells, backend, **options)
    kind = FewClasses if 1 < n <= MAX_WRITTEN_OUT_CLASSES else XlaTable
    return kind(cells, backend, class_first=class_first, **options)


class XlaTable(Table):
    """A table whose short sums are additions."""

    @property
    def max_written_out_rest(self) -> int:  # type: ignore[override]
        """More of a stack: under ``vmap(grad)`` sums of many classes are computed again for each cell."""
        return MAX_TERMS if self.batch_ndim else MAX_WRITTEN_OUT_REST

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """The table for cells of that size."""
        options: dict[str, Any] = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        return table(cells, self.backend, class_first=class_first, **options)

    def eigenvalues(self, x: Array) -> Array:
        """See ``Table``."""
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
    """Of few classes all sums are additions."""


class LookedAtInside(OnePass, XlaTable):
    """Compiled code checks the cells at run time, and uses differences if they are exact.

    The branch is where arrays are put into memory, and before and behind it classes come first: in a transposed order
    XLA would read them again and again. Where something differentiates, nobody looks.
    """

    @margin
    def tn(self) -> Array:
        """True negatives."""
        return self._counted[3]

    @margin
    def valid(self) -> Array:
        """Whether every cell is finite and not negative, and their sum finite."""
        return self._counted[4]

    @margin
    def _counted(self) -> Sequence[Array]:
        """Values tp, fn, fp, tn and valid, by differences or by sums."""
        return _unless_differentiated(self._by_looking, self._added_up)(self.cells)

    def _added_up(self, cells: Array) -> tuple[Array, ...]:
        added = table(cells, self.backend, looks=False)
        return added.tp, added.fn, added.fp, added.tn, added.valid

    def _by_looking(self, cells: Array) -> tuple[Array, ...]:
        """By differences if nothing in the cells speaks against it.

        Column sums that are NaN where a cell is not an integer, or is negative, or the sum is large, are one fast pass,
        and looked at in place of the cells.
        """
        xp, n = self.xp, self.n
        rows = [cells[..., i, :] for i in range(n)]
        pred = add([xp.where(row == xp.floor(xp.abs(row)), row, math.nan) for row in rows])
        limit = 2 ** (xp.finfo(cells.dtype).bits * 3 // 4)
        # Without an operation between the two sums XLA makes one of them, and writes each row into memory before it.
        pred = xp.where(pred < limit, pred, math.nan)
        total = xp.sum(pred, axis=-1)
        seen = xp.all(total < limit)  # NaN is not; a maximum may pass it over
        true = self.sum(cells, axis=-1)
        tp = xp.reshape(cells, (*cells.shape[:-2], n * n))[..., :: n + 1]  # as a slice, not gathered

        def differences(true: Array, pred: Array, tp: Array, total: Array, _: Array) -> tuple[Array, ...]:
            fn, fp = true - tp, pred - tp
            return tp, fn, fp, (total[None, ...] - true) - fp, xp.ones_like(total, dtype=xp.bool)

        def sums(*arrays: Array) -> tuple[Array, ...]:
            written_down: Any = lax.optimization_barrier  # not computed again by all that reads a part of it
            *counts, valid = self._added_up(arrays[-1])
            return *xp.unstack(written_down(xp.stack(counts))), valid

        found: tuple[Array, ...] = lax.cond(
            seen, differences, sums, self.lead(true), self.lead(pred), self.lead(tp), total, cells
        )
        return found


def _unless_differentiated(looking: Counts, added_up: Counts) -> Counts:
    """The counts of cells by looking; and added up where something differentiates them, as soft cells always are.

    JAX would differentiate both branches, keep what both need for it, and choose again on the way back.
    """
    function: Any = jax.custom_jvp(looking)

    function.defjvp(lambda cells, moved: jax.jvp(added_up, cells, moved))
    return function  # type: ignore[no-any-return]
