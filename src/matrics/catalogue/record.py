"""Metric: one measure, and the record of its facts."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from matrics._backend import Array, is_compiling
from matrics._names import fold
from matrics.catalogue import averages, weights
from matrics.catalogue.classes import Classes, in_words, labels_of_frame, spell_class
from matrics.catalogue.docstring import compose
from matrics.evaluation import Invalid, TableFunction, evaluate
from matrics.table import Table
from matrics.typing import ArrayLike

Kind = Literal["overall", "per_class"]
#: The guesses that a measure sees through: of any class sizes, of the true ones, of one size for all classes, or of
#: that if the true classes are of one size as well.
Chance = Literal["any sizes", "true sizes", "equal sizes", "equal sizes of equal classes"]


_OF_AVERAGES = ("average", "positive", "class_weights")  # what every class measure takes

#: The margin of the samples of which a measure is a proportion.
Trials = Literal["total", "true", "pred", "not_true", "not_pred"]


@dataclass(frozen=True, eq=False)
class Option:
    """One option of a metric: its default first, then what else it may be."""

    name: str
    default: Any
    choices: tuple[Any, ...]  # empty: any finite number between two bounds, or a matrix
    above: float = 0
    below: float = math.inf
    from_there: bool = False  # whether the lower bound itself will do
    matrix: str = ""  # which matrix will do: of weights, "any" or "symmetric", or of "costs"

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty

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
    range_of: Callable[..., tuple[float, float]] | None = field(default=None, repr=False)  # where options decide it
    options: tuple[Option, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    average: str | None = None
    classes: tuple[Any, ...] = ()  # those that square brackets name: labels, or indices
    class_weights: tuple[Any, ...] = ()  # of the weighted average, in place of the classes' true sizes
    called: str = ""  # the name it was asked for by, where that says more than the canonical one: sensitivity
    resolved: bool = False  # whether its average and its classes, then indices, are those of certain matrices

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
                *([keyword(name, None) for name in _OF_AVERAGES] if self._averaged else []),
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
        labels = None if is_compiling() else labels_of_frame(cm)
        if labels is None:
            function = self.bind(**options) if options else self.bind()
        else:
            function = self.using(**options).of(Classes.of(len(labels), labels)).bind()
        return evaluate(cm, [function], zero_division=zero_division, invalid=invalid)[0]

    def bind(self, **options: Any) -> TableFunction:
        """The function of a Table that this metric with these options is."""
        metric = self.using(**options) if options else self
        metric.check_complete()
        by_class = metric.classes or metric.class_weights or any([isinstance(value, tuple) for _, value in metric.fixed])
        if by_class or (metric._averaged and metric.average in (None, "binary")):
            # The average, and whether there is such a class, depends on the number of classes, which the table has.
            return lambda table: metric.of(Classes(table.n))._function()(table)
        return metric._function()

    def _function(self) -> TableFunction:
        function, keywords = self.function, dict(self.fixed)

        def measure(table: Table) -> Array:
            return function(table, **keywords)

        if self.kind == "overall":
            return measure if self.average is None else averages.one_vs_rest(measure, self.classes)
        unbounded = math.inf in (self.range[1], -self.range[0])
        how = self.average or "macro"
        return averages.average(measure, how, self.classes, self.class_weights, unbounded=unbounded)

    def check_complete(self) -> None:
        """Raise if an option is lacking that has no default."""
        given = [name for name, _ in self.fixed]
        for option in self.options:
            if option.required and option.name not in given:
                raise ValueError(
                    f"{self.name}: expected {option.name}, {weights.in_words(option.matrix)}, got none: "
                    f"matrics.cost([[0, 1], [50, 0]]), or the text {self.name}({option.name}=[[0,1],[50,0]])"
                )

    def using(self, **options: Any) -> Metric:
        """Fix options of this metric.

        ``average`` is one of the words of specs, or None for the default; ``positive`` is the index of the class of
        which this is to be the value; ``class_weights`` are those of the weighted mean over the classes.

        >>> import matrics
        >>> print(matrics.fbeta.using(beta=2, average="class"), matrics.recall.using(positive=0))
        fbeta(beta=2):class recall[0]
        >>> print(matrics.recall.using(class_weights={"cat": 2, "dog": 1}))
        recall(class_weights=[cat=2,dog=1]):weighted
        """
        average, classes, class_weights = self.average, self.classes, self.class_weights
        if "average" in options:
            average = averages.check_average(options.pop("average"), self.kind, self.name)
            classes = classes if {self.average, average} <= set(averages.OF_SEVERAL) else ()
            class_weights = class_weights if average == "weighted" else ()
        if (given := options.pop("class_weights", None)) is not None:
            average, class_weights = self._weighted_by(given, average)
        if (positive := options.pop("positive", None)) is not None:
            average, classes = self._of_one(positive, average)
        known = {option.name: option for option in self.options}
        fixed = dict(self.fixed)
        for name, value in options.items():
            if name not in known:
                takes = ", ".join([*known, *(_OF_AVERAGES if self._averaged else [])])
                raise TypeError(f"{self.name} has no option {name!r}; it takes {takes or 'no options'}")
            fixed[name] = known[name].read(value, self.name)
        # In the order of the signature and without defaults, so that equal metrics are equal.
        kept = tuple((o.name, fixed[o.name]) for o in self.options if o.name in fixed and fixed[o.name] != o.default)
        found = replace(self, fixed=kept, average=average, classes=classes, class_weights=class_weights)
        return found.with_range()

    def with_range(self) -> Metric:
        """This metric with the range that its options give it."""
        if self.range_of is None or not self.fixed:
            return self
        return replace(self, range=self.range_of(**dict(self.fixed)))

    def _weighted_by(self, given: Any, average: str | None) -> tuple[str, tuple[Any, ...]]:
        """The average and the weights of a measure of which the weight of each class is said."""
        if not self._averaged:
            raise TypeError(f"{self.name} is an overall measure and takes no class_weights: it is no mean over classes")
        if average not in (None, "weighted"):
            raise ValueError(
                f"{self.name}: class_weights= is for average='weighted', the default with it; got the average "
                f"{average!r}"
            )
        return "weighted", weights.read_class_weights(given, self.name)

    def _of_one(self, positive: Any, average: str | None) -> tuple[str, tuple[Any, ...]]:
        """The average and the class of a measure whose positive class is said."""
        if not self._averaged:
            raise TypeError(f"{self.name} is an overall measure and takes no positive: no class changes its value")
        if average not in (None, "binary"):
            raise ValueError(
                f"{self.name}: positive={positive!r} is for average='binary', the default with it; got the average "
                f"{average!r}, which is not of one class"
            )
        return "binary", (positive,)

    def of_classes(self, classes: tuple[Any, ...]) -> Metric:
        """Name classes, as square brackets in a spec do: the metric of one, or its average over some."""
        if self.average in averages.OF_SEVERAL:
            return replace(self, classes=classes)
        of_one = "binary" if self._averaged else "one_vs_rest"
        if len(classes) != 1 or self.average not in (None, of_one):
            raise ValueError(
                f"{self.name}: expected one class in square brackets (recall[fraud]), or an average of some "
                f"(f1:macro[cat,dog]: {', '.join(averages.OF_SEVERAL)}), got {len(classes)} classes and the average "
                f"{self.average!r}"
            )
        return replace(self, average=of_one, classes=classes)

    def of(self, classes: Classes) -> Metric:
        """Settle what depends on the classes of the matrices: the average, and classes by their indices.

        Raises a ValueError if a class of it is none of these, or if it is one of the positive class and nothing says
        which one that is.
        """
        self.check_complete()
        known = Classes(classes.number) if self.resolved else classes
        chosen = tuple([known.index(label, self.spec) for label in self.classes])
        if len(set(chosen)) != len(chosen):
            raise ValueError(f"{self.spec}: expected different classes in square brackets, got one twice")
        average = self.average
        if self._averaged and average is None:
            words = classes.number == 2 and self.is_of_two
            average = "binary" if classes.by_construction or classes.positive is not None or words else "macro"
        if average == "binary" and not chosen:
            chosen = (classes.positive_of(self.spec),)
        of_matrix = Classes(2) if average == "one_vs_rest" else known
        fixed = tuple([(k, weights.in_order(v, of_matrix, k) if isinstance(v, tuple) else v) for k, v in self.fixed])
        own = weights.in_order(self.class_weights, known, "class_weights") if self.class_weights else ()
        return replace(self, fixed=fixed, average=average, classes=chosen, class_weights=own, resolved=True)

    @property
    def is_of_two(self) -> bool:
        """Whether it was named by a word that is of the positive class where there are two classes."""
        return fold(self.called or self.name) in averages.TWO_CLASS_WORDS

    @property
    def is_classwise(self) -> bool:
        """Whether it gives a value for each class."""
        return self.average in averages.CLASSWISE and not self.classes

    def title(self, classes: Classes | None = None) -> str:
        """What screens, pages and pictures call it: the measure and its average or class, in words.

        >>> import matrics
        >>> from matrics.catalogue.classes import Classes
        >>> print(matrics.recall.title(), matrics.recall.title(Classes.of(2, ["ok", "fraud"], "fraud")), sep="; ")
        recall, macro; recall of fraud
        """
        found = self if classes is None else self.of(classes)
        measure = replace(found, average=None, classes=(), class_weights=()).spec
        known = classes or Classes(0)
        names = [known.name(k) if isinstance(k, int) else in_words(k) for k in found.classes]
        if not names and found.average in averages.CLASSWISE:
            return f"{measure} of each class" + (" against the rest" if found.kind == "overall" else "")
        if found.average == "one_vs_rest":
            return f"{measure} of {names[0]} against the rest"
        if found.average == "binary":
            return f"{measure} of {names[0] if names else 'the positive class'}"
        if not found._averaged or (found.average is None and found.is_of_two):
            return measure
        some = f" of {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else f" of {names[0]}" if names else ""
        by = f" by class_weights={spell(self.class_weights)}" if self.class_weights else ""
        return f"{measure}, {found.average or 'macro'}{by}{some}"

    @property
    def spec(self) -> str:
        """The text that :func:`matrics.get_metric` reads as this metric."""
        given = [*self.fixed, *([("class_weights", self.class_weights)] if self.class_weights else [])]
        values = ",".join(f"{name}={spell(value)}" for name, value in given)
        some = "[" + ",".join(spell_class(label) for label in self.classes) + "]" if self.classes else ""
        of_one = bool(self.classes) and self.average not in averages.OF_SEVERAL
        average = f":{self.average}" if self.average and not of_one else ""
        return (self.called or self.name) + (f"({values})" if values else "") + average + some

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
        # Without an average it is not the macro mean: what it is depends on the classes and the positive one.
        default = "positive of two" if self._averaged and self.is_of_two else None
        classes = tuple([str(label) for label in self.classes])
        return (self.name, self.fixed, self.average or default, classes, self.class_weights)

    def __reduce__(self) -> tuple[Any, ...]:
        options = (self.fixed, self.average, self.classes, self.called, self.resolved, self.class_weights)
        return _made_of, (self.name, *options)


#: All metrics by their canonical names, as they are registered.
METRICS: dict[str, Metric] = {}


def _made_of(  # noqa: PLR0917 (what __reduce__ gives, in its order)
    name: str,
    fixed: tuple[tuple[str, Any], ...],
    average: str | None,
    classes: tuple[Any, ...],
    called: str,
    resolved: bool,  # noqa: FBT001
    class_weights: tuple[Any, ...] = (),
) -> Metric:
    """The metric of the catalogue with these options fixed: what a pickle holds."""
    if not (fixed or average or called):
        return METRICS[name]
    options: dict[str, Any] = {"fixed": fixed, "average": average, "classes": classes, "class_weights": class_weights}
    return replace(METRICS[name], **options, called=called, resolved=resolved).with_range()


def spell(value: Any) -> str:
    """The text of an option's value in a spec."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return weights.spell(value)
    if value == math.e:
        return "e"
    return weights.spell_number(value) if isinstance(value, float) else str(value)
