"""MarginState: true positives, row sums and column sums that grow batch by batch, for many classes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from matrics._arrays import NUMPY, Array, as_arrays
from matrics._catalogue import registry
from matrics._catalogue.naming import by_names
from matrics._catalogue.record import Metric
from matrics._counting.codes import check_classes
from matrics._counting.count import CountMargins
from matrics._engine.evaluation import Invalid, check_options
from matrics._engine.execution.scratch import keep_freed_memory
from matrics._scoring.score import bound_functions
from matrics._states import leaves
from matrics._states.margin_scores import measures_of_cells, scores_of, table_of, tell_of_invalid
from matrics._states.two_words import TwoWords
from matrics.typing import ArrayLike

# Larger arrays of NumPy get fresh pages from the system each time, unless freed memory is kept. New pages take longer
# than the computation.
FRESH_BYTES = 128 * 1024


class MarginState(leaves.RunningState, leaves.CountLeaves):
    """The margins of confusion matrices as a running state: memory for each class, and none for each pair of classes.

    It is used as :class:`matrics.ConfusionState` is. A matrix of 100,000 classes has 10**10 cells; its true positives,
    row sums and column sums are 300,000 numbers. They are enough for every measure that does not need single cells.

    Parameters
    ----------
    counts : array, shape (*B, 3, n)
        True positives, false negatives and false positives of each class; floating in a state for weighted counts. In
        default JAX the low words.
    dropped : array, shape (*B,)
        How many samples were left out for a label out of range or a NaN score.
    carried : array, shape (*B, 3, n) or (*B, 0, 0)
        In default JAX, which has no 64-bit integers, the high words of the counts, in units of 65,536; in a state of
        float32 what rounding has lost in all additions; elsewhere empty.

    Notes
    -----
    Make a state with :meth:`zeros`, not from arrays. It counts errors, which would be small differences of
    row and column sums. Counts are as exact as those of a ``ConfusionState``.

    Examples
    --------
    >>> import matrics
    >>> state = matrics.MarginState.zeros(100_000)
    >>> for y_true, y_pred in [([7, 40_000, 7], [7, 99_999, 8]), ([99_999, 8], [99_999, 8])]:
    ...     state = state.update(y_true, y_pred)
    >>> state.counts.nbytes
    2400000
    >>> {name: round(float(value), 3) for name, value in state.score(["accuracy", "f1", "mcc"]).items()}
    {'accuracy': 0.6, 'f1': 0.5, 'mcc': 0.53}

    Measures that need other cells are refused:

    >>> state.score("cen")
    Traceback (most recent call last):
        ...
    ValueError: cen needs all cells of the matrix, which a MarginState does not keep; use ConfusionState
    """

    __slots__ = ()

    @classmethod
    def zeros(
        cls,
        num_classes: int | None = None,
        *,
        labels: Iterable[Hashable] | None = None,
        batch_shape: Iterable[int] = (),
        like: ArrayLike | None = None,
        dtype: Any = None,
        allow_large: bool = False,
    ) -> MarginState:
        """Make a state with all counts 0.

        Parameters
        ----------
        num_classes : int, optional
            Number of classes, n. Required without ``labels``.
        labels : sequence of text, integers or other hashables, optional
            The label of each class, in order; required without ``num_classes``. A state contains only arrays, so
            :meth:`update` needs them again.
        batch_shape : tuple of int, default ()
            One matrix for each model, head, fold or threshold: the leading axes of the labels that are not pooled.
        like : array, optional
            An array of the library and on the device of the state; NumPy if left out.
        dtype : dtype, optional
            Integer counts if left out; the library's float32 or float64 for weighted counts.
        allow_large : bool, default False
            Whether the state may take more than 1 GiB; otherwise a larger state raises an error with its size.

        Returns
        -------
        MarginState
            Zeros.

        Raises
        ------
        TypeError
            ``dtype`` is neither float32 nor float64.
        ValueError
            ``num_classes`` is not an integer of at least 1, ``batch_shape`` has a negative length, or the state is too
            large.

        Examples
        --------
        >>> import matrics
        >>> matrics.MarginState.zeros(50_000, batch_shape=(2,)).counts.shape
        (2, 3, 50000)
        """
        n = check_classes(num_classes, labels).number
        batch = leaves.check_batch(batch_shape)
        sizes = {"num_classes": n}
        return cls(*leaves.zeros(batch, (3, n), like, dtype, sizes=sizes, allow_large=allow_large, compensated=True))

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: Iterable[Hashable] | None = None,
        class_axis: int | None = None,
        threshold: float | None = None,
        sample_weight: ArrayLike | None = None,
        ignore_index: Any = None,
        axis_name: Any = None,
    ) -> MarginState:
        """Add the counts of a batch of labels, over all axes but the state's batch; the state does not change.

        Labels (B, T) in a state without ``batch_shape`` are B times T samples.

        Parameters
        ----------
        y_true : array_like of int or bool, shape (*B, *S)
            True labels in [0, n). B is the batch of the state; all other axes are samples, and are pooled.
        y_pred : array_like, shape (*B, *S), or (*B, *S) with a class axis
            Integers or booleans are labels; of floating class scores the largest is the prediction. Labels broadcast
            over the batch.
        labels : sequence of text, integers or other hashables, optional
            The label of each class, in order; required if labels are not the numbers 0 to n - 1. Unknown labels are
            dropped.
        class_axis : int, optional
            The axis of the class scores of ``y_pred``. If left out, the last axis; with a warning if axis 1 has as
            many entries.
        threshold : float, optional
            ``y_pred`` is the score of class 1 of two; samples with a score of at least this are predicted as 1.
        sample_weight : array_like, optional
            A weight for each sample; broadcasts against the labels. The state must have floating counts.
        ignore_index : int or sequence of int, optional
            Samples with any of these true labels are left out, and do not count as dropped.
        axis_name : str or tuple of str, optional
            In JAX, inside ``shard_map`` or ``vmap``: the axis of the devices whose counts of the batch are added up.
            The new state is the same on all devices, if this state is.

        Returns
        -------
        MarginState
            The new state.

        Raises
        ------
        TypeError
            The arrays are not of the state's library, their dtypes are neither labels nor scores, or there are weights
            and the state has integer counts.
        ValueError
            The shapes do not fit.

        Notes
        -----
        No value is inspected on any backend: labels out of range and NaN scores are not counted and raise no error, but
        ``dropped`` counts them. A NaN or infinite weight makes its matrix invalid; a negative weight is subtracted.

        Counts have no gradient with respect to scores, as those of :func:`matrics.confusion_matrix`: ``jax.grad`` gives
        0 without a warning. :func:`matrics.soft_confusion_matrix` is differentiable.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.MarginState.zeros(3).update([0, 1, 2, 2, -1], [0, 2, 2, 1, 0])
        >>> state.true_positives, state.true, state.pred, int(state.dropped)
        (array([1, 0, 1]), array([1, 1, 2]), array([1, 1, 2]), 1)
        """
        options: Any = {"class_axis": class_axis, "threshold": threshold, "ignore_index": ignore_index}
        options |= {"labels": labels, "sample_weight": sample_weight}
        if axis_name is not None:
            return self._over_devices(axis_name, y_true, y_pred, **options)
        return MarginState(*leaves.counted(self, y_true, y_pred, **options, counter=CountMargins))

    @property
    def _number_of_names(self) -> int:
        return int(self.counts.shape[-1])

    @staticmethod
    def _has_shapes(shapes: Mapping[str, tuple[int, ...]]) -> bool:
        """Whether the arrays have these shapes after their batch axes."""
        return len(shapes["counts"]) == 2 and shapes["counts"][0] == 3

    def _plus(self, other: MarginState) -> MarginState:
        return MarginState(*leaves.merge(self, other))

    @property
    def true_positives(self) -> Array:
        """Samples of each class that were predicted as it, shape (*B, n): the diagonal of the matrix.

        In default JAX, which has no 64-bit integers, an exact int64 array of NumPy; under ``jit``, ``vmap`` and the
        like, where that is impossible, float32.
        """
        return leaves.exact(self)[..., 0, :]

    @property
    def true(self) -> Array:
        """Samples of each true class, shape (*B, n): row sums. The dtype is that of ``true_positives``."""
        counts = leaves.exact(self)
        return counts[..., 0, :] + counts[..., 1, :]

    @property
    def pred(self) -> Array:
        """Samples predicted as each class, shape (*B, n): column sums. The dtype is that of ``true_positives``."""
        counts = leaves.exact(self)
        return counts[..., 0, :] + counts[..., 2, :]

    def score(
        self,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        class_names: Sequence[str] | None = None,
        positive: Hashable = None,
    ) -> dict[str, Array]:
        """Many measures of the counts so far, as :func:`matrics.score` computes them for the whole matrix.

        Parameters
        ----------
        metrics : str, Metric, or several of them
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
            :meth:`list_metrics` returns the names of the measures that need no other cells. There is no default, as two
            measures of ``core`` need them. Averages and ``:one_vs_rest`` work for every measure: the margins determine
            all four counts of each class against the rest.
        zero_division : float, default NaN
            The value of undefined measures (0/0).
        invalid : {"warn", "raise", "nan"}
            What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and
            no other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"``
            checks on every backend, which waits for the device.
        class_names : sequence of str, optional
            Names of the classes, in their order. With them the value of each class has its own key: ``recall/cat``.
        positive : str or int, optional
            The positive class: a class name where there are ``class_names``, and an index otherwise. Per-class measures
            without an average are values of this class. Without it they are values of class 1 of two classes, and means
            over more (``macro``).

        Returns
        -------
        dict of str to array
            Keyed by metric, as given, on the device of the state.

        Raises
        ------
        ValueError
            A measure needs other cells than those of the diagonal.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.MarginState.zeros(3).update([0, 0, 1, 2], [0, 1, 1, 2])
        >>> state.score(["cohen_kappa", "recall:class"])["recall:class"]
        array([0.5, 1. , 1. ])
        """
        check_options(zero_division, invalid)
        number = self.counts.shape[-1]
        chosen, functions = bound_functions(metrics, number, class_names, positive)
        own, (counts,) = as_arrays(counts=self.counts)
        on_host = own.host_view(counts) is not None
        backend, counts = (NUMPY, own.host_view(counts)) if on_host else (own, counts)
        if leaves.has_words(self):
            counts = leaves.exact(self) if on_host else TwoWords(counts, self.carried)
        elif leaves.has_remainders(self):
            _, counts = leaves.to_score(self)
            counts = own.host_view(counts) if on_host else counts
        if on_host and counts.nbytes > FRESH_BYTES:
            keep_freed_memory()
        with backend.quiet():
            table = table_of(counts, backend, float(zero_division))
            if invalid == "raise" or (invalid == "warn" and own.looking_is_free):
                tell_of_invalid(table, invalid)
            scores = scores_of(chosen, functions, table)
        if on_host:
            scores = {name: own.from_host(value[()]) for name, value in scores.items()}
        return by_names(scores, chosen, class_names)

    @staticmethod
    def list_metrics(family: str | None = None) -> list[str]:
        """The names of the measures that need no other cells.

        Parameters
        ----------
        family : str, optional
            As in :func:`matrics.list_metrics`.

        Returns
        -------
        list of str
            Determined by trying each measure.

        Raises
        ------
        ValueError
            There is no such family.

        Examples
        --------
        >>> import matrics
        >>> matrics.MarginState.list_metrics("core")
        ['accuracy', 'balanced_accuracy', 'precision', 'recall', 'f1', 'mcc', 'cohen_kappa']
        """
        names = registry.list_metrics(family)
        lacking = measures_of_cells({name: registry.get_metric(name) for name in names})
        return [name for name in names if name not in lacking]
