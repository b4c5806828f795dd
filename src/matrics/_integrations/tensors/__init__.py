"""What the metrics for PyTorch and for torchmetrics share: counting in place, checkpoints, processes, threads."""
