"""read(): an evaluation log as a data frame; and the same as a table for the commands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from matrics._errors import ArgumentError
from matrics._files.foreign import Answers, check_answers
from matrics._integrations.evals import formats
from matrics._integrations.evals.labels import are_classes, classes_of, passed_of
from matrics._integrations.evals.log import COLUMNS, Log, MissingScore, columns_of_rows, unscored_in_words
from matrics._tables.table import Library, imported


def read(
    path: str | PathLike[str],
    *,
    library: Library = "pandas",
    missing_score: MissingScore = "drop",
    scorer: str | None = None,
) -> Any:
    """The graded answers of an evaluation log of a language model, one row each.

    Parameters
    ----------
    path : str or path
        A log of Inspect (``.eval`` or ``.json``), the samples of lm-evaluation-harness (``samples_*.jsonl``, as
        ``--log_samples`` writes them), an output of promptfoo (``.json``), or JSON Lines (``.jsonl``) with the fields
        ``sample`` and ``score``, or ``sample``, ``target`` and ``prediction``; and ``epoch``, ``task``, ``model`` and
        ``scorer`` if there are any.
    library : {"pandas", "polars"}
        Which library the data frame is of.
    missing_score : {"drop", "zero", "error"}, default "drop"
        What becomes of refused, failed and other answers without a score: left out, scored as 0, or an error.
    scorer : str, optional
        The scorer whose scores are read, where there are several; all if left out.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        The columns ``sample`` (its id), ``epoch`` (1, 2, … where a sample is repeated), ``task``, ``model``,
        ``scorer``, ``target``, ``prediction`` (both missing where the log has none) and ``score`` (a number; a pass is
        1). Then ``y_true`` and ``y_pred``: target and prediction where these are classes, and else ``pass`` for what
        should be and ``pass`` or ``fail`` for what was; missing for scores between 0 and 1. Then what describes a
        sample, such as ``metadata_topic`` of Inspect.

    Raises
    ------
    ValueError
        The file is no log of these tools, of another version of its format, or damaged; no answer has a score, or the
        log has no such scorer.
    ImportError
        The library of data frames is missing, or pyarrow for a log of Inspect, which Zstandard compresses.

    Notes
    -----
    Target and prediction are classes if an answer passes exactly where both are equal, and if there are at most 50 of
    them and twice as many samples. The commands say how many answers have no score, and so does
    :func:`matrics.evals.compare`. The grades of Inspect are numbers by its own rule: C is 1, P is 0.5, I and N are 0.
    The predictions of the harness are the texts that it generates, and for ``acc`` the number of the most likely
    choice.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from matrics import evals
    >>> lines = [{"sample": k, "target": "yes", "prediction": said} for k, said in enumerate(["yes", "no"])]
    >>> path = pathlib.Path(tempfile.mkdtemp(), "answers.jsonl")
    >>> _ = path.write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> evals.read(path)[["sample", "target", "prediction", "score"]]
       sample target prediction  score
    0       0    yes        yes    1.0
    1       1    yes         no    0.0
    """
    frames = imported(library, "evals.read")
    return frames.DataFrame(columns_of([opened(Path(path), missing_score, scorer)]))


def opened(path: Path, missing_score: MissingScore = "drop", scorer: str | None = None) -> Log:
    """A log; errors begin with the name of the file."""
    try:
        return formats.read_log(path, missing_score, scorer)
    except ArgumentError as error:
        raise ArgumentError(error.argument, error.text, str(path)) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def columns_of(logs: Sequence[Log]) -> dict[str, list[Any]]:
    """All columns of one or more logs, with those of the labels."""
    rows = [row for log in logs for row in log.rows]
    places = defaultdict(list)
    for place, row in enumerate(rows):
        places[row.task, row.scorer].append(place)
    chosen = {key: [rows[place] for place in found] for key, found in places.items()}
    # Classes and pass or fail side by side would be four classes, of which no scorer has more than two.
    have_classes = all(map(are_classes, chosen.values()))
    true, pred = map(list, zip(*map(classes_of if have_classes else passed_of, rows), strict=True))
    columns = columns_of_rows(rows)
    first = {name: columns.pop(name) for name in COLUMNS}
    return {**first, "y_true": true, "y_pred": pred, **columns}


class LogTable(NamedTuple):
    """A file as a table for the commands."""

    columns: dict[str, list[Any]]
    clusters: str | None  # the column of repeats
    scorers: tuple[str, ...]  # of which only one can be counted in a matrix
    unlabelled: str = ""  # why some rows have no labels, in words
    notice: str = ""  # what became of answers without a score, in words


def table_of(
    paths: Sequence[Path],
    missing_score: MissingScore = "drop",
    scorer: str | None = None,
    as_table: bool = False,  # noqa: FBT001, FBT002 (the fields of Answers)
) -> LogTable:
    """The columns of one or more logs, or of other JSON Lines; errors have the name of a file if there are several."""
    plain = formats.read_plain(paths, as_table=as_table)
    if plain is not None:
        check_answers(Answers(missing_score, scorer), paths[0])
        return LogTable(plain, None, ())
    options = (missing_score, scorer)
    read_one = formats.read_log if len(paths) == 1 else opened
    logs = [read_one(path, *options) for path in paths]
    found = columns_of(logs)
    if len(logs) > 1:
        found = {"file": [Path(log.file).name for log in logs for _ in log.rows], **found}
    if len(set(found["task"])) > 1:  # which may have samples of the same id
        pairs = zip(found["task"], found["sample"], strict=True)
        found["sample"] = [f"{task}/{sample}" for task, sample in pairs]
    repeated = len(logs) > 1 or len(set(found["epoch"])) > 1
    scorers = tuple(dict.fromkeys(found["scorer"]))
    partly = next((place for place, label in enumerate(found["y_true"]) if label is None), None)
    unlabelled = ""
    if partly is not None:
        unlabelled = (
            f"expected answers that pass or fail, got the score {found['score'][partly]:.10g} of sample "
            f"{found['sample'][partly]} by {found['scorer'][partly]}: matrics compare takes such scores"
        )
    return LogTable(found, "sample" if repeated else None, scorers, unlabelled, unscored_in_words(logs))
