"""Work: what a run measures, and how."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.table import Data
from ..families.family import Family
from ..families.setting_groups import SettingGroup
from ..inference.rules import Rule
from ..losses.loss import Loss


@dataclass(frozen=True)
class Work:
    """What to measure, and how.

    kinds   the settings of the family in groups of one kind
    rule    how θ is chosen
    path    "auto" or "refit"
    n_jobs  number of workers, as in joblib
    """

    family: Family
    kinds: list[SettingGroup]
    data: Data
    loss: Loss
    task: str
    rule: Rule
    path: str = "auto"
    n_jobs: int | None = None
