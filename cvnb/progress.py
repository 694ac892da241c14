"""Progress: one line that appears after a second and goes away at the end.

In a notebook it is a plain HTML bar in one display that is updated (no widget: a widget turns into "model not found" when the
notebook is reopened), in a terminal one line on stderr. CVNB_PROGRESS=off silences both.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

AFTER, EVERY = 1.0, 0.1


class Progress:
    """Called with how much is done of `total`; draws at most ten times a second."""

    def __init__(self, total: float, wanted: str, unit: str = "splits") -> None:
        self.total, self.unit = total, unit
        self.on = wanted == "auto" and os.environ.get("CVNB_PROGRESS", "") != "off"
        self.started = self.drawn = time.monotonic()
        self.handle: Any = None
        self.line = self.said = ""

    def __call__(self, done: float) -> None:
        now = time.monotonic()
        if not self.on or now - self.started < AFTER or now - self.drawn < EVERY:
            return
        self.drawn = now
        text = f"{done:.0f} of {self.total:.0f} {self.unit}" if self.unit else f"{100 * done / self.total:.0f} % done"
        if done > 0:
            text += f", about {(now - self.started) * (self.total - done) / done:.0f} s left"
        self._draw(done, text)

    def say(self, text: str) -> None:
        """Draw a sentence now: it explains a wait that no count of parts does."""
        if self.on and text != self.said:
            self.said = text
            self._draw(0, text)

    def close(self) -> None:
        """Take the line away; what it spoke of is done."""
        if self.handle is not None:
            self.handle.update({"text/plain": "", "text/html": ""}, raw=True)
        elif self.line:
            sys.stderr.write("\r" + " " * len(self.line) + "\r")
            sys.stderr.flush()

    def _draw(self, done: float, text: str) -> None:
        if in_notebook():
            from IPython.display import display

            bar = f'<progress value="{done}" max="{self.total}" aria-label="splits done"></progress>'
            data = {"text/plain": text, "text/html": f'<div role="status">{bar} {text}</div>'}
            if self.handle is None:
                self.handle = display(data, raw=True, display_id=True)
            else:
                self.handle.update(data, raw=True)
        elif sys.stderr is not None and sys.stderr.isatty():
            self.line = text.ljust(len(self.line))
            sys.stderr.write("\r" + self.line)
            sys.stderr.flush()


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel; IPython is not imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
