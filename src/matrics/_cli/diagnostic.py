"""``matrics diagnostic``: one table of a diagnostic test, of one matrix in a file or of its labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, cast

from rich.text import Text

import matrics
from matrics._cli import options
from matrics._cli.matrices import MatrixOptions, open_matrices, opened
from matrics._cli.writers import Result, column, plain_size, read_delivery
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._uncertainty.arguments import second_class

if TYPE_CHECKING:
    from matrics.results import DiagnosticTable

PrevalenceOfClass = Annotated[
    str | None,
    options.option(
        "NUMBER",
        "The share of the positive class where the test will be used, such as 0.02.",
        default="that of the samples",
    ),
]


def diagnostic(
    path: options.FilePath,
    *,
    data: MatrixOptions,
    prevalence: PrevalenceOfClass = None,
    reading: options.ReadingOptions,
    level: options.Level = "0.95",
    method: Annotated[
        str, options.option("wilson|agresti_coull|clopper_pearson|jeffreys", "The limits of proportions.")
    ] = "wilson",
    format_: options.Format = None,
    output: options.FileOutput = None,
) -> None:
    """Compute the sensitivity, specificity, predictive values and more of a test, with limits."""
    document = output if output is not None and str(output).lower().endswith(".docx") else None
    if document is not None and format_ is not None:
        raise ArgumentError("format", f"expected none with --output {quoted(str(document))}, got {quoted(format_)}")
    delivery = read_delivery(format_, None if document else output, [path])
    share, confidence = (
        None if prevalence is None else options.read_number("prevalence", prevalence),
        options.read_number("level", level),
    )
    rows_read = reading.read()
    source = open_matrices(opened(path, rows_read.answers), data.request(reading=rows_read))
    number_of_matrices = math.prod(source.batch)
    if number_of_matrices != 1:
        raise ValueError(f"{source.file}: expected one matrix, or the labels of one test, got {number_of_matrices:,}")
    known = source.known(data.positive)
    place = second_class(known) if source.n == 2 else known.positive
    if place is None:
        raise ArgumentError("positive", f"expected the class that the test is for, one of {known.listed}, got none")
    found = matrics.stats.diagnostic_table(
        source.block(0, 1)[0] if source.rows == "true" else source.block(0, 1)[0].T,
        positive=source.titles[place],
        prevalence=share,
        level=confidence,
        method=cast("Any", method),  # which is checked there
        class_names=source.titles,
    )
    if document is not None:
        found.to_docx(str(document))
        return
    text = Text(f"{source.file}: {found}")
    delivery.write(lambda: _result(found, source.file, share), lambda console: console.print(text, soft_wrap=True))


def _result(found: DiagnosticTable, file: str, prevalence: float | None) -> Result:
    """A row for each measure."""
    given = {row: "the prevalence is given" for row, method in enumerate(found.method) if method == "given"}
    rows = {
        "measure": column(found.names),
        "estimate": column(found.estimate, undefined="0/0: there are no such samples"),
        "low": column(found.low, status="status", reasons=given),
        "high": column(found.high, status="status", reasons=given),
        "method": column(found.method),
        "status": column(found.status, is_status=True),
    }
    tp, fn, fp, tn = map(plain_size, found.counts.ravel().tolist())
    facts = {
        "file": file,
        "positive": found.positive,
        "rest": {name: plain_size(number) for name, number in found.rest.items()},
        "counts": {"true_positives": tp, "false_negatives": fn, "false_positives": fp, "true_negatives": tn},
        "level": found.level,
        **({} if prevalence is None else {"prevalence": prevalence}),
    }
    return Result("diagnostic", [f"{file}: {found.title()}"], facts, rows, remarks=found.remarks())
