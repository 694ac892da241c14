"""Lower bounds of squared distances from one matrix product, in double or single precision."""

from __future__ import annotations

import threading

import numpy as np

KEYS = 2**17  # keys that a thread computes at a time, or those of 16 rows
KEPT = 2**22  # largest number of keys whose memory is kept from run to run
SINGLE_FROM = 128  # columns of products that are worth single precision
SAMPLE = 16  # rows that tell how many candidates single precision adds
# Candidates of a row: more than MORE * length + FEW cost what the product saves
MORE, FEW = 1.1, 16.0
LARGE = 1e-10  # smallest squared length of the longest row
VANISHED = (
    2.0**-100
)  # share of it that is more than what vanishes below single precision


class Product:
    """The rows of T, from which squared distances to other rows are computed.

    columns  the centred columns, and below them the squared lengths of the rows
    slack    error of a key, as a share of the squared lengths of both rows
    largest  squared length of the longest row
    """

    def __init__(self, T: np.ndarray, centre: np.ndarray) -> None:
        n, n_columns = T.shape
        self.centre, self.columns = centre, np.empty((n_columns + 1, n))
        centred = self.columns[:-1]
        np.subtract(T.T, centre[:, None], out=centred)
        squares = np.einsum("ci,ci->i", centred, centred)
        self.slack = (2 * n_columns + 16) * 2.0**-53
        self.columns[-1] = squares * (1.0 - self.slack)
        self.largest = float(squares.max())

    def narrow(self, T: np.ndarray, length: int) -> None:
        """Use single precision where it leaves hardly more candidates than `length` for a row."""
        n, n_columns = T.shape
        if n_columns < SINGLE_FROM or length >= n or self.largest < LARGE:
            return
        slack = (2 * n_columns + 16) * 2.0**-24
        sample = T[:: max(1, n // SAMPLE)]
        keys = np.empty((len(sample), n))
        norms, _ = self.fill(sample, keys)
        limit = np.partition(keys, length, axis=1)[:, length]
        limit += 2.0 * slack * (norms + self.largest)
        most = (MORE * length + FEW) * len(sample)
        if np.count_nonzero(keys <= limit[:, None]) > most:
            return
        self.columns[-1] *= (1.0 - slack) / (1.0 - self.slack)
        self.columns, self.slack = self.columns.astype(np.float32), slack

    def fill(self, Q: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Fill keys [rows of Q, rows of T].

        Return for each row what to add to its keys to get lower bounds of squared distances, and
        how much too low these may be for near rows.
        """
        left = np.ones((len(Q), Q.shape[1] + 1))
        centred = left[:, :-1]
        np.subtract(Q, self.centre, out=centred)
        norms = np.einsum("tc,tc->t", centred, centred)
        centred *= -2.0
        if self.columns.dtype == np.float64:
            np.dot(left, self.columns, out=keys)
            return norms * (1.0 - self.slack), 8.0 * self.slack * norms
        single = buffer(len(Q), keys.shape[1], np.float32)
        np.dot(left.astype(np.float32), self.columns, out=single)
        keys[...] = single
        shift = norms * (1.0 - self.slack) - VANISHED * self.largest
        return shift, 2.0 * self.slack * (norms + self.largest)


_own = threading.local()


def buffer(n: int, m: int, dtype: type = np.float64) -> np.ndarray:
    """Return [n, m] numbers of this thread, kept from run to run: new memory is slow to fill."""
    if n * m > KEPT:
        return np.empty((n, m), dtype)
    name = dtype.__name__
    if getattr(_own, name, np.zeros(0)).size < n * m:
        setattr(_own, name, np.empty(max(KEYS, n * m), dtype))
    kept: np.ndarray = getattr(_own, name)
    return kept[: n * m].reshape(n, m)
