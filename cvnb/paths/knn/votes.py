"""Predictions for every k from lists of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...families.softmax import SoftmaxWeights
from ...kernels import votes as kernel
from ...kernels.neighbours import COSINE
from ..base import Unsuited
from ..measure import LossEvaluator, Predictions
from ..problem import Combination
from .bundles import Bundle
from .search import Geometry, NeighbourLists

NEAR_ZERO = 1e-6  # smaller cosine distances have lost too many digits for 1 / distance


@dataclass(frozen=True, eq=False)
class VoteSettings:
    """The settings of one combination as the kernels take them.

    ks        in increasing order
    columns   columns[s] is the number of the setting with ks[s]
    weighted  weight of a vote: UNIFORM, INVERSE, or the temperature of SoftmaxWeights
    """

    ks: np.ndarray
    columns: np.ndarray
    weighted: float

    @classmethod
    def of(cls, combination: Combination) -> VoteSettings:
        ks = combination.values.astype(np.int64)
        order = np.argsort(ks, kind="stable")
        return cls(
            ks[order], combination.which[order], _weighted(combination.model.weights)
        )

    @property
    def n_most(self) -> int:
        """The largest k."""
        return int(self.ks[-1])

    def check_digits(self, geometry: Geometry, distances: np.ndarray) -> None:
        """Raise Unsuited if weights are inverses of cosine distances that are mostly rounding.

        scikit-learn computes these distances as 1 - cos.
        """
        inverse_cosine = geometry.metric == COSINE and self.weighted == kernel.INVERSE
        if inverse_cosine and distances.min() < NEAR_ZERO:
            raise Unsuited(
                "rows are nearly parallel, and the digits of their cosine distances are rounding"
            )


def _weighted(weights: Any) -> float:
    """Return the code of these weights of the neighbours."""
    if isinstance(weights, SoftmaxWeights):
        return float(weights.temperature)
    return float(kernel.INVERSE if weights == "distance" else kernel.UNIFORM)


class PredictionTable:
    """Predictions of every setting for some test rows, while they are filled in."""

    def __init__(self, evaluator: LossEvaluator, n: int, n_settings: int) -> None:
        if evaluator.classes is None or evaluator.codes is None:
            self.n_classes, self.codes = 0, np.zeros(0, dtype=np.int64)
            self.y = evaluator.data.y.astype(np.float64)
        else:
            self.n_classes, self.codes = evaluator.classes.size, evaluator.codes
            self.y = np.zeros(0)
        n_labels, n_means = (n, 1) if self.n_classes else (1, n)
        self.classes = np.empty((n_labels, n_settings), dtype=np.int64)
        self.means = np.empty((n_means, n_settings))
        has_shares = self.n_classes and evaluator.wants_scores
        shape = (n, n_settings, self.n_classes) if has_shares else (1, n_settings, 0)
        self.shares = np.empty(shape)

    def _arguments(self, votes: VoteSettings) -> tuple[Any, ...]:
        """Return the arguments that both kernels take."""
        settings = votes.ks, votes.columns, votes.weighted
        results = self.classes, self.means, self.shares
        return self.codes, self.y, *settings, self.n_classes, *results

    def fill(
        self,
        votes: VoteSettings,
        lists: NeighbourLists,
        train: np.ndarray,
        places: np.ndarray,
    ) -> int:
        """Fill the rows `places` from lists of positions in train; return the number of ties."""
        arguments = self._arguments(votes)
        return int(kernel.predict(places, train, *lists.arrays, *arguments))

    def walk(
        self, votes: VoteSettings, lists: NeighbourLists, bundle: Bundle
    ) -> tuple[int, np.ndarray, np.ndarray]:
        """Fill all rows from lists among all rows, where these are long enough.

        Return the number of ties, which rows are left (1), and the distances of the nearest rows.
        """
        n = bundle.test.size
        short, first = np.zeros(n, dtype=np.uint8), np.full(n, np.inf)
        tied = kernel.walk(
            bundle.test, bundle.own, bundle.code, *lists.arrays,
            *self._arguments(votes), short, first,
        )  # fmt: skip
        return int(tied), short, first

    def present(self, train: np.ndarray) -> np.ndarray:
        """Return which classes occur among these rows."""
        return np.bincount(self.codes[train], minlength=self.n_classes) > 0

    def predictions(self, present: np.ndarray | None) -> Predictions:
        values = self.classes if self.n_classes else self.means
        scores = self.shares if self.shares.shape[2] else None
        return Predictions(values, scores, present=present)
