"""The adapter for torchmetrics: a metric with many values, for Lightning's ``log_dict``."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import torch
import torchmetrics
from torch import Tensor
from torchmetrics.utilities.distributed import gather_all_tensors

from matrics._integrations.running.parameters import parameters_of
from matrics._integrations.running.recipe import Recipe
from matrics._integrations.tensors.reading import as_numbers, check_tensors, keeping_dtypes, reported, warned_of_saving
from matrics._integrations.tensors.sync import reporting_failures
from matrics._integrations.tensors.threads import CountingLock
from matrics._integrations.tensors.wrappers import ManyValues


class RunningMetric(ManyValues):
    """A metric with the arrays of a recipe as states, which torchmetrics adds up over processes."""

    full_state_update = False
    is_differentiable = False
    expected: int | None = None
    """The number of all samples, for :meth:`compute` when Lightning calls it; set it before an epoch."""

    _kind: ClassVar[type[Recipe]]
    _drawn: ClassVar[str] = "metric.state"
    """The object to draw in place of a single value."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        names = parameters_of(self._kind).keys() & keywords.keys()
        options = {name: keywords.pop(name) for name in names}
        super().__init__(**keywords)
        with torch.inference_mode(mode=False):
            self._recipe = self._kind("torch", *arguments, **options)
        self._values, self.num_classes = self._recipe.values, self._recipe.num_classes
        self._each = torch.nn.ModuleList()
        self._has_warned = self._has_warned_of_saving = False
        self._lock = CountingLock()
        self._logged: Any = None  # the values that Lightning last read key by key
        # A collection shares states that have the same names and are equal after the first batch: metrics that count
        # differently need different names. A dot would refer to an attribute of a module.
        options = self._recipe.options
        ending = "".join(f"_{value}" if name == "kind" else f"_{name}_{value}" for name, value in options.items())
        ending = ending.replace("torch.", "").replace(".", "_point_").replace("-", "minus_")
        with torch.inference_mode(mode=False):
            sums, settings = self._recipe.empty()
        self._names = {name: f"{name}{ending}" for name in (*sums, *settings)}
        self._names |= {name: f"{x}_counts" for name, x in self._names.items() if hasattr(type(self), x)}
        self._sums = tuple(sums)
        for name, values in (sums | settings).items():
            # All processes have the same settings, so their maximum is the setting.
            reduce = "sum" if name in sums else "max"
            self.add_state(self._names[name], values, dist_reduce_fx=reduce, persistent=True)
        self._list_values()

    def update(
        self, preds: Tensor, target: Tensor, *, mask: Tensor | None = None, sample_weight: Tensor | None = None
    ) -> None:
        """Count a batch, over all axes of samples."""
        # Not in a function, as an update takes microseconds.
        with contextlib.nullcontext() if torch.compiler.is_compiling() else self._lock.lock:
            self._use_outside_inference()
            check_tensors(self._recipe.second, target, preds, mask, sample_weight)
            arrays = self._arrays
            self._recipe.count(arrays, target, preds, mask=mask, sample_weight=sample_weight)
            if not self._recipe.in_place:
                self._write(arrays)

    def _write(self, arrays: dict[str, Tensor]) -> None:
        for name, state in self._names.items():
            if getattr(self, state) is not arrays[name]:
                setattr(self, state, arrays[name])

    @property
    def _arrays(self) -> dict[str, Tensor]:
        return {name: getattr(self, state) for name, state in self._names.items()}

    @property
    def state(self) -> Any:
        """The counts of this process, as a running state of matrics; an update may change its arrays.

        Within ``with metric.sync_context():`` it is the state of all processes.
        """
        return self._recipe.state(self._arrays)

    @property
    def dropped(self) -> Tensor:
        """The number of samples (with several labels: entries) of this process with an invalid label or a NaN score."""
        dropped: Tensor = self.state.dropped
        return dropped.clone()

    def _list_values(self) -> None:
        self._each = torch.nn.ModuleList(SingleValue(self, key) for key in self._values.keys)

    def __getitem__(self, name: Any) -> Any:
        """A metric of a single measure, with a copy of the counts of this metric.

        Its value is a scalar tensor, or a vector for measures such as ``"recall:class"``, so that all wrappers and
        arithmetic of torchmetrics accept it: ``MinMaxMetric(metric["mcc"])``. In a ``MetricCollection`` such metrics
        share their counts. As with the metrics of torchmetrics, checkpoints contain the counts only with
        ``persistent(True)``: after an epoch, Lightning saves before it resets a metric.
        """
        if self._measure is not None:
            return super().__getitem__(name)
        other = self.clone()
        other._values = self._values.only(name, self._recipe.view(self._arrays))
        other._measure = name
        other._computed = other._forward_cache = None
        other._each = torch.nn.ModuleList()
        other.persistent(mode=False)
        return other

    def _measures(self) -> list[str]:
        """The names of the measures, as the user gave them."""
        return self._values.requested

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values are better, for trackers; None for a metric of several measures."""
        return None if self._measure is None else self._values.higher_is_better

    def forward(self, *batch: Any, **options: Any) -> Any:
        """The values of a batch alone; counts the batch, which ``update`` does faster.

        Several threads may call ``forward`` and ``update`` of the same metric at once; no count is lost.

        Parameters
        ----------
        *batch : tensor
            The predictions or scores and the true labels, by position, in the order of :meth:`update`.
        **options : tensor
            ``mask`` and ``sample_weight``, which leave out or weight samples, and arguments not given by position.
        """
        with self._lock.held():
            return self._count_and_compute(*batch, **options)

    def _count_and_compute(self, *batch: Any, **options: Any) -> Any:
        self._use_outside_inference()
        return super().forward(*batch, **options)

    def _forward_reduce_state_update(
        self, preds: Tensor, target: Tensor, *, mask: Tensor | None = None, sample_weight: Tensor | None = None
    ) -> Any:
        """The values of a batch, for ``forward`` of torchmetrics, which could only add up states."""
        check_tensors(self._recipe.second, target, preds, mask, sample_weight)
        arrays = self._arrays
        batch = self._recipe.batch(arrays, target, preds, mask=mask, sample_weight=sample_weight)
        values = self._report(self._recipe.view_of_batch, batch)
        arrays = {name: values.clone() for name, values in arrays.items()}  # collections share states
        self._recipe.absorb(arrays, batch)
        self._write(arrays)
        self._computed, self._update_count = None, self._update_count + 1
        return values

    def _wrap_compute(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        wrapped = super()._wrap_compute(compute)

        @functools.wraps(compute)
        def checked(*, expected: int | None = None) -> Any:
            if expected is not None:  # cached values would not be checked
                self._computed = None
            return wrapped(expected=expected)

        return checked

    def compute(self, *, expected: int | None = None) -> Any:
        """All values of the counts of all processes, as scalar tensors, under names for a logger.

        If samples were dropped, the key ``dropped`` has their number, and on the CPU there is a single warning. Another
        warning says that scores are not in [0, 1] where probabilities are expected.

        Parameters
        ----------
        expected : int, optional
            The number of all samples, dropped samples included: another number causes a warning with both numbers. It
            detects samples that were counted twice, as samplers for several processes repeat some. With weights it is
            their sum; with several labels a sample, the number of samples of the label with the most. The attribute
            ``expected`` is the same for Lightning, which calls this without arguments.
        """
        expected = self.expected if expected is None else expected
        if expected is not None and not torch.compiler.is_compiling():
            self._values.check_expected(self.state, expected)
        return self._report(self._recipe.view, self._arrays)

    def _report(self, view: Callable[..., Any], arrays: dict[str, Tensor]) -> Any:
        if torch.compiler.is_compiling():
            named = self._values.of(view(arrays))
        else:
            # torchmetrics warns about compute() before update().
            named, self._has_warned = reported(
                view, self._values, arrays, has_warned=self._has_warned, warns_of_nothing=False
            )
        if self._measure is None:
            return named
        values = [named[key] for key in self._values.keys]
        return torch.stack(values) if len(values) > 1 else values[0]

    def log_dict(self, *, expected: int | None = None) -> dict[str, float]:
        """The values of :meth:`compute` as Python numbers, in a single transfer from the device, for a logger.

        Parameters
        ----------
        expected : int, optional
            The number of all samples, dropped samples included: another number causes a warning with both numbers. It
            detects samples that were counted twice, as samplers for several processes repeat some. With weights it is
            their sum; with several labels a sample, the number of samples of the label with the most. The attribute
            ``expected`` is the same for Lightning, which calls :meth:`compute` without arguments.
        """
        values = self.compute(expected=expected)
        return as_numbers(
            values if self._measure is None else dict(zip(self._values.keys, values.reshape(-1), strict=True))
        )

    def plot(self, *values: Any, **options: Any) -> Any:
        """A figure of the value of a metric of a single measure; raises an error for a metric of several measures.

        Parameters
        ----------
        *values : tensor
            For a metric of a single measure: the value, or a list of values, to draw in place of :meth:`compute`.
        **options : Any
            The options of ``torchmetrics.Metric.plot``: ``ax``, the axes of Matplotlib to draw on.
        """
        if self._measure is not None:
            return self._plot(*values, **options)
        raise NotImplementedError(
            f"expected a metric of a single value for plot(), got many values: log compute(), or draw {self._drawn}"
        )

    def merge_state(self, incoming_state: dict[str, Any] | Any) -> None:
        """Add the counts of another metric with the same options, or of the states of such a metric.

        With windows, the newest batches of both are added up, then the batches before them, and so on.

        Parameters
        ----------
        incoming_state : metric or dict
            A metric of the same options, or its states by their names. It is not changed.
        """
        if not isinstance(incoming_state, (dict, RunningMetric)) or self.dist_sync_on_step:
            super().merge_state(incoming_state)  # raises
            return
        if isinstance(incoming_state, dict):
            other, theirs = self._recipe, {name: incoming_state.get(state) for name, state in self._names.items()}
        else:
            other, theirs = incoming_state._recipe, incoming_state._arrays
        if any(values is None for values in theirs.values()):
            raise ValueError("merge_state: expected a metric of the same options, got a metric with other options")
        self._recipe.check_like(other, self._arrays, theirs)
        if other.options != self._recipe.options:
            raise ValueError(
                f"merge_state: expected a metric with {self._recipe.options}, got a metric with {other.options}"
            )
        held, theirs = self._recipe.aligned(self._arrays), self._recipe.aligned(theirs)
        self._write(held | {name: held[name] + theirs[name].to(held[name].device) for name in self._sums})
        self._computed, self._update_count = None, max(self._update_count, 1)

    def clone(self, *, prefix: str | None = None) -> Self:
        """An independent copy, optionally with another prefix: a metric for each phase of training.

        Parameters
        ----------
        prefix : str, optional
            Prefix of the keys of the copy, for example ``"val/"``; that of this metric if left out.
        """
        other: Self = super().clone()
        if prefix is not None:
            other._values, other._computed = other._values.renamed(prefix), None  # cached values have the old prefix
            if self._measure is None:
                other._list_values()
        return other

    def __copy__(self) -> Self:
        """A copy as from :meth:`clone`: with shared states, both metrics would count the batches of each other."""
        return self.clone()

    def items(self) -> list[tuple[str, torchmetrics.Metric]]:
        """Names and metrics with a single value each, as Lightning's ``self.log_dict(metric)`` requires."""
        if self._measure is not None:
            raise TypeError(
                f"items: expected a metric of many values, got a metric of {self._measure!r}: use self.log()"
            )
        return list(zip(self._values.keys, self._each, strict=True))

    def set_dtype(self, dst_type: str | torch.dtype) -> Self:  # noqa: ARG002
        """Do nothing: counts keep their dtype.

        Parameters
        ----------
        dst_type : str or torch.dtype
            Ignored; the metrics of torchmetrics itself change to this dtype.
        """
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = "") -> Self:
        """Move to a device without a change of dtypes: ``model.to(torch.float16)`` would lose counts."""
        super()._apply(keeping_dtypes(fn), exclude_state)
        return self

    @property
    def _update_count(self) -> int:
        """The number of batches that torchmetrics has counted.

        Compiled code only needs to know whether there are batches, so the number is a constant there: PyTorch treats
        the integers of a module as constants, and would compile again for each batch.
        """
        return 1 if torch.compiler.is_compiling() else self._batches

    @_update_count.setter
    def _update_count(self, value: int) -> None:
        self._batches = min(value, 1) if torch.compiler.is_compiling() else value

    def _sync_dist(self, dist_sync_fn: Any = gather_all_tensors, process_group: Any = None) -> None:
        with reporting_failures(process_group or self.process_group):
            super()._sync_dist(dist_sync_fn, process_group)

    def _use_outside_inference(self) -> None:
        """Copy states that were reset in inference mode, as they cannot be updated in place outside of it."""
        if torch.compiler.is_compiling() or torch.is_inference_mode_enabled():
            return
        for name in self._defaults:
            if getattr(self, name).is_inference():
                setattr(self, name, getattr(self, name).clone())

    def _copy_states(self) -> None:
        zeros: dict[str, Any] = self._defaults
        for name, zero in zeros.items():  # torchmetrics loads states of any dtype
            setattr(self, name, getattr(self, name).to(zero.dtype, copy=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_classes}, {self._values})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._copy_states()  # spawned processes share the memory of the tensors, and all would write to it

    def state_dict(self, **options: Any) -> Any:
        """The counts of this process, by the names of its states; with several processes save in ``sync_context()``.

        They are 0 once Lightning has logged the values of an epoch: Lightning saves its checkpoint before it resets a
        metric, and a run that continues from the checkpoint would count the epoch again.

        Parameters
        ----------
        **options : Any
            The options of ``torch.nn.Module.state_dict``: ``destination``, ``prefix`` and ``keep_vars``.
        """
        is_done = self._logged is not None and self._logged is self._computed
        if not (is_done or self._is_synced or self._has_warned_of_saving):
            self._has_warned_of_saving = warned_of_saving(
                (getattr(self, name) != zeros.to(self.device) for name, zeros in self._defaults.items()),
                "save within sync_context(), and load in process 0 alone",
            )
        counts_by_name = {name: getattr(self, name) for name in self._defaults} if is_done else {}
        try:
            for name, counts in counts_by_name.items():
                setattr(self, name, self._defaults[name].to(counts.device))
            return super().state_dict(**options)
        finally:
            for name, counts in counts_by_name.items():
                setattr(self, name, counts)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: Any,
        strict: bool,  # noqa: FBT001 (PyTorch's)
        missing_keys: list[str],
        *others: Any,
    ) -> None:
        named = {name: prefix + state for name, state in self._names.items()}
        self._recipe.check_loaded({name: state_dict.get(key) for name, key in named.items()}, self._arrays, named)
        keys = [prefix + name for name in self._defaults]
        saved = [prefix + name for name in self._defaults if self._persistent[name]]
        missing_keys += [key for key in saved if key not in state_dict]  # torchmetrics does not report them
        is_loaded = any(key in state_dict for key in keys)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, *others)
        self._copy_states()  # otherwise counting would modify the loaded tensors
        if is_loaded:
            self._computed, self._update_count = None, max(self._update_count, 1)


class SingleValue(torchmetrics.Metric):
    """A value of a metric that has many values; it has no state, and uses that of the metric."""

    full_state_update = False

    def __init__(self, metric: RunningMetric, key: str) -> None:
        super().__init__(sync_on_compute=False, compute_with_cache=False)
        self.__dict__["_metric"] = metric  # not as a submodule: each would contain the other
        self._key = key

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Count a batch, for all values."""
        self._metric.update(preds, target)

    def compute(self) -> Tensor:
        """The value; all values are computed together when the first is requested."""
        values = self._metric._logged = self._metric.compute()
        return values[self._key]

    def reset(self) -> None:
        """Set all counts to 0, for all values."""
        self._metric.reset()

    @property
    def update_called(self) -> bool:
        """Whether the metric has counted a batch."""
        return bool(self._metric.update_called)

    @property
    def _forward_cache(self) -> Tensor | None:
        batch = self._metric._forward_cache
        return None if batch is None else batch[self._key]

    @_forward_cache.setter
    def _forward_cache(self, value: Any) -> None:
        """Do nothing: the metric has its own cache."""
