"""The pictures of a report, as elements of a page."""

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
LEAST_LABEL = 11  # pixels of the smallest text of a picture on the page; a narrower window scrolls the picture
MOST_COUNTED, MOST_WRITTEN = 4, 25  # classes whose cells have counts and shares, or shares
NARROW, COLUMN = 3.6, 3.05  # inches: a picture of one panel is drawn as wide as a phone shows it with such text
LARGEST = 1.45  # times its own size
REFERENCE = re.compile(r'(\s(?:id="|(?:xlink:)?href="#|(?:clip-path|mask|filter)="url\(#))(?=[\w.-])')
WIDE = 5.6  # inches, from which a picture has a row of its own
PRINTED = {400: 31, 500: 48, 600: 64}  # pixels, up to which a picture takes this percentage of the width of paper
FEW_MEASURES, FEW_MODELS = 3, 5
NEARLY_ONE = 0.95  # a rank correlation from which on measures tell the same
MOST_MEASURES = 45  # in the heat map of agreement


@dataclass(frozen=True)
class Picture:
    """One picture: its name, what it draws, its ``<svg>`` element for the page, and its caption."""

    name: str
    display: Display
    svg: str
    caption: str

    @property
    def width(self) -> float:
        """Its own width in pixels."""
        found = re.search(r'<svg [^>]*?\bwidth="([0-9.]+)pt"', self.svg)
        return 96 / 72 * float(found[1]) if found else 0.0

    @property
    def least(self) -> float:
        """The width in pixels in which its smallest text can be read."""
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: ?(?:\w+ )?([0-9.]+)px", self.svg)]
        return math.ceil(self.width * LEAST_LABEL / (96 / 72 * min(sizes))) if sizes else self.width

    @property
    def most(self) -> float:
        """The width in pixels beyond which it would only be coarser."""
        return round(max(self.least, LARGEST * self.width))

    @property
    def is_wide(self) -> bool:
        """Whether it has a row of its own."""
        return self.width > 96 * WIDE

    @property
    def printed_width(self) -> int:
        """The percentage of the width of paper on which its text can be read."""
        return next((part for most, part in PRINTED.items() if self.width <= most), 100)


@dataclass(frozen=True)
class Palette:
    """The pictures of a page, by section, and the declarations of their colours for light and for dark pages."""

    sections: dict[str, list[Picture]]
    light: str
    dark: str


def draw(data: Data, found: Findings, manner: IntervalSettings) -> dict[str, list[Picture]]:
    """All pictures, by the section of the page to which they belong."""
    return {
        "leaderboard": _forest(data, found, manner),
        "matrices": [] if data.are_passes else [*_heat_maps(data, found), *_difference(data, found, manner)],
        "measures": _agreement(found),
        "scores": [*_curves(data, found), *_calibration(data, found, manner)],
    }


def on_page(sections: dict[str, list[Picture]]) -> Palette:
    """The pictures with colours that follow those of the page."""
    changed, light, dark = in_variables(with_dark_images(one.svg) for one in _all(sections))
    new = iter(changed)
    return Palette(
        {name: [replace(one, svg=next(new)) for one in found] for name, found in sections.items()}, light, dark
    )


def _all(sections: dict[str, list[Picture]]) -> Iterable[Picture]:
    return (one for found in sections.values() for one in found)


def _picture(name: str, display: Display, caption: str) -> Picture:
    """A picture whose elements have unique names on a page with several pictures."""
    width, height = display.figure_.get_size_inches()
    if display.panels() == 1 and COLUMN < width <= NARROW:
        display.figure_.set_size_inches(COLUMN, height * (1 + COLUMN / width) / 2)
    with warnings.catch_warnings():
        # Characters that Matplotlib's font lacks stay text, which the browser draws with its own font.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        svg = display.svg()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)  # which the page has for all of them
    svg = re.sub(r"<[^>]+>", lambda tag: REFERENCE.sub(rf"\g<1>{name}-", tag[0]), svg)  # and not in texts
    return Picture(name, display, svg, caption)


def _forest(data: Data, found: Findings, manner: IntervalSettings) -> list[Picture]:
    if len(data.models) < 2:
        return []
    board = found.leaderboard
    chosen = [name for name in board.judged if not np.isnan(board.verdicts[name].estimate).all()][:MOST_FOREST]
    if not chosen:
        return []
    pictures = []
    level = in_percent(manner.level)
    models = _shown(board)
    some = (
        f" of the best {len(models)} of {len(data.models)} models"
        if len(models) < len(data.models)
        else " of the models"
    )
    # One picture for each measure, which a phone shows below each other; all have the order of the first.
    for measure, name in enumerate(chosen):
        verdict = board.verdicts[name]
        key = named(name, verdict.title, board.metrics[name])
        display = models_picture({key: _compared(verdict, models)}, names=distinct(data.models[k] for k in models))
        caption = f"{capital(verdict.title)}{some} with {level} limits, the best first by {board.title}."
        pictures.append(_picture(f"forest{measure + 1}", display, caption))
    return pictures


