"""Which of two settings is the simpler model: an order by axis, known for scikit-learn's usual parameters or declared.

Simple means smooth, shrunken or small: what a larger data set would be needed to overfit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from .family import Family, Kind
from .registry import simplest_of

# Of steps that no algorithm of the registry is for: parameter, direction, and beginnings of the names of the classes.
KNOWN = (
    ("n_neighbors", "large", ("KNeighborsTransformer",)),
    ("radius", "large", ("RadiusNeighbors",)),
    (
        "alpha",
        "large",
        (
            "LassoLars",
            "MultiTask",
            "KernelRidge",
            "MLP",
            "SGD",
            "Quantile",
            "Poisson",
            "Gamma",
        ),
    ),
    (
        "alpha",
        "large",
        (
            "Tweedie",
            "BernoulliNB",
            "MultinomialNB",
            "ComplementNB",
            "CategoricalNB",
            "GaussianProcess",
        ),
    ),
    ("l1_ratio", "large", ("ElasticNetCV", "MultiTaskElasticNet")),
    ("C", "small", ("LinearSV", "SVC", "SVR", "PassiveAggressive")),
    ("gamma", "small", ("SVC", "SVR", "NuSV", "KernelRidge")),
    ("degree", "small", ("PolynomialFeatures", "SVC", "SVR")),
    ("n_knots", "small", ("SplineTransformer",)),
    ("max_leaf_nodes", "small", ("ExtraTree",)),
    ("max_depth", "small", ("ExtraTree",)),
    ("min_samples_leaf", "large", ("ExtraTree",)),
    ("min_samples_split", "large", ("ExtraTree",)),
    ("ccp_alpha", "large", ("ExtraTree",)),
    (
        "n_components",
        "small",
        (
            "PCA",
            "TruncatedSVD",
            "PLS",
            "KernelPCA",
            "Nystroem",
            "FactorAnalysis",
            "FastICA",
        ),
    ),
    ("k", "small", ("SelectKBest",)),
    ("percentile", "small", ("SelectPercentile",)),
    ("reg_param", "large", ("QuadraticDiscriminantAnalysis",)),
)
UNLIMITED = (
    "max_depth",
    "max_leaf_nodes",
    "n_components",
    "k",
)  # None, or "all", is no limit
SHARES = (
    "min_samples_leaf",
    "min_samples_split",
    "n_components",
)  # a float up to 1 is a share of the rows, or of the variance


@dataclass(frozen=True, eq=False)
class Order:
    """ranks[s, a]: how many values of axis a are simpler than that of setting s; others[s]: a number for all the rest of it."""

    axes: tuple[str, ...]
    ranks: np.ndarray
    others: np.ndarray

    @cached_property
    def steps(self) -> np.ndarray:
        """[settings]: steps away from the simplest corner, summed over the axes."""
        return self.ranks.sum(axis=1)

    def no_less_simple(self, s: int) -> np.ndarray:
        """[settings]: whether it is as simple as setting s or simpler on every axis, and like it in all the rest."""
        return (self.ranks <= self.ranks[s]).all(axis=1) & (
            self.others == self.others[s]
        )


def order_of(family: Family, kinds: list[Kind], simplest: Mapping[str, Any]) -> Order:
    """The order of a family's settings; an error where no axis of its grid has a direction."""
    keys = list(dict.fromkeys(key for setting in family.settings for key in setting))
    known = {
        key: direction
        for key in keys
        if (direction := _direction(family, kinds, key, simplest)) is not None
    }
    used = {name for key in keys for name in _names(family, key)}
    if unknown := [name for name in simplest if name not in used]:
        axes_of = (
            f"the grid of {family.label}; its axes are {', '.join(keys)}"
            if keys
            else f"{family.label}, which has no grid"
        )
        raise InputError(
            f"simplest names {unknown[0]!r}, which is no axis of {axes_of}."
        )
    varied = [
        key
        for key in keys
        if len({repr(setting.get(key)) for setting in family.settings}) > 1
    ]
    if varied and not any(key in known for key in varied):
        raise InputError(
            f"select='one_se' takes the simplest setting, but which {' or '.join(varied)} is simpler is not known; declare it: "
            f"select=OneSE({{{varied[0]!r}: 'small'}}), or 'large', or a list of its values, simplest first."
        )
    axes = tuple(key for key in keys if key in known)
    ranks = (
        np.array([_ranks(family, key, known[key]) for key in axes])
        .reshape(len(axes), len(family.settings))
        .T
    )
    rest = [
        tuple((k, repr(v) if k not in known else "") for k, v in sorted(s.items()))
        for s in family.settings
    ]
    number = {one: n for n, one in enumerate(dict.fromkeys(rest))}
    return Order(axes, ranks, np.array([number[one] for one in rest]))


