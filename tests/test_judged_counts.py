"""Counts of judged samples: labels that are missing or ignored, of any kind, in every library."""

from __future__ import annotations

import importlib
import itertools
import math
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(0)
TRUE, JUDGE = RANDOM.integers(0, 3, 60), RANDOM.integers(0, 3, 60)
PRED = RANDOM.integers(0, 3, (4, 60))
LABELLED = np.arange(60) % 3 == 0


def by_hand(  # noqa: PLR0917 (columns of a table)
    true: Any, judge: Any, pred: Any, labelled: Any, n: int, weights: Any = None
) -> tuple[Any, Any]:
    """Counted sample by sample."""
    weights = [1] * len(true) if weights is None else weights
    cube, plane = np.zeros((n, n, n)), np.zeros((n, n))
    for t, j, p, known, weight in zip(true, judge, pred, labelled, weights, strict=True):
        if known:
            cube[t, j, p] += weight
        else:
            plane[j, p] += weight
    return cube, plane


def test_counts_by_hand(backend: Any) -> None:
    arrays = [backend.asarray(x) for x in (TRUE, JUDGE, PRED, LABELLED)]
    found = backend.call(
        lambda t, j, p, known: tuple(matrics.judged.count(t, j, p, labelled=known, num_classes=3)[:2]), *arrays
    )
    for k, pred in enumerate(PRED):
        for ours, theirs in zip(found, by_hand(TRUE, JUDGE, pred, LABELLED, 3), strict=True):
            assert backend.numpy(ours)[k].tolist() == theirs.tolist()


@pytest.mark.sampled(2)
def test_what_stands_for_no_label(backend: Any) -> None:
    """-1 in integers, NaN in floating numbers; None in lists."""
    expected = by_hand(TRUE, JUDGE, PRED[0], LABELLED, 3)
    numbers = np.where(LABELLED, TRUE, -1)
    floats = np.where(LABELLED, TRUE, np.nan).astype(np.float32)
    for given in (numbers, floats):
        arrays = [backend.asarray(x) for x in (given, JUDGE, PRED[0])]
        found = backend.call(lambda t, j, p: tuple(matrics.judged.count(t, j, p, num_classes=3)[:2]), *arrays)
        for ours, theirs in zip(found, expected, strict=True):
            assert backend.numpy(ours).tolist() == theirs.tolist()
    listed = [int(label) if known else None for label, known in zip(TRUE, LABELLED, strict=True)]
    found = matrics.judged.count(listed, JUDGE.tolist(), PRED[0].tolist(), num_classes=3)
    assert found.labelled.tolist() == expected[0].tolist()


def test_texts_and_missing_texts() -> None:
    names = np.asarray(["no", "maybe", "yes"])
    expected = by_hand(TRUE, JUDGE, PRED[0], LABELLED, 3)
    for nothing in (None, math.nan, -1):
        true = [str(names[t]) if known else nothing for t, known in zip(TRUE, LABELLED, strict=True)]
        found = matrics.judged.count(true, names[JUDGE], names[PRED[0]], labels=names)
        assert found.labelled.tolist() == expected[0].tolist()
        assert found.unlabelled.tolist() == expected[1].tolist()
    rubbish = np.where(LABELLED, names[TRUE], "who knows")
    found = matrics.judged.count(rubbish, names[JUDGE], names[PRED], labelled=LABELLED, labels=names)
    assert found.labelled[0].tolist() == expected[0].tolist()


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    expected = by_hand(TRUE, JUDGE, PRED[0], LABELLED, 3)
    for dtype in ("Int64", "float64", object):
        true = pandas.Series(TRUE).where(pandas.Series(LABELLED)).astype(dtype)
        found = matrics.judged.count(true, pandas.Series(JUDGE), pandas.Series(PRED[0]), num_classes=3)
        assert found.labelled.tolist() == expected[0].tolist()
    texts = pandas.Series(["yes" if known else None for known in LABELLED], dtype="string")
    other = pandas.Series(["no"] * 60, dtype="string")
    found = matrics.judged.count(texts, other, other, labels=["no", "yes"])
    assert found.labelled[1, 0, 0] == LABELLED.sum()
    assert found.unlabelled[0, 0] == (~LABELLED).sum()


def test_minus_one_may_be_a_label() -> None:
    found = matrics.judged.count([-1, 1], [-1, 1], [1, 1], labels=[-1, 1])
    assert found.unlabelled.sum() == 0


def test_what_has_no_label_is_ignored() -> None:
    """Whatever stands there: a label out of range, or the wrong one."""
    for other in (99, -5, 0):
        true = np.where(LABELLED, TRUE, other)
        found = matrics.judged.count(true, JUDGE, PRED, labelled=LABELLED, num_classes=3)
        assert found.labelled[1].tolist() == by_hand(TRUE, JUDGE, PRED[1], LABELLED, 3)[0].tolist()


def test_weights_and_their_squares(backend: Any) -> None:
    weights = np.asarray(np.random.default_rng(1).integers(1, 5, 60) / 4, np.float32)
    arrays = [backend.asarray(x) for x in (TRUE, JUDGE, PRED[0], LABELLED, weights)]
    found = backend.call(
        lambda t, j, p, known, w: tuple(matrics.judged.count(t, j, p, labelled=known, num_classes=3, sample_weight=w)),
        *arrays,
    )
    expected = (
        *by_hand(TRUE, JUDGE, PRED[0], LABELLED, 3, weights),
        *by_hand(TRUE, JUDGE, PRED[0], LABELLED, 3, weights.astype(float) ** 2),
    )
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(backend.numpy(ours), theirs, rtol=1e-6)


