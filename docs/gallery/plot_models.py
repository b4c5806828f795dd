"""
Forest plot of models
=====================

Which model is best, and which are not significantly different from it? Filled points are tied with the best, after a
correction for having looked at all models.
"""

# %%
# Eight models
# ------------
#
# All of them have predicted the same images, five times each: the image is the cluster, as five predictions of one
# image are not independent.

from pathlib import Path

import numpy as np
import pandas as pd

import matrics
import matrics.plot

examples = Path(matrics.__file__).parents[2] / "examples"
predictions = pd.read_parquet(examples / "digits_sweep.parquet")
wide = predictions.pivot_table(
    index=["sample", "repeat", "y_true"],
    columns="model",
    values="y_pred",
    observed=True,
)
wide = wide.astype(int)
samples, truth = (
    wide.index.get_level_values(level).to_numpy().astype(int)
    for level in ("sample", "y_true")
)
found = matrics.compare_models(
    truth,
    wide.to_numpy().T,
    ["mcc", "cen"],
    num_classes=10,
    clusters=samples,
    num=500,
    rng=0,
)

matrics.plot.models({"mcc": found["mcc"]}, names=list(wide.columns))

# %%
# Several measures
# ----------------
#
# They share the rows, which are sorted by the first measure.

matrics.plot.models(found, names=list(wide.columns))

# %%
# Many models
# -----------
#
# Of a sweep of 200 runs the best and the worst are shown. Intervals alone do not show which runs are tied.

random = np.random.default_rng(0)
skill = random.beta(6, 2, 200)
shares = skill[:, None, None] * np.eye(4) + (1 - skill[:, None, None]) / 4
stack = np.stack([[random.multinomial(150, row) for row in run] for run in shares])

matrics.plot.models(
    matrics.interval(stack, "mcc"),
    names=[f"run {number}" for number in range(200)],
    most=20,
)
