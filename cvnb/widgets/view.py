"""What the smaller views share: a form on the left whose values are traits of the view, pictures on the right."""

from __future__ import annotations

from typing import Any

import ipywidgets as w
import traitlets as t

from ..engine.progress import Slot
from .controls import said
from .form import Form
from .static_copy import Twinned
from .worker import Worker


class View(Twinned):
    """Traits named like the form's fields follow it, and it follows them; `_show` draws what they say, in the worker's thread.

    What `_show` refuses is said in the form, with role="alert".
    """

    def __init__(
        self,
        fields: list[dict[str, Any]],
        choices: dict[str, list[list[Any]]],
        shown: list[w.Widget],
    ) -> None:
        self._names = [field["name"] for field in fields]
        self._form, self._worker = Form(fields=fields, choices=choices), Worker(Slot)
        super().__init__()
        self._shown = shown
        inside = w.Box([self._form, w.VBox(shown)])
        inside.add_class("cvnb-builder")
        self.add_class("cvnb-host")
        self.children = [inside]
        self.observe(lambda change: self._refresh(), names=self._names)
        self._form.observe(self._form_changed, names="entered")
        self._refresh()

    def _show(self) -> None:
        raise NotImplementedError

    def _refresh(self) -> None:
        self._form.show({name: getattr(self, name) for name in self._names})
        self._worker.ask(self._draw)

    def _draw(self, slot: Slot) -> None:
        try:
            self._show()
        except (
            Exception
        ) as error:  # shown where the user looks: a thread has nobody to raise it to
            self._form.error = said(error)
            self._blank()
        else:
            self._form.error = ""
        self._update_twin(slot)

    def _blank(self) -> None:
        """Nothing stands beside controls that it does not belong to."""
        for one in self._shown:
            if isinstance(one, w.HTML):
                one.value = ""

    def _form_changed(self, change: Any) -> None:
        for name, value in self._form.news().items():
            if name not in self._names:  # nothing else is the browser's to set
                continue
            try:
                setattr(self, name, value)
            except t.TraitError as error:
                self._form.error = str(error)


def panel(name: str) -> w.HTML:
    """A place for words and pictures."""
    one = w.HTML()
    one.add_class("cvnb-shown").add_class(f"cvnb-{name}")
    return one


def wide(img: str) -> str:
    """A picture as wide as there is room, up to a good size to look at."""
    return img.replace(
        'style="vertical-align:top"',
        'style="vertical-align:top;width:400px;height:auto"',
    )
