"""
Difference of two matrices
==========================

In which cells do two classifiers differ significantly? Each cell is a difference of row shares, with
its sign. Blue is better and orange worse: more on the diagonal is better, more elsewhere is worse.
"""

# %%
# The same samples
# ----------------
#
# Two classifiers of the same images are compared on the images on which they differ. So their joint table is needed,
# from which the test of every cell is McNemar's. Marked cells are beyond chance after a correction for the number of
# cells.

from pathlib import Path

import numpy as np
import pandas as pd

import matrics
import matrics.plot

examples = Path(matrics.__file__).parents[2] / "examples"
predictions = pd.read_parquet(examples / "digits_sweep.parquet").query("repeat == 0")
labels = predictions.pivot_table(
    index=["sample", "y_true"], columns="model", values="y_pred", observed=True
)
labels = labels.astype(int).reset_index()
joint = matrics.stats.joint_confusion_matrix(
    labels["y_true"], labels["decision_tree"], labels["extra_trees"], num_classes=10
)

matrics.plot.difference(joint=joint, names=["tree", "forest"])

# %%
# Different samples
# -----------------
#
# Two test sets, such as those of two sites, are compared by Fisher's exact test of each cell.

north = [[420, 30, 12], [25, 310, 40], [8, 22, 180]]
south = [[210, 14, 9], [28, 150, 12], [6, 9, 95]]

matrics.plot.difference(
    north,
    south,
    class_names=["benign", "unclear", "malignant"],
    names=["north", "south"],
)

# %%
# Many classes
# ------------
#
# With many classes the significant cells are marked by their signs.

random = np.random.default_rng(0)
before = random.poisson(1 + 200 * np.eye(60))
after = random.poisson(1 + 200 * np.eye(60) + 12 * np.eye(60, k=1))

matrics.plot.difference(
    before, after, names=["before", "after"], correction="benjamini_hochberg", top=3
)
