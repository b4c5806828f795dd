"""Measures of one's own: what matrics.metric and Metric.of make is as good as a measure of the catalogue."""

from __future__ import annotations

import copy
import gc
import importlib
import importlib.util
import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import matrics
from matrics._catalogue import registry
from matrics._catalogue.record import Metric
from matrics._engine.table import Table

needs_dask = pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="dask is not installed")
needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")

# Of class 0, 40 of 50 are found; of class 1, 45 of 50.
CM = [[40, 10], [5, 45]]
STACK = np.asarray([CM, [[50, 0], [25, 25]], [[30, 20], [0, 0]]])


@matrics.metric(
    kind="per_class",
    range=(0, 1),
    higher_is_better=True,
    formula=r"\frac{\beta\,tp}{\beta\,tp + fn}",
    undefined="a class without samples",
    aliases=["kind_recall"],
)
def lenient(t: matrics.typing.Table, *, beta: float = 2.0, root: bool = False) -> Any:
    """Share of the samples of a class that are found, where misses count less.

    With a beta of 1 it is recall.

    Parameters
    ----------
    beta : float
        Weight of the true positives,
        where false negatives have the weight 1.
    """
    value = t.divide(beta * t.tp, beta * t.tp + t.fn)
    return t.sqrt(value) if root else value


def found_share(t: matrics.typing.Table) -> Any:
    """Share of the samples that are found."""
    return t.divide(t.sum(t.tp, axis=0), t.total)


HITS = Metric.of(found_share, kind="overall", range=(0, 1), higher_is_better=True, proportion_of="total")
FACTS: Any = {"kind": "overall", "range": (0, 1), "higher_is_better": True}


def constant(value: float, name: str = "constant") -> Metric:
    """A measure of one value, whose function has the same name and place each time, as in a cell that is run again."""

    def one(t: Any) -> Any:
        return 0 * t.total + value

    return Metric.of(one, name=name, **FACTS)


# What it gives ------------------------------------------------------------------------------------------------------


def test_options_averages_and_specs_are_those_of_ours() -> None:
    assert lenient(CM, average="class") == pytest.approx([80 / 90, 90 / 95])
    assert lenient(CM, average=None) == pytest.approx([80 / 90, 90 / 95])
    assert lenient(CM) == pytest.approx(90 / 95)
    assert lenient(CM, average="macro") == pytest.approx((80 / 90 + 90 / 95) / 2)
    assert lenient(CM, beta=1, average="min") == pytest.approx(40 / 50)
    assert lenient(CM, root=True, positive=1) == pytest.approx(math.sqrt(90 / 95))
    assert HITS(CM, average="one_vs_rest") == pytest.approx([85 / 100, 85 / 100])
    assert np.isnan(lenient(STACK, average="class")[2, 1])
    assert lenient(STACK, average="class", zero_division=0)[2, 1] == 0
    assert str(lenient.using(beta=3, root=True, average="max")) == "lenient(beta=3,root=true):max"
    assert lenient.using(beta=2) == lenient
    assert (lenient.title(), lenient.using(average="macro").title()) == ("lenient", "lenient, macro")
    with pytest.raises(TypeError, match="lenient has no option 'gamma'; its options: beta, root, average, positive"):
        lenient(CM, gamma=1)
    with pytest.raises(ValueError, match="expected beta to be a number above 0, got -1"):
        lenient(CM, beta=-1)


def test_it_is_recall_on_every_backend(backend: Any) -> None:
    stack = backend.asarray(np.random.default_rng(0).integers(0, 9, (40, 4, 4)))
    for average in ("class", "macro", "micro", "weighted", "max", "geometric"):
        found = lenient(stack, beta=1, average=average)
        np.testing.assert_allclose(
            backend.numpy(found), backend.numpy(matrics.recall(stack, average=average)), rtol=1e-6
        )
    found, ours = HITS(stack, average="one_vs_rest"), matrics.accuracy(stack, average="one_vs_rest")
    np.testing.assert_allclose(backend.numpy(found), backend.numpy(ours), rtol=1e-6)


