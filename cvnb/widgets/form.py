"""A form of labelled controls, one widget: every field has a name for screen readers, sliders stand beside typed fields.

Traits are its only channel. `entered` is said by the browser: field -> [value, n], the n-th thing that was entered, so that
nothing is lost where several come at once; `heard` is the last n that is in `values`. Everything else is said by Python.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets as t
from anywidget import AnyWidget

STATIC = Path(__file__).parent / "static"


class Form(AnyWidget):
    """Fields are dicts with a name, a label and a kind: number (min, max, step, slider), choice, check, text or table.

    choices    name -> [[value, label], ...] of the choices; disabled: names of fields that mean nothing now
    actions    [[name, label, enabled], ...]: buttons; a click sends {"action": name}
    codes      label -> text that a button of that label copies
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
    status = t.Unicode().tag(sync=True)
    share = t.Float(0.0).tag(sync=True)
    busy = t.Bool(False).tag(sync=True)
    twin = t.Unicode().tag(
        sync=True
    )  # class of the static copy that stands in for it where it is not alive

    def news(self) -> dict[str, Any]:
        """What was entered since the last time this was asked, in the order of entering."""
        new = sorted(
            (
                (n, name, value)
                for name, (value, n) in self.entered.items()
                if n > self._asked
            ),
            key=lambda one: one[0],
        )
        self._asked = max([n for n, _, _ in new], default=self._asked)
        return {name: value for _, name, value in new}

    _asked = 0

    def show(self, values: dict[str, Any]) -> None:
        """Show these values, in which everything that was asked for by `news` has been heard."""
        with self.hold_sync():
            self.values, self.heard = values, self._asked

    def enter(self, **values: Any) -> None:
        """What the browser does when these are entered one after the other."""
        n = max([n for _, n in self.entered.values()], default=0)
        self.entered = {
            **self.entered,
            **{
                name: [value, n + i]
                for i, (name, value) in enumerate(values.items(), start=1)
            },
        }


def number(
    name: str,
    label: str,
    least: float,
    most: float,
    step: float = 1,
    slider: bool = True,
    **more: Any,
) -> dict[str, Any]:
    """A typed number, with a slider beside it."""
    return {
        "name": name,
        "label": label,
        "kind": "number",
        "min": least,
        "max": most,
        "step": step,
        "slider": slider,
    } | more
