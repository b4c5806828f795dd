"""What the files of a gate come to: counts, their classes, and where they are from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics.cli.printing import counted

if TYPE_CHECKING:
    from matrics.catalogue.classes import Classes
    from matrics.files.label_rows import Labelled
    from matrics.files.source import MatrixSource
    from matrics.gates.limits import Evidence

Array = Any


@dataclass(frozen=True)
class GateFiles:
    """The counts, the classes, and where they come from, in sentences and as plain values."""

    evidence: Evidence
    classes: Classes
    titles: list[str]
    facts: dict[str, Any] = field(default_factory=dict)


def described(file: str, n: int, cm: Array, weight: str | None) -> str:
    """What a file holds, in words."""
    classes = counted(n, "class", "classes")
    total = cm.sum(dtype=np.float64)
    size = counted(total, "sample") if weight is None else f"weights of {total:,.7g} in all ({weight})"
    return f"{file}: {classes}, {size}"


def united(source: MatrixSource | Labelled, other: MatrixSource | Labelled) -> tuple[tuple[str, ...], bool]:
    """The classes of both files in order, and whether that has a meaning."""
    is_ordered = source.ordered and other.ordered
    if source.classes == other.classes:
        return source.classes, is_ordered
    both = {*source.classes, *other.classes}
    are_numbers = is_ordered and all(label.removeprefix("-").isdecimal() for label in both)
    return tuple(sorted(both, key=int) if are_numbers else sorted(both)), is_ordered
