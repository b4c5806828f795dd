"""Every public function that takes arrays gives one result for one set of values, however they are passed.

The functions are those of the public namespaces, by their signatures: a function without a call here fails a test.
"""

from __future__ import annotations

import dataclasses
import decimal
import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from public_names import functions, of_scores

import matrics
from matrics import raters

pa = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pytest.importorskip("scipy")

Convert = Callable[[np.ndarray], Any]

# Parameters with a value for each sample, or a matrix.
ARRAYS = {
    *("y_true", "y_pred", "y_a", "y_b", "y_judge", "y_score", "y_prob", "y_true_or_cm", "probabilities", "logits"),
    *("sample_weight", "clusters", "groups", "cm", "stack", "a", "joint", "ratings", "scores_a", "predicted_counts"),
    *("thresholds", "values", "proportions"),
}
# They take no arrays of the user's, but results of other functions.
OF_RESULTS = {"to_dict", "to_frame", "study.interpret", "fairness.disparity", "judged.compare", "judged.choose_samples"}
# Tables of rows, which tests/test_any_table.py passes in every form.
OF_TABLES = {"frames.count", "frames.count_sql", "report"}
# Functions of many matrices, or of how they are drawn, which have tests of their own.
OF_STUDIES = {"study.agreement", "study.redundancy"}

rng = np.random.default_rng(5)
SAMPLES = 48
TRUE = rng.integers(0, 2, SAMPLES)
PRED = np.where(rng.random(SAMPLES) < 0.8, TRUE, 1 - TRUE)
OTHER = np.where(rng.random(SAMPLES) < 0.7, TRUE, 1 - TRUE)
# Sixteenths, which float16 holds exactly.
SCORES = np.clip(np.round(16 * (0.3 + 0.4 * TRUE + rng.normal(0, 0.25, SAMPLES))), 1, 15) / 16
WEIGHTS = rng.integers(1, 100, SAMPLES)
CLUSTERS = np.arange(SAMPLES) // 4
MANY_TRUE = rng.integers(0, 2, (SAMPLES, 3))
MANY_PRED = np.where(rng.random((SAMPLES, 3)) < 0.8, MANY_TRUE, 1 - MANY_TRUE)
TWO_COLUMNS = np.stack([1 - SCORES, SCORES], axis=1)
CM = np.asarray([[50, 7], [9, 60]])
RATINGS = np.stack([TRUE, PRED, OTHER], axis=1)
FOLDS = np.round(rng.random((8, 3)) * 64) / 64


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


