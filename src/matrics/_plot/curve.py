"""Curves of scores: measures at every threshold, ROC and precision-recall."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matrics._catalogue.classes import TWO, Classes
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._plot.curve_bands import Band, bands_of_models
from matrics._plot.curve_data import (
    CurveLine,
    curve_name,
    equal_values,
    in_units_of_scores,
    lines_of_scores,
    measures_of,
    read_computed,
    read_scores,
    refuse_with_computed,
    single_measure,
    steps,
    with_mark,
)
from matrics._plot.curve_inset import draw_corner
from matrics._plot.curve_lines import BEHIND, draw_equal_values
from matrics._plot.lines import (
    LEGEND_LINE,
    LinesDisplay,
    cut_name,
    draw_band,
    draw_crowd,
    draw_line,
    legend_below,
    line_styles,
    lines_to_name,
)
from matrics._plot.style import FAINT, tidy
from matrics._quoting import quoted
from matrics._ranking.curves import PrecisionRecallCurve, RocCurve
from matrics._ranking.positive import directed
from matrics._ranking.thresholds import ThresholdCurve
from matrics._uncertainty.options import check_level
from matrics._wording import REVERSED, limits, listed, percentage, significant
from matrics._wording import number as worded
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CurveDisplay", "curve"]

MOST_PANELS = 12
LONGEST_LABEL = 50  # characters of a line of the legend
SUMMARIES = {"roc": "AUC", "precision_recall": "AP", "threshold": "best"}
RATES = {"roc": ("false positive rate", "recall"), "precision_recall": ("recall", "precision")}
AREAS = {"roc": "; AUC is the area under it", "precision_recall": "; AP is the average precision"}
AXES = {
    "roc": ("false positive rate", "true positive rate (recall)"),
    "precision_recall": ("recall", "precision"),
}
CLINICAL = {
    "roc": ("1 \N{MINUS SIGN} specificity", "sensitivity"),
    "precision_recall": ("sensitivity", "positive predictive value"),
}
PlotStyle = Literal["default", "clinical"]
Curves = ThresholdCurve | RocCurve | PrecisionRecallCurve


@dataclass(eq=False, repr=False)
class CurveDisplay(LinesDisplay):
    """Curves of models, as from :func:`matrics.plot.curve`.

    Parameters
    ----------
    kind : {"roc", "precision_recall", "threshold"}
        The kind of curve.
    lines : list of list of CurveLine
        The curves of each panel: of each model, or of each measure of a single model.
    bands : list of list of Band
        The pointwise limits of the curves; empty lists without bands.
    measures : list of str
        The measures against the threshold.
    titles : list of str
        The titles of the panels.
    named : list of int
        The indices of the lines with a name in each panel; the others are grey.
    prevalence : float
        The share of positive samples; NaN if it is not known, or differs between curves.
    iso : Metric or None
        The measure of the lines of equal value; None without lines.
    level : float or None
        The level of the bands; None without bands.
    best_of : str or None
        The title of the measure whose best threshold is marked; None without a mark.
    ranges : list of tuple of float
        The smallest and the largest value of the measures of each panel.
    positive : str
        The name of the positive class, if it was passed.
    sides : Classes
        The two classes of the curve, as titles call them.
    threshold : float or None
        The given threshold that is marked.
    style : {"default", "clinical"}
        How the axes are named.
    lower_is_positive : bool
        Whether samples with at most a threshold are predicted as positive, and not those with at least it.
    """

    kind: str
    lines: list[list[CurveLine]]
    bands: list[list[Band]]
    measures: list[str]
    titles: list[str]
    named: list[int]
    prevalence: float = np.nan
    iso: Metric | None = None
    level: float | None = None
    best_of: str | None = None
    ranges: list[tuple[float, float]] = field(default_factory=list)
    positive: str = ""
    sides: Classes = TWO
    threshold: float | None = None
    style: PlotStyle = "default"
    lower_is_positive: bool = False

    def panels(self) -> int:
        """The number of measures for several models; otherwise 1."""
        return len(self.lines)

    def panel_size(self) -> tuple[float, float]:
        """The width of a column of a paper, and a height with room for the legend."""
        rows = len(self.named) + 1 + (len(self.named) < len(self.lines[0])) + (self.iso is not None)
        rows += sum(bool(self._mark_label(self.lines[0][k])) for k in self.named)
        height = 3.2 if self.kind != "threshold" else 2.5
        return (3.5 if self.panels() == 1 else 2.6), height + LEGEND_LINE * rows / self.grid()[0]

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the curves of each panel, and a common legend."""
        handles: list[Any] = []
        for number, axes in enumerate(panels):
            tidy(axes, grid="" if self.iso is not None else "both")
            reference_handles = self._draw_behind(axes)
            line_handles = self._draw_lines(axes, number)
            self._name_axes(axes, number)
            self._draw_corner(axes, number)
            if number == 0:
                handles = [*line_handles, *reference_handles]
        legend_below(panels, handles, owns_figure=self.owns_figure)

    def _draw_behind(self, axes: Axes) -> list[Any]:
        """Draw lines of equal values and of random guessing; return their handles for the legend."""
        handles = []
        if self.iso is not None and np.isfinite(self.prevalence):
            values = draw_equal_values(axes, self.kind, self.prevalence, self.iso)
            if values:
                of = (
                    ""
                    if self.iso.name == "f1" and self.kind == "precision_recall"
                    else f" at prevalence {significant(self.prevalence, 2)}"
                )
                handles += axes.plot(
                    [], [], color=BEHIND, linewidth=0.8, linestyle=":", label=f"equal {self.iso.title(self.sides)}{of}"
                )
        if self.kind == "roc":
            axes.plot([0, 1], [0, 1], color=BEHIND, linewidth=1.0, zorder=1.55)
            handles += axes.plot([], [], color=BEHIND, linewidth=1.0, label="guessing")
        elif self.kind == "precision_recall" and np.isfinite(self.prevalence):
            axes.axhline(self.prevalence, color=BEHIND, linewidth=1.0, zorder=1.55)
            label = f"guessing: the share of positives, {significant(self.prevalence, 2)}"
            handles += axes.plot([], [], color=BEHIND, linewidth=1.0, label=label)
        return handles

    def _draw_lines(self, axes: Axes, number: int) -> list[Any]:
        lines, named = self.lines[number], self.named
        draw_crowd(axes, [self._corners(line) for k, line in enumerate(lines) if k not in named and not line.problem])
        handles = []
        for style, k in zip(line_styles(len(named), on_grey=len(named) < len(lines)), named, strict=True):
            line = lines[k]
            if self.bands[number] and not line.problem:
                band = self.bands[number][k]
                draw_band(axes, band.x, band.low, band.high, style, num_lines=self.panels() * len(named))
            if line.problem:
                (handle,) = axes.plot([], [], linestyle="none", label=self._label(line))
            else:
                options: dict[str, Any] = (
                    {} if self.kind == "threshold" else {"marker": ""}
                )  # markers would look like thresholds
                handle = draw_line(
                    axes,
                    *self._corners(line),
                    style,
                    self._label(line),
                    num_lines=self.panels() * len(named),
                    **options,
                )
            handles.append(handle)
            if line.best is not None and np.isfinite(line.x[line.best]):
                (mark,) = axes.plot(
                    line.x[line.best], line.y[line.best], marker=style.marker, markersize=8, color=style.colour,
                    markerfacecolor="white", markeredgewidth=1.6, linestyle="none", zorder=4, clip_on=False,
                    label=self._mark_label(line),
                )  # fmt: skip
                handles += [mark] * bool(self._mark_label(line))
        if len(named) < len(lines):
            from matplotlib.lines import Line2D

            best = "best values" if self.kind == "threshold" else f"highest {SUMMARIES[self.kind]}"
            label = f"{len(lines) - len(named)} others; named are the {len(named)} with the {best}"
            handles.append(Line2D([], [], color=FAINT, linewidth=0.8, label=label))
        return handles

    def _draw_corner(self, axes: Axes, number: int) -> None:
        """Enlarge the corner in which good models overlap."""
        lines = [self.lines[number][k] for k in self.named]
        if len(self.named) < len(self.lines[number]) or any(line.problem for line in lines):
            return
        draw_corner(axes, self.kind, [self._corners(line) for line in lines], line_styles(len(lines), on_grey=False))

    def _corners(self, line: CurveLine) -> tuple[NumPyArray, NumPyArray]:
        """The points of the drawn line: a ROC curve is linear between points, other curves have steps."""
        if self.kind == "roc":
            return line.x, line.y
        if self.kind == "precision_recall":
            return steps(line.x, line.y)
        known = np.isfinite(line.x)
        own = partial(directed, lower_is_positive=self.lower_is_positive)
        x, y = steps(own(line.x[known])[::-1], line.y[known][::-1])
        return own(x), y

    def _from(self, threshold: float, digits: int = 3) -> str:
        """The scores that are predicted as positive: from a threshold on, or up to it."""
        number = f"{threshold:.{digits}g}"
        return f"up to {number}" if self.lower_is_positive else f"from {number} on"

    def _label(self, line: CurveLine) -> str:
        """The name of a line in the legend, shortened, with its value."""
        value_label = self._value_label(line)
        name = cut_name(line.name, max(14, LONGEST_LABEL - len(value_label)))
        return ": ".join(part for part in (name, value_label) if part) or "curve"

    def _value_label(self, line: CurveLine) -> str:
        """The value of a line for the legend."""
        if line.problem:
            return line.problem
        if self.kind == "threshold" and self.panels() > 1:
            return ""
        value_label = ""
        if not np.isnan(line.summary):
            value_label = f"{SUMMARIES[self.kind]} {limits(line.summary, line.low, line.high)}"
        if self.kind == "threshold" and line.best is not None:
            threshold = line.thresholds[line.best]
            value_label += (
                f" {self._from(threshold)}" if np.isfinite(threshold) else " where nothing is predicted as positive"
            )
        return value_label

    def _mark_label(self, line: CurveLine) -> str:
        """The legend of the mark on a ROC curve or a precision-recall curve; empty without a mark."""
        if self.kind == "threshold" or line.best is None:
            return ""
        if self.best_of is not None:
            return f"best {self.best_of}: {self._from(line.thresholds[line.best])}"
        x, y = (CLINICAL if self.style == "clinical" else RATES)[self.kind]
        at_x = line.x[line.best]
        if x.startswith("1"):
            x, at_x = "specificity", 1 - at_x
        where = self._from(float("nan") if self.threshold is None else self.threshold, 4)
        return f"{where}: {y} {worded(float(line.y[line.best]))}, {x} {worded(float(at_x))}"

    def _name_axes(self, axes: Axes, number: int) -> None:
        if self.kind != "threshold":
            words = (CLINICAL if self.style == "clinical" else AXES)[self.kind]
            x, y = (f"{name} of {self.positive}" if self.positive else name for name in words)
            axes.set(xlabel=x, ylabel=y, xlim=(-0.015, 1.015), ylim=(-0.015, 1.015), aspect="equal")
            return
        side = "up to this score" if self.lower_is_positive else "from this score on"
        axes.set_xlabel("threshold" + f": positive {side}" * (self.panels() == 1))
        has_own_name = len(self.measures) == 1 or self.panels() > 1
        axes.set_ylabel(self.measures[number] if has_own_name else "value")
        finite = [line.x[np.isfinite(line.x)] for line in self.lines[number]]
        scores = np.concatenate([*finite, np.empty(0)])
        if scores.size and scores.max() > scores.min():  # nothing changes beyond the scores
            room = 0.015 * (scores.max() - scores.min())
            axes.set_xlim(scores.min() - room, scores.max() + room)
        low, high = self.ranges[number]
        if np.isfinite(low) and np.isfinite(high):
            values = np.concatenate([*(line.y[np.isfinite(line.y)] for line in self.lines[number]), [0.0]])
            room = 0.02 * (high - low)
            axes.set_ylim((0 if low < 0 <= values.min() else max(low, values.min())) - room, high + room)

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        kind = {"roc": "ROC", "precision_recall": "precision-recall"}.get(self.kind, "")
        number = len(self.lines[0])
        if kind:
            area = AREAS[self.kind] * any(np.isfinite(line.summary) for line in self.lines[0])
            models = f" of {number} models or classes" if number > 1 else ""
            parts_of_summary = [
                f"{kind} curve{'s' * (number > 1)}{models}{f' for {self.positive}' if self.positive else ''}{area}."
            ]
        else:
            parts_of_summary = [
                f"{', '.join(self.measures)} at every threshold{f', of {number} models' if self.panels() > 1 else ''}."
            ]
        for panel, lines in zip(self.titles, self.lines, strict=True):
            parts = [text for k in self.named if (text := self._line_in_words(lines[k], panel))]
            parts_of_summary += ["; ".join(parts) + "."] * bool(parts)
        if len(self.named) < number:
            parts_of_summary.append(f"The other {number - len(self.named)} are grey lines.")
        if self.kind == "precision_recall" and np.isfinite(self.prevalence):
            parts_of_summary.append(f"{percentage(self.prevalence)}% of the samples are positive.")
        sentences = [" ".join(parts_of_summary)]
        if any(np.isfinite(line.low) for line in self.lines[0]):
            sentences.append(f"Brackets have {0.95 if self.level is None else self.level:.0%} limits.")
        reversed_ = [line.name or "the curve" for line in self.lines[0] if self.kind == "roc" and line.high < 0.5]
        sentences += [f"{listed(reversed_)}: {REVERSED} (lower_is_positive=True)."] * bool(reversed_)
        if self.level is not None:
            sentences.append(
                f"Bands are pointwise {self.level:.0%} limits from resampled samples: each holds for one "
                "place, not for the whole curve."
            )
        return " ".join(sentences)

    def _line_in_words(self, line: CurveLine, panel: str) -> str:
        if line.problem:
            return f"{line.name or 'the curve'} is undefined: {line.problem}"
        values = "; ".join(part for part in (self._value_label(line), self._mark_label(line)) if part)
        label = ": ".join(part for part in (line.name, values) if part)
        if self.kind == "threshold" and self.panels() > 1 and line.best is not None:
            label = f"{panel} of {line.name}: best {worded(line.summary)} {self._from(line.thresholds[line.best])}"
        return label


