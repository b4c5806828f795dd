"""The content of a certificate: a verdict for each property, with a witness if it fails."""

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
    """Matrices that show that a measure lacks a property, and the measure of each.

    Attributes
    ----------
    matrices : tuple
        Nested tuples of integers; rows are true classes.
    roles : tuple of str
        What each matrix is: "the matrix", "transposed".
    values : tuple of float
        The measure of each, from the definition in exact arithmetic.
    confirmed : bool
        Whether exact arithmetic (fractions; 60 digits for roots and logarithms) confirms that the property fails. Only
        measures that SciPy computes are not.
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
            What each matrix is: ``"the matrix"``, ``"transposed"``.
        values : array of floating numbers, shape (K,)
            The measure of each, from the definition in exact arithmetic.
        confirmed : bool, default True
            Whether exact arithmetic confirmed the values.
        """
        nested = tuple(tuple(tuple(int(cell) for cell in row) for row in matrix) for matrix in matrices)
        return cls(nested, roles, tuple(float(value) for value in values), confirmed)

    @property
    def samples(self) -> int:
        """How many samples the matrices have, all together."""
        return sum(cell for matrix in self.matrices for row in matrix for cell in row)

    def __str__(self) -> str:
        shown = (
            f"{role} {spelled(matrix)} has {exact(value, undefined='no value')}"
            for matrix, role, value in zip(self.matrices, self.roles, self.values, strict=True)
        )
        return ", ".join(shown)


def spelled(matrix: tuple[tuple[int, ...], ...]) -> str:
    """A matrix in one line, as Python reads it."""
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in matrix) + "]"


@dataclass(frozen=True)
class Verdict:
    """Whether a measure has a property.

    Attributes
    ----------
    name : str
        Of the property, such as ``"transposition"``.
    statement : str
        The statement of the property.
    holds : bool or None
        True if no case contradicts it, False if one does, None if there is no case (a measure without a direction is
        neither raised nor lowered by errors).
    cases : int
        How many cases were tried. For a property that fails, those tried until then.
    classes : tuple of int
        The numbers of classes for which no case contradicts it; a property that fails may hold for two classes.
    witness : Witness or None
        The smallest case found that contradicts it.
    value : float or None
        A number that belongs to the property: the value of chance, or the largest change by one sample.
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
        """One word: holds, fails, or a dash if the property does not apply."""
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
    """A class measure without an average as the mean over classes that its certificate is of."""
    return metric.using(average="macro") if metric.kind == "per_class" and metric.average is None else metric


def key_of(metric: Metric) -> str:
    """The spec by which certificates are stored: the mean over classes has the name of the measure."""
    average = None if metric.average == "macro" and not metric.classes else metric.average
    spec = replace(metric, average=average, called="").spec
    return named(spec, averaged(metric).title())


@dataclass(frozen=True, eq=False)
class Certificate(Result):
    """The verdicts on a measure.

    Attributes
    ----------
    metric : str
        The measure, as a spec; the mean over classes has none of its average.
    rng : int
        Of the random cases: with the same number the certificate is the same. For measures with logarithms the number
        of cases depends on the processor.
    verdicts : dict of str to Verdict
        By the name of the property.
    ranges : dict of int to tuple
        For each number of classes the lowest and the highest value found, where every true class has samples.
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
            "property": [one.name for one in rows],
            "statement": [one.statement for one in rows],
        }
        columns |= {"verdict": [one.mark for one in rows], "cases": [one.cases for one in rows]}
        values = [math.nan if one.value is None else one.value for one in rows]
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
            raise KeyError(f"{quoted(name)} is no property; they are {', '.join(self.verdicts)}")
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
