"""Reports in Python: what is found, and the page."""

from __future__ import annotations

import html
import itertools
import json
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

RANDOM = np.random.default_rng(19)
SAMPLES = 150
HOSTILE = ("<script>alert(1)</script>", "</svg><img src=x onerror=alert(1)>", '"it\'s" $\\frac{ {{ 7 }} & <b>')
CLASSES = ("--><!--", "<i>cat", "]]>")
TRUE = np.arange(SAMPLES) % 3
PRED = [np.where(RANDOM.random(SAMPLES) < share, TRUE, (TRUE + RANDOM.integers(1, 3, SAMPLES)) % 3) for share in
        (0.95, 0.93, 0.4)]  # fmt: skip
SIDE = ("east", "<u>west")


def columns() -> dict[str, list[Any]]:
    """A table of three models, in no order."""
    rows = [
        (HOSTILE[m], k, SIDE[k // 3 % 2], CLASSES[TRUE[k]], CLASSES[PRED[m][k]])
        for m, k in itertools.product(range(3), range(SAMPLES))
    ]
    rows = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]
    return {
        name: list(values)
        for name, values in zip(("model", "id", "side", "y_true", "y_pred"), zip(*rows, strict=True), strict=True)
    }


GOOD = {"y_true": [0, 1], "y_pred": [0, 1]}
OPTIONS: dict[str, Any] = {"by": "model", "paired_on": "id", "groups": "side", "num": 200, "metrics": "mcc,accuracy,f1"}


@pytest.fixture(scope="module")
def made() -> Any:
    return matrics.report(columns(), **OPTIONS)


class Page(HTMLParser):
    """What a browser would make of a page, as far as the tests ask."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def page(made: Any) -> Page:
    return Page(made.html())


def test_the_findings_are_those_of_the_library(made: Any) -> None:
    """Scores, limits, the tied set and the chances, of models in another order."""
    found = made.findings.leaderboard
    models = [HOSTILE.index(name) for name in made.data.models]
    places = [sorted(CLASSES).index(name) for name in CLASSES]
    true, pred = np.take(places, TRUE), np.take(places, [PRED[m] for m in models])
    direct = matrics.compare_models(true, pred, ["mcc", "accuracy", "f1"], num_classes=3, num=200, rng=0)
    for name, one in direct.items():
        verdict = found.verdicts[name]
        np.testing.assert_array_equal(verdict.estimate, one.intervals.estimate)
        np.testing.assert_array_equal(verdict.low, one.intervals.low)
        np.testing.assert_array_equal(verdict.tied, one.tied)
        np.testing.assert_array_equal(verdict.probability_best, one.probability_best)
    accuracy = np.asarray([np.mean(PRED[m] == TRUE) for m in models])
    np.testing.assert_allclose(found.verdicts["accuracy"].estimate, accuracy)
    assert [made.data.models[k] for k in found.order][2] == HOSTILE[2]
    assert set(found.tied) == {k for k, m in enumerate(models) if m < 2}


def test_errors_and_groups_are_counted_right(made: Any) -> None:
    model = HOSTILE.index(made.findings.classes[0].model)
    top = made.findings.classes[0].errors[0]
    counted = {
        (a, b): int((np.equal(TRUE, i) & (PRED[model] == j)).sum())
        for (i, a), (j, b) in itertools.permutations(enumerate(CLASSES), 2)
    }
    assert top.samples == max(counted.values()) == counted[top.true, top.predicted]
    row = made.findings.classes[0].classes[0]
    k = CLASSES.index(row.name)
    assert row.recall.value == pytest.approx((PRED[model] == k)[np.equal(TRUE, k)].mean())
    east = np.arange(SAMPLES) // 3 % 2 == 0
    groups = {one.name: one for one in made.findings.groups[0].rows}
    assert groups["east"].samples == east.sum()
    (expected,) = matrics.score(
        [np.bincount(3 * TRUE[side] + PRED[model][side], minlength=9).reshape(3, 3) for side in (east, ~east)], "mcc"
    ).values()
    assert [groups[name].measured.value for name in SIDE] == pytest.approx(expected)


@pytest.mark.exhaustive
def test_text_from_files_is_no_markup(page: Page) -> None:
    """Names are there as text, and nothing of them is an element or an attribute that runs."""
    for name in (*HOSTILE, *CLASSES, *SIDE):
        assert name in page.text
    assert [one.get("type") for one in page.of("script")] == ["application/json", None]  # and only ours runs
    assert not any(page.of(tag) for tag in ("img", "i", "b", "u", "iframe"))
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "$\\frac{ {{ 7 }}" in page.text  # neither a formula nor a template


def test_the_page_needs_nothing_else(made: Any, page: Page) -> None:
    links = [
        value for _, attributes in page.tags for name, value in attributes.items() if name.endswith(("src", "href"))
    ]
    assert links
    assert all(str(link).startswith(("#", "data:image/png;base64,")) for link in links)
    assert "@import" not in made.html()
    assert not re.search(r"url\((?!#)", made.html())
    assert len(made.html().encode()) < 3e6
    assert made.html() == matrics.report(columns(), **OPTIONS).html()


def test_the_page_can_be_read_aloud_and_by_keyboard(page: Page) -> None:
    """Headings in order, names of pictures and tables, one id each, and the column that is sorted."""
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert len(page.of("svg")) >= 5
    assert all(one["role"] == "img" and one["aria-label"] for one in page.of("svg"))
    assert len(page.of("caption")) == len(page.of("table"))
    assert all(one.get("scope") in ("col", "row") for one in page.of("th"))
    ids = [one["id"] for _, one in page.tags if "id" in one]
    assert len(ids) == len(set(ids))
    used = {str(one["href"])[1:] for one in page.of("a")}
    assert used <= set(ids)
    assert [one["aria-sort"] for one in page.of("th") if "aria-sort" in one] == ["ascending"]
    assert page.of("html") == [{"lang": "en"}]


def test_a_notebook_shows_it_in_a_frame(made: Any) -> None:
    (frame,) = Page(made._repr_html_()).of("iframe")
    assert frame["srcdoc"] == made.html()
    assert html.escape(HOSTILE[0]) not in made._repr_html_()  # escaped twice


def test_in_words(made: Any) -> None:
    told = made.describe()
    assert told.startswith("450 predictions of 3 models over 3 classes were scored, on the same 150 samples.")
    assert "(not significantly different from the best)" in told
    assert "Efron and Tibshirani 1993" in told


def cautions(data: Any, **options: Any) -> str:
    return "\n".join(one.text for one in matrics.report(data, **options).findings.cautions)


def test_warnings_of_a_careful_reviewer() -> None:
    good = [[90, 10], [10, 90]]
    plain = cautions({"a": good})
    assert "fewer than 20" not in plain
    assert "guessing" not in plain
    several = cautions({"a": good, "guess": [[50, 50], [50, 50]], "one": [[190, 0], [5, 0]], "again": good})
    assert "1 class has fewer than 20 samples in at least one model: 1 (5)." in several
    assert "Not significantly better than guessing: guess.\n" in several
    assert "MCC is undefined for one" in several
    assert "Precision is undefined for" not in several  # it is the mean of the classes that are predicted
    assert "Classes without predictions, whose precision is undefined: 1 by one." in several
    assert "different numbers of samples, from 195 (one) to 200 (a)" in several
    assert "differ significantly between models: class 0 is 50\u00a0% of the samples of a" in several
    assert "a and again have the same confusion matrix" in several
    assert "97.4\u00a0% of the samples are of class 0" in cautions({"one": [[185, 5], [2, 3]]})


def test_repeated_samples_are_clusters() -> None:
    """Twice the same rows tell no more than once."""
    table = columns()
    twice = {name: values * 2 for name, values in table.items()}
    options = {"by": "model", "paired_on": "id", "metrics": "accuracy", "num": 200}
    once, again = (matrics.report(data, **options) for data in (table, twice))
    one, two = (made.findings.leaderboard.verdict for made in (once, again))
    np.testing.assert_allclose(two.high - two.low, one.high - one.low, rtol=0.1)
    text = "\n".join(caution.text for caution in again.findings.cautions)
    assert "Models were compared with only 200 replicates" in text
    few = {
        name: [value for k, value in zip(twice["id"], values, strict=True) if k < 45] for name, values in twice.items()
    }
    assert "3 classes have fewer than 20 samples" in cautions(few, **options)
    assert "Each model predicted each of the 150 samples 2 times." in text


def test_parities_are_those_of_the_positive_class() -> None:
    """Of the class that is named, which need not be the second in the order of the labels."""
    data = {"y_true": [*"aabbaabb"] * 20, "y_pred": [*"aabbabbb"] * 20, "g": [*"xxxxyyyy"] * 20}
    for positive, apart in (("a", 0.5), ("b", 0.0)):
        (one,) = matrics.report(data, groups="g", positive=positive, metrics="accuracy").findings.groups
        found = one.parities[f"equal opportunity: difference in the recall of {positive}"]
        assert found == apart
        assert one.parities[f"demographic parity: difference between the shares predicted as {positive}"] == 0.25


TESTED = {
    "y_true": ["disease"] * 100 + ["healthy"] * 100,
    "y_pred": ["disease"] * 90 + ["healthy"] * 80 + ["disease"] * 30,
}


def test_measures_are_of_the_positive_class_and_say_so() -> None:
    """The class that is named, although the other one is the last in the order of the labels."""
    metrics = "sensitivity:binary,specificity,recall,recall:binary,precision:macro,recall[healthy],mcc"
    made = matrics.report(TESTED, positive="disease", metrics=metrics)
    assert {one.label: round(float(one.estimate[0]), 3) for one in made.findings.leaderboard.verdicts.values()} == {
        "sensitivity of disease": 0.9,
        "specificity of disease": 0.7,
        "recall of disease": 0.9,
        "precision, macro": 0.812,
        "recall of healthy": 0.7,
        "mcc": 0.612,
    }
    assert made.findings.summary[1] == "The model has sensitivity of disease 0.900 (0.826 to 0.945)."
    assert "scored by sensitivity of disease; specificity of disease; recall of disease;" in made.findings.methods
    page = Page(made.html()).text
    assert page.count("sensitivity of disease") > 4
    assert page.count("sensitivity:binary") == 1  # in the call that makes the report


def test_without_a_positive_class_means_are_said_to_be_means() -> None:
    made = matrics.report(TESTED, metrics="recall,f1")
    assert [one.measure for one in made.findings.measures] == ["recall, mean over classes", "F1, mean over classes"]
    assert made.findings.leaderboard.verdict.estimate[0] == pytest.approx(0.8)
    means = matrics.report(TESTED, metrics="sensitivity,ppv").findings.leaderboard.verdicts.values()
    assert [one.label for one in means] == ["sensitivity, macro", "ppv, macro"]
    for metrics in ("recall:binary", "sensitivity:binary", "ppv:binary,mcc"):
        with pytest.raises(ValueError, match=r"neither of 'disease', 'healthy' is the default: pass positive="):
            matrics.report(TESTED, metrics=metrics)
    # Numbers have an order, and positive is one of several classes against the rest.
    made = matrics.report({"a": [[70, 30], [10, 90]]}, metrics="sensitivity")
    assert made.findings.leaderboard.verdict.label == "sensitivity of class 1"
    three = {"a": [[8, 1, 1], [2, 6, 2], [0, 0, 10]]}
    made = matrics.report(three, metrics="recall,mcc", positive="b", class_names=["a", "b", "c"])
    assert made.findings.leaderboard.verdict.label == "recall of b"
    assert made.findings.leaderboard.verdict.estimate[0] == pytest.approx(0.6)


def test_parities_of_each_class_where_none_is_positive() -> None:
    data = {"y_true": [*"aabbaabb"] * 20, "y_pred": [*"aabbabbb"] * 20, "g": [*"xxxxyyyy"] * 20}
    (one,) = matrics.report(data, groups="g", metrics="accuracy").findings.groups
    recalls = [name for name in one.parities if name.startswith("equal opportunity")]
    assert [name[-1] for name in recalls] == ["a", "b"]
    assert [one.parities[name] for name in recalls] == [0.5, 0.0]


def test_scores_tell_the_positive_class() -> None:
    """A column of scores of a class that is named, or that predicts the labels, is of the positive class."""
    data = {"y_true": ["ok", "fraud"] * 30, "p": [0.2, 0.9, 0.7, 0.4, 0.1, 0.8] * 10}
    for options in ({"y_score": "p", "positive": "fraud"}, {"y_score": {"fraud": "p"}}):
        made = matrics.report(data, metrics="recall", **options)
        assert made.findings.leaderboard.verdict.label == "recall of fraud"
        assert made.findings.leaderboard.verdict.estimate[0] == pytest.approx(2 / 3)
        assert made.findings.scores[0].roc_auc == pytest.approx(8 / 9)


@pytest.mark.exhaustive
def test_random_numbers() -> None:
    """A generator gives a seed, which is on the page; None a new one."""
    options = {"by": "model", "paired_on": "id", "metrics": "accuracy", "num": 20}
    made = [matrics.report(columns(), rng=rng, **options) for rng in (np.random.default_rng(3), None, None)]
    assert len({one.settings.seed for one in made}) == 3
    again = matrics.report(columns(), rng=made[0].settings.seed, **options)
    assert again.html() == made[0].html()


def test_small_groups_and_groups_alike() -> None:
    """The number of samples is the warning's, and no difference is no riddle about chance."""
    data = {"y_true": [0, 1] * 60, "y_pred": [0, 1] * 60, "g": ["x"] * 12 + ["y"] * 108}
    made = matrics.report(data, groups="g", metrics="accuracy")
    assert made.findings.groups[0].sentence == "Accuracy is 1.000 in all 2 groups where it is defined."
    assert "1 group has fewer than 20 samples: x (12)." in [one.first for one in made.findings.cautions]


def test_sentences_are_whole_and_true() -> None:
    """Names with full stops and commas, and models without a value."""
    guess = {"St. Mary. A, B": [[50, 50], [50, 50]], "C, D": [[50, 50], [50, 50]], "E": [[50, 50], [50, 50]]}
    summary = matrics.report(guess, metrics="mcc").findings.summary
    assert summary[1].endswith("and is not significantly different from C, D; and E.")
    assert summary[2].endswith("than guessing: St. Mary. A, B; C, D; and E.")
    three = {name: np.diag([40, 40, 40]) + np.array([[0, 0, 0], [0, 0, 0], [k, 0, 0]]) for k, name in enumerate("abcd")}
    hardest = matrics.report(three, metrics="accuracy").findings.hardest
    assert matrics.report(three, metrics="accuracy").findings.classes[0].sentences == [
        "The model makes no errors on these samples."
    ]
    assert hardest == ["Of the 4 models that may be the best, class 2 has the lowest recall in 3."]
    commas = {
        "m": ["a, b", "a"] * 40,
        "k": ["c", "b, c"] * 40,
        "y_true": [0, 0, 1, 1] * 20,
        "y_pred": [0, 0, 1, 1] * 20,
    }
    models = matrics.report(commas, by=["m", "k"], metrics="accuracy").data.models
    assert set(models) == {"'a', 'b, c'", "'a, b', 'c'"}
    alone = matrics.report({"one": [[40, 5], [5, 40]], "two": [[90, 0], [0, 0]]}, metrics="mcc").findings.summary
    assert alone[1].endswith("; MCC is undefined for the other model.")


def test_scores() -> None:
    """Areas by counting pairs; labels that are predicted from 0.5 on."""
    true, scores = np.arange(60) % 2, RANDOM.random(60).round(2)
    data = {"y_true": true, "p": scores}
    made = matrics.report(data, y_score="p", metrics="accuracy")
    (one,) = made.findings.scores
    above = scores[true == 1][:, None] - scores[true == 0][None]
    assert one.roc_auc == pytest.approx(((above > 0) + (above == 0) / 2).mean())
    assert one.brier_score == pytest.approx(((scores - true) ** 2).mean())
    assert made.findings.leaderboard.verdict.estimate[0] == pytest.approx(((scores >= 0.5) == true).mean())
    assert "A sample is predicted as 1 if its score is at least 0.5" in "".join(c.text for c in made.findings.cautions)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"y_true": [0, 1], "y_pred": [0, 1]}, {"by": "model"}, "data: expected a column 'model'"),
        ({"y_true": [0, 1], "y_pred": [0, None]}, {}, "column 'y_pred': expected a value in every row, got 1 missing"),
        ({"y_true": [0.5, 1], "y_pred": [0, 1]}, {}, "expected labels, whole numbers or text, got 0.5"),
        (GOOD, {"metrics": "recall:class"}, "metrics: expected measures with a single value"),
        (GOOD, {"metrics": "true_entropy"}, "metrics: expected measures with a better"),
        ({"y_true": [0, 1], "y_pred": [0, 1]}, {"rng": -1}, "rng: expected a seed"),
        ({"y_true": [0, 1], "y_pred": [0, 1]}, {"groups": "y_true"}, "groups: expected a column that no other"),
        ({"a": [[1, 2], [3, -4]]}, {}, "data: expected counts of at least 0"),
        ({"1": [[1, 2], [3, 4]], 1: [[1, 2], [3, 4]]}, {}, "data: expected models with different names"),
        (GOOD | {"m": [1, 2]}, {"by": ["m", "m"]}, "by: expected different columns"),
        (GOOD, {"positive": "2"}, "positive: expected one of the classes 0, 1, got '2'"),
        ({"y_true": ["a", "b"], "p": [0.1, 0.2]}, {"y_score": "p"}, "positive: expected the label of the class"),
    ],
)  # fmt: skip
def test_what_is_refused(data: Any, options: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        matrics.report(data, **options)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=re.escape('python -m pip install "matrics[report]"')):
        matrics.report({"a": [[3, 1], [1, 3]]})


