"""``describe``: the descriptions of metrics as text, from their records."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace
from importlib.resources import files

from matrics._catalogue import weights
from matrics._catalogue.averages import MEANS
from matrics._catalogue.elsewhere import ELSEWHERE
from matrics._catalogue.options import Option
from matrics._catalogue.pycm import PYCM
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric
from matrics._catalogue.spelling import spell


def describe(name: str | Metric) -> str:
    r"""The description of a metric as text: formula, range, undefined cases, source, options, aliases.

    Parameters
    ----------
    name : str or Metric
        A name, an alias or a spec.

    Returns
    -------
    str

    Examples
    --------
    >>> import matrics
    >>> print(matrics.describe("mcc"))
    mcc: Matthews correlation coefficient for any number of classes.
    <BLANKLINE>
    kind        overall: one value per matrix
    family      association
    range       [-1, 1]
    direction   higher is better
    chance      0 for random guessing with any class frequencies
    transposed  the same value
    class sizes affect the value
    formula     \frac{\sum_k (tp_k\,tn_k - fp_k\,fn_k)}{\sqrt{\sum_k t_k (m - t_k)}\,\sqrt{\sum_k k_k (m - k_k)}}
    undefined   all samples in a single true class or in a single predicted class
    source      Dembélé, equation 10; Gorodkin 2004
    lacks       class sizes, true negatives, triangle, continuity; of more than two classes correction, correct
    sample, error, wrong, only wrong, range of equal classes (witnesses: matrics certificate mcc)
    aliases     matthews_corrcoef, r_k, phi_coefficient
    in PyCM     Overall MCC, MCC :one_vs_rest
    """
    record = get_metric(name)
    lines = facts(record)
    if record.spec != record.name:  # the name has fixed options, or is an alias with fixed options
        lines = {"asked for": record.spec, **lines}
    return "\n".join([f"{record.name}: {record.summary}", "", *(f"{k:<12}{v}" for k, v in lines.items())])


def facts(record: Metric) -> dict[str, str]:
    """The record as labelled lines, for ``describe``, the command line and the documentation."""
    lines = {
        "kind": "per class: one value each, then an average" if record._averaged else "overall: one value per matrix",
        "family": record.family,
        "range": range_of(record),
        "direction": direction_of(record),
        # Measures of users need not declare this; their certificates show it.
        **({} if record.is_own else _behaviour(record)),
        **({"formula": record.formula} if record.formula else {}),
        "undefined": record.undefined,
        "source": record.source,
    }
    if record.lowest is not None:
        lines["lowest"] = ", ".join(f"{record.lowest(n):.5g} for {n} classes" for n in (2, 3, 10))
    if not record.scale_free:
        lines["scale"] = "depends on the number of samples, not only on their proportions"
    if record.on_host:
        lines["needs"] = "SciPy, on the host: no jit, no compile, no gradient; only in the group on_host"
    spec = replace(record, called="").spec
    if spec in certified() and not record.is_own:
        lines["lacks"] = _lacks(spec)
    if record.options:
        lines["options"] = "; ".join(_option(option) for option in record.options)
    if record.aliases:
        lines["aliases"] = ", ".join(record.aliases)
    means = {alias: f"{name}:{average}" for alias, (name, average) in MEANS.items() if name == record.name}
    if means:
        lines["means"] = ", ".join(f"{alias} (= {spec})" for alias, spec in means.items())
    if record.name in ELSEWHERE:
        lines["elsewhere"] = "; ".join(map(str, ELSEWHERE[record.name]))
    pycm = {name: spec for name, specs in PYCM.items() for spec in specs if get_metric(spec).name == record.name}
    if pycm:
        suffixes = {name: spec.removeprefix(record.name) for name, spec in pycm.items()}
        lines["in PyCM"] = ", ".join(f"{name} {suffix}".rstrip() for name, suffix in suffixes.items())
    return lines


def _behaviour(record: Metric) -> dict[str, str]:
    return {
        "chance": _chance(record),
        "transposed": "the same value" if record.symmetric else "a different value",
        "class sizes": _class_sizes(record),
    }


def range_of(record: Metric) -> str:
    """The interval of the values."""
    low, high = ("-∞" if bound == -math.inf else "∞" if bound == math.inf else f"{bound:.5g}" for bound in record.range)
    return f"[{low}, {high}]".replace("∞]", "∞)").replace("[-∞", "(-∞")


def direction_of(record: Metric) -> str:
    """Whether higher values are better, in words."""
    words = {True: "higher is better", False: "lower is better", None: "neither higher nor lower is better"}
    return words[record.higher_is_better]


def _chance(record: Metric) -> str:
    if record.chance is None:
        return "no fixed value for random guessing"
    guess = {
        "any sizes": "random guessing with any class frequencies",
        "true sizes": "random guessing with the true class frequencies",
        "equal sizes": "random guessing with equal class frequencies",
        "equal sizes of equal classes": "random guessing with equal class frequencies, for equal true class sizes",
    }[record.chance]
    return f"{record.chance_value:g} for {guess}" + ("" if record.scale_free else ", with many samples")


def _class_sizes(record: Metric) -> str:
    changes = {
        None: "affect the value",
        "two classes": "do not affect the value if there are two classes",
        "always": "do not affect the value",
    }[record.ignores_class_sizes]
    return (
        changes
        + ("; needs samples of the class" if record._averaged and record.needs_every_class else "")
        + ("; needs samples of every class" if not record._averaged and record.needs_every_class else "")
    )


# Properties that only the certificate shows.
_SHAPE = ("convex", "concave", "quasi_convex", "quasi_concave")


def _lacks(spec: str) -> str:
    """The properties that a measure lacks, and separately the properties that hold for two classes only."""
    lacks = {
        key: mark == FAILS_BEYOND_TWO
        for key, mark in certified()[spec].items()
        if mark in (FAILS, FAILS_BEYOND_TWO) and key not in _SHAPE
    }
    # A measure that lacks a property also lacks its strict form, which is not listed.
    listed = [key for key in lacks if lacks.get(key.removeprefix("strict_")) != lacks[key] or "strict" not in key]
    beyond_two = [key for key in listed if lacks[key]]
    words = ", ".join(key.replace("_", " ") for key in listed if key not in beyond_two)
    words += (
        "; of more than two classes " if words and beyond_two else "of more than two classes " if beyond_two else ""
    )
    words += ", ".join(key.replace("_", " ") for key in beyond_two)
    return f"{words or 'none of the properties'} (witnesses: matrics certificate {spec})"


def _option(option: Option) -> str:
    if option.required:
        return f"{option.name}= (required: {weights.in_words(option.matrix) if option.matrix else option.bounds})"
    others = f"or {', '.join(map(spell, option.choices[1:]))}" if option.choices else option.bounds
    others += f", or {weights.in_words(option.matrix)}" if option.matrix else ""
    return f"{option.name}={spell(option.default)} ({others})"


# The marks of properties; FAILS_BEYOND_TWO is for properties that fail for more than two classes only.
HOLDS, FAILS, FAILS_BEYOND_TWO, UNDECIDED = "+", "-", "2", "."


@functools.cache
def certified() -> dict[str, dict[str, str]]:
    """The marks of ``matrics.study.certificate`` by spec and property, which ``tools`` write."""
    known = json.loads(files("matrics._catalogue").joinpath("verdicts.json").read_text("utf-8"))
    return {spec: dict(zip(known["properties"], marks, strict=True)) for spec, marks in known["verdicts"].items()}
