"""Curves and best thresholds as results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from matrics._catalogue.naming import columns as named_columns
from matrics._catalogue.naming import title_of
from matrics._cli.compare_results import APART, rows_of
from matrics._cli.curve import OF_SAMPLES
from matrics._cli.curve_comparison import compare_curves
from matrics._cli.result import Result, Rows, about_measure, column, keys_of
from matrics._errors import ArgumentError
from matrics._quoting import quoted

if TYPE_CHECKING:
    from matrics._catalogue.record import Metric
    from matrics._cli.curve import CurveRun
    from matrics._cli.prevalence import Target
    from matrics._cli.threshold import ThresholdRun
    from matrics._files.scores import Scored

Array = Any


def refuse_same(source: Scored, names: list[str], option: str) -> None:
    """Raise if a column of the file has the name of one that is written."""
    both = sorted({key.name for key in source.keys} & set(names))
    if both:
        raise ArgumentError(option, f"expected different names, got two columns of the name {quoted(both[0])}")


def curve_result(run: CurveRun, titles: list[str]) -> Result:
    """All thresholds of all curves, and what does not depend on a threshold."""
    source = run.source
    reasons, measures = _measures(run.metrics, source)
    refuse_same(source, ["threshold", *reasons], "format")
    every = range(source.count)
    found = [run.curve(position) for position in every]
    of_curve = pa.array(np.repeat(np.arange(source.count), [len(thresholds) for thresholds, _ in found]))
    rows = keys_of({name: values.take(of_curve) for name, values in source.columns(0, source.count).items()})
    rows["threshold"] = column(np.concatenate([thresholds for thresholds, _ in found]), is_short=True)
    values = np.concatenate([values for _, values in found])
    rows |= {name: column(one, undefined=reasons[name]) for name, one in zip(reasons, values.T, strict=True)}
    about = {**_facts(source, run.target), "level": run.level, "seed": run.seed}
    remarks = [] if run.target is None else [OF_SAMPLES]
    return Result("curve", titles, about, rows, measures, {"curves": _of_scores(run)}, remarks=remarks)


def comparison_result(run: CurveRun, titles: list[str]) -> Result:
    """The models by their scores for the same samples, and the measures of each."""
    about = {**_facts(run.source, run.target), "level": run.level, "seed": None, "paired_on": run.paired_on}
    rows = rows_of(*compare_curves(run))
    order = (*("measure", "model", "estimate", "low", "high", "status"), *APART, "p_value", "tied")
    rows = {name: rows[name] for name in order}
    return Result("curve", titles, about, rows, tables={"curves": _of_scores(run)})


def _of_scores(run: CurveRun) -> Rows:
    """The measures of each curve that do not depend on a threshold."""
    source = run.source
    facts = [run.facts(position) for position in range(source.count)]
    refuse_same(source, list(facts[0]), "format")
    found: Rows = keys_of(source.columns(0, source.count))
    return found | {
        name: column([one[name] for one in facts], undefined="samples of both classes are needed") for name in facts[0]
    }


def threshold_result(run: ThresholdRun, titles: list[str]) -> Result:
    """The best threshold of each curve, its limits and matrix, and the measures there."""
    source, wanted = run.source, run.wanted
    reasons, measures = _measures(run.metrics, source)
    found = run.outputs()
    refuse_same(source, list(found), "format")
    none = {position: one.reason for position, one in enumerate(run.found) if one.reason}
    without = "no limits were asked for" if not wanted.sure.num else "there are no limits"
    rows = keys_of(source.columns(0, source.count))
    for name, values in found.items():
        is_limit = name.endswith(("/low", "/high", "/standard_error"))
        rows[name] = column(
            values,
            undefined=without if is_limit else reasons.get(name, "there is no threshold"),
            status="status" if name.startswith(("threshold", "expected")) else "",
            is_status=name == "status",
            is_short=name.startswith("threshold"),
            reasons=none,
        )
    is_drawn = wanted.sure.num > 0
    about = {
        **_facts(source, run.target),
        "metric": wanted.name,
        "direction": "lowest" if wanted.lowest_is_best else "highest",
        "subject_to": wanted.conditions,
        "level": wanted.sure.level,
        "replicates": wanted.sure.num,
        "seed": wanted.sure.seed if is_drawn else None,
    }
    remarks = [f"{source.name(position)}: {reason}" for position, reason in none.items()]  # of a single curve: an error
    remarks += [run.of_labelled] if run.of_labelled else []
    return Result("threshold", titles, about, rows, measures, remarks=remarks)


def _facts(source: Scored, target: Target | None) -> dict[str, Any]:
    positive = None if source.has_several else source.classes[source.positives[0]]
    return {
        "file": source.file,
        "number_of_curves": source.count,
        "classes": list(source.classes),
        "positive": positive,
        **({} if source.has_several else {"rest": source.rest}),
        "samples": source.samples,
        **({"left_out": source.left_out} if source.left_out else {}),
        **({} if target is None else {"prevalence": target.shares}),
    }


def _measures(metrics: dict[str, Metric], source: Scored) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Why a value of each column may be undefined, and the measures."""
    reasons, measures = {}, []
    for key, metric in metrics.items():
        names = [title_of(name) for name in named_columns(key, metric, source.sides)]
        reasons.update(dict.fromkeys(names, f"undefined: {metric.undefined}"))
        measures.append(about_measure(title_of(key), metric, names))
    return reasons, measures
