"""The page of a report as HTML, and as a PDF that a headless browser or WeasyPrint prints."""

from __future__ import annotations

import importlib
import math
import os
import re
import shutil
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._reporting.changes import Changes, stored_values
from matrics._reporting.data import Data
from matrics._reporting.findings import Findings, facts
from matrics._reporting.leaderboard import IntervalSettings, Leaderboard, repeats
from matrics._reporting.pictures import Palette, Picture, on_page
from matrics._reporting.verdicts import ModelVerdict
from matrics._wording import amount, between, capital, in_percent, number, percent, short, with_limits

__all__ = ["kind_of", "pdf_of", "rendered"]


# The texts of the links to the sections of the page.
SECTIONS = {
    "classes": "Classes and errors",
    "groups": "Groups",
    "leaderboard": "Leaderboard",
    "matrices": "Confusion matrices",
    "methods": "Methods",
    "scores": "Curves and calibration",
}
# The numbers of measures that fit on paper: the first table of models has further columns.
FIRST_PRINTED, NEXT_PRINTED = 4, 6
# Positions where a long word may be broken.
LONG_WORD = re.compile(r"(?<=\S{16})(?=\S)")


class Cell(NamedTuple):
    """A value of a model: its text, its sort key, its limits, and its comparison with the best."""

    text: str
    key: str
    limits: str
    is_best: bool
    is_tied: bool
    is_rough: bool


class Row(NamedTuple):
    """A model of the leaderboard."""

    rank: int
    model: str
    predictions: str
    size: float
    verdict: str
    chance: str
    chance_key: str
    cells: list[Cell]


def kind_of(path: Path, option: str) -> str:
    """The kind of a file by the ending of its name: ``"html"``, ``"md"`` or ``"pdf"``."""
    kind = {".html": "html", ".htm": "html", ".md": "md", ".pdf": "pdf"}.get(path.suffix.lower())
    if kind is None:
        raise ArgumentError(
            option, f"expected the name of a file that ends in .html, .md or .pdf, got {quoted(str(path))}"
        )
    return kind


def rendered(
    data: Data,
    findings: Findings,
    settings: IntervalSettings,
    *,
    version: str,
    pictures: dict[str, list[Picture]],
    title: str,
    call: str,
    changes: Changes | None,
    printed: bool = False,
) -> str:
    """The page as HTML; with ``printed``, without buttons, dark pictures, and tables that are wider than paper."""
    jinja2 = importlib.import_module("jinja2")
    markup = importlib.import_module("markupsafe").Markup
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def breakable(text: str) -> Any:
        """A name with optional line breaks after underscores."""
        return markup("_<wbr>").join(short(text).split("_"))

    def in_pieces(text: str) -> Any:
        """A heading with optional line breaks in long words."""
        return markup("<wbr>").join(LONG_WORD.split(text))

    environment.filters.update(
        {
            "number": number,
            "percent": percent,
            "short": short,
            "breakable": breakable,
            "in_pieces": in_pieces,
            "capital": capital,
            "max_or": _largest,
        }
    )
    environment.globals.update({"amount": amount, "between": between, "isnan": math.isnan, "key": _key})
    board = findings.leaderboard
    palette, rows = Palette(pictures, "", "") if printed else on_page(pictures), _rows(data, board)
    text: str = environment.get_template("report.html").render(
        data=data,
        findings=findings,
        board=board,
        measures=list(board.verdicts),
        rows=rows,
        title=title,
        facts=facts(data),
        call=call,
        code_of=lambda name: f'import matrics\n\nreport = {call}\nreport.pictures["{name}"].save("{name}.pdf")\n',
        changes=changes,
        stored=markup(stored_values(data, findings).replace("<", "\\u003c")),
        section_names=SECTIONS,
        same_cells=_same_cells(data, findings, pictures),
        has_rough=any(cell.is_rough for row in rows for cell in row.cells),
        has_rough_detection=findings.detection is not None
        and any(value.is_rough for row in findings.detection.rows for value in row),
        has_sizes=len(set(data.predictions.tolist())) > 1,
        has_chances=board.verdict.probability_best is not None and len(data.models) > 1,
        pictures=palette.sections,
        printed=printed,
        first_printed=FIRST_PRINTED,
        next_printed=NEXT_PRINTED,
        column_groups=_printed_groups if printed else lambda columns, _: [range(columns)],
        palette=palette,
        markup=markup,
        level=in_percent(settings.level),
        settings=settings,
        version=version,
        css=markup(_template("report.css")),
        script=markup(_template("report.js")),
    )
    return text