def test_a_file_of_its_own_kind(tmp_path: Any) -> None:
    made = matrics.report({"a": [[30, 10], [10, 30]]}, metrics="accuracy", class_names=["cat", "dog"])
    with pytest.raises(ValueError, match=r"path: expected the name of a file that ends in \.html, \.md or \.pdf"):
        made.save(tmp_path / "report.docx")
    assert made.save(tmp_path / "report.html").read_text("utf-8") == made.html()


@pytest.mark.exhaustive
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_all_tables_tell_the_same(made: Any, library: str) -> None:
    module = pytest.importorskip(library)
    table = module.table(columns()) if library == "pyarrow" else module.DataFrame(columns())
    other = matrics.report(table, **OPTIONS)
    assert other.html() == made.html()


@pytest.mark.exhaustive
def test_accuracy_ranks_many_classes_though_it_was_not_asked_for() -> None:
    n = 80
    stack = {f"run {k}": np.ones((n, n), int) + k * np.eye(n, dtype=int) for k in range(30)}
    found = matrics.report(stack, metrics="mcc").findings.leaderboard
    assert (found.judged, list(found.verdicts)) == (("accuracy",), ["accuracy", "mcc"])


@pytest.mark.exhaustive
def test_many_models_and_classes_are_thinned() -> None:
    """Only the best 30 are compared, by accuracy alone, and the page says so."""
    n, models = 60, 40
    base = np.full((n, n), 1) + np.eye(n, dtype=int) * 100
    made = matrics.report({f"run {k}": base + k * np.eye(n, dtype=int) for k in range(models)})
    found = made.findings.leaderboard
    assert (len(found.compared), found.judged, len(made.findings.best)) == (30, ("accuracy",), 2)
    assert found.order == list(range(models))[::-1]
    text = "\n".join(one.text for one in made.findings.cautions)
    assert "Only the 30 models with the best accuracy were compared" in text
    assert len(made.html().encode()) < 1e6


