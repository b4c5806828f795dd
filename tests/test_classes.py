"""Which class and which average a measure is of: classes in specs, averages over some, ``positive=``, and titles."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import roads
from hypothesis import given
from hypothesis import strategies as st

import matrics
from matrics._catalogue.averages import AVERAGES, OF_SEVERAL, TEST_WORDS
from matrics._catalogue.classes import TWO, Classes, Names
from matrics._catalogue.naming import title_of
from matrics._scoring.score import resolve

OF_PYTORCH = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # to itself
WITH_GRADIENTS = ("torch-grad", "jax-jit", "jax-x64-jit")
# Machine code of averages takes PyTorch's compiler longer than all others; test_roads.py tries it for measures.
EVERY_ROAD = [name for name in roads.installed() if name != "torch-inductor"]
CM = [[45, 3, 2], [4, 30, 1], [0, 5, 10]]
TEST = [[90, 10], [5, 45]]  # specificity 0.9, sensitivity 0.9 of class 1; 45/55 and 90/95 of those predicted

# What is written in a spec, and the value by its definition, in fractions ---------------------------------------------

SPECS = (
    *("recall[0]", "recall[2]", "precision[1]", "f1[2]", "specificity[1]", "accuracy[1]", "cohen_kappa[2]", "mcc[0]"),
    *(f"f1:{average}{some}" for average in OF_SEVERAL for some in ("", "[2]", "[0,2]", "[2,1]", "[0,1,2]")),
    *(f"{name}:{average}" for name in ("informedness", "diagnostic_odds_ratio") for average in OF_SEVERAL),
)


class Counted:
    """The four counts of each class of a matrix of whole numbers."""

    def __init__(self, cells: Any) -> None:
        self.cells = [[int(cell) for cell in row] for row in cells]
        self.n, self.total = len(self.cells), sum(map(sum, self.cells))

    def of(self, k: int) -> tuple[int, int, int, int]:
        """True positives, false positives, false negatives, true negatives."""
        tp = self.cells[k][k]
        fn, fp = sum(self.cells[k]) - tp, sum(row[k] for row in self.cells) - tp
        return tp, fp, fn, self.total - tp - fp - fn

    def value(self, spec: str) -> float:
        head, _, some = spec.partition("[")
        name, _, average = head.partition(":")
        classes = [int(k) for k in some.rstrip("]").split(",")] if some else list(range(self.n))
        if average == "micro":
            return as_float(BY_COUNTS[name](*map(sum, zip(*map(self.of, classes), strict=True))))
        values = [as_float(BY_COUNTS[name](*self.of(k))) for k in classes]
        if not average:
            return values[0]
        known = [value for value in values if not math.isnan(value)]
        sizes = [sum(self.cells[k]) for k, value in zip(classes, values, strict=True) if not math.isnan(value)]
        if not known:
            return math.nan
        if average == "weighted":
            weighted = [value * size for value, size in zip(known, sizes, strict=True) if size]
            return sum(weighted) / sum(sizes) if weighted else math.nan
        if average == "geometric":
            if min(known) < 0 or (0 in known and math.inf in known):
                return math.nan
            return math.prod(known) ** (1 / len(known))
        return {"macro": sum(known) / len(known), "min": min(known), "max": max(known)}[average]


def ratio(a: int, b: int) -> Fraction | None:
    return Fraction(a, b) if b else None


def kappa(tp: int, fp: int, fn: int, tn: int) -> Fraction | None:
    n = tp + fp + fn + tn
    chance = (tp + fn) * (tp + fp) + (tn + fp) * (tn + fn)
    return ratio(n * (tp + tn) - chance, n * n - chance)


def informedness(tp: int, fp: int, fn: int, tn: int) -> Fraction | None:
    recall, other = ratio(tp, tp + fn), ratio(tn, tn + fp)
    return None if recall is None or other is None else recall + other - 1


def mcc(tp: int, fp: int, fn: int, tn: int) -> float | None:
    sizes = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(sizes) if sizes else None


def odds(tp: int, fp: int, fn: int, tn: int) -> Fraction | float | None:
    return ratio(tp * tn, fp * fn) if fp * fn else math.inf if tp * tn else None


BY_COUNTS: dict[str, Callable[..., Any]] = {
    "recall": lambda tp, _fp, fn, _tn: ratio(tp, tp + fn),
    "precision": lambda tp, fp, _fn, _tn: ratio(tp, tp + fp),
    "specificity": lambda _tp, fp, _fn, tn: ratio(tn, tn + fp),
    "f1": lambda tp, fp, fn, _tn: ratio(2 * tp, 2 * tp + fp + fn),
    "accuracy": lambda tp, fp, fn, tn: ratio(tp + tn, tp + fp + fn + tn),
    "informedness": informedness,
    "diagnostic_odds_ratio": odds,
    "cohen_kappa": kappa,
    "mcc": mcc,
}


def as_float(value: Any) -> float:
    return math.nan if value is None else float(value)


def stack_of_three() -> np.ndarray:
    """Plain matrices, and some whose classes are empty, never right, or never wrong."""
    stack = np.random.default_rng(7).integers(0, 20, (roads.BATCH, 3, 3))
    stack[1, 1], stack[2, :, 1], stack[3] = 0, 0, 0
    stack[4, 1], stack[4, :, 1] = 0, 0
    stack[5], stack[6], stack[7] = np.eye(3), 1 - np.eye(3), [[5, 0, 0], [0, 0, 4], [0, 3, 0]]
    stack[8], stack[9, 0, 0] = [[5, 0, 0], [0, 0, 0], [0, 0, 0]], 0
    return stack


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(
    name=["torch-compile", "jax-jit", "jax-vmap", "jax-x64-jit", "jax-x64-vmap"]
)  # test_class_names_... compiles some
@pytest.mark.parametrize("name", EVERY_ROAD)
def test_values_on_every_road(name: str) -> None:
    """Compiled, mapped and plain; what is undefined is NaN, and infinite odds stay infinite."""
    road, stack = roads.make(name), stack_of_three()
    for dtype in road.dtypes()[-1:]:
        found = road.score(stack, SPECS, dtype, invalid="nan")
        assert set(found) == set(SPECS)  # JAX sorts keys
        for spec, values in found.items():
            wanted = [Counted(cells).value(spec) for cells in stack]
            np.testing.assert_allclose(values, wanted, err_msg=spec, **road.tolerance)
    road.let_go()


@pytest.mark.parametrize("zero_division", [0.0, 1.0, 0.25])
def test_a_number_for_what_is_undefined_is_averaged(zero_division: float) -> None:
    cm = [[5, 1, 0], [2, 6, 0], [0, 0, 0]]
    recalls = [5 / 6, 6 / 8, zero_division]
    found = matrics.score(cm, [f"recall:{how}[1,2]" for how in OF_SEVERAL], zero_division=zero_division)
    assert found["recall:macro[1,2]"] == pytest.approx(sum(recalls[1:]) / 2)
    assert found["recall:micro[1,2]"] == pytest.approx(6 / 8)
    assert found["recall:weighted[1,2]"] == pytest.approx(6 / 8)
    assert found["recall:min[1,2]"] == pytest.approx(min(recalls[1:]))
    assert found["recall:max[1,2]"] == pytest.approx(max(recalls[1:]))
    assert found["recall:geometric[1,2]"] == pytest.approx(math.sqrt(recalls[1] * recalls[2]))
    assert matrics.score(cm, "recall[2]", zero_division=zero_division)["recall[2]"] == zero_division


def test_whole_numbers_beyond_float64() -> None:
    """Rows that differ by one sample in 2**60, which no float64 holds."""
    big = 2**60
    cm = np.array([[big + 1, big - 1, 3], [big, big + 7, 1], [5, big, big - 9]], dtype=np.int64)
    for spec in SPECS:
        if spec.startswith("informedness"):  # which cancels: 1e-19 is 0 among rates
            continue
        wanted = Counted(cm).value(spec)
        assert matrics.score(cm, spec)[spec] == pytest.approx(wanted, rel=1e-14, abs=1e-15), spec


def test_micro_of_all_classes_is_micro() -> None:
    for name in matrics.list_metrics("rates"):
        values = matrics.score(CM, [f"{name}:micro", f"{name}:micro[2,0,1]"])
        np.testing.assert_array_equal(*values.values(), err_msg=name)


SLOPES = (
    "f1:min",
    "f1:max",
    "f1:geometric",
    "f1:macro[0,2]",
    "f1:micro[1,2]",
    "f1:weighted[0,1]",
    "mcc[1]",
    "recall[1]",
)


@pytest.mark.exhaustive(name=["jax-jit", "jax-x64-jit"])  # by default test_losses.py has gradients of JAX
@pytest.mark.parametrize("name", [name for name in WITH_GRADIENTS if name in roads.installed()])
def test_gradients(name: str) -> None:
    """Finite at empty classes and at classes that are never right, whatever an undefined class is worth there.

    Where nothing is empty they are those of differences.
    """
    stack, step = stack_of_three().astype(np.float64), 1e-6
    for zero_division in (0.0, math.nan):
        for spec, slopes in gradients(name, stack, zero_division).items():
            assert np.isfinite(slopes).all(), spec
    plain = stack[10:12] + 1 + 60 * np.eye(3)
    for spec, slopes in gradients(name, plain, math.nan).items():
        for i, j in ((0, 0), (0, 2), (1, 2), (2, 1)):
            up, down = plain.copy(), plain.copy()
            up[:, i, j], down[:, i, j] = up[:, i, j] + step, down[:, i, j] - step
            wanted = (matrics.score(up, spec)[spec] - matrics.score(down, spec)[spec]) / (2 * step)
            tolerance = {"rtol": 1e-6, "atol": 1e-8} if roads.make(name).float64 else {"rtol": 1e-3, "atol": 1e-5}
            np.testing.assert_allclose(slopes[:, i, j], wanted, err_msg=spec, **tolerance)


def gradients(road: str, stack: np.ndarray, zero_division: float) -> dict[str, np.ndarray]:
    """Of the sum of the values that are defined."""
    options: dict[str, Any] = {"zero_division": zero_division, "invalid": "nan"}
    if road == "torch-grad":
        torch = pytest.importorskip("torch")
        cells = torch.from_numpy(stack).requires_grad_()
        values = matrics.score(cells, SLOPES, **options)
        sums = {spec: torch.nansum(found) for spec, found in values.items()}
        return {spec: torch.autograd.grad(total, cells, retain_graph=True)[0].numpy() for spec, total in sums.items()}
    jax = pytest.importorskip("jax")

    def sums(cm: Any) -> dict[str, Any]:
        return {spec: jax.numpy.nansum(values) for spec, values in matrics.score(cm, SLOPES, **options).items()}

    with roads.jax_bits(float64="x64" in road):
        return {
            spec: np.asarray(slopes) for spec, slopes in jax.jit(jax.jacrev(sums))(jax.numpy.asarray(stack)).items()
        }


def test_shapes() -> None:
    """No matrices, several axes of them, a single class, and a bad matrix among good ones."""
    specs = ["recall[1]", "f1:macro[0,2]", "f1:micro[1,2]", "mcc[1]", "f1:geometric", "f1:min"]
    for shape in ((0, 3, 3), (2, 0, 3, 3)):
        assert all(values.shape == shape[:-2] for values in matrics.score(np.zeros(shape), specs).values())
    stack = stack_of_three()[:12].reshape(3, 4, 3, 3)
    for spec, values in matrics.score(stack, specs).items():
        np.testing.assert_allclose(values[2, 3], matrics.score(stack[2, 3], spec)[spec], rtol=1e-15)
    assert matrics.score([[4]], ["recall[0]", "f1:geometric[0]", "f1:micro[0]"]) == pytest.approx(
        {"recall[0]": 1, "f1:geometric[0]": 1, "f1:micro[0]": 1}
    )
    bad = stack[0].astype(float)
    bad[1, 0, 0], bad[2, 0, 0] = math.nan, math.inf
    for spec, values in matrics.score(bad, specs, invalid="nan").items():
        assert np.isnan(values[1:3]).all(), spec
        np.testing.assert_allclose(values[[0, 3]], matrics.score(stack[0], spec)[spec][[0, 3]], rtol=1e-15)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [name for name in roads.installed() if name != "torch-inductor"])
def test_a_class_that_is_not_there_raises_on_every_road(name: str) -> None:
    for spec in ("recall[3]", "mcc[3]", "f1:macro[0,3]") if name == "numpy" else ("recall[3]",):
        with pytest.raises(Exception, match="expected the index of a class, from 0 to 2, got '3'"):
            roads.make(name).score(stack_of_three()[:4], [spec], np.float32)


@pytest.mark.exhaustive
@pytest.mark.exhaustive(name=["jax-vmap", "jax-x64-jit"])  # of each width one of jit and vmap
@pytest.mark.parametrize("name", EVERY_ROAD)
def test_class_names_and_positive_on_every_road(name: str) -> None:
    """Class names and ``positive=`` are known while code is compiled, and cost nothing there."""
    road, stack = roads.make(name), stack_of_three()[:4]
    options = {"class_names": ("cat", "dog", "owl"), "positive": "owl"}
    found = road.score(stack, ("recall", "f1:macro[cat,dog]", "mcc[dog]", "precision:class"), np.float32, **options)
    expected = matrics.score(stack, ["recall[2]", "f1:macro[0,1]", "mcc[1]", "precision:class"])
    tolerance = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(found["recall"], expected["recall[2]"], **tolerance)
    np.testing.assert_allclose(found["f1:macro[cat,dog]"], expected["f1:macro[0,1]"], **tolerance)
    np.testing.assert_allclose(found["mcc[dog]"], expected["mcc[1]"], **tolerance)
    np.testing.assert_allclose(found["precision/dog"], expected["precision:class"][:, 1], **tolerance)
    road.let_go()


def test_margins_know_them_too() -> None:
    """What needs no other cells than the margins is scored from them."""
    state = matrics.MarginState.zeros(3, dtype=np.float64).update(
        *np.argwhere(np.ones((3, 3))).T, sample_weight=np.ravel(CM)
    )
    for spec in SPECS:
        assert state.score(spec)[spec] == pytest.approx(matrics.score(CM, spec)[spec]), spec


# Words of tests with two results, and positive= -----------------------------------------------------------------------


def test_words_of_two_classes_are_of_class_1() -> None:
    """What a clinician calls so: the issue's 2×2 table printed sensitivity = specificity and PPV = NPV."""
    cm = [[80, 20], [3, 27]]
    found = matrics.score(cm, "sensitivity,specificity,ppv,npv,lr_plus,lr_minus,dor,odds_ratio")
    wanted = [27 / 30, 80 / 100, 27 / 47, 80 / 83, 0.9 / 0.2, 0.1 / 0.8, 27 * 80 / (20 * 3), 27 * 80 / (20 * 3)]
    assert list(found.values()) == pytest.approx(wanted)
    assert matrics.metrics.specificity(cm) == pytest.approx(0.8)
    flipped = matrics.score(cm, "sensitivity,specificity,ppv", positive=0)
    assert list(flipped.values()) == pytest.approx([0.8, 0.9, 80 / 83])


