"""Report on the smallest CV estimate: its optimism, its corrections, and the nested risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...inference.bounds import dev_set_bound
from ...inference.checked import probability
from ...inference.corrections import BBC, bbc, tibshirani_bias
from ...inference.measured import every_outer_loss, every_outer_row, refuse_time
from ...inference.spread import positive_range
from ...wording import number
from ..estimate import RiskEstimate, record_of
from .base import Report, refuse_no_result


@dataclass(frozen=True, eq=False, repr=False)
class Optimism(Report):
    """The same loss on the same folds, estimated in several ways; None if meaningless here.

    flat        the smallest of the settings' CV estimates
    tibshirani  flat + the bias that Tibshirani and Tibshirani estimate
    bbc         .estimate, .low, .high by bootstrap bias-corrected CV
    nested      the risk measured outside; nested - flat is the optimism measured
    bound       the most by which the risk of the setting chosen on a dev set exceeds the best
                one's, with probability 1 - delta
    reasons     why an estimate is None, by its name
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
        if self.nested is None or self.flat is None:
            return None
        return self.nested - self.flat

    @property
    def title(self) -> str:
        loss, n = record_of(self.result).loss, len(self.result.settings)
        subject = f"Optimism of the best of {n} settings"
        return f"{subject}, on the same folds: {loss.shown_name}"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        loss = record_of(self.result).loss
        name = "score" if loss.is_score else "loss"
        level = f"{100 * self.level:g} % interval"
        rows = []
        for estimate, value, interval, bias in self._lines():
            is_other = (
                value is not None and self.flat is not None and estimate != "flat"
            )
            gain = value - self.flat if is_other else None
            rows.append(
                [
                    estimate,
                    number(loss.shown(value)),
                    interval,
                    number(loss.shown_difference(gain)),
                    "–" if value is None else bias,
                ]
            )
        return ["estimate", name, level, "minus flat", "bias"], rows

    def _lines(self) -> list[tuple[str, Any, str, str]]:
        """Return (name, loss, interval, bias) of each estimate."""
        flat_bias = "optimistic: the folds that measure it chose it"
        bbc_bias = "slightly pessimistic: a bag holds fewer rows"
        nested_bias = "neither, for the tuned rule at its training size"
        nested = "test part" if len(self.result.plan.outer) == 1 else "nested"
        estimate = None if self.bbc is None else self.bbc.estimate
        return [
            ("flat", self.flat, "–", flat_bias),
            ("Tibshirani–Tibshirani", self.tibshirani, "–", self._tibshirani_bias()),
            ("BBC-CV", estimate, self._bbc_interval(), bbc_bias),
            (nested, self.nested, "–", nested_bias),
        ]

    def _bbc_interval(self) -> str:
        if self.bbc is None:
            return "–"
        ends = map(record_of(self.result).loss.shown, self.bbc[1:])
        return " to ".join(map(number, sorted(ends)))

    @property
    def sentences(self) -> list[str]:
        sentences = [f"{name}: {reason}" for name, reason in self.reasons.items()]
        if self.nested is not None:
            risk = f"{self.result.quantity}: the risk of the tuned rule"
            if len(self.result.plan.outer) > 1:
                risk += (
                    "; on average at least that of the best setting for each S, "
                    "E[min_θ ℓ_D(A_θ(S))]"
                )
            sentences.insert(0, f"{risk}.")
        if self.bound is not None:
            sentences.append(
                f"Dev-set bound: with probability {1 - self.delta:g} or more the setting "
                f"chosen is at most {number(self.bound)} worse than the best one, both "
                "trained without the dev set; it holds for every distribution, so it is "
                "loose."
            )
        return sentences

    def _tibshirani_bias(self) -> str:
        plan = self.result.plan
        splits = plan.outer if len(plan.outer) > 1 else plan.inner[0]
        if splits.layout.sizes()[:, 1].max() == 1:
            return "pessimistic: single rows nearly double the loss"
        return "pessimistic where folds are small"


def optimism(
    result: RiskEstimate,
    n_boot: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    delta: float = 0.05,
    range: float | None = None,
) -> Optimism:
    """The flat estimate, its two corrections and the risk measured outside, each with its bias.

        flat = min_θ CV(θ),                          tibshirani = flat + bias
        bbc  = mean_b of the losses out of bag b,    nested     = mean_j ε_j

    result: of several settings; with several outer splits it must have outer_curves, as in
    `compare_rules`. The bias is that of `tibshirani_bias`; n_boot, level and seed are those
    of `bbc`; delta and range those of `dev_set_bound` (range is 1 for 0-1 loss).

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> report = optimism(nested_cv(knn(k=range(1, 30)), *load_iris(return_X_y=True)))
    >>> round(report.flat, 4), round(report.tibshirani, 4), round(report.nested, 4)
    (0.0333, 0.04, 0.04)
    """
    refuse_no_result("optimism", result)
    probability("level", level)
    probability("delta", delta)
    if range is not None:
        positive_range(range)
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
    return Optimism(
        result=result,
        flat=result.flat,
        tibshirani=_tibshirani(result, reasons),
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
            "needs the losses of all rows under all settings, and inner row losses are "
            "not kept; give outer=5."
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
    """Return the bound where θ is chosen on one dev set of independent rows by a bounded loss."""
    layouts = record_of(result).plan.inner_layouts or ()
    if not layouts or any(len(layout) > 1 for layout in layouts):
        return None
    try:
        return dev_set_bound(result, delta=delta, range=range)
    except InputError as error:
        reasons["Dev-set bound"] = str(error)
        return None