@pytest.mark.exhaustive
def test_scores_of_every_class() -> None:
    """Areas are means over classes, as scikit-learn computes them."""
    metrics = pytest.importorskip("sklearn.metrics")
    true = np.arange(90) % 3
    probs = RANDOM.dirichlet(np.ones(3), 90) + 2 * np.eye(3)[true] * RANDOM.random((90, 1))
    probs /= probs.sum(axis=1, keepdims=True)
    data = {"y_true": np.array(["a", "b", "c"])[true], **{f"p{k}": probs[:, k] for k in range(3)}}
    made = matrics.report(data, y_score={"c": "p2", "a": "p0", "b": "p1"}, metrics="accuracy")
    (one,) = made.findings.scores
    assert one.roc_auc == pytest.approx(metrics.roc_auc_score(true, probs, multi_class="ovr"))
    assert one.log_loss == pytest.approx(metrics.log_loss(true, probs))
    assert "each class against the rest" in made.html()


def weighted() -> dict[str, list[Any]]:
    """Two models on the same samples, with a weight for each."""
    rng = np.random.default_rng(5)
    true, weights = rng.integers(0, 2, 600), rng.lognormal(size=600)
    pred = [np.where(rng.random(600) < share, true, 1 - true) for share in (0.9, 0.6)]
    return {
        "model": ["good"] * 600 + ["poor"] * 600,
        "id": [*range(600)] * 2,
        "y_true": [*true.tolist()] * 2,
        "y_pred": [*pred[0].tolist(), *pred[1].tolist()],
        "w": [*weights.tolist()] * 2,
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("paired", [{}, {"paired_on": "id", "num": 300}])
def test_weighted_samples(paired: dict[str, Any]) -> None:
    """Limits and comparisons are those of the library for weighted samples, and the page says how many these are."""
    table = weighted()
    made = matrics.report(table, by="model", sample_weight="w", metrics="accuracy,mcc", **paired)
    true, weights = np.asarray(table["y_true"][:600]), np.asarray(table["w"][:600])
    pred = np.reshape(table["y_pred"], (2, 600))
    cm, squares = (matrics.confusion_matrix(true, pred, num_classes=2, sample_weight=w) for w in (weights, weights**2))
    board = made.findings.leaderboard
    if paired:
        options = {"num_classes": 2, "sample_weight": weights, "num": 300, "rng": 0}
        wanted = matrics.compare_models(true, pred, ["accuracy", "mcc"], **options)
        for name, one in wanted.items():
            np.testing.assert_allclose(board.verdicts[name].low, one.intervals.low)
    else:
        intervals = matrics.interval(cm, ["accuracy", "mcc"], squared_weights=squares)
        for name, interval in intervals.items():
            np.testing.assert_allclose(board.verdicts[name].low, interval.low)
            np.testing.assert_allclose(board.verdicts[name].high, interval.high)
        gap = matrics.compare(cm[0], cm[1], "mcc", squared_weights=(squares[0], squares[1]))["mcc"]
        np.testing.assert_allclose(board.verdicts["mcc"].difference_low[1], gap.low)
    by_class = matrics.interval(cm[0], "recall:class", squared_weights=squares[0])["recall:class"]
    worst = int(np.argmin(by_class.estimate))
    np.testing.assert_allclose(made.findings.classes[0].classes[0].recall.low, by_class.low[worst])
    effective = weights.sum() ** 2 / (weights**2).sum()
    text = made.describe()
    assert f"(Σ w)² / Σ w², is {effective:.0f}." in text
    assert "2 models with 600 predictions each" in text
    assert "weighted samples" in text
    page = made.html()
    assert "Fisher" not in page
    assert "McNemar" not in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": "id"}, "sample_weight: expected no weights with columns of groups or scores"),
        ({"y_score": "id"}, "sample_weight: expected no weights with columns of groups or scores"),
        ({"sample_weight": "model"}, "sample_weight: expected a column that no other argument names"),
        ({"sample_weight": "nowhere"}, "data: expected a column 'nowhere'"),
        (
            {"paired_on": "id", "sample_weight": "own"},
            "expected the same weights for each model, got different values for ",
        ),
        ({"sample_weight": "minus"}, "column 'minus': expected finite weights of at least 0, got -1 at position 3"),
        ({"sample_weight": "none"}, "column 'none': expected weights above 0, got only 0"),
    ],
)
def test_weights_that_are_refused(change: dict[str, Any], message: str) -> None:
    table = weighted()
    table["own"] = [*table["w"][:-1], 7.0]
    table["minus"] = [1.0, 1.0, 1.0, -1.0, *[1.0] * 1196]
    table["none"] = [0.0] * 1200
    with pytest.raises(ValueError, match=message):
        matrics.report(table, **({"by": "model", "sample_weight": "w"} | change))


