"""Files of scores: their options, how they are read, and what curves and thresholds say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from matrics._cli import options
from matrics._cli.measures import Target, about_measures
from matrics._cli.results import Measured
from matrics._cli.run import score_columns
from matrics._cli.screen import show
from matrics._cli.writers import open_console
from matrics._files.names import Names
from matrics._files.outputs.destination import check_file
from matrics._files.outputs.whole import open_output
from matrics._files.scores import Scored, ScoreNames, read_scores
from matrics._quoting import quoted
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matrics._catalogue.record import Metric

Array = Any

FilePath = Annotated[
    Path,
    options.argument(
        "Scores: .parquet, text or .jsonl with a column y_true and columns of scores, or a pattern of such files. "
        "Text: .csv, .tsv, .txt, compressed (.gz, .bz2, .zst) or not, or - (standard input)."
    ),
]


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The options that say what scores there are."""

    scores: options.Scores
    by: options.By = None
    true: options.TrueColumn = Names.true
    positive: options.Positive = None
    lower_is_positive: options.LowerIsPositive = False
    prevalence: options.Prevalence = None

    @property
    def names(self) -> ScoreNames:
        """The columns."""
        by = options.column_names(self.by)
        names = ScoreNames.parse(self.scores, true=self.true, by=by, positive=self.positive)
        return replace(names, lower_is_positive=self.lower_is_positive)

    def read(
        self,
        path: Path,
        reading: options.Reading,
        output: str | None,
        clusters: str | None = None,
        *,
        unlabelled: bool = False,
        amounts: tuple[str, ...] = (),
    ) -> tuple[Scored, Target | None]:
        """The scores of a file, and the target prevalence; the file of the output is checked before."""
        if output is not None:
            check_file(output, path)
        names = replace(self.names, clusters=clusters, unlabelled=unlabelled, amounts=amounts, **reading.names)
        source = read_scores(path, names)
        if len({label for labels, _ in source.groups for label in np.unique(labels)}) < 2:
            only = quoted(source.classes[int(source.groups[0][0][0])])
            raise ValueError(
                f"{source.file}: expected samples of at least two classes in {quoted(self.true)}, got only {only}"
            )
        if source.has_several:
            why = "no such option with scores of several classes (a single class: --positive)"
            options.refuse(why, {"prevalence": self.prevalence})
        return source, Target.read(self.prevalence, source.known)


@dataclass(frozen=True, kw_only=True)
class ScoredRun:
    """The scores of a file, and the measures to compute of them."""

    source: Scored
    metrics: dict[str, Metric]
    zero_division: float
    level: float
    target: Target | None = None

    @cached_property
    def columns(self) -> list[Measured]:
        """One column per measure, or two for measures of both classes."""
        return score_columns(self.metrics, self.source.sides)

    @property
    def measures(self) -> list[dict[str, Any]]:
        """The measures and their columns."""
        return about_measures(self.metrics, self.source.sides)

    @property
    def title(self) -> str:
        """A line with the file, the numbers of curves and samples, and the positive class."""
        source = self.source
        positive = "each class against the rest" if source.has_several else f"positive: {source.sides[1]}"
        positive += ", by low scores" if source.lower_is_positive else ""
        if not source.has_several and len(source.rest) > 1:  # which of them are meant is not clear by itself
            against = [f"{name} ({number:,})" for name, number in source.rest.items()]
            positive += f", against {', '.join(against[:10])}{', …' if len(against) > 10 else ''}"
        text = f"{source.file}: {counted(source.count, 'curve')}, {counted(source.samples, 'sample')}; {positive}"
        return text if self.target is None else f"{text}; {self.target.title}"

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of the title, as plain values."""
        source, target = self.source, self.target
        return {
            "file": source.file,
            "number_of_curves": source.count,
            "classes": list(source.classes),
            "positive": None if source.has_several else source.classes[source.positives[0]],
            **({} if source.has_several else {"rest": source.rest}),
            "samples": source.samples,
            **({"lower_is_positive": True} if source.lower_is_positive else {}),
            **({"left_out": source.left_out} if source.left_out else {}),
            **({} if target is None else {"prevalence": target.shares}),
        }

    @property
    def keys(self) -> list[str]:
        """The columns that name the curves."""
        return [key.name for key in self.source.keys]

    def name(self, position: int) -> str:
        """The name of a curve; of a single curve the positive class."""
        return self.source.name(position) if self.source.keys else self.source.sides[1]

    @property
    def heading(self) -> str:
        """What the names of curves are."""
        return self.source.heading if self.source.keys else "positive"


def write_tables(output: str, tables: Iterable[dict[str, Array]], titles: list[str], columns: str) -> None:
    """Write the rows of tables with the same columns, and print what was written."""
    rows = 0
    with open_output(Path(output)) as append:
        for table in tables:
            append(table)
            rows += len(next(iter(table.values())))
    show(open_console(), *titles, f"{output}: {counted(rows, 'row')} of {columns}")
