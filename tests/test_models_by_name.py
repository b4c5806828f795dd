"""Models by name: compare_models, the pictures of models and of matrices, and reports take a mapping."""

from __future__ import annotations

import importlib
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sklearn.metrics as sk

import matrics

if TYPE_CHECKING:
    from conftest import Backend

RANDOM = np.random.default_rng(6)
TRUE = RANDOM.integers(0, 3, 120)
NAMES = np.array(["cat", "dog", "owl"])
MODELS = {
    name: np.where(RANDOM.random(120) < share, TRUE, RANDOM.integers(0, 3, 120))
    for name, share in (("good", 0.9), ("middling", 0.6), ("bad", 0.2))
}
OPTIONS: dict[str, Any] = {"num_classes": 3, "num": 100, "rng": 0}


def test_a_mapping_is_the_stack_of_its_values(backend: Backend) -> None:
    arrays = {name: backend.asarray(labels) for name, labels in MODELS.items()}
    found = matrics.compare_models(backend.asarray(TRUE), arrays, ["mcc", "recall:class"], **OPTIONS)
    wanted = matrics.compare_models(TRUE, list(MODELS.values()), ["mcc", "recall:class"], **OPTIONS)
    for key, one in found.items():
        assert one.names == ("good", "middling", "bad")
        assert wanted[key].names is None
        np.testing.assert_array_equal(one.tied, wanted[key].tied)
        np.testing.assert_array_equal(one.differences.low, wanted[key].differences.low)
    scores = [sk.matthews_corrcoef(TRUE, labels) for labels in MODELS.values()]
    np.testing.assert_allclose(found["mcc"].intervals.estimate, scores)


def test_labels_of_any_kind() -> None:
    wanted = matrics.compare_models(TRUE, MODELS, "accuracy", **OPTIONS)["accuracy"].intervals.estimate
    kinds: list[Any] = [lambda codes: NAMES[codes], lambda codes: NAMES[codes].tolist()]
    for library in ("pandas", "polars"):
        if importlib.util.find_spec(library):
            series = importlib.import_module(library).Series
            kinds.append(lambda codes, series=series: series(NAMES[codes].tolist()))
    options = {**OPTIONS, "num_classes": None, "labels": NAMES}
    for make in kinds:
        mixed = {name: make(codes) if name != "bad" else NAMES[codes].astype(object) for name, codes in MODELS.items()}
        found = matrics.compare_models(make(TRUE), mixed, "accuracy", **options)["accuracy"]
        np.testing.assert_array_equal(found.intervals.estimate, wanted)
    numbers = {name: labels.tolist() if name == "good" else labels.astype(np.int8) for name, labels in MODELS.items()}
    found = matrics.compare_models(TRUE.tolist(), numbers, "accuracy", **OPTIONS)["accuracy"]
    np.testing.assert_array_equal(found.intervals.estimate, wanted)


def test_results_keep_the_names() -> None:
    pytest.importorskip("pandas")
    found = matrics.compare_models(TRUE, MODELS, ["recall", "recall:class"], class_names=NAMES.tolist(), **OPTIONS)
    assert {one.names for one in found.values()} == {("good", "middling", "bad")}
    assert list(found) == ["recall", "recall/cat", "recall/dog", "recall/owl"]
    one = found["recall"]
    assert pickle.loads(pickle.dumps(one)).names == one.names
    assert "names=['good', 'middling', 'bad']" in repr(one)
    assert one.to_dict()["names"] == ["good", "middling", "bad"]
    frame = one.to_frame()
    assert frame.columns[0] == "model"
    assert frame["model"].tolist() == ["good", "middling", "bad"]
    assert frame["tied"].tolist() == one.tied.tolist()
    nameless = matrics.compare_models(TRUE, list(MODELS.values()), "recall", **OPTIONS)["recall"]
    assert "names" not in repr(nameless)
    assert "model" not in nameless.to_frame()


