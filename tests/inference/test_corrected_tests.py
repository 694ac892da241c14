"""Corrected t and 5×2cv tests of two results."""

import numpy as np
import pytest
from sklearn.model_selection import RepeatedKFold

from changed_results import interrupted
from cvnb import Recipe, knn, ridge
from cvnb.errors import CvnbError
from cvnb.inference import alpaydin_5x2cv, corrected_t, dev_set_bound
from small_tables import classes


def test_a_part_of_five_times_two_halves_is_refused():
    """Eight of ten splits."""
    X, y = classes()
    recipe = Recipe(RepeatedKFold(n_splits=2, n_repeats=5, random_state=0), 2)
    both = recipe.run({"a": knn(k=[1, 5]), "b": ridge(alpha=[1.0])}, X, y)
    with pytest.raises(CvnbError, match="5×2cv is five times two halves"):
        alpaydin_5x2cv(interrupted(both["a"], 8), both["b"])


def test_numbers_of_any_size_have_their_t():
    """1e200 and 1e-200 scale like 1."""
    t = corrected_t([1.0, 2.0, 4.0], 80, 20)
    for scale in (1e200, 1e-200):
        np.testing.assert_allclose(
            corrected_t(np.array([1.0, 2.0, 4.0]) * scale, 80, 20), t, rtol=1e-12
        )
    assert dev_set_bound(100, 10**400) > 1
