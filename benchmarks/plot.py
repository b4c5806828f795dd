"""The plot of run.py: the time that a matrix takes, against its classes."""

from __future__ import annotations

from math import log10
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullLocator

STYLES = {
    "PyCM": {"color": "#9a6324"},
    "scikit-learn": {"color": "#d98200"},
    "torchmetrics": {"color": "#c0392b"},
    "prob_conf_mat": {"color": "#7d5ba6"},
    "plain NumPy": {"color": "#666666"},
    "matrics": {"color": "#0060a8", "linewidth": 2.5, "zorder": 3},
    "one read of the stack": {"color": "#999999", "linestyle": "--", "marker": ""},
}
COLUMNS = {"plain NumPy": "plain panel", "matrics": "panel", "one read of the stack": "read"}
WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # under labels, over the grid
APART = 0.25  # of labels: decades


def spell(nanoseconds: float, _: object = None) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:g} {unit}"
    return f"{nanoseconds:g} ns"


def spread(heights: dict[str, float]) -> dict[str, float]:
    """Heights of labels in decades, from the lowest up, each at least so far above the last that both can be read."""
    placed: dict[str, float] = {}
    floor = float("-inf")
    for name in sorted(heights, key=heights.get):
        floor = placed[name] = max(heights[name], floor + APART)
    return placed


def draw(rows: list[dict[str, float]], path: Path, title: str) -> None:
    """Six measures of a matrix: ours, the rivals, and the floor."""
    figure, axes = plt.subplots(figsize=(8.5, 5.5), layout="constrained")
    sizes = [row["n"] for row in rows]
    last = {}
    for label, style in STYLES.items():
        column = COLUMNS.get(label, label)
        if column in rows[0]:
            axes.plot(sizes, [row[column] for row in rows], **{"marker": "o", "markersize": 4, **style})
            last[label] = log10(rows[-1][column])
    for label, height in spread(last).items():
        weight = "bold" if label == "matrics" else "normal"
        place = {"xytext": (sizes[-1] * 1.1, 10**height), "textcoords": "data", "va": "center", "bbox": WHITE}
        axes.annotate(label, (sizes[-1], 10**height), color=STYLES[label]["color"], weight=weight, **place)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(right=sizes[-1] * 3.2)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(spell))
    axes.grid(visible=True, color="#e5e5e5")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("classes, n")
    axes.set_title(f"Six measures of an n×n confusion matrix: time a matrix, one thread\n{title}", loc="left", size=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
