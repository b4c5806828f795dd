"""A missing package: all messages have one form, and the version needs nothing but the library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import matrics

SOURCES = Path(matrics.__file__).parent
# What needs it, the verb, and the package; then the command that installs the extra, or packages that no extra has.
FORM = re.compile(r'[\w.=", {}-]+ needs? [\w., ()|…{}-]+: python -m pip install ("matrics\[[\w{}]+\]"|[a-z{} ]+)')


def test_all_messages_have_the_same_form() -> None:
    messages = [
        " ".join(re.split(r'"\s+f?"', text))
        for path in sorted(set(SOURCES.rglob("*.py")) - {SOURCES / "_extras.py"})
        for text in re.findall(
            r"(?:raise \w+\(|install = |\"backend\", )((?:[^()]|\([^()]*\))*?pip install[^\n]*)", path.read_text()
        )
    ]
    assert len(messages) > 15
    assert [text for text in messages if not FORM.search(text)] == []


@pytest.mark.parametrize(
    ("module", "missing", "extra"),
    [
        ("torch", "torch", "torch"),
        ("torchmetrics", "torch", "torchmetrics"),
        ("flax", "jax", "flax"),
        ("flax", "flax", "flax"),
        ("dask", "dask", "dask"),
        ("sklearn", "sklearn", "sklearn"),
        ("xarray", "xarray", "xarray"),
        ("transformers", "torch", "torch"),
    ],
)
@pytest.mark.sampled(2)
def test_modules_of_other_libraries(module: str, missing: str, extra: str) -> None:
    """The error names the extra, also of a library that the library itself needs."""
    code = f"import sys; sys.modules[{missing!r}] = None; import matrics.{module}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = f'ModuleNotFoundError: matrics.{module} needs {missing}: python -m pip install "matrics[{extra}]"'
    assert ran.stderr.splitlines()[-1] == expected


def test_the_version_needs_no_metadata_of_the_package() -> None:
    """The sources alone, on PYTHONPATH, have a version: in JSON, on the command line, and without its packages."""
    code = (
        "import importlib.metadata, sys\n"
        "def none(name): raise importlib.metadata.PackageNotFoundError(name)\n"
        "importlib.metadata.version = none\n"
        "import matrics\n"
        "print(matrics.to_json({'accuracy': 1.0}))\n"
        "sys.modules['typer'] = None\n"
        "sys.argv = ['matrics', '--version']\n"
        "from matrics._cli import main\n"
        "main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f'"version": "{matrics.__version__}"' in ran.stdout
    assert ran.stdout.endswith(f"matrics {matrics.__version__}\n")
