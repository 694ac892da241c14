"""The whole flow: data -> plan -> losses -> estimate."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import hash as hash_of

from ..data.table import Data
from ..engine.progress import Slot
from ..engine.run import Work, fill
from ..engine.table import LossTable
from ..errors import FamilyError, InputError, RecipeError
from ..families.family import Family, as_families, check_parameters
from ..families.self_tuning import self_tuned
from ..inference.rules import rule_of
from ..losses.loss import find_loss
from ..paths.base import Draw, Ran
from ..paths.dispatch import choose_path
from ..results.comparison import Comparison, interrupted, was_interrupted
from ..results.estimate import Record, RiskEstimate
from ..splits.drawer import draw
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from ..splits.specs import FixedRows, Folds, Given, Listed
from ..wording import count
from . import feasibility
from .forecast import forecast


def plan(
    recipe: Recipe, X: Any, y: Any, family: Any = None, groups: Any = None
) -> Plan:
    """Every split of this recipe on these rows; nothing is fitted."""
    given = {} if family is None else as_families(family)
    drawn, task, inner_spec = _plan(recipe, Data.check(X, y, groups), _by_name(given))
    if not isinstance(given, Family):
        return drawn
    alone = given.resolved(task, _smallest_part(drawn))
    return _as_needed(drawn, alone, alone.candidate(alone.settings[0]), inner_spec)


def run(
    recipe: Recipe,
    family: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    sample_weight: Any = None,
    loss: Any = None,
    scoring: Any = None,
    select: Any = "min",
    flat: bool = False,
    n_jobs: int | None = None,
    path: str = "auto",
    progress: str = "auto",
) -> RiskEstimate | Comparison:
    """The risk of a family, or of several by name on the same splits.

    An interrupt raises Interrupted, whose result is the finished part.
    """
    options = Options(loss, scoring, select, flat, n_jobs, path, progress)
    ready = prepare(recipe, family, Data.check(X, y, groups, sample_weight), options)
    slot = None if progress == "off" else Slot()
    result = None
    try:
        try:
            result = ready.run(slot)
        finally:
            if slot is not None:
                slot.clear()
    except KeyboardInterrupt:
        raise interrupted(result) from None
    if was_interrupted(result):
        raise interrupted(result)
    return result


def prepare(
    recipe: Recipe, family: Any, data: Data, options: Options, apart: bool = False
) -> Ready:
    """A run that has only to be made: the splits are drawn, and all is checked that can be checked without a fit.

    apart: it works on copies of rows and estimators, for the user's code may change its own meanwhile.
    """
    given = as_families(family)
    if apart:
        data, given = data.copied(), copy.deepcopy(given)
    families = _by_name(given)
    drawn, task, inner_spec = _plan(recipe, data, families)
    jobs = {
        name: _prepare(one, drawn, data, task, inner_spec, options)
        for name, one in families.items()
    }
    if (
        len({(job.work.loss.rows, repr(job.work.loss.scorer)) for job in jobs.values()})
        > 1
    ):
        names = ", ".join(
            f"{name}: {job.work.loss.scorer or job.work.loss.name}"
            for name, job in jobs.items()
        )
        raise FamilyError(
            f"a comparison needs one loss, but the families bring {names}; give loss= or scoring=."
        )
    alone = isinstance(given, Family)
    return Ready(
        recipe, jobs[""].plan if alone else drawn, inner_spec, jobs, options.flat, alone
    )


def nested_cv(
    family: Any,
    X: Any,
    y: Any,
    outer: Any = 5,
    inner: Any = "auto",
    seed: int = 0,
    **run_options: Any,
) -> RiskEstimate | Comparison:
    """Nested cross-validation in one call: Recipe(outer, inner, seed).run(family, X, y).

        risk = mean_j ε_j,    ε_j = loss of A_θj(S_-j) on S_j,    θ_j = argmin_θ of the inner CV estimate inside S_-j

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn
    >>> nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)).quantity
    'E[ℓ_D(A_θ̂(S))], |S| = 120, θ̂ chosen inside S by 5-fold CV'
    """
    return Recipe(outer=outer, inner=inner, seed=seed).run(family, X, y, **run_options)


def dry_run(
    recipe: Recipe,
    family: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    sample_weight: Any = None,
    **run_options: Any,
) -> Any:
    """What `run` would do and cost: a Forecast, or a dict of them by name. Two fits for each family at most.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn
    >>> dry_run(Recipe(5, 5), knn(k=range(1, 11)), *load_iris(return_X_y=True)).fits
    255
    """
    options = Options(**{**DEFAULTS, **run_options})
    given = as_families(family)
    families = _by_name(given)
    data = Data.check(X, y, groups, sample_weight)
    drawn, task, inner_spec = _plan(recipe, data, families)
    found = {}
    for name, one in families.items():
        job = _prepare(one, drawn, data, task, inner_spec, options)
        work = job.work
        path = choose_path(
            work.family,
            work.kinds,
            [Draw(job.plan, work.data)],
            work.loss,
            work.task,
            work.path,
        )
        found[name] = forecast(work, job.plan, path, options.flat)
    return found[""] if isinstance(given, Family) else found


FEW = 2  # training rows, of which the default grids still have several settings
UNDER_WAY = Ran("under way", "the run goes on")
DEFAULTS: dict[str, Any] = {
    "loss": None, "scoring": None, "select": "min", "flat": False, "n_jobs": None, "path": "auto", "progress": "off",
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What a run was asked for beyond recipe, family and data."""

    loss: Any
    scoring: Any
    select: Any
    flat: bool
    n_jobs: int | None
    path: str
    progress: str

    def __post_init__(self) -> None:
        for name, known in (
            ("path", ["auto", "refit"]),
            ("flat", [True, False]),
        ):
            value = getattr(self, name)
            if not any(
                value is one or (isinstance(value, str) and value == one)
                for one in known
            ):
                raise InputError(
                    f"{name}={value!r} is not known; use {' or '.join(map(repr, known))}."
                )
        if self.progress not in ("auto", "off"):
            raise InputError(
                f"progress={self.progress!r} is not known; use 'auto' or 'off'."
            )
        n = self.n_jobs
        if n is not None and (
            isinstance(n, bool) or not isinstance(n, int | np.integer) or n == 0
        ):
            raise InputError(
                f"n_jobs={n!r} must be None or a whole number other than 0; -1 means all processors."
            )


