"""Functions for the metrics for PyTorch and torchmetrics: checks of batches, values as tensors, and fixed dtypes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, distributed

from matrics._arrays.torch import TORCH
from matrics._engine.evaluation import frames_to_the_user
from matrics._integrations.running.parts import Arrays
from matrics._integrations.running.values import Values


def reported(
    view: Callable[[Arrays], Any], values: Values, arrays: Arrays, *, has_warned: bool, warns_of_nothing: bool = True
) -> tuple[dict[str, Tensor], bool]:
    """The results of ``values.report`` as tensors; ``view`` makes a state of arrays."""
    views = TORCH.host_views(*arrays.values())
    arrays = arrays if views is None else dict(zip(arrays, views, strict=True))
    named, has_warned = values.report(view(arrays), has_warned=has_warned, warns_of_nothing=warns_of_nothing)
    if views is not None:
        named = {key: TORCH.from_host(value) for key, value in named.items()}
    return named, has_warned


def warned_of_saving(counts: Iterable[Tensor], instead: str) -> bool:
    """Warn if counts of this process alone are saved in one of several processes; return whether it has warned."""
    running = distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
    if not running or not any(TORCH.can_look(part) and bool(part.any()) for part in counts):
        return False
    warnings.warn(
        "state_dict: expected counts that are added up over the processes, got counts of this process alone: "
        f"each process that loads them would count them again; {instead}",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )
    return True


def check_tensors(name: str, y_true: Any, other: Any, mask: Any, sample_weight: Any) -> None:
    """Raise an error unless all arguments of a batch are tensors; the second argument has this name."""
    if not (isinstance(y_true, Tensor) and isinstance(other, Tensor)):
        raise TypeError(f"expected tensors, got y_true {type(y_true).__name__}, {name} {type(other).__name__}")
    if mask is not None and not isinstance(mask, Tensor):
        raise TypeError(f"mask: expected a tensor, got {type(mask).__name__}")
    if sample_weight is not None and not isinstance(sample_weight, Tensor):
        raise TypeError(f"sample_weight: expected a tensor, got {type(sample_weight).__name__}")


def as_numbers(named: dict[str, Tensor]) -> dict[str, float]:
    """Scalar tensors as Python numbers, in a single transfer."""
    wide = TORCH.widest_float(next(iter(named.values())))
    values = torch.stack([value.to(wide) for value in named.values()]).tolist()
    return dict(zip(named, values, strict=True))


def keeping_dtypes(move: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A function that moves counts like ``move``, but without the change of dtypes of ``model.half()``.

    Only float64 becomes float32 on devices without float64, such as Apple's GPUs.
    """
    widest = TORCH.widest_float(move(torch.empty(0)))

    def moved(tensor: Tensor) -> Tensor:
        tensor = tensor.to(widest) if tensor.dtype == torch.float64 else tensor
        new = move(tensor)
        return new if new.dtype == tensor.dtype else tensor.to(new.device)

    return moved
