"""Evaluation logs of language models: Inspect, lm-evaluation-harness, promptfoo, and JSON Lines.

None of these tools is required: files are read in their documented formats.
"""

from matrics._integrations.evals.comparing import compare
from matrics._integrations.evals.judged import judged_counts
from matrics._integrations.evals.noise import Noise
from matrics._integrations.evals.reading import read
from matrics._integrations.evals.run_comparison import Estimate, RunComparison

__all__ = [
    "Estimate",
    "Noise",
    "RunComparison",
    "compare",
    "judged_counts",
    "read",
]
