"""The rows of files of counts, which are checked against what was written."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from matrics.files import labels, npz
from matrics.files.rows import Batch, named, total_size
from matrics.files.counts_file import BLOCK_CELLS, DAMAGED, DIGEST, KEY, SIGNS, About, Digest, from_numpy
from matrics.files.fragments import Fragment
from matrics.files.parquet import ParquetRows
from matrics.files.npz import NpzStack

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from matrics.files.labels import Names

OF_NPZ = {"counts", "classes", "about"}  # the arrays by which a file of counts is known


class CountsFile(Protocol):
    """One file of counts."""

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield all rows, each batch with the number of rows up to its end."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def about(self) -> About:
        """What the file says of itself."""


@dataclass(frozen=True)
class ParquetCounts:
    """A Parquet file of counts."""

    path: Path

    @cached_property
    def about(self) -> About:
        """What the file says of itself."""
        with pq.ParquetFile(self.path) as file:
            found = (file.metadata.metadata or {}).get(KEY)
        if found is None:
            raise ValueError(DAMAGED)
        return About.parse(found)

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield all rows; at their end raise if any is not what was written."""
        with named(str(self.path)):
            with pq.ParquetFile(self.path) as file:
                written = (file.metadata.metadata or {}).get(DIGEST)
            digest = Digest(self.about)
        for position, batch in ParquetRows([Fragment(self.path)], self.about.names).batches():
            with named(str(self.path)):
                digest.add(batch.table)
            yield position, batch
        if written != digest.text.encode():
            raise ValueError(f"{self.path}: {DAMAGED}")


@dataclass(frozen=True)
class NpzCounts:
    """An ``.npz`` file of counts; its archive has checksums."""

    path: Path

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        return {member.name: member for member in npz.members(self.path)}

    @cached_property
    def about(self) -> About:
        """What the file says of itself."""
        return About.parse(str(npz.load(self.path, self._arrays["about"])))

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield a row for each cell that is not 0."""
        names, classes = self.about.names, self.about.classes
        with named(str(self.path)):
            groups = {
                name: from_numpy(npz.load(self.path, self._arrays[f"by/{name}"]), kind)
                for name, kind in zip(names.by, self.about.kinds, strict=True)
            }
        stack = NpzStack(self.path, [self._arrays["counts"]])
        number, n, size = stack.shape[0], len(classes), self.path.stat().st_size
        position, some = 0, max(1, BLOCK_CELLS // n**2)
        for first in range(0, number, some):
            block = stack.read(first, min(number, first + some))
            wanted = block != 0
            wanted[~wanted.any(axis=(1, 2)), 0, 0] = True
            of_row, true, pred = np.nonzero(wanted)
            of_group, true, pred = (pa.array(one) for one in (of_row + first, true, pred))
            columns = {name: values.take(of_group) for name, values in groups.items()}
            columns |= {names.true: classes.take(true), names.pred: classes.take(pred)}
            columns[str(names.counts)] = pa.array(block[wanted])
            table = pa.record_batch(columns)
            position += len(table)
            yield position, Batch(table, str(self.path), read=size * (first + len(block)) / number)


@dataclass(frozen=True)
class CountsRows:
    """The rows of files of counts that fit together."""

    files: Sequence[CountsFile]

    @property
    def count(self) -> int | None:
        """Not known before they are read: one for each cell that is not 0."""
        return None

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return total_size(file.path for file in self.files)

    @property
    def names(self) -> Names:
        """The columns of all files."""
        return self.files[0].about.names

    def chosen(self, by: tuple[str, ...]) -> Names:
        """The columns of these groups; if there are none, of all groups."""
        labels.check_columns([*self.names.by, *self.names.labels, str(self.names.counts)], replace(self.names, by=by))
        return replace(self.names, by=by or self.names.by)

    def check(self) -> None:
        """Raise if the files do not have the same columns."""
        first = self.files[0].about
        for file in self.files[1:]:
            names = file.about.names
            if set(names.by) != set(first.names.by) or names.labels != first.names.labels:
                raise ValueError(
                    f"{file.path}: expected counts of {_columns(first.names)}, as in {self.files[0].path}, got those "
                    f"of {_columns(names)}"
                )
            if file.about.classes.type != first.classes.type:
                raise ValueError(
                    f"{file.path}: expected classes of type {first.classes.type}, as in {self.files[0].path}, got "
                    f"{file.about.classes.type}"
                )

    def batches(self, start: int = 0) -> Generator[tuple[int, Batch]]:
        """Yield the rows of one file after the other, from row ``start`` on; the rows before are checked, too."""
        before = before_bytes = 0
        for file in self.files:
            position = 0
            for position, batch in file.batches():
                if before + position > start:
                    rows = len(batch.table)
                    table = batch.table.slice(max(0, rows - (before + position - start)))
                    counts = table[str(file.about.names.counts)]
                    columns = {
                        **dict(zip(table.schema.names, table.columns, strict=True)),
                        str(self.names.counts): counts,
                    }
                    batch = replace(batch, table=pa.record_batch(columns), read=before_bytes + batch.read)  # noqa: PLW2901
                    yield before + position, batch
            before, before_bytes = before + position, before_bytes + file.path.stat().st_size


def _columns(names: Names) -> str:
    by = f" by {', '.join(names.by)}" if names.by else ""
    return f"{' and '.join(names.labels)}{by}"


def opened(path: Path) -> NpzCounts | ParquetCounts | None:
    """The file as one of counts, if it is one."""
    if path.suffix.lower() == ".npz":
        found = NpzCounts(path)
        return found if {member.name for member in npz.members(path)} >= OF_NPZ else None
    if path.suffix.lower() != ".parquet":
        return None
    # By letters, as one flipped bit may hide all metadata: the rows would then be taken for one sample each.
    footer = _footer(path)
    return ParquetCounts(path) if any(sign in footer for sign in SIGNS) else None


def _footer(path: Path) -> bytes:
    """The metadata of a Parquet file, as they are written; of another file, its end."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - 8 - length))
        return file.read()
