"""PyTorch's operator ``matrics::true_negatives``: cells of dominant classes are added up only where there are any.

Compiled code without this operator reads all cells of every stack once more. A branch by ``torch.cond`` is no
alternative: after it Dynamo computes cached margins again, 61 times for six measures.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def true_negatives(rest: Tensor, large: Tensor, cells: Tensor) -> Tensor:
    """The true negatives ``[class, *batch]`` as sums of cells for large classes, and as ``rest`` for the others.

    Parameters
    ----------
    rest
        The total minus the row and the column of each class.
    large
        A mask of the classes whose row and column have nearly all samples, so that ``rest`` is not precise.
    cells
        The cells ``[*batch, true, pred]``.
    """
    n = cells.shape[-1]
    values = added_up(*(x.detach().reshape(n, -1) for x in (rest, large)), cells.detach().reshape(-1, n, n))
    # The difference is 0, with the derivative of ``rest``, which is that of the sums.
    return values.reshape(rest.shape) + (rest - rest.detach())


@torch.library.custom_op("matrics::true_negatives", mutates_args=())
def added_up(rest: Tensor, large: Tensor, cells: Tensor) -> Tensor:
    """The true negatives ``[class, matrix]`` without derivatives."""
    result = rest.clone(memory_format=torch.contiguous_format)
    if large.numel() and large.view(torch.uint8).max():  # ``any`` takes ten times as long for booleans
        number, matrix = large.nonzero(as_tuple=True)
        others, index = cells[matrix], torch.arange(len(matrix), device=cells.device)
        others[index, number, :] = 0
        others[index, :, number] = 0
        result[number, matrix] = others.sum((-2, -1))
    return result


@added_up.register_fake
def _shape(rest: Tensor, large: Tensor, cells: Tensor) -> Tensor:  # noqa: ARG001 (PyTorch's signature)
    return rest.new_empty(rest.shape)


@added_up.register_vmap
def _mapped(info: Any, in_dims: tuple[int | None, ...], *arrays: Tensor) -> tuple[Tensor, int]:
    """The true negatives of a batch of stacks, which are computed as a single stack."""
    size = info.batch_size
    rest, large, cells = (
        x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0) for x, dim in zip(arrays, in_dims, strict=True)
    )
    rest, large = (x.movedim(0, 1).flatten(1) for x in (rest, large))
    return added_up(rest, large, cells.flatten(0, 1)).unflatten(1, (size, -1)), 1
