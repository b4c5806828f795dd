"""The commands. Errors raise exceptions, which ``main`` prints in one line.

What a command needs is imported when it runs: the help and the other commands would wait for it.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

import matrics
from matrics._cli import count, decisions, diagnostic, gate, logs, report_page
from matrics._cli.flags import PlainFlags
from matrics._cli.options import (
    Average,
    By,
    Cells,
    ClassOrder,
    Counts,
    Encoding,
    FileOutput,
    FilePath,
    Format,
    LabelsPath,
    Level,
    Metrics,
    Missing,
    MissingTexts,
    Num,
    OnInvalid,
    Output,
    Plugin,
    PositiveClass,
    PredColumns,
    Reading,
    Rows,
    RunOptions,
    ScoresInstead,
    Seed,
    Separator,
    ShowProgress,
    TextLabels,
    Threshold,
    TrueColumn,
    Weight,
    Workers,
    ZeroDivision,
    column_names,
    integer,
    number,
    predicted,
)
from matrics._cli.plugins import plug_in
from matrics._cli.prevalence import Prevalence, Target
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._quoting import quoted
from matrics._scoring.score import resolve
from matrics._wording import plain

# The base class of all usage errors. It is taken from typer, as some versions of typer use click and others include a
# copy.
UsageError: Any = typer.BadParameter.__base__

app = typer.Typer(
    cls=PlainFlags,
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
    path: FilePath,
    *,
    metrics: Metrics = None,
    plugin: Plugin = None,
    by: By = None,
    true: TrueColumn = Names.true,
    pred: PredColumns = None,
    scores: ScoresInstead = None,
    threshold: Threshold = None,
    positive: PositiveClass = None,
    prevalence: Prevalence = None,
    separator: Separator = None,
    average: Average = None,
    rows: Rows = None,
    counts: Counts = None,
    weight: Weight = None,
    cells: Cells = None,
    missing: Missing = "error",
    encoding: Encoding = "utf-8",
    na: MissingTexts = None,
    text_labels: TextLabels = False,
    labels: ClassOrder = None,
    backend: Annotated[str, typer.Option(metavar="numpy|torch|jax", help="The library to use; all agree.")] = "numpy",
    zero_division: ZeroDivision = "nan",
    disparity: Annotated[
        bool, typer.Option("--disparity", help="Also show the differences between the groups of --by.")
    ] = False,
    format_: Format = None,
    output: Output = None,
    workers: Workers = None,
    on_invalid: OnInvalid = "raise",
    progress: ShowProgress = False,
) -> None:
    """Score every confusion matrix of a file."""
    from matrics._cli.delivery import read_delivery
    from matrics._cli.matrix_results import Wanted
    from matrics._cli.open_run import ScoreRequest, open_run
    from matrics._cli.screen import deliver, open_work
    from matrics._files.outputs.destination import SUFFIXES

    plug_in(plugin)
    zero = number("zero-division", zero_division)
    asked = ScoreRequest(
        true=true,
        **predicted(pred),
        by=column_names(by or []),
        rows=rows,
        scores=scores,
        threshold=threshold,
        positive=positive,
        prevalence=prevalence,
        separator=separator,
        average=average,
        counts=counts,
        weight=weight,
        cells=cells,
        reading=Reading.read(missing, encoding, na, labels, text_labels=text_labels),
    )
    if disparity and not (asked.by or asked.models):
        raise ArgumentError("disparity", "expected --by COLUMN with it, the groups to compare")
    manner = RunOptions.read(workers, on_invalid, progress=progress)
    wanted = Wanted(
        read_delivery(format_, output, [path], blocks=SUFFIXES),
        disparity=disparity,
        positive=None if scores and threshold is not None else positive,
        library=backend if backend in ("torch", "jax") else None,
    )
    with open_work(path, output if wanted.delivery is None else None) as work:
        run = open_run(path, asked, metrics, backend=backend, zero_division=zero, manner=manner)
        if logs.is_log(path):
            logs.warn_of_single_class(run)
        deliver(run, work, wanted)


@app.command()
def interval(
    path: FilePath,
    *,
    metrics: Metrics = None,
    plugin: Plugin = None,
    by: By = None,
    true: TrueColumn = Names.true,
    pred: PredColumns = None,
    positive: PositiveClass = None,
    prevalence: Prevalence = None,
    rows: Rows = None,
    counts: Counts = None,
    weight: Weight = None,
    cells: Cells = None,
    missing: Missing = "error",
    encoding: Encoding = "utf-8",
    na: MissingTexts = None,
    text_labels: TextLabels = False,
    labels: ClassOrder = None,
    clusters: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows with one value of this column are not independent: one cluster."),
    ] = None,
    level: Level = "0.95",
    method: Annotated[
        str, typer.Option(metavar="auto|bootstrap|...", help="How limits are formed; matrics.interval has the names.")
    ] = "auto",
    scheme: Annotated[
        str | None,
        typer.Option(metavar="multinomial|rows|poisson", help="The sampling scheme.", show_default="multinomial"),
    ] = None,
    num: Num = None,
    seed: Seed = None,
    zero_division: ZeroDivision = "nan",
    format_: Format = None,
    output: Output = None,
    workers: Workers = None,
    on_invalid: OnInvalid = "raise",
    progress: ShowProgress = False,
) -> None:
    """Compute a confidence interval for every measure of every matrix."""
    from matrics._cli.delivery import read_delivery
    from matrics._cli.interval import IntervalRequest, IntervalRun
    from matrics._cli.matrix_results import Wanted
    from matrics._cli.measures import measures
    from matrics._cli.open_run import ScoreRequest, open_matrices
    from matrics._cli.progress import watching
    from matrics._cli.screen import deliver, open_work
    from matrics._files.outputs.destination import SUFFIXES

    plug_in(plugin)
    zero = number("zero-division", zero_division)
    resolve(metrics or "core")  # raises before anything is read
    given = logs.opened(path)
    clusters = logs.clusters_of(given, clusters, weight, cells, counts, scheme)
    wanted = IntervalRequest.read(
        level=number("level", level),
        method=method,
        scheme=scheme,
        num=integer("num", num),
        seed=integer("seed", seed),
        clusters=clusters,
        prevalence=prevalence,
    )
    manner = RunOptions.read(workers, on_invalid, progress=progress)
    asked = ScoreRequest(
        true=true,
        **predicted(pred),
        by=column_names(by or []),
        rows=rows,
        counts=counts,
        weight=weight,
        positive=positive,
        cells=cells,
        reading=Reading.read(missing, encoding, na, labels, text_labels=text_labels),
    )
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    with open_work(path, output if delivery is None else None) as work:
        source = open_matrices(given, asked, watching(lines=manner.progress), clusters=clusters)
        chosen = measures(metrics or "core", lambda: source.known(positive))
        target = Target.read(prevalence, source.known(positive))
        run = IntervalRun(
            source=source, metrics=chosen, zero_division=zero, wanted=wanted, manner=manner, target=target
        )
        if logs.is_log(path):
            logs.warn_of_single_class(run)
        deliver(run, work, Wanted(delivery, positive=positive))


@app.command()
def compare(
    path: LabelsPath,
    other: Annotated[
        Path | None,
        typer.Argument(
            help="The predictions of another model, or the log of another run of the same evaluation.",
            show_default=False,
        ),
    ] = None,
    *,
    by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN[,COLUMN]", help="The columns that identify the model.")
    ] = None,
    paired_on: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the samples, if all models predicted the same samples."),
    ] = None,
    metrics: Metrics = None,
    plugin: Plugin = None,
    true: TrueColumn = Names.true,
    pred: PredColumns = None,
    scores: ScoresInstead = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|MODEL=NUMBER[,...]",
            help="Scores of at least this are predicted as the positive class.",
            show_default="0.5 of probabilities",
        ),
    ] = None,
    positive: PositiveClass = None,
    prevalence: Prevalence = None,
    weight: Weight = None,
    missing: Missing = "error",
    encoding: Encoding = "utf-8",
    na: MissingTexts = None,
    text_labels: TextLabels = False,
    labels: ClassOrder = None,
    level: Level = "0.95",
    num: Num = None,
    seed: Seed = None,
    zero_division: ZeroDivision = "nan",
    format_: Format = None,
    output: FileOutput = None,
) -> None:
    """Compare the models of a file, two files, or two evaluation logs: differences with confidence limits."""
    from matrics._cli.compare import ComparisonOptions, compare_file, compare_files, compare_scores, names_of_scores
    from matrics._cli.compare_report import show_comparison
    from matrics._cli.compare_results import comparison_result
    from matrics._cli.delivery import read_delivery
    from matrics._files.wide import MODEL, ROW

    plug_in(plugin)
    columns, paths = column_names(by or []), [path, *([] if other is None else [other])]
    delivery = read_delivery(format_, output, paths)
    of_models = predicted(pred)
    several = "models" in of_models
    if not (columns or several or scores) and logs.are_runs(paths, paired_on):
        options = {"paired-on": paired_on, "positive": positive, "weight": weight, "num": num, "seed": seed}
        options["prevalence"] = prevalence
        logs.refuse_options({**options, "zero-division": {"nan": None}.get(zero_division, zero_division)})
        from matrics._cli.compare_logs import compare_logs, say_left_out, show_logs
        from matrics._cli.compare_results import logs_result

        runs = compare_logs(path, other, metrics, number("level", level))
        if delivery.is_table:
            delivery.show(lambda console: show_logs(console, runs))
        else:
            delivery.write(logs_result(runs, paths))
        say_left_out(runs)
        return
    if other is None and not (columns or several or scores):
        raise ArgumentError(
            "by", "expected the column that identifies the model, several columns by --pred, or a second file, got none"
        )
    if other is not None and several:
        raise ArgumentError("pred", f"expected one column with two files, each of one model, got {len(pred or ())}")
    if other is not None and columns:
        raise ArgumentError(
            "by", f"expected no such option with two files, each of one model, got {quoted(','.join(columns))}"
        )
    if paired_on in {*columns, true, *(pred or [Names.pred])}:
        raise ArgumentError(
            "paired_on", f"expected a column that is neither the model nor a label, got {quoted(paired_on)}"
        )
    reading = Reading.read(missing, encoding, na, labels, text_labels=text_labels)
    if threshold is not None and not scores:
        raise ArgumentError("threshold", f"expected --scores with it, got {quoted(threshold)}")
    names = Names(
        true=true,
        **of_models,
        by=columns,
        clusters=ROW if several and paired_on is None else paired_on,
        weight=weight,
        positive=positive,
        **reading.names,
    )
    chosen = ComparisonOptions(
        metrics or ["accuracy,mcc"],
        positive,
        number("level", level),
        integer("num", num),
        integer("seed", seed),
        number("zero-division", zero_division),
        prevalence,
    )
    if scores:
        unused = {"pred": ",".join(pred or ()), "weight": weight, "prevalence": prevalence}
        score_names = names_of_scores(scores, names, unused, has_other=other is not None)
        several = several or bool(score_names.models)
        found = compare_scores(path, score_names, chosen, threshold)
    else:
        found = compare_file(path, names, chosen) if other is None else compare_files(paths, names, chosen)
    if delivery.is_table:
        delivery.show(
            lambda console: show_comparison(console, found, ", ".join([MODEL] * several + list(columns)) or "file")
        )
    else:
        delivery.write(comparison_result(found))


app.command()(gate.gate)
app.command()(count.count)
app.command()(count.merge)
app.command()(decisions.curve)
app.command()(decisions.threshold)
app.command()(report_page.report)
app.command()(diagnostic.diagnostic)


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
        typer.Option(metavar="INTEGER", help="Matrices in the random experiment of 002.", show_default="200000"),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "--all", help="Show every number next to the printed one.")
    ] = False,
) -> None:
    """Compute every number that the sources print again, and compare it with the print."""
    from rich.text import Text

    from matrics import study
    from matrics._cli import printing
    from matrics._cli.delivery import open_console
    from matrics._cli.reproduce import check_folder, draw
    from matrics._cli.reproduce_report import show_reproduction
    from matrics._study.sources.experiment import NUM
    from matrics._study.sources.reproduction import find_source

    chosen, drawn = None if source is None else find_source(source), integer("num", num)
    if figures is not None:
        check_folder(figures)
    found = study.reproduce(chosen, num=NUM if drawn is None else drawn)
    console = open_console()
    show_reproduction(console, found, verbose=verbose)
    if figures is not None:
        printing.show(console, Text(), *(Text(plain(str(path))) for path in draw(figures, chosen)))
    if found.of("unexplained"):
        raise typer.Exit(1)


@app.command("metrics")
def list_metrics(
    group: Annotated[
        str | None, typer.Argument(help="core, overall, own, or a family such as rates.", show_default="all")
    ] = None,
    *,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="A table in Markdown, with formulas and aliases.")
    ] = False,
    plugin: Plugin = None,
) -> None:
    """List the measures."""
    from rich.text import Text

    from matrics._catalogue.description import range_of
    from matrics._cli import markdown, printing
    from matrics._cli.delivery import open_console

    plug_in(plugin)
    listed = [matrics.get_metric(name) for name in matrics.list_metrics(group)]
    if as_markdown:
        typer.echo(markdown.catalogue(listed))
        return
    console = open_console()
    # On a terminal, where lines are short, the source goes below the summary.
    apart = [] if console.is_terminal else ["source"]
    table = printing.text_table("name", "kind", "range", *apart, "summary")
    for column in table.columns[:3]:
        column.no_wrap = True
    for metric in listed:
        interval, source = range_of(metric), Text(metric.source, "dim")
        about = [source, Text(metric.summary)] if apart else [Text(f"{metric.summary}\n").append_text(source)]
        table.add_row(metric.name, metric.kind.replace("_", " "), Text(interval), *about)
    printing.show(console, table)


@app.command()
def describe(
    name: Annotated[str, typer.Argument(help="A name, an alias or a spec such as fbeta(beta=2).", show_default=False)],
    *,
    plugin: Plugin = None,
) -> None:
    """Describe a measure: its properties, formula, source and names."""
    from rich.table import Table
    from rich.text import Text

    from matrics._catalogue.description import facts
    from matrics._cli import printing
    from matrics._cli.delivery import open_console

    plug_in(plugin)
    metric = matrics.get_metric(name)
    table = Table.grid(padding=(0, 2))
    for label, fact in facts(metric).items():
        table.add_row(Text(label, "bold"), Text(fact))
    printing.show(open_console(), Text(f"{metric.name}: {metric.summary}", "bold"), Text(), table)


@app.command()
def certificate(
    name: Annotated[str, typer.Argument(help="A name, an alias or a spec such as f1:binary.", show_default=False)],
    *,
    cases: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Random matrices for each property.", show_default="20000"),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="The seed of the random matrices.", show_default="0")
    ] = None,
    plugin: Plugin = None,
) -> None:
    """Search for matrices that show which properties a measure lacks."""
    from matrics import study
    from matrics._cli.certificate_report import show_certificate
    from matrics._cli.delivery import open_console

    plug_in(plugin)
    metric = matrics.get_metric(name)
    asked = {"cases": integer("cases", cases), "rng": integer("seed", seed)}
    found = study.certificate(metric, **{key: value for key, value in asked.items() if value is not None})
    show_certificate(open_console(), found, metric.summary)
