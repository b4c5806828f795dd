"""``matrics compare``: the models of a file, two files, or evaluation logs.

Models are compared on the same samples, which a column identifies, or each on samples of its own.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._cli import options
from matrics._cli.judged import compare_judged
from matrics._cli.judged_files import JudgeOptions
from matrics._cli.matrices import are_runs
from matrics._cli.measures import Target, measures, plug_in
from matrics._cli.paired import TwoFiles, join, named, repeats
from matrics._cli.verdicts import (
    Compared,
    ComparisonOptions,
    compared_scores,
    comparison_result,
    same_samples,
)
from matrics._cli.writers import read_delivery
from matrics._errors import ArgumentError
from matrics._files.label_rows import read_labels
from matrics._files.names import Names
from matrics._files.notices import refuse_disjoint, warn_of_odd_labels
from matrics._files.rows import name_of
from matrics._files.scores import ScoreNames, read_scores
from matrics._files.wide import MODEL, ROW
from matrics._quoting import quoted
from matrics._reporting.verdicts import ModelVerdict, judged_alone, judged_together
from matrics._tables.samples import Joined, joined
from matrics._wording import counted, in_percent

if TYPE_CHECKING:
    from matrics._catalogue.record import Metric

Array = Any


def compare(
    path: options.LabelsPath,
    others: Annotated[
        list[Path] | None,
        options.argument("The predictions of another model, or logs of other runs of the same evaluation."),
    ] = None,
    *,
    by: options.ByModel = None,
    paired_on: options.PairedOn = None,
    metrics: options.Metrics = None,
    plugin: options.Plugin = None,
    true: options.TrueColumn = Names.true,
    pred: options.PredColumns = None,
    scores: options.ScoresInstead = None,
    threshold: Annotated[
        str | None,
        options.option(
            "NUMBER|MODEL=NUMBER[,...]",
            "Scores of at least this are predicted as the positive class.",
            default="0.5 of probabilities",
        ),
    ] = None,
    positive: options.PositiveClass = None,
    lower_is_positive: options.LowerIsPositive = False,
    prevalence: options.Prevalence = None,
    weight: options.Weight = None,
    reading: options.ReadingOptions,
    judging: JudgeOptions,
    level: options.Level = "0.95",
    num: options.Num = None,
    seed: options.Seed = None,
    zero_division: options.ZeroDivision = "nan",
    format_: options.Format = None,
    output: options.FileOutput = None,
) -> None:
    """Compare the models of a file, two files, or evaluation logs: differences with confidence limits."""
    plug_in(plugin)
    columns, paths = options.column_names(by), [path, *(others or [])]
    delivery = read_delivery(format_, output, paths)
    of_models = options.predicted(pred)
    several = "models" in of_models
    judging.check(true)
    rows_read = reading.read(true, pred)
    if judging.judge is not None:
        given = {"scores": scores, "threshold": threshold, "weight": weight, "prevalence": prevalence}
        options.refuse("no such option with --judge", {**given, "num": num, "seed": seed})
        names = Names(
            **of_models,
            by=columns,
            clusters=ROW if several and paired_on is None else paired_on,
            positive=positive,
            **rows_read.names,
        )
        judged = compare_judged(
            paths,
            names,
            judging,
            metrics,
            has_pred=pred is not None,
            level=options.read_number("level", level),
            zero=options.read_number("zero-division", zero_division),
        )
        judged.write(delivery)
        return
    if not (columns or several or scores or rows_read.answers.as_table) and are_runs(paths, paired_on):
        unused = {"paired-on": paired_on, "positive": positive, "weight": weight, "num": num, "seed": seed}
        unused |= {"prevalence": prevalence, "zero-division": None if zero_division == "nan" else zero_division}
        options.refuse("no such option for evaluation logs", unused)
        from matrics._cli.compare_logs import compare_logs

        compare_logs(paths, metrics, options.read_number("level", level), delivery, rows_read.answers)
        return
    check_models(paths, columns, pred, scores=scores, several=several)
    other = paths[1] if len(paths) > 1 else None
    if paired_on in {*columns, true, *(pred or [Names.pred])}:
        raise ArgumentError(
            "paired_on", f"expected a column that is neither the model nor a label, got {quoted(paired_on)}"
        )
    if threshold is not None and not scores:
        raise ArgumentError("threshold", f"expected --scores with it, got {quoted(threshold)}")
    if lower_is_positive and not scores:
        raise ArgumentError("lower_is_positive", "expected --scores with it, columns of scores")
    names = Names(
        true=true,
        **of_models,
        by=columns,
        clusters=ROW if several and paired_on is None else paired_on,
        weight=weight,
        positive=positive,
        **rows_read.names,
    )
    chosen = ComparisonOptions(
        metrics or ["accuracy,mcc"],
        positive,
        options.read_number("level", level),
        options.read_integer("num", num),
        options.read_integer("seed", seed),
        options.read_number("zero-division", zero_division),
        prevalence,
    )
    if scores:
        unused = {"pred": ",".join(pred or ()), "weight": weight, "prevalence": prevalence}
        score_names = names_of_scores(scores, names, unused, has_other=other is not None)
        score_names = replace(score_names, lower_is_positive=lower_is_positive)
        several = several or bool(score_names.models)
        compared = compare_scores(path, score_names, chosen, threshold)
    else:
        compared = compare_file(path, names, chosen) if other is None else compare_files(paths, names, chosen)
    heading = ", ".join([MODEL] * several + list(columns)) or "file"
    delivery.write(lambda: comparison_result(compared, heading))


def check_models(
    paths: list[Path],
    columns: tuple[str, ...],
    pred: list[str] | None,
    *,
    scores: list[str] | None,
    several: bool,
) -> None:
    """Raise if it is not clear which models are compared: two files, the groups of a column, or several columns."""
    if len(paths) > 2:
        raise ValueError(f"{paths[2]}: expected one or two files, or evaluation logs, got {len(paths)} files")
    if len(paths) == 1 and not (columns or several or scores):
        raise ArgumentError(
            "by", "expected the column that identifies the model, several columns by --pred, or a second file, got none"
        )
    if len(paths) > 1 and several:
        raise ArgumentError("pred", f"expected one column with two files, each of one model, got {len(pred or ())}")
    if len(paths) > 1 and columns:
        raise ArgumentError(
            "by", f"expected no such option with two files, each of one model, got {quoted(','.join(columns))}"
        )


def compare_file(path: Path, names: Names, chosen: ComparisonOptions) -> Compared:
    """Compare the groups of a file of labels; ``names.clusters`` is the column of the samples, if they are paired."""
    chosen.check(names.clusters)
    labelled = read_labels(path, names, warns=False)
    if len(labelled.names) < 2:
        raise ArgumentError("by", f"expected at least two models to compare, got {len(labelled.names)}")
    of_true, n = labelled.sides[0], len(labelled.classes)
    models, predicted = np.divmod(np.unique(labelled.groups * n + labelled.pred), n)
    for model in range(len(labelled.names)) if names.order is None else ():  # of which each may have words of its own
        of_model = [labelled.classes[k] for k in predicted[models == model].tolist()]
        refuse_disjoint(str(path), of_true, of_model, names.labels)
    if names.order is None:
        warn_of_odd_labels(str(path), *labelled.sides)
    classes, metrics = _known(labelled.classes, chosen, ordered=labelled.ordered, apart=labelled.apart)
    titles = [
        f"{path}: {len(labelled.names)} models of {len(labelled.classes)} classes, {len(labelled.true):,} samples"
    ]
    if names.weight is not None:
        titles[0] += f", weighted by {names.weight}"
    about: dict[str, Any] = {"metrics": metrics, "classes": classes, "chosen": chosen, "files": [str(path)]}
    about |= {"samples": len(labelled.true), "paired_on": names.clusters}
    if names.clusters is None:
        verdicts, title = _alone(
            (labelled.groups, labelled.true, labelled.pred, labelled.weights), metrics, classes, chosen
        )
        return Compared(labelled.names, [*titles, title], verdicts, **about)
    both = joined(
        *(labelled.groups, labelled.samples, labelled.true, labelled.pred),
        names=labelled.names,
        sample_names=labelled.sample_names,
        column=names.clusters,
        weights=labelled.weights,
    )
    verdicts = _together(both, metrics, labelled.classes, chosen)
    number = len(np.unique(both.samples))
    titles.append(_of_same_samples(both.samples, names.clusters, chosen))
    return Compared(labelled.names, titles, verdicts, paired=number, **about)


def compare_scores(path: Path, names: ScoreNames, chosen: ComparisonOptions, thresholds: str | None) -> Compared:
    """Compare models by their scores for the same samples: measures of the scores, and those of their predictions."""
    chosen.check(names.clusters)
    source = read_scores(path, names)
    models, true, scores, samples = same_samples(source, str(names.clusters))
    verdicts = compared_scores(models, true, scores, samples, chosen.level, turned=True)
    known = source.known
    about = f"{counted(len(models), 'model')}, {counted(source.samples, 'sample')}; positive: {source.sides[1]}"
    titles = [f"{source.file}: {about}", _of_same_samples(samples, names.clusters, chosen)]
    at = _thresholds(thresholds, models, scores)
    metrics: dict[str, Metric] = {}
    if at is None:
        titles.append("no measures of predictions: scores are no probabilities, and no --threshold is given")
    else:
        metrics = measures(chosen.metrics, lambda: known)
        predictions = (scores >= source.directed(np.asarray(at))[:, None]).astype(np.int64)
        classes = tuple(map(str, known.labels or ()))
        verdicts += _together(Joined(true, predictions, samples, scores), metrics, classes, chosen)
        side = "at most " if source.lower_is_positive else ""
        titles.append(f"predictions from a score of {side}{', '.join(f'{x:.10g}' for x in dict.fromkeys(at))}")
    return Compared(
        models=models,
        titles=titles,
        verdicts=verdicts,
        metrics=metrics,
        classes=known,
        chosen=chosen,
        files=[str(path)],
        samples=source.samples,
        paired_on=names.clusters,
        paired=len(np.unique(samples)),
        thresholds=at,
    )


def names_of_scores(scores: list[str], names: Names, unused: dict[str, str | None], *, has_other: bool) -> ScoreNames:
    """The columns of the scores of models, and of their samples."""
    options.refuse("no such option with --scores", unused)
    if has_other:
        raise ArgumentError("scores", "expected one file with the scores of all models, got two files")
    parsed = ScoreNames.parse(scores, true=names.true, by=names.by, positive=names.positive)
    if not (parsed.models or names.by):
        raise ArgumentError(
            "scores", "expected a column of each model and --positive with it, or --by COLUMN of the models"
        )
    clusters = names.clusters or (ROW if parsed.models else None)
    if clusters is None:
        raise ArgumentError("paired_on", "expected the column of the samples with --scores and --by, got none")
    shared = {
        field: getattr(names, field) for field in ("missing", "encoding", "decimal", "na", "text_labels", "order")
    }
    return replace(parsed, clusters=clusters, **shared)


def _thresholds(text: str | None, models: list[str], scores: Array) -> list[float] | None:
    """The threshold of each model: one for all, or ``model=threshold`` of each; 0.5 of probabilities, if none is given.

    None for other scores.
    """
    if text is None:
        return [0.5] * len(models) if bool(((scores >= 0) & (scores <= 1)).all()) else None
    expected = "expected a number, or MODEL=NUMBER of each model with commas"
    parts = [part.rpartition("=") for part in text.split(",")]
    try:
        numbers = {name: float(number) for name, _, number in parts}
    except ValueError as error:
        raise ArgumentError("threshold", f"{expected}, got {quoted(text)}") from error
    if any(map(np.isnan, numbers.values())):
        raise ArgumentError("threshold", f"{expected}, got NaN")
    if list(numbers) == [""]:
        return [numbers[""]] * len(models)
    if set(numbers) != set(models) or len(parts) != len(models):
        raise ArgumentError("threshold", f"{expected} {', '.join(models)}, got {quoted(text)}")
    return [numbers[name] for name in models]


def compare_files(paths: list[Path], names: Names, chosen: ComparisonOptions) -> Compared:
    """Compare two files, each with the predictions of one model; ``names.clusters`` is the column that joins them."""
    chosen.check(names.clusters)
    if paths[0] == paths[1]:
        raise ValueError(f"{name_of(paths[1])}: expected another file than the first, got the same one twice")
    found = TwoFiles.read(paths, names)
    found.refuse_disjoint(names.labels)
    classes, metrics = _known(found.classes, chosen, ordered=found.ordered, apart=found.apart)
    counts = [len(one.true) for one in found.rows]
    weighted = "" if names.weight is None else f", weighted by {names.weight}"
    titles = [f"{' and '.join(found.files)}: {len(found.classes)} classes, {sum(counts):,} samples{weighted}"]
    about: dict[str, Any] = {"metrics": metrics, "classes": classes, "chosen": chosen, "files": list(found.files)}
    about |= {"samples": sum(counts), "paired_on": names.clusters}
    both = None if names.clusters is None else join(found, names.clusters)
    found.warn()  # after the errors, which are one line
    if both is None:
        true, pred = (np.concatenate(sides) for sides in zip(found.labels(0), found.labels(1), strict=True))
        weights = None if names.weight is None else np.concatenate([one.weights for one in found.rows])
        files = np.repeat([0, 1], counts)
        verdicts, title = _alone((files, true, pred, weights), metrics, classes, chosen)
        return Compared(list(found.files), [*titles, title], verdicts, **about)
    rows, only = both
    verdicts = _together(rows, metrics, found.classes, chosen)
    sides = zip(found.files, only, strict=True)
    left_out = tuple(f"left out {named(of_one)}, which only {file} has" for file, of_one in sides if of_one)
    titles.append(_of_same_samples(rows.samples, names.clusters, chosen))
    number = len(np.unique(rows.samples))
    return Compared(list(found.files), titles, verdicts, paired=number, left_out=left_out, **about)


def _known(
    labels: tuple[str, ...], chosen: ComparisonOptions, *, ordered: bool, apart: tuple[tuple[int, str], ...]
) -> tuple[Classes, dict[str, Metric]]:
    known = functools.partial(Classes.of, len(labels), labels, chosen.positive, ordered=ordered, apart=apart)
    metrics = measures(chosen.metrics, known)  # an error in the positive class names its option
    return known(), metrics


def _alone(
    rows: tuple[Array, Array, Array, Array | None],
    metrics: dict[str, Metric],
    known: Classes,
    chosen: ComparisonOptions,
) -> tuple[list[ModelVerdict], str]:
    """The verdicts on models with samples of their own, and a line about them.

    ``rows`` are the models, the true and the predicted classes and the weights.
    """
    chosen.refuse_draws()
    target, classes = Target.read(chosen.prevalence, known), tuple(map(str, known.labels or ()))
    models, true, pred, weights = rows
    n, number = len(classes), int(models.max()) + 1
    bins, shape = (models * n + true) * n + pred, (number, n, n)
    stack = np.bincount(bins, weights, number * n * n).reshape(shape)
    squares = None if weights is None else np.bincount(bins, weights**2, number * n * n).reshape(shape)
    given: dict[str, Any] = {"level": chosen.level, "zero_division": chosen.zero_division}
    if target is not None:
        given["prevalence"] = target.shares
    there = "" if target is None else f" {target.title}"
    verdicts = judged_alone(stack, metrics, classes, squared_weights=squares, **given)
    return verdicts, (
        f"{in_percent(chosen.level)} intervals{there}; models on different samples (for the same samples: "
        "--paired-on COLUMN)"
    )


def _of_same_samples(samples: Array, column: str | None, chosen: ComparisonOptions) -> str:
    number = len(np.unique(samples))
    same = f"on the same {number:,} samples ({column}){repeats(len(samples), number)}"
    return f"{same}; {in_percent(chosen.level)}, {chosen.drawn}"


def _together(
    rows: Joined,
    metrics: dict[str, Metric],
    classes: tuple[str, ...],
    chosen: ComparisonOptions,
) -> list[ModelVerdict]:
    """The verdicts on models with the same samples."""
    return judged_together(
        *rows[:3],
        metrics,
        classes,
        level=chosen.level,
        num=chosen.num,
        rng=chosen.seed or 0,
        zero_division=chosen.zero_division,
        sample_weight=rows.weights,
    )
