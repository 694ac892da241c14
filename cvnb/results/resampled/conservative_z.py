"""method="conservative_z": the spread between halves of the rows (Nadeau and Bengio 2003).

The rows (whole groups, where there are groups) are halved at random R times, an odd one left
out, and the whole nested estimate is run on both halves:

    variance  Σ_r (risk of the first half - risk of the second half)² / (2 R)
    interval  risk ± z √variance,    risk of all rows

The halves share no row, so the variance is unbiased for half the rows, and too large for all. Only
the risks are read, so it also serves scores without row losses, such as AUC and R².
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.table import LossTable
from ...errors import InfeasibleError, InputError
from ...inference.interval_methods import Centred
from ...splits.drawer import SplitDrawer
from ...splits.plan import Plan
from ...splits.specs import FixedRows, GivenSplitter, ListedSplits
from ...wording import count, number
from ..record import Record
from .draws import (
    Method,
    check_repeats,
    drawer_of,
    plan_of,
    refuse_given_inside,
    repeat_seeds,
    repeated,
    words_of_dropped,
)

if TYPE_CHECKING:
    from ..estimate import RiskEstimate

NAME = "conservative_z"
MOST = 200  # repeats where the user gives no number
CLOSE = (
    0.05  # relative standard error of the standard error at which repeats are enough
)


def conservative_z(result: RiskEstimate, n_repeats: int | None) -> Centred:
    """Return the risk and a standard error from disjoint halves.

    n_repeats=None: as many as the standard error needs to settle, 50 to 200
    """
    check_repeats(n_repeats)
    record = result._record
    _refuse_given_outside(record)
    refuse_given_inside(record, NAME)
    differences = differences_of_halves(record, n_repeats)
    error = sqrt(float(np.mean(differences**2)) / 2)
    if error == 0:
        raise InputError(
            f"method={NAME!r}: the two halves have the same risk in every repeat, so there "
            "is no spread; use method='auto'."
        )
    first = plan_of_halves(record, repeat_seeds(record.recipe.seed, 1)[0])
    unit = "group" if record.data.groups is not None else "row"
    why = (
        f"{count(len(differences), 'repeat')}, {unit}s halved at random; standard error "
        f"{number(error)}, that of half the {unit}s, so it is wide on purpose"
    )
    assert result.risk is not None
    return Centred(result.risk, error, why + words_of_dropped(record, first))


def differences_of_halves(record: Record, n_repeats: int | None) -> np.ndarray:
    """Return the risk of the first half minus that of the second in every repeat."""
    method = Method(NAME, plan_of_halves, MOST)
    read = partial(_difference, record)
    return np.array(repeated(record, method, n_repeats, read, _is_enough))


def _difference(record: Record, plan: Plan, table: LossTable) -> float:
    _refuse_undefined(record, plan)
    half = len(plan.outer) // 2
    risks = table.fold_risks
    return float(risks[:half].mean() - risks[half:].mean())


def _refuse_undefined(record: Record, plan: Plan) -> None:
    """Refuse a score that has no value on a test part of a half."""
    loss, data = record.loss, record.data
    if loss.scorer is None:
        return
    n_classes = data.classes[0].size
    for name, splits in plan.levels():
        for k, (_, test) in enumerate(splits):
            if reason := loss.undefined_on(data.y[test], n_classes):
                raise InfeasibleError(
                    f"method={NAME!r} splits halves of the rows, and {loss.score_name} is not "
                    f"defined on the test part of {name.format(k=k)} there ({reason}); use "
                    "fewer folds, or method='corrected_t'."
                )


def _is_enough(differences: list[float]) -> bool:
    """Whether the standard error √mean(d²) is known to a share of `CLOSE`."""
    squares = np.square(differences)
    error = squares.std(ddof=1) / sqrt(squares.size)
    return bool(error / 2 <= CLOSE * squares.mean())


def plan_of_halves(record: Record, seed: int) -> Plan:
    """Return the outer splits of one half, then those of the other, in rows of the whole data.

    Each half is split as the recipe splits, by this seed.
    """
    drawer = drawer_of(record, seed)
    outer, sizes = [], []
    for rows in _halves(record, seed):
        layout = _layout(drawer, record.recipe.outer_spec, rows)
        for k in range(len(layout)):
            train, test = layout.pair(k)
            outer.append((rows[train], rows[test]))
            sizes.append(test.size)
    return plan_of(record, drawer, outer, sizes)


def _halves(record: Record, seed: int) -> list[np.ndarray]:
    """Return the row numbers of two random halves, whole groups in each."""
    groups = record.data.groups
    units = np.arange(record.data.n_rows) if groups is None else np.unique(groups)
    size = units.size // 2
    order = np.random.default_rng(seed).permutation(units)
    of_row = np.arange(record.data.n_rows) if groups is None else groups
    return [
        np.flatnonzero(np.isin(of_row, half))
        for half in (order[:size], order[size : 2 * size])
    ]


def _layout(drawer: SplitDrawer, spec: Any, rows: np.ndarray) -> Any:
    try:
        return drawer.layout(spec, rows, "outer")
    except InfeasibleError as error:
        raise InfeasibleError(
            f"method={NAME!r} splits halves of the rows, and one of them cannot be split: "
            f"{error} Or use method='corrected_t'."
        ) from None


def _refuse_given_outside(record: Record) -> None:
    spec = record.recipe.outer_spec
    is_predefined = isinstance(spec, GivenSplitter) and (
        type(spec.splitter).__name__ in ("PredefinedSplit", "_CVIterableWrapper")
    )
    if isinstance(spec, ListedSplits | FixedRows) or is_predefined:
        raise InputError(
            f"method={NAME!r} splits halves of the rows, for which the outer splits that "
            "were given say nothing; use outer=5, or method='corrected_t'."
        )
