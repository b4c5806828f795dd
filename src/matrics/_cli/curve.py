"""``matrics curve``: measures at every threshold of scores, and how well the scores rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
from rich.text import Text

import matrics
from matrics._catalogue.of_scores import spec_of
from matrics._cli import options
from matrics._cli.measures import measures, plug_in, reasons_of
from matrics._cli.scored import FilePath, ScoredRun, ScoreOptions, write_tables
from matrics._cli.screen import Column, best_of_columns, fold, marked, show, show_blocks, sort, star
from matrics._cli.verdicts import APART, compared_scores, rows_of, same_samples, show_verdicts
from matrics._cli.writers import Result, Rows, column, keys_of, read_delivery, refuse_same
from matrics._errors import ArgumentError
from matrics._files.outputs.destination import SUFFIXES
from matrics._quoting import quoted
from matrics._ranking.state_names import CALIBRATION, divided
from matrics._scoring.score import resolve
from matrics._uncertainty.options import check_level
from matrics._wording import REVERSED, counted, in_percent, listed, plain, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from matrics._reporting.verdicts import ModelVerdict

Array = Any

CURVE_METRICS = "accuracy,precision,recall,specificity,f1,mcc"


def curve(
    path: FilePath,
    *,
    data: ScoreOptions,
    paired_on: Annotated[
        str | None,
        options.option(
            "COLUMN",
            "The column of the samples, if all models of --by have scored the same: their differences, with "
            "DeLong's p-values.",
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        options.option(
            "NAME[,NAME]",
            "Measures at thresholds: mcc,f1; or of the scores: auroc,ece; repeatable.",
            default=CURVE_METRICS,
        ),
    ] = None,
    plugin: options.Plugin = None,
    reading: options.ReadingOptions,
    thresholds: Annotated[
        str | None, options.option("NUMBERS|all", "0.1,0.5: these; all: each of them on the screen, too.")
    ] = None,
    level: options.Level = "0.95",
    zero_division: options.ZeroDivision = "nan",
    format_: options.Format = None,
    output: options.Output = None,
) -> None:
    """Compute measures at every threshold of scores, and how well the scores rank."""
    plug_in(plugin)
    zero = options.read_number("zero-division", zero_division)
    of_scores, others = _divided(metrics or [])
    resolve(others or CURVE_METRICS)  # raises before anything is read
    limits, every = _read_thresholds(thresholds)
    share = check_level(options.read_number("level", level))
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    if paired_on is not None:
        if delivery.blocks:
            raise ArgumentError("output", "expected a name in .json, .md, .tex or .txt, or --format, with --paired-on")
        names = data.names
        _check_paired(paired_on, names.by, {names.true, *names.scores})
        unused = {"metrics": metrics, "thresholds": thresholds, "prevalence": data.prevalence}
        unused["zero-division"] = None if math.isnan(zero) else zero_division
        why = "which compares measures of the scores themselves, of the samples as they are"
        options.refuse(f"no such option with --paired-on, {why}", unused)
    source, target = data.read(path, reading.read(), delivery.blocks, paired_on)
    run = CurveRun(
        source=source,
        metrics=measures(others or CURVE_METRICS, lambda: source.known),
        zero_division=zero,
        level=share,
        target=target,
        thresholds=limits,
        paired_on=paired_on,
        of_scores=of_scores,
    )
    title = plain(run.title)
    if delivery.blocks:
        names_of_columns = ["threshold", *(column.label for column in run.columns)]
        refuse_same("output", [*run.keys, *names_of_columns])
        write_tables(delivery.blocks, run.tables(), [title], counted(len(run.columns), "measure"))
    elif paired_on is not None:
        delivery.write(lambda: comparison_result(run, title), lambda console: show_comparison(console, run, title))
    else:
        lines = [title if target is None else f"{title}; {OF_SAMPLES}", ""]
        delivery.write(lambda: curve_result(run, title), lambda console: show_curves(console, run, lines, every=every))


RECALL = "recall[1]"
# What a prevalence does not change, in words.
OF_SAMPLES = "areas and losses: of the samples as they are"
HIGHER = {"roc_auc": True, "average_precision": True, "log_loss": False, "brier_score": False}
# That of the calibration error is drawn, and so it is shown to those who ask for it.
HIGHER |= {CALIBRATION: False}


@dataclass(frozen=True)
class Shown:
    """Some thresholds of a curve, the measures there, and where they are the best of all thresholds."""

    thresholds: Array  # (R,)
    values: Array  # (R, columns)
    best: Array
    count: int  # thresholds in all


@dataclass(frozen=True, kw_only=True)
class CurveRun(ScoredRun):
    """The curves of one file."""

    thresholds: Array | None  # None: all
    paired_on: str | None = None
    of_scores: tuple[str, ...] = ()  # the measures of scores in the option --metrics

    @property
    def seed(self) -> int | None:
        """Where the limits of the calibration error come from, if it is shown."""
        return 0 if CALIBRATION in self.of_scores else None

    def compared(self) -> tuple[list[str], list[ModelVerdict]]:
        """The models, and their comparisons by the scores of the same samples."""
        names, true, scores, samples = same_samples(self.source, str(self.paired_on))
        return names, compared_scores(names, true, scores, samples, self.level, turned=False)

    def tables(self) -> Iterator[dict[str, Array]]:
        """The rows of an output file, a curve at a time."""
        labels = [column.label for column in self.columns]
        for position in range(self.source.count):
            thresholds, values = self.curve(position)
            keys = self.source.columns(position, position + 1)
            repeated = {name: key.take(pa.array(np.zeros(len(thresholds), int))) for name, key in keys.items()}
            yield {**repeated, "threshold": thresholds, **dict(zip(labels, values.T, strict=True))}

    def curve(self, position: int) -> tuple[Array, Array]:
        """The thresholds (T,) of a curve, and the measures there (T, columns)."""
        found = self._curve(position)
        return found.thresholds, self._stacked(found)

    def _curve(self, position: int, *others: str) -> Any:
        names = list(dict.fromkeys([*map(str, self.metrics.values()), *others]))
        true, scores = self.source.curve(position)
        given: dict[str, Any] = {"unique": True} if self.thresholds is None else {"thresholds": self.thresholds}
        if self.target is not None:
            given["prevalence"] = self.target.shares
        scores, given["lower_is_positive"] = self.source.directed(scores), self.source.lower_is_positive
        return matrics.ranking.threshold_curve(
            true, scores, names, zero_division=self.zero_division, workers=-1, **given
        )

    def _stacked(self, found: Any) -> Array:
        return np.column_stack([np.asarray(found[str(metric)]) for metric in self.metrics.values()])

    def shown(self, position: int, recalls: Sequence[float]) -> Shown:
        """Thresholds to show: the given ones, or the highest thresholds at which recall reaches each of these values.

        Of measures that are best at none of the latter, the threshold at which they are is among them.
        """
        found = self._curve(position, RECALL)
        values = self._stacked(found)
        best, recall = best_of_columns(self.columns, values), found[RECALL]
        count = len(found.thresholds)
        rows = np.arange(count)
        if recalls and self.thresholds is None and count > len(recalls):
            is_known = not np.isnan(recall).any()
            rows = np.searchsorted(recall, recalls) if is_known else np.linspace(0, count - 1, len(recalls)).astype(int)
            # Where several are the best, the first predicts the fewest samples as positive.
            rest = best.any(axis=0) & ~best[rows].any(axis=0)
            rows = np.unique([*rows, *best.argmax(axis=0)[rest]])
        return Shown(found.thresholds[rows], values[rows], best[rows], count)

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores are between 0 and 1."""
        return all(((scores >= 0) & (scores <= 1)).all() for _, scores in self.source.groups)

    def of_position(self, position: int) -> dict[str, float]:
        """What does not depend on a threshold: samples, and measures of the scores."""
        true, scores = self.source.curve(position)
        facts: dict[str, float] = {"samples": len(true), "positives": int(true.sum())}
        usual = [name for name in HIGHER if name != CALIBRATION and (self.are_probabilities or HIGHER[name])]
        names = list(dict.fromkeys([*usual, *self.of_scores]))
        for name, found in matrics.ranking.interval(true, scores, names, level=self.level, rng=self.seed).items():
            facts |= {name: float(found.estimate), f"{name}/low": float(found.low), f"{name}/high": float(found.high)}
        return facts


