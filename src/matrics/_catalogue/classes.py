"""The classes of matrices, and the selection of a class by a spec or ``positive=``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrics._errors import ArgumentError
from matrics._quoting import cut, quoted, quoted_list


class Names(tuple[str, ...]):
    """Names that the user gave to the classes of a matrix; they change no value, and class 1 of two stays positive."""

    __slots__ = ()


class Texts(tuple[Any, ...]):
    """Text labels of samples: of two classes none is positive by default."""

    __slots__ = ()


class Sorted(Texts):
    """Text labels from data in alphabetical order, which has no meaning.

    A measure of the positive class then needs ``positive=``.
    """

    __slots__ = ()

    @classmethod
    def of(cls, labels: Iterable[Any]) -> tuple[Hashable, ...]:
        """The sorted labels, as a tuple if their order has a meaning: for numbers, and for texts of 0 and 1.

        >>> type(Sorted.of(["ok", "fraud"])).__name__, type(Sorted.of([1, 0])).__name__
        ('Sorted', 'tuple')
        """
        ordered = tuple(sorted(labels))
        is_text = any(isinstance(label, str) for label in ordered)
        return cls(ordered) if is_text and tuple(str(label).lower() for label in ordered) not in TRUTHS else ordered


class Categories(tuple[Any, ...]):
    """Categories of an unordered type of pandas: the order of the classes if both columns have this type."""

    __slots__ = ()


TRUTHS = (("0", "1"), ("false", "true"))


def class_names_of(labels: tuple[Hashable, ...]) -> tuple[str, ...]:
    """The names of classes with these labels, in a type that decides whether class 1 of two is positive.

    >>> type(class_names_of((7, 8))).__name__, type(class_names_of(("ok", "fraud"))).__name__
    ('Names', 'Texts')
    """
    names = tuple(map(str, labels))
    if isinstance(labels, Sorted):
        return Sorted(names)
    return Texts(names) if are_words(labels) else Names(names)


def are_words(labels: tuple[Hashable, ...], *, ordered: bool = True) -> bool:
    """Whether labels are words: texts other than truth values and, in a meaningful order, whole numbers.

    >>> are_words(("ok", "fraud")), are_words(("False", "True")), are_words(("3", "12")), are_words((3, 12))
    (True, False, False, False)
    """
    if not any(isinstance(label, str) for label in labels):
        return False
    texts = tuple(str(label).lower() for label in labels)
    return texts not in TRUTHS and not (ordered and all(text.removeprefix("-").isdecimal() for text in texts))


def labels_of_frame(cm: Any) -> tuple[Hashable, ...] | None:
    """The labels of a matrix in a data frame, or in the first data frame of a list; None for arrays.

    The alphabetical order of texts, as from ``pandas.crosstab``, has no meaning.

    >>> import pandas as pd
    >>> labels_of_frame(pd.crosstab(pd.Series(["ok", "fraud"]), pd.Series(["ok", "fraud"])))
    ('fraud', 'ok')
    """
    if isinstance(cm, np.ndarray):
        return None
    first = cm[0] if isinstance(cm, (list, tuple)) and cm else cm
    if not (hasattr(first, "columns") and hasattr(first, "index")):
        return None
    labels = tuple(first.index)
    if not all(isinstance(label, str) for label in labels) or getattr(first.index, "ordered", False):
        return labels
    ordered = Sorted.of(labels)
    return ordered if labels == ordered else labels


@dataclass(frozen=True)
class Classes:
    """The number of classes of matrices, their labels, and the positive class.

    Parameters
    ----------
    number
        The number of classes.
    labels
        The label of each class, if labels or class names are known. A class is selected by its label, or by its index
        if there are no labels.
    positive
        The index of the positive class that the user passed, or None.
    by_construction
        Whether class 1 of two is positive by construction: the matrices were made from scores and a threshold, or for a
        label of a multilabel problem. The user need not pass ``positive``.
    ordered
        Whether the order of the classes has a meaning: the user or the file gave the order, or labels are numbers.
        Otherwise two text labels have no default positive class.
    left_out
        The indices of classes without true samples because of ``ignore_index``. Averages over classes leave them out.
    apart
        Indices of classes that must not count as negative for another class, with descriptions of their rows: results
        such as "indeterminate", and missing labels.
    are_names
        Whether the labels are only names that the user gave to the classes of a matrix.
    """

    number: int
    labels: tuple[Hashable, ...] | None = None
    positive: int | None = None
    by_construction: bool = False
    ordered: bool = True
    left_out: tuple[int, ...] = ()
    apart: tuple[tuple[int, str], ...] = ()
    are_names: bool = False

    @classmethod
    def of(
        cls,
        number: int,
        labels: Sequence[Hashable] | None = None,
        positive: Any = None,
        *,
        by_construction: bool = False,
        ordered: bool = True,
        left_out: tuple[int, ...] = (),
        apart: tuple[tuple[int, str], ...] = (),
    ) -> Classes:
        """The classes with the positive class of this label or index; raises if it does not exist.

        >>> Classes.of(2, ["ok", "fraud"], "fraud").positive
        1
        """
        named = None if labels is None else tuple(labels)
        ordered = ordered and not isinstance(labels, Sorted)
        are_names = isinstance(labels, Names)
        classes = cls(number, named, None, by_construction, ordered, left_out, apart, are_names)
        return classes if positive is None else replace(classes, positive=classes.index(positive, "positive"))

    @property
    def default_average(self) -> tuple[str, tuple[int, ...]]:
        """The default average of a class measure, and its class: the positive class, if any.

        No other function decides the default average.

        >>> Classes.of(2).default_average, Classes.of(3).default_average, Classes.of(3, None, 0).default_average
        (('binary', (1,)), ('macro', ()), ('binary', (0,)))
        >>> Classes.of(2, ["ok", "fraud"]).default_average
        ('macro', ())
        """
        if self.by_construction and self.positive is None:
            return "binary", (
                1,
            ) if self.ordered else ()  # positive_of raises an error for it, as no mean can replace it
        positive = self.default_positive
        return ("macro", ()) if positive is None else ("binary", (positive,))

    @property
    def default_positive(self) -> int | None:
        """The positive class: the class that the user passed, or class 1 of two classes without text labels.

        Two classes with words as labels, and more classes, have no positive class by default.

        >>> Classes.of(2, [0, 1]).default_positive, Classes.of(2, ["ok", "fraud"]).default_positive
        (1, None)
        """
        if self.positive is not None or self.number != 2:
            return self.positive
        return 1 if self.are_names or not are_words(self.labels or (), ordered=self.ordered) else None

    def index(self, value: Any, name: str = "class") -> int:
        """The index of a class, from its label if there are labels; ``name`` is the argument in messages."""
        if isinstance(value, np.generic):
            value = value.item()
        if self.labels is None:
            index = self._as_index(value, name)
            self._refuse_apart(index, name)
            return index
        matches = self._matches(value, self.labels)
        if len(matches) == 1:
            self._refuse_apart(matches[0], name)
            return matches[0]
        what = "several classes have" if matches else "no class has"
        raise _refusal(name, f"expected one of the classes {self.listed}, got {quoted(value)}: {what} this label")

    def _refuse_apart(self, index: int, name: str) -> None:
        """Raise an error if rows would count as negative that are not known to be negative."""
        others = [words for k, words in self.apart if k != index]
        if others:
            raise _refusal(
                name,
                f"expected only samples known to be {quoted(self.name(index))} or known not to be, got also "
                f"{cut('; '.join(others))}: they would count as negative; leave them out, or give them another label",
            )

    def has(self, value: Any) -> bool:
        """Whether a class has this label."""
        return bool(self._matches(value, self.labels or ()))

    @staticmethod
    def _matches(value: Any, labels: tuple[Hashable, ...]) -> list[int]:
        same = [k for k, label in enumerate(labels) if type(label) is type(value) and label == value]
        equal = same or [k for k, label in enumerate(labels) if _is_equal(label, value)]
        if equal:
            return equal
        # Specs and the command line pass texts, and class names are texts where labels are numbers.
        text = quoted(value) if type(value) is int else str(value)  # str fails for thousands of digits
        matches = [k for k, label in enumerate(labels) if str(label) == text or _spells(value, label)]
        if not matches and text.lower() in TRUTHS[1]:  # true and TRUE select the class True
            matches = [k for k, label in enumerate(labels) if str(label).lower() == text.lower()]
        return matches

    def _as_index(self, value: Any, name: str) -> int:
        is_text = isinstance(value, str)
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if not (value.strip().isdecimal() if is_text else whole):
            error = _refusal(
                name,
                f"expected the index of a class, from 0 to {self.number - 1}, as these classes have no names, "
                f"got {quoted(value)}",
            )
            error.add_note("With labels= or class_names=, a class has a name.")
            raise error
        # Python does not parse thousands of digits, and torch.compile(dynamic=True) does not print the digits of a
        # size.
        index = (int(value) if len(value) <= 40 else self.number) if is_text else int(value)
        if index >= self.number:
            raise _refusal(name, f"expected the index of a class, from 0 to {self.number - 1}, got {quoted(value)}")
        return index

    def positive_of(self, spec: str) -> int:
        """The index of the class of a spec without a class: the positive class, or class 1 of two."""
        if self.positive is not None:
            return self.positive
        if self.number != 2:
            example = cut(spell_class(self.labels[0] if self.labels else 0))
            raise ValueError(
                f"{cut(spec)}: average='binary' is for 2×2 matrices, got {self.number}×{self.number}: pass positive=, "
                f"name a class in square brackets (recall[{example}]), or use 'macro', 'weighted', "
                "'micro' or every class ('class')"
            )
        if not self.ordered:
            raise ValueError(
                f"{cut(spec)} needs a positive class, and neither of {self.listed} is the default: pass positive="
            )
        return 1

    @property
    def listed(self) -> str:
        """The labels as text; of many labels the first ten."""
        labels = self.labels or tuple(range(self.number))
        return quoted_list(labels[:10], 10) + (f" and {len(labels) - 10} more" if len(labels) > 10 else "")

    @property
    def texts(self) -> tuple[str, ...]:
        """The labels as texts; empty if the classes have none."""
        return tuple(map(str, self.labels or ()))

    def name(self, index: int) -> str:
        """The name of a class in titles, from its label or its number."""
        return in_words(index if self.labels is None else self.labels[index])


def in_words(label: Hashable) -> str:
    """The name of a class in titles, from its label: "class 3" for a number."""
    text = str(label)
    return f"class {text}" if text.removeprefix("-").isdecimal() else text


def spell_class(label: Any) -> str:
    """The text of a class for the square brackets of a spec, in quotes if it contains separators."""
    text = str(label)
    quote = '"' if "'" in text and '"' not in text else "'"
    plain = text == text.strip() and text and not any(sign in text for sign in ",:()[]'\"=")
    return text if plain else quote + text.replace(quote, quote * 2) + quote


def _refusal(name: str, text: str) -> ValueError:
    """The error for an argument, or for a spec with a class."""
    return ArgumentError(name, text) if name.isidentifier() else ValueError(f"{name}: {text}")


def _is_equal(label: Any, value: Any) -> bool:
    """Whether two numbers or two texts are equal; True equals 1, as in NumPy, but texts never equal numbers."""
    return isinstance(label, str) == isinstance(value, str) and bool(label == value)


def _spells(value: Any, label: Any) -> bool:
    """Whether a text, as in files, is the number of a label, such as 1 or 1.0."""
    try:
        is_number = isinstance(label, float) or (isinstance(label, str) and label.removeprefix("-").isdecimal())
        return isinstance(value, str) and is_number and float(value) == float(label)
    except ValueError:
        return False


#: The classes of matrices from thresholded scores, and of each label of a multilabel problem.
TWO = Classes(2, by_construction=True)
