"""Samples that a judge has labelled, on the command line: intervals and comparisons of tables and logs."""

from __future__ import annotations

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from commands import done, refused

ROOT = Path(__file__).parents[1]
TICKETS = [ROOT / "examples" / "judged_tickets.csv", "--human", "people", "--judge", "judge"]
RANDOM = np.random.default_rng(7)
SKILLS = {"small": 0.6, "large": 0.85, "fluent": 0.65}


def write(path: str, rows: list[dict[str, Any]]) -> str:
    if path.endswith(".jsonl"):
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
        Path(path).write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    return path


def grades(number: int = 400, words: tuple[str, str] = ("fail", "pass")) -> list[dict[str, Any]]:
    """The answers of three models, of which people have graded every fifth, and the judge 19 of 20."""
    rows = []
    for model, skill in SKILLS.items():
        for k in range(number):
            right = RANDOM.random() < skill
            judged = right if RANDOM.random() < 0.9 else not right
            human = words[int(right)] if k % 5 == 0 else None
            rows.append({"id": k, "model": model, "human": human, "judge": words[int(judged)] if k % 20 else None})
    return rows


def read(command: Any, *arguments: Any) -> dict[str, Any]:
    return dict(json.loads(done(command, *arguments, "--format", "json")))


def test_the_pass_rate_by_hand(command: Any) -> None:
    """Each stratum has the share of passes that people see in it; the strata have the sizes that the judge gives."""
    rows = [("pass", "pass", 30), ("fail", "pass", 10), ("pass", "fail", 5), ("fail", "fail", 15)]
    rows += [(None, "pass", 160), (None, "fail", 80)]
    every = [{"human": human, "judge": judge} for human, judge, times in rows for _ in range(times)]
    found = read(command, "interval", write("grades.csv", every), "--judge", "judge")
    by_hand = Fraction(200, 300) * Fraction(30, 40) + Fraction(100, 300) * Fraction(5, 20)
    (row,) = found["rows"]
    assert row["accuracy"] == pytest.approx(float(by_hand), rel=1e-12)
    assert row["accuracy/judge_alone"] == pytest.approx(2 / 3, rel=1e-12)
    assert row["accuracy/low"] < row["accuracy"] < row["accuracy/high"]
    assert (found["labelled"], found["judged"], found["both"], found["unanswered"]) == (60, 300, 60, 0)
    assert (found["classes"], found["positive"]) == (["fail", "pass"], "pass")
    out = done(command, "interval", "grades.csv", "--judge", "judge")
    assert "300 answers graded by judge, 60 of them by human as well; accuracy is the pass rate" in out


@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["csv", "jsonl"])
def test_intervals_of_models_are_those_of_the_library(command: Any, end: str) -> None:
    every = grades()
    found = read(command, "interval", write(f"grades.{end}", every), "--judge", "judge", "--by", "model")
    for row in found["rows"]:
        rows = [one for one in every if one["model"] == row["model"]]
        people, judge = ([one[name] for one in rows] for name in ("human", "judge"))
        counts = matrics.judged.count(people, judge, labels=["fail", "pass"])
        expected = matrics.judged.interval(counts, "accuracy")["accuracy"]
        assert [row["accuracy" + end] for end in ("", "/low", "/high", "/standard_error", "/effective_labels")] == [
            pytest.approx(float(getattr(expected, part)), rel=1e-12)
            for part in ("estimate", "low", "high", "standard_error", "effective_labels")
        ]
    assert [row["model"] for row in found["rows"]] == list(SKILLS)
    assert found["judged"] == 3 * 380
    assert found["labelled"] == 3 * 80


@pytest.mark.parametrize("words", [("0", "1"), ("False", "True"), ("no", "yes"), ("incorrect", "correct"), ("I", "C")])
def test_grades_in_other_words(command: Any, words: tuple[str, str]) -> None:
    found = read(command, "interval", write("a.csv", grades(100, words)), "--judge", "judge", "--by", "model")
    assert found["positive"] == words[1]
    assert all(row["accuracy"] > 0.4 for row in found["rows"])


