"""144 matrices with every measure to 60 digits, rounded to float64: on each backend, and in float32."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

DATA = json.loads(Path(__file__).with_name("data").joinpath("vectors.json").read_text())
VECTORS = DATA["vectors"]

# Matrices whose values float64 arithmetic may only approach to 1e-6, and float32 not at all.
HARD = {"huge_counts", "huge_imbalance", "wide_range_reals", "tiny_reals", "denormal_range", "huge_1e15"}

MEASURES = {
    "osr": "accuracy",
    "acsa": "balanced_accuracy",
    "kappa": "cohen_kappa",
    "mcc": "mcc",
    "H_joint_nats": "joint_entropy",
    "H_true_nats": "true_entropy",
    "H_pred_nats": "pred_entropy",
    "mutual_information_nats": "mutual_information",
    **{f"nmi_{name}": f"nmi(normalizer={name})" for name in ("joint", "arithmetic", "geometric", "min", "max")},
    "cen": "cen",
    "mcen": "mcen",
    "eve": "eve",
    "eve_repaired": "eve(empty=repair)",
    "scott_pi_classical": "scott_pi",
    "scott_pi_true_margins_001": "scott_pi(proportions=true)",
    "mre": "bennett_s",
    "tmcc": "tmcc",
    "csi": "csi",
    "chi2": "chi_squared",
    "phi": "phi",
    "pearson_c": "pearson_c",
    "cramers_v": "cramers_v",
    "cramers_v_effective": "cramers_v(effective=true)",
    "tschuprow_t": "tschuprows_t",
    **{
        f"{key}_{direction}": f"{name}(direction={direction})"
        for key, name in {
            "gk_lambda": "goodman_kruskal_lambda",
            "gk_tau": "goodman_kruskal_tau",
            "theil_u": "theil_u",
        }.items()
        for direction in ("true_given_pred", "pred_given_true", "symmetric")
        if (key, direction) != ("gk_tau", "symmetric")
    },
    "gmean": "g_mean",
    "auroc_ovo": "auroc_ovo",
    "auroc_ova": "auroc_ova",
    "auroc_ova_lower_bound": "auroc_ova_lower_bound",
    "nauroc_ova": "nauroc_ova",
    "aurpc_ova": "aurpc_ova",
    "maurpc_ova": "maurpc_ova",
    "rrt_ir": "imbalance_ratio",
}
# The other entries are no measures of their own: scaled forms (mcc_s, cen_s, mcen_s, ir_000 = 1 / rrt_ir), the harmonic
# F (0/0 where ours is 0), PyCM's MCEN of two classes, and the parts of CEN and of the ground-truth index.
PER_CLASS = {
    "tpr": "recall:class",
    "tnr": "specificity:class",
    "ppv": "precision:class",
    "npv": "npv:class",
    "fpr": "fpr:class",
    "fnr": "fnr:class",
    "f_counts": "f1:class",
    "jaccard": "jaccard:class",
    "auc": "auc:class",
    "fmi": "fowlkes_mallows:class",
    "icsi": "icsi:class",
    "kulczynski": "kulczynski:class",
    "mprecision": "mprecision:class",
    "cen_j": "class_cen:class",
    "mcen_j": "class_mcen:class",
    "gti_theta": "gt_index:class",
    **{f"ovr_{name}": f"{ours}:one_vs_rest" for name, ours in
       {"mcc": "mcc", "kappa": "cohen_kappa", "eve": "eve", "cen": "cen", "mcen": "mcen"}.items()},
}  # fmt: skip
BINARY = {
    "bin_sensitivity": "recall",
    "bin_specificity": "specificity",
    "bin_precision": "precision",
    "bin_npv": "npv",
    "bin_f1_counts": "f1",
    "bin_fmi": "fowlkes_mallows",
    "bin_auc": "auc",
    "bin_gini": "gini",
    "bin_jaccard": "jaccard",
    "bin_icsi": "icsi",
    "bin_kulczynski": "kulczynski",
    "bin_aurpc": "aurpc",
    "bin_mprecision": "mprecision",
    "bin_maurpc": "maurpc",
    "bin_yule_q": "yule_q",
    "bin_yule_y": "yule_y",
    "bin_mcc_binary": "mcc",
    "bin_cen_binary_closed": "cen",
}
REBALANCED = {"osr": "accuracy", "kappa": "cohen_kappa", "mcc": "mcc", "nmi_joint": "nmi(normalizer=joint)",
              "cen": "cen", "mcen": "mcen", "eve": "eve"}  # fmt: skip


def tolerance(kind: str, dtype: type) -> dict[str, float]:
    if dtype is np.float32:
        return {"rtol": 3e-4, "atol": 3e-5}
    return {"rtol": 1e-6, "atol": 1e-9} if kind in HARD else {"rtol": 1e-9, "atol": 1e-12}


def by_size(dtype: type) -> list[tuple[int, list[dict[str, Any]]]]:
    """The vectors in stacks of one size, so that each backend is called a few times instead of thousands."""
    sizes: dict[int, list[dict[str, Any]]] = {}
    for vector in VECTORS:
        if dtype is np.float64 or vector["kind"] not in HARD:
            sizes.setdefault(vector["n"], []).append(vector)
    return sorted(sizes.items())


class Comparison:
    """Holds values beside references, counts them, and reports every miss at once."""

    def __init__(self, dtype: type) -> None:
        self.dtype, self.compared, self.misses = dtype, 0, []

    def hold(self, what: str, vectors: list[dict[str, Any]], ours: np.ndarray, references: list[Any]) -> None:
        for vector, value, reference in zip(vectors, ours, references, strict=True):
            allowed = tolerance(vector["kind"], self.dtype)
            wanted = np.asarray(reference, dtype=float)  # None becomes NaN: the strict formula is undefined
            assert np.shape(value) == wanted.shape, (what, vector["id"])
            close = np.isclose(value, wanted, **allowed) | np.isnan(wanted)
            self.compared += int(np.sum(~np.isnan(wanted)))
            if not close.all():
                self.misses.append(f"{what} of vector {vector['id']} ({vector['kind']}): {value} is not {reference}")

    def settle(self, least: int) -> None:
        assert not self.misses, "\n".join(self.misses)
        assert self.compared >= least, self.compared


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_vectors(backend: Any, dtype: type) -> None:
    if dtype is np.float64 and not backend.float64:
        pytest.skip("no float64 in default JAX")
    comparison = Comparison(dtype)
    score = functools.partial(matrics.score, invalid="nan")
    for n, vectors in by_size(dtype):
        stack = backend.asarray([vector["matrix"] for vector in vectors], dtype)
        overall = score(stack, [*MEASURES.values(), *PER_CLASS.values()])
        for key, ours in MEASURES.items():
            references = [vector["measures"].get(key) for vector in vectors]
            comparison.hold(key, vectors, backend.numpy(overall[ours]), references)
        for key, ours in PER_CLASS.items():
            references = [vector["per_class"].get(key) or [None] * n for vector in vectors]
            comparison.hold(key, vectors, backend.numpy(overall[ours]), references)
        if n == 2:
            hold_binary(comparison, backend, stack, vectors)
        hold_rebalanced(comparison, backend, stack, vectors)
        hold_eigenvalues(comparison, backend, stack, vectors)
        pairs = backend.numpy(matrics.pair_counts(stack))[:, ::-1, ::-1]
        wanted = [vector["arrays"].get("pair_counting_2x2_rows_true") for vector in vectors]
        whole = [w is not None and np.min(w) >= 0 for w in wanted]  # a matrix of shares has no pairs
        comparison.hold(
            "pair_counts",
            [v for v, keep in zip(vectors, whole, strict=True) if keep],
            pairs[whole],
            [w for w, keep in zip(wanted, whole, strict=True) if keep],
        )
    comparison.settle(least=28_000 if dtype is np.float64 else 23_000)


def hold_binary(comparison: Comparison, backend: Any, stack: Any, vectors: list[dict[str, Any]]) -> None:
    for key, name in BINARY.items():
        metric = matrics.get_metric(name)
        options = {"average": "binary", "pos_label": 0} if metric.kind == "per_class" else {}
        comparison.hold(
            key, vectors, backend.numpy(metric(stack, invalid="nan", **options)), [v["measures"][key] for v in vectors]
        )


def hold_rebalanced(comparison: Comparison, backend: Any, stack: Any, vectors: list[dict[str, Any]]) -> None:
    n = vectors[0]["n"]
    rebalanced = matrics.rebalance(stack)
    nothing = [[None] * n] * n
    comparison.hold(
        "mtilde", vectors, backend.numpy(rebalanced), [v["arrays"].get("mtilde") or nothing for v in vectors]
    )
    scores = matrics.score(rebalanced, list(REBALANCED.values()), invalid="nan")
    for key, ours in REBALANCED.items():
        references = [v["measures"].get(f"mtilde_{key}") for v in vectors]
        comparison.hold(f"mtilde_{key}", vectors, backend.numpy(scores[ours]), references)


def hold_eigenvalues(comparison: Comparison, backend: Any, stack: Any, vectors: list[dict[str, Any]]) -> None:
    nothing = [None] * vectors[0]["n"]
    for matrix in ("B", "A"):
        values = backend.numpy(matrics.eigenvalues(stack, matrix))[:, ::-1]
        references = [v["arrays"].get(f"eig_{matrix}") or nothing for v in vectors]
        comparison.hold(f"eig_{matrix}", vectors, values, references)
    b = backend.numpy(matrics.eigenvalues(stack)).sum(-1)
    comparison.hold("trace_P", vectors, b, [v["measures"]["trace_P"] for v in vectors])
    for suffix, cells in (("", stack), ("_repaired", matrics.repair(stack, where="zero_diagonal"))):
        bounds = matrics.gershgorin_bounds(cells)
        for key, ours in (("thr_min", bounds.lower), ("thr_max", bounds.upper)):
            references = [v["measures"][key + suffix] for v in vectors]
            comparison.hold(key + suffix, vectors, backend.numpy(ours), references)
        smallest = backend.numpy(matrics.eigenvalues(cells))[:, 0]
        bound = backend.numpy(bounds.valid_lower)
        slack = 1e-4 if comparison.dtype is np.float32 else 1e-9
        assert np.all((bound <= smallest + slack * (1 + np.abs(bound))) | np.isnan(bound))


def test_undefined_in_the_reference_is_undefined_here() -> None:
    """Where the strict formula is undefined, so is ours: a gap filled with a number would pass unseen above."""
    for vector in VECTORS:
        scores = matrics.score(vector["matrix"], [*MEASURES.values(), *PER_CLASS.values()])
        for key, ours in MEASURES.items():
            if vector["measures"].get(key) is None and key != "acsa":  # the mean of the classes that are there
                assert np.isnan(scores[ours]), (key, vector["id"])
        for key, ours in PER_CLASS.items():
            gaps = np.equal(vector["per_class"].get(key) or [None] * vector["n"], None)
            if (key, vector["id"]) == ("gti_theta", 86):  # not undefined: proportional fitting did not converge there
                continue
            assert np.isnan(scores[ours][gaps]).all(), (key, vector["id"])


def test_families() -> None:
    """MCC and CEN of the matrices in which Jurman and Furlanello let a cell, a row or the diagonal grow."""
    for record in DATA["extra"]["families_002"]:
        n, a = record["N"], record.get("A")
        cm = np.ones((n, n))
        if record["family"] == "Z_A":
            cm[-1, 0] = a
        elif record["family"] == "last_row_A":
            cm[-1] = a
        else:
            cm = record["F"] + (record["T"] - record["F"]) * np.eye(n)
        assert matrics.mcc(cm) == pytest.approx(record["mcc"], rel=1e-9, abs=1e-12)
        assert matrics.cen(cm) == pytest.approx(record["cen"], rel=1e-9, abs=1e-12)


def test_eigenvalue_that_vanishes() -> None:
    """The curve of recalls on which the smaller eigenvalue of two classes is 0."""
    for record in DATA["extra"]["lambda2_zero_curve_000"]:
        p, q = record["p11"], record["p22"]
        if p <= 1:
            smaller = matrics.eigenvalues([[p, 1 - p], [1 - q, q]])[0]
            assert smaller == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("record", DATA["extra"]["multilabel_PRF"])
def test_labels_of_samples(record: dict[str, Any]) -> None:
    """Precision, recall and F of 0/1 labels: by label, pooled, averaged over labels, and over samples."""
    true, pred = np.asarray(record["Y_true"]), np.asarray(record["Z_pred"])
    specs = ["precision:binary", "recall:binary", "f1:binary"]

    def score(cm: Any) -> np.ndarray:
        return np.stack(list(matrics.score(cm, specs, zero_division=record["zero_division"]).values()), axis=-1)

    by_label = matrics.confusion_matrix(true.T, pred.T, num_classes=2)
    by_sample = matrics.confusion_matrix(true, pred, num_classes=2)
    support = true.sum(0) / max(true.sum(), 1)
    np.testing.assert_allclose(score(by_label), record["per-label"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(score(by_label.sum(0)), record["micro"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(score(by_label).mean(0), record["macro"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(support @ score(by_label), record["weighted"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(score(by_sample).mean(0), record["samples"], rtol=1e-9, atol=1e-12)
