"""matrics gate: exit codes, files, formats, and one line for every wrong input."""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from commands import refused, without_warning

import matrics

pytest.importorskip("typer")
ROOT = Path(__file__).parents[1]
Z = 1.959963984540054
RANDOM = np.random.default_rng(33)
NUMBER = 1000
TRUE = np.where(np.arange(NUMBER) % 10, "ok", "fraud")
OTHER = np.where(TRUE == "ok", "fraud", "ok")
NEW = np.where(np.arange(NUMBER) % 20 == 3, OTHER, TRUE)  # 50 errors, all of ok
OLD = np.where(np.arange(NUMBER) % 15 == 3, OTHER, TRUE)
PASS, UNDECIDED, FAIL = "accuracy >= 0.9", "accuracy >= 0.95", "accuracy >= 0.99"


def write(name: str, pred: Any, true: Any = TRUE, ids: Any = None, **columns: Any) -> str:
    ids = [f"t{k}" for k in range(len(true))] if ids is None else ids
    head = ",".join(["id", "y_true", "y_pred", *columns])
    rows = [",".join(map(str, row)) for row in zip(ids, true, pred, *columns.values(), strict=True)]
    Path(name).write_text("\n".join([head, *rows]) + "\n")
    return name


@pytest.fixture
def gate(command: Any) -> Any:
    write("new.csv", NEW)
    write("old.csv", OLD)

    def run(*arguments: Any, file: str = "new.csv") -> tuple[int, str]:
        code, out, err = command("gate", file, *arguments)
        assert not without_warning(err), err
        return code, out

    return run


# Exit codes -----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("requirements", "options", "code", "verdict"),
    [
        ([PASS], [], 0, "pass"),
        ([UNDECIDED], [], 3, "undecided"),
        ([FAIL], [], 1, "fail"),
        ([PASS, UNDECIDED], [], 3, "undecided"),
        ([UNDECIDED, FAIL, PASS], [], 1, "fail"),
        ([UNDECIDED, PASS], ["--on-undecided", "pass"], 0, "pass (undecided counts as pass)"),
        ([UNDECIDED, PASS], ["--on-undecided", "fail"], 1, "fail (undecided counts as fail)"),
        ([FAIL, UNDECIDED], ["--on-undecided", "pass"], 1, "fail"),
        (["accuracy >= 0.935"], ["--level", "0.5"], 0, "pass"),
    ],
)
def test_exit_codes(gate: Any, requirements: list[str], options: list[str], code: int, verdict: str) -> None:
    """Wilson's 95 % limits of 950 of 1000 are 0.935 and 0.962."""
    found, out = gate(*(part for one in requirements for part in ("--require", one)), *options)
    assert found == code
    assert out.splitlines()[-1] == f"verdict: {verdict}"


def test_the_screen(gate: Any) -> None:
    _, out = gate("--require", "accuracy >= 0.94", "--require", "recall[fraud] >= 0.9")
    lines = out.splitlines()
    assert lines[0] == "new.csv: 2 classes, 1,000 samples"
    p, b = 0.95, 0.94
    middle, reach = p + Z**2 / 2000, Z * math.sqrt(p * (1 - p) / 1000 + Z**2 / 4e6)
    low, high = ((middle + side * reach) / (1 + Z**2 / 1000) for side in (-1, 1))
    assert re.search(rf"^accuracy >= 0.94 +undecided +0.950 +\[{low:.3f}, {high:.3f}\]$", out, re.MULTILINE)
    assert re.search(r"^recall of fraud >= 0.9 +pass +1.000 +\[0.963, 1.000\]$", out, re.MULTILINE)
    (needed,) = re.findall(r"^accuracy >= 0.94: about ([\d,]+) samples would decide \(now 1,000\)$", out, re.MULTILINE)
    assert int(needed.replace(",", "")) == pytest.approx(Z**2 * b * (1 - b) / (p - b) ** 2, rel=0.02)
    assert re.search(r"^ok +fraud +50 +0\.056$", out, re.MULTILINE)
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in out