# What each function is called with. ``label`` converts labels (N,) or (N, L), ``number`` scores, probabilities and
# results, ``weight`` weights and clusters, and ``matrix`` counts.
LABELS: dict[str, Callable[[Convert], Any]] = {
    "classification_report": lambda label: matrics.classification_report(label(TRUE), label(PRED)),
    "confusion_matrix": lambda label: matrics.confusion_matrix(label(TRUE), label(PRED), num_classes=2),
    "confusion_matrix of labels": lambda label: matrics.confusion_matrix(label(TRUE), label(PRED), labels=[1, 0]),
    "score_labels": lambda label: matrics.score_labels(label(TRUE), label(PRED)),
    "score_labels of labels": lambda label: matrics.score_labels(label(TRUE), label(PRED), labels=[0, 1]),
    "compare_models": lambda label: matrics.compare_models(
        label(TRUE), {"a": label(PRED), "b": label(OTHER)}, "accuracy", num_classes=2, rng=generator(), num=100
    ),
    "stats.permutation_test": lambda label: matrics.stats.permutation_test(
        label(TRUE), label(PRED), "accuracy", num_classes=2, num=100, rng=generator()
    ),
    "gate": lambda label: matrics.gate(
        label(TRUE), "accuracy >= 0.5, accuracy", y_pred=label(PRED), baseline=label(OTHER), num_classes=2
    ),
    "stats.joint_confusion_matrix": lambda label: matrics.stats.joint_confusion_matrix(
        label(TRUE), label(PRED), label(OTHER), num_classes=2
    ),
    "ranking.cost_saved": lambda label: matrics.ranking.cost_saved(
        label(TRUE), label(PRED), label(OTHER), cost_false_negative=2, cost_false_positive=1
    ),
    "judged.count": lambda label: [*matrics.judged.count(label(TRUE), label(OTHER), label(PRED), num_classes=2)],
    "multilabel.confusion_matrix": lambda label: matrics.multilabel.confusion_matrix(
        label(MANY_TRUE), label(MANY_PRED)
    ),
    "multilabel.score": lambda label: matrics.multilabel.score(label(MANY_TRUE), label(MANY_PRED), "f1"),
    "multilabel.subset_accuracy": lambda label: matrics.multilabel.subset_accuracy(label(MANY_TRUE), label(MANY_PRED)),
    "probabilities.expected_confusion_matrix": lambda label: matrics.probabilities.expected_confusion_matrix(
        TWO_COLUMNS, label(PRED)
    ),
    "probabilities.expected_interval": lambda label: matrics.probabilities.expected_interval(
        TWO_COLUMNS, "accuracy", y_true=label(TRUE)
    ),
    "ranking.roc_auc": lambda label: matrics.ranking.roc_auc(label(TRUE), SCORES),
    "ranking.interval": lambda label: matrics.ranking.interval(label(TRUE), SCORES, "roc_auc"),
    "probabilities.log_loss": lambda label: matrics.probabilities.log_loss(label(TRUE), SCORES),
    "ScoreState": lambda label: matrics.ScoreState.zeros().update(label(TRUE), SCORES).roc_auc(),
    "ConfusionState": lambda label: matrics.ConfusionState.zeros(2).update(label(TRUE), label(PRED)).matrix,
    "MarginState": lambda label: matrics.MarginState.zeros(2).update(label(TRUE), label(PRED)).score("f1"),
    "MultilabelState": lambda label: (
        matrics.MultilabelState.zeros(3).update(label(MANY_TRUE), label(MANY_PRED)).score("f1")
    ),
    **{
        f"raters.{name}": lambda label, name=name: getattr(raters, name)(label(RATINGS), num_classes=2)
        for name in (
            *("brennan_prediger", "conger_kappa", "fleiss_kappa", "gwet_ac1", "gwet_ac2"),
            *("krippendorff_alpha", "pairwise", "percent_agreement"),
        )
    },
    "raters.interval": lambda label: raters.interval(label(RATINGS), "fleiss_kappa", num_classes=2),
    "raters.leave_one_out": lambda label: raters.leave_one_out(label(RATINGS), "fleiss_kappa", num_classes=2),
}
OF_SCORES = (
    *(
        "ranking.average_precision",
        "ranking.precision_recall_curve",
        "ranking.roc_auc",
        "ranking.roc_curve",
        "probabilities.brier_decomposition",
        "probabilities.brier_score",
    ),
    *("probabilities.expected_calibration_error", "probabilities.log_loss", "probabilities.reliability_curve"),
)
NUMBERS: dict[str, Callable[[Convert], Any]] = {
    **{
        name: lambda number, name=name: of_scores(name.partition(".")[2])(TRUE, number(SCORES))
        for name in (*OF_SCORES, "ranking.interval", "ranking.roc_auc_variance")
    },
    "ranking.partial_roc_auc": lambda number: matrics.ranking.partial_roc_auc(TRUE, number(SCORES), max_fpr=0.5),
    "probabilities.interval": lambda number: matrics.probabilities.interval(
        TRUE, number(SCORES), num=100, rng=generator()
    ),
    "ranking.decision_curve": lambda number: matrics.ranking.decision_curve(
        TRUE, {"a": number(SCORES)}, num=100, rng=generator()
    ),
    "ranking.top_k_accuracy": lambda number: matrics.ranking.top_k_accuracy(TRUE, number(TWO_COLUMNS), 1),
    "ranking.top_k_recall": lambda number: matrics.ranking.top_k_recall(TRUE, number(TWO_COLUMNS), 1),
    "probabilities.log_loss of classes": lambda number: matrics.probabilities.log_loss(TRUE, number(TWO_COLUMNS)),
    "ranking.best_threshold": lambda number: matrics.ranking.best_threshold(TRUE, number(SCORES), "f1"),
    "ranking.best_threshold with a level": lambda number: matrics.ranking.best_threshold(
        TRUE, number(SCORES), "f1", num=100, rng=generator(), level=0.95
    ),
    "stats.participant_flow": lambda number: matrics.stats.participant_flow(TRUE, number(PRED)),
    "stats.diagnostic_groups": lambda number: matrics.stats.diagnostic_groups(
        TRUE, number(PRED), groups=[k % 2 for k in range(len(PRED))]
    ),
    "stats.diagnostic_comparison": lambda number: matrics.stats.diagnostic_comparison(
        TRUE, number(PRED), number(OTHER)
    ),
    "ranking.score_drift": lambda number: matrics.ranking.score_drift(
        number(SCORES), groups=[k % 2 for k in range(len(PRED))]
    ),
    "ranking.precision_at_k": lambda number: matrics.ranking.precision_at_k(TRUE, number(SCORES), 2),
    "ranking.recall_at_k": lambda number: matrics.ranking.recall_at_k(TRUE, number(SCORES), 2),
    "ranking.lift_at_k": lambda number: matrics.ranking.lift_at_k(TRUE, number(SCORES), 2),
    "ranking.precision_at_recall": lambda number: matrics.ranking.precision_at_recall(TRUE, number(SCORES), 0.8),
    "ranking.recall_at_precision": lambda number: matrics.ranking.recall_at_precision(TRUE, number(SCORES), 0.8),
    "ranking.recall_at_specificity": lambda number: matrics.ranking.recall_at_specificity(TRUE, number(SCORES), 0.8),
    "ranking.confusion_matrix": lambda number: matrics.ranking.confusion_matrix(
        TRUE, number(SCORES), number(np.asarray([0.25, 0.5]))
    ),
    "ranking.threshold_curve": lambda number: matrics.ranking.threshold_curve(TRUE, number(SCORES), "f1"),
    "ranking.compare": lambda number: matrics.ranking.compare(
        TRUE, {"a": number(SCORES), "b": number(SCORES[::-1].copy())}
    ),
    "soft_confusion_matrix": lambda number: matrics.soft_confusion_matrix(TRUE, number(TWO_COLUMNS)),
    "confusion_matrix of scores": lambda number: matrics.confusion_matrix(TRUE, number(TWO_COLUMNS), num_classes=2),
    "confusion_matrix of a threshold": lambda number: matrics.confusion_matrix(
        TRUE, number(SCORES), num_classes=2, threshold=0.5
    ),
    "probabilities.expected_confusion_matrix": lambda number: matrics.probabilities.expected_confusion_matrix(
        number(TWO_COLUMNS)
    ),
    "probabilities.expected_interval": lambda number: matrics.probabilities.expected_interval(
        number(TWO_COLUMNS), "accuracy"
    ),
    "stats.compare_datasets": lambda number: matrics.stats.compare_datasets(number(FOLDS)),
    "stats.compare_folds": lambda number: matrics.stats.compare_folds(
        number(FOLDS[:, 0]), number(FOLDS[:, 1]), test_fraction=0.125
    ),
    "simulate.controlled_errors": lambda number: matrics.simulate.controlled_errors(
        number(np.asarray([0.25, 0.75])), number(np.asarray([0.5, 0.25]))
    ),
    "ScoreState": lambda number: matrics.ScoreState.zeros().update(TRUE, number(SCORES)).roc_auc(),
}
WEIGHED: dict[str, Callable[[Convert], Any]] = {
    **{
        name: lambda weight, name=name: of_scores(name.partition(".")[2])(TRUE, SCORES, sample_weight=weight(WEIGHTS))
        for name in OF_SCORES
    },
    "classification_report": lambda weight: matrics.classification_report(TRUE, PRED, sample_weight=weight(WEIGHTS)),
    "confusion_matrix": lambda weight: matrics.confusion_matrix(
        TRUE, PRED, num_classes=2, sample_weight=weight(WEIGHTS)
    ),
    "score_labels": lambda weight: matrics.score_labels(TRUE, PRED, sample_weight=weight(WEIGHTS)),
    "compare_models": lambda weight: matrics.compare_models(
        *(TRUE, np.stack([PRED, OTHER]), "accuracy"),
        num_classes=2,
        sample_weight=weight(WEIGHTS),
        rng=generator(),
        num=100,
    ),
    "gate": lambda weight: matrics.gate(
        TRUE, "accuracy >= 0.5", y_pred=PRED, num_classes=2, sample_weight=weight(WEIGHTS)
    ),
    "stats.joint_confusion_matrix": lambda weight: matrics.stats.joint_confusion_matrix(
        TRUE, PRED, OTHER, num_classes=2, sample_weight=weight(WEIGHTS)
    ),
    "judged.count": lambda weight: [
        *matrics.judged.count(TRUE, OTHER, PRED, num_classes=2, sample_weight=weight(WEIGHTS))
    ],
    "multilabel.confusion_matrix": lambda weight: matrics.multilabel.confusion_matrix(
        MANY_TRUE, MANY_PRED, sample_weight=weight(WEIGHTS)
    ),
    "multilabel.score": lambda weight: matrics.multilabel.score(
        MANY_TRUE, MANY_PRED, "f1", sample_weight=weight(WEIGHTS)
    ),
    "multilabel.subset_accuracy": lambda weight: matrics.multilabel.subset_accuracy(
        MANY_TRUE, MANY_PRED, sample_weight=weight(WEIGHTS)
    ),
    "soft_confusion_matrix": lambda weight: matrics.soft_confusion_matrix(
        TRUE, TWO_COLUMNS, sample_weight=weight(WEIGHTS)
    ),
    "ranking.confusion_matrix": lambda weight: matrics.ranking.confusion_matrix(
        TRUE, SCORES, [0.5], sample_weight=weight(WEIGHTS)
    ),
    "ConfusionState": lambda weight: (
        matrics.ConfusionState.zeros(2, dtype=np.float64).update(TRUE, PRED, sample_weight=weight(WEIGHTS)).matrix
    ),
    "ScoreState": lambda weight: (
        matrics.ScoreState.zeros(dtype=np.float64).update(TRUE, SCORES, sample_weight=weight(WEIGHTS)).roc_auc()
    ),
    "clusters of compare_models": lambda weight: matrics.compare_models(
        *(TRUE, np.stack([PRED, OTHER]), "accuracy"),
        num_classes=2,
        clusters=weight(CLUSTERS),
        rng=generator(),
        num=100,
    ),
    "clusters of gate": lambda weight: matrics.gate(
        TRUE, "accuracy >= 0.5", y_pred=PRED, num_classes=2, clusters=weight(CLUSTERS)
    ),
    "clusters of ranking.interval": lambda weight: matrics.ranking.interval(TRUE, SCORES, clusters=weight(CLUSTERS)),
}
MATRICES: dict[str, Callable[[Convert], Any]] = {
    **{
        name: lambda matrix, name=name: operator.attrgetter(name)(matrics)(matrix(CM))
        for name in (
            *(
                "stats.diagnostic_table",
                "study.eigenvalues",
                "study.gershgorin_bounds",
                "mcc",
                "eve",
                "transform.normalize",
                "transform.one_vs_rest",
            ),
            *(
                "transform.pair_counts",
                "transform.rebalance",
                "transform.repair",
                "score",
                "transform.transpose",
                "interval",
            ),
        )
    },
    "check": lambda matrix: [np.asarray(matrics.check(matrix(CM)))],
    "score_blocks": lambda matrix: matrics.score_blocks(np.asarray(matrix(CM))[None], "mcc", device=None),
    "transform.at_prevalence": lambda matrix: matrics.transform.at_prevalence(matrix(CM), 0.25),
    "compare": lambda matrix: matrics.compare(matrix(CM), matrix(CM.T.copy()), "accuracy"),
    "compare_paired": lambda matrix: matrics.compare_paired(np.stack([matrix(CM), CM]), "accuracy"),
    "stats.mcnemar": lambda matrix: matrics.stats.mcnemar(np.stack([matrix(CM), CM])),
    "fairness.demographic_parity": lambda matrix: matrics.fairness.demographic_parity(
        [matrix(CM), matrix(CM.T.copy())]
    ),
    "fairness.equal_opportunity": lambda matrix: matrics.fairness.equal_opportunity([matrix(CM), matrix(CM.T.copy())]),
    "fairness.equalized_odds": lambda matrix: matrics.fairness.equalized_odds([matrix(CM), matrix(CM.T.copy())]),
    "stats.estimate_prevalence": lambda matrix: matrics.stats.estimate_prevalence(matrix(CM), [30, 60]),
    "metrics.cost": lambda matrix: matrics.metrics.cost([[0, 1], [2, 0]])(matrix(CM)),
    "gate": lambda matrix: matrics.gate(matrix(CM), "accuracy >= 0.5"),
    "transform.merge_classes": lambda matrix: matrics.transform.merge_classes(matrix(CM), [[0, 1]]),
    "simulate.resample": lambda matrix: matrics.simulate.resample(matrix(CM), 3, rng=generator()),
    "stats.samples_needed": lambda matrix: matrics.stats.samples_needed(matrix(CM), "accuracy", half_width=0.04),
    "transform.weight_cells": lambda matrix: matrics.transform.weight_cells(matrix(CM), [[1, 2], [3, 4]]),
}


