"""Words: PyCM's own on a dense grid, but for a written list of differences; shapes, backends, rounding, errors."""

import math

import numpy as np
import pytest

import matrics
from matrics._catalogue import verbal
from matrics._catalogue.verbal import BENCHMARKS, interpret

INF = math.inf
NAMES = list(BENCHMARKS)

# One value in the middle of every band, by hand.
MIDDLES = {
    "landis_koch": {-0.5: "Poor", 0.1: "Slight", 0.3: "Fair", 0.5: "Moderate", 0.7: "Substantial",
                    0.9: "Almost Perfect"},
    "fleiss": {0.2: "Poor", 0.6: "Intermediate to Good", 0.8: "Excellent"},
    "altman": {0.1: "Poor", 0.3: "Fair", 0.5: "Moderate", 0.7: "Good", 0.9: "Very Good"},
    "cicchetti": {0.3: "Poor", 0.5: "Fair", 0.65: "Good", 0.9: "Excellent"},
    "cramer": {0.05: "Negligible", 0.15: "Weak", 0.3: "Moderate", 0.5: "Relatively Strong", 0.7: "Strong",
               0.9: "Very Strong"},
    "matthews": {0.2: "Negligible", 0.4: "Weak", 0.6: "Moderate", 0.8: "Strong", 0.95: "Very Strong"},
    "goodman_kruskal": {0.1: "Very Weak", 0.3: "Weak", 0.5: "Moderate", 0.7: "Strong", 0.9: "Very Strong",
                        1: "Perfect"},
    "krippendorff": {0.5: "Low", 0.7: "Tentative", 0.9: "High"},
    "pearson": {0.05: "Not Appreciable", 0.15: "Weak", 0.25: "Medium", 0.5: "Strong"},
    "positive_likelihood_ratio": {0.5: "Negligible", 3: "Poor", 7: "Fair", 20: "Good"},
    "negative_likelihood_ratio": {0.05: "Good", 0.15: "Fair", 0.3: "Poor", 0.7: "Negligible"},
    "discriminant_power": {0.5: "Poor", 1.5: "Limited", 2.5: "Fair", 5: "Good"},
    "auc": {0.5: "Poor", 0.65: "Fair", 0.75: "Good", 0.85: "Very Good", 0.95: "Excellent"},
    "yule_q": {0.1: "Negligible", 0.3: "Weak", 0.6: "Moderate", 0.8: "Strong"},
}  # fmt: skip

PYCM = {
    "landis_koch": "kappa_analysis_koch",
    "fleiss": "kappa_analysis_fleiss",
    "altman": "kappa_analysis_altman",
    "cicchetti": "kappa_analysis_cicchetti",
    "cramer": "V_analysis",
    "matthews": "MCC_analysis",
    "goodman_kruskal": "lambda_analysis",
    "krippendorff": "alpha_analysis",
    "pearson": "pearson_C_analysis",
    "positive_likelihood_ratio": "PLR_analysis",
    "negative_likelihood_ratio": "NLR_analysis",
    "discriminant_power": "DP_analysis",
    "auc": "AUC_analysis",
    "yule_q": "Q_analysis",
}

# The ends of the range of every measure, and PyCM's label (or "None") for what is outside.
ENDS = {
    "landis_koch": [(-INF, ""), (1, "None")],
    "fleiss": [(-INF, ""), (1, "Excellent")],
    "altman": [(-INF, ""), (1, "None")],
    "cicchetti": [(-INF, ""), (1, "None")],
    "cramer": [(0, "Negligible"), (1, "Very Strong")],
    "matthews": [(-1, "Negligible"), (1, "Very Strong")],
    "goodman_kruskal": [(0, "None"), (1, "None")],
    "krippendorff": [(-INF, ""), (1, "High")],
    "pearson": [(0, "None"), (1, "Strong")],
    "positive_likelihood_ratio": [(0, "Negligible"), (INF, "")],
    "negative_likelihood_ratio": [(0, "Good"), (INF, "")],
    "discriminant_power": [(-INF, ""), (INF, "")],
    "auc": [(0, "Poor"), (1, "Excellent")],
    "yule_q": [(-1, "Negligible"), (1, "Strong")],
}
# Within it there are these two values for which PyCM has no label: its scales begin just above 0.
HOLES = {("goodman_kruskal", 0): "Very Weak", ("pearson", 0): "Not Appreciable"}


@pytest.fixture
def pycm_label():
    module = pytest.importorskip("pycm.interpret")
    return lambda name, value: getattr(module, PYCM[name])(value)


def _edges(name):
    return np.array([edge for edge in BENCHMARKS[name].edges if edge > -INF])


def test_every_benchmark_is_tested():
    assert verbal.list_benchmarks() == list(MIDDLES) == list(PYCM) == list(ENDS)
    for name, record in BENCHMARKS.items():
        assert record.range == (ENDS[name][0][0], ENDS[name][1][0])


