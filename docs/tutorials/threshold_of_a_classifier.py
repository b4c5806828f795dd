"""
The threshold of a classifier
=============================

A classifier gives each tumour a score. Which threshold should be used to predict malignant tumours?
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
# Quality of the score
# --------------------
#
# Areas under curves summarise all thresholds, so compute them before you choose one. The tumours are the same for all
# models, and logistic regression is compared with each other one by DeLong's test.

labels, scores = {}, {}
for model, rows in data.groupby("model", observed=True):
    labels[model] = (rows["y_true"] == "malignant").to_numpy(int)
    scores[model] = rows["score"].to_numpy()

y_true = labels["logistic_regression"]  # the same for all
found = matrics.ranking.compare(y_true, scores, "roc_auc", rng=0)["roc_auc"]
area, low, high = found.intervals[:3]
pd.DataFrame(
    {
        "ROC AUC": area,
        "from": low,
        "to": high,
        "p": found.p_value[found.names.index("logistic_regression")],
    },
    index=found.names,
).round(4)

# %%
# The best threshold under a constraint
# -------------------------------------
#
# A tumour that is missed costs far more than a false alarm. So the question is not which threshold has the highest
# accuracy, but: with at least 99 % of the malignant tumours found, how few false alarms are possible?

score = scores["logistic_regression"]
best = matrics.ranking.best_threshold(
    y_true, score, "precision", subject_to="recall >= 0.99"
)
print(f"malignant from {best.threshold:.3f} on: precision {best.value:.3f}")

# %%
# The threshold of 0.5, which most libraries take unasked, is another decision:

cm = matrics.ranking.confusion_matrix(y_true, score, np.array([0.5, best.threshold]))
names = {"from 0.5 on": cm[0], f"from {best.threshold:.3f} on": cm[1]}
matrics.plot.confusion_matrix(names, class_names=["benign", "malignant"])

# %%
# Every measure at every threshold
# --------------------------------
#
# Around its best threshold a curve is often flat. Then many thresholds are nearly as good, and the data do not
# determine the best one.

matrics.plot.curve(
    y_true, {"logistic regression": score}, kind=["recall", "precision", "mcc"], rng=0
)

# %%
# Uncertainty of the choice
# -------------------------
#
# The best of several hundred values is biased upwards. With ``level``, the choice is repeated on resampled data, which
# estimates this bias. It is subtracted, so the value is lower than in the picture:

found = matrics.ranking.best_threshold(y_true, score, "mcc", level=0.95, rng=0)
for name, one in (
    ("threshold", found.threshold_interval),
    ("MCC", found.value_interval),
):
    print(f"{name} {one.estimate:.3f}, between {one.low:.3f} and {one.high:.3f}")
print(f"luck: {found.optimism:.3f}")

# %%
# The threshold is far less certain than the value. :doc:`/thresholds` explains more. Where scores are probabilities,
# the threshold may follow from what errors cost, without a search: :doc:`diagnostic_model_in_a_clinic`.
