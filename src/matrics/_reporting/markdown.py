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


def markdown_of(title: str, data: Data, findings: Findings, changes: Changes | None) -> str:
    """The report as Markdown."""
    parts = [f"# {cell(title)}", " · ".join(f"{name}: {cell(value)}" for name, value in facts(data).items())]
    parts += [cell(sentence) for sentence in findings.summary]
    if changes is not None:
        parts += [f"## Changes since {cell(changes.since)}", _bullets(changes.sentences)]
    for section in (_detection, _leaderboard, _classes, _scores, _groups, _measures):
        parts += section(data, findings)
    parts += [
        "## Warnings",
        _bullets_of((WORDS[caution.severity], caution.text) for caution in findings.cautions) or "None.",
    ]
    parts += ["## Methods", _bullets(findings.read), cell(findings.methods), _bullets(findings.references)]
    return "\n\n".join(parts) + "\n"


def _detection(data: Data, findings: Findings) -> Iterator[str]:
    detection = findings.detection
    if detection is None:
        return
    yield f"## Detection of {cell(detection.positive)}"
    rows = {k: [value.text for value in detection.rows[k]] for k in findings.leaderboard.order}
    yield _table(["model", *detection.names], [[short(data.models[k]), *row] for k, row in rows.items()])


def _leaderboard(data: Data, findings: Findings) -> Iterator[str]:
    board, several = findings.leaderboard, len(data.models) > 1
    yield "## Leaderboard" if several else "## Scores"
    rows = []
    for k in board.order:
        row = [short(data.models[k])]
        for name, verdict in board.verdicts.items():
            tied = " =" if several and name in board.judged and verdict.tied[k] else ""
            row.append(Limited(verdict.estimate[k], verdict.low[k], verdict.high[k]).text + tied)
        rows.append(row)
    yield _table(["model", *board.titles(board.verdicts)], rows)
    if several:
        yield "“=” marks the best value of a measure, and values that are not significantly different from it."


def _classes(data: Data, findings: Findings) -> Iterator[str]:  # noqa: ARG001 (all sections have the same arguments)
    if not findings.classes:
        return
    yield "## Worst classes and most frequent errors"
    if findings.hardest:
        yield _bullets(findings.hardest)
    for of_model in findings.classes:
        yield f"### {cell(short(of_model.model))}"
        yield _bullets(of_model.sentences)


def _scores(data: Data, findings: Findings) -> Iterator[str]:  # noqa: ARG001 (all sections have the same arguments)
    if not findings.scores:
        return
    yield "## Curves and calibration"
    rows = []
    for k in findings.leaderboard.order:
        scores = findings.scores[k]
        rows.append([short(scores.model), scores.area.text])
        for name in ("average_precision", "log_loss", "brier_score"):
            rows[-1].append(Limited(getattr(scores, name), *scores.limits.get(name, (math.nan, math.nan))).text)
    yield _table(["model", "ROC AUC", "average precision", "log loss", "Brier score"], rows)
    if findings.best_area:
        yield cell(findings.best_area)


def _groups(data: Data, findings: Findings) -> Iterator[str]:
    if data.groups is None:
        return
    yield f"## Groups by {cell(data.groups.column)}"
    for groups in findings.groups:
        positives = [f"samples of {short(groups.positive)}"] if groups.positive else []
        rows = [
            [
                short(row.name),
                amount(row.samples),
                *([] if row.positives is None else [amount(row.positives)]),
                *(value.text for value in row.values.values()),
            ]
            for row in groups.rows
        ]
        yield f"### {cell(short(groups.model))}"
        yield cell(groups.sentence)
        yield _table(["group", "predictions", *positives, *groups.measures], rows)


def _measures(data: Data, findings: Findings) -> Iterator[str]:  # noqa: ARG001 (all sections have the same arguments)
    yield "## Measures and their limitations"
    yield _bullets(f"{measure.measure}: {measure.summary} {measure.range}" for measure in findings.measures)
    if findings.limitations:
        yield _bullets(
            f"{limitation.sentence}: {', '.join(limitation.measures)}." for limitation in findings.limitations
        )


def _bullets(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {cell(sentence)}" for sentence in sentences)


def _bullets_of(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- {word} {cell(sentence)}" for word, sentence in pairs)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with names in the first column and numbers in the others."""
    return table([*map(cell, head)], ([*map(cell, row)] for row in rows), texts=1)
