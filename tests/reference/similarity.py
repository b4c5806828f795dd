"""Similarities and dissimilarities of one class's table of four counts."""

# ruff: noqa: PLR0917 (a formula's arguments are its symbols, and are given by name)

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature

from mpmath import mp, mpf

from .counts import Counts, Number, per_class, quotient, ratio


def of_table(formula: Callable[..., Number]) -> Callable[[Counts, int], Number]:
    """Register a formula of the symbols that it names: tp, fp, fn, tn; t true items, k called so, m in all."""
    symbols = signature(formula).parameters

    @per_class
    @wraps(formula)
    def measure(counts: Counts, k: int) -> Number:
        table = {
            "tp": counts.tp[k],
            "fp": counts.fp[k],
            "fn": counts.fn[k],
            "tn": counts.tn[k],
            "t": counts.true[k],
            "k": counts.pred[k],
            "m": counts.total,
        }
        return formula(**{symbol: table[symbol] for symbol in symbols})

    return measure


# similarity


@of_table
def ample(tp, fp, fn, tn):
    return abs(quotient(tp, tp + fp) - quotient(fn, fn + tn))


@of_table
def anderberg(tp, fp, fn, tn, t, k, m):
    known = max(tp, fp) + max(fn, tn) + max(tp, fn) + max(fp, tn)
    return quotient(known - max(t, m - t) - max(k, m - k), 2 * m)


@of_table
def andres_marzo_delta(tp, fp, fn, tn, m):
    return quotient(tp + tn - 2 * mp.sqrt(fp * fn), m)


@of_table
def baroni_urbani_buser_i(tp, fp, fn, tn):
    root = mp.sqrt(tp * tn)
    return quotient(root + tp, root + tp + fp + fn)


@of_table
def baroni_urbani_buser_ii(tp, fp, fn, tn):
    root = mp.sqrt(tp * tn)
    return quotient(root + tp - fp - fn, root + tp + fp + fn)


@of_table
def clement(tp, tn, k, m):
    return quotient(tp, k) * quotient(m - k, m) + quotient(tn, m - k) * quotient(k, m)


@of_table
def fager_mcgowan(tp, t, k):
    return quotient(tp, mp.sqrt(k * t)) - quotient(1, 2 * mp.sqrt(max(k, t)))


@of_table
def faith(tp, tn, m):
    return quotient(tp + tn / 2, m)


@of_table
def fleiss_levin_paik(fp, fn, tn):
    return quotient(2 * tn, 2 * tn + fp + fn)


@of_table
def fossum(tp, t, k, m):
    return ratio(m * (tp - mpf(1) / 2) ** 2, k * t)


@of_table
def goodall(tp, tn, m):
    return 2 / mp.pi * mp.asin(mp.sqrt(quotient(tp + tn, m)))


@of_table
def harris_lahey(tp, fp, fn, tn, m):
    of_class = quotient(tp, tp + fp + fn) * quotient(2 * tn + fp + fn, 2 * m)
    return of_class + quotient(tn, tn + fp + fn) * quotient(2 * tp + fp + fn, 2 * m)


@of_table
def hawkins_dotson(tp, fp, fn, tn):
    return (quotient(tp, tp + fp + fn) + quotient(tn, tn + fp + fn)) / 2


@of_table
def koppen_i(tp, fp, fn, tn):
    return 1 - quotient((fp + fn) / 2, (2 * tp + fp + fn) * (2 * tn + fp + fn) / 4)


@of_table
def koppen_ii(tp, fp, fn):
    return tp + (fp + fn) / 2


# logarithmic_similarity; mp.log1p keeps the digits of counts far below 1


@of_table
def consonni_todeschini_i(tp, tn, m):
    return quotient(mp.log1p(tp + tn), mp.log1p(m))


@of_table
def consonni_todeschini_ii(fp, fn, m):
    return quotient(mp.log1p(m) - mp.log1p(fp + fn), mp.log1p(m))


@of_table
def consonni_todeschini_iii(tp, m):
    return quotient(mp.log1p(tp), mp.log1p(m))


@of_table
def consonni_todeschini_iv(tp, fp, fn):
    return quotient(mp.log1p(tp), mp.log1p(tp + fp + fn))


@of_table
def consonni_todeschini_v(tp, fp, fn, tn, m):
    return quotient(mp.log1p(tp * tn) - mp.log1p(fp * fn), mp.log1p(m**2 / 4))


# dissimilarity


@of_table
def batagelj_bren(tp, fp, fn, tn):
    return quotient(fp * fn, tp * tn)


@of_table
def baulieu_i(tp, t, k):
    return 1 - quotient(tp**2, k * t)


@of_table
def baulieu_ii(tp, tn, t, k, m):
    return quotient(tp**2 * tn**2, k * t * (m - k) * (m - t))


@of_table
def baulieu_iii(tp, fp, fn, tn, m):
    return mpf(1) / 2 - quotient(2 * (tp * tn - fp * fn), m**2)


@of_table
def baulieu_iv(tp, fp, fn, tn, m):
    half = mpf(1) / 2
    return quotient(fp + fn - (tp + half) * (tn + half) * tn * mp.e, m)


@of_table
def baulieu_v(tp, fp, fn):
    return quotient(fp + fn + 1, tp + fp + fn + 1)


@of_table
def baulieu_vi(tp, fp, fn):
    return quotient(fp + fn, tp + fp + fn + 1)


