"""Samples of lm-evaluation-harness 0.4, as ``--log_samples`` writes them: JSON Lines with a line for each document."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matrics._integrations.evals.log import Graded, Log, is_missing, member, number, text

FIELDS = {"doc_id", "filtered_resps", "metrics"}
NAME = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d.:-]+")


def is_line(row: Mapping[str, Any]) -> bool:
    """Whether a line of JSON has the fields of lm-evaluation-harness."""
    return row.keys() >= FIELDS


def read_lines(path: Path, lines: list[Mapping[str, Any]]) -> Log:
    """The lines of a file; the task is in its name, and the model is the name of its folder."""
    match = NAME.fullmatch(path.stem)
    task = path.stem if match is None else match["task"]
    model = path.resolve().parent.name
    rows: list[Graded] = []
    no_numbers: list[str] = []
    for line in lines:
        target, name = text(member(line, "target")), member(line, "doc_id")
        filtered = line.get("filter", "none")
        for metric in member(line, "metrics"):
            # Lists of numbers, such as for perplexity, have no score for each document.
            score = line.get(metric)
            grade = math.nan if is_missing(score) else number(score)
            scorer = metric if filtered == "none" else f"{metric},{filtered}"
            if grade is None:
                no_numbers.append(f"document {name}, by {scorer}")
                continue
            answer = _answer(line["filtered_resps"], metric)
            reason = f"no score by {scorer}" if math.isnan(grade) else ""
            rows.append(Graded(name, 1, task, model, scorer, target, answer, grade, reason=reason))
    return Log(str(path), "lm-evaluation-harness", tuple(rows), tuple(no_numbers))


def _answer(responses: Any, metric: str) -> str | None:
    """The generated text, or the number of the most likely choice, which ``acc`` grades."""
    if not isinstance(responses, list) or not responses:
        return None
    if len(responses) == 1 and isinstance(responses[0], str):
        return responses[0]
    is_choice = all(isinstance(response, list) and len(response) == 2 for response in responses)
    likelihoods = [number(response[0]) for response in responses] if is_choice else [None]
    numbers = [response for response in likelihoods if response is not None]
    if metric != "acc" or len(numbers) < len(responses) or len(numbers) < 2:
        return None
    return str(numbers.index(max(numbers)))
