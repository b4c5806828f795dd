"""The base of the metrics for PyTorch: buffers of counts, their values, and checks of a batch."""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, Self

import numpy as np
import torch
from torch import Tensor, distributed

from matrics._arrays.torch import TORCH
from matrics._counting.labels import is_kept, labels_to_ignore
from matrics._engine.evaluation import frames_to_the_user
from matrics._integrations.captured import CapturedCompute, is_capturing
from matrics._integrations.torch_sync import noted
from matrics._integrations.torch_threads import Turns
from matrics._integrations.values import Values


class RunningMetric(torch.nn.Module):
    """Buffers of counts that are added up over batches, metrics and processes.

    The first half of each buffer has the counts of this process since the last sync, the second half those of all
    processes up to that sync.
    """

    num_classes: int | None
    _values: Values
    _summed: tuple[str, ...]
    """The names of these buffers; some may be absent."""

    _large: tuple[str, ...] = ()
    """Those of them that get their second half at the first sync."""

    def __init__(self, *, cuda_graph: bool = False) -> None:
        super().__init__()
        self._has_warned = self._has_warned_of_saving = False
        self._captured = CapturedCompute() if cuda_graph else None
        self._turns = Turns()

    @abstractmethod
    def update(self, *batch: Any, **options: Any) -> None:
        """Count a batch."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """The counts so far, as a running state."""

    @property
    def _present(self) -> list[str]:
        """The names of the buffers that there are."""
        return [name for name in self._summed if getattr(self, name) is not None]

    @property
    def _to_read(self) -> Any:
        """The same state, perhaps in the memory of the counts or in NumPy, with ``dropped`` in their dtype."""
        return self.state._replace(dropped=self.dropped)

    def _forget(self, name: str, counts: Tensor) -> None:
        """Multiply the counts of this buffer, or of a copy of it, by the decay, in place; dropped samples stay."""

    @abstractmethod
    def _check_like(self, other: Self) -> None:
        """Raise if the counts of the other metric are not of the same classes and bins."""

    def forward(self, *batch: Any, **options: Any) -> dict[str, Tensor]:
        """Count a batch, and return the values of that batch alone: what ``metric(y_true, y_pred)`` does.

        Values of every batch take time: ``update``, with the same arguments, counts as well, and returns nothing.
        Several threads may call both of one metric at once, and no count is lost.

        Returns
        -------
        dict of str to tensor
            As from :meth:`compute`.
        """
        with self._turns.mine():
            return self._count_and_compute(*batch, **options)

    def _count_and_compute(self, *batch: Any, **options: Any) -> dict[str, Tensor]:
        counted = {name: getattr(self, name) for name in self._present}
        found = {name: torch.zeros_like(counts) for name, counts in counted.items()}
        try:
            self._hold(found)
            self.update(*batch, **options)
            values = self.compute()
        finally:
            self._hold(counted)
        for name, counts in counted.items():
            self._forget(name, counts)
            counts.add_(found[name])
        return values

    def _hold(self, counts: Mapping[str, Tensor]) -> None:
        """Put these tensors in the place of the buffers."""
        for name, buffer in counts.items():
            setattr(self, name, buffer)

    def compute(self, *, expected: int | None = None) -> dict[str, Tensor]:
        """All values of the counts so far, as scalar tensors on their device, under names for a logger.

        With several processes, call :meth:`sync` first. Where samples were dropped, their number is there as
        ``dropped``, with one warning, but only on the CPU: elsewhere it would have to be waited for, and is left to
        ``dropped`` of the metric. There is also a warning if scores are not in [0, 1] where probabilities are
        expected. At the end of an epoch is the time for it; :meth:`log_dict` has all values in one transfer.

        Parameters
        ----------
        expected : int, optional
            How many samples there are in all, those that were dropped included: another number causes a warning with
            both numbers. It finds samples that were counted twice, such as those that a sampler for several processes
            repeats. With weights it is their sum; of several labels a sample, those of the label with the most. On a
            device this number has to be waited for.
        """
        if expected is not None and not torch.compiler.is_compiling():
            self._values.check_expected(self.state, expected)
        if torch.compiler.is_compiling():
            return self._values.of(self.state)
        if self._captured is not None:
            buffers = {name: getattr(self, name) for name in self._present}
            device = next(iter(buffers.values())).device
            if device.type == "cuda" and not is_capturing(device):
                return self._captured(buffers, self._values_of, self._values)
        named, self._has_warned = reported(self._values, self._to_read, has_warned=self._has_warned)
        return named

    def _values_of(self, buffers: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The values with these tensors in the place of the buffers."""
        kept = {name: getattr(self, name) for name in buffers}
        try:
            self._hold(buffers)
            return self._values.of(self._to_read)
        finally:
            self._hold(kept)

    def log_dict(self, *, expected: int | None = None) -> dict[str, float]:
        """The values of :meth:`compute` as Python's numbers, in one transfer from the device, for a logger."""
        return as_numbers(self.compute(expected=expected))

    def items(self) -> NoReturn:
        """Raise an error, which says what Lightning's ``self.log_dict(metric)`` takes instead."""
        raise TypeError(
            f"log_dict: expected a metric for Lightning, got a {type(self).__name__} of matrics.torch: "
            "make it of matrics.torchmetrics, with the same options; or log its values at the end of an "
            "epoch, self.log_dict(metric.sync().log_dict()), and reset it"
        )

    def clone(self, *, prefix: str | None = None) -> Self:
        """An independent copy, optionally with another prefix: one metric for each phase of training."""
        other = copy.deepcopy(self)
        if prefix is not None:
            other._values = other._values.renamed(prefix)
        return other

    def __copy__(self) -> Self:
        """A copy as from :meth:`clone`: metrics that share buffers would count into each other."""
        return self.clone()

    def reset(self) -> None:
        """Set all counts to 0."""
        for name in self._present:
            getattr(self, name).zero_()

    def merge_state(self, *others: Self) -> Self:
        """Add the counts of other metrics of the same classes and bins, on any device; returns the metric itself."""
        for other in others:
            if not isinstance(other, RunningMetric) or other._summed != self._summed:
                raise TypeError(f"expected metrics to merge, got {type(other).__name__}")
            self._check_like(other)
            for name in self._present:
                own, found = getattr(self, name).dtype, getattr(other, name).dtype
                if not torch.can_cast(found, own):
                    raise TypeError(f"expected a metric of integer counts to merge, as this one is, got one of {found}")
        for other in others:
            for name in self._present:
                found = getattr(other, name)
                counts = self._whole(name) if len(found) > 1 else getattr(self, name)
                counts[: len(found)] += found.to(counts.device)
        return self

    def _whole(self, name: str) -> Tensor:
        """A buffer with both halves."""
        counts: Tensor = getattr(self, name)
        if len(counts) == 1:
            with torch.inference_mode(mode=False):
                counts = torch.cat([counts, torch.zeros_like(counts)])
            setattr(self, name, counts)
        return counts

    def _like_loaded(self, name: str, loaded: Any) -> Tensor | None:
        """A buffer with as many halves as in a checkpoint, to compare with; that of the metric does not change."""
        own: Tensor | None = getattr(self, name)
        if name not in self._large or own is None or not isinstance(loaded, Tensor) or loaded.ndim != own.ndim:
            return own
        return own[:1].expand(len(loaded), *own.shape[1:]) if len(loaded) in (1, 2) else own

    def _fit(self, state_dict: dict[str, Any], prefix: str) -> None:
        """Give the large buffers as many halves as in a checkpoint, of before or of after the first sync."""
        for name in self._large:
            own, loaded = getattr(self, name), state_dict.get(prefix + name)
            if own is None or not isinstance(loaded, Tensor) or loaded.shape[1:] != own.shape[1:]:
                continue
            if len(loaded) != len(own) and len(loaded) in (1, 2):
                setattr(self, name, self._whole(name)[: len(loaded)].clone())

    def _save_to_state_dict(self, *arguments: Any) -> None:
        if not self._has_warned_of_saving:
            both = {name: getattr(self, name) for name in self._present}
            own = (x[:1] if name in self._large else x[: len(x) // 2] for name, x in both.items())
            self._has_warned_of_saving = warned_of_saving(own, "call sync() first")
        super()._save_to_state_dict(*arguments)

    def sync(self, *, process_group: distributed.ProcessGroup | None = None) -> Self:
        """Add up the counts of the processes, by one ``all_reduce``; every process of the group has to call it.

        Each process then has the counts of all. Counting can continue: later counts are added at the next sync, and
        none twice. So after a sync one checkpoint is right for all processes. Without ``torch.distributed``, it does
        nothing. The counts of a ``ScoreMetric`` are sent as float64, and are exact up to 2**53 samples between two
        syncs.

        Parameters
        ----------
        process_group : ProcessGroup, optional
            The processes; by default all. Always use the same group for one metric: another group would not get the
            counts that this group has already added up.

        Returns
        -------
        ConfusionMetric or ScoreMetric
            The metric itself, for ``metric.sync().compute()``.

        Raises
        ------
        SyncError
            A process has died, hangs, or does not call this within the timeout of the group; the message names those
            that came and those that did not, and the counts are unchanged. This needs a backend that raises errors, as
            gloo does: with NCCL PyTorch ends the process, unless ``TORCH_NCCL_BLOCKING_WAIT=1`` is set.
        """
        running = distributed.is_available() and distributed.is_initialized()
        if running and distributed.get_rank(process_group) >= 0:  # -1: not a member of the group
            halves = [self._whole(name).view(2, -1) for name in self._present]
            found = torch.cat([own for own, _ in halves])  # a copy, which a failure may corrupt; in the widest dtype
            with noted(process_group):
                distributed.all_reduce(found, group=process_group)
            parts = found.split([own.numel() for own, _ in halves])
            for (own, shared), part in zip(halves, parts, strict=True):
                shared.add_(part.to(shared.dtype))
                own.zero_()
        return self

    def extra_repr(self) -> str:
        """The text that ``print`` shows for the metric."""
        return f"{self.num_classes}, {self._values}"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the counts: PyTorch passes tensors to other processes as shared memory, to which both would write."""
        super().__setstate__(state)
        with torch.inference_mode(mode=False):
            for name, buffer in self._buffers.items():
                self._buffers[name] = None if buffer is None else buffer.clone()

    def _replicate_for_data_parallel(self) -> Self:
        """Make a copy that raises when it counts: DataParallel throws away what its copies of a model count."""
        replica: Self = super()._replicate_for_data_parallel()
        replica.__dict__["update"] = _refuse_replica
        return replica

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002 (PyTorch's)
        """Move to a device, but keep the dtypes: ``model.half()`` would lose counts and sums."""
        super()._apply(keeping_dtypes(fn), recurse)
        return self


def _refuse_replica(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError(
        "update: expected a metric outside of the forward pass of DataParallel, whose copies of a model lose what they "
        "count, got a copy: update the metric with what the model returns, or use DistributedDataParallel"
    )


def reported(
    values: Values, state: Any, *, has_warned: bool, warns_of_nothing: bool = True
) -> tuple[dict[str, Tensor], bool]:
    """What ``values.report`` finds, as tensors.

    NumPy reads the state in its memory, if it can: scoring would otherwise convert it in each of its steps.
    """
    is_numpy = isinstance(state.counts, np.ndarray)
    views = None if is_numpy else TORCH.host_views(*state)
    state = state if views is None else type(state)(*views)
    named, has_warned = values.report(state, has_warned=has_warned, warns_of_nothing=warns_of_nothing)
    if views is not None or is_numpy:
        named = {key: TORCH.from_host(value) for key, value in named.items()}
    return named, has_warned


def warned_of_saving(counts: Iterable[Tensor], instead: str) -> bool:
    """Warn if counts that this process alone has are saved in one of several processes; return whether it has."""
    running = distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
    if not running or not any(TORCH.can_look(part) and bool(part.any()) for part in counts):
        return False
    warnings.warn(
        "state_dict: expected counts that are added up over the processes, got some that this process alone has "
        f"counted: each process that loads them would count them once more; {instead}",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )
    return True


def check_tensors(y_true: Any, other: Any, name: str) -> None:
    """Raise for labels, and predictions or scores of this name, that are no tensors."""
    if not (isinstance(y_true, Tensor) and isinstance(other, Tensor)):
        raise TypeError(f"expected tensors, got y_true {type(y_true).__name__}, {name} {type(other).__name__}")


def refuse_weights_of_integers() -> NoReturn:
    """Raise: sample_weight= was given where counts are integers."""
    raise TypeError(
        "sample_weight: expected None, as this metric has integer counts; make it with dtype=torch.float32 or "
        "torch.float64 for weighted ones"
    )


def of_samples(values: Tensor, name: str, labels: Tensor) -> Tensor:
    """A mask or weights in the shape of the labels."""
    if not isinstance(values, Tensor):
        raise TypeError(f"{name}: expected a tensor, got {type(values).__name__}")
    try:
        return values.expand(labels.shape)
    except RuntimeError as error:
        shapes = f"{tuple(values.shape)} for labels {tuple(labels.shape)}"
        raise ValueError(f"{name}: expected a shape that broadcasts against the labels, got {shapes}") from error


def kept_samples(y_true: Tensor, mask: Tensor | None, ignored: tuple[int, ...]) -> Tensor | None:
    """Which samples are neither masked nor have a label to ignore; None for all."""
    kept: Tensor | None = is_kept(y_true, labels_to_ignore(ignored, y_true, TORCH), TORCH)
    if mask is None:
        return kept
    inside = of_samples(mask, "mask", y_true).bool()
    return inside if kept is None else kept & inside


def as_numbers(named: dict[str, Tensor]) -> dict[str, float]:
    """Scalar tensors as Python's numbers, in one transfer."""
    wide = TORCH.widest_float(next(iter(named.values())))
    values = torch.stack([value.to(wide) for value in named.values()]).tolist()
    return dict(zip(named, values, strict=True))


def keeping_dtypes(move: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """What moves counts as ``move`` does, but changes no dtype, as ``model.half()`` would.

    Only float64 becomes float32 on devices that have none, as Apple's GPUs.
    """
    widest = TORCH.widest_float(move(torch.empty(0)))

    def moved(tensor: Tensor) -> Tensor:
        tensor = tensor.to(widest) if tensor.dtype == torch.float64 else tensor
        new = move(tensor)
        return new if new.dtype == tensor.dtype else tensor.to(new.device)

    return moved
