"""The common samples of two runs of an evaluation, and their scores in each run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matrics._integrations.evals.log import Graded, Log, no_scores
from matrics._quoting import quoted
from matrics._tables.samples import common_samples

Key = tuple[str, str]  # the task and the sample


class Run(NamedTuple):
    """The answers of a model in a log."""

    name: str
    rows: tuple[Graded, ...]
    unscored: tuple[Graded, ...]  # the answers without a score; with the score 0, they are also in the rows
    file: str

    def answered(self, scorer: str) -> list[tuple[int, int]]:
        """For each sample of a scorer, the numbers of answers with and without a score."""
        without = {(row.task, str(row.sample), row.epoch) for row in self.unscored if row.scorer == scorer}
        of_sample: dict[Key, list[int]] = defaultdict(lambda: [0, 0])
        for task, sample, _ in without:
            of_sample[task, sample][1] += 1
        for row in self.rows:
            if row.scorer == scorer and (row.task, str(row.sample), row.epoch) not in without:
                of_sample[row.task, str(row.sample)][0] += 1
        return [(scored, unscored) for scored, unscored in of_sample.values()]

    def lacks_scores(self, scorer: str) -> bool:
        """Whether the run has answers for a scorer, but none with a score."""
        of_scorer = (any(row.scorer == scorer for row in part) for part in (self.rows, self.unscored))
        return tuple(of_scorer) == (False, True)

    def reasons(self, scorer: str) -> tuple[str, ...]:
        """The answers without a score, each with the reason."""
        return tuple(f"{row.place}: {row.reason}" for row in self.unscored if row.scorer == scorer)


class Pair(NamedTuple):
    """The answers of two runs to their common samples, in the same order, graded by the same scorer."""

    scorer: str
    samples: list[str]
    a: list[list[Graded]]
    b: list[list[Graded]]
    only_a: tuple[str, ...]  # the samples that b does not have, with or without a score
    only_b: tuple[str, ...]


def runs_of(logs: Sequence[Log]) -> list[Run]:
    """The runs of all logs; raise if there are fewer than two that have scores."""
    runs = named_runs(logs)
    with_scores = [run for run in runs if run.rows]
    if len(with_scores) < 2:
        without = [run.name for run in runs if not run.rows]
        reason = f"; {no_scores(without)}: missing_score 'zero' scores missing answers as 0" if without else ""
        raise ValueError(
            f"{logs[0].file}: expected two logs, or a log of two models, got a log of {with_scores[0].name}{reason}"
        )
    return runs


def named_runs(logs: Sequence[Log]) -> list[Run]:
    """The runs of all logs. The names of runs are those of the models if these differ, otherwise those of the files."""
    runs: list[Run] = []
    for log in logs:
        models = dict.fromkeys(row.model for row in (*log.rows, *log.unscored))
        for model in models:
            rows, unscored = (tuple(row for row in part if row.model == model) for part in (log.rows, log.unscored))
            runs.append(Run(model, rows, unscored, log.file))
    by_model = Counter(run.name for run in runs)
    files = dict.fromkeys(run.file for run in runs)
    short = len({Path(file).name for file in files}) == len(files)
    models_of = Counter(run.file for run in runs)
    result: list[Run] = []
    for run in runs:
        file = Path(run.file).name if short else run.file
        name = file if models_of[run.file] == 1 else f"{file}: {run.name}"
        name = run.name if by_model[run.name] == 1 else name
        number_before = sum(other.name.partition(" (run ")[0] == name for other in result)
        result.append(run._replace(name=f"{name} (run {number_before + 1})" if number_before else name))
    return result


def paired(a: Run, b: Run) -> list[Pair]:
    """The pairs of each scorer that both runs have.

    Raises
    ------
    ValueError
        The runs have no scorer or no sample in common, or a sample has different targets.
    """
    of_a, of_b = (_by_scorer(run) for run in (a, b))
    both = [scorer for scorer in of_a if scorer in of_b]
    if not both:
        raise ValueError(
            f"expected a scorer of both runs, got {', '.join(of_a)} of {a.name} and {', '.join(of_b)} of {b.name}"
        )
    pairs = []
    for scorer in both:
        mine, theirs = of_a[scorer], of_b[scorer]
        common, *alone = common_samples(mine, theirs)
        if len(common) < 2:
            raise ValueError(
                f"expected at least two samples that both runs have, got {len(common)}: {a.name} has "
                f"{_first(mine)}, and {b.name} has {_first(theirs)}"
            )
        tasks = len({task for task, _ in common}) > 1
        for key in common:
            targets = {row.target for row in (*mine[key], *theirs[key])}
            if len(targets) > 1:
                first, second = sorted(map(quoted, targets))[:2]
                raise ValueError(
                    f"expected one target of sample {key[1]}, got {first} and {second}: these are different samples"
                )
        names = [_named(key, with_task=tasks) for key in common]
        all_a, all_b = (_samples(run, scorer) for run in (a, b))
        only_a = tuple(_named(key, with_task=tasks) for key in alone[0] if key not in all_b)
        only_b = tuple(_named(key, with_task=tasks) for key in alone[1] if key not in all_a)
        of_both = ([mine[key] for key in common], [theirs[key] for key in common])
        pairs.append(Pair(scorer, names, *of_both, only_a, only_b))
    return pairs


def _samples(run: Run, scorer: str) -> set[Key]:
    """The samples of a run, with or without a score."""
    return {(row.task, str(row.sample)) for row in (*run.rows, *run.unscored) if row.scorer == scorer}


def _by_scorer(run: Run) -> dict[str, dict[Key, list[Graded]]]:
    result: dict[str, dict[Key, list[Graded]]] = defaultdict(lambda: defaultdict(list))
    for row in run.rows:
        result[row.scorer][row.task, str(row.sample)].append(row)
    return result


def _named(key: Key, *, with_task: bool) -> str:
    return "/".join(key) if with_task else key[1]


def _first(samples: dict[Key, list[Graded]]) -> str:
    task, sample = next(iter(samples))
    return f"{len(samples):,}, such as {sample}" + (f" of {task}" if task else "")
