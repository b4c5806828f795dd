"""Values of measures during training, from mappings, lists of steps, and files of loggers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from matrics._engine.results import NamedResult
from matrics._plot.inputs import on_host
from matrics._quoting import cut, quoted
from matrics._tables.any_table import open_table
from matrics.typing import NumPyArray

__all__ = ["TrainingRun", "read_runs"]

STEP = "step"


class TrainingRun(NamedResult):
    """A training run: measures over steps, keyed by name.

    Parameters
    ----------
    name : str
        The name of the run.
    values : dict of str to (array, array)
        For each measure its steps, ascending, and its values; NaN if undefined.
    """

    name: str
    values: dict[str, tuple[NumPyArray, NumPyArray]]


def read_runs(runs: Any, steps: Any, names: Sequence[str] | None) -> list[TrainingRun]:
    """The runs, read from any of the supported inputs.

    Raises
    ------
    TypeError, ValueError
        The input is not supported; values and steps do not fit; or names do not fit the runs.
    """
    runs = _columns_of_frame(runs)
    if isinstance(runs, Mapping):
        runs = {name: _columns_of_frame(run) for name, run in runs.items()}
    elif isinstance(runs, (list, tuple)):
        runs = [_columns_of_frame(run) for run in runs]
    named_runs = _named_runs(runs)
    if names is not None:
        if isinstance(names, str) or len(names) != len(named_runs):
            raise ValueError(f"names: expected {len(named_runs)}, a name for each run, got {quoted(names)}")
        named_runs = [(str(name), run) for name, (_, run) in zip(names, named_runs, strict=True)]
    return [TrainingRun(name, _values_of(run, steps, name)) for name, run in named_runs]


def _columns_of_frame(value: Any) -> Any:
    """The columns of a table as a mapping; other values are unchanged."""
    if isinstance(value, Mapping) or not hasattr(value, "columns"):
        return value
    table = open_table("runs", value)
    return {str(name): np.asarray(column) for name, column in table.columns(table.names).items()}


def _named_runs(runs: Any) -> list[tuple[str, Any]]:
    """The runs with names: keys of a mapping, numbers in a list, or names of files."""
    if isinstance(runs, (str, Path)):
        return [("", Path(runs))]
    if isinstance(runs, Mapping):
        if not runs:
            raise ValueError("runs: expected at least one measure or run, got an empty mapping")
        is_run = [isinstance(value, (str, Path, Mapping)) or _are_records(value) for value in runs.values()]
        if all(is_run):
            return [(str(name), Path(run) if isinstance(run, str) else run) for name, run in runs.items()]
        if any(is_run):
            raise TypeError("runs: expected a mapping of measures to values, or of names to runs, got a mixture")
        return [("", runs)]
    if _are_records(runs):
        return [("", runs)]
    if isinstance(runs, Sequence) and runs and all(isinstance(run, (str, Path, Mapping, list, tuple)) for run in runs):
        paths = [Path(run) if isinstance(run, str) else run for run in runs]
        stems = [run.stem if isinstance(run, Path) else f"run {k}" for k, run in enumerate(paths)]
        if len(set(stems)) < len(stems):
            stems = [str(run) if isinstance(run, Path) else f"run {k}" for k, run in enumerate(paths)]
        return list(zip(stems, paths, strict=True))
    raise TypeError(
        "runs: expected a mapping of measures to values, a data frame, a list of the scores of each step, the path of "
        f"a .csv or .jsonl file; or several of these in a list or a mapping of names, got {type(runs).__name__}"
    )


def _are_records(value: Any) -> bool:
    """Whether a value is a list of steps, each a mapping of names to single numbers."""
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(record, Mapping) and all(np.ndim(x) == 0 for x in record.values()) for record in value)
        and not any(isinstance(x, (str, Path, Mapping)) for record in value for x in record.values())
    )


def _values_of(run: Any, steps: Any, name: str) -> dict[str, tuple[NumPyArray, NumPyArray]]:
    if isinstance(run, Path):
        columns = _columns_of_records(_read_file(run))
    elif isinstance(run, Mapping):
        columns = {_as_text(key): _numbers(str(key), _check_single(str(key), value)) for key, value in run.items()}
    elif _are_records(run):
        columns = _columns_of_records([{_as_text(key): value for key, value in record.items()} for record in run])
    else:
        raise TypeError(f"runs: expected of the run {name} a mapping, a list of the scores of each step or a path")
    if not columns:
        raise ValueError(f"runs: expected measures, got none{f' of the run {name}' if name else ''}")
    own_steps = columns.pop(STEP, None)
    steps_of_run = own_steps if steps is None else _numbers("steps", steps)
    results = {}
    for key, values in columns.items():
        steps_of_values = np.arange(len(values), dtype=float) if steps_of_run is None else steps_of_run
        if steps_of_values.shape != values.shape:
            raise ValueError(f"{key}: expected {len(steps_of_values)} values, a value for each step, got {len(values)}")
        results[key] = _last_of_each_step(steps_of_values, values)
    return results


def _as_text(key: Any) -> str:
    """A key as text."""
    return key if isinstance(key, str) else str(key)


def _check_single(name: str, value: Any) -> Any:
    """The values of all steps; raises an error for an interval, or for values of each class."""
    if hasattr(value, "_fields") or name.endswith(":class"):
        raise ValueError(
            f"{name}: expected a number for each step, got an interval or the values of each class; give each its own "
            "name, as matrics.loggers.log_to does, or take the estimate or an average"
        )
    return value


def _numbers(name: str, values: Any) -> NumPyArray:
    if isinstance(values, (list, tuple)):  # the items may be tensors on any device, or None
        try:
            numbers = np.asarray([np.nan if number is None else _number(number) for number in values], float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: expected a number for each step: {cut(error)}") from None
    else:
        numbers = np.asarray(on_host(name, values), float)
    if numbers.ndim != 1:
        raise ValueError(f"{name}: expected a number for each step, got shape {numbers.shape}")
    return numbers


def _number(value: Any) -> float:
    """A number, also from an array or a tensor with a single number."""
    return float(value.detach() if hasattr(value, "detach") else value)


def _last_of_each_step(steps: NumPyArray, values: NumPyArray) -> tuple[NumPyArray, NumPyArray]:
    """The steps in ascending order, and the last value of each.

    A restarted run has several rows of the same step. Logs of Lightning also have several rows, because training and
    validation are in separate rows with empty cells. A number has precedence over an empty cell.
    """
    order = np.lexsort((~np.isnan(values), steps))
    steps, values = steps[order], values[order]
    is_last = np.append(steps[1:] != steps[:-1], True)[: len(steps)] & np.isfinite(steps)
    return steps[is_last], values[is_last]


def _columns_of_records(records: Sequence[Mapping[str, Any]]) -> dict[str, NumPyArray]:
    """An array for each name, NaN where a step has no such number; names with text in any step are left out."""
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {}
    for name in names:
        try:
            columns[name] = _numbers(name, [record.get(name) for record in records])
        except ValueError:
            if name == STEP:
                raise
    return columns


def _read_file(path: Path) -> list[dict[str, Any]]:
    """The lines of a .csv or .jsonl file; an incomplete last line is skipped, as the run may still be writing it."""
    ending = path.suffix.lower()
    if ending not in {".csv", ".jsonl", ".ndjson"}:
        raise ValueError(f"runs: expected a file that ends in .csv or .jsonl, got {quoted(str(path))}")
    text = path.read_text(encoding="utf-8-sig")
    lines = list(io.StringIO(text))  # by \n alone: names of classes may contain other line breaks
    if lines and not text.endswith("\n"):
        lines = lines[:-1] if not _is_whole(lines, ending) else lines
    return _read_csv(path, lines) if ending == ".csv" else _read_json(path, lines)


def _is_whole(lines: list[str], ending: str) -> bool:
    if ending == ".csv":
        first, last = next(csv.reader(lines[:1]), []), next(csv.reader(lines[-1:]), [])
        return len(first) == len(last) and (len(lines) == 1 or not last or _is_number(last[-1]))
    return _is_object(lines[-1])


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_csv(path: Path, lines: list[str]) -> list[dict[str, Any]]:
    header, *rows = list(csv.reader(lines)) or [[]]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {number}: expected {len(header)} cells, as in the first line, got {len(row)}"
            )
    return [{name: cell or None for name, cell in zip(header, row, strict=True)} for row in rows]


def _read_json(path: Path, lines: list[str]) -> list[dict[str, Any]]:
    records = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if not _is_object(line):
            raise ValueError(f"{path}, line {number}: expected a JSON object, got {line.rstrip()[:60]!r}")
        records.append(json.loads(line))
    return records
