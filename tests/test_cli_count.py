"""``matrics count`` and ``matrics merge``: files of counts, what is in them, and what happens when they are damaged."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import done, refused, without_warning

import matrics

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from matrics._files import counts_file  # noqa: E402

DIGITS = Path(__file__).parents[1] / "examples" / "digits_sweep.parquet"


def scores(command, name, *options):
    """The scores of every measure, in full precision."""
    done(command, "score", name, *options, "--metrics", "core", "--output", "scores.parquet")
    return pq.read_table("scores.parquet")


@pytest.fixture
def digits(tmp_path):
    """The rows of the example, and two halves of it that have different models."""
    table = pq.read_table(DIGITS)
    order = np.argsort(table["model"].to_numpy(), kind="stable")
    table = table.take(order)
    pq.write_table(table, tmp_path / "all.parquet")
    for name, rows in (("a", table.slice(0, 30_000)), ("b", table.slice(30_000))):
        pq.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=7_000)
    return table


# Where counts are read ----------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize("name", ["c.parquet", "folder", "fold*/*.parquet"])
def test_counts_are_not_samples(command, name):
    """A row of a file of counts stands for many samples, in a folder and under a pattern as well."""
    done(command, "count", "all.parquet", "--by", "model", "--output", "c.parquet")
    Path("folder").mkdir()
    shutil.copy("c.parquet", "folder")
    for arguments in (
        ("compare", name, "--by", "model"),
        ("compare", name, "--by", "model", "--paired-on", "count"),
        ("curve", name, "--scores", "count"),
        ("threshold", name, "--scores", "count", "--metric", "f1"),
        ("score", name, "--scores", "count", "--threshold", "3", "--positive", "1"),
        ("score", name, "--separator", ";"),
    ):
        message = f"{name}: expected a file of labels with one row per sample, got counts"
        assert refused(command, *arguments) == message, arguments
    assert "8 matrices of 10 classes, 71,880 samples" in done(command, "score", name, "--metrics", "mcc")
    table = done(command, "score", name, "--counts", "count", "--metrics", "mcc")  # a table like any other
    assert "1 matrix of 10 classes, 71,880 samples" in table


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["c.parquet", "folder"])
def test_a_report_on_counts(command, name):
    """With the names of the classes, in the command and in Python."""
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    true = ["cat", "dog"] * 50
    pred = ["cat"] * 30 + ["dog"] * 70
    pq.write_table(pa.table({"model": ["a", "b"] * 50, "y_true": true, "y_pred": pred}), "x.parquet")
    done(command, "count", "x.parquet", "--by", "model", "--output", "c.parquet")
    Path("folder").mkdir()
    shutil.copy("c.parquet", "folder")
    assert "100 predictions of 2 models over 2 classes" in done(command, "report", name, "--metrics", "accuracy")
    data = matrics.report(name, metrics="accuracy").data
    assert (data.classes, data.models) == (("cat", "dog"), ("a", "b"))
    assert data.matrices.sum() == 100


# What is written ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("digits")
def test_two_halves_make_the_whole(command):
    by = ("--by", "model,repeat,fold")
    for name in ("all", "a", "b"):
        out = done(command, "count", f"{name}.parquet", *by, "--output", f"{name}.counts.parquet")
        assert out.splitlines()[1] == f"{name}.counts.parquet: {'200' if name == 'all' else out.split()[1]} matrices"
    files = {name: f"{name}.counts.parquet" for name in ("all", "a", "b", "merged", "both")}
    out = done(command, "merge", files["a"], files["b"], "--output", files["merged"])
    assert out.splitlines()[0].endswith("200 matrices of 10 classes, 71,880 samples")
    done(command, "count", "a.parquet", "b.parquet", *by, "--output", files["both"])
    whole = Path(files["all"]).read_bytes()
    assert Path(files["merged"]).read_bytes() == whole
    assert Path(files["both"]).read_bytes() == whole
    expected = scores(command, "all.parquet", *by)
    assert scores(command, files["merged"]).equals(expected)
    assert scores(command, "all.parquet", "--by", "model").equals(scores(command, files["merged"], "--by", "model"))
    assert scores(command, files["merged"], *by).equals(expected)


def test_counts_for_everyone(command, digits):
    done(command, "count", DIGITS, "--by", "model,fold", "--output", "c.parquet")
    true, pred = (digits[name].to_numpy() for name in ("y_true", "y_pred"))
    table = pq.read_table("c.parquet")
    assert table.column_names == ["model", "fold", "y_true", "y_pred", "count"]
    assert (table["count"].to_numpy() > 0).all()
    assert table["count"].to_numpy().sum() == len(digits)
    rows = (digits["model"].to_numpy() == "svm_rbf") & (digits["fold"].to_numpy() == 3)
    found = table.filter((pa.compute.field("model") == "svm_rbf") & (pa.compute.field("fold") == 3))
    cells = np.zeros((10, 10))
    cells[found["y_true"].to_numpy(), found["y_pred"].to_numpy()] = found["count"].to_numpy()
    np.testing.assert_array_equal(cells, matrics.confusion_matrix(true[rows], pred[rows], num_classes=10))
    # A table like any other, where the column of counts is named.
    assert scores(command, "c.parquet", "--counts", "count").equals(scores(command, DIGITS))


def test_classes_and_groups_without_samples_are_kept(command):
    columns = {"y_true": [0, 1, 5, 7], "y_pred": [0, 1, 5, 7], "g": ["a", "a", "b", "c"], "w": [2, 3, 4, 0]}
    pq.write_table(pa.table(columns), "x.parquet")
    done(command, "count", "x.parquet", "--counts", "w", "--by", "g", "--output", "c.parquet")
    assert "3 matrices of 4 classes, 9 samples" in done(command, "score", "c.parquet", "--metrics", "accuracy")
    two = pa.table({"y_true": [9], "y_pred": [9], "g": ["d"]})
    pq.write_table(two, "y.parquet")
    done(command, "count", "y.parquet", "--by", "g", "--output", "d.parquet")
    out = done(command, "merge", "c.parquet", "d.parquet", "--output", "e.parquet")
    assert "4 matrices of 5 classes, 10 samples" in out
    assert "4 matrices of 5 classes, 10 samples" in done(command, "score", "e.parquet", "--metrics", "recall:class")


def test_counts_with_fractions(command):
    pq.write_table(pa.table({"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "w": [0.5, 0.25, 3]}), "x.parquet")
    assert "3.75 samples" in done(command, "count", "x.parquet", "--counts", "w", "--output", "c.parquet")
    assert scores(command, "c.parquet").equals(scores(command, "x.parquet", "--counts", "w"))
    other = shutil.copy("c.parquet", "other.parquet")
    assert "7.5 samples" in done(command, "merge", "c.parquet", other, "--output", "twice.parquet")


def test_weights_of_samples(command):
    """Sums of weights and of their squares are all that scores and intervals need."""
    rng = np.random.default_rng(5)
    true = rng.integers(0, 3, 900)
    pred = np.where(rng.random(900) < 0.7, true, rng.integers(0, 3, 900))
    whole = pa.table({"y_true": true, "y_pred": pred, "w": rng.lognormal(size=900), "g": rng.integers(0, 2, 900)})
    for name, rows in (("x", whole), ("a", whole.slice(0, 400)), ("b", whole.slice(400))):
        pq.write_table(rows, f"{name}.parquet")
        done(command, "count", f"{name}.parquet", "--weight", "w", "--by", "g", "--output", f"{name}_counts.parquet")
    done(command, "merge", "a_counts.parquet", "b_counts.parquet", "--output", "merged.parquet")
    columns = pq.read_table("x_counts.parquet")
    assert columns.column_names == ["g", "y_true", "y_pred", "count", "weight", "squared_weight"]
    assert columns["count"].to_numpy().sum() == 900
    np.testing.assert_allclose(columns["squared_weight"].to_numpy().sum(), (whole["w"].to_numpy() ** 2).sum())
    options = ("--metrics", "mcc,f1:macro", "--output", "i.parquet")
    done(command, "interval", "x.parquet", "--by", "g", "--weight", "w", *options)
    expected = pq.read_table("i.parquet").to_pandas()
    for name in ("x_counts.parquet", "merged.parquet"):
        done(command, "interval", name, *options)
        np.testing.assert_allclose(pq.read_table("i.parquet").to_pandas(), expected, rtol=1e-10)
    said = refused(command, "merge", "x_counts.parquet", "no_weights.parquet", "--output", "y.parquet")
    assert said == "no_weights.parquet: No such file or directory"
    done(command, "count", "x.parquet", "--by", "g", "--output", "no_weights.parquet")
    said = refused(command, "merge", "x_counts.parquet", "no_weights.parquet", "--output", "y.parquet")
    assert said.startswith("no_weights.parquet: expected counts of y_true and y_pred by g with weights, as in x_counts")


def test_text_of_two_types_has_the_same_bytes(command):
    for name, kind in (("a", pa.string()), ("b", pa.large_string())):
        columns = {
            "y_true": pa.array(["u", "v"], kind),
            "y_pred": pa.array(["u", "u"], kind),
            "g": pa.array(["m", "n"], kind),
        }
        pq.write_table(pa.table(columns), f"{name}.parquet")
        done(command, "count", f"{name}.parquet", "--by", "g", "--output", f"{name}_counts.parquet")
    assert Path("a_counts.parquet").read_bytes() == Path("b_counts.parquet").read_bytes()
    done(command, "merge", "a_counts.parquet", "b_counts.parquet", "--output", "merged.parquet")
    done(command, "count", "a.parquet", "b.parquet", "--by", "g", "--output", "both.parquet")
    assert Path("merged.parquet").read_bytes() == Path("both.parquet").read_bytes()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        pa.array(["a", "b"], pa.large_string()),
        pa.array(["a", "b"]).dictionary_encode(),
        pa.array([1, 2], pa.int8()),
        pa.array([1, 2], pa.uint64()),
        pa.array([0.5, np.inf]),
        pa.array([False, True]),
        pa.array([1, 2], pa.date32()),
        pa.array([1, 2], pa.timestamp("ns")),
        pa.array([1, 2], pa.timestamp("us", "UTC")),
        pa.array([1, 2]).cast(pa.decimal128(20, 1)),
        pa.array(["a", "a\0"]),
    ],
    ids=lambda values: str(getattr(values, "type", "text")),
)
def test_types_of_groups_stay(command, values):
    table = pa.table({"y_true": [0, 1], "y_pred": [0, 0], "g": values})
    pq.write_table(table, "x.parquet")
    expected = scores(command, "x.parquet", "--by", "g")
    done(command, "count", "x.parquet", "--by", "g", "--output", "c.parquet")
    assert scores(command, "c.parquet").equals(expected)


def test_names_that_are_taken(command):
    pq.write_table(pa.table({"true": ["a", "b"], "pred": ["b", "b"], "count": [1, 1], "count_": [2, 2]}), "x.parquet")
    options = ("--true", "true", "--pred", "pred", "--by", "count,count_")
    done(command, "count", "x.parquet", *options, "--output", "c.parquet")
    assert pq.read_table("c.parquet").column_names == ["count", "count_", "true", "pred", "count__"]
    assert "1 matrix of 2 classes, 2 samples" in done(command, "score", "c.parquet", "--metrics", "accuracy")


# What does not fit --------------------------------------------------------------------------------------------------


def test_counts_that_do_not_fit_together(command):
    def write(name, **columns):
        pq.write_table(pa.table(columns), "x.parquet")
        by = ",".join(set(columns) - {"y_true", "y_pred"})
        done(command, "count", "x.parquet", *(["--by", by] if by else []), "--output", name)

    write("a.parquet", y_true=[0], y_pred=[0], g=["m"])
    write("text.parquet", y_true=["x"], y_pred=["x"], g=["m"])
    write("number.parquet", y_true=[0], y_pred=[0], g=[1])
    write("other.parquet", y_true=[0], y_pred=[0], h=["m"])
    write("none.parquet", y_true=[0], y_pred=[0])
    for name, expected in {
        "text.parquet": "text.parquet: expected classes of type int64, as in a.parquet, got large_string",
        "number.parquet": "number.parquet: column 'g': expected text, as in the rows before, got int64",
        "other.parquet": "other.parquet: expected counts of y_true and y_pred by g, as in a.parquet, got counts of",
        "none.parquet": "none.parquet: expected counts of y_true and y_pred by g, as in a.parquet, got counts of",
        "x.parquet": "x.parquet: expected a file of counts, as written by matrics count, got a file of another kind",
        "x.csv": "x.csv: expected a file of counts with the suffix .parquet: matrics count writes",
        "gone.parquet": "gone.parquet: No such file or directory",
    }.items():
        assert refused(command, "merge", "a.parquet", name, "--output", "m.parquet").startswith(expected)
    assert not Path("m.parquet").exists()
    assert "got no 'x'" in refused(command, "score", "a.parquet", "--by", "x")
    assert "--true and --pred to name y_true and y_pred" in refused(command, "score", "a.parquet", "--true", "t")
    assert "--clusters: expected a file of labels" in refused(command, "interval", "a.parquet", "--clusters", "g")
    assert "as a.parquet, got a file of another kind" in refused(
        command, "count", "a.parquet", "x.parquet", "--output", "m.parquet"
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["x.csv", "--output", "c.xlsx"], "--output: expected a name that ends in .parquet, got 'c.xlsx'"),
        (["x.csv", "--output", "no/c.parquet"], "--output: expected an existing directory, got 'no'"),
        (["c.parquet", "--output", "c.parquet"], "--output: expected a file other than the input, got 'c.parquet'"),
        (["x.csv", "x.parquet", "--output", "d.parquet"], "x.csv: expected only text files or only Parquet files"),
        (["-", "-", "--output", "d.parquet"], "-: expected standard input once"),
        (["x.csv", "--counts", "y_true", "--output", "d.parquet"], "--counts: expected a column other than"),
        (
            ["x.csv", "--counts", "w", "--output", "d.parquet"],
            "x.csv: expected the columns y_true, y_pred, w, got no 'w'",
        ),
        (["x.csv", "--pred", "y_true", "--output", "d.parquet"], "--pred: expected a column other than"),
        (["gone.parquet", "--output", "d.parquet"], "gone.parquet: No such file or directory"),
    ],
)
def test_count_says_what_is_wrong(command, arguments, expected):
    Path("x.csv").write_text("y_true,y_pred\n0,0\n")
    pq.write_table(pa.table({"y_true": [0], "y_pred": [0]}), "x.parquet")
    done(command, "count", "x.csv", "--output", "c.parquet")
    before = sorted(Path().iterdir())
    assert refused(command, "count", *arguments).startswith(expected)
    assert sorted(Path().iterdir()) == before


def test_a_full_disk_leaves_the_old_file(command, monkeypatch):
    Path("x.csv").write_text("y_true,y_pred\n0,0\n")
    Path("c.parquet").write_text("precious")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matrics._files.outputs.whole.os.fsync", full)
    assert refused(command, "count", "x.csv", "--output", "c.parquet") == "c.parquet: No space left on device"
    assert Path("c.parquet").read_text() == "precious"
    assert sorted(path.name for path in Path().iterdir()) == ["c.parquet", "x.csv"]


# Damage -------------------------------------------------------------------------------------------------------------


def prepare(command, suffix):
    """A file of labels with checksums, a stack, or counts; and what is found in it."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 4, 3000)
    table = pa.table(
        {
            "y_true": true,
            "y_pred": np.where(rng.random(3000) < 0.5, true, 1),
            "g": pa.array([f"model {k}" for k in rng.integers(0, 5, 3000)]),
        }
    )
    pq.write_table(table, "labels.parquet", row_group_size=1100, write_page_checksum=True)
    if suffix == "labels.parquet":
        return "labels.parquet", ("--by", "g")
    if suffix == "stack.npz":
        np.savez("stack.npz", a=rng.integers(0, 9, (30, 3, 3)), b=rng.integers(0, 9, (30, 3, 3)))
    elif suffix == "packed.npz":
        np.savez_compressed("packed.npz", a=rng.integers(0, 9, (300, 3, 3)))
    else:
        done(command, "count", "labels.parquet", "--by", "g", "--output", suffix)
    return suffix, ()


