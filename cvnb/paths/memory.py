"""Bytes that a run takes beside its data and its losses, for the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..runtime.threads import n_threads
from ..splits.plan import Plan

if TYPE_CHECKING:
    from ..engine.run import Work

BLOCK = 4e6  # bytes of a block of distances


def of_rows(work: Work, plan: Plan) -> float:
    """X in 64 bits, and a copy of a training part."""
    return 16.0 * float(np.prod(work.data.X.shape))


def of_neighbours(work: Work, plan: Plan) -> float:
    """Lists of neighbours, 12 bytes each, blocks of distances, and X in 64 bits."""
    values = [numbers for kind in work.kinds for numbers in kind.numbers]
    ks = [
        next((k for name, k in one.items() if name.endswith("n_neighbors")), 5)
        for one in values
    ]
    return (
        12.0 * plan.n_rows * (2 * max(ks) + 10)
        + BLOCK
        + 8.0 * float(np.prod(work.data.X.shape))
    )


def of_sums(work: Work, plan: Plan) -> float:
    """Sums of products of columns, block by block, for two threads."""
    width = 8.0 * (work.data.n_columns + 2) ** 2
    return width * 4 * min(32, max(plan.n_inner // max(1, plan.n_parts), 1))


def of_columns(work: Work, plan: Plan) -> float:
    """Columns of a training part twice, and some vectors for each set of coefficients, on every thread."""
    sets = len(np.unique(work.data.y)) if work.task == "classification" else 1
    return (
        8.0
        * plan.n_rows
        * (2 * work.data.n_columns + 4 * sets)
        * n_threads(work.n_jobs)
    )
