"""The pictures that the pages show, drawn at every build: figures of the sources, and the one on the first page."""

from pathlib import Path

import area_errors
import pandas as pd

import matrics
import matrics.plot
from matrics._study.figures import eigenvalues, entropy, review

FIGURES = {**eigenvalues.FIGURES, **review.FIGURES, **entropy.FIGURES}
SHOWN = ("000_figure_1", "000_figure_2", "001_figure_1", "001_figure_2", "001_figure_4", "002_figure_1")
DIGITS = Path(__file__).parents[1] / "examples" / "digits_sweep.parquet"


def write_figures(app):
    """Write ``figures/*.svg``."""
    folder = Path(app.srcdir) / "figures"
    folder.mkdir(exist_ok=True)
    for name in SHOWN:
        FIGURES[name]().savefig(folder / f"{name}.svg")
    area_errors.figure().savefig(folder / "area_errors.svg")
    predictions = pd.read_parquet(DIGITS)
    counts = matrics.frames.count(predictions[predictions["model"] == "naive_bayes"])
    matrics.plot.confusion_matrix(counts.matrix, top=3).save(folder / "first_page.svg")
