"""The JSON of the commands, and its schemas. The fixture ``command`` checks the output of all tests by them."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest

import matrics

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
jsonschema = pytest.importorskip("jsonschema")

from commands import done, refused  # noqa: E402

from matrics._cli import app, schemas  # noqa: E402

EXAMPLES = Path(__file__).parents[1] / "examples"
GATE = ["gate", EXAMPLES / "case_control.csv", "--positive", "ill", "--require", "recall >= 0.9"]


@pytest.mark.parametrize("name", schemas.OF_COMMANDS)
def test_a_schema_is_printed(command: Any, name: str) -> None:
    schema = json.loads(done(command, "schema", name))
    assert schema == schemas.schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert {"schema", "command", "version"} <= set(schema["required"])


def test_all_commands_that_print_results_have_one(command: Any) -> None:
    """A report and a merged file of counts are files, and a schema is no result."""
    assert set(app.COMMANDS) - set(schemas.OF_COMMANDS) == {"report", "merge", "schema"}
    assert refused(command, "schema", "report").startswith("command: expected one of score, interval, compare, gate,")
    for name in schemas.OF_COMMANDS:
        assert "--format" in command(name, "--help")[1]


def test_what_a_schema_refuses(command: Any) -> None:
    _, out, _ = command(*GATE, "--format", "json")
    document = json.loads(out)
    validator = jsonschema.Draft202012Validator(schemas.schema_of("gate"))
    assert validator.is_valid(document)
    for path, value in (
        (("version",), None),
        (("samples",), "300"),
        (("exit_code",), 2),
        (("verdict",), "maybe"),
        (("another",), 1),
        (("rows", 0, "verdict"), "maybe"),
        (("rows", 0, "estimate"), "0.9"),
        (("rows", 0, "low"), [0.1]),
        (("nulls",), [{"table": "rows"}]),
        (("statuses",), {"fine": "the limits can be relied on"}),
    ):
        changed = copy.deepcopy(document)
        place = changed
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
        assert not validator.is_valid(changed), path
    for name in document:
        without = {key: value for key, value in document.items() if key != name}
        assert validator.is_valid(without) == (name == "errors"), name


def test_a_measure_and_the_list_of_measures(command: Any) -> None:
    listed = json.loads(done(command, "metrics", "core", "--format", "json"))
    assert [row["name"] for row in listed["rows"]] == matrics.list_metrics("core")
    assert (listed["command"], listed["version"]) == ("metrics", matrics.__version__)
    of_all = json.loads(done(command, "metrics", "--format", "json"))
    assert len(of_all["rows"]) == len(matrics.list_metrics())
    described = json.loads(done(command, "describe", "mcc", "--format", "json"))
    values = {row["property"]: row["value"] for row in described["rows"]}
    assert values["range"] == "[-1, 1]"
    assert described["measures"][0]["better"] == "higher"
    assert "| property | value |" in done(command, "describe", "mcc", "--format", "markdown")
    done(command, "describe", "mcc", "--output", "mcc.csv")
    assert Path("mcc.csv").read_text().splitlines()[0] == "property,value"


def test_a_certificate(command: Any) -> None:
    pytest.importorskip("mpmath")
    found = json.loads(done(command, "certificate", "accuracy", "--cases", "40", "--format", "json"))
    expected = matrics.study.certificate("accuracy", cases=40, rng=0)
    assert {row["property"]: row["holds"] for row in found["rows"]} == {
        name: verdict.holds for name, verdict in expected.verdicts.items()
    }
    assert found["seed"] == 0
    ranges = {row["classes"]: (row["lowest"], row["highest"]) for row in found["ranges"]}
    assert ranges == {n: tuple(map(float, ends)) for n, ends in expected.ranges.items()}


@pytest.mark.exhaustive
def test_the_sources(command: Any) -> None:
    pytest.importorskip("mpmath")
    found = json.loads(done(command, "reproduce", "--source", "001", "--format", "json"))
    assert len(found["rows"]) == sum(found["totals"].values()) > 50
    assert found["totals"]["unexplained"] == 0


def test_infinite_and_undefined_values_are_null_with_a_reason(command: Any) -> None:
    """Also those of options: a threshold that no score reaches."""
    lines = ["y_true,a,b", "1,0.9,0.2", "0,0.3,0.4", "1,0.8,0.7", "0,0.1,0.6"]
    Path("scores.csv").write_text("\n".join(lines) + "\n")
    options = ["--scores", "a,b", "--positive", "1", "--num", "20", "--metrics", "precision"]
    out = done(command, "compare", "scores.csv", *options, "--threshold", "a=inf,b=0.5", "--format", "json")
    found = json.loads(out)
    assert found["thresholds"] == [None, 0.5]
    infinite = {"table": "", "row": 0, "column": "thresholds", "value": "inf", "status": "the value is infinite"}
    assert infinite in found["nulls"]
    for null in found["nulls"]:
        assert null["status"]
        if null["table"]:
            assert found[null["table"]][null["row"]][null["column"]] is None
    nulls = sum(value is None for row in found["rows"] for value in row.values())
    assert nulls == sum(null["table"] == "rows" for null in found["nulls"]) > 0


def test_counts_are_integers(command: Any) -> None:
    _, out, _ = command(*GATE, "--format", "json")
    found = json.loads(out)
    for value in (found["samples"], found["rows"][0]["samples"], *(row["samples"] for row in found["errors"])):
        assert type(value) is int
    needed = found["rows"][0]["needed"]
    assert needed is None or type(needed) is int
    assert not math.isnan(found["rows"][0]["estimate"])
