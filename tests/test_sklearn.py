"""Scorers in every function of scikit-learn that takes one, their values beside scikit-learn's own."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression, LogisticRegressionCV
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    get_scorer,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import matrics
from matrics.sklearn import cross_validate_confusion, scorer

X2, Y2 = load_breast_cancer(return_X_y=True)
X2 = (X2 - X2.mean(0)) / X2.std(0)
X3, Y3 = load_digits(n_class=4, return_X_y=True)
X3 = (X3 + np.random.default_rng(0).normal(0, 12, X3.shape)) / 15  # or nothing would be wrong
NAMES = np.array(["fraud", "ok"], object)[Y2]
MODEL = LogisticRegression(C=0.01, max_iter=500)
TWO = clone(MODEL).fit(X2[:300], Y2[:300])
FOUR = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X3[:400], Y3[:400])
LOGISTIC = clone(MODEL).fit(X3[:400], Y3[:400])

SAME_OF_TWO = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "mcc": make_scorer(matthews_corrcoef),
    "cohen_kappa": make_scorer(cohen_kappa_score),
    "f1:binary": "f1",
    "f1": "f1",
    "f1:macro": "f1_macro",
    "recall": "recall",
    "sensitivity": "recall",
    "precision:weighted": "precision_weighted",
    "recall[0]": make_scorer(recall_score, pos_label=0),
    "jaccard:micro": "jaccard_micro",
    "negative_likelihood_ratio": "neg_negative_likelihood_ratio",
    "roc_auc": "roc_auc",
    "average_precision": "average_precision",
    "log_loss": "neg_log_loss",
    "brier_score": "neg_brier_score",
}
SAME_OF_FOUR = {
    "accuracy": "accuracy",
    "mcc": "matthews_corrcoef",
    "f1": "f1_macro",
    "f1_weighted": "f1_weighted",
    "precision": "precision_macro",
    "recall:macro[1,3]": make_scorer(recall_score, labels=[1, 3], average="macro"),
    "roc_auc": "roc_auc_ovr",
    "roc_auc:weighted": "roc_auc_ovr_weighted",
    "roc_auc(multi_class=one_vs_one)": "roc_auc_ovo",
    "roc_auc(multi_class=one_vs_one):weighted": "roc_auc_ovo_weighted",
    "average_precision": "average_precision",
    "log_loss": "neg_log_loss",
    "brier_score": "neg_brier_score",
}


def theirs(known: Any) -> Any:
    return get_scorer(known) if isinstance(known, str) else known


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", SAME_OF_TWO)
def test_values_of_two_classes_are_those_of_scikit_learn(spec: str) -> None:
    expected = theirs(SAME_OF_TWO[spec])(TWO, X2[300:], Y2[300:])
    assert scorer(spec)(TWO, X2[300:], Y2[300:]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", SAME_OF_FOUR)
def test_values_of_four_classes_are_those_of_scikit_learn(spec: str) -> None:
    if spec == "brier_score":
        pytest.importorskip("sklearn", minversion="1.8")  # older ones have it of two classes alone
    expected = theirs(SAME_OF_FOUR[spec])(LOGISTIC, X3[400:], Y3[400:])
    assert scorer(spec)(LOGISTIC, X3[400:], Y3[400:]) == pytest.approx(expected, rel=1e-12)


def test_several_are_a_dictionary_of_the_same_values_under_the_specs_as_given() -> None:
    specs = [*SAME_OF_FOUR, "ece", "cen", matrics.metrics.fbeta.using(beta=2)]
    found = scorer(specs)(LOGISTIC, X3[400:], Y3[400:])
    assert list(found) == [str(spec) for spec in specs]
    assert found == {str(spec): scorer(spec)(LOGISTIC, X3[400:], Y3[400:]) for spec in specs}
    text = scorer(", ".join(SAME_OF_FOUR))(LOGISTIC, X3[400:], Y3[400:])
    assert text == {spec: found[spec] for spec in SAME_OF_FOUR}
    assert list(scorer(["mcc"])(LOGISTIC, X3, Y3)) == ["mcc"]
    assert len(scorer("core")(LOGISTIC, X3, Y3)) == 9


def test_measures_that_are_better_when_lower_are_negated() -> None:
    cm = confusion_matrix(Y3[400:], FOUR.predict(X3[400:]))
    assert scorer("cen")(FOUR, X3[400:], Y3[400:]) == -matrics.cen(cm)
    both = scorer(["cen", "mcc"])(FOUR, X3[400:], Y3[400:])
    assert both == {"cen": -matrics.cen(cm), "mcc": matrics.mcc(cm)}
    perfect = scorer("cen")(DecisionTreeClassifier().fit(X3, Y3), X3, Y3)
    assert math.copysign(1, perfect) == 1  # not -0.0


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that counts its calls."""

    def fit(self, X: Any, y: Any) -> Counting:
        self.model_, self.calls_ = clone(MODEL).fit(X, y), []
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Any:
        self.calls_.append("predict")
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        self.calls_.append("predict_proba")
        return self.model_.predict_proba(X)


class Answers(ClassifierMixin, BaseEstimator):
    """A classifier of four classes with known predictions."""

    def __init__(self, predictions: Any) -> None:
        self.predictions, self.classes_ = predictions, np.arange(4)

    def fit(self, *_: Any) -> Answers:
        return self

    def predict(self, _: Any) -> Any:
        return self.predictions


