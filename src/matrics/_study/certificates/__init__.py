"""Certificates: the properties of a measure, decided by search, with a witness for each missing property."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from matrics._arrays.draws.numpy import seed_of
from matrics._arrays.sizes import check_count
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._study.certificates import extremes
from matrics._study.certificates.catalogue import RELATIONS
from matrics._study.certificates.results import Certificate, Verdict, Witness, averaged, key_of
from matrics._study.certificates.search import SearchedMeasure, decide

__all__ = ["Certificate", "Verdict", "Witness", "certificate"]

SIZES = (2, 3, 4)
CASES = 20_000


def certificate(metric: str | Metric, *, cases: int = CASES, rng: Any = 0) -> Certificate:
    """The properties of a measure, decided by a search for counterexamples.

    Every property is a statement about all matrices. The search tries to contradict the statement: with all small
    matrices, then with random matrices with many zeros, few errors or very unequal classes, then by hill climbing from
    the matrices nearest to a contradiction. A counterexample is reduced to few samples, and confirmed in exact
    arithmetic by the definition of the measure. A search without a counterexample is no proof.

    Parameters
    ----------
    metric : str or Metric
        A name, a spec or a metric. Properties concern any number of classes, so per-class measures without an average
        are tested as means over the classes (``"f1"`` is macro F1). With ``"f1:binary"`` class 1 of two is tested.
    cases : int, default 20,000
        Random cases for each property and number of classes, in addition to up to 8,000 small cases.
    rng : numpy.random.Generator or int, default 0
        Where random numbers come from, or a seed; None draws anew every time. All numbers derive from an integer, which
        is the seed or the next number of the generator.

    Returns
    -------
    Certificate
        The verdict on each property, by name. ``print`` shows all of them with their witnesses.

    Raises
    ------
    ValueError
        The measure does not exist, or has a value for each class (``":class"``, ``":one_vs_rest"``).
    ImportError
        mpmath, which witnesses need, is not installed.

    Notes
    -----
    The search covers matrices of two, three and four classes. Every true class has samples, as Mullick et
    al. assume, unless a property is about empty classes (``continuity``). An undefined value (0/0) is no
    counterexample.

    References
    ----------
    Mullick et al. 2020 for Conditions 1 to 3; Sokolova & Lapalme 2009 for invariances; Gösgens et
    al. 2021 for agreement, monotonicity, distance and constant baseline.

    Examples
    --------
    >>> import matrics
    >>> result = matrics.study.certificate("g_mean", cases=1000)
    >>> result["class_sizes"].holds  # Condition 1
    True
    >>> print(result["one_class_missed"])  # Condition 3
    one_class_missed: fails: one class missed [[0, 0, 1], [0, 1, 0], [0, 0, 1]] has 0, the worst [[0, 0, 1], [0, 0, 1],
    [0, 0, 1]] has 0
    """
    requested = get_metric(metric)
    if requested.is_classwise:
        raise ValueError(
            f"metric: expected a single value for each matrix, got {quoted(requested.spec)} with a value for each "
            "class: choose "
            f"{requested.name!r}" + (f" or '{requested.name}:binary'" if requested.kind == "per_class" else "")
        )
    if requested.class_weights or tuple in [type(value) for _, value in requested.fixed]:
        raise ValueError(
            f"metric: expected a measure of any number of classes, as matrices of several sizes are searched, "
            f"got {requested.name!r} with numbers for each class"
        )
    cases = check_count(cases, "cases")
    seed = seed_of(rng)
    record = averaged(requested)
    sizes = (2,) if record.average == "binary" else SIZES
    tested = SearchedMeasure(record, sizes, cases, seed)
    verdicts = [decide(tested, prop) for prop in steps(RELATIONS)]
    baseline = extremes.constant_baseline(tested)
    any_sizes, ranges = extremes.same_range(tested, equal=False)
    equal_sizes, _ = extremes.same_range(tested, equal=True)
    verdicts += [baseline, any_sizes, equal_sizes, extremes.one_class_missed(tested)]
    verdicts += [extremes.sensitivity(tested), extremes.undefined_share(tested)]
    return Certificate(key_of(record), tested.seed, {v.name: _with_value(tested, v) for v in verdicts}, ranges)


def _with_value(tested: SearchedMeasure, verdict: Verdict) -> Verdict:
    """The verdict with the value of random, perfect or wrong predictions, if they have a single value."""
    if not verdict.holds or verdict.name not in ("chance", "perfect", "wrong"):
        return verdict
    identity = np.eye(verdict.classes[0])
    matrix = {"chance": np.ones_like(identity), "perfect": identity, "wrong": 1 - identity}[verdict.name]
    return replace(verdict, value=float(tested.values(matrix[None])[0]))
