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

# Text is kept as text in SVG files: it can be searched and read aloud, and is smaller than outlines. Verdana is as wide
# as DejaVu Sans, which Matplotlib uses for the layout.
FONTS = "'DejaVu Sans', Verdana, sans-serif"


LONGEST = 400  # characters of a display as text


# Matplotlib's settings are global: two threads that change them at the same time could leave them changed.
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
    scale: float = 1.0  # the width of the figure divided by its default width

    #: Whether the height depends on rows of text only, and not on the width.
    as_high_as_rows: ClassVar[bool] = False
    #: Width and height of a panel in inches; 3.5 is a column of a paper.
    size: ClassVar[tuple[float, float]] = (3.5, 3.0)

    def plot(self, ax: Any = None, *, width: float | None = None) -> Self:
        """Draw the data again, into other axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, or array of them, optional
            The axes to draw on, an Axes for each panel; a new figure if left out.
        width : float, optional
            The width of a new figure in inches; chosen by the contents if left out. Texts keep their size.

        Returns
        -------
        Display
            This object, with new ``figure_`` and ``ax_``.
        """
        rows, columns = self.grid()
        self.owns_figure = ax is None
        default_width = self.panel_size()[0] * columns
        width = checked_width(width, ax)
        self.scale = 1.0 if width is None else width / default_width
        if ax is None:
            figure_class = import_figure()
            panel_height = (
                self.panel_size()[1] if width is None else self._height_at(default_width * self.scale / columns)
            )
            height = rows * max(panel_height, 0.5)
            # The text is dark in every style of Matplotlib, so the background must be white.
            self.figure_ = figure_class(
                figsize=(default_width * self.scale, height), dpi=144, layout=self.layout(), facecolor="white"
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
            if len(panels) != self.panels() or not all(hasattr(panel, "transAxes") for panel in panels):
                expected = (
                    "Axes of Matplotlib" if self.panels() == 1 else f"{self.panels()} Axes, an Axes for each panel"
                )
                raise TypeError(f"ax: expected {expected}, got {quoted(ax)}")
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
        """The layout engine of a new figure."""
        return "constrained"

    def panels(self) -> int:
        """The number of panels."""
        return 1

    def grid(self) -> tuple[int, int]:
        """The numbers of rows and columns of panels: about equal, with at least as many columns as rows."""
        columns = int(np.ceil(np.sqrt(self.panels())))
        return -(-self.panels() // columns), columns

    def panel_size(self) -> tuple[float, float]:
        """Width and height of a panel in inches."""
        return self.size

    def _height_at(self, width: float) -> float:
        """The height of a panel of this width: its proportions stay, and so does the height of texts below a square."""
        default_width, default_height = self.panel_size()
        return (
            default_height
            if self.as_high_as_rows
            else default_height + (width - default_width) * min(1, default_height / default_width)
        )

    def save(self, path: str | Path, *, dpi: float = 300) -> Path:
        """Write the picture to a file, whose suffix determines its format: PNG, SVG, PDF, ….

        PDF and EPS files have the fonts as TrueType, as publishers require; Matplotlib's default is Type 3.

        Parameters
        ----------
        path : str or Path
            The file.
        dpi : float, default 300
            Dots per inch, for raster formats.

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
        """The picture as an ``<svg>`` element for a page, with text as text, and with :meth:`describe` as its label.

        Two displays of the same data give identical elements.
        """
        from matplotlib import rc_context

        buffer = io.StringIO()
        with SETTINGS, rc_context({"svg.fonttype": "none", "svg.hashsalt": "matrics"}):
            self.figure_.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        text = buffer.getvalue()
        # Matplotlib adds a dozen fonts and a rotation by 0 to each text, which would be most of the file.
        text = re.sub(r'font-family: [^;"]*; | transform="rotate\(-0 [^"]*"', "", text[text.index("<svg") :])
        label = html.escape(self.describe(), quote=True)
        return text.replace("<svg ", f'<svg role="img" aria-label="{label}" style="font-family: {FONTS}" ', 1)

    def __repr__(self) -> str:
        description = self.describe()
        return f"<{type(self).__name__}: {description if len(description) <= LONGEST else f'{description[:LONGEST]}…'}>"

    def _repr_html_(self) -> str:
        """The picture for a notebook, on a white background."""
        return f'<div style="background: white; display: inline-block; max-width: 100%">{self.svg()}</div>'


def checked_width(width: Any, ax: Any) -> float | None:
    """The checked width of a new figure in inches, or None."""
    if width is None:
        return None
    if ax is not None:
        raise TypeError(f"width: expected None with ax=, whose figure has a width, got {quoted(width)}")
    is_number = isinstance(width, (int, float, np.number)) and not isinstance(width, bool)
    if not is_number or not 0.5 <= width <= 100:
        raise ValueError(f"width: expected inches, from 0.5 to 100, such as 3.5, got {quoted(width)}")
    return float(width)


def texts_of(panels: Sequence[Axes]) -> Iterator[tuple[Text, str]]:
    """All texts in the panels, and their contents."""
    from matplotlib.text import Text

    for axes in panels:
        for text in axes.findobj(Text):
            if isinstance(text, Text):
                yield text, text.get_text()


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
