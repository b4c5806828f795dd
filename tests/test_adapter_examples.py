"""The examples in the docstrings of the package and of the metrics for training loops."""

from __future__ import annotations

import doctest
import importlib

import pytest

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # as in pyproject.toml


@pytest.mark.parametrize(
    ("libraries", "module"),
    [
        ("", "matrics"),
        ("flax, jax", "matrics._integrations.flax.metrics"),
        ("torch", "matrics._integrations.torch.metrics"),
        ("torch, torchmetrics", "matrics._integrations.torchmetrics.metrics"),
        ("torch", "matrics._integrations.transformers"),
    ],
    ids=["the package", "jax", "torch", "torch and torchmetrics", "torch and transformers"],
)
def test_examples(libraries: str, module: str) -> None:
    for library in filter(None, libraries.split(", ")):  # by whose names the two processes share the tests
        pytest.importorskip(library)
    failed, attempted = doctest.testmod(importlib.import_module(module), optionflags=FLAGS)
    assert failed == 0
    assert attempted > 0
