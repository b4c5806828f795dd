"""The figures that the pages show, drawn at every build from ``matrics.study.figures``."""

from pathlib import Path

from matrics.study.figures import eigenvalues, entropy, review

FIGURES = {**eigenvalues.FIGURES, **review.FIGURES, **entropy.FIGURES}
SHOWN = ("000_figure_1", "000_figure_2", "001_figure_1", "001_figure_2", "001_figure_4", "002_figure_1")


def write_figures(app):
    """Write ``figures/*.svg``."""
    folder = Path(app.srcdir) / "figures"
    folder.mkdir(exist_ok=True)
    for name in SHOWN:
        FIGURES[name]().savefig(folder / f"{name}.svg")
