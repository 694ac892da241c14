"""NestMap: which row is where, outer split by outer split, and what one row does in all of them."""

from __future__ import annotations

import traitlets as t

from ..errors import InputError, WrongTypeError
from ..pictures.split_map import nest_of, opened
from ..pictures.svg import draw_nest
from ..results.estimate import RiskEstimate
from ..splits.layouts import Splits
from ..splits.plan import Plan
from ..views.display import html_list
from ..wording import count, some
from .form import number
from .static_copy import Snapshot
from .view import View, panel, wide

ALL = "outer splits"


class NestMap(View):
    """The splits of a plan.

    show   "outer splits", or "inside split 0", ...: what is drawn
    row    a row of the data: what it does in every split is said below

    >>> from cvnb import Recipe
    >>> nest = NestMap(Recipe(outer=3, inner=2).plan([[float(i)] for i in range(12)], [i / 12 for i in range(12)]))
    >>> nest.row = 4
    >>> nest
    NestMap(3-fold CV, inside each training part 2-fold CV)
    >>> nest.does
    ['is in the test part of outer split 0', 'is trained on in 2 outer splits']
    >>> nest.wait(60), "Row 4" in nest.snapshot().html
    (True, True)
    >>> nest.close()
    """

    show = t.Unicode(ALL)
    row = t.Int(0)

    def __init__(self, plan: Plan | RiskEstimate) -> None:
        if not isinstance(plan, Plan | RiskEstimate):
            raise WrongTypeError(
                f"NestMap shows a Plan or a result, got {type(plan).__name__}; recipe.plan(X, y) gives one."
            )
        self.plan = plan if isinstance(plan, Plan) else plan.plan
        self._map, self._words = panel("nest"), panel("words")
        views = [ALL]
        if self.plan.inner_layouts is not None:
            views += [f"inside split {j}" for j in range(self.plan.n_parts)]
        fields = [
            {"name": "show", "label": "Show", "kind": "choice"},
            number("row", "Row", 0, self.plan.n_rows - 1, strict=True),
        ]
        super().__init__(
            fields, {"show": [[view, view] for view in views]}, [self._map, self._words]
        )

    def _show(self) -> None:
        if not 0 <= self.row < self.plan.n_rows:
            raise InputError(
                f"row={self.row} is no row; they are numbered 0 to {self.plan.n_rows - 1}."
            )
        self._map.value = wide(
            draw_nest(
                nest_of(self.plan)
                if self.show == ALL
                else opened(self.plan, self._split, 8)
            ).img
        )
        self._words.value = f"<b>Row {self.row}</b>{html_list(self.does)}"

    @property
    def _split(self) -> int:
        word, _, j = self.show.rpartition(" ")
        if (
            word != "inside split"
            or not j.isdigit()
            or not 0 <= int(j) < self.plan.n_parts
            or self.plan.inner_layouts is None
        ):
            raise InputError(
                f"show={self.show!r} is no view of this plan; use {ALL!r} or 'inside split 0'."
            )
        return int(j)

    @property
    def does(self) -> list[str]:
        """Sentences on what the row does."""
        if self.show == ALL:
            nothing = ["stands in S, and nothing is measured outside it"]
            return (
                _said("outer split", self.plan.outer, self.row)
                if len(self.plan.outer)
                else nothing
            )
        train, test = self.plan.part(self._split)
        outside = f"outer split {self._split}"
        if self.row in test:
            return [f"stands in the test part of {outside}: no inner split touches it"]
        if self.row not in train:
            return [f"is not used in {outside}"]
        return [
            f"is trained on in {outside}",
            *_said("inner split", self.plan.inner[self._split], self.row),
        ]

    def snapshot(self) -> Snapshot:
        """A static copy: the map, and what the row does."""
        return Snapshot(
            repr(self.plan), f"{self._map.value}<div>{self._words.value}</div>"
        )

    def __repr__(self) -> str:
        return f"NestMap({self.plan.words})"


def _said(what: str, splits: Splits, row: int) -> list[str]:
    """In how many splits a row is trained on, tested, neither."""
    tested = [j for j, (_, test) in enumerate(splits) if row in test]
    trained = sum(row in train for train, _ in splits)
    neither = len(splits) - trained - len(tested)
    where = some(list(map(str, tested)))
    said = [
        f"is in the test part of {what} {where}"
        if tested
        else f"is in the test part of no {what}"
    ]
    said.append(f"is trained on in {count(trained, what)}")
    return [*said, f"is in neither part of {count(neither, what)}"] if neither else said
