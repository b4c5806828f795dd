"""The recipe of any measures: of predicted labels, of scores and losses, or of samples with several labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Unpack

from matrics._arrays import Array
from matrics._catalogue.of_scores import call_of, name_of
from matrics._catalogue.record import Metric
from matrics._counting.codes import integer_codes, searched
from matrics._counting.labels import said
from matrics._integrations.running.combined_values import CombinedState, CombinedValues
from matrics._integrations.running.labels import LabelRecipe, sigmoid
from matrics._integrations.running.multilabel import MultilabelRecipe
from matrics._integrations.running.parts import Arrays
from matrics._integrations.running.recipe import PLACE, CommonOptions, Recipe, plain
from matrics._integrations.running.samples import kept_samples
from matrics._integrations.running.score_names import is_of_scores
from matrics._integrations.running.scores import ScoreRecipe
from matrics._integrations.running.settings import classes_of
from matrics._quoting import quoted, split_outside
from matrics._ranking.state_names import near_method
from matrics._scoring.score import resolve
from matrics.typing import ArrayLike


class CombinedOptions(CommonOptions, total=False):
    """The options of a metric of any measures, which are the options of all kinds."""

    num_labels: int | None
    labels: Iterable[int] | None
    positive: Hashable
    threshold: float | Sequence[float] | ArrayLike | None
    bits: int | None
    edges: Sequence[float] | ArrayLike | None
    bounds: bool
    num_bins: int


class CombinedRecipe(Recipe):
    """The recipes that the measures need, whose arrays are counted from the same batch.

    The parts have no windows: a window applies to all arrays together.
    """

    kind = "combined"
    second = "y_pred"
    in_place = True
    values: CombinedValues

    def __init__(
        self,
        library: str,
        num_classes: int | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        num_labels: int | None = None,
        labels: Iterable[int] | None = None,
        positive: Hashable = None,
        threshold: Any = None,
        bits: int | None = None,
        edges: Sequence[float] | ArrayLike | None = None,
        bounds: bool = False,
        num_bins: int = 15,
        **common: Unpack[CommonOptions],
    ) -> None:
        if isinstance(num_classes, (str, Metric)):
            raise TypeError(
                f"num_classes: expected a number of classes, or None for scores of class 1 of two, got "
                f"{quoted(num_classes)}; pass measures as the second argument, metrics="
            )
        super().__init__(library, **common)
        bins = {"bits": bits, "edges": plain(edges), "bounds": bounds}
        labels = None if labels is None else list(labels)
        of_parts: Any = common | {"window": None}
        self._codes: Mapping[Hashable, int] | None = None
        self._is_binary = False
        if num_labels is not None:
            unsupported = {"num_classes": num_classes, "labels": labels, "positive": positive}
            _refuse(unsupported, "with num_labels=, of samples with several labels")
            sets = MultilabelRecipe(library, num_labels, metrics, threshold=threshold, **bins, **of_parts)
            parts: dict[str, Any] = {"sets": sets}
            self.num_classes = sets.num_classes
        else:
            by_name = by_kind(metrics)
            parts = dict.fromkeys(by_name)
            self._is_binary = threshold is not None or (num_classes is None and labels is None)
            number, self._codes = integer_codes(2 if num_classes is None and labels is None else num_classes, labels)
            self.num_classes = number
            if "labels" in parts:
                parts["labels"] = LabelRecipe(
                    library,
                    number if labels is None else None,
                    by_name["labels"],
                    labels=labels,
                    positive=positive,
                    threshold=0.5 if self._is_binary and threshold is None else threshold,
                    **of_parts,
                )
            else:
                _refuse({"threshold": threshold}, "without a measure of predicted labels, such as 'f1'")
            if "scores" in parts:
                options = bins | {"num_bins": num_bins} | of_parts | self._options_of_scores(number, positive)
                parts["scores"] = ScoreRecipe(
                    library, None if self._is_binary else number, by_name["scores"], **options
                )
            else:
                _refuse(bins, "without a measure of scores, such as 'roc_auc'")
        if len(parts) > 1:
            parts["labels"]._checks_scores &= not parts["scores"].warns_of_scores
        self.values = CombinedValues.of_parts({name: recipe.values for name, recipe in parts.items()}, self.prefix)
        # Scores are counted first, as their checks are stricter, and a rejected batch must not be counted partially.
        self._parts: dict[str, Any] = dict(sorted(parts.items(), reverse=True))

    def _options_of_scores(self, number: int, positive: Hashable) -> dict[str, Any]:
        """The options for counting class scores, with the class numbers 0 to n - 1 as labels."""
        names, chosen = self.class_names, None
        if positive is not None:
            classes = classes_of(
                number, self._codes, names, positive, by_construction=self._is_binary, ignored=self.ignored
            )
            chosen = classes.positive
        if self._is_binary:
            if chosen not in (None, 1):
                raise ValueError(
                    f"positive: expected class 1, as the scores are scores of class 1, got {quoted(positive)}; pass "
                    "scores of both "
                    "classes and num_classes=2"
                )
            return {"class_names": None} | self._ignored_codes()
        names = names or (None if self._codes is None else tuple(map(str, self._codes)))
        options = {"class_names": names, "positive": chosen if names is None or chosen is None else names[chosen]}
        return options | self._ignored_codes()

    def _ignored_codes(self) -> dict[str, Any]:
        if self._codes is None:
            return {}
        return {"ignore_index": [self._codes[label] for label in self.ignored if label in self._codes] or None}

    def _own_options(self) -> dict[str, Any]:
        all_options: dict[str, Any] = {}
        kinds = ["combined"]
        for name, recipe in self._parts.items():
            options = recipe.options
            kinds.append(options.pop("kind", name))
            all_options = options | all_options
        return {"kind": "_".join(kinds)} | all_options

    def _empty(self) -> tuple[Arrays, Arrays]:
        sums: Arrays = {}
        settings: Arrays = {}
        for part, recipe in self._parts.items():
            for target, own in zip((sums, settings), recipe.empty(), strict=True):
                _put(target, part, own)
        return sums, settings

    def _add(
        self,
        arrays: Arrays,
        y_true: Array,
        y_pred: Array,
        *,
        mask: Array | None = None,
        sample_weight: Array | None = None,
        are_logits: bool | None = None,
    ) -> None:
        is_float = self.backend.is_float(y_pred)
        if "sets" not in self._parts:
            self._check_scores(y_true, y_pred, is_float=is_float)
        for part, recipe in self._parts.items():
            labels, scores, kept = y_true, y_pred, mask
            if part == "scores" and self._codes is not None:
                kept = kept_samples(y_true, mask, self.ignored, self.backend)
                labels = searched(y_true, self._codes, "labels", self.backend)
            if part == "labels" and self._is_binary and are_logits and not self.from_logits:
                scores = sigmoid(y_pred, self.backend)
            own = of_part(arrays, part)
            recipe.count(own, labels, scores, mask=kept, sample_weight=sample_weight, are_logits=are_logits)
            if self.library != "torch":
                _put(arrays, part, own)

    def _check_scores(self, y_true: Array, y_pred: Array, *, is_float: bool) -> None:
        """Raise an error for labels where measures need scores, and for scores of class 1 with several classes."""
        if not is_float and "scores" in self._parts:
            names = ", ".join(self._parts["scores"].values.requested)
            raise TypeError(
                f"y_pred: expected floating scores for {names}, got predicted labels (dtype {y_pred.dtype}); "
                "leave out these measures for labels alone"
            )
        if not is_float and self._is_binary:
            raise TypeError(
                "y_pred: expected floating scores of class 1, as there is no num_classes=, got predicted labels (dtype "
                f"{y_pred.dtype}); pass num_classes=2 for labels"
            )
        if is_float and not self._is_binary and y_true.shape == y_pred.shape:
            got = said({"y_true": y_true, "y_pred": y_pred})
            hint = "; for scores of class 1 leave out num_classes=" if self.num_classes == 2 else ""
            raise ValueError(f"expected scores of all {self.num_classes} classes for each label, got {got}{hint}")

    def _state(self, arrays: Arrays) -> CombinedState:
        return self._each("view", arrays)

    def state(self, arrays: Arrays) -> CombinedState:
        """The running states of all counts, which later batches do not change."""
        return self._each("state", self._total(arrays))

    def _each(self, method: str, arrays: Arrays) -> CombinedState:
        return CombinedState(
            **{part: getattr(recipe, method)(of_part(arrays, part)) for part, recipe in self._parts.items()}
        )

    def matrix(self, state: CombinedState) -> Array:
        """The confusion matrix of a state, or the matrices of several labels; raises without such measures."""
        for part in ("labels", "sets"):
            if part in self._parts:
                return self._parts[part].matrix(getattr(state, part))
        raise ValueError("matrix: expected a metric with a measure of predicted labels, such as 'f1', got none")

    def keep(self, arrays: Arrays, state: CombinedState) -> None:
        """Put the arrays of a state in the dict."""
        for part, recipe in self._parts.items():
            own = of_part(arrays, part)
            recipe.keep(own, getattr(state, part))
            _put(arrays, part, own)

    def _decay(self, arrays: Arrays) -> None:
        for part, recipe in self._parts.items():
            own = of_part(arrays, part)
            recipe._decay(own)
            _put(arrays, part, own)

    def _is_setting(self, name: str) -> bool:
        part, _, rest = name.partition("_")
        return name == PLACE or self._parts[part]._is_setting(rest)

    def _check_same(self, other: Any, arrays: Arrays, others: Arrays) -> None:
        if set(other._parts) != set(self._parts):
            mine, theirs = (" and ".join(sorted(recipe._parts)) for recipe in (self, other))
            raise ValueError(f"merge_state: expected a metric that counts {mine}, got a metric that counts {theirs}")
        for part, recipe in self._parts.items():
            own, given = (self._slot(of_part(x, part), recipe) for x in (arrays, others))
            recipe._check_same(other._parts[part], own, given)

    def _slot(self, arrays: Arrays, recipe: Recipe) -> Arrays:
        """The arrays of a part without the axis of a window."""
        if self.window is None:
            return arrays
        return {name: x if recipe._is_setting(name) else x[0, ...] for name, x in arrays.items()}

    def _checks(self) -> dict[str, Callable[..., None]]:
        return {
            f"{part}_{name}": check for part, recipe in self._parts.items() for name, check in recipe._checks().items()
        }


def by_kind(metrics: Any) -> dict[str, Any]:
    """The measures of predicted labels and of scores, by kind, in the order of the first measure of each kind.

    >>> by_kind("f1, roc_auc, mcc")
    {'labels': ['f1', 'mcc'], 'scores': ['roc_auc']}
    """
    items = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if not isinstance(items, Iterable) or isinstance(items, Mapping):
        return {"labels": metrics}  # for which the lookup of measures raises an error
    kinds: dict[str, Any] = {}
    for item in items:
        names = [part.strip() for part in split_outside(item) if part.strip()] if isinstance(item, str) else [item]
        for name in names:
            has_scores = isinstance(name, str) and (is_of_scores(name) or call_of(name_of(name)) is not None)
            if isinstance(name, str) and not has_scores:
                _check_known(name)
            kinds.setdefault("scores" if has_scores else "labels", []).append(name)
    return kinds or {"labels": []}


def _check_known(name: str) -> None:
    """Raise an error for an unknown name that is similar to a measure of scores; the message has the similar names."""
    hint = near_method(name)
    if not hint:
        return
    try:
        resolve(name)
    except ValueError as error:
        if str(error).startswith("unknown metric"):
            raise ValueError(
                f"metrics: {hint}expected a measure of matrics.list_metrics(), or of scores, got {quoted(name)}"
            ) from error


def of_part(arrays: Arrays, part: str) -> Arrays:
    """The arrays of a part, without the prefix of the part in their names."""
    return {name.removeprefix(f"{part}_"): x for name, x in arrays.items() if name.startswith(f"{part}_")}


def _put(arrays: Arrays, part: str, own: Arrays) -> None:
    for name, x in own.items():
        arrays[f"{part}_{name}"] = x


def _refuse(options: Mapping[str, Any], where: str) -> None:
    for name, value in options.items():
        if value is not None and value is not False:
            raise ValueError(f"{name}: expected None {where}, got {quoted(value)}")