def test_all_measures_share_one_call_of_each_method() -> None:
    model = Counting().fit(X3, Y3)
    scorer("core, informedness")(model, X3, Y3)
    assert model.calls_ == ["predict"]
    model.calls_.clear()
    scorer("mcc, f1, roc_auc, log_loss, brier_score, ece")(model, X3, Y3)
    assert model.calls_ == ["predict", "predict_proba"]
    model.calls_.clear()
    scorer("log_loss")(model, X3, Y3)
    assert model.calls_ == ["predict_proba"]
    both = cross_validate(Counting(), X3, Y3, scoring={"a": scorer("mcc"), "b": scorer("f1")}, return_estimator=True)
    assert all(one.calls_ == ["predict"] for one in both["estimator"])


def test_a_model_without_probabilities_is_ranked_by_its_decisions() -> None:
    of_two, of_four = LinearSVC().fit(X2, Y2), LinearSVC(max_iter=10_000).fit(X3, Y3)
    assert scorer("roc_auc")(of_two, X2, Y2) == pytest.approx(get_scorer("roc_auc")(of_two, X2, Y2))
    decided = of_four.decision_function(X3)
    each = [matrics.ranking.roc_auc((k == Y3).astype(int), decided[:, k]) for k in range(4)]
    assert scorer("roc_auc")(of_four, X3, Y3) == pytest.approx(np.mean(each))
    with pytest.raises(ValueError, match="log_loss: expected an estimator with predict_proba, got LinearSVC without"):
        scorer("log_loss")(of_two, X2, Y2)


LABELS = {
    "texts": lambda y: np.array(["fraud", "ok"], object)[y],
    "fixed width": lambda y: np.array(["fraud", "ok"])[y],
    "floats": lambda y: y.astype(float),
    "truths": lambda y: y.astype(bool),
    "minus one": lambda y: 2 * y - 1,
    "lists": lambda y: y.tolist(),
    "column": lambda y: y[:, None],
}
OF_PANDAS = {
    "category": ("category", NAMES),
    "string": ("string", NAMES),
    "Int64": ("Int64", Y2),
    "boolean": ("boolean", Y2.astype(bool)),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [*LABELS, *OF_PANDAS])
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_labels_of_every_kind(kind: str) -> None:
    if kind in LABELS:
        y = LABELS[kind](Y2)
    else:
        pandas = pytest.importorskip("pandas")
        dtype, values = OF_PANDAS[kind]
        y = pandas.Series(values, dtype=dtype, index=np.arange(len(values)) + 1000)
    specs = ["mcc", "f1:macro", "cen", "roc_auc", "log_loss"]  # f1 alone is of one class where labels are no texts
    expected = cross_validate(MODEL, X2, Y2, cv=3, scoring=scorer(specs), error_score="raise")
    found = cross_validate(MODEL, X2, y, cv=3, scoring=scorer(specs), error_score="raise")
    for spec in specs:
        assert found[f"test_{spec}"] == pytest.approx(expected[f"test_{spec}"])
    stack = cross_validate_confusion(MODEL, X2, y, cv=3)
    assert (stack == cross_validate_confusion(MODEL, X2, Y2, cv=3)).all()


def test_the_positive_class_is_a_label() -> None:
    model = clone(MODEL).fit(X2[:300], NAMES[:300])
    found = scorer("f1, recall, roc_auc, average_precision", positive="fraud")(model, X2[300:], NAMES[300:])
    is_fraud, p = NAMES[300:] == "fraud", model.predict_proba(X2[300:])[:, 0]
    assert found["f1"] == pytest.approx(f1_score(NAMES[300:], model.predict(X2[300:]), pos_label="fraud"))
    assert found["average_precision"] == pytest.approx(matrics.ranking.average_precision(is_fraud.astype(int), p))
    of_class = scorer("f1[fraud], average_precision[fraud]")(model, X2[300:], NAMES[300:])
    assert list(of_class.values()) == [found["f1"], found["average_precision"]]
    mean = pytest.approx(recall_score(NAMES, model.predict(X2), average="macro"))
    assert scorer("sensitivity, recall")(model, X2, NAMES) == {"sensitivity": mean, "recall": mean}
    for name in ("sensitivity:binary", "average_precision"):
        with pytest.raises(ValueError, match="needs a positive class, and neither of 'fraud', 'ok' is the default"):
            scorer(name)(model, X2, NAMES)
    with pytest.raises(ValueError, match="positive: expected one of the classes 'fraud', 'ok', got 'frod'"):
        scorer("f1", positive="frod")(model, X2, NAMES)
    one_of_four = scorer("f1, roc_auc", positive=2)(LOGISTIC, X3[400:], Y3[400:])
    p = LOGISTIC.predict_proba(X3[400:])[:, 2]
    assert one_of_four["f1"] == pytest.approx(f1_score(Y3[400:] == 2, LOGISTIC.predict(X3[400:]) == 2))
    assert one_of_four["roc_auc"] == pytest.approx(matrics.ranking.roc_auc((Y3[400:] == 2).astype(int), p))


# Classes that are missing ---------------------------------------------------------------------------------------------


