"""Names for a logger for the scores of one matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matrics._backend import Array

CLASSWISE = ("class", "one_vs_rest")


def scalars(
    scores: Mapping[str, Array], prefix: str = "", class_names: Sequence[str] | None = None
) -> dict[str, Array]:
    """Scores of one matrix as scalar arrays, each under its own name.

    A value for each class becomes one entry per class: ``recall:class`` is ``recall/cat``, ``recall/dog``, with the
    numbers of the classes if there are no names.

    >>> import matrics
    >>> scores = matrics.score([[3, 1], [0, 4]], ["accuracy", "recall:class"])
    >>> list(scalars(scores, "val/", ["cat", "dog"]))
    ['val/accuracy', 'val/recall/cat', 'val/recall/dog']
    """
    named: dict[str, Array] = {}
    for spec, values in scores.items():
        measure, _, average = spec.rpartition(":")
        if average not in CLASSWISE:
            named[prefix + spec] = values
            continue
        for k in range(values.shape[-1]):
            named[f"{prefix}{measure}/{k if class_names is None else class_names[k]}"] = values[k]
    return named


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
