"""
An evaluation of language models
================================

Three models have answered 800 questions, three times each, and a fourth has graded their answers. Which of them is
the best, and is the judge to be believed?
"""

# %%
# The logs
# --------
#
# The evaluation is simulated, so that we know the truth: the judge fails 7 % of the right answers and passes 10 % of
# the wrong ones, but 45 % of those of the fluent model. People have graded the first answers to 300 questions.

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import matrics
import matrics.plot
from matrics import evals

random = np.random.default_rng(0)
names = ["small", "large", "fluent"]
skill, convincing = np.array([[0.2, 1.3, 0.6], [0.1, 0.1, 0.45]])[:, :, None, None]
hard = random.normal(0, 2, 800)  # the same questions are hard for all models
chance = 1 / (1 + np.exp(hard[:, None] - skill)) * np.ones(3)  # of three answers
truth = (random.random(chance.shape) < chance).astype(int)  # model, question, answer
passes = np.where(truth == 1, 0.93, convincing)
judge = (random.random(chance.shape) < passes).astype(int)
people = np.full(truth.shape, -1)
asked = random.choice(800, 300, replace=False)
people[:, asked, 0] = truth[:, asked, 0]

# %%
# Logs of Inspect, lm-evaluation-harness and promptfoo are read as they are. Ours are JSON Lines:

folder = Path(tempfile.mkdtemp())
logs = {name: folder / f"{name}.jsonl" for name in names}
for log, *both in zip(logs.values(), people, judge, strict=True):
    rows = [
        {"sample": k, "epoch": epoch + 1, "scorer": scorer, "score": int(grade)}
        for scorer, grades in zip(["people", "judge"], both, strict=True)
        for (k, epoch), grade in np.ndenumerate(grades)
        if grade >= 0
    ]
    log.write_text("\n".join(map(json.dumps, rows)))

# %%
# What the judge says
# -------------------
#
# Both models had the same questions, so they are compared question by question, and three answers to a question are
# not three questions.

found = {one.scorer: one for one in evals.compare(logs["fluent"], logs["large"])}
for scorer, one in found.items():
    value, low, high = one.difference[:3]
    print(f"{scorer:6} fluent less large: {value:+.3f}, from {low:+.3f} to {high:+.3f}")

# %%
# The judge is sure that the fluent model is better, and people say the opposite. The limits are for other questions
# and other answers, but for the same judge: they know nothing of its errors.
#
# How good is the judge?
# ----------------------

counts = matrics.judged.count(
    people.reshape(3, -1), judge.reshape(3, -1), num_classes=2
)
recall = matrics.judged.quality(counts, "recall:class").scores["recall:class"]
for name, (wrong, right) in zip(names, recall.estimate, strict=True):
    print(f"{name:6} {wrong:.0%} of wrong answers found, {right:.0%} of right passed")

# %%
# The judge is not equally good for all models, so its errors do not cancel in a comparison.
#
# Corrected pass rates
# --------------------
#
# People show how many of the answers that the judge passed are wrong, and how many of the others are right. That
# corrects all 2,400 grades of a model, whatever errors the judge makes. (Answers are taken as independent here.)

by_judge, corrected = (
    matrics.judged.interval(counts, "accuracy", method=method)["accuracy"]
    for method in ("judge", "auto")
)
both = zip(by_judge[:6], corrected[:6], strict=True)
rates = matrics.Interval(*(np.concatenate(pair) for pair in both))
rows = [f"{name}, {by}" for by in ("judge", "corrected") for name in names]
matrics.plot.models({"accuracy": rates}, names=rows)

# %%
# The judge's own limits are narrower, and those of the fluent model are around a wrong value.
#
# Which is better, and how sure is that?
# --------------------------------------
#
# Answers to one question are alike, within a model and between models. So whole questions are drawn anew, with all
# that belongs to them: each question has counts of its own along a batch axis, and a draw is a sum along this axis.

