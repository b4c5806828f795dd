"""The dependence of measures on the class sizes of the test set, for the same classifier (Mullick et al.)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._arrays.draws.numpy import seed_of
from matrics._arrays.sizes import check_count
from matrics._counting.build import confusion_matrix
from matrics._engine.results import NamedResult, frame_of
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._scoring.score import score
from matrics._stacks.transform import normalize
from matrics.typing import ArrayLike

__all__ = [
    "MULTI_CLASS_PROBLEMS",
    "TWO_CLASS_PROBLEMS",
    "ImbalanceProblem",
    "StabilityResult",
    "precision_at_ratio",
    "stability_experiment",
]

TWO_CLASS_MEASURES = {
    "GMean": "g_mean",
    "AUROC": "auc_of_labels:binary",
    "Precision": "precision:binary",
    "AURPC": "aurpc:binary",
    "mPrecision": "mprecision:binary",
    "mAURPC": "maurpc:binary",
}
# AURPC-OVA is the macro average of AURPC, in which a class that is never predicted counts as 0.
MULTI_CLASS_MEASURES = {
    "GMean": "g_mean",
    "ACSA": "balanced_accuracy",
    "nAUROC-OVA": "nauroc_ova",
    "AURPC-OVA": "aurpc:macro",
    "AUROC-OVA": "auroc_ova",
    "AUROC-OVO": "auroc_ovo",
}
# mAURPC-OVA is the same for a matrix whose true classes all have the same size.
EQUAL_CLASS_MEASURES = {"mAURPC-OVA": "aurpc:macro"}
# Samples of the largest class of a test set; with fewer, the smallest class would have too few samples.
LARGEST_CLASS = 4000


def precision_at_ratio(precision: ArrayLike, ratio: ArrayLike) -> Array:
    """The precision on a test set with more negative samples, of a classifier whose rates stay the same.

    Precision is 1 / (1 + RRT · FPR / TPR), where RRT is the number of negative samples per positive sample.

    Parameters
    ----------
    precision : array_like, shape (*B,)
        The precision on the first test set, in [0, 1].
    ratio : array_like, shape (*B,)
        RRT of the second test set divided by RRT of the first, positive. Broadcasts against ``precision``.

    Returns
    -------
    array, shape (*B,)
        An array of NumPy in [0, 1]; NaN where ``precision`` is NaN.

    Raises
    ------
    ValueError
        A precision is not in [0, 1], or a ratio is not positive and finite.

    References
    ----------
    Mullick et al., "Appropriateness of performance indices for imbalanced data classification", Example 1.

    Examples
    --------
    From equally many negative and positive samples to ten times as many negative samples:

    >>> from matrics.study import precision_at_ratio
    >>> print(f"{precision_at_ratio(0.93, 10):.3f}")
    0.571
    """
    before, factor = np.asarray(precision, dtype=np.float64), np.asarray(ratio, dtype=np.float64)
    if not (np.isnan(before) | ((before >= 0) & (before <= 1))).all():
        raise ValueError(f"precision: expected numbers in [0, 1], got {precision}")
    if not ((factor > 0) & (factor < np.inf)).all():
        raise ValueError(f"ratio: expected positive numbers, got {ratio}")
    return before / (before + factor * (1 - before))


# Problems -------------------------------------------------------------------------------------------------------------


class ImbalanceProblem(NamedTuple):
    """An imbalanced classification problem, from a data set of scikit-learn of which samples are left out.

    Parameters
    ----------
    name : str
        The name in figures.
    data : str
        ``"digits"``, ``"breast_cancer"`` or ``"wine"``: a data set that comes with scikit-learn.
    groups : tuple of tuples of int
        The labels of the data set that make each class; the last class is the smallest in training.
    imbalance : float
        Samples of the first class for each sample of the last class in training. The sizes of the classes between them
        form a geometric sequence.
    """

    name: str
    data: str
    groups: tuple[tuple[int, ...], ...]
    imbalance: float

    @property
    def sizes(self) -> np.ndarray:
        """The sizes of the classes in training, relative to the first."""
        number = len(self.groups)
        return self.imbalance ** -(np.arange(number) / (number - 1))


def _against_rest(digit: int, imbalance: float) -> ImbalanceProblem:
    rest = tuple(label for label in range(10) if label != digit)
    return ImbalanceProblem(f"digit {digit}, 1 : {imbalance:g}", "digits", (rest, (digit,)), imbalance)


def _digits(labels: str, imbalance: float) -> ImbalanceProblem:
    return ImbalanceProblem(
        f"{len(labels)} digits, few {labels[-1]}s", "digits", tuple((int(label),) for label in labels), imbalance
    )


TWO_CLASS_PROBLEMS = (
    *(_against_rest(digit, imbalance) for digit, imbalance in enumerate(range(5, 45, 5))),
    _against_rest(8, 20),
    *(ImbalanceProblem(f"tumours, 1 : {ir}", "breast_cancer", ((1,), (0,)), ir) for ir in (5, 10)),
    ImbalanceProblem("wine 3, 1 : 6", "wine", ((0, 1), (2,)), 6),
)
MULTI_CLASS_PROBLEMS = (
    *(_digits(labels, ir) for labels, ir in (("018", 20), ("493", 22), ("751", 25), ("629", 30))),
    *(_digits(labels, ir) for labels, ir in (("01238", 20), ("45679", 25), ("97531", 30))),
    *(_digits(labels, ir) for labels, ir in (("0123456789", 20), ("9876543210", 25), ("5031746928", 30))),
)


# The experiment -------------------------------------------------------------------------------------------------------


class StabilityResult(NamedResult):
    """The values of measures, as from :func:`matrics.study.stability_experiment`.

    Parameters
    ----------
    problems : tuple of str
        The names of the P problems.
    classifiers : tuple of str
        The names of the C classifiers.
    num_classes : array of int, shape (P,)
        The number of classes of each problem.
    values : dict of str to array, shape (P, runs, C, 5)
        The values of each measure, for every problem, run, classifier and test set.
    """

    problems: tuple[str, ...]
    classifiers: tuple[str, ...]
    num_classes: Array
    values: dict[str, Array]

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each problem, run, classifier and test set."""
        shape = next(iter(self.values.values())).shape
        problem, run, classifier, test_set = np.indices(shape)
        named = {"problem": np.take(self.problems, problem), "classifier": np.take(self.classifiers, classifier)}
        columns = {**named, "run": run, "test_set": test_set, **self.values}
        return frame_of({name: np.ravel(column) for name, column in columns.items()}, indexed=False)

    def spread(self) -> dict[str, Array]:
        """The standard deviation over test sets of the mean over runs, averaged over classifiers, shape (P,)."""
        return {name: values.mean(axis=1).std(axis=-1).mean(axis=-1) for name, values in self.values.items()}

    def lowest(self) -> dict[str, Array]:
        """The lowest value over runs, classifiers and test sets, shape (P,)."""
        return {name: values.min(axis=(1, 2, 3)) for name, values in self.values.items()}


