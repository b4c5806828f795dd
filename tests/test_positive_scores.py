"""positive= at every door that takes scores: a label of any kind, which counts as 1."""

from __future__ import annotations

import importlib.util
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sklearn.metrics as sk
from public_names import functions

import matrics
from matrics import ScoreState
from matrics._catalogue.naming import title_of

if TYPE_CHECKING:
    from conftest import Backend

RANDOM = np.random.default_rng(28)


def best_interval(y: Any, s: Any, **options: Any) -> Any:
    return matrics.ranking.best_threshold(y, s, "f1", level=0.95, num=20, rng=0, **options).value_interval.estimate


# Every function of two classes, with what else it needs.
DOORS: dict[str, Any] = {
    "ranking.roc_auc": matrics.ranking.roc_auc,
    "ranking.roc_auc_variance": matrics.ranking.roc_auc_variance,
    "ranking.average_precision": matrics.ranking.average_precision,
    "ranking.partial_roc_auc": lambda y, s, **o: matrics.ranking.partial_roc_auc(y, s, max_fpr=0.3, **o),
    "ranking.precision_at_recall": lambda y, s, **o: matrics.ranking.precision_at_recall(y, s, 0.7, **o),
    "ranking.precision_at_k": lambda y, s, **o: matrics.ranking.precision_at_k(y, s, 3, **o),
    "ranking.recall_at_k": lambda y, s, **o: matrics.ranking.recall_at_k(y, s, 3, **o),
    "ranking.lift_at_k": lambda y, s, **o: matrics.ranking.lift_at_k(y, s, 3, **o),
    "ranking.recall_at_precision": lambda y, s, **o: matrics.ranking.recall_at_precision(y, s, 0.5, **o),
    "ranking.recall_at_specificity": lambda y, s, **o: matrics.ranking.recall_at_specificity(y, s, 0.7, **o),
    "ranking.decision_curve": lambda y, s, **o: (
        matrics.ranking.decision_curve(y, s, [0.3], num=9, rng=0, **o).net_benefit.estimate
    ),
    "probabilities.interval": lambda y, s, **o: (
        matrics.probabilities.interval(y, np.clip(s, 0.01, 0.99), "observed_expected_ratio", **o)[
            "observed_expected_ratio"
        ].estimate
    ),
    "ranking.interval": lambda y, s, **o: matrics.ranking.interval(y, s, "roc_auc", **o)["roc_auc"].low,
    "ranking.compare": lambda y, s, **o: matrics.ranking.compare(y, [s, s], "roc_auc", **o)["roc_auc"].intervals.low,
    "ranking.roc_curve": lambda y, s, **o: matrics.ranking.roc_curve(y, s, **o).tpr,
    "ranking.precision_recall_curve": lambda y, s, **o: matrics.ranking.precision_recall_curve(y, s, **o).precision[
        ..., 1:
    ],
    "ranking.confusion_matrix": lambda y, s, **o: matrics.ranking.confusion_matrix(y, s, [0.2, 0.7], **o),
    "ranking.threshold_curve": lambda y, s, **o: matrics.ranking.threshold_curve(y, s, "recall", **o)["recall"],
    "thresholds=": lambda y, s, **o: matrics.ranking.threshold_curve(y, s, "npv", thresholds=[0.2, 0.7], **o)["npv"],
    "ranking.best_threshold": lambda y, s, **o: matrics.ranking.best_threshold(y, s, "f1", **o).value,
    "ranking.best_threshold with a level": best_interval,
    "probabilities.brier_score": matrics.probabilities.brier_score,
    "probabilities.brier_decomposition": lambda y, s, **o: (
        matrics.probabilities.brier_decomposition(y, s, **o).resolution
    ),
    "probabilities.log_loss": matrics.probabilities.log_loss,
    "logits": lambda y, s, **o: matrics.probabilities.log_loss(y, logits=s, **o),
    "probabilities.expected_calibration_error": matrics.probabilities.expected_calibration_error,
    "probabilities.reliability_curve": lambda y, s, **o: (
        matrics.probabilities.reliability_curve(y, s, num_bins=2, **o).share_of_positives
    ),
}


