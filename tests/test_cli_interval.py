"""matrics interval: the numbers of the library, on the screen and in files; seeds, clusters and complaints."""

import re
from pathlib import Path

import numpy as np
import pytest

import matrics

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DIGITS = Path(__file__).parents[1] / "examples" / "digits_sweep.parquet"
STACK = np.array([[[8, 2], [1, 9]], [[48, 2], [3, 47]], [[5, 5], [0, 0]]])
FIELDS = {"": "estimate", "/low": "low", "/high": "high", "/standard_error": "standard_error", "/status": "status"}


def assert_written(path, name, expected, index=...):
    """The five columns of a measure in a Parquet file are the fields of its interval."""
    written = pq.read_table(path)
    for ending, field in FIELDS.items():
        values = written[name + ending].to_numpy()  # null is NaN
        wanted = np.asarray(getattr(expected, field))[index]
        np.testing.assert_allclose(values, wanted, rtol=1e-12, err_msg=name + ending)


@pytest.fixture(scope="module")
def digits():
    """The example as one matrix for each image and model: (1797, 8, 10, 10), models sorted."""
    table = pq.read_table(DIGITS)
    _, model = np.unique(table["model"].cast(pa.string()).to_numpy(), return_inverse=True)
    sample, true, pred = (table[name].to_numpy() for name in ("sample", "y_true", "y_pred"))
    stack = np.zeros((1797, 8, 10, 10), np.int64)
    np.add.at(stack, (sample, model, true, pred), 1)
    return stack


# Values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["--level", "0.8", "--scheme", "rows"], {"level": 0.8, "scheme": "rows"}),
        (["--method", "delta", "--zero-division", "0"], {"method": "delta", "zero_division": 0}),
        (["--method", "bootstrap", "--num", "300", "--seed", "5"], {"method": "bootstrap", "num": 300, "rng": 5}),
        (["--method", "bca", "--num", "300", "--seed", "5"], {"method": "bca", "num": 300, "rng": 5}),
        (["--method", "posterior", "--num", "300", "--seed", "5"], {"method": "posterior", "num": 300, "rng": 5}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_output_is_that_of_the_library(command, tmp_path, arguments, options):
    np.save(tmp_path / "s.npy", STACK)
    metrics = "accuracy,mcc,recall:class"
    code, out, err = command("interval", "s.npy", "--metrics", metrics, *arguments, "--output", "o.parquet")
    assert (code, err) == (0, "")
    assert "o.parquet: 3 rows of 4 intervals" in out
    expected = matrics.interval(STACK, metrics, **options)
    names = [
        name + ending for name in ("accuracy", "mcc", "recall of class 0", "recall of class 1") for ending in FIELDS
    ]
    assert pq.read_table(tmp_path / "o.parquet").column_names == ["index_0", *names]
    assert_written("o.parquet", "accuracy", expected["accuracy"])
    assert_written("o.parquet", "mcc", expected["mcc"])
    assert_written("o.parquet", "recall of class 1", expected["recall:class"], (slice(None), 1))


def test_wilson_and_rows_of_predictions(command, tmp_path):
    np.save(tmp_path / "s.npy", STACK)
    arguments = ("--method", "wilson", "--metrics", "recall:class", "--rows", "pred")
    assert command("interval", "s.npy", *arguments, "--output", "o.parquet")[0] == 0
    expected = matrics.interval(STACK.swapaxes(1, 2), "recall:class", method="wilson")["recall:class"]
    assert_written("o.parquet", "recall of class 0", expected, (slice(None), 0))


def test_csv_has_empty_cells_and_whole_numbers(command, tmp_path):
    np.save(tmp_path / "s.npy", STACK)
    assert command("interval", "s.npy", "--metrics", "mcc", "--output", "o.csv")[0] == 0
    head, *rows = (tmp_path / "o.csv").read_text().splitlines()
    assert head == "index_0,mcc,mcc/low,mcc/high,mcc/standard_error,mcc/status"
    assert [row.rpartition(",")[2] for row in rows] == ["1", "0", "6"]
    assert rows[2] == "2,,,,,6"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["auto", "bootstrap"])
