"""Rules that choose a setting: the minimum, the one-standard-error rule, a user's function.

A rule is bound to one family before the run. It gets the inner losses[k, s] of one training
part, NaN where setting s failed, and returns the index of a setting; None where every
setting failed in some fold.
"""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import InfeasibleError, InputError, WrongTypeError
from ..families.family import Family
from ..families.labels import format_setting
from ..families.setting_groups import SettingGroup
from ..families.simplicity import Order, order_of
from ..losses.loss import Loss
from ..splits.layouts import are_apart
from ..splits.plan import Plan
from ..splits.specs import is_whole
from .minimum import standard_error, tied_settings, within_one_error

# fast paths choose on threads, and a user's function may not expect that
ONE_AT_A_TIME = threading.RLock()

POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


class Rule(Protocol):
    """How a setting is chosen."""

    takes_first: bool  # whether grid order decides between equal minima

    @property
    def words(self) -> str:
        """The words that follow "θ̂ chosen inside S by 5-fold CV"."""
        ...

    @property
    def select(self) -> Any:
        """The value of select= that gives this rule, for `rule_of` and another family."""
        ...

    def choose(self, losses: np.ndarray) -> int | None:
        """Return the index of the setting to take, given losses[k, s]."""
        ...

    def refuse(self, plan: Plan) -> None:
        """Raise an error where the rule is meaningless on these splits."""
        ...


@dataclass(frozen=True)
class Minimum:
    """The setting of the smallest mean loss; of equal ones the first in grid order."""

    zero_one: bool
    words = ""
    select = "min"
    takes_first = True

    def choose(self, losses: np.ndarray) -> int | None:
        tied = tied_settings(losses.mean(axis=0), self.zero_one)
        return int(tied[0]) if tied.size else None

    def refuse(self, plan: Plan) -> None:
        """Refuse nothing: the minimum suits all splits."""


@dataclass(frozen=True)
class OneSE:
    """The one-standard-error rule with declared directions of simplicity, for select=.

    simplest: maps the name of a parameter to "small", "large" or a list of its values,
    simplest first. Parameters whose direction is known (large k and alpha, small C, few
    leaves, ...) need no entry. On all others the setting keeps the minimiser's value.

    >>> OneSE({"gamma": "small"})
    OneSE(simplest={'gamma': 'small'})
    """

    simplest: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.simplest, Mapping):
            raise WrongTypeError(
                f"simplest={self.simplest!r} must be a dict such as {{'gamma': 'small'}}."
            )
        simplest = {
            name: _listed_once(direction) for name, direction in self.simplest.items()
        }
        object.__setattr__(self, "simplest", simplest)
        for name, direction in simplest.items():
            if not isinstance(direction, list) and direction not in ("small", "large"):
                raise InputError(
                    f"simplest[{name!r}]={direction!r} must be 'small', 'large' or a list "
                    "of values, simplest first."
                )


@dataclass(frozen=True)
class OneStandardError:
    """The simplest setting within one standard error of the minimum.

    On no axis is it less simple than the minimiser.
    """

    order: Order
    zero_one: bool
    simplest: Mapping[str, Any]
    words = " and the one-standard-error rule"
    takes_first = False

    @property
    def select(self) -> Any:
        return OneSE(self.simplest)

    def choose(self, losses: np.ndarray) -> int | None:
        curve = losses.mean(axis=0)
        tied = tied_settings(curve, self.zero_one)
        if not tied.size:
            return None
        steps = self.order.steps
        best = min(tied, key=lambda s: steps[s])  # of equal minima the simplest
        is_near = within_one_error(curve, standard_error(losses[:, best]))
        candidates = np.flatnonzero(is_near & self.order.no_less_simple(best))
        return int(min(candidates, key=lambda s: (steps[s], curve[s], s)))

    def refuse(self, plan: Plan) -> None:
        for layout in plan.inner_layouts or ():
            if len(layout) < 2:
                raise InfeasibleError(
                    "select='one_se' needs at least two inner folds, because one dev set has "
                    "no standard error; use inner=5, or select='min'."
                )
            if not are_apart(layout):
                raise InfeasibleError(
                    "select='one_se' is void where inner test parts overlap, as in "
                    "repeated or resampled CV: the standard error shrinks with every "
                    "repeat while the data stay the same; use inner=5, or select='min'."
                )


@dataclass(frozen=True)
class UserRule:
    """A user's function of the curve; or of (curve, fold losses), or (curve, losses, settings)."""

    function: Callable[..., Any]
    settings: list[dict[str, Any]]
    takes_first = False

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def words(self) -> str:
        return f" and the rule {self.name}"

    @property
    def select(self) -> Any:
        return self.function

    def choose(self, losses: np.ndarray) -> int | None:
        curve = losses.mean(axis=0)
        if np.isnan(curve).all():
            return None
        arguments = (curve.copy(), losses.T.copy(), copy.deepcopy(self.settings))
        with ONE_AT_A_TIME:
            chosen = self.function(*arguments[: _n_required(self.function)])
        if not is_whole(chosen) or not 0 <= chosen < curve.size:
            raise InputError(
                f"select={self.name} gave {chosen!r}; it must return the number of a "
                f"setting, 0 to {curve.size - 1}."
            )
        if np.isnan(curve[chosen]):
            failed = format_setting(self.settings[chosen])
            raise InputError(
                f"select={self.name} chose setting {chosen} ({failed}), which failed; its "
                "loss is NaN."
            )
        return int(chosen)

    def refuse(self, plan: Plan) -> None:
        """Refuse nothing: what a user's function suits is unknown."""


def rule_of(select: Any, family: Family, kinds: list[SettingGroup], loss: Loss) -> Rule:
    """Return the rule that select= names, bound to this family and loss.

    kinds: the groups of settings that scikit-learn validated, see `SettingGroup`
    """
    if isinstance(select, str) and select == "min":
        return Minimum(loss.zero_one)
    if isinstance(select, OneSE) or (isinstance(select, str) and select == "one_se"):
        simplest = select.simplest if isinstance(select, OneSE) else {}
        return OneStandardError(
            order_of(family, kinds, simplest), loss.zero_one, simplest
        )
    if callable(select) and not isinstance(select, type):
        _n_required(select)
        return UserRule(select, family.settings)
    raise InputError(
        f"select={select!r} is not known; use 'min', 'one_se', OneSE({{...}}) or a "
        "function of the inner curve."
    )


def _n_required(function: Callable[..., Any]) -> int:
    """Number of (curve, losses[setting, fold], settings) that a function requires.

    *args counts as all three.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = {p.kind for p in parameters}
    required = [p for p in parameters if p.default is p.empty]
    n_required = sum(p.kind in POSITIONAL for p in required)
    takes_none = not kinds & {*POSITIONAL, inspect.Parameter.VAR_POSITIONAL}
    needs_keyword = any(p.kind is p.KEYWORD_ONLY for p in required)
    if n_required > 3 or needs_keyword or takes_none:
        name = getattr(function, "__name__", type(function).__name__)
        raise WrongTypeError(
            f"select={name} must be a function of (curve), (curve, losses) or (curve, "
            "losses, settings)."
        )
    return 3 if inspect.Parameter.VAR_POSITIONAL in kinds else max(1, n_required)


def _listed_once(direction: Any) -> Any:
    """Return a word as it is and values as a list, for an iterator can be read only once."""
    is_values = isinstance(direction, Iterable) and not isinstance(direction, str)
    return list(direction) if is_values else direction
