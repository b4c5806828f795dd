"""Files of counts: written by ``matrics count``, added up by ``matrics merge``, and read by every command."""

from __future__ import annotations

import contextlib
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from matrics.files import labels
from matrics.files.labels import Names
from matrics.quoting import quoted

if TYPE_CHECKING:
    from matrics.files.counts import Counted

Array = Any
Column = Any

VERSION = 1
KEY, DIGEST = b"matrics", b"matrics_digest"  # of the metadata of a Parquet file
SIGNS = (b'{"matrics": "counts"', DIGEST)  # in the footer of a file of counts, even if its metadata cannot be read
BLOCK_CELLS = 2**20  # at a time
DAMAGED = "expected what matrics count has written, got something else: the file is damaged"


@dataclass(frozen=True)
class About:
    """What a file of counts says of itself."""

    names: Names
    classes: Column
    kinds: tuple[str, ...]  # the types of the columns of groups

    @classmethod
    def of(cls, counted: Counted, names: Names) -> About:
        """Of counts that are to be written."""
        column = "count"
        while column in {*names.by, *names.labels}:
            column += "_"
        plain = Names(names.true, names.pred, names.by, counts=column)
        return cls(plain, counted.classes, tuple(str(values.type) for values in counted.groups.values()))

    @property
    def text(self) -> str:
        """As text."""
        names = self.names
        about = {"matrics": "counts", "version": VERSION, "true": names.true, "pred": names.pred, "by": names.by}
        return json.dumps({**about, "kinds": self.kinds, "count": names.counts, "classes": self.classes.to_pylist()})

    @classmethod
    def parse(cls, text: str | bytes) -> About:
        """The reverse of ``text``."""
        try:
            about = json.loads(text)
            names = Names(about["true"], about["pred"], tuple(about["by"]), counts=about["count"])
            kind = pa.large_string() if isinstance(about["classes"][0], str) else pa.int64()
            found = cls(names, pa.array(about["classes"], kind), tuple(about["kinds"]))
            version = int(about["version"])
        except (ValueError, KeyError, IndexError, TypeError, pa.ArrowException) as error:
            raise ValueError(DAMAGED) from error
        if version > VERSION:
            raise ValueError(f"expected counts of version {VERSION}, got version {version}: update matrics")
        return found


def write_parquet(file: Any, counted: Counted, about: About) -> None:
    """Write a row for each cell that is not 0."""
    names = about.names
    digest = Digest(about)
    number, n = len(counted.stack), len(counted.classes)
    schema = None
    writer: Any = None
    some = max(1, BLOCK_CELLS // n**2)
    with contextlib.ExitStack() as stack:  # a writer that is closed later than its file prints a traceback
        for start in range(0, number, some):
            table = _rows_of(counted, names, start, start + some)
            if writer is None:
                schema = table.schema.with_metadata({KEY: about.text.encode()})
                opened = pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)
                writer = stack.enter_context(opened)
            writer.write_table(table.cast(schema), row_group_size=len(table))
            digest.add(table)
        writer.add_key_value_metadata({DIGEST: digest.text.encode()})


def _rows_of(counted: Counted, names: Names, start: int, stop: int) -> Any:
    """A table with a row for each cell of these groups that is not 0."""
    block = counted.stack[start:stop]
    wanted = block != 0
    wanted[~wanted.any(axis=(1, 2)), 0, 0] = True  # a group without samples is a group
    groups, true, pred = np.nonzero(wanted)
    of_row = pa.array(groups + start)
    columns = {name: values.take(of_row) for name, values in counted.groups.items()}
    columns[names.true] = counted.classes.take(pa.array(true))
    columns[names.pred] = counted.classes.take(pa.array(pred))
    columns[str(names.counts)] = pa.array(block[wanted])
    return pa.table(columns)


def write_npz(file: Any, counted: Counted, about: About) -> None:
    """Write arrays: ``counts`` (G, n, n), ``classes``, and ``by/NAME`` with the value of each group."""
    arrays = {"counts": counted.stack, "classes": _to_numpy(about.names.true, counted.classes)}
    arrays |= {f"by/{name}": _to_numpy(name, values) for name, values in counted.groups.items()}
    np.savez(file, allow_pickle=False, **arrays, about=np.array(about.text))


def _to_numpy(name: str, values: Column) -> Array:
    array = np.array(values.to_pylist()) if labels.is_text(values.type) else values.to_numpy(zero_copy_only=False)
    if array.dtype.kind not in "iufbMU" or not from_numpy(array, str(values.type)).equals(values):
        raise ValueError(f"--output: expected a name that ends in .parquet for {quoted(name)} of type {values.type}")
    return array


def from_numpy(array: Array, kind: str) -> Column:
    """The values of groups or classes in an array, as a column of this type."""
    column = pa.array(array.tolist() if array.dtype.kind == "U" else array)
    return column if str(column.type) == kind else column.cast(_type(kind))


def _type(kind: str) -> Any:
    if kind.startswith("timestamp["):
        unit, _, zone = kind.removeprefix("timestamp[").removesuffix("]").partition(", tz=")
        return pa.timestamp(unit, zone or None)
    return pa.date32() if kind == "date32[day]" else pa.type_for_alias(kind)


def _is_bytes(kind: Any) -> bool:
    """Whether values are bytes, which need not be text."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


class Digest:
    """A checksum of the values of a table, which does not depend on where its batches end."""

    def __init__(self, about: About) -> None:
        self._about = about
        self._sums = dict.fromkeys(labels.wanted_columns(about.names), (0, 0))

    def add(self, table: Any) -> None:
        """Take the next rows."""
        for name, (of_values, of_lengths) in self._sums.items():
            values, lengths = _bytes_of(table[name])
            self._sums[name] = zlib.crc32(values, of_values), zlib.crc32(lengths, of_lengths)

    @property
    def text(self) -> str:
        """The checksum."""
        return f"{zlib.crc32(json.dumps([self._about.text, self._sums]).encode()):08x}"


def _bytes_of(column: Column) -> tuple[bytes, bytes]:
    """The values of a column, and of text the length of each."""
    column = labels.decoded(column)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column.to_numpy().tobytes(), b""
    texts = column if labels.is_text(column.type) or _is_bytes(column.type) else column.cast(pa.large_string())
    texts = texts.cast(pa.large_binary())
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    first, last = (np.frombuffer(texts.buffers()[1], np.int64)[texts.offset + at] for at in (0, len(texts)))
    data = texts.buffers()[2]
    return data[first:last].to_pybytes() if data else b"", pc.binary_length(texts).to_numpy().tobytes()
