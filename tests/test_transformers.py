"""``compute_metrics`` for the Trainer of Hugging Face: values beside scikit-learn's, its protocol, the Trainer."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

RANDOM = np.random.default_rng(33)
NAMES = ["cat", "dog", "owl"]


class Passed(NamedTuple):
    """The two fields of an EvalPrediction that are read."""

    predictions: Any
    label_ids: Any


@pytest.fixture
def make(torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    return importlib.import_module("matrics.transformers").compute_metrics


def draw(n: int = 3, size: int | tuple[int, ...] = 200) -> tuple[np.ndarray, np.ndarray]:
    """Labels and logits in float32 that know something of them."""
    labels = RANDOM.integers(0, n, size)
    return labels, (RANDOM.normal(size=(*labels.shape, n)) + 2 * np.eye(n)[labels]).astype(np.float32)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def by_batches(torch: Any, compute: Any, logits: Any, labels: Any, size: int = 64) -> dict[str, float]:
    """As the Trainer does it with ``batch_eval_metrics=True``."""
    parts = list(torch.arange(len(labels)).split(size))
    for place, part in enumerate(parts):
        passed = Passed(torch.as_tensor(logits)[part], torch.as_tensor(labels)[part])
        is_last = place == len(parts) - 1
        values = compute(passed, compute_result=is_last)
        assert is_last or values == {}
    return values


# Values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["at once", "by batches", "a list of batches"])
def test_values_are_those_of_scikit_learn(torch: Any, make: Any, way: str) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    labels, logits = draw()
    labels[::7] = -100
    compute = make("mcc, f1, recall:class, log_loss, top_k_accuracy(k=[1,2])", class_names=NAMES)
    if way == "at once":
        values = compute(Passed(logits, labels))
    elif way == "by batches":
        values = by_batches(torch, compute, logits, labels)
    else:
        values = compute(Passed(np.array_split(logits, 3), np.array_split(labels, 3)))
    true, scores = labels[labels != -100], logits[labels != -100]
    pred = scores.argmax(-1)
    expected = {
        "mcc": sk.matthews_corrcoef(true, pred),
        "f1": sk.f1_score(true, pred, average="macro"),
        **dict(zip([f"recall/{name}" for name in NAMES], sk.recall_score(true, pred, average=None), strict=True)),
        "log_loss": sk.log_loss(true, softmax(scores)),
        "top_k_accuracy(k=1)": sk.accuracy_score(true, pred),
        "top_k_accuracy(k=2)": sk.top_k_accuracy_score(true, scores, k=2),
    }
    assert values == pytest.approx(expected, rel=1e-9)
    assert {type(value) for value in values.values()} == {float}
    assert json.loads(json.dumps(values)) == values
    np.testing.assert_array_equal(compute.confusion.matrix, sk.confusion_matrix(true, pred))


def test_areas_are_near_those_of_scikit_learn(torch: Any, make: Any) -> None:
    """As those of a ScoreMetric: from buckets of log-odds."""
    sk = pytest.importorskip("sklearn.metrics")
    labels, logits = draw(2)
    compute = make("roc_auc, average_precision, recall@0.25", positive=1)
    values, found = by_batches(torch, compute, logits, labels), softmax(logits)[:, 1]
    assert values["roc_auc"] == pytest.approx(sk.roc_auc_score(labels, found), abs=1e-5)
    assert values["average_precision"] == pytest.approx(sk.average_precision_score(labels, found), abs=1e-3)
    assert values["recall@0.25"] == pytest.approx(sk.recall_score(labels, found >= 0.25), rel=1e-12)
    assert compute.confusion is None


@pytest.mark.exhaustive
def test_a_rare_class(torch: Any, make: Any) -> None:
    """Of half a percent, and a model that says so: its probabilities below 0.001 keep their order."""
    sk = pytest.importorskip("sklearn.metrics")
    labels = (np.arange(20_000) % 200 == 0).astype(int)
    ones = (np.random.default_rng(0).normal(-8, 1, 20_000) + 1.5 * labels).astype(np.float32)
    logits, wanted = np.stack([0 * ones, ones], -1), sk.roc_auc_score(labels, ones)
    options = {"positive": "x_low", "class_names": ["x", "x_low"], "prefix": "a/"}
    found = by_batches(torch, make("roc_auc, recall@0.5, f1", **options), logits, labels)
    assert found["a/roc_auc"] == pytest.approx(wanted, abs=1e-4)
    assert list(found) == ["a/f1", "a/roc_auc", "a/recall@0.5"]
    with pytest.warns(
        RuntimeWarning, match=r"^roc_auc:class treats scores in the same bucket as equal.* and 0\.\d+\."
    ) as said:
        found = by_batches(torch, make("roc_auc, roc_auc:class", bits=4, **options), logits, labels)
    low, high = (float(text) for text in re.findall(r"0\.\d{3}", str(said[0].message)))
    assert low < wanted < high
    assert low < found["a/roc_auc"] < high
    assert list(found) == ["a/roc_auc", "a/roc_auc/x", "a/roc_auc/x_low"]


def test_labels_that_are_no_numbers_of_classes(torch: Any, make: Any) -> None:
    """Both metrics look them up, and ignore by the label and not by the class."""
    sk = pytest.importorskip("sklearn.metrics")
    labels, logits = draw()
    given = np.asarray([7, 2, 40])[labels]
    given[:20] = 2000
    compute = make("f1:class, log_loss", labels=[7, 2, 40], ignore_index=2000, prefix="val/")
    values = by_batches(torch, compute, logits, given)
    scores = sk.f1_score(labels[20:], logits[20:].argmax(-1), average=None)
    loss = sk.log_loss(labels[20:], softmax(logits[20:]))
    expected = {**dict(zip(["val/f1/7", "val/f1/2", "val/f1/40"], scores, strict=True)), "val/log_loss": loss}
    assert values == pytest.approx(expected, rel=1e-9)
    of_one = make("f1, top_k_recall(k=1)", labels=[7, 2, 40], ignore_index=2000, positive=40)
    values = of_one(Passed(logits, given))
    recall = sk.recall_score(labels[20:], logits[20:].argmax(-1), average=None)[2]
    assert values == pytest.approx({"f1": scores[2], "top_k_recall(k=1)": recall}, rel=1e-9)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_logits_of_other_dtypes(torch: Any, make: Any, dtype: str) -> None:
    labels, logits = draw()
    tensor = torch.from_numpy(logits).to(getattr(torch, dtype))
    values = by_batches(torch, make("accuracy, log_loss"), tensor, labels)
    probabilities = softmax(tensor.double().numpy())
    loss = -np.log(probabilities[np.arange(200), labels]).mean()
    right = (tensor.double().numpy().argmax(-1) == labels).mean()
    assert values == pytest.approx({"accuracy": right, "log_loss": loss}, rel=1e-6)


def test_tags_of_tokens(torch: Any, make: Any) -> None:
    """Batches of other lengths, which the Trainer pads by -100 before it joins them, labels as well as logits."""
    sk = pytest.importorskip("sklearn.metrics")
    long, short = draw(3, (4, 9)), draw(3, (5, 6))
    labels = np.concatenate([long[0], np.pad(short[0], ((0, 0), (0, 3)), constant_values=-100)])
    logits = np.concatenate([long[1], np.pad(short[1], ((0, 0), (0, 3), (0, 0)), constant_values=-100)])
    true, pred = labels[labels != -100], logits.argmax(-1)[labels != -100]
    compute = make("mcc, recall:class, top_k_accuracy(k=1)")
    values = compute(Passed(logits, labels))
    assert values["mcc"] == pytest.approx(sk.matthews_corrcoef(true, pred), rel=1e-12)
    assert values["top_k_accuracy(k=1)"] == pytest.approx(sk.accuracy_score(true, pred), rel=1e-12)
    for place, (true, scores) in enumerate([long, short]):
        found = compute(Passed(torch.from_numpy(scores), torch.from_numpy(true)), compute_result=place == 1)
    assert found == values
    assert "dropped" not in values


def test_as_many_tokens_as_classes(make: Any) -> None:
    """Of the two axes of one length, the classes are on the last one, and nothing warns."""
    labels, logits = draw(3, (3, 3))
    expected = (logits.argmax(-1) == labels).mean()
    assert make("accuracy")(Passed(logits, labels))["accuracy"] == pytest.approx(expected)


# Language models ------------------------------------------------------------------------------------------------------


def test_a_causal_language_model_is_shifted(torch: Any, make: Any) -> None:
    """The logits at t are of the label at t + 1; by hand, and by PyTorch's loss."""
    logits = RANDOM.normal(size=(6, 8, 1200)).astype(np.float32)
    labels = RANDOM.integers(0, 1200, (6, 8))
    labels[:, 1:5] = np.argsort(-logits, -1)[:, :4, 3]  # the fourth guess, one place before
    labels[0, :3] = labels[5, 6:] = -100
    before, after = logits[:, :-1].reshape(-1, 1200), labels[:, 1:].reshape(-1)
    kept = after != -100
    best = np.argsort(-before[kept], -1)[:, :5]
    expected = {
        "accuracy": (best[:, 0] == after[kept]).mean(),
        "top_k_accuracy(k=5)": (best == after[kept, None]).any(-1).mean(),
        "log_loss": float(torch.nn.functional.cross_entropy(torch.from_numpy(before), torch.from_numpy(after))),
    }
    assert expected["top_k_accuracy(k=5)"] > 0.4
    compute = make("accuracy, top_k_accuracy(k=5), log_loss", shift=True)
    assert compute(Passed(logits, labels)) == pytest.approx(expected, rel=1e-6)
    assert by_batches(torch, compute, logits, labels, 4) == pytest.approx(expected, rel=1e-6)
    of_labels = make("accuracy", num_classes=1200, shift=True)(Passed(logits.argmax(-1), labels))
    assert of_labels["accuracy"] == pytest.approx(expected["accuracy"])


