"""A form of labelled controls as one widget; each field has a name for screen readers.

Traits are its only channel. The browser sets `entered`: field -> [value, n], where n counts
entries, so that none is lost when several arrive at once. Python sets all other traits; `heard`
is the last n that `values` includes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets as t
from anywidget import AnyWidget

STATIC = Path(__file__).parent / "static"


class Form(AnyWidget):
    """Labelled controls, buttons and messages.

    fields     dicts with a name, a label and a kind: number (min, max, step, slider), choice,
               check, text, table, or rows (of settings); maybe the section and the fold that it
               is in, or the action whose button is next to it
    choices    name -> [[value, label], ...] of a choice
    disabled   names of fields that have no meaning now, which are hidden
    error_at   name of the field that the error is about, "" for none
    title      what the form is about
    stale      words for what is next to the form and belongs to other values: "number map"
    actions    [[name, label, enabled], ...]: buttons; a click sends {"action": name}
    codes      label -> text that the button of that label copies
    twin       class of the static copy, which the browser hides while the widget is alive
    """

    _esm = STATIC / "form.js"
    _css = STATIC / "form.css"

    fields: Any = t.List().tag(sync=True)
    values = t.Dict().tag(sync=True)
    entered = t.Dict().tag(sync=True)
    heard = t.Int(0).tag(sync=True)
    choices = t.Dict().tag(sync=True)
    disabled: Any = t.List().tag(sync=True)
    actions: Any = t.List().tag(sync=True)
    codes = t.Dict().tag(sync=True)
    error = t.Unicode().tag(sync=True)
    error_at = t.Unicode().tag(sync=True)
    title = t.Unicode().tag(sync=True)
    stale = t.Unicode().tag(sync=True)
    status = t.Unicode().tag(sync=True)
    share = t.Float(0.0).tag(sync=True)
    busy = t.Bool(False).tag(sync=True)
    twin = t.Unicode().tag(sync=True)

    drawn = 0  # how often Python has drawn what is next to the form
    _read: int | None = None  # `drawn` when a page asked for the state

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Any:
        """Return the state; a page that asks for all of it is loading."""
        if key is None and self.comm is not None:
            self._read = self.drawn
        return super().get_state(key, drop_defaults)

    def is_behind(self) -> bool:
        """Whether the page that has just opened may lack something.

        A page, for example of voila, asks for the state of all widgets, then makes them. What is
        sent in between does not reach it.
        """
        read, self._read = self._read, None
        return read not in (None, self.drawn)

    def news(self) -> dict[str, Any]:
        """Return what was entered since the last call, in the order of entering."""
        numbers = {name: n for name, (_, n) in self.entered.items() if n > self._last}
        self._last = max(numbers.values(), default=self._last)
        names = sorted(numbers, key=lambda name: numbers[name])
        return {name: self.entered[name][0] for name in names}

    _last = 0

    def show(self, values: dict[str, Any]) -> None:
        """Show values that include everything that `news` has returned."""
        with self.hold_sync():
            self.values, self.heard = values, self._last

    def enter(self, **values: Any) -> None:
        """Enter values one after the other, as the browser does."""
        n = max([n for _, n in self.entered.values()], default=0)
        new = {
            name: [value, n + 1 + i] for i, (name, value) in enumerate(values.items())
        }
        self.entered = self.entered | new


def number(
    name: str,
    label: str,
    least: float,
    most: float,
    step: float = 1,
    slider: bool = True,
    **more: Any,
) -> dict[str, Any]:
    """Return the field of a typed number with a slider."""
    return {
        "name": name,
        "label": label,
        "kind": "number",
        "min": least,
        "max": most,
        "step": step,
        "slider": slider,
    } | more
