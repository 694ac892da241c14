"""Exact search for the nearest rows of a training part, in order of (distance, row number).

Distances are sums of differences over columns. With many columns, one matrix product gives lower
bounds that leave few candidates (products.py), whose distances are then computed exactly. With few
columns and many rows a tree gives the candidates. Rows that a product or a tree leaves uncertain
are searched again by sums of differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ...errors import DataError
from ...kernels import neighbours as kernel
from ...kernels.distance_keys import fill_found, fill_keys
from ..problem import Combination
from .products import KEYS, Product, buffer

PRODUCT_KEYS = 2**20  # the same where a product of many columns gives them
UNSTOPPED = 2**29  # multiplications between two looks at the stop flag
TREE_BELOW = 8  # with fewer columns a tree may help
PRODUCT_FROM = 6  # from so many columns a matrix product is faster than sums
TREE_POWERS = {
    kernel.EUCLIDEAN: 2.0,
    kernel.COSINE: 2.0,
    kernel.MANHATTAN: 1.0,
    kernel.CHEBYSHEV: np.inf,
}
METRICS = {
    "euclidean": kernel.EUCLIDEAN,
    "l2": kernel.EUCLIDEAN,
    "manhattan": kernel.MANHATTAN,
    "l1": kernel.MANHATTAN,
    "cityblock": kernel.MANHATTAN,
    "chebyshev": kernel.CHEBYSHEV,
    "cosine": kernel.COSINE,
    "minkowski": kernel.MINKOWSKI,
}
METRIC_OF_POWER = {
    1.0: kernel.MANHATTAN,
    2.0: kernel.EUCLIDEAN,
    np.inf: kernel.CHEBYSHEV,
}


@dataclass(frozen=True)
class Geometry:
    """How distances are measured."""

    scaled: bool
    metric: int
    power: float

    @classmethod
    def of(cls, combination: Combination) -> Geometry:
        metric, power = METRICS[combination.model.metric], 2.0
        if metric == kernel.MINKOWSKI:
            power = float(combination.model.p)
            metric = METRIC_OF_POWER.get(power, metric)
        return cls(combination.scaled, metric, power)


@dataclass(frozen=True, eq=False)
class NeighbourLists:
    """Lists of neighbours, as `kernel.select` fills them."""

    rows: np.ndarray
    distances: np.ndarray
    reach: np.ndarray
    mixed: np.ndarray

    @classmethod
    def empty(cls, n: int, length: int) -> NeighbourLists:
        return cls(
            np.empty((n, length), np.int32),
            np.empty((n, length)),
            np.zeros(n, np.int64),
            np.zeros(n, np.uint8),
        )

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.rows, self.distances, self.reach, self.mixed

    def part(self, rows: slice) -> NeighbourLists:
        """Return a view of the lists of some rows."""
        return NeighbourLists(*(array[rows] for array in self.arrays))

    def put(self, places: np.ndarray | slice, other: NeighbourLists) -> None:
        """Copy other lists to these places."""
        for own, others in zip(self.arrays, other.arrays, strict=True):
            own[places] = others


class Search:
    """A search for the rows of T nearest to some rows Q."""

    def __init__(
        self,
        T: np.ndarray,
        geometry: Geometry,
        length: int,
        exact: bool = False,
        origin: np.ndarray | None = None,
        final: bool = False,
    ) -> None:
        """Prepare T for lists of some length.

        exact    use sums of differences only
        origin   size of the numbers in each column before something was subtracted from them
        final    no row is left out of the lists later
        """
        self.geometry, self.final, self.size = geometry, final, 0.0
        metric = geometry.metric
        if origin is not None:
            self.size = kernel.norm(origin, metric, geometry.power)
        self.T = T = self._normalised(T, 0)
        n, n_columns = T.shape
        has_product = metric in (kernel.EUCLIDEAN, kernel.COSINE)
        self.by_product = not exact and has_product and n_columns >= PRODUCT_FROM
        self.tree = None
        if not exact and 4 * length < n and _worth_a_tree(n, n_columns):
            self.tree = cKDTree(T)
            if self._leaves_many_uncertain(length):
                self.tree = None
        if self.by_product:
            self.product = self._product(length)
        else:
            self.columns = np.ascontiguousarray(T.T)

    def _product(self, length: int) -> Product:
        """Return what products with the rows need; for the cosine in single precision if it can."""
        T, centre = self.T, np.zeros(self.T.shape[1])
        if not self.geometry.scaled:
            centre = np.median(T[:: max(1, len(T) // 255)], axis=0)
        product = Product(T, centre)
        if self.geometry.metric == kernel.COSINE:
            product.narrow(T, length)
        return product

    def fill(
        self,
        Q: np.ndarray,
        own: np.ndarray,
        lists: NeighbourLists,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Fill the lists of the rows Q, block by block.

        own[t] is the row of T that is Q[t] itself and no neighbour of it, or -1.
        """
        Q, n, geometry = self._normalised(Q, 1), len(self.T), self.geometry
        size = self._rows_at_a_time()
        for a in range(0, len(Q), size):
            if stopped():
                return
            block = slice(a, min(a + size, len(Q)))
            part = lists.part(block)
            if self.tree is not None:
                self._fill_from_tree(Q[block], own[block], part)
                continue
            keys = buffer(block.stop - a, n)
            shift, spread = self._fill_keys(Q[block], keys)
            kernel.select(
                keys, not self.by_product, shift, spread, own[block], Q[block], self.T,
                geometry.metric, geometry.power, self.size, self.final, *part.arrays,
            )  # fmt: skip

    def _rows_at_a_time(self) -> int:
        """Return the size of a block of rows.

        With many columns a matrix product of few rows mostly waits for the columns, which no
        cache holds; so blocks grow with them, until a stop would wait too long.
        """
        n, n_columns = self.T.shape
        size = max(16, min(256, KEYS // n))
        if self.by_product:
            most = min(PRODUCT_KEYS // n, UNSTOPPED // (n * n_columns))
            size = max(size, min(n_columns // 2, most))
        return size

    def _fill_from_tree(
        self, Q: np.ndarray, own: np.ndarray, lists: NeighbourLists
    ) -> None:
        """Fill the lists from the tree; equal distances leave some of them uncertain."""
        assert self.tree is not None
        metric, power = self.geometry.metric, self.geometry.power
        n_wanted = lists.rows.shape[1] + 2  # the row itself, and one to compare with
        distances, rows = self.tree.query(
            Q, k=n_wanted, p=TREE_POWERS.get(metric, power)
        )
        found, n_columns = np.sort(rows, axis=1), Q.shape[1]
        keys = np.empty(found.shape)
        fill_found(Q, self.T, n_columns, found, metric, power, keys)
        kernel.settle(
            found, keys, distances[:, -1].copy(), own, Q, n_columns, metric, power,
            self.size, self.final, *lists.arrays,
        )  # fmt: skip

    def _leaves_many_uncertain(self, length: int) -> bool:
        """Return whether ties leave many of the tree's lists uncertain, from a sample."""
        sample = self.T[:: max(1, len(self.T) // 64)].copy()
        lists = NeighbourLists.empty(len(sample), length)
        self._fill_from_tree(sample, np.full(len(sample), -1), lists)
        return bool(np.count_nonzero(lists.reach < 0.9 * length) > len(sample) // 16)

    def _fill_keys(
        self, Q: np.ndarray, keys: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fill keys with distances, or with lower bounds of them from a matrix product.

        Return for each row what to add to its keys, and how much too low they may be.
        """
        geometry = self.geometry
        if self.by_product:
            return self.product.fill(Q, keys)
        fill_keys(Q, self.columns, geometry.metric, geometry.power, keys)
        return np.zeros(len(Q)), np.zeros(len(Q))

    def _normalised(self, X: np.ndarray, side: int) -> np.ndarray:
        """Return the rows; for the cosine with length 1, and rows of zeros at distance 1 from all.

        side is 0 for training rows and 1 for the others.
        """
        if self.geometry.metric == kernel.MINKOWSKI:
            _refuse_overflow(X, self.geometry.power)
        if self.geometry.metric != kernel.COSINE:
            return X
        lengths = np.sqrt(np.einsum("tc,tc->t", X, X))
        zeros = lengths <= kernel.ROUNDING * self.size
        divisors = np.where(zeros, 1.0, lengths)
        out = np.zeros((len(X), X.shape[1] + 2))
        out[:, :-2] = np.where(zeros[:, None], 0.0, X / divisors[:, None])
        out[:, side - 2] = zeros  # zeros have a direction of their own on each side
        return out


def nearest(
    T: np.ndarray,
    Q: np.ndarray,
    geometry: Geometry,
    n_most: int,
    exact: bool = False,
    origin: np.ndarray | None = None,
) -> NeighbourLists:
    """Return the n_most + 1 rows of T nearest to each row of Q (all if there are fewer).

    exact and origin are those of `Search`.
    """
    if T.shape[1] != Q.shape[1]:
        raise ValueError(f"{T.shape[1]} columns against {Q.shape[1]}")
    length = min(n_most + 1, len(T))
    lists = NeighbourLists.empty(len(Q), length)
    search = Search(T, geometry, length, exact, origin, final=True)
    search.fill(Q, np.full(len(Q), -1), lists)
    complete(lists, T, Q, geometry, origin)
    return lists


def complete(
    lists: NeighbourLists,
    T: np.ndarray,
    Q: np.ndarray,
    geometry: Geometry,
    origin: np.ndarray | None = None,
) -> None:
    """Search again, by sums of differences, the rows whose lists are uncertain to their end."""
    length = lists.rows.shape[1]
    short = np.flatnonzero((lists.reach >= 0) & (lists.reach < length))
    if not short.size:
        return
    again = NeighbourLists.empty(short.size, length)
    T, left = np.ascontiguousarray(T), np.ascontiguousarray(Q[short])
    search = Search(T, geometry, length, exact=True, origin=origin, final=True)
    search.fill(left, np.full(short.size, -1), again)
    lists.put(short, again)


def _worth_a_tree(n: int, n_columns: int) -> bool:
    """Return whether a tree is faster than computing all distances.

    Both sides are measured nanoseconds per row.
    """
    if n_columns >= TREE_BELOW:
        return False
    return n * (1.0 + 0.2 * n_columns) > 6000 * 1.5**n_columns


def _refuse_overflow(X: np.ndarray, power: float) -> None:
    most = (1e300 / X.shape[1]) ** (1.0 / power)
    if 2.0 * np.abs(X).max() > most:
        raise DataError(
            f"X holds numbers beyond {most:.1e}: distances with "
            f"p={power:g} overflow; rescale X."
        )
