"""The page to try: its examples, and Python for browsers with the library, which come along where they can be had.

Pyodide comes from npm and NumPy's wheel for it from Pyodide's own server, as NumPy uploads none. Where one of the two
cannot be had, the page shows its examples alone, and the build does not fail. ``MATRICS_PYODIDE`` names a folder that
has them already: Pyodide's release, unpacked.
"""

import hashlib
import html
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request
import zipfile
from pathlib import Path

import pandas as pd
import try_matrix
from sphinx.util import logging

import matrics

PYODIDE = "0.29.5"
WHEELS = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
PATIENCE = 60  # seconds for a download
LOG = logging.getLogger(__name__)


# Examples -------------------------------------------------------------------------------------------------------------


def form():
    """The form for a matrix of one's own, which the script shows where Python is at hand."""
    buttons = []
    for title, _, classes, cm in EXAMPLES:
        rows = html.escape("\n".join(" ".join(map(str, row)) for row in cm))
        given = f'data-section="{title.lower().replace(" ", "-")}" data-rows="{rows}" data-names="{", ".join(classes)}"'
        buttons.append(f'<button type="button" {given}>{title}</button>')
    return FORM.format(buttons="\n".join(buttons), metrics=try_matrix.METRICS)


def examples():
    """Each example with its picture, its measures and the call that gives them."""
    lines = []
    for title, what, classes, cm in EXAMPLES:
        scores = matrics.interval(cm, try_matrix.METRICS)
        lines += [f"### {title}", what]
        for part in try_matrix.parts(cm, classes, scores):
            # A remark as text, which the page in Markdown has, too; of raw HTML that has the tables alone.
            is_remark = "<table" not in part
            lines.append(re.sub("<[^>]*>", "", part) if is_remark else f"```{{raw}} html\n{part}```")
        lines += [f"```python\n{try_matrix.call(cm, try_matrix.METRICS)}\n```"]
    return "\n\n".join(lines)


def digits():
    """A model's predictions of handwritten digits, counted."""
    predictions = pd.read_parquet(Path(__file__).parents[1] / "examples" / "digits_sweep.parquet")
    return matrics.frames.count(predictions[predictions["model"] == "naive_bayes"]).matrix.astype(int).tolist()


# The title, what is seen, the classes and the matrix.
EXAMPLES = [
    (
        "Three animals",
        "Most errors confuse dogs and foxes. With 150 samples the limits are wide.",
        ["cat", "dog", "fox"],
        [[45, 3, 2], [4, 38, 8], [1, 6, 43]],
    ),
    (
        "A rare disease",
        "The accuracy is high because almost nobody is ill. The precision of the ill shows that most alarms are false.",
        ["healthy", "ill"],
        [[9700, 200], [20, 80]],
    ),
    ("Ten digits", "Naive Bayes on handwritten digits.", [str(k) for k in range(10)], digits()),
]

FORM = """\
```{{raw}} html
<p id="try-alone">A form for your own matrix stands here where these pages brought Python for browsers along. This copy
has none, or scripts are switched off. The examples below do without, and
<a href="#in-python">two lines of Python</a> do the same for your matrix.</p>
<form id="try-form" hidden>
<div role="group" aria-label="Examples">Examples:
{buttons}
</div>
<label for="try-rows">Counts: a row for each true class, a column for each predicted one</label>
<textarea id="try-rows" rows="6" spellcheck="false" autocomplete="off"></textarea>
<label for="try-names">Names of the classes, with commas between them; may be left out</label>
<input id="try-names" autocomplete="off">
<label for="try-metrics">Measures, with commas between them</label>
<input id="try-metrics" autocomplete="off" spellcheck="false" value="{metrics}">
<p>Python itself runs in this window, and the matrix stays here: nothing is uploaded. The first computation loads
Python (<a href="https://pyodide.org">Pyodide</a>), NumPy and matrics from the server of this page,
<span id="try-size"></span>&nbsp;MB.</p>
<button type="submit">Compute</button>
</form>
<p id="try-status" role="status"></p>
<div id="try-result"></div>
```"""


