"""Similarity of a class's samples and its predictions, on a logarithmic scale."""

from __future__ import annotations

from matrics._arrays import Array
from matrics._catalogue.registry import metric
from matrics._engine.table import Table

__all__ = [
    "consonni_todeschini_i",
    "consonni_todeschini_ii",
    "consonni_todeschini_iii",
    "consonni_todeschini_iv",
    "consonni_todeschini_v",
]


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\ln(1 + tp + tn)}{\ln(1 + m)}",
    source="Consonni and Todeschini 2012",
    undefined="an empty matrix",
    symmetric=True,
    scale_free=False,
)
def consonni_todeschini_i(t: Table) -> Array:
    """Logarithm of tp + tn over that of all samples, 1 added to both counts.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.consonni_todeschini_i([[8, 2], [3, 7]], average="class").round(3)
    array([0.911, 0.911])
    """
    value = t.ratio(t.xp.log1p(t.tp + t.tn), t.xp.log1p(t.total)[None, ...])
    return t.define(t.within(value, 0, 1), (t.total != 0)[None, ...])


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\ln(1 + m) - \ln(1 + fp + fn)}{\ln(1 + m)}",
    source="Consonni and Todeschini 2012",
    undefined="an empty matrix",
    symmetric=True,
    scale_free=False,
    limits_need=lambda n: 50 * n**2,
)
def consonni_todeschini_ii(t: Table) -> Array:
    """1 minus the logarithm of the errors over that of all samples, 1 added to both counts.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.consonni_todeschini_ii([[8, 2], [3, 7]], average="class").round(3)
    array([0.411, 0.411])
    """
    log1p = t.xp.log1p
    total = log1p(t.total)[None, ...]
    return t.divide(total - log1p(t.class_errors), total)


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\ln(1 + tp)}{\ln(1 + m)}",
    source="Consonni and Todeschini 2012",
    undefined="an empty matrix",
    symmetric=True,
    scale_free=False,
)
def consonni_todeschini_iii(t: Table) -> Array:
    """Logarithm of the true positives over that of all samples, 1 added to both counts.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.consonni_todeschini_iii([[8, 2], [3, 7]], average="class").round(3)
    array([0.722, 0.683])
    """
    return t.divide(t.xp.log1p(t.tp), t.xp.log1p(t.total)[None, ...])


@metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\ln(1 + tp)}{\ln(1 + tp + fp + fn)}",
    source="Consonni and Todeschini 2012",
    undefined="no sample of the class and none predicted as it",
    symmetric=True,
    scale_free=False,
)
def consonni_todeschini_iv(t: Table) -> Array:
    """Logarithm of the true positives over that of true positives plus errors, 1 added to both counts.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.consonni_todeschini_iv([[8, 2], [3, 7]], average="class").round(3)
    array([0.833, 0.811])
    """
    return t.divide(t.xp.log1p(t.tp), t.xp.log1p(t.tp + t.class_errors))


@metric(
    kind="per_class",
    range=(-1, 1),
    higher_is_better=True,
    formula=r"\frac{\ln(1 + tp\,tn) - \ln(1 + fp\,fn)}{\ln(1 + m^2 / 4)}",
    source="Consonni and Todeschini 2012",
    undefined="an empty matrix",
    chance="any sizes",
    symmetric=True,
    scale_free=False,
)
def consonni_todeschini_v(t: Table) -> Array:
    """Logarithm of tp tn minus that of fp fn, 1 added to both products, over its largest possible value.

    Examples
    --------
    >>> import matrics
    >>> matrics.metrics.consonni_todeschini_v([[8, 2], [3, 7]], average="class").round(3)
    array([0.454, 0.454])
    """
    right, wrong = (t.log1p(product) for product in t.odds)
    return t.divide(right - wrong, t.log1p(t.whole * t.whole / 4))