def test_a_status_is_printed_and_does_not_pass(gate: Any) -> None:
    write("few.csv", NEW[:60], TRUE[:60])
    code, out = gate("--require", "accuracy < 0.9999", file="few.csv")
    assert code == 3
    assert re.search(r"^accuracy < 0.9999 +undecided +0.950 +\[.*\]¹$", out, re.MULTILINE)
    assert "¹ few samples" in out


def test_positive_and_plugin(gate: Any) -> None:
    Path("mine.py").write_text(
        "import matrics\n"
        "half = matrics.Metric.of(lambda t: t.divide(t.xp.sum(t.tp, axis=0) / 2, t.total), name='half_accuracy',\n"
        "    kind='overall', range=(0, 0.5), higher_is_better=True)\n"
    )
    code, out = gate("--require", "precision>0.6,half_accuracy > .4", "--positive", "fraud", "--plugin", "mine")
    assert code == 3
    assert re.search(r"^precision of fraud > 0.6 +undecided +0.667", out, re.MULTILINE)
    assert re.search(r"^half_accuracy > 0.4 +pass +0.475", out, re.MULTILINE)


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_every_kind_of_file(gate: Any, command: Any) -> None:
    """A matrix, one whose rows are predictions, a crosstab, counts, and cells, as in matrics score."""
    cm = matrics.confusion_matrix(TRUE, NEW, labels=["fraud", "ok"])
    wanted = gate("--require", "recall[ok] >= 0.93")[1].partition("\n")[2]
    Path("cross.csv").write_text(f",fraud,ok\nfraud,{cm[0, 0]},{cm[0, 1]}\nok,{cm[1, 0]},{cm[1, 1]}\n")
    Path("counts.csv").write_text(
        "y_true,y_pred,n\n"
        + "".join(f"{t},{p},{cm[i, j]}\n" for i, t in enumerate(["fraud", "ok"]) for j, p in enumerate(["fraud", "ok"]))
    )
    assert command("count", "new.csv", "--output", "counts.parquet")[0] == 0
    for file, options in (("cross.csv", []), ("counts.csv", ["--counts", "n"]), ("counts.parquet", [])):
        assert gate("--require", "recall[ok] >= 0.93", *options, file=file)[1].partition("\n")[2] == wanted
    np.save("cm.npy", cm)
    np.save("turned.npy", cm.T)
    Path("cells.csv").write_text("a,b,c,d\n" + ",".join(map(str, cm.ravel())) + "\n")
    bare = gate("--require", "recall[1] >= 0.93", file="cm.npy")[1].partition("\n")[2]
    assert re.search(r"recall of class 1 >= 0.93 +undecided +0.944", bare)
    for file, options in (("turned.npy", ["--rows", "pred"]), ("cells.csv", ["--cells", "a,b,c,d"])):
        assert gate("--require", "recall[1] >= 0.93", *options, file=file)[1].partition("\n")[2] == bare


def test_weights(gate: Any) -> None:
    weight = RANDOM.exponential(1, NUMBER)
    write("weighted.csv", NEW, w=weight)
    code, out = gate("--require", "accuracy >= 0.5", "--weight", "w", "--format", "json", file="weighted.csv")
    one = json.loads(out)["rows"][0]
    assert code == 0
    assert one["estimate"] == pytest.approx(weight[TRUE == NEW].sum() / weight.sum())
    assert one["samples"] == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    write("other.csv", OLD, w=weight)
    for options in ([], ["--paired-on", "id"]):
        asked = ["--baseline", "other.csv", "--metrics", "accuracy", "--margin", "0.2", "--weight", "w", *options]
        assert gate(*asked, file="weighted.csv")[0] == 0


# Baselines ------------------------------------------------------------------------------------------------------------


