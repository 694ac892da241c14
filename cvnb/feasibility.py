"""Feasibility: every outer and inner split is walked before the first fit.

What cannot work is refused, naming the splits and what would work. What is legal but deserves a look becomes a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from .data import Data
from .errors import DataError, FamilyError, InfeasibleError, LossError
from .families import Family, check_parameters, estimator_label, format_setting
from .layouts import Splits
from .losses import Loss, check_loss
from .plan import Plan

# scikit-learn's classifiers that refuse to be fitted on one class (tests/test_feasibility.py tries them all)
NEED_TWO_CLASSES = {
    "GaussianProcessClassifier", "GradientBoostingClassifier", "LinearDiscriminantAnalysis", "LinearSVC",
    "LogisticRegression", "LogisticRegressionCV", "NuSVC", "PassiveAggressiveClassifier", "Perceptron",
    "QuadraticDiscriminantAnalysis", "SGDClassifier", "SVC",
}  # fmt: skip
IMPUTES_OR_SELECTS = ("impute", "compose", "FeatureUnion", "FunctionTransformer", "TableVectorizer")


def check(plan: Plan, data: Data, task: str, family: Family, loss: Loss) -> list[str]:
    """Notes on this plan; an error where some split cannot be fitted or measured."""
    check_target(data, task, family)
    check_parameters(family)
    check_loss(loss, data.y, task, data.weights is not None)
    candidates = [family.candidate(setting) for setting in family.settings]
    _check_columns(data, family)
    _check_responses(family, candidates, loss)
    if data.weights is not None:
        _check_takes_weights(family, candidates)
    notes: list[str] = []
    for level, walk in (("outer", _outer(plan)), ("inner", _inner(plan))):
        notes += _walk(level, walk, data, task, family, candidates, loss)
    return notes


def check_target(data: Data, task: str, family: Family) -> None:
    """Refuse a target of the wrong kind for this estimator."""
    y, who = data.y, family.label
    if task == "regression" and y.dtype.kind not in "biuf":
        raise DataError(f"y holds labels such as {y[0]!r}, but {who} is a regression; use a classifier.")
    if task == "classification" and y.dtype.kind == "f" and not np.array_equal(y, np.floor(y)):
        raise DataError(f"Unknown label type: y is continuous (such as {y[y != np.floor(y)][0]!r}), but {who} is a classifier.")


def _check_columns(data: Data, family: Family) -> None:
    steps = [step for _, step in family.estimator.steps] if isinstance(family.estimator, Pipeline) else [family.estimator]
    data.check_finite(_lets_nan_through(steps), family.label)


def _lets_nan_through(steps: list[Any]) -> bool:
    """Whether NaN in X can be right: the first step that sees it takes it, and so on until one may have removed it."""
    for step in steps:
        if step in (None, "passthrough"):
            continue
        if isinstance(step, str) or not hasattr(step, "__sklearn_tags__"):
            return True
        if any(word in f"{type(step).__module__}.{type(step).__name__}" for word in IMPUTES_OR_SELECTS):
            return True
        if isinstance(step, Pipeline):
            return _lets_nan_through([one for _, one in step.steps])
        if not get_tags(step).input_tags.allow_nan:
            inner = getattr(step, "estimator", None)  # a meta-estimator's tag may not speak for what it wraps
            return inner is not None and hasattr(inner, "fit") and _lets_nan_through([inner])
    return True


def _check_responses(family: Family, candidates: list[Any], loss: Loss) -> None:
    for setting, candidate in zip(family.settings, candidates, strict=True):
        if not hasattr(candidate, loss.response):
            with_setting = f" with {format_setting(setting)}" if setting else ""
            raise LossError(
                f"the {loss.name} loss needs {loss.response}, which {estimator_label(candidate)}{with_setting} does not have; "
                "use loss='zero_one' or an estimator with probabilities."
            )


def _check_takes_weights(family: Family, candidates: list[Any]) -> None:
    for candidate in candidates:
        last = candidate.steps[-1][1] if isinstance(candidate, Pipeline) else candidate
        if not has_fit_parameter(last, "sample_weight"):
            raise FamilyError(f"{type(last).__name__} takes no sample_weight in fit; drop the weights or use another model.")


def _outer(plan: Plan) -> Iterator[tuple[str, Splits]]:
    if plan.outer_layout is not None:
        yield "outer split {k}", plan.outer


def _inner(plan: Plan) -> Iterator[tuple[str, Splits]]:
    for j in range(plan.n_parts) if plan.inner_layouts is not None else ():
        inside = "" if plan.outer_layout is None else f" of outer split {j}"
        yield f"inner split {{k}}{inside}", plan.inner[j]


@dataclass
class Walk:
    """What one walk over the splits of a level met, by the names of the splits."""

    empty: list[str] = field(default_factory=list)
    weightless: list[str] = field(default_factory=list)
    undefined: list[tuple[str, str]] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    smallest: float = np.inf
    smallest_at: str = ""

    def over(self, where: str, splits: Splits, data: Data, codes: np.ndarray, loss: Loss) -> None:
        """Look at every split of one list; all but a few are seen without making their row numbers."""
        sizes = splits.layout.sizes()
        self.empty += [where.format(k=k) for k in np.flatnonzero((sizes == 0).any(axis=1))]
        least = int(np.argmin(sizes[:, 0]))
        if sizes[least, 0] < self.smallest:
            self.smallest, self.smallest_at = int(sizes[least, 0]), where.format(k=least)
        most = np.bincount(splits.codes(codes)).max()  # only a part no larger than the commonest class can have one class
        for k in np.flatnonzero(sizes[:, 0] <= most):
            if np.unique(codes[splits[k][0]]).size == 1:
                self.constant.append(where.format(k=k))
        if data.weights is not None and not data.weights.all():
            for k, parts in enumerate(splits):
                if not all(data.weights[part].any() for part in parts):
                    self.weightless.append(where.format(k=k))
        if loss.scorer is not None:
            for k, (_, test) in enumerate(splits):
                if why := loss.undefined_on(data.y[test]):
                    self.undefined.append((where.format(k=k), why))


def _walk(
    level: str, walk: Iterator[tuple[str, Splits]], data: Data, task: str, family: Family, candidates: list[Any], loss: Loss
) -> list[str]:
    """Notes of one level; an error naming the first splits that cannot work."""
    codes, met = np.unique(data.y, return_inverse=True)[1], Walk()
    for where, splits in walk:
        met.over(where, splits, data, codes, loss)
    if met.empty:
        raise InfeasibleError(
            f"{_some(met.empty)} has an empty part; use fewer {level} folds, a smaller buffer or another share."
        )
    if met.weightless:
        raise InfeasibleError(f"every row of a part of {_some(met.weightless)} has weight 0, so nothing is measured there.")
    if met.undefined:
        raise InfeasibleError(
            f"{loss.score_name} is not defined on the test part of {_some([where for where, _ in met.undefined])} "
            f"({met.undefined[0][1]}); use larger test parts, or a loss with a value for every row such as loss='log' or 'squared'."
        )
    _check_neighbours(family, candidates, met.smallest, met.smallest_at)
    return _notes_of_constant_parts(met.constant, task == "classification", candidates)


def _check_neighbours(family: Family, candidates: list[Any], smallest: float, where: str) -> None:
    for setting, candidate in zip(family.settings, candidates, strict=True):
        last = candidate.steps[-1][1] if isinstance(candidate, Pipeline) else candidate
        if not type(last).__name__.startswith("KNeighbors") or not last.n_neighbors > smallest:
            continue
        name = next((key for key in setting if family.aliases.get(key, key).endswith("n_neighbors")), "n_neighbors")
        raise InfeasibleError(
            f"{name}={last.n_neighbors} needs {last.n_neighbors} training rows, but {where} has {int(smallest)}; "
            f"lower {name} or use fewer folds."
        )


def _notes_of_constant_parts(where: list[str], classes: bool, candidates: list[Any]) -> list[str]:
    if not where:
        return []
    if not classes:
        return [f"y is constant in the training part of {_some(where)}."]
    for candidate in candidates:
        last = candidate.steps[-1][1] if isinstance(candidate, Pipeline) else candidate
        if type(last).__name__ in NEED_TWO_CLASSES and type(last).__module__.startswith("sklearn."):
            raise InfeasibleError(
                f"{type(last).__name__} needs two classes, but {_some(where)} trains on one class only; use fewer folds, "
                "stratify, or another estimator."
            )
    return [f"One class only in the training part of {_some(where)}: it is predicted there whatever X is."]


def _some(where: list[str]) -> str:
    """The first few splits by name."""
    return ", ".join(where[:3]) + (f" and {len(where) - 3} more" if len(where) > 3 else "")
