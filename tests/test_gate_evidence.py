"""Gates of samples that are not independent, and of samples that a judge has labelled."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refused

import matrics
from matrics import IntervalStatus

pytest.importorskip("typer")
ROOT = Path(__file__).parents[1]
RANDOM = np.random.default_rng(0)
NUMBER, CLUSTERS = 1200, 120
PATIENT = np.repeat(np.arange(CLUSTERS), NUMBER // CLUSTERS)
TRUE = RANDOM.integers(0, 2, NUMBER)
SKILL = RANDOM.random(CLUSTERS)[PATIENT] * 0.4 + 0.6
NEW, OLD = (np.where(RANDOM.random(NUMBER) < SKILL - less, TRUE, 1 - TRUE) for less in (0, 0.02))


def test_limits_by_clusters() -> None:
    """Those of interval() and of compare_paired() with the same clusters."""
    found = matrics.gate(TRUE, "accuracy >= 0.78", y_pred=NEW, clusters=PATIENT).requirements[0]
    stack = matrics.confusion_matrix(TRUE, NEW, num_classes=2, groups=PATIENT, num_groups=CLUSTERS)
    expected = matrics.interval(stack, "accuracy", cluster_axis=0)["accuracy"]
    assert (found.low, found.high) == (expected.low, expected.high)
    assert (found.samples, found.unit) == (CLUSTERS, "cluster")
    alone = matrics.gate(TRUE, "accuracy >= 0.78", y_pred=NEW).requirements[0]
    assert found.high - found.low > 1.1 * (alone.high - alone.low)
    assert "clusters would decide (now 120)" in str(found)
    joint = matrics.stats.joint_confusion_matrix(TRUE, NEW, OLD, num_classes=2, groups=PATIENT, num_groups=CLUSTERS)
    expected = matrics.compare_paired(joint, "accuracy", cluster_axis=0)["accuracy"]
    both = matrics.gate(TRUE, "accuracy", y_pred=NEW, baseline=OLD, margin=0.05, clusters=PATIENT).requirements[0]
    assert (both.low, both.high) == (expected.low, expected.high)
    names = np.asarray([f"patient {k}" for k in PATIENT])
    assert matrics.gate(TRUE, "accuracy >= 0.78", y_pred=NEW, clusters=names).requirements[0].low == found.low


def test_as_many_clusters_as_it_says_decide() -> None:
    found = matrics.gate(TRUE, "accuracy >= 0.78", y_pred=NEW, clusters=PATIENT).requirements[0]
    assert found.verdict == "undecided"
    times = math.ceil(1.2 * found.needed / CLUSTERS)
    more = np.concatenate([PATIENT + k * CLUSTERS for k in range(times)])
    decided = matrics.gate(np.tile(TRUE, times), "accuracy >= 0.78", y_pred=np.tile(NEW, times), clusters=more)
    assert decided.verdict != "undecided"


def test_judged_samples() -> None:
    """The limits are those of judged_interval(), and the labels that it asks for decide."""
    true = RANDOM.integers(0, 2, 20_000)
    judge, pred = (np.where(RANDOM.random(20_000) < p, true, 1 - true) for p in (0.9, 0.8))
    counts = matrics.judged.count(true, judge, pred, labelled=np.arange(20_000) < 200, num_classes=2)
    found = matrics.gate(counts, "accuracy >= 0.77, mcc >= 0.1", class_names=["ok", "fraud"])
    expected = matrics.judged.interval(counts, "accuracy")["accuracy"]
    first = found.requirements[0]
    assert (first.low, first.high) == (expected.low, expected.high)
    assert (first.verdict, found.requirements[1].verdict) == ("undecided", "pass")
    assert (first.samples, first.unit, found.unit) == (200, "label", "label")
    assert first.needs.endswith("labels would decide (now 200)")
    whole = counts._replace(labelled=counts.labelled * 30, unlabelled=counts.unlabelled * 30)
    assert matrics.gate(whole, "accuracy >= 0.77").verdict != "undecided"
    assert "predicted as" in str(found)
    with pytest.raises(TypeError, match="baseline: expected None with judged counts"):
        matrics.gate(counts, "accuracy", baseline=counts)
    with pytest.raises(TypeError, match="clusters: expected y_pred= with it"):
        matrics.gate(counts, "accuracy >= 0.5", clusters=PATIENT)
    with pytest.raises(ValueError, match="clusters: expected at least two clusters, got 1"):
        matrics.gate(TRUE, "accuracy >= 0.5", y_pred=NEW, clusters=np.zeros(NUMBER))


def test_the_command_with_clusters(command: Any) -> None:
    lines = ["patient,y_true,y_pred"] + [f"{p},{t},{n}" for p, t, n in zip(PATIENT, TRUE, NEW, strict=True)]
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    options = ["rows.csv", "--clusters", "patient", "--require", "accuracy >= 0.78"]
    code, out, _ = command("gate", *options, "--format", "json")
    printed = json.loads(out)
    assert code == printed["exit_code"]
    expected = matrics.gate(TRUE, "accuracy >= 0.78", y_pred=NEW, clusters=PATIENT).requirements[0]
    assert printed["rows"][0]["low"] == expected.low
    assert (printed["clusters"], printed["number_of_clusters"], printed["unit"]) == ("patient", CLUSTERS, "cluster")
    _, out, _ = command("gate", *options)
    assert out.splitlines()[0] == "rows.csv: 2 classes, 1,200 samples in 120 clusters (patient)"
    Path("one.csv").write_text("patient,y_true,y_pred\n1,a,b\n1,b,a\n")
    for arguments, words in (
        (["one.csv", "--clusters", "patient"], "--clusters: expected at least two values of 'patient', got 1"),
        (["rows.csv", "--clusters", "nobody"], "got no 'nobody'"),
    ):
        assert words in refused(command, "gate", *arguments, "--require", "accuracy >= 0.5")


def test_epochs_of_a_log_are_clusters(command: Any) -> None:
    path = ROOT / "tests" / "data" / "evals" / "a.eval"
    _, out, _ = command("gate", path, "--require", "accuracy >= 0.3", "--format", "json")
    found = json.loads(out)
    assert found["clusters"] == "sample"
    frame = pytest.importorskip("matrics.evals").read(path)
    labels = sorted({*frame["y_true"], *frame["y_pred"]})
    samples, groups = np.unique(frame["sample"], return_inverse=True)
    stack = matrics.confusion_matrix(
        frame["y_true"], frame["y_pred"], labels=labels, groups=groups, num_groups=len(samples)
    )
    expected = matrics.interval(stack, "accuracy", cluster_axis=0)["accuracy"]
    assert math.isclose(found["rows"][0]["low"], expected.low)


def test_logs_with_epochs_and_a_baseline_are_paired_by_sample(command: Any) -> None:
    """Their epochs would count as samples of their own, in either file."""
    logs = [str(ROOT / "tests" / "data" / "evals" / name) for name in ("a.eval", "b.eval")]
    said = refused(command, "gate", logs[0], "--baseline", logs[1], "--metrics", "accuracy")
    assert f"--baseline: expected --paired-on sample with it, as {logs[0]} has several answers to a sample" in said
    Path("once.jsonl").write_text('{"sample": 1, "score": 1}\n{"sample": 2, "score": 0}\n')
    said = refused(command, "gate", "once.jsonl", "--baseline", logs[0], "--metrics", "accuracy")
    assert f"as {logs[0]} has several answers" in said
    options = ("--baseline", logs[1], "--metrics", "accuracy", "--paired-on", "sample")
    code, _, err = command("gate", logs[0], *options)
    assert code == 2
    assert "first at sample q07: 2 and 3" in err


def test_repeated_samples_of_a_gate_are_clusters(command: Any) -> None:
    """As clusters= of Python; the repeats of a file alone count as well."""
    samples = np.repeat(np.arange(60), 4)
    true = np.where(samples % 3 > 0, "ok", "fraud")
    new, old = (np.where(RANDOM.random(240) < p, true, "ok") for p in (0.9, 0.7))
    for name, pred in (("new.csv", new), ("old.csv", old)):
        rows = (f"{k},{x},{y}" for k, x, y in zip(samples, true, pred, strict=True))
        Path(name).write_text("\n".join(["id,y_true,y_pred", *rows]) + "\n")
    wanted = matrics.gate(true, ["mcc >= 0.5", "mcc"], y_pred=new, baseline=old, clusters=samples, margin=0.1)
    arguments = ("new.csv", "--baseline", "old.csv", "--paired-on", "id", "--metrics", "mcc", "--margin", "0.1")
    _, out, _ = command("gate", *arguments, "--require", "mcc >= 0.5", "--format", "json")
    found = json.loads(out)
    for one, other in zip(found["rows"], wanted.requirements, strict=True):
        assert math.isclose(one["low"], other.low)
        assert math.isclose(one["high"], other.high)
    assert (found["paired"], found["clusters"], found["number_of_clusters"]) == (60, "id", 60)
    assert "the same 60 samples (id), 4 predictions of each" in command("gate", *arguments)[1]


def test_rows_without_a_label_and_other_encodings(command: Any) -> None:
    text = "\n".join(["y_true,y_pred", *["b\u00e4r,b\u00e4r", "cat,cat", ",cat"] * 200]) + "\n"
    Path("latin.csv").write_bytes(text.encode("latin-1"))
    options = ["latin.csv", "--encoding", "latin-1", "--require", "accuracy >= 0.5", "--format", "json"]
    _, out, _ = command("gate", *options, "--missing", "drop")
    assert json.loads(out)["samples"] == 400
    assert json.loads(out)["classes"] == ["b\u00e4r", "cat"]
    assert "expected a value in column 'y_true', got an empty cell" in refused(command, "gate", *options)


def test_verdicts_as_csv(command: Any) -> None:
    """A row for each requirement; undefined values are empty."""
    Path("rows.csv").write_text("y_true,y_pred\n" + "a,a\nb,b\na,b\n" * 200 + "c,a\n")
    options = ["rows.csv", "--require", "accuracy >= 0.6", "--require", "precision[c] >= 0.5"]
    code, out, _ = command("gate", *options, "--format", "csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert code == 3
    assert [row["verdict"] for row in rows] == ["pass", "undecided"]  # accuracy is of all 601 samples, not of class c
    assert float(rows[0]["low"]) < float(rows[0]["estimate"]) < float(rows[0]["high"])
    assert (rows[1]["estimate"], rows[1]["low"], rows[1]["status"]) == (
        "",
        "",
        str(int(matrics.IntervalStatus.UNDEFINED)),
    )
    assert command("gate", *options, "--format", "table")[1] == command("gate", *options)[1]


def test_a_judge_of_numbers(command: Any) -> None:
    """Classes are in the order of their numbers."""
    rows = [f"{k % 12 if k < 240 else ''},{(k + (k % 7 == 0)) % 12},{(k + (k % 5 == 0)) % 12}" for k in range(1200)]
    Path("numbers.csv").write_text("\n".join(["y_true,judge,y_pred", *rows]) + "\n")
    _, out, _ = command(
        "gate",
        "numbers.csv",
        "--human",
        "y_true",
        "--judge",
        "judge",
        "--require",
        "accuracy >= 0.5",
        "--format",
        "json",
    )
    assert json.loads(out)["classes"] == [str(k) for k in range(12)]


def test_the_command_with_a_judge(command: Any) -> None:
    path = ROOT / "examples" / "judged_tickets.csv"
    options = ["--human", "people", "--pred", "routed", "--judge", "judge"]
    _, out, _ = command("gate", path, *options, "--require", "accuracy >= 0.75", "--format", "json")
    printed = json.loads(out)
    table = [line.split(",") for line in path.read_text().splitlines()[1:]]
    people, judge, routed = ([row[k] or None for row in table] for k in (1, 2, 3))
    counts = matrics.judged.count(people, judge, routed, labels=["billing", "delivery", "fraud"])
    expected = matrics.judged.interval(counts, "accuracy")["accuracy"]
    assert math.isclose(printed["rows"][0]["low"], expected.low)
    assert (printed["labelled"], printed["judged"], printed["unit"]) == (300, 4000, "label")
    assert printed["exit_code"] == 0
    for wrong, words in (
        (["--human", "people", "--pred", "routed", "--judge", "nobody"], "got no 'nobody'"),
        ([*options, "--clusters", "id"], "--clusters: expected no such option with --judge"),
        ([*options, "--weight", "id"], "--weight: expected no such option with --judge"),
    ):
        assert words in refused(command, "gate", path, *wrong, "--require", "accuracy >= 0.5")


def test_two_scorers_of_a_log(command: Any) -> None:
    evals = pytest.importorskip("matrics.evals")
    lines = [{"sample": k, "scorer": "judge", "score": int(k % 4 > 0)} for k in range(400)]
    lines += [{"sample": k, "scorer": "people", "score": int(k % 5 > 0)} for k in range(100)]
    Path("answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    counts = evals.judged_counts("answers.jsonl", people="people", judge="judge")
    people = [int(k % 5 > 0) if k < 100 else -1 for k in range(400)]
    by_hand = matrics.judged.count(people, [int(k % 4 > 0) for k in range(400)], num_classes=2)
    assert counts.labelled.tolist() == by_hand.labelled.tolist()
    assert counts.unlabelled.tolist() == by_hand.unlabelled.tolist()
    options = ["--human", "people", "--judge", "judge", "--require", "accuracy >= 0.7"]
    _, out, _ = command("gate", "answers.jsonl", *options, "--format", "json")
    expected = matrics.judged.interval(counts, "accuracy")["accuracy"]
    assert math.isclose(json.loads(out)["rows"][0]["low"], expected.low)
    for arguments, words in (
        (["--judge", "judge"], "--human: expected one of the scorers"),
        (
            ["--human", "human", "--judge", "judge"],
            "--human: expected one of the scorers 'judge', 'people', got 'human'",
        ),
    ):
        assert words in refused(command, "gate", "answers.jsonl", *arguments, "--require", "accuracy >= 0.5")
    with pytest.raises(ValueError, match="judge: expected one of the scorers 'judge', 'people', got 'gpt'"):
        evals.judged_counts("answers.jsonl", people="people", judge="gpt")
    partly = [{**line, "score": line["score"] / 2} for line in lines]
    Path("partly.jsonl").write_text("".join(json.dumps(line) + "\n" for line in partly))
    with pytest.raises(ValueError, match=r"expected answers that pass or fail, got the score 0\.5"):
        evals.judged_counts("partly.jsonl", people="people", judge="judge")


def test_answers_that_the_judge_has_not_graded_are_counted_apart(command: Any) -> None:
    """Of 400 answers the judge has graded 380: not those of the first 20, all of which people have graded."""
    lines = [{"sample": k, "scorer": "judge", "score": int(k % 4 > 0)} for k in range(20, 400)]
    lines += [{"sample": k, "scorer": "people", "score": int(k % 5 > 0)} for k in range(100)]
    Path("silent.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ["--human", "people", "--judge", "judge", "--require", "accuracy >= 0.7"]
    _, out, _ = command("gate", "silent.jsonl", *options)
    title = "380 answers graded by judge, 80 of them by people as well; 20 more graded by people alone"
    assert out.splitlines()[0] == f"silent.jsonl: {title}; accuracy is the pass rate"
    printed = json.loads(command("gate", "silent.jsonl", *options, "--format", "json")[1])
    numbers = {"labelled": 100, "judged": 380, "both": 80, "unanswered": 0}
    assert {name: printed[name] for name in numbers} == numbers
    assert all(type(printed[name]) is int for name in numbers)


def test_rows_that_the_judge_has_not_labelled(command: Any) -> None:
    """In a table too such rows are counted apart, and the limits are those of the counts."""
    people = [k % 3 > 0 if k < 90 else None for k in range(300)]
    judge = [None if k % 10 == 0 else k % 3 > 0 for k in range(300)]
    model = [k % 4 > 0 for k in range(300)]
    rows = [
        ",".join("" if value is None else str(int(value)) for value in row)
        for row in zip(people, judge, model, strict=True)
    ]
    Path("rows.csv").write_text("\n".join(["human,judge,y_pred", *rows]) + "\n")
    _, out, _ = command("gate", "rows.csv", "--judge", "judge", "--require", "accuracy >= 0.2", "--format", "json")
    printed = json.loads(out)
    numbers = {"labelled": 90, "judged": 270, "both": 81, "unanswered": 21}
    assert {name: printed[name] for name in numbers} == numbers
    codes = [[-1 if value is None else int(value) for value in side] for side in (people, judge, model)]
    counts = matrics.judged.count(*codes, num_classes=2)
    expected = matrics.judged.interval(counts, "accuracy")["accuracy"]
    assert math.isclose(printed["rows"][0]["low"], expected.low)


def test_statuses_do_not_pass() -> None:
    few = matrics.judged.count([0, 1, 0, 1] + [-1] * 60, [0, 1] * 32, [0, 1] * 32, num_classes=2)
    found = matrics.gate(few, "accuracy >= 0.01").requirements[0]
    assert found.status in (IntervalStatus.FEW_LABELS, IntervalStatus.NO_VARIATION)
    assert found.verdict == "undecided"


def test_grades_have_no_errors_besides_their_share() -> None:
    """All answers are to pass, or a judge says which do; of two classes of samples the errors are named."""
    for cm in ([[0, 0], [30, 70]], [[0, 30], [0, 70]]):
        assert matrics.gate(cm, "accuracy >= 0.9", class_names=["fail", "pass"]).errors == ()
        assert len(matrics.gate(cm, "accuracy >= 0.9", class_names=["ok", "fraud"]).errors) == 1
    assert len(matrics.gate([[20, 30], [0, 70]], "accuracy >= 0.9", class_names=["fail", "pass"]).errors) == 1
