"""Bytes that a run needs in addition to its data and its losses, for the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..runtime.threads import n_threads
from ..splits.plan import Plan

if TYPE_CHECKING:
    from ..engine.work import Work

BLOCK = 4e6  # bytes of blocks of distances
COPIES = 1.0  # of all rows that a thread makes of more columns than rows, with what it derives
SPARSE_BASIS = 200  # columns


def of_rows(work: Work, plan: Plan) -> float:
    """Return the bytes of X in 64 bits and of a copy of a training part."""
    return 16.0 * float(np.prod(work.data.X.shape))


def of_neighbours(work: Work, plan: Plan) -> float:
    """Return the bytes of neighbour lists (12 per neighbour), of distances, and of X in 64 bits."""
    ks = [
        next((k for name, k in numbers.items() if name.endswith("n_neighbors")), 5)
        for kind in work.kinds
        for numbers in kind.numbers
    ]
    lists = 12.0 * plan.n_rows * (2 * max(ks) + 10)
    return lists + BLOCK + 8.0 * float(np.prod(work.data.X.shape))


def of_sums(work: Work, plan: Plan) -> float:
    """Return the bytes of column products, summed block by block, for two threads.

    Sparse rows have copies of a training part and a basis of some hundred columns instead, and
    more columns than rows a copy of a training part in each thread.
    """
    X = work.data.X
    if sp.issparse(X):
        return 3 * 12.0 * X.nnz + SPARSE_BASIS * 8.0 * min(X.shape)
    n_columns = work.data.n_columns
    if n_columns > plan.n_rows:
        copies = COPIES * 8.0 * plan.n_rows * n_columns * n_threads(work.n_jobs)
        return _of_double(work) + copies
    width = 8.0 * (work.data.n_columns + 2) ** 2
    return _of_double(work) + width * 4 * blocks_kept(plan)


def of_columns(work: Work, plan: Plan) -> float:
    """Return the bytes of each thread: a training part three times, vectors, and blocks."""
    sets = len(np.unique(work.data.y)) if work.task == "classification" else 1
    vectors = 3 * work.data.n_columns + 4 * sets
    X = work.data.X
    if sp.issparse(X):
        n_settings = sum(len(kind.numbers) for kind in work.kinds)
        of_path = 16.0 * sets * work.data.n_columns * n_settings
        return 12.0 * X.nnz + (48.0 * X.nnz + of_path) * n_threads(work.n_jobs)
    blocks = 4.0 * min(sets * min(work.data.n_columns, plan.n_rows) ** 2, 2**23)
    of_thread = 8.0 * plan.n_rows * vectors + 4 * blocks
    return _of_double(work) + of_thread * n_threads(work.n_jobs)


def blocks_kept(plan: Plan) -> int:
    """Return how many blocks of a training part have their sums in memory."""
    return min(32, max(plan.n_inner // max(1, plan.n_parts), 1))


def _of_double(work: Work) -> float:
    """Return the bytes of X in 64 bits; 0 where X is a table of them already."""
    X = work.data.X
    is_double = isinstance(X, np.ndarray) and X.dtype == np.float64
    return 0.0 if is_double else 8.0 * float(np.prod(X.shape))
