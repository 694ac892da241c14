"""Feasibility: every outer and inner split is checked before the first fit.

What cannot work is refused, with the names of the splits and what would work. What works but
deserves attention becomes a note.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from ..data.table import Data
from ..engine.work import Work
from ..errors import DataError, FamilyError, InfeasibleError, LossError
from ..families.checks import will_have
from ..families.family import Family
from ..families.labels import estimator_label, format_setting
from ..families.registry import recognised
from ..families.row_needs import row_needs, steps_of
from ..families.setting_groups import SettingGroup
from ..losses.loss import Loss, check_loss
from ..losses.metrics import refuse_unsuited
from ..splits.layouts import Splits
from ..splits.plan import Plan
from ..wording import some

# scikit-learn's classifiers without a path of their own that cannot be fitted on one class;
# a test tries all classifiers
NEED_TWO_CLASSES = {
    "CalibratedClassifierCV",
    "FixedThresholdClassifier",
    "GaussianProcessClassifier",
    "LinearSVC",
    "LogisticRegressionCV",
    "NearestCentroid",
    "NuSVC",
    "OneVsOneClassifier",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "SGDClassifier",
    "SVC",
    "TunedThresholdClassifierCV",
}
# its wrappers that need two classes if the wrapped classifier does
WRAPPERS = {
    "AdaBoostClassifier",
    "BaggingClassifier",
    "GridSearchCV",
    "RandomizedSearchCV",
    "StackingClassifier",
    "VotingClassifier",
}
# steps that may select columns, or do anything: X cannot be checked for them
OPAQUE_STEPS = (
    "ColumnTransformer",
    "FeatureUnion",
    "FunctionTransformer",
    "TransformedTargetRegressor",
)


def check(plan: Plan, work: Work) -> list[str]:
    """Return notes on this plan; raise an error if a split cannot be fitted or measured."""
    data, family, task = work.data, work.family, work.task
    kinds, loss = work.kinds, work.loss
    candidates = [kind.candidate for kind in kinds]
    check_loss(loss, data.y, task, data.weights is not None)
    refuse_unsuited(loss, data, task)
    _check_responses(family, kinds, loss)
    _check_columns(data, family, candidates)
    if data.weights is not None:
        _check_takes_weights(candidates)
    survey = SplitSurvey(data)
    for name, splits in plan.levels():
        survey.add(name, splits, loss)
    survey.refuse(loss)
    _check_sizes(family, kinds, survey)
    if not survey.constant:
        return []
    parts = some(survey.constant)
    if task != "classification":
        return [f"y is constant in the training part of {parts}."]
    _refuse_one_class(parts, candidates)
    return [
        f"One class only in the training part of {parts}: it is predicted there whatever X "
        "is."
    ]


def _check_columns(data: Data, family: Family, candidates: list[Any]) -> None:
    """Refuse columns that no setting can handle; one setting with an imputer is enough."""
    if data.is_finite_block:
        return
    accepted = [_accepted_values(candidate) for candidate in candidates]
    data.check_columns(family.label, *map(any, zip(*accepted, strict=True)))
    first_steps = [steps_of(candidate)[0] for candidate in candidates]
    if not any(map(_takes_objects, first_steps)):
        data.refuse_odd_objects()
    if sp.issparse(data.X) and not any(map(_takes_sparse, first_steps)):
        raise DataError(
            f"X is sparse, and sparse input is not supported by {family.label}; use "
            "X.toarray(), or another model."
        )


def _takes_objects(step: Any) -> bool:
    """Return whether the step may accept any object; tags tell strings and categories."""
    if _is_opaque(step):
        return True
    tags = get_tags(step).input_tags
    return tags.string or tags.categorical


def _takes_sparse(step: Any) -> bool:
    """Return whether the step takes sparse X; only scikit-learn's own tags are trusted."""
    if not _is_from_sklearn(step) or get_tags(step).input_tags.sparse:
        return True
    return bool(_wrapped(step))


def _accepted_values(estimator: Any) -> tuple[bool, bool, bool]:
    """Return whether X may hold (NaN, infinity, dates): what the first step accepts."""
    steps = steps_of(estimator)
    if not steps or _is_opaque(steps[0]):
        return True, True, True
    takes_infinity = "HistGradientBoosting" in _full_name(steps[0])
    return _takes_nan(steps), takes_infinity, False


def _takes_nan(steps: list[Any]) -> bool:
    """Return whether all steps accept NaN, up to one that may remove it."""
    for step in steps:
        if _is_opaque(step) or ".impute." in _full_name(step):
            return True
        if not get_tags(step).input_tags.allow_nan:
            # the tag of a wrapper may not hold for what it wraps
            wrapped = _wrapped(step)
            return bool(wrapped) and all(
                _accepted_values(inner)[0] for inner in wrapped
            )
    return True


def _is_opaque(step: Any) -> bool:
    name = _full_name(step)
    return not _is_from_sklearn(step) or any(word in name for word in OPAQUE_STEPS)


def _is_from_sklearn(estimator: Any) -> bool:
    return _full_name(estimator).startswith("sklearn.")


def _full_name(estimator: Any) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__name__}"