FILES = ["labels.parquet", "stack.npz", "packed.npz", "counts.parquet"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("file", FILES)
def test_truncated_files_are_refused(command, file):
    name, options = prepare(command, file)
    content = Path(name).read_bytes()
    for tenth in range(10):
        Path(name).write_bytes(content[: len(content) * tenth // 10])
        assert refused(command, "score", name, *options, "--output", "o.parquet").startswith(f"{name}: ")
        assert not Path("o.parquet").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("flips", [10, pytest.param(60, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("file", FILES)
def test_flipped_bits_are_found_or_change_nothing(command, file, flips):
    name, options = prepare(command, file)
    content = Path(name).read_bytes()
    expected = numbers(scores(command, name, *options))
    rng = np.random.default_rng(flips)
    found = 0
    for bit in rng.choice(8 * len(content), flips, replace=False):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        Path(name).write_bytes(damaged)
        code, _, err = command("score", name, *options, "--metrics", "core", "--output", "scores.parquet")
        assert code in (0, 2)
        if code == 2:
            found += 1
            assert len(without_warning(err).splitlines()) == 1, (bit, err)
        else:
            np.testing.assert_array_equal(numbers(pq.read_table("scores.parquet")), expected, err_msg=str(bit))
    assert found > flips / 3


def numbers(table):
    """The scores, without the names of groups, which have a checksum only where matrics wrote them."""
    return np.array([table[name].to_numpy() for name in table.column_names[-len(matrics.list_metrics("core")) :]])


def test_counts_that_are_not_those_that_were_written(command):
    name, _ = prepare(command, "counts.parquet")
    table = pq.read_table(name)
    counts = table["count"].to_numpy().copy()
    counts[0] += 1
    digest = pq.read_metadata(name).metadata[counts_file.DIGEST]
    changed = table.set_column(3, "count", pa.array(counts))
    for metadata in ({**table.schema.metadata, counts_file.DIGEST: digest}, table.schema.metadata):
        pq.write_table(changed.replace_schema_metadata(metadata), name)
        assert "the file is damaged" in refused(command, "score", name)
    about = json.loads(table.schema.metadata[counts_file.KEY])
    for key in ("version", "classes", "by"):
        missing = {name: value for name, value in about.items() if name != key}
        pq.write_table(changed.replace_schema_metadata({counts_file.KEY: json.dumps(missing)}), name)
        assert "the file is damaged" in refused(command, "score", name)
    for wrong in ({**about, "version": 2}, {**about, "classes": []}, {**about, "classes": ["0", "1", "2", "3"]}):
        pq.write_table(changed.replace_schema_metadata({counts_file.KEY: json.dumps(wrong)}), name)
        assert refused(command, "score", name).startswith(f"{name}: ")


def test_counts_are_not_taken_for_rows_where_their_metadata_are_hidden(command):
    name, _ = prepare(command, "counts.parquet")
    content = Path(name).read_bytes()
    assert content.count(b"\x07matrics\x18") == 1
    Path(name).write_bytes(content.replace(b"\x07matrics\x18", b"\x07matricz\x18"))
    assert "the file is damaged" in refused(command, "score", name)
