"""
Confusion matrix
================

Counts and row shares in the cells, coloured by the share: correct predictions blue, errors orange. The most frequent
errors are named below. The data are those of the repository's ``examples``: eight classifiers of handwritten digits.
"""

# %%
# One matrix
# ----------
#
# The labels are in the columns ``y_true`` and ``y_pred``, and each image was predicted once in each repeat.

from pathlib import Path

import numpy as np
import pandas as pd

import matrics
import matrics.plot

examples = Path(matrics.__file__).parents[2] / "examples"
predictions = pd.read_parquet(examples / "digits_sweep.parquet").query("repeat == 0")
bayes = predictions.query("model == 'naive_bayes'")
cm = matrics.confusion_matrix(bayes["y_true"], bayes["y_pred"], num_classes=10)

matrics.plot.confusion_matrix(cm)

# %%
# Several matrices
# ----------------
#
# A stack, or a mapping of names to matrices, has one panel each.

matrices = {
    str(name): matrics.confusion_matrix(
        of_model["y_true"], of_model["y_pred"], num_classes=10
    )
    for name, of_model in predictions.groupby("model", observed=True)
}

matrics.plot.confusion_matrix(
    {name: matrices[name] for name in ("decision_tree", "naive_bayes", "coin_toss")}
)

# %%
# Many classes
# ------------
#
# With many classes the cells have no text, and some names are left out. ``order="clusters"`` makes classes neighbours
# that are confused with each other: here groups of five.

random = np.random.default_rng(0)
group = random.permutation(80) % 16
rates = np.where(group[:, None] == group, 6, 0.05) + 60 * np.eye(80)

matrics.plot.confusion_matrix(random.poisson(rates), order="clusters", top=3)