def test_a_third_grade_and_grades_of_unknown_words(command: Any) -> None:
    every = grades(100, ("mau", "bom"))
    path = write("a.csv", every)
    line = refused(command, "interval", path, "--judge", "judge")
    assert line.startswith("--positive: expected the grade that passes, as there are 'bom', 'mau', got none; or --pred")
    assert read(command, "interval", path, "--judge", "judge", "--positive", "bom")["positive"] == "bom"
    assert "--positive: expected a grade of 'bom', 'mau'" in refused(
        command, "interval", path, "--judge", "judge", "--positive", "good"
    )
    three = [{**row, "judge": "refused" if k % 7 == 0 else row["judge"]} for k, row in enumerate(grades(100))]
    found = read(command, "interval", write("b.csv", three), "--judge", "judge")
    assert found["classes"] == ["fail", "pass", "refused"]


@pytest.mark.parametrize(
    ("human", "judge", "number"),
    [("true", "1", 1), ("False", "fail", 0), ("Pass", "pass", 1), ("C", "yes", 1), ("NA", "null", None)],
)
def test_grades_of_people_in_other_words_than_those_of_the_judge(
    command: Any, human: str, judge: str, number: int | None
) -> None:
    """The same grades are a single class, and texts for missing values are no grades."""
    rows = [{"human": ("fail", "pass")[k % 2], "judge": ("0", "1")[k % 3 > 0]} for k in range(60)]
    of_words = read(
        command,
        "interval",
        write("a.csv", [*rows, *[{"human": human, "judge": judge}] * 12]),
        *("--judge", "judge", "--metrics", "accuracy"),
    )
    more = [None if number is None else ("fail", "pass")[number]]
    plain = [{"human": row["human"], "judge": ("fail", "pass")[int(row["judge"])]} for row in rows]
    by_hand = read(
        command,
        "interval",
        write("b.csv", [*plain, *[{"human": grade, "judge": grade} for grade in more * 12]]),
        *("--judge", "judge", "--metrics", "accuracy"),
    )
    assert of_words["rows"] == by_hand["rows"]
    names = ("labelled", "judged", "both", "unanswered")
    assert [of_words[name] for name in names] == [by_hand[name] for name in names]


def in_words(
    human: tuple[str, str], judge: tuple[str, str], more: tuple[tuple[str, str], ...] = ()
) -> list[dict[str, Any]]:
    """Sixty answers, of which people have graded 30 and the judge passes 40."""
    rows = [
        {"id": k, "human": human[int(k % 3 > 0 and k % 7 > 0)] if k < 30 else None, "judge": judge[int(k % 3 > 0)]}
        for k in range(60)
    ]
    return [*rows, *({"id": 60 + k, "human": a, "judge": b} for k, (a, b) in enumerate(more))]


# Of the 20 answers below 30 that the judge passes, people pass 17: all but 7, 14 and 28; and none of the other 10.
BY_HAND = float(Fraction(40, 60) * Fraction(17, 20))


@pytest.mark.parametrize(
    ("human", "judge"),
    [(("No", "Yes"), ("I", "C")), (("0", "1"), ("fail", "pass")), (("False", "True"), ("incorrect", "CORRECT"))],
)
def test_positive_in_the_words_of_people_or_of_the_judge(
    command: Any, human: tuple[str, str], judge: tuple[str, str]
) -> None:
    path = write("a.csv", in_words(human, judge))
    for passing in ([], ["--positive", human[1]], ["--positive", judge[1]]):
        (row,) = read(command, "interval", path, "--judge", "judge", *passing)["rows"]
        assert row["accuracy"] == pytest.approx(BY_HAND, rel=1e-12)
        assert row["accuracy/judge_alone"] == pytest.approx(2 / 3, rel=1e-12)
    for failing in (human[0], judge[0]):
        found = read(command, "interval", path, "--judge", "judge", "--positive", failing)
        (row,) = found["rows"]
        assert row["accuracy"] == pytest.approx(1 - BY_HAND, rel=1e-12)
        assert row["accuracy/judge_alone"] == pytest.approx(1 / 3, rel=1e-12)
        assert (len(found["classes"]), found["positive"]) == (2, failing)


