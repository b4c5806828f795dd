"""Labels are counted on from where a run was stopped, to the same bytes; and it is said how far that is."""

import gzip
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from commands import content as contents
from commands import folder, whole

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
FileLock = pytest.importorskip("filelock").FileLock

from matrics._cli import progress  # noqa: E402
from matrics._files import count, text  # noqa: E402
from matrics._files import rows as batches  # noqa: E402
from matrics._files.counts import Counts  # noqa: E402
from matrics._files.names import Names  # noqa: E402
from matrics._files.notices import Stopped  # noqa: E402
from matrics._files.outputs.sealed import named, seal, sealed, stem_of  # noqa: E402

RANDOM = np.random.default_rng(0)
ROWS, BATCH = 2400, 100
BY = ("--by", "model,fold")
COMMANDS = {
    "count": ("count", "x.parquet", *BY, "--output", "o.parquet"),
    "score": ("score", "x.parquet", *BY, "--metrics", "mcc,recall:class", "--output", "o.parquet"),
}
OTHERS = {
    "interval": ("interval", "x.parquet", *BY, "--metrics", "mcc", "--num", "9", "--seed", "1", "--output", "o.csv"),
    "weights": ("count", "x.parquet", "--by", "fold", "--counts", "w", "--output", "o.parquet"),
    "text": ("score", "x.csv", *BY, "--metrics", "mcc", "--output", "o.parquet"),
    "gzip": ("count", "x.csv.gz", *BY, "--output", "o.parquet"),
    "a pattern and a file": ("count", "d/*", "x.parquet", *BY, "--output", "o.parquet"),
    "merge": ("merge", "a.parquet", "b.parquet", "--output", "o.parquet"),
}


@pytest.fixture(autouse=True)
def _table(tmp_path):
    true = RANDOM.integers(0, 5, ROWS)
    columns = {
        "y_true": true,
        "y_pred": np.where(RANDOM.random(ROWS) < 0.6, true, RANDOM.integers(0, 5, ROWS)),
        "model": pa.array([f"model {k}" for k in RANDOM.integers(0, 7, ROWS)]),
        "fold": RANDOM.integers(0, 5, ROWS),
        "w": RANDOM.random(ROWS),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=700)


@pytest.fixture
def others(tmp_path, command):
    """The same rows in other files."""
    table = pq.read_table(tmp_path / "x.parquet")
    pa.csv = pytest.importorskip("pyarrow.csv")
    pa.csv.write_csv(table, tmp_path / "x.csv")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress((tmp_path / "x.csv").read_bytes()))
    (tmp_path / "d").mkdir()
    for k, rows in enumerate((table.slice(0, 950), table.slice(950))):
        pq.write_table(rows, tmp_path / "d" / f"{k}.parquet")
    for name, part in (("a.parquet", "d/0.parquet"), ("b.parquet", "d/1.parquet")):
        assert command("count", part, *BY, "--output", name)[0] == 0


