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
    """Called with the number of parts done; draws at most ten times a second."""

    def __init__(self, total: int, wanted: str) -> None:
        self.total = total
        self.on = wanted == "auto" and os.environ.get("CVNB_PROGRESS", "") != "off"
        self.started = self.drawn = time.monotonic()
        self.handle: Any = None
        self.line = ""

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if not self.on or now - self.started < AFTER or now - self.drawn < EVERY:
            return
        self.drawn = now
        left = (now - self.started) * (self.total - done) / max(done, 1)
        self._draw(done, f"{done} of {self.total} splits, about {left:.0f} s left")

    def close(self) -> None:
        """Take the line away; what it spoke of is done."""
        if self.handle is not None:
            self.handle.update({"text/plain": "", "text/html": ""}, raw=True)
        elif self.line:
            sys.stderr.write("\r" + " " * len(self.line) + "\r")
            sys.stderr.flush()

    def _draw(self, done: int, text: str) -> None:
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
