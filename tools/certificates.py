"""Write the certificate of every measure, which takes some minutes.

``docs/certificates.json`` has all of it, for the pages, and ``src/matrics/_catalogue/verdicts.json`` which properties
hold, for ``matrics.describe`` and reports.

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
from matrics._study.certificates.catalogue import STATEMENTS
from matrics._study.certificates.stored import as_record, certified_specs, from_record, marks_of

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "certificates.json"
VERDICTS = ROOT / "src" / "matrics" / "_catalogue" / "verdicts.json"


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
    known = {spec: kept[spec] for spec in certified_specs() if spec in kept}
    FILE.write_text(
        _lines({spec: json.dumps(record, separators=(",", ":")) for spec, record in known.items()}), "utf-8"
    )
    verdicts = _lines({spec: json.dumps(marks_of(from_record(spec, record))) for spec, record in known.items()})
    parts = {"properties": json.dumps(list(STATEMENTS)), "verdicts": verdicts.rstrip()}
    VERDICTS.write_text(_lines(parts), "utf-8")
    sizes = ", ".join(f"{file.name} {file.stat().st_size / 1e3:.0f} kB" for file in (FILE, VERDICTS))
    print(f"{len(known)} certificates, {sizes}, {time.perf_counter() - start:.0f} s")


def _lines(entries: dict[str, str]) -> str:
    """An object of JSON with a line for each name, so that a change of one measure is one line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {text}" for name, text in entries.items()) + "\n}\n"


if __name__ == "__main__":
    main()
