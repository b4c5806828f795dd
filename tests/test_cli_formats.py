"""The formats of results: JSON, CSV, Markdown and the table, on standard output and in files."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples" / "digits_sweep.parquet"
TUMOURS = [ROOT / "examples" / "breast_cancer_scores.parquet", "--scores", "score", "--positive", "malignant"]
RANDOM = np.random.default_rng(5)
COMMANDS = {
    "score": ["score", "labels.csv", "--by", "model", "--metrics", "mcc,recall[b]"],
    "interval": ["interval", "labels.csv", "--by", "model", "--metrics", "mcc,recall[b]"],
    "compare": ["compare", "labels.csv", "--by", "model", "--paired-on", "id", "--metrics", "mcc", "--num", "99"],
    "curve": ["curve", *TUMOURS, "--by", "model", "--metrics", "mcc", "--thresholds", "0.2,0.5"],
    "threshold": ["threshold", *TUMOURS, "--by", "model", "--metric", "f1", "--metrics", "mcc", "--num", "20"],
    "count": ["count", "labels.csv", "--by", "model"],
}


@pytest.fixture(autouse=True)
def labels(tmp_path: Path) -> dict[str, Any]:
    """Labels of three models, the last of which only ever predicts one class."""
    true = RANDOM.choice(list("ab"), 120)
    pred = {name: np.where(RANDOM.random(120) < share, true, "a") for name, share in (("x", 0.9), ("y", 0.6), ("z", 0))}
    lines = [f"{name},{k},{true[k]},{pred[name][k]}" for name in pred for k in range(120)]
    (tmp_path / "labels.csv").write_text("\n".join(["model,id,y_true,y_pred", *lines]) + "\n")
    return {"true": true, **pred}


def done(command: Any, *arguments: Any) -> str:
    code, out, err = command(*arguments)
    assert (code, err) == (0, ""), err
    return str(out)


def read_json(text: str) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return dict(json.loads(text, parse_constant=refuse))


def values(text: str) -> list[list[float | str]]:
    """The cells of CSV, numbers as such: one writes 0 and another 0.0."""
    return [[float(cell) if cell[-1:].isdigit() else cell for cell in row] for row in cells(text)]


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", COMMANDS)
def test_the_four_formats_have_the_same_rows(command: Any, name: str) -> None:
    found = read_json(done(command, *COMMANDS[name], "--format", "json"))
    head, *rows = cells(done(command, *COMMANDS[name], "--format", "csv"))
    assert found["columns"] == head == list(found["rows"][0])
    assert len(found["rows"]) == len(rows) > 0
    for record, row in zip(found["rows"], rows, strict=True):
        for value, cell in zip(record.values(), row, strict=True):
            if isinstance(value, float):
                assert float(cell) == value  # to the last digit
            elif value is not None and not isinstance(value, (bool, str)):
                assert int(cell) == value
    markdown = done(command, *COMMANDS[name], "--format", "markdown")
    screen = done(command, *COMMANDS[name])
    assert (
        screen == done(command, *COMMANDS[name], "--format", "table") == done(command, *COMMANDS[name], "--output", "-")
    )
    assert screen.splitlines()[0] == markdown.splitlines()[0].replace("\\", "").rstrip()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_json_holds_what_a_result_depends_on(command: Any, name: str) -> None:
    found = read_json(done(command, *COMMANDS[name], "--format", "json"))
    assert (found["schema"], found["command"]) == (1, name)
    assert found["versions"]["matrics"] == matrics.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["seed"] == (0 if name in {"compare", "threshold"} else None)
    assert found["samples"] == (360 if "labels.csv" in COMMANDS[name] else 2276)
    assert found["positive"] == ("malignant" if name in {"curve", "threshold"} else None)
    assert found["classes"] == (["benign", "malignant"] if name in {"curve", "threshold"} else ["a", "b"])
    assert list(found) == list(read_json(done(command, *COMMANDS[name], "--format", "json")))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("end", "format_"), [(".json", "json"), (".md", "markdown"), (".txt", "table"), (".out", "csv")]
)
def test_a_file_has_what_standard_output_has(command: Any, name: str, end: str, format_: str) -> None:
    shown = done(command, *COMMANDS[name], "--format", format_)
    given = ["--format", format_] if end == ".out" else []
    assert done(command, *COMMANDS[name], *given, "--output", f"o{end}") == ""
    assert Path(f"o{end}").read_text("utf-8") == shown


def test_scores_are_those_of_the_library(command: Any, labels: dict[str, Any]) -> None:
    found = read_json(done(command, *COMMANDS["score"], "--positive", "b", "--format", "json"))
    true = labels["true"] == "b"
    for record in found["rows"]:
        pred = labels[record["model"]] == "b"
        table = np.array([[np.sum((true == i) & (pred == j)) for j in (False, True)] for i in (False, True)])
        wanted = float(matrics.mcc(table))
        assert record["mcc"] == (None if math.isnan(wanted) else pytest.approx(wanted, rel=1e-12))
        assert record["recall of b"] == pytest.approx(table[1, 1] / table[1].sum(), rel=1e-12)
    assert found["positive"] == "b"
    assert [one["spec"] for one in found["measures"]] == ["mcc", "recall[1]"]
    assert [one["columns"] for one in found["measures"]] == [["mcc"], ["recall of b"]]
    reason = "undefined: all samples in a single true class or in a single predicted class"
    assert found["nulls"] == [{"table": "rows", "row": 2, "column": "mcc", "value": "nan", "status": reason}]


def test_statuses_are_words(command: Any) -> None:
    found = read_json(done(command, *COMMANDS["interval"], "--format", "json"))
    assert found["rows"][2]["mcc/status"] == "undefined"
    assert found["statuses"]["undefined"] == matrics.IntervalStatus.UNDEFINED.sentence
    of_limits = {(one["row"], one["column"]): one["status"] for one in found["nulls"]}
    assert of_limits[2, "mcc/low"] == matrics.IntervalStatus.UNDEFINED.sentence
    assert found["seed"] is None
    again = read_json(done(command, *COMMANDS["interval"], "--method", "bootstrap", "--num", "99", "--format", "json"))
    assert (again["seed"], again["replicates"], again["method"]) == (0, 99, "bootstrap")
    seeded = done(
        command, *COMMANDS["interval"], "--method", "bootstrap", "--num", "99", "--seed", "0", "--format", "csv"
    )
    assert seeded == done(command, *COMMANDS["interval"], "--method", "bootstrap", "--num", "99", "--format", "csv")
    assert seeded != done(
        command, *COMMANDS["interval"], "--method", "bootstrap", "--num", "99", "--seed", "1", "--format", "csv"
    )


def test_csv_has_the_rows_of_an_output_file(command: Any) -> None:
    """A file by --output and the text by --format have the same values, to the last digit."""
    for name in ("score", "interval", "curve", "threshold"):
        done(command, *COMMANDS[name], "--output", "o.csv")
        assert values(Path("o.csv").read_text()) == values(done(command, *COMMANDS[name], "--format", "csv"))


def test_infinite_values_are_null_with_a_reason(command: Any) -> None:
    found = read_json(done(command, *COMMANDS["curve"], "--format", "json"))
    assert [one["log_loss"] for one in found["curves"]].count(None) == 2
    reasons = [one for one in found["nulls"] if one["column"] == "log_loss"]
    assert [(one["table"], one["value"], one["status"]) for one in reasons] == [
        ("curves", "inf", "the value is infinite")
    ] * 2


def test_a_curve_without_a_threshold_says_why(command: Any) -> None:
    found = read_json(
        done(
            command, "threshold", *TUMOURS, "--by", "model", "--metric", "recall", "--metrics", "mcc",
            "--subject-to", "precision>=0.995", "--num", "0", "--format", "json",
        )
    )  # fmt: skip
    (remark,) = found["remarks"]
    assert remark.startswith("naive_bayes: no threshold has precision of malignant >= 0.995")
    (mcc,) = [one for one in found["nulls"] if one["column"] == "mcc"]
    assert f"naive_bayes: {mcc['status']}" == remark
    assert found["subject_to"] == ["precision of malignant >= 0.995"]


def test_the_version_of_a_backend_is_there(command: Any, torch: Any) -> None:
    found, with_torch = (
        read_json(done(command, *COMMANDS["score"], "--format", "json", *given))
        for given in ([], ["--backend", "torch"])
    )
    assert with_torch["versions"]["torch"] == torch.__version__
    assert "torch" not in found["versions"]
    assert list(found) == list(with_torch)
    values = [[one["recall of b"] for one in result["rows"]] for result in (found, with_torch)]
    assert values[0] == pytest.approx(values[1])


def test_many_matrices_are_all_there(command: Any) -> None:
    """The table is a summary; the other formats have every row."""
    stack = RANDOM.integers(0, 9, (300, 3, 3))
    np.save("s.npy", stack)
    assert len(cells(done(command, "score", "s.npy", "--metrics", "mcc,recall:class", "--format", "csv"))) == 301
    found = read_json(done(command, "score", "s.npy", "--metrics", "mcc,recall:class", "--format", "json"))
    wanted = np.asarray(matrics.recall(stack, average="class"))[:, 2]
    values = np.array([one["recall of class 2"] for one in found["rows"]], float)
    np.testing.assert_allclose(values, wanted, rtol=1e-12)
    assert np.isnan(values).any()
    assert found["rows"][7]["index_0"] == 7
    assert "mean" in done(command, "score", "s.npy", "--metrics", "mcc")


def test_disparity_is_a_table_of_its_own(command: Any) -> None:
    found = read_json(done(command, *COMMANDS["score"], "--disparity", "--format", "json"))
    of_recall = {one["measure"]: one for one in found["disparity"]}["recall of b"]
    values = {one["model"]: one["recall of b"] for one in found["rows"]}
    assert of_recall["max_group"] == max(values, key=values.__getitem__)
    assert of_recall["difference"] == pytest.approx(max(values.values()) - min(values.values()))


def test_left_out_matrices_keep_their_names(command: Any) -> None:
    stack = np.array([[[1.0, 0], [0, -1]], [[3, 1], [1, 2]]])
    np.save("s.npy", stack)
    found = read_json(
        done(command, "score", "s.npy", "--metrics", "accuracy", "--on-invalid", "skip", "--format", "json")
    )
    assert found["rows"] == [{"index_0": 1, "accuracy": pytest.approx(5 / 7)}]
    assert found["invalid"] == 1


def test_markup_of_a_file_is_none_here(command: Any) -> None:
    Path("m.csv").write_text('model,y_true,y_pred\n"a|b``*",0,0\n=1,1,1\n=1,0,0\n"a|b``*",1,1\n')
    text = done(command, "score", "m.csv", "--by", "model", "--metrics", "accuracy", "--format", "markdown")
    assert r"| a\|b\`\`\* | 1.000 |" in text
    assert cells(done(command, "score", "m.csv", "--by", "model", "--metrics", "accuracy", "--format", "csv"))[1][
        0
    ] in {
        "=1",
        "a|b``*",
    }


def test_sets_of_labels(command: Any) -> None:
    Path("sets.csv").write_text("y_true,y_pred\na;b,a\nb,b\n")
    found = read_json(
        done(
            command,
            "score",
            "sets.csv",
            "--separator",
            ";",
            "--average",
            "label",
            "--metrics",
            "recall",
            "--format",
            "json",
        )
    )
    assert found["rows"] == [{"recall of a": 1.0, "recall of b": 0.5}]
    assert found["measures"][0]["columns"] == ["recall of a", "recall of b"]


WRONG = {
    "format": (["--format", "xml"], "--format: expected table, json, csv, markdown or latex, got 'xml'"),
    "other end": (["--format", "json", "--output", "o.csv"], "--format: expected no such option with a name"),
    "md": (
        ["--format", "json", "--output", "o.md"],
        "--format: expected markdown, as --output ends in .md, got 'json'",
    ),
    "parquet": (["--format", "csv", "--output", "o.parquet"], "--format: expected no such option"),
    "folder": (["--format", "csv", "--output", "o/"], "--format: expected no such option with a folder"),
    "nowhere": (["--output", "no/o.json"], "--output: expected an existing directory, got 'no'"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_one_line_on_stderr(command: Any, case: str) -> None:
    arguments, expected = WRONG[case]
    before = sorted(Path().iterdir())
    code, out, err = command(*COMMANDS["score"], *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"matrics: {expected}")
    assert len(err.splitlines()) == 1
    assert sorted(Path().iterdir()) == before


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_an_error_prints_no_json(command: Any, name: str) -> None:
    arguments = [part for part in COMMANDS[name] if part not in {"--by", "model"}]
    code, out, err = command(*arguments, "--by", "nothing", "--format", "json")
    assert (code, out) == (2, "")
    assert "got no 'nothing'" in err


@pytest.mark.parametrize("name", COMMANDS)
def test_an_input_is_never_replaced(command: Any, name: str) -> None:
    Path("labels.csv").rename("labels.md.csv")
    Path("link.json").symlink_to("labels.md.csv")
    arguments = ["labels.md.csv" if part == "labels.csv" else part for part in COMMANDS[name]]
    if "labels.md.csv" in arguments:
        code, out, err = command(*arguments, "--output", "link.json")
        assert (code, out) == (2, "")
        assert "expected a file other than the input" in err


def test_runs_of_an_evaluation(command: Any) -> None:
    logs = [ROOT / "tests" / "data" / "evals" / name for name in ("a.eval", "b.eval")]
    code, out, err = command("compare", *logs, "--format", "json")
    assert code == 0
    assert "left out 2 that only a.eval has: q00, q01" in err
    found = read_json(out)
    assert [one["run"] for one in found["rows"]] == ["a.eval", "b.eval", "difference"]
    a, b, apart = (one["estimate"] for one in found["rows"])
    assert apart == pytest.approx(a - b)
    assert found["answers"][0]["real"] is False
    assert found["samples"] == 28


def test_a_table_for_a_paper(command: Any) -> None:
    """The limits stand in brackets behind their measure; the end of the name chooses LaTeX."""
    Path("m.csv").write_text("model,y_true,y_pred\n" + "a_1,0,0\na_1,1,1\na_1,1,0\nR&D,0,0\nR&D,1,1\n" * 8)
    arguments = ("interval", "m.csv", "--by", "model", "--metrics", "accuracy,mcc")
    text = done(command, *arguments, "--format", "latex")
    done(command, *arguments, "--output", "m.tex")
    assert Path("m.tex").read_text("utf-8") == text
    found = read_json(done(command, *arguments, "--format", "json"))["rows"][1]
    limits = f"{found['accuracy']:.3f} [{found['accuracy/low']:.3f}, {found['accuracy/high']:.3f}]"
    lines = text.splitlines()
    start = lines.index(r"\toprule")
    assert lines[start + 1] == r"model & accuracy & mcc \\"
    assert lines[start + 3].startswith(r"R\&D & 1.000 [")
    assert lines[start + 4].startswith(rf"a\_1 & {limits} & 0.")
    assert all(line.startswith("%") for line in lines[: start - 1])
