"""The state of scores in compiled and mapped code, over devices and over processes."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roads import jax_bits

from matrics import ScoreState

RANDOM = np.random.default_rng(33)
METRICS = ["recall", "mcc"]
KEPT: dict[str, Any] = {"bits": 8, "thresholds": np.arange(41) / 40}


def areas(state: ScoreState) -> list[Any]:
    """Some of what a state says: compiling all of it takes a minute."""
    return [*state.roc_auc()]


def answers(state: ScoreState) -> list[Any]:
    """All that a state says."""
    found = [*state.roc_auc(), *state.average_precision(), *state.score(METRICS).values(), state.thresholds]
    return [*found, state.expected_calibration_error(), *state.reliability_curve()]


def batches(number: int, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Labels, some out of range, and scores, some on edges, beyond them or NaN."""
    y_true = RANDOM.integers(-1, n or 2, (number, 64))
    scores = RANDOM.normal(0.5, 0.4, (number, 64) if n is None else (number, 64, n)).astype(np.float32)
    scores[:, :20] = np.round(scores[:, :20], 1)
    scores[:, 20] = np.nan
    return y_true, scores


def wanted(y_true: np.ndarray, scores: np.ndarray, n: int | None = None) -> ScoreState:
    return ScoreState.zeros(**KEPT, num_classes=n).update(y_true, scores)


def check(found: Any, expected: Any, tolerance: float) -> None:
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance)


# PyTorch ------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # of PyTorch to itself
@pytest.mark.parametrize(
    ("compiler", "n", "says"),
    [
        ("aot_eager", None, areas),
        pytest.param("aot_eager", 3, answers, marks=pytest.mark.exhaustive),
        pytest.param("inductor", None, areas, marks=pytest.mark.exhaustive),
    ],
)
def test_torch_compiles_once(torch: Any, compiler: str, n: int | None, says: Any) -> None:
    """A step with counting, merging and answers in one graph, and steps without another compilation."""
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend(compiler)

    def step(state: Any, y_true: Any, scores: Any) -> Any:
        state = state.update(y_true, scores) + state
        return state, says(state)

    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True, backend=counter)
    state = other = ScoreState.zeros(**KEPT, num_classes=n, like=torch.zeros(()))
    for y_true, scores in zip(*batches(3, n), strict=True):
        batch = torch.from_numpy(y_true), torch.from_numpy(scores)
        state, found = compiled(state, *batch)
        other, expected = step(other, *batch)
    assert counter.frame_count == 1
    assert isinstance(state, ScoreState)
    assert torch.equal(state.counts, other.counts)
    assert torch.equal(state.matrix, other.matrix)
    check(found, expected, 1e-12)
    check(state, other, 1e-12)


def test_torch_looks_at_no_value(torch: Any) -> None:
    """Under FakeTensorMode, and on the device "meta", there are none."""
    from torch._subclasses import FakeTensorMode

    def run(device: str) -> Any:
        y_true, scores = torch.zeros(8, dtype=torch.int64, device=device), torch.zeros((8, 3), device=device)
        state = ScoreState.zeros(**KEPT, num_classes=3, like=scores)
        state = state.update(y_true, scores, ignore_index=2) + state
        weighted = ScoreState.zeros(**KEPT, like=scores, dtype=torch.float32)
        weighted = weighted.update(y_true, scores[:, 0], sample_weight=scores[:, 1])
        return sum([state, state]), weighted, [*answers(state), *answers(weighted)]

    with FakeTensorMode():
        found = run("cpu")
    for state, weighted, values in (found, run("meta")):
        assert tuple(state.counts.shape[::2]) == (3, 2)
        assert str(weighted.counts.dtype) == "torch.float32"
        assert [tuple(value.shape) for value in values[:8]] == [()] * 6 + [(3, 43)] * 2


def test_torch_maps_over_models(torch: Any) -> None:
    y_true, scores = batches(5)
    y_true, scores = torch.from_numpy(y_true[0]), torch.from_numpy(scores)
    states = ScoreState.zeros(**KEPT, batch_shape=(5,), like=scores)
    mapped, found = torch.func.vmap(lambda state, s: ((new := state.update(y_true, s)), answers(new)))(states, scores)
    expected = states.update(y_true, scores)
    check(mapped, expected, 1e-12)
    for x, y in zip(found, answers(expected), strict=True):  # the edges are those of each model
        np.testing.assert_allclose(x, y if x.ndim == y.ndim else y.expand(5, -1), rtol=1e-12, atol=1e-12)


def test_torch_gradients_do_not_matter(torch: Any) -> None:
    y_true, scores = batches(1)
    scores = torch.from_numpy(scores[0]).requires_grad_()
    weights = torch.ones(64, requires_grad=True)
    state = ScoreState.zeros(**KEPT, like=scores, dtype=torch.float64)
    state = state.update(torch.from_numpy(y_true[0]), scores, sample_weight=weights)
    assert not any(leaf.requires_grad for leaf in state)
    np.testing.assert_array_equal(state.counts, wanted(y_true[0], scores.detach().numpy()).counts)


