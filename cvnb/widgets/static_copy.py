"""The static copy of a widget, which a reopened notebook still shows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ipywidgets as w

from ..engine.progress import Slot
from .curve_view import CurveView
from .form import Form
from .worker import Worker

ONE_AT_A_TIME = threading.RLock()
EVERY = 1.0  # seconds between two updates of the copies


@dataclass(frozen=True, repr=False)
class Snapshot:
    """A widget as text and as HTML that needs neither a kernel nor a script."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<div style="line-height:1.4">{self.html}</div>'


def _inside(widget: w.Widget) -> list[w.Widget]:
    """Return the children of a widget with their layouts and styles; the widget is last."""
    found = []
    for child in getattr(widget, "children", ()):
        found += _inside(child)
    for name in ("layout", "style"):
        part = getattr(widget, name, None)
        if isinstance(part, w.Widget):
            found.append(part)
    return [*found, widget]


class WithStaticCopy(w.VBox):
    """A widget with a form and a worker, shown with static copies below it.

    The form's script hides the copies while the widget is alive.
    """

    _form: Form
    _worker: Worker
    _curve: CurveView | None = None
    _copies: Any = ()  # display handles
    _due = 0.0
    _lock: Any  # guards what is shown; nothing is computed under it
    _newest = 0  # the version of the newest request

    def snapshot(self) -> Snapshot:
        """Return a static copy."""
        raise NotImplementedError

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the screen is up to date; False after `timeout` seconds."""
        return self._worker.wait(timeout)

    def _publish(self, version: int, show: Callable[[], None]) -> None:
        """Show something unless there is a newer request."""
        with self._lock:
            if version == self._newest:
                show()
                self._form.drawn += 1

    def _page_opened(self) -> None:
        if self._form.is_behind():
            self._send_again()

    def _send_again(self) -> None:
        """Send all that is shown, to a page that may have missed some of it."""
        for widget in _inside(self):
            widget.send_state()
        if self._curve is not None:
            self._curve.renew()

    def close(self) -> None:
        """Stop the worker and close the widgets."""
        if hasattr(self, "_worker"):  # there is none if the constructor raised an error
            self._worker.stop()
        for widget in _inside(self):
            widget.unobserve_all()  # observers would keep their objects alive
            if widget is not self:
                widget.close()
        super().close()

    def _ipython_display_(self) -> None:
        from IPython.display import display

        name = type(self).__name__
        words = {"text/plain": f"{name}: alive as long as its kernel; a copy is below."}
        display(self._repr_mimebundle_() | words, raw=True)
        self._form.twin = f"cvnb-twin-{self.model_id[:12]}"
        with ONE_AT_A_TIME:  # the worker updates the new copy as well
            copy = display(self._bundle(), raw=True, display_id=True)
            self._copies = (*self._copies, copy)

    def _bundle(self) -> dict[str, str]:
        shown = self.snapshot()
        return {
            "text/plain": repr(shown),
            "text/html": f'<div class="{self._form.twin}">{shown._repr_html_()}</div>',
        }

    def _update_copy(self, slot: Slot) -> None:
        """Update the copies: at most once a second, and always after the last work."""
        with ONE_AT_A_TIME:
            copies = self._copies
        if not copies or self._worker.superseded:
            return
        slot.stop.wait(
            max(0.0, self._due - time.monotonic())
        )  # a newer work ends the wait
        if not self._worker.superseded:
            self._due, bundle = time.monotonic() + EVERY, self._bundle()
            for copy in copies:
                copy.update(bundle, raw=True)
