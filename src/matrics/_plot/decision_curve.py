"""Decision curves: net benefit of models at thresholds of probability, compared with treating all or none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._plot.inputs import on_host
from matrics._plot.lines import (
    BAND,
    LEGEND_LINE,
    MOST_NAMED,
    LinesDisplay,
    cut_name,
    draw_band,
    draw_line,
    legend_below,
)
from matrics._plot.style import INK, styles, tidy
from matrics._quoting import quoted
from matrics._ranking.decisions import DecisionCurve
from matrics._ranking.decisions import decision_curve as compute
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DecisionCurveDisplay", "decision_curve"]


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(LinesDisplay):
    """Decision curves, as from :func:`matrics.plot.decision_curve`.

    Parameters
    ----------
    curve : DecisionCurve
        The net benefits of all models, (M, T), and of treating all samples.
    names : list of str, length M
        The names of the models; an empty text for a single model.
    level : float
        The level of the limits.
    """

    curve: DecisionCurve
    names: list[str]
    level: float

    def panel_size(self) -> tuple[float, float]:
        """The width of a paper's column, and room for the legend."""
        return 3.5, 2.6 + LEGEND_LINE * (len(self.names) + 3)

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw a line with its limits for each model, and lines of treating all samples and none."""
        from matplotlib.patches import Patch

        (axes,) = panels
        tidy(axes, grid="both")
        x = np.asarray(self.curve.thresholds, float)
        order = np.argsort(x)
        benefit, low, high = (part[:, order] for part in self._parts())
        treat_all = self._treat_all()[order]
        handles = []
        for k, style in enumerate(styles(len(self.names))):
            draw_band(axes, x[order], low[k], high[k], style, num_lines=len(self.names))
            name, problem = cut_name(self.names[k]) or "the model", self._problem(k)
            label, options = name, {"marker": ""}
            if problem:
                label, options = f"{name}: {problem}", {"marker": "", "linestyle": "none"}
            handles.append(draw_line(axes, x[order], benefit[k], style, label, num_lines=len(self.names), **options))
        handles += axes.plot(x[order], treat_all, color="#6b6b6b", linewidth=1.0, linestyle="-", label="treat all")
        handles += axes.plot(
            x[order], np.zeros(x.size), color=INK, linewidth=1.0, linestyle=(0, (1, 1.5)), label="treat none"
        )
        self._frame(axes, x[order], low, high)
        axes.set_xlabel("threshold probability")
        axes.set_ylabel("net benefit")
        bands = tuple(
            Patch(color=style.colour, alpha=BAND, linewidth=0, label=f"{self.level:.0%} limits")
            for style in styles(len(self.names))
        )
        legend_below(panels, [*handles, bands], owns_figure=self.owns_figure)

    def _frame(self, axes: Axes, x: NumPyArray, low: NumPyArray, high: NumPyArray) -> None:
        """Set the ranges of the axes: up to ``end``, with room for all limits."""
        shares = np.asarray(self.curve.prevalence)
        top = float(np.max(shares[np.isfinite(shares)], initial=1e-3))
        end = min(float(x.max()), self.end)
        is_shown = x <= end
        finite_limits = [part[:, is_shown][np.isfinite(part[:, is_shown])] for part in (low, high)]
        bottom = max(
            float(np.min(finite_limits[0], initial=0)), -top
        )  # very negative limits would compress the picture
        top_of_limits = float(np.max(finite_limits[1], initial=top))
        room = 0.05 * (top_of_limits - bottom)
        axes.set(xlim=(0, end), ylim=(min(bottom, -0.07 * top) - room, top_of_limits + room))

    @property
    def end(self) -> float:
        """The largest threshold in the picture, slightly above the largest threshold at which a model is useful.

        A model is useful if its net benefit exceeds those of treating all and none by more than 2 % of the prevalence.
        Only the first range of such thresholds counts; it may have gaps up to 0.1.
        """
        x = np.asarray(self.curve.thresholds, float)
        order = np.argsort(x)
        shares = np.asarray(self.curve.prevalence)
        minimum = 0.02 * float(np.max(shares[np.isfinite(shares)], initial=0))
        gain = np.nan_to_num(self._parts()[0], nan=-np.inf).max(axis=0) - np.maximum(self._treat_all(), 0)
        useful = x[order][gain[order] > minimum]
        if not useful.size:
            return float(x.max())
        gaps = np.flatnonzero(np.diff(useful) > 0.1)
        last = float(useful[gaps[0]] if gaps.size else useful[-1])
        return min(float(x.max()), 1.15 * last + 0.01)

    def _parts(self) -> tuple[NumPyArray, NumPyArray, NumPyArray]:
        benefit = self.curve.net_benefit
        return np.atleast_2d(benefit.estimate), np.atleast_2d(benefit.low), np.atleast_2d(benefit.high)

    def _treat_all(self) -> NumPyArray:
        """The net benefit of treating all samples, from a model without NaN probabilities."""
        rows = np.atleast_2d(self.curve.treat_all.estimate)
        benefit: NumPyArray = rows[int(np.argmax(np.isfinite(rows).all(axis=-1)))]
        return benefit

    def _problem(self, model: int) -> str:
        """Why a model has no curve; empty if it has a curve."""
        if np.isfinite(self._parts()[0][model]).any():
            return ""
        spoiled = np.atleast_2d(self.curve.net_benefit.status)[model, 0] == IntervalStatus.INVALID
        return f"undefined: {'a NaN' if spoiled else 'no samples of a class'}"

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        x = np.asarray(self.curve.thresholds, float)
        benefit = self._parts()[0]
        best_constant = np.maximum(self._treat_all(), 0)
        sentences = [f"decision curves at {x.size} thresholds from {x.min():.2g} to {x.max():.2g}."]
        for k, (name, row) in enumerate(zip(self.names, benefit, strict=True)):
            better = np.flatnonzero(row > best_constant)
            subject, problem = cut_name(name) or "the model", self._problem(k)
            if problem:
                sentences.append(f"{subject} is {problem}.")
                continue
            sentences.append(
                f"{subject} is worth more than treating all and than treating none at {better.size} of them"
                + (f", from {x[better].min():.2g} to {x[better].max():.2g}." if better.size else ".")
            )
        sentences.append(f"Bands are {self.level:.0%} limits at each threshold by itself.")
        return " ".join(sentences)


def decision_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike],
    thresholds: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    prevalence: float | None = None,
    positive: Hashable = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    num: int | None = None,
    rng: Any = 0,
    width: float | None = None,
    ax: Any = None,
) -> DecisionCurveDisplay:
    """Draw the net benefit of models at thresholds of probability, with limits.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, or any labels with ``positive=``.
    y_prob : array_like of floating numbers, shape (*B, N), or mapping of str to array_like, shape (N,)
        Predicted probabilities of the positive class, between 0 and 1; of several models on the same samples (M, N), or
        a mapping with their names, or a data frame with a column for each. Up to eight models.
    prevalence : float, optional
        The share of positive samples where the model will be used, if it differs from the samples, as in a case-control
        study.
    positive : str or int, optional
        The label of the positive class, against the rest, among labels of any kind. Without it labels are 0 and 1, and
        1 is positive.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image: whole clusters are resampled.
    level : float, default 0.95
        The coverage of the limits, at each threshold by itself.
    num : int, optional
        Number of replicates; 2,000 if left out.
    thresholds : array_like, shape (T,), optional
        0.01, 0.02, … up to the highest probability (at most 0.99) if left out.
    names : sequence of str, optional
        The names of the models, unless ``y_prob`` is a mapping.
    rng : numpy.random.Generator or int, default 0
        Where random numbers come from, or a seed.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out.

    Returns
    -------
    DecisionCurveDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError, ValueError
        As :func:`matrics.ranking.decision_curve`; or names do not fit.

    Examples
    --------
    >>> import matrics.plot
    >>> display = matrics.plot.decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0.2, 0.5])
    >>> display.curve.net_benefit.estimate.round(3)
    array([[0.438, 0.25 ]])
    """
    if thresholds is None:
        thresholds = _default_thresholds(y_prob)
    options: dict[str, Any] = {"positive": positive, "clusters": clusters, "level": level, "num": num, "rng": rng}
    curve = compute(y_true, y_prob, thresholds, prevalence=prevalence, **options)
    if not curve.thresholds.shape[0]:
        raise ValueError("thresholds: expected at least one threshold, got none")
    if np.shape(y_true)[-1:] == (0,):  # type: ignore[arg-type]
        raise ValueError("y_true: expected at least one sample, got none")
    parts = [Interval(*(np.atleast_2d(on_host("curve", x)) for x in part)) for part in curve[1:5]]
    limits, shares = on_host("thresholds", curve.thresholds), on_host("prevalence", curve.prevalence)
    curve = DecisionCurve(limits, parts[0], parts[1], parts[2], parts[3], shares, curve.names)
    shape = curve.net_benefit.estimate.shape
    if len(shape) != 2 or not 1 <= shape[0] <= MOST_NAMED:
        raise ValueError(f"y_prob: expected 1 to {MOST_NAMED} models, (N,) or (M, N), got {shape[:-1]}")
    titles = list(curve.names or names or ([f"model {k}" for k in range(shape[0])] if shape[0] > 1 else [""]))
    if curve.names is not None and names is not None:
        raise ValueError("names: expected None, as the keys of y_prob are the names")
    if isinstance(names, str) or len(titles) != shape[0]:
        raise ValueError(f"names: expected {shape[0]}, a name for each model, got {quoted(names)}")
    return DecisionCurveDisplay(curve, [str(title) for title in titles], level).plot(ax, width=width)


def _default_thresholds(y_prob: Any) -> NumPyArray:
    """Multiples of 0.01 up to the highest probability, above which no sample is treated."""
    rows = y_prob.values() if isinstance(y_prob, Mapping) else [y_prob]
    arrays = [on_host("y_prob", row) for row in rows]
    highest = max((float(np.max(row[np.isfinite(row)], initial=0.02)) for row in arrays), default=0.02)
    return np.arange(1, max(2, min(99, int(100 * highest))) + 1) / 100
