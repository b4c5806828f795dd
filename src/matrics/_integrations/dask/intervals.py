"""``interval`` for dask arrays."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from dask.layers import ArrayBlockIdDep

import matrics
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid
from matrics._integrations.dask.blocks import (
    Part,
    check_stack,
    check_whole,
    empty_like,
    empty_stack,
    per_block,
    unwrapped,
)
from matrics._uncertainty.arguments import by_class_names, metrics_of
from matrics._uncertainty.options import DRAWING, Method, SchemeOfInterval, check_cluster_axis
from matrics._uncertainty.results import Interval
from matrics.typing import ArrayLike


def interval(
    cm: Any,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    level: float = 0.95,
    method: Method = "auto",
    scheme: SchemeOfInterval | None = None,
    prior: ArrayLike | None = None,
    num: int | None = None,
    rng: np.random.Generator | int | None = None,
    cluster_axis: int | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> dict[str, Interval]:
    """Confidence intervals of every confusion matrix of a dask array, lazily: :func:`matrics.interval` of each block.

    Parameters
    ----------
    cm : dask array, shape (*B, n, n)
        Counts. The batch may be in any chunks, also of unknown sizes; both axes of classes are whole in one chunk, and
        so is the axis of clusters.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    level : float, default 0.95
        The probability with which an interval is to contain the true value.
    method : str, default "auto"
        How limits are formed: "auto", "bootstrap", "bca", "posterior" or "delta"; of proportions "wilson",
        "agresti_coull", "clopper_pearson" or "jeffreys"; of ratios "log" or "score". :func:`matrics.interval` explains
        them.
    scheme : {"multinomial", "rows", "poisson", "clusters"}, optional
        The random part: the samples (``"multinomial"``, the default), the predictions of samples whose true classes are
        fixed (``"rows"``), the number of samples as well (``"poisson"``), or whole clusters of samples. Not every
        method takes each.
    prior : float or array_like, shape (n, n), optional
        For ``"posterior"``: the number added to each cell; 1/n² if left out, which adds one sample in all.
    num : int, optional
        Number of replicates for the methods that draw them; 10,000 if left out.
    rng : Generator or int, optional
        Seed of the methods that draw replicates, or a generator of NumPy. Each block draws from its own stream,
        the child of the seed with the number of the block, so that blocks are independent of each other, and the
        results depend only on the seed and the chunks: not on the scheduler, nor on the order of tasks, nor on a
        task that is run again. They differ from :func:`matrics.interval` with the same seed, which draws from a
        single stream.
    cluster_axis : int, optional
        The axis of the clusters: ``cm`` has a matrix for each of them, such as a patient or a document. Their sum is
        scored, and whole clusters are random.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell, once they are computed: every measure of such a
        matrix is NaN. ``"warn"`` names the first of each block; on a cluster warnings are in the logs of the workers.
        ``"raise"`` raises an error when the result is computed.
    workers : int, default 1
        Number of threads in each task. More than one is for schedulers that run a single task at a time on several
        cores; dask's own threads take one task each.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the value of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, an index otherwise. Per-class measures without
        an average are values of this class. Without it they are values of class 1 of two classes, and means over more
        (``macro``).

    Returns
    -------
    dict of str to Interval
        Keyed by metric, as given. The fields of each :class:`matrics.Interval` are dask arrays of the shape that
        :func:`matrics.score` returns. Methods without draws give the intervals of :func:`matrics.interval`. Intervals
        of invalid matrices are NaN; warnings are issued when a block is computed, with positions within the block.

    Raises
    ------
    TypeError
        ``cm`` is not a dask array, or ``rng`` is neither a seed nor a generator of NumPy.
    ValueError
        An axis of classes or clusters is in several chunks, or an option has a value that does not exist.

    Examples
    --------
    >>> import dask, dask.array, numpy
    >>> from matrics.dask import interval
    >>> stack = dask.array.from_array(numpy.array([[[45, 5], [10, 40]], [[50, 0], [10, 40]]]), chunks=(1, 2, 2))
    >>> intervals = interval(stack, ["accuracy", "mcc"])
    >>> intervals["mcc"].low
    dask.array<matrics-interval-1-1, shape=(2,), dtype=float64, chunksize=(1,), chunktype=numpy.ndarray>
    >>> (computed,) = dask.compute(intervals)
    >>> computed["mcc"].low.round(2), computed["mcc"].high.round(2)
    (array([0.53, 0.68]), array([0.81, 0.9 ]))
    """
    cm = check_stack(cm)
    chosen = metrics_of(metrics, cm.shape[-1], class_names, positive)
    axes = tuple(range(cm.ndim))
    clusters: tuple[int, ...] = ()
    if cluster_axis is not None:
        clusters = (check_cluster_axis(cluster_axis, cm.shape),)
        check_whole(cm, "cm", clusters, "clusters")
        if math.isnan(cm.shape[clusters[0]]):
            raise ValueError(
                f"cm: expected an axis of clusters with a known length, got shape {cm.shape}; "
                "call cm.compute_chunk_sizes() first"
            )
    options: dict[str, Any] = {
        "level": level,
        "method": method,
        "scheme": scheme,
        "prior": prior,
        "num": num,
        "zero_division": zero_division,
        "invalid": invalid,
        "workers": workers,
    }
    batch = tuple(axis for axis in axes[:-2] if axis not in clusters)
    # The intervals of an empty stack give all dtypes, and check all options.
    empty = empty_stack(cm, (*(cm.shape[axis] for axis in clusters), 0))
    rng = _checked(rng)
    unique = list(dict.fromkeys(chosen.values()))  # two keys may mean the same metric, such as f1 and dice
    templates = matrics.interval(empty, unique, rng=rng, cluster_axis=0 if clusters else None, **options)
    parts = []
    for position, template in enumerate(templates.values()):
        for field, values in enumerate(template):
            added = {cm.ndim: cm.shape[-1]} if values.ndim > 1 else {}
            parts.append(Part((position, field), empty_like(values, len(batch) + len(added)), added))
    seeds = _seeds(rng) if method in DRAWING else None
    fields = per_block(
        _interval_of_block,
        "interval",
        batch,
        cm,
        axes,
        ArrayBlockIdDep(tuple(cm.chunks[axis] for axis in batch)),
        batch,
        parts=parts,
        metrics=tuple(unique),
        grid=tuple(cm.numblocks[axis] for axis in batch),
        seeds=None if seeds is None else (seeds.entropy, tuple(seeds.spawn_key), seeds.pool_size),
        cluster_axis=clusters[0] if clusters else None,
        options=options,
    )
    size = len(Interval._fields)
    results = {metric: Interval(*fields[k * size : (k + 1) * size]) for k, metric in enumerate(unique)}
    return by_class_names({name: results[metric] for name, metric in chosen.items()}, chosen, class_names)


def _checked(rng: Any) -> Any:
    """The seed or generator of NumPy, from which each block gets a stream; raises for any other value."""
    is_seed = isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0
    if rng is None or is_seed or isinstance(rng, np.random.Generator):
        return rng
    got = rng if isinstance(rng, int) else f"{type(rng).__module__}.{type(rng).__qualname__}"
    raise TypeError(f"rng: expected a seed (an integer from 0) or numpy.random.default_rng(seed), got {got}")


def _seeds(rng: Any) -> Any:
    """The seed sequence whose children are the seeds of the blocks; a generator spawns a new sequence each time.

    It is drawn now, as each run of a task would otherwise draw other numbers.
    """
    if not isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng)
    try:
        (child,) = rng.bit_generator.seed_seq.spawn(1)  # type: ignore[attr-defined]
    except (AttributeError, TypeError) as error:  # the bit generator was made from a state, not from a seed
        raise TypeError(
            "rng: expected a generator that can spawn generators: use numpy.random.default_rng(seed)"
        ) from error
    return child


def _interval_of_block(
    block: Any,
    place: tuple[int, ...],
    *,
    metrics: Sequence[Metric],
    grid: tuple[int, ...],
    seeds: tuple[Any, tuple[int, ...], int] | None,
    cluster_axis: int | None,
    options: dict[str, Any],
) -> list[Interval]:
    """The intervals of a block; replicates are drawn from the stream of the block."""
    rng = None
    if seeds is not None:
        entropy, key, pool_size = seeds
        number = int(np.ravel_multi_index(place, grid)) if place else 0
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(*key, number), pool_size=pool_size))
    intervals = matrics.interval(unwrapped(block), metrics, rng=rng, cluster_axis=cluster_axis, **options)
    return list(intervals.values())
