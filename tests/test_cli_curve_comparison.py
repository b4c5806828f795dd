"""``matrics curve --paired-on``: the models of a file by their scores for the same samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

CANCER = str(Path(__file__).parents[1] / "examples" / "breast_cancer_scores.parquet")
ASKED = ("curve", CANCER, "--scores", "score", "--positive", "malignant")
MODELS = ("logistic_regression", "extra_trees", "nearest_neighbours", "naive_bayes")


def scored() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The labels and the scores of each model for the same samples."""
    table = pytest.importorskip("pandas").read_parquet(CANCER)
    by_model = {name: table[table["model"] == name].sort_values("sample") for name in sorted(MODELS)}
    true = (by_model[MODELS[0]]["y_true"] == "malignant").to_numpy().astype(int)
    return true, {name: part["score"].to_numpy() for name, part in by_model.items()}


def compared(metrics: Any = None) -> dict[str, Any]:
    """The comparison that the library makes of the same samples."""
    return matrics.ranking.compare(*scored(), metrics)


def test_the_screen_has_delongs_p_values(command: Any) -> None:
    code, shown, error = command(*ASKED, "--by", "model", "--paired-on", "sample")
    assert (code, error) == (0, "")
    found = compared()["roc_auc"]
    lines = [line.split() for line in shown.split("roc_auc")[1].split("average_precision")[0].splitlines()]
    by_model = {line[0]: line for line in lines if line and line[0] in MODELS}
    assert list(by_model) == list(MODELS)  # best first
    best = found.names.index("logistic_regression")
    for name in MODELS[1:]:
        row = found.names.index(name)
        assert f"{found.p_value[best, row]:.3f}" in by_model[name]
        assert ("tied" in by_model[name]) == bool(found.tied[row])
    assert by_model[MODELS[0]][1] == "best"
    assert "log_loss" in shown


def test_formats_have_all_of_it(command: Any) -> None:
    made = json.loads(command(*ASKED, "--by", "model", "--paired-on", "sample", "--format", "json")[1])
    found = compared()
    for row in made["rows"]:
        one = found[row["measure"]]
        place = one.names.index(row["model"])
        estimate = one.intervals.estimate[place]
        assert row["estimate"] == (pytest.approx(estimate) if np.isfinite(estimate) else None)
        assert row["tied"] == bool(one.tied[place])
    assert made["paired_on"] == "sample"
    assert {row["model"] for row in made["curves"]} == set(MODELS)
    text = command(*ASKED, "--by", "model", "--paired-on", "sample", "--format", "csv")[1]
    assert text.splitlines()[0].startswith("measure,model,estimate,low,high,status,difference")


def test_measures_at_thresholds_are_compared_too(command: Any) -> None:
    """As the library compares the predictions of the same samples."""
    at = ("--thresholds", "0.25,0.5", "--metrics", "recall,mcc")
    arguments = (*ASKED, "--by", "model", "--paired-on", "sample", *at)
    made = json.loads(command(*arguments, "--format", "json")[1])
    table = pytest.importorskip("pandas").read_parquet(CANCER)
    by_model = {name: table[table["model"] == name].sort_values("sample") for name in sorted(MODELS)}
    true = (by_model[MODELS[0]]["y_true"] == "malignant").to_numpy().astype(int)
    for threshold in (0.25, 0.5):
        predictions = np.stack([(part["score"] >= threshold).to_numpy().astype(int) for part in by_model.values()])
        found = matrics.compare_models(true, predictions, ["recall:binary", "mcc"], num_classes=2, rng=0)
        for title, key in (("recall of malignant", "recall:binary"), ("mcc", "mcc")):
            rows = [row for row in made["rows"] if row["measure"] == f"{title}, from a score of {threshold}"]
            assert [row["model"] for row in rows] == sorted(MODELS)
            assert [row["estimate"] for row in rows] == pytest.approx(list(found[key].intervals.estimate))
            assert [row["low"] for row in rows] == pytest.approx(list(found[key].intervals.low))
            assert [row["tied"] for row in rows] == list(found[key].tied)
            assert [row["probability_best"] for row in rows] == pytest.approx(list(found[key].probability_best))
    assert {row["measure"] for row in made["rows"]} > {"roc_auc", "brier_score"}  # as without thresholds


