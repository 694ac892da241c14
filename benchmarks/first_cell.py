"""The first result in a notebook: a fresh kernel with warm caches runs %load_ext cvnb and
its first %%nestedcv.

Seconds of each cell as its user waits for them, and what of them is cvnb's own: all but the
imports of scikit-learn and Numba, which are timed in a kernel that imports them alone.
"""

import os
import statistics
import time

from jupyter_client.manager import start_new_kernel

DATA = "from sklearn.datasets import load_breast_cancer\nX, y = load_breast_cancer(return_X_y=True)"
LOAD = "%load_ext cvnb"
FIRST = "%%nestedcv X y\nknn(k=range(1, 51))"
OTHERS = (
    "import sklearn.pipeline, sklearn.neighbors, sklearn.linear_model, sklearn.ensemble, "
    "sklearn.tree, numba, scipy.linalg\nimport sklearn.model_selection, sklearn.metrics, "
    "threadpoolctl, joblib"
)


def seconds_of(cells, environment=None, wait=0, before=None):
    """Seconds of each cell in a kernel of its own, which waits before one of them."""
    environment = {**os.environ, **(environment or {})}
    manager, client = start_new_kernel(kernel_name="python3", env=environment)
    try:
        found = []
        for cell in cells:
            if cell == before:
                time.sleep(wait)
            started = time.perf_counter()
            reply = client.execute_interactive(cell, output_hook=lambda message: None)
            found.append(time.perf_counter() - started)
            assert reply["content"]["status"] == "ok", reply
        return found
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def main(rounds=5):
    seconds_of([LOAD, DATA, FIRST])  # kernels on disk
    whole, others = [], []
    for _ in range(rounds):
        load, data, first = seconds_of([LOAD, DATA, FIRST])
        whole.append(load + first)
        imports, data_after, _ = seconds_of([OTHERS, DATA, "1"])
        others.append(imports - max(0.0, data - data_after))
    a, b = statistics.median(whole), statistics.median(others)
    print(f"%load_ext and the first %%nestedcv  {a:.2f} s")
    print(f"imports of other packages           {b:.2f} s")
    print(f"cvnb itself                         {a - b:.2f} s")


if __name__ == "__main__":
    main()
