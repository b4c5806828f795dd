"""The tables of ``uncertainty_coverage.md``, from the results of ``benchmarks/coverage.py`` in ``coverage.json``.

``conf.py`` puts them into the page; ``python docs/coverage_tables.py`` prints them.
"""

import json
import math
from pathlib import Path
from statistics import fmean

from matrics._tables.markdown import table

STUDY = json.loads((Path(__file__).parent / "coverage.json").read_text(encoding="utf-8"))
COLUMN = {name: place for place, name in enumerate(STUDY["about"]["columns"])}

MEASURES = {
    "accuracy": "`accuracy`",
    "recall:class": "`recall:class` (last)",
    "precision:macro": "`precision:macro`",
    "f1:macro": "`f1:macro`",
    "mcc": "`mcc`",
    "cohen_kappa": "`cohen_kappa`",
    "g_mean": "`g_mean`",
    "eve": "`eve`",
    "cen": "`cen`",
}
METHODS = ("auto", "delta", "posterior", "bootstrap", "bca", "wilson")
PROMISED = 0.93  # what the default is to reach where its status is 0
SAMPLES_OF_A_CLASS, SAMPLES_OF_A_CELL = 20, 20  # as in matrics._uncertainty.status


def in_order(text):
    """A part of a setting as it sorts: numbers by their values, before words."""
    try:
        return (0, float(text), "")
    except ValueError:
        return (1, 0, text)


def settings(section):
    """The settings of a part of the study as (classes, truth, samples) or the like, and its entries by method."""
    found = {}
    for key, entry in STUDY[section].items():
        *setting, method = key.split("|")
        found.setdefault(tuple(setting), {})[method] = entry
    order = sorted(found, key=lambda some: [in_order(x) for x in some])
    return {some: found[some] for some in order}


def reliable(setting):
    """Whether the samples suffice for status 0: 20 n² in all, and 20 expected of each true class."""
    n, kind, samples = int(setting[0]), setting[1], int(setting[2])
    rarest = 1 / (20 * (n - 1) + 1) if kind == "one to twenty" else 1 / n
    return samples >= SAMPLES_OF_A_CELL * n * n and samples * rarest >= SAMPLES_OF_A_CLASS


def value(entry, measure, column="held"):
    """One number, NaN where it does not exist."""
    found = entry[measure][COLUMN[column]] if measure in entry else None
    return math.nan if found is None else found


def percent(share):
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


def marked(share):
    """In bold if it is below what is promised."""
    return f"**{percent(share)}**" if share < PROMISED else percent(share)


def known(values):
    return [one for one in values if not math.isnan(one)]


def mean(values):
    """The mean of those that exist."""
    some = known(values)
    return fmean(some) if some else math.nan


def lowest(section, method, measure, *, of_reliable=True):
    """The lowest coverage over all settings, or all others, and the setting."""
    found = [
        (value(entries[method], measure), setting)
        for setting, entries in settings(section).items()
        if reliable(setting) == of_reliable and method in entries
    ]
    return min(one for one in found if not math.isnan(one[0]))


def average(method, measure, *, of_reliable=True):
    """The mean coverage over the same settings."""
    chosen = [
        entries[method]
        for setting, entries in settings("cells").items()
        if reliable(setting) == of_reliable and method in entries
    ]
    return mean(value(entry, measure) for entry in chosen)


def default():
    """The default in a nutshell: a row for each measure."""
    rows = []
    for measure, name in MEASURES.items():
        row = [name]
        for of_reliable in (True, False):
            least, setting = lowest("cells", "auto", measure, of_reliable=of_reliable)
            middle = average("auto", measure, of_reliable=of_reliable)
            row += [percent(middle), marked(least), ", ".join(setting)]
        rows.append(row)
    head = ["measure", "enough samples: mean", "lowest", "where", "too few: mean", "lowest", "where"]
    return table(head, rows)


def every_setting():
    """All settings of the default."""
    rows = []
    for (n, kind, samples), entries in settings("cells").items():
        entry = entries["auto"]
        undefined = max(value(entry, measure, "undefined") for measure in MEASURES)
        none = max(known(value(entry, measure, "none") for measure in MEASURES))
        ok = percent(value(entry, "accuracy", "ok"))
        enough = "✓" if reliable((n, kind, samples)) else ""
        coverage = [marked(value(entry, measure)) for measure in MEASURES]
        rows.append([n, kind, f"{int(samples):,}", enough, *coverage, percent(undefined), percent(none), ok])
    head = ["n", "truth", "N", "enough", *MEASURES.values(), "undefined", "none", "status 0"]
    return table(head, rows)


