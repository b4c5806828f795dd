"""The rows of a table in memory, with the interface of the rows of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from matrics._errors import ArgumentError
from matrics._files import rows as batches
from matrics._files.names import check_columns
from matrics._files.rows import Batch, named
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Generator

    from matrics._files.foreign import ForeignTable
    from matrics._files.names import Names


@dataclass(frozen=True)
class TableRows:
    """The rows of a table that was read from a file of another tool."""

    file: str
    data: ForeignTable
    names: Names

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(next(iter(self.data.columns.values())))

    @property
    def size(self) -> int:
        """0, as the files have been read."""
        return 0

    @property
    def is_log(self) -> bool:
        """Whether this is an evaluation log."""
        return bool(self.data.scorers)

    def batches(self) -> Generator[tuple[int, Batch]]:
        """Yield the rows, each batch with the number of rows up to its end."""
        with named(self.file):
            whole = self._columns()
        for first in range(0, len(whole), batches.BATCH_ROWS):
            part = whole.slice(first, batches.BATCH_ROWS).combine_chunks()
            table = pa.record_batch([part[name].combine_chunks() for name in part.column_names], part.column_names)
            yield first + len(table), Batch(table, self.file, first)

    def table(self) -> Any:
        """All rows at once."""
        with named(self.file):
            return self._columns()

    def _columns(self) -> Any:
        scorers = self.data.scorers
        if len(scorers) > 1 and "scorer" not in self.names.by:
            names = ", ".join(scorers)
            raise ArgumentError("scorer", f"expected one of {names}, whose scores the log has, got none", self.file)
        if self.data.unlabelled and {"y_true", "y_pred"} & set(self.names.labels):
            raise ValueError(self.data.unlabelled)
        columns, all_columns = {}, self.data.columns
        for name in check_columns(list(all_columns), self.names):
            values = all_columns[name]
            if isinstance(values, pa.ChunkedArray):
                columns[name] = values
                continue
            values = list(values)
            try:
                columns[name] = pa.array(values, pa.large_string() if _are_text(values) else None)
            except pa.ArrowInvalid as error:
                raise ValueError(f"column {quoted(name)}: expected values of one type, got: {error}") from error
        return pa.table(columns)


def _are_text(values: list[Any]) -> bool:
    return any(isinstance(value, str) for value in values)
