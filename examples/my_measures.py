"""A user's own measure, for the command line and for programs.

    cd examples
    matrics threshold breast_cancer_scores.parquet --scores score --positive malignant --by model \\
        --plugin my_measures --metric alarm_value
    python my_measures.py
"""

import math
from typing import Any

import matrics
from matrics.typing import Table


@matrics.metric(
    kind="per_class", range=(-math.inf, 1), higher_is_better=True, undefined="a class that is never predicted"
)
def alarm_value(t: Table, *, cost: float = 2.0) -> Any:
    """What an alarm is worth, where a false one costs more than a right one brings."""
    return t.divide(t.tp - cost * t.fp, t.tp + t.fp)


if __name__ == "__main__":
    cm = [[940, 20], [10, 30]]
    print(matrics.interval(cm, alarm_value.using(positive=1))["alarm_value[1]"])
    print(matrics.study.certificate(alarm_value.using(average="binary"), cases=2000))
