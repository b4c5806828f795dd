"""A stack of confusion matrices in a file, and the names of its matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._files.keys import Key, Keyed

Array = Any


@dataclass(frozen=True)
class MatrixSource(Keyed):
    """A stack ``(*B, n, n)`` in a file. Only the requested blocks are read."""

    file: str  # its name, for messages
    stack: Array  # an array, or an object with a shape and a method that reads blocks
    keys: tuple[Key, ...]
    classes: tuple[str, ...]
    rows: str = "true"
    named: bool = True  # whether classes have labels, which users specify; otherwise they have numbers from 0
    ordered: bool = True  # whether the file or the type of the classes gives their order a meaning
    by_construction: bool = False  # whether the second class is the positive one
    apart: tuple[tuple[int, str], ...] = ()  # classes that must not count as negative, and why
    clusters: Array = None  # the matrices of the clusters of all matrices, an object like `stack`
    starts: Array = None  # the first cluster of each matrix
    squares: Array = None  # the squared weights, an object like `stack`
    effective_samples: Array = None  # of weighted samples: (Σ w)² / Σ w² of each matrix

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes before those of the classes."""
        return tuple(self.stack.shape[:-2])

    @property
    def n(self) -> int:
        """Number of classes."""
        return int(self.stack.shape[-1])

    def known(self, positive: str | None) -> Classes:
        """The classes, for specs of measures."""
        labels = self.classes if self.named else None
        made = self.by_construction
        return Classes.of(self.n, labels, positive, by_construction=made, ordered=self.ordered, apart=self.apart)

    @property
    def titles(self) -> list[str]:
        """The names of the classes in titles."""
        known = self.known(None)
        return [known.name(k) for k in range(self.n)]

    def block(self, start: int, stop: int) -> Array:
        """Read the matrices from ``start`` to ``stop``, in the order and orientation of the file, as float32 or 64."""
        block = self._read(start, stop)
        return np.asarray(block, np.float32 if block.dtype in (np.float16, np.float32) else np.float64)

    def _read(self, start: int, stop: int) -> Array:
        stack = self.stack
        if not isinstance(stack, np.ndarray):
            return stack.read(start, stop)
        return stack.reshape(-1, self.n, self.n)[start:stop]

    @property
    def is_read_in_any_order(self) -> bool:
        """Whether several threads may read any blocks at the same time."""
        return isinstance(self.stack, np.ndarray) or bool(getattr(self.stack, "is_read_in_any_order", False))

    @property
    def cluster_counts(self) -> Array:
        """The number of clusters of each matrix; None without clusters."""
        return np.diff([] if self.starts is None else np.append(self.starts, self.clusters.shape[0]))

    def clusters_of(self, position: int) -> Array:
        """The matrices of the clusters of a matrix, which is their sum: (K, n, n)."""
        start = int(self.starts[position])
        return self.clusters.read(start, start + int(self.cluster_counts[position]))

    def squares_of(self, positions: Array) -> Array:
        """The squared weights of the matrices at these ascending positions: (K, n, n)."""
        first = int(positions[0])
        return self.squares.read(first, int(positions[-1]) + 1)[positions - first]