@of_table
def baulieu_vii(tp, fp, fn, m):
    return quotient(fp + fn, m + tp * (tp - 4) ** 2)


@of_table
def baulieu_viii(fp, fn, m):
    return quotient((fp - fn) ** 2, m**2)


@of_table
def baulieu_ix(tp, fp, fn, tn):
    return quotient(fp + 2 * fn, tp + fp + 2 * fn + tn)


@of_table
def baulieu_x(fp, fn, m):
    return quotient(fp + fn + max(fp, fn), m + max(fp, fn))


@of_table
def baulieu_xi(fp, fn, tn):
    return quotient(fp + fn, fp + fn + tn)


@of_table
def baulieu_xii(tp, fp, fn):
    return ratio(fp + fn, tp + fp + fn - 1)


@of_table
def baulieu_xiii(tp, fp, fn):
    return quotient(fp + fn, tp + fp + fn + tp * (tp - 4) ** 2)


@of_table
def baulieu_xiv(tp, fp, fn):
    return quotient(fp + 2 * fn, tp + fp + 2 * fn)


@of_table
def baulieu_xv(tp, fp, fn):
    return quotient(fp + fn + max(fp, fn), tp + fp + fn + max(fp, fn))


@of_table
def canberra(tp, fp, fn):
    return quotient(fp + fn, 2 * tp + fp + fn)


# chance_similarity


@of_table
def benini_i(tp, fp, fn, tn, t, k, m):
    return quotient(tp * tn - fp * fn, t * (m - k))


@of_table
def benini_ii(tp, fp, fn, tn, t, k, m):
    return quotient(tp * tn - fp * fn, min(t * (m - k), k * (m - t)))


@of_table
def digby(tp, fp, fn, tn):
    matches, errors = mp.root((tp * tn) ** 3, 4), mp.root((fp * fn) ** 3, 4)
    return quotient(matches - errors, matches + errors)


@of_table
def dispersion(tp, fp, fn, tn, m):
    return quotient(tp * tn - fp * fn, m**2)


@of_table
def doolittle(tp, fp, fn, tn, t, k, m):
    return quotient((tp * tn - fp * fn) ** 2, k * t * (m - k) * (m - t))


@of_table
def forbes_ii(tp, fp, fn, tn, t, k, m):
    return quotient(tp * tn - fp * fn, min(k, t) * min(m - k, m - t))


@of_table
def goodman_kruskal_lambda_r(tp, tn, t, k, m):
    s = (max(k, m - k) + max(t, m - t)) / 2
    return quotient(tp + tn - s, m - s)


@of_table
def abydos_kendall_tau(tp, fp, fn, tn, m):
    return ratio(2 * (tp + tn - fp - fn), m * (m - 1))


@of_table
def kent_foster_i(tp, fp, fn):
    return quotient(-fp * fn, (fp + fn) * (tp + fp + fn) - fp * fn)


@of_table
def kent_foster_ii(fp, fn, tn):
    return quotient(-fp * fn, (fp + fn) * (tn + fp + fn) - fp * fn)


@of_table
def kuder_richardson(tp, fp, fn, tn):
    return quotient(4 * (tp * tn - fp * fn), 4 * tp * tn + (tp + tn) * (fp + fn))


# hits_beyond_chance


def _delta(tp: Number, t: Number, k: Number, m: Number) -> Number:
    """Hits beyond chance."""
    return tp - quotient(k * t, m)


@of_table
def dennis(tp, t, k, m):
    return quotient(_delta(tp, t, k, m), mp.sqrt(quotient(k * t, m)))


@of_table
def eyraud(tp, t, k, m):
    return ratio(tp - k * t, k * t * (m - k) * (m - t))


@of_table
def gilbert_wells(tp, fp, fn, tn, t, k, m):
    # Logarithms of factorials are as large as m ln m, and what is left of them may be as small as 1/m.
    with mp.workprec(264 + 2 * max(0, mp.mag(m))):
        first = mp.log(ratio(m**3, 2 * mp.pi * k * t * (m - k) * (m - t)))
        above = sum(mp.loggamma(x + 1) for x in (m, tp, fp, fn, tn))
        return first + 2 * (above - sum(mp.loggamma(x + 1) for x in (k, t, m - k, m - t)))


@of_table
def kuhns_i(tp, t, k, m):
    return quotient(2 * _delta(tp, t, k, m), m)


@of_table
def kuhns_ii(tp, t, k, m):
    return quotient(_delta(tp, t, k, m), max(k, t))


@of_table
def kuhns_iii(tp, t, k, m):
    return quotient(_delta(tp, t, k, m), (1 - quotient(tp, k + t)) * (k + t - quotient(k * t, m)))


@of_table
def kuhns_iv(tp, t, k, m):
    return quotient(_delta(tp, t, k, m), min(k, t))


@of_table
def kuhns_v(tp, t, k, m):
    return quotient(_delta(tp, t, k, m), max(quotient(k * (m - k), m), quotient(t * (m - t), m)))


@of_table
def kuhns_vi(tp, t, k, m):
    return quotient(_delta(tp, t, k, m), min(quotient(k * (m - k), m), quotient(t * (m - t), m)))


@of_table
def kuhns_vii(tp, t, k, m):
    return quotient(_delta(tp, t, k, m), mp.sqrt(k * t))
