"""``matrics gate``: whether the model of a file fulfils requirements, as an exit code."""

from __future__ import annotations

import io
import math
import os
import platform
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree import ElementTree as ET

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

import matrics
from matrics._cli import options
from matrics._cli.measures import plug_in
from matrics._cli.screen import show, show_statuses, sign_of, text_table
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._files.outputs.texts import csv_text, json_text
from matrics._quoting import quoted
from matrics._tables.markdown import cell, table
from matrics._wording import in_percent, number, plain

if TYPE_CHECKING:
    from matrics._cli.gate_files import GateFiles
    from matrics.results import GateResult, RequirementResult


FORMATS = ("text", "table", "json", "csv", "markdown", "junit")
SUMMARY = "GITHUB_STEP_SUMMARY"


def gate(
    path: options.FilePath,
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
    plugin: options.Plugin = None,
    true: options.TrueColumn = Names.true,
    pred: options.PredColumn = Names.pred,
    positive: options.PositiveClass = None,
    rows: options.Rows = None,
    counts: options.Counts = None,
    weight: options.Weight = None,
    cells: options.Cells = None,
    clusters: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows with one value of this column are not independent: one cluster."),
    ] = None,
    reading: options.ReadingOptions,
    judge: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The labels of a judge; rows without a true label are scored by these."),
    ] = None,
    level: options.Level = "0.95",
    zero_division: options.ZeroDivision = "nan",
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
    from matrics._cli.gate_files import Beside, read_files
    from matrics._cli.matrices import ScoreRequest
    from matrics._cli.writers import open_console
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
    share, zero = options.read_number("level", level), options.read_number("zero-division", zero_division)
    allowed = check_manner(options.read_number("margin", margin), on_undecided, has_baseline=has_baseline)
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
        reading=reading.read(),
    )
    beside = Beside(baseline, paired_on, clusters, judge)
    files = read_files(path, asked, beside, positive)
    wanted = read_requirements([*(require or []), *(metrics or [])], files.classes, allowed, has_baseline=has_baseline)
    found = judged(wanted, files.evidence, files.classes, level=share, on_undecided=on_undecided, zero_division=zero)
    makers = {
        "text": as_text,
        "table": as_text,  # as the other commands call it
        "csv": as_csv,
        "json": as_json,
        "markdown": as_markdown,
        "junit": as_junit,
    }
    if format_ in ("text", "table") or target is not None:
        show_gate(open_console(), found, files)
    else:
        typer.echo(makers[format_](found, files).rstrip())
    if target is not None:
        write_whole(target, f"{makers[format_](found, files).rstrip()}\n".encode())
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(as_markdown(found, files) + "\n\n")
    code = CODES[found.verdict]
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


STYLES = {"pass": "bold green", "fail": "bold red", "undecided": "bold yellow"}
CODES = {"pass": 0, "fail": 1, "undecided": 3}


def show_gate(console: Console, found: GateResult, files: GateFiles) -> None:
    """Print a table of the requirements, what is missing, and the verdict."""
    percent = in_percent(found.requirements[0].level)
    shown = text_table("requirement", "verdict", "value", f"{percent} interval")
    shown.columns[2].justify = "right"
    for one in found.requirements:
        limits = Text(_limits(one) + sign_of(one.status).strip())
        verdict = Text(one.verdict, STYLES[one.verdict])
        shown.add_row(Text(plain(one.title)), verdict, Text(number(one.estimate)), limits)
    show(console, *(Text(plain(title)) for title in files.titles), Text(), shown)
    show_statuses(console, Counter(int(one.status) for one in found.requirements), signs=True)
    needs = [Text(plain(f"{one.title}: {one.needs}")) for one in found.requirements if one.needs]
    errors = [Text(plain(f"  {error}")) for error in found.errors] if found.found != "pass" else []
    parts = [needs, [Text("most frequent errors:"), *errors] if errors else [], [_verdict(found)]]
    for part in parts:
        if part:
            show(console, Text(), *part)


def as_text(found: GateResult, files: GateFiles) -> str:
    """What the screen shows, without colours."""
    console = Console(highlight=False, width=10_000, file=io.StringIO())
    with console.capture() as captured:
        show_gate(console, found, files)
    return captured.get()


def as_json(found: GateResult, files: GateFiles) -> str:
    """All values; NaN is null, and infinite ones are text."""
    classes = files.classes
    labels = [str(label) for label in classes.labels or range(classes.number)]
    about = {
        **files.facts,
        "classes": labels,
        "positive": None if classes.positive is None else labels[classes.positive],
        "versions": {
            "matrics": matrics.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    plain_values = {**found.to_dict(), "exit_code": CODES[found.verdict], **about}
    return json_text(_finite(plain_values))


def as_csv(found: GateResult, files: GateFiles) -> str:  # noqa: ARG001 (as the other formats)
    """A row for each requirement; what is not a number is an empty cell."""
    names = ("title", "verdict", "estimate", "low", "high", "limit", "level", "status", "samples", "unit", "needed")
    rows: list[list[Any]] = [["requirement", *names[1:]]]
    for one in found.requirements:
        cells = [one.status.name if name == "status" else getattr(one, name) for name in names]
        rows.append(["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells])
    return csv_text(rows)


def as_markdown(found: GateResult, files: GateFiles) -> str:
    """A heading with the verdict, and a table of the requirements."""
    rows = [
        [
            cell(one.title),
            f"**{one.verdict}**",
            number(one.estimate),
            cell(_limits(one)),
            cell("; ".join(one.remarks)),
        ]
        for one in found.requirements
    ]
    head = ["requirement", "verdict", "value", f"{in_percent(found.requirements[0].level)} interval", ""]
    parts = [
        f"### matrics gate: {_verdict(found).plain.removeprefix('verdict: ')}",
        "  \n".join(cell(title) for title in files.titles),
        table(head, rows),
    ]
    if found.found != "pass" and found.errors:
        parts.append("Most frequent errors:\n\n" + "\n".join(f"- {cell(str(error))}" for error in found.errors))
    return "\n\n".join(parts)


def as_junit(found: GateResult, files: GateFiles) -> str:
    """A test case for each requirement; one that is undecided is an error, or what it counts as."""
    suites = ET.Element("testsuites")
    suite = ET.SubElement(suites, "testsuite", name="matrics gate")
    tally: Counter[str] = Counter()
    for one in found.requirements:
        case = ET.SubElement(suite, "testcase", classname=plain(str(files.facts["file"])), name=plain(one.title))
        kind = {"pass": "", "fail": "failure", "undecided": "error"}[one.verdict]
        if one.verdict == "undecided" and found.on_undecided is not None:
            kind = {"pass": "skipped", "fail": "failure"}[found.on_undecided]
        if kind:
            why = ET.SubElement(case, kind, message=plain(str(one)))
            if kind != "skipped":
                why.set("type", one.verdict)
        tally[kind] += 1
    suite.set("tests", str(len(found.requirements)))
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(tally[kind]))
    ET.SubElement(suite, "system-out").text = plain("\n".join([*files.titles, str(found)]), keep="\n")
    ET.indent(suites)
    return str(ET.tostring(suites, encoding="utf-8", xml_declaration=True), "utf-8")


def _verdict(found: GateResult) -> Text:
    why = f" (undecided counts as {found.on_undecided})" if found.verdict != found.found else ""
    return Text(f"verdict: {found.verdict}{why}", STYLES[found.verdict])


def _limits(one: RequirementResult) -> str:
    return "no limits" if math.isnan(one.low) else f"[{number(one.low)}, {number(one.high)}]"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
