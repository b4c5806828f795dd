"""Formulas of the coefficients, and the contributions of the items, from counts of items × classes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from matrics._arrays import Array
from matrics._raters.ratings import Ratings
from matrics._raters.weights import weight_matrix
from matrics.typing import NumPyArray

# A disagreement up to this number is a rounding error of equal ratings.
ROUNDING = 1e-6

DISTANCES = ("nominal", "ordinal", "interval", "ratio")


class Linearised(NamedTuple):
    """A coefficient, and the contributions of items, whose mean is the coefficient to first order (Gwet 2014)."""

    value: Array  # (*B,)
    items: Array  # (*B, items), 0 for items with too few ratings
    middle: Array  # (*B,): the mean of the contributions
    number: Array  # (*B,): the number of items that count
    apart: Array  # (*B, items): how much the ratings of an item disagree, from 0 to 1
    room: Array  # (*B,): the disagreement by chance, which divides the mean disagreement

    def disagreements(self, xp: Any) -> Array:
        """The effective number of items whose ratings disagree, (Σ d)² / Σ d²: the number if all are equal."""
        apart = xp.where(self.apart > ROUNDING, self.apart, 0)
        squares = xp.sum(apart**2, axis=-1)
        return xp.sum(apart, axis=-1) ** 2 / xp.where(squares > 0, squares, 1)

    def variance(self, xp: Any) -> Array:
        """The variance of the coefficient if items are drawn at random; NaN for fewer than two items."""
        known = self.number > 1
        number = xp.where(known, self.number, 2)
        squares = xp.sum(self.items**2, axis=-1) - number * self.middle**2
        # The mean of the contributions is ``middle``, so that this is the sum of the squared distances.
        return xp.where(known, xp.where(squares > 0, squares, 0) / (number * (number - 1)), math.nan)


class Agreement(NamedTuple):
    """The agreement of pairs of raters on each item, which all coefficients use."""

    counts: Array  # (*B, items, n)
    sizes: Array  # (*B, items): ratings of each item
    pairs: Array  # (*B, items): the weighted agreement of its pairs, 0 with fewer than two ratings
    several: Array  # (*B, items): 1 with two ratings or more
    number: Array  # (*B,): items with a rating
    mean: Array  # (*B,): of the agreement of items with several ratings; NaN without any

    @classmethod
    def of(cls, ratings: Ratings, weights: Array) -> Agreement:
        """The agreement of ratings, with weights (..., n, n) of pairs of ratings, which have the same batch axes."""
        xp, counts = ratings.backend.xp, ratings.counts
        sizes = xp.sum(counts, axis=-1)
        several = xp.astype(sizes >= 2, counts.dtype)
        partly = xp.sum(weights[..., None, :, :] * counts[..., None, :], axis=-1)
        pairs = xp.sum(counts * (partly - 1), axis=-1) * several / xp.where(sizes >= 2, sizes * (sizes - 1), 1)
        number = xp.sum(xp.astype(sizes > 0, counts.dtype), axis=-1)
        with_pairs = xp.sum(several, axis=-1)
        mean = xp.where(with_pairs > 0, xp.sum(pairs, axis=-1) / xp.where(with_pairs > 0, with_pairs, 1), math.nan)
        return cls(counts, sizes, pairs, several, number, mean)

    def shares(self, xp: Any) -> Array:
        """The mean share of each class (*B, n) among the ratings of an item."""
        sizes = xp.where(self.sizes > 0, self.sizes, 1)
        number = xp.where(self.number > 0, self.number, 1)
        return xp.sum(self.counts / sizes[..., None], axis=-2) / number[..., None]

    def beyond(self, chance: Array, of_items: Array | None, xp: Any) -> Linearised:
        """The agreement beyond chance, (a - e) / (1 - e), for the chance e and the contributions of items to it."""
        room = 1 - chance
        known = (room != 0) & ~xp.isnan(self.mean)
        room = xp.where(known, room, 1)
        value = xp.where(known, (self.mean - chance) / room, math.nan)
        with_pairs = xp.sum(self.several, axis=-1)
        times = self.number / xp.where(with_pairs > 0, with_pairs, 1)
        items = times[..., None] * (self.pairs - chance[..., None] * self.several) / room[..., None]
        if of_items is not None:
            there = xp.astype(self.sizes > 0, items.dtype)
            items = items - 2 * ((1 - value) / room)[..., None] * (of_items - chance[..., None]) * there
        return Linearised(value, items, value, self.number, self.several - self.pairs, room)


def percent_agreement(ratings: Ratings, weights: Array) -> Linearised:
    """The agreement without a correction for chance."""
    xp, agreement = ratings.backend.xp, Agreement.of(ratings, weights)
    return agreement.beyond(xp.zeros_like(agreement.mean), None, xp)


def brennan_prediger(ratings: Ratings, weights: Array) -> Linearised:
    """Agreement by chance is the mean weight: all classes are equally likely."""
    xp, agreement = ratings.backend.xp, Agreement.of(ratings, weights)
    n = ratings.chosen.shape[-1]
    chance = xp.sum(weights) / n**2 if n > 1 else xp.sum(weights)
    return agreement.beyond(xp.zeros_like(agreement.mean) + chance, None, xp)


def gwet(ratings: Ratings, weights: Array) -> Linearised:
    """Agreement by chance is agreement on the items that are hard to rate."""
    xp, agreement = ratings.backend.xp, Agreement.of(ratings, weights)
    n, shares = ratings.chosen.shape[-1], agreement.shares(xp)
    if n == 1:
        return agreement.beyond(xp.ones_like(agreement.mean), None, xp)
    scale = xp.sum(weights) / (n * (n - 1))
    chance = scale * xp.sum(shares * (1 - shares), axis=-1)
    sizes = xp.where(agreement.sizes > 0, agreement.sizes, 1)
    of_items = scale * xp.sum(agreement.counts * (1 - shares)[..., None, :], axis=-1) / sizes
    return agreement.beyond(chance, of_items, xp)


def fleiss(ratings: Ratings, weights: Array) -> Linearised:
    """Agreement by chance is that of two ratings drawn from all ratings."""
    xp, agreement = ratings.backend.xp, Agreement.of(ratings, weights)
    shares = agreement.shares(xp)
    both = (xp.sum(weights * shares[..., None, :], axis=-1) + xp.sum(weights * shares[..., :, None], axis=-2)) / 2
    chance = xp.sum(shares * both, axis=-1)
    of_items = xp.sum(agreement.counts * both[..., None, :], axis=-1) / xp.where(
        agreement.sizes > 0, agreement.sizes, 1
    )
    return agreement.beyond(chance, of_items, xp)


def conger(ratings: Ratings, weights: Array) -> Linearised:
    """Agreement by chance is the mean over all pairs of raters, each with the shares of the classes of that rater."""
    xp, agreement = ratings.backend.xp, Agreement.of(ratings, weights)
    rated = xp.sum(ratings.chosen, axis=-1)  # (*B, items, raters)
    of_rater = xp.sum(rated, axis=-2)  # (*B, raters)
    positive = xp.where(of_rater > 0, of_rater, 1)
    shares = xp.sum(ratings.chosen, axis=-3) / positive[..., None]  # (*B, raters, n)
    number = shares.shape[-2]
    if number < 2:
        return agreement.beyond(xp.ones_like(agreement.mean), None, xp)
    total = xp.sum(shares, axis=-2)
    spread = xp.sum(shares[..., :, None] * shares[..., None, :], axis=-3)  # (*B, n, n)
    pairs = total[..., :, None] * total[..., None, :] - spread
    chance = xp.sum(weights * pairs, axis=(-2, -1)) / (number * (number - 1))
    # A rating changes the shares of its rater, and not those of the other raters.
    others = total[..., None, :] - shares  # (*B, raters, n)
    worth = xp.sum(weights[..., None, :, :] * others[..., None, :], axis=-1)  # of each class for each rater
    mean = xp.sum(worth * shares, axis=-1)
    items = number_of(agreement, xp)
    worths = xp.sum(ratings.chosen * worth[..., None, :, :], axis=-1)
    changes = (worths - (rated - (of_rater / items[..., None])[..., None, :]) * mean[..., None, :]) / positive[
        ..., None, :
    ]
    of_items = items[..., None] * xp.sum(changes, axis=-1) / (number * (number - 1))
    return agreement.beyond(chance, of_items, xp)


def number_of(agreement: Agreement, xp: Any) -> Array:
    """The number of items with a rating, at least 1."""
    return xp.where(agreement.number > 0, agreement.number, 1)


def krippendorff(ratings: Ratings, distances: Any, values: Any) -> Linearised:
    """1 less the mean distance of ratings of an item over that of any ratings; items with a single rating do not count.

    The linearisation is Gwet's (2014), with weights of 1 less the distance over the largest distance.
    """
    xp, counts = ratings.backend.xp, ratings.counts
    sizes = xp.sum(counts, axis=-1)
    several = xp.astype(sizes >= 2, counts.dtype)
    counts, sizes = counts * several[..., None], sizes * several
    total = xp.sum(sizes, axis=-1)
    known = total > 1
    shares = xp.sum(counts, axis=-2) / xp.where(known, total, 1)[..., None]
    weights = 1 - _distances(distances, shares, values, ratings)
    number = xp.sum(several, axis=-1)
    mean_size = total / xp.where(number > 0, number, 1)
    size = xp.where(known, mean_size, 1)[..., None]
    partly = xp.sum(weights[..., None, :, :] * counts[..., None, :], axis=-1)
    pairs = xp.sum(counts * (partly - 1), axis=-1) / (size * xp.where(sizes >= 2, sizes - 1, 1))
    alike = xp.sum(pairs, axis=-1) / xp.where(number > 0, number, 1)
    less = 1 / xp.where(known, total, 1)
    agreed = (1 - less) * alike + less
    both = (xp.sum(weights * shares[..., None, :], axis=-1) + xp.sum(weights * shares[..., :, None], axis=-2)) / 2
    chance = xp.sum(shares * both, axis=-1)
    known = known & (chance < 1)
    room = xp.where(known, 1 - chance, 1)
    value = xp.where(known, (agreed - chance) / room, math.nan)
    middle = xp.where(known, (alike - chance) / room, math.nan)
    larger = (sizes - size) / size
    of_items = xp.sum(counts * both[..., None, :], axis=-1) / size - chance[..., None] * larger
    items = (pairs - agreed[..., None] * larger - chance[..., None]) / room[..., None]
    items = (items - 2 * ((1 - middle) / room)[..., None] * (of_items - chance[..., None])) * several
    apart = sizes / size - pairs
    return Linearised(value, items, middle, number, apart, room)


def _distances(distances: Any, shares: Array, values: Any, ratings: Ratings) -> Array:
    """The distances (*B, n, n) of classes, the largest of which is at most 1."""
    xp, n = ratings.backend.xp, shares.shape[-1]
    blank = xp.zeros_like(shares[..., :, None] + shares[..., None, :])
    if isinstance(distances, str) and distances == "ordinal":
        # The ratings between two classes, and half of the ratings of both.
        until = ratings.backend.running_sum(shares)
        middle = until - shares / 2
        return (middle[..., :, None] - middle[..., None, :]) ** 2
    if isinstance(distances, str):
        name = {"nominal": "none", "interval": "quadratic", "ratio": "ratio"}[distances]
        weights = weight_matrix(name, n, values)
    else:
        weights = weight_matrix(distances, n)
    return blank + (1 - as_weights(weights, ratings))


def as_weights(weights: NumPyArray, ratings: Ratings) -> Array:
    """Weights (n, n) in the library of the ratings, with the same number of batch axes."""
    backend, n = ratings.backend, len(weights)
    batch = len(ratings.chosen.shape) - 3
    return backend.xp.reshape(backend.constant(weights.tolist(), ratings.chosen), (*(1,) * batch, n, n))