@pytest.mark.parametrize("passing", [[], ["--positive", "pass"], ["--positive", "1"]])
def test_a_third_grade_with_words_and_numbers(command: Any, passing: list[str]) -> None:
    """Numbers of people are the words of the judge, with and without --positive, and the third grade stays apart."""
    options = ["--judge", "judge", "--metrics", "accuracy"]
    plain = in_words(("fail", "pass"), ("fail", "pass"), (("refused", "refused"), ("fail", "refused")))
    expected = read(command, "interval", write("a.csv", plain), *options)
    numbers = in_words(("0", "1"), ("fail", "pass"), (("refused", "refused"), ("0", "refused")))
    found = read(command, "interval", write("b.csv", numbers), *options, *passing)
    assert found["rows"] == expected["rows"]
    assert len(found["classes"]) == len(expected["classes"]) == 3
    of_refused = read(command, "interval", "a.csv", *options, "--positive", "refused")
    assert (of_refused["classes"], of_refused["positive"]) == (["fail", "refused", "pass"], "refused")
    assert of_refused["rows"][0]["accuracy/judge_alone"] == pytest.approx(2 / 62, rel=1e-12)


def test_a_column_whose_grades_all_fail_or_all_pass(command: Any) -> None:
    """Grades that the other column has too, or known words of the other meaning, do fail."""

    def accuracies(people: tuple[str, str], judge: tuple[str, str], passing: str) -> tuple[float, float]:
        path = write("a.csv", in_words(people, judge))
        (row,) = read(command, "interval", path, "--judge", "judge", "--positive", passing)["rows"]
        return row["accuracy"], row["accuracy/judge_alone"]

    for failing in ("fail", "No"):
        assert accuracies((failing, failing), ("fail", "pass"), "pass") == (0, pytest.approx(2 / 3))
    assert accuracies(("mau", "bom"), ("mau", "mau"), "bom") == (pytest.approx(17 / 30), 0)
    assert accuracies(("Yes", "Yes"), ("C", "C"), "C") == (1, 1)


@pytest.mark.parametrize(
    ("human", "judge", "positive", "words"),
    [
        (("mau", "bom"), ("ko", "ok"), "bom", "got 'bom' for 'bom', 'mau' in human and 'ko', 'ok' in judge; rename"),
        (("mau", "bom"), ("ko", "ok"), "ok", "got 'ok' for 'bom', 'mau' in human and 'ko', 'ok' in judge; rename"),
        (("mau", "bom"), ("I", "C"), None, "got 'C' for 'bom', 'mau' in human and 'C', 'I' in judge; rename"),
        (("mau", "bom"), ("mau", "ok"), "bom", "got 'bom' for 'bom', 'mau' in human and 'mau', 'ok' in judge; rename"),
        (("fail", "pass"), ("fail", "ok"), "pass", "got 'pass' for 'fail', 'pass' in human and 'fail', 'ok' in judge"),
        (("I", "C"), ("1", "2"), "C", "got 'C' for 'C', 'I' in human and '1', '2' in judge"),
        (("bad", "good"), ("wrong", "correct"), "good", "expected a single word for this grade in human and judge"),
    ],
)
def test_grades_of_which_no_words_are_known_to_be_the_same(
    command: Any, human: tuple[str, str], judge: tuple[str, str], positive: str | None, words: str
) -> None:
    more = (("good", "good"), ("correct", "correct")) if positive == "good" else ()
    path = write("a.csv", in_words(human, judge, more))
    line = refused(command, "interval", path, "--judge", "judge", *(["--positive", positive] if positive else []))
    assert line.startswith("--positive: expected a")
    assert words in line


