"""``matrics diagnostic`` at a cut-off of measured values, and with two tests of the same patients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refused

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
stats = pytest.importorskip("scipy.stats")

RANDOM = np.random.default_rng(5)
ILL = RANDOM.random(300) < 0.3
MARKER = RANDOM.normal(10 + 5 * ILL, 3).round(1)
TESTS = {
    "rapid": RANDOM.random(300) < np.where(ILL, 0.8, 0.1),
    "culture": RANDOM.random(300) < np.where(ILL, 0.6, 0.03),
}
SITE = RANDOM.choice(["north", "south"], 300)
STATES = np.array(["healthy", "ill"])
RESULTS = np.array(["-", "+"])


@pytest.fixture(autouse=True)
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    header = "y_true,marker,reserve,rapid,culture,words,site"
    results = [STATES[test.astype(int)] for test in TESTS.values()]
    words = RESULTS[TESTS["rapid"].astype(int)]
    rows = zip(STATES[ILL.astype(int)], MARKER, 40 - MARKER, *results, words, SITE, strict=True)
    lines = [f"{a},{b:.1f},{c:.1f},{d},{e},{f},{g}" for a, b, c, d, e, f, g in rows]
    Path("p.csv").write_text("\n".join([header, *lines]) + "\n")


def document(command: Any, *arguments: str, positive: str = "ill") -> Any:
    code, out, err = command("diagnostic", "p.csv", "--positive", positive, *arguments, "--format", "json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--scores", "marker", "--threshold", "13.5"),
        ("--scores", "reserve", "--threshold", "26.5", "--lower-is-positive"),
    ],
)
def test_threshold(command: Any, arguments: tuple[str, ...]) -> None:
    """Results of at least the cut-off are positive, or of at most where values are lower: those at it are counted."""
    assert np.any(MARKER == 13.5)  # the comparison at the cut-off itself matters
    found = document(command, *arguments)
    above = MARKER >= 13.5
    assert list(found["counts"].values()) == [
        (ILL & above).sum(),
        (ILL & ~above).sum(),
        (~ILL & above).sum(),
        (~ILL & ~above).sum(),
    ]
    assert (found["file"], found["scores"], found["threshold"]) == ("p.csv", arguments[1], float(arguments[3]))
    code, out, _ = command("diagnostic", "p.csv", "--positive", "ill", *arguments)
    assert (code, out.split(":")[0]) == (
        0,
        f"p.csv, {arguments[1]} {'<=' if len(arguments) > 4 else '>='} {arguments[3]}",
    )


def test_threshold_by_site(command: Any) -> None:
    """A cut-off and groups: the sensitivity of each site."""
    rows = document(command, "--scores", "marker", "--threshold", "13.5", "--by", "site")["rows"]
    for row, site in zip(rows, ("north", "south"), strict=False):
        there = ILL & (site == SITE)
        assert (row["numerator"], row["denominator"]) == ((there & (MARKER >= 13.5)).sum(), there.sum())


def test_two_tests(command: Any) -> None:
    """McNemar's exact test of the ill and of the healthy, and the differences of both proportions."""
    found = document(command, "--pred", "rapid", "--pred", "culture")
    rows = {row["measure"]: row for row in found["rows"]}
    rapid, culture = TESTS.values()
    for measure, group, right in (("sensitivity", ILL, True), ("specificity", ~ILL, False)):
        only = (
            ((rapid == right) & (culture != right) & group).sum(),
            ((rapid != right) & (culture == right) & group).sum(),
        )
        row = rows[measure]
        assert row["p_value"] == pytest.approx(stats.binomtest(int(only[0]), int(sum(only))).pvalue, rel=1e-12)
        assert row["difference"] == pytest.approx((only[0] - only[1]) / group.sum())
        assert row["low"] < row["difference"] < row["high"]
        assert row["rapid/numerator"] == ((rapid == right) & group).sum()
        assert row["culture/denominator"] == group.sum()
    code, out, _ = command("diagnostic", "p.csv", "--positive", "ill", "--pred", "rapid", "--pred", "culture")
    assert code == 0
    assert out.startswith(f"p.csv: 300 samples; positive: ill. Of {ILL.sum()} positive samples")


