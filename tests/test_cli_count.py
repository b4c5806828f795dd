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

from matrics.files import counts_file  # noqa: E402

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


# What is written ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize("suffix", ["npz", "parquet"])
def test_two_halves_make_the_whole(command, suffix):
    by = ("--by", "model,repeat,fold")
    for name in ("all", "a", "b"):
        out = done(command, "count", f"{name}.parquet", *by, "--output", f"{name}.{suffix}x.{suffix}")
        assert (
            out.splitlines()[1] == f"{name}.{suffix}x.{suffix}: {'200' if name == 'all' else out.split()[1]} matrices"
        )
    files = {name: f"{name}.{suffix}x.{suffix}" for name in ("all", "a", "b", "merged", "both")}
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
    done(command, "count", DIGITS, "--by", "model,fold", "--output", "c.npz")
    done(command, "count", DIGITS, "--by", "model,fold", "--output", "c.parquet")
    with np.load("c.npz", allow_pickle=False) as arrays:
        assert sorted(arrays) == ["about", "by/fold", "by/model", "classes", "counts"]
        counts, models, folds = (arrays[name] for name in ("counts", "by/model", "by/fold"))
        np.testing.assert_array_equal(arrays["classes"], np.arange(10))
    assert counts.shape == (40, 10, 10)
    true, pred = (digits[name].to_numpy() for name in ("y_true", "y_pred"))
    for k in (0, 17, 39):
        rows = (digits["model"].to_numpy() == models[k]) & (digits["fold"].to_numpy() == folds[k])
        np.testing.assert_array_equal(counts[k], matrics.confusion_matrix(true[rows], pred[rows], num_classes=10))
    table = pq.read_table("c.parquet")
    assert table.column_names == ["model", "fold", "y_true", "y_pred", "count"]
    assert (table["count"].to_numpy() > 0).all()
    assert table["count"].to_numpy().sum() == len(digits)
    # A table like any other, where the column of counts is named.
    assert scores(command, "c.parquet", "--counts", "count").equals(scores(command, DIGITS))


def test_classes_and_groups_without_samples_are_kept(command):
    columns = {"y_true": [0, 1, 5, 7], "y_pred": [0, 1, 5, 7], "g": ["a", "a", "b", "c"], "w": [2, 3, 4, 0]}
    pq.write_table(pa.table(columns), "x.parquet")
    for name in ("c.parquet", "c.npz"):
        done(command, "count", "x.parquet", "--counts", "w", "--by", "g", "--output", name)
        assert "3 matrices of 4 classes, 9 samples" in done(command, "score", name, "--metrics", "accuracy")
    two = pa.table({"y_true": [9], "y_pred": [9], "g": ["d"]})
    pq.write_table(two, "y.parquet")
    done(command, "count", "y.parquet", "--by", "g", "--output", "d.npz")
    out = done(command, "merge", "c.parquet", "d.npz", "--output", "e.parquet")
    assert "4 matrices of 5 classes, 10 samples" in out
    assert "4 matrices of 5 classes, 10 samples" in done(command, "score", "e.parquet", "--metrics", "recall:class")
    done(command, "merge", "c.parquet", "d.npz", "--output", "e.npz")
    with np.load("e.npz") as arrays:
        assert arrays["counts"][3, 4].tolist() == [0, 0, 0, 0, 1]
        assert arrays["counts"][2].tolist() == np.zeros((5, 5)).tolist()


