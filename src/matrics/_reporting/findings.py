"""The contents of a report: facts, sentences, and values of models, classes and groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matrics._reporting.areas import ModelScores, best_area, model_scores
from matrics._reporting.cautions import Caution, cautions
from matrics._reporting.classes import (
    Detection,
    Limitation,
    MeasureProperties,
    ModelClasses,
    Winner,
    compared_measures,
    detection,
    duplicates,
    hardest_classes,
    limitations,
    measure_properties,
    model_classes,
    winners,
)
from matrics._reporting.data import Data
from matrics._reporting.group_findings import ModelGroups, model_groups
from matrics._reporting.leaderboard import (
    PASS_RATE,
    IntervalSettings,
    Leaderboard,
    leaderboard,
    leaderboard_of_judge,
    repeats,
)
from matrics._reporting.methods import methods
from matrics._reporting.verdicts import Limited
from matrics._study.agreement import Agreement
from matrics._wording import amount, capital, counted, listed, short

__all__ = ["Findings", "compute_findings", "facts"]


BEST_MODELS = 3  # models whose classes and groups are shown
SHARE_OF_PASSES = "Share of the answers that pass."
FEW_CLASSES = 50  # with more, the matrices of fewer models are shown


@dataclass(frozen=True)
class Findings:
    """The results of a report as plain values.

    Parameters
    ----------
    summary : list of str
        Three sentences: the data, the best model, and the first warning.
    read : list of str
        Sentences that describe the data.
    leaderboard : Leaderboard
        All measures of all models.
    detection : Detection or None
        Sensitivity, specificity and predictive values of all models, for two classes of which one is positive.
    best : list of int
        The models that are shown in detail, the best first.
    classes : list of ModelClasses
        The worst classes and most frequent errors of each of these models.
    hardest : list of str
        Sentences on the classes with the lowest recall in several models.
    winners : list of Winner
        The best model by each measure.
    measures : list of MeasureProperties
        The summary, the range and the limitations of each measure.
    limitations : list of Limitation
        Each limitation, with the measures that have it.
    agreement : Agreement or None
        The agreement of the measures about the models.
    scores : list of ModelScores
        The measures of the scores of each model.
    best_area : str
        A sentence on the model with the largest area under the ROC curve; empty unless all scored the same samples.
    groups : list of ModelGroups
        The differences between groups.
    cautions : list of Caution
        Warnings and notes.
    methods : str
        A paragraph to paste into a paper.
    references : list of str
        The references of the paragraph on methods.
    """

    summary: list[str]
    read: list[str]
    leaderboard: Leaderboard
    detection: Detection | None
    best: list[int]
    classes: list[ModelClasses]
    hardest: list[str]
    winners: list[Winner]
    measures: list[MeasureProperties]
    limitations: list[Limitation]
    agreement: Agreement | None = field(repr=False)
    scores: list[ModelScores]
    best_area: str
    groups: list[ModelGroups]
    cautions: list[Caution]
    methods: str
    references: list[str]


def compute_findings(data: Data, metrics: Any, settings: IntervalSettings, version: str) -> Findings:
    """Compute everything that a report shows."""
    judged = data.judged
    board = (
        leaderboard(data, metrics, settings) if judged is None else leaderboard_of_judge(data, judged.verdict, metrics)
    )
    best = board.order[: BEST_MODELS if len(data.classes) <= FEW_CLASSES else 2]
    agreed = compared_measures(data, board)
    scores = model_scores(data, settings)
    won = winners(data, board)
    notices = cautions(data, board, scores, duplicates(agreed), settings)
    measures = [measure_properties(verdict.title, board.metrics[name]) for name, verdict in board.verdicts.items()]
    if data.are_passes:
        measures = [replace(of, summary=SHARE_OF_PASSES) if of.measure == PASS_RATE else of for of in measures]
    of_areas = best_area(data, settings)
    paragraph, references = methods(data, board, settings, version, scores, compares_areas=bool(of_areas))
    return Findings(
        summary=_summary(data, board, won, notices),
        read=_read(data),
        leaderboard=board,
        detection=None if data.are_passes else detection(data, scores, settings),
        best=best,
        classes=[] if data.are_passes else [model_classes(data, k, settings) for k in best],
        hardest=hardest_classes(data, board.tied),
        winners=won,
        measures=measures,
        limitations=[] if data.are_passes else limitations(measures),
        agreement=agreed,
        scores=scores,
        best_area=of_areas,
        groups=model_groups(data, best, board, settings),
        cautions=notices,
        methods=paragraph,
        references=references,
    )


def _summary(data: Data, board: Leaderboard, won: list[Winner], notices: list[Caution]) -> list[str]:
    """The sentences on the data, on the best model and on the warnings."""
    return [_what(data), _which(data, board, won), _beware(notices)]


def _what(data: Data) -> str:
    predictions = data.predictions.sum()
    models = counted(len(data.models), "model")
    sizes = models if data.are_passes else f"{models} over {counted(len(data.classes), 'class')}"
    made = "were" if predictions != 1 else "was"
    what = "answer" if data.are_passes else "prediction"
    samples = ""
    if data.paired is not None:
        same = "the same " if len(data.models) > 1 else ""
        samples = f", on {same}{counted(data.paired.number, 'sample')}"
    return f"{counted(float(predictions), what)} of {sizes} {made} scored{samples}."


def _which(data: Data, board: Leaderboard, won: list[Winner]) -> str:
    verdict, first = board.verdict, board.order[0]
    if verdict.best is None:
        if len(data.models) == 1:
            return f"{capital(board.title)} is undefined for the model."
        return f"{capital(board.title)} is undefined for all models, so they are not ranked."
    known = Limited(float(verdict.estimate[first]), float(verdict.low[first]), float(verdict.high[first]))
    value = f"{board.title} {known.text}"
    if len(data.models) == 1:
        return f"The model has {value}."
    name = short(data.models[first])
    others = [data.models[k] for k in board.tied if k != first]
    undefined = int(np.isnan(verdict.estimate).sum())
    if others:
        tied = f", and is not significantly different from {listed(others, 4)}"
    elif undefined == len(data.models) - 1:
        tied = f"; {board.title} is undefined for {'the other model' if undefined == 1 else 'all other models'}"
    else:
        compared = " that was compared" if len(board.compared) < len(data.models) else ""
        compared = " for which it is defined" if undefined else compared
        tied = f", significantly better than every other model{compared}"
    against = [winner.measure for winner in won if not winner.agrees and winner.is_significant]
    also = f"; by {listed(against)} another model is significantly better" if against else ""
    return f"{name} is best, with {value}{tied}{also}."


def _beware(notices: list[Caution]) -> str:
    warnings = [caution for caution in notices if caution.severity == "warning"]
    if not warnings:
        return "There are no warnings" + ("; the notes explain how to read the numbers." if notices else ".")
    first = warnings[0].first.rstrip(".")
    rest = f" (and {counted(len(warnings) - 1, 'more warning')})" if len(warnings) > 1 else ""
    return f"Beware{rest}: {first[0].lower() if first[1:2].islower() else first[0]}{first[1:]}."


def _read(data: Data) -> list[str]:
    """Sentences that describe the data."""
    sizes = data.predictions
    sentences = []
    if data.rows is not None:
        sentences.append(f"{counted(data.rows, 'row')} of {data.origin.name}, each with a single prediction.")
        if data.origin.left_out:
            be = "was" if data.origin.left_out == 1 else "were"
            sentences.append(f"{counted(data.origin.left_out, 'further row')} with missing values {be} left out.")
        if data.by:
            sentences.append(f"The models are named in the column{'s' if ', ' in data.by else ''} {data.by}.")
    else:
        sentences.append(f"{counted(len(data.models), 'confusion matrix').replace('matrixs', 'matrices')}.")
    unit, low, high = "answer" if data.are_passes else "prediction", float(sizes.min()), float(sizes.max())
    each = counted(low, unit) if low == high else f"{amount(low)} to {counted(high, unit)}"
    classes = "the pass rate is their accuracy" if data.are_passes else counted(len(data.classes), "class")
    sentences.append(f"{counted(len(data.models), 'model')} with {each} each; {classes}.")
    if data.judged is not None:
        ends = dict.fromkeys(amount(float(end)) for end in (data.judged.labelled.min(), data.judged.labelled.max()))
        sentences.append(
            f"{data.judged.judge} graded all answers, and {data.judged.human} graded {' to '.join(ends)} of each "
            f"model; the pass rates are corrected for the errors of {data.judged.judge}."
        )
    if data.paired is not None:
        number_of = data.paired.number
        times = repeats(data)
        often = f"; each model predicted each sample {times:.3g} times" if times > 1 else ""
        sentences.append(
            f"All models predicted the same {counted(number_of, 'sample')} (identified by {data.paired.column}){often}."
        )
    if data.weighted is not None:
        ends = dict.fromkeys(amount(round(float(end))) for end in (data.totals.min(), data.totals.max()))
        sentences.append(
            f"Samples are weighted (column {data.weighted.column}): the effective number of samples of a model, "
            f"(Σ w)² / Σ w², is {' to '.join(ends)}. Tests of single cells and of class sizes are left out, as they "
            "need counts."
        )
    if data.groups is not None:
        sentences.append(
            f"{counted(len(data.groups.names), 'group')} by {data.groups.column}: {listed(data.groups.names)}."
        )
    if data.scores is not None:
        what = [data.classes[k] for k in data.scores.positives]
        kind = "probabilities" if data.scores.are_probabilities else "scores"
        sentences.append(f"There are {kind} of {'class' if len(what) == 1 else 'classes'} {listed(what)}.")
    return sentences


def facts(data: Data) -> dict[str, str]:
    """The facts at the top of the page with their names, in this order."""
    sizes = data.predictions
    if data.paired is not None:
        samples = amount(data.paired.number) + (", the same for all models" * (len(data.models) > 1))
    else:
        ends = [amount(float(end)) for end in (sizes.min(), sizes.max())]
        several = " of each model" if len(data.models) > 1 else ""
        samples = ends[0] + several if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}{several}"
    values = {
        "Data": short(data.origin.name),
        "Date": data.origin.date.partition(" ")[0],
        "Models": amount(len(data.models)),
        "Samples": samples,
        "Classes": "" if data.are_passes else amount(len(data.classes)),
        "Positive class": "" if data.are_passes else _positive(data),
        "Threshold": "" if data.threshold is None else f"{data.threshold:g}, as no predicted labels were given",
    }
    return {name: value for name, value in values.items() if value}


def _positive(data: Data) -> str:
    """The name of the positive class; two classes without it have a note, as measures are then averages of both."""
    if data.known.positive is not None:
        return short(data.classes[data.known.positive])
    return "none (averages are over both classes)" if len(data.classes) == 2 else ""
