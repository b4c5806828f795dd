"""A run that is killed between a batch and its checkpoint, and resumed, ends as a whole one: every metric."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killed_run.py")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
@pytest.mark.exhaustive(library=["torchmetrics", "flax"])
@pytest.mark.parametrize("library", ["torch", "torchmetrics", "flax"])
def test_a_killed_run_goes_on(library: str, tmp_path: Path) -> None:
    for needed in [library, "orbax.checkpoint"] if library == "flax" else [library]:
        pytest.importorskip(needed)
    whole, resumed = (tmp_path / name for name in ("whole", "resumed"))
    for folder in (whole, resumed):
        folder.mkdir()
    assert run(library, resumed, 3).returncode == -signal.SIGKILL
    for folder in (resumed, whole):
        result = run(library, folder)
        assert result.returncode == 0, result.stderr
    (done, found), (_, wanted) = (pickle.loads((folder / "values").read_bytes()) for folder in (resumed, whole))
    assert done == 2
    assert len(wanted) > 10
    assert found == wanted
    assert all(value == value for values in wanted.values() for value in values.values())
