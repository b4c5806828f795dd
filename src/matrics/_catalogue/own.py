"""Users' own measures: the decorator, and the measures of modules and packages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from matrics._catalogue.record import Kind, Metric, Trials
from matrics._engine.evaluation import frames_to_the_user
from matrics._quoting import quoted

#: The entry points by which a package makes its measures known.
GROUP = "matrics.metrics"


def metric(
    *,
    kind: Kind,
    range: tuple[float, float],  # noqa: A002 (the field's word)
    higher_is_better: bool | None,
    name: str | None = None,
    formula: str | None = None,
    source: str | None = None,
    undefined: str | None = None,
    aliases: Iterable[str] = (),
    proportion_of: Trials | None = None,
    on_host: bool = False,
) -> Callable[[Callable[..., Any]], Metric]:
    """Decorator that turns a function of a table into a measure.

    It is then called like ours, and taken by :func:`matrics.score` and all others as a metric. Specs and the command
    line accept its name after :func:`matrics.register`.

    Parameters
    ----------
    kind : {"overall", "per_class"}
        Whether it gives one value for each matrix, of the shape of ``t.total``, or one for each class, of the shape of
        ``t.tp``, and averages are taken over classes.
    range : tuple of float
        The smallest and the largest value; ``math.inf`` if unbounded.
    higher_is_better : bool or None
        Whether higher values are better; None if neither higher nor lower values are.
    name : str, optional
        Its name in specs and as a key of results; the function's name if left out.
    formula : str, optional
        The formula in LaTeX, for its docstring.
    source : str, optional
        The publication that defines it; the function, if left out.
    undefined : str, optional
        When it is 0/0, in words.
    aliases : iterable of str, default ()
        Other names, once it is registered.
    proportion_of : {"total", "true", "pred", "not_true", "not_pred"}, optional
        The counts that it is a proportion of, such as ``"true"`` for a share of the samples of a true class: its
        interval is then one of a binomial proportion.
    on_host : bool, default False
        Whether its function leaves the array library, for example to call SciPy: no gradients, no compilation.

    Returns
    -------
    callable
        The decorator, which makes a :class:`matrics.Metric` of a function.

    Raises
    ------
    TypeError
        The decorated object is no function of a table, or an option of it has no type or no default.
    ValueError
        A fact is none of these.

    Examples
    --------
    >>> import matrics
    >>> @matrics.metric(kind="per_class", range=(0, 1), higher_is_better=True)
    ... def lenient_recall(t, *, beta: float = 2.0):
    ...     \"\"\"Share of the samples of a class that are found, where misses count less.\"\"\"
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


def measures_of(found: Any, where: str) -> list[Metric]:
    """The measures in a module or a list, or a single measure; raises if there are none."""
    if isinstance(found, ModuleType):
        listed = list(vars(found).values())
    else:
        listed = list(found) if isinstance(found, (list, tuple)) else [found]
    # A module may import measures of this library, and may have two names for one measure.
    own = list(dict.fromkeys(item for item in listed if isinstance(item, Metric) and item.is_own and item.is_plain))
    if not own or (not isinstance(found, ModuleType) and len(own) < len(listed)):
        raise ValueError(
            f"{where}: expected measures that matrics.metric or matrics.Metric.of has made, got "
            f"{'none' if isinstance(found, ModuleType) else repr(found)}"
        )
    return own


def of_packages(register: Callable[[Metric], Any]) -> None:
    """Register the measures of all installed packages; warn of packages that cannot be loaded."""
    from importlib import metadata  # with all of ``email``: 30 ms

    for entry in metadata.entry_points(group=GROUP):
        try:
            for measure in measures_of(entry.load(), entry.value):
                register(measure)
        except Exception as error:  # noqa: BLE001 (one package must not break the others, whatever is wrong with it)
            package = "" if entry.dist is None else f" of the package {entry.dist.name}"
            warnings.warn(
                f"the measures {quoted(entry.name)} ({entry.value}){package} are left out: {type(error).__name__}: "
                f"{error}",
                RuntimeWarning,
                stacklevel=frames_to_the_user(),
            )
