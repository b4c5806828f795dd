"""The kernels for GPUs, run by Triton's interpreter on the CPU: ``nox -s kernels``.

Numbers are those of the kernels; that they compile, and how fast they are, is seen on a GPU (test_on_device.py).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from test_eigenvalues import MOST, hard_matrices, scaled

RANDOM = np.random.default_rng(5)

pytestmark = pytest.mark.skipif(
    os.environ.get("TRITON_INTERPRET") != "1" or importlib.util.find_spec("triton") is None,
    reason="needs Triton and TRITON_INTERPRET=1",
)


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_of", lambda _: nullcontext())
    with np.errstate(all="ignore"):  # the interpreter computes with NumPy
        yield


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [4, 5, pytest.param(10, marks=pytest.mark.exhaustive)])
def test_eigenvalues(n: int, dtype: type) -> None:
    """All classes of hard matrices in one stack, of which the last program has only a part."""
    import torch

    from matrics._engine.eigenvalues import triton

    cells = np.concatenate([scaled(matrices, dtype) for _, matrices in hard_matrices(n, 3)])
    expected = np.linalg.eigvalsh(cells.astype(np.float64))
    found = triton.eigenvalues(torch.from_numpy(cells).permute(1, 2, 0)).numpy().T
    precision = np.finfo(dtype).eps
    assert (np.diff(found, axis=1) >= 0).all()
    allowed = MOST * n * precision * np.abs(expected).max(1, keepdims=True) + 20 * precision**2
    error = np.abs(found - expected)
    assert (error <= allowed).all(), error.max()


def test_strides_and_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the classes or of the matrices, and in several parts."""
    import torch

    from matrics._engine.eigenvalues import triton

    cells = RANDOM.random((30, 4, 4))
    cells = torch.from_numpy(cells + cells.swapaxes(1, 2)).permute(1, 2, 0)
    whole = triton.eigenvalues(cells)
    assert torch.equal(triton.eigenvalues(cells.contiguous()), whole)
    monkeypatch.setattr(triton, "MOST_AT_ONCE", 7)
    assert torch.equal(triton.eigenvalues(cells), whole)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize(("n", "samples"), [(2, 5000), (10, 3000), (40, 2500), (3, 1), (3, 0)])
def test_counts(n: int, samples: int, dtype: str) -> None:
    """With a histogram in each program, and without; labels out of range are in the border."""
    import torch

    from matrics._counting import triton

    kind: Any = getattr(torch, dtype)
    low = -2 if kind.is_signed else 0
    true, pred = (torch.from_numpy(RANDOM.integers(low, n + 3, samples)).to(kind) for _ in range(2))
    kept = torch.from_numpy(RANDOM.random(samples) < 0.7)
    for mask in (None, kept):
        counts = torch.ones((n + 2) ** 2, dtype=torch.int64)
        triton.launch(counts, true, pred, mask, n)
        cell = (true.long().clamp(-1, n) + 1) * (n + 2) + pred.long().clamp(-1, n) + 1
        cell = cell if mask is None else cell[mask]
        assert torch.equal(counts - 1, torch.bincount(cell, minlength=(n + 2) ** 2))


@pytest.mark.parametrize("copies", [3, 16])
def test_counts_in_copies(monkeypatch: pytest.MonkeyPatch, copies: int) -> None:
    """Many classes of a large batch, whose counts are added to those that there are."""
    import torch

    from matrics._counting import triton

    monkeypatch.setattr(triton, "LEAST_SAMPLES", 1)
    monkeypatch.setattr(triton, "COPIES", copies)
    true, pred = (torch.from_numpy(RANDOM.integers(0, 35, 9000)) for _ in range(2))
    counts = torch.ones(2 * 37**2, dtype=torch.int64)  # of a metric: a second half has those of other processes
    triton.launch(counts, true, pred, None, 35)
    assert torch.equal(counts[: 37**2] - 1, torch.bincount((true + 1) * 37 + pred + 1, minlength=37**2))
    assert (counts[37**2 :] == 1).all()


def test_counts_in_a_compiled_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator of the graph, which adds to the counts of a metric."""
    import torch

    from matrics._arrays.torch import Torch
    from matrics.torch import ConfusionMetric

    monkeypatch.setattr(Torch, "has_kernels", lambda *_: True)
    metric, plain = (ConfusionMetric(4, "accuracy", ignore_index=2) for _ in range(2))
    true, pred = (torch.from_numpy(RANDOM.integers(-1, 6, 300)) for _ in range(2))
    step = torch.compile(metric.update, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        step(true, pred)
        monkeypatch.setattr(Torch, "has_kernels", lambda *_: False)
        plain.update(true, pred)
        monkeypatch.setattr(Torch, "has_kernels", lambda *_: True)
    assert torch.equal(metric.counts, plain.counts)
