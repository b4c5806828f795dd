"""``matrics report``: one page with all that is found in a file of predictions."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from matrics._cli.options import (
    ClassOrder,
    Encoding,
    Level,
    Missing,
    MissingTexts,
    Num,
    Plugin,
    Positive,
    PredColumn,
    Reading,
    TextLabels,
    TrueColumn,
    Weight,
    column_names,
    integer,
    number,
)
from matrics._cli.plugins import plug_in
from matrics._files.names import Names
from matrics._quoting import quoted
from matrics._wording import plain

FilePath = Annotated[
    Path,
    typer.Argument(
        help="Labels, one prediction a row: .parquet or text with the columns y_true and y_pred, a directory or a "
        "pattern of Parquet files; or matrices: .npy, .npz, or counts of matrics count.",
        show_default=False,
    ),
]
# Names of arguments in messages of the library, and the options of the command line.
OPTIONS = {
    "by": "by",
    "y_true": "true",
    "y_pred": "pred",
    "paired_on": "paired-on",
    "groups": "group",
    "y_score": "scores",
    "positive": "positive",
    "sample_weight": "weight",
    "metrics": "metrics",
    "level": "level",
    "num": "num",
    "rng": "seed",
    "title": "title",
    "compare": "compare",
}


def report(
    path: FilePath,
    *,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN[,COLUMN]", help="The columns that identify the model.", show_default="one model"),
    ] = None,
    paired_on: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the samples, if all models predicted the same samples."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the groups to compare, such as sites.")
    ] = None,
    true: TrueColumn = Names.true,
    pred: PredColumn = Names.pred,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--scores",
            "--y-score",
            metavar="COLUMN|LABEL=COLUMN[,...]",
            help="The scores of the positive class, or those of each class; repeatable.",
        ),
    ] = None,
    positive: Positive = None,
    weight: Weight = None,
    missing: Missing = "error",
    encoding: Encoding = "utf-8",
    na: MissingTexts = None,
    text_labels: TextLabels = False,
    labels: ClassOrder = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Measures; the first orders the models. Repeatable.",
            show_default="mcc and core",
        ),
    ] = None,
    plugin: Plugin = None,
    level: Level = "0.95",
    num: Num = None,
    seed: Annotated[str, typer.Option(metavar="INTEGER", help="The seed of the draws.")] = "0",
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The title of the page.", show_default="Report on FILE")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="OLD.html", help="The page of an older report: say what changed since.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--format", metavar="html|md|pdf", help="The kind of the file.", show_default="by its name"),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The file to write: .html, .md or .pdf.", show_default="report.html"),
    ] = None,
) -> None:
    """Write a report on one page: the best model, the errors, and warnings."""
    from rich.text import Text

    from matrics._cli import printing
    from matrics._cli.delivery import open_console
    from matrics._files.notices import warn_of_odd_labels
    from matrics._files.outputs.whole import write_whole
    from matrics._files.scores import ScoreNames
    from matrics._reporting.data import ReportColumns
    from matrics._reporting.from_file import command_of, read_file
    from matrics._reporting.report import make_manner, make_report

    with contextlib.suppress(ImportError):
        import pandas as pd  # noqa: F401 (before a file is read: names may be times in nanoseconds, as pandas has them)

    plug_in(plugin)
    columns = column_names(by or [])
    names = ScoreNames.parse(scores, true=true, by=columns, positive=None) if scores else None
    scored = () if names is None else names.classes or (None,)
    reading = Reading.read(missing, encoding, na, labels, text_labels=text_labels)
    wanted = ReportColumns(
        by=columns,
        y_true=true,
        y_pred=pred,
        paired_on=paired_on,
        groups=group,
        y_score={} if names is None else dict(zip(scored, names.scores, strict=True)),
        positive=positive,
        sample_weight=weight,
    )
    chosen = ",".join(metrics) if metrics else None
    command = command_of(
        path,
        {
            "by": ",".join(columns) or None,
            "paired-on": paired_on,
            "group": group,
            "true": None if true == Names.true else true,
            "pred": None if pred == Names.pred else pred,
            "scores": ",".join(scores) if scores else None,
            "positive": positive,
            "weight": weight,
            "missing": None if missing == "error" else missing,
            "encoding": None if encoding == "utf-8" else encoding,
            "na": na,
            "text-labels": text_labels,
            "labels": labels,
            "metrics": chosen,
            "plugin": plugin,
            "level": None if level == "0.95" else level,
            "num": num,
            "seed": seed,
            "title": title,
            "compare": None if compare is None else str(compare),
        },
    )
    output, written = _kind_of(output, kind)
    target = _check_output(output, path)
    with _options_as_written(path):
        manner = make_manner(number("level", level), integer("num", num), integer("seed", seed) or 0)
        wanted.check()
        data, origin, class_names, sides = read_file(path, wanted, command=command, reading=reading.names)
        made = make_report(
            data, wanted, chosen, manner, class_names=class_names, origin=origin, title=title, compare=compare
        )
        page = made.encoded(written)
    if sides is not None:
        warn_of_odd_labels(str(path), *sides)
    write_whole(target, page)
    size = len(page) / 1000
    lines = [*made.findings.summary, f"{output}: {size:,.0f} kB"]
    printing.show(open_console(), *(Text(plain(line.replace("\u00a0", " "))) for line in lines))


def _kind_of(output: str | None, kind: str | None) -> tuple[str, str]:
    """The file and its kind: by ``--format``, or else by the end of its name."""
    from matrics._reporting.report import kind_of

    if kind not in (None, "html", "md", "pdf"):
        raise ValueError(f"--format: expected html, md or pdf, got {quoted(kind)}")
    if kind is None:
        output = "report.html" if output is None else output
        return output, kind_of(Path(output), "--output")
    output = f"report.{kind}" if output is None else output
    of_name = kind_of(Path(output), "--output")
    if of_name != kind:
        raise ValueError(f"--output: expected a name that ends in .{kind}, as --format says, got {quoted(output)}")
    return output, kind


def _check_output(output: str, path: Path) -> Path:
    from matrics._files.outputs.destination import refuse_input

    target = Path(output)
    if target.is_dir():
        raise ValueError(f"--output: expected the name of a file, got the directory {quoted(output)}")
    if not target.parent.is_dir():
        raise ValueError(f"--output: expected an existing directory, got {quoted(str(target.parent))}")
    refuse_input(target, [path])
    return target


@contextlib.contextmanager
def _options_as_written(path: Path) -> Iterator[None]:
    """Errors of the library name options as the command line does, and the file."""
    try:
        yield
    except (ValueError, TypeError) as error:
        text = str(error)
        option = re.match(r"(\w+)(?=[:,])", text)
        if option is not None and option[1] in OPTIONS:
            text = f"--{OPTIONS[option[1]]}{text[option.end() :]}"
        elif text.startswith(("data: ", "column ")):
            text = f"{path}: {text.removeprefix('data: ')}"
        raise type(error)(text.replace("positive=", "--positive")) from error
