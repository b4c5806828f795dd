"""Models as columns of a file: what every command gives is what it gives of the same file with a row for each."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import done, refused

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import matrics  # noqa: E402

MODELS = ("champion", "challenger")
PRED = ("--pred", "champion", "--pred", "challenger")
SCORES = ("--scores", "champion", "--scores", "challenger", "--positive", "fraud")
N = 120


@pytest.fixture
def files(monkeypatch: Any, tmp_path: Path) -> dict[str, Any]:
    """Labels and scores, each with models as columns and as rows."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    true = random.integers(0, 3, N)
    names = np.array(["cat", "dog", "eel"])
    pred = {
        name: np.where(random.random(N) < hits, true, random.integers(0, 3, N))
        for name, hits in zip(MODELS, (0.8, 0.6), strict=True)
    }
    fraud = random.integers(0, 2, N)
    scores = {
        name: np.clip(0.5 + far * (fraud - 0.5) + random.normal(0, 0.25, N), 0, 1).round(3)
        for name, far in zip(MODELS, (0.5, 0.3), strict=True)
    }
    site = names[random.integers(0, 2, N)]
    weight = random.integers(1, 5, N)
    labels = np.array(["ok", "fraud"])[fraud]
    ids = np.arange(1, N + 1)
    _write(
        "wide.csv",
        {"y_true": names[true], "site": site, "w": weight, **{name: names[one] for name, one in pred.items()}},
    )
    _write(
        "long.csv",
        {
            "y_true": np.tile(names[true], 2),
            "site": np.tile(site, 2),
            "w": np.tile(weight, 2),
            "id": np.tile(ids, 2),
            "model": np.repeat(MODELS, N),
            "y_pred": np.concatenate([names[one] for one in pred.values()]),
        },
    )
    _write("wide_scores.csv", {"y_true": labels, **scores})
    _write(
        "long_scores.csv",
        {
            "y_true": np.tile(labels, 2),
            "id": np.tile(ids, 2),
            "model": np.repeat(MODELS, N),
            "score": np.concatenate(list(scores.values())),
        },
    )
    return {"fraud": fraud, "scores": scores}


def _write(name: str, columns: dict[str, Any]) -> None:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    pq.write_table(pa.table(columns), name.replace(".csv", ".parquet"))


