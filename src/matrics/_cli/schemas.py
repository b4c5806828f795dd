"""``matrics schema``: the JSON Schema of what a command writes with ``--format json``, from the types of its values."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer

from matrics import IntervalStatus
from matrics._cli import options
from matrics._cli.writers import SCHEMA
from matrics._errors import ArgumentError
from matrics._files.outputs.texts import json_text
from matrics._quoting import quoted

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Number = int | float
Label = str | int

# What a value of an option, or of the data, is called in all commands: its type, and its meaning.
FACTS: dict[str, tuple[Any, str]] = {
    "answers": (list[dict[str, Any]], "Of each measure and pair of runs whether the difference is real, in words."),
    "answered": (
        list[dict[str, str | int | float]],
        "Of each run and scorer of an evaluation log, the share of answers with a score, and its limits.",
    ),
    "baseline": (str, "The file of the baseline."),
    "both": (int, "The samples that people and the judge have labelled."),
    "budget_over": (Literal["labelled", "all"], "The rows that bounds on numbers of predictions count."),
    "by": (list[str], "The columns of the groups."),
    "classes": (list[Label], "The labels of all classes in their order."),
    "clusters": (str | None, "The column of the clusters."),
    "cost_false_negative": (float | str, "The cost of a missed positive sample, or its column."),
    "cost_false_positive": (float | str, "The cost of a false alarm, or its column."),
    "counts": (dict[str, Number], "The cells of the 2×2 table."),
    "direction": (Literal["highest", "lowest"], "Which values of the measure are best."),
    "epochs": (list[float], "The mean number of answers to a sample in each run."),
    "exit_code": (Literal[0, 1, 3], "The exit code of the command."),
    "file": (str, "The input."),
    "files": (list[str], "The inputs."),
    "groups": (list[str], "The groups in their order."),
    "human": (str, "The column, or the scorer, of people's labels."),
    "invalid": (int, "The number of invalid matrices."),
    "joint": (list[Any], "The samples by class and by the results of both tests."),
    "judge": (str, "The column, or the scorer, of the judge's labels."),
    "judged": (int, "The samples that the judge has labelled."),
    "labelled": (int, "The samples that people have labelled."),
    "left_out": (int, "The rows that were left out."),
    "level": (float, "The level of the limits."),
    "lower_is_positive": (bool, "Whether low scores are those of the positive class."),
    "matrices": (int, "The number of matrices."),
    "method": (str, "How the limits are formed."),
    "metric": (str, "The measure that the threshold is best for."),
    "models": (list[str], "The names of the models."),
    "number_of_clusters": (int, "The number of clusters."),
    "number_of_curves": (int, "The number of curves."),
    "not_compared": (
        list[dict[str, str | int | float]],
        "The runs without any score of a scorer, with the share of answers with a score, 0, and its limits.",
    ),
    "on_undecided": (Literal["pass", "fail"] | None, "What undecided requirements count as."),
    "only_in_baseline": (int, "The samples that only the baseline has."),
    "only_in_file": (int, "The samples that only the file has."),
    "paired": (int, "The samples that both files have."),
    "paired_on": (str | None, "The column of the samples."),
    "paired_samples": (int | None, "The samples that all models have predicted."),
    "positive": (Label | None, "The positive class."),
    "prevalence": (list[float], "The share of each class in the population that results are for."),
    "reference": (str | None, "The group that the other groups are compared with."),
    "replicates": (int | None, "The number of replicates."),
    "rest": (dict[str, Number], "The samples of each class that counts as negative."),
    "runs": (list[str], "The names of the runs."),
    "samples": (Number, "The number of samples, or of weighted samples the sum of the weights."),
    "scores": (str, "The column of the measured values."),
    "scheme": (str | None, "The sampling scheme."),
    "seed": (int | None, "The seed; null if nothing was drawn."),
    "subject_to": (list[str], "The constraints."),
    "summary": (str, "The measure in a sentence."),
    "tests": (list[str], "The columns of both tests."),
    "threshold": (float, "Samples with a score of at least this number are predicted as positive."),
    "thresholds": (list[float | None], "The threshold of each model, or those at which models are compared."),
    "totals": (dict[str, int], "How many numbers have each verdict."),
    "unanswered": (int, "The samples that neither people nor the judge have labelled."),
    "unit": (str, "What there would have to be more of."),
    "verdict": (Literal["pass", "fail", "undecided"], "The verdict."),
    "weighted": (bool, "Whether samples have weights."),
}
OF_PAIRS = "baseline paired_on paired only_in_file only_in_baseline"
OF_GROUPS = "by groups reference threshold lower_is_positive"
JUDGED = "judge human labelled judged both unanswered"
OF_RUNS = "runs epochs answers not_compared"
OF_CURVES = "file number_of_curves classes positive samples"
# The facts of each command: those of every output, and those of some outputs.
OF_COMMANDS: dict[str, tuple[str, str]] = {
    "score": ("file matrices classes positive samples weighted invalid seed", "prevalence"),
    "interval": (
        "file classes positive samples seed level method",
        f"matrices weighted invalid scheme replicates clusters prevalence answered {JUDGED}",
    ),
    "compare": (
        "positive samples level seed",
        f"file files models classes paired_on paired_samples replicates prevalence thresholds {OF_RUNS} {JUDGED}",
    ),
    "gate": (
        "verdict exit_code file classes positive samples unit weighted level method on_undecided",
        f"{OF_PAIRS} clusters number_of_clusters answered {OF_GROUPS} {JUDGED}",
    ),
    "count": ("file matrices classes positive samples weighted seed", ""),
    "curve": (f"{OF_CURVES} level seed", "rest prevalence left_out lower_is_positive paired_on thresholds"),
    "threshold": (
        f"{OF_CURVES} metric direction subject_to budget_over level replicates seed",
        "rest prevalence left_out lower_is_positive cost_false_negative cost_false_positive",
    ),
    "diagnostic": (
        "file positive level",
        "by rest counts prevalence scores threshold lower_is_positive tests joint",
    ),
    "reproduce": ("totals seed", ""),
    "metrics": ("", ""),
    "describe": ("summary", ""),
    "certificate": ("seed", ""),
}
TABLES = {"score": ["disparity"], "gate": ["errors"], "curve": ["curves"], "certificate": ["ranges"]}
# The columns that rows always have, where these do not depend on the names of groups and measures.
ROWS: dict[str, dict[str, Any]] = {
    "gate": {
        **dict.fromkeys(("requirement", "title", "unit", "status"), str),
        "verdict": Literal["pass", "fail", "undecided"],
        **dict.fromkeys(("estimate", "low", "high", "limit"), float | None),
        "samples": Number,
        "needed": int | None,
    },
    "compare": {"measure": str, **dict.fromkeys(("estimate", "low", "high"), float | None)},
    "metrics": {
        **dict.fromkeys(("name", "family", "range", "summary", "undefined", "source", "aliases"), str),
        "kind": Literal["overall", "per_class"],
        "better": Literal["higher", "lower"] | None,
        "formula": str | None,
    },
    "describe": {"property": str, "value": str},
    "certificate": {
        **dict.fromkeys(("property", "statement", "classes"), str),
        "holds": bool | None,
        "value": float | None,
        "cases": int,
        "witness": str | None,
    },
    "reproduce": {
        **dict.fromkeys(("source", "table", "matrix_name", "measure", "printed", "verdict", "reason"), str),
        **dict.fromkeys(("value", "error"), float | None),
    },
}
CELL = str | int | float | bool | None


def schema(
    command: Annotated[str, options.argument("The name of a command, such as gate.")],
) -> None:
    """Print the JSON Schema of the output of a command with --format json."""
    if command not in OF_COMMANDS:
        raise ArgumentError("command", f"expected one of {', '.join(OF_COMMANDS)}, got {quoted(command)}")
    typer.echo(json_text(schema_of(command)))


def schema_of(command: str) -> dict[str, Any]:
    """The schema of the output of a command."""
    required, others = (names.split() for names in OF_COMMANDS[command])
    measure = {
        **dict.fromkeys(("measure", "name", "spec", "range", "undefined"), str),
        "better": Literal["higher", "lower"] | None,
    }
    null = {"table": str, "row": int, "column": str, "value": Literal["nan", "inf", "-inf", "none"], "status": str}
    words = [status.name.lower() for status in IntervalStatus]
    common = {
        "schema": {"const": SCHEMA},
        "command": {"const": command},
        "version": _typed(str),
        **{name: _typed(FACTS[name][0]) | {"description": FACTS[name][1]} for name in [*required, *others]},
        "measures": {"type": "array", "items": _record(measure, {"columns": list[str]})},
        "columns": _typed(list[str]),
        "rows": {"type": "array", "items": _record(ROWS.get(command, {}), None)},
        "nulls": {"type": "array", "items": _record(null, {})},
        **{name: {"type": "array", "items": _record({}, None)} for name in TABLES.get(command, [])},
        "statuses": {"type": "object", "propertyNames": {"enum": words}, "additionalProperties": _typed(str)},
        "remarks": _typed(list[str]),
        "versions": _typed(dict[str, str]),
    }
    always = [name for name in common if name not in {*others, *TABLES.get(command, [])}]
    return {
        "$schema": DRAFT,
        "title": f"matrics {command} --format json",
        "type": "object",
        "properties": common,
        "required": always,
        "additionalProperties": False,
    }


def _record(required: dict[str, Any], others: dict[str, Any] | None) -> dict[str, Any]:
    """An object with these properties; with ``others`` None it may have any number of further cells."""
    return {
        "type": "object",
        "properties": {name: _typed(hint) for name, hint in {**required, **(others or {})}.items()},
        "required": list(required),
        "additionalProperties": _typed(CELL) if others is None else False,
    }


SIMPLE: dict[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def _typed(hint: Any) -> dict[str, Any]:
    """The schema of the values of a type."""
    if hint in SIMPLE:
        return {"type": SIMPLE[hint]}
    if hint is Any:
        return {}
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, types.UnionType):
        of_parts = [_typed(part) for part in parts]
        kinds = [part["type"] for part in of_parts if list(part) == ["type"]]
        return {"type": kinds} if len(kinds) == len(of_parts) else {"anyOf": of_parts}
    if origin is list:
        return {"type": "array", "items": _typed(parts[0])}
    return {"type": "object", "additionalProperties": _typed(parts[1])}
