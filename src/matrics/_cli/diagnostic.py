"""``matrics diagnostic``: the table of a diagnostic test, of groups of patients, or of two tests."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

import matrics
from matrics._catalogue.classes import Classes
from matrics._cli import options
from matrics._cli.matrices import MatrixOptions, MatrixRequest, open_matrices, opened
from matrics._cli.results import Column, Result, Rows, View, column, plain_size
from matrics._cli.writers import read_delivery
from matrics._errors import ArgumentError
from matrics._files.label_rows import read_labels
from matrics._files.rows import name_of
from matrics._files.scores import ScoreNames, read_scores
from matrics._files.wide import ROW
from matrics._quoting import quoted
from matrics._tables.diagnostic_groups import ABOUT_P, OVERALL
from matrics._tables.paper import as_fraction
from matrics._uncertainty.arguments import second_class
from matrics._wording import in_percent, number, shown_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matrics._files.source import MatrixSource
    from matrics.results import DiagnosticComparison, DiagnosticGroups, DiagnosticTable

Array = Any

NO_COUNTS = "the measure is no share of samples"
NO_SAMPLES = "0/0: there are no such samples"

PrevalenceOfClass = Annotated[
    str | None,
    options.option(
        "NUMBER[,NUMBER]",
        "The share of the positive class in the target population: 0.02, or several: 0.01,0.08.",
        default="that of the samples",
    ),
]


def diagnostic(
    path: options.FilePath,
    *,
    by: options.By = None,
    data: MatrixOptions,
    scores: Annotated[
        str | None,
        options.option(
            "COLUMN",
            "The column of measured values, in place of --pred; --threshold is their cut-off.",
            "--scores",
            "--y-score",
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        options.option("NUMBER", "The cut-off of --scores: values of at least this number are positive results."),
    ] = None,
    lower_is_positive: options.LowerIsPositive = False,
    prevalence: PrevalenceOfClass = None,
    reading: options.ReadingOptions,
    level: options.Level = "0.95",
    method: Annotated[
        str | None,
        options.option(
            "wilson|agresti_coull|clopper_pearson|jeffreys",
            "The method of the limits of proportions.",
            default="wilson",
        ),
    ] = None,
    format_: options.Format = None,
    output: Annotated[
        str | None,
        options.option("FILE|-", "A file for the table: .json, .csv, .md, .tex, .txt or .docx (Word).", default="-"),
    ] = None,
) -> None:
    """Compute the sensitivity, the specificity and other measures of a diagnostic test, with confidence limits."""
    columns = options.column_names(by)
    document = output if output is not None and str(output).lower().endswith(".docx") else None
    if document is not None and format_ is not None:
        raise ArgumentError("format", f"expected none with --output {quoted(str(document))}, got {quoted(format_)}")
    delivery = read_delivery(format_, None if document else output, [path])
    shares = [options.read_number("prevalence", share) for share in (prevalence or "").split(",") if share]
    if columns and shares:
        raise ArgumentError("prevalence", f"expected no such option with --by, got {quoted(prevalence)}")
    share = options.read_number("level", level)
    rows_read = reading.read(data.true, data.pred)
    request = data.request(by=columns, reading=rows_read, scores=[scores] if scores else None, threshold=threshold)
    if lower_is_positive and scores is None:
        raise ArgumentError("lower_is_positive", "expected --scores with it, the column of measured values")
    table: DiagnosticTable | DiagnosticGroups | DiagnosticComparison
    result: Result
    if request.models:
        options.refuse("a single --pred with it", {"by": columns, "prevalence": prevalence, "method": method})
        request.refuse("no such option with two tests", "scores", "threshold", "rows", "counts", "cells")
        file, table = _compared(path, request, share)
        result = _result_of_comparison(table, file)
    else:
        read = partial(_measured, lower_is_positive=lower_is_positive) if scores else _labelled
        source, test = read(path, request)
        file = source.file if test is None else f"{source.file}, {test}"
        table = _tables(source, request, shares, {"level": share, "method": method or "wilson"})
        if isinstance(table, matrics.results.DiagnosticGroups):
            result = _result_of_groups(table, file, columns)
        else:
            result = _result(table, file, shares)
        result.facts["file"] = source.file
        if test is not None:
            result.facts.update(scores=scores, threshold=float(str(threshold)), lower_is_positive=lower_is_positive)
    if document is not None:
        table.to_docx(str(document))
        return
    delivery.write(lambda: result)


def _labelled(path: Path, request: MatrixRequest) -> tuple[MatrixSource, str | None]:
    """The matrices of a file, or those of its labels."""
    request.refuse("--scores with it", "threshold")
    return open_matrices(opened(path, request.reading.answers), request), None


def _measured(path: Path, request: MatrixRequest, *, lower_is_positive: bool) -> tuple[MatrixSource, str | None]:
    """The matrices at a cut-off of a column of values, and what a positive result is."""
    request.refuse("no such option with --scores", "rows", "pred", "counts", "cells")
    if request.threshold is None:
        raise ArgumentError("threshold", "expected a number with --scores, the cut-off of the test, got none")
    limit = options.read_number("threshold", request.threshold)
    parsed = ScoreNames.parse(request.scores or [], true=request.true, by=request.by, positive=request.positive)
    if len(parsed.scores) > 1 or parsed.models or parsed.classes:
        given = ",".join(request.scores or [])
        raise ArgumentError("scores", f"expected a single column, the values of the test, got {quoted(given)}")
    names = replace(parsed, lower_is_positive=lower_is_positive, **request.reading.names)
    test = f"{parsed.scores[0]} {'<=' if lower_is_positive else '>='} {request.threshold.strip()}"
    return read_scores(path, names).matrices(limit), test


def _tables(
    source: MatrixSource, request: MatrixRequest, shares: list[float], given: dict[str, Any]
) -> DiagnosticTable | DiagnosticGroups:
    """The table of a single matrix, or those of groups."""
    number_of_matrices = math.prod(source.batch)
    if number_of_matrices != 1 and not request.by:
        raise ValueError(
            f"{source.file}: expected a single matrix, or the labels of a single test, got {number_of_matrices:,}"
        )
    place = _positive(source.known(None if request.scores else request.positive))
    blocks = source.block(0, source.count)
    stack = blocks if source.rows == "true" else blocks.transpose(0, 2, 1)
    settings = {"positive": source.titles[place], "class_names": source.titles, **given}
    if request.by:
        names = [source.name(position) for position in range(source.count)]
        return matrics.stats.diagnostic_groups(stack, groups=names, **settings)
    prevalence = shares[0] if len(shares) == 1 else shares or None
    return matrics.stats.diagnostic_table(stack[0], prevalence=prevalence, **settings)


def _positive(known: Classes) -> int:
    """The class that a test is for."""
    place = second_class(known) if known.number == 2 else known.positive
    if place is None:
        raise ArgumentError("positive", f"expected the class that the test is for, one of {known.listed}, got none")
    return place


def _compared(path: Path, request: MatrixRequest, level: float) -> tuple[str, DiagnosticComparison]:
    """The comparison of two tests, whose results are in two columns."""
    if len(request.models) != 2:
        raise ArgumentError("pred", f"expected a single test, or two tests to compare, got {len(request.models)}")
    rows = read_labels(path, request.names(clusters=ROW))
    known = Classes.of(len(rows.classes), rows.classes, request.positive, ordered=rows.ordered, apart=rows.apart)
    place = _positive(known)
    a, b = (rows.groups == rows.names.index(name) for name in request.models)
    codes = (rows.true[a], rows.pred[a], rows.pred[b])
    true, *tests = ((side == place).astype(np.int64) for side in codes)
    table = matrics.stats.diagnostic_comparison(
        true, tests[0], tests[1], positive=1, labels=[0, 1], names=request.models, level=level
    )
    return name_of(path), replace(table, positive=known.name(place))


def _result_of_comparison(table: DiagnosticComparison, file: str) -> Result:
    """A row for each measure, with both tests."""
    first, second = table.names
    rows = {"measure": column(table.measures)}
    for k, name in enumerate(table.names):
        rows |= {
            f"{name}/numerator": column([plain_size(size) for size in table.numerator[:, k]]),
            f"{name}/denominator": column([plain_size(size) for size in table.denominator[:, k]]),
            f"{name}/estimate": column(table.estimate[:, k], undefined=NO_SAMPLES),
        }
    rows |= {
        "difference": column(table.difference, undefined=NO_SAMPLES),
        "low": column(table.low, status="status"),
        "high": column(table.high, status="status"),
        "p_value": column(table.p_value, undefined="the tests do not differ, or there are no such samples"),
        "status": column(table.status, is_status=True),
    }
    view = {"measure": _key(table.measures)}
    for k, name in enumerate(table.names):
        fractions = _fractions(table.numerator[:, k], table.denominator[:, k])
        view[f"{name}/numerator"] = column(fractions, title=f"n/N of {name}")
        view[f"{name}/estimate"] = replace(rows[f"{name}/estimate"], title=name)
    view |= _limited("difference", rows, table.level, signs=True)
    view["p_value"] = replace(
        rows["p_value"], title="p", digits=3, values=[*map(shown_p_value, rows["p_value"].values)]
    )
    cells = table.joint.tolist()
    facts = {"file": file, "tests": [first, second], "positive": table.positive, "joint": cells, "level": table.level}
    return Result("diagnostic", [f"{file}: {table.title()}"], facts, rows, views=[View(view)])


def _result_of_groups(table: DiagnosticGroups, file: str, by: tuple[str, ...]) -> Result:
    """A row for each measure of each group, and of all samples."""
    overall = table.overall
    frames = (*zip(table.groups, table.tables, strict=True), ("", overall))
    parts = [(name, k, group, frame) for k, name in enumerate(overall.names) for group, frame in frames]
    rows = {
        "measure": column([name for name, *_ in parts]),
        ",".join(by): column([group or None for *_, group, _ in parts], undefined="all samples"),
        **{
            name: column([plain_size(getattr(frame, name)[k]) for _, k, _, frame in parts], undefined=NO_COUNTS)
            for name in ("numerator", "denominator")
        },
        "estimate": column([frame.estimate[k] for _, k, _, frame in parts], undefined=NO_SAMPLES),
        "low": column([frame.low[k] for _, k, _, frame in parts], status="status"),
        "high": column([frame.high[k] for _, k, _, frame in parts], status="status"),
        "p_value": column([table.p_value[k] for _, k, _, _ in parts], undefined="there is no test"),
        "status": column([int(frame.status[k]) for _, k, _, frame in parts], is_status=True),
    }
    view = {
        "measure": _key([name if frame is frames[0][1] else "" for name, _, _, frame in parts]),
        ",".join(by): _key([group or OVERALL for *_, group, _ in parts]),
        "numerator": _key([as_fraction(frame.numerator[k], frame.denominator[k]) for _, k, _, frame in parts], "n/N"),
        **_limited("estimate", rows, overall.level, signs=True),
    }
    p_values = [
        f"{name} {number(shown_p_value(p))}"
        for name, p in zip(overall.names, table.p_value.tolist(), strict=True)
        if not math.isnan(p)
    ]
    return Result(
        "diagnostic",
        [f"{file}: {overall.title()}"],
        {"file": file, "by": list(by), "positive": overall.positive, "level": overall.level},
        rows,
        remarks=overall.remarks(),
        views=[View(view, below=[f"{ABOUT_P}: {', '.join(p_values)}"] * bool(p_values))],
    )


def _result(table: DiagnosticTable, file: str, prevalence: list[float]) -> Result:
    """A row for each measure."""
    given = {row: "the prevalence is given" for row, method in enumerate(table.method) if method == "given"}
    rows = {
        "measure": column(table.names),
        "numerator": column(list(map(plain_size, table.numerator)), undefined=NO_COUNTS),
        "denominator": column(list(map(plain_size, table.denominator)), undefined=NO_COUNTS),
        "estimate": column(table.estimate, undefined=NO_SAMPLES),
        "low": column(table.low, status="status", reasons=given),
        "high": column(table.high, status="status", reasons=given),
        "method": column(table.method),
        "status": column(table.status, is_status=True),
    }
    tp, fn, fp, tn = map(plain_size, table.counts.ravel().tolist())
    facts = {
        "file": file,
        "positive": table.positive,
        "rest": {name: plain_size(number) for name, number in table.rest.items()},
        "counts": {"true_positives": tp, "false_negatives": fn, "false_positives": fp, "true_negatives": tn},
        "level": table.level,
        **({"prevalence": prevalence} if prevalence else {}),
    }
    view = {
        "measure": _key(table.names),
        "numerator": _key(_fractions(table.numerator, table.denominator), "n/N"),
        "method": _key(table.method),
        **_limited("estimate", rows, table.level, signs=False),  # remarks explain statuses in the words of the table
    }
    return Result("diagnostic", [f"{file}: {table.title()}"], facts, rows, remarks=table.remarks(), views=[View(view)])


def _key(values: Sequence[str], title: str = "") -> Column:
    """A column of texts that people read before the numbers."""
    return column(values, is_key=True, title=title)


def _fractions(numerator: Array, denominator: Array) -> list[str]:
    return list(map(as_fraction, numerator.tolist(), denominator.tolist()))


def _limited(name: str, rows: Rows, level: float, *, signs: bool) -> Rows:
    """A column of values with their limits, for people, and the signs of their statuses."""
    title = f"{'value' if name == 'estimate' else name} [{in_percent(level)} limits]"
    values = replace(rows[name], title=title, status="status" if signs else "")
    limits = {f"{name}_low": rows["low"], f"{name}_high": rows["high"]}
    return {name: values, **limits, **({"status": rows["status"]} if signs else {})}
