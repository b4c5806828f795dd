"""Two runs of an evaluation: whether their difference is real, in one line, a table, and what would make it surer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matrics._cli import options
from matrics._cli.results import Result, Rows, View, column
from matrics._cli.verdicts import UNDEFINED
from matrics._files.notices import say
from matrics._integrations.evals.comparing import compare
from matrics._uncertainty.status import SAMPLES_OF_A_CLASS
from matrics._wording import counted, in_percent, limits, number, with_limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matrics._cli.writers import Delivery
    from matrics._files.foreign import Answers
    from matrics._integrations.evals.run_comparison import Estimate, RunComparison

ANSWERED = ("answered", "answered/low", "answered/high")  # the share of the answers that have a score
MOST_NAMED = 10  # samples that only one run has


def compare_logs(
    paths: Sequence[Path], metrics: list[str] | None, level: float, delivery: Delivery, answers: Answers
) -> None:
    """Compare the runs of logs, or the models of one log, in pairs, and say on stderr what is left out."""
    options.refuse("no such option for evaluation logs", {"sheet": answers.sheet})
    reading: dict[str, Any] = {"missing_score": answers.missing_score, "scorer": answers.scorer}
    runs = compare(*paths, metrics=metrics, level=level, **reading)
    result = logs_result(runs, paths, left_out(runs, answers.missing_score))
    delivery.write(lambda: result)
    if not delivery.is_table:
        for remark in result.remarks:
            say(remark)


def views_of(runs: list[RunComparison]) -> list[View]:
    """The answer of each comparison, its table and its plan; of more than two runs, a table of all pairs."""
    if runs[0].pairs == 1:
        return list(map(_view, runs))
    kinds = dict.fromkeys((pair.scorer, pair.measure) for pair in runs)
    return [_view_of_pairs([pair for pair in runs if (pair.scorer, pair.measure) == kind]) for kind in kinds]


def _view_of_pairs(pairs: list[RunComparison]) -> View:
    """A row for each pair of runs."""
    first = pairs[0]
    level = f"{in_percent(first.level)} limits, which hold for all {first.pairs:,} differences together"
    rows = {name: column([pair.names[k] for pair in pairs], is_key=True) for k, name in enumerate(("first", "second"))}
    words = ["real" if pair.is_real else "not shown" for pair in pairs]
    rows[""] = column(words, is_key=True, styles={"real": "bold"})
    rows["samples"] = column([pair.samples for pair in pairs])
    for name, title in (("a", "first"), ("b", "second"), ("difference", "first less second")):
        rows |= _limited(name, [getattr(pair, name) for pair in pairs], title)
    return View(rows, f"{first.measure} by {first.scorer}; {level}", below=_answered(pairs))


def _view(compared: RunComparison) -> View:
    """Both runs and their difference, with the parts of each standard error."""
    repeats = ", ".join(f"{x:.10g}" if x == round(x) else f"{x:.2f}" for x in dict.fromkeys(compared.epochs))
    about = f"{compared.samples:,} samples that both have, epochs: {repeats}; {in_percent(compared.level)} limits; "
    about += f"scorer {compared.scorer}"
    values = (compared.a, compared.b, compared.difference)
    noises = (compared.noise_a, compared.noise_b, compared.noise)
    rows = {
        "": column([*compared.names, "the first less the second"], is_key=True),
        **_limited(compared.measure, values),
        "standard error": column([value.standard_error for value in values]),
        "of data": column([math.sqrt(noise.data / compared.samples) for noise in noises]),
        "of prediction": column([math.sqrt(noise.prediction / compared.samples) for noise in noises]),
    }
    return View(rows, answer(compared), [about, *_answered([compared])], plan(compared))


def _limited(name: str, values: Sequence[Estimate], title: str = "") -> Rows:
    """The columns of values with limits."""
    return {
        name: column([value.value for value in values], title=title),
        f"{name}/low": column([value.low for value in values]),
        f"{name}/high": column([value.high for value in values]),
    }


def _answered(pairs: list[RunComparison]) -> list[str]:
    """The share of the answers with a score, of each run; empty if all have one."""
    shares = {name: share for pair in pairs for name, share in zip(pair.names, pair.answered, strict=True)}
    if all(share.value == 1 for share in shares.values()):
        return []
    return [f"answered by {name}: {limits(share.value, share.low, share.high)}" for name, share in shares.items()]


def left_out(found: list[RunComparison], missing_score: str) -> list[str]:
    """What is left out of all comparisons, in sentences."""
    lines = []
    verb, end = ("scored", " as 0") if missing_score == "zero" else ("left out", "")
    for pair in found:
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


def answer(found: RunComparison) -> str:
    """Whether the difference is real."""
    a, b = found.names
    gap = found.difference
    if math.isnan(gap.value):
        return f"Undefined: {found.measure} of {a} or of {b}"
    if math.isnan(gap.low):
        return f"No limits: {a} less {b} in {found.measure} is {number(gap.value)} for every sample"
    of_a_is_more = gap.value > 0
    best, other = (a, b) if of_a_is_more == found.higher_is_better else (b, a)
    if found.is_real:
        size, low, high = with_limits(abs(gap.value), *sorted((abs(gap.low), abs(gap.high))))
        return f"Real: {best} is better than {other} in {found.measure}, by {size}, between {low} and {high}"
    value, low, high = with_limits(gap.value, gap.low, gap.high)
    return f"Not shown: {a} less {b} in {found.measure} is {value}, between {low} and {high}"


def plan(found: RunComparison) -> list[str]:
    """What more samples or more epochs would buy."""
    if not found.difference.standard_error > 0:
        return ["the difference is the same for every sample: only more samples can say how sure it is"]
    twice = number(found.half_width(samples=2))
    half = number(found.half_width())
    lines = [f"the difference is known to ±{half}; twice the samples would make that ±{twice}"]
    if not math.isnan(found.noise.prediction):
        lines[0] += (
            f", twice the epochs ±{number(found.half_width(epochs=2))}, and any number of epochs at best "
            f"±{number(found.half_width(epochs=math.inf))}"
        )
        share = found.noise.prediction / (found.noise.data + found.noise.prediction)
        lines.append(
            f"of the variance of the difference {100 * share:.0f} % is between epochs (noise of prediction), "
            f"{100 * (1 - share):.0f} % between samples (noise of data)"
        )
    elif found.measure in ("accuracy", "mean score") and max(found.epochs) == 1:
        lines.append("one epoch of each sample: noise of prediction cannot be told from noise of data")
    if found.samples < SAMPLES_OF_A_CLASS:
        lines.append(f"few samples, below {SAMPLES_OF_A_CLASS}: limits may miss the truth")
    needed = found.samples_to_show()
    if not found.is_real and needed is not None:
        lines.append(f"about {needed:,} samples like these would show a difference of this size in four cases of five")
    return lines


def logs_result(found: list[RunComparison], paths: Sequence[Path], remarks: list[str]) -> Result:
    """Three rows for each measure: both runs, and the first less the second."""
    rows: dict[str, list[Any]] = {}
    for one in found:
        a, b = one.names
        gap = f"{a} less {b}" if one.pairs > 1 else "difference"
        parts = (
            (a, one.a, one.noise_a, one.answered[0]),
            (b, one.b, one.noise_b, one.answered[1]),
            (gap, one.difference, one.noise, None),
        )
        for name, value, noise, answered in parts:
            row = {
                "measure": one.measure,
                "scorer": one.scorer,
                "run": name,
                "samples": one.samples,
                "estimate": value.value,
                "low": value.low,
                "high": value.high,
                "standard_error": value.standard_error,
                "of_data": math.sqrt(noise.data / one.samples),
                "of_prediction": math.sqrt(noise.prediction / one.samples),
                **dict(zip(ANSWERED, answered[:3] if answered else [math.nan] * 3, strict=True)),
            }
            for key, cell in row.items():
                rows.setdefault(key, []).append(cell)
    reasons = dict.fromkeys(("of_data", "of_prediction"), "no sample is repeated, so it cannot be told")
    reasons |= dict.fromkeys(ANSWERED, "a difference has no answers")
    first = found[0]
    about = {
        "files": list(map(str, paths)),
        "runs": list(dict.fromkeys(name for pair in found for name in pair.names)),
        "positive": None,
        "samples": first.samples,
        "paired_on": "sample",
        "epochs": list(first.epochs),
        "level": first.level,
        "seed": None,
        "answers": [
            {
                "measure": one.measure,
                "scorer": one.scorer,
                "real": one.is_real,
                "answer": answer(one),
                "plan": plan(one),
            }
            for one in found
        ],
    }
    columns = {name: column(cells, undefined=reasons.get(name, UNDEFINED)) for name, cells in rows.items()}
    return Result("compare", [], about, columns, remarks=remarks, views=views_of(found))
