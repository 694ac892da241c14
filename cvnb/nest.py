"""What every row does in every split, as bars: the numbers that nest maps are drawn from.

Rows stand from left to right. Where their order means something (time, blocks) it is kept. Where rows were drawn at random they
are sorted: by outer test part, and inside one split by inner test part, so that shares can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .layouts import NEVER, Pairs, Partition, are_apart
from .plan import Plan

STRIPES = 12  # inner test parts beyond this number are not told apart


@dataclass(frozen=True)
class Bar:
    """One outer split from the left to the right: from start to end, in rows, a role.

    role is "test", "train", "buffer", "unused", or for a training row the number of the inner test part that holds it.
    """

    split: int
    spans: tuple[tuple[int, int, str | int], ...]


@dataclass(frozen=True)
class Nest:
    """A bar for each of some outer splits, and how many there are in all."""

    bars: tuple[Bar, ...]
    n_splits: int
    n_rows: int
    n_inner: int  # inner test parts that are told apart; 0 where they are not
    in_order: bool


def nest_of(plan: Plan, most: int = 8) -> Nest:
    """The bars of the first splits of a plan, and of the last where there are more than `most`."""
    n = max(1, len(plan.outer))
    shown = list(range(n)) if n <= most else [*range(most - 1), n - 1]
    labels = [_roles(plan, j) for j in shown]
    runs = 3 * _n_inner(plan) + 6  # of contiguous parts with a buffer around each
    in_order = all(np.count_nonzero(np.diff(roles)) <= runs for roles in labels)
    bars = []
    for j, roles in zip(shown, labels, strict=True):
        order = np.arange(plan.n_rows) if in_order else _sorted(plan, roles)
        bars.append(Bar(j, tuple(_spans(roles[order], None if in_order else _blocks(plan)))))
    return Nest(tuple(bars), n, plan.n_rows, _n_inner(plan), in_order)


TEST, BUFFER, UNUSED, TRAIN = -2, -3, -4, -1  # an inner test part has its number, 0, 1, ...
NAMES = {TEST: "test", BUFFER: "buffer", UNUSED: "unused", TRAIN: "train"}


def _n_inner(plan: Plan) -> int:
    if plan.inner_layouts is None:
        return 0
    layout = plan.inner_layouts[0]
    return len(layout) if len(layout) <= STRIPES and are_apart(layout) else 0


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


def _blocks(plan: Plan) -> np.ndarray | None:
    """Where outer test parts end when rows are sorted by them; None where they are no partition."""
    layout = plan.outer_layout
    if not isinstance(layout, Partition) or isinstance(layout, Pairs) or len(layout) > STRIPES:
        return None
    label = layout.label.astype(np.int64)
    return np.cumsum(np.bincount(np.where(label == NEVER, len(layout), label)))


def _sorted(plan: Plan, roles: np.ndarray) -> np.ndarray:
    """Rows by outer test part and role; by role alone where outer test parts overlap: first what is trained on."""
    rank = np.where(roles == TEST, STRIPES + 1, np.where(roles < TEST, STRIPES + 2, roles))
    if _blocks(plan) is None:
        return np.argsort(rank, kind="stable")
    label = plan.outer_layout.label.astype(np.int64)  # type: ignore[union-attr]
    return np.lexsort((rank, np.where(label == NEVER, np.iinfo(np.int64).max, label)))


def _spans(roles: np.ndarray, blocks: np.ndarray | None) -> list[tuple[int, int, str | int]]:
    """Runs of equal role, cut where a block ends."""
    cuts = np.flatnonzero(np.diff(roles)) + 1
    if blocks is not None:
        cuts = np.union1d(cuts, blocks[blocks < roles.size])
    ends = np.concatenate([[0], cuts, [roles.size]]).astype(int)
    return [(int(a), int(b), NAMES.get(int(roles[a]), int(roles[a]))) for a, b in pairwise(ends) if b > a]
