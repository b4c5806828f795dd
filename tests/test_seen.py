"""PyTorch's operations on values in memory leave guards out that none of them needs: that changes no result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import walk

import matrics

SPECS = walk.formulas()


def stacks(n: int, dtype: str) -> dict[str, np.ndarray]:
    """Some in which no guard is needed, and some in which one or all are."""
    random = np.random.default_rng(n)
    soft = random.dirichlet(np.ones(n), (4, n)) * random.uniform(5, 100, (4, n, 1))
    absent, certain, alike = soft.copy(), soft * np.eye(n), soft + soft.swapaxes(1, 2)
    absent[:, 0] = 0
    odd = soft.copy()
    odd[0, 0, 0], odd[1, 0, 1], odd[2] = np.nan, -1, 0
    parts = {"soft": soft, "a class without samples": absent, "without errors": certain, "alike": alike, "invalid": odd}
    parts |= {"tiny": soft * 1e-30, "huge": soft * 1e30, "dominated": soft * np.where(np.eye(n) == 1, 1e6, 1)}
    return {name: part.astype(dtype) for name, part in parts.items()}


def watched() -> Any:
    """A mode that hears of every operation; where there is one nobody looks."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Listening(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return function(*args, **(kwargs or {}))

    return Listening()


def results(torch: Any, stack: np.ndarray, zero_division: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Values and gradients of all measures."""
    found = {}
    for spec in SPECS:
        cm = torch.tensor(stack, requires_grad=True)
        values = matrics.score(cm, spec, zero_division=zero_division)[spec]
        weights = torch.arange(1.0, values.shape[-1] + 1, dtype=cm.dtype) if values.ndim > 1 else 1.0
        (gradient,) = torch.autograd.grad((values * weights).sum(), cm)
        found[spec] = values.detach().numpy(), gradient.numpy()
    return found


DEFAULT = ("a class without samples",)


@pytest.mark.exhaustive
@pytest.mark.exhaustive(dtype=["float64"])
@pytest.mark.exhaustive(case=[case for case in stacks(2, "float32") if case not in DEFAULT])
@pytest.mark.exhaustive(n=[3])
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", stacks(2, "float32"))
def test_looking_changes_nothing(torch: Any, case: str, dtype: str, n: int) -> None:
    """Values have the same bits, and gradients the same digits; half of the cases with NaN for 0/0."""
    stack, digits = stacks(n, dtype)[case], 1e-6 if dtype == "float32" else 1e-12
    zero_division = (0.0, np.nan)[(list(stacks(2, dtype)).index(case) + n) % 2]
    seen = results(torch, stack, zero_division)
    with watched():
        unseen = results(torch, stack, zero_division)
    for spec, (values, gradient) in seen.items():
        expected = unseen[spec]
        np.testing.assert_array_equal(values, expected[0], err_msg=spec)
        largest = np.max(np.abs(expected[1]), where=np.isfinite(expected[1]), initial=0)
        np.testing.assert_allclose(gradient, expected[1], rtol=digits, atol=digits * largest, err_msg=spec)


def test_what_is_cached_is_no_fake_tensor(torch: Any) -> None:
    """A first call in a mode without values leaves nothing that later calls could not use."""
    from torch._subclasses import FakeTensorMode

    real = torch.eye(13, dtype=torch.float64, requires_grad=True)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        matrics.metrics.specificity(mode.from_tensor(real))
        matrics.metrics.specificity(real)
    assert matrics.metrics.specificity(real).item() == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", stacks(2, "float32"))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch to itself
def test_under_transformations(torch: Any, case: str) -> None:
    """Under ``torch.func`` all matrices are seen at once, in whatever order their axes lie."""
    stack = torch.from_numpy(stacks(3, "float64")[case])
    for spec in ("mcc", "eve(empty=zero)", "f1:macro", "cen", "cohen_kappa:one_vs_rest"):

        def loss(cm: Any, spec: str = spec) -> Any:
            return matrics.score(cm, spec, zero_division=0)[spec].sum()

        mapped = torch.func.vmap(torch.func.grad(loss), in_dims=-1, out_dims=-1)
        found = mapped(stack.movedim(0, -1)).movedim(-1, 0)
        with watched():
            expected = mapped(stack.movedim(0, -1)).movedim(-1, 0)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12, equal_nan=True)
        along = torch.func.jvp(loss, (stack,), (stack.sqrt(),))
        with watched():
            plain = torch.func.jvp(loss, (stack,), (stack.sqrt(),))
        torch.testing.assert_close(along, plain, rtol=1e-9, atol=1e-9, equal_nan=True)
        twice = torch.func.jacrev(torch.func.vmap(torch.func.grad(loss)))(stack[:2])
        one = torch.func.hessian(loss)(stack[1])
        if spec.startswith("eve"):  # whose second derivatives have no value where eigenvalues meet
            continue
        torch.testing.assert_close(twice[1, :, :, 1], one, rtol=1e-9, atol=1e-12, equal_nan=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
def test_when_somebody_looks(torch: Any) -> None:
    """With a gradient, mapped or not; not where operations are traced, listened to, or of another device."""
    from torch._subclasses import FakeTensorMode

    from matrics._arrays.torch import TORCH
    from matrics._engine.execution import table_of

    kinds = []

    def loss(cm: Any) -> Any:
        kinds.append(type(table_of(cm, TORCH)).__name__)
        return cm.sum()

    stack = torch.from_numpy(stacks(3, "float32")["soft"])
    loss(stack.clone().requires_grad_())
    torch.func.vmap(loss)(stack)
    torch.func.vmap(torch.func.grad(loss))(stack)
    torch.func.vmap(loss)(stack.clone().requires_grad_())
    torch.func.jvp(loss, (stack,), (stack,))
    assert kinds == ["InspectedTable"] * 5
    kinds.clear()
    with watched():
        loss(stack.clone().requires_grad_())
    with FakeTensorMode() as mode:
        loss(mode.from_tensor(stack))
    loss(stack.to("meta"))
    torch.func.functionalize(loss)(stack)
    torch.jit.trace(loss, (stack,), check_trace=False)
    assert set(kinds) == {"Table"}
    assert len(kinds) == 5


def test_a_tensor_whose_sign_is_not_in_its_memory() -> None:
    torch = pytest.importorskip("torch")
    cells = torch.rand((2, 3, 3), dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    numbers = torch.complex(torch.zeros_like(cells), -cells)
    plain = matrics.mcc(cells)
    mapped = torch.func.vmap(matrics.mcc)(numbers.conj().imag)
    torch.testing.assert_close(mapped, plain)
    torch.testing.assert_close(matrics.mcc(numbers.requires_grad_().conj().imag).detach(), plain)
