"""Evaluation logs on the command line: as input of the commands, and matrics compare of two."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pq = pytest.importorskip("pyarrow.parquet")

from commands import refused  # noqa: E402

from matrics import evals  # noqa: E402

OURS = Path(__file__).parent / "data" / "evals"
LOGS = Path(os.environ.get("MATRICS_EVAL_LOGS", OURS))  # nox -s evals lets the tools write them anew
PRINTED = json.loads((LOGS / "printed.json").read_text())
A, B, WORDS = (str(LOGS / name) for name in ("a.eval", "b.eval", "words.eval"))
PROMPTFOO = str(OURS / "promptfoo.json")
PARITY = str(next(LOGS.glob("samples_parity_*.jsonl")))


@pytest.fixture
def run(command: Any) -> Any:
    def called(*arguments: Any) -> tuple[str, str]:
        code, out, err = command(*map(str, arguments))
        assert code == 0, out + err
        return out, err

    return called


def value(text: str, start: str) -> list[float]:
    line = next(line for line in text.splitlines() if line.startswith(start))
    return [float(number) for number in re.findall(r"-?\d+\.\d+", line.removeprefix(start))]


def test_score(run: Any) -> None:
    out, err = run("score", A, "--metrics", "accuracy,mcc")
    assert "1 matrix of 4 classes, 90 samples" in out
    assert value(out, "accuracy")[0] == round(PRINTED["a.eval"]["choice"]["accuracy"], 3)
    assert not err


def test_samples_are_the_clusters_by_default(run: Any) -> None:
    out, _ = run("interval", A, "--metrics", "accuracy")
    assert "30 clusters (sample)" in out
    assert f"{PRINTED['a.eval']['choice']['stderr']:.3f}" in out
    out, _ = run("interval", A, "--metrics", "accuracy", "--clusters", "metadata_passage")
    assert "10 clusters (metadata_passage)" in out
    assert f"{PRINTED['a.eval by passage']['choice']['stderr']:.3f}" in out


def test_one_epoch_has_no_clusters(run: Any) -> None:
    out, _ = run("interval", PARITY, "--by", "scorer", "--metrics", "accuracy")
    assert "clusters" not in out
    assert value(out, "acc ")[0] == round(PRINTED[Path(PARITY).name]["acc,none"], 3)


def test_answers_without_a_score_are_named(run: Any) -> None:
    _, err = run("score", B, "--metrics", "accuracy")
    assert err.strip().endswith(
        "left out 1 answer without a score (1 of mockllm/model), the first: sample q07, epoch 2: "
        "RuntimeError('the model is out of order')"
    )


def of_model(path: Path, scores: list[Any]) -> Path:
    path.write_text("".join(json.dumps({"sample": k, "score": score}) + "\n" for k, score in enumerate(scores)))
    return path


def test_the_share_of_answers_is_in_tables_and_in_json(run: Any, tmp_path: Path) -> None:
    """Its limits are Wilson's, by hand, also where answers without a score count as 0."""
    log = of_model(tmp_path / "a.jsonl", [1] * 60 + [0] * 20 + [None] * 20)
    old = of_model(tmp_path / "b.jsonl", [1] * 50 + [0] * 50)
    square = 1.959963984540054**2
    middle, reach = (0.8 + square / 200) / (1 + square / 100), (0.16 / 100 + square / 40000) ** 0.5 / (1 + square / 100)
    reach *= square**0.5
    expected = {"run": "a", "scorer": "score", "answers": 100, "scored": 80, "share": 0.8}
    gate = ("--metrics", "accuracy", "--margin", "0.9", "--baseline", old)
    for command, *options in (
        ("interval", log),
        ("interval", log, "--missing-score", "zero"),
        ("gate", log, "--require", "accuracy > 0.1"),
        ("gate", log, *gate),
        ("gate", log, *gate, "--paired-on", "sample"),
    ):
        out, err = run(command, *options)
        ends = f"[{middle - reach:.3f}, {middle + reach:.3f}]"
        assert f"answered by a: 0.800 {ends}" in out.splitlines()
        assert "warning" not in err
        first, *others = json.loads(run(command, *options, "--format", "json")[0])["answered"]
        low, high = first.pop("low"), first.pop("high")
        assert first == expected
        assert (low, high) == pytest.approx((middle - reach, middle + reach), abs=1e-9)
        assert [part["run"] for part in others] == ["b"] * (old in options)
    run("gate", log, "--require", "accuracy > 0.1", "--output", tmp_path / "gate.xml")
    assert "answered by a: 0.800" in (tmp_path / "gate.xml").read_text()
    assert "answered by" not in run("interval", old)[0]
    assert json.loads(run("interval", old, "--format", "json")[0])["answered"][0]["share"] == 1


