"""Quantiles of many scores in bounded memory: of all scores, or of a random sample if they are too many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Array = Any

MOST_KEPT = 2**22  # scores: 32 MiB, and five times that for a moment


@dataclass
class Sample:
    """Rows of scores that are added block by block: all of them, or a random sample without replacement."""

    width: int
    seen: int = 0
    blocks: list[Array] = field(default_factory=list)
    keys: list[Array] = field(default_factory=list)  # a random number for each row; the smallest are kept

    def __post_init__(self) -> None:
        self.most = MOST_KEPT // self.width
        self.random = np.random.default_rng(0)  # the same rows in every run, and with blocks of any size

    def add(self, rows: Array) -> None:
        """Add a block of scores (rows, columns)."""
        self.seen += len(rows)
        self.blocks.append(rows)
        self.keys.append(self.random.random(len(rows)))
        if sum(map(len, self.keys)) > 2 * self.most:
            self._cut()

    def _cut(self) -> None:
        rows, keys = np.concatenate(self.blocks), np.concatenate(self.keys)
        if len(keys) > self.most:
            kept = np.argpartition(keys, self.most)[: self.most]
            rows, keys = rows[kept], keys[kept]
        self.blocks, self.keys = [rows], [keys]

    @property
    def kept(self) -> int:
        """How many rows the quantiles are computed from."""
        return min(self.seen, self.most)

    def quantiles(self, shares: Iterable[float]) -> Iterator[Array]:
        """Yield quantiles of the defined scores of each column, interpolated linearly; NaN without any."""
        self._cut()
        ordered = np.sort(self.blocks[0], axis=0)  # NaN last
        last = np.maximum((~np.isnan(ordered)).sum(axis=0) - 1, 0)
        for share in shares:
            place = share * last
            around = np.stack([np.floor(place), np.ceil(place)]).astype(int)
            low, high = np.take_along_axis(ordered, around, axis=0)
            part = place - around[0]
            # numpy.quantile has NaN next to an infinite score.
            with np.errstate(invalid="ignore"):
                yield np.where(low == high, low, low * (1 - part) + high * part)
