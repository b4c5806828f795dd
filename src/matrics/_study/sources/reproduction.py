"""``reproduce``: all printed numbers of the five sources, recomputed and compared."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from matrics._engine.results import Result, frame_of
from matrics._errors import ArgumentError
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._study.sources import eigenvalues, entropy, experiment, imbalance, review, zoo
from matrics._study.sources.recompute import Reproduced, compare, no_error, no_readings
from matrics._study.sources.records import Record, load

VERDICTS = ("match", "erratum", "ambiguous", "unexplained")


@dataclass(frozen=True)
class SourceDocument:
    """A source: its names, and the functions that compute its numbers.

    Attributes
    ----------
    number, name, title : str
        ``"000"``, ``"eve"``, and the authors with the subject.
    figures : str
        The module of :mod:`matrics._study.figures` with its figures, if any.
    """

    number: str
    name: str
    title: str
    figures: str
    value: Callable[[Record], float]
    readings: Callable[[Record], Mapping[str, float]] = no_readings
    error: Callable[[Record], float] = no_error


SOURCES = {
    source.number: source
    for source in (
        SourceDocument(
            "000", "eve", "Dembélé, eigenvalues entropy", "eigenvalues", eigenvalues.value, eigenvalues.readings
        ),
        SourceDocument("001", "review", "Labatut and Cherifi, review of measures", "review", review.value),
        SourceDocument(
            "002",
            "cen",
            "Jurman and Furlanello, MCC and CEN",
            "entropy",
            entropy.value,
            entropy.readings,
            entropy.error,
        ),
        SourceDocument(
            "003", "imbalance", "Mullick et al., imbalanced classes", "imbalance", imbalance.value, imbalance.readings
        ),
        SourceDocument("004", "zoo", "The Living Thing, metric zoo", "zoo", zoo.value),
    )
}


@dataclass(frozen=True)
class Reproduction(Result):
    """The numbers of a source, or of all sources.

    Attributes
    ----------
    numbers : tuple of Reproduced
        Every record with its value, verdict and reason, in the order of the sources.
    remarks : tuple of str
        Other printed results: the interval of the random experiment of 002.
    """

    numbers: tuple[Reproduced, ...]
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts: Counter[str] = Counter(number.verdict for number in self.numbers)
        text = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
        return f"<Reproduction of {len(self.numbers)} numbers: {text}>"

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each number."""
        printed = ("source", "table", "matrix_name", "measure", "printed")
        columns = {name: [getattr(number.record, name) for number in self.numbers] for name in printed}
        results = {
            name: [getattr(number, name) for number in self.numbers] for name in ("value", "error", "verdict", "reason")
        }
        return frame_of(columns | results, indexed=False)

    def totals(self) -> dict[str, dict[str, int]]:
        """The number of records, and of records with each verdict, by source."""
        totals: dict[str, dict[str, int]] = {}
        for source in dict.fromkeys(number.record.source for number in self.numbers):
            counts: Counter[str] = Counter(number.verdict for number in self.numbers if number.record.source == source)
            totals[source] = {"numbers": counts.total(), **{verdict: counts[verdict] for verdict in VERDICTS}}
        return totals

    def of(self, *verdicts: str) -> tuple[Reproduced, ...]:
        """The numbers with any of these verdicts.

        Parameters
        ----------
        *verdicts : str
            ``"match"``, ``"erratum"``, ``"ambiguous"`` or ``"unexplained"``.
        """
        return tuple(number for number in self.numbers if number.verdict in verdicts)


def reproduce(source: str | None = None, *, num: int = experiment.NUM) -> Reproduction:
    """The recomputed values of all numbers that the sources print, compared with the printed values.

    Parameters
    ----------
    source : str, optional
        ``"000"`` or ``"eve"``, ``"001"`` or ``"review"``, ``"002"`` or ``"cen"``, ``"003"`` or ``"imbalance"``,
        ``"004"`` or ``"zoo"``; all five if left out.
    num : int, default 200,000
        The number of matrices in the random experiment of source 002, which takes most of the time.

    Returns
    -------
    Reproduction
        ``numbers`` has every record with its value and verdict, ``totals()`` the numbers of verdicts by source, and
        ``of("erratum", "unexplained")`` selects by verdict.

    Raises
    ------
    ValueError
        The source does not exist, or ``num`` is less than 100.

    Notes
    -----
    A number matches if it differs from the printed value by at most a unit of the last printed digit; whole
    numbers other than percentages must be equal. Any other number must be a known erratum, or be known to have two
    readings. All values must also equal the true values, up to rounding. Otherwise the verdict is ``"unexplained"``.

    The random experiment may differ from the printed and from the true value by at most four standard errors.

    Examples
    --------
    >>> import matrics
    >>> result = matrics.study.reproduce("001")
    >>> result.totals()
    {'001': {'numbers': 57, 'match': 56, 'erratum': 1, 'ambiguous': 0, 'unexplained': 0}}
    >>> erratum, = result.of("erratum")
    >>> erratum.record.measure, erratum.record.printed, erratum.value
    ('min kappa (printed -inf)', '-inf', -1.0)
    """
    number = None if source is None else find_source(source)
    if num < 5 * experiment.GROUPS:
        raise ArgumentError("num", f"expected at least {5 * experiment.GROUPS} matrices, got {num}")
    value, error = functools.partial(entropy.value, num=num), functools.partial(entropy.error, num=num)
    sources = {**SOURCES, "002": replace(SOURCES["002"], value=value, error=error)}
    records = [record for record in load() if number is None or record.source == number]
    remarks = (experiment.remark(num),) if number in (None, "002") else ()
    return Reproduction(tuple(_reproduced(record, sources[record.source]) for record in steps(records)), remarks)


def find_source(name: str) -> str:
    """The number of a source, from its number or its name."""
    known = {key: source.number for source in SOURCES.values() for key in (source.number, source.name)}
    key = name.lower().zfill(3) if name.isdigit() else name.lower()
    if key not in known:
        raise ArgumentError("source", f"expected one of {', '.join(known)}, got {quoted(name)}")
    return known[key]


def _reproduced(record: Record, source: SourceDocument) -> Reproduced:
    return compare(record, source.value(record), source.readings(record), source.error(record))
