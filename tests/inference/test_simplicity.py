"""Which of two settings is simpler, for the one-standard-error rule."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvnb import Family, Recipe, forest
from cvnb.errors import CvnbError
from cvnb.inference import OneSE, compare_rules
from small_tables import classes, numbers

SIMPLEST = [
    (
        Family(
            LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [None, 0.2, 0.6]}
        ),
        classes,
        [2, 1, 0],
    ),
    (
        Family(DecisionTreeClassifier(random_state=0), {"max_depth": [None, 3]}),
        classes,
        [1, 0],
    ),
]


@pytest.mark.parametrize(("family", "data", "ranks"), SIMPLEST)
def test_none_is_what_it_means_to_the_parameter(family, data, ranks):
    """No shrinkage is the least of it; no limit is the largest."""
    from cvnb.families.family import check_parameters
    from cvnb.families.simplicity import order_of

    assert order_of(family, check_parameters(family), {}).ranks[:, 0].tolist() == ranks


@pytest.mark.parametrize(
    ("family", "data", "message"),
    [
        (
            Family(KernelRidge(kernel="rbf"), {"gamma": [None, 1, 3]}),
            numbers,
            "known for numbers, not for None",
        ),
        (
            Family(DecisionTreeClassifier(), {"min_samples_leaf": [5, 0.3]}),
            classes,
            "shares and counts",
        ),
        (
            Family(
                make_pipeline(PCA(), GaussianNB()), {"pca__n_components": [2, 0.95]}
            ),
            classes,
            "shares and counts",
        ),
        (
            forest(n_estimators=[1, 3]),
            classes,
            "which n_estimators is simpler is not known",
        ),
    ],
)
def test_what_has_no_order_is_refused(family, data, message):
    """A default that depends on the data, shares among counts, the size of a forest."""
    with pytest.raises(CvnbError, match=message):
        Recipe(3, 3).run(family, *data(), select="one_se")


def test_parameters_deep_inside_are_found():
    """Behind a column transformer or in a pipeline of pipelines."""
    columns = make_column_transformer((make_pipeline(PCA()), [0, 1, 2]))
    family = Family(
        make_pipeline(columns, LogisticRegression()),
        {"columntransformer__pipeline__pca__n_components": [3, 1]},
    )
    result = Recipe(3, 3).run(family, *classes(), select="one_se", flat=True)
    assert len(compare_rules(result).rules) == 2


def test_directions_may_be_any_iterable_and_any_kind_of_string():
    """A generator is read once; NumPy's strings are strings."""
    X, y = classes()
    family = Family(SVC(), {"kernel": np.array(["rbf", "linear"])})
    rule = OneSE({"kernel": (name for name in ("linear", "rbf"))})
    first, second = (Recipe(3, 3).run(family, X, y, select=rule) for _ in range(2))
    assert np.array_equal(first.chosen_index, second.chosen_index)
    assert "OneSE({'kernel': ['linear', 'rbf']})" in first.code()