def curve(
    y_true: ArrayLike | Curves | Mapping[str, Curves],
    y_score: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    kind: str | Metric | Iterable[str | Metric] | None = None,
    names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    iso: str | Metric | bool | None = None,
    best: str | Metric | bool | None = None,
    threshold: float | None = None,
    style: PlotStyle = "default",
    level: float | None = None,
    num: int = 1000,
    rng: Any = None,
    width: float | None = None,
    ax: Any = None,
) -> CurveDisplay:
    """Draw measures against the threshold, a ROC curve or a precision-recall curve, of a single model or several.

    Measures and precision are drawn in steps, as they do not change between two scores; the ROC curve is linear between
    points, in agreement with the area under it. Up to eight lines have names; of more lines, the five with the best
    values have names, and the others are grey. If several good curves turn in the same corner, it is enlarged.

    Parameters
    ----------
    y_true : array_like of int, bool or text, shape (N,)
        True labels, of text with ``positive``; or, without ``y_score``, a computed curve: a
        :class:`matrics.results.ThresholdCurve`, :class:`matrics.results.RocCurve` or
        :class:`matrics.results.PrecisionRecallCurve`, or a mapping of names to such curves.
    y_score : array_like of floating numbers, shape (N,), (M, N) or (N, n), or mapping of str to such, optional
        Scores of class 1, of a single model or of M models; or of n classes, each compared with the rest.
    kind : {"roc", "precision_recall"}, measure or several measures, optional
        The kind of curve; ``"roc"`` if left out, and ``"pr"`` is ``"precision_recall"``. Measures as in
        :func:`matrics.ranking.threshold_curve`, against the threshold; with several models each measure has its own
        panel.
    names : sequence of str, optional
        The names of the curves.
    class_names : sequence of str, optional
        Names of the classes, in their order, which is that of the columns of ``y_score``.
    positive : str or int, optional
        The label of the positive class, against the rest: a label of ``y_true``, or of ``class_names`` if given. Class
        1 if left out, or of n classes each against the rest.
    lower_is_positive : bool, default False
        Whether scores are lower in the positive class, as those of a test whose low values mean an illness. For scores
        of a single class. A computed curve has to be of such scores.
    iso : str, Metric or bool, optional
        Behind a ROC or a precision-recall curve: lines on which this measure has the same value, for the share of
        positive samples of the data. F1 for precision and recall if left out; False for none.
    best : str, Metric or bool, optional
        The measure whose best threshold is marked. The measure itself against the threshold if left out, and none on
        other curves; False for none.
    threshold : float, optional
        Samples with at least this score are predicted as positive, or with at most this score where
        ``lower_is_positive``: its point on a ROC or a precision-recall curve is marked, in place of the best threshold
        of a measure.
    style : {"default", "clinical"}, default "default"
        How the axes of a ROC or a precision-recall curve are named: by false positive rate and recall, or as in
        clinical studies by 1 minus specificity, sensitivity and positive predictive value.
    level : float, optional
        Draw bands of this level, such as 0.95: quantiles of curves of resampled samples (bootstrap), at each threshold,
        false positive rate or recall separately. None if left out: there are no bands, and areas have 95 % limits.
    num : int, default 1000
        Number of resampled curves.
    rng : numpy.random.Generator, torch.Generator, key of JAX, or int, optional
        Where random numbers come from, or a seed.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, or array of them, optional
        The axes to draw on, an Axes for each panel; a new figure if left out.

    Returns
    -------
    CurveDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError, ValueError
        Labels, scores, names or measures do not fit; there are more than 12 panels; or an option needs data that a
        precomputed curve does not have: bands, or the best threshold of another measure.

    Examples
    --------
    >>> import matrics.plot
    >>> y_true, y_score = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.6, 0.9]
    >>> print(matrics.plot.curve(y_true, y_score).describe())
    ROC curve; AUC is the area under it. AUC 0.889 [0.262, 0.995]. Brackets have 95% limits.
    >>> display = matrics.plot.curve(y_true, y_score, kind="f1", level=0.9, rng=0)
    >>> print(display.describe()[:72])
    f1 of class 1 at every threshold. f1 of class 1: best 0.857 from 0.3 on.
    >>> y_true = ["ok", "ok", "fraud", "ok", "fraud", "fraud"]
    >>> print(matrics.plot.curve(y_true, y_score, kind="pr", positive="fraud").describe()[:73])
    precision-recall curve for fraud; AP is the average precision. AP 0.917 [
    """
    if style not in ("default", "clinical"):
        raise ArgumentError("style", f"expected 'default' or 'clinical', got {quoted(style)}")
    if y_score is None:
        refuse_with_computed(kind, best, level)
        curve_kind, measures, models = read_computed(y_true, names, lower_is_positive=lower_is_positive)
        prevalence, bands, sides = np.nan, None, TWO
    else:
        kind = curve_name(kind)
        level_of_areas = 0.95 if level is None else check_level(level)
        scores = read_scores(y_true, y_score, names, class_names, positive, lower_is_positive=lower_is_positive)
        sides = scores[0].sides
        measures = measures_of("roc" if kind is None else kind, sides)
        curve_kind = "threshold" if measures else "roc" if kind is None else str(kind)
        best = best if measures or best is None or isinstance(best, bool) else single_measure(best, "best", sides)
        if measures and not (best is None or isinstance(best, bool)):
            raise ValueError("best: expected True or False, as each measure has its own best threshold")
        models = lines_of_scores(scores, curve_kind, measures, best, level_of_areas)
        shares = {float(model.y_true.mean()) for model in scores if not model.problem}
        prevalence = shares.pop() if len(shares) == 1 else np.nan
        bands = bands_of_models(scores, curve_kind, measures, level, num, rng) if level is not None else None
    if threshold is not None:
        own = _checked_threshold(threshold, curve_kind, best)
        own = directed(own, lower_is_positive=lower_is_positive)
        models = [[line if line.problem else with_mark(line, own) for line in lines] for lines in models]
    if lower_is_positive:
        models = [[in_units_of_scores(line, curve_kind) for line in lines] for lines in models]
        bands = bands and [[in_units_of_scores(band, curve_kind) for band in of_model] for of_model in bands]
    display = _display(
        curve_kind, measures, models, bands, prevalence, equal_values(iso, curve_kind, prevalence, sides), level,
        best.title(sides) if isinstance(best, Metric) else None,
    )  # fmt: skip
    display.sides, display.positive = sides, "" if positive is None else sides.name(1)
    display.threshold, display.style, display.lower_is_positive = threshold, style, lower_is_positive
    return display.plot(ax, width=width)


