"""The catalogue: the decorator for metrics, and the lookup by name, alias or spec."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from matrics._arrays import Array, is_compiling
from matrics._catalogue import of_scores
from matrics._catalogue.averages import AVERAGES, MEANS, TEST_WORDS
from matrics._catalogue.functions import place_of
from matrics._catalogue.options import read_options
from matrics._catalogue.own import of_packages
from matrics._catalogue.pycm import PYCM
from matrics._catalogue.record import CORE, METRICS, OWN, Chance, Kind, Metric, Trials
from matrics._engine.table import Table
from matrics._quoting import LONGEST, cut, did_you_mean, fold, is_whole, quoted, split_outside, unquote

#: Groups that are a single file in the folder of a family.
FILE_GROUPS = {
    "correlation": ".association.correlation",
    "ground_truth": ".chance_corrected.ground_truth",
    "logarithmic_similarity": ".similarity.logarithmic",
    "chance_similarity": ".similarity.beyond_chance",
    "hits_beyond_chance": ".similarity.counts_beyond_chance",
}

_NAMES: dict[str, str] = {}  # folded names and aliases -> canonical names
_OWN: dict[str, Metric] = {}  # registered measures of users, by name
_OWN_NAMES: dict[str, str] = {}  # folded names and aliases of users' measures -> names
_LOADED: dict[str, bool] = {}  # not empty once the measures of installed packages are registered
_SPECS: dict[str, Metric] = {}  # a cache of parsed specs
MAX_SPECS, MAX_KEPT = 1024, 1000  # the size of the cache, and the longest spec in it
_GROUPS: dict[str, tuple[str, ...]] = {}  # filled on first use
#: Caches that depend on the names of metrics, of all modules; they are cleared when a metric is registered.
CACHES: list[dict[Any, Any]] = [_SPECS, _GROUPS]
_PYCM: dict[str, str] = {}  # folded names of PyCM -> names in PyCM's spelling


def metric(
    *,
    kind: Kind,
    range: tuple[float, float],  # noqa: A002 (the usual word)
    higher_is_better: bool | None,
    formula: str,
    source: str,
    undefined: str,
    aliases: Iterable[str] = (),
    chance: Chance | None = None,
    chance_value: float = 0,
    symmetric: bool = False,
    needs_every_class: bool = False,
    ignores_class_sizes: Literal["always", "two classes"] | None = None,
    scale_free: bool = True,
    lowest: Callable[[int], float] | None = None,
    limits_need: Callable[[int], float] | None = None,
    limits_miss: Callable[[Table], Array] | None = None,
    on_host: bool = False,
    proportion_of: Trials | None = None,
    range_of: Callable[..., tuple[float, float]] | None = None,
    ordinal: bool | tuple[str, ...] = False,
) -> Callable[[Callable[..., Array]], Metric]:
    """A decorator that makes a function of a Table a metric of the catalogue.

    The name of the function is the canonical name, its module the family, and its keyword arguments are the options.
    Options are annotated ``Literal[...]`` or ``bool`` with the default first, ``float`` for a positive number, or
    ``Annotated[float, x]`` for a number above x (``Annotated[float, x, y]``: between x and y; an additional ``True``
    includes x). ``Literal[...] | WeightMatrix`` allows a matrix of weights as well, and ``CostMatrix`` a matrix of
    costs, which has no default. The first paragraph of the docstring is the summary. CONTRIBUTING has a complete
    example.

    Parameters
    ----------
    chance, chance_value
        The kind of random guesses with the same value for any number of classes, and that value. Guesses are
        predictions independent of the truth, with ``"any sizes"`` of the predicted classes, with the ``"true sizes"``,
        with ``"equal sizes"``, or with ``"equal sizes of equal classes"``. None: the value of a guess depends on the
        guess.
    symmetric
        Whether a transposed matrix has the same value.
    needs_every_class
        Whether it is undefined without samples of the class, or, for an overall measure, of any true class.
    ignores_class_sizes
        Whether the value stays when a true class gets more or fewer samples at the same rates.
    scale_free
        Whether the value depends only on shares, so that multiples of a matrix have the same value.
    lowest
        The least value for n classes, if it depends on n.
    limits_need
        The number of samples with n classes from which confidence limits hold in simulations, if it is more than 20 n²;
        ``math.inf`` if they did not hold for any number.
    limits_miss
        The matrices of three or more classes for which confidence limits do not hold for any number of samples.
    on_host
        Whether it needs SciPy, and so runs on the host. Only the group ``on_host`` has these measures.
    proportion_of
        The margin in the denominator of a proportion, such as ``"true"`` for the recall of a class: the interval is
        then an interval of a binomial proportion.
    range_of
        The range as a function of the options, if it depends on them.
    ordinal
        Whether the value depends on the order of the classes; or the values of options with which it does.
    """

    def enter(function: Callable[..., Array]) -> Metric:
        record = Metric(
            name=function.__name__,
            kind=kind,
            family=_family(function.__module__),
            summary=inspect.getdoc(function).partition("\n\n")[0].replace("\n", " "),  # type: ignore[union-attr]
            function=function,
            range=range,
            higher_is_better=higher_is_better,
            formula=formula,
            source=source,
            undefined=undefined,
            aliases=tuple(aliases),
            chance=chance,
            chance_value=chance_value,
            symmetric=symmetric,
            needs_every_class=needs_every_class,
            ignores_class_sizes=ignores_class_sizes,
            scale_free=scale_free,
            lowest=lowest,
            limits_need=limits_need,
            limits_miss=limits_miss,
            on_host=on_host,
            proportion_of=proportion_of,
            range_of=range_of,
            ordinal=ordinal,
            options=read_options(function),
        )
        record.add_docstring()
        names = (record.name, *record.aliases)
        for name in names:
            if _NAMES.get(fold(name), record.name) != record.name:
                raise ValueError(f"the name {quoted(name)} of {record.name} belongs to {_NAMES[fold(name)]}")
        _NAMES.update((fold(name), record.name) for name in names)
        METRICS[record.name] = record
        _forget()
        return record

    return enter


def _forget() -> None:
    for cache in CACHES:
        cache.clear()


def _family(module: str) -> str:
    """The file or folder of a measure in ``matrics._metrics``; for other modules, the last part of their name."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["matrics", "_metrics"] and len(parts) > 2 else parts[-1]


