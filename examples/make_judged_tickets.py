"""Make ``judged_tickets.csv``: tickets routed by a model and labelled by a language model, and 300 by people.

The tickets are simulated. The routing model and the judge find the same tickets hard, and where the model is wrong, the
judge often makes the same error. People labelled 300 tickets, drawn at random. The script prints the accuracy and the
MCC of all tickets, which nobody would know of real ones.

    python examples/make_judged_tickets.py
"""

import csv
from pathlib import Path

import numpy as np

import matrics

CLASSES = ["billing", "delivery", "fraud"]
NUMBER, LABELLED = 4000, 300


def main() -> None:
    random = np.random.default_rng(7)
    true = random.choice(3, NUMBER, p=[0.5, 0.4, 0.1])
    hard = random.random(NUMBER) < 0.3
    others = (true + random.integers(1, 3, NUMBER)) % 3
    routed = np.where(random.random(NUMBER) < np.where(hard, 0.55, 0.92), true, others)
    own = (true + random.integers(1, 3, NUMBER)) % 3
    mistaken = np.where((routed != true) & (random.random(NUMBER) < 0.6), routed, own)
    judged = np.where(random.random(NUMBER) < np.where(hard, 0.65, 0.95), true, mistaken)
    labelled = np.isin(np.arange(NUMBER), random.choice(NUMBER, LABELLED, replace=False))
    with (Path(__file__).parent / "judged_tickets.csv").open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(["id", "people", "judge", "routed"])
        for k in range(NUMBER):
            people = CLASSES[true[k]] if labelled[k] else ""
            write.writerow([k, people, CLASSES[judged[k]], CLASSES[routed[k]]])
    scores = matrics.score(matrics.confusion_matrix(true, routed, num_classes=3), ["accuracy", "mcc"])
    print(f"of all tickets: accuracy {scores['accuracy']:.3f}, MCC {scores['mcc']:.3f}")


if __name__ == "__main__":
    main()
