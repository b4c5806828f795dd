"""A metric's docstring in numpydoc, composed of its record and its function's docstring, and its signature."""

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
    How the classes' values become one: their plain mean, the measure of the pooled 2×2 table, their mean weighted by
    the true class sizes, the lowest, the highest, their geometric mean, the value of the positive class, or every
    class's own, as does None. Undefined classes are left out unless ``zero_division`` is a number. ``"auto"`` is the
    value of the positive class for two classes and where ``positive`` is given, and otherwise ``"macro"``.
positive : int, optional
    The index of the positive class; the result is then the value of this class. Without it, class 1 of two is
    positive; of a data frame whose two labels are texts neither is, and ``"auto"`` is ``"macro"``."""

_CLASS_WEIGHTS = """
class_weights : array_like, shape (n,), or dict of class to number, optional
    The weight of each class in ``average="weighted"``, the default with it, in place of its true size. Only ratios of
    weights matter. A dictionary is by class name where classes have names, and by index otherwise."""

#: What a matrix in place of a word says, by the kind of the option.
_MATRICES = {
    "agreement": """
    None is "none". A matrix says how far the classes of each cell agree, rows are true classes: 1 on the diagonal, and
    less for worse errors.""",
    "disagreement": """
    None is "none". A matrix says how far the classes of each cell disagree, rows are true classes: 0 on the diagonal,
    and more for worse errors; only the proportions matter.""",
}

#: A name, perhaps with its type, and the lines below it, which are indented.
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
    The shape is not (*B, n, n), or an option is not one of the above.
TypeError
    The cells are not real numbers.
InvalidConfusionMatrix
    A matrix is invalid and ``invalid="raise"``.

Notes
-----
{formula}{remarks}Source: {source}.{examples}
"""


#: What every class measure takes.
OF_AVERAGES = {"average": "auto", "positive": None, "class_weights": None}


def signature_of(metric: Any) -> inspect.Signature:
    """The signature with which a metric is called: its own options are between the arguments of all metrics."""

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
    """Summary, remarks and example as the function has them, the rest from the record."""
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
    """The entry of an option: its type, then what the docstring of the function says of it, then its bounds."""
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
