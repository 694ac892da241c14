"""Logistic regression: one path of Newton's steps along C per split; those inside start from that of their training part.

Cost of a split with n rows, p columns, K classes and S settings: O(S K n p) for some looks at each C, and O(K^2 n p^2) for each
of some second derivatives, fewer than S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import compute_class_weight

from ..kernels import logistic, scaling
from ..runtime.cancel import Stop
from ..runtime.threads import Team
from .base import Inside, Losses, Path, Refusal, Task, Unsuited, ranges
from .linear.lasso import stops_early
from .measure import Answers, Meter
from .per_split import FIRST
from .problem import Combination, Problem, SplitProblem

AXIS, COUNTED = "C", "margins"
LARGEST = 400  # coefficients whose second derivatives are worth solving
LOOKS = 8.0  # products with all columns at each C
CURVATURES = 4.0  # products of all pairs of columns along C
NEWTON = ("newton-cg", "newton-cholesky")  # solvers that mind no scale
FAR, FARTHEST = (
    30.0,
    1000.0,
)  # spreads away from zero, or between scales: where lbfgs, and where those, miss the minimum
UNEVEN = (
    "columns lie so far from zero, or differ so much in scale, that scikit-learn's solver stops short of the minimum, "
    "and refit gives its own; a StandardScaler ahead serves both"
)


def refuses(last: Any) -> str:
    """Why these parameters are not for the path; "" where they are."""
    if last.penalty not in ("l2", "deprecated") or last.l1_ratio not in (None, 0, 0.0):
        return "a penalty other than the square"
    if last.solver == "liblinear":
        return "solver='liblinear', which penalises the intercept"
    if last.solver in ("sag", "saga"):
        return f"solver={last.solver!r}, which ends where its random order of rows leaves it"
    if last.dual:
        return "dual=True"
    if last.class_weight not in (None, "balanced"):
        return "class_weight=<dict>"
    return stops_early(last)


@dataclass(frozen=True)
class Fitted:
    """A path: solutions and their tangents [2, settings in the order of C, sets, p], in units (x - mean) / scale.

    first    second derivatives of the loss [sets * p, sets * p] at the first C
    """

    path: np.ndarray
    first: np.ndarray
    weight: float  # of its rows
    mean: np.ndarray
    scale: np.ndarray
    present: np.ndarray  # codes of the classes of its rows

    def elsewhere(
        self, mean: np.ndarray, scale: np.ndarray, weight: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """(path, first) in other units, for rows of another weight."""
        p, (n_sets, q), path = mean.size, self.path.shape[2:], self.path.copy()
        path[..., p:] += (self.path[..., :p] @ ((mean - self.mean) / self.scale))[
            ..., None
        ]
        path[..., :p] *= scale / self.scale
        turn = np.diag(
            np.append(self.scale / scale, np.ones(q - p))
        )  # x there is turn @ (x here)
        turn[:p, p:] = ((self.mean - mean) / scale)[:, None]
        half = (turn @ self.first.reshape(n_sets, q, -1)).reshape(-1, q) @ turn.T
        return path, half.reshape(self.first.shape) * (weight / self.weight)

    def decisions(self, X: np.ndarray) -> np.ndarray:
        """[rows, settings in the order of C, sets]."""
        n_settings, n_sets, q = self.path[0].shape
        decisions = np.empty((len(X), n_settings * n_sets))
        B = np.ascontiguousarray(self.path[0].reshape(-1, q).T)
        scaling.decide_all(
            np.ascontiguousarray(X, dtype=np.float64),
            self.mean,
            self.scale,
            B,
            decisions,
        )
        return decisions.reshape(len(X), n_settings, n_sets)


class Line:
    """The settings of one combination, and how they are fitted."""

    def __init__(self, combination: Combination, meter: Meter) -> None:
        self.model, self.scaled, self.which = (
            combination.model,
            combination.scaled,
            combination.which,
        )
        if combination.values.dtype.itemsize < 8:
            raise Unsuited(
                f"C of {combination.values.dtype}, in which scikit-learn's products overflow"
            )
        Cs, self.places = np.unique(
            combination.values, return_inverse=True
        )  # what is given twice is the same twice
        self.Cs = np.ascontiguousarray(Cs, dtype=np.float64)
        self.meter, self.intercept = meter, bool(self.model.fit_intercept)

    def fit(
        self,
        X: np.ndarray,
        rows: np.ndarray,
        train: np.ndarray,
        near: Fitted | None,
        stop: Stop,
    ) -> Fitted:
        """The path of X[rows], which stand for the rows `train`; `near` is one of similar rows."""
        assert self.meter.codes is not None
        codes = self.meter.codes[train]
        present = np.flatnonzero(np.bincount(codes))
        y = np.searchsorted(present, codes)
        n_sets, p = 1 if present.size == 2 else present.size, X.shape[1]
        q = p + self.intercept
        if present.size < 2:
            raise Unsuited(
                "a training part holds one class only, and refit tells what that does"
            )
        if n_sets * q > LARGEST:
            raise Unsuited(
                f"more than {LARGEST} coefficients are faster found one setting at a time"
            )
        mean, scale = np.empty(p), np.empty(p)
        scaling.moments(X, rows, mean, scale)
        if not self.scaled:
            self._refuse_uneven(mean, scale)
            mean *= self.intercept
            scale[:] = 1.0
        T, path, first = (
            np.empty((q, rows.size)),
            np.empty((2, self.Cs.size, n_sets, q)),
            np.empty((n_sets * q, n_sets * q)),
        )
        scaling.columns(X, rows, mean, scale, T)
        if (T[:p, 0] == T[:p, -1]).all() and (T[:p] == T[:p, :1]).all():
            raise Unsuited(
                "all columns of a training part are constant, and rounding decides between its classes"
            )
        w, start, lent = self._weights(train, y), np.zeros_like(path), np.zeros((0, 0))
        if near is not None and np.array_equal(near.present, present):
            start, lent = near.elsewhere(mean, scale, w.sum())
        penalties = np.append(np.ones(p), np.zeros(q - p))
        how = logistic.along_C(
            T,
            y.astype(np.float64),
            w,
            penalties,
            self.Cs,
            stop.flag,
            start,
            lent,
            path,
            first,
        )
        stop.check()
        if how != logistic.FINE or not np.isfinite(path[0]).all():
            raise Unsuited(
                "Newton's steps do not end, and refit gives scikit-learn's own"
            )
        return Fitted(path, first, float(w.sum()), mean, scale, present)

    def _refuse_uneven(self, mean: np.ndarray, scale: np.ndarray) -> None:
        away, newton = float((np.abs(mean) / scale).max()), self.model.solver in NEWTON
        if away > (FARTHEST if newton else FAR) or (
            not newton and scale.max() > FAR * scale.min()
        ):
            raise Unsuited(UNEVEN)

    def _weights(self, train: np.ndarray, y: np.ndarray) -> np.ndarray:
        given = self.meter.data.weights
        w = np.ones(y.size) if given is None else given[train]
        if self.model.class_weight is None:
            return w
        by: np.ndarray = compute_class_weight(
            self.model.class_weight, classes=np.unique(y), y=y, sample_weight=w
        )
        return w * by[y]

    def decisions(self, fitted: Fitted, X: np.ndarray) -> np.ndarray:
        """[rows, settings, sets]."""
        return fitted.decisions(X)[:, self.places]


class LogisticSweep(Path):
    """Every setting of every split."""

    name = "path:logistic"
    reason = "one path along C serves every setting, and those inside start from the one of their training part"
    whole = compiles = True

    def __init__(self, problem: Problem) -> None:
        self.X, self.n_settings = problem.X, problem.n_settings
        self.plans, self.meters = [draw.plan for draw in problem.draws], problem.meters
        self.lines = [
            [Line(one, meter) for one in problem.combinations] for meter in self.meters
        ]
        self.work = float(sum(plan.n_inner + plan.n_parts for plan in self.plans))
        n_classes = max(
            2 if meter.classes is None else meter.classes.size for meter in self.meters
        )
        n_sets, n_lines = 1 if n_classes == 2 else n_classes, len(problem.combinations)
        each = (
            LOOKS * n_sets * self.n_settings
            + CURVATURES * n_sets**2 * self.X.shape[1] * n_lines
        )
        self.cost = self.X.size * each * self.work

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Parts one by one."""
        return ranges(self.plans[draw].n_parts, 1)

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """As Path.run."""
        (j,), plan = task.parts, self.plans[task.draw]
        train, test = plan.part(j)
        try:
            if isinstance(task, Inside):
                losses = self._inside(task.draw, j, train, team)
            else:
                fits = (
                    self._fit(task.draw, train, None, team)
                    if task.carry is None
                    else task.carry
                )
                answers = self._answers(task.draw, fits, test)
                losses = Losses(
                    *self.meters[task.draw].outer(test, FIRST, answers, task.chosen)
                )
        except Unsuited as why:
            return Refusal(str(why))
        return losses

    def _inside(self, draw: int, j: int, train: np.ndarray, team: Team) -> Losses:
        """The path of all training rows, then those of the inner splits, which start from it."""
        inner = self.plans[draw].inner[j]
        fits = self._fit(draw, train, None, team)

        def split(k: int) -> np.ndarray:
            own, test = inner[k]
            losses, _ = self.meters[draw].measure(
                test, FIRST, self._answers(draw, self._fit(draw, own, fits, team), test)
            )
            return losses[0]

        return Losses(np.array(team.map(split, range(len(inner)))), carry=fits)

    def _fit(
        self, draw: int, train: np.ndarray, near: list[Fitted] | None, team: Team
    ) -> list[Fitted]:
        lines = self.lines[draw]
        starts = [None] * len(lines) if near is None else near
        found = [
            line.fit(self.X, train, train, one, team.stop)
            for line, one in zip(lines, starts, strict=True)
        ]
        team.tell(1)
        return found

    def _answers(self, draw: int, fits: list[Fitted], test: np.ndarray) -> Answers:
        lines, X = self.lines[draw], self.X[test]
        found = [
            (line, line.decisions(one, X))
            for line, one in zip(lines, fits, strict=True)
        ]
        decisions = np.empty((test.size, self.n_settings, found[0][1].shape[2]))
        for line, own in found:
            decisions[:, line.which] = own
        return answers(decisions, fits[0].present, self.meters[draw], lines[0].model)


