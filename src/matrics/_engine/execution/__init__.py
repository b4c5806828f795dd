"""Executions: subclasses of Table that compute the same margins faster, on the host or in compiled code.

The plain table works with any library. A subclass computes the same numbers faster, on the host or for a compiler on
the CPU. The functions here choose the subclass, except for stacks that the host scores in ``blocks``.
"""

from __future__ import annotations

from typing import Any

from matrics._arrays import NUMPY, Array, Standard
from matrics._engine.execution.host import HostTable, KnownTable
from matrics._engine.execution.inspected import InspectedTable
from matrics._engine.table import Table


def table_of(cells: Array, backend: Standard, **options: Any) -> Table:
    """The table of cells ``[*batch, true, pred]`` of a library other than NumPy, in the fastest subclass."""
    view = backend.viewer(cells)
    if view is not None:
        return InspectedTable(cells, backend, view, **options)
    compiler = backend.compiler(cells)
    if compiler == "inductor":
        from matrics._engine.execution import inductor

        return inductor.stack_table(cells, backend, **options)
    if compiler == "xla":
        from matrics._engine.execution import xla

        return xla.table(cells, backend, **options)
    return Table(cells, backend, **options)


def table_in_order(cells: Array, backend: Standard) -> Table:
    """The table of cells in their given order, for transforms; the cells may be integers."""
    if backend is NUMPY:
        return (KnownTable if NUMPY.is_integer(cells) else HostTable)(cells, class_first=False)
    if backend.compiler(cells) == "xla" and backend.is_float(cells):
        return table_of(cells, backend)
    return Table(cells, backend)
