"""The share of the answers of a run that have a score, with confidence limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._integrations.evals.log import Log
from matrics._integrations.evals.pairing import Run, named_runs
from matrics._integrations.evals.run_comparison import Estimate
from matrics._uncertainty.interval import interval


class Answered(NamedTuple):
    """The numbers of answers of a run with and without a score of a scorer."""

    run: str
    scorer: str
    samples: list[tuple[int, int]]  # for each sample, the numbers of answers with and without a score

    def share(self, level: float) -> Estimate:
        """The share of answers with a score, and its limits. Several answers to a sample are a cluster."""
        samples = np.array(self.samples)
        tables = np.zeros((len(samples), 2, 2))
        tables[:, 0] = samples
        if samples.sum(axis=1).max() > 1 and len(samples) > 1:
            result = interval(tables, "accuracy", level=level, cluster_axis=0)["accuracy"]
        else:
            result = interval(tables.sum(axis=0), "accuracy", level=level)["accuracy"]
        return Estimate(*map(float, result[:4]))

    def facts(self, level: float) -> dict[str, Any]:
        """The number of answers, the number with a score, and the share with its limits, as plain values."""
        scored, unscored = map(sum, zip(*self.samples, strict=True))
        share = self.share(level)
        numbers = {"answers": scored + unscored, "scored": scored}
        return {"run": self.run, "scorer": self.scorer, **numbers, "share": share.value, **_ends(share)}


def _ends(share: Estimate) -> dict[str, float]:
    return {"low": share.low, "high": share.high}


def answered_by(run: Run, scorer: str) -> Answered:
    """The numbers of answers of a run with and without a score of this scorer."""
    return Answered(run.name, scorer, run.answered(scorer))


def answered_of(logs: Sequence[Log]) -> tuple[Answered, ...]:
    """The numbers of answers with and without a score, for each run of the logs and each scorer of the run."""
    return tuple(
        answered_by(run, scorer)
        for run in named_runs(logs)
        for scorer in dict.fromkeys(row.scorer for row in (*run.rows, *run.unscored))
    )
