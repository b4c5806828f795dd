"""For all of pytest's roads into the project: the tests, the docstrings, this README and the docs."""

from __future__ import annotations

import importlib.util

# Without the command line's extra its modules cannot be imported, not even to look for examples in them.
collect_ignore = [] if importlib.util.find_spec("typer") else ["src/matrics/cli"]
