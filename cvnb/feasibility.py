"""Feasibility: every outer and inner split is walked before the first fit.

What cannot work is refused, naming the splits and what would work. What is legal but deserves a look becomes a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
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
    "CalibratedClassifierCV", "FixedThresholdClassifier", "GaussianProcessClassifier", "GradientBoostingClassifier",
    "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "NearestCentroid", "NuSVC", "OneVsOneClassifier",
    "PassiveAggressiveClassifier", "Perceptron", "QuadraticDiscriminantAnalysis", "SGDClassifier", "SVC",
    "TunedThresholdClassifierCV",
}  # fmt: skip
# and its wrappers that need what they wrap
HAND_ON = {
    "AdaBoostClassifier",
    "BaggingClassifier",
    "GridSearchCV",
    "RandomizedSearchCV",
    "StackingClassifier",
    "VotingClassifier",
}
SELECT = ("ColumnTransformer", "FeatureUnion", "FunctionTransformer", "TransformedTargetRegressor")


def check(plan: Plan, data: Data, task: str, family: Family, loss: Loss) -> list[str]:
    """Notes on this plan; an error where some split cannot be fitted or measured."""
    check_target(data, task, family)
    check_parameters(family)
    check_loss(loss, data.y, task, data.weights is not None)
    candidates = [family.candidate(setting) for setting in family.settings]
    _check_columns(data, family, candidates)
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


def _check_columns(data: Data, family: Family, candidates: list[Any]) -> None:
    """Refuse what no setting can take; one that brings an imputer is enough."""
    takes = [_what_may_come(candidate) for candidate in candidates]
    data.check_columns(family.label, *(any(column) for column in zip(*takes, strict=True)))
    if not any(_takes_objects(_steps(candidate)[0]) for candidate in candidates):
        data.refuse_odd_objects()
    if sp.issparse(data.X) and not any(_takes_sparse(_steps(candidate)[0]) for candidate in candidates):
        raise DataError(f"X is sparse, and sparse input is not supported by {family.label}; use X.toarray(), or another model.")


def _takes_objects(step: Any) -> bool:
    """Whether the first step may make sense of any object; a tag tells those that take strings and categories."""
    name = _full_name(step)
    if not name.startswith("sklearn.") or any(word in name for word in SELECT):
        return True
    return get_tags(step).input_tags.string or get_tags(step).input_tags.categorical


def _takes_sparse(step: Any) -> bool:
    """Whether the first step takes sparse X; only scikit-learn's own tags are believed."""
    return not _full_name(step).startswith("sklearn.") or get_tags(step).input_tags.sparse or bool(_wrapped(step))


def _what_may_come(estimator: Any) -> tuple[bool, bool, bool]:
    """(NaN, infinity, dates) that X may hold: what the first step takes; NaN goes on until some step may have removed it."""
    steps = _steps(estimator)
    name = _full_name(steps[0]) if steps else ""
    if not name.startswith("sklearn.") or any(word in name for word in SELECT):
        return True, True, True  # it may choose columns or do anything
    return _nan_may_come(steps), "HistGradientBoosting" in name, False


def _nan_may_come(steps: list[Any]) -> bool:
    for step in steps:
        name = _full_name(step)
        if not name.startswith("sklearn.") or ".impute." in name or any(word in name for word in SELECT):
            return True
        if not get_tags(step).input_tags.allow_nan:
            wrapped = _wrapped(step)  # a wrapper's tag may not speak for what it wraps
            return bool(wrapped) and all(_what_may_come(one)[0] for one in wrapped)
    return True


def _steps(estimator: Any) -> list[Any]:
    """The steps of a pipeline, pipelines inside it opened."""
    if not isinstance(estimator, Pipeline):
        return [estimator]
    return [one for _, step in estimator.steps if step not in (None, "passthrough") for one in _steps(step)]


def _wrapped(estimator: Any) -> list[Any]:
    """The estimators that a meta-estimator is given."""
    parameters = estimator.get_params(deep=False)
    members = [member for _, member in parameters.get("estimators") or []] + [parameters.get("estimator")]
    return [member for member in members if hasattr(member, "fit")]


def _full_name(estimator: Any) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__name__}"


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
        last = _steps(candidate)[-1]
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
        self.empty += [where.format(k=at) for at in np.flatnonzero((sizes == 0).any(axis=1))]
        least = int(np.argmin(sizes[:, 0]))
        if sizes[least, 0] < self.smallest:
            self.smallest, self.smallest_at = int(sizes[least, 0]), where.format(k=least)
        most = np.bincount(splits.codes(codes)).max()  # only a part no larger than the commonest class can have one class
        for at in np.flatnonzero(sizes[:, 0] <= most):
            if np.unique(codes[splits[at][0]]).size == 1:
                self.constant.append(where.format(k=at))
        if data.weights is not None and not data.weights.all():
            for k, parts in enumerate(splits):
                if not all(data.weights[part].any() for part in parts):
                    self.weightless.append(where.format(k=k))
        if loss.scorer is not None:
            n_classes = int(codes.max()) + 1
            for k, (_, test) in enumerate(splits):
                if why := loss.undefined_on(data.y[test], n_classes):
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
        raise InfeasibleError(f"every row of a part of {_some(met.weightless)} has sample_weight 0: nothing is measured there.")
    if met.undefined:
        raise InfeasibleError(
            f"{loss.score_name} is not defined on the test part of {_some([where for where, _ in met.undefined])} "
            f"({met.undefined[0][1]}); use larger test parts, or a loss with a value for every row: loss='log', loss='squared'."
        )
    _check_neighbours(family, candidates, met.smallest, met.smallest_at)
    return _notes_of_constant_parts(met.constant, task == "classification", candidates)


def _check_neighbours(family: Family, candidates: list[Any], smallest: float, where: str) -> None:
    for setting, candidate in zip(family.settings, candidates, strict=True):
        last = _steps(candidate)[-1]
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
    if needy := next(filter(None, map(_needs_two_classes, candidates)), None):
        raise InfeasibleError(
            f"{needy} needs two classes, but {_some(where)} trains on one class only; use fewer folds, stratify, or another "
            "estimator."
        )
    return [f"One class only in the training part of {_some(where)}: it is predicted there whatever X is."]


def _needs_two_classes(estimator: Any) -> str | None:
    """The name of the classifier inside that cannot be fitted on one class."""
    last = _steps(estimator)[-1]
    name = type(last).__name__
    if not _full_name(last).startswith("sklearn."):
        return None
    if name in NEED_TWO_CLASSES:
        return name
    return next(filter(None, map(_needs_two_classes, _wrapped(last))), None) if name in HAND_ON else None


def _some(where: list[str]) -> str:
    """The first few splits by name."""
    return ", ".join(where[:3]) + (f" and {len(where) - 3} more" if len(where) > 3 else "")
