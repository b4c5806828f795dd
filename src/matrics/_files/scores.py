"""The curves of a file with true labels and scores: a curve for each group and positive class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics._catalogue.classes import Classes
from matrics._errors import ArgumentError
from matrics._files import columns as of_columns
from matrics._files.inputs import read_rows
from matrics._files.keys import Key, Keyed
from matrics._files.labels import MISSING_CLASS, TRUTHS, spelled
from matrics._files.labels import coded as labels_of_rows
from matrics._files.names import Names
from matrics._files.source import MatrixSource
from matrics._files.wide import by_model
from matrics._quoting import first_twice, quoted
from matrics._ranking.positive import directed

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._files.inputs import Input

Array = Any

SCORE = "score"  # the name of the column of scores if each model has its own column
MOST_NAMED = 10  # labels in a message


@dataclass(frozen=True)
class ScoreNames(Names):
    """The columns of true labels, scores and groups."""

    scores: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()  # of each column of scores; empty for a single column, of the positive class
    lower_is_positive: bool = field(default=False, kw_only=True)  # whether scores are lower in the positive class
    unlabelled: bool = False  # whether the scores of rows without a label are read as well
    amounts: tuple[str, ...] = field(default=(), kw_only=True)  # columns of the costs of errors

    @property
    def keeps_unlabelled(self) -> bool:
        """Whether rows without a label form a class."""
        return self.unlabelled or super().keeps_unlabelled

    @property
    def labels(self) -> tuple[str, ...]:
        """The column of true labels."""
        return (self.true,)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of scores, and the columns of amounts."""
        return (*self.scores, *self.amounts)

    @property
    def of_models(self) -> str:
        """The column of scores that the columns of several models replace."""
        return self.scores[0]

    @classmethod
    def parse(cls, values: list[str], *, true: str, by: tuple[str, ...], positive: str | None) -> ScoreNames:
        """The columns in ``COLUMN``, ``LABEL=COLUMN`` or lists of these; the default label of a column is its name.

        Several columns, none of them the positive class, are the columns of models.
        """
        parts = [part for text in values for part in text.split(",") if part]
        pairs = [part.partition("=") for part in parts]
        if not parts or not all(column or not equals for _, equals, column in pairs):
            raise ArgumentError(
                "scores", f"expected COLUMN, or LABEL=COLUMN for each class, got {quoted(','.join(values))}"
            )
        columns = tuple(column or label for label, _, column in pairs)
        is_single = len(pairs) == 1 and not pairs[0][1]
        are_models = positive is not None and len(pairs) > 1 and not any(equals for _, equals, _ in pairs)
        if are_models and positive not in columns:
            return cls(true, "", by, None, (SCORE,), models=columns, positive=positive)
        classes = () if is_single else tuple(label for label, _, _ in pairs)
        for kind, names in (("column", columns), ("label", classes)):
            twice = first_twice(names)
            if twice is not None:
                raise ArgumentError("scores", f"expected each {kind} once, got {quoted(twice)} twice")
        if positive is not None and not is_single:
            raise ArgumentError("positive", "expected a single column of scores with it, got labels in scores=")
        if true in columns or set(by) & {true, *columns}:
            raise ArgumentError(
                "scores",
                "expected columns other than the true labels and by=, got "
                + repr(next(iter({true} & set(columns) or set(by) & {true, *columns}))),
            )
        if len(classes) > 1 and "class" in by:
            raise ArgumentError("by", "expected no column 'class' with scores of several classes, which has this name")
        return cls(true, "", by, None, columns, classes, positive=positive)


