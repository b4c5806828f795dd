"""Any table as columns by name: pandas, Polars, pyarrow, mappings, and the Arrow C interface."""

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
        What messages call it.
    names : list
        The names of all columns.
    """

    argument: str
    names: list[Any]
    _read: Callable[[list[Any]], Mapping[Any, Any]] = field(repr=False)

    def columns(self, wanted: Iterable[Any]) -> dict[Any, Any]:
        """Read these columns: series of pandas or Polars, or arrays of pyarrow. A table can be read once."""
        names = list(dict.fromkeys(wanted))
        check_columns(self.names, names, self.argument)
        read = self._read(names)
        found = {name: as_column(name, read[name]) for name in names}
        lengths = {name: len(column) for name, column in found.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"{self.argument}: expected columns of one length, got {lengths}")
        return found


def open_table(argument: str, table: Any, wanted: Sequence[Any] = (), *, others: str = "") -> AnyTable:
    """Any table, from which columns can be read.

    Parameters
    ----------
    argument : str
        What messages call the table.
    table : data frame or other table
        A data frame of pandas or Polars, a table of pyarrow, a mapping of names to columns, or an object with
        ``__arrow_c_stream__``, whose other columns are not kept.
    wanted : sequence, optional
        The columns that the message for a lazy frame names.
    others : str, optional
        What else is expected, for the message about something else.

    Raises
    ------
    ImportError
        pyarrow would read the table, and is not installed.
    TypeError
        It is no table, or one that has no values yet.
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
        columns = f".select([{', '.join(map(repr, dict.fromkeys(wanted)))}])" if wanted else ""
        got = f"a LazyFrame: collect it first, {argument}{columns}.collect()"
    elif origin == "dask":
        got = f"a {kind} of dask, which matrics.dask.count_frame counts"
    raise TypeError(f"{argument}: expected {EXPECTED}{others}, got {got}")


def _open_stream(argument: str, table: Any, others: str) -> AnyTable:
    """A table of pyarrow, or any other that gives its rows in batches."""
    pa = arrow.imported()
    try:
        reader = pa.RecordBatchReader.from_stream(table)
    except pa.ArrowInvalid as error:  # it is a column
        raise TypeError(f"{argument}: expected {EXPECTED}{others}, got {described(table)}") from error

    def read(names: list[Any]) -> Any:
        with reader:
            batches = [batch.select(names) for batch in reader]
        return pa.Table.from_batches(batches, pa.schema([reader.schema.field(name) for name in names]))

    return AnyTable(argument, list(reader.schema.names), read)


def names_of_columns(by: Hashable | Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The names of columns, or a single name; ValueError if a name occurs twice."""
    found = tuple(by) if isinstance(by, Iterable) and not isinstance(by, str) else (by,)
    if len(set(found)) != len(found):
        raise ValueError(f"by: expected different columns, got [{quoted_list(found)}]")
    return found


def check_columns(there: list[Any], wanted: Iterable[Any], argument: str = "frame") -> None:
    """Raise unless all these columns are there, each once."""
    for name in wanted:
        if there.count(name) != 1:
            got = "several" if name in there else f"the columns {quoted_list(there, 20)}"
            raise ValueError(f"{argument}: expected a column {quoted(name)}, got {got}")
