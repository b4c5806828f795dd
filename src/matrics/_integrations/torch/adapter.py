"""The adapter for PyTorch: a module that stores the arrays of a recipe in its buffers."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, Self

import torch
from torch import Tensor, distributed

from matrics._integrations.running.recipe import Recipe
from matrics._integrations.tensors.captured import CapturedCompute, is_capturing
from matrics._integrations.tensors.reading import as_numbers, check_tensors, keeping_dtypes, reported, warned_of_saving
from matrics._integrations.tensors.sync import reporting_failures
from matrics._integrations.tensors.threads import CountingLock

#: The suffix of the buffers with the counts of all processes at the last sync, which the first sync makes.
ALL_SUFFIX = "_of_all"


class RunningMetric(torch.nn.Module):
    """A metric with the arrays of a recipe as buffers, which are added up over batches, metrics and processes.

    A buffer has the counts of this process since the last sync. The buffer of the same name with ``_of_all``, which the
    first sync makes, has the counts of all processes up to the last sync.
    """

    _kind: ClassVar[type[Recipe]]

    def __init__(self, *arguments: Any, cuda_graph: bool = False, **options: Any) -> None:
        super().__init__()
        with torch.inference_mode(mode=False):
            self._recipe = self._kind("torch", *arguments, **options)
        self._values, self.num_classes = self._recipe.values, self._recipe.num_classes
        self._has_warned = self._has_warned_of_saving = False
        self._captured = CapturedCompute() if cuda_graph else None
        self._lock = CountingLock()
        self._in_place = self._recipe.in_place
        self._forgets = self._recipe.decay is not None or self._recipe.window is not None
        with torch.inference_mode(mode=False):  # as inference tensors cannot be updated outside of inference mode
            sums, settings = self._recipe.empty()
            self._sums = {name: f"{name}_counts" if hasattr(type(self), name) else name for name in sums}
            self._names = self._sums | {name: name for name in settings}
            self._pairs = tuple(self._names.items())
            for name, values in (sums | settings).items():
                self.register_buffer(self._names[name], values)
            for name in self._sums.values():
                self.register_buffer(name + ALL_SUFFIX, None)
            self._first_of_all = next(iter(self._sums.values())) + ALL_SUFFIX

    def update(
        self, y_true: Tensor, y_pred: Tensor, *, mask: Tensor | None = None, sample_weight: Tensor | None = None
    ) -> None:
        """Count a batch, over all axes of samples."""
        # Not in a function, as an update takes microseconds.
        with contextlib.nullcontext() if torch.compiler.is_compiling() else self._lock.lock:
            is_plain = mask is None and sample_weight is None
            if not (is_plain and isinstance(y_true, Tensor) and isinstance(y_pred, Tensor)):
                check_tensors(self._recipe.second, y_true, y_pred, mask, sample_weight)
            arrays: Any = {}
            buffers: Any = self._buffers  # an attribute of a module takes longer
            for name, buffer in self._pairs:
                arrays[name] = buffers[buffer]
            self._recipe.count(arrays, y_true, y_pred, mask=mask, sample_weight=sample_weight)
            if not self._in_place:
                self._write(arrays)
            if self._forgets and buffers[self._first_of_all] is not None:
                self._recipe.forget(self._part(ALL_SUFFIX))

    def forward(self, *batch: Any, **options: Any) -> dict[str, Tensor]:
        """The values of a batch alone, from ``metric(y_true, y_pred)``; counts the batch.

        Computing values takes time: ``update``, with the same arguments, only counts. Several threads may call
        ``forward`` and ``update`` of the same metric at once; no count is lost.

        Parameters
        ----------
        *batch : tensor
            The true labels and the predictions or scores, by position, in the order of :meth:`update`.
        **options : tensor
            ``mask`` and ``sample_weight``, which leave out or weight samples, and arguments not given by position.

        Returns
        -------
        dict of str to tensor
            As from :meth:`compute`.
        """
        with self._lock.held():
            return self._count_and_compute(*batch, **options)

    def _count_and_compute(
        self,
        y_true: Tensor,
        *predictions: Tensor,
        mask: Tensor | None = None,
        sample_weight: Tensor | None = None,
        **named: Any,
    ) -> dict[str, Tensor]:
        y_pred = (*predictions, *named.values())[0]
        check_tensors(self._recipe.second, y_true, y_pred, mask, sample_weight)
        arrays = self._part()
        batch = self._recipe.batch(arrays, y_true, y_pred, mask=mask, sample_weight=sample_weight)
        values = self._report(batch, is_batch=True)
        self._recipe.absorb(arrays, batch)
        self._write(arrays)
        if self._forgets and (shared := self._part(ALL_SUFFIX)):
            self._recipe.forget(shared)
        return values

    def _write(self, arrays: Mapping[str, Tensor]) -> None:
        """Copy arrays that the recipe has replaced into the buffers."""
        buffers: Any = self._buffers
        for name, values in arrays.items():
            own = buffers[self._names[name]]
            if values is not own:
                own.copy_(values)

    def _part(self, ending: str = "") -> dict[str, Tensor]:
        """The arrays of this process, or of all processes at the last sync, with the settings; empty before a sync."""
        arrays: dict[str, Any] = {name: self._buffers[buffer + ending] for name, buffer in self._sums.items()}
        if None in arrays.values():
            return {}
        return arrays | {name: self._buffers[name] for name in self._names if name not in arrays}

    def _whole(self, buffers: Mapping[str, Tensor | None]) -> dict[str, Tensor]:
        """The arrays of all counts."""
        totals: dict[str, Any] = {}
        for name, buffer in self._names.items():
            own, shared = buffers[buffer], buffers.get(buffer + ALL_SUFFIX)
            totals[name] = own if own is None or shared is None else own + shared
        return totals

    def _shared_part(self) -> dict[str, Tensor]:
        """The buffers of all processes, by the names of their arrays; makes missing buffers."""
        for name in self._sums.values():
            own = self._buffers[name]
            if own is not None and self._buffers[name + ALL_SUFFIX] is None:
                with torch.inference_mode(mode=False):
                    shared: Any = torch.zeros_like(own)
                shared._ddp_ignored = getattr(own, "_ddp_ignored", False)  # see parallel.py
                self._buffers[name + ALL_SUFFIX] = shared
        return self._part(ALL_SUFFIX)

    @property
    def state(self) -> Any:
        """The counts of all batches, as a running state of matrics."""
        return self._recipe.state(self._whole(self._buffers))

    @property
    def dropped(self) -> Tensor:
        """The number of samples (with several labels: entries) with a label out of range or a NaN score."""
        dropped: Tensor = self.state.dropped
        return dropped.clone()

    def compute(self, *, expected: int | None = None) -> dict[str, Tensor]:
        """The values of all batches so far as scalar tensors on their device, under names for a logger.

        With several processes, call :meth:`sync` first. If samples were dropped, the key ``dropped`` has their number,
        with a single warning, but only on the CPU: on other devices use the attribute ``dropped``, which waits for the
        device. Another warning says that scores are not in [0, 1] where probabilities are expected. Call ``compute`` at
        the end of an epoch; :meth:`log_dict` has all values in a single transfer.

        Parameters
        ----------
        expected : int, optional
            The number of all samples, dropped samples included: another number causes a warning with both numbers. It
            detects samples that were counted twice, as samplers for several processes repeat some. With weights it is
            their sum; with several labels a sample, the number of samples of the label with the most. The check waits
            for a device.
        """
        if torch.compiler.is_compiling():
            return self._values.of(self._recipe.view(self._whole(self._buffers)))
        if expected is not None:
            self._values.check_expected(self.state, expected)
        if self._captured is not None:
            buffers = {name: buffer for name, buffer in self._buffers.items() if buffer is not None}
            device = next(iter(buffers.values())).device
            if device.type == "cuda" and not is_capturing(device):
                return self._captured(buffers, self._values_of, self._values)
        return self._report(self._whole(self._buffers))

    def _values_of(self, buffers: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The values for these tensors in place of the buffers."""
        return self._values.of(self._recipe.view(self._whole(buffers)))

    def _report(self, arrays: dict[str, Tensor], *, is_batch: bool = False) -> dict[str, Tensor]:
        view = self._recipe.view_of_batch if is_batch else self._recipe.view
        if torch.compiler.is_compiling():
            return self._values.of(view(arrays))
        named, has_warned = reported(view, self._values, arrays, has_warned=self._has_warned)
        if has_warned and not self._has_warned:  # a module takes microseconds to set an attribute
            self._has_warned = True
        return named

    def log_dict(self, *, expected: int | None = None) -> dict[str, float]:
        """The values of :meth:`compute` as Python numbers, in a single transfer from the device, for a logger.

        Parameters
        ----------
        expected : int, optional
            The number of all samples, dropped samples included: another number causes a warning with both numbers. It
            detects samples that were counted twice, as samplers for several processes repeat some. With weights it is
            their sum; with several labels a sample, the number of samples of the label with the most. The check waits
            for a device.
        """
        return as_numbers(self.compute(expected=expected))

    def items(self) -> NoReturn:
        """Raise an error, as Lightning's ``self.log_dict(metric)`` does not support this metric."""
        raise TypeError(
            f"log_dict: expected a metric for Lightning, got a {type(self).__name__} of matrics.torch: "
            "use the metric of matrics.torchmetrics with the same options; or log the values at the end of an "
            "epoch, self.log_dict(metric.sync().log_dict()), and reset the metric"
        )

    def clone(self, *, prefix: str | None = None) -> Self:
        """An independent copy, optionally with another prefix: a metric for each phase of training.

        Parameters
        ----------
        prefix : str, optional
            Prefix of the keys of the copy, for example ``"val/"``; that of this metric if left out.
        """
        other = copy.deepcopy(self)
        if prefix is not None:
            other._values = other._values.renamed(prefix)
        return other

    def __copy__(self) -> Self:
        """A copy as from :meth:`clone`: with shared buffers, both metrics would count the batches of each other."""
        return self.clone()

    def reset(self) -> None:
        """Set all counts to 0."""
        for name in self._sums.values():
            for counts in (self._buffers[name], self._buffers[name + ALL_SUFFIX]):
                if counts is not None:
                    counts.zero_()

    def merge_state(self, *others: Self) -> Self:
        """The metric itself, after the addition of the counts of metrics of the same classes and bins, on any device.

        With windows, the newest batches of all metrics are added up, then the batches before them, and so on.

        Parameters
        ----------
        *others : metric
            Metrics of the same class with the same options. They are not changed.
        """
        for other in others:
            if not isinstance(other, RunningMetric):
                raise TypeError(f"expected metrics to merge, got {type(other).__name__}")
            held, theirs = self._part(), other._part()
            self._recipe.check_like(other._recipe, held, theirs)
            for name in self._sums:
                own, other_dtype = held[name].dtype, theirs[name].dtype
                if not torch.can_cast(other_dtype, own):
                    raise TypeError(
                        f"expected a metric of integer counts to merge, got a metric of {other_dtype} counts"
                    )
        self._align()
        for other in others:
            for ending in ("", ALL_SUFFIX):
                theirs = other._part(ending)
                if not theirs:
                    continue
                held, theirs = self._shared_part() if ending else self._part(), other._recipe.aligned(theirs)
                for name in self._sums:
                    held[name] += theirs[name].to(held[name].device)
        return self

    def _align(self) -> None:
        """Sort the slots of a window by time."""
        if self._recipe.window is None:
            return
        own, shared = self._part(), self._part(ALL_SUFFIX)
        for arrays in (shared, own):
            for name, values in self._recipe.aligned(arrays).items() if arrays else ():
                if name in self._sums or arrays is own:
                    arrays[name].copy_(values)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *arguments: Any) -> None:
        own = self._part()
        for ending in ("", ALL_SUFFIX):
            arrays = {name: own[name] for name in (self._sums if ending else self._names)}
            keys = {name: prefix + self._names[name] + ending for name in arrays}
            self._recipe.check_loaded({name: state_dict.get(key) for name, key in keys.items()}, arrays, keys)
        for name in self._sums.values():
            if prefix + name + ALL_SUFFIX in state_dict:
                self._shared_part()
            elif prefix + name in state_dict:
                self._buffers[name + ALL_SUFFIX] = None
        super()._load_from_state_dict(state_dict, prefix, *arguments)

    def _save_to_state_dict(self, *arguments: Any) -> None:
        if not self._has_warned_of_saving:
            own = self._part()
            self._has_warned_of_saving = warned_of_saving([own[name] for name in self._sums], "call sync() first")
        super()._save_to_state_dict(*arguments)

    def sync(self, *, process_group: distributed.ProcessGroup | None = None) -> Self:
        """The metric itself, after the counts of all processes are added up by a single ``all_reduce``.

        Every process of the group has to call it. Each process then has the counts of all. Counting can continue: later
        counts are added at the next sync, and none twice. So after a sync any checkpoint is valid for all processes.
        Without ``torch.distributed``, it does nothing. The counts of a ``ScoreMetric`` are sent as float64, and are
        exact up to 2**53 samples between two syncs.

        Parameters
        ----------
        process_group : ProcessGroup, optional
            The processes; by default all. Always use the same group for a metric: another group would not get the
            counts that this group has already added up.

        Returns
        -------
        ConfusionMetric or ScoreMetric
            The metric itself, for ``metric.sync().compute()``.

        Raises
        ------
        SyncError
            A process has died, hangs, or does not call ``sync`` within the timeout of the group; the message has the
            ranks that reached the sync and the missing ranks, and the counts are unchanged. This needs a backend that
            raises errors, as gloo does: with NCCL PyTorch ends the process, unless ``TORCH_NCCL_BLOCKING_WAIT=1`` is
            set.
        """
        running = distributed.is_available() and distributed.is_initialized()
        if running and distributed.get_rank(process_group) >= 0:  # -1: not a member of the group
            self._align()
            own, shared = self._part(), self._shared_part()
            counts = [own[name] for name in self._sums]
            # A copy in the widest dtype, as a failure may corrupt it.
            total = torch.cat([x.reshape(-1) for x in counts])
            with reporting_failures(process_group):
                distributed.all_reduce(total, group=process_group)
            parts = total.split([x.numel() for x in counts])
            for name, held, part in zip(self._sums, counts, parts, strict=True):
                shared[name].add_(part.reshape(held.shape).to(held.dtype))
                held.zero_()
        return self

    def extra_repr(self) -> str:
        """The text of the metric for ``print``."""
        return f"{self.num_classes}, {self._values}"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the counts, as PyTorch passes tensors to other processes in shared memory, to which both would write."""
        super().__setstate__(state)
        with torch.inference_mode(mode=False):
            for name, buffer in self._buffers.items():
                self._buffers[name] = None if buffer is None else buffer.clone()

    def _replicate_for_data_parallel(self) -> Self:
        """A copy that raises an error when it counts, as DataParallel discards the counts of its copies of a model."""
        replica: Self = super()._replicate_for_data_parallel()
        replica.__dict__["update"] = replica.__dict__["_count_and_compute"] = _refuse_replica
        return replica

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002 (PyTorch's)
        """Move to a device without a change of dtypes: ``model.half()`` would lose counts and sums."""
        super()._apply(keeping_dtypes(fn), recurse)
        return self


def _refuse_replica(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError(
        "update: expected a metric outside of the forward pass of DataParallel, whose copies of a model lose their "
        "counts, got a copy: update the metric with the output of the model, or use DistributedDataParallel"
    )
