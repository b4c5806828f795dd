"""Options that have no effect are errors: all pairs of options of each command, on a tiny file.

A pair is refused with one line, or changes the output of each of the two alone.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

RANDOM = np.random.default_rng(11)
SIZE = 48
COLUMNS: dict[str, Any] = {
    "model": np.repeat(["a", "b"], SIZE // 2),
    "sample": np.tile(np.arange(SIZE // 2), 2),
    "site": np.tile(["x", "y", "z"], SIZE // 3),
    "patient": np.tile(np.arange(SIZE // 6), 6),
    "w": RANDOM.integers(1, 9, SIZE) / 4,
    "n": RANDOM.integers(1, 9, SIZE),
}
for prefix in ("", "other_"):
    true = np.tile(RANDOM.random(SIZE // 2) < 0.4, 2)  # the same for both models
    score = np.clip(0.3 + 0.4 * true + RANDOM.normal(size=SIZE) / 4, 0, 1).round(3)
    COLUMNS |= {f"{prefix}y_true": np.where(true, "yes", "no"), f"{prefix}score": score}
    COLUMNS[f"{prefix}y_pred"] = np.where(score > 0.45, "yes", "no")

SCORES = ("--scores", "score", "--positive", "yes")
COMMANDS: dict[str, tuple[str, ...]] = {
    "score": (),
    "interval": (),
    "compare": ("--by", "model", "--metrics", "recall"),
    "gate": ("--require", "f1 >= 0.99, f1 >= 0.8, recall >= 0.75"),
    "count": (),
    "curve": SCORES,
    "threshold": (*SCORES, "--metric", "f1", "--num", "0", "--subject-to", "predicted_positives<=30"),
    "diagnostic": ("--positive", "yes"),
}
# A value of each option, another than its default and than that above.
VALUES = {
    "true": "other_y_true",
    "pred": "other_y_pred",
    "scores": "other_score",
    "by": "site",
    "positive": "no",
    "rows": "pred",
    "counts": "n",
    "cells": "n,n,n,n",
    "weight": "w",
    "clusters": "patient",
    "paired-on": "sample",
    "threshold": "0.4",
    "thresholds": "0.3,0.6",
    "table": "areas",
    "prevalence": "0.2",
    "separator": ";",
    "average": "weighted",
    "metrics": "precision,mcc",
    "metric": "mcc",
    "subject-to": "predicted_positives<=9",
    "budget-over": "all",
    "cost-false-negative": "2",
    "cost-false-positive": "3",
    "level": "0.8",
    "method": "delta",
    "scheme": "rows",
    "num": "25",
    "seed": "3",
    "disparity": None,
    "judge": "other_y_pred",
    "human": "other_y_true",
    "require": "recall >= 0.9",
    "baseline": "old.csv",
    "margin": "0.02",
    "reference": "site=x",
    "correction": "none",
    "format": "csv",
    "lower-is-positive": None,
    "sort": "mcc",
}
# Values of single commands.
OF_COMMANDS = {
    "compare": {"by": "site", "metrics": "f1"},
    "diagnostic": {"method": "jeffreys"},
    "threshold": {"num": "20"},
}
# The output has no trace of them, or they only matter for files that are not as this one.
WITHOUT_TRACE = {
    "help": "prints the help",
    "workers": "changes no result",
    "progress": "writes to stderr",
    "backend": "changes no result",
    "plugin": "adds measures",
    "output": "writes the same elsewhere",
    "github": "writes the same elsewhere",
    "on-invalid": "is about invalid matrices",
    "zero-division": "is about undefined measures",
    "on-undecided": "is about undecided requirements",
    "missing": "is about rows without a label",
    "labels": "is about measures of ordered classes",
    "encoding": "is about letters beyond ASCII",
    "na": "is about texts for missing values",
    "text-labels": "is about labels that look like numbers",
    "missing-score": "is about evaluation logs",
    "scorer": "is about evaluation logs",
    "decimal": "is about numbers with a comma",
    "sheet": "is about workbooks",
    "header": "is about workbooks",
}


def options_of(command: str) -> list[str]:
    """The names of the options of a command, without dashes."""
    from matrics._cli.app import command_of

    parameters = [parameter for parameter in command_of(command).params if parameter.opts[0].startswith("--")]
    return [parameter.opts[0].removeprefix("--") for parameter in parameters]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_tried(name: str) -> None:
    unknown = set(options_of(name)) - set(VALUES) - set(WITHOUT_TRACE)
    assert not unknown, "add a value to VALUES, or a reason to WITHOUT_TRACE"


# Whose value is the default with the other option.
DEFAULTS = {("gate", "by", "correction")}


def pairs(name: str) -> list[tuple[str, str]]:
    return list(combinations([option for option in options_of(name) if option in VALUES], 2))


PAIRS = [(name, *pair) for name in COMMANDS for pair in pairs(name) if (name, *pair) not in DEFAULTS]
KEPT: dict[tuple[str, ...], tuple[int, str, str]] = {}  # what a command with one option prints


@pytest.fixture
def tried(command: Any, tmp_path: Path) -> Any:
    rows = zip(*(map(str, values) for values in COLUMNS.values()), strict=True)
    lines = list(map(",".join, [COLUMNS, *rows]))
    (tmp_path / "s.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "old.csv").write_text("\n".join(lines[:30]) + "\n", "utf-8")  # another model

    def run(name: str, *options: str) -> tuple[int, str, str]:
        """The exit code of a command with these options, what it prints, and its warnings and errors."""
        base = list(COMMANDS[name])
        given: list[str] = []
        for option in options:
            if f"--{option}" in base:
                place = base.index(f"--{option}")
                del base[place : place + 2]
            value = OF_COMMANDS.get(name, {}).get(option, VALUES[option])
            given += [f"--{option}"] if value is None else [f"--{option}", value]
        if (name, *options) not in KEPT:
            code, out, err = command(name, "s.csv", *base, *given)
            KEPT[name, *options] = (code, out, err)
        return KEPT[name, *options]

    return run


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "first", "second"), PAIRS)
def test_pairs_of_options(tried: Any, name: str, first: str, second: str) -> None:
    code, out, err = tried(name, first, second)
    if code == 2:
        assert (out, len(err.splitlines())) == ("", 1)
        assert err.startswith("matrics: ")
        assert "internal error" not in err
        return
    for alone in (first, second):
        code, without, _ = tried(name, alone)
        assert code == 2 or without != out, f"--{first} and --{second} print the same as --{alone} alone"
