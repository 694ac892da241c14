"""Which θ was chosen where, how firmly, and what it would cost to use another split's choice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...families.family import Setting, format_setting, format_value
from ...wording import count, number
from ..estimate import RiskEstimate, record_of
from ..notes import GridEdge, grid_edges
from .base import Report


@dataclass(frozen=True, eq=False, repr=False)
class ThetaReport(Report):
    """The choices of the outer training parts.

    counts     [settings]: in how many parts each was chosen
    agreement  the share of parts that chose the commonest one
    tied       [parts]: how many settings shared the minimum
    edges      axis, side, value, and the share of parts that chose it, over all parts
    regret     [i, j]: loss of outer split i under θ_j minus that under its own θ_i; None, with regret_reason, where
               it was not measured
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
        n = count(len(self.tied), "training part")
        return f"θ chosen in {n}: {format_setting(self.commonest) or '–'} in {100 * self.agreement:.0f} % of them"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        chosen, settings = self.result.chosen_index, self.result.settings
        head, rows = ["θ", "chosen", "in splits", "mean regret elsewhere"], []
        for s in sorted(
            np.flatnonzero(self.counts), key=lambda s: (-self.counts[s], s)
        ):
            at = np.flatnonzero(chosen == s)
            elsewhere = np.setdiff1d(np.arange(len(chosen)), at)
            cost = (
                None
                if self.regret is None or not elsewhere.size
                else float(self.regret[elsewhere, at[0]].mean())
            )
            cost = record_of(self.result).loss.shown_difference(cost)
            splits = ", ".join(map(str, at[:8])) + (", …" if at.size > 8 else "")
            rows.append(
                [
                    format_setting(settings[s]) or "–",
                    f"{self.counts[s]} of {len(chosen)}",
                    splits,
                    number(cost),
                ]
            )
        return head, rows

    @property
    def sentences(self) -> list[str]:
        said = []
        if (self.tied > 1).any():
            most, n = int(self.tied.max()), int((self.tied > 1).sum())
            said.append(
                f"Up to {most} settings share the minimum in {n} of {count(len(self.tied), 'training part')}."
            )
        for edge in self.edges:
            edge_words = f"{edge.axis}={format_value(edge.value)}, the {edge.side} edge of its grid"
            said.append(f"{edge_words}: {100 * edge.share:.0f} % of the choices.")
        return [*said, *filter(None, [self.regret_reason])]


def theta_report(result: RiskEstimate) -> ThetaReport:
    """How often each θ was chosen, how far the outer splits agree, ties, grid edges, and the regret matrix.

        agreement = max_θ #{j: θ_j = θ} / J,    regret[i, j] = loss of A_θj(S_-i) on S_i - loss of A_θi(S_-i) on S_i

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn, nested_cv
    >>> report = theta_report(nested_cv(knn(k=range(1, 30)), *load_iris(return_X_y=True)))
    >>> report.agreement, report.regret.shape
    (0.2, (5, 5))
    """
    if not isinstance(result, RiskEstimate):
        raise InputError(
            f"theta_report takes the result of a run, got {type(result).__name__}."
        )
    record, chosen = record_of(result), result.chosen_index
    if record.table.inner is None:
        raise InputError(
            "inner=None chooses nothing, so there is no choice to report on; give inner."
        )
    counts = np.bincount(chosen, minlength=len(record.family.settings))
    tied = np.array([tied.size for tied in record.tied])
    regret, reason = _regret(result, chosen)
    agreement = max(Counter(chosen.tolist()).values()) / len(chosen)
    return ThetaReport(
        result, counts, agreement, tied, tuple(grid_edges(record)), regret, reason
    )


def _regret(result: RiskEstimate, chosen: np.ndarray) -> tuple[np.ndarray | None, str]:
    table = record_of(result).table
    if not len(table.outer):
        return None, "Regret: nothing was measured outside S; give outer."
    losses = table.outer[:, chosen[: len(table.outer)]]
    missing = np.isnan(losses)
    if missing.any() and not table.flat:
        fits = len(table.outer) * (table.outer.shape[1] - 1)
        return None, (
            "Regret: the losses of other splits' choices were not measured; run again with flat=True, for "
            f"{count(fits, 'more fit')}."
        )
    return losses - np.diag(losses)[:, None], ""
