"""The base of the metrics for Flax: variables with the arrays of a state, and their values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from matrics._arrays import Array, fitting
from matrics._arrays.jax import JAX
from matrics._counting.labels import is_kept, labels_to_ignore
from matrics._integrations.odd_scores import warned_of_scores
from matrics._integrations.values import Values
from matrics._states.leaves import Additive


class RunningMetric(nnx.Metric):
    """The arrays of a running state as variables, which each batch is added to."""

    _values: Values
    _summed: tuple[str, ...]
    """The names of the arrays of counts and sums, without the high words of counts."""

    decay: float | None = None
    ignore_index: tuple[int, ...]

    def _hold(self, state: Any) -> None:
        """Make the variables: of arrays without elements none, because Orbax cannot save these."""
        self.has_warned = self.has_warned_of_scores = False
        leaves = {name: getattr(state, name) for name in state._fields if name != "states"}
        for name, leaf in leaves.items():
            setattr(self, name, nnx.metrics.MetricState(leaf) if leaf.size else None)
        self._empty = tuple((name, leaf.shape, str(leaf.dtype)) for name, leaf in leaves.items() if not leaf.size)

    def _keep(self, state: Any) -> None:
        for name in (*self._summed, "carried"):
            variable = getattr(self, name)
            if variable is not None:
                variable[...] = getattr(state, name)

    def _array(self, name: str) -> Array:
        """An array of the state."""
        variable = getattr(self, name)
        if variable is not None:
            return variable[...]
        return next(jnp.zeros(shape, dtype) for empty, shape, dtype in self._empty if empty == name)

    @property
    @abstractmethod
    def state(self) -> Any:
        """The counts so far: a pytree for ``psum``."""

    @property
    def _earlier(self) -> Any:
        """What a batch is added to: the counts so far, which may decay."""
        return self.state if self.decay is None else self.state.decayed(self.decay)

    def reset(self) -> None:
        """Set all counts to 0, in place."""
        self._keep(jax.tree.map(jnp.zeros_like, self.state))

    def merge_state(self, other: Self | Additive) -> None:
        """Add the counts of another metric or state, such as the sum over several devices."""
        self._keep(self.state + (other.state if isinstance(other, RunningMetric) else other))

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
        """The values of :meth:`compute` as Python's numbers, in one transfer from the device, for a logger."""
        return as_numbers(self.compute(expected=expected))

    def clone(self, *, prefix: str | None = None) -> Self:
        """An independent copy, optionally with another prefix: one metric for each phase of training."""
        other: Self = nnx.clone(self)
        if prefix is not None:
            other._values = other._values.renamed(prefix)
        return other

    def __copy__(self) -> Self:
        """A copy as from :meth:`clone`: metrics that share variables would count into each other."""
        return self.clone()

    def _weights(self, sample_weight: Any) -> Array | None:
        """The weights of samples, if any; raises for a metric of integer counts."""
        if sample_weight is None:
            return None
        if JAX.is_integer(self.state.counts):
            raise TypeError(
                "sample_weight: expected None, as this metric has integer counts; make it with dtype=jax.numpy.float32 "
                "for weighted ones"
            )
        return as_jax("sample_weight", sample_weight)

    def _look_at_scores(self, y_true: Array, y_score: Array, mask: Any) -> None:
        """Warn once of scores outside of [0, 1], which thresholds of probabilities part; classes are the last axis."""
        if self.has_warned_of_scores or JAX.host_view(y_score) is None:
            return
        counted = is_kept(y_true, labels_to_ignore(self.ignore_index, y_true, JAX), JAX)
        if mask is not None:
            inside = jnp.broadcast_to(jnp.asarray(mask).astype(bool), y_true.shape)
            counted = inside if counted is None else inside & counted
        if counted is not None and y_score.ndim > y_true.ndim:
            counted = counted[..., None]
        if warned_of_scores(y_score, counted, JAX):
            self.has_warned_of_scores = True


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
