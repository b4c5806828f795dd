"""Best thresholds on the screen: the thresholds with their limits and matrices, and the measures there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from matrics._cli.interval_report import show_statuses, sign_of
from matrics._cli.printing import fold, marked, show, show_blocks, show_scores
from matrics._wording import number, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from matrics import Interval
    from matrics._cli.threshold import Best, ThresholdRun


def show_thresholds(console: Console, run: ThresholdRun) -> None:
    """Print a line for each curve, best first, the measures at these thresholds, and what to be wary of."""
    source, found = run.source, run.found
    values = np.array([float(one.value.estimate) for one in found])
    sign = 1 if run.wanted.lowest_is_best else -1
    order = range(len(found)) if source.in_order else np.argsort(sign * values, stable=True).tolist()
    rows = [found[k] for k in order]
    goal = fold(run.wanted.name)
    columns = [
        ("threshold", [Text(_limits(one.threshold, "{:.4g}".format)) for one in rows]),
        (f"{goal}\non new samples", [Text(_limits(one.value, number) + _sign(one)) for one in rows]),
        (f"{goal}\non these", [marked(one.here) for one in rows]),
    ]
    for k, name in enumerate(("tn", "fp", "fn", "tp")):
        columns.append((name, [Text("–" if one.reason else f"{one.matrix.flat[k]:,}") for one in rows]))
    names = [source.name(k) if source.keys else source.sides[1] for k in order]
    heading = source.heading if source.keys else "positive"
    if not run.wanted.sure.num:
        columns.pop(1)
    show_blocks(console, heading, [Text(plain(name)) for name in names], columns)
    reasons = [(name, one.reason) for name, one in zip(names, rows, strict=True) if one.reason]
    if reasons:
        show(console, Text(), *(Text(plain(f"– {name}: {reason}")) for name, reason in reasons))
    statuses = Counter(int(one.value.status) for one in rows if not one.reason)
    show_statuses(console, statuses, signs=True)
    show(console, Text(), Text(f"at {'these thresholds' if source.keys else 'this threshold'}:"), Text())
    show_scores(console, run.columns, run.scores[list(order)], names, heading, ordered=True)


def _limits(found: Interval, written: Callable[[float], str]) -> str:
    if np.isnan(found.estimate):
        return "–"
    value = written(float(found.estimate))
    return value if np.isnan(found.low) else f"{value} [{written(float(found.low))}, {written(float(found.high))}]"


def _sign(one: Best) -> str:
    return " " if one.reason else sign_of(one.value.status)