def test_blocks_do_not_matter(command, monkeypatch, tmp_path, method):
    np.save(tmp_path / "s.npy", np.random.default_rng(0).integers(1, 30, (9, 3, 3)))
    draws = () if method == "auto" else ("--seed", "1", "--num", "8000")
    arguments = ("interval", "s.npy", "--metrics", "mcc", "--method", method, *draws, "--output", "o.csv")
    written = []
    for size in (2**20, 8 * 9 * 2):
        monkeypatch.setattr("matrics._cli.interval.IntervalRun.piece_bytes", size)
        assert command(*arguments)[0] == 0
        written.append((tmp_path / "o.csv").read_text())
    assert written[0] == written[1]


# Clusters -------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize("draws", [[], ["--method", "bootstrap", "--num", "200", "--seed", "3"]], ids=["auto", "boot"])
def test_clusters_of_the_example(command, tmp_path, digits, draws):
    arguments = ("interval", DIGITS, "--by", "model", "--metrics", "accuracy,mcc", "--clusters", "sample", *draws)
    code, out, err = command(*arguments)
    assert (code, err) == (0, "")
    assert "1,797 clusters (sample) in each matrix" in out
    assert command(*arguments, "--output", "o.parquet")[0] == 0
    options = {"method": "bootstrap", "num": 200, "rng": 3} if draws else {}
    expected = matrics.interval(digits, "accuracy,mcc", cluster_axis=0, **options)
    for name in ("accuracy", "mcc"):
        assert_written("o.parquet", name, expected[name])
    naive = matrics.interval(digits.sum(axis=0), "accuracy")["accuracy"]
    found = pq.read_table(tmp_path / "o.parquet")
    wide = found["accuracy/high"].to_numpy() - found["accuracy/low"].to_numpy()
    better = naive.estimate > 0.5  # guesses are new at each repeat: theirs are as good as independent
    assert (wide[better] > 1.5 * (naive.high - naive.low)[better]).all()


def test_a_group_has_its_own_clusters(command, tmp_path):
    rng = np.random.default_rng(1)
    group, patient = rng.integers(0, 2, 200), rng.integers(0, 12, 200)
    patient[group == 1] %= 5
    true, pred = rng.integers(0, 2, (2, 200))
    columns = {"g": group, "patient": [f"p{k}" for k in patient], "y_true": true, "y_pred": pred}
    pq.write_table(pa.table(columns), tmp_path / "l.parquet")
    header = ",".join(columns)
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "l.csv").write_text("\n".join([header, *rows]))
    stack = np.zeros((12, 2, 2, 2), int)
    np.add.at(stack, (patient, group, true, pred), 1)
    for file in ("l.parquet", "l.csv"):
        arguments = ("interval", file, "--by", "g", "--clusters", "patient", "--metrics", "f1")
        assert "5 to 12 clusters (patient) in each matrix" in command(*arguments)[1]
        assert command(*arguments, "--output", "o.parquet")[0] == 0
        for k, clusters in enumerate([stack[:, 0], stack[:5, 1]]):
            expected = matrics.interval(clusters, "f1", cluster_axis=0)["f1"]
            written = pq.read_table(tmp_path / "o.parquet")
            for ending, field in FIELDS.items():
                assert written["f1 of class 1" + ending][k].as_py() == pytest.approx(
                    getattr(expected, field), rel=1e-12
                )
    assert command("interval", "l.csv", "--clusters", "patient", "--metrics", "f1", "--output", "o.parquet")[0] == 0
    assert_written("o.parquet", "f1 of class 1", matrics.interval(stack.sum(axis=1), "f1", cluster_axis=0)["f1"])


# Screens --------------------------------------------------------------------------------------------------------------