def test_paired_whatever_the_order_of_the_rows(gate: Any) -> None:
    """The difference and its variance by hand, and the rows of one file in another order."""
    order = RANDOM.permutation(NUMBER)
    write("shuffled.csv", OLD[order], TRUE[order], [f"t{k}" for k in order])
    asked = ["--metrics", "accuracy", "--margin", "0.01", "--paired-on", "id", "--format", "json"]
    code, out = gate("--baseline", "shuffled.csv", *asked)
    one = json.loads(out)["rows"][0]
    b, c = (int(((left == TRUE) & (right != TRUE)).sum()) for left, right in ((NEW, OLD), (OLD, NEW)))
    gap, reach = (b - c) / NUMBER, Z * math.sqrt(b + c - (b - c) ** 2 / NUMBER) / NUMBER
    np.testing.assert_allclose([one["estimate"], one["low"], one["high"]], [gap, gap - reach, gap + reach], atol=2e-3)
    assert (code, one["verdict"]) == (0, "pass")
    same = json.loads(gate("--baseline", "old.csv", *asked)[1])["rows"][0]
    assert same == one
    unpaired = json.loads(gate("--baseline", "old.csv", *asked[:4], "--format", "json")[1])["rows"][0]
    assert unpaired["high"] - unpaired["low"] > one["high"] - one["low"]
    assert gate("--baseline", "new.csv", *asked[:2], "--margin", "0.001", file="old.csv")[0] != 0


def test_samples_of_one_file_are_named_and_left_out_of_the_comparison(gate: Any) -> None:
    write("some.csv", [*OLD[10:], "ok"], [*TRUE[10:], "ok"], [*(f"t{k}" for k in range(10, NUMBER)), "extra"])
    asked = ["--baseline", "some.csv", "--metrics", "accuracy", "--margin", "0.05", "--paired-on", "id"]
    code, out = gate(*asked, "--require", PASS)
    assert code == 0
    assert "baseline some.csv: the same 990 samples (id)" in out
    assert "left out of the comparison, as only new.csv has them: 10 samples (t0, t1, t2, t3, t4, …)" in out
    assert "left out of the comparison, as only some.csv has them: 1 sample (extra)" in out
    found = json.loads(gate(*asked, "--require", PASS, "--format", "json")[1])
    assert [found[name] for name in ("paired", "only_in_file", "only_in_baseline")] == [990, 10, 1]
    assert [one["samples"] for one in found["rows"]] == [1000, 990]  # a bound is of all samples of FILE


def test_a_class_of_one_file(gate: Any) -> None:
    """The other file never predicts or has it; also where labels are numbers, which have an order."""
    third = np.where(np.arange(NUMBER) == 7, "other", NEW)
    write("third.csv", third)
    for options in ([], ["--paired-on", "id"]):
        asked = ["--baseline", "old.csv", "--metrics", "accuracy", "--margin", "0.05", *options]
        found = json.loads(gate(*asked, "--format", "json", file="third.csv")[1])
        assert found["classes"] == ["fraud", "ok", "other"]
        estimate = (third == TRUE).mean() - (OLD == TRUE).mean()
        assert found["rows"][0]["estimate"] == pytest.approx(estimate)
    numbers = np.arange(NUMBER) % 11
    write("eleven.csv", numbers, numbers)
    write("ten.csv", np.minimum(numbers, 2), np.minimum(numbers, 2), [f"x{k}" for k in range(NUMBER)])
    asked = ["--baseline", "ten.csv", "--metrics", "accuracy", "--format", "json"]
    assert json.loads(gate(*asked, file="eleven.csv")[1])["classes"] == [str(k) for k in range(11)]


# Formats --------------------------------------------------------------------------------------------------------------


