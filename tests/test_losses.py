"""Measures of the soft matrix as losses: from logits through softmax, against finite differences of plain NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import matrics

# zero_division=0 is that of a guess for measures whose better end is 1, and so their loss is then 1; entropies are
# undefined for an empty matrix only.
SPECS = [
    "mcc",
    "eve",
    "eve(empty=zero)",
    "g_mean",
    "mcen",
    "cen",
    "tmcc",
    "f1",
    "fbeta(beta=2):weighted",
    "jaccard",
    "cohen_kappa",
    "balanced_accuracy",
    "nmi",
    "mcc:one_vs_rest",
]
# Those of different kinds: compilers take a second for each of the others, too.
FEW = ["mcc", "eve", "g_mean", "cen", "f1", "balanced_accuracy"]


def loss_of_matrix(spec: str, cm: Any) -> Any:
    """1 less what is better if higher, and a sum over classes where there is one value for each."""
    metric = matrics.get_metric(spec)
    values = matrics.score(cm, spec, zero_division=0)[spec]
    values = 1 - values if metric.higher_is_better else values
    return values.sum(-1) if spec.endswith(":one_vs_rest") else values


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def reference(spec: str, logits: np.ndarray, labels: np.ndarray) -> float:
    """The loss, of a matrix added up by hand."""
    return float(loss_of_matrix(spec, np.eye(logits.shape[-1])[labels].T @ softmax(logits)))


def finite_differences(spec: str, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Central ones, of fourth order, of matrices added up by hand: a stack of four for each logit."""
    step = 1e-3
    nudges = step * np.eye(logits.size).reshape(-1, 1, *logits.shape)
    moved = logits + np.asarray([-2, -1, 1, 2])[:, None, None] * nudges
    below_far, below, above, above_far = loss_of_matrix(spec, np.eye(logits.shape[-1])[labels].T @ softmax(moved)).T
    return ((8 * (above - below) - (above_far - below_far)) / (12 * step)).reshape(logits.shape)


@functools.cache
def expected_gradient(spec: str, case: str) -> np.ndarray:
    """The same for every backend."""
    return finite_differences(spec, *CASES[case])


