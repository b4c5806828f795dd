"""``matrics curve``: measures at every threshold of scores, and how well the scores rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa

import matrics
from matrics._catalogue.naming import title_of
from matrics._catalogue.of_scores import spec_of
from matrics._cli import options
from matrics._cli.measures import measures, plug_in, reasons_of
from matrics._cli.results import Measured, Result, Rows, column, keys_of, refuse_same, sorted_rows
from matrics._cli.scored import FilePath, ScoredRun, ScoreOptions, write_tables
from matrics._cli.verdicts import APART, ComparisonOptions, compared_scores, rows_of, same_samples, views_of
from matrics._cli.writers import read_delivery
from matrics._errors import ArgumentError
from matrics._files.outputs.destination import SUFFIXES
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._ranking.inference.names import CALIBRATION, MEASURES, read_measures
from matrics._ranking.state_names import divided
from matrics._reporting.verdicts import judged_together
from matrics._scoring.score import resolve
from matrics._uncertainty.options import DEFAULT_NUM, check_level
from matrics._wording import REVERSED, counted, listed, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matrics._files.scores import ScoreNames
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
            "The column of the samples, if all models of --by scored the same samples. Areas, with DeLong's p-values, "
            "and measures at --thresholds are then compared.",
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        options.option(
            "NAME[,NAME]",
            "Measures at thresholds: mcc,f1; or of the scores: auroc,ece,precision_at_k(k=100); repeatable.",
            default=CURVE_METRICS,
        ),
    ] = None,
    plugin: options.Plugin = None,
    reading: options.ReadingOptions,
    thresholds: Annotated[
        str | None,
        options.option("NUMBERS|all", "Thresholds, such as 0.1,0.5; all shows every threshold on the screen."),
    ] = None,
    table: Annotated[
        str, options.option("thresholds|areas", "The rows: measures at thresholds, or the areas of each curve.")
    ] = "thresholds",
    level: options.Level = options.LEVEL,
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
    given: dict[str, Any] = {"metrics": others, "thresholds": thresholds, "prevalence": data.prevalence}
    given |= {"zero-division": None if math.isnan(zero) else zero_division, "paired-on": paired_on}
    if table not in ("thresholds", "areas"):
        raise ArgumentError("table", f"expected thresholds or areas, got {quoted(table)}")
    if table == "areas":
        options.refuse("no such option with --table areas, which has no thresholds", given)
    elif paired_on is None and level != options.LEVEL and (delivery.blocks or delivery.format == "csv"):
        raise ArgumentError("level", f"expected --table areas with it, as others have no limits in CSV, got {level}")
    if paired_on is not None:
        if delivery.blocks:
            raise ArgumentError("output", "expected a name in .json, .md, .tex or .txt, or --format, with --paired-on")
        _check_paired(data.names, given, of_scores)
        if limits is not None:
            ComparisonOptions(others or [CURVE_METRICS], None, share, None, None, zero).check(None)
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
    if delivery.blocks:
        _write(run, delivery.blocks, table)
    elif paired_on is not None:
        delivery.write(lambda: comparison_result(run))
    elif table == "areas":
        delivery.write(lambda: areas_result(run))
    else:
        delivery.write(lambda: curve_result(run, every=every, is_for_people=delivery.is_for_people))


RECALL = "recall[1]"
NOT_REVERSED = "area below 0.5, so the score is probably higher in the positive class"
# What a prevalence does not change, in words.
OF_SAMPLES = "areas and losses: of the samples as they are"
AREAS, LOSSES = ("roc_auc", "average_precision"), ("log_loss", "brier_score")


@dataclass(frozen=True, kw_only=True)
class CurveRun(ScoredRun):
    """The curves of a file."""

    thresholds: Array | None  # None: all
    paired_on: str | None = None
    of_scores: tuple[str, ...] = ()  # the measures of scores in the option --metrics

    @property
    def seed(self) -> int | None:
        """Where the limits come from that are drawn: of the calibration error and of points of a curve."""
        return None if {*self.of_scores} <= {*AREAS, *LOSSES} else 0

    @property
    def titles(self) -> list[str]:
        """What a comparison is about."""
        drawn = f"measures at thresholds: {DEFAULT_NUM:,} replicates, seed 0"
        return [plain(self.title), *([] if self.thresholds is None else [drawn])]

    def compared(self) -> tuple[list[str], list[ModelVerdict]]:
        """The models, and their comparisons by the scores of the same samples, and by measures at the thresholds."""
        names, true, scores, samples = same_samples(self.source, str(self.paired_on))
        metrics = self.names_of_scores if self.of_scores else None
        verdicts = compared_scores(names, true, scores, samples, self.level, turned=False, metrics=metrics)
        side = "up to" if self.source.lower_is_positive else "from"
        for threshold in [] if self.thresholds is None else self.thresholds.tolist():
            predictions = (scores >= self.source.directed(threshold)).astype(np.int64)
            verdicts += [
                replace(verdict, label=f"{title_of(verdict.label)}, {side} a score of {threshold:.10g}")
                for verdict in judged_together(
                    *(true, predictions, samples, self.metrics, self.source.sides),
                    level=self.level,
                    rng=0,
                    zero_division=self.zero_division,
                )
            ]
        return names, verdicts

    def tables(self) -> Iterator[dict[str, Array]]:
        """The rows of an output file, a curve at a time."""
        labels = [column.label for column in self.columns]
        for position in steps(range(self.source.count)):
            thresholds, values = self.curve(position)
            keys = self.source.columns(position, position + 1)
            repeated = {name: key.take(pa.array(np.zeros(len(thresholds), int))) for name, key in keys.items()}
            yield {**repeated, "threshold": thresholds, **dict(zip(labels, values.T, strict=True))}

    def curve(self, position: int) -> tuple[Array, Array]:
        """The thresholds (T,) of a curve, and the measures there (T, columns)."""
        return self.shown(position, ())[:2]

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

    def _stacked(self, scores: Any) -> Array:
        return np.column_stack([np.asarray(scores[str(metric)]) for metric in self.metrics.values()])

    def shown(self, position: int, recalls: Sequence[float]) -> tuple[Array, Array, bool]:
        """Thresholds where recall reaches these values, the measures there, and whether there are others.

        Of measures that are best at none of these, the threshold at which they are is among them. Thresholds that are
        given are all shown.
        """
        curve = self._curve(position, RECALL)
        thresholds, values, recall = curve.thresholds, self._stacked(curve), curve[RECALL]
        count = len(thresholds)
        if not recalls or self.thresholds is not None or count <= len(recalls):
            return thresholds, values, False
        is_known = not np.isnan(recall).any()
        rows = np.searchsorted(recall, recalls) if is_known else np.linspace(0, count - 1, len(recalls)).astype(int)
        best = np.stack(
            [_best(measure, of_one) for measure, of_one in zip(self.columns, values.T, strict=True)], axis=1
        )
        # Where several are the best, the first predicts the fewest samples as positive.
        rest = best.any(axis=0) & ~best[rows].any(axis=0)
        rows = np.unique([*rows, *best.argmax(axis=0)[rest]])
        return thresholds[rows], values[rows], len(rows) < count

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores are between 0 and 1."""
        return all(((scores >= 0) & (scores <= 1)).all() for _, scores in self.source.groups)

    @property
    def names_of_scores(self) -> list[str]:
        """The measures of scores: areas, losses of probabilities, and those of the option --metrics."""
        return list(dict.fromkeys([*AREAS, *(LOSSES if self.are_probabilities else ()), *self.of_scores]))

    def of_position(self, position: int) -> dict[str, float]:
        """What does not depend on a threshold: samples, and measures of the scores."""
        true, scores = self.source.curve(position)
        facts: dict[str, float] = {"samples": len(true), "positives": int(true.sum())}
        options: dict[str, Any] = {"level": self.level, "rng": self.seed}
        try:
            limits_of_measures = matrics.ranking.interval(true, scores, self.names_of_scores, **options)
        except ArgumentError as error:
            where = f" for {self.name(position)}" if self.source.keys else ""
            raise ArgumentError(error.argument, error.text + where) from error
        for name, limits in limits_of_measures.items():
            parts = {name: limits.estimate, f"{name}/low": limits.low, f"{name}/high": limits.high}
            facts |= {key: float(value) for key, value in parts.items()}
            facts[f"{name}/status"] = int(limits.status)
        return facts


