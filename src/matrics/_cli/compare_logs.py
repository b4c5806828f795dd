"""Runs of an evaluation: whether their difference is real, in a line, a table, and how more answers would narrow it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from matrics._cli import options
from matrics._cli.results import Result, Rows, View, column
from matrics._cli.verdicts import UNDEFINED
from matrics._files.notices import say
from matrics._integrations.evals.comparing import compare
from matrics._uncertainty.status import SAMPLES_OF_A_CLASS
from matrics._wording import counted, in_percent, limits, number, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from matrics._cli.writers import Delivery
    from matrics._files.foreign import Answers
    from matrics._integrations.evals.noise import Noise
    from matrics._integrations.evals.run_comparison import Estimate, RunComparison

ANSWERED = ("answered", "answered/low", "answered/high")  # the share of the answers that have a score
UNREPEATED = "no sample is repeated, so this part of the variance is unknown"
MOST_NAMED = 10  # the number of samples that messages name


def compare_logs(
    paths: Sequence[Path], metrics: list[str] | None, level: float, delivery: Delivery, answers: Answers
) -> None:
    """Compare the runs of logs, or the models of a log, in pairs.

    Tables name the answers and samples that are left out; with other formats, stderr names them.
    """
    options.refuse("no such option for evaluation logs", {"sheet": answers.sheet})
    reading: dict[str, Any] = {"missing_score": answers.missing_score, "scorer": answers.scorer}
    runs = compare(*paths, metrics=metrics, level=level, **reading)
    result = logs_result(runs, paths, left_out(runs, answers.missing_score))
    delivery.write(lambda: result)
    if not delivery.is_table:
        for remark in result.remarks:
            say(remark)


class Part(NamedTuple):
    """A run, or the difference of two runs."""

    pair: RunComparison
    name: str
    value: Estimate
    noise: Noise
    answered: Estimate | None = None

    @classmethod
    def of(cls, pair: RunComparison, difference: str) -> list[Part]:
        """Both runs of a pair, and their difference."""
        (a, b), (answered_a, answered_b) = pair.names, pair.answered
        return [
            cls(pair, a, pair.a, pair.noise_a, answered_a),
            cls(pair, b, pair.b, pair.noise_b, answered_b),
            cls(pair, difference, pair.difference, pair.noise),
        ]


def _limited(names: tuple[str, str, str], values: Iterable[Estimate | None], **about: Any) -> Rows:
    """The columns of values and their limits; NaN without a value."""
    parts = zip(*((math.nan,) * 3 if value is None else value[:3] for value in values), strict=True)
    return {name: column(cells, **about) for name, cells in zip(names, parts, strict=True)}


def _errors(parts: list[Part], names: tuple[str, str, str], **about: Any) -> Rows:
    """The columns of standard errors, and of the parts whose squares add up to their squares."""
    return {
        names[0]: column([part.value.standard_error for part in parts], undefined=UNDEFINED),
        names[1]: column([math.sqrt(part.noise.data / part.pair.samples) for part in parts], **about),
        names[2]: column([math.sqrt(part.noise.prediction / part.pair.samples) for part in parts], **about),
    }


def views_of(pairs: list[RunComparison]) -> list[View]:
    """The answer of each comparison, its table and its plan; of more than two runs, a table of all pairs."""
    if pairs[0].pairs == 1:
        return list(map(_view, pairs))
    kinds = dict.fromkeys((pair.scorer, pair.measure) for pair in pairs)
    return [_view_of_pairs([pair for pair in pairs if (pair.scorer, pair.measure) == kind]) for kind in kinds]


def _view_of_pairs(pairs: list[RunComparison]) -> View:
    """A row for each pair of runs."""
    first = pairs[0]
    level = f"{in_percent(first.level)} limits, which hold for all {first.pairs:,} differences together"
    rows = {name: column([pair.names[k] for pair in pairs], is_key=True) for k, name in enumerate(("first", "second"))}
    words = ["real" if pair.is_real else "not shown" for pair in pairs]
    rows |= {
        "": column(words, is_key=True, styles={"real": "bold"}),
        "samples": column([pair.samples for pair in pairs]),
    }
    for name, title in (("a", "first"), ("b", "second"), ("difference", "first less second")):
        names = (name, f"{name}/low", f"{name}/high")
        rows |= _limited(names, [getattr(pair, name) for pair in pairs], title=title)
    return View(rows, f"{first.measure} by {first.scorer}; {level}", below=_answered(pairs))


def _view(pair: RunComparison) -> View:
    """Both runs and their difference, with the parts of each standard error."""
    epochs = ", ".join(f"{x:.10g}" if x == round(x) else f"{x:.2f}" for x in dict.fromkeys(pair.epochs))
    about = f"{pair.samples:,} samples that both have, epochs: {epochs}; {in_percent(pair.level)} limits; "
    about += f"scorer {pair.scorer}"
    parts, measure = Part.of(pair, "the first less the second"), pair.measure
    rows = {
        "": column([part.name for part in parts], is_key=True),
        **_limited((measure, f"{measure}/low", f"{measure}/high"), [part.value for part in parts]),
        **_errors(parts, ("standard error", "of data", "of prediction")),
    }
    return View(rows, answer(pair), [about, *_answered([pair])], plan(pair))


def _answered(pairs: list[RunComparison]) -> list[str]:
    """The share of the answers with a score, of each run; empty if all answers have a score."""
    shares = {name: share for pair in pairs for name, share in zip(pair.names, pair.answered, strict=True)}
    ends = {name: (share.value, share.low, share.high) for name, share in shares.items()}
    ends |= {run["run"]: (run["share"], run["low"], run["high"]) for pair in pairs for run in pair.not_compared}
    if all(share == 1 for share, _, _ in ends.values()):
        return []
    return [f"answered by {name}: {limits(*share)}" for name, share in ends.items()]


def left_out(pairs: list[RunComparison], missing_score: str) -> list[str]:
    """The answers and samples that are left out, in sentences."""
    lines = []
    verb, end = ("scored", " as 0") if missing_score == "zero" else ("left out", "")
    for pair in pairs:
        for part in pair.not_compared:
            number = counted(part["answers"], "answer")
            lines.append(f"left out {part['run']}: none of its {number} has a score (scorer {part['scorer']})")
        for name, reasons in zip(pair.names, pair.unscored, strict=True):
            if reasons:
                number = counted(len(reasons), "answer")
                lines.append(f"{verb} {number} of {name} without a score{end}, the first: {reasons[0]}")
        for name, other, samples in zip(pair.names, pair.names[::-1], (pair.only_a, pair.only_b), strict=True):
            if samples:
                more = f" and {len(samples) - MOST_NAMED:,} more" if len(samples) > MOST_NAMED else ""
                first = ", ".join(samples[:MOST_NAMED])
                without = f" and {other} does not" if pair.pairs > 1 else ""
                lines.append(f"left out {len(samples):,} that only {name} has{without}: {first}{more}")
    return list(dict.fromkeys(lines))


def answer(pair: RunComparison) -> str:
    """Whether the difference is real."""
    a, b = pair.names
    gap = pair.difference
    if math.isnan(gap.value):
        return f"Undefined: {pair.measure} of {a} or of {b}"
    if math.isnan(gap.low):
        return f"No limits: {a} less {b} in {pair.measure} is {number(gap.value)} for every sample"
    of_a_is_more = gap.value > 0
    best, other = (a, b) if of_a_is_more == pair.higher_is_better else (b, a)
    if pair.is_real:
        size, low, high = with_limits(abs(gap.value), *sorted((abs(gap.low), abs(gap.high))))
        return f"Real: {best} is better than {other} in {pair.measure}, by {size}, between {low} and {high}"
    value, low, high = with_limits(gap.value, gap.low, gap.high)
    return f"Not shown: {a} less {b} in {pair.measure} is {value}, between {low} and {high}"


def plan(pair: RunComparison) -> list[str]:
    """Lines on the widths of the limits with more samples or with more epochs."""
    if not pair.difference.standard_error > 0:
        return ["the difference is the same for every sample: only more samples can say how sure it is"]
    twice = number(pair.half_width(samples=2))
    half = number(pair.half_width())
    lines = [f"the difference is known to ±{half}; twice the samples would make that ±{twice}"]
    if not math.isnan(pair.noise.prediction):
        lines[0] += (
            f", twice the epochs ±{number(pair.half_width(epochs=2))}, and any number of epochs at best "
            f"±{number(pair.half_width(epochs=math.inf))}"
        )
        share = pair.noise.prediction / (pair.noise.data + pair.noise.prediction)
        lines.append(
            f"of the variance of the difference {100 * share:.0f} % is between epochs (noise of prediction), "
            f"{100 * (1 - share):.0f} % between samples (noise of data)"
        )
    elif pair.measure in ("accuracy", "mean score") and max(pair.epochs) == 1:
        lines.append("one epoch of each sample: noise of prediction and noise of data cannot be separated")
    if pair.samples < SAMPLES_OF_A_CLASS:
        lines.append(f"few samples, below {SAMPLES_OF_A_CLASS}: limits may miss the truth")
    needed = pair.samples_to_show()
    if not pair.is_real and needed is not None:
        lines.append(f"about {needed:,} samples like these would show a difference of this size in four cases of five")
    return lines


def logs_result(pairs: list[RunComparison], paths: Sequence[Path], remarks: list[str]) -> Result:
    """Three rows for each measure: both runs, and the first less the second."""
    parts = [
        part for pair in pairs for part in Part.of(pair, " less ".join(pair.names) if pair.pairs > 1 else "difference")
    ]
    rows = {
        "measure": column([part.pair.measure for part in parts]),
        "scorer": column([part.pair.scorer for part in parts]),
        "run": column([part.name for part in parts]),
        "samples": column([part.pair.samples for part in parts]),
        **_limited(("estimate", "low", "high"), [part.value for part in parts], undefined=UNDEFINED),
        **_errors(parts, ("standard_error", "of_data", "of_prediction"), undefined=UNREPEATED),
        **_limited(ANSWERED, [part.answered for part in parts], undefined="a difference has no answers"),
    }
    facts = {
        "files": list(map(str, paths)),
        "runs": list(dict.fromkeys(name for pair in pairs for name in pair.names)),
        "positive": None,
        "samples": pairs[0].samples,
        "paired_on": "sample",
        "epochs": list(pairs[0].epochs),
        "level": pairs[0].level,
        "seed": None,
        "not_compared": list(
            {(run["run"], run["scorer"]): run for pair in pairs for run in pair.not_compared}.values()
        ),
        "answers": [
            {
                "measure": pair.measure,
                "scorer": pair.scorer,
                "real": pair.is_real,
                "answer": answer(pair),
                "plan": plan(pair),
            }
            for pair in pairs
        ],
    }
    return Result("compare", [], facts, rows, remarks=remarks, views=views_of(pairs))