@dataclass(frozen=True)
class Job:
    """One family made ready, the splits that it needs, and what the walk over them noted."""

    work: Work
    plan: Plan
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Ready:
    """A run that has only to be made: one job, or several by name, on one plan."""

    recipe: Recipe
    plan: Plan
    inner_spec: Any
    jobs: dict[str, Job]
    flat: bool
    alone: bool

    def run(self, slot: Slot | None) -> RiskEstimate | Comparison:
        """The result; after an interrupt the finished part: magics and widgets show it."""
        results: dict[str, RiskEstimate] = {}
        try:
            for name, job in self.jobs.items():
                if slot is not None:
                    so_far = partial(self.estimate, job, path=UNDER_WAY)
                    slot.begin(name, len(results), len(self.jobs), so_far)
                results[name] = self.estimate(
                    job, *fill(job.work, job.plan, self.flat, slot)
                )
                if not results[name].complete:
                    break
        except KeyboardInterrupt:  # between two families
            if self.alone or not results:
                raise
        return (
            results[""]
            if self.alone
            else Comparison(
                results, [name for name in self.jobs if name not in results]
            )
        )

    def estimate(self, job: Job, table: LossTable, path: Ran) -> RiskEstimate:
        """The result that a loss table of this job makes."""
        return RiskEstimate(
            Record(
                self.recipe, job.work, job.plan, table, path, self.inner_spec, job.notes
            )
        )


def _by_name(families: Family | dict[str, Family]) -> dict[str, Family]:
    return {"": families} if isinstance(families, Family) else families


