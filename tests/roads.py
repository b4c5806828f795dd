"""The roads that a user's stack can take through the library, one name and one way of calling each.

Plain tensors and concrete JAX arrays in the CPU's memory are scored by NumPy, whatever library they come from. A test
that is to prove something of a library therefore takes the roads below: each is one on which that library, or its
compiler, does the arithmetic.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matrics._study.sources.recompute import Step

LIBRARY = {
    "numpy": "numpy",  # blocks on the host
    "strict": "array_api_strict",  # the standard, and nothing beyond it
    "torch-grad": "torch",  # eager, with gradients asked for
    "torch-vmap": "torch",
    "torch-compile": "torch",  # fullgraph; traced and differentiated ahead of time, run by PyTorch
    "torch-inductor": "torch",  # fullgraph, machine code
    "jax-jit": "jax",  # 32 bits; XLA with its default optimisation, here and below
    "jax-vmap": "jax",
    "jax-x64-jit": "jax",
    "jax-x64-vmap": "jax",
    "torch-cuda": "torch",
    "torch-device": "torch",  # tensors of the CPU that take the roads of those on a device
    "jax-cuda-jit": "jax",
}
EAGER = ("numpy", "strict", "torch-grad", "torch-vmap", "torch-cuda", "torch-device")  # nothing is compiled
TRACED = tuple(name for name in LIBRARY if name not in EAGER)

# What users of jax.jit get. The tests' XLA_FLAGS (conftest.py) compile in less time; their code is slower and does not
# fuse a product into the difference after it, which is what costs digits.
XLA_DEFAULT = {
    "xla_backend_optimization_level": "3",
    "xla_llvm_disable_expensive_passes": False,
    "xla_cpu_parallel_codegen_split_count": 32,
}
if "xla_cpu_use_fusion_emitters" in os.environ.get("XLA_FLAGS", ""):  # later ones have no such flag
    XLA_DEFAULT["xla_cpu_use_fusion_emitters"] = True


def has_gpu(library: str) -> bool:
    """Whether PyTorch or JAX finds a CUDA device."""
    if library == "torch":
        import torch

        return bool(torch.cuda.is_available())
    import jax

    return jax.default_backend() == "gpu"


def jax_bits(*, float64: bool) -> contextlib.AbstractContextManager[Any]:
    """JAX with 64-bit numbers or without, for a while; its name was another one before JAX 0.8."""
    import jax
    import jax.experimental

    return (jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64)(float64)


ONE_PROGRAM = False  # whether ``nnx_update`` compiles whole updates; so it is but in the exhaustive run


def nnx_update(metric: Any, *arrays: Any, **options: Any) -> None:
    """A batch for a metric of Flax, as one program: the single operations of an update take longer to compile."""
    if ONE_PROGRAM:
        _nnx_update()(metric, arrays, options)
    else:
        metric.update(*arrays, **options)


@functools.cache
def _nnx_update() -> Callable[..., None]:
    from flax import nnx

    return nnx.jit(lambda metric, arrays, options: metric.update(*arrays, **options))


@dataclass
class Road:
    """One road. What it compiles for a function and a shape it keeps until it is let go."""

    name: str
    float64: bool
    compiled: dict[Any, Callable[..., Any]] = field(default_factory=dict)

    @property
    def tolerance(self) -> dict[str, float]:
        return {"rtol": 1e-9, "atol": 1e-12} if self.float64 else {"rtol": 3e-4, "atol": 3e-5}

    def dtypes(self) -> tuple[type, ...]:
        return (np.float32, np.float64)[: 1 + self.float64]

    def apply(self, function: Callable[[Any], Any], stack: Any, dtype: Any = None, *, key: Any = None) -> Any:
        """What the function makes of a stack ``(B, …)`` along this road; arrays come back as NumPy's.

        Functions with one ``key`` are taken for the same, and compiled once a shape. Off NumPy's road the host may not
        be asked, or what is meant to prove a library would prove NumPy.
        """
        elsewhere = on_device() if self.name == "torch-device" else contextlib.nullcontext()
        with elsewhere, contextlib.nullcontext() if self.name == "numpy" else without_host():
            return self._apply(function, np.array(stack, dtype=dtype), key)

    def _apply(self, function: Callable[[Any], Any], stack: np.ndarray, key: Any) -> Any:
        if self.name == "numpy":
            stack.flags.writeable = False  # nothing may write into what the user gave
            return _map(np.asarray, function(stack))
        if self.name == "strict":
            import array_api_strict

            return _map(np.asarray, function(array_api_strict.asarray(stack)))
        if self.name.startswith("torch"):
            import torch

            tensor = torch.from_numpy(stack).to("cuda" if self.name == "torch-cuda" else "cpu")
            if self.name == "torch-grad":
                tensor.requires_grad_(tensor.is_floating_point())
            return _map(lambda x: x.detach().cpu().numpy(), self._prepared(function, key)(tensor))
        import jax

        with self._jax():
            return _map(np.asarray, self._prepared(function, key)(jax.numpy.asarray(stack)))

    def _prepared(self, function: Callable[..., Any], key: Any) -> Callable[..., Any]:
        if key is None or key not in self.compiled:
            prepared = self._prepare(function)
            if key is None:
                return prepared
            self.compiled[key] = prepared
        return self.compiled[key]

    def _prepare(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self.name in ("torch-grad", "torch-cuda", "torch-device"):
            return function
        if self.name == "torch-vmap":
            import torch

            return torch.func.vmap(function)
        if self.name.startswith("torch"):
            import torch

            backend = "inductor" if self.name == "torch-inductor" else "aot_eager"
            return torch.compile(function, fullgraph=True, dynamic=False, backend=backend)
        import jax

        mapped = jax.vmap(function) if self.name.endswith("vmap") else function
        return jax.jit(mapped, compiler_options=XLA_DEFAULT)

    @contextlib.contextmanager
    def _jax(self) -> Iterator[None]:
        import jax

        with (
            jax_bits(float64=self.float64),
            jax.numpy_dtype_promotion("strict"),
            jax.numpy_rank_promotion("raise"),
        ):
            yield

    def score(self, stack: Any, specs: Any, dtype: Any = None, **options: Any) -> dict[str, np.ndarray]:
        """``matrics.score`` of a stack ``(B, n, n)`` along this road."""
        import matrics

        specs = (specs,) if isinstance(specs, str) else tuple(specs)
        key = (specs, tuple(sorted(options.items())))
        return self.apply(lambda cm: matrics.score(cm, specs, **options), stack, dtype, key=key)

    def let_go(self) -> None:
        """Forget what was compiled: graphs of the whole catalogue take hundreds of megabytes."""
        if self.compiled and self.name.startswith("jax"):
            import jax

            jax.clear_caches()
        if self.name in ("torch-compile", "torch-inductor"):
            import torch

            torch._dynamo.reset()
        self.compiled.clear()


@contextlib.contextmanager
def without_host() -> Iterator[None]:
    """Whatever is scored by NumPy's blocks raises."""
    from matrics._engine import evaluation

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("scored by the host")

    kept, evaluation.score_blocks = evaluation.score_blocks, refuse
    try:
        yield
    finally:
        evaluation.score_blocks = kept


