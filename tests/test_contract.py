"""What the public contract promises: shapes, dtypes, undefined and invalid cases, specs, errors, imports."""

from __future__ import annotations

import enum
import functools
import inspect
import math
import pickle
import re
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from public_names import functions

import matrics
from matrics._catalogue import of_scores

CM = np.asarray([[5, 1, 0], [2, 7, 1], [0, 3, 4]])
EMPTY = np.asarray([[5, 1, 0], [0, 0, 0], [2, 0, 4]])  # class 1 has no items


# Undefined ----------------------------------------------------------------------------------------------------------


def test_averages(backend: Any) -> None:
    cm = backend.asarray(EMPTY)
    recalls = [5 / 6, math.nan, 4 / 6]

    def recall(**options: Any) -> Any:
        return backend.numpy(matrics.recall(cm, **options))

    np.testing.assert_allclose(recall(average="class"), recalls, rtol=1e-6)
    np.testing.assert_allclose(recall(average="class"), recalls, rtol=1e-6)
    np.testing.assert_allclose(recall(), np.nanmean(recalls), rtol=1e-6)  # undefined classes are left out
    np.testing.assert_allclose(recall(zero_division=0.5), (5 / 6 + 0.5 + 4 / 6) / 3, rtol=1e-6)
    np.testing.assert_allclose(recall(average="weighted"), 9 / 12, rtol=1e-6)
    np.testing.assert_allclose(recall(average="micro"), 9 / 12, rtol=1e-6)
    np.testing.assert_allclose(backend.numpy(matrics.balanced_accuracy(cm)), np.nanmean(recalls), rtol=1e-6)


def test_binary(backend: Any) -> None:
    cm = backend.asarray([[8, 2], [4, 6]])
    assert backend.numpy(matrics.recall(cm, average="binary")) == pytest.approx(0.6)  # class 1 is positive
    assert backend.numpy(matrics.recall(cm, average="binary", positive=0)) == pytest.approx(0.8)
    assert backend.numpy(matrics.score(cm, "recall:binary")["recall:binary"]) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="average='binary' is for 2×2 matrices, got 3×3"):
        matrics.recall(backend.asarray(CM), average="binary")
    assert (
        backend.numpy(matrics.recall(backend.asarray(CM), positive=0))
        == backend.numpy(matrics.recall(backend.asarray(CM), average="class"))[0]
    )
    for label in (2, True, 1.5, "ok"):
        with pytest.raises(ValueError, match=r"recall.*: expected the index of a class, from 0 to 1"):
            matrics.recall(cm, positive=label)


def test_a_positive_class_makes_it_binary() -> None:
    """In calls, specs and modules; with another average it is an error."""
    cm = [[8, 2], [4, 6]]
    for average in ("macro", "class", "weighted"):
        with pytest.raises(
            ValueError, match="positive=0 is for average='binary', the default with it; got the average"
        ):
            matrics.f1(cm, average=average, positive=0)
    of_class_0 = pytest.approx(2 * 8 / (2 * 8 + 4 + 2))
    assert matrics.f1(cm, positive=0) == matrics.score(cm, "f1(positive=0)")["f1(positive=0)"] == of_class_0
    assert matrics.f1.using(average="binary", positive=0).using(average="macro")(cm) == matrics.f1(cm, average="macro")
    chosen = matrics.get_metric("fbeta(beta=2,positive=0):binary")
    assert chosen == matrics.get_metric(str(chosen)) == pickle.loads(pickle.dumps(chosen))
    assert chosen != matrics.get_metric("fbeta(beta=2):binary")
    assert chosen(cm) == pytest.approx(5 * 8 / (5 * 8 + 4 * 2 + 4))
    assert (
        matrics.f1(cm, positive=1)
        == matrics.f1(cm, average="binary")
        == matrics.f1(cm)
        != matrics.f1(cm, average="macro")
    )


def test_first_lines_from_elsewhere() -> None:
    """What one writes who comes from scikit-learn is answered with what to write here."""
    labels = ([0, 1, 1], [0, 1, 0])
    with pytest.raises(TypeError, match=r"matrics.mcc\(matrics.confusion_matrix\(y_true, y_pred"):
        matrics.mcc(*labels)
    with pytest.raises(TypeError, match=r"got y_true and y_pred; for labels, call matrics.mcc\("):
        matrics.mcc(y_true=labels[0], y_pred=labels[1])
    with pytest.raises(TypeError, match=r"expected an array of counts .*, got None"):
        matrics.mcc()
    for arrays in (labels, map(np.asarray, labels)):
        with pytest.raises(TypeError, match=r"matrics.score\(matrics.confusion_matrix\(y_true, y_pred"):
            matrics.score(*arrays)
    for name, measure in {"iou": "metrics.jaccard", "dice": "f1", "f1_score": "f1", "sensitivity": "recall"}.items():
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}': the measure is matrics.{measure};"):
            getattr(matrics, name)
    with pytest.raises(
        ValueError, match=r"'hinge_loss' needs the scores of each sample, .*; for a measure at a thresh"
    ):
        matrics.score([[1]], "hinge_loss")
    assert not hasattr(matrics, "no_such_measure")
    with pytest.raises(AttributeError, match=r"did you mean matrics\.confusion_matrix\?"):
        getattr(matrics, "confusion_matix")  # noqa: B009
    with pytest.raises(TypeError, match="average='macro'"):
        matrics.f1([[1]], "macro")
    for spec in ("f1_macro(average=class)", "f1(average=class):macro"):
        with pytest.raises(ValueError, match="expected a single average"):
            matrics.get_metric(spec)
    assert matrics.get_metric("f1_weighted") == matrics.f1.using(average="weighted")
    assert matrics.get_metric("mcc_one_vs_rest") == matrics.mcc.using(average="one_vs_rest")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("call", "names"), of_scores.OF_SCORES.items())
