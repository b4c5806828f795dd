"""Where figures come from: the processor and the versions, which stand once above the tables of a page."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "torch", "jax", "scikit-learn", "pycm", "torchmetrics", "prob_conf_mat")
# Set by a script that has printed the machine above the tables of others.
IS_PRINTED = "MATRICS_BENCHMARKS_MACHINE_IS_PRINTED"


def machine() -> dict[str, object]:
    """Where the figures come from."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "cpu": models[0] if models else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": versions,
    }


def print_machine(found: dict[str, object]) -> None:
    """Print it, unless it stands above already."""
    if IS_PRINTED in os.environ:
        return
    print(f"{found['cpu']}, {found['cores']} cores, {found['system']}")
    print(", ".join(f"{package} {number}" for package, number in found["versions"].items()), end="\n\n")
