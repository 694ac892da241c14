"""Bounds and corrections of an optimistic minimum."""

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit

from cvnb import Recipe, knn, ridge
from cvnb.errors import CvnbError
from cvnb.inference import dev_set_bound, optimism, tibshirani_bias
from cvnb.results.estimate import record_of
from small_tables import classes, numbers


def test_the_bound_is_for_the_minimum():
    """Another rule has no such bound; a declared range is taken, 1.0 too."""
    X, y = classes()
    last = Recipe.dev_set(0.3).run(
        knn(k=range(1, 30)), X, y, select=lambda curve: len(curve) - 1
    )
    with pytest.raises(
        CvnbError, match="the bound is for the setting with the smallest loss"
    ):
        dev_set_bound(last)
    assert optimism(last).bound is None

    def half(y, prediction):
        return 0.5 * (y != prediction)

    own = Recipe.dev_set(0.3).run(knn(k=[1, 3]), X, y, loss=half)
    assert dev_set_bound(own, range=1.0) == dev_set_bound(18, 2)
    with pytest.raises(CvnbError, match="declare its width"):
        dev_set_bound(own)


def test_one_fold_has_no_correction():
    """Not 0.0: there is no second fold whose minimum could differ."""
    with pytest.raises(CvnbError, match="one fold has no second one"):
        tibshirani_bias([[0.1], [0.2]])
    with pytest.raises(CvnbError, match="one fold has no second one"):
        tibshirani_bias(Recipe.dev_set(0.3).run(knn(k=[1, 3]), *classes()))


def test_bbc_weighs_unequal_folds_as_the_flat_estimate_does():
    """With one setting it is the risk, whatever the sizes of the folds."""
    X, y = numbers(100)
    split = PredefinedSplit((np.arange(100) >= 10).astype(int))
    y[:10] = 20 * (-1.0) ** np.arange(10)
    result = Recipe(split, 3).run(ridge(alpha=[1.0, 1.0]), X, y)
    rows = np.concatenate(record_of(result).table.rows)[:, 0]
    assert abs(rows.mean() - result.flat) > 50
    assert optimism(result).bbc.estimate == pytest.approx(result.flat, rel=0.1)
