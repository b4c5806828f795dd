"""Curves on the screen: a line for each, and a table of some thresholds of a few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from matrics._cli.curve import HIGHER, CurveRun, Shown
from matrics._cli.printing import Column, best_of_columns, fold, marked, show, show_blocks, sort
from matrics._wording import in_percent, number, plain

if TYPE_CHECKING:
    from rich.console import Console

Array = Any

MOST_CURVES = 8  # of more there is only a line each
# Recall values whose thresholds are shown: of several curves, and of a single curve.
FEW = (0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1)
MANY = (*(k / 10 for k in range(1, 9)), 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 1)


def show_curves(console: Console, run: CurveRun, *, every: bool) -> None:
    """Print what does not depend on a threshold, a line for each curve, and then the tables of thresholds."""
    order = _show_facts(console, run)
    if len(order) > MOST_CURVES:
        remark = f"thresholds of more than {MOST_CURVES} curves: --output writes all"
        show(console, Text(), Text(remark, "dim"))
        return
    recalls = () if every else MANY if len(order) == 1 else FEW
    signs, is_part = set(), False
    for position in order:
        found = run.shown(position, recalls)
        is_part |= len(found.thresholds) < found.count
        signs |= _show_thresholds(console, run, found, run.source.name(position) if run.source.keys else "")
    remarks = ["* best of its measure" + ("" if run.thresholds is not None else " at all thresholds")] * ("*" in signs)
    remarks += ["– undefined"] * ("–" in signs) + ["at inf no sample is predicted as positive"] * ("inf" in signs)
    remarks += ["shown: where recall reaches round numbers, and the best"] * is_part
    if remarks:
        show(console, Text(), Text("; ".join(remarks), "dim"))


def _show_facts(console: Console, run: CurveRun) -> list[int]:
    """The positions of the curves in the order of the table."""
    source = run.source
    facts = [run.facts(position) for position in range(source.count)]
    known = [Column(name, "", HIGHER[name]) for name in HIGHER if name in facts[0]]
    values = np.array([[one[column.label] for column in known] for one in facts])
    best = best_of_columns(known, values)
    order, sorting = sort(known, values, ordered=source.in_order)
    columns = [(name, [Text(f"{facts[k][name]:,}") for k in order]) for name in ("samples", "positives")]
    for i, column in enumerate(known):
        cells = [marked(values[k, i], best=bool(best[k, i])) for k in order]
        columns.append((fold(column.label, 12), cells))
        ends = [[number(facts[k][f"{column.label}/{end}"]) for end in ("low", "high")] for k in order]
        columns.append((f"{in_percent(run.level)} limits", [Text(f"[{low}, {high}]") for low, high in ends]))
    names = [source.name(k) if source.keys else source.sides[1] for k in order]
    show_blocks(console, source.heading if source.keys else "positive", [Text(plain(name)) for name in names], columns)
    marks = ["* best of its measure"] * bool(best.any()) + ["– undefined"] * bool(np.isnan(values).any())
    notes = "; ".join([*marks, *([sorting] if sorting else [])])
    if notes and source.keys:
        show(console, Text(), Text(notes, "dim"))
    return order


def _show_thresholds(console: Console, run: CurveRun, found: Shown, name: str) -> set[str]:
    """Print the table of a curve, and return the signs in it that need a word."""
    show(console, Text(), *([Text(plain(name), "bold")] if name else []))
    head = [Text(text) for text in _told_apart(found.thresholds)]
    columns = [
        (
            fold(column.label),
            [marked(x, best=bool(b)) for x, b in zip(found.values[:, k], found.best[:, k], strict=True)],
        )
        for k, column in enumerate(run.columns)
    ]
    show_blocks(console, "threshold", head, columns)
    signs = {"*": found.best.any(), "–": np.isnan(found.values).any(), "inf": np.isinf(found.thresholds).any()}
    return {sign for sign, is_there in signs.items() if is_there}


def _told_apart(thresholds: Array) -> list[str]:
    """Format thresholds with four digits, or as many as distinguish them from their neighbours."""
    texts = [f"{x:.4g}" for x in thresholds]
    for digits in range(5, 18):
        same = {k for k in range(1, len(texts)) if texts[k] == texts[k - 1] and thresholds[k] != thresholds[k - 1]}
        if not same:
            break
        for k in same | {k - 1 for k in same}:
            texts[k] = f"{thresholds[k]:.{digits}g}"
    return texts
