"""compare_datasets(): models by their scores on several data sets."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._arrays.draws import generator_of
from matrics._arrays.frames import cells, column_names, is_frame
from matrics._arrays.sizes import check_draws
from matrics._folds.compare_folds import check_direction, check_rope
from matrics._folds.results import DatasetComparison
from matrics._quoting import first_twice, quoted
from matrics._uncertainty.options import check_level
from matrics.typing import ArrayLike

MethodOfDatasets = Literal["auto", "nemenyi", "holm", "wilcoxon"]
DEFAULT_NUM = 50_000
# The weight of a data set without a difference, as in Benavoli et al.
PRIOR = 0.5
# Decimal digits to which differences of scores are rounded, counted from the largest score.
DIGITS = 12
# Entries of the tables of a chunk of draws.
DRAWS_AT_ONCE = 2**20


def compare_datasets(
    scores: ArrayLike | Mapping[str, ArrayLike],
    *,
    names: Sequence[str] | None = None,
    higher_is_better: bool = True,
    method: MethodOfDatasets = "auto",
    control: str | int | None = None,
    level: float = 0.95,
    rope: float | None = None,
    num: int | None = None,
    rng: Any = None,
) -> DatasetComparison:
    """Compare models by their scores on several data sets: Friedman's test, and tests of all pairs.

    Parameters
    ----------
    scores : array_like, shape (datasets, models), data frame with a column for each model, or mapping of str to scores
        A score of each model on each data set.
    names : sequence of str, optional
        The names of the models; the columns of a data frame, the keys of a mapping, or numbers, if left out.
    higher_is_better : bool, default True
        Whether the higher of two scores is better.
    method : {"auto", "nemenyi", "holm", "wilcoxon"}
        The test of pairs: of mean ranks for all pairs at once (Nemenyi), or with the correction of Holm; or of the
        scores themselves, by Wilcoxon's signed ranks with the correction of Holm. By default Wilcoxon's for two models,
        and Nemenyi's for more.
    control : str or int, optional
        Compare all models with this model only, by name or position: fewer pairs give more power; for ``"holm"``
        and ``"wilcoxon"``.
    level : float, default 0.95
        The confidence level of the critical difference.
    rope : float, optional
        Half the width of the region of practical equivalence: with it the Bayesian signed-rank test says how probable
        it is that each model is better, or practically equal.
    num : int, optional
        Number of draws of the Bayesian test; 50,000 if left out.
    rng : numpy.random.Generator or int, optional
        Where random numbers come from, or a seed; new draws every time if left out.

    Returns
    -------
    DatasetComparison
        Mean ranks, Friedman's and Iman and Davenport's tests, the critical difference, p-values of the pairs, and the
        probabilities, if there is a region of practical equivalence.

    Raises
    ------
    ValueError
        There are fewer than two data sets or models, a score is not finite, or an option does not exist or would have
        no use.
    ImportError
        SciPy is not installed (extra ``stats``).

    Notes
    -----
    Data sets are treated as a random sample of the data sets that the methods are meant for; each counts once, whatever
    its size. Equal scores share their mean rank. Friedman's chi-squared is corrected for ties; Iman and Davenport's F
    is less conservative. Mean ranks depend on the other models in the table, Wilcoxon's test does not (Benavoli, Corani
    and Mangili 2016). The signed-rank test leaves out data sets without a difference.

    In the Bayesian test a draw gives the data sets Dirichlet weights, and 1/2 to a data set without a difference;
    the probabilities are the shares of draws in which most of the weight of all pairs of data sets is on that side.

    References
    ----------
    Demšar 2006, "Statistical comparisons of classifiers over multiple data sets"; Benavoli, Corani, Demšar and Zaffalon
    2017, "Time for a change: a tutorial for comparing multiple classifiers through Bayesian analysis".

    Examples
    --------
    >>> import matrics
    >>> scores = {
    ...     "forest": [0.91, 0.82, 0.77, 0.95, 0.88, 0.71, 0.84, 0.90],
    ...     "boosting": [0.92, 0.84, 0.76, 0.96, 0.89, 0.73, 0.86, 0.92],
    ...     "tree": [0.85, 0.79, 0.70, 0.91, 0.80, 0.69, 0.80, 0.84],
    ... }
    >>> result = matrics.stats.compare_datasets(scores)
    >>> result.mean_ranks
    array([1.875, 1.125, 3.   ])
    >>> print(f"Friedman p = {result.p_value:.4f}, critical difference {result.critical_difference:.2f}")
    Friedman p = 0.0008, critical difference 1.17
    >>> (result.p_values < 0.05)[2]  # the tree differs from boosting
    array([False,  True, False])
    """
    level = check_level(level)
    if method not in get_args(MethodOfDatasets):
        options = ", ".join(map(repr, get_args(MethodOfDatasets)))
        raise ValueError(f"method: expected one of {options}, got {quoted(method)}")
    check_direction(higher_is_better)
    titles, table = _read(scores, names)
    datasets, models = table.shape
    if method == "auto":
        method = "wilcoxon" if models == 2 else "nemenyi"
    place = _place(control, titles, method)
    if rope is None and (num is not None or rng is not None):
        raise ValueError("num, rng: expected rope= with them, as only the Bayesian test draws, got none")
    rope = None if rope is None else check_rope(rope)
    generator = generator_of(rng)
    stats = _stats()
    better = table if higher_is_better else -table
    ranks = stats.rankdata(-better, axis=1)
    mean_ranks = ranks.mean(axis=0)
    varies = bool((ranks != ranks[:, :1]).any())
    statistic = p_value = f_statistic = f_p_value = math.nan
    if models > 2 and varies:
        statistic, p_value = map(float, stats.friedmanchisquare(*ranks.T))
        rest = datasets * (models - 1) - statistic
        f_statistic = (datasets - 1) * statistic / rest if rest > 1e-9 * statistic else math.inf
        f_p_value = float(stats.f.sf(f_statistic, models - 1, (models - 1) * (datasets - 1)))
    error = math.sqrt(models * (models + 1) / (6 * datasets))
    range_law = stats.studentized_range(models, np.inf)
    critical = float(range_law.ppf(level)) / math.sqrt(2) * error
    pairs = [pair for pair in itertools.combinations(range(models), 2) if place is None or place in pair]
    p_values = np.full((models, models), math.nan)
    if method == "nemenyi":
        uncorrected = range_law.sf(np.abs([mean_ranks[i] - mean_ranks[j] for i, j in pairs]) / error * math.sqrt(2))
    elif method == "holm":
        uncorrected = 2 * stats.norm.sf(np.abs([mean_ranks[i] - mean_ranks[j] for i, j in pairs]) / error)
    else:
        uncorrected = [_wilcoxon(_rounded(better[:, i] - better[:, j], table), stats) for i, j in pairs]
    corrected = np.asarray(uncorrected) if method == "nemenyi" else _holm(np.asarray(uncorrected))
    for (i, j), p in zip(pairs, np.clip(corrected, 0, 1), strict=True):
        p_values[i, j] = p_values[j, i] = p
    first = equal = None
    if rope is not None:
        draws = DEFAULT_NUM if num is None else check_draws(num)
        first, equal = _bayesian(better, rope, draws, generator)
    return DatasetComparison(
        titles,
        mean_ranks,
        datasets,
        statistic,
        p_value,
        f_statistic,
        f_p_value,
        critical,
        method,
        p_values,
        first,
        equal,
        level,
    )


def _read(scores: Any, names: Any) -> tuple[tuple[str, ...], Array]:
    """The names of the models, and their scores (datasets, models), which must be finite."""
    known = None
    if isinstance(scores, Mapping):
        known = [str(key) for key in scores]
        backend, rows = as_arrays(
            **{f"scores[{quoted(name)}]": values for name, values in zip(known, scores.values(), strict=True)}
        )
        if len({tuple(row.shape) for row in rows}) != 1 or rows[0].ndim != 1:
            shapes = ", ".join(f"{quoted(name)} {tuple(row.shape)}" for name, row in zip(known[:8], rows, strict=False))
            raise ValueError(f"scores: expected a score of each model on each data set, got {shapes or 'no model'}")
        table = np.stack([backend.known("scores", row) for row in rows], axis=1)
    else:
        if is_frame(scores):
            known = [str(name) for name in column_names(scores)]
            scores = cells(scores)  # a data frame of matrices would be square
        backend, (array,) = as_arrays(scores=scores)
        table = backend.known("scores", array)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(f"scores: expected (datasets, models), at least two of each, got shape {table.shape}")
    if table.dtype.kind not in "iuf":
        raise TypeError(f"scores: expected numbers, got dtype {table.dtype}")
    table = table.astype(np.float64)
    bad = np.argwhere(~np.isfinite(table))
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    titles = tuple(map(str, names)) if is_list else tuple(known or map(str, range(table.shape[1])))
    if (names is not None and not is_list) or len(titles) != table.shape[1] or len(set(titles)) < len(titles):
        twice = first_twice(titles)
        got = f"{quoted(twice)} twice" if twice is not None else quoted(names)
        raise ValueError(f"names: expected {table.shape[1]} different names, one for each model, got {got}")
    if bad.size:
        row, column = map(int, bad[0])
        raise ValueError(
            f"scores: expected a finite score of each model on each data set, got {table[row, column]} of "
            f"{quoted(titles[column])} on data set {row} ({len(bad)} such)"
        )
    return titles, table


def _place(control: Any, titles: tuple[str, ...], method: str) -> int | None:
    if control is None:
        return None
    if method == "nemenyi":
        raise ValueError("control: expected method='holm' or 'wilcoxon' with it, as Nemenyi's test is of all pairs")
    if isinstance(control, str) and control in titles:
        return titles.index(control)
    if isinstance(control, (int, np.integer)) and not isinstance(control, bool) and 0 <= control < len(titles):
        return int(control)
    raise ValueError(f"control: expected one of the models {', '.join(map(quoted, titles[:8]))}, got {quoted(control)}")


def _rounded(gap: Array, table: Array) -> Array:
    """Differences without the rounding errors of decimals: 0.82 − 0.81 is 0.01, as 0.57 − 0.56 is."""
    largest = float(np.abs(table).max())
    return np.round(gap, DIGITS - math.ceil(math.log10(largest))) if largest > 0 else gap


def _wilcoxon(gap: Array, stats: Any) -> float:
    """The p-value of Wilcoxon's signed ranks; 1 without any difference."""
    rest = gap[gap != 0]
    return float(stats.wilcoxon(rest).pvalue) if rest.size else 1.0


