"""The sources' numbers, computed again: how many match, what is wrong in print, and that nothing is unexplained."""

from __future__ import annotations

import dataclasses
import math
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._study.sources import entropy, experiment, recompute, reproduction
from matrics._study.sources.recompute import compare, matches_print
from matrics._study.sources.records import Record, load, matrices

NUM = 4000  # random matrices, in place of 200,000
NUMBERS = {"000": 781, "001": 57, "002": 144, "003": 59, "004": 4}


@pytest.fixture(scope="module")
def found() -> reproduction.Reproduction:
    return matrics.study.reproduce(num=NUM)


# The records ----------------------------------------------------------------------------------------------------------


def test_records() -> None:
    records = load()
    assert Counter(record.source for record in records) == NUMBERS
    assert sum(record.source == "000" and record.table.removeprefix("Table ").isdigit() for record in records) == 734
    counts = Counter(record.verdict for record in records)
    assert counts == {"match": 902, "rounding": 114, "erratum": 25, "ambiguous": 4}
    assert all(record.note for record in records if record.verdict in ("erratum", "ambiguous"))
    assert {len(record.cells) for record in records if record.matrix is not None} == {2, 3, 4, 5, 6, 7, 8, 10}


def test_a_record_without_a_matrix_says_so() -> None:
    record = next(record for record in load() if record.matrix is None)
    with pytest.raises(ValueError, match="expected a record with a matrix"):
        _ = record.cells


def test_the_paper_and_the_records_have_the_same_matrix() -> None:
    """M9 of source 000 has the only cells with decimals; the class sizes of M8 are about a thousand each."""
    m8, m9 = (np.asarray(matrices()[f"000 {name}"]) for name in ("M8", "M9"))
    assert m8.sum() == 10_000
    assert m9[0, 0] == 358.72
    assert (m8 == np.rint(m8)).all()


def test_import_reads_no_record() -> None:
    code = "import matrics, matrics._study.sources.records as r; print(r._stored.cache_info().misses)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


# All of them ----------------------------------------------------------------------------------------------------------


def test_sources_by_number() -> None:
    assert matrics.study.reproduce("4").totals() == matrics.study.reproduce("004").totals()


def test_totals(found: reproduction.Reproduction) -> None:
    totals = found.totals()
    assert {source: counts["numbers"] for source, counts in totals.items()} == NUMBERS
    assert [counts["erratum"] for counts in totals.values()] == [20, 1, 3, 0, 1]
    assert [counts["ambiguous"] for counts in totals.values()] == [1, 0, 2, 1, 0]
    assert [(one.record, one.value) for one in found.of("unexplained")] == []
    assert len(found.of("match")) == 902 + 114


def test_nothing_is_copied(found: reproduction.Reproduction) -> None:
    """Values come from float64: many differ from the true ones in the last digits, if those are no simple numbers."""
    others = [
        one.record.computed != one.value
        for one in found.numbers
        if len(repr(one.record.computed)) > 14 and not one.error
    ]
    assert len(others) > 700
    assert 0.2 < np.mean(others) < 0.8


def test_verdicts_of_the_records_are_ours(found: reproduction.Reproduction) -> None:
    for one in found.numbers:
        wanted = "match" if one.record.verdict == "rounding" else one.record.verdict
        assert one.verdict == wanted, one.record


def test_readings(found: reproduction.Reproduction) -> None:
    """What explains a print that the value itself does not."""
    read = {
        (one.record.table, one.record.matrix_name, one.record.measure): one for one in found.numbers if one.readings
    }
    repaired = read["Table 4", "Mtilde7", "mcen.s"]
    (value,) = repaired.readings.values()
    assert (repaired.verdict, round(repaired.value, 3), round(value, 3)) == ("ambiguous", 0.757, 0.726)
    change = read["inline example ir=1/5", "M->Mtilde", "|change|% precision"]
    (value,) = change.readings.values()
    assert (change.verdict, round(value, 2), round(change.value, 2)) == ("match", 45.45, 44.32)
    harmonic = read["Table 9", "M7 class 4, non modified", "F1-score"]
    assert (harmonic.verdict, harmonic.value, harmonic.record.printed) == ("match", 0, "NA")
    column = read["MCC=0 single column", "3x3 single non-zero column", "MCC"]
    assert math.isnan(column.value)
    assert list(column.readings.values()) == [0]
    assert len(read) == 4 + 1 + 1 + 1 + 1