@pytest.mark.parametrize(
    ("y_pred", "message"),
    [
        ({}, "y_pred: expected predictions by names of models, got an empty mapping"),
        ({"a": TRUE, "b": TRUE[:3]}, r"labels \(N,\) that each model predicts .* got 'a' \(120,\), 'b' \(3,\)"),
        ({"a": np.stack([TRUE, TRUE])}, r"got 'a' \(2, 120\)"),
        ({1: TRUE, "1": TRUE}, "got '1' twice"),
        ({"a": TRUE, "b": TRUE + 1}, r"y_pred: expected labels in \[0, 3\), got 3"),
    ],
)
def test_errors(y_pred: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.compare_models(TRUE, y_pred, "accuracy", **OPTIONS)


def test_the_picture_of_models() -> None:
    plot = pytest.importorskip("matplotlib") and importlib.import_module("matrics.plot")
    found = matrics.compare_models(TRUE, MODELS, "accuracy, mcc", **OPTIONS)
    display = plot.models(found)
    assert display.names == ["good", "middling", "bad"]
    assert "the best is good" in display.describe()
    direct = plot.ModelsDisplay.from_predictions(TRUE, MODELS, "accuracy, mcc", **OPTIONS)
    assert direct.describe() == display.describe()
    matrices = {name: sk.confusion_matrix(TRUE, labels) for name, labels in MODELS.items()}
    of_matrices = plot.models(matrices, "mcc, f1")
    assert of_matrices.names == display.names
    assert [measure.name for measure in of_matrices.measures] == ["mcc", "f1, macro"]
    wanted = matrics.interval(np.stack(list(matrices.values())), "mcc")["mcc"]
    np.testing.assert_array_equal(of_matrices.measures[0].low, wanted.low)
    assert len(plot.models(matrices).measures) == len(matrics.interval(matrices["good"]))
    for given in (found, matrices):
        with pytest.raises(TypeError, match=r"names: expected None, as the models have names, 'good', .* got"):
            plot.models(given, names=["a", "b", "c"])
    with pytest.raises(TypeError, match="names: expected None, as the models have names"):
        plot.ModelsDisplay.from_predictions(TRUE, MODELS, "accuracy", names=["a", "b", "c"], **OPTIONS)
    with pytest.raises(TypeError, match="metrics: expected None with results"):
        plot.models(found, "mcc")
    with pytest.raises(ValueError, match="results: expected a matrix for each name, all of the same classes"):
        plot.models({"a": np.eye(2), "b": np.eye(3)})
    with pytest.raises(ValueError, match=r"results: expected the same models .* several lists of names"):
        plot.models({"accuracy": found["accuracy"], "mcc": found["mcc"]._replace(names=("x", "y", "z"))})


def test_the_picture_of_a_matrix_counts_labels() -> None:
    plot = pytest.importorskip("matplotlib") and importlib.import_module("matrics.plot")
    display = plot.confusion_matrix(y_true=NAMES[TRUE], y_pred=NAMES[MODELS["good"]])
    np.testing.assert_array_equal(display.matrices[0], sk.confusion_matrix(TRUE, MODELS["good"]))
    assert display.class_names == ("cat", "dog", "owl")
    order = ["owl", "cat", "dog"]
    several = plot.confusion_matrix(
        y_true=NAMES[TRUE], y_pred={name: NAMES[labels] for name, labels in MODELS.items()}, labels=order
    )
    assert several.names == ["good", "middling", "bad"]
    assert several.class_names == tuple(order)
    for matrix, labels in zip(several.matrices, MODELS.values(), strict=True):
        np.testing.assert_array_equal(matrix, sk.confusion_matrix(NAMES[TRUE], NAMES[labels], labels=order))
    named = plot.confusion_matrix(y_true=TRUE, y_pred=MODELS["good"], class_names=["a", "b", "c"])
    assert named.class_names == ("a", "b", "c")
    for given, got in (
        ({}, "nothing"),
        ({"cm": np.eye(2), "y_true": [0, 1]}, "cm, y_true"),
        ({"y_true": [0, 1]}, "y_true"),
        ({"cm": np.eye(2), "labels": [0, 1]}, "cm, labels"),
    ):
        with pytest.raises(TypeError, match=f"expected either cm, or y_true= and y_pred= .*, got {got}$"):
            plot.confusion_matrix(**given)


def test_a_report() -> None:
    for library in ("jinja2", "matplotlib", "scipy", "pyarrow"):
        pytest.importorskip(library)
    rows = {
        "model": np.repeat(list(MODELS), len(TRUE)),
        "sample": np.tile(np.arange(len(TRUE)), len(MODELS)),
        "y_true": np.tile(NAMES[TRUE], len(MODELS)),
        "y_pred": np.concatenate([NAMES[labels] for labels in MODELS.values()]),
    }
    wanted = matrics.report(rows, by="model", paired_on="sample", num=100)
    by_name = {name: NAMES[labels].tolist() for name, labels in MODELS.items()}
    report = matrics.report(by_name, y_true=NAMES[TRUE].tolist(), num=100)
    assert report.describe() == wanted.describe()
    with pytest.raises(ValueError, match="y_true: expected a label for each of 120 predictions, got 5 labels"):
        matrics.report(by_name, y_true=NAMES[TRUE][:5])
    with pytest.raises(
        TypeError, match="groups: expected no name of a column with a mapping of predictions, got 'site'"
    ):
        matrics.report(by_name, y_true=NAMES[TRUE], groups="site")
    with pytest.raises(TypeError, match=r"data: expected a mapping of names of models to predictions, .* got list"):
        matrics.report([TRUE], y_true=TRUE)
