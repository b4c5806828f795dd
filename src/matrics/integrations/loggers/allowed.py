"""Names for loggers that do not allow every character."""

from __future__ import annotations

import re
from collections.abc import Iterable

from matrics.quoting import quoted


def allowed_names(names: Iterable[str], refused: str, logger: str) -> dict[str, str]:
    r"""For each name one where _ stands for the refused characters; raises if two names become the same.

    >>> allowed_names(["fbeta(beta=2):macro", "recall/dog"], r"[^\w./-]", "MLflow")
    {'fbeta(beta=2):macro': 'fbeta_beta_2_macro', 'recall/dog': 'recall/dog'}
    """
    found: dict[str, str] = {}
    origins: dict[str, str] = {}
    for name in names:
        short = re.sub(rf"(?:{refused})+", "_", re.sub(r"[)\]]", "", name))
        if short in origins:
            raise ValueError(
                f"scores: expected names that differ in letters, digits, _, - or ., got {quoted(origins[short])} and "
                f"{quoted(name)}, which are both {quoted(short)} in {logger}, where other characters are not "
                "allowed: give the classes or the scores other names"
            )
        found[name], origins[short] = short, name
    return found
