"""Runs that were stopped go on to the same bytes, or say why they do not."""

import os
import re
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from commands import content, folder, whole

import matrics

FileLock = pytest.importorskip("filelock").FileLock
pytest.importorskip("typer")
runs = pytest.importorskip("matrics._cli.run")
IntervalRun = pytest.importorskip("matrics._cli.interval").IntervalRun
unfinished = pytest.importorskip("matrics._files.outputs.unfinished")
Stopped = pytest.importorskip("matrics._files.notices").Stopped
questions = pytest.importorskip("matrics._files.outputs.question")
Question, inputs_of = questions.Question, questions.inputs_of

RANDOM = np.random.default_rng(0)
KINDS = ("o.csv", "o.parquet", "parts/")
SCORE = ("score", "s.npy", "--metrics", "accuracy,mcc,recall:class", "--output")
ROWS = 64
BLOCKS = 40


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(runs, "LEAST_ROWS", ROWS)
    monkeypatch.setattr(runs, "BLOCK_CELLS", 1)
    monkeypatch.setattr(runs, "PIECE_BYTES", 8 * 9 * 40)
    monkeypatch.setattr(IntervalRun, "block_cells", 1)
    monkeypatch.setattr(IntervalRun, "least_rows", ROWS)


@pytest.fixture
def stack(tmp_path):
    """Matrices of which some have no samples of a class."""
    stack = RANDOM.integers(0, 4, (ROWS * BLOCKS - 5, 3, 3))
    np.save(tmp_path / "s.npy", stack)
    return stack


@pytest.fixture
def stop(monkeypatch):
    """Make a run stop after some blocks; 0 for as many as there are."""
    seal = unfinished.seal

    def arrange(blocks, error=KeyboardInterrupt):
        left = [blocks or 10**9]

        def seal_some(folder, stem, *given):
            if stem.startswith("part-"):
                if not left[0]:
                    raise error
                left[0] -= 1
            return seal(folder, stem, *given)

        monkeypatch.setattr(unfinished, "seal", seal_some)

    return arrange


