"""Tables for papers: LaTeX with the rules of booktabs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matrics._tables.table import Axes, Measure, axis_columns, read_measures
from matrics._wording import UNDEFINED, limits

__all__ = ["to_latex"]

# Characters with a meaning in LaTeX.
SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
SPECIAL |= {"∞": r"$\infty$"}
SPECIAL |= {letter: f"\\{letter}" for letter in "&%$#_{}"}
SPECIAL |= {"<": "$<$", ">": "$>$", "|": "$|$", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}"}


def escape(text: str) -> str:
    r"""Text with escaped special characters, which LaTeX prints unchanged.

    >>> print(escape("R&D: 5 % of_all"))
    R\&D: 5 \% of\_all
    """
    return "".join(SPECIAL.get(letter, letter) for letter in _in_line(text))


def with_limits(value: float, low: float = math.nan, high: float = math.nan) -> str:
    """A number with its limits in brackets, if it has limits.

    >>> with_limits(-0.25), with_limits(0.5, 0.4, 0.6), with_limits(float("nan"))
    ('$-$0.250', '0.500 [0.400, 0.600]', '--')
    """
    return "--" if math.isnan(value) else number(limits(value, low, high))


def number(text: str) -> str:
    """The text of a number, possibly with limits, in LaTeX."""
    return escape(text) if text == UNDEFINED else escape(text).replace("-", "$-$")


def comment(text: str) -> str:
    """A comment, which LaTeX ignores."""
    return f"% {_in_line(text)}"


def _in_line(text: str) -> str:
    """Text without line breaks and other control characters, which would end a cell or a comment."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def tabular(head: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int, rules: Sequence[int] = ()) -> str:
    """A table of cells in LaTeX; the first ``texts`` columns are texts, and a rule precedes the rows ``rules``."""
    columns = "l" * texts + "r" * (len(head) - texts)
    body = [line for k, row in enumerate(rows) for line in [r"\midrule"] * (k in rules) + [_line(row)]]
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", _line(head), r"\midrule", *body, r"\bottomrule", end])


def _line(cells: Sequence[str]) -> str:
    # LaTeX would read a bracket or a star at the start of a line as an option of the line end before it.
    guard = "{}" if cells[0].startswith(("[", "*")) else ""
    return guard + " & ".join(cells) + r" \\"


def to_latex(scores: Mapping[str, Any], *, axes: Axes | None = None, class_names: Sequence[str] | None = None) -> str:
    r"""Scores, intervals or comparisons as a table in LaTeX, for papers.

    Parameters
    ----------
    scores : dict of str to array, Interval, Comparison or ModelComparison
        What :func:`matrics.score` returns: values (*B,), or (*B, n) for measures of every class; or what
        :func:`matrics.interval`, :func:`matrics.compare` or :func:`matrics.compare_paired` returns. For results of
        :func:`matrics.compare_models` and :func:`matrics.ranking.compare`, the table contains the intervals of the
        models, and rows have the names of the models.
    axes : sequence of str, or mapping of str to labels, optional
        The name of each axis of B, or names with the labels along them: ``{"model": ["a", "b"], "fold":
        range(5)}``. Each is a column; ``index_0``, ``index_1``, … with the positions if left out.
    class_names : sequence of str, optional
        Names of the classes, in their order, for the columns of measures of every class (``recall of cat``); their
        numbers if left out.

    Returns
    -------
    str
        A ``tabular`` with the rules of the package booktabs. A single matrix has a row for each measure; a stack has a
        row for each matrix, and a column for each measure. Numbers have as many digits as their limits (in brackets)
        justify, and at least three decimals. Special characters in names are escaped.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.to_frame`.

    Examples
    --------
    >>> import matrics
    >>> stack = [[[45, 5], [5, 45]], [[50, 0], [10, 40]]]
    >>> print(matrics.to_latex(matrics.interval(stack, "mcc"), axes={"model": ["tree", "net_2"]}))
    \begin{tabular}{lr}
    \toprule
    model & mcc \\
    \midrule
    tree & 0.800 [0.640, 0.889] \\
    net\_2 & 0.816 [0.681, 0.896] \\
    \bottomrule
    \end{tabular}
    >>> print(matrics.to_latex(matrics.score(stack[0], "mcc, recall:class"), class_names=["cat", "dog"]))
    \begin{tabular}{lr}
    \toprule
    measure & value \\
    \midrule
    mcc & 0.800 \\
    recall of cat & 0.900 \\
    recall of dog & 0.900 \\
    \bottomrule
    \end{tabular}
    """
    scores, axes = _of_models(scores, axes)
    measures, batch = read_measures(scores, class_names)
    columns = dict(column for measure in measures for column in _cells(measure))
    if not batch:
        return tabular(["measure", "value"], [[name, cells[0]] for name, cells in columns.items()], texts=1)
    labels = {str(name): list(map(str, of_rows)) for name, of_rows in axis_columns(axes, batch, None).items()}
    named = [[escape(text) for text in texts] for texts in labels.values()]
    rows = [list(row) for row in zip(*named, *columns.values(), strict=True)]
    return tabular([*map(escape, labels), *columns], rows, texts=len(labels))


def _of_models(scores: Any, axes: Axes | None) -> tuple[Any, Axes | None]:
    """The intervals and the names of models if the scores are comparisons of models; else the arguments."""
    if not isinstance(scores, Mapping) or not all(hasattr(value, "intervals") for value in scores.values()):
        return scores, axes
    names = next((value.names for value in scores.values()), None)
    axes = {"model": names} if axes is None and names is not None else axes
    return {name: value.intervals for name, value in scores.items()}, axes


def _cells(measure: Measure) -> Iterator[tuple[str, list[str]]]:
    """The title and the cells of all rows for each class."""
    for position, title in enumerate(measure.titles):
        parts = [measure.parts[ending][:, position] for ending in ("", "/low", "/high") if ending in measure.parts]
        yield escape(title), [with_limits(*map(float, values)) for values in zip(*parts, strict=True)]
