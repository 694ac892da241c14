"""Record: everything that a result is made from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ..data.table import Data
from ..engine.table import LossTable
from ..engine.work import Work
from ..families.family import Family
from ..inference.minimum import tied_settings
from ..losses.loss import Loss
from ..paths.base import Ran
from ..splits.plan import Plan
from ..splits.recipes import Recipe


@dataclass(frozen=True, eq=False)
class Record:
    """Everything that a result is made from; `record_of(result)` returns it."""

    recipe: Recipe
    work: Work
    plan: Plan
    table: LossTable
    path: Ran
    inner_spec: Any
    notes: tuple[str, ...]

    @property
    def family(self) -> Family:
        return self.work.family

    @property
    def data(self) -> Data:
        return self.work.data

    @property
    def loss(self) -> Loss:
        return self.work.loss

    @property
    def in_effect(self) -> Recipe:
        """The recipe, without its inner splitter where the family left nothing to choose."""
        if self.plan.inner_layouts is None and self.recipe.inner_spec is not None:
            return replace(self.recipe, inner=None, dev_rows=None)
        return self.recipe

    @property
    def tied(self) -> list[np.ndarray]:
        """For each training part the settings that share the minimum of its inner curve."""
        curves = self.table.inner_curves
        if curves is None:
            return []
        return [tied_settings(curve, self.loss.zero_one) for curve in curves]

    @property
    def predictions(self) -> np.ndarray:
        """Out-of-fold predictions by row, see RiskEstimate.predictions."""
        by_part, n_rows = self.table.predictions, self.plan.n_rows
        tests = [test for _, test in islice(self.plan.outer, len(by_part))]
        values = np.concatenate(by_part) if tests else np.zeros(0)
        rows = np.concatenate(tests) if tests else np.zeros(0, dtype=np.int64)
        if np.unique(rows).size == rows.size:
            out = np.ma.masked_all(n_rows, dtype=values.dtype)
            out[rows] = values
            return out.data if rows.size == n_rows else out
        out = np.ma.masked_all((len(tests), n_rows), dtype=values.dtype)
        for j, test in enumerate(tests):
            out[j, test] = by_part[j]
        return out
