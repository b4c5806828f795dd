"""read(): an evaluation log as a data frame, and as a table for the commands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from matrics._errors import ArgumentError
from matrics._files.foreign import Answers, check_answers
from matrics._integrations.evals import formats
from matrics._integrations.evals.answered import Answered, answered_of
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
    """The graded answers of an evaluation log of a language model: a data frame with a row for each answer.

    Parameters
    ----------
    path : str or path
        A log of Inspect (``.eval`` or ``.json``), the samples of lm-evaluation-harness (``samples_*.jsonl``, as
        ``--log_samples`` writes them), an output of promptfoo (``.json``), or JSON Lines (``.jsonl``) with the fields
        ``sample`` and ``score``, or ``sample``, ``target`` and ``prediction``; and ``epoch``, ``task``, ``model`` and
        ``scorer`` if the log has them.
    library : {"pandas", "polars"}
        Which library the data frame is of.
    missing_score : {"drop", "zero", "error"}, default "drop"
        What becomes of refused, failed and other answers without a score: left out, scored as 0, or an error.
    scorer : str, optional
        The scorer whose scores are read, where there are several; all if left out.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        The columns ``sample`` (the id), ``epoch`` (1, 2, … if a sample is repeated), ``task``, ``model``, ``scorer``,
        ``target``, ``prediction`` (both missing if the log has none) and ``score`` (a number; a pass is 1). Then
        ``y_true`` and ``y_pred``: target and prediction if these are classes, otherwise ``pass`` as the true label and
        ``pass`` or ``fail`` as the predicted label; missing for scores between 0 and 1. Then columns that describe the
        sample, such as ``metadata_topic`` of Inspect.

    Raises
    ------
    ValueError
        The file is no log of these tools, has another version of the format, or is damaged; no answer has a score; or
        the log has no such scorer.
    ImportError
        The library of data frames is missing, or pyarrow for a log of Inspect, which Zstandard compresses.

    Notes
    -----
    Target and prediction are classes if an answer passes exactly where both are equal, and if there are at most 50
    classes and at least twice as many samples as classes. The commands and :func:`matrics.evals.compare` report the
    number of answers without a score. The grades of Inspect become numbers by the rule of Inspect: C is 1, P is 0.5, I
    and N are 0. The predictions of lm-evaluation-harness are the generated texts, and for ``acc`` the number of the
    most likely choice.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from matrics import evals
    >>> lines = [{"sample": k, "target": "yes", "prediction": answer} for k, answer in enumerate(["yes", "no"])]
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
    """The scored answers of a log; error messages begin with the name of the file."""
    try:
        return formats.read_log(path, missing_score, scorer)
    except ArgumentError as error:
        raise ArgumentError(error.argument, error.text, str(path)) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def columns_of(logs: Sequence[Log]) -> dict[str, list[Any]]:
    """The columns of logs, with the columns of labels."""
    rows = [row for log in logs for row in log.rows]
    places_of_run = defaultdict(list)
    for place, row in enumerate(rows):
        places_of_run[row.task, row.scorer].append(place)
    rows_of_run = {key: [rows[place] for place in indices] for key, indices in places_of_run.items()}
    # Classes of some scorers and pass or fail of others would make four classes, of which each scorer has two.
    have_classes = all(map(are_classes, rows_of_run.values()))
    true, pred = map(list, zip(*map(classes_of if have_classes else passed_of, rows), strict=True))
    columns = columns_of_rows(rows)
    first = {name: columns.pop(name) for name in COLUMNS}
    return {**first, "y_true": true, "y_pred": pred, **columns}


class LogTable(NamedTuple):
    """A log as a table for the commands."""

    columns: dict[str, list[Any]]
    clusters: str | None  # the column of repeats
    scorers: tuple[str, ...]  # a matrix can count only one of them
    unlabelled: str = ""  # the reason why some rows have no labels
    notice: str = ""  # the treatment of answers without a score
    answered: tuple[Answered, ...] = ()  # numbers of answers of each run
    all_answers: dict[str, list[Any]] | None = None  # if answers are left out: columns with these, whose score is NaN


def table_of(
    paths: Sequence[Path],
    missing_score: MissingScore = "drop",
    scorer: str | None = None,
    as_table: bool = False,  # noqa: FBT001, FBT002 (the fields of Answers)
) -> LogTable:
    """The columns of logs, or of other JSON Lines; errors have the name of the file if there are several files."""
    plain_columns = formats.read_plain(paths, as_table=as_table)
    if plain_columns is not None:
        check_answers(Answers(missing_score, scorer), paths[0])
        return LogTable(plain_columns, None, ())
    options = (missing_score, scorer)
    read_file = formats.read_log if len(paths) == 1 else opened
    logs = [read_file(path, *options) for path in paths]
    columns = _with_places(columns_of(logs), [log.file for log in logs for _ in log.rows])
    all_answers = None
    if missing_score == "drop" and any(log.unscored for log in logs):
        rows = [(log.file, row) for log in logs for row in log.rows + log.unscored]
        all_answers = _with_places(columns_of_rows([row for _, row in rows]), [file for file, _ in rows])
    repeated = len(logs) > 1 or len(set(columns["epoch"])) > 1
    scorers = tuple(dict.fromkeys(columns["scorer"]))
    partial = next((place for place, label in enumerate(columns["y_true"]) if label is None), None)
    unlabelled = ""
    if partial is not None:
        unlabelled = (
            f"expected answers that pass or fail, got the score {columns['score'][partial]:.10g} of sample "
            f"{columns['sample'][partial]} by {columns['scorer'][partial]}: use matrics compare for such scores"
        )
    clusters = "sample" if repeated else None
    return LogTable(columns, clusters, scorers, unlabelled, unscored_in_words(logs), answered_of(logs), all_answers)


def _with_places(columns: dict[str, list[Any]], files: Sequence[str]) -> dict[str, list[Any]]:
    """The columns with the file of each row, if there are several, and with the task in the names of samples."""
    if len(set(files)) > 1:
        columns = {"file": [Path(file).name for file in files], **columns}
    if len(set(columns["task"])) > 1:  # samples of different tasks may have the same id
        pairs = zip(columns["task"], columns["sample"], strict=True)
        columns["sample"] = [f"{task}/{sample}" for task, sample in pairs]
    return columns
