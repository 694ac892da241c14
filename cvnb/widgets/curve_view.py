"""The curve of a result in the one FigureWidget of a view: its traces are updated, never replaced while they suit."""

from __future__ import annotations

import copy
from typing import Any

import plotly.graph_objects as go

from ..figures.curve import figure_of
from ..figures.look import plain
from ..pictures.curves import curve_of
from ..results.estimate import RiskEstimate

HEIGHT = 440
AXIS = dict.fromkeys(
    ("tickvals", "ticktext", "title", "type", "range")
)  # words of the figure before are taken away


class Chart(go.FigureWidget):
    """A FigureWidget whose whole state is what it shows now.

    plotly tells a front end what changed. One that comes later, as voila's does, asks for the state, and would be given the
    figure as it was made; and a second view in the same page is drawn from what the front end makes of the changes, which
    loses names. So the state follows every change.
    """

    _made = False

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._made = True

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Any:
        """The state, with the traces and the layout of now."""
        if self._made and (key is None or "_widget_data" in key):
            self._trait_values["_widget_data"] = copy.deepcopy(self._data)
            self._trait_values["_widget_layout"] = copy.deepcopy(
                self._layout_obj._props
            )
        return super().get_state(key, drop_defaults)

    def tell(self) -> None:
        """Send the state; views that are drawn already stay as they are."""
        self.send_state({"_widget_data", "_widget_layout"})


class CurveView:
    """`draw(figure)` shows a figure."""

    def __init__(self) -> None:
        self.widget = Chart(layout=plain(HEIGHT) | {"autosize": True})
        self.widget._config = {"responsive": True, "displaylogo": False}
        self.widget.add_class("cvnb-curve")

    def draw(self, figure: go.Figure) -> None:
        """Draw this figure, at the size of the view."""
        legend = {"entrywidth": 0, "entrywidthmode": "pixels", "font": {"size": 11}}
        figure.update_layout(height=HEIGHT, legend=legend)
        old, new = self.widget.data, figure.data
        with self.widget.batch_update():
            if [trace.type for trace in old] != [trace.type for trace in new]:
                self.widget.data = ()
                self.widget.add_traces(new)
            else:
                for before, after in zip(old, new, strict=True):
                    before.update(_changing(after), overwrite=False)
            layout = figure.layout.to_plotly_json()
            for axis in ("xaxis", "yaxis"):
                layout[axis] = AXIS | layout.get(axis, {})
            self.widget.update_layout({"title": {"text": None}} | layout)
        self.widget.tell()


def figure_of_result(result: RiskEstimate | None) -> go.Figure:
    """The curve of a result; an empty figure where there is none."""
    curve = None if result is None else curve_of(result)
    return go.Figure(layout=plain(HEIGHT)) if curve is None else figure_of(curve)


def _changing(trace: Any) -> dict[str, Any]:
    """What differs from one curve to the next; what the user hid by the legend stays hidden."""
    shown = trace.to_plotly_json()
    return {
        key: value for key, value in shown.items() if key not in ("type", "visible")
    }
