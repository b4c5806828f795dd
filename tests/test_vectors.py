"""144 matrices with every measure to 60 digits, rounded to float64: on each road, and in float32."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import roads
from roads import Comparison, Graph, Road

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
    "auc": "auc_of_labels:class",
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
    "bin_auc": "auc_of_labels",
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


# Numbers that a road compares, by the number of classes: in float64, and in float32, which leaves the hard ones out.
SIZES = sorted({vector["n"] for vector in VECTORS})
LEAST = {
    2: (2500, 2000),
    3: (3250, 2700),
    4: (3740, 3070),
    5: (4270, 3470),
    7: (4530, 3640),
    10: (5950, 4780),
    20: (4940, 4420),
}


def tolerance(kind: str, dtype: type) -> dict[str, float]:
    if dtype is np.float32:
        return {"rtol": 3e-4, "atol": 3e-5}
    return {"rtol": 1e-6, "atol": 1e-9} if kind in HARD else {"rtol": 1e-9, "atol": 1e-12}


def hold_vectors(graph: Graph, comparison: Comparison) -> int:
    """Compare all that the oracle says of its matrices of this size; how many numbers that has to be at least."""
    vectors = [v for v in VECTORS if v["n"] == graph.n and (graph.dtype is np.float64 or v["kind"] not in HARD)]

    def hold(what: str, ours: np.ndarray, references: list[Any], nothing: Any = None) -> None:
        for vector, value, reference in zip(vectors, ours, references, strict=True):
            wanted = nothing if reference is None else reference
            of = f"vector {vector['id']} ({vector['kind']}, {graph.dtype.__name__})"
            comparison.hold(what, of, value, wanted, **tolerance(vector["kind"], graph.dtype))

    stack = [vector["matrix"] for vector in vectors]
    none, square = [None] * graph.n, [[None] * graph.n] * graph.n
    scores, moved = graph.scores(stack), graph.transforms(stack)
    for key, ours in MEASURES.items():
        hold(ours, scores[ours], [v["measures"].get(key) for v in vectors])
    for key, ours in PER_CLASS.items():
        hold(ours, scores[ours], [v["per_class"].get(key) for v in vectors], none)
    for key, name in BINARY.items() if graph.n == 2 else ():
        ours = f"{name} of 0" if matrics.get_metric(name).kind == "per_class" else name
        hold(ours, scores[ours], [v["measures"][key] for v in vectors])
    for matrix in ("B", "A"):
        values = scores[f"eigenvalues of {matrix}"][:, ::-1]
        hold(f"eigenvalues of {matrix}", values, [v["arrays"].get(f"eig_{matrix}") for v in vectors], none)
    hold("trace of B", scores["eigenvalues of B"].sum(-1), [v["measures"]["trace_P"] for v in vectors])
    hold_bounds(hold, scores, vectors, "")
    hold_bounds(hold, graph.scores(moved["repair"]), vectors, "_repaired")

    hold("rebalance", moved["rebalance"], [v["arrays"].get("mtilde") for v in vectors], square)
    rebalanced = graph.scores(moved["rebalance"])
    for key, ours in REBALANCED.items():
        hold(f"{ours} rebalanced", rebalanced[ours], [v["measures"].get(f"mtilde_{key}") for v in vectors])
    pairs = [v["arrays"].get("pair_counting_2x2_rows_true") for v in vectors]
    pairs = [None if p is None or np.min(p) < 0 else p for p in pairs]  # a matrix of shares has no pairs
    hold("pair_counts", moved["pair_counts"][:, ::-1, ::-1], pairs, [[None] * 2] * 2)
    return LEAST[graph.n][graph.dtype is np.float32]


def hold_bounds(hold: Any, scores: dict[str, np.ndarray], vectors: list[dict[str, Any]], suffix: str) -> None:
    for key, ours in (("thr_min", "lower"), ("thr_max", "upper")):
        hold(f"{ours}{suffix}", scores[ours], [v["measures"][key + suffix] for v in vectors])
    smallest, bound = scores["eigenvalues of B"][:, 0], scores["valid_lower"]
    slack = 1e-4 if bound.dtype == np.float32 else 1e-9
    above = np.where(np.isnan(bound), np.nan, np.minimum(smallest - bound + slack * (1 + np.abs(bound)), 0))
    hold(f"valid_lower{suffix}", above, [None if np.isnan(x) else 0.0 for x in bound])


@pytest.mark.sampled(1)
@pytest.mark.exhaustive(eager=["strict"])  # which test_catalogue.py compares with NumPy
@pytest.mark.exhaustive(eager=["torch-vmap"], dtype=[np.float32])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_vectors(eager: Road, dtype: type, record_property: Any, pytestconfig: pytest.Config) -> None:
    """On the roads that compile nothing; test_roads.py takes the others. All but NumPy's are slow."""
    comparison = Comparison(eager.name)
    sizes = SIZES if eager.name == "numpy" or pytestconfig.option.exhaustive else (2, 3)
    least = sum(hold_vectors(Graph(eager, n, dtype, roads.referenced()), comparison) for n in sizes)
    comparison.settle(least, record_property)


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
            smaller = matrics.study.eigenvalues([[p, 1 - p], [1 - q, q]])[0]
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