_PYCM.update((fold(name), name) for name in PYCM if fold(name) not in of_scores.CALLS)

# Users' own measures ------------------------------------------------------------------------------------------------


def register(metric: Metric) -> Metric:
    """The metric, after it is registered by its name for specs, data frames, metrics of scores and the command line.

    The registration lasts as long as the process. Functions that take a metric need no registration. A package lists
    its modules with measures under ``[project.entry-points."matrics.metrics"]``; they are registered when an unknown
    name is looked up.

    Parameters
    ----------
    metric : Metric
        The measure, as from :func:`matrics.metric` or :meth:`matrics.Metric.of`.

    Returns
    -------
    Metric
        The measure itself.

    Raises
    ------
    TypeError
        The object is not a metric.
    ValueError
        Options of the metric are fixed; or its name or an alias belongs to this library, or to a registered measure
        from another place. A function with the same module and qualified name replaces the registered function.

    Examples
    --------
    >>> import matrics
    >>> @matrics.register
    ... @matrics.metric(kind="overall", range=(0, 1), higher_is_better=False)
    ... def worst_miss(t):
    ...     '''The highest share of missed samples of a class.'''
    ...     return t.xp.max(t.divide(t.fn, t.true), axis=0)
    >>> matrics.score([[40, 10], [5, 45]], "accuracy, worst_miss")
    {'accuracy': np.float64(0.85), 'worst_miss': np.float64(0.2)}
    """
    if not isinstance(metric, Metric):
        raise TypeError(
            "expected a metric, as from the decorator matrics.metric(kind=..., range=..., higher_is_better=...), "
            f"got {quoted(metric)}"
        )
    if not metric.is_own:
        raise ValueError(
            f"expected a measure of a user, got {quoted(metric.spec)} of this library, which is registered already"
        )
    if not metric.is_plain:
        raise ValueError(
            f"expected a measure without fixed options, got {quoted(metric.spec)}: register {metric.name!r}, and "
            "write options in specs"
        )
    place, before = place_of(metric.function), _OWN.get(metric.name)
    if before is not None and place_of(before.function) != place:
        raise ValueError(
            f"the name {metric.name!r} of {'.'.join(place)} belongs to {'.'.join(place_of(before.function))}: choose "
            "another name with name="
        )
    for name in (metric.name, *metric.aliases):
        if (owner := _owner(name, metric.name)) is not None:
            raise ValueError(
                f"the name {quoted(name)} of {'.'.join(place)} belongs to {owner}: choose another name with name="
            )
    for name in [name for name, owner_name in _OWN_NAMES.items() if owner_name == metric.name]:
        del _OWN_NAMES[name]
    _OWN[metric.name] = metric
    _OWN_NAMES.update((fold(name), metric.name) for name in (metric.name, *metric.aliases))
    _forget()
    groups()  # filled now, as a later change of the cache would make torch.compile compile again
    return metric


