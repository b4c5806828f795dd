"""Reliability diagrams: predicted probabilities and observed frequencies."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._arrays import NUMPY, as_arrays
from matrics._engine.results import NamedResult
from matrics._plot.curve_data import index_of, read_scores, sides_of
from matrics._plot.inputs import on_host
from matrics._plot.lines import (
    LEGEND_LINE,
    MOST_NAMED,
    LinesDisplay,
    cut_name,
    draw_band,
    draw_crowd,
    legend_below,
    line_styles,
    lines_to_name,
)
from matrics._plot.style import FAINT, INK, SMALL, Style, styles, tidy
from matrics._quoting import quoted
from matrics._ranking.calibration import expected_calibration_error, reliability_curve
from matrics._ranking.inputs import read
from matrics._ranking.probabilities import read_probabilities
from matrics._ranking.probability_bins import Bins, Of, forecasts
from matrics._ranking.recalibration import fit_smooth
from matrics._uncertainty.limits import normal_quantile, wilson
from matrics._uncertainty.options import check_level
from matrics._wording import number as worded
from matrics._wording import significant
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibrationDisplay", "CalibrationLine", "SmoothLine", "calibration"]

# The least number of samples of a drawn bin, and the number of bins of the histogram.
FEWEST, HISTOGRAM = 5, 20
# The number of samples at either end without a smooth curve.
OUTSIDE = 4
# The distance from 0 and 1 within which a curve is not drawn, as it meets the frame and its limits are unreliable.
MARGIN = 0.005
# A tail with fewer samples than these, and with a smaller share of all samples, has a dotted curve.
FEW, TAIL = 50, 0.02
# If all probabilities are smaller than this, the picture ends at the largest.
SMALL_END = 0.3
# The number of points of a smooth curve, and the least distance of its probabilities from 0 and 1.
POINTS, EDGE = 101, 1e-6
LETTER = 0.06  # inches of a letter of a title

AXES = {
    None: ("predicted probability", "share of positives"),
    "top_label": ("highest probability (confidence)", "share of correct predictions"),
    "class_wise": ("predicted probability of the class", "share of the class"),
}


class SmoothLine(NamedResult):
    """A calibration curve without bins: a logistic model with a restricted cubic spline of the logit.

    Parameters
    ----------
    predicted, happened, low, high : array, shape (P,)
        Probabilities, the observed frequencies there according to the curve, and its pointwise limits.
    few : float
        Above this probability there are fewer than 50 of many samples, and the curve is dotted; 1 without such a tail.
    """

    predicted: NumPyArray
    happened: NumPyArray
    low: NumPyArray
    high: NumPyArray
    few: float = 1.0


class CalibrationLine(NamedResult):
    """The reliability of a model, or of a class.

    Parameters
    ----------
    name : str
        The model or the class.
    predicted, happened : array, shape (num_bins,)
        The mean probability and the observed frequency in each bin; NaN in an empty bin.
    low, high : array, shape (num_bins,)
        Wilson's limits of the share.
    samples : array, shape (num_bins,)
        The number of samples in each bin.
    edges : array, shape (num_bins + 1,)
        The edges of the bins.
    error : float
        The expected calibration error with these bins; NaN if it is undefined.
    histogram : array, shape (20,)
        The number of samples in 20 bins of equal width between 0 and the ``end`` of the picture.
    smooth : SmoothLine or None
        The curve without bins, or None.
    """

    name: str
    predicted: NumPyArray
    happened: NumPyArray
    low: NumPyArray
    high: NumPyArray
    samples: NumPyArray
    edges: NumPyArray
    error: float
    histogram: NumPyArray
    smooth: SmoothLine | None = None


@dataclass(eq=False, repr=False)
class CalibrationDisplay(LinesDisplay):
    """Reliability diagrams, as from :func:`matrics.plot.calibration`.

    Parameters
    ----------
    lines : list of CalibrationLine
        The models, or the classes.
    named : list of int
        The indices of the lines with a name; the others are grey.
    of : str or None
        The kind of probabilities: ``"top_label"`` or ``"class_wise"``; None for class 1 of two.
    level : float
        The level of the limits.
    together : bool
        Whether all lines are in the same panel.
    positive : str
        The name of the positive class, if it was passed.
    bins : str
        Whether bins have equal ``"mass"`` or ``"width"``.
    end : float
        The largest probability in the picture: 1, or the largest of all if it is below 0.3, as for a rare class.
    """

    lines: list[CalibrationLine]
    named: list[int]
    of: Of | None
    level: float
    together: bool = False
    positive: str = ""
    bins: Bins = "mass"
    end: float = 1.0

    def panels(self) -> int:
        """The number of models; 1 if they are drawn together."""
        return 1 if self.together else len(self.lines)

    def panel_size(self) -> tuple[float, float]:
        """The width of a paper's column, and room for the legend; smaller for several panels."""
        if self.together:
            return 3.5, 4.2 + LEGEND_LINE * (len(self.named) + (len(self.named) < len(self.lines)))
        return (3.5, 4.5) if len(self.lines) == 1 else (2.5, 3.3)

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the diagrams, and a histogram of the probabilities below each."""
        for axes in panels:
            axes.plot([0, 1], [0, 1], color="#8a8a8a", linewidth=1.0, zorder=1.55)
        if not self.together:
            for axes, line in zip(panels, self.lines, strict=True):
                below = self._prepare(axes)
                parts = self._label(line).split(": ", 1)
                axes.set_title("\n".join(_in_rows(part, axes) for part in parts), fontsize=SMALL + 1)
                self._draw_line(axes, below, line, styles(1)[0])
                if tail := self._note_of_tail(axes, [line]):
                    axes.legend(handles=tail, loc="upper left", frameon=False, fontsize=SMALL - 0.5, labelcolor=INK)
                _tidy_histogram(below)
            return
        (axes,) = panels
        below = self._prepare(axes)
        others = [line for k, line in enumerate(self.lines) if k not in self.named and np.isfinite(line.error)]
        draw_crowd(axes, [_drawn_points(line) for line in others])
        handles = [
            self._draw_line(axes, below, self.lines[k], style)
            for style, k in zip(line_styles(len(self.named), on_grey=bool(others)), self.named, strict=True)
        ]
        if others:
            label = f"{len(others)} others; named are the {len(self.named)} with the lowest error"
            handles += axes.plot([], [], color=FAINT, linewidth=0.8, label=label)
        _tidy_histogram(below)
        handles += self._note_of_tail(axes, self.lines)
        legend_below([axes], handles, owns_figure=self.owns_figure, under=0.3)

    def _prepare(self, axes: Axes) -> Axes:
        """Label the axes; returns the axes of the histogram below."""
        x, y = AXES[self.of]
        if self.positive:
            x, y = f"{x} of {self.positive}", f"share of {self.positive}"
        tidy(axes, grid="both")
        x_end, y_end = self.end, self._top()
        axes.set(xlim=(-0.015 * x_end, 1.015 * x_end), ylim=(-0.015 * y_end, 1.015 * y_end), ylabel=y)
        axes.set_box_aspect(1)
        if x_end == 1:
            ticks = np.linspace(0, 1, 6 if self.panels() == 1 else 3)
            axes.set(xticks=ticks, yticks=ticks)
        else:
            axes.locator_params(nbins=5 if self.panels() == 1 else 3)
        below = axes.inset_axes((0, -0.34, 1, 0.25), sharex=axes)
        tidy(below)
        below.set(xlabel=x, ylabel="samples")
        axes.tick_params(labelbottom=False)
        return below

    def _note_of_tail(self, axes: Axes, lines: Sequence[CalibrationLine]) -> list[Any]:
        """The legend of a dotted line; an empty list if there is none."""
        if all(line.smooth is None or line.smooth.few == 1 for line in lines):
            return []
        label = f"fewer than {FEW} samples"
        return list(axes.plot([], [], color=INK, linewidth=1.2, linestyle=(0, (1, 1.5)), label=label))

    def _top(self) -> float:
        """The largest share in the picture: 1, or enough for the points, their limits and the curves."""
        if self.end == 1:
            return 1.0
        highs = [np.max(line.high[_is_drawn(line)], initial=0) for line in self.lines]
        highs += [np.max(line.smooth.happened) for line in self.lines if line.smooth is not None]
        return min(1.0, max(self.end, 1.05 * float(max(highs))))

    def _draw_line(self, axes: Axes, below: Axes, line: CalibrationLine, style: Style) -> Any:
        """Draw a line with its limits, and its histogram; returns the handle for the legend."""
        if not np.isfinite(line.error):
            return axes.plot([], [], linestyle="none", label=self._label(line))[0]
        x, y = _drawn_points(line)
        shown = _is_drawn(line)
        reach = np.stack([line.happened - line.low, line.high - line.happened])[:, shown]
        face = "white" if style.number % 2 else style.colour
        axes.errorbar(
            x, y, yerr=np.maximum(reach, 0), fmt="none", ecolor=style.colour, elinewidth=0.8, capsize=1.8, zorder=2.5
        )  # fmt: skip
        if line.smooth is not None:
            smooth = line.smooth
            draw_band(axes, smooth.predicted, smooth.low, smooth.high, style)
            many = smooth.predicted <= smooth.few
            last = max(int(many.sum()) - 1, 0)
            for part, dashes in ((many, style.dashes), (np.arange(len(many)) >= last, (0, (1, 1.5)))):
                axes.plot(
                    smooth.predicted[part], smooth.happened[part], color=style.colour, linestyle=dashes,
                    linewidth=1.2, zorder=2.8,
                )  # fmt: skip
        joined = "none" if line.smooth is not None else style.dashes
        axes.plot(
            x, y, color=style.colour, linestyle=joined, marker=style.marker, markersize=4, linewidth=1.2,
            markerfacecolor=face, zorder=3,
        )  # fmt: skip
        (handle,) = axes.plot(
            [], [], color=style.colour, linestyle=style.dashes, marker=style.marker, markersize=4, linewidth=1.2,
            markerfacecolor=face, label=self._label(line),
        )  # fmt: skip
        is_single = not self.together
        below.stairs(
            line.histogram, np.linspace(0, self.end, HISTOGRAM + 1), color=INK if is_single else style.colour,
            fill=is_single,
            linestyle="-" if is_single else style.dashes, facecolor="#9c9c9c" if is_single else "none", linewidth=1.0,
        )  # fmt: skip
        return handle

    def _label(self, line: CalibrationLine) -> str:
        name = cut_name(line.name)
        words = "calibration error" if self.together or len(self.lines) == 1 else "error"  # titles of small panels
        value = f"{words} {worded(line.error)}{self._kind_of_bins()}"
        if not np.isfinite(line.error):
            value = "undefined: a NaN"
        return f"{name}: {value}" if name else value

    def _kind_of_bins(self) -> str:
        """A note if the bins are not of equal width, which is the default of the measure."""
        return " (equal mass)" if self.bins == "mass" else ""

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        subject = {
            None: f"of {self.positive or 'the positive class'}",
            "top_label": "of the predicted class",
            "class_wise": "of each class",
        }
        bins = len(self.lines[0].samples)
        sentences = [f"reliability diagram: probabilities {subject[self.of]} and how often it happens, in {bins} bins."]
        sentences.append("; ".join(self._line_in_words(self.lines[k]) for k in self.named) + ".")
        if len(self.named) < len(self.lines):
            sentences.append(f"The other {len(self.lines) - len(self.named)} have no names.")
        hidden = sum(int(((line.samples > 0) & (line.samples < FEWEST)).sum()) for line in self.lines)
        if hidden:
            sentences.append(f"{hidden} bins of fewer than {FEWEST} samples are not drawn.")
        end = f"The picture ends at {significant(self.end, 2)}, as no probability is larger."
        tails = [
            f"{line.name + ': a' if line.name else 'A'}bove {significant(line.smooth.few, 2)} the line is dotted, as "
            f"fewer than {FEW} samples are there, and limits are wide."
            for line in self.lines
            if line.smooth is not None and line.smooth.few < 1
        ]
        sentences += [end] * (self.end < 1) + tails
        if any(line.smooth is not None for line in self.lines):
            sentences.append(
                f"Lines are smooth curves (logistic models with splines) with {self.level:.0%} limits at each "
                "probability."
            )
        sentences.append(
            f"Bars are Wilson's {self.level:.0%} limits of the share in each bin. The error depends on the bins, and "
            "is above 0 even for perfect probabilities."
        )
        return " ".join(sentences)

    def _line_in_words(self, line: CalibrationLine) -> str:
        label = self._label(line)
        if not np.isfinite(line.error):
            return label
        outside = (line.low > line.predicted) | (line.high < line.predicted)
        filled = int((line.samples > 0).sum())
        return (
            f"{label}, {line.samples.sum():,.10g} samples, {int(outside.sum())} of {filled} bins with samples have "
            "limits off the diagonal"
        )


def calibration(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike],
    *,
    names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    num_bins: int = 15,
    bins: Bins = "mass",
    of: Of | None = None,
    level: float = 0.95,
    smooth: bool = True,
    together: bool | None = None,
    width: float | None = None,
    ax: Any = None,
) -> CalibrationDisplay:
    """Draw a reliability diagram of a single model or several.

    A point is a bin of probabilities: their mean, and the observed frequency of the class, with Wilson's limits. Bins
    of fewer than five samples are not drawn. A line is a smooth curve with its limits, from the fifth smallest to the
    fifth largest probability. Below the diagonal, probabilities are too high. A histogram shows the number of samples.
    If no probability reaches 0.3, as for a rare class, the picture ends at the largest. In a tail with fewer than 50 of
    many samples, the line is dotted. Up to eight models have a panel each. More models share a panel, in which the five
    with the lowest error have names and the others are grey lines.

    Parameters
    ----------
    y_true : array_like of int, bool or text, shape (N,)
        True labels, of text with ``positive``.
    y_prob : array_like of floating numbers, shape (N,), (M, N), (N, n) or (M, N, n), or mapping of str to such
        Predicted probabilities of class 1 of two, or of every class, of a single model or of M models.
    names : sequence of str, optional
        The names of the models.
    class_names : sequence of str, optional
        Names of the classes, in their order, which is that of the columns of ``y_prob``.
    positive : str or int, optional
        The label of the positive class, against the rest: a label of ``y_true``, or of ``class_names`` if given. Class
        1 if left out. With probabilities of every class only this class is drawn.
    num_bins : int, default 15
        Number of bins.
    bins : {"mass", "width"}
        Bins with equal numbers of samples, or of equal width.
    of : {"top_label", "class_wise"}, optional
        Of probabilities of classes: the highest probability, as that of a correct prediction (``"top_label"``, the
        default), or the probabilities of each class, with a line for each.
    level : float, default 0.95
        The level of the limits.
    smooth : bool, default True
        Draw a curve without bins: a logistic model with a restricted cubic spline of the logit. Without it
        the points are joined by lines.
    together : bool, optional
        Draw all models into the same panel. If left out, each of up to eight models has its own panel.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, or array of them, optional
        The axes to draw on, an Axes for each panel, with room for the histogram below; a new figure if left out.

    Returns
    -------
    CalibrationDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError, ValueError
        As :func:`matrics.probabilities.reliability_curve`; or names do not fit.

    Examples
    --------
    >>> import matrics.plot
    >>> display = matrics.plot.calibration([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75], num_bins=2)
    >>> display.lines[0].happened
    array([0.5, 0.5])
    >>> print(display.describe()[:83])
    reliability diagram: probabilities of the positive class and how often it happens,
    """
    level = check_level(level)
    if isinstance(y_prob, Mapping) and not y_prob:
        raise ValueError("y_prob: expected the probabilities of at least one model, got an empty mapping")
    first = next(iter(y_prob.values())) if isinstance(y_prob, Mapping) else y_prob
    class_of_scores = index_of(class_names, positive)
    title = ""
    if positive is not None:
        title = sides_of(read(y_true, first, positive=class_of_scores, name="y_prob"), class_names).name(1)
    end = _end(y_prob)
    options: dict[str, Any] = {"num_bins": num_bins, "bins": bins, "of": of, "positive": class_of_scores}
    if isinstance(y_prob, Mapping):
        if names is not None:
            raise ValueError("names: expected None, as the keys of y_prob are the names")
        models = {
            str(key): _lines_of(y_true, part, level, options, class_names, end=end, smooth=smooth)
            for key, part in y_prob.items()
        }
        lines = [
            line._replace(name=f"{key}, {line.name}" if len(lines_of_model) > 1 else key)
            for key, lines_of_model in models.items()
            for line in lines_of_model
        ]
    else:
        lines = _lines_of(y_true, y_prob, level, options, class_names, end=end, smooth=smooth)
        if names is not None:
            if isinstance(names, str) or len(names) != len(lines):
                raise ValueError(f"names: expected {len(lines)}, a name for each line, got {quoted(names)}")
            lines = [line._replace(name=str(name)) for line, name in zip(lines, names, strict=True)]
    if of is None and positive is None and _have_classes(y_true, first):
        of = "top_label"
    named = lines_to_name([line.error for line in lines], higher_is_better=False)
    together = len(lines) > MOST_NAMED if together is None else together
    return CalibrationDisplay(lines, named, of, level, together, title, bins, end).plot(ax, width=width)


def _end(y_prob: Any) -> float:
    """The largest probability, with some room, if all are below 0.3; otherwise 1."""
    rows = y_prob.values() if isinstance(y_prob, Mapping) else [y_prob]
    finite = [part[np.isfinite(part)] for part in (on_host("y_prob", row).astype(float) for row in rows)]
    highest = max((float(np.max(part, initial=0)) for part in finite), default=0.0)
    return 1.05 * highest if 0 < highest < SMALL_END else 1.0


def _have_classes(y_true: Any, y_prob: Any) -> bool:
    """Whether the probabilities have an axis of classes."""
    _, (labels, scores) = as_arrays(y_true=y_true, y_prob=y_prob)
    return bool(scores.ndim > labels.ndim >= 1 and scores.shape[-2] == labels.shape[-1])


def _lines_of(
    y_true: Any,
    y_prob: Any,
    level: float,
    options: dict[str, Any],
    class_names: Sequence[str] | None,
    *,
    end: float,
    smooth: bool,
) -> list[CalibrationLine]:
    """The lines of all elements of the batch; for class-wise calibration, of each class against the rest."""
    if options["of"] == "class_wise" and options["positive"] is None and _have_classes(y_true, y_prob):
        return [
            line._replace(name=model.name)
            for model in read_scores(y_true, y_prob, None, class_names)
            for line in _lines_of(
                model.y_true, model.scores, level, {**options, "of": None}, None, end=end, smooth=smooth
            )
        ]
    reliability = reliability_curve(y_true, y_prob, **options)
    predicted, happened, count, edges = (on_host("curve", part).astype(float) for part in reliability)
    errors = on_host("error", expected_calibration_error(y_true, y_prob, **options)).reshape(-1)
    batch = predicted.shape[:-1]
    if not errors.size:
        raise ValueError(f"y_prob: expected the probabilities of at least one model, got shape {np.shape(y_prob)}")
    names = [f"curve {', '.join(map(str, place))}" for place in np.ndindex(*batch)] if batch else [""]
    flat = [part.reshape(-1, part.shape[-1]) for part in (predicted, happened, count, edges)]
    samples = read_probabilities(y_true, y_prob, None, None, labels=None, positive=options["positive"])
    samples_of_lines = forecasts(samples, options["of"])
    probabilities_and_outcomes = [
        on_host("samples", part).astype(float) for part in (samples_of_lines.probability, samples_of_lines.outcome)
    ]
    size = probabilities_and_outcomes[0].shape[-1]
    if not size:
        raise ValueError("y_true: expected at least one sample, got none")
    lines = []
    for k, (name, p, y, number, ends, value) in enumerate(zip(names, *flat, errors, strict=True)):
        low, high = wilson(y, np.nan_to_num(number), normal_quantile(level), NUMPY)
        probability, outcome = (part.reshape(-1, size)[k] for part in probabilities_and_outcomes)
        histogram = np.histogram(probability[np.isfinite(probability)], HISTOGRAM, (0, end))[0]
        curve = _smooth(probability, outcome, level) if smooth else None
        lines.append(CalibrationLine(name, p, y, low, high, number, ends, float(value), histogram, curve))
    return lines


def _in_rows(text: str, axes: Axes) -> str:
    """A part of a title in rows that fit above a panel; what brackets enclose stays in a row."""
    figure: Any = axes.get_figure(root=True)
    letters = max(10, int(axes.get_position().width * figure.get_figwidth() / LETTER))
    whole = text.replace(" (equal mass)", " (equal_mass)")
    return textwrap.fill(whole, letters).replace("(equal_mass)", "(equal mass)")


def _tidy_histogram(below: Axes) -> None:
    below.set_ylim(bottom=0)
    locator: Any = below.yaxis.get_major_locator()
    locator.set_params(nbins=3, integer=True)


def _is_drawn(line: CalibrationLine) -> NumPyArray:
    """Whether each bin is drawn, which needs enough samples."""
    return np.isfinite(line.predicted) & (line.samples >= FEWEST)


def _drawn_points(line: CalibrationLine) -> tuple[NumPyArray, NumPyArray]:
    """The points of the drawn bins."""
    shown = _is_drawn(line)
    return line.predicted[shown], line.happened[shown]


def _smooth(probability: NumPyArray, outcome: NumPyArray, level: float) -> SmoothLine | None:
    """The smooth curve of a model with its limits, or None."""
    if not np.isfinite(probability).all() or not probability.size:
        return None
    # Probabilities of 0 and 1 have infinite logits.
    clipped = np.clip(probability, EDGE, 1 - EDGE)
    logit = np.log(clipped) - np.log1p(-clipped)
    model = fit_smooth(logit, outcome, None)
    if model is None:
        return None
    # The curve is drawn where there are samples on both sides; an extrapolation would be unreliable.
    last = len(clipped) - 1
    first, last = sorted((min(OUTSIDE, last), max(last - OUTSIDE, 0)))
    low, high = np.clip(np.sort(clipped)[[first, last]], MARGIN, 1 - MARGIN).tolist()
    x = np.linspace(low, high, POINTS)
    columns = model.columns(np.log(x) - np.log1p(-x))
    linear_predictor = columns @ model.model.coefficients
    half_width = normal_quantile(level) * np.sqrt(np.einsum("ij,jk,ik->i", columns, model.model.covariance, columns))
    curve, low, high = (
        np.exp(-np.logaddexp(0, -z))
        for z in (linear_predictor, linear_predictor - half_width, linear_predictor + half_width)
    )
    few = float(np.sort(clipped)[-min(FEW, len(clipped))])
    is_tail = len(clipped) > FEW / TAIL and few < 0.8 * x[-1]
    return SmoothLine(x, curve, low, high, few if is_tail else 1.0)
