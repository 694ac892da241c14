"""Estimators that are fitted in other processes: in a module of their own, so that every worker finds it."""

import json
import os
import signal
import time
import warnings
from pathlib import Path
from uuid import uuid4

import numba
import numpy as np
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_info


class Deadly(DummyClassifier):
    """Kills the process that fits it: as often as there are files to take away."""

    def __init__(self, folder="", strategy="prior"):
        super().__init__(strategy=strategy)
        self.folder = folder

    def fit(self, X, y, sample_weight=None):
        warnings.warn("one for each fit", UserWarning, stacklevel=2)
        for flag in Path(self.folder).iterdir() if self.folder else ():
            flag.unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)


class Counting(DummyClassifier):
    """Writes a file for every fit: how many threads the libraries would take."""

    def __init__(self, folder="", strategy="prior"):
        super().__init__(strategy=strategy)
        self.folder = folder

    def fit(self, X, y, sample_weight=None):
        counted = [one["num_threads"] for one in threadpool_info()] + [
            numba.get_num_threads()
        ]
        (Path(self.folder) / uuid4().hex).write_text(
            json.dumps(counted), encoding="utf-8"
        )
        return super().fit(X, y, sample_weight)


class Patient(DummyClassifier):
    """On the rows after `first` its fit waits for a file, and says by another one that it waits."""

    def __init__(self, folder="", strategy="prior"):
        super().__init__(strategy=strategy)
        self.folder = folder

    def fit(self, X, y, sample_weight=None):
        folder = Path(self.folder)
        (folder / f"begun {uuid4().hex}").touch()
        while (
            len(list(folder.glob("begun *"))) > 20 and not (folder / "go on").exists()
        ):
            time.sleep(0.01)
        return super().fit(X, y, sample_weight)


class Drawing(DummyClassifier):
    """Draws from NumPy's global state."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.drawn_ = np.random.random()  # noqa: NPY002 - as some estimators do
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 6 + self.drawn_, self.classes_[0], self.classes_[-1])


class Pickled(DummyClassifier):
    """Counts how often this process has pickled it."""

    times = 0

    def __getstate__(self):
        Pickled.times += 1
        return super().__getstate__()