@pytest.mark.exhaustive
def test_names_are_written_as_people_write_them() -> None:
    """And the frame keeps those of the library."""
    made = matrics.report({"a": [[40, 2], [3, 35]], "b": [[30, 12], [9, 29]]}, metrics="mcc,cohen_kappa,f1:macro")
    assert [one.title for one in made.findings.leaderboard.verdicts.values()] == [
        "MCC", "Cohen's kappa", "F1, mean over classes",
    ]  # fmt: skip
    assert "Cohen's kappa" in Page(made.html()).text
    assert set(made.to_frame()["measure"]) == {"mcc", "cohen_kappa", "f1, macro"}


@pytest.mark.exhaustive
def test_two_classes_are_led_by_sensitivity_and_specificity() -> None:
    """Of the named class, with the limits of the diagnostic table."""
    made = matrics.report(TESTED, positive="disease")
    found = made.findings.detection
    assert (found.positive, found.negative, found.names) == (
        "disease", "healthy", ("sensitivity", "specificity", "PPV", "NPV"),
    )  # fmt: skip
    table = matrics.stats.diagnostic_table([[90, 10], [30, 70]], positive=0).to_frame()
    values = table.set_index("measure")
    for one, name in zip(
        found.rows[0],
        ("sensitivity", "specificity", "positive predictive value", "negative predictive value"),
        strict=True,
    ):
        assert (one.value, one.low, one.high) == pytest.approx(tuple(values.loc[name, ["estimate", "low", "high"]]))
    assert "Detection of disease" in Page(made.html()).text
    assert "Positive class" in Page(made.html()).text
    assert matrics.report(TESTED).findings.detection is None  # no class is the positive one
    assert "none (averages are over both classes)" in matrics.report(TESTED).html()


