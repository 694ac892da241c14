"""Newton's method for logistic regression with many coefficients.

    minimise   C sum_i w_i loss(y_i, B x_i) + sum_c D_c B_c^2 / 2

Several values of C are solved side by side, so that one matrix product serves all of them.
Gradients and decisions are in double precision, the steps between them come from conjugate
gradients in single precision (conjugate.py). With several classes everything stays where the
coefficients of the classes sum to zero, as those of the minimum do.

What is left to do, G'H^-1 G, is what conjugate gradients sum up; the share that they leave, and
the square of the largest move of a decision, bound what is left after the step. The limit is
that of the kernel for few coefficients. A preconditioner starts as a diagonal, or as another
path has lent it, and is computed anew when more iterations were spent with it than that costs.

Each value of C takes a few products with all columns in double precision and some ten to eighty
in single precision; the memory is that of the columns in both precisions, of the decisions of
the settings side by side (at most MOST_DECISIONS, some times over), and of the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..kernels import softmax
from .conjugate import (
    LARGEST_SIDE,
    MOST,
    NEAR,
    Columns,
    Curvature,
    Lent,
    centred,
    conjugate_gradients,
)

STEPS = 100
SIDE_BY_SIDE, MOST_DECISIONS = 96, 2**22  # sets of coefficients in one product
PER_BLOCK = 4  # columns of a block that cost as much as an iteration
PER_ONLY = 16  # the same if it is the only block, and then exact
FEW = 10.0  # iterations that cost as much as a diagonal
SAFE_MOVE = 0.1  # of a decision: the objective falls
LARGEST_MOVE = 16.0  # of a decision in one step
FLAT = 1e-13  # share of the objective that is rounding


class Unended(Exception):
    """Raised when the minimum is not reached."""


@dataclass
class Slope:
    """The objective at some coefficients, for several settings.

    G       its first derivatives [settings, sets, q]
    curved  sum of the second derivatives of the loss by the decisions
    P       as in `softmax.residuals`
    """

    value: np.ndarray
    G: np.ndarray
    curved: np.ndarray
    P: np.ndarray


@dataclass
class Now:
    """Where the settings `which` are: B = base - step, which moved decisions at most by `far`.

    spent  iterations with the present preconditioner
    """

    which: np.ndarray
    B: np.ndarray
    Z: np.ndarray
    base: np.ndarray
    base_Z: np.ndarray
    base_value: np.ndarray
    step: np.ndarray
    far: np.ndarray
    spent: np.ndarray

    @classmethod
    def at(cls, B: np.ndarray, Z: np.ndarray) -> Now:
        """Begin at B, where the decisions are Z."""
        n = len(B)
        which, infinite, spent = np.arange(n), np.full(n, np.inf), np.zeros(n)
        return cls(
            which, B, Z, B, Z, infinite, np.zeros_like(B), infinite.copy(), spent
        )

    def measure_move(self) -> None:
        """Set how far decisions moved, and shorten steps that moved them too far."""
        self.far = np.abs(self.Z - self.base_Z).max(axis=(1, 2))
        for i in np.flatnonzero(self.far > LARGEST_MOVE):
            by = LARGEST_MOVE / self.far[i]
            self.step[i] *= by
            self.B[i] = self.base[i] - self.step[i]
            self.Z[i] = self.base_Z[i] + by * (self.Z[i] - self.base_Z[i])
            self.far[i] = LARGEST_MOVE

    def only(self, kept: np.ndarray) -> Now:
        """Return the settings that are kept."""
        return Now(*(getattr(self, field.name)[kept] for field in fields(self)))


class Newton:
    """Newton's method for one training part.

    y  codes of the classes of the rows
    w  weights of the rows
    D  penalty of each column, zero for the intercept
    """

    def __init__(
        self, columns: Columns, y: np.ndarray, w: np.ndarray, D: np.ndarray
    ) -> None:
        self.columns, self.y, self.w, self.D = columns, y, w, D
        self.single_w = w.astype(np.float32)

    def along(
        self, Cs: np.ndarray, start: np.ndarray, lent: Lent | None
    ) -> tuple[np.ndarray, Lent]:
        """Return (solutions [settings, sets, q], preconditioners) of rising C.

        start  solutions nearby, or zeros
        lent   their preconditioners; None: each C lends its own to the next one
        """
        out = np.zeros_like(start)
        used: Lent = []
        size = 1 if lent is None else self._side_by_side(start.shape[1])
        for a in range(0, Cs.size, size):
            part = slice(a, a + size)
            before = slice(max(0, a - 3), a)
            B = start[part] + _extrapolated(out[before] - start[before])
            P = used[-1:] or [None] if lent is None else lent[part]
            out[part], own = self.solve(Cs[part], B, P)
            used += own
        return out, used

    def _side_by_side(self, n_sets: int) -> int:
        """Return how many settings to solve side by side: wide products are quicker."""
        return max(1, min(SIDE_BY_SIDE, MOST_DECISIONS // self.y.size) // n_sets)

    def solve(
        self, Cs: np.ndarray, start: np.ndarray, lent: Lent
    ) -> tuple[np.ndarray, Lent]:
        """Return the solutions and the last preconditioners, from start [settings, sets, q]."""
        out, used = np.empty_like(start), list(lent)
        now = Now.at(start, self.columns.decide(start))
        for _ in range(STEPS):
            C = Cs[now.which]
            slope = self._slope(now, C)
            is_above = slope.value > now.base_value * (1 + FLAT)
            is_above &= now.far > SAFE_MOVE
            left, rest = self._steps(now, C, slope, ~is_above, used)
            now.B = now.base - now.step
            now.Z = self.columns.decide(now.B)
            now.measure_move()
            after = left * (rest + np.minimum(1.0, now.far**2))
            ended = after <= NEAR * np.minimum(C * slope.curved, MOST)
            out[now.which[ended]] = now.B[ended]
            now = now.only(~ended)
            if not now.which.size:
                return out, used
        raise Unended

    def _slope(self, now: Now, C: np.ndarray) -> Slope:
        """Return the objective and its first derivatives at the present coefficients."""
        Z, n = now.Z, len(now.Z)
        top, E, P = (
            np.empty((n, Z.shape[2])),
            np.empty_like(Z),
            np.empty_like(Z, np.float32),
        )
        softmax.lower(Z, top, E)
        np.exp(E, out=E)
        losses, curved = np.empty(n), np.empty(n)
        softmax.residuals(Z, top, E, self.y, self.w, P, losses, curved)
        G = self.columns.gather(E)
        G *= C[:, None, None]
        penalty = self.D * now.B
        G += penalty
        value = C * losses + 0.5 * (penalty * now.B).sum(axis=(1, 2))
        return Slope(value, centred(G), curved, P)

    def _steps(
        self, now: Now, C: np.ndarray, slope: Slope, down: np.ndarray, used: Lent
    ) -> tuple[np.ndarray, np.ndarray]:
        """Set the next steps: half the last one, or where the last led down, one of Newton.

        Returns (what was left before it, share of that which it leaves), infinite for the halves.
        """
        left, rest = np.full(C.size, np.inf), np.ones(C.size)
        now.step[~down] *= 0.5
        here = np.flatnonzero(down)
        if not here.size:
            return left, rest
        now.base[here], now.base_Z[here] = now.B[here], now.Z[here]
        now.base_value[here] = slope.value[here]
        level = now.spent == np.inf  # probabilities of 0 and 1 bend nothing
        slope.P[level] = 0.25 if slope.P.shape[1] == 1 else 1.0 / slope.P.shape[1]
        H = Curvature(self.columns, slope.P, self.single_w, self.D, C)
        self._renew(H, now, here, used)
        P = [used[s] for s in now.which[here]]
        curved = C[here] * slope.curved[here]
        solved = conjugate_gradients(H, here, slope.G[here], P, curved)
        now.step[here], left[here], rest[here], spent = solved
        now.spent[here] += spent
        return left, rest

    def _renew(self, H: Curvature, now: Now, here: np.ndarray, used: Lent) -> None:
        """Compute the preconditioners that are missing, or too poor to be worth keeping."""
        q = self.D.size
        worth = q / (PER_BLOCK if H.P.shape[1] > 1 else PER_ONLY)
        if q > LARGEST_SIDE:
            worth = FEW
        for i in here:
            s = now.which[i]
            if used[s] is None or now.spent[i] == np.inf:
                used[s] = H.diagonal(i)
            elif now.spent[i] > worth:
                used[s] = H.preconditioner(i)
            else:
                continue
            now.spent[i] = 0.0


def _extrapolated(path: np.ndarray) -> np.ndarray:
    """Return the next solution of a path, by the polynomial through its last three."""
    weights = {0: [], 1: [1.0], 2: [-1.0, 2.0]}.get(len(path), [1.0, -3.0, 3.0])
    last = path[len(path) - len(weights) :]
    extrapolated = np.zeros(path.shape[1:])
    for weight, solution in zip(weights, last, strict=True):
        extrapolated += weight * solution
    return extrapolated