def test_the_docstring_is_composed() -> None:
    text = str(lenient.__doc__)
    assert text.startswith("Share of the samples of a class that are found, where misses count less.\n\nParameters")
    assert "With a beta of 1 it is recall." in text
    ours = "    Weight of the true positives,\n    where false negatives have the weight 1.\n    A number above 0."
    assert f"\nbeta : float, default 2\n{ours}\nroot : bool, default False\n    True or False.\n" in text
    assert text.count("Parameters\n") == 1
    assert "In [0, 1]. Undefined: a class without samples." in text
    assert r".. math:: \frac{\beta\,tp}{\beta\,tp + fn}" in text
    assert "Examples" not in text
    assert ".. math::" not in str(HITS.__doc__)
    assert "Source: test_own_measure.found_share." in str(HITS.__doc__)
    described = matrics.describe(lenient)
    assert "family      own" in described
    assert "transposed" not in described, "nobody has said so"


def test_the_promised_table_is_what_a_table_has() -> None:
    promised = {name for name in vars(matrics.typing.Table) if not name.startswith("_")}
    promised |= set(matrics.typing.Table.__annotations__)
    seen: dict[str, Any] = {}

    def look(t: Any) -> Any:
        seen.update({name: getattr(t, name) for name in promised})
        return t.total

    Metric.of(look, **FACTS)(CM)
    assert seen.keys() == promised
    assert {name for name in promised if hasattr(Table, name)} >= promised - {"xp", "n", "true_axis", "pred_axis"}


def test_cells_may_lie_in_any_order(backend: Any) -> None:
    """On the host classes come first, elsewhere they come last: the table names the axes, and the rows."""

    def sizes(t: matrics.typing.Table) -> Any:
        both = t.rowwise(t.share(t.true)) - 2 * t.columnwise(t.share(t.pred))
        return t.share(t.sum(t.cells * both, axis=(t.true_axis, t.pred_axis)))

    stack = np.random.default_rng(0).integers(1, 9, (5, 3, 3))
    shares = stack / stack.sum((-2, -1), keepdims=True)
    wanted = (shares * (shares.sum(-1)[..., None] - 2 * shares.sum(-2)[..., None, :])).sum((-2, -1))
    found = Metric.of(sizes, kind="overall", range=(-2, 1), higher_is_better=None)(backend.asarray(stack))
    np.testing.assert_allclose(backend.numpy(found), wanted, rtol=1e-5)


# Identity -----------------------------------------------------------------------------------------------------------


def test_a_measure_is_its_function_and_not_its_name() -> None:
    first, again = constant(0.123), constant(0.926)
    assert first != again
    assert first == Metric.of(first.function, name="constant", **FACTS)
    assert hash(first) == hash(Metric.of(first.function, name="constant", **FACTS))
    assert first != Metric.of(first.function, name="constant", kind="overall", range=(0, 2), higher_is_better=True)
    assert constant(0.123, "mcc") != matrics.mcc
    assert matrics.score(CM, first)["constant"] == 0.123
    assert matrics.score(CM, again)["constant"] == 0.926, "not what was found for the other one of this name"
    assert matrics.score(CM, [first, first]) == {"constant": 0.123}


@pytest.mark.parametrize("other", ["mcc", matrics.mcc, "matthews_corrcoef", constant(0.5, "mcc")])
def test_two_measures_of_one_name_are_told_apart_or_refused(other: Any) -> None:
    with pytest.raises(ValueError, match="expected a single measure of each name, got two that are called 'mcc'"):
        matrics.score(CM, [constant(0.123, "mcc"), other])


@needs_jax
def test_jit_takes_it_as_a_static_argument_and_sees_a_new_one() -> None:
    import jax

    compiled = jax.jit(lambda cm, metric: metric(cm), static_argnums=1)
    cm = jax.numpy.asarray(CM, "float32")
    assert [round(float(compiled(cm, constant(value))), 3) for value in (0.926, 0.123)] == [0.926, 0.123]
    before = compiled._cache_size()
    compiled(cm, constant(0.926))
    assert compiled._cache_size() == before + 1
    compiled(cm, lenient)
    compiled(cm, copy.deepcopy(lenient))
    assert compiled._cache_size() == before + 2


@needs_jax
def test_vmap_and_gradients_go_through() -> None:
    import jax

    stack = jax.numpy.asarray(STACK[:2], "float32")
    each = jax.jit(jax.vmap(lambda cm: matrics.score(cm, [lenient, HITS])))(stack)
    wanted = matrics.score(STACK[:2], [lenient, HITS])
    assert np.asarray(each["lenient"]) == pytest.approx(wanted["lenient"], rel=1e-6)
    assert np.asarray(each["found_share"]) == pytest.approx(wanted["found_share"], rel=1e-6)
    gradient = jax.jit(jax.grad(lambda cm: lenient(cm, beta=1, average="class")[0]))(stack[0])
    # d (tp / (tp + fn)) = (fn, -tp) / (tp + fn)²
    assert np.asarray(gradient) == pytest.approx(np.asarray([[10, -40], [0, 0]]) / 50**2, abs=1e-8)


