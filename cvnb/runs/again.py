"""Run the recipe of a result again, on other splits or targets of the same rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from ..data.table import Data
from ..engine.study import Job
from ..engine.work import Work
from ..families.setting_groups import check_parameters
from ..families.shorthands import unresolved
from ..inference.rules import rule_of
from ..paths.base import Draw
from ..results.estimate import RiskEstimate, record_of
from ..runtime.thread_warnings import quiet
from ..splits.drawing import draw
from ..splits.layouts import Layout
from ..splits.recipes import Recipe
from ..splits.specs import GivenSplitter
from ..splits.strata import Strata
from . import feasibility
from .shared_plan import smallest_part


class Again:
    """The family, loss and rule of a result, ready to be run on further draws.

    n_jobs  number of workers, as in joblib; None for that of the run
    """

    def __init__(self, result: RiskEstimate, n_jobs: int | None = None) -> None:
        self.record = record_of(result)
        work = self.record.work
        self.work = work if n_jobs is None else replace(work, n_jobs=n_jobs)
        self._unresolved = unresolved(work.family)
        self._works = {smallest_part(self.record.plan): self.work}

    def job(
        self,
        recipe: Recipe | None = None,
        data: Data | None = None,
        outer: Layout | None = None,
    ) -> Job:
        """Return what a run by this recipe on these data measures, and on which draw.

        recipe  by default that of the result
        data    the same rows with other targets; by default those of the result
        outer   the outer splits, in place of those that the recipe draws
        """
        record, task = self.record, self.work.task
        recipe, data = recipe or record.recipe, data or record.data
        if recipe is record.recipe and outer is None and self._is_blind:
            plan = record.plan
        else:
            chooses = record.plan.inner_layouts is not None
            spec = record.inner_spec if chooses else None
            with quiet():  # the result has the cautions already
                plan = draw(recipe, data, task, spec, outer)
        work = self._work_of(smallest_part(plan))
        feasibility.check(plan, replace(work, data=data))
        return work, Draw(plan, data)

    @cached_property
    def _is_blind(self) -> bool:
        """Whether the splits of the recipe do not depend on y."""
        record = self.record
        levels = record.recipe.outer_spec, record.inner_spec
        is_given = any(isinstance(spec, GivenSplitter) for spec in levels)
        strata = Strata(record.recipe, record.data, self.work.task)
        return strata.codes is None and not is_given

    def _work_of(self, smallest: int) -> Work:
        """Return the work on a plan whose smallest training part has so many rows.

        A default grid ends at that number.
        """
        if smallest not in self._works:
            work = self.work
            family = self._unresolved.resolved(work.task, smallest)
            if family.settings != work.family.settings:
                kinds = check_parameters(family)
                rule = rule_of(work.rule.select, family, kinds, work.loss)
                work = replace(work, family=family, kinds=kinds, rule=rule)
            self._works[smallest] = work
        return self._works[smallest]
