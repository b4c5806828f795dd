"""
Diagnostic studies
==================

The flow of the participants, as STARD asks for it, and a test in groups of them.
"""

# %%
# Participants without a result
# -----------------------------
#
# None stands where the test or the reference standard is missing.

import numpy as np

import matrics.plot

random = np.random.default_rng(1)
is_ill = random.random(400) < 0.1
reference = np.where(is_ill, "ill", "healthy").astype(object)
result = np.where(random.random(400) < 0.85, is_ill, ~is_ill)
test = np.where(result, "positive", "negative").astype(object)
reference[random.random(400) < 0.05] = None
test[random.random(400) < 0.04] = None

matrics.plot.participant_flow(matrics.stats.participant_flow(reference, test))

# %%
# The test in three hospitals
# ---------------------------
#
# Squares are the groups, and diamonds all samples. The p-value is of the hypothesis that all groups have the same
# value.

hospital = np.array(["north", "south", "east"])[random.integers(0, 3, 400)]
groups = matrics.stats.diagnostic_groups(
    is_ill.astype(int), result.astype(int), groups=hospital, positive=1
)

matrics.plot.subgroups(groups)
