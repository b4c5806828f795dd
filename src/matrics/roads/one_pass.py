"""Counts that compiled code finds together."""

from __future__ import annotations

from collections.abc import Sequence

from matrics._backend import Array
from matrics.margins import margin
from matrics.table import Table


class OnePass(Table):
    """True positives, false negatives and false positives from one pass over the cells."""

    @margin
    def tp(self) -> Array:
        """True positives."""
        return self._counted[0]

    @margin
    def fn(self) -> Array:
        """False negatives."""
        return self._counted[1]

    @margin
    def fp(self) -> Array:
        """False positives."""
        return self._counted[2]

    @margin
    def _counted(self) -> Sequence[Array]:
        """These three first."""
        raise NotImplementedError