def test_several_models_are_not_mixed_without_a_word(run: Any, command: Any, tmp_path: Path) -> None:
    """A gate refuses them, and other commands say so; two runs of a model differ by their file."""
    for name in "ab":
        of_model(tmp_path / f"{name}.jsonl", [1] * 30 + [0] * 10)
    logs = tmp_path / "?.jsonl"
    for name in ("score", "interval"):
        _, err = run(name, logs)
        assert f"{logs.name}: the answers of a and b are counted together; --by model separates them" in err
        assert "together" not in run(name, logs, "--by", "model")[1]
    gate = ("gate", logs, "--require", "accuracy>=0.1")
    line = refused(command, *gate)
    assert line == "--by: expected the column model, as the log has the answers of a and b, got none"
    assert "2 groups" in run(*gate, "--by", "file")[0]
    for name in "ab":
        rows = [json.dumps({"sample": k, "model": "m", "score": k % 2}) for k in range(20)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    line = refused(command, *gate, "--by", "scorer")
    assert line == "--by: expected the column file, as the log has the answers of a.jsonl and b.jsonl, got 'scorer'"


def test_models_of_a_log_are_compared_by_their_pass_rates(run: Any, tmp_path: Path) -> None:
    """As rows of labels, too: other measures need two true classes."""
    rows = [
        {"sample": k, "model": m, "score": int(k % wrong > 0)} for m, wrong in (("a", 3), ("b", 9)) for k in range(90)
    ]
    log = tmp_path / "two.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)))
    for options in ((log, "--by", "model"), (log, "--by", "model", "--paired-on", "sample", "--num", "200")):
        out, err = run("compare", *options)
        assert err == f"matrics: {log}: the answers of the log only pass or fail; the accuracy is the pass rate\n"
        found = json.loads(run("compare", *options, "--format", "json")[0])
        assert {(row["model"], row["measure"], round(row["estimate"], 3)) for row in found["rows"]} == {
            ("a", "accuracy", 0.667),
            ("b", "accuracy", 0.889),
        }
        assert "undefined" not in out


def test_the_share_of_answers_by_each_scorer(run: Any, command: Any) -> None:
    out, _ = run("interval", B, "--level", "0.9")
    line = next(line for line in out.splitlines() if line.startswith("answered by"))
    (found,) = evals.compare(A, B, level=0.9)
    share = found.answered[1]
    assert line == f"answered by mockllm/model: {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]"
    _, out, _ = command("gate", PARITY, "--by", "scorer", "--require", "accuracy>0", "--format", "json")
    facts = json.loads(out)
    assert [part["scorer"] for part in facts["answered"]] == facts["groups"]


def test_measures_of_two_classes_say_so(run: Any) -> None:
    out, err = run("score", WORDS, "--by", "scorer", "--metrics", "accuracy,mcc,balanced_accuracy")
    assert value(out, "match")[0] == round(PRINTED["words.eval"]["match"]["accuracy"], 3)
    assert "the only true class is pass, as the log has no classes; undefined measures: mcc" in err
    assert "warning" not in err
    _, err = run("score", WORDS, "--by", "scorer", "--metrics", "accuracy")
    assert not err


def test_a_pattern_of_logs(run: Any) -> None:
    out, _ = run("score", LOGS / "*.eval", "--by", "file,scorer", "--metrics", "accuracy")
    assert "4 matrices of 2 classes" in out
    assert value(out, "a.eval")[0] == 0.467


@pytest.mark.exhaustive
def test_counts_and_a_report(run: Any, tmp_path: Path) -> None:
    run("count", A, "--output", tmp_path / "a.parquet")
    assert "90 samples" in run("score", tmp_path / "a.parquet")[0]
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    run("report", PROMPTFOO, "--by", "model", "--output", tmp_path / "a.html")
    assert "openai:gpt-small" in (tmp_path / "a.html").read_text()


def test_plain_json_lines(run: Any, tmp_path: Path) -> None:
    rows = [{"truth": k % 2, "said": int(k % 3 == 0), "chance": k / 20, "site": "north"} for k in range(20)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = ("--true", "truth", "--pred", "said")
    text = tmp_path / "rows.csv"
    text.write_text("truth,said,site\n" + "".join(f"{row['truth']},{row['said']},{row['site']}\n" for row in rows))
    score = ("--metrics", "mcc,precision", "--by", "site", *names)
    assert run("score", path, *score)[0].replace("jsonl", "csv") == run("score", text, *score)[0]
    out, _ = run("threshold", path, "--true", "truth", "--scores", "chance", "--metric", "mcc")
    assert "threshold" in out


def test_compare(run: Any) -> None:
    out, err = run("compare", A, B)
    (found,) = evals.compare(A, B)
    first, about, *_ = out.splitlines()
    assert first == "Not shown: a.eval less b.eval in accuracy is -0.119, between -0.240 and 0.011"
    assert about == "28 samples that both have, epochs: 3, 2.96; 95 % limits; scorer choice"
    a, low, high, error, data, prediction = value(out, "a.eval  ")
    assert (a, error) == (round(found.a.value, 3), round(found.a.standard_error, 3))
    assert data**2 + prediction**2 == pytest.approx(error**2, abs=1e-3)
    assert low < a < high
    assert f"about {found.samples_to_show()} samples like these" in out
    assert f"twice the epochs ±{found.half_width(epochs=2):.3f}" in out
    missing, only = out.splitlines()[-2:]
    assert missing.startswith(
        "left out 1 answer of b.eval without a score, the first: sample q07, epoch 2: RuntimeError("
    )
    assert only == "left out 2 that only a.eval has: q00, q01"
    assert not err


def test_a_difference_that_is_real(run: Any, tmp_path: Path) -> None:
    for name, wrong in (("old", 3), ("new", 12)):
        rows = [{"sample": k, "score": int(k % wrong != 1)} for k in range(300)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out, err = run("compare", tmp_path / "old.jsonl", tmp_path / "new.jsonl")
    (found,) = evals.compare(tmp_path / "old.jsonl", tmp_path / "new.jsonl")
    low, high = -found.difference.high, -found.difference.low
    gap = f"{-found.difference.value:.3f}, between {low:.3f} and {high:.3f}"
    assert out.startswith(f"Real: new is better than old in accuracy, by {gap}\n")
    assert "samples like these" not in out
    assert "one epoch of each sample: noise of prediction and noise of data cannot be separated" in out
    assert not err


def test_compare_a_measure_and_one_log_of_two_models(run: Any) -> None:
    out, _ = run("compare", A, B, "--metrics", "mcc,accuracy", "--level", "0.9")
    assert out.count("90 % limits") == 2
    assert "in mcc" in out
    out, _ = run("compare", PROMPTFOO)
    assert out.startswith("Not shown: openai:gpt-small less openai:gpt-large in accuracy is -0.400")
    assert "few samples, below 20: limits may miss the truth" in out
    out, _ = run("compare", PROMPTFOO, "--by", "model")  # any file with a column of models
    assert "models on different samples" in out


def test_scores_in_part(run: Any, command: Any, tmp_path: Path) -> None:
    """They make no matrix; a difference without any variation has no limits."""
    rows = [{"sample": k, "score": k % 5 / 4} for k in range(20)]
    for name, less in (("a", 0), ("b", 0), ("c", 0.25)):
        text = "".join(json.dumps({**row, "score": row["score"] - less}) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    a, b, c = (tmp_path / f"{name}.jsonl" for name in "abc")
    message = "expected answers that pass or fail, got the score 0.25 of sample 1 by score: use matrics compare for"
    assert message in refused(command, "score", a)
    assert run("compare", a, b)[0].startswith("No limits: a less b in mean score is 0.000 for every sample\n")
    assert run("compare", a, c)[0].startswith("No limits: a less c in mean score is 0.250 for every sample\n")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("score", WORDS),
            "words.eval: --scorer: expected one of match, includes, whose scores the log has, got none",
        ),
        (
            ("gate", A, "--scorer", "x", "--require", "accuracy>0"),
            "--scorer: expected one of 'choice', got 'x'",
        ),
        (("score", "README.md", "--scorer", "x"), "--scorer: expected an evaluation log with it"),
        (("score", B, "--missing-score", "error"), "--missing-score: expected 'drop' or 'zero', as 1 of 84 answers"),
        (("score", B, "--missing-score", "no"), "--missing-score: expected one of 'drop', 'zero', 'error', got 'no'"),
        (("compare", A, B, "--scorer", "x"), "--scorer: expected one of 'choice', got 'x'"),
        (
            ("compare", A, "README.md"),
            "README.md: expected evaluation logs (.eval, .json, .jsonl), or one file with",
        ),
        (("compare", "README.md", A), "README.md: expected evaluation logs"),
        (("compare", A, B, "--seed", "1"), "--seed: expected no such option for evaluation logs, got '1'"),
        (
            ("compare", A, B, "--paired-on", "x"),
            "--paired-on: expected no such option for evaluation logs, got 'x'",
        ),
        (("compare", A, B, "--level", "3"), "--level: expected a number between 0 and 1, such as 0.95, got 3.0"),
        (
            ("compare", A, WORDS),
            "expected a scorer of both runs, got choice of a.eval and match, includes of words",
        ),
        (
            ("compare", WORDS, WORDS, "--metrics", "mcc"),
            "--metrics: expected accuracy, as match only grades answers as pass",
        ),
        (("compare", A, "none.eval"), "none.eval: No such file"),
        (("score", "none.jsonl"), "none.jsonl: No such file"),
        (("score", A, "--true", "truth"), "a.eval: expected the columns truth, y_pred, got no 'truth'"),
        (("count", A, WORDS, "--output", "x.parquet"), "expected a single file or pattern of this kind"),
    ],
)
def test_one_sentence(command: Any, arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(command, *arguments)


def test_the_command_line_compares_any_number_of_logs(run: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    paths = []
    for name, passes in (("a", 0.5), ("b", 0.7), ("c", 0.9)):
        scores: list[Any] = (random.random(100) < passes).astype(int).tolist()
        scores[:5] = [None] * 5 if name == "c" else scores[:5]
        lines = [json.dumps({"sample": k, "score": score}) for k, score in enumerate(scores)]
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("\n".join(lines))
    out, err = run("compare", *paths, "--format", "json")
    assert err.splitlines() == [
        "matrics: left out 5 answers of c without a score, the first: sample 0, epoch 1: the score is null"
    ]
    document = json.loads(out)
    results = evals.compare(*paths)
    assert document["runs"] == ["a", "b", "c"]
    gaps = [row for row in document["rows"] if " less " in row["run"]]
    assert [(row["low"], row["high"]) for row in gaps] == [result.difference[1:3] for result in results]
    shares = {row["run"]: row["answered"] for row in document["rows"] if row["answered"] is not None}
    assert shares == {"a": 1.0, "b": 1.0, "c": 0.95}
    out, err = run("compare", *paths, "--missing-score", "zero")
    assert "hold for all 3 differences together" in out
    assert "answered by c: 0.950 [" in out
    assert "scored 5 answers of c without a score as 0" in out
    assert not err


def test_a_log_without_the_field_sample(command: Any, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1, "score": 1}\n{"id": 2, "score": 0}\n')
    code, _, err = command("score", tmp_path / "a.jsonl")
    assert code == 2
    assert "an evaluation log also needs the field sample" in err


def test_the_measure_of_answers_that_pass_is_the_pass_rate(run: Any, tmp_path: Path) -> None:
    """Without ``--metrics``; measures that need two true classes are there for those who ask for them."""
    lines = [json.dumps({"sample": k, "score": int(k % 4 > 0)}) for k in range(80)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    for name in ("score", "interval"):
        out, err = run(name, path, "--format", "json")
        document = json.loads(out)
        assert [measure["spec"] for measure in document["measures"]] == ["accuracy"]
        assert err.splitlines()[-1].endswith("the answers of the log only pass or fail; the accuracy is the pass rate")
        assert any(line.startswith("pass rate") for line in run(name, path)[0].splitlines())
    assert document["rows"][0]["accuracy"] == 0.75
    out, err = run("score", path, "--metrics", "mcc,accuracy")
    assert "mcc" in out
    table = tmp_path / "b.jsonl"  # of classes that are named in the same way
    rows = [{"y_true": ["pass", "fail"][k % 2], "y_pred": ["pass", "fail"][k % 3 % 2]} for k in range(30)]
    table.write_text("\n".join(map(json.dumps, rows)))
    out, _ = run("score", table, "--format", "json")
    assert len(json.loads(out)["measures"]) == 9


def test_a_report_of_answers_that_pass_ranks_by_the_pass_rate(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    import matrics

    random = np.random.default_rng(2)
    rows = [
        {"sample": k, "model": name, "score": int(random.random() < share)}
        for name, share in (("small", 0.4), ("large", 0.9))
        for k in range(100)
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    board = matrics.report(path, by="model", paired_on="sample").to_dict()
    assert "large is best, with pass rate 0." in json.dumps(board)
    assert not board["classes"]
    report = matrics.report(path, by="model", paired_on="sample", num=1000)
    verdict = report.findings.leaderboard.verdict
    passes = np.asarray([row["score"] for row in rows]).reshape(2, 100)
    assert (verdict.title, verdict.estimate.tolist()) == ("pass rate", passes[[1, 0]].mean(axis=1).tolist())
    by_hand = matrics.compare_models(np.ones(100, int), passes[::-1], "accuracy", num_classes=2, num=1000, rng=0)
    assert verdict.difference_low[1] == pytest.approx(float(by_hand["accuracy"].differences.low[0, 1]))
    assert report.findings.cautions == []
    markdown, page = report.markdown().partition("## Methods")[0], report.html().partition("<main>")[2]
    for text in (markdown, page.partition('id="methods"')[0]):
        assert "pass rate" in text
        for word in ("Most frequent", "recall", "Positive class", "Confusion matrices", "#classes", "#measures"):
            assert word not in text
    path.write_text("\n".join(json.dumps(row) for row in rows if row["sample"] < 12))
    few = matrics.report(path, by="model", paired_on="sample")
    assert [caution.first for caution in few.findings.cautions] == ["A model has fewer than 20 answers: 12."]


@pytest.fixture
def refusing(tmp_path: Path) -> Path:
    """A log of three models, of which the last has no score."""
    rows = [
        {"sample": k, "model": m, "task": f"of {m}", "score": None if m == "c" else k % 3 > 0}
        for m in "abc"
        for k in range(30)
    ]
    path = tmp_path / "refuse.jsonl"
    path.write_text("".join(json.dumps({**row, "task": "t"}) + "\n" for row in rows))
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps({**row, "model": "m"}) + "\n" for row in rows))
    return path


def test_a_gate_refuses_a_group_without_scores(run: Any, command: Any, refusing: Path) -> None:
    def refusal(*arguments: Any) -> str:
        code, out, err = command(*arguments)
        assert (code, out) == (2, "")
        return str(err.splitlines()[-1]).removeprefix("matrics: ")

    requirement = ("--require", "accuracy >= 0.2")
    line = refusal("gate", refusing, *requirement)
    assert line == "--by: expected the column model, as the log has the answers of a, b and c, got none"
    end = "use --missing-score zero, or leave it out of the log"
    for log, column, group in ((refusing, "model", "c"), (refusing.with_name("tasks.jsonl"), "task", "of c")):
        line = refusal("gate", log, *requirement, "--by", column)
        start = f"{log.name}: expected scores in each group ({column}), got no answer with a score of {group}: "
        assert line.endswith(start + end)
    baseline = ("--metrics", "accuracy", "--margin", "0.3", "--by", "model", "--baseline", refusing)
    for options in (baseline, (*baseline, "--paired-on", "sample")):
        assert "got no answer with a score of c" in refusal("gate", refusing, *options)
    areas = ("--scores", "score", "--positive", "pass", "--require", "brier < 1", "--by", "model")
    assert "got no answer with a score of c" in refusal("gate", refusing, *areas)
    code, out, _ = command("gate", refusing, *requirement, "--by", "model", "--missing-score", "zero")
    assert code == 1
    assert "3 groups" in out
    alone = refusing.with_name("alone.jsonl")
    alone.write_text("".join(text for text in refusing.read_text().splitlines(True) if '"b"' not in text))
    line = refusal("gate", alone, *requirement)
    assert line == "--by: expected the column model, as the log has the answers of a and c, got none"
    assert "together" not in run("interval", alone)[1]


def test_a_model_without_scores_is_named(run: Any, refusing: Path) -> None:
    high = 1.959963984540054**2 / (30 + 1.959963984540054**2)  # Wilson's limit for none of 30
    line = f"answered by c: 0.000 [0.000, {high:.3f}]"
    for name in ("score", "interval"):
        assert (
            "(30 of c), the first: sample 0, epoch 1: the score is null; c has no answer with a score"
            in (run(name, refusing, "--by", "model")[1])
        )
    for arguments in (("interval", refusing, "--by", "model"), ("compare", refusing)):
        assert line in run(*arguments)[0].splitlines()
    answered = json.loads(run("interval", refusing, "--by", "model", "--format", "json")[0])["answered"]
    out, err = run("compare", refusing, "--format", "json")
    assert json.loads(out)["not_compared"] == answered[2:]
    assert answered[2]["high"] == pytest.approx(high, abs=1e-12)
    message = "left out c: none of its 30 answers has a score (scorer score)"
    assert message in err
    assert message in run("compare", refusing)[0]
