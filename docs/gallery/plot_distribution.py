"""
Distribution of a measure
=========================

How much does a measure vary: over the replicates of a bootstrap, over folds, seeds, or the runs of a sweep? Few values
are all drawn; of many the shape and quantiles are.
"""

# %%
# Replicates
# ----------
#
# Ten thousand matrices are resampled from one. The triangle is the measure of the matrix itself.

from pathlib import Path

import numpy as np
import pandas as pd

import matrics
import matrics.plot

cm = [[40, 10], [5, 45]]
replicates = matrics.mcc(matrics.simulate.resample(cm, 10_000, rng=0))

matrics.plot.distribution(replicates, title="mcc", estimates=matrics.mcc(cm))

# %%
# Folds
# -----
#
# Twenty-five values of each classifier: five repeats of five-fold cross-validation. All values are drawn.

examples = Path(matrics.__file__).parents[2] / "examples"
predictions = pd.read_parquet(examples / "digits_sweep.parquet").query(
    "model != 'coin_toss'"
)
folds = {
    str(model): matrics.mcc(
        np.stack(
            [
                matrics.confusion_matrix(fold["y_true"], fold["y_pred"], num_classes=10)
                for _, fold in of_model.groupby(["repeat", "fold"])
            ]
        )
    )
    for model, of_model in predictions.groupby("model", observed=True)
}

matrics.plot.distribution(folds, title="mcc")

# %%
# Undefined values
# ----------------
#
# Few samples have no defined precision in some replicates. Their number is shown next to the name.

small = matrics.simulate.resample([[6, 1], [2, 1]], 5000, rng=0)
scores = matrics.score(small, ["accuracy", "precision:binary", "recall:binary"])

matrics.plot.distribution(scores, title="value of the measure")
