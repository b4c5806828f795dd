"""Measures of users: the decorator, and the measures of modules and packages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from matrics._catalogue.record import Kind, Metric, Trials
from matrics._engine.evaluation import frames_to_the_user
from matrics._quoting import quoted

#: The group of entry points with the measures of a package.
GROUP = "matrics.metrics"


def metric(
    *,
    kind: Kind,
    range: tuple[float, float],  # noqa: A002 (the usual word)
    higher_is_better: bool | None,
    name: str | None = None,
    formula: str | None = None,
    source: str | None = None,
    undefined: str | None = None,
    aliases: Iterable[str] = (),
    proportion_of: Trials | None = None,
    on_host: bool = False,
) -> Callable[[Callable[..., Any]], Metric]:
    """A decorator that makes a function of a table a measure.

    The measure is called like the measures of this library, and :func:`matrics.score` and all other functions accept it
    as a metric. Specs and the command line accept its name after :func:`matrics.register`.

    Parameters
    ----------
    kind : {"overall", "per_class"}
        Whether the function returns a value for each matrix, of the shape of ``t.total``, or for each class, of the
        shape of ``t.tp``, from which averages over classes are taken.
    range : tuple of float
        The smallest and the largest value; ``math.inf`` if unbounded.
    higher_is_better : bool or None
        Whether higher values are better; None if neither higher nor lower values are.
    name : str, optional
        The name in specs and in the keys of results; the name of the function if left out.
    formula : str, optional
        The formula in LaTeX, for the docstring.
    source : str, optional
        The publication that defines the measure; the function, if left out.
    undefined : str, optional
        The cases in which the measure is 0/0, in words.
    aliases : iterable of str, default ()
        Other names, which :func:`matrics.register` makes available.
    proportion_of : {"total", "true", "pred", "not_true", "not_pred"}, optional
        The counts in the denominator of a proportion, such as ``"true"`` for a share of the samples of a true class:
        the interval is then an interval of a binomial proportion.
    on_host : bool, default False
        Whether the function leaves the array library, for example to call SciPy: no gradients, no compilation.

    Returns
    -------
    callable
        The decorator, which returns a :class:`matrics.Metric`.

    Raises
    ------
    TypeError
        The decorated object is not a function of a table, or an option has no type or no default.
    ValueError
        An argument has a value that is not allowed.

    Examples
    --------
    >>> import matrics
    >>> @matrics.metric(kind="per_class", range=(0, 1), higher_is_better=True)
    ... def lenient_recall(t, *, beta: float = 2.0):
    ...     \"\"\"Share of the samples of a class that are predicted correctly, where misses count less.\"\"\"
    ...     return t.divide(beta * t.tp, beta * t.tp + t.fn)
    >>> lenient_recall([[40, 10], [5, 45]], beta=1, average="class")
    array([0.8, 0.9])
    >>> matrics.score([[40, 10], [5, 45]], [lenient_recall.using(average="min")])
    {'lenient_recall:min': np.float64(0.8888888888888888)}
    """

    def make(function: Callable[..., Any]) -> Metric:
        return Metric.of(
            function,
            kind=kind,
            range=range,
            higher_is_better=higher_is_better,
            name=name,
            formula=formula,
            source=source,
            undefined=undefined,
            aliases=aliases,
            proportion_of=proportion_of,
            on_host=on_host,
        )

    return make


def measures_of(source: Any, where: str) -> list[Metric]:
    """The measures of a module, of a list, or of a single metric; raises if there are none."""
    if isinstance(source, ModuleType):
        listed = list(vars(source).values())
    else:
        listed = list(source) if isinstance(source, (list, tuple)) else [source]
    # A module may import measures of this library, and may have two names for the same measure.
    own = list(dict.fromkeys(item for item in listed if isinstance(item, Metric) and item.is_own and item.is_plain))
    if not own or (not isinstance(source, ModuleType) and len(own) < len(listed)):
        raise ValueError(
            f"{where}: expected measures from matrics.metric or matrics.Metric.of, got "
            f"{'none' if isinstance(source, ModuleType) else repr(source)}"
        )
    return own


def of_packages(register: Callable[[Metric], Any]) -> None:
    """Register the measures of all installed packages; warn about packages that cannot be loaded."""
    from importlib import metadata  # imported here, as it imports ``email``, which takes 30 ms

    for entry in metadata.entry_points(group=GROUP):
        try:
            for measure in measures_of(entry.load(), entry.value):
                register(measure)
        except Exception as error:  # noqa: BLE001 (an error in a package must not affect other packages)
            package = "" if entry.dist is None else f" of the package {entry.dist.name}"
            warnings.warn(
                f"the measures {quoted(entry.name)} ({entry.value}){package} are left out: {type(error).__name__}: "
                f"{error}",
                RuntimeWarning,
                stacklevel=frames_to_the_user(),
            )
