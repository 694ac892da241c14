"""Components of partial least squares, one after the other."""

from __future__ import annotations

import numpy as np
from numba import njit

NOTHING_LEFT = 10 * 2.0**-52  # residuals below it are zero to scikit-learn
LEAST, MOST = 1e-100, 1e100  # norms whose squares neither vanish nor overflow


@njit(cache=True, nogil=True)
def components(Z, y, changes, noise, stop, directions, scores, shares, weights):
    """Fill the components of centred rows Z; y becomes what is left of the targets.

    changes     (times noise that is added to X'y, times noise that is added to Xw)
    noise       [longer side of Z + components] numbers; empty: nothing is added
    directions  [components, p] w_k of length 1
    scores      [components, n] t_k of length 1
    shares      [components, components] lower triangle: X w_k as a sum of t_1 ... t_k; the
                identity before
    weights     [components] t_k' y; 0 from where nothing is left

    Return whether all norms can be squared.
    """
    n, p = Z.shape
    of_w, of_t = changes
    for k in range(weights.size):
        if stop[0]:
            return True
        if np.abs(y).max() < NOTHING_LEFT:
            return True
        w = np.dot(y, Z)
        if noise.size:
            w += of_w * noise[k : k + p]
        length = np.sqrt(np.dot(w, w))
        if not LEAST < length < MOST:
            return False
        w /= length
        t = np.dot(Z, w)
        if noise.size:
            t += of_t * noise[k : k + n]
        for _ in range(2):  # the second time takes out what rounding has left
            for i in range(k):
                share = np.dot(scores[i], t)
                shares[k, i] += share
                t -= share * scores[i]
        length = np.sqrt(np.dot(t, t))
        if not LEAST < length < MOST:
            return False
        shares[k, k] = length
        t /= length
        weights[k] = np.dot(t, y)
        y -= weights[k] * t
        directions[k] = w
        scores[k] = t
    return True
