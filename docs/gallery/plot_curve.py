"""
Curves of scores
================

Every measure at every threshold, the ROC curve and the precision-recall curve: of one model with a band that says how
sure the curve is, or of several models.
"""

# %%
# ROC curves of several models
# ----------------------------
#
# Four classifiers of tumours. On each dotted line the Matthews correlation coefficient is the same, for the share of
# malignant tumours in these data; the large markers are where it is best.

from pathlib import Path

import numpy as np
import pandas as pd

import matrics
import matrics.plot

examples = Path(matrics.__file__).parents[2] / "examples"
scores = pd.read_parquet(examples / "breast_cancer_scores.parquet")
wide = scores.pivot_table(
    index=["sample", "y_true"], columns="model", values="score", observed=True
)
tumour = wide.index.get_level_values("y_true")
models = {name: wide[name].to_numpy() for name in wide}

matrics.plot.curve(tumour, models, positive="malignant", iso="mcc", best="mcc")

# %%
# Precision and recall
# --------------------
#
# The steps are those whose area is the average precision. The dotted lines have the same F1, and the grey one is the
# precision of guessing. The band has the middle 95 % of the curves of resampled samples, for each recall by itself.

random = np.random.default_rng(0)
y_true = random.random(600) < 0.2
y_score = random.normal(size=600) + 1.5 * y_true

matrics.plot.curve(y_true, y_score, kind="precision_recall", level=0.95, rng=0)

# %%
# Measures against the threshold
# ------------------------------
#
# The best threshold of each measure. The flatter a curve is there, the less the threshold matters.

matrics.plot.curve(
    y_true, y_score, kind=["f1", "mcc", "cohen_kappa", "cen"], level=0.95, rng=0
)

# %%
# Measures of several models
# --------------------------
#
# Each measure has a panel, and each model the same line in all of them.

matrics.plot.curve(
    tumour, models, positive="malignant", kind=["f1", "mcc", "precision", "cen"]
)

# %%
# Many models
# -----------
#
# With more than eight models, the best five have names.

skill = random.uniform(0, 2, size=(60, 1))
sweep = random.normal(size=(60, 600)) + skill * y_true

matrics.plot.curve(y_true, sweep, names=[f"run {number}" for number in range(60)])