def test_a_class_that_a_fold_lacks_is_left_out_of_means() -> None:
    kept = Y3[400:] != 2
    X, y = X3[400:][kept], Y3[400:][kept]
    never = ~np.isin(LOGISTIC.predict(X), 2)
    found = scorer("f1, recall, mcc, roc_auc, log_loss")(LOGISTIC, X[never], y[never])
    pred = LOGISTIC.predict(X[never])
    assert found["f1"] == pytest.approx(f1_score(y[never], pred, average="macro"))  # theirs are the labels that occur
    assert found["recall"] == pytest.approx(balanced_accuracy_score(y[never], pred))
    assert found["mcc"] == pytest.approx(matthews_corrcoef(y[never], pred))
    p = LOGISTIC.predict_proba(X[never])
    assert found["roc_auc"] == pytest.approx(
        np.mean([matrics.ranking.roc_auc((y[never] == k) * 1, p[:, k]) for k in (0, 1, 3)])
    )


def test_a_class_that_is_never_predicted_has_the_worst_precision() -> None:
    """A mean without it would choose the model that never finds the rare class."""
    y = np.array([0] * 90 + [1] * 10)
    constant = DummyClassifier().fit(y[:, None], y)
    assert scorer("precision")(constant, y[:, None], y) == 0
    assert scorer("precision:macro")(constant, y[:, None], y) == 0.45
    assert scorer("precision:macro", zero_division=0)(constant, y[:, None], y) == 0.45
    assert scorer("precision:macro", zero_division=math.nan)(constant, y[:, None], y) == 0.9
    assert matrics.precision([[90, 0], [10, 0]], average="macro") == 0.9


def test_samples_of_a_class_that_the_model_has_never_seen_are_errors() -> None:
    seen = Y3 < 3
    model = clone(MODEL).fit(X3[seen], Y3[seen])
    found = scorer("accuracy, mcc, roc_auc, brier_score, log_loss")(model, X3, Y3)
    pred, p = model.predict(X3), np.pad(model.predict_proba(X3), ((0, 0), (0, 1)))
    assert found["accuracy"] == pytest.approx((pred == Y3).mean())
    assert found["mcc"] == pytest.approx(matthews_corrcoef(Y3, pred))
    assert found["brier_score"] == pytest.approx(-((p - np.eye(4)[Y3]) ** 2).sum(1).mean())
    assert found["log_loss"] == -math.inf
    assert found["roc_auc"] == pytest.approx(matrics.ranking.roc_auc(Y3, p))
    decided = LinearSVC(max_iter=10_000).fit(X3[seen], Y3[seen])
    assert 0.5 < scorer("average_precision")(decided, X3, Y3) < 1


@pytest.mark.parametrize("labels", [["ok", "fraud"], [0, 1], [False, True]])
def test_a_model_that_has_seen_one_class(labels: list[Any]) -> None:
    one, other = labels
    model = DummyClassifier().fit(np.zeros((4, 1)), [one] * 4)
    X, alone, both = np.zeros((4, 1)), np.array([one] * 4), np.array([one, other, one, one])
    measures = scorer("accuracy, f1, mcc, roc_auc, log_loss", positive=other)
    found = measures(model, X, both)
    assert found == {"accuracy": 0.75, "f1": 0.0, "mcc": -1.0, "roc_auc": 0.5, "log_loss": -math.inf}
    expected = {"accuracy": 1.0, "f1": 0.0, "mcc": math.nan, "roc_auc": math.nan, "log_loss": 0.0}
    with pytest.warns(UndefinedMetricWarning, match=f"mcc, roc_auc: .* y_true has no sample of {other!r}"):
        assert measures(model, X, alone) == pytest.approx(expected, nan_ok=True)
    with pytest.warns(UndefinedMetricWarning, match="mcc: undefined for any predictions"):
        assert scorer("accuracy, mcc")(model, X, alone) == pytest.approx({"accuracy": 1, "mcc": math.nan}, nan_ok=True)


def test_given_labels_are_all_classes_in_order() -> None:
    model = clone(MODEL).fit(X2, NAMES)
    pred = model.predict(X2)
    found = scorer("sensitivity:binary", labels=["ok", "fraud"])(model, X2, NAMES)
    assert found == pytest.approx(recall_score(NAMES, pred, pos_label="fraud"))
    found = scorer("sensitivity", labels=["ok", "fraud"])(model, X2, NAMES)
    assert found == pytest.approx(recall_score(NAMES, pred, average="macro"))
    with pytest.raises(ValueError, match="labels: expected all labels that occur, got 'ok', 'other' without 'fraud'"):
        scorer("mcc", labels=["ok", "other"])(model, X2, NAMES)
    with pytest.raises(ValueError, match="positive: expected one of the classes 'a', 'b', got 'c'"):
        scorer("mcc", labels=["a", "b"], positive="c")
    ranked = scorer("roc_auc, average_precision", labels=["ok", "fraud"])(model, X2, NAMES)
    p = model.predict_proba(X2)[:, 0]
    assert ranked["average_precision"] == pytest.approx(matrics.ranking.average_precision((NAMES == "fraud") * 1, p))
    assert ranked["roc_auc"] == pytest.approx(matrics.ranking.roc_auc((NAMES == "fraud") * 1, p))


# Undefined values in each consumer ------------------------------------------------------------------------------------