def table(make: Callable[[dict[str, Any]], Any]) -> Convert:
    """A data frame with a column for each column of an array; of one axis, with a single column."""
    return lambda array: make({f"c{k}": list(column) for k, column in enumerate(np.atleast_2d(array.T).tolist())})


def column(make: Convert) -> Convert:
    """A column; arrays with more axes stay, as no library has such columns."""
    return lambda array: make(array) if array.ndim == 1 else array


TABLES: dict[str, Convert] = {
    "list": lambda array: array.tolist(),
    "tuple": lambda array: tuple(map(tuple, array.tolist())) if array.ndim > 1 else tuple(array.tolist()),
    "pandas": table(pandas.DataFrame),
    "polars": table(polars.DataFrame),
    "pyarrow": table(pa.table),
    "pyarrow batch": table(pa.RecordBatch.from_pydict),
    "pandas column": column(pandas.Series),
    "polars column": column(lambda array: polars.Series(array.tolist())),
    "pyarrow column": column(lambda array: pa.array(array.tolist())),
    "pyarrow chunks": column(lambda array: pa.chunked_array([array.tolist()[:9], array.tolist()[9:]])),
    "pandas of pyarrow": column(lambda array: pandas.Series(pa.array(array.tolist()).to_pandas(types_mapper=None))),
    "pandas nullable": column(lambda array: pandas.Series(array).convert_dtypes()),
    "pandas categorical": column(lambda array: pandas.Series(array).astype("category")),
    "pyarrow dictionary": column(lambda array: pa.array(array.tolist()).dictionary_encode()),
    "decimals": column(lambda array: [decimal.Decimal(repr(value)) for value in array.tolist()]),
    "pyarrow decimals": column(lambda array: pa.array([decimal.Decimal(repr(value)) for value in array.tolist()])),
    "polars decimals": column(lambda array: polars.Series([decimal.Decimal(repr(v)) for v in array.tolist()])),
    "numbers of Python and NumPy": lambda array: [*array[:1], *array[1:].tolist()] if array.ndim == 1 else array,
}
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
FLOATS = ("float16", "float32", "float64")


