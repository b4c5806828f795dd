"""``matrics report``: a page about a file of predictions."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from matrics._cli import options
from matrics._cli.judged import JudgedComparison, JudgedIntervals
from matrics._cli.judged_files import JudgedRows, JudgeOptions, read_judged
from matrics._cli.matrices import is_log
from matrics._cli.measures import plug_in
from matrics._cli.screen import show
from matrics._cli.writers import open_console
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._files.notices import warn_of_odd_labels
from matrics._files.outputs.destination import free_file
from matrics._files.outputs.whole import write_whole
from matrics._files.scores import ScoreNames
from matrics._files.text import STDIN
from matrics._files.wide import MODEL, ROW
from matrics._judged.correction import confusion_matrix
from matrics._quoting import quoted
from matrics._reporting.data import Data, Judged
from matrics._reporting.from_file import read_file
from matrics._reporting.leaderboard import read_settings
from matrics._reporting.origin import origin_of_files
from matrics._reporting.page import kind_of
from matrics._reporting.report import make_report
from matrics._reporting.report_columns import ReportColumns
from matrics._reporting.verdicts import ModelVerdict

FilePath = Annotated[
    Path,
    options.argument(
        "Labels, with a prediction in each row: .parquet or text with the columns y_true and y_pred, a directory or a "
        "pattern of Parquet files; or matrices: .npy, .npz, or counts of matrics count."
    ),
]


def report(
    context: typer.Context,
    path: FilePath,
    *,
    by: options.ByModel = None,
    paired_on: options.PairedOn = None,
    group: Annotated[
        str | None, options.option("COLUMN", "The column of the groups to compare, such as sites.")
    ] = None,
    true: options.TrueColumn = Names.true,
    pred: options.PredColumns = None,
    scores: Annotated[
        list[str] | None,
        options.option(
            "COLUMN|LABEL=COLUMN[,...]",
            "The scores of the positive class, or those of each class; repeatable.",
            "--scores",
            "--y-score",
        ),
    ] = None,
    positive: options.Positive = None,
    weight: options.Weight = None,
    judging: JudgeOptions,
    reading: options.ReadingOptions,
    metrics: Annotated[
        list[str] | None,
        options.option(
            "NAME[,NAME]", "Measures; the first measure sorts the models. Repeatable.", default="mcc and core"
        ),
    ] = None,
    plugin: options.Plugin = None,
    level: options.Level = "0.95",
    num: options.Num = None,
    seed: Annotated[str, options.option("INTEGER", "The seed of the random numbers.")] = "0",
    title: Annotated[str | None, options.option("TEXT", "The title of the page.", default="Report on FILE")] = None,
    compare: Annotated[
        Path | None, options.option("OLD.html", "The page of an older report; the new page lists the changes.")
    ] = None,
    kind: Annotated[
        str | None, options.option("html|md|pdf", "The format of the file.", "--format", default="by its name")
    ] = None,
    output: Annotated[
        str | None, options.option("FILE", "The file to write: .html, .md or .pdf.", default="report.html")
    ] = None,
) -> None:
    """Write a report of a single page: the best model, the errors, and warnings."""
    with contextlib.suppress(ImportError):
        import pandas as pd  # noqa: F401 (before a file is read: names may be times in nanoseconds, as pandas has them)

    plug_in(plugin)
    columns = options.column_names(by)
    names = _score_names(scores, true, columns, positive) if scores else None
    of_models = options.predicted(pred)
    if names is not None and "models" in of_models:
        raise ArgumentError("scores", "expected one column by --pred with it, or the scores of each model, got both")
    models = of_models.get("models") or (() if names is None else names.models)
    scored = () if names is None else names.classes or (None,)
    rows_read = reading.read(true, pred)
    report_columns = ReportColumns(
        by=(MODEL, *columns) if models else columns,
        y_true=true,
        y_pred=of_models.get("pred", Names.pred),
        paired_on=ROW if models and paired_on is None else paired_on,
        groups=group,
        y_score={} if names is None else dict(zip(scored, names.scores, strict=True)),
        positive=positive,
        sample_weight=weight,
    )
    chosen = ",".join(metrics) if metrics else None
    output, written = _kind_of(output, kind)
    target = free_file(Path(output), [path])
    with _file_named(path):
        settings = read_settings(
            options.read_number("level", level),
            options.read_integer("num", num),
            options.read_integer("seed", seed) or 0,
        )
        report_columns.check()
        command = _command_of(path, context)
        judging.check(true)
        data: Any
        if judging.judge is None:
            data, origin, class_names, sides, of_log = read_file(
                path,
                report_columns,
                level=settings.level,
                command=command,
                reading={**rows_read.names, "models": models},
            )
            report_columns = of_log or report_columns
        else:
            given = {"group": group, "scores": scores, "pred": pred, "weight": weight}
            options.refuse("no such option with --judge, whose grades are those of answers", given)
            data = graded_data(path, report_columns, judging, rows_read, level=settings.level, command=command)
            origin, class_names, sides = data.origin, None, None
        made = make_report(
            data, report_columns, chosen, settings, class_names=class_names, origin=origin, title=title, compare=compare
        )
        if models or judging.judge is not None or rows_read != options.ReadingOptions().read():
            made = replace(made, call="")  # a call of report() has no such options
        page = made.encoded(written)
    if sides is not None:
        warn_of_odd_labels(str(path), *sides)
    write_whole(target, page)
    size = len(page) / 1000
    lines = [*made.findings.summary, f"{output}: {size:,.0f} kB"]
    show(open_console(), *(line.replace("\u00a0", " ") for line in lines))


def _score_names(scores: list[str], true: str, by: tuple[str, ...], positive: str | None) -> ScoreNames:
    """The columns of scores: of the classes, which may include the positive class, or of models."""
    names = ScoreNames.parse(scores, true=true, by=by, positive=None)
    is_class = positive is None or positive in names.classes or any("=" in text for text in scores)
    return names if is_class else ScoreNames.parse(scores, true=true, by=by, positive=positive)


def _kind_of(output: str | None, kind: str | None) -> tuple[str, str]:
    """The file and its kind: by ``--format``, or else by the end of its name."""
    if kind not in (None, "html", "md", "pdf"):
        raise ArgumentError("format", f"expected html, md or pdf, got {quoted(kind)}")
    if kind is None:
        output = "report.html" if output is None else output
        return output, kind_of(Path(output), "output")
    output = f"report.{kind}" if output is None else output
    of_name = kind_of(Path(output), "output")
    if of_name != kind:
        raise ArgumentError("output", f"expected a name that ends in .{kind}, as --format says, got {quoted(output)}")
    return output, kind


@contextlib.contextmanager
def _file_named(path: Path) -> Iterator[None]:
    """Begin errors in the data with the name of the file."""
    try:
        yield
    except (ValueError, TypeError) as error:
        text = str(error)
        if text.startswith(("data: ", "column ")):
            raise ValueError(f"{path}: {text.removeprefix('data: ')}") from error
        raise


def _command_of(path: Path, context: typer.Context) -> str:
    """The command that makes the report again; its output may be called anything."""
    given: list[str] = []
    for option in context.command.params:
        value, name = context.params.get(str(option.name)), option.opts[0]
        is_default = value in (None, [], option.default) and name != "--seed"
        if name.startswith("--") and not is_default and name not in ("--format", "--output"):
            parts = value if isinstance(value, (list, tuple)) else [value]
            given += [name] if value is True else [text for part in parts for text in (name, str(part))]
    return shlex.join(["matrics", "report", path.name or str(path), *given, "--output", "report.html"])


def graded_data(
    path: Path, columns: ReportColumns, judging: JudgeOptions, reading: options.Reading, *, level: float, command: str
) -> Data:
    """The pass rates of the models of a file, corrected for the errors of the judge."""
    if path == STDIN:
        raise ValueError("-: expected a file, as a report has its checksum, got standard input")
    by, samples = tuple(map(str, columns.by)), columns.paired_on
    if samples is None and by and not is_log(path):
        raise ArgumentError("paired_on", "expected the column of the samples with --judge, such as id, got none")
    positive = None if columns.positive is None else str(columns.positive)
    names = Names(by=by, clusters=None if samples is None else str(samples), positive=positive, **reading.names)
    rows = read_judged([path], names, judging, has_pred=False)
    if rows.pred is not None:
        raise ArgumentError(
            "judge",
            f"expected grades of answers, got a column of predictions in {rows.files[0]}; matrics compare takes these",
        )
    numbers = [rows.of_model(k).numbers for k in range(len(rows.models))]
    known = rows.classes
    return Data(
        origin_of_files(path.name, [path], command, path=str(path)),
        tuple(model or "all answers" for model in rows.models),
        known,
        known.texts,
        np.asarray(confusion_matrix(rows.counts)),
        rows=len(rows.true),
        by=rows.heading,
        judged=Judged(
            rows.judge,
            rows.human,
            np.asarray([float((rows.groups == k).sum()) for k in range(len(rows.models))]),
            np.asarray([float(number["labelled"]) for number in numbers]),
            _verdict(rows, level),
        ),
    )


def _verdict(rows: JudgedRows, level: float) -> ModelVerdict:
    """The pass rates, and how far each is from the best."""
    if len(rows.models) > 1:
        (verdict,) = JudgedComparison(rows, ["accuracy"], level=level, zero=np.nan).verdicts
        return verdict
    ((title, values),) = JudgedIntervals(rows, ["accuracy"], level=level, zero=np.nan).values()
    nothing = np.full(1, np.nan)
    limits = (values["estimate"], values["low"], values["high"])
    itself = (np.zeros(1), nothing, nothing)
    return ModelVerdict(title, *limits, *itself, 0, np.ones(1, bool), None, True, values["status"].astype(int))
