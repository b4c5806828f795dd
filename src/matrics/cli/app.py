"""The commands. Errors raise exceptions, which ``main`` prints in one line."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import matrics
from matrics import study
from matrics.catalogue.description import facts
from matrics.cli import markdown, report
from matrics.cli.certificate_report import show_certificate
from matrics.cli.compare import compare_file
from matrics.cli.compare_report import show_comparison
from matrics.cli.interval import IntervalRun, Wanted
from matrics.cli.interval_report import count_statuses, show_intervals, show_statuses, widths
from matrics.cli.labels import Names
from matrics.cli.read import read
from matrics.cli.reproduce import check_folder, chosen_source, draw
from matrics.cli.reproduce_report import show_reproduction
from matrics.cli.run import ScoreRun, open_backend
from matrics.cli.write import check_output, open_output
from matrics.scoring import resolve
from matrics.study.certificates import CASES
from matrics.study.sources.experiment import NUM

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


# What `score` and `interval` have in common. All is plain text, although typer could convert it: then errors have the
# same one-line form as all others.
FilePath = Annotated[
    Path,
    typer.Argument(
        help="Matrices: .npy (a stack), .npz, or text (one matrix, alone or with labels as a crosstab). "
        "Labels: .parquet or text with the columns y_true and y_pred. "
        "Text: .csv, .tsv, .csv.gz, .tsv.gz, or - (standard input).",
        show_default=False,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[,NAME]", help="Measures or groups: mcc,eve,recall:class; repeatable.", show_default="core"
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN[,COLUMN]", help="One matrix for each value of these columns; repeatable."),
]
TrueColumn = Annotated[str, typer.Option(metavar="COLUMN", help="The column of the true labels.")]
PredColumn = Annotated[str, typer.Option(metavar="COLUMN", help="The column of the predicted labels.")]
Rows = Annotated[
    str | None, typer.Option(metavar="true|pred", help="The classes in the rows of matrices.", show_default="true")
]
ZeroDivision = Annotated[
    str, typer.Option(metavar="NUMBER", help="The value of an undefined measure (0/0).", show_default="undefined")
]
Level = Annotated[str, typer.Option(metavar="NUMBER", help="The probability to contain the true value.")]
Num = Annotated[str | None, typer.Option(metavar="INTEGER", help="The number of replicates.", show_default="10000")]
Seed = Annotated[
    str | None, typer.Option(metavar="INTEGER", help="The seed of the draws.", show_default="a new one, printed")
]
Output = Annotated[
    Path | None, typer.Option(help="Write all of it to this .csv or .parquet file instead of the screen.")
]


@app.command()
def score(
    path: FilePath,
    *,
    metrics: Metrics = None,
    by: By = None,
    true: TrueColumn = Names.true,
    pred: PredColumn = Names.pred,
    rows: Rows = None,
    backend: Annotated[str, typer.Option(metavar="numpy|torch|jax", help="The library to use; all agree.")] = "numpy",
    zero_division: ZeroDivision = "nan",
    output: Output = None,
) -> None:
    """Score every confusion matrix of a file."""
    chosen, to_backend = resolve(metrics or "core"), open_backend(backend)
    zero = _number("zero-division", zero_division)
    if output is not None:
        check_output(output, path)
    source = read(path, Names(true, pred, _column_names(by or [])), rows)
    run = ScoreRun(source=source, metrics=chosen, to_backend=to_backend, zero_division=zero)
    if output is not None:
        _write(run, output)
    elif source.count > report.MOST_ROWS:
        _summarise(run)
    else:
        _tabulate(run)


@app.command()
def interval(
    path: FilePath,
    *,
    metrics: Metrics = None,
    by: By = None,
    true: TrueColumn = Names.true,
    pred: PredColumn = Names.pred,
    rows: Rows = None,
    clusters: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows with one value of this column are not independent: one cluster."),
    ] = None,
    level: Level = "0.95",
    method: Annotated[
        str, typer.Option(metavar="auto|bootstrap|bca|posterior|delta|wilson", help="How limits are formed.")
    ] = "auto",
    scheme: Annotated[
        str | None,
        typer.Option(metavar="multinomial|rows|poisson", help="What is random.", show_default="multinomial"),
    ] = None,
    num: Num = None,
    seed: Seed = None,
    zero_division: ZeroDivision = "nan",
    output: Output = None,
) -> None:
    """Say how sure every score is: an interval for every measure of every matrix."""
    chosen, zero = resolve(metrics or "core"), _number("zero-division", zero_division)
    wanted = Wanted.read(
        level=_number("level", level),
        method=method,
        scheme=scheme,
        num=_integer("num", num),
        seed=_integer("seed", seed),
        clusters=clusters,
    )
    if output is not None:
        check_output(output, path)
    source = read(path, Names(true, pred, _column_names(by or []), clusters), rows)
    run = IntervalRun(source=source, metrics=chosen, zero_division=zero, wanted=wanted)
    if output is not None:
        _write(run, output)
    elif source.count > report.MOST_ROWS:
        _summarise_intervals(run)
    else:
        _tabulate_intervals(run)


@app.command()
def compare(
    path: FilePath,
    *,
    by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN[,COLUMN]", help="The columns that tell the models apart.")
    ] = None,
    paired_on: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the samples, where all models predicted the same ones."),
    ] = None,
    metrics: Metrics = None,
    true: TrueColumn = Names.true,
    pred: PredColumn = Names.pred,
    level: Level = "0.95",
    num: Num = None,
    seed: Seed = None,
    zero_division: ZeroDivision = "nan",
) -> None:
    """Tell which models of a file are really apart: differences from the best, with limits."""
    columns = _column_names(by or [])
    if not columns:
        raise ValueError("--by: expected the column that tells the models apart, got none")
    if paired_on in {*columns, true, pred}:
        raise ValueError(f"--paired-on: expected another column than those of models and labels, got {paired_on!r}")
    found = compare_file(
        path,
        Names(true, pred, columns, paired_on),
        resolve(metrics or "accuracy,mcc"),
        level=_number("level", level),
        num=_integer("num", num),
        seed=_integer("seed", seed),
        zero_division=_number("zero-division", zero_division),
    )
    show_comparison(_console(), found, ", ".join(columns))


@app.command()
def reproduce(
    *,
    source: Annotated[
        str | None,
        typer.Option(metavar="NUMBER|NAME", help="One source: 000 or eve, 001 or review, ...", show_default="all"),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw the figures of the sources here, as PNG.")
    ] = None,
    num: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Matrices in the random experiment of 002.", show_default=str(NUM)),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "--all", help="Show every number beside the printed one.")
    ] = False,
) -> None:
    """Compute every number that the sources print again, and compare it with the print."""
    chosen, drawn = chosen_source(source), _integer("num", num)
    if figures is not None:
        check_folder(figures)
    found = study.reproduce(chosen, num=NUM if drawn is None else drawn)
    console = _console()
    show_reproduction(console, found, verbose=verbose)
    if figures is not None:
        report.show(console, Text(), *(Text(report.plain(str(path))) for path in draw(figures, chosen)))
    if found.of("unexplained"):
        raise typer.Exit(1)


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"--{option}: expected a number, got {text!r}") from error


def _integer(option: str, text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError as error:
        raise ValueError(f"--{option}: expected an integer, got {text!r}") from error


def _column_names(by: list[str]) -> tuple[str, ...]:
    for text in by:
        if not text.strip(","):
            raise ValueError(f"--by: expected names of columns, got {text!r}")
    return tuple(dict.fromkeys(name for text in by for name in text.split(",") if name))


def _write(run: ScoreRun | IntervalRun, output: Path) -> None:
    both = sorted({key.name for key in run.source.keys} & set(run.labels))
    if both:
        raise ValueError(
            f"--output: expected different names, got a measure and a column of the file both named {both[0]!r}"
        )
    with open_output(output) as append:
        statuses: Counter[int] = Counter()
        for start, found in run.blocks():
            append({**run.source.columns(start, start + len(found)), **run.outputs(found)})
            if isinstance(run, IntervalRun):
                statuses += count_statuses(found)
    written = f"{output}: {_counted(run.source.count, 'row')} of {_counted(len(run.columns), run.unit)}"
    console = _console()
    report.show(console, *_title(run), Text(report.plain(written)))
    show_statuses(console, statuses, signs=False)


def _summarise(run: ScoreRun) -> None:
    summary = report.Summary(len(run.columns))
    for start, scores in run.blocks():
        summary.add(start, scores)
    console = _console()
    report.show(console, *_title(run), Text())
    report.show_summary(console, run.columns, summary, run.source.count, run.source.name)


def _tabulate(run: ScoreRun) -> None:
    scores = np.concatenate([scores for _, scores in run.blocks()])
    names = [run.source.name(position) for position in range(run.source.count)]
    console = _console()
    report.show(console, *_title(run), Text())
    report.show_scores(console, run.columns, scores, names, run.source.heading, ordered=run.source.in_order)


def _summarise_intervals(run: IntervalRun) -> None:
    summary, statuses = report.Summary(len(run.columns)), Counter[int]()
    for start, found in run.blocks():
        summary.add(start, widths(found))
        statuses += count_statuses(found)
    console = _console()
    report.show(console, *_title(run), Text("how wide they are, from the lower to the upper limit:"), Text())
    columns = [report.Column(column.label, column.range, None) for column in run.columns]  # no width is the best
    report.show_summary(console, columns, summary, run.source.count, run.source.name, missing="no limits")
    show_statuses(console, statuses, signs=False)


def _tabulate_intervals(run: IntervalRun) -> None:
    found = np.concatenate([found for _, found in run.blocks()])
    names = [run.source.name(position) for position in range(run.source.count)]
    console = _console()
    report.show(console, *_title(run), Text())
    show_intervals(console, run.columns, found, names, run.source.heading, ordered=run.source.in_order)
    show_statuses(console, count_statuses(found), signs=True)


def _title(run: ScoreRun | IntervalRun) -> list[Text]:
    source = run.source
    matrices = _counted(source.count, "matrix", "matrices")
    classes, samples = _counted(source.n, "class", "classes"), _counted(run.samples, "sample")
    lines = [f"{source.file}: {matrices} of {classes}, {samples}"]
    if isinstance(run, IntervalRun):
        lines.append(run.title)
    return [Text(report.plain(line)) for line in lines]


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


@app.command()
def certificate(
    name: Annotated[str, typer.Argument(help="A name, an alias or a spec such as f1:binary.", show_default=False)],
    *,
    cases: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Random matrices for each property.", show_default=str(CASES)),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="The seed of the random matrices.", show_default="0")
    ] = None,
) -> None:
    """Search for matrices that show which properties a measure lacks."""
    metric = matrics.get_metric(name)
    asked = {"cases": _integer("cases", cases), "seed": _integer("seed", seed)}
    found = matrics.study.certificate(metric, **{key: value for key, value in asked.items() if value is not None})
    show_certificate(_console(), found, metric.summary)