def test_json(gate: Any) -> None:
    _, out = gate("--require", "recall[fraud] >= 0.9, accuracy >= 0.95", "--positive", "fraud", "--format", "json")
    found = json.loads(out)
    assert (found["verdict"], found["exit_code"], found["file"], found["positive"]) == (
        "undecided",
        3,
        "new.csv",
        "fraud",
    )
    assert set(found["versions"]) == {"matrics", "numpy", "pyarrow", "python"}
    one = found["rows"][0]
    assert (one["requirement"], one["title"]) == ("recall[fraud] >= 0.9", "recall of fraud >= 0.9")
    assert {"estimate", "low", "high", "status", "samples"} <= one.keys()
    np.save("empty.npy", [[90, 10], [0, 0]])
    undefined = json.loads(gate("--require", "recall[1] > .5", "--format", "json", file="empty.npy")[1])
    one = undefined["rows"][0]
    assert (one["estimate"], one["low"], one["status"]) == (None, None, "undefined")
    assert undefined["statuses"] == {"undefined": "the measure is undefined for this matrix"}
    np.save("never.npy", [[100, 0], [50, 50]])
    infinite = json.loads(gate("--require", "positive_likelihood_ratio > 1", "--format", "json", file="never.npy")[1])
    assert infinite["rows"][0]["estimate"] is None
    assert infinite["nulls"][0] | {"status": ""} == {
        "table": "rows",
        "row": 0,
        "column": "estimate",
        "value": "inf",
        "status": "",
    }


def test_markdown_and_githubs_summary(gate: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("before\n")
    _, out = gate("--require", UNDECIDED, "--github")
    assert "###" not in out
    _, out = gate("--require", UNDECIDED, "--format", "markdown")
    assert Path("summary.md").read_text() == f"before\n### matrics gate\n\n{out}\n"
    assert out.startswith("verdict: undecided\n")
    assert r"| accuracy \>= 0.95 | undecided | 0.950 \[0.935, 0.962\] |" in out
    assert "| ok | fraud | 50 | 0.056 |" in out
    odd = np.where(TRUE == "ok", "<b>`|", TRUE)
    write("odd.csv", np.where(TRUE == NEW, odd, "fraud"), odd)
    _, out = gate("--require", "accuracy >= 0.99", "--format", "markdown", file="odd.csv")
    assert r"| \<b\>\`\| | fraud | 50 |" in out


def test_junit(gate: Any) -> None:
    requirements = ["--require", PASS, "--require", UNDECIDED, "--require", FAIL]
    cases = {None: ["failure", "error"], "pass": ["failure", "skipped"], "fail": ["failure", "failure"]}
    for on_undecided, kinds in cases.items():
        options = [] if on_undecided is None else ["--on-undecided", on_undecided]
        suites = ET.fromstring(gate(*requirements, *options, "--format", "junit")[1])  # noqa: S314 (our own)
        (suite,) = suites
        names = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
        assert names == {PASS: [], UNDECIDED: [kinds[1]], FAIL: [kinds[0]]}
        told = {kind: suite.get(kind) for kind in ("tests", "failures", "errors", "skipped")}
        assert told == {
            "tests": "3",
            "failures": str(kinds.count("failure")),
            "errors": str(kinds.count("error")),
            "skipped": str(kinds.count("skipped")),
        }
        message = suite.find("testcase/failure").get("message")
        assert "accuracy >= 0." in message
        assert "95 % between 0.935 and 0.962" in message
    odd = np.where(TRUE == "ok", "o<&\x0bk", TRUE)
    write("odd.csv", np.where(TRUE == NEW, odd, "fraud"), odd)
    out = gate("--require", FAIL, "--format", "junit", file="odd.csv")[1]
    assert "o<&?k" in ET.fromstring(out).find("testsuite/system-out").text  # noqa: S314


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["table", "json", "markdown", "junit"])
def test_output_is_the_format_and_the_screen_the_text(gate: Any, kind: str) -> None:
    screen = gate("--require", FAIL)
    assert gate("--require", FAIL, "--format", kind, "--output", "made") == screen
    assert Path("made").read_text().strip() == gate("--require", FAIL, "--format", kind, "--output", "-")[1].strip()


