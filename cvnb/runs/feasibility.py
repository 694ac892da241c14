"""Feasibility: every outer and inner split is walked before the first fit.

What cannot work is refused, naming the splits and what would work. What is legal but deserves a look becomes a note.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..data.table import Data
from ..errors import DataError, FamilyError, InfeasibleError, LossError
from ..families.family import (
    Family,
    Kind,
    can,
    check_parameters,
    estimator_label,
    format_setting,
    is_plain_number,
)
from ..families.registry import recognised
from ..losses.loss import Loss, check_loss
from ..splits.layouts import Splits
from ..splits.plan import Plan
from ..wording import some

# scikit-learn's classifiers without a path of their own that refuse to be fitted on one class; a test tries all there are
NEED_TWO_CLASSES = {
    "CalibratedClassifierCV", "FixedThresholdClassifier", "GaussianProcessClassifier",
    "LinearSVC", "LogisticRegressionCV", "NearestCentroid", "NuSVC", "OneVsOneClassifier",
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
SELECT = (
    "ColumnTransformer",
    "FeatureUnion",
    "FunctionTransformer",
    "TransformedTargetRegressor",
)


def check(
    plan: Plan,
    data: Data,
    task: str,
    family: Family,
    loss: Loss,
    kinds: list[Kind] | None = None,
) -> list[str]:
    """Notes on this plan; an error where some split cannot be fitted or measured.

    kinds: what check_parameters(family) found, where that is known already.
    """
    kinds = check_parameters(family) if kinds is None else kinds
    candidates = [kind.candidate for kind in kinds]
    check_loss(loss, data.y, task, data.weights is not None)
    _check_responses(family, kinds, loss)
    _check_columns(data, family, candidates)
    if data.weights is not None:
        _check_takes_weights(family, candidates)
    met = Walk(data)
    for where, splits in plan.levels():
        if len(splits):
            met.over(where, splits, loss)
    met.refuse(loss)
    _check_sizes(family, kinds, met)
    if task == "classification":
        _refuse_one_class(met.constant, candidates)
    return _notes_of_constant_parts(met.constant, task == "classification")


def check_target(data: Data, task: str, family: Family) -> None:
    """Refuse a target of the wrong kind for this estimator."""
    y, who = data.y, family.label
    if task == "regression" and y.dtype.kind not in "biuf":
        raise DataError(
            f"y holds labels such as {y[0]!r}, but {who} is a regression; use a classifier."
        )
    if (
        task == "classification"
        and y.dtype.kind == "f"
        and not np.array_equal(y, np.floor(y))
    ):
        raise DataError(
            f"Unknown label type: y is continuous (such as {y[y != np.floor(y)][0]!r}), but {who} is a classifier."
        )


def _check_columns(data: Data, family: Family, candidates: list[Any]) -> None:
    """Refuse what no setting can take; one that brings an imputer is enough."""
    if data.calm:
        return
    takes = [_what_may_come(candidate) for candidate in candidates]
    data.check_columns(
        family.label, *(any(column) for column in zip(*takes, strict=True))
    )
    if not any(_takes_objects(_steps(candidate)[0]) for candidate in candidates):
        data.refuse_odd_objects()
    if sp.issparse(data.X) and not any(
        _takes_sparse(_steps(candidate)[0]) for candidate in candidates
    ):
        raise DataError(
            f"X is sparse, and sparse input is not supported by {family.label}; use X.toarray(), or another model."
        )


def _takes_objects(step: Any) -> bool:
    """Whether the first step may make sense of any object; a tag tells those that take strings and categories."""
    name = _full_name(step)
    if not name.startswith("sklearn.") or any(word in name for word in SELECT):
        return True
    return get_tags(step).input_tags.string or get_tags(step).input_tags.categorical


def _takes_sparse(step: Any) -> bool:
    """Whether the first step takes sparse X; only scikit-learn's own tags are believed."""
    return (
        not _full_name(step).startswith("sklearn.")
        or get_tags(step).input_tags.sparse
        or bool(_wrapped(step))
    )


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
        if (
            not name.startswith("sklearn.")
            or ".impute." in name
            or any(word in name for word in SELECT)
        ):
            return True
        if not get_tags(step).input_tags.allow_nan:
            wrapped = _wrapped(step)  # a wrapper's tag may not speak for what it wraps
            return bool(wrapped) and all(_what_may_come(one)[0] for one in wrapped)
    return True


def _steps(estimator: Any) -> list[Any]:
    """The steps of a pipeline, pipelines inside it opened."""
    if not isinstance(estimator, Pipeline):
        return [estimator]
    return [
        one
        for _, step in estimator.steps
        if step not in (None, "passthrough")
        for one in _steps(step)
    ]


def _wrapped(estimator: Any) -> list[Any]:
    """The estimators that a meta-estimator is given."""
    parameters = estimator.get_params(deep=False)
    members = [member for _, member in parameters.get("estimators") or []] + [
        parameters.get("estimator")
    ]
    return [member for member in members if hasattr(member, "fit")]


def _full_name(estimator: Any) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__name__}"


def _check_responses(family: Family, kinds: list[Kind], loss: Loss) -> None:
    for kind in kinds:
        setting, candidate = family.settings[kind.which[0]], kind.candidate
        if not can(candidate, loss.response):
            with_setting = f" with {format_setting(setting)}" if setting else ""
            raise LossError(
                f"the {loss.name} loss needs {loss.response}, which {estimator_label(candidate)}{with_setting} does not have; "
                + (
                    "end it in a predictor."
                    if loss.response == "predict"
                    else "use loss='zero_one', or a model that has it."
                )
            )


