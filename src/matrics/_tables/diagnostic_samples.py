"""The labels of diagnostic tests as numbers: 1 the positive class, 0 the rest, and -1 left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from matrics._arrays.sizes import one_or_more
from matrics._tables.diagnostic import IndexTest, read_test
from matrics._tables.found_labels import occurring
from matrics._tables.vocabularies import two_names
from matrics.typing import NumPyArray

__all__ = ["binary_codes"]


def binary_codes(
    y_true: Any, predictions: Mapping[str, Any], *, positive: Any, labels: Any, ignore_index: Any
) -> tuple[list[IndexTest], list[NumPyArray]]:
    """The tests, by the counts of their labels, and the true and predicted labels (N,) as numbers."""
    labels = None if labels is None else list(labels)
    tests = [
        read_test(y_true, y_pred, positive=positive, labels=labels, ignore_index=ignore_index, class_names=None)
        for y_pred in predictions.values()
    ]
    true = occurring("y_true", y_true).values
    others = [occurring(name, y_pred).values for name, y_pred in predictions.items()]
    for name, values in zip(predictions, others, strict=True):
        if values.shape != true.shape or values.ndim != 1:
            raise ValueError(
                f"{name}: expected labels (N,) of the samples of y_true, got shapes {values.shape} and {true.shape}"
            )
    left_out = one_or_more(ignore_index)
    kept = np.asarray([label not in left_out for label in true.tolist()], bool)
    named = two_names(true[kept].tolist(), [label for values in others for label in values[kept].tolist()], positive)
    if named is not None:
        codes = named.codes(true, *others)
    else:
        positive = tests[0].label
        codes = [np.asarray([label == positive for label in values.tolist()], np.int64) for values in (true, *others)]
    return tests, [np.where(kept, values, -1) for values in codes]