# Errors ---------------------------------------------------------------------------------------------------------------

BASE = ["--baseline", "old.csv", "--metrics", "mcc"]


@pytest.mark.sampled(15)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "--require", PASS], "none.csv: No such file or directory"),
        (
            ["new.csv", "--require", PASS, "--pred", "p"],
            "new.csv: expected .*got a file of matrices|y_true, p.*got no 'p'",
        ),
        (["new.csv"], '--require: expected a bound such as --require "mcc >= 0.8"'),
        (["new.csv", "--require", "mcc"], "--require: expected bounds such as 'mcc >= 0.8', or a baseline"),
        (["new.csv", "--require", "mcc => 0.8"], "--require: expected a measure, >=, <=, > or <, and a number"),
        (["new.csv", "--require", "mcc >= 80 %"], "--require: expected a number after >= in 'mcc >= 80 %'"),
        (["new.csv", "--require", "accuracy >= 80"], "--require: expected a number from 0 to 1, the range of accuracy"),
        (["new.csv", "--require", "mmc >= 0.8"], "unknown metric 'mmc'; did you mean mcc"),
        (["new.csv", "--require", "recall[theft] >= 0.8"], "expected one of the classes 'fraud', 'ok', got 'theft'"),
        (["new.csv", "--require", "sensitivity:binary >= 0.8"], "is the default: pass --positive"),
        (["new.csv", "--require", PASS, "--positive", "theft"], "--positive: expected one of the classes"),
        (
            ["new.csv", "--require", PASS, "--format", "xml"],
            "--format: expected table, json, csv, markdown, latex or junit, got 'xml'",
        ),
        (["new.csv", "--require", PASS, "--on-undecided", "skip"], "--on-undecided: expected 'pass', 'fail' or None"),
        (["new.csv", "--require", PASS, "--level", "95"], "--level: expected a number between 0 and 1"),
        (["new.csv", "--require", PASS, "--github"], "--github: expected the variable GITHUB_STEP_SUMMARY"),
        (
            ["new.csv", "--require", PASS, "--output", "no/file.xml"],
            "--output: expected an existing directory, got 'no'",
        ),
        (["new.csv", "--require", PASS, "--output", "new.csv"], "--output: expected a file other than the input"),
        (["new.csv", "--require", PASS, "--margin", "0.1"], "--margin: expected a baseline with it"),
        (["new.csv", "--require", PASS, "--paired-on", "id"], "--paired-on: expected --baseline OLD with it"),
        (
            ["new.csv", "--metrics", "mcc"],
            "--metrics: expected --baseline OLD with it, or --reference COL",
        ),
        (["new.csv", "--baseline", "old.csv", "--require", PASS], "--baseline: expected --metrics NAME with it"),
        (["new.csv", *BASE, "--margin", "x"], "--margin: expected a number, got 'x'"),
        (["new.csv", *BASE, "--margin=-1"], "--margin: expected a number of at least 0, got -1"),
        (["new.csv", *BASE[:2], "--metrics", "prevalence"], "better direction to compare with the baseline"),
        (["new.csv", *BASE, "--paired-on", "sample"], "new.csv: expected the columns .* got no 'sample'"),
        (["new.csv", *BASE, "--paired-on", "y_true"], "--paired-on: expected a column that is neither a label nor"),
        (
            ["new.csv", *BASE, "--paired-on", "id", "--counts", "n"],
            "--counts: expected no such option with --paired-on",
        ),
        (["twice.csv", *BASE, "--paired-on", "id"], "of twice.csv, the first at id t1: 1 and 2"),
        (["apart.csv", *BASE, "--paired-on", "id"], r"samples that are in both files, got 2 samples \(x, y\) in apart"),
        (
            ["truth.csv", *BASE, "--paired-on", "id"],
            "same true labels for each model, got different values for old.csv, the first at id t",
        ),
        (
            ["stack.npy", "--require", PASS],
            "stack.npy: expected a single confusion matrix, as a gate is about a single model, got 2",
        ),
        (["cm.npy", *BASE], "cm.npy: expected classes with names"),
        (
            ["cm.npy", "--baseline", "three.npy", "--metrics", "mcc"],
            "three.npy: expected a matrix of 2 classes, as cm.npy",
        ),
        (["bad.npy", "--require", PASS], "it has the cell -1"),
        (["-", "--baseline", "-", "--metrics", "mcc"], "got standard input for both"),
        (
            ["s.csv", "--scores", "p", *BASE, "--require", "auroc >= 0.5"],
            r"--baseline: .* --scores \(matrics compare FILE --scores OLD,NEW compares two columns of scores",
        ),
        (
            ["new.csv", "--require", PASS, "--lower-is-positive"],
            "^--lower-is-positive: expected --scores COLUMN with it$",
        ),
        (
            ["s.csv", "--scores", "p", "--require", "precision_at_k(k=41) >= 0.5"],
            r"^--require: expected k of at most the number of samples, 40, got precision_at_k\(k=41\)$",
        ),
        (
            ["s.csv", "--scores", "p", "--require", "recall_at_k(k=11) >= 0.5", "--by", "g"],
            r"^--require: expected k of at most the number of samples of group 'b', 10, got recall_at_k\(k=11\)$",
        ),
        (["new.csv", "--requires", PASS], "No such option"),
    ],
)
def test_wrong_inputs_are_one_line_and_exit_code_2(
    gate: Any, command: Any, monkeypatch: Any, arguments: list[str], message: str
) -> None:
    del gate  # which has written new.csv and old.csv
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write("twice.csv", ["ok", "ok"], ["ok", "fraud"], ["t1", "t1"])
    write("apart.csv", ["ok", "ok"], ["ok", "fraud"], ["x", "y"])
    write("truth.csv", ["ok", "ok"], ["ok", "fraud"], ["t1", "t2"])
    rows = [f"{k % 2},{k / 40},{'b' if k < 10 else 'a'}" for k in range(40)]
    Path("s.csv").write_text("\n".join(["y_true,p,g", *rows]) + "\n")
    for name, cm in (("stack", [np.eye(2)] * 2), ("cm", np.eye(2)), ("three", np.eye(3)), ("bad", [[1, -1], [0, 1]])):
        np.save(f"{name}.npy", cm)
    assert re.search(message, refused(command, "gate", *arguments))


