"""``matrics threshold``: the best threshold of each curve, under constraints, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

import matrics
from matrics._catalogue.naming import title_of
from matrics._cli import options
from matrics._cli.measures import constraints, measures, plug_in, reasons_of, with_titles
from matrics._cli.results import Measured, Result, column, keys_of, refuse_same
from matrics._cli.scored import FilePath, ScoredRun, ScoreOptions, write_tables
from matrics._cli.writers import read_delivery
from matrics._errors import ArgumentError
from matrics._files.outputs.destination import SUFFIXES
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._ranking.best import read_goal
from matrics._ranking.costs import COST
from matrics._scoring.score import resolve
from matrics._uncertainty.options import check_level
from matrics._wording import counted, in_percent, plain

if TYPE_CHECKING:
    from matrics._catalogue.classes import Classes
    from matrics._files.scores import Scored

Array = Any


def threshold(
    path: FilePath,
    *,
    data: ScoreOptions,
    metric: Annotated[
        str,
        options.option("NAME", "The measure to optimise, or cost: the sum of the costs of all errors.", default=False),
    ],
    subject_to: Annotated[
        list[str] | None,
        options.option('"NAME>=NUMBER"', "A constraint on the threshold; repeatable.", default="nothing"),
    ] = None,
    budget_over: Annotated[
        str,
        options.option(
            "labelled|all",
            "The rows to which a bound on predicted_positives applies: rows with a label, or all rows. --missing "
            "drop leaves rows without a label out of the measures.",
        ),
    ] = "labelled",
    cost_false_negative: Annotated[
        str | None,
        options.option(
            "NUMBER|COLUMN", "With --metric cost: the cost of a positive sample that is predicted as negative."
        ),
    ] = None,
    cost_false_positive: Annotated[
        str | None, options.option("NUMBER|COLUMN", "The cost of a negative sample that is predicted as positive.")
    ] = None,
    metrics: options.Metrics = None,
    plugin: options.Plugin = None,
    reading: options.ReadingOptions,
    level: options.Level = options.LEVEL,
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
    if replicates == 0:
        unused = {"level": None if level == options.LEVEL else level, "seed": seed}
        options.refuse("no such option with --num 0, which computes no limits", unused)
    confidence = check_level(options.read_number("level", level))
    zero = options.read_number("zero-division", zero_division)
    resolve(metrics or "core")  # raises before anything is read
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    rows_read = reading.read()
    if budget_over not in ("labelled", "all"):
        raise ArgumentError("budget_over", f"expected labelled or all, got {quoted(budget_over)}")
    if budget_over == "all" and rows_read.missing != "drop":
        raise ArgumentError("budget_over", "expected --missing drop with all, which leaves rows without a label out")
    costs = Costs.read(metric, cost_false_negative, cost_false_positive)
    if costs is not None:
        options.refuse("no such option with --metric cost", {"prevalence": data.prevalence})
    source, target = data.read(
        path,
        rows_read,
        delivery.blocks,
        unlabelled=budget_over == "all",
        amounts=() if costs is None else costs.columns,
    )
    run = ThresholdRun(
        source=source,
        metrics=measures(metrics or "core", lambda: source.known),
        zero_division=zero,
        level=confidence,
        target=target,
        goal=Goal.read(metric, subject_to or [], source.known),
        costs=costs,
        num=NUM if replicates is None else replicates,
        seed=start or 0,
    )
    titles = [plain(run.title), plain(run.goal_title)]
    best = run.best  # before anything is printed: there may be none
    about_labelled = [run.of_labelled] if run.of_labelled else []

    if delivery.blocks:
        columns = run.outputs()
        refuse_same("output", [*run.keys, *columns])
        tables = [{**source.columns(0, len(best)), **columns}]
        write_tables(delivery.blocks, tables, [*titles, *about_labelled], counted(len(columns), "column"))
    else:
        delivery.write(lambda: threshold_result(run, titles))


NUM = 1000
NOTHING = np.zeros((2, 2), np.int64)


class Costs(NamedTuple):
    """The costs of both errors, numbers or columns."""

    cost_false_negative: float | str
    cost_false_positive: float | str

    @classmethod
    def read(cls, metric: str, false_negative: str | None, false_positive: str | None) -> Costs | None:
        """Check the options; None where another measure is the goal."""
        given = {"cost_false_negative": false_negative, "cost_false_positive": false_positive}
        if metric != COST:
            options.refuse("--metric cost with it", given)
            return None
        missing = next((name for name, text in given.items() if text is None), None)
        if missing is not None:
            raise ArgumentError(missing, "expected a number, or a column of numbers, with --metric cost, got none")
        return cls(*(_number_or_text(str(text)) for text in given.values()))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys(cost for cost in self if isinstance(cost, str)))

    def of(self, source: Scored, position: int) -> dict[str, Any]:
        """The costs of the samples of a curve, as arguments."""
        parts = [source.amounts_of(position, cost) if isinstance(cost, str) else cost for cost in self]
        return {"cost_false_negative": parts[0], "cost_false_positive": parts[1]}


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


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
        specs, titles = constraints(subject_to, lambda: classes)
        if metric == COST:
            goal = read_goal(COST, specs, has_costs=True)
            return cls(COST, specs, {**titles, COST: COST}, goal.budgets)
        resolved = measures(metric, lambda: classes)
        goal = read_goal(list(resolved.values()), specs)
        ((key, chosen),) = resolved.items()
        return cls(str(chosen), specs, {**titles, str(chosen): title_of(key)}, goal.budgets)

    @property
    def name(self) -> str:
        """The title of the measure."""
        return self.titles[self.metric]

    @property
    def lowest_is_best(self) -> bool:
        """Whether lower values of the measure are better."""
        return read_goal(self.metric, None, has_costs=self.metric == COST).sign < 0

    @property
    def conditions(self) -> list[str]:
        """The constraints, with the titles of their measures."""
        return [with_titles(text, self.titles) for text in self.subject_to]


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
    """The best thresholds of the curves of a file."""

    goal: Goal
    num: int  # replicates; 0 for no limits
    seed: int
    costs: Costs | None = None

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
        thresholds = [self._best(position) for position in steps(range(self.source.count))]
        if all(best.reason for best in thresholds):
            where = f" ({self.source.heading} {self.source.name(0)})" if self.source.keys else ""
            raise ValueError(f"{self.source.file}: {thresholds[0].reason}{where}")
        return thresholds

    def _best(self, position: int) -> Best:
        true, scores = self.source.curve(position)
        if len(set(true.tolist())) < 2:
            alone = self.source.sides[int(true[0])]
            return _none(f"expected samples of both classes, got only {quoted(alone)}")
        goal = self.goal
        given: dict[str, Any] = {"subject_to": goal.subject_to, "zero_division": self.zero_division, "workers": -1}
        if self.target is not None:
            given["prevalence"] = self.target.shares
        if self.costs is not None:
            given |= self.costs.of(self.source, position)
        if self.source.unlabelled:
            given["unlabelled_scores"] = self.source.directed(self.source.unlabelled_of(position))
        if self.num:
            given |= {"level": self.level, "num": self.num, "rng": self.seed}
        direction: dict[str, Any] = {"lower_is_positive": self.source.lower_is_positive}
        scores = self.source.directed(scores)
        try:
            best = matrics.ranking.best_threshold(true, scores, goal.metric, **direction, **given)
        except ValueError as error:  # the options were checked before, so no threshold satisfies the constraints
            if isinstance(error, ArgumentError) and error.argument in {"cost_false_negative", "cost_false_positive"}:
                raise
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
        texts = " and ".join(with_titles(text, self.goal.titles) for text in budgets)
        if self.source.unlabelled:
            number = sum(map(len, self.source.unlabelled))
            return f"{texts}: of all {self.source.samples + number:,} samples with a score; {number:,} have no label"
        rows = f"{left_out:,} row{' is' if left_out == 1 else 's are'}"
        return f"{texts}: of the {self.source.samples:,} samples with a label and a score; {rows} left out"

    @property
    def scores(self) -> Array:
        """The measures at the thresholds: (curves, columns); NaN for curves without a threshold."""
        stack = np.stack([best.matrix for best in self.best])
        if self.target is not None:
            stack = matrics.transform.at_prevalence(stack, self.target.shares)
        scores = matrics.score(stack, self.metrics.values(), zero_division=self.zero_division, workers=-1)
        columns = np.column_stack([np.asarray(values, float) for values in scores.values()])
        columns[[bool(best.reason) for best in self.best]] = math.nan
        return columns

    def outputs(self) -> dict[str, Array]:
        """The columns of an output file that follow the names of the groups."""
        fields = {"": "estimate", "/low": "low", "/high": "high", "/standard_error": "standard_error"}
        columns: dict[str, Array] = {}
        for name, intervals in (
            ("threshold", [best.threshold for best in self.best]),
            ("expected", [best.value for best in self.best]),
        ):
            for ending, attribute in fields.items():
                columns[name + ending] = np.array([float(getattr(interval, attribute)) for interval in intervals])
        columns["value"] = np.array([best.here for best in self.best])
        columns["status"] = [None if best.reason else int(best.value.status) for best in self.best]
        for k, name in enumerate(("tn", "fp", "fn", "tp")):
            cells = [None if best.reason else int(best.matrix.flat[k]) for best in self.best]
            columns[name] = cells
        measures = {column.label: values for column, values in zip(self.columns, self.scores.T, strict=True)}
        both = sorted(set(columns) & set(measures))
        if both:
            raise ArgumentError(
                "metrics", f"expected other measures in a file, got the name of the column {quoted(both[0])}"
            )
        return columns | measures


def _none(reason: str) -> Best:
    return Best(_alone(math.nan), _alone(math.nan), math.nan, NOTHING, reason)


def _alone(value: float) -> matrics.Interval:
    return matrics.Interval(value, math.nan, math.nan, math.nan, 0, matrics.IntervalStatus.OK)


def threshold_result(run: ThresholdRun, titles: list[str]) -> Result:
    """The best threshold of each curve, its limits and matrix, and the measures there."""
    source, goal = run.source, run.goal
    reasons, columns = reasons_of(run.measures), run.outputs()
    refuse_same("format", [*run.keys, *columns])
    none = {position: best.reason for position, best in enumerate(run.best) if best.reason}
    without = "no limits were requested" if not run.num else "there are no limits"
    rows = keys_of(source.columns(0, source.count))
    goals = {"expected": Measured(goal.name, "", not goal.lowest_is_best)}  # orders the rows
    measured = goals | {measure.label: measure for measure in run.columns}
    titles_of = {"expected": f"{goal.name} on new samples", "value": f"{goal.name} on these"}
    for name, values in columns.items():
        is_limit = name.endswith(("/low", "/high", "/standard_error"))
        rows[name] = column(
            values,
            undefined=without if is_limit else reasons.get(name, "there is no threshold"),
            status="status" if name.startswith(("threshold", "expected")) else "",
            is_status=name == "status",
            is_short=name.startswith("threshold"),
            is_hidden=name == "expected" and not run.num,
            title=titles_of.get(name, ""),
            measured=measured.get(name),
            reasons=none,
        )
    about = {
        **run.facts,
        "metric": goal.name,
        "direction": "lowest" if goal.lowest_is_best else "highest",
        "subject_to": goal.conditions,
        "budget_over": "all" if source.unlabelled else "labelled",
        **({} if run.costs is None else run.costs._asdict()),
        "level": run.level,
        "replicates": run.num,
        "seed": run.seed if run.num else None,
    }
    remarks = [f"{source.name(position)}: {reason}" for position, reason in none.items()]  # of a single curve: an error
    remarks += [run.of_labelled] if run.of_labelled else []
    return Result("threshold", titles, about, rows, run.measures, remarks=remarks, ordered=source.in_order)
