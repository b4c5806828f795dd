"""matrics compare: which models of a file are apart."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pytest.importorskip("typer")
DIGITS = Path(__file__).parents[1] / "examples" / "digits_sweep.parquet"
RANDOM = np.random.default_rng(8)
SAMPLES = 200
TRUE = RANDOM.integers(0, 3, SAMPLES)
MODELS = {
    "good": np.where(RANDOM.random(SAMPLES) < 0.9, TRUE, (TRUE + 1) % 3),
    "like": np.where(RANDOM.random(SAMPLES) < 0.88, TRUE, (TRUE + 1) % 3),
    "poor": np.where(RANDOM.random(SAMPLES) < 0.5, TRUE, (TRUE + 1) % 3),
}


@pytest.fixture
def run(command: Any) -> Any:
    def called(*arguments: Any, code: int = 0) -> str:
        found, out, err = command(*map(str, arguments))
        assert found == code, out + err
        return str(out + err)

    return called


@pytest.fixture
def rows() -> list[tuple[Any, ...]]:
    """Rows of model, sample, true and predicted label, in no order."""
    found = [(name, k, TRUE[k], y[k]) for name, y in MODELS.items() for k in range(SAMPLES)]
    return [found[k] for k in RANDOM.permutation(len(found))]


def write(path: Path, rows: list[tuple[Any, ...]]) -> Path:
    path.write_text("model,sample,y_true,y_pred\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def line(text: str, model: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(model))


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d\.\d+", text)]


def test_paired(run: Any, rows: Any, tmp_path: Path) -> None:
    """The values of compare_models, whatever the order of the rows; the seed is printed and repeats them."""
    path = write(tmp_path / "labels.csv", rows)
    text = run("compare", path, "--by", "model", "--paired-on", "sample", "--metrics", "mcc,hamming_loss", "--seed", 7)
    assert "3 models of 3 classes, 600 samples" in text
    assert "on the same 200 samples (sample); 95 %, 10,000 replicates, seed 7" in text
    found = matrics.compare_models(TRUE, list(MODELS.values()), ["mcc", "hamming_loss"], num_classes=3, rng=7)
    for part, name in zip(text.split("\n\n")[1:], found, strict=True):
        one, side = found[name], 1 if name == "mcc" else -1
        best = int(np.argmax(side * one.intervals.estimate))
        assert line(part, list(MODELS)[best]).split()[1] == "best"
        for k, model in enumerate(MODELS):
            wanted = [one.intervals.estimate[k], one.intervals.low[k], one.intervals.high[k]]
            gap = [side * x[best, k] for x in one.differences[:3]]
            wanted += [] if k == best else [gap[0], *sorted(gap[1:])]
            np.testing.assert_allclose(numbers(line(part, model))[:-1], wanted, atol=6e-4)
            np.testing.assert_allclose(numbers(line(part, model))[-1], one.probability_best[k], atol=6e-3)
    assert "not significantly different from the best: good, like" in text
    again = run("compare", path, "--by", "model", "--paired-on", "sample", "--metrics", "mcc,hamming_loss", "--seed", 7)
    assert again == text
    assert re.search(r"seed \d+", run("compare", path, "--by", "model", "--paired-on", "sample", "--num", 50))


def test_not_paired(run: Any, rows: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "labels.csv", rows)
    text = run("compare", path, "--by", "model", "--metrics", "mcc")
    assert "models on different samples" in text
    stack = matrics.confusion_matrix(TRUE, np.stack(list(MODELS.values())), num_classes=3)
    pair = matrics.compare(stack[0], stack[2], "mcc", level=1 - 0.05 / 3)["mcc"]
    np.testing.assert_allclose(numbers(line(text, "poor"))[3:], np.asarray(pair[:3]), atol=6e-4)
    assert line(text, "like").split()[1] == "tied"


def test_the_digits(run: Any) -> None:
    """Each image is predicted five times by each model: paired and clustered by it."""
    text = run(
        "compare", DIGITS, "--by", "model", "--paired-on", "sample", "--seed", 0, "--num", 2000, "--metrics", "accuracy"
    )
    assert "on the same 1,797 samples (sample), 5 predictions of each" in text
    assert line(text, "svm_rbf").split()[1] == "best"
    assert "tied" not in line(text, "extra_trees")


def test_nobody_is_best_where_all_are_undefined(run: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", [("a", 0, 0, 0), ("a", 1, 0, 0), ("b", 0, 0, 1), ("b", 1, 0, 1)])
    for paired in ([], ["--paired-on", "sample", "--seed", 0]):
        text = run("compare", path, "--by", "model", "--metrics", "mcc", *paired)
        assert "undefined for all of them" in text
        assert "best\n" not in text
        assert "⁶ the measure is undefined for this matrix (2 of 2)" in text


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--paired-on", "sample"], "--by: expected the column that identifies the model"),
        (["--by", "model", "--paired-on", "model"], "--paired-on: expected a column that is neither"),
        (["--by", "model", "--paired-on", "image"], "got no 'image'"),
        (["--by", "y_true", "--paired-on", "sample"], "--paired-on: expected the same number of rows for each model"),
        (["--by", "model", "--seed", "1"], "--seed: expected --paired-on COLUMN"),
        (["--by", "model", "--level", "2"], "--level: expected a number between 0 and 1"),
        (["--by", "model", "--metrics", "prevalence"], "with a better direction, got prevalence"),
    ],
)
def test_bad_options(run: Any, rows: Any, tmp_path: Path, arguments: list[str], message: str) -> None:
    text = run("compare", write(tmp_path / "labels.csv", rows), *arguments, code=2)
    assert message in " ".join(text.split())


def test_models_of_other_samples(run: Any, tmp_path: Path) -> None:
    rows = [("a", 0, 0, 0), ("a", 1, 1, 1), ("b", 0, 0, 1), ("b", 2, 1, 1)]
    text = run("compare", write(tmp_path / "x.csv", rows), "--by", "model", "--paired-on", "sample", code=2)
    assert (
        "expected the same samples (sample) for each model, got different values for b, the first at sample 2" in text
    )
    rows[3] = ("b", 1, 0, 1)
    text = run("compare", write(tmp_path / "x.csv", rows), "--by", "model", "--paired-on", "sample", code=2)
    assert "expected the same true labels for each model, got different values for b" in text
    text = run("compare", write(tmp_path / "x.csv", rows[:2]), "--by", "model", code=2)
    assert "at least two models to compare, got 1" in text