def dtype(name: str) -> Convert:
    return lambda array: array.astype(name)


KINDS = {
    "labels": {**TABLES, **{name: dtype(name) for name in (*INTEGERS, *FLOATS)}},
    "numbers": {**TABLES, **{name: dtype(name) for name in FLOATS}},
    "weights": {**TABLES, **{name: dtype(name) for name in (*INTEGERS, *FLOATS) if name != "bool"}},
    "matrices": {
        "list": lambda array: array.tolist(),
        "pandas": pandas.DataFrame,
        "polars": lambda array: polars.DataFrame(array.tolist(), orient="row"),
        "pyarrow": lambda array: pa.table({f"c{k}": array[:, k] for k in range(array.shape[1])}),
        **{name: dtype(name) for name in (*INTEGERS, *FLOATS) if name != "bool"},
    },
}
# Forms whose columns have names, or whose classes are called differently.
NAMED = ("pandas", "polars", "pyarrow", "pyarrow batch", "bool")
CALLS = {"labels": LABELS, "numbers": NUMBERS, "weights": WEIGHED, "matrices": MATRICES}


def values(result: Any) -> list[Any]:
    """The numbers and texts of a result, in order."""
    if isinstance(result, Mapping):
        return [part for value in result.values() for part in values(value)]
    if isinstance(result, (list, tuple)):
        return [part for value in result for part in values(value)]
    if dataclasses.is_dataclass(result):
        return [part for field in dataclasses.fields(result) for part in values(getattr(result, field.name))]
    if isinstance(result, np.ndarray):
        return list(result.ravel().tolist())
    return [result] if isinstance(result, (int, float, str, np.number, bool)) else []


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, calls in CALLS.items() for name in calls])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_one_result_for_one_set_of_values(kind: str, name: str) -> None:
    call = CALLS[kind][name]
    expected = values(call(lambda array: array.astype(np.int64 if kind == "labels" else np.float64)))
    assert expected
    wrong = {}
    for form, convert in KINDS[kind].items():
        try:
            _check(values(call(convert)), expected, 2e-5 if form in FLOATS else 1e-9, has_names=form in NAMED)
        except Exception as error:  # noqa: BLE001 (of every form it says what is wrong)
            wrong[form] = f"{type(error).__name__}: {error}"
    assert not wrong, "\n".join(f"{form}: {message}" for form, message in wrong.items())


