"""The public functions, by the names that follow ``matrics.``: ``score``, ``ranking.roc_auc``."""

from __future__ import annotations

import inspect
from typing import Any

import matrics

#: What needs no other library.
MODULES = matrics._MODULES


def functions() -> dict[str, Any]:
    """Of the package and of its modules, without those of adapters, pictures, loggers and logs."""
    found = {name: getattr(matrics, name) for name in matrics.__all__ if name not in matrics._ADAPTERS}
    for module in set(MODULES) - {"evals", "loggers", "plot", "testing", "typing"}:
        names = getattr(matrics, module).__all__
        found |= {f"{module}.{name}": getattr(getattr(matrics, module), name) for name in names}
    return {name: function for name, function in found.items() if inspect.isfunction(function)}


def of_scores(name: str) -> Any:
    """A function of scores or of probabilities, by its name alone."""
    return getattr(matrics.ranking, name, None) or getattr(matrics.probabilities, name)
