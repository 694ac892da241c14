"""Group labels: their kind does not change the splits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_score

from cvnb import Recipe

X, y = (part[:120] for part in load_diabetes(return_X_y=True))


LETTERS = np.array(list("zyxwvutsrq" * 12))


@pytest.mark.parametrize(
    "form",
    [
        list,
        pd.Series,
        lambda g: g.astype(object),
        lambda g: pd.Series(g, dtype="category"),
    ],
)
def test_groups_draw_the_same_splits_in_every_form(form):
    """Strings as objects are numbered in sorted order too, as GroupKFold does."""
    result = Recipe.external_cv(3).run(Ridge(), X, y, groups=form(LETTERS))
    cv = GroupKFold(3, shuffle=True, random_state=0)
    expected = -cross_val_score(
        Ridge(), X, y, groups=LETTERS, cv=cv, scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(result.fold_risks, expected, rtol=1e-12)
