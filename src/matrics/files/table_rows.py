"""The rows of a table in memory, as files have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from matrics.files import rows as batches
from matrics.files.columns import as_numbers, is_text
from matrics.files.names import check_columns
from matrics.files.rows import Batch
from matrics.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Generator

    from matrics.files.foreign import ForeignTable
    from matrics.files.names import Names


@dataclass(frozen=True)
class TableRows:
    """The rows of a table that another tool's file was read into."""

    file: str
    found: ForeignTable
    names: Names

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(next(iter(self.found.columns.values())))

    @property
    def size(self) -> int:
        """The bytes of all files; 0, as they have been read."""
        return 0

    @property
    def texts(self) -> frozenset[str]:
        """The columns of labels that are text, which may be numbers."""
        whole = self._wanted()
        return frozenset(name for name in self.names.labels if is_text(whole[name].type))

    def batches(self, start: int = 0) -> Generator[tuple[int, Batch]]:
        """Yield the rows from row ``start`` on, each batch with the number of rows up to its end."""
        whole = self._wanted()
        for first in range(start, len(whole), batches.BATCH_ROWS):
            part = whole.slice(first, batches.BATCH_ROWS).combine_chunks()
            table = pa.record_batch([part[name].combine_chunks() for name in part.column_names], part.column_names)
            yield first + len(table), Batch(table, self.file, first)

    def table(self) -> Any:
        """All rows at once."""
        whole = self._wanted()
        labels = [name for name in self.names.labels if is_text(whole[name].type)]
        if labels and len(labels) == len(self.names.labels):
            for name, column in zip(labels, as_numbers([whole[name] for name in labels]), strict=True):
                whole = whole.set_column(whole.column_names.index(name), name, column)
        return whole

    def _wanted(self) -> Any:
        scorers = self.found.scorers
        if len(scorers) > 1 and "scorer" not in self.names.by:
            raise ValueError(f"expected one scorer, got {', '.join(scorers)}: one matrix of each by --by scorer")
        columns = {}
        for name in check_columns(list(self.found.columns), self.names):
            values = list(self.found.columns[name])
            try:
                columns[name] = pa.array(values, pa.large_string() if _are_text(values) else None)
            except pa.ArrowInvalid as error:
                raise ValueError(f"column {quoted(name)}: expected values of one type, got: {error}") from error
        return pa.table(columns)


def _are_text(values: list[Any]) -> bool:
    return any(isinstance(value, str) for value in values)