def limits():
    """The default just above the fewest samples of status 0: the lowest coverage, and at how many samples."""
    groups = {}
    for (n, kind, samples), entries in settings("limits").items():
        groups.setdefault((n, kind), {})[int(samples)] = entries["auto"]
    rows = []
    for (n, kind), entries in groups.items():
        row = [n, kind, f"{min(entries):,} to {max(entries):,}"]
        for measure in MEASURES:
            least, samples = min((value(entry, measure), samples) for samples, entry in entries.items())
            row.append(f"{marked(least)} ({samples:,})")
        rows.append(row)
    return table(["n", "truth", "N", *MEASURES.values()], rows)


def methods():
    """Lowest and mean coverage of each method where samples are enough."""
    rows = []
    for measure, name in MEASURES.items():
        row = [name]
        for method in METHODS:
            if method == "wilson" and measure not in {"accuracy", "recall:class"}:
                row.append("–")
                continue
            row.append(f"{marked(lowest('cells', method, measure)[0])} ({percent(average(method, measure))})")
        rows.append(row)
    return table(["measure", *METHODS], rows)


def widths():
    """The mean width of intervals over that of the default, where samples are enough: the geometric mean."""
    chosen = [entries for setting, entries in settings("cells").items() if reliable(setting)]
    rows = []
    for measure, name in MEASURES.items():
        row = [name]
        for method in METHODS[1:]:
            ratios = known(
                value(entries[method], measure, "width") / value(entries["auto"], measure, "width")
                for entries in chosen
                if method in entries
            )
            row.append(f"{math.exp(fmean(map(math.log, ratios))):.2f}" if ratios else "–")
        rows.append(row)
    return table(["measure", *METHODS[1:]], rows)


def few():
    """All methods where samples are too few: means over measures and settings."""
    groups = {}
    for setting, entries in settings("cells").items():
        if not reliable(setting):
            groups.setdefault(int(setting[2]), []).append(entries)
    rows = []
    for samples, group in sorted(groups.items()):
        for method in METHODS[:-1]:
            shares = []
            for column in ("held", "held_if_given", "none"):
                found = [entries[method] for entries in group if method in entries]
                shares.append(mean(value(entry, measure, column) for entry in found for measure in MEASURES))
            rows.append([f"{samples:,}", str(len(group)), method, *map(percent, shares)])
    return table(["N", "settings", "method", "held", "held, of those with limits", "none"], rows)


RARE_MEASURES = ("balanced_accuracy", "g_mean", "informedness", "f1:macro", "mcc")


def rare():
    """The default where one class has few errors, or where many classes have few samples."""
    rows = []
    for (n, size, last, recall), entries in settings("rare").items():
        entry = entries["auto"]
        found = [
            f"{marked(value(entry, measure))} ({percent(value(entry, measure, 'held_if_ok'))})"
            for measure in RARE_MEASURES
        ]
        ok = percent(value(entry, "mcc", "ok"))
        rows.append([n, f"{int(size):,}", f"{int(last):,}", recall, f"{entry['sets']:,}", *found, ok])
    measures = [f"`{measure}`" for measure in RARE_MEASURES]
    return table(["n", "samples of a class", "of the last", "recall", "data sets", *measures, "status 0"], rows)


def exact():
    """The coverage of two classes of fixed sizes, from the probabilities of all matrices."""
    measures = RARE_MEASURES[:3]
    rows = []
    for (size, last, *recalls), entries in settings("exact").items():
        for method, entry in entries.items():
            found = [f"{marked(entry[measure][0])} ({percent(entry[measure][1])})" for measure in measures]
            ok = percent(entry[measures[0]][2])
            rows.append([f"{int(size):,}", f"{int(last):,}", " and ".join(recalls), f"`{method}`", *found, ok])
    head = ["samples of class 0", "of class 1", "recalls", "method", *(f"`{m}`" for m in measures), "status 0"]
    return table(head, rows)


WEIGHTED_MEASURES = ("accuracy", "recall:class", "precision:macro", "f1:macro", "mcc", "balanced_accuracy")
WEIGHTED_METHODS = {"auto": "with squares", "counts": "as counts"}


