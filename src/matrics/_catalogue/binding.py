"""The function of a table that computes a metric: the formula with the options, the average and the classes.

Metrics have the type Any here, because ``record`` imports this module.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from matrics._arrays import Array, is_compiling
from matrics._catalogue import averages, weights
from matrics._catalogue.classes import Classes
from matrics._catalogue.functions import called_with, checked_values
from matrics._engine.evaluation import TableFunction
from matrics._engine.table import Table


def bound(metric: Any) -> TableFunction:
    """The function that computes a metric, whose required options are all set, from a table."""
    kinds = [type(value) for _, value in metric.fixed]
    by_class = metric.classes or metric.class_weights or tuple in kinds or weights.TracedMatrix in kinds
    if by_class or (metric._averaged and metric.average in (None, "binary")):
        return _by_number_of_classes(metric)
    return _of_resolved(metric)


def _by_number_of_classes(metric: Any) -> TableFunction:
    """A function that resolves the average and the classes for the number of classes, which only the table has."""
    known: dict[int, TableFunction] = {}  # a stack has many tables, and metrics are called repeatedly

    def resolved(table: Table) -> Array:
        if is_compiling():  # changes of the dictionary would cause another compilation
            return _of_resolved(metric.resolved_for(Classes(table.n)))(table)
        function = known.get(table.n)
        if function is None:
            function = known[table.n] = _of_resolved(metric.resolved_for(Classes(table.n)))
        return function(table)

    return resolved


def _of_resolved(metric: Any) -> TableFunction:
    """The function of a metric whose average and classes are known."""
    function = _averaged(metric)
    if metric.is_own or not metric.scale_free:
        return function
    return lambda table: function(table.of_normal_counts)


def _averaged(metric: Any) -> TableFunction:
    function, keywords = metric.function, {option: weights.plain(value) for option, value in metric.fixed}
    name, is_classwise = metric.name, metric._averaged

    def checked(table: Table) -> Array:
        values = function(table, **keywords) if is_compiling() else called_with(function, table, keywords, name)
        return checked_values(values, table, name, is_classwise=is_classwise)

    measure = checked if metric.is_own else functools.partial(function, **keywords) if keywords else function
    if metric.kind == "overall":
        return measure if metric.average is None else averages.one_vs_rest(measure, metric.classes)
    unbounded = math.inf in (metric.range[1], -metric.range[0])
    average_name = metric.average or "macro"
    class_weights = weights.plain(metric.class_weights)
    return averages.average(measure, average_name, metric.classes, class_weights, unbounded=unbounded)
