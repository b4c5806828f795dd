"""``Metric``: a measure, and the record of its facts."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from matrics._arrays import Array, is_compiling, of_plain_tensor
from matrics._catalogue import averages, spelling, weights
from matrics._catalogue.binding import bound
from matrics._catalogue.classes import Classes, labels_of_frame
from matrics._catalogue.docstring import OF_AVERAGES, compose, signature_of
from matrics._catalogue.functions import (
    IN_METRIC,
    checked_name,
    checked_range,
    checked_word,
    place_of,
    several,
)
from matrics._catalogue.options import Option, read_options
from matrics._engine.evaluation import Invalid, TableFunction, evaluate
from matrics._engine.table import Table
from matrics._quoting import cut, quoted
from matrics.typing import ArrayLike

Kind = Literal["overall", "per_class"]
#: The random guesses with a fixed value: with any class sizes, with the true sizes, with equal sizes, or with equal
#: sizes if the true classes have equal sizes as well.
Chance = Literal["any sizes", "true sizes", "equal sizes", "equal sizes of equal classes"]

#: The default measures of ``score``, which are also names of the package itself.
CORE = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "mcc", "cohen_kappa", "cen", "eve")

#: The family of measures of users.
OWN = "own"

_BY_CLASS = (tuple, weights.TracedMatrix)  # the types of options with numbers for each class

#: The margin in the denominator of a proportion.
Trials = Literal["total", "true", "pred", "not_true", "not_pred"]


@dataclass(frozen=True, eq=False)
class Metric:
    """A measure of confusion matrices: its formula, and the record of its facts.

    Call it (``matrics.mcc(cm)``), name it in :func:`matrics.score`, or fix its options with :meth:`using`.
    :func:`matrics.metric` and :meth:`of` make measures of users. Metrics are compared by function and fixed options.
    They are hashable, can be pickled, and print as the spec that :func:`matrics.get_metric` reads.

    Attributes
    ----------
    name, family, summary : str
        The canonical name, the group of similar measures (``"own"`` for users' measures), and a short description.
    kind : {"overall", "per_class"}
        Whether the function returns a value for each matrix, or for each class.
    function : callable
        The function of a :class:`matrics.typing.Table`.
    range : tuple of float
        The smallest and the largest value.
    higher_is_better : bool or None
        Whether higher values are better; None if neither higher nor lower values are.
    formula, source, undefined : str
        The formula in LaTeX, the publication that defines the measure, and the cases in which it is 0/0, in words.
    aliases : tuple of str
        Other names.
    chance, chance_value : str or None, float
        The widest kind of guesses (predictions independent of the truth) with the same value, and that value.
    symmetric, needs_every_class, scale_free : bool
        Whether a transposed matrix has the same value, whether it is undefined if a true class is empty, and whether
        multiples of a matrix have the same value.
    ignores_class_sizes : {"always", "two classes"} or None
        When the value stays the same if a true class gets more samples at the same rates.
    lowest, range_of, limits_need, limits_miss : callable or None
        Functions for the least value by the number of classes, for the range by options, for the number of samples that
        confidence limits need, and for the matrices whose limits miss the true value.
    on_host : bool
        Whether the function leaves the array library, for example to call SciPy.
    proportion_of : {"total", "true", "pred", "not_true", "not_pred"} or None
        The counts in the denominator of a proportion.
    ordinal : bool or tuple of str
        Whether the value depends on the order of the classes, or the values of options with which it does.
    options, fixed : tuple
        The options with their types and defaults, and the values of fixed options.
    average, classes, class_weights : str or None, tuple, tuple
        The average over classes, its classes, and their weights in the average, if these are fixed.
    called, resolved : str, bool
        The requested name, if titles keep it (``sensitivity``); and whether the average and the classes are resolved
        for certain matrices.
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
    limits_need: Callable[[int], float] | None = field(
        default=None, repr=False
    )  # number of samples, inf if no number is enough
    limits_miss: Callable[[Table], Array] | None = field(default=None, repr=False)  # a mask of matrices
    on_host: bool = False
    proportion_of: Trials | None = None
    range_of: Callable[..., tuple[float, float]] | None = field(default=None, repr=False)  # if options change the range
    ordinal: bool | tuple[str, ...] = False
    options: tuple[Option, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    average: str | None = None
    classes: tuple[Any, ...] = ()  # the classes in square brackets: labels, or indices
    class_weights: tuple[Any, ...] = ()  # for the weighted average, in place of the true class sizes
    called: str = ""  # the requested name, if titles keep it: sensitivity
    resolved: bool = False  # whether the average and the classes (as indices) are resolved for certain matrices

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        kind: Kind,
        range: tuple[float, float],  # noqa: A002 (the usual word)
        higher_is_better: bool | None,
        name: str | None = None,
        formula: str | None = None,
        source: str | None = None,
        undefined: str | None = None,
        aliases: Iterable[str] = (),
        proportion_of: Trials | None = None,
        on_host: bool = False,
    ) -> Metric:
        r"""The measure of a function of a table, which works like the measures of this library.

        :func:`matrics.metric` is the corresponding decorator.

        Parameters
        ----------
        function : callable
            A function of a :class:`matrics.typing.Table`. It uses counts by class (``t.tp``, ``t.true``) and totals
            (``t.total``). Its other arguments are options of the measure, each with a type and a default: ``bool``,
            ``float`` for a positive number, ``Annotated[float, 0, 1]`` for a number between bounds, or ``Literal["a",
            "b"]``. It is traced and compiled, so it may branch only on options and on ``t.n``.
        kind : {"overall", "per_class"}
            Whether the function returns a value for each matrix, of the shape of ``t.total``, or for each class, of the
            shape of ``t.tp``, from which averages over classes are taken.
        range : tuple of float
            The smallest and the largest value; ``math.inf`` if unbounded.
        higher_is_better : bool or None
            Whether higher values are better; None if neither higher nor lower values are.
        name : str, optional
            The name in specs and in the keys of results; the name of the function if left out.
        formula : str, optional
            The formula in LaTeX, for the docstring.
        source : str, optional
            The publication that defines the measure; the function, if left out.
        undefined : str, optional
            The cases in which the measure is 0/0, in words.
        aliases : iterable of str, default ()
            Other names, which :func:`matrics.register` makes available.
        proportion_of : {"total", "true", "pred", "not_true", "not_pred"}, optional
            The counts in the denominator of a proportion, such as ``"true"`` for a share of the samples of a true
            class: the interval is then an interval of a binomial proportion.
        on_host : bool, default False
            Whether the function leaves the array library, for example to call SciPy: no gradients, no compilation.

        Returns
        -------
        Metric

        Raises
        ------
        TypeError
            The object is not a function of a table, or an option has no type or no default.
        ValueError
            An argument has a value that is not allowed, or the name has characters that specs use.

        Examples
        --------
        >>> import matrics
        >>> def hit_rate(t):
        ...     return t.divide(t.sum(t.tp, axis=0), t.total)
        >>> hits = matrics.Metric.of(hit_rate, kind="overall", range=(0, 1), higher_is_better=True)
        >>> matrics.score([[45, 5], [5, 45]], [hits, "accuracy"])
        {'hit_rate': np.float64(0.9), 'accuracy': np.float64(0.9)}
        """
        if isinstance(function, Metric) or not callable(function):
            raise TypeError(f"expected a function of a matrics.typing.Table, got {quoted(function)}")
        options = read_options(function)
        where = ".".join(place_of(function))
        called = checked_name(getattr(function, "__name__", "") if name is None else name, function)
        text = inspect.getdoc(function) or ""
        record = cls(
            name=called,
            kind=checked_word(kind, Kind, called, "kind"),
            family=OWN,
            summary=text.partition("\n\n")[0].replace("\n", " ") or f"A user's measure, {where}.",
            function=function,
            range=checked_range(range, called),
            higher_is_better=checked_word(higher_is_better, Literal[True, False] | None, called, "higher_is_better"),
            formula=formula or "",
            source=source or where,
            undefined=undefined or "as defined by its function",
            aliases=tuple([checked_name(alias, function) for alias in several(aliases)]),
            on_host=on_host,
            proportion_of=checked_word(proportion_of, Trials | None, called, "proportion_of"),
            options=options,
        )
        record.add_docstring()
        return record

    @property
    def is_own(self) -> bool:
        """Whether the measure is a measure of a user, not of this library."""
        return self.family == OWN

    @property
    def place(self) -> str:
        """The public name in Python: ``matrics.f1``, ``matrics.metrics.jaccard``; the name for measures of users."""
        if self.is_own:
            return self.name
        if self.needs and self.awaits is None:  # a function makes the metric from costs
            return "matrics.metrics.cost(costs)"
        return f"matrics.{self.name}" if self.name in CORE else f"matrics.metrics.{self.name}"

    @property
    def is_plain(self) -> bool:
        """Whether no option is fixed, and no class is chosen."""
        return not (self.fixed or self.average or self.classes or self.called or self.resolved)

    @property
    def is_traced(self) -> bool:
        """Whether an option is an array with unknown numbers."""
        return weights.TracedMatrix in [type(value) for _, value in self.fixed]

    def add_docstring(self) -> None:
        """Set the attributes with which help(), doctest and Sphinx treat the record as a function.

        Only metrics of the catalogue get them: ``using`` may make metrics inside of a compiled graph.
        """
        attributes = {
            "__wrapped__": self.function,
            "__module__": self.function.__module__,
            "__qualname__": self.name,
            "__doc__": compose(self),
            "__signature__": signature_of(self),
        }
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

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
        """The value of every matrix of a stack; see the docstring of the metric."""
        if others and (others[0] is None or isinstance(others[0], str)):
            raise TypeError(
                f"{self.name}: expected options as keywords, got {quoted(others[0])}: did you mean "
                f"average={quoted(others[0])}?"
            )
        if others or (cm is None and options.keys() & {"y_true", "y_pred"}):
            got = f"{1 + len(others)} arguments" if others else " and ".join(options)
            raise TypeError(
                f"{self.name}: expected a confusion matrix or a stack of them, got {got}; for labels, call "
                f"{self.place}(matrics.confusion_matrix(y_true, y_pred, num_classes=n))"
            )
        metric = self.using(**options) if options else self
        backend = of_plain_tensor(cm)
        kept = None if backend is None else metric.__dict__.get("_kept_function")
        if kept is not None:  # the following steps take as long as the formula of a small matrix
            return evaluate(cm, [kept], zero_division=zero_division, invalid=invalid, backend=backend)[0]
        is_compiled, traced = is_compiling(), metric.is_traced
        labels = None if is_compiled else labels_of_frame(cm)
        named = metric if labels is None else metric.resolved_for(Classes.of(len(labels), labels))
        function = named.bind() if is_compiled or traced or labels is not None else metric._bound_once()
        return evaluate(cm, [function], zero_division=zero_division, invalid=invalid, traced=traced)[0]

    def _bound_once(self) -> TableFunction:
        """The function of the metric, which is cached: making it takes as long as scoring a small matrix."""
        function: TableFunction | None = self.__dict__.get("_kept_function")
        if function is None:
            function = self.bind()
            object.__setattr__(self, "_kept_function", function)
        return function

    def bind(self, **options: Any) -> TableFunction:
        """The function of a :class:`matrics.typing.Table` that computes this measure.

        Parameters
        ----------
        **options : float, str, bool, or sequence
            Options of the measure by name, such as ``beta=2``, and also ``average``, ``positive`` and
            ``class_weights``.

        Returns
        -------
        callable
            A function of a table that returns values of shape ``[*batch]``, or ``[class, *batch]``.
        """
        metric = self.using(**options) if options else self
        metric._check_complete()
        return bound(metric)

    @property
    def needs(self) -> tuple[str, ...]:
        """The missing options that have no default."""
        fixed_names = [name for name, _ in self.fixed]
        return tuple([option.name for option in self.options if option.required and option.name not in fixed_names])

    @property
    def awaits(self) -> str | None:
        """The missing option that is the odds of a threshold, or None; functions with thresholds fill it in."""
        return next((option.name for option in self.options if option.is_odds and option.name in self.needs), None)

    def _check_complete(self) -> None:
        if self.awaits is not None:
            raise ValueError(
                f"{self.name}: expected {self.awaits}, the odds of the threshold, got none: for a threshold of 0.2 "
                f"use {self.name}({self.awaits}=0.25); matrics.ranking.decision_curve has it at every threshold, and "
                "matrics.ranking.threshold_curve fills it in for probabilities"
            )
        if self.needs:
            name = self.needs[0]
            raise ValueError(
                f"{self.name}: expected {name}, an (n, n) matrix, got none: use "
                f"matrics.metrics.cost([[0, 1], [50, 0]]) in Python, and {self.name}({name}=[[0,1],[50,0]]) in a text"
            )

    def using(self, **options: Any) -> Metric:
        """The metric with other values of its options.

        Parameters
        ----------
        **options : float, str, bool, or sequence
            Options of the measure by name, such as ``beta=2``. In addition ``average``: an average of specs such as
            ``"macro"``, ``"auto"`` for the default, or None for every class; ``positive``: the index of the class whose
            value is returned; and ``class_weights``: the weights of the weighted mean over the classes.

        Returns
        -------
        Metric
            A new metric; this metric does not change.

        Examples
        --------
        >>> import matrics
        >>> print(matrics.metrics.fbeta.using(beta=2, average="class"), matrics.recall.using(positive=0))
        fbeta(beta=2):class recall[0]
        >>> print(matrics.recall.using(class_weights={"cat": 2, "dog": 1}))
        recall(class_weights=[cat=2,dog=1]):weighted
        """
        average, classes, class_weights = self.average, self.classes, self.class_weights
        if "average" in options:
            average = averages.check_average(options.pop("average"), self.kind, self.name)
            classes = classes if {self.average, average} <= set(averages.OF_SEVERAL) else ()
            class_weights = class_weights if average == "weighted" else ()
        if (new_weights := options.pop("class_weights", None)) is not None:
            average, class_weights = self._weighted_by(new_weights, average)
        if (positive := options.pop("positive", None)) is not None:
            average, classes = self._single_class(positive, average)
        known = {option.name: option for option in self.options}
        fixed = dict(self.fixed)
        for name, value in options.items():
            if name not in known:
                allowed = ", ".join([*known, *(OF_AVERAGES if self._averaged else [])])
                raise TypeError(f"{self.name} has no option {quoted(name)}; its options: {allowed or 'none'}")
            fixed[name] = known[name].read(value, self.name)
        # In the order of the signature and without defaults, so that metrics with equal options are equal.
        kept = tuple((o.name, fixed[o.name]) for o in self.options if o.name in fixed and fixed[o.name] != o.default)
        numbers = {name: weights.plain(value) for name, value in kept}
        bounds = self.range_of(**numbers) if self.range_of is not None and kept else self.range
        return replace(self, fixed=kept, range=bounds, average=average, classes=classes, class_weights=class_weights)

    def _weighted_by(self, class_weights: Any, average: str | None) -> tuple[str, tuple[Any, ...]]:
        """The average and the class weights of the metric with these class weights."""
        if not self._averaged:
            raise TypeError(f"{self.name} is an overall measure and not a mean over classes: expected no class_weights")
        if average not in (None, "weighted"):
            raise ValueError(
                f"{self.name}: class_weights= is for average='weighted', the default with it; got the average "
                f"{quoted(average)}"
            )
        return "weighted", weights.read_class_weights(class_weights, self.name)

    def _single_class(self, positive: Any, average: str | None) -> tuple[str, tuple[Any, ...]]:
        """The average and the class of the metric with this positive class."""
        if not self._averaged:
            raise TypeError(f"{self.name} is an overall measure and not a value of a class: expected no positive")
        if average not in (None, "binary"):
            raise ValueError(
                f"{self.name}: positive={quoted(positive)} is for average='binary', the default with it; got the "
                f"average {quoted(average)}, which has several classes"
            )
        return "binary", (positive,)

    def of_classes(self, classes: tuple[Any, ...]) -> Metric:
        """The metric of some classes, as with square brackets in a spec.

        Parameters
        ----------
        classes : tuple
            Labels or indices of classes: a single class, or several classes for an average over them.
        """
        if self.average in averages.OF_SEVERAL:
            return replace(self, classes=classes)
        single_average = "binary" if self._averaged else "one_vs_rest"
        if len(classes) != 1 or self.average not in (None, single_average):
            raise ValueError(
                f"{self.name}: expected a single class in square brackets (recall[fraud]), or an average of some "
                f"(f1:macro[cat,dog]: {', '.join(averages.OF_SEVERAL)}), got {len(classes)} classes and the average "
                f"{self.average!r}"
            )
        return replace(self, average=single_average, classes=classes)

    def resolved_for(self, classes: Classes) -> Metric:
        """The metric with its average fixed, and with indices in place of the labels of classes.

        Parameters
        ----------
        classes : Classes
            The number and the labels of the classes of the matrices, and the positive class.

        Raises
        ------
        ValueError
            A class of the metric is not among these classes, or the metric needs a positive class and there is none.
        """
        if self.awaits is None:  # functions of scores fill in the threshold
            self._check_complete()
        known = Classes(classes.number) if self.resolved else classes
        if self.uses_order and not known.ordered and known.number > 2:
            raise ValueError(
                f"{cut(self.spec)} uses the order of the classes, and that of {known.listed} is only alphabetical: "
                "pass them in their order, as labels= or class_names=, or as an ordered categorical"
            )
        chosen = tuple([known.index(label, cut(self.spec)) for label in self.classes])
        if len(set(chosen)) != len(chosen):
            raise ValueError(f"{cut(self.spec)}: expected different classes in square brackets, got a class twice")
        average = self.average
        if self._averaged and average is None:
            average, chosen = classes.default_average
        if average == "binary" and not chosen:
            chosen = (classes.positive_of(self.spec),)
        if average in averages.OF_SEVERAL and not chosen and 0 < len(classes.left_out) < classes.number:
            chosen = tuple(k for k in range(classes.number) if k not in classes.left_out)
        metric = self if self.resolved else self._in_order(Classes(2) if average == "one_vs_rest" else known)
        return replace(metric, average=average, classes=chosen, resolved=True)

    def _in_order(self, classes: Classes) -> Metric:
        """The metric with its numbers for each class in the order of the classes."""
        options = [*self.fixed, ("class_weights", self.class_weights)]
        *fixed, (_, class_weights) = [
            (name, weights.in_order(value, classes, name) if value and isinstance(value, _BY_CLASS) else value)
            for name, value in options
        ]
        return replace(self, fixed=tuple(fixed), class_weights=class_weights)

    @property
    def uses_order(self) -> bool:
        """Whether the value depends on the order of the classes."""
        words = self.ordinal if isinstance(self.ordinal, tuple) else ()
        return self.ordinal is True or any(isinstance(value, str) and value in words for _, value in self.fixed)

    @property
    def is_classwise(self) -> bool:
        """Whether the metric has a value for each class."""
        return self.average in averages.CLASSWISE and not self.classes

    def title(self, classes: Classes | None = None) -> str:
        """The name of the measure with its average or class, in words, for screens, pages and pictures.

        Parameters
        ----------
        classes : Classes, optional
            The labels of the classes in the title; if left out, the title has the labels or indices of the metric.

        Examples
        --------
        >>> import matrics
        >>> from matrics._catalogue.classes import Classes
        >>> print(matrics.recall.title(), matrics.recall.title(Classes.of(2, ["ok", "fraud"], "fraud")), sep="; ")
        recall; recall of fraud
        """
        metric = self if classes is None else self.resolved_for(classes)
        return spelling.title(metric, classes or Classes(0))

    @property
    def spec(self) -> str:
        """The text that :func:`matrics.get_metric` reads as this metric."""
        return spelling.spec(self)

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
        # The function and the name: a notebook cell that is run again makes another measure with the same name. A
        # missing average differs from the macro mean, as the default average depends on the classes and the positive
        # class.
        labels = tuple([str(label) for label in self.classes])
        facts = (self.function, self.name, self.kind, self.range)  # everything that results depend on
        return (*facts, self.fixed, self.average, labels, self.class_weights)

    def __copy__(self) -> Metric:
        return self  # it is immutable

    def __deepcopy__(self, memo: dict[int, Any]) -> Metric:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        changes = {name: getattr(self, name) for name in _CHANGES}
        if not self.is_own:
            return _restored, (self.name, changes)
        module, name = place_of(self.function)
        target: Any = sys.modules.get(module)
        for part in name.split("."):
            target = getattr(target, part, None)
        if isinstance(target, Metric) and target.function is self.function:
            # If the decorator has replaced the function by a metric, pickle must look up the attribute of the metric.
            self.function.__qualname__ = f"{name}{IN_METRIC}"
        return _restored_own, (self.function, {fact: getattr(self, fact) for fact in _FACTS}, changes)


#: All metrics of the catalogue by their canonical names, in order of registration.
METRICS: dict[str, Metric] = {}

#: The fields that options change, which a pickle of a measure of the catalogue contains.
_CHANGES = ("range", "fixed", "average", "classes", "class_weights", "called", "resolved")

#: The fields of a user's measure in a pickle, in addition to the function.
_FACTS = (
    *("name", "kind", "range", "higher_is_better", "formula", "source", "undefined", "aliases", "proportion_of"),
    "on_host",
)


def _restored(name: str, changes: dict[str, Any]) -> Metric:
    """The metric of the catalogue with the changes of a pickle."""
    return _with(METRICS[name], changes)


def _restored_own(function: Callable[..., Any], facts: dict[str, Any], changes: dict[str, Any]) -> Metric:
    """The measure of a user with the changes of a pickle."""
    return _with(Metric.of(function, **facts), changes)


def _with(record: Metric, changes: dict[str, Any]) -> Metric:
    changed = {name: value for name, value in changes.items() if value != getattr(record, name)}
    return replace(record, **changed) if changed else record
