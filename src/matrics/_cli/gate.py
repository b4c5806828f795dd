"""``matrics gate``: whether the model of a file fulfils requirements, as an exit code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from matrics._cli.options import (
    Cells,
    ClassOrder,
    Counts,
    Encoding,
    FilePath,
    Level,
    Missing,
    MissingTexts,
    Plugin,
    PositiveClass,
    PredColumn,
    Reading,
    Rows,
    TextLabels,
    TrueColumn,
    Weight,
    ZeroDivision,
    number,
)
from matrics._cli.plugins import plug_in
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._quoting import quoted

FORMATS = ("text", "table", "json", "csv", "markdown", "junit")
SUMMARY = "GITHUB_STEP_SUMMARY"


def gate(
    path: FilePath,
    *,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar='"NAME >= NUMBER"',
            help=r"A bound of a measure, by >=, >, <= or <: recall\[fraud] >= 0.9; repeatable.",  # else it is markup
        ),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="OLD", help="A file of another model, as FILE is one.", show_default="none")
    ] = None,
    paired_on: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the samples, if both files are of the same samples."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[,NAME]", help="Measures that may not be worse than the baseline's; repeatable."),
    ] = None,
    margin: Annotated[
        str, typer.Option(metavar="NUMBER", help="By how much these may be worse than the baseline's.")
    ] = "0",
    plugin: Plugin = None,
    true: TrueColumn = Names.true,
    pred: PredColumn = Names.pred,
    positive: PositiveClass = None,
    rows: Rows = None,
    counts: Counts = None,
    weight: Weight = None,
    cells: Cells = None,
    clusters: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows with one value of this column are not independent: one cluster."),
    ] = None,
    missing: Missing = "error",
    encoding: Encoding = "utf-8",
    na: MissingTexts = None,
    text_labels: TextLabels = False,
    labels: ClassOrder = None,
    judge: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The labels of a judge; rows without a true label are scored by these."),
    ] = None,
    level: Level = "0.95",
    zero_division: ZeroDivision = "nan",
    on_undecided: Annotated[
        str | None, typer.Option(metavar="pass|fail", help="What undecided counts as.", show_default="exit code 3")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="text|json|csv|markdown|junit", help="How the verdicts are printed.")
    ] = "text",
    output: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Write --format here, and the text on the screen.", show_default="-"),
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Also add Markdown to the summary of a step of GitHub Actions.")
    ] = False,
) -> None:
    """Decide whether a model fulfils requirements: exit code 0 pass, 1 fail, 3 undecided, 2 an error."""
    from matrics._cli import gate_report
    from matrics._cli.delivery import open_console
    from matrics._cli.gate_files import Beside, read_files
    from matrics._cli.open_run import ScoreRequest
    from matrics._files.outputs.whole import write_whole
    from matrics._gates.judge import check_manner, judged
    from matrics._gates.requirements import read_requirements
    from matrics._uncertainty.options import check_level

    plug_in(plugin)
    if format_ not in FORMATS:
        raise ArgumentError("format", f"expected {', '.join(FORMATS)}, got {quoted(format_)}")
    if not (require or metrics):
        raise ArgumentError("require", 'expected a bound such as --require "mcc >= 0.8", or --baseline and --metrics')
    has_baseline = baseline is not None
    if metrics and not has_baseline:
        raise ArgumentError("metrics", f"expected --baseline OLD with it, got {quoted(','.join(metrics))} alone")
    if has_baseline and not metrics:
        raise ArgumentError("baseline", "expected --metrics NAME with it, the measures to compare, got none")
    summary = _summary() if github else None
    target = None if output in (None, "-") else _target(str(output), [path, *([baseline] if baseline else [])])
    share, zero = number("level", level), number("zero-division", zero_division)
    allowed = check_manner(number("margin", margin), on_undecided, has_baseline=has_baseline)
    check_level(share)
    asked = ScoreRequest(
        true=true,
        pred=pred,
        by=(),
        rows=rows,
        counts=counts,
        weight=weight,
        cells=cells,
        positive=positive,
        reading=Reading.read(missing, encoding, na, labels, text_labels=text_labels),
    )
    beside = Beside(baseline, paired_on, clusters, judge)
    files = read_files(path, asked, beside, positive)
    wanted = read_requirements([*(require or []), *(metrics or [])], files.classes, allowed, has_baseline=has_baseline)
    found = judged(wanted, files.evidence, files.classes, level=share, on_undecided=on_undecided, zero_division=zero)
    makers = {
        "text": gate_report.as_text,
        "table": gate_report.as_text,  # as the other commands call it
        "csv": gate_report.as_csv,
        "json": gate_report.as_json,
        "markdown": gate_report.as_markdown,
        "junit": gate_report.as_junit,
    }
    if format_ in ("text", "table") or target is not None:
        gate_report.show_gate(open_console(), found, files)
    else:
        typer.echo(makers[format_](found, files).rstrip())
    if target is not None:
        write_whole(target, f"{makers[format_](found, files).rstrip()}\n".encode())
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(gate_report.as_markdown(found, files) + "\n\n")
    code = gate_report.CODES[found.verdict]
    if code:
        raise typer.Exit(code)


def _summary() -> Path:
    name = os.environ.get(SUMMARY, "")
    if not name:
        raise ArgumentError("github", f"expected the variable {SUMMARY}, which GitHub Actions sets, got none")
    return Path(name)


def _target(output: str, sources: list[Path]) -> Path:
    from matrics._files.outputs.destination import refuse_input

    target = Path(output)
    if target.is_dir() or not target.parent.is_dir():
        raise ArgumentError("output", f"expected the name of a file in an existing directory, got {quoted(output)}")
    refuse_input(target, sources)
    return target
