"""Interrupt runs at random moments: seconds to the answer, finished part, later numbers.

    python tests/interrupts.py                      every path, five interrupts each: some minutes
    python tests/interrupts.py knn lasso --times 20 --seed 3

Each path runs in its own process. SIGINT goes to its process group, as Ctrl-C does, at
random moments of the run. Seconds are from the signal to the first line of `except
Interrupted`. A fault is anything else that is wrong: a part that is complete or differs
from the uninterrupted run, an interrupt that is lost or leaves the run as a plain
KeyboardInterrupt, or wrong numbers in the run after it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from cvnb import Family, Interrupted, Recipe, knn, lasso, logistic, ridge, tree

KS = range(1, 51)
PATIENCE = 20.0  # seconds to wait for the interrupt after the end of a run
AFTERWARDS = 0.3  # seconds of CPU use that are measured after an interrupt
RECIPE = Recipe(outer=3, inner=2)


class Digging(RegressorMixin, BaseEstimator):
    """Each fit is one call of compiled code that handles no signal but releases the GIL."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        hashlib.pbkdf2_hmac("sha256", b"cvnb", b"", 1_500_000)
        self.mean_ = y.mean() + self.shift
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


SIZES = {"n_estimators": [10, 20, 40]}
CS = {"C": [1.0, 10.0, 100.0]}
HISTOGRAMS = HistGradientBoostingClassifier(random_state=0, early_stopping=False)
BEHIND_PCA = make_pipeline(PCA(10), KNeighborsClassifier())

# name -> (family, rows, columns, more options of the run); sizes for half a second to a second
# on two idle cores
RUNS = {
    "knn": (knn(k=KS, scale=False), 14_000, 20, {}),
    "knn scaled": (knn(k=KS), 20_000, 20, {}),
    "ridge": (ridge(), 150_000, 100, {}),
    "lasso": (lasso(), 3_000, 350, {}),
    "logistic": (logistic(), 50_000, 40, {}),
    "tree": (tree(max_leaf_nodes=range(2, 41)), 6_000, 20, {}),
    "forest": (Family(RandomForestClassifier(random_state=0), SIZES), 2_000, 20, {}),
    "boosting": (
        Family(GradientBoostingClassifier(random_state=0), SIZES),
        1_500,
        20,
        {},
    ),
    "histograms": (Family(HISTOGRAMS, {"max_iter": [5, 10]}), 2_000, 10, {}),
    "adaboost": (Family(AdaBoostClassifier(random_state=0), SIZES), 1_500, 20, {}),
    "compiled fit": (Family(Digging()), 60, 2, {}),
    "svc": (Family(SVC(), CS), 1_100, 20, {}),
    "svc on workers": (Family(SVC(), CS), 1_800, 20, {"n_jobs": 2}),
    "knn behind pca": (
        Family(BEHIND_PCA, {"kneighborsclassifier__n_neighbors": KS}),
        4_000,
        40,
        {},
    ),
}
REGRESSIONS = ("ridge", "lasso", "compiled fit")


def runner(name):
    """Return a function that makes the whole run of a path."""
    family, n_rows, n_columns, options = RUNS[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, 0] - X[:, 1] + rng.normal(size=n_rows)
    if name not in REGRESSIONS:
        y = (y > 0).astype(int)
    return lambda: RECIPE.run(family, X, y, progress="off", **options)


# The process that is interrupted: it prints "begin", and then how that run ended.


def child(name):
    run = runner(name)
    run()  # imports, compiles
    started = time.monotonic()
    whole = run()
    report_line(path=whole.path, seconds=time.monotonic() - started)
    while sys.stdin.readline():
        outcome, part, faults = {"seen": 0.0}, None, []
        try:
            report_line(begin=True)
            run()
            time.sleep(PATIENCE)
            faults.append("the interrupt was lost, and the run went on to its end")
        except Interrupted as error:
            outcome["seen"], part = time.monotonic(), error.result
        except KeyboardInterrupt as error:
            # before the run or after its end, unless it passed through the package
            if passed_through_cvnb(error):
                faults.append("a plain KeyboardInterrupt came out of the run")
        if outcome["seen"] or faults:
            used = time.process_time()
            time.sleep(AFTERWARDS)
            outcome["busy"] = (time.process_time() - used) / AFTERWARDS
            faults += faults_of(part, whole)
            if not same(run(), whole):
                faults.append("the run after it has other numbers")
        report_line(
            **outcome,
            finished=0 if part is None else len(part.fold_risks),
            faults=faults,
        )


