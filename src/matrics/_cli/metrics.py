"""``matrics metrics``, ``describe`` and ``certificate``: the catalogue, a measure, and the properties that it has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import matrics
from matrics._catalogue.description import facts, range_of
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._cli import options
from matrics._cli.measures import BETTER, about_measure, plug_in
from matrics._cli.results import Result, View, column
from matrics._cli.writers import WRITERS, read_delivery
from matrics._tables.markdown import escape, table
from matrics._wording import exact

if TYPE_CHECKING:
    from matrics._study.certificates import Certificate, Verdict


def list_metrics(
    group: Annotated[
        str | None, options.argument("core, overall, own, or a family such as rates.", default="all")
    ] = None,
    *,
    plugin: options.Plugin = None,
    format_: options.Format = None,
    output: options.FileOutput = None,
) -> None:
    """List the measures."""
    plug_in(plugin)
    delivery = read_delivery(format_, output, [])
    listed = [matrics.get_metric(name) for name in matrics.list_metrics(group)]
    delivery.write(lambda: list_result(listed), {**WRITERS, "markdown": lambda _: catalogue(listed) + "\n"})


def list_result(listed: list[Metric]) -> Result:
    """A table with a row for each measure."""
    columns: dict[str, list[str | None]] = {
        "name": [metric.name for metric in listed],
        "kind": [metric.kind for metric in listed],
        "family": [metric.family for metric in listed],
        "range": [range_of(metric) for metric in listed],
        "better": [BETTER[metric.higher_is_better] for metric in listed],
        "summary": [metric.summary for metric in listed],
        "formula": [metric.formula or None for metric in listed],
        "undefined": [metric.undefined for metric in listed],
        "source": [metric.source for metric in listed],
        "aliases": [", ".join(metric.aliases) for metric in listed],
    }
    reasons = {"better": "no direction is better", "formula": "the measure has no formula in LaTeX"}
    rows = {name: column(cells, undefined=reasons.get(name, "")) for name, cells in columns.items()}
    # The other columns are those of ``matrics describe``: a terminal is too narrow for them.
    names = [replace(rows["name"], is_key=True), column([metric.kind.replace("_", " ") for metric in listed])]
    shown = dict(zip(("name", "kind"), names, strict=True)) | {name: rows[name] for name in ("range", "summary")}
    return Result("metrics", [f"{len(listed):,} measures"], {}, rows, views=[View(shown)])


def describe(
    name: Annotated[str, options.argument("A name, an alias or a spec such as fbeta(beta=2).")],
    *,
    plugin: options.Plugin = None,
    format_: options.Format = None,
    output: options.FileOutput = None,
) -> None:
    """Describe a measure: its properties, formula, source and names."""
    plug_in(plugin)
    delivery = read_delivery(format_, output, [])
    metric = matrics.get_metric(name)
    delivery.write(lambda: description(metric))


def description(metric: Metric) -> Result:
    """A row for each property."""
    properties = facts(metric)
    rows = {"property": column(list(properties), is_key=True), "value": column(list(properties.values()))}
    about = [about_measure(title_of(metric.spec), metric)]
    title = f"{metric.name}: {metric.summary}"
    return Result("describe", [title], {"summary": metric.summary}, rows, about, ordered=True)


COLUMNS = ("name", "aliases", "kind", "range", "formula", "summary", "source")


def catalogue(metrics: Iterable[Metric]) -> str:
    """A table in Markdown with a row for each measure."""
    return table(COLUMNS, map(_row, metrics))


def _row(metric: Metric) -> list[str]:
    return [
        f"`{metric.name}`",
        ", ".join(f"`{alias}`" for alias in metric.aliases),
        metric.kind.replace("_", " "),
        escape(range_of(metric)),
        "$" + metric.formula.replace("|", r"\vert ") + "$",  # a bar would end the cell
        escape(metric.summary),
        escape(metric.source),
    ]


def certificate(
    name: Annotated[str, options.argument("A name, an alias or a spec such as f1:binary.")],
    *,
    cases: Annotated[
        str | None, options.option("INTEGER", "The number of random matrices for each property.", default="20000")
    ] = None,
    seed: Annotated[str | None, options.option("INTEGER", "The seed of the random matrices.", default="0")] = None,
    plugin: options.Plugin = None,
    format_: options.Format = None,
    output: options.FileOutput = None,
) -> None:
    """Search for matrices that show which properties a measure lacks."""
    from matrics._study.certificates import certificate as certify

    plug_in(plugin)
    delivery = read_delivery(format_, output, [])
    metric = matrics.get_metric(name)
    given = {"cases": options.read_integer("cases", cases), "rng": options.read_integer("seed", seed)}
    result = certify(metric, **{key: value for key, value in given.items() if value is not None})
    delivery.write(lambda: certificate_result(result, metric))


def certificate_result(result: Certificate, metric: Metric) -> Result:
    """A row for each property, and the ranges of values."""
    verdicts = list(result.verdicts.values())
    rows = {
        "property": column([verdict.name for verdict in verdicts]),
        "statement": column([verdict.statement for verdict in verdicts]),
        "holds": column([verdict.holds for verdict in verdicts], undefined="the property does not apply"),
        "value": column([verdict.value for verdict in verdicts], undefined="the property has no number"),
        "cases": column([verdict.cases for verdict in verdicts]),
        "classes": column([", ".join(map(str, verdict.classes)) for verdict in verdicts]),
        "witness": column(
            [None if verdict.witness is None else str(verdict.witness) for verdict in verdicts],
            undefined="no case contradicts the property",
        ),
    }
    classes = sorted(result.ranges)
    ranges = {
        "classes": column(classes),
        "lowest": column([float(result.ranges[n][0]) for n in classes]),
        "highest": column([float(result.ranges[n][1]) for n in classes]),
    }
    title = title_of(result.metric)
    return Result(
        "certificate",
        [f"{title}: {metric.summary}"],
        {"seed": result.rng},
        rows,
        [about_measure(title, metric)],
        tables={"ranges": ranges},
        views=views_of(result),
    )


GROUPS = {
    "fails": "Fails, on these matrices",
    "holds": "Holds on all cases",
    "number": "Numbers",
    "none": "Does not apply",
}


def views_of(result: Certificate) -> list[View]:
    """A table for each kind of verdict; verdicts with a witness have a second row with the matrix."""
    groups: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
    for verdict in result.verdicts.values():
        of_undecided = "none" if verdict.value is None else "number"
        group = {True: "holds", False: "fails", None: of_undecided}[verdict.holds]
        groups[group].append((verdict.name, verdict.statement + _aside(verdict)))
        groups[group] += [] if verdict.witness is None else [("", str(verdict.witness))]
    views = []
    for group, title in GROUPS.items():
        if groups[group]:
            names, statements = zip(*groups[group], strict=True)
            views.append(View({"property": column(names, is_key=True), "statement": column(statements)}, title))
    ranges = "; ".join(
        f"{exact(low)} to {exact(high)} for {n} classes" for n, (low, high) in sorted(result.ranges.items())
    )
    below = [
        f"values: {ranges}" if ranges else "no value is defined",
        f"seed {result.rng}; witnesses are confirmed in exact arithmetic; no counterexample is no proof",
    ]
    return [*views[:-1], replace(views[-1], below=below)]


def _aside(verdict: Verdict) -> str:
    if verdict.holds is None:
        return "" if verdict.value is None else f": {exact(verdict.value)}"
    worth = "" if verdict.value is None else f", which is {exact(verdict.value)}"
    if verdict.holds:
        return f"{worth} ({verdict.cases:,} cases)"
    classes = " and ".join(map(str, verdict.classes))
    return f" (it holds for {classes} classes)" if classes else ""
