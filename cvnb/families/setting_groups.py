"""Groups of settings that differ only in plain numbers, validated by scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import Interval, InvalidParameterError

from ..errors import FamilyError
from .labels import Setting, format_setting
from .registry import is_optional
from .softmax import SoftmaxWeights

if TYPE_CHECKING:
    from .family import Family

Ranges = dict[str, list[Interval]]
ANY = Interval(Real, None, None, closed="neither")
# A class that overrides one of these may look at a number before it is fitted.
INHERITED = (
    "get_params",
    "set_params",
    "_validate_params",
    "__sklearn_clone__",
    "__setattr__",
)


@dataclass(frozen=True, eq=False)
class SettingGroup:
    """Settings that differ only in plain numbers, with one unfitted, validated estimator.

    candidate   family.candidate(first of these settings)
    which       indices of these settings in family.settings
    numbers     for each setting its plain numbers, by the estimator's parameter names
    """

    candidate: Any
    which: np.ndarray
    numbers: tuple[dict[str, Any], ...]


@dataclass
class _OpenGroup:
    """A SettingGroup being collected.

    ranges   parameter -> intervals that its numbers must be in; None: no other setting may join
    """

    candidate: Any
    ranges: Ranges | None
    which: list[int] = field(default_factory=list)
    numbers: list[dict[str, Any]] = field(default_factory=list)

    def accepts(self, numbers: dict[str, Any]) -> bool:
        """Whether the candidate would be valid with these numbers too."""
        return self.ranges is not None and all(
            any(interval.is_satisfied_by(value) for interval in self.ranges[key])
            for key, value in numbers.items()
        )


def check_parameters(family: Family) -> list[SettingGroup]:
    """Validate every setting; return groups in the order of their first settings.

    Settings that differ in plain numbers share one clone, and their numbers are compared
    with scikit-learn's own intervals: a clone and a validation of each setting would take
    longer than many fits.
    """
    groups: list[_OpenGroup] = []
    by_key: dict[Any, _OpenGroup] = {}
    for s, setting in enumerate(family.settings):
        parameters = family.parameters(setting)
        numbers = {
            k: value for k, value in parameters.items() if is_plain_number(value)
        }
        key = group_key(parameters, numbers)
        group = by_key.get(key)
        if group is None or not group.accepts(numbers):
            candidate = _validated(family, setting)
            group = _OpenGroup(candidate, _ranges(candidate, numbers))
            by_key.setdefault(key, group)
            groups.append(group)
        group.which.append(s)
        group.numbers.append(numbers)
    return [
        SettingGroup(group.candidate, np.array(group.which), tuple(group.numbers))
        for group in groups
    ]


def is_plain_number(value: Any) -> bool:
    """Whether the value is a finite int or float; NaN means "missing" to some parameters."""
    if type(value) is int or isinstance(value, np.integer):
        return True
    is_float = type(value) is float or isinstance(value, np.floating)
    return is_float and math.isfinite(value)


def group_key(
    parameters: Mapping[str, Any], numbers: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Return a key that is equal for settings that differ only in these numbers."""
    others = [
        (name, _identity(value))
        for name, value in parameters.items()
        if name not in numbers
    ]
    return *numbers, tuple(others)


def _identity(value: Any) -> Any:
    """Equal for values that make the same estimator: strings by value, objects by id."""
    if isinstance(value, str | bool | np.bool_ | None):
        return type(value), value
    return id(value)


def _ranges(candidate: Any, numbers: dict[str, Any]) -> Ranges | None:
    """The intervals that scikit-learn allows these parameters, or None if they cannot vary.

    Only for steps of scikit-learn in plain pipelines: there a number changes neither what
    is valid nor the methods and tags of the estimator, while another package's class may
    use it in set_params or in a tag. The known classes of optional packages only store it.
    """
    ranges = {}
    for key in numbers:
        *steps, parameter = key.split("__")
        owner = candidate
        for name in steps:
            owner = _part(owner, name)
        if is_optional(type(owner)):
            ranges[key] = [ANY]
            continue
        if not _is_plain(owner):
            return None
        constraints = getattr(owner, "_parameter_constraints", {}).get(parameter, ())
        ranges[key] = [limit for limit in constraints if isinstance(limit, Interval)]
        if not ranges[key]:
            return None
    return ranges


def _part(owner: Any, name: str) -> Any:
    """Return a step of a plain pipeline, or the SoftmaxWeights of a step; None for any other."""
    if type(owner) is Pipeline:
        return dict(owner.steps).get(name)
    part = getattr(owner, name, None) if _is_plain(owner) else None
    return part if type(part) is SoftmaxWeights else None


def _is_plain(step: Any) -> bool:
    """Whether setting a parameter of this step only sets an attribute."""
    kind = type(step)
    is_known = kind is SoftmaxWeights or kind.__module__.startswith("sklearn.")
    if not is_known or not issubclass(kind, BaseEstimator):
        return False
    return all(
        getattr(kind, name) is getattr(BaseEstimator, name) for name in INHERITED
    )


def _validated(family: Family, setting: Setting) -> Any:
    """A clone with this setting; scikit-learn has validated each of its steps."""
    try:
        candidate = family.candidate(setting)
    except (TypeError, ValueError, AttributeError) as error:
        raise FamilyError(
            f"{family.label} cannot be set to {format_setting(setting)}: {error}"
        ) from None
    for part in [candidate, *candidate.get_params(deep=True).values()]:
        if isinstance(part, type) or not hasattr(part, "_parameter_constraints"):
            continue
        try:
            part._validate_params()
        except InvalidParameterError as error:
            raise FamilyError(
                f"{family.label} with {format_setting(setting) or 'no setting'}: {error}"
            ) from None
    return candidate