def test_measures_of_scores_say_where_they_live(call: str, names: tuple[str, ...]) -> None:
    """And they do, with these parameters."""
    function, parameters = re.fullmatch(r"(\w+\.\w+)\((.*)\)", call).groups()
    taken = list(inspect.signature(functions()[function]).parameters)
    named = [parameter.partition("=") for parameter in parameters.split(", ")]
    assert taken[: len(named)] == [name for name, *_ in named] or {name for name, *_ in named} <= set(taken)
    for name in names:
        with pytest.raises(ValueError, match=re.escape(f"'{name}' needs the scores of each sample, and a confusion")):
            matrics.score([[1]], name)
        with pytest.raises(ValueError, match=re.escape(f": use matrics.{call}")):
            matrics.get_metric(f"{name}:macro")


def test_names_of_elsewhere_say_where_they_live() -> None:
    with pytest.raises(
        AttributeError, match=r"no attribute 'auroc': .* use matrics.ranking.roc_auc\(y_true, y_score\)"
    ):
        getattr(matrics, "auroc")  # noqa: B009


def test_an_undefined_binary_mcc_is_nan_or_what_is_asked() -> None:
    only_one_class = [[7, 0], [3, 0]]
    assert np.isnan(matrics.mcc(only_one_class))
    assert matrics.mcc(only_one_class, zero_division=0) == 0


@pytest.mark.sampled(2)
def test_zero_division_does_not_touch_defined_values(backend: Any) -> None:
    plain, filled = (matrics.score(backend.asarray(CM), "all", zero_division=z) for z in (math.nan, -7.0))
    for name, value in plain.items():
        defined = backend.numpy(value)
        if not np.isnan(defined):
            digits = 1e-15 if backend.name.endswith("cuda") else 0  # whose sums have no fixed order
            np.testing.assert_allclose(defined, backend.numpy(filled[name]), rtol=digits, err_msg=name)
    assert np.isnan(backend.numpy(plain["gt_index"]))  # all errors of this matrix touch one class


# Invalid ------------------------------------------------------------------------------------------------------------


def test_warning_names_the_matrices() -> None:
    stack = np.stack([CM, CM, CM]).astype(float).reshape(3, 1, 3, 3)
    stack[1, 0, 2, 0], stack[2, 0, 1, 1] = -1, np.inf
    with pytest.warns(
        RuntimeWarning,
        match=r"2 of 3 confusion matrices are invalid: \[1\]\[0\] has the cell -1.0 at \[2, 0\]; "
        r"\[2\]\[0\] has the cell inf at \[1, 1\]",
    ) as caught:
        scores = matrics.score(stack, "all")
    assert caught[0].filename == __file__
    assert np.isfinite(scores["mcc"][0]).all()
    assert np.isnan(scores["mcc"][1:]).all()
    with pytest.warns(RuntimeWarning, match="1 of 1 confusion matrices is invalid: it has the cell -1") as caught:
        matrics.mcc([[-1, 2], [3, 4]])
    assert caught[0].filename == __file__
    state = matrics.ConfusionState.zeros(2, dtype=np.float64)
    state = state.update([0, 1], [0, 1], sample_weight=np.array([1.0, -1.0]))
    with pytest.warns(RuntimeWarning, match="has the cell -1") as caught:
        state.score("accuracy")
    assert caught[0].filename == __file__


def test_many_invalid_matrices_in_many_blocks() -> None:
    """Blocks and threads lose none of them."""
    stack = np.ones((100_000, 2, 2))
    bad = np.asarray([3, 40_000, 99_999, 77_777])
    stack[bad, 0, 1] = np.nan
    for workers in (1, 3, -1):
        with pytest.warns(RuntimeWarning, match=r"4 of 100000 .* \[3\] .*\[40000\] .*\[77777\] .*; and 1 more"):
            values = matrics.score(stack, "accuracy", workers=workers)["accuracy"]
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(values)), np.sort(bad))


