"""The values of a metric on a CUDA device by a single CUDA graph, in place of some five hundred kernel launches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self

import torch
from torch import Tensor


class CapturedCompute:
    """A function that computes the values of buffers by a CUDA graph, which the first call captures.

    The graph keeps a copy of the buffers, and the memory of all intermediate results. Copies and unpickled objects
    capture separate graphs.
    """

    def __init__(self) -> None:
        self._key: Hashable = None
        self._graph: Any = None
        self._inputs: list[Tensor] = []
        # A tensor with the values of each dtype, and their names.
        self._outputs: list[tuple[list[str], Tensor]] = []
        self._names: list[str] = []

    def __call__(
        self,
        buffers: Mapping[str, Tensor],
        compute: Callable[[dict[str, Tensor]], dict[str, Tensor]],
        key_of_compute: Hashable,
    ) -> dict[str, Tensor]:
        """The values of the buffers, computed by ``compute`` without synchronization.

        The graph is captured again if ``key_of_compute`` changes.
        """
        key = (key_of_compute, *((name, tuple(x.shape), x.dtype, x.device) for name, x in buffers.items()))
        if key != self._key:
            self._capture(dict(buffers), compute)
            self._key = key
        with torch.no_grad():
            torch._foreach_copy_(self._inputs, list(buffers.values()))
        self._graph.replay()
        named = {
            name: value
            for names, values in self._outputs
            for name, value in zip(names, values.clone().unbind(), strict=True)
        }
        return {name: named[name] for name in self._names}

    def _capture(self, buffers: dict[str, Tensor], compute: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> None:
        device = next(iter(buffers.values())).device
        inputs = {name: buffer.detach().clone() for name, buffer in buffers.items()}
        stream = torch.cuda.Stream(device)
        stream.wait_stream(torch.cuda.current_stream(device))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(device), torch.no_grad():
            with torch.cuda.stream(
                stream
            ):  # a warm-up, as the first use makes kernels and workspaces, which cannot be captured
                compute(inputs)
            torch.cuda.current_stream(device).wait_stream(stream)
            # Other threads, such as those of a data loader, may allocate memory meanwhile.
            with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                named = compute(inputs)
                dtypes = dict.fromkeys(value.dtype for value in named.values())
                groups = [[name for name, value in named.items() if value.dtype == dtype] for dtype in dtypes]
                outputs = [(names, torch.stack([named[name] for name in names])) for names in groups]
        self._graph, self._inputs, self._outputs, self._names = graph, list(inputs.values()), outputs, list(named)

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self)()

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


def is_capturing(device: torch.device) -> bool:
    """Whether the caller captures a CUDA graph, which then includes the computation of the values."""
    with torch.cuda.device(device):
        return bool(torch.cuda.is_current_stream_capturing())
