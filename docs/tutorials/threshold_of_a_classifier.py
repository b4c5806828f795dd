"""
The threshold of a classifier
=============================

A classifier gives each tumour a score. From which score on should it be called malignant?
"""

# %%
# Scores
# ------
#
# The data are scikit-learn's breast cancer data, scored by several classifiers in cross-validation; the file is under
# ``examples`` in the repository.

from pathlib import Path

import numpy as np
import pandas as pd

import matrics
import matrics.plot

# In a clone of the repository.
examples = Path(matrics.__file__).parents[2] / "examples"
data = pd.read_parquet(examples / "breast_cancer_scores.parquet")
data.groupby("model", observed=True)["score"].describe().round(3)

# %%
# Is the score any good?
# ----------------------
#
# Areas under curves look at all thresholds at once, and so they come before the choice of one.

labels, scores = {}, {}
for model, rows in data.groupby("model", observed=True):
    labels[model] = (rows["y_true"] == "malignant").to_numpy(int)
    scores[model] = rows["score"].to_numpy()

pd.DataFrame(
    {
        "ROC AUC": {
            model: matrics.roc_auc(labels[model], scores[model]) for model in labels
        },
        "average precision": {
            model: matrics.average_precision(labels[model], scores[model])
            for model in labels
        },
    }
).round(4)

# %%
# The best threshold under a constraint
# -------------------------------------
#
# A tumour that is missed costs far more than a false alarm. So the question is not which threshold has the highest
# accuracy, but: with at least 99 % of the malignant tumours found, how few false alarms are possible?

y_true, score = labels["logistic_regression"], scores["logistic_regression"]
best = matrics.best_threshold(y_true, score, "precision", subject_to="recall >= 0.99")
print(f"malignant from {best.threshold:.3f} on: precision {best.value:.3f}")

# %%
# The threshold of 0.5, which most libraries take unasked, is another decision:

cm = matrics.threshold_confusion_matrix(y_true, score, np.array([0.5, best.threshold]))
names = {"from 0.5 on": cm[0], f"from {best.threshold:.3f} on": cm[1]}
matrics.plot.confusion_matrix(names, class_names=["benign", "malignant"])

# %%
# Every measure at every threshold
# --------------------------------
#
# Around its best threshold a curve is often flat. Then many thresholds will do, and the data do not tell which one is
# the best of them.

matrics.plot.curve(
    y_true, {"logistic regression": score}, kind=["recall", "precision", "mcc"], rng=0
)

# %%
# How sure is the choice?
# -----------------------
#
# The best of several hundred values is also the luckiest one. The interval repeats the choice on resampled data, and
# says how much of the value was luck. The value is given without it, so it is lower than in the picture:

found = matrics.best_threshold_interval(y_true, score, "mcc", rng=0)
for name, one in (("threshold", found.threshold), ("MCC", found.value)):
    print(f"{name} {one.estimate:.3f}, between {one.low:.3f} and {one.high:.3f}")
print(f"luck: {found.optimism:.3f}")

# %%
# The threshold is far less sure than the value. :doc:`/thresholds` has more of this, and :doc:`/probabilities` says
# whether the scores may be read as probabilities.