def _plan(
    recipe: Recipe, data: Data, families: dict[str, Family]
) -> tuple[Plan, str, Any]:
    """(plan, task, inner splitter): the families decide the task, and the inner splitter where inner="auto"."""
    tasks = {name: family.task(data.task) for name, family in families.items()} or {
        "": data.task
    }
    if len(set(tasks.values())) > 1:
        raise FamilyError(
            f"a comparison needs one task, but {', '.join(f'{name} is a {task}' for name, task in tasks.items())}."
        )
    task = next(iter(tasks.values()))
    for family in families.values():
        feasibility.check_target(data, task, family)
    tuned = {
        name: one
        for name, one in families.items()
        if len(one.resolved(task, FEW).settings) > 1
    }
    inner_spec = recipe.inner_spec
    if isinstance(inner_spec, str):
        inner_spec = _inner_spec(recipe, data, tuned or families)
    chooses = tuned or not families or recipe.outer_spec is None
    return draw(recipe, data, task, inner_spec if chooses else None), task, inner_spec


def _as_needed(plan: Plan, family: Family, candidate: Any, inner_spec: Any) -> Plan:
    """The plan, without inner splits where this family leaves nothing to choose in them and outer ones measure it."""
    if len(family.settings) > 1 or plan.outer_layout is None:
        return plan
    name = self_tuned(candidate)
    words = (
        f"{name} tunes itself"
        if name
        else "nothing is chosen"
        if inner_spec is not None
        else ""
    )
    return replace(plan, inner_layouts=None, inner_words=words)


def _inner_spec(recipe: Recipe, data: Data, families: dict[str, Family]) -> Any:
    """inner="auto": the cv that a GridSearchCV brings, else 5 folds."""
    found: dict[str, Any] = {}
    for family in families.values():
        splitter = family.inner_splitter(data.y)
        if splitter is None:
            continue
        whole = isinstance(family.cv, int | np.integer)
        if whole and (data.groups is not None or recipe.time_ordered):
            splitter = Folds(
                int(family.cv)
            )  # a bare number knows nothing of groups and times: draw folds that do
        else:
            splitter = Given(splitter, explicit=not whole)
        found[hash_of(splitter)] = splitter
    if len(found) > 1:
        raise RecipeError(
            f"the families bring different inner splitters ({', '.join(map(repr, found.values()))}); give inner=."
        )
    return next(iter(found.values()), Folds(5))


def _prepare(
    family: Family, plan: Plan, data: Data, task: str, inner_spec: Any, options: Options
) -> Job:
    ready = family.resolved(task, _smallest_part(plan))
    if inner_spec is None and len(ready.settings) > 1:
        raise RecipeError(
            f"inner=None measures one setting, but the grid has {len(ready.settings)}; give inner=5 to choose inside, or use "
            "Recipe.internal_cv() to choose on all of S."
        )
    own = options.loss is None and options.scoring is None
    loss = find_loss(
        options.loss, ready.scoring if own else options.scoring, task, ready.estimator
    )
    kinds = check_parameters(ready)
    plan = _as_needed(plan, ready, kinds[0].candidate, inner_spec)
    rule = rule_of(options.select, ready, kinds, loss)
    rule.refuse(plan)
    notes = feasibility.check(plan, data, task, ready, loss, kinds)
    work = Work(ready, kinds, data, loss, task, rule, options.path, options.n_jobs)
    return Job(work, plan, (*notes, *_leaks(plan, inner_spec)))


def _smallest_part(plan: Plan) -> int:
    outer = [] if plan.outer_layout is None else [plan.outer_layout]
    return min(int(layout.sizes()[:, 0].min()) for layout in plan.inner_kept or outer)


def _leaks(plan: Plan, inner_spec: Any) -> list[str]:
    """Groups that stand on both sides of splits which were given rather than drawn."""
    given = isinstance(inner_spec, Given | Listed | FixedRows) or not plan.outer_drawn
    if plan.group_codes is None or not given:
        return []
    found = [finding for finding in plan.audit().findings if "groups" in finding]
    more = f" (and {count(len(found) - 1, 'more split')})" if len(found) > 1 else ""
    return (
        [f"{found[0]}{more}: the splits given do not keep groups together."]
        if found
        else []
    )
