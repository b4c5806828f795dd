"""What the files of a gate come to: counts, their classes, and where they are from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics.cli.printing import counted

if TYPE_CHECKING:
    from matrics.catalogue.classes import Classes
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
