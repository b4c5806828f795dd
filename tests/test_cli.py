"""The command line, as its users meet it: files in; tables, files and one-line complaints out."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from commands import without_warning

import matrics
from matrics._wording import number

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples" / "digits_sweep.parquet"
CORE = matrics.list_metrics("core")
STACK = np.array([[[8, 2], [1, 9]], [[9, 1], [0, 10]], [[5, 5], [5, 5]]])


def whole(*arguments, **options):
    """Run the command as a process of its own."""
    code = "from matrics._cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def table(path):
    """The rows of an output file, as a dict of columns; undefined values are None."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pydict()
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] or None for row in rows] for name in rows[0]}


def numbers(values):
    return np.array([np.nan if value is None else float(value) for value in values])


# Screens ------------------------------------------------------------------------------------------------------------


def test_groups_of_the_real_example_on_screen(command):
    code, out, err = command("score", DIGITS, "--by", "model")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].endswith("8 matrices of 10 classes, 71,880 samples")
    rows = [line for line in lines if re.search(r"\d\.\d{3}", line)]
    assert [row.split()[0] for row in rows][:2] == ["svm_rbf", "nearest_neighbours"]
    assert rows[-1].startswith("coin_toss")
    assert rows[0].count("*") == 9
    assert not any("*" in row for row in rows[1:])
    assert lines[-1] == "best in 9 of 9 measures: svm_rbf"
    assert not any(line != line.rstrip() for line in lines)


def test_many_groups_are_summarised(command, tmp_path):
    code, out, _ = command("score", DIGITS, "--by", "model,repeat,fold", "--metrics", "mcc,cen,recall:class")
    assert code == 0
    assert "200 matrices" in out
    assert command("score", DIGITS, "--by", "model,repeat,fold", "--metrics", "mcc,cen", "--output", "o.csv")[0] == 0
    written = table(tmp_path / "o.csv")
    for name in ("mcc", "cen"):
        values = numbers(written[name])
        low, high = (
            ", ".join(str(written[key][row]) for key in ("model", "repeat", "fold"))
            for row in (values.argmin(), values.argmax())
        )
        line = next(line for line in out.splitlines() if line.startswith(name))
        assert re.sub(r"[ *]+", " ", line) == (
            f"{name} {values.mean():.3f} {values.std(ddof=1):.3f} "
            + "".join(f"{number(value)} " for value in np.quantile(values, [0.05, 0.5, 0.95]))
            + f"{number(values.min())} {low} {values.max():.3f} {high}"
        )


@pytest.mark.exhaustive
def test_summary_over_several_blocks(command, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    stack = rng.integers(0, 9, (5, 20, 3, 3))
    stack[:, :, 2, :] *= rng.random((5, 20, 1)) < 0.3  # many empty classes: undefined eve
    np.save(tmp_path / "s.npy", stack)
    once = command("score", "s.npy", "--metrics", "all")
    monkeypatch.setattr("matrics._cli.run.PIECE_BYTES", 8 * 9 * 7)
    assert command("score", "s.npy", "--metrics", "all") == once
    eve = matrics.eve(stack)
    line = next(line for line in once[1].splitlines() if line.startswith("eve"))
    assert f"{np.nanmean(eve):.3f}" in line
    assert f"[{', '.join(map(str, np.unravel_index(np.nanargmax(eve), eve.shape)))}]" in line
    assert line.split()[-1] == str(np.isnan(eve).sum())


def test_one_matrix_is_a_list_of_measures(command, tmp_path):
    np.save(tmp_path / "one.npy", [[8, 2], [0, 0]])
    code, out, _ = command("score", "one.npy", "--metrics", "accuracy,eve,cen")
    assert code == 0
    assert re.search(r"^accuracy +0\.800 +\[0, 1\], higher is better$", out, re.MULTILINE)
    assert re.search(r"^eve +–", out, re.MULTILINE)
    assert "– undefined" in out


def test_a_stack_keeps_its_order_and_has_indices(command, tmp_path):
    np.save(tmp_path / "s.npy", STACK)
    code, out, _ = command("score", "s.npy", "--metrics", "mcc,joint_entropy,fpr:class")
    assert code == 0
    rows = [line for line in out.splitlines() if re.match(r"\d ", line)]
    assert [row.split()[0] for row in rows] == ["0", "1", "2"]
    assert rows[1].count("*") == 3  # no direction of entropy, no star
    assert out.splitlines()[-1] == "best in 3 of 3 measures: index_0 1"


def test_no_winner_and_ties(command, tmp_path):
    np.save(tmp_path / "s.npy", [STACK[0], STACK[0]])
    _, out, _ = command("score", "s.npy", "--metrics", "mcc")
    assert "*" not in out
    assert "best" not in out
    np.save(tmp_path / "s.npy", [[[9, 1], [5, 5]], [[5, 5], [1, 9]]])
    _, out, _ = command("score", "s.npy", "--metrics", "recall:class")
    assert out.splitlines()[-1] == "most often best, in 1 of 2 measures: index_0 0 and index_0 1"


@pytest.mark.exhaustive
def test_wide_tables_are_cut_into_blocks_on_a_terminal():
    shown = on_terminal(80, "score", DIGITS, "--by", "model", "--metrics", "all")
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown)
    assert max(map(len, plain.splitlines())) <= 80
    assert plain.count("svm_rbf") > 3
    assert "\x1b[1;32m" in shown


