"""``matrics interval``: a confidence interval for every measure of every matrix."""

from __future__ import annotations

from typing import Annotated

import typer

from matrics._cli import logs
from matrics._cli.measures import plug_in
from matrics._cli.options import (
    By,
    Cells,
    Counts,
    FilePath,
    Format,
    Level,
    Metrics,
    Num,
    OnInvalid,
    Output,
    Plugin,
    PositiveClass,
    PredColumns,
    ReadingOptions,
    Rows,
    RunOptions,
    Seed,
    ShowProgress,
    TrueColumn,
    Weight,
    Workers,
    ZeroDivision,
    column_names,
    predicted,
    read_integer,
    read_number,
)
from matrics._cli.prevalence import Prevalence, Target
from matrics._files.names import Names
from matrics._scoring.score import resolve


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
    reading: ReadingOptions,
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
    from matrics._cli.interval_run import IntervalRequest, IntervalRun
    from matrics._cli.matrix_results import Wanted
    from matrics._cli.measures import measures
    from matrics._cli.open_run import ScoreRequest, open_matrices
    from matrics._cli.progress import watching
    from matrics._cli.screen import deliver, open_work
    from matrics._cli.writers import read_delivery
    from matrics._files.outputs.destination import SUFFIXES

    plug_in(plugin)
    zero = read_number("zero-division", zero_division)
    resolve(metrics or "core")  # raises before anything is read
    rows_read = reading.read()
    given = logs.opened(path, rows_read.answers)
    clusters = logs.clusters_of(given, clusters, weight, cells, counts, scheme)
    wanted = IntervalRequest.read(
        level=read_number("level", level),
        method=method,
        scheme=scheme,
        num=read_integer("num", num),
        seed=read_integer("seed", seed),
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
        reading=rows_read,
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
