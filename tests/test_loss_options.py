"""What users of cross_entropy know as label_smoothing, weight and ignore_index, for losses of the soft matrix.

Values and gradients on every road beside formulas of plain NumPy, and finite differences of these, in float64.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import matrics

N, IGNORED, SMOOTHING = 3, -100, 0.1
WEIGHTS = np.asarray([0.5, 1.0, 4.0])
SPECS = ("mcc", "f1:macro", "eve(empty=zero)")
WAYS = ("ignore_index", "smoothing", "class weights", "sample weights", "weights of the mean")
ROWS = [(way, spec) for way in WAYS for spec in SPECS if way != "weights of the mean" or spec == "f1:macro"]

FEW = [ROWS[k] for k in (0, 3, 6, 9, 12)]  # for compilers, which take seconds for each
Rows = list[tuple[str, str]]

LABELS = np.asarray([0, 0, -100, 0, 0, 1, 1, -100, 1, 1, 2, 2])
LOGITS = np.random.default_rng(3).normal(size=(12, N)) + 1.5 * np.eye(N)[np.clip(LABELS, 0, None)]
CASES = {
    "some ignored": (LOGITS, LABELS),
    "all ignored": (LOGITS, np.full(12, IGNORED)),
    "a class without samples": (LOGITS, np.where(LABELS == 1, IGNORED, LABELS)),
    "one sample left": (LOGITS, np.where(np.arange(12) == 4, LABELS, IGNORED)),
    "a single sample": (LOGITS[:1], LABELS[:1]),
}
SAME_SHAPE = list(CASES)[:4]
# Where a class has no samples, or a matrix no rank, eigenvalues are 0, which is a kink of EVE.
KINKS = ("all ignored", "one sample left", "a single sample")
OF_WEIGHTED_MEAN = matrics.f1.using(class_weights=WEIGHTS)


# By hand --------------------------------------------------------------------------------------------------------------


def matrix_by_hand(way: str, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    kept = labels != IGNORED
    powers = np.exp(logits[..., kept, :])
    targets = np.eye(N)[labels[kept]]
    if way == "smoothing":
        targets = (1 - SMOOTHING) * targets + SMOOTHING / N
    if way in ("class weights", "sample weights"):
        targets = targets * WEIGHTS
    return targets.T @ (powers / powers.sum(-1, keepdims=True))


def loss_by_hand(way: str, spec: str, logits: np.ndarray, labels: np.ndarray) -> float:
    """1 less the measure, which is 0 where it is 0/0."""
    cm = matrix_by_hand(way, logits, labels)
    rows, columns, total = cm.sum(1), cm.sum(0), cm.sum()
    if spec == "mcc":
        spread = (total**2 - rows @ rows) * (total**2 - columns @ columns)
        is_defined = spread > 1e-12
        return 1 - (np.trace(cm) * total - rows @ columns) / math.sqrt(spread) if is_defined else 1.0
    if spec == "f1:macro":
        sizes = rows + columns
        each = np.divide(2 * np.diagonal(cm), sizes, out=np.zeros(N), where=sizes > 0)
        return 1 - float(np.average(each, weights=WEIGHTS if way == "weights of the mean" else None))
    rates = np.divide(cm, rows[:, None], out=np.zeros((N, N)), where=rows[:, None] > 0)
    values = np.clip(np.linalg.eigvalsh((rates + rates.T) / 2), 0, None)
    shares = values[values > 1e-12] / values.sum() if total else np.ones(1)
    return 1 - float(-(shares * np.log(shares)).sum()) / math.log(N)


@functools.cache
def expected(case: str) -> tuple[np.ndarray, np.ndarray]:
    """Losses (rows,), and their gradients (rows, N, n) by central differences of fourth order."""
    logits, labels = CASES[case]
    return values_and_differences(logits, labels)


def values_and_differences(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    step, values, gradients = 1e-3, [], np.zeros((len(ROWS), *logits.shape))
    for k, row in enumerate(ROWS):
        values.append(loss_by_hand(*row, logits, labels))
        for i, j in np.ndindex(*logits.shape):
            nudge = step * (np.arange(logits.size).reshape(logits.shape) == i * N + j)
            far, near = ([loss_by_hand(*row, logits + s * m * nudge, labels) for s in (-1, 1)] for m in (2, 1))
            gradients[k, i, j] = (8 * (near[1] - near[0]) - (far[1] - far[0])) / (12 * step)
    return np.asarray(values), gradients


# By matrics -----------------------------------------------------------------------------------------------------------


def losses(lib: Any, logits: Any, labels: Any, rows: Rows = ROWS) -> Any:
    """All rows, or some, in an array of the library, as the page on losses writes them."""
    is_torch = lib.__name__ == "torch"
    probabilities = logits.softmax(-1) if is_torch else lib.exp(logits) / lib.exp(logits).sum(-1, keepdims=True)
    options = {"dtype": probabilities.dtype} | ({"device": logits.device} if is_torch else {})
    weights, eye = lib.asarray(WEIGHTS, **options), lib.eye(N, **options)
    known = lib.clip(labels, 0, N - 1)
    count = matrics.soft_confusion_matrix
    plain = count(labels, probabilities, ignore_index=IGNORED)
    targets = (1 - SMOOTHING) * eye[known] + SMOOTHING / N
    matrices = {
        "ignore_index": plain,
        "smoothing": count(targets, probabilities, sample_weight=labels != IGNORED),
        "class weights": weights[:, None] * plain,
        "sample weights": count(labels, probabilities, sample_weight=weights[known], ignore_index=IGNORED),
        "weights of the mean": plain,
    }
    found = []
    for way, spec in rows:
        metric = OF_WEIGHTED_MEAN if way == "weights of the mean" else matrics.get_metric(spec)
        found.append(1 - metric(matrices[way], zero_division=0))
    return lib.stack(found)


def check(case: str, values: Any, gradients: Any, rows: Rows = ROWS, *, is_double: bool = True) -> None:
    places = [ROWS.index(row) for row in rows]
    wanted = [part[places] for part in expected(case)]
    allowed = {"rtol": 1e-6, "atol": 1e-7} if is_double else {"rtol": 5e-3, "atol": 2e-4}
    for k, (way, spec) in enumerate(rows):
        assert np.isfinite(gradients[k]).all(), (case, way, spec)
        np.testing.assert_allclose(values[k], wanted[0][k], err_msg=f"{case}, {way}, {spec}", **allowed)
        if not (case in KINKS and spec.startswith("eve")):
            np.testing.assert_allclose(gradients[k], wanted[1][k], err_msg=f"{case}, {way}, {spec}", **allowed)


def test_the_formulas_by_hand_see_differences() -> None:
    """Every way is another loss, and what is ignored has no gradient."""
    values, gradients = expected("some ignored")
    of_mcc = [values[k] for k, (way, spec) in enumerate(ROWS) if spec == "mcc" and way != "sample weights"]
    assert len(set(np.round(of_mcc, 6))) == 3
    assert not gradients[:, LABELS == IGNORED].any()
    assert (np.abs(gradients[:, LABELS != IGNORED]).max((1, 2)) > 1e-3).all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", CASES)
def test_torch(torch: Any, case: str) -> None:
    logits, labels = map(torch.from_numpy, CASES[case])
    logits.requires_grad_()
    values = losses(torch, logits, labels)
    gradients = [torch.autograd.grad(value, logits, retain_graph=True)[0] for value in values]
    check(case, values.detach().numpy(), torch.stack(gradients).numpy())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", CASES)
def test_torch_vmap_over_models(torch: Any, case: str) -> None:
    """The first model is that of the case; labels are shared, or each model has its own."""
    logits, labels = map(torch.from_numpy, CASES[case])
    models = torch.stack([logits, -logits])

    def both(logits: Any, labels: Any) -> Any:
        found = losses(torch, logits, labels)
        return found, found

    mapped = torch.func.vmap(torch.func.jacrev(both, has_aux=True), in_dims=(0, None))
    gradients, values = mapped(models, labels)
    check(case, values[0].numpy(), gradients[0].numpy())
    own = torch.func.vmap(torch.func.jacrev(both, has_aux=True))(models, torch.stack([labels, labels]))
    torch.testing.assert_close(own, (gradients, values))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # of PyTorch to itself
@pytest.mark.parametrize(
    ("compiler", "cases", "rows"),
    [
        pytest.param("aot_eager", SAME_SHAPE, FEW, marks=pytest.mark.exhaustive),
        pytest.param("inductor", SAME_SHAPE, FEW, marks=pytest.mark.exhaustive),
    ],
)
def test_torch_compile(torch: Any, compiler: str, cases: list[str], rows: Rows) -> None:
    """In one graph, of which each case is a call."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda *a: losses(torch, *a, rows), fullgraph=True, backend=compiler, dynamic=False)
    for case in cases:
        logits, labels = map(torch.from_numpy, CASES[case])
        logits.requires_grad_()
        values = compiled(logits, labels)
        gradients = [torch.autograd.grad(value, logits, retain_graph=True)[0] for value in values]
        check(case, values.detach().numpy(), torch.stack(gradients).numpy(), rows)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("cases", "rows"),
    [
        (SAME_SHAPE, FEW[::2]),
        pytest.param(["a single sample"], FEW, marks=pytest.mark.exhaustive),
        pytest.param(SAME_SHAPE, ROWS, marks=pytest.mark.exhaustive),
    ],
    ids=["few", "one sample", "all"],
)
def test_jax(jax_backend: Any, cases: list[str], rows: Rows) -> None:
    """By itself, and under vmap, where each case is a model with labels of its own."""
    import jax

    function = functools.partial(losses, jax.numpy, rows=rows)

    def both(logits: Any, labels: Any) -> Any:
        return function(logits, labels), jax.jacrev(function)(logits, labels)

    models = [jax_backend.asarray(np.stack(parts)) for parts in zip(*(CASES[case] for case in cases), strict=True)]
    mapped, alone = jax_backend.jit(jax.vmap(both))(*models), jax_backend.jit(both)
    for k, case in enumerate(cases):
        one = alone(*map(jax_backend.asarray, CASES[case]))
        for values, gradients in (one, [np.asarray(part)[k] for part in mapped]):
            check(case, np.asarray(values), np.asarray(gradients), rows, is_double=jax_backend.float64)


