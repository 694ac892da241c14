"""LossTable: all losses that a run measured. Everything shown later is computed from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..splits.plan import Plan


@dataclass(frozen=True)
class Failure:
    """One setting s that failed in one split; k is None on the outer split itself."""

    j: int
    k: int | None
    s: int
    cause: str


@dataclass(frozen=True, eq=False)
class LossTable:
    """Fold losses by (outer, inner, setting); row losses by (row, setting) of outer test parts.

    inner[j]        [inner splits of j, settings]; None where nothing is chosen
    outer           [outer splits, settings], NaN where a setting was not fitted there
    rows[j]         [test rows of j, settings], NaN likewise; mistakes may be bytes;
                    None where the loss has no row values
    predictions[j]  of the chosen setting on the test rows of j
    chosen          index of the setting chosen in each training part
    counts          how many predictions deserve a note, by the kind of the note or the note
    refitted        how many splits a fast path left to refit, by the reason
    flat            whether every setting was measured on the outer test parts
    interrupted     the user stopped the run, possibly after everything was finished
    left            models whose fits an interrupt could not end
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
    interrupted: bool = False
    left: tuple[str, ...] = ()

    @property
    def inner_curves(self) -> np.ndarray | None:
        """[training parts, settings]: the mean over inner splits; NaN where one of them failed."""
        if self.inner is None:
            return None
        curves = np.array([losses.mean(axis=0) for losses in self.inner])
        return curves.reshape(len(self.inner), self.outer.shape[1])

    @property
    def fold_risks(self) -> np.ndarray:
        """[outer splits]: the chosen setting's loss on each outer test part."""
        n_outer = len(self.outer)
        return self.outer[np.arange(n_outer), self.chosen[:n_outer]]


@dataclass(eq=False)
class PartResults:
    """Results of some training parts, in the order of `parts`; other fields as in LossTable.

    refused          part -> why the path left it to refit
    refused_outside  refused parts whose choice is valid: only the outer split is left to refit
    """

    parts: range
    chosen: np.ndarray
    inner: Sequence[np.ndarray] | None = None
    outer: np.ndarray | None = None
    rows: list[np.ndarray | None] = field(default_factory=list)
    predictions: list[np.ndarray] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    refused_outside: frozenset[int] = frozenset()
    failures: list[Failure] = field(default_factory=list)
    warnings: Counter[str] | None = None
    counts: Counter[str] | None = None
    refitted: Counter[str] | None = None


class TableBuilder:
    """The table of one draw while the engine fills it, part by part."""

    def __init__(self, plan: Plan, n_settings: int) -> None:
        n_outer, self.n_parts = len(plan.outer), plan.n_parts
        self.inner: list[np.ndarray] | None = None
        if plan.inner_layouts is not None:
            self.inner = [np.zeros((0, n_settings))] * plan.n_parts
        self.outer = np.full((n_outer, n_settings), np.nan)
        self.rows: list[np.ndarray | None] = [None] * n_outer
        self.predictions: list[np.ndarray] = [np.zeros(0)] * n_outer
        self.chosen = np.zeros(plan.n_parts, dtype=np.int64)
        self.finished = np.zeros(plan.n_parts, dtype=bool)
        self.flat = False  # every setting is measured on the outer test parts
        self.failures: list[Failure] = []
        self.warnings: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.refitted: Counter[str] = Counter()
        self.interrupted = False
        self.left: tuple[str, ...] = ()

    def put(self, results: PartResults) -> None:
        """Write these results. Refused parts stay unfinished; their valid choices are kept."""
        if results.refused:
            self._put_each(results)
        else:
            self._put_all(results)
        self.failures += results.failures
        self.warnings.update(results.warnings or ())
        self.counts.update(results.counts or ())
        self.refitted.update(results.refitted or ())

    def _put_all(self, results: PartResults) -> None:
        here = slice(results.parts.start, results.parts.stop)
        self.chosen[here] = results.chosen
        if self.inner is not None and results.inner is not None:
            self.inner[here] = results.inner
        if results.outer is not None:
            self.outer[here] = results.outer
            self.rows[here] = results.rows
            self.predictions[here] = results.predictions
        self.finished[here] = True

    def _put_each(self, results: PartResults) -> None:
        for i, j in enumerate(results.parts):
            is_refused = j in results.refused
            if is_refused and j not in results.refused_outside:
                continue
            self.chosen[j] = results.chosen[i]
            if self.inner is not None and results.inner is not None:
                self.inner[j] = results.inner[i]
            if is_refused:
                continue
            if results.outer is not None:
                self.outer[j] = results.outer[i]
                self.rows[j] = results.rows[i]
                self.predictions[j] = results.predictions[i]
            self.finished[j] = True

    def table(self, seconds: float) -> LossTable:
        """Return the training parts up to the first unfinished one; all if there is none."""
        complete = bool(self.finished.all())
        n_parts = self.n_parts if complete else int(np.argmin(self.finished))
        n_outer = min(n_parts, len(self.outer))
        return LossTable(
            inner=None if self.inner is None else tuple(self.inner[:n_parts]),
            outer=self.outer[:n_outer].copy(),
            rows=tuple(self.rows[:n_outer]),
            predictions=tuple(self.predictions[:n_outer]),
            chosen=self.chosen[:n_parts].copy(),
            failures=tuple(self.failures),
            warnings=tuple(sorted(self.warnings.items())),
            counts=tuple(sorted(self.counts.items())),
            refitted=tuple(sorted(self.refitted.items())),
            flat=self.flat,
            complete=complete,
            seconds=seconds,
            interrupted=self.interrupted,
            left=self.left,
        )
