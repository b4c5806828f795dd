"""``matrics gate``: whether the model of a file fulfils requirements, as an exit code."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree import ElementTree as ET

import typer

from matrics._cli import options
from matrics._cli.gate_files import FileOptions, read_files
from matrics._cli.judged_files import JudgeOptions
from matrics._cli.matrices import MatrixOptions
from matrics._cli.measures import about_classes, plug_in
from matrics._cli.results import Result, Rows, View, column, plain_size
from matrics._cli.writers import WRITERS, Delivery, as_markdown, read_delivery
from matrics._errors import ArgumentError
from matrics._gates.requirements import Other, read_requirements
from matrics._gates.verdicts import check_options, decide
from matrics._quoting import quoted
from matrics._uncertainty.options import check_level
from matrics._wording import in_percent, plain

if TYPE_CHECKING:
    from matrics._cli.gate_counts import GateFiles
    from matrics.results import GateResult


SUMMARY = "GITHUB_STEP_SUMMARY"


def gate(
    path: options.FilePath,
    *,
    require: Annotated[
        list[str] | None,
        options.option(
            '"NAME >= NUMBER"', r"A bound on a measure, with >=, >, <= or <: recall\[fraud] >= 0.9; repeatable."
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        options.option("OLD", "The file of the baseline model, of the same kind as the input.", default="none"),
    ] = None,
    paired_on: Annotated[
        str | None,
        options.option("COLUMN", "The column that identifies the samples, if both files contain the same samples."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        options.option(
            "NAME[,NAME]", "Measures that must not be worse than in the baseline or in the reference group; repeatable."
        ),
    ] = None,
    margin: Annotated[str, options.option("NUMBER", "How much worse the measures of --metrics may be.")] = "0",
    by: Annotated[
        list[str] | None,
        options.option(
            "COLUMN[,COLUMN]", "Each requirement applies to each group of samples, such as a month; repeatable."
        ),
    ] = None,
    reference: Annotated[
        str | None,
        options.option("COLUMN=VALUE", "The group that all other groups are compared with: month=2026-01."),
    ] = None,
    correction: Annotated[
        str | None,
        options.option(
            "none|bonferroni",
            "Whether limits are adjusted for the number of groups.",
            default="bonferroni for differences",
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        options.option(
            "COLUMN|LABEL=COLUMN[,...]",
            "Columns of scores, for requirements such as roc_auc >= 0.9; repeatable.",
            "--scores",
            "--y-score",
        ),
    ] = None,
    threshold: options.Threshold = None,
    lower_is_positive: options.LowerIsPositive = False,
    plugin: options.Plugin = None,
    data: MatrixOptions,
    weight: options.Weight = None,
    clusters: options.Clusters = None,
    reading: options.ReadingOptions,
    judging: JudgeOptions,
    level: options.Level = "0.95",
    zero_division: options.ZeroDivision = "nan",
    on_undecided: Annotated[
        str | None, options.option("pass|fail", "The verdict in place of undecided.", default="exit code 3")
    ] = None,
    format_: Annotated[
        str | None,
        options.option(
            "table|json|csv|markdown|latex|junit",
            "The format of the verdicts; tables are for people.",
            "--format",
            default="table, or by the name of --output",
        ),
    ] = None,
    output: Annotated[
        str | None,
        options.option(
            "FILE|-",
            "A file for the verdicts: .json, .csv, .md, .tex, .txt or .xml (JUnit); the table is also printed.",
            default="-",
        ),
    ] = None,
    github: Annotated[
        bool, options.flag("Also append the tables to the summary of a step in GitHub Actions.", "--github")
    ] = False,
) -> None:
    """Decide whether a model fulfils requirements; exit code 0: pass, 1: fail, 3: undecided, 2: error."""
    plug_in(plugin)
    files_read = [path, *filter(None, [baseline])]
    delivery = read_delivery(format_, output, files_read, others={".xml": "junit"})
    other: Other | None = "reference" if reference is not None else "baseline" if baseline is not None else None
    _check(require, metrics, other)
    summary = _summary() if github else None
    share, zero = options.read_number("level", level), options.read_number("zero-division", zero_division)
    columns = options.column_names(by)
    allowed = check_options(
        options.read_number("margin", margin),
        on_undecided,
        other=other is not None,
        correction=correction,
        has_groups=bool(columns) or reference is not None,
    )
    check_level(share)
    rows_read = reading.read(data.true, data.pred)
    request = data.request(
        by=columns,
        scores=scores,
        threshold=threshold,
        lower_is_positive=lower_is_positive,
        weight=weight,
        reading=rows_read,
    )
    judging.check(data.true)
    kind: Any = correction  # of the two that are checked
    requirements = [*(require or []), *(metrics or [])]
    further = FileOptions(baseline, paired_on, clusters, judging if judging.judge else None, reference)
    files = read_files(path, request, further, requirements)
    are_probabilities = files.samples.are_probabilities
    bounds = read_requirements(requirements, files.classes, allowed, other=other, are_probabilities=are_probabilities)
    outcome = decide(
        bounds,
        files.samples,
        files.classes,
        level=share,
        correction=kind,
        on_undecided=on_undecided,
        zero_division=zero,
    )
    result = gate_result(outcome, files)
    if delivery.output is not None:
        Delivery().write(lambda: result)
    delivery.write(lambda: result, {**WRITERS, "junit": lambda _: as_junit(outcome, files)})
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(f"### matrics gate\n\n{as_markdown(result)}\n")
    code = CODES[outcome.verdict]
    if code:
        raise typer.Exit(code)


def _check(require: list[str] | None, metrics: list[str] | None, other: Other | None) -> None:
    """Raise for requirements that lack what they are compared with, and the other way round."""
    if not (require or metrics):
        raise ArgumentError("require", 'expected a bound such as --require "mcc >= 0.8", or --baseline and --metrics')
    if metrics and other is None:
        raise ArgumentError(
            "metrics",
            f"expected --baseline OLD with it, or --reference COLUMN=VALUE, got {quoted(','.join(metrics))} alone",
        )
    if other is not None and not metrics:
        raise ArgumentError(other, "expected --metrics NAME with it, the measures to compare, got none")


def _summary() -> Path:
    name = os.environ.get(SUMMARY, "")
    if not name:
        raise ArgumentError("github", f"expected the variable {SUMMARY}, which GitHub Actions sets, got none")
    return Path(name)


STYLES = {"pass": "bold green", "fail": "bold red", "undecided": "bold yellow"}
CODES = {"pass": 0, "fail": 1, "undecided": 3}
TITLE_OF_ERRORS = "most frequent errors, and their share of the true class"


def gate_result(outcome: GateResult, files: GateFiles) -> Result:
    """A row for each requirement, and the most frequent errors."""
    requirements, first = outcome.requirements, outcome.requirements[0]
    undefined = {"estimate": "the measure is undefined", "needed": "no number of samples is needed, or none decides"}
    names = ["requirement", "title", *["group"] * bool(outcome.groups), "verdict", "estimate", "low", "high", "limit"]
    names += ["samples", "unit", "needed", *["level", "adjusted_for"] * bool(outcome.groups)]
    rows = {
        name: column(
            [plain_size(row.samples) if name == "samples" else getattr(row, name) for row in requirements],
            undefined=undefined.get(name, "there are no limits"),
            status="status" if name in ("estimate", "low", "high") else "",
        )
        for name in names
    }
    rows["status"] = column([int(row.status) for row in requirements], is_status=True)
    facts = {
        "verdict": outcome.verdict,
        "exit_code": CODES[outcome.verdict],
        **files.facts,
        **about_classes(files.classes),
        "samples": plain_size(outcome.samples),
        "unit": outcome.unit,
        "weighted": first.is_weighted,
        "level": outcome.level,
        "method": first.method,
        "on_undecided": outcome.on_undecided,
    }
    errors = {
        "true": column([error.true for error in outcome.errors]),
        "predicted": column([error.predicted for error in outcome.errors]),
        "samples": column([plain_size(error.samples) for error in outcome.errors]),
        "share": column([error.share for error in outcome.errors]),
    }
    tables = {"errors": errors} if outcome.verdict_by_limits != "pass" and outcome.errors else {}
    if files.answered:
        facts["answered"] = [part.facts(outcome.level) for part in files.answered]
    return Result(
        "gate",
        files.described(outcome.level),
        facts,
        rows,
        tables=tables,
        remarks=[*outcome.adjustments, *_needs(outcome)],
        views=[_verdicts(outcome, files, rows), *map(_most_frequent, tables.values())],
        conclusion=_verdict(outcome),
        style=STYLES[outcome.verdict],
    )


def _verdicts(outcome: GateResult, files: GateFiles, rows: Rows) -> View:
    """The table of the requirements for people."""
    is_same = {row.level for row in outcome.requirements} == {outcome.level}
    value = f"value [{in_percent(outcome.level)} limits]" if is_same else "value [limits]"
    keys = {"requirement": rows["title"], "verdict": replace(rows["verdict"], styles=STYLES)}
    if outcome.groups:
        keys = {"requirement": rows["title"], ", ".join(files.facts["by"]): rows["group"], **keys}
    values = {value: rows["estimate"], f"{value}/low": rows["low"], f"{value}/high": rows["high"]}
    names = {name: replace(part, is_key=True) for name, part in keys.items()}
    return View({**names, **values, "status": rows["status"]})


def _most_frequent(errors: Rows) -> View:
    """The table of the errors for people."""
    keys = {f"{name} class": replace(errors[name], is_key=True) for name in ("true", "predicted")}
    return View({**keys, "samples": errors["samples"], "share": errors["share"]}, TITLE_OF_ERRORS)


def _needs(outcome: GateResult) -> list[str]:
    """A line for each undecided requirement, with the number of samples that a decision needs."""
    return [f"{row.name}: {row.needs}" for row in outcome.requirements if row.needs]


def as_junit(outcome: GateResult, files: GateFiles) -> str:
    """A test case for each requirement. Undecided requirements are errors, unless --on-undecided is given."""
    suites = ET.Element("testsuites")
    suite = ET.SubElement(suites, "testsuite", name="matrics gate")
    tally: Counter[str] = Counter()
    for row in outcome.requirements:
        case = ET.SubElement(suite, "testcase", classname=plain(str(files.facts["file"])), name=plain(row.name))
        kind = {"pass": "", "fail": "failure", "undecided": "error"}[row.verdict]
        if row.verdict == "undecided" and outcome.on_undecided is not None:
            kind = {"pass": "skipped", "fail": "failure"}[outcome.on_undecided]
        if kind:
            why = ET.SubElement(case, kind, message=plain(str(row)))
            if kind != "skipped":
                why.set("type", row.verdict)
        tally[kind] += 1
    suite.set("tests", str(len(outcome.requirements)))
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(tally[kind]))
    ET.SubElement(suite, "system-out").text = plain(
        "\n".join([*files.described(outcome.level), str(outcome)]), keep="\n"
    )
    ET.indent(suites)
    return str(ET.tostring(suites, encoding="utf-8", xml_declaration=True), "utf-8") + "\n"


def _verdict(outcome: GateResult) -> str:
    why = f" (undecided counts as {outcome.on_undecided})" if outcome.verdict != outcome.verdict_by_limits else ""
    return f"verdict: {outcome.verdict}{why}"
