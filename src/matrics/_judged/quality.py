"""quality(): the judge's own confusion matrix, and whether its errors depend on the model."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

from matrics._arrays import Array, Standard
from matrics._catalogue.record import Metric
from matrics._judged.correction import answered, cells_of, squares_of
from matrics._judged.counts import JudgedCounts
from matrics._judged.results import JudgeQuality
from matrics._judged.strata import identity
from matrics._uncertainty.interval import interval

MEASURES = ("accuracy", "recall:class", "precision:class", "cohen_kappa")


def quality(
    counts: JudgedCounts,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    level: float = 0.95,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> JudgeQuality:
    """Scores of the judge on the samples with true labels, and a test whether its errors depend on the model.

    Parameters
    ----------
    counts : JudgedCounts
        From :func:`matrics.judged.count`.
    metrics : str, Metric, or several of them, optional
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Accuracy,
        Cohen's κ, and the recall and precision of each class if left out.
    level : float, default 0.95
        The probability with which an interval is to contain the true value.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the interval of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, and an index otherwise. Per-class measures
        without an average are values of this class. Without it they are values of class 1 of two classes, and means
        over more (``macro``).

    Returns
    -------
    JudgeQuality
        The judge's confusion matrix, the intervals of its measures, and a test.

    Raises
    ------
    TypeError
        ``counts`` is something else.

    Notes
    -----
    The test is that of Cochran, Mantel and Haenszel (Mantel and Haenszel 1959), without correction for continuity: in
    each true class, whether the errors of the judge are more or less frequent where the model errs. A judge with the
    errors of the model overestimates the model. If the test rejects independence, ``"rogan_gladen"`` is biased for this
    model; ``"post_stratified"`` and ``"tuned"`` are not.

    Examples
    --------
    A judge that detects only a third of the model's errors, and accepts 95 % of the correct predictions:

    >>> import matrics
    >>> y_true, y_pred = [0] * 60 + [1] * 60, [0] * 45 + [1] * 15 + [1] * 45 + [0] * 15
    >>> y_judge = [0] * 43 + [1] * 2 + [0] * 5 + [1] * 10 + [1] * 43 + [0] * 2 + [1] * 5 + [0] * 10
    >>> quality = matrics.judged.quality(matrics.judged.count(y_true, y_judge, y_pred, num_classes=2))
    >>> quality.matrix
    array([[48, 12],
           [12, 48]])
    >>> print(f"odds ratio {quality.odds_ratio:.0f}, p {quality.p_value:.1e}")
    odds ratio 43, p 2.5e-13
    """
    backend, cube, plane, valid = cells_of(counts)
    xp = backend.xp
    sizes = plane + xp.sum(cube, axis=-3)
    number, with_label = (xp.sum(table, axis=(-2, -1)) for table in (sizes, answered(sizes)))
    matrix = xp.sum(answered(counts.labelled) if backend.is_integer(counts.labelled) else answered(cube), axis=-1)
    squares = None
    if counts.labelled_squares is not None:
        squares = xp.sum(answered(squares_of(counts, cube, plane, backend)[0]), axis=-1)
    known = xp.where(valid[..., None, None], xp.sum(answered(cube), axis=-1), math.nan)
    scores = interval(
        known,
        metrics or MEASURES,
        level=level,
        squared_weights=squares,
        invalid="nan",
        class_names=class_names,
        positive=positive,
    )
    with backend.quiet():
        test = _test_of_independence(answered(cube), backend)
        share = xp.where(number > 0, with_label / xp.where(number > 0, number, 1), math.nan)
    return JudgeQuality(
        matrix, xp.where(valid, share, math.nan), scores, *(xp.where(valid, part, math.nan) for part in test)
    )


def _test_of_independence(cube: Array, backend: Standard) -> tuple[Array, Array, Array]:
    """The common odds ratio of errors of judge and model over the true classes, chi-squared, and its p-value."""
    xp = backend.xp
    model = xp.sum(cube, axis=-2)  # [true, predicted]
    is_right = identity(model, backend)
    judge = xp.sum(cube, axis=-1)  # [true, judge]
    total = xp.sum(model, axis=-1)
    right_model, right_judge = xp.sum(model * is_right, axis=-1), xp.sum(judge * is_right, axis=-1)
    both_right = xp.sum(xp.sum(cube * is_right[..., None], axis=-2) * is_right, axis=-1)
    only_model, only_judge = right_model - both_right, right_judge - both_right
    both_wrong = total - both_right - only_model - only_judge
    divisor = xp.where(total > 0, total, 1)
    upper = xp.sum(both_wrong * both_right / divisor, axis=-1)
    lower = xp.sum(only_model * only_judge / divisor, axis=-1)
    odds = xp.where(
        lower > 0,
        upper / xp.where(lower > 0, lower, 1),
        xp.where(upper > 0, math.inf, math.nan),
    )
    wrong_model, wrong_judge = total - right_model, total - right_judge
    deviation = xp.sum(both_wrong - wrong_model * wrong_judge / divisor, axis=-1)
    fewer = xp.where(total > 1, total - 1, 1)
    spread = wrong_model / divisor * wrong_judge / divisor * right_model * right_judge / fewer
    variance = xp.sum(spread, axis=-1)
    known = variance > 0
    statistic = xp.where(known, deviation**2 / xp.where(known, variance, 1), math.nan)
    p_value = 2 * backend.normal_cdf(-xp.sqrt(xp.where(known, statistic, 0)))
    return odds, statistic, xp.where(known, p_value, math.nan)
