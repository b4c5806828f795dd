"""Names for the values of scores: for the scalars of a logger, and for the columns of a table."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from matrics._arrays import Array, is_compiling
from matrics._catalogue.classes import Names, Texts, in_words
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric
from matrics._engine.evaluation import frames_to_the_user
from matrics._quoting import quoted, quoted_list


class MeasureName(str):
    """A key of results: the requested text, with the title of the resolved measure.

    Dictionaries treat it as the text. Screens, data frames and pictures show the title, which distinguishes the mean
    over classes from the recall of a single class. The attribute with the metric is for unregistered measures of users.
    It is not pickled, because a pickle of results must not need the function of the measure.

    >>> name = MeasureName("recall", "recall of fraud")
    >>> name == "recall", name.title_
    (True, 'recall of fraud')
    """

    __slots__ = ("metric_", "title_")

    title_: str  # texts have a method title()
    metric_: Metric | None

    def __new__(cls, name: str, title: str, metric: Metric | None = None) -> Self:
        """The text with a title."""
        made = super().__new__(cls, name)
        made.title_, made.metric_ = title, metric
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return MeasureName, (str(self), self.title_)


def named(name: str, title: str, metric: Metric | None = None) -> str:
    """The name with a title; plain text in code that PyTorch compiles, because it does not support subclasses."""
    if is_compiling():
        return name
    # JAX stores the keys of the results of traced functions, so a traced array in a key would outlive the trace.
    return MeasureName(name, title, None if metric is None or metric.is_traced else metric)


def metric_of(key: str) -> Metric:
    """The measure of a key of results: the measure in the key, or the measure with this name."""
    known = key.metric_ if isinstance(key, MeasureName) else None
    return get_metric(key) if known is None else known


def title_of(key: str) -> str:
    """The title of a key of results, or the key itself if it has no title."""
    return key.title_ if isinstance(key, MeasureName) else key


def columns(key: str, metric: Metric, class_names: Sequence[str]) -> list[str]:
    """The names of the values of a metric under a key of ``score``: a single name, or a name for each class.

    The values of classes are named by measure and class, for any spelling of the average: ``recall:class`` and
    ``recall(average=class)`` are ``recall/cat``, ``recall/dog``.

    >>> import matrics
    >>> columns("fbeta(beta=2,average=class)", matrics.metrics.fbeta.using(beta=2, average="class"), ["cat", "dog"])
    ['fbeta(beta=2)/cat', 'fbeta(beta=2)/dog']
    """
    if not metric.is_classwise:
        return [key]
    measure, colon, _ = key.rpartition(":")
    if not colon or ")" in key[len(measure) :]:  # any colon is part of an option
        measure = replace(metric, average=None).spec
    title = replace(metric, average=None).title() if metric.kind == "overall" else measure
    rest = " against the rest" if metric.kind == "overall" else ""
    return [named(f"{measure}/{name}", f"{title} of {in_words(name)}{rest}", metric) for name in class_names]


def scalars(
    scores: Mapping[str, Array],
    metrics: Mapping[str, Metric],
    prefix: str = "",
    class_names: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Scores with a separate key for the value of each class, which has the name or the number of the class.

    Shapes are (*B,); values of a single matrix are scalars.

    >>> import matrics
    >>> metrics = {"accuracy": matrics.accuracy, "recall:class": matrics.recall.using(average="class")}
    >>> scores = matrics.score([[3, 1], [0, 4]], list(metrics))
    >>> list(scalars(scores, metrics, "val/", ["cat", "dog"]))
    ['val/accuracy', 'val/recall/cat', 'val/recall/dog']
    """
    named: dict[str, Array] = {}
    for key, values in scores.items():
        names = class_names or [str(k) for k in range(values.shape[-1] if values.ndim else 0)]
        value_names = columns(key, metrics[key], names)
        parts = [values] if not metrics[key].is_classwise else by_class(values)
        named.update(zip((_prefixed(prefix, name, metrics[key]) for name in value_names), parts, strict=True))
    return named


def _prefixed(prefix: str, name: str, metric: Metric) -> str:
    return named(prefix + name, prefix + title_of(name), metric) if prefix else name


def by_names(
    scores: dict[str, Array], metrics: Mapping[str, Metric], class_names: Sequence[str] | None
) -> dict[str, Array]:
    """Scores with a separate key for the value of each class if classes have names; raises if the names do not fit."""
    if class_names is None:
        return scores
    numbers = [values.shape[-1] for key, values in scores.items() if metrics[key].is_classwise]
    return scalars(scores, metrics, "", check_names(class_names, numbers[0] if numbers else len(class_names)))


def by_class(values: Array) -> list[Array]:
    """The values (*B, n) of every class as n arrays (*B,)."""
    return [values[k] if values.ndim == 1 else values[..., k] for k in range(values.shape[-1])]


def with_dropped(named: dict[str, Array], dropped: Array, prefix: str, *, samples: int, warn: bool) -> dict[str, Array]:
    """The values, and the number of dropped samples under a separate key if it is not 0."""
    if not samples:
        return named
    if warn:
        warnings.warn(
            f"{samples:,} samples are not counted: their labels are not in [0, num_classes), or a score is NaN; "
            "ignore_index= leaves samples out without this warning",
            RuntimeWarning,
            stacklevel=frames_to_the_user(),
        )
    return {**named, f"{prefix}dropped": dropped}


def check_names(class_names: Sequence[str] | None, num_classes: int) -> tuple[str, ...] | None:
    """The names of the classes as a tuple, or None; raises unless each class has a different name."""
    if class_names is None:
        return None
    names = class_names if isinstance(class_names, (Names, Texts)) else Names(class_names)
    if isinstance(class_names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"class_names: expected a string for each class, got {quoted(class_names)}")
    if len(names) != num_classes or len(set(names)) != num_classes:
        raise ValueError(
            f"class_names: expected {num_classes} different names, as many as classes, got {quoted_list(names)}"
        )
    return names


def names_or_labels(
    class_names: Sequence[str] | None, num_classes: int, labels: tuple[Hashable, ...] | None
) -> tuple[Hashable, ...] | None:
    """The names of the classes, or the labels of a data frame; raises if both are given in different order."""
    names = check_names(class_names, num_classes)
    if names is None or labels is None:
        return labels if names is None else names
    texts = tuple(map(str, labels))
    if names != texts and set(names) == set(texts):
        raise ValueError(
            f"class_names: expected the labels of the data frame in the order of its rows, "
            f"{quoted_list(texts)}, got {quoted_list(names)}; leave "
            "them out, or put the rows in order: cm.loc[class_names, class_names]"
        )
    return names
