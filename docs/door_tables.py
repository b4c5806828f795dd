"""Which door takes which argument: the table of ``doors.md``, "yes" read off the signatures and the rest with a reason.

``tests/test_signatures.py`` fails for a door that neither takes an argument nor says why, and for a reason that is out
of date.
"""

import importlib
import inspect
import string

from signature_tables import without_first

from matrics._cli.app import command_of
from matrics._tables.markdown import table

#: The columns, and what the argument may be called: on data frames, with named dimensions, on the command line.
COLUMNS = {
    "positive": ("positive", "--positive"),
    "weights": ("sample_weight", "--weight"),
    "clusters": ("clusters", "cluster_axis", "cluster_dim", "--clusters", "paired_on", "--paired-on"),
    "groups": ("groups", "num_groups", "by", "--by"),
    "class names": ("class_names", "labels"),
    "invalid": ("invalid", "--on-invalid"),
    "zero_division": ("zero_division", "--zero-division"),
    "workers": ("workers", "--workers"),
}

MATRICES = "of matrices"
LABELS = "of labels"
SCORES = "of scores"
TRAINING = "in training loops"
ELSEWHERE = "elsewhere"

#: Every door, by what comes in.
DOORS = {
    MATRICES: (
        *("score", "recall", "mcc", "interval", "compare", "compare_paired", "stats.samples_needed", "score_blocks"),
        *("fairness.demographic_parity", "fairness.equal_opportunity", "fairness.equalized_odds"),
    ),
    LABELS: (
        *("confusion_matrix", "soft_confusion_matrix", "stats.joint_confusion_matrix", "compare_models"),
        *("score_labels", "classification_report"),
        *(
            "multilabel.confusion_matrix",
            "multilabel.score",
            "multilabel.subset_accuracy",
            "frames.count",
            "report",
            "gate",
        ),
    ),
    SCORES: (
        *("ranking.confusion_matrix", "ranking.threshold_curve", "ranking.best_threshold", "ranking.interval"),
        *("ranking.roc_auc", "ranking.partial_roc_auc", "ranking.roc_auc_variance", "ranking.average_precision"),
        *("ranking.precision_at_recall", "ranking.recall_at_precision", "ranking.recall_at_specificity"),
        *("ranking.precision_at_k", "ranking.recall_at_k", "ranking.lift_at_k"),
        *("ranking.compare", "ranking.decision_curve", "ranking.roc_curve", "ranking.precision_recall_curve"),
        *("probabilities.interval", "probabilities.log_loss", "probabilities.brier_score"),
        *("probabilities.brier_decomposition", "probabilities.expected_calibration_error"),
        *("probabilities.reliability_curve", "ranking.top_k_accuracy", "ranking.top_k_recall"),
    ),
    TRAINING: (
        *("ConfusionState", "MarginState", "ScoreState", "MultilabelState"),
        *("torch.Metrics", "torch.ConfusionMetric", "torch.ScoreMetric"),
        *("torchmetrics.Metrics", "torchmetrics.ConfusionMetric", "torchmetrics.ScoreMetric"),
        *("flax.Metrics", "flax.ConfusionMetric", "flax.ScoreMetric"),
    ),
    ELSEWHERE: (
        *("dask.score", "dask.interval", "dask.confusion_matrix"),
        *("dask.count_frame", "xarray.score", "xarray.interval"),
        *("xarray.confusion_matrix", "plot.confusion_matrix", "plot.curve", "plot.calibration"),
        *("matrics score", "matrics interval", "matrics compare", "matrics curve", "matrics threshold"),
        *("matrics count", "matrics report", "matrics gate"),
    ),
}

MEASURES = ("recall", "mcc")
OF_STACKS = (*DOORS[MATRICES], "dask.score", "dask.interval", "xarray.score")
OF_STACKS += ("xarray.interval", "plot.confusion_matrix")
COUNTING = ("confusion_matrix", "soft_confusion_matrix", "stats.joint_confusion_matrix", "multilabel.confusion_matrix")
COUNTING += ("frames.count", "dask.confusion_matrix", "dask.count_frame")
COUNTING += ("xarray.confusion_matrix", "ranking.confusion_matrix", "matrics count")
SEVERAL_LABELS = ("multilabel.confusion_matrix", "multilabel.score", "multilabel.subset_accuracy", "MultilabelState")
IN_TRAINING = tuple(door for door in DOORS[TRAINING] if "." in door)
PICTURES = ("plot.confusion_matrix", "plot.curve", "plot.calibration")
COMMANDS = tuple(door for door in DOORS[ELSEWHERE] if door.startswith("matrics "))

GATES = ("gate", "matrics gate")
WEIGHTED = ("score", "interval", "compare", "count", "report", "gate")  # commands
AREAS = (
    "ranking.roc_auc",
    "ranking.partial_roc_auc",
    "ranking.roc_auc_variance",
    "ranking.average_precision",
    "ranking.precision_at_recall",
)
AREAS += ("ranking.recall_at_precision", "ranking.recall_at_specificity")
AREAS += ("ranking.precision_at_k", "ranking.recall_at_k", "ranking.lift_at_k")
SURE = ("ranking.interval", "ranking.compare", "ranking.decision_curve", "probabilities.interval")

