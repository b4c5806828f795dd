"""The call of Python that makes a report, for readers who want its pictures and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric
from matrics._reporting.by_model import are_labels
from matrics._reporting.data import ReportColumns
from matrics._reporting.leaderboard import IntervalSettings

__all__ = ["call_of"]


def call_of(
    source: str, wanted: ReportColumns, metrics: Any, manner: IntervalSettings, class_names: Sequence[str] | None
) -> str:
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
        "y_score": scores.get(None, scores or None),
        "positive": wanted.positive.item() if hasattr(wanted.positive, "item") else wanted.positive,
        "sample_weight": wanted.sample_weight,
        "metrics": metrics if metrics is None or isinstance(metrics, str) else _Measures(metrics),
        "class_names": None if class_names is None else list(class_names),
        "level": None if manner.level == 0.95 else manner.level,
        "num": manner.num,
        "rng": manner.seed or None,
    }
    texts = {
        name: repr(value) if name != "y_true" or _is_name(value) else name
        for name, value in given.items()
        if value is not None
    }
    options = ", ".join(f"{name}={text}" for name, text in texts.items())
    return f"matrics.report({source}{', ' if options else ''}{options})"


def _is_name(value: Any) -> bool:
    return not are_labels(value)


class _Measures:
    """Several measures as they are written in a call: their specs, and the names of those that are not registered."""

    def __init__(self, metrics: Any) -> None:
        self.metrics = [metrics] if isinstance(metrics, Metric) else list(metrics)

    def __repr__(self) -> str:
        return f"[{', '.join(map(self._written, self.metrics))}]"

    @staticmethod
    def _written(one: Any) -> str:
        try:
            get_metric(str(one))
        except ValueError:
            return str(one)
        return repr(str(one))
