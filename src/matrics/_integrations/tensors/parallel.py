"""Metrics inside of models that PyTorch trains in parallel: each process keeps its own counts.

``DistributedDataParallel`` copies the buffers of process 0 to all processes at every forward pass, and
``FullyShardedDataParallel`` may round buffers. Both have a list of buffers to ignore, but submodules cannot add their
buffers. PyTorch calls the function below for every submodule of every module, and so for the wrapped model; for other
modules the call takes 0.2 microseconds.
"""

from __future__ import annotations

import weakref
from typing import Any

from torch.nn import Module
from torch.nn.parallel import DistributedDataParallel

from matrics._integrations.torch.adapter import RunningMetric

# Parallel models to which metrics may be added later.
_PARALLEL: weakref.WeakSet[DistributedDataParallel] = weakref.WeakSet()


def leave_counts_alone(parent: Module, name: str, child: Any) -> None:
    """Add the counts of the metrics in a module to the ignored buffers of the parallel model that contains it."""
    is_parallel = isinstance(parent, DistributedDataParallel)
    is_sharded = name == "_fsdp_wrapped_module"
    if not (is_parallel or is_sharded or _PARALLEL) or not isinstance(child, Module):
        return
    counts = {
        f"{path}.{buffer}".removeprefix("."): values
        for path, module in child.named_modules()
        if isinstance(module, RunningMetric)
        for buffer, values in module._buffers.items()  # including buffers that the first sync makes
    }
    if is_parallel:
        parent.parameters_to_ignore |= set(counts)
        for values in counts.values():
            if values is not None:
                values._ddp_ignored = True  # otherwise mixed precision would round them
        _PARALLEL.add(parent)
    elif is_sharded:
        parent._ignored_buffer_names |= {buffer.replace("_fsdp_wrapped_module.", "") for buffer in counts}
    elif counts:
        for parallel in _PARALLEL:
            places = [path for path, module in parallel.module.named_modules() if module is parent]
            parallel.parameters_to_ignore |= {
                f"{path}.{name}.{buffer}".removeprefix(".") for path in places for buffer in counts
            }