def _checked_threshold(threshold: Any, kind: str, best: Any) -> float:
    if kind == "threshold" or not (best is None or best is False):
        other = "measures against the threshold" if kind == "threshold" else "best="
        raise ArgumentError("threshold", f"expected None with {other}, got {quoted(threshold)}")
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not np.isfinite(float(threshold)):
        raise ArgumentError("threshold", f"expected a finite number, got {quoted(threshold)}")
    return float(threshold)


def _display(  # noqa: PLR0917 (the fields of a display)
    kind: str,
    measures: dict[str, Metric],
    models: list[list[CurveLine]],
    bands: list[list[Band]] | None,
    prevalence: float,
    iso: Metric | None,
    level: float | None,
    best_of: str | None,
) -> CurveDisplay:
    """The display: a panel with a line for each measure of a single model; otherwise a panel for each measure."""
    titles = [""]
    ranges = [metric.range for metric in measures.values()]
    if len(models) == 1 and measures:
        panels = [[line._replace(name=name) for line, name in zip(models[0], measures, strict=True)]]
        of_panels = bands or [[]]
        ranges = [(min(low for low, _ in ranges), max(high for _, high in ranges))]
    else:
        panels = [list(lines) for lines in zip(*models, strict=True)]
        of_panels = (
            [list(models_of_panel) for models_of_panel in zip(*bands, strict=True)] if bands else [[] for _ in panels]
        )
        titles = list(measures) if len(measures) > 1 else [""]
    if len(panels) > MOST_PANELS:
        raise ValueError(f"kind: expected at most {MOST_PANELS} measures of several models, got {len(panels)}")
    first = next(iter(measures.values()), None)
    named = lines_to_name(
        [line.summary for line in panels[0]], higher_is_better=True if first is None else first.higher_is_better
    )
    return CurveDisplay(
        kind, panels, of_panels, list(measures), titles, named, prevalence, iso, level, best_of, ranges
    )  # fmt: skip
