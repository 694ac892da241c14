"""What all figures share: colours that can be read on white and on black, axes, a transparent background."""

from __future__ import annotations

from typing import Any

GREY, FAINT, BLUE, ORANGE, GREEN = (
    "#797979",
    "rgba(128,128,128,.3)",
    "#3b8de0",
    "#e8590c",
    "43,138,62",
)
LINES: dict[str, Any] = {"gridcolor": FAINT, "zeroline": False}
BELOW: dict[str, Any] = {
    "orientation": "h", "y": -0.2, "yanchor": "top", "x": 0, "xanchor": "left", "tracegroupgap": 0, "entrywidth": 0.3,
    "entrywidthmode": "fraction",
}  # fmt: skip


def plain(height: int) -> dict[str, Any]:
    """A layout without anything on it."""
    return {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": GREY, "family": "system-ui, sans-serif", "size": 12},
        "height": height,
        "margin": {"l": 70, "r": 20, "t": 60, "b": 50},
        "legend": {
            "orientation": "h",
            "y": 1.02,
            "yanchor": "bottom",
            "x": 1,
            "xanchor": "right",
        },
        "hovermode": "closest",
    }


def named_axis(title: str, names: list[str], most: int = 15) -> dict[str, Any]:
    """An axis of words at 0, 1, ...; where they are too many, of some of them."""
    places = list(range(len(names)))[:: max(1, -(-len(names) // most))]
    return {
        "title": {"text": title},
        "tickvals": places,
        "ticktext": [names[place] for place in places],
    } | LINES
