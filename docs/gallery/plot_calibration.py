"""
Reliability diagrams
====================

Are predicted probabilities correct? A point is a bin of predicted probabilities and the observed frequency, with
Wilson's limits of that share. The histogram has the samples of each bin.
"""

# %%
# One model
# ---------
#
# Where points are below the diagonal, probabilities are too high.

from pathlib import Path

import numpy as np
import pandas as pd

import matrics
import matrics.plot

random = np.random.default_rng(0)
probabilities = random.beta(0.7, 0.9, 3000)
happened = random.random(3000) < probabilities**1.4

matrics.plot.calibration(happened, probabilities)

# %%
# Several models
# --------------
#
# Most tumours have a probability close to 0 or to 1, and the other bins have a few samples each: their limits are wide.

examples = Path(matrics.__file__).parents[2] / "examples"
scores = pd.read_parquet(examples / "breast_cancer_scores.parquet")
wide = scores.pivot_table(
    index=["sample", "y_true"], columns="model", values="score", observed=True
)
is_malignant = wide.index.get_level_values("y_true") == "malignant"

matrics.plot.calibration(
    is_malignant, {name: wide[name].to_numpy() for name in wide}, num_bins=10
)

# %%
# Bins with equally many samples
# ------------------------------

matrics.plot.calibration(happened, probabilities, num_bins=8, bins="mass")

# %%
# Several classes
# ---------------
#
# With several classes, the highest probability is compared with the frequency of correct predictions.

logits = 2.5 * random.normal(size=(2000, 5))
chances = np.exp(logits / 1.8)
labels = (
    chances.cumsum(1) / chances.sum(1, keepdims=True) < random.random((2000, 1))
).sum(1)
softmax = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)

matrics.plot.calibration(labels, softmax)
