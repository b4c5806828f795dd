"""Reports as PDF by WeasyPrint: what is printed, and where, beside the tables of the page."""

from __future__ import annotations

import importlib
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import matrics

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytest.importorskip("pyarrow")
pdfplumber = pytest.importorskip("pdfplumber")
try:
    importlib.import_module("weasyprint")
except (ImportError, OSError):  # OSError: without the libraries of the system that it loads
    pytest.skip("WeasyPrint is not there", allow_module_level=True)

EXAMPLES = Path(__file__).parent.parent / "examples"
MARGIN = 12 / 25.4 * 72  # points
LINE = 13.0  # points, at most, from a line of a heading or a cell to the next
BLANK = 3.6  # points, at most, between words


def scores_of_two_classes() -> Any:
    import pyarrow.parquet as pq

    table = pq.read_table(EXAMPLES / "breast_cancer_scores.parquet")
    table = table.filter([name in ("extra_trees", "naive_bayes") for name in table["model"].to_pylist()])
    options: dict[str, Any] = {"by": "model", "paired_on": "sample", "groups": "texture", "num": 100}
    return matrics.report(table, y_score="score", positive="malignant", **options)


def models_of_ten_classes() -> Any:
    path = EXAMPLES / "digits_sweep.parquet"
    return matrics.report(path, by="model", paired_on="sample", num=100, metrics="accuracy,mcc,f1,cohen_kappa")


def many_measures() -> Any:
    """More than fit beside each other, of models and classes with long names, and what has changed."""
    random = np.random.default_rng(5)
    names = ["ordinary", "Donaudampfschifffahrtsgesellschaft", "under_scores_in_a_long_name"]
    stack = {
        f"a model with a long name, number {k}": np.diag(random.integers(80, 120, 3)) + random.integers(1, 30, (3, 3))
        for k in range(2)
    }
    metrics = "mcc,accuracy,balanced_accuracy,cohen_kappa,cen,eve,f1:min,precision,recall,jaccard,gmean,hamming_loss"
    metrics += "," + ",".join(f"precision[{name}],recall[{name}]" for name in names)
    return matrics.report(stack, class_names=names, metrics=metrics)


REPORTS = {"scores": scores_of_two_classes, "measures": many_measures, "digits": models_of_ten_classes}


LONG = pytest.mark.exhaustive(printed=["digits", "scores"])


class Column(NamedTuple):
    """A column of numbers of a table: its heading, its values, and what is below each in small letters."""

    heading: str
    values: list[str]
    small: list[str]


