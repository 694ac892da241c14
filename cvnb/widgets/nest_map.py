"""NestMap: the role of every row in every split, and of one row in words."""

from __future__ import annotations

import traitlets as t

from ..errors import InputError, WrongTypeError
from ..pictures.split_map import nest_of, opened
from ..pictures.svg import draw_nest
from ..results.estimate import RiskEstimate
from ..splits.layouts import Splits
from ..splits.plan import Plan
from ..views.markup import html_list
from ..wording import count, some
from .form import number
from .static_copy import Snapshot
from .view import View, panel, wide

ALL = "outer splits"


class NestMap(View):
    """The splits of a plan.

    show   what is drawn: "outer splits", or "inside split 0", ... (on the screen fold 1)
    row    a row of the data, whose roles in the splits are listed below the picture

    >>> from cvnb import Recipe
    >>> X, y = [[float(i)] for i in range(12)], [i / 12 for i in range(12)]
    >>> nest = NestMap(Recipe(outer=3, inner=2).plan(X, y))
    >>> nest.row = 4
    >>> nest
    NestMap(3-fold CV, inside each training part 2-fold CV)
    >>> nest.does
    ['is in test fold 1', 'is trained on in 2 folds']
    >>> nest.wait(60), "Row 4" in nest.snapshot().html
    (True, True)
    >>> nest.close()
    """

    show = t.Unicode(ALL)
    row = t.Int(0)

    def __init__(self, plan: Plan | RiskEstimate) -> None:
        if not isinstance(plan, Plan | RiskEstimate):
            raise WrongTypeError(
                f"NestMap shows a Plan or a result, got {type(plan).__name__}; "
                "recipe.plan(X, y) gives one."
            )
        self.plan = plan if isinstance(plan, Plan) else plan.plan
        self._map, self._words = panel("nest"), panel("words")
        views = [[ALL, "all folds"]]
        if self.plan.inner_layouts is not None:
            n = range(self.plan.n_parts)
            views += [[f"inside split {j}", f"inside fold {j + 1}"] for j in n]
        fields = [
            {"name": "show", "label": "Show", "kind": "choice"},
            number("row", "Row", 0, self.plan.n_rows - 1, strict=True),
        ]
        super().__init__(fields, {"show": views}, [self._map, self._words])

    def _show(self) -> None:
        if not 0 <= self.row < self.plan.n_rows:
            raise InputError(
                f"row={self.row} is no row; they are numbered 0 to {self.plan.n_rows - 1}."
            )
        all_splits = self.show == ALL
        nest = nest_of(self.plan) if all_splits else opened(self.plan, self._split, 8)
        self._map.value = wide(draw_nest(nest).img)
        self._words.value = f"<b>Row {self.row}</b>{html_list(self.does)}"

    @property
    def _split(self) -> int:
        word, _, j = self.show.rpartition(" ")
        known = word == "inside split" and j.isdigit() and int(j) < self.plan.n_parts
        if not known or self.plan.inner_layouts is None:
            raise InputError(
                f"show={self.show!r} is no view of this plan; use {ALL!r} or 'inside split 0'."
            )
        return int(j)

    @property
    def does(self) -> list[str]:
        """The roles of the row, in words."""
        if self.show == ALL:
            if not len(self.plan.outer):
                return ["is trained on; no rows are held out"]
            return _roles("fold", self.plan.outer, self.row)
        train, test = self.plan.part(self._split)
        fold = self._split + 1
        if self.row in test:
            return [f"is in test fold {fold}: no inner fold touches it"]
        if self.row not in train:
            return [f"is not used in fold {fold}"]
        roles = _roles("inner fold", self.plan.inner[self._split], self.row)
        return [f"is trained on in fold {fold}", *roles]

    def snapshot(self) -> Snapshot:
        """Return a static copy: the map and the roles of the row."""
        html = f"{self._map.value}<div>{self._words.value}</div>"
        return Snapshot(repr(self.plan), html)

    def __repr__(self) -> str:
        return f"NestMap({self.plan.words})"


def _roles(what: str, splits: Splits, row: int) -> list[str]:
    """In how many splits a row is tested, trained on, or in neither part."""
    tested = [str(j) for j, (_, test) in enumerate(splits, start=1) if row in test]
    n_trained = sum(row in train for train, _ in splits)
    n_neither = len(splits) - n_trained - len(tested)
    test = what.replace("fold", "test fold")
    where = f"{test} {some(tested)}" if tested else f"no {test}"
    roles = [
        f"is in {where}",
        f"is trained on in {count(n_trained, what)}",
    ]
    if n_neither:
        roles.append(f"is in neither part of {count(n_neither, what)}")
    return roles
