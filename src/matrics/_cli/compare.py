"""``matrics compare``: the models of a file, two files, or evaluation logs.

Models are compared on the same samples, which a column identifies, or each on samples of its own.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._cli import options
from matrics._cli.judged import compare_judged
from matrics._cli.judged_files import JudgeOptions
from matrics._cli.matrices import are_passes, are_runs, opened
from matrics._cli.measures import Target, measures, plug_in
from matrics._cli.paired import TwoFiles, is_read_log, join, named, path_name, repeats
from matrics._cli.verdicts import (
    Compared,
    ComparisonOptions,
    compared_scores,
    comparison_result,
    same_samples,
)
from matrics._cli.writers import read_delivery
from matrics._errors import ArgumentError
from matrics._files.label_rows import Labelled, read_labels
from matrics._files.names import Names
from matrics._files.notices import refuse_disjoint, say, warn_of_odd_labels
from matrics._files.rows import name_of
from matrics._files.scores import ScoreNames, read_scores
from matrics._files.wide import MODEL, ROW
from matrics._quoting import quoted
from matrics._reporting.verdicts import ModelVerdict, judged_alone, judged_together
from matrics._tables.samples import Joined, joined
from matrics._wording import counted, in_percent

if TYPE_CHECKING:
    from matrics._catalogue.record import Metric
    from matrics._files.inputs import Input

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
            "Samples with a score of at least this number are predicted as positive.",
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
        delivery.write(lambda: judged)
        return
    if not (columns or several or scores or rows_read.answers.as_table) and are_runs(paths, paired_on):
        unused = {"paired-on": paired_on, "positive": positive, "weight": weight, "num": num, "seed": seed}
        unused |= {"prevalence": prevalence, "zero-division": None if zero_division == "nan" else zero_division}
        options.refuse("no such option for evaluation logs", unused)
        from matrics._cli.compare_logs import compare_logs

        compare_logs(paths, metrics, options.read_number("level", level), delivery, rows_read.answers)
        return
    check_models(paths, columns, pred, scores=scores, several=several)
    inputs = [opened(each, rows_read.answers) for each in paths]
    if metrics is None and true == Names.true and any(map(are_passes, inputs)):
        say(f"{name_of(path)}: the answers of the log only pass or fail; the accuracy is the pass rate")
        metrics = ["accuracy"]
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
        score_names = names_of_scores(scores, names, unused, has_other=len(paths) > 1)
        score_names = replace(score_names, lower_is_positive=lower_is_positive)
        several = several or bool(score_names.models)
        chosen.check(score_names.clusters)
        compared = compare_scores(path, score_names, chosen, threshold)
    else:
        chosen.check(names.clusters)
        compared = compare_labels(inputs, names, chosen)
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


class Models(NamedTuple):
    """The labels of models, each with samples of its own, and joined if a column identifies the samples of all."""

    names: list[str]
    title: str
    classes: Classes
    metrics: dict[str, Metric]
    groups: Array  # the model of each row
    true: Array
    pred: Array
    weights: Array | None
    joined: Joined | None
    left_out: tuple[str, ...] = ()


def compare_labels(given: list[Path | Input], names: Names, chosen: ComparisonOptions) -> Compared:
    """Compare the groups of a file of labels, or two files; ``names.clusters`` is the column of the samples."""
    models = read_groups(given[0], names, chosen) if len(given) == 1 else read_files(given, names, chosen)
    weighted = "" if names.weight is None else f", weighted by {names.weight}"
    titles = [f"{models.title}, {len(models.true):,} samples{weighted}"]
    if models.joined is None:
        verdicts, title = _alone(models, chosen)
    else:
        verdicts = _together(models.joined, models.metrics, models.classes, chosen)
        title = _of_same_samples(models.joined.samples, names.clusters, chosen)
    return Compared(
        models=models.names,
        titles=[*titles, title],
        verdicts=verdicts,
        metrics=models.metrics,
        classes=models.classes,
        chosen=chosen,
        files=models.names if len(given) > 1 else [path_name(given[0])],
        samples=len(models.true),
        paired_on=names.clusters,
        paired=None if models.joined is None else len(np.unique(models.joined.samples)),
        left_out=models.left_out,
    )


def read_groups(given: Path | Input, names: Names, chosen: ComparisonOptions) -> Models:
    """The models of a file: the groups of its rows."""
    labelled, path = read_labels(given, names, warns=False), path_name(given)
    if len(labelled.names) < 2:
        raise ArgumentError("by", f"expected at least two models to compare, got {len(labelled.names)}")
    if names.order is None:
        n = len(labelled.classes)
        models, predicted = np.divmod(np.unique(labelled.groups * n + labelled.pred), n)
        for model in range(len(labelled.names)):  # each model may have labels that no other model predicts
            of_model = [labelled.classes[k] for k in predicted[models == model].tolist()]
            refuse_disjoint(path, labelled.sides[0], of_model, names.labels)
        if not is_read_log(given):
            warn_of_odd_labels(path, *labelled.sides)
    rows = (labelled.groups, labelled.true, labelled.pred)
    both = names.clusters and joined(
        *(labelled.groups, labelled.samples, labelled.true, labelled.pred),
        names=labelled.names,
        sample_names=labelled.sample_names,
        column=names.clusters,
        weights=labelled.weights,
    )
    title = f"{path}: {len(labelled.names)} models of {len(labelled.classes)} classes"
    return Models(labelled.names, title, *_measured(labelled, chosen), *rows, labelled.weights, both or None)


def read_files(paths: list[Path | Input], names: Names, chosen: ComparisonOptions) -> Models:
    """Two files, each with the predictions of a model; rows of samples that only one file has are left out."""
    if path_name(paths[0]) == path_name(paths[1]):
        raise ValueError(f"{path_name(paths[1])}: expected two different files, got the same file twice")
    files = TwoFiles.read(paths, names)
    files.refuse_disjoint(names.labels)
    measured = _measured(files, chosen)
    both, only = (None, ([], [])) if names.clusters is None else join(files, names.clusters)
    files.warn()  # after the errors, so that an error is the only line on stderr
    groups = np.repeat([0, 1], [len(labelled.true) for labelled in files.rows])
    true, pred = (np.concatenate(sides) for sides in zip(files.labels(0), files.labels(1), strict=True))
    weights = None if names.weight is None else np.concatenate([labelled.weights for labelled in files.rows])
    title = f"{' and '.join(files.files)}: {len(files.classes)} classes"
    sides = zip(files.files, only, strict=True)
    left_out = tuple(f"left out {named(samples)}, which only {file} has" for file, samples in sides if samples)
    return Models(list(files.files), title, *measured, groups, true, pred, weights, both, left_out)


def _measured(labels: Labelled | TwoFiles, chosen: ComparisonOptions) -> tuple[Classes, dict[str, Metric]]:
    """The classes of the labels, and the measures of the option for these classes."""
    number = len(labels.classes)
    known = functools.partial(
        Classes.of, number, labels.classes, chosen.positive, ordered=labels.ordered, apart=labels.apart
    )
    metrics = measures(chosen.metrics, known)  # calls it, so that an error in the positive class names its option
    return known(), metrics


def _alone(models: Models, chosen: ComparisonOptions) -> tuple[list[ModelVerdict], str]:
    """The verdicts on models with samples of their own, and a line about them."""
    chosen.refuse_draws()
    target = Target.read(chosen.prevalence, models.classes)
    n, number = models.classes.number, int(models.groups.max()) + 1
    bins, shape = (models.groups * n + models.true) * n + models.pred, (number, n, n)
    weights = models.weights
    stack = np.bincount(bins, weights, number * n * n).reshape(shape)
    squares = None if weights is None else np.bincount(bins, weights**2, number * n * n).reshape(shape)
    given: dict[str, Any] = {"level": chosen.level, "zero_division": chosen.zero_division}
    if target is not None:
        given["prevalence"] = target.shares
    there = "" if target is None else f" {target.title}"
    verdicts = judged_alone(stack, models.metrics, models.classes.texts, squared_weights=squares, **given)
    return verdicts, (
        f"{in_percent(chosen.level)} intervals{there}; models on different samples (for the same samples: "
        "--paired-on COLUMN)"
    )


def _of_same_samples(samples: Array, column: str | None, chosen: ComparisonOptions) -> str:
    number = len(np.unique(samples))
    same = f"on the same {number:,} samples ({column}){repeats(len(samples), number)}"
    return f"{same}; {in_percent(chosen.level)}, {chosen.drawn}"


def _together(
    rows: Joined, metrics: dict[str, Metric], classes: Classes, chosen: ComparisonOptions
) -> list[ModelVerdict]:
    """The verdicts on models with the same samples."""
    return judged_together(
        *rows[:3],
        metrics,
        classes.texts,
        level=chosen.level,
        num=chosen.num,
        rng=chosen.seed or 0,
        zero_division=chosen.zero_division,
        sample_weight=rows.weights,
    )


def compare_scores(path: Path, names: ScoreNames, chosen: ComparisonOptions, thresholds: str | None) -> Compared:
    """Compare models by their scores for the same samples: measures of the scores, and those of their predictions."""
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
        verdicts += _together(Joined(true, predictions, samples, scores), metrics, known, chosen)
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
    """The threshold of each model: the same for all, or ``model=threshold`` of each; by default 0.5 of probabilities.

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
