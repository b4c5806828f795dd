"""Make ``digits_sweep.parquet``: the predictions of eight classifiers for scikit-learn's bundled digits.

Every model is fitted 25 times (five repeats of stratified five-fold cross-validation), so every image is
predicted five times by each of them, always by a fit that had not seen it. One row per prediction:

    model, repeat, fold, sample, y_true, y_pred

``sample`` is the image's index in ``load_digits``: the five predictions of an image are not independent of each other.

Run it with ``pip install scikit-learn pyarrow`` (about two minutes on two cores)::

    python examples/make_digits_sweep.py
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

FOLDS, REPEATS = 5, 5

MODELS = {
    "svm_rbf": SVC(gamma=0.001),
    "nearest_neighbours": KNeighborsClassifier(n_neighbors=3),
    "extra_trees": ExtraTreesClassifier(n_estimators=100, random_state=0),
    "logistic_regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    "nearest_centroid": NearestCentroid(),
    "decision_tree": DecisionTreeClassifier(random_state=0),
    "naive_bayes": GaussianNB(),
    "coin_toss": DummyClassifier(strategy="stratified", random_state=0),
}


def main() -> None:
    images, labels = load_digits(return_X_y=True)
    splits = list(RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0).split(images, labels))
    parts = []
    for name, model in MODELS.items():
        for number, (train, test) in enumerate(splits):
            predicted = model.fit(images[train], labels[train]).predict(images[test])
            parts.append(
                pa.table(
                    {
                        "model": pa.array([name] * len(test)).dictionary_encode(),
                        "repeat": np.full(len(test), number // FOLDS, np.uint8),
                        "fold": np.full(len(test), number % FOLDS, np.uint8),
                        "sample": test.astype(np.uint16),
                        "y_true": labels[test].astype(np.uint8),
                        "y_pred": predicted.astype(np.uint8),
                    }
                )
            )
        print(f"{name}: {len(splits)} fits")
    sweep = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    path = Path(__file__).with_name("digits_sweep.parquet")
    # A dictionary of 1797 images would take more room than the images; between two of them are small steps.
    few = [name for name in sweep.column_names if name != "sample"]
    encoding = {"sample": "DELTA_BINARY_PACKED"}
    pq.write_table(sweep, path, compression="zstd", compression_level=19, use_dictionary=few, column_encoding=encoding)
    print(f"{path.name}: {sweep.num_rows} predictions of {len(MODELS) * len(splits)} fits, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
