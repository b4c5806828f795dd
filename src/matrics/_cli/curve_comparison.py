"""The models of a file by their scores for the same samples: differences, p-values, and those tied with the best."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

import matrics
from matrics._cli.interval_report import show_statuses, sign_of
from matrics._cli.printing import BEST, show, text_table
from matrics._cli.result import Rows, column
from matrics._quoting import quoted
from matrics._reporting.verdicts import aligned
from matrics._wording import limits, number, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from matrics._cli.curve import CurveRun
    from matrics._files.scores import Scored

Array = Any

AHEAD = ("difference", "difference_low", "difference_high", "p_value")


@dataclass(frozen=True)
class Ranked:
    """A measure of all models: values with limits, and what the best is ahead of each by."""

    name: str
    higher_is_better: bool
    found: matrics.results.ModelComparison

    @property
    def best(self) -> int | None:
        """The position of the best model; None if the measure is undefined for all."""
        values = np.asarray(self.found.intervals.estimate)
        values = np.where(np.isfinite(values), values, np.nan)
        if np.isnan(values).all():
            return None
        return int(np.nanargmax(values if self.higher_is_better else -values))

    def ahead(self, row: int) -> tuple[float, float, float, float]:
        """The best less this model, the limits of that, and the p-value; NaN of the best itself."""
        best = self.best
        if best is None or best == row:
            return np.nan, np.nan, np.nan, np.nan
        difference, low, high = (float(x[best, row]) for x in self.found.differences[:3])
        return difference, low, high, float(self.found.p_value[best, row])


def compare_curves(run: CurveRun) -> list[Ranked]:
    """Compare the models of a file; their samples are those of the column ``--paired-on``."""
    source, paired_on = run.source, str(run.paired_on)
    names, true, scores, samples = _together(source, paired_on)
    repeated = len(np.unique(samples)) < len(samples)
    found = matrics.ranking.compare(
        (true == source.positives[0]).astype(np.int64),
        dict(zip(names, scores, strict=True)),
        clusters=samples if repeated else None,
        level=run.level,
    )
    better = {"roc_auc": True, "average_precision": True}
    return [Ranked(name, better.get(name, False), one) for name, one in found.items()]


def _together(source: Scored, paired_on: str) -> tuple[list[str], Array, Array, Array]:
    """The names of the models, the labels (N,), the scores (M, N) and the samples (N,)."""
    if len(source.positives) > 1:
        raise ValueError(f"--paired-on: expected one column of scores with it, got {len(source.positives)}")
    if len(source.groups) < 2:
        raise ValueError("--paired-on: expected --by COLUMN with it, of the models, and at least two of them")
    models = np.repeat(np.arange(len(source.groups)), [len(true) for true, _ in source.groups])
    true, values = (np.concatenate(parts) for parts in zip(*source.groups, strict=True))
    samples = np.concatenate(source.samples_of)
    names = [source.name(k) for k in range(len(source.groups))]
    option = f"--paired-on {paired_on}"
    _, _, of_each, rows = aligned(
        models, samples, true, true, names=names, sample_names=source.sample_names, option=option
    )
    return names, true[rows[0]], values[rows, 0], of_each


def show_comparisons(console: Console, found: list[Ranked], heading: str) -> None:
    """Print a table for each measure, the best model first."""
    for one in found:
        _show(console, one, heading)
    statuses = Counter(status for one in found for status in one.found.intervals.status.tolist())
    show_statuses(console, statuses, signs=True)


def _show(console: Console, one: Ranked, heading: str) -> None:
    names, values = one.found.names or (), one.found.intervals
    table = text_table(heading, one.name, "best less this", "p", "")
    for column_ in table.columns[1:4]:
        column_.justify = "right"
    estimate = np.asarray(values.estimate)
    for row in np.argsort(-estimate if one.higher_is_better else estimate, kind="stable"):
        is_best = row == one.best
        difference, low, high, p_value = one.ahead(int(row))
        gap = "" if is_best or np.isnan(difference) else limits(difference, low, high)
        chance = "" if np.isnan(p_value) else number(p_value)
        word = "best" if is_best else "tied" if one.found.tied[row] else ""
        style = BEST if is_best else ""
        table.add_row(
            Text(plain(names[row]), style),
            Text(limits(*(float(part[row]) for part in values[:3])) + sign_of(values.status[row])),
            Text(gap),
            Text(chance),
            Text(word, style),
        )
    show(console, Text(), table)


def comparison_rows(found: list[Ranked]) -> Rows:
    """A row for each measure and model."""
    rows: dict[str, list[Any]] = {name: [] for name in ("measure", "model", "estimate", "low", "high", "status")}
    rows |= {name: [] for name in (*AHEAD, "tied")}
    for one in found:
        values = one.found.intervals
        for row, name in enumerate(one.found.names or ()):
            ahead = dict(zip(AHEAD, one.ahead(row), strict=True))
            here = {
                "measure": one.name,
                "model": name,
                "estimate": float(values.estimate[row]),
                "low": float(values.low[row]),
                "high": float(values.high[row]),
                "status": int(values.status[row]),
                "tied": bool(one.found.tied[row]),
                **ahead,
            }
            for key, value in here.items():
                rows[key].append(value)
    reason = "it is the best itself, or there is no difference"
    return {
        key: column(
            values,
            is_status=key == "status",
            **({"status": "status"} if key in {"low", "high"} else {}),
            **({"undefined": reason} if key in AHEAD else {}),
        )
        for key, values in rows.items()
    }


def refuse_unpaired(options: Mapping[str, str | None]) -> None:
    """Raise for options of measures at thresholds: models are compared by measures of their scores."""
    for option, given in options.items():
        if given is not None:
            raise ValueError(
                f"--{option}: expected no such option with --paired-on, which compares measures of the scores "
                f"themselves, of the samples as they are; got {quoted(given)}"
            )


def refuse_paired(paired_on: str | None, by: tuple[str, ...], others: set[str]) -> None:
    """Raise for a column of samples that is another one as well, or without models."""
    if paired_on is None:
        return
    if not by:
        raise ValueError(f"--paired-on: expected --by COLUMN with it, of the models, got {quoted(paired_on)} alone")
    if paired_on in {*by, *others}:
        raise ValueError(
            f"--paired-on: expected a column that is neither the model, a label nor a score, got {quoted(paired_on)}"
        )
