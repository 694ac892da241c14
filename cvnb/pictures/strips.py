"""The numbers of strips: one per drawn parameter, its values and their mean inner losses.

Settings drawn from several ranges have no common axis, and no two share a value. Each strip
shows every setting at its own value of one parameter; what the others do is its scatter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..families.distributions import ranges_of
from ..families.labels import shown_settings
from ..families.searches import grids_of
from ..losses.scale import Scale
from ..results.estimate import RiskEstimate, record_of
from ..results.scales import scale_of
from .curves import Axis, Ranking, axis_of, curve_of


@dataclass(frozen=True)
class Strip:
    """One parameter: its values, and the index of the setting that each belongs to."""

    axis: Axis
    which: np.ndarray


@dataclass(frozen=True)
class Strips:
    """All parameters that vary.

    mean      [settings] mean inner loss, or score
    times     [settings] number of splits that chose each
    settings  [settings] their names
    """

    strips: tuple[Strip, ...]
    mean: np.ndarray
    times: np.ndarray
    settings: tuple[str, ...]
    ylabel: str
    scale: Scale


def strips_of(result: RiskEstimate) -> Strips | None:
    """Return the strips of drawn settings that are ranked for want of an axis; else None."""
    curve, settings = curve_of(result), result.settings
    if not isinstance(curve, Ranking) or not record_of(result).family.drawing:
        return None
    mean = np.empty(len(settings))
    mean[curve.which] = curve.mean
    return Strips(
        tuple(_strips(result)),
        mean,
        np.bincount(result.chosen_index, minlength=len(settings)),
        tuple(shown_settings(settings)),
        curve.ylabel,
        scale_of(result),
    )


def _strips(result: RiskEstimate) -> list[Strip]:
    settings = result.settings
    ranges = ranges_of(grids_of(record_of(result).family.grid))
    strips = []
    for key in dict.fromkeys(key for setting in settings for key in setting):
        which = [s for s, setting in enumerate(settings) if key in setting]
        own = [settings[s] for s in which]
        if len({repr(setting[key]) for setting in own}) > 1:
            strips.append(Strip(axis_of(key, own, ranges), np.array(which)))
    return strips
