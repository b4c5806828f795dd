"""Make ``breast_cancer_scores.parquet``: probabilities of four classifiers for scikit-learn's breast cancer data.

Every model is fitted ten times (stratified ten-fold cross-validation), so every tumour has one probability from each of
them, by a fit that had not seen it. One row per probability:

    model, sample, texture, y_true, score

``sample`` is the tumour's index in ``load_breast_cancer``, ``texture`` the third of the data in which its mean texture
is (low, medium or high), ``y_true`` is malignant or benign, and ``score`` the probability of malignant.

Run it with ``pip install scikit-learn pyarrow`` (a few seconds)::

    python examples/make_breast_cancer_scores.py
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

MODELS = {
    "logistic_regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "extra_trees": ExtraTreesClassifier(n_estimators=100, random_state=0),
    "nearest_neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(n_neighbors=15)),
    "naive_bayes": GaussianNB(),
}


def main() -> None:
    data = load_breast_cancer()
    malignant = data.target == list(data.target_names).index("malignant")
    texture = data.data[:, list(data.feature_names).index("mean texture")]
    third = np.array(["low", "medium", "high"])[np.searchsorted(np.quantile(texture, [1 / 3, 2 / 3]), texture)]
    folds = StratifiedKFold(n_splits=10, shuffle=True, random_state=0)
    parts = []
    for name, model in MODELS.items():
        scores = cross_val_predict(model, data.data, malignant, cv=folds, method="predict_proba")[:, 1]
        parts.append(
            pa.table(
                {
                    "model": pa.array([name] * len(scores)).dictionary_encode(),
                    "sample": np.arange(len(scores), dtype=np.uint16),
                    "texture": pa.array(third).dictionary_encode(),
                    "y_true": pa.array(np.where(malignant, "malignant", "benign")).dictionary_encode(),
                    "score": scores,
                }
            )
        )
    table = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    path = Path(__file__).with_name("breast_cancer_scores.parquet")
    pq.write_table(table, path, compression="zstd", compression_level=19)
    print(f"{path.name}: {table.num_rows} scores of {len(MODELS)} models, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
