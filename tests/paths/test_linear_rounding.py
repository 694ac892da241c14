"""Linear paths where rounding decides: same numbers as refitting, or refitted."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from cvnb import Family, Recipe
from cvnb.errors import CvnbError
from rounding_cases import CASES, incomes, noisy, scaled


def test_dummies_beside_large_numbers_are_everyday():
    """Dependent columns under a usual penalty stay on the fast path, whatever is next to
    them."""
    X, y = incomes()
    for family in (
        Family(Ridge(), {"alpha": np.logspace(-3, 3, 7)}),
        Family(scaled(Ridge()), {"ridge__alpha": np.logspace(-2, 3, 6)}),
    ):
        assert Recipe(4, 3).run(family, X, y).path == "shared:ridge"


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("seed", range(12))
def test_scores_that_only_rounding_parts_are_left_to_refit(scoring, seed):
    """Rows of dummies have equal scores, and a metric of ranks asks for their order."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 4, 60)[:, None] == np.arange(4), rng.integers(0, 2, 60)]
    ).astype(float)
    y = (X[:, 0] + rng.normal(size=60) > np.median(X[:, 0])).astype(int)
    family, recipe = (
        Family(RidgeClassifier(), {"alpha": [0.1, 1.0, 10.0]}),
        Recipe(3, 3, seed=seed),
    )
    fast, slow = (
        recipe.run(family, X, y, path=path, scoring=scoring)
        for path in ("auto", "refit")
    )
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-9)


def narrow(X):
    """float32 where some number is large."""
    return X.astype(np.float32) if X.max() > 1e8 else X


def test_what_one_split_meets_decides_for_no_other():
    """Transformers that give float32 for one test part alone: the same path and bits for
    any number of workers."""
    X, y = noisy(m=80)
    X[75, 0] = 1e9
    family = Family(
        make_pipeline(FunctionTransformer(narrow), Ridge()),
        {"ridge__alpha": [0.1, 1.0]},
    )
    runs = [Recipe(KFold(4), KFold(3)).run(family, X, y, n_jobs=n) for n in (1, 2)]
    clean = X.copy()
    clean[75, 0] = 0.0
    alone = Recipe(KFold(4), KFold(3)).run(family, clean, y)
    assert runs[0].path == runs[1].path
    for result in runs:
        assert result.inner_curves[3].tobytes() == alone.inner_curves[3].tobytes()


@pytest.mark.parametrize("case", CASES)
def test_the_linear_paths_have_the_numbers_of_refit_or_leave_it_to_refit(case):
    """Risk, curves, choices and failures to 1e-9, or the same error."""
    family, data, recipe, options = CASES[case]
    X, y = data()
    found = []
    for path in ("auto", "refit"):
        try:
            result = recipe.run(family, X, y, path=path, flat=True, **options)
        except CvnbError as error:
            found.append(type(error))
            continue
        curves = [] if result.inner_curves is None else [result.inner_curves]
        found.append(
            (
                [result.fold_risks, result.outer_curves, *curves],
                result.chosen_index.tolist(),
                result.notes,
            )
        )
    if isinstance(found[1], type):
        assert found[0] is found[1]
        return
    for fast, slow in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-9)
    assert found[0][1] == found[1][1]
    assert not any("tie" in note for note in found[0][2]) or any(
        "tie" in note for note in found[1][2]
    )


def test_a_score_undefined_outside_leaves_the_inner_losses_to_the_last_bit():
    """Only the outer part is measured anew: inner losses do not depend on its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.exp(X[:, 0] + 0.1 * rng.normal(size=60))
    recipe = Recipe(ShuffleSplit(4, random_state=0), ShuffleSplit(3, random_state=0))
    family, options = (
        Family(Ridge(), {"alpha": [0.1, 1.0]}),
        {"scoring": "neg_max_error"},
    )
    before = recipe.run(family, X, y, **options)
    for j, (_, test) in enumerate(before.plan.outer):
        changed = X.copy()
        changed[test] = 1e2 * rng.normal(size=(test.size, 3))
        after = recipe.run(family, changed, y, **options)
        assert after.inner_curves[j].tobytes() == before.inner_curves[j].tobytes()