@dataclass(frozen=True)
class Scored(Keyed):
    """The samples of a file: for each group, the labels as class numbers, and the scores of each positive class."""

    file: str
    keys: tuple[Key, ...]
    classes: tuple[str, ...]  # all labels, sorted
    ordered: bool  # whether the order of the classes has a meaning, as for numbers
    positives: tuple[int, ...]  # the positive class of each column of scores
    groups: list[tuple[Array, Array]] = field(repr=False)  # labels (N,) and scores (N, columns)
    samples_of: list[Array] = field(default_factory=list, repr=False)  # the number of the sample of each row
    sample_names: list[str] = field(default_factory=list, repr=False)
    left_out: int = 0  # rows without a label or a score
    unlabelled: list[Array] = field(default_factory=list, repr=False)  # by group, the scores (M, columns)
    lower_is_positive: bool = False  # whether the scores are the negatives of the scores in the file
    amounts: list[dict[str, Array]] = field(default_factory=list, repr=False)  # by group and column: (N,)

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes of groups, and of positive classes if there are several."""
        return (*([len(self.groups)] if self.of_groups else []), *([len(self.positives)] if self.has_several else []))

    @property
    def has_several(self) -> bool:
        """Whether there are several positive classes, which the last key names."""
        return len(self.positives) > 1

    @property
    def of_groups(self) -> tuple[Key, ...]:
        """The keys of the groups."""
        return self.keys[:-1] if self.has_several else self.keys

    @property
    def samples(self) -> int:
        """Number of rows."""
        return sum(len(true) for true, _ in self.groups)

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the classes 0 and 1 of a curve."""
        if self.has_several:
            return "the rest", "the class"
        positive = self.positives[0]
        rest = [name for k, name in enumerate(self.classes) if k != positive]
        return rest[0] if len(rest) == 1 else "rest", self.classes[positive]

    @property
    def rest(self) -> dict[str, int]:
        """The number of samples of each class that counts as negative, if a single class is positive."""
        sizes = np.bincount(np.concatenate([true for true, _ in self.groups]), minlength=len(self.classes))
        return {name: int(sizes[k]) for k, name in enumerate(self.classes) if k != self.positives[0]}

    def directed(self, thresholds: Any) -> Any:
        """Thresholds of the file as thresholds of ``groups``, or the reverse: the sign changes if lower is positive."""
        return directed(thresholds, lower_is_positive=self.lower_is_positive)

    @property
    def known(self) -> Classes:
        """The classes of a curve, for specs of measures."""
        return Classes.of(2, self.sides, by_construction=True)

    def curve(self, position: int) -> tuple[Array, Array]:
        """Which samples of a curve are positive, and their scores."""
        group, column = divmod(position, len(self.positives))
        true, scores = self.groups[group]
        return (true == self.positives[column]).astype(np.int64), scores[:, column]

    def amounts_of(self, position: int, name: str) -> Array:
        """The amounts of the samples of a curve."""
        return self.amounts[position // len(self.positives)][name]

    def unlabelled_of(self, position: int) -> Array:
        """The scores of a curve whose rows have no label."""
        group, column = divmod(position, len(self.positives))
        return self.unlabelled[group][:, column]

    def matrices(self, threshold: float | None) -> MatrixSource:
        """Confusion matrices of all groups, for the class with the highest score, or for scores above a threshold."""
        n = 2 if threshold is not None else len(self.classes)
        stack = np.zeros((len(self.groups), n, n), np.int64)
        of_column = np.asarray(self.positives)
        for k, (true, scores) in enumerate(self.groups):
            if threshold is None:
                pred = of_column[scores.argmax(axis=1)]
            else:
                true, pred = true == of_column[0], scores[:, 0] >= self.directed(threshold)  # noqa: PLW2901 (as two classes)
            stack[k] = np.bincount(true * n + pred, minlength=n * n).reshape(n, n)
        keys = self.of_groups
        stack = stack if keys else stack[0]
        if threshold is None:
            return MatrixSource(self.file, stack, keys, self.classes, ordered=self.ordered)
        return MatrixSource(self.file, stack, keys, self.sides, by_construction=True)


def read_scores(path: Path | Input, names: ScoreNames, *, of_all: bool = False) -> Scored:
    """The samples of a file; with ``of_all``, each label must have a column of scores."""
    if names.lower_is_positive and len(names.scores) > 1:
        raise ArgumentError("lower_is_positive", "expected a single column of scores with it, got several classes")
    if names.models:
        path, names = by_model(path, names)
    file, samples_of_file, left_out = read_rows(path, names, _samples)
    groups, values, classes, ordered, positives, (samples, known), unlabelled, amounts = samples_of_file
    left_out += sum(map(len, unlabelled))
    missing = sorted(set(range(len(classes))) - set(positives))
    if of_all and names.classes and missing:
        raise ArgumentError(
            "scores", f"expected a column of every label, got no column of {quoted(classes[missing[0]])}"
        )
    keys = [Key(name, 0, column) for name, column in values.items()]
    if len(positives) > 1:
        keys.append(Key("class", len(names.by[:1]), pa.array([classes[k] for k in positives], pa.large_string())))
    is_negated = names.lower_is_positive
    data = (groups, samples, known, left_out, unlabelled, is_negated, amounts)
    return Scored(file, tuple(keys), classes, ordered, positives, *data)


def _samples(table: Any, names: ScoreNames) -> tuple[Any, ...]:
    if not table.num_rows:
        raise ValueError("expected at least one row of scores, got none")
    for name in table.column_names:
        of_columns.refuse_missing(name, of_columns.decoded(table[name]))
    true, labels, ordered = labels_of_rows(table, names.true)
    names_of_labels = tuple(map(str, labels.to_pylist()))
    listed_labels = tuple(label for label in names_of_labels if label != MISSING_CLASS or not names.unlabelled)
    classes, positives = _positives(listed_labels, names, ordered=ordered)
    coded = np.asarray([classes.index(label) if label in listed_labels else -1 for label in names_of_labels])[true]
    scores = np.stack([_floats(name, table[name]) for name in names.scores], axis=1)
    scores = directed(scores, lower_is_positive=names.lower_is_positive)
    of_row, values = of_columns.group_rows(table, names.by)
    order = np.argsort(of_row, stable=True)
    cuts = np.flatnonzero(np.diff(of_row[order])) + 1
    groups = list(zip(np.split(coded[order], cuts), np.split(scores[order], cuts), strict=True))
    samples: tuple[list[Array], list[str]] = [], []
    if names.clusters is not None:
        of_sample, known = of_columns.group_rows(table, (names.clusters,))
        samples = np.split(of_sample[order], cuts), [str(value) for value in known[names.clusters].to_pylist()]
    unlabelled = [of_group[labels == -1] for labels, of_group in groups] if names.unlabelled else []
    columns = {name: np.split(_floats(name, table[name])[order], cuts) for name in names.amounts}
    amounts = [{name: parts[k][labels >= 0] for name, parts in columns.items()} for k, (labels, _) in enumerate(groups)]
    groups = [(labels[labels >= 0], of_group[labels >= 0]) for labels, of_group in groups]
    return groups, values, classes, ordered, positives, samples, unlabelled, amounts


def _positives(known: tuple[str, ...], names: ScoreNames, *, ordered: bool) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """All classes, and the positive class of each column of scores."""
    if MISSING_CLASS in known:
        raise ArgumentError(
            "missing",
            "expected error or drop with scores=, as rows without a label would count as negative, got 'class'",
        )
    if names.classes:
        positives, option = names.classes, "scores"
    else:
        pair = next((pair for pair in TRUTHS if set(known) <= set(pair)), None) if names.order is None else None
        if pair is None and ordered and len(known) == 2:
            pair = (known[0], known[1])
        if names.positive is None and pair is None:
            raise ArgumentError(
                "positive", f"expected the label of the class of the scores, {_listed(known)}, got none"
            )
        if len(known) == 1 and pair is not None and (names.positive is None or spelled(names.positive, pair) in pair):
            known = pair  # the missing class can only be the other of the pair
        positives, option = (names.positive or (pair or known)[-1],), "positive"
    positives = tuple(spelled(label, known) for label in positives)
    unknown = next((label for label in positives if label not in known), None)
    if unknown is not None:
        raise ArgumentError(option, f"expected labels of {quoted(names.true)}, {_listed(known)}, got {quoted(unknown)}")
    return known, tuple(known.index(label) for label in positives)


def _listed(classes: tuple[str, ...]) -> str:
    names = ", ".join(map(repr, classes[:MOST_NAMED]))
    return f"one of {names}" + (f" and {len(classes) - MOST_NAMED} more" if len(classes) > MOST_NAMED else "")


def _floats(name: str, column: Any) -> Array:
    column = of_columns.decoded(column)
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise ValueError(f"column {quoted(name)}: expected scores, which are numbers, got {kind}")
    values = pc.cast(column, pa.float64(), safe=False).to_numpy()
    is_nan = np.isnan(values)
    if is_nan.any():
        raise ValueError(
            f"column {quoted(name)}: expected a number in every row, got {np.count_nonzero(is_nan)} NaN, the first in "
            f"row {is_nan.argmax() + 1} of the data"
        )
    return values
