"""confusion_matrix(): a matrix of all samples, from the labels of a judge for all and of people for some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._judged.counts import JudgedCounts
from matrics._judged.inverse import inverse_of_judge
from matrics._judged.strata import identity, strata_of
from matrics._quoting import quoted

Correction = Literal["auto", "post_stratified", "tuned", "rogan_gladen", "labelled", "judge"]
Design = Literal["random", "strata"]


def confusion_matrix(counts: JudgedCounts, *, method: Correction = "auto", design: Design = "random") -> Array:
    r"""The confusion matrix of all samples, which a judge and, in part, people have labelled.

    Parameters
    ----------
    counts : JudgedCounts
        From :func:`matrics.judged.count`.
    method : {"auto", "post_stratified", "tuned", "rogan_gladen", "labelled", "judge"}
        How the judge's errors are corrected; see the notes.
    design : {"random", "strata"}
        How the samples with true labels were chosen: at random from all samples; or at random from those with the
        same judge's label and prediction, with any share of each. The second is for ``"auto"`` and
        ``"post_stratified"``.

    Returns
    -------
    array of floating numbers, shape (*B, n, n)
        Expected counts: rows are true classes, columns predicted classes. They add up to the number of all samples;
        with ``"labelled"``, of the samples with a true label, and with ``"judge"``, of the samples with a judge's
        label. NaN where the counts are invalid or insufficient.

    Raises
    ------
    TypeError
        ``counts`` are not of this type.
    ValueError
        The shapes do not fit, or the method is not for this design, or for a judge that has not labelled all samples.

    Notes
    -----
    With L samples ``[true, judge, predicted]`` with a true label and N samples ``[judge, predicted]`` in all:

    - ``"post_stratified"``: the samples with the same judge's label and the same prediction are a stratum. Its samples
      are distributed over the true classes like its labelled samples,
      :math:`M_{tp} = \sum_j N_{jp} L_{tjp} / L_{\cdot jp}`. The estimate is unbiased for any judge. Strata of a
      prediction with fewer than 5 expected labels are pooled (if they still have too few, with the largest stratum);
      a prediction without labels has the shares of all predictions.
    - ``"tuned"``: prediction-powered inference (PPI++; Angelopoulos, Duchi and Zrnic 2023): the matrix of the labelled
      samples plus λ times the difference between unlabelled and labelled samples by the judge's labels. λ minimizes the
      sum of the variances of the cells; :func:`matrics.judged.interval` uses the best λ for each measure.
    - ``"rogan_gladen"``: the judge's confusion matrix, of labelled samples with any prediction, is inverted for each
      prediction (Rogan and Gladen 1978). It assumes that the errors of the judge do not depend on the model.
    - ``"labelled"``: only the samples with a true label.
    - ``"judge"``: all samples that the judge has labelled, with the judge's labels as true labels.
    - ``"auto"`` is ``"post_stratified"``. The simulation on the page about judges is the reason.

    Samples without a judge's label form separate strata. ``"tuned"`` counts them as 1/n of each class, and
    ``"rogan_gladen"`` requires that the judge has labelled all samples.

    A column with a negative cell is replaced by the nearest column with the same sum and without negative cells.

    Examples
    --------
    The judge labels 40 of 100 answers as good, and people label 5 of 10 such answers as good:

    >>> import matrics
    >>> counts = matrics.judged.count(
    ...     y_true=[0] * 10 + [1] * 5 + [0] * 5 + [-1] * 80,
    ...     y_judge=[0] * 10 + [1] * 10 + [0] * 50 + [1] * 30,
    ...     y_pred=[1] * 100,
    ...     num_classes=2,
    ... )
    >>> matrics.judged.confusion_matrix(counts)
    array([[ 0., 80.],
           [ 0., 20.]])
    """
    check_method(method, design)
    backend, cube, plane, valid = cells_of(counts)
    if method == "rogan_gladen":
        check_answered((cube, plane), (answered(cube), answered(plane)), backend)
    xp = backend.xp
    with backend.quiet():
        matrix = corrected(cube, plane, squares_of(counts, cube, plane, backend)[0], method, design, backend)
        return xp.where(valid[..., None, None], matrix, math.nan)


def check_method(method: Any, design: Any) -> None:
    """Raise unless both exist and the method is valid for this design."""
    if not isinstance(method, str) or method not in get_args(Correction):
        words = ", ".join(map(repr, get_args(Correction)))
        raise ValueError(f"method: expected one of {words}, got {quoted(method)}")
    if not isinstance(design, str) or design not in get_args(Design):
        raise ValueError(f"design: expected 'random' or 'strata', got {quoted(design)}")
    if design == "strata" and method not in ("auto", "post_stratified"):
        raise ValueError(
            f"method: expected 'post_stratified' with design='strata', got {quoted(method)}, which requires "
            "labels that were drawn at random from all samples"
        )


def check_answered(tables: Sequence[Array], kept: Sequence[Array], backend: Standard) -> None:
    """Raise if tables have samples that the judge has not labelled; on devices and in compiled code, do nothing."""
    for pair in zip(tables, kept, strict=True):
        whole, part = (backend.host_view(table) for table in pair)
        # Not the sums, as sums of weights may differ by rounding.
        if whole is not None and part is not None and np.count_nonzero(whole) != np.count_nonzero(part):
            raise ValueError(
                "method: expected 'post_stratified' if the judge has not labelled all samples, got 'rogan_gladen', "
                "which inverts the judge's confusion matrix"
            )


def cells_of(counts: Any) -> tuple[Standard, Array, Array, Array]:
    """The library, both tables as floating numbers, with 0 in invalid tables, and which tables are valid (*B,)."""
    if not isinstance(counts, JudgedCounts):
        raise TypeError(
            "counts: expected JudgedCounts, as from matrics.judged.count(y_true, y_judge, y_pred, num_classes=n), "
            f"got a {type(counts).__name__}"
        )
    backend, (cube, plane) = as_arrays(labelled=counts.labelled, unlabelled=counts.unlabelled)
    shape = tuple(cube.shape)
    fits = len(shape) >= 3 and shape[-1] == shape[-3] and shape[-2] - shape[-1] in {0, 1}
    if not fits or tuple(plane.shape) != (*shape[:-3], *shape[-2:]):
        raise ValueError(
            "counts: expected labelled (*B, n, n, n) and unlabelled (*B, n, n), or with n + 1 labels of the judge "
            f"(*B, n, n + 1, n) and (*B, n + 1, n), got the shapes {shape} and {tuple(plane.shape)}"
        )
    xp = backend.xp
    cube, plane = backend.to_float(cube), backend.to_float(plane)
    valid = xp.all(xp.isfinite(cube) & (cube >= 0), axis=(-3, -2, -1))
    valid = valid & xp.all(xp.isfinite(plane) & (plane >= 0), axis=(-2, -1))
    is_valid = valid[..., None, None]
    return backend, xp.where(is_valid[..., None], cube, 0), xp.where(is_valid, plane, 0), valid


def squares_of(counts: JudgedCounts, cube: Array, plane: Array, backend: Standard) -> tuple[Array, Array]:
    """The sums of squared weights of all cells, which are the counts if samples have no weights."""
    if counts.labelled_squares is None or counts.unlabelled_squares is None:
        return cube, plane
    squares = as_arrays(labelled=counts.labelled_squares, unlabelled=counts.unlabelled_squares)[1]
    pairs = zip(squares, (cube, plane), strict=True)
    first, second = (backend.xp.where(cells > 0, backend.to_float(square), 0) for square, cells in pairs)
    return first, second


def corrected(  # noqa: PLR0917 (both tables, and the method)
    cube: Array, plane: Array, squares: Array, method: str, design: str, backend: Standard
) -> Array:
    """The matrix (*B, n, n) of tables [true, judge, predicted] and [judge, predicted]."""
    xp = backend.xp
    if method == "labelled":
        return xp.sum(cube, axis=-2)
    everything = plane + xp.sum(cube, axis=-3)
    if method == "judge":
        return answered(everything)
    if method in ("auto", "post_stratified"):
        return strata_of(cube, everything, squares, design, backend).matrix(backend)
    return on_simplex(unprojected(cube, plane, method, backend), backend)


def answered(table: Array) -> Array:
    """The samples (..., n, n) of a table (..., judge, n) that the judge has labelled."""
    return table[..., : table.shape[-1], :]


def shared(table: Array, *, power: int = 1) -> Array:
    """The table (..., n, n), where samples without a judge's label count as 1/n of each class, or a power of 1/n."""
    n = table.shape[-1]
    return table if table.shape[-2] == n else answered(table) + table[..., n:, :] / n**power