by_question = matrics.judged.count(people, judge, num_classes=2)
times = random.multinomial(800, np.full(800, 1 / 800), size=2000)
drawn = matrics.results.JudgedCounts(
    *(np.einsum("rq,mq...->mr...", times, part) for part in by_question[:2])
)
draws = matrics.accuracy(matrics.judged.confusion_matrix(drawn))
gaps = {f"large less {names[k]}": draws[1] - draws[k] for k in (0, 2)}
for name, gap in gaps.items():
    low, high = np.quantile(gap, [0.025, 0.975])
    print(f"{name}: from {low:.3f} to {high:.3f}")
print("the truth:", (truth[1] - truth[[0, 2]]).mean((1, 2)).round(3))
matrics.plot.distribution(gaps, title="difference of pass rates")

# %%
# The large model is better than both others. Its lead over the fluent one is less certain, as the judge helps little
# there.
#
# What would make it more certain?
# --------------------------------
#
# More labels of people do. For limits of each pass rate that are 0.03 away from it, about these are needed, if
# answers were independent (there are 300):

needed = matrics.judged.labels_needed(counts, "accuracy", half_width=0.03).labels
matrices = matrics.judged.confusion_matrix(counts)
alone = matrics.stats.samples_needed(matrices, "accuracy", half_width=0.03)
for name, labels, more in zip(names, needed, alone, strict=True):
    print(f"{name:6} {labels:.0f} labels, or {more:.0f} without the judge")

# %%
# More questions, or more answers to the same, only help where the judge is fair. So far are the limits of its own
# difference from the middle, now and with twice as many of either:

one = found["judge"]
for more in ({}, {"samples": 2}, {"epochs": 2}):
    print(more, f"{one.half_width(**more):.3f}")

# %%
# More answers are nearly as good as new questions, which somebody has to write.
#
# Refused answers
# ---------------
#
# Models refuse some questions, and the log then has no score. The answers are left out, and the result says how many
# are left; a model that refuses the hard questions is not better. On the command line, all logs are compared in one
# call, and ``--scorer`` chooses one of several scorers.

refusal = np.random.default_rng(1)
for log, share in zip(logs.values(), (0.01, 0.02, 0.15), strict=True):
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    for row in rows:
        is_hard = hard[row["sample"]] > 1
        row["score"] = None if is_hard and refusal.random() < share else row["score"]
    log.write_text("\n".join(map(json.dumps, rows)))


def run(command):
    """Print what a command prints, as in a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "matrics", *shlex.split(command)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, "exit code ", done.returncode, sep="")


run("compare small.jsonl large.jsonl fluent.jsonl --scorer judge")

# %%
# Sixty labels, and a gate
# ------------------------
#
# Often there are fewer labels than here. The command line needs a table with a row for each answer and the grades of
# people and of the judge. Sixty questions have grades of people:

with (folder / "grades.csv").open("w") as file:
    file.write("id,model,human,judge\n")
    words = ["fail", "pass"]
    for name, true, judged in zip(names, truth[:, :, 0], judge[:, :, 0], strict=True):
        for k in range(800):
            human = words[true[k]] if k in asked[:60] else ""
            file.write(f"{k},{name},{human},{words[judged[k]]}\n")
run("compare grades.csv --judge judge --by model --paired-on id")

# %%
# A pipeline decides by the exit code of a gate: 0 pass, 1 fail, 3 undecided. Sixty labels are too few to decide on a
# bound that is close; the gate says how many would do.

lines = (folder / "grades.csv").read_text().splitlines()
kept = [lines[0], *(line for line in lines if ",large," in line)]
(folder / "large.csv").write_text("\n".join(kept) + "\n")
run("gate large.csv --judge judge --require 'accuracy >= 0.5'")
run("gate large.csv --judge judge --require 'accuracy >= 0.65'")

# %%
# See also :doc:`/judged`, :doc:`/evals` and :doc:`/gate`.
