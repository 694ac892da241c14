"""Tables, recipes and the comparison with refit for the tests of paths from class sums."""

import numpy as np
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cases import in_double
from cvnb import Family, Recipe

NESTED = Recipe(outer=4, inner=3)
RECIPES = {
    "nested": NESTED,
    "5 x 5": Recipe.nested_cv(5, 5),
    "not stratified": Recipe(4, 3, stratify=False),
    "many blocks": Recipe(3, 40, stratify=False),
    "loo inside": Recipe(2, "loo"),
    "loo outside": Recipe("loo", 3, stratify=False),
    "resampling": Recipe.nested_resampling(outer=3, inner=3),
    "inner dev set": Recipe.nested_dev(4),
    "three parts": Recipe.train_validation_test(),
    "cv, then test": Recipe.cv_test(inner=3),
    "inside alone": Recipe.internal_cv(4),
    "time": Recipe(4, 3, time_ordered=True, buffer=1),
}
ONE_SETTING = {
    "external": Recipe.external_cv(5),
    "loo": Recipe.leave_one_out(),
    "validation": Recipe.validation(0.3),
}
ODD_TABLES = [
    "one column / classes",
    "constant column / classes",
    "copies / words",
    "copies / rare classes",
    "wide / classes",
    "offset / classes",
    "float32 / classes",
    "bytes / words",
    "bits / truths",
    "ties / rare classes",
]
SHARED = {
    "nested",
    "5 x 5",
    "not stratified",
    "many blocks",
    "loo inside",
    "inside alone",
    "loo outside",
    "cv, then test",
}
AHEAD = {"bare": (), "scaled": (StandardScaler(),), "behind": (MinMaxScaler(),)}
GROUPED = Recipe(GroupKFold(3), GroupKFold(2))


def table(n_classes=3, m=70, p=4, seed=0):
    """Overlapping classes of equal size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p)) * rng.uniform(0.5, 2.0, p)
    ranks = np.argsort(np.argsort(X[:, 0] + 0.8 * rng.normal(size=m)))
    return X, ranks * n_classes // m


def weights_of(y):
    """Return weights between 0.2 and 3, some 0."""
    rng = np.random.default_rng(2)
    return np.where(rng.random(len(y)) < 0.1, 0.0, rng.uniform(0.2, 3.0, len(y)))


def family(model, grid, ahead=()):
    """The model after these transformers."""
    if not ahead:
        return Family(model, grid)
    step = type(model).__name__.lower()
    grid = {f"{step}__{key}": values for key, values in grid.items()}
    return Family(make_pipeline(*ahead, model), grid)


def metric(name, y):
    """The arguments of a run for a loss by name; "auc" is the AUC for any number of classes."""
    if name in ("zero_one", "log"):
        return {"loss": name}
    several = "roc_auc" if np.unique(y).size == 2 else "roc_auc_ovr"
    return {"scoring": several if name == "auc" else name}


def refitted(result):
    """The notes about refitted splits."""
    return [note for note in result.notes if "refitted" in note]


def assert_as_refitted(fam, X, y, recipe=NESTED, path=None, **options):
    """Equal to one fit per setting and split, of X in double precision; with path= given,
    without any refit."""
    fast = recipe.run(fam, X, y, progress="off", flat=True, **options)
    options |= {"progress": "off", "flat": True}
    slow = recipe.run(fam, in_double(X), y, path="refit", **options)
    if path is not None:
        assert (fast.path, refitted(fast)) == (path, []), fast.path_reason
    for name in ("inner_curves", "outer_curves", "fold_risks"):
        ours, theirs = getattr(fast, name), getattr(slow, name)
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert fast.chosen == slow.chosen
    if slow.predictions is not None:
        np.testing.assert_array_equal(
            np.ma.filled(fast.predictions, -1), np.ma.filled(slow.predictions, -1)
        )
    return fast
