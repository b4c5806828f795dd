"""Write src/matrics/_catalogue/certificates.json: the certificate of every measure, which takes some minutes.

``python tools/certificates.py`` searches for all of them with the seed and the cases of
``matrics.study.certificate``; with names only for those. Run it after a change to a measure, to the list of properties
or to the search. ``tests/test_certificate.py`` fails when a measure has no certificate, or another one.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import matrics
from matrics._study.certificates.stored import as_record, certified_specs

FILE = Path(matrics.__file__).parent / "catalogue" / "certificates.json"


def found(spec: str) -> tuple[str, dict[str, Any]]:
    """A measure and its certificate."""
    return spec, as_record(matrics.study.certificate(spec))


def main() -> None:
    """Search, and write what is found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("specs", nargs="*", help="measures; all if left out")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    asked = parser.parse_args()
    start = time.perf_counter()
    kept = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    with ProcessPoolExecutor(asked.workers) as pool:
        kept |= dict(pool.map(found, asked.specs or certified_specs()))
    known = [spec for spec in certified_specs() if spec in kept]
    lines = [f"{json.dumps(spec)}: {json.dumps(kept[spec], separators=(',', ':'))}" for spec in known]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    print(f"{len(known)} certificates, {FILE.stat().st_size / 1e3:.0f} kB, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