def unprojected(cube: Array, plane: Array, method: str, backend: Standard) -> Array:
    """The matrix of PPI++ or of Rogan and Gladen, whose cells may be negative."""
    xp = backend.xp
    if method == "tuned":
        return tuned_unprojected(cube, plane, best_for_all_cells(cube, plane, backend), backend)
    inverse = inverse_of_judge(xp.sum(answered(cube), axis=-1), backend)
    everything = answered(plane + xp.sum(cube, axis=-3))
    return xp.sum(inverse[..., :, :, None] * everything[..., None, :, :], axis=-2)


def tuned(cube: Array, plane: Array, share: Array, backend: Standard) -> Array:
    """The matrix of PPI++ with λ (*B,); for λ = 0, the labelled samples, scaled to the number of all samples."""
    return on_simplex(tuned_unprojected(cube, plane, share, backend), backend)


def tuned_unprojected(cube: Array, plane: Array, share: Array, backend: Standard) -> Array:
    """The matrix of PPI++, in which cells may be negative."""
    xp = backend.xp
    judged = xp.sum(cube, axis=-3)
    labelled, others = (xp.sum(part, axis=(-2, -1), keepdims=True) for part in (judged, plane))
    has_others = others > 0
    difference = shared(plane / xp.where(has_others, others, 1) - judged / labelled)
    change = xp.where(has_others, share[..., None, None], 0) * difference
    return (xp.sum(cube, axis=-2) / labelled + change) * (labelled + others)


