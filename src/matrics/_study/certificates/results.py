"""The classes of a certificate: a verdict for each property, with a witness if the property fails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from matrics._arrays import Array
from matrics._catalogue.naming import named, title_of
from matrics._catalogue.record import Metric
from matrics._engine.results import Result, frame_of
from matrics._quoting import quoted
from matrics._wording import exact


@dataclass(frozen=True)
class Witness:
    """Matrices that show that a measure lacks a property, and their values.

    Attributes
    ----------
    matrices : tuple
        Nested tuples of integers; rows are true classes.
    roles : tuple of str
        The role of each matrix: "the matrix", "transposed".
    values : tuple of float
        The value of each matrix, from the definition in exact arithmetic.
    confirmed : bool
        Whether exact arithmetic (fractions; 60 digits for roots and logarithms) confirms that the property fails.
        Measures that SciPy computes are not confirmed.
    """

    matrices: tuple[tuple[tuple[int, ...], ...], ...]
    roles: tuple[str, ...]
    values: tuple[float, ...]
    confirmed: bool = True

    @classmethod
    def of(cls, matrices: Array, roles: tuple[str, ...], values: Any, *, confirmed: bool = True) -> Witness:
        """The witness of a stack of integer matrices.

        Parameters
        ----------
        matrices : array of int, shape (K, n, n)
            The matrices of the counterexample.
        roles : tuple of str
            The role of each matrix: ``"the matrix"``, ``"transposed"``.
        values : array of floating numbers, shape (K,)
            The value of each matrix, from the definition in exact arithmetic.
        confirmed : bool, default True
            Whether exact arithmetic confirmed the values.
        """
        nested = tuple(tuple(tuple(int(cell) for cell in row) for row in matrix) for matrix in matrices)
        return cls(nested, roles, tuple(float(value) for value in values), confirmed)

    @property
    def samples(self) -> int:
        """The number of samples of all matrices together."""
        return sum(cell for matrix in self.matrices for row in matrix for cell in row)

    def __str__(self) -> str:
        shown = (
            f"{role} {spelled(matrix)} has {exact(value, undefined='no value')}"
            for matrix, role, value in zip(self.matrices, self.roles, self.values, strict=True)
        )
        return ", ".join(shown)


def spelled(matrix: tuple[tuple[int, ...], ...]) -> str:
    """A matrix as a single line in Python's syntax."""
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in matrix) + "]"


@dataclass(frozen=True)
class Verdict:
    """Whether a measure has a property.

    Attributes
    ----------
    name : str
        The name of the property, such as ``"transposition"``.
    statement : str
        The statement of the property.
    holds : bool or None
        True if no case contradicts the property, False if a case does, None if no case exists (errors neither improve
        nor worsen a measure without a direction).
    cases : int
        The number of tried cases; for a property that fails, until the counterexample.
    classes : tuple of int
        The numbers of classes for which no case contradicts the property; a property that fails may hold for two
        classes.
    witness : Witness or None
        The smallest known case that contradicts the property.
    value : float or None
        A number that belongs to the property: the value of chance, or the largest change by a single sample.
    """

    name: str
    statement: str
    holds: bool | None
    cases: int
    classes: tuple[int, ...] = ()
    witness: Witness | None = None
    value: float | None = None

    @property
    def mark(self) -> str:
        """``"holds"``, ``"fails"``, or a dash if the property does not apply."""
        return {True: "holds", False: "fails", None: "-"}[self.holds]

    def __str__(self) -> str:
        worth = "" if self.value is None else f" ({exact(self.value)})"
        if self.holds is None:
            return f"{self.name}: {self.statement}{worth}"
        because = f": {self.witness}" if self.witness else ""
        few = " and ".join(map(str, self.classes))
        tried = f" on {self.cases:,} cases" if self.holds else f", but not for {few} classes" if few else ""
        return f"{self.name}: {self.mark}{tried}{worth}{because}"


def averaged(metric: Metric) -> Metric:
    """The measure whose certificate is stored: the mean over classes for a class measure without an average."""
    return metric.using(average="macro") if metric.kind == "per_class" and metric.average is None else metric


def key_of(metric: Metric) -> str:
    """The spec that is the key of a stored certificate: the mean over classes has the name of the measure."""
    average = None if metric.average == "macro" and not metric.classes else metric.average
    spec = replace(metric, average=average, called="").spec
    return named(spec, averaged(metric).title())


@dataclass(frozen=True, eq=False)
class Certificate(Result):
    """The verdicts on a measure.

    Attributes
    ----------
    metric : str
        The spec of the measure; the spec of a mean over classes has no average.
    rng : int
        The seed of the random cases: the same seed gives the same certificate. For measures with logarithms the number
        of cases depends on the processor.
    verdicts : dict of str to Verdict
        The verdicts by the name of the property.
    ranges : dict of int to tuple
        For each number of classes the lowest and the highest value of the search, where every true class has samples.
    """

    metric: str
    rng: int
    verdicts: Mapping[str, Verdict] = field(repr=False)
    ranges: Mapping[int, tuple[float, float]] = field(repr=False)

    def __repr__(self) -> str:
        return f"<Certificate of {title_of(self.metric)}: has {len(self.has)}, lacks {', '.join(self.lacks) or 'none'}>"

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each property."""
        rows = list(self.verdicts.values())
        columns: dict[str, list[Any]] = {
            "property": [verdict.name for verdict in rows],
            "statement": [verdict.statement for verdict in rows],
        }
        columns |= {"verdict": [verdict.mark for verdict in rows], "cases": [verdict.cases for verdict in rows]}
        values = [math.nan if verdict.value is None else verdict.value for verdict in rows]
        return frame_of(columns | {"value": values}, indexed=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self._known == other._known

    def __hash__(self) -> int:
        return hash(self._known)

    @property
    def _known(self) -> str:
        """The content as text, for comparison: undefined values are NaN, which is not equal to itself."""
        return repr((self.metric, self.rng, dict(self.verdicts), dict(self.ranges)))

    def __getitem__(self, name: str) -> Verdict:
        if name not in self.verdicts:
            raise KeyError(f"expected a property, got {quoted(name)}; choose {', '.join(self.verdicts)}")
        return self.verdicts[name]

    @property
    def lacks(self) -> tuple[str, ...]:
        """The properties that fail."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.holds is False)

    @property
    def has(self) -> tuple[str, ...]:
        """The properties that hold in all cases."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.holds)

    def __str__(self) -> str:
        return "\n".join([f"{title_of(self.metric)} (seed {self.rng})", *map(str, self.verdicts.values())])
