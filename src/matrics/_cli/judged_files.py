"""Labels of people and of a judge: tables with a column of each, and evaluation logs with a scorer of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._cli import options
from matrics._cli.matrices import is_log
from matrics._errors import ArgumentError
from matrics._files import foreign
from matrics._files.columns import decoded, group_rows, refuse_missing
from matrics._files.crosstab import has_order
from matrics._files.inputs import header_of, open_input, read_rows
from matrics._files.keys import text_of
from matrics._files.labels import MISSING_CLASS, coded, spelled
from matrics._files.names import Names
from matrics._files.notices import refuse_disjoint, two_names, warn_of_odd_labels
from matrics._files.rows import name_of
from matrics._files.wide import MODEL, by_model
from matrics._judged.counts import JudgedCounts, count
from matrics._quoting import quoted, quoted_list
from matrics._tables.vocabularies import KNOWN, apart
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Array = Any

# The two grades in lower case, of which the second passes.
GRADES = (*KNOWN, ("no", "yes"), ("incorrect", "correct"), ("wrong", "right"), ("bad", "good"), ("i", "c"))
MISSING_GRADES = {"", "na", "<na>", "nan", "none", "null"}
OF_LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
AS_TABLE = foreign.Answers(as_table=True)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The options of samples that a judge has labelled, and people in part."""

    judge: Annotated[
        str | None,
        options.option(
            "COLUMN",
            "The column of a judge's labels, or its scorer in a log; the labels of --human correct results for its "
            "errors. Without --pred, the labels are grades of answers, such as pass and fail.",
        ),
    ] = None
    human: Annotated[
        str | None,
        options.option(
            "COLUMN", "With --judge: the column of people's labels; some samples may have none.", default="human"
        ),
    ] = None

    def check(self, true: str) -> None:
        """Raise where the judge is missing, or labels of people are named by another option."""
        if self.judge is None:
            options.refuse("--judge COLUMN with it", {"human": self.human})
        elif true != Names.true:
            raise ArgumentError("true", f"expected --human COLUMN in its place with --judge, got {quoted(true)}")


