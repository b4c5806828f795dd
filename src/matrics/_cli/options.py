"""Options that several commands share, and how their text is read."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from matrics._cli.blocks import cores
from matrics._errors import ArgumentError
from matrics._files.foreign import Answers
from matrics._files.names import Names
from matrics._quoting import first_twice, quoted, split_outside, unquote


def option(metavar: str | None, text: str, *names: str, default: str | bool = True) -> Any:
    """An option with a value; ``text`` is its help, and ``default`` says in words what applies without the option."""
    return typer.Option(*names, metavar=metavar, help=text, show_default=default)


def flag(text: str, *names: str) -> Any:
    """An option without a value."""
    return typer.Option(*names, help=text)


def argument(text: str, *, metavar: str | None = None, default: str | bool = False) -> Any:
    """An argument that is no option."""
    return typer.Argument(help=text, metavar=metavar, show_default=default)


# Options of several commands. All values are plain text, although typer could convert them, so that errors have the
# same form, a single line, as all other errors.
FilePath = Annotated[
    Path,
    argument(
        "Matrices: .npy (a stack), .npz, or text (one matrix, alone or with labels as a crosstab). "
        "Labels: .parquet, text or .jsonl with the columns y_true and y_pred, a directory or a pattern of such files, "
        "or counts of matrics count. "
        "Text: .csv, .tsv, .txt, compressed (.gz, .bz2, .zst) or not, or - (standard input). Sheets: .xlsx. "
        "Logs of evaluations of language models: .eval, .json, .jsonl."
    ),
]
LabelsPath = Annotated[
    Path,
    argument(
        "Labels, row by row: .parquet, text or .jsonl with the columns y_true and y_pred, or a directory or a "
        "pattern of such files. Text: .csv, .tsv, .txt, compressed (.gz, .bz2, .zst) or not, or - (standard input). "
        "Sheets: .xlsx. Logs of evaluations of language models: .eval, .json, .jsonl."
    ),
]
Metrics = Annotated[
    list[str] | None,
    option(
        "NAME[,NAME]",
        r"Measures or groups: mcc,recall:class or recall\[fraud]; repeatable.",
        default="core",
    ),
]
Plugin = Annotated[
    list[str] | None, option("MODULE", "A Python module with your own measures, here or installed; repeatable.")
]
By = Annotated[
    list[str] | None, option("COLUMN[,COLUMN]", "One matrix or curve for each value of these columns; repeatable.")
]
Scores = Annotated[
    list[str],
    option(
        "COLUMN|LABEL=COLUMN[,...]",
        "The scores of the positive class, or those of each class; repeatable.",
        "--scores",
        "--y-score",
        default=False,
    ),
]
Positive = Annotated[str | None, option("LABEL", "The class of the scores.", default="1 of 0 and 1")]
PositiveClass = Annotated[
    str | None,
    option(
        "LABEL",
        "The positive class: its label, or its index if classes have no names; yes=pos if the true label is yes and "
        "the predicted label pos. Per-class measures are then values of this class, and otherwise means over the "
        "classes.",
        default="the higher of two numbers or booleans, otherwise none",
    ),
]
ScoresInstead = Annotated[
    list[str] | None,
    option("COLUMN|LABEL=COLUMN[,...]", "Columns of scores in place of --pred; repeatable.", "--scores", "--y-score"),
]
Threshold = Annotated[
    str | None, option("NUMBER", "Samples with a score of at least this number are predicted as positive.")
]
LowerIsPositive = Annotated[
    bool, flag("Scores are lower in the positive class; thresholds are then upper bounds.", "--lower-is-positive")
]
Prevalence = Annotated[
    str | None,
    option(
        "NUMBER[,NUMBER]",
        "The share of the positive class in the target population, such as 0.02; or the shares of all classes, in "
        "their order.",
        default="that of the samples",
    ),
]
Separator = Annotated[str | None, option("TEXT", "Labels are sets; this text separates two labels: cat;dog.")]
Average = Annotated[
    str | None, option("macro|micro|weighted|samples|label", "The average over the labels of sets.", default="macro")
]
Counts = Annotated[
    str | None, option("COLUMN", "The column with the number of samples of each row, as by GROUP BY of SQL.")
]
Weight = Annotated[
    str | None, option("COLUMN", "The column of the sample weights; confidence limits then account for the weights.")
]
Cells = Annotated[
    list[str] | None,
    option("TN,FP,FN,TP", "Matrices as rows of a table: the columns of their n² cells, row by row; repeatable."),
]
Clusters = Annotated[
    str | None, option("COLUMN", "Rows with the same value of this column are not independent: they form a cluster.")
]
PairedOn = Annotated[
    str | None, option("COLUMN", "The column of the samples, if all models predicted the same samples.")
]
ByModel = Annotated[list[str] | None, option("COLUMN[,COLUMN]", "The columns that identify the model.")]
TrueColumn = Annotated[str, option("COLUMN", "The column of the true labels.", "--true", "--y-true")]
PredColumns = Annotated[
    list[str] | None,
    option(
        "COLUMN",
        "The column of the predicted labels; repeatable, with a column for each model.",
        "--pred",
        "--y-pred",
        default="y_pred",
    ),
]
Rows = Annotated[str | None, option("true|pred", "The rows of matrices are true or predicted classes.", default="true")]
Sort = Annotated[
    str | None,
    option(
        "MEASURE",
        "The measure by which the matrices are sorted, best first.",
        default="the first measure for groups with names; no sorting for numbers, periods and stacks",
    ),
]
ZeroDivision = Annotated[str, option("NUMBER", "The value of an undefined measure (0/0).", default="undefined")]
Level = Annotated[str, option("NUMBER", "The probability that the limits contain the true value.")]
LEVEL = "0.95"
Num = Annotated[str | None, option("INTEGER", "The number of replicates.", default="10000")]
Seed = Annotated[str | None, option("INTEGER", "The seed of the random numbers.", default="0")]
Output = Annotated[
    str | None,
    option(
        "FILE|FOLDER/|-",
        "Write the whole result to this file instead of the screen: .csv, .parquet, or a folder of Parquet files; "
        ".json, .md, .tex, .txt; - is standard output.",
    ),
]
FileOutput = Annotated[
    str | None, option("FILE|-", "Write the result to this file: .json, .csv, .md, .tex, .txt.", default="-")
]
Format = Annotated[
    str | None,
    option(
        "table|json|csv|markdown|latex",
        "The format of the result; tables are for people.",
        "--format",
        default="table, or by the name of --output",
    ),
]
ShowProgress = Annotated[bool, flag("Print the progress every ten seconds, also without a terminal.", "--progress")]
Workers = Annotated[str | None, option("INTEGER", "The number of threads.", default="the number of cores")]
OnInvalid = Annotated[
    str,
    option(
        "raise|nan|skip", "Matrices with negative or infinite cells, or NaN: an error, undefined scores, or left out."
    ),
]


Missing = Annotated[
    str,
    option(
        "error|drop|class",
        "Rows without a label: an error, left out, or a separate class (not with a positive class).",
        "--missing",
    ),
]
Encoding = Annotated[str, option("NAME", "The encoding of text files: latin-1, utf-16, cp1252.", "--encoding")]

Decimal = Annotated[str, option(".|,", "The decimal mark of numbers in text files.", "--decimal")]

MissingTexts = Annotated[
    list[str] | None, option("TEXT[,TEXT]", "Texts that are missing values, such as NA; repeatable.", "--na")
]
TextLabels = Annotated[bool, flag("Labels are text, also where they look like numbers: 1.10.", "--text-labels")]
ClassOrder = Annotated[
    list[str] | None,
    option(
        "LABEL[,LABEL]",
        "All labels in their order: low,mid,high; repeatable.",
        "--labels",
        default="as in an ordered categorical column, or sorted",
    ),
]


MissingScores = Annotated[
    str,
    option(
        "drop|zero|error",
        "Answers without a score in an evaluation log: left out, scored as 0, or an error.",
        "--missing-score",
    ),
]
Sheet = Annotated[str | None, option("NAME", "The sheet of a workbook.", "--sheet", default="the first")]
Scorer = Annotated[str | None, option("NAME", "The scorer whose scores are read from an evaluation log.", "--scorer")]


def refuse(expected: str, given: Mapping[str, Any]) -> None:
    """Raise for the first of these options that is given."""
    for option, value in given.items():
        if value not in (None, "", (), []):
            text = ",".join(value) if isinstance(value, (list, tuple)) else value
            got = "" if value is True else f", got {quoted(text)}"  # a flag has no value
            raise ArgumentError(option, f"expected {expected}{got}")


class Reading(NamedTuple):
    """How rows are read."""

    missing: str = "error"
    encoding: str = "utf-8"
    na: tuple[str, ...] = ()
    text_labels: bool = False
    order: tuple[str, ...] | None = None
    answers: Answers = Answers()
    decimal: str = "."

    @property
    def names(self) -> dict[str, Any]:
        """The same for the names of columns."""
        return self._asdict()

    def refuse(self, other: str, *, missing: bool = True) -> None:
        """Raise if an option for labels is given where there are none."""
        given = {
            "missing": self.missing if missing and self.missing != "error" else None,
            "na": self.na,
            "text-labels": self.text_labels or None,
            "labels": self.order,
            "scorer": self.answers.scorer,
        }
        refuse(f"no such option with {other}", given)


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """The options that say how rows are read, of all commands that read labels."""

    missing: Missing = "error"
    encoding: Encoding = "utf-8"
    na: MissingTexts = None
    text_labels: TextLabels = False
    labels: ClassOrder = None
    decimal: Decimal = "."
    missing_score: MissingScores = "drop"
    scorer: Scorer = None
    sheet: Sheet = None

    def read(self, true: str = Names.true, pred: Sequence[str] | None = None) -> Reading:
        """The same, checked.

        If columns of both labels are given, JSON Lines with a field ``score`` are a table and no evaluation log.
        """
        if self.missing not in ("error", "drop", "class"):
            raise ArgumentError("missing", f"expected error, drop or class, got {quoted(self.missing)}")
        try:
            "".encode(self.encoding)
            name = codecs.lookup(self.encoding).name
        except (LookupError, ValueError) as error:
            raise ArgumentError(
                "encoding", f"expected an encoding of Python, such as latin-1, got {quoted(self.encoding)}"
            ) from error
        order = _several("labels", self.labels)
        twice = first_twice(order)
        if twice is not None:
            raise ArgumentError("labels", f"expected each label once, got {quoted(twice)} twice")
        answers = Answers(self.missing_score, self.scorer, self.sheet, as_table=true != Names.true and bool(pred))
        if self.decimal not in (".", ","):
            raise ArgumentError("decimal", f"expected a point or a comma, got {quoted(self.decimal)}")
        na = _several("na", self.na)
        return Reading(self.missing, name, na, self.text_labels, order or None, answers, self.decimal)


def _several(option: str, given: list[str] | None) -> tuple[str, ...]:
    """Texts between commas, in quotes if they contain some."""
    texts = tuple(unquote(part) for text in given or [] for part in split_outside(text, quoted=True))
    if "" in texts:
        raise ArgumentError(option, f"expected texts with commas between them, got {quoted(','.join(given or []))}")
    return texts


def predicted(columns: list[str] | None) -> dict[str, Any]:
    """The column of predicted labels, or those of several models, as fields of the names of columns."""
    if columns is None or len(columns) == 1:
        return {"pred": Names.pred if columns is None else columns[0]}
    return {"models": tuple(columns)}


class RunOptions(NamedTuple):
    """Options of a run that do not change its results."""

    workers: int = 1
    on_invalid: str = "raise"
    progress: bool = False  # whether to print progress without a terminal

    @classmethod
    def read(cls, workers: str | None, on_invalid: str, *, progress: bool) -> RunOptions:
        """Check the options."""
        threads = read_integer("workers", workers)
        if threads is not None and not 1 <= threads <= 1024:
            raise ArgumentError("workers", f"expected a number of threads from 1 to 1024, got {quoted(threads)}")
        if on_invalid not in ("raise", "nan", "skip"):
            raise ArgumentError("on_invalid", f"expected raise, nan or skip, got {quoted(on_invalid)}")
        return cls(cores() if threads is None else threads, on_invalid, progress)


def read_number(option: str, text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError as error:
        raise ArgumentError(option, f"expected a number, got {quoted(text)}") from error


def read_integer(option: str, text: str | None, least: int | None = None) -> int | None:
    """Read an integer, if it is given."""
    try:
        number = None if text is None else int(text)
    except ValueError as error:
        raise ArgumentError(option, f"expected an integer, got {quoted(text)}") from error
    if None not in (number, least) and number < least:  # type: ignore[operator]
        raise ArgumentError(option, f"expected an integer from {least}, got {number}")
    return number


def column_names(by: list[str] | None) -> tuple[str, ...]:
    """Read names of columns, several between commas or by several options."""
    by = by or []
    for text in by:
        if not text.strip(","):
            raise ArgumentError("by", f"expected names of columns, got {quoted(text)}")
    return tuple(dict.fromkeys(name for text in by for name in text.split(",") if name))
