"""Intervals and comparisons of samples that a judge has labelled, corrected for its errors by people's labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.naming import columns as named_columns
from matrics._catalogue.naming import title_of
from matrics._cli.judged_files import JudgedRows, JudgeOptions, read_judged
from matrics._cli.matrices import is_log
from matrics._cli.measures import about_classes, about_measures, measures
from matrics._cli.results import Result, View, column
from matrics._cli.verdicts import rows_of, views_of
from matrics._errors import ArgumentError
from matrics._files.wide import MODEL
from matrics._judged.compare import compare
from matrics._judged.interval import interval
from matrics._quoting import first_twice
from matrics._reporting.verdicts import ModelVerdict, best_of
from matrics._tables.samples import common_samples
from matrics._wording import in_percent, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matrics._catalogue.record import Metric
    from matrics._cli.writers import Delivery
    from matrics._files.names import Names

Array = Any

PARTS = ("estimate", "low", "high", "standard_error", "effective_labels")
ENDS = {"estimate": "", **{name: f"/{name}" for name in PARTS[1:]}}
JUDGE_ALONE = "/judge_alone"  # the end of the column with the value that is not corrected
UNDEFINED = "the measure is undefined"


class JudgedIntervals:
    """The limits of measures of each model."""

    def __init__(
        self, rows: JudgedRows, metrics: Sequence[str] | None, heading: str, *, level: float, method: str, zero: float
    ) -> None:
        self.rows, self.heading, self.level, self.method = rows, heading, level, method
        self.metrics = measures(metrics or default_measures(rows, "core"), lambda: rows.classes)
        counts, options = rows.counts, {"level": level, "zero_division": zero}
        self.intervals = interval(counts, list(self.metrics.values()), method=method, **options)  # type: ignore[arg-type]
        self.alone = interval(counts, list(self.metrics.values()), method="judge", **options)  # type: ignore[arg-type]

    def values(self) -> list[tuple[str, dict[str, Array]]]:
        """Each measure by its title, with its values (models,)."""
        result = []
        for key, metric in self.metrics.items():
            names = [title_of(name) for name in named_columns(key, metric, self.class_names)]
            fields = {part: np.asarray(getattr(self.intervals[str(metric)], part)) for part in (*PARTS, "status")}
            fields["judge_alone"] = np.asarray(self.alone[str(metric)].estimate)
            for k, name in enumerate(names):
                of_class = {part: x[..., k] if metric.is_classwise else x for part, x in fields.items()}
                result.append((name, of_class))
        return result

    @property
    def class_names(self) -> tuple[str, ...]:
        """The labels of the classes."""
        return tuple(map(str, self.rows.classes.labels or ()))

    @property
    def titles(self) -> list[str]:
        """The file and the level, in sentences."""
        return [
            self.rows.title,
            f"{in_percent(self.level)} intervals by method {self.method}, corrected for errors of {self.rows.judge}",
        ]

    def view(self) -> View:
        """A table for people, with a row for each model and measure."""
        parts = [
            (title, model, {name: float(value[k]) for name, value in values.items()})
            for title, values in self.values()
            for k, model in enumerate(self.rows.models)
        ]
        rows = {self.heading: column([model for _, model, _ in parts], is_key=True)} if self.heading else {}
        rows["measure"] = column([title for title, *_ in parts], is_key=True)
        names = {"estimate": "value", "low": "value/low", "high": "value/high", "judge_alone": "judge alone"}
        rows |= {
            shown: column([values[name] for *_, values in parts], status="status" if name == "estimate" else "")
            for name, shown in names.items()
        }
        rows["worth labels"] = column([_whole(values["effective_labels"]) for *_, values in parts])
        rows["status"] = column([int(values["status"]) for *_, values in parts], is_status=True)
        return View(rows)

    def result(self) -> Result:
        """A row for each model, with six columns for each measure."""
        cells = {self.heading: column(self.rows.models)} if self.heading else {}
        for title, values in self.values():
            for part, end in ENDS.items():
                cells[title + end] = column(values[part].astype(float), undefined=UNDEFINED, status=f"{title}/status")
            cells[title + JUDGE_ALONE] = column(values["judge_alone"].astype(float), undefined=UNDEFINED)
            cells[f"{title}/status"] = column(values["status"].astype(int), is_status=True)
        facts = {**about(self.rows), "seed": None, "level": self.level, "method": self.method}
        about_all = about_measures(self.metrics, self.class_names)
        return Result("interval", self.titles, facts, cells, about_all, views=[self.view()])

    def write(self, delivery: Delivery) -> None:
        """Write the result."""
        delivery.write(self.result)


def about(rows: JudgedRows) -> dict[str, Any]:
    """The files, the classes, and how many labels there are, as plain values."""
    files = {"file": rows.files[0]} if len(rows.files) == 1 else {"files": rows.files}
    return {**files, **about_classes(rows.classes), "samples": len(rows.true), **rows.facts}


def default_measures(rows: JudgedRows, otherwise: str) -> str:
    """The accuracy of grades, which is a share of answers; of classes other measures."""
    return "accuracy" if rows.pred is None else otherwise


def _whole(number: float) -> float:
    """A finite number rounded to an integer."""
    return round(number) if np.isfinite(number) else np.nan


def compare_judged(
    paths: Sequence[Path],
    names: Names,
    judging: JudgeOptions,
    metrics: list[str] | None,
    *,
    has_pred: bool,
    level: float,
    zero: float,
) -> JudgedComparison:
    """Compare the models of a file, or files of a model each; ``names.clusters`` is the column of the samples."""
    if names.clusters is None and not all(map(is_log, paths)) and (names.by or len(paths) > 1):
        raise ArgumentError("paired_on", "expected the column of the samples with --judge, got none")
    rows = read_judged(paths, names, judging, has_pred=has_pred)
    heading = ", ".join([MODEL] * bool(names.models) + list(names.by)) or rows.heading
    return JudgedComparison(rows, metrics, heading, level=level, zero=zero)


class JudgedComparison:
    """Models on the same samples: how far each is from the best, with limits that hold for all pairs (Bonferroni)."""

    def __init__(
        self, rows: JudgedRows, metrics: Sequence[str] | None, heading: str, *, level: float, zero: float
    ) -> None:
        if len(rows.models) < 2:
            raise ArgumentError("by", f"expected at least two models to compare, got {len(rows.models)}")
        self.rows, self.heading, self.level = rows, heading, level
        self.options: dict[str, Any] = {"zero_division": zero, "num_classes": rows.classes.number}
        self.metrics = measures(metrics or default_measures(rows, "accuracy,mcc"), lambda: rows.classes)
        self.parts = [_sorted(rows.of_model(k), model) for k, model in enumerate(rows.models)]
        self.verdicts = self._verdicts()

    def _verdicts(self) -> list[ModelVerdict]:
        models = self.rows.models
        counts, chosen = self.rows.counts, list(self.metrics.values())
        intervals = interval(counts, chosen, level=self.level, zero_division=self.options["zero_division"])
        shared = 1 - (1 - self.level) / (len(models) * (len(models) - 1) / 2)
        labels = tuple(map(str, self.rows.classes.labels or ()))
        verdicts = []
        for key, metric in self.metrics.items():
            titles = [title_of(name) for name in named_columns(key, metric, labels)]
            for k, title in enumerate(titles):
                fields = [np.asarray(part) for part in intervals[str(metric)][:6]]
                estimate, low, high, *_, status = (x[..., k] if metric.is_classwise else x for x in fields)
                side = 1 if metric.higher_is_better else -1
                best = best_of(estimate, side)
                gaps = [self._gap(best or 0, other, metric, k, shared) for other in range(len(models))]
                gap, least, most = np.asarray(gaps, np.float64).T
                gap, least, most = (gap, least, most) if side > 0 else (-gap, -most, -least)
                tied = ~(least > 0) & ~np.isnan(estimate)
                of_all = (title, estimate, low, high, gap, least, most, best, tied, None, side > 0, status.astype(int))
                verdicts.append(ModelVerdict(*of_all))
        return verdicts

    def _gap(self, a: int, b: int, metric: Metric, k: int, level: float) -> tuple[float, float, float]:
        """How much higher a measure of model a is than that of b, with limits, on the samples of both."""
        if a == b:
            return 0.0, np.nan, np.nan
        first, second = _on_both(self.parts[a], self.parts[b])
        if not len(first.true):
            raise ArgumentError(
                "paired_on", f"expected samples of both {self.rows.models[a]} and {self.rows.models[b]}, got none"
            )
        same = bool((first.true == second.true).all() and (first.judged == second.judged).all())
        labels: dict[str, Any] = {"y_true": first.true, "y_judge": first.judged}
        if first.pred is None or not same:
            labels = {"y_true": (first.true, second.true), "y_judge": (first.judged, second.judged)}
        result = compare(first.pred, second.pred, metric, level=level, **labels, **self.options)[str(metric)]
        fields = (np.asarray(part) for part in result[:3])
        gap, low, high = (float(x[k] if metric.is_classwise else x) for x in fields)
        return gap, low, high

    @property
    def left_out(self) -> list[str]:
        """The samples that only some models have, in sentences."""
        first, *others = (set(part.samples.tolist()) for part in self.parts)
        everywhere = first.intersection(*others)
        lines = []
        for model, part in zip(self.rows.models, self.parts, strict=True):
            alone = [str(sample) for sample in part.samples.tolist() if sample not in everywhere]
            if alone:
                lines.append(
                    f"{plain(model)} has {len(alone):,} samples that not all models have, and that its value is of"
                )
        return lines

    @property
    def titles(self) -> list[str]:
        """The models and the level, in sentences."""
        pairs = len(self.rows.models) * (len(self.rows.models) - 1) // 2
        together = ", which hold for all differences together" if pairs > 1 else ""
        return [
            self.rows.title,
            f"{in_percent(self.level)} limits{together}, corrected for errors of {self.rows.judge}",
        ]

    def result(self) -> Result:
        """A row for each measure and model."""
        labels = tuple(map(str, self.rows.classes.labels or ()))
        facts = {**about(self.rows), "models": self.rows.models, "level": self.level, "seed": None}
        return Result(
            *("compare", self.titles, facts, rows_of(self.rows.models, self.verdicts)),
            measures=about_measures(self.metrics, labels),
            remarks=self.left_out,
            views=views_of(self.rows.models, self.verdicts, self.heading),
        )

    def write(self, delivery: Delivery) -> None:
        """Write the result."""
        delivery.write(self.result)


def _sorted(rows: JudgedRows, model: str) -> JudgedRows:
    """The rows of a model; raise if a sample has several."""
    twice = first_twice(rows.samples.tolist())
    if twice is not None:
        raise ArgumentError(
            "paired_on", f"expected a single row of {plain(model) or 'the model'} for each sample, got several"
        )
    return rows


def _on_both(a: JudgedRows, b: JudgedRows) -> tuple[JudgedRows, JudgedRows]:
    """The rows of the samples that both models have, in one order."""
    both, *_ = common_samples(a.samples.tolist(), b.samples.tolist())
    return a.of_samples(both), b.of_samples(both)
