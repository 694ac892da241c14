"""The settings of a linear model that differ in their penalty alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.linear_model import ElasticNet, LinearRegression

from ..base import Unsuited
from ..problem import Combination

NO_LASSO = "alpha=0 is no lasso, and least squares or refit tell what that gives"
Frame = tuple[bool, bool, float | None, bool]


@dataclass(frozen=True)
class PenaltyPath:
    """The settings of one combination: the same model with several penalties.

    which      [settings] their positions in the grid
    alphas     [settings] their penalties; 0 for least squares
    intercept  whether the model fits one
    scaled     whether a StandardScaler precedes it
    tol        of least squares: the relative singular value that scikit-learn takes for zero
    l1_ratio   of lasso and elastic net
    positive   whether coefficients must not be negative
    """

    which: np.ndarray
    alphas: np.ndarray
    intercept: bool
    scaled: bool
    tol: float | None = None
    l1_ratio: float | None = None
    positive: bool = False

    def __post_init__(self) -> None:
        self.follows_scale, self.frame  # noqa: B018 - known now: a path that runs changes nothing

    @classmethod
    def of(cls, combination: Combination) -> PenaltyPath:
        """Return the penalty path of a combination; raise Unsuited for a lasso without penalty."""
        model, which = combination.model, combination.which
        alphas = np.ascontiguousarray(combination.values, dtype=np.float64)
        frame = bool(model.fit_intercept), combination.scaled
        if type(model) is LinearRegression:
            return cls(which, np.zeros(alphas.size), *frame, tol=float(model.tol))
        if isinstance(model, ElasticNet):
            if not alphas.min() > 0:
                raise Unsuited(NO_LASSO)
            l1_ratio = float(model.l1_ratio)
            positive = bool(model.positive)
            return cls(which, alphas, *frame, l1_ratio=l1_ratio, positive=positive)
        return cls(which, alphas, *frame)

    @cached_property
    def is_lasso(self) -> bool:
        """Whether it is lasso or elastic net."""
        return self.l1_ratio is not None

    @cached_property
    def is_least_squares(self) -> bool:
        """Whether it has no penalty."""
        return self.tol is not None

    @cached_property
    def centred(self) -> bool:
        """Whether the columns of X are centred, by an intercept or a scaler."""
        return self.intercept or self.scaled

    @cached_property
    def follows_scale(self) -> bool:
        """Whether predictions depend on the scale that a scaler takes from the training part.

        Those of least squares with an intercept do not.
        """
        return self.scaled and not (self.is_least_squares and self.intercept)

    @cached_property
    def frame(self) -> Frame:
        """What its sums depend on.

        (X is centred, y is centred, the tolerance for a basis, whether that is of scaled columns)
        """
        scaled = self.is_least_squares and self.scaled
        return self.centred, self.intercept, self.tol, scaled
