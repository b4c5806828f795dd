"""ConfusionState: confusion matrices that grow batch by batch, and are merged by addition."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from matrics._arrays import Array
from matrics._arrays.sizes import check_count
from matrics._catalogue.record import Metric
from matrics._counting.codes import check_classes
from matrics._counting.labels import FEWER_CELLS, MANY_CLASSES
from matrics._engine.evaluation import Invalid
from matrics._scoring.score import score
from matrics._states import leaves
from matrics.typing import ArrayLike


class ConfusionState(leaves.RunningState, leaves.CountLeaves):
    """Confusion matrices as a running state: immutable, of fixed shape, and merged by addition, leaf by leaf.

    It is a tuple of arrays, and so passes through ``jax.jit``, ``lax.scan``, ``vmap``, ``torch.compile`` and
    checkpoints unchanged. A single ``all_reduce`` or ``psum`` of its arrays is a correct merge over processes.

    Parameters
    ----------
    counts : array, shape (*B, n, n), or (*B, G, n, n) with groups
        Counts, with true classes in rows; floating in a state for weighted counts. In default JAX the low words.
    dropped : array, shape (*B,)
        How many samples were left out for a label or group out of range or a NaN score.
    carried : array, of the shape of the counts, or with class axes of length 0
        In default JAX, which has no 64-bit integers, the high words of the counts, in units of 65,536; in a state of
        float32 what rounding has lost in all additions; elsewhere empty.

    Notes
    -----
    Make a state with :meth:`zeros`, not from arrays. Counts are exact: to 2**63 where there are 64-bit integers, to
    2**47 in default JAX. There, ``dropped`` saturates just below 2**30, and is exact up to 2**31 in a leaf-wise
    sum.

    Examples
    --------
    >>> import matrics
    >>> state = matrics.ConfusionState.zeros(3)
    >>> for y_true, y_pred in [([0, 1, 2], [0, 1, 1]), ([2, 2, 7], [2, 0, 2])]:
    ...     state = state.update(y_true, y_pred)
    >>> state.matrix
    array([[1, 0, 0],
           [0, 1, 0],
           [1, 1, 1]])
    >>> int(state.dropped)  # the label 7
    1
    >>> state.score("accuracy")["accuracy"]
    np.float64(0.6)

    States of parts of the data add up to the state of all data:

    >>> sum([state, state, state]).matrix.sum()
    np.int64(15)
    """

    __slots__ = ()

    @classmethod
    def zeros(
        cls,
        num_classes: int | None = None,
        *,
        labels: Iterable[Hashable] | None = None,
        batch_shape: Iterable[int] = (),
        num_groups: int | None = None,
        like: ArrayLike | None = None,
        dtype: Any = None,
        allow_large: bool = False,
    ) -> ConfusionState:
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
        num_groups : int, optional
            One matrix for each of G groups of samples; :meth:`update` then needs ``groups``.
        like : array, optional
            An array of the library and on the device of the state; NumPy if left out.
        dtype : dtype, optional
            Integer counts if left out; the library's float32 or float64 for weighted counts.
        allow_large : bool, default False
            Whether the state may take more than 1 GiB; otherwise a larger state raises an error with its size.

        Returns
        -------
        ConfusionState
            Zeros.

        Raises
        ------
        TypeError
            ``dtype`` is neither float32 nor float64.
        ValueError
            ``num_classes`` or ``num_groups`` is not an integer of at least 1, ``batch_shape`` has a negative length, or
            the state is too large; with many classes use :class:`matrics.MarginState`.

        Examples
        --------
        >>> import matrics
        >>> matrics.ConfusionState.zeros(2, batch_shape=(5,)).counts.shape
        (5, 2, 2)
        """
        n = check_classes(num_classes, labels).number
        shape = (n, n) if num_groups is None else (check_count(num_groups, "num_groups"), n, n)
        batch = leaves.check_batch(batch_shape)
        options: Any = {"sizes": {"num_classes": n, "num_groups": num_groups}, "allow_large": allow_large}
        options |= {"advice": FEWER_CELLS if n >= MANY_CLASSES else "", "compensated": True}
        return cls(*leaves.zeros(batch, shape, like, dtype, **options))

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
        groups: ArrayLike | None = None,
        axis_name: Any = None,
    ) -> ConfusionState:
        """Add the counts of a batch of labels, over all axes but the state's batch; the state does not change.

        Labels (B, T) in a state without ``batch_shape`` are B times T samples of the same matrix.

        Parameters
        ----------
        y_true : array_like of int or bool, shape (*B, *S)
            True labels in [0, n). B is the batch of the state; all other axes are samples, and are pooled.
        y_pred : array_like, shape (*B, *S), or (*B, *S) with a class axis
            Integers or booleans are labels; of floating class scores the largest is the prediction. Labels broadcast
            over the batch: a ``y_true`` (N,) against the (M, N) of M models.
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
        groups : array_like of int, optional
            The group of each sample, in [0, G); broadcasts against the labels. A state with groups needs them.
        axis_name : str or tuple of str, optional
            In JAX, inside ``shard_map`` or ``vmap``: the axis of the devices whose counts of the batch are added up.
            The new state is the same on all devices, if this state is.

        Returns
        -------
        ConfusionState
            The new state.

        Raises
        ------
        TypeError
            The arrays are not of the state's library, their dtypes are neither labels nor scores, or there are weights
            and the state has integer counts, or it has groups and they are not given, or the reverse, or there is
            ``axis_name`` and the arrays are not JAX's.
        ValueError
            The shapes do not fit.

        Notes
        -----
        No value is inspected on any backend: labels and groups out of range and NaN scores are not counted and raise no
        error, but ``dropped`` counts them, for all groups together. A NaN or infinite weight is added to its cell,
        and makes that matrix invalid; a negative weight is subtracted from its cell.

        Counts have no gradient with respect to scores, as those of :func:`matrics.confusion_matrix`: ``jax.grad`` gives
        0 without a warning. :func:`matrics.soft_confusion_matrix` is differentiable.

        Examples
        --------
        >>> import matrics
        >>> heads = matrics.ConfusionState.zeros(2, batch_shape=(3,))
        >>> heads.update([0, 1, 1], [[0, 1, 1], [0, 0, 1], [1, 0, 0]]).score("accuracy")["accuracy"].round(2)
        array([1.  , 0.67, 0.  ])

        A matrix for each group of samples:

        >>> regions = matrics.ConfusionState.zeros(2, num_groups=2)
        >>> regions.update([0, 1, 1], [0, 1, 0], groups=[0, 1, 1]).score("accuracy")["accuracy"]
        array([1. , 0.5])
        """
        if _has_groups(self) != (groups is not None):
            raise TypeError(
                "groups: expected the group of each sample, as this state has groups, got None"
                if groups is None
                else "groups: expected None, as this state has no groups; make it with zeros(..., num_groups=)"
            )
        options: Any = {"class_axis": class_axis, "threshold": threshold, "ignore_index": ignore_index}
        options |= {"labels": labels, "sample_weight": sample_weight, "groups": groups}
        if axis_name is not None:
            return self._over_devices(axis_name, y_true, y_pred, **options)
        options["num_groups"] = None if groups is None else self.counts.shape[-3]
        return ConfusionState(*leaves.counted(self, y_true, y_pred, **options))

    def _plus(self, other: ConfusionState) -> ConfusionState:
        if _has_groups(self) != _has_groups(other):
            raise ValueError("expected states that both have groups, or both have none")
        return ConfusionState(*leaves.merge(self, other))

    @property
    def _number_of_names(self) -> int:
        return int(self.counts.shape[-1])

    @staticmethod
    def _has_shapes(shapes: Mapping[str, tuple[int, ...]]) -> bool:
        """Whether the arrays have these shapes after their batch axes, which are those of the dropped samples."""
        counts = shapes["counts"]
        return len(counts) in (2, 3) and counts[-1] == counts[-2]

    @property
    def matrix(self) -> Array:
        """The confusion matrices, shape (*B, n, n), or (*B, G, n, n) with groups.

        In default JAX, which has no 64-bit integers, an exact int64 array of NumPy; under ``jit``, ``vmap`` and the
        like, where that is impossible, float32.
        """
        return leaves.exact(self)

    def score(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        workers: int = 1,
        class_names: Sequence[str] | None = None,
        positive: Hashable = None,
    ) -> dict[str, Array]:
        """Many measures of the matrices so far, as from :func:`matrics.score`.

        Parameters
        ----------
        metrics : str, Metric, or several of them, default "core"
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
        zero_division : float, default NaN
            The value of undefined measures (0/0).
        invalid : {"warn", "raise", "nan"}
            What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and
            no other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"``
            checks on every backend, which waits for the device.
        workers : int, default 1
            Number of threads on the host; -1 for as many as there are cores. It does not change results. The blocks of
            a stack are scored in parallel.
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

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ConfusionState.zeros(2).update([0, 0, 1, 1], [0, 0, 1, 0])
        >>> state.score(["mcc", "recall:class"])["recall:class"]
        array([1. , 0.5])
        >>> state.score("recall", class_names=["ok", "fraud"], positive="fraud")["recall"]
        np.float64(0.5)
        """
        options: Any = {"zero_division": zero_division, "workers": workers}
        options |= {"class_names": class_names, "positive": positive}
        function = partial(score, metrics=metrics, **options)
        return leaves.scored(self, *leaves.to_score(self), function, invalid=invalid)


def _has_groups(state: ConfusionState) -> bool:
    return bool(state.counts.ndim - state.dropped.ndim > 2)
