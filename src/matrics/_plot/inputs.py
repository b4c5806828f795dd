"""Inputs of pictures, as NumPy arrays with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matrics._arrays import as_arrays
from matrics._catalogue.classes import labels_of_frame
from matrics._catalogue.naming import names_or_labels
from matrics._engine.evaluation import as_stack
from matrics._quoting import quoted
from matrics.typing import NumPyArray

__all__ = ["host_stack", "names_of_classes", "names_of_panels", "names_of_rows", "on_host"]


def on_host(name: str, array: Any) -> NumPyArray:
    """An array of any library as a NumPy array; waits for the device."""
    backend, (converted,) = as_arrays(**{name: array})
    return np.asarray(backend.to_numpy(converted))


def host_stack(cm: Any, argument: str = "cm") -> tuple[list[str] | None, NumPyArray]:
    """The names and the stack (P, n, n) of a matrix, a stack of matrices or a mapping of names to matrices.

    The names are None for a single matrix, and positions for a stack.

    Raises
    ------
    ValueError
        The shape does not fit matrices, or the stack is empty.
    """
    if isinstance(cm, Mapping):
        if not cm:
            raise ValueError(f"{argument}: expected at least one confusion matrix, got an empty mapping")
        parts = [host_stack(matrix)[1] for matrix in cm.values()]
        if any(part.shape != (1, *parts[0].shape[1:]) for part in parts):
            raise ValueError(
                f"{argument}: expected a matrix for each name, all of the same classes, got the shapes "
                f"{[np.shape(matrix) for matrix in cm.values()]}"
            )
        return [str(name) for name in cm], np.concatenate(parts)
    backend, array = as_stack(cm)
    host = np.asarray(backend.to_numpy(backend.to_wide(array)))
    batch, n = host.shape[:-2], host.shape[-1]
    if 0 in batch:
        raise ValueError(f"cm: expected at least one confusion matrix, got shape {host.shape}")
    names = None if not batch else [", ".join(map(str, place)) for place in np.ndindex(*batch)]
    return names, host.reshape(-1, n, n)


def names_of_classes(class_names: Sequence[str] | None, n: int, *matrices: Any) -> tuple[str, ...]:
    """A name for each class: as given, or the labels of data frames, or the numbers of the classes."""
    labels_of_frames = [labels for labels in map(labels_of_frame, matrices) if labels is not None]
    if any(labels != labels_of_frames[0] for labels in labels_of_frames):
        raise ValueError(
            f"expected data frames with the same labels in the same order, got {labels_of_frames[0]} and "
            f"{next(labels for labels in labels_of_frames if labels != labels_of_frames[0])}; sort them by "
            "cm.loc[labels, labels]"
        )
    return tuple(
        map(str, names_or_labels(class_names, n, labels_of_frames[0] if labels_of_frames else None) or range(n))
    )


def names_of_panels(names: Sequence[str] | None, default_names: Sequence[str] | None, number: int) -> list[str]:
    """A title for each panel: as given, or the default; a single panel has none."""
    if names is None:
        return [""] if default_names is None else list(default_names)
    if isinstance(names, str) or len(names) != number:
        raise ValueError(f"names: expected {number}, a name for each matrix, got {quoted(names)}")
    return [str(name) for name in names]


def names_of_rows(names: Sequence[str] | None, number: int, row: str) -> list[str]:
    """A name for each row of a picture: as given, or its number."""
    if names is None:
        return list(map(str, range(number)))
    if isinstance(names, str) or len(names) != number:
        raise ValueError(f"names: expected {number}, a name for each {row}, got {quoted(names)}")
    return [str(name) for name in names]
