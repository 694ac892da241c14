"""The numbers of a tuning picture: axes, inner and outer losses, choices, levels.

Losses are shown as scores where a scorer was used. One parameter is a curve, a full grid of two
is a surface, and anything else a ranking: settings in order, the best first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import CvnbError
from ..families.distributions import Range, ranges_of
from ..families.labels import Setting, format_value, shown_names, shown_settings
from ..families.searches import grids_of
from ..inference.rules import rule_of
from ..losses.scale import Scale
from ..results.estimate import RiskEstimate, record_of
from ..results.scales import scale_of
from .axes import tick_labels

# Positive values that span more than this ratio get a log axis unless they are evenly spaced.
LOGARITHMIC = 30.0
SAME_FOLDS = "same folds"  # the flat estimate: choosing and scoring on the same folds
OUTSIDE = ("nested", "test")  # levels that were measured outside of what chose


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

    @property
    def names(self) -> list[str]:
        """The label of each value."""
        return list(self.ticks) or tick_labels(self.x.tolist(), digits=3)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What every tuning picture has.

    levels  name -> value of each horizontal line
    ylabel  what the numbers are
    scale   how they are written; None: with four digits
    """

    levels: dict[str, Any]
    ylabel: str
    scale: Scale | None = None

    def write(self, value: float) -> str:
        """Return a number as it is written, with its unit."""
        return f"{value:.4g}" if self.scale is None else self.scale.displayed(value)

    @property
    def factor(self) -> float:
        """What numbers are multiplied by along an axis."""
        return 1.0 if self.scale is None else self.scale.factor

    @property
    def unit(self) -> str:
        """What follows numbers along an axis."""
        return "" if self.scale is None else self.scale.unit

    @property
    def named_levels(self) -> dict[str, str]:
        """Name -> "nested 4.2 %" for each level."""
        return {name: f"{name} {self.write(x)}" for name, x in self.levels.items()}


