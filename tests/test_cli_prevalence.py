"""--prevalence of the commands: the numbers of the library, and what it says where it makes no sense."""

import json

import numpy as np
import pytest
from commands import done, refused

import matrics

pytest.importorskip("typer")
pytest.importorskip("rich")
pq = pytest.importorskip("pyarrow.parquet")

STACK = np.array([[[95, 5], [10, 90]], [[180, 20], [30, 70]]])
THREE = np.array([[[80, 15, 5], [20, 150, 30], [1, 9, 40]]])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Matrices, labels of two models, and scores."""
    monkeypatch.chdir(tmp_path)
    np.save("stack.npy", STACK)
    np.save("three.npy", THREE)
    rows = ["model,id,y_true,y_pred"]
    for model, cm in zip("ab", STACK, strict=True):
        pairs = [(t, p) for t in (0, 1) for p in (0, 1) for _ in range(cm[t, p])]
        rows += [
            f"{model},{k},{'ill' if t else 'healthy'},{'ill' if p else 'healthy'}" for k, (t, p) in enumerate(pairs)
        ]
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    rng = np.random.default_rng(1)
    y_true = np.arange(80) % 2
    scores = np.round(y_true + rng.normal(size=80), 2)
    lines = [f"{'ill' if t else 'healthy'},{s}" for t, s in zip(y_true, scores, strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["y_true,score", *lines]))
    return y_true, scores


@pytest.mark.usefixtures("files")
def test_score(command):
    found = json.loads(
        done(command, "score", "stack.npy", "--metrics", "ppv,mcc", "--prevalence", "0.02", "--format", "json")
    )
    wanted = matrics.score(matrics.transform.at_prevalence(STACK, 0.02), "ppv,mcc")
    assert found["prevalence"] == [0.98, 0.02]
    text = done(command, "score", "three.npy", "--metrics", "accuracy", "--prevalence", "0.7,0.25,0.05")
    assert "at the prevalence 0.7 of class 0, 0.25 of class 1, 0.05 of class 2" in text
    assert "0.787 " in text  # 0.7 · 0.8 + 0.25 · 0.75 + 0.05 · 0.8 = 0.7875, to even
    done(command, "score", "stack.npy", "--metrics", "ppv,mcc", "--prevalence", "0.02", "--output", "out.parquet")
    written = pq.read_table("out.parquet")
    np.testing.assert_allclose(written["ppv of class 1"].to_numpy(), wanted["ppv"])
    np.testing.assert_allclose(written["mcc"].to_numpy(), wanted["mcc"])


@pytest.mark.usefixtures("files")
def test_score_of_labels_and_of_texts(command):
    found = done(
        command,
        *("score", "labels.csv", "--by", "model", "--metrics", "ppv"),
        *("--positive", "ill", "--prevalence", ".02"),
    )
    assert "at the prevalence 0.02 of ill" in found
    wanted = matrics.score(matrics.transform.at_prevalence(STACK, 0.02), "ppv")["ppv"]
    assert f"{wanted[0]:.3f}" in found
    refusal = refused(command, "score", "labels.csv", "--by", "model", "--metrics", "mcc", "--prevalence", "0.02")
    assert refusal.startswith("--positive: expected the class that the prevalence is of")


@pytest.mark.usefixtures("files")
def test_interval(command):
    arguments = ("interval", "stack.npy", "--metrics", "ppv,mcc", "--prevalence", "0.02")
    done(command, *arguments, "--output", "out.parquet")
    written = pq.read_table("out.parquet")
    for name, one in matrics.interval(STACK, "ppv,mcc", prevalence=0.02).items():
        title = {"ppv": "ppv of class 1"}.get(name, name)
        for ending, values in (("", one.estimate), ("/low", one.low), ("/high", one.high)):
            np.testing.assert_allclose(written[title + ending].to_numpy(), values)
    text = done(command, *arguments)
    assert "95 % intervals by method auto, at the prevalence 0.02 of class 1, scheme rows" in text
    assert refused(command, *arguments, "--scheme", "poisson").startswith("--scheme: expected 'rows' with prevalence")
    assert refused(command, *arguments, "--method", "wilson").startswith("--method: expected another than 'wilson'")
    drawn = done(command, *arguments, "--method", "bootstrap", "--num", "500")
    assert "500 replicates" in drawn


@pytest.mark.usefixtures("files")
def test_compare(command):
    arguments = (
        "compare",
        "labels.csv",
        "--by",
        "model",
        "--metrics",
        "ppv",
        "--positive",
        "ill",
        "--prevalence",
        "0.02",
    )
    text = done(command, *arguments)
    assert "at the prevalence 0.02 of ill" in text
    found = json.loads(done(command, *arguments, "--format", "json"))
    apart = matrics.compare(STACK[0], STACK[1], "ppv", prevalence=0.02)["ppv"]
    gaps = [row["difference"] for row in found["rows"] if row["difference"] is not None]
    assert any(abs(gap - apart.difference) < 1e-9 for gap in gaps)
    paired = refused(command, *arguments, "--paired-on", "id")
    assert paired.startswith("--prevalence: expected no such option with --paired-on")


def test_curve_and_threshold(command, files):
    y_true, scores = files
    common = ("scores.csv", "--scores", "score", "--positive", "ill", "--prevalence", "0.05")
    text = done(command, "curve", *common, "--metrics", "ppv", "--thresholds", "1.0")
    value = matrics.ranking.threshold_curve(y_true, scores, "ppv", thresholds=[1.0], prevalence=0.05)["ppv"][0]
    assert f"{value:.3f}" in text
    assert "positive: ill; at the prevalence 0.05 of ill" in text
    found = json.loads(
        done(command, "threshold", *common, "--metric", "f1", "--metrics", "f1", "--num", "0", "--format", "json")
    )
    best = matrics.ranking.best_threshold(y_true, scores, "f1", prevalence=0.05)
    np.testing.assert_allclose(found["rows"][0]["threshold"], best.threshold)
    np.testing.assert_allclose(found["rows"][0]["value"], best.value)
    np.testing.assert_allclose(found["rows"][0]["f1 of ill"], best.value)  # of the measures at the threshold


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2", "--prevalence: expected a share from 0 to 1, got 2"),
        ("0.5,0.6", "--prevalence: expected shares from 0 to 1 that add up to 1, got a sum of 1.1"),
        ("0.2,0.3,0.5", "--prevalence: expected the share of each of 2 classes"),
        ("two", "--prevalence: expected a number, or several with commas, got 'two'"),
        ("nan", "--prevalence: expected a share from 0 to 1, got nan"),
    ],
)
@pytest.mark.usefixtures("files")
def test_what_are_no_shares(command, text, message):
    for name in ("score", "interval"):
        assert refused(command, name, "stack.npy", "--prevalence", text).startswith(message)


@pytest.mark.usefixtures("files")
def test_where_it_makes_no_sense(command, tmp_path):
    (tmp_path / "sets.csv").write_text("y_true,y_pred\na;b,a\nb,b\n")
    assert refused(command, "score", "sets.csv", "--separator", ";", "--prevalence", "0.1").startswith(
        "--prevalence: expected no such option with --separator"
    )
    assert refused(
        command, "interval", "labels.csv", "--positive", "ill", "--clusters", "id", "--prevalence", "0.1"
    ).startswith("--prevalence: expected no such option with --clusters")
