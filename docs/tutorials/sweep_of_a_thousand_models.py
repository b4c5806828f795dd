"""
A sweep of a thousand models
============================

A search over hyperparameters left a thousand models, and all of them have predicted the same 2,000 samples. Which one
is the best, which others may be, and how good is it really?
"""

# %%
# A thousand predictions
# ----------------------
#
# The sweep is simulated, so that a second test set costs nothing: four classes of very different sizes, samples that
# are hard for all models, and models that differ a little in skill.

from time import perf_counter

import numpy as np
from sklearn.metrics import matthews_corrcoef

import matrics
import matrics.plot

random = np.random.default_rng(0)
skill = random.normal(1.6, 0.1, 1000)


def test_set(number):
    """True labels (number,), and those that each of the models predicts."""
    y_true = random.choice(4, number, p=[0.55, 0.25, 0.15, 0.05])
    chance = 1 / (1 + np.exp(random.normal(0, 1.2, number) - skill[:, None]))
    errors = (y_true + random.integers(1, 4, chance.shape)) % 4
    return y_true, np.where(random.random(chance.shape) < chance, y_true, errors)


y_true, y_pred = test_set(2000)

# %%
# One call for all
# ----------------
#
# A batch axis in front of the samples becomes one in front of the matrices, and of every score. A loop over a
# function for one model is the same, and slower (for the first hundred models only, to save time):

measures = ["mcc", "cohen_kappa", "accuracy", "balanced_accuracy", "f1", "cen"]
start = perf_counter()
stack = matrics.confusion_matrix(y_true, y_pred, num_classes=4)
scores = matrics.score(stack, measures)
at_once = perf_counter() - start

start = perf_counter()
looped = [matthews_corrcoef(y_true, labels) for labels in y_pred[:100]]
in_a_loop = perf_counter() - start

print(y_pred.shape, "->", stack.shape, "->", scores["mcc"].shape)
print("the same numbers:", np.allclose(looped, scores["mcc"][:100]))
print(f"six measures at once: {1e6 * at_once / 1000:.0f} microseconds a model")
print(f"one measure by scikit-learn: {1e6 * in_a_loop / 100:,.0f} microseconds a model")

# %%
# Do the measures agree about the order?
# --------------------------------------
#
# Nearly, as these models differ in skill and in nothing else. Balanced accuracy is furthest from the others: the
# smallest class, a twentieth of the samples, is a quarter of it.

matrics.plot.agreement(stack, measures)

# %%
# The best, and its limits
# ------------------------
#
# The best 17 and the worst three by MCC. Most intervals overlap, but they do not say which models differ: all have
# the same samples, and what is hard for all of them cancels in a difference.

order = np.argsort(-scores["mcc"])
names = [f"run {number}" for number in range(1000)]
matrics.plot.models(matrics.interval(stack, "mcc"), names=names, most=20)

# %%
# Which others may be the best?
# -----------------------------
#
# So each model is compared with the best in pairs, again in one call. With 999 comparisons, some models would seem to
# be worse by chance alone. The level of each is corrected for that (Bonferroni).

best = order[0]
joint = matrics.stats.joint_confusion_matrix(
    y_true, y_pred[best], y_pred, num_classes=4
)
for words, level in (("not corrected", 0.95), ("corrected", 1 - 0.05 / 999)):
    found = matrics.compare_paired(joint, "mcc", level=level)["mcc"]
    worse = found.low > 0
    print(f"{words}: {worse.sum()} are worse, {1000 - worse.sum()} may be the best")

# %%
# A search that ends with hundreds of candidates has not found the best model, but it has got rid of the rest. Of a
# short list, :func:`matrics.compare_models` compares all pairs, by resampling. (It does not know of the models that
# the list leaves out, and for all thousand it takes minutes.)

short = matrics.compare_models(
    y_true, y_pred[order[:20]], "mcc", num_classes=4, num=2000, rng=0
)["mcc"]
print(f"{short.tied.sum()} of these 20 are not significantly different from the best,")
print(f"which is ahead in {short.probability_best[0]:.0%} of the resampled test sets")

# %%
# How good is the best, really?
# -----------------------------
#
# Its MCC is the highest of a thousand numbers, each partly luck. A second test set of 2,000 samples tells luck from
# skill. As one test set is easier than another, this is how far a model is ahead of the average model:

again = matrics.mcc(matrics.confusion_matrix(*test_set(2000), num_classes=4))
ahead = np.stack([scores["mcc"], again])
ahead -= ahead.mean(1, keepdims=True)
print("the best of     first set   second set")
for number in (10, 100, 1000):
    some = random.permuted(np.tile(np.arange(1000), (200, 1)), axis=1)[:, :number]
    chosen = some[np.arange(200), ahead[0][some].argmax(1)]
    print("{:11,} {:+13.3f} {:+12.3f}".format(number, *ahead[:, chosen].mean(1)))
place = (again > again[best]).sum() + 1
print(f"{names[best]}, the best of all, is number {place} in the second set")

# %%
# The more models there are to choose from, the more of the lead is luck (the first rows are means of 200 drawn
# searches). Limits around the best score do not show this: they are for a model that was chosen beforehand. Keep a
# test set aside for the model that you choose, and report that score. :doc:`/comparing` has more on tests, and
# :doc:`/comparing_measures` on measures.
