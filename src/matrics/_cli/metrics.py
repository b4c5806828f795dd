"""``matrics metrics``, ``describe`` and ``certificate``: the catalogue, a measure, and the properties that it has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from rich.table import Table
from rich.text import Text

import matrics
from matrics._catalogue.description import facts, range_of
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._cli import options
from matrics._cli.measures import BETTER, about_measure, plug_in
from matrics._cli.results import Result, column
from matrics._cli.screen import show, text_table
from matrics._cli.writers import WRITERS, read_delivery
from matrics._tables.markdown import escape, table
from matrics._wording import exact, plain

if TYPE_CHECKING:
    from rich.console import Console

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
    delivery.write(
        lambda: list_result(listed),
        lambda console: show_list(console, listed),
        {**WRITERS, "markdown": lambda _: catalogue(listed) + "\n"},
    )


def list_result(listed: list[Metric]) -> Result:
    """A row for each measure."""
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
    return Result("metrics", [f"{len(listed):,} measures"], {}, rows)


def show_list(console: Console, listed: list[Metric]) -> None:
    """Print a row for each measure."""
    # On a terminal, where lines are short, the source goes below the summary.
    apart = [] if console.is_terminal else ["source"]
    listing = text_table("name", "kind", "range", *apart, "summary")
    for shown in listing.columns[:3]:
        shown.no_wrap = True
    for metric in listed:
        interval, source = range_of(metric), Text(metric.source, "dim")
        about = [source, Text(metric.summary)] if apart else [Text(f"{metric.summary}\n").append_text(source)]
        listing.add_row(metric.name, metric.kind.replace("_", " "), Text(interval), *about)
    show(console, listing)


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
    delivery.write(lambda: description(metric), lambda console: show_description(console, metric))


def description(metric: Metric) -> Result:
    """A row for each property."""
    properties = facts(metric)
    rows = {"property": column(list(properties)), "value": column(list(properties.values()))}
    about = [about_measure(title_of(metric.spec), metric)]
    return Result("describe", [f"{metric.name}: {metric.summary}"], {"summary": metric.summary}, rows, about)


def show_description(console: Console, metric: Metric) -> None:
    """Print a row for each property."""
    grid = Table.grid(padding=(0, 2))
    for label, fact in facts(metric).items():
        grid.add_row(Text(label, "bold"), Text(fact))
    show(console, Text(f"{metric.name}: {metric.summary}", "bold"), "", grid)


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
        str | None, options.option("INTEGER", "Random matrices for each property.", default="20000")
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
    delivery.write(
        lambda: certificate_result(result, metric), lambda console: show_certificate(console, result, metric.summary)
    )


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
    )


def show_certificate(console: Console, result: Certificate, summary: str) -> None:
    """Print all verdicts; those of failing properties with their witnesses."""
    verdicts = list(result.verdicts.values())
    fails = [verdict for verdict in verdicts if verdict.holds is False]
    holds = [verdict for verdict in verdicts if verdict.holds]
    numbers = [verdict for verdict in verdicts if verdict.holds is None and verdict.value is not None]
    unjudged = [verdict for verdict in verdicts if verdict.holds is None and verdict.value is None]
    show(console, Text(f"{title_of(result.metric)}: {summary}", "bold"))
    for title, some in (
        ("Fails, on these matrices", fails),
        ("Holds on all cases", holds),
        ("Numbers", numbers),
        ("Does not apply", unjudged),
    ):
        if some:
            show(console, "", Text(title, "bold"), _table(some))
    ranges = "; ".join(
        f"{exact(low)} to {exact(high)} for {n} classes" for n, (low, high) in sorted(result.ranges.items())
    )
    show(console, "", f"values: {ranges}" if ranges else "no value is defined")
    show(
        console,
        Text(f"seed {result.rng}; witnesses are confirmed in exact arithmetic; no counterexample is no proof", "dim"),
    )


def _table(verdicts: Iterable[Verdict]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for verdict in verdicts:
        table.add_row(Text(verdict.name, "bold"), Text(verdict.statement + _aside(verdict)))
        if verdict.witness is not None:
            table.add_row(Text(), Text(plain(str(verdict.witness)), "dim"))
    return table


def _aside(verdict: Verdict) -> str:
    if verdict.holds is None:
        return "" if verdict.value is None else f": {exact(verdict.value)}"
    worth = "" if verdict.value is None else f", which is {exact(verdict.value)}"
    if verdict.holds:
        return f"{worth} ({verdict.cases:,} cases)"
    classes = " and ".join(map(str, verdict.classes))
    return f" (it holds for {classes} classes)" if classes else ""
