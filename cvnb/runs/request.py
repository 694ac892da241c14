"""A request for advice: the rows, the family and the goal; and the recipes feasible for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..data.table import Data
from ..errors import InfeasibleError
from ..families.family import Family
from ..paths.base import Path, Ran
from ..runtime.thread_warnings import quiet
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from .forecast import forecast
from .options import Options
from .prepare import PreparedFamily, by_name, plan, prepare

MANY = 10_000  # from here on a fifth of the rows gives a 0-1 risk to within about 0.03


@dataclass(frozen=True)
class FeasibleRecipe:
    """A recipe whose splits of these rows can be drawn.

    n_settings   None without a family, and then `paths` and `jobs` are empty
    closed_form  leave-one-out on these paths costs no more than one fit
    """

    recipe: Recipe
    plan: Plan
    n_settings: int | None = None
    paths: tuple[Ran, ...] = ()
    closed_form: bool = False
    zero_one: bool = False
    notes: tuple[str, ...] = ()
    jobs: tuple[PreparedFamily, ...] = ()

    @property
    def is_fast(self) -> bool:
        """Whether one computation per training part, or one for all, serves every setting."""
        return bool(self.paths) and all(path.name != "refit" for path in self.paths)

    @cached_property
    def seconds(self) -> float:
        """What the run will take, as `dry_run` forecasts it; a few fits may be made."""
        return sum(
            forecast(job.work, job.plan, job.choose_path(), flat=False).seconds
            for job in self.jobs
        )

    @property
    def n_fits(self) -> int:
        """Number of fits on the refit path."""
        return self.plan.n_inner * (self.n_settings or 0) + len(self.plan.outer)


@dataclass(frozen=True)
class Request:
    """What is known before a recipe is tried.

    given    a family, families by name, or None
    refused  why the recipes tried so far cannot be drawn
    """

    data: Data
    given: Family | dict[str, Family] | None
    goal: str
    options: dict[str, Any]
    test_rows: Any
    refused: list[str] = field(default_factory=list)

    @property
    def families(self) -> list[Family]:
        return [] if self.given is None else list(by_name(self.given).values())

    @property
    def n_rows(self) -> int:
        return self.data.n_rows

    @property
    def unit(self) -> str:
        """What is drawn independently, and so counts as few or many."""
        return "row" if self.data.groups is None else "group"

    @property
    def n_units(self) -> int:
        groups = self.data.groups
        return self.n_rows if groups is None else int(np.unique(groups).size)

    @property
    def has_many(self) -> bool:
        return self.n_units >= MANY

    @property
    def is_tuned(self) -> bool:
        """Whether there is a setting to choose, as is assumed without a family."""
        task = self.data.task
        return not self.families or any(
            len(family.resolved(family.task(task), self.n_rows).settings) > 1
            for family in self.families
        )

    @property
    def inner_splitters(self) -> list[Any]:
        """["auto"] if a search brings its own inner splitter, which then comes first."""
        has_own = any(family.cv is not None for family in self.families)
        return ["auto"] if has_own else []

    def first_feasible(self, recipes: Iterable[Recipe]) -> FeasibleRecipe | None:
        """Return the first recipe that can be drawn, preferably with every class in every part."""
        with_notes = None
        for recipe in recipes:
            try:
                with quiet():
                    feasible = self._try(recipe)
            except InfeasibleError as error:
                self.refused.append(str(error))
                continue
            if not feasible.plan.notes:
                return feasible
            with_notes = with_notes or feasible
        return with_notes

    def _try(self, recipe: Recipe) -> FeasibleRecipe:
        data = self.data
        if self.given is None:
            return FeasibleRecipe(
                recipe, plan(recipe, data.X, data.y, None, data.groups)
            )
        prepared = prepare(recipe, self.given, data, Options())
        jobs = prepared.jobs.values()
        paths = [job.choose_path() for job in jobs]
        return FeasibleRecipe(
            recipe=recipe,
            plan=prepared.plan,
            n_settings=sum(len(job.work.family.settings) for job in jobs),
            paths=tuple(dict.fromkeys(path.ran for path in paths)),
            closed_form=all(map(_has_closed_form, paths)),
            zero_one=all(job.work.loss.zero_one for job in jobs),
            notes=tuple(dict.fromkeys(note for job in jobs for note in job.notes)),
            jobs=tuple(jobs),
        )


def _has_closed_form(path: Path) -> bool:
    algorithm = path.algorithm
    is_closed = algorithm is not None and algorithm.closed_form
    return is_closed and path.name.startswith("shared:")