@pytest.mark.sampled(2)
def test_raise(backend: Any) -> None:
    stack = np.stack([CM, CM]).astype(float)
    stack[1, 0, 0] = -2
    for call in (lambda cm: matrics.score(cm, "mcc", invalid="raise"), matrics.check):
        with pytest.raises(matrics.InvalidConfusionMatrix, match=r"1 of 2 .* \[1\] has the cell -2.0 at \[0, 0\]"):
            call(backend.asarray(stack))
        call(backend.asarray(CM))
    assert matrics.check(backend.asarray(CM)).shape == (3, 3)


@pytest.mark.sampled(2)
def test_a_sum_that_overflows_is_invalid_and_not_wrong(backend: Any) -> None:
    cm = backend.asarray(np.full((2, 2), 3e38), np.float32)
    assert np.isnan(backend.numpy(matrics.accuracy(cm, invalid="nan")))
    with pytest.raises(matrics.InvalidConfusionMatrix, match="it has a sum beyond the largest"):
        matrics.check(cm)


def test_raise_counts_all_of_them() -> None:
    stack = np.ones((200_000, 2, 2))
    stack[[10, 150_000], 0, 0] = -1
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"2 of 200000 .* \[10\] .*\[150000\]"):
        matrics.score(stack, "mcc", invalid="raise")


def test_raise_of_bfloat16(torch: Any) -> None:
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"has the cell -5\.0"):
        matrics.check(-torch.tensor(CM).bfloat16())


def test_zero_division_has_no_say_in_the_dtype() -> None:
    cm = np.asarray(EMPTY, np.float32)
    for value in matrics.score(cm, "all", zero_division=np.float64(0)).values():
        assert value.dtype == np.float32


def test_raise_cannot_look_under_jit(jax_backend: Any) -> None:
    import jax

    with pytest.raises(TypeError, match="do not exist yet under jit"):
        jax.jit(matrics.check)(jax_backend.asarray(CM))


def test_raise_cannot_look_at_fake_tensors(torch: Any) -> None:
    with pytest.raises(TypeError, match="do not exist yet under jit"):
        matrics.mcc(torch.ones((2, 2), device="meta"), invalid="raise")
    with pytest.raises(TypeError, match="do not exist yet under jit"):
        torch.func.vmap(matrics.check)(torch.ones((3, 2, 2)))


# Shapes, dtypes, options --------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (4, 3, 2), (0, 0), (5, 0, 0)])
def test_wrong_shape(backend: Any, shape: tuple[int, ...]) -> None:
    for call in (matrics.mcc, matrics.score, matrics.check):
        with pytest.raises(ValueError, match=r"cm: expected a confusion matrix .* got shape"):
            call(backend.asarray(np.zeros(shape)))


def test_wrong_dtype(backend: Any) -> None:
    with pytest.raises(TypeError, match=r"cm: expected counts .* got dtype"):
        matrics.mcc(backend.asarray(np.zeros((2, 2)), np.complex64))


@pytest.mark.parametrize("cm", [[["a", "b"], ["c", "d"]], [[None, 1], [2, 3]], {"a": 1}, "text", None])
def test_not_numbers(cm: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="cm: expected"):
        matrics.score(cm)


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="masked"):
        matrics.mcc(np.ma.masked_array(CM, CM == 0))


def test_what_numpy_understands_is_numpy() -> None:
    reference = matrics.mcc(CM)
    for cm in (CM.tolist(), tuple(map(tuple, CM.tolist()))):
        assert matrics.mcc(cm) == reference
    assert isinstance(reference, np.float64)


