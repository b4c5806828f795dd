"""What the tests of xarray share: matrices with dimensions and coordinates of every kind, and measures of them."""

from __future__ import annotations

from typing import Any

import numpy as np

RANDOM = np.random.default_rng(0)
NAMES = ["cat", "dog", "owl"]
METRICS = ["accuracy", "mcc", "recall:class", "recall", "mcc:one_vs_rest", "fbeta(beta=2):weighted"]


def cube(dtype: Any = np.int64) -> Any:
    """Matrices of 2 models, 3 folds and 4 epochs, with coordinates of every kind."""
    import xarray as xr

    return xr.DataArray(
        RANDOM.integers(1, 30, (2, 3, 4, 3, 3)).astype(dtype),
        dims=("model", "fold", "epoch", "true", "pred"),
        coords={
            "model": ["tree", "net"],
            "epoch": [1, 2, 5, 9],
            "true": ("true", NAMES, {"long_name": "species"}),
            "pred": NAMES,
            "depth": ("model", [3, 12]),  # of a dimension
            "seconds": (("model", "epoch"), np.arange(8.0).reshape(2, 4)),  # of two
            "run": "first",  # of none
            "weight": (("fold", "true"), np.ones((3, 3))),  # of a dimension of classes, which goes
        },
        attrs={"experiment": "a sweep"},
        name="confusion_matrix",
    )