def _divided(metrics: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The measures of scores among those of the option, by the names of their functions, and the other measures."""
    of_scores, others = divided(metrics, HIGHER)
    return tuple(dict.fromkeys(map(spec_of, of_scores))), others


def _read_thresholds(text: str | None) -> tuple[Array | None, bool]:
    """The thresholds of the option, None for all; and whether all are to be shown."""
    if text is None or text == "all":
        return None, text == "all"
    parts = [part for part in text.split(",") if part]
    try:
        given = [float(part) for part in parts]
    except ValueError as error:
        raise ArgumentError("thresholds", f"expected numbers between commas, or all, got {quoted(text)}") from error
    if not given or any(map(math.isnan, given)):
        raise ArgumentError("thresholds", f"expected numbers between commas, or all, got {quoted(text)}")
    return np.asarray(given), True


MOST_CURVES = 8  # of more there is only a line each
# Recall values whose thresholds are shown: of several curves, and of a single curve.
FEW = (0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1)
MANY = (*(k / 10 for k in range(1, 9)), 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 1)


def show_comparison(console: Console, run: CurveRun, title: str) -> None:
    """Print the models by their scores for the same samples."""
    compared = run.compared()  # before anything is printed
    show(console, title, "")
    show_verdicts(console, *compared, run.source.heading)


def show_curves(console: Console, run: CurveRun, titles: list[str], *, every: bool) -> None:
    """Print what does not depend on a threshold, a line for each curve, and then the tables of thresholds."""
    show(console, *titles)
    order = _show_facts(console, run)
    if len(order) > MOST_CURVES:
        remark = f"thresholds of more than {MOST_CURVES} curves: --output writes all"
        show(console, "", Text(remark, "dim"))
        return
    recalls = () if every else MANY if len(order) == 1 else FEW
    signs, is_part = set(), False
    for position in order:
        found = run.shown(position, recalls)
        is_part |= len(found.thresholds) < found.count
        signs |= _show_thresholds(console, run, found, run.source.name(position) if run.source.keys else "")
    remarks = ["* best of its measure" + ("" if run.thresholds is not None else " at all thresholds")] * ("*" in signs)
    remarks += ["– undefined"] * ("–" in signs) + ["at inf no sample is predicted as positive"] * ("inf" in signs)
    remarks += ["shown: where recall reaches round numbers, and the best"] * is_part
    if remarks:
        show(console, "", Text("; ".join(remarks), "dim"))


def _show_facts(console: Console, run: CurveRun) -> list[int]:
    """The positions of the curves in the order of the table."""
    source = run.source
    facts = [run.of_position(position) for position in range(source.count)]
    known = [Column(name, "", HIGHER[name]) for name in HIGHER if name in facts[0]]
    values = np.array([[one[column.label] for column in known] for one in facts])
    best = best_of_columns(known, values)
    order, sorting = sort(known, values, ordered=source.in_order)
    columns = [(name, [Text(f"{facts[k][name]:,}") for k in order]) for name in ("samples", "positives")]
    for i, measure in enumerate(known):
        names = [f"{measure.label}{end}" for end in ("", "/low", "/high")]
        texts = [with_limits(*(float(facts[k][name]) for name in names)) for k in order]
        cells = [star(text[0], best=bool(best[k, i])) for k, text in zip(order, texts, strict=True)]
        columns.append((fold(measure.label, 12), cells))
        columns.append((f"{in_percent(run.level)} limits", [Text(f"[{low}, {high}]") for _, low, high in texts]))
    show_blocks(console, run.heading, [run.name(k) for k in order], columns)
    marks = ["* best of its measure"] * bool(best.any()) + ["– undefined"] * bool(np.isnan(values).any())
    notes = "; ".join([*marks, *([sorting] if sorting else [])])
    if notes and source.keys:
        show(console, "", Text(notes, "dim"))
    low = [plain(run.name(k)) for k in order if facts[k].get("roc_auc/high", 1.0) < 0.5]
    if low:
        show(console, "", Text(f"{listed(low)}: {REVERSED} (--lower-is-positive)"))
    return order


def _show_thresholds(console: Console, run: CurveRun, found: Shown, name: str) -> set[str]:
    """Print the table of a curve, and return the signs in it that need a word."""
    show(console, "", *([Text(plain(name), "bold")] if name else []))
    columns = [
        (
            fold(measure.label),
            [marked(x, best=bool(b)) for x, b in zip(found.values[:, k], found.best[:, k], strict=True)],
        )
        for k, measure in enumerate(run.columns)
    ]
    show_blocks(console, "threshold", _distinct(found.thresholds), columns)
    signs = {"*": found.best.any(), "–": np.isnan(found.values).any(), "inf": np.isinf(found.thresholds).any()}
    return {sign for sign, is_there in signs.items() if is_there}


def _distinct(thresholds: Array) -> list[str]:
    """Format thresholds with four digits, or as many as distinguish them from their neighbours."""
    texts = [f"{x:.4g}" for x in thresholds]
    for digits in range(5, 18):
        same = {k for k in range(1, len(texts)) if texts[k] == texts[k - 1] and thresholds[k] != thresholds[k - 1]}
        if not same:
            break
        for k in same | {k - 1 for k in same}:
            texts[k] = f"{thresholds[k]:.{digits}g}"
    return texts


def curve_result(run: CurveRun, title: str) -> Result:
    """All thresholds of all curves, and measures that do not depend on a threshold."""
    source = run.source
    reasons = reasons_of(run.measures)
    refuse_same("format", [*run.keys, "threshold", *reasons])
    curves = [run.curve(position) for position in range(source.count)]
    of_curve = pa.array(np.repeat(np.arange(source.count), [len(thresholds) for thresholds, _ in curves]))
    rows = keys_of({name: values.take(of_curve) for name, values in source.columns(0, source.count).items()})
    rows["threshold"] = column(np.concatenate([thresholds for thresholds, _ in curves]), is_short=True)
    values = np.concatenate([values for _, values in curves])
    rows |= {name: column(part, undefined=reasons[name]) for name, part in zip(reasons, values.T, strict=True)}
    about = {**run.facts, "level": run.level, "seed": run.seed}
    remarks = [] if run.target is None else [OF_SAMPLES]
    return Result("curve", [title], about, rows, run.measures, {"curves": _of_scores(run)}, remarks=remarks)


def comparison_result(run: CurveRun, title: str) -> Result:
    """The models by their scores for the same samples, and the measures of each."""
    about = {**run.facts, "level": run.level, "seed": None, "paired_on": run.paired_on}
    rows = rows_of(*run.compared())
    order = (*("measure", "model", "estimate", "low", "high", "status"), *APART, "p_value", "tied")
    rows = {name: rows[name] for name in order}
    return Result("curve", [title], about, rows, tables={"curves": _of_scores(run)})


def _of_scores(run: CurveRun) -> Rows:
    """The measures of each curve that do not depend on a threshold."""
    facts = [run.of_position(position) for position in range(run.source.count)]
    refuse_same("format", [*run.keys, *facts[0]])
    why = "samples of both classes are needed"
    parts = {name: column([one[name] for one in facts], undefined=why) for name in facts[0]}
    return keys_of(run.source.columns(0, run.source.count)) | parts


def _check_paired(paired_on: str, by: tuple[str, ...], others: set[str]) -> None:
    """Raise for a column of samples that is another one as well, or without models."""
    if not by:
        raise ArgumentError("paired_on", f"expected --by COLUMN with it, of the models, got {quoted(paired_on)} alone")
    if paired_on in {*by, *others}:
        raise ArgumentError(
            "paired_on", f"expected a column that is neither the model, a label nor a score, got {quoted(paired_on)}"
        )
