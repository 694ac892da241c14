"""A path whose fits contain those of refit: the same choices, curves and predictions."""

import numpy as np

from cvnb import Recipe

NESTED = Recipe(outer=3, inner=2)


def assert_identical(family, X, y, recipe=NESTED, path=None, **options):
    """Check against refit; only means over rows may be rounded differently."""
    fast = recipe.run(family, X, y, progress="off", **options)
    slow = recipe.run(family, X, y, progress="off", path="refit", flat=True, **options)
    assert fast.path == path or path is None
    np.testing.assert_allclose(fast.inner_curves, slow.inner_curves, rtol=1e-13)
    np.testing.assert_allclose(fast.outer_curves, slow.outer_curves, rtol=1e-13)
    assert fast.chosen == slow.chosen
    for one, other in zip(fast.predictions, slow.predictions, strict=True):
        np.testing.assert_array_equal(one, other)
    return fast
