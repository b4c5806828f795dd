"""Checks of checkpoints of PyTorch metrics: counts are valid, and have the same classes or bins."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from matrics._arrays.torch import TORCH
from matrics._quoting import quoted
from matrics._ranking.binned_calibration import are_valid_sums
from matrics._ranking.buckets import bits_of
from matrics._ranking.sample_sums import are_sums

EDGES_DIFFER = "{}: expected counts at the edges and thresholds of this metric, got some at others; see those of both"
SUMS_DIFFER = "{}: expected the losses, and each k of top-k measures, of this metric, got others; see both metrics"
THRESHOLDS_DIFFER = "{}: expected predictions at the thresholds of this metric, got some at others"
OTHERWISE = "without them, load_state_dict(..., strict=False) keeps the counts of the metric"
MOST_SAMPLES = 2**63
UNSIGNED = {torch.uint16: torch.int64, torch.uint32: torch.int64, torch.uint64: torch.float64}


def check_counts(
    key: str, loaded: Any, own: Tensor, where: Callable[[tuple[int, ...]], str] = lambda at: f"at {list(at)}"
) -> None:
    """Raise an error unless the counts of a checkpoint are valid and have the shape of the counts of the metric.

    ``where`` describes the count at a position. The check waits for the device of the checkpoint.
    """
    loaded = _readable(key, loaded, own)
    if loaded is None:
        return
    is_whole = not own.is_floating_point()
    invalid = ~(torch.isfinite(loaded) & (loaded >= 0))
    if is_whole and loaded.is_floating_point():
        invalid |= (loaded != loaded.round()) | (loaded >= MOST_SAMPLES)
    kind = "whole counts" if is_whole else "finite counts"
    if bool(invalid.any()):
        first = tuple(int(i) for i in invalid.nonzero()[0])
        got = f"got {loaded[first].item()} {where(first)} of {quoted(key)}"
        raise ValueError(f"checkpoint: expected {kind} of at least 0, {got}; {OTHERWISE}")
    total = float(loaded.sum(dtype=TORCH.widest_float(loaded)))
    most = MOST_SAMPLES if is_whole else torch.finfo(own.dtype).max
    if not total < most:
        raise ValueError(
            f"checkpoint: expected {kind} whose sum is below {float(most):.3g}, got {total:.3g} in {quoted(key)}; "
            f"{OTHERWISE}"
        )


def check_calibration(key: str, loaded: Any, own: Tensor) -> None:
    """Raise an error unless the sums over bins of probabilities in a checkpoint are possible for samples."""
    loaded = _readable(key, loaded, own)
    if loaded is None:
        return
    invalid = ~are_valid_sums(loaded.to(own.dtype), TORCH)
    if bool(invalid.any()):
        first = tuple(int(i) for i in invalid.nonzero()[0])
        samples, positives, distances = loaded[first].tolist()
        raise ValueError(
            "checkpoint: expected sums over samples whose probabilities are in a bin, got "
            f"{samples:g} samples, {positives:g} of them positive, with {distances:g} as the sum of their distances "
            f"from the edge of the bin at {list(first)} of {quoted(key)}; {OTHERWISE}"
        )


def check_real(key: str, loaded: Any) -> None:
    """Raise an error for complex numbers in a checkpoint."""
    if isinstance(loaded, Tensor) and loaded.is_complex():
        raise ValueError(f"checkpoint: expected real numbers in {quoted(key)}, got dtype {loaded.dtype}; {OTHERWISE}")


def _readable(key: str, loaded: Any, own: Tensor) -> Tensor | None:
    """The numbers of a checkpoint in a comparable dtype; None if they cannot be read."""
    if not isinstance(loaded, Tensor):
        return None  # PyTorch's error names the missing keys
    if loaded.shape != own.shape:  # torchmetrics would accept it
        expected, got = tuple(own.shape), tuple(loaded.shape)
        raise ValueError(f"checkpoint: expected counts of the shape {expected} in {quoted(key)}, got {got}")
    check_real(key, loaded)
    if not TORCH.can_look(loaded):
        return None
    # PyTorch cannot compare unsigned integers of more than one byte.
    return loaded.to(UNSIGNED[loaded.dtype]) if loaded.dtype in UNSIGNED else loaded


def check_resolution(key: str, loaded: Any, own: Tensor) -> None:
    """Raise an error unless a checkpoint has the buckets of this metric."""
    if not isinstance(loaded, Tensor) or loaded.ndim < 2 or loaded.shape[-2] == own.shape[-2]:
        return
    mine, its = (f"bits={bits_of(x.shape[-2]) or 0}" for x in (own, loaded))
    raise ValueError(
        f"expected counts of {mine} in {quoted(key)}, as this metric has, got some of {its}; make the "
        "metric with the same bits="
    )


def check_buckets(key: str, loaded: Any, own: Tensor) -> None:
    """Raise an error unless a checkpoint has counts in the buckets of this metric."""
    check_resolution(key, loaded, own)
    check_counts(key, loaded, own)


def check_sums(key: str, loaded: Any, own: Tensor, *, places: int) -> None:
    """Raise an error unless a checkpoint has valid sums of losses, and hits of the top-k measures of this metric."""
    if isinstance(loaded, Tensor) and loaded.shape != own.shape:
        raise ValueError(SUMS_DIFFER.format("checkpoint"))
    numbers = _readable(key, loaded, own)
    if numbers is None:
        return
    invalid = ~are_sums(numbers.to(own.dtype), places, TORCH)
    if bool(invalid.any()):
        first = tuple(int(i) for i in invalid.nonzero()[0])
        raise ValueError(
            "checkpoint: expected sums of weights, losses and hits of samples, of at least 0, and no more hits than "
            f"samples, got {numbers[first].item():g} at {list(first)} of {quoted(key)}; {OTHERWISE}"
        )


def check_place(key: str, loaded: Any, own: Tensor, *, window: int) -> None:
    """Raise an error unless the slot of the next batch in a checkpoint is in this window."""
    slot = _readable(key, loaded, own)
    if slot is not None and not 0 <= int(slot) < window:
        raise ValueError(f"checkpoint: expected a slot from 0 to {window - 1} in {quoted(key)}, got {int(slot)}")


def check_equal(key: str, loaded: Any, own: Tensor, *, message: str) -> None:
    """Raise an error unless a setting in a checkpoint, or of a metric to merge, equals the setting of this metric."""
    if not isinstance(loaded, Tensor) or loaded.is_meta or own.is_meta:
        return
    check_real(key, loaded)
    if loaded.shape != own.shape or not torch.equal(loaded.cpu().to(own.dtype), own.cpu()):
        raise ValueError(message.format(key))


check_edges = functools.partial(check_equal, message=EDGES_DIFFER)
check_thresholds = functools.partial(check_equal, message=THRESHOLDS_DIFFER)
check_top_k = functools.partial(check_equal, message=SUMS_DIFFER.format("checkpoint"))
