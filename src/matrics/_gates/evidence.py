"""What a gate is given: a confusion matrix, or true and predicted labels, and the same of a baseline."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from matrics._arrays import Array, as_arrays, on_host
from matrics._catalogue.classes import Classes, Sorted, labels_of_frame
from matrics._catalogue.naming import check_names, names_or_labels
from matrics._counting.build import confusion_matrix
from matrics._counting.labels import squared_weights as squared
from matrics._engine.evaluation import as_stack
from matrics._errors import ArgumentError
from matrics._gates.judge import Evidence
from matrics._judged.correction import confusion_matrix as corrected_matrix
from matrics._judged.counts import JudgedCounts
from matrics._quoting import cut, quoted
from matrics._tables.columns import common_order
from matrics._tables.label_counts import Occurring, occurring
from matrics._tables.vocabularies import ADVICE_WITH_POSITIVE, apart, refuse_disjoint, two_names
from matrics._uncertainty.joint import joint_confusion_matrix
from matrics._uncertainty.weighted import read_squares


def read_evidence(
    given: Any,
    y_pred: Any,
    baseline: Any,
    *,
    name: str,
    num_classes: int | None,
    labels: Iterable[Hashable] | None,
    class_names: Sequence[str] | None,
    positive: Hashable,
    sample_weight: Any,
    squared_weights: Any,
    clusters: Any = None,
) -> tuple[Evidence, Classes]:
    """The counts, and the classes with the positive one; ``name`` is what the signature calls the first argument."""
    of_labels = {"num_classes": num_classes, "labels": labels, "sample_weight": sample_weight, "clusters": clusters}
    if y_pred is None:
        for option, value in of_labels.items():
            if value is not None:
                raise TypeError(f"{option}: expected y_pred= with it, as it is about labels; got a confusion matrix")
        known: dict[str, Any] = {"class_names": class_names, "positive": positive, "name": name}
        if isinstance(given, JudgedCounts):
            return _of_judge(given, baseline, class_names, positive)
        return _of_matrices(given, baseline, squared_weights, **known)
    if squared_weights is not None:
        raise TypeError("squared_weights: expected None with labels, whose weights are sample_weight=")
    own_names: tuple[str, ...] | None = None
    are_found = num_classes is None and labels is None
    if are_found:
        there = _occurring(given, y_pred, baseline, name)
        given, y_pred, *rest = (labels.given for labels in there.values())
        baseline = rest[0] if rest else None
        sides = {argument: labels.listed() for argument, labels in there.items()}
        of_true, *of_models = (dict.fromkeys(side) for side in sides.values())
        named = two_names(of_true, {label: None for of_model in of_models for label in of_model}, positive)
        if named is None:
            labels = _found(there, sides, name)
        else:
            given, y_pred, *rest = named.codes(*(np.asarray(side, object) for side in sides.values()))
            baseline, num_classes, own_names = (rest[0] if rest else None), 2, named.classes
    labels = labels if labels is None or isinstance(labels, Sorted) else tuple(labels)
    options: dict[str, Any] = {"num_classes": num_classes, "labels": labels}
    evidence = Evidence(*_counted(confusion_matrix, (given, y_pred), options, sample_weight, name))
    if baseline is not None:
        counted = _counted(joint_confusion_matrix, (given, y_pred, baseline), options, sample_weight, name)
        evidence = evidence._replace(joint=counted[0], joint_squares=counted[1])
    if clusters is not None:
        evidence = _with_clusters(evidence, (given, y_pred), baseline, clusters, options, sample_weight)
    n = len(evidence.cm)
    names = own_names or check_names(class_names, n)
    classes = names if labels is None else labels
    no_rest = apart(classes, evidence.cm.sum(axis=1), evidence.cm.sum(axis=0)) if are_found and classes else ()
    return evidence, Classes.of(n, classes, positive, apart=no_rest)


def _of_judge(
    counts: JudgedCounts, baseline: Any, class_names: Sequence[str] | None, positive: Hashable
) -> tuple[Evidence, Classes]:
    """The counts of judged samples, and their corrected matrix."""
    if baseline is not None:
        raise TypeError(
            "baseline: expected None with judged counts, which do not say on which samples the models differ; "
            "matrics.judged.compare compares two models"
        )
    cm = corrected_matrix(counts)
    _refuse_stack(tuple(cm.shape), "y_true_or_cm")
    n = cm.shape[-1]
    classes = Classes.of(n, names_or_labels(class_names, n, None), positive)
    return Evidence(np.asarray(_on_host(cm)), labels=counts), classes


def _with_clusters(  # noqa: PLR0917 (the samples of a gate)
    evidence: Evidence, labels: tuple[Any, Any], baseline: Any, clusters: Any, options: dict[str, Any], weight: Any
) -> Evidence:
    """The same with the matrix of each cluster, which is what is random."""
    names, groups = np.unique(np.asarray(on_host(clusters, "clusters")), return_inverse=True)
    if len(names) < 2:
        raise ArgumentError("clusters", f"expected at least two clusters, got {len(names)}")
    counted: dict[str, Any] = {**options, "groups": groups, "num_groups": len(names), "sample_weight": weight}
    stack = _on_host(confusion_matrix(*labels, **counted))
    joint = None if baseline is None else _on_host(joint_confusion_matrix(*labels, baseline, **counted))
    return evidence._replace(squares=None, joint_squares=None, clusters=stack, joint_clusters=joint)


def _of_matrices(
    given: Any, baseline: Any, squares: Any, *, class_names: Sequence[str] | None, positive: Hashable, name: str
) -> tuple[Evidence, Classes]:
    cm = _one(given, name)
    known = names_or_labels(class_names, len(cm), labels_of_frame(given))
    classes = Classes.of(len(cm), known, positive)
    if baseline is None:
        return Evidence(cm, None if squares is None else _on_host(read_squares(squares, cm))), classes
    other, others = _one(baseline, "baseline"), labels_of_frame(baseline)
    if len(other) != len(cm):
        raise ArgumentError("baseline", f"expected a matrix of the same {len(cm)} classes, got {len(other)}")
    if others is not None and known is not None and tuple(map(str, others)) != tuple(map(str, known)):
        raise ArgumentError("baseline", f"expected the classes {classes.listed} in this order, got {quoted(others)}")
    if squares is None:
        return Evidence(cm, None, other), classes
    if not isinstance(squares, (tuple, list)) or len(squares) != 2:
        raise ArgumentError("squared_weights", "expected the matrices of both, (of this one, of the baseline)")
    both = [_on_host(read_squares(one, of)) for one, of in zip(squares, (cm, other), strict=True)]
    return Evidence(cm, both[0], other, both[1]), classes


def _one(given: Any, name: str) -> Array:
    """One matrix as an array of NumPy."""
    if np.ndim(given) == 1:
        raise TypeError(
            f"{name}: expected a confusion matrix (n, n), or labels together with y_pred=, got labels alone"
        )
    backend, array = as_stack(given, name=name)
    _refuse_stack(tuple(array.shape), name)
    return np.asarray(backend.to_numpy(backend.detached(array)))


def _refuse_stack(shape: tuple[int, ...], name: str) -> None:
    if len(shape) > 2:
        raise ValueError(
            f"{name}: expected one confusion matrix (n, n), got a stack {shape}: a gate decides on one model; call it "
            "for each matrix, or sum them"
        )


def _on_host(array: Any) -> Array:
    backend, (found,) = as_arrays(squared_weights=array)
    return np.asarray(backend.to_numpy(found))


def _counted(
    count: Any, labels: tuple[Any, ...], options: dict[str, Any], weight: Any, name: str
) -> tuple[Array, Array | None]:
    """The table of counts, or that of weights and that of squared weights."""
    if weight is None:
        table, squares = count(*labels, **options), None
    else:
        table = count(*labels, sample_weight=weight, **options)
        squares = _on_host(count(*labels, sample_weight=squared(weight), **options))
    table = _on_host(table)
    _refuse_stack(table.shape if count is confusion_matrix else table.shape[1:], name)
    return table, squares


def _occurring(y_true: Any, y_pred: Any, baseline: Any, name: str) -> dict[str, Occurring]:
    """The labels of each argument that is given."""
    given = {name: y_true, "y_pred": y_pred, "baseline": baseline}
    return {argument: occurring(argument, values) for argument, values in given.items() if values is not None}


def _found(there: dict[str, Occurring], sides: dict[str, list[Any]], name: str) -> Sequence[Hashable]:
    """The categories of all, if these are the same, or the classes that are among the labels, sorted."""
    categories = common_order((labels.categories, sides[argument]) for argument, labels in there.items())
    if categories:
        return categories
    found = {label for side in sides.values() for label in side}
    if not found:
        raise ValueError(f"{name}: expected at least one sample, got none")
    try:
        classes = Sorted.of(found)
    except TypeError as error:
        raise TypeError(f"labels: expected labels that have an order, got {cut(error)}; pass labels=") from error
    for argument, side in sides.items():
        refuse_disjoint(sides[name], side, ADVICE_WITH_POSITIVE, (name, argument))
    return classes
