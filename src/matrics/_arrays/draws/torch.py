"""Random numbers of PyTorch, on the device of its generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from matrics._arrays import Array
from matrics._arrays.draws.source import RandomSource
from matrics._arrays.torch import TORCH


class TorchSource:
    """A ``torch.Generator``."""

    backend = TORCH

    def __init__(self, generator: torch.Generator) -> None:
        self.generator = generator
        self._dtype = torch.float32 if generator.device.type == "mps" else torch.float64

    def split(self, number: int) -> list[RandomSource]:
        """The same stream several times; draws from it are in sequence."""
        return [self] * number

    def multinomial(self, totals: Array, shares: Array, num: int) -> Array:
        """See ``RandomSource``: PyTorch has the binomial distribution, so the cells are drawn in sequence."""
        cells = shares.shape[-1]
        # The share of the remaining cells, summed from the end so that nothing cancels.
        left = torch.flip(torch.cumsum(torch.flip(shares, [-1]), -1), [-1])
        chance = torch.where(left > 0, shares / torch.where(left > 0, left, 1), 0).clamp(0, 1)
        rest = totals.to(self._dtype).expand(num, *totals.shape).contiguous()
        drawn = []
        for cell in range(cells - 1):
            drawn.append(torch.binomial(rest, chance[..., cell].expand(rest.shape), generator=self.generator))
            rest = rest - drawn[-1]
        return torch.stack([*drawn, rest], -1).to(torch.int64)

    def poisson(self, rates: Array, num: int) -> Array:
        """See ``RandomSource``."""
        return torch.poisson(rates.expand(num, *rates.shape).contiguous(), generator=self.generator).to(torch.int64)

    def gamma(self, shapes: Array, num: int) -> Array:
        """See ``RandomSource``; PyTorch's gamma distribution uses the global stream, which is replaced meanwhile."""
        device = self.generator.device
        elsewhere = [] if device.type == "cpu" else [device]
        read, write = torch.get_rng_state, torch.set_rng_state
        if elsewhere:
            module = getattr(torch, device.type)
            read, write = lambda: module.get_rng_state(device), lambda state: module.set_rng_state(state, device)
        with torch.random.fork_rng(devices=elsewhere, device_type=device.type if elsewhere else "cuda"):
            write(self.generator.get_state())
            drawn = torch.distributions.Gamma(shapes, torch.ones_like(shapes)).sample(torch.Size([num]))
            self.generator.set_state(read())
        return drawn

    def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> Array:
        """See ``RandomSource``."""
        device = self.generator.device
        return low + (high - low) * torch.rand(shape, generator=self.generator, device=device, dtype=self._dtype)

    def collect(self, make: Callable[[RandomSource, int], list[Array]], num: int, at_once: int) -> list[Array]:
        """See ``RandomSource``."""
        parts = [make(self, min(at_once, num - start)) for start in range(0, num, at_once)]
        return [torch.cat(part) for part in zip(*parts, strict=True)]

    def asarray(self, values: Any) -> Array:
        """See ``RandomSource``."""
        return torch.as_tensor(values, device=self.generator.device).to(self._dtype)
