"""What a path is: a pure function from rows and splits to losses.

    share(each, n, kept)  -> the path, with the work that serves many splits done once
    run(task, team)       -> Losses, or a Refusal with its reason

A task names splits of one draw. A path writes nothing and keeps nothing between two tasks:
results of a training part that its outer split needs again travel in `carry`. So a task may
run in any thread or process, in any order. The engine (cvnb/engine/fill.py) owns the table,
the order of the tasks, and the refit of refused splits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from ..data.table import Data
from ..families.algorithm import Algorithm
from ..runtime.threads import Team
from ..splits.plan import Plan

NOTHING = np.zeros(0)  # predictions of a refused split
PER_WORKER = 4  # batches for each worker, so that none waits long for the last
Each = Callable[[Callable[[Any, Team], Any], Iterable[Any]], Iterator[Any]]
Kept = dict[str, Any]  # by name, what a path hands on to its next draws


class Unsuited(Exception):
    """Raised when a fast path cannot handle these rows.

    The affected splits are refitted with scikit-learn; the message gives the reason.
    """


@dataclass(frozen=True, eq=False)
class Draw:
    """One set of splits and one target, over the rows that all draws of a run share."""

    plan: Plan
    data: Data


@dataclass(eq=False, slots=True)
class Inside:
    """The inner splits of the training parts `parts`; with k, only split k of a single part."""

    draw: int
    parts: range
    k: int | None = None


@dataclass(eq=False, slots=True)
class Outside:
    """The outer splits `parts`, each with the setting chosen inside it.

    every    measure all settings; otherwise only the chosen one
    carry    what the path returned with the inner losses of these parts
    refused  parts to leave out
    """

    draw: int
    parts: range
    chosen: np.ndarray
    every: bool = True
    carry: Any = None
    refused: frozenset[int] = frozenset()


Task = Inside | Outside


@dataclass(eq=False, slots=True)
class Losses:
    """The results of a path on the splits of a task, in their order.

    losses       [splits, settings], NaN where a setting failed or was not measured
    rows         for each outer split its row losses [test rows, settings];
                 None where the loss has none
    predictions  for each outer split the predictions of the chosen setting [test rows]
    refused      part -> why the path cannot handle it
    failures     (split of the task, setting) -> message
    warnings     warnings and how often they came
    counts       how many predictions deserve a note, by the kind of the note or the note
    refitted     how many splits were refitted, by the reason
    carry        handed back with the task outside
    """

    losses: np.ndarray
    rows: list[np.ndarray | None] = field(default_factory=list)
    predictions: list[np.ndarray] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    failures: dict[tuple[int, int], str] = field(default_factory=dict)
    warnings: Counter[str] | None = None
    counts: Counter[str] | None = None
    refitted: Counter[str] | None = None
    carry: Any = None

    @classmethod
    def empty(cls, n_splits: int, n_settings: int) -> Losses:
        """NaN for every split and setting, and no row losses or predictions of one outer split."""
        return cls(np.full((n_splits, n_settings), np.nan), [None], [NOTHING])

    def put_rows(self, settings: int | np.ndarray, row_losses: np.ndarray) -> None:
        """Store the row losses of these settings for the only split of the task."""
        rows = self.rows[0]
        if rows is None:
            shape = len(row_losses), self.losses.shape[1]
            rows = self.rows[0] = np.full(shape, np.nan)
        rows[:, settings] = row_losses


@dataclass(frozen=True, eq=False)
class Refusal:
    """Why a path cannot handle a task.

    fitted, warnings  transformers fitted before the refusal, which the refit may use
    """

    reason: str
    fitted: Any = None
    warnings: Counter[str] | None = None


@dataclass(frozen=True)
class Ran:
    """Which path ran and why."""

    name: str
    reason: str


UNDER_WAY = Ran("under way", "the run goes on")  # of the finished part, until it ends


class Path:
    """A way to get the losses of many settings: its properties, and default methods.

    name, reason   which path it is, and why it was chosen
    algorithm      the record that it comes from; None: refit
    draws          splits and data as the path reads them, for the refit of what it refuses;
                   () for those of the run
    note           a note on the whole result
    cost           multiplications of the whole run, roughly; None if unknown without a fit
    work           amount of work, in the path's own unit, for the progress;
                   0: count finished parts
    whole          tasks are batches of parts, for threads;
                   otherwise single splits, which joblib may send anywhere
    travels        tasks may go to other machines after `share`
    every_setting  all settings cost no more than one, so all are measured on outer test parts
    compiles       kernels may have to be compiled
    threads        single splits may run in threads if the user requests no workers
    """

    name = reason = note = ""
    algorithm: Algorithm | None = None
    draws: Sequence[Draw] = ()
    cost: float | None = None
    work = 0.0
    whole, travels, every_setting, compiles, threads = False, True, True, False, False

    @property
    def ran(self) -> Ran:
        """Its name, and why it was chosen."""
        return Ran(self.name, self.reason)

    def share(self, each: Each, n: int, kept: Kept) -> Path:
        """Return the path after the work that serves many splits.

        each  each(call, items) spreads calls over the workers
        n     number of workers
        kept  what serves further draws of the same rows: read, and added to
        """
        return self

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Return ranges of parts that workers take one by one.

        draw       index of the draw
        n          number of workers
        elsewhere  idle workers cannot help with a running batch
        """
        raise NotImplementedError

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """Return the losses of every setting on the splits of the task."""
        raise NotImplementedError


