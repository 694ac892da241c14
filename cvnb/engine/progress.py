"""Progress of a run: what is done, the estimate so far and the time left, in one slot.

In a notebook the slot is a plain HTML bar in one display that is updated, and that the result
may replace. (No widget: a reopened notebook shows "model not found" in its place.) In a
terminal it is one line on stderr. A thread of its own draws it, so that it also says what a
long fit is. Short runs show nothing. CVNB_PROGRESS=off silences both.
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

AFTER, EVERY = 0.4, 0.25  # seconds before the first drawing, and between two
MOST_ROWS = 50_000  # of a row map that is drawn meanwhile; more take too long to sort


# () -> (plan of the run, outer split -> word for each that is not finished)
Folds = Callable[[], tuple[Any, dict[int, str]]]


class Slot:
    """The one place where a run shows its progress, and then perhaps its result.

    It also holds the stop token of the run. A run may have several parts, one after the
    other: the families of a comparison.
    """

    def __init__(self, shows: bool = True) -> None:
        self.shows = shows
        self.handle: Any = None
        self.line = ""
        self.stop = Stop()
        self.share, self.name, self.part, self.n_parts = 0.0, "", 0, 1
        self.as_result: Callable[[Any], Any] | None = None  # loss table -> result
        self.table: Callable[[], Any] | None = None  # the loss table as filled so far
        self.folds: Folds | None = None
        self._nest: tuple[Any, Any] = (None, None)  # a plan, and its row map

    @property
    def used(self) -> bool:
        """Whether a notebook shows something in it."""
        return self.handle is not None

    @property
    def seen(self) -> bool:
        """Whether a drawing would be visible to anybody."""
        has_screen = in_notebook() or _has_terminal()
        return (
            self.shows and has_screen and os.environ.get("CVNB_PROGRESS", "") != "off"
        )

    def begin(
        self, name: str, part: int, n_parts: int, as_result: Callable[[Any], Any]
    ) -> None:
        """Begin a part of the run.

        name       shown before the progress
        part       its index
        n_parts    number of parts
        as_result  makes a result from the loss table
        """
        self.name, self.part, self.n_parts = name, part, n_parts
        self.as_result, self.table = as_result, None

    def so_far(self) -> Any:
        """Return the partial result of this part; None before there is a table."""
        if self.table is None or self.as_result is None:
            return None
        return self.as_result(self.table())

    def advance(self, share: float) -> None:
        """Set the share of this part that is done; raise KeyboardInterrupt if the run is stopped.

        Raised in the thread of the run itself.
        """
        self.share = (self.part + share) / self.n_parts
        if self.stop.is_set():
            raise KeyboardInterrupt

    def draw(self, text: str) -> None:
        """Show a bar and a sentence."""
        if in_notebook():
            self._put({"text/plain": text, "text/html": self.html(text)})
        elif _has_terminal():
            self.line = text.ljust(len(self.line))
            sys.stderr.write("\r" + self.line)
            sys.stderr.flush()

    def html(self, text: str) -> str:
        """Return the bar with its sentence, and below it which folds are finished."""
        return self.bar(text) + self.row_map()

    def row_map(self) -> str:
        """Return the folds, finished, running and waiting ones, as HTML; "" without a run."""
        folds = self.folds
        if folds is None:
            return ""
        from ..pictures.split_map import nest_of
        from ..pictures.svg import draw_nest

        plan, states = folds()
        if plan.outer_layout is None or plan.n_rows > MOST_ROWS:
            return ""
        if self._nest[0] is not plan:
            self._nest = plan, nest_of(plan)
        return f"<div>{draw_nest(self._nest[1].under_way(states)).img}</div>"

    def bar(self, text: str) -> str:
        """Return a progress bar and a sentence, as HTML."""
        bar = (
            f'<progress value="{self.share:.4f}" max="1" '
            'aria-label="share of the run that is done"></progress>'
        )
        return f'<div role="status">{bar} {escape(text)}</div>'

    def take(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Replace the progress by something else, such as the result."""
        self.handle.update(data, raw=True, metadata=metadata)

    def clear(self) -> None:
        """Remove what is shown."""
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
    """How much of `total` is done; a thread draws it at most four times a second."""

    def __init__(
        self,
        total: float,
        slot: Slot | None,
        unit: str = "splits",
        table: Callable[[], Any] | None = None,
    ) -> None:
        self.total, self.unit, self.slot = total, unit, slot
        self.done, self.explanation = 0.0, ""
        self.details: Callable[[], str] = str
        self.started, self.drawn = time.monotonic(), ""
        self.over = threading.Event()
        self.ticker: threading.Thread | None = None
        if slot is None:
            return
        if table is not None:
            slot.table = table
        if slot.seen:
            self.ticker = threading.Thread(
                target=self._tick, name="cvnb progress", daemon=True
            )
            self.ticker.start()

    def __call__(self, done: float, details: Callable[[], str] | None = None) -> None:
        """Set how much is done; `details` returns further text, and is called when drawing."""
        self.done, self.explanation = done, ""
        if details is not None:
            self.details = details
        if self.slot is not None:
            self.slot.advance(self.share)

    def explain(self, sentence: str) -> None:
        """Show this sentence instead of the progress, until the next call."""
        self.explanation = sentence

    def close(self) -> None:
        """Stop drawing."""
        self.over.set()
        if self.ticker is not None:
            self.ticker.join()

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, self.done / self.total)

    @property
    def text(self) -> str:
        """The text to draw now."""
        if self.explanation:
            return self.explanation
        name = "" if self.slot is None else self.slot.name
        prefix = f"{name}: " if name else ""
        if self.unit:
            done = f"{self.done:.0f} of {self.total:.0f} {self.unit}"
        else:
            done = f"{100 * self.done / self.total:.0f} % done"
        texts = [done, self.details(), self._time_left()]
        return prefix + ", ".join(filter(None, texts))

    def _time_left(self) -> str:
        if self.done <= 0:
            return ""
        seconds = time.monotonic() - self.started
        left = seconds * (self.total - self.done) / self.done
        return f"about {left:.0f} s left"

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
    """Return whether this is a Jupyter kernel, without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def _has_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