def test_numbers_of_a_scale_are_no_words(command: Any) -> None:
    """With 0, 1 and 2, the number 1 is not the grade that passes unless --positive says so."""
    rows = [{"human": k % 3, "judge": k % 3} for k in range(60)]
    assert "--positive: expected the grade that passes" in refused(
        command, "interval", write("a.csv", rows), "--judge", "judge"
    )
    for k in range(3):
        (row,) = read(command, "interval", "a.csv", "--judge", "judge", "--positive", str(k))["rows"]
        assert row["accuracy"] == pytest.approx(1 / 3, rel=1e-12)


def test_booleans_and_numbers_in_json_lines(command: Any) -> None:
    rows = [{"human": k % 4 > 0, "judge": int(k % 4 > 0)} for k in range(80)]
    (row,) = read(command, "interval", write("a.jsonl", rows), "--judge", "judge")["rows"]
    assert (row["accuracy"], row["accuracy/judge_alone"]) == (0.75, 0.75)


def test_a_gate_of_grades_has_no_table_of_errors(command: Any) -> None:
    """All answers count as predicted to pass, and so a failed answer is no confusion of two classes."""
    rows = [{**row, "judge": "refused" if k % 7 == 0 else row["judge"]} for k, row in enumerate(grades(100))]
    path = write("a.csv", rows)
    code, out, _ = command("gate", path, "--judge", "judge", "--by", "model", "--require", "accuracy >= 0.99")
    assert code == 1
    assert "most frequent" not in out
    assert "3 models, " in out.splitlines()[0]
    assert "groups" not in out.splitlines()[0]


def test_a_gate_with_few_labels_does_not_rule_out_more(command: Any) -> None:
    rows = [{"human": "pass" if k < 30 else None, "judge": "pass"} for k in range(400)]
    rows += [{"human": "fail" if k < 3 else None, "judge": "fail"} for k in range(40)]
    code, out, _ = command("gate", write("a.csv", rows), "--judge", "judge", "--require", "accuracy >= 0.5")
    assert code == 3
    assert "accuracy >= 0.5: more than 33 labels would decide; their number cannot be estimated yet" in out


def test_which_model_is_better_corrected_for_the_judge(command: Any) -> None:
    every = grades()
    options = ["--judge", "judge", "--by", "model", "--paired-on", "id"]
    found = read(command, "compare", write("a.csv", every), *options)
    rows = {row["model"]: row for row in found["rows"]}
    columns = {
        model: [[row[name] for row in every if row["model"] == model] for name in ("human", "judge")]
        for model in SKILLS
    }
    for model in ("small", "fluent"):
        pair = list(zip(columns["large"], columns[model], strict=True))
        expected = matrics.judged.compare(
            None, None, "accuracy", y_true=pair[0], y_judge=pair[1], labels=["fail", "pass"], level=1 - 0.05 / 3
        )["accuracy"]
        shown = [rows[model][name] for name in ("difference", "difference_low", "difference_high")]
        assert shown == [pytest.approx(float(x), rel=1e-12) for x in expected[:3]]
        assert not rows[model]["tied"]
    assert rows["large"]["best"]
    out = done(command, "compare", "a.csv", *options)
    assert "95 % limits, which hold for all differences together, corrected for errors of judge" in out
    assert out.endswith("large is the best\n")