@dataclass(frozen=True)
class JudgedNames(Names):
    """The columns of people's labels, of the judge's and, unless these are grades, of the predictions."""

    judge: str = ""
    is_graded: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of labels."""
        return (self.true, self.judge) if self.is_graded else (self.true, self.judge, self.pred)


class Answers(NamedTuple):
    """The rows of a file: labels are texts, or None."""

    file: str
    models: list[str]  # the model of each row
    samples: list[str]  # the sample of each row
    labels: list[list[str | None]]  # those of people and of the judge, and the predictions unless labels are grades
    listed: tuple[str, ...]  # all labels, in order
    is_ordered: bool


@dataclass(frozen=True)
class JudgedRows:
    """The labels of all models as numbers of classes, -1 where there is none; ``pred`` is None of grades."""

    files: list[str]
    judge: str
    human: str
    classes: Classes
    models: list[str]  # a single empty text without --by
    heading: str  # the columns of the models; empty if there is a single model
    groups: Array  # the model of each row
    samples: Array
    true: Array
    judged: Array
    pred: Array | None

    def of_model(self, k: int) -> JudgedRows:
        """The rows of a model."""
        return self._rows(np.flatnonzero(self.groups == k))

    def of_samples(self, samples: Sequence[int]) -> JudgedRows:
        """The rows of these samples, in their order, where each has a single row."""
        place = {sample: row for row, sample in enumerate(self.samples.tolist())}
        return self._rows(np.asarray([place[sample] for sample in samples], np.int64))

    def _rows(self, rows: Array) -> JudgedRows:
        parts = {name: getattr(self, name)[rows] for name in ("groups", "samples", "true", "judged")}
        return replace(self, **parts, pred=None if self.pred is None else self.pred[rows])

    @property
    def counts(self) -> JudgedCounts:
        """The counts of each model along the first axis."""
        unanswered = bool((self.judged < 0).any())
        every = [
            count(rows.true, rows.judged, rows.pred, num_classes=self.classes.number, unanswered=unanswered)
            for rows in map(self.of_model, range(len(self.models)))
        ]
        return JudgedCounts(*(np.stack(tables) for tables in zip(*(counts[:2] for counts in every), strict=True)))

    @property
    def numbers(self) -> dict[str, int]:
        """How many samples people have labelled, how many the judge, both, and how many nobody has."""
        by_people, by_judge = self.true >= 0, self.judged >= 0
        return {
            "labelled": int(by_people.sum()),
            "judged": int(by_judge.sum()),
            "both": int((by_people & by_judge).sum()),
            "unanswered": int((~by_people & ~by_judge).sum()),
        }

    @property
    def title(self) -> str:
        """What the files have, in words."""
        numbers = self.numbers
        unit, verb = ("answer", "graded") if self.pred is None else ("sample", "labelled")
        classes = "" if self.pred is None else f"{counted(self.classes.number, 'class')}, "
        kind = "model" if "model" in self.heading.lower() else "group"
        models = f"{counted(len(self.models), kind)}, " if len(self.models) > 1 else ""
        words = f"{' and '.join(self.files)}: {models}{classes}{counted(numbers['judged'], unit)} {verb} by "
        words += f"{self.judge}, {numbers['both']:,} of them by {self.human} as well"
        alone = numbers["labelled"] - numbers["both"]
        words += f"; {alone:,} more {verb} by {self.human} alone" if alone else ""
        words += f"; {numbers['unanswered']:,} by neither" if numbers["unanswered"] else ""
        if self.pred is not None:
            return words
        good = self.classes.name(1)
        return f"{words}; accuracy is the {'pass rate' if good.lower() == 'pass' else f'share of {good}'}"

    @property
    def facts(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"judge": self.judge, "human": self.human, **self.numbers}


def read_judged(paths: Sequence[Path], names: Names, given: JudgeOptions, *, has_pred: bool) -> JudgedRows:
    """Read the labels of files, each of which is a model if there are several.

    ``names`` are those of other options: ``names.clusters`` identifies the samples, ``names.by`` the models, and
    ``names.pred`` the predictions, which a file has if ``has_pred`` or if it has such a column.
    """
    judge, human = str(given.judge), given.human or "human"
    if judge == human:
        raise ArgumentError("judge", f"expected another column than that of people, got {quoted(judge)} for both")
    if names.answers.scorer is not None:
        raise ArgumentError("scorer", f"expected --human and --judge in its place, got {quoted(names.answers.scorer)}")
    if names.answers.missing_score != "drop":
        raise ArgumentError(
            "missing_score",
            "expected no such option with --judge, as answers without a grade of the judge are estimated from answers "
            f"with grades of people, got {quoted(names.answers.missing_score)}",
        )
    read = [_read(path, names, judge, human, has_pred=has_pred) for path in paths]
    if len({len(part.labels) for part in read}) > 1:
        raise ValueError(f"{read[1].file}: expected a column of predictions as in {read[0].file}, or none in both")
    if len(read) > 1:
        read = [part._replace(models=[part.file] * len(part.samples)) for part in read]
    columns = [[label for part in read for label in part.labels[k]] for k in range(len(read[0].labels))]
    listed = read[0].listed
    if any(part.listed != listed for part in read):
        listed = tuple(sorted({label for part in read for label in part.listed}))
    is_ordered = all(part.is_ordered for part in read)
    if len(columns) < 3:
        used = {
            name: {label for label in column if label is not None}
            for name, column in zip((human, judge), columns, strict=True)
        }
        classes, place = _grades(listed, used, names.positive)
        codes = [_numbers(column, place) for column in columns]
    else:
        true_names = replace(names, true=human)
        classes, codes = _classes(read[0].file, columns, listed, true_names, ordered=is_ordered)
    models = list(dict.fromkeys(model for part in read for model in part.models))
    samples = list(dict.fromkeys(sample for part in read for sample in part.samples))
    groups, of_samples = (
        np.asarray([{name: k for k, name in enumerate(every)}[name] for part in read for name in getattr(part, field)])
        for every, field in ((models, "models"), (samples, "samples"))
    )
    pred = codes[2] if len(codes) > 2 else None
    files = [part.file for part in read]
    heading = ", ".join([MODEL] * bool(names.models) + list(names.by)) or ("" if models == [""] else MODEL)
    rows = JudgedRows(files, judge, human, classes, models, heading, groups, of_samples, codes[0], codes[1], pred)
    for k, model in enumerate(models):
        numbers = rows.of_model(k).numbers
        if not numbers["labelled"]:
            where = f" of {model}" if model else ""
            raise ArgumentError("human", f"expected labels of people in some rows{where} of {human}, got none")
    return rows


def _classes(
    file: str, columns: list[list[str | None]], listed: tuple[str, ...], names: Names, *, ordered: bool
) -> tuple[Classes, list[Array]]:
    """The classes of labels and predictions, and each column as their numbers."""
    if None in columns[2]:
        number = columns[2].count(None)
        raise ValueError(f"{file}: expected a label in each row of {names.pred}, got {number:,} without")
    true = sorted({label for column in columns[:2] for label in column if label is not None})
    pred = sorted({label for label in columns[2] if label is not None})
    words = two_names(true, pred, names.positive)
    if words is not None:
        classes = Classes.of(2, words.classes, names.positive)
        places = (words.of_true, words.of_true, words.of_pred)
        codes = [np.asarray([place.get(x, -1) for x in column]) for place, column in zip(places, columns, strict=True)]
        return classes, codes
    if names.order is None:
        refuse_disjoint(file, true, pred, (names.true, names.pred))
        warn_of_odd_labels(file, true, pred)
    place = {label: k for k, label in enumerate(listed)}
    codes = [_numbers(column, place) for column in columns]
    of_true, of_pred = (
        np.bincount(side[side >= 0], minlength=len(listed)) for side in (np.append(*codes[:2]), codes[2])
    )
    known = apart(listed, of_true, of_pred)
    return Classes.of(len(listed), listed, names.positive, ordered=ordered, apart=known), codes


def _numbers(column: list[str | None], place: dict[str, int]) -> Array:
    """Labels as numbers of classes, -1 where there is none."""
    return np.asarray([-1 if label is None else place[label] for label in column])


def _grades(listed: tuple[str, ...], used: dict[str, set[str]], positive: str | None) -> tuple[Classes, dict[str, int]]:
    """The grades as classes, and the index of the class of each label; ``used`` are the labels of each column.

    The grade that passes is the second class, which is the prediction for all answers. People and the judge may use
    different words for the same grade, such as ``true`` and ``1``.
    """
    words = _known_words(listed)
    if positive is not None:
        passing = spelled(positive, listed)
        if passing not in listed:
            raise ArgumentError("positive", f"expected a grade of {quoted_list(listed, 20)}, got {quoted(positive)}")
    elif len(words) == len(listed):
        passing = _word_of(1, words)
    else:
        goods = [label for label, k in words.items() if k == 1 and not label.isdecimal()]
        if len(goods) != 1:
            raise ArgumentError(
                "positive",
                f"expected the grade that passes, as there are {quoted_list(listed, 20)}, got none; or --pred COLUMN, "
                "if these are classes that a model predicts",
            )
        passing = goods[0]
    grade_of = {label: label for label in listed}
    others: list[str] = []
    if passing in words or passing not in listed:  # a known word, which may be the opposite of all labels
        k = words.get(passing, 1)
        if positive is not None:
            _refuse_two_words({label for label, at in words.items() if at == k}, used)
        others = [_word_of(1 - k, words)]
        grade_of |= {label: passing if at == k else others[0] for label, at in words.items()}
    _refuse_other_words(passing, others, grade_of, used)
    others = [grade for grade in dict.fromkeys(grade_of.values()) if grade != passing] or others
    if not others:
        raise ArgumentError("positive", f"expected two grades or more, got only {quoted(passing)}")
    labels = (others[0], passing, *others[1:])
    return Classes.of(len(labels), labels, passing), {label: labels.index(grade) for label, grade in grade_of.items()}


def _known_words(listed: tuple[str, ...]) -> dict[str, int]:
    """The labels that are known words: 0 for grades that fail, 1 for grades that pass.

    The numbers 0 and 1 belong to a scale if there are other numbers.
    """
    of_word = {word: k for pair in GRADES for k, word in enumerate(pair)}
    is_scale = any(label.isdecimal() and label not in of_word for label in listed)
    known = [label for label in listed if label.lower() in of_word and not (is_scale and label.isdecimal())]
    return {label: of_word[label.lower()] for label in known}


def _refuse_two_words(words: set[str], used: dict[str, set[str]]) -> None:
    """Raise if both columns use several words of the grade that passes, which may then be different grades."""
    both = sorted(words.intersection(*used.values()))
    if len({word.lower() for word in both}) > 1:
        raise ArgumentError(
            "positive",
            f"expected a single word for this grade in {' and '.join(used)}, got {quoted_list(both, 20)} in both "
            "columns, which usually mean the same; rename some of them",
        )


def _refuse_other_words(passing: str, failing: list[str], grade_of: dict[str, str], used: dict[str, set[str]]) -> None:
    """Raise if a column never passes and has grades that the other column does not have, which may mean the same."""
    grades = [{grade_of[label] for label in labels} for labels in used.values()]
    for own, other in (grades, grades[::-1]):
        has_others = own - other - set(failing)
        if other and passing not in own and has_others and (passing in other or not own & other):
            every = " and ".join(f"{quoted_list(sorted(labels), 20)} in {name}" for name, labels in used.items())
            raise ArgumentError(
                "positive",
                f"expected a grade that both columns have, or a pair of known words in each such as fail and pass, "
                f"got {quoted(passing)} for {every}; rename the grades of either column",
            )


def _word_of(k: int, words: dict[str, int]) -> str:
    """The first label of a grade. If the grade has no labels, the opposite of a label of the other grade."""
    mine = [label for label, at in words.items() if at == k]
    if mine:
        return mine[0]
    other = next(iter(words)).lower()
    return next(pair[k] for pair in GRADES if other in pair)


def _read(path: Path, names: Names, judge: str, human: str, *, has_pred: bool) -> Answers:
    """The rows of a file."""
    if is_log(path) and not path.name.lower().endswith(OF_LINES):
        return _of_log(path, judge, human)
    source = open_input(path, answers=AS_TABLE)
    if is_log(path) and not {judge, human} <= set(header_of(source)):
        return _of_log(path, judge, human)
    has_pred = has_pred or bool(names.models) or names.pred in header_of(source, names.encoding)
    chosen = {name: getattr(names, name) for name in ("encoding", "na", "text_labels", "order", "models", "by")}
    of_rows = JudgedNames(
        human, names.pred, clusters=names.clusters, missing="class", **chosen, judge=judge, is_graded=not has_pred
    )
    if has_pred:
        of_rows.check()
        if judge == names.pred:
            raise ArgumentError("judge", f"expected another column than that of predictions, got {quoted(judge)}")
    if of_rows.models:
        source, of_rows = by_model(source, of_rows)
    return read_rows(source, of_rows, _made, warns=False)[1]._replace(file=name_of(path))


def _made(table: Any, names: JudgedNames) -> Answers:
    if not table.num_rows:
        raise ValueError("expected rows of labels, got none")
    columns: list[list[str | None]] = []
    every: tuple[str, ...] = ()
    for name in names.labels:
        codes, classes, _ = coded(table, name)
        every = tuple(map(str, classes.to_pylist()))
        missing = {label for label in every if label == MISSING_CLASS or (names.is_graded and _is_missing(label))}
        columns.append([None if every[k] in missing else every[k] for k in codes.tolist()])
    listed = tuple(label for label in every if label not in missing)
    if not listed:
        raise ValueError(f"expected labels in {' and '.join(names.labels)}, got none")
    for name in names.cells:
        refuse_missing(name, decoded(table[name]))
    models, samples = (
        _texts(table, columns) for columns in (names.by, () if names.clusters is None else (names.clusters,))
    )
    samples = samples if names.clusters is not None else list(map(str, range(table.num_rows)))
    return Answers("", models, samples, columns, listed, names.order is not None or has_order(list(listed)))


def _is_missing(grade: str) -> bool:
    """Whether a grade is a text for a missing value, such as ``NaN`` or ``null``."""
    return grade.strip().lower() in MISSING_GRADES


def _texts(table: Any, names: tuple[str, ...]) -> list[str]:
    """What identifies each row in these columns."""
    if not names:
        return [""] * table.num_rows
    groups, values = group_rows(table, names)
    titles = [", ".join(text_of(values[name][k]) for name in names) for k in range(int(groups.max()) + 1)]
    return [titles[k] for k in groups.tolist()]


def _of_log(path: Path, judge: str, human: str) -> Answers:
    """The answers of a log by the grades of two scorers."""
    from matrics._integrations.evals.judged import judged_answers
    from matrics._integrations.evals.labels import FAIL, PASS

    source = judged_answers(path, people=human, judge=judge)
    rows = [(model, *row) for model, answers in source.items() for row in answers]
    models, samples, true, judged = map(list, zip(*rows, strict=True))
    if len(source) == 1:
        models = [""] * len(rows)
    samples = ["/".join(map(str, sample)) for sample in samples]
    return Answers(name_of(path), models, samples, [true, judged], (FAIL, PASS), is_ordered=True)
