"""Answers without a score, one scorer of several, and more than two runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from matrics import evals

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

Z = 1.959963984540054


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(path: Path, scores: list[Any], **more: Any) -> Path:
    return write(path, [{"sample": k, "score": score, **more} for k, score in enumerate(scores)])


def wilson(successes: int, number: int) -> tuple[float, float]:
    """Wilson's limits (1927), as in any textbook."""
    p, square = successes / number, Z * Z
    middle = (p + square / (2 * number)) / (1 + square / number)
    reach = Z / (1 + square / number) * math.sqrt(p * (1 - p) / number + square / (4 * number**2))
    return middle - reach, middle + reach


@pytest.mark.parametrize("missing", [None, math.nan, "", "nan", "absent"])
def test_what_a_missing_score_looks_like(tmp_path: Path, missing: Any) -> None:
    rows: list[dict[str, Any]] = [{"sample": k, "score": 1} for k in range(4)]
    rows[1] = {"sample": 1} if missing == "absent" else {"sample": 1, "score": missing}
    path = write(tmp_path / "a.jsonl", rows)
    assert evals.read(path)["sample"].tolist() == [0, 2, 3]
    assert evals.read(path, missing_score="zero")["score"].tolist() == [1, 0, 1, 1]
    message = (
        r"a\.jsonl: missing_score: expected 'drop' or 'zero', as 1 of 4 answers have no score, got 'error'; the first"
    )
    with pytest.raises(ValueError, match=message):
        evals.read(path, missing_score="error")


def test_scores_in_words(tmp_path: Path) -> None:
    path = run(tmp_path / "a.jsonl", ["pass", "Fail", True, False, "correct", "incorrect", "yes", "0.5", None])
    assert evals.read(path)["score"].tolist() == [1, 0, 1, 0, 1, 0, 1, 0.5]
    with pytest.raises(ValueError, match="row 2: expected a number, pass or fail as score, got 'refused'; write"):
        evals.read(run(tmp_path / "b.jsonl", ["pass", "refused"]))


def test_the_first_line_may_have_no_score(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"sample": 0}, {"sample": 1, "score": 1}])
    assert evals.read(path, missing_score="zero")["score"].tolist() == [0, 1]


def test_a_refused_answer_is_a_class_of_its_own(tmp_path: Path) -> None:
    """Where targets and predictions are classes, they still are with answers that count as 0."""
    rows: list[dict[str, Any]] = [{"sample": k, "target": "ab"[k % 2], "prediction": "ab"[k % 2]} for k in range(12)]
    rows[3]["prediction"] = None
    path = write(tmp_path / "a.jsonl", rows)
    frame = evals.read(path, missing_score="zero")
    assert frame["y_pred"].tolist()[2:5] == ["a", "no answer", "a"]
    assert frame["y_true"].tolist()[2:5] == ["a", "b", "a"]
    assert len(evals.read(path)) == 11


def test_a_failed_answer_has_no_score_by_any_scorer(tmp_path: Path) -> None:
    sample = {"id": 1, "epoch": 1, "target": "x", "scores": {"f": {"value": "C"}, "g": {"value": 0.25}}}
    failed = {"id": 2, "epoch": 1, "target": "x", "error": {"message": "refused"}}
    path = tmp_path / "a.json"
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [sample, failed]}
    path.write_text(json.dumps(log))
    frame = evals.read(path, missing_score="zero")
    assert frame[["sample", "scorer", "score"]].to_numpy().tolist() == [
        [1, "f", 1.0],
        [1, "g", 0.25],
        [2, "f", 0.0],
        [2, "g", 0.0],
    ]
    assert evals.read(path, scorer="g")["score"].tolist() == [0.25]
    with pytest.raises(ValueError, match=r"scorer: expected one of 'f', 'g', got 'h'"):
        evals.read(path, scorer="h")


def test_shares_of_answers(tmp_path: Path) -> None:
    """Of one answer for each sample, the limits are Wilson's."""
    a = run(tmp_path / "a.jsonl", [1] * 50 + [0] * 40 + [None] * 10)
    b = run(tmp_path / "b.jsonl", [1] * 40 + [0] * 60)
    (result,) = evals.compare(a, b)
    assert result.samples == 90
    assert [len(reasons) for reasons in result.unscored] == [10, 0]
    assert result.unscored[0][0] == "sample 90, epoch 1: the score is null"
    first, second = result.answered
    assert (first.value, second.value) == (0.9, 1)
    assert (first.low, first.high) == pytest.approx(wilson(90, 100), abs=1e-12)
    assert second.low == pytest.approx(wilson(100, 100)[0], abs=1e-12)
    assert result.only_a == result.only_b == ()
    (zero,) = evals.compare(a, b, missing_score="zero")
    assert (zero.samples, zero.a.value, zero.answered[0].value) == (100, 0.5, 0.9)
    with pytest.raises(ValueError, match="missing_score: expected one of 'drop', 'zero', 'error', got 'no'"):
        evals.compare(a, b, missing_score="no")  # type: ignore[arg-type]