def samples(number: int = 60) -> tuple[np.ndarray, np.ndarray]:
    y = RANDOM.permutation(np.arange(number) % 2)
    return y, np.clip((y + RANDOM.normal(1, 1, number)) / 4, 0.01, 0.99)


def test_every_function_of_scores_is_a_door() -> None:
    """Those that say which class counts by themselves are functions of all classes, or of soft counts."""
    words = {name: set(inspect.signature(function).parameters) for name, function in functions().items()}
    of_scores = {
        name for name, found in words.items() if found & {"y_score", "y_prob"} and name not in {"report", "gate"}
    }
    assert {name for name in of_scores if "positive" not in words[name]} == {
        *("soft_confusion_matrix", "ranking.top_k_accuracy", "ranking.top_k_recall"),
        "ranking.score_drift",  # of scores without labels
    }
    assert {name for name in of_scores if "positive" in words[name]} <= set(DOORS)


def texts() -> dict[str, Any]:
    """Two texts in every form in which they come."""
    y = ["ok", "fraud", "ok", "fraud", "ok"]
    made: dict[str, dict[str, Any]] = {
        "pandas": {
            "Series": lambda pd: pd.Series(y),
            "categories": lambda pd: pd.Series(y, dtype="category"),
            "Categorical": lambda pd: pd.Categorical(y),
        },
        "polars": {
            "Polars": lambda pl: pl.Series(y),
            "Enum": lambda pl: pl.Series(y, dtype=pl.Enum(["ok", "fraud"])),
        },
        "pyarrow": {
            "pyarrow": lambda pa: pa.array(y),
            "dictionary": lambda pa: pa.array(y).dictionary_encode(),
        },
    }
    found: dict[str, Any] = {"bytes": np.array(y, "S"), "texts of NumPy": list(np.array(y)), "tuple": tuple(y)}
    for library, makers in made.items():
        if importlib.util.find_spec(library):
            module = importlib.import_module(library)
            found |= {name: make(module) for name, make in makers.items()}
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", texts())
def test_text_of_any_kind(kind: str) -> None:
    """Without ``positive=`` both are offered: the order of two texts makes neither of them positive."""
    labels, s = texts()[kind], [0.1, 0.35, 0.4, 0.8, 0.5]
    positive: Any = b"fraud" if kind == "bytes" else "fraud"
    for call in DOORS.values():
        np.testing.assert_allclose(call(labels, s, positive=positive), call([0, 1, 0, 1, 0], s), equal_nan=True)
        with pytest.raises(ValueError, match=r"positive=b?'fraud' or positive=b?'ok'$"):
            call(labels, s)


def test_numbers_with_texts() -> None:
    labels, s = [1, "fraud", 1, "fraud"], [0.1, 0.35, 0.4, 0.8]
    assert matrics.ranking.roc_auc(labels, s, positive="fraud") == matrics.ranking.roc_auc([0, 1, 0, 1], s)
    with pytest.raises(TypeError, match="pass the class of the scores as positive="):
        matrics.ranking.roc_auc(labels, s)
    with pytest.raises(ValueError, match="a label for every sample, got 1 of 4 missing"):
        matrics.ranking.roc_auc([None, "fraud", "ok", "fraud"], s, positive="fraud")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("door", DOORS)
