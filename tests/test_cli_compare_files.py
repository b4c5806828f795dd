"""matrics compare of two files: joined by a column of the samples, or each on samples of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
RANDOM = np.random.default_rng(3)
SAMPLES = 150
TRUE = RANDOM.integers(0, 3, SAMPLES)
GOOD = np.where(RANDOM.random(SAMPLES) < 0.9, TRUE, (TRUE + 1) % 3)
POOR = np.where(RANDOM.random(SAMPLES) < 0.6, TRUE, (TRUE + 1) % 3)
NAMES = np.array(["cat", "dog", "eel"])


def write(name: str, rows: list[int], pred: Any, **others: Any) -> None:
    columns = {"id": [f"s{k}" for k in rows], "y_true": NAMES[TRUE[rows]], "y_pred": NAMES[pred[rows]]}
    columns |= {key: np.asarray(values)[rows] for key, values in others.items()}
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    Path(name).write_text("\n".join([",".join(columns), *lines]) + "\n")


def found(command: Any, *arguments: Any) -> dict[str, Any]:
    code, out, err = command("compare", *arguments, "--format", "json")
    assert (code, err) == (0, ""), err
    return dict(json.loads(out))


@pytest.fixture(autouse=True)
def _files(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    write("today.csv", list(range(SAMPLES)), GOOD)
    write("yesterday.csv", RANDOM.permutation(SAMPLES).tolist(), POOR)


PAIRED = ("today.csv", "yesterday.csv", "--paired-on", "id")


def test_the_rows_are_joined_whatever_their_order(command: Any) -> None:
    result = found(command, *PAIRED, "--metrics", "mcc", "--num", "500", "--seed", "2")
    wanted = matrics.compare_models(TRUE, np.stack([GOOD, POOR]), "mcc", num_classes=3, num=500, rng=2)["mcc"]
    a, b = result["rows"]
    assert [a["estimate"], b["estimate"]] == pytest.approx(np.asarray(wanted.intervals.estimate).tolist())
    assert [b["low"], b["high"]] == pytest.approx([float(wanted.intervals.low[1]), float(wanted.intervals.high[1])])
    gap = wanted.differences
    assert [b["difference"], b["difference_low"], b["difference_high"]] == pytest.approx(
        [float(part[0, 1]) for part in gap[:3]]
    )
    assert (a["best"], a["tied"], b["best"], b["tied"]) == (True, True, False, False)
    assert result["models"] == ["today.csv", "yesterday.csv"]
    assert (result["paired_on"], result["paired_samples"], result["seed"]) == ("id", SAMPLES, 2)


def test_it_is_what_one_file_of_both_gives(command: Any) -> None:
    rows = [f"{name},s{k},{NAMES[TRUE[k]]},{NAMES[pred[k]]}" for name, pred in (("today.csv", GOOD), ("yesterday.csv", POOR)) for k in range(SAMPLES)]  # fmt: skip  # noqa: E501
    Path("both.csv").write_text("model,id,y_true,y_pred\n" + "\n".join(rows) + "\n")
    for paired in (["--paired-on", "id"], []):
        of_two = found(command, "today.csv", "yesterday.csv", *paired, "--metrics", "mcc,recall:class")
        of_one = found(command, "both.csv", "--by", "model", *paired, "--metrics", "mcc,recall:class")
        assert of_two["rows"] == of_one["rows"]


def test_samples_of_one_file_are_named_and_left_out(command: Any) -> None:
    write("today.csv", list(range(9, SAMPLES)), GOOD)
    write("yesterday.csv", list(range(SAMPLES - 2)), POOR)
    code, out, _ = command("compare", *PAIRED, "--metrics", "accuracy")
    assert code == 0
    assert f"on the same {SAMPLES - 11:,} samples (id)" in out
    assert "left out 2 samples (s148, s149), which only today.csv has" in out
    assert "left out 9 samples (s0, s1, s2, s3, s4, …), which only yesterday.csv has" in out
    both = slice(9, SAMPLES - 2)
    rows = found(command, *PAIRED, "--metrics", "accuracy")["rows"]
    assert [one["estimate"] for one in rows] == pytest.approx(
        [np.mean(pred[both] == TRUE[both]) for pred in (GOOD, POOR)]
    )


def test_classes_of_both_files_are_united(command: Any) -> None:
    """A class that one file lacks has a row and a column of zeros there."""
    rows = np.flatnonzero((TRUE != 2) & (GOOD != 2)).tolist()
    write("today.csv", rows, GOOD)
    result = found(command, *PAIRED, "--metrics", "mcc")
    assert result["classes"] == ["cat", "dog", "eel"]
    wanted = [matrics.mcc(matrics.confusion_matrix(TRUE[rows], pred[rows], num_classes=3)) for pred in (GOOD, POOR)]
    assert [one["estimate"] for one in result["rows"]] == pytest.approx([float(value) for value in wanted])


def test_numbers_stay_in_the_order_of_numbers(command: Any) -> None:
    for name, labels in (("a.csv", [2, 10]), ("b.csv", [2, 9])):
        Path(name).write_text("id,y_true,y_pred\n" + "".join(f"{k},2,{labels[k % 2]}\n" for k in range(40)))
    code, out, _ = command(
        "compare", "a.csv", "b.csv", "--paired-on", "id", "--metrics", "accuracy", "--format", "json"
    )
    assert code == 0
    assert json.loads(out)["classes"] == ["2", "9", "10"]


def test_weights_and_other_kinds_of_files(command: Any) -> None:
    weights = RANDOM.random(SAMPLES)
    write("today.csv", list(range(SAMPLES)), GOOD, w=weights)
    ids = [f"s{k}" for k in range(SAMPLES)]
    pq.write_table(pa.table({"id": ids, "y_true": NAMES[TRUE], "y_pred": NAMES[POOR], "w": weights}), "old.parquet")
    given = ("today.csv", "old.parquet", "--paired-on", "id", "--weight", "w", "--metrics", "accuracy")
    rows = found(command, *given)["rows"]
    assert [one["estimate"] for one in rows] == pytest.approx(
        [np.average(pred == TRUE, weights=weights) for pred in (GOOD, POOR)]
    )
    lines = [json.dumps({"id": f"s{k}", "y_true": NAMES[TRUE[k]], "y_pred": NAMES[POOR[k]]}) for k in range(SAMPLES)]
    Path("old.jsonl").write_text("\n".join(lines) + "\n")
    of_lines = found(command, "today.csv", "old.jsonl", "--paired-on", "id", "--metrics", "accuracy")["rows"]
    assert [one["estimate"] for one in of_lines] == pytest.approx([np.mean(GOOD == TRUE), np.mean(POOR == TRUE)])


def test_repeated_samples_are_clusters_as_in_one_file(command: Any) -> None:
    """The rows of a sample are joined in their order, whatever is between them."""
    rows = np.tile(np.arange(50), 3)
    good, poor = (np.where(RANDOM.random(150) < p, TRUE[rows], (TRUE[rows] + 1) % 3) for p in (0.9, 0.6))
    order = np.arange(150).reshape(3, 50)[:, RANDOM.permutation(50)].ravel()  # another one, with the same repeats
    lines = {}
    for name, pred, places in (("a.csv", good, np.arange(150)), ("b.csv", poor, order)):
        cells = (f"s{rows[k]},{NAMES[TRUE[rows[k]]]},{NAMES[pred[k]]}" for k in places)
        lines[name] = list(cells)
        Path(name).write_text("\n".join(["id,y_true,y_pred", *lines[name]]) + "\n")
    both = [f"{line},{name}" for name in lines for line in lines[name]]
    Path("both.csv").write_text("\n".join(["id,y_true,y_pred,model", *both]) + "\n")
    options = ("--paired-on", "id", "--metrics", "accuracy,mcc", "--num", "500")
    result = found(command, "a.csv", "b.csv", *options)
    assert result["rows"] == found(command, "both.csv", "--by", "model", *options)["rows"]
    wanted = matrics.compare_models(
        TRUE[rows], [good, poor], "mcc", num_classes=3, clusters=[f"s{k}" for k in rows], num=500, rng=0
    )["mcc"]
    gap = [float(part[0, 1]) for part in wanted.differences[:3]]
    last = result["rows"][-1]
    assert [last["difference"], last["difference_low"], last["difference_high"]] == pytest.approx(gap)
    assert result["paired_samples"] == 50
    assert "50 samples (id), 3 predictions of each" in command("compare", "a.csv", "b.csv", *options)[1]


def test_without_pairs_each_file_has_samples_of_its_own(command: Any) -> None:
    write("today.csv", list(range(40)), GOOD)
    result = found(command, "today.csv", "yesterday.csv", "--metrics", "accuracy")
    table = matrics.confusion_matrix(TRUE[:40], GOOD[:40], num_classes=3)
    wanted = matrics.interval(table, "accuracy")["accuracy"]
    first = result["rows"][0]
    assert [first[part] for part in ("estimate", "low", "high")] == pytest.approx([float(part) for part in wanted[:3]])
    assert (result["seed"], result["paired_samples"], result["samples"]) == (None, None, 40 + SAMPLES)


def other_truth() -> None:
    text = Path("yesterday.csv").read_text().splitlines()
    row = next(k for k, line in enumerate(text) if line.startswith("s7,"))
    label = next(name for name in NAMES if name != NAMES[TRUE[7]])
    text[row] = f"s7,{label},cat"
    Path("yesterday.csv").write_text("\n".join(text) + "\n")


WRONG = {
    "no sample in common": (
        lambda: Path("yesterday.csv").write_text("id,y_true,y_pred\nt1,cat,cat\nt2,dog,cat\n"),
        PAIRED,
        (
            "--paired-on: expected samples that are in both files, got 150 samples (s0, s1, s2, s3, s4, …) in "
            "today.csv and 2 samples (t1, t2) in yesterday.csv"
        ),
    ),
    "twice": (
        lambda: write("yesterday.csv", [0, 1, 2, 1], POOR),
        PAIRED,
        (
            "--paired-on: expected the same number of rows for each model, got 3 of today.csv and 4 of yesterday.csv, "
            "the first "
            "at id s1: 1 and 2"
        ),
    ),
    "other truth": (
        other_truth,
        PAIRED,
        "--paired-on: expected the same true labels for each model, got different values for",
    ),
    "no such column": (lambda: None, (*PAIRED[:3], "image"), "today.csv: expected the columns y_true, y_pred, image"),
    "a label": (lambda: None, (*PAIRED[:3], "y_true"), "--paired-on: expected a column that is neither the model"),
    "by": (lambda: None, (*PAIRED, "--by", "id"), "--by: expected no such option with two files, each of one model"),
    "same file": (lambda: None, ("today.csv", "today.csv"), "today.csv: expected two different files"),
    "missing": (lambda: None, ("today.csv", "gone.csv"), "gone.csv: No such file"),
    "draws": (
        lambda: None,
        ("today.csv", "yesterday.csv", "--seed", "1"),
        "--seed: expected --paired-on COLUMN",
    ),
    "one file": (
        lambda: None,
        ("today.csv",),
        "--by: expected the column that identifies the model, several",
    ),
    "counts": (
        lambda: pq.write_table(pa.table({"y_true": ["a"], "y_pred": ["a"]}), "o.parquet"),
        ("today.csv", "o.parquet", "--paired-on", "id"),
        "o.parquet: expected the columns y_true, y_pred, id, got no 'id'",
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_one_line(command: Any, case: str) -> None:
    prepare, arguments, expected = WRONG[case]
    prepare()
    code, out, err = command("compare", *arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"matrics: {expected}"), err
