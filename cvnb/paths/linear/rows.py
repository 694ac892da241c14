"""Linear models of a training part from its own rows, and what sums over rows make of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import ElasticNet, LinearRegression

from ...kernels import linear, linear_rows
from ..base import Unsuited
from ..problem import Combination
from .cholesky import ridge_by_cholesky
from .lasso import lasso_of_blocks

COLLINEAR = "columns of X are too nearly collinear for that many digits, and refit gives scikit-learn's own"
INFINITE = "a loss is not finite, and refit tells which settings fail"
NO_WEIGHT = "all weights of a training part are zero, and refit tells what that does"
NEAR = 1e-6  # smallest eigenvalue of a scaled Gram matrix with its penalty that leaves ten digits of a loss
DISTANT = "columns or targets are so far from zero that their own rounding shows, and refit gives scikit-learn's own"
WHITE = 0.1  # the same where the columns are nearly orthonormal to begin with
WIDE = 128  # columns from which on the matrix library sums products faster
LARGE, FEW = (
    96,
    5,
)  # a Cholesky factor for each of a few penalties costs less than one reduction of a matrix so large
PIECE = 1 << 15  # rows predicted and measured at once
CHUNK = 1 << 14  # rows taken at once where they have to be copied
FAR_TARGETS = (
    1e6  # spreads away from zero: residuals are smaller than the targets' spread
)
LOST = 1e-11  # what rounding may cost beside a penalty
BY_SQUARES, BY_DISTANCE = (
    10.0,
    1.2,
)  # rounding is so many times 1 / eigenvalue, and spreads away from zero
SURELY, HARDLY = (
    1e4,
    4.0,
)  # times the variance that is rounding: surely not constant; and where it may be taken for either
NONE, NO_BASIS = np.zeros(0), np.zeros((0, 0))
Origin = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Line:
    """The settings of one combination: the same model but for its penalties."""

    which: np.ndarray
    alphas: np.ndarray
    intercept: bool
    scaled: bool
    tol: float | None = (
        None  # of least squares: the relative singular value that scikit-learn takes for zero
    )
    l1_ratio: float | None = None  # of lasso and elastic net
    positive: bool = False

    @classmethod
    def of(cls, combination: Combination) -> Line:
        model, alphas = (
            combination.model,
            np.ascontiguousarray(combination.values, dtype=np.float64),
        )
        own = combination.which, alphas, bool(model.fit_intercept), combination.scaled
        if type(model) is LinearRegression:
            return cls(own[0], np.zeros(alphas.size), *own[2:], tol=float(model.tol))
        if isinstance(model, ElasticNet):
            return cls(
                *own, l1_ratio=float(model.l1_ratio), positive=bool(model.positive)
            )
        return cls(*own)

    @property
    def is_lasso(self) -> bool:
        """Whether it is lasso or elastic net."""
        return self.l1_ratio is not None

    @property
    def squares(self) -> bool:
        """Whether it is least squares."""
        return self.tol is not None

    @property
    def follows_scale(self) -> bool:
        """Whether a scaler moves its predictions with the training part: all but least squares with an intercept."""
        return self.scaled and not (self.squares and self.intercept)

    @property
    def frame(self) -> tuple[bool, bool, float | None, bool]:
        """What its sums depend on: X centred, y centred, a basis for its tolerance, in which units that is judged."""
        return (
            self.intercept or self.scaled,
            self.intercept,
            self.tol,
            self.squares and self.scaled,
        )


@dataclass(frozen=True)
class Design:
    """A = root * (X - centre - rest) * scale and b = root * (Y - level): rows as a model sees them, about their own means."""

    A: np.ndarray
    b: np.ndarray
    scale: np.ndarray
    centre: np.ndarray
    level: np.ndarray
    rest: np.ndarray


class Rounding:
    """How many times as large as the rounding of its targets the rounding of a fit is; never less than 1."""

    def __init__(self, times: float = 1.0) -> None:
        self.times = times

    def at_least(self, times: float) -> None:
        """Note one reason for so much."""
        self.times = max(self.times, float(times))


def amplified(seen: np.ndarray) -> np.ndarray:
    """[fits]: the same from what the kernels saw, [fits, (smallest eigenvalue, spreads away from zero)]."""
    times: np.ndarray = np.maximum(
        1.0, np.maximum(BY_SQUARES / seen[:, 0], BY_DISTANCE * seen[:, 1])
    )
    return times


class Rows:
    """The data as the kernels take them."""

    def __init__(
        self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, stop: np.ndarray
    ) -> None:
        self.X, self.Y, self.root, self.stop = (
            X,
            Y,
            NONE if weights is None else np.sqrt(weights),
            stop,
        )
        self.p, self.n_targets = X.shape[1], Y.shape[1]
        self.width = (self.p + 1 + self.n_targets) ** 2 + 2 * self.p + 1

    def origin(
        self, rows: np.ndarray, centred: bool, levelled: bool, weighted: bool = False
    ) -> Origin:
        """(mean of X, mean of Y) over these rows, zeros where they stay as they are."""
        centre, level, root = (
            np.zeros(self.p),
            np.zeros(self.n_targets),
            self.root if weighted else NONE,
        )
        if centred:
            linear_rows.centre_of(self.X, rows, root, centre)
        if levelled:
            linear_rows.centre_of(self.Y, rows, root, level)
        return centre, level

    def sums(
        self,
        rows: np.ndarray,
        starts: np.ndarray,
        origin: Origin,
        basis: np.ndarray = NO_BASIS,
    ) -> np.ndarray:
        """[blocks, width]: sums over rows[starts[i] : starts[i + 1]]; in a basis (x - centre) @ basis stands for x - centre."""
        out = np.zeros((len(starts) - 1, self.width))
        if not basis.size and self.p < WIDE:
            linear_rows.sum_blocks(
                self.X, self.Y, self.root, rows, starts, *origin, self.stop, out
            )
        elif self.p < WIDE and starts[-1] - starts[0] <= CHUNK:
            self._sum_whitened(
                rows[starts[0] : starts[-1]], starts - starts[0], origin, basis, out
            )
        else:
            for i in range(len(out)):
                for start in range(starts[i], starts[i + 1], CHUNK):
                    part, own = (
                        rows[start : min(start + CHUNK, starts[i + 1])],
                        np.zeros((1, self.width)),
                    )
                    (self._sum_wide if self.p >= WIDE else self._sum_whitened)(
                        part, np.array([0, part.size]), origin, basis, own
                    )
                    out[i] += own[0]
                    if self.stop[0]:
                        return out
        return out

    def _sum_whitened(
        self,
        rows: np.ndarray,
        starts: np.ndarray,
        origin: Origin,
        basis: np.ndarray,
        out: np.ndarray,
    ) -> None:
        Z, everything = (self.X[rows] - origin[0]) @ basis, np.arange(rows.size)
        root = self.root[rows] if self.root.size else self.root
        zero = np.zeros(self.p)
        linear_rows.sum_blocks(
            Z, self.Y[rows], root, everything, starts, zero, origin[1], self.stop, out
        )

    def _sum_wide(
        self,
        rows: np.ndarray,
        starts: np.ndarray,
        origin: Origin,
        basis: np.ndarray,
        out: np.ndarray,
    ) -> None:
        """One block, by the matrix library."""
        Z = self.X[rows] - origin[0]
        Z = Z @ basis if basis.size else Z
        A = np.hstack([Z, np.ones((rows.size, 1)), self.Y[rows] - origin[1]])
        if self.root.size:
            A *= self.root[rows, None]
        out[0] = np.concatenate(
            [(A.T @ A).ravel(), Z.sum(axis=0), (Z * Z).sum(axis=0), [rows.size]]
        )

    def models(
        self,
        outside: np.ndarray,
        blocks: np.ndarray,
        origin: Origin,
        line: Line,
        basis: np.ndarray = NO_BASIS,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Models of outside + all blocks but one; of all where there are no blocks.

        (coefficients [n, p + 1, targets * settings], how it went [n], how much each amplifies rounding [n])
        """
        n, near = max(1, len(blocks)), WHITE if basis.size else NEAR
        coefs, how = (
            np.zeros((n, self.p + 1, self.n_targets * line.alphas.size)),
            np.zeros(n, dtype=np.int64),
        )
        seen = np.empty((n, 2))
        seen[:] = 1.0, 0.0
        if line.is_lasso:
            lasso_of_blocks(
                outside, blocks, self.p, *origin, line, self.stop, coefs, how, seen
            )
            return coefs, how, amplified(seen)
        solve = (
            ridge_by_cholesky
            if self.p >= LARGE and line.alphas.size <= FEW
            else linear.ridge_of_blocks
        )
        centre, sums = (
            np.zeros(self.p) if basis.size else origin[0],
            (outside, blocks, self.p, self.n_targets),
        )
        solve(
            *sums,
            centre,
            origin[1],
            line.intercept,
            line.follows_scale,
            line.alphas,
            near,
            self.stop,
            coefs,
            how,
            seen,
        )
        if basis.size:
            coefs[:, :-1] = basis @ coefs[:, :-1]
        return coefs, how, amplified(seen)

    def left_out(
        self,
        total: np.ndarray,
        origin: Origin,
        line: Line,
        basis: np.ndarray,
        test: np.ndarray,
        out: np.ndarray,
        alone: np.ndarray,
        rounding: Rounding,
    ) -> int:
        """Fill out[t] with the decisions, on row test[t], of the model of all rows but that one; how it went.

        alone[t]: that row has nearly all the weight in its own fit, and is to be fitted without.
        """
        p, q, n, n_targets = (
            self.p,
            self.p + 1 + self.n_targets,
            line.alphas.size,
            self.n_targets,
        )
        shift, turn, lower, pivots = (
            np.empty(p),
            np.empty((p, p)),
            np.empty((n, p)),
            np.empty((n, p)),
        )
        f, near, centre = (
            np.empty((n, n_targets, p)),
            WHITE if basis.size else NEAR,
            np.zeros(p) if basis.size else origin[0],
        )
        seen, own = np.array([[1.0, 0.0]]), (line.intercept, line.alphas, near)
        how = linear.factor(
            total, p, n_targets, centre, *own, shift, turn, lower, pivots, f, seen[0]
        )
        rounding.at_least(amplified(seen)[0])
        if how != linear.FINE:
            return how
        means, weight = origin[1], np.inf
        if line.intercept:
            weight = total[p * q + p]
            means = means + total[: q * q].reshape(q, q)[p + 1 :, p] / weight
        turn = basis @ turn if basis.size else turn
        U = turn.T @ (self.X[test] - origin[0]).T
        linear.left_out(
            U,
            test,
            self.Y,
            self.root,
            means,
            weight,
            shift,
            lower,
            pivots,
            f,
            out,
            alone,
        )
        return how

    def refuse_far_targets(self, rows: np.ndarray, rounding: Rounding) -> None:
        """An error where targets, which an intercept centres, are so far from zero that their rounding shows."""
        for y in self.Y.T:
            first = y[rows[0]]
            y = y[rows]
            y -= first
            mean = y.sum() / y.size
            square, level = float(y @ y) / y.size - mean * mean, first + mean
            if square > 0:
                away = abs(level) / math.sqrt(square)
                if away > FAR_TARGETS:
                    raise Unsuited(DISTANT)
                rounding.at_least(BY_DISTANCE * away)

    def spread(self, rows: np.ndarray) -> float:
        """The standard deviation of the targets of those rows that have a weight."""
        Y = self.Y[rows[self.root[rows] > 0] if self.root.size else rows]
        Y -= Y.sum() / Y.size  # a copy of its own, as taken by row numbers
        return math.sqrt(float(np.vdot(Y, Y)) / Y.size)

    def predict(
        self,
        rows: np.ndarray,
        starts: np.ndarray,
        centre: np.ndarray,
        coefs: np.ndarray,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Decisions [rows, targets * settings], those of rows[starts[i] : starts[i + 1]] by coefs[i]; into out where given."""
        out = np.empty((rows.size, coefs.shape[2])) if out is None else out
        linear_rows.predict(self.X, rows, starts, centre, coefs, self.stop, out)
        return out

    def mean_losses(
        self,
        rows: np.ndarray,
        starts: np.ndarray,
        centre: np.ndarray,
        coefs: np.ndarray,
        w: np.ndarray,
        squares: bool,
    ) -> np.ndarray:
        """[splits, settings]: mean squared, else absolute, loss of the same decisions on numbers, long parts piece by piece."""
        out, weights = np.zeros((len(coefs), coefs.shape[2])), np.zeros(len(coefs))
        for first in range(0, rows.size, PIECE):
            part, own = (
                rows[first : first + PIECE],
                np.clip(starts - first, 0, min(PIECE, rows.size - first)),
            )
            linear_rows.add_mean_losses(
                self.X,
                part,
                own,
                centre,
                coefs,
                self.Y,
                w,
                squares,
                self.stop,
                out,
                weights,
            )
        return out / np.where(weights > 0, weights, 1.0)[:, None]

    def fit_penalised(
        self, train: np.ndarray, line: Line, rounding: Rounding
    ) -> tuple[np.ndarray, np.ndarray]:
        """(centre, coefficients [p + 1, targets * settings]) of the model of these rows."""
        dual = self.p > train.size and not line.is_lasso
        return (self._fit_dual if dual else self._fit_primal)(train, line, rounding)

    def _fit_primal(
        self, train: np.ndarray, line: Line, rounding: Rounding
    ) -> tuple[np.ndarray, np.ndarray]:
        origin = self.origin(
            train,
            line.intercept or line.scaled,
            line.intercept,
            weighted=line.intercept,
        )
        total = self.sums(train, np.array([0, train.size]), origin)[0]
        coefs, how, times = self.models(total, np.zeros((0, self.width)), origin, line)
        rounding.at_least(times[0])
        if how[0] != linear.FINE and not self.stop[0]:
            raise Unsuited(DISTANT if how[0] == linear.DISTANT else COLLINEAR)
        return origin[0], coefs[0]

    def _fit_dual(
        self, train: np.ndarray, line: Line, rounding: Rounding
    ) -> tuple[np.ndarray, np.ndarray]:
        """From the products of rows: coefficients = A' (A A' + alpha I)^-1 b."""
        design = self.design(train, line)
        A, b, scale = design.A, design.b, design.scale
        if (
            line.scaled and not line.intercept
        ):  # A' 1 is zero but for rounding, and b has a part along 1, blown up by 1 / alpha
            away = max(1.0, float(np.abs(design.centre * scale).max()))
            level = max(
                1.0, float(np.abs(b.mean(axis=0)).max() / (b.std(axis=0).min() or 1.0))
            )
            if (
                linear.EPS * away * level * (A**2).sum() / train.size
                > LOST * line.alphas.min()
            ):
                raise Unsuited(COLLINEAR)
        self.refuse_far(
            line,
            design.centre,
            np.sqrt((A**2).sum(axis=0) / self.weight(train)) / scale,
            rounding,
        )
        n = train.size
        total = np.zeros((n + 1 + self.n_targets) ** 2 + 2 * n + 1)
        sums = total[: (n + 1 + self.n_targets) ** 2].reshape(
            n + 1 + self.n_targets, -1
        )
        K = A @ A.T
        if line.intercept:  # K is zero along the roots of the weights, and b has no part there: any number may stand in its place
            root = self.root[train] if self.root.size else np.ones(n)
            K += (np.trace(K) / n / (root @ root)) * np.outer(root, root)
        sums[:n, :n], sums[n + 1 :, :n] = K, b.T
        z, how = (
            np.zeros((1, n + 1, self.n_targets * line.alphas.size)),
            np.zeros(1, dtype=np.int64),
        )
        none, zero = np.zeros((0, total.size)), (np.zeros(n), np.zeros(self.n_targets))
        solve = (
            ridge_by_cholesky
            if n >= LARGE and line.alphas.size <= FEW
            else linear.ridge_of_blocks
        )
        seen = np.array([[1.0, 0.0]])
        solve(
            total,
            none,
            n,
            self.n_targets,
            *zero,
            False,
            False,
            line.alphas,
            NEAR,
            self.stop,
            z,
            how,
            seen,
        )
        rounding.at_least(amplified(seen)[0])
        if how[0] != linear.FINE and not self.stop[0]:
            raise Unsuited(COLLINEAR)
        coefs = np.empty((self.p + 1, self.n_targets * line.alphas.size))
        coefs[:-1] = scale[:, None] * (A.T @ z[0, :-1])
        coefs[-1] = np.repeat(design.level, line.alphas.size) - design.rest @ coefs[:-1]
        return design.centre, coefs

    def design(self, train: np.ndarray, line: Line) -> Design:
        """These rows as the model sees them."""
        scale = self.scale(train) if line.scaled else np.ones(self.p)
        centre, level = self.origin(
            train,
            line.intercept or line.scaled,
            line.intercept,
            weighted=line.intercept,
        )
        root = self.root[train, None] if self.root.size else 1.0
        X, Y, rest = self.X[train] - centre, self.Y[train] - level, np.zeros(self.p)
        if line.intercept:  # the mean of large numbers is rounded, and what is left of it is taken out once more
            w = self.root[train] ** 2 if self.root.size else np.ones(train.size)
            rest, more = w @ X / w.sum(), w @ Y / w.sum()
            X, Y, level = X - rest, Y - more, level + more
        return Design(root * (X * scale), root * Y, scale, centre, level, rest)

    def weight(self, rows: np.ndarray) -> float:
        """The sum of the weights of these rows."""
        return (
            float((self.root[rows] ** 2).sum()) if self.root.size else float(rows.size)
        )

    def refuse_far(
        self, line: Line, mean: np.ndarray, spread: np.ndarray, rounding: Rounding
    ) -> None:
        """An error where a column is so far from zero that its rounding shows; a scaler and an intercept take that away."""
        varies = (
            spread > 0
        )  # of a constant column it is 0 exactly: so exact is its centre
        if (
            line.scaled
            and not line.intercept
            and (np.abs(mean[~varies]) > linear.FAR).any()
        ):
            raise Unsuited(
                DISTANT
            )  # what scikit-learn's rounded mean leaves of a constant is an intercept
        if line.intercept == line.scaled or not varies.any():
            return
        away = float((np.abs(mean[varies]) / spread[varies]).max())
        if away > linear.FAR:
            raise Unsuited(DISTANT)
        rounding.at_least(BY_DISTANCE * away)

    def scale(self, train: np.ndarray) -> np.ndarray:
        """What a StandardScaler multiplies by, a constant column by 1."""
        mean, _ = self.origin(train, True, False)
        X, n = self.X[train] - mean, train.size
        variance = (
            np.mean(X**2, axis=0) - np.mean(X, axis=0) ** 2
        )  # the mean of large numbers is rounded
        constant = nearly_constant(variance, mean, n, 1.0)
        if (
            nearly_constant(variance, mean, n, HARDLY)
            != nearly_constant(variance, mean, n, 1 / HARDLY)
        ).any():
            raise Unsuited(
                "a column is so nearly constant that rounding decides whether it is scaled"
            )
        return np.where(constant, 1.0, 1 / np.sqrt(np.where(constant, 1.0, variance)))


def nearly_constant(
    variance: np.ndarray, mean: np.ndarray, n: float, margin: float
) -> np.ndarray:
    """[columns]: whether a variance is at most `margin` times what rounding may leave of a constant, as scikit-learn has it."""
    return variance <= margin * (
        n * linear.EPS * variance + (n * mean * linear.EPS) ** 2
    )
