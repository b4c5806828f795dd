"""``matrics compare``: the models of a file, two files, or two evaluation logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from matrics._cli import logs
from matrics._cli.measures import plug_in
from matrics._cli.options import (
    FileOutput,
    Format,
    LabelsPath,
    Level,
    Metrics,
    Num,
    Plugin,
    PositiveClass,
    PredColumns,
    ReadingOptions,
    ScoresInstead,
    Seed,
    TrueColumn,
    Weight,
    ZeroDivision,
    column_names,
    predicted,
    read_integer,
    read_number,
)
from matrics._cli.prevalence import Prevalence
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._quoting import quoted


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
    reading: ReadingOptions,
    level: Level = "0.95",
    num: Num = None,
    seed: Seed = None,
    zero_division: ZeroDivision = "nan",
    format_: Format = None,
    output: FileOutput = None,
) -> None:
    """Compare the models of a file, two files, or two evaluation logs: differences with confidence limits."""
    from matrics._cli.compare_results import comparison_result, show_comparison
    from matrics._cli.comparison import ComparisonOptions, compare_file, compare_files, compare_scores, names_of_scores
    from matrics._cli.writers import read_delivery
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

        runs = compare_logs(paths, metrics, read_number("level", level), reading.read().answers)
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
    rows_read = reading.read()
    if threshold is not None and not scores:
        raise ArgumentError("threshold", f"expected --scores with it, got {quoted(threshold)}")
    names = Names(
        true=true,
        **of_models,
        by=columns,
        clusters=ROW if several and paired_on is None else paired_on,
        weight=weight,
        positive=positive,
        **rows_read.names,
    )
    chosen = ComparisonOptions(
        metrics or ["accuracy,mcc"],
        positive,
        read_number("level", level),
        read_integer("num", num),
        read_integer("seed", seed),
        read_number("zero-division", zero_division),
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
