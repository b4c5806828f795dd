"""The result of a gate: the verdict on each requirement, and the verdict on all requirements."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

from matrics._engine.results import Result, frame_of
from matrics._plot.confusion import Confusion
from matrics._ranking.constraints import COMPARISONS
from matrics._uncertainty.results import IntervalStatus
from matrics._wording import counted, in_percent, short, with_limits

Verdict = Literal["pass", "fail", "undecided"]

#: In the order of priority: the first verdict that any requirement has decides.
PRIORITY: tuple[Verdict, ...] = ("fail", "undecided", "pass")

# The advice for a status that no number of samples changes.
INSTEAD = {
    IntervalStatus.BIASED: ": require :min or :max of a measure of each class, whose limits allow for the bias",
    IntervalStatus.LIMITS_MISS: ": require another measure",
}


class Limits(NamedTuple):
    """The estimate, the limits and the status of an interval, as floats."""

    estimate: float
    low: float
    high: float
    status: IntervalStatus = IntervalStatus.OK

    @property
    def are_missing(self) -> bool:
        """Whether a limit is NaN."""
        return math.isnan(self.low) or math.isnan(self.high)


def verdict_of(sign: str, bound: float, limits: Limits) -> Verdict:
    """Pass if the whole interval fulfils a bound, fail if no part does, and undecided otherwise.

    An interval with a status other than 0 does not pass.

    >>> verdict_of(">=", 0.8, Limits(0.85, 0.81, 0.9)), verdict_of("<", 0.8, Limits(0.85, 0.8, 0.9))
    ('pass', 'fail')
    >>> verdict_of(">=", 0.8, Limits(0.85, 0.81, 0.9, IntervalStatus.FEW_SAMPLES))
    'undecided'
    """
    if limits.are_missing:
        return "undecided"
    fulfilled = {bool(COMPARISONS[sign](end, bound)) for end in (limits.low, limits.high)}
    if fulfilled == {False}:
        return "fail"
    return "pass" if fulfilled == {True} and limits.status == IntervalStatus.OK else "undecided"


@dataclass(frozen=True)
class RequirementResult(Result):
    """The verdict on a requirement of a :func:`matrics.gate`.

    Parameters
    ----------
    requirement : str
        The text of the requirement.
    title : str
        The requirement with the average or the class in words; for a comparison, a bound of the difference.
    verdict : {"pass", "fail", "undecided"}
        Pass if the whole interval fulfils the requirement, fail if no part does, and undecided otherwise.
    estimate, low, high : float
        The measure and the limits of its interval; for a comparison, the difference from the baseline or from the
        reference group, and its limits.
    limit : float
        The bound.
    level : float
        The confidence level.
    method : str
        The method of the limits.
    status : IntervalStatus
        The reason why the limits are missing, or why the deciding limit, which is the lower limit for ``>=``, may be
        wrong.
    samples : float
        The number of samples (for weighted samples the effective number), clusters or true labels; see ``unit``.
    is_weighted : bool
        Whether the samples are weighted.
    unit : {"sample", "cluster", "label"}
        The unit of ``samples`` and ``needed``.
    needed : int or None
        For an undecided requirement, the approximate number of samples in the same proportions that would decide; for a
        baseline on other samples and for a reference group, the number of each side. None if the requirement is
        decided, or if no number would decide.
    group : str
        The group of samples; empty without groups.
    adjusted_for : int
        The number of groups whose limits hold together at the level of the gate, as ``level`` of each is higher
        (Bonferroni); 1 without adjustment.
    """

    requirement: str
    title: str
    verdict: Verdict
    estimate: float
    low: float
    high: float
    limit: float
    level: float
    method: str
    status: IntervalStatus
    samples: float
    is_weighted: bool = False
    unit: str = "sample"
    needed: int | None = None
    group: str = ""
    adjusted_for: int = 1

    @property
    def name(self) -> str:
        """The title, after the name of the group if there are groups."""
        return f"{self.group}: {self.title}" if self.group else self.title

    def __str__(self) -> str:
        """The verdict, the estimate and the limits in a line.

        >>> import matrics
        >>> print(matrics.gate([[90, 10], [12, 88]], "accuracy >= 0.8").requirements[0])
        accuracy >= 0.8: pass; 0.890, 95 % between 0.839 and 0.926
        """
        value, low, high = with_limits(self.estimate, self.low, self.high)
        where = "no limits" if math.isnan(self.low) else f"{in_percent(round(self.level, 6))} between {low} and {high}"
        text = f"{short(self.name)}: {self.verdict}; {value}, {where}"
        return "; ".join([text, *self.remarks])

    @property
    def remarks(self) -> list[str]:
        """The status of the interval in words, and the number of samples that would decide."""
        status = [] if self.status == IntervalStatus.OK else [self.status.sentence]
        return [*status, *([self.needs] if self.needs else [])]

    @property
    def needs(self) -> str:
        """The number of samples that would decide, in words; empty if the requirement is decided."""
        if self.verdict != "undecided":
            return ""
        unit = "effective sample" if self.is_weighted and self.unit == "sample" else self.unit
        if self.needed is None and self.status == IntervalStatus.FEW_LABELS:
            return f"more than {self.samples:,.0f} {self.unit}s would decide; their number cannot be estimated yet"
        if self.needed is None:
            return f"no number of {unit}s like these would decide{INSTEAD.get(self.status, '')}"
        return f"about {counted(_rounded(self.needed), unit)} would decide (now {self.samples:,.0f})"


@dataclass(frozen=True, repr=False)
class GateResult(Result):
    """The verdict on all requirements of a :func:`matrics.gate`. It is true if the verdict is ``"pass"``.

    Parameters
    ----------
    requirements : tuple of RequirementResult
        The verdict on each.
    on_undecided : {"pass", "fail"} or None
        The verdict in place of ``"undecided"``.
    samples : float
        The number of samples (for weighted samples the effective number), clusters or true labels; see ``unit``.
    errors : tuple of matrics.plot.Confusion
        The most frequent errors.
    unit : {"sample", "cluster", "label"}
        The unit of ``samples``.
    groups : tuple of str
        The groups of samples, in their order; empty without groups.
    reference : str or None
        The group with which the other groups are compared.
    level : float
        The confidence level of the limits of a requirement; if limits are adjusted, of all groups together.
    """

    requirements: tuple[RequirementResult, ...]
    on_undecided: Literal["pass", "fail"] | None = None
    samples: float = math.nan
    errors: tuple[Confusion, ...] = ()
    unit: str = "sample"
    groups: tuple[str, ...] = ()
    reference: str | None = None
    level: float = 0.95

    @property
    def adjustments(self) -> list[str]:
        """Sentences that say whether the limits are adjusted for the number of groups."""
        if not self.groups:
            return []
        sentences = {}
        for row in self.requirements:
            is_relative = any(f" - {other} " in row.title for other in ("reference", "baseline"))
            what = "limits of differences" if is_relative else "limits"
            if row.adjusted_for == 1:
                sentences[what] = f"{what} hold for each group alone: they are not adjusted for the number of groups"
            else:
                sentences[what] = (
                    f"{what} are adjusted for {row.adjusted_for} groups: {in_percent(round(row.level, 6))} each, "
                    f"{in_percent(self.level)} together (Bonferroni)"
                )
        return list(sentences.values())

    @property
    def verdict_by_limits(self) -> Verdict:
        """The first of fail, undecided and pass that is the verdict on a requirement."""
        return next(verdict for verdict in PRIORITY if any(row.verdict == verdict for row in self.requirements))

    @property
    def verdict(self) -> Verdict:
        """The verdict by the limits, or ``on_undecided`` in place of ``"undecided"``."""
        return (
            self.on_undecided if self.verdict_by_limits == "undecided" and self.on_undecided else self.verdict_by_limits
        )

    def __bool__(self) -> bool:
        return self.verdict == "pass"

    def __repr__(self) -> str:
        return f"GateResult({self.verdict!r}, {[str(row) for row in self.requirements]})"

    def __str__(self) -> str:
        """A line for each requirement, and the most frequent errors unless the gate passes."""
        lines = [*map(str, self.requirements), *self.adjustments]
        if self.verdict_by_limits == "undecided" and self.on_undecided:
            lines.append(f"undecided counts as {self.on_undecided}")
        if self.verdict_by_limits != "pass" and self.errors:
            lines += ["most frequent errors:", *(f"  {error}" for error in self.errors)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The fields as numbers, lists and texts, with the verdict and the status of each interval in words."""
        values = super().to_dict()
        for row, plain in zip(self.requirements, values["requirements"], strict=True):
            plain["status_text"] = row.status.sentence
        return {"verdict": self.verdict, **values}

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each requirement."""
        columns = {x.name: [getattr(row, x.name) for row in self.requirements] for x in fields(RequirementResult)}
        return frame_of(columns, indexed=False)


def _rounded(size: int) -> int:
    """A number rounded up to three digits, because it is an approximation."""
    step = int(10 ** max(len(str(size)) - 3, 0))
    return -(-size // step) * step