def _wrapped(estimator: Any) -> list[Any]:
    """Return the estimators that a meta-estimator was given."""
    parameters = estimator.get_params(deep=False)
    members = [member for _, member in parameters.get("estimators") or []]
    members.append(parameters.get("estimator"))
    return [member for member in members if hasattr(member, "fit")]


def _check_responses(family: Family, kinds: list[SettingGroup], loss: Loss) -> None:
    needed = _responses_of(loss)
    for kind in kinds:
        setting, candidate = family.settings[kind.which[0]], kind.candidate
        if any(will_have(candidate, response) for response in needed):
            continue
        with_setting = f" with {format_setting(setting)}" if setting else ""
        remedy = "use loss='zero_one', or a model that has it."
        if needed == ("predict",):
            remedy = "end it in a predictor."
        raise LossError(
            f"{_name_of(loss)} needs {' or '.join(needed)}, which "
            f"{estimator_label(candidate)}{with_setting} does not have; {remedy}"
        )


def _name_of(loss: Loss) -> str:
    return f"the {loss.name} loss" if loss.scorer is None else str(loss.score_name)


def _responses_of(loss: Loss) -> tuple[str, ...]:
    """Return the methods of which the estimator must have one."""
    needed = getattr(loss.scorer, "_response_method", loss.response)
    return (needed,) if isinstance(needed, str) else tuple(needed)


def _check_takes_weights(candidates: list[Any]) -> None:
    for candidate in candidates:
        last = steps_of(candidate)[-1]
        parameters = inspect.signature(last.fit).parameters
        has_kwargs = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        if "sample_weight" not in parameters and not has_kwargs:
            raise FamilyError(
                f"{type(last).__name__} takes no sample_weight in fit; drop the weights "
                "or use another model."
            )


@dataclass
class SplitSurvey:
    """What one pass over all splits has found; the lists hold names of splits.

    weightless    a part has no weight
    undefined     (name, reason): the loss is not defined on the test part
    constant      the training part has one class, or one value of y
    smallest      rows of the smallest training part
    """

    data: Data
    weightless: list[str] = field(default_factory=list)
    undefined: list[tuple[str, str]] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    smallest: float = np.inf
    smallest_at: str = ""

    def add(self, name: str, splits: Splits, loss: Loss) -> None:
        """Inspect every split of one list; row numbers are made for few of them.

        name  the name of split k, with "{k}" in it
        """
        data, sizes = self.data, splits.layout.sizes()[:, 0]
        least = int(np.argmin(sizes))
        if sizes[least] < self.smallest:
            self.smallest, self.smallest_at = int(sizes[least]), name.format(k=least)
        # only a part no larger than the commonest class can have one class
        if sizes[least] <= data.mode_count:
            codes = data.classes[1]
            most = np.bincount(splits.codes(codes)).max()
            for small in np.flatnonzero(sizes <= most):
                if np.unique(codes[splits[small][0]]).size == 1:
                    self.constant.append(name.format(k=small))
        if data.weights is not None and not data.weights.all():
            for k, parts in enumerate(splits):
                if not all(data.weights[part].any() for part in parts):
                    self.weightless.append(name.format(k=k))
        if loss.scorer is not None:
            n_classes = data.classes[0].size
            for k, (_, test) in enumerate(splits):
                if reason := loss.undefined_on(data.y[test], n_classes):
                    self.undefined.append((name.format(k=k), reason))

    def refuse(self, loss: Loss) -> None:
        """Refuse splits that measure nothing, with the names of the first."""
        if self.weightless:
            raise InfeasibleError(
                f"every row of a part of {some(self.weightless)} has sample_weight 0: "
                "nothing is measured there."
            )
        if self.undefined:
            loss.refuse_unknown_positive(self.data.classes[0])
            names = some([name for name, _ in self.undefined])
            raise InfeasibleError(
                f"{loss.score_name} is not defined on the test part of {names} "
                f"({self.undefined[0][1]}); use larger test parts, or a loss with a value "
                "for every row."
            )


def _check_sizes(
    family: Family, kinds: list[SettingGroup], survey: SplitSurvey
) -> None:
    """Refuse settings that need more rows than the smallest training part has.

    Neighbours, or whatever else is counted in training rows.
    """
    too_many = [n for n in row_needs(family, kinds) if n.value > survey.smallest]
    if not too_many:
        return
    _, name, value = min(too_many, key=lambda need: need.s)
    raise InfeasibleError(
        f"{name}={value} needs {value} training rows, but {survey.smallest_at} has "
        f"{int(survey.smallest)}; lower {name} or use fewer folds."
    )


def _refuse_one_class(parts: str, candidates: list[Any]) -> None:
    for candidate in candidates:
        if name := _needs_two_classes(candidate):
            raise InfeasibleError(
                f"{name} needs two classes, but {parts} trains on one class only; use "
                "fewer folds, stratify, or another estimator."
            )


def _needs_two_classes(estimator: Any) -> str | None:
    """Return the name of a classifier inside that cannot be fitted on one class."""
    last = steps_of(estimator)[-1]
    name, algorithm = type(last).__name__, recognised(type(last))
    if algorithm is not None and name in algorithm.two_classes:
        return name
    if not _is_from_sklearn(last):
        return None
    if name in NEED_TWO_CLASSES:
        return name
    wrapped = _wrapped(last) if name in WRAPPERS else []
    return next(filter(None, map(_needs_two_classes, wrapped)), None)