def stability_experiment(problems: Sequence[ImbalanceProblem], *, repeats: int = 3, rng: Any = 0) -> StabilityResult:
    """The scores of classifiers for imbalanced data on test sets with other class sizes.

    This is the experiment of Mullick et al., section 5, on data sets that come with scikit-learn. Half of the samples
    of each class are for training. Some of them are left out, so that the classes are imbalanced. Each classifier then
    predicts the other half. Test sets of any class sizes are drawn from these predictions: the samples of each class
    with replacement, which is a multinomial draw from the row of the confusion matrix. This allows ratios for which the
    data sets are too small. Weights of the rows would be simpler, but would not change the rates; drawn rates vary as
    in a test set of that size.

    For two classes, the five test sets have the ratios RRT 1, 1/2, IR/2, IR and 2 IR, where IR is the ratio of the
    training set. For more classes, the class sizes are equal; those of the training set in reverse; those of the
    training set with the smallest class doubled; those of the training set; and those with all other classes doubled.
    The largest class has 4000 samples.

    The classifiers give all classes the same weight: ridge regression, a support vector machine, a decision tree of at
    most 16 leaves and naive Bayes.

    Parameters
    ----------
    problems : sequence of ImbalanceProblem
        ``TWO_CLASS_PROBLEMS``, ``MULTI_CLASS_PROBLEMS`` or some of them: either all with two classes, of which the
        second is positive, or all with more classes.
    repeats : int, default 3
        Number of times that samples are split, classifiers trained and test sets drawn.
    rng : numpy.random.Generator or int, default 0
        Where random numbers come from, or a seed; None draws anew every time.

    Returns
    -------
    StabilityResult
        The values of GMean, AUROC, Precision, AURPC, mPrecision and mAURPC for two classes, and of GMean, ACSA,
        nAUROC-OVA, AURPC-OVA, AUROC-OVA, AUROC-OVO and mAURPC-OVA for more classes. A class without predictions has the
        precision 0.

    Raises
    ------
    ImportError
        scikit-learn is not installed.
    ValueError
        There are no problems, or some have two classes and some have more.

    References
    ----------
    Mullick et al., "Appropriateness of performance indices for imbalanced data classification", section 5.

    Examples
    --------
    >>> from matrics.study import TWO_CLASS_PROBLEMS, stability_experiment
    >>> result = stability_experiment(TWO_CLASS_PROBLEMS[:1], repeats=1)
    >>> result.values["Precision"].shape
    (1, 1, 4, 5)
    >>> spread = result.spread()
    >>> bool(spread["Precision"] > 5 * spread["mPrecision"])
    True
    """
    repeats, seed = check_count(repeats, "repeats"), seed_of(rng)
    kinds = {len(problem.groups) == 2 for problem in problems}
    if len(kinds) != 1:
        got = "none" if not kinds else "some of two classes and some of more"
        raise ValueError(f"problems: expected some, all of two classes or all of more than two, got {got}")
    values = [
        _measure(np.stack(list(_runs(problem, repeats, np.random.default_rng([seed, number])))))
        for number, problem in enumerate(steps(problems))
    ]
    return StabilityResult(
        tuple(problem.name for problem in problems),
        tuple(_classifiers(0)),
        np.asarray([len(problem.groups) for problem in problems]),
        {name: np.stack([of_problem[name] for of_problem in values]) for name in values[0]},
    )


