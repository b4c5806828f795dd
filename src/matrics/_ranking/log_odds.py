"""The log-odds of each class against the rest, from logits: they keep the order where a softmax would saturate."""

from __future__ import annotations

import math
from typing import NamedTuple

from matrics._arrays import Array, Standard


class ClassOdds(NamedTuple):
    """Log-odds of logits, with the classes on the first axis."""

    each: Array  # (n, *S)
    top: Array  # (1, *S): the largest of them
    is_top: Array  # (n, *S)
    is_missing: Array  # (*S,): whether a logit is NaN or inf, or all are -inf


def class_odds(logits: Array, backend: Standard) -> ClassOdds:
    """The log-odds of each class against the rest, of logits (n, *S).

    Let x be the logits, and x_t the largest. The log-odds of class k are x_k minus the logarithm of the sum of the
    other exponentials. For the largest logit the sum may be below the last digit of exp(x_t). So exponentials are taken
    relative to the second largest logit, which is d below the largest. Let S be their sum over the classes below the
    top, and c the number of classes that share the top:

    - the log-odds of a class below the top are x_k - x_t - log(c + exp(-d) (S - exp(x_k - x_t + d))),
    - those of a single top class are d - log(S), and those of several -log(c - 1 + exp(-d) S).
    """
    xp = backend.xp
    top = xp.max(logits, axis=0, keepdims=True)
    is_top = logits == top
    ties = xp.sum(xp.astype(is_top, logits.dtype), axis=0, keepdims=True)
    others = xp.where(is_top, -math.inf, logits)
    second = xp.max(others, axis=0, keepdims=True)
    second = xp.where(second == -math.inf, top, second)
    gap = top - second
    exponentials = xp.exp(others - second)
    total = xp.sum(exponentials, axis=0, keepdims=True)
    shrink = xp.exp(-gap)
    below = logits - top - xp.log(ties + (total - exponentials) * shrink)
    of_top = xp.where(ties > 1, -xp.log(ties - 1 + total * shrink), gap - xp.log(total))
    is_missing = ~xp.isfinite(top + total)
    return ClassOdds(xp.where(is_top, of_top, below), of_top, is_top, is_missing[0, ...])


def logistic(odds: Array, backend: Standard) -> Array:
    """The probability of log-odds."""
    chances = backend.xp.exp(-odds)
    chances += 1
    return 1 / chances


def softmax(logits: Array, backend: Standard) -> Array:
    """The probabilities of logits with the classes on the last axis; NaN where a logit is NaN or inf."""
    xp = backend.xp
    shares = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return shares / xp.sum(shares, axis=-1, keepdims=True)
