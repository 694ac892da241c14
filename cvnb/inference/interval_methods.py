"""The methods of `result.interval`: a function each, and a record of what it covers and refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..losses.ranges import range_of
from ..splits.layouts import are_apart
from ..wording import count, spread
from .measured import fold_weights, outer_groups, outer_rows, outer_weights, split_sizes
from .spread import (
    Ends,
    bayle_interval,
    corrected_t_interval,
    hoeffding_interval,
    holdout_interval,
    normal_quantile,
    student_quantile,
)
from .wilson import score_interval, wilson_ends, wilson_interval

if TYPE_CHECKING:
    from ..results.estimate import RiskEstimate


# rows below which "bayle" is too narrow; the same in more than FEW_FOLDS folds
SMALL, SMALL_IN_MANY = 250, 400
FEW_FOLDS = 5
MOST_COUNTED = 0.8  # share of the rows that "few_rows" counts at most

Covers = Callable[["RiskEstimate"], str]


@dataclass(frozen=True)
class Method:
    """One method of result.interval.

    ends     computes (low, high) from (result, level, range); range is None by default
    covers   describes what the interval covers
    refuses  condition -> what follows "method='...' " in the error raised where it holds
    """

    ends: Callable[[RiskEstimate, float, float | None], Ends]
    covers: Covers
    refuses: dict[Callable[[RiskEstimate], bool], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Centred:
    """A centre, which need not be the risk, its standard error, and how both were found."""

    centre: float
    error: float
    why: str

    def ends(self, level: float) -> Ends:
        """Return centre ± z error."""
        half = normal_quantile(level) * self.error
        return self.centre - half, self.centre + half


@dataclass(frozen=True)
class RepeatedMethod:
    """One method of result.interval that fits again.

    centred  (result, number of repeats or None) -> Centred, for every level
    covers, refuses   as in Method
    """

    centred: Callable[[RiskEstimate, int | None], Centred]
    covers: Covers
    refuses: dict[Callable[[RiskEstimate], bool], str] = field(default_factory=dict)


# What an interval covers


def procedure(result: RiskEstimate) -> str:
    """The risk of the procedure, over training sets of this size."""
    return f"the procedure at this training size: {result.quantity}"


def tested_predictors(result: RiskEstimate) -> str:
    """The mean risk of the predictors fitted on the outer training parts."""
    n_outer = len(result.fold_risks)
    size = f"|S| = {spread(result.plan.outer.layout.sizes()[:n_outer, 0])}"
    rule = "A_θ̂(S)" if len(result.settings) > 1 else "A(S)"
    if n_outer == 1:
        return f"ℓ_D({rule}) of the predictor trained on these rows, {size}"
    predictors = count(n_outer, "predictor")
    if not result.complete:
        predictors += f" of the {len(result.plan.outer)}"
    return f"the mean of ℓ_D({rule}) over the {predictors} that were tested, {size}"


def predictors_by_rows(result: RiskEstimate) -> str:
    """The same, each predictor weighted by its number of test rows."""
    target = tested_predictors(result)
    return target if one_part(result) else f"{target}, each weighted by its test rows"


def final_predictor(result: RiskEstimate) -> str:
    """The risk of the predictor that is trained on all rows."""
    rule = "A_θ̂(S)" if len(result.settings) > 1 else "A(S)"
    return f"ℓ_D({rule}) of the final predictor, |S| = {result.plan.n_rows}"


def procedure_and_final(result: RiskEstimate) -> str:
    """Both, for an interval that is wide on purpose."""
    return f"{procedure(result)}; wide enough for {final_predictor(result)}, too"


def covered_in_words(covers: Covers, result: RiskEstimate) -> str:
    """Return in a few words without symbols what an interval covers."""
    if covers in (tested_predictors, predictors_by_rows):
        n = len(result.fold_risks)
        return "the model tested" if n == 1 else f"the {n} models tested"
    return IN_WORDS.get(covers, "")


IN_WORDS: dict[Covers, str] = {
    procedure: "the procedure at this training size",
    final_predictor: "the final model",
    procedure_and_final: "the procedure and the final model",
}


# What a method may refuse, and where it is too narrow


def is_partial(result: RiskEstimate) -> bool:
    """Whether the run was interrupted before its end."""
    return not result.complete


def no_row_losses(result: RiskEstimate) -> bool:
    """Whether the loss is one number for a whole test part."""
    return any(rows is None for rows in result._record.table.rows)


def one_part(result: RiskEstimate) -> bool:
    """Whether there is a single outer test part."""
    return len(result.fold_risks) == 1


def several_parts(result: RiskEstimate) -> bool:
    """Whether there are several outer test parts."""
    return len(result.fold_risks) > 1


def parts_overlap(result: RiskEstimate) -> bool:
    """Whether a row is in several outer test parts."""
    return not are_apart(result.plan.outer.layout)


def rows_in_groups(result: RiskEstimate) -> bool:
    """Whether rows come in groups."""
    return result.plan.group_codes is not None


def rows_weighted(result: RiskEstimate) -> bool:
    """Whether rows have weights."""
    return result._record.data.weights is not None


def other_loss(result: RiskEstimate) -> bool:
    """Whether the loss is not 0-1 loss."""
    return not result._record.loss.zero_one


def narrow_below(result: RiskEstimate) -> int:
    """Return the number of rows below which "bayle" is too narrow: more in more than 5 folds.

    Simulated on k-NN: the sd of the error over σ/√n is 1.06 in 5 folds of 200 rows, and 1.10 in
    10 folds of 100, 200 and 300 rows.
    """
    return SMALL if len(result.fold_risks) <= FEW_FOLDS else SMALL_IN_MANY


def is_small(result: RiskEstimate) -> bool:
    """Whether "bayle" is too narrow for so few rows."""
    return result.plan.n_rows < narrow_below(result)


def is_no_auc(result: RiskEstimate) -> bool:
    """Whether the loss is anything but minus the AUC of two classes."""
    metric, options = result._record.loss.formula
    return metric != "roc_auc_score" or bool(options)


# The formulas


def bayle(result: RiskEstimate, level: float, range: float | None) -> Ends:
    """Normal interval from the row losses of K-fold CV; for 0-1 loss Wilson's ends."""
    losses, groups = outer_rows(result), outer_groups(result)
    weights = fold_weights(result)
    if not other_loss(result):
        return score_interval(losses, level, weights, groups)
    return bayle_interval(losses, level, weights=weights, groups=groups)


