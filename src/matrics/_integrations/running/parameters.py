"""The descriptions of all parameters of metrics, from which the docstrings of constructors are generated."""

from __future__ import annotations

import inspect
import re
import textwrap
import types
from collections.abc import Callable
from typing import Any

from matrics._integrations.running.recipe import Recipe

WIDTH = 112  # of the lines in a docstring

#: The type and the meaning of parameters by name, or by kind and name. Braces are replaced by words of a library.
CONSTRUCTOR = """
num_classes : int, optional
    Number of classes, n: scores have an axis of classes. If left out, scores are scores of class 1 of two.
labels.num_classes : int, optional
    Number of classes; labels are 0 to n - 1. Required unless ``labels`` is given.
num_labels : int
    Number of labels, L.
combined.num_classes : int, optional
    Number of classes, n: labels are 0 to n - 1, and scores have an axis of classes. If left out, without
    ``labels``, scores are scores of class 1 of two.
combined.num_labels : int, optional
    Instead of ``num_classes``, for samples with several labels each: the number of labels, L.
combined.metrics : str, Metric, or several of them, default "core"
    Names of measures, such as ``'f1, mcc, recall:class'``, names of groups, or records, as
    :func:`matrics.score` takes them; of scores ``'roc_auc'``, ``'average_precision'``,
    ``'expected_calibration_error'`` (``'ece'``), ``'log_loss'``, ``'brier_score'``, ``'top_k_accuracy(k=5)'``,
    ``'top_k_recall(k=[1,5])'``, ``'precision_at_k(k=100)'``, each with the averages that a ``ScoreMetric`` has,
    and any measure at a threshold: ``'recall@0.5'``. With ``num_labels`` the measures of a
    ``MultilabelMetric``. The metric stores only the necessary counts.
combined.positive : label, name or int, optional
    The positive class: a label or a class name if ``labels`` or ``class_names`` are given, an index otherwise.
    Measures without an average are then values of this class.
combined.threshold : float, or one for each label, optional
    Scores of at least this are predictions of class 1, for measures of predicted labels; for logits the
    threshold is a probability. 0.5 if left out, where scores are scores of class 1 of two or of several labels.
    If given without ``num_labels``, scores are scores of class 1.
labels.metrics : str, Metric, or several of them, default "core"
    Names of measures, such as ``'f1, mcc, recall:class'``, names of groups, or records, as
    :func:`matrics.score` takes them.
scores.metrics : str, or several of them, optional
    ``'roc_auc'`` and ``'average_precision'``: for two classes the area of class 1, for more the mean over
    classes against the rest; or as ``'roc_auc:macro'``, ``':weighted'``, ``':micro'``, ``':class'``;
    ``'expected_calibration_error'`` (``'ece'``), with classes the error of the top score, or as
    ``'ece:class_wise'``; and any class or overall measure at a threshold: ``'recall@0.5'``, of class 1, or of
    each class against the rest. If left out, the first three. ``'log_loss'``, ``'brier_score'``,
    ``'top_k_accuracy(k=5)'``, ``'top_k_recall(k=[1,5])'`` and ``'top_k_recall(k=5):class'`` are exact sums over
    the samples. ``'precision_at_k(k=100)'``, ``'recall_at_k(k=[10,100])'`` and ``'lift_at_k(k=100)'`` are of the
    k samples with the highest scores, with the averages of areas; they need integer counts. The metric stores
    only the necessary counts.
multilabel.metrics : str, Metric, or several of them
    Measures of the matrices of the labels as in :func:`matrics.multilabel.score`, such as ``'f1'`` and
    ``'mcc'``; ``'roc_auc'``, ``'average_precision'`` and ``'precision_at_k(k=100)'``, also ``'recall_at_k'`` and
    ``'lift_at_k'``, of the k samples with the highest scores of a label; and of whole samples ``'subset_accuracy'`` and
    ``'ranking_loss'``: the share of pairs of a label of the sample and another label in which the score of the
    former is not higher. All but the last two may have an average over the labels at the end, ``:macro`` (as if
    left out), ``:micro`` or ``:weighted``, or ``:label`` for a value of each label: ``'f1:micro'``. Before it
    may be an average over the two classes of a label: ``'recall:macro:label'`` is the balanced accuracy of each
    label.
labels : sequence of int, optional
    Instead of ``num_classes``: the label of each class, for example ``range(1, 6)``. Labels are looked up on
    the device; samples with unknown labels are dropped.
labels.positive : label, name or int, optional
    The positive class: a label or a class name if ``labels`` or ``class_names`` are given, an index otherwise.
    Per-class measures without an average are then values of this class.
scores.positive : label or int, optional
    The positive class. Without ``num_classes``: the label of the class of the scores, in place of 1. With
    ``num_classes``: values without an average are values of this class against the rest; a name if there are
    ``class_names``, an index otherwise.
labels.threshold : float, optional
    For two classes: floating-point predictions are scores of class 1; scores of at least the threshold are
    predicted as 1. Class 1 is then positive, without ``positive``.
multilabel.threshold : float, or one for each label, optional
    Labels with a score of at least this are predicted; 0.5 if left out. For logits the threshold is a
    probability.
bits : int, optional
    The resolution of the buckets in which scores are counted for areas, from 1 to 15: by default 15 for the
    scores of class 1 of two, and for several classes or labels as many as take at most 64 MiB, at most 10.
edges : sequence of float, optional
    Edges of bins for areas, in place of the buckets.
bounds : bool, default False
    Whether results have the limits of areas, and of measures of the k highest scores, as well, as
    ``roc_auc_low`` and ``roc_auc_high``. If they are more than 0.01 apart, for at least 100 samples, ``compute``
    warns once, on the CPU.
num_bins : int, default 15
    Number of bins of the calibration error.
prefix : str, default ""
    Prefix of the keys of the results, for example ``"val/"``.
class_names : sequence of str, optional
    Names of the classes, for the keys of values per class; their labels or numbers if left out.
multilabel.class_names : sequence of str, optional
    Names of the labels, for the keys of values of each label; their numbers if left out.
class_axis : int, optional
    The axis of the classes of scores. If left out, {axis}; with a warning if all axes after the first have the
    same length, so that it could also be {other_axis}.
multilabel.class_axis : int, optional
    The axis of the labels. If left out, {axis}; with a warning if {other_axis} has the same length.
labels.from_logits : bool, default False
    The scores are logits, and the threshold is a probability. Without it, scores outside of [0, 1] and a
    threshold between 0 and 1 give a warning, once, {visible}. The class with the largest score is the same for
    logits and for probabilities.
combined.from_logits : bool, default False
    The scores are logits{by_name}: areas are computed from the logits, or from the log-odds of each class
    against the rest, and are not affected by probabilities that are rounded to 0 or 1; all other values are
    computed from the probabilities, by the logistic function, or by the softmax over classes. Without it,
    scores outside of [0, 1] give a warning, once, {visible}, if a measure needs probabilities, or has a
    threshold between 0 and 1.
scores.from_logits : bool, default False
    The scores are logits{by_name}. Areas are then computed from the logits themselves, or from the log-odds of
    each class against the rest, and are not affected by probabilities that are rounded to 0 or 1; all other
    values are computed from the probabilities, by the logistic function, or by the softmax over classes.
    Without it, scores outside of [0, 1] give a warning, once, {visible}, if a measure needs probabilities, or
    has a threshold between 0 and 1.
multilabel.from_logits : bool, default False
    The scores are logits{by_name}: areas are computed from the logits, all other values from probabilities, by
    the logistic function. Without it, scores outside of [0, 1] and thresholds between 0 and 1 give a warning,
    once, {visible}.
ignore_index : int or sequence of int, optional
    Samples with any of these true labels are left out, and do not count as dropped. If an ignored label is a
    class, averages are over the other classes; predictions of this class are errors of the true class.
multilabel.ignore_index : int or sequence of int, optional
    Single entries with any of these true values are left out, and do not count as dropped. A sample without any
    other entry is left out of the measures of whole samples.
dtype : dtype, optional
    The dtype of weighted counts (``sample_weight=``): {dtypes}; integer counts if left out. float32 rounds the
    sums at each batch.
decay : float, optional
    The factor of earlier counts before each batch is added, above 0 and at most 1. For a stream this is an
    exponential moving sum of about the last 1 / (1 - decay) batches. Counts are then floating, of the widest
    ``dtype`` if it is left out.
window : int, optional
    Number of batches: values are computed from the last batches, and each batch replaces the oldest. The counts
    of each batch are stored separately, which takes as many times the memory.
zero_division : float, default NaN
    The value of undefined measures (0/0); with NaN, undefined classes are left out of averages.
fill_undefined : float or None, default 0
    The value that ``compute`` returns if a measure is still undefined: early stopping, for example, ends a run
    at a NaN. With None it stays NaN. Before the first update all values but counts are NaN.
allow_large : bool, default False
    Whether the counts may take more than 1 GiB; otherwise a larger metric raises an error with its size.
cuda_graph : bool, default False
    Whether ``compute`` on a CUDA device captures its kernels, some five hundred, as a single CUDA graph, which
    later calls replay. The graph needs memory for a copy of the counts and for all intermediate results. On
    other devices it does nothing.
keywords : Any
    The options of every torchmetrics metric: ``sync_on_compute``, ``process_group``, and so on.
"""
#: The type and the meaning of the parameters of ``update``.
UPDATE = """
labels.y_true : {array} of int or bool, shape (N, ...){left_out}
    True labels. All axes are samples.
scores.y_true : {array} of int or bool, shape (N, ...){left_out}
    True labels. All axes are samples.
combined.y_true : {array} of int or bool, shape (N, ...), or (N, L, ...) of several labels{left_out}
    True labels. All axes but that of several labels are samples.
combined.y_pred : {array}, shape (N, ...), (N, C, ...) or (N, L, ...){left_out}
    Floating scores of all classes, of class 1 of two, or of several labels; logits in a metric made with
    ``from_logits=True``. If no measure needs scores, predicted labels as integers as well: the dtype decides.
multilabel.y_true : {array} of int or bool, shape (N, L, ...){left_out}
    1 if a sample has a label, 0 if not.
labels.y_pred : {array}, shape (N, ...) or (N, C, ...){left_out}
    Integers are labels, floating numbers are class scores (the largest is the prediction): the dtype decides.
scores.y_score : {array} of floats, shape (N, ...) or (N, C, ...){left_out}
    Scores of class 1, or of all classes; logits in a metric made with ``from_logits=True``.
multilabel.y_score : {array}, shape (N, L, ...){left_out}
    Scores of the labels, or logits in a metric made with ``from_logits=True``; or, for measures of predicted
    labels, 0 and 1 as integers or booleans.
mask : {array} of bool, optional
    Samples with False are left out; broadcasts against the samples.
sample_weight : {array}, optional
    A weight for each sample; broadcasts against the samples. The metric must be made with ``dtype=``.
labels : {array}, optional
    Another name of ``y_true``, as in losses.
combined.logits : {array} of floats, optional
    Logits in place of ``y_pred``.
labels.logits : {array}, optional
    Another name of ``y_pred``, as in losses.
logits : {array} of floats, optional
    Logits in place of ``y_score``.
_ : Any
    Ignored; for the other metrics of an ``nnx.MultiMetric``.
"""
SUMMARIES = {
    "labels": "Count a batch, over all axes: labels (B, T) are B times T samples, such as tokens or pixels.\n\n"
    "Labels out of range, and scores with a NaN, are dropped.",
    "scores": "Count a batch, over all axes: labels (B, T) are B times T samples, such as tokens or pixels.\n\n"
    "Samples with a label out of range or a NaN score are dropped.",
    "combined": "Count a batch, over all axes: labels (B, T) are B times T samples, such as tokens or pixels.\n\n"
    "Samples with a label out of range or a NaN score are dropped. With several labels for each sample, entries are "
    "dropped.",
    "multilabel": "Count a batch, over all axes but that of the labels.\n\nEntries, of a sample and a label, with a "
    "true value other than 0 and 1 or a NaN score are dropped, and their samples are left out of the measures of whole "
    "samples.",
}
PYTORCH_WORDS = {
    "axis": "axis 1, as for the losses of PyTorch: (N, C) or (N, C, ...)",
    "other_axis": "the last axis",
    "dtypes": "``torch.float32`` or ``torch.float64``",
    "visible": "on the CPU",
    "by_name": "",
    "array": "tensor",
    "left_out": "",
}
WORDS = {
    "torch": PYTORCH_WORDS,
    "torchmetrics": PYTORCH_WORDS,
    "flax": {
        "axis": "the last axis, as for the losses of Optax",
        "other_axis": "axis 1",
        "dtypes": "``jax.numpy.float32``, or ``float64`` where it is enabled",
        "visible": "on the CPU outside ``jit``",
        "by_name": "; scores passed as ``logits=`` always are",
        "array": "array",
        "left_out": ", optional",
    },
}
THEIRS = {"preds": ("y_pred", "y_score"), "target": ("y_true",)}
SECTIONS = ("Raises", "See Also", "Notes", "Examples")


