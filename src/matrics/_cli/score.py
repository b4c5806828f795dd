"""``matrics score``: matrices, two columns of labels, columns of scores, or sets of labels."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import matrics
from matrics._arrays.sizes import most_cells
from matrics._catalogue.naming import title_of
from matrics._cli import options
from matrics._cli.blocks import BlockResult, Piece, watching
from matrics._cli.matrices import (
    MatrixOptions,
    MatrixRequest,
    default_measures,
    is_log,
    open_matrices,
    opened,
    say_of_models,
    warn_of_single_class,
)
from matrics._cli.matrix_results import deliver, open_work
from matrics._cli.measures import Target, about_measure, measures, plug_in
from matrics._cli.run import Run, ScoreRun, score_columns
from matrics._cli.writers import read_delivery
from matrics._errors import ArgumentError
from matrics._files import columns as of_columns
from matrics._files.inputs import read_rows
from matrics._files.keys import Key, Keyed
from matrics._files.names import Names
from matrics._files.notices import refuse_disjoint, warn_of_odd_labels
from matrics._files.outputs.destination import SUFFIXES
from matrics._files.scores import ScoreNames, read_scores
from matrics._files.wide import by_model
from matrics._multilabel.averages import checked_average
from matrics._quoting import quoted
from matrics._ranking.odds import at_threshold
from matrics._scoring.score import resolve
from matrics._wording import counted

if TYPE_CHECKING:
    from matrics._catalogue.record import Metric
    from matrics._cli.results import Measured
    from matrics._files.inputs import Input
    from matrics._multilabel.averages import Average

Array = Any


def score(
    path: options.FilePath,
    *,
    metrics: options.Metrics = None,
    plugin: options.Plugin = None,
    by: options.By = None,
    data: MatrixOptions,
    scores: options.ScoresInstead = None,
    threshold: options.Threshold = None,
    lower_is_positive: options.LowerIsPositive = False,
    prevalence: options.Prevalence = None,
    separator: options.Separator = None,
    average: options.Average = None,
    weight: options.Weight = None,
    reading: options.ReadingOptions,
    backend: Annotated[str, options.option("numpy|torch|jax", "The array library; the results agree.")] = "numpy",
    zero_division: options.ZeroDivision = "nan",
    disparity: Annotated[
        bool, options.flag("Also show the differences between the groups of --by.", "--disparity")
    ] = False,
    sort: options.Sort = None,
    format_: options.Format = None,
    output: options.Output = None,
    workers: options.Workers = None,
    on_invalid: options.OnInvalid = "raise",
    progress: options.ShowProgress = False,
) -> None:
    """Score every confusion matrix of a file."""
    plug_in(plugin)
    zero = options.read_number("zero-division", zero_division)
    request = data.request(
        by=options.column_names(by),
        scores=scores,
        threshold=threshold,
        lower_is_positive=lower_is_positive,
        prevalence=prevalence,
        separator=separator,
        average=average,
        weight=weight,
        reading=reading.read(data.true, data.pred),
    )
    if disparity and not (request.by or request.models):
        raise ArgumentError("disparity", "expected --by COLUMN with it, the groups to compare")
    settings = options.RunOptions.read(workers, on_invalid, progress=progress)
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    with open_work(path, delivery.blocks) as work:
        run = open_run(path, request, metrics, backend=backend, zero_division=zero, settings=settings)
        if is_log(path):
            warn_of_single_class(run)
        deliver(
            run,
            work,
            delivery,
            disparity=disparity,
            sort=sort,
            positive=None if scores and threshold is not None else data.positive,
            library=backend if backend in ("torch", "jax") else None,
        )


def open_run(
    path: Path,
    request: MatrixRequest,
    metrics: list[str] | None,
    *,
    backend: str,
    zero_division: float,
    settings: options.RunOptions,
) -> Run:
    """Open the file, and return the run that computes the requested measures."""
    specs = metrics or "core"
    resolve(specs)  # raises before anything is read
    common: dict[str, Any] = {"to_backend": open_backend(backend), "zero_division": zero_division, "settings": settings}
    if request.separator is not None:
        return _run_of_sets(path, request, request.separator, metrics, common)
    request.refuse("--separator with it, for sets of labels (else: recall:macro)", "average")
    if request.scores is None:
        request.refuse("--scores with it", "threshold", "lower_is_positive")
        given = opened(path, request.reading.answers)
        say_of_models(given, request.by)
        source = open_matrices(given, request, watching(lines=settings.progress))
        standard, headings = ("", {}) if metrics else default_measures(path, source)
        chosen = measures(metrics or standard, lambda: source.known(request.positive))
        target = Target.read(request.prevalence, source.known(request.positive))
        return ScoreRun(source=source, metrics=chosen, target=target, headings=headings, **common)
    request.refuse("no such option with --scores", "rows", "pred", "counts", "weight", "cells")
    limit = None if request.threshold is None else options.read_number("threshold", request.threshold)
    # Of several columns, the class with the highest score is predicted, and the positive class is among them.
    of_one, of_several = (None, request.positive) if limit is None else (request.positive, None)
    parsed = ScoreNames.parse(request.scores, true=request.true, by=request.by, positive=of_one)
    score_names = replace(parsed, lower_is_positive=request.lower_is_positive, **request.reading.names)
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
    matrices = scored.matrices(limit)
    if limit is not None:
        outside = request.lower_is_positive or any(((scores < 0) | (scores > 1)).any() for _, scores in scored.groups)
        specs = specs if outside else at_threshold(specs, limit)
    chosen = measures(specs, lambda: matrices.known(of_several))
    target = Target.read(request.prevalence, matrices.known(of_several))
    return ScoreRun(source=matrices, metrics=chosen, target=target, **common)


def _run_of_sets(
    path: Path, request: MatrixRequest, separator: str, metrics: list[str] | None, common: dict[str, Any]
) -> Run:
    """The run over sets of labels."""
    chosen = resolve(metrics or METRICS)
    request.refuse(
        "no such option with --separator",
        *("rows", "scores", "threshold", "lower_is_positive", "positive", "counts", "weight", "cells", "prevalence"),
    )
    request.reading.refuse("--separator", missing=False)
    names = SetNames(
        request.true, request.pred, request.by, separator=separator, models=request.models, **request.reading.names
    )
    average = request.average or "macro"
    check_sets(chosen, average)
    return MultilabelRun(source=read_sets(path, names), metrics=chosen, average=average, **common)


def open_backend(backend: str) -> Callable[[Array], Array]:
    """Import a backend, and return a function that converts a NumPy array to its array."""
    if backend not in ("numpy", "torch", "jax"):
        raise ArgumentError("backend", f"expected numpy, torch or jax, got {quoted(backend)}")
    if backend == "numpy":
        return np.asarray
    try:
        library = importlib.import_module(backend)
        if backend == "jax":
            # Set here and not in the library, where users choose for themselves.
            library.config.update("jax_enable_x64", True)
            return importlib.import_module("jax.numpy").asarray  # type: ignore[no-any-return]
    except ImportError as error:
        raise ArgumentError(
            "backend", f'this library needs {backend}: python -m pip install "matrics[{backend}]"'
        ) from error
    return lambda block: library.from_numpy(np.require(block, requirements=["C", "W"]))


# Sets of labels in two columns of text, such as ``cat;dog`` ----------------------------------------------------------

METRICS = "accuracy,precision,recall,f1,mcc"


@dataclass(frozen=True)
class SetNames(Names):
    """The columns of sets of labels and of the groups."""

    separator: str = ";"

    @property
    def labels(self) -> tuple[str, ...]:
        """No column has a single label in each row."""
        return ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Both columns of sets; a sample without any label is an empty cell."""
        return self.true, self.pred


