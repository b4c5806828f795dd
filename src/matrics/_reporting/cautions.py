"""Warnings and notes of a report: few samples, undefined values, different class sizes, random predictions."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from matrics._reporting.areas import ModelScores
from matrics._reporting.data import Data
from matrics._reporting.group_findings import shares_of_classes
from matrics._reporting.leaderboard import LEAST_NUM, IntervalSettings, Leaderboard, cells_of, repeats
from matrics._uncertainty.interval import interval
from matrics._uncertainty.results import IntervalStatus
from matrics._wording import amount, capital, counted, listed, number, percent, short, with_limits
from matrics.typing import NumPyArray

__all__ = ["Caution", "cautions"]

FEW_CLASSES = 20
FEW = 20  # samples of a class, below which limits are unreliable
RARE = 0.001  # p-value below which class proportions count as different
SHIFT = 0.05  # share of samples in other classes above which different class proportions matter
MOSTLY = 0.8  # share of the largest class above which accuracy is misleading
MOST_ALIKE = 5  # largest number of groups of models with the same matrix that are listed
MANY_MODELS = 5  # number of models above which the best value is biased upwards by the selection


class Caution(NamedTuple):
    """A warning about a misleading number, or a note on how to read the numbers.

    The first sentence is a separate field, because names in this sentence may contain full stops. ``about`` is the
    section of the page with the numbers.
    """

    severity: Literal["warning", "note"]
    first: str
    rest: str = ""
    about: str = ""

    @property
    def text(self) -> str:
        """All sentences."""
        return f"{self.first} {self.rest}".rstrip()


def cautions(
    data: Data,
    board: Leaderboard,
    scores: Sequence[ModelScores],
    same: Sequence[Sequence[str]],
    settings: IntervalSettings,
) -> list[Caution]:
    """All warnings, the warnings before the notes."""
    notices = [
        *(_about("leaderboard", _few_answers(data)) if data.are_passes else _about("classes", _few_samples(data))),
        *_about("leaderboard", _without_score(data)),
        *_about("leaderboard", _undefined(data, board)),
        *([] if data.are_passes else _about("matrices", _one_class(data))),
        *([] if data.judged is not None else _about("matrices", _shifts(data))),
        *([] if data.judged is not None else _about("methods", _of_pairing(data))),
        *_about("groups", _of_groups(data)),
        *_about("leaderboard", _of_the_comparison(data, board)),
        *([] if data.are_passes else _about("leaderboard", _at_chance(data, settings))),
        *_about("scores", _of_scores(data, scores)),
        *([] if data.judged is not None else _about("leaderboard", _alike(data, same))),
    ]
    if data.are_passes:  # the page has neither matrices nor classes
        notices = [
            caution._replace(about="leaderboard") if caution.about == "matrices" else caution for caution in notices
        ]
    return sorted(notices, key=lambda caution: caution.severity != "warning")


def _about(section: str, notices: Iterator[Caution]) -> Iterator[Caution]:
    return (caution._replace(about=section) for caution in notices)


def _few_samples(data: Data) -> Iterator[Caution]:
    smallest = data.sizes.min(axis=0)
    effective = "" if data.weighted is None else "effective "
    if data.paired is not None and repeats(data) > 1:  # a sample counts once, even if it was predicted several times
        pairs = np.unique(np.stack([data.paired.true, data.paired.samples]), axis=1)
        smallest = np.bincount(pairs[0], minlength=len(data.classes))
    few = [k for k in np.argsort(smallest, kind="stable") if smallest[k] < FEW]
    if few:
        parts = [f"{short(data.classes[k])} ({amount(smallest[k])})" for k in few]
        where = " in at least one model" if len(data.models) > 1 and data.paired is None else ""
        yield Caution(
            "warning",
            f"{counted(len(few), 'class')} {'has' if len(few) == 1 else 'have'} fewer than {FEW} {effective}samples"
            f"{where}: "
            f"{listed(parts)}.",
            "Their recalls and all averages over classes are uncertain, and their limits may be too narrow.",
        )
    distinct = data.totals.min() / repeats(data)
    be, what = "is" if distinct == 1 else "are", f"{effective or 'distinct '}sample"
    n = len(data.classes)
    if distinct < FEW * n * n:
        yield Caution(
            "note",
            f"There {be} {counted(distinct, what)} for {counted(n * n, 'cell')} of a matrix. Below {FEW} for each "
            "cell, limits of measures other than proportions may be too narrow.",
        )
    never = [
        f"{data.classes[k]} by {data.models[model]}"
        for model, matrix in enumerate(data.matrices)
        for k in np.flatnonzero((matrix.sum(axis=0) == 0) & (matrix.sum(axis=1) > 0))
    ]
    if never:
        yield Caution("warning", f"Classes without predictions, whose precision is undefined: {listed(never)}.")


def _few_answers(data: Data) -> Iterator[Caution]:
    """A warning about few answers: these have no classes, but their limits need samples."""
    distinct = float(data.totals.min() / repeats(data))
    if distinct < FEW:
        yield Caution(
            "warning",
            f"A model has fewer than {FEW} answers: {amount(distinct)}.",
            "Their limits may be too narrow.",
        )


def _without_score(data: Data) -> Iterator[Caution]:
    """A warning about answers that have no score: refused, failed or unparsable."""
    runs = data.origin.answered
    if not runs:
        return
    several = len({run["scorer"] for run in runs}) > 1
    parts = []
    for run in runs:
        name = f"{short(run['run'])} ({short(run['scorer'])})" if several else short(run["run"])
        share, low, high = with_limits(run["share"], run["low"], run["high"])
        missing = f"{run['answers'] - run['scored']:,} of {run['answers']:,}"
        parts.append(f"{missing} of {name} (answered: {share}, {low} to {high})")
    yield Caution(
        "warning",
        f"Answers without a score: {listed(parts)}.",
        "A model that does not answer hard questions is not better. If missing scores count as 0 (missing_score), all "
        "models have the same samples.",
    )


def _undefined(data: Data, board: Leaderboard) -> Iterator[Caution]:
    for name, verdict in board.verdicts.items():
        missing = [data.models[k] for k in np.flatnonzero(np.isnan(verdict.estimate))]
        if missing:
            reason = board.metrics[name].undefined
            yield Caution(
                "warning",
                f"{capital(verdict.title)} is undefined for {listed(missing)}.",
                f"It is undefined in these cases: {reason}.",
            )


def _at_chance(data: Data, settings: IntervalSettings) -> Iterator[Caution]:
    """A warning about models whose lower limit is not above the value of random predictions with the same shares."""
    totals = np.maximum(data.matrices.sum((-2, -1)), 1)
    if len(data.classes) <= FEW_CLASSES:
        lows, guessed = _lows(data, "mcc", settings), np.zeros(len(data.models))
    else:  # limits of MCC take long with many classes
        lows = _lows(data, "accuracy", settings)
        guessed = (data.matrices.sum(-1) * (data.matrices.sum(-2) / totals[:, None])).sum(-1) / totals
    at_chance = lows <= guessed
    names = [data.models[k] for k in np.flatnonzero(at_chance)]
    if names:
        yield Caution(
            "warning",
            f"Not significantly better than guessing: {listed(names)}.",
            "Differences between these models may be due to chance." if len(names) > 1 else "",
        )


def _lows(data: Data, measure: str, settings: IntervalSettings) -> NumPyArray:
    """The lower limits of all models; repeated samples are treated as clusters."""
    if repeats(data) == 1:
        squares = None if data.weighted is None else data.weighted.squares
        (limits,) = interval(data.matrices, measure, level=settings.level, squared_weights=squares, workers=-1).values()
        return np.asarray(limits.low)
    lows = []
    for model in range(len(data.models)):
        cells, options = cells_of(data, model)
        (limits,) = interval(cells, measure, level=settings.level, **options).values()
        lows.append(float(limits.low))
    return np.asarray(lows)


def _one_class(data: Data) -> Iterator[Caution]:
    sizes = data.matrices.sum(axis=(0, -1))
    share = sizes.max() / max(sizes.sum(), 1)
    if share >= MOSTLY:
        name = short(data.classes[int(sizes.argmax())])
        yield Caution(
            "warning",
            f"{percent(share)} of the samples are of class {name}: always predicting it gives an accuracy of "
            f"{number(share)}.",
            "Prefer balanced accuracy or MCC to accuracy here.",
        )


def _shifts(data: Data) -> Iterator[Caution]:
    if data.weighted is not None:  # the tests need counts
        return
    sizes = data.matrices.sum(axis=-1)
    totals = sizes.sum(axis=-1)
    if len(set(totals.tolist())) > 1:
        low, high = int(totals.argmin()), int(totals.argmax())
        yield Caution(
            "warning",
            f"Models have different numbers of samples, from {amount(totals[low])} ({short(data.models[low])}) to "
            f"{amount(totals[high])} ({short(data.models[high])}): they were not scored on the same samples.",
        )
    if data.paired is None:
        yield from _shifted("models", list(data.models), sizes, data.classes)
    groups = shares_of_classes(data)
    column = "" if data.groups is None else short(data.groups.column)
    # Each sample counts once, as repeated samples and predictions of several models have the same true class.
    times = repeats(data) * (len(data.models) if data.paired is not None or data.same_labels else 1)
    names = [f"{column} {name}" for name, _ in groups]
    yield from _shifted("groups", names, [counts / times for _, counts in groups], data.classes)


def _shifted(what: str, names: Sequence[str], sizes: Sequence[NumPyArray], classes: Sequence[str]) -> Iterator[Caution]:
    """A warning if the shares of the true classes differ significantly and by a relevant amount."""
    table = np.asarray([counts for counts in sizes if counts.sum() > 0], np.float64)
    if len(table) < 2 or (table.sum(axis=0) > 0).sum() < 2:
        return
    stats = importlib.import_module("scipy.stats")
    p_value = float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False).pvalue)
    shares, pooled = table / table.sum(axis=1, keepdims=True), table.sum(axis=0) / table.sum()
    moved = np.abs(shares - pooled).sum(axis=1) / 2
    if p_value >= RARE or moved.max() < SHIFT:
        return
    k = int(np.ptp(shares, axis=0).argmax())
    kept = [name for name, counts in zip(names, sizes, strict=True) if counts.sum() > 0]
    low, high = int(shares[:, k].argmin()), int(shares[:, k].argmax())
    yield Caution(
        "warning",
        f"The shares of the true classes differ significantly between {what}: class {short(classes[k])} is "
        f"{percent(shares[low, k])} of the samples of {short(kept[low])}, and {percent(shares[high, k])} of the "
        f"samples of {short(kept[high])}.",
        "Do not use measures that depend on class sizes for this comparison.",
    )


def _of_pairing(data: Data) -> Iterator[Caution]:
    times = repeats(data)
    if data.paired is not None and times > 1:
        number_of = data.paired.number
        yield Caution(
            "note",
            f"Each model predicted each of the {number_of:,} samples {times:.3g} times. Predictions of the same sample "
            "are not independent, so intervals and comparisons treat samples, not rows, as independent. Few repeats "
            "are not enough to estimate the variation between trainings, such as between seeds or folds.",
        )
    if data.same_labels:
        yield Caution(
            "note",
            "All models have the same true labels in the same order, so they probably predicted the same samples. They "
            "were compared as if their samples were different, which detects fewer differences. If a column "
            "identifies the samples, name it (paired_on).",
        )
    elif data.paired is None and len(data.models) > 1 and data.rows is not None:
        yield Caution(
            "note",
            "The models were compared as if their samples were different. If models share samples, or samples occur "
            "several times, name the column that identifies the samples (paired_on).",
        )


def _of_groups(data: Data) -> Iterator[Caution]:
    if data.groups is None:
        return
    sizes = data.groups.matrices.sum(axis=(-2, -1)).max(axis=0) / repeats(data)
    filled = sizes > 0
    few = [k for k in np.argsort(sizes, kind="stable") if 0 < sizes[k] < FEW]
    if few:
        parts = [f"{short(data.groups.names[k])} ({amount(sizes[k])})" for k in few]
        yield Caution(
            "warning",
            f"{counted(len(few), 'group')} {'has' if len(few) == 1 else 'have'} fewer than {FEW} samples: "
            f"{listed(parts)}.",
            "Values of small groups are uncertain, and their limits may be too narrow.",
        )
    if filled.sum() > 2:
        yield Caution(
            "note",
            f"The best and the worst of {int(filled.sum())} groups also differ by chance. The test of their "
            "difference is therefore corrected for all pairs of groups (Bonferroni).",
        )
    if repeats(data) > 1:
        yield Caution(
            "warning",
            "Limits of groups are too narrow, as they treat the predictions of the same sample as independent; "
            "significant differences between groups may be due to chance.",
        )


def _of_the_comparison(data: Data, board: Leaderboard) -> Iterator[Caution]:
    models = len(data.models)
    if models >= MANY_MODELS:
        yield Caution(
            "warning",
            f"The best of {models:,} models was chosen by its value on these samples, so this value is likely to be "
            "too high.",
            "Score the chosen model again on new samples.",
        )
    if len(board.compared) < models:
        tied = len(board.tied)
        yield Caution(
            "warning" if tied == len(board.compared) else "note",
            f"Only the {len(board.compared)} models with the best {board.title} were compared with each other"
            + (
                ", and none of these is significantly worse than the best. Some of the other models may not be either."
                if tied == len(board.compared)
                else "."
            ),
        )
    if 0 < board.num < LEAST_NUM:
        yield Caution(
            "warning",
            f"Models were compared with only {counted(board.num, 'replicate')}, so the significant differences depend "
            "on the seed.",
            f"Use {LEAST_NUM:,} replicates or more (num).",
        )
    if len(board.judged) < len(board.verdicts):
        judged = listed(board.titles(board.judged))
        others = listed(board.titles(name for name in board.verdicts if name not in board.judged))
        yield Caution(
            "note",
            f"With {len(data.classes)} classes, limits and comparisons were computed for {judged} only; "
            f"they would take minutes for {others}.",
        )
    code = int(max(board.verdict.status[board.compared], default=0))
    status = next(member for member in IntervalStatus if member == code)
    if status > IntervalStatus.FEW_SAMPLES:
        yield Caution("note", f"Limits of {board.title} of at least one model: {status.sentence}.")


def _of_scores(data: Data, scores: Sequence[ModelScores]) -> Iterator[Caution]:
    if data.scores is None:
        return
    if not data.scores.are_probabilities:
        yield Caution(
            "note", "The scores are not probabilities, so calibration, log loss and Brier score are not shown."
        )
    unknown = [measures.model for measures in scores if math.isnan(measures.roc_auc)]
    if unknown:
        yield Caution(
            "warning",
            f"The ROC area of {listed(unknown)} is undefined: a class contains none of the samples, or all samples.",
        )
    infinite = [measures.model for measures in scores if math.isinf(measures.log_loss)]
    if infinite:
        yield Caution(
            "warning",
            f"The log loss of {listed(infinite)} is infinite: the true class of a sample had the probability 0.",
        )
    if data.from_scores:
        yield Caution("note", data.from_scores)


def _alike(data: Data, same: Sequence[Sequence[str]]) -> Iterator[Caution]:
    for family in same:
        yield Caution(
            "note",
            f"{capital(listed(family))} rank all {len(data.models)} models in the same order, so here these "
            f"{len(family)} measures are a single piece of evidence.",
        )
    by_matrix: dict[bytes, list[str]] = {}
    for name, matrix in zip(data.models, data.matrices, strict=True):
        by_matrix.setdefault(np.ascontiguousarray(matrix).tobytes(), []).append(name)
    alike = [names for names in by_matrix.values() if len(names) > 1]
    for names in alike[:MOST_ALIKE]:
        yield Caution("note", f"{listed(names)} have the same confusion matrix: are they the same predictions?")
    if len(alike) > MOST_ALIKE:
        yield Caution("note", f"The models of {len(alike) - MOST_ALIKE} more groups also have the same matrix.")
