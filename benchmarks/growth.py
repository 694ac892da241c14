"""How cost grows: seconds and peak memory of 5 × 5 nested CV against the rows, the settings, the folds inside and outside.

Each row has a process of its own; memory is what the process takes at its peak beyond what it took with the data in it.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from cvnb import Family, Recipe

ROWS = [
    *(f"ridge {m} 50 17 5 5" for m in (1_000, 10_000, 100_000, 1_000_000)),
    *(f"knn {m} 20 50 5 5" for m in (2_000, 10_000, 50_000)),
    *(f"knn {m} 3 50 5 5" for m in (10_000, 100_000, 1_000_000)),
    *(f"ridge 20000 50 {s} 5 5" for s in (1, 10, 100)),
    *(f"knn 5000 20 {s} 5 5" for s in (1, 10, 100)),
    *(f"ridge 20000 50 17 {k} {j}" for k, j in ((2, 2), (10, 5), (5, 10), (20, 20))),
    *(f"knn 5000 20 50 {k} {j}" for k, j in ((2, 2), (10, 5), (5, 10), (20, 20))),
]


def main():
    print("| family | rows × columns | settings | outer × inner | seconds | peak memory | X | beside |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for row in ROWS:
        subprocess.run([sys.executable, __file__, *row.split()], check=True)


def measure(name, m, n_columns, n_settings, n_outer, n_inner):
    """Print one row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n_columns))
    y = X[:, 0] + rng.normal(size=m)
    if name == "knn":
        y, family = (y > 0).astype(int), Family(KNeighborsClassifier(), {"n_neighbors": range(1, n_settings + 1)})
    else:
        family = Family(Ridge(), {"alpha": np.logspace(-3, 3, n_settings)})
    recipe = Recipe(n_outer, n_inner)
    small = rng.permutation(m)[:500]
    recipe.run(family, X[small], y[small], progress="off")  # imports, kernels
    fits = []
    for _ in range(3 if name == "ridge" else 0):
        started = time.perf_counter()
        Ridge().fit(X, y)
        fits.append(time.perf_counter() - started)
    before, seconds = start_over(), []
    for _ in range(3 if m < 200_000 else 1):
        started = time.perf_counter()
        result = recipe.run(family, X, y, progress="off")
        seconds.append(time.perf_counter() - started)
    peak = memory("VmHWM") - before
    beside = f"{np.median(seconds) / np.median(fits):.1f} of one Ridge().fit" if fits else ""
    print(
        f"| {result.path} | {m:,} × {n_columns} | {n_settings} | {n_outer} × {n_inner} | {np.median(seconds):.3g} "
        f"| {peak:.0f} MB | {X.nbytes / 1e6:.0f} MB | {beside} |",
        flush=True,
    )


def start_over():
    """Megabytes of this process now, from where its peak is counted anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(what):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1e3


if __name__ == "__main__":
    measure(sys.argv[1], *map(int, sys.argv[2:])) if len(sys.argv) > 1 else main()
