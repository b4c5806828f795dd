"""Names for the values of scores: of a logger's scalars, of the columns of a table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

from matrics._backend import Array
from matrics.catalogue.record import Metric
from matrics.evaluation import frames_to_the_user

CLASSWISE = ("class", "one_vs_rest")


def columns(key: str, metric: Metric, class_names: Sequence[str]) -> list[str]:
    """The names of the values that a metric has under a key of ``score``: one, or one for each class.

    A value for each class is named by measure and class, however the average was written: ``recall:class`` and
    ``recall(average=class)`` are ``recall/cat``, ``recall/dog``.

    >>> import matrics
    >>> columns("fbeta(beta=2,average=class)", matrics.fbeta.using(beta=2, average="class"), ["cat", "dog"])
    ['fbeta(beta=2)/cat', 'fbeta(beta=2)/dog']
    """
    if metric.average not in CLASSWISE:
        return [key]
    measure, colon, _ = key.rpartition(":")
    if not colon or ")" in key[len(measure) :]:  # the colon, if any, is one of an option
        measure = replace(metric, average=None).spec
    return [f"{measure}/{name}" for name in class_names]


def scalars(
    scores: Mapping[str, Array],
    metrics: Mapping[str, Metric],
    prefix: str = "",
    class_names: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Scores with the values of each class under names of their own, or with its number where it has no name.

    Shapes are (*B,): those of one matrix are scalars.

    >>> import matrics
    >>> metrics = {"accuracy": matrics.accuracy, "recall:class": matrics.recall.using(average="class")}
    >>> scores = matrics.score([[3, 1], [0, 4]], list(metrics))
    >>> list(scalars(scores, metrics, "val/", ["cat", "dog"]))
    ['val/accuracy', 'val/recall/cat', 'val/recall/dog']
    """
    named: dict[str, Array] = {}
    for key, values in scores.items():
        names = class_names or [str(k) for k in range(values.shape[-1] if values.ndim else 0)]
        found = columns(key, metrics[key], names)
        parts = [values] if metrics[key].average not in CLASSWISE else by_class(values)
        named.update(zip((prefix + name for name in found), parts, strict=True))
    return named


def by_names(
    scores: dict[str, Array], metrics: Mapping[str, Metric], class_names: Sequence[str] | None
) -> dict[str, Array]:
    """Scores with the values of each class under a key of its own, if classes have names; the names are checked."""
    if class_names is None:
        return scores
    numbers = [values.shape[-1] for key, values in scores.items() if metrics[key].average in CLASSWISE]
    return scalars(scores, metrics, "", check_names(class_names, numbers[0] if numbers else len(class_names)))


def by_class(values: Array) -> list[Array]:
    """The values (*B, n) of every class as n arrays (*B,)."""
    return [values[k] if values.ndim == 1 else values[..., k] for k in range(values.shape[-1])]


def with_dropped(named: dict[str, Array], dropped: Array, prefix: str, *, samples: int, warn: bool) -> dict[str, Array]:
    """The values, and the number of dropped samples under a name of its own where it is not 0."""
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
    """Return one name per class, or None; anything else raises an error."""
    if class_names is None:
        return None
    names = tuple(class_names)
    if isinstance(class_names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"class_names: expected strings, one for each class, got {class_names!r}")
    if len(names) != num_classes or len(set(names)) != num_classes:
        raise ValueError(f"class_names: expected {num_classes} different names, one for each class, got {names}")
    return names