def test_a_vocabulary_without_shift_is_an_error(make: Any) -> None:
    """Wrong numbers would look like those of a bad model; with False it is a masked language model."""
    labels, logits = draw(1200, (2, 3))
    expected = r"shift: expected True for a causal language model.*got None with labels \(2, 3\) of 1,200 classes"
    with pytest.raises(ValueError, match=expected):
        make("accuracy")(Passed(logits, labels))
    with pytest.raises(ValueError, match=expected):
        make("accuracy", num_classes=1200)(Passed(logits.argmax(-1), labels))
    assert make("accuracy", shift=False)(Passed(logits, labels)) == {"accuracy": (logits.argmax(-1) == labels).mean()}
    assert make("accuracy")(Passed(logits[:, 0], labels[:, 0]))["accuracy"] >= 0  # images of 1,200 classes
    with pytest.raises(ValueError, match=r"shift: expected sequences, labels \(B, T\), got label_ids \(2,\)"):
        make("accuracy", shift=True)(Passed(logits[:, 0], labels[:, 0]))
    with pytest.raises(TypeError, match="shift: expected True, False or None, got 1"):
        make("accuracy", shift=1)


def test_a_vocabulary_is_counted_in_margins(make: Any) -> None:
    """All cells of 50,257 tokens would take 40 GB."""
    compute = make("accuracy, f1, top_k_accuracy", num_classes=50_257, shift=True)
    assert sum(buffer.nbytes for buffer in compute.confusion.buffers()) < 3e6