def split_of(plan: Plan, task: Task) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Return (train, test, (j, k)) of a task of one split; k is -1 outside."""
    j = task.parts.start
    if isinstance(task, Outside):
        return *plan.outer[j], (j, -1)
    assert task.k is not None
    return *plan.inner[j][task.k], (j, task.k)


def joined(
    plan: Plan, task: Task, results: Sequence[Losses | Refusal], n_settings: int
) -> Losses | Refusal:
    """Join the results of the single parts of a task; `carry` is a list, an entry per part."""
    if len(results) == 1 and isinstance(results[0], Refusal):
        return results[0]
    refused, pieces = {}, []
    for j, losses in zip(task.parts, results, strict=True):
        if isinstance(losses, Refusal):
            refused[j] = losses.reason
            n_splits = n_inner(plan, j) if isinstance(task, Inside) else 1
            losses = Losses.empty(n_splits, n_settings)
        pieces.append(losses)
    whole = together(pieces)
    whole.refused, whole.carry = refused, [piece.carry for piece in pieces]
    return whole


def together(pieces: Sequence[Losses]) -> Losses:
    """Return the losses of several tasks as those of one, without what they carry."""
    if len(pieces) == 1:
        return pieces[0]
    whole = Losses(np.concatenate([piece.losses for piece in pieces]))
    ends = offsets(len(piece.losses) for piece in pieces)
    whole.failures = {
        (first + at, s): cause
        for first, piece in zip(ends[:-1], pieces, strict=True)
        for (at, s), cause in piece.failures.items()
    }
    whole.refused = {j: why for own in pieces for j, why in own.refused.items()}
    for name in ("rows", "predictions"):
        setattr(whole, name, [one for piece in pieces for one in getattr(piece, name)])
    for name in ("warnings", "counts", "refitted"):
        setattr(whole, name, added(getattr(piece, name) for piece in pieces))
    return whole


def ranges(n: int, size: int) -> list[range]:
    """Split 0 ... n - 1 into ranges of this size; the last may be shorter."""
    return [range(a, min(a + size, n)) for a in range(0, n, size)]


def added(counters: Iterable[Counter[str] | None]) -> Counter[str] | None:
    """Return the sum of these counters; None if all are empty."""
    filled = [counter for counter in counters if counter]
    if len(filled) < 2:
        return filled[0] if filled else None
    total = Counter[str]()
    for counter in filled:
        total.update(counter)
    return total


def n_inner(plan: Plan, j: int) -> int:
    """Return the number of inner splits of training part j."""
    return 0 if plan.inner_layouts is None else len(plan.inner_layouts[j])


def weights_of(data: Data, rows: np.ndarray) -> np.ndarray | None:
    """Return the sample weights of these rows; None if the data have none."""
    return None if data.weights is None else data.weights[rows]


def offsets(sizes: Iterable[int]) -> list[int]:
    """Return the start of each of several consecutive pieces, then the end of the last."""
    return list(accumulate(sizes, initial=0))
