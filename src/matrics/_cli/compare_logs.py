"""Two runs of an evaluation: whether their difference is real, in one line, a table, and what would make it surer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.text import Text

from matrics._cli import options
from matrics._cli.results import Result, column
from matrics._cli.screen import fold, show, text_table
from matrics._cli.verdicts import UNDEFINED
from matrics._files.notices import say
from matrics._integrations.evals.comparing import compare
from matrics._uncertainty.status import SAMPLES_OF_A_CLASS
from matrics._wording import counted, in_percent, limits, number, plain, with_limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from matrics._cli.writers import Delivery
    from matrics._files.foreign import Answers
    from matrics._integrations.evals.noise import Noise
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
    remarks = left_out(runs, answers.missing_score)
    delivery.write(lambda: logs_result(runs, paths, remarks), lambda console: show_logs(console, runs))
    for remark in remarks:
        say(remark)


def show_logs(console: Console, found: list[RunComparison]) -> None:
    """Print the answer of each comparison, its table, and what further runs would buy; of many runs, a row for each."""
    if found[0].pairs > 1:
        _show_pairs(console, found)
        return
    for position, one in enumerate(found):
        show(console, *([""] if position else []), *_lines(one))


def _show_pairs(console: Console, found: list[RunComparison]) -> None:
    """Print a table of all pairs of runs for each scorer and measure, and which share of the answers has a score."""
    for position, (scorer, measure) in enumerate(dict.fromkeys((pair.scorer, pair.measure) for pair in found)):
        pairs = [pair for pair in found if (pair.scorer, pair.measure) == (scorer, measure)]
        title = f"{measure} by {scorer}; {in_percent(pairs[0].level)} limits, which hold for all {pairs[0].pairs:,} "
        title += "differences together"
        table = text_table("first", "second", "samples", "first", "second", "first less second", "", right=slice(2, 6))
        for pair in pairs:
            values = [limits(one.value, one.low, one.high) for one in (pair.a, pair.b, pair.difference)]
            verdict = Text("real", "bold") if pair.is_real else Text("not shown")
            table.add_row(*map(Text, map(plain, pair.names)), Text(f"{pair.samples:,}"), *map(Text, values), verdict)
        show(console, *([""] if position else []), Text(title, "bold"), "", table)
        answered = _answered(pairs)
        if answered:
            show(console, "", *answered)


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


def _lines(compared: RunComparison) -> list[Table | Text | str]:
    """The answer, the table, and the plan."""
    repeats = ", ".join(f"{one:.10g}" if one == round(one) else f"{one:.2f}" for one in dict.fromkeys(compared.epochs))
    about = f"{compared.samples:,} samples that both have, epochs: {repeats}; {in_percent(compared.level)} limits; "
    about += f"scorer {compared.scorer}"
    table = text_table(
        "", fold(compared.measure, 20), "standard error", "of data", "of prediction", right=slice(1, None)
    )
    a, b = compared.names
    rows = (
        (a, compared.a, compared.noise_a),
        (b, compared.b, compared.noise_b),
        ("the first less the second", compared.difference, compared.noise),
    )
    for name, value, noise in rows:
        table.add_row(
            Text(plain(name)),
            Text(limits(value.value, value.low, value.high)),
            *_errors(value, noise, compared.samples),
        )
    above = (Text(plain(answer(compared)), "bold"), about, "")
    answered = _answered([compared])
    return [
        *above,
        table,
        "",
        *([*answered, ""] if answered else []),
        *(Text(plain(line), "dim") for line in plan(compared)),
    ]


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


def _errors(value: Estimate, noise: Noise, samples: int) -> list[Text]:
    """The standard error, and the parts whose squares add up to its square."""
    parts = (value.standard_error, math.sqrt(noise.data / samples), math.sqrt(noise.prediction / samples))
    return [Text(number(part)) for part in parts]


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
    return Result("compare", [answer(one) for one in found], about, columns, remarks=remarks)
