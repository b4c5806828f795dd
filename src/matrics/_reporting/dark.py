"""Pictures for a dark page: every colour is reflected, so that all contrasts stay as they were on white."""

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
LEAST_CONTRAST = 3  # of lines and marks with what is around them, by WCAG
# By how much the contrast of pale areas is raised, at luminances; text on them stays above the 4.5 that WCAG asks for.
LIFT = ((0.25, 0.6, 0.93, 1.0), (1.0, 1.6, 1.6, 1.0))
STYLE = re.compile(r'(?<= )style="[^"]*"')  # where colours are, and no text
COLOUR = re.compile(r"#[0-9a-f]{6}\b")


def reflected(colours: NumPyArray, *, lifted: bool = False) -> NumPyArray:
    """Colours (…, 3) between 0 and 1 for a dark page, of the same hue; pale ones, if ``lifted``, somewhat lighter.

    White becomes the paper. The contrast that WCAG defines is a ratio of luminances, each plus 0.05; here that sum is
    turned over, so that two colours have the same contrast as before, and text can be read wherever it could be. Pale
    colours become more vivid, because a faint hue that is seen next to white is not seen in the dark. Areas, such as
    the cells of a heat map, are lifted for the same reason.
    """
    before = luminance(colours)[..., None]
    lift = np.interp(before, *LIFT) if lifted else 1
    after = np.clip(lift * (luminance(PAPER) + 0.05) * 1.05 / (before + 0.05) - 0.05, 0, 1)
    hue = linear(colours) / np.maximum(before, 1e-6) - (before > 1e-6)  # per unit of luminance, less that of grey
    # Greys get the tint of the paper where they are dark. A tint has the luminance 1, and so is their mixture.
    grey = 1 + (linear(PAPER) / luminance(PAPER) - 1) * (1 - after) ** 8
    vivid = 1 + 2 * np.clip((before - 0.3) / 0.7, 0, 1)
    room = np.where(hue < 0, -grey, 1 / np.maximum(after, 1e-6) - grey)  # until a channel is 0 or 1
    most = np.where(hue == 0, np.inf, room / np.where(hue == 0, 1, hue)).min(axis=-1, keepdims=True)
    light = np.clip(after * (grey + np.minimum(vivid, most) * hue), 0, 1)
    found: NumPyArray = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return found


def in_variables(pictures: Iterable[str]) -> tuple[list[str], str, str]:
    """Pictures whose colours are variables of CSS, and the declarations of these for light and for dark pages."""
    found = list(pictures)
    names: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return f"var(--{names.setdefault(match[0], f'c{len(names)}')})"

    changed = [STYLE.sub(lambda style: COLOUR.sub(named, style[0]), _long(svg)) for svg in found]
    light = " ".join(f"--{name}: {colour};" for colour, name in names.items())
    dark = " ".join(f"--{name}: {_dark(colour)};" for colour, name in names.items())
    return changed, light, dark


def with_dark_images(svg: str) -> str:
    """A picture in which each image of dots, as of the cells of a heat map, is followed by its reflection."""

    def twice(match: re.Match[str]) -> str:
        before, dots, after = match.groups()
        dark = base64.b64encode(_reflected_image(base64.b64decode(dots))).decode()
        second = re.sub(r'\bid="[^"]*"', "", f"{before}{dark}{after}")
        return match[0].replace("<image ", '<image class="light" ') + second.replace("<image ", '<image class="dark" ')

    return re.sub(r'(<image [^>]*?href="data:image/png;base64,)([^"]*)("[^>]*?/>)', twice, svg)


def _long(svg: str) -> str:
    """Matplotlib writes some colours as words, and no black, which is what is filled without a colour."""
    svg = svg.replace(' style="font-family', ' style="fill: #000000; font-family', 1)
    words = {"white": "#ffffff", "black": "#000000"}
    return STYLE.sub(lambda style: re.sub(r"(?<=: )(?:white|black)\b", lambda word: words[word[0]], style[0]), svg)


def _dark(colour: str) -> str:
    values = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    contrast = (luminance(values) + 0.05) / (luminance(PAPER) + 0.05)
    if np.ptp(values) > 0.1 and contrast >= LEAST_CONTRAST:
        return colour  # a line or mark that is seen on both, whose hue is best kept as it is
    return "#" + "".join(f"{round(255 * float(value)):02x}" for value in reflected(values))


def _reflected_image(png: bytes) -> bytes:
    from PIL import Image  # which Matplotlib needs as well

    dots = np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))
    colours, place = np.unique(dots.reshape(-1, 4), axis=0, return_inverse=True)
    dark = np.round(255 * reflected(colours[:, :3] / 255, lifted=True)).astype(np.uint8)
    changed = np.concatenate([dark, colours[:, 3:]], axis=1)[place.reshape(-1)].reshape(dots.shape)
    file = io.BytesIO()
    Image.fromarray(changed).save(file, format="png", optimize=True)
    return file.getvalue()
