"""``matrics diagnostic`` with groups of patients and with several prevalences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from commands import refused

RANDOM = np.random.default_rng(4)
ILL = RANDOM.random(200) < 0.3
TEST = RANDOM.random(200) < np.where(ILL, 0.85, 0.1)
SITE = RANDOM.choice(["north", "south"], 200)
NAMES = np.array(["healthy", "ill"])


@pytest.fixture(autouse=True)
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = zip(NAMES[ILL.astype(int)], NAMES[TEST.astype(int)], SITE, strict=True)
    Path("p.csv").write_text("y_true,y_pred,site\n" + "".join(",".join(row) + "\n" for row in rows))


def document(command: Any, *arguments: str) -> Any:
    code, out, err = command("diagnostic", "p.csv", "--positive", "ill", *arguments, "--format", "json")
    assert code == 0, err
    return json.loads(out)


def test_groups(command: Any) -> None:
    """A row for each site and for all, with the counts of Python and the p-value of homogeneity."""
    rows = document(command, "--by", "site")["rows"]
    groups = matrics.stats.diagnostic_groups(
        NAMES[ILL.astype(int)], NAMES[TEST.astype(int)], groups=SITE, positive="ill"
    )
    assert [(row["measure"], row["site"]) for row in rows[:3]] == [
        ("sensitivity", "north"),
        ("sensitivity", "south"),
        ("sensitivity", None),
    ]
    for row, site in zip(rows, ("north", "south"), strict=False):
        there = site == SITE
        assert (row["numerator"], row["denominator"]) == ((ILL & TEST & there).sum(), (ILL & there).sum())
    assert rows[2]["estimate"] == (ILL & TEST).sum() / ILL.sum()
    assert rows[0]["p_value"] == pytest.approx(groups.p_value[0])
    code, out, _ = command("diagnostic", "p.csv", "--positive", "ill", "--by", "site")
    assert code == 0
    lines = [line.split() for line in out.splitlines()[4:7]]
    counts = [f"{row['numerator']}/{row['denominator']}" for row in rows[:3]]
    assert lines[0][:3] == ["sensitivity", "north", counts[0]]
    assert [line[:2] for line in lines[1:]] == [["south", counts[1]], ["overall", counts[2]]]
    assert lines[0][-1] == f"{groups.p_value[0]:.3f}"


def test_prevalences(command: Any) -> None:
    """Predictive values by Bayes' theorem, at each prevalence."""
    found = document(command, "--prevalence", "0.01,0.08")
    assert found["prevalence"] == [0.01, 0.08]
    rows = {row["measure"]: row["estimate"] for row in found["rows"]}
    for share in (0.01, 0.08):
        positive = rows["sensitivity"] * share
        by_hand = positive / (positive + (1 - rows["specificity"]) * (1 - share))
        assert rows[f"positive predictive value at {share}"] == pytest.approx(by_hand)
    single = document(command, "--prevalence", "0.01")
    by_name = {row["measure"]: row["estimate"] for row in single["rows"]}
    assert by_name["positive predictive value"] == pytest.approx(rows["positive predictive value at 0.01"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--prevalence", "x"), "--prevalence: expected a number, got 'x'"),
        (("--by", "site", "--prevalence", "0.1"), "--prevalence: expected no such option with --by, got '0.1'"),
        (("--by", "ward"), "got no 'ward'"),
        (("--format", "csv", "--output", "t.docx"), "--format: expected none with --output 't.docx', got 'csv'"),
    ],
)
def test_one_sentence(command: Any, arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(command, "diagnostic", "p.csv", "--positive", "ill", *arguments)
