"""The formats of evaluation logs: the suffix of the name, and then the content, decide which format it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matrics._files.compression import length_of_json, refuse_much, suffix_of, without_compression
from matrics._integrations.evals import inspect_logs, json_lines, lm_eval_logs, promptfoo_logs
from matrics._integrations.evals.log import Log, MissingScore, scored

#: The suffixes of logs.
SUFFIXES = (".eval", ".json", ".jsonl")
# For each tool that writes a JSON object: whether a content is its log, and the reader.
OF_JSON = ((inspect_logs.is_log, inspect_logs.read_json), (promptfoo_logs.is_log, promptfoo_logs.read_json))


def read_log(path: Path, missing_score: MissingScore = "drop", scorer: str | None = None) -> Log:
    """The scored answers of a log, see :func:`scored`; error messages do not have the name of the file."""
    try:
        return scored(_read(path), missing_score, scorer)
    except (AttributeError, TypeError, KeyError, IndexError, RecursionError) as error:  # JSON of another structure
        raise ValueError(f"expected the structure of a log, got JSON of another structure: {error}") from error


def _read(path: Path) -> Log:
    suffix = without_compression(suffix_of(path))
    if suffix not in SUFFIXES:
        raise ValueError(f"expected a name that ends in {', '.join(SUFFIXES)}, got {suffix or 'no suffix'}")
    if suffix == ".eval":
        return inspect_logs.read_archive(path)
    if suffix == ".json":
        return _of_json(path)
    lines = json_lines.read_objects(path)
    read = lm_eval_logs.read_lines if lm_eval_logs.is_line(lines[0]) else json_lines.read_lines
    return read(path, lines)


def read_plain(paths: Sequence[Path], *, as_table: bool = False) -> dict[str, list[Any]] | None:
    """The columns of JSON Lines that are no evaluation log; None if the first file is a log or has another format.

    With ``as_table``, JSON Lines of the format of matrics are no evaluation log, whatever the names of their fields.
    """
    objects: list[Mapping[str, Any]] = []
    for path in paths:
        is_lines = without_compression(suffix_of(path)) == ".jsonl"
        lines = _lines(path, several=len(paths) > 1) if is_lines else []
        if not lines or lm_eval_logs.is_line(lines[0]) or (json_lines.is_log(lines) and not as_table):
            if objects:
                raise ValueError(f"{path}: expected lines that are no evaluation, as in {paths[0]}, got another file")
            return None
        objects += lines
    return json_lines.columns(objects)


def _lines(path: Path, *, several: bool) -> list[Mapping[str, Any]]:
    try:
        return json_lines.read_objects(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}" if several else str(error)) from error


def _of_json(path: Path) -> Log:
    try:
        text = path.read_bytes()
        refuse_much(length_of_json(text), len(text))
        content = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"expected JSON, got: {error}") from error
    for is_log, read in OF_JSON:
        if is_log(content):
            return read(path, content)
    names = list(content)[:10] if isinstance(content, dict) else f"a {type(content).__name__}"
    raise ValueError(f"expected a log of Inspect (with eval) or of promptfoo (with results.results), got {names}")
