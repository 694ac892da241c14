"""Transformers whose first columns do not depend on how many are kept.

One fit with the most components serves every smaller number: its first columns are theirs. That
holds where the solver finds all components at once, in the order of their size. LEADING is the
one table of such transformers. After them may come steps that treat every column on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..families.family import Family
from ..families.labels import PASS, Setting
from ..families.setting_groups import SettingGroup
from .refit import chain_key, is_plain_pipeline

EXACT = ("full", "covariance_eigh")  # solvers of PCA that find all components
PARAMETER = "n_components"
COLUMN_BY_COLUMN = (StandardScaler,)
NEAR = (
    1e5  # spreads of the last component that all columns together may be away from zero
)
GAP = 1e-6  # share of the largest variance that tells neighbouring components apart
# PCA(svd_solver="auto") finds a few components of large tables by random projections.
SMALL, SHARE = 500, 0.8


@dataclass(frozen=True)
class Numbered:
    """Settings that differ in the number of components of one transformer.

    place    position of the transformer among the steps
    step     the transformer, not fitted
    numbers  setting -> number of components as given: an int, a share of the variance, or None
    direct   only steps that keep the columns come before it, so its input is as wide as X
    """

    place: int
    step: Any
    numbers: Mapping[int, Any]
    direct: bool

    def from_most(self, settings: list[int]) -> list[int]:
        """Return a setting for each number, the most components first."""
        first = {_rank(self.numbers[s]): s for s in reversed(settings)}
        return [first[rank] for rank in sorted(first, reverse=True)]

    def counts(self, fitted: Any, settings: list[int]) -> dict[int, int]:
        """Return setting -> number of leading columns, for those that a fitted step serves."""
        served = LEADING[type(fitted)]
        counts = {s: served(fitted, self.numbers[s]) for s in settings}
        return {s: n for s, n in counts.items() if n}

    def depends_on_number(self, n_rows: int, n_columns: int) -> bool:
        """Return whether settings have solvers that find only their own components."""
        shape = (n_rows, n_columns)
        return self.direct and any(
            _is_random(self.step, number, shape) for number in self.numbers.values()
        )


def numbered(family: Family, kinds: list[SettingGroup]) -> list[Numbered]:
    """Return the groups of settings whose transformers differ in the number of components."""
    if not is_plain_pipeline(family.estimator):
        return []
    groups: dict[Any, tuple[int, Any, dict[int, Any], bool]] = {}
    for kind in kinds:
        found = _numbered_step(kind.candidate)
        if found is None:
            continue
        place, direct = found
        name, step = kind.candidate.steps[place]
        parameter = f"{name}__{PARAMETER}"
        for s, own in zip(kind.which.tolist(), kind.numbers, strict=True):
            key = _key_without(family, family.settings[s], parameter)
            group = groups.setdefault((place, key), (place, step, {}, direct))
            group[2][s] = own.get(parameter, getattr(step, PARAMETER))
    varied = [own for own in groups.values() if len(set(own[2].values())) > 1]
    return [Numbered(*group) for group in varied]


def _numbered_step(candidate: Any) -> tuple[int, bool] | None:
    """Return (place of the last transformer that is in LEADING, whether it sees X's columns)."""
    if not isinstance(candidate, Pipeline):
        return None
    steps = [step for _, step in candidate.steps[:-1]]
    places = [i for i, step in enumerate(steps) if type(step) in LEADING]
    if not places or not all(map(_keeps_columns, steps[places[-1] + 1 :])):
        return None
    return places[-1], all(map(_keeps_columns, steps[: places[-1]]))


def _keeps_columns(step: Any) -> bool:
    return step in PASS or type(step) in COLUMN_BY_COLUMN


def _key_without(family: Family, setting: Setting, parameter: str) -> Any:
    """Return the key of the transformers but for one parameter."""
    key = chain_key(family, setting)
    assert key is not None  # the caller refuses grids that replace steps
    return tuple(tuple(pair for pair in own if pair[0] != parameter) for own in key)


def _rank(number: Any) -> tuple[int, float]:
    """Sort key of a number of components: all, then counts, then shares, then anything else."""
    if number is None:
        return 3, 0.0
    if isinstance(number, int | np.integer):
        return 2, float(number)
    return (0, 0.0) if isinstance(number, str) else (1, float(number))


def _of_pca(pca: PCA, number: Any) -> int | None:
    """Return how many leading columns of a fitted PCA are those of another number, or None."""
    shape, solver = (pca.n_samples_, pca.n_features_in_), pca._fit_svd_solver
    variances = pca.explained_variance_
    if _rank(number) == _rank(pca.n_components):
        return len(variances)
    if isinstance(number, str) or _is_random(pca, number, shape):
        return None
    if number is None:
        number = min(shape)
    elif 0 < number < 1 and solver in EXACT:
        shares = np.cumsum(pca.explained_variance_ratio_)
        number = int(np.searchsorted(shares, number, side="right")) + 1
    if not 1 <= number <= len(variances):
        return None
    away = np.linalg.norm(pca.mean_) + np.sqrt(variances[0])
    if away > NEAR * np.sqrt(variances[number - 1]):
        return None
    if solver in EXACT or (pca.tol == 0 and _are_apart(variances, number)):
        return int(number)
    return None


def _is_random(step: Any, number: Any, shape: tuple[int, int]) -> bool:
    """Return whether the solver draws as many random directions as it keeps components.

    svd_solver="auto" has scikit-learn's rule.
    """
    if type(step) is TruncatedSVD:
        return step.algorithm == "randomized"
    n_rows, n_columns = shape
    if step.svd_solver != "auto" or number is None or isinstance(number, str):
        return step.svd_solver == "randomized"
    is_tall = n_columns <= 1_000 and n_rows >= 10 * n_columns
    few = 1 <= number < SHARE * min(shape)
    return bool(not is_tall and max(shape) > SMALL and few)


def _of_svd(svd: TruncatedSVD, number: Any) -> int | None:
    """As `_of_pca`, for a fitted TruncatedSVD."""
    variances = svd.singular_values_**2
    if number == svd.n_components:
        return len(variances)
    is_exact = svd.algorithm == "arpack" and svd.tol == 0 and number <= len(variances)
    return int(number) if is_exact and _are_apart(variances, number) else None


def _are_apart(variances: np.ndarray, number: int) -> bool:
    """Return whether an iteration to the last digit finds the first components one by one."""
    gaps = -np.diff(variances, append=0.0)
    return bool((gaps[:number] >= GAP * variances[0]).all())


LEADING: Mapping[type, Callable[[Any, Any], int | None]] = {
    PCA: _of_pca,
    TruncatedSVD: _of_svd,
}
