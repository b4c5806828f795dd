"""matrics report: a page from a file."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import done, refused

import matrics
from matrics._wording import with_limits

for needed in ("typer", "pyarrow", "jinja2", "matplotlib", "scipy"):
    pytest.importorskip(needed)

EXAMPLES = Path(__file__).parents[1] / "examples"
ROWS = [
    (model, k, "ab"[k // 2 % 2], "yes" if k % 2 else "no", "yes" if (k % 2) ^ (k % 10 < wrong) else "no")
    for model, wrong in (("net", 1), ("<tree>", 4))
    for k in range(80)
]


@pytest.fixture
def file(tmp_path: Path) -> str:
    text = "model,id,site,y_true,y_pred\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
    (tmp_path / "labels.csv").write_text(text)
    os.utime(tmp_path / "labels.csv", (1_700_000_000, 1_700_000_000))
    return "labels.csv"


def test_the_page_is_written_and_summed_up(command: Any, file: str) -> None:
    arguments = ("report", file, "--by", "model", "--paired-on", "id", "--num", 200, "--metrics", "accuracy")
    out = done(command, *arguments)
    assert out.startswith(
        "160 predictions of 2 models over 2 classes were scored, on the same 80 samples.\nnet is best"
    )
    page = Path("report.html").read_text("utf-8")
    assert f"report.html: {len(page.encode()) / 1000:,.0f} kB" in out
    assert "&lt;tree&gt;" in page
    assert "<tree>" not in page
    # The foot says how to make it again.
    assert hashlib.sha256(Path(file).read_bytes()).hexdigest() in page
    assert "2023-11-14 22:13:20 UTC" in page
    words = (
        "matrics report labels.csv --by model --paired-on id --metrics accuracy --num 200 --seed 0 --output report.html"
    )
    assert words in page
    # The same once more, byte by byte; another seed is another page.
    done(command, *arguments, "--output", "again.html")
    assert Path("again.html").read_text("utf-8") == page
    assert not [one for one in Path().iterdir() if one.name.startswith(".")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["labels.csv", "--by", "modle"], "labels.csv: expected the columns y_true, y_pred, modle, got no 'modle'"),
        (["labels.csv", "--by", "model", "--paired-on", "model"], "--paired-on: expected a column that no other"),
        (["labels.csv", "--level", "2"], "--level: expected"),
        (["labels.csv", "--metrics", "recall:class"], "--metrics: expected measures with a single value"),
        (
            ["labels.csv", "--output", "page.docx"],
            "--output: expected the name of a file that ends in .html, .md or .pdf",
        ),
        (["labels.csv", "--output", "no/page.html"], "--output: expected an existing directory"),
        (["labels.csv", "--scores", "id"], "--positive: expected the label of the class"),
        (["none.csv"], "none.csv: No such file"),
        (["-"], "-: expected a file, as the report contains its checksum"),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(
    command: Any, file: str, arguments: list[str], message: str
) -> None:
    assert message in refused(command, "report", *arguments)
    assert [one.name for one in Path().iterdir()] == [file]


@pytest.mark.exhaustive
def test_python_reads_files_alike(command: Any, file: str) -> None:
    """All but the command at the foot is the same."""
    done(command, "report", file, "--by", "model", "--metrics", "accuracy")
    made = matrics.report(file, by="model", metrics="accuracy")
    page = Path("report.html").read_text("utf-8")
    start, end = page.index("<dt>Command</dt>"), page.index("<dt>Python</dt>")
    assert [line.strip() for line in (page[:start] + page[end:]).splitlines()] == [
        line.strip() for line in made.html().splitlines()
    ]


def test_percentages_are_shown_on_the_screen(command: Any, file: str) -> None:
    """With a space, not with the sign for what cannot be printed."""
    Path(file).write_text("y_true,y_pred\n" + "a,a\n" * 465 + "b,b\n" * 35)
    assert "93 % of the samples are of class a" in " ".join(done(command, "report", file).split())


@pytest.mark.exhaustive
def test_the_positive_class(command: Any, file: str) -> None:
    """By --positive, which a message names where nothing says which class is meant."""
    arguments = ("report", file, "--metrics", "sensitivity:binary", "--by", "model")
    told = refused(command, *arguments)
    assert "needs a positive class, and neither of 'no', 'yes' is the default: pass --positive" in told
    assert "with sensitivity of no " in " ".join(done(command, *arguments, "--positive", "no").split())


@pytest.mark.exhaustive
def test_other_formats_and_titles(command: Any, file: str) -> None:
    arguments = ("report", file, "--by", "model", "--metrics", "accuracy", "--title", "Week 48")
    assert "report.md: " in done(command, *arguments, "--format", "md")
    assert Path("report.md").read_text("utf-8").startswith("# Week 48\n")
    done(command, *arguments, "--output", "last.html")
    done(command, *arguments, "--compare", "last.html")
    page = Path("report.html").read_text("utf-8")
    assert "Changes since last.html, data of 2023-11-14" in page
    assert "--title &#39;Week 48&#39; --compare last.html" in page
    assert "--format: expected html, md or pdf, got 'doc'" in refused(command, *arguments, "--format", "doc")
    assert "--output: expected a name that ends in .md, as --format says, got 'x.html'" in refused(
        command, *arguments, "--format", "md", "--output", "x.html"
    )
    assert "--compare: expected a page" in refused(command, *arguments, "--compare", file)
    assert "No such file" in refused(command, *arguments, "--compare", "none.html")


@pytest.mark.exhaustive
def test_matrices_of_a_file(command: Any) -> None:
    np.savez("runs.npz", first=np.array([[40, 2], [3, 35]]), second=np.array([[30, 12], [9, 29]]))
    out = done(command, "report", "runs.npz", "--metrics", "accuracy")
    assert out.startswith("160 predictions of 2 models over 2 classes were scored.\nfirst is best, with accuracy 0.938")


@pytest.mark.exhaustive
def test_the_examples(command: Any) -> None:
    """What the page on reports shows."""
    out = done(command, "report", EXAMPLES / "digits_sweep.parquet", "--by", "model", "--paired-on", "sample")
    assert (
        "svm_rbf is best, with MCC 0.989 (0.984 to 0.993), and is not significantly different from nearest_neighbours."
        in out
    )
    assert Path("report.html").stat().st_size < 500_000
    scores = ("--scores", "score", "--positive", "malignant", "--group", "texture")
    file = EXAMPLES / "breast_cancer_scores.parquet"
    done(command, "report", file, "--by", "model", "--paired-on", "sample", *scores)
    page = Path("report.html").read_text("utf-8")
    for title in ("Curves and calibration", "Groups by", "equal opportunity"):
        assert title in page


def test_answers_that_a_judge_has_graded(command: Any) -> None:
    """The pass rates and differences of matrics.judged, for all pairs together, on the page."""
    random = np.random.default_rng(3)
    shares, number = {"small": 0.55, "middle": 0.8, "large": 0.85}, 600
    people, judge, rows = {}, {}, ["model,id,human,judge"]
    for name, share in shares.items():
        good = random.random(number) < share
        judge[name] = np.where(random.random(number) < 0.88, good, ~good).astype(int)
        people[name] = np.where(np.arange(number) < 150, good, -1)
        words = [["", "fail", "pass"][k + 1] for k in people[name]], [["fail", "pass"][k] for k in judge[name]]
        rows += [f"{name},{k},{words[0][k]},{words[1][k]}" for k in range(number)]
    Path("graded.csv").write_text("\n".join(rows) + "\n")
    options = ["--judge", "judge", "--by", "model", "--paired-on", "id"]
    out = done(command, "report", "graded.csv", *options, "--output", "graded.md")
    text = Path("graded.md").read_text("utf-8")
    values = {}
    for name in shares:
        counts = matrics.judged.count(people[name], judge[name], num_classes=2)
        values[name] = matrics.judged.interval(counts, "accuracy")["accuracy"]
        limits = f"{values[name].estimate:.3f} ({values[name].low:.3f} to {values[name].high:.3f})"
        assert f"| {name} | {limits}" in text
    best, second, _ = sorted(values, key=lambda name: -values[name].estimate)
    both = {"y_true": (people[best], people[second]), "y_judge": (judge[best], judge[second])}
    gap = matrics.judged.compare(None, None, "accuracy", **both, num_classes=2, level=1 - 0.05 / 3)["accuracy"]
    tied = "is not significantly different from" if gap.low <= 0 else "significantly better than every other model"
    assert out.splitlines()[1].startswith(f"{best} is best, with pass rate {values[best].estimate:.3f} (")
    assert tied in out
    assert "judge graded all answers, and human graded 150 of each model" in text
    for word in ("Most frequent", "Detection", "Confusion", "recall", "independent samples"):
        assert word not in text
    done(command, "report", "graded.csv", *options, "--output", "graded.html")
    again = done(command, "report", "graded.csv", *options, "--compare", "graded.html", "--output", "again.md")
    assert again.splitlines()[:2] == out.splitlines()[:2]
    for wrong, message in (
        ([*options, "--metrics", "mcc"], "--metrics: expected none with grades of a judge"),
        ([*options, "--group", "site"], "--group: expected no such option with --judge"),
        ([*options, "--true", "human"], "--true: expected --human COLUMN in its place"),
        (options[:4], "--paired-on: expected the column of the samples"),
        (["--human", "human"], "--human: expected --judge COLUMN with it"),
    ):
        assert message in refused(command, "report", "graded.csv", *wrong)


def test_rows_without_a_label(command: Any) -> None:
    """An error by default; left out, the page says how many there were, and has no call of Python."""
    rows = [f"{k % 2},{k % 2 if k % 10 else ''},{'ab'[k % 3 > 0]}" for k in range(200)]
    Path("gaps.csv").write_text("\n".join(["y_true,y_pred,site", *rows]) + "\n")
    code, _, err = command("report", "gaps.csv")
    assert (code, "expected a value in column 'y_pred'" in err) == (2, True)
    code, _, _ = command("report", "gaps.csv", "--missing", "drop", "--group", "site", "--output", "gaps.html")
    page = Path("gaps.html").read_text("utf-8")
    assert code == 0
    assert "180 rows of gaps.csv" in page
    assert "20 further rows with missing values were left out." in page
    assert "--missing drop" in page
    assert "matrics.report(" not in page.partition("<footer")[2]
    code, _, _ = command("report", "gaps.csv", "--missing", "class", "--output", "gaps.md")
    assert (code, "Classes: 3" in Path("gaps.md").read_text("utf-8")) == (0, True)


def test_a_file_without_rows(command):
    Path("empty.csv").write_text("y_true,y_pred\n")
    code, _, err = command("report", "empty.csv")
    assert (code, err) == (2, "matrics: empty.csv: expected rows of labels, got none\n")


def test_numbers_are_the_same_texts_everywhere(command: Any, tmp_path: Path) -> None:
    """On the screen, in Markdown, LaTeX and both reports; small values and wide limits have digits of their own."""
    rng = np.random.default_rng(5)
    rows = ["model,id,y_true,y_pred"]
    for model, errors in (("good", 0.002), ("poor", 0.3)):
        for k in range(600):
            true = int(k % 200 == 0)
            rows.append(f"{model},{k},{true},{true ^ int(rng.random() < errors)}")
    (tmp_path / "m.csv").write_text("\n".join(rows) + "\n")
    arguments = ("m.csv", "--by", "model", "--paired-on", "id", "--metrics", "hamming_loss,mcc", "--num", "50")
    rows = json.loads(command("compare", *arguments, "--format", "json")[1])["rows"]
    parts = ("estimate", "low", "high")
    values = {(row["measure"], row["model"]): with_limits(*(row[part] for part in parts)) for row in rows}
    assert len(values) == 4
    assert len({len(texts[0]) for texts in values.values()}) > 1
    screen = " ".join(command("compare", *arguments)[1].split()).replace("[ ", "[")
    markdown = command("compare", *arguments, "--format", "markdown")[1].replace("\\", "")
    latex = command("compare", *arguments, "--format", "latex")[1].replace("$-$", "-")
    for end in ("md", "html"):
        assert command("report", *arguments, "--output", f"r.{end}")[0] == 0
    page, text = ((tmp_path / f"r.{end}").read_text("utf-8") for end in ("html", "md"))
    for value, low, high in values.values():
        assert all(f"{value} [{low}, {high}]" in written for written in (screen, markdown, latex))
        assert f"| {value} ({low} to {high})" in text
        assert re.search(rf">{re.escape(value)}[ =]*<small[^>]*>(≈ )?{low} to {high}", page)