# The page -------------------------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "gate.md").read_text("utf-8")
SCREENS = re.findall(r"```console\n\$ (matrics gate [^\n]*)\n(.*?)\$ echo \$\?\n(\d)\n```", PAGE, re.DOTALL)


def test_the_page_shows_three_verdicts() -> None:
    assert {code for *_, code in SCREENS} == {"0", "1", "3"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("line", "screen", "code"), SCREENS)
def test_screens_of_the_page(command: Any, line: str, screen: str, code: str) -> None:
    """From the files that its code writes."""
    names: dict[str, Any] = {}
    for code_of_files in re.findall(r"```python\n((?:from pathlib|import random\n).*?)```", PAGE, re.DOTALL):
        exec(code_of_files, names)  # noqa: S102 (our own page)
    Path("examples").symlink_to(ROOT / "examples")
    found, out, err = command(*shlex.split(line)[1:])
    assert (out.strip(), err, str(found)) == (screen.strip(), "", code)


def test_the_tests_of_the_page(monkeypatch: Any, tmp_path: Path) -> None:
    """They pass on the labels of its files."""
    (code_of_files,) = re.findall(r"```python\n(from pathlib.*?)```", PAGE, re.DOTALL)
    (tests,) = re.findall(r"```python\n(import csv.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code_of_files, {})  # noqa: S102
    names: dict[str, Any] = {}
    exec(tests, names)  # noqa: S102
    called = [names[name]() for name in names if name.startswith("test_")]
    assert len(called) == 2