ALL_OR_NOTHING = {"strategy": ["most_frequent", "stratified"]}
# Undefined where every sample is predicted as positive; its worst end is infinite.
UNBOUNDED = "negative_likelihood_ratio"
# What scikit-learn says of NaN and infinite values.
MISSING = "ignore:(One or more of the (test|train) scores are non-finite|invalid value encountered in subtract)"


def test_an_undefined_value_is_the_worst_end_and_nan_where_that_is_infinite() -> None:
    constant = DummyClassifier().fit(X2, Y2)
    found = scorer(["mcc", "cen", UNBOUNDED, "roc_auc"])(constant, X2, Y2)
    assert (found["mcc"], found["roc_auc"]) == (-1, 0.5)
    assert math.isnan(found[UNBOUNDED])
    assert scorer(UNBOUNDED, zero_division=100)(constant, X2, Y2) == -100
    assert math.isnan(scorer("mcc", zero_division=math.nan)(constant, X2, Y2))
    assert scorer("mcc", zero_division=0)(constant, X2, Y2) == 0
    of_one = Y2 == 1
    with pytest.warns(UndefinedMetricWarning, match="roc_auc, average_precision: .* y_true has no sample of 1"):
        found = scorer("roc_auc, average_precision")(TWO, X2[~of_one], Y2[~of_one])
    assert found == pytest.approx({"roc_auc": math.nan, "average_precision": math.nan}, nan_ok=True)


def test_folds_without_a_class() -> None:
    """Data sorted by class: the folds that have both classes have scikit-learn's values, and all others none."""
    y = np.sort(Y2)[::4]
    X = X2[np.argsort(Y2)][::4]
    cv, specs = KFold(4), "roc_auc, mcc, specificity, recall[0], precision:macro, f1, accuracy"
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    with pytest.warns(UndefinedMetricWarning, match="roc_auc, mcc.*: .* y_true has no sample of [01]"):
        found = cross_validate(model, X, y, cv=cv, scoring=scorer(specs))
    for k, (train, test) in enumerate(cv.split(X)):
        fitted = clone(model).fit(X[train], y[train])
        true, pred = y[test], fitted.predict(X[test])
        has_both = len(set(true)) == 2
        expected = {
            "roc_auc": roc_auc_score(true, fitted.decision_function(X[test])) if has_both else math.nan,
            "mcc": matthews_corrcoef(true, pred) if has_both else math.nan,
            "specificity": recall_score(true, pred, pos_label=0) if 0 in true else math.nan,
            "recall[0]": recall_score(true, pred, pos_label=0) if 0 in true else math.nan,
            "precision:macro": precision_score(true, pred, average="macro", zero_division=0),
            "f1": f1_score(true, pred, zero_division=0),
            "accuracy": np.mean(true == pred),
        }
        for name, value in expected.items():
            assert found[f"test_{name}"][k] == pytest.approx(value, nan_ok=True), (name, k)
    assert not np.isnan(cross_val_score(model, X, y, cv=cv, scoring=scorer("roc_auc", zero_division=0.5))).any()


def test_a_class_that_a_fold_lacks_is_left_out_of_the_mean_of_recalls() -> None:
    """Its recall is undefined, also where it is predicted; scikit-learn's, of the labels that occur."""
    true, pred = np.array([0, 0, 1, 1, 1]), np.array([0, 2, 1, 1, 0])
    found = scorer("recall, precision", labels=[0, 1, 2])(Answers(pred), true[:, None], true)
    assert found["recall"] == pytest.approx(recall_score(true, pred, labels=[0, 1], average="macro"))
    assert found["precision"] == pytest.approx(precision_score(true, pred, average="macro", zero_division=0))


@pytest.mark.parametrize("y", [Y2, np.arange(len(Y2)) % 3], ids=["two", "three"])
def test_every_measure_with_a_direction_has_a_value_no_worse_than_its_worst(y: Any) -> None:
    pytest.importorskip("scipy")
    known = [matrics.get_metric(name) for name in matrics.list_metrics()]
    measures = [one for one in known if one.higher_is_better is not None and not one.needs]
    assert len(measures) > 100
    for model in (DummyClassifier(), DummyClassifier(strategy="uniform", random_state=0)):
        found = scorer(measures)(model.fit(X2, y), X2, y)
        for one in measures:
            worst = one.range[0] if one.higher_is_better else -one.range[1]
            value = found[str(one)]
            assert value >= worst - 1e-12 or (math.isnan(value) and math.isinf(worst)), one