@pytest.mark.parametrize("name", NAMES)
def test_every_label_by_hand(name):
    values, labels = list(MIDDLES[name]), list(MIDDLES[name].values())
    assert interpret(values, name).tolist() == labels
    assert sorted(labels) == sorted(BENCHMARKS[name].labels)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_pycm_agrees_within_the_range(name, pycm_label):
    (low, high), edges = BENCHMARKS[name].range, _edges(name)
    # Of what is just below an edge, rounding is the next section's.
    below = edges[edges > low] - 1e-7
    far = [value for value in (-INF, -1e6, 1e6, INF) if low <= value <= high]
    grid = np.arange(max(low, -12) * 1000, min(high, 12) * 1000 + 1) / 1000
    values = np.array([*grid, *edges, *np.minimum(np.nextafter(edges, INF), high), *below, *far])
    assert len(values) > 1000
    differences = {
        (name, value): (label, pycm_label(name, value))
        for value, label in zip(values.tolist(), interpret(values, name).tolist(), strict=True)
        if label != pycm_label(name, value)
    }
    assert differences == {key: (label, "None") for key, label in HOLES.items() if key[0] == name}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_pycm_has_labels_outside_the_range(name, pycm_label):
    for step, (end, label) in zip((-1, 1), ENDS[name], strict=True):
        assert interpret(end, name) in (BENCHMARKS[name].labels[0], BENCHMARKS[name].labels[-1])
        if not math.isinf(end):
            for value in (end + step * 1e-6, end + step, step * INF):
                assert (interpret(value, name), pycm_label(name, value)) == (verbal.OUT_OF_RANGE, label)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_pycm_says_none_of_nan(name, pycm_label):
    assert pycm_label(name, math.nan) == "None"
    assert interpret(math.nan, name) == verbal.UNDEFINED


def test_pycm_has_these_names():
    pycm = pytest.importorskip("pycm.params")
    ours = {alias for record in BENCHMARKS.values() for alias in record.aliases}
    assert ours == set(pycm.BENCHMARK_LIST)
    for name in {*pycm.BENCHMARK_LIST, *pycm.OVERALL_BENCHMARK_LIST, *pycm.CLASS_BENCHMARK_LIST}:
        record = BENCHMARKS[verbal._NAMES[name.casefold().replace(" ", "_")]]
        scores = {**pycm.OVERALL_BENCHMARK_SCORE_DICT, **pycm.CLASS_BENCHMARK_SCORE_DICT}[name.partition("(")[0]]
        # PyCM's scores ascend from bad to good; a high negative likelihood ratio is bad.
        labels = record.labels[:: -1 if name == "NLRI" else 1]
        assert {label: k for k, label in enumerate(labels, 1)} | {"None": "None"} == scores


@pytest.mark.parametrize(
    "name", ["SOA1(Landis & Koch)", "soa1(landis & koch)", "SOA1", "soa1", "Landis-Koch", " landis koch "]
)
def test_names_of_landis_and_koch(name):
    assert interpret(0.7, name) == "Substantial"


def test_both_lambdas_and_both_matthews():
    assert interpret(0.1, "SOA7(Lambda A)") == interpret(0.1, "SOA8(Lambda B)") == "Very Weak"
    assert interpret(0.1, "MCCI") == interpret(0.1, "SOA6(Matthews)") == "Negligible"


# Rounding ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_decides_no_label(name, dtype):
    high = BENCHMARKS[name].highest
    for edge in _edges(name):
        expected = interpret(edge, name)
        on = np.array(edge, dtype)
        around = [np.nextafter(on, dtype(-INF)), on, np.nextafter(on, dtype(INF))]
        assert interpret(np.array(around), name).tolist() == [expected] * 3
        if edge > BENCHMARKS[name].edges[0]:
            assert interpret(on - dtype(1e-5), name) != expected
    if high < INF:
        assert interpret(np.nextafter(np.array(high, dtype), dtype(INF)), name) == BENCHMARKS[name].labels[-1]
        assert interpret(np.array(high + 1e-5, dtype), name) == verbal.OUT_OF_RANGE


def test_kappa_of_the_docstring(pycm_label):
    kappa = ((3.5 / 5) - 0.5) / 0.5  # as PyCM computes that of [[7, 3], [3, 7]]
    assert kappa < 0.4
    assert (interpret(kappa, "landis_koch"), pycm_label("landis_koch", kappa)) == ("Moderate", "Fair")
    kappa = 1.0000000000000002
    assert (interpret(kappa, "landis_koch"), pycm_label("landis_koch", kappa)) == ("Almost Perfect", "None")


def test_slack_is_narrow():
    below = np.array([0.4 - 0.9e-9, 0.4 - 1.1e-9])
    assert interpret(below, "landis_koch").tolist() == ["Moderate", "Fair"]
    beyond = np.array([1 + 0.9e-9, 1 + 1.1e-9])
    assert interpret(beyond, "landis_koch").tolist() == ["Almost Perfect", "out of range"]


# Shapes, kinds and backends ------------------------------------------------------------------------------------------