def few_rows(result: RiskEstimate, level: float, range: float | None) -> Ends:
    """Bayle's interval with the training rows of one split in place of all n rows.

        R exp(± t σ / (√n' R)),    n' = min(n_train, 4/5 n),    n - 1 degrees of freedom

    For 0-1 loss Wilson's ends for n' rows; for losses that may be negative R ± t σ / √n'.
    Theory says R ± z σ / √n for many rows; on 60 to 300 rows that covers 90 to 95 % where 95 %
    are claimed. More folds need no narrower interval, so at most four rows of five are counted.
    The mean of a few squared errors is skewed, its logarithm hardly.
    """
    losses = outer_rows(result)
    every = np.concatenate(losses)
    n_counted = min(split_sizes(result)[0], MOST_COUNTED * result.plan.n_rows)
    t = student_quantile(level, every.size - 1)
    if not other_loss(result):
        return wilson_ends(float(every.mean()), n_counted, t)
    if np.ptp(every) == 0:
        raise InputError(
            f"the losses, of mean {every.mean():.6g}, have no spread; use "
            "method='hoeffding', with range=."
        )
    half = t * float(every.std(ddof=1)) / np.sqrt(n_counted)
    centre = float(np.mean([fold.mean() for fold in losses]))
    if range_of(result._record.loss)[0] == 0:
        ratio = float(np.exp(half / centre))
        return centre / ratio, centre * ratio
    return centre - half, centre + half


def corrected_t(result: RiskEstimate, level: float, range: float | None) -> Ends:
    """Student's interval from fold losses, corrected for overlapping training parts."""
    return corrected_t_interval(result.fold_risks, *split_sizes(result), level)


def holdout(result: RiskEstimate, level: float, range: float | None) -> Ends:
    """Student's interval from the rows of one test part.

    For 0-1 loss it is exact; with weights or groups it has Wilson's ends.
    """
    weights, groups = outer_weights(result), outer_groups(result)
    is_plain = weights is None and groups is None
    if not other_loss(result) and not is_plain:
        return score_interval(outer_rows(result), level, weights, groups)
    return holdout_interval(
        outer_rows(result)[0],
        level,
        result._record.loss.zero_one,
        None if weights is None else weights[0],
        None if groups is None else groups[0],
    )


def hoeffding(result: RiskEstimate, level: float, range: float | None) -> Ends:
    """Interval for losses in a known range, whatever their distribution."""
    losses = outer_rows(result)
    if range is None and other_loss(result):
        name = result._record.loss.name
        raise InputError(
            f"method='hoeffding' needs a loss in a known range, and the {name} loss "
            "has none; declare its width, as in interval(method='hoeffding', range=1.0), "
            "or use method='auto'."
        )
    width = 1.0 if range is None else range
    weights, groups = outer_weights(result), outer_groups(result)
    return hoeffding_interval(losses, level, width, weights, groups)


def wilson(result: RiskEstimate, level: float, range: float | None) -> Ends:
    """Wilson's score interval from the number of misclassified rows among all test rows."""
    losses = np.concatenate(outer_rows(result))
    return wilson_interval(int(losses.sum()), losses.size, level)


METHODS = {
    "bayle": Method(
        bayle,
        covers=tested_predictors,
        refuses={
            one_part: "is for K-fold CV, and here is one test part; use method='holdout'.",
            parts_overlap: "is for test parts that do not overlap; use method='corrected_t'.",
        },
    ),
    "few_rows": Method(
        few_rows,
        covers=tested_predictors,
        refuses={
            one_part: "is for K-fold CV, and here is one test part; use method='holdout'.",
            parts_overlap: "is for test parts that do not overlap; use method='corrected_t'.",
            rows_weighted: "counts rows, and these have weights; use method='bayle'.",
            rows_in_groups: "counts independent rows, and these come in groups; use "
            "method='bayle'.",
        },
    ),
    "corrected_t": Method(
        corrected_t,
        covers=procedure,
        refuses={
            one_part: "needs the losses of several outer splits, and here is one; "
            "use method='holdout'.",
        },
    ),
    "holdout": Method(
        holdout,
        covers=tested_predictors,
        refuses={
            several_parts: "is for one test part, and here are {n_parts}; "
            "use method='bayle' or 'corrected_t'.",
            no_row_losses: "needs a loss for every row, and {loss} is one number for a whole "
            "test part; use outer=5, whose test parts differ, or for roc_auc "
            "method='delong', which fits once more.",
        },
    ),
    "hoeffding": Method(hoeffding, covers=tested_predictors),
    "wilson": Method(
        wilson,
        covers=predictors_by_rows,
        refuses={
            other_loss: "counts mistakes and needs 0-1 loss, not {loss}; use method='auto'.",
            rows_weighted: "counts rows, and these have weights; use method='auto'.",
            rows_in_groups: "counts independent rows, and these come in groups, so it "
            "would be too short; use method='auto'.",
            parts_overlap: "counts each row once, and these test parts overlap; "
            "use method='corrected_t'.",
        },
    ),
}
