"""For all of pytest's roads into the project: the tests, the docstrings, this README and the docs."""

from __future__ import annotations

import importlib.util

# Without its extra a module cannot be imported, not even to look for examples in it.
NEEDS = {
    "src/matrics/cli": ["typer"],
    "src/matrics/integrations/flax.py": ["flax"],
    "src/matrics/integrations/guarded.py": ["torch"],
    "src/matrics/integrations/torch.py": ["torch"],
    "src/matrics/integrations/torchmetrics.py": ["torch", "torchmetrics"],
    "tests/eight_devices.py": ["jax"],
    "tests/ranks.py": ["torch"],
}
collect_ignore = [path for path, names in NEEDS.items() if not all(map(importlib.util.find_spec, names))]
