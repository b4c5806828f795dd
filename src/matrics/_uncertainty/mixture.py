"""The most likely shares of the parts of a mixture, computed in a fixed number of steps."""

from __future__ import annotations

from typing import Any

from matrics._arrays import Array, Standard

# After so many of Newton's steps, the likelihood was within 1e-12 of its maximum for problems of 2 to 20 classes.
STEPS = 20
# The part of the remaining way to the bounds that a step takes, and the part of the barrier that stays.
WAY, LEFT = 0.9, 0.2


def most_likely_shares(likelihoods: Array, weights: Array, backend: Standard) -> Array:
    """The shares π (B, n) that maximise Σ_i w_i log Σ_k π_k L_ik, of likelihoods (B, m, n) and weights (B, m).

    The EM algorithm of mixtures converges to the same maximum, but may need thousands of steps where parts are alike,
    and more at an edge. The problem is concave, and solved by a primal-dual method with a barrier. The weights add up
    to 1; then the multiplier of Σ π = 1 is 1, and no constraint is needed. A last step of EM makes shares add up to 1
    exactly.
    """
    xp, (count, _, n) = backend.xp, likelihoods.shape
    eye = backend.constant([[float(i == j) for j in range(n)] for i in range(n)], likelihoods)[None, ...]
    shares = xp.full((count, n), 1 / n, dtype=likelihoods.dtype, **backend.device_option(likelihoods))
    slack = xp.ones_like(shares)
    least = float(xp.finfo(likelihoods.dtype).smallest_normal) ** 0.25

    def gains(shares: Array) -> tuple[Array, Array]:
        """The share of the data that each class explains, Σ_i w_i L_ik / Σ_j π_j L_ij, and its parts (B, m, n)."""
        fit = xp.sum(likelihoods * shares[:, None, :], axis=-1)[..., None]
        parts = likelihoods / xp.where(fit > 0, fit, 1)
        return xp.sum(weights[..., None] * parts, axis=-2), parts

    for _ in range(STEPS):
        gain, parts = gains(shares)
        barrier = LEFT * xp.mean(shares * slack, axis=-1, keepdims=True)
        curvature = backend.sum_of_products(weights[..., None] * parts, parts) + (slack / shares)[..., None] * eye
        change = backend.of_matrices("solve", curvature, (gain - 1 + barrier / shares)[..., None])[..., 0]
        of_slack = barrier / shares - slack - slack / shares * change
        shares = shares + _step(shares, change, xp) * change
        slack = slack + _step(slack, of_slack, xp) * of_slack
        shares, slack = xp.clip(shares, least, None), xp.clip(slack, least, None)
    return shares * gains(shares)[0]


def _step(x: Array, change: Array, xp: Any) -> Array:
    """The part of the change that keeps all numbers positive."""
    falls = change < 0
    ratio = xp.where(falls, -WAY * x / xp.where(falls, change, -1), 1.0)
    return xp.clip(xp.min(ratio, axis=-1, keepdims=True), None, 1.0)
