"""Which recipe suits these rows, and why: the trade-offs between the recipes, as one recipe and a few sentences.

Recipes are tried in an order of preference, each planned, and checked with the family where there is one: the first whose
splits can be drawn, and keep every class in every part, is suggested. So what is suggested runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.table import Data
from ..errors import InfeasibleError, InputError
from ..families.family import Family, as_families
from ..inference.bounds import dev_set_bound
from ..paths.base import Draw, Ran
from ..paths.dispatch import choose_path
from ..results.estimate import quantity_of
from ..results.reports.base import Report
from ..runtime.thread_warnings import quiet
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from ..splits.specs import Folds
from ..splits.splitters import share_of
from ..wording import count, number
from .prepare import DEFAULTS, Options, plan, prepare

GOALS = ("estimate", "choose", "predictor")
FEW = 500  # rows, or groups; below, training on 80 % of them is noticeably worse than on all: ten outer folds, not five
MANY = 10_000  # from here on a fifth of them tells a 0-1 risk to within about 0.03
MANY_FITS = 1000  # worth a thought before the run
ALPHA = 0.05
Said = tuple["Trial | None", list[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion(Report):
    """.recipe, ready to run on these rows; .sentences: why this one, what it estimates, what was ruled out, what it costs."""

    recipe: Recipe
    said: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"Suggested: {self.recipe.name}, {self.recipe!r}"

    @property
    def sentences(self) -> list[str]:
        return list(self.said)


@dataclass(frozen=True)
class Trial:
    """A recipe whose splits of these rows can be drawn; n_settings is None and paths are empty without a family.

    closed_form: leave-one-out on these paths costs no more than one fit.
    """

    recipe: Recipe
    plan: Plan
    n_settings: int | None = None
    paths: tuple[Ran, ...] = ()
    closed_form: bool = False
    zero_one: bool = False
    notes: tuple[str, ...] = ()

    @property
    def fast(self) -> bool:
        """Whether one computation per training part, or one for all of them, serves every setting."""
        return bool(self.paths) and all(path.name != "refit" for path in self.paths)

    @property
    def fits(self) -> int:
        """Fits of one setting on one training part, were each made by itself."""
        return self.plan.n_inner * (self.n_settings or 0) + len(self.plan.outer)


@dataclass(frozen=True)
class Case:
    """What is known before a recipe is tried; `refused` collects why those that were tried cannot be drawn."""

    data: Data
    given: Any
    goal: str
    options: dict[str, Any]
    test_rows: Any
    refused: list[str] = field(default_factory=list)

    @property
    def families(self) -> list[Family]:
        if self.given is None:
            return []
        return (
            [self.given]
            if isinstance(self.given, Family)
            else list(self.given.values())
        )

    @property
    def n_rows(self) -> int:
        return self.data.n_rows

    @property
    def unit(self) -> str:
        """What is drawn independently, and so what counts as few or many."""
        return "row" if self.data.groups is None else "group"

    @property
    def n_units(self) -> int:
        return (
            self.n_rows
            if self.data.groups is None
            else int(np.unique(self.data.groups).size)
        )

    @property
    def many(self) -> bool:
        return self.n_units >= MANY

    @property
    def tuned(self) -> bool:
        """Whether there is anything to choose; without a family, there is."""
        task = self.data.task
        return not self.families or any(
            len(one.resolved(one.task(task), self.n_rows).settings) > 1
            for one in self.families
        )

    @property
    def own_folds(self) -> list[Any]:
        """The inner splitter that a GridSearchCV brings goes before any number of ours."""
        return ["auto"] if any(one.cv is not None for one in self.families) else []

    def first(self, recipes: Iterable[Recipe]) -> Trial | None:
        """The first that can be drawn; one whose parts all have rows of every class goes before one that must say so."""
        found = None
        for recipe in recipes:
            try:
                with quiet():
                    trial = self._trial(recipe)
            except InfeasibleError as error:
                self.refused.append(str(error))
                continue
            if not trial.plan.notes:
                return trial
            found = found or trial
        return found

    def _trial(self, recipe: Recipe) -> Trial:
        if self.given is None:
            return Trial(
                recipe, plan(recipe, self.data.X, self.data.y, None, self.data.groups)
            )
        ready = prepare(recipe, self.given, self.data, Options(**DEFAULTS))
        works = {name: job.work for name, job in ready.jobs.items()}
        paths = [
            choose_path(
                w.family,
                w.kinds,
                [Draw(ready.jobs[name].plan, w.data)],
                w.loss,
                w.task,
                w.path,
            )
            for name, w in works.items()
        ]
        return Trial(
            recipe=recipe,
            plan=ready.plan,
            n_settings=sum(len(work.family.settings) for work in works.values()),
            paths=tuple(dict.fromkeys(Ran(path.name, path.reason) for path in paths)),
            closed_form=all(map(_has_closed_form, paths)),
            zero_one=all(work.loss.zero_one for work in works.values()),
            notes=tuple(
                dict.fromkeys(note for job in ready.jobs.values() for note in job.notes)
            ),
        )


def suggest(
    X: Any,
    y: Any,
    groups: Any = None,
    time_ordered: bool = False,
    family: Any = None,
    goal: str = "estimate",
    buffer: int = 0,
    test_rows: Any = None,
    seed: int = 0,
) -> Suggestion:
    """A recipe for these rows and this purpose: what Recipe.suggest gives."""
    if not isinstance(goal, str) or goal not in GOALS:
        raise InputError(
            f"goal={goal!r} is not known; use 'estimate', 'choose' or 'predictor'."
        )
    options: dict[str, Any] = {
        "seed": seed,
        "time_ordered": time_ordered,
        "buffer": buffer,
    }
    Recipe(test_rows=test_rows, **options)  # says what is wrong with them
    case = Case(
        Data.check(X, y, groups),
        None if family is None else as_families(family),
        goal,
        options,
        test_rows,
    )
    if goal == "choose" and not case.tuned:
        label = ", ".join(one.label for one in case.families)
        raise InputError(
            f"goal='choose' needs several settings, but {label} has one; give its grid, or use goal='estimate'."
        )
    trial, why = _chosen(case)
    if trial is None:
        raise InfeasibleError(f"no recipe can split these rows: {case.refused[0]}")
    said = [
        *why,
        *_estimated(case, trial),
        *_kept(case, trial),
        *_cost(case, trial),
        *trial.plan.notes,
        *trial.notes,
    ]
    return Suggestion(trial.recipe, tuple(dict.fromkeys(said)))


def _chosen(case: Case) -> Said:
    """(the recipe that suits, why it does and what would change that)."""
    if case.test_rows is not None:
        return _given_test(case)
    if case.options["time_ordered"]:
        return _in_time(case)
    if not case.tuned:
        return _untuned(case)
    return _choice(case) if case.goal == "choose" else _tuned(case)


def _given_test(case: Case) -> Said:
    """A benchmark's test rows stay its test set."""
    fixed = {"test_rows": case.test_rows, **case.options}
    said = [
        f"The test part came with the data ({count(len(case.test_rows), 'row')}): it is kept to the end."
    ]
    if not case.tuned:
        return case.first([Recipe.validation(**fixed)]), [
            *said,
            "One setting, so all other rows train.",
        ]
    if case.options["time_ordered"]:
        shares = [
            Recipe.cv_test(inner=share, **fixed) for share in (0.2, 0.1, 0.05, 0.5)
        ]
        return case.first(shares), [
            *said,
            "θ is chosen on the newest of the other rows.",
        ]
    said.append(
        "θ is chosen on the other rows, by cross-validation: steadier than one validation set."
    )
    return case.first(
        Recipe.cv_test(inner=K, **fixed)
        for K in [*case.own_folds, *_folds(case, few=5)]
    ), said


