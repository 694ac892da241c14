"""The whole flow of a run: data -> plan -> losses -> estimate."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..calls import explained
from ..data.table import Data
from ..engine.fill import fill
from ..engine.progress import Slot
from ..engine.table import LossTable
from ..engine.work import Work
from ..errors import FamilyError, RecipeError
from ..families.family import Family, as_families
from ..families.setting_groups import check_parameters
from ..inference.rules import rule_of
from ..losses.loss import find_loss
from ..paths.base import UNDER_WAY, Draw, Path, Ran
from ..paths.dispatch import choose_path
from ..results.comparison import Comparison, interrupted, was_interrupted
from ..results.estimate import Record, RiskEstimate
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from . import feasibility
from .forecast import Forecast, Forecasts, forecast
from .meanwhile import NOTE, REASON, is_sooner_refitted
from .options import Options
from .probe import refuse_text
from .shared_plan import (
    divided_groups,
    draw_shared,
    smallest_part,
    without_unused_inner,
)


def plan(
    recipe: Recipe,
    X: Any,
    y: Any,
    family: Any = None,
    groups: Any = None,
    times: Any = None,
) -> Plan:
    """Return every split of this recipe on these rows; nothing is fitted.

    family  decides the task, and the inner splitter where inner="auto"
    groups  keep rows of one group on one side of every split
    times   order the rows
    """
    given = {} if family is None else as_families(family)
    data = Data.check(X, y, groups, times=times)
    drawn, task, inner_spec = draw_shared(recipe, data, by_name(given))
    if not isinstance(given, Family):
        return drawn
    resolved = given.resolved(task, smallest_part(drawn))
    candidate = resolved.candidate(resolved.settings[0])
    return without_unused_inner(drawn, resolved, candidate, inner_spec)


def run(
    recipe: Recipe,
    family: Any,
    X: Any,
    y: Any,
    groups: Any,
    sample_weight: Any,
    options: Options,
    times: Any = None,
) -> RiskEstimate | Comparison:
    """Return the risk of a family, or of several by name on the same splits.

    The parameters are those of Recipe.run. An interrupt raises Interrupted, whose result is
    the finished part.
    """
    slot = None if options.progress == "off" else Slot()
    result = None
    try:
        given = as_families(family)
        data = Data.check(X, y, groups, sample_weight, times)
        prepared = prepare(recipe, given, data, options)
        try:
            result = prepared.run(slot)
        finally:
            if slot is not None:
                slot.clear()
    except KeyboardInterrupt:
        raise interrupted(result) from None
    if was_interrupted(result):
        raise interrupted(result)
    return result


def prepare(
    recipe: Recipe, family: Any, data: Data, options: Options, on_copies: bool = False
) -> PreparedRun:
    """Return a run that is ready to start: splits drawn, and everything checked but the fits.

    recipe     the splits
    family     one family, or several by name
    data       the rows
    options    what else the user has set
    on_copies  copy rows and estimators, which the user's code may change meanwhile
    """
    given = as_families(family)
    if on_copies:
        data, given = data.copied(), copy.deepcopy(given)
    families = by_name(given)
    drawn, task, inner_spec = draw_shared(recipe, data, families)
    jobs = {
        name: _prepare_family(family, drawn, data, task, inner_spec, options)
        for name, family in families.items()
    }
    _refuse_different_losses(jobs)
    is_single = isinstance(given, Family)
    plan = jobs[""].plan if is_single else drawn
    return PreparedRun(recipe, plan, inner_spec, jobs, options.flat, is_single)


def _refuse_different_losses(jobs: dict[str, PreparedFamily]) -> None:
    losses = {name: job.work.loss for name, job in jobs.items()}
    if len({(loss.rows, repr(loss.scorer)) for loss in losses.values()}) < 2:
        return
    names = [f"{name}: {loss.scorer or loss.name}" for name, loss in losses.items()]
    raise FamilyError(
        f"a comparison needs one loss, but the families bring {', '.join(names)}; give "
        "loss= or scoring=."
    )


@explained
def nested_cv(
    family: Any,
    X: Any,
    y: Any,
    outer: Any = 5,
    inner: Any = "auto",
    seed: int = 0,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    loss: Any = None,
    scoring: Any = None,
    select: Any = "min",
    flat: bool = False,
    n_jobs: int | None = None,
    path: str = "auto",
    progress: str = "auto",
    times: Any = None,
    time_ordered: bool | str = False,
    buffer: Any = 0,
) -> RiskEstimate | Comparison:
    """Nested cross-validation in one call: Recipe(outer, inner, seed).run(family, X, y).

        θ_j  = argmin_θ of the inner CV estimate inside S_-j
        ε_j  = loss of A_θj(S_-j) on S_j
        risk = mean_j ε_j

    family, X, y   an estimator with its grid, the rows and their targets, as in Recipe.run;
                   nested_cv(estimator, grid, X, y) is the same
    outer, inner   the splits that measure the risk and those that choose θ, as in Recipe
    seed           of all random splits

    As in Recipe.run: groups and sample_weight, loss or scoring, select (the rule that chooses θ),
    flat, n_jobs, path, progress and times. As in Recipe: time_ordered and buffer.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn
    >>> nested_cv(knn(k=[1, 5, 9]), *load_iris(return_X_y=True)).quantity
    'E[ℓ_D(A_θ̂(S))], |S| = 120, θ̂ chosen inside S by 5-fold CV'
    """
    recipe = Recipe(outer, inner, seed, time_ordered=time_ordered, buffer=buffer)
    options = Options(loss, scoring, select, flat, n_jobs, path, progress)
    return run(recipe, family, X, y, groups, sample_weight, options, times)


def dry_run(
    recipe: Recipe,
    family: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    sample_weight: Any = None,
    times: Any = None,
    **run_options: Any,
) -> Forecast | Forecasts:
    """Return what `run` would do and cost: a Forecast, or of several models a dict of them.

    It makes at most two fits for each family, or measures one split twice. The
    parameters are those of `run`.

    >>> from sklearn.datasets import load_iris
    >>> from cvnb import knn
    >>> dry_run(Recipe(5, 5), knn(k=range(1, 11)), *load_iris(return_X_y=True)).fits
    255
    """
    options = Options(**run_options)
    data = Data.check(X, y, groups, sample_weight, times)
    prepared = prepare(recipe, family, data, options)
    forecasts = Forecasts(
        (name, forecast(job.work, job.plan, job.choose_path(), options.flat))
        for name, job in prepared.jobs.items()
    )
    return forecasts[""] if prepared.is_single else forecasts


@dataclass(frozen=True)
class PreparedFamily:
    """The work of one family, the splits that it needs, and the notes of the checks."""

    work: Work
    plan: Plan
    notes: tuple[str, ...]

    def choose_path(self) -> Path:
        """Return the path that the run would take."""
        return choose_path(self.work, [Draw(self.plan, self.work.data)])


@dataclass(frozen=True)
class PreparedRun:
    """A run that is ready to start: one family, or several by name, on one plan."""

    recipe: Recipe
    plan: Plan
    inner_spec: Any
    jobs: dict[str, PreparedFamily]
    flat: bool
    is_single: bool

    def run(self, slot: Slot | None) -> RiskEstimate | Comparison:
        """Return the result; after an interrupt the finished part, for magics and widgets."""
        results: dict[str, RiskEstimate] = {}
        try:
            for name, job in self.jobs.items():
                if slot is not None:
                    so_far = partial(self.estimate, job, path=UNDER_WAY)
                    slot.begin(name, len(results), len(self.jobs), so_far)
                work = job.work
                if is_sooner_refitted(work, job.plan, self.flat):
                    work = replace(work, path="refit")
                table, path = fill(work, job.plan, self.flat, slot)
                if work is not job.work:
                    path = Ran(path.name, REASON)
                    job = replace(job, notes=(*job.notes, NOTE))
                results[name] = self.estimate(job, table, path)
                if not results[name].complete:
                    break
        except KeyboardInterrupt:  # between two families
            if self.is_single or not results:
                raise
        if self.is_single:
            return results[""]
        never_run = [name for name in self.jobs if name not in results]
        return Comparison(results, never_run)

    def estimate(
        self, job: PreparedFamily, table: LossTable, path: Ran
    ) -> RiskEstimate:
        """Return the result of a loss table of this job."""
        record = Record(
            self.recipe, job.work, job.plan, table, path, self.inner_spec, job.notes
        )
        return RiskEstimate(record)


def by_name(families: Family | dict[str, Family]) -> dict[str, Family]:
    """Return the families by name; the name of a single one is empty."""
    return {"": families} if isinstance(families, Family) else families


def _prepare_family(
    family: Family, plan: Plan, data: Data, task: str, inner_spec: Any, options: Options
) -> PreparedFamily:
    family = family.resolved(task, smallest_part(plan))
    if inner_spec is None and len(family.settings) > 1:
        raise RecipeError(
            f"inner=None measures one setting, but the grid has {len(family.settings)}; "
            "give inner=5 to choose inside, or use Recipe.internal_cv() to choose on all "
            "of S."
        )
    is_default = options.loss is None and options.scoring is None
    scoring = family.scoring if is_default else options.scoring
    loss = find_loss(options.loss, scoring, task, family.estimator)
    kinds = check_parameters(family)
    plan = without_unused_inner(plan, family, kinds[0].candidate, inner_spec)
    rule = rule_of(options.select, family, kinds, loss)
    rule.refuse(plan)
    work = Work(family, kinds, data, loss, task, rule, options.path, options.n_jobs)
    notes = feasibility.check(plan, work)
    refuse_text(work, plan)
    notes = [*data.notes, *notes, *divided_groups(plan, inner_spec)]
    return PreparedFamily(work, plan, tuple(notes))
