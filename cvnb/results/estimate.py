"""RiskEstimate: the numbers, each under the name of what it estimates. Everything here is arithmetic over the loss table."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.table import Data
from ..engine.run import Work, fill
from ..engine.table import LossTable
from ..errors import FitError, InputError, Interrupted, RecipeError
from ..families.family import Family, Setting
from ..families.self_tuning import self_tuned
from ..inference.interval import Interval, interval_of
from ..inference.selection import tied_settings
from ..losses.loss import Loss
from ..paths.base import Ran
from ..paths.refit import fit_on
from ..splits.drawer import draw_final, words_of
from ..splits.plan import Plan
from ..splits.recipes import Recipe
from ..wording import spread
from .notes import notes_of
from .predictor import ensemble

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Record:
    """Everything that a result is made from; `record_of(result)` gives it."""

    recipe: Recipe
    work: Work
    plan: Plan
    table: LossTable
    path: Ran
    inner_spec: Any
    notes: tuple[str, ...]

    @property
    def family(self) -> Family:
        return self.work.family

    @property
    def data(self) -> Data:
        return self.work.data

    @property
    def loss(self) -> Loss:
        return self.work.loss

    @property
    def in_effect(self) -> Recipe:
        """The recipe, without its inner splitter where the family left nothing to choose."""
        unused = self.plan.inner_layouts is None and self.recipe.inner_spec is not None
        return (
            replace(self.recipe, inner=None, dev_rows=None) if unused else self.recipe
        )

    @property
    def tied(self) -> list[np.ndarray]:
        """For each training part the settings that share the minimum of its inner curve."""
        curves = self.table.inner_curves
        return (
            []
            if curves is None
            else [tied_settings(curve, self.loss.zero_one) for curve in curves]
        )


@dataclass(frozen=True, eq=False, repr=False)
class RiskEstimate:
    """The estimated risk of a family under a recipe.

        risk = mean_j ε_j,    ε_j = loss of A_θj(S_-j) on S_j,    θ_j = argmin_θ of the inner curve of j

    All numbers are properties over the record of the run.

    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from cvnb import Recipe, knn
    >>> result = Recipe(5, 5).run(knn(k=[1, 5, 9]), *load_iris(return_X_y=True), scoring="accuracy")
    >>> result.quantity
    'E[ℓ_D(A_θ̂(S))], |S| = 120, θ̂ chosen inside S by 5-fold CV'
    >>> round(result.risk, 4), round(result.score, 4), round(result.flat, 4), round(result.optimism, 4)
    (0.0467, 0.9533, 0.04, 0.0067)
    >>> result.fold_risks.round(4), float(result.fold_scores[1]), round(result.interval().high, 4)
    (array([0.0333, 0.    , 0.0667, 0.0333, 0.1   ]), 1.0, 0.0804)
    >>> result.chosen[0], result.settings[result.chosen_index[0]], result.final_setting
    ({'k': 9}, {'k': 9}, {'k': 5})
    >>> result.inner_curves.shape, result.outer_curves.shape, result.predictions.shape, result.complete
    ((5, 3), (5, 3), (150,), True)
    >>> result.path, result.path_reason
    ('path:knn', 'neighbours are searched once in every training part, and serve every setting')
    >>> result.notes[0]
    '2 settings tie at the minimum in 2 of 5 outer splits: the first in grid order was taken.'
    >>> result.plan.outer, result.predictor()[-1]
    (<5 splits: 120 training rows, 30 test rows>, KNeighborsClassifier(metric='euclidean'))
    >>> list(result.to_frame()), len(result.curve_figure().data), len(result.nest_figure().data)
    (['split', 'n_train', 'n_test', 'k', 'inner_loss', 'outer_loss'], 9, 29)
    >>> result.code().splitlines()[-1]
    "result = recipe.run(knn(k=[1, 5, 9]), X, y, scoring='accuracy', flat=True)"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = result.report(f"{folder}/risk.html").read_text(encoding="utf-8")
    >>> result.notes[0] in page
    True
    """

    _record: Record

    @property
    def risk(self) -> float | None:
        """(1/J) Σ_j ε_j, the mean of fold_risks; None where nothing was measured outside."""
        return float(np.mean(self.fold_risks)) if len(self.fold_risks) else None

    @property
    def fold_risks(self) -> np.ndarray:
        """ε_j of every outer split: the loss of A_θj(S_-j) on S_j."""
        return self._record.table.fold_risks

    @property
    def score(self) -> float | None:
        """The risk as the score asked for with scoring=: -risk, for accuracy 1 - risk; None without scoring=."""
        return self._record.loss.score(self.risk)

    @property
    def fold_scores(self) -> np.ndarray | None:
        """Each fold risk as such a score; None without scoring=."""
        return self._record.loss.score(self.fold_risks)

    @property
    def settings(self) -> list[Setting]:
        """The grid, in ParameterGrid order."""
        return [dict(setting) for setting in self._record.family.settings]

    @property
    def chosen_index(self) -> np.ndarray:
        """Number of the setting chosen in each outer training part."""
        return self._record.table.chosen.copy()

    @property
    def chosen(self) -> list[Setting]:
        """θ_j of each outer training part; for select="min" argmin_s inner_curves[j, s], the first in grid order."""
        return [
            dict(self._record.family.settings[s]) for s in self._record.table.chosen
        ]

    @property
    def inner_curves(self) -> np.ndarray | None:
        """[j, s]: (1/K) Σ_k loss of A_s(T_jk) on V_jk, the mean over the inner splits (T_jk, V_jk) of training part j."""
        return self._record.table.inner_curves

    @property
    def outer_curves(self) -> np.ndarray | None:
        """[j, s]: loss of A_s(S_-j) on S_j, for every setting s; None where it was not fitted there."""
        whole = self._record.table.flat or len(self._record.family.settings) == 1
        return (
            self._record.table.outer.copy()
            if len(self._record.table.outer) and whole
            else None
        )

    @property
    def flat(self) -> float | None:
        """min_s (1/J) Σ_j outer_curves[j, s]: the flat estimate, optimistic, for the folds that chose measure as well.

        With one outer split or none: min_s inner_curves[0, s].
        """
        if len(self.plan.outer) > 1:
            curves = self.outer_curves
            means = None if curves is None else curves.mean(axis=0)
        else:
            means = (
                None
                if self.inner_curves is None or not len(self.inner_curves)
                else self.inner_curves[0]
            )
        return (
            None if means is None or np.isnan(means).all() else float(np.nanmin(means))
        )

    @property
    def optimism(self) -> float | None:
        """risk - flat: what choosing and measuring on the same folds hides; None where one of them is."""
        return None if self.risk is None or self.flat is None else self.risk - self.flat

    @property
    def predictions(self) -> np.ndarray:
        """Out-of-fold predictions by row: an array, masked where a row was never tested.

        Where test parts overlap there is no one prediction per row: a masked array [outer splits, rows].
        """
        parts = [
            test
            for _, test in islice(self.plan.outer, len(self._record.table.predictions))
        ]
        shown = np.concatenate(self._record.table.predictions) if parts else np.zeros(0)
        rows = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        if np.unique(rows).size == rows.size:
            out = np.ma.masked_all(self.plan.n_rows, dtype=shown.dtype)
            out[rows] = shown
            return out.data if rows.size == self.plan.n_rows else out
        out = np.ma.masked_all((len(parts), self.plan.n_rows), dtype=shown.dtype)
        for j, test in enumerate(parts):
            out[j, test] = self._record.table.predictions[j]
        return out

    @property
    def path(self) -> str:
        """Which computation ran: "shared:knn", "refit"."""
        return self._record.path.name

    @property
    def path_reason(self) -> str:
        """Why that one."""
        return self._record.path.reason

    @property
    def plan(self) -> Plan:
        """Every split with its row numbers."""
        return self._record.plan

    @property
    def complete(self) -> bool:
        """False after an interrupt: what is here is what was finished."""
        return self._record.table.complete

    @cached_property
    def notes(self) -> list[str]:
        """Sentences on what deserves a look: grid edges, ties, failures, warnings, small classes."""
        return [*self.plan.notes, *self._record.notes, *notes_of(self._record)]

    @property
    def quantity(self) -> str:
        """What the number estimates, with the training size."""
        tuned, work = len(self._record.family.settings) > 1, self._record.work
        how = work.rule.words if tuned else self_tuned(work.kinds[0].candidate)
        said = quantity_of(self.plan, tuned, how)
        if self.complete or self.plan.outer_layout is None:
            return said
        return f"{said}, from {len(self.fold_risks)} of {len(self.plan.outer)} outer splits (interrupted)"

    def interval(
        self, level: float = 0.95, method: str = "auto", range: float | None = None
    ) -> Interval:
        """An interval around the risk, with what it covers: .low, .high, .method, .target.

        "bayle" (K-fold, row losses), "corrected_t" (several splits, any loss), "holdout" (one test part; exact for 0-1 loss),
        "hoeffding" (a loss in an interval of width `range`; 1 for 0-1 loss). "auto" takes what suits the recipe.
        """
        return interval_of(self, level, method, range)

    @cached_property
    def final_setting(self) -> Setting:
        """θ̂ chosen by the inner splitter on all of S; computed when first asked for."""
        if len(self._record.family.settings) == 1:
            return dict(self._record.family.settings[0])
        if self.plan.outer_layout is None:
            if not self.chosen:
                raise FitError("interrupted before any setting was chosen; run again.")
            return self.chosen[0]
        if self._record.inner_spec is None:
            raise RecipeError(
                "inner=None chooses nothing, so there is no final setting; give inner."
            )
        table, _ = fill(self._record.work, self._final_plan)
        if not table.complete:
            raise Interrupted("the final setting was not chosen yet; ask for it again.")
        return dict(self._record.family.settings[table.chosen[0]])

    def predictor(self, how: str = "retrain") -> Any:
        """A fitted scikit-learn estimator for new data.

        "retrain": A_θ̂(S) with θ̂ = final_setting. "ensemble": the mean of the models of the inner splits of S at θ̂ (of the
        outer splits where there are no inner ones).
        """
        if how not in ("retrain", "ensemble"):
            raise InputError(f"how={how!r} is not known; use 'retrain' or 'ensemble'.")
        setting = self.final_setting
        if how == "retrain":
            return fit_on(
                self._record.family,
                self._record.data,
                setting,
                np.arange(self._record.data.n_rows),
            )
        splits = (
            self.plan.outer
            if self._record.inner_spec is None
            else self._final_plan.inner[0]
        )
        return ensemble(
            [
                fit_on(self._record.family, self._record.data, setting, train)
                for train, _ in splits
            ],
            self._record.data.X,
        )

    @cached_property
    def _final_plan(self) -> Plan:
        if self.plan.outer_layout is None:
            return self.plan
        layout = draw_final(
            self._record.recipe,
            self._record.data,
            self._record.work.task,
            self._record.inner_spec,
        )
        words = words_of(
            self._record.inner_spec,
            (layout,),
            self._record.data.groups is not None,
            "dev set",
        )
        return Plan(
            self._record.data.n_rows,
            None,
            (layout,),
            inner_words=words,
            data=self._record.data,
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per outer split: sizes, θ_j, its inner loss, ε_j. Needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame() gives a pandas DataFrame; pip install pandas, or use the result's arrays."
            ) from None
        curves, losses, rows = self.inner_curves, self.fold_risks, []
        for j, s in enumerate(self._record.table.chosen):
            train, test = self.plan.part(j)
            row: dict[str, Any] = {
                "split": j,
                "n_train": train.size,
                "n_test": test.size,
                **self._record.family.settings[s],
            }
            row["inner_loss"] = np.nan if curves is None else float(curves[j, s])
            row["outer_loss"] = float(losses[j]) if len(losses) else np.nan
            rows.append(row)
        return pd.DataFrame(rows)

    def curve_figure(self) -> Any:
        """Error versus θ as a plotly figure: inner curves, choices, outer curves, flat and nested levels."""
        from ..figures import curve_figure

        return curve_figure(self)

    def nest_figure(self) -> Any:
        """What every row does in every split, as a plotly figure."""
        from ..figures import nest_figure

        return nest_figure(self)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML page that needs no network: figures to explore, splits, notes, a methods paragraph, the code."""
        from ..views.html_report import write_report

        return write_report(self, path)

    def code(self) -> str:
        """Python that makes this result again, given X and y."""
        from ..views.codegen import code_of

        return code_of(self._record)

    def __repr__(self) -> str:
        from ..views.display import result_text

        return result_text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from ..views.display import result_bundle

        return result_bundle(self)


