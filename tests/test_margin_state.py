"""The running state of margins: which measures it has, that they are those of the matrix, and how large it gets."""

from __future__ import annotations

import functools
import operator
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ConfusionState, MarginState

RANDOM = np.random.default_rng(3)
PANEL = [
    "accuracy",
    "mcc",
    "cohen_kappa",
    "f1",
    "recall:class",
    "jaccard:weighted",
    "informedness:micro",
    "cen:one_vs_rest",
]


def specs(n: int) -> list[str]:
    """Every measure of the catalogue, with every average."""
    found = []
    for name in matrics.list_metrics():
        if matrics.get_metric(name).kind == "overall":
            found += [name, f"{name}:one_vs_rest"]
        else:
            binary = ["binary"] if n == 2 else []
            found += [f"{name}:{average}" for average in ("macro", "micro", "weighted", "class", *binary)]
    return found


def possible(n: int) -> tuple[list[str], list[str]]:
    """The specs that a state of n classes has, and those that it refuses with the names of what it lacks."""
    state, lack = MarginState.zeros(n), {}
    for spec in specs(n):
        try:
            state.score(spec)
        except ValueError as error:
            lack[spec] = str(error)
    rest = "needs all cells of the matrix, which a MarginState does not keep; use ConfusionState"
    assert lack == {spec: f"{spec} {rest}" for spec in lack}
    return [spec for spec in specs(n) if spec not in lack], list(lack)


