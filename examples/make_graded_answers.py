"""Make ``graded_answers.csv``: answers of three models, graded by a language model, and in part by people.

The answers are simulated; people have graded those to 60 of the 400 questions. Hard questions are hard for all models.
The judge passes 9 % of the wrong answers and fails 6 % of the right ones, but it passes 40 % of the wrong answers of
the fluent model, and leaves 3 % of all answers without a grade. The script prints the pass rates of all answers, which
nobody would know of real ones.

    python examples/make_graded_answers.py
"""

import csv
from pathlib import Path

import numpy as np

SKILLS = {"small": 0.2, "large": 1.5, "fluent": 0.8}
NUMBER, LABELLED = 400, 60
WORDS = np.array(["fail", "pass"])


def main() -> None:
    random = np.random.default_rng(11)
    hard = random.normal(0, 1.5, NUMBER)
    labelled = np.isin(np.arange(NUMBER), random.choice(NUMBER, LABELLED, replace=False))
    with (Path(__file__).parent / "graded_answers.csv").open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(["id", "model", "human", "judge"])
        for model, skill in SKILLS.items():
            right = random.random(NUMBER) < 1 / (1 + np.exp(hard - skill))
            passed = random.random(NUMBER) < np.where(right, 0.94, 0.4 if model == "fluent" else 0.09)
            has_grade = random.random(NUMBER) < 0.97
            for k in range(NUMBER):
                human, judge = WORDS[int(right[k])], WORDS[int(passed[k])]
                write.writerow([k, model, human if labelled[k] else "", judge if has_grade[k] else ""])
            print(f"{model}: {right.mean():.3f}")


if __name__ == "__main__":
    main()
