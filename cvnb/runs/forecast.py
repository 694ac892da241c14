"""Forecast the cost of a run before it starts: fits, path, seconds and memory.

On the refit path the first and the last setting are fitted once each, and the others are
assumed to lie between. A path that goes split by split measures its first split. Any other
gives its number of multiplications, and the speed of this machine is measured on a matrix
product.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from ..engine.work import Work
from ..engine.workers import TINY, n_workers
from ..families.labels import estimator_label
from ..paths.after_transformers import AfterTransformers
from ..paths.base import Draw, Inside, Outside, Path, Ran, Refusal, Task
from ..paths.measure import LossEvaluator, Predictions
from ..paths.per_split import PerSplitPath
from ..paths.refit import Refit
from ..results.reports.base import Report
from ..runtime.cancel import Stop
from ..runtime.cores import matrices_at_most
from ..runtime.threads import Team, n_threads, pool_of
from ..splits.plan import Plan
from ..wording import count, rounded

SIDE = 384  # rows and columns of the matrices whose product is timed
# seconds of a fast path in addition to its multiplications:
RUN = 1.2e-3  # of a run
SPLIT, MANY = 2e-5, 200  # of each of its first splits, and how many these are
PART = 5e-4  # of a training part with inner splits
SINGLE_SPLIT = 5e-4  # of a split, by a path that goes split by split


@dataclass(frozen=True, repr=False)
class Forecast(Report):
    """The fits of the refit path, the path that will run and why, seconds, and megabytes.

    megabytes  in addition to the data
    """

    name: str
    plan: Plan
    n_settings: int
    fits: int
    path: Ran
    seconds: float
    megabytes: float

    @property
    def title(self) -> str:
        return f"Dry run of {self.name}: feasible; nothing was measured"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        plan, is_fast = self.plan, self.path.name != "refit"
        splits = f"{len(plan.outer)} outer, {plan.n_inner} inner ({plan.words})"
        rows = [
            ["splits", splits],
            ["settings", str(self.n_settings)],
            ["fits", f"{self.fits}{', all at once' if is_fast else ''}"],
            ["path", f"{self.path.name}: {self.path.reason}"],
            ["seconds", f"about {self.seconds:.2g}"],
            ["memory", f"about {self.megabytes:.2g} MB in addition to the data"],
        ]
        return ["", ""], rows

    @property
    def sentences(self) -> list[str]:
        return list(self.plan.notes)


class Forecasts(Report, dict[str, Forecast]):
    """The forecasts of several models on the same splits, by name, with their total."""

    @property
    def title(self) -> str:
        return f"Dry run of {count(len(self), 'model')}: feasible; nothing was measured"

    @property
    def table(self) -> tuple[list[str], list[Any]]:
        head = ["model", "settings", "fits", "seconds", "memory", "method"]
        rows = [
            [
                name,
                str(each.n_settings),
                str(each.fits),
                rounded(each.seconds, 2),
                f"{rounded(each.megabytes, 2)} MB",
                each.path.name,
            ]
            for name, each in self.items()
        ]
        fits = sum(each.fits for each in self.values())
        seconds = sum(each.seconds for each in self.values())
        most = max(each.megabytes for each in self.values())
        total = [
            "total",
            "",
            str(fits),
            rounded(seconds, 2),
            f"{rounded(most, 2)} MB",
            "",
        ]
        return head, [*rows, total]

    @property
    def sentences(self) -> list[str]:
        notes = [note for each in self.values() for note in each.sentences]
        words = "Seconds are estimates; memory is in addition to the data, at most."
        return [words, *dict.fromkeys(notes)]


def forecast(work: Work, plan: Plan, path: Path, flat: bool) -> Forecast:
    """Return the forecast of one family.

    work  what is measured, and how
    plan  its splits
    path  the path that runs
    flat  whether every setting is measured on the outer test parts
    """
    n_settings, n_outer = len(work.family.settings), len(plan.outer)
    n_inner_fits = plan.n_inner * n_settings
    fits = n_inner_fits + n_outer * (n_settings if flat else 1)
    layout = plan.outer_layout
    n_tested = 0 if layout is None else int(layout.sizes()[:, 1].sum())
    memory = 8.0 * n_settings * (plan.n_inner + n_outer + n_tested)  # the losses
    if path.cost is not None and path.algorithm is not None:
        n_losses = n_inner_fits + n_outer * n_settings
        seconds = _seconds_of_multiplications(work, plan, path, path.cost)
        seconds += n_losses * _seconds_of_scoring(work, plan)
        memory += path.algorithm.memory(work, plan)
    else:
        n_jobs = n_workers(work.n_jobs, path.threads)
        seconds = _seconds_of_fits(work, plan, path, fits) / n_jobs
        memory += _bytes(work.data.X) * n_jobs
        if isinstance(path, AfterTransformers) and path.algorithm is not None:
            memory += path.algorithm.memory(work, plan)
    name = work.family.name or estimator_label(work.family.estimator)
    return Forecast(name, plan, n_settings, fits, path.ran, seconds, memory / 1e6)


def seconds_of_refit(work: Work, plan: Plan, flat: bool) -> float:
    """Return the processor seconds of this thread for one fit per setting and split.

    They do not depend on what else runs. The fits are made twice: the first ones may import.
    """
    n_settings, n_outer = len(work.family.settings), len(plan.outer)
    fits = plan.n_inner * n_settings + n_outer * (n_settings if flat else 1)
    spent = [_seconds_of_a_fit(work, plan, time.thread_time) for _ in range(2)]
    return min(spent) * fits


def _seconds_of_multiplications(
    work: Work, plan: Plan, path: Path, cost: float
) -> float:
    """Return the seconds of a fast path: batches go on threads, single splits to n_jobs."""
    algorithm = path.algorithm
    assert algorithm is not None
    n_splits = plan.n_inner + len(plan.outer)
    seconds = cost * (_per_multiplication() * algorithm.rate)
    if algorithm.cost is not None:
        n_jobs = max(1, effective_n_jobs(work.n_jobs))
        return RUN + (SINGLE_SPLIT * n_splits + seconds) / n_jobs
    n = 1 if cost <= TINY else n_threads(work.n_jobs)
    parts = PART * plan.n_parts / n if plan.n_inner else 0.0
    return RUN + SPLIT * min(n_splits, MANY) + seconds / n + parts


def _seconds_of_fits(work: Work, plan: Plan, path: Path, fits: int) -> float:
    """Return the seconds of a path of unknown cost on one worker.

    Of transformers that are fitted for each number of components, these fits are counted.
    Otherwise the first split tells the seconds of a training row.
    """
    n_splits, n_fits = plan.n_inner + len(plan.outer), fits
    if isinstance(path, AfterTransformers):
        n_fits = _fits_of_transformers(path, plan)
        if n_fits > n_splits * len(path.chains):
            return _seconds_of_a_fit(work, plan) * n_fits
    seconds = None
    if isinstance(path, PerSplitPath):
        seconds = _seconds_of_a_split(work, plan, path)
    if seconds is None:
        return _seconds_of_a_fit(work, plan) * fits
    layouts = [splits.layout for _, splits in plan.levels()]
    n_rows = sum(int(layout.sizes()[:, 0].sum()) for layout in layouts)
    n_first = len(_first_split(plan)[0])
    return SINGLE_SPLIT * n_splits + seconds * n_rows / max(1, n_first)


def _fits_of_transformers(path: AfterTransformers, plan: Plan) -> int:
    """Return the chains of transformers that are fitted in all splits."""
    n_outer = len(plan.outer)
    if path.every_setting and n_outer:
        n_outer *= path.fits_of_transformers(len(plan.outer[0][0]))
    if not plan.n_inner:
        return n_outer
    return n_outer + plan.n_inner * path.fits_of_transformers(len(plan.inner[0][0][0]))


def _seconds_of_a_fit(
    work: Work, plan: Plan, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the mean over the first and the last setting, fitted on the first split."""
    train, test = _first_split(plan)
    refit = Refit(work.family, [Draw(plan, work.data)], work.loss, "")
    settings = {0, len(work.family.settings) - 1}
    started = clock()
    for s in sorted(settings):
        refit.failure(0, train, test, s, (0, 0))
    return (clock() - started) / len(settings)


