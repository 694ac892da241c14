"""What every row does in every split, as bars: the numbers that nest maps are drawn from.

Rows stand from left to right. Where their order means something (time, blocks) it is kept. Where rows were drawn at random they
are sorted: by outer test part, and inside one split by inner test part, so that shares can be seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..splits.layouts import NEVER, Pairs, Partition, are_apart
from ..splits.plan import Plan

TIMES = 24  # shades of the strip of time
STRIPES = 12  # inner test parts beyond this number are not told apart


@dataclass(frozen=True)
class Bar:
    """One split from the left to the right: from start to end, in places, a role; the row at place i is order[i].

    role is "test", "dev", "train", "buffer", "unused", or for a training row of an outer split the number of the inner test
    part that holds it. `inner` is the number of an inner split of outer split `split`.
    """

    split: int
    spans: tuple[tuple[int, int, str | int], ...]
    order: np.ndarray
    inner: int | None = None


@dataclass(frozen=True)
class Strip:
    """What the rows are: their class, their group, their time; the row at place i is order[i] and has the value codes[i]."""

    name: str
    order: np.ndarray
    codes: np.ndarray
    names: tuple[str, ...]  # of the codes

    def runs(self, most: int) -> list[tuple[int, int, float, str]]:
        """(start, end, shade from 0 to 1, name) of equal neighbours; where they are too many, of several together."""
        runs = _runs(self.codes)
        step = math.ceil(len(runs) / most)
        found = []
        for first, last in zip(
            runs[::step], [*runs[step - 1 : -1 : step], runs[-1]], strict=True
        ):
            codes = self.codes[first[0] : last[1]]
            found.append(
                (
                    first[0],
                    last[1],
                    float(self._shades[codes].mean()),
                    self._said(codes),
                )
            )
        return found

    def _said(self, codes: np.ndarray) -> str:
        """The names of these codes: a few by name, a range where all of it is there."""
        distinct = np.unique(codes)
        names = [self.names[code] for code in distinct[:3]]
        if distinct.size > 3:
            whole = distinct[-1] - distinct[0] + 1 == distinct.size
            return (
                f"{names[0]} to {self.names[distinct[-1]]}"
                if whole
                else f"{', '.join(names)} and {distinct.size - 3} more"
            )
        return " and ".join(names)

    @cached_property
    def _shades(self) -> np.ndarray:
        """[codes] how strongly each is coloured: from light to dark, and groups in turn."""
        codes = np.arange(len(self.names))
        return (
            np.where(codes % 2, 0.75, 0.35)
            if self.name == "group"
            else 0.2 + 0.8 * codes / max(1, codes.size - 1)
        )


@dataclass(frozen=True)
class Nest:
    """A bar for each of some splits, how many there are in all, and strips that say what the rows are."""

    bars: tuple[Bar, ...]
    n_splits: int
    n_rows: int
    n_inner: int  # inner test parts that are told apart; 0 where they are not
    in_order: bool
    strips: tuple[Strip, ...] = ()
    inside: bool = False  # whether the bars are the inner splits of one outer split

    @property
    def tests_outside(self) -> bool:
        """Whether some row is tested on outside."""
        return any(role == "test" for bar in self.bars for _, _, role in bar.spans)


def nest_of(plan: Plan, most: int = 8) -> Nest:
    """The bars of the first splits of a plan, and of the last where there are more than `most`."""
    n = max(1, len(plan.outer))
    shown = _some(n, most)
    labels = [_roles(plan, j) for j in shown]
    in_order = _are_in_order(plan, labels)
    bars = []
    for j, roles in zip(shown, labels, strict=True):
        order = np.arange(plan.n_rows) if in_order else _sorted(plan, roles)
        bars.append(
            Bar(
                j,
                tuple(_spans(roles[order], None if in_order else _blocks(plan))),
                order,
            )
        )
    return Nest(
        tuple(bars),
        n,
        plan.n_rows,
        _n_inner(plan),
        in_order,
        _strips(plan, in_order, _label(plan)),
    )


def opened(plan: Plan, j: int, most: int = 20) -> Nest:
    """Outer split j, and below it its inner splits: the first ones, and the last where there are more than `most`."""
    roles, inner = _roles(plan, j), plan.inner[j]
    in_order = _are_in_order(plan, [roles])
    order = (
        np.arange(plan.n_rows) if in_order else np.lexsort((_kinds(plan), _rank(roles)))
    )
    bars = [Bar(j, tuple(_spans(roles[order], None)), order)]
    for k in _some(len(inner), most):
        inside = np.where(roles == TEST, TEST, UNUSED)
        train, dev = inner[k]
        inside[dev], inside[train] = DEV, TRAIN
        if plan.buffer:
            inside[(inside == UNUSED) & ((roles >= TRAIN) | (roles == BUFFER))] = BUFFER
        own = (
            order
            if in_order or _n_inner(plan)
            else np.lexsort((_kinds(plan), _rank(inside)))
        )
        bars.append(Bar(j, tuple(_spans(inside[own], None)), own, k))
    return Nest(
        tuple(bars),
        len(inner),
        plan.n_rows,
        _n_inner(plan),
        in_order,
        _strips(plan, in_order, _rank(roles)),
        True,
    )


TEST, BUFFER, UNUSED, DEV, TRAIN = (
    -2,
    -3,
    -4,
    -5,
    -1,
)  # an inner test part has its number, 0, 1, ...
NAMES = {TEST: "test", BUFFER: "buffer", UNUSED: "unused", TRAIN: "train", DEV: "dev"}


def _some(n: int, most: int) -> list[int]:
    return list(range(n)) if n <= most else [*range(most - 1), n - 1]


def _n_inner(plan: Plan) -> int:
    if plan.inner_layouts is None:
        return 0
    layout = plan.inner_layouts[0]
    return len(layout) if len(layout) <= STRIPES and are_apart(layout) else 0


def _are_in_order(plan: Plan, labels: list[np.ndarray]) -> bool:
    runs = 3 * _n_inner(plan) + 6  # of contiguous parts with a buffer around each
    return all(np.count_nonzero(np.diff(roles)) <= runs for roles in labels)


def _roles(plan: Plan, j: int) -> np.ndarray:
    """[rows] the role of every row in outer split j."""
    roles = np.full(plan.n_rows, UNUSED)
    train, test = plan.part(j)
    roles[train] = TRAIN
    if plan.outer_layout is not None:
        roles[test] = TEST
        if plan.buffer:
            roles[roles == UNUSED] = BUFFER
    if _n_inner(plan):
        assert plan.inner_layouts is not None
        for k, (_, dev) in enumerate(plan.inner[j]):
            roles[dev] = k
    return roles


def _label(plan: Plan) -> np.ndarray:
    """[rows] the outer test part of every row, the last number for rows in none; 0 where the parts are no partition."""
    layout = plan.outer_layout
    if (
        not isinstance(layout, Partition)
        or isinstance(layout, Pairs)
        or len(layout) > STRIPES
    ):
        return np.zeros(plan.n_rows, dtype=np.int64)
    label = layout.label.astype(np.int64)
    return np.where(label == NEVER, len(layout), label)


def _blocks(plan: Plan) -> np.ndarray | None:
    """Where outer test parts end when rows are sorted by them; None where they are no partition."""
    label = _label(plan)
    return np.cumsum(np.bincount(label)) if label.any() else None


def _rank(roles: np.ndarray) -> np.ndarray:
    """What stands first where rows are sorted by role: training rows by inner test part, dev and test rows after them."""
    rank = np.select(
        [roles == DEV, roles == TEST, roles < TEST],
        [STRIPES, STRIPES + 1, STRIPES + 2],
        roles,
    )
    return rank.astype(np.int64)


def _sorted(plan: Plan, roles: np.ndarray) -> np.ndarray:
    """Rows by outer test part and role; by role alone where outer test parts overlap: first what is trained on."""
    key = 32 * _label(plan) + _rank(
        roles
    )  # small numbers, which are sorted by counting
    return np.argsort(key.astype(np.int16), kind="stable")


def _kinds(plan: Plan) -> np.ndarray:
    """[rows] one code for class and group together, to sort by inside a part."""
    kinds = np.zeros(plan.n_rows, dtype=np.int64)
    for _, codes, names in _facts(plan):
        kinds = kinds * len(names) + codes
    return kinds


def _facts(plan: Plan) -> list[tuple[str, np.ndarray, tuple[str, ...]]]:
    """(name, code of every row, names of the codes): the class where y has classes, the group where there are groups."""
    found: list[tuple[str, np.ndarray, tuple[str, ...]]] = []
    if plan.data is not None and plan.task == "classification":
        names, codes = plan.data.classes
        found.append(("class", codes, tuple(str(name) for name in names.tolist())))
    if plan.group_codes is not None:
        groups, codes = np.unique(plan.group_codes, return_inverse=True)
        found.append(("group", codes, tuple(f"no. {n}" for n in range(groups.size))))
    return found


def _strips(plan: Plan, in_order: bool, label: np.ndarray) -> tuple[Strip, ...]:
    order = np.arange(plan.n_rows) if in_order else np.lexsort((_kinds(plan), label))
    strips = [
        Strip(name, order, codes[order], names) for name, codes, names in _facts(plan)
    ]
    if in_order and plan.in_time:
        part = order * TIMES // plan.n_rows
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        strips.append(
            Strip(
                "time",
                order,
                np.searchsorted(starts, order, "right") - 1,
                tuple(f"from row {a}" for a in starts),
            )
        )
    return tuple(strips)


def _spans(
    roles: np.ndarray, blocks: np.ndarray | None
) -> list[tuple[int, int, str | int]]:
    """Runs of equal role, cut where a block ends."""
    return [
        (a, b, NAMES.get(int(roles[a]), int(roles[a]))) for a, b in _runs(roles, blocks)
    ]


def _runs(
    values: np.ndarray, blocks: np.ndarray | None = None
) -> list[tuple[int, int]]:
    cuts = np.flatnonzero(np.diff(values)) + 1
    if blocks is not None:
        cuts = np.union1d(cuts, blocks[blocks < values.size])
    ends = [0, *cuts.tolist(), values.size]
    return [(int(a), int(b)) for a, b in pairwise(ends) if b > a]
