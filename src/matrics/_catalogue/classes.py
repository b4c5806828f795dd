"""The classes of matrices, and the class that a spec or ``positive=`` selects."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrics._errors import ArgumentError
from matrics._quoting import cut, quoted, quoted_list


class Names(tuple[str, ...]):
    """Names that the user gave the classes of a matrix: they change no value, and class 1 of two stays positive."""

    __slots__ = ()


class Texts(tuple[Any, ...]):
    """Texts that are the labels of samples: neither of two is positive unless the user says which."""

    __slots__ = ()


class Sorted(Texts):
    """Texts in alphabetical order, which has no meaning: where a positive class is needed, it has to be passed.

    Otherwise a tuple. Labels found in data are passed as this type, which records that their order has no meaning.
    """

    __slots__ = ()

    @classmethod
    def of(cls, labels: Iterable[Any]) -> tuple[Hashable, ...]:
        """The labels in order; the order of numbers, and of texts for 0 and 1, has a meaning.

        >>> type(Sorted.of(["ok", "fraud"])).__name__, type(Sorted.of([1, 0])).__name__
        ('Sorted', 'tuple')
        """
        found = tuple(sorted(labels))
        is_text = any(isinstance(label, str) for label in found)
        return cls(found) if is_text and tuple(str(label).lower() for label in found) not in TRUTHS else found


class Categories(tuple[Any, ...]):
    """Categories of a type of pandas that is not ordered: classes in this order where both columns are of the type."""

    __slots__ = ()


TRUTHS = (("0", "1"), ("false", "true"))


def class_names_of(labels: tuple[Hashable, ...]) -> tuple[str, ...]:
    """The names of classes with these labels, of a type that says whether class 1 of two is positive.

    >>> type(class_names_of((7, 8))).__name__, type(class_names_of(("ok", "fraud"))).__name__
    ('Names', 'Texts')
    """
    names = tuple(map(str, labels))
    if isinstance(labels, Sorted):
        return Sorted(names)
    return Texts(names) if are_words(labels) else Names(names)


def are_words(labels: tuple[Hashable, ...], *, ordered: bool = True) -> bool:
    """Whether labels are texts that stand for neither truth values nor, in an order that has a meaning, whole numbers.

    >>> are_words(("ok", "fraud")), are_words(("False", "True")), are_words(("3", "12")), are_words((3, 12))
    (True, False, False, False)
    """
    if not any(isinstance(label, str) for label in labels):
        return False
    texts = tuple(str(label).lower() for label in labels)
    return texts not in TRUTHS and not (ordered and all(text.removeprefix("-").isdecimal() for text in texts))


def labels_of_frame(cm: Any) -> tuple[Hashable, ...] | None:
    """The labels of a matrix that is a data frame, or of the first of a list of them; None for arrays.

    The alphabetical order of texts, as by ``pandas.crosstab``, has no meaning.

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
    found = Sorted.of(labels)
    return found if labels == found else labels


