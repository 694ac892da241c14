"""LossTable: everything that was measured. All that is shown later is arithmetic over it."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

import numpy as np

from .errors import FitError
from .plan import Plan
from .rules import Rule


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
    rows[j]         [test rows of j, settings], NaN likewise; None where the loss has no row values; mistakes may be bytes
    predictions[j]  of the chosen setting on the test rows of j
    counts          how many predictions deserve a note, by the kind of the note
    refitted        how many splits a fast path left to refit, by the reason
    """

    inner: tuple[np.ndarray, ...] | None
    outer: np.ndarray
    rows: tuple[np.ndarray | None, ...]
    predictions: tuple[np.ndarray, ...]
    chosen: np.ndarray
    failures: tuple[Failure, ...] = ()
    warnings: tuple[tuple[str, int], ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    refitted: tuple[tuple[str, int], ...] = ()
    flat: bool = False
    complete: bool = True
    seconds: float = 0.0

    @property
    def inner_curves(self) -> np.ndarray | None:
        """[training parts, settings]: mean over inner splits of their fold means; NaN where one of them failed."""
        if self.inner is None:
            return None
        return np.array([losses.mean(axis=0) for losses in self.inner]).reshape(len(self.inner), self.outer.shape[1])

    @property
    def fold_risks(self) -> np.ndarray:
        """[outer splits]: the chosen setting's loss on each outer test part."""
        return self.outer[np.arange(len(self.outer)), self.chosen[: len(self.outer)]]


@dataclass(frozen=True, eq=False)
class Strip:
    """What a sheet holds of some training parts, to be written into another sheet; fields as there."""

    parts: range
    inner: list[np.ndarray] | None
    outer: np.ndarray
    rows: list[np.ndarray | None]
    predictions: list[np.ndarray]
    chosen: np.ndarray
    finished: np.ndarray
    refused: dict[int, str]
    refused_outside: dict[int, str]
    warnings: Counter[str]
    counts: Counter[str]


class Sheet:
    """The table while threads fill it with every setting's losses.

    inner[j], outer  as in LossTable, NaN where nothing is written yet
    stop             one byte that is set to 1 when the user has had enough; kernels may read it
    refused[j]       why training part j is not for the path: all its numbers are left to refit
    refused_outside[j]  why the path cannot measure outer split j: its inner losses and its choice stand
    work, done       how much there is to do and has been done, in a unit of the path's own; for the progress alone
    """

    def __init__(self, plan: Plan, n_settings: int, rule: Rule) -> None:
        self.plan, self.n_settings, self.rule = plan, n_settings, rule
        layouts, n_outer = plan.inner_layouts, len(plan.outer)
        self.inner = None if layouts is None else [np.full((len(layout), n_settings), np.nan) for layout in layouts]
        self.outer = np.full((n_outer, n_settings), np.nan)
        self.rows: list[np.ndarray | None] = [None] * n_outer
        self.predictions: list[np.ndarray] = [np.zeros(0)] * n_outer
        self.chosen = np.zeros(plan.n_parts, dtype=np.int64)
        self.finished = np.zeros(plan.n_parts, dtype=bool)
        self.refused: dict[int, str] = {}
        self.refused_outside: dict[int, str] = {}
        self.failures: list[Failure] = []
        self.warnings: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.stop = np.zeros(1, dtype=np.uint8)
        self.work = self.done = 0.0
        self.lock = threading.Lock()

    @property
    def stopped(self) -> bool:
        return bool(self.stop[0])

    @property
    def share_done(self) -> float:
        """Between 0 and 1; by the finished parts where the path does not say what there is to do."""
        return min(1.0, self.done / self.work) if self.work else float(self.finished.mean())

    def count(self, kind: str, n: int) -> None:
        """Note that so many predictions deserve a note."""
        with self.lock:
            self.counts[kind] += n

    def choose(self, j: int) -> int:
        """The setting chosen in training part j, all of whose inner losses are written."""
        if self.inner is not None:
            chosen = self.rule.choose(self.inner[j])
            if chosen is None:
                raise FitError(f"no setting has a finite loss in every inner split of training part {j}.")
            self.chosen[j] = chosen
        return int(self.chosen[j])

    def put_outer(self, j: int, losses: np.ndarray, rows: np.ndarray | None, predictions: np.ndarray) -> None:
        """Finish part j: the losses of every setting on its outer test part, and what the chosen one predicted there."""
        self.outer[j], self.rows[j], self.predictions[j] = losses, rows, predictions
        self.finished[j] = True

    def strip(self, parts: range) -> Strip:
        """What is written of these parts; what was counted, of all that was done here."""
        here, inner = slice(parts.start, parts.stop), self.inner
        return Strip(
            parts,
            None if inner is None else inner[here],
            self.outer[here],
            self.rows[here],
            self.predictions[here],
            self.chosen[here],
            self.finished[here],
            self.refused,
            self.refused_outside,
            self.warnings,
            self.counts,
        )

    def put(self, strip: Strip) -> None:
        """Take over what another sheet of this plan holds of some parts."""
        here = slice(strip.parts.start, strip.parts.stop)
        if self.inner is not None and strip.inner is not None:
            self.inner[here] = strip.inner
        self.outer[here], self.rows[here], self.predictions[here] = strip.outer, strip.rows, strip.predictions
        self.chosen[here] = strip.chosen
        self.refused.update(strip.refused)
        self.refused_outside.update(strip.refused_outside)
        self.warnings.update(strip.warnings)
        self.counts.update(strip.counts)
        self.finished[here] = strip.finished

    def table(self, seconds: float) -> LossTable:
        """What was finished: everything, or the training parts up to the first unfinished one."""
        complete = bool(self.finished.all())
        n_parts = len(self.finished) if complete else int(np.argmin(self.finished))
        n_outer = min(n_parts, len(self.outer))
        return LossTable(
            inner=None if self.inner is None else tuple(self.inner[:n_parts]),
            outer=self.outer[:n_outer],
            rows=tuple(self.rows[:n_outer]),
            predictions=tuple(self.predictions[:n_outer]),
            chosen=self.chosen[:n_parts],
            failures=tuple(self.failures),
            warnings=tuple(sorted(self.warnings.items())),
            counts=tuple(sorted(self.counts.items())),
            refitted=tuple(sorted(self._refitted().items())),
            flat=True,
            complete=complete,
            seconds=seconds,
        )

    def _refitted(self) -> Counter[str]:
        splits: Counter[str] = Counter()
        for j, why in self.refused.items():
            splits[why] += 0 if self.inner is None else len(self.inner[j])
        for why in ({**self.refused_outside, **self.refused} if len(self.outer) else {}).values():
            splits[why] += 1
        return splits