def test_the_worst_value_of_a_class_in_every_average() -> None:
    """Of a model that never predicts class 2 of three; class 3 does not occur."""
    cm = np.array([[40, 10, 0, 0], [10, 30, 0, 0], [5, 5, 0, 0], [0, 0, 0, 0]])
    true, pred = (np.repeat(axis, cm.ravel()) for axis in (np.arange(16) // 4, np.arange(16) % 4))
    model = Answers(pred)
    a, b = 40 / 55, 30 / 45
    expected = {
        "precision": (a + b) / 3,
        "precision:weighted": (50 * a + 40 * b) / 100,
        "precision:min": 0,
        "precision:max": a,
        "precision:geometric": 0,
        "precision[2]": 0,
        "precision[3]": 0,
        "precision:macro[0,2]": a / 2,
        "false_discovery_rate": -(1 - a + 1 - b + 1) / 3,
        "recall": (40 / 50 + 30 / 40 + 0) / 3,
    }
    found = scorer(list(expected))(model, true[:, None], true)
    assert found == pytest.approx(expected)
    # Class 3 is predicted but not true: its ratio is undefined for every model.
    stray = Answers(np.where(np.arange(len(pred)) == 0, 3, pred))
    ratios = scorer(UNBOUNDED + ":macro"), scorer(UNBOUNDED + ":macro", zero_division=math.nan)
    assert ratios[0](stray, true[:, None], true) == ratios[1](stray, true[:, None], true) < 0
    own = matrics.Metric.of(ppv_of_class, kind="per_class", range=(0, 1), higher_is_better=True)
    assert scorer(own)(model, true[:, None], true) == pytest.approx(expected["precision"])


@pytest.mark.sampled(1)
@pytest.mark.filterwarnings(MISSING)
@pytest.mark.parametrize("spec", ["mcc", UNBOUNDED])
@pytest.mark.parametrize("search", [GridSearchCV, HalvingGridSearchCV])
def test_a_search_does_not_choose_an_undefined_model(search: Any, spec: str) -> None:
    model = DummyClassifier(random_state=0)
    found = search(model, ALL_OR_NOTHING, scoring=scorer(spec), cv=3).fit(X2, Y2)
    assert found.best_params_ == {"strategy": "stratified"}
    if search is GridSearchCV:  # the other takes one measure
        several = search(model, ALL_OR_NOTHING, scoring=scorer([spec, "f1"]), refit=spec, cv=3)
        assert several.fit(X2, Y2).best_params_ == {"strategy": "stratified"}


def test_a_search_chooses_the_lowest_of_a_measure_that_is_better_when_lower() -> None:
    """What the recipe ``make_scorer(lambda y, p: matrics.cen(...))`` gets wrong."""
    depths, tree = [1, 2, 4, 8], DecisionTreeClassifier(random_state=0)
    stacks = [cross_validate_confusion(tree.set_params(max_depth=depth), X3, Y3) for depth in depths]
    means = [matrics.cen(stack).mean() for stack in stacks]
    assert np.argmin(means) != np.argmax(means)
    for scoring, options in ((scorer("cen"), {}), (scorer(["cen", "brier_score", "mcc"]), {"refit": "cen"})):
        found = GridSearchCV(tree, {"max_depth": depths}, scoring=scoring, **options).fit(X3, Y3)
        assert found.best_params_ == {"max_depth": depths[int(np.argmin(means))]}
        assert found.best_score_ == pytest.approx(-min(means))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("spec", ["mcc", "precision", UNBOUNDED, "f1:binary"])
def test_no_threshold_with_an_undefined_value_is_chosen(spec: str) -> None:
    """At the lowest thresholds everything is positive; NumPy's argmax takes a NaN for the highest."""
    tuned = TunedThresholdClassifierCV(MODEL, scoring=scorer(spec), store_cv_results=True).fit(X2, Y2)
    scores = tuned.cv_results_["scores"]
    assert np.isfinite(tuned.best_score_)
    assert tuned.best_score_ == scores.max()
    assert not np.isnan(scores).any()
    assert len(set(tuned.predict(X2))) == 2


@pytest.mark.exhaustive
def test_the_threshold_is_that_of_scikit_learn() -> None:
    for ours, known in (
        (scorer("f1", positive=0), make_scorer(f1_score, pos_label=0)),
        (scorer("balanced_accuracy"), "balanced_accuracy"),
    ):
        found, expected = (
            TunedThresholdClassifierCV(MODEL, scoring=s, thresholds=20).fit(X2, Y2) for s in (ours, known)
        )
        assert found.best_threshold_ == expected.best_threshold_
        assert found.best_score_ == pytest.approx(expected.best_score_)
    named = TunedThresholdClassifierCV(MODEL, scoring=scorer("f1", positive="fraud"), thresholds=20).fit(X2, NAMES)
    expected = TunedThresholdClassifierCV(MODEL, scoring=make_scorer(f1_score, pos_label="fraud"), thresholds=20).fit(
        X2, NAMES
    )
    assert named.best_threshold_ == expected.best_threshold_


def test_a_threshold_needs_one_measure_of_predicted_labels() -> None:
    with pytest.raises(ValueError, match="expected a scorer of a single measure for a threshold, got scorer"):
        TunedThresholdClassifierCV(MODEL, scoring=scorer("mcc, f1")).fit(X2, Y2)
    with pytest.raises(ValueError, match="expected a measure of predicted labels for a threshold, got roc_auc"):
        TunedThresholdClassifierCV(MODEL, scoring=scorer("roc_auc")).fit(X2, Y2)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of defaults of LogisticRegressionCV
def test_consumers_with_the_argmax_of_numpy() -> None:
    """They would choose a NaN; where the worst end is finite there is none, and elsewhere a number is given."""
    few = X2[:, :3]
    for scoring in (scorer("mcc"), scorer(UNBOUNDED, zero_division=1e6)):
        model = LogisticRegressionCV(Cs=[1e-8, 1], scoring=scoring, cv=3, max_iter=500)
        assert np.ravel(model.fit(few, Y2).C_).tolist() == [1]
    unaware = LogisticRegressionCV(Cs=[1e-8, 1], scoring=scorer(UNBOUNDED), cv=3, max_iter=500)
    assert np.ravel(unaware.fit(few, Y2).C_).tolist() == [1e-8]
    for selector in (
        RFECV(MODEL, scoring=scorer("mcc"), cv=3),
        SequentialFeatureSelector(MODEL, scoring=scorer("cen")),
    ):
        assert 0 < selector.fit(few, Y2).get_support().sum() <= 3


def test_importances_and_curves() -> None:
    model = clone(MODEL).fit(X2, Y2)
    options = {"n_repeats": 2, "random_state": 0}
    expected = permutation_importance(model, X2, Y2, scoring="f1", **options).importances
    assert permutation_importance(model, X2, Y2, scoring=scorer("f1"), **options).importances == pytest.approx(expected)
    both = permutation_importance(model, X2, Y2, scoring=scorer("f1, log_loss"), **options)
    losses = permutation_importance(model, X2, Y2, scoring="neg_log_loss", **options).importances
    assert both["f1"].importances == pytest.approx(expected)
    assert both["log_loss"].importances == pytest.approx(losses)
    found = learning_curve(MODEL, X2, Y2, scoring=scorer("mcc"), train_sizes=[0.5, 1.0], shuffle=True, random_state=0)
    known = learning_curve(
        MODEL, X2, Y2, scoring="matthews_corrcoef", train_sizes=[0.5, 1.0], shuffle=True, random_state=0
    )
    assert found[2] == pytest.approx(known[2])
    curve = validation_curve(MODEL, X2, Y2, param_name="C", param_range=[0.01, 1.0], scoring=scorer("mcc"), cv=3)
    assert curve[1].shape == (2, 3)


@pytest.mark.filterwarnings(MISSING)
def test_where_the_worst_end_is_infinite_nan_is_seen() -> None:
    constant = DummyClassifier().fit(X2, Y2)
    assert np.isnan(cross_val_score(constant, X2, Y2, scoring=scorer(UNBOUNDED))).all()
    assert np.isnan(learning_curve(constant, X2, Y2, scoring=scorer(UNBOUNDED), shuffle=True, random_state=0)[2]).all()
    found = permutation_importance(constant, X2[:, :2], Y2, scoring=scorer(UNBOUNDED), n_repeats=1)
    assert np.isnan(found.importances).all()


# Weights, copies, processes -------------------------------------------------------------------------------------------


def test_weights_by_metadata_routing() -> None:
    weight = np.random.default_rng(1).uniform(0, 2, len(Y2))
    folds = list(StratifiedKFold(3).split(X2, Y2))
    with config_context(enable_metadata_routing=True):
        ours = scorer("mcc, roc_auc, f1").set_score_request(sample_weight=True)
        model = clone(MODEL).set_fit_request(sample_weight=False)
        found = cross_validate(model, X2, Y2, cv=folds, scoring=ours, params={"sample_weight": weight})
        search = GridSearchCV(model, {"C": [0.01]}, cv=folds, scoring=scorer("f1").set_score_request(sample_weight="w"))
        searched = search.fit(X2, Y2, w=weight).cv_results_["mean_test_score"]
        options = {"thresholds": [0.25, 0.5], "cv": 3, "store_cv_results": True}
        weighted = scorer("mcc").set_score_request(sample_weight=True)
        tuned = TunedThresholdClassifierCV(model, scoring=weighted, **options).fit(X2, Y2, sample_weight=weight)
        with pytest.raises((ValueError, TypeError), match="sample_weight"):
            cross_validate(model, X2, Y2, scoring=scorer("mcc"), params={"sample_weight": weight})
    expected = []
    for train, test in folds:
        fitted = clone(MODEL).fit(X2[train], Y2[train])
        pred, decided = fitted.predict(X2[test]), fitted.decision_function(X2[test])
        expected.append(
            (
                matthews_corrcoef(Y2[test], pred, sample_weight=weight[test]),
                matrics.ranking.roc_auc(Y2[test], decided, sample_weight=weight[test]),
                f1_score(Y2[test], pred, sample_weight=weight[test]),
            )
        )
    for name, values in zip(("mcc", "roc_auc", "f1"), np.transpose(expected), strict=True):
        assert found[f"test_{name}"] == pytest.approx(values)
    assert searched[0] == pytest.approx(np.mean([f1 for *_, f1 in expected]))
    assert tuned.cv_results_["scores"][1] == pytest.approx(np.mean([mcc for mcc, *_ in expected]))


def test_weights_in_a_call() -> None:
    weight = np.arange(len(Y2)) % 3
    found = scorer("mcc")(TWO, X2, Y2, sample_weight=weight)
    assert found == pytest.approx(matthews_corrcoef(Y2, TWO.predict(X2), sample_weight=weight))
    with pytest.warns(UndefinedMetricWarning, match="mcc, log_loss: .* y_true has no sample of 0, 1"):
        assert math.isnan(scorer("mcc, log_loss")(TWO, X2, Y2, sample_weight=0 * weight)["mcc"])
    importance = permutation_importance(
        TWO, X2[:, :], Y2, scoring=scorer("mcc"), n_repeats=1, random_state=0, sample_weight=weight
    )
    assert np.isfinite(importance.importances).all()
    with pytest.raises(TypeError, match=r"sample_weight: expected a number for each sample, got \['a', "):
        scorer("mcc")(TWO, X2, Y2, sample_weight=["a"] * len(Y2))


def ppv_of_class(t: Any) -> Any:
    return t.divide(t.tp, t.pred)


def hit_rate(t: Any) -> Any:
    return t.divide(t.sum(t.tp, axis=0), t.total)


OWN = matrics.Metric.of(hit_rate, kind="overall", range=(0, 1), higher_is_better=True)


@pytest.mark.parametrize("metrics", ["mcc", "cen, f1", "roc_auc(multi_class=one_vs_one)", [OWN, "fbeta(beta=2)"]])
def test_copies_and_pickles_score_the_same(metrics: Any) -> None:
    first = scorer(metrics, labels=[0, 1, 2, 3], positive=None, zero_division=0)
    expected = first(LOGISTIC, X3, Y3)
    for same in (copy.deepcopy(first), pickle.loads(pickle.dumps(first)), clone(first, safe=False)):
        assert same(LOGISTIC, X3, Y3) == expected
        assert repr(same) == repr(first)
    search = clone(GridSearchCV(MODEL, {"C": [1]}, scoring=first))
    assert repr(search.scoring) == repr(first)


@pytest.mark.exhaustive
def test_two_processes() -> None:
    found = cross_validate(MODEL, X2, NAMES, cv=4, scoring=scorer([OWN, "mcc", "roc_auc"]), n_jobs=2)
    expected = cross_validate(MODEL, X2, NAMES, cv=4, scoring=scorer([OWN, "mcc", "roc_auc"]))
    for name in ("test_hit_rate", "test_mcc", "test_roc_auc"):
        assert (found[name] == expected[name]).all()


def test_the_text_is_the_call() -> None:
    assert repr(scorer("cen")) == "scorer('cen')"
    assert repr(scorer("mcc, f1", positive="fraud")) == "scorer(['mcc', 'f1'], positive='fraud')"
    assert (
        repr(scorer("mcc", labels=np.array([0, 1]), zero_division=0)) == "scorer('mcc', labels=[0, 1], zero_division=0)"
    )
    assert "scoring=scorer('cen')" in repr(GridSearchCV(MODEL, {}, scoring=scorer("cen")))


# Wrong inputs ---------------------------------------------------------------------------------------------------------

WRONG = {
    "no_direction": ("prevalence", ValueError, "expected measures with a better direction, got prevalence"),
    "classes": ("recall:class", ValueError, "expected a single value for each model, got 'recall:class'"),
    "classes_of_scores": ("roc_auc:class", ValueError, "expected 'roc_auc', with an average .:macro, :weighted"),
    "average": ("log_loss:macro", ValueError, "expected 'log_loss' without an average"),
    "unknown": ("mmc", ValueError, "unknown metric 'mmc'; did you mean"),
    "option": ("roc_auc(k=3)", TypeError, "roc_auc has no option 'k' in a scorer; its options: multi_class"),
    "number": (3, TypeError, "metrics: expected a name, a metric or a list of them, got int"),
    "none": ([], ValueError, "metrics: expected at least one metric, got none"),
    "function": (matthews_corrcoef, TypeError, "got the function matthews_corrcoef"),
    "lacking": ("expected_cost", ValueError, "expected costs"),
}


@pytest.mark.parametrize("case", WRONG)
def test_metrics_that_make_no_scorer(case: str) -> None:
    metrics, kind, message = WRONG[case]
    with pytest.raises(kind, match=message):
        scorer(metrics)


def test_two_measures_of_one_name() -> None:
    other = matrics.Metric.of(lambda t: t.total, kind="overall", range=(0, 1), higher_is_better=True, name="hit_rate")
    with pytest.raises(ValueError, match="expected a single measure of each name, got two that are called 'hit_rate'"):
        scorer([OWN, other])


def test_options_that_are_wrong() -> None:
    with pytest.raises(TypeError, match="zero_division: expected a number"):
        scorer("mcc", zero_division="nan")
    with pytest.raises(TypeError, match="labels: expected a list of labels"):
        scorer("mcc", labels="ab")
    with pytest.raises(ValueError, match="multi_class: expected 'one_vs_rest' or 'one_vs_one', got 'x'"):
        scorer("roc_auc(multi_class=x)")(LOGISTIC, X3, Y3)


def test_estimators_and_labels_that_are_wrong() -> None:
    with pytest.raises(TypeError, match="expected a fitted classifier, which has classes_, got LinearReg"):
        scorer("mcc")(LinearRegression().fit(X2, Y2), X2, Y2)
    two_labels = np.stack([Y2, 1 - Y2], axis=-1)
    forest = RandomForestClassifier(3).fit(X2, two_labels)
    with pytest.raises(
        ValueError, match="expected a single label for each sample, got RandomForestClassifier with 2 arrays"
    ):
        scorer("mcc")(forest, X2, two_labels)
    chain = ClassifierChain(MODEL).fit(X2, two_labels)
    with pytest.raises(ValueError, match="expected a single label for each sample, got ClassifierChain with 2 arrays"):
        scorer("mcc")(chain, X2, two_labels)
    with pytest.raises(
        ValueError, match=r"y_true: expected a single label for each sample, shape \(N,\), got shape \(569, 2"
    ):
        scorer("mcc")(TWO, X2, two_labels)
    with pytest.raises(
        ValueError, match=r"y_true: expected labels of the same type as estimator.classes_, 0, 1, got 'fr"
    ):
        scorer("mcc")(TWO, X2, NAMES)
    missing = np.array([*Y2[:-1], math.nan])
    with pytest.raises(
        ValueError, match="y_true: expected a label for every sample, got 1 of 569 missing, the first at"
    ):
        scorer("mcc")(TWO, X2, missing)
    with pytest.raises(ValueError, match="y_true: expected a label for every sample, got 1 of 569 missing"):
        scorer("mcc")(TWO, X2, np.array([None, *Y2[1:]], object))


def test_scores_that_are_wrong() -> None:
    class Odd(Counting):
        def predict_proba(self, _: Any) -> Any:
            return self.odd

    model = Odd().fit(X2, Y2)
    model.odd = np.full((569, 2), math.nan)
    with pytest.raises(ValueError, match="predict_proba: expected numbers, got NaN for 569 of 569 samples"):
        scorer("roc_auc")(model, X2, Y2)
    model.odd = np.ones((569, 3))
    with pytest.raises(
        ValueError, match=r"predict_proba: expected scores of 2 classes, \(N, 2\), got shape \(569, 3\)"
    ):
        scorer("roc_auc")(model, X2, Y2)


def test_an_estimator_without_classes_is_scored_with_labels() -> None:
    class Rule(BaseEstimator):
        def fit(self, *_: Any) -> Rule:
            return self

        def predict(self, X: Any) -> Any:
            return (X[:, 0] < 0).astype(int)

    assert scorer("accuracy", labels=[0, 1])(Rule(), X2, Y2) == ((X2[:, 0] < 0) == Y2).mean()


# The matrix of each fold ----------------------------------------------------------------------------------------------


def test_a_matrix_for_each_fold() -> None:
    folds = list(KFold(4, shuffle=True, random_state=0).split(X3))
    found = cross_validate_confusion(FOUR, X3, Y3, cv=folds)
    expected = [
        confusion_matrix(Y3[test], clone(FOUR).fit(X3[train], Y3[train]).predict(X3[test])) for train, test in folds
    ]
    assert (found == expected).all()
    assert matrics.mcc(found) == pytest.approx(cross_val_score(FOUR, X3, Y3, cv=folds, scoring=scorer("mcc")))
    assert cross_validate_confusion(FOUR, X3, Y3).shape == (5, 4, 4)
    piped = make_pipeline(StandardScaler(), FOUR)
    assert cross_validate_confusion(piped, X3, Y3, cv=GroupKFold(3).split(X3, Y3, np.arange(len(Y3)) % 7)).shape[0] == 3


def test_folds_that_lack_a_class_have_its_row() -> None:
    order = np.argsort(Y3, kind="stable")
    found = cross_validate_confusion(FOUR, X3[order], Y3[order], cv=KFold(4))
    assert found.shape == (4, 4, 4)
    assert found.sum() == len(Y3)
    assert (found.sum(axis=-1) == 0).any()


def test_predictions_for_a_comparison_of_models() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(X2, index=np.arange(len(X2)) + 7)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    one = cross_validate_confusion(MODEL, X, NAMES, cv=cv, return_indices=True)
    assert one.labels == ["fraud", "ok"]
    assert (one.y_true == NAMES[one.indices]).all()
    for fold in range(6):
        here = one.folds == fold
        assert (confusion_matrix(one.y_true[here], one.y_pred[here]) == one.cm[fold]).all()
    assert (one.cm == cross_validate_confusion(MODEL, X, NAMES, cv=cv)).all()
    assert len(one.to_frame()) == 2 * len(X)
    assert list(one.to_frame()) == ["indices", "folds", "y_true", "y_pred"]
    assert one.to_dict()["labels"] == ["fraud", "ok"]
    assert repr(one).startswith("CrossValidated(cm=")
    other = cross_validate_confusion(DummyClassifier(), X, NAMES, cv=cv, return_indices=True)
    assert (other.indices == one.indices).all()
    found = matrics.compare_models(
        *(one.y_true, [one.y_pred, other.y_pred], "accuracy"), labels=one.labels, clusters=one.indices, num=200, rng=0
    )
    assert found["accuracy"].tied.tolist() == [True, False]
    assert found["accuracy"].intervals.estimate == pytest.approx([(p.y_true == p.y_pred).mean() for p in (one, other)])
    floats = cross_validate_confusion(MODEL, X2, Y2.astype(float), return_indices=True)
    assert floats.labels == [0, 1]
    assert floats.y_pred.dtype.kind == "i"


def test_what_gives_no_matrices() -> None:
    with pytest.raises(TypeError, match="expected a fitted classifier, which has classes_, got LinearReg"):
        cross_validate_confusion(LinearRegression(), X2, X2[:, 0])
    with pytest.raises(ValueError, match="y: expected a single label for each sample"):
        cross_validate_confusion(MODEL, X2, np.stack([Y2, Y2], axis=-1))
    with pytest.raises(ValueError, match="y: expected a label for every sample, got 1 of 569 missing"):
        cross_validate_confusion(MODEL, X2, np.array([None, *NAMES[1:]], object))
