"""What torchmetrics makes of metrics, with metrics of many values: it works, or says what does.

torchmetrics' own metrics have one value each, and some of its wrappers and all of its arithmetic count on that.
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

# Wrappers that take a tensor from compute(), and what does the same for many values.
OF_ONE_VALUE: dict[type, str] = {
    wrappers.ClasswiseWrapper: "compute() names values per class already, by class_names=",
    wrappers.MinMaxMetric: "",
    wrappers.BootStrapper: "matrics.interval(metric.matrix, ...) has limits of every value, without any copies",
    wrappers.MultioutputWrapper: "",
}
# A set of classes and the classes of a parent are compared in C: this is asked of every module of every model.
_WRAPPERS = frozenset(OF_ONE_VALUE)


class ManyValues(torchmetrics.Metric):
    """A metric whose ``compute`` is a dict, but that of one measure alone: then a scalar, or a vector of classes."""

    _measure: str | None = None
    """The measure that the metric is of alone."""

    def _measures(self) -> list[str]:
        """The names of the measures, as they were given."""
        raise NotImplementedError

    def _needs_one(self, what: str) -> str:
        """The sentence for what takes a metric of one value."""
        names = self._measures()
        first = f"metric[{names[0]!r}]"
        others = f" (or another of {', '.join(map(repr, names[1:4]))}{', ...' * (len(names) > 4)})" * (len(names) > 1)
        got = f"a {type(self).__name__}, whose values are a dict"
        return f"{what}: expected a metric of one value, got {got}; pass {first}{others}"


def _operator(name: str) -> Callable[..., Any]:
    theirs = getattr(torchmetrics.Metric, name)

    @functools.wraps(theirs)
    def operator(self: ManyValues, *others: Any) -> Any:
        if self._measure is None:
            hint = "; metric.merge_state(other) adds up the counts of two" if name == "__add__" else ""
            raise TypeError(self._needs_one(name.strip("_")) + hint)
        return theirs(self, *others)

    return operator


for _name in (*OPERATORS, *(f"r{name}" for name in OPERATORS), *UNARY, *ORDER):
    setattr(ManyValues, f"__{_name}__", _operator(f"__{_name}__"))


def _refuse_many_values(parent: torch.nn.Module, _: str, child: Any) -> None:
    """Raise where a wrapper of one value is made of a metric with many.

    PyTorch calls this for every submodule of every module. Most parents are no such wrapper, which takes 0.2
    microseconds to see, beside the one that PyTorch takes to register a submodule. Without it, a ClasswiseWrapper would
    return the names of the values as values, and the others would fail at the end of the first epoch.
    """
    if _WRAPPERS.isdisjoint(type(parent).__mro__):
        return
    inside = child[0] if isinstance(child, torch.nn.ModuleList) and len(child) else child  # copies of one metric
    if isinstance(inside, ManyValues) and inside._measure is None:
        kind = next(kind for kind in OF_ONE_VALUE if isinstance(parent, kind))
        instead = OF_ONE_VALUE[kind]
        raise TypeError(inside._needs_one(kind.__name__) + (f"; {instead}" if instead else ""))


register_module_module_registration_hook(_refuse_many_values)
