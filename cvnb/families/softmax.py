"""SoftmaxWeights: weights of neighbours that fall exponentially with their distance."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

LEAST = 1e-6  # temperature from which rounding of a cosine moves no weight visibly


class SoftmaxWeights(BaseEstimator):
    """Weights exp(-distance / temperature) of neighbours, for `weights=` of k-NN.

        w_i = exp((d_min - d_i) / temperature)    the nearest row has weight 1

    With metric="cosine", where d = 1 - similarity, these are votes by a softmax of the
    similarities. scikit-learn tunes the temperature by the name `weights__temperature`.

    >>> SoftmaxWeights(0.5)([[0.0, 1.0]]).round(3).tolist()
    [[1.0, 0.135]]
    """

    _parameter_constraints = {  # noqa: RUF012 - as in scikit-learn
        "temperature": [Interval(Real, 0, None, closed="neither")]
    }

    def __init__(self, temperature: float = 0.07) -> None:
        self.temperature = temperature

    def __call__(self, distances: Any) -> np.ndarray:
        """Return the weights [rows, neighbours] of these distances."""
        d = np.asarray(distances, dtype=np.float64)
        nearest = d.min(axis=-1, keepdims=True)
        weights: np.ndarray = np.exp((nearest - d) / self.temperature)
        return weights

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self.temperature == other.temperature

    def __hash__(self) -> int:
        return hash((SoftmaxWeights, self.temperature))
