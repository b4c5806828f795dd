"""
A diagnostic model in a clinic
==============================

Whose diabetes will progress fast in the next year? Three models give each patient a probability. Which one should the
clinic use, from which probability on should it treat, and what may the paper say?
"""

# %%
# Patients and models
# -------------------
#
# The 442 patients are scikit-learn's diabetes data. Progression is a number there; here, fast is above 200, which
# holds for 27 % of them. Every probability is from a fit of a ten-fold cross-validation that had not seen the
# patient.

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

import matrics
import matrics.plot

data, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
data = (data - data.mean()) / data.std()
fast = (progression > 200).to_numpy(int)
how = {"cv": StratifiedKFold(10, shuffle=True, random_state=0)}
how["method"] = "predict_proba"
logistic = LogisticRegression()
models = {
    "logistic regression": cross_val_predict(logistic, data, fast, **how)[:, 1],
    "naive Bayes": cross_val_predict(GaussianNB(), data, fast, **how)[:, 1],
    "body mass index": cross_val_predict(logistic, data[["bmi"]], fast, **how)[:, 1],
}

# %%
# Do they rank patients well?
# ---------------------------
#
# The area under the ROC curve is the probability that a patient with fast progression has a higher score than one
# with slow progression. All models have the same patients, so differences are tested in pairs, by DeLong's test.

areas = matrics.ranking.compare(fast, models, "roc_auc", rng=0)["roc_auc"]
for name, *row in zip(areas.names, *areas.intervals[:3], strict=True):
    print("{:20} AUC {:.3f}, from {:.3f} to {:.3f}".format(name, *row))
for other in (1, 2):
    gap, low, high = (part[0, other] for part in areas.differences[:3])
    print(f"{areas.names[other]:16}{gap:.3f} less, {low:.3f} to {high:.3f}, ", end="")
    print(f"p = {areas.p_value[0, other]:.2g}, tied with the best: {areas.tied[other]}")

# %%
# Logistic regression ranks best. Each p-value is for one pair; "tied" is corrected for having looked at three models,
# and then naive Bayes may be as good. All of this is for these fits; fits to other patients would have other areas
# (see :ref:`folds_and_datasets`).
#
# Are the probabilities right?
# ----------------------------
#
# A model may rank well and still be wrong about every probability. Below the diagonal, the risk was overestimated.

matrics.plot.calibration(fast, models, num_bins=8)

# %%
# The slope of calibration is 1 at best. Below 1, probabilities are too close to 0 and to 1:

for name, probability in models.items():
    slope = matrics.probabilities.interval(fast, probability, "slope")["slope"]
    print(f"{name:20} {slope.estimate:.2f}, from {slope.low:.2f} to {slope.high:.2f}")

# %%
# Naive Bayes takes related measurements for independent evidence, and is far too sure of itself.
#
# From which probability on should we treat?
# ------------------------------------------
#
# This is not a question of statistics. Who treats from 20 % on says that one patient missed is as bad as four treated
# for nothing. The net benefit counts in these units, and is compared with treating everyone and nobody:

matrics.plot.decision_curve(fast, models, np.arange(1, 61) / 100)

# %%
# From 15 % on, the line of each model is above that of treating everyone. Let 20 % be the clinic's choice: is logistic
# regression more useful there? The patients are the same again, so this is a paired comparison too.

treated = {name: probability >= 0.2 for name, probability in models.items()}
benefit = "net_benefit(weight=0.25)"
found = matrics.compare_models(fast, treated, benefit, num_classes=2, rng=0)[benefit]
for other in (1, 2):
    gap, low, high = (100 * part[0, other] for part in found.differences[:3])
    print(f"{found.names[other]:16}{gap:4.1f} less per 100 patients, ", end="")
    print(f"from {low:.1f} to {high:.1f}")

# %%
# That is not shown: a larger area need not make a model more useful. The clinic takes logistic regression, which ranks
# best, and whose probabilities may be told to patients.
#
# What does a result mean for a patient?
# --------------------------------------
#
# Predictive values depend on who is tested. Where 10 % have a fast progression instead of 27 %, with the same
# sensitivity and specificity, they are these:

score = models["logistic regression"]
(matrix,) = matrics.ranking.confusion_matrix(fast, score, [0.2])
here, there = (
    matrics.stats.diagnostic_table(matrix, prevalence=p) for p in (None, 0.1)
)
print(there)

# %%
# The sentence for the paper
# --------------------------


def written(one, row=0):
    """A value with its limits."""
    low, high = one.low[row], one.high[row]
    return f"{one.estimate[row]:.2f} (95 % CI {low:.2f} to {high:.2f})"


print(f"The AUC was {written(areas.intervals)}. At a threshold of 20 %,")
print(f"sensitivity was {written(here)}, specificity {written(here, 1)},")
print(f"and the PPV {written(here, 2)};")
print(f"at a prevalence of 10 % the PPV would be {written(there, 2)}.")

# %%
# The threshold was chosen by what it costs to miss a patient. One that is searched for in the data looks better than
# it is: :doc:`threshold_of_a_classifier` shows by how much. See also :doc:`/decision_curves` and :doc:`/reviewers`.
