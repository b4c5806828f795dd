"""What the command line reads piece by piece: data sets of Parquet files, arrays of archives, counts as columns."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from commands import done, refused

import matrics

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")

from matrics._files import rows as batches  # noqa: E402
from matrics._files.matrices import read  # noqa: E402
from matrics._files.matrix_rows import CellNames, read_cells  # noqa: E402
from matrics._files.names import Names  # noqa: E402

DIGITS = Path(__file__).parents[1] / "examples" / "digits_sweep.parquet"


def scores(command, name, *options):
    """The scores of every measure, in full precision."""
    done(command, "score", name, *options, "--metrics", "accuracy,mcc,recall:class", "--output", "scores.parquet")
    return pq.read_table("scores.parquet")


# Data sets ----------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_data_set_of_pyarrow_is_its_table(command, tmp_path):
    table = pq.read_table(DIGITS)
    for flavor in ("hive", None):
        folder = tmp_path / f"data_{flavor}"
        partitioning = {"partitioning": ["model", "fold"], "partitioning_flavor": flavor} if flavor else {}
        dataset.write_dataset(
            table, folder, format="parquet", max_rows_per_file=9_000, max_rows_per_group=900, **partitioning
        )
        assert len(list(folder.rglob("*.parquet"))) > 5
        (folder / "_SUCCESS").touch()
        (folder / ".hidden.crc").touch()
        for by in ("model,fold", "fold,repeat,model", None) if flavor else ("fold",):
            options = () if by is None else ("--by", by)
            expected = scores(command, DIGITS, *options)
            for name in (folder, f"{folder}/**/*.parquet"):
                found = scores(command, name, *options)
                assert found.cast(expected.schema).equals(expected)
    assert "got no 'model'" in refused(command, "score", f"{tmp_path}/data_hive/model=coin_toss/*/*", "--by", "model")
    one = scores(command, f"{tmp_path}/data_hive/model=coin_toss/*", "--by", "fold")
    assert one.num_rows == 5


@pytest.mark.exhaustive
def test_whole_tables_of_a_data_set(command, tmp_path):
    options = ("--by", "model", "--clusters", "sample", "--metrics", "mcc")
    table = pq.read_table(DIGITS)
    dataset.write_dataset(
        table, tmp_path / "data", format="parquet", partitioning=["model"], partitioning_flavor="hive"
    )
    one, other = (done(command, "interval", name, *options).splitlines() for name in (DIGITS, "data"))
    assert one[1:] == other[1:]
    options = ("--by", "model", "--paired-on", "sample", "--metrics", "mcc", "--seed", "0", "--num", "100")
    one, other = (done(command, "compare", name, *options).splitlines() for name in (DIGITS, "data/*/*.parquet"))
    assert len(one) > 3
    assert one[1:-1] != other[1:-1] or one[1:] == other[1:]


@pytest.mark.parametrize(
    ("folders", "kind"),
    [
        (["a=1", "a=10"], "int64"),
        (["a=01", "a=02"], "int64"),
        (["a=2024-01-02", "a=2023-05-06"], "date32[day]"),
        (["a=x%2Fy", "a=1"], "large_string"),
        (["a=01", "a=1"], "large_string"),
    ],
)
def test_values_of_folders(tmp_path, folders, kind):
    for k, folder in enumerate(folders):
        (tmp_path / "d" / folder).mkdir(parents=True)
        pq.write_table(pa.table({"y_true": [k], "y_pred": [k]}), tmp_path / "d" / folder / "x.parquet")
    values = read(tmp_path / "d", Names(by=("a",)), None).keys[0].values
    assert str(values.type) == kind
    assert len(values) == 2
    assert values.to_pylist() == sorted(values.to_pylist())
    if kind == "large_string" and "%" in folders[0]:
        assert values.to_pylist() == ["1", "x/y"]


def parquet(name, **columns):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), name)


def test_files_that_do_not_fit(command):
    parquet("d/1.parquet", y_true=[0], y_pred=[0], g=["m"])
    parquet("d/2.parquet", y_true=pa.array([0], pa.int8()), y_pred=[1], g=pa.array(["m"]).dictionary_encode())
    assert "1 matrix of 2 classes, 2 samples" in done(command, "score", "d", "--by", "g", "--metrics", "mcc")
    for wrong, expected in {
        "y_pred": "column 'y_true': expected int64, as in the rows before, got text",
        "g": "column 'g': expected text, as in the rows before, got int64",
        "none": "expected the columns y_true, y_pred, g, got no 'y_pred'; the columns are 'y_true', 'g'",
        "null": "column 'y_true': expected a value in every row, got 1 missing, the first in row 2 of d/3.parquet",
    }.items():
        columns = {"y_true": [0], "y_pred": [0], "g": ["m"]}
        if wrong == "y_pred":
            columns |= {"y_true": ["0"], "y_pred": ["0"]}
        elif wrong == "null":
            columns = {"y_true": [0, None], "y_pred": [0, 0], "g": ["m", "m"]}
        elif wrong == "g":
            columns["g"] = [1]
        else:
            del columns["y_pred"]
        parquet("d/3.parquet", **columns)
        said = refused(command, "score", "d", "--by", "g")
        assert said == f"{'d' if wrong == 'null' else 'd/3.parquet'}: {expected}"
    Path("d/3.parquet").write_text("garbage")
    assert refused(command, "score", "d").startswith("d/3.parquet: ")
    Path("d/3.parquet").rename("d/notes.txt")
    assert "d/notes.txt: expected only Parquet files" in refused(command, "score", "d")
    assert "1 matrix of 2 classes" in done(command, "score", "d/*.parquet", "--metrics", "mcc")
    assert (
        refused(command, "score", "e/*.parquet") == "e/*.parquet: expected a pattern that matches a file, got no match"
    )
    Path("e").mkdir()
    assert refused(command, "score", "e") == "e: expected a file, got a directory without files that end in .parquet"


def test_folders_that_do_not_fit(command):
    parquet("d/a=1/x.parquet", y_true=[0], y_pred=[0], b=[2])
    parquet("d/b=1/x.parquet", y_true=[0], y_pred=[0], b=[2])
    assert "d/b=1/x.parquet: expected folders with the same names as in d/a=1/x.parquet" in refused(
        command, "score", "d"
    )
    Path("d/b=1/x.parquet").unlink()
    parquet("d/a=__HIVE_DEFAULT_PARTITION__/x.parquet", y_true=[0], y_pred=[0])
    assert "expected a folder a=VALUE above the file" in refused(command, "score", "d", "--by", "a")
    assert "2 samples" in done(command, "score", "d", "--metrics", "mcc")
    parquet("e/b=1/x.parquet", y_true=[0], y_pred=[0], b=[2])
    assert "expected 'b' as a column or as names of folders, got both" in refused(command, "score", "e", "--by", "b")
    assert "expected names of folders as columns of --by" in refused(command, "score", "d", "--true", "a")


def test_a_file_with_a_name_like_a_pattern_is_itself(command):
    parquet("x[1].parquet", y_true=[0], y_pred=[0])
    parquet("x1.parquet", y_true=[0, 0], y_pred=[0, 0])
    assert "1 sample" in done(command, "score", "x[1].parquet", "--metrics", "accuracy").splitlines()[0]


# Counts as columns --------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_that_stand_for_several_samples(command, suffix):
    table = pq.read_table(DIGITS)
    grouped = table.group_by(["model", "y_true", "y_pred"]).aggregate([([], "count_all")])
    expected = scores(command, DIGITS, "--by", "model")
    if suffix == "csv":
        rows = [",".join(map(str, row.values())) for row in grouped.to_pylist()]
        Path("x.csv").write_text("\n".join([",".join(grouped.column_names), *rows]))
    else:
        pq.write_table(grouped, "x.parquet")
    found = scores(command, f"x.{suffix}", "--by", "model", "--counts", "count_all")
    assert found.cast(expected.schema).equals(expected)
    out = done(command, "interval", f"x.{suffix}", "--by", "model", "--counts", "count_all", "--metrics", "mcc")
    assert "71,880 samples" in out


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("values", "samples"),
    [
        (pa.array([2, 3]), "5 samples"),
        (pa.array([2, 3], pa.uint8()), "5 samples"),
        (pa.array([0.5, 0.25]), "0.75 samples"),
        (pa.array([2, 3]).cast(pa.decimal128(38, 0)), "5 samples"),
        (pa.array([2, 3]).cast(pa.decimal128(30, 2)), "5 samples"),
        (pa.array(["2", "3"]), "5 samples"),
        (pa.array(["2", "3.5"]), "5.5 samples"),
        (pa.array(["1e3", "2"]).dictionary_encode(), "1,002 samples"),
    ],
    ids=str,
)
def test_types_of_counts(command, values, samples):
    parquet("x.parquet", y_true=[0, 1], y_pred=[0, 0], w=values)
    assert f", {samples}" in done(command, "score", "x.parquet", "--counts", "w", "--metrics", "accuracy")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "x"], "column 'w': expected counts, which are numbers"),
        ([1, -1], "column 'w': expected finite counts of at least 0, got -1 in row 2 of the data"),
        ([1, np.nan], "column 'w': expected finite counts of at least 0, got nan in row 2 of the data"),
        ([1, None], "column 'w': expected a value in every row, got 1 missing, the first in row 2 of the data"),
        ([1, 2**64 - 1], "column 'w': expected counts, which are numbers"),
        (pa.array([1, 2], pa.date32()), "column 'w': expected counts, which are numbers, got date32[day]"),
    ],
    ids=str,
)
def test_counts_that_are_none(command, values, expected):
    column = pa.array(values, pa.uint64()) if isinstance(values, list) and 2**64 - 1 in values else pa.array(values)
    parquet("x.parquet", y_true=[0, 1], y_pred=[0, 0], w=column)
    assert refused(command, "score", "x.parquet", "--counts", "w").startswith(f"x.parquet: {expected}")


def test_counts_of_a_text_file_are_named_by_their_line(command):
    Path("x.csv").write_text("y_true,y_pred,w\n0,0,5\n\n0,1,five\n")
    assert refused(command, "score", "x.csv", "--counts", "w") == (
        "x.csv: line 4: expected a number in column 'w', got 'five'"
    )
    Path("x.csv").write_text("y_true,y_pred,w\n0,0,9007199254740993\n")
    done(command, "count", "x.csv", "--counts", "w", "--output", "c.parquet")
    assert pq.read_table("c.parquet")["count"].to_pylist() == [2**53 + 1]


def test_options_beside_counts(command):
    parquet("x.parquet", y_true=[0], y_pred=[0], w=[1], g=[1])
    np.save("x.npy", np.eye(2))
    for arguments, expected in {
        ("score", "x.npy", "--counts", "w"): "--counts: expected a file with columns y_true and y_pred",
        (
            "interval",
            "x.parquet",
            "--counts",
            "w",
            "--clusters",
            "g",
        ): "--counts: expected no such option with --clusters",
        ("score", "x.parquet", "--counts", "w", "--by", "w"): "--counts: expected a column other than",
        ("score", "x.parquet", "--counts", "w", "--scores", "w"): "--counts: expected no such option with --scores",
        ("score", "x.parquet", "--cells", "w", "--counts", "w"): "--counts: expected no such option with --cells",
        ("score", "x.parquet", "--cells", "w", "--true", "g"): "--true: expected no such option with --cells",
        (
            "interval",
            "x.parquet",
            "--cells",
            "w",
            "--clusters",
            "g",
        ): "--clusters: expected no such option with --cells",
        ("score", "x.parquet", "--cells", "w", "--separator", ";"): "--cells: expected no such option with --separator",
        ("score", "x.parquet", "--cells", "w,g,y_true"): "--cells: expected n² columns, such as tn,fp,fn,tp",
        ("score", "x.parquet", "--cells", "w,g,w,g"): "--cells: expected each column once, and not in --by, got 'w'",
        ("score", "x.parquet", "--cells", "w", "--by", "w"): "--cells: expected each column once, and not in --by",
        ("score", "x.parquet", "--cells", "w", "--rows", "x"): "--rows: expected true or pred",
    }.items():
        assert refused(command, *arguments).startswith(expected)
    expected = "--lower-is-positive: expected --scores with it"
    assert refused(command, "score", "x.parquet", "--lower-is-positive") == expected  # a flag has no value


# Cells as columns ---------------------------------------------------------------------------------------------------


def wide(rng, rows):
    cells = rng.integers(0, 90, (rows, 4))
    columns = dict(zip(("tn", "fp", "fn", "tp"), cells.T, strict=True))
    return cells.reshape(-1, 2, 2), pa.table({"id": [f"run {k}" for k in range(rows)], **columns, "other": cells[:, 0]})


@pytest.mark.sampled(1)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("rows", ["true", "pred"])
def test_one_matrix_a_row(command, monkeypatch, suffix, rows):
    monkeypatch.setattr(batches, "BATCH_ROWS", 16)
    monkeypatch.setattr("matrics._cli.run.BLOCK_BYTES", 8 * 4 * 21)
    cells, table = wide(np.random.default_rng(0), 100)
    if suffix == "csv":
        lines = [",".join(map(str, row.values())) for row in table.to_pylist()]
        Path("x.csv").write_text("\n".join([",".join(table.column_names), *lines]))
    else:
        pq.write_table(table, "x.parquet", row_group_size=33)
    cells = cells if rows == "true" else cells.transpose(0, 2, 1)
    options = ("--cells", "tn,fp", "--cells", "fn,tp", "--rows", rows)
    found = scores(command, f"x.{suffix}", "--by", "id", *options)
    assert found["id"].to_pylist() == table["id"].to_pylist()
    np.testing.assert_array_equal(found["mcc"].to_numpy(), matrics.mcc(cells))
    found = scores(command, f"x.{suffix}", *options)
    assert found["index_0"].to_pylist() == list(range(100))
    out = done(command, "score", f"x.{suffix}", "--by", "id", *options, "--metrics", "accuracy")
    best = int(matrics.accuracy(cells).argmax())
    assert f"run {best}" in out
    assert "100 matrices of 2 classes" in out


def test_rows_are_found_again(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 16)
    cells, table = wide(np.random.default_rng(1), 200)
    pq.write_table(table.slice(0, 90), tmp_path / "1.parquet", row_group_size=33)
    pq.write_table(table.slice(90), tmp_path / "2.parquet", row_group_size=50)
    source = read_cells(tmp_path / "*.parquet", CellNames.parse(["tn,fp,fn,tp"], ("id",)), None)
    assert (source.count, source.n, source.in_order) == (200, 2, False)
    rng = np.random.default_rng(2)
    for start in (0, 16, 5, 199, 0, 80, *rng.integers(0, 200, 20)):
        stop = min(200, int(start) + int(rng.integers(1, 60)))
        np.testing.assert_array_equal(source.block(int(start), stop), cells[start:stop])
        assert source.columns(int(start), stop)["id"].to_pylist() == table["id"][start:stop].to_pylist()
        assert source.name(stop - 1) == f"run {stop - 1}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1, None], "column 'tp': expected a value in every row, got none in row 2 of the data"),
        (["1", "x"], "column 'tp': expected the counts of a cell, which are numbers, got string"),
        ([1, -3], "expected counts of at least 0, got -3 in the cell [1, 1] (from 0) of matrix b"),
        ([1.5, np.nan], "expected counts of at least 0, got nan in the cell [1, 1] (from 0) of matrix b"),
    ],
)
def test_cells_that_are_none(command, column, expected):
    parquet("x.parquet", tn=[1, 2], fp=[1, 2], fn=[1, 2], tp=column, g=["a", "b"])
    assert refused(command, "score", "x.parquet", "--cells", "tn,fp,fn,tp", "--by", "g") == f"x.parquet: {expected}"


def test_cells_of_a_text_file_are_named_by_their_line(command):
    Path("x.csv").write_text("tn,fp,fn,tp\n1,2,3,4\n1,2,3,x\n")
    options = ("--cells", "tn,fp,fn,tp")
    assert refused(command, "score", "x.csv", *options) == "x.csv: line 3: expected a number in column 'tp', got 'x'"
    Path("x.csv").write_text("tn,fp,fn,tp\n")
    assert refused(command, "score", "x.csv", *options).startswith("x.csv: expected at least one row with a confusion")
    parquet("x.parquet", tn=pa.array([], pa.int8()), fp=[], fn=[], tp=[])
    assert refused(command, "score", "x.parquet", *options).startswith("x.parquet: expected at least one row")


# Arrays -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_an_archive_are_read_block_by_block(tmp_path, save, order):
    rng = np.random.default_rng(0)
    arrays = {name: np.asarray(rng.integers(0, 9, (5, 4, 3, 3)), order=order, dtype=">i4") for name in "abc"}
    save(tmp_path / "x.npz", **arrays)
    source = read(tmp_path / "x.npz", Names(), None)
    flat = np.stack(list(arrays.values())).reshape(-1, 3, 3)
    assert source.batch == (3, 5, 4)
    for start, stop in ((0, 7), (7, 33), (33, 60), (3, 4), (19, 21), (0, 60)):
        block = source.block(start, stop)
        np.testing.assert_array_equal(block, flat[start:stop])
        assert block.dtype == np.float64
    np.savez(tmp_path / "y.npz", a=np.asarray(arrays["a"][0, 0], order=order))
    np.testing.assert_array_equal(read(tmp_path / "y.npz", Names(), None).block(0, 1), arrays["a"][:1, 0])


@pytest.mark.parametrize("order", ["C", "F"])
def test_stacks_in_any_order(tmp_path, order):
    stack = np.asarray(np.random.default_rng(0).integers(0, 9, (5, 4, 3, 3)), order=order)
    np.save(tmp_path / "x.npy", stack)
    source = read(tmp_path / "x.npy", Names(), None)
    np.testing.assert_array_equal(source.block(3, 17), stack.reshape(-1, 3, 3)[3:17])
    np.save(tmp_path / "y.npy", stack[0, 0])
    np.testing.assert_array_equal(read(tmp_path / "y.npy", Names(), None).block(0, 1), stack[:1, 0])


def archive(name, content, **members):
    with zipfile.ZipFile(name, "w") as file:
        file.writestr("a.npy", content)
        for member, data in members.items():
            file.writestr(member, data)


def content_of(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    return file.getvalue()


def test_archives_that_are_refused(command):
    whole = content_of(np.ones((9, 2, 2)))
    for content, expected in {
        whole[:-8]: "'a' has fewer numbers than its shape (9, 2, 2)",
        whole[:7]: "'a.npy' is not an array of NumPy",
        b"hello": "'a.npy' is not an array of NumPy",
        content_of(np.ones((2, 2)), (3, 0)): "'a.npy' is not an array of numbers",
        whole.replace(b"'shape': (9, 2, 2)", b"'shape': (9, 2, 2 "): "a header that cannot be read",
    }.items():
        archive("x.npz", content)
        said = refused(command, "score", "x.npz")
        assert said.startswith("x.npz: expected arrays of numbers written by numpy.savez")
        assert expected in said
    archive("x.npz", content_of(np.ones((9, 2, 2)), (2, 0)))
    done(command, "score", "x.npz", "--metrics", "mcc")
    flipped = bytearray(Path("x.npz").read_bytes())
    flipped[whole.index(b"\n") + 200] ^= 1
    Path("x.npz").write_bytes(flipped)
    assert "Bad CRC-32 for file 'a.npy'" in refused(command, "score", "x.npz", "--metrics", "mcc")
