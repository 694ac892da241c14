"""Two models on the same splits: their difference and its tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..errors import InputError
from ..inference.measured import paired_losses
from ..inference.paired import alpaydin_5x2cv, corrected_t, is_5x2
from ..inference.spread import corrected_t_interval
from ..losses.loss import Loss
from ..losses.scale import Scale
from ..wording import count
from .estimate import RiskEstimate, record_of

LEVEL = 0.05


@dataclass(frozen=True)
class Pair:
    """Two families on the same splits.

    difference  mean of the loss of the first minus that of the second
    same        whether their losses are equal in every split
    n_splits    outer splits that both finished; difference and same are over these
    t, p        corrected resampled t and its two-sided p
    p_holm      p corrected for the number of pairs
    low, high   95 % interval of the difference, of the same test
    F, p_F      the 5×2cv F test, where the outer splits are five times two halves
    reason      why there is no test
    """

    first: str
    second: str
    difference: float | None
    same: bool
    n_splits: int
    loss: Loss
    t: float | None = None
    p: float | None = None
    p_holm: float | None = None
    low: float | None = None
    high: float | None = None
    F: float | None = None
    p_F: float | None = None
    reason: str = ""

    @property
    def shown_ends(self) -> tuple[float, float] | None:
        """The ends of the difference as displayed; None without them."""
        if self.low is None or self.high is None:
            return None
        is_score = self.loss.is_score
        return (0.0 - self.high, 0.0 - self.low) if is_score else (self.low, self.high)

    @property
    def is_separated(self) -> bool:
        """Whether the splits tell the two apart, after Holm's correction."""
        p = max(self.p_holm or 0.0, self.p_F or 0.0)
        return self.p is not None and not self.same and p < LEVEL

    def turned(self) -> Pair:
        """Return the same pair, the second minus the first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=_minus(self.difference),
            t=_minus(self.t),
            low=_minus(self.high),
            high=_minus(self.low),
        )

    @property
    def sentence(self) -> str:
        """The difference, its tests and a verdict."""
        loss, names = self.loss, f"{self.first} minus {self.second}"
        width = None if self.low is None or self.high is None else self.high - self.low
        scale = Scale.of_difference(loss, self.difference, width)
        shown = scale.difference(self.difference)
        difference = f"{shown} in {loss.shown_name}"
        if self.difference is None or self.t is None:
            return f"{names}: {difference}; no test, because {self.reason}"
        if self.same:
            splits = count(self.n_splits, "outer split")
            return f"{names}: no difference in any of {splits}."
        t = loss.shown_difference(self.t)
        if (ends := self.shown_ends) is not None:
            difference += f", 95 % interval {scale.ends_of_difference(*ends)}"
        test = f"corrected t = {t:.3f}, p = {self.p:.3g}"
        if self.p_holm != self.p:
            test += f", {self.p_holm:.3g} after Holm"
        if self.F is not None:
            test += f"; 5×2cv F = {self.F:.3f}, p = {self.p_F:.3g}"
        return f"{names}: {difference}; {test}: {self._verdict()}."

    @property
    def shown_interval(self) -> str:
        """The interval of the difference as displayed; "–" without one."""
        return self.loss.shown_interval(self.low, self.high)

    def _verdict(self) -> str:
        if self.difference is None or not self.is_separated:
            return "these splits do not tell them apart"
        return f"{self.first if self.difference < 0 else self.second} is better"


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def compare_pairs(
    results: Mapping[str, RiskEstimate], level: float = 1 - LEVEL
) -> list[Pair]:
    """Return each two results, with p-values corrected for the number of pairs (Holm).

    level: of the intervals of the differences
    """
    pairs = [_pair(*names, results, level) for names in combinations(results, 2)]
    tested = [i for i, pair in enumerate(pairs) if pair.p is not None]
    corrected = holm(np.array([pairs[i].p for i in tested], dtype=np.float64))
    for i, p in zip(tested, corrected, strict=True):
        pairs[i] = replace(pairs[i], p_holm=float(p))
    return pairs


def holm(p: np.ndarray) -> np.ndarray:
    """p-values corrected for the chance of any false finding among n.

        the i-th smallest, i = 0, 1, ..., times n - i; at least the one before, at most 1

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    factors = p.size - np.arange(p.size)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return corrected


def _pair(
    first: str, second: str, results: Mapping[str, RiskEstimate], level: float
) -> Pair:
    a, b = results[first], results[second]
    loss = record_of(a).loss
    n = min(len(a.fold_risks), len(b.fold_risks))
    d = a.fold_risks[:n] - b.fold_risks[:n]
    difference = float(d.mean()) if n else None
    pair = Pair(first, second, difference, n > 0 and not d.any(), n, loss)
    try:
        t, p, low, high = tests_of(*paired_losses(a, b), level)
        pair = replace(pair, t=t, p=p, low=low, high=high)
        if a.complete and b.complete and is_5x2(a.plan):
            F, p_F = alpaydin_5x2cv(a, b)
            pair = replace(pair, F=F, p_F=p_F)
    except InputError as error:
        return replace(pair, reason=str(error))
    return pair


def tests_of(
    d: np.ndarray, n_train: float, n_test: float, level: float
) -> tuple[float, float, float | None, float | None]:
    """Return (t, p, low, high) of differences d on the same splits (corrected resampled t).

    Equal losses have no interval.
    """
    t, p = corrected_t(d, n_train, n_test)
    if not d.any():
        return t, p, None, None
    return t, p, *corrected_t_interval(d, n_train, n_test, level)