@pytest.fixture
def stop(monkeypatch):
    """Count few rows at a time, save after each of them, and stop before some row; 0 for not at all."""
    monkeypatch.setattr(batches, "BATCH_ROWS", BATCH)
    monkeypatch.setattr(text, "BLOCK_BYTES", 40 * BATCH)
    monkeypatch.setattr(count, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(count, "SAVING", float("inf"))
    monkeypatch.setattr("os.fsync", lambda _: None)
    add, counted = Counts.add, []

    def arrange(row, error=KeyboardInterrupt):
        counted.clear()

        def add_some(self, batch):
            if row and self.rows >= row:
                raise error
            counted.append(len(batch.table))
            add(self, batch)

        monkeypatch.setattr(Counts, "add", add_some)
        return counted

    return arrange


# Stopped in this process ----------------------------------------------------------------------------------------------

ENDS = {
    "Ctrl-C": (KeyboardInterrupt, 130, "o.parquet: stopped; --resume continues from row 1,300"),
    "SIGTERM": (Stopped(143), 143, "o.parquet: stopped; --resume continues from row 1,300"),
    "memory": (MemoryError("of all things"), 2, "of all things; --resume continues from row 1,300"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("end", ENDS)
def test_what_is_counted_is_kept(command, stop, end):
    error, expected, message = ENDS[end]
    arguments = COMMANDS["count"]
    made, shown = whole(command, *arguments)
    stop(1300, error)
    code, out, err = command(*arguments)
    assert (code, out, len(err.splitlines())) == (expected, "", 1)
    assert err.endswith(f"{message}\n")
    assert not Path("o.parquet").exists()
    counted = stop(0)
    code, out, err = command(*arguments, "--resume")
    assert (code, out) == (0, shown)
    assert err == "matrics: o.parquet: 1,300 rows were counted before; the run continues from there\n"
    assert sum(counted) == ROWS - 1300
    assert contents("o.parquet") == made
    assert sorted(path.name for path in Path().iterdir()) == ["o.parquet", "x.parquet"]


def test_a_disk_that_is_full_when_the_count_is_saved(command, stop, monkeypatch):
    arguments = COMMANDS["score"]
    made, shown = whole(command, *arguments)

    def save(folder, stem, write, suffix=""):
        if stem == "counted-1400":
            raise OSError(28, "No space left on device", stem)
        return seal(folder, stem, write, suffix)

    stop(0)
    with monkeypatch.context() as patch:
        patch.setattr("matrics._files.outputs.unfinished.seal", save)
        code, out, err = command(*arguments)
    message = "matrics: o.parquet: No space left on device; --resume continues from row 1,300\n"
    assert (code, out, err) == (2, "", message)
    code, out, _ = command(*arguments, "--resume")
    assert (code, out) == (0, shown)
    assert contents("o.parquet") == made


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [*list(COMMANDS)[1:], *OTHERS])
@pytest.mark.exhaustive(name=["weights", "gzip"])
@pytest.mark.usefixtures("others")
def test_the_same_bytes_after_many_stops(command, stop, name):
    arguments = {**COMMANDS, **OTHERS}[name]
    made, shown = whole(command, *arguments)
    batch = 10 if name == "merge" else BATCH
    for stops in (3, 11):
        stop(stops * batch)
        assert command(*arguments, "--resume")[0] == 130
        assert sealed(folder(), "counted-[0-9]+")
    counted = stop(0)
    code, out, err = command(*arguments, "--resume")
    assert (code, out, "rows were counted before" in err) == (0, shown, True)
    assert contents(arguments[-1]) == made
    assert sum(counted) > 0


def test_a_run_that_is_stopped_before_anything_is_saved_leaves_nothing(command, stop):
    stop(1)
    assert command(*COMMANDS["score"], "--resume")[0] == 130
    assert folder()
    stop(0)
    assert command(*COMMANDS["score"])[0] == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count, "SAVE_EVERY", 1e9)
        stop(1300)
        assert command(*COMMANDS["count"]) == (130, "", "")
    assert sorted(path.name for path in Path().iterdir()) == ["o.parquet", "x.parquet"]


def test_saving_takes_a_small_part_of_the_time(monkeypatch):
    """The clock is one of this test: saving takes 3 s."""
    clock, saved = [0.0], []
    monkeypatch.setattr(count.time, "monotonic", lambda: clock[0])

    class Work:
        can_be_repeated, rows = True, 0

        def save_counted(self, rows, write):
            assert (rows, write.__name__) == (0, "save")
            saved.append(clock[0])
            clock[0] += 3

    keeper = count.Keeper(Work())
    while clock[0] < 200:
        clock[0] += 1
        keeper.save(Counts(Names()))
    assert saved == [1, 64, 127, 190]


# What does not go on --------------------------------------------------------------------------------------------------


def flip(path):
    """Change the content, and neither the size nor the time."""
    status = path.stat()
    changed = bytearray(path.read_bytes())
    changed[len(changed) // 2] ^= 1
    path.write_bytes(changed)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "change", "expected"),
    [
        (["--by", "w"], None, "--by is model,fold w, and it was model,fold"),
        (["--pred", "fold"], None, "--pred is fold, and it was y_pred"),
        ([], flip, "x.parquet has changed since (its content)"),
        ([], lambda path: path.write_bytes(b"PAR1"), "x.parquet has changed since (its size)"),
    ],
    ids=["groups", "labels", "content", "size"],
)
def test_another_question_is_refused(command, stop, options, change, expected):
    stop(1000)
    arguments = COMMANDS["score"]
    assert command(*arguments)[0] == 130
    if change is not None:
        change(Path("x.parquet"))
    stop(0)
    code, out, err = command(*arguments, *options, "--resume")
    assert (code, out) == (2, "")
    assert err == f"matrics: --resume: {expected}; without --resume the run starts again from the beginning\n"
    assert [stem_of(path) for path in sealed(folder(), "counted-[0-9]+")] == ["counted-1000"]


