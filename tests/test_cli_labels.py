"""Labels mean the same in every format of files: types, booleans, order, missing values, and warnings."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from commands import done, refused

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FORMATS = ["csv", "parquet", "jsonl", "xlsx"]
SIDES = ("y_true", "y_pred")
Rows = list[tuple[Any, Any]]


@pytest.fixture
def write(monkeypatch: Any) -> Any:
    """Write rows of labels in a format; a sheet is what pandas reads of one."""

    def written(rows: Rows, ending: str, name: str = "x", **more: list[Any]) -> str:
        columns = dict(zip(SIDES, map(list, zip(*rows, strict=True)), strict=True)) | more
        path = Path(f"{name}.{ending}")
        if ending == "xlsx":
            pandas = pytest.importorskip("pandas")
            cells = [
                [None if pandas.isna(cell) else cell for cell in row] for row in zip(*columns.values(), strict=True)
            ]
            monkeypatch.setattr("matrics._files.sheets._read", lambda *_, **__: ([list(columns), *cells], ""))
            path.write_bytes(b"PK")
        elif ending == "parquet":
            pq.write_table(pa.table(columns), path)
        elif ending == "jsonl":
            records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            path.write_text("".join(json.dumps(one) + "\n" for one in records))
        else:
            with path.open("w", newline="") as file:
                writer = csv.writer(file, quoting=csv.QUOTE_ALL)
                writer.writerow(columns)
                cells = zip(*columns.values(), strict=True)
                writer.writerows(["" if cell is None else cell for cell in row] for row in cells)
        return str(path)

    return written


def counts_of(command: Any, *arguments: Any) -> dict[tuple[Any, Any], int]:
    code, out, err = command("count", *arguments, "--format", "json")
    assert code == 0, err
    return {(row["y_true"], row["y_pred"]): row["count"] for row in json.loads(out)["rows"]}


def values(command: Any, *arguments: Any) -> dict[str, float]:
    (row,) = json.loads(done(command, *arguments, "--format", "json"))["rows"]
    return dict(row)


# One warning, whatever the format -----------------------------------------------------------------------------------

ODD: dict[str, tuple[Rows, str]] = {
    "blanks": ([(" cat", "cat"), ("dog", "dog")], "the labels ' cat' and 'cat' are different classes"),
    "full stop": (
        [("Yes.", "yes"), ("no", "no")],
        "only among the true labels: 'Yes.'; only among the predicted labels: 'yes'",
    ),
    "one side": ([("a", "b"), ("b", "b")], "only among the true labels: 'a'"),
    "mixed truths": ([("True", "true"), ("False", "False")], "the labels 'True' and 'true' are different classes"),
    "None": (
        [("None", "None"), ("x", "x")],
        "'None' is a class and not a missing value, unless the option na names it",
    ),
    "NA": ([("NA", "NA"), ("x", "x")], "'NA' is a class and not a missing value, unless the option na names it"),
    "two forms": (
        [("caf\u00e9", "cafe\u0301"), ("x", "x")],
        "the labels 'caf\u00e9' (U+00E9) and 'cafe\u0301' (e U+0301) are different classes",
    ),
    "usual": ([("cat", "cat"), ("none", "none"), ("cat", "none")], ""),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("case", ODD)
def test_every_command_warns_in_every_format(command: Any, write: Any, case: str, ending: str) -> None:
    rows, warning = ODD[case]
    path = write(rows, ending)
    for arguments in (("score", "--metrics", "accuracy"), ("count",), ("gate", "--require", "accuracy >= 0")):
        _, _, err = command(arguments[0], path, *arguments[1:])
        assert err == (f"matrics: warning: {path}: {warning}\n" if warning else "")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ending", FORMATS)
def test_reports_and_comparisons_warn(command: Any, write: Any, ending: str) -> None:
    pytest.importorskip("jinja2")
    rows: Rows = [("cat", "cat"), ("dog", " cat"), ("dog", "dog")] * 10
    path = write(rows, ending, m=["a", "b"] * 15)
    expected = f"matrics: warning: {path}: the labels 'cat' and ' cat' are different classes\n"
    for arguments in (("report", path, "--by", "m", "--num", 20, "--output", "r.md"), ("compare", path, "--by", "m")):
        code, _, err = command(*arguments)
        assert (code, err) == (0, expected)


# Types --------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    "spelling", [("FALSE", "TRUE"), ("false", "true"), ("False", "True"), (False, True)], ids=lambda pair: repr(pair[1])
)
def test_booleans_have_one_name(command: Any, write: Any, spelling: tuple[Any, Any], ending: str) -> None:
    no, yes = spelling
    path = write([(yes, yes)] * 3 + [(yes, no)] * 2 + [(no, no)] * 4 + [(no, yes)], ending)
    expected = {("False", "False"): 4, ("False", "True"): 1, ("True", "False"): 2, ("True", "True"): 3}
    assert counts_of(command, path) == expected
    found = values(command, "score", path, "--metrics", "recall[True],recall[false],sensitivity")
    recalls = [Fraction(3, 5), Fraction(4, 5), Fraction(3, 5)]
    assert list(found.values()) == pytest.approx(list(map(float, recalls)))
    for positive in ("True", "true", "TRUE"):
        one = values(command, "score", path, "--metrics", "precision", "--positive", positive)
        assert one == {"precision of True": 0.75}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", FORMATS)
def test_codes_that_look_like_decimals(command: Any, write: Any, ending: str) -> None:
    path = write([("250.00", "250.00"), ("401.9", "250.00"), ("1.10", "1.10"), ("1.10", "401.9")], ending)
    assert refused(command, "count", path) == (
        f"{path}: column 'y_true': expected labels, whole numbers or text, got decimal numbers such as '401.9': "
        "--text-labels reads labels as text"
    )
    expected = {("250.00", "250.00"): 1, ("401.9", "250.00"): 1, ("1.10", "1.10"): 1, ("1.10", "401.9"): 1}
    assert counts_of(command, path, "--text-labels") == expected
    found = values(command, "score", path, "--text-labels", "--metrics", "recall['1.10']")
    assert list(found.values()) == [0.5]
    # Counts keep what was read.
    done(command, "count", path, "--text-labels", "--output", "c.parquet")
    assert counts_of(command, "c.parquet") == expected


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", FORMATS)
def test_text_that_is_numbers_is_sorted_as_numbers(command: Any, write: Any, ending: str) -> None:
    path = write([("10", "9"), ("9", "10"), ("100", "100")], ending)
    assert list(counts_of(command, path)) == [(9, 10), (10, 9), (100, 100)]
    assert list(counts_of(command, path, "--text-labels")) == [("10", "9"), ("100", "100"), ("9", "10")]


WHOLE: dict[str, tuple[Any, Any]] = {
    "floats": (pa.array([1.0, 0.0, 1.0, None]), pa.array([1, 1, 1, 0])),
    "NaN": (pa.array([1.0, 0.0, 1.0, float("nan")]), pa.array([1, 1, 1, 0])),
    "half floats": (pa.array([1.0, 0.0, 1.0, None], pa.float16()), pa.array([1, 1, 1, 0], pa.uint8())),
    "decimals": (
        pa.array([Decimal(1), Decimal(0), Decimal(1), None], pa.decimal128(1, 0)),
        pa.array([Decimal("1.00"), Decimal("1.00"), Decimal("1.00"), None], pa.decimal128(5, 2)),
    ),
    "booleans": (pa.array([True, False, True, None]), pa.array([1.0, 1.0, 1.0, 0.0])),
    "texts": (pa.array(["1.0", "0.0", "1.0", ""]), pa.array(["1", "1", "1", "0"])),
    "truths": (pa.array(["TRUE", "FALSE", "TRUE", None]), pa.array([1, 1, 1, 0])),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whole_numbers_are_labels(command: Any, write: Any, case: str, ending: str) -> None:
    """What pandas writes for integers with a gap, and warehouses for integers; with --missing at every command."""
    true, pred = WHOLE[case]
    cells: Rows = [
        (float(a) if type(a) is Decimal else a, b) for a, b in zip(true.to_pylist(), pred.to_pylist(), strict=True)
    ]
    if ending == "csv":
        path = write([(None if a != a else a, b) for a, b in cells], ending, s=[0.9, 0.2, 0.7, 0.5])
    else:
        path = "x.parquet"
        pq.write_table(pa.table({"y_true": true, "y_pred": pred, "s": [0.9, 0.2, 0.7, 0.5]}), path)
    assert counts_of(command, path, "--missing", "drop") == {(0, 1): 1, (1, 1): 2}
    options = ("--missing", "drop", "--metrics", "precision", "--positive", "1")
    for arguments in (("score", path), ("interval", path)):
        code, out, err = command(*arguments, *options, "--format", "json")
        assert (code, json.loads(out)["rows"][0]["precision of class 1"]) == (0, pytest.approx(2 / 3)), err
    code, out, err = command("curve", path, "--scores", "s", "--missing", "drop", "--format", "json")
    assert (code, '"roc_auc": 1.0' in out) == (0, True), err
    assert "expected a value in " in command("count", path)[2]
    code, out, err = command("count", path, "--missing", "class", "--format", "csv")
    assert code == 0, err
    assert "(missing)" in out
    assert "1,1,2" in out


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("column", "got"),
    [
        (pa.array([1.0, 0.5, 0.25]), "0.5, which is not whole"),
        (pa.array([1.0, float("inf"), 0.25]), "inf, which is not whole"),
        (pa.array([Decimal("1.00"), Decimal("2.50"), Decimal("0.25")]), "2.50, which is not whole"),
        (pa.array([1.0, 1e300, 2.0]), "a number of at least 2**63"),
    ],
)
def test_the_first_number_that_is_not_whole_is_named(command: Any, column: Any, got: str) -> None:
    pq.write_table(pa.table({"y_true": [1, 0, 1], "y_pred": column}), "x.parquet")
    expected = f"x.parquet: column 'y_pred': expected labels, whole numbers or text, got {got}"
    assert refused(command, "count", "x.parquet") == expected
    assert refused(command, "compare", "x.parquet", "x.parquet", "--paired-on", "y_true").startswith("--paired-on")


def test_one_number_in_two_forms_is_refused(command: Any, write: Any) -> None:
    path = write([("1", "1"), ("1.0", "1"), ("2", "2")], "csv")
    assert refused(command, "count", path).startswith(
        "x.csv: column 'y_true': expected each number in one form, got '1' and '1.0': --text-labels"
    )
    assert len(counts_of(command, path, "--text-labels")) == 3


# Order --------------------------------------------------------------------------------------------------------------

LEVELS = ("low", "mid", "high")
RATED: Rows = [(LEVELS[k % 3], LEVELS[(k * k + k // 7) % 3]) for k in range(60)]
LINEAR = "cohen_kappa(weights=linear)"


def ordered(rows: Rows, levels: tuple[str, ...] = LEVELS) -> Any:
    """Columns as pandas writes ordered categories."""
    sides = zip(*rows, strict=True)
    codes = [pa.array([levels.index(label) for label in side], pa.int8()) for side in sides]
    return pa.table(
        {
            name: pa.DictionaryArray.from_arrays(code, levels, ordered=True)
            for name, code in zip(SIDES, codes, strict=True)
        }
    )


def kappa() -> float:
    """Cohen's kappa with linear weights by hand: 1 less the mean distance, divided by that of independent ratings."""
    pairs = [(LEVELS.index(a), LEVELS.index(b)) for a, b in RATED]
    seen = Fraction(sum(abs(a - b) for a, b in pairs), len(pairs))
    expected = Fraction(sum(abs(a - b) for a, _ in pairs for _, b in pairs), len(pairs) ** 2)
    return float(1 - seen / expected)


