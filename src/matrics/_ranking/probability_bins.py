"""Bins of probabilities: of equal width, or of equal mass."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, get_args

from matrics._arrays import Array, Standard, is_compiling
from matrics._arrays.sizes import check_count
from matrics._counting.labels import label_dtype
from matrics._quoting import quoted
from matrics._ranking.inputs import ScoredSamples
from matrics._ranking.probabilities import is_class

Bins = Literal["width", "mass"]
Of = Literal["top_label", "class_wise"]

MOST_STEPS = 32  # of a binary search
MOST_BINS = 2**24  # float32 has no more different probabilities


class Forecasts(NamedTuple):
    """Probabilities of events, and their outcomes; the classes of class-wise calibration are a batch axis."""

    probability: Array  # (*B, N) or (*B, n, N)
    outcome: Array  # the same shape and dtype, 0 or 1
    weight: Array  # the same shape and dtype


def forecasts(samples: ScoredSamples, of: Of | None) -> Forecasts:
    """The forecasts of class 1, of the class with the highest probability, or of each class."""
    backend, y, p = samples.backend, samples.y_true, samples.scores
    xp, weight = backend.xp, samples.weight
    if samples.num_classes is None:
        outcome = y == 1
    elif of == "class_wise":
        lead = tuple(range(y.ndim - 1))
        order = (*lead, y.ndim, y.ndim - 1)
        outcome, p = xp.permute_dims(is_class(samples), order), xp.permute_dims(p, order)
        weight = None if weight is None else xp.broadcast_to(weight[..., None, :], p.shape)
    else:
        p, label = backend.max_and_argmax(p)
        outcome = xp.astype(label, y.dtype) == y
    weight = xp.ones_like(p) if weight is None else xp.astype(weight, p.dtype)
    return Forecasts(p, xp.astype(outcome, p.dtype), weight)


class BinnedProbabilities(NamedTuple):
    """The bin of each sample, and the edges of the bins."""

    backend: Standard
    index: Array  # (*B, N), in [0, num_bins)
    edges: Array  # (*B, num_bins + 1)

    def sums(self, *columns: Array) -> list[Array]:
        """The sum of each column (*B, N) in each bin (*B, num_bins)."""
        backend, index = self.backend, self.index
        xp, dtype, num_bins = backend.xp, columns[0].dtype, self.edges.shape[-1] - 1
        batch_shape, size = tuple(index.shape[:-1]), index.shape[-1]
        batch, dtype_of_sums = math.prod(batch_shape), backend.widest_float(columns[0])
        # In float32, adding a million numbers sequentially has a large rounding error.
        values = xp.stack([xp.astype(column, dtype_of_sums) for column in columns], axis=-1)
        rows = xp.reshape(index, (batch, size))
        totals = backend.scatter_add(rows, xp.reshape(values, (batch, size, len(columns))), num_bins)
        totals = xp.astype(xp.reshape(totals, (*batch_shape, num_bins, len(columns))), dtype)
        return [totals[..., k] for k in range(len(columns))]

    def of_samples(self, values: Array) -> Array:
        """The value of the bin of each sample (*B, N), from values of bins (*B, num_bins)."""
        return self.backend.take_along(values, self.index)


def check_bins(num_bins: Any, bins: Any) -> int:
    """The checked number of bins; the kind of bins is checked as well."""
    if bins not in get_args(Bins):
        raise ValueError(f"bins: expected 'width' or 'mass', got {quoted(bins)}")
    return check_count(num_bins, "num_bins", most=MOST_BINS)


def binned(
    probability: Array, weight: Array | None, num_bins: int, bins: Bins, backend: Standard
) -> BinnedProbabilities:
    """The bins [a, b) of probabilities (*B, N); the last bin is [a, 1]."""
    xp, p = backend.xp, probability
    lead = tuple(p.shape[:-1])
    if bins == "width" or not p.shape[-1]:
        edges_of_row = backend.constant([[k / num_bins for k in range(num_bins + 1)]], p)[0, :]
        edges = xp.broadcast_to(edges_of_row, (*lead, num_bins + 1))
    else:
        ends = xp.zeros_like(p[..., :1])
        edges = xp.concat([ends, _quantiles(p, weight, num_bins, backend), ends + 1], axis=-1)
    return BinnedProbabilities(backend, number_below(edges[..., 1:-1], p, backend, (num_bins - 1).bit_length()), edges)


def _quantiles(p: Array, weight: Array | None, num_bins: int, backend: Standard) -> Array:
    """The first probability of each bin except the lowest.

    It is the least probability with more than k / num_bins of the weight up to it. So equal probabilities are in the
    same bin, and a sample of weight 2 counts as two samples.
    """
    xp, size = backend.xp, p.shape[-1]
    lead = tuple(p.shape[:-1])
    if weight is None:
        integer = xp.zeros_like(p[..., :1], dtype=label_dtype(p, backend))
        row = backend.constant([[k * size // num_bins for k in range(1, num_bins)]], integer)[0, :]
        index = xp.broadcast_to(row, (*lead, num_bins - 1))
        return backend.take_along(xp.sort(p, axis=-1), index)
    descending, weight = backend.sort_descending(-p, weight)
    cumulative = backend.running_sum(weight)
    shares = backend.constant([list(range(1, num_bins))], cumulative)[0, :]
    # A symbolic size of torch.compile has no bit length; these steps are enough for any size.
    steps = MOST_STEPS if is_compiling() else size.bit_length()
    index = number_below(
        cumulative * num_bins, cumulative[..., -1:] * xp.reshape(shares, (*(1,) * len(lead), -1)), backend, steps
    )
    index = backend.clamped(index, 0, size - 1)
    return -backend.take_along(descending, index)


def number_below(ascending: Array, x: Array, backend: Standard, steps: int) -> Array:
    """The number of ascending values (*B, M) that are not above x (*B, K), by a binary search on any backend.

    The function ``searchsorted`` of the array API standard takes a single row only.
    """
    xp, length = backend.xp, ascending.shape[-1]
    number = xp.zeros_like(x, dtype=label_dtype(x, backend))
    for power in reversed(range(steps)):
        candidate = number + 2**power
        value = backend.take_along(ascending, backend.clamped(candidate, 1, length) - 1)
        number = xp.where((candidate <= length) & (value <= x), candidate, number)
    return number
