"""Pictures for dark pages: their colours are reflected, which keeps all contrasts of the white page."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable

import numpy as np

from matrics._plot.style import linear, luminance
from matrics.typing import NumPyArray

__all__ = ["in_variables", "reflected", "with_dark_images"]

PAPER = np.array([0x14, 0x17, 0x1A]) / 255  # the background of the page where it is dark
LEAST_CONTRAST = 3  # of lines and marks with their surroundings, as WCAG requires
# Luminances and factors of the contrast of pale areas; text on these keeps the contrast of 4.5 that WCAG requires.
LIFT = ((0.25, 0.6, 0.93, 1.0), (1.0, 1.6, 1.6, 1.0))
STYLE = re.compile(r'(?<= )style="[^"]*"')  # only styles contain colours; texts may contain the same characters
COLOUR = re.compile(r"#[0-9a-f]{6}\b")


def reflected(colours: NumPyArray, *, lifted: bool = False) -> NumPyArray:
    """Colours (…, 3) between 0 and 1 for a dark page, of the same hue; with ``lifted``, pale colours become lighter.

    White becomes the colour of the paper. WCAG defines contrast as a ratio of luminances, each plus 0.05. This function
    inverts that sum, which keeps the contrast of every pair of colours, and text remains readable. Pale colours become
    more vivid, because a faint hue is visible next to white but not on a dark page. Areas, such as the cells of a heat
    map, are lifted for the same reason.
    """
    before = luminance(colours)[..., None]
    lift = np.interp(before, *LIFT) if lifted else 1
    after = np.clip(lift * (luminance(PAPER) + 0.05) * 1.05 / (before + 0.05) - 0.05, 0, 1)
    hue = linear(colours) / np.maximum(before, 1e-6) - (before > 1e-6)  # per unit of luminance, less that of grey
    # Dark greys get the tint of the paper. A tint has the luminance 1, and so has a mixture of tints.
    grey = 1 + (linear(PAPER) / luminance(PAPER) - 1) * (1 - after) ** 8
    vivid = 1 + 2 * np.clip((before - 0.3) / 0.7, 0, 1)
    room = np.where(hue < 0, -grey, 1 / np.maximum(after, 1e-6) - grey)  # until a channel is 0 or 1
    most = np.where(hue == 0, np.inf, room / np.where(hue == 0, 1, hue)).min(axis=-1, keepdims=True)
    light = np.clip(after * (grey + np.minimum(vivid, most) * hue), 0, 1)
    colours_of_dark_page: NumPyArray = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return colours_of_dark_page


def in_variables(pictures: Iterable[str]) -> tuple[list[str], str, str]:
    """Pictures whose colours are CSS variables, and the declarations of these variables for light and dark pages."""
    originals = list(pictures)
    names: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return f"var(--{names.setdefault(match[0], f'c{len(names)}')})"

    changed = [STYLE.sub(lambda style: COLOUR.sub(named, style[0]), _long(svg)) for svg in originals]
    light = " ".join(f"--{name}: {colour};" for colour, name in names.items())
    dark = " ".join(f"--{name}: {_dark(colour)};" for colour, name in names.items())
    return changed, light, dark


def with_dark_images(svg: str) -> str:
    """A picture in which each bitmap, such as the cells of a heat map, is followed by its reflected copy."""

    def twice(match: re.Match[str]) -> str:
        before, dots, after = match.groups()
        dark = base64.b64encode(_reflected_image(base64.b64decode(dots))).decode()
        second = re.sub(r'\bid="[^"]*"', "", f"{before}{dark}{after}")
        return match[0].replace("<image ", '<image class="light" ') + second.replace("<image ", '<image class="dark" ')

    return re.sub(r'(<image [^>]*?href="data:image/png;base64,)([^"]*)("[^>]*?/>)', twice, svg)


def _long(svg: str) -> str:
    """Write all colours in six digits: Matplotlib names some colours, and omits black, the default of SVG."""
    svg = svg.replace(' style="font-family', ' style="fill: #000000; font-family', 1)
    words = {"white": "#ffffff", "black": "#000000"}
    return STYLE.sub(lambda style: re.sub(r"(?<=: )(?:white|black)\b", lambda word: words[word[0]], style[0]), svg)


def _dark(colour: str) -> str:
    values = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    contrast = (luminance(values) + 0.05) / (luminance(PAPER) + 0.05)
    if np.ptp(values) > 0.1 and contrast >= LEAST_CONTRAST:
        return colour  # a line or mark that is visible on both pages keeps its colour
    return "#" + "".join(f"{round(255 * float(value)):02x}" for value in reflected(values))


def _reflected_image(png: bytes) -> bytes:
    from PIL import Image  # a dependency of Matplotlib

    dots = np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))
    colours, place = np.unique(dots.reshape(-1, 4), axis=0, return_inverse=True)
    dark = np.round(255 * reflected(colours[:, :3] / 255, lifted=True)).astype(np.uint8)
    changed = np.concatenate([dark, colours[:, 3:]], axis=1)[place.reshape(-1)].reshape(dots.shape)
    file = io.BytesIO()
    Image.fromarray(changed).save(file, format="png", optimize=True)
    return file.getvalue()
