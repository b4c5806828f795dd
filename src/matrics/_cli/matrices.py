"""The matrices of a file, or those of its labels, as several commands read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matrics._cli import options
from matrics._errors import ArgumentError
from matrics._files.count import Watch, unwatched
from matrics._files.inputs import Input
from matrics._files.matrices import read
from matrics._files.names import Names
from matrics._files.source import MatrixSource
from matrics._quoting import quoted

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """The options of ``matrics score`` that describe the content of the file."""

    true: str
    pred: str = Names.pred
    models: tuple[str, ...] = ()  # columns of several models, in place of ``pred``
    by: tuple[str, ...] = ()
    rows: str | None = None
    scores: list[str] | None = None
    threshold: str | None = None
    positive: str | None = None
    prevalence: str | None = None
    separator: str | None = None
    average: str | None = None
    counts: str | None = None
    weight: str | None = None
    cells: list[str] | None = None
    reading: options.Reading = options.Reading()  # noqa: RUF009 (cannot be changed)

    def refuse(self, beside: str, *options: str) -> None:
        """Raise if one of these options is given."""
        for option in options:
            given = getattr(self, option)
            if option == "pred" and self.models:
                given = self.models
            if given is not None and not (option == "pred" and given == Names.pred):
                text = given if isinstance(given, str) else ",".join(given)
                raise ArgumentError(option, f"expected {beside}, got {quoted(text)}")


def open_matrices(
    path: Path | Input, asked: ScoreRequest, watch: Watch = unwatched, *, clusters: str | None = None
) -> MatrixSource:
    """Read matrices, or count labels."""
    if asked.cells is None:
        if None not in (clusters, asked.weight):
            raise ArgumentError("weight", f"expected no weights with --clusters, got {quoted(asked.weight)}")
        names = Names(
            asked.true,
            asked.pred,
            asked.by,
            clusters,
            counts=asked.counts,
            weight=asked.weight,
            positive=asked.positive,
            models=asked.models,
            **asked.reading.names,
        )
        return read(path, names, asked.rows, watch)
    asked.refuse("no such option with --cells", "pred", "counts", "weight")
    asked.reading.refuse("--cells")
    if clusters is not None or asked.true != Names.true:
        option, given = ("true", asked.true) if clusters is None else ("clusters", clusters)
        raise ArgumentError(option, f"expected no such option with --cells, got {quoted(given)}")
    from matrics._files.matrix_rows import CellNames, read_cells

    return read_cells(
        path.path if isinstance(path, Input) else path,
        replace(CellNames.parse(asked.cells, asked.by), encoding=asked.reading.encoding),
        asked.rows,
    )
