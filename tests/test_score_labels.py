"""score_labels() and classification_report(): from labels of any kind to measures in one call."""

from __future__ import annotations

import importlib.util
import math
import pickle
import warnings
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sklearn.metrics as sk
from lazily import LazyModule

import matrics
from matrics._catalogue.naming import title_of

if TYPE_CHECKING:
    from conftest import Backend

RANDOM = np.random.default_rng(33)
NAMES = np.array(["cat", "dog", "owl"])


def samples(number: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of classes, three in four predicted correctly; every class is true, and predicted."""
    true = RANDOM.integers(0, 3, number)
    return true, np.where(RANDOM.random(number) < 0.75, true, RANDOM.integers(0, 3, number))


def kinds() -> dict[str, Any]:
    """Labels of three classes in every form in which they come, by what makes them of class numbers."""
    found: dict[str, Any] = {
        "text": lambda codes: NAMES[codes],
        "list": lambda codes: NAMES[codes].tolist(),
        "objects": lambda codes: NAMES[codes].astype(object),
        "numbers": lambda codes: codes,
        "other numbers": lambda codes: 2 * codes - 1,
        "list of numbers": lambda codes: codes.tolist(),
        "small": lambda codes: codes.astype(np.uint8),
    }
    for library in ("pandas", "polars", "pyarrow", "torch"):
        if importlib.util.find_spec(library) is not None:
            found |= {f"{library} {name}": make for name, make in of_library(library, LazyModule(library)).items()}
    return found


def of_library(name: str, module: Any) -> dict[str, Any]:
    if name == "pandas":
        return {
            "text": lambda codes: module.Series(NAMES[codes], index=range(9, 9 + len(codes))),
            "categories": lambda codes: module.Series(NAMES[codes], dtype="category"),
            "Categorical": lambda codes: module.Categorical(NAMES[codes]),
            "nullable": lambda codes: module.Series(codes, dtype="Int64"),
            "string": lambda codes: module.Series(NAMES[codes], dtype="string"),
        }
    if name == "polars":
        return {
            "text": lambda codes: module.Series(NAMES[codes].tolist()),
            "Categorical": lambda codes: module.Series(NAMES[codes].tolist(), dtype=module.Categorical),
            "Enum": lambda codes: module.Series(NAMES[codes].tolist(), dtype=module.Enum(NAMES.tolist())),
        }
    if name == "pyarrow":
        return {"text": lambda codes: module.array(NAMES[codes].tolist())}
    return {"": lambda codes: module.as_tensor(codes)}  # noqa: PLW0108  # PyTorch is imported by the test


KINDS = kinds()
SPECS = ["accuracy", "f1", "f1:weighted", "mcc", "recall:class"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_kind(kind: str) -> None:
    true, pred = samples()
    scores = matrics.score_labels(KINDS[kind](true), KINDS[kind](pred), SPECS)
    wanted = {
        "accuracy": sk.accuracy_score(true, pred),
        "f1": sk.f1_score(true, pred, average="macro"),
        "f1:weighted": sk.f1_score(true, pred, average="weighted"),
        "mcc": sk.matthews_corrcoef(true, pred),
    }
    recall = sk.recall_score(true, pred, average=None)
    wanted |= {f"recall/{label}": value for label, value in zip(scores.labels, recall, strict=True)}
    assert {name: float(value) for name, value in scores.items()} == pytest.approx(wanted)
    labels = KINDS[kind](np.arange(3))
    assert list(scores.labels) == (labels.to_pylist() if hasattr(labels, "to_pylist") else list(labels))
    np.testing.assert_array_equal(scores.matrix, sk.confusion_matrix(true, pred))
    assert matrics.to_dict(scores) == {name: float(value) for name, value in scores.items()}


def test_the_result_says_which_classes_it_found() -> None:
    scores = matrics.score_labels(["b", "a"], ["b", "a"], "accuracy")
    assert repr(scores) == f"LabelScores({{'accuracy': {scores['accuracy']!r}}}, labels=('a', 'b'))"
    many = [f"id{place}" for place in range(1000)]
    assert repr(matrics.score_labels(many, many, "accuracy")).endswith("'id103', 'id104', …))")
    again = pickle.loads(pickle.dumps(scores))
    assert again == scores
    assert again.labels == ("a", "b")
    np.testing.assert_array_equal(again.matrix, np.eye(2))
    assert matrics.score_labels([True, False], [True, False], "accuracy").labels == (False, True)


@pytest.mark.sampled(2)
def test_as_score_of_the_matrix(backend: Backend) -> None:
    """On every library; a batch of models; weights; samples to leave out; classes that are given."""
    true, one = samples(60)
    pred, weight = np.stack([one, np.roll(one, 1)]), RANDOM.random(60).astype(np.float32)
    arrays = [backend.asarray(x) for x in (true, pred, weight)]
    found = matrics.score_labels(*arrays[:2], "mcc", sample_weight=arrays[2], ignore_index=0)
    kept = true > 0
    for k, predicted in enumerate(pred):
        wanted = sk.matthews_corrcoef(true[kept], predicted[kept], sample_weight=weight[kept])
        assert backend.numpy(found["mcc"])[k] == pytest.approx(wanted, rel=1e-5)
    assert found.labels == (0, 1, 2)  # 0 is predicted for other samples
    one_only = matrics.score_labels(arrays[0], arrays[0], "accuracy", ignore_index=[0, 2])
    assert one_only.labels == (1,)
    given = matrics.score_labels(*arrays[:2], "recall:class", labels=[2, 1, 0])
    assert list(given) == ["recall/2", "recall/1", "recall/0"]
    np.testing.assert_allclose(
        [backend.numpy(given[f"recall/{k}"])[0] for k in range(3)], sk.recall_score(true, one, average=None), rtol=1e-5
    )


def test_the_positive_class() -> None:
    true, pred = samples(80)
    y_true, y_pred = np.array(["ok", "fraud"])[true % 2], np.array(["ok", "fraud"])[pred % 2]
    for positive in ("ok", "fraud"):
        scores = matrics.score_labels(y_true, y_pred, "recall, sensitivity, f1:binary", positive=positive)
        assert scores["recall"] == scores["sensitivity"] == sk.recall_score(y_true, y_pred, pos_label=positive)
        assert scores["f1:binary"] == pytest.approx(sk.f1_score(y_true, y_pred, pos_label=positive))
    with pytest.raises(ValueError, match="sensitivity:binary needs a positive class, and neither of 'fraud', 'ok'"):
        matrics.score_labels(y_true, y_pred, "sensitivity:binary")
    mean = sk.recall_score(y_true, y_pred, average="macro")
    for labels in (None, ["fraud", "ok"], ["ok", "fraud"]):
        found = matrics.score_labels(y_true, y_pred, "sensitivity, recall", labels=labels)
        assert list(found.values()) == pytest.approx([mean, mean])
        assert list(map(title_of, found)) == ["sensitivity, macro", "recall, macro"]
    given = matrics.score_labels(y_true, y_pred, "recall:binary", labels=["fraud", "ok"])
    assert given["recall:binary"] == sk.recall_score(y_true, y_pred, pos_label="ok")
    for zero in (0, "0", False):  # numbers, booleans and texts for them: the higher one is positive
        one = type(zero)(1)
        found = matrics.score_labels(np.array([zero, one])[true % 2], np.array([zero, one])[pred % 2], "recall, tpr")
        assert list(found.values()) == pytest.approx([sk.recall_score(true % 2, pred % 2)] * 2)


def test_categories_keep_their_order() -> None:
    pandas = pytest.importorskip("pandas")
    kind = pandas.CategoricalDtype(["low", "high", "never"], ordered=True)
    y_true, y_pred = pandas.Series(["high", "low"], dtype=kind), pandas.Series(["high", "high"], dtype=kind)
    assert matrics.score_labels(y_true, y_pred, "accuracy").labels == ("low", "high", "never")
    assert matrics.score_labels(y_true, y_pred, "accuracy", ignore_index="never").labels == ("low", "high")


def test_classes_of_a_compiled_step_are_given() -> None:
    jax = pytest.importorskip("jax")
    y = np.array([3, 5, 3, 5])
    with pytest.raises(TypeError, match=r"y_true: .* traced DynamicJaxprTracer: pass the classes as labels="):
        jax.jit(lambda a: matrics.score_labels(a, a, "accuracy")["accuracy"])(y)
    assert jax.jit(lambda a: matrics.score_labels(a, a, "accuracy", labels=[3, 5])["accuracy"])(y) == 1


@pytest.mark.exhaustive
def test_classes_of_a_graph_are_given() -> None:
    torch = pytest.importorskip("torch")
    y = torch.tensor([3, 5, 3, 5])

    def accuracy(y: Any, labels: Any) -> Any:
        return matrics.score_labels(y, y, "accuracy", labels=labels)["accuracy"]

    compiled = torch.compile(accuracy, fullgraph=True, backend="aot_eager")
    assert compiled(y, [3, 5]) == 1
    with pytest.raises(Exception, match="pass the classes as labels="):
        compiled(y, None)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "error", "message"),
    [
        (["a", None], ["a", "b"], ValueError, r"y_true: .* a label for every sample, got 1 of 2 missing, .* \(1,\)"),
        (["a", "b"], ["a", ""], ValueError, r"y_pred: .* a label for every sample, got 1 of 2 missing"),
        (["a", math.nan], ["a", "b"], ValueError, r"y_true: .* got 1 of 2 missing, the first at \(1,\)"),
        ([0.0, 0.5], [0, 1], ValueError, r"y_true: expected labels, .* got 0.5, which is not whole"),
        ([0, 1], [0.5, 0.2], ValueError, r"y_pred: .* got 0.5, which is not whole; of class scores .* labels="),
        (["a", "b"], [1, 2], TypeError, r"labels of the same kind, .* got 'b', 2: pass the classes as labels="),
        ([], [], ValueError, r"expected at least one sample, got none: pass the classes as labels="),
        ([["a"], "b"], ["a", "b"], TypeError, r"y_true: expected labels that can be compared and hashed, got \['a'\]"),
        (["a", "b"], ["a", "b", "b"], ValueError, "expected the same samples"),
        (np.ma.array([0, 1]), [0, 1], TypeError, "y_true: expected an array without a mask"),
    ],
)
def test_errors(y_true: Any, y_pred: Any, error: type[Exception], message: str) -> None:
    for call in (matrics.score_labels, matrics.classification_report):
        with pytest.raises(error, match=message):
            call(y_true, y_pred)


def test_labels_that_are_probably_mistakes() -> None:
    with pytest.warns(UserWarning, match="'dog' and 'Dog' are different classes; pass the classes .* as labels="):
        matrics.score_labels(["cat", "dog"], ["cat", "Dog"], "accuracy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrics.score_labels(["cat", "dog"], ["cat", "cat"], "accuracy", labels=["cat", "dog"])
    with pytest.raises(ValueError, match="y_pred: expected one of the labels 'cat', got 'dog'"):
        matrics.score_labels(["cat", "cat"], ["cat", "dog"], "accuracy", labels=["cat"])


# The report -----------------------------------------------------------------------------------------------------------


def checked(report: Any, wanted: dict[str, Any]) -> None:
    """All values are those of scikit-learn's dictionary."""
    rows = dict(zip(report.names, range(len(report.names)), strict=True))
    assert list(rows) == list(wanted)
    for name, row in rows.items():
        if name == "accuracy":
            assert report.f1.estimate[row] == pytest.approx(wanted[name])
            assert math.isnan(report.precision.estimate[row])
            continue
        found = [one.estimate[row] for one in (report.precision, report.recall, report.f1)]
        np.testing.assert_allclose([*found, report.support[row]], list(wanted[name].values()), err_msg=name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("zero_division", [math.nan, 0.0, 1.0])
def test_the_values_are_those_of_scikit_learn(*, weighted: bool, zero_division: float) -> None:
    true, pred = samples(90)
    weight = RANDOM.random(90) if weighted else None
    true, pred = np.where(true == 2, 0, true), np.where(pred == 1, 0, pred)  # no sample of owls, no prediction of dogs
    options: dict[str, Any] = {"zero_division": zero_division, "sample_weight": weight}
    wanted = sk.classification_report(NAMES[true], NAMES[pred], output_dict=True, **options)
    with pytest.warns(UserWarning, match="only among the true labels: 'dog'"):
        checked(matrics.classification_report(NAMES[true], NAMES[pred], **options), wanted)
    checked(matrics.classification_report(NAMES[true], NAMES[pred], labels=NAMES, **options), wanted)


def test_the_limits() -> None:
    """Wilson's interval of a proportion, by hand; those of interval() for the others, and wider with weights."""
    true, pred = samples()
    report = matrics.classification_report(NAMES[true], NAMES[pred], level=0.9)
    z = NormalDist().inv_cdf(0.95)
    for k in range(3):
        trials = np.count_nonzero(true == k)
        share = np.count_nonzero((true == k) & (pred == k)) / trials
        centre = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
        reach = z / (1 + z**2 / trials) * math.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
        assert report.recall.low[k] == pytest.approx(centre - reach)
        assert report.recall.high[k] == pytest.approx(centre + reach)
    wanted = matrics.interval(sk.confusion_matrix(true, pred), ["f1", "accuracy"], level=0.9)
    assert report.f1.low[-2] == wanted["f1"].low
    assert report.f1.high[-3] == wanted["accuracy"].high
    weight = RANDOM.exponential(size=300) ** 2
    weighted = matrics.classification_report(true, pred, sample_weight=weight, level=0.9)
    counts = [sk.confusion_matrix(true, pred, sample_weight=w) for w in (weight, weight**2)]
    wanted = matrics.interval(counts[0], "f1:weighted", squared_weights=counts[1], level=0.9)
    assert weighted.f1.low[-1] == pytest.approx(wanted["f1:weighted"].low)


def test_the_table() -> None:
    true, pred = samples(3000)
    text = str(matrics.classification_report(NAMES[true], NAMES[pred]))
    lines = text.split("\n")
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[2:5]] == NAMES.tolist()
    cell = f"{sk.f1_score(true, pred, average='macro'):.2f}"
    assert next(line for line in lines if line.startswith("macro avg")).split()[-4] == cell
    assert lines[-1] == "in brackets: 95 % limits"
    few = str(
        matrics.classification_report(
            ["a", "b", "a very long name of a class"], ["a"] * 3, labels=["a", "b", "a very long name of a class"]
        )
    )
    assert max(len(line) for line in few.split("\n")) <= 80
    assert "a very long n…" in few
    assert "– undefined: no true sample of the class" in few
    assert "few samples" in few
    named = str(matrics.classification_report(true, pred, class_names=NAMES, sample_weight=np.full(3000, 0.5)))
    assert "owl" in named
    assert named.split("\n")[2].rsplit(maxsplit=1)[-1] == f"{np.count_nonzero(true == 0) / 2:,.1f}"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_as_a_frame(library: Any) -> None:
    pytest.importorskip(library)
    true, pred = samples()
    report = matrics.classification_report(NAMES[true], NAMES[pred])
    frame = report.to_frame(library=library)
    assert frame["class"].to_list() == ["cat", "dog", "owl", "accuracy", "macro avg", "weighted avg"]
    assert list(frame.columns[1:6]) == [
        f"precision{end}" for end in ("", "/low", "/high", "/standard_error", "/status")
    ]
    np.testing.assert_array_equal(frame["f1/low"].to_numpy(), report.f1.low)
    assert frame["support"].to_list()[-1] == 300
    if library == "pandas":
        other = matrics.classification_report(NAMES[true], NAMES[pred], as_frame=True)
        assert other.equals(frame)
    assert report.to_dict()["recall"]["low"][:3] == report.recall.low[:3].tolist()


def test_a_report_of_tensors_and_of_one_model(backend: Backend) -> None:
    true, pred = samples(100)
    report = matrics.classification_report(backend.asarray(true), backend.asarray(pred))
    wanted = matrics.classification_report(true, pred)
    assert str(report) == str(wanted) == repr(wanted)
    with pytest.raises(ValueError, match=r"expected the labels of a single model, \(N,\), got matrices \(2, 3, 3\)"):
        matrics.classification_report(backend.asarray(true), backend.asarray(np.stack([pred, pred])))
    with pytest.raises(ValueError, match="level: expected"):
        matrics.classification_report(true, pred, level=1.5)
    with pytest.raises(ValueError, match="class_names"):
        matrics.classification_report(true, pred, class_names=["a"])
