"""Recommend a recipe for these rows, with the reasons, in a few sentences.

Recipes are tried in order of preference. Each is planned, and checked with the family if
there is one; the first whose splits can be drawn and keep every class in every part is
suggested. So whatever is suggested runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data.table import Data
from ..errors import InfeasibleError, InputError
from ..families.family import as_families
from ..inference.bounds import dev_set_bound
from ..results.reports.base import Report
from ..splits.recipes import Recipe
from ..splits.splitters import share_of
from ..splits.timing import FORWARD
from ..wording import count, duration, number
from .reasons import (
    ALPHA,
    enough_rows,
    of_the_cost,
    of_the_estimate,
    of_the_splits,
    too_few_rows,
)
from .request import MANY, FeasibleRecipe, Request

GOALS = ("estimate", "choose", "predictor")
# Rows, or groups. Below, training on 80 % of them is noticeably worse than on all: ten outer
# folds, not five.
FEW = 500
SHARES = 0.2, 0.1, 0.05, 0.35  # of test sets in time order, by preference
PATIENCE = 300.0  # seconds of a forecast run; above, a cheaper recipe is suggested
Choice = tuple[FeasibleRecipe | None, list[str]]  # with the reasons


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion(Report):
    """.recipe, ready to run on these rows; .sentences: why this one, what it estimates and costs.

    The sentences also name what was ruled out.
    """

    recipe: Recipe
    reasons: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"Suggested: {self.recipe.name}, {self.recipe!r}"

    @property
    def sentences(self) -> list[str]:
        return list(self.reasons)


def suggest(
    X: Any,
    y: Any,
    groups: Any,
    family: Any,
    goal: str,
    test_rows: Any,
    options: dict[str, Any],
    times: Any = None,
) -> Suggestion:
    """Return a recipe for these rows and this purpose; the parameters are Recipe.suggest's.

    options  seed, time_ordered and buffer, as in Recipe
    """
    if not isinstance(goal, str) or goal not in GOALS:
        raise InputError(
            f"goal={goal!r} is not known; use 'estimate', 'choose' or 'predictor'."
        )
    Recipe(test_rows=test_rows, **options)  # raises if one of them is wrong
    given = None if family is None else as_families(family)
    data = Data.check(X, y, groups, times=times)
    request = Request(data, given, goal, options, test_rows)
    if goal == "choose" and not request.is_tuned:
        label = ", ".join(family.label for family in request.families)
        raise InputError(
            f"goal='choose' needs several settings, but {label} has one; give its grid, "
            "or use goal='estimate'."
        )
    chosen, reasons = _choose(request)
    if chosen is None:
        raise InfeasibleError(f"no recipe can split these rows: {request.refused[0]}")
    sentences = [
        *reasons,
        *of_the_estimate(request, chosen),
        *of_the_splits(request, chosen),
        *of_the_cost(request, chosen),
        *chosen.plan.notes,
        *chosen.notes,
    ]
    return Suggestion(chosen.recipe, tuple(dict.fromkeys(sentences)))


def _choose(request: Request) -> Choice:
    """Return the recipe that suits, with the reasons and what would change the choice."""
    if request.test_rows is not None:
        return _with_given_test_rows(request)
    if request.options["time_ordered"]:
        return _in_time_order(request)
    if not request.is_tuned:
        return _without_tuning(request)
    return _to_choose(request) if request.goal == "choose" else _with_tuning(request)


def _with_given_test_rows(request: Request) -> Choice:
    """Keep the test rows of a benchmark as its test set."""
    fixed = {"test_rows": request.test_rows, **request.options}
    rows = count(len(request.test_rows), "row")
    kept = f"The given test part ({rows}) measures the risk, once, at the end."
    if not request.is_tuned:
        validation = request.first_feasible([Recipe.validation(**fixed)])
        return validation, [kept, "One setting, so all other rows train."]
    if request.options["time_ordered"]:
        inner = [0.2, 0.1, 0.05, 0.5]
        reason = "θ is chosen on the newest of the other rows."
    else:
        inner = [*request.inner_splitters, *_folds(request, few=5)]
        reason = (
            "θ is chosen on the other rows by cross-validation, which is more stable than "
            "one validation set."
        )
    recipes = [Recipe.cv_test(inner=splitter, **fixed) for splitter in inner]
    return request.first_feasible(recipes), [kept, reason]


def _in_time_order(request: Request) -> Choice:
    """Test on the newest rows; whether the process drifts cannot be known before."""
    if request.options["time_ordered"] == FORWARD:
        return _forward(request)
    reasons = [
        "The rows are in the order of time: if the process drifts, the newest rows "
        "resemble future rows best, so they are held out."
    ]
    options, is_tuned = request.options, request.is_tuned
    if request.goal != "choose":
        if is_tuned:
            blocks = "nested_cv"
            recipes = [
                Recipe.train_validation_test(validation=share, test=share, **options)
                for share in SHARES
            ]
        else:
            blocks = "external_cv"
            recipes = [Recipe.validation(test=share, **options) for share in SHARES]
        if chosen := request.first_feasible(recipes):
            buffer = f", buffer={options['buffer']!r}" if options["buffer"] else ""
            without_drift = (
                f"Without drift Recipe.{blocks}(time_ordered=True{buffer}) uses the rows "
                "better: it tests every block once."
            )
            return chosen, [*reasons, without_drift]
    if is_tuned:
        recipes = [Recipe.dev_set(share, **options) for share in [*SHARES, 0.5]]
    else:
        recipes = [Recipe.validation(0.5, **options)]
    return request.first_feasible(recipes), reasons


def _forward(request: Request) -> Choice:
    """Step forward through time, at both levels where something is tuned."""
    options, folds = request.options, _folds(request, few=5)
    if not request.is_tuned:
        recipes = [Recipe.external_cv(J, **options) for J in folds]
    elif request.goal == "choose":
        recipes = [Recipe.internal_cv(K, **options) for K in folds]
    else:
        recipes = [Recipe.nested_cv(J, K, **options) for J in folds for K in folds]
        recipes += [
            Recipe.train_validation_test(share, share, **options) for share in SHARES
        ]
    return request.first_feasible(recipes), [
        "Forward in time: each step trains on the past and measures on what came next, as the "
        "predictor will be used. The first steps train on few rows."
    ]


def _without_tuning(request: Request) -> Choice:
    """Measure one setting, without an inner level."""
    options = request.options
    reasons = ["One setting: nothing is chosen, so there is no inner level."]
    if request.goal == "predictor":
        loo = request.first_feasible([Recipe.leave_one_out(**options)])
        if loo and loo.closed_form:
            return loo, [
                *reasons,
                "Leave-one-out trains on all rows but one, so the predictors that it tests "
                "are nearly the final one; here it has a closed form and needs no fit per "
                "row.",
            ]
    folds = [Recipe.external_cv(J, **options) for J in _folds(request)]
    cv = request.first_feasible(folds)
    if request.has_many and not (cv and cv.is_fast):
        test = request.first_feasible([Recipe.validation(**options)])
        return test or cv, [
            *reasons,
            f"{enough_rows(request)}.",
            f"With fewer than {MANY} {request.unit}s: Recipe.external_cv().",
        ]
    reasons.append(f"{too_few_rows(request)}; cross-validation tests each row once.")
    return cv, reasons


def _to_choose(request: Request) -> Choice:
    """Choose θ on all rows, and measure nothing outside."""
    options = request.options
    inner = [*request.inner_splitters, *_folds(request)]
    cv = request.first_feasible(Recipe.internal_cv(K, **options) for K in inner)
    more = "To measure the risk of the tuned rule too, use goal='estimate'."
    if not request.has_many or (cv and cv.is_fast):
        return cv, [
            "goal='choose' needs no estimate of the risk, so no rows are held out.",
            "Cross-validation gives a more stable choice than one dev set; if another seed "
            "gives another θ, repeated random dev sets (inner=Resampling(50, 0.2)) are more "
            "stable still.",
            more,
        ]
    dev = request.first_feasible([Recipe.dev_set(**options)])
    units = count(request.n_units, request.unit)
    reasons = [
        f"{units} are many: one dev set is enough to choose θ, with one fit per setting."
    ]
    if dev and dev.zero_one and request.data.groups is None:
        bound = dev_set_bound(share_of(0.2, request.n_rows), dev.n_settings, ALPHA)
        reasons.append(
            f"The choice is at most {number(bound)} worse than the best, with "
            f"probability {1 - ALPHA:g} (dev-set bound)."
        )
    fewer = f"With fewer than {MANY} {request.unit}s: Recipe.internal_cv()."
    return dev or cv, [*reasons, fewer, more]


def _with_tuning(request: Request) -> Choice:
    """Suggest nested CV, a cheaper variant if it has many fits, or one test set of many rows."""
    options = request.options
    inner = [*request.inner_splitters, *_folds(request, few=5)]
    nested = request.first_feasible(
        Recipe.nested_cv(J, K, **options) for J in _folds(request) for K in inner
    )
    is_fast = bool(nested and nested.is_fast)
    if request.has_many and (request.goal == "predictor" or not is_fast):
        recipes = [Recipe.cv_test(K, **options) for K in inner] if is_fast else []
        recipes.append(Recipe.train_validation_test(**options))
        if tested := request.first_feasible(recipes):
            return tested, [
                f"{enough_rows(request)}.",
                f"With fewer than {MANY} {request.unit}s, or to average over training sets "
                "as well: Recipe.nested_cv().",
            ]
    if nested is None:
        return _without_nesting(request)
    if not is_fast and nested.seconds > PATIENCE:
        dev_sets = [Recipe.nested_dev(J, **options) for J in (5, 4, 3)]
        if cheap := request.first_feasible(dev_sets):
            return cheap, [
                f"{too_few_rows(request)}; here every row is tested once.",
                f"CV inside too would take {duration(nested.seconds)}; a dev set inside "
                f"{duration(cheap.seconds)}, but its choice is less stable.",
                "With more time, or a family whose settings are computed together: "
                "Recipe.nested_cv().",
            ]
    return nested, _reasons_for_nested_cv(request, is_fast)


def _reasons_for_nested_cv(request: Request, is_fast: bool) -> list[str]:
    slow = "If a run takes too long: Recipe.nested_dev(), one dev set inside in place of CV."
    slow_reasons = [] if is_fast else [slow]
    if request.has_many:
        cheap = (
            f"{enough_rows(request)}, but nested CV costs little here, and averages over "
            "training sets as well."
        )
        return [cheap, *slow_reasons]
    return [
        f"{too_few_rows(request)}; here every row is tested once, by a predictor tuned and "
        "trained without it.",
        *slow_reasons,
        f"With {MANY} {request.unit}s or more one test set is enough: "
        "Recipe.train_validation_test().",
    ]


def _without_nesting(request: Request) -> Choice:
    """Suggest a recipe with one level, for rows or groups too few for two."""
    options = request.options
    reason = f"Nested CV cannot be drawn: {request.refused[0]}"
    if test := request.first_feasible([Recipe.train_validation_test(**options)]):
        return test, [reason]
    recipes = [Recipe.internal_cv(2, **options), Recipe.dev_set(0.5, **options)]
    return request.first_feasible(recipes), [
        reason,
        "No rows are left to measure the tuned rule on, so θ is only chosen.",
    ]


def _folds(request: Request, few: int = 10) -> list[int]:
    """Return numbers of folds by preference; 2 always works.

    More folds mean larger training parts and more fits.

    few  tried first where rows are few
    """
    tries_few = request.n_units < FEW and few > 5
    return [*([few] if tries_few else []), 5, 4, 3, 2]