def test_labels_of_any_kind_are_those_of_0_and_1(door: str) -> None:
    call = DOORS[door]
    y, s = samples()
    wanted = call(y, s)
    names = np.array(["ok", "fraud"])
    for labels, positive in (
        (names[y], "fraud"),
        (names[y].tolist(), "fraud"),
        (names[y].astype(object), np.str_("fraud")),
        (y == 1, True),
        (2 * y - 1, 1),
        (7 - y, 6),
        (y, "1"),  # as the command line has it
        (1 - y, 0),
    ):
        np.testing.assert_allclose(call(labels, s, positive=positive), wanted, equal_nan=True)
    np.testing.assert_allclose(call(y, s, positive=0), call(1 - y, s), equal_nan=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("door", DOORS)
def test_more_labels_are_the_rest(door: str) -> None:
    """With scores of every class, positive= picks those of one."""
    call = DOORS[door]
    y, s = RANDOM.integers(0, 3, 50), RANDOM.dirichlet(np.ones(3), 50)
    wanted = call((y == 2).astype(int), s[:, 2])
    np.testing.assert_allclose(call(y, s[:, 2], positive=2), wanted, equal_nan=True)
    np.testing.assert_allclose(call(np.array(["b", "c", "a"])[y], s[:, 2], positive="a"), wanted, equal_nan=True)
    if door == "logits":
        return
    np.testing.assert_allclose(call(y, s, positive=2), wanted, equal_nan=True)
    with pytest.raises(ValueError, match="positive: expected the number of a class, from 0 to 2"):
        call(y, s, positive=3)
    with pytest.raises(ValueError, match=r"positive: expected integers in y_true .* pass labels=.*, y_.*\[\.\.\., k\]"):
        call(np.array(["b", "c", "a"])[y], s, positive="a")


def test_scikit_learn_says_the_same() -> None:
    y, s = samples(200)
    labels = np.array(["ok", "fraud"])[y]
    assert matrics.ranking.roc_auc(labels, s, positive="fraud") == pytest.approx(sk.roc_auc_score(labels == "fraud", s))
    wanted = sk.average_precision_score(labels, s, pos_label="fraud")
    assert matrics.ranking.average_precision(labels, s, positive="fraud") == pytest.approx(wanted)
    assert matrics.ranking.average_precision(labels, 1 - s, positive="ok") == pytest.approx(
        sk.average_precision_score(labels, 1 - s, pos_label="ok")
    )
    wanted = sk.brier_score_loss(labels, s, pos_label="fraud")
    assert matrics.probabilities.brier_score(labels, s, positive="fraud") == pytest.approx(wanted)
    fpr, tpr, limits = sk.roc_curve(labels, s, pos_label="fraud", drop_intermediate=False)
    curve = matrics.ranking.threshold_curve(labels, s, "fpr:binary, tpr:binary", positive="fraud", unique=True)
    for name, want in (("fpr:binary", fpr), ("tpr:binary", tpr)):
        np.testing.assert_allclose(curve[name], want)
    np.testing.assert_allclose(curve.thresholds, limits)


def test_the_classes_have_their_labels() -> None:
    """recall[fraud] is a spec, and titles name the class."""
    labels, s = ["ok", "fraud", "ok", "fraud"], [0.1, 0.35, 0.4, 0.8]
    specs = ["recall", "recall[ok]", "recall[fraud]", "recall:macro", "sensitivity"]
    curve = matrics.ranking.threshold_curve(labels, s, specs, positive="fraud", thresholds=[0.5])
    assert list(curve.values) == specs
    titles = ["recall of fraud", "recall of ok", "recall of fraud", "recall, macro", "sensitivity of fraud"]
    assert [title_of(key) for key in curve.values] == titles
    assert [float(values[0]) for values in curve.values.values()] == [0.5, 1, 0.5, 0.75, 0.5]
    best = matrics.ranking.best_threshold(labels, s, "recall[ok]", subject_to="recall[fraud] >= 1", positive="fraud")
    assert best == (0.35, 0.5)
    best = matrics.ranking.best_threshold(
        ["<5", ">=5", "<5"], s[:3], "f1", subject_to="recall[<5]>=0.5", positive=">=5"
    )
    assert best.threshold == 0.35
    (key,) = matrics.ranking.threshold_curve([0, 1, 1, 0], s, "recall", positive=0).values
    assert title_of(key) == "recall of class 0"
    (key,) = matrics.ranking.threshold_curve([0, 1, 2, 0], s, "recall[rest]", positive=2).values
    assert title_of(key) == "recall of rest"


def test_samples_are_left_out_by_their_labels() -> None:
    labels, s = ["ok", "fraud", "?", "ok", "fraud", "-"], [0.1, 0.4, 0.9, 0.5, 0.8, 0.05]
    wanted = matrics.ranking.roc_auc([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.8])
    assert matrics.ranking.roc_auc(labels, s, positive="fraud", ignore_index=["?", "-"]) == wanted
    numbers = [3, 7, -1, 3, 7, 9]
    assert matrics.ranking.roc_auc(numbers, s, positive=7, ignore_index=[-1, 9]) == wanted
    state = ScoreState.zeros()
    for y, positive, left_out in ((labels, "fraud", ["?", "-"]), (numbers, 7, [-1, 9])):
        counted = state.update(y, s, positive=positive, ignore_index=left_out)
        assert counted.roc_auc().value == wanted
        assert counted.dropped == 0


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (["ok", "fraud", "ok"], {}, r"got the labels 'fraud', 'ok': .*, positive='fraud' or positive='ok'"),
        (["a", "b", "c"], {}, "got the labels 'a', 'b', 'c': pass .*, positive=, its label"),
        (["ok", "fraud", "ok"], {"positive": "Fraud"}, "expected a label of y_true, 'fraud', 'ok', got 'Fraud'"),
        ([0, 1, 1], {"positive": 2}, "positive: expected a label of y_true, 0, 1, got 2"),
        ([0, 1, 1], {"positive": "fraud"}, "positive: expected a label of y_true, which has integers"),
        ([0, 1, 1], {"positive": 0.5}, "positive: expected a label of y_true, which has integers"),
        (
            [-1, 0, 1],
            {"positive": 1},
            r"expected labels from 0 on, or two labels, got -1 at \((0, )?0,?\).*ignore_index=",
        ),
        (np.array(["a", None, "b"], object), {"positive": "b"}, r"a label for every sample, got 1 of 3 missing"),
        (np.array(["a", np.nan, "b"], object), {"positive": "b"}, r"missing, the first at \(1,\)"),
    ],
)
def test_errors_say_what_to_do(labels: Any, options: dict[str, Any], message: str) -> None:
    for call in DOORS.values():
        with pytest.raises(ValueError, match=message):
            call(labels, [0.1, 0.4, 0.3], **options)


