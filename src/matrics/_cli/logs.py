"""Evaluation logs of language models as input of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matrics._errors import ArgumentError
from matrics._files.foreign import LOGS
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matrics._cli.run import Run
    from matrics._files.foreign import Answers
    from matrics._files.inputs import Input


SUFFIXES = (".eval", ".json", ".jsonl")


def is_log(path: Path) -> bool:
    """Whether a path is a log by the end of its name, or a pattern of logs."""
    return path.name.lower().endswith(LOGS) and not path.is_dir()


def are_runs(paths: Sequence[Path], paired_on: str | None) -> bool:
    """Whether files are compared as runs of an evaluation; raise where only one of them is a log of a tool.

    JSON Lines that a column pairs are rows of labels.
    """
    wrong = next((path for path in paths if not is_log(path)), None)
    has_log = any(path.suffix.lower() == ".eval" for path in paths)
    if wrong is not None and has_log:
        raise ValueError(f"{wrong}: expected two evaluation logs ({', '.join(SUFFIXES)}), or one file with --by COLUMN")
    return wrong is None and (has_log or len(paths) == 1 or paired_on is None)


def opened(path: Path, answers: Answers) -> Path | Input:
    """A log, read; any other path as it is."""
    if not is_log(path):
        return path
    from matrics._files.inputs import open_input

    return open_input(path, answers=answers)


def clusters_of(given: Path | Input, clusters: str | None, *others: Any) -> str | None:
    """The column of the clusters: the samples of a log that repeats them, unless another option is against it."""
    table = getattr(given, "table", None)
    return table.clusters if clusters is None and table is not None and not any(others) else clusters


def warn_of_single_class(run: Run) -> None:
    """Say which measures need two true classes, where all that is known is whether answers pass."""
    import numpy as np

    from matrics._files.notices import say
    from matrics._files.source import MatrixSource
    from matrics._integrations.evals.labels import FAIL, PASS
    from matrics._scoring.score import score

    source = run.source
    if not isinstance(source, MatrixSource) or set(source.classes) - {PASS, FAIL} or source.n < 2:
        return
    passed_and_failed = np.zeros((2, 2))
    passed_and_failed[source.classes.index(PASS)] = 1
    found = score(passed_and_failed, list(run.metrics.values()))
    undefined = [name for name, value in found.items() if np.isnan(value).any()]
    if undefined:
        say(
            f"{source.file}: the one true class is {PASS}, as the log has no classes; undefined without a second one: "
            f"{', '.join(undefined)}"
        )


def refuse_options(options: Mapping[str, Any]) -> None:
    """Raise if one of these options is given with evaluation logs."""
    for option, given in options.items():
        if given is not None:
            raise ArgumentError(option, f"expected no such option for two evaluation logs, got {quoted(given)}")
