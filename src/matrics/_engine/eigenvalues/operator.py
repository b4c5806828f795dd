"""PyTorch's operator ``matrics::eigenvalues``: a single call on any device, also in compiled graphs.

On the CPU the solver of the host computes the values, on a CUDA device the kernels of ``triton``, without
synchronization. For more classes than the kernels support, and without Triton, the array operations of ``bisection``
compute them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from matrics._arrays.torch import HAS_TRITON, TORCH
from matrics._engine.eigenvalues import bisection, host


def eigenvalues(cells: Tensor) -> Tensor:
    """The ascending eigenvalues ``[class, matrix]`` of symmetric, finite matrices ``[class, class, matrix]``.

    Strides are arbitrary. Cells must not be much larger than 1. The operator has a backward derivative, and a rule for
    ``vmap``.
    """
    values: Tensor = Eigenvalues.apply(cells)
    return values


@torch.library.custom_op("matrics::eigenvalues", mutates_args=())
def solved(cells: Tensor) -> Tensor:
    """The eigenvalues without derivatives, as in compiled graphs."""
    if cells.is_cpu:
        return torch.from_numpy(host.any_eigenvalues(cells.numpy(force=True)))
    if cells.is_cuda and HAS_TRITON:
        from matrics._engine.eigenvalues import triton

        if cells.shape[0] <= triton.MOST_CLASSES:
            return triton.eigenvalues(cells)
    return by_array_operations(cells)


@solved.register_fake
def _shape(cells: Tensor) -> Tensor:
    return cells.new_empty(cells.shape[1:])


def by_array_operations(cells: Tensor) -> Tensor:
    """The eigenvalues without a kernel; with more than 128 classes PyTorch synchronizes."""
    n, matrices = cells.shape[0], cells.permute(2, 0, 1)
    values = bisection.eigenvalues(TORCH, matrices) if n <= bisection.MOST_CLASSES else torch.linalg.eigvalsh(matrices)
    return values.permute(1, 0).contiguous()


class Eigenvalues(torch.autograd.Function):
    """The operator with its backward derivative, from the eigenvectors: an eigenvalue changes by vᵀ dA v.

    The derivative is finite where eigenvalues coincide. On a device PyTorch synchronizes for the eigenvectors. The
    derivative is not registered with the operator, because ``torch.func`` would not accept the operator then. A forward
    derivative does not exist, because ``torch.compile`` does not support it.
    """

    @staticmethod
    def forward(cells: Tensor) -> Tensor:
        """The eigenvalues."""
        values: Tensor = solved(cells)
        return values

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:  # noqa: ARG004 (PyTorch's signature)
        """Save the matrices for the derivative."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *changes: Tensor) -> Tensor:
        """The gradient Σ v dλ vᵀ."""
        (change,), (cells,) = changes, ctx.saved_tensors
        _, vectors = torch.linalg.eigh(cells.permute(2, 0, 1))
        return ((vectors * change.permute(1, 0)[:, None, :]) @ vectors.mT).permute(1, 2, 0)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int], cells: Tensor) -> tuple[Tensor, int]:  # noqa: ARG004 (PyTorch's signature)
        """The eigenvalues of a batch of stacks, which are computed as a single stack."""
        cells = cells.movedim(in_dims[0], -1)
        values = eigenvalues(cells.flatten(2))
        return values.unflatten(1, cells.shape[2:]), 2