# Python for browsers --------------------------------------------------------------------------------------------------


def write_python(app):
    """Put Pyodide, NumPy and the library where the page finds them, and note what the page has to know of it."""
    app.config.try_python = {}
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / f"pyodide-{PYODIDE}"
    try:
        if "MATRICS_PYODIDE" in os.environ:
            shutil.rmtree(folder, ignore_errors=True)
            whole(folder, lambda made: copy(Path(os.environ["MATRICS_PYODIDE"]), made))
        elif not folder.is_dir():
            whole(folder, download)
        (wheel,) = folder.glob("numpy-*wasm32.whl")
    except (OSError, subprocess.SubprocessError, tarfile.TarError, LookupError, ValueError) as error:
        LOG.info("try.md shows its examples alone, without Python for browsers: %s", error)
        return
    write_library(folder / "matrics.zip")
    size = sum(path.stat().st_size for path in folder.iterdir())
    place = f"_static/{folder.name}/"
    app.config.try_python = {"data-python": place, "data-numpy": wheel.name, "data-size": f"{size / 1e6:.0f}"}


def whole(folder, fill):
    """Fill a folder, which is there if all of it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        fill(Path(made) / "made")
        (Path(made) / "made").rename(folder)


def copy(source, made):
    """What is needed of a folder that has everything."""
    made.mkdir()
    for path in source.iterdir():
        if is_part(path.name) or path.match("numpy-*wasm32.whl"):
            shutil.copy(path, made)


def is_part(name):
    """Whether a file is Pyodide itself, and not its types, maps, packages or documentation."""
    return name.startswith(("pyodide", "python_stdlib")) and Path(name).suffix in {
        ".js",
        ".mjs",
        ".wasm",
        ".zip",
        ".json",
    }


def download(made):
    """Pyodide's package from npm, and the wheel that its list of packages names, with the checksum of that list."""
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed")
    command = [
        npm,
        "pack",
        f"pyodide@{PYODIDE}",
        "--silent",
        "--fetch-retries=0",
        "--pack-destination",
        str(made.parent),
    ]
    subprocess.run(command, check=True, timeout=PATIENCE, capture_output=True)  # noqa: S603 (no shell)
    (archive,) = made.parent.glob("*.tgz")
    made.mkdir()
    with tarfile.open(archive) as opened:
        for member in opened:
            name = Path(member.name).name
            if is_part(name):
                made.joinpath(name).write_bytes(opened.extractfile(member).read())
    numpy = json.loads((made / "pyodide-lock.json").read_text("utf-8"))["packages"]["numpy"]
    with urllib.request.urlopen(WHEELS + numpy["file_name"], timeout=PATIENCE) as answer:  # noqa: S310 (an https one)
        wheel = answer.read()
    if hashlib.sha256(wheel).hexdigest() != numpy["sha256"]:
        raise ValueError(f"{numpy['file_name']} has another checksum than the list of Pyodide")
    (made / numpy["file_name"]).write_bytes(wheel)


def write_library(path):
    """The library, what it needs beside NumPy, and what the page computes with, in one archive."""
    source = Path(matrics.__file__).parent
    found = {f"matrics/{one.relative_to(source)}": one for one in source.rglob("*")}
    compat = importlib.metadata.distribution("array-api-compat")  # with its licence
    found |= {str(one): Path(one.locate()) for one in compat.files if ".." not in one.parts}
    found["try_matrix.py"] = Path(try_matrix.__file__)
    found["LICENSE"] = Path(__file__).parents[1] / "LICENSE"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in sorted(found.items()):
            if file.is_file() and "__pycache__" not in name and not name.endswith(".pyi"):
                # Without its date, which would make another file of the same.
                archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)


def add_script(app, name, *event):  # noqa: ARG001 (what Sphinx passes)
    """Give the page its script, which is told where Python is."""
    if name == "try":
        app.add_js_file("try.js", **app.config.try_python)


def setup(app):
    app.add_config_value("try_python", {}, "")
    app.connect("builder-inited", write_python)
    app.connect("env-get-outdated", lambda *_: ["try"])  # Python may have come or gone since
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