@pytest.mark.exhaustive
def test_processes_count_as_one(torch: Any, tmp_path: Path) -> None:
    """One all_reduce of each array, whose edges then are those of four states."""
    pytest.importorskip("torch.distributed")
    ranks = importlib.import_module("ranks")
    expected = sum(ranks.scored(rank) for rank in range(2))
    for result in ranks.run("add_scores", 2, tmp_path):
        merged = ScoreState(**result)
        assert torch.equal(merged.matrix, expected.matrix)
        assert torch.equal(merged.thresholds, expected.thresholds)
        assert merged.states.item() == 2
        check(answers(merged), answers(expected), 1e-12)


# JAX ----------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_jax_scans_and_maps(jax_backend: Any) -> None:
    """An epoch of several models as one program, with all answers in it."""
    import jax

    y_true, scores = batches(6)
    models = np.stack([scores, scores * np.float32(0.5)])

    @jax.jit
    def epoch(states: Any, y_true: Any, scores: Any) -> Any:
        def step(state: Any, batch: Any) -> Any:
            return state.update(*batch), None

        states = jax.vmap(lambda state, s: jax.lax.scan(step, state, (y_true, s))[0])(states, scores)
        return states, answers(states)

    states = ScoreState.zeros(**KEPT, batch_shape=(2,), like=jax_backend.asarray(0))
    for times in (1, 2):
        states, found = epoch(states, jax_backend.asarray(y_true), jax_backend.asarray(models))
        expected = ScoreState.zeros(**KEPT, batch_shape=(2,)).update(y_true, models)
        np.testing.assert_array_equal(states.matrix, times * expected.matrix)
        np.testing.assert_array_equal(states.dropped, times * expected.dropped)
    check(found, answers(expected + expected), 1e-12 if jax_backend.float64 else 2e-5)


@pytest.mark.exhaustive
def test_jax_compiles_large_counts(jax_backend: Any) -> None:
    """In two words: running sums beyond 2**31, exact before they become floats."""
    import jax

    y_true, scores = batches(1)
    state = ScoreState.zeros(**KEPT, like=jax_backend.asarray(0))
    state = state.update(jax_backend.asarray(y_true[0]), jax_backend.asarray(scores[0]))
    double = jax.jit(lambda state: (state + state, answers(state)))
    for _ in range(36):
        state, _ = double(state)
    _, found = double(state)
    once = wanted(y_true[0], scores[0])
    np.testing.assert_array_equal(state.matrix, 2**36 * once.matrix)
    large = once._replace(**{name: getattr(once, name) * 2**36 for name in ("counts", "bins", "calibration")})
    check(found, answers(large), 1e-12 if jax_backend.float64 else 2e-5)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("bits", [4, 8, 10, 15])
def test_jax_compiles_areas_of_2_to_the_46_samples(bits: int) -> None:
    """Of few and of many buckets: no word of the running sums wraps."""
    jax = pytest.importorskip("jax")
    with jax_bits(float64=False):
        y_true, scores = jax.numpy.asarray([0, 1, 0, 1] * 16), jax.numpy.asarray([0.1, 0.2, 0.3, 0.4] * 16)
        state = ScoreState.zeros(bits=bits, num_bins=0, like=y_true).update(y_true, scores)
        found = jax.jit(lambda state: (state.roc_auc(), state.average_precision()))
        once = found(state)
        double = jax.jit(lambda state: state + state)
        for _ in range(40):
            state = double(state)
        check([x for area in found(state) for x in area][::3], [x for area in once for x in area][::3], 1e-6)
        assert float(once[0].value) == pytest.approx(0.75, abs=1e-6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("area", ["roc_auc", "average_precision"])
def test_jax_compiles_micro_areas_of_full_low_words(area: str) -> None:
    """The low words of all classes and bins together are beyond 2**31."""
    jax = pytest.importorskip("jax")
    from sklearn import metrics as peer

    number = ScoreState.zeros(bits=4).counts.shape[0]
    counts = RANDOM.integers(2**20, 2**21, (40, number, 2)) | 0xFFFF
    counts[:, :, 1] += 2**16 * np.arange(number)
    with jax_bits(float64=False):
        state = ScoreState.zeros(num_classes=40, bits=4, like=jax.numpy.zeros(()))
        low, high = jax.numpy.asarray(counts & 0xFFFF), jax.numpy.asarray(counts >> 16)
        state = state._replace(counts=low, carried=high, rounded=state.rounded + 1)  # 0 would mean that all are tied
        found = jax.jit(lambda state: getattr(state, area)(average="micro"))(state)
    y_true, bins = np.tile([0, 1], 40 * number), np.tile(np.repeat(np.arange(number), 2), 40)
    function = peer.roc_auc_score if area == "roc_auc" else peer.average_precision_score
    expected = function(y_true, bins, sample_weight=counts.ravel())
    np.testing.assert_allclose(found.value, expected, rtol=2e-6)
    assert found.low < expected < found.high


def test_a_state_for_64_bits_is_refused_where_there_are_32(jax_backend: Any) -> None:
    if jax_backend.float64:
        pytest.skip("there are 64")
    import jax

    y_true, scores = batches(1)
    with pytest.raises(TypeError, match=r"like=\) of a JAX array"):
        jax.jit(ScoreState.update)(ScoreState.zeros(), jax_backend.asarray(y_true[0]), jax_backend.asarray(scores[0]))
    with pytest.raises(ValueError, match="expected a state of at most 2,147,483,647 counts, as there are no 64-bit"):
        ScoreState.zeros(bits=20, num_classes=50, allow_large=True, like=jax_backend.asarray(0))
