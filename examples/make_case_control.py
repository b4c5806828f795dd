"""Writes ``case_control.csv``: a made-up study of a blood test in as many ill people as healthy ones.

    python examples/make_case_control.py [FILE]

Each of 300 people has a marker in the blood, which is normal in both groups, with means two standard deviations apart.
The page "Your hospital has another prevalence" tells what the test is worth where 2 % are ill.
"""

import argparse
from pathlib import Path

import numpy as np

PEOPLE = 150  # in each group
CUT = 1.4  # from this marker on the test is positive: it was chosen for few false alarms


def main():
    """Draw the study, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).with_name("case_control.csv"))
    path = parser.parse_args().file
    random = np.random.default_rng(34)
    rows = ["person,y_true,y_pred,marker"]
    ill = np.repeat([0, 1], PEOPLE)
    markers = np.round(random.normal(2.0 * ill, 1.0), 2)
    for person, (is_ill, marker) in enumerate(zip(ill, markers, strict=True), 1):
        truth, test = ("ill" if is_one else "healthy" for is_one in (is_ill, marker >= CUT))
        rows.append(f"{person},{truth},{test},{marker:.2f}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