def _template(name: str) -> str:
    return files("matrics._reporting").joinpath("templates", name).read_text("utf-8")


def _printed_groups(columns: int, first: int) -> list[range]:
    """The columns of each table if a single table is too wide for paper; the first table has ``first`` measures."""
    starts = [0, *range(first, columns, NEXT_PRINTED)]
    return [range(start, end) for start, end in zip(starts, [*starts[1:], columns], strict=True)]


def _rows(data: Data, board: Leaderboard) -> list[Row]:
    sizes = data.predictions
    chances = board.verdict.probability_best
    rows = []
    for rank, k in enumerate(board.order):
        chance = math.nan if chances is None else float(chances[k])
        rows.append(
            Row(
                rank + 1,
                data.models[k],
                f"{amount(sizes[k])}",
                float(sizes[k]),
                _verdict(board, k, len(data.models)),
                "" if math.isnan(chance) else percent(chance),
                _key(chance),
                [_cell(verdict, k, name in board.judged) for name, verdict in board.verdicts.items()],
            )
        )
    return rows


def _verdict(board: Leaderboard, model: int, models: int) -> str:
    if models == 1:
        return ""
    if np.isnan(board.verdict.estimate[model]):
        return "undefined"
    if model not in board.compared:
        return "not compared"
    if model == board.verdict.best:
        return "best"
    return "not significantly different" if board.verdict.tied[model] else "significantly worse"


def _cell(verdict: ModelVerdict, model: int, judged: bool) -> Cell:  # noqa: FBT001
    value, low, high = (float(part[model]) for part in (verdict.estimate, verdict.low, verdict.high))
    is_best = verdict.best is not None and value == verdict.estimate[verdict.best]
    limits = between(low, high, value) if judged and not math.isnan(low) else ""
    rough = bool(limits) and int(verdict.status[model]) != 0
    text = with_limits(value, low, high)[0] if limits else number(value)
    return Cell(text, _key(value), limits, bool(is_best), bool(judged and verdict.tied[model]), rough)


def _same_cells(data: Data, findings: Findings, pictures: dict[str, list[Picture]]) -> str:
    """The sentence in place of a picture of differences if no difference is significant."""
    drawn = any(picture.name == "difference" for picture in pictures["matrices"])
    if drawn or len(findings.best) < 2 or data.weighted is not None or repeats(data) > 1:
        return ""
    first, other = (short(data.models[k]) for k in findings.best[:2])
    test = "Fisher's exact test" if data.paired is None else "McNemar's exact test on the same samples"
    return f"No cell differs significantly between {first} and {other} ({test}, corrected for all cells)."


def _largest(values: list[float], otherwise: float) -> float:
    return max(values, default=otherwise)


def _key(value: float) -> str:
    """The sort key of a cell; empty for undefined values, which the script sorts last."""
    return "" if math.isnan(value) else repr(float(value))


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120


def pdf_of(page: str) -> bytes:
    """The bytes of a PDF of the page.

    Raises
    ------
    ImportError
        Neither a browser nor WeasyPrint is installed.
    OSError
        The browser did not write the file.
    """
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is not None:
        return _by_browser(browser, page)
    try:
        weasyprint = importlib.import_module("weasyprint")
    except (ImportError, OSError) as error:  # OSError: WeasyPrint lacks a system library
        raise ImportError(
            f"a PDF needs a browser ({', '.join(BROWSERS[:3])}, …) on the path, or WeasyPrint: "
            "python -m pip install weasyprint"
        ) from error
    pdf: bytes = weasyprint.HTML(string=page).write_pdf()
    return pdf


def _by_browser(browser: str, page: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, "utf-8")
        command = [
            browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/profile",
            f"--print-to-pdf={target}",
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # browsers of root refuse the sandbox; the page is trusted
        process = subprocess.run([*command, source.as_uri()], capture_output=True, timeout=SECONDS, check=False)  # noqa: S603
        if not target.exists():
            last = process.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise OSError(f"{Path(browser).name} wrote no PDF: {' '.join(last) or f'exit status {process.returncode}'}")
        return target.read_bytes()
