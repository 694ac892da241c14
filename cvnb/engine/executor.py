"""Executor: what the engine needs of workers, whatever they are."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ..runtime.threads import Team

# Called regularly while calls are made; with the item that begins where it is known, else None.
Poll = Callable[[Any], None]
Call = Callable[[Any, Team], Any]


class Executor:
    """`n` workers that make calls.

    warns_here  warnings of the calls reach this process, which has to count them
    is_remote   the calls work on copies, possibly on other machines
    team        the second argument of the calls made in this process, else None
    """

    n: int
    warns_here = is_remote = False
    team: Team | None = None

    def map(self, call: Call, items: list[Any], poll: Poll) -> Generator[Any]:
        """Yield call(item, team) of every item in order; if closed early, begin no other call."""
        raise NotImplementedError

    def batches(self, items: list[Any]) -> list[list[Any]]:
        """Return the items in batches, about four for each worker: many quick calls go together."""
        size = max(1, len(items) // (4 * self.n))
        return [items[a : a + size] for a in range(0, len(items), size)]

    def renew(self) -> None:
        """Replace lost workers, where workers can be lost."""
