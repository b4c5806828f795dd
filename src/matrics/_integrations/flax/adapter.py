"""The adapter for Flax: an ``nnx.Metric`` that keeps the arrays of a recipe in its variables."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from matrics._arrays import Array, fitting
from matrics._arrays.jax import JAX
from matrics._integrations.running.parts import Arrays
from matrics._integrations.running.recipe import Recipe
from matrics._states.leaves import Additive


class RunningMetric(nnx.Metric):
    """The arrays of a recipe as variables, which each batch is added to."""

    _kind: ClassVar[type[Recipe]]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._recipe = self._kind("jax", *arguments, **options)
        self._values, self.num_classes = self._recipe.values, self._recipe.num_classes
        self.has_warned = False
        sums, settings = self._recipe.empty()
        self._sums, self._names = tuple(sums), (*sums, *settings)
        for name, values in (sums | settings).items():
            setattr(self, name, nnx.metrics.MetricState(values))

    def update(
        self,
        y_true: Any = None,
        y_pred: Any = None,
        *,
        labels: Any = None,
        logits: Any = None,
        mask: Any = None,
        sample_weight: Any = None,
        **_: Any,
    ) -> None:
        """Count a batch, over all axes of samples."""
        self._count(
            one_of(y_true=y_true, labels=labels),
            one_of(**{self._recipe.second: y_pred, "logits": logits}),
            mask=mask,
            sample_weight=sample_weight,
            are_logits=None if logits is None else True,
        )

    def _count(self, y_true: Any, y_pred: Any, **options: Any) -> None:
        for name in ("mask", "sample_weight"):
            options[name] = None if options[name] is None else as_jax(name, options[name])
        arrays = self._arrays
        y_pred = jax.lax.stop_gradient(as_jax(self._recipe.second, y_pred))
        self._recipe.count(arrays, as_jax("labels", y_true), y_pred, **options)
        self._write(arrays)

    @property
    def _arrays(self) -> Arrays:
        return {name: getattr(self, name)[...] for name in self._names}

    def _write(self, arrays: Arrays) -> None:
        for name in self._names:
            if name in arrays:
                getattr(self, name)[...] = arrays[name]

    @property
    def state(self) -> Any:
        """The counts so far, as a running state of matrics: a pytree for ``psum``, which adds up."""
        return self._recipe.state(self._arrays)

    def reset(self) -> None:
        """Set all counts to 0, in place."""
        self._write({name: jnp.zeros_like(getattr(self, name)[...]) for name in self._sums})

    def merge_state(self, other: Self | Additive) -> None:
        """Add the counts of another metric or state, such as the sum over several devices.

        Metrics with other settings raise an error; a state alone has no thresholds. A window takes metrics alone: their
        newest batches are added up, then those before them, and so on.

        Parameters
        ----------
        other : metric or state
            A metric of the same options, or the state of such a metric. It is not changed.
        """
        arrays = self._arrays
        if isinstance(other, RunningMetric):
            self._recipe.check_like(other._recipe, arrays, other._arrays)
        if self._recipe.window is None and isinstance(self.state, Additive):
            self._recipe.keep(arrays, self.state + (other.state if isinstance(other, RunningMetric) else other))
        elif isinstance(other, RunningMetric):
            theirs, arrays = self._recipe.aligned(other._arrays), self._recipe.aligned(arrays)
            arrays |= {name: arrays[name] + theirs[name] for name in self._sums}
        else:
            raise TypeError(
                f"merge_state: expected a metric with window={self._recipe.window}, as a state does not say when its "
                f"samples were counted, got {type(other).__name__}"
            )
        self._write(arrays)

    def compute(self, *, expected: int | None = None) -> dict[str, Array]:
        """Each value of all batches so far as a scalar array, under a name for a logger.

        Where samples were dropped, their number is there as ``dropped``, with one warning, on the CPU outside ``jit``;
        there is also one if scores are not in [0, 1] where probabilities are expected.

        Parameters
        ----------
        expected : int, optional
            How many samples there are in all, those that were dropped included: another number causes a warning with
            both numbers. It finds samples that were counted twice, such as those that a sampler for several processes
            repeats. With weights it is their sum; of several labels a sample, those of the label with the most.
            Under ``jit`` nothing is known about it.
        """
        self._values.check_expected(self.state, expected)
        named, self.has_warned = self._values.report(self.state, has_warned=self.has_warned)
        return named

    def log_dict(self, *, expected: int | None = None) -> dict[str, float]:
        """The values of :meth:`compute` as Python's numbers, in one transfer from the device, for a logger.

        Parameters
        ----------
        expected : int, optional
            How many samples there are in all, those that were dropped included: another number causes a warning with
            both numbers. It finds samples that were counted twice, such as those that a sampler for several processes
            repeats. With weights it is their sum; of several labels a sample, those of the label with the most. Under
            ``jit`` nothing is known about it.
        """
        return as_numbers(self.compute(expected=expected))

    def clone(self, *, prefix: str | None = None) -> Self:
        """An independent copy, optionally with another prefix: one metric for each phase of training.

        Parameters
        ----------
        prefix : str, optional
            Prefix of the keys of the copy, for example ``"val/"``; that of this metric if left out.
        """
        other: Self = nnx.clone(self)
        if prefix is not None:
            other._values = other._values.renamed(prefix)
        return other

    def __copy__(self) -> Self:
        """A copy as from :meth:`clone`: metrics that share variables would count into each other."""
        return self.clone()


def as_jax(name: str, values: Any) -> Array:
    """An array of JAX; of NumPy's integers beyond 32 bits default JAX would drop the upper half."""
    return jnp.asarray(fitting(name, values, JAX) if isinstance(values, np.ndarray) else values)


def one_of(**values: Any) -> Any:
    """The one value that is not None."""
    given = [value for value in values.values() if value is not None]
    if len(given) != 1:
        raise TypeError(f"expected one of {' and '.join(values)}, got {len(given)}")
    return given[0]


def as_numbers(named: dict[str, Array]) -> dict[str, float]:
    """Scalar arrays as Python's numbers, in one transfer; of a dict JAX would sort the keys."""
    return dict(zip(named, map(float, jax.device_get(list(named.values()))), strict=True))