#: Why a door does without an argument: by column the reasons, each with its doors.
REASONS = {
    "positive": {
        "no class is special in the whole matrix": (
            *("mcc", "plot.confusion_matrix"),
            *(door for door in COUNTING if door not in (*SEVERAL_LABELS, "ranking.confusion_matrix")),
        ),
        "each label is positive by construction": SEVERAL_LABELS,
        "each class has a row": ("classification_report",),
        "the true class of each sample is the one that counts": ("ranking.top_k_accuracy", "ranking.top_k_recall"),
    },
    "weights": {
        "matrices have no samples: they were weighted when they were counted": OF_STACKS,
        "DeLong's variance is one of counts": ("ranking.roc_auc_variance",),
        "their limits are those of samples that count once": SURE,
        "not yet": (
            *("plot.curve", "plot.calibration"),
            *(door for door in COMMANDS if door.split()[-1] not in WEIGHTED),
        ),
    },
    "clusters": {
        "a value, without limits: clusters change only how sure it is": (
            *(
                "score",
                *MEASURES,
                "score_blocks",
                "score_labels",
                "fairness.demographic_parity",
            ),
            *(
                "fairness.equal_opportunity",
                "fairness.equalized_odds",
                *COUNTING,
                "multilabel.score",
                "multilabel.subset_accuracy",
                *DOORS[TRAINING],
            ),
            *(
                door
                for door in DOORS[SCORES]
                if door not in ("ranking.best_threshold", "ranking.roc_auc_variance", *SURE)
            ),
            "plot.confusion_matrix",
            *("dask.score", "xarray.score", "matrics score"),
        ),
        "a plan, before there are samples": ("stats.samples_needed",),
        "not yet": (
            *("classification_report", "ranking.roc_auc_variance", "matrics threshold"),
            *("plot.curve", "plot.calibration"),
        ),
    },
    "groups": {
        "one table a matrix": ("classification_report",),
        "a stack has them as an axis: confusion_matrix(..., groups=) makes one": (*OF_STACKS, "plot.curve"),
        "the arrays of samples have them as a batch axis": (
            *("compare_models", "score_labels", "multilabel.confusion_matrix", "multilabel.score"),
            *(
                "multilabel.subset_accuracy",
                *DOORS[SCORES],
                "ScoreState",
                "MultilabelState",
                "MarginState",
                "plot.calibration",
            ),
        ),
        "one metric a group: a metric for loggers has one matrix": IN_TRAINING,
    },
    "class names": {
        "score has it": MEASURES,
        "labels of a sample have an order": SEVERAL_LABELS,
        "coordinates of the dimension of classes": ("xarray.score", "xarray.interval"),
        "the file has them": COMMANDS,
    },
    "invalid": {
        "labels and scores are checked as they come, so that no matrix can be invalid": (
            *("compare_models", "classification_report", "multilabel.subset_accuracy", "report", *DOORS[SCORES]),
            *(*IN_TRAINING, *COUNTING),
            *("plot.curve", "plot.calibration", "matrics curve", "matrics threshold", "matrics report"),
            *("matrics compare",),
        ),
        "an invalid matrix is drawn as such": ("plot.confusion_matrix",),
        "an invalid matrix is an error": GATES,
    },
    "zero_division": {
        "counts, nothing is divided": (*COUNTING, "plot.confusion_matrix"),
        "what is undefined is left out, or said to be": (
            *(
                "report",
                "ranking.roc_auc_variance",
                "probabilities.brier_decomposition",
                "probabilities.reliability_curve",
                "plot.curve",
            ),
            *("plot.calibration", "matrics report", *SURE),
        ),
    },
    "workers": {
        "score has it": MEASURES,
        "limits of few matrices take no time": GATES,
        "one pass over the samples, by one thread": (
            *COUNTING,
            *("classification_report", "multilabel.subset_accuracy", "MarginState", *IN_TRAINING, *PICTURES),
            *("report", "matrics report"),
            *(door for door in DOORS[SCORES] if "threshold" not in door and door not in (*AREAS, *SURE[:2])),
            *("matrics compare", "matrics curve", "matrics threshold"),
        ),
    },
}


def takes(door):
    """The names of all that a door takes: a function, a class with its methods, a command."""
    if door.startswith("matrics "):
        command = command_of(door.removeprefix("matrics "))
        return {option for parameter in command.params for option in parameter.opts}
    path, _, name = f"matrics.{door}".rpartition(".")
    found = getattr(importlib.import_module(path), name)
    if not inspect.isclass(found):
        # What can only be None is there for a message that says why.
        return {name for name, one in inspect.signature(found).parameters.items() if one.annotation != "None"}
    methods = [getattr(found, method, None) for method in ("zeros", "update", "score")]
    whole = [inspect.signature(method) for method in methods if method is not None]
    if inspect.isclass(found) and found.__module__.startswith("matrics._integrations"):
        whole.append(without_first(found.__init__))
    return {name for signature in whole for name in signature.parameters}


def answers():
    """For every door and column "yes", or the reasons why not."""
    found = {}
    for door in (door for doors in DOORS.values() for door in doors):
        taken = takes(door)
        for column, words in COLUMNS.items():
            why = [reason for reason, doors in REASONS[column].items() if door in doors]
            found[door, column] = ["yes"] if taken & set(words) else why
    return found


def tables():
    """The table, and under it what its letters mean."""
    reasons = list(dict.fromkeys(reason for by_reason in REASONS.values() for reason in by_reason))
    letter = dict(zip(reasons, string.ascii_letters, strict=False))
    found = answers()
    parts = []
    for title, doors in DOORS.items():
        rows = [
            [f"`{door}`", *(next(letter.get(answer, answer) for answer in found[door, column]) for column in COLUMNS)]
            for door in doors
        ]
        parts.append(f"## Doors {title}\n\n{table(['', *COLUMNS], rows)}")
    legend = "\n".join(f"- **{letter[reason]}**: {reason}" for reason in reasons)
    return {"doors": "\n\n".join(parts), "why_not": legend}


if __name__ == "__main__":
    print("\n\n".join(tables().values()))
