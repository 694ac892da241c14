"""Logistic regression: one path of Newton's steps along C per split; inner splits start from
the path of their training part.

Cost of a split with n rows, p columns, K classes and S settings, with up to 400 coefficients:
O(S K n p) for a few passes over the rows at each C, and O(K^2 n p^2) for each of a few second
derivatives, fewer than S. With more of them O(S K n p) for some fifty products at each C, and
O(K n p^2) for each of a few preconditioners, in as much memory as K tables of p x p in single
precision, 32 MB at most. Of p > n columns n are left after O(p n^2). Of sparse rows only the
nonzero numbers count, in four copies of a training part.

An l1 or elastic net penalty (two classes, solver="saga") costs O(n p) for some five passes at
each C, and O(n k^2 + k^3) for one or two second derivatives of k nonzero or nearly nonzero
columns. saga stops after one pass, with an intercept that depends on the random order of the
rows, if all coefficients are zero; then this path gives the log odds, which are the minimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from ..runtime.threads import Team
from .along_c import LARGEST, CPath, Fitted, l1_share
from .base import Inside, Losses, Path, Refusal, Task, Unsuited, ranges
from .linear.lasso import stops_early
from .measure import FIRST, LossEvaluator, Predictions
from .problem import Problem, SplitProblem

# With factors, products with all columns at each C, and of all pairs of columns along C:
PASSES, CURVATURES = 8.0, 4.0
# With matrix products, the same at each C, and what their calls cost besides:
PRODUCTS, CALLS = 25.0, 4e6
# and those for each column besides, as iterations go on until a preconditioner is worth its
# cost: with one set of coefficients, and with several
PER_COLUMN = 0.03, 0.1
TWO_ON_SPARSE = (
    "sparse X and two classes: scikit-learn's solver stops early there, sooner than the "
    "minimum is reached; as X.toarray() it is on the fast path, where memory allows"
)


def refuses(last: Any) -> str:
    """Return why this path cannot handle these parameters; "" if it can."""
    if last.penalty is None:
        return "penalty=None; a penalty, however small, is fast"
    if last.solver == "liblinear":
        return (
            "solver='liblinear', which penalises the intercept; with solver='saga' and "
            "the same l1_ratio it is on the fast path"
        )
    if last.solver == "sag":
        return (
            f"solver={last.solver!r}, whose result depends on a random order of rows; "
            "with solver='lbfgs' it is on the fast path"
        )
    if last.dual:
        return "dual=True"
    if last.class_weight not in (None, "balanced"):
        return "class_weight=<dict>; class_weight='balanced' and sample_weight are fast"
    return stops_early(last)


def refuses_sparse(last: Any) -> str:
    """Return why this path cannot handle these parameters on sparse rows; "" if it can."""
    if l1_share(last):
        return (
            "sparse X and an l1 penalty; two classes are on the fast path as X.toarray(), "
            "more with l1_ratio=0"
        )
    return ""


def refuse_two_classes(X: Any, evaluator: LossEvaluator) -> None:
    """Raise Unsuited for two classes on sparse rows."""
    assert evaluator.classes is not None
    if sp.issparse(X) and evaluator.classes.size == 2:
        raise Unsuited(TWO_ON_SPARSE)


class LogisticPath(Path):
    """Every setting of every split."""

    name = "path:logistic"
    reason = (
        "one path along C serves every setting, and inner splits start from the path of "
        "their training part"
    )
    whole = compiles = True

    def __init__(self, problem: Problem) -> None:
        self.X, self.n_settings = problem.X, problem.n_settings
        self.draws, self.evaluators = problem.draws, problem.evaluators
        refuse_two_classes(self.X, self.evaluators[0])
        self.paths = [
            [CPath(combination, evaluator) for combination in problem.combinations]
            for evaluator in self.evaluators
        ]
        plans = [draw.plan for draw in self.draws]
        self.work = float(sum(plan.n_inner + plan.n_parts for plan in plans))
        self.cost = self._multiplications_of_a_fit() * self.work

    def _multiplications_of_a_fit(self) -> float:
        """Return the multiplications of a fit of all combinations, on all rows."""
        (m, p), n_paths = self.X.shape, len(self.paths[0])
        all_classes = [evaluator.classes for evaluator in self.evaluators]
        n_classes = max(2 if own is None else own.size for own in all_classes)
        n_sets, width = 1 if n_classes == 2 else n_classes, min(p, m)
        if sp.issparse(self.X):
            each = PRODUCTS * self.X.nnz * n_sets + CALLS
            return each * self.n_settings
        basis = float(p * m * m * n_paths) if p > m else 0.0
        if n_sets * width > LARGEST:
            products = PRODUCTS + PER_COLUMN[n_sets > 1] * width
            each = products * m * width * n_sets + CALLS
            return basis + each * self.n_settings
        curvatures = CURVATURES * n_sets**2 * width * n_paths
        return basis + m * width * (PASSES * n_sets * self.n_settings + curvatures)

    def batches(self, draw: int, n: int, elsewhere: bool) -> list[range]:
        """Return the parts one by one."""
        return ranges(self.draws[draw].plan.n_parts, 1)

    def run(self, task: Task, team: Team) -> Losses | Refusal:
        """Run as Path.run."""
        (j,) = task.parts
        train, test = self.draws[task.draw].plan.part(j)
        try:
            if isinstance(task, Inside):
                return self._inside(task.draw, j, train, team)
            fits = task.carry
            if fits is None:
                fits = self._fit(task.draw, train, None, team)
            predictions = self._predictions(task.draw, fits, test)
            evaluator = self.evaluators[task.draw]
            return Losses(*evaluator.outer(test, FIRST, predictions, task.chosen))
        except Unsuited as why:
            return Refusal(str(why))

    def _inside(self, draw: int, j: int, train: np.ndarray, team: Team) -> Losses:
        """Fit the path of all training rows, then those of the inner splits from there."""
        inner, evaluator = self.draws[draw].plan.inner[j], self.evaluators[draw]
        near = self._fit(draw, train, None, team)

        def losses_of(k: int) -> np.ndarray:
            own, test = inner[k]
            fits = self._fit(draw, own, near, team)
            predictions = self._predictions(draw, fits, test)
            return evaluator.measure(test, FIRST, predictions)[0][0]

        return Losses(np.array(team.map(losses_of, range(len(inner)))), carry=near)

    def _fit(
        self, draw: int, train: np.ndarray, near: list[Fitted] | None, team: Team
    ) -> list[Fitted]:
        """Fit the paths of all combinations on the training rows."""
        paths = self.paths[draw]
        starts = [None] * len(paths) if near is None else near
        fits = [
            path.fit(self.X, train, train, start, team.stop)
            for path, start in zip(paths, starts, strict=True)
        ]
        team.advance(1)
        return fits

    def _predictions(
        self, draw: int, fits: list[Fitted], test: np.ndarray
    ) -> Predictions:
        """Return the predictions of every setting for the test rows."""
        paths, X = self.paths[draw], self.X[test]
        n_sets = fits[0].path.shape[2]
        decisions = np.empty((test.size, self.n_settings, n_sets))
        for path, fitted in zip(paths, fits, strict=True):
            decisions[:, path.which] = path.decisions(fitted, X)
        evaluator, model = self.evaluators[draw], paths[0].model
        return class_predictions(decisions, fits[0].present, evaluator, model)


def predictions_of_split(split: SplitProblem) -> tuple[Predictions, int]:
    """Return (predictions of every setting for the test rows, 0), from one path."""
    refuse_two_classes(split.X_train, split.evaluator)
    path = CPath(split.combination, split.evaluator)
    rows = np.arange(split.X_train.shape[0])
    fitted = path.fit(split.X_train, rows, split.train, None, split.stop)
    decisions = path.decisions(fitted, split.X_test)
    present, evaluator = fitted.present, split.evaluator
    return class_predictions(decisions, present, evaluator, path.model), 0


def class_predictions(
    decisions: np.ndarray, present: np.ndarray, evaluator: LossEvaluator, model: Any
) -> Predictions:
    """Return the predictions, and the scores if wanted, that follow from decisions.

    decisions  [rows, settings, 1 for two classes, else one per class of the training part]
    present    codes of the classes of the training part
    model      whose method gives the scores
    """
    assert evaluator.classes is not None
    method = evaluator.method_of(model)
    if decisions.shape[2] == 1:
        largest = (decisions[:, :, 0] > 0).astype(np.int64)
    else:
        largest = decisions.argmax(axis=2)
    is_present = np.zeros((1, evaluator.classes.size), dtype=bool)
    is_present[0, present] = True
    if not method:
        return Predictions(present[largest], present=is_present)
    if method == "predict_proba":
        decisions = _probabilities(decisions)
    elif decisions.shape[2] == 1:
        decisions = np.concatenate([-decisions, decisions], axis=2)
    scores = np.zeros((*decisions.shape[:2], evaluator.classes.size))
    scores[:, :, present] = decisions
    return Predictions(present[largest], scores, method, is_present)


def _probabilities(decisions: np.ndarray) -> np.ndarray:
    """Return the probabilities of the classes."""
    if decisions.shape[2] == 1:
        p = expit(decisions)
        return np.concatenate([1.0 - p, p], axis=2)
    e = np.exp(decisions - decisions.max(axis=2, keepdims=True))
    probabilities: np.ndarray = e / e.sum(axis=2, keepdims=True)
    return probabilities