def _check(found: list[Any], expected: list[Any], tolerance: float, *, has_names: bool) -> None:
    texts, numbers = (
        [[value for value in side if isinstance(value, str) is is_text] for side in (found, expected)]
        for is_text in (True, False)
    )
    assert has_names or texts[0] == texts[1]
    assert len(numbers[0]) == len(numbers[1])
    np.testing.assert_allclose(*(np.asarray(side, float) for side in numbers), rtol=tolerance, atol=1e-6)


def public() -> dict[str, Any]:
    """The public functions with a parameter for arrays, by name."""
    return {
        name: function for name, function in functions().items() if ARRAYS & set(inspect.signature(function).parameters)
    }


def test_no_function_is_forgotten() -> None:
    called = {name.split(" of ")[part] for calls in CALLS.values() for name in calls for part in (0, -1)}
    assert set(public()) - called - OF_RESULTS - OF_TABLES - OF_STUDIES == set()


# Labels that nobody can see -------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_floating_labels_under_jit(dtype: str) -> None:
    """Those that are not whole are left out and counted as dropped, also where -1 is a label, or is ignored."""
    jax = pytest.importorskip("jax")
    true, pred = jax.numpy.asarray([-1, 0, 1, 0.5, np.nan], dtype), jax.numpy.asarray([-1, 0, 0, 1, 1])

    def counts(true: Any, **options: Any) -> Any:
        state = matrics.ConfusionState.zeros(2, like=pred).update(true, pred, **options)
        return state.matrix, state.dropped

    matrix, dropped = jax.jit(lambda true: counts(true, ignore_index=-1))(true)
    assert (matrix.tolist(), int(dropped)) == ([[1, 0], [1, 0]], 2)
    matrix = jax.jit(lambda true: matrics.confusion_matrix(true, pred, labels=[-1, 0, 1]))(true)
    assert matrix.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    mapped = jax.vmap(lambda true: matrics.confusion_matrix(true, pred, labels=[-1, 0, 1]))(true[None])
    assert mapped.tolist() == [matrix.tolist()]
    areas = jax.jit(lambda true: matrics.ranking.roc_auc(true, jax.numpy.asarray([0.1, 0.8])))(true[1:3])
    assert float(areas) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["ConfusionMetric", "MultilabelMetric"])
