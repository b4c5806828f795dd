"""The formats of evaluation logs: the end of a name, and then the content, say which one it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matrics.integrations.evals import inspect_logs, json_lines, lm_eval_logs, promptfoo_logs
from matrics.integrations.evals.log import Log, checked

#: The ends of the names of logs.
SUFFIXES = (".eval", ".json", ".jsonl")
# JSON of one object: whether it is a log of a tool, and how it is read.
OF_JSON = ((inspect_logs.is_log, inspect_logs.read_json), (promptfoo_logs.is_log, promptfoo_logs.read_json))


def read_log(path: Path) -> Log:
    """The graded answers of a log; errors do not have the name of the file."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"expected a name that ends in {', '.join(SUFFIXES)}, got {suffix or 'no suffix'}")
    if suffix == ".eval":
        return checked(inspect_logs.read_archive(path))
    if suffix == ".json":
        return checked(_of_json(path))
    lines = json_lines.read_objects(path)
    read = lm_eval_logs.read_lines if lm_eval_logs.is_line(lines[0]) else json_lines.read_lines
    return checked(read(path, lines))


def read_plain(path: Path) -> dict[str, list[Any]] | None:
    """The columns of JSON Lines that are no evaluation; None for all other files."""
    if path.suffix.lower() != ".jsonl":
        return None
    lines = json_lines.read_objects(path)
    is_log = lm_eval_logs.is_line(lines[0]) or json_lines.is_log(lines)
    return None if is_log else json_lines.columns(lines)


def _of_json(path: Path) -> Log:
    try:
        content = json.loads(path.read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"expected JSON, got: {error}") from error
    for is_log, read in OF_JSON:
        if is_log(content):
            return read(path, content)
    there = list(content)[:10] if isinstance(content, dict) else f"a {type(content).__name__}"
    raise ValueError(f"expected a log of Inspect (with eval) or of promptfoo (with results.results), got {there}")
