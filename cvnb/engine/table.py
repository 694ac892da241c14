"""LossTable: everything that was measured. All that is shown later is arithmetic over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..splits.plan import Plan


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
    interrupted     the user stopped the run, be it when everything was finished already
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
        """[training parts, settings]: mean over inner splits of their fold means; NaN where one of them failed."""
        if self.inner is None:
            return None
        return np.array([losses.mean(axis=0) for losses in self.inner]).reshape(
            len(self.inner), self.outer.shape[1]
        )

    @property
    def fold_risks(self) -> np.ndarray:
        """[outer splits]: the chosen setting's loss on each outer test part."""
        return self.outer[np.arange(len(self.outer)), self.chosen[: len(self.outer)]]


@dataclass(eq=False)
class Found:
    """What was found in some training parts; entries in the order of `parts`, fields as in LossTable.

    refused  part -> why the path left it to refit
    outside  parts of which the path has chosen the setting, and left only the outer split to refit
    """

    parts: range
    chosen: np.ndarray
    inner: Sequence[np.ndarray] | None = None
    outer: np.ndarray | None = None
    rows: list[np.ndarray | None] = field(default_factory=list)
    predictions: list[np.ndarray] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    outside: frozenset[int] = frozenset()
    failures: list[Failure] = field(default_factory=list)
    warnings: Counter[str] | None = None
    counts: Counter[str] | None = None
    refitted: Counter[str] | None = None


class TableBuilder:
    """The table of one draw while the engine fills it, part by part."""

    def __init__(self, plan: Plan, n_settings: int) -> None:
        n_outer, self.n_parts = len(plan.outer), plan.n_parts
        self.inner: list[np.ndarray] | None = (
            None
            if plan.inner_layouts is None
            else [np.zeros((0, n_settings))] * plan.n_parts
        )
        self.outer = np.full((n_outer, n_settings), np.nan)
        self.rows: list[np.ndarray | None] = [None] * n_outer
        self.predictions: list[np.ndarray] = [np.zeros(0)] * n_outer
        self.chosen = np.zeros(plan.n_parts, dtype=np.int64)
        self.finished = np.zeros(plan.n_parts, dtype=bool)
        self.every = False  # whether all settings are measured on the outer test parts
        self.failures: list[Failure] = []
        self.warnings: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.refitted: Counter[str] = Counter()
        self.interrupted = False
        self.left: tuple[str, ...] = ()

    def put(self, found: Found) -> None:
        """Write what was found; parts that are refused stay unfinished, but inner losses that stand are kept."""
        if not found.refused:
            self._put_all(found)
        for i, j in enumerate(found.parts if found.refused else ()):
            if j in found.refused and j not in found.outside:
                continue
            self.chosen[j] = found.chosen[i]
            if self.inner is not None and found.inner is not None:
                self.inner[j] = found.inner[i]
            if j in found.refused:
                continue
            if found.outer is not None:
                self.outer[j], self.rows[j], self.predictions[j] = (
                    found.outer[i],
                    found.rows[i],
                    found.predictions[i],
                )
            self.finished[j] = True
        self.failures += found.failures
        for mine, theirs in (
            (self.warnings, found.warnings), (self.counts, found.counts), (self.refitted, found.refitted),
        ):  # fmt: skip
            if theirs:
                mine.update(theirs)

    def _put_all(self, found: Found) -> None:
        here = slice(found.parts.start, found.parts.stop)
        self.chosen[here] = found.chosen
        if self.inner is not None and found.inner is not None:
            self.inner[here] = found.inner
        if found.outer is not None:
            self.outer[here], self.rows[here], self.predictions[here] = (
                found.outer,
                found.rows,
                found.predictions,
            )
        self.finished[here] = True

    def table(self, seconds: float) -> LossTable:
        """What is finished: everything, or the training parts up to the first unfinished one."""
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
            flat=self.every,
            complete=complete,
            seconds=seconds,
            interrupted=self.interrupted,
            left=self.left,
        )
