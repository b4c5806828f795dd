"""The catalogue: one file a family, one function a measure. Importing a family registers its measures."""

from matrics.metrics import (  # isort: skip  (in the order of the lists)
    rates,
    counts,
    combined,
    odds,
    imbalance,
    agreement,
    chance_corrected,
    ground_truth,
    correlation,
    association,
    information,
    spectral,
    inference,
    similarity,
    logarithmic_similarity,
    dissimilarity,
    chance_similarity,
    hits_beyond_chance,
)
from matrics.metrics.catalogue import groups

groups()  # found now: what torch.compile has made before they are found would be compiled again

__all__ = [
    "agreement",
    "association",
    "chance_corrected",
    "chance_similarity",
    "combined",
    "correlation",
    "counts",
    "dissimilarity",
    "ground_truth",
    "hits_beyond_chance",
    "imbalance",
    "inference",
    "information",
    "logarithmic_similarity",
    "odds",
    "rates",
    "similarity",
    "spectral",
]