def test_an_input_that_changes_while_it_is_counted(command, stop, monkeypatch):
    stop(0)
    add = Counts.add

    def add_and_touch(self, batch):
        os.utime("x.parquet", ns=(1, 1))
        add(self, batch)

    monkeypatch.setattr(Counts, "add", add_and_touch)
    code, _, err = command(*COMMANDS["count"])
    assert (code, err) == (
        2,
        "matrics: x.parquet: expected a file that does not change, got one that changed while it was read\n",
    )
    assert [path.name for path in Path().iterdir()] == ["x.parquet"]


@pytest.mark.exhaustive
def test_two_runs_on_one_output(command, stop):
    arguments = COMMANDS["count"]
    made, _ = whole(command, *arguments)
    stop(1000)
    assert command(*arguments)[0] == 130
    stop(0)
    with FileLock(folder() / "lock"):
        for options in ([], ["--resume"]):
            assert command(*arguments, *options) == (2, "", "matrics: o.parquet: another run is writing this output\n")
    code, _, err = command(*arguments)
    said = "the count of 1,000 rows by an earlier run is discarded; --resume would have continued it"
    assert (code, err) == (0, f"matrics: o.parquet: {said}\n")
    assert contents("o.parquet") == made


def test_an_error_in_the_input_leaves_nothing(command, stop):
    table = pq.read_table("x.parquet")
    spoilt = pa.array([None if k == 1500 else k % 2 for k in range(ROWS)])
    pq.write_table(table.set_column(0, "y_true", spoilt), "x.parquet")
    stop(0)
    code, _, err = command(*COMMANDS["score"])
    assert (code, "got 1 missing, the first in row 1501 of the data" in err) == (2, True)
    assert [path.name for path in Path().iterdir()] == ["x.parquet"]


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="named pipes of Unix")
def test_pipes_are_counted_once_and_not_resumed(command, stop, others):  # noqa: ARG001
    """Nothing reads a pipe before its rows are counted, or they would be gone."""
    expected, shown = whole(command, *OTHERS["text"])
    content = Path("x.csv").read_bytes()
    os.mkfifo("pipe.csv")
    arguments = ["pipe.csv" if word == "x.csv" else word for word in OTHERS["text"]]
    stop(0)
    for name in ("count", "score"):
        code, _, err = command(name, "pipe.csv", "--output", "o.parquet", "--resume")
        assert (code, err) == (
            2,
            "matrics: --resume: expected a file that can be read again, got the pipe 'pipe.csv'\n",
        )
    thread = threading.Thread(target=Path("pipe.csv").write_bytes, args=(content,))
    thread.start()
    code, out, err = command(*arguments)
    thread.join()
    assert (code, err, out) == (0, "", shown.replace("x.csv", "pipe.csv"))
    assert contents("o.parquet") == expected


# Damage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [2, pytest.param(8, marks=pytest.mark.exhaustive)])
def test_a_damaged_count_is_not_believed(command, stop, times):
    arguments = COMMANDS["count"]
    made, _ = whole(command, *arguments)
    for place in np.linspace(0.1, 0.9, times):
        for damage in ("flip", "cut"):
            stop(300)
            command(*arguments)
            (path,) = named(folder(), "counted-[0-9]+")
            content = bytearray(path.read_bytes())
            at = int(place * (len(content) - 1))
            content[at] ^= 1 << RANDOM.integers(8)
            path.write_bytes(content if damage == "flip" else content[:at])
            counted = stop(0)
            code, _, err = command(*arguments, "--resume")
            said = "there is nothing to resume; the run starts from the beginning"
            assert (code, err) == (0, f"matrics: o.parquet: {said}\n")
            assert sum(counted) == ROWS
            assert contents("o.parquet") == made


