"""For all of pytest's roads into the project: the tests, the docstrings, this README and the docs."""

from __future__ import annotations

import importlib.util

# Without the library of an extra, what needs it cannot be imported, not even to look for examples in it.
NEEDS = {
    "src/matrics/cli": "typer",
    "src/matrics/integrations/flax.py": "flax",
    "src/matrics/integrations/torch.py": "torch",
    "src/matrics/integrations/torchmetrics.py": "torchmetrics",
}
collect_ignore = [path for path, library in NEEDS.items() if importlib.util.find_spec(library) is None]
