"""An estimator whose fits are slow."""

import time

from sklearn.dummy import DummyClassifier


class Slow(DummyClassifier):
    """Each fit takes some hundredths of a second."""

    seconds = 0.03

    def __init__(self, strategy="prior"):
        super().__init__(strategy=strategy)

    def fit(self, X, y, sample_weight=None):
        time.sleep(self.seconds)
        return super().fit(X, y, sample_weight)