LONG_SCORES = ("--scores", "score", "--by", "model", "--positive", "fraud")
SAME = {
    "score": (("score", "wide.csv", *PRED), ("score", "long.csv", "--by", "model")),
    "score by site": (("score", "wide.csv", *PRED, "--by", "site"), ("score", "long.csv", "--by", "model,site")),
    "score of Parquet": (
        ("score", "wide.parquet", *PRED, "--weight", "w"),
        ("score", "long.parquet", "--by", "model", "--weight", "w"),
    ),
    "scores at a threshold": (
        ("score", "wide_scores.csv", *SCORES, "--threshold", "0.4"),
        ("score", "long_scores.csv", *LONG_SCORES, "--threshold", "0.4"),
    ),
    "interval": (
        ("interval", "wide.csv", *PRED, "--metrics", "mcc"),
        ("interval", "long.csv", "--by", "model", "--metrics", "mcc"),
    ),
    "count": (("count", "wide.csv", *PRED), ("count", "long.csv", "--by", "model")),
    "compare": (
        ("compare", "wide.csv", *PRED, "--num", "200"),
        ("compare", "long.csv", "--by", "model", "--paired-on", "id", "--num", "200"),
    ),
    "compare by scores": (
        ("compare", "wide_scores.csv", *SCORES, "--num", "200"),
        ("compare", "long_scores.parquet", *LONG_SCORES, "--paired-on", "id", "--num", "200"),
    ),
    "curve": (("curve", "wide_scores.csv", *SCORES), ("curve", "long_scores.csv", *LONG_SCORES)),
    "threshold": (
        ("threshold", "wide_scores.csv", *SCORES, "--metric", "mcc", "--num", "0"),
        ("threshold", "long_scores.csv", *LONG_SCORES, "--metric", "mcc", "--num", "0"),
    ),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", SAME)
@pytest.mark.usefixtures("files")
def test_the_same_as_with_a_row_for_each_model(command: Any, case: str) -> None:
    wide, long = (list(csv.DictReader(io.StringIO(done(command, *of, "--format", "csv")))) for of in SAME[case])
    assert wide == long
    assert len(wide) > 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scores", [False, True], ids=["labels", "scores"])
@pytest.mark.usefixtures("files")
def test_a_report_is_the_same(command: Any, scores: bool) -> None:  # noqa: FBT001 (a case)
    for package in ("jinja2", "matplotlib", "scipy"):
        pytest.importorskip(package)
    of_wide, of_long = (SCORES, LONG_SCORES) if scores else (PRED, ("--by", "model"))
    end = "_scores.csv" if scores else ".csv"
    assert command("report", f"wide{end}", *of_wide, "--num", "100", "--output", "wide.md")[0] == 0
    assert command("report", f"long{end}", *of_long, "--paired-on", "id", "--num", "100", "--output", "long.md")[0] == 0
    wide, long = (Path(f"{name}.md").read_text("utf-8").splitlines() for name in ("wide", "long"))
    differences = [pair for pair in zip(wide, long, strict=True) if pair[0] != pair[1]]
    assert all("wide" in one or "identified by row" in one for one, _ in differences)
    assert len(differences) == 4  # the title, the data, and in the methods the rows and their column


def test_areas_and_measures_of_scores(command: Any, files: dict[str, Any]) -> None:
    """Areas by counting pairs, and accuracy at a threshold for each model by counting samples."""
    given = ("--threshold", "champion=0.6,challenger=0.3", "--metrics", "accuracy", "--num", "200", "--format", "json")
    found = json.loads(done(command, "compare", "wide_scores.csv", *SCORES, *given))
    assert found["thresholds"] == [0.3, 0.6]  # in the order of the models
    rows = {(row["measure"], row["model"]): row for row in found["rows"]}
    fraud, scores = files["fraud"] == 1, files["scores"]
    for name, threshold in (("champion", 0.6), ("challenger", 0.3)):
        gaps = scores[name][fraud][:, None] - scores[name][~fraud]
        assert rows["roc_auc", name]["estimate"] == pytest.approx((gaps > 0).mean() + (gaps == 0).mean() / 2, abs=1e-12)
        assert rows["accuracy", name]["estimate"] == ((scores[name] >= threshold) == fraud).mean()
    one = matrics.ranking.compare(files["fraud"], scores, "roc_auc")["roc_auc"]
    assert rows["roc_auc", "challenger"]["p_value"] == pytest.approx(one.p_value[0, 1], rel=1e-12)
    assert rows["roc_auc", "champion"]["p_value"] is None


@pytest.mark.usefixtures("files")
def test_scores_that_are_no_probabilities(command: Any) -> None:
    table = pq.read_table("wide_scores.parquet")
    columns = {name: np.asarray(table[name]) * 10 for name in MODELS}
    _write("far.csv", {"y_true": table["y_true"].to_pylist(), **columns})
    out = done(command, "compare", "far.csv", *SCORES)
    assert "no measures of predictions: scores are no probabilities" in out
    assert "accuracy" not in out


@pytest.mark.usefixtures("files")
def test_a_sample_without_a_label_is_left_out_for_all_models(command: Any) -> None:
    text = Path("wide.csv").read_text("utf-8").splitlines()
    cells = text[1].split(",")
    cells[3] = ""
    Path("wide.csv").write_text("\n".join([text[0], ",".join(cells), *text[2:]]), "utf-8")
    code, out, err = command("compare", "wide.csv", *PRED, "--missing", "drop", "--num", "50")
    assert (code, err) == (0, "matrics: wide.csv: left out 1 row without a value in y_true, champion, challenger\n")
    assert f"on the same {N - 1} samples (row)" in out


WRONG = {
    "twice": (
        ("score", "wide.csv", "--pred", "champion", "--pred", "champion"),
        "--pred: expected each column of a model once, got 'champion' twice",
    ),
    "no such column": (
        ("score", "wide.csv", "--pred", "champion", "--pred", "chalenger"),
        "wide.csv: expected the columns y_true, champion, chalenger, got no 'chalenger'",
    ),
    "another role": (
        ("score", "wide.csv", *PRED, "--by", "champion"),
        "--pred: expected other columns than those of models, got 'champion', the column of a model",
    ),
    "the name of the models": (
        ("score", "long.csv", "--pred", "y_pred", "--pred", "site", "--by", "model"),
        "--pred: expected other columns than those of models, got 'model', the column of models or of rows",
    ),
    "two files": (
        ("compare", "wide.csv", "long.csv", *PRED),
        "--pred: expected one column with two files, each of one model, got 2",
    ),
    "scores without the positive class": (
        ("compare", "wide_scores.csv", *SCORES[:4]),
        "--scores: expected a column of each model and --positive with it, or --by COLUMN of the models",
    ),
    "a threshold of one of two": (
        ("compare", "wide_scores.csv", *SCORES, "--threshold", "champion=0.5"),
        "--threshold: expected a number, or MODEL=NUMBER of each model with commas challenger, champion, got",
    ),
    "a threshold without scores": (
        ("compare", "wide.csv", *PRED, "--threshold", "0.5"),
        "--threshold: expected --scores with it, got '0.5'",
    ),
    "rows of models that are not paired": (
        ("compare", "long_scores.csv", *LONG_SCORES),
        "--paired-on: expected the column of the samples with --scores and --by, got none",
    ),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.usefixtures("files")
def test_wrong_use_is_one_line(command: Any, case: str) -> None:
    arguments, expected = WRONG[case]
    assert refused(command, *arguments).startswith(expected)