def answers_of_split(split: SplitProblem) -> tuple[Answers, int]:
    """(what every setting says of the test rows, 0) after one path."""
    line = Line(split.combination, split.meter)
    fitted = line.fit(
        split.X_train, np.arange(len(split.X_train)), split.train, None, split.stop
    )
    return answers(
        line.decisions(fitted, split.X_test), fitted.present, split.meter, line.model
    ), 0


def answers(
    decisions: np.ndarray, present: np.ndarray, meter: Meter, model: Any
) -> Answers:
    """What decisions [rows, settings, 1 or classes] say, of the classes that were present."""
    assert meter.classes is not None
    two, method = decisions.shape[2] == 1, meter.method_of(model)
    largest = (
        (decisions[:, :, 0] > 0).astype(np.int64) if two else decisions.argmax(axis=2)
    )
    there = np.zeros((1, meter.classes.size), dtype=bool)
    there[0, present] = True
    if not method:
        return Answers(present[largest], present=there)
    scores = np.zeros((*decisions.shape[:2], meter.classes.size))
    scores[:, :, present] = (
        _shares(decisions) if method == "predict_proba" else _both(decisions)
    )
    return Answers(present[largest], scores, method, there)


def _both(decisions: np.ndarray) -> np.ndarray:
    """A column for each class."""
    return (
        np.concatenate([-decisions, decisions], axis=2)
        if decisions.shape[2] == 1
        else decisions
    )


def _shares(decisions: np.ndarray) -> np.ndarray:
    """Probabilities of the classes."""
    if decisions.shape[2] == 1:
        p = expit(decisions)
        return np.concatenate([1.0 - p, p], axis=2)
    e = np.exp(decisions - decisions.max(axis=2, keepdims=True))
    shares: np.ndarray = e / e.sum(axis=2, keepdims=True)
    return shares
