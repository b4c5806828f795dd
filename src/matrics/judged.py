"""Samples with labels of a judge, and of people for a part: counts, corrected matrices, limits and further labels.

``count`` counts people's labels, the judge's and the model's. ``interval`` and ``compare`` correct measures for the
errors of the judge, ``quality`` scores the judge, and ``labels_needed`` and ``choose_samples`` plan further labels.
"""

from matrics._judged.compare import compare
from matrics._judged.correction import confusion_matrix
from matrics._judged.counts import count
from matrics._judged.interval import interval
from matrics._judged.needed import choose_samples, labels_needed
from matrics._judged.quality import quality

__all__ = [
    "choose_samples",
    "compare",
    "confusion_matrix",
    "count",
    "interval",
    "labels_needed",
    "quality",
]