def _owner(name: str, measure: str) -> str | None:
    """The owner of a name in words; None if the name is free, or belongs to the measure itself."""
    folded = fold(name)
    if folded in groups():
        return f"the group {quoted(folded)} of measures"
    if of_scores.call_of(name) is not None or folded in of_scores.MISSING:
        return "a measure of scores"
    if folded in _PYCM and folded not in _NAMES:
        return f"PyCM, and means {' and '.join(PYCM[_PYCM[folded]])} here"
    library = _NAMES.get(folded)
    other = library or _OWN_NAMES.get(folded) or _with_average(name)[0]
    if other is None or (other == measure and library is None):
        return None
    return f"{other} of this library" if other in METRICS else other


def _canonical(name: str) -> str | None:
    """The canonical name of a name or an alias; None for an unknown name."""
    return _NAMES.get(fold(name)) or _OWN_NAMES.get(fold(name))


def _record(canonical: str) -> Metric:
    return METRICS[canonical] if canonical in METRICS else _OWN[canonical]


def _load_packages() -> bool:
    """Register the measures of installed packages on the first call; return whether this was the first call."""
    if _LOADED or is_compiling():  # compilers do not support the import of a package
        return False
    _LOADED["packages"] = True
    of_packages(register)
    return True


# Lookup -------------------------------------------------------------------------------------------------------------


def get_metric(name: str | Metric) -> Metric:
    """The metric of a name, an alias or a spec.

    Parameters
    ----------
    name : str or Metric
        A name, an alias or a spec: ``"mcc"``, ``"tpr"``, or ``name(option=value,...):average[class,...]``. The average
        of a class measure is ``macro``, ``micro``, ``weighted``, ``min``, ``max`` or ``geometric``, over all classes or
        over the classes in square brackets (``f1:macro[cat,dog]``), or ``binary``, or ``class`` for a value of each
        class. ``weighted`` accepts other weights as an option (``recall(class_weights=[cat=2,dog=1])``). The average of
        an overall measure is ``one_vs_rest``. ``recall[fraud]`` and ``mcc[fraud]`` are values of a single class. A
        class is written as its label, in quotes if the label has brackets, commas or quotes, or as its index if classes
        have no labels. A Metric is returned unchanged.

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        The metric (the message has the nearest names), the option value or the average does not exist.
    TypeError
        The metric has no such option.

    Examples
    --------
    >>> import matrics
    >>> matrics.get_metric("tpr"), matrics.get_metric("sensitivity")  # two aliases of recall
    (<matrics metric recall>, <matrics metric sensitivity>)
    >>> matrics.get_metric("nmi(normalizer=joint):one_vs_rest")([[3, 1], [0, 4]])
    array([0.3904238, 0.3904238])
    """
    if isinstance(name, Metric):
        return name
    if not isinstance(name, str):
        raise TypeError(f"expected a metric or its name, got {type(name).__name__}: {quoted(name)}")
    known = METRICS.get(name) or _OWN.get(name)
    if known is not None:
        return known
    if is_compiling():  # a change of the cache would cause another compilation
        return _read_spec(name)
    metric = _SPECS.get(name)
    if metric is None:
        metric = _read_spec(name)
        if len(_SPECS) >= MAX_SPECS:
            _SPECS.clear()
        if len(name) <= MAX_KEPT:
            _SPECS[name] = metric
    return metric