def _seconds_of_a_split(work: Work, plan: Plan, path: PerSplitPath) -> float | None:
    """Return the seconds of the first split, from one fit or two of several; None if the path
    refuses it.

    Where kernels run it is measured twice: they are loaded the first time.
    """
    task: Task = Outside(0, range(1), np.zeros(1, dtype=np.int64))
    if plan.n_inner:
        task = Inside(0, range(1), 0)
    timed, spent = path.with_fits(2), []
    n = 1 if path.threads else n_workers(work.n_jobs, True)
    with pool_of(n) as pool, matrices_at_most(1) if path.threads else nullcontext():
        team = Team(Stop(), pool, n)
        for _ in range(2 if path.compiles else 1):
            started = time.perf_counter()
            found = timed.run(task, team)
            spent.append(time.perf_counter() - started)
            if isinstance(found, Refusal):
                return None
    return min(spent) * path.n_fits / timed.n_fits


def _seconds_of_scoring(work: Work, plan: Plan) -> float:
    """Return the seconds of a scorer, or of a user's loss, on one test part.

    cvnb's own losses are computed all at once: 0.
    """
    if work.loss.is_known:
        return 0.0
    test = _first_split(plan)[1]
    evaluator = LossEvaluator(work.loss, work.data, work.task)
    targets = work.data.y if evaluator.codes is None else evaluator.codes
    scores = None
    if evaluator.wants_scores and evaluator.classes is not None:
        n_classes = evaluator.classes.size
        scores = np.full((test.size, 1, n_classes), 1.0 / n_classes)
    predictions = Predictions(targets[test][:, None], scores)
    started = time.perf_counter()
    try:
        evaluator.measure(test, np.zeros(1, dtype=np.int64), predictions)
    except (
        Exception
    ):  # the predictions are made up: an error here is no news to the user
        return 0.0
    return time.perf_counter() - started


def _first_split(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    return plan.inner[0][0] if plan.n_inner else plan.outer[0]


def _per_multiplication() -> float:
    """Return the seconds of one multiplication in a matrix product on one thread."""
    from threadpoolctl import threadpool_limits

    A = np.ones((SIDE, SIDE))
    with threadpool_limits(1):
        A @ A
        started = time.perf_counter()
        A @ A
        return (time.perf_counter() - started) / SIDE**3


def _bytes(X: Any) -> float:
    if sp.issparse(X):
        return 12.0 * X.nnz
    return float(getattr(X, "nbytes", 0) or 8 * np.prod(X.shape))
