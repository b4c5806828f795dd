"""Certificates: which properties a measure has, decided by search, with a witness for each that it lacks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from matrics._arrays.draws.numpy import seed_of
from matrics._arrays.sizes import check_count
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric
from matrics._quoting import quoted
from matrics._study.certificates import extremes
from matrics._study.certificates.catalogue import RELATIONS
from matrics._study.certificates.results import Certificate, Verdict, Witness, averaged, key_of
from matrics._study.certificates.search import Judge, judge

__all__ = ["Certificate", "Verdict", "Witness", "certificate"]

SIZES = (2, 3, 4)
CASES = 20_000


def certificate(metric: str | Metric, *, cases: int = CASES, rng: Any = 0) -> Certificate:
    """Decide by search which properties a measure has.

    Every property is a statement about all matrices. The search tries to contradict it: with all small matrices, then
    with random ones that have many zeros, few errors or very unequal classes, then uphill from those that are nearest
    to a contradiction. A contradiction is made as small as can be, and confirmed in exact arithmetic by the measure's
    own definition. That none was found is no proof.

    Parameters
    ----------
    metric : str or Metric
        A name, a spec or a metric. As properties are of matrices with any number of classes, per-class measures without
        an average are judged as means over the classes (``"f1"`` is macro F1); with ``"f1:binary"`` class 1 of two is
        judged.
    cases : int, default 20,000
        Random cases for each property and number of classes, with up to 8,000 small ones.
    rng : numpy.random.Generator or int, default 0
        Where random numbers come from: all derive from an integer, which is this one or the next number of a generator.
        None draws anew every time.

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
    where a property is about classes that have none (``continuity``). An undefined value (0/0) is no counterexample.

    References
    ----------
    Conditions 1 to 3 are of Mullick et al. 2020; invariances of Sokolova & Lapalme 2009; agreement, monotonicity,
    distance and constant baseline of Gösgens et al. 2021.

    Examples
    --------
    >>> import matrics
    >>> found = matrics.study.certificate("g_mean", cases=1000)
    >>> found["class_sizes"].holds  # Condition 1
    True
    >>> print(found["one_class_missed"])  # Condition 3
    one_class_missed: fails: one class missed [[0, 0, 1], [0, 1, 0], [0, 0, 1]] has 0, the worst [[0, 0, 1], [0, 0, 1],
    [0, 0, 1]] has 0
    """
    asked_for = get_metric(metric)
    if asked_for.is_classwise:
        raise ValueError(
            f"metric: expected one value for each matrix, got {quoted(asked_for.spec)}, which has one for each "
            "class: take "
            f"{asked_for.name!r}" + (f" or '{asked_for.name}:binary'" if asked_for.kind == "per_class" else "")
        )
    if asked_for.class_weights or tuple in [type(value) for _, value in asked_for.fixed]:
        raise ValueError(
            f"metric: expected a measure of any number of classes, as its properties are sought among matrices of "
            f"several sizes, got {asked_for.name!r} with numbers for each class"
        )
    cases = check_count(cases, "cases")
    seed = seed_of(rng)
    record = averaged(asked_for)
    sizes = (2,) if record.average == "binary" else SIZES
    asked = Judge(record, sizes, cases, seed)
    verdicts = [judge(asked, prop) for prop in RELATIONS]
    baseline = extremes.constant_baseline(asked)
    any_sizes, ranges = extremes.same_range(asked, equal=False)
    equal_sizes, _ = extremes.same_range(asked, equal=True)
    verdicts += [baseline, any_sizes, equal_sizes, extremes.one_class_missed(asked)]
    verdicts += [extremes.sensitivity(asked), extremes.undefined_share(asked)]
    return Certificate(key_of(record), asked.seed, {v.name: _with_value(asked, v) for v in verdicts}, ranges)


def _with_value(asked: Judge, verdict: Verdict) -> Verdict:
    """The value of all random, all perfect or all wrong predictions, if they have only one."""
    if not verdict.holds or verdict.name not in ("chance", "perfect", "wrong"):
        return verdict
    one = np.eye(verdict.classes[0])
    matrix = {"chance": np.ones_like(one), "perfect": one, "wrong": 1 - one}[verdict.name]
    return replace(verdict, value=float(asked.values(matrix[None])[0]))
