"""A gate on the screen, in Markdown, as JSON, and as a report of tests in JUnit's format."""

from __future__ import annotations

import io
import math
import platform
from collections import Counter
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
from rich.console import Console
from rich.text import Text

import matrics
from matrics._cli.interval_report import show_statuses, sign_of
from matrics._cli.markdown import escape, table
from matrics._cli.printing import show, text_table
from matrics._files.outputs.texts import csv_text, json_text
from matrics._wording import in_percent, number, plain

if TYPE_CHECKING:
    from matrics._cli.gate_files import GateFiles
    from matrics.results import GateResult, RequirementResult

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
            _cell(one.title),
            f"**{one.verdict}**",
            number(one.estimate),
            escape(_limits(one)),
            _cell("; ".join(one.remarks)),
        ]
        for one in found.requirements
    ]
    head = ["requirement", "verdict", "value", f"{in_percent(found.requirements[0].level)} interval", ""]
    parts = [
        f"### matrics gate: {_verdict(found).plain.removeprefix('verdict: ')}",
        "  \n".join(_cell(title) for title in files.titles),
        table(head, rows),
    ]
    if found.found != "pass" and found.errors:
        parts.append("Most frequent errors:\n\n" + "\n".join(f"- {_cell(str(error))}" for error in found.errors))
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


def _cell(text: str) -> str:
    """Text of a file that is no markup; a backtick would begin code."""
    return escape(plain(text).replace("`", "'"))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
