"""Report on the final predictors: retrained on all rows, or the mean of the inner models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...inference.checked import probability
from ...wording import number
from ..estimate import RiskEstimate, record_of
from .base import Report, refuse_no_result
from .paired_risk import PairedRisk, paired_with_first

WORDS = {
    "retrain": "retrained on the whole part at its θ_j",
    "ensemble": "mean of the inner models at θ_j",
    "own": "mean of the inner models, each at its own θ",
}


@dataclass(frozen=True, eq=False, repr=False)
class PredictorComparison(Report):
    """The final predictors on the same outer test parts; `better` has the smallest risk."""

    result: RiskEstimate
    predictors: dict[str, PairedRisk]
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
                    own.shown_interval(self.result),
                    number(own.p),
                ]
            )
        return head, rows

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
) -> PairedRisk:
    d = losses - result.fold_risks
    own = PairedRisk(name, losses, float(d.mean()))
    if name == "retrain":
        return own
    if not d.any():
        return replace(own, reason="the same loss on every test part.")
    return paired_with_first(result, own, d, level)