def test_all_names_of_a_measure_have_one_value_and_an_average_always_wins() -> None:
    """Words of tests such as sensitivity, and recall: class 1 of two, and the mean of more, and of two texts."""
    found = matrics.score(TEST, "recall, sensitivity, specificity, precision, ppv, npv")
    assert list(found.values()) == [45 / 50, 45 / 50, 90 / 100, 45 / 55, 45 / 55, 90 / 95]
    other = ("recall", "precision", "tpr", "tnr", "fpr", "fnr", "true_negative_rate", "hit_rate")
    for word in (*sorted(TEST_WORDS), *other):
        metric = matrics.get_metric(word)
        for cm in (TEST, CM):
            for how in AVERAGES["per_class"][:-2]:
                assert matrics.score(cm, f"{word}:{how}")[f"{word}:{how}"] == metric.using(average=how)(cm)
        of_one = matrics.score(TEST, f"{metric.name}[1]")[f"{metric.name}[1]"]
        assert metric(TEST) == matrics.score(TEST, word)[word] == of_one
        assert metric(CM) == matrics.score(CM, word)[word] == metric.using(average="macro")(CM)
        for classes, average in ((["ok", "fraud"], ("macro", ())), (["0", "1"], ("binary", (1,)))):
            (resolved,) = resolve(word, Classes.of(2, classes)).values()
            assert (resolved.average, resolved.classes) == average