def _in_time(case: Case) -> Said:
    """The newest rows last; whether the process drifts, nobody can tell before."""
    said = [
        "Rows in the order of time: the newest stand for what is to come, and if the process drifts no others do."
    ]
    if case.goal != "choose":
        one = Recipe.train_validation_test if case.tuned else Recipe.validation
        sizes = [
            {"validation": share, "test": share} if case.tuned else {"test": share}
            for share in (0.2, 0.1, 0.05, 0.35)
        ]
        if trial := case.first(one(**size, **case.options) for size in sizes):
            blocks = "Recipe.nested_cv" if case.tuned else "Recipe.external_cv"
            buffer = (
                f", buffer={case.options['buffer']}" if case.options["buffer"] else ""
            )
            said.append(
                f"Without drift {blocks}(time_ordered=True{buffer}) would use them better: every block is tested once."
            )
            return trial, said
    if case.tuned:
        return case.first(
            Recipe.dev_set(share, **case.options)
            for share in (0.2, 0.1, 0.05, 0.35, 0.5)
        ), said
    return case.first([Recipe.validation(0.5, **case.options)]), said


def _untuned(case: Case) -> Said:
    """One setting: nothing is chosen, so there is no inner level."""
    said = ["One setting: nothing is chosen, so there is no inner level."]
    if case.goal == "predictor":
        trial = case.first([Recipe.leave_one_out(**case.options)])
        if trial and trial.closed_form:
            return trial, [
                *said,
                "Leave-one-out trains on almost all rows, so it speaks of predictors all but equal to the one in hand; here it "
                "has a closed form, so no row costs a fit of its own.",
            ]
    trial = case.first(Recipe.external_cv(J, **case.options) for J in _folds(case))
    if case.many and not (trial and trial.fast):
        test = case.first([Recipe.validation(**case.options)])
        return test or trial, [
            *said,
            f"{_enough(case)}.",
            f"With fewer than {MANY} {case.unit}s: Recipe.external_cv().",
        ]
    return trial, [*said, f"{_too_few(case)}; cross-validation tests each row once."]