def on_terminal(width, *arguments):
    pty = pytest.importorskip("pty")  # not on Windows
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    code = "from matrics._cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    assert process.wait() == 0
    return shown.decode().replace("\r\n", "\n")


def test_names_of_groups_cannot_steer_the_terminal(command, tmp_path):
    labels = pa.table({"g": ["[red]a\x1b[31m", "b\nc"], "y_true": [0, 1], "y_pred": [0, 1]})
    pq.write_table(labels, tmp_path / "l.parquet")
    code, out, _ = command("score", "l.parquet", "--by", "g", "--metrics", "accuracy")
    assert code == 0
    assert "[red]a?[31m" in out
    assert "b?c" in out


def test_metrics_describe_and_version(command):
    code, out, _ = command("metrics")
    assert code == 0
    assert all(re.search(rf"^{name} ", out, re.MULTILINE) for name in matrics.list_metrics())
    assert "spectral" not in command("metrics", "rates")[1]
    code, out, _ = command("describe", "sensitivity")
    assert code == 0
    assert out.startswith(f"recall: {matrics.recall.summary}\n")
    for word in ("formula", "range", "undefined", "source", "aliases"):
        assert re.search(rf"^{word} ", out, re.MULTILINE)
    assert command("--version")[1] == f"matrics {matrics.__version__}\n"


# Values -------------------------------------------------------------------------------------------------------------


def test_digits_equal_sklearn(command, tmp_path):
    sklearn = pytest.importorskip("sklearn.metrics")
    assert command("score", DIGITS, "--by", "model", "--metrics", "accuracy,mcc,f1", "--output", "o.parquet")[0] == 0
    written = table(tmp_path / "o.parquet")
    raw = {name: np.array(values) for name, values in pq.read_table(DIGITS).to_pydict().items()}
    assert written["model"] == sorted(set(raw["model"].tolist()))
    for row, model in enumerate(written["model"]):
        true, pred = (raw[name][raw["model"] == model] for name in ("y_true", "y_pred"))
        assert written["accuracy"][row] == pytest.approx(sklearn.accuracy_score(true, pred), abs=1e-14)
        assert written["mcc"][row] == pytest.approx(sklearn.matthews_corrcoef(true, pred), abs=1e-12)
        assert written["f1, macro"][row] == pytest.approx(sklearn.f1_score(true, pred, average="macro"), abs=1e-14)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_to_file_in_blocks(command, monkeypatch, tmp_path, suffix, order):
    monkeypatch.setattr("matrics._cli.run.PIECE_BYTES", 8 * 9 * 7)
    stack = np.random.default_rng(1).integers(0, 9, (4, 5, 3, 3))
    stack[1, 2, 0] = 0
    np.save(tmp_path / "s.npy", np.asarray(stack, order=order))
    metrics = "mcc,eve,recall:class,fbeta(beta=2):macro"
    code, out, err = command("score", "s.npy", "--metrics", metrics, "--output", f"o.{suffix}")
    assert (code, err) == (0, "")
    assert f"o.{suffix}: 20 rows of 6 scores" in out
    written = table(tmp_path / f"o.{suffix}")
    names = ["index_0", "index_1", "mcc", "eve", *(f"recall of class {k}" for k in range(3)), "fbeta(beta=2), macro"]
    assert list(written) == names
    assert [int(value) for value in written["index_1"]] == list(range(5)) * 4
    expected = matrics.score(stack.reshape(-1, 3, 3), metrics)
    np.testing.assert_array_equal(numbers(written["mcc"]), expected["mcc"])
    np.testing.assert_array_equal(numbers(written["eve"]), expected["eve"])
    assert written["eve"][7] is None
    np.testing.assert_array_equal(numbers(written["recall of class 2"]), expected["recall:class"][:, 2])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"o.{suffix}", "s.npy"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["bool", "i1", "u8", ">i4", "f2", "f4", ">f8", "g"])
def test_every_real_dtype(command, tmp_path, dtype):
    stack = (STACK > 2).astype(dtype) if dtype == "bool" else STACK.astype(dtype)
    np.save(tmp_path / "s.npy", stack)
    assert command("score", "s.npy", "--metrics", "mcc,f1:macro", "--output", "o.parquet")[0] == 0
    expected = matrics.score(stack.astype(stack.dtype.newbyteorder("=")), "mcc,f1:macro")
    written = table(tmp_path / "o.parquet")
    np.testing.assert_array_equal(written["f1, macro"], expected["f1:macro"].astype(float))
    np.testing.assert_array_equal(written["mcc"], expected["mcc"].astype(float))