@pytest.mark.parametrize(
    ("dtype", "result"),
    [(np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64), (np.longdouble, np.float64),
     (np.int8, np.float64), (np.uint64, np.float64), (np.bool_, np.float64)],
)  # fmt: skip
def test_dtype_rule(dtype: type, result: type) -> None:
    for values in matrics.score(np.ones((2, 3, 3), dtype), ["mcc", "recall:class", "eve"]).values():
        assert values.dtype == result


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize("n", [2, 20])
def test_plain_tensors_have_the_values_of_numpy(torch: Any, n: int, dtype: str) -> None:
    """In every bit, as they are scored in place; and as tensors, without a warning."""
    cm = np.random.default_rng(n).integers(0, 9, (3, 40, n, n)).astype(dtype)
    stack = torch.from_numpy(cm)
    if dtype.startswith("float"):
        cm[0, 0, 1, 0] = -1
    expected = matrics.score(cm, "all", invalid="nan")
    with torch.inference_mode():
        inferred = matrics.score(stack, "all")
    leaf = stack.requires_grad_() if dtype.startswith("float") else stack
    with torch.no_grad():
        unwatched = matrics.score(leaf, "all")
    for name, values in expected.items():
        for found in (inferred[name], unwatched[name]):
            assert type(found) is torch.Tensor
            assert not found.requires_grad
            np.testing.assert_array_equal(found.numpy(), values, err_msg=name, strict=True)
    single = matrics.mcc(stack.detach()[1, 1])
    assert single.shape == ()
    assert float(single) == matrics.mcc(cm[1, 1])
    if dtype.startswith("float"):
        assert matrics.mcc(leaf).requires_grad
        assert matrics.mcc(torch.nn.Parameter(leaf)).requires_grad


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forward_ad
def test_watched_tensors_stay_with_pytorch(torch: Any) -> None:
    """Forward derivatives and traces see every operation."""
    from torch.autograd import forward_ad
    from torch.fx.experimental.proxy_tensor import make_fx

    cm = torch.from_numpy(CM.astype(float))
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(cm, torch.ones_like(cm))
        tangent = forward_ad.unpack_dual(matrics.accuracy(dual)).tangent
    assert float(tangent) == pytest.approx(3 / 23 - 16 * 9 / 23**2)
    traced = make_fx(matrics.accuracy)(cm)
    assert float(traced(2 * torch.eye(3, dtype=cm.dtype))) == 1
    mapped = torch.func.vmap(lambda x: matrics.accuracy(cm) + x)(torch.zeros(2, dtype=cm.dtype))
    np.testing.assert_allclose(mapped.numpy(), 16 / 23)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_plain_jax_arrays_have_the_values_of_numpy(jax_backend: Any, dtype: type) -> None:
    cm = np.random.default_rng(0).integers(0, 9, (3, 40, 4, 4)).astype(dtype)
    scores = matrics.score(jax_backend.asarray(cm), "all")
    for name, values in matrics.score(cm, "all").items():
        kept = values.dtype if jax_backend.float64 else np.float32
        if not jax_backend.looks:
            wide = values.dtype == np.float64
            np.testing.assert_allclose(scores[name], values, rtol=1e-9 if wide else 1e-3, atol=1e-12 if wide else 1e-5)
            continue
        np.testing.assert_array_equal(scores[name], values.astype(kept), err_msg=name, strict=True)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_is_widened(torch: Any, name: str) -> None:
    cm = torch.tensor(CM, dtype=getattr(torch, name))
    assert matrics.mcc(cm).dtype == torch.float32
    torch.testing.assert_close(matrics.mcc(cm), matrics.mcc(cm.float()))


def test_strict_devices_without_float64() -> None:
    """array-api-strict's stand-in for Apple's GPUs."""
    strict = pytest.importorskip("array_api_strict")
    try:
        device = strict.Device("no_float64")
    except ValueError:
        pytest.skip("this array-api-strict has no such device")
    cm = strict.asarray(CM.tolist(), device=device)
    for name, value in matrics.score(cm, "all").items():
        assert value.dtype == strict.float32
        assert value.device == device
        np.testing.assert_allclose(
            np.asarray(value.to_device(strict.Device("CPU_DEVICE"))), matrics.score(CM, name)[name], rtol=1e-5
        )


def test_input_is_not_written_to() -> None:
    cm = np.stack([EMPTY, CM]).astype(np.float64)
    cm[1, 1, 1] = np.nan
    before = cm.copy()
    matrics.score(cm, "all", invalid="nan")
    matrics.transform.repair(cm), matrics.transform.rebalance(cm), matrics.transform.normalize(cm)
    np.testing.assert_array_equal(cm, before)


@pytest.mark.parametrize("order", ["C", "F", "reversed", "sliced", "transposed"])
def test_any_memory_order(order: str) -> None:
    stack = np.random.default_rng(0).integers(0, 9, (7, 6, 3, 3))
    view = {"C": stack, "F": np.asfortranarray(stack), "reversed": stack[::-1, ::-1], "sliced": stack[::2, 1::2],
            "transposed": stack.transpose(1, 0, 2, 3)}[order]  # fmt: skip
    np.testing.assert_allclose(matrics.mcc(view), matrics.mcc(view.copy()), rtol=1e-14)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scale_does_not_matter(dtype: type) -> None:
    """From the smallest counts to the largest: no product leaves the range of the numbers."""
    cm = np.asarray([[8, 2, 1], [3, 7, 2], [1, 1, 9]])
    exponents = (-1060, -900, -300, 0, 300, 900, 1015) if dtype is np.float64 else (-130, -90, -30, 0, 30, 90, 120)
    stack = np.ldexp(cm.astype(dtype), np.asarray(exponents)[:, None, None])
    names = [name for name in matrics.list_metrics() if matrics.get_metric(name).scale_free]
    specs = [*names, "mcc:one_vs_rest", "cohen_kappa:one_vs_rest", "informedness:micro", "f1:weighted"]
    scores = matrics.score(stack, specs)
    for name, values in scores.items():
        wanted = np.broadcast_to(matrics.score(cm, name)[name], values.shape)
        np.testing.assert_allclose(values, wanted, rtol=1e-12 if dtype is np.float64 else 1e-5)
        # Whether a block is scaled hangs on all that it holds.
        alone = [matrics.score(np.stack([scaled] * len(stack)), name)[name][0] for scaled in stack]
        np.testing.assert_array_equal(values, alone, err_msg=name)
    for name in ("mcc", "cohen_kappa", "f1", "recall"):  # a power of two changes no digit
        assert len(set(scores[name].tolist())) == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", [2, 5, 60])