@dataclass(frozen=True)
class Classes:
    """How many classes matrices have, their labels, and which class is positive.

    Parameters
    ----------
    number
        How many there are.
    labels
        The label of each class, where labels or class names are known. A class is then meant by its label, and
        otherwise by its index.
    positive
        The index of the positive class, if the user passed one.
    by_construction
        Whether class 1 of two is positive by the way in which the matrices were made: from scores and a threshold, or
        for one label of several. The user need not pass it.
    ordered
        Whether the order of the classes has a meaning: given by the user or the file, or numbers by size. If not, two
        texts in alphabetical order have no default positive class.
    left_out
        The indices of classes of which no true samples are counted, as ``ignore_index`` says. They take no part in
        averages over the classes.
    apart
        Indices of classes that are not to be counted as negative beside another class, and what their rows are, in
        words: results such as "indeterminate", and missing labels.
    are_names
        Whether the labels are only names, which the user gave to the classes of a matrix.
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
        """The classes with ``positive``, a label or an index, as the positive one; raises if it is none of them.

        >>> Classes.of(2, ["ok", "fraud"], "fraud").positive
        1
        """
        named = None if labels is None else tuple(labels)
        ordered = ordered and not isinstance(labels, Sorted)
        are_names = isinstance(labels, Names)
        found = cls(number, named, None, by_construction, ordered, left_out, apart, are_names)
        return found if positive is None else replace(found, positive=found.index(positive, "positive"))

    @property
    def default_average(self) -> tuple[str, tuple[int, ...]]:
        """The average of a class measure by default, and the class that it is of: the positive one, if there is one.

        This is the only place that decides it.

        >>> Classes.of(2).default_average, Classes.of(3).default_average, Classes.of(3, None, 0).default_average
        (('binary', (1,)), ('macro', ()), ('binary', (0,)))
        >>> Classes.of(2, ["ok", "fraud"]).default_average
        ('macro', ())
        """
        if self.by_construction and self.positive is None:
            return "binary", (1,) if self.ordered else ()  # which positive_of refuses: no mean can take its place
        positive = self.default_positive
        return ("macro", ()) if positive is None else ("binary", (positive,))

    @property
    def default_positive(self) -> int | None:
        """The positive class: the one passed, else class 1 of two of a plain matrix, or whose labels are no words.

        Of two labels that are words neither is positive by itself, and neither is one of more classes.

        >>> Classes.of(2, [0, 1]).default_positive, Classes.of(2, ["ok", "fraud"]).default_positive
        (1, None)
        """
        if self.positive is not None or self.number != 2:
            return self.positive
        return 1 if self.are_names or not are_words(self.labels or (), ordered=self.ordered) else None

    def index(self, value: Any, name: str = "class") -> int:
        """The index of a class, given as a label if there are labels; ``name`` is its name in messages."""
        if isinstance(value, np.generic):
            value = value.item()
        if self.labels is None:
            index = self._as_index(value, name)
            self._refuse_apart(index, name)
            return index
        alike = self._alike(value, self.labels)
        if len(alike) == 1:
            self._refuse_apart(alike[0], name)
            return alike[0]
        what = "several classes are" if alike else "no class is"
        raise _refusal(name, f"expected one of the classes {self.listed}, got {quoted(value)}: {what} called so")

    def _refuse_apart(self, index: int, name: str) -> None:
        """Raise where rows would be counted as negative that are not known to be."""
        others = [words for k, words in self.apart if k != index]
        if others:
            raise _refusal(
                name,
                f"expected only samples that are {quoted(self.name(index))} or known not to be, got also "
                f"{cut('; '.join(others))}: they would count as negative; leave them out, or give them another label",
            )

    def has(self, value: Any) -> bool:
        """Whether a class of these labels is called so."""
        return bool(self._alike(value, self.labels or ()))

    @staticmethod
    def _alike(value: Any, labels: tuple[Hashable, ...]) -> list[int]:
        same = [k for k, label in enumerate(labels) if type(label) is type(value) and label == value]
        equal = same or [k for k, label in enumerate(labels) if _is_equal(label, value)]
        if equal:
            return equal
        # Specs and the command line have only texts, and class names are texts if labels are numbers.
        text = quoted(value) if type(value) is int else str(value)  # which fails for thousands of digits
        found = [k for k, label in enumerate(labels) if str(label) == text or _spells(value, label)]
        if not found and text.lower() in TRUTHS[1]:  # true and TRUE are the class that Python calls True
            found = [k for k, label in enumerate(labels) if str(label).lower() == text.lower()]
        return found

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
        # Python refuses to read thousands of digits, and torch.compile(dynamic=True) to write those of a size.
        index = (int(value) if len(value) <= 40 else self.number) if is_text else int(value)
        if index >= self.number:
            raise _refusal(name, f"expected the index of a class, from 0 to {self.number - 1}, got {quoted(value)}")
        return index

    def positive_of(self, spec: str) -> int:
        """The index of the default class of ``spec``: the positive one, or class 1 of two."""
        if self.positive is not None:
            return self.positive
        if self.number != 2:
            one = cut(spell_class(self.labels[0] if self.labels else 0))
            raise ValueError(
                f"{cut(spec)}: average='binary' is for 2×2 matrices, got {self.number}×{self.number}: pass positive=, "
                f"name a class in square brackets (recall[{one}]), or use 'macro', 'weighted', "
                "'micro' or every class ('class')"
            )
        if not self.ordered:
            raise ValueError(
                f"{cut(spec)} needs a positive class, and neither of {self.listed} is the default: pass positive="
            )
        return 1

    @property
    def listed(self) -> str:
        """The labels in words, the first ten of many."""
        labels = self.labels or tuple(range(self.number))
        return quoted_list(labels[:10], 10) + (f" and {len(labels) - 10} more" if len(labels) > 10 else "")

    def name(self, index: int) -> str:
        """The name of a class in titles: its label, or its number."""
        return in_words(index if self.labels is None else self.labels[index])


def in_words(label: Hashable) -> str:
    """The name of a label's class in titles: "class 3" for a number, which alone would be unclear."""
    text = str(label)
    return f"class {text}" if text.removeprefix("-").isdecimal() else text


def spell_class(label: Any) -> str:
    """The text of a class in the square brackets of a spec, in quotes if it contains separators."""
    text = str(label)
    quote = '"' if "'" in text and '"' not in text else "'"
    plain = text == text.strip() and text and not any(sign in text for sign in ",:()[]'\"=")
    return text if plain else quote + text.replace(quote, quote * 2) + quote


def _refusal(name: str, text: str) -> ValueError:
    """The error of an argument, or of a spec that names a class."""
    return ArgumentError(name, text) if name.isidentifier() else ValueError(f"{name}: {text}")


def _is_equal(label: Any, value: Any) -> bool:
    """Whether numbers or texts are equal; True is 1, as in NumPy, but no text is a number."""
    return isinstance(label, str) == isinstance(value, str) and bool(label == value)


def _spells(value: Any, label: Any) -> bool:
    """Whether a text is a number that is the label, 1 or 1.0; files have the labels as texts."""
    try:
        is_number = isinstance(label, float) or (isinstance(label, str) and label.removeprefix("-").isdecimal())
        return isinstance(value, str) and is_number and float(value) == float(label)
    except ValueError:
        return False


#: The classes of matrices from thresholded scores, and of one label of several.
TWO = Classes(2, by_construction=True)
