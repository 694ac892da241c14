"""Report on the choices of θ: where, how firmly, and the cost of another split's choice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...families.labels import Setting, format_setting, format_value
from ...wording import count, number
from ..estimate import RiskEstimate, record_of
from ..notes import GridEdge, grid_edges
from .base import Report, refuse_no_result


@dataclass(frozen=True, eq=False, repr=False)
class ThetaReport(Report):
    """The choices of the outer training parts.

    counts     [settings]: in how many parts each was chosen
    agreement  the share of parts that chose the commonest one
    tied       [parts]: how many settings shared the minimum
    edges      axis, side, value, and the share of parts that chose it
    regret     [i, j]: loss of outer split i under θ_j minus that under its own θ_i; None,
               with regret_reason, where it was not measured
    """

    result: RiskEstimate
    counts: np.ndarray
    agreement: float
    tied: np.ndarray
    edges: tuple[GridEdge, ...]
    regret: np.ndarray | None
    regret_reason: str

    @property
    def commonest(self) -> Setting:
        return self.result.settings[int(np.argmax(self.counts))]

    @property
    def title(self) -> str:
        parts = count(len(self.tied), "training part")
        name, share = format_setting(self.commonest) or "–", 100 * self.agreement
        return f"θ chosen in {parts}: {name} in {share:.0f} % of them"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        chosen, settings = self.result.chosen_index, self.result.settings
        by_count = np.argsort(-self.counts, kind="stable")
        rows = []
        for s in by_count[: np.count_nonzero(self.counts)]:
            at = np.flatnonzero(chosen == s)
            rows.append(
                [
                    format_setting(settings[s]) or "–",
                    f"{self.counts[s]} of {len(chosen)}",
                    ", ".join(map(str, at[:8])) + (", …" if at.size > 8 else ""),
                    self._mean_regret_elsewhere(at),
                ]
            )
        return ["θ", "chosen", "in splits", "mean regret elsewhere"], rows

    def _mean_regret_elsewhere(self, at: np.ndarray) -> str:
        """Return the regret of the choice of splits `at`, over all other splits."""
        elsewhere = np.setdiff1d(np.arange(len(self.tied)), at)
        if self.regret is None or not elsewhere.size:
            return number(None)
        regret = float(self.regret[elsewhere, at[0]].mean())
        return number(record_of(self.result).loss.shown_difference(regret))

    @property
    def sentences(self) -> list[str]:
        sentences = []
        n_tied = int((self.tied > 1).sum())
        if n_tied:
            parts = count(len(self.tied), "training part")
            sentences.append(
                f"Up to {self.tied.max()} settings share the minimum in {n_tied} of {parts}."
            )
        for edge in self.edges:
            words = edge.words(edge.axis, format_value(edge.value))
            sentences.append(f"{words}: {100 * edge.share:.0f} % of the choices.")
        if self.regret_reason:
            sentences.append(self.regret_reason)
        return sentences


def theta_report(result: RiskEstimate) -> ThetaReport:
    """How often each θ was chosen, how far the outer splits agree, ties, edges, and the regret.

        agreement    = max_θ #{j: θ_j = θ} / J
        regret[i, j] = loss of A_θj(S_-i) on S_i - loss of A_θi(S_-i) on S_i

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> report = theta_report(nested_cv(knn(k=range(1, 30)), *load_iris(return_X_y=True)))
    >>> report.agreement, report.regret.shape
    (0.2, (5, 5))
    """
    refuse_no_result("theta_report", result)
    record, chosen = record_of(result), result.chosen_index
    if record.table.inner is None:
        raise InputError(
            "inner=None chooses nothing, so there is no choice to report on; give inner."
        )
    counts = np.bincount(chosen, minlength=len(record.family.settings))
    n_tied = np.array([tied.size for tied in record.tied])
    regret, reason = _regret(result, chosen)
    agreement = max(Counter(chosen.tolist()).values()) / len(chosen)
    edges = tuple(grid_edges(record))
    return ThetaReport(result, counts, agreement, n_tied, edges, regret, reason)


def _regret(result: RiskEstimate, chosen: np.ndarray) -> tuple[np.ndarray | None, str]:
    table = record_of(result).table
    if not len(table.outer):
        return None, "Regret: nothing was measured outside S; give outer."
    losses = table.outer[:, chosen[: len(table.outer)]]
    if np.isnan(losses).any() and not table.flat:
        fits = len(table.outer) * (table.outer.shape[1] - 1)
        return None, (
            "Regret: the losses of other splits' choices were not measured; run again "
            f"with flat=True, for {count(fits, 'more fit')}."
        )
    return losses - np.diag(losses)[:, None], ""
