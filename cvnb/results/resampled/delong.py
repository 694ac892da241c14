"""method="delong": the AUC on one test part (DeLong, DeLong and Clarke-Pearson 1988).

    V_i   share of the negative rows that positive row i is above; ties count half
    W_k   share of the positive rows that negative row k is below; ties count half
    AUC   mean V = mean W
    variance  var(V) / positives + var(W) / negatives,    sample variances

The responses of a run are not kept, so the chosen setting is fitted on the learning part again.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from ...errors import InputError
from ...inference.interval_methods import Centred
from ...paths.refit import fit_on
from ...runtime.randomness import global_state
from ...runtime.thread_warnings import quiet
from ...wording import count
from ..record import Record

if TYPE_CHECKING:
    from ..estimate import RiskEstimate

NAME = "delong"
SAME = 1e-6  # difference of two AUCs of the same fit


def delong(result: RiskEstimate, n_repeats: int | None) -> Centred:
    """Return minus the AUC, and its standard error."""
    if n_repeats is not None:
        raise InputError(
            f"method={NAME!r} repeats nothing; leave out n_repeats={n_repeats!r}."
        )
    record = result._record
    _, test = record.plan.outer[0]
    classes = record.data.classes[0]
    if classes.size != 2:
        raise InputError(
            f"method={NAME!r} is for two classes, and y has {classes.size}; use outer=5 and "
            "method='corrected_t'."
        )
    is_positive = record.data.y[test] == classes[1]
    above, below = placements(_responses(record), is_positive)
    if min(above.size, below.size) < 2:
        raise InputError(
            f"method={NAME!r} needs two test rows of either class, and one has "
            f"{count(min(above.size, below.size), 'row')}; use a larger test part."
        )
    auc, found = float(above.mean()), result.risk
    if found is None or abs(auc + found) > SAME:
        raise InputError(
            f"the model fitted again has AUC {auc:.6g}, not that of the run; give the "
            "estimator a random_state, or use outer=5 and method='corrected_t'."
        )
    error = sqrt(above.var(ddof=1) / above.size + below.var(ddof=1) / below.size)
    if error == 0:
        raise InputError(
            f"the AUC is {auc:.6g} without any spread, so there is no interval; use a larger "
            "test part."
        )
    why = f"{above.size} positive and {below.size} negative rows; one fit"
    return Centred(-auc, error, why)


def placements(
    scores: np.ndarray, is_positive: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (V of each positive row, W of each negative row)."""
    ranks, positive = rankdata(scores), scores[is_positive]
    negative = scores[~is_positive]
    above = (ranks[is_positive] - rankdata(positive)) / negative.size
    below = 1 - (ranks[~is_positive] - rankdata(negative)) / positive.size
    return above, below


def _responses(record: Record) -> np.ndarray:
    """Return the decisions, or probabilities of the second class, on the test part."""
    train, test = record.plan.outer[0]
    setting = record.family.settings[int(record.table.chosen[0])]
    model: Any = fit_on(record.family, record.data, setting, train)
    with global_state(), quiet():
        X = record.data.rows(test)
        if hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(X))
        return np.asarray(model.predict_proba(X))[:, 1]
