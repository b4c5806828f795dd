"""PyTorch's operator ``matrics::eigenvalues``: one call, in a compiled graph as well, whatever the device.

On the CPU the host's solver computes the values, on a CUDA device the kernels of ``triton``; neither makes the host
wait. For more classes than the kernels take, and without Triton, there are the array operations of ``bisection``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from matrics._arrays.torch import HAS_TRITON, TORCH
from matrics._engine.eigenvalues import bisection, host


def eigenvalues(cells: Tensor) -> Tensor:
    """Ascending eigenvalues ``[class, matrix]`` of symmetric, finite matrices ``[class, class, matrix]``.

    Any strides will do. No cell may be much above 1. There are derivatives backward, and a rule for ``vmap``.
    """
    values: Tensor = Eigenvalues.apply(cells)
    return values


@torch.library.custom_op("matrics::eigenvalues", mutates_args=())
def solved(cells: Tensor) -> Tensor:
    """The values alone: what compiled graphs contain."""
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
    """The same of up to 128 classes without a kernel; of more PyTorch waits."""
    n, matrices = cells.shape[0], cells.permute(2, 0, 1)
    values = bisection.eigenvalues(TORCH, matrices) if n <= bisection.MOST_CLASSES else torch.linalg.eigvalsh(matrices)
    return values.permute(1, 0).contiguous()


class Eigenvalues(torch.autograd.Function):
    """The operator with its derivatives, by the eigenvectors: an eigenvalue changes by vᵀ dA v.

    That is finite wherever eigenvalues coincide. On a device PyTorch waits for the eigenvectors. The derivatives are
    not registered with the operator itself, because ``torch.func`` would refuse it. There are none forward:
    ``torch.compile`` takes no functions that have them.
    """

    @staticmethod
    def forward(cells: Tensor) -> Tensor:
        """The values."""
        values: Tensor = solved(cells)
        return values

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:  # noqa: ARG004 (PyTorch's signature)
        """Keep the matrices."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *changes: Tensor) -> Tensor:
        """Σ v dλ vᵀ."""
        (change,), (cells,) = changes, ctx.saved_tensors
        _, vectors = torch.linalg.eigh(cells.permute(2, 0, 1))
        return ((vectors * change.permute(1, 0)[:, None, :]) @ vectors.mT).permute(1, 2, 0)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int], cells: Tensor) -> tuple[Tensor, int]:  # noqa: ARG004 (PyTorch's signature)
        """A batch of stacks is one stack."""
        cells = cells.movedim(in_dims[0], -1)
        values = eigenvalues(cells.flatten(2))
        return values.unflatten(1, cells.shape[2:]), 2