@pytest.mark.exhaustive
@pytest.mark.parametrize("backend", ["torch", "jax"])
@pytest.mark.parametrize("dtype", ["u8", "f4", ">f8"])
def test_backends_equal_numpy(command, tmp_path, backend, dtype):
    pytest.importorskip(backend)
    stack = np.random.default_rng(2).integers(0, 50, (30, 4, 4)).astype(dtype)
    stack[3, 1] = 0
    np.save(tmp_path / "s.npy", stack)
    arguments = ("score", "s.npy", "--metrics", "all", "--rows", "pred")
    assert command(*arguments, "--backend", "numpy", "--output", "n.parquet")[0] == 0
    # A process of its own, as --backend jax sets JAX to 64 bits.
    ran = whole(*arguments, "--backend", backend, "--output", "b.parquet", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    one, other = table(tmp_path / "n.parquet"), table(tmp_path / "b.parquet")
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_allclose(
            numbers(other[name]), numbers(one[name]), rtol=1e-5, atol=1e-5 if dtype == "f4" else 1e-12, err_msg=name
        )


def test_rows_pred_transposes(command, tmp_path):
    np.save(tmp_path / "s.npy", STACK)
    assert command("score", "s.npy", "--rows", "pred", "--metrics", "recall:class", "--output", "o.parquet")[0] == 0
    expected = matrics.score(STACK, "precision:class")["precision:class"]
    np.testing.assert_array_equal(table(tmp_path / "o.parquet")["recall of class 1"], expected[:, 1])


def test_zero_division(command, tmp_path):
    np.save(tmp_path / "s.npy", [[[5, 0], [0, 0]]])
    assert command("score", "s.npy", "--metrics", "mcc,eve", "--zero-division", "-1", "--output", "o.csv")[0] == 0
    assert numbers(table(tmp_path / "o.csv")["mcc"]) == [-1]


@pytest.mark.parametrize(
    "text",
    [b"8,2\n1,9\n", b"\xef\xbb\xbf8,2\r\n1,9\r\n\r\n\r\n", b"\n 8 , 2.0\n1e0,9", b'"8","2"\n"1","9"\n'],
    ids=["plain", "BOM, CRLF, blank lines", "blanks", "quoted"],
)
def test_matrix_csv(command, tmp_path, text):
    (tmp_path / "m.csv").write_bytes(text)
    assert command("score", "m.csv", "--metrics", "mcc", "--output", "o.parquet")[0] == 0
    assert table(tmp_path / "o.parquet") == {"mcc": [float(matrics.mcc(STACK[0]))]}


@pytest.mark.parametrize(
    "text",
    [
        b"y_true,y_pred,g\n0,0,b\n1,0,b\n1,1,a\n2,2,a\n",
        b"\xef\xbb\xbfg,other,y_pred,y_true\r\nb,,0,0\r\nb,x,0,1\r\na,,1,1\r\n\r\na,,2,2\r\n\r\n",
        b'"y_true ",y_true,"g","y_pred"\n9,0,b,"0"\n9,1,b,0\n9,1,"a",1\n"9\n9",2,a,2\n',
    ],
    ids=["plain", "BOM, CRLF, other order", "quotes"],
)
def test_label_csv(command, tmp_path, text):
    (tmp_path / "l.CSV").write_bytes(text)
    assert command("score", "l.CSV", "--by", "g", "--metrics", "accuracy,recall:class", "--output", "o.csv")[0] == 0
    assert table(tmp_path / "o.csv") == {
        "g": ["a", "b"],
        "accuracy": ["1", "0.5"],
        "recall of class 0": [None, "1"],
        "recall of class 1": ["1", "0"],
        "recall of class 2": ["1", None],
    }


def test_labels_as_text_and_without_groups(command, tmp_path):
    (tmp_path / "l.csv").write_text("y_true,y_pred\ncat,cat\ndog,null\n10,10\n2,2\n")
    code, out, _ = command("score", "l.csv", "--metrics", "recall:class")
    assert code == 0
    labels = re.findall(r"^recall of (?:class )?(\S+)", out, re.MULTILINE)
    assert labels == ["10", "2", "cat", "dog", "null"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "classes",
    [
        ["-3", "0", "2", "17"],  # integers, in their order
        ["-9223372036854775808", "9223372036854775807"],
        ["0x10", "16"],
        ["001", "01", "1"],
        ["+1", "1"],
        ["-0", "0"],
        ["10000000000000000001", "10000000000000000002"],  # more than 64 bits
        ["1", "10", "2", "x"],  # text, in its order
        ["10", "1e1", "inf", "nan"],
        ["1.0.1", "1.0.2"],
    ],
    ids=",".join,
)
def test_classes_of_a_csv_are_what_is_written(command, tmp_path, classes):
    # One column has only the first: what is in the other makes both text.
    rows = [f"{classes[0]},{name}" for name in classes]
    (tmp_path / "l.csv").write_text("\n".join(["y_true,y_pred", *reversed(rows)]))
    code, out, _ = command("score", "l.csv", "--metrics", "recall:class")
    assert code == 0
    assert re.findall(r"^recall of (?:class )?(\S+)", out, re.MULTILINE) == classes


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "labels",
    [
        pa.array([3, 5, 5], pa.uint64()),
        pa.array(["a", "b", "b"]),
        pa.array(["a", "b", "b"], pa.large_string()),
        pytest.param(
            pa.array(["a", "b", "b"], pa.string_view()),
            marks=pytest.mark.skipif(int(pa.__version__.split(".")[0]) < 21, reason="pyarrow cannot write it yet"),
        ),
        pa.array(["b", "a", "a"]).dictionary_encode(),
        pa.array([False, True, True]),
    ],
    ids=lambda labels: str(labels.type)[:12],
)
def test_label_types_of_parquet(command, tmp_path, labels):
    pq.write_table(pa.table({"y_pred": labels, "y_true": labels, "g": labels}), tmp_path / "l.parquet")
    code, out, err = command("score", "l.parquet", "--metrics", "accuracy", "--by", "g")
    assert (code, err) == (0, "")
    assert "2 matrices of 2 classes, 3 samples" in out


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kind", "first", "shown"),
    [
        (pa.timestamp("ns"), 1, "1970-01-01 00:00:00.000000001"),
        (pa.timestamp("ns"), 10**9, "1970-01-01 00:00:01"),
        (pa.time64("ns"), 1, "00:00:00.000000001"),
        (pa.timestamp("s"), 253402300800, "10000-01-01 00:00:00"),  # a year that Python does not know
    ],
    ids=str,
)
def test_groups_of_times(command, tmp_path, kind, first, shown):
    groups = pa.array([first, first + 1, first + 1], kind)
    pq.write_table(pa.table({"y_true": [0, 0, 1], "y_pred": [0, 1, 1], "g": groups}), tmp_path / "l.parquet")
    code, out, err = command("score", "l.parquet", "--by", "g", "--metrics", "accuracy")
    assert (code, err) == (0, "")
    assert re.search(rf"^{shown}\S* +1\.000\*$", out, re.MULTILINE)
    assert command("score", "l.parquet", "--by", "g", "--metrics", "accuracy", "--output", "o.parquet")[0] == 0
    assert pq.read_table(tmp_path / "o.parquet")["g"].cast(kind).combine_chunks() == groups[:2]


