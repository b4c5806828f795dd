"""
A training loop in PyTorch
==========================

A small network learns handwritten digits. Its measures are counted while it trains, and at the end one of them is the
loss itself.
"""

# %%
# Data and network
# ----------------
#
# 1,797 images of 8×8 pixels; 500 of them are held out.

import pandas as pd
import torch
from sklearn.datasets import load_digits

import matrics
import matrics.plot
from matrics.torch import ConfusionMetric

images, labels = (torch.as_tensor(array) for array in load_digits(return_X_y=True))
order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
images, labels = images[order].float() / 16, labels[order]
held_out, training = slice(None, 500), slice(500, None)


def network():
    """A small network, always with the same weights at the start."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
    )


# %%
# Count in the loop
# -----------------
#
# One object counts every batch where the logits are, and scores the sum: the mean of the scores of batches is another
# number. Nothing waits for the device until ``compute()``.


def train(model, loss_of, epochs=8):
    """Train, and return a row of measures for each epoch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    seen = ConfusionMetric(10, ["mcc"], prefix="train/")
    validation = ConfusionMetric(
        10, ["mcc", "balanced_accuracy", "recall:class"], prefix="val/"
    )
    rows = []
    for epoch in range(epochs):
        seen.reset()
        for batch in torch.randperm(
            1297, generator=torch.Generator().manual_seed(epoch)
        ).split(100):
            logits = model(images[training][batch])
            loss = loss_of(logits, labels[training][batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.update(labels[training][batch], logits)
        validation.reset()
        with torch.inference_mode():
            validation.update(labels[held_out], model(images[held_out]))
        values = {**seen.compute(), **validation.compute()}
        rows.append(
            {
                "epoch": epoch + 1,
                **{name: float(value) for name, value in values.items()},
            }
        )
    return pd.DataFrame(rows).set_index("epoch"), validation.matrix


history, matrix = train(network(), torch.nn.functional.cross_entropy)
history[["train/mcc", "val/mcc", "val/balanced_accuracy", "val/recall/8"]].round(3)

# %%
# The same as a picture. The network changes while the training batches are counted.

matrics.plot.training(
    {
        "training": {"mcc": history["train/mcc"]},
        "held out": {"mcc": history["val/mcc"]},
    },
    steps=history.index,
)

# %%
# What is left to learn
# ---------------------
#
# The picture of the last epoch names the most frequent errors among the images that were held out.

matrics.plot.confusion_matrix(matrix)

# %%
# A measure as the loss
# ---------------------
#
# A soft confusion matrix adds up probabilities instead of decisions, so every measure of it has a gradient. Not every
# measure is a useful loss: see :doc:`/losses`.


def soft_mcc(logits, target):
    """One minus the Matthews correlation coefficient of the expected counts of a batch."""
    return 1 - matrics.mcc(
        matrics.soft_confusion_matrix(target, logits.softmax(-1)), zero_division=0
    )


trained_on_mcc, _ = train(network(), soft_mcc)
matrics.plot.training(
    {
        "cross-entropy": {"mcc": history["val/mcc"]},
        "soft MCC": {"mcc": trained_on_mcc["val/mcc"]},
    },
    steps=history.index,
)

# %%
# In these eight epochs cross-entropy is better. A measure as the loss is not an improvement in general: try it for your
# task.
#
# :doc:`/torch` has the rest: several processes, checkpoints, ``torch.compile``, torchmetrics and Lightning.
