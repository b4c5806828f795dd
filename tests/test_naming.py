"""Values of classes under keys of their own: score(class_names=), on every backend and under a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(24)
SPECS = ["accuracy", "recall:class", "mcc:one_vs_rest", "precision(average=class)", "f1"]
NAMES = ["cat", "dog", "owl"]
KEYS = ["accuracy", *(f"{measure}/{name}" for measure in ("recall", "mcc", "precision") for name in NAMES), "f1"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(), (4,), (2, 0)])
def test_each_class_has_a_key(backend: Any, shape: tuple[int, ...]) -> None:
    stack = RANDOM.integers(1, 20, (*shape, 3, 3))
    named = matrics.score(backend.asarray(stack), SPECS, class_names=NAMES)
    expected = matrics.score(backend.asarray(stack), SPECS)
    assert list(named) == KEYS
    assert all(tuple(value.shape) == shape for value in named.values())
    flat = np.stack([backend.numpy(value) for value in named.values()], axis=-1)
    parts = [
        backend.numpy(value).reshape(*shape, 3 if ":" in key or "=" in key else 1) for key, value in expected.items()
    ]
    np.testing.assert_array_equal(flat, np.concatenate(parts, axis=-1))
    assert all(type(value) is type(expected["accuracy"]) for value in named.values())


@pytest.mark.sampled(2)
def test_states_name_them_as_well(backend: Any) -> None:
    labels = backend.asarray([0, 1, 2, 2])
    state = matrics.ConfusionState.zeros(3, like=labels).update(labels, labels)
    assert list(state.score(SPECS, class_names=NAMES)) == KEYS
    margins = matrics.MarginState.zeros(3, like=labels).update(labels, labels)
    assert list(margins.score(SPECS, class_names=NAMES)) == KEYS


def test_under_a_compiler(backend: Any) -> None:
    cm = backend.asarray(RANDOM.integers(1, 20, (3, 3)).astype(np.float32))
    named = backend.jit(lambda cm: matrics.score(cm, SPECS[:2], class_names=NAMES))(cm)
    expected = matrics.score(cm, "recall:class")["recall:class"]
    assert list(named) == sorted(KEYS[:4])  # jit sorts keys
    for k, name in enumerate(NAMES):
        np.testing.assert_allclose(
            backend.numpy(named[f"recall/{name}"]), backend.numpy(expected[k]), **backend.tolerance
        )


def test_data_frames() -> None:
    pd = pytest.importorskip("pandas")
    crosstab = pd.DataFrame([[3, 1], [0, 4]], index=["a", "b"], columns=["a", "b"])
    named = matrics.score(crosstab, "accuracy, recall:class", class_names=["a", "b"])
    assert named == {"accuracy": 0.875, "recall/a": 0.75, "recall/b": 1.0}
    titled = {"accuracy": 0.875, "recall of a": 0.75, "recall of b": 1.0}
    assert matrics.to_frame(named).to_dict("records") == [titled]


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a", "b"], ValueError, "expected 3 different names"),
        (["a", "b", "b"], ValueError, "expected 3 different names"),
        ("abc", TypeError, "class_names: expected a string"),
        ([1, 2, 3], TypeError, "class_names: expected a string"),
    ],
)
def test_wrong_names(names: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.score(np.eye(3), SPECS, class_names=names)
