"""The commands. Errors raise exceptions, which ``main`` prints in one line."""

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import matrics
from matrics.catalogue.description import facts
from matrics.cli import markdown, report
from matrics.cli.labels import Names
from matrics.cli.read import read
from matrics.cli.run import Run, open_backend
from matrics.cli.write import check_output, open_output
from matrics.scoring import resolve

# The base class of all usage errors. It is taken from typer, as some versions of typer use click and others include a
# copy.
UsageError: Any = typer.BadParameter.__base__

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Stacks of confusion matrices, scored by any measure.",
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 (typer passes it by position)
    if wanted:
        typer.echo(f"matrics {matrics.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    del version  # its callback has handled it


@app.command()
def score(
    path: Annotated[
        Path,
        typer.Argument(
            help="Matrices: .npy (a stack), .npz, or text (one matrix, alone or with labels as a crosstab). "
            "Labels: .parquet or text with the columns y_true and y_pred. "
            "Text: .csv, .tsv, .csv.gz, .tsv.gz, or - (standard input).",
            show_default=False,
        ),
    ],
    *,
    # Plain text, although typer could convert it: then errors have the same one-line form as all others.
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME]", help="Measures or groups: mcc,eve,recall:class; repeatable.", show_default="core"
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN[,COLUMN]", help="One matrix for each value of these columns; repeatable."),
    ] = None,
    true: Annotated[str, typer.Option(metavar="COLUMN", help="The column of the true labels.")] = Names.true,
    pred: Annotated[str, typer.Option(metavar="COLUMN", help="The column of the predicted labels.")] = Names.pred,
    rows: Annotated[
        str | None, typer.Option(metavar="true|pred", help="The classes in the rows of matrices.", show_default="true")
    ] = None,
    backend: Annotated[str, typer.Option(metavar="numpy|torch|jax", help="The library to use; all agree.")] = "numpy",
    zero_division: Annotated[
        str, typer.Option(metavar="NUMBER", help="The value of an undefined measure (0/0).", show_default="undefined")
    ] = "nan",
    output: Annotated[
        Path | None, typer.Option(help="Write all scores to this .csv or .parquet file instead of the screen.")
    ] = None,
) -> None:
    """Score every confusion matrix of a file."""
    chosen, zero, to_backend = resolve(metrics or "core"), _number(zero_division), open_backend(backend)
    if output is not None:
        check_output(output, path)
    run = Run(read(path, Names(true, pred, _column_names(by or [])), rows), chosen, to_backend, zero)
    if output is not None:
        _write(run, output)
    elif run.source.count > report.MOST_ROWS:
        _summarise(run)
    else:
        _tabulate(run)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"--zero-division: expected a number, got {text!r}") from error


def _column_names(by: list[str]) -> tuple[str, ...]:
    for text in by:
        if not text.strip(","):
            raise ValueError(f"--by: expected names of columns, got {text!r}")
    return tuple(dict.fromkeys(name for text in by for name in text.split(",") if name))


def _write(run: Run, output: Path) -> None:
    labels = [column.label for column in run.columns]
    both = sorted({key.name for key in run.source.keys} & set(labels))
    if both:
        raise ValueError(
            f"--output: expected different names, got a measure and a column of the file both named {both[0]!r}"
        )
    with open_output(output) as append:
        for start, scores in run.blocks():
            append({**run.source.columns(start, start + len(scores)), **dict(zip(labels, scores.T, strict=True))})
    written = f"{output}: {_counted(run.source.count, 'row')} of {_counted(len(labels), 'score')}"
    report.show(_console(), Text(_title(run)), Text(report.plain(written)))


def _summarise(run: Run) -> None:
    summary = report.Summary(len(run.columns))
    for start, scores in run.blocks():
        summary.add(start, scores)
    console = _console()
    report.show(console, Text(_title(run)), Text())
    report.show_summary(console, run.columns, summary, run.source.count, run.source.name)


def _tabulate(run: Run) -> None:
    scores = np.concatenate([scores for _, scores in run.blocks()])
    names = [run.source.name(position) for position in range(run.source.count)]
    console = _console()
    report.show(console, Text(_title(run)), Text())
    report.show_scores(console, run.columns, scores, names, run.source.heading, ordered=run.source.in_order)


def _title(run: Run) -> str:
    source = run.source
    matrices = _counted(source.count, "matrix", "matrices")
    classes, samples = _counted(source.n, "class", "classes"), _counted(run.samples, "sample")
    return report.plain(f"{source.file}: {matrices} of {classes}, {samples}")


def _counted(count: float, one: str, many: str | None = None) -> str:
    return f"{count:,.10g} {one if count == 1 else many or one + 's'}"


def _console() -> Console:
    # A pipe has no width: do not split lines.
    return Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)


@app.command("metrics")
def list_metrics(
    group: Annotated[
        str | None, typer.Argument(help="core, overall, all, or a family such as rates.", show_default="all")
    ] = None,
    *,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="A table in Markdown, with formulas and aliases.")
    ] = False,
) -> None:
    """List the measures."""
    listed = [matrics.get_metric(name) for name in matrics.list_metrics(group)]
    if as_markdown:
        typer.echo(markdown.catalogue(listed))
        return
    console = _console()
    # On a terminal, where lines are short, the source goes below the summary.
    apart = [] if console.is_terminal else ["source"]
    table = report.text_table("name", "kind", "range", *apart, "summary")
    for column in table.columns[:3]:
        column.no_wrap = True
    for metric in listed:
        interval, source = facts(metric)["range"], Text(metric.source, "dim")
        about = [source, Text(metric.summary)] if apart else [Text(f"{metric.summary}\n").append_text(source)]
        table.add_row(metric.name, metric.kind.replace("_", " "), Text(interval), *about)
    report.show(console, table)


@app.command()
def describe(
    name: Annotated[str, typer.Argument(help="A name, an alias or a spec such as fbeta(beta=2).", show_default=False)],
) -> None:
    """Describe a measure: its properties, formula, source and names."""
    metric = matrics.get_metric(name)
    table = Table.grid(padding=(0, 2))
    for label, fact in facts(metric).items():
        table.add_row(Text(label, "bold"), Text(fact))
    report.show(_console(), Text(f"{metric.name}: {metric.summary}", "bold"), Text(), table)
