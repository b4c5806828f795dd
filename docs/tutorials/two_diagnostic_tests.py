"""
Two diagnostic tests in a study with several sites
==================================================

A study has compared a rapid test and a laboratory test with a reference standard, at three sites; some results are
missing. What belongs in the paper: who was counted, the accuracy of both tests with limits, whether one is better,
and whether the sites agree.
"""

# %%
# The patients
# ------------
#
# 400 patients, of whom about a fifth are ill. The tests are simulated with a sensitivity of 0.92 (laboratory) and 0.80
# (rapid), and a specificity of 0.95; 12 patients have no reference standard, and 15 no result of the rapid test.

import numpy as np
import pandas as pd

import matrics

random = np.random.default_rng(11)
number = 400
is_ill = random.random(number) < 0.2


def test_result(sensitivity, specificity):
    """A positive or a negative result for each patient."""
    share = np.where(is_ill, sensitivity, 1 - specificity)
    return np.where(random.random(number) < share, "positive", "negative")


patients = pd.DataFrame(
    {
        "reference": np.where(is_ill, "positive", "negative"),
        "rapid": test_result(0.80, 0.95),
        "laboratory": test_result(0.92, 0.95),
        "site": random.choice(["north", "east", "south"], number, p=[0.5, 0.3, 0.2]),
    }
)
patients.loc[random.choice(number, 12, replace=False), "reference"] = None
patients.loc[random.choice(number, 15, replace=False), "rapid"] = None
patients.head()

# %%
# Who was counted
# ---------------
#
# STARD asks how many participants had no result and no reference standard. The columns are taken as they are.

flow = matrics.stats.participant_flow(patients["reference"], patients["rapid"])
print(flow)

# %%
# The accuracy of a test
# ----------------------
#
# One call gives the table of a paper; ``to_latex()`` and ``to_markdown()`` write it for a document.

known = patients.dropna()
truth = known["reference"]
print(matrics.stats.diagnostic_table(truth, known["rapid"], positive="positive"))

# %%
# In the study, a fifth of the patients are ill. Where the test will be used there are fewer, and predictive values
# depend on it:

table = matrics.stats.diagnostic_table(
    truth, known["rapid"], positive="positive", prevalence=[0.02, 0.05]
)
for name, value, low, high in zip(
    table.names[-4:], table.estimate[-4:], table.low[-4:], table.high[-4:], strict=True
):
    print(f"{name}: {value:.3f}, from {low:.3f} to {high:.3f}")

# %%
# Is one test better?
# -------------------
#
# Both tests were made on the same patients, so the difference is known better than from two separate studies.
# Sensitivities are compared on the ill patients and specificities on the healthy ones, each with McNemar's test.

print(
    matrics.stats.diagnostic_comparison(
        truth,
        known["laboratory"],
        known["rapid"],
        names=["laboratory", "rapid"],
        positive="positive",
    )
)

# %%
# Do the sites agree?
# -------------------
#
# A small p-value says that a measure differs between the sites by more than chance. With few ill patients at a site,
# a large one says little: look at the limits.

groups = matrics.stats.diagnostic_groups(
    truth, known["laboratory"], groups=known["site"], positive="positive"
)
print(groups)

# %%
# The command line makes the tables from a file: ``matrics diagnostic patients.csv --true reference --pred rapid
# --positive positive``. See :doc:`/diagnostic` for the formulas behind the limits, and
# :doc:`diagnostic_model_in_a_clinic` for scores instead of results.
