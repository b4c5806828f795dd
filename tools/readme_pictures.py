"""The two pictures of the README, in ``docs/images``: one of matrics.plot, and the top of a report in a browser.

``python tools/readme_pictures.py`` needs the extras ``plot`` and ``report``, and Chromium. The pictures are in git, as
a README shows no others. Look at them.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from matplotlib.figure import Figure
from PIL import Image

import matrics

ROOT = Path(__file__).parents[1]
SWEEP = ROOT / "examples" / "digits_sweep.parquet"
FOLDER = ROOT / "docs" / "images"
SHOWN = ("svm_rbf", "nearest_neighbours", "extra_trees", "logistic_regression")
WINDOW = (1440, 1330)


def first_look() -> Figure:
    """Which models are really apart, beside the errors of one that is not among them."""
    table = pq.read_table(SWEEP).to_pandas()
    counts = matrics.frames.count(table, by="model")
    matrices = dict(zip(counts.groups["model"], counts.matrix, strict=True))
    first = table[table["repeat"] == 0].sort_values("sample")
    predictions = {name: first.loc[first["model"] == name, "y_pred"].to_numpy() for name in SHOWN}
    truth = first.loc[first["model"] == SHOWN[0], "y_true"].to_numpy()
    compared = matrics.compare_models(truth, [*predictions.values()], "mcc", num_classes=10, rng=0)
    figure = Figure(figsize=(9, 4.1), dpi=200, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.05))
    matrics.plot.models(compared, names=SHOWN, ax=left)
    matrics.plot.confusion_matrix(matrices["naive_bayes"], top=3, text="share", ax=right)
    left.set_title("Which models are really apart?", loc="left", pad=10)
    right.set_title("What does naive Bayes confuse?", loc="left", pad=10)
    return figure


def report(folder: Path) -> None:
    """The top of the report that the README's command writes, as a browser shows it."""
    browser = next(path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path)
    page, shot = folder / "report.html", folder / "report.png"
    matrics.report(SWEEP, by="model", paired_on="sample").save(page)
    size = ",".join(map(str, WINDOW))
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={size}")
    subprocess.run([browser, *options, f"--screenshot={shot}", page.as_uri()], check=True, capture_output=True)  # noqa: S603
    # 128 colours are enough for text and flat areas, and take a third of the bytes.
    Image.open(shot).convert("RGB").quantize(128).save(FOLDER / "report.png", optimize=True)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    first_look().savefig(FOLDER / "first_look.png", dpi=160)
    with tempfile.TemporaryDirectory() as folder:
        report(Path(folder))
    for path in sorted(FOLDER.iterdir()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
