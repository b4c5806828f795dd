"""score_blocks on JAX's devices, and stacks that are spread over several."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lazily import lazily

import matrics

jax = lazily("jax")

RANDOM = np.random.default_rng(0)
METRICS = ["accuracy", "mcc", "recall:class", "eve"]


@pytest.mark.exhaustive
def test_only_what_is_asked_for_is_copied_and_one_program_is_compiled(jax_backend: Any) -> None:
    """The last block is filled up; NaN is one zero_division, whoever made it."""
    from matrics._scoring.streaming.jax import _scored

    stack = RANDOM.integers(0, 50, (101, 3, 3)).astype(np.float32)
    before = _scored._cache_size()
    with jax.transfer_guard("disallow"):
        for zero_division in (np.nan, float("nan"), np.float32("nan")):
            found = matrics.score_blocks(
                stack, METRICS, device=jax.devices()[0], block_bytes=1000, zero_division=zero_division
            )
    assert _scored._cache_size() == before + 1
    for name, values in jax_backend.score(jax_backend.asarray(stack), METRICS).items():
        np.testing.assert_allclose(found[name], values, rtol=1e-5, atol=1e-6, err_msg=name)
        assert found[name].dtype == np.float32


def test_integers_of_64_bits_do_not_wrap(jax_backend: Any) -> None:
    """Default JAX has none: they become float32, as those of 32 bits do when they are scored."""
    stack = RANDOM.integers(2**40, 2**41, (20, 3, 3))
    found = matrics.score_blocks(stack, METRICS, device=jax.devices()[0], block_bytes=1000)
    for name, values in matrics.score(stack, METRICS).items():
        np.testing.assert_allclose(found[name], values, **jax_backend.tolerance, err_msg=name)
        assert found[name].dtype == (np.float64 if jax_backend.float64 else np.float32)


def test_what_is_too_large_for_float32_is_invalid(jax_backend: Any) -> None:
    stack = np.ones((4, 2, 2))
    stack[2, 0, 1] = 1e200
    if jax_backend.float64:
        assert matrics.score_blocks(stack, "accuracy", device=jax.devices()[0])["accuracy"][2] < 1e-100
        return
    with pytest.warns(RuntimeWarning, match=r"^1 of 4 confusion matrices is invalid: \[2\] has the cell inf at"):
        found = matrics.score_blocks(stack, "accuracy", device=jax.devices()[0])
    np.testing.assert_array_equal(found["accuracy"], [0.5, 0.5, np.nan, 0.5])


def test_measures_of_the_host_are_refused() -> None:
    pytest.importorskip("scipy")
    name = matrics.list_metrics("on_host")[0]
    with pytest.raises(TypeError, match="needs SciPy, which runs on the host"):
        matrics.score_blocks(np.ones((2, 2, 2)), name, device=jax.devices()[0])


def test_stacks_that_jax_traces_are_refused() -> None:
    with pytest.raises(TypeError, match="stack: expected values, got a tracer of JAX: score_blocks cannot be part of"):
        jax.jit(lambda cm: matrics.score_blocks(cm, "mcc", device=None))(np.ones((2, 2, 2), np.float32))


@pytest.mark.exhaustive
@pytest.mark.parametrize("amount", ["some", pytest.param("all", marks=pytest.mark.exhaustive)])
def test_eight_devices(amount: str) -> None:
    """No matrix goes from one device to another; the number of devices is fixed once a process."""
    script = Path(__file__).with_name("eight_devices_stacks.py")
    flags = "--xla_force_host_platform_device_count=8 " + os.environ["XLA_FLAGS"]  # from the conftest above
    run = subprocess.run(
        [sys.executable, script, amount],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["Auto", "Explicit"]
