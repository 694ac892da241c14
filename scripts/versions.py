"""Time two versions of cvnb: whole runs of the benchmarks, alternating, one process each.

    python scripts/versions.py ../another-checkout [words of a row]

ratio = least seconds here / least seconds there; more than 1.05 is a loss. Rows: `ours` of
benchmarks/speed.py, all of benchmarks/small.py and benchmarks/growth.py, and the splits of a
5 × 5 run as explicit lists.
"""

import os
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
TURNS, TURN = 4, 0.4  # turns of each version in a row, and seconds of a turn
LONG = 5.0  # seconds of a run that has two turns only


def main(there, words):
    versions = {"here": child(HERE), "there": child(Path(there).resolve())}
    names = ask(versions["here"], "names").split("\t")
    names = [name for name in names if all(word in name for word in words)]
    print(f"{'row':<52}{'there':>12}{'here':>12}{'ratio':>8}")
    slower = []
    for name in names:
        least = least_of_turns(versions, name)
        ratio = least["here"] / least["there"]
        if ratio > 1.05:
            slower.append(name)
        times = "".join(f"{1e3 * least[key]:>9.2f} ms" for key in ("there", "here"))
        print(f"{name:<52}{times}{ratio:>8.2f}", flush=True)
    verdict = ", ".join(slower) or "none"
    print(
        f"{len(slower)} of {len(names)} rows are more than 5 % slower here: {verdict}"
    )


def least_of_turns(versions, name):
    """Least seconds of a row in each version."""
    least = dict.fromkeys(versions, float("inf"))
    for turn in range(TURNS):
        for version in list(versions) if turn % 2 else reversed(versions):
            seconds = float(ask(versions[version], name))
            least[version] = min(least[version], seconds)
        if turn == 1 and max(least.values()) > LONG:
            break
    return least


def child(folder):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen(
        [sys.executable, __file__, "--child"],
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
    """In a child: time the row of each line of the input; the data of one row are kept."""
    warnings.simplefilter("ignore")
    makers = dict(rows())
    current = run = None
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name == "names":
            print("\t".join(makers), flush=True)
            continue
        if name != current:
            run = None  # frees its data
            current, run = name, makers[name]()
        print(least_of(run), flush=True)


def least_of(run):
    """Least seconds of a turn of runs."""
    began, least = time.perf_counter(), float("inf")
    while time.perf_counter() < began + TURN:
        started = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - started)
    return least


def rows():
    """(name, function that makes the run)."""
    sys.path.insert(0, str(HERE / "benchmarks"))
    import growth
    import small
    import speed

    from cvnb import Recipe, knn, lasso, ridge

    for name, _, ours in speed.workloads():
        if "against" not in name:
            yield name, partial(identity, ours)
    for name, m, n_settings in small.rows():
        words = f"small: {name}, {m} rows, {n_settings} settings"
        yield words, partial(small_run, small, name, m, n_settings)
    for row in dict.fromkeys(row for _, _, of in growth.BLOCKS.values() for row in of):
        if not row.startswith("loops"):
            yield f"growth: {row}", partial(growth_run, growth, row)
    X, y = speed.numbers(2000, 20)
    families = {"ridge": ridge(), "k-NN": knn(scale=False), "lasso": lasso()}
    plan = Recipe(5, 5).plan(X, y)
    lists = Recipe(list(plan.outer), [list(splits) for splits in plan.inner])
    for name, family in families.items():
        yield (
            f"splits as integers: {name}",
            lambda f=family: a_run(Recipe(5, 5), f, X, y),
        )
        yield f"splits as lists: {name}", lambda f=family: a_run(lists, f, X, y)
    near, labels = knn(k=[1, 5, 9], scale=False), speed.classes(300, 5)
    yield (
        "leave-one-out outside: k-NN 300×5",
        lambda: a_run(Recipe("loo", 5), near, *labels),
    )
    few, many = speed.numbers(300, 5), speed.numbers(1000, 20)
    yield (
        "leave-one-out outside: ridge 300×5",
        lambda: a_run(Recipe("loo", 5), ridge(), *few),
    )
    yield (
        "leave-one-out inside: ridge 1000×20",
        lambda: a_run(Recipe(5, "loo"), ridge(), *many),
    )


def small_run(small, name, m, n_settings):
    family, X, y, recipe = small.problem(name, m, n_settings)
    return a_run(recipe, family, X, y)


def growth_run(growth, row):
    from cvnb import Recipe

    name, *sizes, outer, inner = row.split()
    family, X, y = growth.problem(name, *map(int, sizes))
    return a_run(Recipe(int(outer), int(inner)), family, X, y)


def a_run(recipe, family, X, y):
    return lambda: recipe.run(family, X, y, progress="off")


def identity(value):
    return value


if __name__ == "__main__":
    answer() if sys.argv[1:] == ["--child"] else main(sys.argv[1], sys.argv[2:])
