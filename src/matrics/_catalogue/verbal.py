"""``interpret``: the labels of values on published scales, which PyCM calls verbal benchmarks.

A scale divides a measure's range into bands, and a value on a cut belongs to the band above, as in PyCM. Where PyCM's
scales have a gap, or the last bit of a value decides, this module differs:

- A value that differs from a cut, or from an end of the range, only by rounding (1e-9, in single precision 8e-6) counts
  as equal to it. PyCM gives "Fair" for [[7, 3], [3, 7]], as its kappa is 0.3999999999999999, and "None" for a kappa of
  1.0000000000000002.
- A lambda or Pearson's C of 0 has the lowest label. PyCM's scales begin just above 0, and give "None".
- A value that the measure cannot have is "out of range". PyCM gives it the nearest label, or "None".
- NaN is "undefined". PyCM gives "None".
- The scale of discriminant powers is for natural logarithms, as √3/π in its formula shows. PyCM applies it to decimal
  logarithms (here ``discriminant_power(base=10)``), which are smaller by a factor of 2.3.

Otherwise the cuts are those of PyCM, also where those of the authors differ:

- Landis and Koch, and Altman, publish 0.21-0.40, 0.41-0.60 and so on: there 0.20 is below the cut, here above it.
- Cicchetti publishes 0.40-0.59, 0.60-0.74 and 0.75-1.00; PyCM cuts at 0.59 and 0.74.
- Fleiss calls 0.75 itself "fair to good"; here it is "Excellent". Similarly, a positive likelihood ratio of 10 is
  "Good" here, where the source requires more than 10.
- Hinkle et al. (for correlations) and Bohrnstedt and Knoke (for Q) grade magnitudes. Here negative values have the
  lowest label, as -0.9 is not a good result for a classifier.
- The published scale of an AUC begins at 0.5; lower values are "Poor" as well. The scale of negative likelihood ratios
  ends at 1; higher values are "Negligible" as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrics._arrays import as_arrays
from matrics._quoting import did_you_mean, fold, quoted
from matrics.typing import ArrayLike

UNDEFINED = "undefined"
OUT_OF_RANGE = "out of range"


@dataclass(frozen=True)
class Benchmark:
    """A published scale, from the lower edge of every label to the highest value of the measure."""

    name: str
    of: str  # the name of the measure in the catalogue
    source: str
    aliases: tuple[str, ...]  # PyCM's names
    edges: tuple[float, ...]  # the lower edge of each label
    highest: float
    labels: tuple[str, ...]

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value with a label."""
        return self.edges[0], self.highest


# Name, measure, source, PyCM's names; lower edges, highest value; labels. The lowest labels of kappa and alpha have
# no lower limit, as published.
_RECORDS = (
    Benchmark("landis_koch", "cohen_kappa", "Landis and Koch 1977", ("SOA1(Landis & Koch)",),
              (-math.inf, 0, 0.2, 0.4, 0.6, 0.8), 1,
              ("Poor", "Slight", "Fair", "Moderate", "Substantial", "Almost Perfect")),
    Benchmark("fleiss", "cohen_kappa", "Fleiss 1981", ("SOA2(Fleiss)",),
              (-math.inf, 0.4, 0.75), 1,
              ("Poor", "Intermediate to Good", "Excellent")),
    Benchmark("altman", "cohen_kappa", "Altman 1991", ("SOA3(Altman)",),
              (-math.inf, 0.2, 0.4, 0.6, 0.8), 1,
              ("Poor", "Fair", "Moderate", "Good", "Very Good")),
    Benchmark("cicchetti", "cohen_kappa", "Cicchetti 1994", ("SOA4(Cicchetti)",),
              (-math.inf, 0.4, 0.59, 0.74), 1,
              ("Poor", "Fair", "Good", "Excellent")),
    Benchmark("cramer", "cramers_v", "Rea and Parker 1992; Lee 2016", ("SOA5(Cramer)",),
              (0, 0.1, 0.2, 0.4, 0.6, 0.8), 1,
              ("Negligible", "Weak", "Moderate", "Relatively Strong", "Strong", "Very Strong")),
    Benchmark("matthews", "mcc", "Hinkle, Wiersma and Jurs 2003", ("SOA6(Matthews)", "MCCI"),
              (-1, 0.3, 0.5, 0.7, 0.9), 1,
              ("Negligible", "Weak", "Moderate", "Strong", "Very Strong")),
    Benchmark("goodman_kruskal", "goodman_kruskal_lambda", "Villela et al. 2014", ("SOA7(Lambda A)", "SOA8(Lambda B)"),
              (0, 0.2, 0.4, 0.6, 0.8, 1), 1,
              ("Very Weak", "Weak", "Moderate", "Strong", "Very Strong", "Perfect")),
    Benchmark("krippendorff", "krippendorff_alpha", "Krippendorff 2004", ("SOA9(Krippendorff Alpha)",),
              (-math.inf, 0.667, 0.8), 1,
              ("Low", "Tentative", "High")),
    Benchmark("pearson", "pearson_c", "Schubert and Leimstoll 2007", ("SOA10(Pearson C)",),
              (0, 0.1, 0.2, 0.3), 1,
              ("Not Appreciable", "Weak", "Medium", "Strong")),
    Benchmark("positive_likelihood_ratio", "positive_likelihood_ratio", "Bekkar et al. 2013", ("PLRI",),
              (0, 1, 5, 10), math.inf,
              ("Negligible", "Poor", "Fair", "Good")),
    Benchmark("negative_likelihood_ratio", "negative_likelihood_ratio", "Raslich et al. 2007", ("NLRI",),
              (0, 0.1, 0.2, 0.5), math.inf,
              ("Good", "Fair", "Poor", "Negligible")),
    Benchmark("discriminant_power", "discriminant_power", "Sokolova et al. 2006; Bekkar et al. 2013", ("DPI",),
              (-math.inf, 1, 2, 3), math.inf,
              ("Poor", "Limited", "Fair", "Good")),
    Benchmark("auc", "auc_of_labels", "Bekkar et al. 2013", ("AUCI",),
              (0, 0.6, 0.7, 0.8, 0.9), 1,
              ("Poor", "Fair", "Good", "Very Good", "Excellent")),
    Benchmark("yule_q", "yule_q", "Bohrnstedt and Knoke 1982", ("QI",),
              (-1, 0.25, 0.5, 0.75), 1,
              ("Negligible", "Weak", "Moderate", "Strong")),
)  # fmt: skip

