"""Agreement of several raters, who may have left items out: coefficients, their limits, and pairs of raters.

The measures of the catalogue are of confusion matrices, and so of two raters; those here are of tables of ratings,
items × raters. :func:`pairwise` turns such a table into the matrices of all pairs.
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
