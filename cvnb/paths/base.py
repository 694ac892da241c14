"""What a path is: a pure function from rows and splits to losses.

    share(each)      -> the path, with what serves many splits made once
    run(task, team)  -> Losses, or a Refusal with its reason

A task names splits of one draw. A path writes nothing and keeps nothing between two tasks: what a part's inner splits
have in common with its outer split travels in `carry`. So a task may run in any thread or process, in any order.
The engine (cvnb/run.py) owns the table, the order of the tasks, and the refit of what is refused.
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

NOTHING = np.zeros(0)  # in the place of what is refused
PER_WORKER = 4  # batches for each worker, so that none waits long for the last
Each = Callable[[Callable[[Any, Team], Any], Iterable[Any]], Iterator[Any]]


class Unsuited(Exception):
    """Raised where a path cannot handle these rows. The splits are refitted; the message gives the reason."""


@dataclass(frozen=True, eq=False)
class Draw:
    """One set of splits and one target, over the rows that all draws of a run share."""

    plan: Plan
    data: Data


@dataclass(eq=False, slots=True)
class Inside:
    """The inner splits of the training parts `parts`; split k alone where k is given, and then of one part."""

    draw: int
    parts: range
    k: int | None = None


@dataclass(eq=False, slots=True)
class Outside:
    """The outer splits `parts`, each with the setting chosen inside it.

    every    measure all settings; otherwise the chosen one alone
    carry    what the path handed out with the inner losses of these parts
    refused  parts that need no answer
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
    """What a path found for the splits of a task, which follow each other in order.

    losses       [splits, settings], NaN where a setting failed or was not wanted
    rows         of each outer split its row losses [test rows, settings]; None where the loss has none
    predictions  of each outer split what the chosen setting predicts [test rows]
    refused      part -> why the path cannot handle it
    failures     (split of the task, setting) -> message
    warnings     warnings and how often they came
    counts       how many predictions deserve a note, by the kind of the note
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


@dataclass(frozen=True, eq=False)
class Refusal:
    """Why a path cannot handle a task. fitted and warnings: transformers fitted by then, which refit may use."""

    reason: str
    fitted: Any = None
    warnings: Counter[str] | None = None


@dataclass(frozen=True)
class Ran:
    """Which path ran and why."""

    name: str
    reason: str


class Path:
    """A way to get the losses of many settings: what a path says of itself, and does where it says nothing else.

    name, reason   which path it is, and why this one
    algorithm      the record that it comes from; None: refit
    cost           multiplications of the whole run, roughly; None where nobody can tell without a fit
    work           how much there is to do, in a unit of the path's own, for the progress; 0: count finished parts
    whole          tasks are batches of parts, for threads; otherwise single splits, which joblib may carry anywhere
    travels        tasks may go to other machines once `share` is done
    every_setting  all settings cost no more than one, so outer test parts get the losses of all of them
    compiles       kernels may have to be compiled
    threads        single splits may go to threads where the user asks for no workers
    """

    name = reason = ""
    algorithm: Algorithm | None = None
    cost: float | None = None
    work = 0.0
    whole, travels, every_setting, compiles, threads = False, True, True, False, False

    def share(self, each: Each, n: int) -> Path:
        """The path with what serves many splits made once; each(call, items) spreads calls over n workers."""
        return self

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """The parts of a draw, in ranges that n workers take one by one; elsewhere: without the help of idle ones."""
        raise NotImplementedError

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """The losses of every setting on the splits of the task."""
        raise NotImplementedError


def split_of(plan: Plan, task: Task) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """(train, test, (j, k)) of a task of one split; k is -1 outside."""
    j = task.parts.start
    if isinstance(task, Outside):
        return *plan.outer[j], (j, -1)
    assert task.k is not None
    return *plan.inner[j][task.k], (j, task.k)


def joined(
    plan: Plan, task: Task, found: Sequence[Losses | Refusal], n_settings: int
) -> Losses | Refusal:
    """What was found of the single parts of a task, as one; the carry is a list with an entry for each part."""
    if len(found) == 1 and isinstance(found[0], Refusal):
        return found[0]
    whole = Losses(np.zeros(0), carry=[])
    pieces = []
    for j, one in zip(task.parts, found, strict=True):
        if isinstance(one, Refusal):
            whole.refused[j] = one.reason
            one = Losses(
                np.full(
                    (n_inner(plan, j) if isinstance(task, Inside) else 1, n_settings),
                    np.nan,
                ),
                [None],
                [NOTHING],
            )
        pieces.append(one.losses)
        whole.rows += one.rows
        whole.predictions += one.predictions
        whole.carry.append(one.carry)
        whole.counts = added((whole.counts, one.counts))
    whole.losses = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return whole


def ranges(n: int, size: int) -> list[range]:
    """0 ... n - 1 in ranges of this size, or less in the last."""
    return [range(a, min(a + size, n)) for a in range(0, n, size)]


def added(counters: Iterable[Counter[str] | None]) -> Counter[str] | None:
    """The sum of these counters; None where there is nothing in them."""
    found = [one for one in counters if one]
    if len(found) < 2:
        return found[0] if found else None
    total = Counter[str]()
    for one in found:
        total.update(one)
    return total


def n_inner(plan: Plan, j: int) -> int:
    """How many inner splits training part j has."""
    return 0 if plan.inner_layouts is None else len(plan.inner_layouts[j])


def offsets(sizes: Iterable[int]) -> list[int]:
    """Where each of several consecutive pieces begins, and where the last one ends."""
    return list(accumulate(sizes, initial=0))
