"""The docstring of a metric, from its record and the docstring of its function, and its signature."""

from __future__ import annotations

import inspect
import math
import re
from typing import TYPE_CHECKING, Any

from matrics._catalogue import weights

if TYPE_CHECKING:
    from matrics._catalogue.options import Option

_AVERAGE = """
average : {"auto", "macro", "micro", "weighted", "min", "max", "geometric", "binary", "class"} or None, default "auto"
    The average over classes: the mean, the value of the pooled 2×2 table, the mean weighted by the true class
    sizes, the lowest value, the highest, the geometric mean, the value of the positive class, or a value for each
    class (also with None). Undefined classes are left out unless ``zero_division`` is a number. ``"auto"`` is the
    value of the positive class for two classes and where ``positive`` is given, and otherwise ``"macro"``.
positive : int, optional
    The index of the positive class; the result is then the value of this class. Without it, class 1 of two is
    positive. In a data frame with two text labels no class is positive by default, and ``"auto"`` is ``"macro"``."""

_CLASS_WEIGHTS = """
class_weights : array_like, shape (n,), or dict of class to number, optional
    The weight of each class in ``average="weighted"``, the default with it, in place of its true size. Only ratios of
    weights matter. A dictionary is by class name where classes have names, and by index otherwise."""

#: The meaning of a matrix in place of a word, by the kind of the option.
_MATRICES = {
    "agreement": """
    None is "none". A matrix has the agreement of the classes of each cell, with true classes in rows: 1 on the
    diagonal, and less for worse errors.""",
    "disagreement": """
    None is "none". A matrix has the disagreement of the classes of each cell, with true classes in rows: 0 on the
    diagonal, and more for worse errors; only the proportions matter.""",
}

#: A parameter name, optionally with a type, and its indented description.
_ENTRY = r"^(\w+).*\n((?:    .*\n?)+)"

_DOCSTRING = """{summary}

Parameters
----------
cm : array_like, shape (*B, n, n)
    Counts or soft counts; rows are true classes, columns predicted ones. NumPy, PyTorch, JAX, …{average}{options}
zero_division : float, default NaN
    The value if the measure is undefined.
invalid : {{"warn", "raise", "nan"}}
    What to do about matrices with a negative, NaN or infinite cell; only their values are NaN in any case.

Returns
-------
{shape}
    In [{low:.5g}, {high:.5g}]. Undefined: {undefined}.

Raises
------
ValueError
    The shape is not (*B, n, n), or an option has another value.
TypeError
    The cells are not real numbers.
InvalidConfusionMatrix
    A matrix is invalid and ``invalid="raise"``.

Notes
-----
{formula}{remarks}Source: {source}.{examples}
"""


#: The arguments of every class measure, with their defaults.
OF_AVERAGES = {"average": "auto", "positive": None, "class_weights": None}


def signature_of(metric: Any) -> inspect.Signature:
    """The signature of a call of a metric: its options are between the arguments that all metrics have."""

    def keyword(name: str, default: Any) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)

    return inspect.Signature(
        [
            inspect.Parameter("cm", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *([keyword(*each) for each in OF_AVERAGES.items()] if metric.kind == "per_class" else []),
            *(keyword(option.name, option.default) for option in metric.options),
            keyword("zero_division", math.nan),
            keyword("invalid", "warn"),
        ]
    )


def compose(metric: Any) -> str:
    """The docstring: summary, remarks and example from the function, and the rest from the record."""
    text, _, examples = (inspect.getdoc(metric.function) or "").partition("Examples\n--------\n")
    text, _, of_options = text.partition("Parameters\n----------\n")
    summary, _, remarks = text.strip().partition("\n\n")
    meanings = {name: meaning.rstrip() for name, meaning in re.findall(_ENTRY, of_options, re.MULTILINE)}
    averaged = metric.kind == "per_class"
    low, high = metric.range
    return _DOCSTRING.format(
        summary=summary,
        average=(_AVERAGE + _CLASS_WEIGHTS) if averaged else "",
        options="".join(_option(option, meanings.get(option.name, "")) for option in metric.options),
        shape="array, shape (*B,), or (*B, n) for ``average=None``" if averaged else "array, shape (*B,)",
        low=low,
        high=high,
        undefined=metric.undefined,
        formula=f".. math:: {metric.formula}\n\n" if metric.formula else "",
        remarks=f"{remarks.strip()}\n\n" if remarks.strip() else "",
        source=metric.source,
        examples=f"\n\nExamples\n--------\n{examples.strip()}" if examples.strip() else "",
    )


def _option(option: Option, meaning: str) -> str:
    """The entry of an option: its type, its meaning from the docstring of the function, and its bounds."""
    if option.choices:
        words = ", ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in option.choices)
        is_bool = isinstance(option.default, bool)
        kind = f"bool, default {option.default}" if is_bool else f"{{{words}}}"
        matrix = " or array_like, shape (n, n)" if option.matrix else ""
        text = meaning or ("    True or False." if is_bool else "    The first is the default.")
        of_matrix = _MATRICES[option.matrix.removeprefix("symmetric ")] if matrix else ""
        return f"\n{option.name} : {kind}{matrix}\n{text}{of_matrix}"
    if option.matrix:
        kind, bounds = "array_like, shape (n, n)", weights.in_words(option.matrix)
    elif option.is_odds:
        kind, bounds = "float", f"{option.bounds}; required: the odds of the threshold"
    else:
        kind, bounds = f"float, default {option.default:.5g}", option.bounds
    above = f"{meaning}\n" if meaning else ""
    return f"\n{option.name} : {kind}\n{above}    {bounds.capitalize()}."
