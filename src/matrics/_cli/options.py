"""Options that several commands share, and how their text is read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from matrics._cli.blocks import cores
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._quoting import first_twice, quoted, split_outside, unquote

# What several commands have in common. All is plain text, although typer could convert it: then errors have the
# same one-line form as all others.
FilePath = Annotated[
    Path,
    typer.Argument(
        help="Matrices: .npy (a stack), .npz, or text (one matrix, alone or with labels as a crosstab). "
        "Labels: .parquet, text or .jsonl with the columns y_true and y_pred, a directory or a pattern of such files, "
        "or counts of matrics count. "
        "Text: .csv, .tsv, compressed (.csv.gz, .csv.zst) or not, or - (standard input). Sheets: .xlsx. "
        "Logs of evaluations of language models: .eval, .json, .jsonl.",
        show_default=False,
    ),
]
LabelsPath = Annotated[
    Path,
    typer.Argument(
        help="Labels, row by row: .parquet, text or .jsonl with the columns y_true and y_pred, or a directory or a "
        "pattern of such files. Text: .csv, .tsv, compressed (.csv.gz, .csv.zst) or not, or - (standard input). "
        "Sheets: .xlsx. Logs of evaluations of language models: .eval, .json, .jsonl.",
        show_default=False,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[,NAME]",
        help=r"Measures or groups: mcc,recall:class or recall\[fraud]; repeatable.",  # else brackets are markup
        show_default="core",
    ),
]
Plugin = Annotated[
    list[str] | None,
    typer.Option(metavar="MODULE", help="A Python module, here or installed, with measures of your own; repeatable."),
]
By = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN[,COLUMN]", help="One matrix or curve for each value of these columns; repeatable."),
]
Scores = Annotated[
    list[str],
    typer.Option(
        "--scores",
        "--y-score",
        metavar="COLUMN|LABEL=COLUMN[,...]",
        help="The scores of the positive class, or those of each class; repeatable.",
        show_default=False,
    ),
]
Positive = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The class of the scores.", show_default="1 of 0 and 1")
]
PositiveClass = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="The positive class: its label, or its index where classes have no names; yes=pos where true labels say "
        "yes and predictions pos. Class measures are of it; without one they are means over the classes.",
        show_default="none of other texts; of two numbers or booleans the higher one",
    ),
]
ScoresInstead = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        "--y-score",
        metavar="COLUMN|LABEL=COLUMN[,...]",
        help="Columns of scores in place of --pred; repeatable.",
    ),
]
Threshold = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Scores of at least this are predicted as the positive class.")
]
Prevalence = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER[,NUMBER]",
        help="The share of the positive class where results are meant for, such as 0.02; or those of all classes, in "
        "their order.",
        show_default="that of the samples",
    ),
]
Separator = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Labels are sets, with this between two labels: cat;dog.")
]
Average = Annotated[
    str | None,
    typer.Option(metavar="macro|micro|weighted|samples|label", help="Of the labels of sets.", show_default="macro"),
]
Counts = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The number of samples of each row, as in a table by GROUP BY of SQL."),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The weight of each sample; confidence limits then account for the weights."),
]
Cells = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TN,FP,FN,TP",
        help="Matrices as rows of a table: the columns of their n² cells, row by row; repeatable.",
    ),
]
Clusters = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Rows with one value of this column are not independent: one cluster."),
]
PairedOn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column of the samples, if all models predicted the same samples."),
]
ByModel = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN[,COLUMN]", help="The columns that identify the model.")
]
TrueColumn = Annotated[str, typer.Option("--true", "--y-true", metavar="COLUMN", help="The column of the true labels.")]
PredColumn = Annotated[
    str, typer.Option("--pred", "--y-pred", metavar="COLUMN", help="The column of the predicted labels.")
]
PredColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--pred",
        "--y-pred",
        metavar="COLUMN",
        help="The column of the predicted labels; repeated: the columns of several models.",
        show_default="y_pred",
    ),
]
Rows = Annotated[
    str | None, typer.Option(metavar="true|pred", help="The classes in the rows of matrices.", show_default="true")
]
ZeroDivision = Annotated[
    str, typer.Option(metavar="NUMBER", help="The value of an undefined measure (0/0).", show_default="undefined")
]
Level = Annotated[str, typer.Option(metavar="NUMBER", help="The probability to contain the true value.")]
Num = Annotated[str | None, typer.Option(metavar="INTEGER", help="The number of replicates.", show_default="10000")]
Seed = Annotated[str | None, typer.Option(metavar="INTEGER", help="The seed of the draws.", show_default="0")]
Output = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|FOLDER/|-",
        help="Write all of it here instead of to the screen: .csv, .parquet, or a folder of Parquet files; "
        ".json, .md, .tex, .txt; - is standard output.",
    ),
]
FileOutput = Annotated[
    str | None,
    typer.Option(metavar="FILE|-", help="Write it here: .json, .csv, .md, .tex, .txt.", show_default="-"),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="table|json|csv|markdown|latex",
        help="How the result is written; tables are for people.",
        show_default="table, or by the name of --output",
    ),
]
ShowProgress = Annotated[
    bool, typer.Option("--progress", help="Print the progress every ten seconds, also without a terminal.")
]
Workers = Annotated[
    str | None, typer.Option(metavar="INTEGER", help="The number of threads.", show_default="one for each core")
]
OnInvalid = Annotated[
    str,
    typer.Option(
        metavar="raise|nan|skip",
        help="Matrices with negative or infinite cells, or NaN: an error, undefined scores, or left out.",
    ),
]


Missing = Annotated[
    str,
    typer.Option(
        "--missing",
        metavar="error|drop|class",
        help="Rows without a label: an error, left out, or a class of their own (not beside a positive class).",
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", help="The encoding of text files: latin-1, utf-16, cp1252.")
]

MissingTexts = Annotated[
    list[str] | None,
    typer.Option("--na", metavar="TEXT[,TEXT]", help="Texts that are missing values, such as NA; repeatable."),
]
TextLabels = Annotated[
    bool, typer.Option("--text-labels", help="Labels are text as it stands, also those that look like numbers: 1.10.")
]
ClassOrder = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="LABEL[,LABEL]",
        help="All labels in their order: low,mid,high; repeatable.",
        show_default="as in an ordered categorical column, or sorted",
    ),
]


class Reading(NamedTuple):
    """How rows are read."""

    missing: str = "error"
    encoding: str = "utf-8"
    na: tuple[str, ...] = ()
    text_labels: bool = False
    order: tuple[str, ...] | None = None

    @property
    def names(self) -> dict[str, Any]:
        """The same for the names of columns."""
        return self._asdict()

    def refuse(self, beside: str, *, missing: bool = True) -> None:
        """Raise if an option for labels is given where there are none."""
        given = {
            "missing": self.missing if missing and self.missing != "error" else None,
            "na": ",".join(self.na) or None,
            "text-labels": self.text_labels or None,
            "labels": None if self.order is None else ",".join(self.order),
        }
        for option, value in given.items():
            if value is not None:
                raise ArgumentError(option, f"expected no such option with {beside}, got {quoted(value)}")


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """The options that say how rows are read, of all commands that read labels."""

    missing: Missing = "error"
    encoding: Encoding = "utf-8"
    na: MissingTexts = None
    text_labels: TextLabels = False
    labels: ClassOrder = None

    def read(self) -> Reading:
        """The same, checked."""
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
        return Reading(self.missing, name, _several("na", self.na), self.text_labels, order or None)


def _several(option: str, given: list[str] | None) -> tuple[str, ...]:
    """Texts between commas, in quotes if they contain some."""
    found = tuple(unquote(part) for text in given or [] for part in split_outside(text, quoted=True))
    if "" in found:
        raise ArgumentError(option, f"expected texts with commas between them, got {quoted(','.join(given or []))}")
    return found


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


def column_names(by: list[str]) -> tuple[str, ...]:
    """Read names of columns, several between commas or by several options."""
    for text in by:
        if not text.strip(","):
            raise ArgumentError("by", f"expected names of columns, got {quoted(text)}")
    return tuple(dict.fromkeys(name for text in by for name in text.split(",") if name))
