"""pyarrow in a process of the command line."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any

import pyarrow as pa

from matrics._process import IS_COMMAND


class _WithoutPandas(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(self, fullname: str, *_: Any) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=fullname)


def spare_pandas() -> None:
    """Keep pyarrow from importing pandas, which takes longer than most commands, and which none of them needs.

    pyarrow looks for pandas when it makes its first array, to recognise the series of pandas, and then never again: in
    another program, whose arrays may be such series, it may look. What asks it for a data frame gets one in any case.
    """
    if not IS_COMMAND or "pandas" in sys.modules:
        return
    finder = _WithoutPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)
