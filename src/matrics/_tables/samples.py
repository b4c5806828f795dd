"""Joins of the rows of several models or files by their samples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from matrics._arrays import Array
from matrics._errors import ArgumentError
from matrics._quoting import cut

__all__ = ["Joined", "common_samples", "joined"]

Sample = TypeVar("Sample", bound=Hashable)


class Joined(NamedTuple):
    """The rows of M models for the same samples, sorted by samples; several rows of a sample keep their order."""

    true: Array  # (N,)
    pred: Array  # (M, N)
    samples: Array  # (N,)
    rows: Array  # (M, N), the positions of the rows in the table
    weights: Array | None = None  # (N,)


def common_samples(a: Iterable[Sample], b: Iterable[Sample]) -> tuple[list[Sample], list[Sample], list[Sample]]:
    """The samples in both, only in a and only in b, each once and in the original order.

    >>> common_samples("xyzy", "zay")
    (['y', 'z'], ['x'], ['a'])
    """
    of_a, of_b = dict.fromkeys(a), dict.fromkeys(b)
    both = [sample for sample in of_a if sample in of_b]
    return both, [sample for sample in of_a if sample not in of_b], [sample for sample in of_b if sample not in of_a]


def joined(
    models: Array,
    samples: Array,
    true: Array,
    pred: Array,
    *,
    names: Sequence[str],
    sample_names: Sequence[Any],
    column: str,
    weights: Array | None = None,
) -> Joined:
    """Join the rows of all models by their samples.

    Parameters
    ----------
    models, samples, true, pred : array of int, shape (rows,)
        The model, the sample, the true and the predicted class of each row.
    names, sample_names : sequence
        The names of the models and of the samples, for messages.
    column : str
        The name of the column of the samples, for messages.
    weights : array, shape (rows,), optional
        The weight of each row.

    Raises
    ------
    ValueError
        The models have different numbers of rows, samples, true labels or weights.
    """
    count = np.bincount(models)
    if len(set(count.tolist())) > 1:
        less, more = int(count.argmin()), int(count.argmax())
        times, most = (np.bincount(samples[models == model], minlength=len(sample_names)) for model in (less, more))
        first = int((times != most).argmax())
        of_both = f"{cut(str(sample_names[first]))}: {times[first]} and {most[first]}"
        raise ArgumentError(
            "paired_on",
            f"expected the same number of rows for each model, got {count[less]:,} of {names[less]} and "
            f"{count[more]:,} of {names[more]}, the first at {column} {of_both}",
        )
    rows = np.lexsort((np.arange(len(samples)), samples, models)).reshape(len(count), int(count[0]))
    by_model = samples[rows]
    parts = [("paired_on", f"samples ({column})", by_model), ("paired_on", "true labels", true[rows])]
    parts += [] if weights is None else [("sample_weight", "weights", weights[rows])]
    for argument, what, values in parts:
        if (values != values[0]).any():
            model, position = (int(i) for i in np.argwhere(values != values[0])[0])
            sample = cut(str(sample_names[int(by_model[model, position])]))
            raise ArgumentError(
                argument,
                f"expected the same {what} for each model, got different values for {names[model]}, the first at "
                f"{column} {sample}",
            )
    return Joined(true[rows[0]], pred[rows], by_model[0], rows, None if weights is None else weights[rows[0]])
