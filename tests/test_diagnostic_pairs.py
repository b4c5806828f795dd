"""Two diagnostic tests of the same samples, and groups: beside R's DTComPair, statsmodels and SciPy."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import matrics

# The data Paired1 of R's DTComPair 1.2: [true, a, b].
PAIRED1 = np.asarray([[[155, 22], [53, 31]], [[32, 22], [78, 319]]])


def labels_of(joint: np.ndarray) -> list[np.ndarray]:
    """True labels, and those of a and of b."""
    return list(np.repeat(np.indices(joint.shape).reshape(3, -1), joint.ravel(), axis=1))


class TestComparison:
    """``matrics.stats.diagnostic_comparison``."""

    def test_beside_dtcompair(self) -> None:
        """Its README: values of both tests, and Kosinski's statistic of the predictive values."""
        result = matrics.stats.diagnostic_comparison(*labels_of(PAIRED1))
        expected = [
            (0.8802661, 0.7560976),
            (0.6781609, 0.7969349),
            (0.82536383, 0.86548223),
            (0.7662338, 0.6540881),
        ]
        np.testing.assert_allclose(result.estimate, expected, rtol=1e-6)
        np.testing.assert_allclose(result.p_value[2:], [0.01939120, 4.775012e-05], rtol=1e-6)
        np.testing.assert_array_equal(result.numerator[0], [397, 341])
        np.testing.assert_array_equal(result.denominator[0], [451, 451])
        np.testing.assert_array_equal(result.joint, PAIRED1)

    @pytest.mark.parametrize(("exact", "mid_p"), [(True, False), (False, False), (True, True)])
    def test_sensitivity_and_specificity_have_mcnemars_test(self, exact: Any, mid_p: Any) -> None:
        tables = pytest.importorskip("statsmodels.stats.contingency_tables")
        binom = pytest.importorskip("scipy.stats").binom
        result = matrics.stats.diagnostic_comparison(*labels_of(PAIRED1), exact=exact, mid_p=mid_p)
        for k, rows in enumerate((PAIRED1[1], PAIRED1[0])):
            expected = tables.mcnemar(rows, exact=exact, correction=True).pvalue
            if mid_p:
                expected -= binom.pmf(min(rows[0, 1], rows[1, 0]), rows[0, 1] + rows[1, 0], 0.5)
            assert result.p_value[k] == pytest.approx(expected, rel=1e-9)

    def test_differences_are_those_of_the_pairs(self) -> None:
        """The standard errors are, up to the sample that is added, those of DTComPair's Wald method."""
        joint = np.asarray([[[18, 2], [12, 18]], [[18, 14], [0, 18]]])
        result = matrics.stats.diagnostic_comparison(*labels_of(joint))
        np.testing.assert_allclose(result.difference[:2], [-0.28, 0.2 - 0.4], atol=1e-12)
        np.testing.assert_allclose(result.standard_error[:2], [0.06349803, 0.06928203], rtol=0.03)
        # Its limits by Agresti and Min's method, and by Tango's, which differ by 0.02 themselves.
        for low, high in (
            ((0.15368658, 0.06369947), (0.40631342, 0.33630053)),
            ((0.1747417, 0.06111243), (0.4166512, 0.34470882)),
        ):
            np.testing.assert_allclose(-result.high[:2], low, atol=0.03)
            np.testing.assert_allclose(-result.low[:2], high, atol=0.03)

    def test_labels_of_any_kind(self) -> None:
        true, a, b = labels_of(PAIRED1)
        plain = matrics.stats.diagnostic_comparison(true, a, b)
        words = np.asarray(["healthy", "ill"])
        named = matrics.stats.diagnostic_comparison(words[true], words[a], words[b], positive="ill")
        np.testing.assert_array_equal(named.joint, plain.joint)
        signs = np.asarray(["-", "+"])
        apart = matrics.stats.diagnostic_comparison(words[true], signs[a], signs[b], positive="ill=+")
        np.testing.assert_array_equal(apart.joint, plain.joint)
        turned = matrics.stats.diagnostic_comparison(true, a, b, positive=0)
        np.testing.assert_allclose(turned.p_value, plain.p_value[[1, 0, 3, 2]], rtol=1e-12)
        left = matrics.stats.diagnostic_comparison(
            [*words[true], "?"], [*words[a], "ill"], [*words[b], "ill"], positive="ill", ignore_index="?"
        )
        np.testing.assert_array_equal(left.joint, plain.joint)

    def test_what_it_hands_on(self) -> None:
        result = matrics.stats.diagnostic_comparison(*labels_of(PAIRED1), names=["old", "new_1"])
        assert result.to_frame().columns.tolist() == [
            *("measure", "old", "new_1", "difference", "low", "high", "p_value", "status")
        ]
        assert "| sensitivity | 397/451 | 0.880 | 341/451 | 0.756 | 0.124 |" in result.to_markdown()
        assert r"new\_1" in result.to_latex()
        assert json.loads(json.dumps(result.to_dict()))["joint"] == PAIRED1.tolist()
        assert "78 are positive by old alone and 22 by new_1 alone" in " ".join(str(result).split())

    @pytest.mark.parametrize(
        ("arguments", "options", "message"),
        [
            (([0, 1], [0, 1], [1, 0]), {"names": ["a"]}, "names: expected the names of two tests"),
            (([0, 1], [0, 1], [1, 0]), {"level": 2}, "level"),
            (([0, 1], [[0, 1]], [1, 0]), {}, r"y_a: expected labels \(N,\)"),
            ((["x", "y"], ["x", "y"], ["x", "y"]), {}, "positive: expected the class that the test is for"),
        ],
    )
    def test_bad_input_raises(self, arguments: Any, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            matrics.stats.diagnostic_comparison(*arguments, **options)


def test_compare_paired_has_p_values(backend: Any) -> None:
    """McNemar's test of all samples, and of those of a class and of the others, as statsmodels has it."""
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    specs = ["accuracy", "recall[1]", "specificity[1]", "recall:class", "fnr[1]", "mcc"]
    result = matrics.compare_paired(backend.asarray(PAIRED1), specs)
    p_value = {name: backend.numpy(one.p_value) for name, one in result.items()}

    def expected(rows: Any) -> float:
        return float(tables.mcnemar(rows, exact=False, correction=False).pvalue)

    tolerance = {"rtol": 1e-6} if backend.numpy(result["mcc"].difference).dtype == np.float64 else {"rtol": 2e-3}
    right = PAIRED1[1] + PAIRED1[0, ::-1, ::-1]
    np.testing.assert_allclose(p_value["accuracy"], expected(right), **tolerance)
    np.testing.assert_allclose(p_value["recall[1]"], expected(PAIRED1[1]), **tolerance)
    np.testing.assert_allclose(p_value["specificity[1]"], expected(PAIRED1[0]), **tolerance)
    np.testing.assert_allclose(p_value["fnr[1]"], expected(PAIRED1[1]), **tolerance)
    np.testing.assert_allclose(p_value["recall:class"], [expected(PAIRED1[0]), expected(PAIRED1[1])], **tolerance)
    assert np.isnan(p_value["mcc"])


def test_p_values_of_more_classes_and_of_stacks() -> None:
    """Each class is against the rest; a table without samples that differ has 1, an invalid one NaN."""
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    joint = np.random.default_rng(4).integers(1, 30, (3, 3, 3))
    found = matrics.compare_paired(joint, ["recall:class", "specificity:class", "class_accuracy:class"])
    for k in range(3):
        split = np.zeros((2, 2, 2))
        for place, number in np.ndenumerate(joint):
            split[tuple(int(one == k) for one in place)] += number
        right = split[1] + split[0, ::-1, ::-1]
        for name, rows in (("recall", split[1]), ("specificity", split[0]), ("class_accuracy", right)):
            expected = tables.mcnemar(rows, exact=False, correction=False).pvalue
            assert found[f"{name}:class"].p_value[k] == pytest.approx(expected, rel=1e-9)
    alike = np.zeros((2, 2, 2))
    alike[0, 0, 0] = alike[1, 1, 1] = 20
    with pytest.warns(RuntimeWarning, match="invalid"):
        stack = matrics.compare_paired(np.stack([alike, PAIRED1, -alike]), "accuracy")["accuracy"]
    assert stack.p_value[0] == 1
    assert 0 < stack.p_value[1] < 0.7
    assert np.isnan(stack.p_value[2])
    of_weights = matrics.compare_paired(PAIRED1 * 0.5, "accuracy", squared_weights=PAIRED1 * 0.25)["accuracy"]
    assert np.isnan(of_weights.p_value)


class TestGroups:
    """``matrics.stats.diagnostic_groups``."""

    STACK = np.asarray([[[180, 12], [6, 42]], [[160, 9], [14, 31]], [[90, 30], [11, 25]]])

    def test_tables_are_those_of_the_groups(self) -> None:
        result = matrics.stats.diagnostic_groups(self.STACK, groups=["n", "s", "w"])
        for table, cm in zip((*result.tables, result.overall), (*self.STACK, self.STACK.sum(0)), strict=True):
            alone = matrics.stats.diagnostic_table(cm)
            for part in ("estimate", "low", "high", "numerator", "status"):
                np.testing.assert_array_equal(getattr(table, part), getattr(alone, part))

    def test_proportions_have_pearsons_test(self) -> None:
        stats = pytest.importorskip("scipy.stats")
        result = matrics.stats.diagnostic_groups(self.STACK)
        tables = {
            "sensitivity": self.STACK[:, 1],
            "specificity": self.STACK[:, 0],
            "positive predictive value": self.STACK[:, :, 1],
            "negative predictive value": self.STACK[:, :, 0],
            "prevalence": self.STACK.sum(2),
        }
        for name, table in tables.items():
            expected = stats.chi2_contingency(table, correction=False).pvalue
            assert result.p_value[result.overall.names.index(name)] == pytest.approx(expected, rel=1e-9)

    def test_odds_ratios_have_breslow_and_days_test(self) -> None:
        tables = pytest.importorskip("statsmodels.stats.contingency_tables")
        result = matrics.stats.diagnostic_groups(self.STACK)
        strata = tables.StratifiedTable([cm[::-1, ::-1].astype(float) for cm in self.STACK])
        expected = strata.test_equal_odds(adjust=True).pvalue
        assert result.p_value[result.overall.names.index("odds ratio")] == pytest.approx(expected, rel=1e-9)

    def test_ratios_and_youdens_index_have_cochrans_test(self) -> None:
        combine = pytest.importorskip("statsmodels.stats.meta_analysis").combine_effects
        result = matrics.stats.diagnostic_groups(self.STACK)
        tn, fp, fn, tp = self.STACK.reshape(-1, 4).T
        ill, healthy = tp + fn, tn + fp
        effects = {
            "positive likelihood ratio": (np.log(tp / ill / (fp / healthy)), 1 / tp - 1 / ill + 1 / fp - 1 / healthy),
            "negative likelihood ratio": (np.log(fn / ill / (tn / healthy)), 1 / fn - 1 / ill + 1 / tn - 1 / healthy),
            "Youden's index": (tp / ill - fp / healthy, tp * fn / ill**3 + fp * tn / healthy**3),
        }
        for name, (effect, variance) in effects.items():
            expected = combine(effect, variance).test_homogeneity().pvalue
            assert result.p_value[result.overall.names.index(name)] == pytest.approx(expected, rel=1e-9), name

    def test_labels_with_a_group_each(self) -> None:
        names = np.asarray(["north", "south", "west"])
        group, true, pred = np.repeat(np.indices(self.STACK.shape).reshape(3, -1), self.STACK.ravel(), axis=1)
        order = np.random.default_rng(0).permutation(len(group))
        words = np.asarray(["healthy", "ill"])
        result = matrics.stats.diagnostic_groups(
            words[true][order], words[pred][order], groups=names[group][order], positive="ill"
        )
        assert result.groups == ("north", "south", "west")
        of_stack = matrics.stats.diagnostic_groups(self.STACK, groups=names)
        for table, expected in zip(result.tables, of_stack.tables, strict=True):
            np.testing.assert_array_equal(table.counts, expected.counts)
        np.testing.assert_array_equal(result.p_value, of_stack.p_value)
        assert result.overall.positive == "ill"

    def test_groups_without_samples_are_left_out_of_the_test(self) -> None:
        """A site without ill people, and ratios where a cell is 0."""
        stats = pytest.importorskip("scipy.stats")
        stack = np.concatenate([self.STACK[:2], [[[50, 3], [0, 0]]], [[[40, 0], [2, 9]]]])
        result = matrics.stats.diagnostic_groups(stack)
        expected = stats.chi2_contingency(stack[[0, 1, 3], 1], correction=False).pvalue
        assert result.p_value[0] == pytest.approx(expected, rel=1e-9)
        two = matrics.stats.diagnostic_groups(self.STACK[:2])
        row = result.overall.names.index("positive likelihood ratio")
        assert result.p_value[row] == pytest.approx(two.p_value[row], rel=1e-9)

    def test_what_it_hands_on(self) -> None:
        result = matrics.stats.diagnostic_groups(self.STACK, groups=["a", "b_1", "c"])
        frame = result.to_frame()
        assert len(frame) == 40
        assert frame["group"].tolist()[:4] == ["a", "b_1", "c", "overall"]
        assert "| sensitivity | a | 42/48 | 0.875 | 0.753 to 0.941 |" in result.to_markdown()
        assert r"b\_1" in result.to_latex()
        assert result.to_latex().count(r"\midrule") == 10
        assert "sensitivity (homogeneity: p = " in str(result)
        json.dumps(result.to_dict())

    @pytest.mark.parametrize(
        ("arguments", "options", "message"),
        [
            ((STACK[0],), {}, "expected a matrix for each group"),
            ((STACK[:1],), {}, "at least two groups, got 1"),
            ((STACK,), {"groups": ["a"]}, "groups: expected the names of 3 matrices, got 1"),
            (([0, 1], [0, 1]), {}, "groups: expected the group of each sample, got None"),
            (([0, 1], [0, 1]), {"groups": ["a"]}, r"groups: expected the group of each sample, shape \(2,\)"),
            (([0, 1], [0, 1]), {"groups": ["a", None]}, "groups: expected a value for each sample"),
        ],
    )
    def test_bad_input_raises(self, arguments: Any, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            matrics.stats.diagnostic_groups(*arguments, **options)
