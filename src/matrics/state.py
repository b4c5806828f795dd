"""ConfusionState: confusion matrices that grow batch by batch, and are merged by addition."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from matrics import _backend
from matrics._backend import Array, Standard
from matrics.catalogue.record import Metric
from matrics.coding import check_classes
from matrics.counting import count_labels
from matrics.evaluation import Invalid
from matrics.labels import label_dtype
from matrics.scoring import score
from matrics.typing import ArrayLike

# Default JAX has no 64-bit integers. Counts then have two words: the low word is below 2**16 after each step, so that
# 2**15 states can be added up leaf by leaf before it would wrap; the high word is in units of 2**16.
WORD = 16
MOST_DROPPED = 2**30 - 1


class ConfusionState(NamedTuple):
    """Confusion matrices as a running state: immutable, of fixed shape, and merged by addition, leaf by leaf.

    It is a tuple of arrays, and so passes through ``jax.jit``, ``lax.scan``, ``vmap``, ``torch.compile`` and
    checkpoints unchanged. One ``all_reduce`` or ``psum`` of its arrays is a correct merge over processes.

    Parameters
    ----------
    counts : array, shape (*B, n, n)
        Counts, with true classes in rows; floating in a state for weighted counts. In default JAX the low words.
    dropped : array, shape (*B,)
        How many samples were left out for a label out of range or a NaN score.
    carried : array, shape (*B, n, n) or (*B, 0, 0)
        In default JAX, which has no 64-bit integers, the high words of the counts, in units of 65,536; elsewhere
        empty.

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

    counts: Array
    dropped: Array
    carried: Array

    @classmethod
    def zeros(
        cls,
        num_classes: int | None = None,
        *,
        labels: Iterable[Hashable] | None = None,
        batch_shape: Iterable[int] = (),
        like: ArrayLike | None = None,
        dtype: Any = None,
    ) -> ConfusionState:
        """Make a state with all counts 0.

        Parameters
        ----------
        num_classes : int
            Number of classes, n.
        labels : sequence of text, integers or other hashables, optional
            In place of ``num_classes``: the label of each class. A state holds nothing but arrays, so :meth:`update`
            needs them again.
        batch_shape : tuple of int, default ()
            One matrix for each model, head, fold or threshold: the leading axes of the labels that are not pooled.
        like : array, optional
            An array of the library and on the device where the state is to be; NumPy if left out.
        dtype : dtype, optional
            Integer counts if left out; the library's float32 or float64 for weighted counts.

        Returns
        -------
        ConfusionState
            Zeros.

        Raises
        ------
        TypeError
            ``dtype`` is neither float32 nor float64.
        ValueError
            ``num_classes`` is not an integer of at least 1, or ``batch_shape`` has a negative length.

        Examples
        --------
        >>> import matrics
        >>> matrics.ConfusionState.zeros(2, batch_shape=(5,)).counts.shape
        (5, 2, 2)
        """
        n = check_classes(num_classes, labels).number
        batch = _check_batch(batch_shape)
        backend, (like,) = _backend.as_arrays(like=np.zeros(()) if like is None else like)
        xp = backend.xp
        if dtype is not None and dtype not in (xp.float32, xp.float64):
            raise TypeError(
                f"dtype: expected None for integer counts, float32 or float64 for weighted ones, got {dtype!r}"
            )
        integer = label_dtype(like, backend)
        has_words = dtype is None and backend.widest_int(like) is None
        place = backend.device_option(like)
        return cls(
            xp.zeros((*batch, n, n), dtype=integer if dtype is None else dtype, **place),
            xp.zeros(batch, dtype=integer, **place),
            xp.zeros((*batch, n, n) if has_words else (*batch, 0, 0), dtype=integer, **place),
        )

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: Iterable[Hashable] | None = None,
        class_axis: int = -1,
        threshold: float | None = None,
        sample_weight: ArrayLike | None = None,
        ignore_index: Any = None,
    ) -> ConfusionState:
        """Add the counts of a batch of labels; the state itself does not change.

        Parameters
        ----------
        y_true : array_like of int or bool, shape (*B, *S)
            True labels in [0, n). B is the batch of the state; all other axes are samples, and are pooled.
        y_pred : array_like, shape (*B, *S), or (*B, *S) with a class axis
            Integers or booleans are labels, floating numbers class scores, as in :func:`matrics.confusion_matrix`.
            Labels broadcast over the batch: one ``y_true`` (N,) against the (M, N) of M models.
        labels : sequence of text, integers or other hashables, optional
            The label of each class, where labels are not the numbers 0 to n - 1; unknown ones are dropped.
        class_axis : int, default -1
            Where the class scores of ``y_pred`` are.
        threshold : float, optional
            ``y_pred`` is the score of class 1 of two; samples with a score of at least this are predicted as 1.
        sample_weight : array_like, optional
            A weight for each sample; broadcasts against the labels. The state must have floating counts.
        ignore_index : int, optional
            Samples with this true label are left out, and do not count as dropped.

        Returns
        -------
        ConfusionState
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
        ``dropped`` counts them. A NaN or infinite weight is added to its cell, and makes that matrix invalid; a
        negative one is subtracted from its cell.

        Examples
        --------
        >>> import matrics
        >>> heads = matrics.ConfusionState.zeros(2, batch_shape=(3,))
        >>> heads.update([0, 1, 1], [[0, 1, 1], [0, 0, 1], [1, 0, 0]]).score("accuracy")["accuracy"].round(2)
        array([1.  , 0.67, 0.  ])
        """
        if sample_weight is not None and not _is_floating(self):
            raise TypeError(
                "sample_weight: expected None, as this state has integer counts; make it with "
                "ConfusionState.zeros(..., dtype=), float32 or float64, for weighted ones"
            )
        n = self.counts.shape[-1]
        classes = check_classes(n if labels is None else None, labels)
        if classes.number != n:
            raise ValueError(f"labels: expected {n}, one for each class of the state, got {classes.number}")
        counted = count_labels(
            y_true,
            y_pred,
            num_classes=n if labels is None else None,
            labels=classes.labels,
            class_axis=class_axis,
            threshold=threshold,
            sample_weight=sample_weight,
            ignore_index=ignore_index,
            state=self.counts,
        )
        return _add(self, counted.matrix, counted.dropped, None, counted.backend)

    def __add__(self, other: Any) -> ConfusionState:
        """The sum of both states: the counts of all the data that either has counted."""
        if not isinstance(other, ConfusionState):
            raise TypeError(f"expected a ConfusionState to add, got {type(other).__name__}")
        backend, (a, b) = _backend.as_arrays(state=self.counts, other=other.counts)
        if tuple(a.shape) != tuple(b.shape):
            raise ValueError(
                f"expected states of the same classes and batch, got counts {tuple(a.shape)} and {tuple(b.shape)}"
            )
        if _is_floating(self) != _is_floating(other) or _has_words(self) != _has_words(other):
            raise TypeError(f"expected states of the same kind of counts, got {a.dtype} and {b.dtype}")
        return _add(self, b, other.dropped, other.carried, backend)

    def __radd__(self, other: Any) -> ConfusionState:
        """Accept 0, with which ``sum`` begins."""
        return self if isinstance(other, int) and other == 0 else self + other

    def __mul__(self, other: Any) -> ConfusionState:
        """Raise an error: multiplying a tuple would repeat it."""
        raise TypeError("a ConfusionState cannot be multiplied: states only add up")

    def __rmul__(self, other: Any) -> ConfusionState:
        """Raise an error: multiplying a tuple would repeat it."""
        return self.__mul__(other)

    @property
    def matrix(self) -> Array:
        """The confusion matrices, shape (*B, n, n).

        In default JAX, which has no 64-bit integers, an exact int64 array of NumPy; under ``jit``, ``vmap`` and the
        like, where that is impossible, float32.
        """
        if not _has_words(self):
            backend, (counts,) = _backend.as_arrays(counts=self.counts)
            return backend.copied(counts)  # a state never changes, even if its matrix is modified
        backend, (counts, carried) = _backend.as_arrays(counts=self.counts, carried=self.carried)
        if backend.can_look(counts):
            return (backend.to_numpy(carried).astype(np.int64) << WORD) + backend.to_numpy(counts)
        return _as_float(counts, carried, backend)

    def score(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        workers: int = 1,
    ) -> dict[str, Array]:
        """Many measures of the matrices so far, as from :func:`matrics.score`.

        Parameters
        ----------
        metrics : str, Metric, or several of them
            As in :func:`matrics.score`.
        zero_division, invalid, workers
            As in :func:`matrics.score`.

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
        """
        options: Any = {"zero_division": zero_division, "invalid": invalid, "workers": workers}
        if not _has_words(self):
            return score(self.counts, metrics, **options)
        backend, (counts, carried) = _backend.as_arrays(counts=self.counts, carried=self.carried)
        if invalid == "warn":  # as everywhere on JAX
            options["invalid"] = "nan"
        if backend.host_view(counts) is None:
            return score(_as_float(counts, carried, backend), metrics, **options)
        scores = score(self.matrix, metrics, **options)
        return {name: backend.from_host(value) for name, value in scores.items()}


