"""Estimators fitted in other processes, in a module that every worker can import."""

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
    """Kills the process that fits it, once for each file in the folder."""

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
    """Writes a file for every fit with the number of threads that the libraries would use."""

    def __init__(self, folder="", strategy="prior"):
        super().__init__(strategy=strategy)
        self.folder = folder

    def fit(self, X, y, sample_weight=None):
        libraries = [library["num_threads"] for library in threadpool_info()]
        counts = json.dumps([*libraries, numba.get_num_threads()])
        (Path(self.folder) / uuid4().hex).write_text(counts, encoding="utf-8")
        return super().fit(X, y, sample_weight)


class Patient(DummyClassifier):
    """Its fit waits for a file once 20 fits have begun; each fit marks its begin with a file."""

    def __init__(self, folder="", strategy="prior"):
        super().__init__(strategy=strategy)
        self.folder = folder

    def fit(self, X, y, sample_weight=None):
        folder = Path(self.folder)
        (folder / f"begun {uuid4().hex}").touch()
        begun, go_on = len(list(folder.glob("begun *"))), folder / "go on"
        while begun > 20 and not go_on.exists():
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
