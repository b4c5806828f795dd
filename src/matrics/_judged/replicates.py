"""Confidence limits from replicates in which labelled and unlabelled samples are drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matrics._arrays import Array
from matrics._engine.evaluation import evaluate
from matrics._judged.correction import corrected
from matrics._judged.estimates import Judged
from matrics._uncertainty.draws import limits_by_draws
from matrics._uncertainty.interval import source_for
from matrics._uncertainty.measure import Limits, Measure, Score, Task
from matrics._uncertainty.options import Options


def limits_of_replicates(  # noqa: PLR0917 (one call of interval)
    judged: Judged,
    measures: Sequence[Measure],
    estimates: list[Array],
    options: Options,
    rng: Any,
    zero_division: float,
    workers: int,
) -> list[Limits]:
    """Percentile limits of all measures.

    If labels were drawn at random, the samples [true or unlabelled, judge, predicted] are drawn together. If they were
    drawn by strata, the true labels of each stratum, whose number is fixed, and the sizes of the strata are drawn
    separately.
    """
    in_strata = judged.design == "strata"
    tables = _rows_of_strata(judged) if in_strata else _table_of_counts(judged)
    options = options._replace(scheme="rows" if in_strata else "multinomial")
    functions = [measure.function for measure in measures]

    def score(drawn: Array, threads: int) -> list[Array]:
        matrix = _of_rows(drawn, judged) if in_strata else _of_table(drawn, judged)
        return evaluate(matrix, functions, zero_division=zero_division, invalid="nan", workers=threads)

    score_function: Score = score
    task = Task(tables, tables, estimates, measures, score_function, options, zero_division, workers, judged.backend)
    return limits_by_draws(task, source_for([tables], judged.backend, rng, options, "counts"), None)


def _table_of_counts(judged: Judged) -> Array:
    """All counts (B, n + 1, strata): a row for each true class, and the last row for samples without a label."""
    xp, (count, labels, n) = judged.backend.xp, judged.plane.shape
    rows = xp.reshape(judged.cube, (count, n, labels * n))
    return xp.concat([rows, xp.reshape(judged.plane, (count, 1, labels * n))], axis=1)


def _of_table(drawn: Array, judged: Judged) -> Array:
    """The corrected matrices (*, n, n) of tables (*, n + 1, strata) of ``_table_of_counts``."""
    xp, (labels, n) = judged.backend.xp, judged.plane.shape[-2:]
    cube = xp.reshape(drawn[..., :n, :], (*drawn.shape[:-2], n, labels, n))
    plane = xp.reshape(drawn[..., n, :], (*drawn.shape[:-2], labels, n))
    return corrected(cube, plane, cube, judged.method, judged.design, judged.backend)


def _rows_of_strata(judged: Judged) -> Array:
    """A row with the labels of each stratum, and a last row with the sizes of all strata: (B, strata + 1, strata)."""
    xp, (count, labels, n) = judged.backend.xp, judged.plane.shape
    strata = labels * n
    rows = xp.matrix_transpose(xp.reshape(judged.cube, (count, n, strata)))
    padded = xp.concat([rows, xp.zeros_like(rows[..., :1]) + xp.zeros((strata - n,), dtype=rows.dtype)], axis=-1)
    return xp.concat([padded, xp.reshape(judged.sizes, (count, 1, strata))], axis=1)


def _of_rows(drawn: Array, judged: Judged) -> Array:
    """The corrected matrices of tables of ``_rows_of_strata``."""
    xp, (labels, n) = judged.backend.xp, judged.plane.shape[-2:]
    lead, strata = drawn.shape[:-2], labels * n
    cube = xp.reshape(xp.matrix_transpose(drawn[..., :strata, :n]), (*lead, n, labels, n))
    sizes = xp.reshape(drawn[..., strata, :], (*lead, labels, n))
    # The differences may be negative, but the correction uses only their sums with the labelled counts, the sizes.
    return corrected(cube, sizes - xp.sum(cube, axis=-3), cube, "post_stratified", "strata", judged.backend)
