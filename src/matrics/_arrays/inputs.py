"""Conversion of users' values with NumPy, and errors for other values that name the right input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from matrics._arrays.frames import by_columns, cells, columns_of, is_frame, numbers, refuse_ambiguous
from matrics._quoting import first_twice, quoted, quoted_list

Array = Any

# The expected value of each argument, under the name that messages use.
EXPECTED = {
    "cm": "an array of counts (n, n) or (*B, n, n)",
    "stack": "an array of counts (*B, n, n)",
    "y_true": "an array of labels",
    "y_pred": "an array of labels or class scores",
    "y_prob": "an array of probabilities",
    "sample_weight": "an array of weights",
    "y_score": "an array of scores",
    "logits": "an array of logits",
    "thresholds": "an array of thresholds",
    "groups": "an array of integers, the group of each sample",
}

# Arrays of samples, which are converted to the library of those with them.
OF_SAMPLES = (
    *("y_true", "y_pred", "y_a", "y_b", "y_judge", "labelled", "groups", "clusters"),
    *("y_prob", "y_score", "logits", "thresholds", "sample_weight", "probabilities", "predicted_counts"),
    *("scores_a", "scores_b", "proportions", "hits"),
)

# The arguments with a value per sample.
OF_LABELS = ("y_true", "y_pred", "y_a", "y_b", "y_judge", "groups")


def no_array(name: str, what: str) -> TypeError:
    """The error for an argument that is not an array of numbers; ``what`` names the value and the right input."""
    return TypeError(f"{name}: expected {EXPECTED.get(name, 'an array of numbers')}, got {what}")


def check_tensor(name: str, tensor: Any, torch: Any) -> None:
    """Raise an error for a PyTorch tensor that is nested, sparse, masked or distributed."""
    if tensor.is_nested:
        raise no_array(
            name,
            "a nested tensor, whose parts have different shapes: pass its parts separately (.unbind()), or padded "
            "to the same shape (torch.nested.to_padded_tensor)",
        )
    if tensor.layout is not torch.strided:
        kind = "a sparse tensor" if "sparse" in str(tensor.layout) else "a tensor"
        raise no_array(name, f"{kind} of layout {tensor.layout}: make it dense first (.to_dense())")
    if type(tensor) is torch.Tensor:
        return
    if isinstance(tensor, torch.masked.MaskedTensor):
        raise no_array(name, "a masked tensor, whose masked elements have no value: fill them first (.to_tensor(0))")
    # By its name, because its module is slow to import. Its operations refuse constants or, with that check off, have
    # returned wrong exponents of floats (PyTorch 2.13).
    if type(tensor).__name__ == "DTensor":
        raise no_array(
            name,
            "a DTensor, which is spread over processes: pass each process's own part (.to_local()), or wrap the call "
            "in torch.distributed.tensor.experimental.local_map",
        )


def check_kind(name: str, value: Any) -> None:
    """Raise an error for values that resemble arrays: bytes and sparse arrays (some follow the standard)."""
    if _is_sparse(value) or isinstance(value, (bytes, bytearray)):
        raise no_array(name, described(value))


def refuse_masks(name: str, value: Any) -> None:
    """Raise an error for NumPy's masked arrays, also in a list."""
    nested = isinstance(value, (list, tuple)) and len(value) > 0 and isinstance(value[0], np.ndarray)
    if any(isinstance(part, np.ma.MaskedArray) for part in (value if nested else [value])):
        raise TypeError(
            f"{name}: expected an array without a mask, got a masked array: fill the masked cells first (.filled(0))"
        )


def as_numpy(name: str, value: Any) -> Array:
    """Convert a list, a data frame or any other value that NumPy accepts to an array; other values raise an error."""
    if is_frame(value):
        value = _of_frame(name, value)
    elif name in OF_LABELS:
        refuse_missing(name, value)
    if isinstance(value, (list, tuple)) and len(value) > 0 and name not in OF_SAMPLES and is_frame(value[0]):
        has_labels = hasattr(value[0], "index")
        value = [_aligned(name, frame, list(value[0].index)) if has_labels else cells(frame) for frame in value]
    # Elements are inspected only if they are arrays: a list of numbers may be long.
    refuse_masks(name, value)
    try:
        array = numbers(np.asarray(value))
    except ValueError as error:  # a ragged list
        raise ValueError(f"{name}: expected a rectangular array, got a ragged list") from error
    except (TypeError, RuntimeError, NotImplementedError) as error:  # sparse, traced, differentiated or on a device
        raise no_array(name, described(value)) from error
    if array.dtype.kind in "OSU":
        what = _odd_element(value, array)
        if what is not None:
            raise no_array(name, what)
    return array


def _of_frame(name: str, frame: Any) -> Array:
    """The cells of a data frame, for an argument of this name."""
    if name not in OF_SAMPLES:
        return _aligned(name, frame, list(frame.index)) if hasattr(frame, "index") else cells(frame)
    if name in OF_LABELS:
        refuse_missing(name, frame)
    array = by_columns(frame)
    if name == "y_pred":
        refuse_ambiguous(name, array)
    return array


