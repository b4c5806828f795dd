"""The matrices of a gate: of a model and a baseline, of groups, and of samples that a judge has labelled."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._catalogue.classes import Classes, labels_of_frame
from matrics._catalogue.naming import names_or_labels
from matrics._engine.evaluation import as_stack
from matrics._errors import ArgumentError
from matrics._gates.samples import Evidence, Samples
from matrics._judged.correction import confusion_matrix as corrected_matrix
from matrics._judged.counts import JudgedCounts
from matrics._quoting import first_twice, quoted
from matrics._uncertainty.weighted import read_squares


def of_judge(  # noqa: PLR0917 (as of read_evidence)
    counts: JudgedCounts,
    baseline: Any,
    groups: Any,
    reference: Hashable,
    class_names: Sequence[str] | None,
    positive: Hashable,
) -> tuple[Samples, Classes]:
    """The counts of judged samples, and their corrected matrix."""
    if baseline is not None:
        raise TypeError(
            "baseline: expected None with judged counts, which do not say on which samples the models differ; "
            "matrics.judged.compare compares two models"
        )
    several = [counts] if groups is None else _each_judged(counts, groups)
    matrices = [corrected_matrix(part) for part in several]
    refuse_stack(tuple(matrices[0].shape), "y_true_or_cm")
    n = matrices[0].shape[-1]
    parts = tuple(Evidence(np.asarray(to_host(cm)), labels=part) for cm, part in zip(matrices, several, strict=True))
    names = () if groups is None else tuple(map(str, groups))
    samples = Samples(parts, names).compared_with(reference, groups)
    return samples, Classes.of(n, names_or_labels(class_names, n, None), positive)


def _each_judged(counts: JudgedCounts, groups: Any) -> list[JudgedCounts]:
    """The counts of each group, along the first axis."""
    shape = tuple(counts.labelled.shape)
    if len(shape) != 4 or shape[0] != len(groups):
        raise ArgumentError("groups", f"expected the name of each group (G,) of counts (G, n, n, n), got shape {shape}")
    return [JudgedCounts(*(None if part is None else part[k] for part in counts)) for k in range(len(groups))]


def of_matrices(
    matrices: Any,
    baseline: Any,
    squares: Any,
    groups: Any,
    reference: Hashable,
    *,
    class_names: Sequence[str] | None,
    positive: Hashable,
    name: str,
) -> tuple[Samples, Classes]:
    if groups is not None:
        return _of_groups((matrices, baseline), squares, list(groups), reference, class_names, positive, name)
    cm = _single_matrix(matrices, name)
    known = names_or_labels(class_names, len(cm), labels_of_frame(matrices))
    classes = Classes.of(len(cm), known, positive)
    if baseline is None:
        return Samples((Evidence(cm, None if squares is None else to_host(read_squares(squares, cm))),)), classes
    other, others = _single_matrix(baseline, "baseline"), labels_of_frame(baseline)
    if len(other) != len(cm):
        raise ArgumentError("baseline", f"expected a matrix of the same {len(cm)} classes, got {len(other)}")
    if others is not None and known is not None and tuple(map(str, others)) != tuple(map(str, known)):
        raise ArgumentError("baseline", f"expected the classes {classes.listed} in this order, got {quoted(others)}")
    if squares is None:
        return Samples((Evidence(cm, None, other),)), classes
    both = [to_host(read_squares(w, table)) for w, table in zip(_pair_of_squares(squares), (cm, other), strict=True)]
    return Samples((Evidence(cm, both[0], other, both[1]),)), classes


def _of_groups(  # noqa: PLR0917 (as of read_evidence)
    matrices: tuple[Any, Any],
    squares: Any,
    groups: list[Any],
    reference: Hashable,
    class_names: Sequence[str] | None,
    positive: Hashable,
    name: str,
) -> tuple[Samples, Classes]:
    """The matrix of each group, and that of a baseline in the group, if there is a baseline."""
    own, baseline = matrices
    stack = _stack_of(own, len(groups), name)
    others = None if baseline is None else _stack_of(baseline, len(groups), "baseline")
    if others is not None and others.shape != stack.shape:
        raise ArgumentError("baseline", f"expected matrices of the same classes, {stack.shape}, got {others.shape}")
    twice = first_twice(map(str, groups))
    if twice is not None:
        raise ArgumentError("groups", f"expected different names, got {quoted(twice)} twice")
    known = names_or_labels(class_names, stack.shape[-1], labels_of_frame(own))
    tables: list[Any] = [stack, None, others, None]
    if squares is not None:
        both = (squares,) if others is None else _pair_of_squares(squares)
        for place, weights in enumerate(both):
            tables[2 * place + 1] = to_host(read_squares(weights, tables[2 * place]))
    parts = tuple(Evidence(*(None if table is None else table[k] for table in tables)) for k in range(len(groups)))
    samples = Samples(parts, tuple(map(str, groups))).compared_with(reference, groups)
    return samples, Classes.of(stack.shape[-1], known, positive)


def _stack_of(matrices: Any, number: int, name: str) -> Array:
    """The matrices (G, n, n) of G groups as an array of NumPy."""
    backend, array = as_stack(matrices, name=name)
    stack = np.asarray(backend.to_numpy(backend.detached(array)))
    if stack.ndim != 3 or len(stack) != number:
        if name == "baseline":
            raise ArgumentError(name, f"expected a matrix for each of {number} groups, (G, n, n), got {stack.shape}")
        raise ArgumentError(
            "groups", f"expected the name of each of the matrices (G, n, n), got {number} names for {stack.shape}"
        )
    return stack


def _pair_of_squares(squares: Any) -> tuple[Any, Any]:
    """The squared weights of the samples and of the baseline."""
    if not isinstance(squares, (tuple, list)) or len(squares) != 2:
        raise ArgumentError("squared_weights", "expected a pair of matrices, of the model and of the baseline")
    return squares[0], squares[1]


def _single_matrix(cm: Any, name: str) -> Array:
    """A single matrix as an array of NumPy."""
    if np.ndim(cm) == 1:
        raise TypeError(
            f"{name}: expected a confusion matrix (n, n), or labels together with y_pred=, got labels alone"
        )
    backend, array = as_stack(cm, name=name)
    refuse_stack(tuple(array.shape), name)
    return np.asarray(backend.to_numpy(backend.detached(array)))


def refuse_stack(shape: tuple[int, ...], name: str) -> None:
    if len(shape) > 2:
        raise ValueError(
            f"{name}: expected a single confusion matrix (n, n), got a stack {shape}; pass each matrix alone, or "
            "the sum of the matrices"
        )


def to_host(array: Any) -> Array:
    backend, (values,) = as_arrays(squared_weights=array)
    return np.asarray(backend.to_numpy(values))
