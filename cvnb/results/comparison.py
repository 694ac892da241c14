"""Comparison: several families on one plan, and a test of each pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import InputError, Interrupted
from ..inference.measured import paired_losses
from ..inference.paired import alpaydin_5x2cv, corrected_t, is_5x2
from ..inference.spread import corrected_t_interval
from ..losses.loss import Loss
from ..splits.plan import Plan
from ..wording import count, number
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
    def sentence(self) -> str:
        """The difference, its tests and a verdict."""
        loss, names = self.loss, f"{self.first} minus {self.second}"
        shown = number(loss.shown_difference(self.difference))
        difference = f"{shown} ({loss.shown_name})"
        if self.difference is None or self.t is None:
            return f"{names}: {difference}; no test, because {self.reason}"
        if self.same:
            splits = count(self.n_splits, "outer split")
            return f"{names}: no difference in any of {splits}."
        t = loss.shown_difference(self.t)
        difference += f", 95 % interval {self.shown_interval}"
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
        p = max(self.p_holm or 0.0, self.p_F or 0.0)
        if self.difference is None or not p < LEVEL:
            return "these splits do not tell them apart"
        return f"{self.first if self.difference < 0 else self.second} is better"


class Comparison(Mapping[str, RiskEstimate]):
    """Results by name, all on one plan.

    >>> from cvnb import Recipe, lasso, ridge
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> models = {"ridge": ridge(alpha=[0.1, 1]), "lasso": lasso(alpha=[0.1, 1])}
    >>> comparison = Recipe(4, 3).run(models, X, X.ravel() / 7)
    >>> sorted(comparison, key=lambda name: comparison[name].risk)
    ['ridge', 'lasso']
    >>> [round(pair.t, 2) for pair in comparison.pairs]
    [-2.0]
    >>> comparison.complete, comparison.plan.n_inner
    (True, 12)
    >>> comparison.notes[0]
    'ridge: alpha=0.1, the lower edge of its grid, was chosen in 4 of 4 outer splits.'
    """

    def __init__(
        self, results: Mapping[str, RiskEstimate], never_run: Sequence[str] = ()
    ) -> None:
        self._results, self._never_run = dict(results), tuple(never_run)

    def __getitem__(self, name: str) -> RiskEstimate:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def complete(self) -> bool:
        """False after an interrupt; the interrupted family comes last, with its finished splits."""
        return not self._never_run and all(result.complete for result in self.values())

    @property
    def notes(self) -> list[str]:
        """The notes of every family, and one for each family that was never run."""
        notes = []
        for name, result in self.items():
            notes += [f"{name}: {note}" for note in result.notes]
        for name in self._never_run:
            notes.append(f"{name}: not run, because the run was interrupted before.")
        return notes

    @property
    def plan(self) -> Plan:
        """The splits that all families share, with inner ones where some family chooses in them."""
        plans = [result.plan for result in self.values()]
        return max(plans, key=lambda plan: plan.n_inner)

    @property
    def pairs(self) -> list[Pair]:
        """Each two families, with the tests of their difference on the shared splits."""
        return compare_pairs(self._results)

    def __repr__(self) -> str:
        from ..views.display import comparison_text

        return comparison_text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from ..views.display import comparison_bundle

        return comparison_bundle(self)


def finished(result: RiskEstimate | Comparison | None) -> str:
    """Return in words how much of an interrupted run was finished.

    >>> finished(None)
    'nothing was finished'
    """
    if result is None:
        return "nothing was finished"
    if isinstance(result, RiskEstimate):
        if result.plan.outer_layout is None:
            return "nothing was chosen yet"
        return f"{_share(result)} were finished"
    n_complete = sum(part.complete for part in result.values())
    models = count(len(result) + len(result._never_run), "model")
    words = f"{n_complete} of {models} were finished"
    name, last = list(result.items())[-1]
    if last.complete or not _has_begun(last):
        return words
    return f"{words}, and {_share(last)} of {name!r}"


def was_interrupted(result: RiskEstimate | Comparison) -> bool:
    """Whether the user stopped the run, even if everything was finished already."""
    tables = [record_of(part).table for part in _parts(result)]
    return not result.complete or any(table.interrupted for table in tables)


def interrupted(result: RiskEstimate | Comparison | None) -> Interrupted:
    """Return the exception that carries the finished part of a run and states its size."""
    if result is None or not any(map(_has_begun, _parts(result))):
        return Interrupted(f"{finished(result)}, so there is no result.")
    where = (
        "error.result holds them (at a prompt or in a notebook: sys.last_value.result)"
    )
    return Interrupted(f"{finished(result)}; {where}.", result)


def _parts(result: RiskEstimate | Comparison) -> list[RiskEstimate]:
    return list(result.values()) if isinstance(result, Comparison) else [result]


def _has_begun(result: RiskEstimate) -> bool:
    return len(result.chosen_index) > 0


def _share(result: RiskEstimate) -> str:
    return f"{len(result.chosen_index)} of {count(result.plan.n_parts, 'outer split')}"


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