def test_positive_makes_class_measures_binary() -> None:
    names = ["cat", "dog", "owl"]
    for k, name in enumerate(names):
        found = matrics.score(CM, "recall,recall:macro,mcc,f1:binary,npv", class_names=names, positive=name)
        assert found["recall"] == matrics.recall(CM, positive=k) == matrics.recall(CM, average="class")[k]
        assert found["f1:binary"] == matrics.f1(CM, average="class")[k]
        assert found["npv"] == matrics.metrics.npv(CM, average="class")[k]
        assert found["recall:macro"] == matrics.recall(CM)
        assert found["mcc"] == matrics.mcc(CM)


def test_what_positive_may_be() -> None:
    with pytest.raises(ValueError, match=r"positive: expected one of the classes 'cat', 'dog', 'owl', got 'cow'"):
        matrics.score(CM, "recall", class_names=["cat", "dog", "owl"], positive="cow")
    with pytest.raises(ValueError, match=r"(?s)positive: expected the index .*With labels= or class_names=, a class"):
        matrics.score(CM, "recall", positive="cat")
    for wrong in (3, -1, True, 1.5):
        with pytest.raises(ValueError, match="positive: expected the index of a class, from 0 to 2"):
            matrics.score(CM, "recall", positive=wrong)
    with pytest.raises(ValueError, match=r"(?s)recall\[fraud\]: expected the index .*labels= or class_names="):
        matrics.score(TEST, "recall[fraud]")
    with pytest.raises(ValueError, match=r"average='binary' is for 2×2 matrices, got 3×3: pass positive="):
        matrics.score(CM, "recall:binary")
    with pytest.raises(ValueError, match=r"in square brackets \(recall\['a, b'\]\)"):
        matrics.score(CM, "recall:binary", class_names=["a, b", "c", "d"])
    with pytest.raises(ValueError, match="expected different classes in square brackets, got a class twice"):
        matrics.score(CM, "f1:macro[1,1]")
    with pytest.raises(TypeError, match="mcc is an overall measure and not a value of a class"):
        matrics.mcc(TEST, positive=1)


