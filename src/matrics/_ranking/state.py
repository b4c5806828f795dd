"""ScoreState: histograms of scores by class that count batches and merge by addition."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, get_args

from matrics._arrays import Array, as_arrays
from matrics._catalogue.classes import TWO
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid, check_options, evaluate
from matrics._ranking.areas_of_state import matrices, thresholds
from matrics._ranking.averages import check_average
from matrics._ranking.batches import read_batch
from matrics._ranking.binned_calibration import Calibration
from matrics._ranking.bins import make_edges
from matrics._ranking.bounded_measures import BoundedMeasures
from matrics._ranking.calibration import Reliability
from matrics._ranking.leaves import Contents, ScoreLeaves, check_same, empty, has_shapes, merged, with_batch
from matrics._ranking.probability_bins import Of
from matrics._ranking.sample_sums import Means
from matrics._ranking.state_names import divided, value_of
from matrics._ranking.top_k import Average as AverageOfHits
from matrics._scoring.score import resolve
from matrics._states.leaves import RunningState, add_dropped, refuse_narrow, refuse_unexpected_weights, scored
from matrics.typing import ArrayLike


class ScoreState(RunningState, BoundedMeasures, ScoreLeaves):
    """Histograms of scores by class as a running state: immutable, of fixed shape, and merged by addition.

    A state stores counts of buckets instead of all scores. The areas under the ROC curve and (as average precision)
    under the precision-recall curve, and measures of the k highest scores, follow from the counts, with guaranteed
    bounds. A bucket holds the scores that
    agree in their leading bits. So its width is proportional to the score, and the range of the scores need not be
    known. Calibration, measures at thresholds, losses and top-k measures have counters of their own, and are exact.

    A state is a tuple of arrays, and works unchanged with ``jax.jit``, ``lax.scan``, ``vmap``, ``torch.compile`` and
    checkpoints. A single ``all_reduce`` or ``psum`` of its arrays merges it over processes.

    Parameters
    ----------
    counts : array, shape (*B, K, 2) or (*B, n, K, 2)
        Samples of class 0 and of class 1 in each of K buckets; with n classes, of each class against the rest. In
        default JAX the low words.
    carried : array, shape of ``counts``, or with lengths of 0
        In default JAX, which has no 64-bit integers, the high words of the counts, in units of 65,536; elsewhere
        empty.
    bins, bins_carried : array, shape (*B, E + 1, 2) or (*B, n, E + 1, 2)
        Samples between E thresholds or edges, and the high words of these counts.
    rounded : array, shape (*B,)
        0 if every score is known to be the only number in its bucket or bin.
    dropped : array, shape (*B,)
        The number of samples that were left out because of a label out of range or a NaN score.
    edges : array, shape (*B, E, 2)
        The thresholds or edges as integers, times ``states``.
    states : array, shape (*B,)
        The number of states that were added array by array, with their edges. After each update it is 1.
    calibration : array, shape (*B, R, M + 2, 3)
        Samples, positives and distances of probabilities from the lower edge, in M bins of equal width and the two
        beyond them: of class 1; with classes of the top class, and with ``class_wise=True`` of each class before it.
    sums : array, shape (*B, n, C) or (*B, 0, 0)
        The weight of the samples of each true class; with ``losses=True`` the sums of their log losses and Brier
        scores; and for each k of ``top_k=`` how many have their class among the k highest scores.
    calibration_remainders, remainders : array
        In float32 the rounding errors of additions to ``calibration`` and ``sums``; elsewhere empty.
    top_k : array, shape (*B, T)
        Each k, times ``states``.

    Notes
    -----
    Make a state with :meth:`zeros`, not from arrays. Counts are as exact as those of :class:`matrics.ConfusionState`.

    Examples
    --------
    >>> import matrics
    >>> state = matrics.ScoreState.zeros()
    >>> for y_true, y_score in [([0, 0, 1], [0.1, 0.4, 0.35]), ([1, 0, 1], [0.8, 0.33, 0.95])]:
    ...     state = state.update(y_true, y_score)
    >>> area = state.roc_auc()
    >>> print(f"{area.value:.3f}, and between {area.low:.3f} and {area.high:.3f}")
    0.889, and between 0.889 and 0.889
    """

    __slots__ = ()

    @classmethod
    def zeros(
        cls,
        *,
        num_classes: int | None = None,
        bits: int | None = None,
        edges: ArrayLike | None = None,
        thresholds: ArrayLike | None = None,
        num_bins: int = 15,
        class_wise: bool = False,
        losses: bool = False,
        top_k: int | Iterable[int] | None = None,
        batch_shape: Iterable[int] = (),
        like: ArrayLike | None = None,
        dtype: Any = None,
        allow_large: bool = False,
    ) -> ScoreState:
        """Make a state with all counts 0.

        Parameters
        ----------
        num_classes : int, optional
            Number of classes, n, for scores with an axis of classes. If left out, scores are of class 1 of two.
        bits : int, optional
            The resolution of the buckets for areas, from 4 to 20: the number of bits after the first in which scores of
            a bucket agree. (From 13 on, scores below 1/16 and above 128 keep 12, and above 2¹⁶ 10; scores below 2⁻¹⁶
            and above 2³² keep 7 or fewer.) If left out, 15 for a single histogram, of class 1 of two, which takes 17
            MiB; for several, of classes or of a batch, 10, or fewer, but at least 4, such that the counts take at most
            64 MiB. With 0 there are no buckets.
        edges : array_like, shape (E,), optional
            Bins of your own in place of the buckets, for areas and for :meth:`score`: edges that increase.
        thresholds : array_like, shape (T,), optional
            Thresholds for :attr:`matrix` and :meth:`score`: counts there are exact, whatever the buckets. With
            ``edges=`` they are further edges.
        num_bins : int, default 15
            Number of bins of the calibration, of equal width from 0 to 1. With 0 there is no calibration.
        class_wise : bool, default False
            With classes: whether there is calibration of each class, and not of the top class alone.
        losses : bool, default False
            Whether to keep sums for :meth:`log_loss` and :meth:`brier_score`; scores are then probabilities or logits.
        top_k : int or several of them, optional
            With classes: numbers of highest scores, for :meth:`top_k_accuracy` and :meth:`top_k_recall`.
        batch_shape : tuple of int, default ()
            One histogram for each model, head or fold: the leading axes of the labels that are not pooled.
        like : array, optional
            An array of the library and on the device of the state; NumPy if left out.
        dtype : dtype, optional
            Integer counts if left out; the library's float32 or float64 for weighted counts.
        allow_large : bool, default False
            Whether the state may take more than 1 GiB; otherwise a larger state raises an error with its size.

        Raises
        ------
        TypeError
            ``dtype`` is neither float32 nor float64.
        ValueError
            A number or the edges are not as described, or the state is too large.

        Notes
        -----
        Edges and thresholds are rounded down to float32: they are the same numbers on every backend, and a score of 0.3
        is at the threshold 0.3 in float32 and in float64. ``torch.compile`` takes states, but this is called outside of
        compiled code.

        Examples
        --------
        >>> import matrics
        >>> matrics.ScoreState.zeros(edges=[0, 0.5, 0.75, 1], batch_shape=(5,)).bins.shape
        (5, 5, 2)
        >>> matrics.ScoreState.zeros(num_classes=10).counts.nbytes / 2**20  # in MiB
        18.3406...
        """
        if edges is not None and bits is not None:
            raise ValueError("bits: expected None with edges=, which replace the buckets, got both; leave out either")
        options: Any = {"losses": losses, "top_k": top_k, "allow_large": allow_large}
        options |= {"bits": bits if edges is None else 0, "num_bins": num_bins, "class_wise": class_wise}
        return cls(*empty(make_edges(edges, thresholds), num_classes, batch_shape, like, dtype, **options))

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike | None = None,
        *,
        logits: ArrayLike | None = None,
        labels: Iterable[Hashable] | None = None,
        positive: Hashable = None,
        sample_weight: ArrayLike | None = None,
        ignore_index: Any = None,
        axis_name: Any = None,
    ) -> ScoreState:
        """Add a batch of labels and scores, or logits; the state itself does not change.

        Parameters
        ----------
        y_true : array_like of int or bool, shape (*B, *S)
            True labels in [0, n), or 0 and 1. B is the batch of the state; all other axes are samples, and are pooled.
        y_score : array_like of floats, shape (*B, *S) or (*B, *S, n), optional
            The score of class 1, or the scores of all classes: probabilities, or for areas and thresholds any numbers.
            Labels broadcast over the batch: a ``y_true`` (N,) against the scores (M, N) of M models.
        logits : array_like of floats, shape of ``y_score``, optional
            Logits in place of scores: areas are then of the logits, or of the log-odds of each class against the rest,
            which no rounding of probabilities to 0 and 1 affects; all else is of the probabilities. Use the same
            argument for all batches of a state.
        labels : sequence, optional
            The labels of the classes, of any kind, in the order of the columns of ``y_score``. The state does not store
            them: pass them with each batch. Other labels are dropped.
        positive : str or int, optional
            The label of the class that ``y_score`` is of, among labels of any kind: it counts as 1, and all others as
            0. The state does not store it: pass it with each batch. Other labels below 0 are dropped.
        sample_weight : array_like, optional
            A weight for each sample; broadcasts against the labels. The state must have floating counts.
        ignore_index : int or sequence of int, optional
            Samples with any of these true labels are left out, and do not count as dropped.
        axis_name : str or tuple of str, optional
            In JAX, inside ``shard_map`` or ``vmap``: the axis of the devices whose counts of the batch are added up.
            The new state is the same on all of them, if this state is.

        Raises
        ------
        TypeError
            The arrays are not of the state's library, labels are not integers, scores not floating, there are weights
            and the state has integer counts, or neither or both of ``y_score`` and ``logits`` are given.
        ValueError
            The shapes do not fit.

        Notes
        -----
        No value raises an error on any backend. Samples with a label out of range or a NaN score (of any class) are not
        counted, but ``dropped`` counts them. A NaN, infinite or negative weight makes the areas of its batch element
        NaN. An update copies the counts: where batches are small, compile it, or use a ``ScoreMetric`` of
        :mod:`matrics.torch` or :mod:`matrics.flax`, which counts in place.

        Examples
        --------
        >>> import matrics
        >>> models = matrics.ScoreState.zeros(batch_shape=(2,))
        >>> models.update([0, 1, 1], [[0.2, 0.4, 0.9], [0.2, 0.1, 0.9]]).roc_auc().value
        array([1. , 0.5])
        """
        refuse_unexpected_weights(self, self.counts, sample_weight)
        if (y_score is None) == (logits is None):
            raise TypeError(f"expected either y_score or logits, got {'neither' if logits is None else 'both'}")
        options: Any = {"sample_weight": sample_weight, "ignore_index": ignore_index}
        options |= {"labels": labels, "positive": positive}
        if axis_name is not None:
            return self._over_devices(axis_name, y_true, y_score, logits=logits, **options)
        scores, are_logits = (y_score, False) if logits is None else (logits, True)
        return self._with(read_batch(y_true, scores, self, **options, are_logits=are_logits))

    def _with(self, batch: Any) -> ScoreState:
        """The state after adding a batch."""
        refuse_narrow(self, batch.counts, batch.backend)
        counts = {"counts": batch.counts, "carried": batch.carried}
        counts["dropped"] = add_dropped(self.dropped, batch.dropped, batch.backend)
        return ScoreState(**with_batch(self, batch, batch.backend) | counts)

    @property
    def _number_of_names(self) -> int:
        return Contents.of(self).num_classes or 2

    @staticmethod
    def _has_shapes(shapes: Mapping[str, tuple[int, ...]]) -> bool:
        """Whether shapes without the batch axes belong to a state."""
        return has_shapes(shapes)

    def _plus(self, other: ScoreState) -> ScoreState:
        leaves = {
            f"{name}.{key}": x for name, y in (("state", self), ("other", other)) for key, x in y._asdict().items()
        }
        backend, _ = as_arrays(**leaves)
        check_same(backend, self, other)
        kinds = [(str(x.counts.dtype), x.carried.shape[-1] > 0) for x in (self, other)]
        if kinds[0] != kinds[1]:
            raise TypeError(f"expected states of the same kind of counts, got {kinds[0][0]} and {kinds[1][0]}")
        return ScoreState(**merged(self, other, backend))

    @property
    def thresholds(self) -> Array:
        """The thresholds, shape (E + 2,), in descending order: +inf, the thresholds or edges of the state, and -inf.

        At +inf no sample is predicted as positive, at -inf every sample.
        """
        return thresholds(self)

    @property
    def matrix(self) -> Array:
        """The confusion matrices at each of :attr:`thresholds`, shape (*B, E + 2, 2, 2), or (*B, n, E + 2, 2, 2).

        A score of at least the threshold is predicted as positive. With classes there is a matrix for each class
        against the rest. In default JAX, which has no 64-bit integers, an exact int64 array of NumPy; under ``jit``,
        ``vmap`` and the like, where that is impossible, float32.
        """
        return matrices(self, looks=True)[1]

    def score(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        workers: int = 1,
    ) -> dict[str, Array]:
        """The values of measures at each of :attr:`thresholds`.

        Parameters
        ----------
        metrics : str, Metric, or several of them, default "core"
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. A
            per-class measure without an average is the value of class 1. Values of the scores are the methods of the
            state, by any of their names: ``auroc``, ``ece:class_wise``, ``top5``, ``precision_at_k(k=100)``.
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
            Keyed by metric, as given: shape (*B, E + 2), or (*B, n, E + 2) of each class against the rest. Values of
            the scores come last, in the shape of their methods; without bounds.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(thresholds=[0.25, 0.5, 0.75])
        >>> state = state.update([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])
        >>> state.thresholds
        array([ inf, 0.75, 0.5 , 0.25, -inf])
        >>> state.score("recall")["recall"]
        array([0. , 0.5, 1. , 1. , 1. ])
        >>> state.score("AUROC")
        {'AUROC': np.float64(0.75)}
        """
        names, others = divided(metrics)
        has_classes = Contents.of(self).num_classes is not None
        values = {name: value_of(self, name, zero_division, has_classes=has_classes) for name in names}
        if names and not others:
            return values
        measures = resolve(others, TWO)

        def evaluated(matrix: Array, invalid: Invalid) -> dict[str, Array]:
            functions = [metric.bind() for metric in measures.values()]
            results = evaluate(matrix, functions, zero_division=zero_division, invalid=invalid, workers=workers)
            return dict(zip(measures, results, strict=True))

        return scored(self, *matrices(self, looks=False), evaluated, invalid=invalid) | values

    def reliability_curve(self, *, of: Of | None = None) -> Reliability:
        """The mean probability and the share of positives in bins of equal width.

        Parameters
        ----------
        of : {"top_label", "class_wise"}, optional
            Of probabilities of classes: the curve of the highest probability, as that of a correct prediction
            (the default), or a curve for each class.

        Returns
        -------
        Reliability
            ``mean_probability``, ``share_of_positives``, ``count`` and ``edges``, of shape (*B, M) or (*B, n, M) for
            the M bins of the state, with M + 1 edges; as :func:`matrics.probabilities.reliability_curve` of all
            samples. Empty bins are NaN.

        Raises
        ------
        ValueError
            The state was made without calibration (``num_bins=0``), or for ``"class_wise"`` without
            ``class_wise=True``.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(num_bins=2).update([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.9])
        >>> curve = state.reliability_curve()
        >>> curve.mean_probability.round(3), curve.share_of_positives.round(3), curve.count
        (array([0.267, 0.9  ]), array([0.333, 1.   ]), array([3., 1.]))
        """
        return Reliability(*Calibration.of(self, of).reliability())

    def expected_calibration_error(self, *, of: Of | None = None, zero_division: float = math.nan) -> Array:
        """The mean distance of probabilities from shares of positives, in bins of equal width.

        Parameters
        ----------
        of : {"top_label", "class_wise"}, optional
            Of probabilities of classes: the error of the highest probability, as that of a correct prediction
            (the default), or the mean over classes of the error of each.
        zero_division : float, default NaN
            The value without samples.

        Returns
        -------
        array, shape (*B,)
            Errors, from 0 to 1 for probabilities: :func:`matrics.probabilities.expected_calibration_error` of all
            samples.

        Raises
        ------
        ValueError
            As in :meth:`reliability_curve`.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(num_bins=2).update([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.9])
        >>> print(f"{state.expected_calibration_error():.3f}")
        0.075
        """
        check_options(zero_division, "nan")
        return Calibration.of(self, of).error(float(zero_division), over_classes=of == "class_wise")

    def log_loss(self, *, zero_division: float = math.nan) -> Array:
        """The mean of -ln p of the true class, exactly as :func:`matrics.probabilities.log_loss` of all samples.

        Parameters
        ----------
        zero_division : float, default NaN
            The value without samples.

        Returns
        -------
        array, shape (*B,)
            In [0, ∞]; NaN if a score was not in [0, 1].

        Raises
        ------
        ValueError
            The state was made without ``losses=True``.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(losses=True).update([1, 0], [0.5, 0.5]).update([1], [0.25])
        >>> state.log_loss().round(4), matrics.probabilities.log_loss([1, 0, 1], [0.5, 0.5, 0.25]).round(4)
        (np.float64(0.9242), np.float64(0.9242))
        """
        return Means.of(self, zero_division).of_loss(0)

    def brier_score(self, *, zero_division: float = math.nan) -> Array:
        """The mean squared distance of probabilities, exactly as :func:`matrics.probabilities.brier_score`.

        Parameters
        ----------
        zero_division : float, default NaN
            The value without samples.

        Returns
        -------
        array, shape (*B,)
            In [0, 1], with classes in [0, 2]; NaN if a score was not in [0, 1].

        Raises
        ------
        ValueError
            The state was made without ``losses=True``.

        Examples
        --------
        >>> import matrics
        >>> matrics.ScoreState.zeros(losses=True).update([1, 0], [0.75, 0.5]).brier_score()
        np.float64(0.15625)
        """
        return Means.of(self, zero_division).of_loss(1)

    def top_k_accuracy(self, *, zero_division: float = math.nan) -> Array:
        """The share of samples whose true class is among the k highest scores, for each k of ``top_k=``.

        Parameters
        ----------
        zero_division : float, default NaN
            The value without samples.

        Returns
        -------
        array, shape (*B, K)
            In [0, 1], as :func:`matrics.ranking.top_k_accuracy` of all samples; tied classes share the places.

        Raises
        ------
        ValueError
            The state was made without ``top_k=``.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(num_classes=3, top_k=[1, 2], bits=0, num_bins=0)
        >>> state = state.update([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]).update([1], [[0.4, 0.4, 0.2]])
        >>> state.top_k_accuracy().round(3)
        array([0.5, 1. ])
        """
        return Means.of(self, zero_division).of_hits("weighted")

    def top_k_recall(self, *, average: AverageOfHits | None = "auto", zero_division: float = math.nan) -> Array:
        """The share of the samples of each class that have it among the k highest scores, for each k of ``top_k=``.

        Parameters
        ----------
        average : {"auto", "macro", "weighted", "class"} or None, default "auto"
            The mean over classes (``"auto"``, of two as well), the mean weighted by their numbers of samples
            (:meth:`top_k_accuracy`), or every class (``None``).
        zero_division : float, default NaN
            The value of a class without samples.

        Returns
        -------
        array, shape (*B, K), or (*B, K, n) for ``average=None``
            In [0, 1], as :func:`matrics.ranking.top_k_recall` of all samples.

        Raises
        ------
        ValueError
            The state was made without ``top_k=``, or there is no such average.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(num_classes=3, top_k=2)
        >>> state = state.update([0, 1, 1], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.5, 0.1, 0.4]])
        >>> state.top_k_recall(average=None)
        array([[1. , 0.5, nan]])
        """
        return Means.of(self, zero_division).of_hits(check_average(average, get_args(AverageOfHits)))
