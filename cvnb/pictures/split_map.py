"""The role of each row in each split, as bars: the numbers that nest maps are drawn from.

Rows run from left to right. Where their order has a meaning (time, blocks) it is kept.
Rows drawn at random are sorted so that shares are visible: by outer test part, and within
one split by inner test part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..results.estimate import RiskEstimate, record_of
from ..splits.layouts import NEVER, Partition, are_apart
from ..splits.plan import Plan

TIMES = 24  # shades of the band of time
STRIPES = 12  # more inner test parts than this are not distinguished

# Codes of roles; a training row of an outer split has the number 0, 1, ... of its inner
# test part instead, if inner test parts are distinguished.
TRAIN, TEST, BUFFER, UNUSED, DEV = -1, -2, -3, -4, -5
NAMES = {TEST: "test", BUFFER: "buffer", UNUSED: "unused", TRAIN: "train", DEV: "dev"}

Span = tuple[int, int, str | int]


@dataclass(frozen=True)
class Bar:
    """The row roles of one split, from left to right.

    split  index of the outer split
    spans  (start, end, role) in places: "test", "dev", "train", "buffer", "unused", or the
           index of the inner test part that contains these training rows of an outer split
    order  [rows] the row at each place
    inner  index of the inner split within `split`; None for the outer split itself
    state  "" if it is finished, else the word for what it is instead: "running", "waiting"
    """

    split: int
    spans: tuple[Span, ...]
    order: np.ndarray
    inner: int | None = None
    state: str = ""


@dataclass(frozen=True)
class RowBand:
    """A property of the rows (class, group or time), as a band of shades.

    order  [rows] the row at each place
    codes  [rows] its value, as an index of names
    names  of the values
    """

    name: str
    order: np.ndarray
    codes: np.ndarray
    names: tuple[str, ...]

    def runs(self, most: int) -> list[tuple[int, int, float, str]]:
        """(start, end, shade from 0 to 1, name) of equal neighbours.

        If there are more runs than `most`, several neighbouring ones are joined.
        """
        runs = _runs(self.codes)
        step = math.ceil(len(runs) / most)
        lasts = [*runs[step - 1 : -1 : step], runs[-1]]
        joined = []
        for (start, _), (_, end) in zip(runs[::step], lasts, strict=True):
            codes = self.codes[start:end]
            shade = float(self._shades[codes].mean())
            joined.append((start, end, shade, self._name(codes)))
        return joined

    def _name(self, codes: np.ndarray) -> str:
        """Up to three names, a range if it is complete, or three and the number of others."""
        distinct = np.unique(codes)
        names = [self.names[code] for code in distinct[:3]]
        if distinct.size <= 3:
            return " and ".join(names)
        if distinct[-1] - distinct[0] + 1 == distinct.size:
            return f"{names[0]} to {self.names[distinct[-1]]}"
        return f"{', '.join(names)} and {distinct.size - 3} more"

    @cached_property
    def _shades(self) -> np.ndarray:
        """[names] Shade of each value: alternating for groups, else from light to dark."""
        codes = np.arange(len(self.names))
        if self.name == "group":
            return np.where(codes % 2, 0.75, 0.35)
        return 0.2 + 0.8 * codes / max(1, codes.size - 1)


@dataclass(frozen=True)
class Nest:
    """One bar for each shown split, and bands of row properties above them.

    n_splits  number of splits, shown or not
    n_inner   number of inner test parts that are distinguished, or 0
    in_order  whether rows are shown in their own order, or that of their times
    inside    whether the bars are the inner splits of one outer split
    """

    bars: tuple[Bar, ...]
    n_splits: int
    n_rows: int
    n_inner: int
    in_order: bool
    strips: tuple[RowBand, ...] = ()
    inside: bool = False

    def under_way(self, states: Mapping[int, str]) -> Nest:
        """Return the same map with the word for each split that is not finished."""
        bars = [replace(bar, state=states.get(bar.split, "")) for bar in self.bars]
        return replace(self, bars=tuple(bars))

    @property
    def tests_outside(self) -> bool:
        """Whether some row belongs to an outer test part."""
        return any(role == "test" for bar in self.bars for _, _, role in bar.spans)


def nest_of_result(result: RiskEstimate, most: int = 8) -> Nest:
    """Return the bars of the outer splits; those that were not finished say so."""
    return nest_of(result.plan, most).under_way(not_run(result))


def not_run(*results: RiskEstimate) -> dict[int, str]:
    """Return the word for each outer split that one of these results lacks."""
    n_done = min(len(record_of(result).table.chosen) for result in results)
    return dict.fromkeys(range(n_done, results[0].plan.n_parts), "not run")


def nest_of(plan: Plan, most: int = 8) -> Nest:
    """Return the bars of the outer splits: the first ones and the last, at most `most`."""
    n_splits = max(1, len(plan.outer))
    shown = _first_and_last(n_splits, most)
    roles_of = {j: _roles(plan, j) for j in shown}
    in_order = _are_in_order(plan, roles_of.values())
    blocks = None if in_order else _blocks(plan)
    bars = []
    for j, roles in roles_of.items():
        order = _in_time(plan) if in_order else _sorted(plan, roles)
        spans = _spans(roles[order], blocks)
        bars.append(Bar(j, spans, order))
    return Nest(
        bars=tuple(bars),
        n_splits=n_splits,
        n_rows=plan.n_rows,
        n_inner=_n_inner(plan),
        in_order=in_order,
        strips=_bands(plan, in_order, _outer_test_part(plan)),
    )


def opened(plan: Plan, j: int, most: int = 20) -> Nest:
    """Return the bar of outer split j, and below it those of its inner splits.

    Of the inner splits the first ones and the last are shown, at most `most`.
    """
    roles, inner_splits = _roles(plan, j), plan.inner[j]
    in_order = _are_in_order(plan, [roles])
    order = _in_time(plan) if in_order else _by_rank(plan, roles)
    keeps_order = in_order or _n_inner(plan) > 0
    bars = [Bar(j, _spans(roles[order]), order)]
    for k in _first_and_last(len(inner_splits), most):
        inner_roles = _inner_roles(plan, roles, *inner_splits[k])
        inner_order = order if keeps_order else _by_rank(plan, inner_roles)
        bars.append(Bar(j, _spans(inner_roles[inner_order]), inner_order, k))
    return Nest(
        bars=tuple(bars),
        n_splits=len(inner_splits),
        n_rows=plan.n_rows,
        n_inner=_n_inner(plan),
        in_order=in_order,
        strips=_bands(plan, in_order, _rank(roles)),
        inside=True,
    )


def _first_and_last(n: int, most: int) -> list[int]:
    return list(range(n)) if n <= most else [*range(most - 1), n - 1]


def _n_inner(plan: Plan) -> int:
    if plan.inner_layouts is None:
        return 0
    layout = plan.inner_layouts[0]
    return len(layout) if len(layout) <= STRIPES and are_apart(layout) else 0


def _are_in_order(plan: Plan, all_roles: Iterable[np.ndarray]) -> bool:
    """Whether the parts of these outer splits are contiguous, with a buffer around each."""
    most_changes, order = 3 * _n_inner(plan) + 6, _in_time(plan)
    return all(
        np.count_nonzero(np.diff(roles[order])) <= most_changes for roles in all_roles
    )


def _in_time(plan: Plan) -> np.ndarray:
    """The rows in the order of their times; without times in their own order."""
    if plan.times is None or plan.timing is None:
        return np.arange(plan.n_rows)
    return plan.timing.order


def _roles(plan: Plan, j: int) -> np.ndarray:
    """[rows] Code of the role of each row in outer split j."""
    roles = np.full(plan.n_rows, UNUSED)
    train, test = plan.part(j)
    roles[train] = TRAIN
    if plan.outer_layout is not None:
        roles[test] = TEST
        roles[(roles == UNUSED) & _may_be_buffer(plan, test)] = BUFFER
    if _n_inner(plan):
        for k, (_, dev) in enumerate(plan.inner[j]):
            roles[dev] = k
    return roles


def _inner_roles(
    plan: Plan, outer_roles: np.ndarray, train: np.ndarray, dev: np.ndarray
) -> np.ndarray:
    """[rows] Code of the role of each row in one inner split."""
    roles = np.where(outer_roles == TEST, TEST, UNUSED)
    roles[dev], roles[train] = DEV, TRAIN
    left_out = (outer_roles >= TRAIN) | (outer_roles == BUFFER)
    roles[(roles == UNUSED) & left_out & _may_be_buffer(plan, dev)] = BUFFER
    return roles


def _may_be_buffer(plan: Plan, test: np.ndarray) -> np.ndarray:
    """[rows] Whether an unused row may be so for its nearness; forward, newer rows are not."""
    if not plan.buffer or plan.timing is None:
        return np.zeros(plan.n_rows, dtype=bool)
    moments = plan.timing.moments
    return (
        moments < moments[test].min()
        if plan.forward
        else np.ones(plan.n_rows, dtype=bool)
    )


def _outer_test_part(plan: Plan) -> np.ndarray:
    """[rows] Index of the outer test part of each row; for rows in none, the next number.

    All 0 if the outer test parts are no partition, or too many.
    """
    layout = plan.outer_layout
    if not isinstance(layout, Partition) or len(layout) > STRIPES:
        return np.zeros(plan.n_rows, dtype=np.int64)
    part = layout.label.astype(np.int64)
    return np.where(part == NEVER, len(layout), part)


def _blocks(plan: Plan) -> np.ndarray | None:
    """Ends of the outer test parts when rows are sorted by them; None if no partition."""
    part = _outer_test_part(plan)
    return np.cumsum(np.bincount(part)) if part.any() else None


def _rank(roles: np.ndarray) -> np.ndarray:
    """[rows] Sort key: training rows by inner test part, then dev, test and other rows."""
    conditions = [roles == DEV, roles == TEST, roles < TEST]
    ranks = [STRIPES, STRIPES + 1, STRIPES + 2]
    return np.select(conditions, ranks, roles).astype(np.int64)


def _sorted(plan: Plan, roles: np.ndarray) -> np.ndarray:
    """Rows sorted by outer test part and role; by role alone if outer test parts overlap."""
    key = 32 * _outer_test_part(plan) + _rank(roles)
    return np.argsort(
        key.astype(np.int16), kind="stable"
    )  # small integers: counting sort


def _by_rank(plan: Plan, roles: np.ndarray) -> np.ndarray:
    """Rows sorted by role, and within a role by class and group."""
    return np.lexsort((_class_and_group(plan), _rank(roles)))


def _class_and_group(plan: Plan) -> np.ndarray:
    """[rows] One code for class and group together, to sort by inside a part."""
    combined = np.zeros(plan.n_rows, dtype=np.int64)
    for band in _row_bands(plan):
        combined = combined * len(band.names) + band.codes
    return combined


def _row_bands(plan: Plan) -> list[RowBand]:
    """The class and the group of each row, if there are any, in the order of the rows."""
    rows, bands = np.arange(plan.n_rows), []
    if plan.data is not None and plan.task == "classification":
        classes, codes = plan.data.classes
        bands.append(RowBand("class", rows, codes, tuple(map(str, classes.tolist()))))
    if plan.group_codes is not None:
        groups, codes = np.unique(plan.group_codes, return_inverse=True)
        names = tuple(f"no. {n}" for n in range(groups.size))
        bands.append(RowBand("group", rows, codes, names))
    return bands


def _bands(plan: Plan, in_order: bool, key: np.ndarray) -> tuple[RowBand, ...]:
    """Bands of class, group and time, of rows in order or sorted by a key."""
    bands = _row_bands(plan)
    if not in_order:
        order = np.lexsort((_class_and_group(plan), key))
        return tuple(replace(b, order=order, codes=b.codes[order]) for b in bands)
    order = _in_time(plan)
    bands = [replace(b, order=order, codes=b.codes[order]) for b in bands]
    if plan.in_time:
        places = np.arange(plan.n_rows)
        starts = np.flatnonzero(np.diff(places * TIMES // plan.n_rows, prepend=-1))
        codes = np.searchsorted(starts, places, "right") - 1
        names = tuple(f"from {_time_at(plan, order[start])}" for start in starts)
        bands.append(RowBand("time", order, codes, names))
    return tuple(bands)


def _time_at(plan: Plan, row: int) -> str:
    """The time of a row in words; its number without times."""
    if plan.times is None:
        return f"row {row}"
    value, unit = plan.times.values[row], plan.times.unit
    if not unit:
        return f"{value:g}"
    date = re.sub(r"\.0+$", "", str(value.astype(f"M8[{unit}]")))
    return date.removesuffix("T00:00:00")


def _spans(roles: np.ndarray, blocks: np.ndarray | None = None) -> tuple[Span, ...]:
    """(start, end, role) of runs of equal role, cut where a block ends."""
    spans: list[Span] = []
    for start, end in _runs(roles, blocks):
        code = int(roles[start])
        spans.append((start, end, NAMES.get(code, code)))
    return tuple(spans)


def _runs(
    values: np.ndarray, blocks: np.ndarray | None = None
) -> list[tuple[int, int]]:
    """(start, end) of runs of equal values, cut where a block ends."""
    cuts = np.flatnonzero(np.diff(values)) + 1
    if blocks is not None:
        cuts = np.union1d(cuts, blocks[blocks < values.size])
    ends = [0, *cuts.tolist(), values.size]
    return [(start, end) for start, end in pairwise(ends) if end > start]