# Sources --------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "source"), [("eve", "000"), ("REVIEW", "001"), ("004", "004")])
def test_one_source(name: str, source: str) -> None:
    assert {one.record.source for one in matrics.study.reproduce(name).numbers} == {source}


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match=r"source: expected one of 000, eve, .*, got '005'"):
        matrics.study.reproduce("005")
    with pytest.raises(ValueError, match="num: expected at least 100 matrices, got 99"):
        matrics.study.reproduce("002", num=99)


# Verdicts -------------------------------------------------------------------------------------------------------------


def record(printed: str, computed: float | None, verdict: str = "match", measure: str = "mcc") -> Record:
    return Record("000", "Table 1", "M", None, "true", measure, printed, computed, verdict, "a reason")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("printed", "measure", "value", "matches"),
    [
        ("0.428", "mcc", 0.42899, True),  # truncated
        ("0.428", "mcc", 0.42701, True),
        ("0.428", "mcc", 0.42901, False),
        ("-8.00", "thr_min", -8.009, True),
        ("60.8%", "drop(%) accuracy", 60.739, True),
        ("87", "drop% precision", 87.5, True),
        ("87", "drop% precision", 88.5, False),
        ("25", "#invariant", 25.0, True),  # a whole number is exact
        ("25", "#invariant", 24.0, False),
        ("0", "lambda_n(B) - thr_min >= 0", -0.09, False),
        ("about 6", "|P|/|Q|", 6.25, True),
        ("> 1", "max CEN", 1.0615, True),
        ("> 1", "max CEN", 1.0, False),
        ("NA", "F1-score", math.nan, True),
        ("NA", "F1-score", 0.0, False),
        ("-inf", "min kappa", -1.0, False),
        ("1 - 10^?", "consistency", 1.0, False),
        ("9.999999999995e-07", "GMean", 9.99e-7, False),
    ],
)
def test_matches_print(printed: str, measure: str, value: float, *, matches: bool) -> None:
    assert matches_print(record(printed, value, measure=measure), value) is matches


@pytest.mark.parametrize(
    ("one", "value", "verdict", "reason"),
    [
        (record("0.43", 0.4277), 0.4277, "match", ""),
        (record("0.43", 0.4277), 0.4278, "unexplained", "the true value is 0.4277"),
        (record("0.47", 0.4277), 0.4277, "unexplained", "it is not the printed value, and no erratum is known"),
        (record("0.47", 0.4277, "erratum"), 0.4277, "erratum", "a reason"),
        (
            record("0.43", 0.4277, "erratum"),
            0.4277,
            "unexplained",
            "it matches the printed value, although that is a known erratum",
        ),
        (record("0.47", 0.4277, "erratum"), 0.47, "unexplained", "the true value is 0.4277"),
        (record("0.47", 0.4277), math.nan, "unexplained", "the true value is 0.4277"),
        (record("0.47", 0.4277, "ambiguous"), 0.4277, "ambiguous", "a reason"),
        (record("0", None, "ambiguous"), math.nan, "ambiguous", "a reason"),
        (record("0", None, "ambiguous"), 0.0, "unexplained", "the true value is undefined"),
    ],
)
def test_judge(one: Record, value: float, verdict: str, reason: str) -> None:
    judged = compare(one, value, {}, 0.0)
    assert (judged.verdict, judged.reason) == (verdict, reason)


def test_judge_readings_and_errors() -> None:
    other = compare(record("0.47", 0.4277), 0.4277, {"another": 0.3, "rounded first": 0.4701}, 0.0)
    assert (other.verdict, other.reason) == ("match", "rounded first")
    assert compare(record("0.43", 0.40), 0.4277, {}, 0.01).verdict == "match"
    assert compare(record("0.43", 0.40), 0.4277, {}, 0.001).verdict == "unexplained"


