"""A metric's docstring in numpydoc, put together from its record and what its function says."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matrics.metrics.catalogue import Metric, Option

_AVERAGE = '''average : {"macro", "micro", "weighted", "binary"} or None, default "macro"
    How the classes' values become one: their plain mean, the measure of the pooled 2×2 table, their mean weighted by
    the true class sizes, the value of class ``pos_label`` of two, or every class's own. Undefined classes are left
    out of means unless ``zero_division`` is a number.
pos_label : {1, 0}
    The class that counts as positive under ``average="binary"``.
'''


def compose(metric: Metric) -> str:
    """Summary, remarks and example as the function has them, the rest from the record."""
    own = inspect.getdoc(metric.function) or ""
    text, _, examples = own.partition("Examples\n--------\n")
    summary, _, remarks = text.strip().partition("\n\n")
    averaged = metric.kind == "per_class"
    shape = "array, shape (*B,), or (*B, n) for ``average=None``" if averaged else "array, shape (*B,)"
    low, high = metric.range
    parts = [
        summary,
        "Parameters\n----------\n"
        "cm : array_like, shape (*B, n, n)\n"
        "    Counts or soft counts; rows are true classes, columns predicted ones. NumPy, PyTorch, JAX, …\n"
        + (_AVERAGE if averaged else "")
        + "".join(_option(option) for option in metric.options)
        + "zero_division : float, default NaN\n"
        "    The value where the measure is undefined.\n"
        'invalid : {"warn", "raise", "nan"}\n'
        "    What to do about matrices with a negative, NaN or infinite cell; they alone are NaN in any case.",
        f"Returns\n-------\n{shape}\n"
        f"    In [{low:.5g}, {high:.5g}]. Undefined: {metric.undefined}.",
        "Raises\n------\n"
        "ValueError\n    The shape is not (*B, n, n), or an option is not one of the above.\n"
        "TypeError\n    The cells are not real numbers.\n"
        'InvalidConfusionMatrix\n    A matrix is invalid and ``invalid="raise"``.',
        "Notes\n-----\n"
        f".. math:: {metric.formula}\n\n" + (f"{remarks.strip()}\n\n" if remarks.strip() else "") + f"Source: {metric.source}.",
        f"Examples\n--------\n{examples.strip()}",
    ]
    return "\n\n".join(parts) + "\n"


def _option(option: Option) -> str:
    if option.choices:
        choices = ", ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in option.choices)
        return f"{option.name} : {{{choices}}}\n    The first is the default.\n"
    return f"{option.name} : float, default {option.default:.5g}\n    A number above {option.above:g}.\n"