@pytest.mark.exhaustive
def test_a_default_measure_that_tells_no_models_apart_is_left_out() -> None:
    base = np.array([[500, 3, 2], [2, 480, 5], [1, 4, 510]])
    stack = {f"run {k}": base + np.diag([k, 2 * k, 0]) + k * np.eye(3, k=1, dtype=int) for k in range(4)}
    made = matrics.report(stack)
    assert made.findings.leaderboard.left_out == ("EVE (eigenvalues entropy)",)
    assert (
        "Measures with the same value for most models are left out: EVE (eigenvalues entropy)."
        in Page(made.html()).text
    )
    assert "eve" in matrics.report(stack, metrics="mcc,eve").findings.leaderboard.verdicts
    same = matrics.report({"a": base, "b": base})
    assert not same.findings.leaderboard.left_out  # equal models look the same by every measure


def test_each_limitation_is_told_once(made: Any) -> None:
    text = Page(made.html()).text
    for one in made.findings.limitations:
        assert text.count(one.sentence) == 1
        assert one.measures
    assert {name for one in made.findings.limitations for name in one.measures} <= {
        one.measure for one in made.findings.measures
    }


def test_pictures_are_those_of_the_page(made: Any, tmp_path: Any) -> None:
    names = {str(one["id"]).removesuffix("-figure") for one in Page(made.html()).of("figure")}
    assert names == set(made.pictures)
    assert made.pictures["matrix1"].save(tmp_path / "matrix.png").stat().st_size > 1000
    codes = [str(one["data-code"]) for one in Page(made.html()).of("figure")]
    assert all(made.call in code for code in codes)
    assert made.call == (
        "matrics.report(data, by='model', paired_on='id', groups='side', metrics='mcc,accuracy,f1', num=200)"
    )


