"""``matrics metrics`` and ``matrics describe``: the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

import matrics
from matrics._catalogue.description import range_of
from matrics._catalogue.record import Metric
from matrics._cli.measures import plug_in
from matrics._cli.options import Plugin
from matrics._tables.markdown import escape, table


def list_metrics(
    group: Annotated[
        str | None, typer.Argument(help="core, overall, own, or a family such as rates.", show_default="all")
    ] = None,
    *,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="A table in Markdown, with formulas and aliases.")
    ] = False,
    plugin: Plugin = None,
) -> None:
    """List the measures."""
    from rich.text import Text

    from matrics._catalogue.description import range_of
    from matrics._cli import printing
    from matrics._cli.writers import open_console

    plug_in(plugin)
    listed = [matrics.get_metric(name) for name in matrics.list_metrics(group)]
    if as_markdown:
        typer.echo(catalogue(listed))
        return
    console = open_console()
    # On a terminal, where lines are short, the source goes below the summary.
    apart = [] if console.is_terminal else ["source"]
    table = printing.text_table("name", "kind", "range", *apart, "summary")
    for column in table.columns[:3]:
        column.no_wrap = True
    for metric in listed:
        interval, source = range_of(metric), Text(metric.source, "dim")
        about = [source, Text(metric.summary)] if apart else [Text(f"{metric.summary}\n").append_text(source)]
        table.add_row(metric.name, metric.kind.replace("_", " "), Text(interval), *about)
    printing.show(console, table)


def describe(
    name: Annotated[str, typer.Argument(help="A name, an alias or a spec such as fbeta(beta=2).", show_default=False)],
    *,
    plugin: Plugin = None,
) -> None:
    """Describe a measure: its properties, formula, source and names."""
    from rich.table import Table
    from rich.text import Text

    from matrics._catalogue.description import facts
    from matrics._cli import printing
    from matrics._cli.writers import open_console

    plug_in(plugin)
    metric = matrics.get_metric(name)
    table = Table.grid(padding=(0, 2))
    for label, fact in facts(metric).items():
        table.add_row(Text(label, "bold"), Text(fact))
    printing.show(open_console(), Text(f"{metric.name}: {metric.summary}", "bold"), Text(), table)


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
