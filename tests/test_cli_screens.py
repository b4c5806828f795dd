"""What each command shows on terminals of 80 and 120 columns, compared with files that were read once.

``MATRICS_REDRAW=1 python -m pytest tests/test_cli_screens.py`` writes the files anew: read them.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[1]
SCREENS = Path(__file__).parent / "data" / "screens"
CANCER = "breast_cancer_scores.parquet --scores score --positive malignant --by model"
LINES = {
    "score": "score digits_sweep.parquet --by model --metrics mcc,accuracy,f1:macro,precision:macro,recall:macro",
    "score_summary": "score digits_sweep.parquet --by model,repeat,fold --metrics mcc,accuracy,cohen_kappa",
    "disparity": "score judged_tickets.csv --true judge --pred routed --by people --missing drop --disparity",
    "interval": "interval digits_sweep.parquet --by model --metrics mcc,accuracy",
    "compare": "compare digits_sweep.parquet --by model --paired-on sample --metrics mcc --num 100",
    "compare_scores": f"compare {CANCER} --paired-on sample --num 100 --metrics f1",
    "compare_logs": "compare ../tests/data/evals/a.eval ../tests/data/evals/b.eval",
    "gate": "gate case_control.csv --positive ill --require 'recall >= 0.6, mcc >= 0.9, precision >= 0.8'",
    "count": "count case_control.csv",
    "curve": f"curve {CANCER} --metrics precision,recall,mcc --thresholds 0.25,0.5",
    "threshold": f"threshold {CANCER} --metric recall --subject-to 'precision >= 0.9' --num 50",
    "diagnostic": "diagnostic case_control.csv --positive ill --prevalence 0.02",
    "diagnostic_prevalences": "diagnostic case_control.csv --positive ill --prevalence 0.01,0.08",
    "metrics": "metrics odds",
    "describe": "describe mcc",
    "certificate": "certificate f1:binary --cases 200",
    "reproduce": "reproduce --source 001",
    "error": "compare digits_sweep.parquet --by model --metrics mmc",
}


@pytest.mark.parametrize("name", LINES)
def test_screens(command: Any, monkeypatch: Any, name: str) -> None:
    monkeypatch.chdir(ROOT / "examples")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    parts = []
    for width in (80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        code, out, err = command(*shlex.split(LINES[name]))
        text = re.sub(r"\x1b\[[\d;]*m", "", out + err)
        lines = [line.rstrip() for line in text.splitlines()]
        parts.append("\n".join([f"{width} columns, exit code {code}", *lines]))
    shown = "\n\n".join(parts) + "\n"
    file = SCREENS / f"{name}.txt"
    if os.environ.get("MATRICS_REDRAW"):
        file.write_text(shown, "utf-8")
    assert shown == file.read_text("utf-8")
