"""Evaluation logs of language models: Inspect, lm-evaluation-harness, promptfoo, and JSON Lines.

Import it by its name, ``from matrics.integrations import evals``. It imports none of these tools: their files are read
by their documented formats.
"""

from matrics.integrations.evals.comparing import compare
from matrics.integrations.evals.judged import judged_counts
from matrics.integrations.evals.noise import Noise
from matrics.integrations.evals.reading import read
from matrics.integrations.evals.run_comparison import Estimate, RunComparison

__all__ = ["Estimate", "Noise", "RunComparison", "compare", "judged_counts", "read"]
