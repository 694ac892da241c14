"""What every path gives: the losses of some settings, trained on one part and measured on another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


@dataclass
class Outcome:
    """losses[s] (NaN for a setting that failed or was not asked for); row losses [t, s] and predictions where kept."""

    losses: np.ndarray
    rows: np.ndarray | None = None
    predictions: dict[int, np.ndarray] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)


class Path(Protocol):
    """A way to get the losses of many settings from one split."""

    name: str
    reason: str

    def evaluate(self, train: np.ndarray, test: np.ndarray, which: np.ndarray, split: tuple[int, int], keep: bool) -> Outcome:
        """The losses of the settings `which`, fitted on `train`, on `test`; row losses and predictions too where keep.

        split = (j, k) names the split for the random state of estimators that have none of their own; k = -1 outside.
        """
        ...