def best_for_all_cells(cube: Array, plane: Array, backend: Standard) -> Array:
    """The λ with the smallest sum of the variances of all cells: (*B,)."""
    xp = backend.xp
    true, judged = xp.sum(cube, axis=-2), xp.sum(cube, axis=-3)
    labelled, others = (xp.sum(part, axis=(-2, -1)) for part in (judged, plane))
    agreed = xp.sum(shared(cube) * identity(true, backend)[..., None], axis=-2)
    labelled_, all_ = labelled[..., None, None], (labelled + others)[..., None, None]
    covariance = xp.sum(agreed / labelled_ - true * shared(judged) / labelled_**2, axis=(-2, -1))
    everything = (judged + plane) / all_
    variances = shared(everything, power=2) - shared(everything) ** 2
    variance = xp.sum(variances, axis=(-2, -1)) * _unbiased(labelled + others, xp)
    return clipped_share(covariance, variance, labelled, others, backend)


def clipped_share(covariance: Array, variance: Array, labelled: Array, others: Array, backend: Standard) -> Array:
    """λ from the covariance of truth and judge and the variance of the judge: 0 to 1, and 0 without other samples."""
    xp = backend.xp
    is_positive = (variance > 0) & (others > 0)
    share = covariance / xp.where(is_positive, variance * (1 + labelled / xp.where(is_positive, others, 1)), 1)
    share = xp.where(share < 0, 0, xp.where(share > 1, 1, share))
    return xp.where(is_positive, share, 0)


def _unbiased(number: Array, xp: Any) -> Array:
    return number / xp.where(number > 1, number - 1, 1)


def on_simplex(matrix: Array, backend: Standard) -> Array:
    """The matrix, with columns with negative cells replaced by the nearest column of equal sum without such cells.

    The new column is the column minus a threshold, clipped at 0. The threshold is the maximum, over all cells, of the
    threshold for the cells that are at least as large, so that cells need not be sorted.
    """
    xp = backend.xp
    total = xp.sum(matrix, axis=-2, keepdims=True)
    above = xp.astype(matrix[..., None, :, :] >= matrix[..., :, None, :], matrix.dtype)  # [cell, other, column]
    number = xp.sum(above, axis=-2)
    excess = xp.sum(above * matrix[..., None, :, :], axis=-2) - total
    threshold = xp.max(excess / number, axis=-2, keepdims=True)
    difference = matrix - threshold
    negative = xp.any(matrix < 0, axis=-2, keepdims=True)
    return xp.where(negative, xp.where(difference > 0, difference, 0), matrix)
