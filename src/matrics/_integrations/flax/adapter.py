"""The adapter for Flax: an ``nnx.Metric`` that stores the arrays of a recipe in its variables."""

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
    """A metric with the arrays of a recipe as variables, to which each batch is added."""

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
            single_argument(y_true=y_true, labels=labels),
            single_argument(**{self._recipe.second: y_pred, "logits": logits}),
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
        """The counts of all batches as a running state of matrics, a pytree for ``psum``."""
        return self._recipe.state(self._arrays)

    def reset(self) -> None:
        """Set all counts to 0, in place."""
        self._write({name: jnp.zeros_like(getattr(self, name)[...]) for name in self._sums})

    def merge_state(self, other: Self | Additive) -> None:
        """Add the counts of another metric or state, such as the sum over several devices.

        Metrics with other settings raise an error; states have no thresholds to compare. A metric with a window accepts
        metrics only: the newest batches of both are added up, then the batches before them, and so on.

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
                f"merge_state: expected a metric with window={self._recipe.window}, as a state does not have the order "
                "of "
                f"the batches, got {type(other).__name__}"
            )
        self._write(arrays)

    def compute(self, *, expected: int | None = None) -> dict[str, Array]:
        """The values of all batches so far as scalar arrays, under names for a logger.

        If samples were dropped, the key ``dropped`` has their number, and on the CPU outside ``jit`` there is a single
        warning. Another warning says that scores are not in [0, 1] where probabilities are expected.

        Parameters
        ----------
        expected : int, optional
            The number of all samples, dropped samples included: another number causes a warning with both numbers. It
            detects samples that were counted twice, as samplers for several processes repeat some. With weights it is
            their sum; with several labels a sample, the number of samples of the label with the most. Under ``jit``
            there is no check.
        """
        self._values.check_expected(self.state, expected)
        named, self.has_warned = self._values.report(self.state, has_warned=self.has_warned)
        return named

    def log_dict(self, *, expected: int | None = None) -> dict[str, float]:
        """The values of :meth:`compute` as Python numbers, in a single transfer from the device, for a logger.

        Parameters
        ----------
        expected : int, optional
            The number of all samples, dropped samples included: another number causes a warning with both numbers. It
            detects samples that were counted twice, as samplers for several processes repeat some. With weights it is
            their sum; with several labels a sample, the number of samples of the label with the most. Under ``jit``
            there is no check.
        """
        return as_numbers(self.compute(expected=expected))

    def clone(self, *, prefix: str | None = None) -> Self:
        """An independent copy, optionally with another prefix: a metric for each phase of training.

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
        """A copy as from :meth:`clone`: with shared variables, both metrics would count the batches of each other."""
        return self.clone()


def as_jax(name: str, values: Any) -> Array:
    """The values as an array of JAX; raises for integers that do not fit, whose upper bits JAX would drop."""
    return jnp.asarray(fitting(name, values, JAX) if isinstance(values, np.ndarray) else values)


def single_argument(**values: Any) -> Any:
    """The only value that is not None; raises unless there is exactly one."""
    arguments = [value for value in values.values() if value is not None]
    if len(arguments) != 1:
        raise TypeError(f"expected one of {' and '.join(values)}, got {len(arguments)}")
    return arguments[0]


def as_numbers(named: dict[str, Array]) -> dict[str, float]:
    """Scalar arrays as Python numbers, in a single transfer; ``device_get`` of a dict would sort the keys."""
    return dict(zip(named, map(float, jax.device_get(list(named.values()))), strict=True))
