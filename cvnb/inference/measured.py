"""The losses, weights, groups and sizes that a formula reads from a result."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from ..errors import InputError
from ..splits.specs import GivenSplitter
from ..splits.splitters import TimeBlocks
from ..wording import count

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ..results.estimate import RiskEstimate


def is_result(value: Any) -> TypeIs[RiskEstimate]:
    """Whether this is a RiskEstimate: it has a record. (That class cannot be imported here.)"""
    return hasattr(value, "_record")


def every_outer_loss(result: RiskEstimate) -> np.ndarray:
    """Return [outer splits, settings], or raise an error that counts the missing fits."""
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
            "interrupted before any outer split was finished, so no setting has an outer "
            "loss; run again."
        )
    fits = len(record.table.outer) * (len(record.family.settings) - 1)
    raise InputError(
        "this needs the loss of every setting on the outer test parts, which this run "
        f"(path {result.path!r}) measured for the chosen ones only; run it again with "
        f"flat=True, for {count(fits, 'more fit')}."
    )


def losses_by_fold(result: RiskEstimate) -> np.ndarray:
    """Return [settings, folds], whose smallest mean over folds is `result.flat`.

    The folds are the outer ones where there are several, else the inner ones.
    """
    if len(result.plan.outer) > 1:
        return every_outer_loss(result).T
    inner = result._record.table.inner
    if not inner:
        raise InputError(
            "nothing was chosen among settings here, so there is no minimum to correct."
        )
    return inner[0].T


def outer_rows(result: RiskEstimate) -> list[np.ndarray]:
    """Return the row losses of the chosen setting on each outer test part."""
    chosen = result._record.table.chosen
    return [
        losses[:, s].astype(np.float64)
        for losses, s in zip(_row_losses(result), chosen, strict=False)
    ]


def every_outer_row(result: RiskEstimate) -> np.ndarray:
    """Return [tested rows, settings]: row losses on the outer test parts, one after the other."""
    every_outer_loss(result)
    return np.concatenate(_row_losses(result), dtype=np.float64)


def _row_losses(result: RiskEstimate) -> list[np.ndarray]:
    """Return [test rows, settings] for each outer test part."""
    record = result._record
    n_outer = len(record.table.outer)
    if not n_outer:
        raise InputError(
            "outer=None measures nothing outside S, so there are no row losses; give outer."
        )
    losses = [rows for rows in record.table.rows if rows is not None]
    if len(losses) < n_outer:
        raise InputError(
            f"{record.loss.given_name} is one number for a whole test part, and this needs a "
            "loss for every row; use loss='zero_one', 'log', 'squared', 'absolute' or a "
            "function of (y, ŷ)."
        )
    return losses


def split_sizes(result: RiskEstimate) -> tuple[float, float]:
    """Return (n_train, n_test): means over the finished outer splits.

    They count groups where there are groups, else rows.
    """
    record = result._record
    refuse_time(result)
    codes, n_outer = record.plan.group_codes, len(record.table.outer)
    if codes is None:
        sizes = record.plan.outer.layout.sizes()[:n_outer]
    else:
        finished = islice(record.plan.outer, n_outer)
        sizes = np.array(
            [[np.unique(codes[rows]).size for rows in split] for split in finished]
        )
    n_train, n_test = sizes.mean(axis=0)
    return float(n_train), float(n_test)


def refuse_time(result: RiskEstimate) -> None:
    """Raise an error for rows in the order of time: every formula assumes independent rows."""
    record = result._record
    splitters = [
        spec.splitter
        for spec in (record.recipe.outer_spec, record.inner_spec)
        if isinstance(spec, GivenSplitter)
    ]
    in_blocks = any(isinstance(s, TimeSeriesSplit | TimeBlocks) for s in splitters)
    if record.recipe.time_ordered or in_blocks:
        raise InputError(
            "rows in the order of time depend on each other, and every interval and test "
            "here assumes independent rows or groups; report result.fold_risks as they are."
        )


def paired_losses(result: RiskEstimate, other: Any) -> tuple[np.ndarray, float, float]:
    """Return (d, n_train, n_test) of two results on one plan, d_j = ε_j - ε_j of the other."""
    if not is_result(other):
        raise InputError(
            "two results are compared with each other: corrected_t(comparison['knn'], "
            "comparison['ridge'])."
        )
    if result.plan is not other.plan and result.plan.outer != other.plan.outer:
        raise InputError(
            "these results have different splits, so they cannot be paired; run both at "
            "once: recipe.run({...}, X, y)."
        )
    mine, theirs = result._record.loss, other._record.loss
    same_formula = mine.name == theirs.name and mine.rows == theirs.rows
    if not same_formula or repr(mine.scorer) != repr(theirs.scorer):
        raise InputError(
            f"one result is measured by the {mine.name} loss, the other by the "
            f"{theirs.name} loss; give both the same."
        )
    n = min(len(result.fold_risks), len(other.fold_risks))
    if n < 2:
        raise InputError(
            f"{count(n, 'outer split')} gives no spread to judge a difference by; use a "
            "recipe with several, such as outer=5."
        )
    return result.fold_risks[:n] - other.fold_risks[:n], *split_sizes(result)


def outer_weights(result: RiskEstimate) -> list[np.ndarray] | None:
    """Return the row weights of each finished outer test part; None without weights."""
    return _by_test_part(result, result._record.data.weights)


def outer_groups(result: RiskEstimate) -> list[np.ndarray] | None:
    """Return the row groups of each finished outer test part; None without groups."""
    return _by_test_part(result, result._record.plan.group_codes)


def fold_weights(result: RiskEstimate) -> list[np.ndarray] | None:
    """Return row weights with which the mean over rows is the mean of fold means.

    None without sample weights where fold sizes differ by at most one row.
    """
    weights = outer_weights(result)
    sizes = [losses.size for losses in outer_rows(result)]
    if weights is None:
        if max(sizes) - min(sizes) <= 1:
            return None
        weights = [np.ones(size) for size in sizes]
    return [w / w.sum() for w in weights]


def row_units(result: RiskEstimate) -> np.ndarray:
    """Return the group of each tested row; without groups its row number.

    So a row that is tested several times is one unit.
    """
    codes = result._record.plan.group_codes
    units = np.arange(result.plan.n_rows) if codes is None else codes
    return np.concatenate(_by_test_part(result, units) or [])


def _by_test_part(
    result: RiskEstimate, values: np.ndarray | None
) -> list[np.ndarray] | None:
    """Return the values of the rows of each finished outer test part."""
    if values is None:
        return None
    tests = result.plan.outer.layout.tests()
    return [values[test] for test in tests[: len(result._record.table.outer)]]