@dataclass(frozen=True)
class Sets(Keyed):
    """The samples of a file: of each group, which labels are true (N, L) and which are predicted."""

    file: str
    keys: tuple[Key, ...]
    classes: tuple[str, ...]
    groups: list[tuple[Array, Array]] = field(repr=False)

    @property
    def batch(self) -> tuple[int, ...]:
        """The axis of groups."""
        return (len(self.groups),) if self.keys else ()


@dataclass(kw_only=True)
class MultilabelRun(Run):
    """The scores (groups, columns) of sets of labels."""

    source: Sets
    average: str
    to_backend: Callable[[Array], Array]

    @property
    def counts(self) -> str:
        """The numbers of groups and labels, and the average, in words."""
        groups = f"{counted(self.source.count, 'group')} of " if self.source.keys else ""
        average = "each label" if self.average == "label" else f"average {self.average}"
        return f"{groups}{counted(len(self.source.classes), 'label')}, {average}"

    @property
    def columns(self) -> list[Measured]:
        """A column for each measure, or for each label."""
        ends = [f" of {name}" for name in self.source.classes] if self.average == "label" else [f", {self.average}"]
        columns = zip(self.metrics, score_columns(self.metrics, ()), strict=True)
        return [replace(column, label=f"{name}{end}") for name, column in columns for end in ends]

    @property
    def measures(self) -> list[dict[str, Any]]:
        """The measures, each of which has as many columns as any other."""
        labels = [column.label for column in self.columns]
        each = len(labels) // len(self.metrics)
        return [
            about_measure(title_of(key), metric, labels[k * each : (k + 1) * each])
            for k, (key, metric) in enumerate(self.metrics.items())
        ]

    def classes(self, positive: str | None) -> dict[str, Any]:
        """The labels."""
        del positive
        return {"classes": list(self.source.classes), "positive": None}

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Each group."""
        yield from ((position, position + 1) for position in range(self.source.count))

    def find(self, piece: Piece) -> BlockResult:
        """The scores of a group."""
        true, pred = self.source.groups[piece.start]
        scores = matrics.multilabel.score(
            self.to_backend(true),
            self.to_backend(pred),
            list(self.metrics),
            average=cast("Average", self.average),  # verified by check_sets
            zero_division=self.zero_division,
            workers=self.settings.workers,
        )
        values = np.concatenate([np.ravel(np.asarray(values)) for values in scores.values()])[None]
        return BlockResult(
            piece.start, piece.stop, values, samples=float(len(true)), undefined=int(np.isnan(values).sum())
        )


def check_sets(metrics: dict[str, Metric], average: str) -> None:
    """Check the options of sets, before they are read."""
    checked_average(average)
    for name, metric in metrics.items():
        if metric.is_classwise:
            raise ArgumentError(
                "metrics", f"expected measures with one value for each label, got {quoted(name)}; --average label"
            )
        if metric.classes:
            raise ArgumentError(
                "metrics",
                f"expected no classes in square brackets with --separator, got {quoted(name)}; "
                "--average label has a column for each label",
            )


def read_sets(path: Path, names: SetNames) -> Sets:
    """The samples of a file."""
    if not names.separator:
        raise ArgumentError("separator", "expected the text between two labels, such as ';', got an empty text")
    if names.true == names.pred or {names.true, names.pred} & set(names.by):
        raise ArgumentError("pred", "expected different columns of true labels, predicted labels and groups")
    source: Path | Input = path
    if names.models:
        source, names = by_model(path, names)
    file, (classes, values, groups), _ = read_rows(source, names, _samples)
    of_groups = (np.any([side.any(axis=0) for side in of], axis=0) for of in zip(*groups, strict=True))
    true, pred = ([classes[k] for k in np.flatnonzero(there).tolist()] for there in of_groups)
    refuse_disjoint(file, true, pred, (names.true, names.pred))
    warn_of_odd_labels(file, true, pred)
    return Sets(file, tuple(Key(name, 0, column) for name, column in values.items()), classes, groups)


def _samples(table: Any, names: SetNames) -> tuple[tuple[str, ...], dict[str, Any], list[tuple[Array, Array]]]:
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    for name in names.by:
        of_columns.refuse_missing(name, of_columns.decoded(table[name]))
    parts = [_split(name, table[name], names.separator) for name in names.texts]
    known = of_columns.sorted_values(pa.chunked_array([flat for _, flat in parts], pa.large_string()))
    if not len(known):
        raise ValueError(
            f"columns {quoted(names.true)} and {quoted(names.pred)}: expected at least one label, got empty cells only"
        )
    if table.num_rows * len(known) > most_cells():
        raise ValueError(f"expected few different labels, got {len(known):,} in {table.num_rows:,} rows")
    matrices = []
    for rows, flat in parts:
        matrix = np.zeros((table.num_rows, len(known)), bool)
        matrix[rows, of_columns.codes(flat, known)] = True
        matrices.append(matrix)
    of_row, values = of_columns.group_rows(table, names.by)
    count = int(of_row.max()) + 1
    groups = [(matrices[0][of_row == k], matrices[1][of_row == k]) for k in range(count)]
    return tuple(known.to_pylist()), values, groups


def _split(name: str, column: Any, separator: str) -> tuple[Array, Any]:
    """The row of every label, and the labels."""
    column = of_columns.decoded(column)
    if not of_columns.is_text(column.type):
        raise ValueError(
            f"column {quoted(name)}: expected text, labels with {quoted(separator)} between them, got {column.type}"
        )
    texts = pc.fill_null(pc.cast(column, pa.large_string()), "").combine_chunks()
    sets = pc.split_pattern(texts, separator)
    rows, flat = pc.list_parent_indices(sets).to_numpy(), pc.list_flatten(sets)
    is_none = pc.equal(texts, "").to_numpy(zero_copy_only=False)[rows]
    empty = pc.equal(flat, "").to_numpy(zero_copy_only=False) & ~is_none
    if empty.any():
        row = int(rows[empty.argmax()])
        raise ValueError(
            f"column {quoted(name)}: expected a label on both sides of every {quoted(separator)}, got "
            f"{texts[row].as_py()[:40]!r} in row {row + 1} of the data"
        )
    return rows[~is_none], flat.filter(pa.array(~is_none))