def _names(family: Family, key: str) -> tuple[str, ...]:
    """What a user may call an axis: k, kneighborsclassifier__n_neighbors, n_neighbors."""
    full = family.aliases.get(key, key)
    return key, full, full.rpartition("__")[2]


def _direction(
    family: Family, kinds: list[Kind], key: str, simplest: Mapping[str, Any]
) -> Any:
    """What was declared for this axis, else what is known; None where neither is."""
    for name in _names(family, key):
        if name in simplest:
            return (
                simplest[name]
                if isinstance(simplest[name], str)
                else list(simplest[name])
            )
    full = family.aliases.get(key, key)
    parameter = full.rpartition("__")[2]
    holders = [
        kind for kind in kinds if any(key in family.settings[s] for s in kind.which)
    ]
    found = {_known(parameter, _owner(kind.candidate, full)) for kind in holders}
    return found.pop() if len(found) == 1 else None


def _owner(estimator: Any, full: str) -> Any:
    """The step whose parameter this is, however deep it stands."""
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
    """For each setting how many values of this axis are simpler; 0 where it does not have the axis."""
    values = [setting[key] for setting in family.settings if key in setting]
    if not isinstance(direction, str):
        places = [
            next((n for n, known in enumerate(direction) if _equal(known, value)), None)
            for value in values
        ]
        if None in places:
            missing = values[places.index(None)]
            raise InputError(
                f"simplest[{key!r}] leaves out {missing!r}, a value of the grid; list them all, simplest first."
            )
        found = iter(places)
    else:
        parameter = family.aliases.get(key, key).rpartition("__")[2]
        sizes = [_size(key, parameter, value) for value in values]
        if (
            parameter in SHARES
            and len({isinstance(v, float | np.floating) and v <= 1 for v in values}) > 1
        ):
            raise InputError(
                f"{key} has shares and counts, and which of them is simpler depends on the data; declare it: "
                f"select=OneSE({{{key!r}: [...]}})."
            )
        distinct = sorted(set(sizes), reverse=direction == "large")
        found = iter([distinct.index(size) for size in sizes])
    return [int(next(found)) if key in setting else 0 for setting in family.settings]  # type: ignore[arg-type]


def _size(key: str, parameter: str, value: Any) -> float:
    """A number as it is; None and "all" where they are no limit; no shrinkage is none."""
    if parameter in UNLIMITED and (
        value is None or (isinstance(value, str) and value == "all")
    ):
        return np.inf
    if parameter == "shrinkage" and value is None:
        return 0.0
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool | np.bool_
    ):
        return float(value)
    raise InputError(
        f"which {key} is simpler is known for numbers, not for {value!r}; declare it: select=OneSE({{{key!r}: [...]}})."
    )


def _equal(a: Any, b: Any) -> bool:
    a, b = (one.item() if isinstance(one, np.generic) else one for one in (a, b))
    return (
        type(a) is type(b) and a == b
        if isinstance(a, bool | str)
        else bool(np.all(a == b))
    )
