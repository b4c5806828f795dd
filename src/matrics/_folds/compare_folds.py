"""compare_folds(): comparison of two models by their scores on the same folds."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._folds.results import FoldComparison
from matrics._metrics.inference import special
from matrics._quoting import quoted
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import IntervalStatus
from matrics._uncertainty.status import graver
from matrics.typing import ArrayLike

Method = Literal["auto", "corrected_t", "5x2_t", "5x2_f"]

# A standard deviation of up to so many rounding errors of the largest score is no variation.
ROUNDINGS = 16


def compare_folds(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    test_fraction: float | None = None,
    method: Method = "auto",
    level: float = 0.95,
    rope: float = 0.0,
    higher_is_better: bool = True,
) -> FoldComparison:
    """Compare two models by their scores on the same folds of cross-validation.

    The training sets of folds overlap, so that their scores are not independent, and a plain paired t-test finds
    differences where there are none. These tests correct for the overlap.

    Parameters
    ----------
    scores_a, scores_b : array_like, shape (*B, folds), or (*B, 5, 2) for the 5×2 tests
        A score of each model on each fold, in the same order: the scores of 10×10 folds are a single axis of 100.
        Batches broadcast against each other, and every pair is compared on its own.
    test_fraction : float, optional
        The share of the samples that a fold tests on, n_test / (n_test + n_train): 0.1 for ten folds, however often
        repeated. Needed but for the 5×2 tests, where it is a half.
    method : {"auto", "corrected_t", "5x2_t", "5x2_f"}
        By default (``"corrected_t"``) the corrected resampled t-test of Nadeau and Bengio; or, of five repetitions of
        two folds, the t-test of Dietterich, or the combined F-test of Alpaydin.
    level : float, default 0.95
        The confidence level of the limits.
    rope : float, default 0
        The half width of the region of practical equivalence: models whose scores differ by less are practically
        equal. Only for the corrected t-test.
    higher_is_better : bool, default True
        Whether the higher of two scores is better, for the probabilities.

    Returns
    -------
    FoldComparison
        The difference, its limits, the statistic, the two-sided p-value, the probabilities that a is better, that both
        are practically equal and that b is better, and a status; arrays (*B,), NaN where the status is not 0. If the
        differences do not vary, no test can decide, whichever model is ahead.

    Raises
    ------
    ValueError
        There are fewer than two folds, the shapes do not fit, ``test_fraction`` is missing or not between 0 and 1, or
        an option has a value that does not exist.
    TypeError
        In compiled code: the laws are SciPy's (extra ``stats``), which runs on the host.

    Notes
    -----
    With k folds and the test fraction f, the variance of the mean difference is (1/k + f / (1 - f)) s², where a plain
    t-test has s²/k; there are k - 1 degrees of freedom. The posterior of the Bayesian correlated t-test (Corani and
    Benavoli) is the same distribution around the mean difference, and the probabilities are its parts below, within
    and above the region of practical equivalence.

    The limits of all tests are the differences that they do not reject, so that they contain 0 exactly if the p-value
    is at least 1 - ``level``. Dietterich's t uses the difference of the very first fold only, and its limits are
    around this difference. The limits of F may not exist (NaN) where repetitions differ far more than the folds within.

    References
    ----------
    Nadeau and Bengio 2003; Dietterich 1998; Alpaydin 1999; Corani and Benavoli 2015; Benavoli et al. 2017.

    Examples
    --------
    >>> import matrics
    >>> a = [0.81, 0.84, 0.79, 0.86, 0.83, 0.80, 0.85, 0.82, 0.84, 0.83]
    >>> b = [0.80, 0.81, 0.79, 0.82, 0.80, 0.78, 0.83, 0.80, 0.83, 0.79]
    >>> result = matrics.stats.compare_folds(a, b, test_fraction=0.1, rope=0.01)
    >>> print(f"{result.difference:.3f}, between {result.low:.3f} and {result.high:.3f}; p = {result.p_value:.4f}")
    0.022, between 0.008 and 0.036; p = 0.0054
    >>> print(f"a is better with probability {result.probability_better:.2f}, equal {result.probability_equal:.2f}")
    a is better with probability 0.96, equal 0.04
    """
    level = check_level(level)
    if method not in get_args(Method):
        raise ValueError(f"method: expected one of {', '.join(map(repr, get_args(Method)))}, got {quoted(method)}")
    two_folds = method in ("5x2_t", "5x2_f")
    rope = check_rope(rope)
    if two_folds and rope:
        raise ValueError(f"rope: expected 0, as method={quoted(method)} gives no probabilities, got {quoted(rope)}")
    fraction = _test_fraction(test_fraction, method, two_folds=two_folds)
    check_direction(higher_is_better)
    backend, (a, b) = as_arrays(scores_a=scores_a, scores_b=scores_b)
    a, b = (_scores(name, value, backend) for name, value in (("scores_a", a), ("scores_b", b)))
    _check_shapes(tuple(a.shape), tuple(b.shape), two_folds=two_folds)
    xp, axes = backend.xp, (-2, -1) if two_folds else (-1,)
    a, b = xp.broadcast_arrays(a, b)
    known = xp.all(xp.isfinite(a) & xp.isfinite(b), axis=axes)
    wide = xp.reshape(known, (*known.shape, *(1 for _ in axes)))
    a, b = xp.where(wide, a, 0), xp.where(wide, b, 0)
    gap = a - b
    mean = xp.mean(gap, axis=axes)
    largest = xp.maximum(xp.max(xp.abs(a), axis=axes), xp.max(xp.abs(b), axis=axes))
    noise = ROUNDINGS * float(xp.finfo(gap.dtype).eps) * largest
    with backend.quiet():
        if two_folds:
            spread = xp.sqrt(xp.mean((gap[..., 0] - gap[..., 1]) ** 2 / 2, axis=-1))
            varies = known & (spread > noise)
            error = xp.where(varies, spread, 1)
            parts = (_five_t if method == "5x2_t" else _five_f)(gap, mean, error, level, backend)
            chances = (xp.full_like(mean, math.nan),) * 3
        else:
            folds = gap.shape[-1]
            spread = xp.sqrt(xp.sum((gap - mean[..., None]) ** 2, axis=-1) / (folds - 1))
            varies = known & (spread > noise)
            error = xp.where(varies, spread, 1) * math.sqrt(1 / folds + fraction / (1 - fraction))
            half_width = float(special("stdtrit")(folds - 1, (1 + level) / 2)) * error
            statistic = mean / error
            parts = statistic, _two_sided(statistic, folds - 1, backend), mean - half_width, mean + half_width
            above, below = (_below((side * mean - rope) / error, folds - 1, backend) for side in (1, -1))
            better, worse = (above, below) if higher_is_better else (below, above)
            chances = better, xp.clip(1 - better - worse, 0, None), worse
    statistic, p_value, low, high = parts
    integer = backend.widest_int(mean) or xp.int32
    none = xp.astype(xp.zeros_like(mean), integer)
    status = graver(none, {IntervalStatus.NO_VARIATION: ~varies, IntervalStatus.UNDEFINED: ~known}, xp)
    rest = (xp.where(varies, value, math.nan) for value in (low, high, error, statistic, p_value, *chances))
    fields = (xp.where(known, mean, math.nan), *rest, status)
    return FoldComparison(*(value[()] for value in fields)) if backend is NUMPY else FoldComparison(*fields)


def check_rope(rope: Any) -> float:
    """Half the width of a region of practical equivalence, checked to be a finite number of at least 0."""
    is_number = isinstance(rope, (int, float, np.number)) and not isinstance(rope, bool)
    if not (is_number and 0 <= rope < math.inf):
        raise ValueError(f"rope: expected a number of at least 0, such as 0.01, got {quoted(rope)}")
    return float(rope)


def check_direction(higher_is_better: Any) -> None:
    """Raise an error for other values than True and False: a text would count as True."""
    if not isinstance(higher_is_better, (bool, np.bool_)):
        raise TypeError(f"higher_is_better: expected True or False, got {quoted(higher_is_better)}")


def _test_fraction(value: Any, method: str, *, two_folds: bool) -> float:
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if two_folds:
        if value is not None and not (is_number and value == 0.5):
            raise ValueError(
                f"test_fraction: expected 0.5 or None, as method={quoted(method)} has two folds, got {quoted(value)}"
            )
        return 0.5
    if not (is_number and 0 < value < 1):
        raise ValueError(
            "test_fraction: expected n_test / (n_test + n_train), between 0 and 1, such as 0.1 for ten folds, got "
            f"{quoted(value)}"
        )
    return float(value)


def _scores(name: str, array: Array, backend: Standard) -> Array:
    if not (backend.is_integer(array) or backend.is_float(array)):
        raise TypeError(f"{name}: expected scores, got dtype {array.dtype}")
    return backend.to_float(backend.detached(array))


def _check_shapes(a: tuple[int, ...], b: tuple[int, ...], *, two_folds: bool) -> None:
    axes = 2 if two_folds else 1
    for name, shape in (("scores_a", a), ("scores_b", b)):
        if two_folds and shape[-2:] != (5, 2):
            raise ValueError(f"{name}: expected scores of five repetitions of two folds (*B, 5, 2), got shape {shape}")
        if not two_folds and (not shape or shape[-1] < 2):
            raise ValueError(f"{name}: expected scores (*B, folds) of at least two folds, got shape {shape}")
    fits = a[-axes:] == b[-axes:] and all(
        size == other_size or 1 in (size, other_size) for size, other_size in zip(a[::-1], b[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"expected scores of both models on the same folds (*B, folds), got scores_a {a}, scores_b {b}"
        )


def _below(t: Array, degrees: int, backend: Standard) -> Array:
    """The distribution function of Student's law."""
    return backend.on_host(lambda value: special("stdtr")(degrees, value), t)


