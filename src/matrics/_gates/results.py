"""What a gate finds: a verdict on each requirement, and one on all of them."""

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

#: The gravest first: of several requirements it decides.
GRAVEST: tuple[Verdict, ...] = ("fail", "undecided", "pass")

# What would decide instead, where no number of samples would.
INSTEAD = {
    IntervalStatus.BIASED: ": require :min or :max of a measure of each class, whose limits allow for the bias",
    IntervalStatus.LIMITS_MISS: ": require another measure",
}


class Limits(NamedTuple):
    """One interval, in plain numbers."""

    estimate: float
    low: float
    high: float
    status: IntervalStatus = IntervalStatus.OK

    @property
    def are_missing(self) -> bool:
        """Whether there are none."""
        return math.isnan(self.low) or math.isnan(self.high)


def verdict_of(sign: str, limit: float, found: Limits) -> Verdict:
    """Whether all of an interval fulfils a bound, none of it, or a part; a status that is not 0 lets nothing pass.

    >>> verdict_of(">=", 0.8, Limits(0.85, 0.81, 0.9)), verdict_of("<", 0.8, Limits(0.85, 0.8, 0.9))
    ('pass', 'fail')
    >>> verdict_of(">=", 0.8, Limits(0.85, 0.81, 0.9, IntervalStatus.FEW_SAMPLES))
    'undecided'
    """
    if found.are_missing:
        return "undecided"
    fulfilled = {bool(COMPARISONS[sign](end, limit)) for end in (found.low, found.high)}
    if fulfilled == {False}:
        return "fail"
    return "pass" if fulfilled == {True} and found.status == IntervalStatus.OK else "undecided"


@dataclass(frozen=True)
class RequirementResult(Result):
    """The verdict on one requirement of a :func:`matrics.gate`.

    Parameters
    ----------
    requirement : str
        The text of the requirement.
    title : str
        The same with the average or the class in words; of a comparison as a bound of the difference.
    verdict : {"pass", "fail", "undecided"}
        Whether the whole interval fulfils it, none of it, or neither can be said.
    estimate, low, high : float
        The measure and the limits of its interval; of a comparison, those of the difference from the baseline.
    limit : float
        The bound.
    level : float
        The confidence level.
    method : str
        How the limits were formed.
    status : IntervalStatus
        Why the limits are missing, or why the one that decides is not to be relied on: the lower limit of ``>=``.
    samples : float
        The number of samples; of weighted ones, the effective number. Of clusters, or of true labels, as ``unit`` says.
    is_weighted : bool
        Whether the samples are weighted.
    unit : {"sample", "cluster", "label"}
        What ``samples`` and ``needed`` count.
    needed : int or None
        If it is undecided: about how many samples in the same proportions would decide, for a baseline on other samples
        and for a reference group the number of each. None if it is decided, or if no number would.
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
        """The group, if there is one, and the title."""
        return f"{self.group}: {self.title}" if self.group else self.title

    def __str__(self) -> str:
        """The verdict in one line.

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
        """The status of the interval in words, and what an undecided requirement lacks."""
        status = [] if self.status == IntervalStatus.OK else [self.status.sentence]
        return [*status, *([self.needs] if self.needs else [])]

    @property
    def needs(self) -> str:
        """How many samples would decide; empty if it is decided."""
        if self.verdict != "undecided":
            return ""
        unit = "effective sample" if self.is_weighted and self.unit == "sample" else self.unit
        if self.needed is None:
            return f"no number of {unit}s like these would decide{INSTEAD.get(self.status, '')}"
        return f"about {counted(_rounded(self.needed), unit)} would decide (now {self.samples:,.0f})"


@dataclass(frozen=True, repr=False)
class GateResult(Result):
    """The verdict on all requirements of a :func:`matrics.gate`. It is true where the verdict is ``"pass"``.

    Parameters
    ----------
    requirements : tuple of RequirementResult
        The verdict on each.
    on_undecided : {"pass", "fail"} or None
        What an undecided gate counts as.
    samples : float
        The number of samples; of weighted ones, the effective number. Of clusters, or of true labels, as ``unit`` says.
    errors : tuple of matrics.plot.Confusion
        The most frequent errors.
    unit : {"sample", "cluster", "label"}
        What ``samples`` counts.
    groups : tuple of str
        The groups of samples, in their order; empty without groups.
    reference : str or None
        The group with which the other groups are compared.
    level : float
        The confidence level of the gate: that of each requirement, and with adjusted limits that of a requirement in
        all groups together.
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
        """Whether the limits are adjusted for the number of groups, in sentences."""
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
    def found(self) -> Verdict:
        """The gravest verdict: fail before undecided before pass."""
        return next(one for one in GRAVEST if any(of.verdict == one for of in self.requirements))

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict, with what undecided counts as."""
        return self.on_undecided if self.found == "undecided" and self.on_undecided else self.found

    def __bool__(self) -> bool:
        return self.verdict == "pass"

    def __repr__(self) -> str:
        return f"GateResult({self.verdict!r}, {[str(one) for one in self.requirements]})"

    def __str__(self) -> str:
        """A line for each requirement, and the most frequent errors unless it passes."""
        lines = [*map(str, self.requirements), *self.adjustments]
        if self.found == "undecided" and self.on_undecided:
            lines.append(f"undecided counts as {self.on_undecided}")
        if self.found != "pass" and self.errors:
            lines += ["most frequent errors:", *(f"  {error}" for error in self.errors)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, with the verdict and the status of each interval in words."""
        found = super().to_dict()
        for one, plain in zip(self.requirements, found["requirements"], strict=True):
            plain["status_text"] = one.status.sentence
        return {"verdict": self.verdict, **found}

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each requirement."""
        parts = {of.name: [getattr(one, of.name) for one in self.requirements] for of in fields(RequirementResult)}
        return frame_of(parts, indexed=False)


def _rounded(size: int) -> int:
    """A number of three digits, rounded up, as it is not known more exactly."""
    step = int(10 ** max(len(str(size)) - 3, 0))
    return -(-size // step) * step
