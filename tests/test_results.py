"""What results have in common: a short text, plain numbers for JSON, and a data frame."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import study

RANDOM = np.random.default_rng(8)
CM = np.array([[45, 5], [10, 40]])
STACK = np.stack([CM, CM.T, CM + 3])
Y = np.arange(2000) % 2
SCORES = RANDOM.random(2000) + 0.4 * Y
PRED = np.where(RANDOM.random((3, 60)) < [[0.9], [0.8], [0.6]], Y[:60], 1 - Y[:60])


def frame() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"y_true": list("aabb") * 5, "y_pred": list("abbb") * 5, "site": list("xxyy") * 5})


def report() -> Any:
    for needed in ("jinja2", "matplotlib", "scipy"):
        pytest.importorskip(needed)
    return matrics.report({"net": CM, "tree": CM.T}, metrics="mcc,recall", class_names=["cat", "dog"])


def cross_validated() -> Any:
    sklearn = pytest.importorskip("matrics.sklearn")
    from sklearn.dummy import DummyClassifier

    return sklearn.cross_validate_confusion(DummyClassifier(), SCORES[:60, None], Y[:60], return_indices=True)


def judged() -> Any:
    y_true, y_judge = Y[:200], np.where(np.arange(200) % 10, Y[:200], 1 - Y[:200])
    return matrics.judged.count(y_true, y_judge, PRED[0].repeat(4)[:200], labelled=np.arange(200) < 120, num_classes=2)


#: A call for every type of results, and how many rows its data frame has.
RESULTS = {
    "Interval": (lambda: matrics.interval(STACK, "mcc")["mcc"], 3),
    "Interval of one": (lambda: matrics.interval(CM, "recall:class")["recall:class"], 2),
    "Comparison": (lambda: matrics.compare(CM, CM.T, "mcc")["mcc"], 1),
    "Comparison of pairs": (
        lambda: matrics.compare_paired(
            matrics.stats.joint_confusion_matrix(Y[:60], PRED[0], PRED[1], num_classes=2), "mcc"
        )["mcc"],
        1,
    ),
    "ModelComparison": (
        lambda: matrics.compare_models(Y[:60], PRED, "accuracy", num_classes=2, num=50, rng=0)["accuracy"],
        3,
    ),
    "McNemar": (
        lambda: matrics.stats.mcnemar(
            matrics.stats.joint_confusion_matrix(Y[:60], PRED[0], PRED[1], num_classes=2), exact=False
        ),
        1,
    ),
    "BestThreshold": (lambda: matrics.ranking.best_threshold(Y, SCORES, "f1"), 1),
    "BestThreshold with a level": (
        lambda: matrics.ranking.best_threshold(Y, SCORES, "f1", num=20, rng=0, level=0.95),
        1,
    ),
    "BrierDecomposition": (lambda: matrics.probabilities.brier_decomposition(Y, np.clip(SCORES, 0, 1)), 1),
    "Reliability": (lambda: matrics.probabilities.reliability_curve(Y, np.clip(SCORES, 0, 1), num_bins=10), 10),
    "RocCurve": (lambda: matrics.ranking.roc_curve(Y, SCORES), 2001),
    "PrecisionRecallCurve": (lambda: matrics.ranking.precision_recall_curve(Y, np.stack([SCORES, -SCORES])), 4002),
    "ThresholdCurve": (lambda: matrics.ranking.threshold_curve(Y, SCORES, "recall,mcc"), 2001),
    "Disparity": (lambda: matrics.fairness.disparity(np.array([0.5, 0.8, 0.4])), 1),
    "EqualizedOdds": (lambda: matrics.fairness.equalized_odds(STACK), 1),
    "FrameCounts": (lambda: matrics.frames.count(frame(), by="site"), 8),
    "GershgorinBounds": (lambda: matrics.study.gershgorin_bounds(STACK), 3),
    "DiscriminationLine": (lambda: study.discrimination_line("mcc", 3, [0, 0.5], hits=[0.8, 0.9]), 4),
    "PairShares": (lambda: study.consistency(SCORES[:30], SCORES[30:60]), 1),
    "Bounded": (lambda: matrics.ScoreState.zeros().update(Y, np.clip(SCORES, 0, 1)).roc_auc(), 1),
    "Agreement": (lambda: study.agreement(STACK, "recall,mcc"), 4),
    "Redundancy": (lambda: study.redundancy(STACK, "recall,mcc,accuracy"), 3),
    "Certificate": (lambda: study.certificate("accuracy", cases=20), None),
    "Reproduction": (lambda: study.reproduce("001"), 57),
    "CrossValidated": (cross_validated, 60),
    "GateResult": (lambda: matrics.gate(CM, "accuracy >= 0.8, mcc >= 0.9"), 2),
    "RequirementResult": (lambda: matrics.gate(CM, "accuracy >= 0.8").requirements[0], 1),
    "Interval of a judge": (lambda: matrics.judged.interval(judged(), "mcc")["mcc"], 1),
    "JudgeQuality": (lambda: matrics.judged.quality(judged()), 1),
    "LabelsNeeded": (lambda: matrics.judged.labels_needed(judged(), "accuracy", half_width=0.02), 1),
    "Report": (report, 4),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_short_text_plain_numbers_and_a_frame(name: str) -> None:
    make, rows = RESULTS[name]
    result = make()
    assert type(result).__name__ == name.partition(" ")[0]
    text = repr(result)
    assert type(result).__name__ in text
    assert 20 < len(text) < 1500
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain
    assert all(isinstance(key, str) for key in plain)
    if hasattr(result, "_fields"):
        assert list(plain) == list(result._asdict())
    pytest.importorskip("pandas")
    found = result.to_frame()
    assert len(found) == (len(result.verdicts) if rows is None else rows)
    assert not found.columns.duplicated().any()


def test_texts() -> None:
    one = matrics.interval(CM, "accuracy")["accuracy"]
    assert repr(one) == (
        "Interval(estimate=0.85, low=0.7672, high=0.9069, standard_error=0.03571, undefined=0, status=0)"
    )
    curve = matrics.ranking.threshold_curve(Y, SCORES, "mcc")
    assert repr(curve) == (
        "ThresholdCurve(thresholds=<float64 array of shape (2001,)>, values={'mcc': <float64 array of shape (2001,)>})"
    )
    assert repr(matrics.fairness.disparity(np.array([0.5, math.nan]))) == (
        "Disparity(minimum=0.5, maximum=0.5, difference=nan, ratio=nan, undefined=1)"
    )
    state = matrics.ConfusionState.zeros(num_classes=50)
    assert len(repr(state)) < 300


def test_json_is_strict() -> None:
    """Every null has its place and its value, so that the numbers can be had back."""
    results = [
        matrics.ranking.roc_curve([0, 1], [0.2, 0.7]),
        matrics.score(STACK, "mcc,recall:class"),
        matrics.interval([[0, 0], [0, 4]], "accuracy,mcc", class_names=["a/b", "~c"]),
        {"a/b": {"~c": [-math.inf, 1.0, math.nan]}},
    ]
    for result in results:
        text = matrics.to_json(result)
        document = json.loads(text, parse_constant=lambda name: pytest.fail(f"not strict: {name}"))
        assert list(document) == ["schema", "version", "values", "nulls"]
        for null in document["nulls"]:
            *path, last = [part.replace("~1", "/").replace("~0", "~") for part in null["at"].split("/")[1:]]
            holder = document["values"]
            for part in path:
                holder = holder[int(part) if isinstance(holder, list) else part]
            last = int(last) if isinstance(holder, list) else last
            assert holder[last] is None
            holder[last] = float(null["value"])
        assert repr(document["values"]) == repr(json.loads(json.dumps(matrics.to_dict(result))))
    assert matrics.interval(CM, "mcc")["mcc"].to_json() == matrics.to_json(matrics.interval(CM, "mcc")["mcc"])


def test_json_of_a_name_that_no_encoding_has() -> None:
    """Python writes bytes of file names that are no UTF-8 as surrogates."""
    text = matrics.to_json({"\udcffé": 1.0})
    assert '{"\\udcffé": 1.0}' in text
    assert list(json.loads(text.encode())["values"]) == ["\udcffé"]


def test_numbers_are_those_of_the_result() -> None:
    found = matrics.interval(STACK, "mcc,recall:class")
    plain = matrics.to_dict(found)
    assert plain["mcc"]["low"] == found["mcc"].low.tolist()
    assert np.shape(plain["recall:class"]["high"]) == (3, 2)
    assert matrics.to_dict(matrics.score(CM, "mcc"))["mcc"] == float(matrics.mcc(CM))
    undefined = matrics.to_dict(matrics.score([[0, 0], [0, 4]], "mcc"))["mcc"]
    assert type(undefined) is float
    assert math.isnan(undefined)
    keys = matrics.to_dict(matrics.score(CM, "recall", class_names=["a", "b"], positive="a"))
    assert [type(key) for key in keys] == [str]
    with pytest.raises(TypeError, match="scores: expected a dictionary or a result"):
        matrics.to_dict(0.5)


def test_frames_have_what_the_fields_have() -> None:
    pytest.importorskip("pandas")
    curve = matrics.ranking.threshold_curve(Y, SCORES, "recall,mcc").to_frame()
    assert list(curve.columns) == ["index_0", "thresholds", "recall of class 1", "mcc"]
    models = RESULTS["ModelComparison"][0]().to_frame()
    assert {"intervals/low", "differences/difference/0", "tied"} <= set(models.columns)
    bins = matrics.probabilities.reliability_curve(Y, np.clip(SCORES, 0, 1), num_bins=4).to_frame()
    assert bins["high"].tolist() == [0.25, 0.5, 0.75, 1]
    counts = matrics.frames.count(frame(), by="site").to_frame()
    assert counts.query("site == 'x' and true == 'a' and pred == 'b'")["count"].tolist() == [5]
    board = report().to_frame()
    assert board["measure"].tolist() == ["mcc", "recall of dog"] * 2
    assert board["value"][0] == pytest.approx(float(matrics.mcc(CM)))


@pytest.mark.sampled(2)
def test_results_of_any_library(backend: Any) -> None:
    found = matrics.interval(backend.asarray(STACK), "mcc")
    plain = json.loads(json.dumps(matrics.to_dict(found)))
    np.testing.assert_allclose(plain["mcc"]["estimate"], matrics.mcc(STACK), rtol=1e-5)
    assert "estimate=[0.7" in repr(found["mcc"])
    pytest.importorskip("pandas")
    assert found["mcc"].to_frame()["status"].tolist() == [0, 0, 0]


def test_under_a_trace_there_are_shapes() -> None:
    jax = pytest.importorskip("jax")
    texts = []

    def bounds(cm: Any) -> Any:
        found = matrics.study.gershgorin_bounds(cm)
        texts.append(repr(found))
        return found

    result = jax.jit(bounds)(jax.numpy.asarray(STACK, dtype="float32"))
    assert texts[0].startswith("GershgorinBounds(lower=<float32 array of shape (3,)>")
    assert type(result) is matrics.results.GershgorinBounds


@pytest.mark.exhaustive
def test_named_tuples_stay_what_compilers_know() -> None:
    torch = pytest.importorskip("torch")
    stack = torch.as_tensor(STACK, dtype=torch.float32)
    result = torch.vmap(matrics.study.gershgorin_bounds)(stack)
    assert type(result) is matrics.results.GershgorinBounds
    torch.testing.assert_close(result.upper, matrics.study.gershgorin_bounds(stack).upper)
    compiled = torch.compile(matrics.study.gershgorin_bounds, fullgraph=True, backend="eager")
    assert type(compiled(stack)) is matrics.results.GershgorinBounds


def test_displays_are_texts() -> None:
    pytest.importorskip("matplotlib")
    roc = matrics.plot.curve(Y, SCORES)
    assert repr(roc) == f"<CurveDisplay: {roc.describe()}>"
    many = matrics.plot.confusion_matrix(np.tile(CM, (20, 1, 1)))
    assert len(repr(many)) < 500


@pytest.mark.xdist_group("both libraries are imported")
def test_dir_has_public_names_only() -> None:
    assert {"score", "mcc", "to_dict", "plot", "__version__"} <= set(dir(matrics))
    assert not {"difflib", "importlib", "build", "costs", "naming"} & set(dir(matrics))
    assert all(hasattr(matrics, name) for name in dir(matrics))


def test_optional_fields() -> None:
    """Where they do not apply they are None, and no elements; where they do they are both."""
    plain = matrics.interval(CM, "mcc")["mcc"]
    estimate, low, *_ = plain
    assert (len(plain), plain.effective_labels, plain.estimate, plain.low) == (6, None, estimate, low)
    assert list(plain.to_dict()) == ["estimate", "low", "high", "standard_error", "undefined", "status"]
    found = matrics.judged.interval(judged(), "mcc")["mcc"]
    assert (len(found), found[6]) == (7, found.effective_labels)
    assert list(found.to_dict())[-1] == "effective_labels"
    assert repr(found).startswith("Interval(estimate=")
    assert isinstance(found, matrics.Interval)
    more = plain._replace(effective_labels=12.0)
    assert more[:6] == plain
    assert type(more) is type(found)
    assert more._replace(effective_labels=None) == plain
    assert type(more._replace(effective_labels=None)) is matrics.Interval
    without = matrics.results.Comparison(1, 2, 3, 4, 5, 6, effective_labels=7)
    assert tuple(without) == (1, 2, 3, 4, 5, 6, 7)
    assert (without.unpaired_width, without.effective_labels, "unpaired" in repr(without)) == (None, 7, False)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'status'"):
        matrics.Interval(1, 2, 3, 4, 5)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        plain.low = 3  # type: ignore[misc]


@pytest.mark.parametrize("name", ["Interval", "Comparison of pairs", "ModelComparison", "BestThreshold with a level"])
def test_results_are_pickled_and_copied(name: str) -> None:
    result = RESULTS[name][0]()
    for same in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(same) is type(result)
        assert repr(same) == repr(result)
        assert json.dumps(same.to_dict()) == json.dumps(result.to_dict())


def test_results_are_trees_of_arrays() -> None:
    """With the optional fields that they have, and without None, of which PyTorch makes a leaf."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    for result in (RESULTS[name][0]() for name in ("Interval", "Comparison of pairs", "BestThreshold with a level")):
        paths, tree = jax.tree_util.tree_flatten_with_path(result)
        assert [str(path[0]) for path, _ in paths if len(path) == 1][:2] == [f".{one}" for one in result._fields[:2]]
        assert type(jax.tree_util.tree_unflatten(tree, [leaf for _, leaf in paths])) is type(result)
        leaves, spec = torch.utils._pytree.tree_flatten(result)
        assert len(leaves) == len(paths)
        assert repr(torch.utils._pytree.tree_unflatten(leaves, spec)) == repr(result)
    stack = torch.as_tensor(STACK, dtype=torch.float32)
    mapped = torch.vmap(lambda cm: matrics.interval(cm, "accuracy")["accuracy"])(stack)
    np.testing.assert_allclose(mapped.low, matrics.interval(STACK, "accuracy")["accuracy"].low, rtol=1e-4)
