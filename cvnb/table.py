"""LossTable: everything that was measured. All that is shown later is arithmetic over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Failure:
    """One setting that failed in one split; k is None on the outer split itself."""

    j: int
    k: int | None
    s: int
    cause: str


@dataclass(frozen=True, eq=False)
class LossTable:
    """Fold losses by (outer, inner, setting), and row losses by (row, setting) on the outer test parts.

    inner[j]        [inner splits of j, settings]; None where nothing is chosen
    outer           [outer splits, settings], NaN where a setting was not fitted there
    rows[j]         [test rows of j, settings], NaN likewise; None where the loss has no row values
    predictions[j]  of the chosen setting on the test rows of j
    """

    inner: tuple[np.ndarray, ...] | None
    outer: np.ndarray
    rows: tuple[np.ndarray | None, ...]
    predictions: tuple[np.ndarray, ...]
    chosen: np.ndarray
    failures: tuple[Failure, ...] = ()
    warnings: tuple[tuple[str, int], ...] = ()
    flat: bool = False
    complete: bool = True
    seconds: float = 0.0

    @property
    def inner_curves(self) -> np.ndarray | None:
        """[training parts, settings]: mean over inner splits of their fold means; NaN where one of them failed."""
        return None if self.inner is None else np.array([losses.mean(axis=0) for losses in self.inner])

    @property
    def fold_risks(self) -> np.ndarray:
        """[outer splits]: the chosen setting's loss on each outer test part."""
        return self.outer[np.arange(len(self.outer)), self.chosen[: len(self.outer)]]
