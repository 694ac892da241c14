"""Order of settings by simplicity, axis by axis: known for common parameters, or declared.

A simpler model is smoother, more shrunken or smaller, so that it overfits less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from .family import Family
from .labels import Setting
from .records import SIMPLER_TREES
from .registry import simplest_of
from .setting_groups import SettingGroup

# For steps without a record: (parameter, what is simpler, beginnings of class names).
KNOWN = (
    ("n_neighbors", "large", ("KNeighborsTransformer",)),
    ("radius", "large", ("RadiusNeighbors",)),
    ("alpha", "large", ("LassoLars", "MultiTask", "KernelRidge", "MLP", "SGD")),
    ("alpha", "large", ("Quantile", "Poisson", "Gamma", "Tweedie", "GaussianProcess")),
    ("alpha", "large", ("BernoulliNB", "MultinomialNB")),
    ("alpha", "large", ("ComplementNB", "CategoricalNB")),
    ("l1_ratio", "large", ("ElasticNetCV", "MultiTaskElasticNet")),
    ("C", "small", ("LinearSV", "SVC", "SVR", "PassiveAggressive")),
    ("gamma", "small", ("SVC", "SVR", "NuSV", "KernelRidge")),
    ("degree", "small", ("PolynomialFeatures", "SVC", "SVR")),
    ("n_knots", "small", ("SplineTransformer",)),
    *((name, simpler, ("ExtraTree",)) for name, simpler in SIMPLER_TREES.items()),
    ("n_components", "small", ("PCA", "TruncatedSVD", "PLS", "KernelPCA")),
    ("n_components", "small", ("Nystroem", "FactorAnalysis", "FastICA")),
    ("k", "small", ("SelectKBest",)),
    ("percentile", "small", ("SelectPercentile",)),
    ("reg_param", "large", ("QuadraticDiscriminantAnalysis",)),
)
# None, or "all", is no limit
UNLIMITED = ("max_depth", "max_leaf_nodes", "n_components", "k")
# nor is 0 to XGBoost, nor -1 to LightGBM
UNLIMITED_FROM_0 = ("max_depth", "max_leaves")
# a float up to 1 is a share of the rows, or of the variance
SHARES = ("min_samples_leaf", "min_samples_split", "n_components")


@dataclass(frozen=True, eq=False)
class Order:
    """The order of settings.

    axes     the axes with a known direction
    ranks    [settings, axes] number of values of the axis that are simpler
    others   [settings] an integer that is equal for settings whose other axes are equal
    """

    axes: tuple[str, ...]
    ranks: np.ndarray
    others: np.ndarray

    @cached_property
    def steps(self) -> np.ndarray:
        """[settings] steps from the simplest corner of the grid, summed over the axes."""
        return self.ranks.sum(axis=1)

    def no_less_simple(self, s: int) -> np.ndarray:
        """Return [settings] which are as simple as s, or simpler, and equal on the other axes."""
        at_most = (self.ranks <= self.ranks[s]).all(axis=1)
        return at_most & (self.others == self.others[s])


def order_of(
    family: Family, groups: list[SettingGroup], simplest: Mapping[str, Any]
) -> Order:
    """Return the order of a family's settings; refuse a grid whose axes have no known direction.

    groups: the settings as validated by check_parameters
    simplest: axis -> "small", "large" or its values, simplest first, as the user declared it
    """
    settings = family.settings
    keys = list(dict.fromkeys(key for setting in settings for key in setting))
    directions = {key: _direction(family, groups, key, simplest) for key in keys}
    known = {key: value for key, value in directions.items() if value is not None}
    _check_axes(family, keys, known, simplest)
    ranks = np.array([_ranks(family, key, value) for key, value in known.items()])
    ranks = ranks.reshape(len(known), len(settings)).T
    return Order(tuple(known), ranks, _codes_of_others(settings, known))


def _check_axes(
    family: Family,
    keys: list[str],
    known: Mapping[str, Any],
    simplest: Mapping[str, Any],
) -> None:
    names = {name for key in keys for name in _names(family, key)}
    for name in simplest:
        if name not in names:
            where = f"{family.label}, which has no grid"
            if keys:
                where = f"the grid of {family.label}; its axes are {', '.join(keys)}"
            raise InputError(f"simplest names {name!r}, which is no axis of {where}.")
    varied = [
        key
        for key in keys
        if len({repr(setting.get(key)) for setting in family.settings}) > 1
    ]
    if varied and not known.keys() & varied:
        raise InputError(
            f"select='one_se' takes the simplest setting, but which {' or '.join(varied)} "
            f"is simpler is not known; declare it: select=OneSE({{{varied[0]!r}: "
            f"'small'}}), or 'large', or a list of its values, simplest first."
        )


def _codes_of_others(settings: list[Setting], known: Mapping[str, Any]) -> np.ndarray:
    """[settings] an integer that is equal for settings whose other axes are equal."""
    codes: dict[Any, int] = {}
    others = [
        tuple((k, "" if k in known else repr(v)) for k, v in sorted(setting.items()))
        for setting in settings
    ]
    return np.array([codes.setdefault(other, len(codes)) for other in others])


def _names(family: Family, key: str) -> tuple[str, ...]:
    """The names that a user may give an axis: k, kneighborsclassifier__n_neighbors, n_neighbors."""
    full = family.aliases.get(key, key)
    return key, full, full.rpartition("__")[2]


def _direction(
    family: Family, groups: list[SettingGroup], key: str, simplest: Mapping[str, Any]
) -> Any:
    """The direction declared for this axis, else the known one, else None."""
    for name in _names(family, key):
        if name in simplest:
            declared = simplest[name]
            return declared if isinstance(declared, str) else list(declared)
    full = family.aliases.get(key, key)
    parameter = full.rpartition("__")[2]
    known = {
        _known(parameter, _owner(group.candidate, full))
        for group in groups
        if any(key in family.settings[s] for s in group.which)
    }
    return known.pop() if len(known) == 1 else None


def _owner(estimator: Any, full: str) -> Any:
    """The step, at any depth, that the parameter with this full name belongs to."""
    path = full.rpartition("__")[0]
    return estimator.get_params(deep=True).get(path) if path else estimator


def _known(parameter: str, owner: Any) -> Any:
    if (direction := simplest_of(owner, parameter)) is not None:
        return direction if isinstance(direction, str) else tuple(direction)
    for kind in type(owner).__mro__:
        if not kind.__module__.startswith("sklearn."):
            continue
        for name, direction, beginnings in KNOWN:
            if name == parameter and kind.__name__.startswith(beginnings):
                return direction
    return None


def _ranks(family: Family, key: str, direction: str | Sequence[Any]) -> list[int]:
    """For each setting the number of simpler values of this axis; 0 if it lacks the axis."""
    settings = family.settings
    values = [setting[key] for setting in settings if key in setting]
    if isinstance(direction, str):
        parameter = family.aliases.get(key, key).rpartition("__")[2]
        ranks = iter(_ranks_by_size(key, parameter, values, direction))
    else:
        ranks = iter([_place(key, value, direction) for value in values])
    return [next(ranks) if key in setting else 0 for setting in settings]


def _place(key: str, value: Any, declared: Sequence[Any]) -> int:
    for place, other in enumerate(declared):
        if _equal(other, value):
            return place
    raise InputError(
        f"simplest[{key!r}] leaves out {value!r}, a value of the grid; list them all, "
        "simplest first."
    )


def _ranks_by_size(
    key: str, parameter: str, values: list[Any], direction: str
) -> list[int]:
    sizes = [_size(key, parameter, value) for value in values]
    are_shares = {isinstance(v, float | np.floating) and v <= 1 for v in values}
    if parameter in SHARES and len(are_shares) > 1:
        raise InputError(
            f"{key} has shares and counts, and which of them is simpler depends on the "
            f"data; declare it: select=OneSE({{{key!r}: [...]}})."
        )
    distinct = sorted(set(sizes), reverse=direction == "large")
    return [distinct.index(size) for size in sizes]


def _size(key: str, parameter: str, value: Any) -> float:
    """The value as a number: infinite if it is no limit, 0 if it is no shrinkage."""
    is_all = value is None or (isinstance(value, str) and value == "all")
    if parameter in UNLIMITED and is_all:
        return np.inf
    if parameter == "shrinkage" and value is None:
        return 0.0
    is_number = isinstance(value, int | float | np.integer | np.floating)
    if is_number and not isinstance(value, bool | np.bool_):
        return np.inf if parameter in UNLIMITED_FROM_0 and value <= 0 else float(value)
    raise InputError(
        f"which {key} is simpler is known for numbers, not for {value!r}; declare it: "
        f"select=OneSE({{{key!r}: [...]}})."
    )


def _equal(a: Any, b: Any) -> bool:
    a, b = (v.item() if isinstance(v, np.generic) else v for v in (a, b))
    if isinstance(a, bool | str):
        return type(a) is type(b) and a == b
    return bool(np.all(a == b))
