"""Sample sizes: samples_needed()."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid, as_stack, check_options, evaluate
from matrics._quoting import quoted
from matrics._uncertainty.arguments import metrics_of, report_invalid
from matrics._uncertainty.formulas import at_samples, noise_of
from matrics._uncertainty.interval import interval
from matrics._uncertainty.joint import check_joint, difference_of
from matrics._uncertainty.limits import normal_quantile
from matrics._uncertainty.measure import Measure, Score, score_of
from matrics._uncertainty.options import check_level
from matrics._uncertainty.planned import Expected
from matrics._uncertainty.slopes import slopes, variance
from matrics.typing import ArrayLike

# The largest number of samples in a search, the relative precision of large numbers, how many data sets are drawn, and
# the seed, which makes results reproducible.
MOST, PRECISION, SETS, SEED = 2.0**40, 0.01, 400, 0


def samples_needed(
    cm: ArrayLike,
    metric: str | Metric,
    *,
    half_width: float | None = None,
    difference: float | None = None,
    paired: ArrayLike | None = None,
    level: float = 0.95,
    power: float = 0.8,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> Array:
    """The number of samples for an interval of this width, or for the power to detect a difference.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts that are expected, for example from a pilot study; rows are true classes. Only the proportions of its
        cells matter.
    metric : str or Metric
        The name, an alias or a spec of a measure with one value for each matrix, such as ``"mcc"``, ``"recall[1]"`` or
        ``"fbeta(beta=2):macro"``; see :func:`matrics.get_metric`.
    half_width : float, optional
        Half of the required width of the interval.
    difference : float, optional
        Instead of ``half_width``: the difference between two classifiers that a test should detect.
    paired : array_like, shape (*B, n, n, n), optional
        With ``difference``: the joint table of both classifiers, as from :func:`matrics.stats.joint_confusion_matrix`,
        if both are tested on the same samples (``cm`` is then the matrix of a); otherwise each on its own samples.
    level : float, default 0.95
        The confidence level of the interval. The test is two-sided, with the significance level 1 - ``level``.
    power : float, default 0.8
        The probability to detect a difference of this size.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. The number of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.
    class_names : sequence of str, optional
        Names of the classes, in their order, for ``positive`` and for specs (``"recall[fraud]"``).
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, and an index otherwise. Per-class measures
        without an average are values of this class. Without it they are values of class 1 of two classes, and means
        over more (``macro``).

    Returns
    -------
    array of floats, shape (*B,), or (*B, n) for ``:class``
        The total number of samples of all classes, a whole number; for a difference between independent samples, the
        number for each. NaN if it is unknown: the measure is undefined, or its variance is 0, for example without
        errors. (The width of the interval of a proportion is known without errors as well.)

    Raises
    ------
    ValueError
        Neither or both of ``half_width`` and ``difference`` are given, a size is not positive, or ``paired`` is given
        without ``difference``.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Notes
    -----
    The number is determined for the limits of this library, at the expected matrix of so many samples. With
    ``half_width`` these are the limits of :func:`matrics.interval`. A proportion, such as the accuracy or a recall,
    gets the number for which Wilson's interval has this width, about z² p (1 - p) / half_width².

    With ``difference``, the power is that of the limits of :func:`matrics.compare`, or with ``paired`` those of
    :func:`matrics.compare_paired`: the probability that they exclude 0. Other tests have another power; with the number
    for a power of 80 % the exact :func:`matrics.stats.mcnemar` has 76 to 79 %, and mid-p about 80 %. The second of two
    independent classifiers has more errors or fewer in each class, in the same proportions, so that the measure differs
    by ``difference``. It has another variance than the first. The number is for the case that needs more samples, and
    the power is larger in the other case. The joint table of ``paired`` is taken as it is.

    In compiled code and on devices, the number is for the variance of the delta method at the matrix, which is the same
    for both classifiers. It is too small where there are few errors.

    A pilot study without errors has a variance of 0, which says nothing about the errors of a larger study: use the
    proportions of a matrix with as many errors as you have to expect.

    Measures whose estimates are biased (entropies, confusion entropy, EVE, measures made of chi-squared) have wider
    limits. With ``half_width`` their result is the number for which intervals of :func:`matrics.interval` have this
    width on average. It has a precision of 1 %, from 400 simulated matrices with a fixed seed.

    Examples
    --------
    >>> import matrics
    >>> int(matrics.stats.samples_needed([[0.4, 0.1], [0.1, 0.4]], "accuracy", half_width=0.05))
    245
    >>> int(matrics.stats.samples_needed([[40, 0], [0, 40]], "accuracy", half_width=0.05))  # no errors so far
    35
    >>> int(matrics.stats.samples_needed([[0.4, 0.1], [0.1, 0.4]], "mcc", difference=0.05))
    4219
    """
    check_options(zero_division, invalid, workers)
    if (half_width is None) == (difference is None):
        raise ValueError("expected half_width= or difference=, and not both")
    name, size = ("half_width", half_width) if difference is None else ("difference", difference)
    if isinstance(size, bool) or not isinstance(size, (int, float, np.number)) or not 0 < size <= sys.float_info.max:
        raise ValueError(f"{name}: expected a positive number, got {quoted(size)}")
    if paired is not None and difference is None:
        raise ValueError("paired: expected None, as half_width= is about a single classifier")
    level = check_level(level)
    if isinstance(power, bool) or not isinstance(power, (int, float, np.number)) or not 0 < power < 1:
        raise ValueError(f"power: expected a number between 0 and 1, such as 0.8, got {quoted(power)}")
    quantiles = normal_quantile(level)
    if difference is not None:
        quantiles += normal_quantile(2 * float(power) - 1) if power != 0.5 else 0.0
    backend, array = as_stack(cm)
    (chosen,) = metrics_of([metric], array.shape[-1], class_names, positive, cm).values()
    measure = Measure.of(chosen)
    if paired is not None:
        backend, array = _joint_tables(paired, tuple(array.shape))
    spread = _variance(
        backend.detached(array),
        score_of([measure], float(zero_division)),
        measure if half_width is not None else None,
        backend,
        invalid,
        workers,
        joint=paired is not None,
    )
    if half_width is not None and measure.biased and spread.backend is NUMPY:
        varies = (spread.values > 0).reshape(len(spread.shares), -1).any(axis=1)
        shares = np.where(varies[:, None, None], spread.shares, 0)
        samples = _by_simulation(shares, chosen, float(size), level, float(zero_division), workers)
        return backend.from_host(samples.reshape(spread.shape)[()])
    xp = spread.backend.xp
    number = (
        spread.values * (2.0 if difference is not None and paired is None else 1.0) * _square(quantiles / float(size))
    )
    number = xp.where(number > 0, number, math.nan)
    if spread.trials is not None:
        with spread.backend.quiet():  # a width whose square is 0
            number = _of_proportion(spread, quantiles, float(size))
    elif spread.backend is NUMPY:
        options: dict[str, Any] = {"level": level, "zero_division": float(zero_division), "workers": workers}
        plan = Expected(spread.shares, chosen, score_of([measure], float(zero_division)), options)
        z = None if half_width is not None else quantiles - normal_quantile(level)
        number = _by_limits(plan, number, float(size), z, is_paired=paired is not None)
    samples = xp.reshape(xp.ceil(number * (1 - 1e-9)), spread.shape)
    return backend.from_host(np.asarray(samples)[()]) if spread.backend is NUMPY else samples


def _joint_tables(paired: ArrayLike, shape: tuple[int, ...]) -> tuple[Standard, Array]:
    """The joint tables, checked against the shape of the matrices."""
    backend, (array,) = as_arrays(joint=paired)
    array = check_joint(array, backend)
    if tuple(array.shape) != (*shape, shape[-1]):
        raise ValueError(
            f"paired: expected joint tables of the classes and the batch of cm, {(*shape, shape[-1])}, got "
            f"{tuple(array.shape)}"
        )
    return backend, array


def _by_limits(plan: Expected, number: Array, size: float, z: float | None, *, is_paired: bool) -> Array:
    """The numbers of samples for the limits of the library, from those for the variance; ``z`` is the power's."""
    # Above MOST, derivatives are rounding errors, and the limits are those of the delta method.
    start = np.where(number < MOST, number, math.nan)
    if z is None:
        samples = plan.for_width(start, size)
    else:
        samples = (plan.for_paired if is_paired else plan.for_difference)(start, size, z)
    return np.where(np.isnan(samples), number, samples)


