"""The roads of a stack through the library: each a subclass of Table that computes the same margins another way.

The plain table runs on any library; a subclass has a faster way to the same numbers, on the host or for a compiler on
the CPU. It is chosen here, and nobody else asks where a table runs.
"""

from __future__ import annotations

from typing import Any

from matrics._backend import Array, Standard
from matrics.table import Table


def table_of(cells: Array, backend: Standard, **options: Any) -> Table:
    """The table of cells ``[*batch, true, pred]`` of a library other than NumPy, on the road that suits them."""
    compiler = backend.compiler(cells)
    if compiler == "inductor":
        from matrics.roads import inductor

        return inductor.stack_table(cells, backend, **options)
    if compiler == "xla":
        from matrics.roads import xla

        return xla.table(cells, backend, **options)
    return Table(cells, backend, **options)
