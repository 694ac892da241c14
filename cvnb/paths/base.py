"""What a path is: a way to get the losses of many settings.

A path that goes split by split has `evaluate`, and joblib may carry it anywhere. One that serves several splits with one
computation has `stages`: lists of calls for the threads of this process, each list to be finished before the next is begun.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from ..plan import Plan
from ..table import Sheet

PER_WORKER = 4  # tasks for each worker, so that none waits long for the last
Call = Callable[[], None]


class Unsuited(Exception):
    """These rows are not for this path; the message says why, and refit takes the part that they stand in."""


@dataclass
class Outcome:
    """losses[s] (NaN for a setting that failed or was not asked for); row losses [t, s] and predictions where kept.

    refitted: why a fast path left this split to refit, or "".
    """

    losses: np.ndarray
    rows: np.ndarray | None = None
    predictions: dict[int, np.ndarray] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    refitted: str = ""


@dataclass(frozen=True)
class Ran:
    """Which path ran and why."""

    name: str
    reason: str


class Path(Protocol):
    """A way to get the losses of many settings from one split."""

    name: str
    reason: str

    @property
    def every_setting(self) -> bool:
        """Whether all settings cost no more than one, so that the outer test parts get the losses of all of them."""
        ...

    @property
    def compiles(self) -> bool:
        """Whether kernels may have to be compiled."""
        ...

    @property
    def threads(self) -> bool:
        """Whether splits may be evaluated on threads, where the user asks for no workers."""
        ...

    def evaluate(self, train: np.ndarray, test: np.ndarray, which: np.ndarray, split: tuple[int, int], keep: bool) -> Outcome:
        """The losses of the settings `which`, fitted on `train`, on `test`; row losses and predictions too where keep.

        split = (j, k) names the split for the random state of estimators that have none of their own; k = -1 outside.
        """
        ...


def guarded(sheet: Sheet, j: int, call: Call) -> None:
    """Make this call for training part j, unless the part is refused already; where it is unsuited, refuse it."""
    if j in sheet.refused:
        return
    try:
        call()
    except Unsuited as why:
        sheet.refused[j] = str(why)


class Sweep(Protocol):
    """A way to fill the whole table, every setting of every split; on other machines part by part."""

    name: str
    reason: str
    cost: float  # multiplications of the whole run, roughly

    def stages(self, sheet: Sheet, parts: range | None = None) -> Iterator[Sequence[Call]]:
        """Calls that fill the sheet, or these parts of it, and mark them as finished; those of one stage are independent.

        A call looks at sheet.stop every 0.1 s or so and returns early where it is set.
        """
        ...

    def shares(self, sheet: Sheet, n: int) -> list[range]:
        """The training parts, in ranges that n workers may fill one by one."""
        ...


class Searching(Sweep, Protocol):
    """A sweep whose parts share most of the work: other machines may find that, and the stages do the rest here."""

    def ahead(self, plan: Plan, n: int) -> list[Any]:
        """What may be found before the stages, in pieces for n workers; none where parts share nothing."""
        ...

    def find(self, piece: Any, plan: Plan, stopped: Callable[[], bool]) -> Any:
        """One of these pieces."""
        ...

    def take(self, piece: Any, plan: Plan, found: Any) -> None:
        """Keep a piece that was found elsewhere; once all are kept the stages find nothing again."""
        ...


def shared_out(groups: Sequence[tuple[int, int]], n: int) -> list[range]:
    """Neighbouring groups (first, end) put together until there are n ranges at most."""
    ends = np.linspace(0, len(groups), min(n, len(groups)) + 1).astype(int)
    return [range(groups[a][0], groups[b - 1][1]) for a, b in pairwise(ends)]