ENDS = {
    "Ctrl-C": (KeyboardInterrupt, 130, "stopped; --resume continues from"),
    "SIGTERM": (Stopped(143), 143, "stopped; --resume continues from"),
    "disk full": (OSError(28, "No space left on device"), 2, "; --resume continues from"),
    "memory": (MemoryError("of all things"), 2, "not enough memory: of all things; --resume continues from"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.exhaustive(name=["o.csv", "parts/"], end=["SIGTERM", "disk full", "memory"])
@pytest.mark.usefixtures("stack")
def test_the_same_bytes(command, stop, name, end):
    error, expected, message = ENDS[end]
    made, shown = whole(command, *SCORE, name)
    stop(23, error)
    code, out, err = command(*SCORE, name)
    assert (code, out) == (expected, "")
    assert len(err.splitlines()) == 1
    assert f"{message} 57 %" in err
    assert name.removesuffix("/") in err or end == "memory"
    assert not Path(name).exists()
    stop(0)
    assert command(*SCORE, name, "--resume") == (
        0,
        shown,
        f"matrics: {name.removesuffix('/')}: 57 % was finished before; the run continues from there\n",
    )
    assert content(name) == made
    assert sorted(path.name for path in Path().iterdir()) == sorted([name.removesuffix("/"), "s.npy"])


@pytest.mark.exhaustive(name=["o.csv"])
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.usefixtures("stack")
def test_many_stops(command, stop, name):
    """Also just behind the last block of a file of a directory, and before the first block of a run."""
    made, _ = whole(command, *SCORE, name)
    for blocks in (1, 15, 16, 3, 1):
        stop(blocks)
        assert command(*SCORE, name, "--resume")[0] == 130
    stop(0)
    assert command(*SCORE, name, "--resume")[0] == 0
    assert content(name) == made


@pytest.mark.usefixtures("stack")
def test_a_run_that_stops_before_its_first_block_leaves_nothing(command, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("matrics.score", interrupt)
    assert command(*SCORE, "o.csv") == (130, "", "")
    assert [path.name for path in Path().iterdir()] == ["s.npy"]


@pytest.mark.parametrize("draws", [["--seed", "3"], []], ids=["seed", "no seed"])
@pytest.mark.parametrize("method", ["bootstrap", pytest.param("posterior", marks=pytest.mark.exhaustive)])
def test_intervals_go_on_with_their_draws(command, stop, tmp_path, draws, method):
    np.save(tmp_path / "s.npy", RANDOM.integers(1, 9, (ROWS * 3, 2, 2)))
    arguments = ("interval", "s.npy", "--metrics", "mcc", "--method", method, "--num", "50", *draws)
    stop(2)
    assert command(*arguments, "--output", "o.csv")[0] == 130
    stop(0)
    code, out, _ = command(*arguments, "--output", "o.csv", "--resume")
    assert code == 0
    seed = re.search(r"seed (\d+)", out).group(1)
    resumed = content("o.csv")
    again = command(*arguments[:8], "--seed", seed, "--output", "o.csv")
    assert again == (0, out, "")
    assert content("o.csv") == resumed


@pytest.mark.exhaustive
@pytest.mark.parametrize("on_invalid", ["nan", "skip"])
def test_invalid_matrices_before_and_after_the_stop(command, stop, stack, tmp_path, on_invalid):
    stack[[3, 700, 701, 2000]] = -1
    stack[ROWS * 5 : ROWS * 6] = -1  # a whole block
    np.save(tmp_path / "s.npy", stack)
    arguments = (*SCORE[:-1], "--on-invalid", on_invalid, "--output", "o.parquet")
    made, shown = whole(command, *arguments)
    assert "68 invalid matrices" in shown
    stop(12)
    assert command(*arguments)[0] == 130
    stop(0)
    code, out, _ = command(*arguments, "--resume")
    assert (code, out, content("o.parquet")) == (0, shown, made)


def test_disparity_is_that_of_all_groups(command, stop, tmp_path):
    groups = np.repeat(np.arange(200), 20)
    y_true, y_pred = RANDOM.integers(0, 2, (2, len(groups)))
    rows = "".join(f"{g},{t},{p}\n" for g, t, p in zip(groups, y_true, y_pred, strict=True))
    (tmp_path / "l.csv").write_text("g,y_true,y_pred\n" + rows)
    arguments = ("score", "l.csv", "--by", "g", "--metrics", "accuracy", "--disparity", "--output", "o.csv")
    made, shown = whole(command, *arguments)
    stop(2)
    assert command(*arguments)[0] == 130
    stop(0)
    code, out, _ = command(*arguments, "--resume")
    assert (code, out, content("o.csv")) == (0, shown, made)


# What does not go on --------------------------------------------------------------------------------------------------


def touch(path):
    os.utime(path, ns=(1, 1))


def flip(path):
    """Change the content, and neither the size nor the time."""
    status = path.stat()
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    path.write_bytes(changed)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


CHANGES = {
    "a measure": (["--metrics", "f1"], None, f"--metrics is {SCORE[3]} f1, and it was {SCORE[3]}"),
    "an option": (["--zero-division", "0"], None, "--zero-division is 0, and it was nan"),
    "a new option": (["--rows", "pred"], None, "--rows is pred, and it was not given"),
    "what is invalid": (["--on-invalid", "nan"], None, "--on-invalid is nan, and it was raise"),
    "the content": ([], flip, "s.npy has changed since (its content)"),
    "the time": ([], touch, "s.npy has changed since (the time of its last change)"),
    "the size": ([], lambda path: np.save(path, np.ones((9, 3, 3))), "s.npy has changed since (its size)"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.usefixtures("stack")
def test_another_question_is_refused(command, stop, tmp_path, case):
    options, change, expected = CHANGES[case]
    stop(5)
    assert command(*SCORE, "o.csv")[0] == 130
    left = content(folder() / "data")
    if change is not None:
        change(tmp_path / "s.npy")
    stop(0)
    code, out, err = command(*SCORE, "o.csv", *options, "--resume")
    assert (code, out) == (2, "")
    assert err == f"matrics: --resume: {expected}; without --resume the run starts again from the beginning\n"
    assert content(folder() / "data") == left
    assert command(*SCORE, "o.csv", *options)[0] == 0


@pytest.mark.usefixtures("stack")
def test_another_version_is_refused(command, stop, monkeypatch):
    stop(5)
    assert command(*SCORE, "o.csv")[0] == 130
    old = matrics.__version__
    monkeypatch.setattr("matrics.__version__", "99")
    assert f"this is matrics 99, and it was {old}" in command(*SCORE, "o.csv", "--resume")[2]


@pytest.mark.usefixtures("stack")
def test_workers_and_progress_change_nothing(command, stop):
    made, _ = whole(command, *SCORE, "o.csv")
    stop(5)
    assert command(*SCORE, "o.csv", "--workers", "1")[0] == 130
    stop(0)
    assert command(*SCORE, "o.csv", "--workers", "3", "--progress", "--resume")[0] == 0
    assert content("o.csv") == made


@pytest.mark.usefixtures("stack")
def test_what_is_discarded_and_what_is_not_there_is_said(command, stop):
    made, _ = whole(command, *SCORE, "o.csv")
    stop(20)
    assert command(*SCORE, "o.csv")[0] == 130
    stop(0)
    code, _, err = command(*SCORE, "o.csv")
    assert code == 0
    assert err == "matrics: o.csv: 50 % of an earlier run is discarded; --resume would have continued it\n"
    code, _, err = command(*SCORE, "o.csv", "--resume")
    assert (code, err) == (0, "matrics: o.csv: there is nothing to resume; the run starts from the beginning\n")
    assert content("o.csv") == made


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["s.npy", "--resume"], "--resume: expected --output FILE with it, got none"),
        (["-", "--output", "o.csv", "--resume"], "--resume: expected a file that can be read again"),
        (["s.npy", "--workers", "0"], "--workers: expected a number of threads from 1 to 1024, got 0"),
        (["s.npy", "--workers", "x"], "--workers: expected an integer, got 'x'"),
        (["s.npy", "--on-invalid", "warn"], "--on-invalid: expected raise, nan or skip, got 'warn'"),
    ],
)
@pytest.mark.usefixtures("stack")
def test_wrong_options_are_one_line(command, arguments, expected):
    code, out, err = command("score", *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert expected in err


@pytest.mark.usefixtures("stack")
def test_an_error_in_the_input_leaves_nothing(command, tmp_path, stack):
    stack[-1] = -1
    np.save(tmp_path / "s.npy", stack)
    code, _, err = command(*SCORE, "o.csv")
    assert code == 2
    assert "got -1 in the cell [0, 0] (from 0) of matrix [2554]" in err
    assert [path.name for path in Path().iterdir()] == ["s.npy"]


@pytest.mark.usefixtures("stack")
def test_an_input_that_changes_while_it_is_read(command, tmp_path, monkeypatch):
    finish = unfinished.Output.finish

    def finish_late(self):
        touch(tmp_path / "s.npy")
        finish(self)

    monkeypatch.setattr(unfinished.Output, "finish", finish_late)
    code, out, err = command(*SCORE, "o.csv")
    assert (code, out) == (2, "")
    assert err == "matrics: s.npy: expected a file that does not change, got one that changed while it was read\n"
    assert [path.name for path in Path().iterdir()] == ["s.npy"]


def test_files_of_directories_and_patterns(tmp_path):
    """The names of their folders are data; hidden files are none, as the folder of an unfinished run may be there."""
    for name in ("a=1/x.parquet", "a=2/x.parquet", ".hidden/x.parquet", "_done"):
        file = tmp_path / "data" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("same")
        os.utime(file, ns=(1, 1))
    question = partial(Question, {}, {})
    found = question(inputs_of(tmp_path / "data"))
    assert [one.place for one in found.inputs] == [str(Path("a=1", "x.parquet")), str(Path("a=2", "x.parquet"))]
    assert [one.name for one in inputs_of(tmp_path / "data" / "a=*")] == [one.name for one in found.inputs]
    with pytest.raises(ValueError, match="expected at least one file of such a name"):
        inputs_of(tmp_path / "none*")
    assert Question.of_record(found.record()) == found
    (tmp_path / "data").rename(tmp_path / "moved")
    assert question(inputs_of(tmp_path / "moved")).difference(found) is None
    (tmp_path / "moved" / "a=2").rename(tmp_path / "moved" / "a=3")
    others = question(inputs_of(tmp_path / "moved"))
    assert others.difference(found).startswith("the files to read are others: a=3")
    (tmp_path / "moved" / "y.parquet").write_text("")
    assert question(inputs_of(tmp_path / "moved")).difference(found) == "there are 3 files to read, and there were 2"
    assert found.changed_input() == found.inputs[0].name


# Locks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.usefixtures("stack")
def test_two_runs_on_one_output(command, stop):
    stop(5)
    assert command(*SCORE, "o.csv")[0] == 130
    stop(0)
    left = content(folder() / "data")
    with FileLock(folder() / "lock"):
        for options in ([], ["--resume"]):
            code, out, err = command(*SCORE, "o.csv", *options)
            assert (code, out, err) == (2, "", "matrics: o.csv: another run is writing this output\n")
        assert content(folder() / "data") == left
        assert command(*SCORE, "other.csv")[0] == 0
    assert command(*SCORE, "o.csv", "--resume")[0] == 0


# Damage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.usefixtures("stack")
def test_a_damaged_folder_gives_the_same_bytes(command, stop, tmp_path, name, times):
    """Whatever a power cut has left of the folder, what is not as it was written is made anew."""
    made, _ = whole(command, *SCORE, name)
    stop(23)
    assert command(*SCORE, name)[0] == 130
    stop(0)
    there, kept = folder(), tmp_path.parent / f"{tmp_path.name}-kept"
    there.rename(kept)
    for _ in range(times):
        shutil.copytree(kept, there)
        for file in (path for path in there.rglob("*") if path.is_file() and path.name != "lock"):
            damage(file)
        assert command(*SCORE, name, "--resume")[0] == 0
        assert content(name) == made
        shutil.rmtree(name) if name.endswith("/") else Path(name).unlink()


def damage(file):
    """Nothing, a file cut off, or a flipped bit."""
    size, what = file.stat().st_size, RANDOM.integers(3)
    if what == 1:
        os.truncate(file, RANDOM.integers(size + 1))
    elif what == 2 and size:
        changed = bytearray(file.read_bytes())
        changed[RANDOM.integers(size)] ^= 1 << RANDOM.integers(8)
        file.write_bytes(changed)