def test_files_that_are_sealed(tmp_path):
    assert sealed(tmp_path, "x") == sealed(tmp_path / "none", "x") == []
    with pytest.raises(OSError, match="full"):
        seal(tmp_path, "x", lambda _: (_ for _ in ()).throw(OSError("full")))
    assert sealed(tmp_path, "x") == []
    content = b"x" * 3_000_000
    path = seal(tmp_path, "x-7", lambda file: file.write(content), ".bin")
    assert (stem_of(path), path.suffix, path.read_bytes()) == ("x-7", ".bin", content)
    assert sealed(tmp_path, "x-[0-9]+") == [path]
    assert sealed(tmp_path, "x") == []
    for wrong in (b"", content[:10], content[:-1], content + b"x", content[:-30] + b"y" + content[-29:]):
        path.write_bytes(wrong)
        assert sealed(tmp_path, "x-7") == []
        assert named(tmp_path, "x-7") == [path]


# Progress -------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("score", "x.parquet", "--metrics", "mcc"), r"\d+ %: [\d,]+ of 2,400 rows counted, .* rows/s, .* left"),
        (("interval", "x.parquet", "--method", "delta"), r"\d+ %: [\d,]+ of 2,400 rows counted, .* rows/s, .* left"),
        (("count", "x.csv", "--output", "o.parquet"), r"\d+ %: [\d,]+ rows counted, .* rows/s, .* MB/s, .* left"),
        (("count", "x.csv.gz", "--output", "o.parquet"), r"\d+ %: [\d,]+ rows counted, .* rows/s, .* MB/s, .* left"),
        (
            ("merge", "a.parquet", "b.parquet", "--output", "o.parquet"),
            r"\d+ %: [\d,]+ of [\d,]+ rows counted, .* rows/s.*",
        ),
    ],
)
@pytest.mark.usefixtures("others")
def test_lines_while_labels_are_counted(command, stop, monkeypatch, arguments, expected):
    stop(0)
    add, seen, told = Counts.add, threading.Event(), []

    def say(line):
        told.append(line)
        seen.set()

    def add_and_wait(self, batch):
        seen.clear()
        add(self, batch)
        if self.rows < ROWS:
            assert seen.wait(10)

    assert command(*arguments)[2] == ""
    monkeypatch.setattr(batches, "BATCH_ROWS", ROWS // 3)
    monkeypatch.setattr(text, "BLOCK_BYTES", 40 * ROWS // 3)
    monkeypatch.setattr(progress, "LINE_EVERY", 0.001)
    monkeypatch.setattr(progress, "say", say)
    monkeypatch.setattr(Counts, "add", add_and_wait)
    assert command(*arguments, "--progress")[0] == 0
    counted = [line for line in told if "rows counted" in line]
    assert re.fullmatch(expected, counted[-1]), counted[-1]


def test_a_bar_is_on_a_terminal_alone(command, stop, monkeypatch):
    stop(0)
    add = Counts.add

    def add_slowly(self, batch):
        time.sleep(0.005)
        add(self, batch)

    monkeypatch.setattr(Counts, "add", add_slowly)
    monkeypatch.setattr(progress, "SHOW_AFTER", 0.0)
    monkeypatch.setattr(progress, "REFRESH", 0.001)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, _, err = command(*COMMANDS["count"])
    assert code == 0
    assert "of 2,400 rows counted" in err


def test_words_of_counting():
    class Rows:
        count, size = None, 4_000_000

    made = progress.RowProgress(Rows(), 1_000_000)
    made.rows, made.read = 3_000_000, 1_000_000.0
    made.begin = progress.time.monotonic() - 10
    words = made.words()
    assert words.startswith("3,000,000 rows counted, ")
    assert words.endswith(" rows/s, 0 MB/s, 45 s left")
    assert made.percent == 25
    Rows.size, Rows.count = 0, 12_000_000
    known = progress.RowProgress(Rows(), 0, begin=made.begin)
    assert (known.percent, known.words()) == (0, "0 of 12,000,000 rows counted, 0 rows/s")
    Rows.count = None
    assert progress.RowProgress(Rows(), 5).percent is None


# Killed ---------------------------------------------------------------------------------------------------------------

# A process that has imported everything forks one for each run: small batches, each of which takes a while.
SERVER = f"""
import contextlib, io, os, sys, time
from matrics._cli import app, main
from matrics._files import rows as batches, count
from matrics._files.counts import Counts
batches.BATCH_ROWS = {BATCH // 2}
count.SAVE_EVERY, count.SAVING = 0.0, float("inf")
add = Counts.add
def slowly(*given):
    time.sleep(0.015)
    add(*given)
Counts.add = slowly
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    sys.argv = ["matrics", "metrics", "core"]  # what the first command imports is there for all
    main()
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        folder, *arguments = line.rstrip("\\n").split("\\t")
        os.chdir(folder)
        os.dup2(os.open("err", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        sys.argv = ["matrics", *arguments]
        main()
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def server():
    if sys.platform == "win32":
        pytest.skip("processes of Unix")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SERVER], text=True, **pipes) as process:
        yield process


@pytest.fixture
def start(server, tmp_path):
    """Start a run in a process of its own: its ID, and a function that waits for its exit code."""

    def run(*arguments):
        server.stdin.write("\t".join([str(tmp_path), *arguments]) + "\n")
        server.stdin.flush()
        return int(server.stdout.readline()), lambda: int(server.stdout.readline())

    return run


def rows_counted():
    """How many rows an unfinished run has counted and saved."""
    found = [path for one in Path().glob(".matrics-*.unfinished") for path in sealed(one, "counted-[0-9]+")]
    return max((int(stem_of(path).partition("-")[2]) for path in found), default=0)


def wait_for(rows):
    """Wait until so many rows are counted, and that is saved."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if rows_counted() >= rows:
            return
        time.sleep(0.005)
    raise AssertionError("expected more rows within a minute")


@pytest.mark.parametrize("moments", [2, pytest.param(10, marks=pytest.mark.exhaustive)])
def test_killed_at_random_moments(command, start, moments):
    """Nothing can be done about SIGKILL: what is there has to do."""
    chance = random.Random(0)  # noqa: S311
    for arguments in COMMANDS.values():
        made, shown = whole(command, *arguments)
        saved = 0
        for number in range(moments):
            pid, code = start(*arguments, *(["--resume"] if number else []))
            wait_for(saved + chance.randint(1, ROWS // BATCH // 2 // moments) * BATCH)
            time.sleep(chance.random() * 0.01)
            os.kill(pid, signal.SIGKILL)
            assert code() == -signal.SIGKILL
            assert not Path(arguments[-1]).exists()
            saved = rows_counted()
        code, out, err = command(*arguments, "--resume")
        assert (code, out, "rows were counted before; the run continues from there" in err) == (0, shown, True)
        assert contents(arguments[-1]) == made
        assert Path("err").read_text().count("\n") == moments - 1
        Path("err").unlink()
        Path(arguments[-1]).unlink()


@pytest.mark.parametrize(
    ("number", "expected"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.exhaustive)],
)
def test_stopped_by_a_signal(command, start, number, expected):
    arguments = COMMANDS["score"]
    made, shown = whole(command, *arguments)
    pid, code = start(*arguments)
    wait_for(500)
    os.kill(pid, number)
    assert code() == expected
    (line,) = Path("err").read_text().splitlines()
    rows = rows_counted()
    assert line == f"matrics: o.parquet: stopped; --resume continues from row {rows:,}"
    code, out, err = command(*arguments, "--resume")
    assert (code, out, "rows were counted before" in err) == (0, shown, True)
    assert contents("o.parquet") == made
