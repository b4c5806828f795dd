"""``matrics score``: matrices, two columns of labels, columns of scores, or sets of labels."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from matrics._cli import multilabel, options
from matrics._cli.blocks import watching
from matrics._cli.matrices import (
    MatrixOptions,
    MatrixRequest,
    default_measures,
    is_log,
    open_matrices,
    warn_of_single_class,
)
from matrics._cli.matrix_results import deliver, open_work
from matrics._cli.measures import Target, measures, plug_in
from matrics._cli.run import Run, ScoreRun
from matrics._cli.writers import read_delivery
from matrics._errors import ArgumentError
from matrics._files.outputs.destination import SUFFIXES
from matrics._files.scores import ScoreNames, read_scores
from matrics._quoting import quoted
from matrics._ranking.odds import at_threshold
from matrics._scoring.score import resolve

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
    prevalence: options.Prevalence = None,
    separator: options.Separator = None,
    average: options.Average = None,
    weight: options.Weight = None,
    reading: options.ReadingOptions,
    backend: Annotated[str, options.option("numpy|torch|jax", "The library to use; all agree.")] = "numpy",
    zero_division: options.ZeroDivision = "nan",
    disparity: Annotated[
        bool, options.flag("Also show the differences between the groups of --by.", "--disparity")
    ] = False,
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
        prevalence=prevalence,
        separator=separator,
        average=average,
        weight=weight,
        reading=reading.read(data.true, data.pred),
    )
    if disparity and not (request.by or request.models):
        raise ArgumentError("disparity", "expected --by COLUMN with it, the groups to compare")
    manner = options.RunOptions.read(workers, on_invalid, progress=progress)
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    with open_work(path, delivery.blocks) as work:
        run = open_run(path, request, metrics, backend=backend, zero_division=zero, manner=manner)
        if is_log(path):
            warn_of_single_class(run)
        deliver(
            run,
            work,
            delivery,
            disparity=disparity,
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
    manner: options.RunOptions,
) -> Run:
    """Open the file, and return the run that computes the requested measures."""
    specs = metrics or "core"
    resolve(specs)  # raises before anything is read
    common: dict[str, Any] = {"to_backend": open_backend(backend), "zero_division": zero_division, "manner": manner}
    if request.separator is not None:
        return _run_of_sets(path, request, request.separator, metrics, common)
    request.refuse("--separator with it, for sets of labels (else: recall:macro)", "average")
    if request.scores is None:
        request.refuse("--scores with it", "threshold")
        source = open_matrices(path, request, watching(lines=manner.progress))
        chosen = measures(metrics or default_measures(path, source), lambda: source.known(request.positive))
        target = Target.read(request.prevalence, source.known(request.positive))
        return ScoreRun(source=source, metrics=chosen, target=target, **common)
    request.refuse("no such option with --scores", "rows", "pred", "counts", "weight", "cells")
    limit = None if request.threshold is None else options.read_number("threshold", request.threshold)
    # Of several columns that with the highest score is predicted, and the positive class is one of theirs.
    of_one, of_several = (None, request.positive) if limit is None else (request.positive, None)
    parsed = ScoreNames.parse(request.scores, true=request.true, by=request.by, positive=of_one)
    score_names = replace(parsed, **request.reading.names)
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
        outside = any(((scores < 0) | (scores > 1)).any() for _, scores in scored.groups)
        specs = specs if outside else at_threshold(specs, limit)
    chosen = measures(specs, lambda: found.known(of_several))
    target = Target.read(request.prevalence, found.known(of_several))
    return ScoreRun(source=found, metrics=chosen, target=target, **common)


def _run_of_sets(
    path: Path, request: MatrixRequest, separator: str, metrics: list[str] | None, common: dict[str, Any]
) -> Run:
    """The run over sets of labels."""
    chosen = resolve(metrics or multilabel.METRICS)
    request.refuse(
        "no such option with --separator",
        *("rows", "scores", "threshold", "positive", "counts", "weight", "cells", "prevalence"),
    )
    request.reading.refuse("--separator", missing=False)
    names = multilabel.SetNames(
        request.true, request.pred, request.by, separator=separator, models=request.models, **request.reading.names
    )
    average = request.average or "macro"
    multilabel.check(chosen, average)
    return multilabel.MultilabelRun(source=multilabel.read_sets(path, names), metrics=chosen, average=average, **common)


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
            "backend", f'{backend} is not installed: python -m pip install "matrics[{backend}]"'
        ) from error
    return lambda block: library.from_numpy(np.require(block, requirements=["C", "W"]))