def _holm(p_values: Array) -> Array:
    """Holm's correction: p-values in order times the number of those not yet rejected, and never decreasing."""
    order = np.argsort(p_values)
    scaled = p_values[order] * (len(p_values) - np.arange(len(p_values)))
    corrected = np.empty_like(p_values)
    corrected[order] = np.maximum.accumulate(scaled)
    return corrected


def _bayesian(better: Array, rope: float, num: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The probabilities that the model of the row is better than that of the column, and that both are equal."""
    datasets, models = better.shape
    first, equal = np.full((models, models), math.nan), np.full((models, models), math.nan)
    step = max(1, DRAWS_AT_ONCE // (datasets + 1))
    weights = [rng.dirichlet([PRIOR, *[1.0] * datasets], size=min(step, num - start)) for start in range(0, num, step)]
    for i, j in itertools.combinations(range(models), 2):
        gap = np.insert(_rounded(better[:, i] - better[:, j], better), 0, 0.0)
        sums = gap[:, None] + gap
        # A difference equal to the bound of the region counts half, as does a tie without a region.
        above, below = (np.heaviside(_rounded(side * sums - 2 * rope, better), 0.5) for side in (1, -1))
        wins = np.zeros(3)
        for draws in weights:
            up, down = (np.vecdot(draws @ side, draws) for side in (above, below))
            shares = np.stack([up, 1 - up - down if rope > 0 else np.full_like(up, -1), down])
            is_largest = shares == shares.max(axis=0)
            wins += (is_largest / is_largest.sum(axis=0)).sum(axis=1)
        first[i, j], equal[i, j], first[j, i] = wins / num
        equal[j, i] = equal[i, j]
    return first, equal


def _stats() -> Any:
    try:
        return importlib.import_module("scipy.stats")
    except ImportError as error:
        raise ImportError('these tests need SciPy: python -m pip install "matrics[stats]"') from error