def _check_takes_weights(family: Family, candidates: list[Any]) -> None:
    for candidate in candidates:
        last = _steps(candidate)[-1]
        parameters = inspect.signature(last.fit).parameters
        if "sample_weight" not in parameters and not any(
            p.kind is p.VAR_KEYWORD for p in parameters.values()
        ):
            raise FamilyError(
                f"{type(last).__name__} takes no sample_weight in fit; drop the weights or use another model."
            )


@dataclass
class Walk:
    """What one walk over all splits met, by the names of the splits."""

    data: Data
    weightless: list[str] = field(default_factory=list)
    undefined: list[tuple[str, str]] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    smallest: float = np.inf
    smallest_at: str = ""

    def over(self, where: str, splits: Splits, loss: Loss) -> None:
        """Look at every split of one list; all but a few are seen without making their row numbers."""
        sizes = splits.layout.sizes()
        least = int(np.argmin(sizes[:, 0]))
        if sizes[least, 0] < self.smallest:
            self.smallest, self.smallest_at = (
                int(sizes[least, 0]),
                where.format(k=least),
            )
        if (
            sizes[least, 0] <= self.data.most_alike
        ):  # only a part no larger than the commonest class can have one class
            codes = self.data.classes[1]
            most = np.bincount(splits.codes(codes)).max()
            for at in np.flatnonzero(sizes[:, 0] <= most):
                if np.unique(codes[splits[at][0]]).size == 1:
                    self.constant.append(where.format(k=at))
        data = self.data
        if data.weights is not None and not data.weights.all():
            for k, parts in enumerate(splits):
                if not all(data.weights[part].any() for part in parts):
                    self.weightless.append(where.format(k=k))
        if loss.scorer is not None:
            n_classes = data.classes[0].size
            for k, (_, test) in enumerate(splits):
                if why := loss.undefined_on(data.y[test], n_classes):
                    self.undefined.append((where.format(k=k), why))

    def refuse(self, loss: Loss) -> None:
        """Refuse what measures nothing, naming the first splits."""
        if self.weightless:
            raise InfeasibleError(
                f"every row of a part of {some(self.weightless)} has sample_weight 0: nothing is measured there."
            )
        if self.undefined:
            loss.refuse_unknown_positive(self.data.classes[0])
            raise InfeasibleError(
                f"{loss.score_name} is not defined on the test part of {some([where for where, _ in self.undefined])} "
                f"({self.undefined[0][1]}); use larger test parts, or a loss with a value for every row."
            )


def _check_sizes(family: Family, kinds: list[Kind], met: Walk) -> None:
    """Refuse more neighbours, or whatever else is counted in training rows, than the smallest training part has."""
    too_many: dict[int, tuple[str, Any]] = {}
    for kind in kinds:
        last, prefix = _steps(kind.candidate)[-1], _last_name(kind.candidate)
        algorithm = recognised(type(last))
        for name in () if algorithm is None else algorithm.needs_rows:
            asked = [
                numbers.get(f"{prefix}{name}", getattr(last, name))
                for numbers in kind.numbers
            ]
            too_many |= {
                s: (name, k)
                for s, k in zip(kind.which, asked, strict=True)
                if is_plain_number(k) and k > met.smallest
            }
    if not too_many:
        return
    first = min(too_many)
    parameter, k = too_many[first]
    name = next(
        (
            key
            for key in family.settings[first]
            if family.aliases.get(key, key).endswith(parameter)
        ),
        parameter,
    )
    raise InfeasibleError(
        f"{name}={k} needs {k} training rows, but {met.smallest_at} has {int(met.smallest)}; lower {name} or use fewer folds."
    )


def _last_name(estimator: Any) -> str:
    """What the names of the last step's parameters begin with: "outer__inner__"."""
    if not isinstance(estimator, Pipeline):
        return ""
    name, last = [
        step for step in estimator.steps if step[1] not in (None, "passthrough")
    ][-1]
    return f"{name}__{_last_name(last)}"


def _refuse_one_class(where: list[str], candidates: list[Any]) -> None:
    if where and (
        needy := next(filter(None, map(_needs_two_classes, candidates)), None)
    ):
        raise InfeasibleError(
            f"{needy} needs two classes, but {some(where)} trains on one class only; use fewer folds, stratify, or another "
            "estimator."
        )


def _notes_of_constant_parts(where: list[str], classes: bool) -> list[str]:
    if not where:
        return []
    if classes:
        return [
            f"One class only in the training part of {some(where)}: it is predicted there whatever X is."
        ]
    return [f"y is constant in the training part of {some(where)}."]


def _needs_two_classes(estimator: Any) -> str | None:
    """The name of the classifier inside that cannot be fitted on one class."""
    last = _steps(estimator)[-1]
    name = type(last).__name__
    if (
        algorithm := recognised(type(last))
    ) is not None and name in algorithm.two_classes:
        return name
    if not _full_name(last).startswith("sklearn."):
        return None
    if name in NEED_TWO_CLASSES:
        return name
    return (
        next(filter(None, map(_needs_two_classes, _wrapped(last))), None)
        if name in HAND_ON
        else None
    )
