"""Agreement of several raters: how often limits contain the truth, and the time beside other libraries.

``python benchmarks/raters.py`` prints the tables of docs/raters.md in Markdown, and the times of those of irrCAC,
krippendorff and statsmodels that are installed: seconds for one table there over seconds for one table here.
"""

import argparse
import contextlib
import importlib
import time
import warnings

import numpy as np

from matrics import raters

NAMES = (
    "percent_agreement",
    "brennan_prediger",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
)


# Shares of the classes, how often raters are right (the others guess), how many they are, what they leave out; items.
USUAL = (((0.5, 0.3, 0.2), 0.75, 4, 0.15, (20, 40, 100, 400)), ((0.9, 0.07, 0.03), 0.9, 4, 0.15, (20, 40, 100, 400)))
NEARLY_PERFECT = (
    *(((0.5, 0.3, 0.2), right, 2, 0.0, (30, 50, 100, 300)) for right in (0.95, 0.98, 0.99, 0.995)),
    *(((0.5, 0.3, 0.2), right, 4, 0.15, (30, 100, 300)) for right in (0.98, 0.99, 0.995)),
    ((0.8, 0.12, 0.08), 0.99, 4, 0.15, (100, 300)),
)


def rated(random, classes, right, number=4, gaps=0.15):
    """Raters who leave out some items, and are right so often; the others guess."""
    shape = (*classes.shape, number)
    given = np.where(random.random(shape) < right, classes[..., None], random.integers(0, 3, shape))
    return np.where(random.random(shape) < gaps, -1, given)


def coverage(sets, settings):
    random = np.random.default_rng(0)
    print("| raters | right | items | classes | " + " | ".join(f"`{name}`" for name in NAMES) + " | status 0 |")
    print("|" + "--:|" * (len(NAMES) + 5))
    for sizes, right, *options, many_items in settings:
        many = rated(random, random.choice(3, 400_000, p=sizes), right, *options)
        truth = {name: one.estimate for name, one in raters.interval(many, NAMES, num_classes=3).items()}
        for items in many_items:
            tables = rated(random, random.choice(3, (sets, items), p=sizes), right, *options)
            found = raters.interval(tables, NAMES, num_classes=3)
            held = [100 * np.mean((one.low <= truth[name]) & (truth[name] <= one.high)) for name, one in found.items()]
            fine = [100 * np.mean(found[name].status == 0) for name in ("fleiss_kappa", "gwet_ac2")]
            classes = ", ".join(f"{100 * size:.0f} %" for size in sizes)
            cells = [f"{options[0]}", f"{right:g}", f"{items}", classes, *(f"{one:.1f}" for one in held)]
            print(f"| {' | '.join(cells)} | {fine[0]:.0f}, {fine[1]:.0f} |")


def best(function, repeats=5):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def rivals():
    """Each takes one table of 200 items and four raters; here a thousand of them are one call."""
    random = np.random.default_rng(0)
    tables = rated(random, random.choice(3, (1000, 200), p=(0.5, 0.3, 0.2)), 0.75)
    table = np.where(tables[0] < 0, np.nan, tables[0])
    full = random.integers(0, 3, (200, 4))
    ours = {name: best(lambda name=name: getattr(raters, name)(tables, num_classes=3)) / 1000 for name in NAMES}
    alone = {name: best(lambda name=name: getattr(raters, name)(tables[0], num_classes=3)) for name in NAMES}
    with contextlib.suppress(ImportError):
        alpha = importlib.import_module("krippendorff").alpha
        yield (
            "krippendorff",
            "krippendorff_alpha",
            best(lambda: alpha(reliability_data=table.T, value_domain=[0, 1, 2], level_of_measurement="nominal")),
            ours,
            alone,
        )
    with contextlib.suppress(ImportError):
        module = importlib.import_module("statsmodels.stats.inter_rater")
        yield (
            "statsmodels",
            "fleiss_kappa",
            best(lambda: module.fleiss_kappa(module.aggregate_raters(full)[0])),
            ours,
            alone,
        )
    with contextlib.suppress(ImportError):
        cac = importlib.import_module("irrCAC.raw").CAC
        frame = importlib.import_module("pandas").DataFrame(table)
        for name, method in (("gwet_ac1", "gwet"), ("conger_kappa", "conger")):
            yield "irrCAC", name, best(lambda method=method: getattr(cac(frame), method)()), ours, alone


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=2000, help="tables of each row")
    for settings in (USUAL, NEARLY_PERFECT):
        coverage(parser.parse_args().num, settings)
        print()
    warnings.simplefilter("ignore")  # of irrCAC's data frames
    for library, name, seconds, ours, alone in rivals():
        print(
            f"{name}: {library} {seconds / alone[name]:.1f} times ours, {seconds / ours[name]:.0f} in a stack of 1,000"
        )
