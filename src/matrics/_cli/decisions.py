"""The commands that take columns of scores: measures at every threshold, and the best threshold."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matrics._cli.options import (
    By,
    ClassOrder,
    Encoding,
    Format,
    Level,
    Metrics,
    Missing,
    MissingTexts,
    Output,
    Plugin,
    Positive,
    Reading,
    Scores,
    Seed,
    TextLabels,
    TrueColumn,
    ZeroDivision,
    column_names,
    integer,
    number,
)
from matrics._cli.plugins import plug_in
from matrics._cli.prevalence import Prevalence, Target, refuse
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._quoting import quoted
from matrics._scoring.score import resolve
from matrics._wording import counted, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from matrics._cli.curve import CurveRun
    from matrics._files.scores import Scored, ScoreNames

FilePath = Annotated[
    Path,
    typer.Argument(
        help="Scores: .parquet, text or .jsonl with a column y_true and columns of scores, or a pattern of such files. "
        "Text: .csv, .tsv, compressed (.csv.gz, .csv.zst) or not, or - (standard input).",
        show_default=False,
    ),
]
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
    missing: Missing = "error",
    encoding: Encoding = "utf-8",
    na: MissingTexts = None,
    text_labels: TextLabels = False,
    labels: ClassOrder = None,
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
    from matrics._cli.compare_report import show_verdicts
    from matrics._cli.curve import OF_SAMPLES, CurveRun, names_of_scores, read_thresholds
    from matrics._cli.curve_comparison import compare_curves, refuse_paired, refuse_unpaired
    from matrics._cli.curve_report import show_curves
    from matrics._cli.delivery import read_delivery
    from matrics._cli.measures import measures
    from matrics._cli.score_results import comparison_result, curve_result
    from matrics._files.outputs.destination import SUFFIXES
    from matrics._files.scores import ScoreNames
    from matrics._uncertainty.options import check_level

    plug_in(plugin)
    zero = number("zero-division", zero_division)
    of_scores, others = names_of_scores(metrics or [])
    resolve(others or CURVE_METRICS)  # raises before anything is read
    limits, every = read_thresholds(thresholds)
    share = check_level(number("level", level))
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    target = output if delivery is None else None
    names = ScoreNames.parse(scores, true=true, by=column_names(by or []), positive=positive)
    if paired_on is not None and delivery is None:
        raise ArgumentError("output", "expected a name in .json, .md, .tex or .txt, or --format, with --paired-on")
    refuse_paired(paired_on, names.by, {true, *names.scores})
    if paired_on is not None:
        unused = {"metrics": ",".join(metrics or ()) or None, "thresholds": thresholds, "prevalence": prevalence}
        refuse_unpaired({**unused, "zero-division": None if math.isnan(zero) else zero_division})
    reading = Reading.read(missing, encoding, na, labels, text_labels=text_labels).names
    source = _read(path, replace(names, clusters=paired_on, **reading), target)
    there = _target(prevalence, source)
    run = CurveRun(
        *(source, measures(others or CURVE_METRICS, lambda: source.known), limits, zero, share, there, paired_on),
        of_scores=of_scores,
    )
    title = _title(source, "curve", there)
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

    from matrics._cli.score_results import refuse_same
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
    _show_written(target, title, count, f"{counted(len(labels), 'measure')}")


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
    missing: Missing = "error",
    encoding: Encoding = "utf-8",
    na: MissingTexts = None,
    text_labels: TextLabels = False,
    labels: ClassOrder = None,
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
    from matrics._cli.delivery import read_delivery
    from matrics._cli.measures import measures
    from matrics._cli.score_results import refuse_same, threshold_result
    from matrics._cli.threshold import Sureness, ThresholdRequest, ThresholdRun
    from matrics._cli.threshold_report import show_thresholds
    from matrics._files.outputs.destination import SUFFIXES
    from matrics._files.outputs.whole import open_output
    from matrics._files.scores import ScoreNames

    plug_in(plugin)
    sure = Sureness.read(number("level", level), integer("num", num), integer("seed", seed))
    zero = number("zero-division", zero_division)
    resolve(metrics or "core")  # raises before anything is read
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    target = output if delivery is None else None
    names = ScoreNames.parse(scores, true=true, by=column_names(by or []), positive=positive)
    source = _read(
        path, replace(names, **Reading.read(missing, encoding, na, labels, text_labels=text_labels).names), target
    )
    wanted = ThresholdRequest.read(metric, subject_to or [], source.known, sure)
    there = _target(prevalence, source)
    run = ThresholdRun(source, measures(metrics or "core", lambda: source.known), wanted, zero, there)
    title = Text("\n").join([_title(source, "curve", there), Text(plain(wanted.title))])
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
    _show_written(str(target), title, len(found), counted(len(columns), "column"))


def _read(path: Path, names: ScoreNames, output: str | None) -> Scored:
    import numpy as np

    from matrics._files.outputs.destination import check_file
    from matrics._files.scores import read_scores

    if output is not None:
        check_file(output, path)
    source = read_scores(path, names)
    if len({label for labels, _ in source.groups for label in np.unique(labels)}) < 2:
        only = source.classes[int(source.groups[0][0][0])]
        raise ValueError(
            f"{source.file}: expected samples of at least two classes in {quoted(names.true)}, got only {quoted(only)}"
        )
    return source


def _target(prevalence: str | None, source: Scored) -> Target | None:
    if source.has_several:
        refuse(prevalence, "with scores of several classes (with one of them: --positive)")
    return Target.read(prevalence, source.known)


def _title(source: Scored, what: str, target: Target | None) -> Text:
    from rich.text import Text

    positive = "each class against the rest" if source.has_several else f"positive: {source.sides[1]}"
    if not source.has_several and len(source.rest) > 1:  # which of them are meant is not clear by itself
        against = [f"{name} ({number:,})" for name, number in source.rest.items()]
        positive += f", against {', '.join(against[:10])}{', …' if len(against) > 10 else ''}"
    text = f"{source.file}: {counted(source.count, what)}, {counted(source.samples, 'sample')}; {positive}"
    if target is not None:
        text += f"; {target.title}"
    return Text(plain(text))


def _show_written(output: str, title: Text, rows: int, what: str) -> None:
    from rich.text import Text

    from matrics._cli import printing
    from matrics._cli.delivery import open_console

    written = f"{output}: {counted(rows, 'row')} of {what}"
    printing.show(open_console(), title, Text(plain(written)))
