"""
Fraud scores: a budget, money, and the months after
===================================================

A model scores card payments. Few are fraud, the team can check 1,500 of them, and a missed fraud costs its amount.
Which scores should be checked, what does that save, and does the model still work six months later?
"""

# %%
# Payments
# --------
#
# 120,000 simulated payments over six months, of which 0.3 % are fraud. In the last two months the fraudsters have
# learned, and their payments look more like the others.

import numpy as np

import matrics

random = np.random.default_rng(3)
number = 120_000
month = np.sort(random.integers(1, 7, number))
is_fraud = random.random(number) < 0.003
amount = np.where(
    is_fraud, random.lognormal(5.5, 1.0, number), random.lognormal(3.5, 1.0, number)
)
skill = np.where(month >= 5, 1.6, 2.6)
logit = random.normal(-4, 1.2, number) + is_fraud * skill
score = 1 / (1 + np.exp(-logit))
print(
    f"{is_fraud.sum()} of {number:,} payments are fraud: {amount[is_fraud].sum():,.0f} in money"
)

# %%
# How good is the ranking?
# ------------------------
#
# With a rare class the area under the ROC curve looks good for any model. What counts is how many of the first
# payments on the list are fraud.

k = 400
for function in (
    matrics.ranking.precision_at_k,
    matrics.ranking.recall_at_k,
    matrics.ranking.lift_at_k,
):
    print(f"{function.__name__:16} {function(is_fraud, score, k):.3f}")
limits = matrics.ranking.interval(
    is_fraud, score, f"precision_at_k(k={k}), roc_auc, average_precision"
)
for name, (value, low, high, *_) in limits.items():
    print(f"{name}: {value:.3f}, from {low:.3f} to {high:.3f}")

# %%
# Which threshold, in money?
# --------------------------
#
# A missed fraud costs its amount, and a check costs 5. ``cost_false_negative`` takes an amount for each payment. The
# budget is a bound on the number of payments that are checked.

costs = {"cost_false_negative": amount, "cost_false_positive": 5.0}
best = matrics.ranking.best_threshold(is_fraud, score, "cost", **costs)
within = matrics.ranking.best_threshold(
    is_fraud, score, "cost", subject_to="predicted_positives <= 1500", **costs
)
nobody = amount[is_fraud].sum()
for name, choice in (("cheapest", best), ("with 1,500 checks", within)):
    checked = score >= choice.threshold
    spent = amount[is_fraud & ~checked].sum() + 5 * (checked & ~is_fraud).sum()
    print(
        f"{name}: scores of at least {choice.threshold:.4f}, {checked.sum():,} checks, saves {nobody - spent:,.0f}"
    )

# %%
# The months after
# ----------------
#
# Do the scores come from the same distribution as in the first month? The drift needs no labels, and these come late.

drift = matrics.ranking.score_drift(score, groups=month)
drift.to_frame().round(4)

# %%
# It shows little: nearly all payments are no fraud, and those have not changed. Recall of the fraud tells more, as
# soon as labels are there. One matrix for each month, with limits:

checked = (score >= within.threshold).astype(int)
months = np.arange(1, 7)
stack = np.stack(
    [
        matrics.confusion_matrix(
            is_fraud[month == m].astype(int), checked[month == m], num_classes=2
        )
        for m in months
    ]
)
recall = matrics.interval(stack, "recall")["recall"]
for m, value, low, high in zip(
    months, recall.estimate, recall.low, recall.high, strict=True
):
    print(f"month {m}: {value:.2f}, from {low:.2f} to {high:.2f}")

# %%
# A gate in the monthly job passes where the lower limit of the measure meets the requirement, and fails where the upper
# limit does not. In between it is undecided, and says how many samples would decide.

for m in (3, 6):
    rows = month == m
    result = matrics.gate(
        is_fraud[rows].astype(int),
        "recall >= 0.25",
        y_pred=checked[rows],
        num_classes=2,
    )
    print(f"month {m}: {result.verdict}")

# %%
# See :doc:`/thresholds` for limits of the chosen threshold, :doc:`/gate` for gates in pipelines, and
# :doc:`/score_state` for scores that arrive in batches.
