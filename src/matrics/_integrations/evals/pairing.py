"""Two runs of one evaluation: which samples both have, and what each run scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matrics._integrations.evals.log import Graded, Log
from matrics._quoting import quoted
from matrics._tables.samples import common_samples

Key = tuple[str, str]  # the task and the sample


class Run(NamedTuple):
    """The answers of one model in one log."""

    name: str
    rows: tuple[Graded, ...]


class Pair(NamedTuple):
    """What one scorer said of two runs: the answers to the samples that both have, in one order."""

    scorer: str
    samples: list[str]
    a: list[list[Graded]]
    b: list[list[Graded]]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def runs_of(logs: Sequence[Log]) -> tuple[Run, Run]:
    """The two runs of two logs, or of one log with two models; their names are those of models, or else of files."""
    by_model: list[list[Run]] = []
    for log in logs:
        models = dict.fromkeys(row.model for row in log.rows)
        by_model.append([Run(model, tuple(row for row in log.rows if row.model == model)) for model in models])
    if len(logs) == 1:
        if len(by_model[0]) != 2:
            names = ", ".join(run.name for run in by_model[0])
            raise ValueError(f"{logs[0].file}: expected two logs, or one of two models, got one of {names}")
        return by_model[0][0], by_model[0][1]
    several = next((k for k, runs in enumerate(by_model) if len(runs) > 1), None)
    if several is not None:
        names = ", ".join(run.name for run in by_model[several])
        raise ValueError(f"{logs[several].file}: expected a log of one model, as there are two logs, got {names}")
    (a,), (b,) = by_model
    if a.name != b.name:
        return a, b
    files = [Path(log.file) for log in logs]
    names_of_files = [file.name if files[0].name != files[1].name else str(file) for file in files]
    return Run(names_of_files[0], a.rows), Run(names_of_files[1], b.rows)


def paired(a: Run, b: Run) -> list[Pair]:
    """The pairs of each scorer that both runs have.

    Raises
    ------
    ValueError
        They have no scorer or no sample in common, or a sample has another target.
    """
    of_a, of_b = (_by_scorer(run) for run in (a, b))
    both = [scorer for scorer in of_a if scorer in of_b]
    if not both:
        raise ValueError(
            f"expected a scorer of both, got {', '.join(of_a)} of {a.name} and {', '.join(of_b)} of {b.name}"
        )
    found = []
    for scorer in both:
        mine, theirs = of_a[scorer], of_b[scorer]
        common, *alone = common_samples(mine, theirs)
        if len(common) < 2:
            raise ValueError(
                f"expected at least two samples that both have, got {len(common)}: {a.name} has "
                f"{_first(mine)}, and {b.name} has {_first(theirs)}"
            )
        tasks = len({task for task, _ in common}) > 1
        for key in common:
            targets = {row.target for row in (*mine[key], *theirs[key])}
            if len(targets) > 1:
                one, other = sorted(map(quoted, targets))[:2]
                raise ValueError(
                    f"expected one target of sample {key[1]}, got {one} and {other}: these are different samples"
                )
        names = [_named(key, with_task=tasks) for key in common]
        only_a, only_b = (tuple(_named(key, with_task=tasks) for key in keys) for keys in alone)
        of_both = ([mine[key] for key in common], [theirs[key] for key in common])
        found.append(Pair(scorer, names, *of_both, only_a, only_b))
    return found


def _by_scorer(run: Run) -> dict[str, dict[Key, list[Graded]]]:
    found: dict[str, dict[Key, list[Graded]]] = defaultdict(lambda: defaultdict(list))
    for row in run.rows:
        found[row.scorer][row.task, str(row.sample)].append(row)
    return found


def _named(key: Key, *, with_task: bool) -> str:
    return "/".join(key) if with_task else key[1]


def _first(samples: dict[Key, list[Graded]]) -> str:
    task, sample = next(iter(samples))
    return f"{len(samples):,}, such as {sample}" + (f" of {task}" if task else "")