def test_an_ordered_categorical_keeps_its_order_at_every_command(command: Any) -> None:
    pytest.importorskip("jinja2")
    pq.write_table(ordered(RATED), "x.parquet")
    pq.write_table(ordered(RATED), "groups.parquet", row_group_size=7)
    done(command, "count", "x.parquet", "--output", "c.parquet")
    done(command, "merge", "c.parquet", "--output", "d.parquet")
    for path in ("x.parquet", "groups.parquet", "c.parquet", "d.parquet"):
        found = json.loads(done(command, "score", path, "--metrics", LINEAR, "--format", "json"))
        assert found["classes"] == list(LEVELS)
        assert found["rows"][0][LINEAR] == pytest.approx(kappa(), abs=1e-12)
        assert values(command, "interval", path, "--metrics", LINEAR)[LINEAR] == pytest.approx(kappa(), abs=1e-12)
        code, out, err = command("gate", path, "--require", f"{LINEAR} >= {kappa() - 0.0001}", "--format", "json")
        assert code == 3, err
        assert json.loads(out)["rows"][0]["estimate"] == pytest.approx(kappa(), abs=1e-12)
    for path in ("x.parquet", "c.parquet"):
        out = done(command, "report", path, "--metrics", LINEAR, "--num", 20, "--output", "r.md")
        assert f"{kappa():.3f}" in out
    two = pa.concat_tables([ordered(RATED), ordered(RATED)]).append_column("m", pa.array(["a", "b"] * 60))
    pq.write_table(two, "m.parquet")
    compared = json.loads(done(command, "compare", "m.parquet", "--by", "m", "--metrics", LINEAR, "--format", "json"))
    assert compared["classes"] == list(LEVELS)


