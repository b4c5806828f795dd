"""Logs of Inspect: an archive of JSON files, or a JSON file, in format 2, which Inspect 0.3 writes."""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from matrics._files.archives import opened_archive
from matrics._files.compression import length_of_json, refuse_much
from matrics._integrations.evals.log import NO_ANSWER, Graded, Log, epoch_of, is_missing, member, number, plain, text
from matrics._integrations.evals.zipped import read_member
from matrics._quoting import quoted

VERSION = 2
# The letters of Inspect's scorers: correct, incorrect, partially correct, no answer.
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
OF_SAMPLE = ("id", "epoch", "scores", "error", "metadata", "target")


def read_archive(path: Path) -> Log:
    """The log in an archive (.eval). Summaries contain the grades; without summaries, all samples are read."""
    try:
        with opened_archive(path) as archive:
            names = set(archive.namelist())
            head = "header.json" if "header.json" in names else "_journal/start.json"
            if head not in names:
                raise ValueError("expected a log of Inspect, with header.json in it, got another archive")
            header = _json(archive, head)
            if "summaries.json" in names:
                samples = _json(archive, "summaries.json")
            else:  # a run that was stopped, or an early version of Inspect
                places = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
                samples = [_summary(_json(archive, name)) for name in places]
    except zipfile.BadZipFile as error:
        raise ValueError(f"expected a log of Inspect, a ZIP archive, got another file: {error}") from error
    return _log(path, header, samples)


def read_json(path: Path, content: Any) -> Log:
    """The log in the parsed content of a JSON file."""
    return _log(path, content, content.get("samples") or [])


def is_log(content: Any) -> bool:
    """Whether the content of a JSON file is a log of Inspect."""
    return isinstance(content, Mapping) and isinstance(content.get("eval"), Mapping) and "task" in content["eval"]


def _json(archive: zipfile.ZipFile, name: str) -> Any:
    content = read_member(archive, name)
    refuse_much(length_of_json(content), os.fstat(archive.fp.fileno()).st_size)  # type: ignore[union-attr]
    try:
        return json.loads(content)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"expected JSON in {name}, got: {error}") from error


def _summary(sample: Any) -> Any:
    """The fields of a sample that a summary has, without messages and events, which are long."""
    return {name: sample[name] for name in OF_SAMPLE if name in sample} if isinstance(sample, Mapping) else sample


def _log(path: Path, header: Any, samples: Any) -> Log:
    version = header.get("version") if isinstance(header, Mapping) else None
    if version != VERSION:
        raise ValueError(f"expected version {VERSION} of Inspect's logs, got {quoted(version)}")
    task, model = (str(member(header, "eval", name)) for name in ("task", "model"))
    tool = f"Inspect {header['eval'].get('packages', {}).get('inspect_ai', '')}".strip()
    if not isinstance(samples, list):
        raise ValueError(f"expected a list of samples, got {quoted(samples)}")  # noqa: TRY004 (of a file)
    rows: list[Graded] = []
    no_numbers: list[str] = []
    for sample in samples:
        known = sample if isinstance(sample, Mapping) else {}
        name, epoch = member(known, "id", where=" of each sample"), epoch_of(known.get("epoch", 1))
        scores = known.get("scores") or {}
        error, target = known.get("error"), text(known.get("target"))
        about = plain(known.get("metadata") or {}, "metadata_")
        if error or not scores:
            message = error.get("message") if isinstance(error, Mapping) else error
            reason = str(message or "it has no score")
            rows.append(Graded(name, epoch, task, model, "", target, None, math.nan, about, reason))
            continue
        for scorer, grade, answer in _grades(scores):
            if grade is None:
                no_numbers.append(f"sample {name}, epoch {epoch}, by {scorer}")
                continue
            reason = f"no score by {scorer}" if math.isnan(grade) else ""
            rows.append(Graded(name, epoch, task, model, scorer, target, answer, grade, about, reason))
    return Log(str(path), tool, tuple(rows), tuple(no_numbers))


def _grades(scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None, str | None]]:
    """Yield each scorer with its grade and the extracted answer; a score of several values is several scorers.

    The grade is NaN if it is missing, and None if it is not a number.
    """
    for scorer, score in scores.items():
        value = member(score, "value", where=f" of the score by {scorer}")
        answer = text(score.get("answer"))
        answer = NO_ANSWER if answer == "" else answer  # for example if the answer is not the letter of a choice
        parts: Iterable[tuple[str, Any]] = [(scorer, value)]
        if isinstance(value, Mapping):
            parts = [(f"{scorer}/{key}", part) for key, part in value.items()]
        for name, part in parts:
            if isinstance(part, str) and part in GRADES:
                yield name, GRADES[part], answer
            else:
                yield name, math.nan if is_missing(part) else number(part), answer