@pytest.mark.filterwarnings("ignore:.* not counted")
def test_floating_targets_in_compiled_code(name: str) -> None:
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("matrics.torch")
    torch._dynamo.reset()
    metric = getattr(module, name)(2, "f1", ignore_index=-1)
    update = torch.compile(metric.update, backend="eager", fullgraph=True)
    true, pred = torch.tensor([-1, 0, 1, 0.5, np.nan]), torch.tensor([1, 0, 1, 1, 1])
    update(*((true, pred) if name == "ConfusionMetric" else (true[:, None].repeat(1, 2), pred[:, None].repeat(1, 2))))
    assert int(metric.dropped.sum()) == (2 if name == "ConfusionMetric" else 4)


def test_losses_take_whole_floating_labels() -> None:
    probabilities = np.eye(3) * 0.7 + 0.1
    assert matrics.probabilities.log_loss(np.asarray([0.0, 1.0, 2.0]), probabilities) == pytest.approx(-np.log(0.8))
    expected = -np.log([0.9, 0.8, 0.7]).mean()
    assert matrics.probabilities.log_loss(np.asarray([0.0, 1.0, 1.0]), [0.1, 0.8, 0.7], positive=1) == pytest.approx(
        expected
    )


def test_columns_are_no_batches() -> None:
    with pytest.raises(ValueError, match=r"y_true, y_pred: .* a column \(N, 1\) becomes \(N,\) with y_true\[:, 0\]"):
        matrics.score_labels(TRUE[:, None], PRED[:, None], "accuracy")
    with pytest.raises(ValueError, match=r"sample_weight: .* a column \(N, 1\) becomes \(N,\) by sample_"):
        matrics.confusion_matrix(TRUE, PRED, num_classes=2, sample_weight=WEIGHTS[:, None])


def test_a_frame_of_whole_floating_numbers_is_ambiguous() -> None:
    """The labels of three models, or the scores of three classes; the votes of trees have one sum in each row."""
    pandas = pytest.importorskip("pandas")
    labels = pandas.DataFrame({"a": [0.0, 1, 2, 1], "b": [0.0, 1, 1, 1], "c": [0.0, 2, 2, 1]})
    with pytest.raises(ValueError, match="the labels of 3 models or the scores of 3 classes: make labels integers"):
        matrics.confusion_matrix([0, 1, 2, 1], labels, num_classes=3)
    assert matrics.confusion_matrix([0, 1, 2, 1], labels.astype(int), num_classes=3).shape == (3, 3, 3)
    votes = pandas.DataFrame({"a": [7.0, 1, 2, 3], "b": [2.0, 8, 1, 6], "c": [1.0, 1, 7, 1]})
    expected = [[1, 0, 0], [0, 2, 0], [0, 0, 1]]
    assert matrics.confusion_matrix([0, 1, 2, 1], votes, num_classes=3).tolist() == expected
