"""The methods of `result.interval` that fit again: on more splits, or one model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...inference.interval_methods import (
    RepeatedMethod,
    final_predictor,
    is_no_auc,
    is_partial,
    no_row_losses,
    one_part,
    parts_overlap,
    procedure_and_final,
    rows_in_groups,
    rows_weighted,
    several_parts,
    tested_predictors,
)
from .conservative_z import conservative_z
from .delong import delong
from .ncv import ncv

if TYPE_CHECKING:
    from ..estimate import RiskEstimate

PARTIAL = "needs the whole run, and this one was interrupted; run again."
ONE_PART = (
    "repeats several outer splits, and here is one; use outer=5, or method='holdout'."
)
OVERLAP = "is for test parts that do not overlap; use outer=5, or method='corrected_t'."
WEIGHTED = "counts rows, and these have weights; use method='corrected_t' or 'auto'."
NO_ROWS = (
    "needs a loss for every row, and {loss} has none; use method='conservative_z', which "
    "compares the scores of halves, or 'corrected_t'."
)

COMMON: dict[Callable[[RiskEstimate], bool], str] = {
    is_partial: PARTIAL,
    one_part: ONE_PART,
    parts_overlap: OVERLAP,
    rows_weighted: WEIGHTED,
}
REPEATED = {
    "ncv": RepeatedMethod(
        ncv,
        covers=final_predictor,
        refuses={
            **COMMON,
            no_row_losses: NO_ROWS,
            rows_in_groups: "counts independent rows, and these come in groups; use "
            "method='conservative_z', which halves whole groups, or 'corrected_t'.",
        },
    ),
    "conservative_z": RepeatedMethod(
        conservative_z,
        covers=procedure_and_final,
        refuses=COMMON,
    ),
    "delong": RepeatedMethod(
        delong,
        covers=tested_predictors,
        refuses={
            is_no_auc: "is for scoring='roc_auc', not {loss}; use method='auto'.",
            several_parts: "is for one test part, and here are {n_parts}; "
            "use method='corrected_t'.",
            rows_weighted: WEIGHTED,
            rows_in_groups: "counts independent rows, and these come in groups; use outer=5 "
            "and method='corrected_t'.",
        },
    ),
}
