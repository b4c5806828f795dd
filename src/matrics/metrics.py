"""All measures of confusion matrices: ``matrics.metrics.jaccard(cm)``, or by name, ``matrics.score(cm, "jaccard")``.

:func:`matrics.list_metrics` has their names by family, and :func:`matrics.describe` the facts of each. The nine
measures of the group ``core`` are in ``matrics`` as well.

>>> import matrics
>>> matrics.metrics.jaccard([[45, 5], [5, 45]]).round(4)
np.float64(0.8182)
"""

from matrics import _metrics
from matrics._metrics import *  # noqa: F403 (each family says which names are public)

__all__: list[str] = []
__all__ += [name for name in _metrics.__all__ if name not in {"GershgorinBounds", "eigenvalues", "gershgorin_bounds"}]
