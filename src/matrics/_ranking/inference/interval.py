"""interval(): confidence limits of measures of scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal, get_args

from matrics._arrays import Array
from matrics._engine.evaluation import check_options
from matrics._ranking.averages import check_average
from matrics._ranking.inference.measure_estimates import LimitOptions, Method, check_method, estimate_all
from matrics._ranking.inference.names import CURVES, read_measures
from matrics._ranking.inference.samples import Samples
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Interval
from matrics.typing import ArrayLike

AverageOfInterval = Literal["auto", "macro", "class"]


def interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metrics: str | Iterable[str] | None = None,
    *,
    average: AverageOfInterval | None = "auto",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    ignore_index: Any = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    method: Method = "auto",
    num: int | None = None,
    rng: Any = None,
    workers: int = 1,
) -> dict[str, Interval]:
    """Limits of measures of scores: areas under curves, points of curves, losses, and a calibration error.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes; arrays in the memory of the CPU.
    metrics : str or sequence of str, optional
        Names of measures of scores: ``roc_auc``, ``average_precision``, ``log_loss``, ``brier_score`` and
        ``expected_calibration_error``; and with any numbers ``recall_at_specificity(specificity=0.9)``,
        ``precision_at_recall(recall=0.9)``, ``recall_at_precision(precision=0.9)``, ``precision_at_k(k=100)``,
        ``recall_at_k(k=100)`` and ``lift_at_k(k=100)``. If left out, the first two, and the next two where all scores
        are in [0, 1].
    average : {"auto", "macro", "class"} or None, default "auto"
        Of the measures of curves with scores of n classes, each against the rest: ``"auto"`` is the value of class 1 of
        two, and the mean over more classes; or that mean, or every class (``None`` or ``"class"``).
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_score``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_score`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With scores of n classes it selects this class, against the
        rest.
    lower_is_positive : bool, default False
        Whether scores are lower in the positive class, as those of a test whose low values mean an illness. For scores
        of a single class.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image: samples of a cluster may be alike.
    level : float, default 0.95
        The coverage of the limits.
    method : {"auto", "delong", "logit", "bootstrap"}
        How limits are formed. ``"auto"`` is the method that holds with few samples, as the notes explain. ``"delong"``
        is the area and a number of standard errors to either side, as in most packages. ``"logit"`` is the same on the
        scale of the logit, of both areas. ``"bootstrap"`` is the quantiles of samples, or clusters, that are drawn
        anew.
    num : int, optional
        Number of replicates where there are any; 2,000 if left out.
    rng : numpy.random.Generator or int, optional
        Where random numbers come from, or a seed; new draws every time if left out.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The elements of a
        batch are computed in parallel.

    Returns
    -------
    dict of str to Interval
        Of each measure an :class:`matrics.Interval` with fields of shape (*B,), or (*B, n) with ``average=None``.
        A perfect area has limits as well, and status 1; a NaN score has status 7. Status 1 also if fewer than 20
        samples (or clusters) are of a class, fewer than 5 contribute most of the distance to an area of 1, or, of the
        losses, the most likely class is wrong for fewer than 5. Equal losses of all samples have no limits (status 5).

    Raises
    ------
    TypeError
        Arrays are on a device or traced; or as :func:`matrics.ranking.roc_auc`.
    ValueError
        A measure is unknown, needs probabilities, or has no such method; or as :func:`matrics.ranking.roc_auc`.

    Notes
    -----
    The page :doc:`/ranking_limits` shows the coverage of the limits of ``"auto"``, which are:

    - areas: the values from which the estimate is not too far, with DeLong's variance (of average precision the
      variance of its influences) joined by that of two more samples that vary as much as samples can. Where scores have
      few values, the effective number of samples is reduced, because tied samples contribute equally to the variance;
    - losses: Student's limits of a mean, through Hall's transformation, which takes account of skewed losses;
    - points of curves, and the k highest scores: a bootstrap in which the threshold is chosen anew, with Agresti and
      Coull's added successes. A rate at another rate is the highest of all thresholds that reach the latter; of
      ``recall_at_precision``, whose replicates are skewed, the quantiles count where they are further away. In
      simulations of normal scores these limits held in 93 to 97 of 100 data sets;
    - ``expected_calibration_error`` (15 bins of equal width): an error is above 0 even where a model is calibrated, and
      so are all quantiles of replicates. The limits are of the error without that excess: the estimate may be above
      both.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson 1988; Obuchowski 1997 (clusters); Newcombe 2006, method 5 (limits by variances at
    the limit); Hall 1992, "On the removal of skewness by transformation"; Zhou and Qin 2005 (sensitivity at a fixed
    specificity).

    Examples
    --------
    >>> import matrics
    >>> y_true = [0] * 15 + [1] * 15
    >>> y_score = [k / 30 for k in range(12)] + [0.55, 0.6, 0.7] + [0.45, 0.5] + [k / 30 for k in range(17, 30)]
    >>> area = matrics.ranking.interval(y_true, y_score, "roc_auc")["roc_auc"]
    >>> print(f"{area.estimate:.3f}, from {area.low:.3f} to {area.high:.3f}")
    0.947, from 0.771 to 0.990
    >>> area = matrics.ranking.interval([0] * 15 + [1] * 15, [k / 30 for k in range(30)], "roc_auc")["roc_auc"]
    >>> print(f"{area.estimate:.3f}, from {area.low:.3f} to {area.high:.3f}, status {area.status}")
    1.000, from 0.792 to 1.000, status 1
    """
    level = check_level(level)
    check_options(float("nan"), "nan", workers)
    samples = Samples.of(
        y_true,
        y_score,
        positive,
        ignore_index,
        clusters,
        "interval",
        labels=labels,
        lower_is_positive=lower_is_positive,
    )
    method_of_average = check_average_of_interval(average, samples.num_classes, positive)
    measures = read_measures(metrics, are_probabilities=samples.are_probabilities)
    num = check_method(method, measures, num, rng)
    estimates = estimate_all(
        samples, measures, LimitOptions(level, method, num, rng, method_of_average == "macro", workers)
    )

    def finished(x: Array, class_index: int, *, by_class: bool) -> Array:
        """The array (*B,), or (*B, C), from (B, C, 1)."""
        values = x[..., 0] if by_class else x[:, class_index, 0]
        return samples.read.finish(values.reshape((*samples.shape, *values.shape[1:])))

    results = {}
    for name, measure in measures.items():
        by_class = method_of_average == "class" and measure.kind in CURVES
        class_index = 1 if method_of_average == "binary" and measure.kind in CURVES else 0
        results[name] = Interval(*(finished(x, class_index, by_class=by_class) for x in estimates[name].interval))
    return results


def check_average_of_interval(average: Any, num_classes: int | None, positive: Any) -> str:
    """The name of the average, as for the measures themselves."""
    method = check_average(average, get_args(AverageOfInterval), positive=positive, num_classes=num_classes)
    return "macro" if num_classes is None else method