def _divided(metrics: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The measures of scores among those of the option, by the names of their functions, and the other measures."""
    names, others = divided(metrics, MEASURES)
    of_scores = tuple(dict.fromkeys(map(spec_of, names)))
    if of_scores:
        read_measures(of_scores, are_probabilities=True)  # raises for options that they do not have
    return of_scores, others


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


def curve_result(run: CurveRun, *, every: bool, is_for_people: bool) -> Result:
    """The measures of the scores of each curve, and the measures at all thresholds; for people, at some thresholds."""
    source, reasons = run.source, reasons_of(run.measures)
    refuse_same("format", [*run.keys, "threshold", *reasons])
    areas, notes, is_part = _of_scores(run), [], False
    order = sorted_rows(areas)[0] if is_for_people and not source.in_order else list(range(source.count))
    if is_for_people and len(order) > MOST_CURVES:
        order, notes = [], [f"thresholds of more than {MOST_CURVES} curves: --output writes all"]
    curves = []
    for position in order:
        recalls = () if every or not is_for_people else MANY if len(order) == 1 else FEW
        thresholds, values, is_cut = run.shown(position, recalls)
        curves.append((thresholds, values))
        is_part |= is_cut
    of_curve = pa.array(np.repeat(np.asarray(order, int), [len(thresholds) for thresholds, _ in curves]))
    rows = {
        name: column(values.take(of_curve), is_key=True, splits=True)
        for name, values in source.columns(0, source.count).items()
    }
    limits = np.concatenate([np.empty(0), *(thresholds for thresholds, _ in curves)])
    rows["threshold"] = column(limits, is_short=True, is_key=True)
    values = np.concatenate([np.empty((0, len(reasons))), *(values for _, values in curves)])
    rows |= {
        name: column(part, undefined=reasons[name], measured=measured)
        for name, part, measured in zip(reasons, values.T, run.columns, strict=True)
    }
    end = "-inf" if source.lower_is_positive else "inf"
    notes += [f"at {end} no sample is predicted as positive"] * bool(np.isinf(limits).any())
    notes += ["shown: where recall reaches round numbers, and the best"] * is_part
    about = {**run.facts, "level": run.level, "seed": run.seed}
    remarks = [] if run.target is None else [OF_SAMPLES]
    remarks += _reversed(run, areas)
    return Result(
        *("curve", [plain(run.title)], about, rows, run.measures, {"curves": areas}, remarks),
        ordered=source.in_order,
        notes=notes,
        leads=True,
    )


def comparison_result(run: CurveRun) -> Result:
    """The models by their scores for the same samples, and the measures of each."""
    at = None if run.thresholds is None else run.thresholds.tolist()
    about = {**run.facts, "level": run.level, "seed": run.seed if at is None else 0, "paired_on": run.paired_on}
    about |= {} if at is None else {"thresholds": at}
    models, verdicts = run.compared()
    rows = rows_of(models, verdicts)
    order = (*("measure", "model", "estimate", "low", "high", "status"), *APART, "p_value", "tied", "probability_best")
    rows = {name: rows[name] for name in order if name in rows}
    tables, views = {"curves": _of_scores(run)}, views_of(models, verdicts, run.source.heading)
    return Result("curve", run.titles, about, rows, tables=tables, views=views)


def areas_result(run: CurveRun) -> Result:
    """The measures of each curve that do not depend on a threshold."""
    areas, about = _of_scores(run), {**run.facts, "level": run.level, "seed": run.seed}
    return Result("curve", [plain(run.title)], about, areas, remarks=_reversed(run, areas), ordered=run.source.in_order)


def _reversed(run: CurveRun, areas: Rows) -> list[str]:
    low = [run.name(k) for k, high in enumerate(areas["roc_auc/high"].values) if high < 0.5]
    if run.source.lower_is_positive:
        return [f"{listed(low)}: {NOT_REVERSED}, without --lower-is-positive"] if low else []
    return [f"{listed(low)}: {REVERSED} (--lower-is-positive)"] if low else []


def _of_scores(run: CurveRun) -> Rows:
    """The measures of each curve that do not depend on a threshold."""
    facts = [run.of_position(position) for position in steps(range(run.source.count))]
    refuse_same("format", [*run.keys, *facts[0]])
    why = "samples of both classes are needed"
    rows = {name: column([of_curve[name] for of_curve in facts], undefined=why) for name in facts[0]}
    for name, measure in read_measures(run.names_of_scores, are_probabilities=run.are_probabilities).items():
        status, measured = f"{name}/status", Measured(name, "", measure.higher_is_better)
        rows |= {
            name: replace(rows[name], status=status, measured=measured),
            status: replace(rows[status], is_status=True),
        }
    return keys_of(run.source.columns(0, run.source.count)) | rows


def _best(measured: Measured, values: Array) -> Array:
    """Where the values (T,) of a measure are the best."""
    defined = values[~np.isnan(values)]
    if measured.higher_is_better is None or not len(defined) or defined.min() == defined.max():
        return np.zeros(values.shape, bool)
    return np.asarray(values == (defined.max() if measured.higher_is_better else defined.min()))


def _check_paired(names: ScoreNames, given: dict[str, Any], of_scores: Sequence[str]) -> None:
    """Raise for a column of samples that has another meaning, without models, and for options without an effect."""
    paired_on, thresholds = given["paired-on"], given["thresholds"]
    if not names.by:
        raise ArgumentError("paired_on", f"expected --by COLUMN with it, of the models, got {quoted(paired_on)} alone")
    if paired_on in {*names.by, names.true, *names.scores}:
        raise ArgumentError(
            "paired_on", f"expected a column that is neither the model, a label nor a score, got {quoted(paired_on)}"
        )
    why = "no such option with --paired-on, which compares models on the samples as they are"
    options.refuse(why, {"prevalence": given["prevalence"]})
    if CALIBRATION in of_scores:
        raise ArgumentError("metrics", f"expected measures whose differences have limits, got {CALIBRATION}")
    if thresholds == "all":
        raise ArgumentError("thresholds", "expected numbers with --paired-on, got 'all'")
    if thresholds is None:
        unused = {name: given[name] for name in ("metrics", "zero-division")}
        options.refuse("--thresholds NUMBERS with it and --paired-on", unused)


def _write(run: CurveRun, output: str, table: str) -> None:
    """Write the rows into a file, or a folder."""
    title = plain(run.title)
    if table == "areas":
        areas = {name: np.asarray(part.values) for name, part in _of_scores(run).items() if not part.is_key}
        keys = run.source.columns(0, run.source.count)
        write_tables(output, [{**keys, **areas}], [title], counted(len(areas), "column"))
        return
    refuse_same("output", [*run.keys, "threshold", *(measured.label for measured in run.columns)])
    write_tables(output, run.tables(), [title], counted(len(run.columns), "measure"))
