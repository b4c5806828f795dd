"""Association of the true with the predicted classes: contingency coefficients and correlation."""

# ruff: noqa: F403 (each module lists its public names)
from matrics._metrics.association.correlation import *  # isort: skip
from matrics._metrics.association.contingency import *  # isort: skip
from matrics._metrics.association.ordinal import *  # isort: skip
from matrics._metrics.association import correlation, contingency, ordinal  # isort: skip

__all__: list[str] = []
__all__ += correlation.__all__
__all__ += contingency.__all__
__all__ += ordinal.__all__