def quantity_of(plan: Plan, tuned: bool, how: str = "") -> str:
    """What a run on this plan estimates, with the training size.

    how: the words of how θ is taken from the inner curve; of one setting, the name of the estimator if it tunes itself
    """
    measured = "T" if plan.outer_layout is None else "S"
    sizes = training_sizes(plan)
    risk = f"ℓ_D({'A_θ̂' if tuned else 'A'}({measured}))"
    size = f"|{measured}| = {spread(sizes)}" + f" of |S| = {plan.n_rows}" * (
        measured == "T"
    )
    said = f"{risk if len(sizes) == 1 else f'E[{risk}]'}, {size}"
    if tuned and plan.inner_words:
        said += f", θ̂ chosen inside S by {plan.inner_words}{how}"
    if how and not tuned:
        said += f", {how} tunes itself inside {measured}"
    if measured == "S":
        return said
    if tuned:
        return f"nothing is measured outside S; the smallest inner loss is optimistic for {said}"
    return f"one setting; the inner loss by {plan.inner_words} estimates {said}"


def training_sizes(plan: Plan) -> np.ndarray:
    """Rows that the measured models are trained on: in every outer split, or in every inner one where there are none."""
    splits = plan.inner[0] if plan.outer_layout is None else plan.outer
    return splits.layout.sizes()[:, 0]


def record_of(result: RiskEstimate) -> Record:
    """The recipe, family, loss, data, plan and loss table behind a result."""
    return result._record
