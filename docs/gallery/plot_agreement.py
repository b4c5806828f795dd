"""
Agreement of measures
=====================

Rank correlations of measures on a stack of matrices, sorted so that similar measures are neighbours. Frames mark
families of redundant measures.
"""

# %%
# A few measures
# --------------
#
# The sign of measures that are better when lower is changed. The tree at the right shows the distances of the measures.

import matrics
import matrics.plot

stack = matrics.simulate.random_matrices(1000, 3, rng=0)

matrics.plot.agreement(stack, "core")

# %%
# Three families of the catalogue
# -------------------------------
#
# Kendall's correlation is stricter than Spearman's.

matrics.plot.agreement(
    stack, "core, agreement, information", correlation="kendall", least_correlation=0.8
)

# %%
# The whole catalogue
# -------------------
#
# One measure of a family has a name. Correlations below -0.3 have a minus, and undefined ones are grey.

found = matrics.study.agreement(stack[:300], "all")

matrics.plot.agreement(found)
