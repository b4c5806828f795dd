"""Weights of samples on the command line: matrices and limits with those of the library, sample by sample."""

import csv

import numpy as np
import pytest
from commands import done, refused

import matrics

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 600
MODELS = ("a", "b")


def survey():
    """True labels, the predictions of two models, and weights."""
    rng = np.random.default_rng(0)
    y_true, weights = rng.integers(0, 2, N), rng.lognormal(size=N).round(3)
    wrong = [rng.random(N) < share for share in (0.1, 0.25)]
    return y_true, [np.where(one, 1 - y_true, y_true) for one in wrong], weights


@pytest.fixture(autouse=True)
def _files(tmp_path):
    y_true, predictions, weights = survey()
    columns = {
        "model": np.repeat(MODELS, N).tolist(),
        "id": [*range(N)] * 2,
        "y_true": np.tile(y_true, 2).tolist(),
        "y_pred": np.concatenate(predictions).tolist(),
        "w": np.tile(weights, 2).tolist(),
    }
    pq.write_table(pa.table(columns), tmp_path / "s.parquet")
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "s.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "wrong.csv").write_text("\n".join([*lines[:5], "a,9,0,1,-2"]) + "\n")
    (tmp_path / "inf.csv").write_text("\n".join([*lines[:5], "a,9,0,1,inf"]) + "\n")
    (tmp_path / "hole.csv").write_text("\n".join([*lines[:5], "a,9,0,1,"]) + "\n")
    (tmp_path / "word.csv").write_text("\n".join([*lines[:5], "a,9,0,1,heavy"]) + "\n")
    (tmp_path / "other.csv").write_text("\n".join([*lines[:-1], lines[-1].rpartition(",")[0] + ",77"]) + "\n")
    np.save(tmp_path / "m.npy", np.eye(2))


def stacks():
    """The matrices of both models, and those of the squares."""
    y_true, predictions, weights = survey()
    return tuple(
        matrics.confusion_matrix(y_true, np.stack(predictions), num_classes=2, sample_weight=w)
        for w in (weights, weights**2)
    )


@pytest.mark.parametrize("file", ["s.csv", "s.parquet"])
def test_limits_are_those_of_the_squares(command, tmp_path, file):
    arguments = ["--by", "model", "--weight", "w", "--metrics", "accuracy,mcc,recall:class"]
    out = done(command, "interval", file, *arguments, "--output", "o.csv")
    cm, squares = stacks()
    number = cm[0].sum() ** 2 / squares[0].sum()
    assert f"{number:,.0f} effective samples in each matrix" in out
    assert f"weights of {cm.sum():,.7g} in all" in out
    with (tmp_path / "o.csv").open() as rows:
        found = list(csv.DictReader(rows))
    wanted = matrics.interval(cm, ["accuracy", "mcc", "recall:class"], squared_weights=squares)
    for k, row in enumerate(found):
        for name, column in (("accuracy", wanted["accuracy"]), ("mcc", wanted["mcc"])):
            got = [float(row[f"{name}{end}"]) for end in ("", "/low", "/high", "/standard_error", "/status")]
            parts = (column.estimate, column.low, column.high, column.standard_error, column.status)
            np.testing.assert_allclose(got, [part[k] for part in parts], rtol=1e-9)
    assert float(found[0]["mcc/status"]) == 0


def test_scores_are_those_of_scikit_learn(command, tmp_path):
    metrics = pytest.importorskip("sklearn.metrics")
    done(command, "score", "s.csv", "--by", "model", "--weight", "w", "--metrics", "mcc,f1:binary", "--output", "o.csv")
    y_true, predictions, weights = survey()
    with (tmp_path / "o.csv").open() as rows:
        for row, y_pred in zip(csv.DictReader(rows), predictions, strict=True):
            wanted = metrics.matthews_corrcoef(y_true, y_pred, sample_weight=weights)
            np.testing.assert_allclose(float(row["mcc"]), wanted, rtol=1e-12)
            name = next(name for name in row if name.startswith("f1"))
            wanted = metrics.f1_score(y_true, y_pred, sample_weight=weights)
            np.testing.assert_allclose(float(row[name]), wanted, rtol=1e-12)


def test_one_matrix(command):
    cm, squares = (part.sum(axis=0) for part in stacks())
    one = matrics.interval(cm, "accuracy", squared_weights=squares)["accuracy"]
    assert f"{one.standard_error:.3f}" in done(command, "interval", "s.csv", "--weight", "w", "--metrics", "accuracy")


def test_comparisons(command):
    out = done(command, "compare", "s.csv", "--by", "model", "--weight", "w", "--metrics", "accuracy")
    cm, squares = stacks()
    apart = matrics.compare(cm[0], cm[1], "accuracy", squared_weights=(squares[0], squares[1]))["accuracy"]
    assert f"{apart.difference:.3f} [{apart.low:.3f}, {apart.high:.3f}]" in out
    assert "weighted by w" in out
    paired = ["--paired-on", "id", "--num", "300", "--seed", "4"]
    out = done(command, "compare", "s.csv", "--by", "model", "--weight", "w", "--metrics", "accuracy", *paired)
    y_true, predictions, weights = survey()
    options = {"num_classes": 2, "sample_weight": weights, "num": 300, "rng": 4}
    gaps = matrics.compare_models(y_true, predictions, "accuracy", **options)["accuracy"].differences
    assert f"{gaps.difference[0, 1]:.3f} [{gaps.low[0, 1]:.3f}, {gaps.high[0, 1]:.3f}]" in out


def test_a_report(command, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    out = done(command, "report", "s.csv", "--by", "model", "--weight", "w", "--metrics", "mcc", "--output", "r.html")
    cm, squares = stacks()
    one = matrics.interval(cm, "mcc", squared_weights=squares)["mcc"]
    assert f"with MCC {one.estimate[0]:.3f} ({one.low[0]:.3f} to {one.high[0]:.3f})" in out
    assert "--weight w" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["interval", "wrong.csv"], "column 'w': expected finite weights of at least 0, got -2 in row 5 of the data"),
        (["interval", "inf.csv"], "expected finite weights of at least 0, got inf in row 5 of the data"),
        (["score", "hole.csv"], "expected"),
        (["score", "word.csv"], "expected a number in column 'w', got 'heavy'"),
        (["score", "m.npy"], "--weight: expected a file with columns y_true and y_pred, got a file of matrices"),
        (
            ["interval", "s.csv", "--method", "bca"],
            "--method: expected auto, delta or a method of proportions with --weight, got bca",
        ),
        (["interval", "s.csv", "--clusters", "id"], "--weight: expected no weights with --clusters, got 'w'"),
        (["score", "s.csv", "--counts", "id"], "--counts: expected no such option with --weight, got 'id'"),
        (["score", "s.csv", "--by", "w"], "--weight: expected a column other than the labels, groups and samples"),
        (["score", "s.csv", "--cells", "a,b,c,d"], "--weight: expected no such option with --cells, got 'w'"),
        (
            ["compare", "other.csv", "--by", "model", "--paired-on", "id"],
            "--weight: expected the same weights for each model, got different values for ",
        ),
    ],
)
def test_errors(command, arguments, message):
    assert message in refused(command, *arguments, "--weight", "w")
