"""The pictures of a report as SVG elements of the page."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrics._catalogue.naming import named
from matrics._plot.agreement import agreement
from matrics._plot.calibration import calibration
from matrics._plot.confusion import confusion_matrix
from matrics._plot.curve import curve
from matrics._plot.difference import difference
from matrics._plot.display import Display
from matrics._plot.models import models as models_picture
from matrics._ranking.curves import roc_curve
from matrics._reporting.dark import in_variables, with_dark_images
from matrics._reporting.data import Data
from matrics._reporting.findings import Findings
from matrics._reporting.leaderboard import IntervalSettings, Leaderboard, repeats
from matrics._reporting.verdicts import ModelVerdict
from matrics._uncertainty.joint import joint_confusion_matrix
from matrics._uncertainty.results import Comparison, Interval, ModelComparison
from matrics._wording import capital, distinct, in_percent, short
from matrics.typing import NumPyArray

__all__ = ["Palette", "Picture", "draw", "on_page"]

MOST_FOREST = 3  # measures in the forest plot
MOST_CURVES = 8  # the number of models in a picture of curves
MOST_CALIBRATED = 4
LEAST_LABEL = 11  # pixels, of the smallest text on the page; in a narrower window the picture scrolls
MOST_COUNTED, MOST_WRITTEN = 4, 25  # numbers of classes up to which cells contain counts and shares, or shares
NARROW, COLUMN = 3.6, 3.05  # inches: pictures of a single panel are drawn for the width of a phone
LARGEST = 1.45  # factor of the largest magnification
REFERENCE = re.compile(r'(\s(?:id="|(?:xlink:)?href="#|(?:clip-path|mask|filter)="url\(#))(?=[\w.-])')
WIDE = 5.6  # inches: wider pictures have a row of their own
PRINTED = {400: 31, 500: 48, 600: 64}  # percentages of the width of paper for pictures up to so many pixels
FEW_MEASURES, FEW_MODELS = 3, 5
SAME_RANKS = 0.95  # a rank correlation above which measures give the same information
MOST_MEASURES = 45  # in the heat map of agreement


@dataclass(frozen=True)
class Picture:
    """A picture: its name, its display, its ``<svg>`` element for the page, and its caption."""

    name: str
    display: Display
    svg: str
    caption: str

    @property
    def width(self) -> float:
        """The width in pixels without magnification."""
        match = re.search(r'<svg [^>]*?\bwidth="([0-9.]+)pt"', self.svg)
        return 96 / 72 * float(match[1]) if match else 0.0

    @property
    def least(self) -> float:
        """The smallest width in pixels with readable text."""
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: ?(?:\w+ )?([0-9.]+)px", self.svg)]
        return math.ceil(self.width * LEAST_LABEL / (96 / 72 * min(sizes))) if sizes else self.width

    @property
    def most(self) -> float:
        """The largest useful width in pixels."""
        return round(max(self.least, LARGEST * self.width))

    @property
    def is_wide(self) -> bool:
        """Whether the picture has a row of its own."""
        return self.width > 96 * WIDE

    @property
    def printed_width(self) -> int:
        """The percentage of the width of paper with readable text."""
        return next((part for most, part in PRINTED.items() if self.width <= most), 100)


@dataclass(frozen=True)
class Palette:
    """The pictures of a page by section, and the declarations of their colours for light and dark pages."""

    sections: dict[str, list[Picture]]
    light: str
    dark: str


def draw(data: Data, findings: Findings, settings: IntervalSettings) -> dict[str, list[Picture]]:
    """All pictures, by the section of the page to which they belong."""
    return {
        "leaderboard": _forest(data, findings, settings),
        "matrices": [] if data.are_passes else [*_heat_maps(data, findings), *_difference(data, findings, settings)],
        "measures": _agreement(findings),
        "scores": [*_curves(data, findings), *_calibration(data, findings, settings)],
    }


def on_page(sections: dict[str, list[Picture]]) -> Palette:
    """The pictures with colours that follow those of the page."""
    changed, light, dark = in_variables(with_dark_images(picture.svg) for picture in _all(sections))
    new = iter(changed)
    return Palette(
        {name: [replace(picture, svg=next(new)) for picture in pictures] for name, pictures in sections.items()},
        light,
        dark,
    )


def _all(sections: dict[str, list[Picture]]) -> Iterable[Picture]:
    return (picture for pictures in sections.values() for picture in pictures)


def _picture(name: str, display: Display, caption: str) -> Picture:
    """A picture whose elements have unique names on a page with several pictures."""
    width, height = display.figure_.get_size_inches()
    if display.panels() == 1 and COLUMN < width <= NARROW:
        display.figure_.set_size_inches(COLUMN, height * (1 + COLUMN / width) / 2)
    with warnings.catch_warnings():
        # Characters that Matplotlib's font lacks remain text, and browsers use another font for them.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        svg = display.svg()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)  # the style sheet of the page replaces them
    svg = re.sub(r"<[^>]+>", lambda tag: REFERENCE.sub(rf"\g<1>{name}-", tag[0]), svg)  # only in tags
    return Picture(name, display, svg, caption)


def _forest(data: Data, findings: Findings, settings: IntervalSettings) -> list[Picture]:
    if len(data.models) < 2:
        return []
    board = findings.leaderboard
    chosen = [name for name in board.judged if not np.isnan(board.verdicts[name].estimate).all()][:MOST_FOREST]
    if not chosen:
        return []
    pictures = []
    level = in_percent(settings.level)
    models = _shown(board)
    some = (
        f" of the best {len(models)} of {len(data.models)} models"
        if len(models) < len(data.models)
        else " of the models"
    )
    # A picture for each measure, as narrow screens have no room for several panels. All have the order of the first.
    for measure, name in enumerate(chosen):
        verdict = board.verdicts[name]
        key = named(name, verdict.title, board.metrics[name])
        display = models_picture({key: _compared(verdict, models)}, names=distinct(data.models[k] for k in models))
        caption = f"{capital(verdict.title)}{some} with {level} limits, sorted by {board.title} (best first)."
        pictures.append(_picture(f"forest{measure + 1}", display, caption))
    return pictures


def _shown(board: Leaderboard) -> list[int]:
    """The compared models; or their better half, if the others would compress the scale and hide the limits."""
    estimate = board.verdict.estimate[board.compared]
    known = [k for k, value in zip(board.compared, estimate, strict=True) if not math.isnan(value)]
    half = known[: max(len(board.tied), -(-len(known) // 2))]
    values = board.verdict.estimate
    squeezed = len(half) > 1 and abs(values[known[0]] - values[known[-1]]) > 4 * abs(
        values[known[0]] - values[half[-1]]
    )
    return half if squeezed and len(half) < len(known) else board.compared


def _compared(verdict: ModelVerdict, models: list[int]) -> ModelComparison:
    """A verdict on some models as a ModelComparison, which pictures need."""
    estimate, low, high, status, tied = (
        part[models] for part in (verdict.estimate, verdict.low, verdict.high, verdict.status, verdict.tied)
    )
    nothing = np.full((len(models),), math.nan)
    pairs = np.full((len(models), len(models)), math.nan)
    interval = Interval(estimate, low, high, nothing, np.zeros(len(models), int), status)
    return ModelComparison(interval, Comparison(pairs, pairs, pairs, pairs, pairs, pairs), nothing, tied)


def _class_names(data: Data) -> list[str]:
    """The displayed names of the classes."""
    return distinct(data.classes)


def _heat_maps(data: Data, findings: Findings) -> list[Picture]:
    pictures = []
    for place, k in enumerate(findings.best):
        # Counts of more classes would make the picture too wide for two in a row; the text has the counts of errors.
        text: Any = {"text": "share"} if MOST_COUNTED < len(data.classes) <= MOST_WRITTEN else {}
        display = confusion_matrix(data.matrices[k], class_names=_class_names(data), top=0, **text)
        counts = "counts and " if display.text == "both" else ""
        inside = f"; cells contain {counts}percentages of the true class" if display.text in ("both", "share") else ""
        caption = (
            f"{short(data.models[k])}: correct predictions in blue, errors in orange, stronger for larger shares of "
            f"the true class{inside}."
        )
        pictures.append(_picture(f"matrix{place + 1}", display, caption))
    return pictures


def _difference(data: Data, findings: Findings, settings: IntervalSettings) -> list[Picture]:
    """The matrix of the second best model minus that of the best model."""
    # Tests of cells need counts, and independent samples.
    if len(findings.best) < 2 or data.weighted is not None or repeats(data) > 1:
        return []
    best, other = findings.best[:2]
    names = [short(data.models[best]), short(data.models[other])]
    options: dict[str, Any] = {"class_names": _class_names(data), "names": names, "level": settings.level}
    if data.paired is None:
        display = difference(data.matrices[best], data.matrices[other], **options)
        tested = "by Fisher's exact test"
    else:
        _, first = np.unique(data.paired.samples, return_index=True)
        rows = np.sort(first)
        true, pred = data.paired.true[rows], data.paired.pred[:, rows]
        joint = joint_confusion_matrix(true, pred[best], pred[other], num_classes=len(data.classes))
        display = difference(joint=joint, **options)
        tested = "by McNemar's exact test"
    if not display.beyond_chance.any():
        return []  # the page has a sentence instead
    caption = f"{names[1]} minus {names[0]} (the best model); cells were tested {tested}."
    return [_picture("difference", display, caption)]


def _agreement(findings: Findings) -> list[Picture]:
    agreed = findings.agreement
    # With few models, or if all measures agree, a picture shows no more than the numbers.
    if (
        agreed is None
        or not FEW_MEASURES <= len(agreed.names) <= MOST_MEASURES
        or len(findings.leaderboard.order) < FEW_MODELS
    ):
        return []
    if np.nanmin(agreed.spearman, initial=1.0) > SAME_RANKS:
        return []
    caption = (
        "Rank correlations (Spearman) of the measures over these models: 1 if two measures rank all models in the same "
        "order."
    )
    return [_picture("agreement", agreement(agreed), caption)]


def _curves(data: Data, findings: Findings) -> list[Picture]:
    scores = data.scores
    if scores is None:
        return []
    chosen = findings.leaderboard.order[:MOST_CURVES]
    some = f" of the best {len(chosen)} of {len(data.models)} models" if len(chosen) < len(data.models) else ""
    if len(scores.positives) > 1:
        true, values = scores.by_model[chosen[0]]
        names = distinct(data.classes)
        of_class = {
            names[k]: ((true == k).astype(np.int64), values[:, column]) for column, k in enumerate(scores.positives)
        }
        caption = f"ROC curves of {short(data.models[chosen[0]])}, for each class against the rest."
        return _computed(of_class, caption)
    positive = scores.positives[0]
    of_model = [scores.by_model[k] for k in chosen]
    sides = [((true == positive).astype(np.int64), values[:, 0]) for true, values in of_model]
    names = distinct(data.models[k] for k in chosen)
    if data.paired is None:
        return _computed(dict(zip(names, sides, strict=True)), f"ROC curves{some}.")
    by_name = dict(zip(names, (values for _, values in sides), strict=True))
    named: dict[str, Any] = {"class_names": _sides(data, positive), "positive": short(data.classes[positive])}
    roc = curve(sides[0][0], by_name, **named)
    precision = curve(sides[0][0], by_name, kind="precision_recall", **named)
    return [
        _picture("roc", roc, f"ROC curves{some}; random guessing lies on the diagonal."),
        _picture(
            "precision-recall",
            precision,
            f"Precision and recall{some} at every threshold; thin lines connect points with the same F1.",
        ),
    ]


def _sides(data: Data, positive: int) -> list[str]:
    """The names of the negative and of the positive class."""
    name = short(data.classes[positive])
    other = short(data.classes[1 - positive]) if len(data.classes) == 2 else "the rest"
    return [other if other != name else f"not {name}", name]


def _computed(sides: dict[str, tuple[NumPyArray, NumPyArray]], caption: str) -> list[Picture]:
    """ROC curves of outcomes and scores of different samples, without curves of a single outcome."""
    curves = {name: roc_curve(*side) for name, side in sides.items() if 0 < side[0].sum() < len(side[0])}
    return [_picture("roc", curve(curves), caption)] if curves else []


def _calibration(data: Data, findings: Findings, settings: IntervalSettings) -> list[Picture]:
    scores = data.scores
    if scores is None or not scores.are_probabilities:
        return []
    pictures = []
    for place, k in enumerate(findings.leaderboard.order[:MOST_CALIBRATED]):
        true, values = scores.by_model[k]
        named: dict[str, Any] = {}
        if len(scores.positives) == 1:
            (positive,) = scores.positives
            outcome, y_prob = (true == positive).astype(np.int64), values[:, 0]
            named = {"class_names": _sides(data, positive), "positive": short(data.classes[positive])}
        else:
            outcome, y_prob = true, values[:, np.argsort(scores.positives)]
        display = calibration(outcome, y_prob, level=settings.level, **named)
        caption = f"Calibration of {short(data.models[k])}."
        if not place:
            smooth = "the shaded curve is a smooth fit with limits, " if display.lines[0].smooth is not None else ""
            alone = " The limits treat predictions of the same sample as independent." if repeats(data) > 1 else ""
            caption = (
                f"{caption[:-1]}: probabilities are too high below the diagonal, and too low above it. The bars are "
                f"Wilson limits, {smooth}and the histogram shows the numbers of predictions.{alone}"
            )
        pictures.append(_picture(f"calibration{place + 1}", display, caption))
    return pictures