@contextlib.contextmanager
def on_device() -> Iterator[None]:
    """Tensors of the CPU take the roads of those on a device, whose memory NumPy cannot read."""
    from matrics._arrays import torch as arrays

    def has_operator(self: Any, x: Any) -> bool:  # noqa: ARG001
        if arrays.torch.compiler.is_compiling():
            return True
        return arrays._transforms() is None and arrays._has_no_tangent(x)

    with _instead(arrays, "_is_elsewhere", lambda _: True), _instead(arrays.Torch, "has_operator", has_operator):
        yield


def on_device_of_jax() -> contextlib.AbstractContextManager[None]:
    """Concrete arrays of JAX on the CPU take the roads of those on a device."""
    from matrics._arrays import jax as arrays

    return _instead(arrays.Jax, "host_view", lambda *_: None)


def on_host() -> contextlib.AbstractContextManager[None]:
    """Inside ``on_device``: tensors of the CPU are those of the host again."""
    from matrics._arrays import torch as arrays

    return _instead(arrays, "_is_elsewhere", KEPT.get("_is_elsewhere", arrays._is_elsewhere))


KEPT: dict[str, Any] = {}


@contextlib.contextmanager
def _instead(owner: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    before = getattr(owner, name)
    KEPT.setdefault(name, before)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _map(function: Callable[[Any], Any], result: Any) -> Any:
    if isinstance(result, dict):
        return {name: _map(function, value) for name, value in result.items()}
    if isinstance(result, tuple):
        values = [_map(function, value) for value in result]
        return type(result)(*values) if hasattr(result, "_fields") else tuple(values)
    return function(result)


def make(name: str) -> Road:
    return Road(name, float64=not name.startswith("jax") or "x64" in name or "cuda" in name)


def installed() -> list[str]:
    """The roads whose library is there, of the backends that MATRICS_BACKEND asks for."""
    asked = os.environ.get("MATRICS_BACKEND", "all")
    if asked == "all":
        asked = "numpy,strict,torch,jax,jax-x64"
    backends = {"torch" if name == "torch-grad" else name for name in asked.split(",")}
    return [
        name
        for name, library in LIBRARY.items()
        if importlib.util.find_spec(library) is not None and _backend_of(name) in backends
    ]


def _backend_of(name: str) -> str:
    of_their_own = ("jax-x64", "jax-cuda", "torch-cuda", "torch-device")
    return next((backend for backend in of_their_own if name.startswith(backend)), name.partition("-")[0])


# Many questions at once -----------------------------------------------------------------------------------------------

BATCH = 64  # matrices in a stack of a compiled graph, which is made for one shape
# What an undefined measure may be worth, where it is to be told from all that is defined.
FILL = 0.2512345


@dataclass
class Graph:
    """A road for stacks of ``n`` classes in one dtype, and all that tests ask of them there.

    To compile is what costs, so that it is done once, of one function. Whole counts and others come in stacks of their
    own: XLA's code looks at the cells, and has a road for either.
    """

    road: Road
    n: int
    dtype: type
    specs: tuple[str, ...]
    zero_division: float = float("nan")

    @property
    def tolerance(self) -> dict[str, float]:
        return {"rtol": 1e-9, "atol": 1e-12} if self.dtype is np.float64 else {"rtol": 3e-4, "atol": 3e-5}

    def scores(self, stack: Any) -> dict[str, np.ndarray]:
        """All specs; what is undefined is NaN, whatever ``zero_division`` made of it."""
        found = self.filled(stack)
        if np.isnan(self.zero_division):
            return found
        fill = self.dtype(self.zero_division)
        return {name: np.where(values == fill, np.nan, values) for name, values in found.items()}

    def filled(self, stack: Any, *, mixed: bool = False) -> dict[str, np.ndarray]:
        """As the library returns it; ``mixed`` leaves whole counts and others in one stack."""
        stack = np.asarray(stack, dtype=self.dtype)
        assert stack.shape[1:] == (self.n, self.n)
        assert len(stack)
        whole = (np.equal(np.floor(stack), stack) & (stack >= 0) & (stack < 1e5)).all((1, 2))
        whole |= mixed
        asked = questions(self.n, self.specs, self.zero_division)
        found: dict[str, np.ndarray] = {}
        for places in (np.flatnonzero(whole), np.flatnonzero(~whole)):
            if len(places):
                for name, values in self._in_batches(asked, stack[places], "scores").items():
                    assert values.dtype == self.dtype, name
                    found.setdefault(name, np.empty((len(stack), *values.shape[1:]), self.dtype))[places] = values
        return found

    def transforms(self, stack: Any) -> dict[str, np.ndarray]:
        """What the library makes other matrices of, which may have any number of classes."""
        return self._in_batches(transforms, np.asarray(stack, dtype=self.dtype), "transforms")

    def _in_batches(self, function: Callable[[Any], Any], stack: np.ndarray, key: str) -> dict[str, np.ndarray]:
        if self.road.name in EAGER:
            return self.road.apply(function, stack)
        parts = []
        for start in range(0, len(stack), BATCH):
            part = stack[start : start + BATCH]
            full = np.concatenate([part, np.repeat(part[:1], BATCH - len(part), axis=0)])
            answer = self.road.apply(function, full, key=(key, self))
            parts.append({name: values[: len(part)] for name, values in answer.items()})
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def questions(n: int, specs: tuple[str, ...], zero_division: float) -> Callable[[Any], dict[str, Any]]:
    """All specs, the spectrum, and of two classes what the first is worth as the positive one."""
    import matrics
    from matrics._engine.evaluation import evaluate

    options: dict[str, Any] = {"invalid": "nan", "zero_division": zero_division}
    firsts = of_first() if n == 2 else {}
    if firsts:
        specs = (*specs, *(f"{name}:binary" for name in firsts))

    def asked(cm: Any) -> dict[str, Any]:
        found = matrics.score(cm, specs, **options)
        for matrix in ("B", "A") if n > 1 else ():  # of a single class test_roads.py asks by itself
            found[f"eigenvalues of {matrix}"] = matrics.study.eigenvalues(cm, matrix=matrix, invalid="nan")
        bounds = matrics.study.gershgorin_bounds(cm, invalid="nan")
        found |= {"lower": bounds.lower, "upper": bounds.upper, "valid_lower": bounds.valid_lower}
        if firsts:  # a call of each measure would compile a table of each
            found |= zip(firsts.values(), evaluate(cm, [bound(name) for name in firsts], **options), strict=True)
        return found

    def bound(name: str) -> Callable[[Any], Any]:
        return matrics.get_metric(name).bind(average="binary", positive=0)

    return asked


@functools.cache
def of_first() -> dict[str, str]:
    """What the class measures of two classes are called where the first is the positive one."""
    import test_vectors

    import matrics

    names = [name for name in test_vectors.BINARY.values() if matrics.get_metric(name).kind == "per_class"]
    return {name: f"{name} of 0" for name in names}


def transforms(cm: Any) -> dict[str, Any]:
    from matrics._study.sources.recompute import STEPS

    return {name: transform(cm) for name, transform in STEPS.items()}


class Comparison:
    """Holds values with references, counts them, and reports every miss at once."""

    def __init__(self, road: str) -> None:
        self.road, self.compared, self.misses = road, 0, []

    def hold(self, what: str, of: Any, ours: Any, wanted: Any, *, rtol: float, atol: float) -> None:
        """None and NaN among what is wanted are no references."""
        ours, wanted = np.asarray(ours, dtype=float), np.asarray(wanted, dtype=float)
        assert ours.shape == wanted.shape, (what, of)
        known = ~np.isnan(wanted)
        self.compared += int(np.sum(known))
        close = np.isclose(ours, wanted, rtol=rtol, atol=atol) | ~known
        if not close.all():
            at = np.unravel_index(np.argmax(~close), close.shape)
            place = list(map(int, at)) or ""
            found = f"{ours[at]!r} for {wanted[at]!r}"
            self.misses.append((int(np.sum(~close)), f"{what}{place} of {of}: {found}"))

    def settle(self, least: int, record: Callable[[str, Any], None]) -> None:
        """Fail for a miss, and if there was too little to miss; the table at the end of a run has both counts."""
        missed = sum(count for count, _ in self.misses)
        record("numbers", [self.road, self.compared, missed])
        assert not self.misses, "\n".join(
            [f"{missed} of {self.compared} on {self.road}:", *(m for _, m in self.misses)]
        )
        assert self.compared >= least, self.compared


class Asked:
    """Questions of single matrices, written one at a time and answered a stack at a time.

    The tests of a paper say of each printed number from which matrix, by which steps, it is to come. They are run
    twice: once to hear what they ask, and again with the answers.
    """

    def __init__(self) -> None:
        self.questions: dict[tuple[Any, ...], Any] = {}
        self.answered = False
        self.dtype: type | None = None  # of the answers

    def __call__(self, matrix: Any, steps: Iterable[Step], spec: str, place: int | None = None) -> float:
        """What a spec is of the matrix that the steps make: NaN before the answers, KeyError without one."""
        matrix = np.asarray(matrix, dtype=float)
        question = (matrix.tobytes(), len(matrix), tuple(steps), spec)
        if not self.answered:
            return float(self.questions.setdefault(question, np.nan))
        values = self.questions[question]
        return float(values if place is None else values[place])

    def answer(self, graph_of: Callable[[int], Graph | None]) -> None:
        """Answer on the graph of each size of what is to be scored in the end; None leaves these open."""
        start = {question: np.frombuffer(question[0]).reshape(question[1], -1) for question in self.questions}
        graphs: dict[int, list[Any]] = {}
        answers: dict[tuple[Any, ...], Any] = {}
        for question in start:
            graphs.setdefault(_classes(question), []).append(question)
        for n, questions in graphs.items():
            graph = graph_of(n)
            if graph is None:
                continue
            self.dtype = graph.dtype
            matrices = {question: start[question] for question in questions}
            for depth in range(max(len(question[2]) for question in questions)):
                self._step(graph, matrices, depth)
            scores = graph.scores(np.stack(list(matrices.values())))
            for place, question in enumerate(matrices):
                answers[question] = scores[question[3]][place]
        self.questions, self.answered = answers, True

    def _step(self, graph: Graph, matrices: dict[Any, np.ndarray], depth: int) -> None:
        by_size: dict[int, list[Any]] = {}
        for question, matrix in matrices.items():
            if len(question[2]) > depth:
                by_size.setdefault(len(matrix), []).append(question)
        for questions in by_size.values():
            moved = graph.transforms(np.stack([matrices[question] for question in questions]))
            for place, question in enumerate(questions):
                step = question[2][depth]
                name, choice = step if isinstance(step, tuple) else (step, ...)
                matrices[question] = moved[name][place][choice]


def answers(
    records: Iterable[Any], value_of: Callable[[Any, Asked], float], graph_of: Callable[[int], Graph | None]
) -> Iterator[tuple[Any, float, type | None]]:
    """Each record whose matrix has a size for which there is a graph, with its value and the dtype of that."""
    ask, records = Asked(), list(records)
    for record in records:
        value_of(record, ask)
    ask.answer(graph_of)
    for record in records:
        with contextlib.suppress(KeyError):  # of another size
            yield record, value_of(record, ask), ask.dtype


def _classes(question: tuple[Any, ...]) -> int:
    """How many classes the last of the steps leaves."""
    names = {step[0] if isinstance(step, tuple) else step for step in question[2]}
    return 2 if names & {"pair_counts", "one_vs_rest"} else question[1]


# What a graph is made of ----------------------------------------------------------------------------------------------


@functools.cache
def referenced() -> tuple[str, ...]:
    """The measures that have references: the oracle's, the sources', and those of exact fractions."""
    import test_numbers
    import test_vectors

    import matrics

    oracle = [*test_vectors.MEASURES.values(), *test_vectors.PER_CLASS.values()]
    oracle += [name for name in test_vectors.BINARY.values() if matrics.get_metric(name).kind == "overall"]
    return tuple(dict.fromkeys([*oracle, *test_numbers.exact([[1, 2], [3, 4]])]))


@functools.cache
def formulas() -> tuple[str, ...]:
    """Those, and every formula of the catalogue with all its options."""
    import test_catalogue

    return tuple(dict.fromkeys([*referenced(), *test_catalogue.FORMULAS]))