def test_a_stack_on_screen(command, tmp_path):
    np.save(tmp_path / "s.npy", STACK)
    code, out, err = command("interval", "s.npy", "--metrics", "accuracy,mcc,recall:class,f1:class")
    assert (code, err) == (0, "")
    title, how, _, *table = out.splitlines()
    assert title == "s.npy: 3 matrices of 2 classes, 130 samples"
    assert how == "95 % intervals by method auto"
    assert max(map(len, table[:-3])) <= 100  # more go below
    assert sum(line.startswith("1 ") for line in table) == 2
    found = matrics.interval(STACK, "accuracy")["accuracy"]
    limits = f"{found.estimate[0]:.3f} [{found.low[0]:.3f}, {found.high[0]:.3f}]¹"
    assert limits in out
    assert re.search(r"^2 .* –⁶", out, re.MULTILINE)
    for code in (1, 6):
        sentence = re.escape(matrics.IntervalStatus(code).sentence)
        assert len(re.findall(rf"^{'⁰¹²³⁴⁵⁶'[code]} {sentence} \(\d+ of 18\)$", out, re.MULTILINE)) == 1
    assert "⁴" not in out


def test_a_status_above_7_on_screen(command, tmp_path):
    cells = [[200, 20, 20], [20, 200, 20], [20, 20, 200]]
    np.savetxt(tmp_path / "m.csv", cells, fmt="%d", delimiter=",")
    status = int(matrics.interval(cells, "f1:min", method="delta")["f1:min"].status)
    assert status == matrics.IntervalStatus.BIASED
    code, out, _ = command("interval", "m.csv", "--metrics", "f1:min", "--method", "delta")
    assert code == 0
    assert "]⁹ " in out
    assert re.search(rf"^⁹ {re.escape(matrics.IntervalStatus.BIASED.sentence)[:40]}", out, re.MULTILINE)


def test_one_matrix_on_screen(command, tmp_path):
    (tmp_path / "m.csv").write_text("45,5\n10,40\n")
    _, out, _ = command("interval", "m.csv", "--metrics", "accuracy,mcc", "--level", "0.9")
    assert "90 % intervals" in out
    found = matrics.interval([[45, 5], [10, 40]], "mcc", level=0.9)["mcc"]
    limits = f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]"
    row = f"mcc +{re.escape(limits)} +{found.standard_error:.3f} +" + re.escape("[-1, 1], higher is better")
    assert re.search(f"^{row}$", out, re.MULTILINE)
    assert out.count("\n\n") == 1  # nothing to be wary of


def test_many_matrices_are_summarised(command, tmp_path):
    stack = np.random.default_rng(2).integers(0, 40, (60, 2, 2))
    stack[7, 1] = 0
    np.save(tmp_path / "s.npy", stack)
    _, out, _ = command("interval", "s.npy", "--metrics", "accuracy,mcc")
    for name, found in matrics.interval(stack, "accuracy,mcc").items():
        wide = found.high - found.low
        line = next(line for line in out.splitlines() if line.startswith(name))
        shares = [np.nanmean(wide), np.nanstd(wide, ddof=1), *np.nanquantile(wide, [0.05, 0.5, 0.95]), np.nanmin(wide)]
        assert line.split()[1:7] == [f"{value:.3f}" for value in shares]
        assert f"[{np.nanargmax(wide)}]" in line
        assert line.split()[-1] == str(np.isnan(wide).sum())
    assert "no limits" in out
    assert "*" not in out
    assert re.search(r"^status 6: the measure is undefined for this matrix \(1 of 120\)$", out, re.MULTILINE)


def test_the_seed_is_0_and_printed(command, tmp_path):
    np.save(tmp_path / "s.npy", STACK)
    arguments = ("interval", "s.npy", "--metrics", "mcc", "--method", "bootstrap", "--num", "500")
    code, out, _ = command(*arguments)
    assert code == 0
    assert "\n95 % intervals by method bootstrap, 500 replicates, seed 0\n" in out
    assert command(*arguments, "--seed", "0")[1] == out
    assert command(*arguments, "--seed", "1")[1] != out
    assert "seed" not in command("interval", "s.npy", "--seed", "3")[1]  # nothing is drawn


# What is wrong --------------------------------------------------------------------------------------------------------