def documented(library: str) -> Callable[[type], type]:
    """A decorator that documents every parameter of a metric in its docstring and signature.

    It inserts a section of parameters into the docstring of the class, gives the constructor the signature of the
    recipe, and the class an ``update`` with a docstring.
    """

    def decorate(metric: Any) -> Any:
        recipe: Any = metric._kind
        metric.__init__ = _copied(metric.__init__)
        signature = metric.__init__.__signature__ = _signature(recipe, metric.__init__)
        metric.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
        names = list(metric.__init__.__signature__.parameters)[1:]
        section = _section(names, CONSTRUCTOR, recipe.kind, library)
        metric.__doc__ = _inserted(inspect.cleandoc(metric.__doc__), section)
        metric.update = _copied(metric.update)
        names = list(inspect.signature(metric.update).parameters)[1:]
        section = _section(names, UPDATE, recipe.kind, library)
        summary = "\n".join(textwrap.fill(line, WIDTH) for line in SUMMARIES.get(recipe.kind, "").splitlines())
        metric.update.__doc__ = f"{summary or metric.update.__doc__}\n\n{section}"
        return metric

    return decorate


def _signature(recipe: type[Recipe], own: Callable[..., Any]) -> inspect.Signature:
    """The parameters of the recipe, the options of all recipes, and other parameters of the constructor."""
    first, *others = inspect.signature(own).parameters.values()
    known = parameters_of(recipe)
    more = [x for x in others if x.name not in known and x.name != "options"]
    return inspect.Signature([first, *known.values(), *more])


