"""The files of a gate, if both models have predicted the same samples: joined by the column of the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matrics
from matrics.catalogue.classes import Classes
from matrics.cli.gate_counts import GateFiles, described
from matrics.cli.paired import TwoFiles, join, named
from matrics.cli.printing import counted
from matrics.files.names import Names
from matrics.gates.limits import Evidence

if TYPE_CHECKING:
    from pathlib import Path

    from matrics.cli.open_run import ScoreRequest

Array = Any


def read_pairs(path: Path, asked: ScoreRequest, baseline: Path, paired_on: str, positive: str | None) -> GateFiles:
    """Read the rows of both files, and join them by the column of the samples."""
    asked.refuse("no such option with --paired-on, as samples are rows", "rows", "counts", "cells")
    found = TwoFiles.read([path, baseline], Names(asked.true, asked.pred, (), paired_on, weight=asked.weight))
    files, n = found.files, len(found.classes)
    both = join(found, paired_on)
    found.warn()
    of_all, weight = found.rows[0].weights, both.weights

    def joint(weights: Array | None) -> Array:
        return matrics.joint_confusion_matrix(both.true, *both.predictions, num_classes=n, sample_weight=weights)

    def alone(weights: Array | None) -> Array:
        return matrics.confusion_matrix(*found.labels(0), num_classes=n, sample_weight=weights)

    evidence = Evidence(alone(of_all), joint=joint(weight))
    if weight is not None:
        evidence = evidence._replace(squares=alone(of_all**2), joint_squares=joint(weight**2))
    number = len(both.true)
    titles = [
        described(files[0], n, evidence.cm, asked.weight),
        f"baseline {files[1]}: the same {counted(number, 'sample')} ({paired_on})",
    ]
    titles += [
        f"left out of the comparison, as only {file} has them: {named(only)}"
        for file, only in zip(files, both.only, strict=True)
        if only
    ]
    left_out = {"only_in_file": len(both.only[0]), "only_in_baseline": len(both.only[1])}
    facts = {"file": files[0], "baseline": files[1], "paired_on": paired_on, "paired": number, **left_out}
    return GateFiles(evidence, Classes.of(n, found.classes, positive, ordered=found.ordered), titles, facts)
