"""scikit-learn's digits for the PyTorch examples: 1,797 images of 8×8, in a fixed order with all writers mixed."""

from __future__ import annotations

import torch
from sklearn.datasets import load_digits
from torch import Tensor

HELD_OUT = 500


def load() -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Images and labels for training, and others for validation."""
    images, labels = (torch.as_tensor(array) for array in load_digits(return_X_y=True))
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    images, labels = images[order].float() / 16, labels[order]
    return (images[HELD_OUT:], labels[HELD_OUT:]), (images[:HELD_OUT], labels[:HELD_OUT])


def network(seed: int = 0) -> torch.nn.Module:
    """A small network, always with the same initial weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
