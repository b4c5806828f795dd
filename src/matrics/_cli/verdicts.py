"""Comparisons of models on the screen and as columns of a result, and models by scores of the same samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics._catalogue.naming import title_of
from matrics._cli import options
from matrics._cli.measures import Target, about_classes, about_measure
from matrics._cli.results import Column, Result, Rows, View, column
from matrics._cli.screen import BEST
from matrics._errors import ArgumentError
from matrics._reporting.verdicts import ModelVerdict, ranked
from matrics._scoring.score import resolve
from matrics._tables.samples import joined
from matrics._uncertainty.options import DEFAULT_NUM, check_level
from matrics._wording import plain, shown_p_value

if TYPE_CHECKING:
    from matrics._catalogue.classes import Classes
    from matrics._catalogue.record import Metric
    from matrics._files.scores import Scored

Array = Any

UNDEFINED = "undefined for this model"
ITSELF = "it is the best itself, or there is no difference"
PARTS = ("estimate", "low", "high")
GAP = "best less this"
APART = ("difference", "difference_low", "difference_high")


@dataclass(frozen=True)
class ComparisonOptions:
    """The options of a comparison."""

    metrics: list[str]
    positive: str | None
    level: float
    num: int | None
    seed: int | None
    zero_division: float
    prevalence: str | None = None

    def check(self, paired_on: str | None) -> None:
        """Raise for what cannot be compared, before a file is read."""
        check_level(self.level)
        undirected = [name for name, metric in resolve(self.metrics).items() if metric.higher_is_better is None]
        if undirected:
            raise ArgumentError(
                "metrics", f"expected measures with a better direction, got {', '.join(undirected[:5])}"
            )
        if paired_on is not None:
            why = "no such option with --paired-on, which resamples (in Python: compare_paired)"
            options.refuse(why, {"prevalence": self.prevalence})

    def refuse_draws(self) -> None:
        """Raise for options of paired comparisons."""
        if self.seed is not None or self.num is not None:
            option = "num" if self.seed is None else "seed"
            raise ArgumentError(option, "expected --paired-on COLUMN with it; only paired comparisons resample")

    @property
    def drawn(self) -> str:
        """The random draws, in words."""
        return f"{DEFAULT_NUM if self.num is None else self.num:,} replicates, seed {self.seed or 0}"


@dataclass(frozen=True)
class Compared:
    """The models, the title lines, a verdict for each measure, and the data behind the verdicts."""

    models: list[str]
    titles: list[str]
    verdicts: list[ModelVerdict]
    metrics: dict[str, Metric]
    classes: Classes
    chosen: ComparisonOptions
    files: list[str]
    samples: int  # predictions of all models
    paired_on: str | None
    paired: int | None = None  # samples that all models have predicted
    left_out: tuple[str, ...] = ()
    thresholds: list[float] | None = None  # the threshold of each model


def comparison_result(comparison: Compared, heading: str) -> Result:
    """A row for each measure and model, in the order of the models."""
    is_drawn = comparison.paired is not None
    target = Target.read(comparison.chosen.prevalence, comparison.classes)
    about = {
        "files": comparison.files,
        "models": comparison.models,
        **about_classes(comparison.classes),
        "samples": comparison.samples,
        "paired_on": comparison.paired_on,
        "paired_samples": comparison.paired,
        "level": comparison.chosen.level,
        **({} if target is None else {"prevalence": target.shares}),
        **({} if comparison.thresholds is None else {"thresholds": comparison.thresholds}),
        "replicates": (DEFAULT_NUM if comparison.chosen.num is None else comparison.chosen.num) if is_drawn else None,
        "seed": (comparison.chosen.seed or 0) if is_drawn else None,
    }
    measures = [about_measure(title_of(key), metric) for key, metric in comparison.metrics.items()]
    rows, views = (
        rows_of(comparison.models, comparison.verdicts),
        views_of(comparison.models, comparison.verdicts, heading),
    )
    return Result("compare", comparison.titles, about, rows, measures, remarks=list(comparison.left_out), views=views)


def views_of(models: list[str], verdicts: list[ModelVerdict], heading: str) -> list[View]:
    """A table for each measure, in which the best model comes first."""
    return [_view(models, verdict, heading) for verdict in verdicts]


def _view(models: list[str], verdict: ModelVerdict, heading: str) -> View:
    order = np.argsort(-verdict.estimate if verdict.higher_is_better else verdict.estimate, stable=True).tolist()
    ranks = ["best" if row == verdict.best else "tied" if verdict.tied[row] else "" for row in order]

    def column_of(values: np.ndarray, of_best: str | None = None, **about: Any) -> Column:
        """The values in this order, and a text in place of that of the best model."""
        texts = {} if of_best is None else {verdict.best: of_best}
        return column([texts.get(row, values[row].item()) for row in order], **about)

    title = title_of(verdict.label)
    rows = {
        heading: column([models[row] for row in order], is_key=True),
        "": column(ranks, is_key=True, styles={"best": BEST}),
        title: column_of(verdict.estimate, status="status"),
        f"{title}/low": column_of(verdict.low),
        f"{title}/high": column_of(verdict.high),
        "status": column_of(verdict.status, is_status=True),
        GAP: column_of(verdict.difference, ""),
        f"{GAP}/low": column_of(verdict.difference_low),
        f"{GAP}/high": column_of(verdict.difference_high),
    }
    if verdict.p_value is not None:
        rows["p"] = column_of(np.maximum(verdict.p_value, shown_p_value(0.0)), "", digits=3)
    if verdict.probability_best is not None:
        rows["P(best)"] = column_of(verdict.probability_best, digits=2)
    return View(rows, below=[_remark(models, verdict, order)])


def _remark(models: list[str], verdict: ModelVerdict, order: list[int]) -> str:
    if verdict.best is None:
        return "undefined for all of them"
    names = [plain(models[row]) for row in order if verdict.tied[row]]
    if len(names) > 1:
        return f"not significantly different from the best: {', '.join(names)}"
    return f"{plain(models[verdict.best])} is the best"


def rows_of(models: list[str], verdicts: list[ModelVerdict]) -> Rows:
    """The columns of comparisons, with a row for each measure and model."""
    every = range(len(models))
    rows = {
        "measure": column([title_of(verdict.label) for verdict in verdicts for _ in every]),
        "model": column([name for _ in verdicts for name in models]),
    }
    for name in PARTS:
        rows[name] = column(_all(verdicts, name), undefined=UNDEFINED, status="status")
    rows["status"] = column([int(code) for verdict in verdicts for code in verdict.status], is_status=True)
    rows["best"] = column([k == verdict.best for verdict in verdicts for k in every])
    rows["tied"] = column([bool(verdict.tied[k]) for verdict in verdicts for k in every])
    for name in APART:
        rows[name] = column(_apart(verdicts, name), undefined=ITSELF)
    if any(verdict.p_value is not None for verdict in verdicts):
        rows["p_value"] = column(_apart(verdicts, "p_value"), undefined=ITSELF)
    if any(verdict.probability_best is not None for verdict in verdicts):
        rows["probability_best"] = column(_all(verdicts, "probability_best"), undefined=UNDEFINED)
    return rows


def _all(verdicts: list[ModelVerdict], name: str) -> list[float]:
    """A part of all verdicts; NaN where a verdict has none."""
    return [
        math.nan if values is None else float(values[k])
        for verdict in verdicts
        for values in [getattr(verdict, name)]
        for k in range(len(verdict.estimate))
    ]


def _apart(verdicts: list[ModelVerdict], name: str) -> list[float]:
    """A part of all verdicts on differences from the best model, which is not compared with itself."""
    is_best = [k == verdict.best for verdict in verdicts for k in range(len(verdict.estimate))]
    return [math.nan if best else value for best, value in zip(is_best, _all(verdicts, name), strict=True)]


def compared_scores(
    names: list[str],
    true: Array,
    scores: Array,
    samples: Array,
    level: float,
    *,
    turned: bool,
    metrics: list[str] | None = None,
) -> list[ModelVerdict]:
    """The comparisons of the scores (M, N) of models for the labels (N,), which are 0 and 1.

    ``metrics`` are names of measures of scores; by default the areas, and the losses of probabilities.
    """
    repeated = len(np.unique(samples)) < len(samples)
    by_name = dict(zip(names, scores, strict=True))
    clusters = samples if repeated else None
    compared = matrics.ranking.compare(true, by_name, metrics, clusters=clusters, level=level, rng=0)
    return ranked(compared, turned=turned)


def same_samples(source: Scored, paired_on: str) -> tuple[list[str], Array, Array, Array]:
    """The names of the models, whether samples are positive (N,), the scores (M, N) and the samples (N,)."""
    if len(source.positives) > 1:
        raise ArgumentError("paired_on", f"expected one column of scores with it, got {len(source.positives)}")
    if len(source.groups) < 2:
        raise ArgumentError("paired_on", "expected --by COLUMN with it, of the models, and at least two of them")
    models = np.repeat(np.arange(len(source.groups)), [len(true) for true, _ in source.groups])
    true, values = (np.concatenate(parts) for parts in zip(*source.groups, strict=True))
    samples = np.concatenate(source.samples_of)
    names = [source.name(k) for k in range(len(source.groups))]
    both = joined(models, samples, true, true, names=names, sample_names=source.sample_names, column=paired_on)
    return names, (both.true == source.positives[0]).astype(np.int64), values[both.rows, 0], both.samples