def test_measures_at_k(command: Any) -> None:
    """Their limits, as the library computes them, with the areas; and their differences between models."""
    metrics = ("precision_at_k(k=200)", "lift_at_k(k=50)", "precision_at_recall(recall=0.95)")
    asked = (*ASKED, "--by", "model", "--metrics", ",".join((*metrics, "recall")))
    made = json.loads(command(*asked, "--format", "json")[1])
    true, scores = scored()
    for row in made["curves"]:
        limits = matrics.ranking.interval(true, scores[row["model"]], metrics, rng=0)
        for name in metrics:
            assert row[name] == pytest.approx(limits[name].estimate)
            assert row[f"{name}/low"] == pytest.approx(limits[name].low, abs=0.02)  # samples in another order
            assert row[f"{name}/status"] == matrics.IntervalStatus(int(limits[name].status)).name.lower()
    assert made["seed"] == 0
    areas = command(*ASKED, "--by", "model", "--metrics", metrics[0], "--table", "areas", "--format", "csv")[1]
    assert areas.splitlines()[0].endswith(
        ",precision_at_k(k=200),precision_at_k(k=200)/low,precision_at_k(k=200)/high,precision_at_k(k=200)/status"
    )
    message = "--metrics: expected k of at most the number of samples, 569, got precision_at_k(k=570) for extra_trees"
    assert message in command(*ASKED, "--by", "model", "--metrics", "precision_at_k(k=570)")[2]
    paired = json.loads(
        command(*ASKED, "--by", "model", "--paired-on", "sample", "--metrics", ",".join(metrics), "--format", "json")[1]
    )
    found = compared(metrics)
    rows = [row for row in paired["rows"] if row["measure"] in metrics]
    assert len(rows) == 12
    assert len(paired["rows"]) == 28
    for row in rows:
        comparison = found[row["measure"]]
        assert row["tied"] == bool(comparison.tied[comparison.names.index(row["model"])])
        assert row["estimate"] == pytest.approx(comparison.intervals.estimate[comparison.names.index(row["model"])])
    assert paired["seed"] == 0


def test_the_areas_are_a_table_of_their_own(command: Any, tmp_path: Path) -> None:
    found = json.loads(command(*ASKED, "--by", "model", "--format", "json")[1])["curves"]
    text = command(*ASKED, "--by", "model", "--table", "areas", "--format", "csv")[1]
    assert command(*ASKED, "--by", "model", "--table", "areas", "--output", "a.csv")[0] == 0
    for one in (text, (tmp_path / "a.csv").read_text("utf-8").replace('"', "")):
        head, *rows = (line.split(",") for line in one.splitlines())
        assert head[:6] == ["model", "samples", "positives", "roc_auc", "roc_auc/low", "roc_auc/high"]
        assert [row[:2] for row in rows] == [[of_curve["model"], "569"] for of_curve in found]
        assert [float(row[4]) for row in rows] == [of_curve["roc_auc/low"] for of_curve in found]


def test_rows_of_one_sample_are_a_cluster(command: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows, labels = [], np.repeat(random.integers(0, 2, 30), 2)
    scores = {name: labels + random.normal(size=60) for name in ("a", "b")}
    for name, values in scores.items():
        rows += [f"{name},p{k // 2},{labels[k]},{values[k]}" for k in range(60)]
    (tmp_path / "s.csv").write_text("model,patient,y_true,score\n" + "\n".join(rows) + "\n")
    asked = ("--scores", "score", "--by", "model", "--paired-on", "patient", "--format", "json")
    made = json.loads(command("curve", str(tmp_path / "s.csv"), *asked)[1])
    order = np.argsort([f"p{k // 2}" for k in range(60)], kind="stable")
    found = matrics.ranking.compare(
        labels[order], {name: values[order] for name, values in scores.items()}, "roc_auc", clusters=(order // 2)
    )["roc_auc"]
    got = [row["p_value"] for row in made["rows"] if row["measure"] == "roc_auc" and row["p_value"] is not None]
    assert got == [pytest.approx(found.p_value[0, 1], rel=1e-9)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--paired-on", "sample"), "--paired-on: expected --by COLUMN with it"),
        (("--by", "model", "--paired-on", "score"), "neither the model, a label nor a score"),
        (("--by", "model", "--paired-on", "nobody"), "got no 'nobody'"),
        (
            ("--by", "model", "--paired-on", "sample", "--output", "x.parquet"),
            "--output: expected a name in .json, .md",
        ),
        (
            ("--by", "model", "--paired-on", "sample", "--prevalence", "0.02"),
            "--prevalence: expected no such option with --paired-on, which compares models on the samples as they are",
        ),
        (
            ("--by", "model", "--paired-on", "sample", "--metrics", "ece"),
            "--metrics: expected measures whose differences",
        ),
        (("--metrics", "precision_at_k"), "--metrics: expected precision_at_k(k=100) with a number of samples"),
        (("--metrics", "lift_at_k(k=0.5)"), "--metrics: expected lift_at_k(k=100) with a number of samples"),
    ],
)
def test_errors(command: Any, options: tuple[str, ...], message: str) -> None:
    code, _, error = command(*ASKED, *options)
    assert code != 0
    assert message in error


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", [(), ("--format", "json")])
def test_a_prevalence_is_not_that_of_areas_and_losses(command: Any, options: tuple[str, ...]) -> None:
    code, shown, _ = command(*ASKED, "--by", "model", "--prevalence", "0.02", *options)
    assert code == 0
    assert "areas and losses: of the samples as they are" in " ".join(shown.split())
    assert "areas and losses" not in command(*ASKED, "--by", "model", *options)[1]


def test_the_side_of_scores_that_are_lower_in_the_positive_class(command: Any, tmp_path: Path) -> None:
    """The remark about an area below 0.5 names the side that is not the chosen one."""
    rows = [f"{label},{label + k / 10}" for k in range(20) for label in (0, 1)]
    (tmp_path / "s.csv").write_text("\n".join(["y_true,score", *rows]))
    asked = ("curve", str(tmp_path / "s.csv"), "--scores", "score", "--metrics", "specificity")
    lower = command(*asked, "--lower-is-positive")[1]
    assert "at -inf no sample is predicted as positive" in lower
    assert "probably higher in the positive class, without --lower-is-positive" in lower
