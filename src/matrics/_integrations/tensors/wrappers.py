"""Metrics of many values in wrappers and arithmetic of torchmetrics: they work, or raise an error with an alternative.

The metrics of torchmetrics have a single value each, which some wrappers and all arithmetic assume.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torchmetrics
from torch.nn.modules.module import register_module_module_registration_hook
from torchmetrics import wrappers

OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
UNARY = ("abs", "inv", "invert", "neg", "pos")
ORDER = ("lt", "le", "gt", "ge")

# Wrappers that need a tensor from compute(), and the alternative for many values.
SINGLE_VALUE_WRAPPERS: dict[type, str] = {
    wrappers.ClasswiseWrapper: "compute() names values per class already, by class_names=",
    wrappers.MinMaxMetric: "",
    wrappers.BootStrapper: "matrics.interval(metric.matrix, ...) has limits of every value, without any copies",
    wrappers.MultioutputWrapper: "",
}
# A set, as PyTorch calls the check for every module of every model.
_WRAPPERS = frozenset(SINGLE_VALUE_WRAPPERS)


class ManyValues(torchmetrics.Metric):
    """A metric whose ``compute`` returns a dict, or a scalar or a vector for a single measure."""

    _measure: str | None = None
    """The measure of a metric of a single measure."""

    def _measures(self) -> list[str]:
        """The names of the measures, as the user gave them."""
        raise NotImplementedError

    def _single_value_message(self, what: str) -> str:
        """The message for an operation that needs a metric of a single value."""
        names = self._measures()
        first = f"metric[{names[0]!r}]"
        others = f" (or another of {', '.join(map(repr, names[1:4]))}{', ...' * (len(names) > 4)})" * (len(names) > 1)
        got = f"a {type(self).__name__}, whose values are a dict"
        return f"{what}: expected a metric of a single value, got {got}; pass {first}{others}"


def _operator(name: str) -> Callable[..., Any]:
    theirs = getattr(torchmetrics.Metric, name)

    @functools.wraps(theirs)
    def operator(self: ManyValues, *others: Any) -> Any:
        if self._measure is None:
            hint = "; metric.merge_state(other) adds up the counts of two" if name == "__add__" else ""
            raise TypeError(self._single_value_message(name.strip("_")) + hint)
        return theirs(self, *others)

    return operator


for _name in (*OPERATORS, *(f"r{name}" for name in OPERATORS), *UNARY, *ORDER):
    setattr(ManyValues, f"__{_name}__", _operator(f"__{_name}__"))


def _refuse_many_values(parent: torch.nn.Module, _: str, child: Any) -> None:
    """Raise an error if a wrapper for a single value gets a metric of many values.

    PyTorch calls this for every submodule of every module. The check of the parent takes 0.2 microseconds, while the
    registration of a submodule takes about a microsecond. Without the check, a ClasswiseWrapper would return the names
    of the values as values, and other wrappers would fail at the end of the first epoch.
    """
    if _WRAPPERS.isdisjoint(type(parent).__mro__):
        return
    inside = child[0] if isinstance(child, torch.nn.ModuleList) and len(child) else child  # copies of the same metric
    if isinstance(inside, ManyValues) and inside._measure is None:
        kind = next(kind for kind in SINGLE_VALUE_WRAPPERS if isinstance(parent, kind))
        instead = SINGLE_VALUE_WRAPPERS[kind]
        raise TypeError(inside._single_value_message(kind.__name__) + (f"; {instead}" if instead else ""))


register_module_module_registration_hook(_refuse_many_values)
