"""The PyTorch examples run, and say what they should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONWARNINGS": "default", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(EXAMPLES / name), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)


@pytest.fixture(autouse=True)
def _libraries(torch: Any) -> None:  # noqa: ARG001 (skips without PyTorch)
    pytest.importorskip("sklearn")


@pytest.mark.exhaustive
def test_a_loop() -> None:
    result = run("torch_loop.py")
    assert result.returncode == 0, result.stderr
    assert sum(map(int, result.stdout.rpartition("dropped):")[2].split())) == 1297


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """Its matrix is that of a run that nobody killed, bit by bit."""
    whole = run("torch_loop.py")
    assert whole.returncode == 0, whole.stderr
    checkpoint = ("--checkpoint", str(tmp_path / "run.pt"))
    killed = run("torch_loop.py", *checkpoint, "--kill-at", "72")
    assert killed.returncode == -signal.SIGKILL
    resumed = run("torch_loop.py", *checkpoint)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.startswith("goes on at step 70, with 448 labels counted")
    _, _, matrix = whole.stdout.rpartition("dropped):")
    assert sum(map(int, matrix.split())) == 1297
    assert resumed.stdout.endswith(matrix)
    assert whole.stdout.splitlines()[-14] in resumed.stdout  # the values of the last epoch


@pytest.mark.exhaustive  # test_distributed.py has processes that sync
def test_two_processes() -> None:
    result = run("torch_ddp.py")
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("500 labels, each once; one process alone counts the same\n")


@pytest.mark.exhaustive  # test_torchmetrics_metric.py has a run of Lightning
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_lightning_run_goes_on(tmp_path: Path) -> None:
    """From the last whole epoch; what its logger has of the last epoch is what that of a whole run has."""
    pytest.importorskip("lightning")
    whole = run("lightning_run.py", "--folder", str(tmp_path / "whole"))
    assert whole.returncode == 0, whole.stderr
    rows = [line.split() for line in whole.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == list("123456")
    assert float(rows[-1][2]) > 0.9  # val/mcc
    assert float(rows[-1][4]) > 0.99  # val/roc_auc
    folder = tmp_path / "killed"
    killed = run("lightning_run.py", "--folder", str(folder), "--kill-at", "90")
    assert killed.returncode == -signal.SIGKILL
    resumed = run("lightning_run.py", "--folder", str(folder))
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.startswith("goes on after epoch 4")
    logged = [path / "metrics.csv" for path in (tmp_path / "whole/log/version_0", folder / "log/version_1")]
    first, second = (path.read_text().splitlines() for path in logged)
    assert first[0] == second[0]
    assert {"val/accuracy", "val/mcc", "val/roc_auc", "val/ece", "val/recall/three"} < set(first[0].split(","))
    assert first[-2:] == second[-2:]