def weights():
    """Coverage with weights, and with weights that are taken for counts."""
    rows = []
    for (n, samples, sigma, slope), entries in settings("weights").items():
        for method, name in WEIGHTED_METHODS.items():
            entry = entries[method]
            found = [marked(value(entry, measure)) for measure in WEIGHTED_MEASURES]
            ok = percent(value(entry, "mcc", "ok"))
            rows.append([n, f"{int(samples):,}", sigma, slope, f"{entry['effective']:,.0f}", name, *found, ok])
    head = ["n", "N", "σ", "slope", "effective", "limits", *(f"`{m}`" for m in WEIGHTED_MEASURES), "status 0"]
    return table(head, rows)


CLUSTER_MEASURES = ("accuracy", "mcc", "f1:macro")
CLUSTER_METHODS = {
    "naive": "`auto` of the sum",
    "auto": "`auto`",
    "delta": "`delta`",
    "bootstrap": "`bootstrap`",
}


def clusters():
    """Coverage and mean widths, for clusters taken as such and not."""
    rows = []
    for (kind, correlation), entries in settings("clusters").items():
        for method, name in CLUSTER_METHODS.items():
            entry = entries[method]
            cells = [
                f"{marked(value(entry, measure))} ({value(entry, measure, 'width'):.3f})"
                for measure in CLUSTER_MEASURES
            ]
            rows.append([kind, correlation, f"{round(entry['measured'], 3) + 0:.3f}", name, *cells])
    head = ["truth", "correlation", "measured", "method", *(MEASURES[measure] for measure in CLUSTER_MEASURES)]
    return table(head, rows)


UNLIKE_MEASURES = ("accuracy", "recall[1]", "f1[1]", "f1:macro", "balanced_accuracy", "mcc")


def kept(entry, measure):
    """The share of data sets that are covered, or whose status is not 0."""
    ok = value(entry, measure, "ok")
    return 1 - ok * (1 - value(entry, measure, "held_if_ok")) if ok else 1.0


def unlike():
    """The default for clusters that are not alike: covered, covered or of another status, and of status 0."""
    rows = []
    for (law, number, correlation), entries in settings("unlike").items():
        entry = entries["auto"]
        cells = [
            f"{percent(value(entry, m))}, {marked(kept(entry, m))} ({round(100 * value(entry, m, 'ok'))})"
            for m in UNLIKE_MEASURES
        ]
        rows.append([law, number, correlation, *cells])
    return table(["clusters", "K", "correlation", *(f"`{m}`" for m in UNLIKE_MEASURES)], rows)


PAIRED_METHODS = {"apart": "`compare`", "auto": "`compare_paired`", "delta": "`delta`", "bootstrap": "`bootstrap`"}


def paired():
    """Coverage and mean widths of differences on the same samples, for these taken as such and not."""
    rows = []
    for (n, kind, samples), entries in settings("paired").items():
        for method, name in PAIRED_METHODS.items():
            cells = [
                f"{marked(value(entries[method], measure))} ({value(entries[method], measure, 'width'):.3f})"
                for measure in CLUSTER_MEASURES
            ]
            rows.append([n, kind, samples, name, *cells])
    return table(["n", "truth", "N", "method", *(MEASURES[measure] for measure in CLUSTER_MEASURES)], rows)


def check():
    """Coverage and widths with 1,000 and with 10,000 replicates."""
    numbers = [str(STUDY["about"][name]) for name in ("num", "check_num")]
    rows = []
    groups = {}
    for (*setting, method), entries in settings("check").items():
        groups[*setting, method] = [entries[number] for number in numbers]
    for (n, kind, samples, method), (first, second) in groups.items():
        means = [mean(value(entry, measure) for measure in MEASURES) for entry in (first, second)]
        apart = max(known(abs(value(first, measure) - value(second, measure)) for measure in MEASURES))
        ratios = known(value(second, measure, "width") / value(first, measure, "width") for measure in MEASURES)
        rows.append([n, kind, samples, method, *map(percent, means), percent(apart), f"{mean(ratios):.3f}"])
    head = ["n", "truth", "N", "method", *(f"held, {int(one):,}" for one in numbers), "largest difference", "width"]
    return table(head, rows)


def tables():
    """All tables by the names that the page has for them."""
    return {
        "coverage_default": default(),
        "coverage_settings": every_setting(),
        "coverage_limits": limits(),
        "coverage_methods": methods(),
        "coverage_widths": widths(),
        "coverage_few": few(),
        "coverage_rare": rare(),
        "coverage_exact": exact(),
        "coverage_weights": weights(),
        "coverage_clusters": clusters(),
        "coverage_unlike": unlike(),
        "coverage_paired": paired(),
        "coverage_check": check(),
    }


if __name__ == "__main__":
    for name, text in tables().items():
        print(f"\n{name}\n\n{text}")