# The experiment of 002 ------------------------------------------------------------------------------------------------


def test_experiment() -> None:
    made = experiment.run(NUM)
    assert made.classes.min() == 3
    assert made.classes.max() == 30
    assert made.mcc.shape == (NUM,)
    k = 1 + 0.18924 / np.log(made.classes) - 0.06694 / np.log(made.classes) ** 2
    np.testing.assert_allclose(made.scaled_cen, k * made.cen)
    low, high = experiment.interval_of_mean_ratio(NUM, resamples=200)
    mean = experiment.mean_ratio(made.tmcc, made.scaled_cen)
    deviation = np.std(made.tmcc / made.scaled_cen) / math.sqrt(NUM)
    assert low < mean < high
    assert high - low == pytest.approx(2 * 1.96 * deviation, rel=0.25)


def test_cells_of_the_experiment() -> None:
    """From 1 to 1000 on the diagonal, and to 1000 ρ elsewhere, which is never less than 10."""
    stack = experiment._draw(np.random.default_rng(3), 3000, 4)
    diagonal = np.diagonal(stack, axis1=1, axis2=2)
    others = stack[:, ~np.eye(4, dtype=bool)]
    assert (diagonal.min(), diagonal.max()) == (1, 1000)
    assert diagonal.mean() == pytest.approx(500.5, abs=8)
    assert others.min() == 1
    assert others.mean() == pytest.approx((1000 * 0.505 + 0.5) / 2, abs=8)  # of ⌊1000 ρ⌋ the mean is 504.5
    assert others.max(1).min() >= 5


@pytest.mark.exhaustive
def test_experiment_in_full() -> None:
    """As many matrices as in the paper: its mean ratio agrees, its correlation no closer than smaller samples do."""
    full = matrics.study.reproduce("002")
    assert not full.of("unexplained")
    values = {one.record.measure: one for one in full.numbers if one.record.table == experiment.TABLE}
    ratio, correlation = values["average ratio tMCC/(k CEN)"], values["correlation tMCC, k CEN"]
    assert ratio.value == pytest.approx(1.000508, abs=3e-4)
    assert correlation.value == pytest.approx(0.9950, abs=3e-4)
    assert correlation.verdict == "match"
    assert "0.9950" in correlation.record.note
    low, high = experiment.interval_of_mean_ratio(resamples=300)
    assert low < 1.000508 < high


def test_every_matrix_with_the_class_sizes() -> None:
    stack = entropy.matrices_with_class_sizes(4, 3, 3)
    assert stack.shape == (15 * 10 * 10, 3, 3)
    assert (stack.sum(2) == [4, 3, 3]).all()
    assert len(np.unique(stack, axis=0)) == 1500


def test_discriminancy_by_definition() -> None:
    """With (2, 1, 1), where the order of pairs of all matrices is found by fractions and 40 digits."""
    import mpmath

    stack = entropy.matrices_with_class_sizes(2, 1, 1)

    def squared_mcc(cm: np.ndarray) -> Fraction:
        total, hits = int(cm.sum()), int(np.trace(cm))
        true, pred = ([int(x) for x in cm.sum(axis)] for axis in (1, 0))
        above = total * hits - sum(t * k for t, k in zip(true, pred, strict=True))
        below = (total**2 - sum(t * t for t in true)) * (total**2 - sum(k * k for k in pred))
        return Fraction(0) if below == 0 else Fraction(above * abs(above), below)

    def cen(cm: np.ndarray) -> Any:
        found = mpmath.mpf(0)
        sizes = cm.sum(0) + cm.sum(1)
        for j in range(3):
            for k in range(3):
                for cell in (cm[j, k], cm[k, j]) if k != j else ():
                    if cell:
                        found -= int(cell) * mpmath.log(mpmath.mpf(int(cell)) / int(sizes[j]))
        return mpmath.nstr(found, 20)

    with mpmath.workdps(40):
        pairs = [(squared_mcc(cm), cen(cm)) for cm in stack]
    only_cen = sum(a[0] == b[0] and a[1] != b[1] for a in pairs for b in pairs)
    only_mcc = sum(a[0] != b[0] and a[1] == b[1] for a in pairs for b in pairs)
    scores = matrics.score(stack, ["cen", "mcc"], zero_division=0)
    found = matrics.study.discriminancy(scores["cen"].round(10), scores["mcc"].round(10))
    assert (2 * found.only_f, 2 * found.only_g) == (only_cen, only_mcc)


