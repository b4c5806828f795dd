"""Distributions of a measure over replicates of a bootstrap, folds, seeds, or the runs of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.naming import title_of
from matrics._plot.display import Display
from matrics._plot.heat_map import short_name, write_below
from matrics._plot.inputs import names_of_rows, on_host
from matrics._plot.style import INK, SMALL, tidy
from matrics._uncertainty.options import check_level
from matrics._wording import significant
from matrics.typing import ArrayLike, NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DistributionDisplay", "distribution"]

FEW_VALUES = 60  # up to this number of values, all are drawn as points
TALL_ROWS = 12  # up to this number of groups, shapes are drawn; of more only quantiles
NAMED_ROWS = 50  # up to this number of groups, each has a name
MOST_ROWS = 200
DISTINCT = 40  # up to this number of different values, each has a line, as bins would show artefacts
MOST_BINS = 60
NAME = 24  # characters
LIGHT, DARK, ORANGE = "#9cc4e2", "#08306b", "#b85606"


@dataclass(eq=False, repr=False)
class DistributionDisplay(Display):
    """Values of a measure in G groups, as from :func:`matrics.plot.distribution`.

    Parameters
    ----------
    values : list of array
        The values of each group, of any length; NaN and infinite values are not drawn, but counted next to the name.
    names : list of str
        The names of the groups.
    title : str
        The name of the measure.
    quantiles : array, shape (G, 5)
        Quantiles of the finite values of each group: the limits of the share ``level`` and of the middle half, and the
        median between them; NaN for groups without finite values.
    estimates : array, shape (G,), or None
        A value of each group to mark, such as the value of all samples.
    rows : list of int
        The groups from above to below.
    level : float
        The share of the values within the thin lines.
    """

    values: list[NumPyArray]
    names: list[str]
    title: str
    quantiles: NumPyArray
    estimates: NumPyArray | None
    rows: list[int]
    level: float

    as_high_as_rows = True

    def panel_size(self) -> tuple[float, float]:
        """The width of a column of a paper, and a height for all rows."""
        number = len(self.rows)
        row = 0.9 if number == 1 else 0.42 if number <= TALL_ROWS else 0.165 if number <= NAMED_ROWS else 7.0 / number
        return 3.5, max(0.9, 0.5 + row * number) + 0.15 * len(self._notes()) + 0.1

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw a row for each group: the values themselves or their shape, and quantiles."""
        (axes,) = panels
        tidy(axes, grid="x")
        number = len(self.rows)
        for place, group in enumerate(self.rows):
            values = self._finite(group)
            if not len(values):
                axes.text(
                    0.5, place, "no value", transform=axes.get_yaxis_transform(), ha="center", va="center",
                    fontsize=SMALL, color=INK, style="italic",
                )  # fmt: skip
                continue
            if number <= TALL_ROWS:
                draw_points(axes, place, values) if len(values) <= FEW_VALUES else draw_shape(axes, place, values)
        self._draw_quantiles(axes)
        axes.set_ylim(number - 0.55, -0.65)
        step = next(step for step in (1, 5, 10, 20) if number <= step * NAMED_ROWS)
        places = range(0, number, step)
        axes.set_yticks(list(places), labels=[self._label(self.rows[place]) for place in places])
        axes.tick_params(axis="y", length=0, labelsize=SMALL)
        axes.spines["left"].set_visible(False)
        write_below(axes, self.title or "value", self._notes(), owns_figure=self.owns_figure)

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        sentences = [f"Distribution of {self.title or 'values'} in {len(self.values)} groups."]
        if len(self.values) == 1:
            sentences = [f"Distribution of {self.title or 'values'}."]
        for group in self.rows[:5]:
            low, _, middle, _, high = self.quantiles[group]
            name = f"{self.names[group]}: " if len(self.values) > 1 else ""
            finite = self._finite(group)
            if not len(finite):
                sentences.append(f"{name}no value{self._left_out(group)}.")
                continue
            limits = f"{self.level:.0%} of them between {significant(low)} and {significant(high)}"
            if len(finite) <= FEW_VALUES:
                limits = f"from {significant(finite.min())} to {significant(finite.max())}"
            number = f"{len(finite):,} value{'s' * (len(finite) > 1)}"
            sentences.append(f"{name}{number} around {significant(middle)}, {limits}{self._left_out(group)}.")
        medians = self.quantiles[np.isfinite(self.quantiles[:, 2]), 2]
        if len(self.rows) > 5 and len(medians):
            sentences.append(
                f"The medians of all groups are between {significant(medians.min())} and {significant(medians.max())}."
            )
        if len(self.rows) < len(self.values):
            sentences.append(
                f"{len(self.rows)} of {len(self.values)} groups are shown, evenly chosen by their medians."
            )
        return " ".join(sentences)

    def _finite(self, group: int) -> NumPyArray:
        return self.values[group][np.isfinite(self.values[group])]

    def _left_out(self, group: int) -> str:
        """The number of values that are not drawn, in words."""
        undefined = np.count_nonzero(np.isnan(self.values[group]))
        infinite = np.count_nonzero(np.isinf(self.values[group]))
        parts = [f"{number:,} {what}" for number, what in ((undefined, "undefined"), (infinite, "infinite")) if number]
        return f" ({', '.join(parts)})" if parts else ""

    def _label(self, group: int) -> str:
        name, left_out = short_name(self.names[group], NAME), self._left_out(group)
        return f"{name}\n{left_out[1:]}" if left_out and len(self.rows) <= TALL_ROWS else f"{name}{left_out}"

    def _draw_quantiles(self, axes: Axes) -> None:
        """Draw thin lines for the share ``level`` of the values, thick lines for half, the median and the estimate."""
        is_tall, is_named = len(self.rows) <= TALL_ROWS, len(self.rows) <= NAMED_ROWS
        rows_with_values = [(place, group) for place, group in enumerate(self.rows) if len(self._finite(group))]
        if is_tall:
            for place, group in rows_with_values:
                if self._is_few(group):
                    line = self.quantiles[group, [2, 2]]
                    axes.plot(line, [place - 0.4, place + 0.4], color=INK, linewidth=1.2)
            rows_with_values = [(place, group) for place, group in rows_with_values if not self._is_few(group)]
        # A single line with gaps for all rows keeps the file small.
        rows = np.array([[place, place, np.nan] for place, _ in rows_with_values]) + 0.12 * is_tall
        quantiles = self.quantiles[[group for _, group in rows_with_values]]
        for ends, colour, width in (
            ([0, 4], INK, 1.0 if is_named else 0.5),
            ([1, 3], DARK, 3.5 if is_named else 1.6),
        ):
            lines = np.concatenate([quantiles[:, ends], np.full((len(quantiles), 1), np.nan)], axis=1)
            axes.plot(lines.ravel(), rows.ravel(), color=colour, linewidth=width, solid_capstyle="butt")
        axes.plot(
            quantiles[:, 2], rows.reshape(-1, 3)[:, 0], linestyle="", marker="o", color="white", markeredgecolor=INK,
            markersize=4 if is_named else 1.8, markeredgewidth=0.8 if is_named else 0.4,
        )  # fmt: skip
        if self.estimates is not None:
            places = np.arange(len(self.rows)) + 0.32 * is_tall
            axes.plot(
                self.estimates[self.rows], places, linestyle="", marker="^", color=ORANGE, zorder=5,
                markersize=5 if is_named else 2.5, markeredgewidth=0,
            )  # fmt: skip

    def _is_few(self, group: int) -> bool:
        """Whether all values of a group are drawn as points, if there is room for them."""
        return 0 < len(self._finite(group)) <= FEW_VALUES

    def _notes(self) -> list[str]:
        """The meaning of the marks."""
        sizes = {len(self._finite(group)) for group in self.rows} - {0} or {0}
        is_tall = len(self.rows) <= TALL_ROWS
        notes = []
        if is_tall and 0 < min(sizes) <= FEW_VALUES:
            notes.append("each point is a value; upright line: median")
        if max(sizes) > (FEW_VALUES if is_tall else 0):
            notes.append(f"thin: {self.level:.0%} of the values; thick: half; ○ median")
        if self.estimates is not None:
            notes.append("▲ estimate")
        if len(sizes) == 1:
            size = sizes.pop()
            notes.append(f"{size:,} value{'s' * (size != 1)}{' in each row' if len(self.rows) > 1 else ''}")
        if len(self.rows) > NAMED_ROWS:
            left_out = f"{len(self.rows)} of " if len(self.rows) < len(self.values) else ""
            notes.append(f"{left_out}{len(self.values)} groups, sorted by their medians; some are named")
        return notes


