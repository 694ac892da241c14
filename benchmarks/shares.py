"""Where the time of a row of regimes.py goes: the lines that run, by samples of all threads.

    python benchmarks/shares.py words of a row [--seconds 10]

Every two milliseconds each thread is asked for its innermost line in cvnb or scikit-learn; those
that wait are left out. Above them stand the least seconds of a run, of one on one thread, and of
products of X on one thread: X·Xᵀ, which NumPy makes by half of the multiplications, and the same
by all of them, as between different rows.
"""

import argparse
import linecache
import sys
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from regimes import FOLDS, ROWS, ran
from threadpoolctl import threadpool_limits

from cvnb import Recipe

EVERY, FEWEST = 0.002, 0.02  # seconds between samples; smallest share that is shown
PACKAGES = ("cvnb", "sklearn")
WAITING = {"wait", "wait_for", "get", "result", "select", "_worker"}  # functions


def main(words, seconds):
    for name, regime in ROWS.items():
        if all(word in name for word in words):
            show(name, regime, seconds)


def show(name, regime, seconds):
    """Print one row."""
    X, y = regime.table(*regime.shape)
    family, recipe = regime.family(), Recipe(FOLDS, FOLDS, seed=0)
    ran(family, X, y)  # loads kernels
    times, lines = sampled(lambda: ran(family, X, y), seconds)
    one = least(lambda: recipe.run(family, X, y, progress="off", n_jobs=1), 2)
    print(f"{name}: {min(times):.3f} s, on one thread {one:.3f} s")
    print_products(X)
    n_samples = sum(lines.values())
    for (place, line), n in lines.most_common():
        if n >= FEWEST * n_samples:
            print(f"  {n / n_samples:>4.0%}  {place:<46}{line[:70]}")


def sampled(run, seconds):
    """The seconds of each run, and how often each (place, line) was seen."""
    times, lines, done = [], Counter(), threading.Event()
    watcher = threading.Thread(target=watch, args=(lines, done))
    watcher.start()
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    done.set()
    watcher.join()
    return times, lines


def watch(lines, done):
    own = threading.get_ident()
    while not done.wait(EVERY):
        for thread, frame in sys._current_frames().items():
            if thread != own and (place := place_of(frame)):
                lines[place] += 1


def place_of(frame):
    """The innermost line in one of the packages; None if the thread waits or runs none."""
    if frame.f_code.co_name in WAITING:
        return None
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        for package in PACKAGES:
            if package in file.parts and "benchmarks" not in file.parts:
                parts = file.parts[file.parts.index(package) + 1 :]
                line = linecache.getline(str(file), frame.f_lineno).strip()
                return f"{parts[-1]}: {frame.f_code.co_name}", line
        frame = frame.f_back
    return None


def print_products(X):
    """Least seconds of products of the rows, in double and in single precision."""
    if not isinstance(X, np.ndarray):
        print(f"  {X.nnz:,} numbers")
        return
    for dtype in (np.float64, np.float32):
        A = X.astype(dtype)
        B, out = A.T.copy(), np.empty((len(A), len(A)), dtype=dtype)
        with threadpool_limits(1):
            half = least(lambda A=A, out=out: np.dot(A, A.T, out=out))
            full = least(lambda A=A, B=B, out=out: np.dot(A, B, out=out))
        print(f"  X·Xᵀ {np.dtype(dtype)} {half:.4f} s, all of it {full:.4f} s")


def least(run, n=5):
    times = []
    for _ in range(n):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="words of the rows")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each row")
    asked = parser.parse_args()
    main(asked.words, asked.seconds)
