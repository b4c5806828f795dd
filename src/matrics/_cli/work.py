"""The output of a command and, with ``--resume``, what an earlier run has left of it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import matrics
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from matrics._files.outputs.destination import Destination
    from matrics._files.outputs.unfinished import Unfinished

# Options that change no byte of an output. All others may, and must be the same when ``--resume`` continues a run.
CHANGE_NOTHING = {"path", "paths", "output", "format_", "resume", "workers", "progress", "disparity"}


def open_work(
    context: Any, path: Path, output: str | None, *, resume: bool
) -> AbstractContextManager[Unfinished | None]:
    """Open the output of a command with these options; None is the screen."""
    if output is None:
        if resume:
            raise ValueError("--resume: expected --output FILE with it, got none")
        return contextlib.nullcontext()
    from matrics._files.outputs.destination import check_output

    return open_destination(context, [path], check_output(output, path), resume=resume)


def open_destination(
    context: Any, paths: Sequence[Path], destination: Destination, *, resume: bool
) -> AbstractContextManager[Unfinished]:
    """An output with a name that can be written, made of these inputs."""
    import numpy as np
    import pyarrow as pa

    from matrics._files.outputs.question import Question, inputs_of
    from matrics._files.outputs.unfinished import unfinished_output
    from matrics._files.text import STDIN

    stream = next((path for path in paths if _is_stream(path)), None)
    if resume and stream is not None:
        got = "standard input" if stream == STDIN else f"the pipe {quoted(str(stream))}"
        raise ValueError(f"--resume: expected a file that can be read again, got {got}")
    options = {
        f"--{name.replace('_', '-')}": value for name, value in context.params.items() if name not in CHANGE_NOTHING
    }
    versions = {"matrics": matrics.__version__, "numpy": np.__version__, "pyarrow": pa.__version__}
    backend = context.params.get("backend", "numpy")
    if backend in ("torch", "jax"):
        from importlib.metadata import version

        with contextlib.suppress(ImportError):  # the command itself reports that the library is missing
            versions[backend] = version(backend)
    inputs = () if stream is not None else tuple(one for path in paths for one in inputs_of(path))
    question = Question(versions, {"the command": context.info_name, **options}, inputs)
    return unfinished_output(destination, question, resume=resume)


def _is_stream(path: Path) -> bool:
    """Whether the input can be read only once."""
    from matrics._files.text import STDIN

    return path == STDIN or (path.exists() and not path.is_file() and not path.is_dir())