@dataclass(frozen=True, kw_only=True)
class Curve(Shown):
    """Losses along one axis, sorted along it.

    which     [places] index of the setting at each place
    settings  [places] its name
    inner     [splits, places] inner losses of each outer split; mean averages over the splits
    outer     [splits, places] outer losses, or None
    chosen    [splits] place of the setting chosen in each
    one_se    [splits] place that the one-standard-error rule would choose, or None
    """

    axis: Axis
    which: np.ndarray
    settings: tuple[str, ...]
    inner: np.ndarray
    outer: np.ndarray | None
    chosen: np.ndarray
    one_se: np.ndarray | None

    @property
    def mean(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            return self.inner.mean(axis=0)


@dataclass(frozen=True, kw_only=True)
class Surface(Shown):
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
    large_is_good: bool

    @property
    def goodness(self) -> np.ndarray:
        """[y, x] from 0 for the worst cell to 1 for the best."""
        low, high = np.nanmin(self.mean), np.nanmax(self.mean)
        share = (self.mean - low) / ((high - low) or 1.0)
        return share if self.large_is_good else 1.0 - share


@dataclass(frozen=True, kw_only=True)
class Ranking(Shown):
    """Settings of several parameters, the best first.

    which     [places] index of the setting at each place
    settings  [places] its name
    mean      [places] its mean inner loss
    times     [places] number of splits that chose it
    """

    which: np.ndarray
    settings: tuple[str, ...]
    mean: np.ndarray
    times: np.ndarray
    n_splits: int

    def shown(self, most: int) -> list[int]:
        """Return the places of at most so many settings: the best, and those chosen."""
        chosen = np.flatnonzero(self.times)[:most].tolist()
        best = [place for place in range(len(self.which)) if place not in chosen]
        return sorted(chosen + best[: most - len(chosen)])


def curve_of(result: RiskEstimate) -> Curve | Surface | Ranking | None:
    """Return the curve, surface or ranking of a result.

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
    return _curve(axes[0], result) if axes else _ranking(result)


def _curve(axis: Axis, result: RiskEstimate) -> Curve:
    order = np.argsort(axis.x, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    outer, one_se = result.outer_curves, _one_se(result)
    names = shown_settings(result.settings)
    return Curve(
        axis=replace(axis, x=axis.x[order]),
        which=order,
        settings=tuple(names[s] for s in order),
        inner=_shown(result.inner_curves, result)[:, order],
        outer=None if outer is None else _shown(outer, result)[:, order],
        chosen=place[result.chosen_index],
        one_se=None if one_se is None else place[one_se],
        **_labels(result),
    )


def _ranking(result: RiskEstimate) -> Ranking:
    with np.errstate(all="ignore"):
        mean = _shown(result.inner_curves, result).mean(axis=0)
    best_first = -mean if record_of(result).loss.is_score else mean
    order = np.argsort(best_first, kind="stable")  # NaN is last
    names = shown_settings(result.settings)
    times = np.bincount(result.chosen_index, minlength=order.size)
    return Ranking(
        which=order,
        settings=tuple(names[s] or "–" for s in order),
        mean=mean[order],
        times=times[order],
        n_splits=len(result.chosen_index),
        **_labels(result),
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
        large_is_good=loss.is_score,
        **_labels(result),
    )


def _labels(result: RiskEstimate) -> dict[str, Any]:
    loss, scale = record_of(result).loss, scale_of(result)
    return {"levels": _levels(result), "ylabel": loss.shown_name, "scale": scale}


def _shown(losses: Any, result: RiskEstimate) -> np.ndarray:
    """The losses, or the scores that they were made from."""
    loss = record_of(result).loss
    return np.asarray(loss.score(losses)) if loss.is_score else losses


def _levels(result: RiskEstimate) -> dict[str, Any]:
    """The flat estimate and the risk, where known."""
    loss = record_of(result).loss
    outside = OUTSIDE[len(result.plan.outer) == 1]
    values = {SAME_FOLDS: result.flat, outside: result.risk}
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
    """One axis, two (the one with more values first) for a full grid of two parameters, or none."""
    settings, ranges = (
        result.settings,
        ranges_of(grids_of(record_of(result).family.grid)),
    )
    keys = dict.fromkeys(key for setting in settings for key in setting)
    varied = [key for key in keys if len({repr(s.get(key)) for s in settings}) > 1]
    in_every_setting = all(key in setting for key in varied for setting in settings)
    if not in_every_setting:
        return []
    axes = [axis_of(key, settings, ranges) for key in varied]
    if len(axes) == 1:
        return axes
    if len(axes) == 2:
        axes.sort(key=lambda axis: -np.unique(axis.x).size)
        if _is_full_grid(axes[0].x, axes[1].x):
            return axes
    return []


def _is_full_grid(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether each combination of a value of x and one of y occurs exactly once."""
    n_cells = np.unique(x).size * np.unique(y).size
    pairs = set(zip(x.tolist(), y.tolist(), strict=True))
    return n_cells == len(x) == len(pairs)


def axis_of(key: str, settings: list[Setting], ranges: Mapping[str, Range]) -> Axis:
    """Return the values of one parameter, which all of these settings have."""
    name, values = shown_names(settings)[key], [setting[key] for setting in settings]
    if all(_is_number(value) for value in values):
        x = np.array(values, dtype=np.float64)
        if np.isfinite(x).all():
            return Axis(name, x, scale=_scale(ranges.get(key)))
    words = {repr(value): _word(value) for value in values}
    place = {text: i for i, text in enumerate(words)}
    x = np.array([place[repr(value)] for value in values], dtype=np.float64)
    return Axis(name, x, tuple(words.values()))


def _word(value: Any) -> str:
    return value if isinstance(value, str) else format_value(value)


def _scale(span: Range | None) -> str:
    if span is None or not span.is_drawn:
        return ""
    return "log" if span.is_log else "linear"


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | float | np.integer | np.floating)
