"""Sphinx configuration, and the tables of names that stand in pages; catalogue_pages.py writes the catalogue."""

import re
import sys
from pathlib import Path

import matrics
from matrics._catalogue import pycm
from matrics._catalogue.elsewhere import ELSEWHERE
from matrics._tables.markdown import escape, table

sys.path.insert(0, str(Path(__file__).parent))
import certificate_tables
import coming_tables
import coverage_tables
import door_tables
import figure_files
import gallery_pictures
import plot_reference
import reproduce_tables
import signature_tables
from catalogue_pages import write_catalogue
from catalogue_table import anchor

project = "matrics"
author = "the matrics contributors"
project_copyright = author
version = release = matrics.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
extensions += ["mathml"]  # the module next to this one
exclude_patterns = ["_build", "tutorials", "gallery"]  # sphinx-gallery writes auto/ from the last two
sphinx_gallery_conf = gallery_pictures.CONFIG

html_theme = "furo"
html_title = f"matrics {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
templates_path = ["_templates"]  # page.html fills the bar, which the theme shows where there is an announcement
html_theme_options = {"announcement": "links"}

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings have the types
napoleon_google_docstring = False
napoleon_use_rtype = False

python_use_unqualified_type_names = True
toc_object_entries = False  # the headings are the measures


# PyCM's names, for pycm.md --------------------------------------------------------------------------------------------


def pycm_links(name):
    """The specs that give PyCM's number; a class statistic has one value per class."""
    ends = {spec: "" if name in pycm.OVERALL or ":" in spec else ":class" for spec in pycm.PYCM[name]}
    return ", ".join(f"[`{spec}{end}`](#{anchor(matrics.get_metric(spec))})" for spec, end in ends.items())


def elsewhere_rows():
    """A row for each function elsewhere that means something else, with the specs that give it here."""
    for name, notes in ELSEWHERE.items():
        for note in notes:
            specs = dict.fromkeys(spec for spec in (note.two, note.more) if spec is not None)
            found = ", ".join(f"`{spec}`" for spec in specs)
            yield [f"[`{name}`](#{anchor(matrics.get_metric(name))})", f"`{note.there}`", escape(note.what), found]


TABLES = {
    "elsewhere": table(["here", "elsewhere", "what it is there", "what gives it here"], elsewhere_rows()),
    "pycm_overall": table(["PyCM", "here"], ([name, pycm_links(name)] for name in pycm.OVERALL)),
    "pycm_class": table(["PyCM", "here"], ([name, pycm_links(name)] for name in pycm.CLASS)),
    "pycm_distances": table(["PyCM", "here"], ([name, pycm_links(name)] for name in pycm.DISTANCES)),
    "pycm_moved": table(
        ["name", "here", "PyCM's number"], ([name, found, pycm_links(name)] for name, found in pycm.MOVED.items())
    ),
    **coming_tables.tables(),  # for coming_from_scikit_learn.md and coming_from_torchmetrics.md
    **coverage_tables.tables(),  # for uncertainty_coverage.md
    **certificate_tables.tables(),  # for certificates.md
    **reproduce_tables.tables(),
    **door_tables.tables(),  # for doors.md
    **signature_tables.tables(),  # for signatures.md
    "pictures_reference": plot_reference.reference(),
}


def insert_tables(*event):
    """Write the tables in place of the comments that stand for them: in the repository a page has no raw marks."""
    source = event[-1]  # a list of one text, which is changed in place
    source[0] = re.sub(r"<!-- table: (\w+) .*?-->", lambda found: TABLES[found[1]], source[0])


# Docstrings -----------------------------------------------------------------------------------------------------------


def as_plain_text(*event):
    """Mark ``(*B, n, n)`` as code and escape ``|x|``: they would start an emphasis and a substitution."""
    lines = event[-1]  # event is (app, what, name, obj, options, lines); lines are changed in place
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", ".. math::")):
            continue
        pieces = line.split("``")
        pieces[::2] = [re.sub(r"\(\*[BS][^()]*\)", r"``\g<0>``", p.replace("|", r"\|")) for p in pieces[::2]]
        lines[number] = "``".join(pieces)


def setup(app):
    app.connect("builder-inited", write_catalogue)
    app.connect("builder-inited", figure_files.write_figures)
    coming_tables.add_style(app)
    app.connect("source-read", insert_tables)
    app.connect("doctree-read", gallery_pictures.pictures_first)
    app.connect("autodoc-process-docstring", as_plain_text, priority=400)  # before napoleon