def test_markdown_has_what_the_page_has(made: Any, tmp_path: Any) -> None:
    text = made.save(tmp_path / "report.md").read_text("utf-8")
    for sentence in (*made.findings.summary, *made.findings.classes[0].sentences, made.findings.methods):
        assert re.sub(r"([\\*_|<>\[\]$#`])", r"\\\1", sentence) in text
    assert "<script>" not in text.replace("\\<script\\>", "")
    board = text.partition("## Leaderboard")[2].partition("## ")[0]
    rows = [line for line in board.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(made.data.models)  # the head, and the rule below it
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}


def test_a_title_is_on_the_page() -> None:
    made = matrics.report({"a": [[3, 1], [1, 3]]}, title="Week <48>", metrics="accuracy")
    assert "<title>Week &lt;48&gt;</title>" in made.html()
    assert made.markdown().startswith("# Week \\<48\\>")
    with pytest.raises(ValueError, match="title: expected a text, got 3"):
        matrics.report({"a": [[3, 1], [1, 3]]}, title=3)  # type: ignore[arg-type]


@pytest.mark.exhaustive
def test_what_changed_since_an_older_page(tmp_path: Any) -> None:
    """Values, models that are new or gone, and another best one."""
    old = {"</script>": [[40, 10], [10, 40]], "b": [[45, 5], [5, 45]], "gone": [[50, 0], [0, 50]]}
    new = {"</script>": [[48, 2], [2, 48]], "b": [[45, 5], [5, 45]], "new": [[25, 25], [25, 25]]}
    page = matrics.report(old, metrics="accuracy,mcc").save(tmp_path / "old.html")
    made = matrics.report(new, metrics="mcc,accuracy,f1", compare=page)
    changes = made.changes
    assert made.changes.sentences[0] == "New models: new."  # the two have another first measure
    assert changes.measures == ["accuracy", "MCC"]
    assert {one.model: one.values for one in changes.models} == {
        "</script>": [(0.8, 0.96), pytest.approx((0.6, 0.92))],
        "b": [(0.9, 0.9), pytest.approx((0.8, 0.8))],
    }
    assert changes.sentences == [
        "New models: new.",
        "Models that are no longer included: gone.",
        (
            "Values of 1 model have changed, of the 2 in both reports. The largest change is in MCC of </script>, from "
            "0.600 to 0.920."
        ),
    ]
    assert "was 0.800" in Page(made.html()).text
    assert "Changes since old.html" in made.markdown()
    again = matrics.report(old, metrics="accuracy,mcc", compare=page).changes
    assert again.sentences == [
        "The data are identical, byte by byte.", "No value has changed for the models of both reports.",
    ]  # fmt: skip
    (tmp_path / "other.html").write_text("<html></html>")
    with pytest.raises(ValueError, match="compare: expected a page written by matrics report"):
        matrics.report(old, compare=tmp_path / "other.html")


def test_an_older_page_has_a_limit(monkeypatch: Any, tmp_path: Path) -> None:
    """The values come from the JSON of the page, and neither may be longer than is read."""
    data = {"y_true": [0, 1] * 30, "y_pred": [0, 1] * 30}
    page = matrics.report(data, metrics="accuracy").save(tmp_path / "old.html")
    text = page.read_text("utf-8")
    page.write_text(text.replace("1.000", "0.500"), "utf-8")  # what people read of the page has no effect
    changes = matrics.report(data, metrics="accuracy", compare=page).changes
    assert [one.values for one in changes.models] == [[(1.0, 1.0)]]
    for name, limit, what in (
        ("MOST_VALUES", 20, "whose values have at most 20"),
        ("MOST_BYTES", 999, "at most 999 by"),
    ):
        monkeypatch.setattr(f"matrics._reporting.changes.{name}", limit)
        with pytest.raises(ValueError, match=f"compare: expected a page .*{what}"):
            matrics.report(data, metrics="accuracy", compare=page)


def test_groups_have_all_measures_and_keep_their_order() -> None:
    """The values and Wilson's limits of each group, in the order of the numbers and not of the values."""
    random = np.random.default_rng(5)
    month = np.repeat([1, 2, 10], 200)
    true = random.random(600) < 0.3
    pred = np.where(random.random(600) < np.where(month == 2, 0.6, 0.9), true, ~true)
    data = {"y_true": true.astype(int), "y_pred": pred.astype(int), "month": month}
    report = matrics.report(data, groups="month", metrics="mcc,precision,f1")
    (groups,) = report.findings.groups
    assert [row.name for row in groups.rows] == ["1", "2", "10"]
    assert groups.measures == ["MCC", "precision of class 1", "F1 of class 1", "recall of 0", "recall of 1"]
    for row in groups.rows:
        here = month == int(row.name)
        assert (row.samples, row.positives) == (200, true[here].sum())
        hits, number = (true & pred)[here].sum(), pred[here].sum()
        precision = row.values["precision of class 1"]
        assert precision.value == pytest.approx(hits / number)
        p, z = hits / number, 1.959963984540054
        middle, reach = p + z**2 / (2 * number), z * np.sqrt(p * (1 - p) / number + z**2 / (4 * number**2))
        assert precision.low == pytest.approx((middle - reach) / (1 + z**2 / number))
        assert row.values["recall of 1"].value == pytest.approx(hits / true[here].sum())
    head, _, first, second, *_ = report.markdown().partition("## Groups by month")[2].split("| group")[1].splitlines()
    assert head.count("|") == 8
    assert first.startswith("| 1 | 200 |")
    assert second.startswith("| 2 | 200 |")


