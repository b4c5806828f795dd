"""``matrics threshold``: the best threshold, under constraints."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.text import Text

from matrics._cli.measures import plug_in
from matrics._cli.options import (
    By,
    Format,
    Level,
    Metrics,
    Output,
    Plugin,
    Positive,
    ReadingOptions,
    Scores,
    Seed,
    TrueColumn,
    ZeroDivision,
    column_names,
    read_integer,
    read_number,
)
from matrics._cli.prevalence import Prevalence
from matrics._cli.printing import fold, marked, show, show_blocks, show_scores
from matrics._cli.results import Result, column, keys_of
from matrics._cli.scored import (
    FilePath,
    facts_of,
    measures_of_source,
    read_source,
    refuse_same,
    show_written,
    target_of,
    title_of_source,
)
from matrics._cli.screen import show_statuses, sign_of
from matrics._files.names import Names
from matrics._scoring.score import resolve
from matrics._wording import counted, limits, plain

if TYPE_CHECKING:
    from rich.console import Console

    from matrics import Interval
    from matrics._cli.threshold_run import Best, ThresholdRun


def threshold(
    path: FilePath,
    *,
    scores: Scores,
    metric: Annotated[str, typer.Option(metavar="NAME", help="The measure to be best.", show_default=False)],
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar='"NAME>=NUMBER"', help="A constraint on the threshold; repeatable.", show_default="nothing"
        ),
    ] = None,
    metrics: Metrics = None,
    plugin: Plugin = None,
    by: By = None,
    true: TrueColumn = Names.true,
    positive: Positive = None,
    prevalence: Prevalence = None,
    reading: ReadingOptions,
    level: Level = "0.95",
    num: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="The number of replicates; 0: no limits.", show_default="1000"),
    ] = None,
    seed: Seed = None,
    zero_division: ZeroDivision = "nan",
    format_: Format = None,
    output: Output = None,
) -> None:
    """Find the best threshold for a measure, under constraints, with confidence limits."""
    from rich.text import Text

    from matrics._cli import printing
    from matrics._cli.measures import measures
    from matrics._cli.scored import refuse_same
    from matrics._cli.threshold_run import Sureness, ThresholdRequest, ThresholdRun
    from matrics._cli.writers import read_delivery
    from matrics._files.outputs.destination import SUFFIXES
    from matrics._files.outputs.whole import open_output
    from matrics._files.scores import ScoreNames

    plug_in(plugin)
    sure = Sureness.read(read_number("level", level), read_integer("num", num), read_integer("seed", seed))
    zero = read_number("zero-division", zero_division)
    resolve(metrics or "core")  # raises before anything is read
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    target = output if delivery is None else None
    names = ScoreNames.parse(scores, true=true, by=column_names(by or []), positive=positive)
    source = read_source(path, replace(names, **reading.read().names), target)
    wanted = ThresholdRequest.read(metric, subject_to or [], source.known, sure)
    there = target_of(prevalence, source)
    run = ThresholdRun(source, measures(metrics or "core", lambda: source.known), wanted, zero, there)
    title = Text("\n").join([title_of_source(source, "curve", there), Text(plain(wanted.title))])
    found = run.found  # before anything is printed: it may be that there is none
    if delivery is not None and not delivery.is_table:
        delivery.write(threshold_result(run, title.plain.split("\n")))
        return
    if run.of_labelled:
        title.append(f"\n{plain(run.of_labelled)}")

    def show(console: Console) -> None:
        printing.show(console, title, Text())
        show_thresholds(console, run)

    if delivery is not None:
        delivery.show(show)
        return
    columns = run.outputs()
    refuse_same(source, list(columns), "output")
    with open_output(Path(str(target))) as append:
        append({**source.columns(0, source.count), **columns})
    show_written(str(target), title, len(found), counted(len(columns), "column"))


def show_thresholds(console: Console, run: ThresholdRun) -> None:
    """Print a line for each curve, best first, the measures at these thresholds, and what to be wary of."""
    source, found = run.source, run.found
    values = np.array([float(one.value.estimate) for one in found])
    sign = 1 if run.wanted.lowest_is_best else -1
    order = range(len(found)) if source.in_order else np.argsort(sign * values, stable=True).tolist()
    rows = [found[k] for k in order]
    goal = fold(run.wanted.name)
    columns = [
        ("threshold", [Text(_threshold(one.threshold)) for one in rows]),
        (f"{goal}\non new samples", [Text(limits(*map(float, one.value[:3])) + _sign(one)) for one in rows]),
        (f"{goal}\non these", [marked(one.here) for one in rows]),
    ]
    for k, name in enumerate(("tn", "fp", "fn", "tp")):
        columns.append((name, [Text("–" if one.reason else f"{one.matrix.flat[k]:,}") for one in rows]))
    names = [source.name(k) if source.keys else source.sides[1] for k in order]
    heading = source.heading if source.keys else "positive"
    if not run.wanted.sure.num:
        columns.pop(1)
    show_blocks(console, heading, [Text(plain(name)) for name in names], columns)
    reasons = [(name, one.reason) for name, one in zip(names, rows, strict=True) if one.reason]
    if reasons:
        show(console, Text(), *(Text(plain(f"– {name}: {reason}")) for name, reason in reasons))
    statuses = Counter(int(one.value.status) for one in rows if not one.reason)
    show_statuses(console, statuses, signs=True)
    show(console, Text(), Text(f"at {'these thresholds' if source.keys else 'this threshold'}:"), Text())
    show_scores(console, run.columns, run.scores[list(order)], names, heading, ordered=True)


def _threshold(found: Interval) -> str:
    if np.isnan(found.estimate):
        return "–"
    value, low, high = (f"{float(part):.4g}" for part in found[:3])
    return value if np.isnan(found.low) else f"{value} [{low}, {high}]"


def _sign(one: Best) -> str:
    return " " if one.reason else sign_of(one.value.status)


def threshold_result(run: ThresholdRun, titles: list[str]) -> Result:
    """The best threshold of each curve, its limits and matrix, and the measures there."""
    source, wanted = run.source, run.wanted
    reasons, measures = measures_of_source(run.metrics, source)
    found = run.outputs()
    refuse_same(source, list(found), "format")
    none = {position: one.reason for position, one in enumerate(run.found) if one.reason}
    without = "no limits were asked for" if not wanted.sure.num else "there are no limits"
    rows = keys_of(source.columns(0, source.count))
    for name, values in found.items():
        is_limit = name.endswith(("/low", "/high", "/standard_error"))
        rows[name] = column(
            values,
            undefined=without if is_limit else reasons.get(name, "there is no threshold"),
            status="status" if name.startswith(("threshold", "expected")) else "",
            is_status=name == "status",
            is_short=name.startswith("threshold"),
            reasons=none,
        )
    is_drawn = wanted.sure.num > 0
    about = {
        **facts_of(source, run.target),
        "metric": wanted.name,
        "direction": "lowest" if wanted.lowest_is_best else "highest",
        "subject_to": wanted.conditions,
        "level": wanted.sure.level,
        "replicates": wanted.sure.num,
        "seed": wanted.sure.seed if is_drawn else None,
    }
    remarks = [f"{source.name(position)}: {reason}" for position, reason in none.items()]  # of a single curve: an error
    remarks += [run.of_labelled] if run.of_labelled else []
    return Result("threshold", titles, about, rows, measures, remarks=remarks)
