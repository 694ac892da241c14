"""The numbers of an error-versus-θ picture: axes, inner and outer losses, choices, levels.

Losses are shown as scores where a scorer was used. A full grid of two parameters is a
surface, any other grid a curve; drawn settings of several parameters are ranked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import CvnbError
from ..families.distributions import Range, ranges_of
from ..families.labels import Setting, format_setting, format_value
from ..families.searches import grids_of
from ..inference.rules import rule_of
from ..results.estimate import RiskEstimate, record_of

# Positive values that span more than this ratio get a log axis unless they are evenly spaced.
LOGARITHMIC = 30.0
RANKED = "settings, best first"  # where drawn settings have no common axis


@dataclass(frozen=True)
class Axis:
    """Positions of the settings: parameter values, or tick numbers for non-numeric values.

    scale  "log" or "linear", of values drawn from a distribution; "" where the values tell
    """

    name: str
    x: np.ndarray
    ticks: tuple[str, ...] = ()
    scale: str = ""

    @property
    def log(self) -> bool:
        if self.scale:
            return self.scale == "log"
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

    which     [places] index of the setting at each place
    settings  [places] its name
    inner     [splits, places] inner losses of each outer split; mean averages over the splits
    outer     [splits, places] outer losses, or None
    chosen    [splits] place of θ_j
    one_se    [splits] place that the one-standard-error rule would choose, or None
    levels    name -> value of each horizontal line
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
    """Mean inner losses over a full grid of two parameters.

    which  [y, x] index of the setting in each cell
    mean   [y, x] its mean inner loss
    times  [y, x] number of splits that chose it
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
    """Return the curve or surface of a result.

    None if nothing was chosen among several settings, or all of them failed.
    """
    losses = result.inner_curves
    if losses is None or not len(losses) or len(result.settings) < 2:
        return None
    if not np.isfinite(losses.mean(axis=0)).any():
        return None
    axes = _axes(result)
    if len(axes) == 2:
        return _surface(axes[0], axes[1], result)
    return _curve(axes[0], result)


def _curve(axis: Axis, result: RiskEstimate) -> Curve:
    order = np.argsort(axis.x, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    outer, one_se = result.outer_curves, _one_se(result)
    return Curve(
        axis=replace(axis, x=axis.x[order]),
        which=order,
        settings=tuple(format_setting(result.settings[s]) for s in order),
        inner=_shown(result.inner_curves, result)[:, order],
        outer=None if outer is None else _shown(outer, result)[:, order],
        chosen=place[result.chosen_index],
        one_se=None if one_se is None else place[one_se],
        levels=_levels(result),
        ylabel=f"inner {record_of(result).loss.words}",
    )


def _surface(x: Axis, y: Axis, result: RiskEstimate) -> Surface:
    columns, column = np.unique(x.x, return_inverse=True)
    rows, row = np.unique(y.x, return_inverse=True)
    which = np.empty((rows.size, columns.size), dtype=np.int64)
    which[row, column] = np.arange(row.size)
    inner, loss = _shown(result.inner_curves, result), record_of(result).loss
    with np.errstate(all="ignore"):
        mean = inner.mean(axis=0)[which]
    return Surface(
        x=replace(x, x=columns),
        y=replace(y, x=rows),
        which=which,
        mean=mean,
        times=np.bincount(result.chosen_index, minlength=row.size)[which],
        n_splits=len(inner),
        levels=_levels(result),
        ylabel=f"inner {loss.words}",
        large_is_good=loss.is_score,
    )


def _shown(losses: Any, result: RiskEstimate) -> np.ndarray:
    """The losses, or the scores that they were made from."""
    loss = record_of(result).loss
    return np.asarray(loss.score(losses)) if loss.is_score else losses


def _levels(result: RiskEstimate) -> dict[str, Any]:
    """The flat estimate and the risk, where known."""
    loss = record_of(result).loss
    outside = "nested" if len(result.plan.outer) > 1 else "test"
    values = {"flat": result.flat, outside: result.risk}
    return {name: loss.shown(x) for name, x in values.items() if x is not None}


def _one_se(result: RiskEstimate) -> np.ndarray | None:
    """[splits] Choices of the one-standard-error rule.

    None if the rule does not apply, or if it made the choices of this result itself.
    """
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


def _axes(result: RiskEstimate) -> list[Axis]:
    """One axis, or two (the one with more values first) for a full grid of two parameters."""
    settings, family = result.settings, record_of(result).family
    ranges = ranges_of(grids_of(family.grid))
    keys = dict.fromkeys(key for setting in settings for key in setting)
    varied = [key for key in keys if len({repr(s.get(key)) for s in settings}) > 1]
    in_every_setting = all(key in setting for key in varied for setting in settings)
    if in_every_setting and len(varied) == 1:
        return [axis_of(varied[0], settings, ranges)]
    if in_every_setting and len(varied) == 2:
        axes = [axis_of(key, settings, ranges) for key in varied]
        axes.sort(key=lambda axis: -np.unique(axis.x).size)
        if _is_full_grid(axes[0].x, axes[1].x):
            return axes
    if family.drawing and result.inner_curves is not None:
        return [Axis(RANKED, _ranks(result.inner_curves.mean(axis=0)))]
    return [Axis("setting, in grid order", np.arange(len(settings), dtype=np.float64))]


def _ranks(losses: np.ndarray) -> np.ndarray:
    """Return the rank of each loss, from 1 for the smallest; NaN comes last."""
    ranks = np.empty(losses.size)
    ranks[np.argsort(losses, kind="stable")] = np.arange(1, losses.size + 1)
    return ranks


def _is_full_grid(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether each combination of a value of x and one of y occurs exactly once."""
    n_cells = np.unique(x).size * np.unique(y).size
    pairs = set(zip(x.tolist(), y.tolist(), strict=True))
    return n_cells == len(x) == len(pairs)


def axis_of(key: str, settings: list[Setting], ranges: Mapping[str, Range]) -> Axis:
    """Return the values of one parameter, which all of these settings have."""
    name, values = key.rpartition("__")[2], [setting[key] for setting in settings]
    if all(_is_number(value) for value in values):
        x = np.array(values, dtype=np.float64)
        if np.isfinite(x).all():
            return Axis(name, x, scale=_scale(ranges.get(key)))
    words = {repr(value): format_value(value) for value in values}
    place = {text: i for i, text in enumerate(words)}
    x = np.array([place[repr(value)] for value in values], dtype=np.float64)
    return Axis(name, x, tuple(words.values()))


def _scale(span: Range | None) -> str:
    if span is None or not span.is_drawn:
        return ""
    return "log" if span.is_log else "linear"


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | float | np.integer | np.floating)
