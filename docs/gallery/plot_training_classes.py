"""
Classes over a training run
===========================

A measure of each class at each step: the classes that are learned late, and those that are forgotten. They come first,
with a circle at their best step.
"""

# %%
# A model that forgets
# --------------------
#
# A classifier sees the digits 0 to 4 first, then 5 to 9, and never the first five again. The confusion matrices of each
# step are all that the picture needs.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

import matrics
import matrics.plot

images, labels = load_digits(return_X_y=True)
seen, held_out = slice(0, 1200), slice(1200, None)
model = SGDClassifier(loss="log_loss", alpha=0.01, random_state=0)
history = []
for step in range(40):
    digits = range(5) if step < 20 else range(5, 10)
    chosen = np.flatnonzero(np.isin(labels[seen], digits))[step % 20 :: 20]
    model.partial_fit(images[chosen] / 16, labels[chosen], classes=range(10))
    predicted = model.predict(images[held_out] / 16)
    history.append(
        matrics.confusion_matrix(labels[held_out], predicted, num_classes=10)
    )

display = matrics.plot.training_classes(history, top=4)

# %%
# The classes that have lost the most
# -----------------------------------

display.forgotten[:4]

# %%
# From the file of a logger
# -------------------------
#
# Names such as ``val/recall/cat`` are values of classes. Files of :func:`~matrics.loggers.log_to` have
# them, and those of Lightning's ``CSVLogger``.

import tempfile
from pathlib import Path

from matrics.loggers import log_to

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "run.csv")
    for step, cm in enumerate(history):
        log_to(path, matrics.score(cm, "f1:class"), step, prefix="val/")
    matrics.plot.training_classes(path, "val/f1")
