"""A report as Markdown: the sentences and tables of the page, without pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from matrics.reporting.changes import Changes
from matrics.reporting.data import Data
from matrics.reporting.facts import facts
from matrics.reporting.findings import Findings
from matrics.reporting.wording import between, number, short

__all__ = ["markdown_of"]


def markdown_of(title: str, data: Data, found: Findings, changes: Changes | None) -> str:
    """The text."""
    board = found.leaderboard
    parts = [f"# {_plain(title)}", " · ".join(f"{name}: {_plain(value)}" for name, value in facts(data).items())]
    parts += [_plain(sentence) for sentence in found.summary]
    if changes is not None:
        parts += [f"## Changes since {_plain(changes.since)}", _bullets(changes.sentences)]
    if found.detection is not None:
        told = found.detection
        parts += [
            f"## Detection of {_plain(told.positive)}",
            _table(
                ["model", *told.names],
                [
                    [
                        short(data.models[k]),
                        *(_limited(one.value, one.low, one.high) for one in told.rows[k]),
                    ]
                    for k in board.order
                ],
            ),
        ]
    parts += [
        "## Leaderboard" if len(data.models) > 1 else "## Scores",
        _table(
            ["model", *(verdict.title for verdict in board.verdicts.values())],
            [
                [
                    short(data.models[k]),
                    *(
                        _limited(*(float(part[k]) for part in (one.estimate, one.low, one.high)))
                        + (" =" if len(data.models) > 1 and name in board.judged and one.tied[k] else "")
                        for name, one in board.verdicts.items()
                    ),
                ]
                for k in board.order
            ],
        ),
    ]
    if len(data.models) > 1:
        parts.append("“=” marks values that are the best of the measure or not significantly different from it.")
    parts += ["## Worst classes and most frequent errors", *([_bullets(found.hardest)] if found.hardest else [])]
    for one in found.classes:
        parts += [f"### {_plain(short(one.model))}", _bullets(one.sentences)]
    parts += [
        "## What each measure cannot detect",
        _bullets(f"{one.measure}: {one.summary}" for one in found.blindness),
    ]
    if found.limitations:
        parts.append(_bullets(f"{one.sentence}: {', '.join(one.measures)}." for one in found.limitations))
    if found.scores:
        rows = [
            [
                short(found.scores[k].model),
                _limited(found.scores[k].roc_auc, found.scores[k].low, found.scores[k].high),
                *(
                    _limited(value, *found.scores[k].limits.get(name, (np.nan, np.nan)))
                    for name, value in (
                        ("average_precision", found.scores[k].average_precision),
                        ("log_loss", found.scores[k].log_loss),
                        ("brier_score", found.scores[k].brier_score),
                    )
                ),
            ]
            for k in board.order
        ]
        parts += [
            "## Curves and calibration",
            _table(["model", "ROC AUC", "average precision", "log loss", "Brier score"], rows),
        ]
        parts += [_plain(found.best_area)] if found.best_area else []
    if found.groups:
        parts.append(f"## Groups of {_plain(data.groups.column if data.groups else '')}")
        for group in found.groups:
            rows = [
                [short(row.name), f"{row.samples:,.0f}", f"{number(row.value)} ({row.between})"] for row in group.rows
            ]
            parts += [f"### {_plain(short(group.model))}", _plain(group.sentence)]
            parts.append(_table(["group", "predictions", group.measure], rows))
    words = {"warning": "**Warning:**", "note": "Note:"}
    parts += [
        "## Warnings",
        "\n".join(f"- {words[one.gravity]} {_plain(one.text)}" for one in found.cautions) or "None.",
    ]
    parts += ["## Methods", _plain(found.methods), _bullets(found.references)]
    return "\n\n".join(parts) + "\n"


def _limited(value: float, low: float, high: float) -> str:
    limits = "" if np.isnan(low) or np.isnan(high) else f" ({between(low, high)})"
    return number(value) + limits


def _bullets(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {_plain(sentence)}" for sentence in sentences)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(_plain, row))} |" for row in (head, *rows)]
    lines.insert(1, f"|---{'|--:' * (len(head) - 1)}|")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Text that is no markup."""
    return re.sub(r"([\\*_|<>\[\]$#`])", r"\\\1", text)
