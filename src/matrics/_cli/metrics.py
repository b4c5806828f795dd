"""``matrics metrics``, ``describe`` and ``certificate``: the catalogue, a measure, and the properties that it has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

import matrics
from matrics._catalogue.description import facts, range_of
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._cli import options
from matrics._cli.measures import plug_in
from matrics._cli.screen import show, text_table
from matrics._cli.writers import open_console
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
    as_markdown: Annotated[bool, options.flag("A table in Markdown, with formulas and aliases.", "--markdown")] = False,
    plugin: options.Plugin = None,
) -> None:
    """List the measures."""
    plug_in(plugin)
    listed = [matrics.get_metric(name) for name in matrics.list_metrics(group)]
    if as_markdown:
        typer.echo(catalogue(listed))
        return
    console = open_console()
    # On a terminal, where lines are short, the source goes below the summary.
    apart = [] if console.is_terminal else ["source"]
    listing = text_table("name", "kind", "range", *apart, "summary")
    for column in listing.columns[:3]:
        column.no_wrap = True
    for metric in listed:
        interval, source = range_of(metric), Text(metric.source, "dim")
        about = [source, Text(metric.summary)] if apart else [Text(f"{metric.summary}\n").append_text(source)]
        listing.add_row(metric.name, metric.kind.replace("_", " "), Text(interval), *about)
    show(console, listing)


def describe(
    name: Annotated[str, options.argument("A name, an alias or a spec such as fbeta(beta=2).")],
    *,
    plugin: options.Plugin = None,
) -> None:
    """Describe a measure: its properties, formula, source and names."""
    plug_in(plugin)
    metric = matrics.get_metric(name)
    grid = Table.grid(padding=(0, 2))
    for label, fact in facts(metric).items():
        grid.add_row(Text(label, "bold"), Text(fact))
    show(open_console(), Text(f"{metric.name}: {metric.summary}", "bold"), "", grid)


COLUMNS = ("name", "aliases", "kind", "range", "formula", "summary", "source")


def catalogue(metrics: Iterable[Metric]) -> str:
    """Make a table of metrics, one in each row."""
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
) -> None:
    """Search for matrices that show which properties a measure lacks."""
    from matrics._study.certificates import certificate as certify

    plug_in(plugin)
    metric = matrics.get_metric(name)
    given = {"cases": options.read_integer("cases", cases), "rng": options.read_integer("seed", seed)}
    found = certify(metric, **{key: value for key, value in given.items() if value is not None})
    show_certificate(open_console(), found, metric.summary)


def show_certificate(console: Console, found: Certificate, summary: str) -> None:
    """Print all verdicts, those that fail with their witnesses."""
    verdicts = list(found.verdicts.values())
    fails = [verdict for verdict in verdicts if verdict.holds is False]
    holds = [verdict for verdict in verdicts if verdict.holds]
    numbers = [verdict for verdict in verdicts if verdict.holds is None and verdict.value is not None]
    unjudged = [verdict for verdict in verdicts if verdict.holds is None and verdict.value is None]
    show(console, Text(f"{title_of(found.metric)}: {summary}", "bold"))
    for title, some in (
        ("Fails, on these matrices", fails),
        ("Holds on all cases", holds),
        ("Numbers", numbers),
        ("Does not apply", unjudged),
    ):
        if some:
            show(console, "", Text(title, "bold"), _table(some))
    ranges = "; ".join(
        f"{exact(low)} to {exact(high)} for {n} classes" for n, (low, high) in sorted(found.ranges.items())
    )
    show(console, "", f"values found: {ranges}" if ranges else "no value was found")
    show(
        console,
        Text(f"seed {found.rng}; witnesses are confirmed in exact arithmetic; no counterexample is no proof", "dim"),
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