def test_a_gate_for_each_model(command: Any) -> None:
    path = write("a.csv", grades())
    options = ["--judge", "judge", "--by", "model"]
    limits = {row["model"]: row["accuracy/low"] for row in read(command, "interval", path, *options)["rows"]}
    code, out, _ = command("gate", path, *options, "--require", "accuracy >= 0.7", "--format", "json")
    found = json.loads(out)
    assert {row["group"]: row["low"] for row in found["rows"]} == pytest.approx(limits, rel=1e-12)
    for row in found["rows"]:
        decided = "pass" if row["low"] >= 0.7 else "fail" if row["high"] < 0.7 else "undecided"
        expected = decided if row["status"] == "ok" else "undecided"
        assert row["verdict"] == expected
    assert (code, found["unit"]) == ({"pass": 0, "fail": 1, "undecided": 3}[found["verdict"]], "label")


def test_models_in_columns_and_in_files(command: Any) -> None:
    table = [line.split(",") for line in TICKETS[0].read_text().splitlines()[:400]]
    people, judge, routed = (
        [row[table[0].index(name)] or None for row in table[1:]] for name in ("people", "judge", "routed")
    )
    other = ["fraud" if k % 9 == 0 else label for k, label in enumerate(routed)]
    names = ("human", "judge", "a", "b")
    rows = [dict(zip(names, row, strict=True)) for row in zip(people, judge, routed, other, strict=True)]
    options = ["--judge", "judge", "--metrics", "accuracy,recall[fraud]"]
    found = read(command, "compare", write("wide.csv", rows), "--pred", "a", "--pred", "b", *options)
    expected = matrics.judged.compare(
        routed, other, "accuracy", y_true=people, y_judge=judge, labels=["billing", "delivery", "fraud"]
    )["accuracy"]
    assert found["rows"][1]["difference_low"] == pytest.approx(float(expected.low), rel=1e-12)
    assert [row["measure"] for row in found["rows"]] == ["accuracy"] * 2 + ["recall of fraud"] * 2
    for name, pred in (("a", routed), ("b", other)):
        columns = zip(range(len(pred)), people, judge, pred, strict=True)
        write(f"{name}.csv", [dict(zip(("id", "human", "judge", "y_pred"), row, strict=True)) for row in columns])
    of_files = read(command, "compare", "a.csv", "b.csv", "--paired-on", "id", *options)
    assert [row["difference_low"] for row in of_files["rows"]] == [row["difference_low"] for row in found["rows"]]
    assert of_files["models"] == ["a.csv", "b.csv"]


def test_samples_that_only_some_models_have(command: Any) -> None:
    every = [row for row in grades() if row["model"] != "small" or row["id"] < 300]
    found = read(command, "compare", write("a.csv", every), "--judge", "judge", "--by", "model", "--paired-on", "id")
    assert sorted(found["remarks"]) == [
        f"{name} has 100 samples that not all models have, and that its value is of" for name in ("fluent", "large")
    ]


