"""PyTorch's names that are not public, of which the library asks whether a tensor may be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

CM = [[8.0, 2.0], [3.0, 7.0]]


def test_the_names_are_there(torch: Any) -> None:
    """If one is gone, ``arrays/torch.py`` needs another way to ask the same."""
    assert isinstance(torch._subclasses.FakeTensor, type)
    tensor = torch.tensor(CM)
    assert torch._C._functorch.is_functorch_wrapped_tensor(tensor) is False
    assert torch._C._functorch.peek_interpreter_stack() is None
    assert callable(torch._C._functorch.get_unwrapped)
    assert torch._is_functional_tensor(tensor) is False
    with torch._functorch.pyfunctorch.temporarily_clear_interpreter_stack() as stack:
        assert stack == []
    assert torch._C._len_torch_dispatch_stack() == 0
    assert torch._C._dispatch_tls_is_dispatch_key_included(torch._C.DispatchKey.PreDispatch) is False
    assert torch._C._is_tracing() is False
    assert torch.autograd.forward_ad._current_level == -1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's, to itself
def test_what_they_say_is_what_happens(torch: Any) -> None:
    """Under each way of listening to PyTorch the tensor is left to PyTorch."""
    from torch._subclasses import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    from matrics._arrays.torch import TORCH

    views = []

    def look(x: Any) -> Any:
        views.extend([TORCH.host_view(x), TORCH.host_views(x.detach())])
        return x * 1

    class Listening(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return function(*args, **(kwargs or {}))

    tensor = torch.tensor(CM)
    torch.func.vmap(look)(tensor)
    torch.func.grad(lambda x: look(x).sum())(tensor)
    torch.func.jvp(look, (tensor,), (tensor,))
    with Listening():
        look(tensor)
    with FakeTensorMode() as mode:
        look(mode.from_tensor(tensor))
    for transform in (torch.func.vmap, torch.func.grad):  # of a tensor that is not its argument
        transform(lambda x: (x * look(tensor).sum()).sum())(torch.ones(2))
    look(tensor.to("meta"))
    torch.jit.trace(look, (tensor,), check_trace=False)
    assert views == [None] * len(views)
    assert len(views) >= 18
    np.testing.assert_array_equal(TORCH.host_view(tensor), CM)
    differentiated = tensor.clone().requires_grad_()
    assert TORCH.host_view(differentiated) is None
    for found in TORCH.host_views(tensor, differentiated):  # which leaves the gradient out
        np.testing.assert_array_equal(found, CM)
    assert float(matrics.accuracy(tensor)) == 0.75
