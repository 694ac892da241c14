"""The figure of a comparison that was interrupted."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

from cvnb import Family, Recipe, knn
from cvnb.figures import comparison_figure
from stopped import finished_part

X, y = load_iris(return_X_y=True)


def test_means_of_a_comparison_are_over_the_splits_that_are_drawn():
    """An interrupt in the second family leaves it fewer of them."""
    fits = []

    class Stopping(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            fits.append(1)
            if len(fits) > 4:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    families = {"a": knn(k=1), "b": Family(Stopping(), {})}
    comparison = finished_part(lambda: Recipe.external_cv(6).run(families, X, y))
    n = len(comparison["b"].fold_risks)
    assert 0 < n < 6
    means = comparison_figure(comparison).data[1].y
    np.testing.assert_allclose(
        means, [100 * result.fold_risks[:n].mean() for result in comparison.values()]
    )