@pytest.mark.parametrize("dtype", ["string", "object", "boolean"])
def test_a_missing_value_of_pandas_is_named(dtype: str) -> None:
    """Its comparisons are no booleans: they ended in 'boolean value of NA is ambiguous'."""
    pandas = pytest.importorskip("pandas")
    a, b = (True, False) if dtype == "boolean" else ("a", "b")
    labels, s = pandas.Series([a, b, pandas.NA, b], dtype=dtype), [0.1, 0.4, 0.3, 0.2]
    for options in ({"positive": a}, {}, {"positive": b, "ignore_index": [a]}):
        with pytest.raises(ValueError, match=r"a label for every sample, got 1 of 4 missing, the first at \(2,\)"):
            matrics.ranking.roc_auc(labels, s, **options)


@pytest.mark.parametrize(
    "area",
    [
        matrics.ranking.roc_auc,
        matrics.ranking.average_precision,
        lambda *given, **options: matrics.ranking.partial_roc_auc(*given, max_fpr=0.5, **options),
        lambda *given, **options: matrics.ranking.precision_at_recall(*given, 0.5, **options),
        lambda *given, **options: matrics.ranking.recall_at_precision(*given, 0.5, **options),
    ],
)
def test_an_average_beside_the_positive_class_is_refused(area: Any) -> None:
    """As by the measures of matrices: neither wins in silence."""
    y_prob = np.eye(3)[[0, 1, 2, 0]] * 0.5
    assert np.isfinite(area([0, 1, 2, 1], y_prob, positive=1))
    with pytest.raises(ValueError, match="average='macro': expected \"auto\" with positive=1, which compares a class"):
        area([0, 1, 2, 1], y_prob, positive=1, average="macro")