def test_logs_with_two_scorers(command: Any) -> None:
    evals = matrics.evals
    every = grades()
    rows = [
        {"sample": row["id"], "model": row["model"], "scorer": scorer, "score": int(row[column] == "pass")}
        for row in every
        for scorer, column in (("people", "human"), ("grader", "judge"))
        if row[column] is not None
    ]
    path = write("log.jsonl", rows)
    options = ["--human", "people", "--judge", "grader"]
    found = read(command, "interval", path, *options)
    for row in found["rows"]:
        counts = evals.judged_counts(path, people="people", judge="grader", model=row["model"])
        expected = matrics.judged.interval(counts, "accuracy")["accuracy"]
        assert row["accuracy/low"] == pytest.approx(float(expected.low), rel=1e-12)
    of_table = read(command, "compare", write("a.csv", every), "--judge", "judge", "--by", "model", "--paired-on", "id")
    of_log = read(command, "compare", path, *options)
    gaps = [{row["model"]: row["difference_low"] for row in of["rows"]} for of in (of_table, of_log)]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-12, nan_ok=True)
    with pytest.raises(ValueError, match="model: expected one of 'small', 'large', 'fluent', whose answers"):
        evals.judged_counts(path, people="people", judge="grader")
    with pytest.raises(ValueError, match="model: expected one of 'small', 'large', 'fluent', got 'huge'"):
        evals.judged_counts(path, people="people", judge="grader", model="huge")
    for model in SKILLS:
        write(f"{model}.jsonl", [row for row in rows if row["model"] == model])
    of_logs = read(command, "compare", *(f"{model}.jsonl" for model in SKILLS), *options)
    assert [row["difference_low"] for row in of_logs["rows"]] == [row["difference_low"] for row in of_log["rows"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["interval", "a.csv", "--human", "human"], "--human: expected --judge COLUMN with it, got 'human'"),
        (
            ["interval", "a.csv", "--judge", "judge", "--true", "human"],
            "--true: expected --human COLUMN in its place with --judge, got 'human'",
        ),
        (["interval", "a.csv", "--judge", "human"], "--judge: expected another column than that of people"),
        (["interval", "a.csv", "--judge", "nobody"], "got no 'nobody'"),
        (["interval", "a.csv", "--judge", "judge", "--clusters", "id"], "--clusters: expected no such option with"),
        (["interval", "a.csv", "--judge", "judge", "--method", "x"], "--method: expected one of"),
        (["compare", "a.csv", "--judge", "judge", "--by", "model"], "--paired-on: expected the column of the samples"),
        (["compare", "a.csv", "--judge", "judge"], "--by: expected at least two models to compare, got 1"),
        (["compare", "a.csv", "--judge", "judge", "--by", "model", "--paired-on", "model"], "--paired-on: expected"),
        (["compare", "a.csv", "--judge", "judge", "--by", "model", "--paired-on", "id", "--seed", "1"], "--seed: "),
        (["compare", "none.csv", "--judge", "judge", "--by", "model", "--paired-on", "id"], "--human: expected labels"),
        (["interval", "log.jsonl", "--judge", "judge"], "--human: expected one of the scorers 'judge', got 'human'"),
        (["interval", "log.jsonl", "--judge", "judge", "--missing-score", "zero"], "--missing-score: expected no such"),
        (["interval", "log.jsonl", "--judge", "judge", "--scorer", "judge"], "--scorer: expected --human and --judge"),
    ],
)
def test_errors(command: Any, arguments: list[str], words: str) -> None:
    every = grades(20)
    write("a.csv", every)
    write("none.csv", [{**row, "human": None} for row in every])
    write("log.jsonl", [{"sample": k, "scorer": "judge", "score": 1} for k in range(5)])
    assert words in refused(command, *arguments)


def test_json_lines_with_scores_as_a_table(command: Any) -> None:
    """With columns of both labels, the field score does not make a log of the lines."""
    rows = [
        {"sample": k % 30, "label": "ab"[k % 2], "answer": "ab"[k % 3 == 0], "score": None if k % 4 else "good"}
        for k in range(60)
    ]
    options = ["--true", "label", "--pred", "answer", "--metrics", "accuracy"]
    of_lines, of_text = (read(command, "interval", write(f"a.{end}", rows), *options) for end in ("jsonl", "csv"))
    assert of_lines["rows"] == of_text["rows"]
    assert of_lines["samples"] == 60
    both = [{**row, "model": name} for name in "xy" for row in rows]
    compared = read(command, "compare", write("b.jsonl", both), "--by", "model", *options)
    assert compared["samples"] == 120


SCREENS = [
    found
    for page in ("evals", "cli")
    for found in re.findall(
        r"```console\n\$ matrics ([^\n]*--judge[^\n]*)\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.DOTALL
    )
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("line", "screen"), SCREENS)
def test_screens_of_the_pages(command: Any, monkeypatch: Any, line: str, screen: str) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = command(*shlex.split(line))
    assert (code, err) == (0, "")
    assert [row.rstrip() for row in out.splitlines()] == screen.splitlines()


def test_the_pages_have_screens() -> None:
    assert len(SCREENS) == 3
