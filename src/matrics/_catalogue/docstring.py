"""A metric's docstring in numpydoc, composed of its record and its function's docstring."""

from __future__ import annotations

import inspect
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

_MATRIX = """ None is "none". A matrix says how bad it is that a sample of one
    class (row) is predicted as another (column): 0 on the diagonal, as full agreement, and larger for worse errors."""

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


def compose(metric: Any) -> str:
    """Summary, remarks and example as the function has them, the rest from the record."""
    text, _, examples = (inspect.getdoc(metric.function) or "").partition("Examples\n--------\n")
    summary, _, remarks = text.strip().partition("\n\n")
    averaged = metric.kind == "per_class"
    low, high = metric.range
    return _DOCSTRING.format(
        summary=summary,
        average=(_AVERAGE + _CLASS_WEIGHTS) if averaged else "",
        options="".join(_option(option) for option in metric.options),
        shape="array, shape (*B,), or (*B, n) for ``average=None``" if averaged else "array, shape (*B,)",
        low=low,
        high=high,
        undefined=metric.undefined,
        formula=f".. math:: {metric.formula}\n\n" if metric.formula else "",
        remarks=f"{remarks.strip()}\n\n" if remarks.strip() else "",
        source=metric.source,
        examples=f"\n\nExamples\n--------\n{examples.strip()}" if examples.strip() else "",
    )


def _option(option: Option) -> str:
    if option.choices:
        choices = ", ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in option.choices)
        matrix = " or array_like, shape (n, n)" if option.matrix else ""
        return f"\n{option.name} : {{{choices}}}{matrix}\n    The first is the default." + (_MATRIX if matrix else "")
    if option.matrix:
        return f"\n{option.name} : array_like, shape (n, n)\n    {weights.in_words(option.matrix).capitalize()}."
    if option.is_odds:
        return f"\n{option.name} : float\n    {option.bounds.capitalize()}; required: the odds of the threshold."
    return f"\n{option.name} : float, default {option.default:.5g}\n    {option.bounds.capitalize()}."
