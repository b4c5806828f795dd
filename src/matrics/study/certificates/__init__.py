"""Certificates: which properties a measure has, decided by search, with a witness for each that it lacks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matrics.catalogue.record import Metric
from matrics.catalogue.registry import get_metric
from matrics.labels import check_count
from matrics.study.certificates import extremes
from matrics.study.certificates.catalogue import RELATIONS
from matrics.study.certificates.results import Certificate, Verdict, Witness
from matrics.study.certificates.search import Judge, judge

__all__ = ["Certificate", "Verdict", "Witness", "certificate"]

SIZES = (2, 3, 4)
CASES = 20_000


def certificate(metric: str | Metric, *, cases: int = CASES, seed: int = 0) -> Certificate:
    """Decide by search which properties a measure has.

    Every property is a statement about all matrices. The search tries to contradict it: with all small matrices, then
    with random ones that have many zeros, few errors or very unequal classes, then uphill from those that are nearest
    to a contradiction. A contradiction is made as small as can be, and confirmed in exact arithmetic by the measure's
    own definition. That none was found is no proof.

    Parameters
    ----------
    metric : str or Metric
        A name, a spec or a metric. Class measures are averaged over the classes (``"f1"`` is macro F1); with
        ``"f1:binary"`` class 1 of two is judged.
    cases : int, default 20,000
        Random cases for each property and number of classes, beside up to 8,000 small ones.
    seed : int, default 0
        Of the random cases.

    Returns
    -------
    Certificate
        The verdict on each property, by name. ``print`` shows all of them with their witnesses.

    Raises
    ------
    ValueError
        There is no such measure, or it has a value for each class (``":class"``, ``":one_vs_rest"``).
    ImportError
        mpmath, which confirms witnesses, is not installed.

    Notes
    -----
    Matrices of two, three and four classes are tried. Every true class has samples, as Mullick et al. assume, except
    where a property is about classes that have none (``continuity``). An undefined value (0/0) contradicts nothing.

    References
    ----------
    Conditions 1 to 3 are of Mullick et al. 2020; invariances of Sokolova & Lapalme 2009; agreement, monotonicity,
    distance and constant baseline of Gösgens et al. 2021.

    Examples
    --------
    >>> import matrics
    >>> found = matrics.study.certificate("g_mean")
    >>> found["class_sizes"].holds  # Condition 1
    True
    >>> print(found["one_class_missed"])  # Condition 3
    one_class_missed: fails: one class missed [[0, 0, 1], [0, 1, 0], [0, 0, 1]] has 0, the worst [[0, 0, 1], [0, 0, 1],
    [0, 0, 1]] has 0
    """
    record = get_metric(metric)
    if record.average in ("class", "one_vs_rest"):
        raise ValueError(
            f"metric: expected one value for each matrix, got {record.spec!r}, which has one for each class: take "
            f"{record.name!r}" + (f" or '{record.name}:binary'" if record.kind == "per_class" else "")
        )
    cases = check_count(cases, "cases")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed: expected an integer from 0, got {seed!r}")
    sizes = (2,) if record.average == "binary" else SIZES
    asked = Judge(record, sizes, cases, int(seed))
    verdicts = [judge(asked, prop) for prop in RELATIONS]
    baseline = extremes.constant_baseline(asked)
    any_sizes, ranges = extremes.same_range(asked, equal=False)
    equal_sizes, _ = extremes.same_range(asked, equal=True)
    verdicts += [baseline, any_sizes, equal_sizes, extremes.one_class_missed(asked)]
    verdicts += [extremes.sensitivity(asked), extremes.undefined_share(asked)]
    return Certificate(record.spec, asked.seed, {v.name: _with_value(asked, v) for v in verdicts}, ranges)


def _with_value(asked: Judge, verdict: Verdict) -> Verdict:
    """Where all guesses, all perfect or all wrong predictions have one value, the verdict has it."""
    if not verdict.holds or verdict.name not in ("chance", "perfect", "wrong"):
        return verdict
    one = np.eye(verdict.classes[0])
    matrix = {"chance": np.ones_like(one), "perfect": one, "wrong": 1 - one}[verdict.name]
    return replace(verdict, value=float(asked.values(matrix[None])[0]))
