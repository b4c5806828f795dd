"""``matrics curve``: measures at every threshold of scores."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pyarrow as pa
import typer

from matrics._cli.compare_results import APART, rows_of
from matrics._cli.curve_comparison import compare_curves
from matrics._cli.curve_run import OF_SAMPLES
from matrics._cli.measures import plug_in
from matrics._cli.options import (
    By,
    Format,
    Level,
    Output,
    Plugin,
    Positive,
    ReadingOptions,
    Scores,
    TrueColumn,
    ZeroDivision,
    column_names,
    read_number,
)
from matrics._cli.prevalence import Prevalence
from matrics._cli.results import Result, Rows, column, keys_of
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
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._scoring.score import resolve
from matrics._wording import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from matrics._cli.curve_run import CurveRun


CURVE_METRICS = "accuracy,precision,recall,specificity,f1,mcc"


def curve(
    path: FilePath,
    *,
    scores: Scores,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Measures at thresholds: mcc,f1; or of the scores: auroc,ece; repeatable.",
            show_default=CURVE_METRICS,
        ),
    ] = None,
    plugin: Plugin = None,
    by: By = None,
    paired_on: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of the samples, if all models of --by have scored the same: their differences, with "
            "DeLong's p-values.",
        ),
    ] = None,
    true: TrueColumn = Names.true,
    positive: Positive = None,
    prevalence: Prevalence = None,
    reading: ReadingOptions,
    thresholds: Annotated[
        str | None,
        typer.Option(metavar="NUMBERS|all", help="0.1,0.5: these; all: each of them on the screen, too."),
    ] = None,
    level: Level = "0.95",
    zero_division: ZeroDivision = "nan",
    format_: Format = None,
    output: Output = None,
) -> None:
    """Measures at every threshold of scores, and how well the scores rank."""
    from rich.text import Text

    from matrics._cli import printing
    from matrics._cli.compare_results import show_verdicts
    from matrics._cli.curve_comparison import compare_curves, refuse_paired, refuse_unpaired
    from matrics._cli.curve_run import OF_SAMPLES, CurveRun, names_of_scores, read_thresholds, show_curves
    from matrics._cli.measures import measures
    from matrics._cli.writers import read_delivery
    from matrics._files.outputs.destination import SUFFIXES
    from matrics._files.scores import ScoreNames
    from matrics._uncertainty.options import check_level

    plug_in(plugin)
    zero = read_number("zero-division", zero_division)
    of_scores, others = names_of_scores(metrics or [])
    resolve(others or CURVE_METRICS)  # raises before anything is read
    limits, every = read_thresholds(thresholds)
    share = check_level(read_number("level", level))
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    target = output if delivery is None else None
    names = ScoreNames.parse(scores, true=true, by=column_names(by or []), positive=positive)
    if paired_on is not None and delivery is None:
        raise ArgumentError("output", "expected a name in .json, .md, .tex or .txt, or --format, with --paired-on")
    refuse_paired(paired_on, names.by, {true, *names.scores})
    if paired_on is not None:
        unused = {"metrics": ",".join(metrics or ()) or None, "thresholds": thresholds, "prevalence": prevalence}
        refuse_unpaired({**unused, "zero-division": None if math.isnan(zero) else zero_division})
    read_as = reading.read().names
    source = read_source(path, replace(names, clusters=paired_on, **read_as), target)
    there = target_of(prevalence, source)
    run = CurveRun(
        *(source, measures(others or CURVE_METRICS, lambda: source.known), limits, zero, share, there, paired_on),
        of_scores=of_scores,
    )
    title = title_of_source(source, "curve", there)
    if delivery is not None and not delivery.is_table:
        made = curve_result if paired_on is None else comparison_result
        delivery.write(made(run, [title.plain]))
        return

    if there is not None and delivery is not None:
        title.append(f"; {OF_SAMPLES}")
    compared = None if paired_on is None or delivery is None else compare_curves(run)

    def show(console: Console) -> None:
        printing.show(console, title, Text())
        if compared is not None:
            show_verdicts(console, *compared, source.heading)
        else:
            show_curves(console, run, every=every)

    if delivery is not None:
        delivery.show(show)
        return
    _write_curves(run, str(target), title)


def _write_curves(run: CurveRun, target: str, title: Text) -> None:
    """All thresholds of all curves, a curve at a time."""
    import numpy as np
    import pyarrow as pa

    from matrics._cli.scored import refuse_same
    from matrics._files.outputs.whole import open_output

    source = run.source
    labels = [column.label for column in run.columns]
    refuse_same(source, ["threshold", *labels], "output")
    count = 0
    with open_output(Path(target)) as append:
        for position in range(source.count):
            found, values = run.curve(position)
            keys = source.columns(position, position + 1)
            repeated = {name: column.take(pa.array(np.zeros(len(found), int))) for name, column in keys.items()}
            append({**repeated, "threshold": found, **dict(zip(labels, values.T, strict=True))})
            count += len(found)
    show_written(target, title, count, f"{counted(len(labels), 'measure')}")


def curve_result(run: CurveRun, titles: list[str]) -> Result:
    """All thresholds of all curves, and what does not depend on a threshold."""
    source = run.source
    reasons, measures = measures_of_source(run.metrics, source)
    refuse_same(source, ["threshold", *reasons], "format")
    every = range(source.count)
    found = [run.curve(position) for position in every]
    of_curve = pa.array(np.repeat(np.arange(source.count), [len(thresholds) for thresholds, _ in found]))
    rows = keys_of({name: values.take(of_curve) for name, values in source.columns(0, source.count).items()})
    rows["threshold"] = column(np.concatenate([thresholds for thresholds, _ in found]), is_short=True)
    values = np.concatenate([values for _, values in found])
    rows |= {name: column(one, undefined=reasons[name]) for name, one in zip(reasons, values.T, strict=True)}
    about = {**facts_of(source, run.target), "level": run.level, "seed": run.seed}
    remarks = [] if run.target is None else [OF_SAMPLES]
    return Result("curve", titles, about, rows, measures, {"curves": _of_scores(run)}, remarks=remarks)


def comparison_result(run: CurveRun, titles: list[str]) -> Result:
    """The models by their scores for the same samples, and the measures of each."""
    about = {**facts_of(run.source, run.target), "level": run.level, "seed": None, "paired_on": run.paired_on}
    rows = rows_of(*compare_curves(run))
    order = (*("measure", "model", "estimate", "low", "high", "status"), *APART, "p_value", "tied")
    rows = {name: rows[name] for name in order}
    return Result("curve", titles, about, rows, tables={"curves": _of_scores(run)})


def _of_scores(run: CurveRun) -> Rows:
    """The measures of each curve that do not depend on a threshold."""
    source = run.source
    facts = [run.facts(position) for position in range(source.count)]
    refuse_same(source, list(facts[0]), "format")
    found: Rows = keys_of(source.columns(0, source.count))
    return found | {
        name: column([one[name] for one in facts], undefined="samples of both classes are needed") for name in facts[0]
    }
