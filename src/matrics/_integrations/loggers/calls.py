"""The public functions: ``log_to`` for numbers, ``log_confusion_matrix`` for the picture of a confusion matrix."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from matrics._integrations.loggers.destinations import destination_of
from matrics._integrations.loggers.values import named_numbers
from matrics._quoting import quoted
from matrics.typing import ArrayLike


def log_to(
    writer: Any,
    scores: Mapping[str, Any],
    step: int,
    *,
    prefix: str = "",
    class_names: Sequence[str] | None = None,
    run_id: str | None = None,
) -> None:
    """Log scores at a step of a training run, with a separate name for each class.

    Parameters
    ----------
    writer : SummaryWriter, wandb.Run, mlflow, path, or open text file
        The destination of the scores:

        - TensorBoard: a ``SummaryWriter`` of ``torch.utils.tensorboard`` or of ``tensorboardX``;
        - Weights & Biases: a run, or the module ``wandb`` for the current run;
        - MLflow: the module ``mlflow`` for the active run, a run, or a client together with ``run_id``;
        - a path that ends in ``.csv`` or ``.jsonl``: lines are appended to the file, which is made with its folders if
          it does not exist. A text file that is open for writing works as well; a file without a name, such as
          ``sys.stdout``, gets JSON lines.
    scores : mapping of str to array_like
        The scores of a single matrix, as from :func:`matrics.score`, :func:`matrics.interval`, ``compute()`` or
        ``log_dict()``: numbers or arrays of shape (), and (n,) under a name such as ``"recall:class"``. A tuple
        with ``low`` and ``high``, such as :class:`matrics.Interval`, is logged as its first value and both limits.
        Other numbers, such as a loss, are allowed. All arrays are copied from a device in a single transfer.
    step : int
        The step or epoch.
    prefix : str, default ""
        Prefix of the names: ``"val/"`` is put before each name unchanged.
    class_names : sequence of str, optional
        Names of all classes, in place of their numbers.
    run_id : str, optional
        The run of a writer that is an ``MlflowClient``.

    Raises
    ------
    TypeError
        The type of the writer is not supported, ``scores`` is not a mapping of numbers, or they are traced (inside
        ``jax.jit``).
    ValueError
        A score has the shape of a stack; two scores have the same name, or get the same name because the logger does
        not allow some characters; or a CSV file has other columns. In these cases no score is written.

    Warns
    -----
    RuntimeWarning
        The last line of a file was incomplete, as after a killed process, and has been removed.

    Notes
    -----
    Values are named ``mcc``, ``recall/cat`` and, of an interval, ``mcc``, ``mcc/low``, ``mcc/high``.
    Dashboards get the keys unchanged. In files, which outlive the code that wrote them, the name of a class measure
    includes the class or the average: ``recall, macro``, ``recall of fraud``; so a run with another positive class has
    another column. Undefined values are NaN in TensorBoard, Weights & Biases, MLflow and CSV; in JSON lines they are
    null, and so are infinite values, because JSON has neither.

    Examples
    --------
    >>> import matrics, sys
    >>> from matrics.loggers import log_to
    >>> scores = matrics.score([[3, 1], [0, 4]], ["accuracy", "recall:class"])
    >>> log_to(sys.stdout, scores, step=1, prefix="val/", class_names=["cat", "dog"])
    {"step": 1, "val/accuracy": 0.875, "val/recall/cat": 0.75, "val/recall/dog": 1.0}
    """
    destination = destination_of(writer, run_id)
    destination.write(named_numbers(scores, prefix, class_names), _step(step))


def log_confusion_matrix(
    writer: Any,
    cm: ArrayLike,
    step: int,
    *,
    every: int = 1,
    prefix: str = "",
    class_names: Sequence[str] | None = None,
    run_id: str | None = None,
) -> None:
    """Log a confusion matrix at a step of a training run as the picture of :func:`matrics.plot.confusion_matrix`.

    Parameters
    ----------
    writer : SummaryWriter, wandb.Run or mlflow
        The destination of the picture: a ``SummaryWriter`` of ``torch.utils.tensorboard`` or of ``tensorboardX``; a run
        of Weights & Biases, or the module ``wandb`` for the current run; the module ``mlflow`` for the active run, a
        run, or a client together with ``run_id``. Not a file.
    cm : array_like, shape (n, n)
        Counts or soft counts of a single matrix; rows are true classes.
    step : int
        The step or epoch.
    every : int, default 1
        Draw only if the step is a multiple of this number: ``every=5`` logs epochs 0, 5, 10, … Other steps read nothing
        from the device.
    prefix : str, default ""
        Prefix of the name: ``"val/"`` is put before ``confusion_matrix``.
    class_names : sequence of str, optional
        Names of all classes, in place of their numbers.
    run_id : str, optional
        The run of a writer that is an ``MlflowClient``.

    Raises
    ------
    TypeError
        The writer does not accept pictures.
    ValueError
        ``every`` is not a positive integer.
    ImportError
        Matplotlib is not installed.

    Examples
    --------
    >>> from matrics.loggers import log_confusion_matrix
    >>> log_confusion_matrix("run.csv", [[3, 1], [0, 4]], step=1)
    Traceback (most recent call last):
      ...
    TypeError: writer: expected a logger that accepts pictures, got a file: save the picture in its own file by ...
    """
    destination = destination_of(writer, run_id)
    destination.check_pictures()
    at = _step(step)
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"every: expected a number of steps, 1 or more, got {quoted(every)}")
    if at % every:
        return
    from matrics._integrations.loggers.pictures import pixels_of_matrix

    destination.show(f"{prefix}confusion_matrix", pixels_of_matrix(cm, class_names), at)


def _step(step: Any) -> int:
    if isinstance(step, bool):
        raise TypeError(f"step: expected an integer, got {quoted(step)}")
    try:
        return operator.index(step)
    except TypeError as error:
        raise TypeError(f"step: expected an integer, got {quoted(step)}") from error
