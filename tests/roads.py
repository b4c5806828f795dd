"""The roads that a user's stack can take through the library, one name and one way of calling each.

Plain tensors and concrete JAX arrays in the CPU's memory are scored by NumPy, whatever library they come from. A test
that is to prove something of a library therefore takes the roads below: each is one on which that library, or its
compiler, does the arithmetic.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LIBRARY = {
    "numpy": "numpy",  # blocks on the host
    "strict": "array_api_strict",  # the standard, and nothing beyond it
    "torch-grad": "torch",  # eager, with gradients asked for
    "torch-vmap": "torch",
    "torch-compile": "torch",  # fullgraph; traced and differentiated ahead of time, run by PyTorch
    "torch-inductor": "torch",  # fullgraph, machine code
    "jax-jit": "jax",  # 32 bits; XLA with its default optimisation, here and below
    "jax-vmap": "jax",
    "jax-x64-jit": "jax",
    "jax-x64-vmap": "jax",
}


@dataclass
class Road:
    """One road. What it compiles for a function and a shape it keeps until it is let go."""

    name: str
    float64: bool
    compiled: dict[Any, Callable[..., Any]] = field(default_factory=dict)

    @property
    def tolerance(self) -> dict[str, float]:
        return {"rtol": 1e-9, "atol": 1e-12} if self.float64 else {"rtol": 3e-4, "atol": 3e-5}

    def dtypes(self) -> tuple[type, ...]:
        return (np.float32, np.float64)[: 1 + self.float64]

    def apply(self, function: Callable[[Any], Any], stack: Any, dtype: Any = None, *, key: Any = None) -> Any:
        """What the function makes of a stack ``(B, …)`` along this road; arrays come back as NumPy's.

        Functions with one ``key`` are taken for the same, and compiled once a shape.
        """
        stack = np.array(stack, dtype=dtype)
        if self.name == "numpy":
            stack.flags.writeable = False  # nothing may write into what the user gave
            return _map(np.asarray, function(stack))
        if self.name == "strict":
            import array_api_strict

            return _map(np.asarray, function(array_api_strict.asarray(stack)))
        if self.name.startswith("torch"):
            import torch

            tensor = torch.from_numpy(stack)
            if self.name == "torch-grad":
                tensor.requires_grad_(tensor.is_floating_point())
            return _map(lambda x: x.detach().numpy(), self._prepared(function, key)(tensor))
        import jax

        with self._jax():
            return _map(np.asarray, self._prepared(function, key)(jax.numpy.asarray(stack)))

    def _prepared(self, function: Callable[..., Any], key: Any) -> Callable[..., Any]:
        if key is None or key not in self.compiled:
            prepared = self._prepare(function)
            if key is None:
                return prepared
            self.compiled[key] = prepared
        return self.compiled[key]

    def _prepare(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self.name == "torch-grad":
            return function
        if self.name == "torch-vmap":
            import torch

            return torch.func.vmap(function)
        if self.name.startswith("torch"):
            import torch

            backend = "inductor" if self.name == "torch-inductor" else "aot_eager"
            return torch.compile(function, fullgraph=True, dynamic=False, backend=backend)
        import jax

        return jax.jit(jax.vmap(function) if self.name.endswith("vmap") else function)

    @contextlib.contextmanager
    def _jax(self) -> Iterator[None]:
        import jax

        with (
            jax.enable_x64(self.float64),
            jax.numpy_dtype_promotion("strict"),
            jax.numpy_rank_promotion("raise"),
        ):
            yield

    def score(self, stack: Any, specs: Any, dtype: Any = None, **options: Any) -> dict[str, np.ndarray]:
        """``matrics.score`` of a stack ``(B, n, n)`` along this road."""
        import matrics

        specs = (specs,) if isinstance(specs, str) else tuple(specs)
        key = (specs, tuple(sorted(options.items())))
        return self.apply(lambda cm: matrics.score(cm, specs, **options), stack, dtype, key=key)

    def let_go(self) -> None:
        """Forget what was compiled: graphs of the whole catalogue take hundreds of megabytes."""
        if self.compiled and self.name.startswith("jax"):
            import jax

            jax.clear_caches()
        if self.name in ("torch-compile", "torch-inductor"):
            import torch

            torch._dynamo.reset()
        self.compiled.clear()


def _map(function: Callable[[Any], Any], result: Any) -> Any:
    if isinstance(result, dict):
        return {name: _map(function, value) for name, value in result.items()}
    if isinstance(result, tuple):
        values = [_map(function, value) for value in result]
        return type(result)(*values) if hasattr(result, "_fields") else tuple(values)
    return function(result)


def make(name: str) -> Road:
    return Road(name, float64=not name.startswith("jax") or "x64" in name)


def installed() -> list[str]:
    return [name for name, library in LIBRARY.items() if importlib.util.find_spec(library) is not None]
