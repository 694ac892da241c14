"""Differences between results: over common splits only."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from changed_results import interrupted, with_losses
from cvnb import Comparison, Recipe, knn, ridge
from small_tables import classes, numbers


def test_the_winner_of_an_interrupted_comparison_is_that_of_the_common_splits():
    """A hard split that only one of them finished does not turn the sentence round."""
    both = Recipe(KFold(10), None).run(
        {"a": ridge(alpha=1.0), "b": ridge(alpha=2.0)}, *numbers(100)
    )
    easy = 1 + 0.01 * np.arange(9)
    a = with_losses(both["a"], np.append(easy, 100.0))
    b = interrupted(
        with_losses(both["b"], np.append(easy + 1 + 0.02 * (np.arange(9) % 3), 0.0)), 9
    )
    (pair,) = Comparison({"a": a, "b": b}).pairs
    assert pair.difference == pytest.approx(np.mean(a.fold_risks[:9] - b.fold_risks))
    assert a.risk > b.risk
    assert pair.difference < 0
    assert pair.sentence.endswith("a is better.")


def test_differences_that_cancel_are_differences():
    """A mean of zero over splits that differ is not "no difference in any"."""
    X, y = classes()
    both = Recipe(5, 3).run({"a": knn(k=[1, 3]), "b": knn(k=[1, 3])}, X, y)
    changed = with_losses(
        both["b"], both["b"].fold_risks + np.array([0.1, -0.1, 0, 0, 0])
    )
    (pair,) = Comparison({"a": both["a"], "b": changed}).pairs
    assert pair.difference == pytest.approx(0.0, abs=1e-12)
    assert "no difference" not in pair.sentence
