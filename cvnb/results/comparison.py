"""Comparison: several families on one plan, and what can be said of each pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import InputError, Interrupted
from ..inference.paired import alpaydin_5x2cv, corrected_t, is_5x2
from ..losses.loss import Loss
from ..splits.plan import Plan
from ..wording import count, number
from .estimate import RiskEstimate, record_of

LEVEL = 0.05


@dataclass(frozen=True)
class Pair:
    """Two families on the same splits.

    difference  mean over the outer splits that both finished of the loss of the first minus that of the second
    same        whether their losses are equal in every one of them
    t, p        corrected resampled t and its two-sided p; p_holm is p corrected for the number of pairs
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
    F: float | None = None
    p_F: float | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """What the splits say about these two."""
        names = f"{self.first} minus {self.second}"
        difference = f"{number(self.loss.shown_difference(self.difference))} ({self.loss.shown_name})"
        if self.difference is None or self.t is None:
            return f"{names}: {difference}; no test, for {self.reason}"
        holm = "" if self.p_holm == self.p else f", {self.p_holm:.3g} after Holm"
        five = "" if self.F is None else f"; 5×2cv F = {self.F:.3f}, p = {self.p_F:.3g}"
        test = f"corrected t = {self.loss.shown_difference(self.t):.3f}, p = {self.p:.3g}{holm}{five}"
        if self.same:
            return f"{names}: no difference in any of {count(self.n_splits, 'outer split')}."
        deciding = (
            self.p_holm if self.p_F is None else max(self.p_holm or 0.0, self.p_F)
        )
        smaller = self.first if self.difference < 0 else self.second
        verdict = (
            f"{smaller} is better"
            if (deciding or 0.0) < LEVEL
            else "these splits do not tell them apart"
        )
        return f"{names}: {difference}; {test}: {verdict}."


class Comparison(Mapping[str, RiskEstimate]):
    """Results by name, all on one plan.

    >>> from cvnb import Recipe, lasso, ridge
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> comparison = Recipe(4, 3).run({"ridge": ridge(alpha=[0.1, 1]), "lasso": lasso(alpha=[0.1, 1])}, X, X.ravel() / 7)
    >>> sorted(comparison, key=lambda name: comparison[name].risk)
    ['ridge', 'lasso']
    >>> [round(pair.t, 2) for pair in comparison.pairs], comparison.complete, comparison.plan.n_inner
    ([-2.0], True, 12)
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
        """False after an interrupt: the family it hit comes last, with what was finished of it."""
        return not self._never_run and all(result.complete for result in self.values())

    @property
    def notes(self) -> list[str]:
        """The notes of every family, and which were never run."""
        notes = [
            f"{name}: {note}" for name, result in self.items() for note in result.notes
        ]
        return notes + [
            f"{name}: never run, for the run was interrupted before."
            for name in self._never_run
        ]

    @property
    def plan(self) -> Plan:
        """The splits that they share; inner ones too where some family chooses in them."""
        return max(
            (result.plan for result in self.values()), key=lambda plan: plan.n_inner
        )

    @property
    def pairs(self) -> list[Pair]:
        """Every two families, with the tests of their difference on the shared splits."""
        return compare_pairs(self._results)

    def __repr__(self) -> str:
        from ..views.display import comparison_text

        return comparison_text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from ..views.display import comparison_bundle

        return comparison_bundle(self)


def finished(result: RiskEstimate | Comparison | None) -> str:
    """How much of an interrupted run was finished, in words.

    >>> finished(None)
    'nothing was finished'
    """
    if result is None:
        return "nothing was finished"
    if isinstance(result, RiskEstimate):
        if result.plan.outer_layout is None:
            return "nothing was chosen yet"
        return f"{_share(result)} were finished"
    n_whole = sum(one.complete for one in result.values())
    words = f"{n_whole} of {count(len(result) + len(result._never_run), 'model')} were finished"
    name, last = list(result.items())[-1]
    if last.complete or not _begun(last):
        return words
    return f"{words}, and {_share(last)} of {name!r}"


def was_interrupted(result: RiskEstimate | Comparison) -> bool:
    """Whether the user stopped the run, be it when everything was finished already."""
    parts = list(result.values()) if isinstance(result, Comparison) else [result]
    return not result.complete or any(
        record_of(part).table.interrupted for part in parts
    )


def interrupted(result: RiskEstimate | Comparison | None) -> Interrupted:
    """The exception that says how much of a run was finished, and carries it."""
    parts = list(result.values()) if isinstance(result, Comparison) else [result]
    if not any(map(_begun, parts)):
        return Interrupted(f"{finished(result)}, so there is no result.")
    where = (
        "error.result holds them (at a prompt or in a notebook: sys.last_value.result)"
    )
    return Interrupted(f"{finished(result)}; {where}.", result)


def _begun(result: RiskEstimate | None) -> bool:
    return result is not None and len(result.chosen_index) > 0


def _share(result: RiskEstimate) -> str:
    return f"{len(result.chosen_index)} of {count(result.plan.n_parts, 'outer split')}"


def compare_pairs(results: Mapping[str, RiskEstimate]) -> list[Pair]:
    """Each two results, in the order of the families; p-values corrected after Holm for their number."""
    pairs = [
        _pair(first, second, results) for first, second in combinations(results, 2)
    ]
    tested = [i for i, pair in enumerate(pairs) if pair.p is not None]
    corrected = holm(np.array([pairs[i].p for i in tested], dtype=np.float64))
    for i, p in zip(tested, corrected, strict=True):
        pairs[i] = replace(pairs[i], p_holm=float(p))
    return pairs


def holm(p: np.ndarray) -> np.ndarray:
    """p-values that keep the chance of any false finding: the i-th smallest of n times n - i, never falling.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    raised = np.minimum(
        1.0, np.maximum.accumulate(p[order] * (p.size - np.arange(p.size)))
    )
    out = np.empty_like(raised)
    out[order] = raised
    return out


def _pair(first: str, second: str, results: Mapping[str, RiskEstimate]) -> Pair:
    a, b = results[first], results[second]
    loss = record_of(a).loss
    n = min(len(a.fold_risks), len(b.fold_risks))
    d = a.fold_risks[:n] - b.fold_risks[:n]
    pair = Pair(
        first, second, float(d.mean()) if n else None, n > 0 and not d.any(), n, loss
    )
    try:
        t, p = corrected_t(a, b)
        pair = replace(pair, t=t, p=p)
        if a.complete and b.complete and is_5x2(a.plan):
            F, p_F = alpaydin_5x2cv(a, b)
            pair = replace(pair, F=F, p_F=p_F)
    except InputError as error:
        return replace(pair, reason=str(error))
    return pair
