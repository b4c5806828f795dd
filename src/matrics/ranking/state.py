"""ScoreState: histograms of scores by class that grow batch by batch, and are merged by addition."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, get_args

from matrics.arrays import Array, as_arrays
from matrics.arrays.sizes import is_whole
from matrics.catalogue.classes import TWO
from matrics.catalogue.record import Metric
from matrics.engine.evaluation import Invalid, evaluate
from matrics.ranking import bounds
from matrics.ranking.answers import area, expected_calibration_error, matrices, reliability_curve, thresholds
from matrics.ranking.averages import Average, check_average
from matrics.ranking.bins import Spacing, make_edges
from matrics.ranking.bounds import Bounded
from matrics.ranking.calibration import Reliability
from matrics.ranking.histograms import bin_samples
from matrics.ranking.leaves import ScoreLeaves, added, check_same_edges, check_same_places, empty
from matrics.ranking.probability_bins import Of
from matrics.ranking.sample_sums import Means
from matrics.ranking.top_k import Average as AverageOfHits
from matrics.scoring.score import resolve
from matrics.states.leaves import RunningState, refuse_unexpected_weights, scored
from matrics.typing import ArrayLike


class ScoreState(RunningState, ScoreLeaves):
    """Histograms of scores by class as a running state: immutable, of fixed shape, and merged by addition.

    Instead of all scores it keeps bins, which give every measure at every edge, calibration, and the areas under the
    ROC curve and (as average precision) under the precision-recall curve, with guaranteed bounds.
    It is a tuple of arrays, and so passes through ``jax.jit``, ``lax.scan``, ``vmap``, ``torch.compile`` and
    checkpoints unchanged. One ``all_reduce`` or ``psum`` of its arrays is a correct merge over processes.

    Parameters
    ----------
    counts : array, shape (*B, K + 2, 2) or (*B, n + 1, K + 2, 2)
        Samples in each bin, of class 0 and class 1. K bins are between the edges, the first is below them, and the last
        is at and above the last edge. With n classes, n histograms are for each class against the rest; the last
        one is of the top score, for wrong and correct predictions. In default JAX the low words.
    offsets : array, shape (*B, K + 2) or (*B, n + 1, K + 2)
        Sums of the distances of scores from the edge below them.
    dropped : array, shape (*B,)
        How many samples were left out for a label out of range or a NaN score.
    carried : array, shape of ``counts``, or with lengths of 0
        In default JAX, which has no 64-bit integers, the high words of the counts, in units of 65,536; elsewhere
        empty.
    edges : array, shape (*B, K + 1, 2)
        The edges as integers, times ``states``.
    states : array, shape (*B,)
        How many states have been added array by array: their edges have been added as well. After each step it is 1.
    sums : array, shape (*B, n, C) or (*B, 0, 0)
        The weight of the samples of each true class; with ``losses=True`` the sums of their log losses and Brier
        scores; and for each k of ``top_k=`` how many have their class among the k highest scores.
    remainders : array, shape of ``sums`` or (*B, 0, 0)
        In float32 what additions to ``sums`` have rounded off; elsewhere empty.
    top_k : array, shape (*B, K)
        Each k, times ``states``.

    Notes
    -----
    Make a state with :meth:`zeros`, not from arrays. Counts are as exact as those of :class:`matrics.ConfusionState`.

    Examples
    --------
    >>> import matrics
    >>> state = matrics.ScoreState.zeros(histogram_bins=10)
    >>> for y_true, y_score in [([0, 0, 1], [0.1, 0.4, 0.35]), ([1, 0, 1], [0.8, 0.33, 0.95])]:
    ...     state = state.update(y_true, y_score)
    >>> area = state.roc_auc()
    >>> print(f"{area.value:.3f}, and between {area.low:.3f} and {area.high:.3f}")
    0.833, and between 0.778 and 0.889
    """

    __slots__ = ()

    @classmethod
    def zeros(
        cls,
        *,
        histogram_bins: int = 1000,
        low: float = 0.0,
        high: float = 1.0,
        edges: ArrayLike | None = None,
        spacing: Spacing | None = None,
        num_classes: int | None = None,
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
        histogram_bins : int, default 1000
            Number of bins between ``low`` and ``high``, K. Scores outside have two bins more. With 0 there is no
            histogram, only what ``losses`` and ``top_k`` keep.
        low, high : float, default 0 and 1
            The first and the last edge.
        edges : array_like, shape (K + 1,), optional
            Edges of any distance, in place of all of these; they increase.
        spacing : {None, "equal", "logit"}
            Equal distances of scores (None and ``"equal"``), or of their logits from -20 to 20, for probabilities that
            are mostly near 0 and 1. Edges that are equal in float32 leave bins between them empty.
        num_classes : int, optional
            Number of classes, n, for scores with an axis of classes. If left out, scores are of class 1 of two.
        losses : bool, default False
            Whether to keep sums for :meth:`log_loss` and :meth:`brier_score`; scores are then probabilities.
        top_k : int or several of them, optional
            With classes: numbers of highest scores, for :meth:`top_k_accuracy` and :meth:`top_k_recall`.
        batch_shape : tuple of int, default ()
            One histogram for each model, head or fold: the leading axes of the labels that are not pooled.
        like : array, optional
            An array of the library and on the device of the state; NumPy if left out.
        dtype : dtype, optional
            Integer counts if left out; the library's float32 or float64 for weighted counts.
        allow_large : bool, default False
            Whether the state may take more than 8 GiB; otherwise a larger state raises an error with its size.

        Raises
        ------
        TypeError
            ``dtype`` is neither float32 nor float64.
        ValueError
            A number or the edges are not as described, or the state is too large.

        Notes
        -----
        Edges are rounded down to float32: they are the same numbers on every backend, and a score of 0.3 is at the edge
        0.3 in float32 and in float64. ``torch.compile`` takes states, but this is called outside of compiled code.

        Examples
        --------
        >>> import matrics
        >>> matrics.ScoreState.zeros(edges=[0, 0.5, 0.75, 1], batch_shape=(5,)).counts.shape
        (5, 5, 2)
        """
        has_histogram = edges is not None or not is_whole(histogram_bins) or histogram_bins != 0
        made = make_edges(histogram_bins, low, high, edges, spacing) if has_histogram else None
        kept: Any = {"losses": losses, "top_k": top_k, "allow_large": allow_large}
        return cls(*empty(made, num_classes, batch_shape, like, dtype, **kept))

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        positive: Hashable = None,
        sample_weight: ArrayLike | None = None,
        ignore_index: Any = None,
        logits: ArrayLike | None = None,
    ) -> ScoreState:
        """Add a batch of labels and scores; the state itself does not change.

        Parameters
        ----------
        y_true : array_like of int or bool, shape (*B, *S)
            True labels in [0, n), or 0 and 1. B is the batch of the state; all other axes are samples, and are pooled.
        y_score : array_like of floats, shape (*B, *S) or (*B, *S, n)
            The score of class 1, or the scores of all classes. Labels broadcast over the batch: one ``y_true`` (N,)
            against the scores (M, N) of M models.
        positive : str or int, optional
            The label of the class of ``y_score``, as in :func:`matrics.roc_auc`. The state does not store it:
            pass it with each batch. Other labels below 0 are dropped.
        sample_weight : array_like, optional
            A weight for each sample; broadcasts against the labels. The state must have floating counts.
        ignore_index : int or sequence of int, optional
            Samples with this true label, or one of these, are left out, and do not count as dropped.
        logits : array_like of floats, shape of ``y_score``, optional
            The logits of these probabilities, for a log loss and an order of classes that no rounding of
            probabilities to 0 and 1 affects.

        Raises
        ------
        TypeError
            The arrays are not of the state's library, labels are not integers, scores not floating, or there are
            weights and the state has integer counts.
        ValueError
            The shapes do not fit.

        Notes
        -----
        No value raises an error on any backend. Samples with a label out of range or a NaN score (of any class) are not
        counted, but ``dropped`` counts them. A NaN, infinite or negative weight makes the areas of its batch element
        NaN.

        Examples
        --------
        >>> import matrics
        >>> models = matrics.ScoreState.zeros(histogram_bins=100, batch_shape=(2,))
        >>> models.update([0, 1, 1], [[0.2, 0.4, 0.9], [0.2, 0.1, 0.9]]).roc_auc().value
        array([1. , 0.5])
        """
        refuse_unexpected_weights(self, self.counts, sample_weight)
        options: Any = {"sample_weight": sample_weight, "ignore_index": ignore_index, "positive": positive}
        found = bin_samples(y_true, y_score, self, **options, logits=logits)
        return ScoreState(*added(self, found, None, found.backend))

    def _plus(self, other: ScoreState) -> ScoreState:
        backend, (a, b, *pairs) = as_arrays(
            state=self.counts,
            other=other.counts,
            edges=self.edges,
            its=self.states,
            others=other.edges,
            theirs=other.states,
        )
        if tuple(a.shape) != tuple(b.shape):
            raise ValueError(
                f"expected states of the same bins, classes and batch, got counts {tuple(a.shape)} and {tuple(b.shape)}"
            )
        if a.dtype != b.dtype or tuple(self.carried.shape) != tuple(other.carried.shape):
            raise TypeError(f"expected states of the same kind of counts, got {a.dtype} and {b.dtype}")
        check_same_edges([backend.host_view(x) for x in pairs])
        check_same_places(backend, self, other)
        found = ScoreState(*added(self, other, other.carried, backend))
        return found._replace(remainders=found.remainders + other.remainders)

    @property
    def thresholds(self) -> Array:
        """The thresholds, shape (K + 3,), in descending order: +inf, the edges, and -inf.

        At +inf no sample is predicted as positive, at -inf every sample.
        """
        return thresholds(self)

    @property
    def matrix(self) -> Array:
        """The confusion matrices at each of :attr:`thresholds`, shape (*B, K + 3, 2, 2), or (*B, n, K + 3, 2, 2).

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
        """Many measures at each of :attr:`thresholds`.

        Parameters
        ----------
        metrics : str, Metric, or several of them
            As in :func:`matrics.score`; a per-class measure without an average is the value of class 1.
        zero_division, invalid, workers
            As in :func:`matrics.score`.

        Returns
        -------
        dict of str to array
            Keyed by metric, as given: shape (*B, K + 3), or (*B, n, K + 3) of each class against the rest.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(edges=[0.25, 0.5, 0.75])
        >>> state = state.update([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])
        >>> state.thresholds
        array([ inf, 0.75, 0.5 , 0.25, -inf])
        >>> state.score("recall")["recall"]
        array([0. , 0.5, 1. , 1. , 1. ])
        """
        chosen = resolve(metrics, TWO)

        def evaluated(matrix: Array, invalid: Invalid) -> dict[str, Array]:
            functions = [metric.bind() for metric in chosen.values()]
            results = evaluate(matrix, functions, zero_division=zero_division, invalid=invalid, workers=workers)
            return dict(zip(chosen, results, strict=True))

        return scored(self, *matrices(self, looks=False), evaluated, invalid=invalid)

    def roc_auc(self, *, average: Average | None = None, zero_division: float = math.nan) -> Bounded:
        """The area under the ROC curve, with bounds that contain the area of the exact scores.

        Parameters
        ----------
        average : {"macro", "weighted", "micro", "class"}, optional
            With classes: the mean of the areas of each class against the rest (the default), that by numbers of true
            samples, the area of all their scores together, or each. Undefined areas are left out of means. Without
            classes it has no meaning.
        zero_division : float, default NaN
            The value without positives or without negatives.

        Returns
        -------
        Bounded
            ``value``, with half of each pair in one bin, ``low`` and ``high``: shape (*B,), or (*B, n) for
            ``average="class"``.

        Notes
        -----
        The limits hold for any order inside each bin, and are attained: low if in each bin the negatives have the
        higher scores, high if the positives have. If all scores of a bin are equal to its lower edge, such as
        saturated ones of 1, they are known to be equal, and their pairs count half. The limits are moved apart by some
        ulps of 1, more than all errors of rounding; with weights they hold for the sums in the state.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(histogram_bins=4).update([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
        >>> [round(float(x), 3) for x in state.roc_auc()]
        [0.625, 0.5, 0.75]
        """
        return area(self, bounds.roc_auc, average, zero_division)

    def average_precision(self, *, average: Average | None = None, zero_division: float = math.nan) -> Bounded:
        """The average precision, with bounds that contain the value of the exact scores.

        It is the sum, over thresholds, of the precision times the increase of recall, as in scikit-learn.

        Parameters
        ----------
        average : {"macro", "weighted", "micro", "class"}, optional
            As in :meth:`roc_auc`.
        zero_division : float, default NaN
            The value without positives.

        Returns
        -------
        Bounded
            ``value``, if the scores of one bin count as equal, ``low`` and ``high``: shape (*B,), or (*B, n) for
            ``average="class"``.

        Notes
        -----
        The value is highest if the positives of each bin have one score, above those of its negatives, and lowest if
        they have different ones, below. The lower limit is below that by a small part of what each bin contributes, as
        it has a logarithm in place of a sum.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(histogram_bins=4).update([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
        >>> [round(float(x), 3) for x in state.average_precision()]
        [0.75, 0.75, 0.833]
        """
        return area(self, bounds.average_precision, average, zero_division)

    def reliability_curve(self, *, num_bins: int = 15, of: Of | None = None) -> Reliability:
        """How often scores come true: mean score and share of positives, in groups of neighbouring bins.

        Parameters
        ----------
        num_bins : int, default 15
            Number of groups, of equally many bins of the state each; where that is impossible, some have one more.
        of : {"top_label", "class_wise"}, optional
            With classes: the top score, by right and wrong (the default), or the scores of each class.

        Returns
        -------
        Reliability
            ``mean_probability``, ``share_of_positives``, ``count`` and ``edges``, of shape (*B, num_bins) or
            (*B, n, num_bins), edges with one more. Empty groups are NaN. Means are exact: the state has sums of scores.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(histogram_bins=100).update([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.9])
        >>> curve = state.reliability_curve(num_bins=2)
        >>> curve.mean_probability.round(3), curve.share_of_positives.round(3), curve.count
        (array([0.267, 0.9  ]), array([0.333, 1.   ]), array([3., 1.]))
        """
        return reliability_curve(self, num_bins, of)

    def expected_calibration_error(
        self, *, num_bins: int = 15, of: Of | None = None, zero_division: float = math.nan
    ) -> Array:
        """The mean distance of scores from shares of positives, in groups of neighbouring bins.

        Parameters
        ----------
        num_bins, of
            As in :meth:`reliability_curve`. ``of="class_wise"`` gives the mean over classes.
        zero_division : float, default NaN
            The value without samples.

        Returns
        -------
        array, shape (*B,)
            Errors, from 0 to 1 for probabilities. No bounds are needed: the value is exact.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(histogram_bins=100).update([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.9])
        >>> print(f"{state.expected_calibration_error(num_bins=2):.3f}")
        0.075
        """
        return expected_calibration_error(self, num_bins, of, zero_division)

    def log_loss(self, *, zero_division: float = math.nan) -> Array:
        """The mean of -ln p of the true class, as :func:`matrics.log_loss` of all samples; exact, and not binned.

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
        >>> state.log_loss().round(4), matrics.log_loss([1, 0, 1], [0.5, 0.5, 0.25]).round(4)
        (np.float64(0.9242), np.float64(0.9242))
        """
        return Means.of(self, zero_division).of_loss(0)

    def brier_score(self, *, zero_division: float = math.nan) -> Array:
        """The mean squared distance of probabilities, as :func:`matrics.brier_score` of all samples; exact.

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
            In [0, 1], as :func:`matrics.top_k_accuracy` of all samples; tied classes share the places.

        Raises
        ------
        ValueError
            The state was made without ``top_k=``.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(num_classes=3, top_k=[1, 2], histogram_bins=0)
        >>> state = state.update([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]).update([1], [[0.4, 0.4, 0.2]])
        >>> state.top_k_accuracy().round(3)
        array([0.5, 1. ])
        """
        return Means.of(self, zero_division).of_hits("weighted")

    def top_k_recall(self, *, average: AverageOfHits | None = None, zero_division: float = math.nan) -> Array:
        """The share of the samples of each class that have it among the k highest scores, for each k of ``top_k=``.

        Parameters
        ----------
        average : {"macro", "weighted", "class"}, optional
            The mean over classes (the default), that over samples, or every class.
        zero_division : float, default NaN
            The value of a class without samples.

        Returns
        -------
        array, shape (*B, K), or (*B, K, n) for ``average="class"``
            In [0, 1], as :func:`matrics.top_k_recall` of all samples.

        Raises
        ------
        ValueError
            The state was made without ``top_k=``, or there is no such average.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(num_classes=3, top_k=2)
        >>> state = state.update([0, 1, 1], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.5, 0.1, 0.4]])
        >>> state.top_k_recall(average="class")
        array([[1. , 0.5, nan]])
        """
        return Means.of(self, zero_division).of_hits(check_average(average, get_args(AverageOfHits)))
