"""
From labels to a decision
=========================

Eight classifiers have predicted the same images of handwritten digits. Which one should be used, and how certain is
this decision?
"""

# %%
# Read
# ----
#
# The data ship with the repository, under ``examples``: each classifier was fitted 25 times (five repeats of five-fold
# cross-validation), so every image was predicted five times by each of them, always by a fit that had not seen it.

from pathlib import Path

import pandas as pd

import matrics
import matrics.plot

# In a clone of the repository.
examples = Path(matrics.__file__).parents[2] / "examples"
predictions = pd.read_parquet(examples / "digits_sweep.parquet")
predictions.head()

# %%
# Count and score
# ---------------
#
# One confusion matrix for each model, and from these all measures that you want to see.

counts = matrics.frames.count(predictions, by="model")
print(counts.matrix.shape)
scores = counts.score(["accuracy", "balanced_accuracy", "mcc", "cohen_kappa"])
matrics.to_frame(scores, axes=counts.groups).sort_values("mcc").round(3)

# %%
# Look
# ----
#
# A number hides where the errors are. The picture has counts and row shares, and names the most frequent errors.

by_model = dict(zip(counts.groups["model"], counts.matrix, strict=True))
matrics.plot.confusion_matrix(by_model["nearest_centroid"])

# %%
# Mistakes of a strong model are other mistakes:

matrics.plot.confusion_matrix(by_model["extra_trees"])

# %%
# Compare
# -------
#
# All models saw the same images, and what makes an image hard is hard for all of them. So the comparison is paired:
# for this, the table needs one column for each model. The five predictions of an image are not independent, which
# ``clusters`` takes into account. Without it, the intervals would be too narrow.

paired = predictions.pivot_table(
    index=["sample", "repeat", "y_true"],
    columns="model",
    values="y_pred",
    observed=True,
)
paired = paired.astype(int)
images = paired.index.get_level_values("sample")
y_true = paired.index.get_level_values("y_true").to_numpy()
found = matrics.compare_models(
    y_true, paired.to_numpy().T, "mcc", num_classes=10, clusters=images, rng=0
)["mcc"]

matrics.plot.models({"mcc": found}, names=list(paired.columns))

# %%
# Decide
# ------
#
# The support vector machine is the best in this table. Is this due to chance? The nearest neighbours are second; this
# is the paired interval of the difference:

models = list(paired.columns)
first, second = models.index("svm_rbf"), models.index("nearest_neighbours")
difference = found.differences.difference[first, second]
low, high = found.differences.low[first, second], found.differences.high[first, second]
print(f"MCC is higher by {difference:.5f}, between {low:.5f} and {high:.5f}")
tied = [name for name, is_tied in zip(models, found.tied, strict=True) if is_tied]
print("not significantly different from the best:", tied)

# %%
# The interval contains 0: the two models do not differ significantly, while the other six are worse. So choose between
# the two by another criterion, such as their speed, or collect more images. How many are needed to detect a difference
# of this size with a probability of 0.8?

joint = matrics.stats.joint_confusion_matrix(
    y_true, paired["svm_rbf"], paired["nearest_neighbours"], num_classes=10
)
needed = matrics.stats.samples_needed(
    by_model["svm_rbf"], "mcc", difference=0.0038, paired=joint
)
print(f"{int(needed):,} images, each predicted once; there are {images.nunique():,}")

# %%
# This assumes that the errors of all digits have the same cost. If they do not, see :doc:`/thresholds` and
# :doc:`/many_classes`. :doc:`/which_measure` helps to choose a measure, and :doc:`/comparing` explains the intervals.
