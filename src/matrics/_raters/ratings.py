"""Tables of ratings, items × raters, as counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._arrays.frames import cells, is_frame
from matrics._arrays.inputs import described
from matrics._counting.codes import check_classes
from matrics._counting.gaps import codes_with_gaps


class Ratings(NamedTuple):
    """Ratings as numbers: the class that each rater chose for each item."""

    chosen: Array  # (*B, items, raters, n): 1 where a rater chose a class
    backend: Standard  # the library of ``chosen``
    home: Standard  # the library of the user's ratings

    @property
    def counts(self) -> Array:
        """The number of raters who chose each class (*B, items, n)."""
        return self.backend.xp.sum(self.chosen, axis=-2)

    def returned(self, values: Array) -> Any:
        """A result in the library of the ratings."""
        return self.home.from_host(np.asarray(values)[()]) if self.backend is NUMPY else values


def read_ratings(ratings: Any, num_classes: int | None, labels: Iterable[Hashable] | None) -> Ratings:
    """The ratings of a table of any kind; None, NaN or -1 means that the rater has left the item out."""
    classes = check_classes(num_classes, labels)
    if is_frame(ratings):  # rows are items
        ratings = cells(ratings)
    codes = codes_with_gaps(ratings, None, classes, "ratings")
    home, (codes,) = as_arrays(ratings=codes)
    if len(codes.shape) < 2:
        raise ValueError(
            f"ratings: expected a table (*B, items, raters), got {described(ratings)} of shape {tuple(codes.shape)}"
        )
    view = home.host_view(codes)
    backend, codes = (NUMPY, view) if view is not None else (home, codes)
    xp, n = backend.xp, classes.number
    number = xp.reshape(xp.astype(backend.class_index(n, codes), codes.dtype), (*(1,) * len(codes.shape), n))
    floating = backend.widest_float(codes) if backend is not NUMPY else np.float64
    return Ratings(xp.astype(codes[..., None] == number, floating), backend, home)
