"""The sentence that says which quantity a result estimates."""

from sklearn.datasets import load_diabetes

from cvnb import Recipe, ridge

X, y = (part[:120] for part in load_diabetes(return_X_y=True))


def test_a_dev_set_of_unequal_folds_is_said_as_a_range():
    """47 rows in 5 folds have test parts of 9 and 10 rows, and so have the dev sets."""
    result = Recipe.nested_dev(5).run(ridge(alpha=[0.1, 1.0]), X[:47], y[:47])
    assert "by a dev set of 9 to 10 rows" in result.quantity