def test_more_than_two_runs(tmp_path: Path) -> None:
    """The differences of three runs are those of two, with limits of the level that Bonferroni gives each."""
    random = np.random.default_rng(7)
    paths = [run(tmp_path / f"{name}.jsonl", (random.random(200) < p).astype(int).tolist()) for name, p in
             (("a", 0.6), ("b", 0.7), ("c", 0.75))]  # fmt: skip
    results = evals.compare(*paths, level=0.94)
    assert [result.names for result in results] == [("a", "b"), ("a", "c"), ("b", "c")]
    for result, pair in zip(results, [(0, 1), (0, 2), (1, 2)], strict=True):
        (alone,) = evals.compare(*(paths[k] for k in pair), level=0.98)
        assert result.difference == pytest.approx(alone.difference, abs=1e-12)
        assert result.pairs == 3
        assert result.level_of_difference == pytest.approx(0.98)
        assert result.half_width() == pytest.approx(alone.half_width())
        assert result.samples_to_show() == alone.samples_to_show()
        (single,) = evals.compare(*(paths[k] for k in pair), level=0.94)
        assert result.a == single.a


def test_names_of_runs(tmp_path: Path) -> None:
    """Models have their names, files where several have the same model, and a number where these are the same."""
    folders = [tmp_path / name for name in "xy"]
    for folder in folders:
        folder.mkdir()
    of_model = run(tmp_path / "m.jsonl", [1, 0, 1], model="large")
    twice = [run(folder / "log.jsonl", [1, 0, 0], model="small") for folder in folders]
    names = {name for result in evals.compare(of_model, *twice) for name in result.names}
    assert names == {"large", *map(str, twice)}
    (result,) = evals.compare(of_model, of_model)
    assert result.names == ("m.jsonl: large", "m.jsonl: large (run 2)")


def test_a_judge_that_fails_for_some_answers(tmp_path: Path) -> None:
    """Its missing grades are a stratum; answers that nobody has graded are not counted."""
    random = np.random.default_rng(3)
    people = (random.random(600) < 0.7).astype(int)
    judge = [None if missing else int(grade) for missing, grade in zip(random.random(600) < 0.2, people, strict=True)]
    rows: list[dict[str, Any]] = [{"sample": k, "scorer": "judge", "score": grade} for k, grade in enumerate(judge)]
    rows += [{"sample": k, "scorer": "people", "score": int(people[k])} for k in range(200)]
    counts = evals.judged_counts(write(tmp_path / "a.jsonl", rows), people="people", judge="judge")
    silent = sum(grade is None for grade in judge[:200])
    assert counts.labelled[:, 2].sum() == silent
    assert counts.unlabelled[2].sum() == 0
    assert counts.labelled.sum() + counts.unlabelled.sum() == 200 + sum(grade is not None for grade in judge[200:])


def test_a_model_without_any_score_is_not_compared(tmp_path: Path) -> None:
    rows = [{"sample": k, "model": m, "score": None if m == "c" else k % 3 > 0} for m in "abc" for k in range(30)]
    path = write(tmp_path / "a.jsonl", rows)
    (result,) = evals.compare(path)
    assert (result.names, result.pairs) == (("a", "b"), 1)
    (left,) = result.not_compared
    low, high = wilson(0, 30)
    assert left == pytest.approx(
        {"run": "c", "scorer": "score", "answers": 30, "scored": 0, "share": 0, "low": low, "high": high}, abs=1e-12
    )
    results = evals.compare(path, missing_score="zero")
    assert [result.names for result in results] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert not any(result.not_compared for result in results)
    pair = write(tmp_path / "b.jsonl", [row for row in rows if row["model"] != "b"])
    with pytest.raises(
        ValueError, match=r"b\.jsonl: expected two logs, .* got a log of a; c has no answer with a score"
    ):
        evals.compare(pair)


def test_a_model_without_scores_of_a_single_scorer(tmp_path: Path) -> None:
    rows = [
        {"sample": k, "model": model, "scorer": scorer, "score": None if model + scorer == "cg" else k % 2}
        for model in "abc"
        for scorer in "fg"
        for k in range(6)
    ]
    results = evals.compare(write(tmp_path / "a.jsonl", rows))
    of_g = [result for result in results if result.scorer == "g"]
    assert [result.names for result in of_g] == [("a", "b")]
    assert [run["run"] for run in of_g[0].not_compared] == ["c"]
    assert not any(result.not_compared for result in results if result.scorer == "f")
