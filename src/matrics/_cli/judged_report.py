"""The data of a report on answers that a judge has graded, and people in part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from matrics._cli.judged import JudgedComparison, JudgedIntervals
from matrics._cli.judged_files import JudgedRows, JudgeOptions, read_judged
from matrics._cli.matrices import is_log
from matrics._errors import ArgumentError
from matrics._files.names import Names
from matrics._files.text import STDIN
from matrics._judged.correction import confusion_matrix
from matrics._reporting.data import Data, Judged
from matrics._reporting.origin import origin_of_files
from matrics._reporting.verdicts import ModelVerdict

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._cli.options import Reading
    from matrics._reporting.report_columns import ReportColumns


def graded_data(
    path: Path, columns: ReportColumns, judging: JudgeOptions, reading: Reading, *, level: float, command: str
) -> Data:
    """The pass rates of the models of a file, corrected for the errors of the judge."""
    if path == STDIN:
        raise ValueError("-: expected a file, as a report has its checksum, got standard input")
    by, samples = tuple(map(str, columns.by)), columns.paired_on
    if samples is None and by and not is_log(path):
        raise ArgumentError("paired_on", "expected the column of the samples with --judge, got none")
    positive = None if columns.positive is None else str(columns.positive)
    names = Names(by=by, clusters=None if samples is None else str(samples), positive=positive, **reading.names)
    rows = read_judged([path], names, judging, has_pred=False)
    if rows.pred is not None:
        raise ArgumentError(
            "judge",
            f"expected grades of answers, got a column of predictions in {rows.files[0]}; matrics compare takes these",
        )
    numbers = [rows.of_model(k).numbers for k in range(len(rows.models))]
    known = rows.classes
    return Data(
        origin_of_files(path.name, [path], command, path=str(path)),
        tuple(model or "all answers" for model in rows.models),
        known,
        known.texts,
        np.asarray(confusion_matrix(rows.counts)),
        rows=len(rows.true),
        by=", ".join(by) or rows.heading,
        judged=Judged(
            rows.judge,
            rows.human,
            np.asarray([float((rows.groups == k).sum()) for k in range(len(rows.models))]),
            np.asarray([float(number["labelled"]) for number in numbers]),
            _verdict(rows, level),
        ),
    )


def _verdict(rows: JudgedRows, level: float) -> ModelVerdict:
    """The pass rates, and how far each is from the best."""
    if len(rows.models) > 1:
        (verdict,) = JudgedComparison(rows, ["accuracy"], "", level=level, zero=np.nan).verdicts
        return verdict
    ((title, values),) = JudgedIntervals(rows, ["accuracy"], "", level=level, method="auto", zero=np.nan).values()
    nothing = np.full(1, np.nan)
    limits = (values["estimate"], values["low"], values["high"])
    itself = (np.zeros(1), nothing, nothing)
    return ModelVerdict(title, *limits, *itself, 0, np.ones(1, bool), None, True, values["status"].astype(int))
