"""Time what has names beside what it is made of: DataArrays beside plain arrays, counts beside a group-by alone.

    python benchmarks/frames.py

A DataArray of a million 3×3 matrices is scored in memory and in ten chunks of Dask, computed one after the other,
beside ``matrics.score`` of its values. Two million labels of text in a thousand groups are counted beside a group-by of
pandas and of Polars by the same columns, which makes no matrices. Results are compared first. Of the times nothing is
asserted.
"""

from __future__ import annotations

import dask
import numpy as np
import pandas as pd
import polars as pl
import xarray as xr
from run import as_slow, machine, print_machine, spell  # (beside this file, as is timing; fixes the threads)
from timing import best

import matrics
import matrics.xarray

METRICS = ["accuracy", "mcc", "cohen_kappa", "f1", "recall:class", "cen"]
RIVALS = ("plain array", "pandas, groupby.size", "Polars, group_by.len")
MATRICES, LABELS, GROUPS = 1_000_000, 2_000_000, 1000


def named_scores() -> dict[str, float]:
    """Seconds of six measures of a million matrices."""
    stack = np.random.default_rng(0).integers(0, 50, (1000, MATRICES // 1000, 3, 3))
    da = xr.DataArray(stack, dims=("model", "epoch", "true", "pred"), coords={"true": list("abc"), "pred": list("abc")})
    lazy = da.chunk(model=100)
    xr.testing.assert_identical(lazy.matrics.score(METRICS).compute(), da.matrics.score(METRICS))
    np.testing.assert_array_equal(da.matrics.score("mcc")["mcc"], matrics.mcc(stack))
    calls = {
        "plain array": lambda: matrics.score(stack, METRICS),
        "DataArray": lambda: da.matrics.score(METRICS),
        "DataArray in ten chunks": lambda: lazy.matrics.score(METRICS).compute(),
    }
    return dict(zip(calls, best(*calls.values(), runs=5), strict=True))


def counted_frames() -> dict[str, float]:
    """Seconds of a matrix for each group."""
    random = np.random.default_rng(0)
    texts = {name: np.asarray(["cat", "dog", "owl"])[random.integers(0, 3, LABELS)] for name in ("y_true", "y_pred")}
    sites = random.integers(0, GROUPS, LABELS)
    of_pandas = pd.DataFrame({"site": sites, **texts})
    of_polars = pl.DataFrame({"site": sites, **{name: column.tolist() for name, column in texts.items()}})
    by = ["site", "y_true", "y_pred"]
    counts = matrics.frames.count(of_pandas, by="site").matrix
    np.testing.assert_array_equal(counts.ravel(), of_pandas.groupby(by).size().to_numpy())
    np.testing.assert_array_equal(counts, matrics.frames.count(of_polars, by="site").matrix)
    calls = {
        "pandas, groupby.size": lambda: of_pandas.groupby(by).size(),
        "pandas": lambda: matrics.frames.count(of_pandas, by="site"),
        "Polars, group_by.len": lambda: of_polars.group_by(by).len(),
        "Polars": lambda: matrics.frames.count(of_polars, by="site"),
    }
    return dict(zip(calls, best(*calls.values(), runs=5), strict=True))


if __name__ == "__main__":
    print_machine(machine())
    dask.config.set(scheduler="sync")
    for title, rows, size in (
        (f"{len(METRICS)} measures of {MATRICES:,} 3×3 matrices: time per matrix", named_scores(), MATRICES),
        (f"{LABELS:,} labels of text in {GROUPS:,} groups: time per label", counted_frames(), LABELS),
    ):
        print(f"{title}, and how many times that of the rival above\n")
        floor = 0.0
        for name, taken in rows.items():
            floor = taken if name in RIVALS else floor
            print(f"{name:<26}{spell(taken / size * 1e9):>12}{as_slow(taken / floor):>10}")
        print()
