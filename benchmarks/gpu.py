"""What a GPU does: correctness first, then speed, then a profile; each stage prints as it goes and may be stopped.

    python benchmarks/gpu.py --stage correct    # 6 minutes: the tests of the backends of a GPU
    python benchmarks/gpu.py --stage speed      # 5 minutes: tables in Markdown, for docs/speed.md
    python benchmarks/gpu.py --stage profile    # 2 minutes: names and times of kernels
    python benchmarks/gpu.py --stage tune       # 1 minute: sizes of tiles and programs of the kernels

It needs a CUDA device, a build of PyTorch for it with Triton, torchmetrics and pytest; with a build of JAX for CUDA and
with torchvision there are more rows. ``--only TABLE`` prints some tables of the speed stage, ``--small`` uses small
stacks, and ``--device cpu`` tries the stage on a machine without a GPU. The exit code is 1 if a test fails.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import machine, print_machine  # (beside this file, as are the next two)
from rivals import PANEL, plain_panel
from timing import Time

import matrics
from matrics._arrays.torch import TORCH
from matrics._engine.eigenvalues import bisection, operator
from matrics.torch import ConfusionMetric, ScoreMetric

ROOT = Path(__file__).parents[1]
# Backends of the tests, with their parts of the time and their tests: all, or those of losses, which ask for gradients.
STAGES = (
    ("torch-cuda-grad", 0.15, ("--exhaustive", "tests/test_losses.py")),
    ("torch-cuda", 0.5, ("--exhaustive", "tests")),
    ("jax-cuda", 0.35, ("tests",)),
)
MATRICES, SMALL = 1_000_000, 5_000

Row = Sequence[object]
Call = Callable[[], object]


# Correct --------------------------------------------------------------------------------------------------------------


def tests_pass(seconds: int) -> bool:
    """Whether the tests of all backends pass, each in its part of the time."""
    passed = True
    for backend, share, chosen in STAGES:
        if find_spec(backend.partition("-")[0]) is None:
            continue
        environment = os.environ | {"MATRICS_BACKEND": backend, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        environment["XLA_FLAGS"] = ""  # those of the tests are for compiling on the CPU
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "logical",
            "--dist",
            "worksteal",
            "-p",
            "no:cacheprovider",
        ]
        command += ["-W", "default", "--disable-warnings", "-k", "cuda or gpu", "--show-capture=no", "--tb=short"]
        print(f"\n## Tests on {backend}", flush=True)
        begin = time.perf_counter()
        with subprocess.Popen([*command, *chosen], cwd=ROOT, env=environment) as process:  # noqa: S603
            try:
                passed &= process.wait(seconds * share) == 0
            except subprocess.TimeoutExpired:
                passed = False
                print("stopped: the time is up", flush=True)
                process.send_signal(signal.SIGINT)  # and pytest says what has failed
        print(f"{time.perf_counter() - begin:.0f} s", flush=True)
    return passed


# Times ----------------------------------------------------------------------------------------------------------------


def print_table(title: str, heads: Sequence[str], rows: Iterator[Row]) -> None:
    """One table in Markdown, a row at a time."""
    print(f"\n### {title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def milliseconds(call: Call, device: torch.device, runs: int = 7) -> Time:
    """Of one call: between events of the device, after two calls that warm up."""
    for _ in range(2):
        call()
    if device.type != "cuda":
        taken = []
        for _ in range(runs):
            begin = time.perf_counter()
            call()
            taken.append((time.perf_counter() - begin) * 1e3)
        return Time.of(taken)
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
    torch.cuda.synchronize()
    for begin, end in events:
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return Time.of([begin.elapsed_time(end) for begin, end in events])


def microseconds_in_turn(call: Call, device: torch.device, calls: int = 200) -> float:
    """Of one of many calls after each other, until the device is done with all."""

    def done() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    taken = []
    for _ in range(4):
        done()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        done()
        taken.append((time.perf_counter() - begin) / calls * 1e6)
    return min(taken)


def text(taken: Time | None) -> str:
    return "" if taken is None else f"{taken:.3g}"


def stack_of(n: int, dtype: str, matrices: int, device: torch.device) -> torch.Tensor:
    draw = torch.Generator(device).manual_seed(n)
    return torch.randint(1, 100, (matrices, n, n), generator=draw, device=device).to(getattr(torch, dtype))


def panels(device: torch.device, matrices: int) -> Iterator[Row]:
    """Six measures of a stack: those of backends.py."""

    def ours(cm: Any) -> Any:
        return matrics.score(cm, PANEL)

    for n, dtype in itertools.product((2, 3, 5, 10), ("float32", "float64")):
        cm = stack_of(n, dtype, matrices, device)
        torch._dynamo.reset()
        by_hand = partial(plain_panel, xp=torch)
        compiled, compiled_by_hand = torch.compile(ours, fullgraph=True), torch.compile(by_hand, fullgraph=True)
        read, *others = (
            milliseconds(partial(call, cm), device) for call in (torch.sum, by_hand, ours, compiled_by_hand, compiled)
        )
        in_jax = jax_panel(cm) if has_jax(device) else None
        times = f"{others[1] / read:.1f}×", f"{others[3] / read:.2f}×"
        yield n, dtype, text(read), *map(text, others), text(in_jax), *times


def has_jax(device: torch.device) -> bool:
    if find_spec("jax") is None:
        return False
    import jax

    return jax.default_backend() == ("gpu" if device.type == "cuda" else "cpu")


def jax_milliseconds(call: Callable[[Any], Any], x: Any) -> Time:
    import jax

    compiled = jax.jit(call)
    taken = []
    for _ in range(7):
        begin = time.perf_counter()
        jax.block_until_ready(compiled(x))
        taken.append((time.perf_counter() - begin) * 1e3)
    return Time.of(taken[2:])


def jax_panel(cm: torch.Tensor) -> Time:
    import jax.numpy as jnp

    return jax_milliseconds(lambda x: matrics.score(x, PANEL), jnp.asarray(cm.cpu().numpy()))


def eigenvalues(device: torch.device, matrices: int) -> Iterator[Row]:
    """Nanoseconds for each matrix: PyTorch's solver, array operations, the operator, and EVE."""
    for n, dtype in itertools.product((3, 4, 5, 10, 20, 32), ("float64", "float32")):
        count = min(matrices, MATRICES * 100 // n**2)
        cm = stack_of(n, dtype, count, device)
        rates = cm / cm.sum(-1, keepdim=True)
        symmetric = (rates + rates.mT) / 2
        few = symmetric[:512]  # PyTorch's solver takes them one by one
        if n > 3:
            cells = symmetric.permute(1, 2, 0)
            found = operator.eigenvalues(cells)[:, :1000].T.cpu().numpy()
            expected = np.linalg.eigvalsh(symmetric[:1000].double().cpu().numpy())
            apart = f"{np.abs(found - expected).max():.1e}"
            ours: Time | None = milliseconds(partial(operator.eigenvalues, cells), device, 5) / count * 1e6
            some = symmetric[: count // 50]
            arrays: Time | None = milliseconds(partial(bisection.eigenvalues, TORCH, some), device, 3) / len(some) * 1e6
        else:
            apart, ours, arrays = "", None, None
        solver = milliseconds(partial(torch.linalg.eigvalsh, few), device, 3) / len(few) * 1e6
        read = milliseconds(partial(torch.sum, symmetric), device) / count * 1e6
        eve = milliseconds(partial(matrics.eve, cm), device) / count * 1e6
        compiled = None
        if dtype == "float64" and n in (3, 5, 10):
            torch._dynamo.reset()
            compiled = milliseconds(partial(torch.compile(matrics.eve, fullgraph=True), cm), device) / count * 1e6
        ratio = f"{solver / (ours or eve):.0f}×"
        yield n, dtype, *map(text, (read, solver, arrays, ours, eve, compiled)), ratio, apart


def jax_eigenvalues(device: torch.device, matrices: int) -> Iterator[Row]:
    """Nanoseconds for each matrix: JAX's solver, and bisection in array operations."""
    if not has_jax(device):
        return
    import jax
    import jax.numpy as jnp

    from matrics._arrays.jax import Jax

    class Looped(Jax):
        """A loop in place of all its steps, which take minutes to compile."""

        def repeated(self, number: int, step: Callable[..., Any], state: Any) -> Any:
            return jax.lax.fori_loop(0, number, lambda _, state: step(*state), state)

    by_bisection = partial(bisection.eigenvalues, Looped(jnp))
    for n, dtype in itertools.product((4, 5, 10, 20, 32), ("float64", "float32")):
        count = min(matrices, MATRICES * 20 // n**2)
        x = jnp.asarray(stack_of(n, dtype, count, torch.device("cpu")).numpy())
        x = (x + jnp.matrix_transpose(x)) / 200 / n
        few = x[: max(count // 20, 1)]
        begin = time.perf_counter()
        jax.block_until_ready(jax.jit(by_bisection)(x))
        compiling = time.perf_counter() - begin
        theirs = jax_milliseconds(jnp.linalg.eigvalsh, few) / len(few) * 1e6
        ours = jax_milliseconds(by_bisection, x) / count * 1e6
        yield n, dtype, text(theirs), text(ours), f"{theirs / ours:.1f}×", f"{compiling:.1f}"


def counting(device: torch.device, matrices: int) -> Iterator[Row]:
    """Microseconds of one call: candidates, our functions, and torchmetrics."""
    from torchmetrics.functional.classification import multiclass_confusion_matrix

    sizes = (65_536, 16 * 2**20) if matrices == MATRICES else (65_536,)
    for size, n in itertools.product(sizes, (2, 10, 30, 100, 1000)):
        draw = torch.Generator(device).manual_seed(n)
        true = torch.randint(0, n, (size,), generator=draw, device=device)
        wrong = torch.rand((size,), generator=draw, device=device) < 0.1
        pred = torch.where(wrong, torch.randint(0, n, (size,), generator=draw, device=device), true)
        metric = ConfusionMetric(n, "accuracy").to(device)
        cells = torch.zeros(n * n, dtype=torch.int64, device=device)
        ones = torch.ones(1, dtype=torch.int64, device=device).expand(size)

        def scattered(true: Any = true, pred: Any = pred, n: int = n, cells: Any = cells, ones: Any = ones) -> Any:
            return cells.scatter_add_(0, true * n + pred, ones)

        def indexed(true: Any = true, pred: Any = pred, n: int = n, cells: Any = cells, ones: Any = ones) -> Any:
            return cells.index_add_(0, true * n + pred, ones)

        def one_hot(true: Any, pred: Any, n: int = n) -> Any:
            return ((true * n + pred)[:, None] == torch.arange(n * n, device=true.device)).sum(0)

        def by_hand(true: Any = true, pred: Any = pred, n: int = n) -> Any:
            return torch.bincount(true * n + pred, minlength=n * n).view(n, n)

        found = matrics.confusion_matrix(true, pred, num_classes=n)
        assert torch.equal(found, by_hand()), "counts differ"
        torch._dynamo.reset()
        hot = partial(torch.compile(one_hot), true, pred) if n == 2 else None
        calls: tuple[Call | None, ...] = (
            lambda true=true, pred=pred: (true.sum(), pred.sum()),
            scattered,
            indexed,
            by_hand,
            hot,
            partial(matrics.confusion_matrix, true, pred, num_classes=n),
            partial(metric.update, true, pred),
            partial(multiclass_confusion_matrix, pred, true, n, validate_args=False),
        )
        read, *others = (None if call is None else milliseconds(call, device) * 1e3 for call in calls)
        yield f"{size:,}", n, text(read), *map(text, others), f"{others[5] / read:.2f}×"


def collection(n: int) -> Any:
    """torchmetrics' measures of a training step."""
    import torchmetrics.classification as rival
    from torchmetrics import MetricCollection

    options = {"num_classes": n, "validate_args": False}
    return MetricCollection(
        {
            "accuracy": rival.MulticlassAccuracy(average="micro", **options),
            "f1": rival.MulticlassF1Score(average="macro", **options),
            "mcc": rival.MulticlassMatthewsCorrCoef(**options),
            "kappa": rival.MulticlassCohenKappa(**options),
        }
    )


def training(device: torch.device, matrices: int) -> Iterator[Row]:
    """Milliseconds of a training step of ResNet-18 with metrics, and microseconds of their updates alone."""
    n, size, side = (1000, 256, 224) if matrices == MATRICES else (10, 8, 32)
    if find_spec("torchvision"):
        from torchvision.models import resnet18

        model = resnet18(num_classes=n).to(device).to(memory_format=torch.channels_last)
    else:
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3, 2), torch.nn.Flatten(), torch.nn.LazyLinear(n)).to(device)
    images = torch.randn((size, 3, side, side), device=device).to(memory_format=torch.channels_last)
    labels = torch.randint(0, n, (size,), device=device)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step(*updates: Callable[[Any, Any], object]) -> None:
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            logits = model(images)
            loss = torch.nn.functional.cross_entropy(logits, labels)
        loss.backward()
        optimizer.step()
        for update in updates:
            update(labels, logits.detach())

    confusion = ConfusionMetric(n, ["accuracy", "f1", "mcc", "cohen_kappa"]).to(device)
    scores = ScoreMetric(n, ["roc_auc", "ece"], from_logits=True).to(device)
    theirs = collection(n).to(device)
    logits = torch.randn((size, n), device=device)
    theirs.update(logits, labels)

    def by_torchmetrics(true: Any, logits: Any) -> None:
        theirs.update(logits, true)

    rows: dict[str, tuple[Callable[[Any, Any], object], ...]] = {
        "no metric": (),
        "ConfusionMetric": (confusion.update,),
        "ScoreMetric": (scores.update,),
        "torchmetrics": (by_torchmetrics,),
    }
    runs = {name: [] for name in rows}
    for _ in range(3):
        for name, updates in rows.items():
            runs[name].append(float(milliseconds(partial(step, *updates), device, 5)))
    base = statistics.median(runs["no metric"])
    for name, updates in rows.items():
        took = statistics.median(runs[name])
        alone = microseconds_in_turn(partial(updates[0], labels, logits), device, 50) if updates else 0.0
        yield name, f"{took:.3f}", f"{(took / base - 1) * 100:+.2f} %", f"{alone:.0f}", f"{alone / base / 10:.2f} %"


def computing(device: torch.device, matrices: int) -> Iterator[Row]:  # noqa: ARG001 (as the others)
    """Microseconds of ``compute``: plainly, as one graph, compiled; and torchmetrics."""
    for n in (10, 100):
        labels, logits = torch.randint(0, n, (1000,), device=device), torch.randn((1000, n), device=device)
        plain, graph = ConfusionMetric(n).to(device), ConfusionMetric(n, cuda_graph=True).to(device)
        four = ConfusionMetric(n, ["accuracy", "f1", "mcc", "cohen_kappa"]).to(device)
        theirs = collection(n).to(device)
        for metric in (plain, graph, four):
            metric.update(labels, logits)
        theirs.update(logits, labels)
        torch._dynamo.reset()
        compiled = torch.compile(plain.compute, fullgraph=True) if n < 100 else None  # which takes a minute
        before = torch.cuda.memory_reserved() if device.type == "cuda" else 0
        for key, value in graph.compute().items():
            torch.testing.assert_close(value, plain.compute()[key], equal_nan=True)
        memory = ((torch.cuda.memory_reserved() if device.type == "cuda" else 0) - before) / 2**20
        calls = (plain.compute, graph.compute, compiled, four.compute)
        taken = ["" if call is None else f"{microseconds_in_turn(call, device, 20):.0f}" for call in calls]

        def theirs_again(theirs: Any = theirs) -> None:
            for metric in theirs.values():
                metric._computed = None  # which it keeps
            theirs.compute()

        yield n, len(plain.compute()), *taken, f"{microseconds_in_turn(theirs_again, device, 20):.0f}", f"{memory:.0f}"


def blocks(device: torch.device, matrices: int) -> Iterator[Row]:
    """Gigabytes a second of stacks in the memory of the host, and of copying them alone."""
    size = 2**30 if matrices == MATRICES else 2**24
    pinned = torch.empty(min(size, 2**28), dtype=torch.uint8, pin_memory=device.type == "cuda")
    there = torch.empty_like(pinned, device=device)
    copied = milliseconds(partial(there.copy_, pinned, non_blocking=True), device)
    for n, dtype, specs in (
        *((n, dtype, PANEL) for n, dtype in itertools.product((3, 10), ("float64", "uint8"))),
        *((n, "float64", ["eve"]) for n in (3, 10)),
    ):
        stack = np.random.default_rng(n).integers(1, 100, (2**12, n, n)).astype(dtype)
        stack = np.tile(stack, (size // stack.nbytes, 1, 1))
        score = partial(matrics.score_blocks, stack, specs)
        calls: list[Call | None] = [
            partial(torch.from_numpy(stack).to, device),
            partial(score, device=device),
            partial(score, device=device, workers=4),
            partial(score, device=device, workers=-1),
            None,
            partial(score, device=None, workers=-1),
        ]
        if has_jax(device):
            import jax

            calls[4] = partial(score, device=jax.devices()[0])
        rates = ["" if call is None else f"{stack.nbytes / seconds(call) / 1e9:.2f}" for call in calls]
        yield (
            n,
            dtype,
            " ".join(specs) if len(specs) == 1 else len(specs),
            f"{pinned.nbytes / copied / 1e6:.1f}",
            *rates,
        )


def seconds(call: Call) -> float:
    """The least of two calls."""
    taken = []
    for _ in range(2):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return min(taken)


TABLES: dict[str, tuple[str, tuple[str, ...], Callable[[torch.device, int], Iterator[Row]]]] = {
    "counting": (
        "Counting pairs of labels, µs; 90 % of the predictions are right",
        (
            "labels",
            "classes",
            "one read",
            "`scatter_add_`",
            "`index_add_`",
            "`bincount`",
            "one-hot, compiled",
            "`confusion_matrix`",
            "`ConfusionMetric.update`",
            "torchmetrics",
            "`update` beside one read",
        ),
        counting,
    ),
    "eigenvalues": (
        "Eigenvalues, ns a matrix",
        (
            "n",
            "dtype",
            "one read",
            "`torch.linalg.eigvalsh`",
            "array operations",
            "kernels",
            "EVE",
            "EVE compiled",
            "times as fast as `eigvalsh`",
            "largest error",
        ),
        eigenvalues,
    ),
    "training": (
        "A training step of ResNet-18, batch 256, bfloat16",
        ("metric", "step, ms", "more", "update alone, µs", "of the step"),
        training,
    ),
    "compute": (
        "`ConfusionMetric.compute`, µs",
        (
            "classes",
            "values of `core`",
            "plain",
            "`cuda_graph=True`",
            "compiled",
            "four measures",
            "torchmetrics, four",
            "memory of the graph, MiB",
        ),
        computing,
    ),
    "panels": (
        "Six measures of a million matrices, ms",
        (
            "n",
            "dtype",
            "one read",
            "by hand",
            "ours",
            "by hand, compiled",
            "ours, compiled",
            "ours, `jax.jit`",
            "ours beside one read",
            "compiled beside one read",
        ),
        panels,
    ),
    "blocks": (
        "`score_blocks` of a stack on the host, GB/s",
        (
            "n",
            "dtype",
            "measures",
            "a copy of pinned memory",
            "a copy of the stack",
            "PyTorch's device, one worker",
            "four workers",
            "all workers",
            "JAX's device",
            "the host, all workers",
        ),
        blocks,
    ),
    "jax": (
        "Eigenvalues under `jax.jit`, ns a matrix",
        ("n", "dtype", "`jnp.linalg.eigvalsh`", "array operations", "times as fast", "compiling, s"),
        jax_eigenvalues,
    ),
}


# Profile and tuning ---------------------------------------------------------------------------------------------------


def profile(device: torch.device, matrices: int) -> None:
    """Kernels of one call each."""
    cm = stack_of(10, "float64", matrices, device)
    labels = torch.randint(0, 10, (2**20,), device=device)
    metric = ConfusionMetric(10).to(device)
    compiled = torch.compile(lambda cm: matrics.score(cm, PANEL), fullgraph=True)
    calls: dict[str, Call] = {
        "six measures, compiled": partial(compiled, cm),
        "six measures": partial(matrics.score, cm, PANEL),
        "EVE": partial(matrics.eve, cm),
        "update": partial(metric.update, labels, labels),
    }
    for name, call in calls.items():
        for _ in range(2):
            call()
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as found:
            call()
            if device.type == "cuda":
                torch.cuda.synchronize()
        sort = "self_cuda_time_total" if device.type == "cuda" else "self_cpu_time_total"
        print(f"\n### {name}\n\n{found.key_averages().table(sort_by=sort, row_limit=12, max_name_column_width=60)}")


def tune(device: torch.device, matrices: int) -> None:
    """Sizes of the kernels for eigenvalues and counts."""
    from matrics._counting import triton as counts
    from matrics._engine.eigenvalues import triton

    for n, dtype in itertools.product((5, 10, 20), ("float64", "float32")):
        x = stack_of(n, dtype, matrices * 25 // n**2, device)
        cells = ((x + x.mT) / 200 / n).permute(1, 2, 0)
        found = []
        for triton.TILE, triton.LANES in itertools.product((512, 1024, 2048), (64, 128, 256)):
            taken = milliseconds(partial(triton.eigenvalues, cells), device, 3)
            found.append(f"{taken:.2f} ms {triton.TILE, triton.LANES}")
        print(f"eigenvalues of {len(x):,}, n = {n}, {dtype}:", *sorted(found), sep="\n    ", flush=True)
    for n in (10, 30, 100, 1000):
        true = torch.randint(0, n, (16 * 2**20,), device=device)
        total = torch.zeros((n + 2) ** 2, dtype=torch.int64, device=device)
        found = []
        for counts.SAMPLES, counts.PROGRAMS, counts.COPIES in itertools.product(
            (1024, 2048, 4096), (528, 1056, 2112), (1, 4, 16, 64) if n > 30 else (1,)
        ):
            taken = milliseconds(partial(counts.launch, total, true, true, None, n), device, 3)
            found.append(f"{taken:.3f} ms {counts.SAMPLES, counts.PROGRAMS, counts.COPIES}")
        print(f"16 million labels, {n} classes:", *sorted(found)[:5], sep="\n    ", flush=True)


def main() -> int:
    """Run one stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", choices=("correct", "speed", "profile", "tune"), required=True)
    parser.add_argument("--only", choices=tuple(TABLES), nargs="+", help="some tables of the speed stage")
    parser.add_argument("--small", action="store_true", help="small stacks")
    parser.add_argument("--seconds", type=int, default=360, help="for the tests of the stage correct")
    parser.add_argument("--device", type=torch.device, default="cuda", help="PyTorch's")
    options = parser.parse_args()
    if options.device.type != "cpu" and not torch.cuda.is_available():
        print("benchmarks/gpu.py needs a CUDA device and a build of PyTorch that finds it.", file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore", module="torch|torchmetrics")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the GPU's memory
    if find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
    print_machine(machine())
    if options.device.type == "cuda":
        print(f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}\n", flush=True)
    matrices = SMALL if options.small else MATRICES
    if options.stage == "correct":
        return int(not tests_pass(options.seconds))
    if options.stage == "profile":
        profile(options.device, matrices)
    if options.stage == "tune":
        tune(options.device, matrices)
    for name, (title, heads, rows) in TABLES.items() if options.stage == "speed" else ():
        if options.only is None or name in options.only:
            with torch.enable_grad() if name == "training" else torch.no_grad():
                print_table(title, heads, rows(options.device, matrices))
    return 0


if __name__ == "__main__":
    sys.exit(main())
