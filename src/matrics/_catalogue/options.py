"""Options of measures: the keyword arguments of their functions, and the allowed values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from matrics._arrays import Array
from matrics._catalogue import weights
from matrics._quoting import quoted

#: Arguments that every measure takes.
RESERVED = ("cm", "average", "class_weights", "positive", "class_weights", "zero_division", "invalid")

BOUNDS = ("above", "below", "from_there")  # the metadata of Annotated[float, ...], in order

#: An option that is a number of at least 0.
NotNegative = Annotated[float, 0, math.inf, True]
#: Also without a default: the odds of a threshold of probability, filled in if the threshold is known.
OddsOfThreshold = Annotated[float, 0, math.inf, True, "odds"]


@dataclass(frozen=True, eq=False)
class Option:
    """An option of a metric."""

    name: str
    default: Any
    choices: tuple[Any, ...]  # the default first; empty for a number between two bounds, or a matrix
    above: float = 0
    below: float = math.inf
    from_there: bool = False  # whether the lower bound itself is allowed
    matrix: str = ""  # the kind of the allowed matrix, as in ``weights``
    is_odds: bool = False  # whether the option is the odds of a threshold

    @property
    def required(self) -> bool:
        """Whether the option has no default."""
        return self.default is inspect.Parameter.empty

    def read(self, value: Any, metric: str) -> Any:
        """The value of a text of a spec; raises an error with the expected values."""
        if self.choices:
            if isinstance(value, str) and value not in self.choices:
                value = {"true": True, "false": False}.get(value.casefold(), value)
            if "none" in self.choices and (value is None or (isinstance(value, str) and value == "None")):
                value = "none"
            if any(value is choice or (isinstance(value, str) and value == choice) for choice in self.choices):
                return value
            if self.matrix and (not isinstance(value, str) or value.startswith("[")):
                return weights.read_matrix(value, self.name, metric, kind=self.matrix)
            expected = " or ".join(repr(choice) for choice in self.choices)
            expected += f" or {weights.in_words(self.matrix)}" if self.matrix else ""
        elif self.matrix:
            return weights.read_matrix(value, self.name, metric, kind=self.matrix)
        else:
            try:
                number = math.e if value == "e" and self.default == math.e else float(value)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
            if self.above < number < self.below or (self.from_there and number == self.above):
                return number
            expected = self.bounds
        raise ValueError(f"{metric}: expected {self.name} to be {expected}, got {quoted(value)}")

    @property
    def bounds(self) -> str:
        """The allowed numbers in words."""
        if self.below == math.inf:
            return f"a number {'from' if self.from_there else 'above'} {self.above:g}"
        return f"a number between {self.above:g} and {self.below:g}"


def read_options(function: Callable[..., Array]) -> tuple[Option, ...]:
    """The options of a function of a Table: all arguments except the first, each with a type and a default."""
    name = getattr(function, "__name__", type(function).__name__)
    expected = f"{name}: expected a function of a matrics.typing.Table, with options that have a type and a default"
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise TypeError(f"{expected}, got {quoted(function)}, whose signature Python cannot inspect") from None
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in by_place:
        raise TypeError(f"{expected}, got a function without an argument for the table")
    # Not of the table, whose annotation may exist for type checkers only.
    annotations = {option.name: option.annotation for option in parameters[1:] if option.annotation is not option.empty}
    globals_ = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        hints = (
            get_type_hints(SimpleNamespace(__annotations__=annotations), globals_, include_extras=True)
            if annotations
            else {}
        )
    except NameError as error:
        raise TypeError(f"{expected}, got a type that is unknown when the program runs: {error}") from error
    return tuple([_read_option(parameter, hints.get(parameter.name), expected) for parameter in parameters[1:]])


def _read_option(parameter: inspect.Parameter, hint: Any, expected: str) -> Option:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise TypeError(f"{expected}, got {parameter}, which has no name")
    if parameter.name in RESERVED:
        raise TypeError(f"{expected}, got {parameter.name}, which is an argument of every measure")
    matrix = ""
    if hint == weights.CostMatrix:
        return Option(parameter.name, parameter.default, (), matrix=hint.__metadata__[0])
    if get_origin(hint) in (Union, UnionType):  # a choice of words, or a matrix of weights
        hint, *matrix_hint = get_args(hint)
        matrix = getattr(matrix_hint[0], "__metadata__", ("",))[0]
        hint = hint if matrix else None
    choices = get_args(hint) if get_origin(hint) is Literal else (False, True) if hint is bool else ()
    bounds = dict(zip(BOUNDS, hint.__metadata__, strict=False)) if get_origin(hint) is Annotated else {}
    if hint == OddsOfThreshold:
        return Option(parameter.name, parameter.default, (), is_odds=True, **bounds)
    is_number = hint is float or (get_origin(hint) is Annotated and get_args(hint)[0] is float)
    if parameter.default is parameter.empty or not (choices or is_number):
        raise TypeError(
            f"{expected} (bool, float, Literal['a', 'b'], or Annotated[float, 0, 1] for a number between bounds), got "
            f"{parameter}"
        )
    # The default first, as in pages and docstrings.
    choices = tuple(sorted(choices, key=lambda choice: choice != parameter.default))
    option = Option(parameter.name, parameter.default, choices, matrix=matrix, **bounds)
    option.read(parameter.default, f"the default in {expected.partition(':')[0]}")
    return option
