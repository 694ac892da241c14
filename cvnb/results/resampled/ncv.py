"""method="ncv": nested cross-validation as a measure of spread (Bates, Hastie, Tibshirani 2023).

K-fold cross-validation is repeated on random folds. In each repeat the whole procedure,
choosing θ included, is run without every fold and without every pair of folds:

    e_k        row losses of fold k, of the predictor trained without fold k
    e_kl       row losses of fold k, of the predictor trained without folds k and l
    a_k        mean over the rows of all e_lk, l ≠ k, minus mean e_k
    b_k        sample variance of e_k / |k|
    MSE        mean of a_k² - b_k over folds and repeats
    sd         standard deviation of all e_kl
    inflation  √max(0, MSE) / (sd / √⌊n (K - 1) / K⌋), at least 1 and at most √K
    bias       (mean of all e_kl - mean of all e_k) (1 + ((K - 2) / K)^1.5)
    interval   mean of all e_kl - bias ± z inflation sd / √n
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import floor, isqrt, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ...engine.table import LossTable
from ...errors import InputError
from ...inference.interval_methods import Centred
from ...splits.drawer import SplitDrawer
from ...splits.plan import Plan
from ...splits.specs import Folds, GivenSplitter
from ...wording import count, number
from ..record import Record
from .draws import (
    Method,
    check_repeats,
    drawer_of,
    is_k_fold,
    plan_of,
    refuse_given_inside,
    repeat_seeds,
    repeated,
    reseeded,
    words_of_dropped,
)

if TYPE_CHECKING:
    from ..estimate import RiskEstimate

NAME = "ncv"
MOST = 500  # repeats where the user gives no number
CLOSE = 0.03  # standard error of the inflation at which repeats are enough
SHUFFLED = ("KFold", "StratifiedKFold")


@dataclass(frozen=True)
class Repeat:
    """What one repeat adds.

    mse      mean over its folds of a_k² - b_k
    n_pairs, pair_mean, pair_squares   of all e_kl: number, mean, Σ (e_kl - mean)²
    cv_mean  mean of all e_k
    """

    mse: float
    n_pairs: int
    pair_mean: float
    pair_squares: float
    cv_mean: float

    @classmethod
    def of(
        cls,
        singles: Sequence[np.ndarray],
        pairs: dict[tuple[int, int], np.ndarray],
    ) -> Repeat:
        """Return the repeat of singles[k] = e_k and pairs[k, l] = e_kl, both orders of k and l."""
        errors = []
        for k, losses in enumerate(singles):
            others = [pairs[m, k] for m in range(len(singles)) if m != k]
            a = np.concatenate(others).mean() - losses.mean()
            errors.append(a**2 - losses.var(ddof=1) / losses.size)
        every = np.concatenate(list(pairs.values()))
        mean = every.mean()
        return cls(
            mse=float(np.mean(errors)),
            n_pairs=every.size,
            pair_mean=float(mean),
            pair_squares=float(((every - mean) ** 2).sum()),
            cv_mean=float(np.concatenate(list(singles)).mean()),
        )


@dataclass(frozen=True)
class Found:
    """The numbers of all repeats of K folds of n rows, as the formulas above."""

    repeats: tuple[Repeat, ...]
    n_rows: int
    n_folds: int

    @property
    def raw(self) -> float:
        """Mean of all e_kl; every repeat has equally many."""
        return float(np.mean([repeat.pair_mean for repeat in self.repeats]))

    @property
    def factor(self) -> float:
        return 1 + ((self.n_folds - 2) / self.n_folds) ** 1.5

    @property
    def bias(self) -> float:
        cv_mean = np.mean([repeat.cv_mean for repeat in self.repeats])
        return float((self.raw - cv_mean) * self.factor)

    @property
    def sd(self) -> float:
        n = sum(repeat.n_pairs for repeat in self.repeats)
        within = sum(repeat.pair_squares for repeat in self.repeats)
        between = sum(
            repeat.n_pairs * (repeat.pair_mean - self.raw) ** 2
            for repeat in self.repeats
        )
        return sqrt((within + between) / (n - 1))

    @property
    def inflation(self) -> float:
        return self._inflation(self._mse.mean())

    @property
    def inflation_error(self) -> float:
        """Half the difference of the inflations one standard error of the MSE apart."""
        error = self._mse.std(ddof=1) / sqrt(self._mse.size)
        high, low = (self._inflation(self._mse.mean() + e) for e in (error, -error))
        return (high - low) / 2

    @property
    def error(self) -> float:
        return self.inflation * self.sd / sqrt(self.n_rows)

    @property
    def _mse(self) -> np.ndarray:
        return np.array([repeat.mse for repeat in self.repeats])

    def _inflation(self, mse: float) -> float:
        n_trained = floor(self.n_rows * (self.n_folds - 1) / self.n_folds)
        inflation = sqrt(max(0.0, mse)) / (self.sd / sqrt(n_trained))
        return max(1.0, min(inflation, sqrt(self.n_folds)))


def ncv(result: RiskEstimate, n_repeats: int | None) -> Centred:
    """Return the centre and the standard error of nested CV of the tuned rule.

    n_repeats=None: as many as the inflation needs to settle, 50 to 500
    """
    check_repeats(n_repeats)
    record = result._record
    _refuse_folds(record)
    refuse_given_inside(record, NAME)
    found = found_by(record, n_repeats)
    if found.sd == 0:
        raise InputError(
            f"method={NAME!r}: every row has the loss {found.raw:.6g} in every repeat, so "
            "there is no spread; use method='auto'."
        )
    return Centred(found.raw - found.bias, found.error, _why(found) + _dropped(record))


def found_by(record: Record, n_repeats: int | None) -> Found:
    """Run the repeats; without a number until the inflation is known to `CLOSE`."""
    n_folds = len(record.plan.outer)

    def found(repeats: list[Repeat]) -> Found:
        return Found(tuple(repeats), record.data.n_rows, n_folds)

    def is_enough(repeats: list[Repeat]) -> bool:
        so_far = found(repeats)
        return so_far.sd == 0 or so_far.inflation_error <= CLOSE

    method = Method(NAME, plan_of_repeat, MOST)
    return found(repeated(record, method, n_repeats, _repeat_of, is_enough))


def plan_of_repeat(record: Record, seed: int) -> Plan:
    """Return the splits of one repeat: without fold 0 ... K - 1, then without each pair of folds.

    The folds and the inner splits of single folds are those of the same recipe with this
    seed. The pairs are in the order of itertools.combinations.
    """
    drawer, n_rows = drawer_of(record, seed), record.data.n_rows
    tests = _folds(record, drawer, seed)
    outer, sizes = [], []
    for folds in _left_out(len(tests)):
        is_test = np.zeros(n_rows, dtype=bool)
        for k in folds:
            is_test[tests[k]] = True
        outer.append((np.flatnonzero(~is_test), np.flatnonzero(is_test)))
        sizes.append(tests[folds[0]].size)
    return plan_of(record, drawer, outer, sizes)


def _folds(record: Record, drawer: SplitDrawer, seed: int) -> list[np.ndarray]:
    spec = record.recipe.outer_spec
    if isinstance(spec, GivenSplitter):
        spec = GivenSplitter(reseeded(spec.splitter, seed), spec.explicit)
    assert spec is not None  # something is measured outside
    return drawer.outer(spec).tests()


def _left_out(n_folds: int) -> list[tuple[int, ...]]:
    singles = [(k,) for k in range(n_folds)]
    return [*singles, *combinations(range(n_folds), 2)]


def _repeat_of(plan: Plan, table: LossTable) -> Repeat:
    tests = plan.outer.layout.tests()
    n_folds = (isqrt(8 * len(tests) + 1) - 1) // 2  # K + K (K - 1) / 2 outer splits
    fold_of = np.zeros(plan.n_rows, dtype=np.int64)
    for k in range(n_folds):
        fold_of[tests[k]] = k
    singles: list[np.ndarray] = []
    pairs: dict[tuple[int, int], np.ndarray] = {}
    for j, folds in enumerate(_left_out(n_folds)):
        rows = table.rows[j]
        assert rows is not None  # refused before
        losses = rows[:, table.chosen[j]].astype(np.float64)
        if len(folds) == 1:
            singles.append(losses)
            continue
        for k, other in (folds, folds[::-1]):
            pairs[k, other] = losses[fold_of[tests[j]] == k]
    return Repeat.of(singles, pairs)


def _refuse_folds(record: Record) -> None:
    """Refuse outer splits that are no random folds of two rows or more."""
    spec, sizes = record.recipe.outer_spec, record.plan.outer.layout.sizes()
    is_given = isinstance(spec, GivenSplitter) and is_k_fold(spec, SHUFFLED)
    instead = "use outer=5 or 10, or method='corrected_t'."
    if not isinstance(spec, Folds) and not is_given:
        raise InputError(
            f"method={NAME!r} draws K folds anew in every repeat, which "
            f"outer={record.recipe.outer!r} does not do; {instead}"
        )
    if isinstance(spec, Folds) and not record.recipe.shuffle:
        raise InputError(
            f"method={NAME!r} needs folds at random, and shuffle=False draws the same ones "
            "every time; use shuffle=True, or method='corrected_t'."
        )
    if len(sizes) < 3 or sizes[:, 1].min() < 2:
        raise InputError(
            f"method={NAME!r} trains without two folds and needs the spread inside each, so "
            f"at least 3 folds of 2 rows; here are {len(sizes)}, the smallest of "
            f"{count(int(sizes[:, 1].min()), 'row')}; {instead}"
        )


def _why(found: Found) -> str:
    repeats = count(len(found.repeats), "repeat")
    return (
        f"{repeats} of {found.n_folds} folds and their pairs; centre "
        f"{number(found.raw - found.bias)}, after a bias of {number(found.bias)} by the "
        f"authors' factor {found.factor:.4g}; inflation {found.inflation:.3g}"
    )


def _dropped(record: Record) -> str:
    seed = repeat_seeds(record.recipe.seed, 1)[0]
    return words_of_dropped(record, plan_of_repeat(record, seed))
