"""The state in JAX's transformations: jit, scan, vmap, donated buffers, eight devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ConfusionState

RANDOM = np.random.default_rng(12)
Y_TRUE, Y_PRED = RANDOM.integers(-1, 3, (10, 40)), RANDOM.integers(0, 3, (10, 40))
INSIDE = Y_TRUE >= 0
WANTED = matrics.confusion_matrix(Y_TRUE[INSIDE], Y_PRED[INSIDE], num_classes=3)


def test_scan_over_batches_in_donated_buffers(jax_backend: Any) -> None:
    """An epoch is one program: the state is the carry, and its memory is used again."""
    import jax

    @jax.jit
    def logged(state: Any) -> Any:
        return state.score(["accuracy", "recall:class"])

    def step(state: Any, batch: Any) -> Any:
        state = state.update(*batch)
        return state, state.score("accuracy")["accuracy"]

    epoch = jax.jit(lambda state, batches: jax.lax.scan(step, state, batches), donate_argnums=0)
    batches = jax_backend.asarray(Y_TRUE), jax_backend.asarray(Y_PRED)
    state = start = jax.jit(lambda: ConfusionState.zeros(3, like=batches[0]))()
    for epochs in (1, 2, 3):
        state, running = epoch(state, batches)
        assert isinstance(state, ConfusionState)
        np.testing.assert_array_equal(state.matrix, epochs * WANTED)
        assert int(state.dropped) == epochs * (~INSIDE).sum()
    assert start.counts.is_deleted()
    wanted = matrics.score(WANTED, ["accuracy", "recall:class"])
    np.testing.assert_allclose(running[-1], wanted["accuracy"], rtol=1e-6)
    for name, value in logged(state).items():
        np.testing.assert_allclose(value, wanted[name], rtol=1e-6)


def states_of(like: Any) -> dict[str, tuple[Any, Any, Any]]:
    """An empty state of each kind, and a batch for each of five devices; always the same."""
    random = np.random.default_rng(5)
    labels, scores = random.integers(0, 3, (5, 40)), random.random((5, 40, 3)).astype(np.float32)
    several = random.integers(0, 2, (2, 5, 40, 3))
    kept: Any = {"bits": 4, "losses": True, "top_k": [1, 2], "thresholds": [0.5], "like": like}
    return {
        "cells": (ConfusionState.zeros(3, like=like), labels, scores),
        "groups": (ConfusionState.zeros(3, batch_shape=(2,), like=like), labels[:, None], np.stack([scores] * 2, 1)),
        "margins": (matrics.MarginState.zeros(3, like=like), labels, scores),
        "labels": (matrics.MultilabelState.zeros(3, like=like), *several),
        "scores": (matrics.ScoreState.zeros(num_classes=3, **kept), labels, scores),
    }


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["cells", "groups", "margins", "labels", "scores"])
def test_counts_of_an_axis_of_devices(jax_backend: Any, kind: str) -> None:
    """With ``axis_name=`` each device has the state of all samples, not only its own; ``vmap`` has such axes, too."""
    import jax

    state = states_of(jax_backend.asarray(0))[kind][0]
    whole, y_true, values = states_of(None)[kind]
    for batch in zip(y_true, values, strict=True):
        whole = whole.update(*batch)
    step = jax.jit(jax.vmap(lambda *batch: state.update(*batch, axis_name="devices"), axis_name="devices"))
    found = step(jax_backend.asarray(y_true), jax_backend.asarray(values))
    for own in (jax.tree.map(lambda leaf, at=device: leaf[at], found) for device in (0, 4)):
        if kind == "margins":
            np.testing.assert_array_equal([own.true, own.pred], [whole.true, whole.pred])
            continue
        np.testing.assert_array_equal(own.matrix, whole.matrix)
        if kind == "scores":
            np.testing.assert_allclose(own.log_loss(), whole.log_loss(), rtol=1e-6)
            np.testing.assert_allclose(own.top_k_accuracy(), whole.top_k_accuracy(), rtol=1e-6)
            np.testing.assert_array_equal(own.thresholds, whole.thresholds)


@pytest.mark.parametrize("kind", ["cells", "margins", "labels", "scores"])
def test_other_libraries_have_no_axis_of_devices(kind: str) -> None:
    state, y_true, values = states_of(None)[kind]
    with pytest.raises(TypeError, match="axis_name: expected None, as numpy has no named axes"):
        state.update(y_true, values, axis_name="devices")


def test_no_step_is_traced_again(jax_backend: Any) -> None:
    import jax

    traced = []

    @jax.jit
    def step(state: Any, y_true: Any, y_pred: Any) -> Any:
        traced.append(1)
        return state.update(y_true, y_pred) + ConfusionState.zeros(3, like=y_true)

    state = ConfusionState.zeros(3, like=jax_backend.asarray(0))
    for y_true, y_pred in zip(Y_TRUE, Y_PRED, strict=True):
        state = step(state, jax_backend.asarray(y_true), jax_backend.asarray(y_pred))
    assert len(traced) == 1
    np.testing.assert_array_equal(state.matrix, WANTED)


def test_vmap_over_models(jax_backend: Any) -> None:
    import jax

    y_true, y_pred = jax_backend.asarray(Y_TRUE[0]), jax_backend.asarray(Y_PRED)
    states = ConfusionState.zeros(3, batch_shape=(10,), like=y_true)
    mapped = jax.jit(jax.vmap(lambda state, y_pred: state.update(y_true, y_pred)))(states, y_pred)
    whole = states.update(y_true, y_pred)
    for leaf, same in zip(mapped, whole, strict=True):
        np.testing.assert_array_equal(leaf, same)
    scores = jax.jit(jax.vmap(lambda state: state.score("mcc")["mcc"]))(mapped)
    np.testing.assert_allclose(scores, whole.score("mcc")["mcc"], rtol=1e-4)


def test_psum_over_an_axis(jax_backend: Any) -> None:
    import jax

    def count(y_true: Any, y_pred: Any) -> Any:
        return jax.lax.psum(ConfusionState.zeros(3, like=y_true).update(y_true, y_pred), "device")

    states = jax.jit(jax.vmap(count, axis_name="device"))(jax_backend.asarray(Y_TRUE), jax_backend.asarray(Y_PRED))
    first = jax.tree.map(lambda leaf: leaf[0], states)
    np.testing.assert_array_equal(first.matrix, WANTED)
    assert int(first.dropped) == (~INSIDE).sum()


def test_two_words_hold_the_sum_of_32768_states(jax_backend: Any) -> None:
    """A sum leaf by leaf is not normalised; it is exact all the same, and so is what is added to it."""
    import jax

    if jax_backend.float64:
        pytest.skip("one word")
    labels = jax_backend.asarray(np.zeros(2**16 - 1), np.int32)
    state = ConfusionState.zeros(2, like=labels).update(labels, labels)
    for _ in range(14):
        state = state + state
    state = state.update(labels, labels)  # both words have something
    most = ConfusionState(*(leaf * 2**15 for leaf in state))
    count = (2**16 - 1) * (2**14 + 1)
    assert int(state.counts[0, 0]) > 2**15
    assert most.matrix.tolist() == [[2**15 * count, 0], [0, 0]]
    assert (most + state).update(labels, labels).matrix[0, 0] == (2**15 + 1) * count + 2**16 - 1
    traced = jax.jit(lambda state: state.matrix)(most)
    assert traced.dtype == np.float32
    np.testing.assert_allclose(traced[0, 0], 2**15 * count, rtol=2**-23)


def test_a_mapped_or_traced_score_is_that_of_both_words(jax_backend: Any) -> None:
    import jax

    y_true, y_pred = jax_backend.asarray(Y_TRUE[0]), jax_backend.asarray(Y_PRED[0])
    state = ConfusionState.zeros(3, like=y_true).update(y_true, y_pred)
    wanted = state.score()
    for _ in range(35):
        state = state + state
    for name, value in jax.jit(lambda state: state.score())(state).items():
        np.testing.assert_allclose(value, wanted[name], rtol=1e-4, atol=1e-5)


@pytest.mark.exhaustive(jax_backend=["jax-x64"])
def test_eight_devices(jax_backend: Any) -> None:
    """Sharded labels, shard_map with psum, and scan within it; the number of devices is fixed once a process."""
    script = Path(__file__).with_name("eight_devices.py")
    environment = os.environ | {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8 " + os.environ["XLA_FLAGS"],  # from the conftest above
        "JAX_ENABLE_X64": str(int(jax_backend.float64)),
        "JAX_PLATFORMS": "cpu",
    }
    run = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["Auto", "Explicit"]


def test_a_state_for_64_bits_is_refused_where_there_are_32(jax_backend: Any) -> None:
    import jax

    if jax_backend.float64:
        pytest.skip("there are 64")
    labels = jax_backend.asarray([0, 1])
    with pytest.raises(TypeError, match=r"like=\) of a JAX array"):
        jax.jit(lambda state: state.update(labels, labels))(ConfusionState.zeros(2))


def test_dropped_stays_where_it_is_full(jax_backend: Any) -> None:
    if jax_backend.float64:
        pytest.skip("64 bits are not full")
    most = jax_backend.asarray(2**30 - 1)
    state = ConfusionState.zeros(2, like=most)._replace(dropped=most)
    assert int(sum([state] * 5).dropped) == 2**30 - 1
