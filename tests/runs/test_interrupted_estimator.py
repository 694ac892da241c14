"""NestedCV after an interrupt."""

import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from cvnb import NestedCV
from cvnb.errors import Interrupted

X, y = (part[:120] for part in load_diabetes(return_X_y=True))


class Stops(Ridge):
    """Presses the stop button in its n-th fit."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Stops.fits += 1
        if Stops.fits == 20:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def test_an_interrupted_fit_trains_nothing():
    """NestedCV has no risk of a part of the splits; the exception has it."""
    Stops.fits = 0
    model = NestedCV(Stops(), {"alpha": [0.1, 1.0]}, outer=4, inner=3)
    with pytest.raises(
        Interrupted, match=r"2 of 4 outer splits were finished; error.result holds them"
    ) as caught:
        model.fit(X, y)
    assert [name for name in vars(model) if name.endswith("_")] == []
    assert (caught.value.result.complete, len(caught.value.result.fold_risks)) == (
        False,
        2,
    )
