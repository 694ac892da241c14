"""What a run will cost, before it is made: fits, path, seconds and memory, with two fits at most.

On the refit path the first and the last setting are fitted once each, and the time of the others is taken to lie between. A
fast path tells its number of multiplications; what one takes on this machine is asked of a matrix product.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..engine.run import TINY, Work
from ..families.family import estimator_label
from ..paths.base import Draw, Inside, Outside, Ran, Task
from ..paths.measure import Answers, Meter
from ..paths.prefix import Stages
from ..paths.refit import Refit
from ..results.reports.base import Report
from ..runtime.cancel import Stop
from ..runtime.threads import Team, n_threads
from ..splits.plan import Plan

SIDE = 384  # rows and columns of the matrices whose product is timed
RUN, SPLIT, MANY = (
    1.2e-3,
    2e-5,
    200,
)  # seconds of a fast run, and of each of its first splits, beside the multiplications
PART = 5e-4  # seconds of a training part with splits inside
ONE_BY_ONE = 5e-4  # seconds of a split by a path that goes split by split, beside the multiplications


@dataclass(frozen=True, repr=False)
class Forecast(Report):
    """fits on the refit path, the path that will run and why, seconds, and megabytes beside the data."""

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
        fast = self.path.name != "refit"
        rows = [
            [
                "splits",
                f"{len(self.plan.outer)} outer, {self.plan.n_inner} inner ({self.plan.words})",
            ],
            ["settings", str(self.n_settings)],
            ["fits", f"{self.fits}{', all at once' if fast else ''}"],
            ["path", f"{self.path.name}: {self.path.reason}"],
            ["seconds", f"about {self.seconds:.2g}"],
            ["memory", f"about {self.megabytes:.2g} MB beside the data"],
        ]
        return ["", ""], rows

    @property
    def sentences(self) -> list[str]:
        return list(self.plan.notes)


def forecast(work: Work, plan: Plan, path: Any, flat: bool) -> Forecast:
    """The forecast of one family; path is what choose_path gave for it."""
    n_settings = len(work.family.settings)
    n_outer = len(plan.outer)
    inner = plan.n_inner * n_settings
    fits = inner + n_outer * (n_settings if flat else 1)
    tested = (
        0 if plan.outer_layout is None else int(plan.outer_layout.sizes()[:, 1].sum())
    )
    losses = 8.0 * n_settings * (plan.n_inner + n_outer + tested)
    if path.cost is not None:
        seconds = _seconds_of_multiplications(work, plan, path)
        seconds += (inner + n_outer * n_settings) * _seconds_of_scoring(work, plan)
        memory = losses + path.algorithm.memory(work, plan)
    else:
        runs = plan.n_inner + n_outer if path.every_setting else fits
        each = (
            _seconds_of_a_split(path, plan)
            if isinstance(path, Stages)
            else _seconds_of_a_fit(work, plan)
        )
        seconds = each * runs / max(1, effective_n_jobs(work.n_jobs))
        memory = losses + _bytes(work.data.X) * max(1, effective_n_jobs(work.n_jobs))
    label = work.family.name or estimator_label(work.family.estimator)
    return Forecast(
        label,
        plan,
        n_settings,
        fits,
        Ran(path.name, path.reason),
        seconds,
        memory / 1e6,
    )


def _seconds_of_multiplications(work: Work, plan: Plan, path: Any) -> float:
    """A sweep goes on threads, the others split by split."""
    n_splits, one = (
        plan.n_inner + len(plan.outer),
        _per_multiplication() * path.algorithm.rate,
    )
    if path.algorithm.cost is not None:
        return RUN + (ONE_BY_ONE * n_splits + path.cost * one) / max(
            1, effective_n_jobs(work.n_jobs)
        )
    n = 1 if path.cost <= TINY else n_threads(work.n_jobs)
    parts = PART * plan.n_parts / n if plan.n_inner else 0.0
    return RUN + SPLIT * min(n_splits, MANY) + path.cost * one / n + parts


def _seconds_of_a_fit(work: Work, plan: Plan) -> float:
    """The mean of the first and the last setting, fitted and measured on the first split."""
    train, test = plan.inner[0][0] if plan.n_inner else plan.outer[0]
    path, n = (
        Refit(work.family, [Draw(plan, work.data)], work.loss, ""),
        len(work.family.settings),
    )
    started = time.perf_counter()
    for s in dict.fromkeys((0, n - 1)):
        path.failure(0, train, test, s, (0, 0))
    return (time.perf_counter() - started) / min(2, n)


def _seconds_of_a_split(path: Stages, plan: Plan) -> float:
    """The largest model, or two of several, fitted and asked for every size on the first split."""
    first: Task = (
        Inside(0, range(1), 0)
        if plan.n_inner
        else Outside(0, range(1), np.zeros(1, dtype=np.int64))
    )
    some = path.with_fits(2)
    started = time.perf_counter()
    some.run(first, Team(Stop()))
    return (time.perf_counter() - started) * path.n_fits / some.n_fits


def _seconds_of_scoring(work: Work, plan: Plan) -> float:
    """A scorer, or a loss of the user's, on one test part; the losses that cvnb knows are measured all at once."""
    if work.loss.is_known:
        return 0.0
    test = (plan.inner[0][0] if plan.n_inner else plan.outer[0])[1]
    meter = Meter(work.loss, work.data, work.task)
    values = (work.data.y[test] if meter.codes is None else meter.codes[test])[:, None]
    scores = None
    if meter.wants_scores and meter.classes is not None:
        scores = np.full((test.size, 1, meter.classes.size), 1.0 / meter.classes.size)
    started = time.perf_counter()
    try:
        meter.measure(test, np.zeros(1, dtype=np.int64), Answers(values, scores))
    except (
        Exception
    ):  # what a loss thinks of made-up predictions is not to be told before the run
        return 0.0
    return time.perf_counter() - started


def _per_multiplication() -> float:
    """Seconds of one multiplication in a product of matrices on one thread of this machine."""
    from threadpoolctl import threadpool_limits

    A = np.ones((SIDE, SIDE))
    with threadpool_limits(1):
        A @ A
        started = time.perf_counter()
        A @ A
        return (time.perf_counter() - started) / SIDE**3


def _bytes(X: Any) -> float:
    return float(getattr(X, "nbytes", 0) or 8 * np.prod(X.shape))
