"""What users hand to the pictures, as NumPy arrays with names."""

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
    """An array of any library as one of NumPy; waits for the device."""
    backend, (found,) = as_arrays(**{name: array})
    return np.asarray(backend.to_numpy(found))


def host_stack(cm: Any, argument: str = "cm") -> tuple[list[str] | None, NumPyArray]:
    """The names and the stack (P, n, n) of one matrix, a stack of them or a mapping of names to matrices.

    The names are None for one matrix, and positions for a stack.

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
                f"{argument}: expected one matrix a name, all of the same classes, got the shapes "
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
    """A name for each class: the labels of data frames, or else its number, if none is given."""
    found = [labels for labels in map(labels_of_frame, matrices) if labels is not None]
    if any(labels != found[0] for labels in found):
        raise ValueError(
            f"expected data frames with the same labels in the same order, got {found[0]} and "
            f"{next(labels for labels in found if labels != found[0])}: cm.loc[labels, labels] puts them in order"
        )
    return tuple(map(str, names_or_labels(class_names, n, found[0] if found else None) or range(n)))


def names_of_panels(names: Sequence[str] | None, found: Sequence[str] | None, number: int) -> list[str]:
    """A title for each panel: as given, else as found; the only panel needs none."""
    if names is None:
        return [""] if found is None else list(found)
    if isinstance(names, str) or len(names) != number:
        raise ValueError(f"names: expected {number}, one for each matrix, got {quoted(names)}")
    return [str(name) for name in names]


def names_of_rows(names: Sequence[str] | None, number: int, what: str) -> list[str]:
    """A name for each row of a picture: its number if none is given."""
    if names is None:
        return list(map(str, range(number)))
    if isinstance(names, str) or len(names) != number:
        raise ValueError(f"names: expected {number}, one for each {what}, got {quoted(names)}")
    return [str(name) for name in names]