def _read_spec(spec: str) -> Metric:
    """The metric of a spec name(option=value,...):average[class,...], whose last two parts may be exchanged."""
    if len(spec) > LONGEST:
        raise ValueError(
            f"expected a spec of at most {LONGEST:,} characters, got {len(spec):,}: {quoted(spec)}; matrices of "
            "weights can be given to a metric itself, matrics.cohen_kappa.using(weights=...)"
        )
    # Only string methods, which torch.compile supports.
    head, *ends = split_outside(spec, ":")
    if len(ends) > 1:
        raise ValueError(
            f"{quoted(spec)}: expected name(option=value,...)[class]:average with a single colon, got {len(ends)}"
        )
    head, classes = _in_square_brackets(head, spec)
    average = ends[0] if ends else ""
    if ends:
        average, others = _in_square_brackets(average, spec)
        if classes and others:
            raise ValueError(f"{quoted(spec)}: expected classes in square brackets once, got them twice")
        classes = classes or others
    metric = _without_classes(head, average, spec, has_average=bool(ends))
    return metric.of_classes(classes) if classes else metric


def _in_square_brackets(text: str, spec: str) -> tuple[str, tuple[str, ...]]:
    """The text before the square brackets at the end, and the classes in the brackets."""
    before, bracket, inside = text.partition("[")
    if "(" in before and not before.rstrip().endswith(")"):  # the bracket belongs to an option, weights=[[0,1],[1,0]]
        options, *after = split_outside(text, ")")  # class names may have brackets in quotes
        before, bracket, inside = ")".join(after).partition("[")
        before = f"{options}){before}" if after else options
    if not bracket:
        return text, ()
    if not inside.rstrip().endswith("]"):
        raise ValueError(f"{quoted(spec)}: expected classes in square brackets at the end, such as recall[fraud]")
    parts = split_outside(inside.rstrip()[:-1], quoted=True)
    for part in parts:
        if not part.strip() or not is_whole(part):
            raise ValueError(
                f"{quoted(spec)}: expected classes in square brackets, with quotes around names with brackets or "
                "quotes "
                f"(recall['a]b']), got {cut(part.strip()) or 'an empty name'}"
            )
    return before, tuple([unquote(part) for part in parts])


def _without_classes(head: str, average: str, spec: str, *, has_average: bool) -> Metric:
    base, bracket, rest = head.partition("(")
    canonical = _canonical(base)
    called = fold(base)
    if canonical is None and not has_average and fold(head) not in _PYCM:
        canonical, average = _with_average(base)
        has_average = canonical is not None
        called = called.removesuffix("_" + average) if canonical else called
    # PyCM's ACC, in capitals, is the accuracy of each class; all other names of this library have priority.
    if head == "ACC" or (canonical is None and fold(head) in _PYCM):
        return _of_pycm(head, average.strip())
    if canonical is None:
        if _load_packages():
            return _without_classes(head, average, spec, has_average=has_average)
        raise ValueError(_unknown(base.strip(), spec))
    options = options_of(bracket, rest, spec)
    if has_average and "average" in options:
        raise ValueError(
            f"{quoted(spec)}: expected a single average, got {quoted(options['average'])} and {quoted(average.strip())}"
        )
    if has_average:
        options["average"] = average.strip()
    metric = _called(_record(canonical), called)
    return metric.using(**options) if options else metric


def _called(record: Metric, name: str) -> Metric:
    """The metric with the requested name, if titles keep the name as a word of diagnostic tests."""
    return replace(record, called=name) if name in TEST_WORDS and name != record.name else record


def options_of(bracket: str, rest: str, spec: str) -> dict[str, Any]:
    """The options in the round brackets of a spec, as texts."""
    options: dict[str, Any] = {}
    if not bracket:
        return options
    inside, *after = split_outside(bracket + rest, ")")
    if not after or ")".join(after).strip():
        raise ValueError(f"{quoted(spec)}: expected name(option=value,...)[:average]")
    for part in split_outside(inside[1:]):
        option, equals, value = part.partition("=")
        if part.strip():
            if not equals:
                raise ValueError(f"{quoted(spec)}: expected option=value in the brackets, got {quoted(part.strip())}")
            if option.strip() in options:
                raise ValueError(f"{quoted(spec)}: expected every option once, got {quoted(option.strip())} twice")
            options[option.strip()] = unquote(value)
    return options


def _with_average(name: str) -> tuple[str | None, str]:
    """The measure and the average of a name such as ``miou``, or ``f1_weighted`` as in scikit-learn's scorers."""
    whole = fold(name)
    if whole in MEANS:
        return MEANS[whole]
    for kind, averages in AVERAGES.items():
        for average in averages:
            if whole.endswith("_" + average):
                canonical = _canonical(whole.removesuffix("_" + average))
                if canonical is not None and _record(canonical).kind == kind:
                    return canonical, average
    return None, ""


