"""The base of all pictures: the data, the figure, saving, showing, and a description in words."""

from __future__ import annotations

import html
import io
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from matrics._quoting import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = ["Display"]

# Text stays text in an SVG file: it can be searched and read aloud, and takes less room than outlines. Verdana is as
# wide as DejaVu Sans, with which Matplotlib has measured it.
FONTS = "'DejaVu Sans', Verdana, sans-serif"


MOST_TOLD = 400  # characters of a display as text


# Matplotlib's settings belong to the process: two threads that changed them at once could leave them changed.
SETTINGS = threading.Lock()


class Display:
    """A picture and the data that it shows.

    Functions of :mod:`matrics.plot` return it drawn. The figure is not registered with pyplot: it belongs to the
    display, unless axes were given, and is freed with it. In a notebook the display shows itself.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
        The figure.
    ax_ : matplotlib.axes.Axes, or array of Axes
        Its axes; an array if there are several panels.
    """

    figure_: Figure
    ax_: Any
    owns_figure: bool = True
    scale: float = 1.0  # the width of the figure by that which its contents suggest

    #: Whether rows of text decide how high it is, whatever the width.
    as_high_as_rows: ClassVar[bool] = False
    #: Width and height of a panel in inches; 3.5 is a column of a paper.
    size: ClassVar[tuple[float, float]] = (3.5, 3.0)

    def plot(self, ax: Any = None, *, width: float | None = None) -> Self:
        """Draw the data once more, into other axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, or array of them, optional
            The axes to draw on, one for each panel; a new figure if left out.
        width : float, optional
            The width of a new figure in inches; chosen by the contents if left out. Texts keep their size.

        Returns
        -------
        Display
            This object, whose ``figure_`` and ``ax_`` are the new ones.
        """
        rows, columns = self.grid()
        self.owns_figure = ax is None
        own = self.panel_size()[0] * columns
        width = checked_width(width, ax)
        self.scale = 1.0 if width is None else width / own
        if ax is None:
            figure_class = import_figure()
            high = self.panel_size()[1] if width is None else self._height_at(own * self.scale / columns)
            height = rows * max(high, 0.5)
            # The text is dark in every style of Matplotlib, so the background is white.
            self.figure_ = figure_class(
                figsize=(own * self.scale, height), dpi=144, layout=self.layout(), facecolor="white"
            )
            panels = list(self.figure_.subplots(rows, columns, squeeze=False).flat)
            for empty in panels[self.panels() :]:
                empty.remove()
            panels = panels[: self.panels()]
            for panel in panels:
                panel.set_facecolor("white")
                panel.grid(visible=False)
        else:
            panels = list(np.ravel(np.asarray(ax, object)))
            if len(panels) != self.panels() or not all(hasattr(one, "transAxes") for one in panels):
                wanted = "Axes of Matplotlib" if self.panels() == 1 else f"{self.panels()} Axes, one for each panel"
                raise TypeError(f"ax: expected {wanted}, got {quoted(ax)}")
            self.figure_ = panels[0].get_figure(root=True)
        self.ax_ = panels[0] if self.panels() == 1 else np.asarray(panels, object)
        before = dict(texts_of(panels))
        self._draw(panels)
        for text, content in texts_of(panels):
            if "$" in content and before.get(text) != content:
                text.set_parse_math(False)
        return self

    def _draw(self, panels: Sequence[Axes]) -> None:
        """Draw the data into the panels."""
        raise NotImplementedError

    def describe(self) -> str:
        """Describe the picture in a few sentences: for captions and screen readers."""
        raise NotImplementedError

    def layout(self) -> Any:
        """How Matplotlib finds the places of the panels in a figure of our own."""
        return "constrained"

    def panels(self) -> int:
        """The number of panels."""
        return 1

    def grid(self) -> tuple[int, int]:
        """Rows and columns of panels: about as many of each, and never more rows."""
        columns = int(np.ceil(np.sqrt(self.panels())))
        return -(-self.panels() // columns), columns

    def panel_size(self) -> tuple[float, float]:
        """Width and height of a panel in inches."""
        return self.size

    def _height_at(self, width: float) -> float:
        """The height of a panel of this width: it keeps its proportions, and texts below a square one their height."""
        own, height = self.panel_size()
        return height if self.as_high_as_rows else height + (width - own) * min(1, height / own)

    def save(self, path: str | Path, *, dpi: float = 300) -> Path:
        """Write the picture to a file, of the kind that its name ends with: PNG, SVG, PDF, ….

        PDF and EPS files have the fonts as TrueType, as publishers require; Matplotlib's default is Type 3.

        Parameters
        ----------
        path : str or Path
            The file.
        dpi : float, default 300
            Dots per inch, for kinds of files that are made of dots.

        Returns
        -------
        Path
            The file.
        """
        from matplotlib import rc_context

        path = Path(path)
        if path.suffix.lower() == ".svg":
            path.write_text(self.svg(), encoding="utf-8")
            return path
        # Publishers refuse Type 3, Matplotlib's default, and programs cannot edit its text.
        with SETTINGS, rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            self.figure_.savefig(path, dpi=dpi, facecolor="auto", edgecolor="auto")
        return path

    def svg(self) -> str:
        """The picture as an ``<svg>`` element that can stand in a page: text is text, and :meth:`describe` its label.

        Two displays of the same data give the same text, byte by byte.
        """
        from matplotlib import rc_context

        buffer = io.StringIO()
        with SETTINGS, rc_context({"svg.fonttype": "none", "svg.hashsalt": "matrics"}):
            self.figure_.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        text = buffer.getvalue()
        # Matplotlib names a dozen fonts with each text, and turns it by 0: most of a picture with many.
        text = re.sub(r'font-family: [^;"]*; | transform="rotate\(-0 [^"]*"', "", text[text.index("<svg") :])
        label = html.escape(self.describe(), quote=True)
        return text.replace("<svg ", f'<svg role="img" aria-label="{label}" style="font-family: {FONTS}" ', 1)

    def __repr__(self) -> str:
        told = self.describe()
        return f"<{type(self).__name__}: {told if len(told) <= MOST_TOLD else f'{told[:MOST_TOLD]}…'}>"

    def _repr_html_(self) -> str:
        """Show the picture in a notebook, on white, for any colours of the notebook."""
        return f'<div style="background: white; display: inline-block; max-width: 100%">{self.svg()}</div>'


def checked_width(width: Any, ax: Any) -> float | None:
    """The width of a new figure in inches, if it is given."""
    if width is None:
        return None
    if ax is not None:
        raise TypeError(f"width: expected None with ax=, whose figure has a width, got {quoted(width)}")
    is_number = isinstance(width, (int, float, np.number)) and not isinstance(width, bool)
    if not is_number or not 0.5 <= width <= 100:
        raise ValueError(f"width: expected inches, from 0.5 to 100, such as 3.5, got {quoted(width)}")
    return float(width)


def texts_of(panels: Sequence[Axes]) -> Iterator[tuple[Text, str]]:
    """All texts in the panels. In names of classes and models a dollar is a dollar, and begins no formula."""
    from matplotlib.text import Text

    for axes in panels:
        for found in axes.findobj(Text):
            if isinstance(found, Text):
                yield found, found.get_text()


def import_figure() -> type[Figure]:
    """Matplotlib's class of figures.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('pictures need Matplotlib: python -m pip install "matrics[plot]"') from error
    return Figure
