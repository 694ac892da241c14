"""The nearest rows of a training part, exactly, in order of (distance, row number).

Distances come from sums of differences, column by column; for many columns from one matrix product, whose rounded results are
lower bounds that leave few candidates, whose distances are then computed as they should; for few columns and many rows from a
tree. Rows that the last two leave uncertain are searched again by the first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ...errors import DataError
from ...kernels import neighbours as kernel
from ..problem import Combination

KEYS = 2**17  # keys held at a time by one thread, or those of 16 rows
KEPT = 2**22  # more are not kept from run to run
TREE_BELOW = 8  # columns from which on a tree is no help
PRODUCT_FROM = (
    6  # columns from which on matrix products are faster than sums of differences
)
TREE_POWERS = {
    kernel.EUCLIDEAN: 2.0, kernel.COSINE: 2.0, kernel.MANHATTAN: 1.0, kernel.CHEBYSHEV: np.inf,
}  # fmt: skip
METRICS = {
    "euclidean": kernel.EUCLIDEAN, "l2": kernel.EUCLIDEAN, "manhattan": kernel.MANHATTAN, "l1": kernel.MANHATTAN,
    "cityblock": kernel.MANHATTAN, "chebyshev": kernel.CHEBYSHEV, "cosine": kernel.COSINE,
}  # fmt: skip


@dataclass(frozen=True)
class Geometry:
    """What decides who is near whom."""

    scaled: bool
    metric: int
    power: float

    @classmethod
    def of(cls, combination: Combination) -> Geometry:
        model = combination.model
        metric, power = METRICS.get(model.metric, kernel.MINKOWSKI), 2.0
        if model.metric == "minkowski":
            power = float(model.p)
            metric = {
                1.0: kernel.MANHATTAN,
                2.0: kernel.EUCLIDEAN,
                np.inf: kernel.CHEBYSHEV,
            }.get(power, metric)
        return cls(combination.scaled, metric, power)


@dataclass(frozen=True, eq=False)
class Near:
    """Lists of neighbours, as `kernel.select` fills them."""

    rows: np.ndarray
    distances: np.ndarray
    reach: np.ndarray
    mixed: np.ndarray

    @classmethod
    def empty(cls, n: int, length: int) -> Near:
        return cls(
            np.empty((n, length), np.int32),
            np.empty((n, length)),
            np.zeros(n, np.int64),
            np.zeros(n, np.uint8),
        )

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.rows, self.distances, self.reach, self.mixed

    def part(self, rows: slice) -> Near:
        """The lists of some rows, to be filled."""
        return Near(*(array[rows] for array in self.arrays))

    def put(self, places: np.ndarray | slice, other: Near) -> None:
        """Take over the lists of some rows."""
        for mine, others in zip(self.arrays, other.arrays, strict=True):
            mine[places] = others


class Search:
    """Searches the nearest of some rows T for some rows Q."""

    def __init__(
        self,
        T: np.ndarray,
        geometry: Geometry,
        length: int,
        exact: bool = False,
        origin: np.ndarray | None = None,
        final: bool = False,
    ) -> None:
        """For lists of some length.

        exact    by sums of differences alone
        origin   how large the numbers in each column were before something was subtracted from them
        final    no row is left out of the lists later
        """
        self.geometry, self.final = geometry, final
        self.size = (
            0.0
            if origin is None
            else kernel.norm(origin, geometry.metric, geometry.power)
        )
        self.T = T = self._directed(T, 0)
        n, n_columns = T.shape
        metric = geometry.metric
        self.by_product = (
            not exact
            and metric in (kernel.EUCLIDEAN, kernel.COSINE)
            and n_columns >= PRODUCT_FROM
        )
        self.tree = None
        if not exact and 4 * length < n and _worth_a_tree(n, n_columns):
            self.tree = cKDTree(T)
            if self._is_at_a_loss(length):
                self.tree = None
        if not self.by_product:
            self.columns = np.ascontiguousarray(T.T)
            return
        self.slack = (2 * n_columns + 16) * 2.0**-53
        self.centre = (
            np.zeros(n_columns)
            if geometry.scaled
            else np.median(T[:: max(1, n // 255)], axis=0)
        )
        self.columns = np.empty((n_columns + 1, n))
        centred = self.columns[:-1]
        np.subtract(T.T, self.centre[:, None], out=centred)
        self.columns[-1] = np.einsum("ci,ci->i", centred, centred) * (1.0 - self.slack)

    def fill(
        self,
        Q: np.ndarray,
        own: np.ndarray,
        near: Near,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Fill the lists of the rows Q, block by block; own[t] is the row of T that is Q[t] itself, or -1."""
        Q, n = self._directed(Q, 1), len(self.T)
        size = max(16, min(256, KEYS // n))
        for a in range(0, len(Q), size):
            if stopped():
                return
            block = slice(a, min(a + size, len(Q)))
            if self.tree is not None:
                self._ask_tree(Q[block], own[block], near.part(block))
                continue
            keys = _buffer(block.stop - a, n)
            shift, spread = self._fill_keys(Q[block], keys)
            kernel.select(
                keys, not self.by_product, shift, spread, own[block], Q[block], self.T,
                self.geometry.metric, self.geometry.power, self.size, self.final, *near.part(block).arrays,
            )  # fmt: skip

    def _ask_tree(self, Q: np.ndarray, own: np.ndarray, near: Near) -> None:
        """Fill the lists from the tree; where many rows are equally far, it leaves some uncertain."""
        assert self.tree is not None
        power = TREE_POWERS.get(self.geometry.metric, self.geometry.power)
        n_wanted = (
            near.rows.shape[1] + 2
        )  # the row itself, and one that is no nearer than those before it
        last, found = self.tree.query(Q, k=n_wanted, p=power)
        kernel.settle(
            np.sort(found, axis=1), last[:, -1], own, Q, self.T, self.geometry.metric, self.geometry.power,
            self.size, self.final, *near.arrays,
        )  # fmt: skip

    def _is_at_a_loss(self, length: int) -> bool:
        """Whether ties leave many of the tree's lists uncertain, by a look at some of them."""
        some = self.T[:: max(1, len(self.T) // 64)]
        near = Near.empty(len(some), length)
        self._ask_tree(some, np.full(len(some), -1), near)
        return bool(np.count_nonzero(near.reach < 0.9 * length) > len(some) // 16)

    def _fill_keys(
        self, Q: np.ndarray, keys: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distances, or lower bounds of them from a matrix product; (what to add, how much too low they may be) row by row."""
        if not self.by_product:
            kernel.fill_keys(
                Q, self.columns, self.geometry.metric, self.geometry.power, keys
            )
            return np.zeros(len(Q)), np.zeros(len(Q))
        left = np.ones((len(Q), self.T.shape[1] + 1))
        np.subtract(Q, self.centre, out=left[:, :-1])
        norms = np.einsum("tc,tc->t", left[:, :-1], left[:, :-1])
        left[:, :-1] *= -2.0
        np.dot(left, self.columns, out=keys)
        return norms * (1.0 - self.slack), 8.0 * self.slack * norms

    def _directed(self, X: np.ndarray, side: int) -> np.ndarray:
        """Rows as they are; for the cosine of length 1, rows of zeros at distance 1 from all others."""
        if self.geometry.metric == kernel.MINKOWSKI:
            most = (1e300 / X.shape[1]) ** (1.0 / self.geometry.power)
            if 2.0 * np.abs(X).max() > most:
                raise DataError(
                    f"X holds numbers beyond {most:.1e}: distances with p={self.geometry.power:g} overflow; rescale X."
                )
        if self.geometry.metric != kernel.COSINE:
            return X
        lengths = np.sqrt(np.einsum("tc,tc->t", X, X))
        zeros = lengths <= kernel.ROUNDING * self.size
        out = np.zeros((len(X), X.shape[1] + 2))
        out[:, :-2] = np.where(
            zeros[:, None], 0.0, X / np.where(zeros, 1.0, lengths)[:, None]
        )
        out[:, side - 2] = (
            zeros  # a direction of their own for zeros among the training rows, another for the others
        )
        return out


def nearest(
    T: np.ndarray,
    Q: np.ndarray,
    geometry: Geometry,
    n_most: int,
    exact: bool = False,
    origin: np.ndarray | None = None,
) -> Near:
    """The n_most + 1 rows of T nearest to each row of Q (all, where there are fewer); origin as in `Search`."""
    if T.shape[1] != Q.shape[1]:
        raise ValueError(f"{T.shape[1]} columns against {Q.shape[1]}")
    length = min(n_most + 1, len(T))
    near = Near.empty(len(Q), length)
    search = Search(T, geometry, length, exact, origin, final=True)
    search.fill(Q, np.full(len(Q), -1), near)
    short = np.flatnonzero((near.reach >= 0) & (near.reach < length))
    if short.size:
        again = Near.empty(short.size, length)
        search = Search(T, geometry, length, exact=True, origin=origin, final=True)
        search.fill(Q[short], np.full(short.size, -1), again)
        near.put(short, again)
    return near


def _worth_a_tree(n: int, n_columns: int) -> bool:
    """Whether a tree finds the nearest rows faster than looking at all of them; both sides in nanoseconds per row, measured."""
    return (
        n_columns < TREE_BELOW and n * (1.0 + 0.2 * n_columns) > 6000 * 1.5**n_columns
    )


_own = threading.local()


def _buffer(n: int, m: int) -> np.ndarray:
    """[n, m] numbers of this thread's, kept from run to run: fresh memory costs more than what is written into it."""
    if n * m > KEPT:
        return np.empty((n, m))
    if getattr(_own, "keys", np.zeros(0)).size < n * m:
        _own.keys = np.empty(max(KEYS, n * m))
    return _own.keys[: n * m].reshape(n, m)
