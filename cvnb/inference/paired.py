"""Tests of paired differences on the same splits, corrected for overlapping training parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import fdtrc, stdtr

from ..errors import InputError
from .checked import number, table
from .measured import is_result, paired_losses

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..results.estimate import RiskEstimate
    from ..splits.plan import Plan


def corrected_t(
    d: ArrayLike | RiskEstimate, n_train: Any = None, n_test: Any = None
) -> tuple[float, float]:
    """(t, two-sided p) of the differences d of two procedures on N splits (Nadeau and Bengio).

        t = mean(d) / √((1/N + n_test / n_train) s²),    N - 1 degrees of freedom, s² with ddof 1

    n_train, n_test: rows in a training and in a test part. Two results of one plan can
    replace d and n_train. Training parts overlap, so an ordinary t test would find
    differences where there are none.

    >>> np.round(corrected_t([0.1, 0.2, 0.15, 0.05, 0.1], n_train=80, n_test=20), 4)
    array([3.1379, 0.0349])
    """
    if is_result(d):
        d, n_train, n_test = paired_losses(d, n_train)
    d = table("d", d, "[splits]", 1)
    _refuse_no_spread(d)
    scaled = _scaled(d)
    error = corrected_error(scaled, n_train, n_test)
    if not d.any():
        return 0.0, 1.0
    t = float(scaled.mean() / error)
    return t, float(2 * stdtr(d.size - 1, -abs(t)))


class Posterior(NamedTuple):
    """Probabilities that the first is better, that both are practically equal, or the second."""

    first: float
    rope: float
    second: float


def bayesian_t(
    d: ArrayLike | RiskEstimate,
    n_train: Any = None,
    n_test: Any = None,
    rope: float = 0.0,
) -> Posterior:
    """(P(first better), P(practically equal), P(second better)): Bayesian correlated t test.

        the mean difference ~ mean(d) + t √((1/N + n_test / n_train) s²),  N - 1 degrees of freedom
        first better: below -rope;  second better: above rope

    d: losses of the first minus those of the second on N splits; or two results of one plan
    in place of d and n_train. n_train, n_test: rows in a training and in a test part. rope:
    the largest difference of losses that does not matter. The location and scale are those
    of `corrected_t`, as in baycomp (Benavoli, Corani, Demšar, Zaffalon 2017).

    >>> d = [0.01, 0.03, 0.02, -0.01, 0.02]
    >>> [round(p, 3) for p in bayesian_t(d, n_train=80, n_test=20, rope=0.01)]
    [0.039, 0.318, 0.643]
    """
    width = number("rope", rope, least=0.0)
    if is_result(d):
        d, n_train, n_test = paired_losses(d, n_train)
    d = table("d", d, "[splits]", 1)
    _refuse_no_spread(d)
    if not d.any():
        return Posterior(0.0, 1.0, 0.0) if width else Posterior(0.5, 0.0, 0.5)
    largest, scaled = float(np.abs(d).max()), _scaled(d)
    error, mean = corrected_error(scaled, n_train, n_test), scaled.mean()
    below = float(stdtr(d.size - 1, (-width / largest - mean) / error))
    above = float(stdtr(d.size - 1, (mean - width / largest) / error))
    return Posterior(below, max(0.0, 1.0 - below - above) if width else 0.0, above)


def corrected_error(d: np.ndarray, n_train: Any, n_test: Any) -> float:
    """The standard error of the mean of d, N numbers from overlapping training parts.

        √((1/N + n_test / n_train) s²)

    n_train, n_test: rows in a training and in a test part.
    """
    n_train, n_test = number("n_train", n_train), number("n_test", n_test)
    if min(n_train, n_test) <= 0:
        raise InputError(
            f"n_train={n_train:g} and n_test={n_test:g} must be sizes > 0."
        )
    return float(np.sqrt((1 / d.size + n_test / n_train) * d.var(ddof=1)))


def dietterich_5x2cv(
    d: ArrayLike | RiskEstimate, other: RiskEstimate | None = None
) -> tuple[float, float]:
    """(t, two-sided p) of the differences d[5, 2] on five times two halves.

        t    = d_11 / √(mean_i s_i²),    5 degrees of freedom
        s_i² = (d_i1 - d̄_i)² + (d_i2 - d̄_i)²

    Two results of that plan, d and other, can replace the differences. `alpaydin_5x2cv`
    uses all ten differences. In simulations of two equal tuned k-NN this test, at 5 %,
    rejects their equality in 12 to 16 % of cases; `corrected_t` rejects it in 4 to 8 %.

    >>> d = [[0.1, 0.2], [0.15, 0.05], [0.1, 0.12], [0.2, 0.1], [0.05, 0.1]]
    >>> np.round(dietterich_5x2cv(d), 4)
    array([1.7434, 0.1417])
    """
    halves, variances = _halves(d, other)
    if not halves.any():
        return 0.0, 1.0
    t = float(halves[0, 0] / np.sqrt(variances.mean()))
    return t, float(2 * stdtr(5, -abs(t)))


def alpaydin_5x2cv(
    d: ArrayLike | RiskEstimate, other: RiskEstimate | None = None
) -> tuple[float, float]:
    """(F, p) of the differences d[5, 2] on five times two halves.

        F    = Σ d_ij² / (2 Σ s_i²),    10 and 5 degrees of freedom
        s_i² = (d_i1 - d̄_i)² + (d_i2 - d̄_i)²

    Two results of that plan, d and other, can replace the differences. In simulations of two
    equal tuned k-NN this test, at 5 %, rejects their equality in 19 to 22 % of cases;
    `corrected_t` rejects it in 4 to 8 %.

    >>> d = [[0.1, 0.2], [0.15, 0.05], [0.1, 0.12], [0.2, 0.1], [0.05, 0.1]]
    >>> np.round(alpaydin_5x2cv(d), 4)
    array([4.921 , 0.0463])
    """
    halves, variances = _halves(d, other)
    if not halves.any():
        return 0.0, 1.0
    f = float((halves**2).sum() / (2 * variances.sum()))
    return f, float(fdtrc(10, 5, f))


def _halves(d: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return (d[5, 2] divided by the largest, s_i²)."""
    if is_result(d):
        result = d
        d, _, _ = paired_losses(result, other)
        if d.size != 10 or not is_5x2(result.plan):
            raise InputError(
                "5×2cv is five times two halves: run both with "
                "outer=RepeatedKFold(n_splits=2, n_repeats=5)."
            )
        d = d.reshape(5, 2)
    d = table("d", d, "[5, 2]", 2)
    if d.shape != (5, 2):
        raise InputError(
            f"d must be numbers [5, 2], five times two halves; got shape {d.shape}."
        )
    _refuse_no_spread(d)
    d = _scaled(d)
    return d, ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)


