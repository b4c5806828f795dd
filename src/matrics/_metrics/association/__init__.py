"""Association of the true classes with the predicted ones: contingency coefficients and correlation."""

# ruff: noqa: F403 (each module says what of it is public)
from matrics._metrics.association.correlation import *  # isort: skip
from matrics._metrics.association.contingency import *  # isort: skip
from matrics._metrics.association.ordinal import *  # isort: skip
from matrics._metrics.association import correlation, contingency, ordinal  # isort: skip

__all__: list[str] = []
__all__ += correlation.__all__
__all__ += contingency.__all__
__all__ += ordinal.__all__