def test_weights(command):
    pq.write_table(pa.table({"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "w": [0.5, 0.25, 3]}), "x.parquet")
    for name in ("c.parquet", "c.npz"):
        assert "3.75 samples" in done(command, "count", "x.parquet", "--counts", "w", "--output", name)
        assert scores(command, name).equals(scores(command, "x.parquet", "--counts", "w"))
        other = shutil.copy(name, f"other_{name}")
        assert "7.5 samples" in done(command, "merge", name, other, "--output", "twice.npz")


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
    ],
    ids=lambda values: str(getattr(values, "type", "text")),
)
def test_types_of_groups_stay(command, values):
    table = pa.table({"y_true": [0, 1], "y_pred": [0, 0], "g": values})
    pq.write_table(table, "x.parquet")
    expected = scores(command, "x.parquet", "--by", "g")
    for name in ("c.parquet", "c.npz"):
        done(command, "count", "x.parquet", "--by", "g", "--output", name)
        assert scores(command, name).equals(expected)


def test_groups_that_an_npz_cannot_hold(command):
    for values in (pa.array([1, 2]).cast(pa.decimal128(20, 1)), pa.array(["a", "a\0"])):
        pq.write_table(pa.table({"y_true": [0, 1], "y_pred": [0, 0], "g": values}), "x.parquet")
        said = refused(command, "count", "x.parquet", "--by", "g", "--output", "c.npz")
        assert said.startswith("--output: expected a name that ends in .parquet for 'g' of type ")
        done(command, "count", "x.parquet", "--by", "g", "--output", "c.parquet")
        assert scores(command, "c.parquet").equals(scores(command, "x.parquet", "--by", "g"))
    assert sorted(path.name for path in Path().iterdir()) == ["c.parquet", "scores.parquet", "x.parquet"]


def test_names_that_are_taken(command):
    pq.write_table(pa.table({"true": ["a"], "pred": ["b"], "count": [1], "count_": [2]}), "x.parquet")
    options = ("--true", "true", "--pred", "pred", "--by", "count,count_")
    done(command, "count", "x.parquet", *options, "--output", "c.parquet")
    assert pq.read_table("c.parquet").column_names == ["count", "count_", "true", "pred", "count__"]
    assert "1 matrix of 2 classes, 1 sample" in done(command, "score", "c.parquet", "--metrics", "accuracy")


# What does not fit --------------------------------------------------------------------------------------------------


def test_counts_that_do_not_fit_together(command):
    def write(name, **columns):
        pq.write_table(pa.table(columns), "x.parquet")
        by = ",".join(set(columns) - {"y_true", "y_pred"})
        done(command, "count", "x.parquet", *(["--by", by] if by else []), "--output", name)

    write("a.npz", y_true=[0], y_pred=[0], g=["m"])
    write("text.parquet", y_true=["0"], y_pred=["0"], g=["m"])
    write("number.parquet", y_true=[0], y_pred=[0], g=[1])
    write("other.npz", y_true=[0], y_pred=[0], h=["m"])
    write("none.npz", y_true=[0], y_pred=[0])
    for name, expected in {
        "text.parquet": "text.parquet: expected classes of type int64, as in a.npz, got large_string",
        "number.parquet": "number.parquet: column 'g': expected string, as in the rows before, got int64",
        "other.npz": "other.npz: expected counts of y_true and y_pred by g, as in a.npz, got those of y_true and",
        "none.npz": "none.npz: expected counts of y_true and y_pred by g, as in a.npz, got those of y_true and y_pred",
        "x.parquet": "x.parquet: expected a file of counts, as by matrics count, got another",
        "x.csv": "x.csv: expected a file of counts, .npz or .parquet, as by matrics count",
        "gone.npz": "gone.npz: No such file or directory",
    }.items():
        assert refused(command, "merge", "a.npz", name, "--output", "m.npz").startswith(expected)
    assert not Path("m.npz").exists()
    assert "got no 'x'" in refused(command, "score", "a.npz", "--by", "x")
    assert "--true and --pred to name y_true and y_pred" in refused(command, "score", "a.npz", "--true", "t")
    assert "--clusters: expected a file of labels" in refused(command, "interval", "a.npz", "--clusters", "g")
    assert "as a.npz is one, got another" in refused(command, "count", "a.npz", "x.parquet", "--output", "m.npz")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["x.csv"], "--output: expected a name that ends in .npz or .parquet, got none"),
        (["x.csv", "--output", "c.csv"], "--output: expected a name that ends in .npz or .parquet, got 'c.csv'"),
        (["x.csv", "--output", "no/c.npz"], "--output: expected an existing directory, got 'no'"),
        (["c.npz", "--output", "c.npz"], "--output: expected another file than the input, got 'c.npz'"),
        (["x.csv", "x.parquet", "--output", "d.npz"], "x.csv: expected text files alone or Parquet files alone"),
        (["-", "-", "--output", "d.npz"], "-: expected standard input once"),
        (["x.csv", "--counts", "y_true", "--output", "d.npz"], "--counts: expected another column"),
        (["x.csv", "--counts", "w", "--output", "d.npz"], "x.csv: expected the columns y_true, y_pred, w, got no 'w'"),
        (["x.csv", "--pred", "y_true", "--output", "d.npz"], "--pred: expected another column"),
        (["gone.parquet", "--output", "d.npz"], "gone.parquet: No such file or directory"),
    ],
)
def test_count_says_what_is_wrong(command, arguments, expected):
    Path("x.csv").write_text("y_true,y_pred\n0,0\n")
    pq.write_table(pa.table({"y_true": [0], "y_pred": [0]}), "x.parquet")
    done(command, "count", "x.csv", "--output", "c.npz")
    before = sorted(Path().iterdir())
    assert refused(command, "count", *arguments).startswith(expected)
    assert sorted(Path().iterdir()) == before


def test_a_full_disk_leaves_the_old_file(command, monkeypatch):
    Path("x.csv").write_text("y_true,y_pred\n0,0\n")
    Path("c.npz").write_text("precious")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matrics.files.outputs.whole.os.fsync", full)
    assert refused(command, "count", "x.csv", "--output", "c.npz") == "c.npz: No space left on device"
    assert Path("c.npz").read_text() == "precious"
    assert sorted(path.name for path in Path().iterdir()) == ["c.npz", "x.csv"]


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


FILES = ["labels.parquet", "stack.npz", "packed.npz", "counts.npz", "counts.parquet"]


@pytest.mark.parametrize("file", FILES)
def test_truncated_files_are_refused(command, file):
    name, options = prepare(command, file)
    content = Path(name).read_bytes()
    for tenth in range(10):
        Path(name).write_bytes(content[: len(content) * tenth // 10])
        assert refused(command, "score", name, *options, "--output", "o.parquet").startswith(f"{name}: ")
        assert not Path("o.parquet").exists()


@pytest.mark.parametrize("flips", [30, pytest.param(300, marks=pytest.mark.exhaustive)])
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