def test_what_positive_is_not_for() -> None:
    y, s = RANDOM.integers(0, 3, 20), RANDOM.dirichlet(np.ones(3), 20)
    with pytest.raises(ValueError, match="expected no positive="):
        matrics.ranking.roc_auc(y, s, positive=1, multi_class="one_vs_one")
    with pytest.raises(ValueError, match="with the softmax first"):
        matrics.probabilities.log_loss(y, logits=s, positive=1)
    with pytest.raises(ValueError, match=r"y_true: expected labels, which are whole numbers, got 0\.5"):
        matrics.probabilities.log_loss([0.5, 1.0], [0.1, 0.2], positive=1)
    with pytest.raises(TypeError, match="positive: expected None, as this state has the scores of each"):
        ScoreState.zeros(num_classes=3).update(y, s, positive=1)


def test_arguments_in_the_wrong_order() -> None:
    message = "y_true: expected labels, got floating numbers with {} of integers: the labels come first"
    state = ScoreState.zeros()
    for function in (
        matrics.ranking.roc_auc,
        matrics.ranking.roc_curve,
        lambda y, s: matrics.ranking.best_threshold(y, s, "f1"),
        state.update,
    ):
        with pytest.raises(TypeError, match=message.format("y_score")):
            function([0.1, 0.9], [0, 1])
    with pytest.raises(TypeError, match=r"y_prob: expected floating probabilities, got .*; the labels come first"):
        matrics.probabilities.log_loss([0.1, 0.9], [0, 1])  # whose labels may be floating
    for measure in (matrics.probabilities.brier_score, matrics.probabilities.reliability_curve):
        with pytest.raises(TypeError, match=message.format("y_prob")):
            measure([0.1, 0.9], [0, 1])


