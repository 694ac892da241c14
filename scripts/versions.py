"""Two versions of cvnb beside each other: whole runs of the benchmarks, alternating, each version in a process of its own.

    python scripts/versions.py ../another-checkout [words of a row]

ratio = least seconds here / least seconds there; more than 1.05 is a loss. Rows: `ours` of benchmarks/speed.py, all of
benchmarks/small.py with five settings, some of benchmarks/growth.py, and the splits of a 5 × 5 run as explicit lists.
"""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
TURNS, TURN = 6, 0.4  # turns of each version in a row, and seconds of a turn
GROWTH = (  # family, rows, columns, settings, outer and inner folds
    ("ridge", 100_000, 50, 17, 5, 5), ("ridge", 20_000, 50, 100, 5, 5), ("knn", 10_000, 20, 50, 5, 5),
    ("knn", 100_000, 3, 50, 5, 5), ("lasso", 20_000, 50, 50, 5, 20),
)  # fmt: skip


def main(there, words):
    versions = {"here": child(HERE), "there": child(Path(there).resolve())}
    names = [
        name
        for name in ask(versions["here"], "names").split("\t")
        if all(word in name for word in words)
    ]
    print(f"{'row':<52}{'there':>12}{'here':>12}{'ratio':>8}")
    slower = []
    for name in names:
        least = dict.fromkeys(versions, float("inf"))
        for turn in range(TURNS):
            for version in list(versions) if turn % 2 else reversed(versions):
                least[version] = min(
                    least[version], float(ask(versions[version], name))
                )
        ratio = least["here"] / least["there"]
        slower += [name] * (ratio > 1.05)
        print(
            f"{name:<52}{1e3 * least['there']:>9.2f} ms{1e3 * least['here']:>9.2f} ms{ratio:>8.2f}",
            flush=True,
        )
    print(
        f"{len(slower)} of {len(names)} rows are more than 5 % slower here: {', '.join(slower) or 'none'}"
    )


def child(folder):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, __file__, "--child"]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def ask(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline().rstrip("\n")


def answer():
    """In a child: time rows as they are asked for."""
    warnings.simplefilter("ignore")
    runs = dict(rows())
    for line in sys.stdin:
        name = line.rstrip("\n")
        print("\t".join(runs) if name == "names" else least_of(runs[name]), flush=True)


def least_of(run):
    """Least seconds of a turn of runs."""
    began, least = time.perf_counter(), float("inf")
    while time.perf_counter() < began + TURN:
        started = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - started)
    return least


def rows():
    """(name, run)."""
    sys.path.insert(0, str(HERE / "benchmarks"))
    import growth
    import small
    import speed
    from sklearn.base import is_classifier

    from cvnb import Family, Recipe, knn, lasso, ridge

    for name, _, ours in speed.workloads():
        if "against" not in name:
            yield name, ours
    for name, (estimator, parameter, values) in small.MODELS.items():
        for m in (50, 500):
            data = small.data(
                m, m if "m columns" in name else 8, is_classifier(estimator)
            )
            family = Family(estimator, {parameter: values} if values else {})
            yield (
                f"small: {name}, {m} rows",
                a_run(Recipe(5, 5 if values else None), family, data),
            )
    for kind, *sizes, outer, inner in GROWTH:
        family, *data = growth.problem(kind, *sizes)
        yield (
            f"growth: {kind} {sizes} {outer} × {inner}",
            a_run(Recipe(outer, inner), family, data),
        )
    X, y = speed.numbers(2000, 20)
    for name, family in (
        ("ridge", ridge()),
        ("k-NN", knn(scale=False)),
        ("lasso", lasso()),
    ):
        plan = Recipe(5, 5).plan(X, y)
        lists = Recipe(list(plan.outer), [list(splits) for splits in plan.inner])
        yield f"splits as integers: {name}", a_run(Recipe(5, 5), family, (X, y))
        yield f"splits as lists: {name}", a_run(lists, family, (X, y))
    near = knn(k=[1, 5, 9], scale=False)
    yield (
        "leave-one-out outside: k-NN 300×5",
        a_run(Recipe("loo", 5), near, speed.classes(300, 5)),
    )
    yield (
        "leave-one-out outside: ridge 300×5",
        a_run(Recipe("loo", 5), ridge(), speed.numbers(300, 5)),
    )
    yield (
        "leave-one-out inside: ridge 1000×20",
        a_run(Recipe(5, "loo"), ridge(), speed.numbers(1000, 20)),
    )


def a_run(recipe, family, data):
    return lambda: recipe.run(family, *data, progress="off")


if __name__ == "__main__":
    answer() if sys.argv[1:] == ["--child"] else main(sys.argv[1], sys.argv[2:])
