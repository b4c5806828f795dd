"""Several labels a sample: counts, averages and the running state, with scikit-learn and loops as references."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._catalogue.naming import title_of

RANDOM = np.random.default_rng(17)
SOURCE = json.loads((Path(__file__).parent / "data/vectors.json").read_text("utf-8"))["extra"]["multilabel_PRF"]
AVERAGES = ("macro", "micro", "weighted", "samples", "label")


def drawn(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    return RANDOM.integers(0, 2, shape), RANDOM.integers(0, 2, shape)


def by_hand(y_true: Any, y_pred: Any, weights: Any = None, *, samplewise: bool = False) -> np.ndarray:
    """One entry at a time; those that are neither 0 nor 1 are left out."""
    y_true, y_pred = np.broadcast_arrays(y_true, y_pred)
    *batch, n, number = y_true.shape
    weights = np.broadcast_to(1 if weights is None else weights, (*batch, n))
    cm = np.zeros((*batch, n if samplewise else number, 2, 2))
    for index in np.ndindex(y_true.shape):
        *place, sample, label = index
        cell = y_true[index], y_pred[index]
        if set(cell) <= {0, 1}:
            cm[(*place, sample if samplewise else label, *cell)] += weights[(*place, sample)]
    return cm


def count(backend: Any, *arrays: Any, **options: Any) -> np.ndarray:
    """The counts of eager code, and of one program under jit on JAX."""

    def call(y_true: Any, y_pred: Any, *weights: Any) -> Any:
        return matrics.multilabel.confusion_matrix(
            y_true, y_pred, sample_weight=weights[0] if weights else None, **options
        )

    arrays = tuple(map(backend.asarray, arrays))
    eager, compiled = call(*arrays), backend.jit(call)(*arrays)
    np.testing.assert_array_equal(backend.numpy(eager), backend.numpy(compiled))
    return backend.numpy(eager)


# Counts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("samplewise", [False, True])
def test_counts(backend: Any, samplewise: Any) -> None:
    y_true, y_pred = drawn(2, 30, 4)
    found = count(backend, y_true, y_pred, samplewise=samplewise)
    assert found.dtype == (np.int64 if backend.float64 else np.int32)
    np.testing.assert_array_equal(found, by_hand(y_true, y_pred, samplewise=samplewise))
    found = count(backend, y_true[0], y_pred, samplewise=samplewise)  # one truth, two models
    np.testing.assert_array_equal(found, by_hand(y_true[0], y_pred, samplewise=samplewise))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32, np.uint64])
def test_integers_of_any_kind(backend: Any, dtype: type) -> None:
    y_true, y_pred = drawn(20, 3)
    arrays = backend.asarray(y_true, dtype), backend.asarray(y_pred, np.int8)
    found = backend.call(matrics.multilabel.confusion_matrix, *arrays)
    np.testing.assert_array_equal(backend.numpy(found), by_hand(y_true, y_pred))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("samplewise", [False, True])
def test_weights(backend: Any, samplewise: Any) -> None:
    y_true, y_pred = drawn(2, 12, 3)
    for shape in ((12,), (2, 12)):
        weights = RANDOM.integers(0, 8, shape).astype(np.float32) / 4
        found = count(backend, y_true, y_pred, weights, samplewise=samplewise)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, by_hand(y_true, y_pred, weights, samplewise=samplewise))


def test_many_parts() -> None:
    """More entries than are counted at a time: many samples, many labels, and many small batches."""
    for shape in ((40_000, 5), (3, 70_000), (2, 30_000, 3), (3_000, 4, 9), (2, 2, 9_000, 5)):
        y_true, y_pred = drawn(*shape)
        weights = RANDOM.integers(0, 8, shape[:-1]) / 4
        for samplewise in (False, True):
            axis = -1 if samplewise else -2
            for options, worth in (({}, 1), ({"sample_weight": weights}, weights[..., None])):
                found = matrics.multilabel.confusion_matrix(y_true, y_pred, samplewise=samplewise, **options)
                for t, p in np.ndindex(2, 2):
                    wanted = (((y_true == t) & (y_pred == p)) * worth).sum(axis)
                    np.testing.assert_array_equal(found[..., t, p], wanted)
        right = (y_true == y_pred).all(-1).mean(-1)
        np.testing.assert_allclose(matrics.multilabel.subset_accuracy(y_true, y_pred), right, rtol=1e-12)


@pytest.mark.exhaustive
def test_no_samples_and_one_label(backend: Any) -> None:
    none = np.zeros((0, 3), np.int32)
    assert not count(backend, none, none).any()
    assert count(backend, none, none).shape == (3, 2, 2)
    assert count(backend, none, none, samplewise=True).shape == (0, 2, 2)
    none = backend.asarray(none)
    for average in AVERAGES:
        recall = functools.partial(matrics.multilabel.score, metrics="recall", average=average)
        assert np.isnan(backend.numpy(backend.call(recall, none, none)["recall"])).all()
        filled = backend.call(functools.partial(recall, zero_division=0), none, none)["recall"]
        assert not backend.numpy(filled).any()
    assert np.isnan(backend.numpy(backend.call(matrics.multilabel.subset_accuracy, none, none)))
    y_true, y_pred = drawn(30, 1)
    one = tuple(map(backend.asarray, (y_true, y_pred)))
    same = matrics.confusion_matrix(y_true[:, 0], y_pred[:, 0], num_classes=2)
    np.testing.assert_array_equal(count(backend, y_true, y_pred), same[None])
    wanted = [matrics.recall(same, average="binary")] * 4 + [(y_true == y_pred).mean()]
    found = [
        matrics.multilabel.score(*one, "recall", average=average)["recall"]
        for average in AVERAGES
        if average != "samples"
    ]
    for value, expected in zip([*found, matrics.multilabel.subset_accuracy(*one)], wanted, strict=True):
        np.testing.assert_allclose(backend.numpy(value), expected, rtol=1e-6)


# What is neither 0 nor 1 ----------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("samplewise", [False, True])
def test_values_to_ignore(backend: Any, samplewise: Any) -> None:
    y_true, y_pred = drawn(2, 20, 3)
    y_true[RANDOM.random(y_true.shape) < 0.2] = -1
    y_true[RANDOM.random(y_true.shape) < 0.2] = 7
    wanted = by_hand(y_true, y_pred, samplewise=samplewise)
    y_pred[y_true == 7] = 9  # whatever is predicted there
    found = count(backend, y_true, y_pred, samplewise=samplewise, ignore_index=[-1, 7])
    np.testing.assert_array_equal(found, wanted)
    y_true, y_pred = drawn(20, 3)
    wanted = by_hand(y_true, y_pred, samplewise=samplewise)
    wanted[..., 0, :] = 0
    np.testing.assert_array_equal(count(backend, y_true, y_pred, samplewise=samplewise, ignore_index=0), wanted)


@pytest.mark.sampled(2)
def test_other_values_raise_where_looking_is_free_and_are_left_out_elsewhere(backend: Any) -> None:
    y_true, y_pred = drawn(2, 15, 3)
    y_true[0, 2, 1], y_pred[0, 4, 0], y_pred[0, 4, 2] = 2, -1, -1
    arrays = backend.asarray(y_true), backend.asarray(y_pred)
    calls = (
        matrics.multilabel.confusion_matrix,
        functools.partial(matrics.multilabel.confusion_matrix, samplewise=True),
        matrics.multilabel.subset_accuracy,
        lambda *arrays: matrics.multilabel.score(*arrays, "f1")["f1"],
    )
    complete = np.ones((2, 15), bool)
    complete[0, [2, 4]] = False
    right = (y_true == y_pred).all(-1)
    whole = [right[i][complete[i]].mean() for i in range(2)]
    wanted = (by_hand(y_true, y_pred), by_hand(y_true, y_pred, samplewise=True), whole, None)
    for call, expected in zip(calls, wanted, strict=True):
        if backend.looks:  # which has nothing to look at
            with pytest.raises(
                ValueError, match=r"y_true: expected 0 and 1, got 2 at \(0, 2, 1\) \(1 of 90 are neither"
            ):
                call(*arrays)
            with pytest.raises(ValueError, match=r"y_pred: expected 0 and 1, got -1 at \(0, 4, 0\) \(2 of 90"):
                call(backend.asarray(np.clip(y_true, 0, 1)), arrays[1])
        if backend.name in ("strict", "jax", "jax-x64") and expected is not None:
            np.testing.assert_allclose(backend.numpy(backend.jit(call)(*arrays)), expected, rtol=1e-6)


@pytest.mark.sampled(2)
def test_a_bad_weight_spoils_its_own_batch(backend: Any) -> None:
    """Off the host, where no weight is inspected: the measures of its batch are NaN, and no others."""
    if backend.name not in ("strict", "jax", "jax-x64"):
        pytest.skip("weights are inspected")
    y_true, y_pred = drawn(3, 10, 2)
    y_true[:, 0], y_true[:, 1] = 1, 0
    weights = np.ones((3, 10), np.float32)
    weights[1, 3] = np.nan
    arrays = tuple(map(backend.asarray, (y_true, y_pred, weights)))

    def scored(y_true: Any, y_pred: Any, weights: Any) -> Any:
        given: Any = {"sample_weight": weights, "zero_division": 0, "invalid": "nan"}
        found = [matrics.multilabel.score(y_true, y_pred, "f1", average=average, **given)["f1"] for average in AVERAGES]
        return [*found, matrics.multilabel.subset_accuracy(y_true, y_pred, sample_weight=weights)]

    for value in backend.jit(scored)(*arrays):
        nan = np.isnan(backend.numpy(value)).reshape(3, -1)
        assert nan[1].all()
        assert not nan[[0, 2]].any()


# Measures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", SOURCE)
def test_the_numbers_of_the_source(record: dict[str, Any]) -> None:
    """Precision, recall and F of several labels ("The Living Thing"): by label, and every average."""
    true, pred = record["Y_true"], record["Z_pred"]
    for average in AVERAGES:
        found = matrics.multilabel.score(
            true, pred, ["precision", "recall", "f1"], average=average, zero_division=record["zero_division"]
        )
        wanted = record["per-label" if average == "label" else average]
        np.testing.assert_allclose(np.stack(list(found.values()), axis=-1), wanted, rtol=1e-9, atol=1e-12)


def referee(y_true: Any, y_pred: Any, weights: Any, zero_division: float) -> dict[tuple[str, str], Any]:
    """What scikit-learn says."""
    import sklearn.metrics as peer

    found: dict[tuple[str, str], Any] = {}
    for average in AVERAGES:
        options = {"average": None if average == "label" else average, "sample_weight": weights}
        values = peer.precision_recall_fscore_support(y_true, y_pred, zero_division=zero_division, **options)
        found |= {(name, average): value for name, value in zip(("precision", "recall", "f1"), values, strict=False)}
        if not np.isnan(zero_division):  # which scikit-learn's jaccard_score refuses
            value = peer.jaccard_score(y_true, y_pred, zero_division=zero_division, **options)
            found["jaccard", average] = value
    found["hamming_loss", "micro"] = peer.hamming_loss(y_true, y_pred, sample_weight=weights)
    found["subset_accuracy", ""] = peer.accuracy_score(y_true, y_pred, sample_weight=weights)
    for samplewise in (False, True):
        cm = peer.multilabel_confusion_matrix(y_true, y_pred, sample_weight=weights, samplewise=samplewise)
        found["matrix", str(samplewise)] = cm
    mcc = [
        peer.matthews_corrcoef(t, p, sample_weight=weights) if set(t) == set(p) == {0, 1} else np.nan
        for t, p in zip(y_true.T, y_pred.T, strict=True)
    ]
    found["mcc", "label"] = np.asarray(mcc)
    return found


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("cases", [30, pytest.param(300, marks=pytest.mark.exhaustive)])
def test_random_cases_are_those_of_scikit_learn(cases: int) -> None:
    """Rare labels, labels that no sample has or that are never predicted, samples without labels, weights of zero."""
    pytest.importorskip("sklearn")
    for case in range(cases):
        shape = int(RANDOM.integers(1, 25)), int(RANDOM.integers(2, 7))
        share = RANDOM.random(shape[1]) ** 2 * (RANDOM.random(shape[1]) < 0.8)
        y_true, y_pred = (RANDOM.random((2, *shape)) < share).astype(int)
        weights = [None, RANDOM.integers(0, 4, shape[0]) / 2, RANDOM.random(shape[0]) + 0.1][case % 3]
        if weights is not None and not weights.all():
            weights[0] = 1  # scikit-learn refuses weights that are all zero
        zero_division = (0.0, 1.0, np.nan)[case // 3 % 3]
        options: Any = {"sample_weight": weights, "zero_division": zero_division}
        worth = np.ones(shape[0]) if weights is None else weights
        expected = referee(y_true, y_pred, weights, zero_division)
        for (name, kind), wanted in expected.items():
            if kind == "samples" and np.isnan(zero_division) and not worth.all():
                continue  # the mean may be over samples without weight, as below, but nothing tells which
            if kind == "weighted" and not (~np.isnan(expected[name, "label"]) * (worth @ y_true)).any():
                # Where no label has a weight, scikit-learn takes the mean without weights.
                wanted = zero_division  # noqa: PLW2901 (a mean of nothing, here)
            if name == "matrix":
                found = matrics.multilabel.confusion_matrix(
                    y_true, y_pred, samplewise=kind == "True", sample_weight=weights
                )
            elif name == "subset_accuracy":
                found = matrics.multilabel.subset_accuracy(y_true, y_pred, sample_weight=weights)
            elif name == "mcc":
                if weights is not None and not weights.all():
                    continue  # scikit-learn sees a class that has no weight
                found = matrics.multilabel.score(y_true, y_pred, name, average=kind, sample_weight=weights)[name]
            else:
                found = matrics.multilabel.score(y_true, y_pred, name, average=kind, **options)[name]
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13, err_msg=f"case {case}: {name} {kind}")


@pytest.mark.sampled(2)
def test_averages_are_those_written_out(backend: Any) -> None:
    """Overall measures and class measures, the empty label left out of every mean."""
    y_true, y_pred = drawn(2, 40, 4)
    y_true[:, :, 2] = y_pred[:, :, 2] = 0
    weights = RANDOM.integers(1, 5, (2, 40)) / 2
    specs = ["f1", "cohen_kappa", "recall:macro", "balanced_accuracy", "recall:class", "tpr", "fbeta(beta=2):micro"]
    given = tuple(map(backend.asarray, (y_true, y_pred, weights.astype(np.float32))))

    def scored(y_true: Any, y_pred: Any, weights: Any) -> Any:
        return {
            average: matrics.multilabel.score(y_true, y_pred, specs, average=average, sample_weight=weights)
            for average in AVERAGES
        }

    found = backend.call(scored, *given)
    asked = ["f1:binary", *specs[1:5], "tpr:binary", specs[6]]
    cm, of_samples = by_hand(y_true, y_pred, weights), by_hand(y_true, y_pred, samplewise=True)
    support = np.stack([cm[..., 1, :].sum(-1)] * 2, axis=-1)
    for spec, wanted_spec in zip(specs, asked, strict=True):
        values, rows = (matrics.score(stack, wanted_spec)[wanted_spec] for stack in (cm, of_samples))
        pooled = matrics.score(cm.sum(1), wanted_spec)[wanted_spec]
        if values.ndim == 2:
            values, rows = values[..., None], rows[..., None]
        share = np.where(np.isnan(values), 0, support[..., : values.shape[-1]])
        mass = np.where(np.isnan(rows), 0, weights[..., None])
        wanted = {
            "label": values,
            "micro": pooled.reshape(2, -1),
            "macro": np.nanmean(values, axis=1),
            "weighted": (np.nan_to_num(values) * share).sum(1) / share.sum(1),
            "samples": (np.nan_to_num(rows) * mass).sum(1) / mass.sum(1),
        }
        for average, expected in wanted.items():
            value = backend.numpy(found[average][spec])
            np.testing.assert_allclose(value.reshape(expected.shape), expected, rtol=3e-5, err_msg=f"{spec} {average}")


def test_a_class_measure_is_that_of_class_1() -> None:
    """Keys are the specs as given, and an average in one is obeyed: the macro recall is the balanced accuracy."""
    y_true, y_pred = drawn(50, 3)
    specs = [
        "recall",
        "recall:binary",
        "recall(positive=0):binary",
        "recall:macro",
        "balanced_accuracy",
        matrics.recall,
    ]
    found = matrics.multilabel.score(y_true, y_pred, specs, average="label")
    assert list(found) == [*specs[:5]]  # matrics.recall is "recall"
    cm = by_hand(y_true, y_pred)
    np.testing.assert_allclose(found["recall"], cm[:, 1, 1] / cm[:, 1].sum(-1))
    np.testing.assert_allclose(found["recall(positive=0):binary"], cm[:, 0, 0] / cm[:, 0].sum(-1))
    np.testing.assert_array_equal(found["recall"], found["recall:binary"])
    np.testing.assert_array_equal(found["recall:macro"], found["balanced_accuracy"])
    assert not np.allclose(found["recall"], found["recall:macro"])


def test_an_infinite_value_makes_an_infinite_mean() -> None:
    """A label without false positives has an infinite likelihood ratio; without true samples it has no weight."""
    y_true = np.asarray([[1, 1], [0, 0], [1, 1], [0, 0]])
    y_pred = np.asarray([[1, 1], [0, 1], [0, 0], [0, 0]])
    name = "positive_likelihood_ratio"
    by_label = matrics.multilabel.score(y_true, y_pred, name, average="label")[name]
    assert by_label.tolist() == [np.inf, 1]
    for average in ("macro", "weighted"):
        assert matrics.multilabel.score(y_true, y_pred, name, average=average)[name] == np.inf


def test_data_frames_have_a_sample_in_each_row() -> None:
    pd = pytest.importorskip("pandas")
    y_true, y_pred = drawn(3, 3)
    names = ["cat", "dog", "cow"]
    frames = pd.DataFrame(y_true, columns=names), pd.DataFrame(y_pred, columns=names)
    np.testing.assert_array_equal(matrics.multilabel.confusion_matrix(*frames), by_hand(y_true, y_pred))
    one = matrics.multilabel.confusion_matrix(frames[0][["cat"]], frames[1][["cat"]])
    np.testing.assert_array_equal(one, by_hand(y_true, y_pred)[:1])
    with pytest.raises(
        ValueError, match=r"the same columns in the same order, got .*'cat', 'dog', 'cow'.*'cow', 'dog'"
    ):
        matrics.multilabel.confusion_matrix(frames[0], frames[1][names[::-1]])


GOOD = [[0, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: f(GOOD, [[0.2, 0.9]] * 3), ValueError, "y_pred: .* got 0.2 at .*; pass y_pred >= 0.5"),
        (lambda f: f([[0.0, 0.5]] * 3, GOOD), ValueError, "y_true: .* got 0.5 at .*; pass y_true == 1"),
        (lambda f: f([["a", "b"]] * 3, GOOD), TypeError, "y_true: expected 0 and 1 as integers or booleans"),
        (lambda f: f([0, 1], [0, 1]), ValueError, r"axes of samples and labels, \(\*B, N, L\), got y_true \(2,\)"),
        (
            lambda f: f(GOOD, GOOD[:2]),
            ValueError,
            r"the same samples and labels \(the last 2 axes\), got y_true \(3, 2\)",
        ),
        (lambda f: f(GOOD, [[0], [1], [1]]), ValueError, "the same samples and labels"),
        (lambda f: f([[], []], [[], []]), ValueError, r"at least one label, along the last axis, got y_true \(2, 0\)"),
        (lambda f: f(GOOD, GOOD, sample_weight=[1, 2]), ValueError, r"broadcast .* sample_weight \(2,\)"),
        (lambda f: f(GOOD, GOOD, sample_weight=[1, -2, 1]), ValueError, "sample_weight: expected finite weights"),
        (lambda f: f(GOOD, GOOD, ignore_index=0.5), ValueError, "ignore_index: expected"),
        (lambda f: f([GOOD] * 2, [GOOD] * 3), ValueError, "broadcast against each other"),
    ],
)
def test_errors_say_what_was_expected(call: Any, error: type, message: str) -> None:
    for function in (matrics.multilabel.confusion_matrix, matrics.multilabel.subset_accuracy):
        with pytest.raises(error, match=message):
            call(function)


def test_averages_and_options_that_are_not_there() -> None:
    with pytest.raises(ValueError, match=r"average: expected one of 'auto', 'macro', .* 'label', None, got 'binary'"):
        matrics.multilabel.score(GOOD, GOOD, "f1", average="binary")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="unknown metric 'f11'"):
        matrics.multilabel.score(GOOD, GOOD, "f11")
    with pytest.raises(TypeError, match="zero_division"):
        matrics.multilabel.score(GOOD, GOOD, "f1", zero_division="warn")  # type: ignore[call-overload]


# In the transformations of PyTorch and JAX ----------------------------------------------------------------------------


def everything(y_true: Any, y_pred: Any) -> Any:
    found = [
        matrics.multilabel.score(y_true, y_pred, "f1", average=average, ignore_index=-1)["f1"]
        for average in ("weighted", "samples")
    ]
    return [matrics.multilabel.subset_accuracy(y_true, y_pred), *found]


@pytest.mark.exhaustive
def test_torch_compiles_and_maps(torch: Any) -> None:
    y_true, y_pred = map(torch.from_numpy, drawn(3, 20, 4))
    wanted = everything(y_true.numpy(), y_pred.numpy())
    torch._dynamo.reset()
    compiled = torch.compile(everything, fullgraph=True, backend="aot_eager")(y_true, y_pred)
    for found in (everything(y_true, y_pred), compiled, torch.func.vmap(everything)(y_true, y_pred)):
        for value, expected in zip(found, wanted, strict=True):
            assert isinstance(value, torch.Tensor)
            np.testing.assert_allclose(value.numpy(), expected, rtol=1e-12)


def test_torch_looks_at_no_value(torch: Any) -> None:
    from torch._subclasses import FakeTensorMode

    def shapes(device: str) -> Any:
        y_true = torch.zeros((3, 20, 4), dtype=torch.int64, device=device)
        return [tuple(value.shape) for value in everything(y_true, y_true > 0)]

    with FakeTensorMode():
        found = shapes("cpu")
    assert found == shapes("meta")
    assert found == [(3,)] * 3


def test_jax_compiles_and_maps(jax_backend: Any) -> None:
    import jax

    y_true, y_pred = drawn(3, 20, 4)
    wanted = everything(y_true, y_pred)
    arrays = jax_backend.asarray(y_true), jax_backend.asarray(y_pred)
    for found in (jax.jit(everything)(*arrays), jax.jit(jax.vmap(everything))(*arrays)):
        for value, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(value, expected, **jax_backend.tolerance)


def test_titles_say_of_what_a_value_is_the_average() -> None:
    """So that the recall of all labels' entries and the mean of the labels' recalls never stand under one title."""
    y_true, y_pred = np.eye(3, dtype=int), np.ones((3, 3), dtype=int)
    titles = {
        average: [title_of(key) for key in matrics.multilabel.score(y_true, y_pred, "recall,mcc", average=average)]
        for average in ("macro", "micro", "samples", "label")
    }
    assert titles == {
        "macro": ["recall, macro over labels", "mcc, macro over labels"],
        "micro": ["recall, micro over labels", "mcc, micro over labels"],
        "samples": ["recall, mean over samples", "mcc, mean over samples"],
        "label": ["recall of each label", "mcc of each label"],
    }
    state = matrics.MultilabelState.zeros(3).update(y_true, y_pred)
    assert [title_of(key) for key in state.score("recall", average="micro")] == ["recall, micro over labels"]
