"""Error versus θ as numbers: what is on the axes, the inner and outer losses, the choices, the levels.

Losses are shown as scores where there are any. A grid of two parameters is a surface, any other a curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import CvnbError
from ..families.family import format_setting, format_value
from ..inference.rules import rule_of
from ..results.estimate import RiskEstimate, record_of

LOGARITHMIC = 30.0  # a grid of positive numbers that spans more than this is shown on a log axis, if it is not evenly spaced


@dataclass(frozen=True)
class Axis:
    """Where the settings stand: at a value of the parameter, or at the number of a tick where the values are no numbers."""

    name: str
    x: np.ndarray
    ticks: tuple[str, ...] = ()

    @property
    def log(self) -> bool:
        x = np.unique(self.x)
        if self.ticks or x[0] <= 0 or x[-1] / x[0] <= LOGARITHMIC:
            return False
        steps = np.diff(x)
        return bool(steps.max() >= 1.5 * steps.min())

    @property
    def position(self) -> np.ndarray:
        """x as it is drawn along a straight axis."""
        return np.log10(self.x) if self.log else self.x


@dataclass(frozen=True)
class Curve:
    """Losses along one axis, sorted along it.

    which      the number of the setting at every place; settings, its name
    inner      [splits, places] of every outer split; mean over them; outer [splits, places] or None
    chosen     [splits] the place of θ_j; one_se [splits] the place that the one-standard-error rule takes, or None
    levels     what is drawn across: name -> value
    """

    axis: Axis
    which: np.ndarray
    settings: tuple[str, ...]
    inner: np.ndarray
    outer: np.ndarray | None
    chosen: np.ndarray
    one_se: np.ndarray | None
    levels: dict[str, Any]
    ylabel: str

    @property
    def mean(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            return self.inner.mean(axis=0)


@dataclass(frozen=True)
class Surface:
    """Mean inner losses over a grid of two parameters: mean[y, x]; times[y, x] counts the splits that chose a cell.

    which[y, x] is the number of the setting there.
    """

    x: Axis
    y: Axis
    which: np.ndarray
    mean: np.ndarray
    times: np.ndarray
    n_splits: int
    levels: dict[str, Any]
    ylabel: str
    large_is_good: bool

    @property
    def goodness(self) -> np.ndarray:
        """[y, x] from 0 for the worst cell to 1 for the best."""
        low, high = np.nanmin(self.mean), np.nanmax(self.mean)
        share = (self.mean - low) / ((high - low) or 1.0)
        return share if self.large_is_good else 1.0 - share


def curve_of(result: RiskEstimate) -> Curve | Surface | None:
    """The curve or surface of a result; None where nothing was chosen among settings, or all of them failed."""
    curves, record = result.inner_curves, record_of(result)
    if (
        curves is None
        or not len(curves)
        or len(result.settings) < 2
        or not np.isfinite(curves.mean(axis=0)).any()
    ):
        return None
    loss = record.loss
    outside = "nested" if len(result.plan.outer) > 1 else "test"
    levels = {
        name: loss.shown(value)
        for name, value in (("flat", result.flat), (outside, result.risk))
        if value is not None
    }
    inner, chosen = _shown(curves, result), result.chosen_index
    ylabel = f"inner {loss.words}"
    axes = _axes(result.settings)
    if len(axes) == 2:
        return _surface(axes[0], axes[1], inner, chosen, levels, ylabel, loss.is_score)
    (axis,) = axes
    order = np.argsort(axis.x, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    one_se = _one_se(result)
    return Curve(
        axis=Axis(axis.name, axis.x[order], axis.ticks),
        which=order,
        settings=tuple(format_setting(result.settings[s]) for s in order),
        inner=inner[:, order],
        outer=None
        if result.outer_curves is None
        else _shown(result.outer_curves, result)[:, order],
        chosen=place[chosen],
        one_se=None if one_se is None else place[one_se],
        levels=levels,
        ylabel=ylabel,
    )


def _shown(losses: np.ndarray, result: RiskEstimate) -> np.ndarray:
    """Losses, or the scores that they were made from."""
    loss = record_of(result).loss
    return np.asarray(loss.score(losses)) if loss.is_score else losses


def _one_se(result: RiskEstimate) -> np.ndarray | None:
    """[splits] what the one-standard-error rule would choose; None where it means nothing, or is the rule that chose."""
    record = record_of(result)
    try:
        rule = rule_of("one_se", record.family, record.work.kinds, record.loss)
        rule.refuse(result.plan)
    except CvnbError:
        return None
    if type(rule) is type(record.work.rule):
        return None
    chosen = [rule.choose(losses) for losses in record.table.inner or ()]
    return None if None in chosen else np.array(chosen)


def _axes(settings: list[dict[str, Any]]) -> list[Axis]:
    """One axis, or two where two parameters form a full grid."""
    keys = list(dict.fromkeys(key for setting in settings for key in setting))
    varied = [
        key for key in keys if len({repr(setting.get(key)) for setting in settings}) > 1
    ]
    whole = all(key in setting for key in varied for setting in settings)
    if whole and len(varied) == 1:
        return [_axis(varied[0], settings)]
    if whole and len(varied) == 2:
        axes = sorted(
            (_axis(key, settings) for key in varied),
            key=lambda axis: -np.unique(axis.x).size,
        )
        n = np.unique(axes[0].x).size * np.unique(axes[1].x).size
        if (
            n
            == len(settings)
            == len(set(zip(axes[0].x.tolist(), axes[1].x.tolist(), strict=True)))
        ):
            return axes
    return [Axis("setting, in grid order", np.arange(len(settings), dtype=np.float64))]


def _axis(key: str, settings: list[dict[str, Any]]) -> Axis:
    values, name = [setting[key] for setting in settings], key.rpartition("__")[2]
    if all(
        isinstance(v, int | float | np.integer | np.floating)
        and not isinstance(v, bool | np.bool_)
        for v in values
    ):
        x = np.array(values, dtype=np.float64)
        if np.isfinite(x).all():
            return Axis(name, x)
    names = {repr(v): format_value(v) for v in values}
    place = {key: i for i, key in enumerate(names)}
    return Axis(
        name,
        np.array([place[repr(v)] for v in values], dtype=np.float64),
        tuple(names.values()),
    )


def _surface(
    x: Axis,
    y: Axis,
    inner: np.ndarray,
    chosen: np.ndarray,
    levels: dict[str, Any],
    ylabel: str,
    score: bool,
) -> Surface:
    across, column = np.unique(x.x, return_inverse=True)
    up, row = np.unique(y.x, return_inverse=True)
    which = np.empty((up.size, across.size), dtype=np.int64)
    which[row, column] = np.arange(row.size)
    with np.errstate(all="ignore"):
        mean = inner.mean(axis=0)[which]
    times = np.bincount(chosen, minlength=row.size)[which]
    places = Axis(x.name, across, x.ticks), Axis(y.name, up, y.ticks)
    return Surface(*places, which, mean, times, len(inner), levels, ylabel, score)
