"""Checks of the checkpoints that PyTorch metrics load: valid counts, of the same classes or bins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from matrics._arrays.torch import TORCH
from matrics._quoting import quoted
from matrics._ranking.buckets import bits_of

EDGES_DIFFER = "{}: expected counts at the edges and thresholds of this metric, got some at others; see those of both"
SUMS_DIFFER = "{}: expected the losses, and each k of top-k measures, of this metric, got others; see both metrics"


def check_counts(
    key: str, loaded: Any, own: Tensor, where: Callable[[tuple[int, ...]], str] = lambda at: f"at {list(at)}"
) -> None:
    """Raise unless the counts of a checkpoint have the shape of the metric's own, and are some that it can have.

    ``where`` describes the count at a position. Waits for the device that the checkpoint is on.
    """
    if not isinstance(loaded, Tensor):
        return  # PyTorch's error names the missing keys
    if loaded.shape != own.shape:  # torchmetrics would accept it
        expected, got = tuple(own.shape), tuple(loaded.shape)
        raise ValueError(f"checkpoint: expected counts of the shape {expected} in {quoted(key)}, got {got}")
    if not TORCH.can_look(loaded):
        return
    is_whole = not own.is_floating_point()
    wrong = ~(torch.isfinite(loaded) & (loaded >= 0))
    if is_whole and loaded.is_floating_point():
        wrong |= (loaded != loaded.round()) | (loaded >= 2**63)
    if bool(wrong.any()):
        first = tuple(int(i) for i in wrong.nonzero()[0])
        kind = "whole counts" if is_whole else "finite counts"
        raise ValueError(
            f"checkpoint: expected {kind} of at least 0, got {loaded[first].item()} {where(first)} of {quoted(key)}; "
            "without them, load_state_dict(..., strict=False) keeps the counts of the metric"
        )


def check_resolution(key: str, loaded: Any, own: Tensor) -> None:
    """Raise unless a checkpoint has the buckets of this metric."""
    if not isinstance(loaded, Tensor) or loaded.ndim < 2 or loaded.shape[-2] == own.shape[-2]:
        return
    mine, its = (f"bits={bits_of(x.shape[-2]) or 0}" for x in (own, loaded))
    raise ValueError(
        f"expected counts of {mine} in {quoted(key)}, as this metric has, got some of {its}; make the "
        "metric with the same bits="
    )


def check_sums(prefix: str, loaded: Mapping[str, Any], own: Mapping[str, Tensor]) -> None:
    """Raise unless a checkpoint has sums of the losses and numbers of highest scores that this metric keeps."""
    sums, top_k = (loaded.get(prefix + name) for name in own)
    if not isinstance(sums, Tensor) or not isinstance(top_k, Tensor):
        return  # PyTorch's error names the missing keys
    mine, places = own.values()
    if sums.shape != mine.shape or top_k.shape != places.shape:
        raise ValueError(SUMS_DIFFER.format("checkpoint"))
    if not top_k.is_meta and not places.is_meta and not torch.equal(top_k.cpu(), places.cpu()):
        raise ValueError(SUMS_DIFFER.format("checkpoint"))


def check_edges(key: str, edges: Any, own: Tensor) -> None:
    """Raise unless the edges of a checkpoint equal the edges of this metric."""
    if not isinstance(edges, Tensor) or edges.is_meta or own.is_meta:
        return
    if edges.shape != own.shape or not torch.equal(edges.cpu(), own.cpu()):
        raise ValueError(EDGES_DIFFER.format(key))
