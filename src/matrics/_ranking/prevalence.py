"""Matrices of thresholds at a prevalence that differs from the samples."""

from __future__ import annotations

from typing import Any

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._ranking.inputs import ScoredSamples
from matrics._stacks.prevalence import PrevalenceEstimate, read_prevalence, reweighted, together


def read_shares(prevalence: Any, samples: ScoredSamples) -> tuple[ScoredSamples, Array | None]:
    """The samples, and the shares (*P, 2) of their two classes in their library; None without a prevalence."""
    if prevalence is None:
        return samples, None
    if samples.num_classes is not None:
        raise ValueError(
            "prevalence: expected scores of a single class, or positive=, because the rest of several classes has "
            f"another mixture at another prevalence, got scores of {samples.num_classes} classes"
        )
    if isinstance(prevalence, PrevalenceEstimate):
        prevalence = prevalence.prevalence
    if samples.backend is NUMPY and hasattr(prevalence, "dtype"):
        own, (array,) = as_arrays(prevalence=prevalence)
        view = own.host_view(own.detached(array))
        samples = samples.moved(own) if view is None else samples
        prevalence = prevalence if view is None else view
    backend, scores = samples.backend, samples.scores
    like = backend.xp.zeros((2, 2), dtype=backend.widest_float(scores), **backend.device_option(scores))
    return samples, read_prevalence(prevalence, like, backend)


def at_shares(cm: Array, shares: Array | None, backend: Standard) -> Array:
    """The matrices (*B, T, 2, 2) of all thresholds, reweighted to these shares of the classes."""
    if shares is None:
        return cm
    cells = backend.to_float(cm)
    shares = backend.xp.astype(shares, cells.dtype)
    cells, shares = together(cells, shares if shares.ndim == 1 else shares[..., None, :], backend, "the thresholds")
    with backend.quiet():
        return reweighted(cells, shares, backend)
