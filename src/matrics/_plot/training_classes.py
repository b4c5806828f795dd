"""A measure of each class over the steps of a training run, and the classes that are forgotten."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.naming import title_of
from matrics._catalogue.of_scores import name_of, spec_of
from matrics._catalogue.registry import get_metric
from matrics._engine.results import NamedResult
from matrics._plot.display import Display
from matrics._plot.heat_map import class_ticks, short_name, write_below
from matrics._plot.history import read_runs
from matrics._plot.inputs import host_stack, names_of_classes
from matrics._plot.style import BLUES, INK, SMALL, blend, tidy
from matrics._plot.training import direction_of
from matrics._quoting import quoted
from matrics._ranking.state_names import BOUNDED, HITS
from matrics._scoring.score import score
from matrics._wording import significant
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Forgotten", "TrainingClassesDisplay", "training_classes"]

LIMITS = ("low", "high")
# Measures of scores with values of classes, which cannot be computed from a matrix.
OF_SCORES = (*BOUNDED, *HITS)


class Forgotten(NamedResult):
    """A class whose last value is worse than its best value.

    Parameters
    ----------
    class_name : str
        The class.
    best, last : float
        The best value, and the last defined value.
    step : float
        The step with the best value.
    loss : float
        The difference of the best and the last value; positive.
    """

    class_name: str
    best: float
    step: float
    last: float
    loss: float

    def __str__(self) -> str:
        """The change in words, for captions."""
        best, last = significant(self.best), significant(self.last)
        return f"{self.class_name}: {best} at step {self.step:,.10g}, {last} at the last step"


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
        The classes whose last value is worse than their best value, in descending order of the loss.
    top : int
        The number of these classes that are named.
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
        """The width and height in inches: a column of a paper, or more for many steps; high enough for all classes."""
        rows, columns = self.values.shape
        width = min(7.2, max(3.5, 1.4 + 0.09 * columns))
        return width, 1.1 + min(6.5, max(1.0, 0.17 * rows)) + 0.15 * len(self._lines())

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw a row for each class, a column for each step, and a mark at the best step of a forgotten class."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        (axes,) = panels
        tidy(axes)
        low, high = self._scale_limits()
        shares = (self.values - low) / (high - low)
        shares = shares if self.higher_is_better else 1 - shares
        axes.imshow(blend(BLUES, shares), interpolation="nearest", aspect="auto")
        axes.spines[:].set(visible=True, color=INK, linewidth=0.8)
        class_ticks(axes, self.class_names)  # for the rows; the columns are steps
        step_of_labels = -(-len(self.steps) // 10)  # a label for every tenth part of the steps
        places = range(0, len(self.steps), step_of_labels)
        axes.set_xticks(list(places), labels=[f"{self.steps[k]:,.10g}" for k in places], rotation=0, ha="center")
        for class_lost in self.forgotten[: self.top]:
            place = int(np.flatnonzero(self.steps == class_lost.step)[0])
            axes.plot(
                place, self.class_names.index(class_lost.class_name), marker="o", markersize=4.5, color=INK,
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

    def _scale_limits(self) -> tuple[float, float]:
        """The limits of the scale: 0 and 1 if all values are between them, otherwise the extreme values."""
        known = self.values[np.isfinite(self.values)]
        if not known.size or (known.min() >= 0 and known.max() <= 1):
            return 0.0, 1.0
        low, high = float(known.min()), float(known.max())
        return (low, high) if high > low else (low - 0.5, high + 0.5)

    def _lines(self) -> list[str]:
        texts = [
            str(change._replace(class_name=short_name(change.class_name))) for change in self.forgotten[: self.top]
        ]
        return ["Largest losses since the best step (circles)", *texts] if texts else []

    def describe(self) -> str:
        """Describe the picture in a few sentences."""
        classes, steps = self.values.shape
        sentences = [
            f"{title_of(self.metric)} of {classes} class{'es' * (classes > 1)} over {steps} step{'s' * (steps > 1)}.",
            *(f"{change}." for change in self.forgotten[: self.top]),
        ]
        if not self.forgotten:
            sentences.append("No class is worse at its last step than at its best step.")
        undefined = int(np.isnan(self.values).sum())
        if undefined:
            sentences.append(f"{undefined} value{'s are' if undefined > 1 else ' is'} undefined, drawn in grey.")
        return " ".join(sentences)


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

    A row is a class and a column a step; darker is better. The classes with the largest losses since their best step
    come first and have a circle there; the others follow in their own order.

    Parameters
    ----------
    run : array_like, shape (T, n, n), mapping, data frame, sequence, str or Path
        The confusion matrices of each step; or a run with values of each class, as
        :func:`matrics.plot.training` reads it: the path of a ``.csv`` or ``.jsonl`` file, a table, or a mapping, with
        names such as ``val/recall/cat``.
    metric : str, optional
        For matrices, a per-class measure, ``"recall"`` if left out. For a run, the name before that of the class, such
        as ``"val/recall"``; it may be left out if there is a single measure with values of classes.
    steps : array_like, shape (T,), optional
        The steps, if the runs have none; 0, 1, 2, … if left out.
    class_names : sequence of str, optional
        Names of the classes, in their order, for matrices.
    top : int, default 5
        The number of classes with the largest losses that are named.
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
        The run cannot be read, or has no values of classes, or values of several measures; the measure has no values of
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
    recall of 2 classes over 3 steps. dog: 0.8 at step 1, 0.6 at the last step.
    """
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise ValueError(f"top: expected a number of classes to name, 0 or more, got {quoted(top)}")
    if _are_matrices(run):
        name_of_metric, values, names = _values_of_matrices(run, metric or "recall", class_names)
        steps_of_values = np.arange(values.shape[1], dtype=float) if steps is None else np.asarray(steps, float)
        if steps_of_values.shape != values.shape[1:]:
            raise ValueError(
                f"steps: expected {values.shape[1]}, a step for each matrix, got shape {steps_of_values.shape}"
            )
    else:
        name_of_metric, values, names, steps_of_values = _values_of_run(run, metric, steps)
        if class_names is not None:
            raise ValueError("class_names: expected None for a run, whose values have the names of classes")
    is_higher = direction_of(name_of_metric) is not False
    forgotten = _forgotten(values if is_higher else -values, names, steps_of_values)
    forgotten = (
        forgotten if is_higher else [change._replace(best=-change.best, last=-change.last) for change in forgotten]
    )
    first = [names.index(change.class_name) for change in forgotten[:top]]
    order = [*first, *(k for k in range(len(names)) if k not in first)]
    in_order = tuple(names[k] for k in order)
    return TrainingClassesDisplay(
        values[order], steps_of_values, in_order, name_of_metric, is_higher, forgotten, top
    ).plot(ax, width=width)


