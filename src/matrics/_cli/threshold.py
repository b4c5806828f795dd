"""``matrics threshold``: the best threshold of each curve, under constraints, and how sure it is."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from rich.text import Text

import matrics
from matrics._catalogue.naming import title_of
from matrics._cli import options
from matrics._cli.measures import constraints, measures, plug_in, reasons_of, with_titles
from matrics._cli.scored import FilePath, ScoredRun, ScoreOptions, write_tables
from matrics._cli.screen import fold, marked, show, show_blocks, show_scores, show_statuses, sign_of
from matrics._cli.writers import Result, column, keys_of, read_delivery, refuse_same
from matrics._errors import ArgumentError
from matrics._files.outputs.destination import SUFFIXES
from matrics._quoting import quoted
from matrics._ranking.best import read_goal
from matrics._scoring.score import resolve
from matrics._uncertainty.options import check_level
from matrics._wording import counted, in_percent, limits, plain

if TYPE_CHECKING:
    from rich.console import Console

    from matrics._catalogue.classes import Classes

Array = Any


def threshold(
    path: FilePath,
    *,
    data: ScoreOptions,
    metric: Annotated[str, options.option("NAME", "The measure to be best.", default=False)],
    subject_to: Annotated[
        list[str] | None,
        options.option('"NAME>=NUMBER"', "A constraint on the threshold; repeatable.", default="nothing"),
    ] = None,
    metrics: options.Metrics = None,
    plugin: options.Plugin = None,
    reading: options.ReadingOptions,
    level: options.Level = "0.95",
    num: Annotated[
        str | None, options.option("INTEGER", "The number of replicates; 0: no limits.", default="1000")
    ] = None,
    seed: options.Seed = None,
    zero_division: options.ZeroDivision = "nan",
    format_: options.Format = None,
    output: options.Output = None,
) -> None:
    """Find the best threshold for a measure, under constraints, with confidence limits."""
    plug_in(plugin)
    replicates, start = options.read_integer("num", num, 0), options.read_integer("seed", seed, 0)
    confidence = check_level(options.read_number("level", level))
    zero = options.read_number("zero-division", zero_division)
    resolve(metrics or "core")  # raises before anything is read
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    source, target = data.read(path, reading.read(), delivery.blocks)
    run = ThresholdRun(
        source=source,
        metrics=measures(metrics or "core", lambda: source.known),
        zero_division=zero,
        level=confidence,
        target=target,
        goal=Goal.read(metric, subject_to or [], source.known),
        num=NUM if replicates is None else replicates,
        seed=start or 0,
    )
    titles = [plain(run.title), plain(run.goal_title)]
    best = run.best  # before anything is printed: there may be none
    about_labelled = [run.of_labelled] if run.of_labelled else []

    def show_all(console: Console) -> None:
        show(console, *titles, *about_labelled, "")
        show_thresholds(console, run)

    if delivery.blocks:
        columns = run.outputs()
        refuse_same("output", [*run.keys, *columns])
        tables = [{**source.columns(0, len(best)), **columns}]
        write_tables(delivery.blocks, tables, [*titles, *about_labelled], counted(len(columns), "column"))
    else:
        delivery.write(lambda: threshold_result(run, titles), show_all)


NUM = 1000
NOTHING = np.zeros((2, 2), np.int64)


@dataclass(frozen=True)
class Goal:
    """The measure and the constraints, with classes by their indices, and their titles."""

    metric: str
    subject_to: list[str]
    titles: dict[str, str]  # of the measure and of the constraints
    budgets: list[str]  # the constraints on numbers of samples

    @classmethod
    def read(cls, metric: str, subject_to: list[str], classes: Classes) -> Goal:
        """Check the options."""
        found = measures(metric, lambda: classes)
        specs, titles = constraints(subject_to, lambda: classes)
        goal = read_goal(list(found.values()), specs)
        ((key, chosen),) = found.items()
        budgets = [one.text for one in goal.constraints if not one.metric.scale_free]
        return cls(str(chosen), specs, {**titles, str(chosen): title_of(key)}, budgets)

    @property
    def name(self) -> str:
        """The title of the measure."""
        return self.titles[self.metric]

    @property
    def lowest_is_best(self) -> bool:
        """Whether lower values of the measure are better."""
        return read_goal(self.metric, None).sign < 0

    @property
    def conditions(self) -> list[str]:
        """The constraints, with the titles of their measures."""
        return [with_titles(one, self.titles) for one in self.subject_to]


@dataclass(frozen=True)
class Best:
    """The best threshold of a curve; or why there is none."""

    threshold: matrics.Interval
    value: matrics.Interval  # on new samples
    here: float  # on these
    matrix: Array  # (2, 2)
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ThresholdRun(ScoredRun):
    """The best thresholds of one file."""

    goal: Goal
    num: int  # replicates; 0 for no limits
    seed: int

    @property
    def goal_title(self) -> str:
        """The measure, the constraints and the seed, to repeat the search."""
        goal = self.goal
        direction = "lowest" if goal.lowest_is_best else "highest"
        limits = f"; {in_percent(self.level)} intervals, {self.num:,} replicates, seed {self.seed}" if self.num else ""
        conditions = " and ".join(goal.conditions)
        return f"{direction} {goal.name}" + (f" with {conditions}" if conditions else "") + limits

    @cached_property
    def best(self) -> list[Best]:
        """The best thresholds of all curves; raises if there is none at all."""
        found = [self._best(position) for position in range(self.source.count)]
        if all(one.reason for one in found):
            where = f" ({self.source.heading} {self.source.name(0)})" if self.source.keys else ""
            raise ValueError(f"{self.source.file}: {found[0].reason}{where}")
        return found

    def _best(self, position: int) -> Best:
        true, scores = self.source.curve(position)
        if len(set(true.tolist())) < 2:
            alone = self.source.sides[int(true[0])]
            return _none(f"expected samples of both classes, got only {quoted(alone)}")
        goal = self.goal
        given: dict[str, Any] = {"subject_to": goal.subject_to, "zero_division": self.zero_division, "workers": -1}
        if self.target is not None:
            given["prevalence"] = self.target.shares
        if self.num:
            given |= {"level": self.level, "num": self.num, "rng": self.seed}
        direction: dict[str, Any] = {"lower_is_positive": self.source.lower_is_positive}
        scores = self.source.directed(scores)
        try:
            best = matrics.ranking.best_threshold(true, scores, goal.metric, **direction, **given)
        except ValueError as error:  # the options were checked before, so no threshold satisfies the constraints
            reason = error.text if isinstance(error, ArgumentError) else str(error)
            return _none(with_titles(reason.replace("zero_division=", "--zero-division"), goal.titles))
        limit, value = float(best.threshold), float(best.value)
        if math.isnan(limit):
            return _none(f"{goal.name} is undefined at every threshold")
        sure = (best.threshold_interval, best.value_interval) if self.num else (_alone(limit), _alone(value))
        matrix = matrics.ranking.confusion_matrix(true, scores, [limit], **direction)[0]
        return Best(*sure, value, matrix)

    @property
    def of_labelled(self) -> str:
        """Which samples the constraints on numbers of samples are about, if that is not the whole file."""
        left_out, budgets = self.source.left_out, self.goal.budgets
        if not left_out or not budgets:
            return ""
        texts = " and ".join(with_titles(one, self.goal.titles) for one in budgets)
        rows = f"{left_out:,} row{' is' if left_out == 1 else 's are'}"
        return f"{texts}: of the {self.source.samples:,} samples with a label and a score; {rows} left out of it"

    @property
    def scores(self) -> Array:
        """The measures at the thresholds: (curves, columns); NaN for curves without a threshold."""
        stack = np.stack([one.matrix for one in self.best])
        if self.target is not None:
            stack = matrics.transform.at_prevalence(stack, self.target.shares)
        scores = matrics.score(stack, self.metrics.values(), zero_division=self.zero_division, workers=-1)
        columns = np.column_stack([np.asarray(values, float) for values in scores.values()])
        columns[[bool(one.reason) for one in self.best]] = math.nan
        return columns

    def outputs(self) -> dict[str, Array]:
        """The columns of an output file that follow the names of the groups."""
        fields = {"": "estimate", "/low": "low", "/high": "high", "/standard_error": "standard_error"}
        columns: dict[str, Array] = {}
        for name, intervals in (
            ("threshold", [one.threshold for one in self.best]),
            ("expected", [one.value for one in self.best]),
        ):
            for ending, attribute in fields.items():
                columns[name + ending] = np.array([float(getattr(one, attribute)) for one in intervals])
        columns["value"] = np.array([one.here for one in self.best])
        columns["status"] = [None if one.reason else int(one.value.status) for one in self.best]
        for k, name in enumerate(("tn", "fp", "fn", "tp")):
            cells = [None if one.reason else int(one.matrix.flat[k]) for one in self.best]
            columns[name] = cells
        measures = {column.label: values for column, values in zip(self.columns, self.scores.T, strict=True)}
        both = sorted(set(columns) & set(measures))
        if both:
            raise ArgumentError(
                "metrics", f"expected other measures in a file, got one named as the column {quoted(both[0])}"
            )
        return columns | measures


def _none(reason: str) -> Best:
    return Best(_alone(math.nan), _alone(math.nan), math.nan, NOTHING, reason)


def _alone(value: float) -> matrics.Interval:
    return matrics.Interval(value, math.nan, math.nan, math.nan, 0, matrics.IntervalStatus.OK)


def show_thresholds(console: Console, run: ThresholdRun) -> None:
    """Print a line for each curve, best first, the measures at these thresholds, and what to be wary of."""
    source, found = run.source, run.best
    values = np.array([float(one.value.estimate) for one in found])
    sign = 1 if run.goal.lowest_is_best else -1
    order = range(len(found)) if source.in_order else np.argsort(sign * values, stable=True).tolist()
    rows = [found[k] for k in order]
    goal = fold(run.goal.name)
    columns = [
        ("threshold", [Text(_threshold(one.threshold)) for one in rows]),
        (f"{goal}\non new samples", [Text(limits(*map(float, one.value[:3])) + _sign(one)) for one in rows]),
        (f"{goal}\non these", [marked(one.here) for one in rows]),
    ]
    for k, name in enumerate(("tn", "fp", "fn", "tp")):
        columns.append((name, [Text("–" if one.reason else f"{one.matrix.flat[k]:,}") for one in rows]))
    names = [run.name(k) for k in order]
    if not run.num:
        columns.pop(1)
    show_blocks(console, run.heading, names, columns)
    reasons = [(name, one.reason) for name, one in zip(names, rows, strict=True) if one.reason]
    if reasons:
        show(console, "", *(f"– {name}: {reason}" for name, reason in reasons))
    statuses = Counter(int(one.value.status) for one in rows if not one.reason)
    show_statuses(console, statuses, signs=True)
    show(console, "", f"at {'these thresholds' if source.keys else 'this threshold'}:", "")
    show_scores(console, run.columns, run.scores[list(order)], names, run.heading, ordered=True)


def _threshold(found: matrics.Interval) -> str:
    if np.isnan(found.estimate):
        return "–"
    value, low, high = (f"{float(part):.4g}" for part in found[:3])
    return value if np.isnan(found.low) else f"{value} [{low}, {high}]"


def _sign(one: Best) -> str:
    return " " if one.reason else sign_of(one.value.status)


def threshold_result(run: ThresholdRun, titles: list[str]) -> Result:
    """The best threshold of each curve, its limits and matrix, and the measures there."""
    source, goal = run.source, run.goal
    reasons, columns = reasons_of(run.measures), run.outputs()
    refuse_same("format", [*run.keys, *columns])
    none = {position: one.reason for position, one in enumerate(run.best) if one.reason}
    without = "no limits were requested" if not run.num else "there are no limits"
    rows = keys_of(source.columns(0, source.count))
    for name, values in columns.items():
        is_limit = name.endswith(("/low", "/high", "/standard_error"))
        rows[name] = column(
            values,
            undefined=without if is_limit else reasons.get(name, "there is no threshold"),
            status="status" if name.startswith(("threshold", "expected")) else "",
            is_status=name == "status",
            is_short=name.startswith("threshold"),
            reasons=none,
        )
    about = {
        **run.facts,
        "metric": goal.name,
        "direction": "lowest" if goal.lowest_is_best else "highest",
        "subject_to": goal.conditions,
        "level": run.level,
        "replicates": run.num,
        "seed": run.seed if run.num else None,
    }
    remarks = [f"{source.name(position)}: {reason}" for position, reason in none.items()]  # of a single curve: an error
    remarks += [run.of_labelled] if run.of_labelled else []
    return Result("threshold", titles, about, rows, run.measures, remarks=remarks)
