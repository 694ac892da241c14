"""The loss of a model that does not look at X: what every number has to beat."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from ..data.table import Data
from ..engine.fill import fill
from ..engine.work import Work
from ..errors import FitError, Interrupted
from ..families.family import Family
from ..families.setting_groups import check_parameters
from ..inference.rules import Minimum
from ..losses.loss import absolute
from .record import Record

# name -> scikit-learn's model of y alone
MODELS = {
    "majority class": DummyClassifier(strategy="most_frequent"),
    "class shares": DummyClassifier(strategy="prior"),
    "mean": DummyRegressor(strategy="mean"),
    "median": DummyRegressor(strategy="median"),
}


@dataclass(frozen=True, eq=False)
class Baseline:
    """The loss of the majority class, class shares, mean or median of each training part.

    name        which of these
    fold_risks  [outer splits] its loss on each outer test part
    """

    name: str
    fold_risks: np.ndarray

    @property
    def risk(self) -> float:
        """The mean of fold_risks, to be compared with that of the result."""
        return float(self.fold_risks.mean())

    def __repr__(self) -> str:
        return f"Baseline({self.name!r}, risk={self.risk:.6g})"


def baseline_of(record: Record) -> Baseline | None:
    """Return the baseline on the outer splits of a run; None where none was finished.

    Weights count as in the run. None too where the loss is not defined for such a model.
    """
    n_outer = len(record.table.outer)
    if not n_outer:
        return None
    name = _name_of(record.work)
    data = replace(record.data, X=np.zeros((record.data.n_rows, 1)))
    try:
        plan = replace(record.plan, inner_layouts=None, data=data)
        table, _ = fill(_work(record.work, name, data), plan)
    except FitError:
        return None
    if not table.complete:
        raise Interrupted("the baseline was not measured yet; ask for it again.")
    return Baseline(name, table.fold_risks[:n_outer])


def _name_of(work: Work) -> str:
    """Return the best model of y alone for this loss."""
    if work.task == "classification":
        return "majority class" if work.loss.zero_one else "class shares"
    formula, _ = work.loss.formula
    is_absolute = work.loss.rows is absolute or "absolute" in formula
    return "median" if is_absolute else "mean"


def _work(work: Work, name: str, data: Data) -> Work:
    """Return the work of fitting the model of this name, which chooses nothing."""
    family = Family(MODELS[name])
    return replace(
        work,
        family=family,
        kinds=check_parameters(family),
        data=data,
        rule=Minimum(work.loss.zero_one),
        path="refit",
        n_jobs=1,
    )