def _are_matrices(run: Any) -> bool:
    """Whether the input is a stack of matrices, and not a run."""
    shape = getattr(run, "shape", None)
    if shape is None and isinstance(run, (list, tuple)):
        try:
            shape = np.shape(run)
        except ValueError:  # lists of different lengths
            return False
    return shape is not None and len(shape) == 3


def _values_of_matrices(
    run: Any, metric: str, class_names: Sequence[str] | None
) -> tuple[str, NumPyArray, tuple[str, ...]]:
    """The measure, its values of each class at each step (n, T), and the names of the classes."""
    _, matrices = host_stack(run)
    measure = get_metric(metric)
    if measure.kind == "overall" or measure.average not in (None, "class") or measure.classes:
        raise ValueError(f"metric: expected a per-class measure, such as 'recall', got {quoted(metric)}")
    values = score(matrices, measure.using(average="class"), invalid="nan")
    names = names_of_classes(class_names, matrices.shape[-1])
    return str(metric).removesuffix(":class"), np.asarray(next(iter(values.values())), float).T, names


def _values_of_run(run: Any, metric: str | None, steps: Any) -> tuple[str, NumPyArray, tuple[str, ...], NumPyArray]:
    """The measure, its values (n, T), the names of the classes and the steps of a run with keys val/recall/cat."""
    runs = read_runs(run, steps, None)
    if len(runs) != 1:
        raise ValueError(f"run: expected a single run, got {len(runs)}")
    groups: dict[str, dict[str, tuple[NumPyArray, NumPyArray]]] = {}
    for name, value in runs[0].values.items():
        before, label = _measure_and_class(name)
        if label and not _is_limit(name, runs[0].values, of_class="/" in label):
            groups.setdefault(before, {})[label] = value
    if metric is None:
        # A measure with an interval has the keys mcc, mcc/low and mcc/high, which are not classes.
        of_classes = [name for name in groups if groups[name].keys() != set(LIMITS) or name not in runs[0].values]
        metric = of_classes[0] if len(of_classes) == 1 else None
    if metric not in groups:
        expected = (
            f"a name out of {', '.join(groups)}" if groups else "a run with values of classes, such as 'val/recall/cat'"
        )
        raise ValueError(f"metric: expected {expected}, got {quoted(metric)}")
    values_of_classes = groups[metric]
    all_steps = np.unique(np.concatenate([steps_of_class for steps_of_class, _ in values_of_classes.values()]))
    values = np.full((len(values_of_classes), len(all_steps)), np.nan)
    for row, (steps_of_class, values_of_class) in zip(values, values_of_classes.values(), strict=True):
        row[np.searchsorted(all_steps, steps_of_class)] = values_of_class
    return metric, values, tuple(values_of_classes), all_steps