def test_labels() -> None:
    """As they are, and as texts, which is all that a spec and the command line have."""
    assert Classes.of(2, [0, 1], 0).positive == 0
    assert Classes.of(2, [False, True], True).positive == 1
    assert Classes.of(2, [False, True], "True").positive == 1
    assert Classes.of(2, [1, 2], "2").positive == 1
    assert Classes.of(2, [0.0, 1.0], "1").positive == 1
    assert Classes.of(2, ["1", "0"], 0).positive == 1
    assert Classes.of(3, [1, "1", 2], "1").positive == 1
    assert Classes.of(3, [1, "1", 2], 1).positive == 0
    assert Classes.of(2, [0, 1], np.int64(1)).positive == 1
    with pytest.raises(ValueError, match=r"'nan'.*no class has this label"):
        Classes.of(2, [0.0, 1.0], "nan")


def test_texts_in_an_order_that_nobody_gave() -> None:
    unordered = Classes.of(2, ["fraud", "ok"], ordered=False)
    for spec in ("recall:binary", "sensitivity:binary", "npv:binary"):
        with pytest.raises(ValueError, match=rf"{spec} needs a positive class.*'fraud', 'ok'.*positive="):
            resolve(spec, unordered)
    titles = ["recall, macro", "sensitivity, macro", "npv, macro"]
    for classes in (unordered, Classes.of(2, ["ok", "fraud"])):  # in either order
        assert [title_of(key) for key in resolve("recall,sensitivity,npv", classes)] == titles
    chosen = resolve(["sensitivity", "recall:binary", "recall"], Classes.of(2, ["fraud", "ok"], "fraud", ordered=False))
    assert [metric.classes for metric in chosen.values()] == [(0,)] * 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spec", "classes", "title"),
    [
        ("recall", Classes(2), "recall of class 1"),
        ("recall", Classes(3), "recall, macro"),
        ("recall", Classes.of(2, ["ok", "fraud"]), "recall, macro"),
        ("recall", Classes.of(2, ["0", "1"]), "recall of class 1"),
        ("recall", Classes.of(2, ["3", "12"]), "recall of class 12"),  # the labels of a file are texts
        ("recall", Classes.of(2, ["False", "True"]), "recall of True"),
        ("recall", Classes.of(2, Names(["ok", "fraud"])), "recall of fraud"),
        ("recall:macro", Classes(2), "recall, macro"),
        ("recall", TWO, "recall of class 1"),
        ("sensitivity", Classes(2), "sensitivity of class 1"),
        ("sensitivity", Classes(3), "sensitivity, macro"),
        ("sensitivity", None, "sensitivity"),
        ("recall", Classes.of(3, ["cat", "dog", "owl"], "dog"), "recall of dog"),
        ("f1:macro[cat,dog]", Classes.of(3, ["cat", "dog", "owl"]), "f1, macro of cat and dog"),
        ("f1:min[cat,dog,owl]", Classes.of(3, ["cat", "dog", "owl"]), "f1, min of cat, dog and owl"),
        ("mcc[1]", Classes(3), "mcc of class 1 against the rest"),
        ("mcc", Classes.of(2, ["a", "b"], "a"), "mcc"),
        ("fbeta(beta=2)", Classes.of(2, ["a", "b"], "a"), "fbeta(beta=2) of a"),
        ("recall:class", Classes(2), "recall of each class"),
        ("mcc:one_vs_rest", Classes(2), "mcc of each class against the rest"),
    ],
)
def test_titles(spec: str, classes: Classes | None, title: str) -> None:
    assert matrics.get_metric(spec).title(classes) == title
    if classes is not None:
        key, metric = next(iter(resolve(spec, classes).items()))
        assert (key, title_of(key), metric.title(classes)) == (spec, title, title)