def _choice(case: Case) -> Said:
    """θ alone is asked for: nothing is measured outside."""
    trial = case.first(
        Recipe.internal_cv(K, **case.options) for K in [*case.own_folds, *_folds(case)]
    )
    more = "To know the risk of what is chosen as well, ask with goal='estimate'."
    if case.many and not (trial and trial.fast):
        dev = case.first([Recipe.dev_set(**case.options)])
        said = [
            f"{count(case.n_units, case.unit)} are many: one dev set is enough to choose on, at one fit for each setting."
        ]
        if dev and dev.zero_one and case.data.groups is None:
            bound = dev_set_bound(share_of(0.2, case.n_rows), dev.n_settings, ALPHA)
            said.append(
                f"The choice is at most {number(bound)} worse than the best, with probability {1 - ALPHA:g} (dev-set bound)."
            )
        return dev or trial, [
            *said,
            f"With fewer than {MANY} {case.unit}s: Recipe.internal_cv().",
            more,
        ]
    return trial, [
        "Only θ is asked for, so nothing is set aside to measure with.",
        "Cross-validation chooses more steadily than one dev set; if another seed chooses another θ, repeated random dev sets "
        "(inner=Resampling(50, 0.2)) are steadier still.",
        more,
    ]


def _tuned(case: Case) -> Said:
    """Nested CV where it can be afforded, its cheap variant where not, one test set where rows are many."""
    many, options = case.many, case.options
    inner = [*case.own_folds, *_folds(case, few=5)]
    trial = case.first(
        Recipe.nested_cv(J, K, **options) for J in _folds(case) for K in inner
    )
    if many and (case.goal == "predictor" or not (trial and trial.fast)):
        recipes = (
            [Recipe.cv_test(K, **options) for K in inner]
            if trial and trial.fast
            else []
        )
        if tested := case.first([*recipes, Recipe.train_validation_test(**options)]):
            fewer = f"With fewer than {MANY} {case.unit}s, or to average over training sets as well: Recipe.nested_cv()."
            return tested, [f"{_enough(case)}.", fewer]
    if trial is None:
        return _without_nest(case)
    if not trial.fast and trial.fits > MANY_FITS:
        cheap = case.first(Recipe.nested_dev(J, **options) for J in (5, 4, 3))
        if cheap:
            return cheap, [
                f"{_too_few(case)}; here every row is tested once.",
                f"CV inside as well would need {trial.fits} fits; a dev set inside, {cheap.fits}, and chooses less steadily.",
                "With time to spare, or a family that one computation serves at every setting: Recipe.nested_cv().",
            ]
    said = [
        f"{_too_few(case)}; here every row is tested once, by a predictor whose θ was chosen without it."
    ]
    if many:
        said = [
            f"{_enough(case)}, but nested CV costs little here, and averages over training sets as well."
        ]
    if not trial.fast:
        said.append(
            "If a run takes too long: Recipe.nested_dev(), one dev set inside in the place of CV."
        )
    if not many:
        said.append(
            f"With {MANY} {case.unit}s or more one test set would do: Recipe.train_validation_test()."
        )
    return trial, said


def _without_nest(case: Case) -> Said:
    """Too few rows or groups for two levels."""
    why = f"Nested CV cannot be drawn: {case.refused[0]}"
    if trial := case.first([Recipe.train_validation_test(**case.options)]):
        return trial, [why]
    trial = case.first(
        [Recipe.internal_cv(2, **case.options), Recipe.dev_set(0.5, **case.options)]
    )
    return trial, [
        why,
        "Too little is left to measure a choice outside it; what can be done is to choose.",
    ]


def _has_closed_form(path: Any) -> bool:
    return (
        path.algorithm is not None
        and path.algorithm.closed_form
        and path.name.startswith("shared:")
    )


def _folds(case: Case, few: int = 10) -> list[int]:
    """Numbers of folds by preference: the more, the larger the training parts and the dearer; 2 is what always works."""
    return [*([few] if case.n_units < FEW and few > 5 else []), 5, 4, 3, 2]


def _enough(case: Case) -> str:
    n = share_of(0.2, case.n_units)
    return f"{count(case.n_units, case.unit)} are many: a test set of {n} tells {_known(case, n)}"


