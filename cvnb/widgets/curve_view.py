"""The curve of a result in the one FigureWidget of a view: its traces are updated, never replaced while they suit."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from ..curves import curve_of
from ..estimate import RiskEstimate
from ..figures.curve import figure_of
from ..figures.look import plain

HEIGHT = 440


class CurveView:
    """`show(result)` draws its curve; nothing where there is none."""

    def __init__(self) -> None:
        self.widget = go.FigureWidget(layout=plain(HEIGHT) | {"autosize": True})
        self.widget._config = {"responsive": True, "displaylogo": False}
        self.widget.add_class("cvnb-curve")

    def show(self, result: RiskEstimate | None) -> None:
        """Draw the curve of a result."""
        curve = None if result is None else curve_of(result)
        self.draw(go.Figure(layout=plain(HEIGHT)) if curve is None else figure_of(curve))

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
            self.widget.update_layout(figure.layout.to_plotly_json())


def _changing(trace: Any) -> dict[str, Any]:
    """What differs from one curve to the next; what the user hid by the legend stays hidden."""
    shown = trace.to_plotly_json()
    return {key: value for key, value in shown.items() if key not in ("type", "visible")}
