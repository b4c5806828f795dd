"""Weights of one's own, in kappa and alpha: values, what they are as part of a metric, and what is refused."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics

CM = [[20, 5, 1], [10, 15, 0], [1, 2, 9]]
GRAVE = [[0, 1, 3], [1, 0, 3], [6, 6, 0]]  # to miss the last class is worst
NEAR = [[0, 1, 3], [1, 0, 2.5], [3, 2.5, 0]]  # symmetric
RANDOM = np.random.default_rng(5)


def exact_kappa(cm: Any, weights: Any) -> float:
    """1 - Σ w p / Σ w pₑ, in fractions."""
    cm, weights = ([[Fraction(x) for x in row] for row in matrix] for matrix in (cm, weights))
    n, total = len(cm), sum(map(sum, cm))
    true, pred = [sum(row) for row in cm], [sum(column) for column in zip(*cm, strict=True)]
    observed = sum(weights[i][j] * cm[i][j] for i in range(n) for j in range(n)) / total
    expected = sum(weights[i][j] * true[i] * pred[j] for i in range(n) for j in range(n)) / total**2
    return float(1 - observed / expected)


def exact_alpha(cm: Any, weights: Any) -> float:
    """Krippendorff's own form, from the table of coincidences: 1 - (m₂ - 1) Σ o δ / Σ n n δ, m₂ = 2 m values."""
    cm, weights = ([[Fraction(x) for x in row] for row in matrix] for matrix in (cm, weights))
    n = len(cm)
    coincidences = [[cm[i][j] + cm[j][i] for j in range(n)] for i in range(n)]
    values = [sum(row) for row in coincidences]
    observed = sum(weights[i][j] * coincidences[i][j] for i in range(n) for j in range(n))
    expected = sum(weights[i][j] * values[i] * values[j] for i in range(n) for j in range(n))
    return float(1 - (sum(values) - 1) * observed / expected)


# Values --------------------------------------------------------------------------------------------------------------


def test_exact_values(backend: Any) -> None:
    stack = RANDOM.integers(1, 40, (2, 3, 3, 3))
    for weights in (GRAVE, NEAR):
        ours = backend.numpy(matrics.cohen_kappa(backend.asarray(stack), costs=weights))
        wanted = [[exact_kappa(cm, weights) for cm in row] for row in stack.tolist()]
        np.testing.assert_allclose(ours, wanted, **backend.tolerance)
    ours = backend.numpy(matrics.metrics.krippendorff_alpha(backend.asarray(stack), costs=NEAR))
    wanted = [[exact_alpha(cm, NEAR) for cm in row] for row in stack.tolist()]
    np.testing.assert_allclose(ours, wanted, **backend.tolerance)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_the_named_weights_as_matrices(n: int) -> None:
    index = np.arange(n)
    gaps = np.abs(index[:, None] - index)
    stack = RANDOM.integers(0, 9, (30, n, n))
    for measure in (matrics.cohen_kappa, matrics.metrics.krippendorff_alpha):
        for name, weights in {"none": gaps > 0, "linear": gaps, "quadratic": gaps**2}.items():
            wanted = measure(stack, weights=name)
            for scale in (1, 1e-320, 1e300, 3):  # only their proportions matter
                if scale > 1e299 and gaps.max() ** 2 * scale > 1e308:
                    continue
                np.testing.assert_allclose(measure(stack, costs=weights * scale), wanted, rtol=1e-3 if scale < 1e-300
                                           else 1e-12, atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_scikit_learn(name: str) -> None:
    kappa = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed").cohen_kappa_score
    gaps = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) ** (1 if name == "linear" else 2)
    y_true, y_pred = RANDOM.integers(0, 5, (2, 200))
    cm = matrics.confusion_matrix(y_true, y_pred, num_classes=5)
    assert matrics.cohen_kappa(cm, costs=gaps) == pytest.approx(kappa(y_true, y_pred, weights=name), rel=1e-12)
    assert matrics.cohen_kappa(cm, weights=None) == pytest.approx(kappa(y_true, y_pred, weights=None), rel=1e-12)


def test_pycm() -> None:
    pycm = pytest.importorskip("pycm", reason="PyCM is not installed")
    for n in (2, 3, 5):
        weights = RANDOM.integers(0, 9, (n, n)) * (1 - np.eye(n, dtype=int))
        weights[0, -1] += 1
        theirs = {i: dict(enumerate(row)) for i, row in enumerate(weights.tolist())}
        for cm in RANDOM.integers(1, 40, (5, n, n)).tolist():
            reference = pycm.ConfusionMatrix(matrix={i: dict(enumerate(row)) for i, row in enumerate(cm)})
            ours = matrics.cohen_kappa(cm, costs=weights)
            assert ours == pytest.approx(reference.weighted_kappa(weight=theirs), rel=1e-12, abs=1e-14)


