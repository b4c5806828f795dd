"""The measures: a file or a folder per family, a function per measure. Importing a family registers its measures.

A measure is public by its line in the ``__all__`` of its file.
"""

# ruff: noqa: F403 (each family lists its public names)
from matrics._catalogue.registry import groups

# In the order in which the measures are listed.
from matrics._metrics.rates import *  # isort: skip
from matrics._metrics.counts import *  # isort: skip
from matrics._metrics.odds import *  # isort: skip
from matrics._metrics.imbalance import *  # isort: skip
from matrics._metrics.agreement import *  # isort: skip
from matrics._metrics.chance_corrected import *  # isort: skip
from matrics._metrics.association import *  # isort: skip
from matrics._metrics.information import *  # isort: skip
from matrics._metrics.spectral import *  # isort: skip
from matrics._metrics.inference import *  # isort: skip
from matrics._metrics.similarity import *  # isort: skip
from matrics._metrics.dissimilarity import *  # isort: skip
from matrics._metrics.costs import *  # isort: skip
from matrics._metrics import (  # isort: skip
    rates,
    counts,
    odds,
    imbalance,
    agreement,
    chance_corrected,
    association,
    information,
    spectral,
    inference,
    similarity,
    dissimilarity,
    costs,
)

__all__: list[str] = []
__all__ += rates.__all__
__all__ += counts.__all__
__all__ += odds.__all__
__all__ += imbalance.__all__
__all__ += agreement.__all__
__all__ += chance_corrected.__all__
__all__ += association.__all__
__all__ += information.__all__
__all__ += spectral.__all__
__all__ += inference.__all__
__all__ += similarity.__all__
__all__ += dissimilarity.__all__
__all__ += costs.__all__

groups()  # computed now: torch.compile would otherwise compile its earlier code again