def _check_batch(batch_shape: Iterable[int]) -> tuple[int, ...]:
    batch = (batch_shape,) if isinstance(batch_shape, int) else tuple(batch_shape)
    if any(isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0 for size in batch):
        raise ValueError(f"batch_shape: expected lengths of axes, got {batch_shape!r}")
    return tuple(int(size) for size in batch)


def _has_words(state: ConfusionState) -> bool:
    return bool(state.carried.shape[-1] > 0)


def _is_floating(state: ConfusionState) -> bool:
    backend, (counts,) = _backend.as_arrays(counts=state.counts)
    return backend.is_float(counts)


def _add(
    state: ConfusionState, counts: Array, dropped: Array | int, carried: Array | None, backend: Standard
) -> ConfusionState:
    """The state with these counts added."""
    xp = backend.xp
    if counts.dtype != state.counts.dtype:
        counts = xp.astype(counts, state.counts.dtype)
    counts = state.counts + counts
    if backend.widest_int(counts) is None:
        if backend.is_integer(counts) and not _has_words(state):
            raise TypeError(
                "this state was made for 64-bit integers, which JAX does not have without jax_enable_x64: make it with "
                "ConfusionState.zeros(..., like=) of a JAX array"
            )
        most = MOST_DROPPED
        dropped = xp.clip(xp.clip(state.dropped, None, most) + xp.clip(dropped, None, most), None, most)
    elif not isinstance(dropped, int):
        dropped = state.dropped + dropped
    else:
        dropped = state.dropped
    if not _has_words(state):
        return ConfusionState(counts, dropped, state.carried)
    high = state.carried + (counts >> WORD)
    return ConfusionState(counts & (2**WORD - 1), dropped, high if carried is None else high + carried)


def _as_float(counts: Array, carried: Array, backend: Standard) -> Array:
    xp = backend.xp
    return xp.astype(carried, xp.float32) * float(2**WORD) + xp.astype(counts, xp.float32)
