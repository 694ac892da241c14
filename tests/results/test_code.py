"""The Python code of a result runs and gives the same result."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from cvnb import Recipe, knn, ridge
from small_tables import classes

X, y = (part[:120] for part in load_diabetes(return_X_y=True))


@pytest.mark.parametrize(
    "alpha", [np.logspace(-1, 1, 3), np.float64(0.1), [np.float32(0.5), 1]]
)
def test_the_code_of_a_short_hand_runs_with_numpy_values(alpha):
    """Arrays and NumPy's numbers become plain Python."""
    recipe = Recipe(3, 2)
    result = recipe.run(ridge(alpha=alpha), X, y)
    names = {"X": X, "y": y}
    exec(result.code(), names)
    assert names["result"].risk == result.risk


def test_the_code_of_a_run_names_functions_that_can_be_imported():
    """np.argmin is no Python function, and is numpy's argmin all the same."""
    code = Recipe(2, 2).run(knn(k=[1, 3]), *classes(), select=np.argmin).code()
    assert "from numpy import argmin" in code
    assert "select=argmin" in code
