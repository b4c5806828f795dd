"""JSON and CSV of results, whose text comes from files and may have characters that control a terminal."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any

BEYOND_ASCII = re.compile("[^\n -~]")


def json_text(document: Any) -> str:
    """A document as JSON, with escapes for all characters that cannot be printed."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return BEYOND_ASCII.sub(lambda match: _escaped(match[0]), text)


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV, whose lines end with a line feed.

    A cell with a carriage return is in quotes, as Python quotes cells with a character of its line end.
    """
    lines = []
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\r\n").writerow(row)
        lines.append(line.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)
