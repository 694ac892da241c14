"""The curve of a result in the FigureWidget of a view, which updates its traces where it can."""

from __future__ import annotations

import copy
import threading
from typing import Any

import ipywidgets as w
import plotly.graph_objects as go

from ..figures.curve import figure_of
from ..figures.look import plain
from ..pictures.curves import curve_of
from ..results.estimate import RiskEstimate

HEIGHT = 440
TALLEST = 480  # of a curve or a heat map
# Set to None, so that nothing is left of the axis before.
AXIS = dict.fromkeys(("tickvals", "ticktext", "title", "type", "range"))


class Chart(go.FigureWidget):
    """A FigureWidget whose state follows every change.

    plotly sends only changes to a front end. A front end that connects later, as voila's does, gets
    the state, which would be the figure as first drawn; and a second view in the same page is drawn
    from the front end's own copy, which loses names.
    """

    _made = False

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._made = True

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Any:
        """The state, with the traces and the layout of now."""
        if self._made and (key is None or "_widget_data" in key):
            self._trait_values["_widget_data"] = copy.deepcopy(self._data)
            layout = self._layout_obj._props
            self._trait_values["_widget_layout"] = copy.deepcopy(layout)
        return super().get_state(key, drop_defaults)

    @staticmethod
    def _remove_overlapping_props(*_: Any) -> list[Any]:
        """Keep every value, whatever the page adds to it after a repaint.

        plotly would drop values that the page repeats. Where one is an array it fails instead,
        and IPython formats the traceback: 0.3 s the first time, during which nothing is heard.
        """
        return []

    def tell(self) -> None:
        """Send the state; existing views do not change."""
        self.send_state({"_widget_data", "_widget_layout"})


class CurveView:
    """A place for one figure at a time, which is not there while it has nothing to show.

    widget   the figure
    place    the box that holds it
    """

    def __init__(self, height: int = HEIGHT) -> None:
        self._lock, self._height = threading.RLock(), height
        self.place = w.VBox(layout={"min_height": f"{height}px"})
        self.place.layout.display = "none"
        self._put(figure_of_result(None).update_layout(height=height))

    def draw(self, figure: go.Figure) -> None:
        """Show a figure at the size of the view.

        Changes of values are sent to the widget that there is. Other traces are a new widget: a
        page that is still drawing the old one loses traces that are added to it.
        """
        legend = {"entrywidth": 0, "entrywidthmode": "pixels", "font": {"size": 11}}
        title, tall = {"text": None}, figure.layout.height or 0
        height = tall if tall > TALLEST else self._height  # a list has a row a setting
        figure.update_layout(height=height, legend=legend, title=title, autosize=True)
        with self._lock:
            self.place.layout.display = None if figure.data else "none"
            types = [
                [trace.type for trace in one.data] for one in (self.widget, figure)
            ]
            if types[0] == types[1]:
                self._update(figure)
            else:
                self._put(figure)

    def renew(self) -> None:
        """Show the same figure in a new widget, for a page that missed changes."""
        with self._lock:
            self._put(go.Figure(self.widget))

    def _update(self, figure: go.Figure) -> None:
        with self.widget.batch_update():
            for before, after in zip(self.widget.data, figure.data, strict=True):
                before.update(_changing(after), overwrite=False)
            layout = figure.layout.to_plotly_json()
            for axis in ("xaxis", "yaxis"):
                layout[axis] = AXIS | layout.get(axis, {})
            self.widget.update_layout(layout)
        self.widget.tell()

    def _put(self, figure: go.Figure) -> None:
        self.widget = Chart(figure)
        self.widget._config = {"responsive": True, "displaylogo": False}
        self.widget.add_class("cvnb-curve")
        old, self.place.children = self.place.children, [self.widget]
        for widget in old:
            widget.close()


def figure_of_result(result: RiskEstimate | None) -> go.Figure:
    """Return the curve of a result; an empty figure if there is none."""
    curve = None if result is None else curve_of(result)
    if curve is not None:
        return figure_of(curve)
    hidden = {axis: {"visible": False} for axis in ("xaxis", "yaxis")}
    return go.Figure(layout=plain(HEIGHT) | hidden)


def _changing(trace: Any) -> dict[str, Any]:
    """Return what may differ between two curves; traces hidden by the user stay hidden."""
    values = trace.to_plotly_json()
    return {key: values[key] for key in values if key not in ("type", "visible")}
