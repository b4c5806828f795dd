"""The inverse of a judge's confusion matrix, for the method of Rogan and Gladen."""

from __future__ import annotations

import math

from matrics._arrays import Array, Standard
from matrics._judged.strata import identity


def inverse_of_judge(counts: Array, backend: Standard) -> Array:
    """The inverse (*B, n, n) of P(judge | true), from counts [true, judge]; NaN where it does not exist.

    Singular matrices are replaced before the inversion, as a single singular matrix would raise an error for the stack.
    """
    xp = backend.xp
    totals = xp.sum(counts, axis=-1, keepdims=True)
    share = xp.matrix_transpose(counts / xp.where(totals > 0, totals, 1))
    regular = (backend.of_matrices("det", share) != 0)[..., None, None]
    inverse = backend.of_matrices("inv", xp.where(regular, share, identity(share, backend)))
    return xp.where(regular, inverse, math.nan)