def test_neighbours_do_not_matter(n: int) -> None:
    """Not in a single bit: what is seen of a block makes it cheaper, and changes no value."""
    random = np.random.default_rng(n)
    kinds = [
        random.integers(0, 9, (20, n, n)),
        random.uniform(0, 9, (20, n, n)),
        10.0**17 * random.integers(0, 2, (20, n, n)),
        1e-200 * random.uniform(0, 9, (20, n, n)),
        np.zeros((20, n, n)),
        -np.ones((20, n, n)),
    ]
    mixed = random.permutation(np.concatenate(kinds))
    together = matrics.score(mixed, "all", invalid="nan")
    for kind in kinds:
        rows = [int(np.flatnonzero((mixed == cm).all((1, 2)))[0]) for cm in kind]
        for name, values in matrics.score(np.asarray(kind, np.float64), "all", invalid="nan").items():
            np.testing.assert_array_equal(values, together[name][rows], err_msg=name)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", [pytest.param(2, marks=pytest.mark.exhaustive), 5, 60])
def test_blocks_and_threads_change_nothing(n: int) -> None:
    stack = np.random.default_rng(n).integers(0, 50, (400_000 // n**2, n, n))
    alone = {name: np.concatenate([values]) for name, values in matrics.score(stack, "all").items()}
    threads = matrics.score(stack, "all", workers=2)
    parts = [matrics.score(part, "all") for part in np.array_split(stack, 7)]
    for name, values in alone.items():
        np.testing.assert_array_equal(values, threads[name])
        np.testing.assert_allclose(values, np.concatenate([part[name] for part in parts]), rtol=1e-12, atol=1e-15)


@pytest.mark.exhaustive
@pytest.mark.exhaustive(soft=[False], n=[2, 51, 300])
@pytest.mark.exhaustive(n=[51, 300])
@pytest.mark.parametrize("n", [2, 5, 51, 300])
@pytest.mark.parametrize("soft", [False, True])
def test_threads_change_no_bit(n: int, *, soft: bool) -> None:
    """Of stacks of any length: a last block of a single matrix would be summed in another order."""
    random = np.random.default_rng(n)
    longest = random.random(({2: 40_000, 5: 12_000, 51: 201, 300: 17}[n], n, n)) * 50
    longest = longest if soft else longest.round()
    core = [name for name in matrics.list_metrics("core") if name != "eve" or n < 100]  # whose time is LAPACK's
    specs = [*core, "joint_entropy", "mutual_information", "specificity:weighted", "npv", "mcc:one_vs_rest"]
    lengths = (1, 2, 8, 9, 10, 17, 64, 65, 66, 72, 73, 74, 137, 201, 5243, 5251, 12_000, 32_769, 40_000)
    for length in (length for length in lengths if length <= len(longest)):
        stack = longest[:length]
        alone = matrics.score(stack, specs)
        for workers in (2, 7):
            for name, values in matrics.score(stack, specs, workers=workers).items():
                np.testing.assert_array_equal(values, alone[name], err_msg=f"{name}, {len(stack)}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [2, 9, 60])
def test_neighbours_change_no_bit_of_float32(n: int) -> None:
    """Whole counts with soft ones, and few with many, whose products float32 does not hold."""
    random = np.random.default_rng(n)
    many = random.integers(0, 2_000, (30, n, n))
    few = random.integers(0, 2, (30, n, n))
    soft = random.random((30, n, n)) * 100
    specs = ["all", "mcc:one_vs_rest", "informedness:class", "specificity:class"]
    kinds = [kind.astype(np.float32) for kind in (many, few, soft)]
    together = matrics.score(np.concatenate(kinds), specs)
    for position, kind in enumerate(kinds):
        for name, values in matrics.score(kind, specs).items():
            assert values.dtype == np.float32
            np.testing.assert_array_equal(values, together[name][30 * position : 30 * position + 30], err_msg=name)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", [3, 20, 100, 300])
@pytest.mark.parametrize("specs", [["mcc", "f1", "recall:class"], ["cen", "joint_entropy", "mcc"]])
def test_what_a_stack_takes_beside_it(n: int, specs: list[str]) -> None:
    """However many matrices there are, and however large they are, within reason."""
    stack = np.random.default_rng(n).integers(0, 50, (8_000_000 // n**2, n, n))
    tracemalloc.start()
    try:
        results = matrics.score(stack, specs, workers=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - sum(values.nbytes for values in results.values()) < 64 * 2**20


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [2, 7, 20, 60])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8])
def test_what_later_blocks_hold(n: int, dtype: type) -> None:
    """Whatever asks for a closer look may come late in a stack of plain counts, and changes nothing with it."""
    random = np.random.default_rng(n)
    stack = random.integers(0, 50, (150_000 // n + 700, n, n)).astype(dtype)
    stack[-3] = 0
    if dtype in (np.float64, np.float32):
        stack[-1, 0, 1] = -1
        stack[-2, 1, 1] = np.nan
        stack[len(stack) // 2] += 0.25
        stack[len(stack) // 3, 0, 0] = 1e17
    specs = ["accuracy", "mcc", "cohen_kappa", "recall:class", "f1", "mcc:one_vs_rest", "informedness:micro", "lift"]
    scores = matrics.score(stack, specs, invalid="nan", workers=2)
    look = [*range(5), len(stack) // 3, len(stack) // 2, *range(-5, 0)]
    for spec, values in scores.items():
        alone = np.stack([matrics.score(stack[i], spec, invalid="nan")[spec] for i in look])
        # Of inexact sums, whose order differs.
        allowed = {"rtol": 1e-13} if values.dtype == np.float64 else {"rtol": 1e-5, "atol": 1e-6}
        np.testing.assert_allclose(values[look], alone, **allowed, err_msg=spec)


def test_views_and_files_are_read_where_they_lie(tmp_path: Path) -> None:
    """Strided views, Fortran's order and memory-mapped files, in one block and in many."""
    counts = np.random.default_rng(3).integers(0, 50, (60_000, 4, 4)).astype(float)
    np.save(tmp_path / "stack.npy", counts)
    expected = matrics.score(counts, ["mcc", "recall:class", "cen"])
    mapped = np.load(tmp_path / "stack.npy", mmap_mode="r")
    twice = np.repeat(counts, 2, axis=0)[::2]
    for stack in (mapped, twice, np.asfortranarray(counts), np.swapaxes(counts.swapaxes(1, 2).copy(), 1, 2)):
        for spec, values in matrics.score(stack, list(expected)).items():
            np.testing.assert_array_equal(values, expected[spec])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"zero_division": "warn"}, TypeError, "zero_division: expected a number"),
        ({"zero_division": True}, TypeError, "zero_division: expected a number"),
        ({"zero_division": np.inf}, ValueError, "zero_division: expected a finite number or NaN"),
        ({"zero_division": 10**400}, ValueError, "zero_division: expected a finite number or NaN"),
        ({"invalid": "ignore"}, ValueError, "invalid: expected 'warn', 'raise' or 'nan', got 'ignore'"),
        ({"workers": 0}, ValueError, "workers: expected a number of threads"),
        ({"workers": 1.5}, ValueError, "workers: expected a number of threads"),
    ],
)
def test_bad_options(options: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.score(CM, **options)


# Specs --------------------------------------------------------------------------------------------------------------


def test_keys_are_the_specs_as_given() -> None:
    fbeta = matrics.metrics.fbeta.using(beta=2)
    asked = ["tpr", "recall:class", fbeta, "nmi( normalizer = joint )", "MCC:one_vs_rest"]
    scores = matrics.score(CM, asked)
    assert list(scores) == ["tpr", "recall:class", "fbeta(beta=2)", "nmi( normalizer = joint )", "MCC:one_vs_rest"]
    np.testing.assert_allclose(scores["fbeta(beta=2)"], matrics.metrics.fbeta(CM, beta=2))
    np.testing.assert_allclose(scores["MCC:one_vs_rest"], matrics.mcc(matrics.transform.one_vs_rest(CM)))
    np.testing.assert_allclose(scores["nmi( normalizer = joint )"], matrics.metrics.nmi(CM, normalizer="joint"))
    assert list(matrics.score(CM, "fbeta(beta=2):macro, mcc")) == ["fbeta(beta=2):macro", "mcc"]
    assert list(matrics.score(CM)) == matrics.list_metrics("core")
    assert list(matrics.score(CM, ["spectral", "mcc"])) == [*matrics.list_metrics("spectral"), "mcc"]


@pytest.mark.parametrize(
    ("spec", "printed"),
    [
        ("fbeta(beta=2.0)", "fbeta(beta=2)"),
        ("fbeta(beta=1)", "fbeta"),
        ("F1 Score", "f1"),
        ("youden-j:micro", "informedness:micro"),
        ("joint_entropy(base=e)", "joint_entropy"),
        ("mutual_information(base=2)", "mutual_information(base=2)"),
        ("mcc:One-vs-Rest", "mcc:one_vs_rest"),
        ("eve(empty=repair):one_vs_rest", "eve(empty=repair):one_vs_rest"),
        ("Overall J", "jaccard:macro"),
        ("LS:class", "lift:class"),
        ("GM:class", "g_mean:one_vs_rest"),
        ("random_accuracy(proportions=true)", "random_accuracy(proportions=true)"),
    ],
)
def test_specs_print_canonically(spec: str, printed: str) -> None:
    assert str(matrics.get_metric(spec)) == printed


@pytest.mark.parametrize("number", [0.95, 0.1, 2.0, 2.5, 1 / 3, 0.1 + 0.2, 1e-5, 1e16, 1e300, 5e-324, 123456789.5])
def test_numbers_are_printed_in_the_fewest_digits_that_read_back(number: float) -> None:
    text = repr(number).removesuffix(".0")
    weights = [[0, number], [1, 0]]
    for metric, printed in (
        (matrics.metrics.fbeta.using(beta=number), f"fbeta(beta={text})"),
        (matrics.cohen_kappa.using(costs=weights), f"cohen_kappa(costs=[[0,{text}],[1,0]])"),
    ):
        assert str(metric) == printed
        assert matrics.get_metric(printed) == metric
        assert pickle.loads(pickle.dumps(metric)) == metric
    assert "confidence=0.95 (" in matrics.describe("accuracy_confidence_limit")


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("recal", ValueError, "unknown metric 'recal'; did you mean recall"),
        ("mathews", ValueError, "matthews_corrcoef \\(= mcc\\)"),
        ("zzzzzzz", ValueError, "unknown metric 'zzzzzzz'; matrics.list_metrics\\(\\) has all"),
        ("", ValueError, "at least one metric|unknown metric"),
        (
            "mcc:macro",
            ValueError,
            "mcc is an overall measure: expected average to be one of 'auto', None, 'one_vs_rest'",
        ),
        ("recall:one_vs_rest", ValueError, "recall is a class measure: expected average"),
        ("fbeta(beta=-1)", ValueError, "fbeta: expected beta to be a number above 0, got '-1'"),
        ("fbeta(beta=nan)", ValueError, "fbeta: expected beta"),
        ("joint_entropy(base=1)", ValueError, "expected base to be a number above 1"),
        ("nmi(normalizer=sum)", ValueError, "expected normalizer to be 'arithmetic' or 'joint'"),
        ("nmi(mean=joint)", TypeError, "nmi has no option 'mean'; its options: normalizer"),
        ("mcc(beta=2)", TypeError, "mcc has no option 'beta'; its options: none"),
        ("fbeta(beta=2,beta=3)", ValueError, "expected every option once, got 'beta' twice"),
        ("fbeta(beta=e)", ValueError, "expected beta to be a number above 0, got 'e'"),
        ("nmi(joint)", ValueError, "expected option=value in the brackets, got 'joint'"),
        ("nmi(normalizer=joint", ValueError, "expected name\\(option=value,...\\)\\[:average\\]"),
    ],
)
def test_bad_specs(spec: str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.score(CM, spec)


def test_bad_metrics_arguments() -> None:
    for metrics in (3, None, {"mcc": 1}, [matrics.mcc, 3]):
        with pytest.raises(TypeError, match="expected a"):
            matrics.score(CM, metrics)
    with pytest.raises(ValueError, match="at least one metric"):
        matrics.score(CM, [])
    with pytest.raises(TypeError, match="recall has no option 'normalise'; its options: average"):
        matrics.recall(CM, normalise=True)
    with pytest.raises(TypeError, match="overall measure and not a value of a class"):
        matrics.mcc(CM, positive=0)
    with pytest.raises(ValueError, match="unknown family 'everything': expected one of core, overall, all"):
        matrics.list_metrics("everything")


@pytest.fixture
def registering(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The decorator, whose metrics are gone after the test."""
    from matrics._catalogue import registry

    for known in ("METRICS", "_NAMES"):
        monkeypatch.setattr(registry, known, dict(getattr(registry, known)))
    yield functools.partial(
        registry.metric, range=(0, 9), higher_is_better=True, formula="9", source="here", undefined="never"
    )
    for cache in registry.CACHES:
        cache.clear()


@pytest.mark.usefixtures("registering")
def test_the_measure_of_the_contributing_guide() -> None:
    """It works as it stands there, put into a family's file."""
    from matrics._metrics import agreement

    guide = Path(__file__).parents[1].joinpath("CONTRIBUTING.md").read_text("utf-8")
    source = guide.partition("```python\n")[2].partition("```")[0]
    exec(source, dict(vars(agreement)))  # noqa: S102 (what a reader would paste)
    values = matrics.score([[[5, 0], [5, 0]], [[10**17, 3], [2, 5]], [[3, 1], [1, 3]]], "hellinger")["hellinger"]
    np.testing.assert_allclose(values[[0, 2]], [np.sqrt(1 - np.sqrt(0.5)), 0], atol=1e-15)
    assert 0 < values[1] < 1e-8


def test_a_metric_may_be_registered_again(registering: Any) -> None:
    """As a cell of a notebook does: what was known of the older one is forgotten."""

    def returning(number: float) -> Any:
        def nines(t: Any) -> Any:
            """Return a number."""
            return 0 * t.tp + number

        return nines

    for number in (1, 2):
        registering(kind="per_class", aliases=("nein",))(returning(number))
        scores = matrics.score(CM, ["nines", "nines:class", "nein"])
        assert [float(np.min(values)) for values in scores.values()] == [number] * 3


def test_a_refused_metric_leaves_nothing_behind(registering: Any) -> None:
    def nines(t: Any) -> Any:
        """Return a number."""
        return 0 * t.total

    with pytest.raises(ValueError, match="the name 'mcc' of nines belongs to mcc"):
        registering(kind="overall", aliases=("mcc",))(nines)
    with pytest.raises(ValueError, match="unknown metric 'nines'"):
        matrics.get_metric("nines")


@pytest.mark.parametrize("count", [1, 2, 200_000])
def test_a_measure_may_be_one_number(registering: Any, count: int) -> None:
    """Of stacks of one block and of many."""

    def nines(t: Any) -> Any:
        """Return a number."""
        return t.xp.asarray(9.0)

    metric = registering(kind="overall")(nines)
    np.testing.assert_array_equal(metric(np.ones((count, 2, 2))), np.full(count, 9.0))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_narrow_floats_of_jax(jax_backend: Any, name: str) -> None:
    """Those that NumPy does not know are left to JAX."""
    import jax.numpy as jnp

    cm = jax_backend.asarray([[3, 1], [1, 3]]).astype(getattr(jnp, name))
    assert float(matrics.accuracy(cm)) == 0.75


def test_names_may_be_enumerated() -> None:
    class Wanted(str, enum.Enum):  # noqa: UP042 (whose text is not its value)
        MCC = "mcc"

    assert matrics.score(CM, [Wanted.MCC])["mcc"] == matrics.score(CM, Wanted.MCC)["mcc"] == matrics.mcc(CM)


# Imports ------------------------------------------------------------------------------------------------------------


def test_import_is_light() -> None:
    """Neither PyTorch nor JAX, nor array_api_compat.numpy (150 ms), nor anything optional."""
    code = (
        "import sys, matrics; matrics.score([[3, 1], [0, 2]], 'all'); "
        "heavy = {'torch', 'jax', 'array_api_compat.numpy', 'array_api_strict', 'typer', 'pyarrow'}; "
        "sys.exit(str(sorted(heavy & set(sys.modules))) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


LATER = """
import sys, numpy

before = set(sys.modules)
import matrics
matrics.get_metric("f1_weighted"), matrics.mcc([[3, 1], [0, 2]])
rooms = "cli counting files judged multilabel plot raters ranking reporting stacks states study".split()
rooms += ["tables", "uncertainty"]
rooms += [f"_{room}" for room in rooms]
late = {*(f"matrics.{room}" for room in rooms), "matrics._scoring.fairness", "matrics._scoring.streaming"}
late |= {"difflib", "email", "json", "logging", "statistics"}  # which take a third as long as NumPy
sys.exit(str(sorted(late & set(sys.modules) - before)) if late & set(sys.modules) - before else 0)
"""


def test_what_is_needed_later_is_imported_later() -> None:
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


ALL = """
import inspect, sys
from matrics import *
import matrics
assert set(matrics.__all__) <= set(globals()), set(matrics.__all__) - set(globals())
assert set(matrics.__all__) <= set(dir(matrics)) == {*matrics.__all__, "__all__", "__doc__", "__name__", "__version__"}
for name in matrics.__all__:  # not a module of the same name, such as that of the function interval
    assert inspect.ismodule(globals()[name]) == (name in matrics._MODULES + matrics._ADAPTERS), name
    assert vars(matrics)[name] is globals()[name], name  # looked up without a function from the second time on
"""


@pytest.mark.exhaustive
def test_a_star_imports_everything() -> None:
    done = subprocess.run([sys.executable, "-c", ALL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_warning_of_its_own() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrics.score(np.zeros((4, 3, 3)), "all")


def test_a_trace_before_dispatch_sees_every_operation(torch: Any) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    traced = make_fx(matrics.accuracy, pre_dispatch=True)(torch.ones(2, 2))
    assert float(traced(torch.eye(2))) == 1


STEPS = """
import torch, matrics
from torch._dynamo.testing import CompileCounterWithBackend

counter = CompileCounterWithBackend("eager")
step = lambda cm: matrics.score(cm, ["core", "recall:class", "fbeta(beta=3)"])
compiled = torch.compile(step, fullgraph=True, backend=counter)
cm = torch.ones(3, 3)
for call in (compiled, compiled, step, compiled):
    call(cm)
assert counter.frame_count == 1, counter.frame_count
"""


@pytest.mark.exhaustive
def test_a_fresh_process_compiles_once(torch: Any) -> None:  # noqa: ARG001 (skips without PyTorch)
    """What is looked up for the first time, while compiling or after, is no reason to compile again."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", STEPS], check=True)
