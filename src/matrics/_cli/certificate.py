"""``matrics certificate``: which properties a measure has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

import matrics
from matrics._catalogue.naming import title_of
from matrics._cli.measures import plug_in
from matrics._cli.options import Plugin, read_integer
from matrics._cli.printing import show
from matrics._wording import exact, plain

if TYPE_CHECKING:
    from rich.console import Console

    from matrics._study.certificates import Certificate, Verdict


def certificate(
    name: Annotated[str, typer.Argument(help="A name, an alias or a spec such as f1:binary.", show_default=False)],
    *,
    cases: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Random matrices for each property.", show_default="20000"),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="The seed of the random matrices.", show_default="0")
    ] = None,
    plugin: Plugin = None,
) -> None:
    """Search for matrices that show which properties a measure lacks."""
    from matrics import study
    from matrics._cli.writers import open_console

    plug_in(plugin)
    metric = matrics.get_metric(name)
    asked = {"cases": read_integer("cases", cases), "rng": read_integer("seed", seed)}
    found = study.certificate(metric, **{key: value for key, value in asked.items() if value is not None})
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
            show(console, Text(), Text(f"{title}", "bold"), _table(some))
    ranges = "; ".join(
        f"{exact(low)} to {exact(high)} for {n} classes" for n, (low, high) in sorted(found.ranges.items())
    )
    show(console, Text(), Text(f"values found: {ranges}" if ranges else "no value was found"))
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