def _of_pycm(name: str, average: str) -> Metric:
    specs = PYCM[_PYCM[fold(name)]]
    if len(specs) > 1:
        raise ValueError(f"{quoted(name)} of PyCM has several values: choose a measure, {', '.join(specs)}")
    metric = get_metric(specs[0])
    if average == "class" and metric.average == "one_vs_rest":  # it has a value for each class already
        return metric
    return metric.using(average=average) if average else metric


def _unknown(name: str, spec: str) -> str:
    call = of_scores.call_of(name)
    if call is not None:
        return (
            f"{quoted(name)} needs the scores of each sample, and a confusion matrix has only predicted "
            f"labels: use matrics.{call}"
        )
    if fold(name) in of_scores.MISSING:
        return (
            f"{quoted(name)} needs the scores of each sample, and a confusion matrix has only predicted "
            "labels; for a measure at a threshold use confusion_matrix(..., threshold=)"
        )
    if fold(name) in _PYCM:
        specs = " and ".join(PYCM[_PYCM[fold(name)]])
        return f"{quoted(spec)}: PyCM's name {name} takes no options; it is {specs} here"
    from matrics._catalogue import verbal

    with contextlib.suppress(ValueError):
        scale = verbal.get_benchmark(name)
        return f"{quoted(name)} is words, not numbers: matrics.study.interpret(values of {scale.of}, {scale.name!r})"
    known = {alias: PYCM[alias_of][0] for alias, alias_of in _PYCM.items()}
    known |= {alias: ":".join(mean) for alias, mean in MEANS.items()} | _NAMES | _OWN_NAMES
    calls = {alias: f"matrics.{call}" for alias, call in of_scores.CALLS.items() if alias not in known}
    alone = {*METRICS, *_OWN}

    def described(near: str) -> str:
        return near if near in alone else calls.get(near) or f"{near} (= {known[near]})"

    hint = did_you_mean(fold(name), [*known, *calls], described)
    return (
        f"unknown metric {quoted(name)}; {hint}matrics.list_metrics() has all {len(groups()['all']) + len(_OWN)} names"
    )


def groups() -> Mapping[str, tuple[str, ...]]:
    """The canonical names of the measures of each group, by group."""
    if not _GROUPS:
        _GROUPS.update(_find_groups())
    return _GROUPS


def _find_groups() -> dict[str, tuple[str, ...]]:
    complete = {name: record for name, record in METRICS.items() if not record.needs}
    everywhere = {name: record for name, record in complete.items() if not record.on_host}
    groups: dict[str, tuple[str, ...]] = {
        "core": CORE,
        "overall": tuple(name for name, record in everywhere.items() if record.kind == "overall"),
        "all": tuple(everywhere),
        "on_host": tuple(name for name, record in complete.items() if record.on_host),
        OWN: tuple(_OWN),
    }
    for name, record in everywhere.items():
        groups[record.family] = (*groups.get(record.family, ()), name)
    for group, file in FILE_GROUPS.items():
        groups[group] = tuple(name for name, record in everywhere.items() if record.function.__module__.endswith(file))
    return groups


def list_metrics(family: str | None = None) -> list[str]:
    """The canonical names of a family, or of another group, of metrics.

    Parameters
    ----------
    family : str, optional
        ``core``, ``overall``, ``all`` (measures of this library), ``on_host`` (measures that need SciPy, and are in no
        other group), ``own`` (measures registered by :func:`matrics.register` or by installed packages), or a family,
        which is the name of a module in ``matrics.metrics``: ``rates``, ``agreement``, ``association``, … If left out,
        ``all`` and ``own``.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        The family or group does not exist.

    Examples
    --------
    >>> import matrics
    >>> matrics.list_metrics("core")  # doctest: +NORMALIZE_WHITESPACE
    ['accuracy', 'balanced_accuracy', 'precision', 'recall', 'f1', 'mcc', 'cohen_kappa', 'cen', 'eve']
    """
    _load_packages()
    known = groups()
    if family is None:
        return [*known["all"], *known[OWN]]
    if family not in known:
        raise ValueError(f"unknown family {quoted(family)}: expected one of {', '.join(known)}")
    return list(known[family])
