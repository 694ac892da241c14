"""The error-versus-θ curve as numbers: what is on the x axis, the curves, the choices, the levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .estimate import RiskEstimate, record_of
from .families import format_value

SHOWN = 10  # inner curves of outer splits beyond this number are not drawn one by one
LOGARITHMIC = 30.0  # a grid of positive numbers that spans more than this is shown on a log axis, if it is not evenly spaced


@dataclass(frozen=True)
class Curve:
    """x[s] is where setting s stands: a value of the axis, else its number; losses are shown as scores where there are any.

    inner    [splits, settings] of the splits drawn; mean [settings] over all of them
    chosen   (x, inner loss) of θ_j of every split drawn
    levels   what is drawn across: name -> value
    """

    axis: str
    ticks: tuple[str, ...]  # the names of the settings where the axis is no number
    x: np.ndarray
    log: bool
    inner: np.ndarray
    mean: np.ndarray
    chosen: np.ndarray
    levels: dict[str, Any]
    ylabel: str


def curve_of(result: RiskEstimate) -> Curve | None:
    """The curve of a result; None where nothing was chosen among settings."""
    curves, record = result.inner_curves, record_of(result)
    if curves is None or not len(curves) or len(result.settings) < 2:
        return None
    axis, x, ticks = _axis(result.settings)
    loss, order = record.loss, np.argsort(x, kind="stable")
    shown = np.array([[loss.shown(value) for value in curve] for curve in curves])
    at = result.chosen_index
    chosen = np.column_stack([x[at], shown[np.arange(len(at)), at]])[:SHOWN]
    outside = "nested" if len(result.plan.outer) > 1 else "test"
    levels = {name: loss.shown(value) for name, value in (("flat", result.flat), (outside, result.risk)) if value is not None}
    word = loss.words if loss.is_score else f"{loss.name} loss"
    with np.errstate(all="ignore"):
        mean = shown.mean(axis=0)
    log = not ticks and bool(x.min() > 0 and x.max() / x.min() > LOGARITHMIC and not _is_even(np.unique(x)))
    return Curve(axis, ticks, x[order], log, shown[:SHOWN][:, order], mean[order], chosen, levels, f"inner {word}")


def _axis(settings: list[dict[str, Any]]) -> tuple[str, np.ndarray, tuple[str, ...]]:
    """(name, position of every setting, names of the positions where they are no numbers)."""
    keys = list(dict.fromkeys(key for setting in settings for key in setting))
    varied = [key for key in keys if len({repr(setting.get(key)) for setting in settings}) > 1]
    if len(varied) == 1 and all(varied[0] in setting for setting in settings):
        values = [setting[varied[0]] for setting in settings]
        name = varied[0].rpartition("__")[2]
        if all(isinstance(v, int | float | np.integer | np.floating) and not isinstance(v, bool | np.bool_) for v in values):
            return name, np.array(values, dtype=np.float64), ()
        return name, np.arange(len(values), dtype=np.float64), tuple(map(format_value, values))
    return "setting, in grid order", np.arange(len(settings), dtype=np.float64), ()


def _is_even(x: np.ndarray) -> bool:
    steps = np.diff(x)
    return bool(steps.size and steps.max() < 1.5 * steps.min())
