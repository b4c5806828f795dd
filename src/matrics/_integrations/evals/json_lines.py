"""JSON Lines: objects whose fields are the columns of a table, or of the answers of an evaluation."""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from matrics._files.archives import share_in_words
from matrics._files.compression import (
    OF_OBJECTS,
    decompressed,
    length_of_json,
    most_kept,
    most_letters,
    refuse_much,
    suffix_of,
)
from matrics._files.plain_values import of_common_type
from matrics._integrations.evals.log import COLUMNS, Graded, Log, epoch_of, is_missing, number, plain, text
from matrics._quoting import quoted, quoted_list


def read_objects(path: Path) -> list[Mapping[str, Any]]:
    """The objects in all lines that are not blank."""
    objects: list[Mapping[str, Any]] = []
    longest, kept, size = most_letters(), 0, path.stat().st_size
    most = most_kept(size)  # outside of the loop, for speed
    with opened_lines(path) as file:
        for position, line in enumerate(iter(functools.partial(file.readline, longest + 1), b""), 1):
            if len(line) > longest:
                limit = share_in_words(OF_OBJECTS)
                raise ValueError(f"line {position}: expected lines of at most {limit}, got a longer line")
            kept += length_of_json(line)
            if kept > most:
                refuse_much(kept, size)
            if not line.strip():
                continue
            try:
                content = json.loads(line)
            except UnicodeDecodeError as error:
                raise ValueError(f"line {position}: expected JSON in UTF-8, its only encoding, got: {error}") from error
            except (json.JSONDecodeError, RecursionError) as error:
                raise ValueError(f"line {position}: expected an object of JSON, got: {error}") from error
            if not isinstance(content, Mapping):
                raise ValueError(f"line {position}: expected an object, got {quoted(content)}")  # noqa: TRY004 (of a file)
            objects.append(content)
    if not objects:
        raise ValueError("expected at least one line of JSON, got none")
    return objects


@contextlib.contextmanager
def opened_lines(path: Path) -> Iterator[Any]:
    """The lines of a file, which may be compressed."""
    try:
        with path.open("rb") as raw:
            yield decompressed(raw, suffix_of(path))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"expected a file compressed by gzip: {error}") from error


def is_log(lines: list[Mapping[str, Any]]) -> bool:
    """Whether the lines have the field sample, and either score or both target and prediction."""
    fields = lines[0].keys()
    return "sample" in fields and (_have_scores(lines) or {"target", "prediction"} <= fields)


def _have_scores(lines: list[Mapping[str, Any]]) -> bool:
    """Whether any line has a score; other lines may have none."""
    return any("score" in line for line in lines)


def read_lines(path: Path, lines: list[Mapping[str, Any]]) -> Log:
    """The fields ``sample``, ``epoch``, ``task``, ``model``, ``scorer``, ``target``, ``prediction`` and ``score``.

    If no line has a score, an answer is correct if it equals the target. Without the field ``epoch``, further answers
    to a sample are further epochs. An answer has no score if the field is missing, null or NaN; if no line has a score,
    an answer has none if its prediction is null.
    """
    if not is_log(lines):
        raise ValueError(
            "expected lines with the fields sample, and score or both target and prediction, got the fields "
            f"{quoted_list(list(lines[0]), 20)}"
        )
    rows: list[Graded] = []
    epochs: Counter[tuple[str, ...]] = Counter()
    have_scores = _have_scores(lines)
    for position, line in enumerate(lines, 1):
        if line.get("sample") is None:
            raise ValueError(f"row {position}: expected a sample, got none")
        target, prediction = text(line.get("target")), text(line.get("prediction"))
        task, model, scorer = (str(line.get(name, "")) for name in ("task", "model", "scorer"))
        key = (task, model, scorer, str(line["sample"]))
        epochs[key] += 1
        if have_scores:
            grade, reason = _score_of(line, position)
        elif target is None:
            raise ValueError(f"row {position}: expected a target, as no line has a score, got none")
        elif prediction is None:
            grade, reason = math.nan, "no prediction"
        else:
            grade, reason = float(target == prediction), ""
        rest = {name: value for name, value in line.items() if name not in COLUMNS}
        try:
            epoch = epoch_of(line.get("epoch", epochs[key]))
        except ValueError as error:
            raise ValueError(f"row {position}: {error}") from None
        rows.append(
            Graded(
                line["sample"],
                epoch,
                task,
                model or path.stem,
                scorer or "score",
                target,
                prediction,
                grade,
                plain(rest),
                reason,
            )
        )
    return Log(str(path), "JSON Lines", tuple(rows))


WORDS = {"pass": 1.0, "fail": 0.0, "correct": 1.0, "incorrect": 0.0}  # words for scores


def _score_of(line: Mapping[str, Any], position: int) -> tuple[float, str]:
    """The score of a line, or NaN and the reason for a missing score."""
    score = line.get("score")
    if is_missing(score):
        return math.nan, "no score" if "score" not in line else f"the score is {json.dumps(score)}"
    grade = WORDS.get(score.strip().lower()) if isinstance(score, str) else None
    if grade is None:
        grade = number(score)
    if grade is None:
        raise ValueError(
            f"row {position}: expected a number, pass or fail as score, got {quoted(score)}; write null for no score"
        )
    return grade, ""


def columns(lines: list[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The fields of lines that are no evaluation log, without fields of lists or objects."""
    names = dict.fromkeys(name for line in lines for name in line)
    values_of = {name: [line.get(name) for line in lines] for name in names}
    nested = {name for name, values in values_of.items() if any(isinstance(value, (list, Mapping)) for value in values)}
    return {name: of_common_type(values) for name, values in values_of.items() if name not in nested}
