"""
Training runs
=============

Measures over the steps of training, from what a loop has kept or from the file that a logger wrote. The best step is
marked, and undefined values are gaps.
"""

# %%
# A few runs
# ----------
#
# A run is a mapping of measures to values, or the path of a ``.csv`` or ``.jsonl`` file. Thin lines are the
# values, thick ones are smoothed.

import numpy as np

import matrics.plot


def run(seed, rate):
    """What a training loop would have logged."""
    random, step = np.random.default_rng(seed), np.arange(80)
    learned = 1 - np.exp(-step * rate)
    return {
        "step": 100 * step,
        "loss": 1.6 * (1 - 0.85 * learned) + 0.05 * random.normal(size=80),
        "val/mcc": 0.86 * learned
        - 0.06 * (step / 80) ** 3
        + 0.02 * random.normal(size=80),
    }


matrics.plot.training(
    {"adam": run(0, 0.12), "sgd": run(1, 0.05), "lion": run(2, 0.09)}, smoothing=0.7
)

# %%
# The scores of each step
# -----------------------
#
# A list of results of :func:`matrics.score`, one per step, is a run as well. The recall of a class without samples is
# undefined: a gap, not a zero.

random = np.random.default_rng(0)
history = []
for step in range(40):
    hits = 1 - np.exp(-(step + 3) / 12)
    cm = np.diag([30, 20, 6]) * hits + (1 - hits) * np.array(
        [[0, 20, 10], [12, 0, 8], [4, 2, 0]]
    )
    if 15 <= step < 19:
        cm[2] = 0  # the validation set of these steps has no sample of the last class
    history.append(
        matrics.score(random.poisson(cm), ["mcc", "recall:macro", "g_mean", "cen"])
    )

matrics.plot.training(history)

# %%
# Many runs
# ---------
#
# More than eight runs are grey lines, with their mean and the run that has the best value.

matrics.plot.training([run(seed, 0.03 + 0.002 * seed) for seed in range(40)], "val/mcc")
