"""``matrics score``: every confusion matrix of a file."""

from __future__ import annotations

from typing import Annotated

import typer

from matrics._cli import logs
from matrics._cli.measures import plug_in
from matrics._cli.options import (
    Average,
    By,
    Cells,
    Counts,
    FilePath,
    Format,
    Metrics,
    OnInvalid,
    Output,
    Plugin,
    PositiveClass,
    PredColumns,
    ReadingOptions,
    Rows,
    RunOptions,
    ScoresInstead,
    Separator,
    ShowProgress,
    Threshold,
    TrueColumn,
    Weight,
    Workers,
    ZeroDivision,
    column_names,
    predicted,
    read_number,
)
from matrics._cli.prevalence import Prevalence
from matrics._errors import ArgumentError
from matrics._files.names import Names


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
    reading: ReadingOptions,
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
    from matrics._cli.matrix_results import Wanted
    from matrics._cli.open_run import ScoreRequest, open_run
    from matrics._cli.screen import deliver, open_work
    from matrics._cli.writers import read_delivery
    from matrics._files.outputs.destination import SUFFIXES

    plug_in(plugin)
    zero = read_number("zero-division", zero_division)
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
        reading=reading.read(),
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
