"""Intervals and comparisons of samples that a judge has labelled, corrected for its errors by people's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
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
from matrics._judged.compare import compare
from matrics._judged.interval import interval
from matrics._quoting import first_twice
from matrics._reporting.verdicts import ModelVerdict, best_of
from matrics._tables.samples import common_samples
from matrics._wording import in_percent, plain

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._catalogue.record import Metric
    from matrics._files.names import Names

Array = Any

PARTS = ("estimate", "low", "high", "standard_error", "effective_labels")
ENDS = {"estimate": "", **{name: f"/{name}" for name in PARTS[1:]}}
JUDGE_ALONE = "/judge_alone"  # the end of the column with the value that is not corrected
UNDEFINED = "the measure is undefined"


class JudgedMeasures:
    """Measures of the models of a file with their limits; ``usual`` are the measures of classes without the option."""

    command = ""
    usual = ""

    def __init__(
        self, rows: JudgedRows, metrics: Sequence[str] | None, *, level: float, zero: float, method: str = "auto"
    ) -> None:
        self.rows, self.level, self.zero, self.method = rows, level, zero, method
        # Grades have an accuracy: the share of the answers that pass.
        default = "accuracy" if rows.pred is None else self.usual
        self.metrics = measures(metrics or default, lambda: rows.classes)
        self.intervals = self._intervals(method)

    def _intervals(self, method: str) -> Mapping[str, Any]:
        options: dict[str, Any] = {"level": self.level, "zero_division": self.zero, "method": method}
        return interval(self.rows.counts, list(self.metrics.values()), **options)

    def parts(self, intervals: Mapping[str, Any], *names: str) -> Iterator[tuple[str, Metric, int, dict[str, Array]]]:
        """The title of each column, its measure, its class, and these fields, each with a value for each model."""
        for key, metric in self.metrics.items():
            fields = {name: np.asarray(getattr(intervals[str(metric)], name)) for name in names}
            for k, name in enumerate(named_columns(key, metric, self.rows.classes.texts)):
                of_class = {part: x[..., k] if metric.is_classwise else x for part, x in fields.items()}
                yield title_of(name), metric, k, of_class

    def facts(self) -> dict[str, Any]:
        """The files, the classes, and how many labels there are, as plain values."""
        rows = self.rows
        files = {"file": rows.files[0]} if len(rows.files) == 1 else {"files": rows.files}
        return {**files, **about_classes(rows.classes), "samples": len(rows.true), **rows.facts}

    def result(self, limits: str, **parts: Any) -> Result:
        """A result with these parts; ``limits`` says in words how limits are formed."""
        titles = [self.rows.title, f"{in_percent(self.level)} {limits}, corrected for errors of {self.rows.judge}"]
        facts = {**self.facts(), **parts.pop("facts")}
        about = about_measures(self.metrics, self.rows.classes.texts)
        return Result(self.command, titles, facts, measures=about, **parts)


class JudgedIntervals(JudgedMeasures):
    """The limits of measures of each model, and their values by the judge alone."""

    command = "interval"
    usual = "core"

    def values(self) -> list[tuple[str, dict[str, Array]]]:
        """Each measure by its title, with its values (models,)."""
        alone = self.parts(self._intervals("judge"), "estimate")
        corrected = self.parts(self.intervals, *PARTS, "status")
        return [
            (title, {**values, "judge_alone": of_judge["estimate"]})
            for (title, *_, values), (*_, of_judge) in zip(corrected, alone, strict=True)
        ]

    def intervals_result(self) -> Result:
        """A row for each model, with six columns for each measure."""
        models, heading, every = self.rows.models, self.rows.heading, self.values()
        rows = {heading: column(models)} if heading else {}
        for title, values in every:
            for part, end in ENDS.items():
                rows[title + end] = column(values[part].astype(float), undefined=UNDEFINED, status=f"{title}/status")
            rows[title + JUDGE_ALONE] = column(values["judge_alone"].astype(float), undefined=UNDEFINED)
            rows[f"{title}/status"] = column(values["status"].astype(int), is_status=True)
        shown = {heading: column([model for _ in every for model in models], is_key=True)} if heading else {}
        shown["measure"] = column([title for title, _ in every for _ in models], is_key=True)
        numbers = {part: np.concatenate([values[part] for _, values in every]).tolist() for part in every[0][1]}
        names = {"estimate": "value", "low": "value/low", "high": "value/high", "judge_alone": "judge alone"}
        for part, name in names.items():
            shown[name] = column(numbers[part], status="status" if part == "estimate" else "")
        worth = [round(x) if np.isfinite(x) else np.nan for x in numbers["effective_labels"]]
        shown |= {"worth labels": column(worth), "status": column(numbers["status"], is_status=True)}
        facts = {"seed": None, "level": self.level, "method": self.method}
        return self.result(f"intervals by method {self.method}", facts=facts, rows=rows, views=[View(shown)])


class JudgedComparison(JudgedMeasures):
    """Models on the same samples: how far each is from the best, with limits that hold for all pairs (Bonferroni)."""

    command = "compare"
    usual = "accuracy,mcc"

    def __init__(self, rows: JudgedRows, metrics: Sequence[str] | None, *, level: float, zero: float) -> None:
        if len(rows.models) < 2:
            raise ArgumentError("by", f"expected at least two models to compare, got {len(rows.models)}")
        super().__init__(rows, metrics, level=level, zero=zero)
        self.samples = [_refuse_repeats(rows.of_model(k), model) for k, model in enumerate(rows.models)]
        self.pairs = len(rows.models) * (len(rows.models) - 1) // 2

    @cached_property
    def verdicts(self) -> list[ModelVerdict]:
        """How far each model is from the best, by each measure."""
        verdicts = []
        for title, metric, k, values in self.parts(self.intervals, "estimate", "low", "high", "status"):
            side = 1 if metric.higher_is_better else -1
            limits = (values["estimate"], values["low"], values["high"])
            best = best_of(values["estimate"], side)
            gaps = [self._gap(best or 0, other, metric, k) for other in range(len(self.rows.models))]
            gap, least, most = np.asarray(gaps, np.float64).T
            gap, least, most = (gap, least, most) if side > 0 else (-gap, -most, -least)
            tied = ~(least > 0) & ~np.isnan(values["estimate"])
            status = values["status"].astype(int)
            verdicts.append(ModelVerdict(title, *limits, gap, least, most, best, tied, None, side > 0, status))
        return verdicts

    def _gap(self, a: int, b: int, metric: Metric, k: int) -> tuple[float, float, float]:
        """How much higher a measure of model a is than that of b, with limits, on the samples of both."""
        if a == b:
            return 0.0, np.nan, np.nan
        both, *_ = common_samples(*(self.samples[model].samples.tolist() for model in (a, b)))
        if not both:
            raise ArgumentError(
                "paired_on", f"expected samples of both {self.rows.models[a]} and {self.rows.models[b]}, got none"
            )
        first, second = (self.samples[model].of_samples(both) for model in (a, b))
        same = bool((first.true == second.true).all() and (first.judged == second.judged).all())
        labels: dict[str, Any] = {"y_true": first.true, "y_judge": first.judged}
        if first.pred is None or not same:
            labels = {"y_true": (first.true, second.true), "y_judge": (first.judged, second.judged)}
        level = 1 - (1 - self.level) / self.pairs
        options: dict[str, Any] = {"zero_division": self.zero, "num_classes": self.rows.classes.number, "level": level}
        result = compare(first.pred, second.pred, metric, **labels, **options)[str(metric)]
        fields = (np.asarray(part) for part in result[:3])
        gap, low, high = (float(x[k] if metric.is_classwise else x) for x in fields)
        return gap, low, high

    @property
    def left_out(self) -> list[str]:
        """The samples that only some models have, in sentences."""
        first, *others = (set(rows.samples.tolist()) for rows in self.samples)
        everywhere = first.intersection(*others)
        numbers = [len(set(rows.samples.tolist()) - everywhere) for rows in self.samples]
        return [
            f"{plain(model)} has {number:,} samples that not all models have, and that its value is of"
            for model, number in zip(self.rows.models, numbers, strict=True)
            if number
        ]

    def comparison_result(self) -> Result:
        """A row for each measure and model."""
        models = self.rows.models
        return self.result(
            "limits" + ", which hold for all differences together" * (self.pairs > 1),
            facts={"models": models, "level": self.level, "seed": None},
            rows=rows_of(models, self.verdicts),
            remarks=self.left_out,
            views=views_of(models, self.verdicts, self.rows.heading),
        )


def compare_judged(
    paths: Sequence[Path],
    names: Names,
    judging: JudgeOptions,
    metrics: list[str] | None,
    *,
    has_pred: bool,
    level: float,
    zero: float,
) -> Result:
    """Compare the models of a file, or files of a model each; ``names.clusters`` is the column of the samples."""
    if names.clusters is None and not all(map(is_log, paths)) and (names.by or len(paths) > 1):
        raise ArgumentError("paired_on", "expected the column of the samples with --judge, such as id, got none")
    rows = read_judged(paths, names, judging, has_pred=has_pred)
    return JudgedComparison(rows, metrics, level=level, zero=zero).comparison_result()


def _refuse_repeats(rows: JudgedRows, model: str) -> JudgedRows:
    """The rows of a model; raise if a sample has several."""
    if first_twice(rows.samples.tolist()) is not None:
        raise ArgumentError(
            "paired_on", f"expected a single row of {plain(model) or 'the model'} for each sample, got several"
        )
    return rows
