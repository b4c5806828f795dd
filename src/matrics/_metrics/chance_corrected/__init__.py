"""Agreement beyond chance: kappa and its relatives, and the ground-truth index."""

# ruff: noqa: F403 (each module lists its public names)
from matrics._metrics.chance_corrected.kappa import *  # isort: skip
from matrics._metrics.chance_corrected.ground_truth import *  # isort: skip
from matrics._metrics.chance_corrected import kappa, ground_truth  # isort: skip

__all__: list[str] = []
__all__ += kappa.__all__
__all__ += ground_truth.__all__