def _two_sided(t: Array, degrees: int, backend: Standard) -> Array:
    return 2 * _below(-backend.xp.abs(t), degrees, backend)


def _five_t(gap: Array, mean: Array, error: Array, level: float, backend: Standard) -> tuple[Array, ...]:  # noqa: ARG001
    """Dietterich's test: the difference of the first fold over the standard deviation within all repetitions."""
    first = gap[..., 0, 0]
    statistic = first / error
    half_width = float(special("stdtrit")(5, (1 + level) / 2)) * error
    return statistic, _two_sided(statistic, 5, backend), first - half_width, first + half_width


def _five_f(gap: Array, mean: Array, error: Array, level: float, backend: Standard) -> tuple[Array, ...]:
    """Alpaydin's test: the squares of all ten differences in place of the first difference."""
    xp = backend.xp
    squares = xp.mean(gap**2, axis=(-2, -1))
    statistic = squares / error**2
    p_value = backend.on_host(lambda value: special("fdtrc")(10, 5, value), statistic)
    # The differences d for which the mean of (gap - d)² is at most the critical F times the variance.
    room = float(special("fdtri")(10, 5, level)) * error**2 - xp.mean((gap - mean[..., None, None]) ** 2, axis=(-2, -1))
    half_width = xp.where(room >= 0, xp.sqrt(xp.where(room >= 0, room, 0)), math.nan)
    return statistic, p_value, mean - half_width, mean + half_width
