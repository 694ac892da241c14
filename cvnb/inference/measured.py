"""A result in place of arrays: what a formula needs of it, or why it cannot have that; and the arrays that users give."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from ..errors import InputError
from ..splits.specs import Given
from ..splits.splitters import TimeBlocks
from ..wording import count

if TYPE_CHECKING:
    from ..results.estimate import RiskEstimate


def is_result(given: Any) -> bool:
    """Whether this is a RiskEstimate; asked by its record, for this module stands above it."""
    return hasattr(given, "_record")


def every_outer_loss(result: RiskEstimate) -> np.ndarray:
    """[outer splits, settings], or an error that says how many fits are missing."""
    curves = result.outer_curves
    if curves is not None:
        return curves
    record = result._record
    if record.plan.outer_layout is None:
        raise InputError(
            "outer=None measures nothing outside S, so no setting has an outer loss; give outer."
        )
    if not len(record.table.outer):
        raise InputError(
            "interrupted before any outer split was finished, so no setting has an outer loss; run again."
        )
    fits = len(record.table.outer) * (len(record.family.settings) - 1)
    raise InputError(
        f"this needs the loss of every setting on the outer test parts, which this run (path {result.path!r}) measured for the "
        f"chosen ones only; run it again with flat=True, for {count(fits, 'more fit')}."
    )


def losses_by_fold(result: RiskEstimate) -> np.ndarray:
    """[settings, folds] that `result.flat` is the smallest mean of: outer folds where there are several, else inner ones."""
    if len(result.plan.outer) > 1:
        return every_outer_loss(result).T
    inner = result._record.table.inner
    if not inner:
        raise InputError(
            "nothing was chosen among settings here, so there is no minimum to correct."
        )
    return inner[0].T


def outer_rows(result: RiskEstimate) -> list[np.ndarray]:
    """The row losses of the chosen setting on each outer test part."""
    table = result._record.table
    return [
        rows[:, s].astype(np.float64)
        for rows, s in zip(_rows(result), table.chosen, strict=False)
    ]


def every_outer_row(result: RiskEstimate) -> np.ndarray:
    """[tested rows, settings]: row losses on the outer test parts, one after the other."""
    every_outer_loss(result)
    return np.concatenate(_rows(result), dtype=np.float64)


def _rows(result: RiskEstimate) -> list[np.ndarray]:
    record = result._record
    if not len(record.table.outer):
        raise InputError(
            "outer=None measures nothing outside S, so there are no row losses; give outer."
        )
    rows = [rows for rows in record.table.rows if rows is not None]
    if len(rows) < len(record.table.outer):
        raise InputError(
            f"{record.loss.words} is one number for a whole test part, and this needs a loss for every row; use "
            "loss='zero_one', 'log', 'squared', 'absolute' or a function of (y, ŷ)."
        )
    return rows


def split_sizes(result: RiskEstimate) -> tuple[float, float]:
    """(n_train, n_test), means over the finished outer splits, in rows; in groups where there are any."""
    record = result._record
    refuse_time(result)
    codes, n = record.plan.group_codes, len(record.table.outer)
    sizes = record.plan.outer.layout.sizes()[:n]
    if codes is not None:
        sizes = np.array(
            [
                [np.unique(codes[part]).size for part in pair]
                for pair in islice(record.plan.outer, n)
            ]
        )
    n_train, n_test = sizes.mean(axis=0)
    return float(n_train), float(n_test)


def refuse_time(result: RiskEstimate) -> None:
    """An error where the rows stand in the order of time: every formula here takes them, or their groups, for independent."""
    recipe = result._record.recipe
    given = [
        spec.splitter
        for spec in (recipe.outer_spec, result._record.inner_spec)
        if isinstance(spec, Given)
    ]
    if recipe.time_ordered or any(
        isinstance(splitter, TimeSeriesSplit | TimeBlocks) for splitter in given
    ):
        raise InputError(
            "rows in the order of time depend on each other, and every interval and test here takes rows or groups for "
            "independent; report result.fold_risks as they are."
        )


def paired_losses(result: RiskEstimate, other: Any) -> tuple[np.ndarray, float, float]:
    """(ε_j of the one minus ε_j of the other, n_train, n_test) of two results on one plan."""
    if not is_result(other):
        raise InputError(
            "two results are compared with each other: corrected_t(comparison['knn'], comparison['ridge'])."
        )
    if result.plan is not other.plan and result.plan.outer != other.plan.outer:
        raise InputError(
            "these results have different splits, so they cannot be paired; run both at once: recipe.run({...}, X, y)."
        )
    mine, theirs = result._record.loss, other._record.loss
    if (mine.name, mine.rows, repr(mine.scorer)) != (
        theirs.name,
        theirs.rows,
        repr(theirs.scorer),
    ):
        raise InputError(
            f"one result is measured by the {mine.name} loss, the other by the {theirs.name} loss; give both the same."
        )
    n = min(len(result.fold_risks), len(other.fold_risks))
    if n < 2:
        raise InputError(
            f"{count(n, 'outer split')} gives no spread to judge a difference by; use a recipe with several, such as outer=5."
        )
    return result.fold_risks[:n] - other.fold_risks[:n], *split_sizes(result)


def outer_weights(result: RiskEstimate) -> list[np.ndarray] | None:
    """The weights of the rows of each finished outer test part, where there are weights."""
    return _of_tests(result, result._record.data.weights)


def outer_groups(result: RiskEstimate) -> list[np.ndarray] | None:
    """Their groups, where there are groups."""
    return _of_tests(result, result._record.plan.group_codes)


def fold_weights(result: RiskEstimate) -> list[np.ndarray] | None:
    """Weights that make the mean over rows the mean of fold means; None where folds of plain rows are almost equal."""
    weights, rows = outer_weights(result), outer_rows(result)
    sizes = [fold.size for fold in rows]
    if weights is None and max(sizes) - min(sizes) <= 1:
        return None
    return [one / one.sum() for one in weights or [np.ones(size) for size in sizes]]


def row_units(result: RiskEstimate) -> np.ndarray:
    """For each tested row its group, or its number: a row that is tested several times is one unit."""
    codes = result._record.plan.group_codes
    units = _of_tests(result, np.arange(result.plan.n_rows) if codes is None else codes)
    return np.concatenate(units or [])


def _of_tests(
    result: RiskEstimate, values: np.ndarray | None
) -> list[np.ndarray] | None:
    if values is None:
        return None
    tests = result.plan.outer.layout.tests()
    return [values[test] for test in tests[: len(result._record.table.outer)]]
