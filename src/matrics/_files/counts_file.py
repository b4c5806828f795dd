"""Files of counts: Parquet, written by ``matrics count``, added up by ``matrics merge``, and read by every command.

Each row has a group, a true label, a predicted label and the number of such samples. If samples have weights, it also
has the sum of the weights and the sum of the squared weights.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from matrics._files import columns
from matrics._files.counts import SortedCounts
from matrics._files.fragments import Fragment
from matrics._files.labels import is_ordered
from matrics._files.names import Names, check_columns, required_columns
from matrics._files.parquet import ParquetRows
from matrics._files.rows import Batch, named, total_size

Column = Any

VERSION = 1
KEY, DIGEST = b"matrics", b"matrics_digest"  # of the metadata of a Parquet file
SIGNS = (b'{"matrics": "counts"', DIGEST)  # in the footer of a file of counts, also if the metadata cannot be parsed
BLOCK_ROWS = 2**20  # of a row group
DAMAGED = "expected a file as written by matrics count, got different bytes: the file is damaged"


@dataclass(frozen=True)
class About:
    """The metadata of a file of counts: its columns, and its classes."""

    names: Names
    classes: Column
    is_ordered: bool = False  # whether a file or an option defines the order of the classes

    @classmethod
    def of(cls, counted: SortedCounts, names: Names) -> About:
        """The metadata of counts; the columns of sums get names that no other column has."""
        taken = {*names.by, *names.labels}
        free = {name: _free(name, taken) for name in ("count", "weight", "squared_weight")}
        sums: dict[str, Any] = (
            {} if counted.weight is None else {"weight": free["weight"], "squares": free["squared_weight"]}
        )
        return cls(
            Names(names.true, names.pred, names.by, counts=free["count"], **sums), counted.classes, counted.ordered
        )

    @property
    def text(self) -> str:
        """The metadata in JSON."""
        names = self.names
        about = {"matrics": "counts", "version": VERSION, "true": names.true, "pred": names.pred, "by": names.by}
        sums = {"count": names.counts, "weight": names.weight, "squares": names.squares}
        in_order = columns.sorted_values(self.classes)
        is_by_type = is_ordered(in_order) and in_order.equals(self.classes)
        order = {"ordered": True} if self.is_ordered and not is_by_type else {}
        return json.dumps({**about, **sums, "classes": self.classes.to_pylist(), **order})

    @property
    def order(self) -> tuple[str, ...] | None:
        """The order of the classes, if it has a meaning."""
        return tuple(map(str, self.classes.to_pylist())) if self.is_ordered else None

    @classmethod
    def parse(cls, text: bytes) -> About:
        """The metadata in JSON that ``text`` returns."""
        try:
            about = json.loads(text)
            sums = {"counts": about["count"], "weight": about["weight"], "squares": about["squares"]}
            names = Names(about["true"], about["pred"], tuple(about["by"]), **sums)
            kind = pa.large_string() if isinstance(about["classes"][0], str) else pa.int64()
            result = cls(names, pa.array(about["classes"], kind), bool(about.get("ordered", False)))
            version = int(about["version"])
        except (ValueError, KeyError, IndexError, TypeError, RecursionError, pa.ArrowException) as error:
            raise ValueError(DAMAGED) from error
        if version > VERSION:
            raise ValueError(f"expected counts of version {VERSION}, got version {version}: update matrics")
        return result


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def write_counts(file: Any, counted: SortedCounts, names: Names) -> None:
    """Write a row for each combination of a group, a true and a predicted label that occurs."""
    about = About.of(counted, names)
    digest = Digest(about)
    writer: Any = None
    with contextlib.ExitStack() as stack:  # a writer that is closed later than its file prints a traceback
        for start in range(0, len(counted.true), BLOCK_ROWS):
            table = rows_of(counted, about.names, start, min(len(counted.true), start + BLOCK_ROWS))
            if writer is None:
                schema = table.schema.with_metadata({KEY: about.text.encode()})
                opened = pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)
                writer = stack.enter_context(opened)
            writer.write_table(table.cast(schema), row_group_size=len(table))
            digest.add(table)
        writer.add_key_value_metadata({DIGEST: digest.text.encode()})


def rows_of(counted: SortedCounts, names: Names, start: int, stop: int) -> Any:
    """The rows from ``start`` to ``stop`` of the file of these counts: a table with columns of these names."""
    of_group = pa.array(np.searchsorted(counted.starts, np.arange(start, stop), side="right") - 1)
    table_columns = {name: values.take(of_group) for name, values in counted.groups.items()}
    for name, side in ((names.true, counted.true), (names.pred, counted.pred)):
        table_columns[name] = counted.classes.take(pa.array(side[start:stop]))
    for sum_name, sums in (
        (names.counts, counted.count),
        (names.weight, counted.weight),
        (names.squares, counted.squares),
    ):
        if sum_name is not None:
            table_columns[sum_name] = pa.array(sums[start:stop])
    return pa.table({name: _plain_text(column) for name, column in table_columns.items()})


def _plain_text(column: Column) -> Column:
    """Text columns of a single type, so that merged counts have the same bytes as counts of all rows at once."""
    return pc.cast(column, pa.string()) if columns.is_text(column.type) else column


class Digest:
    """A checksum of the values of a table, however its rows are divided into batches."""

    def __init__(self, about: About) -> None:
        self._about = about
        self._sums = dict.fromkeys(required_columns(about.names), (0, 0))

    def add(self, table: Any) -> None:
        """Include the next rows."""
        for name, (of_values, of_lengths) in self._sums.items():
            values, lengths = _bytes_of(table[name])
            self._sums[name] = zlib.crc32(values, of_values), zlib.crc32(lengths, of_lengths)

    @property
    def text(self) -> str:
        """The checksum."""
        return f"{zlib.crc32(json.dumps([self._about.text, self._sums]).encode()):08x}"


def _bytes_of(column: Column) -> tuple[bytes, bytes]:
    """The bytes of the values of a column, and for text the lengths of the values."""
    column = columns.decoded(column)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column.to_numpy().tobytes(), b""
    texts = column if columns.is_text(column.type) or _is_bytes(column.type) else column.cast(pa.large_string())
    texts = texts.cast(pa.large_binary())
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    first, last = (np.frombuffer(texts.buffers()[1], np.int64)[texts.offset + at] for at in (0, len(texts)))
    data = texts.buffers()[2]
    return data[first:last].to_pybytes() if data else b"", pc.binary_length(texts).to_numpy().tobytes()


def _is_bytes(kind: Any) -> bool:
    """Whether values are bytes, which may be no text."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


