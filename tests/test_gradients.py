"""Gradients of every measure with derivatives of its documented formula: finite where those fit, and right."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import reference
import walk

import matrics

SPECS = walk.formulas()
Cells = tuple[tuple[float, ...], ...]


def plain(n: int) -> np.ndarray:
    """Matrices of moderate counts, on which derivatives are also compared."""
    return np.concatenate([walk.ordinary(n)[::2], walk.spread(n, 2, 4, 5)])


def stack(n: int, dtype: str) -> np.ndarray:
    """Plain ones, a dominant class, soft cells, and tiny and huge ones."""
    far, spread, sizes = {"float32": (22, 11, (-25, 30)), "float64": (160, 80, (-250, 290))}[dtype]
    parts = [plain(n), walk.by_hand_within(n, np.dtype(dtype).type), walk.dominated(n, 10.0**far)[::3]]
    parts += [walk.spread(n, spread, 4, 1)] + [walk.ordinary(n, 1)[:3] * 10.0**size for size in sizes]
    return np.concatenate(parts).astype(dtype)


@functools.cache
def derivatives(spec: str, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """For each cell the size of the largest derivative of a value, and their weighted sum over the classes."""
    n, values = len(cells), np.atleast_1d(walk.truth(spec, cells))
    size, total = np.zeros((n, n)), np.zeros((n, n))
    for i, j in np.ndindex(n, n):
        known = one_sided(spec, cells, i, j, 1)
        # Where a value has no derivative, as a neighbour is undefined or infinite, nothing is claimed.
        size[i, j] = np.inf if np.isnan(known)[~np.isnan(values)].any() else np.nanmax(np.abs([*known, 0.0]))
        total[i, j] = np.nansum(np.where(np.isinf(known), 0, known) * weights(len(known)))
    return size, total


def one_sided(spec: str, cells: Cells, i: int, j: int, side: int) -> np.ndarray:
    metric = matrics.get_metric(spec)
    options = {"average": metric.average, **dict(metric.fixed)}
    found = reference.derivatives(metric.name, cells, i, j, side=side, **options)
    return np.array([np.nan if x is None else float(x) for x in found])


def is_smooth(spec: str, cells: Cells, i: int, j: int) -> bool:
    """Whether both one-sided derivatives are the same: not so at the kinks of an absolute value or a maximum."""
    if not cells[i][j]:
        return False
    right, left = (one_sided(spec, cells, i, j, side) for side in (1, -1))
    return np.allclose(left, right, rtol=1e-6, atol=0)


def weights(classes: int) -> np.ndarray:
    """Of the classes in a sum: with equal ones the derivatives of shares would cancel."""
    return np.arange(1.0, classes + 1)


def check(gradients: dict[str, np.ndarray], n: int, dtype: str) -> tuple[int, int]:
    """How many entries had to be finite, and how many were compared; fails with all that are not so, or are wrong."""
    finite, compared, wrong = 0, 0, []
    for spec, of_stack in gradients.items():
        for k, (matrix, gradient) in enumerate(zip(stack(n, dtype), of_stack, strict=True)):
            cells = tuple(tuple(row) for row in matrix.tolist())
            if spec.startswith("gt_index") and walk.conditioning(matrix) > 1e3:
                continue  # docs/numerics.md
            is_compared = dtype == "float64" and k < len(plain(n))
            if np.isfinite(gradient).all() and not is_compared:
                finite += gradient.size
                continue
            size, total = derivatives(spec, cells)
            values = np.abs([*np.atleast_1d(walk.truth(spec, cells)), 0.0])
            if not (size < np.finfo(dtype).max).all() or np.nanmax(values) > np.finfo(dtype).max:
                continue
            finite += gradient.size
            if not is_compared:
                wrong.append(f"{spec} of {cells}: {gradient.tolist()} for {total.tolist()}")
                continue
            slack = 1e-6 * max(size.max(), max(float(np.nanmax(values)), 1) / max(float(matrix.sum()), 1))
            far = np.argwhere(~(np.abs(gradient - total) <= slack))
            compared += gradient.size
            if not np.isfinite(gradient).all() or any(is_smooth(spec, cells, i, j) for i, j in far):
                wrong.append(f"{spec} of {cells}: {gradient.tolist()} for {total.tolist()}")
    assert not wrong, "\n".join(wrong)
    return finite, compared


@pytest.mark.parametrize("dtype", [pytest.param("float32", marks=pytest.mark.exhaustive), "float64"])
@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [2, 3])
def test_torch(torch: Any, n: int, dtype: str) -> None:
    found = {}
    for spec in SPECS:
        cm = torch.tensor(stack(n, dtype), requires_grad=True)
        values = matrics.score(cm, spec, zero_division=0)[spec]
        values = values if values.ndim == 1 else values * torch.asarray(weights(n), dtype=values.dtype)
        (gradient,) = torch.autograd.grad(values.sum(), cm)
        found[spec] = gradient.numpy()
    finite, compared = check(found, n, dtype)
    assert finite > 20_000
    assert compared > 5_000 or dtype == "float32"


@pytest.mark.exhaustive
def test_jax(jax_backend: Any) -> None:
    import jax

    if not jax_backend.float64:
        pytest.skip("the same program in 64 bits")
    n, dtype = 2, "float64"

    def sums(cm: Any) -> Any:
        scores = matrics.score(cm, SPECS, zero_division=0.0)
        factors = jax.numpy.asarray(weights(n), cm.dtype)
        return jax.numpy.stack([value if value.ndim == 0 else (value * factors).sum() for value in scores.values()])

    jacobian = jax.jit(jax.vmap(jax.jacrev(sums)))(jax_backend.asarray(stack(n, dtype)))
    found = {spec: np.asarray(jacobian)[:, k] for k, spec in enumerate(SPECS)}
    finite, compared = check(found, n, dtype)
    assert finite > 20_000
    assert compared > 5_000


def test_another_default_device_does_not_stay(torch: Any) -> None:
    """Masks that are kept are on the CPU, also if they are first needed within ``torch.device``."""
    from matrics._arrays.torch import _identity

    _identity.cache_clear()
    cm = torch.tensor([[3.0, 1.0], [1.0, 4.0]], requires_grad=True)
    with torch.device("meta"):
        assert matrics.recall(cm).item() == pytest.approx(matrics.recall(cm.detach().numpy()))
    assert matrics.recall(cm).item() == pytest.approx(matrics.recall(cm.detach().numpy()))