def test_undefined_and_perfect() -> None:
    weights = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]  # only the first two classes may not be mixed up
    only_last = [[0, 0, 0], [0, 0, 0], [1, 2, 9]]
    for measure in (matrics.cohen_kappa, matrics.metrics.krippendorff_alpha):
        assert measure(np.diag([3, 4, 5]), costs=weights) == 1
        assert measure(np.zeros((3, 3)), costs=weights, zero_division=0) == 0
    assert np.isnan(matrics.cohen_kappa(only_last, costs=weights))
    assert np.isnan(matrics.cohen_kappa(CM, costs=np.zeros((3, 3))))
    assert matrics.cohen_kappa([[0, 1, 0], [1, 0, 0], [0, 0, 98]], costs=weights) == pytest.approx(-99)


# As part of a metric -------------------------------------------------------------------------------------------------


def test_none_is_none() -> None:
    for measure in (matrics.cohen_kappa, matrics.metrics.krippendorff_alpha):
        assert measure(CM, weights=None) == measure(CM)
        assert measure.using(weights=None) == measure
        assert matrics.get_metric(f"{measure.name}(weights=None)") == measure
    with pytest.raises(ValueError, match=r"expected normalizer to be 'arithmetic' or .*, got None"):
        matrics.metrics.nmi(CM, normalizer=None)  # where there is no "none"


def test_prints_as_what_reads_back() -> None:
    weights = [[0, 0.1, -0.0], [1e-300, 0, 1 / 3], [2, 1e20, 0]]
    metric = matrics.cohen_kappa.using(costs=weights)
    assert str(matrics.cohen_kappa.using(costs=[[0, 1], [2.5, 0]])) == "cohen_kappa(costs=[[0,1],[2.5,0]])"
    assert "-0" not in str(metric)
    for same in (
        matrics.get_metric(str(metric)),
        pickle.loads(pickle.dumps(metric)),
        matrics.cohen_kappa.using(costs=np.asarray(weights)),
        matrics.cohen_kappa.using(costs=tuple(map(tuple, weights))),
        matrics.get_metric(str(metric).replace(",", " , ")),
    ):
        assert same == metric
        assert hash(same) == hash(metric)
        assert same.fixed == metric.fixed
        assert same.using(average="one_vs_rest").average == "one_vs_rest"
    assert metric != matrics.cohen_kappa.using(costs=np.transpose(weights))


def test_in_lists_of_specs() -> None:
    text = "mcc, cohen_kappa(costs=[[0, 1,3],[1,0,3],[6,6,0]]),krippendorff_alpha(costs=[[0,1],[1,0]]):one_vs_rest"
    scores = matrics.score(CM, text)
    assert list(scores) == [
        "mcc",
        "cohen_kappa(costs=[[0, 1,3],[1,0,3],[6,6,0]])",
        "krippendorff_alpha(costs=[[0,1],[1,0]]):one_vs_rest",
    ]
    assert scores["cohen_kappa(costs=[[0, 1,3],[1,0,3],[6,6,0]])"] == pytest.approx(exact_kappa(CM, GRAVE), rel=1e-12)
    ours = scores["krippendorff_alpha(costs=[[0,1],[1,0]]):one_vs_rest"]
    np.testing.assert_allclose(ours, matrics.metrics.krippendorff_alpha(matrics.transform.one_vs_rest(CM)), rtol=1e-12)


def test_command_line(tmp_path: Any) -> None:
    pytest.importorskip("typer", reason="the extra cli is not installed")
    from typer.testing import CliRunner

    from matrics._cli.app import app

    np.save(tmp_path / "cm.npy", CM)
    spec = "cohen_kappa(costs=[[0,1,3],[1,0,3],[6,6,0]])"
    result = CliRunner().invoke(
        app, ["score", str(tmp_path / "cm.npy"), "--metrics", f"mcc,{spec},kappa(weights=None)"]
    )
    assert result.exit_code == 0
    assert any(spec in line and f"{exact_kappa(CM, GRAVE):.3f}" in line for line in result.stdout.splitlines())


def test_described() -> None:
    assert "an (n, n) matrix of disagreement" in matrics.describe("cohen_kappa")
    assert "a symmetric (n, n) matrix of disagreement" in matrics.describe("krippendorff_alpha")
    assert "of how far they disagree, as in Cohen 1968 and PyCM" in str(matrics.cohen_kappa.__doc__)


def test_arrays_of_other_libraries(backend: Any) -> None:
    cm = backend.asarray(CM)
    for weights in (backend.asarray(NEAR), backend.asarray(NEAR, np.float32)):
        metric = matrics.cohen_kappa.using(costs=weights)
        assert metric == matrics.cohen_kappa.using(costs=NEAR)
        np.testing.assert_allclose(backend.numpy(metric(cm)), exact_kappa(CM, NEAR), **backend.tolerance)