def refuse_missing(name: str, column: Any) -> None:
    """Raise an error for a column with missing values: NumPy would convert them to NaN, and labels to floats.

    NaN in a floating Series of pandas stays: the Series may hold scores.
    """
    if is_frame(column):
        for single_column in columns_of(column):
            refuse_missing(name, single_column)
        return
    if hasattr(column, "is_null"):  # Polars and pyarrow
        missing = np.asarray(column.is_null())
    elif hasattr(column, "isna") and not isinstance(column.dtype, np.dtype):
        missing = np.asarray(column.isna())
    else:
        return
    if missing.any():
        raise ValueError(
            f"{name}: expected a value for every sample, got {np.count_nonzero(missing):,} of {missing.size:,} "
            f"missing, the first at ({missing.argmax()},)"
        )


def is_missing(label: Any) -> bool:
    """Whether a label is missing: None, NaN, NaT or pandas' NA, whose comparisons are no booleans."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)  # noqa: PLR0124 (NaN)


def _aligned(name: str, frame: Any, rows: list[Any]) -> Array:
    """The cells of a labelled matrix in the order of these labels, independent of their positions."""
    index, columns = list(frame.index), list(frame.columns)
    if len(set(index)) < len(index) or len(set(columns)) < len(columns):
        twice = first_twice(index if len(set(index)) < len(index) else columns)
        raise ValueError(
            f"{name}: expected each label once in the rows and columns of a data frame, got {quoted(twice)} twice"
        )
    true, pred = set(index), set(columns)
    if true != pred or true != set(rows):
        only_rows = [label for label in index if label not in pred]
        only_columns = [label for label in columns if label not in true]
        raise ValueError(
            f"{name}: expected a data frame with the same labels in its rows and columns (and in all of a list), got "
            f"in rows only [{quoted_list(only_rows[:5])}], in columns only [{quoted_list(only_columns[:5])}]; "
            "reindex(index=classes, columns=classes, fill_value=0) adds missing classes, to_numpy() takes cells by "
            "position"
        )
    counts = cells(frame)
    counts = counts[[index.index(label) for label in rows]][:, [columns.index(label) for label in rows]]
    if len(rows) > 2 and counts.dtype.kind in "iuf" and _has_margins(counts):
        raise ValueError(
            f"{name}: expected only counts, got a data frame whose last row and column, {quoted(rows[-1])}, are the "
            "sums of the others: remove margins=True, or drop them"
        )
    return counts


def _has_margins(counts: Array) -> bool:
    inner = counts[:-1, :-1]
    sums = np.append(inner.sum(axis=0), inner.sum())
    return bool(counts.any() and (counts[-1] == sums).all() and (counts[:-1, -1] == inner.sum(axis=1)).all())


def library(value: Any) -> str:
    """The name of the library that a value belongs to, or of its Python type."""
    name = type(value).__module__.partition(".")[0]
    return type(value).__name__ if name == "builtins" else name


def described(value: Any) -> str:
    """A description of a value that NumPy cannot convert to an array of numbers, and of the right input."""
    kind = type(value)
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {value if len(value) <= 40 else value[:37] + '...'!r}"
    if isinstance(value, (bytes, bytearray)):
        return f"{kind.__name__}: make an array of numbers from it first (numpy.frombuffer)"
    if _is_sparse(value):
        way = ".toarray()" if hasattr(value, "toarray") else ".todense()"
        return f"a sparse {kind.__name__}: make it dense first ({way})"
    if isinstance(value, Mapping):
        return f"a {kind.__name__}: make an array of its values first, in the order of the classes or samples"
    if isinstance(value, AbstractSet):
        return f"a {kind.__name__}, which has no order: make a list or an array from it first"
    if isinstance(value, (list, tuple)):
        return f"a {kind.__name__} that NumPy cannot convert: make a single array of its elements first (stack them)"
    if isinstance(value, Iterable) and not isinstance(value, type):
        return f"a {kind.__name__}: make a list or an array from it first"
    return f"an object of type {kind.__module__}.{kind.__qualname__}"


def _is_sparse(value: Any) -> bool:
    # The sparse arrays of SciPy, CuPy, JAX and pydata all have this method; no dense array has it.
    return hasattr(value, "todense")


def _odd_element(value: Any, array: Array) -> str | None:
    """The element that is not a number, in an array of text or objects; None if the dtype is message enough."""
    if not array.ndim:
        return described(value)
    for position, element in enumerate(array.flat if array.dtype.hasobject else ()):
        if isinstance(element, str):
            return None
        where = ", ".join(str(int(i)) for i in np.unravel_index(position, array.shape))
        if not isinstance(element, (int, float, complex, np.generic)):
            return f"a {type(value).__name__} whose element [{where}] is {described(element)}"
        if isinstance(element, int) and not -(2**63) <= element < 2**64:
            return (
                f"a {type(value).__name__} whose element [{where}] is {quoted(element)}, which does not fit in 64 bits"
            )
    return None
