"""``matrics interval``: a confidence interval for every measure of every matrix."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

import matrics
from matrics._cli import options
from matrics._cli.blocks import watching
from matrics._cli.judged import JudgedIntervals
from matrics._cli.judged_files import JudgeOptions, read_judged
from matrics._cli.matrices import (
    MatrixOptions,
    answered_in_words,
    answered_of,
    clusters_of,
    default_measures,
    is_log,
    open_matrices,
    opened,
    say_of_models,
    warn_of_single_class,
)
from matrics._cli.matrix_results import deliver, open_work
from matrics._cli.measures import Target, measures, plug_in, reasons_of
from matrics._cli.options import refuse
from matrics._cli.results import column
from matrics._cli.run import MatrixRun, name_cell
from matrics._cli.writers import read_delivery
from matrics._errors import ArgumentError
from matrics._files.outputs.destination import SUFFIXES
from matrics._quoting import quoted
from matrics._scoring.score import resolve
from matrics._uncertainty.options import DRAWING, Options, read_options
from matrics._uncertainty.target import scheme_at
from matrics._wording import in_percent

if TYPE_CHECKING:
    from matrics._cli.results import Rows
    from matrics._files.source import MatrixSource
    from matrics._integrations.evals.answered import Answered

Array = Any


def interval(
    path: options.FilePath,
    *,
    metrics: options.Metrics = None,
    plugin: options.Plugin = None,
    by: options.By = None,
    data: MatrixOptions,
    prevalence: options.Prevalence = None,
    weight: options.Weight = None,
    reading: options.ReadingOptions,
    clusters: options.Clusters = None,
    judging: JudgeOptions,
    level: options.Level = "0.95",
    method: Annotated[
        str,
        options.option(
            "auto|bootstrap|...",
            "The method of the limits; with --judge, the correction of the judge's errors. The names are those "
            "of matrics.interval and matrics.judged.interval.",
        ),
    ] = "auto",
    scheme: Annotated[
        str | None, options.option("multinomial|rows|poisson", "The sampling scheme.", default="multinomial")
    ] = None,
    num: options.Num = None,
    seed: options.Seed = None,
    zero_division: options.ZeroDivision = "nan",
    sort: options.Sort = None,
    format_: options.Format = None,
    output: options.Output = None,
    workers: options.Workers = None,
    on_invalid: options.OnInvalid = "raise",
    progress: options.ShowProgress = False,
) -> None:
    """Compute a confidence interval for every measure of every matrix."""
    plug_in(plugin)
    zero = options.read_number("zero-division", zero_division)
    resolve(metrics or "core")  # raises before anything is read
    judging.check(data.true)
    rows_read = reading.read(data.true, data.pred)
    columns = options.column_names(by)
    request = data.request(by=columns, weight=weight, reading=rows_read)
    if judging.judge is not None:
        request.refuse("no such option with --judge", "rows", "counts", "weight", "cells")
        unused = {"clusters": clusters, "prevalence": prevalence, "scheme": scheme, "num": num, "seed": seed}
        unused["sort"] = sort
        options.refuse("no such option with --judge", unused)
        rows = read_judged([path], request.names(), judging, has_pred=data.pred is not None)
        judged = JudgedIntervals(rows, metrics, level=options.read_number("level", level), zero=zero, method=method)
        read_delivery(format_, output, [path]).write(judged.intervals_result)
        return
    given = opened(path, rows_read.answers)
    say_of_models(given, columns)
    clusters = clusters_of(given, clusters, weight, data.cells, data.counts, scheme)
    limits = LimitOptions.read(
        level=options.read_number("level", level),
        method=method,
        scheme=scheme,
        num=options.read_integer("num", num),
        seed=options.read_integer("seed", seed, 0),
        clusters=clusters,
        prevalence=prevalence,
    )
    settings = options.RunOptions.read(workers, on_invalid, progress=progress)
    delivery = read_delivery(format_, output, [path], blocks=SUFFIXES)
    with open_work(path, delivery.blocks) as work:
        source = open_matrices(given, request, watching(lines=settings.progress), clusters=clusters)
        standard, headings = ("", {}) if metrics else default_measures(path, source)
        chosen = measures(metrics or standard, lambda: source.known(data.positive))
        target = Target.read(prevalence, source.known(data.positive))
        run = IntervalRun(
            source=source,
            metrics=chosen,
            zero_division=zero,
            limits=limits,
            settings=settings,
            target=target,
            headings=headings,
            answered=answered_of(given),
        )
        if is_log(path):
            warn_of_single_class(run)
        deliver(run, work, delivery, sort=sort, positive=data.positive)


# The parts of an interval, in this order along the last axis, and the suffixes of their columns in a file.
PARTS = {"": "estimate", "/low": "low", "/high": "high", "/standard_error": "standard_error", "/status": "status"}
ESTIMATE, LOW, HIGH, _, STATUS = range(5)


@dataclass(frozen=True)
class LimitOptions:
    """The options of the intervals, all decided."""

    options: Options
    scheme: str | None  # as given, because methods without a scheme refuse any value
    seed: int | None  # None for methods without random draws
    clusters: str | None

    @classmethod
    def read(
        cls,
        *,
        level: float,
        method: str,
        scheme: str | None,
        num: int | None,
        seed: int | None,
        clusters: str | None,
        prevalence: str | None = None,
    ) -> LimitOptions:
        """Check the options and fill in defaults."""
        if clusters is None and scheme == "clusters":
            raise ArgumentError("scheme", "expected --clusters COLUMN with clusters, got none")
        if clusters is not None and scheme not in (None, "clusters"):
            raise ArgumentError("scheme", f"expected clusters or no scheme with --clusters, got {quoted(scheme)}")
        draws = method in DRAWING
        for option, given in (("num", num), ("seed", seed)):
            if given is not None and not draws:
                raise ArgumentError(option, f"expected a method that draws, got --method {method}")
        axis = None if clusters is None else 0
        if clusters is not None:
            refuse("no such option with --clusters", {"prevalence": prevalence})
        scheme = scheme_at(prevalence, method, scheme, axis)
        options = read_options(level, method, scheme, prior=None, num=num, rng=None, cluster_axis=axis)
        return cls(options, scheme, (seed or 0) if draws else None, clusters)


@dataclass(kw_only=True)
class IntervalRun(MatrixRun):
    """The intervals (rows, columns, parts) of a source."""

    command: ClassVar[str] = "interval"
    unit: ClassVar[str] = "interval"
    # An interval takes far longer than a score.
    piece_bytes: ClassVar[int | None] = 2**20
    block_cells: ClassVar[int | None] = 2**16
    least_rows: ClassVar[int | None] = 256
    summarises: ClassVar[str] = "how wide they are, from the lower to the upper limit"

    limits: LimitOptions
    answered: tuple[Answered, ...] = ()  # for each run of an evaluation log

    def __post_init__(self) -> None:
        _refuse_single_clusters(self.source, self.limits.clusters)
        if self.source.squares is not None and self.limits.seed is not None:
            raise ArgumentError(
                "method",
                f"expected auto, delta or a method of proportions with --weight, got "
                f"{self.limits.options.method}, which draws numbers of samples",
            )
        # One generator for all blocks, or each would draw the same numbers.
        self.rng = None if self.limits.seed is None else np.random.default_rng(self.limits.seed)

    @property
    def about(self) -> list[str]:
        """The method of the intervals, with the seed, so that the intervals can be reproduced."""
        options, limits = self.limits.options, self.limits
        facts = super().about
        facts += [f"scheme {options.scheme}"] if options.scheme not in ("multinomial", "clusters") else []
        if limits.clusters is not None:
            counts = self.source.cluster_counts
            number = f"{counts.min():,}" + (f" to {counts.max():,}" if counts.min() < counts.max() else "")
            facts.append(f"{number} clusters ({limits.clusters}) in each matrix")
        if self.source.squares is not None:
            effective = self.source.effective_samples
            ends = dict.fromkeys(f"{number:,.0f}" for number in (effective.min(), effective.max()))
            facts.append(f"{' to '.join(ends)} effective samples in each matrix")
        if limits.seed is not None:
            facts += [f"{options.num:,} replicates", f"seed {limits.seed}"]
        method = f"{in_percent(options.level)} intervals by method {options.method}"
        return [", ".join([method, *facts]), *answered_in_words(self.answered, options.level)]

    def facts(self, positive: str | None) -> dict[str, Any]:
        """The facts of the titles, as plain values."""
        options, seed = self.limits.options, self.limits.seed
        answered = [part.facts(options.level) for part in self.answered]
        return (
            super().facts(positive)
            | ({"answered": answered} if answered else {})
            | {
                "seed": seed,
                "level": options.level,
                "method": options.method,
                "scheme": options.scheme,
                "replicates": None if seed is None else options.num,
                "clusters": self.limits.clusters,
            }
        )

    def rows_of(self, values: Array) -> Rows:
        """The columns of a result: five for each measure."""
        reasons = reasons_of(self.measures)
        names = [
            (name, ending, measured) for name, measured in zip(reasons, self.columns, strict=True) for ending in PARTS
        ]
        return {
            name + ending: column(
                part,
                undefined=reasons[name],
                status="" if ending == "/status" else f"{name}/status",
                is_status=ending == "/status",
                measured=None if ending else measured,
                title="" if ending else self.headings.get(name, ""),
            )
            for (name, ending, measured), part in zip(names, self.outputs(values).values(), strict=True)
        }

    def estimates(self, values: Array) -> Array:
        """The values of the measures without their limits: (rows, columns)."""
        return values[..., ESTIMATE]

    def summarised(self, values: Array) -> Array:
        """How wide each interval is: (rows, columns)."""
        with np.errstate(invalid="ignore"):  # between two infinite limits
            return values[..., HIGH] - values[..., LOW]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the limits."""
        return np.dtype(np.float64)

    def missing(self, rows: int) -> Array:
        """NaN, and the status of invalid matrices."""
        missing = np.full((rows, len(self.columns), len(PARTS)), np.nan)
        missing[..., STATUS] = matrics.IntervalStatus.INVALID
        return missing

    def scores_of(self, values: Array) -> Array:
        """The estimates: (rows, columns)."""
        return values[..., ESTIMATE]

    def statuses_of(self, values: Array) -> Counter[int]:
        """How many values have each status."""
        return Counter(values[..., STATUS].astype(int).ravel().tolist())

    def evaluate(self, positions: Array, block: Array) -> Array:
        """The intervals of a block."""
        options = self.limits.options
        matrics.check(block)
        if self.rng is not None and options.method != "posterior" and options.scheme in ("multinomial", "rows"):
            _refuse_fractions(self.source, positions, block, options.scheme)
        given: dict[str, Any] = {"level": options.level, "method": options.method, "scheme": self.limits.scheme}
        given |= {"zero_division": self.zero_division, "workers": self.settings.workers}
        if self.rng is not None:
            given["num"] = options.num
        if self.target is not None:
            given["prevalence"] = self.target.shares
        if self.source.squares is not None:
            given["squared_weights"] = self.source.squares_of(positions)
        if self.limits.clusters is None:
            return _parts(matrics.interval(block, self.metrics.values(), rng=self.rng, **given))
        # Matrix by matrix, because each has its own clusters. All use the same seed, as a stack would.
        given |= {"cluster_axis": 0, "rng": self.limits.seed}
        stacks = [self.source.clusters_of(position)[:, None] for position in positions.tolist()]
        return np.concatenate([_parts(matrics.interval(stack, self.metrics.values(), **given)) for stack in stacks])

    @property
    def labels(self) -> list[str]:
        """The names of the columns of an output file: five per measure."""
        return [column.label + ending for column in self.columns for ending in PARTS]

    def outputs(self, values: Array) -> dict[str, Array]:
        """The columns of an output file."""
        columns = values.reshape(len(values), len(self.labels)).T
        return {
            name: column.astype(int) if name.endswith("/status") else column
            for name, column in zip(self.labels, columns, strict=True)
        }


def _parts(intervals: dict[str, matrics.Interval]) -> Array:
    """All intervals as an array (rows, columns, parts)."""
    fields = [[np.asarray(getattr(x, name), np.float64) for x in intervals.values()] for name in PARTS.values()]
    return np.stack([np.column_stack(values) for values in fields], axis=-1)


def _refuse_single_clusters(source: MatrixSource, clusters: str | None) -> None:
    alone = np.flatnonzero(source.cluster_counts < 2)
    if len(alone):
        where = f" in {source.heading} {source.name(int(alone[0]))}" if source.keys else ""
        raise ArgumentError(
            "clusters", f"expected at least two values of {quoted(clusters)}{where}, got a single value"
        )


def _refuse_fractions(source: MatrixSource, positions: Array, block: Array, scheme: str) -> None:
    wrong = block != np.rint(block)
    if wrong.any():
        wrong, block = (x if source.rows == "true" else x.transpose(0, 2, 1) for x in (wrong, block))
        raise ValueError(
            f"{source.file}: expected counts, as the scheme {scheme} draws samples, got "
            f"{name_cell(source, positions, block, wrong)}; --scheme poisson takes soft counts as well"
        )
