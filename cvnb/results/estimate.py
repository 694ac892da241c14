"""RiskEstimate: the numbers of a run, each named after what it estimates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.fill import fill
from ..engine.table import LossTable
from ..errors import FitError, InputError, Interrupted, RecipeError
from ..families.labels import Setting
from ..families.self_tuning import self_tuned
from ..inference.interval import Interval, interval_of
from ..inference.interval_methods import Centred, RepeatedMethod
from ..paths.refit import fit_on
from ..splits.drawing import draw_final, words_of
from ..splits.plan import Plan
from .baseline import Baseline, baseline_of
from .candidates import (
    CANDIDATES,
    Candidates,
    measured_candidates,
    models_of,
    own_choices,
)
from .frames import result_frame
from .notes import notes_of
from .predictor import ensemble
from .quantity import quantity_of
from .record import Record
from .resampled import REPEATED

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class RiskEstimate:
    """The estimated risk of a family under a recipe.

        risk = mean_j ε_j,    ε_j = loss of A_θj(S_-j) on S_j
        θ_j  = argmin_θ of the inner curve of j

    All numbers are properties, computed from the loss table of the run.

    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from cvnb import Recipe, knn
    >>> X, y = load_iris(return_X_y=True)
    >>> result = Recipe(5, 5).run(knn(k=[1, 5, 9]), X, y, scoring="accuracy")
    >>> result.quantity
    'E[ℓ_D(A_θ̂(S))], |S| = 120, θ̂ chosen inside S by 5-fold CV'
    >>> round(result.risk, 4), round(result.score, 4)
    (0.0467, 0.9533)
    >>> round(result.flat, 4), round(result.optimism, 4), round(result.interval().high, 4)
    (0.04, 0.0067, 0.9791)
    >>> result.fold_risks.round(4), float(result.fold_scores[1])
    (array([0.0333, 0.    , 0.0667, 0.0333, 0.1   ]), 1.0)
    >>> result.chosen[0], result.settings[result.chosen_index[0]], result.final_setting
    ({'k': 9}, {'k': 9}, {'k': 5})
    >>> result.inner_curves.shape, result.outer_curves.shape, result.predictions.shape
    ((5, 3), (5, 3), (150,))
    >>> result.complete, result.baseline
    (True, Baseline('majority class', risk=0.666667))
    >>> result.path, result.path_reason
    ('path:knn', 'neighbours are searched once in every training part, and serve every setting')
    >>> result.notes[0]
    '2 settings tie at the minimum in 2 of 5 outer splits: the first in grid order was taken.'
    >>> result.plan.outer, result.predictor()[-1]
    (<5 splits: 120 training rows, 30 test rows>, KNeighborsClassifier(metric='euclidean'))
    >>> list(result.to_frame()), len(result.curve_figure().data), len(result.nest_figure().data)
    (['split', 'n_train', 'n_test', 'k', 'inner_score', 'outer_score'], 10, 29)
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
        """(1/J) Σ_j ε_j, the mean of fold_risks; None where nothing is measured outside S."""
        return float(np.mean(self.fold_risks)) if len(self.fold_risks) else None

    @property
    def fold_risks(self) -> np.ndarray:
        """ε_j of every outer split: the loss of A_θj(S_-j) on S_j."""
        return self._record.table.fold_risks

    @property
    def score(self) -> float | None:
        """The risk as a score of scoring=: -risk, for accuracy 1 - risk; None without scoring=."""
        return self._record.loss.score(self.risk)

    @property
    def fold_scores(self) -> np.ndarray | None:
        """Each fold risk as such a score; None without scoring=."""
        return self._record.loss.score(self.fold_risks)

    @property
    def settings(self) -> list[Setting]:
        """The grid, in ParameterGrid order; settings that were drawn, in that order."""
        return [dict(setting) for setting in self._record.family.settings]

    @property
    def chosen_index(self) -> np.ndarray:
        """Index into settings of the setting chosen in each outer training part."""
        return self._record.table.chosen.copy()

    @property
    def chosen(self) -> list[Setting]:
        """θ_j of each outer training part.

        For select="min": argmin_s inner_curves[j, s], the first in grid order.
        """
        settings = self._record.family.settings
        return [dict(settings[s]) for s in self._record.table.chosen]

    @property
    def inner_curves(self) -> np.ndarray | None:
        """[j, s]: (1/K) Σ_k loss of A_s(T_jk) on V_jk, over the inner splits (T_jk, V_jk) of j."""
        return self._record.table.inner_curves

    @property
    def outer_curves(self) -> np.ndarray | None:
        """[j, s]: loss of A_s(S_-j) on S_j, for every setting s; None if not all were fitted."""
        table = self._record.table
        is_full = table.flat or len(self._record.family.settings) == 1
        return table.outer.copy() if len(table.outer) and is_full else None

    @property
    def flat(self) -> float | None:
        """min_s (1/J) Σ_j outer_curves[j, s]: the flat estimate.

        It is optimistic because the same folds choose and measure. With one outer split or
        none: min_s inner_curves[0, s].
        """
        if len(self.plan.outer) > 1:
            curves = self.outer_curves
            curve = None if curves is None else curves.mean(axis=0)
        else:
            curves = self.inner_curves
            curve = curves[0] if curves is not None and len(curves) else None
        if curve is None or np.isnan(curve).all():
            return None
        return float(np.nanmin(curve))

    @property
    def optimism(self) -> float | None:
        """risk - flat: what the flat estimate hides; None where risk or flat is None."""
        risk, flat = self.risk, self.flat
        return None if risk is None or flat is None else risk - flat

    @property
    def predictions(self) -> np.ndarray:
        """Out-of-fold predictions by row: an array, masked where a row was never tested.

        Where test parts overlap, a row has several predictions: a masked array [outer
        splits, rows].
        """
        return self._record.predictions

    @cached_property
    def baseline(self) -> Baseline | None:
        """.risk and .name: the same loss, on the same outer splits, of a model that ignores X.

        The majority class or the class shares, the mean or the median of each training part.
        """
        return baseline_of(self._record)

    @property
    def path(self) -> str:
        """Name of the computation that ran, such as "shared:knn" or "refit"."""
        return self._record.path.name

    @property
    def path_reason(self) -> str:
        """Why this computation was chosen."""
        return self._record.path.reason

    @property
    def plan(self) -> Plan:
        """Every split with its row numbers."""
        return self._record.plan

    @property
    def complete(self) -> bool:
        """False after an interrupt: the result then holds the finished splits only."""
        return self._record.table.complete

    @cached_property
    def notes(self) -> list[str]:
        """What deserves attention: grid edges, ties, failures, warnings, small classes."""
        return [*self.plan.notes, *self._record.notes, *notes_of(self._record)]

    @property
    def quantity(self) -> str:
        """What the risk estimates, with the training size."""
        is_tuned, work = len(self._record.family.settings) > 1, self._record.work
        tuner = work.rule.words if is_tuned else self_tuned(work.kinds[0].candidate)
        quantity = quantity_of(self.plan, is_tuned, tuner)
        if self.complete or self.plan.outer_layout is None:
            return quantity
        finished = f"{len(self.fold_risks)} of {len(self.plan.outer)} outer splits"
        return f"{quantity}, from {finished} (interrupted)"

    def interval(
        self,
        level: float = 0.95,
        method: str = "auto",
        range: float | None = None,
        n_repeats: int | None = None,
    ) -> Interval:
        """Return an interval around the risk: .low, .high, .method, and what it covers, .target.

        Where scoring= names a score (accuracy, ROC AUC), the ends are scores, around `score`.

        level: the probability of covering the target. method: "bayle" (K-fold, row losses),
        "few_rows" (the same below 250 rows, 400 in more than 5 folds: wider, as simulations ask),
        "corrected_t" (several splits, any loss), "holdout" (one test part; exact for 0-1
        loss), "hoeffding" (a loss in an interval of width range), "wilson" (0-1 loss, each
        row tested once), or "auto", which takes what suits the recipe. range: for
        "hoeffding" only; 1 for 0-1 loss.

        Two methods run the whole nest on more splits, n_repeats times (by default until the
        spread is known well enough, at least 50): "ncv" (Bates, Hastie and Tibshirani: K
        folds and all pairs of them left out; for the final predictor, its bias by the
        authors' factor 1 + ((K - 2) / K)^1.5) and "conservative_z" (Nadeau and Bengio:
        disjoint halves of the rows; wide on purpose). They run once, whatever the level.
        "delong" fits one model again: the AUC on one test part.
        """
        return interval_of(self, level, method, range, n_repeats, REPEATED)

    def _repeated(
        self, name: str, method: RepeatedMethod, n_repeats: int | None
    ) -> Centred:
        """Return what the method found, from its first run with this number of repeats."""
        if (name, n_repeats) not in self._found:
            self._found[name, n_repeats] = method.centred(self, n_repeats)
        return self._found[name, n_repeats]

    @cached_property
    def _found(self) -> dict[tuple[str, int | None], Centred]:
        return {}

    @property
    def final_setting(self) -> Setting:
        """θ̂ chosen by the inner splitter on all of S; computed on first use."""
        return dict(self._record.family.settings[self._final_index])

    @cached_property
    def _final_index(self) -> int:
        if len(self._record.family.settings) == 1:
            return 0
        if self.plan.outer_layout is None:
            if not len(self.chosen_index):
                raise FitError("interrupted before any setting was chosen; run again.")
            return int(self.chosen_index[0])
        if self._record.inner_spec is None:
            raise RecipeError(
                "inner=None chooses nothing, so there is no final setting; give inner."
            )
        return int(self._final_table.chosen[0])

    def predictor(self, how: str = "retrain") -> Any:
        """Return a fitted scikit-learn estimator for new data.

        how: "retrain" fits A_θ̂(S) with θ̂ = final_setting; "ensemble" is the mean of the
        models of the inner splits of S at θ̂ (of the outer splits where there are no inner
        ones); "own" is the mean of the models of the inner splits, each at the θ of its own
        smallest loss. "auto" takes the one of these three that is best inside the outer
        training parts (`cvnb.inference.compare_predictors` shows them), and says which:
        .how_ and .why_ of the estimator.
        """
        if how not in ("auto", *CANDIDATES):
            known = ", ".join(map(repr, CANDIDATES))
            raise InputError(f"how={how!r} is not known; use {known} or 'auto'.")
        if how == "auto":
            found = self._candidates
            model = self.predictor(found.better)
            model.how_, model.why_ = found.better, found.verdict
            return model
        record = self._record
        family, data = record.family, record.data
        if how == "retrain":
            return fit_on(family, data, self.final_setting, np.arange(data.n_rows))
        has_inner = record.inner_spec is not None
        splits = list(self._final_plan.inner[0] if has_inner else self.plan.outer)
        settings = [self._final_index] * len(splits)
        if how == "own" and len(family.settings) > 1:
            settings = own_choices(record, self._final_inner, settings[0])
        return ensemble(models_of(record, splits, settings), data.X)

    @cached_property
    def _candidates(self) -> Candidates:
        """The losses of the three final predictors on the outer test parts."""
        return measured_candidates(self._record)

    @property
    def _final_inner(self) -> np.ndarray:
        """[inner splits of S, settings]: the losses that chose the final setting."""
        own = self.plan.outer_layout is None
        table = self._record.table if own else self._final_table
        assert table.inner is not None
        return table.inner[0]

    @cached_property
    def _final_table(self) -> LossTable:
        """The losses on the inner splits of all of S."""
        table, _ = fill(self._record.work, self._final_plan)
        if not table.complete:
            raise Interrupted("the final setting was not chosen yet; ask for it again.")
        return table

    @cached_property
    def _final_plan(self) -> Plan:
        """The inner splits of all of S, as a plan without outer splits."""
        if self.plan.outer_layout is None:
            return self.plan
        record = self._record
        data, spec = record.data, record.inner_spec
        inner = (draw_final(record.recipe, data, record.work.task, spec),)
        recipe, grouped = record.recipe, data.groups is not None
        words = words_of(spec, inner, grouped, "dev set", recipe.time_ordered)
        return Plan(data.n_rows, None, inner, inner_words=words, data=data)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table, one row per outer split: sizes, θ_j, its inner loss, ε_j.

        Scores in place of losses where scoring= names a score.
        """
        return result_frame(self)

    def curve_figure(self) -> Any:
        """Draw error versus θ in plotly: inner and outer curves, choices, flat and nested risk."""
        from ..figures import curve_figure

        return curve_figure(self)

    def nest_figure(self) -> Any:
        """Draw the part of every row in every split in plotly."""
        from ..figures import nest_figure

        return nest_figure(self)

    def report(self, path: str | os.PathLike[str], figures: bool = False) -> Path:
        """Write one HTML page that needs no network, and return its path.

        It has pictures, folds, notes, a methods paragraph and the code; figures=True adds
        plotly's figures to explore, 5 MB.
        """
        from ..views.html_report import write_report

        return write_report(self, path, figures)

    def code(self) -> str:
        """Return Python code that makes this result again, given X and y."""
        from ..views.codegen import code_of

        return code_of(self._record)

    def __repr__(self) -> str:
        from ..views.card import result_text

        return result_text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from ..views.card import result_bundle

        return result_bundle(self)


def record_of(result: RiskEstimate) -> Record:
    """Return the recipe, family, loss, data, plan and loss table of a result."""
    return result._record
