"""Comparisons as results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matrics._catalogue.naming import title_of
from matrics._cli.compare_logs import answer, left_out, plan
from matrics._cli.result import Result, about_classes, about_measure, column
from matrics._uncertainty.options import DEFAULT_NUM

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._cli.compare import Compared
    from matrics._integrations.evals.run_comparison import RunComparison
    from matrics._reporting.verdicts import ModelVerdict

UNDEFINED = "undefined for this model"
PARTS = ("estimate", "low", "high")
APART = ("difference", "difference_low", "difference_high")


def comparison_result(found: Compared) -> Result:
    """A row for each measure and model, in the order of the models."""
    models, verdicts = found.models, found.verdicts
    every = range(len(models))
    rows = {
        "measure": column([title_of(verdict.label) for verdict in verdicts for _ in every]),
        "model": column([name for _ in verdicts for name in models]),
    }
    for name in PARTS:
        rows[name] = column(_all(verdicts, name), undefined=UNDEFINED, status="status")
    rows["status"] = column([int(code) for one in verdicts for code in one.status], is_status=True)
    rows["best"] = column([k == one.best for one in verdicts for k in every])
    rows["tied"] = column([bool(one.tied[k]) for one in verdicts for k in every])
    for name in APART:
        rows[name] = column(_apart(verdicts, name), undefined="it is the best itself, or there is no difference")
    if found.paired is not None:
        rows["probability_best"] = column(_all(verdicts, "probability_best"), undefined=UNDEFINED)
    is_drawn = found.paired is not None
    about = {
        "files": found.files,
        "models": models,
        **about_classes(found.classes),
        "samples": found.samples,
        "paired_on": found.paired_on,
        "paired_samples": found.paired,
        "level": found.asked.level,
        **({} if found.asked.prevalence is None else {"prevalence": found.asked.prevalence}),
        "replicates": (DEFAULT_NUM if found.asked.num is None else found.asked.num) if is_drawn else None,
        "seed": (found.asked.seed or 0) if is_drawn else None,
    }
    measures = [about_measure(title_of(key), metric) for key, metric in found.metrics.items()]
    return Result("compare", found.titles, about, rows, measures, remarks=list(found.left_out))


def _all(verdicts: list[ModelVerdict], name: str) -> list[float]:
    return [float(value) for one in verdicts for value in getattr(one, name)]


def _apart(verdicts: list[ModelVerdict], name: str) -> list[float]:
    """How far each model is from the best; the best is not compared with itself."""
    return [
        math.nan if k == one.best else float(value) for one in verdicts for k, value in enumerate(getattr(one, name))
    ]


def logs_result(found: list[RunComparison], paths: list[Path]) -> Result:
    """Three rows for each measure: both runs, and the first less the second."""
    rows: dict[str, list[Any]] = {}
    for one in found:
        a, b = one.names
        parts = ((a, one.a, one.noise_a), (b, one.b, one.noise_b), ("difference", one.difference, one.noise))
        for name, value, noise in parts:
            row = {
                "measure": one.measure,
                "scorer": one.scorer,
                "run": name,
                "estimate": value.value,
                "low": value.low,
                "high": value.high,
                "standard_error": value.standard_error,
                "of_data": math.sqrt(noise.data / one.samples),
                "of_prediction": math.sqrt(noise.prediction / one.samples),
            }
            for key, cell in row.items():
                rows.setdefault(key, []).append(cell)
    reasons = dict.fromkeys(("of_data", "of_prediction"), "no sample is repeated, so it cannot be told")
    first = found[0]
    about = {
        "files": list(map(str, paths)),
        "runs": list(first.names),
        "positive": None,
        "samples": first.samples,
        "paired_on": "sample",
        "epochs": list(first.epochs),
        "level": first.level,
        "seed": None,
        "answers": [
            {
                "measure": one.measure,
                "scorer": one.scorer,
                "real": one.is_real,
                "answer": answer(one),
                "plan": plan(one),
            }
            for one in found
        ],
    }
    columns = {name: column(cells, undefined=reasons.get(name, UNDEFINED)) for name, cells in rows.items()}
    return Result("compare", [answer(one) for one in found], about, columns, remarks=left_out(found))
