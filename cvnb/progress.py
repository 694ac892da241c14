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

AFTER, EVERY = 0.4, 0.1


class Slot:
    """The one place where progress is drawn, and then perhaps the result."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.line = ""

    @property
    def used(self) -> bool:
        """Whether a notebook shows something in it."""
        return self.handle is not None

    def draw(self, text: str, share: float) -> None:
        """Show a bar and a sentence."""
        if in_notebook():
            bar = f'<progress value="{share:.4f}" max="1" aria-label="share of the run that is done"></progress>'
            self._put({"text/plain": text, "text/html": f'<div role="status">{bar} {escape(text)}</div>'})
        elif sys.stderr is not None and sys.stderr.isatty():
            self.line = text.ljust(len(self.line))
            sys.stderr.write("\r" + self.line)
            sys.stderr.flush()

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

    def __init__(self, total: float, wanted: str | Slot, unit: str = "splits") -> None:
        self.total, self.unit = total, unit
        self.slot, self.own = (wanted, False) if isinstance(wanted, Slot) else (Slot(), True)
        self.done, self.sentence = 0.0, ""
        self.said: Callable[[], str] = str
        self.started, self.drawn = time.monotonic(), ""
        self.over, self.ticker = threading.Event(), None
        seen = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
        if wanted != "off" and os.environ.get("CVNB_PROGRESS", "") != "off" and seen:
            self.ticker = threading.Thread(target=self._tick, name="cvnb progress", daemon=True)
            self.ticker.start()

    def __call__(self, done: float, said: Callable[[], str] | None = None) -> None:
        """So much is done; `said` gives what else there is to say, when it is drawn."""
        self.done, self.sentence = done, ""
        if said is not None:
            self.said = said

    def say(self, sentence: str) -> None:
        """A sentence that explains a wait which no count of parts does, until the next count."""
        self.sentence = sentence

    def close(self) -> None:
        """Draw no more; a slot of its own is cleared."""
        self.over.set()
        if self.ticker is not None:
            self.ticker.join()
        if self.own:
            self.slot.clear()

    @property
    def text(self) -> str:
        """What is drawn now."""
        if self.sentence:
            return self.sentence
        text = f"{self.done:.0f} of {self.total:.0f} {self.unit}" if self.unit else f"{100 * self.done / self.total:.0f} % done"
        more = [self.said()]
        if self.done > 0:
            left = (time.monotonic() - self.started) * (self.total - self.done) / self.done
            more.append(f"about {left:.0f} s left")
        return ", ".join([text, *filter(None, more)])

    def _tick(self) -> None:
        wait = AFTER
        while not self.over.wait(wait):
            wait = EVERY
            text = self.text
            if text != self.drawn:
                self.drawn = text
                self.slot.draw(text, min(1.0, self.done / self.total))


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel; IPython is not imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
