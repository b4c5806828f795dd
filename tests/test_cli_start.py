"""How the command line starts: what it imports, how it handles Ctrl-C, and what it does without pandas."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("typer")

import pyarrow.parquet as pq  # noqa: E402

from matrics._cli import threshold  # noqa: E402
from matrics._files.keys import text_of  # noqa: E402
from matrics._study.certificates import CASES  # noqa: E402
from matrics._study.sources.experiment import NUM  # noqa: E402

WITHOUT_PANDAS = """
import sys
class Nowhere:
    def find_spec(self, name, *_):
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Nowhere())
from _matrics_command import main
main()
"""
SWEEP = Path(__file__).parents[1] / "examples" / "digits_sweep.parquet"
TIMES = [0, 1, -1, 1000, 10**9, -(10**9), 86_400 * 10**9, 1_600_000_000_123_456_789, -(2**61) - 1]


def started(*arguments: str) -> tuple[str, set[str]]:
    """What a command prints, and the modules that it imports."""
    command = [sys.executable, "-X", "importtime", "-m", "matrics", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, set(re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("program", ["script.py", "/usr/bin/matrics", "-c"])
def test_the_import_changes_nothing_of_the_process(program: str) -> None:
    """Whatever the program is called."""
    code = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
sys.argv = [{program!r}]
finders = list(sys.meta_path)
import matrics, matrics.evals, matrics._files.inputs
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert sys.meta_path == finders
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_begins_before_the_library() -> None:
    """Its module imports nothing that takes time; then Ctrl-C ends the process, and during a run it raises again."""
    code = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import _matrics_command
assert not {"numpy", "matrics"} & sys.modules.keys()
seen = []
class Watch:
    def find_spec(self, name, *_):
        if name == "matrics":
            seen.append(signal.getsignal(signal.SIGINT))
sys.meta_path.insert(0, Watch())
import typer
sys.argv = ["matrics", "metrics", "core"]
try:
    _matrics_command.main()
finally:
    assert seen == [signal.SIG_DFL], seen
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_help_imports_nothing_for_files() -> None:
    shown, modules = started("--help")
    assert "Score every confusion matrix of a file." in shown
    assert {"matrics._cli.app", "typer"} <= modules
    assert not {"pyarrow", "pandas", "matrics._files.inputs", "matrics._cli.run", "matrics.study"} & modules


@pytest.mark.exhaustive
def test_score_imports_nothing_for_other_commands() -> None:
    shown, modules = started("score", SWEEP, "--by", "model")
    assert shown.startswith(f"{SWEEP}: 8 matrices of 10 classes, 71,880 samples")
    assert {"pyarrow", "matrics._cli.run"} <= modules
    others = ("matrics._uncertainty", "matrics.ranking", "matrics.plot", "matrics.study", "scipy")
    assert not {name for name in modules if name.startswith(others)}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("command", "default"),
    [("reproduce", NUM), ("certificate", CASES), ("threshold", threshold.NUM)],
)
def test_help_shows_the_defaults_of_the_library(command: str, default: int) -> None:
    """As text, since what has them is not imported for help."""
    shown, _ = started(command, "--help")
    assert f"[default: ({default})]" in " ".join(shown.replace("│", " ").split())


@pytest.mark.parametrize("kind", ["duration", "timestamp", "Europe/Berlin", "UTC", "-03:30"])
def test_times_in_nanoseconds_read_as_with_pandas(kind: str) -> None:
    pytest.importorskip("pandas")
    zone = None if kind == "timestamp" else kind
    values = pa.array(TIMES, pa.int64()).cast(pa.duration("ns") if kind == "duration" else pa.timestamp("ns", zone))
    assert [text_of(value) for value in values] == [str(value.as_py()) for value in values]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("kind", "first"), [("m8[ns]", "0 days 00:00:00.000000001"), ("M8[ns]", "1970-01-01 00:00:00.000000001")]
)
@pytest.mark.parametrize("command", ["score", pytest.param("compare", marks=pytest.mark.exhaustive(kind=["M8[ns]"]))])
def test_groups_by_nanoseconds_need_no_pandas(tmp_path: Path, kind: str, first: str, command: str) -> None:
    """Python itself has no type for them."""
    times = np.repeat([1, 1_600_000_000_123_456_789], 10).astype(kind)
    table = pa.table({"run": times, "y_true": [0, 1] * 10, "y_pred": [0, 1, 1, 1] * 5})
    pq.write_table(table, tmp_path / "runs.parquet")
    run = [
        sys.executable,
        "-c",
        WITHOUT_PANDAS,
        command,
        tmp_path / "runs.parquet",
        "--by",
        "run",
        "--metrics",
        "accuracy",
    ]
    assert first in subprocess.run(run, capture_output=True, text=True, check=True).stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["", "score", "interval", "compare", "count", "curve", "threshold", "reproduce"])
def test_a_flag_shows_no_type(command, name):
    code, out, err = command(*([name] if name else []), "--help")
    assert (code, err) == (0, "")
    assert "--help" in out
    assert "<bool>" not in out
    assert "BOOLEAN" not in out
    assert "Usage: matrics" in out


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32" or not Path("/bin/bash").exists(), reason="needs bash")
def test_completion_is_installed_and_completes(tmp_path):
    """A new shell that reads the user's .bashrc completes commands and options."""
    program = tmp_path / "bin" / "matrics"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m matrics "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}"}

    def bash(script: str) -> str:
        done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "bash completion installed" in bash("matrics --install-completion; exit $?")
    for words, wanted in {"matrics sc": "score", "matrics score --zero-d": "--zero-division"}.items():
        count = len(words.split()) - 1
        script = (
            f'. ~/.bashrc; COMP_WORDS=({words}); COMP_CWORD={count}; _matrics_completion matrics; echo "$COMPREPLY"'
        )
        assert bash(script).strip() == wanted


def test_the_help_of_all_commands_is_that_of_each():
    """The list has their first lines, as none of them is imported for it."""
    from matrics._cli.app import COMMANDS, command_of

    lines = {name: (command_of(name).help or "").strip().splitlines()[0] for name in COMMANDS}
    assert lines == {name: line for name, (_, _, line) in COMMANDS.items()}
    assert command_of("nosuch") is None
