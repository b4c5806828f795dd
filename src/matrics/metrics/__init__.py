"""The measures: one module per family, one function per measure. Importing a family registers its measures.

A measure is public if the ``__all__`` of its family lists it.
"""

# ruff: noqa: F403 (each family lists its public names)
from matrics.catalogue.registry import groups

# The order of these imports is the order in which measures are listed.
from matrics.metrics.rates import *  # isort: skip
from matrics.metrics.counts import *  # isort: skip
from matrics.metrics.combined import *  # isort: skip
from matrics.metrics.odds import *  # isort: skip
from matrics.metrics.imbalance import *  # isort: skip
from matrics.metrics.agreement import *  # isort: skip
from matrics.metrics.chance_corrected import *  # isort: skip
from matrics.metrics.ground_truth import *  # isort: skip
from matrics.metrics.correlation import *  # isort: skip
from matrics.metrics.association import *  # isort: skip
from matrics.metrics.information import *  # isort: skip
from matrics.metrics.spectral import *  # isort: skip
from matrics.metrics.inference import *  # isort: skip
from matrics.metrics.similarity import *  # isort: skip
from matrics.metrics.logarithmic_similarity import *  # isort: skip
from matrics.metrics.dissimilarity import *  # isort: skip
from matrics.metrics.chance_similarity import *  # isort: skip
from matrics.metrics.hits_beyond_chance import *  # isort: skip
from matrics.metrics import (  # isort: skip
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

__all__: list[str] = []
__all__ += rates.__all__
__all__ += counts.__all__
__all__ += combined.__all__
__all__ += odds.__all__
__all__ += imbalance.__all__
__all__ += agreement.__all__
__all__ += chance_corrected.__all__
__all__ += ground_truth.__all__
__all__ += correlation.__all__
__all__ += association.__all__
__all__ += information.__all__
__all__ += spectral.__all__
__all__ += inference.__all__
__all__ += similarity.__all__
__all__ += logarithmic_similarity.__all__
__all__ += dissimilarity.__all__
__all__ += chance_similarity.__all__
__all__ += hits_beyond_chance.__all__

groups()  # built now: a program that torch.compile makes before would be compiled again