# Mixed precision ------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", CASES)
def test_autocast(torch: Any, case: str) -> None:
    """Logits of bfloat16: right to what they are worth, and added up in float32."""
    logits, labels = CASES[case]
    half = torch.from_numpy(logits).to(torch.bfloat16).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        values = losses(torch, half, torch.from_numpy(labels))
        assert values.dtype == torch.float32
    gradients = [torch.autograd.grad(value, half, retain_graph=True)[0] for value in values]
    wanted, slopes = values_and_differences(half.detach().double().numpy(), labels)
    np.testing.assert_allclose(values.detach(), wanted, rtol=1e-2, atol=1e-2)
    for k, (gradient, (_, spec)) in enumerate(zip(gradients, ROWS, strict=True)):
        assert gradient.dtype == torch.bfloat16
        assert torch.isfinite(gradient).all()
        if not (case in KINKS and spec.startswith("eve")):
            np.testing.assert_allclose(gradient.float(), slopes[k], rtol=0, atol=0.05 * np.abs(slopes[k]).max() + 1e-6)


# What does not index, and what raises ---------------------------------------------------------------------------------


def test_the_default_of_torch_has_to_be_named(torch: Any) -> None:
    """-100 is not left out in silence where labels can be seen; where they cannot, a label out of range is."""
    logits, labels = map(torch.from_numpy, CASES["some ignored"])
    probabilities = logits.softmax(-1)
    with pytest.raises(ValueError, match=r"y_true: expected labels in \[0, 3\), got -100 at \(2,\).*ignore_index="):
        matrics.soft_confusion_matrix(labels, probabilities)
    wanted = matrics.soft_confusion_matrix(labels, probabilities, ignore_index=-100)
    mapped = torch.func.vmap(matrics.soft_confusion_matrix)(labels[None], probabilities[None])
    torch.testing.assert_close(mapped[0], wanted)


def test_as_the_weights_and_smoothing_of_cross_entropy(torch: Any) -> None:
    """Of a matrix whose columns are -ln p in place of p, the sum of the cells is what cross_entropy adds up."""
    logits, labels = map(torch.from_numpy, CASES["some ignored"])
    weights, eye = torch.from_numpy(WEIGHTS), torch.eye(N, dtype=torch.float64)
    surprise = -logits.log_softmax(-1)
    targets = 0.9 * eye[labels.clip(0)] + 0.1 / N
    cells = matrics.soft_confusion_matrix(targets, surprise, sample_weight=labels != IGNORED)
    found = (weights[:, None] * cells).diagonal().sum()
    wanted = torch.nn.functional.cross_entropy(logits, labels, weight=weights, label_smoothing=0.1, reduction="sum")
    torch.testing.assert_close(found, wanted)