def draw_points(axes: Axes, place: float, values: NumPyArray) -> None:
    """Draw all values as points; points that would cover each other are moved apart."""
    values = np.sort(values)
    span = float(values[-1] - values[0]) or 1.0
    columns = np.round((values - values[0]) / span * 45)
    offsets = np.zeros(len(values))
    for column in np.unique(columns):
        inside = np.flatnonzero(columns == column)
        ranks = np.arange(len(inside)) - (len(inside) - 1) / 2
        offsets[inside] = ranks * min(0.14, 0.7 / len(inside))
    axes.plot(
        values, place + offsets, linestyle="", marker="o", markersize=4, color=DARK, alpha=0.75, markeredgewidth=0
    )


def draw_shape(axes: Axes, place: float, values: NumPyArray) -> None:
    """Draw a histogram above the line of the row, or a line for each value if there are few different values."""
    distinct, counts = np.unique(values, return_counts=True)
    line = place + 0.02
    if len(distinct) <= DISTINCT:
        axes.vlines(distinct, line - 0.55 * counts / counts.max(), line, color=DARK, linewidth=1.2)
        return
    low, high = np.quantile(values, [0.0005, 0.9995])  # outliers do not determine the bins
    inside = values[(values >= low) & (values <= high)]
    width = 2 * np.subtract(*np.quantile(inside, [0.75, 0.25])) / np.cbrt(len(inside))  # Freedman and Diaconis
    bins = int(np.clip((high - low) / width, 10, MOST_BINS)) if width > 0 else MOST_BINS
    heights, edges = np.histogram(inside, bins, range=(low, high))
    axes.stairs(line - 0.55 * heights / heights.max(), edges, baseline=line, fill=True, color=LIGHT)
    axes.stairs(line - 0.55 * heights / heights.max(), edges, baseline=line, color=DARK, linewidth=0.7)


