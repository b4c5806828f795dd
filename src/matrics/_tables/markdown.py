"""Tables and text in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from matrics._wording import plain

__all__ = ["cell", "escape", "table"]


def escape(text: str) -> str:
    r"""Text with escaped markup; text between double backticks remains code.

    >>> print(escape("``mcc`` of a*b"))
    `mcc` of a\*b
    """
    pieces = text.split("``")
    return "`".join(re.sub(r"([\\*_|<>\[\]$#])", r"\\\1", p) if i % 2 == 0 else p for i, p in enumerate(pieces))


def cell(text: str) -> str:
    r"""Any text in a single line without markup, such as for a cell.

    >>> print(cell("a|b & `c`"))
    a\|b \& \`c\`
    """
    text = re.sub(r"([\\*_|<>\[\]$#`&~])", r"\\\1", plain(re.sub(r"[\r\n]+", " ", text), keep="\u00a0"))
    return re.sub(r"^(\d+)([.)])(?=\s)|^([-+])(?=\s)", r"\1\\\2\3", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int | None = None) -> str:
    """A table of cells; all columns after the first ``texts`` columns are aligned right, as numbers.

    >>> print(table(["measure", "value"], [["mcc", "0.500"]], texts=1))
    | measure | value |
    | --- | --: |
    | mcc | 0.500 |
    """
    texts = len(head) if texts is None else texts
    rule = ["---"] * texts + ["--:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])
