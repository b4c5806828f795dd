"""The leaderboard: all measures of all models with limits, and the models that may be the best."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matrics._arrays.sizes import check_draws
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._catalogue.written import written
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._reporting.data import Data
from matrics._reporting.verdicts import ModelVerdict, best_of, judged_alone, judged_together
from matrics._scoring.score import resolve, score
from matrics._uncertainty.interval import interval
from matrics._uncertainty.measure import Measure
from matrics._uncertainty.options import DEFAULT_NUM, check_level
from matrics._wording import number
from matrics.typing import NumPyArray

__all__ = [
    "DEFAULT_METRICS",
    "IntervalSettings",
    "Leaderboard",
    "cells_of",
    "leaderboard",
    "leaderboard_of_judge",
    "read_settings",
]

#: MCC ranks the models, as it is corrected for chance. The others are the group core; the mean recall of the classes is
#: balanced accuracy.
DEFAULT_METRICS = "mcc,accuracy,balanced_accuracy,precision,f1,cohen_kappa,cen,eve"

#: The name of the accuracy if the true class of all answers is "pass".
PASS_RATE = "pass rate"  # noqa: S105 (no password)

MOST_COMPARED = 30  # models; the pairs of more models would take long
# Limits by the delta method compute about 2 n² scores of n² cells each; so many cells take about ten seconds.
MOST_CELLS = 5e8
# The largest cost of the bootstrap for paired models: replicates × models × (samples + cells).
MOST_DRAWN = 1.2e9
LEAST_NUM = 1000


@dataclass(frozen=True)
class IntervalSettings:
    """The settings of intervals and comparisons.

    Parameters
    ----------
    level : float
        The confidence level of the intervals.
    num : int or None
        The number of replicates of paired comparisons; None for as many as take a few seconds.
    seed : int
        The seed of the replicates.
    """

    level: float = 0.95
    num: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Leaderboard:
    """All models, the best first.

    Parameters
    ----------
    first : str
        The measure that ranks the models, as requested.
    metrics : dict of str to Metric
        Every requested measure, resolved for these classes.
    verdicts : dict of str to Verdict
        The verdict on every measure, with arrays (M,) in the order of the data. Limits are NaN if there are none. The
        labels contain the average or the class: ``recall, macro``.
    judged : tuple of str
        The measures with limits and with comparisons of models.
    order : list of int
        The models, the best first. Models whose measure is undefined come last.
    compared : list of int
        The models that were compared with the best, the best first.
    num : int
        The number of replicates; 0 without resampling.
    left_out : tuple of str
        Default measures that have the same value for most of these models.
    """

    first: str
    metrics: dict[str, Metric] = field(repr=False)
    verdicts: dict[str, ModelVerdict] = field(repr=False)
    judged: tuple[str, ...]
    order: list[int]
    compared: list[int]
    num: int
    left_out: tuple[str, ...] = ()

    @property
    def verdict(self) -> ModelVerdict:
        """The verdict on the measure that ranks the models."""
        return self.verdicts[self.first]

    @property
    def title(self) -> str:
        """The title of the measure that ranks the models."""
        return self.verdict.title

    def titles(self, names: Iterable[str]) -> list[str]:
        """The titles of measures."""
        return [self.verdicts[name].title for name in names]

    @property
    def tied(self) -> list[int]:
        """The models that are not significantly different from the best, including the best."""
        return [k for k in self.order if self.verdict.tied[k]]


def leaderboard(data: Data, metrics: Any, settings: IntervalSettings) -> Leaderboard:
    """Score and compare the models, by the default measures if ``metrics`` is None.

    Raises
    ------
    ValueError
        A measure does not exist, has a value for each class, or has no better direction.
    """
    # With a single true class, as for answers that pass or fail, the other measures are undefined or constant.
    has_classes = ((data.matrices.sum(axis=-1) > 0).sum(axis=-1) > 1).any()
    default = DEFAULT_METRICS if has_classes else "accuracy"
    chosen = _different(resolve(default if metrics is None else metrics, data.known))
    for name, metric in chosen.items():
        if metric.is_classwise:
            raise ArgumentError("metrics", f"expected measures with a single value for each model, got {name}")
        if metric.higher_is_better is None:
            raise ArgumentError("metrics", f"expected measures with a better direction, got {name}")
    models, n = len(data.models), data.matrices.shape[-1]
    scored = score(data.matrices, list(chosen.values()), workers=-1)
    left_out: list[str] = []
    if metrics is None:
        chosen, left_out = _distinguishing(chosen, scored, len(data.models))
    candidates = min(models, MOST_COMPARED)
    costly = [name for name, metric in chosen.items() if not is_proportion(metric)]
    judged = chosen
    if candidates * len(costly) * float(n) ** 4 > MOST_CELLS:
        judged = {name: metric for name, metric in chosen.items() if is_proportion(metric)}
        if not judged:
            judged = resolve("accuracy", data.known)
            scored |= score(data.matrices, list(judged.values()))
        chosen = judged | chosen
    first = next(iter(judged))
    values = {name: np.asarray(scored[str(metric)]) for name, metric in chosen.items()}
    side = 1 if chosen[first].higher_is_better else -1
    order = [int(k) for k in np.argsort(np.nan_to_num(-side * values[first], nan=math.inf), kind="stable")]
    compared = sorted(order[:candidates])  # sorted, so that the best model does not change the replicates
    verdicts, num = _verdicts(data, judged, compared, settings)
    full = {name: _of_all(verdict, compared, values[name]) for name, verdict in verdicts.items()}
    for name, metric in chosen.items():
        if name not in full:
            full[name] = _plain(title_of(name), values[name], higher_is_better=bool(metric.higher_is_better))
    _add_limits(full, judged, data, order[candidates:], settings)
    in_order = {name: full[name] for name in chosen}
    if data.are_passes:
        passes = {name: replace(of, label=PASS_RATE) for name, of in in_order.items() if of.label == "accuracy"}
        in_order |= passes
    return Leaderboard(first, chosen, in_order, tuple(judged), order, order[:candidates], num, tuple(left_out))


def leaderboard_of_judge(data: Data, verdict: ModelVerdict, metrics: Any) -> Leaderboard:
    """The leaderboard of pass rates of answers that a judge graded."""
    if metrics is not None:
        raise ArgumentError(
            "metrics", f"expected none with grades of a judge, as the measure is the pass rate, got {quoted(metrics)}"
        )
    values = np.asarray(verdict.estimate)
    order = [int(k) for k in np.argsort(np.nan_to_num(-values, nan=math.inf), kind="stable")]
    chosen = resolve("accuracy", data.known)
    (name,) = chosen
    return Leaderboard(name, chosen, {name: replace(verdict, label=PASS_RATE)}, (name,), order, order, 0)


def _different(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """The measures with different titles: ``recall`` and ``recall:macro`` may both be the mean over classes."""
    different: dict[str, Metric] = {}
    titles: set[str] = set()
    for name, metric in metrics.items():
        if title_of(name) not in titles:
            different[name] = metric
        titles.add(title_of(name))
    return different


def _distinguishing(
    metrics: Mapping[str, Metric], scored: Mapping[str, Any], models: int
) -> tuple[dict[str, Metric], list[str]]:
    """The measures that distinguish the models, and the titles of measures with the same value for half of them."""
    kept: dict[str, Metric] = {}
    left_out: list[str] = []
    usual = 0  # largest number of models with the same value of the first measure
    for name, metric in metrics.items():
        values = np.asarray(scored[str(metric)])
        alike = max(Counter(number(float(value)) for value in values[~np.isnan(values)]).values(), default=0)
        usual = usual if kept else max(alike, 1)
        if alike > usual and 2 * alike >= models:
            meaning = metric.summary.split(":")[0].rstrip(".")
            left_out.append(f"{written(title_of(name))} ({meaning[0].lower()}{meaning[1:]})")
        else:
            kept[name] = metric
    return kept, left_out


def _verdicts(
    data: Data, metrics: Mapping[str, Metric], chosen: Sequence[int], settings: IntervalSettings
) -> tuple[dict[str, ModelVerdict], int]:
    if data.paired is None:
        squares, level = data.squares_of(chosen), settings.level
        verdicts = judged_alone(
            data.matrices[chosen], metrics, data.classes, level=level, squared_weights=squares, workers=-1
        )
        return dict(zip(metrics, verdicts, strict=True)), 0
    true, pred, samples, _ = data.paired
    work = len(chosen) * (len(true) + len(data.classes) ** 2)
    num = settings.num or max(LEAST_NUM, min(DEFAULT_NUM, int(MOST_DRAWN / work)))
    weights = None if data.weighted is None else data.weighted.samples
    options: dict[str, Any] = {"level": settings.level, "num": num, "rng": settings.seed, "sample_weight": weights}
    verdicts = judged_together(true, pred[chosen], samples, metrics, data.classes, **options)
    return dict(zip(metrics, verdicts, strict=True)), num


def _of_all(verdict: ModelVerdict, chosen: Sequence[int], values: NumPyArray) -> ModelVerdict:
    """A verdict on some models, extended to all models."""

    def spread(part: NumPyArray | None, fill: Any) -> Any:
        if part is None:
            return None
        parts = np.full(len(values), fill, np.asarray(part).dtype)
        parts[list(chosen)] = part
        return parts

    numbers = ("low", "high", "difference", "difference_low", "difference_high", "probability_best")
    return replace(
        verdict,
        estimate=values,
        best=None if verdict.best is None else chosen[verdict.best],
        tied=spread(verdict.tied, fill=False),
        status=spread(verdict.status, 0),
        **{name: spread(getattr(verdict, name), math.nan) for name in numbers},
    )


def _plain(name: str, values: NumPyArray, *, higher_is_better: bool) -> ModelVerdict:
    """A verdict on all models without limits."""
    nothing = np.full(len(values), math.nan)
    side = 1 if higher_is_better else -1
    best = best_of(values, side)
    tied = np.zeros(len(values), bool) if best is None else values == values[best]
    return ModelVerdict(
        name, values, nothing, nothing, nothing, nothing, nothing, best, tied, None, higher_is_better,
        np.zeros(len(values), int),
    )  # fmt: skip


def _add_limits(
    verdicts: dict[str, ModelVerdict],
    metrics: Mapping[str, Metric],
    data: Data,
    others: Sequence[int],
    settings: IntervalSettings,
) -> None:
    """Add limits of the models that were not compared, unless this would take minutes."""
    n = len(data.classes)
    cheap = {
        name: metric
        for name, metric in metrics.items()
        if is_proportion(metric) or len(others) * len(metrics) * float(n) ** 4 < MOST_CELLS
    }
    if not others or not cheap or (data.paired is not None and repeats(data) > 1):
        return
    squares = data.squares_of(list(others))
    options: dict[str, Any] = {"level": settings.level, "workers": -1, "squared_weights": squares}
    intervals = interval(data.matrices[list(others)], list(cheap.values()), **options)
    for name, metric in cheap.items():
        limits = intervals[str(metric)]
        verdicts[name].low[list(others)] = limits.low
        verdicts[name].high[list(others)] = limits.high
        verdicts[name].status[list(others)] = limits.status


def is_proportion(metric: Metric) -> bool:
    """Whether a measure is a proportion of samples, whose limits are cheap; a mean over classes is not a proportion."""
    return Measure.of(metric).trials is not None


def repeats(data: Data) -> float:
    """The mean number of predictions of a model for each sample; 1 if it is not known."""
    if data.paired is None:
        return 1.0
    return len(data.paired.samples) / data.paired.number


def cells_of(data: Data, model: int) -> tuple[NumPyArray, dict[str, Any]]:
    """The matrix of a model and the options of ``interval``; a matrix for each sample if samples are repeated."""
    paired, n = data.paired, len(data.classes)
    whole = {} if data.weighted is None else {"squared_weights": data.squares_of(model)}
    if paired is None or repeats(data) == 1:
        return data.matrices[model], whole
    _, code = np.unique(paired.samples, return_inverse=True)
    number = int(code.max()) + 1
    if number * n * n > 2**26:  # half a gibibyte of counts
        return data.matrices[model], whole
    bins = (code * n + paired.true) * n + paired.pred[model]
    weights = None if data.weighted is None else data.weighted.samples
    return np.bincount(bins, weights, number * n * n).reshape(number, n, n), {"cluster_axis": 0}


def read_settings(level: float, num: int | None, rng: Any) -> IntervalSettings:
    """The checked settings of intervals and comparisons."""
    if rng is None or isinstance(rng, np.random.Generator):
        rng = np.random.default_rng(rng).integers(2**31)
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise ArgumentError("rng", f"expected a seed (an integer from 0), a NumPy generator or None, got {quoted(rng)}")
    return IntervalSettings(check_level(level), None if num is None else check_draws(num), int(rng))
