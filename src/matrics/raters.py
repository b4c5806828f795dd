"""Agreement of several raters with missing ratings: coefficients, confidence limits, and pairs of raters.

The measures of the catalogue compare two raters by a confusion matrix; the functions here use tables of ratings, items
× raters. :func:`pairwise` converts such a table into the matrices of all pairs.
"""

from matrics._raters.coefficients import (
    brennan_prediger,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from matrics._raters.limits import interval
from matrics._raters.pairs import leave_one_out, pairwise

__all__ = [
    "brennan_prediger",
    "conger_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "interval",
    "krippendorff_alpha",
    "leave_one_out",
    "pairwise",
    "percent_agreement",
]