def distribution(
    values: ArrayLike | Mapping[str, ArrayLike],
    *,
    title: str = "",
    names: Sequence[str] | None = None,
    estimates: ArrayLike | None = None,
    level: float = 0.95,
    width: float | None = None,
    ax: Any = None,
) -> DistributionDisplay:
    """Draw the distribution of a measure over replicates, folds, seeds, or the runs of a sweep.

    Up to 60 values are drawn as points. More values have a histogram, and below it a thin line for 95% of the values, a
    thick line for half of them, and the median. More than 12 groups have only these lines, and more than 50 groups are
    sorted by their medians. Undefined values are counted next to the name. The axis shows the values, and need not
    begin at 0.

    Parameters
    ----------
    values : array_like, shape (R,) or (R, G), or mapping of str to array_like, shape (R,)
        R values of a measure for each of G groups, such as the result of :func:`matrics.score` for a stack of
        :func:`matrics.simulate.resample`, whose first axis is that of the replicates. Groups in a mapping may have
        different numbers of values.
    title : str, default ""
        The name of the measure, for the axis.
    names : sequence of str, optional
        The names of the groups; the keys of a mapping, or numbers, if left out.
    estimates : array_like, shape () or (G,), optional
        A value of each group to mark, such as the measure of all samples.
    level : float, default 0.95
        The share of the values within the thin lines.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out.

    Returns
    -------
    DistributionDisplay
        The data, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    ValueError
        There are no values, or shapes or names do not fit.

    Examples
    --------
    >>> import matrics.plot
    >>> cm = [[40, 10], [5, 45]]
    >>> replicates = matrics.mcc(matrics.simulate.resample(cm, 10_000, rng=0))
    >>> display = matrics.plot.distribution(replicates, title="mcc", estimates=matrics.mcc(cm))
    >>> display.describe()
    'Distribution of mcc. 10,000 values around 0.704, 95% of them between 0.561 and 0.831.'
    """
    level = check_level(level)
    if isinstance(values, Mapping):
        names = [title_of(key) if isinstance(key, str) else str(key) for key in values] if names is None else names
        groups = [on_host(f"values of {key}", group).astype(np.float64) for key, group in values.items()]
        if any(group.ndim != 1 for group in groups):
            raise ValueError(f"values: expected (R,) in each group, got shapes {[group.shape for group in groups]}")
    else:
        array = on_host("values", values).astype(np.float64)
        if array.ndim not in (1, 2):
            raise ValueError(f"values: expected (R,), or (R, G) of G groups, got shape {array.shape}")
        names = [""] if names is None and array.ndim == 1 else names
        groups = list(array.T) if array.ndim == 2 else [array]
    if not groups or not any(len(group) for group in groups):
        raise ValueError("values: expected at least one value, got none")
    estimates_of_groups = None if estimates is None else on_host("estimates", estimates).astype(np.float64).reshape(-1)
    if estimates_of_groups is not None and len(estimates_of_groups) != len(groups):
        raise ValueError(f"estimates: expected {len(groups)}, a value for each group, got {len(estimates_of_groups)}")
    tail = (1 - level) / 2
    shares = [tail, 0.25, 0.5, 0.75, 1 - tail]
    finite = [group[np.isfinite(group)] for group in groups]
    quantiles = np.stack([np.quantile(group, shares) if len(group) else np.full(5, np.nan) for group in finite])
    return DistributionDisplay(
        groups,
        names_of_rows(names, len(groups), "group"),
        title_of(title),
        quantiles,
        estimates_of_groups,
        _rows(quantiles[:, 2]),
        level,
    ).plot(ax, width=width)


def _rows(medians: NumPyArray) -> list[int]:
    """The groups in their order; many groups are sorted by descending medians, and very many are thinned evenly."""
    number = len(medians)
    if number <= NAMED_ROWS:
        return list(range(number))
    order = np.argsort(-medians, kind="stable")  # groups without values come last
    chosen = np.linspace(0, number - 1, min(number, MOST_ROWS)).round().astype(int)
    return [int(group) for group in order[chosen]]
