"""Run by test_jax_state.py with eight devices: one state of labels that are spread over them."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import matrics
from matrics import ConfusionState, ScoreState

RANDOM = np.random.default_rng(13)
Y_TRUE, LOGITS = RANDOM.integers(-1, 3, (4, 64)), RANDOM.normal(size=(4, 64, 3)).astype(np.float32)
INSIDE = Y_TRUE >= 0
WANTED = matrics.confusion_matrix(Y_TRUE[INSIDE], LOGITS[INSIDE].argmax(-1), num_classes=3)
SCORES = matrics.score(WANTED, ["accuracy", "mcc", "recall:class"])
PROBABILITIES = RANDOM.random((4, 64)).astype(np.float32)
WANTED_SCORES = ScoreState.zeros(bits=6, thresholds=[0.25, 0.5]).update(Y_TRUE, PROBABILITIES)
SPREAD = PartitionSpec(None, "data")


def check(state: Any, times: int = 1) -> None:
    assert isinstance(state, ConfusionState)
    np.testing.assert_array_equal(state.matrix, times * WANTED)
    assert int(state.dropped) == times * (~INSIDE).sum()
    for score in (state.score, jax.jit(lambda: state.score(list(SCORES)))):
        for name, value in (score(list(SCORES)) if score == state.score else score()).items():
            np.testing.assert_allclose(value, SCORES[name], rtol=1e-5)


def check_scores(state: Any) -> None:
    np.testing.assert_array_equal(state.matrix, WANTED_SCORES.matrix)
    np.testing.assert_array_equal(state.thresholds, WANTED_SCORES.thresholds)
    assert int(state.dropped) == int(WANTED_SCORES.dropped)
    for found in (state.roc_auc(), jax.jit(ScoreState.roc_auc)(state)):
        np.testing.assert_allclose(found, WANTED_SCORES.roc_auc(), rtol=1e-5)


def run(kind: Any) -> None:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(kind,))
    with jax.set_mesh(mesh):
        y_true, logits = (jax.device_put(x, NamedSharding(mesh, SPREAD)) for x in (Y_TRUE, LOGITS))
        empty = ConfusionState.zeros(3, like=y_true)

        # Sharded arrays just work: the compiler adds what the devices have counted.
        first = empty.update(y_true[0], logits[0])
        check(sum([first, *(empty.update(y_true[i], logits[i]) for i in (1, 2, 3))]))
        step = jax.jit(lambda state, batch: (state.update(*batch), None), donate_argnums=0)
        state = jax.tree.map(jax.numpy.copy, empty)
        for i in range(4):
            state, _ = step(state, (y_true[i], logits[i]))
        check(state)
        check(jax.jit(lambda *batches: jax.lax.scan(step, empty, batches)[0])(y_true, logits))

        # By hand: each device counts its own, and one psum merges.
        @jax.jit
        @partial(jax.shard_map, in_specs=(PartitionSpec(), SPREAD, SPREAD), out_specs=PartitionSpec())
        def epoch(state: Any, y_true: Any, logits: Any) -> Any:
            own = ConfusionState.zeros(3, like=y_true)  # which differs between the devices, as y_true does
            own, _ = jax.lax.scan(lambda own, batch: (own.update(*batch), None), own, (y_true, logits))
            return state + jax.lax.psum(own, "data")

        check(epoch(epoch(empty, y_true, logits), y_true, logits), times=2)

        # In one call, also in a scan.
        @jax.jit
        @partial(jax.shard_map, in_specs=(PartitionSpec(), SPREAD, SPREAD), out_specs=PartitionSpec())
        def added(state: Any, y_true: Any, logits: Any) -> Any:
            step = partial(ConfusionState.update, axis_name="data")
            return jax.lax.scan(lambda state, batch: (step(state, *batch), None), state, (y_true, logits))[0]

        check(added(added(empty, y_true, logits), y_true, logits), times=2)

        # A model each: the states themselves are spread.
        models = ConfusionState.zeros(3, batch_shape=(8,), like=y_true)
        place = NamedSharding(mesh, PartitionSpec("data"))
        models = jax.tree.map(lambda leaf: jax.device_put(leaf, place), models)
        many = jax.device_put(np.broadcast_to(LOGITS.reshape(-1, 3), (8, 256, 3)), place)
        models = jax.jit(jax.vmap(ConfusionState.update, in_axes=(0, None, 0)))(models, Y_TRUE.ravel(), many)
        np.testing.assert_array_equal(models.matrix, np.broadcast_to(WANTED, (8, 3, 3)))
        # Histograms of scores, likewise; their edges are added up as well.
        scores = jax.device_put(PROBABILITIES, NamedSharding(mesh, SPREAD))
        empty = ScoreState.zeros(bits=6, thresholds=[0.25, 0.5], like=y_true)
        check_scores(sum(jax.jit(empty.update)(y_true[i], scores[i]) for i in range(4)))

        @jax.jit
        @partial(jax.shard_map, in_specs=(SPREAD, SPREAD), out_specs=PartitionSpec())
        def add_scores(y_true: Any, scores: Any) -> Any:
            own = ScoreState.zeros(bits=6, thresholds=[0.25, 0.5], like=y_true)
            own, _ = jax.lax.scan(lambda own, batch: (own.update(*batch), None), own, (y_true, scores))
            return jax.lax.psum(own, "data")

        check_scores(add_scores(y_true, scores))
    print(kind.name)


if __name__ == "__main__":
    assert jax.device_count() == 8
    for axis_type in (AxisType.Auto, AxisType.Explicit):
        run(axis_type)