STACK = [[0.1, 0.2, math.nan], [1.5, -3, 0.95]]
WORDS = [["Slight", "Fair", "undefined"], ["out of range", "Poor", "Almost Perfect"]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stack_of_every_backend(backend, dtype):
    if dtype == "float64" and not backend.float64:
        pytest.skip("there is no float64")
    labels = interpret(backend.asarray(STACK, dtype=dtype), "landis_koch")
    assert type(labels) is np.ndarray
    assert labels.dtype.kind == "U"
    assert labels.tolist() == WORDS


def test_scalar_of_every_backend(backend):
    label = interpret(backend.asarray(0.7, dtype="float32"), "matthews")
    assert type(label) is str
    assert label == "Strong"


def test_integers_of_every_backend(backend):
    labels = interpret(backend.asarray([-1, 0, 1, 2], dtype="int32"), "landis_koch")
    assert labels.tolist() == ["Poor", "Slight", "Almost Perfect", "out of range"]


def test_infinities_of_every_backend(backend):
    values = backend.asarray([-INF, INF, math.nan], dtype="float32")
    assert interpret(values, "PLRI").tolist() == ["out of range", "Good", "undefined"]
    assert interpret(values, "NLRI").tolist() == ["out of range", "Negligible", "undefined"]
    assert interpret(values, "DPI").tolist() == ["Poor", "Good", "undefined"]
    assert interpret(values, "AUCI").tolist() == ["out of range", "out of range", "undefined"]


def test_half_precision_and_gradients(torch):
    values = torch.tensor([0.5, 0.75], dtype=torch.bfloat16, requires_grad=True)
    assert interpret(values, "fleiss").tolist() == ["Intermediate to Good", "Excellent"]
    assert interpret(np.float16([0.5, 0.75]), "fleiss").tolist() == ["Intermediate to Good", "Excellent"]


def test_lists_and_plain_numbers():
    assert interpret(STACK, "landis_koch").tolist() == WORDS
    assert interpret((0.1, 0.9), "landis_koch").tolist() == ["Slight", "Almost Perfect"]
    for value in (0.5, np.float64(0.5), np.float32(0.5), np.array(0.5)):
        assert type(interpret(value, "landis_koch")) is str
        assert interpret(value, "landis_koch") == "Moderate"


@pytest.mark.parametrize("shape", [(0,), (2, 0), (1,), (2, 3, 4)])
def test_shape_stays(shape):
    labels = interpret(np.full(shape, 0.3), "landis_koch")
    assert labels.shape == shape
    assert labels.dtype.kind == "U"
    assert set(labels.ravel().tolist()) <= {"Fair"}


# Errors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("landis_kock", "landis_koch"),
        ("SOA1(Landis and Koch)", "landis_koch"),
        ("yule", "yule_q"),
        ("DP1", "discrimin"),
    ],
)
def test_unknown_name_has_the_nearest(name, near):
    with pytest.raises(ValueError, match=rf"unknown benchmark '{name[:4]}.*did you mean [^?]*{near}.*expected one of"):
        interpret(0.5, name)


def test_unlike_name_has_them_all():
    with pytest.raises(ValueError, match=f"unknown benchmark 'zzzzzz'; expected one of {', '.join(NAMES)}"):
        interpret(0.5, "zzzzzz")


@pytest.mark.parametrize("name", [None, 1, ("SOA1",), BENCHMARKS["auc"]])
def test_name_must_be_text(name):
    with pytest.raises(TypeError, match="benchmark: expected the name of a benchmark, got"):
        interpret(0.5, name)


@pytest.mark.parametrize("values", ["None", ["None", 0.5], [None, 0.5], 1j, [1 + 0j]])
def test_values_must_be_real(values):
    with pytest.raises(TypeError, match=r"values: expected (real numbers .*, got dtype|an array of numbers, got)"):
        interpret(values, "auc")


def test_ragged_list():
    with pytest.raises(ValueError, match="values: expected a rectangular array"):
        interpret([[0.1], [0.2, 0.3]], "auc")


def test_not_inside_jit(jax_backend):
    import jax

    with pytest.raises(TypeError, match="call it outside jit"):
        jax.jit(lambda values: interpret(values, "auc").size)(jax_backend.asarray([0.5]))


def test_every_value_of_the_measure_has_a_label():
    for record in BENCHMARKS.values():
        low, high = matrics.get_metric(record.of).range
        assert record.range[0] <= low
        assert high <= record.range[1]


def test_records_are_whole():
    for name, record in BENCHMARKS.items():
        assert record.name == name
        assert len(record.edges) == len(record.labels) == len(set(record.labels))
        assert list(record.edges) == sorted(record.edges)
        assert record.edges[-1] <= record.highest
    names = [alias.casefold() for record in BENCHMARKS.values() for alias in (record.name, *record.aliases)]
    assert len(names) == len(set(names))
    with pytest.raises(AttributeError):
        BENCHMARKS["auc"].source = ""