def test_labels_of_classes() -> None:
    """One-hot labels, and texts with a column for each class."""
    s = RANDOM.dirichlet(np.ones(3), 20)
    y = RANDOM.integers(0, 3, 20)
    hot = np.eye(3, dtype=int)[y]
    for measure in (matrics.probabilities.log_loss, matrics.probabilities.brier_score, matrics.ranking.roc_auc):
        with pytest.warns(RuntimeWarning, match=r"y_true \(20, 3\) and y_\w+ \(20, 3\): .* pass y_true.argmax\(-1\)"):
            measure(hot, s)
        for other in (hot ^ 1, np.roll(np.tril(np.ones((20, 3), int)), 1)):
            measure(other, s)  # curves of their own, of three samples each
        with pytest.raises(ValueError, match=r"'cat', 'dog', 'eel': pass labels=, .* columns"):
            measure(np.array(["cat", "dog", "eel"])[y], s)
        with pytest.raises(ValueError, match=r"expected the same samples .* pass y_true.argmax"):
            measure(hot, s[:, 0])
    with pytest.raises(ValueError, match=r"(of one-hot labels take|convert one-hot labels with) y_true.argmax\(-1\)"):
        ScoreState.zeros(num_classes=3).update(hot, s)
    with pytest.raises(ValueError, match=r"(of one-hot labels take|convert one-hot labels with) y_true.argmax\(-1\)"):
        matrics.ranking.top_k_accuracy(hot, RANDOM.normal(size=(20, 3)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("positive", [0, 1, 5, -1])
def test_integers_in_every_library(backend: Backend, positive: int) -> None:
    """Under jit nobody looks at values: a batch of three curves, of two labels each."""
    others = {0: [1, 4, 1], 1: [0, -1, 7], 5: [0, 4, -3], -1: [1, 0, 3]}[positive]
    y = RANDOM.integers(0, 2, (3, 40))
    labels = np.where(y == 1, positive, np.array(others)[:, None])
    s = RANDOM.random((3, 40)).astype(np.float32)

    def found(labels: Any, s: Any) -> list[Any]:
        state = ScoreState.zeros(bits=6, batch_shape=(3,), like=s)
        return [
            matrics.ranking.roc_auc(labels, s, positive=positive),
            matrics.probabilities.brier_score(labels, s, positive=positive),
            matrics.ranking.threshold_curve(labels, s, "recall", thresholds=[0.5], positive=positive)["recall"],
            matrics.ranking.best_threshold(labels, s, "f1", positive=positive).value,
            state.update(labels, s, positive=positive).roc_auc().value,
        ]

    state = ScoreState.zeros(bits=6, batch_shape=(3,))
    wanted = [
        matrics.ranking.roc_auc(y, s),
        matrics.probabilities.brier_score(y, s),
        matrics.ranking.threshold_curve(y, s, "recall", thresholds=[0.5])["recall"],
        matrics.ranking.best_threshold(y, s, "f1").value,
        state.update(np.where((labels < 0) & (y == 0), -1, y), s).roc_auc().value,  # which a state drops
    ]
    got = backend.jit(found)(backend.asarray(labels), backend.asarray(s))
    for one, want in zip(got, wanted, strict=True):
        np.testing.assert_allclose(backend.numpy(one), want, rtol=1e-5, equal_nan=True)


def test_codes_of_texts_go_to_the_device_of_the_scores(torch: Any) -> None:
    """Arrays of numbers stay where they are, so that the caller copies them."""
    from matrics._arrays import codes_on_device

    codes, scores = np.asarray([0, 1]), torch.zeros(2, device="meta")
    moved = codes_on_device(codes, ["ok", "fraud"], None, scores)
    assert (moved.device.type, moved.dtype, tuple(moved.shape)) == ("meta", torch.int64, (2,))
    assert codes_on_device(codes, codes, scores) is codes
    assert codes_on_device(codes, ["ok", "fraud"], torch.zeros(2)) is codes


def test_text_labels_beside_scores_of_other_libraries(backend: Backend) -> None:
    y, s = samples()
    scores = backend.asarray(s.astype(np.float32))
    labels = np.array(["ok", "fraud"])[y].tolist()
    for door in ("ranking.roc_auc", "ranking.confusion_matrix", "thresholds=", "probabilities.brier_score"):
        want = DOORS[door](y, s.astype(np.float32))
        np.testing.assert_allclose(backend.numpy(DOORS[door](labels, scores, positive="fraud")), want, rtol=1e-5)


@pytest.mark.exhaustive
@pytest.mark.parametrize("backend", ["torch"], indirect=True)
def test_compiled_and_mapped_by_torch(backend: Backend) -> None:
    import torch

    y, s = backend.asarray(RANDOM.integers(0, 2, (3, 30))), backend.asarray(RANDOM.random((3, 30)))
    state = ScoreState.zeros(bits=6, batch_shape=(3,), like=s)

    def found(y: Any, s: Any) -> Any:
        return matrics.ranking.roc_auc(y, s, positive=0)

    wanted = torch.as_tensor(matrics.ranking.roc_auc(1 - y.numpy(), s.numpy()))
    torch.testing.assert_close(torch.func.vmap(found)(y, s), wanted)
    torch.testing.assert_close(torch.compile(found, fullgraph=True, backend="aot_eager")(y, s), wanted)
    update = torch.compile(lambda s0, y, s: s0.update(y, s, positive=0), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(update(state, y, s).counts, state.update(1 - y, s).counts)


@pytest.mark.parametrize("jax_backend", ["jax", "jax-x64"], indirect=True)
def test_off_the_host_a_negative_label_beside_others_makes_nan(jax_backend: Backend) -> None:
    import jax

    y = jax_backend.asarray(np.array([[-1, 1, 1], [-1, 0, 1], [0, 0, 1]]))
    s = jax_backend.asarray(np.tile(np.float32([0.1, 0.4, 0.6]), (3, 1)))
    got = jax.jit(lambda y, s: matrics.ranking.roc_auc(y, s, positive=1))(y, s)
    assert np.isnan(got).tolist() == [False, True, False]
    mapped = jax.jit(jax.vmap(lambda y, s: matrics.ranking.roc_auc(y, s, positive=1)))(y, s)
    assert np.isnan(mapped).tolist() == [False, True, False]