def test_counts_add_up() -> None:
    parts = [
        matrics.judged.count(TRUE[some], JUDGE[some], PRED[:, some], labelled=LABELLED[some], num_classes=3)
        for some in (slice(0, 20), slice(20, 60))
    ]
    whole = matrics.judged.count(TRUE, JUDGE, PRED, labelled=LABELLED, num_classes=3)
    for ours, theirs in zip((parts[0] + parts[1])[:2], whole[:2], strict=True):
        assert ours.tolist() == theirs.tolist()
    assert sum(parts).unlabelled.tolist() == whole.unlabelled.tolist()
    weighted = matrics.judged.count(TRUE, JUDGE, PRED, labelled=LABELLED, num_classes=3, sample_weight=np.ones(60))
    with pytest.raises(TypeError, match="both weighted or both not"):
        whole + weighted
    assert (weighted + weighted).labelled_squares.sum() == 2 * weighted.labelled.sum()


@pytest.mark.exhaustive
def test_a_tree_of_arrays(torch: Any) -> None:
    """Of JAX and of PyTorch, under jit, vmap and compile; elsewhere labels out of range are left out."""

    def count(t: Any, j: Any, p: Any, known: Any) -> Any:
        return matrics.judged.count(t, j, p, labelled=known, num_classes=3)

    odd = np.where(np.arange(60) == 0, 7, JUDGE)
    expected = by_hand(TRUE[1:], JUDGE[1:], PRED[0][1:], LABELLED[1:], 3)
    tensors = [torch.asarray(x) for x in (TRUE, odd, PRED[0], LABELLED)]
    found = torch.compile(count, fullgraph=True, backend="aot_eager")(*tensors)
    assert isinstance(found, matrics.results.JudgedCounts)
    assert found.labelled.tolist() == expected[0].tolist()
    assert found.unlabelled.tolist() == expected[1].tolist()
    jax = pytest.importorskip("jax")
    arrays = [jax.numpy.asarray(x) for x in (TRUE, odd, PRED[0], LABELLED)]
    found = jax.jit(count)(*arrays)
    assert found.labelled.tolist() == expected[0].tolist()
    mapped = jax.jit(jax.vmap(count, (None, None, 0, None)))(*arrays[:2], jax.numpy.asarray(PRED), arrays[3])
    assert mapped.unlabelled[0].tolist() == expected[1].tolist()
    assert jax.tree.map(lambda x: 2 * x, found).labelled.sum() == 2 * expected[0].sum()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"y_judge": [0, 3, 0]}, ValueError, r"y_judge: expected labels in \[0, 3\), got 3"),
        ({"y_pred": [0, -1, 0]}, ValueError, r"y_pred: expected labels in \[0, 3\), got -1"),
        ({"y_true": [0, 3, 1]}, ValueError, r"y_true: expected labels in \[0, 3\), got 3"),
        ({"y_true": [0, -2, 1]}, ValueError, r"y_true: expected labels in \[0, 3\), got -2"),
        ({"y_true": [0, 3, 1], "labelled": [True, True, False]}, ValueError, r"y_true: expected labels in \[0, 3\)"),
        ({"y_true": [0, -1, 1], "labelled": [True, True, False]}, ValueError, r"y_true: .*got -1"),
        ({"y_pred": [0]}, ValueError, "expected the same samples"),
        ({"y_true": [0.5, 1.0, math.nan]}, TypeError, "expected integers, or NaN where a sample has no label, got 0.5"),
        ({"labelled": [1, 0, 1]}, TypeError, "labelled: expected True where a sample has a true label"),
        ({"labelled": [True, False]}, ValueError, "broadcast|same samples"),
        ({"y_pred": [0, 1]}, ValueError, "expected the same samples"),
        ({"num_classes": None}, TypeError, "expected either num_classes="),
        ({"sample_weight": [1, -1, 1]}, ValueError, "sample_weight"),
    ],
)
def test_wrong_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"y_true": [0, 1, 2], "y_judge": [0, 1, 2], "y_pred": [0, 1, 2], "num_classes": 3} | options
    with pytest.raises(error, match=words):
        matrics.judged.count(**given)


def test_unknown_texts_are_named() -> None:
    with pytest.raises(ValueError, match=r"y_true: expected one of the labels 'a', 'b', got 'c' at \(1,\)"):
        matrics.judged.count(["a", "c", None], ["a", "b", "b"], ["a", "b", "b"], labels=["a", "b"])
    with pytest.raises(ValueError, match="y_judge: expected one of the labels"):
        matrics.judged.count(["a", "b", None], ["a", "b", "d"], ["a", "b", "b"], labels=["a", "b"])


def test_every_pair_of_batches() -> None:
    """Batches broadcast: one judge or several, one model or several."""
    judges = np.stack([JUDGE, (JUDGE + 1) % 3])
    found = matrics.judged.count(TRUE, judges[:, None, :], PRED[None], labelled=LABELLED, num_classes=3)
    assert found.labelled.shape == (2, 4, 3, 3, 3)
    for a, b in itertools.product(range(2), range(4)):
        assert found.unlabelled[a, b].tolist() == by_hand(TRUE, judges[a], PRED[b], LABELLED, 3)[1].tolist()


def test_it_is_imported_late() -> None:
    assert importlib.import_module("matrics._judged.counts").count is matrics.judged.count
