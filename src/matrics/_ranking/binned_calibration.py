"""Calibration from the sums of a ScoreState over bins of probabilities, with exact means and shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._quoting import quoted
from matrics._ranking.inputs import returned
from matrics._ranking.leaves import Contents, ScoreLeaves
from matrics._ranking.probability_bins import Of
from matrics._ranking.sample_sums import SLACK

# A probability of half precision may be this far outside its bin.
MARGIN = 0.01


def are_valid_sums(sums: Array, backend: Standard) -> Array:
    """Whether sums (…, M + 2, 3) of samples, positives and distances are possible, (…, M + 2).

    The outer bins have probabilities below 0 and above 1; their distances have no bound.
    """
    xp, num_bins = backend.xp, sums.shape[-2] - 2
    samples, positives, distances = (sums[..., k] for k in range(3))
    bins = xp.reshape(backend.class_index(num_bins + 2, sums), (*(1,) * (samples.ndim - 1), -1))
    lowest = xp.where(bins == 0, -math.inf, -MARGIN * samples)
    highest = xp.where(bins == 0, MARGIN * samples, (MARGIN + 1 / max(num_bins, 1)) * samples)
    highest = xp.where(bins > num_bins, math.inf, highest)
    is_count = (samples >= 0) & (samples < math.inf) & (positives >= 0) & (positives <= samples * SLACK)
    return is_count & (distances >= lowest) & (distances <= highest)


class Calibration(NamedTuple):
    """Sums over bins (…, M); probabilities below 0 and above 1 are in the first and last bin."""

    backend: Standard
    own: Standard  # the library of the state, to which results return
    samples: Array
    positives: Array
    probabilities: Array
    edges: Array  # (M + 1,)
    is_valid: Array  # (…,), whether all sums are possible

    @classmethod
    def of(cls, leaves: Sequence[Any], of: Of | None) -> Calibration:
        """The calibration of class 1 of two, of the top label, or of each class."""
        state = ScoreLeaves(*leaves)
        contents = Contents.of(state)
        if not contents.num_bins:
            raise ValueError("expected a state that keeps calibration, got num_bins=0; make the state with num_bins=15")
        kind = _check_of(of, contents)
        own, arrays = as_arrays(calibration=state.calibration, remainders=state.calibration_remainders)
        views: list[Any] = [own.host_view(array) for array in arrays]
        is_on_host = all(view is not None for view in views)
        backend = NUMPY if is_on_host else own
        sums, remainders = views if is_on_host else arrays
        sums = sums + remainders if remainders.shape[-1] else sums
        sums = sums[..., :-1, :, :] if kind == "class_wise" else sums[..., -1, :, :]
        xp = backend.xp
        edges = backend.shares(contents.num_bins, sums)
        below = xp.reshape(xp.concat([edges[:1], edges]), (*(1,) * (sums.ndim - 2), -1))
        samples, positives, distances = (sums[..., k] for k in range(3))
        samples, positives, probabilities = (
            _with_outer(part, xp) for part in (samples, positives, samples * below + distances)
        )
        is_valid = xp.all(are_valid_sums(sums, backend), axis=-1)
        return cls(backend, own, samples, positives, probabilities, edges, is_valid)

    def reliability(self) -> tuple[Array, Array, Array, Array]:
        """Mean probability, share of positives, number of samples, and the edges (…, M + 1)."""
        backend, xp = self.backend, self.backend.xp
        divisors = xp.where(self.samples > 0, self.samples, 1)
        mean, share = (
            xp.where(self.samples > 0, part / divisors, math.nan) for part in (self.probabilities, self.positives)
        )
        edges = backend.copied(xp.broadcast_to(self.edges, (*mean.shape[:-1], self.edges.shape[0])))
        mean, share, samples, edges = (returned(x, backend, self.own) for x in (mean, share, self.samples, edges))
        return mean, share, samples, edges

    def error(self, zero_division: float, *, over_classes: bool) -> Array:
        """The distance of the mean probability from the share of positives, averaged over samples."""
        xp = self.backend.xp
        total = xp.sum(self.samples, axis=-1)
        gaps = xp.sum(xp.abs(self.probabilities - self.positives), axis=-1)
        errors = xp.where(total > 0, gaps / xp.where(total > 0, total, 1), zero_division)
        # A weight that is negative or NaN makes its batch element NaN.
        errors = xp.where(self.is_valid, errors, math.nan)
        return returned(xp.mean(errors, axis=-1) if over_classes else errors, self.backend, self.own)


def _check_of(of: Any, contents: Contents) -> str | None:
    """The checked option ``of``; raises an error for calibration that the state does not keep."""
    if of is not None and of not in get_args(Of):
        raise ValueError(f"of: expected 'top_label' or 'class_wise', got {quoted(of)}")
    if of is not None and contents.num_classes is None:
        raise ValueError(f"of: expected None, as this state has the scores of class 1 of two, got {quoted(of)}")
    if of == "class_wise" and not contents.has_each:
        raise ValueError("of: expected a state made with class_wise=True for 'class_wise', got class_wise=False")
    return None if of is None else str(of)


def _with_outer(x: Array, xp: Any) -> Array:
    """Sums over bins, with probabilities outside the edges added to the first and last bin."""
    if x.shape[-1] == 3:
        return xp.sum(x, axis=-1, keepdims=True)
    return xp.concat([x[..., :1] + x[..., 1:2], x[..., 2:-2], x[..., -2:-1] + x[..., -1:]], axis=-1)
