"""A form of labelled controls, one widget: every field has a name for screen readers, sliders stand beside typed fields.

Traits are its only channel. `values` goes both ways; everything else is said by Python and shown by static/form.js.
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
    choices = t.Dict().tag(sync=True)
    disabled: Any = t.List().tag(sync=True)
    actions: Any = t.List().tag(sync=True)
    codes = t.Dict().tag(sync=True)
    error = t.Unicode().tag(sync=True)
    status = t.Unicode().tag(sync=True)
    share = t.Float(0.0).tag(sync=True)
    busy = t.Bool(False).tag(sync=True)
    twin = t.Unicode().tag(sync=True)  # class of the static copy that stands in for it where it is not alive


def number(
    name: str, label: str, least: float, most: float, step: float = 1, slider: bool = True, **more: Any
) -> dict[str, Any]:
    """A typed number, with a slider beside it."""
    return {"name": name, "label": label, "kind": "number", "min": least, "max": most, "step": step, "slider": slider} | more
