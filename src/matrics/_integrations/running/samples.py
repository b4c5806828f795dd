"""Arguments of the samples of a batch: masks, weights, and labels to ignore."""

from __future__ import annotations

from matrics._arrays import Array, Standard
from matrics._counting.labels import is_kept, labels_to_ignore


def of_samples(values: Array, name: str, labels: Array, backend: Standard) -> Array:
    """The mask or the weights, broadcast to the shape of the labels."""
    try:
        return backend.xp.broadcast_to(values, labels.shape)
    except (RuntimeError, ValueError) as error:
        shapes = f"{tuple(values.shape)} for labels {tuple(labels.shape)}"
        raise ValueError(f"{name}: expected a shape that broadcasts against the labels, got {shapes}") from error


def kept_samples(y_true: Array, mask: Array | None, ignored: tuple[int, ...], backend: Standard) -> Array | None:
    """A mask of the samples that are neither masked nor have a label to ignore; None for all samples."""
    kept: Array | None = is_kept(y_true, labels_to_ignore(ignored, y_true, backend), backend)
    if mask is None:
        return kept
    inside = backend.xp.astype(of_samples(mask, "mask", y_true, backend), backend.xp.bool)
    return inside if kept is None else kept & inside