# The protocol ---------------------------------------------------------------------------------------------------------


def test_the_trainer_sees_that_it_takes_batches(make: Any) -> None:
    assert "compute_result" in inspect.signature(make("mcc")).parameters


def test_each_evaluation_begins_anew(torch: Any, make: Any) -> None:
    """Also after one at once, after an error, and, by ``reset``, after one that was interrupted."""
    labels, logits = draw()
    compute = make("mcc, log_loss")
    first = by_batches(torch, compute, logits, labels)
    assert int(compute.confusion.matrix.sum()) == 200
    assert by_batches(torch, compute, logits[:50], labels[:50]) != first
    assert compute(Passed(logits, labels)) == pytest.approx(first, rel=1e-12)
    assert by_batches(torch, compute, logits, labels) == first
    assert compute(Passed(logits, labels), compute_result=False) == {}
    with pytest.raises(ValueError, match="got 4 on the last axis"):
        compute(Passed(*draw(4)[::-1]), compute_result=False)
    assert int(compute.confusion.matrix.sum()) == 0
    assert by_batches(torch, compute, logits, labels) == first
    compute(Passed(logits, labels), compute_result=False)
    compute.reset()
    assert by_batches(torch, compute, logits, labels) == first
    compute(Passed(logits, labels), compute_result=False)
    assert compute(Passed(logits, labels)) == pytest.approx(first, rel=1e-12)


