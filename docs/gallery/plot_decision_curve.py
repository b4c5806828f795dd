"""
Is a model worth using?
=======================

A decision curve shows the net benefit of a model at every threshold of probability, beside treating everyone and
nobody. Where its line is above both, those who decide at that threshold gain by the model.
"""

import numpy as np

import matrics.plot

# %%
# Two models of 600 patients: one whose probabilities are right, and one that is too sure of itself.

random = np.random.default_rng(1)
logit = random.normal(-1, 1.3, 600)
ill = (random.random(600) < 1 / (1 + np.exp(-logit))).astype(int)
models = {
    "logistic regression": 1 / (1 + np.exp(-logit)),
    "too sure": 1 / (1 + np.exp(-3 * (logit + random.normal(size=600)))),
}
matrics.plot.decision_curve(ill, models)

# %%
# The same where 5 % are ill instead of a third: the models are worth something at lower thresholds only.

matrics.plot.decision_curve(ill, models, np.arange(1, 41) / 100, prevalence=0.05)