def _by_simulation(  # noqa: PLR0917 (the parameters of samples_needed)
    shares: Array, metric: Metric, half_width: float, level: float, zero_division: float, workers: int
) -> Array:
    """The smallest number of samples (B,) or (B, C) for which intervals of simulated matrices have this mean width."""

    @functools.cache  # the classes of a matrix have the same draws
    def widths(number: float, row: int) -> Array:
        cells = shares[row]
        drawn = np.random.default_rng(SEED).multinomial(int(number), cells.ravel() / cells.sum(), SETS)
        options: dict[str, Any] = {"level": level, "zero_division": zero_division, "workers": workers}
        (interval_of_sets,) = interval(drawn.reshape(SETS, *cells.shape), metric, invalid="nan", **options).values()
        return interval_of_sets.high - interval_of_sets.low

    def is_wide(number: float, place: tuple[int, ...]) -> bool:
        width = widths(number, place[0])[(slice(None), *place[1:])]
        defined = width[~np.isnan(width)]
        return not (defined.size > SETS / 2 and defined.mean() <= 2 * half_width)

    def fewest(place: tuple[int, ...]) -> float:
        low, high = 0.0, 1.0
        while is_wide(high, place):
            low, high = high, 2 * high
            if high > MOST:
                return high
        while high - low > max(1, high * PRECISION):
            middle = float((low + high) // 2)
            low, high = (middle, high) if is_wide(middle, place) else (low, middle)
        return high

    numbers = np.full((len(shares), shares.shape[-1]) if metric.is_classwise else (len(shares),), math.nan)
    for place in np.ndindex(numbers.shape):
        if shares[place[0]].sum() > 0:
            numbers[place] = fewest(place)
    return numbers


def _of_proportion(spread: _Spread, z: float, half_width: float) -> Array:
    """The number of all samples for which Wilson's interval has this half width, at least 1; NaN without trials.

    The equation of the half width is quadratic in the number of trials.
    """
    p, trials, square = spread.estimates, spread.trials, half_width * half_width
    xp = spread.backend.xp
    if half_width >= 0.5:  # the half width without trials
        number = xp.zeros_like(p)
    else:
        middle = p * (1 - p) - 2 * square
        number = z * z * (middle + xp.sqrt(middle * middle + square * (1 - 4 * square))) / (2 * square)
    defined = ~xp.isnan(spread.values) & (trials > 0)
    number = xp.where(defined, number / xp.where(defined, trials, 1), math.nan)
    return xp.where(number < 1, 1, number)


def _square(ratio: float) -> float:
    return min(ratio, 1e15) ** 2  # the largest float32 is about 1e38


class _Spread(NamedTuple):
    """The variance for one sample, in the library that has computed it."""

    values: Array  # (B,) or (B, C)
    estimates: Array  # (B,) or (B, C): the measure
    trials: Array  # (B,) or (B, C): the share of the samples that are trials of the proportion; or None
    shares: Array  # (B, n, n)
    shape: tuple[int, ...]  # of the result
    backend: Standard


def _variance(  # noqa: PLR0917 (the parameters of samples_needed)
    array: Array,
    score: Score,
    measure: Measure | None,
    backend: Standard,
    invalid: Invalid,
    workers: int,
    *,
    joint: bool,
) -> _Spread:
    """The variance of the measure, or of the difference of both classifiers, for one sample with these shares.

    With ``measure``, the result includes the trials of a proportion.
    """
    view = backend.to_numpy(array) if type(backend) is Standard else backend.host_view(array)
    backend, array = (backend, array) if view is None else (NUMPY, view)
    xp, n = backend.xp, array.shape[-1]
    batch = tuple(array.shape[: -3 if joint else -2])
    with backend.quiet():
        cells = xp.reshape(backend.to_float(array), (math.prod(batch), n, n * n if joint else n))
        total = xp.sum(cells, axis=(-2, -1), keepdims=True)
        shares = cells / xp.where(total > 0, total, 1)
        good = xp.all(xp.isfinite(shares) & (shares >= 0), axis=(-2, -1))
        report_invalid(good, backend, "joint tables are" if joint else "matrices are", invalid)
        shares = xp.where(good[:, None, None], shares, 0)
        if 0 in batch:
            values = score(xp.zeros((0, n, n), dtype=shares.dtype, **backend.device_option(shares)), 1)[0]
            estimates = values
        else:
            scored = difference_of(score, xp) if joint else score
            derivatives = slopes(shares, scored, backend, second=False, workers=workers)
            _, first = at_samples(shares, derivatives.first[0], xp)
            estimates = derivatives.values[0]
            values = variance(first, shares, "multinomial", None, backend)
            values = xp.where(values > noise_of(estimates, (-math.inf, math.inf), backend), values, 0)
            values = xp.where(xp.isnan(estimates), math.nan, values)
        trials = None
        if measure is not None and measure.trials is not None:
            (trials,) = evaluate(shares, [measure.trials], invalid="nan")
    return _Spread(values, estimates, trials, shares, batch + tuple(values.shape[1:]), backend)
