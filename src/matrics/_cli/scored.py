"""Files of scores: how they are read, and what titles say of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from matrics._catalogue.naming import columns as named_columns
from matrics._catalogue.naming import title_of
from matrics._cli.prevalence import Target, refuse
from matrics._cli.results import about_measure
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._wording import counted, plain

if TYPE_CHECKING:
    from rich.text import Text

    from matrics._catalogue.record import Metric
    from matrics._files.scores import Scored, ScoreNames


FilePath = Annotated[
    Path,
    typer.Argument(
        help="Scores: .parquet, text or .jsonl with a column y_true and columns of scores, or a pattern of such files. "
        "Text: .csv, .tsv, compressed (.csv.gz, .csv.zst) or not, or - (standard input).",
        show_default=False,
    ),
]


def read_source(path: Path, names: ScoreNames, output: str | None) -> Scored:

    from matrics._files.outputs.destination import check_file
    from matrics._files.scores import read_scores

    if output is not None:
        check_file(output, path)
    source = read_scores(path, names)
    if len({label for labels, _ in source.groups for label in np.unique(labels)}) < 2:
        only = source.classes[int(source.groups[0][0][0])]
        raise ValueError(
            f"{source.file}: expected samples of at least two classes in {quoted(names.true)}, got only {quoted(only)}"
        )
    return source


def target_of(prevalence: str | None, source: Scored) -> Target | None:
    if source.has_several:
        refuse(prevalence, "with scores of several classes (with one of them: --positive)")
    return Target.read(prevalence, source.known)


def title_of_source(source: Scored, what: str, target: Target | None) -> Text:
    from rich.text import Text

    positive = "each class against the rest" if source.has_several else f"positive: {source.sides[1]}"
    if not source.has_several and len(source.rest) > 1:  # which of them are meant is not clear by itself
        against = [f"{name} ({number:,})" for name, number in source.rest.items()]
        positive += f", against {', '.join(against[:10])}{', …' if len(against) > 10 else ''}"
    text = f"{source.file}: {counted(source.count, what)}, {counted(source.samples, 'sample')}; {positive}"
    if target is not None:
        text += f"; {target.title}"
    return Text(plain(text))


def show_written(output: str, title: Text, rows: int, what: str) -> None:
    from rich.text import Text

    from matrics._cli import printing
    from matrics._cli.writers import open_console

    written = f"{output}: {counted(rows, 'row')} of {what}"
    printing.show(open_console(), title, Text(plain(written)))


def refuse_same(source: Scored, names: list[str], option: str) -> None:
    """Raise if a column of the file has the name of one that is written."""
    both = sorted({key.name for key in source.keys} & set(names))
    if both:
        raise ArgumentError(option, f"expected different names, got two columns of the name {quoted(both[0])}")


def facts_of(source: Scored, target: Target | None) -> dict[str, Any]:
    positive = None if source.has_several else source.classes[source.positives[0]]
    return {
        "file": source.file,
        "number_of_curves": source.count,
        "classes": list(source.classes),
        "positive": positive,
        **({} if source.has_several else {"rest": source.rest}),
        "samples": source.samples,
        **({"left_out": source.left_out} if source.left_out else {}),
        **({} if target is None else {"prevalence": target.shares}),
    }


def measures_of_source(metrics: dict[str, Metric], source: Scored) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Why a value of each column may be undefined, and the measures."""
    reasons, measures = {}, []
    for key, metric in metrics.items():
        names = [title_of(name) for name in named_columns(key, metric, source.sides)]
        reasons.update(dict.fromkeys(names, f"undefined: {metric.undefined}"))
        measures.append(about_measure(title_of(key), metric, names))
    return reasons, measures