DRAWN = ["--method", "bootstrap", "--num", "9"]
WRONG = {
    "unknown method": (["s.npy", "--method", "magic"], "--method: expected one of 'auto', "),
    "unknown scheme": (["s.npy", "--scheme", "magic"], "--scheme: expected for method='auto' one of"),
    "level of 95": (["s.npy", "--level", "95"], "--level: expected a number between 0 and 1, such as 0.95, got 95.0"),
    "level in words": (["s.npy", "--level", "high"], "--level: expected a number, got 'high'"),
    "no replicates": (["s.npy", "--method", "bca", "--num", "0"], "--num: expected an integer of at least 1, got 0"),
    "half a seed": (["s.npy", *DRAWN, "--seed", "0.5"], "--seed: expected an integer, got '0.5'"),
    "negative seed": (["s.npy", *DRAWN, "--seed", "-1"], "--seed: expected an integer from 0, got -1"),
    "seed of delta": (
        ["s.npy", "--method", "delta", "--seed", "1"],
        "a method that draws, got --method delta",
    ),
    "num of wilson": (["s.npy", "--method", "wilson", "--num", "9"], "--num: expected a method that draws"),
    "wilson of mcc": (
        ["s.npy", "--method", "wilson", "--metrics", "mcc"],
        "--method: expected another method than 'wilson'",
    ),
    "clusters of matrices": (["s.npy", "--clusters", "g"], "--clusters: expected a file with columns y_true and"),
    "scheme clusters alone": (["s.npy", "--scheme", "clusters"], "--scheme: expected --clusters COLUMN with"),
    "two schemes": (["l.parquet", "--clusters", "g", "--scheme", "rows"], "--scheme: expected clusters or no scheme"),
    "wilson of clusters": (["l.parquet", "--clusters", "g", "--method", "wilson"], "--scheme: expected for method"),
    "no such column": (["l.parquet", "--clusters", "h"], "expected the columns y_true, y_pred, h, got no 'h'"),
    "clusters by clusters": (["l.parquet", "--by", "g", "--clusters", "g"], "expected a column other than the labels"),
    "clusters of labels": (["l.parquet", "--clusters", "y_true"], "expected a column other than the labels"),
    "missing cluster": (["l.parquet", "--clusters", "holes"], "column 'holes': expected a value in every row"),
    "one cluster": (
        ["l.parquet", "--clusters", "one"],
        "--clusters: expected at least two values of 'one', got a single value",
    ),
    "one cluster in a group": (
        ["l.parquet", "--by", "g", "--clusters", "k"],
        "values of 'k' in g b, got a single value",
    ),
    "soft counts": (["soft.npy", *DRAWN], "got 1.5 in the cell [1, 0] (from 0) of matrix [1]; --scheme poisson takes"),
    "soft predictions": (["soft.npy", "--rows", "pred", *DRAWN], "got 1.5 in the cell [1, 0] (from 0) of matrix [1]"),
    "negative": (["negative.npy"], "expected counts of at least 0, got -1 in the cell [1, 0] (from 0) of matrix [2]"),
    "column twice": (
        ["l.parquet", "--by", "mcc/low", "--metrics", "mcc", "--output", "o.csv"],
        "two columns of the name 'mcc/low'",
    ),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_one_line(command, monkeypatch, tmp_path, case):
    monkeypatch.setattr("matrics._cli.interval.IntervalRun.piece_bytes", 1)  # a matrix at a time
    np.save(tmp_path / "s.npy", STACK)
    np.save(tmp_path / "soft.npy", [[[1, 2], [3, 4]], [[1, 2], [1.5, 4]]])
    np.save(tmp_path / "negative.npy", np.where(np.arange(12).reshape(3, 2, 2) == 10, -1, STACK))
    names = {"g": ["a", "a", "b", "b"], "k": [1, 2, 3, 3], "one": [1] * 4, "holes": [1, None, 2, 3], "mcc/low": [1] * 4}
    pq.write_table(pa.table({"y_true": [0, 1, 0, 1], "y_pred": [0, 1, 1, 1], **names}), tmp_path / "l.parquet")
    before = sorted(tmp_path.iterdir())
    arguments, expected = WRONG[case]
    code, out, err = command("interval", *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("matrics: ")
    assert expected in err
    assert sorted(tmp_path.iterdir()) == before


def test_help(command):
    code, out, err = command("interval", "--help")
    assert (code, err) == (0, "")
    assert "Usage: " in out
