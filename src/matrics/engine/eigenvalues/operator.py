"""PyTorch's operator ``matrics::eigenvalues``: one call, in a compiled graph as well, whatever the device.

On the CPU the host's solver answers, on a CUDA device the kernels of ``triton``; neither makes the host wait. For
more classes than the kernels take, and without Triton, there are the array operations of ``bisection``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from matrics.arrays.torch import HAS_TRITON, TORCH
from matrics.engine.eigenvalues import bisection, host


@torch.library.custom_op("matrics::eigenvalues", mutates_args=())
def eigenvalues(cells: Tensor) -> Tensor:
    """Ascending eigenvalues ``[class, matrix]`` of symmetric, finite matrices ``[class, class, matrix]``.

    Any strides will do. No cell may be much above 1.
    """
    n = cells.shape[0]
    if cells.is_cpu:
        return torch.from_numpy(host.any_eigenvalues(cells.numpy(force=True)))
    if cells.is_cuda and HAS_TRITON:
        from matrics.engine.eigenvalues import triton

        if n <= triton.MOST_CLASSES:
            return triton.eigenvalues(cells)
    return by_array_operations(cells)


def by_array_operations(cells: Tensor) -> Tensor:
    """The same of up to 128 classes without a kernel; of more PyTorch waits."""
    n, matrices = cells.shape[0], cells.permute(2, 0, 1)
    values = bisection.eigenvalues(TORCH, matrices) if n <= bisection.MOST_CLASSES else torch.linalg.eigvalsh(matrices)
    return values.permute(1, 0).contiguous()


@eigenvalues.register_fake
def _shape(cells: Tensor) -> Tensor:
    return cells.new_empty(cells.shape[1:])


def _keep(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:  # noqa: ARG001 (PyTorch's signature)
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, change: Tensor) -> Tensor:
    """By the eigenvectors: an eigenvalue changes by vᵀ dA v, which is finite wherever some coincide.

    On a device PyTorch waits for the eigenvectors.
    """
    (cells,) = ctx.saved_tensors
    _, vectors = torch.linalg.eigh(cells.permute(2, 0, 1))
    scaled = vectors * change.permute(1, 0)[:, None, :]
    return (scaled @ vectors.mT).permute(1, 2, 0)


eigenvalues.register_autograd(_backward, setup_context=_keep)


@eigenvalues.register_vmap
def _mapped(info: Any, in_dims: tuple[int], cells: Tensor) -> tuple[Tensor, int]:  # noqa: ARG001 (PyTorch's signature)
    cells = cells.movedim(in_dims[0], -1)
    values = eigenvalues(cells.flatten(2))
    return values.unflatten(1, cells.shape[2:]), 2
