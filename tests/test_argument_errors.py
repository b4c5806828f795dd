"""Errors name the argument in the library, and its option on the command line."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import matrics
from matrics._errors import ArgumentError
from matrics._uncertainty.options import check_level

SOURCE = Path(matrics.__file__).parent
# Options of other programs, and the properties of style sheets.
FOREIGN = {"_reporting/page.py", "_reporting/dark.py"}


def texts(path: Path) -> Iterator[str]:
    """All texts of a file but docstrings; of formatted ones the parts between the values."""
    tree = ast.parse(path.read_text("utf-8"))
    described = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, described) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@pytest.mark.exhaustive
def test_no_module_below_the_command_line_names_an_option() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] != "_cli" and str(path.relative_to(SOURCE)) not in FOREIGN
        for text in texts(path)
        if re.search(r"(?<!-)--[a-z]", text)
    ]
    assert not wrong


def test_the_parts_of_an_error() -> None:
    with pytest.raises(ValueError, match=r"^level: expected a number between 0 and 1, such as 0.95, got 2$") as caught:
        check_level(2)
    error = caught.value
    assert isinstance(error, ArgumentError)
    assert (error.argument, error.text) == ("level", "expected a number between 0 and 1, such as 0.95, got 2")
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(same), same.argument) == (str(error), "level")


LABELS = "y_true,y_pred\n" + "a,a\nb,b\nc,c\n" * 5
OPTIONS = {
    "an option of several words": (["--zero-division", "x"], "--zero-division: expected a number, got 'x'"),
    "an argument of the library": (
        ["--positive", "d"],
        "--positive: expected one of the classes 'a', 'b', 'c', got 'd'",
    ),
    "an option that the text mentions": (
        ["--weight", "w", "--counts", "n"],
        "--counts: expected no such option with --weight, got 'n'",
    ),
    "an option of the file": (
        ["--labels", "a,b"],
        "l.csv: --labels: expected all labels of the file in their order, got a list without 'c'",
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", OPTIONS)
def test_the_command_line_names_the_option(command, case):
    pytest.importorskip("typer")
    pytest.importorskip("pyarrow")
    Path("l.csv").write_text(LABELS)
    arguments, expected = OPTIONS[case]
    code, _, err = command("score", "l.csv", *arguments)
    assert code == 2
    assert err.startswith(f"matrics: {expected}")
