"""The call of Python that makes a report, for readers who want its pictures and numbers."""

from __future__ import annotations

from typing import Any

from matrics.reporting.by_model import are_labels
from matrics.reporting.data import ReportColumns
from matrics.reporting.leaderboard import IntervalSettings

__all__ = ["call_of"]


def call_of(source: str, wanted: ReportColumns, metrics: Any, manner: IntervalSettings) -> str:
    """The text of the call, with the options that are not the defaults; ``source`` is a path or a name of data."""
    by = list(wanted.by)
    scores = dict(wanted.y_score)
    given = {
        "by": by[0] if len(by) == 1 else by or None,
        # Labels themselves, and not the name of their column, are called by the name of the argument.
        "y_true": None if _is_name(wanted.y_true) and wanted.y_true == "y_true" else wanted.y_true,
        "y_pred": None if wanted.y_pred == "y_pred" else wanted.y_pred,
        "paired_on": wanted.paired_on,
        "groups": wanted.groups,
        "y_score": scores[None] if None in scores else scores or None,
        "positive": wanted.positive,
        "sample_weight": wanted.sample_weight,
        "metrics": metrics if metrics is None or isinstance(metrics, str) else [str(one) for one in _several(metrics)],
        "level": None if manner.level == 0.95 else manner.level,
        "num": manner.num,
        "rng": manner.seed or None,
    }
    options = ", ".join(
        f"{name}={value!r}" if name != "y_true" or _is_name(value) else "y_true=y_true"
        for name, value in given.items()
        if value is not None
    )
    return f"matrics.report({source}{', ' if options else ''}{options})"


def _is_name(value: Any) -> bool:
    return not are_labels(value)


def _several(metrics: Any) -> list[Any]:
    return [metrics] if not isinstance(metrics, (list, tuple, set, frozenset)) else list(metrics)
