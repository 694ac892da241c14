"""The base of the smaller views: a form on the left, pictures on the right."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets as w
import traitlets as t

from ..engine.progress import Slot
from .controls import message
from .form import Form
from .static_copy import WithStaticCopy
from .worker import Worker


class View(WithStaticCopy):
    """A form and the traits of its fields, which follow each other.

    `_show` draws the view in the worker's thread; the form shows its errors, with role="alert".
    """

    def __init__(
        self,
        fields: list[dict[str, Any]],
        choices: dict[str, list[list[Any]]],
        shown: list[w.Widget],
    ) -> None:
        self._names = [field["name"] for field in fields]
        self._form = Form(fields=fields, choices=choices)
        self._worker, self._lock = Worker(self._new_slot), threading.RLock()
        super().__init__()
        self._shown = shown
        inside = w.Box([self._form, w.VBox(shown)])
        inside.add_class("cvnb-builder")
        self.add_class("cvnb-host")
        self.children = [inside]
        self.observe(lambda change: self._refresh(), names=self._names)
        self._form.observe(self._form_changed, names="entered")
        self._form.on_msg(self._hear)
        self._refresh()

    def _show(self) -> None:
        raise NotImplementedError

    def _new_slot(self) -> Slot:
        return Slot()

    def _hear(self, _: Any, content: Any, __: Any) -> None:
        self._page_opened()

    def _refresh(self) -> None:
        self._form.show({name: getattr(self, name) for name in self._names})
        self._worker.ask(self._draw)

    def _draw(self, slot: Slot) -> None:
        try:
            self._show()
        except Exception as error:  # this thread has no caller to raise it to
            self._form.error = message(error)
            self._blank()
        else:
            self._form.error = ""
        self._form.drawn += 1
        self._update_copy(slot)

    def _blank(self) -> None:
        """Clear what would not belong to the controls."""
        for widget in self._shown:
            if isinstance(widget, w.HTML):
                widget.value = ""

    def _form_changed(self, change: Any) -> None:
        for name, value in self._form.news().items():
            if name not in self._names:  # the browser may set no other trait
                continue
            try:
                setattr(self, name, value)
            except t.TraitError as error:
                self._form.error = str(error)


def panel(name: str) -> w.HTML:
    """Return an empty place for words and pictures."""
    place = w.HTML()
    place.add_class("cvnb-shown").add_class(f"cvnb-{name}")
    return place


def wide(img: str) -> str:
    """Let a picture fill the width that there is, up to 400 pixels."""
    return img.replace(
        'style="vertical-align:top"',
        'style="vertical-align:top;width:400px;max-width:100%;height:auto"',
    )
