"""Metric: one measure, and the record of its facts."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from matrics._backend import Array
from matrics.catalogue import averages, weights
from matrics.catalogue.docstring import compose
from matrics.evaluation import Invalid, TableFunction, evaluate
from matrics.table import Table
from matrics.typing import ArrayLike

Kind = Literal["overall", "per_class"]
#: The guesses that a measure sees through: of any class sizes, of the true ones, of one size for all classes, or of
#: that if the true classes are of one size as well.
Chance = Literal["any sizes", "true sizes", "equal sizes", "equal sizes of equal classes"]


#: The margin of the samples of which a measure is a proportion.
Trials = Literal["total", "true", "pred", "not_true", "not_pred"]


@dataclass(frozen=True, eq=False)
class Option:
    """One option of a metric: its default first, then what else it may be."""

    name: str
    default: Any
    choices: tuple[Any, ...]  # empty: any finite number between two bounds
    above: float = 0
    below: float = math.inf
    from_there: bool = False  # whether the lower bound itself will do
    matrix: str = ""  # whether a matrix of weights will do as well: "any", or "symmetric"

    def read(self, value: Any, metric: str) -> Any:
        """The value itself, or the one that a spec's text means; raises with what was expected."""
        if self.choices:
            if isinstance(value, str) and value not in self.choices:
                value = {"true": True, "false": False}.get(value.casefold(), value)
            if "none" in self.choices and (value is None or (isinstance(value, str) and value == "None")):
                value = "none"
            if any(value is choice or (isinstance(value, str) and value == choice) for choice in self.choices):
                return value
            if self.matrix and (not isinstance(value, str) or value.startswith("[")):
                return weights.read(value, self.name, metric, symmetric=self.matrix == "symmetric")
            expected = " or ".join(repr(choice) for choice in self.choices)
            expected += f" or {weights.in_words(symmetric=self.matrix == 'symmetric')}" if self.matrix else ""
        else:
            try:
                number = math.e if value == "e" and self.default == math.e else float(value)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
            if self.above < number < self.below or (self.from_there and number == self.above):
                return number
            expected = self.bounds
        raise ValueError(f"{metric}: expected {self.name} to be {expected}, got {value!r}")

    @property
    def bounds(self) -> str:
        """What a number may be, in words."""
        if self.below == math.inf:
            return f"a number {'from' if self.from_there else 'above'} {self.above:g}"
        return f"a number between {self.above:g} and {self.below:g}"