def test_what_a_model_returns_beside_logits_is_left_out(make: Any) -> None:
    labels, logits = draw()
    hidden = (np.zeros((200, 4, 8)), np.zeros((200, 4, 8)))
    compute = make("mcc")
    assert compute(Passed((logits, hidden), labels)) == compute(Passed(logits, labels))
    parts = [(logits[:70], hidden), (logits[70:], hidden)]
    assert compute(Passed(parts, [labels[:70], labels[70:]])) == compute(Passed(logits, labels))


def test_predicted_labels(make: Any) -> None:
    """As ``preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1)`` gives them."""
    labels, logits = draw()
    expected = make("mcc, f1")(Passed(logits, labels))
    assert make("mcc, f1", num_classes=3)(Passed(logits.argmax(-1), labels)) == expected
    with pytest.raises(TypeError, match="num_classes: expected a number, as the predictions are labels"):
        make("mcc")(Passed(logits.argmax(-1), labels))
    with pytest.raises(TypeError, match=r"expected logits for log_loss, got labels \(torch.int64\).*preprocess_logits"):
        make("mcc, log_loss", num_classes=3)(Passed(logits.argmax(-1), labels))


def test_undefined_values_are_those_of_a_confusion_metric(make: Any) -> None:
    """0 where all samples are of one class, NaN where there are none, so that early stopping goes on."""
    logits = np.asarray([[2.0, 1.0], [3.0, 1.0]])
    assert make("mcc")(Passed(logits, np.asarray([0, 0]))) == {"mcc": 0.0}
    with pytest.warns(RuntimeWarning, match="no sample is counted"):
        values = make("mcc")(Passed(logits, np.asarray([-100, -100])))
    assert math.isnan(values["mcc"])
    with pytest.warns(RuntimeWarning, match="1 samples are not counted"):
        values = make("accuracy")(Passed(logits, np.asarray([0, 2])))
    assert values == {"accuracy": 1.0, "dropped": 1.0}


def test_an_array_that_cannot_be_written_to(make: Any) -> None:
    labels, logits = draw()
    expected = make("mcc")(Passed(logits, labels))
    labels.flags.writeable = logits.flags.writeable = False
    assert make("mcc")(Passed(logits, labels)) == expected


