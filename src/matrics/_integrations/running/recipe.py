"""The base class of all recipes: common options, arrays by name, decay, and windows of the last batches."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypedDict

import numpy as np

from matrics._arrays import Array, Standard, is_compiling
from matrics._arrays.sizes import check_count, check_state_size
from matrics._counting.labels import AXIS_OF_LOSSES, check_ignore_index, checked_class_axis
from matrics._integrations.running.odd_scores import warned_of_scores
from matrics._integrations.running.parts import Arrays, StoredState, StoredStates, backend_of, library_of
from matrics._integrations.running.samples import kept_samples
from matrics._integrations.running.settings import Undefined, decay_and_dtype
from matrics._integrations.running.values import Values
from matrics._quoting import quoted
from matrics._states.windows import SETTINGS, STATES_AT_ONCE, WEIGHED

# Dtypes of weighted counts; and the default axis of classes, as for the losses of the library.
FLOATS = {"torch": ("torch.float32", "torch.float64"), "jax": ("jax.numpy.float32", "jax.numpy.float64")}
AXES = {"torch": AXIS_OF_LOSSES, "jax": -1}
#: The name of the array with the slot of a window for the next batch.
PLACE = "place"


class CommonOptions(TypedDict, total=False):
    """The options that all kinds of metrics have."""

    prefix: str
    class_names: Sequence[str] | None
    class_axis: int | None
    from_logits: bool
    ignore_index: int | Sequence[int] | None
    dtype: Any
    decay: float | None
    window: int | None
    zero_division: float
    fill_undefined: float | None
    allow_large: bool


class Recipe(ABC):
    """The arrays of a kind of metric, the counting of a batch, and the values; see the docstring of the package.

    Recipes with equal options are equal, so that JAX compiles once for equal metrics.
    """

    kind: ClassVar[str]
    second: ClassVar[str] = "y_score"
    values: Values
    num_classes: int | None
    in_place: ClassVar[bool] = False
    """Whether tensors always change in place, so that adapters need not check for replaced tensors."""
    weighed: tuple[str, ...] = (*WEIGHED, "carried")
    """The names of the arrays that decay; with floating counts ``carried`` has the rounding errors."""

    def __init__(
        self,
        library: str,
        *,
        prefix: str = "",
        class_names: Sequence[str] | None = None,
        class_axis: int | None = None,
        from_logits: bool = False,
        ignore_index: int | Sequence[int] | None = None,
        dtype: Any = None,
        decay: float | None = None,
        window: int | None = None,
        zero_division: float = math.nan,
        fill_undefined: float | None = 0.0,
        allow_large: bool = False,
    ) -> None:
        self.library = library
        xp = self.backend.xp
        if dtype is not None and dtype not in (xp.float32, xp.float64):
            raise TypeError(
                f"dtype: expected None for integer counts, or {' or '.join(FLOATS[library])} for weighted counts, "
                f"got {dtype}"
            )
        self.decay, self.dtype = decay_and_dtype(decay, dtype, self.backend.widest_float(self._like()))
        self.window = None if window is None else check_count(window, "window", most=STATES_AT_ONCE)
        if decay is not None and window is not None:
            raise ValueError(
                "window: expected None with decay=, which reduces the counts of earlier batches gradually, got "
                f"{quoted(window)}; pass either window= or decay="
            )
        self.prefix, self.class_names, self.allow_large = prefix, class_names, allow_large
        self.class_axis = checked_class_axis(class_axis)
        self.axis = AXES[library] if class_axis is None else class_axis
        self.from_logits, self.ignored = bool(from_logits), check_ignore_index(ignore_index)
        self.undefined = Undefined.of(zero_division, fill_undefined)
        if window is None:
            self.count = self._add  # type: ignore[method-assign]  # an update takes microseconds
        self._checks_scores = False  # whether scores outside of [0, 1] cause a warning; False after the first warning

    @property
    def options(self) -> dict[str, Any]:
        """The options of counting that differ from their defaults."""
        own = self._own_options()
        options = {
            "kind": own.pop("kind", None),
            "axis": None if self.class_axis in (None, AXES[self.library]) else self.class_axis,
            "logits": self.from_logits or None,
            "ignoring": "_".join(map(str, self.ignored)) or None,
            "in": None if self.dtype is None else str(np.dtype(self.dtype) if self.library == "jax" else self.dtype),
            "decay": self.decay,
            "window": self.window,
        } | own
        return {name: value for name, value in options.items() if value is not None}

    def _own_options(self) -> dict[str, Any]:
        """The options of this kind of metric, for ``options``."""
        return {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and type(other) is type(self) and other._identity == self._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        return self.library, self.values, tuple(self.options.items())

    @property
    def backend(self) -> Standard:
        """The library of the arrays."""
        return backend_of(self.library)

    def _like(self) -> Array:
        return self.backend.xp.zeros(())

    # Methods of each kind ---------------------------------------------------------------------------------------------

    @abstractmethod
    def _empty(self) -> tuple[Arrays, Arrays]:
        """New arrays that add up, all 0, and settings, which do not add up."""

    @abstractmethod
    def _add(
        self,
        arrays: Arrays,
        y_true: Array,
        y_pred: Array,
        *,
        mask: Array | None = None,
        sample_weight: Array | None = None,
        are_logits: bool | None = None,
    ) -> None:
        """Add a batch to the arrays, in place or in the dict, after the decay of earlier counts."""

    @abstractmethod
    def _state(self, arrays: Arrays) -> Any:
        """The running state in the memory of the arrays, which may be NumPy arrays."""

    def _check_same(self, other: Any, arrays: Arrays, others: Arrays) -> None:
        """Raise an error unless another recipe of this kind counts the same; by default shapes are compared."""
        for name, own in arrays.items():
            if name not in others or others[name].shape != own.shape:
                raise ValueError(
                    f"merge_state: expected a metric of the same counts, got a metric of {other.kind} with other {name}"
                )

    def matrix(self, state: Any) -> Array:
        """The matrix, or the matrices, of a state; kinds without a matrix raise an error."""
        raise NotImplementedError

    def keep(self, arrays: Arrays, state: Any) -> None:
        """Put the arrays of a state in the dict."""
        for name in arrays:
            if not self._is_setting(name):
                arrays[name] = getattr(state, name)

    def _checks(self) -> dict[str, Callable[..., None]]:
        """The checks of arrays of checkpoints of PyTorch that differ from ``check_counts``, by name."""
        return {}

    # Methods for adapters
    # -----------------------------------------------------------------------------------------------

    def empty(self) -> tuple[Arrays, Arrays]:
        """New arrays that add up, all 0, and settings, which do not add up."""
        sums, settings = self._empty()
        if self.window is None:
            return sums, settings
        backend, xp = self.backend, self.backend.xp
        size = sum(x.nbytes for x in sums.values()) * self.window
        check_state_size(size, {"window": self.window}, allow_large=self.allow_large)
        rings = {name: xp.zeros((self.window, *x.shape), dtype=x.dtype) for name, x in sums.items()}
        integer = backend.widest_int(self._like()) or xp.int32
        return rings, settings | {PLACE: xp.zeros((), dtype=integer)}

    def count(
        self,
        arrays: Arrays,
        y_true: Array,
        y_pred: Array,
        *,
        mask: Array | None = None,
        sample_weight: Array | None = None,
        are_logits: bool | None = None,
    ) -> None:
        """Add a batch to the arrays; in a window it replaces the oldest batch."""
        options: Any = {"mask": mask, "sample_weight": sample_weight, "are_logits": are_logits}
        self.absorb(arrays, self.batch(arrays, y_true, y_pred, **options))

    def batch(self, arrays: Arrays, y_true: Array, y_pred: Array, **options: Any) -> Arrays:
        """The arrays of a batch alone, and the settings."""
        result = {
            name: x if self._is_setting(name) else self.backend.xp.zeros_like(x if self.window is None else x[0])
            for name, x in arrays.items()
            if name != PLACE
        }
        self._add(result, y_true, y_pred, **options)
        return result

    def absorb(self, arrays: Arrays, batch: Arrays) -> None:
        """Add the arrays of a batch to the arrays, after the decay, or in place of the oldest batch."""
        if self.window is None:
            self.forget(arrays)
        for name in arrays:
            if self._is_setting(name):
                continue
            if self.window is None:
                arrays[name] += batch[name]
            else:
                self._set_slot(arrays, name, arrays[PLACE], batch[name])
        if self.window is not None:
            place = arrays[PLACE]
            after = (place + 1) % self.window
            arrays[PLACE] = place.copy_(after) if self.library == "torch" else after

    def forget(self, arrays: Arrays) -> None:
        """Apply the decay, or remove the oldest batch of a window, for a batch that was counted elsewhere."""
        if self.decay is not None:
            self._decay(arrays)
        if self.window is not None:
            place = (arrays[PLACE] + self.window - 1) % self.window
            for name, x in arrays.items():
                if not self._is_setting(name):
                    self._set_slot(arrays, name, place, self.backend.xp.zeros_like(x[0]))

    def aligned(self, arrays: Arrays) -> Arrays:
        """The arrays with the slots of a window from the oldest to the newest batch, so that they can be added."""
        if self.window is None:
            return arrays
        xp, place = self.backend.xp, arrays[PLACE]
        order = (xp.arange(self.window, **self.backend.device_option(place)) + place) % self.window
        arrays_in_order = {
            name: x if self._is_setting(name) else xp.take(x, order, axis=0) for name, x in arrays.items()
        }
        return arrays_in_order | {PLACE: xp.zeros_like(place)}

    def state(self, arrays: Arrays) -> Any:
        """The running state of all counts, which later batches do not change."""
        return self.view(arrays)

    def view(self, arrays: Arrays) -> Any:
        """The running state, possibly in the memory of the arrays."""
        return self._state(self._total(arrays))

    def view_of_batch(self, arrays: Arrays) -> Any:
        """The running state of the arrays of a single batch."""
        return self._state(arrays)

    def check_like(self, other: Any, arrays: Arrays, others: Arrays) -> None:
        """Raise an error unless the arrays of another recipe can be added to the arrays of this recipe."""
        if other.kind != self.kind:
            raise TypeError(f"expected a metric of {self.kind} to merge, got a metric of {other.kind}")
        if other.window != self.window:
            raise ValueError(f"merge_state: expected a metric with window={self.window}, got window={other.window}")
        self._check_same(other, arrays, others)

    def check_loaded(self, loaded: Mapping[str, Any], arrays: Arrays, keys: Mapping[str, str]) -> None:
        """Raise an error unless the arrays of a checkpoint of PyTorch are valid for the metric."""
        from matrics._integrations.tensors.checkpoints import check_counts, check_place

        checks: dict[str, Any] = self._checks() | {PLACE: functools.partial(check_place, window=self.window or 1)}
        for name, own in sorted(arrays.items(), key=lambda item: not self._is_setting(item[0])):
            check = checks.get(name, check_counts)
            parts = [(loaded.get(name), own)]
            if self.window is not None and name != PLACE and not self._is_setting(name):
                parts = [(_slot(loaded.get(name), i, self.window), own[i]) for i in range(self.window)]
            for part, own_part in parts:
                check(keys[name], part, own_part)

    # Methods that kinds share
    # -------------------------------------------------------------------------------------------------

    def _decay(self, arrays: Arrays) -> None:
        for name in self.weighed:
            if name in arrays:
                arrays[name] *= self.decay

    def _is_setting(self, name: str) -> bool:
        return name in SETTINGS or name in (PLACE, "thresholds")

    def _total(self, arrays: Arrays) -> Arrays:
        """The arrays, summed over the slots of a window."""
        if self.window is None:
            return arrays
        backend = self._library_of(arrays)
        return {
            name: x if self._is_setting(name) else backend.xp.sum(x, axis=0, dtype=x.dtype)
            for name, x in arrays.items()
            if name != PLACE
        }

    def _set_slot(self, arrays: Arrays, name: str, place: Array, values: Array) -> None:
        x = arrays[name]
        if self.library == "torch":
            x.index_copy_(0, place.to(x.device).reshape(1), values[None])
        else:
            arrays[name] = x.at[place].set(values)

    def _library_of(self, arrays: Arrays) -> Standard:
        return library_of(next(iter(arrays.values())), self.backend)

    def _check_scores_in_range(self, y_true: Array, y_score: Array, mask: Array | None) -> None:
        """Warn once about scores outside of [0, 1] that are compared with thresholds of probabilities."""
        if not self._checks_scores or is_compiling():
            return
        counted = kept_samples(y_true, mask, self.ignored, self.backend)
        counted = counted[..., None] if counted is not None and y_score.ndim > y_true.ndim else counted
        is_narrow = y_score.itemsize == 2  # NumPy does not have bfloat16, and is slow with float16
        scores = self.backend.xp.astype(y_score, self.backend.xp.float32) if is_narrow else y_score
        self._checks_scores = not warned_of_scores(scores, counted, self.backend)

    def _refuse_weights(self, sample_weight: Any) -> None:
        if sample_weight is not None and self.dtype is None:
            raise TypeError(
                "sample_weight: expected None, as this metric has integer counts; make it with "
                f"dtype={' or '.join(FLOATS[self.library])} for weighted counts"
            )


class StateRecipe(Recipe):
    """A recipe whose arrays are the fields of a named tuple, such as a ``ScoreState``."""

    in_place = True
    _stored: StoredState | StoredStates

    def _state(self, arrays: Arrays) -> Any:
        return self._stored.state(arrays)

    def keep(self, arrays: Arrays, state: Any) -> None:
        """Put the arrays of a state in the dict."""
        arrays |= self._stored.parts(state)[0]


def plain(values: Any) -> Any:
    """The numbers of an array as a list; other values unchanged."""
    return values.tolist() if hasattr(values, "tolist") else values


def _slot(loaded: Any, place: int, window: int) -> Any:
    """A slot of a window of a checkpoint, or the whole array if its shape is wrong, for which the check raises."""
    return loaded[place] if getattr(loaded, "ndim", 0) and len(loaded) == window else loaded
