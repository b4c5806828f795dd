"""Forest plots: measures of several models with limits, the best first, and marks of models tied with the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.record import Metric
from matrics._plot.display import Display
from matrics._plot.heat_map import short_name, write_below
from matrics._plot.inputs import host_stack, names_of_rows
from matrics._plot.model_measures import MeasureOfModels, are_matrices, known_names, read_measure
from matrics._plot.style import FAINT, INK, SMALL, tidy
from matrics._quoting import quoted
from matrics._uncertainty.interval import interval
from matrics._uncertainty.models import compare_models
from matrics._uncertainty.results import Interval, ModelComparison
from matrics._wording import number as worded
from matrics._wording import significant
from matrics.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MeasureOfModels", "ModelsDisplay", "models"]

MOST_PANELS = 12
A_ROW = 4  # panels
WORST = 3  # models at the end of the list that are shown if not all are
NAME = 24  # characters


@dataclass(eq=False, repr=False)
class ModelsDisplay(Display):
    """Measures of models with their limits, as from :func:`matrics.plot.models`.

    Parameters
    ----------
    measures : list of MeasureOfModels
        The measures, each in a panel.
    names : list of str
        The names of the M models, in the order of the arrays of the measures.
    order : list of int
        The numbers of the models from top to bottom: the best by the first measure first.
    shown : int
        The number of models that are shown; if it is less than M, models in the middle are left out.
    """

    measures: list[MeasureOfModels]
    names: list[str]
    order: list[int]
    shown: int

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike | Mapping[str, ArrayLike],
        metrics: Any = "core",
        *,
        names: Sequence[str] | None = None,
        most: int = 30,
        width: float | None = None,
        ax: Any = None,
        **options: Any,
    ) -> ModelsDisplay:
        """Compare models on the same samples by :func:`matrics.compare_models`, and draw the result.

        Parameters
        ----------
        y_true : array_like of int, shape (N,)
            True labels.
        y_pred : array_like of int, shape (M, N), or mapping of str to array_like, shape (N,)
            The labels predicted by each model.
        metrics : str, Metric, or several of them, default "core"
            Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
            :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
            :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. A
            measure without a better direction raises an error.
        **options : dict
            Further arguments of :func:`matrics.compare_models`: ``num_classes`` or ``labels``, ``clusters``, ``rng``,
            ….
        names : sequence of str, optional
            The names of the models, unless ``y_pred`` is a mapping, which has them. Their numbers if left out.
        most : int, default 30
            The largest number of models to show; of more, only the best and the three worst are shown.
        width : float, optional
            The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left
            out. Texts keep their size.
        ax : matplotlib.axes.Axes, or array of them, optional
            The axes to draw on, an Axes for each panel, which is a measure; a new figure if left out.

        Returns
        -------
        ModelsDisplay
            The data, ``figure_`` and ``ax_``.

        Examples
        --------
        >>> import matrics.plot
        >>> predicted = {"good": [0, 1, 1, 0, 1, 1] * 9, "bad": [0, 0, 1, 0, 1, 0] * 9}
        >>> display = matrics.plot.ModelsDisplay.from_predictions(
        ...     [0, 1, 1, 0, 1, 0] * 9, predicted, "accuracy", num_classes=2, num=200, rng=0
        ... )
        >>> display.names
        ['good', 'bad']
        """
        results = compare_models(y_true, y_pred, metrics, **options)
        return models(results, names=names, most=most, width=width, ax=ax)

    def panels(self) -> int:
        """The number of measures."""
        return len(self.measures)

    def grid(self) -> tuple[int, int]:
        """The numbers of rows and columns, with up to four panels in a row."""
        return -(-self.panels() // A_ROW), min(self.panels(), A_ROW)

    as_high_as_rows = True

    def panel_size(self) -> tuple[float, float]:
        """The width and height in inches: a column of a paper for a single measure, and a height for all rows."""
        columns = self.grid()[1]
        names = 0.065 * min(NAME, max(len(name) for name in self.names))
        width = 3.5 if columns == 1 else (names + 1.45 * columns) / columns
        return width, 0.55 + 0.165 * len(self._rows()) + 0.15 * len(self._notes()) + 0.1

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw a panel for each measure, with the same rows."""
        columns = self.grid()[1] if self.owns_figure else 1
        for number, (axes, measure) in enumerate(zip(panels, self.measures, strict=True)):
            tidy(axes, grid="x")
            self._draw_measure(axes, measure, is_first=number % columns == 0)

    def _draw_measure(self, axes: Axes, measure: MeasureOfModels, *, is_first: bool) -> None:
        rows = self._rows()
        best = measure.best
        if best is not None:
            axes.axvline(measure.estimate[best], color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
        for place, model in enumerate(rows):
            if model is None:
                axes.axhspan(place - 0.3, place + 0.3, color=FAINT, alpha=0.25, linewidth=0)
            elif np.isnan(measure.estimate[model]):
                axes.text(
                    0.5, place, "undefined", transform=axes.get_yaxis_transform(), ha="center", va="center",
                    fontsize=SMALL, color=INK, style="italic",
                )  # fmt: skip
            else:
                draw_limits(axes, place, measure, model)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.spines["left"].set_visible(False)
        axes.set_yticks(range(len(rows)), labels=self._labels(rows) if is_first else [""] * len(rows))
        axes.tick_params(axis="y", length=0, labelsize=SMALL)
        for label, model in zip(axes.get_yticklabels(), rows, strict=True):
            if model is not None and self.measures[0].tied is not None and self.measures[0].tied[model]:
                label.set_fontweight("bold")
        axes.locator_params(axis="x", nbins=5 if self.grid()[1] == 1 else 3)
        side = "" if measure.higher_is_better else "\n(lower is better)"
        if self.panels() == 1:
            self._write_values(axes)
            side = side.replace("\n", " ")
        notes = self._notes() if measure is self.measures[-1 - (self.panels() - 1) % self.grid()[1]] else []
        write_below(axes, measure.name + side, notes, owns_figure=self.owns_figure)

    def _write_values(self, axes: Axes) -> None:
        """Write the values next to a single panel, because a bad model may compress the scale of the others."""
        for place, model in enumerate(self._rows()):
            if model is not None and not np.isnan(value := self.measures[0].estimate[model]):
                axes.text(
                    1.02, place, value_text(value), va="center",
                    transform=axes.get_yaxis_transform(), fontsize=SMALL, color=INK,
                )  # fmt: skip

    def _rows(self) -> list[int | None]:
        """The models from top to bottom; None marks the place of models left out."""
        if self.shown >= len(self.order):
            return list(self.order)
        worst = min(WORST, self.shown // 3)
        return [*self.order[: self.shown - worst], None, *self.order[len(self.order) - worst :]]

    def _labels(self, rows: list[int | None]) -> list[str]:
        left_out = len(self.order) - self.shown
        return [
            f"… {left_out:,} more …" if model is None else short_name(self.names[model], NAME) for model in rows
        ]  # fmt: skip

    def _notes(self) -> list[str]:
        """The meaning of the marks, below the panels."""
        tied, number = self.measures[0].tied, len(self.names)
        if tied is None:
            notes = ["dashed: the best value"]
        elif self.panels() > 1:
            notes = [
                "",
                "● not significantly different from the best (dashed)",
                "○ significantly worse",
                f"bold: not different by {self.measures[0].name}",
            ]
        elif tied.all():
            notes = [f"● none of {number} is significantly different from", "   the best (dashed)"]
        else:
            notes = ["● the best (dashed), or not significantly different", "○ significantly worse"]
        if any(np.any(np.isnan(measure.low + measure.high) & ~np.isnan(measure.estimate)) for measure in self.measures):
            notes.append("◆ without limits")
        if self.shown < number:
            notes.append(f"{number - self.shown:,} of the {number:,} models are not shown")
        return notes

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        sentences = [f"Forest plot of {len(self.names)} model{'s' * (len(self.names) > 1)}."]
        for measure in self.measures:
            best = measure.best
            if best is None:
                sentences.append(f"{measure.name} is undefined for all of them.")
                continue
            last = int(measure.order()[np.count_nonzero(~np.isnan(measure.estimate)) - 1])
            sentences.append(
                f"By {measure.name}{'' if measure.higher_is_better else ' (lower is better)'} the best is "
                f"{self.names[best]} with {_with_limits(measure, best)}, and the worst {self.names[last]} with "
                f"{_with_limits(measure, last)}."
            )
            if measure.tied is not None:
                others = [self.names[model] for model in measure.order() if measure.tied[model] and model != best]
                sentences.append(
                    f"Not significantly different from it: {_first_names(others)}."
                    if others
                    else "All others are significantly worse."
                )
            undefined = np.count_nonzero(np.isnan(measure.estimate))
            if undefined:
                sentences.append(f"It is undefined for {undefined} of the models.")
        if self.shown < len(self.names):
            sentences.append(f"{self.shown} models are shown, the best and the worst by {self.measures[0].name}.")
        return " ".join(sentences)


def value_text(value: float) -> str:
    """A value with three digits after the decimal point, or with four significant digits."""
    return worded(value) if abs(value) < 10 else f"{value:.4g}"


def draw_limits(axes: Axes, place: float, measure: MeasureOfModels, model: int) -> None:
    """Draw the value and limits of a model: filled if it is tied with the best, or if models were not compared."""
    is_tied = measure.tied is None or bool(measure.tied[model])
    colour = "#08306b" if is_tied else "#c06010"
    value, low, high = (float(part[model]) for part in (measure.estimate, measure.low, measure.high))
    has_limits = bool(np.isfinite(low + high))
    if has_limits:
        axes.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
    axes.plot(
        value, place, marker="o" if has_limits else "D", markersize=4.5, color=colour,
        markerfacecolor=colour if is_tied else "white", markeredgewidth=1.1,
    )  # fmt: skip


def _with_limits(measure: MeasureOfModels, model: int) -> str:
    value, low, high = (float(part[model]) for part in (measure.estimate, measure.low, measure.high))
    limits = f" (between {significant(low)} and {significant(high)})" if np.isfinite(low + high) else " (no limits)"
    return significant(value) + limits


def _first_names(names: list[str]) -> str:
    """Up to five names, and the number of the others."""
    if len(names) > 5:
        return f"{', '.join(names[:5])} and {len(names) - 5} more"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def models(
    results: Mapping[str, Interval | ModelComparison | ArrayLike],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    names: Sequence[str] | None = None,
    most: int = 30,
    width: float | None = None,
    ax: Any = None,
) -> ModelsDisplay:
    """Draw a forest plot: measures of several models with their limits, the best first.

    If models were compared, filled points mark models that are not significantly different from the best, and their
    names are bold (by the first measure). A dashed line is at the best value. The axes show the values, and need not
    begin at 0.

    Parameters
    ----------
    results : mapping of str to ModelComparison, Interval or array_like, shape (n, n)
        The result of :func:`matrics.compare_models`, or of :func:`matrics.interval` for a stack (M, n, n): of each
        measure the values (M,) and their limits. Each measure has a panel, and all panels have the same rows. Intervals
        do not show which models differ, so no model is marked as tied. Or the confusion matrix of each model by its
        name, for which intervals are computed.
    metrics : str, Metric, or several of them, optional
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. For
        confusion matrices only; the group ``core`` if left out.
    names : sequence of str, optional
        The names of the models, unless ``results`` has them: of predictions or matrices by name. Their numbers if left
        out.
    most : int, default 30
        The largest number of models to show; of more, only the best and the three worst are shown.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, or array of them, optional
        The axes to draw on, an Axes for each panel, which is a measure; a new figure if left out.

    Returns
    -------
    ModelsDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError
        ``results`` is no mapping of intervals or comparisons.
    ValueError
        A measure has no value for each model, there are more than 12 measures, or neither higher nor lower values of a
        measure are better.

    Examples
    --------
    >>> import matrics.plot, numpy
    >>> y_true = numpy.arange(300) % 3
    >>> random = numpy.random.default_rng(0)
    >>> y_pred = [numpy.where(random.random(300) < p, y_true, 0) for p in (0.9, 0.88, 0.6)]
    >>> comparison = matrics.compare_models(y_true, y_pred, "accuracy", num_classes=3, num=1000, rng=0)
    >>> display = matrics.plot.models(comparison, names=["forest", "boosting", "tree"])
    >>> print(display.describe()[:93])
    Forest plot of 3 models. By accuracy the best is boosting with 0.93 (between 0.895 and 0.954)
    >>> display = matrics.plot.models({"net": [[90, 10], [5, 95]], "tree": [[80, 20], [30, 70]]}, "accuracy, mcc")
    >>> display.names
    ['net', 'tree']
    """
    if not isinstance(results, Mapping) or not results:
        raise TypeError(
            "results: expected a mapping of measures to intervals or comparisons, as from matrics.compare_models or "
            f"matrics.interval, or of names of models to confusion matrices, got {type(results).__name__}"
        )
    names_of_models = known_names(results, names)
    if are_matrices(results):
        stack = host_stack(results, "results")[1]
        results = interval(stack, "core" if metrics is None else metrics)
    elif metrics is not None:
        raise TypeError(
            "metrics: expected None with results, which have measures of their own; choose some of their keys"
        )
    if len(results) > MOST_PANELS:
        raise ValueError(
            f"results: expected at most {MOST_PANELS} measures, each in a panel, got {len(results)}; choose some"
        )
    if isinstance(most, bool) or not isinstance(most, int) or most < 2:
        raise ValueError(f"most: expected a number of models to show, 2 or more, got {quoted(most)}")
    measures = [read_measure(name, result) for name, result in results.items()]
    sizes = {len(measure.estimate) for measure in measures}
    if len(sizes) > 1:
        raise ValueError(f"results: expected the same models for all measures, got {sorted(sizes)} models")
    number = sizes.pop()
    return ModelsDisplay(
        measures,
        names_of_rows(names_of_models, number, "model"),
        [int(model) for model in measures[0].order()],
        min(most, number),
    ).plot(ax, width=width)