def test_npz(command, tmp_path):
    np.savez_compressed(tmp_path / "one.npz", stack=STACK)
    np.savez(tmp_path / "two.npz", svm=STACK[0], tree=STACK[1])
    np.savez(tmp_path / "stacks.npz", svm=STACK[:2], tree=STACK[1:])
    assert command("score", "one.npz", "--metrics", "mcc", "--output", "o.parquet")[0] == 0
    assert table(tmp_path / "o.parquet")["index_0"] == [0, 1, 2]
    assert command("score", "two.npz", "--metrics", "mcc", "--output", "o.parquet")[0] == 0
    written = {"array": ["svm", "tree"], "mcc": matrics.mcc(STACK[:2]).tolist()}
    assert table(tmp_path / "o.parquet") == written
    assert command("score", "two.npz", "--metrics", "mcc")[1].splitlines()[-1] == "best in 1 of 1 measures: tree"
    assert command("score", "stacks.npz", "--metrics", "mcc", "--output", "o.parquet")[0] == 0
    assert table(tmp_path / "o.parquet")["array"] == ["svm", "svm", "tree", "tree"]
    assert re.search(r"^tree +1 ", command("score", "stacks.npz")[1], re.MULTILINE)


# What is wrong ------------------------------------------------------------------------------------------------------


def text(name, content):
    return lambda: Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


def npy(content, name="x.npy"):
    return lambda: np.save(name, np.array(content), allow_pickle=True)


def labels(**columns):
    return lambda: pq.write_table(pa.table(columns), "x.parquet")


def npz(**arrays):
    return lambda: np.savez(Path("x.npz"), **arrays)


