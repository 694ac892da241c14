"""Rules that choose a setting from its inner fold losses: the minimum, the one-standard-error rule, a function of the user's.

A rule is bound to one family before the run. It sees losses[k, s] of one training part, NaN where setting s failed, and
gives the number of a setting, or None where every setting has failed in some fold.
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
from ..families.family import Family, Kind, format_setting
from ..families.simplicity import Order, order_of
from ..losses.loss import Loss
from ..splits.layouts import are_apart
from ..splits.plan import Plan
from .selection import standard_error, tied_settings, within_one_error

ONE_AT_A_TIME = (
    threading.RLock()
)  # fast paths choose on threads, and a user's function may not expect that


class Rule(Protocol):
    """How a setting is chosen."""

    takes_first: bool  # whether grid order decides between equal minima

    @property
    def words(self) -> str:
        """What follows "θ̂ chosen inside S by 5-fold CV"."""
        ...

    def choose(self, losses: np.ndarray) -> int | None:
        """The setting that losses[k, s] speak for."""
        ...

    def refuse(self, plan: Plan) -> None:
        """An error where the rule means nothing on these splits."""
        ...


@dataclass(frozen=True)
class Minimum:
    """The smallest mean loss; the first in grid order of equal ones."""

    zero_one: bool
    words = ""
    takes_first = True

    def choose(self, losses: np.ndarray) -> int | None:
        tied = tied_settings(losses.mean(axis=0), self.zero_one)
        return int(tied[0]) if tied.size else None

    def refuse(self, plan: Plan) -> None:
        """It suits all splits."""


@dataclass(frozen=True)
class OneSE:
    """The one-standard-error rule, with a declared direction of simplicity: select=OneSE({"gamma": "small"}).

    simplest maps the name of a parameter to "small", "large" or a list of its values, simplest first. Parameters whose
    direction is known (large k and alpha, small C, few leaves, ...) need no word. On all others the setting keeps the
    minimiser's value.

    >>> OneSE({"gamma": "small"})
    OneSE(simplest={'gamma': 'small'})
    """

    simplest: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.simplest, Mapping):
            raise WrongTypeError(
                f"simplest={self.simplest!r} must be a dict such as {{'gamma': 'small'}}."
            )
        read = {
            name: one if isinstance(one, str) else _listed(one)
            for name, one in self.simplest.items()
        }
        object.__setattr__(self, "simplest", read)  # an iterator is read once
        for name, direction in self.simplest.items():
            words = isinstance(direction, str) and direction in ("small", "large")
            if not words and (
                isinstance(direction, str) or not isinstance(direction, Iterable)
            ):
                raise InputError(
                    f"simplest[{name!r}]={direction!r} must be 'small', 'large' or a list of values, simplest first."
                )


@dataclass(frozen=True)
class OneStandardError:
    """The simplest setting within one standard error of the minimum, no less simple than the minimiser on any axis."""

    order: Order
    zero_one: bool
    simplest: Mapping[str, Any]
    words = " and the one-standard-error rule"
    takes_first = False

    def choose(self, losses: np.ndarray) -> int | None:
        curve = losses.mean(axis=0)
        tied = tied_settings(curve, self.zero_one)
        if not tied.size:
            return None
        best = min(
            tied, key=lambda s: self.order.steps[s]
        )  # of equal minima the simplest
        near = within_one_error(curve, standard_error(losses[:, best]))
        return int(
            min(
                np.flatnonzero(near & self.order.no_less_simple(best)),
                key=lambda s: (self.order.steps[s], curve[s], s),
            )
        )

    def refuse(self, plan: Plan) -> None:
        for j in range(plan.n_parts if plan.inner_layouts is not None else 0):
            layout = plan.inner_layouts[j]  # type: ignore[index]
            if len(layout) < 2:
                raise InfeasibleError(
                    "select='one_se' needs at least two inner folds, for one dev set has no standard error; use inner=5, or "
                    "select='min'."
                )
            if not are_apart(layout):
                raise InfeasibleError(
                    "select='one_se' is void where inner test parts overlap, as in repeated or resampled CV: the standard "
                    "error shrinks with every repeat while the data stay the same; use inner=5, or select='min'."
                )


@dataclass(frozen=True)
class Own:
    """A function of the user's: of the curve, and of the fold losses and the settings too where it requires them."""

    function: Callable[..., Any]
    settings: list[dict[str, Any]]
    takes_first = False

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def words(self) -> str:
        return f" and the rule {self.name}"

    def choose(self, losses: np.ndarray) -> int | None:
        curve = losses.mean(axis=0)
        if np.isnan(curve).all():
            return None
        given = (curve.copy(), losses.T.copy(), copy.deepcopy(self.settings))
        with ONE_AT_A_TIME:
            chosen = self.function(*given[: _n_required(self.function)])
        whole = isinstance(chosen, int | np.integer) and not isinstance(
            chosen, bool | np.bool_
        )
        if not whole or not 0 <= chosen < curve.size:
            raise InputError(
                f"select={self.name} gave {chosen!r}; it must return the number of a setting, 0 to {curve.size - 1}."
            )
        if np.isnan(curve[chosen]):
            failed = format_setting(self.settings[chosen])
            raise InputError(
                f"select={self.name} chose setting {chosen} ({failed}), which failed; its loss is NaN."
            )
        return int(chosen)

    def refuse(self, plan: Plan) -> None:
        """Nobody can tell what it suits."""


def rule_of(select: Any, family: Family, kinds: list[Kind], loss: Loss) -> Rule:
    """The rule that select= stands for, bound to this family and loss."""
    if isinstance(select, str) and select == "min":
        return Minimum(loss.zero_one)
    if isinstance(select, OneSE) or (isinstance(select, str) and select == "one_se"):
        simplest = select.simplest if isinstance(select, OneSE) else {}
        return OneStandardError(
            order_of(family, kinds, simplest), loss.zero_one, simplest
        )
    if callable(select) and not isinstance(select, type):
        _n_required(select)
        return Own(select, family.settings)
    raise InputError(
        f"select={select!r} is not known; use 'min', 'one_se', OneSE({{...}}) or a function of the inner curve."
    )


def _n_required(function: Callable[..., Any]) -> int:
    """How many of (curve, losses[setting, fold], settings) a function asks for: what it requires; *args asks for all."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    places = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    required = sum(p.default is p.empty for p in places)
    star = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    by_name = [
        p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty
    ]
    if required > 3 or by_name or not (places or star):
        name = getattr(function, "__name__", type(function).__name__)
        raise WrongTypeError(
            f"select={name} must be a function of (curve), (curve, losses) or (curve, losses, settings)."
        )
    return 3 if star else max(1, required)


def _listed(direction: Any) -> Any:
    return list(direction) if isinstance(direction, Iterable) else direction
