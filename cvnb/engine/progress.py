"""Progress: what is done, the estimate so far and the time left, in one slot that the result may take over.

In a notebook the slot is a plain HTML bar in one display that is updated (no widget: a widget turns into "model not found" when
the notebook is reopened), in a terminal one line on stderr. A thread of its own draws it, so that a long fit does not hide what
is waited for. Short runs show nothing. CVNB_PROGRESS=off silences both.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from html import escape
from typing import Any

from ..runtime.cancel import Stop

AFTER, EVERY = 0.4, 0.1


class Slot:
    """The one place where the progress of a run is drawn, and then perhaps the result; and where the run is told to stop.

    A run may consist of several parts, one after the other: the families of a comparison.
    """

    def __init__(self, shows: bool = True) -> None:
        self.shows = shows
        self.handle: Any = None
        self.line = ""
        self.stop = Stop()
        self.share, self.name, self.part, self.n_parts = 0.0, "", 0, 1
        self.as_result: Callable[[Any], Any] | None = None  # loss table -> result
        self.table: Callable[[], Any] | None = (
            None  # the loss table as far as it is filled
        )

    @property
    def used(self) -> bool:
        """Whether a notebook shows something in it."""
        return self.handle is not None

    @property
    def seen(self) -> bool:
        """Whether anybody would see what is drawn."""
        shown = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
        return self.shows and shown and os.environ.get("CVNB_PROGRESS", "") != "off"

    def begin(
        self, name: str, part: int, n_parts: int, as_result: Callable[[Any], Any]
    ) -> None:
        """What is told from here on is of this part."""
        self.name, self.part, self.n_parts, self.as_result, self.table = (
            name,
            part,
            n_parts,
            as_result,
            None,
        )

    def so_far(self) -> Any:
        """The partial result of this part; None before anything is known of it."""
        return (
            None
            if self.table is None or self.as_result is None
            else self.as_result(self.table())
        )

    def tell(self, share: float) -> None:
        """So much of this part is done. A run that was told to stop is interrupted here, in its own thread."""
        self.share = (self.part + share) / self.n_parts
        if self.stop.is_set():
            raise KeyboardInterrupt

    def draw(self, text: str) -> None:
        """Show a bar and a sentence."""
        if in_notebook():
            self._put({"text/plain": text, "text/html": self.bar(text)})
        elif sys.stderr is not None and sys.stderr.isatty():
            self.line = text.ljust(len(self.line))
            sys.stderr.write("\r" + self.line)
            sys.stderr.flush()

    def bar(self, text: str) -> str:
        """A bar as long as what is done, and a sentence, as HTML."""
        bar = f'<progress value="{self.share:.4f}" max="1" aria-label="share of the run that is done"></progress>'
        return f'<div role="status">{bar} {escape(text)}</div>'

    def take(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Put something else in its place."""
        self.handle.update(data, raw=True, metadata=metadata)

    def clear(self) -> None:
        """Take away what it shows."""
        if self.handle is not None:
            self.handle.update({"text/plain": "", "text/html": ""}, raw=True)
        elif self.line:
            sys.stderr.write("\r" + " " * len(self.line) + "\r")
            sys.stderr.flush()
            self.line = ""

    def _put(self, data: dict[str, str]) -> None:
        from IPython.display import display

        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


class Progress:
    """Told how much is done of `total`; a thread draws it at most ten times a second."""

    def __init__(
        self,
        total: float,
        slot: Slot | None,
        unit: str = "splits",
        table: Callable[[], Any] | None = None,
    ) -> None:
        self.total, self.unit, self.slot = total, unit, slot
        self.done, self.sentence = 0.0, ""
        self.said: Callable[[], str] = str
        self.started, self.drawn = time.monotonic(), ""
        self.over, self.ticker = threading.Event(), None
        if slot is not None and table is not None:
            slot.table = table
        if slot is not None and slot.seen:
            self.ticker = threading.Thread(
                target=self._tick, name="cvnb progress", daemon=True
            )
            self.ticker.start()

    def __call__(self, done: float, said: Callable[[], str] | None = None) -> None:
        """So much is done; `said` gives what else there is to say, when it is drawn."""
        self.done, self.sentence = done, ""
        if said is not None:
            self.said = said
        if self.slot is not None:
            self.slot.tell(self.share)

    def say(self, sentence: str) -> None:
        """A sentence that explains a wait which no count of parts does, until the next count."""
        self.sentence = sentence

    def close(self) -> None:
        """Draw no more."""
        self.over.set()
        if self.ticker is not None:
            self.ticker.join()

    @property
    def stopped(self) -> bool:
        """Whether the run was told to stop."""
        return self.slot is not None and self.slot.stop.is_set()

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, self.done / self.total)

    @property
    def text(self) -> str:
        """What is drawn now."""
        if self.sentence:
            return self.sentence
        named = (
            f"{self.slot.name}: " if self.slot is not None and self.slot.name else ""
        )
        text = (
            f"{self.done:.0f} of {self.total:.0f} {self.unit}"
            if self.unit
            else f"{100 * self.done / self.total:.0f} % done"
        )
        more = [self.said()]
        if self.done > 0:
            left = (
                (time.monotonic() - self.started) * (self.total - self.done) / self.done
            )
            more.append(f"about {left:.0f} s left")
        return named + ", ".join([text, *filter(None, more)])

    def _tick(self) -> None:
        assert self.slot is not None
        wait = AFTER
        while not self.over.wait(wait):
            wait = EVERY
            text = self.text
            if text != self.drawn:
                self.drawn = text
                self.slot.draw(text)


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel; IPython is not imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
