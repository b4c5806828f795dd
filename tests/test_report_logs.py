"""Reports of evaluation logs: models and samples by default, and answers without a score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import done

import matrics

for needed in ("typer", "pyarrow", "jinja2", "matplotlib", "scipy"):
    pytest.importorskip(needed)

LOG = Path(__file__).parent / "data" / "evals" / "a.eval"


def write(name: str, scores: list[Any]) -> None:
    rows = [{"sample": k // 2, "epoch": k % 2, "score": score} for k, score in enumerate(scores)]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def answers(chance: float) -> list[int]:
    return (np.random.default_rng(5).random(200) < chance).astype(int).tolist()


def test_epochs_of_a_single_log_are_clusters(command: Any) -> None:
    """The limits are those of matrics interval, which are wider than those of independent answers."""
    command("report", LOG, "--metrics", "accuracy", "--output", "a.md")
    (row,) = json.loads(done(command, "interval", LOG, "--metrics", "accuracy", "--format", "json"))["rows"]
    limits = f"({row['accuracy/low']:.3f} to {row['accuracy/high']:.3f})"
    assert limits in Path("a.md").read_text()
    assert limits in matrics.report(LOG, metrics="accuracy").findings.summary[1].replace("\u00a0", " ")


def test_models_are_compared_sample_by_sample(command: Any) -> None:
    write("a.jsonl", answers(0.6))
    write("b.jsonl", answers(0.7))
    out = done(command, "report", "?.jsonl", "--output", "a.md", "--num", "200")
    assert out.startswith("400 answers of 2 models were scored, on the same 100 samples.")
    named = done(
        command, "report", "?.jsonl", *("--by", "model", "--paired-on", "sample", "--num", "200", "--output", "b.md")
    )
    assert named.splitlines()[:2] == out.splitlines()[:2]
    by_epoch = done(command, "report", "?.jsonl", "--by", "epoch", "--output", "c.md", "--num", "200")
    assert "2 models" in by_epoch


def test_answers_without_a_score(command: Any) -> None:
    """The page has the share of answers with a score, and the limits of matrics interval."""
    write("a.jsonl", [*answers(0.6)[:150], *[None] * 50])
    write("b.jsonl", answers(0.7))
    code, out, _ = command("report", "?.jsonl", "--output", "a.md")
    assert code == 0
    (part,) = json.loads(command("interval", "a.jsonl", "--format", "json")[1])["answered"]
    text = f"50 of 200 of a (answered: 0.750, {part['low']:.3f} to {part['high']:.3f})"
    assert f"answers without a score: {text}." in out.replace("\u00a0", " ")
    assert f"Answers without a score: {text}." in Path("a.md").read_text()
    _, out, _ = command("report", "?.jsonl", "--missing-score", "zero", "--output", "b.md", "--num", "200")
    assert "on the same 100 samples" in out
    assert "answers without a score: 50 of 200 of a" in out.replace("\u00a0", " ")
    (found,) = matrics.to_dict(matrics.report("a.jsonl"))["data"]["origin"]["answered"]
    assert (found["answers"], found["scored"], found["share"]) == (200, 150, 0.75)


def test_a_model_without_any_score_is_a_warning(command: Any) -> None:
    rows = [{"sample": k, "model": m, "score": None if m == "c" else k % 3 > 0} for m in "abc" for k in range(30)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, err = command("report", "a.jsonl", "--output", "a.md")
    assert code == 0
    assert "c has no answer with a score" in err
    high = 1.959963984540054**2 / (30 + 1.959963984540054**2)  # Wilson's limit for none of 30
    text = f"nswers without a score: 30 of 30 of c (answered: 0.000, 0.000 to {high:.3f})."
    assert text in out.replace("\u00a0", " ")
    assert text in Path("a.md").read_text()


@pytest.mark.parametrize("models", ["a", "ab"])
def test_epochs_of_a_single_sample(command: Any, models: str) -> None:
    """A single cluster has no limits, so the answers are independent, as in the share of answers with a score."""
    rows = [{"sample": "q0", "model": m, "score": (0, 1, None)[k % 3]} for m in models for k in range(30)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = command("report", "a.jsonl", "--output", "a.md", "--num", "200")
    assert code == 0
    square = 1.959963984540054**2
    reach = (square * (0.25 / 20 + square / 1600)) ** 0.5 / (1 + square / 20)  # Wilson's, for 10 of 20
    assert f"pass rate 0.500 ({0.5 - reach:.3f} to {0.5 + reach:.3f})" in out.replace("\u00a0", " ")
    assert f"10 of 30 of {models[0]} (answered: 0.667" in out.replace("\u00a0", " ")