def test_many_logits_are_counted_in_pieces(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    labels, logits = draw()
    compute = make("mcc, log_loss, roc_auc")
    expected = compute(Passed(logits, labels))
    module = importlib.import_module("matrics._integrations.transformers_metric")
    monkeypatch.setattr(module, "SCORES_AT_ONCE", 21)
    assert compute(Passed(logits, labels)) == pytest.approx(expected, rel=1e-12)


def test_it_can_be_pickled_and_printed(make: Any) -> None:
    labels, logits = draw()
    compute = make(["mcc", "roc_auc"], prefix="a/")
    values = compute(Passed(logits, labels))
    assert pickle.loads(pickle.dumps(compute))(Passed(logits, labels)) == values
    assert repr(compute) == "compute_metrics(['mcc', 'roc_auc'], prefix='a/')"


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        ("mccc", {}, "unknown metric 'mccc'; did you mean mcc"),
        ("log_los", {}, "unknown metric 'log_los'"),
        ("roc_auc[1]", {}, "metrics: expected roc_auc.*got 'roc_auc\\[1\\]'"),
        ("top_k_accuracy(k=x)", {}, "expected an integer k"),
        ("recall[horse]", {"class_names": NAMES}, "horse"),
        ([], {}, "metrics: expected at least one name, got none"),
        (3, {}, "metrics: expected a name, a metric or a list of them, got int"),
        ("mcc", {"labels": NAMES}, "names of classes belong in class_names="),
        ("mcc", {"labels": [1, 2], "num_classes": 2}, "expected either num_classes=.*got both"),
        ("mcc", {"ignore_index": "pad"}, "ignore_index: expected a 32-bit integer"),
        ("mcc", {"prefix": 1}, "prefix: expected text, got 1"),
        ("mcc", {"bits": "log"}, "bits: expected an integer from 4 to 20, or 0 for no areas, got 'log'"),
        (Passed([0], [0]), {}, "got the predictions of the Trainer: call the function first"),
    ],
)
def test_wrong_arguments_are_an_error_before_training(make: Any, metrics: Any, options: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make(metrics, **options)


def test_a_class_that_is_not_there(make: Any) -> None:
    """It is seen at the first logits, and each time."""
    labels, logits = draw()
    compute = make("accuracy, recall[7], log_loss")
    for _ in range(2):
        with pytest.raises(ValueError, match="7"):
            compute(Passed(logits, labels))


def test_arrays_that_do_not_fit(make: Any) -> None:
    labels, logits = draw()
    wrong = [
        ((logits, labels[:10]), r"an additional last axis.*got predictions \(200, 3\), label_ids \(10,\)"),
        ((logits[:, :1], labels[:, None]), r"got predictions \(200, 1\), label_ids \(200, 1\)"),
        ((labels[:5], labels), r"labels of the same shape, got predictions \(5,\), label_ids \(200,\)"),
        ((logits, logits), r"label_ids: expected integers.*torch.float32.*MultilabelMetric"),
        ((logits, (labels, labels)), r"label_ids: expected a single array.*label_names=.*got 2 arrays"),
        ((logits, None), "label_ids: expected a single array.*got NoneType"),
        (({"logits": logits}, labels), "predictions: expected a single array or tensor of logits, got dict"),
    ]
    for passed, message in wrong:
        with pytest.raises((TypeError, ValueError), match=message):
            make("mcc", num_classes=3)(Passed(*passed))
    with pytest.raises(TypeError, match=r"eval_prediction: expected an EvalPrediction of the Trainer.*got a tuple"):
        make("mcc")((logits, labels))
    with pytest.raises(ValueError, match="predictions: expected logits of two classes or more, got 1 on the last axis"):
        make("mcc")(Passed(logits[:, :1], labels))


# The Trainer ----------------------------------------------------------------------------------------------------------

# Tiny random models, made without a network.
TINY = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


@pytest.fixture
def transformers(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    torch.manual_seed(0)
    return pytest.importorskip("transformers")


def evaluate(transformers: Any, folder: Path, model: Any, data: Any, compute: Any, **options: Any) -> dict[str, float]:
    """What the Trainer makes of it, without the times; and of its own predictions for the references."""
    trainer = trainer_of(transformers, folder, model, data, compute, **options)
    values = trainer.evaluate()
    times = ("runtime", "per_second", "preparation_time")
    return {name: value for name, value in values.items() if not name.endswith(times) and name != "epoch"}


def trainer_of(transformers: Any, folder: Path, model: Any, data: Any, compute: Any, **options: Any) -> Any:
    options = {"per_device_eval_batch_size": 4, "report_to": "none", "use_cpu": True, "disable_tqdm": True, **options}
    args = transformers.TrainingArguments(str(folder), **options)
    collator = transformers.default_data_collator
    return transformers.Trainer(
        model=model, args=args, train_dataset=data, eval_dataset=data, compute_metrics=compute, data_collator=collator
    )


def predicted(torch: Any, model: Any, data: Any) -> np.ndarray:
    """The logits of all samples, without the Trainer."""
    with torch.no_grad():
        return model.eval()(torch.stack([one["input_ids"] for one in data])).logits.numpy()


WAYS = [
    {},
    {"batch_eval_metrics": True},
    {"eval_accumulation_steps": 2},
    {"eval_do_concat_batches": False},
    {"eval_do_concat_batches": False, "eval_accumulation_steps": 2},
    {"batch_eval_metrics": True, "per_device_eval_batch_size": 23},
]


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # of the Trainer
@pytest.mark.parametrize("hidden", [False, True])
def test_the_trainer_with_texts(transformers: Any, torch: Any, make: Any, tmp_path: Path, *, hidden: bool) -> None:
    """In each way of evaluation the same values as from scikit-learn on all logits, twice in a row."""
    sk = pytest.importorskip("sklearn.metrics")
    config = transformers.BertConfig(num_labels=3, output_hidden_states=hidden, **TINY)
    model = transformers.BertForSequenceClassification(config)
    data = [{"input_ids": torch.randint(0, 50, (8,)), "labels": k % 3} for k in range(23)]
    logits, labels = predicted(torch, model, data), np.arange(23) % 3
    expected = {
        "eval_mcc": sk.matthews_corrcoef(labels, logits.argmax(-1)),
        "eval_f1": sk.f1_score(labels, logits.argmax(-1), average="macro"),
        "eval_log_loss": sk.log_loss(labels, softmax(logits)),
        "eval_top_k_accuracy(k=2)": sk.top_k_accuracy_score(labels, logits, k=2),
    }
    compute = make("mcc, f1, log_loss, top_k_accuracy(k=2)")
    for way in (*WAYS, WAYS[1]):
        values = evaluate(transformers, tmp_path, model, data, compute, **way)
        assert values.pop("eval_loss") == pytest.approx(expected["eval_log_loss"], rel=1e-4), way
        assert values == pytest.approx(expected, rel=1e-5), way
    found = trainer_of(transformers, tmp_path, model, data, compute, batch_eval_metrics=True).predict(data)
    assert found.metrics["test_mcc"] == pytest.approx(expected["eval_mcc"])
    several = trainer_of(transformers, tmp_path, model, {"a": data, "b": data[:9]}, compute, batch_eval_metrics=True)
    values = several.evaluate()
    assert values["eval_a_mcc"] == pytest.approx(expected["eval_mcc"])
    assert values["eval_b_mcc"] == pytest.approx(sk.matthews_corrcoef(labels[:9], logits[:9].argmax(-1)))


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_the_trainer_with_tags_of_tokens(transformers: Any, torch: Any, make: Any, tmp_path: Path) -> None:
    """Sequences of several lengths, padded in each batch by the collator, and over batches by the Trainer."""
    sk = pytest.importorskip("sklearn.metrics")
    model = transformers.BertForTokenClassification(transformers.BertConfig(num_labels=3, **TINY)).eval()
    data, true, pred = [], [], []
    for length in RANDOM.integers(3, 12, 23):
        ids, tags = torch.randint(1, 50, (length,)), torch.randint(0, 3, (length,))
        tags[0] = -100
        data.append({"input_ids": ids, "labels": tags})
        with torch.no_grad():
            pred.append(model(ids[None]).logits[0, 1:].argmax(-1))
        true.append(tags[1:])

    def collate(batch: list[Any]) -> dict[str, Any]:
        pad = torch.nn.utils.rnn.pad_sequence
        ids = pad([one["input_ids"] for one in batch], batch_first=True)
        labels = pad([one["labels"] for one in batch], batch_first=True, padding_value=-100)
        return {"input_ids": ids, "labels": labels, "attention_mask": (ids > 0).long()}

    recalls = sk.recall_score(torch.cat(true), torch.cat(pred), average=None, labels=range(3), zero_division=0)
    compute = make("recall:class", class_names=NAMES)
    for way in WAYS:
        trainer = trainer_of(transformers, tmp_path, model, data, compute, **way)
        trainer.data_collator = collate
        values = trainer.evaluate()
        assert [values[f"eval_recall/{name}"] for name in NAMES] == pytest.approx(list(recalls)), way


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_the_trainer_with_a_language_model(transformers: Any, torch: Any, make: Any, tmp_path: Path) -> None:
    """Top-5 of the next token; the log loss is PyTorch's."""
    config = transformers.GPT2Config(vocab_size=1200, n_positions=16, n_embd=16, n_layer=1, n_head=2)
    model = transformers.GPT2LMHeadModel(config)
    data = [{"input_ids": ids, "labels": ids} for ids in torch.randint(0, 1200, (10, 8))]
    logits = predicted(torch, model, data)[:, :-1].reshape(-1, 1200)
    after = torch.stack([one["labels"] for one in data])[:, 1:].reshape(-1).numpy()
    best = np.argsort(-logits, -1)[:, :50]
    expected = {
        "eval_accuracy": (best[:, 0] == after).mean(),
        "eval_top_k_accuracy(k=50)": (best == after[:, None]).any(-1).mean(),
        "eval_log_loss": -np.log(softmax(logits)[np.arange(len(after)), after]).mean(),
    }
    assert expected["eval_top_k_accuracy(k=50)"] > 0
    compute = make("accuracy, top_k_accuracy(k=50), log_loss", shift=True)
    for way in WAYS:
        values = evaluate(transformers, tmp_path, model, data, compute, **way)
        del values["eval_loss"]
        assert values == pytest.approx(expected, rel=1e-5), way
    with pytest.raises(ValueError, match="shift: expected True for a causal language model"):
        evaluate(transformers, tmp_path, model, data, make("accuracy"))


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_the_trainer_trains_with_it(transformers: Any, torch: Any, make: Any, tmp_path: Path) -> None:
    """Evaluations before training and after each epoch, and the best model by a measure, which early stopping reads."""
    model = transformers.BertForSequenceClassification(transformers.BertConfig(num_labels=2, **TINY))
    data = [{"input_ids": torch.full((4,), 10 + k % 2), "labels": k % 2} for k in range(16)]
    options = {"num_train_epochs": 4, "learning_rate": 1e-2, "eval_strategy": "epoch", "save_strategy": "epoch"}
    options |= {"eval_on_start": True, "metric_for_best_model": "mcc", "load_best_model_at_end": True}
    compute = make("mcc, accuracy, log_loss")
    trainer = trainer_of(transformers, tmp_path, model, data, compute, batch_eval_metrics=True, **options)
    trainer.add_callback(transformers.EarlyStoppingCallback(early_stopping_patience=3))
    trainer.train()
    history = [entry for entry in trainer.state.log_history if "eval_mcc" in entry]
    assert len(history) == 5
    assert history[0]["eval_accuracy"] in (0, 0.5, 1)  # of two texts
    assert trainer.state.best_metric == max(entry["eval_mcc"] for entry in history[1:]) == 1
    assert int(compute.confusion.matrix.sum()) == 16


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_two_processes_count_each_sample_once(transformers: Any, make: Any, tmp_path: Path) -> None:  # noqa: ARG001
    """The last batch is uneven, and is filled up with samples that are there already; both have all values."""
    in_trainer = importlib.import_module("in_trainer")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    path = [*sys.path, str(Path(__file__).parent)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, path))}
    subprocess.run([*command, in_trainer.__file__, str(tmp_path)], check=True, env=environment, capture_output=True)
    data = in_trainer.samples()
    passed = Passed(np.stack([one["x"] for one in data]), np.stack([one["labels"] for one in data]))
    expected = make("mcc, log_loss, true_positives:class")(passed)
    for rank in range(2):
        written = json.loads((tmp_path / f"{rank}.json").read_text())
        assert written["world"] == 2
        assert len(written["found"]) == 2
        for found in written["found"]:
            assert {name: found[f"eval_{name}"] for name in expected} == pytest.approx(expected, rel=1e-9)