@dataclass(frozen=True)
class CountsFile:
    """A file of counts."""

    path: Path

    @cached_property
    def about(self) -> About:
        """The metadata."""
        with pq.ParquetFile(self.path) as file:
            metadata = (file.metadata.metadata or {}).get(KEY)
        if metadata is None:
            raise ValueError(DAMAGED)
        return About.parse(metadata)

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield all rows; raise after the last row if the checksum differs."""
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
class CountsRows:
    """The rows of files of counts with the same columns."""

    files: Sequence[CountsFile]

    @property
    def count(self) -> int | None:
        """The rows of all files."""
        return sum(int(pq.read_metadata(file.path).num_rows) for file in self.files)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return total_size(file.path for file in self.files)

    @property
    def names(self) -> Names:
        """The columns of the first file, which all files have."""
        return self.files[0].about.names

    def chosen(self, by: tuple[str, ...]) -> Names:
        """The columns with these columns of groups; with an empty ``by``, with all columns of groups."""
        check_columns(required_columns(self.names), replace(self.names, by=by))
        return replace(self.names, by=by or self.names.by)

    def check(self) -> None:
        """Raise if the files do not have the same columns."""
        first = self.files[0].about
        for file in self.files:
            names = file.about.names
            if (
                set(names.by) != set(first.names.by)
                or names.labels != first.names.labels
                or _is_weighted(names) != _is_weighted(first.names)
            ):
                raise ValueError(
                    f"{file.path}: expected counts of {_in_words(first.names)}, as in {self.files[0].path}, got counts "
                    f"of {_in_words(names)}"
                )
            if file.about.classes.type != first.classes.type:
                raise ValueError(
                    f"{file.path}: expected classes of type {first.classes.type}, as in {self.files[0].path}, got "
                    f"{file.about.classes.type}"
                )

    def batches(self) -> Generator[tuple[int, Batch]]:
        """Yield the rows of all files, file by file."""
        before = before_bytes = 0
        for file in self.files:
            position, names = 0, file.about.names
            for position, batch in file.batches():
                new_names, old_names = required_columns(replace(self.names, by=names.by)), required_columns(names)
                table = pa.record_batch({new: batch.table[old] for new, old in zip(new_names, old_names, strict=True)})
                yield before + position, replace(batch, table=table, read=before_bytes + batch.read)
            before, before_bytes = before + position, before_bytes + file.path.stat().st_size


def _is_weighted(names: Names) -> bool:
    return names.weight is not None


def _in_words(names: Names) -> str:
    by = f" by {', '.join(names.by)}" if names.by else ""
    return f"{' and '.join(names.labels)}{by}{' with weights' if _is_weighted(names) else ''}"


def opened(path: Path) -> CountsFile | None:
    """The file of counts, or None if the file is of another kind."""
    if path.suffix.lower() != ".parquet":
        return None
    # A search for bytes, because a single flipped bit can hide all metadata, and each row would then count as a sample.
    footer = _footer(path)
    return CountsFile(path) if any(sign in footer for sign in SIGNS) else None


def _footer(path: Path) -> bytes:
    """The raw metadata of a Parquet file; for other files, some of the last bytes."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - 8 - length))
        return file.read()