def parameters_of(recipe: Any) -> dict[str, inspect.Parameter]:
    """All parameters of a recipe except the library: its own, and the parameters of all recipes."""
    base: Any = Recipe
    both = [list(inspect.signature(x.__init__).parameters.values())[2:] for x in (recipe, base)]
    return {x.name: x for part in both for x in part if x.kind is not inspect.Parameter.VAR_KEYWORD}


def _entries(table: str) -> dict[str, tuple[str, str]]:
    """The types and meanings of the parameters of a table, by name."""
    entries = {}
    for entry in re.split(r"\n(?=\S)", table.strip()):
        head, *meaning = entry.splitlines()
        name, _, of_type = head.partition(" : ")
        entries[name] = of_type, " ".join(line.strip() for line in meaning)
    return entries


def _section(names: list[str], table: str, kind: str, library: str) -> str:
    entries, lines = _entries(table), ["Parameters", "----------"]
    for name in names:
        known = next(
            (
                entries[key]
                for other in THEIRS.get(name, (name,))
                for key in (f"{kind}.{other}", other)
                if key in entries
            ),
            ("Any", ""),
        )
        of_type, meaning = (text.format(**WORDS[library]) for text in known)
        star = "**" if name in ("keywords", "_") else ""
        lines.append(f"{star}{name} : {of_type}")
        lines += textwrap.wrap(meaning, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _inserted(text: str, section: str) -> str:
    """The docstring with the section before all other sections."""
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if line in SECTIONS and set(lines[i + 1]) == {"-"}), len(lines))
    return "\n".join([*lines[:at], *section.splitlines(), "", *lines[at:]])


def _copied(function: Any) -> Any:
    """A copy of a function, as classes share inherited functions and their docstrings."""
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__, copy.__annotations__ = function.__kwdefaults__, dict(function.__annotations__)
    copy.__qualname__, copy.__doc__, copy.__module__ = function.__qualname__, function.__doc__, function.__module__
    return copy