def truncated_parquet():
    content = DIGITS.read_bytes()
    Path("x.parquet").write_bytes(content[: len(content) // 2])


def truncated_npy():
    np.save("x.npy", STACK)
    Path("x.npy").write_bytes(Path("x.npy").read_bytes()[:-8])


def truncated_npz():
    np.savez("x.npz", a=STACK)
    Path("x.npz").write_bytes(Path("x.npz").read_bytes()[:300])


def npz_of(name, content):
    def write():
        with zipfile.ZipFile("x.npz", "w") as archive:
            archive.writestr(name, content)

    return write


def folder():
    Path("x.npy").mkdir()


DAMAGED = b"\x93NUMPY\x01\x00\x06\x00{'a':(\n"
good = npy(STACK)
good_labels = labels(y_true=[0, 1], y_pred=[0, 1], g=["a", "b"])
WRONG = {
    "missing file": (lambda: None, ["x.npy"], "x.npy: No such file"),
    "directory": (folder, ["x.npy"], "expected a file, got a directory"),
    "unknown suffix": (
        text("x.dat", "1"),
        ["x.dat"],
        ".npy, .npz, .parquet, .csv, .tsv, .txt, .csv.gz, .tsv.gz, .txt.gz, .csv.bz2, .tsv.bz2, .txt.bz2, .csv.zst, ",
    ),
    "no suffix": (text("x", "1"), ["x"], "got no suffix"),
    "empty npy": (text("x.npy", ""), ["x.npy"], "numpy.save"),
    "garbage npy": (text("x.npy", "garbage, not numpy"), ["x.npy"], "numpy.save"),
    "damaged header": (text("x.npy", DAMAGED), ["x.npy"], "written by numpy.save, got a header that cannot be read"),
    "damaged header in npz": (npz_of("a.npy", DAMAGED), ["x.npz"], "written by numpy.savez, got a header that cannot"),
    "truncated npy": (truncated_npy, ["x.npy"], "numpy.save"),
    "pickled npy": (npy([{}, None]), ["x.npy"], "Python objects"),
    "zip called npy": (lambda: (npz(a=STACK)(), Path("x.npz").rename("x.npy")), ["x.npy"], "numpy.save"),
    "empty npz": (text("x.npz", ""), ["x.npz"], "not a zip archive"),
    "garbage npz": (text("x.npz", "garbage"), ["x.npz"], "not a zip archive"),
    "truncated npz": (truncated_npz, ["x.npz"], "x.npz"),
    "npz without arrays": (npz(), ["x.npz"], "at least one array"),
    "npz of other files": (npz_of("hello.txt", "hello"), ["x.npz"], "x.npz"),
    "pickled npz": (npz(a=np.array([{}, None])), ["x.npz"], "numpy.savez"),
    "npz of mixed classes": (npz(a=np.eye(2), b=np.eye(3)), ["x.npz"], "a (2, 2), b (3, 3)"),
    "npz not square": (npz(a=np.eye(2), b=np.ones((2, 3))), ["x.npz"], "'b'"),
    "garbage parquet": (text("x.parquet", "garbage"), ["x.parquet"], "x.parquet: "),
    "empty parquet": (text("x.parquet", ""), ["x.parquet"], "x.parquet: "),
    "truncated parquet": (truncated_parquet, ["x.parquet"], "x.parquet: "),
    "empty csv": (
        text("x.csv", ""),
        ["x.csv"],
        "x.csv: expected a matrix or columns y_true and y_pred, got an empty file",
    ),
    "blank csv": (text("x.csv", "\n\n"), ["x.csv"], "empty file"),
    "binary csv": (text("x.csv", bytes(range(256))), ["x.csv"], "UTF-8"),
    "not square": (npy(np.ones((2, 3))), ["x.npy"], "got shape (2, 3)"),
    "one axis": (npy([1, 2]), ["x.npy"], "got shape (2,)"),
    "no matrices": (npy(np.ones((0, 2, 2))), ["x.npy"], "at least one confusion matrix"),
    "csv not square": (text("x.csv", "1,2,3\n4,5,6\n"), ["x.csv"], "got shape (2, 3)"),
    "ragged csv": (text("x.csv", "1,2\n3\n"), ["x.csv"], "line 2: expected 2 cells, as in the first row, got 1"),
    "text in a cell": (text("x.csv", "1,2\n3,many\n"), ["x.csv"], "line 2, column 2: expected a number, got 'many'"),
    "text in the first row": (
        text("x.csv", "1,many\n3,4\n"),
        ["x.csv"],
        "line 1, column 2: expected a number, got 'many'",
    ),
    "empty cell": (text("x.csv", "1,2\n3,\n"), ["x.csv"], "line 2, column 2: expected a number, got ''"),
    "underscore": (text("x.csv", "1,2\n3,1_0\n"), ["x.csv"], "'1_0'"),
    "NaN": (
        npy([[[1, 2], [3, 4]], [[1, np.nan], [3, 4]]]),
        ["x.npy"],
        "got nan in the cell [0, 1] (from 0) of matrix [1]",
    ),
    "infinite": (npy([[1, 2], [np.inf, 4]]), ["x.npy"], "got inf in the cell [1, 0]"),
    "infinite sum": (npy(np.full((2, 2), 1e308)), ["x.npy"], "sum"),
    "negative": (npy(np.full((1, 2, 2, 2), -3)), ["x.npy"], "got -3 in the cell [0, 0] (from 0) of matrix [0, 0]"),
    "negative, rows pred": (npy([[1, -2], [3, 4]]), ["x.npy", "--rows", "pred"], "got -2 in the cell [0, 1]"),
    "negative csv": (text("x.csv", "1,2\n3,-4\n"), ["x.csv"], "got -4 in the cell [1, 1]"),
    "complex": (npy(np.eye(2) * 1j), ["x.npy"], "complex128"),
    "text npy": (npy([["a", "b"], ["c", "d"]]), ["x.npy"], "dtype <U1"),
    "unknown measure": (good, ["x.npy", "--metrics", "mmc"], "did you mean mcc"),
    "unknown option": (good, ["x.npy", "--metrics", "nmi(x=1)"], "no option 'x'"),
    "binary of three": (npy(np.eye(3)), ["x.npy", "--metrics", "f1:binary"], "2×2"),
    "no measure": (good, ["x.npy", "--metrics", ","], "expected at least one metric"),
    "unknown backend": (good, ["x.npy", "--backend", "cupy"], "expected numpy, torch or jax, got 'cupy'"),
    "rows": (good, ["x.npy", "--rows", "columns"], "expected true or pred, got 'columns'"),
    "zero division": (good, ["x.npy", "--zero-division", "none"], "expected a number, got 'none'"),
    "by of matrices": (good, ["x.npy", "--by", "model"], "--by: expected a file with columns"),
    "by of a csv matrix": (
        text("x.csv", "1,2\n3,4\n"),
        ["x.csv", "--by", "model"],
        "--by: expected a file with columns",
    ),
    "by nothing": (good_labels, ["x.parquet", "--by", ","], "--by: expected names of columns"),
    "rows of labels": (good_labels, ["x.parquet", "--rows", "pred"], "--rows: expected a file of matrices"),
    "rows of label csv": (text("x.csv", "y_true,y_pred\n1,1\n"), ["x.csv", "--rows", "true"], "--rows: expected"),
    "missing column": (
        labels(y_true=[1], label=[1]),
        ["x.parquet"],
        "got no 'y_pred'; the columns are 'y_true', 'label'",
    ),
    "missing column in csv": (text("x.csv", "y_true,b\n1,2\n"), ["x.csv"], "the columns are 'y_true', 'b'"),
    "other csv": (text("x.csv", "a,b\n1,2\n"), ["x.csv"], "expected the columns y_true, y_pred, got no 'y_true'"),
    "unknown by": (good_labels, ["x.parquet", "--by", "h"], "got no 'h'; the columns are 'y_true', 'y_pred', 'g'"),
    "column twice": (text("x.csv", "y_true,y_pred,y_true\n1,1,1\n"), ["x.csv"], "expected one column 'y_true'"),
    "null label": (
        labels(y_true=[1, None], y_pred=[1, 1]),
        ["x.parquet"],
        "column 'y_true': expected a value in every row",
    ),
    "null label in csv": (
        text("x.csv", "y_true,y_pred\n1,1\n1,\n"),
        ["x.csv"],
        "line 3: expected a value in column 'y_pred'",
    ),
    "null group": (labels(y_true=[1], y_pred=[1], g=pa.array([None], pa.int8())), ["x.parquet", "--by", "g"], "'g'"),
    "float labels": (labels(y_true=[1.0], y_pred=[0.5]), ["x.parquet"], "whole numbers or text, got 0.5"),
    "float labels in csv": (
        text("x.csv", "y_true,y_pred\n1.0,0.5\n"),
        ["x.csv"],
        "x.csv: column 'y_pred': expected labels, whole numbers or text, got decimal numbers such as '0.5'",
    ),
    "some float labels in csv": (text("x.csv", "y_true,y_pred\n1,1.0\n0,1e-05\n"), ["x.csv"], "such as '1e-05'"),
    "labels of two types": (labels(y_true=[1], y_pred=["x"]), ["x.parquet"], "of one type"),
    "no rows": (
        labels(y_true=pa.array([], pa.int8()), y_pred=pa.array([], pa.int8())),
        ["x.parquet"],
        "at least one row",
    ),
    "no rows in csv": (text("x.csv", "y_true,y_pred\n"), ["x.csv"], "at least one row"),
    "ragged label csv": (
        text("x.csv", "y_true,y_pred\n1,1\n1\n"),
        ["x.csv"],
        "line 3: expected 2 cells, as in the first row, got 1",
    ),
    "too many classes": (
        labels(y_true=np.arange(40_000), y_pred=np.arange(40_000)),
        ["x.parquet"],
        "expected labels of few classes, got 40,000",
    ),
    **{
        f"groups of {kind}": (
            labels(y_true=[1], y_pred=[1], g=values),
            ["x.parquet", "--by", "g"],
            f"x.parquet: column 'g': expected numbers, text or times, got {kind}",
        )
        for kind, values in {"list": [[1]], "struct": [{"a": 1}], "halffloat": np.ones(1, np.float16)}.items()
    },
    "output directory": (good, ["x.npy", "--output", "nowhere/o.csv"], "expected an existing directory, got 'nowhere'"),
    "output suffix": (good, ["x.npy", "--output", "o.xlsx"], "expected a name that ends in .csv or .parquet"),
    "output is input": (text("x.csv", "1,2\n3,4\n"), ["x.csv", "--output", "x.csv"], "expected a file other than"),
    "output name twice": (
        labels(y_true=[1], y_pred=[1], mcc=[1]),
        ["x.parquet", "--by", "mcc", "--metrics", "mcc", "--output", "o.csv"],
        "'mcc'",
    ),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line(command, case):
    prepare, arguments, expected = WRONG[case]
    Path("o.csv").write_text("precious")
    prepare()
    before = sorted(Path().iterdir())
    code, out, err = command("score", *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("matrics: ")
    assert expected in err
    assert sorted(Path().iterdir()) == before
    assert Path("o.csv").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "expected"), [(["metrics", "x"], "family"), (["describe", "x"], "unknown metric")]
)
def test_wrong_names_are_one_line(command, arguments, expected):
    code, out, err = command(*arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("matrics: ")
    assert expected in err


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["score"], "path"),
        (["scores"], "scores"),
        (["--nope"], "--nope"),
        (["score", "x.npy", "--nope"], "--nope"),
        (["score", "x.npy", "y.npy"], "y.npy"),
        (["score", "x.npy", "--by"], "--by"),
    ],
)
def test_usage_errors_are_one_line(command, arguments, expected):
    code, out, err = command(*arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("matrics: ")
    assert expected.lower() in err.lower()


def test_help(command):
    for arguments in ([], ["--help"], ["score", "--help"]):
        code, out, err = command(*arguments)
        assert (code, err) == (0, "")
        assert "Usage: " in out


def test_failure_halfway_leaves_nothing(command, monkeypatch, tmp_path):
    monkeypatch.setattr("matrics._cli.run.PIECE_BYTES", 8 * 4)
    stack = STACK.copy()
    stack[2, 1, 0] = -1
    np.save(tmp_path / "s.npy", stack)
    (tmp_path / "o.csv").write_text("precious")
    for name in ("o.csv", "o.parquet"):
        code, _, err = command("score", "s.npy", "--output", name)
        assert code == 2
        assert "got -1 in the cell [1, 0] (from 0) of matrix [2]" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.csv", "s.npy"]
    assert (tmp_path / "o.csv").read_text() == "precious"


@pytest.mark.skipif(sys.platform == "win32", reason="counts the whole path")
def test_output_of_a_long_name(command, tmp_path):
    np.save(tmp_path / "s.npy", STACK)
    name = f"{'o' * 250}.csv"
    assert command("score", "s.npy", "--output", name)[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "s.npy"]


def test_disk_full_names_the_output(command, monkeypatch, tmp_path):
    def fill(*_, **__):
        raise OSError(28, "No space left on device", ".o.csv.tmp")

    np.save(tmp_path / "s.npy", STACK)
    monkeypatch.setattr("matrics._files.outputs.whole.os.fsync", fill)
    assert command("score", "s.npy", "--output", "o.csv") == (2, "", "matrics: o.csv: No space left on device\n")
    assert [path.name for path in tmp_path.iterdir()] == ["s.npy"]


def test_interrupt_leaves_nothing(command, monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    np.save(tmp_path / "s.npy", STACK)
    monkeypatch.setattr("matrics.score", interrupt)
    code, out, err = command("score", "s.npy", "--output", "o.csv")
    assert (code, out, err) == (130, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["s.npy"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("missing", ["typer", "rich", "pyarrow"])
def test_without_the_extra(missing):
    """Only the version and the help are there."""
    install = 'the command line needs typer, rich and pyarrow: python -m pip install "matrics[cli]"\n'
    expected = {
        ("score", "x.npy"): (2, "", install),
        ("--version",): (0, f"matrics {matrics.__version__}\n", ""),
        ("--help",): (0, f"Usage: matrics COMMAND FILE [OPTIONS]\n\n{install}", ""),
    }
    for arguments, ended in expected.items():
        code = f"import sys; sys.modules[{missing!r}] = None; sys.argv = {['matrics', *arguments]}\n"
        code += "from matrics._cli import main; main()"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == ended


@pytest.mark.parametrize("missing", ["torch", "jax"])
def test_without_the_backend(command, monkeypatch, tmp_path, missing):
    np.save(tmp_path / "s.npy", STACK)
    monkeypatch.setitem(sys.modules, missing, None)
    code, _, err = command("score", "s.npy", "--backend", missing)
    assert (code, err) == (
        2,
        f'matrics: --backend: this library needs {missing}: python -m pip install "matrics[{missing}]"\n',
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("times", [10, pytest.param(40, marks=pytest.mark.exhaustive)])
def test_damaged_files_are_one_line(command, tmp_path, times):
    rng = np.random.default_rng(3)
    np.save(tmp_path / "x.npy", STACK)
    np.savez_compressed(tmp_path / "x.npz", a=STACK)
    pq.write_table(pa.table({"y_true": [0, 1, 1], "y_pred": [0, 1, 0]}), tmp_path / "x.parquet")
    for name in ("x.npy", "x.npz", "x.parquet"):
        whole_file = (tmp_path / name).read_bytes()
        for _ in range(times):
            damaged = bytearray(whole_file)
            for _ in range(3):
                damaged[rng.integers(len(damaged))] = rng.integers(256)
            (tmp_path / name).write_bytes(damaged)
            code, _, err = command("score", name, "--metrics", "mcc")
            assert code in (0, 2)
            err = without_warning(err)
            assert len(err.splitlines()) == (code == 2)
            assert code == 0 or err.startswith("matrics: ")


@pytest.mark.exhaustive
def test_as_a_process(tmp_path):
    ran = whole("score", "none.npy", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", "matrics: none.npy: No such file or directory\n")
    ran = whole("metrics", env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert ran.returncode == 0
    assert ran.stderr == ""
    if sys.platform == "win32":
        return
    reader = ["bash", "-c", '"$0" -c "from matrics._cli import main; main()" metrics | head -1', sys.executable]
    head = subprocess.run(reader, capture_output=True, text=True, check=False)
    assert head.stdout.startswith("169 measures")
    assert head.stderr == ""


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory it has taken")
def test_memory_is_bounded(tmp_path):
    np.lib.format.open_memmap(tmp_path / "big.npy", mode="w+", dtype=np.int64, shape=(60_000, 30, 30))[:] = 1
    code = (
        "import sys\nsys.argv[1:] = ['score', 'big.npy', '--metrics', 'accuracy', '--output', 'o.parquet']\n"
        "from matrics._cli import main\ntry: main()\nfinally: print(open('/proc/self/status').read())"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    anonymous = int(re.search(r"RssAnon:\s+(\d+) kB", ran.stdout).group(1))
    assert anonymous < 400_000  # the stack has 432 MB; what is mapped from it can be dropped
    assert len(table(tmp_path / "o.parquet")["accuracy"]) == 60_000


# The screens in the docs ----------------------------------------------------------------------------------------------

SHOWN = ("cli", "uncertainty", "prevalence", "evals", "diagnostic", "gate")
SCREENS = [
    (page.name, command, screen)
    for page in (*(ROOT / "docs" / f"{name}.md" for name in SHOWN), ROOT / "README.md")
    for command, screen in re.findall(
        r"```(?:console\n\$ |\n.*?&& )(matrics[^\n]*)\n(?:```\n\n```text\n)?(.*?)```",
        page.read_text("utf-8"),
        re.DOTALL,
    )
    if "--output" not in command
    and screen.strip()
    and (
        re.search("digits_sweep|cancer_scores|examples/|tests/", command)
        or command.split()[1] in {"metrics", "describe"}
    )
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("line", "screen"), [screen[1:] for screen in SCREENS], ids=[s[0] for s in SCREENS])
def test_screens_of_the_docs(command, monkeypatch, line, screen):
    monkeypatch.chdir(ROOT if re.search("examples/|tests/", line) else ROOT / "examples")
    _, out, err = command(*shlex.split(line)[1:])
    assert (out + err).strip() == screen.partition("\n$ ")[0].strip()  # a further command prints the exit code


def test_there_are_screens():
    assert {page for page, *_ in SCREENS} >= {"cli.md", "uncertainty.md", "evals.md", "prevalence.md", "README.md"}
    assert len(SCREENS) >= 6


ODD = ["a\x1b[31m", "b\rc", "d\x9b1m", "e\u202egnp"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
@pytest.mark.parametrize("name", ["score", "gate"])
def test_text_of_files_cannot_control_a_terminal_in_any_format(command, tmp_path, name, form):
    """Escape sequences, 8-bit ones, marks of direction, and a carriage return, which would end a row of CSV."""
    labels = pa.table({"y_true": ODD * 2, "y_pred": ODD * 2, "odd\x1bgroup": ODD * 2})
    pq.write_table(labels, tmp_path / "l.parquet")
    options = (
        ("--by", "odd\x1bgroup", "--metrics", "recall:class")
        if name == "score"
        else ("--require", "recall[d\x9b1m] >= 0")
    )
    code, out, err = command(name, "l.parquet", *options, "--format", form)
    assert code in (0, 3), err
    if form == "csv":
        rows = list(csv.reader(io.StringIO(out, newline="")))
        assert len({len(row) for row in rows}) == 1
        assert "\r" not in re.sub('"[^"]*"', "", out)
    else:
        assert all(letter.isprintable() or letter == "\n" for letter in out), [c for c in out if not c.isprintable()]
    if form == "json":
        assert "d\x9b1m" in json.dumps(json.loads(out), ensure_ascii=False)  # which is escaped, and not lost