def passed_through_cvnb(error):
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    modules = [frame.f_globals.get("__name__", "") for frame in frames]
    return any(module.startswith("cvnb.") for module in modules)


def faults_of(part, whole):
    """Return the faults of the finished part of a run."""
    if part is None:
        return []
    n = len(part.fold_risks)
    wrong = {
        "the part is called complete": part.complete,
        "the part is empty": n == 0,
        "no note says how much was finished": f"Interrupted: {n} of 3 outer splits were finished."
        not in part.notes,
        "other fold risks": not np.array_equal(part.fold_risks, whole.fold_risks[:n]),
        "other inner curves": whole.inner_curves is not None
        and not np.array_equal(part.inner_curves, whole.inner_curves[:n]),
        "other choices": part.chosen != whole.chosen[:n],
        "another mean": n and part.risk != whole.fold_risks[:n].mean(),
    }
    return [fault for fault, found in wrong.items() if found]


def same(again, whole):
    return (
        again.complete
        and again.path == whole.path
        and np.array_equal(again.fold_risks, whole.fold_risks)
        and np.array_equal(again.inner_curves, whole.inner_curves)
        and again.chosen == whole.chosen
    )


def report_line(**words):
    print(json.dumps(words), flush=True)


# The process that interrupts it.


@dataclass
class Report:
    """The outcomes of the interrupts of one path; one number for each."""

    name: str
    path: str = ""
    seconds: float = 0.0  # of an uninterrupted run
    answers: list[float] = field(default_factory=list)  # seconds
    finished: list[int] = field(default_factory=list)  # outer splits
    busy: list[float] = field(default_factory=list)  # cores still at work just after it
    faults: list[str] = field(default_factory=list)

    def __str__(self):
        run = f"{self.name:15} {self.path:14} {self.seconds:5.2f}"
        answers = " ".join(f"{seconds:5.2f}" for seconds in self.answers)
        finished = " ".join(map(str, self.finished))
        line = f"{run}  {answers}   {finished}   {max(self.busy, default=0.0):4.1f}"
        return line + "".join(f"\n    FAULT {fault}" for fault in self.faults)


COLUMNS = "seconds until Interrupted; outer splits kept; cores busy after it"
HEAD = f"{'run':15} {'path':14} whole  {COLUMNS}"


def interrupt(name, times=5, seed=0):
    """Interrupt a path's run this many times at random moments; return the report."""
    rng, report = np.random.default_rng([seed, *map(ord, name)]), Report(name)
    command = [sys.executable, __file__, "--child", name]
    environment = os.environ | {"CVNB_PROGRESS": "off"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        command, env=environment, start_new_session=True, **pipes
    ) as process:
        try:
            first = next_line(process)
            report.path, report.seconds = first["path"], first["seconds"]
            for _ in range(times):
                press(process, report, report.seconds * rng.uniform(0.02, 0.95))
            process.stdin.close()
            process.wait(60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return report


def press(process, report, after):
    """Interrupt a run after this many seconds; again at another moment if it missed the run."""
    while True:
        process.stdin.write("again\n")
        process.stdin.flush()
        next_line(process)
        time.sleep(after)
        pressed = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        last = next_line(process)
        if last["seen"] or last["faults"]:
            break
        after = 0.7 * after + 0.01
    report.faults += [
        f"pressed after {after:.2f} s: {fault}" for fault in last["faults"]
    ]
    if last["seen"]:
        report.answers.append(last["seen"] - pressed)
    report.finished.append(last["finished"])
    report.busy.append(last["busy"])


def next_line(process):
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(
            f"the interrupted process ended with status {process.wait()}"
        )
    return json.loads(line)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="run", help=f"of {', '.join(RUNS)} (default: all)"
    )
    parser.add_argument(
        "--times", type=int, default=5, help="interrupts of each (default 5)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        return child(given.child)
    print(HEAD)
    reports = []
    for name in given.names or RUNS:
        reports.append(interrupt(name, given.times, given.seed))
        print(reports[-1], flush=True)
    return int(any(one.faults for one in reports))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.exit(main())
