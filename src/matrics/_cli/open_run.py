"""What ``matrics score`` is to score: matrices, two columns of labels, columns of scores, or sets of labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from matrics._cli.measures import measures
from matrics._cli.options import Reading, RunOptions, read_number
from matrics._cli.prevalence import Target, refuse
from matrics._cli.progress import watching
from matrics._cli.run import Run, ScoreRun, open_backend
from matrics._errors import ArgumentError
from matrics._files.count import Watch, unwatched
from matrics._files.inputs import Input
from matrics._files.matrices import read
from matrics._files.names import Names
from matrics._files.source import MatrixSource
from matrics._quoting import quoted
from matrics._scoring.score import resolve

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
    reading: Reading = Reading()  # noqa: RUF009 (cannot be changed)

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


def open_run(
    path: Path,
    asked: ScoreRequest,
    metrics: list[str] | None,
    *,
    backend: str,
    zero_division: float,
    manner: RunOptions,
) -> Run:
    """Open the file, and return the run that computes the requested measures."""
    asked_for = metrics or "core"
    resolve(asked_for)  # raises before anything is read
    common: dict[str, Any] = {"to_backend": open_backend(backend), "zero_division": zero_division, "manner": manner}
    if asked.separator is not None:
        return _run_of_sets(path, asked, asked.separator, metrics, common)
    asked.refuse("--separator with it, for sets of labels (else: recall:macro)", "average")
    if asked.scores is None:
        asked.refuse("--scores with it", "threshold")
        source = open_matrices(path, asked, watching(lines=manner.progress))
        chosen = measures(asked_for, lambda: source.known(asked.positive))
        target = Target.read(asked.prevalence, source.known(asked.positive))
        return ScoreRun(source=source, metrics=chosen, target=target, **common)
    from matrics._files.scores import ScoreNames, read_scores

    asked.refuse("no such option with --scores", "rows", "pred", "counts", "weight", "cells")
    limit = None if asked.threshold is None else read_number("threshold", asked.threshold)
    # Of several columns that with the highest score is predicted, and the positive class is one of theirs.
    of_one, of_several = (None, asked.positive) if limit is None else (asked.positive, None)
    parsed = ScoreNames.parse(asked.scores, true=asked.true, by=asked.by, positive=of_one)
    score_names = replace(parsed, **asked.reading.names)
    number_of_columns = len(score_names.scores)
    if limit is None and number_of_columns == 1:
        raise ArgumentError("threshold", "expected a number with one column of scores, got none")
    if limit is not None and number_of_columns > 1:
        raise ArgumentError(
            "threshold",
            f"expected one column of scores with it, got {number_of_columns}; of several classes that "
            "with the highest score is predicted",
        )
    scored = read_scores(path, score_names, of_all=limit is None)
    found = scored.matrices(limit)
    if limit is not None:
        from matrics._ranking.odds import at_threshold

        outside = any(((scores < 0) | (scores > 1)).any() for _, scores in scored.groups)
        asked_for = asked_for if outside else at_threshold(asked_for, limit)
    chosen = measures(asked_for, lambda: found.known(of_several))
    target = Target.read(asked.prevalence, found.known(of_several))
    return ScoreRun(source=found, metrics=chosen, target=target, **common)


def _run_of_sets(
    path: Path, asked: ScoreRequest, separator: str, metrics: list[str] | None, common: dict[str, Any]
) -> Run:
    """The run over sets of labels."""
    from matrics._cli import multilabel

    chosen = resolve(metrics or multilabel.METRICS)
    asked.refuse(
        "no such option with --separator", "rows", "scores", "threshold", "positive", "counts", "weight", "cells"
    )
    refuse(asked.prevalence, "with --separator")
    asked.reading.refuse("--separator", missing=False)
    names = multilabel.SetNames(
        asked.true, asked.pred, asked.by, separator=separator, models=asked.models, **asked.reading.names
    )
    average = asked.average or "macro"
    multilabel.check(chosen, average)
    return multilabel.MultilabelRun(source=multilabel.read_sets(path, names), metrics=chosen, average=average, **common)