def test_steps_and_specs_of_the_library() -> None:
    m2 = [[9, 80], [1, 210]]  # predicted classes in rows
    assert recompute.compute_with_library(m2, ["transpose"], "recall of 0") == 0.9
    assert recompute.compute_with_library(m2, ["transpose"], "eigenvalues of B", 0) == pytest.approx(0.604584, abs=1e-6)
    assert recompute.compute_with_library(np.diag([3, 4, 5]), [("one_vs_rest", 1)], "recall:class", 0) == 1


# The command ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(command: Any) -> Any:
    pytest.importorskip("typer")

    def called(*arguments: Any, code: int = 0) -> str:
        found, out, err = command("reproduce", *map(str, arguments))
        assert found == code, out + err
        return str(out + err)

    return called


def test_command(run: Any) -> None:
    text = run("--num", NUM)
    (line,) = (line for line in text.splitlines() if line.startswith("all "))
    assert line.split() == ["all", "1,045", "1,016", "25", "4", "0"]
    assert "errata: the printed number is wrong\n" in text
    assert re.search(r"\n000 Table 2, Mtilde2: kappa +0.423 / 0.427773\n    recomputed 0.4278", text)
    assert text.count("are copied from Table 4") == 1  # of four numbers
    assert "with an accuracy of 0.61: 0.766" in text
    assert "unexplained:" not in text
    assert " ± " in text
    assert f"over {NUM:,} random matrices: 1.00" in text


@pytest.mark.exhaustive
def test_command_of_one_source(run: Any) -> None:
    text = run("--source", "eve", "--verbose")
    assert "\n000 Table 11\n" in text
    (line,) = (line for line in text.splitlines() if line.startswith("000 Dembélé"))
    assert line.split()[-5:] == ["781", "760", "20", "1", "0"]
    rows = [line for line in text.splitlines() if line.startswith("M7+J5/5 ") and " eve " in line]
    assert any(row.split()[1:4] == ["eve", "0.77539", "0.775394"] for row in rows)
    assert "001" not in {line[:3] for line in text.splitlines()}


def test_a_wrong_record_is_unexplained(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A print that is not the value, one that is not true, and an erratum that is none."""
    records = [record for record in load() if record.source == "001"]
    wrong = {"printed": "0.55"}, {"computed": 0.9, "printed": "0.90"}
    made = [dataclasses.replace(one, **change) for one, change in zip(records, wrong, strict=False)]
    last = next(one for one in records if one.verdict == "erratum")
    made += [*records[2:], dataclasses.replace(last, printed="-1")]
    monkeypatch.setattr(reproduction, "load", lambda: tuple(made))
    text = run("--source", "001", code=1)
    assert "unexplained: neither as printed" in text
    (line,) = (line for line in text.splitlines() if line.startswith("001 Labatut"))
    assert line.split()[-5:] == ["58", "54", "1", "0", "3"]
    assert "it is not the printed value, and no erratum is known" in text
    assert "the true value is 0.9" in text
    assert "it matches the printed value, although that is a known erratum" in text


def test_figures_without_matplotlib(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("matrics._cli.reproduce.find_spec", lambda _: None)
    text = run("--figures", tmp_path / "new", code=2)
    assert 'python -m pip install "matrics[plot]"' in text
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "7"], "--source: expected one of 000, eve"),
        (["--num", "many"], "--num: expected an integer, got 'many'"),
        (["--num", "5"], "num: expected at least 100 matrices, got 5"),
        (["--figures", __file__], "--figures: expected a folder, got the file"),
    ],
)
def test_bad_options(run: Any, arguments: list[str], message: str) -> None:
    assert message in run(*arguments, code=2)