class Tables(HTMLParser):
    """The columns of numbers of the tables that a page shows; those that are folded are not printed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[list[str]]]] = []
        self.cell: list[str] | None = None
        self.part, self.folded = 0, 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 (as HTMLParser calls it)
        self.folded += tag == "details"
        if self.folded:
            return
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell, self.part = ["", ""], 0
            self.tables[-1][-1].append(self.cell)
        elif tag == "small":
            self.part = 1

    def handle_endtag(self, tag: str) -> None:
        self.folded -= tag == "details"
        if tag in ("td", "th"):
            self.cell = None
        elif tag == "small":
            self.part = 0

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell[self.part] += data

    @property
    def columns(self) -> list[Column]:
        """Of all tables."""
        found = []
        for head, *rows in self.tables:
            for (heading, _), *cells in list(zip(head, *rows, strict=True))[1:]:
                if re.match(r"[−\d<>]", cells[0][0]):
                    found.append(Column(heading, [one[0] for one in cells], [one[1] for one in cells]))
        return found


class Block(NamedTuple):
    """Words beside each other that end at the same place as those below them."""

    text: str
    right: float
    top: float


@pytest.fixture(scope="module", params=REPORTS)
def printed(request: Any) -> tuple[Any, Any]:

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matrics._reporting.page.BROWSERS", ())
        made = REPORTS[request.param]()
        return made, pdfplumber.open(io.BytesIO(made.pdf()))


def blocks_of(page: Any) -> list[Block]:
    """The runs of words of a page: those with no more than a blank between them."""
    words = sorted(page.extract_words(x_tolerance=1, use_text_flow=False), key=lambda w: (round(w["bottom"]), w["x0"]))
    blocks: list[list[Any]] = []
    for word in words:
        last = blocks[-1][-1] if blocks else None
        if last and abs(last["bottom"] - word["bottom"]) < 1 and -1 < word["x0"] - last["x1"] < BLANK:
            blocks[-1].append(word)
        else:
            blocks.append([word])
    return [Block(" ".join(w["text"] for w in one), one[-1]["x1"], one[0]["top"]) for one in blocks]


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def is_there(column: Column, blocks: list[Block]) -> bool:
    """Whether the values are below each other, each above its small text, and the heading stands over them."""
    for first in blocks:
        if squeezed(first.text) != squeezed(column.values[0]):
            continue
        own = [one for one in blocks if abs(one.right - first.right) < 0.6]
        below = [one for one in own if one.top >= first.top]
        cells = [squeezed(text) for pair in zip(column.values, column.small, strict=True) for text in pair if text]
        if [squeezed(one.text) for one in below[: len(cells)]] != cells:
            continue
        heading, top = "", first.top
        for one in reversed([one for one in own if one.top < first.top]):
            if top - one.top > LINE + (4 if not heading else 0) or heading == squeezed(column.heading):
                break
            heading, top = squeezed(one.text) + heading, one.top
        if heading == squeezed(column.heading):
            return True
    return False


@pytest.mark.exhaustive
@LONG
def test_every_number_is_below_its_heading(printed: tuple[Any, Any]) -> None:
    made, document = printed
    pages = [sorted(blocks_of(page), key=lambda one: one.top) for page in document.pages]
    columns = Tables(made.html()).columns
    assert len(columns) > 3
    missing = [one.heading for one in columns if not any(is_there(one, blocks) for blocks in pages)]
    assert not missing


@LONG
def test_nothing_is_cut_off(printed: tuple[Any, Any]) -> None:
    """Words and pictures are within the margins, and words are not on other words."""
    _, document = printed
    for page in document.pages:
        for one in [*page.chars, *page.images]:
            assert one["x0"] >= MARGIN - 1
            assert one["x1"] <= page.width - MARGIN + 1
        words = page.extract_words(x_tolerance=1)
        assert words, "an empty page"
        tops = [one["top"] for one in words]
        assert max(tops) - min(tops) > 60 or page.images


@pytest.mark.exhaustive
@LONG
def test_pictures_are_those_of_a_light_page(printed: tuple[Any, Any]) -> None:
    """The text in cells of confusion matrices can be read, as WCAG asks of text."""
    made, document = printed
    seen = 0
    for page in document.pages:
        pictures = page.images
        image = page.to_image(resolution=288).original.convert("RGB") if pictures else None
        for one in page.chars:
            middle, height = (one["x0"] + one["x1"]) / 2, (one["top"] + one["bottom"]) / 2
            if not any(p["x0"] < middle < p["x1"] and p["top"] < height < p["bottom"] for p in pictures):
                continue
            ends = [4 * one["x0"] - 3, 4 * one["top"] - 3, 4 * one["x1"] + 3, 4 * one["bottom"] + 3]
            _, paper = max(image.crop(ends).getcolors(10**5))  # the most frequent colour around a letter
            ink = one["non_stroking_color"]
            seen += 1
            assert contrast([255 * part for part in (ink * 3 if len(ink) == 1 else ink)], paper) > 4.5, one["text"]
    assert seen > 20
    page = made._rendered(printed=True)
    assert 'class="dark"' not in page
    assert not re.search(r"var\(--c\d", page)


def contrast(one: Any, other: Any) -> float:
    """The ratio of luminances that WCAG defines."""
    levels = []
    for colour in (one, other):
        share = np.asarray(colour, float) / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        levels.append(float(linear @ (0.2126, 0.7152, 0.0722)))
    return (max(levels) + 0.05) / (min(levels) + 0.05)


@pytest.mark.exhaustive
def test_what_is_new_is_printed_too(tmp_path: Path) -> None:
    """The table of the changes has as many columns as that of the models."""
    made = many_measures()
    old = made.save(tmp_path / "old.html")
    stack = {name: matrix + 1 for name, matrix in zip(made.data.models, made.data.matrices, strict=True)}
    metrics = list(made.findings.leaderboard.metrics)
    now = matrics.report(stack, class_names=list(made.data.classes), metrics=metrics, compare=old)
    page = Tables(now._rendered(printed=True))
    screen = Tables(now.html())
    of_changes = screen.tables[0]
    assert len(of_changes[0]) == 1 + len(metrics)
    printed = [column for table in page.tables for column in zip(*table, strict=True) if column[0][0] in metrics]
    assert max(len(table[0]) for table in page.tables) <= 10
    assert len([table for table in page.tables if table[0][0][0] == "model"]) >= 2 * len(metrics) // 6
    assert not [one for one in printed if one[0][0] == "model"]
    for column in zip(*of_changes, strict=True):
        assert any(list(column) == list(other) for table in page.tables for other in zip(*table, strict=True))