def test_one_of_two_files_gives_the_order(command: Any, write: Any) -> None:
    pq.write_table(ordered(RATED).append_column("id", pa.array(range(60))), "x.parquet")
    path = write(RATED, "csv", "y", id=list(range(60)))
    arguments = ("--paired-on", "id", "--metrics", LINEAR, "--num", 20, "--format", "json")
    for files in (("x.parquet", path), (path, "x.parquet")):
        found = json.loads(done(command, "compare", *files, *arguments))
        assert found["classes"] == list(LEVELS)
        assert [row["estimate"] for row in found["rows"]] == pytest.approx([kappa()] * 2, abs=1e-12)


def test_an_order_that_the_file_does_not_hold_is_none(command: Any) -> None:
    """Without a dictionary page the categories are read in the order of the rows."""
    pq.write_table(ordered([("mid", "high"), ("high", "low"), ("low", "mid")]), "x.parquet", use_dictionary=False)
    found = json.loads(done(command, "count", "x.parquet", "--format", "json"))
    assert found["classes"] == ["high", "low", "mid"]


def test_two_orders_that_differ_are_none(command: Any) -> None:
    table = ordered(RATED)
    other = ordered(RATED, ("high", "mid", "low"))
    pq.write_table(table.set_column(1, "y_pred", other["y_pred"]), "x.parquet")
    assert json.loads(done(command, "count", "x.parquet", "--format", "json"))["classes"] == ["high", "low", "mid"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ending", FORMATS)
def test_labels_gives_the_order(command: Any, write: Any, ending: str) -> None:
    path = write(RATED, ending)
    options = ("--labels", "low,mid", "--labels", "high")
    assert values(command, "score", path, "--metrics", LINEAR, *options)[LINEAR] == pytest.approx(kappa(), abs=1e-12)
    found = json.loads(done(command, "count", path, "--labels", "none,low,mid,high", "--format", "json"))
    assert found["classes"] == ["none", *LEVELS]
    assert command("score", write([("a", "b")], ending, "one"), "--labels", "b,a")[2] == ""
    path = write(RATED, ending)
    said = refused(command, "score", path, "--labels", "low,mid")
    assert said == f"{path}: --labels: expected all labels of the file in their order, got a list without 'high'"
    assert refused(command, "score", path, "--labels", "low,mid,low").startswith("--labels: expected each label once")


def test_labels_orders_numbers_booleans_and_crosstabs(command: Any, write: Any) -> None:
    path = write([(1, 2), (3, 1)], "csv")
    assert json.loads(done(command, "count", path, "--labels", "3,2,1", "--format", "json"))["classes"] == [3, 2, 1]
    path = write([("TRUE", "FALSE"), ("FALSE", "TRUE")], "csv")
    assert json.loads(done(command, "count", path, "--labels", "TRUE,FALSE", "--format", "json"))["classes"] == [
        "True",
        "False",
    ]
    Path("t.csv").write_text("t,high,low,mid\nhigh,5,1,2\nlow,0,6,1\nmid,3,1,7\n")
    found = json.loads(
        done(command, "score", "t.csv", "--labels", "low,mid,high", "--metrics", LINEAR, "--format", "json")
    )
    table = [[6, 1, 0], [1, 7, 3], [1, 2, 5]]
    total, rows = 26, [7, 11, 8]
    columns = [sum(row[k] for row in table) for k in range(3)]
    seen = Fraction(sum(abs(i - j) * table[i][j] for i in range(3) for j in range(3)), total)
    chance = Fraction(sum(abs(i - j) * rows[i] * columns[j] for i in range(3) for j in range(3)), total**2)
    assert found["rows"][0][LINEAR] == pytest.approx(float(1 - seen / chance), abs=1e-12)
    Path("m.csv").write_text("5,1\n2,7\n")
    assert refused(command, "score", "m.csv", "--labels", "a,b").startswith("--labels: expected a file with columns")


def test_a_crosstab_in_alphabetical_order_has_no_positive_class(command: Any) -> None:
    """As the data frame of pandas.crosstab, which sorts."""
    Path("t.csv").write_text("t,ill,well\nill,5,1\nwell,0,6\n")
    assert "needs a positive class" in refused(command, "score", "t.csv", "--metrics", "sensitivity:binary")
    mean = {"precision, macro": pytest.approx((1 + 6 / 7) / 2)}
    assert values(command, "score", "t.csv", "--metrics", "precision") == mean
    Path("t.csv").write_text("t,well,ill\nwell,6,0\nill,1,5\n")
    assert values(command, "score", "t.csv", "--metrics", "precision") == mean
    of_ill = {"precision of ill": 1, "sensitivity of ill": pytest.approx(5 / 6)}
    assert values(command, "score", "t.csv", "--metrics", "precision,sensitivity", "--positive", "ill") == of_ill
    assert values(command, "score", "t.csv", "--metrics", "recall:binary") == {"recall of ill": pytest.approx(5 / 6)}


# Missing values -----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", FORMATS)
def test_texts_that_are_missing_values(command: Any, write: Any, ending: str) -> None:
    rows: Rows = [("1", "1"), ("NA", "0"), ("0", "-"), ("0", "0"), ("1", "0")]
    path = write(rows, ending, w=["2", "1", "1", "NA", "1"], g=["a", "a", "b", "b", "NA"])
    options = ("--na", "NA,-", "--missing", "drop")
    assert counts_of(command, path, *options) == {(0, 0): 1, (1, 0): 1, (1, 1): 1}
    code, out, err = command("count", path, *options, "--weight", "w", "--by", "g", "--format", "json")
    assert (code, [row["weight"] for row in json.loads(out)["rows"]]) == (0, [2.0]), err
    assert err == f"matrics: {path}: left out 4 rows without a value in y_true, y_pred, w, g\n"
    assert counts_of(command, path, "--na", "NA", "--na", "-", "--missing", "class")["(missing)", "0"] == 1
    assert "expected a value in " in refused(command, "score", path, "--na", "NA,-")


def test_a_weight_that_stands_for_a_missing_value(command: Any, write: Any) -> None:
    path = write([("a", "a"), ("b", "b")], "csv", w=["1", "NA"])
    assert refused(command, "count", path, "--weight", "w") == (
        "x.csv: line 3: expected a number in column 'w', got 'NA'; --na NA reads it as a missing value"
    )
    path = write([("a", "a"), ("b", "b")], "parquet", w=["1", "n/a"])
    assert refused(command, "count", path, "--weight", "w").endswith("expected weights, which are numbers, got 'n/a'")


def test_messages_about_encodings_name_the_option(command: Any) -> None:
    text = "y_true,y_pred\né,é\n"
    for encoding, given in (("latin-1", ()), ("utf-16", ()), ("utf-16-le", ()), ("latin-1", ("--encoding", "utf-16"))):
        Path("x.csv").write_bytes(text.encode(encoding))
        assert "--encoding names another, such as cp1252" in refused(command, "score", "x.csv", *given)
    Path("x.csv").write_bytes("y_true,y_pred\na,a\n".encode("utf-16-le"))
    assert "got zero bytes; --encoding names another" in refused(command, "score", "x.csv")


# Totals -------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["Sum", "Total", "All", "Grand Total", "Σ"])
@pytest.mark.parametrize("first", [False, True])
def test_totals_of_any_name_are_refused(command: Any, name: str, first: bool) -> None:  # noqa: FBT001
    cells = {("a", "a"): 10, ("a", "b"): 2, ("b", "a"): 3, ("b", "b"): 8}
    margins = {("a", name): 12, ("b", name): 11, (name, "a"): 13, (name, "b"): 10, (name, name): 23}
    labels = [name, "a", "b"] if first else ["a", "b", name]
    both = cells | margins
    table = [["t", *labels], *([row, *(str(both[row, column]) for column in labels)] for row in labels)]
    Path("t.csv").write_text("\n".join(map(",".join, table)))
    expected = f"expected only counts, got a row and a column {name!r} with the sums of the others"
    assert expected in refused(command, "gate", "t.csv", "--require", "accuracy >= 0.5")
    rows = "".join(f"{true},{pred},{count}\n" for (true, pred), count in both.items())
    Path("l.csv").write_text(f"y_true,y_pred,n\n{rows}")
    assert expected in refused(command, "score", "l.csv", "--counts", "n")
    Path("l.csv").write_text("y_true,y_pred,n\n" + "".join(f"{a},{b},{n}\n" for (a, b), n in cells.items()))
    assert values(command, "score", "l.csv", "--counts", "n", "--metrics", "accuracy") == {"accuracy": 18 / 23}


def test_classes_that_only_look_like_totals(command: Any) -> None:
    Path("t.csv").write_text("t,a,b,Sum\na,10,2,12\nb,3,8,11\nSum,13,10,24\n")
    assert values(command, "score", "t.csv", "--metrics", "accuracy") == {"accuracy": 42 / 93}
    Path("t.csv").write_text("t,a,b,c\na,0,0,0\nb,0,0,0\nc,0,0,9\n")
    assert values(command, "score", "t.csv", "--metrics", "accuracy") == {"accuracy": 1.0}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_label_called_as_the_class_of_missing_ones(command: Any, write: Any, ending: str) -> None:
    """It would be counted with the rows that have no label."""
    path = write([("cat", "cat"), ("", "dog"), ("(missing)", "dog")], ending)
    message = refused(command, "score", path, "--missing", "class")
    assert "expected no label '(missing)', which --missing class gives to rows without a label" in message
    assert counts_of(command, path, "--na", "(missing)", "--missing", "class")["(missing)", "dog"] == 2


PERIODS = [["2026-02", "2026-01", "2026-10"], ["2026-Q2", "2026-Q1", "2026-Q3"], ["2026-W07", "2026-W05", "2026-W33"]]


@pytest.mark.parametrize("groups", [*PERIODS, ["2026-01-b", "2026-01-a", "2026-01-c"], ["b", "a", "c"]], ids=str)
def test_groups_that_are_periods_are_in_the_order_of_time(command: Any, tmp_path: Path, groups: list[str]) -> None:
    """Groups with other names are sorted by the measure: the first is the best, and the next is the second best."""
    rows = [
        f"{group},{k % 2},{int(k % 2 == 1 and k > 2 * place)}" for place, group in enumerate(groups) for k in range(9)
    ]
    (tmp_path / "log.csv").write_text("\n".join(["period,y_true,y_pred", *rows]))
    code, shown, error = command("score", str(tmp_path / "log.csv"), "--by", "period", "--metrics", "accuracy")
    assert (code, error) == (0, "")
    order = [line.split()[0] for line in shown.splitlines() if line.split() and line.split()[0] in groups]
    assert order == (sorted(groups) if groups in PERIODS else groups)
    assert ("best first" in shown) == (groups not in PERIODS)


@pytest.mark.parametrize("name", ["score", "interval"])
@pytest.mark.parametrize(
    ("sort", "expected"), [("mcc", "acb"), ("cen", "bac"), ("recall", "acb"), ("specificity of class 1", "bac")]
)
def test_sort_names_the_measure_that_orders_the_rows(
    command: Any, tmp_path: Path, name: str, sort: str, expected: str
) -> None:
    """Of three groups with MCC 0.58, undefined and -0.5; CEN is better when lower: 0.49, 0.39 and 1."""
    counts = {"a": [[1, 1], [0, 2]], "b": [[2, 0], [1, 0]], "c": [[0, 1], [1, 1]]}
    rows = [
        f"{group},{true},{pred}"
        for group, matrix in counts.items()
        for true in range(2)
        for pred in range(2)
        for _ in range(matrix[true][pred])
    ]
    (tmp_path / "x.csv").write_text("\n".join(["group,y_true,y_pred", *rows]))
    arguments = (name, "x.csv", "--by", "group", "--metrics", "accuracy,mcc,cen,recall,specificity", "--sort", sort)
    code, out, error = command(*arguments, "--format", "json")
    assert (code, error) == (0, "")
    result = json.loads(out)
    assert "".join(row["group"] for row in result["rows"]) == expected
    assert result["remarks"] == [f"sorted by {sort.replace('recall', 'recall of class 1')}, best first"]
    table = command(*arguments, "--format", "csv")[1].splitlines()[1:]
    assert "".join(line[0] for line in table) == expected


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("f1", "f1, macro"),
        ("F1:macro", "f1, macro"),
        ("f1:micro", "f1, micro"),
        ("fbeta(beta=2)", "fbeta(beta=2), macro"),
        ("kappa", "cohen_kappa"),
        ("fbeta", None),
        ("recall:class", None),
    ],
)
def test_sort_reads_names_as_metrics_does(command: Any, tmp_path: Path, sort: str, expected: str | None) -> None:
    rows = [f"{k % 2},{k % 3},{k * k % 3}" for k in range(50)]
    (tmp_path / "x.csv").write_text("\n".join(["group,y_true,y_pred", *rows]))
    metrics = "fbeta(beta=2),fbeta(beta=0.5),f1:macro,f1:micro,kappa,recall:class"
    code, out, error = command("score", "x.csv", "--by", "group", "--metrics", metrics, "--sort", sort)
    assert code == (2 if expected is None else 0)
    if expected is None:
        assert f"got {sort!r}" in error
    else:
        assert f"sorted by {expected}, best first" in out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--sort", "mcc"), "expected several matrices with it, got a single matrix"),
        (
            ("--by", "group", "--sort", "f1"),
            "expected a heading of the table (accuracy and mcc), got 'f1': see --metrics",
        ),
        (
            ("--by", "group", "--sort", "f2"),
            "expected a heading of the table (accuracy and mcc), got 'f2': see --metrics",
        ),
        (
            ("--by", "group", "--sort", "mcc", "--output", "a.csv"),
            "expected no file that is written in blocks, got a.csv",
        ),
        (("--by", "row", "--sort", "mcc"), "expected at most 40 matrices in a table, got 50 matrices: choose --format"),
    ],
    ids=str,
)
def test_nothing_to_sort(command: Any, tmp_path: Path, arguments: tuple[str, ...], expected: str) -> None:
    rows = [f"{k},{k % 3},{k % 2},{k % 5 % 2}" for k in range(50)]
    (tmp_path / "x.csv").write_text("\n".join(["row,group,y_true,y_pred", *rows]))
    code, out, error = command("score", "x.csv", "--metrics", "accuracy,mcc", *arguments)
    assert (code, out) == (2, "")
    assert f"matrics: --sort: {expected}" in error
