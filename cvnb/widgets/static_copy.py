"""The static copy of a widget: a widget is gone when its notebook is reopened, text and pictures are not."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import ipywidgets as w

from ..engine.progress import Slot
from .form import Form
from .worker import Worker

ONE_AT_A_TIME = threading.RLock()
EVERY = 1.0  # seconds between two copies that are sent


@dataclass(frozen=True, repr=False)
class Snapshot:
    """What a widget showed, as text and as HTML that needs neither a kernel nor a script."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<div style="line-height:1.4">{self.html}</div>'


def _inside(widget: w.Widget) -> list[w.Widget]:
    """A widget, those in it, their layouts and styles."""
    found = [
        inner for child in getattr(widget, "children", ()) for inner in _inside(child)
    ]
    parts = [getattr(widget, name, None) for name in ("layout", "style")]
    return [*found, *(part for part in parts if isinstance(part, w.Widget)), widget]


class Twinned(w.VBox):
    """A widget with a form and a worker, which is shown with its static copy below it; the form's script hides the copy."""

    _form: Form
    _worker: Worker
    _twins: Any = ()
    _due = 0.0

    def snapshot(self) -> Snapshot:
        """A static copy."""
        raise NotImplementedError

    def wait(self, timeout: float | None = None) -> bool:
        """Whether everything that was asked for is on screen within `timeout` seconds."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Stop the worker and take the widgets away."""
        if hasattr(self, "_worker"):  # one that was refused has none
            self._worker.stop()
        for one in _inside(self):
            one.unobserve_all()  # what is closed hears nothing, and holds nobody
            if one is not self:
                one.close()
        super().close()

    def _ipython_display_(self) -> None:
        from IPython.display import display

        view = self._repr_mimebundle_() | {
            "text/plain": f"{type(self).__name__}: alive as long as its kernel; a copy is below."
        }
        display(view, raw=True)
        self._form.twin = f"cvnb-twin-{self.model_id[:12]}"
        with ONE_AT_A_TIME:  # what is drawn meanwhile is sent afterwards
            self._twins = (
                *self._twins,
                display(self._bundle(), raw=True, display_id=True),
            )

    def _bundle(self) -> dict[str, str]:
        shown = self.snapshot()
        return {
            "text/plain": repr(shown),
            "text/html": f'<div class="{self._form.twin}">{shown._repr_html_()}</div>',
        }

    def _update_twin(self, slot: Slot) -> None:
        """Called at the end of a work: at most once a second, and always of the last."""
        with ONE_AT_A_TIME:
            twins = self._twins
        if not twins or self._worker.superseded:
            return
        slot.stop.wait(
            max(0.0, self._due - time.monotonic())
        )  # a newer work does not wait for it
        if not self._worker.superseded:
            self._due, bundle = time.monotonic() + EVERY, self._bundle()
            for twin in twins:
                twin.update(bundle, raw=True)
