"""Plan: every outer and inner split with its row numbers, stored and re-checkable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.table import Data
from ..data.times import Times
from ..errors import RecipeError
from ..wording import count
from . import layouts
from .durations import Buffer
from .layouts import Layout, OnDemand, Pairs, Splits, summary
from .splitters import Pair
from .timing import Timing

FORMAT = "cvnb plan 1"
IN_TIME = "cvnb plan 2"  # with times or forward splits


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Every split of one recipe on one data set, drawn once from one seed.

    outer      (train, test) row numbers of each outer split; empty without an outer level
    inner[j]   (train, test) row numbers of the splits inside outer training part j,
               or inside all of S without an outer level
    notes      cautions, such as a class too small for every fold

    Its fields, which Recipe.plan fills:

    n_rows          number of rows
    outer_layout    how the outer splits are stored; None without an outer level
    inner_layouts   the same for the inner splits of each outer training part, or of S;
                    None if nothing is chosen
    buffer          as in Recipe
    recipe          text of the recipe
    outer_words     description of the outer splits, such as "5-fold CV"
    inner_words     description of the inner splits
    group_codes     group of every row, as an integer; None without groups
    outer_drawn     False: the outer splits are a list or a splitter given by the user
    data            the checked rows; None in a plan read from JSON
    task            "classification" or "regression"; "" in a plan read from JSON
    times           time of every row; None: the order of the rows
    forward         every training row must be older than every test row

    >>> from cvnb import Recipe
    >>> plan = Recipe(outer=3, inner=2).plan(np.arange(12.0).reshape(-1, 1), np.arange(12) / 12)
    >>> plan
    Plan of 12 rows: 3-fold CV, inside each training part 2-fold CV
      outer <3 splits: 8 training rows, 4 test rows>
      inner <2 splits: 4 training rows, 4 test rows> in each of 3 outer training parts
    >>> plan.audit()
    no finding in 9 splits
    >>> plan.outer[0]  # or plan.part(0), which is all of S without an outer level
    (array([0, 1, 2, 3, 5, 7, 8, 9]), array([ 4,  6, 10, 11]))
    >>> plan.inner[0][1]
    (array([1, 2, 8, 9]), array([0, 3, 5, 7]))
    >>> plan.words, plan.n_parts, plan.n_inner, plan.nbytes
    ('3-fold CV, inside each training part 2-fold CV', 3, 6, 20)
    >>> Plan.from_json(plan.to_json()) == plan, plan.timing is None
    (True, True)
    """

    n_rows: int
    outer_layout: Layout | None
    inner_layouts: tuple[Layout, ...] | None
    buffer: Buffer = 0
    recipe: str = ""
    outer_words: str = ""
    inner_words: str = ""
    notes: tuple[str, ...] = ()
    group_codes: np.ndarray | None = None
    outer_drawn: bool = True
    data: Data | None = None
    task: str = ""
    times: Times | None = None
    forward: bool = False

    @property
    def outer(self) -> Splits:
        """The (train, test) row numbers of every outer split; empty without an outer level."""
        if self.outer_layout is None:
            return Splits(Pairs([], self.n_rows))
        return Splits(self.outer_layout)

    @property
    def inner(self) -> Sequence[Splits]:
        """The splits inside each outer training part, in row numbers of the whole data."""
        return _Inner(self)

    @property
    def n_parts(self) -> int:
        """The number of parts in which a setting is chosen: outer splits, or 1 for all of S."""
        return 1 if self.outer_layout is None else len(self.outer_layout) or 1

    @property
    def n_inner(self) -> int:
        """The number of inner splits in all training parts together."""
        return sum(map(len, self.inner_layouts or ()))

    @property
    def in_time(self) -> bool:
        """Whether the recipe splits rows in the order of time."""
        marks = ("time_ordered=", "TimeSeriesSplit(", "TimeBlocks(")
        return any(mark in self.recipe for mark in marks)

    @property
    def nbytes(self) -> int:
        """Memory of all splits in bytes."""
        outer = [] if self.outer_layout is None else [self.outer_layout]
        return sum(layout.nbytes for layout in [*outer, *self.inner_kept])

    @property
    def inner_kept(self) -> list[Layout]:
        """The distinct inner layouts; several training parts may share one."""
        distinct = {id(layout): layout for layout in self.inner_layouts or ()}
        return list(distinct.values())

    def part(self, j: int) -> Pair:
        """Return (train, test) of outer split j; without an outer level (all of S, no rows)."""
        if self.outer_layout is None:
            return np.arange(self.n_rows), np.arange(0)
        return self.outer[j]

    @cached_property
    def row_codes(self) -> np.ndarray:
        """One integer per row, shared by repeated rows."""
        if self.data is None:
            return np.arange(self.n_rows, dtype=np.int32)
        return self.data.row_codes

    @cached_property
    def timing(self) -> Timing | None:
        """What each test part bars from training; None where time plays no part."""
        if self.times is None and not self.forward and not self.buffer:
            return None
        return Timing.of(self.n_rows, self.times, self.buffer, self.forward)

    def audit(self) -> Audit:
        """Check every split again.

        Parts must be disjoint, groups uncut, the buffer kept and repeated rows on one side.
        With times no training row has the time of a test row; forward it is older than all.
        """
        findings: list[str] = []
        for name, splits in self.levels():
            findings += self._findings(name, splits)
        return Audit(len(self.outer) + self.n_inner, tuple(findings))

    def to_json(self) -> str:
        """Return a record from which `from_json` makes the same splits on another machine."""
        index = {id(layout): i for i, layout in enumerate(self.inner_kept)}
        inner = outer = groups = None
        if self.outer_layout is not None:
            outer = self.outer_layout.to_dict()
        if self.inner_layouts is not None:
            inner = [index[id(layout)] for layout in self.inner_layouts]
        if self.group_codes is not None:
            groups = layouts.pack(self.group_codes)
        record: dict[str, Any] = {
            "format": FORMAT,
            "recipe": self.recipe,
            "outer_words": self.outer_words,
            "inner_words": self.inner_words,
            "n_rows": self.n_rows,
            "buffer": self.buffer,
            "outer": outer,
            "inner": inner,
            "inner_layouts": [layout.to_dict() for layout in self.inner_kept],
            "groups": groups,
            "rows": layouts.pack(self.row_codes),
            "notes": list(self.notes),
        }
        if self.forward or self.times is not None:
            record |= {"format": IN_TIME, "forward": self.forward, "times": None}
        if self.times is not None:
            values, unit = layouts.pack(self.times.values), self.times.unit
            record["times"] = {"values": values, "unit": unit}
        return json.dumps(record, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Return the plan that `to_json` wrote."""
        try:
            record = json.loads(text)
            if record["format"] not in (FORMAT, IN_TIME):
                raise KeyError(record["format"])
            return cls._from_record(record)
        except (KeyError, TypeError, ValueError) as error:
            raise RecipeError(
                f"this text is no plan written by Plan.to_json(): {error!r}"
            ) from None

    @classmethod
    def _from_record(cls, record: dict[str, Any]) -> Plan:
        outer, inner, groups = record["outer"], record["inner"], record["groups"]
        distinct = [layouts.from_dict(layout) for layout in record["inner_layouts"]]
        times = record.get("times")
        plan = cls(
            n_rows=record["n_rows"],
            outer_layout=None if outer is None else layouts.from_dict(outer),
            inner_layouts=None if inner is None else tuple(distinct[i] for i in inner),
            buffer=record["buffer"],
            recipe=record["recipe"],
            outer_words=record["outer_words"],
            inner_words=record["inner_words"],
            notes=tuple(record["notes"]),
            group_codes=None if groups is None else layouts.unpack(groups),
            times=times and Times(layouts.unpack(times["values"]), times["unit"]),
            forward=record.get("forward", False),
        )
        plan.__dict__["row_codes"] = layouts.unpack(record["rows"])
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
        lines, each = [f"Plan of {count(self.n_rows, 'row')}: {self.words}"], ""
        if self.outer_layout is not None:
            lines.append(f"  outer {self.outer!r}")
            each = " in the outer training part"
            if self.n_parts > 1:
                each = f" in each of {self.n_parts} outer training parts"
        if self.inner_layouts is not None:
            sizes = np.concatenate([layout.sizes() for layout in self.inner_kept])
            lines.append(f"  inner {summary(len(self.inner[0]), sizes)}{each}")
        return "\n".join([*lines, *(f"  - {note}" for note in self.notes)])

    @property
    def words(self) -> str:
        """The two levels in words: "5-fold CV, inside each training part 3-fold CV"."""
        part = "each training part" if len(self.outer) > 1 else "the training part"
        levels = filter(None, (self.outer_words, self.inner_words))
        return f", inside {part} ".join(levels)

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        from ..views.inputs import plan_bundle

        return plan_bundle(self)

    def levels(self) -> Iterator[tuple[str, Splits]]:
        """Yield (name with a {k}, splits): the outer splits, then the inner ones of every part."""
        if self.outer_layout is not None:
            yield "outer split {k}", self.outer
        if self.inner_layouts is None:
            return
        for j, splits in enumerate(self.inner):
            inside = "" if self.outer_layout is None else f" of outer split {j}"
            yield f"inner split {{k}}{inside}", splits

    def _findings(self, name: str, splits: Splits) -> Iterator[str]:
        if misfit := splits.misfit:
            which = "outside" if misfit > 0 else "left out of"
            yield f"{name.format(k=0)}: {count(abs(misfit), 'row')} {which} its training part"
            return
        checks = [(np.arange(self.n_rows), "row", "")]
        if np.bincount(self.row_codes).max() > 1:
            checks.append((self.row_codes, "repeated row", ""))
        if self.group_codes is not None:
            checks.append((self.group_codes, "row", " of cut groups"))
        for codes, noun, whose in checks:
            n_rows = splits.layout.straddling(splits.codes(codes))
            for k in np.flatnonzero(n_rows):
                yield f"{name.format(k=k)}: {count(n_rows[k], noun)}{whose} on both sides"
        if self.timing is not None:
            for i, (train, test) in enumerate(splits):
                for words in self.timing.findings(train, test):
                    yield f"{name.format(k=i)}: {words}"


@dataclass(frozen=True, repr=False)
class Audit:
    """The findings of a second check of every split."""

    n_splits: int
    findings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no finding."""
        return not self.findings

    def __repr__(self) -> str:
        n_bad = len({finding.split(":")[0] for finding in self.findings})
        found = f"findings in {n_bad} of" if n_bad else "no finding in"
        lines = [f"  - {finding}" for finding in self.findings]
        return "\n".join([f"{found} {self.n_splits} splits", *lines])


class _Inner(OnDemand[Splits]):
    """The sequence Plan.inner, whose items are made on demand from the layouts."""

    noun = "outer split"

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __len__(self) -> int:
        return self._plan.n_parts

    def item(self, j: int) -> Splits:
        plan = self._plan
        if plan.inner_layouts is None:
            return Splits(Pairs([], plan.n_rows))
        return Splits(plan.inner_layouts[j], plan.outer_layout, j)

    def __repr__(self) -> str:
        if len(self) < 4:
            return f"[{', '.join(map(repr, self))}]"
        return f"<inner splits of {len(self)} outer splits>"