def _measure_and_class(name: str) -> tuple[str, str]:
    """The names of a measure and of a class, such as val/recall and n/a; the latter is empty without a class.

    A prefix, or a part of the name of a class, may be an alias of a measure, such as the n of n/a. So canonical names
    have precedence over aliases.
    """
    *parts, _ = name.split("/")
    canonical_names = [_canonical_name(part) for part in parts]
    candidates = [k for k, canonical_name in enumerate(canonical_names) if canonical_name == parts[k]] + [
        k for k, canonical_name in enumerate(canonical_names) if canonical_name
    ]
    if not candidates:
        return name, ""
    measure = "/".join(parts[: candidates[0] + 1])
    return measure, name[len(measure) + 1 :]


def _is_limit(name: str, names: Collection[str], *, of_class: bool) -> bool:
    """Whether a name is a limit of the interval of a class, such as recall/cat/low."""
    before, _, end = name.rpartition("/")
    return of_class and end in LIMITS and all(other in names for other in (before, *(f"{before}/{x}" for x in LIMITS)))


def _canonical_name(name: str) -> str | None:
    """The canonical name of a measure, also at a threshold (recall@0.5) or of scores (roc_auc); None if unknown."""
    try:
        measure = get_metric(name.partition("@")[0])
    except (TypeError, ValueError):
        spec = spec_of(name)
        return spec if name_of(spec) in OF_SCORES else None
    return name if name.startswith(measure.name) else measure.name


def _forgotten(values: NumPyArray, names: Sequence[str], steps: NumPyArray) -> list[Forgotten]:
    """The classes whose last value is below their highest value, in descending order of the loss."""
    changes = []
    for name, row in zip(names, values, strict=True):
        known = np.flatnonzero(np.isfinite(row))
        if not known.size:
            continue
        best, last = int(known[np.argmax(row[known])]), int(known[-1])
        if row[best] > row[last]:
            changes.append(
                Forgotten(name, float(row[best]), float(steps[best]), float(row[last]), float(row[best] - row[last]))
            )
    return sorted(changes, key=lambda change: -change.loss)
