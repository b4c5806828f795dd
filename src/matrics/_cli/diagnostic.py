"""``matrics diagnostic``: one table of a diagnostic test, of one matrix in a file or of its labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

import matrics
from matrics._cli import options
from matrics._cli.matrices import MatrixOptions, open_matrices, opened
from matrics._cli.writers import Result, column, plain_size, read_delivery
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._uncertainty.arguments import second_class

if TYPE_CHECKING:
    from matrics.results import DiagnosticGroups, DiagnosticTable

NO_COUNTS = "the measure is no share of samples"
NO_SAMPLES = "0/0: there are no such samples"

PrevalenceOfClass = Annotated[
    str | None,
    options.option(
        "NUMBER[,NUMBER]",
        "Shares of the positive class where the test will be used: 0.02 or 0.01,0.08.",
        default="that of the samples",
    ),
]


def diagnostic(
    path: options.FilePath,
    *,
    by: options.By = None,
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
    columns = options.column_names(by)
    document = output if output is not None and str(output).lower().endswith(".docx") else None
    if document is not None and format_ is not None:
        raise ArgumentError("format", f"expected none with --output {quoted(str(document))}, got {quoted(format_)}")
    delivery = read_delivery(format_, None if document else output, [path])
    shares = [options.read_number("prevalence", share) for share in (prevalence or "").split(",") if share]
    if columns and shares:
        raise ArgumentError("prevalence", f"expected no such option with --by, got {quoted(prevalence)}")
    rows_read = reading.read(data.true, data.pred)
    source = open_matrices(opened(path, rows_read.answers), data.request(by=columns, reading=rows_read))
    number_of_matrices = math.prod(source.batch)
    if number_of_matrices != 1 and not columns:
        raise ValueError(f"{source.file}: expected one matrix, or the labels of one test, got {number_of_matrices:,}")
    known = source.known(data.positive)
    place = second_class(known) if source.n == 2 else known.positive
    if place is None:
        raise ArgumentError("positive", f"expected the class that the test is for, one of {known.listed}, got none")
    blocks = source.block(0, source.count)
    stack = blocks if source.rows == "true" else blocks.transpose(0, 2, 1)
    settings: dict[str, Any] = {
        "positive": source.titles[place],
        "level": options.read_number("level", level),
        "method": method,
        "class_names": source.titles,
    }
    found: DiagnosticTable | DiagnosticGroups
    if columns:
        names = [source.name(position) for position in range(source.count)]
        found = matrics.stats.diagnostic_groups(stack, groups=names, **settings)
    else:
        found = matrics.stats.diagnostic_table(
            stack[0], prevalence=shares[0] if len(shares) == 1 else shares or None, **settings
        )
    if document is not None:
        found.to_docx(str(document))
        return

    def result() -> Result:
        if isinstance(found, matrics.results.DiagnosticGroups):
            return _result_of_groups(found, source.file, columns)
        return _result(found, source.file, shares)

    text = Text(f"{source.file}:{chr(10) if columns else ' '}{found}")
    delivery.write(result, lambda console: console.print(text, soft_wrap=True))


def _result_of_groups(found: DiagnosticGroups, file: str, by: tuple[str, ...]) -> Result:
    """A row for each measure of each group, and of all samples."""
    overall = found.overall
    frames = (*zip(found.groups, found.tables, strict=True), ("", overall))
    parts = [(name, k, group, one) for k, name in enumerate(overall.names) for group, one in frames]
    rows = {
        "measure": column([name for name, *_ in parts]),
        ",".join(by): column([group or None for *_, group, _ in parts], undefined="all samples"),
        **{
            name: column([plain_size(getattr(one, name)[k]) for _, k, _, one in parts], undefined=NO_COUNTS)
            for name in ("numerator", "denominator")
        },
        "estimate": column([one.estimate[k] for _, k, _, one in parts], undefined=NO_SAMPLES),
        "low": column([one.low[k] for _, k, _, one in parts], status="status"),
        "high": column([one.high[k] for _, k, _, one in parts], status="status"),
        "p_value": column([found.p_value[k] for _, k, _, _ in parts], undefined="there is no test"),
        "status": column([int(one.status[k]) for _, k, _, one in parts], is_status=True),
    }
    facts = {"file": file, "by": list(by), "positive": overall.positive, "level": overall.level}
    return Result("diagnostic", [f"{file}: {overall.title()}"], facts, rows, remarks=overall.remarks())


def _result(found: DiagnosticTable, file: str, prevalence: list[float]) -> Result:
    """A row for each measure."""
    given = {row: "the prevalence is given" for row, method in enumerate(found.method) if method == "given"}
    rows = {
        "measure": column(found.names),
        "numerator": column(list(map(plain_size, found.numerator)), undefined=NO_COUNTS),
        "denominator": column(list(map(plain_size, found.denominator)), undefined=NO_COUNTS),
        "estimate": column(found.estimate, undefined=NO_SAMPLES),
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
        **({"prevalence": prevalence} if prevalence else {}),
    }
    return Result("diagnostic", [f"{file}: {found.title()}"], facts, rows, remarks=found.remarks())
