"""MultilabelState: matrices of each label that grow batch by batch, and are merged by addition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matrics._arrays import Array, as_arrays
from matrics._arrays.sizes import check_count
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid, check_options
from matrics._multilabel.averages import Average, checked_average, metrics_of_labels, over_labels
from matrics._multilabel.counting import LabelCounts, count, enter
from matrics._states import leaves
from matrics._states.confusion import ConfusionState
from matrics.typing import ArrayLike

# Low words of default JAX are below 2**16, so that this many labels can be summed before a word would wrap.
LABELS_AT_ONCE = 2**14


class MultilabelState(leaves.RunningState, leaves.CountLeaves):
    """The 2×2 matrices of several labels as a running state: immutable, of fixed shape, and merged by addition.

    It works like a :class:`matrics.ConfusionState`: a tuple of arrays that passes through
    ``jax.jit``, ``lax.scan``, ``vmap``, ``torch.compile`` and checkpoints. Its sum over processes, array by array, is a
    correct merge.

    Parameters
    ----------
    counts : array, shape (*B, L + 1, 2, 2)
        For each label the samples without and with it; and last whole samples, in row 1, predicted as 1 if all labels
        are right. In default JAX the low words.
    dropped : array, shape (*B, L + 1)
        How many entries of each label, and last how many whole samples, were left out for a value other than 0 and 1.
    carried : array, of the shape of the counts, or with class axes of length 0
        In default JAX the high words of the counts, in units of 65,536; in a state of float32 what rounding has lost in
        all additions; elsewhere empty.

    Examples
    --------
    >>> import matrics
    >>> state = matrics.MultilabelState.zeros(3)
    >>> state = state.update([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    >>> state = state.update([[1, 1, 0]], [[0.9, 0.2, 0.7]], threshold=0.5)
    >>> state.score(["f1", "mcc"], average="label")["f1"].round(3)
    array([1.   , 0.667, 0.   ])
    >>> state.subset_accuracy().round(3), state.hamming_loss().round(3)
    (np.float64(0.333), np.float64(0.333))
    """

    __slots__ = ()

    @classmethod
    def zeros(
        cls,
        num_labels: int,
        *,
        batch_shape: Iterable[int] = (),
        like: ArrayLike | None = None,
        dtype: Any = None,
        allow_large: bool = False,
    ) -> MultilabelState:
        """Make a state with all counts 0.

        Parameters
        ----------
        num_labels : int
            Number of labels, L.
        batch_shape : tuple of int, default ()
            A set of labels for each model, fold or threshold: the leading axes that are not pooled.
        like : array, optional
            An array of the library and on the device of the state; NumPy if left out.
        dtype : dtype, optional
            Integer counts if left out; the library's float32 or float64 for weighted counts.
        allow_large : bool, default False
            Whether the state may take more than 1 GiB; otherwise a larger state raises an error with its size.

        Returns
        -------
        MultilabelState
            Zeros.

        Raises
        ------
        TypeError
            ``dtype`` is neither float32 nor float64.
        ValueError
            ``num_labels`` is not an integer of at least 1, ``batch_shape`` has a negative length, or the state is too
            large.

        Examples
        --------
        >>> import matrics
        >>> matrics.MultilabelState.zeros(4, batch_shape=(5,)).matrix.shape
        (5, 4, 2, 2)
        """
        number = check_count(num_labels, "num_labels")
        batch = leaves.check_batch(batch_shape)
        options: Any = {"sizes": {"num_labels": number}, "allow_large": allow_large, "compensated": True}
        return cls(*leaves.zeros((*batch, number + 1), (2, 2), like, dtype, **options))

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        threshold: float | None = None,
        sample_weight: ArrayLike | None = None,
        ignore_index: int | Sequence[int] | None = None,
        axis_name: Any = None,
    ) -> MultilabelState:
        """Add the counts of a batch of samples; the state itself does not change.

        Parameters
        ----------
        y_true : array_like of int or bool, shape (*B, *S, L)
            1 if a sample has a label, 0 if not. B is the batch of the state, and all axes between it
            and the labels are samples, which are pooled.
        y_pred : array_like, shape (*B, *S, L)
            1 if the label is predicted, 0 otherwise; with ``threshold``, floating scores of the labels.
        threshold : float, optional
            Labels with a score of at least this are predicted.
        sample_weight : array_like, optional
            A weight for each sample; broadcasts against (*B, *S). The state must have floating counts.
        ignore_index : int or sequence of int, optional
            Entries with this true value are left out, and do not count as dropped.
        axis_name : str or tuple of str, optional
            In JAX, inside ``shard_map`` or ``vmap``: the axis of the devices whose counts of the batch are added up.
            The new state is the same on all devices, if this state is.

        Returns
        -------
        MultilabelState
            The new state.

        Raises
        ------
        TypeError
            The values are floating without ``threshold``, or there are weights and the state has integer counts.
        ValueError
            The shapes do not fit.

        Notes
        -----
        No value is inspected on any backend: entries other than 0 and 1 and NaN scores are not counted and raise no
        error, but ``dropped`` counts them, and their samples are left out of the subset accuracy.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.MultilabelState.zeros(2).update([[1, -1], [0, 1]], [[1, 0], [1, 1]])
        >>> state.dropped  # the -1 of label 1, and the sample that has it
        array([0, 1, 1])
        """
        if axis_name is not None:
            options: Any = {"threshold": threshold, "sample_weight": sample_weight, "ignore_index": ignore_index}
            return self._over_devices(axis_name, y_true, y_pred, **options)
        leaves.refuse_unexpected_weights(self, self.counts, sample_weight)
        state = self.labels.counts
        samples = enter(y_true, y_pred, sample_weight, ignore_index, threshold=threshold, state=state)
        return grown(self, count(samples), count(samples, "whole"))

    def _plus(self, other: MultilabelState) -> MultilabelState:
        return MultilabelState(*leaves.merge(self, other))

    @property
    def _batch(self) -> tuple[int, ...]:
        return tuple(self.dropped.shape[:-1])

    @property
    def _number_of_names(self) -> int:
        return int(self.dropped.shape[-1]) - 1

    @staticmethod
    def _has_shapes(shapes: Mapping[str, tuple[int, ...]]) -> bool:
        """Whether the arrays have these shapes after the axis of the labels, which is not empty."""
        return shapes["counts"] == (2, 2) and shapes["dropped"][-1:] > (1,)

    @property
    def labels(self) -> ConfusionState:
        """The matrices of the labels, as a state of two classes and batch (*B, L)."""
        return self._rows(slice(-1))

    @property
    def samples(self) -> ConfusionState:
        """The matrix of whole samples, as a state of two classes and batch (*B,)."""
        return self._rows(-1)

    def _rows(self, place: Any) -> ConfusionState:
        cells = (..., place, slice(None), slice(None))
        return ConfusionState(self.counts[cells], self.dropped[..., place], self.carried[cells])

    @property
    def matrix(self) -> Array:
        """The matrices of the labels, shape (*B, L, 2, 2), as :attr:`matrics.ConfusionState.matrix` gives them."""
        return self.labels.matrix

    def score(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        average: Average | None = "auto",
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        workers: int = 1,
    ) -> dict[str, Array]:
        """Many measures of the labels so far, as from :func:`matrics.multilabel.score`.

        Parameters
        ----------
        metrics : str, Metric, or several of them, default "core"
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. A
            per-class measure without an average is the value of class 1, to have the label, which is the positive class
            of each of these matrices.
        average : {"auto", "macro", "micro", "weighted", "label"} or None, default "auto"
            ``"macro"``, as if left out: the mean over the labels. ``"weighted"``: the same, weighted by the number of
            samples that truly have the label. ``"micro"``: the measure of the sum of the labels' matrices. ``"label"``
            or None: no average. A mean over samples would need the matrix of each sample, which a state of fixed size
            does not keep.
        zero_division : float, default NaN
            The value of undefined measures (0/0).
        invalid : {"warn", "raise", "nan"}
            What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and
            no other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"``
            checks on every backend, which waits for the device.
        workers : int, default 1
            Number of threads on the host; -1 for as many as there are cores. It does not change results. The blocks of
            a stack are scored in parallel.

        Returns
        -------
        dict of str to array
            Keyed by metric, as given.

        Raises
        ------
        ValueError
            ``average`` is ``"samples"``, or there is no such average or metric.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.MultilabelState.zeros(2).update([[1, 0], [1, 1]], [[1, 1], [0, 1]])
        >>> state.score("recall", average="micro")["recall"].round(3)
        np.float64(0.667)
        """
        average = checked_average(average)
        if average == "samples":
            raise ValueError(
                "average: expected 'macro', 'micro', 'weighted' or 'label', got 'samples', which needs the matrix of "
                "each sample, and a MultilabelState keeps sums over samples; matrics.multilabel.score has it"
            )
        check_options(zero_division, invalid, workers)
        options: Any = {"zero_division": zero_division, "invalid": invalid, "workers": workers}
        return over_labels(
            metrics_of_labels(metrics, average),
            average,
            lambda each: self.labels.score(each, **options),
            lambda each: _pooled(self.labels).score(each, **options),
            zero_division,
        )

    def subset_accuracy(self, *, zero_division: float = math.nan) -> Array:
        """Fraction of the samples with all labels predicted correctly, shape (*B,).

        Samples with a value other than 0 and 1 are left out.

        Parameters
        ----------
        zero_division : float, default NaN
            The value without samples.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.MultilabelState.zeros(2).update([[1, 0], [1, 1]], [[1, 1], [1, 1]])
        >>> state.subset_accuracy()
        np.float64(0.5)
        """
        return self.samples.score("accuracy", zero_division=zero_division)["accuracy"]

    def hamming_loss(self, *, zero_division: float = math.nan) -> Array:
        """Fraction of the entries, samples times labels, that are predicted wrong, shape (*B,).

        Parameters
        ----------
        zero_division : float, default NaN
            The value without samples.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.MultilabelState.zeros(2).update([[1, 0], [1, 1]], [[1, 1], [1, 1]])
        >>> state.hamming_loss()
        np.float64(0.25)
        """
        return self.score("hamming_loss", average="micro", zero_division=zero_division)["hamming_loss"]


def grown(state: MultilabelState, labels: LabelCounts, whole: LabelCounts) -> MultilabelState:
    """The state with the counts of labels and of whole samples added."""
    backend, (_, own) = as_arrays(counts=state.counts, dropped=state.dropped)
    xp = backend.xp
    dropped = xp.astype(xp.concat([labels.dropped, whole.dropped], axis=-1), own.dtype)
    return MultilabelState(
        *leaves.add(state, xp.concat([labels.matrix, whole.matrix], axis=-3), dropped, None, backend)
    )


def _pooled(labels: ConfusionState) -> ConfusionState:
    """The sum over labels; its number of dropped samples has no meaning."""
    backend, words = as_arrays(counts=labels.counts, carried=labels.carried)
    parts = []
    number = labels.counts.shape[-3]
    for start in range(0, number, LABELS_AT_ONCE):
        stop = min(start + LABELS_AT_ONCE, number)
        counts, carried = (backend.xp.sum(leaf[..., start:stop, :, :], axis=-3, dtype=leaf.dtype) for leaf in words)
        parts.append(ConfusionState(counts, labels.dropped[..., 0], carried))
    pooled = parts[0]
    for part in parts[1:]:
        pooled = pooled + part
    return pooled
