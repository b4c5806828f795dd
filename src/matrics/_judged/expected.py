"""expected_confusion_matrix() and expected_interval(): scores from calibrated probabilities, without labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._catalogue.record import Metric
from matrics._counting.labels import check_labels, widen
from matrics._engine.evaluation import check_options, frames_to_the_user
from matrics._uncertainty.arguments import by_class_names, metrics_of
from matrics._uncertainty.limits import around, normal_quantile
from matrics._uncertainty.measure import Measure, Task, score_of
from matrics._uncertainty.options import Options, check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.slopes import slopes
from matrics._uncertainty.status import at_best, few_samples, graver
from matrics.typing import ArrayLike

# Probabilities are reported as not calibrated if the p-value of the test of calibration is at most this.
LARGEST_P_VALUE = 0.01


class Forecast(NamedTuple):
    """Probabilities and predictions of samples, in the library of the computation."""

    probabilities: Array  # (*B, N, n)
    chosen: Array  # (*B, N, n): 1 for the predicted class
    backend: Standard
    home: Standard

    @property
    def matrix(self) -> Array:
        """The expected counts [true, predicted]."""
        return _products(self.probabilities, self.chosen, self.backend)

    def returned(self, result: Array) -> Any:
        """A result in the library of the probabilities."""
        return self.home.from_host(np.asarray(result)[()]) if self.backend is NUMPY else result


def expected_confusion_matrix(
    probabilities: ArrayLike, y_pred: ArrayLike | None = None, *, y_true: ArrayLike | None = None
) -> Any:
    """The expected confusion matrix of calibrated probabilities, without true labels.

    A sample with the probabilities 0.7 and 0.3 that is predicted as the first class counts as 0.7 of a correct and 0.3
    of an incorrect prediction. If the probabilities are calibrated, the sums over the samples are the expected values
    of the counts.

    Parameters
    ----------
    probabilities : array_like of floating numbers, shape (*B, N, n), or (N,) of class 1 of two
        The probability of each class for each sample; from 0 on, adding up to 1.
    y_pred : array_like of int, shape (*B, N), optional
        The predictions; the most likely class if left out.
    y_true : array_like of int, shape (N,) or (*B, N), optional
        True labels, or -1 for samples without a label. They do not change the result, but cause a warning if they
        contradict the probabilities. On devices and in compiled code, they are ignored.

    Returns
    -------
    array of floating numbers, shape (*B, n, n)
        Expected counts: rows are true classes, columns predicted classes; differentiable. NaN where a probability is
        NaN.

    Raises
    ------
    ValueError
        The shapes do not fit, probabilities are negative or do not add up to 1, or a label is out of range.
    TypeError
        ``probabilities`` are integers.

    Warns
    -----
    RuntimeWarning
        The labels of ``y_true`` show that the probabilities are not calibrated (p at most 0.01).

    Notes
    -----
    This is a soft confusion matrix with probabilities in place of the true labels.
    :func:`matrics.soft_confusion_matrix` has probabilities in place of the predicted labels.

    Examples
    --------
    >>> import matrics
    >>> matrics.probabilities.expected_confusion_matrix([[0.75, 0.25], [0.5, 0.5], [0.125, 0.875]])
    array([[1.25 , 0.125],
           [0.75 , 0.875]])
    """
    forecast = read_forecast(probabilities, y_pred)
    if y_true is not None:
        warn_unless_calibrated(forecast, y_true)
    return forecast.returned(forecast.matrix)


def expected_interval(
    probabilities: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    y_pred: ArrayLike | None = None,
    y_true: ArrayLike | None = None,
    level: float = 0.95,
    zero_division: float = math.nan,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    workers: int = 1,
) -> dict[str, Interval]:
    """Limits of the measures that true labels of these samples would give, if the probabilities are calibrated.

    Parameters
    ----------
    probabilities : array_like of floating numbers, shape (*B, N, n), or (N,) of class 1 of two
        The probability of each class for each sample; from 0 on, adding up to 1.
    y_pred : array_like of int, shape (*B, N), optional
        The predictions; the most likely class if left out.
    y_true : array_like of int, shape (N,) or (*B, N), optional
        True labels, or -1 for samples without a label. They do not change the result, but cause a warning if they
        contradict the probabilities. On devices and in compiled code, they are ignored.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    level : float, default 0.95
        The probability with which an interval is to contain the true value.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the interval of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, a label of a data frame, and an index
        otherwise. Per-class measures without an average are values of this class. Without it they are values of class 1
        of two classes, and means over more (``macro``).
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.

    Returns
    -------
    dict of str to Interval
        The measure of the expected matrix, and limits that contain the measure of the labelled samples with the
        probability ``level``. The status is 1 if there are fewer expected samples than the rules of
        :class:`matrics.IntervalStatus` require: a recall needs 20 expected samples of its class, 5 of them correct and
        5 incorrect.

    Raises
    ------
    ValueError, TypeError
        As :func:`expected_confusion_matrix`.

    Notes
    -----
    The samples are fixed, and their labels are random, with the given probabilities (delta method). Many certain
    predictions have narrow limits, and the limits do not account for errors of the probabilities. The expected value is
    known. The limits are therefore symmetric around it, and clipped at the ends of the range; for measures without a
    bound they are symmetric on a logarithmic scale. Wilson's limits are limits of an unknown parameter and not
    applicable.

    Examples
    --------
    >>> import matrics
    >>> import numpy as np
    >>> sure = np.linspace(0.5, 1, 400)
    >>> probabilities = np.stack([sure, 1 - sure], axis=-1)
    >>> interval = matrics.probabilities.expected_interval(probabilities, "accuracy")["accuracy"]
    >>> print(f"{interval.estimate:.3f}, between {interval.low:.3f} and {interval.high:.3f}")
    0.750, between 0.710 and 0.790
    """
    confidence = check_level(level)
    check_options(zero_division, "nan", workers)
    forecast = read_forecast(probabilities, y_pred, differentiated=True)
    if y_true is not None:
        warn_unless_calibrated(forecast, y_true)
    backend, xp = forecast.backend, forecast.backend.xp
    detached = backend.detached(forecast.probabilities)
    forecast = forecast._replace(probabilities=detached)
    batch, n = tuple(detached.shape[:-2]), detached.shape[-1]
    metrics_by_name = metrics_of(metrics, n, class_names, positive)
    measures = [Measure.of(metric) for metric in metrics_by_name.values()]
    matrix = xp.reshape(forecast.matrix, (math.prod(batch), n, n))
    pairs = xp.reshape(_pairs(forecast), (math.prod(batch), n, n, n))
    score = score_of(measures, float(zero_division))
    with backend.quiet():
        known = xp.where(xp.isnan(matrix), 0, matrix)
        derivatives = slopes(known + 1e-9, score, backend, second=False, workers=workers)
        values = score(matrix, workers)
        task = Task(
            known, known, values, measures, score, Options(confidence, "delta", "multinomial", 0), math.nan, 1, backend
        )
        results = []
        for measure, value, first in zip(measures, values, derivatives.first, strict=True):
            cell_slopes = xp.reshape(first, (*first.shape[:-1], n, n))
            cell_slopes = xp.where(xp.isfinite(cell_slopes), cell_slopes, 0)
            few, _ = few_samples(task, measure)
            results.append(_interval(measure, value, cell_slopes, (known, pairs), few, confidence, backend))
    intervals = [
        Interval(*(forecast.returned(xp.reshape(x, (*batch, *x.shape[1:]))) for x in fields)) for fields in results
    ]
    return by_class_names(dict(zip(metrics_by_name, intervals, strict=True)), metrics_by_name, class_names)


def _interval(  # noqa: PLR0917 (one measure of expected_interval)
    measure: Measure,
    value: Array,
    cell_slopes: Array,
    sums: tuple[Array, Array],
    few: Array,
    level: float,
    backend: Standard,
) -> tuple[Array, ...]:
    """The limits of a measure by its derivatives (B, n, n) or (B, C, n, n)."""
    xp = backend.xp
    matrix, pairs = sums
    if value.ndim > 1:
        matrix, pairs, few = matrix[:, None], pairs[:, None], few if few.ndim > 1 else few[:, None]
    # The variance of the derivative over the possible classes of each sample: mean square minus squared mean.
    squares = xp.sum(matrix * cell_slopes**2, axis=(-2, -1))
    columns = xp.matrix_transpose(cell_slopes)  # [predicted, true]
    means = xp.sum(pairs * columns[..., :, None] * columns[..., None, :], axis=(-3, -2, -1))
    variance = xp.where(squares > means, squares - means, 0)
    low, high = _around_expected(value, xp.sqrt(variance), measure, level, backend)
    known = ~xp.isnan(value)
    has_limits = known & (variance > 0) & ~xp.isnan(low) & ~xp.isnan(high)
    undefined = xp.astype(xp.zeros_like(value), backend.widest_int(value) or xp.int32)
    conditions = {
        IntervalStatus.FEW_SAMPLES: few | (variance < 0),
        IntervalStatus.NO_VARIATION: ~has_limits,
        IntervalStatus.UNDEFINED: ~known,
    }
    status = graver(undefined + at_best(measure, sums[0].shape[-1]), conditions, xp)
    low, high = (xp.where(has_limits, limit, math.nan) for limit in (low, high))
    return value, low, high, xp.where(known, xp.sqrt(variance), math.nan), undefined, status


def _around_expected(
    value: Array, error: Array, measure: Measure, level: float, backend: Standard
) -> tuple[Array, Array]:
    """Limits of the measure of labelled samples, which varies around the known expected value.

    Limits of an unknown value, such as Wilson's, would be farther from the estimate on the side of the middle of the
    range. A measure without a bound has a skewed distribution, and so limits on a logarithmic scale.
    """
    xp, (least, most), z = backend.xp, measure.range, normal_quantile(level)
    if math.isinf(most - least):
        return around(value, error, z, measure.range, backend)
    low, high = value - z * error, value + z * error
    return xp.where(low < least, least, low), xp.where(high > most, most, high)


def read_forecast(probabilities: Any, y_pred: Any, *, differentiated: bool = False) -> Forecast:
    """The checked probabilities and predictions; values on devices and in compiled code are not inspected.

    With ``differentiated``, arrays go to the host unless their library can compute derivatives.
    """
    values = {"probabilities": probabilities} if y_pred is None else {"probabilities": probabilities, "y_pred": y_pred}
    home, (probs, *others) = as_arrays(**values)
    if not home.is_float(probs) or len(probs.shape) == 0:
        raise TypeError(
            "probabilities: expected floating numbers (*B, N, n), or (N,) of class 1 of two, got dtype "
            f"{probs.dtype} of shape {tuple(probs.shape)}"
        )
    to_host = home.to_numpy if differentiated and type(home) is Standard else home.host_view
    views = [to_host(array) for array in (probs, *others)]
    host_arrays = [view for view in views if view is not None]
    backend = home
    if len(host_arrays) == len(views):
        backend, (probs, *others) = NUMPY, host_arrays
        probs = probs.astype(np.float64, copy=False)
    xp = backend.xp
    probs = xp.stack([1 - probs, probs], axis=-1) if len(probs.shape) == 1 else probs
    if backend is NUMPY:
        _check_probabilities(probs)
    n = probs.shape[-1]
    pred = xp.argmax(probs, axis=-1) if not others else others[0]
    pred = check_labels(pred, "y_pred", backend)
    if tuple(pred.shape[-1:]) != tuple(probs.shape[-2:-1]):
        raise ValueError(
            f"y_pred: expected as many samples as probabilities, {probs.shape[-2]}, got shape {tuple(pred.shape)}"
        )
    if backend is NUMPY and pred.size and (pred.min() < 0 or pred.max() >= n):
        raise ValueError(f"y_pred: expected labels in [0, {n}), got {pred.min()} to {pred.max()}")
    index = xp.astype(backend.class_index(n, probs), pred.dtype)
    is_predicted = pred[..., None] == xp.reshape(index, (*(1,) * len(pred.shape), n))
    is_predicted = xp.astype(is_predicted, probs.dtype)
    if tuple(is_predicted.shape) != tuple(probs.shape):
        probs, is_predicted = xp.broadcast_arrays(probs, is_predicted)
    return Forecast(probs, is_predicted, backend, home)


def _check_probabilities(probs: Array) -> None:
    known = np.isfinite(probs).all(axis=-1)
    is_invalid = known & ((probs < 0).any(axis=-1) | (np.abs(probs.sum(axis=-1) - 1) > 1e-3))
    if is_invalid.any():
        index = tuple(map(int, np.argwhere(is_invalid)[0]))
        raise ValueError(
            "probabilities: expected numbers from 0 on that add up to 1, got "
            f"{probs[index].round(4).tolist()} at {index}"
        )


def _products(a: Array, b: Array, backend: Standard) -> Array:
    """Σ a[.., i, j] b[.., i, k] over the samples i: (*B, j, k)."""
    batch, rows = tuple(a.shape[:-2]), (math.prod(a.shape[:-2]), *a.shape[-2:])
    sums = backend.sum_of_products(backend.xp.reshape(a, rows), backend.xp.reshape(b, rows))
    return backend.xp.reshape(sums, (*batch, *sums.shape[-2:]))


def _pairs(forecast: Forecast) -> Array:
    """The sums (*B, predicted, n, n) of the products of two probabilities of a sample, by its predicted class."""
    xp, n = forecast.backend.xp, forecast.chosen.shape[-1]
    by_prediction = [forecast.probabilities * forecast.chosen[..., k : k + 1] for k in range(n)]
    return xp.stack([_products(probs, forecast.probabilities, forecast.backend) for probs in by_prediction], axis=-3)


def _identity(like: Array, backend: Standard) -> Array:
    n = like.shape[-1]
    return backend.constant([[float(i == j) for j in range(n)] for i in range(n)], like)[None, :, :]


def warn_unless_calibrated(forecast: Forecast, y_true: Any) -> None:
    """Warn if true labels contradict the probabilities of the predicted classes, or of all (Spiegelhalter 1986)."""
    backend, (true,) = as_arrays(y_true=y_true)
    labels = backend.host_view(true)
    if labels is None or forecast.backend is not NUMPY:
        return
    probs, n = forecast.probabilities, forecast.probabilities.shape[-1]
    if labels.shape[-1:] != probs.shape[-2:-1]:
        raise ValueError(
            f"y_true: expected labels of {probs.shape[-2]} samples, -1 for no label, got shape {labels.shape}"
        )
    labels = widen(check_labels(labels, "y_true", NUMPY), NUMPY)
    if labels.size and (labels.min() < -1 or labels.max() >= n):
        raise ValueError(f"y_true: expected labels in [0, {n}), or -1 for none, got {labels.min()} to {labels.max()}")
    true = np.broadcast_to(labels, probs.shape[:-1])
    known = (true >= 0) & np.isfinite(probs).all(axis=-1)
    p = probs[known]
    observed = np.eye(n)[true[known]]
    is_predicted = forecast.chosen[known]
    expected, hit = (p * is_predicted).sum(axis=-1), (observed * is_predicted).sum(axis=-1)
    scores = [(hit - expected, expected * (1 - expected))]
    slope = 1 - 2 * p
    scores.append(
        (((observed - p) * slope).sum(axis=-1), (p * slope**2).sum(axis=-1) - ((p * slope).sum(axis=-1)) ** 2)
    )
    z = [abs(deviation.sum()) / math.sqrt(spread.sum()) for deviation, spread in scores if spread.sum() > 1e-12]
    p_value = min(1.0, len(z) * math.erfc(max(z) / math.sqrt(2))) if z else 1.0
    if p_value <= LARGEST_P_VALUE:
        warnings.warn(
            f"probabilities: not calibrated on the {known.sum():,} samples with labels: the expected accuracy is "
            f"{expected.mean():.3f}, that of the labels {hit.mean():.3f} (p = {p_value:.2g}); calibrate them first",
            RuntimeWarning,
            stacklevel=frames_to_the_user(),
        )
