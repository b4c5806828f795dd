"""Scores and intervals of matrices as results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.naming import columns as named_columns
from matrics._catalogue.naming import title_of
from matrics._cli.interval_run import IntervalRun
from matrics._cli.printing import Summary
from matrics._cli.results import Result, Rows, about_classes, about_measure, column, keys_of, repeated
from matrics._cli.run import MatrixRun
from matrics._errors import ArgumentError
from matrics._files.source import MatrixSource
from matrics._quoting import quoted
from matrics._scoring.fairness import Disparity, disparity

if TYPE_CHECKING:
    from matrics._cli.run import Run
    from matrics._cli.writers import Delivery

Array = Any


@dataclass(frozen=True)
class Wanted:
    """How results are shown, and what they say of the command."""

    delivery: Delivery | None  # None: in blocks, to a file
    disparity: bool = False
    positive: str | None = None
    library: str | None = None  # whose version matters, beside NumPy's


def result_of(run: Run, values: Array, rows: Array, titles: list[str], wanted: Wanted) -> Result:
    """The result of a run: ``values`` of the matrices at the positions ``rows``."""
    source = run.source
    keys = {name: one.take(rows) for name, one in source.columns(0, source.count).items()}
    twice = repeated([*keys, *run.labels])
    if twice is not None:
        raise ArgumentError(
            "format", f"expected different names, got a measure and a column of the file both named {quoted(twice)}"
        )
    measures = _measures(run)
    reasons = {name: str(one["undefined"]) for one in measures for name in one["columns"]}
    found: Rows = keys_of(keys)
    for name, part in run.outputs(values).items():
        measure = name.rpartition("/")[0] if name not in reasons else name
        is_interval = isinstance(run, IntervalRun)
        found[name] = column(
            part,
            undefined=f"undefined: {reasons[measure]}",
            status=f"{measure}/status" if is_interval and not name.endswith("/status") else "",
            is_status=is_interval and name == f"{measure}/status",
        )
    tables = {"disparity": _disparity(run, values, rows)} if wanted.disparity else {}
    return Result(
        "interval" if isinstance(run, IntervalRun) else "score",
        titles,
        _facts(run, wanted.positive),
        found,
        measures,
        tables,
        libraries=() if wanted.library is None else (wanted.library,),
    )


def _measures(run: Run) -> list[dict[str, Any]]:
    labels = [one.label for one in run.columns]
    if isinstance(run, MatrixRun):
        of_each = [
            [title_of(label) for label in named_columns(key, metric, run.source.titles)]
            for key, metric in run.metrics.items()
        ]
    else:  # of sets of labels, each measure has as many columns as any other
        each = len(labels) // len(run.metrics)
        of_each = [labels[k * each : (k + 1) * each] for k in range(len(run.metrics))]
    return [
        about_measure(title_of(key), metric, names)
        for (key, metric), names in zip(run.metrics.items(), of_each, strict=True)
    ]


def _facts(run: Run, positive: str | None) -> dict[str, Any]:
    source, totals = run.source, run.totals
    if isinstance(source, MatrixSource):
        classes = about_classes(source.known(positive))
        is_weighted = source.squares is not None
    else:
        classes, is_weighted = {"classes": list(getattr(source, "classes", ())), "positive": None}, False
    facts: dict[str, Any] = {
        "file": source.file,
        "matrices": source.count,
        **classes,
        "samples": int(totals.samples) if float(totals.samples).is_integer() else totals.samples,
        "weighted": is_weighted,
        "invalid": totals.invalid,
        "seed": None,
    }
    target = getattr(run, "target", None)
    if target is not None:
        facts["prevalence"] = target.shares
    if isinstance(run, IntervalRun):
        options, wanted = run.wanted.options, run.wanted
        facts |= {
            "seed": wanted.seed,
            "level": options.level,
            "method": options.method,
            "scheme": options.scheme,
            "replicates": None if wanted.seed is None else options.num,
            "clusters": wanted.clusters,
        }
    return facts


def _disparity(run: Run, values: Array, rows: Array) -> Rows:
    summary = Summary(len(run.columns))
    summary.add(0, values)
    found = disparities(summary)
    where = {
        f"{end}_group": column(
            [run.source.name(int(rows[row])) if row >= 0 else None for row in summary.where[end == "max"]]
        )
        for end in ("min", "max")
    }
    named = dict(zip(("min", "max", "difference", "ratio"), map(column, found[:4]), strict=True))
    return {"measure": column([one.label for one in run.columns]), **named, **where}


def disparities(summary: Summary) -> Disparity:
    """The extremes of each measure, their difference and their ratio."""
    counts = ((False, summary.count > 0), (True, summary.count > 1))  # one group is not compared with itself
    ends = np.stack([np.where(known, summary.extremes[end], math.nan) for end, known in counts])
    return disparity(ends, axis=0)
