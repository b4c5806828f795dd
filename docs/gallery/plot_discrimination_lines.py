"""
Discrimination lines
====================

One classifier has the recall x in every class; another has the recall y in the first class and makes no other errors.
On the line of a measure both classifiers have the same value.
"""

# %%
# Overall measures
# ----------------
#
# Three classes of one size. Measures with the same line share it: they agree about all these classifiers.

import matrics.plot

matrics.plot.discrimination_lines(
    ["accuracy", "cohen_kappa", "bennett_s", "csi", "mcc", "cen", "eve"], 3
)

# %%
# Measures of a class
# -------------------
#
# Only the first class has errors. They do not change its precision, so the line of precision is vertical at x = 1.

matrics.plot.discrimination_lines(
    ["recall", "precision", "npv", "f1", "jaccard", "icsi"], 3, positive=0
)

# %%
# Class sizes
# -----------
#
# From classes of one size (p = 0) to halving sizes (p = 1): the larger the first class, the more do its errors count.

matrics.plot.discrimination_lines(
    ["accuracy", "cohen_kappa", "csi", "eve"], 3, imbalance=[0, 0.25, 0.5, 0.75, 1]
)

# %%
# Lines that turn back
# --------------------
#
# The confusion entropy of two classes prefers a recall of 0 in one of them to a recall of 0.9 in both, but not one of
# 0.5. In the shaded area the eigenvalues entropy is 0 whatever y is.

matrics.plot.discrimination_lines(["accuracy", "cen", "eve"], 2)