@pytest.mark.exhaustive
def test_pytorch_compiles_it_whole_and_once(torch: Any) -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("eager")
    compiled = torch.compile(lambda cm: matrics.score(cm, [lenient, HITS]), backend=counter, fullgraph=True)
    for step in range(3):
        cm = torch.tensor(CM, dtype=torch.float32) + step
        found, wanted = compiled(cm), matrics.score(cm, [lenient, HITS])
        assert {name: float(value) for name, value in found.items()} == pytest.approx(
            {name: float(value) for name, value in wanted.items()}
        )
    assert counter.frame_count == 1
    cm = torch.tensor(CM, dtype=torch.float64, requires_grad=True)
    lenient(cm, beta=1, average="class")[0].backward()
    assert cm.grad.numpy() == pytest.approx(np.asarray([[10, -40], [0, 0]]) / 50**2)


@pytest.mark.exhaustive
def test_pytorch_compiles_a_name_once_and_sees_a_new_measure(torch: Any) -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    matrics.register(lenient)
    by_name = torch.compile(lambda cm: matrics.score(cm, "lenient, f1"), backend=counter, fullgraph=True)
    for value in (0.123, 0.926):
        again = constant(value)
        by_cell = torch.compile(lambda cm, metric=again: metric(cm), backend=counter, fullgraph=True)
        assert float(by_cell(torch.tensor(CM))) == pytest.approx(value)
    before = counter.frame_count
    for step in range(3):
        by_name(torch.tensor(CM, dtype=torch.float32) + step)
    assert counter.frame_count == before + 1


# Doors --------------------------------------------------------------------------------------------------------------

RANDOM = np.random.default_rng(5)


