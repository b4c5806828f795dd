"""The matrices of a file, or those of its labels or of a log of an evaluation, as several commands read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._cli import options
from matrics._files.count import Watch, unwatched
from matrics._files.foreign import LOGS, Answers, ForeignTable
from matrics._files.inputs import Input, open_input
from matrics._files.matrices import read
from matrics._files.matrix_rows import CellNames, read_cells
from matrics._files.names import Names
from matrics._files.notices import say
from matrics._files.rows import name_of
from matrics._files.source import MatrixSource
from matrics._scoring.score import score
from matrics._wording import limits, listed

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._cli.run import Run
    from matrics._integrations.evals.answered import Answered


@dataclass(frozen=True, kw_only=True)
class MatrixOptions:
    """The options that say what matrices or labels a file has."""

    true: options.TrueColumn = Names.true
    pred: options.PredColumns = None
    positive: options.PositiveClass = None
    rows: options.Rows = None
    counts: options.Counts = None
    cells: options.Cells = None

    def request(self, **others: Any) -> MatrixRequest:
        """These and other options."""
        columns = {name: value for name, value in vars(self).items() if name != "pred"}
        return MatrixRequest(**columns, **options.predicted(self.pred), **others)


@dataclass(frozen=True, kw_only=True)
class MatrixRequest:
    """What a file has."""

    true: str
    pred: str = Names.pred
    positive: str | None = None
    rows: str | None = None
    counts: str | None = None
    cells: list[str] | None = None
    models: tuple[str, ...] = ()  # columns of several models, in place of ``pred``
    by: tuple[str, ...] = ()
    scores: list[str] | None = None
    threshold: str | None = None
    lower_is_positive: bool = False
    prevalence: str | None = None
    separator: str | None = None
    average: str | None = None
    weight: str | None = None
    reading: options.Reading = options.Reading()  # noqa: RUF009 (cannot be changed)

    def names(self, clusters: str | None = None) -> Names:
        """The columns of labels."""
        columns = {
            name: getattr(self, name) for name in ("true", "pred", "by", "counts", "weight", "positive", "models")
        }
        return Names(**columns, clusters=clusters, **self.reading.names)

    def refuse(self, expected: str, *names: str) -> None:
        """Raise if any of these options is given."""
        given = {name: getattr(self, name) for name in names}
        defaults = {"pred": Names.pred, "true": Names.true, "lower_is_positive": False}
        given = {name: None if value == defaults.get(name) else value for name, value in given.items()}
        if "pred" in given and self.models:
            given["pred"] = self.models
        options.refuse(expected, given)


def open_matrices(
    path: Path | Input, request: MatrixRequest, watch: Watch = unwatched, *, clusters: str | None = None
) -> MatrixSource:
    """Read matrices, or count labels."""
    if request.cells is None:
        if clusters is not None:
            request.refuse("no weights with --clusters", "weight")
        return read(path, request.names(clusters), request.rows, watch)
    request.refuse("no such option with --cells", "pred", "counts", "weight")
    request.reading.refuse("--cells")
    options.refuse("no such option with --cells", {"clusters": clusters, "sheet": request.reading.answers.sheet})
    request.refuse("no such option with --cells", "true")
    return read_cells(
        path.path if isinstance(path, Input) else path,
        replace(
            CellNames.parse(request.cells, request.by),
            encoding=request.reading.encoding,
            decimal=request.reading.decimal,
        ),
        request.rows,
    )


SUFFIXES = (".eval", ".json", ".jsonl")


def is_log(path: Path) -> bool:
    """Whether a path is a log by the end of its name, or a pattern of logs."""
    return path.name.lower().endswith(LOGS) and not path.is_dir()


def are_runs(paths: Sequence[Path], paired_on: str | None) -> bool:
    """Whether files are compared as runs of an evaluation; raise for the log of a tool with a file of another kind.

    JSON Lines that a column pairs are rows of labels.
    """
    wrong = next((path for path in paths if not is_log(path)), None)
    has_log = any(path.suffix.lower() == ".eval" for path in paths)
    if wrong is not None and has_log:
        raise ValueError(f"{wrong}: expected evaluation logs ({', '.join(SUFFIXES)}), or one file with --by COLUMN")
    return wrong is None and (has_log or len(paths) == 1 or paired_on is None)


def opened(path: Path, answers: Answers) -> Path | Input:
    """A log, read; any other path as it is."""
    return open_input(path, answers=answers) if is_log(path) else path


def clusters_of(given: Path | Input, clusters: str | None, *others: Any) -> str | None:
    """The column of the clusters: the samples of a log that repeats them, unless another option is against it."""
    table = getattr(given, "table", None)
    return table.clusters if clusters is None and table is not None and not any(others) else clusters


def answered_of(given: Path | Input) -> tuple[Answered, ...]:
    """The numbers of answers with and without a score for each run of a log; empty for other files."""
    answered: tuple[Answered, ...] = getattr(getattr(given, "table", None), "answered", ())
    return answered


def are_passes(given: Path | Input) -> bool:
    """Whether this is a log whose answers only pass or fail, without other classes."""
    from matrics._integrations.evals.labels import PASS

    table = given.table if isinstance(given, Input) else None
    return table is not None and bool(table.scorers) and set(table.columns["y_true"]) == {PASS}


def several_models(given: Path | Input, by: Sequence[str]) -> tuple[str, str] | None:
    """The column that separates the models of a log, and their names; None if ``by`` separates them."""
    runs = list(dict.fromkeys(part.run for part in answered_of(given)))
    if len(runs) < 2 or {"model", "file"} & set(by) or not isinstance(given, Input) or given.table is None:
        return None
    column = "model" if len(set(_all_answers(given.table)["model"])) > 1 else "file"
    return column, listed(runs)


def _all_answers(table: ForeignTable) -> Mapping[str, Sequence[Any]]:
    """The columns of a log, with those of answers that are left out as they have no score."""
    return getattr(table, "all_answers", None) or table.columns


def refuse_groups_without_scores(given: Path | Input, by: Sequence[str]) -> None:
    """Raise if no answer of a group of a log has a score: the group would be missing from the result."""
    if not isinstance(given, Input) or given.table is None or not given.table.scorers:
        return
    columns = _all_answers(given.table)
    if not by or not set(by) <= set(columns) - {"prediction", "score"}:
        return
    have_scores: dict[tuple[Any, ...], bool] = {}
    for key, value in zip(zip(*(columns[name] for name in by), strict=True), columns["score"], strict=True):
        have_scores[key] = have_scores.get(key, False) or not np.isnan(value)
    without = [", ".join(map(str, key)) for key, has_score in have_scores.items() if not has_score]
    if without:
        these = "it" if len(without) == 1 else "them"
        raise ValueError(
            f"{name_of(given.path)}: expected scores in each group ({', '.join(by)}), got no answer with a score of "
            f"{listed(without)}: use --missing-score zero, or leave {these} out of the log"
        )


def say_of_models(given: Path | Input, by: Sequence[str]) -> None:
    """Print a message if the answers of several models are counted together."""
    mixed = several_models(given, by)
    if mixed is not None and isinstance(given, Input) and given.table is not None:
        column, names = mixed
        if len(set(given.table.columns[column])) < 2:
            return  # the others have no score
        say(f"{name_of(given.path)}: the answers of {names} are counted together; --by {column} separates them")


def answered_in_words(parts: Sequence[Answered], level: float) -> list[str]:
    """A line for each run with the share of answers with a score; empty if all answers have a score."""
    if not any(unscored for part in parts for _, unscored in part.samples):
        return []
    several = len({part.scorer for part in parts}) > 1
    names = [f"{part.run} ({part.scorer})" if several else part.run for part in parts]
    return [f"answered by {name}: {limits(*part.share(level)[:3])}" for name, part in zip(names, parts, strict=True)]


def default_measures(path: Path, source: MatrixSource) -> tuple[str, dict[str, str]]:
    """The default measures and their titles: ``core``, or the pass rate of a log whose answers only pass or fail."""
    from matrics._integrations.evals.labels import FAIL

    if not is_log(path) or not _only_passes(source):
        return "core", {}
    stack = source.block(0, source.count)
    true = stack if source.rows == "true" else stack.transpose(0, 2, 1)
    if FAIL in source.classes and true[:, source.classes.index(FAIL)].any():
        return "core", {}
    say(f"{source.file}: the answers of the log only pass or fail; the accuracy is the pass rate")
    return "accuracy", {"accuracy": "pass rate"}


def _only_passes(source: MatrixSource) -> bool:
    """Whether the classes are those of answers that pass or fail."""
    from matrics._integrations.evals.labels import FAIL, PASS

    return set(source.classes) <= {PASS, FAIL}


def warn_of_single_class(run: Run) -> None:
    """Say which measures need two true classes, where all that is known is whether answers pass."""
    from matrics._integrations.evals.labels import PASS

    source = run.source
    if not isinstance(source, MatrixSource) or not _only_passes(source) or source.n < 2:
        return
    passed_and_failed = np.zeros((2, 2))
    passed_and_failed[source.classes.index(PASS)] = 1
    scores = score(passed_and_failed, list(run.metrics.values()))
    undefined = [name for name, value in scores.items() if np.isnan(value).any()]
    if undefined:
        say(
            f"{source.file}: the only true class is {PASS}, as the log has no classes; undefined measures: "
            f"{', '.join(undefined)}"
        )