@pytest.mark.exhaustive
@pytest.mark.parametrize("dynamic", [None, True])
def test_torch(torch: Any, dynamic: Any) -> None:
    """In one graph, as an argument, written there or in a spec; mapped, differentiated; on a device without values."""
    metric = matrics.cohen_kappa.using(costs=GRAVE)

    def score(cm: Any, given: Any) -> list[Any]:
        spec = "krippendorff_alpha(costs=[[0,1,3],[1,0,2.5],[3,2.5,0]])"
        return [
            given(cm),
            matrics.cohen_kappa(cm, costs=[[0, 1, 3], [1, 0, 3], [6, 6, 0]]),
            matrics.score(cm, spec)[spec],
        ]

    cm = torch.tensor(CM, dtype=torch.float64) + 1
    wanted = [exact_kappa(cm.tolist(), GRAVE)] * 2 + [exact_alpha(cm.tolist(), NEAR)]
    torch._dynamo.reset()
    compiled = torch.compile(score, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    np.testing.assert_allclose(compiled(cm, metric), wanted, rtol=1e-12)
    np.testing.assert_allclose(torch.func.vmap(metric)(torch.stack([cm, cm])), wanted[:2], rtol=1e-12)
    assert torch.autograd.gradcheck(metric, (cm.requires_grad_(),))
    assert metric(torch.ones((4, 3, 3), device="meta")).shape == (4,)


def test_beside_a_tensor_and_not_on_the_default_device(torch: Any) -> None:
    cm = torch.tensor(CM, dtype=torch.float64, requires_grad=True)
    with torch.device("meta"):
        value = matrics.cohen_kappa(cm, costs=GRAVE)
    np.testing.assert_allclose(value.detach(), exact_kappa(CM, GRAVE), rtol=1e-12)


def test_filled_on_a_device(torch: Any) -> None:
    """What devices get without a copy from the host is the same."""
    from matrics._arrays.torch import TORCH, filled

    like = torch.ones((), dtype=torch.float64)
    assert torch.equal(filled(GRAVE, like), TORCH.constant(GRAVE, like))


@pytest.mark.exhaustive
def test_jax(jax_backend: Any) -> None:
    """A metric is a static argument; one that is equal does not trace anew."""
    import jax

    traces = []

    def score(cm: Any, metric: Any) -> Any:
        traces.append(metric)
        return metric(cm)

    compiled = jax.jit(score, static_argnums=1)
    cm = jax_backend.asarray(CM)
    for weights in (GRAVE, np.asarray(GRAVE)):
        value = compiled(cm, matrics.cohen_kappa.using(costs=weights))
        np.testing.assert_allclose(value, exact_kappa(CM, GRAVE), **jax_backend.tolerance)
    assert len(traces) == 1
    gradient = jax_backend.jit(jax.grad(matrics.cohen_kappa.using(costs=GRAVE)))(jax_backend.asarray(CM, np.float32))
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("spec", ["weights='quadratic'", 'weights="quadratic"', "weights=quadratic"])
def test_words_in_a_spec_may_have_quotes(spec: str) -> None:
    """As they have in Python: who copies them from a call has the same measure."""
    assert matrics.get_metric(f"cohen_kappa({spec})") == matrics.cohen_kappa.using(weights="quadratic")
    (value,) = matrics.score(CM, f"cohen_kappa({spec})").values()
    assert value == matrics.cohen_kappa(CM, weights="quadratic") != matrics.cohen_kappa(CM)


# Refused -------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0, 1], [1, 0]], r"costs: expected a matrix \(3, 3\) for 3 classes, got \(2, 2\)"),
        ([[0, 1, 2], [1, 0, 1]], "an \\(n, n\\) matrix of disagreement, as many columns as rows, got 2 rows of 3, 3"),
        ([], "as many columns as rows, got 0 rows"),
        ([[0, -1], [1, 0]], r"finite and not negative, got -1 at \[0, 1\]"),
        ([[0, 1], [np.nan, 0]], r"finite and not negative, got nan at \[1, 0\]"),
        ([[0, np.inf], [1, 0]], r"finite and not negative, got inf at \[0, 1\]"),
        ([[0, 10**400], [1, 0]], "matrix of disagreement such as"),
        (np.eye(3), r"0 on the diagonal, .* got 1 at \[0, 0\]; weights of agreement, .* are weights="),
        ([0, 1], r"such as \[\[0, 1\], \[1, 0\]\], got \[0, 1\]"),
        (np.zeros((2, 2, 2)), "matrix of disagreement such as"),
        (3, "matrix of disagreement such as .* got 3"),
        ("[[0,a],[1,0]]", "such as .* got '\\[\\[0,a\\],\\[1,0\\]\\]'"),
        ("[0,1]", "such as"),
        ("cubic", "'none' or an \\(n, n\\) matrix of disagreement, got 'cubic'"),
    ],
)
def test_errors_say_what_was_expected(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.cohen_kappa(CM, costs=weights)


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected weights to be an .* matrix of agreement such as .*, got {0:"):
        matrics.cohen_kappa(CM, weights={0: {1: 1}})


def test_differences_are_symmetric() -> None:
    with pytest.raises(
        ValueError, match=r"a symmetric \(n, n\) matrix of disagreement, got 3 at \[0, 2\] and 6 at \[2, 0\]"
    ):
        matrics.metrics.krippendorff_alpha(CM, costs=GRAVE)


def test_weights_are_known_beforehand(jax_backend: Any) -> None:
    import jax

    with pytest.raises(TypeError, match="weights: expected known numbers"):
        jax.jit(lambda w: matrics.cohen_kappa(CM, weights=w))(jax_backend.asarray(NEAR))
