"""How many training rows each setting needs: k neighbours need k rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from .family import Family
from .labels import PASS
from .registry import recognised
from .setting_groups import SettingGroup, is_plain_number


class RowNeed(NamedTuple):
    """Setting s needs `value` training rows, the value of its parameter `name`."""

    s: int
    name: str
    value: Any


def row_needs(family: Family, kinds: Sequence[SettingGroup]) -> Iterator[RowNeed]:
    """Yield what the records of the algorithms say that settings need.

    kinds: the settings of the family in groups, see `SettingGroup`
    """
    for kind in kinds:
        last, prefix = steps_of(kind.candidate)[-1], _last_prefix(kind.candidate)
        algorithm = recognised(type(last))
        for parameter in () if algorithm is None else algorithm.needs_rows:
            for s, numbers in zip(kind.which, kind.numbers, strict=True):
                value = numbers.get(f"{prefix}{parameter}", getattr(last, parameter))
                if is_plain_number(value):
                    yield RowNeed(int(s), _own_name(family, int(s), parameter), value)


def steps_of(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline, with those of pipelines inside it."""
    if not isinstance(estimator, Pipeline):
        return [estimator]
    steps = [step for _, step in estimator.steps if step not in PASS]
    return [inner for step in steps for inner in steps_of(step)]


def _own_name(family: Family, s: int, parameter: str) -> str:
    """Return the key of the setting that sets this parameter; the parameter without one."""
    keys = family.settings[s]
    own = [key for key in keys if family.aliases.get(key, key).endswith(parameter)]
    return own[0] if own else parameter


def _last_prefix(estimator: Any) -> str:
    """Return the prefix of the last step's parameters, such as "outer__inner__"."""
    if not isinstance(estimator, Pipeline):
        return ""
    name, last = [pair for pair in estimator.steps if pair[1] not in PASS][-1]
    return f"{name}__{_last_prefix(last)}"
