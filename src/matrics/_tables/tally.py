"""Counting in databases: the SQL statement with GROUP BY, and grouped tables of DuckDB and Ibis."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from matrics._arrays.inputs import library
from matrics._quoting import cut, quoted
from matrics._tables.any_table import check_columns, names_of_columns

__all__ = ["Sums", "count_sql", "groups_itself", "tally"]


class Operation(NamedTuple):
    """A sum over the rows of a group, as SQL, and as an expression of a table and a column of Ibis."""

    sql: str
    ibis: Callable[[Any, Any], Any]


# Squares of integers may be too large for an integer.
OPERATIONS = {
    "rows": Operation("COUNT(*)", lambda table, _: table.count()),
    "sum": Operation("SUM({0})", lambda _, column: column.sum()),
    "squares": Operation(
        "SUM(CAST({0} AS DOUBLE PRECISION) * CAST({0} AS DOUBLE PRECISION))",
        lambda _, column: (column.cast("float64") * column.cast("float64")).sum(),
    ),
    "least": Operation("MIN({0})", lambda _, column: column.min()),
    "known": Operation("COUNT({0})", lambda _, column: column.count()),
}


class Sums(NamedTuple):
    """The columns of a table with one row for each group of rows.

    Parameters
    ----------
    rows : str
        The number of rows.
    sums : dict of str to str
        For each column of numbers, the column of its sums.
    least, known : dict of str to str
        The columns of its smallest value, and of the number of values that are not missing.
    squares : str or None
        The column of the sums of the squared weights, or None.
    """

    rows: str
    sums: dict[Hashable, str]
    least: dict[Hashable, str]
    known: dict[Hashable, str]
    squares: str | None


def count_sql(
    table: str | Sequence[str],
    *,
    y_true: str = "y_true",
    y_pred: str = "y_pred",
    by: str | Iterable[str] = (),
    sample_weight: str | None = None,
) -> str:
    """The SQL statement that counts a table of labels in a database, with a row for each group and pair of labels.

    The result has the columns of the groups, the two columns of labels, and ``count``, the number of samples. Every
    command reads this table with its option ``counts``, and :func:`matrics.frames.count` with ``counts="count"``. Only
    the combinations that occur leave the database.

    Parameters
    ----------
    table : str, or sequence of str
        The name of the table or view; with its schema and database a sequence: ``("sales", "predictions")``.
    y_true, y_pred : str, default "y_true" and "y_pred"
        The columns of true and of predicted labels.
    by : str or sequence of them, default ()
        The columns whose values define the groups, such as the model.
    sample_weight : str, optional
        The column of the weights of samples. The result then has two more columns, ``weight`` and ``squared_weight``,
        the sums of the weights and of their squares, which :func:`matrics.frames.count` takes as
        ``sample_weight="weight"`` and ``squared_weights="squared_weight"``.

    Returns
    -------
    str
        A statement without a semicolon. All names are in double quotes, as in standard SQL, so arguments are always
        read as names and never as parts of the statement. If a column of groups has the name of a sum, the sum gets an
        underscore: ``count_``.

    Raises
    ------
    TypeError
        A name is not text.
    ValueError
        A name is empty or contains a null character, or ``by`` contains a name twice.

    Notes
    -----
    The result contains rows with missing labels, which raise an error when they are read: leave them out with a view
    with ``WHERE y_pred IS NOT NULL``. BigQuery and MySQL use backticks in place of double quotes (MySQL only without
    ``ANSI_QUOTES``).

    Examples
    --------
    >>> import matrics
    >>> print(matrics.frames.count_sql("predictions", by="model"))
    SELECT "model", "y_true", "y_pred", COUNT(*) AS "count"
    FROM "predictions"
    GROUP BY "model", "y_true", "y_pred"

    The statement runs in any database, such as SQLite:

    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE predictions (y_true TEXT, y_pred TEXT)")
    >>> rows = [("cat", "cat"), ("dog", "cat"), ("dog", "cat")]
    >>> _ = database.executemany("INSERT INTO predictions VALUES (?, ?)", rows)
    >>> sorted(database.execute(matrics.frames.count_sql("predictions")))
    [('cat', 'cat', 1), ('dog', 'cat', 2)]
    """
    names = names_of_columns(by)
    keys = list(dict.fromkeys([*names, y_true, y_pred]))
    free = _free(("count", "weight", "squared_weight"), keys)
    sums: dict[str, tuple[str, Any]] = {free[0]: ("rows", None)}
    if sample_weight is not None:
        sums |= {free[1]: ("sum", sample_weight), free[2]: ("squares", sample_weight)}
    parts = [table] if isinstance(table, str) or not isinstance(table, Iterable) else list(table)
    if not parts:
        raise ValueError("table: expected a name, got an empty sequence")
    source = ".".join(_identifier(part, "table") for part in parts)
    return f"SELECT {_selected(keys, sums)}\nFROM {source}\nGROUP BY {_listed(keys)}"


def groups_itself(table: Any) -> bool:
    """Whether a table is a relation of DuckDB or a table of Ibis, whose rows are grouped in the database."""
    return _is_relation(table) or _is_expression(table)


def tally(table: Any, keys: Iterable[Any], numbers: Iterable[Any] = (), *, squares_of: Any = None) -> tuple[Any, Sums]:
    """Group a relation of DuckDB or a table of Ibis by ``keys``, into a row for each combination that occurs.

    Parameters
    ----------
    table : DuckDBPyRelation or ibis Table
        A table for which ``groups_itself`` is True. The table and its connection are not changed.
    keys, numbers : iterables of column names
        The columns of the groups, and the columns to add up.
    squares_of : column name, optional
        The column whose squares are added up.

    Returns
    -------
    tuple
        The grouped table, and the names of its columns of sums.
    """
    keys, numbers = list(dict.fromkeys(keys)), list(dict.fromkeys(numbers))
    check_columns(list(table.columns), [*keys, *numbers])
    aliases = ["rows", *(f"{what} {k}" for k in range(len(numbers)) for what in ("sum", "least", "known")), "squares"]
    name = dict(zip(aliases, _free(aliases, keys), strict=True))
    sums: dict[str, tuple[str, Any]] = {name["rows"]: ("rows", None)}
    for k, column in enumerate(numbers):
        sums |= {name[f"{what} {k}"]: (what, column) for what in ("sum", "least", "known")}
    if squares_of is not None:
        sums[name["squares"]] = ("squares", squares_of)
    total, least, known = (
        {column: name[f"{what} {k}"] for k, column in enumerate(numbers)} for what in ("sum", "least", "known")
    )
    columns = Sums(name["rows"], total, least, known, None if squares_of is None else name["squares"])
    try:
        if _is_relation(table):
            return table.aggregate(_selected(keys, sums), _listed(keys)), columns
        chosen = {
            alias: OPERATIONS[what].ibis(table, None if of is None else table[of]) for alias, (what, of) in sums.items()
        }
        return table.group_by(keys).aggregate(**chosen), columns
    except Exception as error:  # the types of errors of databases and of Ibis are not known here
        reason = cut(str(error).partition("\n")[0])
        raise TypeError(
            f"frame: expected columns that the database can group by, and numbers to add up, got {reason}"
        ) from error


def _is_relation(table: Any) -> bool:
    return library(table) in ("duckdb", "_duckdb") and hasattr(table, "aggregate")


def _is_expression(table: Any) -> bool:
    return library(table) == "ibis" and hasattr(table, "group_by") and hasattr(table, "columns")


def _selected(keys: Iterable[Any], sums: Mapping[str, tuple[str, Any]]) -> str:
    columns = [
        f"{OPERATIONS[what].sql.format('' if of is None else _identifier(of))} AS {_identifier(alias)}"
        for alias, (what, of) in sums.items()
    ]
    return ", ".join([_listed(keys), *columns])


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(_identifier, names))


def _identifier(name: Any, argument: str = "columns") -> str:
    """A name in double quotes, with its own double quotes doubled, which SQL can only read as a name."""
    if not isinstance(name, str):
        raise TypeError(f"{argument}: expected names, which are text, got {quoted(name)}")
    if not name or "\0" in name:
        raise ValueError(f"{argument}: expected the name of a column or a table, got {quoted(name)}")
    return '"' + name.replace('"', '""') + '"'


def _free(names: Iterable[str], taken: Iterable[Any]) -> list[str]:
    """Names that differ from all columns also without regard to case, which databases ignore."""
    used = {name.casefold() for name in taken if isinstance(name, str)}
    free = []
    for name in names:
        while name.casefold() in used:
            name += "_"  # noqa: PLW2901 (the next candidate)
        used.add(name.casefold())
        free.append(name)
    return free