#: The scales by name.
BENCHMARKS = {record.name: record for record in _RECORDS}

_NAMES = {fold(name): record.name for record in _RECORDS for name in (record.name, *record.aliases)}
# PyCM's attributes and its comparison use the short form SOA1 for SOA1(Landis & Koch).
_NAMES |= {name.partition("(")[0]: record for name, record in _NAMES.items()}


def list_benchmarks() -> list[str]:
    """The names of the scales of ``interpret``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import matrics
    >>> matrics.study.list_benchmarks()[:4]
    ['landis_koch', 'fleiss', 'altman', 'cicchetti']
    """
    return list(BENCHMARKS)


def interpret(values: ArrayLike | float, benchmark: str) -> str | np.ndarray[Any, np.dtype[np.str_]]:
    """The labels of values of a measure on a published scale, for reports.

    Parameters
    ----------
    values : array_like
        Values of the measure of the scale, of any shape and array library.
    benchmark : str
        A name of ``list_benchmarks()``, or PyCM's name of the scale (``"SOA1(Landis & Koch)"``, ``"SOA1"``,
        ``"PLRI"``), in any case.

    Returns
    -------
    str or numpy.ndarray of str
        The label of every value, in the shape of ``values``; a str for a single number. NaN is ``"undefined"``, and a
        value that the measure cannot have is ``"out of range"``.

    Raises
    ------
    ValueError
        The scale does not exist (the message suggests the nearest names).
    TypeError
        The values are not real numbers, or ``benchmark`` is not a name.

    Examples
    --------
    >>> import matrics
    >>> kappas = matrics.cohen_kappa([[[45, 5], [5, 45]], [[30, 20], [20, 30]], [[50, 0], [0, 0]]])
    >>> matrics.study.interpret(kappas, "landis_koch")
    array(['Almost Perfect', 'Fair', 'undefined'], dtype='<U14')
    >>> matrics.study.interpret(0.8, "AUCI")
    'Very Good'
    """
    scale = get_benchmark(benchmark)
    backend, (array,) = as_arrays(values=values)
    if not (backend.is_integer(array) or backend.is_float(array)):
        raise TypeError(f"values: expected real numbers (NaN where a measure is undefined), got dtype {array.dtype}")
    if not backend.can_look(array):
        raise TypeError("values: expected concrete numbers, got traced numbers: call it outside jit, compile and vmap")
    numbers = backend.to_numpy(backend.to_float(array))
    slack = max(1e-9, 64 * float(np.finfo(numbers.dtype).eps))
    above = np.asarray(
        np.searchsorted(np.array(scale.edges) - slack, numbers, side="right")
    )  # the number of edges at or below each value; 0: below the range
    position = np.select([np.isnan(numbers), numbers > scale.highest + slack], [-1, 0], above)
    words = np.array([OUT_OF_RANGE, *scale.labels, UNDEFINED])[position]
    return words if numbers.ndim else str(words)


def get_benchmark(name: str) -> Benchmark:
    """The scale with this name, or with this name in PyCM."""
    if not isinstance(name, str):
        raise TypeError(f"benchmark: expected the name of a benchmark, got {type(name).__name__}: {quoted(name)}")
    folded = fold(name)
    if folded not in _NAMES:
        hint = did_you_mean(folded, _NAMES, _NAMES.__getitem__)
        raise ValueError(f"unknown benchmark {quoted(name)}; {hint}expected one of {', '.join(BENCHMARKS)}")
    return BENCHMARKS[_NAMES[folded]]