def _shown(board: Leaderboard) -> list[int]:
    """The compared models; or their better half, if the others would compress its scale until no limits are seen."""
    estimate = board.verdict.estimate[board.compared]
    known = [k for k, value in zip(board.compared, estimate, strict=True) if not math.isnan(value)]
    half = known[: max(len(board.tied), -(-len(known) // 2))]
    values = board.verdict.estimate
    squeezed = len(half) > 1 and abs(values[known[0]] - values[known[-1]]) > 4 * abs(
        values[known[0]] - values[half[-1]]
    )
    return half if squeezed and len(half) < len(known) else board.compared


def _compared(verdict: ModelVerdict, models: list[int]) -> ModelComparison:
    """A verdict on some models as the comparison that pictures take."""
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


def _heat_maps(data: Data, found: Findings) -> list[Picture]:
    pictures = []
    for place, k in enumerate(found.best):
        # With more classes counts would make it too wide for a row of two; the errors are counted in words.
        text: Any = {"text": "share"} if MOST_COUNTED < len(data.classes) <= MOST_WRITTEN else {}
        display = confusion_matrix(data.matrices[k], class_names=_class_names(data), top=0, **text)
        counts = "counts and " if display.text == "both" else ""
        inside = (
            f"; {counts}percentages of the true class are in the cells" if display.text in ("both", "share") else ""
        )
        caption = f"{short(data.models[k])}: correct predictions blue, errors orange, by their share{inside}."
        pictures.append(_picture(f"matrix{place + 1}", display, caption))
    return pictures


def _difference(data: Data, found: Findings, manner: IntervalSettings) -> list[Picture]:
    """The second best model less the best one."""
    # Tests of cells need counts, and independent samples.
    if len(found.best) < 2 or data.weighted is not None or repeats(data) > 1:
        return []
    best, other = found.best[:2]
    names = [short(data.models[best]), short(data.models[other])]
    options: dict[str, Any] = {"class_names": _class_names(data), "names": names, "level": manner.level}
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
        return []  # in words on the page, as a picture of nothing says no more
    caption = f"{names[1]} less {names[0]}, the best model; cells tested {tested}."
    return [_picture("difference", display, caption)]


def _agreement(found: Findings) -> list[Picture]:
    agreed = found.agreement
    # If all measures agree, or with few models, a picture has no more information than the numbers.
    if (
        agreed is None
        or not FEW_MEASURES <= len(agreed.names) <= MOST_MEASURES
        or len(found.leaderboard.order) < FEW_MODELS
    ):
        return []
    if np.nanmin(agreed.spearman, initial=1.0) > NEARLY_ONE:
        return []
    caption = (
        "Rank correlations (Spearman) of the measures over these models: 1 if they rank all models in the same order."
    )
    return [_picture("agreement", agreement(agreed), caption)]


def _curves(data: Data, found: Findings) -> list[Picture]:
    scores = data.scores
    if scores is None:
        return []
    chosen = found.leaderboard.order[:MOST_CURVES]
    some = f" of the best {len(chosen)} of {len(data.models)} models" if len(chosen) < len(data.models) else ""
    if len(scores.positives) > 1:
        true, values = scores.by_model[chosen[0]]
        names = distinct(data.classes)
        of_class = {
            names[k]: ((true == k).astype(np.int64), values[:, column]) for column, k in enumerate(scores.positives)
        }
        caption = f"ROC curves of {short(data.models[chosen[0]])}, of each class against the rest."
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
        _picture("roc", roc, f"ROC curves{some}; the diagonal is what guessing gives."),
        _picture(
            "precision-recall",
            precision,
            f"Precision and recall{some} at every threshold; thin lines have the same F1.",
        ),
    ]


def _sides(data: Data, positive: int) -> list[str]:
    """The names of the classes 0 and 1 of outcomes."""
    name = short(data.classes[positive])
    other = short(data.classes[1 - positive]) if len(data.classes) == 2 else "the rest"
    return [other if other != name else f"not {name}", name]


def _computed(sides: dict[str, tuple[NumPyArray, NumPyArray]], caption: str) -> list[Picture]:
    """ROC curves of outcomes and scores of different samples; no curve if all outcomes are the same."""
    curves = {name: roc_curve(*side) for name, side in sides.items() if 0 < side[0].sum() < len(side[0])}
    return [_picture("roc", curve(curves), caption)] if curves else []


def _calibration(data: Data, found: Findings, manner: IntervalSettings) -> list[Picture]:
    scores = data.scores
    if scores is None or not scores.are_probabilities:
        return []
    pictures = []
    for place, k in enumerate(found.leaderboard.order[:MOST_CALIBRATED]):
        true, values = scores.by_model[k]
        named: dict[str, Any] = {}
        if len(scores.positives) == 1:
            (positive,) = scores.positives
            outcome, y_prob = (true == positive).astype(np.int64), values[:, 0]
            named = {"class_names": _sides(data, positive), "positive": short(data.classes[positive])}
        else:
            outcome, y_prob = true, values[:, np.argsort(scores.positives)]
        display = calibration(outcome, y_prob, level=manner.level, **named)
        caption = f"Calibration of {short(data.models[k])}."
        if not place:
            smooth = "the shaded curve is a smooth fit with its limits, " if display.lines[0].smooth is not None else ""
            alone = " Both treat predictions of one sample as independent." if repeats(data) > 1 else ""
            caption = (
                f"{caption[:-1]}: below the diagonal probabilities are too high, above it too low. The bars are Wilson "
                f"limits, {smooth}and the histogram below counts predictions.{alone}"
            )
        pictures.append(_picture(f"calibration{place + 1}", display, caption))
    return pictures
