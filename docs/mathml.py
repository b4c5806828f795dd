"""Formulas as MathML, which browsers draw without a script, and the font for them, which the pages bring with them.

Docutils translates LaTeX. Browsers take the shapes of brackets, roots and sums from a font that has a table for
formulas, and few computers have one. The font is STIX Two Math, from the package ziamath, less the signs that no
formula here needs.
"""

import logging
import re
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

FONT = "stix-two-math.woff"
# Latin, Greek, arrows, operators; mathematical italics; the planck constant, which Unicode has for an italic h.
RANGES = [(0x20, 0x7E), (0xA0, 0xFF), (0x300, 0x36F), (0x391, 0x3D6), (0x2010, 0x2044), (0x2190, 0x21D4)]
RANGES += [(0x2200, 0x22FF), (0x2308, 0x230B), (0x27E8, 0x27E9), (0x1D434, 0x1D467), (0x1D6E2, 0x1D71B)]
RANGES += [(0x131, 0x131), (0x210E, 0x210E), (0x2113, 0x2113), (0x1D5B3, 0x1D5B3)]


def write_font(app, error):
    """Write the font next to the style sheet, when the pages are written."""
    if error is not None or app.builder.format != "html":
        return
    import ziamath
    from fontTools import subset

    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it reports every table of the font
    options = subset.Options(flavor="woff", layout_features=["*"], notdef_outline=True)
    font = subset.load_font(str(Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[point for first, last in RANGES for point in range(first, last + 1)])
    subsetter.subset(font)
    subset.save_font(font, str(Path(app.outdir) / "_static" / FONT), options)


def mathml(latex, *, block):
    """A formula for HTML. Docutils wants ``\\textstyle`` to be the first command in a pair of braces."""
    # TeX puts a thin space before the name of a function, and another after it unless a bracket follows.
    applied = r"\\(?:ln|log|arcsin)(?![a-z])(?:_\w|_\{[^}]*\})?"
    spaced = re.sub(rf"({applied})(?:\s+(?!\\left|\()|(?=\\sqrt))", r"\1\\, ", latex)
    spaced = re.sub(rf"(?<=[\w}}]) ({applied})", r"\\, \1", spaced)
    text = tex2mathml(spaced, as_block=block).replace("&ApplyFunction;", "&#x2061;")
    # Browsers take max for an operator, with wide spaces on both sides.
    text = re.sub(r"<mo>(max|min)</mo>(?=\s*<mo[^>]*>\()", r'<mo lspace="0" rspace="0">\1</mo>', text)
    return re.sub(
        r'<mo movablelimits="true">(max|min)', r'<mo movablelimits="true" lspace="0" rspace="0.1667em">\1', text
    )


def visit_inline(self, node):
    self.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def visit_block(self, node):
    # It scrolls by itself where a screen is narrower than the formula.
    self.body.append(f'<div class="formula">{mathml(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
