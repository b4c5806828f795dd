"""judged_counts(): counts of judged samples from a log with two scorers, people and a judge."""

from __future__ import annotations

from collections import defaultdict
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from matrics._errors import ArgumentError
from matrics._integrations.evals.labels import FAIL, PASS
from matrics._integrations.evals.log import Graded
from matrics._integrations.evals.reading import opened
from matrics._judged.counts import JudgedCounts, count
from matrics._quoting import quoted, quoted_list


def judged_counts(path: str | PathLike[str], *, people: str, judge: str, model: str | None = None) -> JudgedCounts:
    """Counts for :func:`matrics.judged.interval` from a log of answers that a judge and, in part, people have graded.

    Parameters
    ----------
    path : str or path
        A log of Inspect (``.eval`` or ``.json``), the samples of lm-evaluation-harness (``samples_*.jsonl``, as
        ``--log_samples`` writes them), an output of promptfoo (``.json``), or JSON Lines (``.jsonl``) with the fields
        ``sample`` and ``score``, or ``sample``, ``target`` and ``prediction``; and ``scorer``, as the log
        has two scorers.
    people : str
        The scorer whose grades are the true labels; it may have graded only some answers.
    judge : str
        The scorer that has graded the answers, such as a language model; it may have failed for some.
    model : str, optional
        The model whose answers are counted, where the log has several.

    Returns
    -------
    JudgedCounts
        Class 0 is fail and class 1 is pass, which is predicted of every answer: ``"accuracy"`` is the pass rate.
        Answers that the judge has not graded are counted separately (``unanswered`` of :func:`matrics.judged.count`).
        Answers that neither scorer has graded, because the model failed, are left out.

    Raises
    ------
    ValueError
        The log has no such scorer or model, or several models and ``model`` is left out; no answer has the grades of
        both scorers; or a grade is neither pass nor fail.

    Notes
    -----
    The counts treat answers as independent: limits are too narrow if samples are repeated (epochs).

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import matrics
    >>> from matrics import evals
    >>> lines = [{"sample": k, "scorer": "judge", "score": int(k % 4 > 0)} for k in range(400)]
    >>> lines += [{"sample": k, "scorer": "people", "score": int(k % 5 > 0)} for k in range(100)]
    >>> path = pathlib.Path(tempfile.mkdtemp(), "answers.jsonl")
    >>> _ = path.write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> counts = evals.judged_counts(path, people="people", judge="judge")
    >>> by_model = matrics.judged.interval(counts, "accuracy")["accuracy"]
    >>> print(f"{by_model.estimate:.2f} pass, between {by_model.low:.2f} and {by_model.high:.2f}")
    0.80 pass, between 0.71 and 0.87
    """
    by_model = judged_answers(Path(path), people=people, judge=judge)
    if model is None and len(by_model) > 1:
        raise ArgumentError("model", f"expected one of {quoted_list(list(by_model), 20)}, whose answers the log has")
    if model is not None and model not in by_model:
        raise ArgumentError("model", f"expected one of {quoted_list(list(by_model), 20)}, got {quoted(model)}")
    (_, true, judged) = zip(*(by_model[model] if model is not None else next(iter(by_model.values()))), strict=True)
    return count(true, judged, labels=[FAIL, PASS])


class JudgedAnswer(NamedTuple):
    """An answer, and its grades: pass, fail, or None."""

    answer: tuple[Any, ...]  # task, sample and epoch
    people: str | None
    judge: str | None


def judged_answers(path: Path, *, people: str, judge: str) -> dict[str, list[JudgedAnswer]]:
    """The answers of each model of a log that two scorers have graded, without answers that neither has graded."""
    log = opened(path)
    scorers = tuple(dict.fromkeys(row.scorer for row in log.rows))
    for option, name in (("people", people), ("judge", judge)):
        if name not in scorers:
            raise ArgumentError(option, f"expected one of the scorers {quoted_list(scorers, 20)}, got {quoted(name)}")
    grades: dict[str, dict[str, dict[Any, str]]] = defaultdict(lambda: {judge: {}, people: {}})
    for row in log.rows:
        if row.scorer in (people, judge):
            grades[row.model][row.scorer][row.task, str(row.sample), row.epoch] = _grade(row)
    by_model = {}
    for model, of_scorers in grades.items():
        answers = dict.fromkeys([*of_scorers[judge], *of_scorers[people]])
        by_model[model] = [
            JudgedAnswer(key, *(of_scorers[name].get(key) for name in (people, judge))) for key in answers
        ]
        if not any(row.people and row.judge for row in by_model[model]):
            where = f" of {model}" if len(grades) > 1 else ""
            raise ArgumentError(
                "people", f"expected answers{where} that both scorers have graded, got none by {quoted(people)}"
            )
    return by_model


def _grade(row: Graded) -> str:
    word = {1.0: PASS, 0.0: FAIL}.get(row.score)
    if word is None:
        raise ValueError(
            f"expected answers that pass or fail, got the score {row.score:.10g} of sample {row.sample} by {row.scorer}"
        )
    return word
