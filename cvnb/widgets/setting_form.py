"""The rows of settings of the chosen family: what is offered, shown and entered."""

from __future__ import annotations

import inspect
from typing import Any

from ..data.table import Data
from ..errors import FamilyError
from ..families.registry import short_hands
from ..jupyter.namespace import at_hand
from .code_writer import CodeWriter, name_of
from .setting_rows import (
    KINDS,
    Parameter,
    Row,
    as_kind,
    parameters_of,
    parameters_of_call,
    rows_of,
    text_of,
)

MOST_ROWS = 50


class SettingForm:
    """Rows that are another form of the grid's text.

    What is entered stays on screen as it is, until the text changes in another way.
    """

    def __init__(self, writer: CodeWriter, data: Data) -> None:
        self._writer, self._data = writer, data
        self._entered: tuple[str, str, list[Row]] | None = None
        self._known: tuple[Any, dict[str, Parameter]] = (None, {})

    def rows(self, listed: str, grid: str) -> list[Row] | None:
        """Return the rows of a grid; None if it cannot be shown as rows."""
        if self._entered is not None and self._entered[:2] == (listed, grid):
            return self._entered[2]
        return rows_of(grid, listed in short_hands())

    def choices(self, listed: str, grid: str) -> list[list[str]]:
        """Return [value, label] of what a row can be for; the first is for nothing."""
        labels = {name: one.label for name, one in self._parameters(listed).items()}
        for row in self.rows(listed, grid) or ():
            labels.setdefault(row.parameter, Parameter(row.parameter).label)
        is_call = listed in short_hands()
        nothing = "the default values" if is_call else "none: as it is"
        return [["", nothing], *map(list, labels.items())]

    def enter(self, entered: Any, listed: str, grid: str) -> str:
        """Return the text of the grid for the rows that the browser sends."""
        before = {row.parameter: row for row in self.rows(listed, grid) or ()}
        offered = self._parameters(listed)
        rows = [_checked(one, before, offered) for one in _listed(entered)]
        if len({row.parameter for row in rows}) < len(rows):
            raise FamilyError("two rows are for one setting; remove one of them.")
        self._entered = listed, grid, rows
        words = {
            name: set(one.options) - self._writer.namespace.keys()
            for name, one in offered.items()
        }
        text = text_of(rows, listed in short_hands(), words)
        self._entered = listed, text, rows
        return text

    def _parameters(self, listed: str) -> dict[str, Parameter]:
        is_call = listed in short_hands()
        value = None
        if not is_call:
            value = self._writer.namespace.get(name_of(listed))
        key = listed, id(value)
        if self._known[0] != key:
            found = self._of_call(listed) if is_call else self._of_estimator(value)
            self._known = key, {one.name: one for one in found}
        return self._known[1]

    def _of_estimator(self, estimator: Any) -> list[Parameter]:
        try:
            return parameters_of(estimator)
        except Exception:  # no estimator, or one whose get_params fails
            return []

    def _of_call(self, name: str) -> list[Parameter]:
        make = at_hand()[name]
        signature = inspect.signature(make).parameters.values()
        defaults = {
            one.name: one.default
            for one in signature
            if one.default is not one.empty and one.kind is not one.VAR_KEYWORD
        }
        try:
            grid = make().resolved(self._data.task, self._data.n_rows).grid
        except Exception:  # a function of another package that needs arguments
            grid = {}
        return parameters_of_call(defaults, grid if isinstance(grid, dict) else {})


def _listed(entered: Any) -> list[Any]:
    """Return what was entered if it has the form of rows: [name, kind, texts]."""
    is_list = isinstance(entered, list) and len(entered) <= MOST_ROWS
    if is_list and all(map(_is_row, entered)):
        rows: list[Any] = entered
        return rows
    raise FamilyError(
        "settings are rows of a name, a kind and texts; choose them again."
    )


def _is_row(one: Any) -> bool:
    if not isinstance(one, list) or len(one) != 3:
        return False
    name, kind, texts = one
    are_texts = isinstance(texts, list) and all(isinstance(x, str) for x in texts)
    return isinstance(name, str) and isinstance(kind, str) and are_texts


def _checked(
    one: list[Any], before: dict[str, Row], offered: dict[str, Parameter]
) -> Row:
    """Return a row with everything filled in; only offered names and kinds are taken."""
    name, kind, texts = one
    if name not in offered and name not in before:
        raise FamilyError(
            f"settings has no {name[:40]!r} in its list; choose one of them."
        )
    parameter = offered.get(name, Parameter(name))
    if not kind:
        return parameter.proposal()
    if kind not in KINDS or (kind == "value" and parameter.is_axis and name in offered):
        raise FamilyError(
            f"settings has no kind {kind[:40]!r}; choose one of its list."
        )
    if not texts and name in before:
        return as_kind(before[name], kind, parameter)
    if len(texts) != len(KINDS[kind][1]):
        return parameter.proposal()
    return Row(name, kind, tuple(texts))