def losses_and_gradients(
    backend: Any, logits: np.ndarray, labels: np.ndarray, specs: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Of all specs: (specs,) and (specs, N, n)."""
    labels, logits = backend.asarray(labels), backend.asarray(logits)
    if backend.name.startswith("jax"):
        return tuple(map(np.asarray, _jitted(backend, tuple(specs))(logits, labels)))
    import torch

    cm = matrics.soft_confusion_matrix(labels, logits.softmax(-1))
    values = torch.stack([loss_of_matrix(spec, cm) for spec in specs])
    each = torch.eye(len(specs), dtype=values.dtype, device=values.device)
    (gradients,) = torch.autograd.grad(values, logits, each, is_grads_batched=True)
    return backend.numpy(values), backend.numpy(gradients)


@functools.cache
def _jitted(backend: Any, specs: tuple[str, ...]) -> Any:
    """One function for all cases, which JAX compiles once a shape."""
    import jax

    def losses(logits: Any, labels: Any) -> Any:
        cm = matrics.soft_confusion_matrix(labels, jax.nn.softmax(logits))
        return jax.numpy.stack([loss_of_matrix(spec, cm) for spec in specs])

    return backend.jit(lambda logits, labels: (losses(logits, labels), jax.jacrev(losses)(logits, labels)))


@pytest.fixture
def differentiable(backend: Any) -> Any:
    if backend.name not in ("torch-grad", "torch-cuda-grad", "jax", "jax-x64", "jax-cuda"):
        pytest.skip("no gradients")
    return backend


def ordinary(n: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(n)
    labels = np.asarray([*range(n), *random.integers(0, n, samples - n)])
    return random.normal(size=(samples, n)) + 1.5 * np.eye(n)[labels], labels


def alike(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every class as good as every other: all eigenvalues but one are the same."""
    labels = np.repeat(np.arange(n), 12 // n)
    return 1.5 * np.eye(n)[labels], labels


LABELS = np.asarray([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
NOISE = np.random.default_rng(11).normal(size=(12, 3))
CASES = {  # of as few shapes as will do, each of which JAX compiles once
    "two classes": ordinary(2, 12),
    "three classes": ordinary(3, 12),
    "four classes": ordinary(4, 12),
    "eigenvalues that meet, three": alike(3),
    "eigenvalues that meet, four": alike(4),
    "a class with no samples": (NOISE, np.where(LABELS == 1, 2, LABELS)),
    "one class alone": (NOISE, np.full(12, 1)),
    "a single sample": (NOISE[:1], LABELS[:1]),
    "perfect and certain": (1000 * np.eye(3)[LABELS], LABELS),
    "perfect and nearly certain": (30 * np.eye(3)[LABELS], LABELS),
    "wrong and certain": (1000 * np.eye(3)[(LABELS + 1) % 3], LABELS),
    "everything the first class": (np.asarray([1000.0, 0.0, 0.0]) + 0 * NOISE, LABELS),
    "uniform": (0 * NOISE, LABELS),
    "uniform, two classes": (np.zeros((12, 2)), LABELS // 2),
}


# Where every class gets the same probabilities, all eigenvalues but one are 0, where the entropy of EVE has a kink.
KINKS = {(case, spec) for case in CASES if case.startswith("uniform") for spec in SPECS if spec.startswith("eve")}


# Gradients ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"])
@pytest.mark.exhaustive(backend=["torch-grad"], specs=[FEW])
@pytest.mark.parametrize("specs", [FEW, SPECS], ids=["few", "all"])
@pytest.mark.parametrize("case", CASES)
def test_gradients(differentiable: Any, case: str, specs: list[str]) -> None:
    """Finite everywhere, and right wherever there is a derivative."""
    if specs is SPECS and differentiable.name == "jax":
        pytest.skip("a minute; in 64 bits, which compare more digits, all are tried")
    logits, labels = CASES[case]
    values, gradients = losses_and_gradients(differentiable, logits, labels, specs)
    assert np.isfinite(values).all()
    assert np.isfinite(gradients).all()
    for spec, value, gradient in zip(specs, values, gradients, strict=True):
        allowed = {"rtol": 1e-6, "atol": 1e-8} if differentiable.float64 else {"rtol": 5e-3, "atol": 1e-4}
        np.testing.assert_allclose(value, reference(spec, logits, labels), **allowed, err_msg=spec)
        if (case, spec) not in KINKS:
            expected = expected_gradient(spec, case)
            np.testing.assert_allclose(gradient, expected, **allowed, err_msg=spec)


@pytest.mark.sampled(1)
def test_what_is_undefined_costs_what_a_guess_does(differentiable: Any) -> None:
    """The choice of zero_division=0: no better than chance, and nowhere to go."""
    values, gradients = losses_and_gradients(differentiable, *CASES["one class alone"], FEW)
    for spec in ("mcc", "eve", "g_mean"):
        assert values[FEW.index(spec)] == 1
        assert not gradients[FEW.index(spec)].any()
    for spec in ("f1", "balanced_accuracy", "cen"):  # which are defined, and go on
        assert gradients[FEW.index(spec)].any()


@pytest.mark.sampled(2)
def test_macro_averages_go_on_without_an_absent_class(differentiable: Any) -> None:
    """NaN, the default, leaves it out; zero_division=0 lets it count as 0, which makes the steps of others smaller."""
    logits, labels = CASES["a class with no samples"]
    cm = backend_matrix(differentiable, logits, labels)
    recalls = np.diagonal(cm)[[0, 2]] / cm.sum(1)[[0, 2]]
    for zero_division, classes in ((np.nan, 2), (0, 3)):
        value = matrics.recall(differentiable.asarray(cm), zero_division=zero_division)
        np.testing.assert_allclose(differentiable.numpy(value), recalls.sum() / classes, rtol=1e-6)
        gradient = gradient_of_matrix(differentiable, matrics.recall, cm, zero_division=zero_division)
        assert np.isfinite(gradient).all()
        np.testing.assert_allclose(gradient[0, 1], -recalls[0] / cm[0].sum() / classes, rtol=1e-5)


def backend_matrix(backend: Any, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    cm = backend.call(matrics.soft_confusion_matrix, backend.asarray(labels), backend.asarray(softmax(logits)))
    return backend.numpy(cm).astype(np.float64)


def gradient_of_matrix(backend: Any, metric: Any, cm: np.ndarray, **options: Any) -> np.ndarray:
    if backend.name.startswith("jax"):
        import jax

        return np.asarray(backend.jit(jax.grad(lambda cm: metric(cm, **options)))(backend.asarray(cm)))
    tensor = backend.asarray(cm)
    metric(tensor, **options).backward()
    return backend.numpy(tensor.grad)


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], spec=["mcen", "tmcc"])
@pytest.mark.parametrize("spec", ["cen", "mcen", "nmi", "tmcc"])
def test_half_of_all_samples_in_one_cell(differentiable: Any, spec: str) -> None:
    """Where the logarithm of a share changes its formula."""
    cm, metric = np.asarray([[0.0, 6, 0], [0, 0, 4], [2, 0, 0]]), matrics.get_metric(spec)
    value = metric(differentiable.asarray(cm), zero_division=0)
    np.testing.assert_allclose(differentiable.numpy(value), metric(cm, zero_division=0), rtol=1e-5, atol=1e-6)
    assert np.isfinite(gradient_of_matrix(differentiable, metric, cm, zero_division=0)).all()


@pytest.mark.exhaustive(backend=["jax", "jax-x64"])
def test_eigenvalues_that_nearly_meet(differentiable: Any) -> None:
    """To within roundings, where the order of two is chance: each gradient has to go where its value goes."""
    random = np.random.default_rng(5)
    right = random.uniform(0.4, 0.95, (2000, 1, 1))
    stack = right * np.eye(3) + (1 - right) / 2 * (1 - np.eye(3))
    # With the eigenvalues p, p and 1; and the projections on the spaces of both, from which the rest is the chain rule.
    pair = (3 * right - 1) / 2
    shares = np.concatenate([pair, pair, 1 + 0 * pair], axis=-1) / (2 * pair + 1)
    entropy = -(shares * np.log(shares)).sum(-1, keepdims=True)
    slopes = -(np.log(shares) + entropy) / (2 * pair + 1) / np.log(3)
    of_rates = slopes[..., :1] * (np.eye(3) - 1 / 3) + slopes[..., 2:] / 3
    expected = of_rates - (of_rates * stack).sum(-1, keepdims=True)
    stack *= 1 + 10.0 ** random.uniform(-9, -6, (2000, 1, 1)) * random.normal(size=stack.shape)
    if differentiable.name.startswith("jax"):
        import jax

        # Beside another measure, in one Jacobian: where XLA computes the same thing twice, and rounds it in two ways.
        both = differentiable.jit(jax.vmap(jax.jacrev(lambda cm: jax.numpy.stack([matrics.eve(cm), matrics.mcc(cm)]))))
        found = np.asarray(both(differentiable.asarray(stack)))[:, 0]
    else:
        found = gradient_of_matrix(differentiable, lambda cm: matrics.eve(cm).sum(), stack)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-4 if not differentiable.float64 else 1e-5)


# Mixed precision ------------------------------------------------------------------------------------------------------


def test_autocast(torch: Any) -> None:
    """Counts, cells, losses and gradients of a bfloat16 layer: right to what bfloat16 logits are worth."""
    torch.manual_seed(0)
    features, labels = torch.randn(20_000, 16), torch.randint(0, 5, (20_000,))
    features[torch.arange(20_000), labels] += 1.5
    layer = torch.nn.Linear(16, 5)
    for spec in ("mcc", "eve", "g_mean", "mcen", "cen", "f1"):
        layer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = layer(features)
            hard = matrics.confusion_matrix(labels, logits, num_classes=5)
            probs = logits.softmax(-1)
            soft = matrics.soft_confusion_matrix(labels, probs)
            loss = loss_of_matrix(spec, soft)
        loss.backward()
        assert logits.dtype == torch.bfloat16
        assert soft.dtype == loss.dtype == torch.float32
        exact = torch.zeros((5, 5), dtype=torch.float64).index_add(0, labels, probs.detach().double())
        torch.testing.assert_close(soft.double(), exact, rtol=1e-5, atol=0)
        predicted = logits.float().argmax(-1)
        assert hard.tolist() == [[int(((labels == i) & (predicted == j)).sum()) for j in range(5)] for i in range(5)]

        double = torch.nn.Linear(16, 5).double()
        double.load_state_dict(layer.state_dict())
        cm = matrics.soft_confusion_matrix(labels, double(features.double()).softmax(-1))
        reference = loss_of_matrix(spec, cm)
        reference.backward()
        torch.testing.assert_close(loss.double(), reference, rtol=2e-3, atol=2e-3)
        largest = double.weight.grad.abs().max().item()
        torch.testing.assert_close(layer.weight.grad.double(), double.weight.grad, rtol=0, atol=0.03 * largest)


def test_bfloat16_probabilities_add_up_in_float32(torch: Any) -> None:
    """In bfloat16 a sum of ones stops at 256."""
    probs = torch.tensor([[1.0, 0.0], [0.25, 0.75]], dtype=torch.bfloat16).repeat_interleave(70_000, 0).requires_grad_()
    labels = torch.arange(2).repeat_interleave(70_000)
    cm = matrics.soft_confusion_matrix(labels, probs)
    assert cm.tolist() == [[70_000, 0], [17_500, 52_500]]
    matrics.accuracy(cm).backward()
    assert probs.grad.dtype == torch.bfloat16
    assert torch.isfinite(probs.grad).all()


# Transformed ----------------------------------------------------------------------------------------------------------

HEADS = (np.stack([ordinary(3, 20)[0] + bias for bias in np.eye(3)[:2]]), ordinary(3, 20)[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # of PyTorch to itself
@pytest.mark.parametrize(
    ("compiler", "specs"),
    [
        pytest.param("aot_eager", FEW, marks=pytest.mark.exhaustive),
        pytest.param("inductor", ["mcc"], marks=pytest.mark.exhaustive),
        pytest.param("aot_eager", SPECS, marks=pytest.mark.exhaustive),
        pytest.param("inductor", ["mcc", "eve", "mcen"], marks=pytest.mark.exhaustive),
    ],
)
def test_torch_compile(torch: Any, compiler: str, specs: list[str]) -> None:
    """Forward and backward of a step in one graph."""
    logits, labels = torch.from_numpy(CASES["four classes"][0]), torch.from_numpy(CASES["four classes"][1])

    def losses(logits: Any) -> Any:
        cm = matrics.soft_confusion_matrix(labels, logits.softmax(-1))
        return torch.stack([loss_of_matrix(spec, cm) for spec in specs]).sum()

    torch._dynamo.reset()
    found = []
    for function in (losses, torch.compile(losses, fullgraph=True, backend=compiler)):
        weights = logits.clone().requires_grad_()
        value = function(weights)
        value.backward()
        found.append((value.detach(), weights.grad))
    torch.testing.assert_close(found[1], found[0])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", SPECS)
def test_torch_vmap_over_models(torch: Any, spec: str) -> None:
    """A gradient for each of a stack of models, and the same as one loss of all heads gives."""
    logits, labels = (torch.from_numpy(x) for x in HEADS)

    def loss(logits: Any) -> Any:
        return loss_of_matrix(spec, matrics.soft_confusion_matrix(labels, logits.softmax(-1)))

    mapped = torch.func.vmap(torch.func.grad(loss))(logits)
    heads = logits.clone().requires_grad_()
    loss(heads).sum().backward()
    torch.testing.assert_close(mapped, heads.grad)
    for i, head in enumerate(HEADS[0]):
        np.testing.assert_allclose(mapped[i], finite_differences(spec, head, HEADS[1]), rtol=1e-6, atol=1e-8)


@pytest.mark.exhaustive  # by default test_loss_options.py has gradients of models
@pytest.mark.parametrize("specs", [FEW, SPECS], ids=["few", "all"])
def test_jax_vmap_over_models(jax_backend: Any, specs: list[str]) -> None:
    import jax

    logits, labels = jax_backend.asarray(HEADS[0]), jax_backend.asarray(HEADS[1])

    def loss(logits: Any) -> Any:
        cm = matrics.soft_confusion_matrix(labels, jax.nn.softmax(logits))
        return sum(loss_of_matrix(spec, cm) for spec in specs)

    mapped = jax_backend.jit(jax.vmap(jax.grad(loss)))(logits)
    allowed = {"rtol": 1e-6, "atol": 1e-8} if jax_backend.float64 else {"rtol": 1e-2, "atol": 1e-3}
    for i, head in enumerate(HEADS[0]):
        expected = sum(finite_differences(spec, head, HEADS[1]) for spec in specs)
        np.testing.assert_allclose(mapped[i], expected, **allowed)