def is_5x2(plan: Plan) -> bool:
    """Whether the outer splits are five times two halves of all rows, each trained on the other."""
    if len(plan.outer) != 10:
        return False
    for i in range(5):
        train, test = plan.outer[2 * i]
        other_train, other_test = plan.outer[2 * i + 1]
        swapped = _same_rows(train, other_test) and _same_rows(test, other_train)
        if not swapped or train.size + test.size != plan.n_rows:
            return False
    return True


def _same_rows(first: np.ndarray, second: np.ndarray) -> bool:
    return np.array_equal(np.sort(first), np.sort(second))


def _scaled(d: np.ndarray) -> np.ndarray:
    """Divide by the largest, so that squares neither overflow nor vanish."""
    return d / (np.abs(d).max() or 1.0)


def _refuse_no_spread(d: np.ndarray) -> None:
    if d.size < 2:
        raise InputError(
            "one difference has no spread to judge it by; give the differences of at "
            "least two splits."
        )
    if not np.isfinite(d).all():
        raise InputError(
            "the differences d must be finite; a split without a loss cannot be compared."
        )
    spread = np.ptp(d, axis=-1)
    if not d.any() or (spread > 1e-12 * np.abs(d).max()).any():
        return
    if np.ptp(d) == 0:
        finding = f"every difference is {d.flat[0]:.6g}"
    else:
        finding = "the two differences of every repeat are equal"
    raise InputError(f"{finding}: without any spread there is nothing to judge by.")
