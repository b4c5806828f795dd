"""``matrics gate``: whether the model of a file fulfils requirements, as an exit code."""

from __future__ import annotations

import functools
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from xml.etree import ElementTree as ET

import typer
from rich.text import Text

from matrics._cli import options
from matrics._cli.gate_files import Beside, read_files
from matrics._cli.judged_files import JudgeOptions
from matrics._cli.matrices import MatrixOptions
from matrics._cli.measures import about_classes, plug_in
from matrics._cli.results import Result, column, plain_size
from matrics._cli.screen import show, show_statuses, sign_of, text_table
from matrics._cli.writers import WRITERS, Delivery, as_markdown, read_delivery
from matrics._errors import ArgumentError
from matrics._gates.judge import check_manner, judged
from matrics._gates.requirements import read_requirements
from matrics._quoting import quoted
from matrics._uncertainty.options import check_level
from matrics._wording import in_percent, plain

if TYPE_CHECKING:
    from rich.console import Console

    from matrics._cli.gate_files import GateFiles
    from matrics.results import GateResult


SUMMARY = "GITHUB_STEP_SUMMARY"


def gate(
    path: options.FilePath,
    *,
    require: Annotated[
        list[str] | None,
        options.option(
            '"NAME >= NUMBER"', r"A bound of a measure, by >=, >, <= or <: recall\[fraud] >= 0.9; repeatable."
        ),
    ] = None,
    baseline: Annotated[
        Path | None, options.option("OLD", "A file of another model, as FILE is one.", default="none")
    ] = None,
    paired_on: Annotated[
        str | None, options.option("COLUMN", "The column of the samples, if both files are of the same samples.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        options.option("NAME[,NAME]", "Measures that may not be worse than the baseline's; repeatable."),
    ] = None,
    margin: Annotated[str, options.option("NUMBER", "By how much these may be worse than the baseline's.")] = "0",
    plugin: options.Plugin = None,
    data: MatrixOptions,
    weight: options.Weight = None,
    clusters: options.Clusters = None,
    reading: options.ReadingOptions,
    judging: JudgeOptions,
    level: options.Level = "0.95",
    zero_division: options.ZeroDivision = "nan",
    on_undecided: Annotated[
        str | None, options.option("pass|fail", "What undecided counts as.", default="exit code 3")
    ] = None,
    format_: Annotated[
        str | None,
        options.option(
            "table|json|csv|markdown|latex|junit",
            "How the verdicts are written; tables are for people.",
            "--format",
            default="table, or by the name of --output",
        ),
    ] = None,
    output: Annotated[
        str | None,
        options.option(
            "FILE|-",
            "Write them here, and the table on the screen: .json, .csv, .md, .tex, .txt; .xml is JUnit.",
            default="-",
        ),
    ] = None,
    github: Annotated[
        bool, options.flag("Also add Markdown to the summary of a step of GitHub Actions.", "--github")
    ] = False,
) -> None:
    """Decide whether a model fulfils requirements: exit code 0 pass, 1 fail, 3 undecided, 2 an error."""
    plug_in(plugin)
    files_read = [path, *filter(None, [baseline])]
    delivery = read_delivery(format_, output, files_read, others={".xml": "junit"})
    if not (require or metrics):
        raise ArgumentError("require", 'expected a bound such as --require "mcc >= 0.8", or --baseline and --metrics')
    has_baseline = baseline is not None
    if metrics and not has_baseline:
        raise ArgumentError("metrics", f"expected --baseline OLD with it, got {quoted(','.join(metrics))} alone")
    if has_baseline and not metrics:
        raise ArgumentError("baseline", "expected --metrics NAME with it, the measures to compare, got none")
    summary = _summary() if github else None
    share, zero = options.read_number("level", level), options.read_number("zero-division", zero_division)
    allowed = check_manner(options.read_number("margin", margin), on_undecided, has_baseline=has_baseline)
    check_level(share)
    request = data.request(weight=weight, reading=reading.read(data.true, data.pred))
    judging.check(data.true)
    beside = Beside(baseline, paired_on, clusters, judging if judging.judge else None)
    files = read_files(path, request, beside)
    wanted = read_requirements([*(require or []), *(metrics or [])], files.classes, allowed, has_baseline=has_baseline)
    found = judged(wanted, files.evidence, files.classes, level=share, on_undecided=on_undecided, zero_division=zero)
    result = gate_result(found, files)
    show_verdicts = functools.partial(show_gate, found=found, files=files)
    if delivery.output is not None:
        Delivery().print(show_verdicts)
    delivery.write(lambda: result, show_verdicts, {**WRITERS, "junit": lambda _: as_junit(found, files)})
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(f"### matrics gate\n\n{as_markdown(result)}\n")
    code = CODES[found.verdict]
    if code:
        raise typer.Exit(code)


def _summary() -> Path:
    name = os.environ.get(SUMMARY, "")
    if not name:
        raise ArgumentError("github", f"expected the variable {SUMMARY}, which GitHub Actions sets, got none")
    return Path(name)


STYLES = {"pass": "bold green", "fail": "bold red", "undecided": "bold yellow"}
CODES = {"pass": 0, "fail": 1, "undecided": 3}


def show_gate(console: Console, found: GateResult, files: GateFiles) -> None:
    """Print a table of the requirements, what is missing, and the verdict."""
    percent = in_percent(found.requirements[0].level)
    shown = text_table("requirement", "verdict", "value", f"{percent} interval", right=slice(2, 3))
    for row in found.requirements:
        verdict = Text(row.verdict, STYLES[row.verdict])
        value, limits = row.in_words
        cells = (value, limits + sign_of(row.status).strip())
        shown.add_row(Text(plain(row.title)), verdict, *map(Text, cells))
    show(console, *files.titles, "", shown)
    show_statuses(console, Counter(int(row.status) for row in found.requirements), signs=True)
    errors = [f"  {error}" for error in found.errors] if found.found != "pass" else []
    last = Text(_verdict(found), STYLES[found.verdict])
    for part in (_needs(found), ["most frequent errors:", *errors] if errors else [], [last]):
        if part:
            show(console, "", *part)


def gate_result(found: GateResult, files: GateFiles) -> Result:
    """A row for each requirement, and the most frequent errors."""
    every, first = found.requirements, found.requirements[0]
    undefined = {"estimate": "the measure is undefined", "needed": "no number of samples is needed, or none decides"}
    names = ("requirement", "title", "verdict", "estimate", "low", "high", "limit", "samples", "unit", "needed")
    rows = {
        name: column(
            [plain_size(row.samples) if name == "samples" else getattr(row, name) for row in every],
            undefined=undefined.get(name, "there are no limits"),
            status="status" if name in ("estimate", "low", "high") else "",
        )
        for name in names
    }
    rows["status"] = column([int(row.status) for row in every], is_status=True)
    facts = {
        "verdict": found.verdict,
        "exit_code": CODES[found.verdict],
        **files.facts,
        **about_classes(files.classes),
        "samples": plain_size(found.samples),
        "unit": found.unit,
        "weighted": first.is_weighted,
        "level": first.level,
        "method": first.method,
        "on_undecided": found.on_undecided,
    }
    errors = {
        "true": column([error.true for error in found.errors]),
        "predicted": column([error.predicted for error in found.errors]),
        "samples": column([plain_size(error.samples) for error in found.errors]),
        "share": column([error.share for error in found.errors]),
    }
    tables = {"errors": errors} if found.found != "pass" and found.errors else {}
    return Result("gate", [_verdict(found), *files.titles], facts, rows, tables=tables, remarks=_needs(found))


def _needs(found: GateResult) -> list[str]:
    """What would decide each undecided requirement."""
    return [f"{row.title}: {row.needs}" for row in found.requirements if row.needs]


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
    return str(ET.tostring(suites, encoding="utf-8", xml_declaration=True), "utf-8") + "\n"


def _verdict(found: GateResult) -> str:
    why = f" (undecided counts as {found.on_undecided})" if found.verdict != found.found else ""
    return f"verdict: {found.verdict}{why}"