def test_dark_pictures_keep_every_contrast() -> None:
    """The contrast of two colours, as WCAG defines it, is the same after both were reflected; white is the paper."""
    from matrics._plot.style import luminance
    from matrics._reporting.dark import PAPER, reflected

    colours = np.random.default_rng(0).random((500, 3)) * 0.8 + 0.2

    def contrast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (luminance(a) + 0.05) / (luminance(b) + 0.05)

    np.testing.assert_allclose(reflected(np.ones(3)), PAPER, atol=0.01)
    dark = reflected(colours)
    np.testing.assert_allclose(contrast(dark[0], dark), contrast(colours, colours[0]), rtol=1e-3)
    assert ((dark >= 0) & (dark <= 1)).all()


def test_pictures_have_the_colours_of_the_page(made: Any) -> None:
    """Variables, and the dots of a heat map once for each kind of page; no smallest text below 11 pixels."""
    page = made.html()
    assert not re.search(r"(?:fill|stroke): ?#", page[page.index("<main") :])
    images = Page(page).of("image")
    assert [one["class"] for one in images] == ["light", "dark"] * (len(images) // 2)
    assert images
    cards = re.findall(r'--least: ([0-9.]+)px; --most: ([0-9.]+)px">(<svg.*?</svg>)', page, re.DOTALL)
    assert len(cards) == len(made.pictures)
    for least, most, svg in cards:
        width = float(re.search(r'width="([0-9.]+)pt"', svg)[1])
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: ?(?:\w+ )?([0-9.]+)px", svg)]
        assert min(sizes) * float(least) / width >= 10.99
        assert float(most) >= float(least)


@pytest.mark.exhaustive
def test_a_pdf_is_printed(made: Any, tmp_path: Any) -> None:
    """By a browser, where there is one."""
    from matrics._reporting.page import BROWSERS

    if not any(shutil.which(name) for name in BROWSERS):
        pytest.skip("no browser here")
    assert made.save(tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_without_a_browser_a_pdf_needs_weasyprint(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(ImportError, match=r"a PDF needs a browser .* or WeasyPrint"):
        made.pdf()


def own_share(t: Any) -> Any:
    """A measure that only this process knows."""
    return t.tp / t.true


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("data", "options"),
    [
        ({"net": [[40, 10], [5, 45]]}, {"class_names": ["cat", "dog"], "positive": "dog", "metrics": "sensitivity"}),
        ({"net": [[40, 10], [5, 45]]}, {"metrics": (name for name in ("mcc", "accuracy")), "positive": np.int64(1)}),
        (columns(), {"by": "model", "paired_on": "id", "num": 20, "metrics": ["accuracy"], "level": 0.9}),
    ],
)
def test_the_code_of_a_picture_makes_it(
    data: Any, options: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a browser reads it from the page."""
    made = matrics.report(data, **options)
    monkeypatch.chdir(tmp_path)
    figures = Page(made.html()).of("figure")
    assert figures
    for one in figures[:1]:
        known: dict[str, Any] = {"data": data}
        exec(str(one["data-code"]), known)  # noqa: S102 (what a reader would do)
        assert known["report"].html() == made.html()
        assert Path(f"{str(one['id']).removesuffix('-figure')}.pdf").read_bytes().startswith(b"%PDF")


def test_a_measure_of_ones_own_is_called_by_its_name() -> None:
    own = matrics.Metric.of(own_share, kind="per_class", range=(0, 1), higher_is_better=True)
    made = matrics.report({"a": [[3, 1], [1, 3]]}, metrics=["accuracy", own.using(average="macro")])
    assert "metrics=['accuracy', own_share:macro]" in made.call


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:the labels 'yes' and")
def test_names_that_look_alike_stay_apart() -> None:
    """Labels that differ in white space, or in the middle of many letters."""
    long = ["x" * 40 + middle + "x" * 40 for middle in "ab"]
    data = {"y_true": ["yes", "yes ", *long] * 20, "y_pred": ["yes", "yes", *long] * 20}
    assert set(matrics.report(data, metrics="accuracy").pictures["matrix1"].class_names) >= {"yes", "yes (2)"}
    scored = {"m": ["net 1"] * 100 + ["net  1"] * 100, "y_true": [0, 1] * 100, "s": list(np.linspace(0, 1, 100)) * 2}
    drawn = matrics.report(scored, by="m", y_score="s", metrics="accuracy").pictures["roc"]
    assert [line.name for line in drawn.lines[0]] == ["net 1", "net 1 (2)"]


def test_the_sentence_on_groups_is_of_the_pair_that_was_tested() -> None:
    """Of groups with the same value the largest, also if a small one comes first."""
    true = [0, 1] * 25
    wrong = [value if k >= 25 else 1 - value for k, value in enumerate(true)]
    data = {"y_true": true + true + [1], "y_pred": true + wrong + [1], "g": ["x"] * 50 + ["y"] * 50 + ["a"]}
    (one,) = matrics.report(data, groups="g", metrics="accuracy").findings.groups
    assert one.sentence == (
        "Accuracy is between 0.500 in y (50 samples) and 1.000 in x (50 samples): a difference of 0.500, a significant "
        "difference."
    )


@pytest.mark.exhaustive
def test_a_threshold_is_that_of_the_class_with_scores() -> None:
    data = {"y_true": [0, 1] * 50, "s": np.linspace(0, 1, 100)}
    made = matrics.report(data, y_score={0: "s"}, positive=1, metrics="accuracy")
    assert "A sample is predicted as 0 if its score is at least 0.5" in Page(made.html()).text


def test_sums_of_weights_are_not_rounded() -> None:
    data = {"y_true": ["a", "b"] * 50, "y_pred": ["a", "b"] * 40 + ["b", "a"] * 10, "w": [0.002] * 100}
    made = matrics.report(data, sample_weight="w", metrics="accuracy")
    assert "a predicted as b in 0.02 of 0.1 weighted samples (20" in made.findings.classes[0].sentences[1]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "change",
    [
        {"date": 5},
        {"order": [1, 2]},
        {"order": {"a": 1}},
        {"order": ["a", "a"]},
        {"values": [["abc"], [0.5]]},
        {"values": [[[1]], [0.5]]},
        {"values": [[10**400], [0.5]]},
        {"values": [[0.5]]},
        {"first": None},
    ],
)
def test_a_damaged_page_is_refused(tmp_path: Any, change: Any) -> None:
    stack = {"a": [[3, 1], [1, 3]], "b": [[3, 2], [1, 3]]}
    page = matrics.report(stack, metrics="accuracy").save(tmp_path / "old.html")
    text = page.read_text("utf-8")
    start = text.index('id="matrics-values">') + len('id="matrics-values">')
    values = json.loads(text[start : text.index("</script>", start)])
    page.write_text(text.replace(text[start : text.index("</script>", start)], json.dumps(values | change)))
    with pytest.raises(ValueError, match="compare: expected a page written by matrics report"):
        matrics.report(stack, metrics="accuracy", compare=page)


@pytest.mark.exhaustive
def test_the_largest_change_is_told(tmp_path: Any) -> None:
    """Of any measure; and which model is best is told for the same first measure only."""
    stack = {"x": [[90, 0], [8, 2]], "y": [[75, 15], [2, 8]]}
    page = matrics.report(stack, metrics="accuracy,balanced_accuracy").save(tmp_path / "old.html")
    again = matrics.report(stack, metrics="balanced_accuracy,accuracy", compare=page).changes
    assert again.sentences == [
        "The data are identical, byte by byte.", "No value has changed for the models of both reports.",
    ]  # fmt: skip
    other = {"x": [[86, 4], [4, 6]], "y": [[75, 15], [2, 8]]}
    moved = matrics.report(other, metrics="accuracy,balanced_accuracy", compare=page).changes
    assert moved.sentences == [
        (
            "Values of 1 model have changed, of the 2 in both reports. The largest change is in balanced accuracy of "
            "x, from 0.600 to 0.778."
        )
    ]
    nothing = {"b": np.zeros((2, 2)), "c": np.zeros((2, 2))}
    page = matrics.report(nothing, metrics="accuracy").save(tmp_path / "none.html")
    turned = matrics.report(dict(reversed(nothing.items())), metrics="accuracy", compare=page).changes
    assert turned.sentences == ["No value has changed for the models of both reports."]


def test_names_in_pictures_are_no_colours_and_no_references() -> None:
    names = ["hair: black", "#ff0000", "url(#x)", ' id="y']
    stack = {"a": np.eye(4, dtype=int) * 30 + 1}
    page = matrics.report(stack, class_names=names, metrics="accuracy").html()
    drawn = [html.unescape(text).strip() for text in re.findall(r"<text [^>]*>([^<]*)</text>", page)]
    for name in names:
        assert drawn.count(name.strip()) == 2  # on both axes


@pytest.mark.exhaustive
def test_what_is_undefined_is_not_ranked() -> None:
    stack = {"m": [[40, 0], [0, 40]], "k": [[0, 0], [0, 0]], "j": [[30, 10], [10, 30]]}
    made = matrics.report(stack, metrics="accuracy")
    assert made.findings.summary[1].endswith("significantly better than every other model for which it is defined.")
    assert matrics.report({"k": [[0, 0], [0, 0]]}).findings.classes[0].sentences == ["The model has no samples."]
    assert "rank the same model first" not in made.html()  # of a single measure
    assert "rank the same model first" not in matrics.report({"k": [[0, 0]] * 2, "l": [[0, 0]] * 2}).html()


@pytest.mark.exhaustive
def test_a_caption_promises_no_curve_that_is_not_there() -> None:
    random = np.random.default_rng(3)
    flat = matrics.report({"y_true": random.integers(0, 2, 80), "s": np.full(80, 0.3)}, y_score="s", metrics="accuracy")
    assert "smooth fit" not in flat.html()
    scores = random.random(400)
    data = {"y_true": (random.random(400) < scores).astype(int), "s": scores}
    assert "smooth fit" in matrics.report(data, y_score="s", metrics="accuracy").html()


def test_an_older_page_of_opening_tags_alone_is_refused_at_once(tmp_path: Any) -> None:
    """A regular expression has quadratic time here: 20,000 tags took minutes."""
    page = tmp_path / "old.html"
    page.write_text('<script type="application/json" id="matrics-values">' * 200_000)
    with pytest.raises(ValueError, match="compare: expected a page written by matrics report"):
        matrics.report({"y_true": [0, 1], "y_pred": [0, 1]}, compare=page)
