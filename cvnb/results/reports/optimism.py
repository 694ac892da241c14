"""How optimistic the smallest CV estimate is: the flat estimate, its corrections, and the nested risk, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...inference.bounds import dev_set_bound
from ...inference.checked import number as number_
from ...inference.checked import probability
from ...inference.corrections import BBC, bbc, tibshirani_bias
from ...inference.measured import every_outer_loss, every_outer_row, refuse_time
from ...wording import number
from ..estimate import RiskEstimate, record_of
from .base import Report


@dataclass(frozen=True, eq=False, repr=False)
class Optimism(Report):
    """The same loss on the same folds, estimated in several ways; None where an estimate means nothing here, with the reason.

    flat        the smallest of the settings' CV estimates
    tibshirani  flat + the bias that Tibshirani and Tibshirani estimate
    bbc         .estimate, .low, .high by bootstrap bias-corrected CV
    nested      the risk measured outside; nested - flat is the optimism measured
    bound       how much the risk of the setting chosen on a dev set can exceed the best one's, with probability 1 - delta
    """

    result: RiskEstimate
    flat: float | None
    tibshirani: float | None
    bbc: BBC | None
    nested: float | None
    bound: float | None
    delta: float
    level: float
    reasons: dict[str, str]

    @property
    def optimism(self) -> float | None:
        """nested - flat."""
        return (
            None
            if self.nested is None or self.flat is None
            else self.nested - self.flat
        )

    @property
    def title(self) -> str:
        loss = record_of(self.result).loss
        return f"Optimism of the best of {len(self.result.settings)} settings, on the same folds: {loss.shown_name}"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        loss, outside = (
            record_of(self.result).loss,
            "test part" if len(self.result.plan.outer) == 1 else "nested",
        )
        ends = (
            []
            if self.bbc is None
            else sorted(
                (loss.score(end) if loss.is_score else end) for end in self.bbc[1:]
            )
        )
        interval = " to ".join(map(number, ends)) or "–"
        lines = [
            ("flat", self.flat, "–", "optimistic: the folds that measure it chose it"),
            ("Tibshirani–Tibshirani", self.tibshirani, "–", self._tibshirani_words()),
            (
                "BBC-CV",
                None if self.bbc is None else self.bbc.estimate,
                interval,
                "slightly pessimistic: a bag holds fewer rows",
            ),
            (
                outside,
                self.nested,
                "–",
                "neither, for the tuned rule at its training size",
            ),
        ]
        head = [
            "estimate",
            "score" if loss.is_score else "loss",
            f"{100 * self.level:g} % interval",
            "minus flat",
            "bias",
        ]
        rows = []
        for name, value, between, towards in lines:
            above = (
                None
                if value is None or self.flat is None or name == "flat"
                else value - self.flat
            )
            shown = [
                name,
                number(loss.shown(value)),
                between,
                number(loss.shown_difference(above)),
            ]
            rows.append([*shown, "–" if value is None else towards])
        return head, rows

    @property
    def sentences(self) -> list[str]:
        said = [f"{name}: {reason}" for name, reason in self.reasons.items()]
        if self.nested is not None:
            several = len(self.result.plan.outer) > 1
            more = (
                "; on average at least that of the best setting for each S, E[min_θ ℓ_D(A_θ(S))]"
                if several
                else ""
            )
            said.insert(0, f"{self.result.quantity}: the risk of the tuned rule{more}.")
        if self.bound is not None:
            said.append(
                f"Dev-set bound: with probability {1 - self.delta:g} or more the setting chosen is at most "
                f"{number(self.bound)} worse than the best one, both trained without the dev set; it holds for every "
                "distribution, so it is loose."
            )
        return said

    def _tibshirani_words(self) -> str:
        sizes = self._fold_sizes()
        return (
            "pessimistic: single rows nearly double the loss"
            if sizes.max() == 1
            else "pessimistic where folds are small"
        )

    def _fold_sizes(self) -> np.ndarray:
        plan = self.result.plan
        splits = plan.outer if len(plan.outer) > 1 else plan.inner[0]
        return splits.layout.sizes()[:, 1]


def optimism(
    result: RiskEstimate,
    n_boot: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    delta: float = 0.05,
    range: float | None = None,
) -> Optimism:
    """The flat estimate, its two corrections and the risk measured outside, with what each is biased towards.

        flat = min_θ CV(θ),    tibshirani = flat + bias,    bbc = mean_b of the losses out of bag b,    nested = mean_j ε_j

    The bias is that of `tibshirani_bias`; n_boot, level and seed are those of `bbc`; delta and range those of `dev_set_bound`
    (range is 1 for 0-1 loss).

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> report = optimism(nested_cv(knn(k=range(1, 30)), *load_iris(return_X_y=True)))
    >>> round(report.flat, 4), round(report.tibshirani, 4), round(report.nested, 4)
    (0.0333, 0.04, 0.04)
    """
    if not isinstance(result, RiskEstimate):
        raise InputError(
            f"optimism takes the result of a run, got {type(result).__name__}."
        )
    probability("level", level)
    probability("delta", delta)
    if range is not None and number_("range", range) <= 0:
        raise InputError(
            f"range={range!r} must be > 0: the width of the interval that the loss lies in."
        )
    if len(result.settings) == 1:
        raise InputError(
            "one setting: nothing was chosen, so its CV estimate is not optimistic."
        )
    if len(result.plan.outer) > 1:
        every_outer_loss(result)
    reasons: dict[str, str] = {}
    if result.risk is None:
        reasons["Nested"] = (
            "nothing was measured outside S; a recipe with outer=5 measures the tuned rule."
        )
    corrected = _tibshirani(result, reasons)
    return Optimism(
        result=result,
        flat=result.flat,
        tibshirani=corrected,
        bbc=_bbc(result, n_boot, level, seed, reasons),
        nested=result.risk,
        bound=_bound(result, delta, range, reasons),
        delta=delta,
        level=level,
        reasons=reasons,
    )


def _tibshirani(result: RiskEstimate, reasons: dict[str, str]) -> float | None:
    if len(result.plan.outer) < 2 and len(result.plan.inner[0]) < 2:
        reasons["Tibshirani–Tibshirani"] = (
            "one dev set has no second fold whose minimum could differ."
        )
        return None
    return None if result.flat is None else result.flat + tibshirani_bias(result)[1]


def _bbc(
    result: RiskEstimate, n_boot: int, level: float, seed: int, reasons: dict[str, str]
) -> BBC | None:
    if len(result.plan.outer) < 2:
        reasons["BBC-CV"] = (
            "needs the losses of all rows under all settings, and inner row losses are not kept; give outer=5."
        )
        return None
    try:
        every_outer_row(result)
        refuse_time(result)
    except InputError as error:
        reasons["BBC-CV"] = str(error)
        return None
    return bbc(result, n_boot, level, seed)


def _bound(
    result: RiskEstimate, delta: float, range: float | None, reasons: dict[str, str]
) -> float | None:
    """The bound, where θ is chosen on one dev set of independent rows by a bounded loss."""
    layouts = record_of(result).plan.inner_layouts or ()
    if not layouts or any(len(layout) > 1 for layout in layouts):
        return None
    try:
        return dev_set_bound(result, delta=delta, range=range)
    except InputError as error:
        reasons["Dev-set bound"] = str(error)
        return None
