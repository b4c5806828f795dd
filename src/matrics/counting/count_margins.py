"""From labels to the margins of their matrix, which itself is never made: what MarginState counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matrics.arrays import Array
from matrics.counting.count import Count
from matrics.counting.labels import is_kept, label_dtype, predicted, widen


class CountMargins(Count):
    """True positives, false negatives and false positives of every class: (*B, 3, n)."""

    def __call__(self, arrays: Sequence[Array], sample_ndim: int) -> tuple[Array, Array | int]:
        """The counts, and how many samples were dropped."""
        y_true, y_pred = arrays[:2]
        backend, n, xp = self.backend, self.n, self.backend.xp
        if self.has_scores:
            y_pred = predicted(y_pred, n, threshold=self.threshold, backend=backend)
        batch_shape = tuple(y_true.shape[: y_true.ndim - sample_ndim])
        rows = (math.prod(batch_shape), math.prod(y_true.shape[len(batch_shape) :]))
        kept = is_kept(y_true, self.ignored, backend)
        y_true, y_pred = widen(y_true, backend), widen(y_pred, backend)
        inside = (y_true >= 0) & (y_true < n) & (y_pred >= 0) & (y_pred < n)
        lost = ~inside if kept is None else kept & ~inside
        counted = inside if kept is None else kept & inside
        # An error is counted twice, for its true and for its predicted class; what is not counted goes to a last bin.
        right, wrong = counted & (y_true == y_pred), counted & (y_true != y_pred)
        bins = [xp.where(right, y_true, xp.where(wrong, y_true + n, 3 * n)), xp.where(wrong, y_pred + 2 * n, 3 * n)]
        twice = xp.concat([xp.reshape(x, rows) for x in bins], axis=1)
        dtype, weight = label_dtype(twice, backend), self.weights(arrays)
        if weight is not None:  # added up in the widest float, as those of a matrix are
            dtype = backend.widest_float(weight)
            weight = xp.reshape(xp.astype(weight, dtype), rows)
            weight = xp.concat([weight, weight], axis=1)
        counts = xp.reshape(backend.count(twice, rows[0], 3 * n + 1, weight, dtype=dtype), (rows[0], 3 * n + 1))
        dropped = xp.sum(xp.astype(xp.reshape(lost, rows), label_dtype(twice, backend)), axis=1)
        return xp.reshape(counts[:, : 3 * n], (*batch_shape, 3, n)), xp.reshape(dropped, batch_shape)
