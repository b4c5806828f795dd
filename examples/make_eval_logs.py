"""Make the small evaluation logs of ``tests/data/evals`` anew, by Inspect and lm-evaluation-harness themselves.

Run it in an environment of its own, as ``nox -s evals`` does: ``python examples/make_eval_logs.py FOLDER``. The models
are stand-ins: Inspect's mock model with answers that are written here, and the harness's dummy model, which guesses.
What the tools print about their logs is written beside them, to ``printed.json``.
"""

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from inspect_ai import Task, eval_async
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import accuracy, choice, includes, match, stderr
from inspect_ai.solver import generate, multiple_choice

LETTERS = "ABCD"
SAMPLES = 30
WORDS = 15
EPOCHS = 3
FAILURE = "failure"
PASSAGES = 10  # three questions about each

HARNESS_TASK = """
task: parity
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "Is {{{{number}}}} even?"
doc_to_target: label
doc_to_choice: ["no", "yes"]
metric_list: [{{metric: acc}}, {{metric: acc_norm}}]
"""
HARNESS_WORDS = """
task: echo
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "Say {{{{word}}}}."
doc_to_target: word
generation_kwargs: {{until: ["."]}}
metric_list: [{{metric: exact_match}}]
"""


def answers(skill: float, seed: int) -> dict[int, list[str]]:
    """The letter of each sample in each epoch: some samples are hard, and no model is the same twice."""
    # The same samples are hard for every model.
    hard, own = random.Random(1), random.Random(seed)  # noqa: S311
    found = {}
    for k in range(SAMPLES):
        chance = min(1.0, max(0.0, skill + hard.uniform(-0.5, 0.4)))
        right = LETTERS[k % 4]
        wrong = [letter for letter in LETTERS if letter != right]
        found[k] = [right if own.random() < chance else own.choice(wrong) for _ in range(EPOCHS)]
    return found


def mock(said: dict[int, list[str]], words: Callable[[str], str]) -> object:
    """A model that says these letters, whatever the order in which it is asked."""
    asked: dict[int, int] = {}

    def answer(messages: list, *_: object) -> ModelOutput:
        number = int(messages[-1].text.partition("question ")[2].partition(" ")[0])
        asked[number] = asked.get(number, -1) + 1
        if said[number][asked[number]] == FAILURE:
            raise RuntimeError("the model is out of order")
        output = ModelOutput.from_content("mockllm/model", words(said[number][asked[number]]))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or it would load a tokenizer
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def questions(first: int = 0) -> list[Sample]:
    return [
        Sample(
            id=f"q{k:02d}",
            input=f"This is question {k} of the test",
            choices=["one", "two", "three", "four"],
            target=LETTERS[k % 4],
            metadata={"passage": f"p{k % PASSAGES}"},
        )
        for k in range(first, SAMPLES)
    ]


def run(task: Task, model: object, folder: Path) -> EvalLog:
    options = {"epochs": EPOCHS, "max_samples": 1, "fail_on_error": False, "log_format": "eval"}
    (log,) = asyncio.run(eval_async(task, model=model, log_dir=str(folder), **options))
    return log


def printed(log: EvalLog) -> dict[str, dict[str, float]]:
    return {score.name: {name: metric.value for name, metric in score.metrics.items()} for score in log.results.scores}


def save(log: EvalLog, path: Path, told: dict[str, dict]) -> None:
    for sample in log.samples:  # what was said and done is nine tenths of a log, and nothing here reads it
        sample.events, sample.attachments, sample.messages, sample.output = [], {}, [], ModelOutput()
        if sample.error:
            sample.error.traceback = sample.error.traceback_ansi = ""
    write_eval_log(log, str(path))
    told[path.name] = printed(log)


def by_inspect(folder: Path, told: dict[str, dict], scratch: Path) -> None:
    several = [accuracy(), stderr(), stderr(cluster="passage")]
    told_clusters = {}
    for name, skill, seed, first in (("a", 0.55, 2, 0), ("b", 0.75, 3, 2)):
        task = Task(
            name="letters", dataset=questions(first), solver=multiple_choice(), scorer=choice(), metrics=several[:2]
        )
        said = answers(skill, seed)
        if name == "b":
            said[7][1] = FAILURE
        log = run(task, mock(said, "ANSWER: {}".format), scratch)
        save(log, folder / f"{name}.eval", told)
        if name == "a":
            write_eval_log(log, str(folder / "a.json"))
            clustered = Task(
                name="letters", dataset=questions(first), solver=multiple_choice(), scorer=choice(), metrics=several[2:]
            )
            told_clusters = printed(run(clustered, mock(said, "ANSWER: {}".format), scratch))
    told["a.eval by passage"] = told_clusters
    free = [Sample(id=f"w{k:02d}", input=f"This is question {k} of the test", target=f"word{k}") for k in range(WORDS)]
    said = answers(0.6, 4)
    words = {k: [f"word{k}" if one == LETTERS[k % 4] else "no idea" for one in said[k]] for k in said}
    task = Task(name="words", dataset=free, solver=generate(), scorer=[match(), includes()])
    save(run(task, mock(words, str), scratch), folder / "words.eval", told)


def by_harness(folder: Path, told: dict[str, dict], scratch: Path) -> None:
    numbers, said = scratch / "numbers.jsonl", scratch / "said.jsonl"
    numbers.write_text("".join(json.dumps({"number": k, "label": 1 - k % 2}) + "\n" for k in range(40)))
    said.write_text("".join(json.dumps({"word": ("lol", "rofl")[k % 3 == 0]}) + "\n" for k in range(12)))
    (scratch / "parity.yaml").write_text(HARNESS_TASK.format(data=numbers))
    (scratch / "echo.yaml").write_text(HARNESS_WORDS.format(data=said))
    command = (sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks", "parity,echo", "--log_samples")
    subprocess.run(  # noqa: S603 (our own arguments)
        [*command, "--include_path", str(scratch), "--output_path", str(scratch / "harness")], check=True
    )
    (results,) = (scratch / "harness").rglob("results_*.json")
    for task, found in json.loads(results.read_text())["results"].items():
        (samples,) = results.parent.glob(f"samples_{task}_*.jsonl")
        name = f"samples_{task}_2026-11-25T00-00-00.000000.jsonl"
        text = samples.read_text().replace(str(scratch), "")
        (folder / name).write_text(text)
        told[name] = found


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    told: dict[str, dict] = {"versions": {name: version(name) for name in ("inspect_ai", "lm_eval")}}
    scratch = Path(tempfile.mkdtemp())
    os.chdir(scratch)  # Inspect writes down which repository it was run in
    try:
        by_inspect(folder, told, scratch)
        by_harness(folder, told, scratch)
    finally:
        os.chdir(folder)
        shutil.rmtree(scratch)
    (folder / "printed.json").write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
