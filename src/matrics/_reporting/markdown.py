"""A report as Markdown: the sentences and tables of the page, without pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from matrics._reporting.changes import Changes
from matrics._reporting.data import Data
from matrics._reporting.findings import Findings, facts
from matrics._reporting.verdicts import Limited
from matrics._tables.markdown import cell, table
from matrics._wording import amount, short

__all__ = ["markdown_of"]

WORDS = {"warning": "**Warning:**", "note": "Note:"}


def markdown_of(title: str, data: Data, found: Findings, changes: Changes | None) -> str:
    """The text."""
    parts = [f"# {cell(title)}", " · ".join(f"{name}: {cell(value)}" for name, value in facts(data).items())]
    parts += [cell(sentence) for sentence in found.summary]
    if changes is not None:
        parts += [f"## Changes since {cell(changes.since)}", _bullets(changes.sentences)]
    for section in (_detection, _leaderboard, _classes, _scores, _groups, _measures):
        parts += section(data, found)
    parts += ["## Warnings", _bullets_of((WORDS[one.gravity], one.text) for one in found.cautions) or "None."]
    parts += ["## Methods", _bullets(found.read), cell(found.methods), _bullets(found.references)]
    return "\n\n".join(parts) + "\n"


def _detection(data: Data, found: Findings) -> Iterator[str]:
    told = found.detection
    if told is None:
        return
    yield f"## Detection of {cell(told.positive)}"
    rows = {k: [one.text for one in told.rows[k]] for k in found.leaderboard.order}
    yield _table(["model", *told.names], [[short(data.models[k]), *row] for k, row in rows.items()])


def _leaderboard(data: Data, found: Findings) -> Iterator[str]:
    board, several = found.leaderboard, len(data.models) > 1
    yield "## Leaderboard" if several else "## Scores"
    rows = []
    for k in board.order:
        row = [short(data.models[k])]
        for name, one in board.verdicts.items():
            tied = " =" if several and name in board.judged and one.tied[k] else ""
            row.append(Limited(one.estimate[k], one.low[k], one.high[k]).text + tied)
        rows.append(row)
    yield _table(["model", *board.titles(board.verdicts)], rows)
    if several:
        yield "“=” marks values that are the best of the measure or not significantly different from it."


def _classes(data: Data, found: Findings) -> Iterator[str]:  # noqa: ARG001 (as of the other sections)
    if not found.classes:
        return
    yield "## Worst classes and most frequent errors"
    if found.hardest:
        yield _bullets(found.hardest)
    for one in found.classes:
        yield f"### {cell(short(one.model))}"
        yield _bullets(one.sentences)


def _scores(data: Data, found: Findings) -> Iterator[str]:  # noqa: ARG001 (as of the other sections)
    if not found.scores:
        return
    yield "## Curves and calibration"
    rows = []
    for k in found.leaderboard.order:
        one = found.scores[k]
        rows.append([short(one.model), one.area.text])
        for name in ("average_precision", "log_loss", "brier_score"):
            rows[-1].append(Limited(getattr(one, name), *one.limits.get(name, (math.nan, math.nan))).text)
    yield _table(["model", "ROC AUC", "average precision", "log loss", "Brier score"], rows)
    if found.best_area:
        yield cell(found.best_area)


def _groups(data: Data, found: Findings) -> Iterator[str]:
    if data.groups is None:
        return
    yield f"## Groups of {cell(data.groups.column)}"
    for one in found.groups:
        positives = [f"samples of {short(one.positive)}"] if one.positive else []
        rows = [
            [
                short(row.name),
                amount(row.samples),
                *([] if row.positives is None else [amount(row.positives)]),
                *(value.text for value in row.values.values()),
            ]
            for row in one.rows
        ]
        yield f"### {cell(short(one.model))}"
        yield cell(one.sentence)
        yield _table(["group", "predictions", *positives, *one.measures], rows)


def _measures(data: Data, found: Findings) -> Iterator[str]:  # noqa: ARG001 (as of the other sections)
    yield "## Measures and their limitations"
    yield _bullets(f"{one.measure}: {one.summary} {one.range}" for one in found.blindness)
    if found.limitations:
        yield _bullets(f"{one.sentence}: {', '.join(one.measures)}." for one in found.limitations)


def _bullets(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {cell(sentence)}" for sentence in sentences)


def _bullets_of(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- {word} {cell(sentence)}" for word, sentence in pairs)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column has names, and the others numbers."""
    return table([*map(cell, head)], ([*map(cell, row)] for row in rows), texts=1)