def labels(n: int, batch: int = 4, samples: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Labels of better and worse models, of which the last ones leave classes empty."""
    y_true = RANDOM.integers(0, n, (batch, samples))
    y_pred = np.where(RANDOM.random((batch, samples)) < 0.6, y_true, RANDOM.integers(0, n, (batch, samples)))
    y_true[-1], y_pred[-1] = y_true[-1] // 2, y_pred[-1] // 2
    y_true[0] = np.minimum(y_true[0], n - 2)
    return y_true, y_pred


@pytest.mark.exhaustive
@pytest.mark.exhaustive(n=[5])
@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_every_measure_is_that_of_the_matrix_or_is_refused(n: int) -> None:
    y_true, y_pred = labels(n)
    have, lack = possible(n)
    margins = MarginState.zeros(n, batch_shape=(4,)).update(y_true, y_pred)
    wanted = matrics.score(matrics.confusion_matrix(y_true, y_pred, num_classes=n), have)
    for zero_division in (np.nan, 0.25):
        scores = margins.score(have, zero_division=zero_division)
        wanted = matrics.score(
            matrics.confusion_matrix(y_true, y_pred, num_classes=n), have, zero_division=zero_division
        )
        for spec in have:
            np.testing.assert_allclose(scores[spec], wanted[spec], rtol=1e-12, atol=1e-14, err_msg=spec)
    # The state must not forget what it could do, nor find something that cannot be known.
    assert len(have) >= (656 if n == 2 else 536)
    names = [spec.partition(":")[0] for spec in have if spec.endswith(":macro") or ":" not in spec]
    assert names == MarginState.list_metrics()
    assert len(names) >= 145
    assert {"eve", "cen", "mutual_information", "goodman_kruskal_lambda", "class_cen:macro"} <= set(lack)


def test_a_class_of_many() -> None:
    """Of more classes than the few on which it is tried whether a measure needs cells."""
    state = MarginState.zeros(1000).update([7, 700, 700, 3], [7, 700, 3, 3])
    found = state.score("recall[700],precision[3],f1:macro[7,700],mcc[700],cen[7]")
    assert list(found.values())[:3] == pytest.approx([1 / 2, 1 / 2, (1 + 2 / 3) / 2])
    assert found["mcc[700]"] == pytest.approx(matrics.mcc([[2, 0], [1, 1]]))
    assert found["cen[7]"] == pytest.approx(matrics.cen([[3, 0], [0, 1]]))
    assert state.score("recall", positive=700)["recall"] == pytest.approx(1 / 2)
    with pytest.raises(ValueError, match="cen needs all cells"):
        state.score("recall[700], cen")


def test_each_of_the_refused_measures_needs_more() -> None:
    """Two matrices with the same true positives and margins have different values of it."""
    stack = RANDOM.integers(1, 30, (200, 4, 4)).astype(float)
    cycle = np.asarray([[0, 1, -1, 0], [-1, 0, 1, 0], [1, -1, 0, 0], [0, 0, 0, 0]])  # no row, column or diagonal
    lacking = [name for name in matrics.list_metrics() if name not in MarginState.list_metrics()]
    before, after = matrics.score(stack, lacking), matrics.score(stack + cycle, lacking)
    same = [name for name in lacking if np.allclose(before[name], after[name], rtol=1e-9, equal_nan=True)]
    assert not same
    kept = MarginState.list_metrics()
    before, after = matrics.score(stack, kept), matrics.score(stack + cycle, kept)
    for name in kept:
        np.testing.assert_allclose(before[name], after[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.sampled(2)
def test_batches_are_the_whole(backend: Any) -> None:
    y_true, y_pred = labels(4, batch=1, samples=90)
    y_true[0, 3], y_pred[0, 70] = -1, 4
    state = MarginState.zeros(4, like=backend.asarray(0))
    for part in np.split(np.arange(90), [20, 20, 64]):
        state = state.update(backend.asarray(y_true[0, part]), backend.asarray(y_pred[0, part]))
    inside = (y_true >= 0) & (y_pred < 4)
    whole = matrics.confusion_matrix(y_true[inside], y_pred[inside], num_classes=4)
    assert isinstance(state, MarginState)
    assert backend.numpy(state.true_positives).tolist() == np.diagonal(whole).tolist()
    assert backend.numpy(state.true).tolist() == whole.sum(1).tolist()
    assert backend.numpy(state.pred).tolist() == whole.sum(0).tolist()
    assert int(state.dropped) == 2
    compare(backend, state.score(PANEL), matrics.score(whole, PANEL))


def compare(backend: Any, scores: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert set(scores) == set(wanted)  # jit sorts them
    for name, value in scores.items():
        assert type(value) is type(backend.asarray(np.zeros(3))[0]) or backend.name == "numpy"
        np.testing.assert_allclose(backend.numpy(value), wanted[name], **backend.tolerance, err_msg=name)


@pytest.mark.sampled(2)
def test_scores_weights_and_what_is_ignored(backend: Any) -> None:
    """Class scores with their axis in front, images, weights of two models, and a label to ignore."""
    y_true = RANDOM.integers(-1, 4, (2, 5, 6))
    logits = RANDOM.normal(size=(2, 3, 5, 6)).astype(np.float32)
    logits[0, 1, 0, 0] = np.nan
    weights = RANDOM.integers(0, 8, (2, 5, 6)) / 4
    wanted = np.zeros((2, 3, 3))
    kept = (y_true != -1) & (y_true < 3)
    kept[0, 0, 0] = False
    for batch, row, column in np.argwhere(kept):
        place = batch, y_true[batch, row, column], logits[batch, :, row, column].argmax()
        wanted[place] += weights[batch, row, column]
    floating = matrics._arrays.as_arrays(like=backend.asarray(logits))[0].xp.float32
    state = MarginState.zeros(3, batch_shape=(2,), like=backend.asarray(0), dtype=floating)
    arrays = map(backend.asarray, (y_true, logits))
    state = state.update(*arrays, class_axis=1, sample_weight=backend.asarray(weights), ignore_index=-1)
    np.testing.assert_array_equal(backend.numpy(state.true), wanted.sum(-1))
    np.testing.assert_array_equal(backend.numpy(state.pred), wanted.sum(-2))
    np.testing.assert_array_equal(backend.numpy(state.true_positives), np.diagonal(wanted, axis1=1, axis2=2))
    lost = ((y_true != -1) & ~kept).sum((1, 2))
    assert backend.numpy(state.dropped).tolist() == lost.tolist()
    scores, wanted = state.score(PANEL), matrics.score(wanted, PANEL)
    for name, value in scores.items():
        np.testing.assert_allclose(backend.numpy(value), wanted[name], rtol=3e-4, atol=3e-5, err_msg=name)


@pytest.mark.sampled(2)
def test_sum_and_leaves(backend: Any) -> None:
    y_true, y_pred = RANDOM.integers(-1, 3, (2, 5, 40))
    zeros = MarginState.zeros(3, like=backend.asarray(0))
    parts = [zeros.update(*map(backend.asarray, pair)) for pair in zip(y_true, y_pred, strict=True)]
    whole = zeros.update(*map(backend.asarray, (y_true, y_pred)))
    leaves = MarginState(*(functools.reduce(operator.add, leaf) for leaf in zip(*parts, strict=True)))
    for merged in (sum(parts), leaves, sum(parts[::-1])):
        assert isinstance(merged, MarginState)
        for name in ("true_positives", "true", "pred", "dropped"):
            got, wanted = (backend.numpy(getattr(state, name)) for state in (merged, whole))
            assert got.tolist() == wanted.tolist()
    if backend.name != "strict":
        assert int(pickle.loads(pickle.dumps(whole)).dropped) == int(whole.dropped)


# Exactness ----------------------------------------------------------------------------------------------------------


def large(backend: Any) -> tuple[MarginState, np.ndarray]:
    """2**40 times as much as a matrix with a class that has nearly everything and one error elsewhere."""
    cm = np.asarray([[9, 7, 0], [1, 0, 1], [8, 0, 0]])
    y_true, y_pred = (np.repeat(side.ravel(), cm.ravel()) for side in np.indices((3, 3)))
    one = MarginState.zeros(3, like=backend.asarray(0)).update(*map(backend.asarray, (y_true, y_pred)))
    for _ in range(40):
        one = one + one
    few = MarginState.zeros(3, like=backend.asarray(0)).update(backend.asarray([1]), backend.asarray([2]))
    return one + few, cm * 2**40 + np.asarray([[0, 0, 0], [0, 0, 1], [0, 0, 0]])


@pytest.mark.sampled(1)
def test_counts_beyond_24_and_31_bits(backend: Any) -> None:
    """Also under jit, where default JAX has two words: differences are those of integers."""
    state, cm = large(backend)
    for name, wanted in (("true_positives", np.diagonal(cm)), ("true", cm.sum(1)), ("pred", cm.sum(0))):
        got = backend.numpy(getattr(state, name))
        assert got.dtype == np.int64
        assert got.tolist() == wanted.tolist()
    wanted = matrics.score(cm.astype(float), PANEL)
    compare(backend, state.score(PANEL), wanted)
    compare(backend, backend.jit(lambda state: state.score(PANEL))(state), wanted)


@pytest.mark.sampled(1)
def test_true_negatives_are_subtracted_in_integers(backend: Any) -> None:
    """Two samples are outside the row and the column of a class that has 2**34 others."""
    cm = [[2**34, 2**33, 0], [2**32, 0, 2], [0, 0, 0]]
    state = zeros = MarginState.zeros(3, like=backend.asarray(0))
    for (true, pred), count in np.ndenumerate(cm):
        some = zeros.update(backend.asarray([true]), backend.asarray([pred]))
        for _ in range(int(count).bit_length() - 1):
            some = some + some
        state = state + some if count else state
    wanted = matrics.score(np.asarray(cm), ["tn:class", "specificity:class"])
    for score in (MarginState.score, backend.jit(MarginState.score, static_argnums=1)):
        found = score(state, ("tn:class", "specificity:class"))
        np.testing.assert_allclose(backend.numpy(found["tn:class"]), [2, 2**34, 2**34 + 2**33 + 2**32], rtol=1e-7)
        np.testing.assert_allclose(backend.numpy(found["specificity:class"]), wanted["specificity:class"], rtol=1e-6)


def test_two_words_of_many_classes(jax_backend: Any) -> None:
    """The sum of the low words of 100,000 classes has more than 31 bits."""
    counts = RANDOM.integers(0, 2**28, (3, 100_000))
    made = [jax_backend.asarray(part.astype(np.int32)) for part in (counts & (2**16 - 1), counts >> 16)]
    if jax_backend.float64:
        made = [jax_backend.asarray(counts), jax_backend.asarray(np.zeros((0, 0), np.int64))]
    state = MarginState(made[0], jax_backend.asarray(np.zeros((), np.int32)), made[1])
    total = jax_backend.jit(lambda state: state.score("accuracy")["accuracy"])(state)
    assert float(total) == pytest.approx(counts[0].sum() / counts[:2].sum(), rel=1e-6)


def test_weighted_true_negatives_keep_their_digits() -> None:
    """Of a class that has nearly everything the rest is no difference of totals."""
    weights = np.asarray([1e17, 4.0, 1.0, 3.0, 2.0])
    y_true, y_pred = [0, 1, 1, 2, 2], [0, 0, 1, 1, 2]
    state = MarginState.zeros(3, dtype=np.float64).update(y_true, y_pred, sample_weight=weights)
    assert state.score("tn:class")["tn:class"].tolist() == [6, 1e17, 1e17]
    of_ten = MarginState.zeros(10, dtype=np.float64).update(y_true, y_pred, sample_weight=weights)
    assert of_ten.score("tn:class")["tn:class"][0] == 6


# Invalid counts -----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
def test_an_invalid_matrix_touches_no_other(backend: Any) -> None:
    xp = matrics._arrays.as_arrays(like=backend.asarray(0))[0].xp
    zeros = MarginState.zeros(2, batch_shape=(4,), like=backend.asarray(0), dtype=xp.float32)
    weights = np.asarray([[1, 1], [np.nan, 1], [np.inf, 1], [-1, 2]], np.float32)
    state = zeros.update(
        *map(backend.asarray, (np.tile([0, 1], (4, 1)), np.zeros((4, 2), int))), sample_weight=backend.asarray(weights)
    )
    scores = backend.numpy(state.score("accuracy", invalid="nan")["accuracy"])
    np.testing.assert_array_equal(scores, [0.5, np.nan, np.nan, np.nan])
    with pytest.raises(
        matrics.InvalidConfusionMatrix, match=r"^3 of 4 matrices are invalid, .*; first \[1\], \[2\], \[3\]$"
    ):
        state.score("accuracy", invalid="raise")
    if backend.name == "numpy":
        with pytest.warns(RuntimeWarning, match="3 of 4 matrices are invalid") as caught:
            state.score("accuracy")
        assert caught[0].filename == __file__
        with pytest.warns(RuntimeWarning, match="1 of 1 matrices is invalid, .* infinite count$"):
            MarginState(*(leaf[1] for leaf in state)).score("f1")


# What is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MarginState.zeros(0), ValueError, "num_classes: expected an integer"),
        (lambda: MarginState.zeros(2, batch_shape=(-1,)), ValueError, "batch_shape: expected lengths"),
        (lambda: MarginState.zeros(2, dtype=np.int32), TypeError, "dtype: expected None"),
        (
            lambda: MarginState.zeros(2).update([0], [0], sample_weight=[1.0]),
            TypeError,
            r"MarginState.zeros\(..., dtype=",
        ),
        (lambda: MarginState.zeros(2, batch_shape=(3,)).update([0], [0]), ValueError, r"the batch \(3,\) of the state"),
        (lambda: MarginState.zeros(2) + MarginState.zeros(3), ValueError, "same classes and batch"),
        (lambda: MarginState.zeros(2) + ConfusionState.zeros(2), TypeError, "expected a MarginState to add, got Conf"),
        (lambda: 2 * MarginState.zeros(2), TypeError, "cannot be multiplied"),
        (lambda: MarginState.zeros(2) * 2, TypeError, "cannot be multiplied"),
        (lambda: MarginState.zeros(3).score("core"), ValueError, "^cen, eve need all cells of the matrix"),
        (lambda: MarginState.zeros(3).score("cohen_kappa(weights=linear)"), ValueError, "needs all cells"),
        (lambda: MarginState.zeros(3).score("nonsense"), ValueError, "nonsense"),
        (lambda: MarginState.zeros(3).score("f1", invalid="ignore"), ValueError, "invalid: expected"),
        (lambda: MarginState.zeros(3).score("f1:binary"), ValueError, "is for 2×2 matrices"),
        (lambda: MarginState.list_metrics("odd"), ValueError, "unknown family"),
    ],
)
def test_errors_say_what_was_expected(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# Size ---------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_nothing_is_as_large_as_the_matrix() -> None:
    """Of 20,000 classes it would take 400 MB with one byte a cell; 32 MB are what is kept when freed."""
    n = 20_000
    state = MarginState.zeros(n)
    assert sum(leaf.nbytes for leaf in state) == 3 * 8 * n + 8
    y_true = RANDOM.integers(0, n, 4096)
    have, _ = possible(3)
    tracemalloc.start()
    try:
        state = state.update(y_true, np.where(RANDOM.random(4096) < 0.5, y_true, 0))
        for spec in have:
            state.score(spec)
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_refusing_takes_no_memory_either() -> None:
    """A formula could lay out 10**10 numbers before it asks for cells."""
    state = MarginState.zeros(100_000).update([7, 40_000], [7, 99_999])
    refused = sorted(set(matrics.list_metrics()) - set(MarginState.list_metrics()))
    tracemalloc.start()
    try:
        for spec in [*refused, "cohen_kappa(weights=linear)"]:
            with pytest.raises(ValueError, match="needs all cells of the matrix"):
                state.score(spec)
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_compiled_code_needs_no_more(jax_backend: Any) -> None:
    import jax

    n = 50_000
    state = MarginState.zeros(n, like=jax_backend.asarray(0))

    def step(state: MarginState, y_true: Any, y_pred: Any) -> Any:
        state = state.update(y_true, y_pred)
        return state, state.score(["accuracy", "mcc", "f1", "recall:weighted", "cohen_kappa"])

    y_true = jax_backend.asarray(np.arange(64))
    compiled = jax.jit(step).lower(state, y_true, y_true).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 100 * 8 * n
    state, scores = compiled(state, y_true, y_true)
    assert {name: float(value) for name, value in scores.items()} == dict.fromkeys(scores, 1)


# In transformations -------------------------------------------------------------------------------------------------


def test_jax_scans_and_maps(jax_backend: Any) -> None:
    import jax

    y_true, y_pred = RANDOM.integers(-1, 4, (2, 3, 5, 30))
    arrays = tuple(map(jax_backend.asarray, (y_true, y_pred)))

    def run(y_true: Any, y_pred: Any) -> Any:
        start = MarginState.zeros(4, like=jax_backend.asarray(0))
        state, _ = jax.lax.scan(lambda state, batch: (state.update(*batch), None), start, (y_true, y_pred))
        return state, state.score(PANEL)

    state, scores = jax.jit(jax.vmap(run))(*arrays)
    wanted = MarginState.zeros(4, batch_shape=(3,)).update(y_true, y_pred)
    assert state.true.tolist() == wanted.true.tolist()
    compare(jax_backend, scores, wanted.score(PANEL))
    with pytest.raises(ValueError, match=r"^eve needs all cells of the matrix, which a MarginState"):
        jax.jit(lambda state: state.score(["f1", "eve"]))(state)
    with pytest.raises(TypeError, match="inspect values"):
        jax.jit(lambda state: state.score("f1", invalid="raise"))(state)


@pytest.mark.exhaustive
def test_every_measure_under_jit(jax_backend: Any) -> None:
    n = 5
    y_true, y_pred = labels(n)
    state = MarginState.zeros(n, batch_shape=(4,), like=jax_backend.asarray(0))
    state = state.update(*map(jax_backend.asarray, (y_true, y_pred)))
    names = tuple(MarginState.list_metrics())
    wanted = matrics.score(matrics.confusion_matrix(y_true, y_pred, num_classes=n), names)
    for name, value in jax_backend.jit(MarginState.score, static_argnums=1)(state, names).items():
        np.testing.assert_allclose(np.asarray(value), wanted[name], **jax_backend.tolerance, err_msg=name)


@pytest.mark.exhaustive
def test_torch_compiles_once(torch: Any) -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("aot_eager")

    def step(state: Any, y_true: Any, logits: Any) -> Any:
        state = state.update(y_true, logits, ignore_index=-1)
        return state, state.score(PANEL)

    def refused(state: Any) -> Any:
        return state.score("eve")

    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True, backend=counter)
    state = other = MarginState.zeros(3, like=torch.zeros(()))
    for _ in range(3):
        y_true, logits = torch.from_numpy(RANDOM.integers(-1, 4, 40)), torch.from_numpy(RANDOM.normal(size=(40, 3)))
        state, scores = compiled(state, y_true, logits)
        other, wanted = step(other, y_true, logits)
    assert counter.frame_count == 1
    assert isinstance(state, MarginState)
    for leaf, same in zip((*state, *scores.values()), (*other, *wanted.values()), strict=True):
        torch.testing.assert_close(leaf, same)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="eve needs all cells of the matrix"):
        torch.compile(refused, fullgraph=True, backend="eager")(state)


def test_torch_looks_at_no_value_and_maps(torch: Any) -> None:
    from torch._subclasses import FakeTensorMode

    names = MarginState.list_metrics()
    with FakeTensorMode():
        y_true, logits = torch.zeros(8, dtype=torch.int64), torch.zeros((8, 3))
        state = MarginState.zeros(3, like=logits).update(y_true, logits)
        scores = (state + state).score(names)
        assert {tuple(value.shape) for value in scores.values()} == {()}
    y_true, y_pred = torch.from_numpy(RANDOM.integers(-1, 3, 40)), torch.from_numpy(RANDOM.integers(0, 3, (5, 40)))
    states = MarginState.zeros(3, batch_shape=(5,), like=y_true)

    def step(state: MarginState, y_pred: Any) -> Any:
        state = state.update(y_true, y_pred)
        return state, state.score(PANEL)

    mapped, scores = torch.func.vmap(step)(states, y_pred)
    wanted = states.update(y_true, y_pred)
    for leaf, same in zip((*mapped, *scores.values()), (*wanted, *wanted.score(PANEL).values()), strict=True):
        torch.testing.assert_close(leaf, same, equal_nan=True)
