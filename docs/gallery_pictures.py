"""What sphinx-gallery needs to know of our pictures: it runs the scripts of the gallery and of the tutorials.

A script shows what the last expression of a block is. Our figures are not among those of pyplot, where sphinx-gallery
looks for pictures, so it finds them here.
"""

from pathlib import Path

from docutils import nodes
from sphinx_gallery.directives import imgsgnode
from sphinx_gallery.scrapers import figure_rst

from matrics.plot import Display

CONFIG = {
    "examples_dirs": ["tutorials", "gallery"],
    "gallery_dirs": ["auto/tutorials", "auto/gallery"],
    "filename_pattern": r"\.py$",  # all are run
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("gallery_pictures",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"Display'",  # which are pictures
    "reset_modules": (),  # it would import pyplot
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e6,  # never: pages would differ between builds
    "backreferences_dir": None,
}


def pictures(block, block_vars, gallery_conf):  # noqa: ARG001 (what sphinx-gallery passes)
    """The picture that the last expression of a block is: SVG, and its description for readers with screen readers."""
    display = block_vars["example_globals"].get("___")
    # A block without an expression at its end still has that of the block before.
    if not isinstance(display, Display) or display is block_vars.get("drawn"):
        return ""
    block_vars["drawn"] = display
    path = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
    display.save(path)
    return figure_rst([str(path)], gallery_conf["src_dir"], display.describe())


def pictures_first(app, doctree):
    """Move pictures above the code that draws them, and the first of a page of the gallery right under its title.

    sphinx-gallery puts them below the code, where a reader who looks for a picture does not see them.
    """
    if not app.env.docname.startswith("auto/gallery/plot_"):
        return
    title = next(doctree.findall(nodes.title))
    for number, picture in enumerate(list(doctree.findall(imgsgnode))):
        section, at = picture.parent, picture.parent.index(picture)
        section.remove(picture)
        if number == 0:
            title.parent.insert(title.parent.index(title) + 1, picture)
        else:
            code = [k for k, node in enumerate(section[:at]) if isinstance(node, nodes.literal_block)]
            section.insert(code[-1], picture)


def _get_sg_image_scraper():
    return pictures
