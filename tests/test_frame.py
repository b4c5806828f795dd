"""Scores as tidy tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

pandas = pytest.importorskip("pandas")

STACK = np.random.default_rng(3).integers(0, 9, (2, 3, 4, 4))


def test_one_row_a_matrix(backend: Any) -> None:
    """In the order of the stack, with its axes as columns and a column for each class."""
    scores = matrics.score(backend.asarray(STACK, np.float32), ["mcc", "recall:class", "mcc:one_vs_rest"])
    frame = matrics.to_frame(scores, axes={"model": ["a", "b"], "fold": range(3)}, class_names=list("wxyz"))
    classes = [f"{measure}/{name}" for measure in ("recall", "mcc") for name in "wxyz"]
    assert list(frame.columns) == ["model", "fold", "mcc", *classes]
    chosen = frame[(frame["model"] == "b") & (frame["fold"] == 1)]
    assert len(frame) == 6
    assert chosen["mcc"].item() == backend.numpy(scores["mcc"])[1, 1]
    assert chosen["recall/y"].item() == backend.numpy(scores["recall:class"])[1, 1, 2]


def test_axes_without_names() -> None:
    frame = matrics.to_frame(matrics.score(STACK, "accuracy"))
    assert list(frame.columns) == ["index_0", "index_1", "accuracy"]
    assert frame["index_1"].tolist() == [0, 1, 2, 0, 1, 2]
    single = matrics.to_frame(matrics.score(STACK[0, 0], ["mcc", "recall:class"]))
    assert list(single.columns) == ["mcc", *(f"recall/{k}" for k in range(4))]
    assert len(single) == 1
    assert len(matrics.to_frame(matrics.score(STACK[:0], "accuracy"))) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": ["model"]}, "axes: expected 2 different names"),
        ({"axes": {"model": "ab", "fold": [1]}}, "axes: expected 3 labels for 'fold', got 1"),
        ({"axes": ["mcc", "fold"]}, "axes: expected names that no measure has, got 'mcc'"),
        ({"class_names": ["a"]}, "expected 4 different names"),
    ],
)
def test_what_does_not_fit(options: dict[str, Any], message: str) -> None:
    scores = matrics.score(STACK, ["mcc", "recall:class"])
    with pytest.raises(ValueError, match=message):
        matrics.to_frame(scores, **options)


def test_scores_of_two_stacks() -> None:
    with pytest.raises(ValueError, match="expected values of one stack"):
        matrics.to_frame({"mcc": np.zeros(3), "f1": np.zeros(4)})
    with pytest.raises(TypeError, match="expected the dict that"):
        matrics.to_frame(np.zeros(3))
