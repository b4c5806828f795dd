"""The columns of a table of any library: pandas, Polars, pyarrow, mappings, and the Arrow C interface."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matrics._arrays.inputs import described, library
from matrics._quoting import quoted, quoted_list
from matrics._tables import arrow
from matrics._tables.columns import as_column

__all__ = ["AnyTable", "check_columns", "names_of_columns", "open_table"]

EXPECTED = (
    "a data frame of pandas or Polars, a table of pyarrow, a mapping of columns, or an object with __arrow_c_stream__ "
    "(a relation of DuckDB has it)"
)


@dataclass(frozen=True)
class AnyTable:
    """A table whose columns have not been read yet.

    Parameters
    ----------
    argument : str
        The name of the table in messages.
    names : list
        The names of all columns.
    """

    argument: str
    names: list[Any]
    _read: Callable[[list[Any]], Mapping[Any, Any]] = field(repr=False)

    def columns(self, names: Iterable[Any]) -> dict[Any, Any]:
        """Read these columns: series of pandas or Polars, or arrays of pyarrow. A table can be read once."""
        chosen = list(dict.fromkeys(names))
        check_columns(self.names, chosen, self.argument)
        table = self._read(chosen)
        columns = {name: as_column(name, table[name]) for name in chosen}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"{self.argument}: expected columns of the same length, got {lengths}")
        return columns


def open_table(argument: str, table: Any, names: Sequence[Any] = (), *, others: str = "") -> AnyTable:
    """A table of any library as an AnyTable, which reads columns.

    Parameters
    ----------
    argument : str
        The name of the table in messages.
    table : data frame or other table
        A data frame of pandas or Polars, a table of pyarrow, a mapping of names to columns, or an object with
        ``__arrow_c_stream__``, whose other columns are not kept.
    names : sequence, optional
        The columns that the message about a lazy frame selects.
    others : str, optional
        Other kinds of data that the caller accepts, for messages.

    Raises
    ------
    ImportError
        The table needs pyarrow, which is not installed.
    TypeError
        The object is not a table, or a table without values, such as a lazy frame.
    """
    kind, origin = type(table).__name__, library(table)
    if origin in ("pandas", "polars") and kind == "DataFrame":
        return AnyTable(argument, list(table.columns), lambda _: table)
    if isinstance(table, Mapping):
        return AnyTable(argument, list(table), lambda _: table)
    if origin not in ("pandas", "polars") and hasattr(table, "__arrow_c_stream__"):
        return _open_stream(argument, table, others)
    got = f"a {kind} of {origin}" if origin in ("pandas", "polars") else described(table)
    if kind == "LazyFrame":
        columns = f".select([{', '.join(map(repr, dict.fromkeys(names)))}])" if names else ""
        got = f"a LazyFrame: collect it first, {argument}{columns}.collect()"
    elif origin == "dask":
        got = f"a {kind} of dask, which matrics.dask.count_frame counts"
    raise TypeError(f"{argument}: expected {EXPECTED}{others}, got {got}")


def _open_stream(argument: str, table: Any, others: str) -> AnyTable:
    """A table of pyarrow, or another table that Arrow reads in batches."""
    pa = arrow.imported()
    try:
        reader = pa.RecordBatchReader.from_stream(table)
    except pa.ArrowInvalid as error:  # the object is a column
        raise TypeError(f"{argument}: expected {EXPECTED}{others}, got {described(table)}") from error

    def read(names: list[Any]) -> Any:
        with reader:
            batches = [batch.select(names) for batch in reader]
        return pa.Table.from_batches(batches, pa.schema([reader.schema.field(name) for name in names]))

    return AnyTable(argument, list(reader.schema.names), read)


def names_of_columns(by: Hashable | Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The names of columns, from a single name or several; raises a ValueError if a name occurs twice."""
    names = tuple(by) if isinstance(by, Iterable) and not isinstance(by, str) else (by,)
    if len(set(names)) != len(names):
        raise ValueError(f"by: expected different columns, got [{quoted_list(names)}]")
    return names


def check_columns(columns: list[Any], names: Iterable[Any], argument: str = "frame") -> None:
    """Raise a ValueError if a column does not exist, or several columns have its name."""
    for name in names:
        if columns.count(name) != 1:
            got = "several" if name in columns else f"the columns {quoted_list(columns, 20)}"
            raise ValueError(f"{argument}: expected a column {quoted(name)}, got {got}")