def _measure(stack: np.ndarray) -> dict[str, np.ndarray]:
    """The values of all measures of test sets; a class that is never predicted has the precision 0."""
    if stack.shape[-1] == 2:
        return _scores(stack, TWO_CLASS_MEASURES)
    return _scores(stack, MULTI_CLASS_MEASURES) | _scores(normalize(stack, over="true"), EQUAL_CLASS_MEASURES)


def _scores(stack: np.ndarray, measures: dict[str, str]) -> dict[str, np.ndarray]:
    scores = score(stack, list(measures.values()), zero_division=0)
    return {name: scores[spec] for name, spec in measures.items()}


def _runs(problem: ImbalanceProblem, repeats: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Test sets (C, 5, n, n) of every run."""
    features, labels = _load(problem)
    sizes = _test_sizes(problem)
    for _ in range(repeats):
        train, test = _split(problem, labels, rng)
        predicted = [
            make.fit(features[train], labels[train]).predict(features[test])
            for make in _classifiers(int(rng.integers(2**31))).values()
        ]
        counts = confusion_matrix(labels[test], np.stack(predicted), num_classes=len(problem.groups))
        shares = counts / counts.sum(axis=-1, keepdims=True)
        drawn: np.ndarray = rng.multinomial(sizes, shares[:, None])
        yield drawn


def _test_sizes(problem: ImbalanceProblem) -> np.ndarray:
    """Class sizes of the five test sets (5, n)."""
    sizes = problem.sizes
    if len(sizes) == 2:
        ir = problem.imbalance
        relative = np.asarray([(ratio, 1) for ratio in (1, 0.5, ir / 2, ir, 2 * ir)])
    else:
        is_last = np.arange(len(sizes)) == len(sizes) - 1
        few, many = np.where(is_last, 2, 1), np.where(is_last, 1, 2)
        relative = np.stack([np.ones_like(sizes), sizes[::-1], sizes * few, sizes, sizes * many])
    counts: np.ndarray = np.rint(LARGEST_CLASS * relative / relative.max(axis=-1, keepdims=True)).astype(np.int64)
    return counts


def _split(problem: ImbalanceProblem, labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the imbalanced training samples, and of the held-out samples, which are half of each class."""
    members = [rng.permutation(np.flatnonzero(labels == label)) for label in range(len(problem.groups))]
    halves = [len(samples) // 2 for samples in members]
    largest = min(half / size for half, size in zip(halves, problem.sizes, strict=True))
    numbers = np.maximum(np.rint(largest * problem.sizes), 2).astype(int)
    train = [samples[:number] for samples, number in zip(members, numbers, strict=True)]
    test = [samples[half:] for samples, half in zip(members, halves, strict=True)]
    return np.concatenate(train), np.concatenate(test)


def _load(problem: ImbalanceProblem) -> tuple[np.ndarray, np.ndarray]:
    """The scaled features and the classes of the samples, without samples that belong to no class."""
    try:
        from sklearn import datasets
    except ImportError as error:
        raise ImportError('the experiment needs scikit-learn: python -m pip install "matrics[study]"') from error
    loaders: dict[str, Callable[..., Any]] = {
        "digits": datasets.load_digits,
        "breast_cancer": datasets.load_breast_cancer,
        "wine": datasets.load_wine,
    }
    if problem.data not in loaders:
        raise ValueError(f"data: expected {' or '.join(map(repr, loaders))}, got {quoted(problem.data)}")
    features, labels = loaders[problem.data](return_X_y=True)
    classes = np.full(labels.max() + 1, -1)
    for label, group in enumerate(problem.groups):
        classes[list(group)] = label
    kept = classes[labels] >= 0
    deviations = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(deviations > 0, deviations, 1)
    return scaled[kept], classes[labels][kept]


def _classifiers(seed: int) -> dict[str, Any]:
    """Classifiers with equal weights for all classes, for any class sizes in training."""
    try:
        from sklearn.linear_model import RidgeClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.svm import SVC
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        raise ImportError('the experiment needs scikit-learn: python -m pip install "matrics[study]"') from error
    return {
        "linear": RidgeClassifier(class_weight="balanced"),
        "support vectors": SVC(class_weight="balanced"),
        "tree": DecisionTreeClassifier(class_weight="balanced", max_depth=4, random_state=seed),
        "naive Bayes": _EqualPriors(GaussianNB),
    }


class _EqualPriors:
    """Naive Bayes with equal prior probabilities, whose number scikit-learn needs before the fit."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make

    def fit(self, features: np.ndarray, labels: np.ndarray) -> Any:
        """The trained classifier."""
        number = len(np.unique(labels))
        return self.make(priors=np.full(number, 1 / number), var_smoothing=1e-2).fit(features, labels)
