"""A measure of each class over the steps of a training run, and the classes that are forgotten."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.naming import title_of
from matrics._catalogue.of_scores import spec_of
from matrics._catalogue.registry import get_metric
from matrics._engine.results import NamedResult
from matrics._plot.display import Display
from matrics._plot.heat_map import class_ticks, short_name, write_below
from matrics._plot.history import read_runs
from matrics._plot.inputs import host_stack, names_of_classes
from matrics._plot.style import BLUES, INK, SMALL, blend, tidy
from matrics._plot.training import direction_of
from matrics._quoting import quoted
from matrics._scoring.score import score
from matrics._wording import significant
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Forgotten", "TrainingClassesDisplay", "training_classes"]

LIMITS = ("low", "high")
# Measures with values of classes that no matrix has.
OF_SCORES = ("roc_auc", "average_precision", "top_k_accuracy", "top_k_recall")


class Forgotten(NamedResult):
    """A class whose last value is worse than its best one.

    Parameters
    ----------
    class_name : str
        The class.
    best, last : float
        The best value, and that of the last step with a value.
    step : float
        The step with the best value.
    loss : float
        How much worse the last one is.
    """

    class_name: str
    best: float
    step: float
    last: float
    loss: float

    def __str__(self) -> str:
        """In words, as captions have it."""
        best, last = significant(self.best), significant(self.last)
        return f"{self.class_name}: {best} at step {self.step:,.10g}, {last} at the last one"


@dataclass(eq=False, repr=False)
class TrainingClassesDisplay(Display):
    """A measure of each class over steps, as from :func:`matrics.plot.training_classes`.

    Parameters
    ----------
    values : array, shape (n, T)
        The value of each class at each step, NaN if undefined; classes are in the order in which they are drawn.
    steps : array, shape (T,)
        The steps.
    class_names : tuple of str
        The names of the classes, in that order.
    metric : str
        The measure.
    higher_is_better : bool
        Whether higher values are better.
    forgotten : list of Forgotten
        The classes whose last value is worse than their best one, those that have lost the most first.
    top : int
        How many of these classes are named.
    """

    values: NumPyArray
    steps: NumPyArray
    class_names: tuple[str, ...]
    metric: str
    higher_is_better: bool
    forgotten: list[Forgotten]
    top: int = 5

    as_high_as_rows = True

    def panel_size(self) -> tuple[float, float]:
        """A column of a paper, wider for many steps, and as high as the classes need."""
        rows, columns = self.values.shape
        width = min(7.2, max(3.5, 1.4 + 0.09 * columns))
        return width, 1.1 + min(6.5, max(1.0, 0.17 * rows)) + 0.15 * len(self._lines())

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw a row for each class, a column for each step, and a mark at the best step of a forgotten class."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        (axes,) = panels
        tidy(axes)
        low, high = self._ends()
        shares = (self.values - low) / (high - low)
        shares = shares if self.higher_is_better else 1 - shares
        axes.imshow(blend(BLUES, shares), interpolation="nearest", aspect="auto")
        axes.spines[:].set(visible=True, color=INK, linewidth=0.8)
        class_ticks(axes, self.class_names)  # of the rows; the columns are steps
        every = -(-len(self.steps) // 10)  # few steps are named: they are numbers
        places = range(0, len(self.steps), every)
        axes.set_xticks(list(places), labels=[f"{self.steps[k]:,.10g}" for k in places], rotation=0, ha="center")
        for one in self.forgotten[: self.top]:
            place = int(np.flatnonzero(self.steps == one.step)[0])
            axes.plot(
                place, self.class_names.index(one.class_name), marker="o", markersize=4.5, color=INK,
                markerfacecolor="white", markeredgewidth=0.9, linestyle="none",
            )  # fmt: skip
        write_below(axes, "step", self._lines(), owns_figure=self.owns_figure)
        figure: Any = axes.get_figure(root=True)
        colours = blend(BLUES, np.linspace(*((0, 1) if self.higher_is_better else (1, 0)), 256))
        mappable = ScalarMappable(Normalize(low, high), ListedColormap(colours))
        bar = figure.colorbar(mappable, ax=axes, fraction=0.05, pad=0.02, aspect=30)
        bar.outline.set(linewidth=0.5)
        bar.ax.tick_params(labelsize=SMALL, color=INK, labelcolor=INK, length=2)
        bar.set_label(title_of(self.metric), fontsize=SMALL, color=INK)

    def _ends(self) -> tuple[float, float]:
        """The ends of the scale: 0 and 1 where all values are between them, and those of the values otherwise."""
        known = self.values[np.isfinite(self.values)]
        if not known.size or (known.min() >= 0 and known.max() <= 1):
            return 0.0, 1.0
        low, high = float(known.min()), float(known.max())
        return (low, high) if high > low else (low - 0.5, high + 0.5)

    def _lines(self) -> list[str]:
        found = [str(one._replace(class_name=short_name(one.class_name))) for one in self.forgotten[: self.top]]
        return ["Largest losses since the best step (circles)", *found] if found else []

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        classes, steps = self.values.shape
        told = [
            f"{title_of(self.metric)} of {classes} class{'es' * (classes > 1)} over {steps} step{'s' * (steps > 1)}.",
            *(f"{one}." for one in self.forgotten[: self.top]),
        ]
        if not self.forgotten:
            told.append("No class is worse at its last step than at its best one.")
        undefined = int(np.isnan(self.values).sum())
        if undefined:
            told.append(f"{undefined} value{'s are' if undefined > 1 else ' is'} undefined, drawn in grey.")
        return " ".join(told)


def training_classes(
    run: Any,
    metric: str | None = None,
    *,
    steps: Any = None,
    class_names: Sequence[str] | None = None,
    top: int = 5,
    width: float | None = None,
    ax: Any = None,
) -> TrainingClassesDisplay:
    """Draw a measure of each class over the steps of a training run: which classes are learned late, or forgotten.

    A row is a class and a column a step; the darker, the better. The classes that have lost the most since their best
    step come first and have a circle there; the others follow in their own order.

    Parameters
    ----------
    run : array_like, shape (T, n, n), mapping, data frame, sequence, str or Path
        The confusion matrices of each step; or one run with values of each class, as
        :func:`matrics.plot.training` reads it: the path of a ``.csv`` or ``.jsonl`` file, a table, or a mapping, with
        names such as ``val/recall/cat``.
    metric : str, optional
        Of matrices a per-class measure, ``"recall"`` if left out. Of a run the name before that of the class, such as
        ``"val/recall"``; it may be left out if there is only one.
    steps : array_like, shape (T,), optional
        The steps, if the runs have none; 0, 1, 2, … if left out.
    class_names : sequence of str, optional
        Names of the classes, in their order, of matrices.
    top : int, default 5
        How many of the classes that have lost the most are named.
    width : float, optional
        The width of a new figure in inches, such as 3.5, a column of many journals; chosen by the contents if left out.
        Texts keep their size.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; a new figure if left out.

    Returns
    -------
    TrainingClassesDisplay
        The data, ``forgotten``, ``figure_`` and ``ax_``.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    TypeError, ValueError
        The run cannot be read, has no values of classes, or those of several measures; the measure has no values of
        classes; or steps or names do not fit.

    Notes
    -----
    The value of a class with few samples varies from step to step, so that a loss may be chance:
    :func:`matrics.compare` tests two of the steps.

    Examples
    --------
    >>> import matrics.plot
    >>> matrices = [[[8, 2], [5, 5]], [[9, 1], [2, 8]], [[9, 1], [4, 6]]]
    >>> display = matrics.plot.training_classes(matrices, class_names=["cat", "dog"])
    >>> display.forgotten
    [Forgotten(class_name='dog', best=0.8, step=1, last=0.6, loss=0.2)]
    >>> print(display.describe())
    recall of 2 classes over 3 steps. dog: 0.8 at step 1, 0.6 at the last one.
    """
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise ValueError(f"top: expected a number of classes to name, 0 or more, got {quoted(top)}")
    if _are_matrices(run):
        chosen, values, names = _of_matrices(run, metric or "recall", class_names)
        at = np.arange(values.shape[1], dtype=float) if steps is None else np.asarray(steps, float)
        if at.shape != values.shape[1:]:
            raise ValueError(f"steps: expected {values.shape[1]}, one for each matrix, got shape {at.shape}")
    else:
        chosen, values, names, at = _of_run(run, metric, steps)
        if class_names is not None:
            raise ValueError("class_names: expected None for a run, whose values have the names of classes")
    is_higher = direction_of(chosen) is not False
    forgotten = _forgotten(values if is_higher else -values, names, at)
    forgotten = forgotten if is_higher else [one._replace(best=-one.best, last=-one.last) for one in forgotten]
    first = [names.index(one.class_name) for one in forgotten[:top]]
    order = [*first, *(k for k in range(len(names)) if k not in first)]
    in_order = tuple(names[k] for k in order)
    return TrainingClassesDisplay(values[order], at, in_order, chosen, is_higher, forgotten, top).plot(ax, width=width)


def _are_matrices(run: Any) -> bool:
    """Whether it is a stack of matrices, and not a run."""
    shape = getattr(run, "shape", None)
    if shape is None and isinstance(run, (list, tuple)):
        try:
            shape = np.shape(run)
        except ValueError:  # lists of different lengths
            return False
    return shape is not None and len(shape) == 3


def _of_matrices(run: Any, metric: str, class_names: Sequence[str] | None) -> tuple[str, NumPyArray, tuple[str, ...]]:
    """The values of each class at each step."""
    _, matrices = host_stack(run)
    found = get_metric(metric)
    if found.kind == "overall" or found.average not in (None, "class") or found.classes:
        raise ValueError(f"metric: expected a per-class measure, such as 'recall', got {quoted(metric)}")
    values = score(matrices, found.using(average="class"), invalid="nan")
    names = names_of_classes(class_names, matrices.shape[-1])
    return str(metric).removesuffix(":class"), np.asarray(next(iter(values.values())), float).T, names


def _of_run(run: Any, metric: str | None, steps: Any) -> tuple[str, NumPyArray, tuple[str, ...], NumPyArray]:
    """The same of a run with names such as val/recall/cat, and its steps."""
    runs = read_runs(run, steps, None)
    if len(runs) != 1:
        raise ValueError(f"run: expected one run, got {len(runs)}")
    groups: dict[str, dict[str, tuple[NumPyArray, NumPyArray]]] = {}
    for name, value in runs[0].values.items():
        before, label = _measure_and_class(name)
        if label and not _is_limit(name, runs[0].values, of_class="/" in label):
            groups.setdefault(before, {})[label] = value
    if metric is None:
        # Of a measure with an interval, a run has the limits under mcc/low and mcc/high, beside mcc: no classes.
        of_classes = [name for name in groups if groups[name].keys() != set(LIMITS) or name not in runs[0].values]
        metric = of_classes[0] if len(of_classes) == 1 else None
    if metric not in groups:
        there = f"one of {', '.join(groups)}" if groups else "a run with values of classes, such as 'val/recall/cat'"
        raise ValueError(f"metric: expected {there}, got {quoted(metric)}")
    found = groups[metric]
    at = np.unique(np.concatenate([own for own, _ in found.values()]))
    values = np.full((len(found), len(at)), np.nan)
    for row, (own, known) in zip(values, found.values(), strict=True):
        row[np.searchsorted(at, own)] = known
    return metric, values, tuple(found), at


def _measure_and_class(name: str) -> tuple[str, str]:
    """The names of a measure and of a class, which may have a slash: val/recall and n/a; of no class an empty one.

    A prefix and a part of a class may be another name of a measure, as the n of n/a is. So a measure's own name is
    looked for first.
    """
    *parts, _ = name.split("/")
    owns = [_own_name(part) for part in parts]
    places = [k for k, own in enumerate(owns) if own == parts[k]] + [k for k, own in enumerate(owns) if own]
    if not places:
        return name, ""
    measure = "/".join(parts[: places[0] + 1])
    return measure, name[len(measure) + 1 :]


def _is_limit(name: str, names: Collection[str], *, of_class: bool) -> bool:
    """Whether it is a limit of the interval of a class, recall/cat/low, and not a class."""
    before, _, end = name.rpartition("/")
    return of_class and end in LIMITS and all(other in names for other in (before, *(f"{before}/{x}" for x in LIMITS)))


def _own_name(name: str) -> str | None:
    """The name of a measure by any of its names, also at a threshold, or of one of scores: recall@0.5, roc_auc."""
    try:
        found = get_metric(name.partition("@")[0])
    except (TypeError, ValueError):
        spec = spec_of(name)
        return spec if spec.partition("(")[0] in OF_SCORES else None
    return name if name.startswith(found.name) else found.name


def _forgotten(values: NumPyArray, names: Sequence[str], steps: NumPyArray) -> list[Forgotten]:
    """The classes whose last value is below their highest one, those that have lost the most first."""
    found = []
    for name, row in zip(names, values, strict=True):
        known = np.flatnonzero(np.isfinite(row))
        if not known.size:
            continue
        best, last = int(known[np.argmax(row[known])]), int(known[-1])
        if row[best] > row[last]:
            found.append(
                Forgotten(name, float(row[best]), float(steps[best]), float(row[last]), float(row[best] - row[last]))
            )
    return sorted(found, key=lambda one: -one.loss)
