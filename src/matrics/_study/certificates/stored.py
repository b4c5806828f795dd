"""The stored certificates of the catalogue, which ``tools/certificates.py`` writes."""

from __future__ import annotations

import math
from typing import Any

from matrics._catalogue.description import FAILS, FAILS_BEYOND_TWO, HOLDS, UNDECIDED
from matrics._catalogue.record import METRICS
from matrics._study.certificates.catalogue import RELATIONS, STATEMENTS
from matrics._study.certificates.results import Certificate, Verdict, Witness

ROLES = {prop.name: prop.roles for prop in RELATIONS}


def certified_specs() -> list[str]:
    """The specs with a certificate: every measure; class measures as means over classes, and for class 1 of two."""
    by_class = [name for name, record in METRICS.items() if record.kind == "per_class" and not record.needs]
    return [*(name for name in METRICS if not METRICS[name].needs), *(f"{name}:binary" for name in by_class)]


def marks_of(certificate: Certificate) -> str:
    """A letter for each property, as ``matrics._catalogue.description.certified`` reads them."""
    return "".join(_mark(verdict) for verdict in certificate.verdicts.values())


def _mark(verdict: Verdict) -> str:
    if verdict.holds is None:
        return UNDECIDED
    return HOLDS if verdict.holds else FAILS_BEYOND_TWO if 2 in verdict.classes else FAILS


def as_record(certificate: Certificate) -> dict[str, Any]:
    """A certificate as values for JSON."""
    verdicts: dict[str, Any] = {}
    for name, verdict in certificate.verdicts.items():
        entry: dict[str, Any] = {"holds": verdict.holds, "cases": verdict.cases, "classes": list(verdict.classes)}
        if verdict.value is not None:
            entry["value"] = _written(verdict.value)
        if verdict.witness is not None:
            entry["matrices"] = verdict.witness.matrices
            entry["values"] = [_written(value) for value in verdict.witness.values]
            if verdict.witness.roles != ROLES.get(name):
                entry["roles"] = verdict.witness.roles
            if not verdict.witness.confirmed:
                entry["confirmed"] = False
        verdicts[name] = entry
    ranges = {str(n): [_written(low), _written(high)] for n, (low, high) in certificate.ranges.items()}
    return {"seed": certificate.rng, "ranges": ranges, "verdicts": verdicts}


def from_record(spec: str, record: dict[str, Any]) -> Certificate:
    """The certificate of a record from ``as_record``."""
    verdicts = {name: _verdict(name, entry) for name, entry in record["verdicts"].items()}
    ranges = {int(n): (float(low), float(high)) for n, (low, high) in record["ranges"].items()}
    return Certificate(spec, record["seed"], verdicts, ranges)


def _verdict(name: str, entry: dict[str, Any]) -> Verdict:
    witness = None
    if "matrices" in entry:
        matrices = tuple(tuple(tuple(row) for row in matrix) for matrix in entry["matrices"])
        roles = tuple(entry.get("roles") or ROLES[name])
        values = tuple(float(value) for value in entry["values"])
        witness = Witness(matrices, roles, values, entry.get("confirmed", True))
    value = float(entry["value"]) if "value" in entry else None
    return Verdict(name, STATEMENTS[name], entry["holds"], entry["cases"], tuple(entry["classes"]), witness, value)


def _written(value: float) -> float | str:
    """A number with twelve digits, or text for infinite values, which JSON does not have."""
    return float(f"{value:.12g}") if math.isfinite(value) else str(value)
