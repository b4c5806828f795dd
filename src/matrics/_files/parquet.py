"""The rows of Parquet files, in batches; flipped bits raise an error if the file has checksums."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from matrics._files import columns as of_columns
from matrics._files import rows as batches
from matrics._files.labels import in_order, joined_order, order_of
from matrics._files.names import check_columns, required_columns
from matrics._files.rows import Batch, named
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from matrics._files.fragments import Fragment
    from matrics._files.names import Names

LARGE_BYTES = 2**26  # of a row group; larger groups are read in pieces, as they may exceed the memory
BUFFER_BYTES = 2**20  # of a column in a piece of an open row group


@dataclass(frozen=True)
class ParquetRows:
    """The rows of Parquet files, in the order of the files."""

    fragments: Sequence[Fragment]
    names: Names

    @property
    def folders(self) -> frozenset[str]:
        """The columns in the names of folders."""
        return frozenset(name for name, _ in self.fragments[0].folders) & set(required_columns(self.names))

    @property
    def count(self) -> int:
        """The number of rows of all files."""
        total = 0
        for fragment in self.fragments:
            with named(str(fragment.path)), open_parquet(fragment.path) as file:
                total += file.metadata.num_rows
        return total

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return batches.total_size(fragment.path for fragment in self.fragments)

    def batches(self, start: int = 0) -> Generator[tuple[int, Batch]]:
        """Yield the rows from row ``start`` on, in batches, each with the number of rows of all files up to its end."""
        position = before = 0
        for fragment in self.fragments:
            with named(str(fragment.path)), open_parquet(fragment.path, self._texts) as file:
                columns = self._columns(fragment, file.schema_arrow.names)
                first, size = position, fragment.path.stat().st_size
                position, before = position + file.metadata.num_rows, before + size
                if position <= start:
                    continue
                where = str(fragment.path) if len(self.fragments) > 1 else "the data"
                unknown = _without_order(file, columns)
                for row, batch in _batches(file, columns, max(0, start - first)):
                    table = self._with_folders(batch, fragment)
                    for name in unknown:
                        place = table.schema.names.index(name)
                        table = table.set_column(place, name, of_columns.decoded(table[name]))
                    end = first + row + len(table)
                    read = before - size * (position - end) / (position - first)
                    yield end, Batch(table, str(fragment.path), row, where, read)

    def table(self) -> Any:
        """All rows at once."""
        parts = [batch.table for _, batch in self.batches()]
        if not parts:
            with open_parquet(self.fragments[0].path) as file:
                return file.schema_arrow.empty_table().select(required_columns(self.names))
        plain = [pa.table({name: of_columns.decoded(part[name]) for name in part.schema.names}) for part in parts]
        whole = pa.concat_tables(plain, promote_options="permissive")
        typed = {
            name: of_columns.typed(whole[name]) if name in self.folders else whole[name] for name in whole.column_names
        }
        for name in self.names.labels:
            typed[name] = in_order(
                typed[name], functools.reduce(joined_order, (order_of(part[name]) for part in parts))
            )
        return pa.table(typed)

    def _texts(self, schema: Any) -> list[str]:
        """The columns to read as dictionaries, as the file stores them."""
        required = required_columns(self.names)
        return [name for name in required if name in schema.names and of_columns.is_text(schema.field(name).type)]

    def _columns(self, fragment: Fragment, header: list[str]) -> list[str]:
        """The columns to read from this file."""
        required = check_columns([*header, *(name for name in self.folders if name not in header)], self.names)
        both = sorted(self.folders & set(header))
        if both:
            raise ValueError(f"expected {quoted(both[0])} as a column or as names of folders, got both")
        of_rows = sorted(self.folders - set(self.names.by))
        if of_rows:
            raise ValueError(f"expected names of folders as columns of by=, got {quoted(of_rows[0])}")
        for name in self.folders:
            fragment.value(name)  # raises if the folder has no value
        return [name for name in required if name not in self.folders]

    def _with_folders(self, batch: Any, fragment: Fragment) -> Any:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name in self.folders:
            zeros = pa.array(np.zeros(len(batch), np.int8))
            columns[name] = pa.DictionaryArray.from_arrays(zeros, pa.array([fragment.value(name)], pa.large_string()))
        return pa.record_batch(
            [columns[name] for name in required_columns(self.names)], names=required_columns(self.names)
        )


def open_parquet(path: Path, texts: Any = None) -> Any:
    """Open a file, and check that its row groups have the number of rows in the metadata."""
    with pq.ParquetFile(path) as file:
        metadata, dictionaries = file.metadata, texts(file.schema_arrow) if texts else []
    # The columns are not inspected further: pyarrow aborts the process where their metadata are damaged in some ways.
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    sizes = [group.num_rows for group in groups]
    is_large = max((group.total_byte_size for group in groups), default=0) > LARGE_BYTES
    if sum(sizes) != metadata.num_rows or min(sizes, default=0) < 0:
        raise ValueError(f"expected {metadata.num_rows:,} rows, got {sum(sizes):,}: the file is damaged")
    return pq.ParquetFile(
        path,
        metadata=metadata,
        read_dictionary=dictionaries,
        buffer_size=BUFFER_BYTES if is_large else 0,
        page_checksum_verification=True,
    )


def _batches(file: Any, columns: list[str], start: int) -> Iterator[tuple[int, Any]]:
    """The batches of a file from row ``start`` on, and the position of their first rows."""
    sizes = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
    ends = np.cumsum(sizes, dtype=np.int64)
    first = int(np.searchsorted(ends, start, side="right"))  # the row groups before it need not be read
    row = int(ends[first - 1]) if first else 0
    for batch in itertools.chain.from_iterable(
        file.iter_batches(batches.BATCH_ROWS, row_groups=list(groups), columns=columns)
        for groups in _row_groups(sizes, first)
    ):
        _check_dictionaries(batch)
        new = batch.slice(max(0, start - row))
        row += len(batch)
        if len(new):
            yield row - len(new), new
    if row != file.metadata.num_rows:
        raise ValueError(f"expected {file.metadata.num_rows:,} rows, got {row:,}: the file is damaged")


def _without_order(file: Any, columns: list[str]) -> list[str]:
    """The ordered categorical columns without a dictionary in the file: their categories are read in any order."""
    names = [name for name in columns if getattr(file.schema_arrow.field(name).type, "ordered", False)]
    groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)] if names else []
    places = {group.column(k).path_in_schema: k for group in groups[:1] for k in range(group.num_columns)}
    return [name for name in names if not all(group.column(places[name]).has_dictionary_page for group in groups)]


def _row_groups(sizes: list[int], first: int) -> Iterator[range]:
    """Groups of row groups to read together: small row groups are combined until they fill a batch."""
    while first < len(sizes):
        last, rows = first, 0
        while last < len(sizes) and rows < batches.BATCH_ROWS:
            rows += sizes[last]
            last += 1
        yield range(first, last)
        first = last


def _check_dictionaries(batch: Any) -> None:
    """Raise if a damaged file has an index beyond its dictionary, which pyarrow does not check."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            ends = pc.min_max(column.indices)
            if ends["min"].is_valid and not 0 <= ends["min"].as_py() <= ends["max"].as_py() < len(column.dictionary):
                raise ValueError(
                    f"column {quoted(name)}: expected values of its dictionary, got other values: the file is damaged"
                )