def test_two_tests_in_other_words(command: Any) -> None:
    """Results in other words than the true labels, of two columns that are equal: no difference."""
    lines = [line.split(",") for line in Path("p.csv").read_text().splitlines()]
    Path("w.csv").write_text(
        "\n".join(f"{line[0]},{line[5]},{'again' if k == 0 else line[5]}" for k, line in enumerate(lines))
    )
    arguments = ("--positive", "ill=+", "--pred", "words", "--pred", "again", "--format", "json")
    code, out, err = command("diagnostic", "w.csv", *arguments)
    assert code == 0, err
    found = json.loads(out)
    assert (found["positive"], found["rows"][0]["difference"]) == ("ill=+", 0)
    assert found["rows"][0]["words/numerator"] == (TESTS["rapid"] & ILL).sum()


def test_document(command: Any, tmp_path: Path) -> None:
    """A table for a paper of two tests: LaTeX by the name of the file."""
    code, _, err = command(
        "diagnostic", "p.csv", "--positive", "ill", "--pred", "rapid", "--pred", "culture", "--output", "t.tex"
    )
    assert code == 0, err
    text = (tmp_path / "t.tex").read_text()
    assert text.startswith("% p.csv: 300 samples; positive: ill. Of ")
    assert r"measure & n/N of rapid & rapid & n/N of culture & culture & difference [95 \% limits] & p" in text


def test_tables_for_papers(command: Any) -> None:
    """LaTeX and Markdown of one test, and of groups: n/N, and limits with the value."""
    rapid = (TESTS["rapid"] & ILL).sum()
    for by, between in (((), "Wilson | "), (("--by", "site"), "")):
        arguments = ("p.csv", "--positive", "ill", "--pred", "rapid", *by)
        latex = command("diagnostic", *arguments, "--format", "latex")[1]
        assert rf"{rapid}/{ILL.sum()} & {between.replace('|', '&')}{rapid / ILL.sum():.3f} [" in latex
        markdown = command("diagnostic", *arguments, "--format", "markdown")[1]
        assert markdown.startswith("p.csv: 300 samples; positive: ill. ")
        assert rf"{rapid}/{ILL.sum()} | {between}{rapid / ILL.sum():.3f} \[" in markdown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scores", "marker"), "--threshold: expected a number with --scores, the cut-off of the test, got none"),
        (("--threshold", "3"), "--threshold: expected --scores with it, got '3'"),
        (("--scores", "marker", "--threshold", "x"), "--threshold: expected a number, got 'x'"),
        (
            ("--scores", "marker,reserve", "--threshold", "3"),
            "--scores: expected a single column, the values of the test, got 'marker,reserve'",
        ),
        (
            ("--scores", "marker", "--threshold", "3", "--pred", "rapid"),
            "--pred: expected no such option with --scores, got 'rapid'",
        ),
        (
            ("--lower-is-positive",),
            "--lower-is-positive: expected --scores with it, the column of measured values",
        ),
        (
            ("--pred", "rapid", "--pred", "culture", "--by", "site"),
            "--by: expected a single --pred with it, got 'site'",
        ),
        (
            ("--pred", "rapid", "--pred", "culture", "--method", "jeffreys"),
            "--method: expected a single --pred with it, got 'jeffreys'",
        ),
        (
            ("--pred", "rapid", "--pred", "culture", "--pred", "words"),
            "--pred: expected a single test, or two tests to compare, got 3",
        ),
    ],
)
def test_refused(command: Any, arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(command, "diagnostic", "p.csv", "--positive", "ill", *arguments)


def test_no_p_value_is_zero(command: Any, tmp_path: Path) -> None:
    """A p-value of 1e-200 is below 0.001 for people, and a number for programs."""
    y_true = [0, 1] * 600
    rows = [f"{y},{y},{1 - y}" for y in y_true]
    (tmp_path / "p.csv").write_text("\n".join(["y_true,a,b", *rows]))
    asked = ("diagnostic", str(tmp_path / "p.csv"), "--pred", "a", "--pred", "b")
    line = next(line for line in command(*asked)[1].splitlines() if line.startswith("sensitivity"))
    assert line.split()[-1] == "<.001"
    assert 0 < json.loads(command(*asked, "--format", "json")[1])["rows"][0]["p_value"] < 1e-100
