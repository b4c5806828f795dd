"""
Eigenvalues and Gershgorin's circles
====================================

The eigenvalues entropy (EVE) is computed from the eigenvalues of a symmetric matrix B. Dembélé bounds them by
Gershgorin's circles of another matrix, A.
"""

# %%
# One matrix
# ----------
#
# An example of the paper. The eigenvalue 0.8 of B is below the printed bound 1 - r, which holds for A; the black stroke
# is the bound that holds for B.

from pathlib import Path

import numpy as np
import pandas as pd

import matrics
import matrics.plot

matrics.plot.spectrum([[45, 5], [5, 45]])

# %%
# More classes
# ------------
#
# Each class has a circle. One of these eigenvalues is not positive, and does not count for the entropy.

matrics.plot.spectrum([[30, 4, 2, 0], [5, 20, 1, 3], [0, 9, 8, 1], [2, 9, 2, 2]])

# %%
# The same, of the matrix A: all circles have the centre 1, and the largest one holds all eigenvalues.

matrics.plot.spectrum(
    [[30, 4, 2, 0], [5, 20, 1, 3], [0, 9, 8, 1], [2, 9, 2, 2]], matrix="A"
)

# %%
# Several matrices
# ----------------
#
# Eight models of the digits data. The smaller the errors, the closer are all eigenvalues to 1. A coin toss has one
# positive eigenvalue, and others close to 0.

examples = Path(matrics.__file__).parents[2] / "examples"
predictions = pd.read_parquet(examples / "digits_sweep.parquet").astype(
    {"y_true": int, "y_pred": int}
)
counts = {
    name: matrics.confusion_matrix(
        rows.y_true.to_numpy(), rows.y_pred.to_numpy(), num_classes=10
    )
    for name, rows in predictions.groupby("model", observed=True)
}
best_first = sorted(counts, key=lambda name: -np.trace(counts[name]))

matrics.plot.spectrum({name: counts[name] for name in best_first})
