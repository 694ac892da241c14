"""Θ0 drawn once from lists and distributions, and searches of scikit-learn opened as families."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats
from sklearn.model_selection import (
    GridSearchCV,
    ParameterSampler,
    RandomizedSearchCV,
)

from ..errors import FamilyError
from ..splits.options import MAX_SEED
from ..splits.specs import is_whole
from .distributions import (
    Grids,
    distribution_text,
    distributions_in,
    is_distribution,
)
from .labels import Setting, format_value

OPENED = (
    GridSearchCV,
    RandomizedSearchCV,
)  # searches whose settings are known before a fit
DRAWS = ("random", "sobol")
SMALLEST = 2.0**-32  # a Sobol point may be 0, where ppf may be infinite


@dataclass(frozen=True)
class Drawing:
    """How settings are drawn.

    n      number of settings
    draw   "random": as ParameterSampler draws them; "sobol": scrambled Sobol points, which fill
           the ranges evenly
    seed   of the draw
    """

    n: int
    draw: str = "random"
    seed: int = 0

    def settings(self, grids: Grids) -> list[Setting]:
        """Return the settings in the order in which they are drawn."""
        sample = _random if self.draw == "random" else _sobol
        try:
            return sample(grids, self.n, self.seed)
        except (TypeError, ValueError, AttributeError) as error:
            raise FamilyError(_not_drawn(grids, error)) from None

    @property
    def words(self) -> str:
        """ "drawn at random (seed 0)"."""
        how = "at random" if self.draw == "random" else "as Sobol points"
        return f"drawn {how} (seed {self.seed})"


def drawing_of(n: Any, draw: Any, seed: Any) -> Drawing | None:
    """Return n=, draw= and seed= of a family, checked; None where nothing is drawn."""
    if not isinstance(draw, str) or draw not in DRAWS:
        raise FamilyError(f"draw={draw!r} is not known; use 'random' or 'sobol'.")
    if not is_whole(seed) or not 0 <= seed < MAX_SEED:
        raise FamilyError(
            f"seed={seed!r} must be an int from 0 to {MAX_SEED - 1}, so that every run has the "
            "same settings; use seed=0."
        )
    if n is None:
        if (draw, seed) == ("random", 0):
            return None
        raise FamilyError(
            "draw= and seed= are for settings that are drawn; give their number too, such as "
            "n=60."
        )
    if not is_whole(n) or n < 1:
        raise FamilyError(
            f"n={n!r} must be a positive int, the number of settings to draw, such as n=60."
        )
    return Drawing(int(n), draw, int(seed))


def refuse_distributions(grids: Grids) -> None:
    """Refuse a distribution where nothing says how many settings to draw."""
    for key, distribution in distributions_in(grids):
        raise FamilyError(
            f"the grid has {key}={distribution_text(distribution)}, a distribution; say how "
            "many settings to draw: Family(estimator, grid, n=60)."
        )


def _random(grids: Grids, n: int, seed: int) -> list[Setting]:
    """Return the draws of ParameterSampler: without replacement where all values are listed."""
    with warnings.catch_warnings():
        # fewer listed settings than n: a note of the result says so
        warnings.simplefilter("ignore", UserWarning)
        return list(ParameterSampler(list(grids), n, random_state=seed))


def _sobol(grids: Grids, n: int, seed: int) -> list[Setting]:
    """Return n points of one scrambled Sobol sequence, a column per parameter.

    A list of dicts has one more column, which takes a dict; lists are cut into equal cells.
    """
    columns = max(map(len, grids))
    points = _sobol_points(n, columns + 1 if len(grids) > 1 else columns, seed)
    settings = []
    for point in points:
        grid, *_ = grids
        if len(grids) > 1:
            grid, point = _cell(grids, point[0]), point[1:]
        ordered = sorted(grid.items())
        shares = zip(ordered, point, strict=False)  # a smaller dict leaves columns over
        settings.append({key: _at(values, u) for (key, values), u in shares})
    return settings


def _sobol_points(n: int, columns: int, seed: int) -> np.ndarray:
    """Return [n, columns] points in (0, 1): the first n of a power of 2, as SciPy asks for."""
    if not columns:
        return np.empty((n, 0))
    sequence = scipy.stats.qmc.Sobol(columns, seed=np.random.default_rng(seed))
    points = sequence.random_base2(math.ceil(math.log2(n)))[:n]
    return np.clip(points, SMALLEST, 1 - SMALLEST)


def _at(values: Any, u: float) -> Any:
    """Return the value of a list or a distribution at the share u of its probability."""
    if not is_distribution(values):
        return _cell(values, u)
    value = values.ppf(u)
    if np.isnan(value):
        raise ValueError(f"ppf({u:.3g}) is not a number")
    is_discrete = isinstance(getattr(values, "dist", values), scipy.stats.rv_discrete)
    return int(value) if is_discrete else value


def _cell(values: Any, u: float) -> Any:
    return values[int(u * len(values))]


def _not_drawn(grids: Grids, error: Exception) -> str:
    """Return the message on a grid that cannot be drawn, naming its first parameter at fault."""
    for key, distribution in distributions_in(grids):
        text = distribution_text(distribution)
        try:
            distribution.rvs(random_state=0)
        except (TypeError, ValueError, AttributeError) as own:
            return f"{key}={text} cannot be drawn: {own}"
        if not hasattr(distribution, "ppf"):
            return (
                f"{key}={text} has no ppf, which draw='sobol' needs; use draw='random'."
            )
    return f"the settings cannot be drawn: {error}"


def opened(search: Any) -> tuple[Any, Any, Drawing | None]:
    """Return (estimator, grid, drawing) of a GridSearchCV or a RandomizedSearchCV.

    Refuse one that does not choose by the mean of one metric, or whose settings a cross-
    validation around it would draw anew.
    """
    name = type(search).__name__
    if callable(search.refit):
        raise FamilyError(
            f"{name}(refit=<function>) chooses by a rule of its own; use refit=True."
        )
    if isinstance(search.scoring, list | tuple | set | dict):
        raise FamilyError(
            f"{name}(scoring={search.scoring!r}) has several metrics; use one."
        )
    if isinstance(search, GridSearchCV):
        return search.estimator, search.param_grid, None
    if not is_whole(search.random_state):
        raise FamilyError(
            f"{name}(random_state={format_value(search.random_state)}) draws other settings in "
            "every training part, so that no two parts could be compared; use random_state=0."
        )
    drawing = drawing_of(search.n_iter, "random", search.random_state)
    return search.estimator, search.param_distributions, drawing


def grids_of(grid: Any) -> Grids:
    """Return a grid, a dict or a list of dicts, as a list of dicts."""
    return [grid] if isinstance(grid, Mapping) else list(grid)
