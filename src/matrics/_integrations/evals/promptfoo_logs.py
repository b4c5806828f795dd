"""Outputs of promptfoo: JSON with ``results.results``, version 3 of its summaries."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matrics._integrations.evals.log import Graded, Log, is_missing, member, number, text
from matrics._quoting import quoted

VERSION = 3
ERROR = 2  # the failure reason of an error, in contrast to a failed assertion
EXACT = {"equals"}  # assertions whose value is a complete answer


def is_log(content: Any) -> bool:
    """Whether the content of a JSON file is an output of promptfoo."""
    return isinstance(content, Mapping) and isinstance(content.get("results"), Mapping)


def read_json(path: Path, content: Any) -> Log:
    """The rows of an output. Cases with the same variables and assertions are repeats of a sample."""
    summary = content["results"]
    if summary.get("version") != VERSION:
        raise ValueError(f"expected version {VERSION} of promptfoo's results, got {quoted(summary.get('version'))}")
    results = member(summary, "results")
    has_prompts = len({result.get("promptIdx", 0) for result in results}) > len(
        {_provider(result) for result in results}
    )
    rows: list[Graded] = []
    no_numbers: list[str] = []
    epochs: Counter[tuple[str, str]] = Counter()
    names = _Names()
    for result in results:
        model = _provider(result)
        if has_prompts:
            prompt = result.get("prompt") or {}
            model = f"{model} {prompt.get('label') or prompt.get('raw', '')[:40]}"
        case, place = result.get("testCase") or {}, member(result, "testIdx")
        sample = names.of(result.get("vars") or {}, case)
        epochs[model, sample] += 1
        epoch = epochs[model, sample]
        response, target = result.get("response") or {}, _target(case)
        if result.get("failureReason") == ERROR:
            reason = str(result.get("error") or "an error")
            rows.append(Graded(sample, epoch, path.stem, model, "", target, None, math.nan, reason=reason))
            continue
        answer = text(response.get("output"))
        scores = {"pass": result.get("success"), **(result.get("namedScores") or {})}
        for scorer, value in scores.items():
            grade = math.nan if is_missing(value) else number(value)
            if grade is None:
                no_numbers.append(f"test {place}, by {scorer}")
                continue
            reason = f"no score by {scorer}" if math.isnan(grade) else ""
            rows.append(Graded(sample, epoch, path.stem, model, scorer, target, answer, grade, reason=reason))
    tool = f"promptfoo {(content.get('metadata') or {}).get('promptfooVersion', '')}".strip()
    return Log(str(path), tool, tuple(rows), tuple(no_numbers))


class _Names:
    """Names of samples from their variables: two runs have the same names for any order and number of repeats."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._cases: Counter[str] = Counter()

    def of(self, variables: Mapping[str, Any], case: Mapping[str, Any]) -> str:
        """The value of a single variable, or all variables as JSON; further cases of these variables get a number."""
        values = list(variables.values())
        name = str(values[0]) if len(values) == 1 else json.dumps(variables, sort_keys=True, ensure_ascii=False)
        key = json.dumps([variables, case.get("assert"), case.get("description")], sort_keys=True)
        if key not in self._known:
            self._cases[name] += 1
            number = self._cases[name]
            self._known[key] = name if number == 1 else f"{name} ({number})"
        return self._known[key]


def _provider(result: Mapping[str, Any]) -> str:
    provider = result.get("provider") or {}
    return str(provider if isinstance(provider, str) else provider.get("label") or member(provider, "id"))


def _target(case: Mapping[str, Any]) -> str | None:
    """The correct answer, if a single assertion contains it completely."""
    answers = [assertion.get("value") for assertion in case.get("assert") or [] if assertion.get("type") in EXACT]
    return text(answers[0]) if len(answers) == 1 else None
