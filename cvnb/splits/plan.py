"""Plan: every outer and inner split with its row numbers, kept as data and re-checkable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.table import Data
from ..errors import RecipeError
from ..wording import count
from . import layouts
from .layouts import Layout, Pairs, Splits, summary
from .splitters import Pair, within

FORMAT = "cvnb plan 1"


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Every split of one recipe on one data set, drawn once from one seed.

    outer      list of (train, test) row numbers; empty where nothing is measured outside
    inner[j]   the splits inside outer training part j (inside all of S where outer is empty), in row numbers of the whole data

    >>> from cvnb import Recipe
    >>> plan = Recipe(outer=3, inner=2).plan(np.arange(12.0).reshape(-1, 1), np.arange(12) / 12)
    >>> plan
    Plan of 12 rows: 3-fold CV, inside each training part 2-fold CV
      outer <3 splits: 8 training rows, 4 test rows>
      inner <2 splits: 4 training rows, 4 test rows> in each of 3 outer training parts
    >>> plan.audit()
    no finding in 9 splits
    >>> plan.outer[0]  # or plan.part(0), which is all of S where there is no outer split
    (array([0, 1, 2, 3, 5, 7, 8, 9]), array([ 4,  6, 10, 11]))
    >>> plan.inner[0][1]
    (array([1, 2, 8, 9]), array([0, 3, 5, 7]))
    >>> plan.words, plan.n_parts, plan.n_inner, plan.nbytes
    ('3-fold CV, inside each training part 2-fold CV', 3, 6, 20)
    >>> Plan.from_json(plan.to_json()) == plan
    True
    """

    n_rows: int
    outer_layout: Layout | None
    inner_layouts: tuple[Layout, ...] | None
    buffer: int = 0
    recipe: str = ""
    outer_words: str = ""
    inner_words: str = ""
    notes: tuple[str, ...] = ()
    group_codes: np.ndarray | None = None
    outer_drawn: bool = True
    data: Data | None = None
    task: str = ""

    @property
    def outer(self) -> Splits:
        """(train, test) row numbers of every outer split; empty where nothing is measured outside."""
        return Splits(
            Pairs([], self.n_rows) if self.outer_layout is None else self.outer_layout
        )

    @property
    def inner(self) -> Sequence[Splits]:
        """The splits inside each outer training part, in row numbers of the whole data."""
        return _Inner(self)

    @property
    def n_parts(self) -> int:
        """Number of training parts inside which a setting is chosen: outer splits, or 1 where there are none."""
        return 1 if self.outer_layout is None else len(self.outer_layout) or 1

    @property
    def n_inner(self) -> int:
        """Number of inner splits, all together."""
        return (
            0
            if self.inner_layouts is None
            else sum(len(layout) for layout in self.inner_layouts)
        )

    @property
    def in_time(self) -> bool:
        """Whether the recipe says that rows stand in the order of time."""
        return any(
            words in self.recipe
            for words in ("time_ordered=True", "TimeSeriesSplit(", "TimeBlocks(")
        )

    @property
    def nbytes(self) -> int:
        """Memory of all the splits."""
        outer = [] if self.outer_layout is None else [self.outer_layout]
        return sum(layout.nbytes for layout in [*outer, *self.inner_kept])

    @property
    def inner_kept(self) -> list[Layout]:
        """The inner layouts, one that several parts share only once."""
        return list(
            {id(layout): layout for layout in self.inner_layouts or ()}.values()
        )

    def part(self, j: int) -> Pair:
        """(train, test) of outer split j; all of S and nothing where there is no outer split."""
        if self.outer_layout is None:
            return np.arange(self.n_rows), np.arange(0)
        return self.outer[j]

    @cached_property
    def row_codes(self) -> np.ndarray:
        """One integer per row, shared by repeated rows."""
        return (
            np.arange(self.n_rows, dtype=np.int32)
            if self.data is None
            else self.data.row_codes
        )

    def audit(self) -> Audit:
        """Every split checked again: disjoint, groups apart, buffer kept, repeated rows on one side."""
        found: list[str] = []
        for where, splits in self.levels():
            found += self._findings(where, splits)
        return Audit(len(self.outer) + self.n_inner, tuple(found))

    def to_json(self) -> str:
        """A record from which `from_json` makes the same splits on another machine."""
        number = {id(layout): i for i, layout in enumerate(self.inner_kept)}
        inner = (
            None
            if self.inner_layouts is None
            else [number[id(layout)] for layout in self.inner_layouts]
        )
        record = {
            "format": FORMAT,
            "recipe": self.recipe,
            "outer_words": self.outer_words,
            "inner_words": self.inner_words,
            "n_rows": self.n_rows,
            "buffer": self.buffer,
            "outer": None if self.outer_layout is None else self.outer_layout.to_dict(),
            "inner": inner,
            "inner_layouts": [layout.to_dict() for layout in self.inner_kept],
            "groups": None
            if self.group_codes is None
            else layouts.pack(self.group_codes),
            "rows": layouts.pack(self.row_codes),
            "notes": list(self.notes),
        }
        return json.dumps(record, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """The plan that `to_json` wrote."""
        try:
            record = json.loads(text)
            if record["format"] != FORMAT:
                raise KeyError(record["format"])
            shared = [layouts.from_dict(layout) for layout in record["inner_layouts"]]
            plan = cls(
                n_rows=record["n_rows"],
                outer_layout=None
                if record["outer"] is None
                else layouts.from_dict(record["outer"]),
                inner_layouts=None
                if record["inner"] is None
                else tuple(shared[i] for i in record["inner"]),
                buffer=record["buffer"],
                recipe=record["recipe"],
                outer_words=record["outer_words"],
                inner_words=record["inner_words"],
                notes=tuple(record["notes"]),
                group_codes=None
                if record["groups"] is None
                else layouts.unpack(record["groups"]),
            )
            plan.__dict__["row_codes"] = layouts.unpack(record["rows"])
        except (KeyError, TypeError, ValueError) as error:
            raise RecipeError(
                f"this text is no plan written by Plan.to_json(): {error!r}"
            ) from None
        return plan

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        return (
            self.n_rows == other.n_rows
            and self.outer == other.outer
            and list(self.inner) == list(other.inner)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [f"Plan of {count(self.n_rows, 'row')}: {self.words}"]
        if self.outer_layout is not None:
            lines.append(f"  outer {self.outer!r}")
        if self.inner_layouts is not None:
            each = "" if self.outer_layout is None else f" in {self._each_part()}"
            sizes = np.concatenate([layout.sizes() for layout in self.inner_kept])
            lines.append(f"  inner {summary(len(self.inner[0]), sizes)}{each}")
        return "\n".join([*lines, *(f"  - {note}" for note in self.notes)])

    @property
    def words(self) -> str:
        """The two levels in words: "5-fold CV, inside each training part 3-fold CV"."""
        part = "each training part" if len(self.outer) > 1 else "the training part"
        return f", inside {part} ".join(
            words for words in (self.outer_words, self.inner_words) if words
        )

    def _each_part(self) -> str:
        return (
            "the outer training part"
            if self.n_parts == 1
            else f"each of {self.n_parts} outer training parts"
        )

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        from ..views.display import plan_bundle

        return plan_bundle(self)

    def levels(self) -> Iterator[tuple[str, Splits]]:
        """(name with a place for k, splits): the outer splits, then the inner ones of every part."""
        yield "outer split {k}", self.outer
        for j, splits in enumerate(
            self.inner if self.inner_layouts is not None else ()
        ):
            inside = "" if self.outer_layout is None else f" of outer split {j}"
            yield f"inner split {{k}}{inside}", splits

    def _findings(self, where: str, splits: Splits) -> Iterator[str]:
        if not len(splits):
            return
        if misfit := splits.misfit:
            which = "outside" if misfit > 0 else "left out of"
            yield f"{where.format(k=0)}: {count(abs(misfit), 'row')} {which} its training part"
            return
        checks = [
            (np.arange(self.n_rows), "row", ""),
            (_repeated(self.row_codes), "repeated row", ""),
        ]
        if self.group_codes is not None:
            checks.append((self.group_codes, "row", " of cut groups"))
        for codes, noun, whose in checks:
            met = (
                splits.layout.straddling(splits.codes(codes))
                if codes is not None
                else np.zeros(0, dtype=int)
            )
            for at in np.flatnonzero(met):
                yield f"{where.format(k=at)}: {count(met[at], noun)}{whose} on both sides"
        for k, (train, test) in enumerate(splits) if self.buffer else ():
            near = int(np.count_nonzero(within(test, self.n_rows, self.buffer)[train]))
            if near:
                yield f"{where.format(k=k)}: {count(near, 'training row')} within the buffer of {count(self.buffer, 'row')}"


@dataclass(frozen=True, repr=False)
class Audit:
    """What a second look at every split found."""

    n_splits: int
    findings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.findings

    def __repr__(self) -> str:
        bad = len({finding.split(":")[0] for finding in self.findings})
        what = f"findings in {bad} of" if bad else "no finding in"
        return "\n".join(
            [
                f"{what} {self.n_splits} splits",
                *(f"  - {finding}" for finding in self.findings),
            ]
        )


class _Inner(Sequence[Splits]):
    """inner[j] made on demand: nothing is kept per split but its layout."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __len__(self) -> int:
        return self._plan.n_parts

    def __getitem__(self, j: Any) -> Any:
        if isinstance(j, slice):
            return [self[i] for i in range(*j.indices(len(self)))]
        if not -len(self) <= j < len(self):
            raise IndexError(f"outer split {j} of {len(self)}")
        j, plan = int(j) % len(self), self._plan
        if plan.inner_layouts is None:
            return Splits(Pairs([], plan.n_rows))
        return Splits(plan.inner_layouts[j], plan.outer_layout, j)

    def __repr__(self) -> str:
        return (
            f"[{', '.join(map(repr, self))}]"
            if len(self) < 4
            else f"<inner splits of {len(self)} outer splits>"
        )


def _repeated(codes: np.ndarray) -> np.ndarray | None:
    """The codes where some row is repeated, None otherwise; rows that are not repeated keep codes of their own."""
    return None if np.bincount(codes).max() < 2 else codes
