"""The samples of a gate, read from labels and scores of a model, a baseline and groups."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array, on_host
from matrics._catalogue.classes import Classes, Sorted
from matrics._catalogue.naming import check_names
from matrics._counting.build import confusion_matrix
from matrics._counting.codes import places
from matrics._counting.labels import squared_weights as squared
from matrics._errors import ArgumentError
from matrics._gates.matrices import of_judge, of_matrices, refuse_stack, to_host
from matrics._gates.samples import Evidence, Samples
from matrics._gates.scores import ScoredSamples
from matrics._judged.counts import JudgedCounts
from matrics._quoting import cut, quoted
from matrics._tables.columns import common_order
from matrics._tables.label_counts import Occurring, occurring
from matrics._tables.vocabularies import ADVICE_WITH_POSITIVE, apart, refuse_disjoint, two_names
from matrics._uncertainty.joint import joint_confusion_matrix


def read_evidence(
    y_true_or_cm: Any,
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
    y_score: Any = None,
    lower_is_positive: bool = False,
    groups: Any = None,
    reference: Hashable = None,
) -> tuple[Samples, Classes]:
    """The samples and the classes; ``name`` is the name of the first argument in the public signature."""
    _check_together(y_pred, y_score, baseline, groups, reference, sample_weight)
    if lower_is_positive and y_score is None:
        raise ArgumentError("lower_is_positive", "expected y_score= with it, the scores of the samples, got none")
    of_labels = {"num_classes": num_classes, "labels": labels, "sample_weight": sample_weight, "clusters": clusters}
    if y_pred is None and y_score is None:
        _refuse_labels(of_labels)
        known: dict[str, Any] = {"class_names": class_names, "positive": positive}
        if isinstance(y_true_or_cm, JudgedCounts):
            return of_judge(y_true_or_cm, baseline, groups, reference, **known)
        return of_matrices(y_true_or_cm, baseline, squared_weights, groups, reference, **known, name=name)
    if squared_weights is not None:
        raise TypeError("squared_weights: expected None with labels, whose weights are sample_weight=")
    by = None if groups is None else _group_codes(groups)
    labels = labels if labels is None or isinstance(labels, Sorted) else tuple(labels)
    if y_pred is None:
        parts: tuple[Evidence, ...] = (Evidence(None),) * (1 if by is None else len(by.values))
        classes = _classes_of_scores(y_true_or_cm, labels, num_classes, positive)
    else:
        columns = (y_true_or_cm, y_pred, baseline)
        parts, classes, labels = _of_labels(
            columns, num_classes, labels, class_names, positive, sample_weight, clusters, by, name
        )
    if y_score is not None:
        scores = ScoredSamples.of(
            y_true_or_cm, y_score, positive, labels, clusters, lower_is_positive=lower_is_positive
        )
        both = zip(parts, _split(scores, by), strict=True)
        parts = tuple(part._replace(scores=scores_of_part) for part, scores_of_part in both)
    if by is None:
        return Samples(parts), classes
    return Samples(parts, tuple(map(str, by.values))).compared_with(reference, by.values), classes


def _check_together(  # noqa: PLR0917 (arguments of a gate)
    y_pred: Any, y_score: Any, baseline: Any, groups: Any, reference: Any, weight: Any
) -> None:
    """Raise for arguments that exclude each other."""
    if baseline is not None and reference is not None:
        raise ArgumentError("baseline", "expected None with reference=, as each group is compared once; got both")
    if reference is not None and groups is None:
        raise ArgumentError("reference", f"expected groups= with it, got {quoted(reference)} without groups")
    if y_score is not None and baseline is not None and y_pred is None:
        raise ArgumentError("baseline", "expected None without y_pred; matrics.ranking.compare compares scores")
    if y_score is not None and weight is not None:
        raise ArgumentError("sample_weight", "expected None with y_score, as limits of scores take no weights")


def _refuse_labels(options: dict[str, Any]) -> None:
    """Raise for options of labels with a confusion matrix."""
    for option, value in options.items():
        if value is not None:
            raise TypeError(f"{option}: expected y_pred= with it, as it is an option of labels; got a confusion matrix")


def _of_labels(  # noqa: PLR0917 (the samples of a gate)
    columns: tuple[Any, Any, Any],
    num_classes: int | None,
    labels: Any,
    class_names: Sequence[str] | None,
    positive: Hashable,
    weight: Any,
    clusters: Any,
    by: _Groups | None,
    name: str,
) -> tuple[tuple[Evidence, ...], Classes, Any]:
    """The counts of labels and of a baseline, the classes, and the labels of the classes."""
    y_true, y_pred, baseline = columns
    own_names: tuple[str, ...] | None = None
    are_unknown = num_classes is None and labels is None
    if are_unknown:
        there = _occurring(y_true, y_pred, baseline, name)
        y_true, y_pred, *rest = (labels.original for labels in there.values())
        baseline = rest[0] if rest else None
        sides = {argument: labels.listed() for argument, labels in there.items()}
        of_true, *of_models = (dict.fromkeys(side) for side in sides.values())
        named = two_names(of_true, {label: None for of_model in of_models for label in of_model}, positive)
        if named is None:
            labels = _labels_of(there, sides, name)
        else:
            y_true, y_pred, *rest = named.codes(*(np.asarray(side, object) for side in sides.values()))
            baseline, num_classes, own_names = (rest[0] if rest else None), 2, named.classes
    options: dict[str, Any] = {"num_classes": num_classes, "labels": labels}
    parts = _counts((y_true, y_pred), baseline, options, weight, clusters, by, name)
    n = parts[0].cm.shape[-1]
    names = own_names or check_names(class_names, n)
    classes = names if labels is None else labels
    whole = sum((part.cm for part in parts[1:]), start=parts[0].cm)
    no_rest = apart(classes, whole.sum(axis=1), whole.sum(axis=0)) if are_unknown and classes else ()
    return parts, Classes.of(n, classes, positive, apart=no_rest), labels


class _Groups(NamedTuple):
    """The values of the groups in their order, and the index of the group of each sample (N,)."""

    values: list[Any]
    codes: Array


def _group_codes(groups: Any) -> _Groups:
    """The groups, in the order of their categories if there are categories, otherwise sorted."""
    labels = occurring("groups", groups)
    if labels.values.ndim != 1 or not labels.values.size:
        raise ArgumentError("groups", f"expected the group of each sample (N,), got shape {labels.values.shape}")
    values, codes = places(labels.values, "groups")
    if labels.categories is None:
        return _Groups(values.tolist(), codes)
    ranks = [labels.categories.index(value) for value in values]
    order = np.argsort(ranks)
    return _Groups([values[k] for k in order], np.argsort(order)[codes])


def _split(scores: ScoredSamples, by: _Groups | None) -> list[ScoredSamples]:
    """The scores of each group."""
    if by is None:
        return [scores]
    _check_length(by, len(scores.true))
    return [scores.of_group(by.codes == k) for k in range(len(by.values))]


def _check_length(by: _Groups, length: int) -> None:
    if len(by.codes) != length:
        raise ArgumentError("groups", f"expected the group of each of {length:,} samples, got {len(by.codes):,}")


def _classes_of_scores(
    y_true: Any, labels: Sequence[Hashable] | None, num_classes: int | None, positive: Hashable
) -> Classes:
    """The classes of samples without predicted labels."""
    if labels is None:
        labels = Sorted.of(set(occurring("y_true", y_true).listed()))
    return Classes.of(num_classes or len(labels), None if num_classes else labels, positive)


def _counts(  # noqa: PLR0917 (the samples of a gate)
    labels: tuple[Any, Any],
    baseline: Any,
    options: dict[str, Any],
    weight: Any,
    clusters: Any,
    by: _Groups | None,
    name: str,
) -> tuple[Evidence, ...]:
    """The counts of labels, of all samples or of each group."""
    of_groups: dict[str, Any] = {}
    if by is not None:
        if len(np.shape(labels[0])) == 1:
            _check_length(by, len(labels[0]))
        of_groups = {"groups": by.codes, "num_groups": len(by.values)}
    cm, squares = _counted(confusion_matrix, labels, {**options, **of_groups}, weight, name)
    if by is not None:
        parts = [Evidence(cm[k], None if squares is None else squares[k]) for k in range(len(cm))]
    else:
        parts = [Evidence(cm, squares)]
    if baseline is not None:
        joint, squares = _counted(joint_confusion_matrix, (*labels, baseline), {**options, **of_groups}, weight, name)
        for k, part in enumerate(parts):
            own = (joint, squares) if by is None else (joint[k], None if squares is None else squares[k])
            parts[k] = part._replace(joint=own[0], joint_squares=own[1])
    if clusters is not None:
        return _with_clusters(parts, labels, baseline, clusters, options, weight, by)
    return tuple(parts)


def _with_clusters(  # noqa: PLR0917 (the samples of a gate)
    parts: list[Evidence],
    labels: tuple[Any, Any],
    baseline: Any,
    clusters: Any,
    options: dict[str, Any],
    weight: Any,
    by: _Groups | None,
) -> tuple[Evidence, ...]:
    """The counts with the matrices of the clusters, which are the random units."""
    names, codes = np.unique(np.asarray(on_host(clusters, "clusters")), return_inverse=True)
    number, of_parts = len(names), np.zeros(len(names), np.int64)
    if by is not None:
        pairs, codes = np.unique(by.codes * number + codes, return_inverse=True)
        number, of_parts = len(pairs), pairs // number
    few = np.flatnonzero(np.bincount(of_parts, minlength=len(parts)) < 2)
    if len(few):
        where = "" if by is None else f" in the group {quoted(by.values[few[0]])}"
        raise ArgumentError("clusters", f"expected at least two clusters{where}, got 1")
    counted: dict[str, Any] = {**options, "groups": codes, "num_groups": number, "sample_weight": weight}
    stack = to_host(confusion_matrix(*labels, **counted))
    joint = None if baseline is None else to_host(joint_confusion_matrix(*labels, baseline, **counted))
    return tuple(
        part._replace(
            squares=None,
            joint_squares=None,
            clusters=stack[of_parts == k],
            joint_clusters=None if joint is None else joint[of_parts == k],
        )
        for k, part in enumerate(parts)
    )


def _counted(
    count: Any, labels: tuple[Any, ...], options: dict[str, Any], weight: Any, name: str
) -> tuple[Array, Array | None]:
    """The table of counts, or the tables of weights and of squared weights."""
    if weight is None:
        table, squares = count(*labels, **options), None
    else:
        table = count(*labels, sample_weight=weight, **options)
        squares = to_host(count(*labels, sample_weight=squared(weight), **options))
    table = to_host(table)
    first_axes = ("groups" in options) + (count is joint_confusion_matrix)
    refuse_stack(table.shape[first_axes:], name)
    return table, squares


def _occurring(y_true: Any, y_pred: Any, baseline: Any, name: str) -> dict[str, Occurring]:
    """The labels of each argument except None."""
    columns = {name: y_true, "y_pred": y_pred, "baseline": baseline}
    return {argument: occurring(argument, values) for argument, values in columns.items() if values is not None}


def _labels_of(there: dict[str, Occurring], sides: dict[str, list[Any]], name: str) -> Sequence[Hashable]:
    """The common categories of all arguments, or else the distinct labels, sorted."""
    categories = common_order((labels.categories, sides[argument]) for argument, labels in there.items())
    if categories:
        return categories
    distinct = {label for side in sides.values() for label in side}
    if not distinct:
        raise ValueError(f"{name}: expected at least one sample, got none")
    try:
        classes = Sorted.of(distinct)
    except TypeError as error:
        raise TypeError(f"labels: expected labels that have an order, got {cut(error)}; pass labels=") from error
    for argument, side in sides.items():
        refuse_disjoint(sides[name], side, ADVICE_WITH_POSITIVE, (name, argument))
    return classes