@dataclass(frozen=True, eq=False)
class Metric:
    """A measure of confusion matrices: one formula, and the record of its facts.

    Call it (``matrics.mcc(cm)``), name it in :func:`matrics.score`, or fix options of it with :meth:`using`. Metrics
    compare by name and fixed options, hash, pickle and print as the spec that :func:`matrics.get_metric` reads.
    """

    name: str
    kind: Kind
    family: str
    summary: str
    function: Callable[..., Array] = field(repr=False)
    range: tuple[float, float]
    higher_is_better: bool | None
    formula: str
    source: str
    undefined: str
    aliases: tuple[str, ...] = ()
    chance: Chance | None = None
    chance_value: float = 0
    symmetric: bool = False
    needs_every_class: bool = False
    ignores_class_sizes: Literal["always", "two classes"] | None = None
    scale_free: bool = True
    lowest: Callable[[int], float] | None = field(default=None, repr=False)
    on_host: bool = False
    proportion_of: Trials | None = None
    options: tuple[Option, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    average: str | None = None
    pos_label: int = 1

    def dress(self) -> None:
        """Make help(), doctest and Sphinx take the record for the function that the user calls.

        Once, for the metric of the catalogue: those made of it with ``using`` may be made inside a compiled graph.
        """
        dressing = {
            "__wrapped__": self.function,
            "__module__": self.function.__module__,
            "__qualname__": self.name,
            "__doc__": compose(self),
            "__signature__": self._signature(),
        }
        for name, value in dressing.items():
            object.__setattr__(self, name, value)

    def _signature(self) -> inspect.Signature:
        def keyword(name: str, default: Any) -> inspect.Parameter:
            return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)

        return inspect.Signature(
            [
                inspect.Parameter("cm", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                *([keyword("average", "macro"), keyword("pos_label", 1)] if self._averaged else []),
                *(keyword(option.name, option.default) for option in self.options),
                keyword("zero_division", math.nan),
                keyword("invalid", "warn"),
            ]
        )

    @property
    def __name__(self) -> str:
        return self.spec

    @property
    def _averaged(self) -> bool:
        return self.kind == "per_class"

    def __call__(
        self,
        cm: ArrayLike | None = None,
        *others: Any,
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        **options: Any,
    ) -> Array:
        """The measure of every matrix of a stack; the docstring of the metric says what it takes and gives."""
        if others and (others[0] is None or isinstance(others[0], str)):
            raise TypeError(f"{self.name}: expected options by their names, got {others[0]!r}: average={others[0]!r}?")
        if others or (cm is None and options.keys() & {"y_true", "y_pred"}):
            got = f"{1 + len(others)} arguments" if others else " and ".join(options)
            raise TypeError(
                f"{self.name}: expected one confusion matrix or a stack of them, got {got}; of labels it is "
                f"matrics.{self.name}(matrics.confusion_matrix(y_true, y_pred, num_classes=n))"
            )
        function = self.bind(**options) if options else self.bind()
        return evaluate(cm, [function], zero_division=zero_division, invalid=invalid)[0]

    def bind(self, **options: Any) -> TableFunction:
        """The function of a Table that this metric with these options is."""
        metric = self.using(**options) if options else self
        function, keywords = metric.function, dict(metric.fixed)

        def measure(table: Table) -> Array:
            return function(table, **keywords)

        if metric._averaged:
            return averages.average(
                measure,
                metric.average or "macro",
                metric.pos_label,
                unbounded=math.inf in (metric.range[1], -metric.range[0]),
            )
        return averages.one_vs_rest(measure) if metric.average == "one_vs_rest" else measure

    def using(self, **options: Any) -> Metric:
        """Fix options of this metric.

        >>> import matrics
        >>> print(matrics.fbeta.using(beta=2, average=None))
        fbeta(beta=2):class
        """
        average = self.average
        if "average" in options:
            average = averages.check_average(options.pop("average"), self.kind, self.name)
        pos_label = self._read_pos_label(options.pop("pos_label", self.pos_label), average)
        known = {option.name: option for option in self.options}
        fixed = dict(self.fixed)
        for name, value in options.items():
            if name not in known:
                takes = ", ".join([*known, *(["average"] if self._averaged else [])])
                raise TypeError(f"{self.name} has no option {name!r}; it takes {takes or 'no options'}")
            fixed[name] = known[name].read(value, self.name)
        # In the order of the signature and without defaults, so that equal metrics are equal.
        kept = tuple((o.name, fixed[o.name]) for o in self.options if o.name in fixed and fixed[o.name] != o.default)
        return replace(self, fixed=kept, average=average, pos_label=pos_label)

    def _read_pos_label(self, value: Any, average: str | None) -> int:
        """The class that counts as positive; another than the default has a meaning for the average binary alone."""
        if isinstance(value, bool) or value not in (0, 1):
            raise ValueError(f"pos_label: expected 0 or 1, the class that counts as positive, got {value!r}")
        if value != 1 and not self._averaged:
            raise TypeError(f"{self.name} is an overall measure and takes no pos_label")
        if value != 1 and average != "binary":
            raise ValueError(
                f"{self.name}: pos_label=0 is for average='binary' (':binary' in a spec), got the average "
                f"{average or 'macro'!r}, which is of all classes"
            )
        return int(value)

    @property
    def spec(self) -> str:
        """The text that :func:`matrics.get_metric` reads as this metric."""
        fixed = (*self.fixed, *((("pos_label", self.pos_label),) if self.pos_label != 1 else ()))
        values = ",".join(f"{name}={spell(value)}" for name, value in fixed)
        return self.name + (f"({values})" if values else "") + (f":{self.average}" if self.average else "")

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<matrics metric {self.spec}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        return (self.name, self.fixed, self.average or ("macro" if self._averaged else None), self.pos_label)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_of, (self.name, self.fixed, self.average, self.pos_label)


#: All metrics by their canonical names, as they are registered.
METRICS: dict[str, Metric] = {}


def _made_of(name: str, fixed: tuple[tuple[str, Any], ...], average: str | None, pos_label: int) -> Metric:
    """The metric of the catalogue with these options fixed: what a pickle holds."""
    if not (fixed or average):
        return METRICS[name]
    return replace(METRICS[name], fixed=fixed, average=average, pos_label=pos_label)


def spell(value: Any) -> str:
    """The text of an option's value in a spec."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return weights.spell(value)
    if value == math.e:
        return "e"
    return weights.spell_number(value) if isinstance(value, float) else str(value)
