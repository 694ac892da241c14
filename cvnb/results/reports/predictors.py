"""Report on the final predictors: retrained on all rows, or the mean of the inner models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...inference.checked import probability
from ...inference.measured import refuse_time, split_sizes
from ...inference.paired import corrected_t
from ...inference.spread import corrected_t_interval
from ...wording import number
from ..estimate import RiskEstimate, record_of
from .base import Report, refuse_no_result

WORDS = {
    "retrain": "retrained on the whole part at its θ_j",
    "ensemble": "mean of the inner models at θ_j",
    "own": "mean of the inner models, each at its own θ",
}


@dataclass(frozen=True)
class PredictorRisk:
    """One final predictor, built inside every outer training part and measured outside.

    name        as in result.predictor(how=name)
    fold_risks  [outer splits]
    difference  its risk minus that of "retrain"
    low, high   interval of the difference (corrected resampled t); None with a reason
    p           p-value of the same test
    """

    name: str
    fold_risks: np.ndarray
    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: str = ""

    @property
    def risk(self) -> float:
        """(1/J) Σ_j of the fold risks."""
        return float(self.fold_risks.mean())


@dataclass(frozen=True, eq=False, repr=False)
class PredictorComparison(Report):
    """The final predictors on the same outer test parts; `better` has the smallest risk."""

    result: RiskEstimate
    predictors: dict[str, PredictorRisk]
    better: str
    verdict: str
    level: float

    @property
    def title(self) -> str:
        name = record_of(self.result).loss.shown_name
        return f"Final predictors inside the outer training parts: {name}"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        loss = record_of(self.result).loss
        head = ["how", "predictor", "score" if loss.is_score else "risk"]
        head += ["minus retrain", f"{100 * self.level:g} % interval", "p"]
        rows = []
        for name, own in self.predictors.items():
            is_first = name == "retrain"
            difference = number(loss.shown_difference(own.difference))
            rows.append(
                [
                    name,
                    WORDS[name],
                    number(loss.shown(own.risk)),
                    "–" if is_first else difference,
                    self._interval_of(own),
                    number(own.p),
                ]
            )
        return head, rows

    def _interval_of(self, own: PredictorRisk) -> str:
        if own.low is None or own.high is None:
            return "–"
        loss = record_of(self.result).loss
        ends = [loss.shown_difference(end) or 0.0 for end in (own.low, own.high)]
        return " to ".join(map(number, sorted(ends)))

    @property
    def sentences(self) -> list[str]:
        reasons = [
            f"{own.name}: {own.reason}"
            for own in self.predictors.values()
            if own.reason
        ]
        return [self.verdict, *reasons]


def compare_predictors(
    result: RiskEstimate, level: float = 0.95
) -> PredictorComparison:
    """Risks of the retrained model and of the means of the inner models, as final predictors.

        retrain   ε_j = loss of A_θj(S_-j) on S_j
        ensemble  loss of mean_k A_θj(T_jk) on S_j,     T_jk the inner training parts of j
        own       loss of mean_k A_θjk(T_jk) on S_j,    θ_jk = argmin_θ of inner split k alone

    Means of models are those of result.predictor(how="ensemble"). It fits at most 2 J K
    models, once for each result. level: coverage probability of the intervals (corrected
    resampled t) of the differences from "retrain".

    >>> from cvnb import nested_cv, ridge
    >>> X = np.random.default_rng(0).normal(size=(40, 8))
    >>> report = compare_predictors(nested_cv(ridge(), X, X[:, 0] ** 2 + X[:, 1]))
    >>> report.better, list(report.predictors)
    ('retrain', ['retrain', 'ensemble', 'own'])
    """
    refuse_no_result("compare_predictors", result)
    probability("level", level)
    found = result._candidates
    predictors = {
        name: _against_retrain(result, name, losses, level)
        for name, losses in found.losses.items()
    }
    return PredictorComparison(result, predictors, found.better, found.verdict, level)


def _against_retrain(
    result: RiskEstimate, name: str, losses: np.ndarray, level: float
) -> PredictorRisk:
    d = losses - result.fold_risks
    own = PredictorRisk(name, losses, float(d.mean()))
    if name == "retrain":
        return own
    if not d.any():
        reason = "the same loss on every test part."
        return PredictorRisk(name, losses, 0.0, reason=reason)
    try:
        refuse_time(result)
        sizes = split_sizes(result)
        p = corrected_t(d, *sizes)[1]
        low, high = corrected_t_interval(d, *sizes, level)
    except InputError as error:
        return PredictorRisk(name, losses, own.difference, reason=str(error))
    return PredictorRisk(name, losses, own.difference, low, high, p)