# How specs are read ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "read"),
    [
        ("cohen_kappa(weights='quadratic')", "cohen_kappa(weights=quadratic)"),
        ('cohen_kappa( weights = "quadratic" )', "cohen_kappa(weights=quadratic)"),
        ('recall["a]b"]', "recall['a]b']"),
        ("f1:macro['a,b',c]", "f1:macro['a,b',c]"),
        ("f1 [ 'a,b' , c ] : macro", "f1:macro['a,b',c]"),
        ("recall['it''s']", 'recall["it\'s"]'),
        ("recall[benign (B)]", "recall['benign (B)']"),
        ("Recall[ 1 ]", "recall[1]"),
        ("recall:binary[1]", "recall[1]"),
        ("mcc:one_vs_rest[1]", "mcc[1]"),
        ("TPR[1]", "recall[1]"),
        ("F1 Macro", "f1:macro"),
        ("f1_macro[0,1]", "f1:macro[0,1]"),
        ("cohen_kappa(costs=[[0,1],[1,0]])[1]", "cohen_kappa(costs=[[0,1],[1,0]])[1]"),
        ("fbeta(beta=2)[0,1]:min", "fbeta(beta=2):min[0,1]"),
        ("true negative rate", "tnr"),
        ("Sensitivity", "sensitivity"),
    ],
)
def test_spellings(spec: str, read: str) -> None:
    metric = matrics.get_metric(spec)
    assert metric == matrics.get_metric(read)
    assert matrics.get_metric(str(metric)) == metric
    assert list(matrics.score([[1, 0], [0, 1]], f"accuracy,{metric}" if not metric.classes else "accuracy"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("recall[1", "expected classes in square brackets at the end"),
        ("recall[a]b", "expected classes in square brackets at the end"),
        ("recall['a]", "with quotes .*, got 'a"),
        ("recall[1]]", r"with quotes .*, got 1\]"),
        ("recall[[1]]", r"with quotes .*, got \[1\]"),
        ("recall[a (b]", r"with quotes .*, got a \(b"),
        ("recall[]", "got an empty name"),
        ("f1:macro[cat,,dog]", "got an empty name"),
        ("f1[cat]:macro[dog]", "expected classes in square brackets once, got them twice"),
        ("recall[0,1]", r"a single class in square brackets \(recall\[fraud\]\), or an average of some"),
        ("mcc:macro[0,1]", "overall measure: expected average to be one of 'auto', None, 'one_vs_rest', got 'macro'"),
        ("recall:class[1]", "got 1 classes and the average 'class'"),
        ("recall:sum", "expected average to be one of 'auto', None, 'macro', 'micro'.*'geometric'"),
        ("recall:fraud", r"got 'fraud'; put a class in square brackets \(recall\[fraud\]\)"),
        ("recall(average=macro,positive=1)", "positive='1' is for average='binary'"),
        ("sensitvity", r"did you mean sensitivity \(= recall\), "),
        ("fbeta(beta=2", r"expected name\(option=value"),
    ],
)
def test_specs_that_are_not_understood(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.get_metric(spec)


def test_a_function_is_no_metric() -> None:
    with pytest.raises(TypeError, match=r"a metric or a list of them, got the function .*called directly"):
        matrics.score(CM, [lambda cm: cm.sum()])
    assert list(matrics.score(CM, (name for name in ("mcc", "f1")))) == ["mcc", "f1"]


LABELS = st.text(max_size=8) | st.integers() | st.booleans() | st.text("'\"[](),:= ab\t", max_size=6)


@pytest.mark.exhaustive
@given(st.sampled_from(sorted(matrics.list_metrics("all"))), st.lists(LABELS, max_size=3, unique_by=str), st.data())
def test_the_text_of_a_metric_is_read_as_that_metric(name: str, labels: list[Any], data: st.DataObject) -> None:
    metric = matrics.get_metric(name)
    if not labels:
        average = data.draw(st.sampled_from((None, *AVERAGES[metric.kind])))
        found = metric if average is None else metric.using(average=average)
    elif metric.kind == "per_class":
        found = metric.using(average=data.draw(st.sampled_from(OF_SEVERAL))).of_classes(tuple(labels))
    else:
        found = metric.of_classes((labels[0],))
    for again in (matrics.get_metric(str(found)), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert again == found
        assert hash(again) == hash(found)
        assert str(again) == str(found)
    assert list(resolve(f"{found}, accuracy")) == list(dict.fromkeys([str(found), "accuracy"]))
    if labels:
        known = tuple(map(str, labels))
        assert len(found.resolved_for(Classes(len(labels), known)).classes) == len(found.classes)


def test_what_depends_on_the_classes_is_not_what_is_settled() -> None:
    """A compiler that takes metrics as static arguments keeps one program for equal ones."""
    for name in ("recall", "sensitivity", "tnr"):
        metric = matrics.get_metric(name)
        assert metric == matrics.get_metric(name)
        for average in ("macro", "binary"):
            assert metric != metric.using(average=average)
    assert matrics.get_metric("sensitivity") == matrics.recall == matrics.get_metric("tpr")
    assert matrics.get_metric("sensitivity:macro") == matrics.get_metric("recall:macro")
    assert matrics.get_metric("recall[1]") == matrics.recall.using(positive=1) != matrics.recall.using(positive=0)
    assert matrics.get_metric("recall[1]").using(average="macro") == matrics.recall.using(average="macro")
    assert matrics.get_metric("f1:macro[0,1]").using(average="min") == matrics.get_metric("f1:min[0,1]")


def test_metrics_are_static_arguments() -> None:
    jax = pytest.importorskip("jax")
    traced = []

    def of(metric: matrics.Metric, cm: Any) -> Any:
        traced.append(metric)
        return matrics.score(cm, [metric], positive=0)[str(metric)]

    compiled = jax.jit(of, static_argnums=0)
    cm = jax.numpy.asarray(TEST, dtype=float)
    for spec in ("recall", "recall:macro", "recall[1]", "recall", "recall[1]"):
        metric = matrics.get_metric(spec)
        assert float(compiled(metric, cm)) == pytest.approx(float(of(metric, np.asarray(TEST))), rel=1e-6), spec
    assert len([metric for metric in traced if metric == matrics.get_metric("recall[1]")]) == 1 + 2


# Data frames as matrices ----------------------------------------------------------------------------------------------


def test_labels_of_a_data_frame_are_those_of_its_classes() -> None:
    """In their own order, and never class 1 of an alphabetical one, as ``pandas.crosstab`` has it."""
    pandas = pytest.importorskip("pandas")
    true = pandas.Series(["ok"] * 100 + ["fraud"] * 50)
    pred = pandas.Series(["ok"] * 90 + ["fraud"] * 10 + ["ok"] * 5 + ["fraud"] * 45)
    table = pandas.crosstab(true, pred)
    assert list(table.index) == ["fraud", "ok"]
    found = matrics.score(table, "recall,precision[fraud],sensitivity,mcc", positive="fraud")
    assert list(found.values())[:3] == pytest.approx([0.9, 45 / 55, 0.9])
    assert list(map(title_of, found))[:2] == ["recall of fraud", "precision of fraud"]
    for door in (matrics.score, matrics.interval):
        assert title_of(next(iter(door(table, "sensitivity")))) == "sensitivity, macro"
        with pytest.raises(ValueError, match="needs a positive class, and neither of 'fraud', 'ok' is the default"):
            door(table, "sensitivity:binary")
    assert matrics.metrics.specificity(table) == matrics.metrics.specificity(table, average="macro")
    assert matrics.metrics.specificity(table, positive="fraud") == pytest.approx(0.9)
    assert matrics.interval(table, "ppv", positive="fraud")["ppv"].estimate == pytest.approx(45 / 55)
    assert matrics.score(table, "precision") == pytest.approx({"precision": (45 / 55 + 90 / 95) / 2})
    turned = table.loc[["ok", "fraud"], ["ok", "fraud"]]
    assert title_of(next(iter(matrics.score(turned, "sensitivity")))) == "sensitivity, macro"
    assert matrics.score([turned, turned], "ppv")["ppv"].tolist() == pytest.approx([(45 / 55 + 90 / 95) / 2] * 2)
    of_fraud = matrics.score([turned, turned], "ppv:binary")["ppv:binary"]
    assert of_fraud.tolist() == pytest.approx([45 / 55] * 2)
    numbers = pandas.DataFrame(TEST, [3, 5], [3, 5])
    assert matrics.score(numbers, "ppv,precision") == pytest.approx({"ppv": 45 / 55, "precision": 45 / 55})
    assert matrics.score(pandas.DataFrame(TEST, [3, 5], [3, 5]), "precision", positive=5)["precision"] == 45 / 55
    with pytest.raises(ValueError, match=r"class_names: expected the labels .* in the order of its rows"):
        matrics.score(table, "recall[fraud]", class_names=["ok", "fraud"])
    with pytest.raises(ValueError, match="the same labels in the same order"):
        matrics.compare(table, turned, "recall", positive="fraud")
    odds = matrics.fairness.equal_opportunity([turned, table.loc[turned.index, turned.index]], positive="ok")
    assert odds.minimum == odds.maximum == pytest.approx(0.9)
    with pytest.raises(ValueError, match="needs a positive class, and neither of"):
        matrics.fairness.equal_opportunity([table, table])
    same = matrics.compare(table, table, "recall", positive="fraud")["recall"]
    assert same.difference == 0


def test_names_that_are_equal_but_of_another_kind_have_a_value_of_their_own() -> None:
    """What is kept for the names of a matrix is not used for labels that are texts, whatever came first."""
    y_true, y_pred = ["a", "a", "a", "b"], ["a", "b", "a", "b"]
    for _ in range(2):
        of_matrix = matrics.score([[2, 1], [0, 1]], "recall", class_names=["a", "b"])["recall"]
        of_labels = matrics.score_labels(y_true, y_pred, "recall")["recall"]
        assert (of_matrix, of_labels) == (1, pytest.approx(5 / 6))


def test_a_metric_that_was_called_pickles_and_is_called_with_other_sizes() -> None:
    metric = matrics.f1.using(average="macro")
    sizes = [metric(np.eye(n)) for n in (2, 3, 2)]
    assert sizes == [1, 1, 1]
    assert matrics.f1([[3, 1], [0, 2]]) == pytest.approx(4 / 5)
    assert matrics.f1([[3, 1, 0], [0, 2, 0], [0, 0, 1]]) == pytest.approx((6 / 7 + 4 / 5 + 1) / 3)
    assert pickle.loads(pickle.dumps(matrics.f1)) == matrics.f1
    assert pickle.loads(pickle.dumps(metric))(np.eye(3)) == 1
