"""Run the call of a row and its counterpart here on all cases, and say where the numbers differ."""

import ast
import math
import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import matrics
from coming.data import CASES, arrays


class Row(NamedTuple):
    """A call there, the call here, and the call here that gives their number where that differs."""

    there: str
    here: str
    theirs: str = ""
    why: str = ""
    kind: str = ""  # of data, if it is not that of the topic


class Topic(NamedTuple):
    """Rows that stand in one table."""

    title: str
    kind: str
    rows: list[Row]


@dataclass
class Value:
    """What a call gave: numbers, and whether it warned; or the error that it raised."""

    numbers: list[np.ndarray] = field(default_factory=list)
    warned: bool = False
    error: str = ""


class Difference(NamedTuple):
    """A case on which the two calls differ."""

    case: str
    there: Value
    here: Value


class Found(NamedTuple):
    """What running a row has shown."""

    row: Row
    differences: list[Difference]
    number: int  # of cases
    mended: bool  # whether the call in `theirs` gives their number wherever they have one


class Library(NamedTuple):
    """What the calls there see, how exact they are, and how data become theirs."""

    names: dict[str, Any]
    precision: float
    convert: Any
    here: dict[str, Any]  # names that the calls here see, apart from matrics and the data


def find(library, topic, row):
    """Run a row on all cases of its data."""
    kind = row.kind or topic.kind
    differences, mended, cases = [], True, CASES[kind]
    for case in cases:
        data = library.convert(kind, arrays(kind, case))
        there, here = evaluate(row.there, library.names | data), evaluate(row.here, library.here | data)
        if not same(there, here, library.precision):
            differences.append(Difference(case.name, there, here))
        if row.theirs and not there.error:
            mended &= same(there, evaluate(row.theirs, data), library.precision)
    return Found(row, differences, len(cases), bool(row.theirs) and mended)


def evaluate(call, names):
    """The displayed value of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = eval(call, {"np": np, "matrics": matrics, **names})  # noqa: S307 (what is displayed is what was run)
        except (ArithmeticError, IndexError, RuntimeError, TypeError, ValueError) as error:
            return Value(error=type(error).__name__)
    return Value(numbers=flat(found), warned=bool(caught))


def flat(found):
    """All arrays of a result, whatever it keeps them in."""
    if isinstance(found, dict):
        found = tuple(found.values())
    if isinstance(found, tuple | list):
        pieces = [array for one in found for array in flat(one)]
        return [np.stack(pieces)] if len(pieces) > 1 and not any(one.ndim for one in pieces) else pieces
    if hasattr(found, "detach"):
        found = found.detach().cpu().numpy()
    return [np.asarray(found, dtype=float)]


def same(there, here, precision):
    """Whether two values are the same numbers; an error is the same as nothing."""
    if there.error or here.error:
        return False
    a, b = (np.concat([one.reshape(-1) for one in value.numbers]) for value in (there, here))
    return a.shape == b.shape and np.allclose(a, b, rtol=precision, atol=precision, equal_nan=True)


def called(row, names):
    """The functions of the library that a call names."""
    return {node.id for node in ast.walk(ast.parse(row.there)) if isinstance(node, ast.Name)} & set(names)


def text(value):
    """A value in a few characters."""
    if value.error:
        return f"{value.error}"
    pieces = [_array(one) for one in value.numbers[:3]] + ["…"] * (len(value.numbers) > 3)
    return " ".join(pieces) + (" and a warning" if value.warned else "")


def _array(x):
    if x.ndim == 0:
        return _number(float(x), 4)
    if x.ndim > 1:
        return f"{'×'.join(map(str, x.shape))}: " + _array(x.reshape(-1))
    shown = [_number(float(one), 3) for one in x[:9]] + ["…"] * (len(x) > 9)
    return f"[{', '.join(shown)}]"


def _number(x, digits):
    return "NaN" if math.isnan(x) else f"{x:.{digits}g}".replace("inf", "∞").replace("-", "−")