def labels(num: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True and predicted labels of two classes, and scores."""
    y_true = RANDOM.integers(0, 2, num)
    scores = np.round(np.clip(0.35 * y_true + 0.65 * RANDOM.random(num), 0, 1), 2)
    return y_true, (scores >= 0.5).astype(int), scores


def test_intervals_and_comparisons_are_those_of_the_same_measure_of_ours() -> None:
    y_true, y_pred, _ = labels()
    cm = matrics.confusion_matrix(y_true, y_pred, num_classes=2)
    found, wanted = matrics.interval(cm, [HITS, lenient.using(beta=1)]), matrics.interval(cm, "accuracy,recall")
    assert found["found_share"] == wanted["accuracy"], "Wilson, as it is a proportion"
    assert found["lenient(beta=1)"].estimate == wanted["recall"].estimate
    macro = matrics.interval(cm, [lenient.using(beta=1, average="macro"), "recall:macro"])
    assert macro["lenient(beta=1):macro"] == pytest.approx(macro["recall:macro"])
    other = matrics.confusion_matrix(y_true, 1 - y_true, num_classes=2)
    compared, expected = matrics.compare(cm, other, HITS), matrics.compare(cm, other, "accuracy")
    assert compared["found_share"] == pytest.approx(expected["accuracy"])


def test_thresholds() -> None:
    y_true, _, scores = labels()
    ours, theirs = lenient.using(beta=1), "recall:binary"
    curve = matrics.ranking.threshold_curve(y_true, scores, [ours, "precision:binary"])
    assert np.array_equal(curve[str(ours)], matrics.ranking.threshold_curve(y_true, scores, theirs)[theirs])
    best = matrics.ranking.best_threshold(y_true, scores, HITS, subject_to="recall >= 0.9")
    assert best == matrics.ranking.best_threshold(y_true, scores, "accuracy", subject_to="recall >= 0.9")
    matrics.register(lenient)
    constrained = matrics.ranking.best_threshold(y_true, scores, HITS, subject_to="lenient(beta=1) >= 0.9")
    assert constrained == best


def test_several_labels() -> None:
    y_true, y_pred, _ = labels()
    sets = np.stack([y_true, y_pred, 1 - y_true], -1)
    others = np.stack([y_pred, y_true, y_pred], -1)
    for average in ("macro", "micro", "weighted", "samples", "label"):
        found = matrics.multilabel.score(sets, others, [lenient.using(beta=1), HITS], average=average)
        wanted = matrics.multilabel.score(sets, others, "recall,accuracy", average=average)
        assert list(found) == ["lenient(beta=1)", "found_share"]
        for mine, ours in zip(found.values(), wanted.values(), strict=True):
            assert mine == pytest.approx(ours)
    state = matrics.MultilabelState.zeros(3).update(sets, others)
    assert state.score(HITS)["found_share"] == pytest.approx(state.score("accuracy")["accuracy"])


def test_states_and_blocks() -> None:
    y_true, y_pred, scores = labels()
    wanted = matrics.score(matrics.confusion_matrix(y_true, y_pred, num_classes=2), [lenient, HITS])
    for state in (matrics.ConfusionState, matrics.MarginState):
        assert state.zeros(2).update(y_true, y_pred).score([lenient, HITS]) == pytest.approx(wanted)
    histograms = matrics.ScoreState.zeros(thresholds=[0.25, 0.5]).update(y_true, scores)
    assert np.array_equal(histograms.score(HITS)["found_share"], histograms.score("accuracy")["accuracy"])
    streamed = matrics.score_blocks(STACK, [lenient, HITS], device=None, block_bytes=40)
    assert streamed["found_share"] == pytest.approx(matrics.score(STACK, HITS)["found_share"])


def test_data_frames_and_pictures_know_what_is_not_registered() -> None:
    pytest.importorskip("pandas")
    found = matrics.score(STACK, [lenient.using(average="class"), HITS])
    names = ["index_0", "lenient of class 0", "lenient of class 1", "found_share"]
    assert list(matrics.to_frame(found).columns) == names
    found = matrics.score(STACK, [lenient.using(average="class", beta=3)], class_names=["cat", "dog"])
    assert list(matrics.to_frame(found).columns) == ["index_0", "lenient(beta=3) of cat", "lenient(beta=3) of dog"]
    pytest.importorskip("matplotlib")
    drawn = matrics.plot.models(matrics.interval(STACK[:2], HITS))
    assert drawn.describe().startswith("Forest plot of 2 models. By found_share the best is 0 with 0.85")


def test_a_report_has_its_name_and_no_certificate_of_another() -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    models = {"net": CM, "tree": [[25, 25], [20, 30]]}
    mine = Metric.of(found_share, name="f1", **FACTS)  # whose certificate is that of another measure
    made = matrics.report(models, class_names=["cat", "dog"], metrics=[mine, lenient])
    assert "net is best, with F1 0.85" in " ".join(made.findings.summary)
    assert [one.is_certified for one in made.findings.measures] == [False, False]


def test_a_torch_metric_scores_it_and_its_clones_do(torch: Any) -> None:
    from matrics.torch import ConfusionMetric, ScoreMetric

    y_true, y_pred, scores = map(torch.tensor, labels())
    metric = ConfusionMetric(2, [lenient, constant(0.123)], prefix="val/")
    metric.update(y_true, y_pred)
    wanted = float(lenient(metric.matrix.numpy()))
    for each in (metric, copy.deepcopy(metric), metric.clone()):
        found = each.compute()
        assert float(found["val/lenient"]) == pytest.approx(wanted)
        assert float(found["val/constant"]) == 0.123
    stored = pickle.loads(pickle.dumps(ConfusionMetric(2, [lenient, HITS])))
    stored.update(y_true, y_pred)
    assert float(stored.compute()["lenient"]) == pytest.approx(wanted)
    matrics.register(HITS)
    of_scores = ScoreMetric(metrics=["found_share@0.5", "accuracy@0.5"])
    of_scores.update(y_true, scores)
    kept = pickle.dumps(of_scores)
    registry._OWN.clear()  # as in another process
    registry._OWN_NAMES.clear()
    registry._forget()
    found = pickle.loads(kept).compute()
    assert found["found_share@0.5"] == found["accuracy@0.5"]


def test_torchmetrics_and_their_clones(torch: Any) -> None:
    pytest.importorskip("torchmetrics")
    from matrics.torchmetrics import ConfusionMetric

    y_true, y_pred, _ = map(torch.tensor, labels())
    metric = ConfusionMetric(2, [lenient, HITS])
    metric.update(y_pred, y_true)
    for each in (metric, metric.clone(), pickle.loads(pickle.dumps(metric))):
        assert float(each.compute()["found_share"]) == pytest.approx(float((y_true == y_pred).double().mean()))


@needs_jax
def test_flax_scores_it() -> None:
    pytest.importorskip("flax")
    import jax

    from matrics.flax import ConfusionMetric

    y_true, y_pred, _ = labels()
    metric = ConfusionMetric(2, [lenient, constant(0.5)])
    metric.update(y_true=jax.numpy.asarray(y_true), y_pred=jax.numpy.asarray(y_pred))
    found = metric.clone().compute()
    assert float(found["constant"]) == 0.5
    assert float(found["lenient"]) == pytest.approx(float(lenient(np.asarray(metric.matrix))), rel=1e-6)


@needs_dask
def test_dask_scores_it_and_names_a_new_one_differently() -> None:
    import dask
    import dask.array as da

    from matrics import dask as of_dask

    stack = da.from_array(STACK, chunks=(1, 2, 2))
    found = of_dask.score(stack, [lenient, HITS])
    (values,) = dask.compute(found, scheduler="threads")
    assert values["found_share"] == pytest.approx(matrics.score(STACK, HITS)["found_share"])
    both = [of_dask.score(stack, constant(value))["constant"] for value in (0.123, 0.926)]
    assert both[0].name != both[1].name
    assert [values[0] for values in dask.compute(*both, scheduler="threads")] == [0.123, 0.926]


def test_named_dimensions() -> None:
    xr = pytest.importorskip("xarray")
    from matrics.xarray import score

    found = score(xr.DataArray(STACK, dims=("model", "true", "pred")), [lenient, HITS])
    assert found["found_share"].attrs["metric"] == "found_share"
    assert found["lenient"].values == pytest.approx(matrics.score(STACK, lenient)["lenient"], nan_ok=True)


def test_its_certificate_is_that_of_the_same_measure_of_ours() -> None:
    pytest.importorskip("mpmath")
    found = matrics.study.certificate(lenient.using(beta=1, average="binary"), cases=300)
    wanted = matrics.study.certificate("recall:binary", cases=300)
    assert found.metric == "lenient(beta=1):binary"
    assert list(map(str, found.verdicts.values())) == list(map(str, wanted.verdicts.values())), "with the same matrices"
    assert found["strict_error"].witness.confirmed


# Registering --------------------------------------------------------------------------------------------------------


def test_specs_know_what_is_registered() -> None:
    with pytest.raises(ValueError, match="unknown metric 'lenient'"):
        matrics.get_metric("lenient")
    assert matrics.register(lenient) is lenient
    assert matrics.get_metric("Lenient") is lenient
    assert matrics.get_metric("kind-recall(beta=3):class") == lenient.using(beta=3, average="class")
    assert matrics.get_metric("lenient_weighted") == lenient.using(average="weighted")
    assert matrics.score(CM, "lenient[dog], own", class_names=["cat", "dog"]) == pytest.approx(
        {"lenient[dog]": 90 / 95, "lenient": 90 / 95}
    )
    assert matrics.list_metrics("own") == ["lenient"]
    assert matrics.list_metrics() == [*matrics.list_metrics("all"), "lenient"]
    with pytest.raises(AttributeError, match=r"belongs to a user; .* with the name 'lenient'"):
        _ = matrics.kind_recall
    with pytest.raises(ValueError, match=r"unknown metric 'leniant'; did you mean lenient,"):
        matrics.get_metric("leniant")


def test_registering_again_replaces_and_another_one_is_refused() -> None:
    first = matrics.register(constant(0.123))
    assert matrics.score(CM, "constant") == {"constant": 0.123}
    matrics.register(constant(0.926))
    assert matrics.score(CM, "constant") == {"constant": 0.926}
    assert matrics.score(CM, first) == {"constant": 0.123}
    with pytest.raises(ValueError, match=r"'constant' of test_own_measure\.found_share belongs to test_own"):
        matrics.register(Metric.of(found_share, name="constant", **FACTS))
    with pytest.raises(ValueError, match=r"'constant' of test_own_measure\.found_share belongs to constant"):
        matrics.register(Metric.of(found_share, aliases=["constant"], **FACTS))


@pytest.mark.parametrize("name", ["mcc", "tpr", "core", "own", "TPR", "f1_weighted", "roc_auc", "Overall_J", "rates"])
def test_names_that_mean_something_cannot_be_taken(name: str) -> None:
    with pytest.raises(ValueError, match=f"the name '{name}' of test_own_measure.found_share belongs to"):
        matrics.register(Metric.of(found_share, name=name, **FACTS))
    with pytest.raises(ValueError, match=f"the name '{name}' of"):
        matrics.register(Metric.of(found_share, aliases=[name], **FACTS))
    assert not matrics.list_metrics("own")


def test_what_is_no_measure_of_ones_own_is_not_registered() -> None:
    with pytest.raises(TypeError, match=r"expected a metric, as from the decorator matrics.metric\(kind"):
        matrics.register(found_share)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="got 'mcc' of this library, which is registered"):
        matrics.register(matrics.mcc)
    with pytest.raises(ValueError, match=r"without fixed options, got 'lenient\(beta=3\)'"):
        matrics.register(lenient.using(beta=3))


class Entry:
    """What importlib.metadata has of an entry point."""

    dist = None

    def __init__(self, name: str, found: Any) -> None:
        self.name, self.value, self.found = name, f"a_package.{name}", found

    def load(self) -> Any:
        """What it names, or what goes wrong."""
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def test_packages_are_asked_at_the_first_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def entry_points(*, group: str) -> list[Entry]:
        asked.append(group)
        return [Entry("broken", OSError("no such disk")), Entry("taken", constant(1, "mcc")), Entry("good", [lenient])]

    monkeypatch.setattr("matrics._catalogue.registry._LOADED", {})
    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    assert matrics.score(CM, "mcc")
    assert not asked
    taken = "the name 'mcc' of test_own_measure.constant.<locals>.one belongs to mcc of this library: choose another "
    taken += "name with name="
    with pytest.warns(RuntimeWarning) as warned:
        assert matrics.get_metric("lenient(beta=3)") == lenient.using(beta=3)
    assert [str(each.message) for each in warned] == [
        "the measures 'broken' (a_package.broken) are left out: OSError: no such disk",
        "the measures 'taken' (a_package.taken) are left out: ValueError: " + taken,
    ]
    with pytest.raises(ValueError, match="unknown metric 'nothing'"):
        matrics.get_metric("nothing")
    assert matrics.list_metrics("own") == ["lenient"]
    assert asked == ["matrics.metrics"]


PACKAGE = """[matrics.metrics]
whole = measures_of_a_package
broken = no_such_module_at_all
"""


def test_an_installed_package_has_measures(tmp_path: Path) -> None:
    (tmp_path / "measures_of_a_package.py").write_text(MODULE)
    info = tmp_path / "a_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: a-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(PACKAGE)
    code = f"""
import sys, warnings, matrics
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    before = "measures_of_a_package" in sys.modules
    print(before, matrics.score({CM}, "plain")["plain"], matrics.list_metrics("own"))
print(*(each.message for each in told))
"""
    found, told = run(tmp_path, code).splitlines()
    assert found == "False 0.85 ['shared', 'plain']"
    broken = "the measures 'broken' (no_such_module_at_all) of the package a-package are left out: ModuleNotFoundError:"
    assert told.startswith(broken)


# Errors -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda _: 0.5, ValueError, r"shape of t.total, with a value .* 'overall': \(3,\), got float"),
        (lambda t: t.tp, ValueError, r"the kind is 'overall': \(3,\), got the shape \(2, 3\)"),
        (
            lambda t: t.true_positives,
            TypeError,
            "expected an attribute of matrics.typing.Table, .* got 'true_positives'",
        ),
        (
            lambda cm: np.trace(cm) / np.sum(cm),
            TypeError,
            "expected a function of a matrics.typing.Table that .* got a function",
        ),
    ],
)
def test_a_function_that_gives_something_else_is_told_what_was_expected(
    function: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Metric.of(function, name="mine", **FACTS)(STACK)


def test_a_class_measure_has_a_value_for_each_class() -> None:
    mine = Metric.of(found_share, kind="per_class", range=(0, 1), higher_is_better=True)
    with pytest.raises(ValueError, match=r"found_share: expected .* t.tp, .* \(2, 3\), got the shape \(3,\)"):
        mine(STACK)


def test_an_error_of_the_function_itself_says_of_which_measure_it_is() -> None:
    def even(t: Any) -> Any:
        if t.n % 2 == 0:
            raise ValueError("my measure is for an odd number of classes")
        return t.total

    with pytest.raises(ValueError, match=r"^my measure is for an odd number") as raised:
        Metric.of(even, **FACTS)(CM)
    assert "The function of the measure even is called with a matrics.typing.Table" in raised.value.__notes__[0]


def of_labels(y_true: Any, y_pred: Any) -> Any:
    """A measure as other libraries have it."""
    return (y_true == y_pred).mean()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (42, "expected a function of a matrics.typing.Table, got 42"),
        (matrics.mcc, "expected a function of a matrics.typing.Table, got <matrics metric mcc>"),
        (lambda: 1, "got a function without an argument for the table"),
        (of_labels, "with options that have a type and a default .* got y_pred"),
        (lambda t, **options: t.total + len(options), r"got \*\*options, which has no name"),
        (lambda t, average=None: t.total + average, "got average, which is an argument of every measure"),
    ],
)
def test_what_is_no_function_of_a_table_is_refused(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Metric.of(function, name="mine", **FACTS)


def test_an_option_needs_a_type_and_a_default() -> None:
    def of_type(t: Any, k: int = 1) -> Any: ...

    def without_default(t: Any, k: float) -> Any: ...

    def with_both(t: Any, k: Annotated[float, 0, 1] = 0.5, how: Literal["a", "b"] = "b") -> Any:
        return 0 * t.total + k + (how == "a")

    def out_of_bounds(t: Any, k: Annotated[float, 0, 1] = 2) -> Any: ...

    with pytest.raises(
        ValueError, match="the default in out_of_bounds: expected k to be a number between 0 and 1, got 2"
    ):
        Metric.of(out_of_bounds, **FACTS)
    for function, got in ((of_type, "got k: .*int.* = 1"), (without_default, "got k: .*float")):
        with pytest.raises(TypeError, match=got):
            Metric.of(function, **FACTS)
    mine = Metric.of(with_both, **FACTS)
    assert mine(CM, k=0.25, how="a") == 1.25
    assert 'how : {"b", "a"}\n    The first is the default.' in str(mine.__doc__)
    with pytest.raises(ValueError, match="expected k to be a number between 0 and 1, got 2"):
        mine(CM, k=2)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"kind": "class"}, "expected kind to be one of 'overall', 'per_class', got 'class'"),
        ({"range": (1, 0)}, r"expected range to be two numbers, .* got \(1, 0\)"),
        ({"range": 1}, "expected range to be two numbers"),
        ({"higher_is_better": "yes"}, "expected higher_is_better to be one of True, False, None, got 'yes'"),
        ({"name": "my measure"}, "expected a Python identifier as name, .* got 'my measure'"),
        ({"aliases": "a:b"}, "expected a Python identifier as name"),
        ({"proportion_of": "all"}, "expected proportion_of to be one of 'total', 'true', .* None, got 'all'"),
    ],
)
def test_facts_are_checked(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Metric.of(found_share, **{**FACTS, **facts})


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(ValueError, match="pass name="):
        Metric.of(lambda t: t.total, **FACTS)


# Copies and pickles -------------------------------------------------------------------------------------------------


def test_pickles_are_by_module_and_name() -> None:
    for metric in (lenient, lenient.using(beta=3, average="class"), HITS, HITS.using(average="one_vs_rest")):
        again = pickle.loads(pickle.dumps(metric))
        assert again == metric
        assert again.spec == metric.spec
        assert again.function is metric.function
        assert copy.deepcopy(metric) == copy.copy(metric) == metric
    assert b"test_own_measure" in pickle.dumps(lenient)
    assert pickle.loads(pickle.dumps(lenient)).aliases == ("kind_recall",)
    assert copy.deepcopy(constant(0.123))(CM) == 0.123


def test_what_has_no_name_in_a_module_is_not_pickled() -> None:
    for metric in (constant(0.1), Metric.of(lambda t: t.total, name="mine", **FACTS)):
        with pytest.raises((AttributeError, pickle.PicklingError), match=r"[Cc]an't pickle"):
            pickle.dumps(metric)


MODULE = '''
import matrics

@matrics.metric(kind="overall", range=(0, 1), higher_is_better=True)
def shared(t, *, weight: float = 1.0):
    """A share."""
    return t.divide(weight * t.hits, weight * t.hits + t.errors)

def plain(t):
    return t.share(t.hits)

PLAIN = matrics.Metric.of(plain, kind="overall", range=(0, 1), higher_is_better=True)
'''


def run(folder: Path, code: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_fresh_process_reads_the_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "measures_of_mine.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("measures_of_mine")
    kept = pickle.dumps([module.shared.using(weight=2), module.PLAIN])
    code = f"import pickle; found = pickle.loads({kept!r}); print(*found, *[m({CM}) for m in found])"
    assert run(tmp_path, code) == f"shared(weight=2) plain {170 / 185} 0.85"


def test_a_notebook_hands_its_measures_to_workers(tmp_path: Path) -> None:
    """Dask uses cloudpickle, which takes a function of __main__ with all of it; pickle itself finds it by name."""
    pytest.importorskip("cloudpickle")
    code = f"{MODULE}\nimport cloudpickle, pickle\npickle.dumps(shared)\nprint(cloudpickle.dumps([shared, PLAIN]))"
    kept = run(tmp_path, code)
    assert run(tmp_path, f"import pickle; print(*[m({CM}) for m in pickle.loads({kept})])") == "0.85 0.85"


def test_old_measures_are_let_go() -> None:
    """What was computed with a measure of a cell that is run again does not keep it beyond the cache."""
    import weakref

    from matrics._scoring.score import _KNOWN

    metric = constant(0.5)
    kept = weakref.ref(metric.function)
    matrics.score(CM, metric)
    _KNOWN.clear()
    del metric
    gc.collect()
    assert kept() is None


# The command line ---------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["interval", "labels.csv"], "shared"),
        (["compare", "labels.csv", "--by", "model"], "shared"),
        (["curve", "labels.csv", "--scores", "score", "--positive", "b"], "shared"),
        pytest.param(["certificate", "shared", "--cases", "50"], "shared: A share.", marks=pytest.mark.exhaustive),
        (["describe", "plain"], "plugged_in.plain"),
        (
            ["report", "labels.csv", "--by", "model", "--num", "100", "--output", "o.html"],
            "m is best, with shared",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_every_command_takes_a_module(
    arguments: list[str], told: str, command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for needed in ("typer", "jinja2", "matplotlib", "scipy", "mpmath"):
        pytest.importorskip(needed)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "plugged_in", raising=False)
    (tmp_path / "plugged_in.py").write_text(MODULE)
    rows = ["a,a,.1,m", "a,b,.7,m", "b,b,.8,m", "a,a,.2,k", "b,a,.3,k", "b,a,.2,k"]
    (tmp_path / "labels.csv").write_text("\n".join(["y_true,y_pred,score,model", *rows]))
    asked = [] if arguments[0] in ("certificate", "describe") else ["--metrics", "shared"]
    code, out, _ = command(*arguments, *asked, "--plugin", "plugged_in")
    assert code == 0
    assert told in out.replace("\xa0", " ")
    if arguments[0] == "report":
        assert "--metrics shared --plugin plugged_in --num 100" in (tmp_path / "o.html").read_text("utf-8")


def test_the_command_line_imports_a_module(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typer")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "plugged_in", raising=False)
    (tmp_path / "plugged_in.py").write_text(MODULE)
    (tmp_path / "cm.csv").write_text("40,10\n5,45\n")
    code, out, err = command("score", "cm.csv", "--metrics", "shared(weight=2),plain", "--plugin", "plugged_in")
    assert (code, err) == (0, "")
    assert "0.919" in out
    assert "0.850" in out
    code, out, _ = command("metrics", "own", "--plugin", "plugged_in")
    assert [line.split()[0] for line in out.splitlines()[4:]] == ["shared", "plain"]
    code, out, err = command("score", "cm.csv", "--plugin", "plugged_out")
    assert (code, err) == (
        2,
        "matrics: --plugin: expected the name of a module that is in this folder or installed, got 'plugged_out'\n",
    )
    (tmp_path / "odd_one.py").write_text(
        f"import matrics\n@matrics.metric(**{FACTS})\ndef odd(t):\n    return [] + 1\n"
    )
    assert command("score", "cm.csv", "--metrics", "odd", "--plugin", "odd_one")[2].endswith(
        "The function of the measure odd is called with a matrics.typing.Table, not with a matrix.\n"
    )
    (tmp_path / "broken_one.py").write_text("1 / 0\n")
    (tmp_path / "needs_more.py").write_text("import not_there_at_all\n")
    assert command("describe", "mcc", "--plugin", "broken_one")[2] == (
        "matrics: --plugin: broken_one: ZeroDivisionError: division by zero\n"
    )
    assert command("describe", "mcc", "--plugin", "needs_more")[2] == (
        "matrics: --plugin: needs_more needs not_there_at_all, which is not installed\n"
    )
    assert "expected measures from matrics.metric" in command("describe", "mcc", "--plugin", "json")[2]