def _too_few(case: Case) -> str:
    n = share_of(0.2, case.n_units)
    return f"{count(case.n_units, case.unit)} are few for a test set: {n} of them tell{'s' * (n == 1)} {_known(case, n, 'only ')}"


def _known(case: Case, n: int, only: str = "") -> str:
    """How well n independent test rows, or groups, tell a risk: by Hoeffding's inequality, or in spreads of the loss."""
    if case.data.task == "regression":
        return f"the risk {only}to ±{2 / math.sqrt(n):.2g} standard deviations of the loss (about 95 %)"
    return f"a 0-1 risk {only}to ±{min(1.0, math.sqrt(math.log(2 / ALPHA) / (2 * n))):.2g} (Hoeffding, 95 %)"


def _estimated(case: Case, trial: Trial) -> list[str]:
    """What the number means, what it does not, and which predictor to keep."""
    said = [f"It estimates {quantity_of(trial.plan, case.tuned)}."]
    if trial.plan.outer_layout is None:
        return [f"The number: {quantity_of(trial.plan, case.tuned)}."]
    if case.tuned:
        said.append(
            "Ruled out: the smallest loss of Recipe.internal_cv(), which is measured where θ was chosen; it is too low on "
            "average, though often by little."
        )
    if case.options["time_ordered"]:
        said.append(
            "Ruled out: shuffled splits, which train on what came after the rows they test."
        )
    if case.goal == "predictor":
        one = len(trial.plan.outer) == 1
        of = (
            "the predictor that it tests"
            if one
            else "the way predictors are made, not of one of them"
        )
        said.append(
            f"The number is of {of}; the predictor to keep, result.predictor(), is trained on all {case.n_rows} rows."
        )
    return said


def _kept(case: Case, trial: Trial) -> list[str]:
    """Groups, classes, the buffer; and why folds had to be fewer than 5."""
    said, why = [], count(case.n_rows, "row")
    if case.data.task == "classification" and not case.options["time_ordered"]:
        classes, codes = case.data.classes
        why = f"a class of {count(int(np.bincount(codes).min()), 'row')}"
        said.append(
            f"{len(classes)} class{'es' * (len(classes) > 1)}, in proportion in all parts where they can be."
        )
    if case.data.groups is not None:
        why = count(case.n_units, "group")
        said.append(
            f"{why}, each on one side of every split that is drawn: give groups= to the run too."
        )
        if cut := _cut(case):
            said.append(
                f"{count(cut, 'group')} of them with rows on both sides of the given test part: it says nothing of new groups."
            )
    if buffer := case.options["buffer"]:
        said.append(
            f"The {count(buffer, 'row')} on each side of every boundary in time train nothing."
        )
    levels = (("outer", trial.recipe.outer_spec), ("inner", trial.recipe.inner_spec))
    fewer = [
        f"{spec.n_splits} {level}"
        for level, spec in levels
        if isinstance(spec, Folds) and spec.n_splits < 5
    ]
    return (
        [
            *said,
            f"{' and '.join(fewer)} folds: {why} allow{'s' if why.startswith('a ') else ''} no more.",
        ]
        if fewer
        else said
    )


def _cut(case: Case) -> int:
    """Groups that test rows which came with the data have in common with the others."""
    if case.test_rows is None or case.data.groups is None:
        return 0
    groups, tested = case.data.groups, np.zeros(case.n_rows, dtype=bool)
    tested[np.asarray(case.test_rows)] = True
    return int(np.intersect1d(groups[tested], groups[~tested]).size)


def _cost(case: Case, trial: Trial) -> list[str]:
    """Fits; as a formula where the number of settings is not known."""
    inside, outside = trial.plan.n_inner, len(trial.plan.outer)
    last = len(trial.plan.inner[0]) if trial.plan.inner_layouts is not None else 0
    if trial.n_settings is None:
        fits = " + ".join(
            [f"{inside} C"[2 * (inside == 1) :], *([str(outside)] if outside else [])]
        )
        final = f"{last} C + 1"[2 * (last == 1) :]
        return [
            f"Cost for a grid of C settings: {fits} fits, and {final} for the predictor to keep; family= counts them."
        ]
    cost = f"Cost for {count(trial.n_settings, 'setting')}: {count(trial.fits, 'fit')}"
    if case.goal != "estimate":
        cost += f", and {last * trial.n_settings + 1} for the predictor to keep"
    whys = dict.fromkeys(
        path.reason for path in trial.paths if trial.fast or path.name == "refit"
    )
    return [
        f"{cost}{', but not one by one' if trial.fast else ''} – {'; '.join(whys)}."
    ]
