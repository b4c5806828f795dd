"""``matrics count`` and ``matrics merge``: labels are counted on many machines, and the counts added up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from matrics._cli import options
from matrics._cli.blocks import watching
from matrics._cli.results import Result, keys_of
from matrics._cli.screen import show
from matrics._cli.writers import open_console, read_delivery
from matrics._errors import ArgumentError
from matrics._files.count import count as count_rows
from matrics._files.counts_file import About, rows_of, write_counts
from matrics._files.inputs import open_counts, open_input, open_labels
from matrics._files.names import Names
from matrics._files.notices import refuse_disjoint, warn_of_odd_labels
from matrics._files.outputs.destination import Destination, followed, free_file
from matrics._files.outputs.whole import whole_output
from matrics._files.wide import by_model
from matrics._wording import counted

if TYPE_CHECKING:
    from matrics._cli.writers import Delivery
    from matrics._files.counts import SortedCounts
    from matrics._files.inputs import LabelRows


CountsOutput = Annotated[Path | None, options.option(None, "The file of counts, .parquet.", default=False)]
AnyOutput = Annotated[
    str | None,
    options.option("FILE|-", "The file of counts, .parquet; or .csv, .json, .md, .tex, .txt for people.", default="-"),
]


def count(
    paths: Annotated[
        list[Path],
        options.argument(
            "Labels: text, .parquet, a directory or a pattern of Parquet files; or counts by this command.",
            metavar="PATH",
        ),
    ],
    *,
    by: options.By = None,
    true: options.TrueColumn = Names.true,
    pred: options.PredColumns = None,
    counts: options.Counts = None,
    weight: options.Weight = None,
    reading: options.ReadingOptions,
    format_: options.Format = None,
    output: AnyOutput = None,
    progress: options.ShowProgress = False,
) -> None:
    """Count labels, and write the confusion matrices."""
    delivery = read_delivery(format_, output, paths, blocks=(".parquet",))
    destination = _check_output(Path(delivery.blocks), paths) if delivery.blocks else None
    names = Names(
        true=true,
        **options.predicted(pred),
        by=options.column_names(by),
        counts=counts,
        weight=weight,
        **reading.read(true, pred).names,
    )
    names.check()
    inputs = [open_input(path, counts_as_rows=counts is not None, answers=names.answers) for path in paths]
    if names.models:
        if len(inputs) > 1:
            raise ArgumentError("pred", f"expected one file with the columns of several models, got {len(inputs)}")
        of_all, names = by_model(inputs[0], names)
        inputs = [of_all]
    given = open_labels(inputs, names)
    if destination is not None:
        _write(given, destination, paths, progress=progress)
    else:
        _show(given, delivery, progress=progress)


def merge(
    paths: Annotated[list[Path], options.argument("Files of counts by matrics count.", metavar="PATH")],
    *,
    by: options.By = None,
    output: CountsOutput = None,
    progress: options.ShowProgress = False,
) -> None:
    """Add up files of counts; the result has the classes and groups of all files."""
    destination = _check_output(output, paths)
    given = open_counts(paths, Names(by=options.column_names(by)))
    _write(given, destination, paths, progress=progress)


def _write(given: LabelRows, destination: Destination, paths: list[Path], *, progress: bool) -> None:
    with whole_output(destination, paths) as whole:
        counts = count_rows(given, watching(lines=progress))
        with whole.file() as file:
            write_counts(file, counts, given.names)
        whole.finish()
    matrices = counted(len(counts.starts), "matrix")
    lines = [f"{given.file}: {_described(counts)}", f"{destination.path}: {matrices}"]
    show(open_console(), *lines)


def _show(given: LabelRows, delivery: Delivery, *, progress: bool) -> None:
    counts = count_rows(given, watching(lines=progress), warns=False)
    if given.names.order is None:
        refuse_disjoint(given.file, *counts.sides, given.names.labels)
        refuse_disjoint(given.file, counts.sides[0], counts.foreign, given.names.labels)
        if not given.is_log:
            warn_of_odd_labels(given.file, *counts.sides)
    result = count_result(counts, given.names, given.file, [f"{given.file}: {_described(counts)}"])
    delivery.write(lambda: result)


def _described(counts: SortedCounts) -> str:
    classes = counted(len(counts.classes), "class")
    return f"{counted(len(counts.starts), 'matrix')} of {classes}, {counted(counts.samples, 'sample')}"


def _check_output(output: Path | None, inputs: list[Path]) -> Destination:
    """Raise an error before the work begins if the output cannot be written."""
    if output is None or output.suffix.lower() != ".parquet":
        got = "none" if output is None else repr(str(output))
        raise ArgumentError("output", f"expected a name that ends in .parquet, got {got}")
    free_file(output, inputs)
    return Destination(followed(output), output.suffix.lower().removeprefix("."))


def count_result(counted: SortedCounts, names: Names, file: str, titles: list[str]) -> Result:
    """The rows of a file of counts."""
    rows = rows_of(counted, About.of(counted, names).names, 0, len(counted.true))
    facts = {
        "file": file,
        "matrices": len(counted.starts),
        "classes": counted.classes.to_pylist(),
        "positive": None,
        "samples": counted.samples,
        "weighted": counted.weight is not None,
        "seed": None,
    }
    cells = keys_of({name: rows[name] for name in rows.column_names})
    keys = (*names.by, *names.labels)
    return Result("count", titles, facts, {name: replace(part, is_key=name in keys) for name, part in cells.items()})
