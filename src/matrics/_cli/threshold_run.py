"""The best threshold of every curve of a file, how sure it is, and the confusion matrix there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import matrics
from matrics._catalogue.naming import title_of
from matrics._cli.measures import constraints, measures, with_titles
from matrics._cli.run import score_columns
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._ranking.best import read_goal
from matrics._uncertainty.options import check_level
from matrics._wording import in_percent

if TYPE_CHECKING:
    from matrics._catalogue.classes import Classes
    from matrics._catalogue.record import Metric
    from matrics._cli.prevalence import Target
    from matrics._cli.printing import Column
    from matrics._files.scores import Scored

Array = Any


NUM = 1000
NOTHING = np.zeros((2, 2), np.int64)


@dataclass(frozen=True)
class Sureness:
    """How limits are found."""

    level: float
    num: int  # replicates; 0 for no limits
    seed: int

    @classmethod
    def read(cls, level: float, num: int | None, seed: int | None) -> Sureness:
        """Check the options."""
        num = NUM if num is None else num
        if num < 0:
            raise ArgumentError("num", f"expected an integer from 0 (no limits), got {num}")
        if seed is not None and seed < 0:
            raise ArgumentError("seed", f"expected an integer from 0, got {seed}")
        return cls(check_level(level), num, seed or 0)


@dataclass(frozen=True)
class ThresholdRequest:
    """The measure and the constraints, with classes by their indices; their titles; and the options of the limits."""

    metric: str
    subject_to: list[str]
    titles: dict[str, str]  # of the measure and of the constraints
    sure: Sureness
    budgets: list[str]  # the constraints on numbers of samples

    @classmethod
    def read(cls, metric: str, subject_to: list[str], classes: Classes, sure: Sureness) -> ThresholdRequest:
        """Check the options."""
        found = measures(metric, lambda: classes)
        specs, titles = constraints(subject_to, lambda: classes)
        goal = read_goal(list(found.values()), specs)
        ((key, chosen),) = found.items()
        budgets = [one.text for one in goal.constraints if not one.metric.scale_free]
        return cls(str(chosen), specs, {**titles, str(chosen): title_of(key)}, sure, budgets)

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

    @property
    def title(self) -> str:
        """The measure, the constraints and the seed, to repeat the search."""
        direction, sure = "lowest" if self.lowest_is_best else "highest", self.sure
        limits = f"; {in_percent(sure.level)} intervals, {sure.num:,} replicates, seed {sure.seed}" if sure.num else ""
        conditions = " and ".join(self.conditions)
        return f"{direction} {self.name}" + (f" with {conditions}" if conditions else "") + limits


@dataclass(frozen=True)
class Best:
    """The best threshold of a curve; or why there is none."""

    threshold: matrics.Interval
    value: matrics.Interval  # on new samples
    here: float  # on these
    matrix: Array  # (2, 2)
    reason: str = ""


@dataclass(frozen=True)
class ThresholdRun:
    """The best thresholds of one file."""

    source: Scored
    metrics: dict[str, Metric]
    wanted: ThresholdRequest
    zero_division: float
    target: Target | None = None

    @cached_property
    def columns(self) -> list[Column]:
        """One column per measure, or two for measures of both classes."""
        return score_columns(self.metrics, self.source.sides)

    @cached_property
    def found(self) -> list[Best]:
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
        wanted = self.wanted
        options: dict[str, Any] = {"subject_to": wanted.subject_to, "zero_division": self.zero_division, "workers": -1}
        if self.target is not None:
            options["prevalence"] = self.target.shares
        if wanted.sure.num:
            options |= {"level": wanted.sure.level, "num": wanted.sure.num, "rng": wanted.sure.seed}
        try:
            best = matrics.ranking.best_threshold(true, scores, wanted.metric, **options)
        except ValueError as error:  # the options were checked before, so no threshold satisfies the constraints
            reason = error.text if isinstance(error, ArgumentError) else str(error)
            return _none(with_titles(reason.replace("zero_division=", "--zero-division"), wanted.titles))
        limit, value = float(best.threshold), float(best.value)
        if math.isnan(limit):
            return _none(f"{wanted.name} is undefined at every threshold")
        sure = (best.threshold_interval, best.value_interval) if wanted.sure.num else (_alone(limit), _alone(value))
        matrix = matrics.ranking.confusion_matrix(true, scores, [limit])[0]
        return Best(*sure, value, matrix)

    @property
    def of_labelled(self) -> str:
        """Which samples the constraints on numbers of samples are about, if that is not the whole file."""
        left_out, budgets = self.source.left_out, self.wanted.budgets
        if not left_out or not budgets:
            return ""
        texts = " and ".join(with_titles(one, self.wanted.titles) for one in budgets)
        rows = f"{left_out:,} row{' is' if left_out == 1 else 's are'}"
        return f"{texts}: of the {self.source.samples:,} samples with a label and a score; {rows} left out of it"

    @property
    def scores(self) -> Array:
        """The measures at the thresholds: (curves, columns); NaN for curves without a threshold."""
        stack = np.stack([one.matrix for one in self.found])
        if self.target is not None:
            stack = matrics.transform.at_prevalence(stack, self.target.shares)
        scores = matrics.score(stack, self.metrics.values(), zero_division=self.zero_division, workers=-1)
        columns = np.column_stack([np.asarray(values, float) for values in scores.values()])
        columns[[bool(one.reason) for one in self.found]] = math.nan
        return columns

    def outputs(self) -> dict[str, Array]:
        """The columns of an output file that follow the names of the groups."""
        fields = {"": "estimate", "/low": "low", "/high": "high", "/standard_error": "standard_error"}
        columns: dict[str, Array] = {}
        for name, intervals in (
            ("threshold", [one.threshold for one in self.found]),
            ("expected", [one.value for one in self.found]),
        ):
            for ending, attribute in fields.items():
                columns[name + ending] = np.array([float(getattr(one, attribute)) for one in intervals])
        columns["value"] = np.array([one.here for one in self.found])
        columns["status"] = [None if one.reason else int(one.value.status) for one in self.found]
        for k, name in enumerate(("tn", "fp", "fn", "tp")):
            cells = [None if one.reason else int(one.matrix.flat[k]) for one in self.found]
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
