"""Measures over the steps of a training run, or of many."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.naming import title_of
from matrics._catalogue.of_scores import name_of
from matrics._catalogue.registry import get_metric
from matrics._plot.history import TrainingRun, read_runs
from matrics._plot.lines import (
    LEGEND_LINE,
    MOST_NAMED,
    LinesDisplay,
    cut_name,
    draw_crowd,
    draw_line,
    legend_below,
    line_styles,
)
from matrics._plot.style import INK, Style, styles, tidy
from matrics._quoting import quoted
from matrics._ranking.state_names import BOUNDED, HITS
from matrics._wording import significant
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TrainingDisplay", "training"]

MOST_PANELS = 12
LOWER_IS_BETTER = ("loss", "error", "brier_score", "cross_entropy", "perplexity")
HIGHER_IS_BETTER = (*BOUNDED, *HITS, "accuracy")


@dataclass(eq=False, repr=False)
class TrainingDisplay(LinesDisplay):
    """Measures over steps, as from :func:`matrics.plot.training`.

    Parameters
    ----------
    runs : list of TrainingRun
        The runs, with all of their values.
    metrics : list of str
        The measures, each in a panel.
    smoothed : list of dict
        For each run the smoothed values of its measures; empty without smoothing.
    best : dict of str to (int, int)
        For each measure, the run with the best value and the index of its step.
    directions : dict of str to bool or None
        Whether higher values of a measure are better; None if unknown.
    """

    runs: list[TrainingRun]
    metrics: list[str]
    smoothed: list[dict[str, NumPyArray]]
    best: dict[str, tuple[int, int]] = field(default_factory=dict)
    directions: dict[str, bool | None] = field(default_factory=dict)

    @property
    def is_crowd(self) -> bool:
        """Whether there are too many runs for separate styles, so that most are drawn in grey."""
        return len(self.runs) > MOST_NAMED

    def panels(self) -> int:
        """The number of measures."""
        return len(self.metrics)

    def panel_size(self) -> tuple[float, float]:
        """The width of a paper's column, and room for the legend; smaller for several panels."""
        lines = 3 if self.is_crowd else len(self.runs) * (len(self.runs) > 1) + 1
        size = (3.5, 2.4) if self.panels() == 1 else (2.6, 2.1)
        return size[0], size[1] + LEGEND_LINE * lines / self.grid()[0]

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw each measure."""
        handles: list[Any] = []
        for axes, metric in zip(panels, self.metrics, strict=True):
            tidy(axes, grid="both")
            line_handles = self._draw_crowd(axes, metric) if self.is_crowd else self._draw_runs(axes, metric)
            handles += [
                handle
                for handle in line_handles
                if handle.get_label() not in {handle_drawn.get_label() for handle_drawn in handles}
            ]
            self._mark_best(axes, metric)
            axes.set_xlabel("step")
            axes.set_ylabel(cut_name(title_of(metric)))
        if self.best:
            handles += panels[0].plot(
                [], [], marker="o", markersize=7, color=INK, markerfacecolor="none", markeredgewidth=1.4,
                linestyle="none", label=self._best_in_words(),
            )  # fmt: skip
        legend_below(panels, handles, owns_figure=self.owns_figure)

    def _best_in_words(self) -> str:
        if self.panels() > 1:
            return "best step"
        number, place = self.best[self.metrics[0]]
        steps, values = self.runs[number].values[self.metrics[0]]
        return f"best step: {steps[place]:,.10g} ({significant(values[place], 4)})"

    def _draw_runs(self, axes: Axes, metric: str) -> list[Any]:
        """Draw each run in its own style; raw values are behind smoothed values."""
        handles = []
        for number, (run, style) in enumerate(zip(self.runs, styles(len(self.runs)), strict=True)):
            if metric not in run.values:
                continue
            steps, values = run.values[metric]
            if self.smoothed:
                raw = style._replace(dashes="-")
                draw_line(
                    axes, steps, values, raw, "", marker="", linewidth=0.7, alpha=0.55, num_lines=self._num_lines()
                )
                values = self.smoothed[number][metric]
            handles.append(draw_line(axes, steps, values, style, cut_name(run.name), num_lines=self._num_lines()))
        return handles if len(self.runs) > 1 else []

    def _draw_crowd(self, axes: Axes, metric: str) -> list[Any]:
        """Draw all runs in grey, their mean, and the best run."""
        runs_with_metric = [(k, run.values[metric]) for k, run in enumerate(self.runs) if metric in run.values]
        drawn = [
            (steps, self.smoothed[k][metric] if self.smoothed else values) for k, (steps, values) in runs_with_metric
        ]
        draw_crowd(axes, drawn)
        mean_style, best_style = line_styles(2, on_grey=True)
        label = f"mean of {len(self.runs)} runs (grey) that have the step"
        handles = [
            draw_line(axes, *mean_of([line for _, line in runs_with_metric]), mean_style, label, marker="", linewidth=2)
        ]
        if metric in self.best:
            steps, values = self.runs[self.best[metric][0]].values[metric]
            handles.append(
                draw_line(axes, steps, values, best_style, "run with the best value of the panel", marker="")
            )
        return handles

    def _num_lines(self) -> int:
        return len(self.runs) * len(self.metrics) * (2 if self.smoothed else 1)

    def _mark_best(self, axes: Axes, metric: str) -> None:
        if metric not in self.best:
            return
        number, place = self.best[metric]
        steps, values = self.runs[number].values[metric]
        style: Style = line_styles(2, on_grey=True)[1] if self.is_crowd else styles(len(self.runs))[number]
        axes.plot(
            steps[place], values[place], marker="o", markersize=7, color=style.colour, markerfacecolor="none",
            markeredgewidth=1.4, linestyle="none", zorder=4, clip_on=False,
        )  # fmt: skip

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        number = len(self.runs)
        titles = [title_of(metric) for metric in self.metrics]
        sentences = [f"{', '.join(titles)} over the steps of {f'{number} runs' if number > 1 else 'a run'}."]
        for metric, title in zip(self.metrics, titles, strict=True):
            lines = [run.values[metric] for run in self.runs if metric in run.values]
            undefined = sum(int(np.isnan(values).sum()) for _, values in lines)
            if metric in self.best:
                number_of_run, place = self.best[metric]
                steps, values = self.runs[number_of_run].values[metric]
                suffix = f" of {self.runs[number_of_run].name}" if number > 1 else ""
                sentences.append(f"{title}: best {significant(values[place], 4)} at step {steps[place]:,.10g}{suffix}.")
            elif not any(np.isfinite(values).any() for _, values in lines):
                sentences.append(f"{title} has no values.")
            if undefined:
                sentences.append(f"{title} is undefined at {undefined} step{'s' * (undefined > 1)}, left as a gap.")
        if self.smoothed:
            sentences.append("Lines are smoothed, with the raw values behind them.")
        return " ".join(sentences)


def training(
    runs: Any,
    metrics: str | Sequence[str] | None = None,
    *,
    steps: Any = None,
    names: Sequence[str] | None = None,
    smoothing: float = 0.0,
    higher_is_better: Mapping[str, bool] | None = None,
    width: float | None = None,
    ax: Any = None,
) -> TrainingDisplay:
    """Draw measures over the steps of training, for a single run or many.

    Each measure has a panel, and its best step is marked. Undefined values (NaN) are gaps. Up to eight runs have a line
    in separate styles; more are grey lines, with their mean and the run with the best value.

    Parameters
    ----------
    runs : mapping, data frame, sequence, str or Path
        A single run: a mapping of measures to the values of all steps, in which ``"step"`` may have the steps, or a
        table with these columns; a list with the scores of each step, such as those of :func:`matrics.score`; or the
        path of a ``.csv`` or ``.jsonl`` file, as :func:`matrics.loggers.log_to` writes it. Several runs: a list of
        runs, or a mapping of names to runs. Of a repeated step, as after a restart, the last values count.
    metrics : str or sequence of str, optional
        The measures, in the order in which they are drawn; all if left out.
    steps : array_like, shape (T,), optional
        The steps, if the runs have none; 0, 1, 2, … if left out.
    names : sequence of str, optional
        The names of the runs.
    smoothing : float, default 0
        In [0, 1): the weight of the previous mean in the next mean (exponential moving average, as in
        TensorBoard). The raw values stay visible.
    higher_is_better : mapping of str to bool, optional
        For measures without a known better direction, so that their best step is marked, too.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, or array of them, optional
        The axes to draw on, an Axes for each panel, which is a measure; a new figure if left out.

    Returns
    -------
    TrainingDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError, ValueError
        The runs cannot be read, a measure is in none of them, there are more than 12 measures, or an option is out of
        range.

    Examples
    --------
    >>> import matrics.plot
    >>> run = {"step": [100, 200, 300], "loss": [0.9, 0.5, 0.6], "val/mcc": [0.2, float("nan"), 0.7]}
    >>> display = matrics.plot.training(run)
    >>> print(display.describe()[:66])
    loss, val/mcc over the steps of a run. loss: best 0.5 at step 200.
    """
    if isinstance(smoothing, bool) or not isinstance(smoothing, (int, float, np.number)) or not 0 <= smoothing < 1:
        raise ValueError(f"smoothing: expected a number from 0 to below 1, got {quoted(smoothing)}")
    runs_read = read_runs(runs, steps, names)
    known = list(dict.fromkeys(name for run in runs_read for name in run.values))
    names_of_metrics = known if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
    missing = [name for name in names_of_metrics if name not in known]
    if missing:
        raise ValueError(f"metrics: expected some of {', '.join(known)}, got {quoted(missing[0])}")
    if not 0 < len(names_of_metrics) <= MOST_PANELS:
        raise ValueError(
            f"metrics: expected 1 to {MOST_PANELS} measures, each in a panel, got {len(names_of_metrics)}; choose some "
            f"of {', '.join(known[:20])}{', …' if len(known) > 20 else ''}"
        )
    directions = {name: (higher_is_better or {}).get(name, direction_of(name)) for name in names_of_metrics}
    smoothed = [
        {name: smooth(values, float(smoothing)) for name, (_, values) in run.values.items()} for run in runs_read
    ]  # fmt: skip
    return TrainingDisplay(
        runs_read, names_of_metrics, smoothed if smoothing else [], _best_steps(runs_read, directions), directions
    ).plot(ax, width=width)  # fmt: skip


def direction_of(name: str) -> bool | None:
    """Whether higher values are better, from the parts of a name such as ``val/recall/cat``; None if unknown."""
    for title in reversed(name.replace("_loss", "/loss").split("/")):
        part = re.split(", | of ", title)[0]  # recall, macro; recall of cat
        if name_of(part) in HIGHER_IS_BETTER:
            return True
        if part.endswith(LOWER_IS_BETTER):
            return False
        try:
            return get_metric(re.split(", | of |@", part)[0]).higher_is_better  # of files: recall of fraud; recall@0.5
        except (ValueError, TypeError):
            continue
    return None


def _best_steps(runs: Sequence[TrainingRun], directions: Mapping[str, bool | None]) -> dict[str, tuple[int, int]]:
    """The run and the index of the step with the best value of each measure, the first of equal values."""
    bests = {}
    for name, is_higher in directions.items():
        if is_higher is None:
            continue
        sign = 1 if is_higher else -1
        known = [
            (sign * values[place], -k, -int(place))
            for k, run in enumerate(runs)
            for values in (run.values.get(name, ((), np.empty(0)))[1],)
            if np.isfinite(values).any()
            for place in [np.nanargmax(np.where(np.isfinite(values), sign * values, np.nan))]
        ]
        if known:
            _, k, place = max(known)
            bests[name] = (-k, -place)
    return bests


def smooth(values: NumPyArray, weight: float) -> NumPyArray:
    """The exponential moving average of values, without the bias of its start; a NaN affects only its own step.

    Parameters
    ----------
    values : array, shape (T,)
        The values.
    weight : float
        In [0, 1): the weight of the previous mean in the next mean.

    Returns
    -------
    array, shape (T,)
        The means.
    """
    means, mean, total = np.full(len(values), np.nan), 0.0, 0.0
    for place, value in enumerate(values):
        if np.isfinite(value):
            mean = weight * mean + (1 - weight) * value
            total = weight * total + (1 - weight)
            means[place] = mean / total
    return means


def mean_of(lines: Sequence[tuple[NumPyArray, NumPyArray]]) -> tuple[NumPyArray, NumPyArray]:
    """The mean at each step over the lines that have a value there; NaN if no line has a value."""
    steps = np.unique(np.concatenate([at for at, _ in lines]))
    total, number = np.zeros(len(steps)), np.zeros(len(steps))
    for at, values in lines:
        known = np.isfinite(values)
        place = np.searchsorted(steps, at[known])
        total[place] += values[known]
        number[place] += 1
    return steps, np.where(number > 0, total / np.maximum(number, 1), np.nan)
