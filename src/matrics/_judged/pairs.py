"""The joint counts of samples that have the labels of two models."""

from __future__ import annotations

from typing import Any, NamedTuple

from matrics._arrays import Array, Standard
from matrics._judged.correction import Correction, Design
from matrics._judged.estimates import Judged
from matrics._judged.influences import Influences


class Pairs(NamedTuple):
    """Joint counts of the labels of both models, and with weights also the sums of squared weights.

    The axes are ``[true or none, judge, a, b]``; for models that are graded separately, ``[true, judge, a]`` of a and
    then of b.
    """

    tables: list[Array]
    backend: Standard
    apart: bool  # whether the models are graded separately

    @property
    def squares(self) -> Array:
        """The sums of squared weights."""
        return self.tables[-1]

    def of_model(self, which: int, method: Correction, design: Design) -> Judged:
        """The counts of a (0) or of b (1)."""
        n = self.tables[0].shape[-1]
        axes = ((-3, -2, -1), (-6, -5, -4))[which] if self.apart else (-1, -2)[which]
        summed = [self.backend.xp.sum(table, axis=axes) for table in self.tables]
        (cube, plane), *squares = ((table[..., :n, :, :], table[..., n, :, :]) for table in summed)
        name = "post_stratified" if method == "auto" else method
        return Judged(cube, plane, squares[0] if squares else (cube, plane), name, design, self.backend)

    def less(self, a: Array, b: Array) -> Array:
        """The values of samples for a minus their values for b; both are (..., true or none, judge, predicted)."""
        if self.apart:
            return a[..., None, None, None] - b[..., None, None, None, :, :, :]
        return a[..., None] - b[..., None, :]

    def total(self, values: Array) -> Array:
        """The sums over all samples."""
        axes = tuple(range(-6 if self.apart else -4, 0))
        return self.backend.xp.sum(values, axis=axes)


def of_samples(influences: Influences, xp: Any) -> Array:
    """The influences of all samples [true or none, judge, predicted]."""
    return xp.concat([influences.labelled, influences.others[..., None, :, :]], axis=-3)
